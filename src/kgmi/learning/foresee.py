"""``foresee``: what :func:`kgmi.learn` would take, without learning."""

from __future__ import annotations

from typing import Any

from kgmi.errors import SettingError
from kgmi.learning.cost import Forecast, first_room, forecast
from kgmi.learning.inputs import Source
from kgmi.learning.learn import learn
from kgmi.learning.ready import make_ready
from kgmi.memory import read_bytes, within

__all__ = ["foresee"]


def foresee(rows: Source, **options: Any) -> Forecast:
    """Seconds and memory of every phase of :func:`kgmi.learn` with the same rows and options.

    The rows are read and the options checked, as there; nothing is learned. A ``memory_limit`` that is too small is
    not refused: :attr:`Forecast.least_bytes` says what is needed.
    """
    usual = learn.__kwdefaults__ or {}
    if unknown := sorted(options.keys() - usual.keys()):
        raise SettingError(f"learn has no option {unknown[0]!r}")
    given = {**usual, **options, "rows": rows}
    most = read_bytes(given["memory_limit"])
    if given["device"] is not None:
        raise SettingError("what a fit takes on a device is not foreseen; leave out device, or do not ask")
    with within(most, first_room(most)):
        return forecast(make_ready(given, usual), most)
