"""A device: its best matrix product, counting as a share of that, and whole fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

import kgmi
from kgmi.bench.compare import Tell
from kgmi.bench.speed.measured import Lines, Measured
from kgmi.bench.speed.timing import check_sizes, shown_seconds
from kgmi.counts.torch import TorchCounts, exact_formats, open_device, product, stored, wait_for
from kgmi.errors import SettingError
from kgmi.metrics import compare
from kgmi.types import Codes

__all__ = ["copied_rows", "measure_gpu"]

_SIDE = {"cuda": 16_384, "cpu": 512}  # of the square product that is the best rate
_SHARE = 1 / 3  # of ones in it, as in indicators of three states: a device is quicker on zeros


def measure_gpu(
    nodes: Sequence[int] = (1_000, 5_000),
    n_rows: int = 10_000,
    device: str = "cuda",
    *,
    guides: Sequence[str] = ("stationary", "likelihood"),
    repeats: int = 3,
    seed: int = 1,
    tell: Tell | None = None,
) -> Measured:
    """Measure the best rate of products, the rate of counting in the same unit, and whole fits.

    Parameters
    ----------
    nodes
        Sizes T: copies of the paper's graph of 10 nodes.
    n_rows
        N.
    device
        As in :func:`kgmi.learn`.
    guides
        Which fits: ``stationary`` is given the kernel, ``likelihood`` is not.
    repeats
        Rounds; the shortest time counts. The first loads code onto the device.
    seed
        Of the rows.
    tell
        Called with what is done and all of it.
    """
    check_sizes(nodes=nodes, rows=n_rows, repeats=repeats)
    if any(size % 10 for size in nodes):
        raise SettingError(f"sizes are copies of a graph of 10 nodes: multiples of 10, got {sorted(nodes)}")
    place = open_device(device)
    rates = product_rates(place, repeats)
    best = max(rates.values())
    results: list[dict[str, Any]] = []
    for number, n_nodes in enumerate(sorted(nodes)):
        if tell is not None:
            tell(number, len(nodes))
        rows = copied_rows(n_nodes, n_rows, seed)
        results.append(_counting(rows, device, place, repeats) | {"n_nodes": n_nodes})
        results[-1]["share_of_best"] = results[-1]["tera_operations"] / best
        results += [_fit(rows, guide, device, place, repeats) | {"n_nodes": n_nodes} for guide in guides]
    settings = {
        "device": device,
        "nodes": sorted(nodes),
        "n_rows": n_rows,
        "guides": list(guides),
        "repeats": repeats,
        "seed": seed,
        "product_side": _SIDE[place.type],
        "product_tera_operations": rates,
        "best_tera_operations": best,
    }
    return _report(settings, results)


def copied_rows(n_nodes: int, n_rows: int, seed: int) -> Codes:
    """Rows of copies of the paper's graph: as the copies are independent, one graph is drawn as often as needed."""
    n_copies = n_nodes // 10
    process = kgmi.Process(kgmi.Dag.paper(10), kgmi.Kernel.paper())
    one = kgmi.sample(process, n_rows * n_copies, rng=np.random.default_rng([seed, n_nodes]))
    return np.ascontiguousarray(one.reshape(n_copies, n_rows, 10).swapaxes(0, 1)).reshape(n_rows, n_nodes)


def product_rates(place: Any, repeats: int) -> dict[str, float]:
    """10¹² operations a second of a square product of zeros and ones, in every format that counts exactly."""
    import torch

    side = _SIDE[place.type]
    mask = torch.rand(side, side, device=place) < _SHARE
    rates = {}
    for name in exact_formats(place):
        matrix = stored(mask, name)
        seconds, _ = _shortest(partial(product, matrix, matrix, name), place, repeats + 2)
        rates[name] = 2 * side**3 / seconds / 1e12
    return rates


