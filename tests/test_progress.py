"""Progress: every phase is told, from any thread; what the listener raises stops the run and leaves no threads."""

import threading
from contextvars import copy_context
from time import sleep

import numpy as np
import pytest

import kgmi
from kgmi import Dag, Kernel, Process, sample
from kgmi.progress import Step, tell, telling, tick, told
from kgmi.threads import spread

WIDE = sample(Process(Dag.paper(10).copies(8), Kernel.paper()), 400, rng=31)


class Enough(Exception):
    pass


def steps_of(work):
    seen = []
    with telling(seen.append):
        work()
    return seen


def test_nobody_is_told_where_nobody_listens():
    tell("counting", 1, 2, "blocks")
    tick("search", "nodes")
    assert told(len, "counting", "blocks", 3) is len


def test_a_new_phase_is_told_at_once_and_the_same_one_not_too_often():
    def work():
        for number in range(1_000):
            tell("counting", number, 1_000, "blocks")
        tell("ascent", np.int64(7), None, "epochs")

    seen = steps_of(work)
    assert seen[0] == Step("counting", 0, 1_000, "blocks")
    assert seen[-1] == Step("ascent", 7, None, "epochs")
    assert len(seen) < 10


def test_who_listens_inside_hears_and_the_one_outside_does_not():
    outer, inner = [], []
    with telling(outer.append):
        with telling(inner.append):
            tell("search", 1, None, "nodes")
        with telling(None):
            tell("ascent", 1, None, "epochs")
        tell("report", 1, None, "nodes")
    assert [step.phase for step in inner] == ["search"]
    assert [step.phase for step in outer] == ["report"]


def test_threads_tell_too_and_count_together():
    main, seen = threading.get_ident(), []

    def listen(step):
        seen.append((step, threading.get_ident()))

    def work(piece):
        tell(f"piece {piece}", 0, None, "")
        return 2 * piece

    with telling(listen):
        assert spread(told(work, "all", "pieces", 40), range(40), parallel=True) == list(range(0, 80, 2))
    assert {f"piece {n}" for n in range(40)} & {step.phase for step, _ in seen}
    assert all(1 <= step.done <= 40 for step, _ in seen if step.phase == "all")
    assert any(thread != main for _, thread in seen)


def test_threads_see_the_context_of_the_caller():
    marks = spread(lambda _: copy_context(), range(4), parallel=True)
    assert all(set(copy_context()) <= set(mark) for mark in marks)


def test_what_a_listener_raises_ends_the_run_and_leaves_no_thread():
    begun = []

    def listen(step):
        if step.done >= 3:
            raise Enough

    def work(piece):
        sleep(0.0001)
        begun.append(piece)
        tell("work", piece, None, "")

    before = threading.active_count()
    with pytest.raises(Enough), telling(listen):
        spread(work, range(10_000), parallel=True)
    assert threading.active_count() == before
    assert len(begun) < 10_000


def test_learning_tells_all_its_phases():
    seen = []
    learned = kgmi.learn(WIDE, n_parents=2, share="node", progress=seen.append)
    with telling(seen.append):
        _ = learned.checks
    phases = list(dict.fromkeys(step.phase for step in seen))
    assert phases[:2] == ["reading", "search"]
    assert phases.index("search") < phases.index("ascent") < phases.index("report")
    assert all(step.total is None or 0 <= step.done <= step.total for step in seen)
    counts = [step.done for step in seen if step.phase == "search"]
    assert counts == sorted(counts)


def test_pairs_are_counted_and_certificates_and_resamples_made_aloud():
    rows = WIDE[:, :10]
    phases = {step.phase for step in steps_of(lambda: kgmi.learn(rows, kernel=Kernel.paper(), guide="stationary"))}
    assert {"reading", "counting", "ascent"} <= phases
    learned = kgmi.learn(rows, n_parents=2)
    assert "certificate" in {step.phase for step in steps_of(learned.certify)}
    assert "bootstrap" in {step.phase for step in steps_of(lambda: learned.bootstrap(5))}


@pytest.mark.parametrize("phase", ["reading", "search", "ascent", "report"])
def test_a_fit_can_be_stopped_in_every_phase(phase):
    def listen(step):
        if step.phase == phase:
            raise Enough(phase)

    before = threading.active_count()
    with pytest.raises(Enough, match=phase):
        kgmi.learn(WIDE, n_parents=2, share="node", progress=listen)
    assert threading.active_count() == before


def test_listening_changes_nothing():
    quiet = kgmi.learn(WIDE, n_parents=2)
    heard = kgmi.learn(WIDE, n_parents=2, progress=lambda step: None)
    assert heard.dag == quiet.dag
    np.testing.assert_array_equal(heard.scores, quiet.scores)
