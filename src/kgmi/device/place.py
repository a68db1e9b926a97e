"""Which device is computed on; PyTorch is loaded when one is asked for."""

from __future__ import annotations

from importlib.util import find_spec
from time import perf_counter
from typing import Any

from kgmi.errors import SettingError

__all__ = ["Clock", "Tensor", "free_memory", "open_device", "wait_for"]

Tensor = Any
"""A tensor of PyTorch, which has no types here: it is optional."""

_CPU_MEMORY = 2_000_000_000  # bytes that are used where the device is the processor itself


def open_device(device: str) -> Any:
    """The device of this name: ``cuda``, ``cuda:1`` … or ``cpu``; refused with what to do where it is not there."""
    if not isinstance(device, str) or device.partition(":")[0] not in ("cuda", "cpu"):
        raise SettingError(f"device must be 'cuda', 'cuda:1' … or 'cpu', got {device!r}; leave it out for NumPy")
    if find_spec("torch") is None:
        raise SettingError(
            f"device='{device}' needs PyTorch, which is not installed: pip install 'kgmi[gpu]', or leave device out"
        )
    import torch

    try:
        place = torch.device(device)
    except RuntimeError:
        raise SettingError(f"device must be 'cuda', 'cuda:1' … or 'cpu', got {device!r}") from None
    if place.type == "cpu":
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise SettingError(
            f"device='{device}': PyTorch {torch.__version__} sees no NVIDIA device here. Install its build for "
            "CUDA and a driver, use device='cpu' to try the same code, or leave device out"
        )
    if (place.index or 0) >= torch.cuda.device_count():
        raise SettingError(f"device='{device}': there are {torch.cuda.device_count()} devices here, from cuda:0 on")
    return torch.device("cuda", torch.cuda.current_device() if place.index is None else place.index)


def wait_for(place: Any) -> None:
    """Wait until all that was asked of the device is done."""
    if place.type == "cuda":
        import torch

        torch.cuda.synchronize(place)


def free_memory(place: Any) -> int:
    """Bytes that may be used on the device."""
    if place.type != "cuda":
        return _CPU_MEMORY
    import torch

    return int(torch.cuda.mem_get_info(place)[0])


class Clock:
    """Seconds by phase of a fit, the work on the device included."""

    def __init__(self, place: Any) -> None:
        self.seconds: dict[str, float] = {}
        self._place = place
        self._last = perf_counter()

    def mark(self, phase: str) -> None:
        """All since the last mark was this phase."""
        wait_for(self._place)
        now = perf_counter()
        self.seconds[phase] = self.seconds.get(phase, 0.0) + now - self._last
        self._last = now
