"""Columns of files with types: their names, and whether those of several files fit together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

from kgmi.data.arrow import index_names
from kgmi.data.checks import check_names
from kgmi.data.origin import column_label
from kgmi.errors import DataError, SettingError
from kgmi.streams.files import File, as_constants, check_doubled, select
from kgmi.streams.fragment import Choice
from kgmi.streams.listing import Found
from kgmi.streams.projection import Projection, check_type, typed_with

__all__ = ["schema_names", "typed_files"]


def schema_names(path: object, schema: Any) -> tuple[str, ...]:
    """The names of the columns of a file, without those that pandas wrote for the index."""
    index = index_names(schema)
    try:
        names = tuple(name for name in schema.names if name not in index)
    except UnicodeDecodeError:
        raise DataError(
            f"{path} has columns whose names are no texts; the file is damaged: write it again"
        ) from None
    if not names:
        raise DataError(f"{path} has no columns")
    check_names(path, names, header=False)
    return names


def typed_files(
    found: Found,
    choice: Choice,
    schemas: Sequence[Any],
    marks: Sequence[str],
    declares: Callable[[Any], bool],
) -> tuple[tuple[File, ...], Projection]:
    """Files with types, and what is taken of them; refused where their columns do not fit together.

    ``declares(field)`` says whether a dictionary of a column would list its categories; in one file it does so only
    where it would in all of them.
    """
    first = found.paths[0]
    own = schema_names(first, schemas[0])
    constants = as_constants(found, own)
    columns, where = select((*own, *constants[0]), choice, typed_with(schemas[0], constants))
    projection = Projection(columns, where)
    for path, schema in zip(found.paths, schemas, strict=True):
        check_doubled(path, schema.names, first, constants[0], projection)
        _check_columns(path, schema, first, schemas[0], projection, constants[0], choice.columns is None)
    plain = (field.name for schema in schemas for field in schema if not declares(field))
    undeclared = frozenset((*plain, *constants[0]))
    files = tuple(File(*parts) for parts in zip(found.paths, marks, constants, strict=True))
    return files, replace(projection, undeclared=undeclared)


def _check_columns(
    path: object,
    schema: Any,
    first_path: object,
    first: Any,
    projection: Projection,
    constants: Collection[str],
    every: bool,
) -> None:
    """Refuse a file that lacks a column, has one of another type, or, where ``every`` one is read, has one more."""
    names = schema_names(path, schema)
    wanted = projection.stored(constants)
    for name in wanted:
        if name not in names:
            raise DataError(
                f"{path} has no column {name!r}, which {first_path} has; write it with all columns or leave the "
                "file out"
            )
    further = [name for name in names if name not in first.names and name not in constants]
    if every and further:
        raise DataError(
            f"{path} has a column {further[0]!r} that {first_path} does not have; say with columns=… (--columns) "
            "which are meant"
        )
    for name in wanted:
        mine, theirs = _family(schema.field(name).type), _family(first.field(name).type)
        if mine != theirs and "null" not in (mine, theirs):  # no values at all fit everything
            raise DataError(
                f"{path}: {column_label(name, 0)} holds {mine}, in {first_path} it holds {theirs}; write the files "
                "with the same types"
            )
    _check_filter(path, schema, projection, constants)
    for name in projection.columns:
        if name not in constants:
            try:
                check_type(name, schema.field(name).type)
            except DataError as error:
                raise DataError(f"{path}: {error}") from None


def _check_filter(path: object, schema: Any, projection: Projection, constants: Collection[str]) -> None:
    """Refuse a filter that cannot be put to this file, though it may be to the first."""
    import pyarrow as pa

    if projection.filter is not None:
        names = [name for name in projection.filter.columns if name not in constants]
        try:
            projection.filter.check_types(pa.schema([schema.field(name) for name in names]))
        except SettingError as error:
            raise SettingError(f"{path}: {error}") from None


def _family(kind: Any) -> str:
    """What values of a type are: files may differ in how wide their numbers are and in how texts are kept."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return _family(kind.value_type)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "numbers"
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "texts"
    return "truth values" if types.is_boolean(kind) else str(kind)
