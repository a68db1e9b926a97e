"""How far to trust a record, and its certificate where somebody looked at it before saving."""

from __future__ import annotations

from typing import Any

from kgmi.certify import Certificate
from kgmi.errors import RecordError
from kgmi.learning import Learned
from kgmi.learning.trust import Trust

__all__ = ["certificate_content", "keep_certificate"]


def certificate_content(learned: Learned) -> dict[str, Any]:
    """The trust in plain values, and the certificate where it was made: that can take long."""
    made = vars(learned).get("certificate")
    return {"trust": learned.trust.to_dict()} | ({} if made is None else {"certificate": made.to_dict()})


def keep_certificate(learned: Learned, record: dict[str, Any]) -> None:
    """Give a loaded result back what cannot be made again without the rows."""
    if "trust" in record:
        trust = Trust.from_dict(record["trust"])
        if {*trust.edges} != {(learned.names[parent], learned.names[child]) for parent, child in learned.dag.edges}:
            raise RecordError("what is said about trust is about other edges than the graph has")
        vars(learned)["trust"] = trust
    if "certificate" not in record:
        return
    certificate = Certificate.from_dict(record["certificate"])
    if [node.name for node in certificate.nodes] != list(learned.names):
        raise RecordError("the certificate is about other nodes than the graph")
    vars(learned)["certificate"] = certificate
