"""Every learner on the same data sets: what it found and how long it took."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kgmi.bench import PEERS, Answer, Peer, Problem, Trial, left_out, run_peer, score_edges
from kgmi.graph import Dag
from kgmi.paper.experiment import Numbers, Run
from kgmi.paper.setting import paper_process, population_scores
from kgmi.process import Process
from kgmi.sampling import sample
from kgmi.theory import information_gap

__all__ = ["PAPER", "TUNABLES", "Sizes", "measure", "sizes_of"]

# The paper gives no p. These are the ones with the largest information gap Δ of the population among 2,000 draws
# from default_rng(1): every p_k uniform where |p_k| ≤ 0.3 and all kernel entries are at least 0.05, rounded to two
# decimals, and theorem 3's conclusion true for all 16 heads. No sampled data had a part in the choice; the tests
# draw them again.
TUNABLES = (-0.25, 0.02, 0.13, -0.11, 0.17, 0.09, 0.17, 0.15, 0.0)

# F1, SHD and seconds in the paper.
PAPER = {
    "NOTEARS": (0.210, 22.2, 7.279),
    "PC": (0.267, 11.6, 0.096),
    "MMHC": (0.581, 6.0, 1.830),
    "HC": (1.0, 0.0, 1.134),
    "A*": (1.0, 0.0, 1.113),
    "KG-MI": (1.0, 0.0, 0.057),
}

_KEY = 5  # of this experiment, for its random numbers
_QUICK_PEERS = ("kgmi", "kgmi-limit", "pybnesian-hc-order")
_WEAK_PEERS = (
    "kgmi",
    "kgmi-limit",
    "pomegranate-exact",
    "pybnesian-hc-order",
    "pyagrum-k2",
    "pybnesian-hc",
    "pyagrum-greedy",
)
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class Sizes:
    """How much is measured: data sets of the table, rows of each, data sets with p = 0, and which peers run."""

    n_sets: int
    n_rows: int
    n_weak_sets: int
    peers: tuple[str, ...]


def sizes_of(run: Run) -> Sizes:
    """The paper's sizes, or small ones with the fastest peers only."""
    if run.quick:
        return Sizes(n_sets=1, n_rows=2_000, n_weak_sets=2, peers=_QUICK_PEERS)
    return Sizes(n_sets=5, n_rows=10_000, n_weak_sets=20, peers=tuple(peer.key for peer in PEERS))


def measure(run: Run, sizes: Sizes) -> tuple[Numbers, Numbers]:
    """Configuration and numbers."""
    load = list(os.getloadavg()) if hasattr(os, "getloadavg") else None  # first: later it is our own
    strong, weak = paper_process(10, TUNABLES), paper_process(10, 0.0)
    main = [_draw(run, strong, sizes.n_rows, 0, number) for number in range(sizes.n_sets)]
    spare = [_draw(run, weak, sizes.n_rows, 1, number) for number in range(sizes.n_weak_sets)]
    warm_up = _draw(run, strong, sizes.n_rows, 2, 0)
    rows = []
    for number, peer in enumerate(PEERS):
        run.tell(number / len(PEERS), f"{peer.name} ({peer.library})")
        problems = main + (spare if peer.key in _WEAK_PEERS else [])
        chosen = peer.key in sizes.peers
        trial = run_peer(peer, problems, warm_up) if chosen else left_out(peer, "left out of the quick run")
        rows.append(_row(trial, strong.dag, sizes.n_sets))
    run.tell(1.0, "done")
    numbers = {
        "n_sets": sizes.n_sets,
        "n_rows": sizes.n_rows,
        "n_weak_sets": sizes.n_weak_sets,
        "gap": _gap(strong),
        "weak_gap": _gap(weak),
        "paper": {name: list(values) for name, values in PAPER.items()},
        "rows": rows,
    }
    return _configuration(sizes, load), numbers


def _draw(run: Run, process: Process, n_rows: int, *key: int) -> Problem:
    return Problem(sample(process, n_rows, rng=run.rng(_KEY, *key)), process.fixed_kernel())


def _gap(process: Process) -> float:
    return information_gap(population_scores(process), process.dag)


def _row(trial: Trial, true: Dag, n_sets: int) -> dict[str, Any]:
    """One learner in plain values: itself, the table's data sets, and those with p = 0."""
    peer = trial.peer
    return {
        "key": peer.key,
        "name": peer.name,
        "library": peer.library,
        "version": trial.version,
        "ordered": peer.ordered,
        "paper": peer.paper,
        "setting": peer.setting,
        "trouble": trial.trouble,
        **_values(trial.answers[:n_sets], true),
        "weak": _values(trial.answers[n_sets:], true),
        "in_weak_table": peer.key in _WEAK_PEERS,
    }


def _values(answers: Sequence[Answer], true: Dag) -> dict[str, list[Any]]:
    scores = [score_edges(answer.edges, true) for answer in answers]
    return {
        "f1": [score.f1 for score in scores],
        "f1_strict": [score.f1_strict for score in scores],
        "shd": [score.shd for score in scores],
        "n_undirected": [len(answer.edges.undirected) for answer in answers],
        "seconds": [answer.seconds for answer in answers],
        "prepare_seconds": [answer.prepare_seconds for answer in answers],
        "repeats": [answer.repeats for answer in answers],
    }


def _configuration(sizes: Sizes, load: list[float] | None) -> Numbers:
    return {
        "graph": "the paper's 10-node graph",
        "p": list(TUNABLES),
        "weak_p": [0.0] * 9,
        "n_sets": sizes.n_sets,
        "n_rows": sizes.n_rows,
        "n_weak_sets": sizes.n_weak_sets,
        "warm_up_rows": sizes.n_rows,
        "peers": {peer.key: _told(peer) for peer in PEERS},
        "n_cpus": os.cpu_count(),
        "load_before": load,  # timings want a quiet machine
        "threads": {name: os.environ.get(name, "the library's default") for name in _THREAD_VARIABLES},
    }


def _told(peer: Peer) -> dict[str, Any]:
    return {"ordered": peer.ordered, "setting": peer.setting, "limit_seconds": peer.limit}
