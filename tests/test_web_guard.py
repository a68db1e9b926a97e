"""Who may talk to the server, what its answers allow, and what it says of itself."""

from __future__ import annotations

import errno
import re
import socket

import pytest

from kgmi.web.guard import Guard
from kgmi.web.settings import WebSettings
from tests.web_drills import serving, until

_CHANGING = [("POST", "/api/jobs"), ("POST", "/api/tables?name=x"), ("DELETE", "/api/tables/x")]
_SCRIPTS = ("talk.js", "table.js", "form.js", "follow.js", "result.js", "history.js")


@pytest.fixture(scope="module")
def server():
    with serving(hosts=("My-Name",)) as client:
        yield client


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("localhost", True),
        ("127.0.0.1:1234", True),
        ("[::1]:80", True),
        ("my-name:8765", True),
        ("evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("localhost.evil.example:8765", False),
        ("192.168.0.7", False),
        ("", False),
        ("[", False),
        ("user@evil.example", False),
    ],
)
def test_a_foreign_name_is_refused(server, host, allowed):
    status, answer = server.ask("GET", "/api/limits", headers={"Host": host})
    assert status == (200 if allowed else 421)
    assert allowed or "does not answer to the name" in answer["error"]


def test_bound_to_the_network_addresses_are_allowed_and_foreign_names_are_not():
    guard = Guard(lambda *_: None, WebSettings(host="0.0.0.0"))
    assert guard._known("192.168.0.7:8765")
    assert guard._known("[fe80::1]:8765")
    assert not guard._known("evil.example")


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ({}, True),
        ({"Origin": "http://127.0.0.1:{port}"}, True),
        ({"Sec-Fetch-Site": "same-origin"}, True),
        ({"Origin": "http://evil.example"}, False),
        ({"Origin": "null"}, False),
        ({"Origin": "http://127.0.0.1:1"}, False),
        ({"Origin": "http://[::1"}, False),
        ({"Sec-Fetch-Site": "cross-site"}, False),
        ({"Sec-Fetch-Site": "same-site"}, False),
    ],
)
@pytest.mark.parametrize(("method", "path"), _CHANGING)
def test_what_changes_anything_must_come_from_our_own_page(server, method, path, headers, allowed):
    headers = {name: value.format(port=server.port) for name, value in headers.items()}
    status, answer = server.ask(method, path, b"", headers=headers)
    assert (status != 403) == allowed
    assert allowed or answer["error"] == "Another web page asked for this, which is refused."


@pytest.mark.parametrize("path", ["/", "/api", "/static/page.js", "/api/limits", "/nothing", "/openapi.json"])
def test_every_answer_has_strict_headers(server, path):
    headers = server.raw("GET", path)[2]
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self';")
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in headers


def test_the_page_loads_nothing_from_elsewhere(server):
    names = set()
    for path in ("/", "/api"):
        status, page, _ = server.raw("GET", path)
        assert status == 200
        assert not re.search(rb"https?:|<style|onclick=|<script>", page)
        names |= set(re.findall(rb'"(/static/[^"]+)"', page))
    names |= {f"/static/{name}".encode() for name in _SCRIPTS}
    for name in names:
        status, content, _ = server.raw("GET", name.decode())
        assert (status, len(content) > 100) == (200, True), name
        assert b"innerHTML =" not in content
        assert not re.search(rb"https?://(?!www\.w3\.org/)", content), name


@pytest.mark.parametrize(
    "path",
    ["/static/..%2fapp.py", "/static/app.py", "/static/%2e%2e/app.py", "/static//etc/passwd", "/docs", "/redoc"],
)
def test_no_other_file_is_sent(server, path):
    status, answer = server.ask("GET", path)
    assert (status, set(answer)) == (404, {"error", "advice"})


def test_a_long_request_is_refused_unless_it_is_a_table(server):
    assert server.ask("POST", "/api/jobs", b" " * 300_000)[0] == 413
    assert server.ask("POST", "/api/jobs", iter([b" "]), {"Transfer-Encoding": "chunked"})[0] == 413
    assert server.ask("PUT", "/api/jobs", b"")[1]["error"] == "This address does not take such a request."


def test_openapi_describes_every_address(server):
    described = server.ask("GET", "/openapi.json")[1]
    assert len(described["paths"]) >= 13
    for path, methods in described["paths"].items():
        for method, one in methods.items():
            assert len(one["description"]) > 15, (method, path)
            assert one["tags"]
            found = next(answer for code, answer in one["responses"].items() if code in ("200", "201"))
            assert found["content"], (method, path)
            for part in one.get("parameters", []):
                assert part["in"] == "path" or part["description"], (path, part["name"])
    assert "HTTPValidationError" not in described["components"]["schemas"]  # all that goes wrong is a Failure
    fit = described["components"]["schemas"]["Fit"]
    assert fit["examples"][0]["table"] == "paper"
    assert all(one.get("description") for one in fit["properties"].values())


def test_what_should_not_happen_is_a_number_and_no_trace(server, monkeypatch, caplog):
    def break_down(_):
        raise RuntimeError("a secret path")

    monkeypatch.setattr(server.hub.jobs, "of_tab", break_down)
    status, answer = server.ask("GET", "/api/jobs?tab=one")
    assert server.raw("GET", "/api/jobs?tab=one")[2]["x-content-type-options"] == "nosniff"
    number = re.search(r"\(error ([0-9a-f]{8})\)", answer["error"])[1]
    assert (status, "secret" in str(answer)) == (500, False)
    assert f"unexpected error {number}" in caplog.text
    assert "a secret path" in caplog.text


def test_a_full_disk_is_told_in_words(server, monkeypatch, caplog):
    def write(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(server.hub.jobs, "of_tab", write)
    status, answer = server.ask("GET", "/api/jobs?tab=one")
    assert (status, answer["error"]) == (507, "The disk of the server is full.")
    assert caplog.text == ""


def test_an_upload_that_is_broken_off_leaves_nothing_and_no_trace(server, caplog):
    before = set(server.hub.folder.iterdir())
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        head = (
            f"POST /api/tables?name=a.csv HTTP/1.1\r\nHost: localhost:{server.port}\r\nContent-Length: 9000\r\n\r\n"
        )
        connection.sendall(head.encode() + b"A,B\n0,1\n")
        until(lambda: set(server.hub.folder.iterdir()) - before)
    until(lambda: set(server.hub.folder.iterdir()) == before)
    assert server.ask("GET", "/api/limits")[0] == 200
    assert caplog.text == ""


def test_a_number_of_an_event_that_cannot_be_is_no_number(server):
    headers = {"Last-Event-ID": "9" * 5000}
    assert server.ask("GET", "/api/events?job=x", headers=headers)[0] == 404
