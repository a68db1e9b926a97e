"""Counting on a Dask cluster (extra ``cluster``): the counts of one process, bit for bit."""

from kgmi.cluster.client import check_workers, connect
from kgmi.cluster.runner import DaskRunner, DaskThreads

__all__ = ["DaskRunner", "DaskThreads", "check_workers", "connect"]
