"""Jobs of the server: queue, events, limits, cancelling, forgetting, and an end that leaves nothing behind."""

from __future__ import annotations

import gzip
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import webbrowser
from pathlib import Path

import pytest

from tests.web_drills import SLOW, csv_of, is_alive, serving, slow_table, small_table, until, workers_in

linux = pytest.mark.skipif(sys.platform != "linux", reason="the limits and processes of Linux are looked at")


@pytest.fixture(scope="module")
def server():
    with serving(most_waiting=2) as client:
        yield client


@pytest.fixture(scope="module")
def slow(server):
    """The id of a table that takes minutes."""
    return server.send(slow_table(), "slow.csv")[1]["id"]


def events(server, *jobs, seen=None):
    """The jobs of all events until the stream ends, and the numbers of the events."""
    path = "/api/events?" + "&".join(f"job={job['id']}" for job in jobs)
    headers = {} if seen is None else {"Last-Event-ID": str(seen)}
    status, content, _ = server.raw("GET", path, headers=headers)
    if status == 204:
        return [], []
    assert status == 200
    found = re.findall(r"id: (\d+)\nevent: job\ndata: (.*)\n\n", content.decode())
    return [json.loads(data) for _, data in found], [int(number) for number, _ in found]


def test_events_tell_a_job_from_the_queue_to_its_end(server):
    first, second = server.start("paper"), server.start("paper", guide="plain")
    told, numbers = events(server, first, second)
    assert numbers == sorted(numbers)
    states = {job["id"]: [] for job in (first, second)}
    for job in told:
        states[job["id"]].append(job["state"])
    for key, rest in states.items():
        order = {"waiting": 0, "running": 1, "done": 2}
        assert [order[state] for state in rest] == sorted(order[state] for state in rest), key
        assert rest[-1] == "done"
    assert states[second["id"]][0] == "waiting"  # one runs at a time
    phases = [job["standing"]["phase"] for job in told if job["state"] == "running" and job["id"] == first["id"]]
    assert phases[0] == "starting"
    assert len(set(phases)) > 1  # which of the short ones are seen is a matter of luck
    # Whoever has seen the end is not told again; whoever has seen less is told the state as it is now.
    assert events(server, first, second, seen=numbers[-1]) == ([], [])
    again, _ = events(server, first, second, seen=numbers[-1] - 1)
    assert [job["state"] for job in again] == ["done"]


def test_rate_and_remaining_time_come_from_what_was_done(server, slow, monkeypatch):
    job = server.start(slow, **SLOW)
    until(lambda: server.state(job)["standing"] and server.state(job)["standing"]["phase"] != "starting")
    held = server.hub.jobs.get(job["id"])
    now = time.monotonic()
    held.phase_began = (now - 10.0, 100)
    held.step = {"phase": "search", "done": 300, "total": 500, "unit": "nodes"}
    standing = held.standing()
    assert standing.rate == pytest.approx(20, rel=0.05)
    assert standing.remaining == pytest.approx(10, rel=0.05)
    server.ask("POST", f"/api/jobs/{job['id']}/cancel")


@linux
def test_cancelling_ends_the_process_at_once_and_starts_the_next(server, slow):
    job, following = server.start(slow, **SLOW), server.start("paper")
    until(lambda: workers_in(server.hub.folder / job["id"]))
    (pid,) = workers_in(server.hub.folder / job["id"])
    assert server.state(following)["place"] == 0
    status, answer = server.ask("POST", f"/api/jobs/{job['id']}/cancel")
    assert (status, answer["state"]) == (200, "cancelled")
    until(lambda: not is_alive(pid), 5)
    assert server.wait(following)["state"] == "done"
    assert server.ask("POST", f"/api/jobs/{following['id']}/cancel")[1]["state"] == "done"  # too late: it stays
    status, answer = server.ask("GET", f"/api/jobs/{job['id']}/result")
    assert (status, answer["error"]) == (409, "The job was cancelled, so that there is no result.")
    assert server.ask("DELETE", f"/api/jobs/{job['id']}")[0] == 200
    assert not (server.hub.folder / job["id"]).exists()
    assert server.ask("GET", f"/api/jobs/{job['id']}")[0] == 404


def test_a_full_queue_turns_jobs_away_with_a_sentence(server, slow):
    jobs = [server.start(slow, **SLOW) for _ in range(3)]  # one runs, two wait
    assert [server.state(job)["place"] for job in jobs] == [0, 0, 1]
    status, answer = server.ask("POST", "/api/jobs", {"table": "paper"})
    assert (status, answer["error"]) == (429, "2 jobs are waiting already, and no more are taken.")
    assert "cancel" in answer["advice"]
    for job in reversed(jobs):
        server.ask("DELETE", f"/api/jobs/{job['id']}")
    assert server.start("paper")["state"] == "running"


def test_jobs_outlive_their_table(server, slow):
    blocking = server.start(slow, **SLOW)
    table = server.send(small_table(), "gone.csv")[1]
    job = server.start(table["id"])
    assert server.ask("DELETE", f"/api/tables/{table['id']}")[0] == 200
    server.ask("POST", f"/api/jobs/{blocking['id']}/cancel")
    assert server.wait(job)["state"] == "done"


@linux
def test_limits_of_time_memory_and_size_end_in_words():
    # 3 MB of nothing but zeros, packed so well that no limit on what is sent sees it.
    bomb = gzip.compress(b"a,b,c,d\n" + b"0,1,0,1\n1,0,0,1\n" * 20_000_000, 1)
    with serving(memory_bytes=400_000_000) as server:
        status, answer = server.send(bomb, "bomb.csv.gz")
        assert status == 422
        assert "memory" in answer["error"]
        assert "--memory-limit" in answer["advice"]
    with serving(seconds=4.0, most_columns=165) as server:
        table = server.send(slow_table(), "slow.csv")[1]
        job = server.wait(server.start(table["id"], **SLOW))
        assert job["failure"]["error"] == "It was stopped after 4 s, the time that a job may take here."
        assert not workers_in(server.hub.folder)
        status, answer = server.send(csv_of([[0, 1] * 100, [1, 0] * 100]), "wide.csv")
        assert (status, "200 columns, and here at most 165" in answer["error"]) == (422, True)


