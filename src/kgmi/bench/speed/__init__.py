"""How fast: counting, whole fits, rows and ascent, each against a plain way and what the machine can do."""

from kgmi.bench.speed.growth import Growth, fit_growth, last_exponent
from kgmi.bench.speed.machine import describe_machine, describe_versions
from kgmi.bench.speed.measured import Lines, Measured, save_measured

__all__ = [
    "Growth",
    "Lines",
    "Measured",
    "describe_machine",
    "describe_versions",
    "fit_growth",
    "last_exponent",
    "save_measured",
]
