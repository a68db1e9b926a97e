"""Learning on a device: what goes there, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Number
from typing import Any

from kgmi.counts.base import PairCounts
from kgmi.errors import DataError, KernelError, SettingError
from kgmi.joint import PairJoint, PairMixture
from kgmi.kernel import AnyKernel, Kernel
from kgmi.learning.inputs import Input
from kgmi.learning.settings import Settings
from kgmi.process import Process
from kgmi.sampling import LabelledRows

__all__ = [
    "MOST_TABLED",
    "check_for_device",
    "refuse_on_device",
]

MOST_TABLED = 2_000
"""Nodes up to which the result has tables [head, child, candidate], whatever learned it."""

_ALWAYS = (
    "kernel_source missing alphabet order forbidden required tiers max_lag windows roots memory_limit record_at"
)
_NEVER_SEARCHED = "search list_length classes error starts"
_MOST_HEADS = 2
_MOST_STATES = 16  # of families: a child, a parent and a candidate have S³ joint states


def refuse_on_device(given: Mapping[str, Any], usual: Mapping[str, Any], guide: str) -> None:
    """Refuse what a device does not do, and say which options to leave out; and a device that is not there."""
    from kgmi.counts.torch import open_device

    device = given["device"]
    if guide not in ("stationary", "likelihood"):
        raise SettingError(
            f"device='{device}' has the guides 'stationary' and 'likelihood', not '{guide}'; leave device out"
        )
    if isinstance(given["rows"], PairJoint | PairCounts | PairMixture | Process | LabelledRows):
        raise SettingError(
            f"device='{device}' counts rows; statistics, labelled rows and laws do without: leave it out"
        )
    refused = [name for name in _ALWAYS.split() if not _is_usual(given, usual, name)]
    if guide == "likelihood":
        refused += [name for name in _NEVER_SEARCHED.split() if not _is_usual(given, usual, name)]
        refused += ["share"] if given["share"] not in ("auto", "shared") else []
    if given["kernel_source"] == "known" and "kernel_source" in refused:
        refused.remove("kernel_source")
    if refused:
        raise SettingError(
            f"device='{device}' does not go with {', '.join(refused)}: there all rows are complete, the order of "
            "the columns is given, every earlier column may be a parent and all nodes share a kernel. Leave "
            f"{'it' if len(refused) == 1 else 'them'} out, or leave device out"
        )
    open_device(device)


def _is_usual(given: Mapping[str, Any], usual: Mapping[str, Any], name: str) -> bool:
    if name not in usual:
        return True
    value, by_default = given[name], usual[name]
    is_plain = isinstance(value, str | Number)  # an array is compared place by place
    return value is by_default or (is_plain and by_default is not None and bool(value == by_default))


def check_for_device(data: Input, kernel: AnyKernel | None, settings: Settings) -> None:
    """Refuse rows and settings that a device has no engine for."""
    if data.table is None or data.table.n_missing or len(set(data.alphabets)) > 1:
        raise DataError("a device needs rows without gaps, and one alphabet for all columns; leave device out")
    if settings.guide == "likelihood":
        if settings.n_heads > _MOST_HEADS:
            raise SettingError(f"a device looks for at most {_MOST_HEADS} parents; leave device out for more")
        if len(data.states) > _MOST_STATES:
            raise SettingError(f"a device searches columns of at most {_MOST_STATES} states; leave device out")
    if kernel is None and settings.guide == "stationary":
        raise KernelError("the guide 'stationary' needs the kernel; give it, or use guide='likelihood'")
    if kernel is not None and not isinstance(kernel, Kernel):
        raise KernelError("a device needs one kernel for all rows, not a law over kernels; leave device out")
    if kernel is not None and kernel.n_states != len(data.states):
        raise KernelError(f"the data have {len(data.states)} states, the kernel {kernel.n_states}")