def _counting(rows: Codes, device: str, place: Any, repeats: int) -> dict[str, Any]:
    """Counts of all pairs, every block checked, from codes that are on the device; indicators are made anew."""
    n_rows, n_nodes = rows.shape
    there = TorchCounts(rows, (3,) * n_nodes, device=device)

    def count() -> None:
        there.forget_indicators()
        for _ in there.pair_blocks():
            pass

    seconds, _ = _shortest(count, place, repeats + 1)
    # Every unordered pair once, all S² cells of it, a multiplication and an addition for each row.
    operations = 2 * n_rows * 9 * (n_nodes * (n_nodes - 1) // 2)
    return {
        "what": "counting",
        "format": there.format,
        "given_up": there.given_up,
        "seconds": seconds,
        "tera_operations": operations / seconds / 1e12,
    }


def _fit(rows: Codes, guide: str, device: str, place: Any, repeats: int) -> dict[str, Any]:
    """A whole fit from rows in memory."""
    options: dict[str, Any] = {"guide": guide, "n_parents": 2, "n_states": 3}
    if guide == "stationary":
        options |= {"kernel": kgmi.Kernel.paper()}
    _reset_memory(place)
    seconds, learned = _shortest(lambda: kgmi.learn(rows, device=device, **options), place, repeats)
    n_nodes = rows.shape[1]
    compared = compare(learned.dag, kgmi.Dag.paper(10).copies(n_nodes // 10))
    return {
        "what": guide,
        "seconds": seconds,
        "f1": compared.f1,
        "precision": compared.precision,
        "recall": compared.recall,
        "root_root_pairs": len(compared.apart),
        "converged": learned.converged,
        "peak_device_gb": _peak_memory(place),
    }


def _shortest(work: Callable[[], Any], place: Any, repeats: int) -> tuple[float, Any]:
    """The shortest of several times, and the last outcome."""
    best, outcome = float("inf"), None
    for _ in range(repeats):
        wait_for(place)
        start = perf_counter()
        outcome = work()
        wait_for(place)
        best = min(best, perf_counter() - start)
    return best, outcome


def _reset_memory(place: Any) -> None:
    if place.type == "cuda":
        import torch

        torch.cuda.reset_peak_memory_stats(place)


def _peak_memory(place: Any) -> float | None:
    if place.type != "cuda":
        return None
    import torch

    return float(torch.cuda.max_memory_allocated(place) / 1e9)


def _report(settings: dict[str, Any], results: list[dict[str, Any]]) -> Measured:
    rates = [[name, f"{rate:,.3g}"] for name, rate in settings["product_tera_operations"].items()]
    counting = [
        [
            f"{one['n_nodes']:,}",
            one["format"],
            shown_seconds(one["seconds"]),
            f"{one['tera_operations']:,.3g}",
            f"{one['share_of_best']:.0%}",
        ]
        for one in results
        if one["what"] == "counting"
    ]
    fits = [
        [
            f"{one['n_nodes']:,}",
            one["what"],
            shown_seconds(one["seconds"]),
            f"{one['f1']:.4f}",
            "–" if one["peak_device_gb"] is None else f"{one['peak_device_gb']:.1f}",
        ]
        for one in results
        if one["what"] != "counting"
    ]
    side, n_rows = settings["product_side"], settings["n_rows"]
    return Measured(
        kind="gpu",
        settings=settings,
        results=results,
        tables=(
            Lines(f"Square products of zeros and ones, side {side:,}", ["format", "10¹² operations/s"], rates),
            Lines(
                f"Counts of all pairs, S = 3, {n_rows:,} rows",
                ["nodes", "format", "time", "useful 10¹² operations/s", "share of the best product"],
                counting,
                right=2,
            ),
            Lines(
                f"Whole fits, {n_rows:,} rows",
                ["nodes", "guide", "time", "F1", "peak GB on the device"],
                fits,
                right=2,
            ),
        ),
        sentences=(
            "Useful operations of counting: 2 · N · S² · T (T − 1) / 2. Indicators are made and every block is "
            "checked in the time.",
            "stationary is given the kernel, likelihood is not. Pairs of roots that are drawn together are not "
            "counted in F1.",
        ),
    )
