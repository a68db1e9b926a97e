"""The attention laboratory: transformers that are trained on sequences of a process (extra ``lab``, PyTorch).

Names are loaded when they are first used, so that the list of experiments is there without PyTorch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgmi.lab.drawing import plot_record
    from kgmi.lab.floors import Floor, bayes
    from kgmi.lab.models import Decoder, DisentangledTransformer, Output, PaperLayer
    from kgmi.lab.objectives import CrossEntropy, Information, Objective, WeightedSum, exact_scores
    from kgmi.lab.tasks import Batch, Task
    from kgmi.lab.training import MODELS, OBJECTIVES, Model, Record, Trained, Training, train

__all__ = [
    "MODELS",
    "OBJECTIVES",
    "Batch",
    "CrossEntropy",
    "Decoder",
    "DisentangledTransformer",
    "Floor",
    "Information",
    "Model",
    "Objective",
    "Output",
    "PaperLayer",
    "Record",
    "Task",
    "Trained",
    "Training",
    "WeightedSum",
    "bayes",
    "exact_scores",
    "plot_record",
    "train",
]

_HOMES = {
    "drawing": "plot_record",
    "floors": "Floor bayes",
    "models": "Decoder DisentangledTransformer Output PaperLayer",
    "objectives": "CrossEntropy Information Objective WeightedSum exact_scores",
    "tasks": "Batch Task",
    "training": "MODELS OBJECTIVES Model Record Trained Training train",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """A public name of the laboratory, loaded on first use."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ImportError("kgmi.lab needs PyTorch, which is not installed: pip install 'kgmi[lab]'") from None
