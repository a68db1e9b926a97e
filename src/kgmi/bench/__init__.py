"""The same work on kgmi and on other libraries, side by side, each in a process of its own."""

from kgmi.bench.compare import Outcome, Sample, compare_samples
from kgmi.bench.launch import Answer, Problem, Trial, left_out, run_peer
from kgmi.bench.peer import Edges, Peer
from kgmi.bench.plan import Plan
from kgmi.bench.registry import PEERS, peer_named
from kgmi.bench.score import Score, score_edges

__all__ = [
    "PEERS",
    "Answer",
    "Edges",
    "Outcome",
    "Peer",
    "Plan",
    "Problem",
    "Sample",
    "Score",
    "Trial",
    "compare_samples",
    "left_out",
    "peer_named",
    "run_peer",
    "score_edges",
]
