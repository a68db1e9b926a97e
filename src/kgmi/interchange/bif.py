"""Networks from BIF files, plain or packed with gzip."""

from __future__ import annotations

import gzip
import zlib
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from kgmi.errors import DataError, SettingError
from kgmi.graph import Dag
from kgmi.interchange.bif_text import original_names
from kgmi.interchange.marginals import marginals_of
from kgmi.interchange.network import Network, Node, network_of
from kgmi.interchange.readers import READERS
from kgmi.model import Model
from kgmi.outputs import note_read
from kgmi.types import PathLike

__all__ = ["FromBif", "from_bif", "read_bif"]

_MOST_BYTES = 100_000_000  # unpacked; the largest network of the usual collections has 6,000,000


class FromBif(NamedTuple):
    """A Bayesian network from a file, parents before children.

    Attributes
    ----------
    dag
        Its graph; every root is a block of its own.
    names, states
        Of the nodes, and ``states[node]`` of each.
    model
        The law of every node, which draws new rows (``model.sample``) and says how likely rows are.
    """

    dag: Dag
    names: tuple[str, ...]
    states: tuple[tuple[str, ...], ...]
    model: Model


def from_bif(path: PathLike) -> FromBif:
    """Read a Bayesian network in BIF, also packed as ``.bif.gz``: graph, names, states and the law of rows.

    A maintained library reads it (the extra ``pgm``): pyAgrum, whose numbers have the precision of a 32-bit float,
    or pgmpy for files that it does not know. In a file that kgmi wrote, nodes and states get their names back.

    ``model.marginals`` are exact, except for networks too entangled for it, where they come from 100,000 rows.

    Examples
    --------
    >>> dag, names, states, model = from_bif("alarm.bif.gz")  # doctest: +SKIP
    >>> rows = model.sample(1_000, rng=7)  # doctest: +SKIP
    """
    path = Path(path)
    text = _text(path)
    network = network_of(str(path), _with_names(_nodes(path, text), text))
    model = Model(network.dag.parents, network.tables, marginals_of(network.dag, network.tables))
    return FromBif(network.dag, network.names, network.alphabets, model)


def read_bif(path: PathLike) -> Network:
    """Read a Bayesian network in BIF as it is; its name is that of the file. See :func:`from_bif`."""
    path = Path(path)
    network = network_of(str(path), _nodes(path, _text(path)))
    return replace(network, name=path.name.removesuffix(".gz").removesuffix(".bif"))


def _with_names(nodes: list[Node], text: str) -> list[Node]:
    """The nodes with the names that they had before kgmi wrote them down, where it says so."""
    notes = original_names(text)
    names = {node: name for node, (name, _) in notes.items()}

    def renamed(node: Node) -> Node:
        states = notes.get(node.name, ("", {}))[1]
        return replace(
            node,
            name=names.get(node.name, node.name),
            states=tuple(states.get(state, state) for state in node.states),
            parents=tuple(names.get(parent, parent) for parent in node.parents),
        )

    return [renamed(node) for node in nodes]


def _nodes(path: Path, text: str) -> list[Node]:
    """The nodes of a text, from the first library that can read it."""
    reasons = []
    for read in READERS:
        try:
            return read(text)
        except ImportError:
            continue
        except DataError as error:
            reasons.append(str(error))
    if not reasons:
        raise SettingError(
            "reading BIF files needs pyAgrum or pgmpy, which are not installed; "
            "install the extra pgm: pip install 'kgmi[pgm]'"
        )
    raise DataError(f"{path} cannot be read as BIF: {reasons[0]}")


def _text(path: Path) -> str:
    """The text of the file, never more than the limit of it, however well it is packed."""
    if path.is_dir():
        raise DataError(f"{path} is a folder; give a BIF file in it")
    if not path.is_file():
        raise DataError(f"there is no file {path}")
    note_read(path)
    try:
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as stream:
            content = stream.read(_MOST_BYTES + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{path} cannot be unpacked: {error}") from None
    if len(content) > _MOST_BYTES:
        raise DataError(f"{path} holds more than {_MOST_BYTES:,} bytes of text; no network is that large")
    if not content.strip():
        raise DataError(f"{path} is empty")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{path} cannot be read as BIF: it is not UTF-8 text") from None
