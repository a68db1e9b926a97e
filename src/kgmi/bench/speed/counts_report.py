"""Measurements of counting for people: tables, sentences and curves."""

from __future__ import annotations

from typing import Any

from kgmi.bench.speed.growth import fit_growth
from kgmi.bench.speed.measured import Lines, Measured, growth_of
from kgmi.bench.speed.timing import shown_seconds
from kgmi.plots.growth import Curve

__all__ = ["counts_report"]

_NAMES = {
    "kgmi": "kgmi, packing included",
    "pack": "kgmi, packing alone",
    "gemm": "one-hot product (GEMM)",
    "syrk": "one-hot product, half of it (SYRK)",
    "bincount": "np.bincount, pair by pair",
}
_WHOLE = ("kgmi", "gemm", "syrk", "bincount")  # those that count everything


def counts_report(settings: dict[str, Any], results: list[dict[str, Any]]) -> Measured:
    """Tables, sentences, laws of growth and curves from every single measurement."""
    growth, curves = [], []
    for name in _WHOLE:
        mine = [one for one in results if one["method"] == name]
        sizes, seconds = [one["n_nodes"] for one in mine], [one["seconds"] for one in mine]
        law = fit_growth(seconds, {"T": sizes})
        if law is not None:
            growth.append(growth_of(name, law, seconds, sizes))
        curves.append(Curve(_NAMES[name], tuple(sizes), tuple(seconds), "" if law is None else str(law)))
    n_states, n_rows = settings["n_states"], settings["n_rows"]
    lines = [
        [
            f"{one['n_nodes']:,}",
            _NAMES[one["method"]],
            shown_seconds(one["seconds"]),
            f"{one['ratio_to_kgmi']:.2f}",
            "–" if one["words_per_second"] is None else f"{one['words_per_second'] / 1e9:.2f}",
            "–" if one["words_per_second"] is None else f"{one['share_of_ceiling']:.0%}",
        ]
        for one in results
    ]
    columns = ["nodes", "method", "time", "times kgmi's", "useful G words/s", "share of ceiling"]
    return Measured(
        kind="counts",
        settings=settings,
        results=results,
        growth=growth,
        tables=(Lines(f"Counts of all pairs, S = {n_states}, {n_rows:,} rows", columns, lines, right=2),),
        sentences=_sentences(settings, results),
        curves=tuple(curves),
        x_label=f"nodes T (S = {n_states}, {n_rows:,} rows)",
        note="np.bincount was timed on some of the pairs and scaled to all.",
    )


def _sentences(settings: dict[str, Any], results: list[dict[str, Any]]) -> tuple[str, ...]:
    largest = max(settings["nodes"])
    by_name = {one["method"]: one for one in results if one["n_nodes"] == largest}
    loops = settings["ceiling_of_loops"]
    return (
        f"Ceiling: {settings['ceiling_words_per_second'] / 1e9:.1f} G words/s, AND and population count on data "
        f"in the first-level cache, one thread per core at once (row by row {loops['pairs'] / 1e9:.1f}, two rows "
        f"against two {loops['squares'] / 1e9:.1f}). Useful words are those of the upper half, S − 1 states.",
        f"At {largest:,} nodes kgmi is {by_name['gemm']['ratio_to_kgmi']:.1f} times as fast as GEMM and "
        f"{by_name['syrk']['ratio_to_kgmi']:.1f} times as fast as SYRK, whose one-hot matrices were made "
        f"beforehand. It reaches {by_name['kgmi']['share_of_ceiling']:.0%} of the ceiling, "
        f"{by_name['kgmi']['words_per_second'] / loops['pairs']:.0%} of the loop row by row; packing takes "
        f"{by_name['pack']['ratio_to_kgmi']:.0%} of its time.",
        f"np.bincount was timed on {settings['bincount_pairs']:,} pairs at most and scaled to all of them. "
        "All ways gave the same counts.",
    )
