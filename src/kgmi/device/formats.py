"""Number formats that count exactly: products of matrices of zeros and ones, as quick as the device has them.

Which of them are exact and which is the quickest differs between devices and versions, so it is tried out once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from time import perf_counter
from typing import Any

from kgmi.device.place import Tensor, wait_for

__all__ = ["FORMATS", "Format", "exact_formats", "measured_formats"]

_TRUE_IN_FP8 = 2.0**-9  # what the byte of a mask's True, 1, means in float8_e4m3fn: so masks need not be converted
_LONG, _NARROW = 100_000, 64  # rows and columns of the trial for exactness
_TIMED = {"cuda": (4_096, 8_192), "cpu": (192, 2_048)}  # columns and rows of the trial for speed


@dataclass(frozen=True)
class Format:
    """A way to multiply matrices of zeros and ones.

    Attributes
    ----------
    name
        As it stands in a report.
    store
        Makes a matrix from a mask, in a type that can be indexed; it may share the memory of the mask.
    product
        ``product(left, right)``: left · rightᵀ of two such matrices, whole numbers in float32 or int32.
    """

    name: str
    store: Callable[[Tensor], Tensor]
    product: Callable[[Tensor, Tensor], Tensor]


@lru_cache(maxsize=16)
def _fp8_scale(place: Any) -> Tensor:
    import torch

    return torch.full((), 1 / _TRUE_IN_FP8, device=place)


def _fp8(fast: bool) -> Format:
    """Eight bits; with ``fast`` sums are kept in fewer bits on some devices, which the trial finds out."""

    def store(mask: Tensor) -> Tensor:
        import torch

        return mask.view(torch.uint8)

    def product(left: Tensor, right: Tensor) -> Tensor:
        import torch

        scale = _fp8_scale(left.device)
        return torch._scaled_mm(
            left.view(torch.float8_e4m3fn),
            right.view(torch.float8_e4m3fn).t(),
            scale_a=scale,
            scale_b=scale,
            out_dtype=torch.float32,
            use_fast_accum=fast,
        )

    return Format("fp8-fast" if fast else "fp8", store, product)


def _int8() -> Format:
    def store(mask: Tensor) -> Tensor:
        import torch

        return mask.view(torch.int8)

    def product(left: Tensor, right: Tensor) -> Tensor:
        import torch

        return torch._int_mm(left, right.t())

    return Format("int8", store, product)


def _half(name: str) -> Format:
    """Sixteen bits, sums in float32."""

    def store(mask: Tensor) -> Tensor:
        import torch

        return mask.to(getattr(torch, name))

    def product(left: Tensor, right: Tensor) -> Tensor:
        import torch

        return torch.mm(left, right.t(), out_dtype=torch.float32)

    return Format(name, store, product)


def _float32() -> Format:
    def store(mask: Tensor) -> Tensor:
        return mask.float()

    def product(left: Tensor, right: Tensor) -> Tensor:
        return left @ right.t()

    return Format("float32", store, product)


FORMATS: tuple[Format, ...] = (
    _fp8(fast=True),
    _fp8(fast=False),
    _int8(),
    _half("bfloat16"),
    _half("float16"),
    _float32(),
)
"""All formats; the last one is there on every device."""


@lru_cache(maxsize=16)
def exact_formats(place: Any) -> tuple[Format, ...]:
    """The formats that count exactly on this device, the quickest first; tried out once in a process."""
    timed = measured_formats(place)
    return tuple(sorted((one for one in FORMATS if one.name in timed), key=lambda one: timed[one.name]))


def measured_formats(place: Any) -> dict[str, float]:
    """Seconds that a product takes in every format that is exact on this device."""
    import torch

    size, n_rows = _TIMED[place.type]
    odds = torch.Generator().manual_seed(0)
    # Ones in nearly all places: sums that are kept in too few bits go wrong when they are large.
    long = (torch.rand(_NARROW, _LONG, generator=odds) < 0.97).to(place)
    wide = (torch.rand(size, n_rows, generator=odds) < 0.3).to(place)
    counted = long.double() @ long.double().t()
    found: dict[str, float] = {}
    for one in FORMATS:
        try:
            if bool((one.product(one.store(long), one.store(long)).double() == counted).all()):
                found[one.name] = _seconds(one, wide, place)
        except (RuntimeError, NotImplementedError, TypeError, ValueError, AttributeError):
            continue  # this device or this version has no such product
    return found


def _seconds(one: Format, mask: Tensor, place: Any) -> float:
    stored = one.store(mask)
    best = float("inf")
    for _ in range(3):
        wait_for(place)
        start = perf_counter()
        one.product(stored, stored)
        wait_for(place)
        best = min(best, perf_counter() - start)
    return best
