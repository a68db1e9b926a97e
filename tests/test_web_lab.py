"""The page of the laboratory where PyTorch is not installed; tests/lab trains through it."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from tests.web_drills import serving


@pytest.fixture(scope="module")
def server():
    with serving() as client:
        yield client


def test_the_page_is_there(server):
    status, page = server.ask("GET", "/lab")
    assert status == 200
    assert b"lab.js" in page
    assert server.ask("GET", "/static/lab.js")[0] == 200


@pytest.mark.skipif(find_spec("torch") is not None, reason="PyTorch is installed here; tests/lab trains with it")
def test_without_pytorch_the_answer_says_what_to_install(server):
    status, answer = server.ask("POST", "/api/lab", {})
    assert status == 409
    assert "kgmi[lab]" in answer["advice"]


@pytest.mark.parametrize("wanted", [{"model": "gpt"}, {"steps": 10**9}, {"rate": -1}, {"path": "/etc/passwd"}])
def test_what_cannot_be_trained_is_refused(server, wanted):
    status, answer = server.ask("POST", "/api/lab", wanted)
    assert status == 422
    assert next(iter(wanted)) in answer["error"]


def test_an_unknown_training_is_not_found(server):
    assert server.ask("GET", "/api/lab/nothing")[0] == 404
    assert server.ask("POST", "/api/lab/nothing/cancel")[0] == 404
