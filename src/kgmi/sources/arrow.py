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
from kgmi.sources.found import PROBE, STARTS, Files, Held, Piece, held_files, read_errors
from kgmi.where import Filter

__all__ = ["ArrowFiles", "check_kind", "declares", "open_arrow_files", "open_dataset", "pandas_index", "part_of"]

_STREAM, _STREAM_END = b"\xff" * 4, b"\xff" * 4 + bytes(4)  # how saved Arrow streams begin and end


@dataclass(eq=False)
class ArrowFiles(Files):
    """Files with typed columns, or the files of a dataset.

    Attributes
    ----------
    kind
        ``Parquet`` or ``Arrow``; empty where a dataset says how its files are read.
    parts
        The files as fragments of ``pyarrow.dataset``.
    declaring
        Columns whose type lists their categories in all files that have them.
    """

    kind: str
    parts: tuple[Any, ...]
    declaring: frozenset[str] = frozenset()

    def label(self, file: int) -> str:
        """Return what messages call a file."""
        path = self.held[file].path if self.kind else getattr(self.parts[file], "path", "")
        return str(path) or f"part {file} of {self.description}"

    def opened(self, schema: Any, choice: Choice) -> ArrowFiles:
        """Look at the columns of all files, and cut them in fragments."""
        if not schema.names:
            raise DataError(f"{self.description} has no columns")
        check_names(self.description, schema.names)
        self.columns, self.filter = choice.select(schema)
        first = self.label(0) if self.kind else "the dataset"
        self._check_types(schema, schema, self.description, first)
        plain: set[str] = {name for own in self.constants for name in own}
        for file, part in enumerate(self.parts):
            label = self.label(file)
            with read_errors(label):
                own = part.physical_schema
                plain |= {one.name for one in own if not declares(one)}
                known = {*schema.names, *pandas_index(own)} if choice.columns is None else None
                self.check_columns(label, own.names, first, known, self.constants[file])
                self._check_types(own, schema, label, first)
        self.declaring = frozenset(self.columns) - plain
        pieces: list[list[Piece]] = []
        for file, part in enumerate(self.parts):
            with read_errors(self.label(file)):
                is_read = self.can_pass(file)
                if is_read and hasattr(part, "row_groups"):
                    pieces.append(_row_groups(part, choice.fragment_rows, self.filter))
                else:
                    pieces.append([((), None, 0)] if is_read else [])
        self.cut_files(pieces, "row groups")
        return self

    def _check_types(self, own: Any, schema: Any, name: str, first: str) -> None:
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

    def read(self, fragment: Fragment) -> Iterator[Block]:
        """Yield the rows of a fragment."""
        file, n_rows = fragment.file, 0
        with read_errors(fragment.label, self.held[file]):
            for batch in self._batches(self.parts[file], fragment):
                batch.validate()
                n_rows += batch.num_rows
                yield from self.file_blocks(batch, file, self.declaring)
        if self.held[file].is_file:
            self.held[file].check_unchanged()
        if fragment.n_rows is not None and n_rows != fragment.n_rows:
            raise DataError(
                f"{fragment.label} has {n_rows:,} rows where {fragment.n_rows:,} were announced; the file is "
                "damaged: write it again"
            )

    def _batches(self, part: Any, fragment: Fragment) -> Iterator[Any]:
        from pyarrow import parquet

        own, constants = part.physical_schema, self.constants[fragment.file]
        names = [name for name in self.needed if name not in constants] or own.names[:1]
        size = block_rows(len(names))
        if not fragment.pieces:
            options = {"use_threads": False, "batch_readahead": 1, "fragment_readahead": 1}
            yield from part.to_batches(columns=names, batch_size=size, **options)
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
            yield from reader.iter_batches(size, row_groups=list(fragment.pieces), columns=names, use_threads=False)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"parts": () if self.kind else tuple(_sent(part) for part in self.parts)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        parts = (one[0].make_fragment(*one[1:]) if isinstance(one, tuple) else one for one in self.parts)
        self.parts = tuple(part_of(one, self.kind) for one in self.held) if self.kind else tuple(parts)


def open_arrow_files(
    kind: str, paths: tuple[Path, ...], constants: tuple[dict[str, Any], ...], choice: Choice, description: str
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
        fields = _without_index(parts[0].physical_schema)
    names = {one.name for one in fields}
    fields += [pa.field(n, pa.array([v]).type) for n, v in constants[0].items() if n not in names]
    made = ArrowFiles("typed", (), None, description, held, constants, kind, tuple(parts))
    return made.opened(pa.schema(fields), choice)


def open_dataset(source: Any, choice: Choice) -> ArrowFiles:
    """Open a dataset of PyArrow, which may lie anywhere that PyArrow can reach."""
    import pyarrow as pa
    from pyarrow import dataset

    try:
        parts = tuple(source.get_fragments())
    except ValueError:
        raise DataError(
            "this dataset was filtered or projected before; give it as it was opened, with the filter as where=… "
            "and the columns as columns=…"
        ) from None
    held = tuple(_held_elsewhere(part) for part in parts)
    constants = tuple(dict(dataset.get_partition_keys(part.partition_expression)) for part in parts)
    description, in_files = f"a dataset of {len(parts):,} files", all(getattr(part, "path", "") for part in parts)
    made = ArrowFiles("typed", (), None, description, held, constants, "", parts, rereadable=in_files)
    return made.opened(pa.schema(_without_index(source.schema)), choice)


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


def _row_groups(part: Any, most: int, where: Filter | None) -> list[Piece]:
    """Return neighbouring row groups of a Parquet file that may pass, with their number of rows and first row."""
    from pyarrow import types

    schema, kept = part.physical_schema, list(range(part.metadata.num_row_groups))
    asked = None if where is None else where.on(schema)
    if where is not None and asked is not None:
        known = [schema.field(name).type for name in where.columns if name in schema.names]
        # The bounds of a row group do not count NaN, which may pass an expression.
        if where.expression is None or not any(map(types.is_floating, known)):
            kept = [group.id for group in part.subset(filter=asked).row_groups]
    sizes = [part.metadata.row_group(number).num_rows for number in range(part.metadata.num_row_groups)]
    ends = list(accumulate(sizes, initial=0))
    groups: list[list[int]] = []
    for number in (number for number in kept if sizes[number]):
        if groups and groups[-1][-1] == number - 1 and ends[number + 1] - ends[groups[-1][0]] <= most:
            groups[-1].append(number)
        else:
            groups.append([number])
    return [(tuple(group), ends[group[-1] + 1] - ends[group[0]], ends[group[0]]) for group in groups]


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


def _without_index(schema: Any) -> list[Any]:
    index = pandas_index(schema)
    return [one for one in schema if one.name not in index]


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
