"""What Dask computes, by the client that is open or in this process."""

from __future__ import annotations

from typing import Any

from kgmi.cluster.client import current_client
from kgmi.cluster.failing import connected, uncomputed
from kgmi.cluster.waiting import aside, fetched
from kgmi.errors import KgmiError
from kgmi.streams.batches import batch_of

__all__ = ["computed", "local_scheduler", "rows_between"]


def rows_between(table: Any, first: int, end: int | None) -> Any:
    """Some rows of a table of any kind, as such a table."""
    batch = batch_of(table)
    part = batch.part(min(first, batch.n_rows), batch.n_rows if end is None else min(end, batch.n_rows))
    return part.rows.to_native() if part.kind == "data frame" else part.rows


def computed(task: Any, label: str) -> Any:
    """What a task gives, by the client that is open, or by Dask in this process; ``label`` says of which rows."""
    client = current_client()
    if client is not None:
        with aside(), connected(client):
            return fetched(client, [client.compute(task)], label=label)[0]
    try:
        return task.compute(scheduler=local_scheduler())
    except Exception as error:  # noqa: BLE001 - it is code of the user that is computed
        raise uncomputed(error, label) from (None if isinstance(error, KgmiError) else error)


def local_scheduler() -> str:
    """Which scheduler of Dask works in this process: threads, unless the user wants none."""
    import dask

    alone = dask.config.get("scheduler", None) in ("sync", "synchronous", "single-threaded")
    return "synchronous" if alone else "threads"
