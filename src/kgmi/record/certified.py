"""The certificate of a record: there only where somebody looked at it before saving, as it takes time to make."""

from __future__ import annotations

from typing import Any

from kgmi.certify import Certificate
from kgmi.errors import RecordError
from kgmi.learning import Learned

__all__ = ["certificate_content", "keep_certificate"]


def certificate_content(learned: Learned) -> dict[str, Any]:
    """The certificate in plain values; nothing where it was never made."""
    made = vars(learned).get("certificate")
    return {} if made is None else {"certificate": made.to_dict()}


def keep_certificate(learned: Learned, record: dict[str, Any]) -> None:
    """Give a loaded result its certificate back, so that it need not be made from rows that are not there."""
    if "certificate" not in record:
        return
    certificate = Certificate.from_dict(record["certificate"])
    if [node.name for node in certificate.nodes] != list(learned.names):
        raise RecordError("the certificate is about other nodes than the graph")
    vars(learned)["certificate"] = certificate
