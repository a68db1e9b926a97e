"""Certificates by simulation: how often they are false, and how many rows they need."""

from kgmi.bench.certificates.nulls import Calibration, calibrate
from kgmi.bench.certificates.power import Power, measure_power

__all__ = ["Calibration", "Power", "calibrate", "measure_power"]
