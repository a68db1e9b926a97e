"""What the addresses of the server take and give, checked and described for OpenAPI."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

__all__ = [
    "Column",
    "Comparison",
    "Described",
    "ExampleOffer",
    "Failure",
    "Fit",
    "Guide",
    "Job",
    "Jobs",
    "Limits",
    "Offer",
    "Removed",
    "Result",
    "Standing",
    "Tab",
]

Guide = Literal["likelihood", "contextual", "stationary", "uniform", "plain"]
Edge = Annotated[list[str], Field(min_length=2, max_length=2)]
Tab = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]

_FORM = ConfigDict(extra="forbid", str_max_length=5_000)


class Failure(BaseModel):
    """What went wrong, and what to do about it."""

    error: str = Field(description="What is wrong, in a sentence.")
    advice: str = Field("", description="What to do about it; may be empty.")


class Fit(BaseModel):
    """What to learn from, and how; only the table must be said."""

    model_config = _FORM | ConfigDict(
        json_schema_extra={"examples": [{"table": "paper", "parents": 2, "guide": "likelihood", "order": "given"}]}
    )

    table: str = Field(description="Id of an uploaded table, or the key of an example.", max_length=64)
    tab: str = Field(
        "", pattern=r"^[A-Za-z0-9_-]{0,64}$", description="Any word; GET /api/jobs?tab=… lists its jobs."
    )
    parents: int = Field(2, ge=1, le=6, description="The most parents of a node, K.")
    guide: Guide = Field("likelihood", description="What steers the heads; stationary is the paper's KG-MI.")
    divergence: str | None = Field(
        None,
        max_length=40,
        description="Of the guides stationary, uniform and plain: kl, pearson, hellinger-matched …",
    )
    order: Literal["given", "learn"] = Field("given", description="given: parents stand before their children.")
    prepare: bool = Field(True, description="Whether the table is made fit for learning first.")
    missing: Literal["error", "category", "pairwise"] | None = Field(
        None, description="What a missing value is; by default as the preparation says, else an error."
    )
    alphabet: Literal["auto", "shared", "own"] = Field(
        "auto", description="Whether all columns have the same states, each has its own, or the values decide."
    )
    kernel: Literal["example", "paper", "mendelian"] | None = Field(
        None, description="A known kernel, which stationary and uniform need; by default that of the example."
    )
    windows: int | None = Field(
        None, ge=2, le=60, description="The table is one long sequence: which lags below this matter."
    )
    leave_out: list[str] = Field(default_factory=list, max_length=1_000, description="Columns to leave out.")
    in_degree: Literal["uniform", "mixed"] | None = Field(
        None, description="uniform: 0 or K parents; mixed: 0 to K."
    )
    penalty: Literal["nml", "bic", "aic", "none"] = Field("nml", description="Price of parameters.")
    share: Literal["auto", "shared", "classes", "node"] = Field("auto", description="Who shares learned kernels.")
    epochs: int = Field(50_000, ge=1, le=1_000_000, description="Most epochs of the ascent.")


class Standing(BaseModel):
    """How far a running job has come."""

    phase: str = Field(description="starting, reading, counting, search, ascent, report or writing.")
    done: int = Field(description="How many are done in this phase.")
    total: int | None = Field(description="Of how many; null where nobody knows beforehand.")
    unit: str = Field(description="What is counted: rows, nodes, epochs …")
    rate: float | None = Field(description="How many are done in a second.")
    remaining: float | None = Field(description="Seconds that this phase will still take, as far as one can tell.")


class Job(BaseModel):
    """A job and where it stands."""

    id: str
    name: str = Field(description="Of the table, as the user named it.")
    state: Literal["waiting", "running", "done", "failed", "cancelled"]
    place: int = Field(description="Jobs before it in the queue, while it waits.")
    fit: Fit
    standing: Standing | None = Field(description="How far it is, while it runs.")
    seconds: float = Field(description="How long it has run, or ran.")
    most_seconds: float = Field(description="When it will be stopped.")
    failure: Failure | None = None
    number: int = Field(description="Grows with every change; the id of its events.")


class Jobs(BaseModel):
    """The jobs of a tab, the newest first."""

    jobs: list[Job]


class Column(BaseModel):
    """A column as it will be learned from."""

    name: str
    n_states: int
    states: list[str] = Field(description="The first of them.")
    n_missing: int


class Offer(BaseModel):
    """What becomes of a table, as it is or prepared: its columns, or why it cannot be learned from."""

    n_rows: int = 0
    columns: list[Column] = Field(default_factory=list)
    shared: bool = Field(True, description="Whether all columns have the same states.")
    notes: list[str] = Field(default_factory=list, description="What the preparation does, a sentence for each.")
    failure: Failure | None = None


class Described(BaseModel):
    """A table: how it begins, and what can be learned from."""

    id: str
    name: str
    n_bytes: int
    names: list[str] = Field(description="The first columns of the file.")
    n_columns: int = Field(description="How many there are.")
    n_rows: int | None = Field(description="Rows of the file, where they could be counted.")
    rows: list[list[str]] = Field(description="The first rows, as text.")
    as_it_is: Offer
    prepared: Offer
    suggested: dict[str, Any] = Field(description="Settings that suit it, as in a job.")
    kernel: bool = Field(description="Whether the kernel behind it is known (examples).")


class ExampleOffer(BaseModel):
    """An example to begin with."""

    key: str
    title: str
    story: str
    guides: list[Guide] = Field(description="Guides that are worth comparing on it.")
    suggested: dict[str, Any] = Field(description="Settings that suit it, as in a job.")


class Result(BaseModel):
    """What a job found."""

    view: dict[str, Any] = Field(description="All that the page and the report show (kgmi.report.view_of).")
    edges: list[Edge] = Field(description="(parent, child) by name.")
    heads: str = Field(description="Whether the heads went to different candidates, in a sentence; may be empty.")
    collapsed: bool = Field(description="Whether all heads have the same attention.")
    truth: str = Field(description="How the graph compares with the true one, where it is known; else empty.")
    notes: list[str] = Field(description="What the preparation did.")
    exports: dict[str, str] = Field(description="Formats of the graph; with a reason where it cannot be had.")


class Comparison(BaseModel):
    """How the graphs of several jobs differ."""

    sentences: list[str] = Field(description="In words.")
    both: list[Edge] = Field(description="Edges that all of them have.")
    only: dict[str, list[Edge]] = Field(description="By job: edges that not all of them have.")
    turned: list[Edge] = Field(description="Edges that point the other way in another job.")


class Removed(BaseModel):
    """Something is gone."""

    removed: str = Field(description="Its id.")


class Limits(BaseModel):
    """What may be sent and what a job may take."""

    version: str = Field(description="Of kgmi.")
    upload_bytes: int = Field(description="The largest file, in bytes.")
    upload: str = Field(description="The same for people.")
    memory: str = Field(description="The most memory of a job, for people.")
    seconds: float = Field(description="The longest time of a job, in seconds.")
    time: str = Field(description="The same for people.")
    most_cells: int = Field(description="Rows times columns of a table.")
    most_columns: int
