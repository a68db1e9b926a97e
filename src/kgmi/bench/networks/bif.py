"""Networks from BIF files, plain or packed with gzip."""

from __future__ import annotations

import gzip
import zlib
from dataclasses import replace
from pathlib import Path

from kgmi.bench.networks.network import Network, network_of
from kgmi.bench.networks.readers import READERS
from kgmi.errors import DataError, SettingError
from kgmi.types import PathLike

__all__ = ["read_bif"]

_MOST_BYTES = 100_000_000  # unpacked; the largest network of the usual collections has 6,000,000


def read_bif(path: PathLike) -> Network:
    """Read a Bayesian network in BIF; its name is that of the file.

    The libraries of the extra ``bench`` do the reading: pyAgrum, and where its grammar does not know the text
    (states like ``<5`` or ``Asy/Patchy``), pgmpy. What they read goes through the checks of
    :func:`~kgmi.bench.networks.network.network_of`.
    """
    path = Path(path)
    text = _text(path)
    reasons = []
    for read in READERS:
        try:
            nodes = read(text)
        except ImportError:
            continue
        except DataError as error:
            reasons.append(str(error))
        else:
            return replace(network_of(str(path), nodes), name=path.name.removesuffix(".gz").removesuffix(".bif"))
    if not reasons:
        raise SettingError(
            "reading BIF files needs pyAgrum or pgmpy, which are not installed; "
            "install the extra bench: pip install 'kgmi[bench]'"
        )
    raise DataError(f"{path} cannot be read as BIF: {reasons[0]}")


def _text(path: Path) -> str:
    """The text of the file, never more than the limit of it, however well it is packed."""
    if path.is_dir():
        raise DataError(f"{path} is a folder; give a BIF file in it")
    if not path.is_file():
        raise DataError(f"there is no file {path}")
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
