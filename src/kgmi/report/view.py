"""``view_of``: all that is shown of a result, in plain JSON values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from kgmi.graph.layout import layered
from kgmi.learning import Learned
from kgmi.learning.origin import origin_of
from kgmi.learning.status import sentences
from kgmi.report.again import run_again
from kgmi.report.candidates import best_candidates
from kgmi.report.drawn import drawn_edges, drawn_nodes, drawn_size, folded
from kgmi.report.frames import attention_frames
from kgmi.report.kernels import kernel_tables, node_laws
from kgmi.report.tables import LONGEST_NAME, shortened
from kgmi.values import plain_values

__all__ = ["VIEW_VERSION", "view_of"]

VIEW_VERSION = 1
_SENTENCES = ("trust", "status", "checks", "assumptions", "certificate")
_DIGITS = 6  # of a number; what is drawn or read needs no more


def view_of(
    learned: Learned, *, title: str | None = None, source: str | None = None, command: str | None = None
) -> dict[str, Any]:
    """All that the report and the page show of a result, as values that JSON has; NaN and infinity are None.

    Parameters
    ----------
    learned
        A result, fresh or loaded.
    title
        What it is called; by default the file that was learned from, or else what was found.
    source
        The file that was learned from, for what runs it again; by default the one that the result knows.
    command
        The command line that made it; by default the one that the result knows, or else one that is put together
        from the settings.

    Returns
    -------
    dict
        ``names``, ``nodes`` and ``edges`` (by node number) with their positions, ``candidates`` [node][head],
        ``frames`` (attention along the epochs, as bytes in base64), ``training``, ``trust``, ``status``,
        ``checks``, ``assumptions``, ``certificate``, ``kernels``, ``laws``, ``configuration`` and ``again``.
    """
    n_rows = learned.configuration.get("n_rows")
    summary, table = _summary(learned), source or origin_of(learned.configuration)[0]
    certificate = vars(learned).get("certificate")  # only where somebody has made it: it takes time
    report, layout = learned.assumptions, folded(layered(learned.dag))
    content = {
        "format": "kgmi-view",
        "version": VIEW_VERSION,
        "title": title or (table and PurePath(table).name) or summary,
        "summary": summary,
        "n_rows": n_rows,
        "n_nodes": learned.n_nodes,
        "n_heads": learned.n_heads,
        "n_edges": learned.dag.n_edges,
        "unit": "nats" if learned.fit is not None else "",
        "guide": learned.configuration.get("guide"),
        "converged": learned.converged,
        "trust": _trust(learned),
        "status": sentences(learned.status),
        "checks": [
            {"question": c.question, "passed": c.passed, "p_value": c.p_value, "sentence": c.sentence}
            for c in learned.checks
        ],
        "assumptions": None
        if report is None
        else [{"name": a.name, "holds": a.holds, "sentence": a.sentence} for a in report.assumptions],
        "certificate": None if certificate is None else certificate.sentences,
        "names": list(learned.names),
        "states": list(learned.states),
        "nodes": drawn_nodes(learned, layout),
        "edges": drawn_edges(learned, layout),
        "drawing": drawn_size(layout),
        "candidates": best_candidates(learned),
        "frames": attention_frames(learned),
        "training": _training(learned),
        "kernels": kernel_tables(learned),
        "laws": node_laws(learned),
        "configuration": learned.configuration,
        "again": run_again(learned, source, command),
    }
    told = {key: _with_short_names(content[key], learned.names) for key in _SENTENCES}
    return {key: plain_values(value, _DIGITS) for key, value in (content | told).items()}


def _with_short_names(value: Any, names: Sequence[str]) -> Any:
    """Sentences in which very long names have lost their middle, so that they can be read."""
    long = sorted((name for name in names if len(name) > LONGEST_NAME), key=len, reverse=True)
    if not long:
        return value
    if isinstance(value, dict):
        return {key: _with_short_names(item, long) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with_short_names(item, long) for item in value]
    if isinstance(value, str):
        for name in long:
            value = value.replace(name.replace('"', '""'), shortened(name)).replace(name, shortened(name))
    return value


def _summary(learned: Learned) -> str:
    n_rows = learned.configuration.get("n_rows")
    edges = "1 edge" if learned.dag.n_edges == 1 else f"{learned.dag.n_edges:,} edges"
    nodes = "1 node" if learned.n_nodes == 1 else f"{learned.n_nodes:,} nodes"
    return f"{edges} among {nodes}, from {f'{n_rows:,} rows' if n_rows else 'the exact population'}"


def _trust(learned: Learned) -> dict[str, Any]:
    trust = learned.trust
    return {
        "level": trust.level,
        "sentence": trust.sentence,
        "reasons": [{"text": reason.text, "supports": reason.supports} for reason in trust.reasons],
    }


def _training(learned: Learned) -> dict[str, Any] | None:
    trace = learned.trace
    if trace is None or len(trace.epochs) < 2:
        return None
    return {"epochs": trace.epochs.tolist(), "objective": trace.objective.tolist(), "best": trace.best_objective}
