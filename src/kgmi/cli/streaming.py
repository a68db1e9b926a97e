"""Options of commands that read more rows than fit into memory, and how their values are read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from math import isinf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgmi.cli.limits import QUOTES, read_names
from kgmi.cli.output import print_wrapped
from kgmi.errors import SettingError

if TYPE_CHECKING:
    from kgmi.counting.threads import Runner
    from kgmi.streams import Stream

__all__ = [
    "CheckpointOption",
    "ClusterOption",
    "ColumnsOption",
    "SourcesArgument",
    "WhereOption",
    "read_columns",
    "read_sources",
    "read_where",
    "runner_of",
    "tell_stream",
]

SourcesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        help="Files (.parquet, .feather, .arrow, .csv, .tsv, .npy), folders of such files, or patterns like "
        "'data/*.parquet'; all have the same columns."
    ),
]
ColumnsOption = Annotated[str | None, typer.Option(help=f"Read these columns only, in this order: A,B,C. {QUOTES}")]
WhereOption = Annotated[
    list[str] | None,
    typer.Option(
        help="Read only rows where this holds: 'COLUMN OP VALUE' with ==, !=, <, <=, >, >=, in or not in (then "
        "VALUE is a list A,B,C). Texts that read like a number or have signs in them stand in double quotes. May "
        "be given several times: all must hold."
    ),
]
CheckpointOption = Annotated[
    Path | None,
    typer.Option(help="Folder that keeps what is counted; the same command goes on from there after a crash."),
]
ClusterOption = Annotated[
    str | None,
    typer.Option(
        help="Count on a Dask cluster: local:N starts N processes, or the address tcp://HOST:PORT of one."
    ),
]

_CONDITION = re.compile(
    r'\s*(?:"(?P<quoted>(?:[^"]|"")*)"|(?P<plain>[^"<>=!\s].*?))'
    r"\s*(?P<op>==|!=|<=|>=|=|<|>|(?<=[\s\"])(?:not\s+)?in(?=[\s\"'(\[{]))\s*(?P<value>.*)",
    re.DOTALL,
)


_QUOTED = re.compile(r"""\"(?:[^"]|"")*\"|'(?:[^']|'')*'""", re.DOTALL)
_FURTHER = re.compile(r"[<>=]|!=|&|\||[\"']|(?:^|\s)(?:and|or|in|not)(?=\s|$)", re.IGNORECASE)
_BRACKET = re.compile(r"[\[\](){}]")


def read_sources(texts: list[str] | None) -> str | list[str]:
    """One path, folder or pattern as it is; several as a list."""
    if not texts:
        raise SettingError("give at least one file, folder or pattern to count, such as data/*.parquet")
    return texts[0] if len(texts) == 1 else texts


def read_columns(text: str | None) -> list[str] | None:
    """``A,B,C`` as names of columns; None: all of them."""
    return None if text is None else read_names(text, "--columns")


def read_where(texts: list[str] | None) -> list[tuple[str, str, Any]] | None:
    """Conditions ``COLUMN OP VALUE`` as (column, operator, value); None where there are none."""
    return [_condition(text) for text in texts] if texts else None


def tell_stream(stream: Stream) -> None:
    """Print, before it begins, what is streamed."""
    rows = "rows" if stream.n_rows is None else f"{stream.n_rows:,} rows"
    columns = "1 column" if len(stream.names) == 1 else f"{len(stream.names):,} columns"
    passing = f" where {stream.where}" if stream.where else ""
    print_wrapped(f"Streaming {stream.description}: {rows} of {columns}{passing}.")


@contextmanager
def runner_of(cluster: str) -> Iterator[Runner]:
    """Who counts on a cluster; one that was started for this is ended with it."""
    from kgmi.cluster import DaskRunner, connect

    with connect(cluster) as client:
        yield DaskRunner(client)


def _condition(text: str) -> tuple[str, str, Any]:
    found = _CONDITION.fullmatch(text)
    if found is None or not found["value"].strip() or found["value"].startswith(("=", "<", ">", "!")):
        raise SettingError(
            f"--where takes COLUMN OP VALUE, such as 'year >= 2020' or 'state in A,B', got {text!r}; a column "
            "whose name contains such signs stands in double quotes: '\"a < b\" == 1'"
        )
    column = found["plain"] if found["quoted"] is None else found["quoted"].replace('""', '"')
    operator, value = " ".join(found["op"].split()), found["value"].strip()
    if operator in ("in", "not in"):
        listed = value[1:-1] if value[:1] + value[-1:] in ("()", "[]", "{}") else value
        return column, operator, [_value(one, text, in_list=True) for one in _split(listed)]
    return column, "==" if operator == "=" else operator, _value(value, text)


def _split(text: str) -> list[str]:
    """A list with commas; what stands in quotes stays so, and with it a text."""
    parts = re.findall(r"""\s*("(?:[^"]|"")*"|'(?:[^']|'')*'|[^,]*)\s*(?:,|$)""", text)
    listed = [
        part.strip() for part in (parts[:-1] if parts[-1] == "" and not text.rstrip().endswith(",") else parts)
    ]
    if "" in listed or not listed:
        raise SettingError(
            f"--where: the list {text!r} has an empty place; a text with a comma stands in double quotes"
        )
    return listed


def _value(text: str, condition: str, *, in_list: bool = False) -> Any:
    """A number or a truth value where it looks like one and is not quoted; else the text.

    Refused are texts without quotes that look like a further condition, or, in a list, like a list: whoever wrote
    them did not mean a text. Digits behind a zero are a text: they are a code, not a number.
    """
    if _QUOTED.fullmatch(text):
        return text[1:-1].replace(text[0] * 2, text[0])
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if _FURTHER.search(text) or (in_list and _BRACKET.search(text)):
        raise SettingError(
            f"--where {condition!r}: {text!r} reads like more than one value; give each condition with a --where "
            "of its own (all of them must hold), and put a text with such signs or words in double quotes"
        )
    if re.fullmatch(r"[+-]?(0|[1-9][0-9]*)", text):
        return int(text)
    if re.fullmatch(r"[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?", text):
        return _finite(float(text), text)
    return text


def _finite(number: float, text: str) -> float:
    if isinf(number):
        raise SettingError(f"--where: {text} is too large a number")
    return number
