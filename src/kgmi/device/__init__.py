"""Counting, guides, ascent and search on a device, with PyTorch (extra ``gpu``); the same code runs on ``cpu``."""

from kgmi.device.choices import Task, own_fits
from kgmi.device.columns import Heads
from kgmi.device.information import Guide
from kgmi.device.place import Clock, open_device
from kgmi.device.rows import DeviceRows
from kgmi.device.search import DeviceFound, search_device
from kgmi.device.stationary import Climbing, fit_stationary, train
from kgmi.device.trained import head_scorer, head_table

__all__ = [
    "Climbing",
    "Clock",
    "DeviceFound",
    "DeviceRows",
    "Guide",
    "Heads",
    "Task",
    "fit_stationary",
    "head_scorer",
    "head_table",
    "open_device",
    "own_fits",
    "search_device",
    "train",
]
