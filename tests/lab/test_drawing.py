"""Pictures of records."""

import pytest

from kgmi import Dag
from kgmi.lab import Task, Training, plot_record, train

from .laws import PROCESSES

pytestmark = pytest.mark.lab


@pytest.mark.parametrize("alignment", [True, pytest.param(False)])
@pytest.mark.parametrize(("model", "objective"), [("paper", "kgmi"), ("paper-readout", "next-token")])
def test_a_record_is_drawn_as_a_picture(model, objective, alignment, tmp_path):
    training = Training(steps=2, batch=4, rows=8, alignment=alignment)
    record = train(Task(PROCESSES["paper"], replicas=2), model, objective, training=training).record
    for dag in (None, Dag.paper(10)):
        path = tmp_path / f"{dag is None}.png"
        plot_record(record, dag).savefig(path)
        assert path.read_bytes().startswith(b"\x89PNG")
