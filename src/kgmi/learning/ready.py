"""Everything that is settled before a fit begins: the rows in one form, the kernel, and all settings."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from kgmi.counts.base import PairCounts
from kgmi.counts.counted import CountedTable
from kgmi.divergence import divergence_named
from kgmi.errors import SettingError
from kgmi.guides.labelled import tail_kernel
from kgmi.joint import PairJoint, PairMixture
from kgmi.kernel import AnyKernel, Kernel, check_kernel
from kgmi.learning.classes import read_classes
from kgmi.learning.counted import check_streamed, counted, is_streamed
from kgmi.learning.idle import refuse_idle
from kgmi.learning.inputs import Input, Limits, Reading, Source, gather
from kgmi.learning.ordered import check_open
from kgmi.learning.origin import reading_of
from kgmi.learning.settings import PAPER_RATE, SEARCHING, KernelSource, Settings, check_whole
from kgmi.penalty import penalty_named
from kgmi.prepare import Prepared
from kgmi.process import Process
from kgmi.sampling import LabelledRows
from kgmi.table import Table

__all__ = ["Ready", "make_ready"]


@dataclass(frozen=True, eq=False)
class Ready:
    """What a fit starts from."""

    data: Input
    kernel: AnyKernel | None
    settings: Settings


def make_ready(given: Mapping[str, Any], usual: Mapping[str, Any]) -> Ready:
    """Read the rows and check the options of :func:`kgmi.learn`, as ``given`` and as they ``usual``ly are."""
    if isinstance(given["rows"], Prepared):
        prepared = given["rows"]
        made = make_ready({**given, "rows": prepared.table}, usual)
        notes = prepared.notes_for(given["order"], given["tiers"])
        return replace(made, data=replace(made.data, prepared=notes, cut=tuple(prepared.bins)))
    kernel, rows = given["kernel"], given["rows"]
    check_kernel(kernel)
    source, kernel = _kernel_from(rows, kernel, given["kernel_source"])
    known_heads = _known_heads(rows, kernel, given["n_parents"])
    guide = given["guide"] or _default_guide(rows, kernel, source)
    if streamed := is_streamed(rows):
        given = counted(given, usual, guide, given["n_parents"] or known_heads)
        rows = given["rows"]
    else:
        check_streamed(given)
    data = gather(
        rows,
        _reading(given, kernel, guide),
        Limits(given["forbidden"], given["required"], given["tiers"], given["max_lag"], given["order"]),
    )
    if streamed and given["short"] is not None:
        data = data.restricted(given["short"].allowed, given["short"].n_rows)
    reading = given["reading"] if streamed else reading_of(given, usual)
    data = replace(data, reading=reading)
    known = source if guide in SEARCHING or kernel is not None else None
    n_heads = given["n_parents"] or known_heads
    if n_heads is None:
        n_heads = min(2, data.n_nodes - 1) if guide in SEARCHING else 1
        if isinstance(rows, CountedTable) and rows.n_parents < n_heads:
            n_heads, data = rows.n_parents, replace(data, is_limited=True)
    settings = _settings(given, data, guide, n_heads, known, learns_kernel=kernel is None)
    refuse_idle(given, usual, guide, data)
    if data.n_nodes <= settings.n_heads:
        raise SettingError(
            f"{settings.n_heads} parents need at least {settings.n_heads + 1} columns, got {data.n_nodes}"
        )
    check_open(data, settings)
    if settings.device is not None:
        _check_device(data, settings.device)
    return Ready(data, kernel, settings)


def _check_device(data: Input, device: str) -> None:
    """Refuse a device that is not there, and a source that it cannot count."""
    from kgmi.counts.torch import open_device

    open_device(device)
    if data.table is None or data.weights is not None or data.labelled is not None:
        raise SettingError(
            f"device='{device}' counts rows, and these are statistics, counts, labelled rows or an exact "
            "distribution: leave device out"
        )


def _reading(given: Mapping[str, Any], kernel: AnyKernel | None, guide: str) -> Reading:
    """How the rows are read; S is that of the kernel where nothing else says it."""
    n_states, states, alphabet = given["n_states"], given["states"], given["alphabet"]
    if alphabet == "auto" and guide == "contextual":
        alphabet = "shared"  # it needs one alphabet for all columns
    # These know their S.
    sized = isinstance(given["rows"], Table | PairJoint | PairCounts | PairMixture | Process | CountedTable)
    if n_states is None and kernel is not None and not sized and states is None and alphabet != "own":
        n_states = kernel.n_states
    names, missing, windows, kappa = (given[name] for name in ("names", "missing", "windows", "kappa"))
    paired = guide not in SEARCHING and given["device"] is None
    return Reading(n_states, states, names, missing, alphabet, windows, kappa, paired)


def _settings(
    given: Mapping[str, Any],
    data: Input,
    guide: str,
    n_heads: int,
    source: KernelSource | None,
    *,
    learns_kernel: bool,
) -> Settings:
    """The options with what they are by default for this guide and these rows."""
    as_given = "solver epochs stop smoothing root_level kappa labelled_form search list_length error starts rounds"
    as_given += " device"
    rate, share, searching = given["rate"], given["share"], guide in SEARCHING
    one_kernel = given["classes"] is not None
    return Settings(
        n_heads=n_heads,
        guide=guide,
        divergence=divergence_named(given["divergence"] or ("pearson" if guide == "labelled" else "kl")),
        rate=PAPER_RATE if rate is None and not searching else rate,
        in_degree=given["in_degree"] or ("mixed" if searching and learns_kernel else "uniform"),
        roots=_root_nodes(given["roots"], data),
        kernel_source=source,
        penalty=penalty_named(given["penalty"]),
        share="shared" if one_kernel and share == "auto" else share,
        order="learn" if data.candidates.is_open else "given",
        classes=read_classes(given["classes"], data.candidates.rules.columns),
        **{name: given[name] for name in as_given.split()},
    )


def _root_nodes(roots: Collection[int | str] | Literal["test"], data: Input) -> Collection[int] | Literal["test"]:
    """The roots as numbers of columns: they may be named."""
    if isinstance(roots, str):
        return roots  # type: ignore[return-value]  # another text is refused with the other settings
    return tuple(sorted({*data.candidates.rules.columns.numbers(roots, "roots")}))


def _kernel_from(
    rows: Source, kernel: AnyKernel | None, source: KernelSource | None
) -> tuple[KernelSource, AnyKernel | None]:
    """Where the kernel comes from, and the kernel itself unless it is learned."""
    if source not in (None, "known", "labelled", "learned"):
        raise SettingError(f"kernel_source must be known, labelled or learned; got {source!r}")
    source = source or ("learned" if kernel is None else "known")
    if (source == "known") != (kernel is not None):
        what = "needs the kernel: give kernel=…" if kernel is None else "does not go with a kernel that is given"
        raise SettingError(f"kernel_source='{source}' {what}")
    if source != "labelled":
        return source, kernel
    if not isinstance(rows, LabelledRows):
        raise SettingError("kernel_source='labelled' needs rows with a labelled tail (kgmi.LabelledRows)")
    return source, tail_kernel(rows)


def _default_guide(rows: Source, kernel: AnyKernel | None, source: KernelSource) -> str:
    if isinstance(rows, LabelledRows) and source != "labelled":
        return "labelled"
    random = kernel is not None and not isinstance(kernel, Kernel)
    if random or isinstance(rows, PairJoint | PairCounts | PairMixture):
        return "plain" if kernel is None else "stationary"
    return "likelihood"


def _known_heads(rows: Source, kernel: AnyKernel | None, n_parents: int | None) -> int | None:
    """K as the kernel or the labelled tail has it; what was asked for must agree."""
    known = None if kernel is None else kernel.n_parents
    if isinstance(rows, LabelledRows):
        tail = rows.uniform.shape[1]
        if known not in (None, tail):
            raise SettingError(f"the labelled tail has {tail} parents, but the kernel has {known}")
        known = tail
    if n_parents is not None:
        check_whole("n_parents", n_parents)
    if known is not None and n_parents not in (None, known):
        raise SettingError(f"n_parents is {n_parents}, but the kernel or labelled tail has {known} parents")
    return known
