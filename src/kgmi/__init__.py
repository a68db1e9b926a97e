"""kgmi: learn directed acyclic graphs from discrete data with kernel-guided attention.

The beginner's door is :func:`learn`; every stage behind it is public too. Importing this package loads NumPy
and nothing heavier: the estimator :class:`KGMI`, which needs scikit-learn, is loaded when it is first asked for.
"""

from typing import TYPE_CHECKING, Any

from kgmi import metrics, theory
from kgmi.ascent import ascend, limit
from kgmi.data import Table, read_table
from kgmi.decode import decode
from kgmi.divergence import DIVERGENCES, Divergence
from kgmi.errors import KgmiError
from kgmi.exact import exact_joint
from kgmi.graph import Dag
from kgmi.guides import GUIDES, scores
from kgmi.guides.labelled import expected_labelled_scores, labelled_scores
from kgmi.joint import PairJoint, PairMixture
from kgmi.kernel import FiniteKernels, Kernel, KernelSampler
from kgmi.learning import Certifier, Learned, bootstrap, certify, learn
from kgmi.process import Process
from kgmi.record import load, save
from kgmi.roots import find_roots
from kgmi.sampling import LabelledRows, sample, sample_chunks
from kgmi.statistics import PairCounts, count_labelled, count_pairs
from kgmi.version import __version__

if TYPE_CHECKING:
    from kgmi.estimator import KGMI

__all__ = [
    "DIVERGENCES",
    "GUIDES",
    "KGMI",
    "Certifier",
    "Dag",
    "Divergence",
    "FiniteKernels",
    "Kernel",
    "KernelSampler",
    "KgmiError",
    "LabelledRows",
    "Learned",
    "PairCounts",
    "PairJoint",
    "PairMixture",
    "Process",
    "Table",
    "__version__",
    "ascend",
    "bootstrap",
    "certify",
    "count_labelled",
    "count_pairs",
    "decode",
    "exact_joint",
    "expected_labelled_scores",
    "find_roots",
    "labelled_scores",
    "learn",
    "limit",
    "load",
    "metrics",
    "read_table",
    "sample",
    "sample_chunks",
    "save",
    "scores",
    "theory",
]


def __getattr__(name: str) -> Any:
    """The estimator, which is loaded on first use."""
    if name != "KGMI":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from kgmi.estimator import KGMI

    globals()["KGMI"] = KGMI  # found at once from now on
    return KGMI


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
