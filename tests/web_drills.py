"""A real server in this process, and what tests say to it."""

from __future__ import annotations

import http.client
import json
import threading
import time
from contextlib import contextmanager
from urllib.parse import urlencode

import numpy as np
import uvicorn

from kgmi.web.app import make_app
from kgmi.web.server import Server, listen
from kgmi.web.settings import WebSettings

OVER = ("done", "failed", "cancelled")


def until(condition, seconds=30):
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


class Client:
    """Talks to a server; answers are (status, content), and JSON is read."""

    def __init__(self, port, hub):
        self.port, self.hub = port, hub

    def ask(self, method, path, body=None, headers=None):
        status, content, answered = self.raw(method, path, body, headers)
        is_json = answered["content-type"].startswith("application/json")
        return status, json.loads(content) if is_json else content

    def raw(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            if isinstance(body, dict):
                body, headers = json.dumps(body).encode(), {"Content-Type": "application/json", **(headers or {})}
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read(), {name.lower(): value for name, value in answer.getheaders()}
        finally:
            connection.close()

    def send(self, content, name="table.csv"):
        return self.ask("POST", f"/api/tables?{urlencode({'name': name})}", content)

    def start(self, table, **fit):
        status, job = self.ask("POST", "/api/jobs", {"table": table, **fit})
        assert status == 201, job
        return job

    def state(self, job):
        return self.ask("GET", f"/api/jobs/{job['id']}")[1]

    def wait(self, job, until=OVER, seconds=90):
        end = time.monotonic() + seconds
        while (now := self.state(job))["state"] not in until:
            assert time.monotonic() < end, now
            time.sleep(0.05)
        return now


@contextmanager
def serving(**settings):
    """A server with its own folder, at any free port; everything is gone afterwards."""
    chosen = WebSettings(port=0, **settings)
    app, found = make_app(chosen), listen(chosen)
    hub = app.state.hub
    server = Server(uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=2), hub)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [found]})
    thread.start()
    try:
        yield Client(found.getsockname()[1], hub)
    finally:
        server.handle_exit(15, None)
        thread.join(30)
        assert not thread.is_alive()
        assert not hub.folder.exists()


def csv_of(rows, names=None):
    names = names or [f"c{number}" for number in range(len(rows[0]))]
    return ("\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)]) + "\n").encode()


def small_table(n_rows=300):
    """Three columns, the last of which depends on both others."""
    rng = np.random.default_rng(201)
    first, second, noise = rng.integers(0, 2, (3, n_rows))
    child = np.where(rng.random(n_rows) < 0.9, first ^ second ^ 1, noise)
    child[:20] = first[:20]
    return csv_of(np.stack([first, second, child], axis=1).tolist(), ["one", "two", "child"])


def slow_table():
    """So many columns without an order that learning takes minutes."""
    rng = np.random.default_rng(202)
    return csv_of(rng.integers(0, 3, (6_000, 160)).tolist())


SLOW = {"order": "learn", "parents": 4}


def is_alive(pid):
    """Whether a process runs; one that has ended and waits to be noticed does not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def workers_in(folder):
    """Numbers of the processes that work in a folder."""
    from pathlib import Path

    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"kgmi.web.worker" in words and any(word.startswith(str(folder).encode()) for word in words):
                found.append(int(entry.name))
    return found
