"""Results in the formats of other tools, and networks from theirs."""

from kgmi.interchange.bif import FromBif, from_bif, read_bif
from kgmi.interchange.formats import EXPORT_SUFFIXES, EXPORTS, export, export_notes
from kgmi.interchange.graphs import to_networkx
from kgmi.interchange.network import Network, Node, network_of
from kgmi.interchange.pgm import to_pgmpy

__all__ = [
    "EXPORTS",
    "EXPORT_SUFFIXES",
    "FromBif",
    "Network",
    "Node",
    "export",
    "export_notes",
    "from_bif",
    "network_of",
    "read_bif",
    "to_networkx",
    "to_pgmpy",
]
