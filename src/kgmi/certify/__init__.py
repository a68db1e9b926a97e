"""Certificates: how sure it is that the parents found are the right ones, at any number of rows."""

from kgmi.certify.bootstrap import bootstrap_edges
from kgmi.certify.certificate import Certificate, EdgeCertificate, NodeCertificate
from kgmi.certify.concentration import PaperCondition, paper_condition
from kgmi.certify.run import Stream, certify_counts, certify_rows, check_alpha, check_patience

__all__ = [
    "Certificate",
    "EdgeCertificate",
    "NodeCertificate",
    "PaperCondition",
    "Stream",
    "bootstrap_edges",
    "certify_counts",
    "certify_rows",
    "check_alpha",
    "check_patience",
    "paper_condition",
]
