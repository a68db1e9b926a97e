"""kgmi: learn directed acyclic graphs from discrete data with kernel-guided attention.

The beginner's door is :func:`learn`; every stage behind it is public too. Importing this package loads nothing
but itself: each public name is fetched from its room when it is first asked for.
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from kgmi.version import __version__

if TYPE_CHECKING:  # for readers and type checkers; at run time _HOMES says where a name is found
    from kgmi import metrics, theory
    from kgmi.attention import ascend, decode, limit
    from kgmi.counts.base import PairCounts
    from kgmi.counts.bits import count_pairs
    from kgmi.counts.counted import CountedTable, merge
    from kgmi.counts.stream import count
    from kgmi.divergence import DIVERGENCES, Divergence
    from kgmi.errors import KgmiError
    from kgmi.estimator import KGMI
    from kgmi.exact import exact_joint
    from kgmi.graph import Dag
    from kgmi.guides.labelled import count_labelled, expected_labelled_scores, labelled_scores
    from kgmi.guides.stationary import GUIDES, find_roots, scores
    from kgmi.interchange import export
    from kgmi.joint import PairJoint, PairMixture
    from kgmi.kernel import FiniteKernels, Kernel, KernelSampler
    from kgmi.learning import Certifier, Learned, bootstrap, certify
    from kgmi.learning.learn import learn
    from kgmi.prepare import Prepared, prepare
    from kgmi.process import Process
    from kgmi.record import load, save
    from kgmi.sampling import LabelledRows, sample, sample_chunks
    from kgmi.sources import read_table, stream
    from kgmi.sources.base import Stream
    from kgmi.table import Table

__all__ = [
    "DIVERGENCES",
    "GUIDES",
    "KGMI",
    "Certifier",
    "CountedTable",
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
    "Prepared",
    "Process",
    "Stream",
    "Table",
    "__version__",
    "ascend",
    "bootstrap",
    "certify",
    "count",
    "count_labelled",
    "count_pairs",
    "decode",
    "exact_joint",
    "expected_labelled_scores",
    "export",
    "find_roots",
    "labelled_scores",
    "learn",
    "limit",
    "load",
    "merge",
    "metrics",
    "prepare",
    "read_table",
    "sample",
    "sample_chunks",
    "save",
    "scores",
    "stream",
    "theory",
]

_HOMES = {
    "attention": "ascend decode limit",
    "counts.base": "PairCounts",
    "counts.bits": "count_pairs",
    "counts.counted": "CountedTable merge",
    "counts.stream": "count",
    "divergence": "DIVERGENCES Divergence",
    "errors": "KgmiError",
    "estimator": "KGMI",
    "exact": "exact_joint",
    "graph": "Dag",
    "guides.labelled": "count_labelled expected_labelled_scores labelled_scores",
    "guides.stationary": "GUIDES find_roots scores",
    "interchange": "export",
    "joint": "PairJoint PairMixture",
    "kernel": "FiniteKernels Kernel KernelSampler",
    "learning": "Certifier Learned bootstrap certify learn",
    "prepare": "Prepared prepare",
    "process": "Process",
    "record": "load save",
    "sampling": "LabelledRows sample sample_chunks",
    "sources": "read_table stream",
    "sources.base": "Stream",
    "table": "Table",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """A public name or a room of this package, loaded on first use and found at once from then on."""
    if name in _HOME_OF:
        found = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
        globals()[name] = found
        return found
    if not name.startswith("_") and find_spec(f"{__name__}.{name}") is not None:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """Keeps ``kgmi.certify`` a function: loading the module would put it in its place."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOME_OF and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
