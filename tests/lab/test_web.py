"""Training through the server: the record grows while the page asks for it, and a training can be cancelled."""

from __future__ import annotations

import pytest

from tests.web_drills import serving, until

pytestmark = pytest.mark.lab


@pytest.fixture(scope="module")
def server():
    with serving() as client:
        yield client


def started(server, **wanted):
    status, training = server.ask("POST", "/api/lab", wanted)
    assert status == 201, training
    return lambda: server.ask("GET", f"/api/lab/{training['id']}")[1]


def test_a_training_ends_with_the_record_of_the_paper_s_layer(server):
    now = started(server, graph="paper5", steps=200, rate=100.0)
    assert server.ask("POST", "/api/lab", {})[0] == 429
    until(lambda: now()["state"] != "running", 90)
    training = now()
    assert training["state"] == "done", training["failure"]
    assert training["record"]["measures"]["f1"][-1] == [1.0]
    assert training["parents"][4] == [1, 3]


def test_a_training_can_be_cancelled(server):
    now = started(server, model="decoder", objective="next-token", optimiser="adam", rate=0.001, steps=20_000)
    until(lambda: now()["record"] is not None, 90)
    assert server.ask("POST", f"/api/lab/{now()['id']}/cancel")[0] == 200
    until(lambda: now()["state"] == "cancelled", 30)


def test_what_does_not_fit_together_fails_with_a_sentence(server):
    now = started(server, model="paper", objective="next-token", optimiser="adam", rate=0.01, steps=10)
    until(lambda: now()["state"] != "running", 90)
    assert now()["state"] == "failed"
    assert "predicts" in now()["failure"]["error"]