def test_a_process_that_holds_too_much_is_stopped_by_the_server(monkeypatch):
    from kgmi.web import process

    with serving() as server:
        monkeypatch.setattr(process, "_held_bytes", lambda pid: 10**12)
        job = server.wait(server.start("paper"))
        assert "stopped when it held 1,000 GB of memory" in job["failure"]["error"]


def test_what_nobody_asks_for_is_forgotten():
    with serving(most_tables=2, most_jobs=2, keep_seconds=3600) as server:
        tables = [server.send(small_table(), f"{number}.csv")[1]["id"] for number in range(3)]
        assert [server.ask("GET", f"/api/tables/{key}")[0] for key in tables] == [404, 200, 200]
        jobs = [server.wait(server.start(tables[2])) for _ in range(3)]
        assert [server.ask("GET", f"/api/jobs/{job['id']}")[0] for job in jobs] == [404, 200, 200]
        assert not (server.hub.folder / jobs[0]["id"]).exists()
        server.hub.tables.forget()  # as is done now and then: as many as may be kept are kept
        server.hub.jobs.forget()
        assert server.ask("GET", f"/api/tables/{tables[1]}")[0] == 200
        assert server.ask("GET", f"/api/jobs/{jobs[1]['id']}")[0] == 200
        for one in (*server.hub.tables._stored.values(), *server.hub.jobs._jobs.values()):
            one.asked -= 4000
        server.hub.tables.forget()
        server.hub.jobs.forget()
        assert list(server.hub.folder.iterdir()) == []
        assert server.ask("GET", "/api/tables/paper")[0] == 200  # examples stay


def test_streams_end_with_the_server(slow):
    with serving() as server:
        job = server.start("shuffled", order="learn")
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
        connection.request("GET", f"/api/events?job={job['id']}")
        answer = connection.getresponse()
        assert answer.readline() == b"retry: 1000\n"
    answer.read()  # the server has ended (serving() waits for it), and so has the stream
    connection.close()


def start_command(*options):
    source = str(Path(__file__).parents[1] / "src")
    command = [sys.executable, "-m", "kgmi", "serve", "--port", "0", "--no-open", *options]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": source}
    )
    return process, process.stdout.readline()


@linux
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_the_command_serves_and_leaves_nothing_behind(number, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    process, line = start_command()
    port = int(re.search(r"at http://127\.0\.0\.1:(\d+)/", line)[1])
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("POST", "/api/tables?name=slow.csv", slow_table())
    table = json.loads(connection.getresponse().read())["id"]
    body = json.dumps({"table": table, **SLOW})
    connection.request("POST", "/api/jobs", body, {"Content-Type": "application/json"})
    assert json.loads(connection.getresponse().read())["state"] == "running"
    connection.close()
    until(lambda: workers_in(tmp_path))
    pids = workers_in(tmp_path)
    process.send_signal(number)
    said, wrong = process.communicate(timeout=30)
    if number != signal.SIGKILL:  # that one nobody can answer, but the worker notices
        assert (process.returncode, wrong) == (0, "")
        assert said.endswith("ended; its temporary files are removed\n")
    until(lambda: not any(map(is_alive, pids)))
    until(lambda: list(tmp_path.iterdir()) == [])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--memory-limit", "100MB"], "a job needs at least 400 MB of memory"),
        (["--memory-limit", "much"], "--memory-limit must be a number of bytes"),
        (["--time-limit", "soon"], "--time-limit must be a time like 120s"),
        (["--time-limit", "0s"], "a time limit of at least 1 s"),
        (["--jobs", "0"], "from 1 to 64 jobs"),
        (["--port", "70000"], "a port is a number"),
        (["--host", "no.such.host.invalid"], "there is no host"),
    ],
)
def test_bad_options_are_one_line(options, said):
    process, _ = start_command(*options)
    _, wrong = process.communicate(timeout=60)
    assert process.returncode == 2
    assert len(wrong.splitlines()) == 1
    assert said in wrong


def test_a_port_in_use_is_said_with_what_to_do(server):
    process, _ = start_command("--port", str(server.port))
    _, wrong = process.communicate(timeout=60)
    assert (process.returncode, f"port {server.port} is in use" in wrong) == (2, True)


def test_bound_to_the_network_it_warns():
    process, line = start_command("--host", "0.0.0.0")
    assert "http://127.0.0.1:" in line
    assert process.stdout.readline().startswith("Press Ctrl-C")
    process.terminate()
    _, wrong = process.communicate(timeout=60)
    assert "others on the network can reach it" in wrong


@linux
def test_the_command_opens_the_page_when_it_can_be_loaded(monkeypatch, capsys):
    from kgmi.cli.serve import serve

    loaded = []

    def load(address):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        thread = threading.Thread(target=lambda: (loaded.append(_status(connection)), os.kill(os.getpid(), 15)))
        thread.start()

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setattr(webbrowser, "open", load)
    serve(port=port)
    assert loaded == [200]
    assert capsys.readouterr().out.startswith(f"kgmi serves its page at http://127.0.0.1:{port}/\n")


def _status(connection):
    """What the page is answered with, once the server answers."""
    connection.request("GET", "/")
    try:
        return connection.getresponse().status
    finally:
        connection.close()
