"""Runs of the benchmark for people: tables, sentences and curves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kgmi.bench.speed.growth import fit_growth
from kgmi.bench.speed.measured import Lines, Measured, growth_of
from kgmi.bench.speed.timing import shown_seconds
from kgmi.bench.stream.runs import Run
from kgmi.plots.growth import Curve

__all__ = ["stream_report"]

_COUNTED = {2: "all pairs", 3: "all sets of three"}
_WORKERS = {"kgmi": "threads of one process", "kgmi-dask": "Dask, local processes"}


def stream_report(settings: dict[str, Any], runs: list[Run]) -> Measured:
    """Tables, sentences, laws of growth and curves from every single run."""
    by_part = {part: [run for run in runs if run.part == part] for part in settings["parts"]}
    laws, curves = _laws(settings, by_part)
    tables = [
        _by_rows(settings, by_part.get("rows", [])),
        _growth_table(laws),
        _by_workers(by_part.get("workers", [])),
        _by_kind(by_part.get("kinds", [])),
        _by_peer(settings, by_part.get("peers", [])),
        _by_command(by_part.get("learn", [])),
    ]
    return Measured(
        kind="stream",
        settings=settings,
        results=[run.to_dict() for run in runs],
        growth=laws,
        tables=tuple(table for table in tables if table.rows),
        sentences=_sentences(settings, runs),
        curves=tuple(curves),
        x_label=f"rows N ({settings['n_nodes']} columns of {settings['n_states']} states, Parquet)",
    )


def _by_rows(settings: dict[str, Any], runs: Sequence[Run]) -> Lines:
    title = f"Counting {settings['n_nodes']} columns of Parquet files, {settings['cores']} threads"
    lines = [[f"{run.table.n_rows:,}", _COUNTED[run.width], *_numbers(run)] for run in runs]
    return Lines(title, ["rows", "counts of", "time", "million rows/s", "peak MB"], lines, right=2)


def _by_workers(runs: Sequence[Run]) -> Lines:
    ones = {run.method: run.seconds for run in runs if run.workers == 1}
    lines = []
    for run in runs:
        one = ones.get(run.method)
        gain = "–" if one is None or run.seconds is None else f"{one / run.seconds:.2f}"
        lines.append([_WORKERS[run.method], str(run.workers), *_numbers(run), gain])
    title = f"Workers: {_COUNTED[3]} of {runs[0].table.n_rows:,} rows" if runs else ""
    return Lines(title, ["who", "workers", "time", "million rows/s", "peak MB", "times one worker"], lines)


def _by_kind(runs: Sequence[Run]) -> Lines:
    lines = [[run.table.kind, *_numbers(run)] for run in runs]
    title = f"Kinds of cells: {_COUNTED[3]} of {runs[0].table.n_rows:,} rows" if runs else ""
    return Lines(title, ["cells", "time", "million rows/s", "peak MB"], lines)


def _by_peer(settings: dict[str, Any], runs: Sequence[Run]) -> Lines:
    """All of the largest size."""
    most = max((run.table.n_rows for run in runs), default=0)
    here = [run for run in runs if run.table.n_rows == most]
    ours = next((run.seconds for run in here if run.method == "kgmi" and run.width == 2), None)
    lines = []
    for run in sorted(here, key=lambda run: run.seconds or float("inf")):
        ratio = "–" if ours is None or run.seconds is None else f"{run.seconds / ours:.2f}"
        each = "–" if run.seconds is None else f"{1e9 * run.seconds / most:,.0f}"
        lines.append([_label(settings, run), *_numbers(run), each, ratio])
    title = f"All pairs of {settings['n_nodes']} columns, {most:,} rows, {settings['cores']} threads each"
    columns = ["who", "time", "million rows/s", "peak MB", "ns per row", "times kgmi's pairs"]
    return Lines(title, columns, lines)


def _by_command(runs: Sequence[Run]) -> Lines:
    lines = []
    for run in runs:
        more = run.more or {}
        counting = more.get("counting_seconds")
        counted = ["–"] * 2 if counting is None else [shown_seconds(counting), _rate(run.table.n_rows / counting)]
        lines.append([f"{run.table.n_rows:,}", *_numbers(run), *counted, f"{more['f1']:.3f}" if more else "–"])
    columns = ["rows", "time", "million rows/s", "peak MB", "of it counting", "million rows/s counted", "F1"]
    return Lines("kgmi learn, the whole command", columns, lines)


def _numbers(run: Run) -> list[str]:
    """Time, million rows per second and megabytes of a run, as cells of a table."""
    if run.seconds is None or run.rate is None:
        return ["–"] * 3
    memory = "–" if run.peak_bytes is None else f"{run.peak_bytes / 1e6:,.0f}"
    return [shown_seconds(run.seconds), _rate(run.rate), memory]


def _rate(rows_per_second: float) -> str:
    return f"{rows_per_second / 1e6:.2f}"


def _laws(settings: dict[str, Any], by_part: dict[str, list[Run]]) -> tuple[list[dict[str, Any]], list[Curve]]:
    """How time and memory grow with N: ours, and the fastest way of each library at its largest size."""
    laws, curves = [], []
    for key, label, runs in _lines_of(settings, by_part):
        done = [(run.table.n_rows, run.seconds, run.peak_bytes) for run in runs if run.seconds is not None]
        if not done:
            continue
        sizes, seconds, memory = zip(*done, strict=True)
        law = fit_growth(seconds, {"N": sizes})
        known = () if None in memory else memory
        curves.append(Curve(label, sizes, seconds, "" if law is None else str(law), memory=known))
        for quantity, values in (("seconds", seconds), ("peak_bytes", known)):
            found = fit_growth(values, {"N": sizes}) if values else None
            if found is not None:
                laws.append({**growth_of(key, found, values, sizes), "quantity": quantity, "label": label})
    return laws, curves


def _lines_of(settings: dict[str, Any], by_part: dict[str, list[Run]]) -> Iterable[tuple[str, str, list[Run]]]:
    ours = by_part.get("rows", [])
    for width in (3, 2):
        yield f"kgmi-{width}", f"kgmi, {_COUNTED[width]}", [run for run in ours if run.width == width]
    learned = by_part.get("learn", [])
    yield "kgmi-learn", "kgmi learn, the whole command", learned
    peers = [run for run in by_part.get("peers", []) if run.method != "kgmi" and run.seconds is not None]
    for library in dict.fromkeys(run.method.partition("-")[0] for run in peers):
        mine = [run for run in peers if run.method.startswith(f"{library}-")]
        most = max(run.table.n_rows for run in mine)
        best = min((run for run in mine if run.table.n_rows == most), key=lambda run: run.seconds or 0.0)
        name = _label(settings, best).partition(",")[0]  # how it counts is in the table of peers
        yield best.method, name, [run for run in mine if run.method == best.method]


def _growth_table(laws: Sequence[dict[str, Any]]) -> Lines:
    lines = []
    for law in laws:
        error, last = law["standard_errors"]["N"], law["last_exponent"]
        power = f"{law['exponents']['N']:.2f}" + ("" if error is None else f" ± {error:.2f}")
        what = {"seconds": "time", "peak_bytes": "memory"}[law["quantity"]]
        lines.append([law["label"], what, power, "–" if last is None else f"{last:.2f}", str(law["n_measured"])])
    columns = ["who", "what", "exponent of N", "over the last step", "sizes"]
    return Lines("Growth: time and memory ∝ N^a", columns, lines, right=2)


def _label(settings: dict[str, Any], run: Run) -> str:
    return f"kgmi, {_COUNTED[run.width]}" if run.method == "kgmi" else settings["peers"][run.method]


def _sentences(settings: dict[str, Any], runs: Sequence[Run]) -> tuple[str, ...]:
    said = [
        "Every run has a fresh process; memory is the most that it held, interpreter and libraries included, with "
        "Dask that of all its processes together. Time is the shortest of 2 to 5 calls after a first one on few "
        "rows, for kgmi learn that of the whole process."
    ]
    if settings["agreeing"]:
        said.append(f"{settings['agreeing']} runs counted all pairs, and all that read the same rows agree.")
    said += [f"{run.method} on {run.table.n_rows:,} rows: {run.trouble}." for run in runs if run.trouble]
    if settings["missing"]:
        said.append(f"Not installed, so not run: {', '.join(settings['missing'])} (pip install 'kgmi[bench]').")
    return tuple(said)
