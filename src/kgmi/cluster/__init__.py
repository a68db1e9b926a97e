"""Counting and learning on a Dask cluster (extra ``cluster``): the counts of one process, bit for bit."""

from kgmi.cluster.ascent import ascend_on
from kgmi.cluster.client import check_workers, connect
from kgmi.cluster.runner import DaskRunner, DaskThreads

__all__ = ["DaskRunner", "DaskThreads", "ascend_on", "check_workers", "connect"]
