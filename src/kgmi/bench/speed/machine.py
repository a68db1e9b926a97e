"""The machine and the versions behind a measurement: what another person needs to compare, and nothing more.

No name of a host or a user and no path is told.
"""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

from kgmi.threads import n_workers
from kgmi.version import __version__

__all__ = ["describe_machine", "describe_versions"]

_PACKAGES = ("numpy", "numba", "llvmlite", "scipy", "torch")


def describe_machine(*, with_gpu: bool = False) -> dict[str, Any]:
    """Return processor, cores, memory and operating system; and the GPU, where one was used."""
    return {
        "processor": _processor(),
        "architecture": platform.machine(),
        "cores": n_workers(),  # those that this process may use
        "cores_of_machine": os.cpu_count(),
        "memory_gb": _memory_gb(),
        "system": f"{platform.system()} {platform.release()}",
        "gpu": _gpu() if with_gpu else None,
    }


def describe_versions() -> dict[str, Any]:
    """kgmi, Python, the packages that do the work (null where not installed), and BLAS with its threads."""
    return {
        "kgmi": __version__,
        "python": platform.python_version(),
        **{name: _version(name) for name in _PACKAGES},
        "blas": _blas(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:  # not on every system
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _memory_gb() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1)
    except (AttributeError, ValueError, OSError):  # not on every system
        return None


def _gpu() -> dict[str, Any] | None:
    """Return the first GPU, as PyTorch describes it."""
    import torch

    if not torch.cuda.is_available():
        return None
    about = torch.cuda.get_device_properties(0)
    return {
        "name": about.name,
        "memory_gb": round(about.total_memory / 1e9, 1),
        "cuda": torch.version.cuda,
        "count": torch.cuda.device_count(),
    }


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _blas() -> list[dict[str, Any]]:
    """Those that are loaded; what threadpoolctl tells besides is where they lie."""
    from threadpoolctl import threadpool_info

    kept = ("internal_api", "version", "num_threads", "architecture", "threading_layer")
    return [{key: one.get(key) for key in kept} for one in threadpool_info() if one.get("user_api") == "blas"]
