"""Libraries that read BIF, each as a function from the text to nodes; none of them is loaded before it is used.

Of the 24 networks that come with pgmpy 1.1.2, pyAgrum 3.3.1 reads all but CHILD, in at most 0.5 s, and says in
which line an error is. Its numbers have the precision of a 32-bit float, so that tables are normalised afterwards.
pgmpy reads all of them, in 0.6 to 9.5 s, and passes over what it does not understand.
"""

from __future__ import annotations

import re
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from kgmi.errors import DataError
from kgmi.interchange.network import Node

__all__ = ["READERS", "with_pgmpy", "with_pyagrum"]

_LONG_WORD = re.compile(r"[^\s,;(){}\[\]|]{1001}")
_PLACE = re.compile(r":(\d+): *\d+ : error : (.*)\n(.*)")  # file:line: column : error : what, then the line itself


def with_pyagrum(text: str) -> list[Node]:
    """Nodes in the order of the file, as pyAgrum reads them; it reads only files."""
    with warnings.catch_warnings():  # as an error, the warning of its SWIG types would crash the process
        warnings.simplefilter("ignore", DeprecationWarning)
        import pyagrum

    if _LONG_WORD.search(text):  # its parser ends the whole process at words that do not fit its buffer
        raise DataError("it has a word of more than 1,000 characters")
    with tempfile.TemporaryDirectory(prefix="kgmi-bif-") as folder:
        path = Path(folder) / "network.bif"
        path.write_text(text, encoding="utf-8")
        try:
            network = pyagrum.loadBN(str(path))
        except pyagrum.GumException as error:
            raise DataError(_reason(str(error))) from None
    nodes = []
    for number in sorted(network.nodes()):
        variable, table = network.variable(number), network.cpt(number)
        last = len(table.names) - 1
        # The names are the node and its parents; the axes of the array are in the opposite order.
        array = np.asarray(table.toarray(), dtype=float).transpose([*range(last - 1, -1, -1), last])
        nodes.append(Node(variable.name(), tuple(variable.labels()), tuple(table.names[1:]), array))
    return nodes


def with_pgmpy(text: str) -> list[Node]:
    """Nodes in the order of the file, as pgmpy reads them."""
    from pgmpy.readwrite import BIFReader

    # It passes over a block whose last line does not end right behind the bracket.
    lines = "".join(f"{line.rstrip()}\n" for line in text.splitlines())
    try:
        found = BIFReader(string=lines)
    except (ValueError, KeyError, IndexError, AttributeError, TypeError) as error:
        raise DataError(f"pgmpy gave up with {type(error).__name__}: {error}") from None
    names = found.variable_names
    if not names:
        raise DataError("there is no variable in it")
    if len({name.lower() for name in names}) < len(set(names)):
        raise DataError("it has variables whose names differ in upper and lower case only")  # pgmpy mixes them up
    nodes = []
    for name in names:
        if name not in found.variable_cpds:
            raise DataError(f"variable {name!r} has no table of probabilities")
        states, parents = found.variable_states, found.variable_parents[name]
        if missing := [parent for parent in parents if parent not in states]:
            raise DataError(f"variable {name!r} has the parent {missing[0]!r}, which is not declared")
        shape = (*(len(states[parent]) for parent in parents), len(states[name]))
        values = found.variable_cpds[name]  # [state, one column for each choice of the parents' states]
        if values.size != np.prod(shape):
            raise DataError(f"variable {name!r} has {values.size} probabilities, it needs {np.prod(shape)}")
        nodes.append(Node(name, tuple(states[name]), tuple(parents), np.asarray(values.T.reshape(shape))))
    return nodes


READERS: tuple[Callable[[str], list[Node]], ...] = (with_pyagrum, with_pgmpy)


def _reason(message: str) -> str:
    """The first error of pyAgrum's list, with its line."""
    place = _PLACE.search(message)
    if place is None:
        return (message.strip().splitlines() or ["no reason given"])[-1]
    line, what, content = place.groups()
    shown = content.strip()[:80]
    return f"line {line}: {what.strip()}" + (f" («{shown}»)" if shown else "")
