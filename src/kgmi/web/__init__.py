"""The local web page and its server.

The server itself touches no data: it stores what is sent, starts a process with limits for everything that reads or
learns (:mod:`kgmi.web.worker`), and hands out the files that this process wrote.
"""
