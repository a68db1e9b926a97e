"""Parquet, Feather and Arrow files, and datasets of PyArrow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from kgmi.cells import Cells, cells_of_arrow, check_names
from kgmi.errors import DataError
from kgmi.sources.base import Block, Choice, Fragment, block_rows
from kgmi.sources.found import PROBE, STARTS, Files, Held, absolute, fragment_marks, hashed, read_errors
from kgmi.table import row_place

__all__ = ["ArrowFiles", "check_kind", "declares", "pandas_index"]


@dataclass(eq=False)
class ArrowFiles(Files):
    """Files with typed columns, through ``pyarrow.dataset``."""

    parts: tuple[Any, ...] = ()
    schema: Any = None
    undeclared: frozenset[str] = frozenset()

    @classmethod
    def of_files(
        cls, kind: str, paths: tuple[Path, ...], base: Path, choice: Choice, description: str
    ) -> ArrowFiles:
        """Open Parquet or Arrow files."""
        from pyarrow import dataset

        if not choice.header:
            raise DataError(f"{paths[0]}: its columns have names, so header=False (--no-header) means nothing")
        held = []
        for path in paths:
            with read_errors(path), path.open("rb") as stream:
                start = stream.read(8)
            check_kind(path, start, kind)
            with read_errors(path):
                held.append(Held.of(path))
        layout = dataset.HivePartitioning.discover(infer_dictionary=False)
        with read_errors(description):
            made = dataset.dataset(
                [str(path) for path in paths],
                format="parquet" if kind == "Parquet" else "ipc",
                partitioning=layout,
                partition_base_dir=str(base),
            )
        return cls._opened(made, tuple(held), choice, description)

    @classmethod
    def of_dataset(cls, source: Any, choice: Choice) -> ArrowFiles:
        """Open a dataset of PyArrow, which may lie anywhere that PyArrow can reach."""
        try:
            n_files = sum(1 for _ in source.get_fragments())
        except ValueError:
            raise DataError(
                "this dataset was filtered or projected before; give it as it was opened, with the filter as where=… and "
                "the columns as columns=…"
            ) from None
        return cls._opened(source, None, choice, f"a dataset of {n_files:,} files")

    @classmethod
    def _opened(cls, source: Any, held: tuple[Held, ...] | None, choice: Choice, description: str) -> ArrowFiles:
        import pyarrow as pa

        index = pandas_index(source.schema)
        schema = pa.schema([one for one in source.schema if one.name not in index])
        if not schema.names:
            raise DataError(f"{description} has no columns")
        check_names(description, schema.names)
        columns, where = choice.select(schema)
        for name in columns:
            cells_of_arrow(pa.nulls(0, schema.field(name).type), name, row_place)  # types that hold no states
        with read_errors(description):
            every = tuple(source.get_fragments())
            kept = {
                _path_of(one) for one in source.get_fragments(filter=None if where is None else where.expression)
            }
        if held is None:
            held = tuple(_held_elsewhere(part) for part in every)
        made = cls("typed", columns, where, (), description, held, every, schema)
        for part in every:
            with read_errors(_path_of(part) or description):
                made._check_part(part, _path_of(every[0]), choice)
        plain = (one.name for part in every for one in part.physical_schema if not declares(one))
        made.undeclared = frozenset((*plain, *(n for part in every for n in _constants(part))))
        made.fragments = tuple(made._cut(choice.fragment_rows, kept))
        made.rereadable = all(map(_path_of, every))
        return made

    def _check_part(self, part: Any, first: str, choice: Choice) -> None:
        """Refuse a file that lacks a column, has one more where all are read, or one of another type."""
        path, own, constants = _path_of(part), part.physical_schema, _constants(part)
        lacking = next((name for name in self.needed if name not in own.names and name not in constants), None)
        if lacking is not None:
            raise DataError(
                f"{path} has no column {lacking!r}, which {first} has; write all files with the same columns"
            )
        known = {*self.schema.names, *pandas_index(own)}
        if choice.columns is None and (further := [name for name in own.names if name not in known]):
            raise DataError(
                f"{path} has a column {further[0]!r} that {first} does not have; say with columns=… (--columns) which "
                "are meant"
            )
        for name in self.needed:
            if name in own.names and name not in constants:
                mine, theirs = _family(own.field(name).type), _family(self.schema.field(name).type)
                if mine != theirs and "null" not in (mine, theirs):
                    raise DataError(
                        f"{path}: column '{name}' holds {mine}, in {first} it holds {theirs}; write the files "
                        "with the same types"
                    )

    def _cut(self, most: int, kept: set[str]) -> Iterator[Fragment]:
        """Cut the files in fragments: neighbouring row groups of Parquet up to so many rows, other files whole."""
        text = "" if self.filter is None else self.filter.text
        marks, number = fragment_marks(self.held), 0
        for file, part in enumerate(self.parts):
            label = _path_of(part) or f"part {file} of {self.description}"
            if _path_of(part) not in kept:
                continue
            constants = tuple(sorted((name, one) for name, one in _constants(part).items() if name in self.needed))
            for pieces, n_rows in self._pieces(part, most, label):
                mark = hashed(marks[file], constants, pieces, self.columns, text) if self.held[file].mark else ""
                shown = (
                    label
                    if len(pieces) < 2 or not hasattr(part, "row_groups")
                    else f"{label} (row groups {pieces})"
                )
                yield Fragment(number, shown, mark, n_rows if self.filter is None else None, file, pieces)
                number += 1

    def _pieces(self, part: Any, most: int, label: str) -> list[tuple[tuple[int, ...], int | None]]:
        if not hasattr(part, "row_groups"):
            return [((), None)]
        with read_errors(label):
            sizes = [part.metadata.row_group(n).num_rows for n in range(part.metadata.num_row_groups)]
            kept = list(range(len(sizes)))
            if self.filter is not None:
                fewer = part.subset(filter=self.filter.expression, schema=self.schema)
                kept = [group.id for group in fewer.row_groups]
        ends = list(accumulate(sizes, initial=0))
        groups: list[list[int]] = []
        for number in (number for number in kept if sizes[number]):
            if groups and groups[-1][-1] == number - 1 and ends[number + 1] - ends[groups[-1][0]] <= most:
                groups[-1].append(number)
            else:
                groups.append([number])
        return [(tuple(group), ends[group[-1] + 1] - ends[group[0]]) for group in groups]

    def read(self, fragment: Fragment) -> Iterator[Block]:
        """Yield the rows of a fragment."""
        part, held = self.parts[fragment.file], self.held[fragment.file]
        constants, n_rows = _constants(part), 0
        with read_errors(fragment.label, held if held.path.name else None):
            for batch in self._batches(part, fragment, [name for name in self.needed if name not in constants]):
                batch.validate()
                n_rows += batch.num_rows
                yield from self._blocks(batch, constants, fragment.label)
        if held.path.name:
            held.check_unchanged()
        if fragment.n_rows is not None and n_rows != fragment.n_rows:
            raise DataError(
                f"{fragment.label} gave {n_rows:,} rows where {fragment.n_rows:,} were announced; the file is damaged: "
                "write it again"
            )

    def _batches(self, part: Any, fragment: Fragment, names: list[str]) -> Iterator[Any]:
        from pyarrow import parquet

        size = block_rows(len(self.needed))
        if not fragment.pieces:
            stored = names or [part.physical_schema.names[0]]
            yield from part.to_batches(
                columns=stored, batch_size=size, use_threads=False, batch_readahead=1, fragment_readahead=1
            )
            return
        # A block of rows at a time: PyArrow's datasets would unpack a whole row group. No memory map: a file that is
        # cut off meanwhile would end the process.
        with part.open() as stream:
            reader = parquet.ParquetFile(
                stream,
                read_dictionary=[name for name in names if not declares(part.physical_schema.field(name))],
                buffer_size=1 << 20,
                pre_buffer=False,
                page_checksum_verification=True,
            )
            # One thread: the caller has threads of its own, each with a fragment.
            yield from reader.iter_batches(size, row_groups=list(fragment.pieces), columns=names, use_threads=False)

    def _blocks(self, batch: Any, constants: dict[str, Any], label: str) -> Iterator[Block]:
        import pyarrow as pa

        table = pa.Table.from_batches([batch])
        if self.filter is not None:
            for name in (name for name in self.filter.columns if name in constants):
                kind = self.schema.field(name).type
                table = table.append_column(name, pa.repeat(pa.scalar(constants[name], kind), batch.num_rows))
            casts = [pa.field(n, self.schema.field(n).type) for n in table.column_names if n in self.schema.names]
            plain = table.cast(pa.schema(casts)) if self.filter.columns else table
            table = self.filter.passing(plain)
        for start in range(0, table.num_rows, most := block_rows(len(self.columns))):
            part = table.slice(start, most).combine_chunks()
            yield [self._cells(part, name, constants, label) for name in self.columns], part.num_rows

    def _cells(self, table: Any, name: str, constants: dict[str, Any], label: str) -> Cells:
        if name in constants:
            return Cells(np.zeros(table.num_rows, dtype=np.int8), [constants[name]])
        column = table.column(name)
        array = column.chunk(0) if column.num_chunks else column.combine_chunks()
        return cells_of_arrow(array, name, row_place, declares=name not in self.undeclared)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"held": tuple(absolute(one) for one in self.held)}


def check_kind(path: Path, start: bytes, kind: str) -> None:
    """Refuse a file that does not start as its ending says."""
    if start[:4] == b"FEA1":
        raise DataError(f"{path} is {STARTS[b'FEA1']}")
    fits = start[:4] == b"PAR1" if kind == "Parquet" else start[:6] == b"ARROW1"
    if not fits:
        stream = " (a saved Arrow stream is read with pyarrow.ipc.open_stream)" if start[:4] == b"\xff" * 4 else ""
        raise DataError(f"{path} does not start like a {kind} file{stream}; if it is text, name it .csv or .tsv")


def pandas_index(schema: Any) -> set[str]:
    """Return the columns that pandas wrote for the index of a frame."""
    import json

    try:
        index = json.loads((schema.metadata or {}).get(b"pandas", b"{}")).get("index_columns", [])
        return {name for name in index if isinstance(name, str)}
    except (ValueError, AttributeError, TypeError):
        return set()


def declares(one: Any) -> bool:
    """Return whether the type of a column lists its categories; those of polars are shared by all columns."""
    from pyarrow import types

    return bool(types.is_dictionary(one.type)) and not any(
        key.startswith(b"_PL_CATEGORICAL") for key in one.metadata or {}
    )


def _family(kind: Any) -> str:
    """Return what values of a type are; files may differ in how wide their numbers are."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return _family(kind.value_type)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "numbers"
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "texts"
    return "truth values" if types.is_boolean(kind) else str(kind)


def _path_of(part: Any) -> str:
    return str(getattr(part, "path", ""))


def _constants(part: Any) -> dict[str, Any]:
    """Return columns that are the same in all rows of a file, by the names of its folders."""
    from pyarrow import dataset

    return dict(dataset.get_partition_keys(part.partition_expression))


def _held_elsewhere(part: Any) -> Held:
    """Return the mark of a file that may lie anywhere: its size, its time, and both of its ends."""
    path = _path_of(part)
    if not path:
        return Held(Path(), 0, 0, "")
    with read_errors(path):
        info = part.filesystem.get_file_info(path)
        with part.filesystem.open_input_file(path) as stream:
            size = stream.size()
            first = stream.read(PROBE)
            stream.seek(max(0, size - PROBE))
            seen = sha256(first + stream.read(PROBE)).hexdigest()
    is_local = Path(path).is_file() and Path(path).stat().st_size == size
    return Held(Path(path) if is_local else Path(), size, info.mtime_ns or 0, f"{size}-{seen}")
