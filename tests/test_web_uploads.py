"""Uploads that do not end: given up after a pause, and counted while they last; over real sockets."""

import json
import socket
import time
from contextlib import contextmanager

import pytest

from kgmi.errors import SettingError
from kgmi.web.settings import WebSettings
from tests.commands import expect_refused
from tests.web_drills import serving, small_table, until


@contextmanager
def begun(server, content, length):
    """A connection that has announced ``length`` bytes of a table and sent ``content``."""
    lines = [
        "POST /api/tables?name=t.csv HTTP/1.1",
        "Host: localhost",
        "Connection: close",
        f"Content-Length: {length}",
    ]
    head = "\r\n".join([*lines, "", ""])
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(head.encode() + content)
        yield connection


def answer_of(connection):
    """Status and content of what comes until the server closes the connection."""
    got = b""
    while some := connection.recv(65_536):
        got += some
    head, _, body = got.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


@pytest.mark.parametrize("content", [b"", b"a,b\n0,1\n"], ids=["nothing", "a beginning"])
def test_an_upload_that_stalls_is_given_up_and_leaves_nothing(content):
    with serving(stall_seconds=0.3, most_tables=1) as server:
        with begun(server, content, 1_000) as connection:
            status, said = answer_of(connection)
        assert status == 408
        assert "--stall-limit" in said["advice"]
        assert list(server.hub.folder.iterdir()) == []
        assert server.send(small_table())[0] == 201  # its place is free again


def test_an_upload_that_is_slow_but_comes_is_taken():
    table = small_table()
    with serving(stall_seconds=2) as server, begun(server, b"", len(table)) as connection:
        for start in range(0, len(table), len(table) // 10 + 1):  # longer than a pause may be, in all
            connection.sendall(table[start : start + len(table) // 10 + 1])
            time.sleep(0.25)
        assert connection.recv(4_096).startswith(b"HTTP/1.1 201")


def test_an_upload_that_comes_byte_by_byte_is_given_up_in_the_end():
    with serving(stall_seconds=30, keep_seconds=1) as server, begun(server, b"", 1_000) as connection:
        connection.settimeout(0.05)
        for _ in range(200):
            try:
                connection.sendall(b"0")
                got = connection.recv(4_096)
            except TimeoutError:
                continue
            break
        assert got.startswith(b"HTTP/1.1 408")


def test_unfinished_uploads_count_as_tables():
    with serving(most_tables=2, stall_seconds=60) as server:
        first = server.send(small_table())[1]["id"]
        with begun(server, b"a,b\n", 1_000):
            until(lambda: len(list(server.hub.folder.iterdir())) == 2)
            assert server.ask("GET", f"/api/tables/{first}")[0] == 200
            with begun(server, b"a,b\n", 1_000):
                until(lambda: server.ask("GET", f"/api/tables/{first}")[0] == 404)  # the oldest made room
                status, said = server.send(small_table())
                assert status == 429
                assert said["error"].startswith("2 tables are being sent")
                assert len(list(server.hub.folder.iterdir())) == 2
            until(lambda: len(list(server.hub.folder.iterdir())) == 1)
            assert server.send(small_table())[0] == 201
            assert len(list(server.hub.folder.iterdir())) == 2
        until(lambda: len(list(server.hub.folder.iterdir())) == 1)


@pytest.mark.parametrize("seconds", [0, -1, float("inf"), float("nan")])
def test_a_pause_is_a_time(seconds):
    with pytest.raises(SettingError, match="stall"):
        WebSettings(stall_seconds=seconds)


def test_the_command_takes_a_pause():
    expect_refused(2, "serve", "--stall-limit", "soon", says=["--stall-limit must be a time like"])
    expect_refused(2, "serve", "--stall-limit", "0s", says=["stall"])
