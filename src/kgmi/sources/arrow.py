"""Parquet, Feather and Arrow files, and datasets of PyArrow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from typing import Any

from kgmi.cells import cells_of_arrow, check_names
from kgmi.errors import DataError
from kgmi.sources.base import Block, Choice, Fragment, block_rows
from kgmi.sources.found import PROBE, STARTS, Files, Held, fragment_marks, hashed, held_files, read_errors
from kgmi.where import Filter

__all__ = ["ArrowFiles", "check_kind", "declares", "pandas_index", "part_of"]

_STREAM, _STREAM_END = b"\xff" * 4, b"\xff" * 4 + bytes(4)  # how saved Arrow streams begin and end


@dataclass(eq=False)
class ArrowFiles(Files):
    """Files with typed columns, or the files of a dataset; each is a fragment of ``pyarrow.dataset``.

    Attributes
    ----------
    kind
        ``Parquet`` or ``Arrow``; empty where a dataset says how its files are read.
    declaring
        Columns whose type lists their categories in all files that have them.
    """

    kind: str = ""
    parts: tuple[Any, ...] = ()
    declaring: frozenset[str] = frozenset()

    @classmethod
    def of_files(
        cls,
        kind: str,
        paths: tuple[Path, ...],
        constants: tuple[dict[str, Any], ...],
        choice: Choice,
        description: str,
    ) -> ArrowFiles:
        """Open Parquet or Arrow files."""
        import pyarrow as pa

        if not choice.header:
            raise DataError(f"{paths[0]}: its columns have names, so header=False (--no-header) means nothing")
        held = held_files(paths)
        for one in held:
            check_kind(one, kind)
        parts = []
        for one in held:
            with read_errors(one.path):
                parts.append(part_of(one, kind))
        with read_errors(paths[0]):
            schema, index = parts[0].physical_schema, pandas_index(parts[0].physical_schema)
            fields = [one for one in schema if one.name not in index]
            names = {one.name for one in fields}
            fields += [pa.field(n, pa.array([v]).type) for n, v in constants[0].items() if n not in names]
        return cls._opened(kind, tuple(parts), held, constants, pa.schema(fields), choice, description)

    @classmethod
    def of_dataset(cls, source: Any, choice: Choice) -> ArrowFiles:
        """Open a dataset of PyArrow, which may lie anywhere that PyArrow can reach."""
        import pyarrow as pa
        from pyarrow import dataset

        try:
            parts = tuple(source.get_fragments())
        except ValueError:
            raise DataError(
                "this dataset was filtered or projected before; give it as it was opened, with the filter as "
                "where=… and the columns as columns=…"
            ) from None
        held = tuple(_held_elsewhere(part) for part in parts)
        constants = tuple(dict(dataset.get_partition_keys(part.partition_expression)) for part in parts)
        index = pandas_index(source.schema)
        schema = pa.schema([one for one in source.schema if one.name not in index])
        return cls._opened("", parts, held, constants, schema, choice, f"a dataset of {len(parts):,} files")

    @classmethod
    def _opened(
        cls,
        kind: str,
        parts: tuple[Any, ...],
        held: tuple[Held, ...],
        constants: tuple[dict[str, Any], ...],
        schema: Any,
        choice: Choice,
        description: str,
    ) -> ArrowFiles:
        if not schema.names:
            raise DataError(f"{description} has no columns")
        check_names(description, schema.names)
        columns, where = choice.select(schema)
        made = cls("typed", columns, where, (), description, held, constants, kind, parts)
        made._check_types(schema, schema, description, description)
        plain: set[str] = {name for own in constants for name in own}
        for file, part in enumerate(parts):
            label = made._label(file)
            with read_errors(label):
                own = part.physical_schema
                plain |= {one.name for one in own if not declares(one)}
                known = (*schema.names, *pandas_index(own))
                first = made._label(0) if kind else "the dataset"
                made.check_columns(label, file, own.names, first, known if choice.columns is None else None)
                made._check_types(own, schema, label, first)
        made.declaring = frozenset(made.columns) - plain
        made.fragments = tuple(made._cut(choice.fragment_rows))
        made.rereadable = bool(kind) or all(getattr(part, "path", "") for part in parts)
        return made

    def _label(self, file: int) -> str:
        if self.kind:
            return str(self.held[file].path)
        return str(getattr(self.parts[file], "path", "")) or f"part {file} of {self.description}"

    def _check_types(self, own: Any, schema: Any, name: object, first: object) -> None:
        """Refuse columns that hold no states, and those that hold something else in another file."""
        import pyarrow as pa

        for needed in (one for one in self.needed if one in own.names and one in schema.names):
            if needed in self.columns:
                cells_of_arrow(pa.nulls(0, own.field(needed).type), f"{needed}' of '{name}")
            mine, theirs = _family(own.field(needed).type), _family(schema.field(needed).type)
            if mine != theirs and "null" not in (mine, theirs):
                raise DataError(
                    f"{name}: column '{needed}' holds {mine}, in {first} it holds {theirs}; write the files with "
                    "the same types"
                )

    def _cut(self, most: int) -> Iterator[Fragment]:
        """Cut the files in fragments: neighbouring row groups of Parquet up to so many rows, other files whole."""
        text, marks, number = "" if self.filter is None else self.filter.text, fragment_marks(self.held), 0
        for file, part in enumerate(self.parts):
            if not self.can_pass(file):
                continue
            label = self._label(file)
            with read_errors(label):
                pieces = _row_groups(part, most, self.filter) if hasattr(part, "row_groups") else [((), 0, None)]
            for groups, first, n_rows in pieces:
                seen = marks[file], self.own_constants(file), groups, self.columns, text
                mark = hashed(*seen) if marks[file] else ""
                shown = f"{label}, row groups {groups[0]} to {groups[-1]}" if len(pieces) > 1 else label
                if self.filter is not None:
                    first, n_rows = 0, None
                yield Fragment(number, shown, mark, n_rows, file, groups, first)
                number += 1

    def read(self, fragment: Fragment) -> Iterator[Block]:
        """Yield the rows of a fragment."""
        part, held, n_rows = self.parts[fragment.file], self.held[fragment.file], 0
        with read_errors(fragment.label, held):
            for batch in self._batches(part, fragment):
                batch.validate()
                n_rows += batch.num_rows
                yield from self.blocks(batch, fragment.file, self.declaring)
        if held.is_file:
            held.check_unchanged()
        if fragment.n_rows is not None and n_rows != fragment.n_rows:
            raise DataError(
                f"{fragment.label} gave {n_rows:,} rows where {fragment.n_rows:,} were announced; the file is "
                "damaged: write it again"
            )

    def _batches(self, part: Any, fragment: Fragment) -> Iterator[Any]:
        import pyarrow as pa
        from pyarrow import parquet

        own, constants = part.physical_schema, self.constants[fragment.file]
        names = [name for name in self.needed if name not in constants] or own.names[:1]
        size = block_rows(len(names))
        if not fragment.pieces:
            options = {"use_threads": False, "batch_readahead": 1, "fragment_readahead": 1}
            batches = part.to_batches(columns=names, batch_size=size, **options)
            yield from (pa.Table.from_batches([batch]) for batch in batches)
            return
        # A block of rows at a time: PyArrow's datasets would unpack a whole row group. No memory map: a file that
        # is cut off meanwhile would end the process.
        with part.open() as stream:
            reader = parquet.ParquetFile(
                stream,
                metadata=part.metadata,
                read_dictionary=[name for name in names if not declares(own.field(name))],
                buffer_size=1 << 20,
                pre_buffer=False,
                page_checksum_verification=True,
            )
            # One thread: the caller has threads of its own, each with a fragment.
            batches = reader.iter_batches(size, row_groups=list(fragment.pieces), columns=names, use_threads=False)
            yield from (pa.Table.from_batches([batch]) for batch in batches)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"parts": () if self.kind else tuple(_sent(part) for part in self.parts)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        parts = (one[0].make_fragment(*one[1:]) if isinstance(one, tuple) else one for one in self.parts)
        self.parts = tuple(part_of(one, self.kind) for one in self.held) if self.kind else tuple(parts)


def _sent(part: Any) -> Any:
    """Return what a part is made of, with its whole path; pickled itself, it would open its file."""
    path, system = str(getattr(part, "path", "")), getattr(part, "filesystem", None)
    if not path:
        return part
    is_local = system is not None and system.type_name == "local"
    return part.format, str(Path(path).absolute()) if is_local else path, system, part.partition_expression


def part_of(held: Held, kind: str) -> Any:
    """Return a file as a fragment of ``pyarrow.dataset``; small saved streams are read at once."""
    import pyarrow as pa
    from pyarrow import dataset, fs

    form = dataset.ParquetFileFormat() if kind == "Parquet" else dataset.IpcFileFormat()
    if held.content is None:
        return form.make_fragment(str(held.path), fs.LocalFileSystem())
    if kind == "Arrow" and held.content.startswith(_STREAM):
        rows = pa.ipc.open_stream(held.content).read_all().combine_chunks()
        if rows.num_rows == 0:
            raise DataError(f"{held.path} has no rows")
        return next(dataset.InMemoryDataset(rows).get_fragments())
    return form.make_fragment(pa.py_buffer(held.content))


def _row_groups(part: Any, most: int, where: Filter | None) -> list[tuple[tuple[int, ...], int, int]]:
    """Return neighbouring row groups of a Parquet file that may pass, with their first row and number of rows."""
    sizes = [part.metadata.row_group(number).num_rows for number in range(part.metadata.num_row_groups)]
    ends = list(accumulate(sizes, initial=0))
    groups: list[list[int]] = []
    for number in (number for number in _row_groups_kept(part, where) if sizes[number]):
        if groups and groups[-1][-1] == number - 1 and ends[number + 1] - ends[groups[-1][0]] <= most:
            groups[-1].append(number)
        else:
            groups.append([number])
    return [(tuple(group), ends[group[0]], ends[group[-1] + 1] - ends[group[0]]) for group in groups]


def _row_groups_kept(part: Any, where: Filter | None) -> list[int]:
    """Return the row groups in which rows may pass; PyArrow alone keeps all that have missing values."""
    from pyarrow import types

    metadata, schema = part.metadata, part.physical_schema
    every = list(range(metadata.num_row_groups))
    if where is None:
        return every
    if where.expression is not None:
        known = [schema.field(name).type for name in where.columns if name in schema.names]
        if len(known) < len(where.columns) or any(map(types.is_floating, known)):  # bounds do not count NaN
            return every
        return [group.id for group in part.subset(filter=where.expression).row_groups]
    names = [metadata.schema.column(place).path for place in range(metadata.num_columns)]
    places = {name: names.index(name) for name in where.columns if name in names}
    kept = []
    for number in every:
        found = {name: metadata.row_group(number).column(place).statistics for name, place in places.items()}
        bounds = {name: (one.min, one.max) for name, one in found.items() if one is not None and one.has_min_max}
        if where.may_pass(schema, bounds):
            kept.append(number)
    return kept


def check_kind(held: Held, kind: str) -> None:
    """Refuse a file that does not start as its ending says, and a saved stream without its end."""
    with held.open() as stream:
        start = stream.read(8)
    is_stream = kind == "Arrow" and start.startswith(_STREAM)
    if is_stream and held.content is not None:
        if not held.content.endswith(_STREAM_END):
            raise DataError(f"{held.path} has no end: it was cut off, or its writer was not closed; write it again")
    elif is_stream or not start.startswith(b"PAR1" if kind == "Parquet" else b"ARROW1"):
        what = next((what for mark, what in STARTS.items() if start.startswith(mark)), "something else")
        if is_stream:
            what = "a large saved stream: give kgmi.stream the reader that pyarrow.ipc.open_stream returns"
        raise DataError(f"{held.path} is not a file of {kind} but {what}")


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


def _held_elsewhere(part: Any) -> Held:
    """Return the mark of a file that may lie anywhere: its size, its time, and both of its ends."""
    path = str(getattr(part, "path", ""))
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
