"""Options that would do nothing: they are refused, so that nobody believes in what was never done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kgmi.counts.base import PairCounts
from kgmi.errors import SettingError
from kgmi.learning.inputs import Input
from kgmi.learning.settings import SEARCHING

__all__ = ["refuse_idle"]

_OTHERS = "guide='stationary' (or 'plain')"


def refuse_idle(given: Mapping[str, Any], usual: Mapping[str, Any], guide: str, data: Input) -> None:
    """Refuse an option that differs from what is usual though nothing can depend on it.

    Parameters
    ----------
    given, usual
        The options of :func:`kgmi.learn` as the caller gave them, and what they are by default.
    guide, data
        The guide that was chosen, and what is learned from.
    """
    for names, why in _idle(given, guide, data):
        for name in names.split():
            by_default = given[name] is usual[name] or (usual[name] is not None and given[name] == usual[name])
            if not by_default:
                raise SettingError(f"{name} does nothing here: {why}. Leave it out")


def _idle(given: Mapping[str, Any], guide: str, data: Input) -> Iterator[tuple[str, str]]:
    """Options that nothing depends on, and why not, with what to do to have them."""
    if guide in SEARCHING:
        yield "divergence", f"the guide '{guide}' takes no divergence; use {_OTHERS} to have one"
    if guide != "labelled":
        yield "kappa labelled_form", f"it belongs to the labelled estimator (guide='labelled'), not to '{guide}'"
    if given["solver"] == "limit":
        yield "rate epochs stop record_at", "solver='limit' goes to the end at once; use solver='ascent' to have it"
    if given["windows"] is not None:
        yield "alphabet", "windows are cut from one sequence, whose positions have the same states"
    if data.table is None or data.weights is not None:
        yield "states missing alphabet", "it says how rows are read, and these are statistics or an exact law"
    if guide in SEARCHING:
        yield from _of_search(given, guide, data)
    else:
        yield from _of_pairs(guide, given["kernel_source"])
    yield from _of_roots(given, guide, data)
    counted = isinstance(data.statistics, PairCounts) or (data.has_families and data.weights is None)
    if not counted:
        yield "smoothing", "an exact law is not smoothed; rows and counts are"
    if guide == "labelled":
        yield "smoothing", "the labelled estimator has kappa (κ) in its place"


def _of_pairs(guide: str, kernel_source: str | None) -> Iterator[tuple[str, str]]:
    """What the paper's guides, which learn no kernels, leave aside."""
    names = "search list_length penalty share classes starts rounds"
    other = "use guide='likelihood' (or 'contextual') to have it"
    yield names, f"the guide '{guide}' does not search; {other}"
    if kernel_source == "learned":
        yield "kernel_source", f"the guide '{guide}' learns no kernel; {other}"


def _of_search(given: Mapping[str, Any], guide: str, data: Input) -> Iterator[tuple[str, str]]:
    """What a search leaves aside: without rows, with an exact law, with a kernel, with one for each node."""
    if not data.has_families:
        why = f"the guide '{guide}' learns no kernels from statistics of pairs; give the rows to have it"
        yield "list_length penalty share classes error starts" + " in_degree" * (given["in_degree"] == "mixed"), why
        if given["search"] == "lists":
            yield "search", "statistics of pairs are looked at in full; use search='auto', or 'heads'"
        if given["search"] != "heads":
            yield "rounds", "heads are chosen together, in one round; use search='heads' to have rounds"
        return
    if data.candidates.is_open:
        yield "search list_length", "where the order is learned all tuples of likely parents are looked at"
    if given["kernel_source"] != "learned" and given["kernel"] is not None:
        yield "classes", "all nodes follow the known kernel; leave that out to learn one for each class"
    if given["windows"] is not None:
        yield "classes", "of the positions of a window only the newest has parents"
    if data.weights is not None:
        yield "penalty", "there is nothing to pay for in an exact law; learn from rows to have it"


def _of_roots(given: Mapping[str, Any], guide: str, data: Input) -> Iterator[tuple[str, str]]:
    if guide in SEARCHING and data.has_families:
        yield "root_level", f"the guide '{guide}' finds roots by likelihood, not by a test; use {_OTHERS}"
    if not isinstance(given["roots"], str):
        yield "root_level", "the roots are told, so none are tested for"
    if data.n_rows is None:
        yield "root_level", "in an exact law independence needs no test; learn from rows to have one"
