"""What is counted, in plain values: parts that were made for something else must not be added."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from kgmi.counting.differing import told_difference
from kgmi.errors import DataError
from kgmi.files import atomic_write
from kgmi.statistics.sets import Sets
from kgmi.streams import Stream

__all__ = ["ADVICE", "agree_on", "identity_of"]

ADVICE = "delete the folder to begin again, or choose another one"
"""What to do about a checkpoint that cannot be used."""

_FORMAT = {"format": "kgmi-checkpoint", "version": 1}
_MOST_BYTES = 100_000_000


def identity_of(stream: Stream, width: int, sets: Sets | None = None) -> dict[str, Any]:
    """What a count of a stream is; its fragments are told apart by their marks."""
    declaring = getattr(stream.source, "declaring", ())
    declared = [name for name, own in zip(stream.names, stream.source.columns, strict=True) if own in declaring]
    return {
        "columns": list(stream.names),
        "form": stream.form,  # a first line of text is one of names or of values
        "rules": {key: list(one) if isinstance(one, tuple) else one for key, one in asdict(stream.rules).items()},
        "categories": declared,  # a further file may end that for those before it
        "where": str(stream.where or ""),
        "width": width,
        "sets": None if sets is None else sha256(np.ascontiguousarray(sets, dtype="<i4").tobytes()).hexdigest(),
    }


def agree_on(path: Path, identity: dict[str, Any]) -> str:
    """Write an identity, or see that the one that is there is the same; its fingerprint."""
    identity = json.loads(json.dumps(identity))  # as it is when it was read again
    if path.exists():
        _check_same(path, identity)
    else:
        with atomic_write(path, "internal") as stream:
            stream.write(json.dumps(_FORMAT | {"identity": identity}, indent=1, sort_keys=True).encode())
    return sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()


def _check_same(path: Path, identity: dict[str, Any]) -> None:
    stored: Any = None
    if path.stat().st_size <= _MOST_BYTES:
        with suppress(ValueError, RecursionError):
            stored = json.loads(path.read_bytes())
    if not isinstance(stored, dict) or not isinstance(stored.get("identity"), dict):
        raise DataError(f"{path} is damaged, so nobody knows what was counted there; {ADVICE}")
    for key, here in _FORMAT.items():
        if stored.get(key) != here:
            raise DataError(f"{path} has {key} {stored.get(key)!r}, this kgmi writes {here!r}; {ADVICE}")
    there = stored["identity"]
    if any(identity.get(key) != there.get(key) for key in {*identity, *there}):
        difference = told_difference(there, identity)
        raise DataError(f"the checkpoint {path.parent} is of another count: {difference}; {ADVICE}")
