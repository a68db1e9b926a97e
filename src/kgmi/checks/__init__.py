"""Checks of the model: whether one kernel, K parents and independent rows are enough to describe the data."""

from kgmi.checks.check import LEVEL, QUESTIONS, Check, Finding, checks_from, checks_to_dicts
from kgmi.checks.model import check_model
from kgmi.checks.subject import Group, Subject

__all__ = [
    "LEVEL",
    "QUESTIONS",
    "Check",
    "Finding",
    "Group",
    "Subject",
    "check_model",
    "checks_from",
    "checks_to_dicts",
]
