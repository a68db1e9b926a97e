"""The experiments of the laboratory, each with the claim of its source and a verdict (``kgmi reproduce lab``)."""

from kgmi.lab.experiments import ascent, full, heads, minibatch, rates, single, two, unseen
from kgmi.paper.experiment import Experiment

__all__ = ["LAB"]

_MODULES = (ascent, full, minibatch, single, two, heads, unseen, rates)
LAB: dict[str, Experiment] = {module.EXPERIMENT.name: module.EXPERIMENT for module in _MODULES}
"""All experiments by name, in the order of the report."""
