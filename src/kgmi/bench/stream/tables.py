"""Generated tables: Parquet files of rows drawn from a known graph, written once and used again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from kgmi.bench.stream.sampling import process_of, sample_block
from kgmi.errors import SettingError, TooLargeError
from kgmi.files import atomic_write
from kgmi.memory import shown_bytes
from kgmi.process import Process
from kgmi.types import Codes

__all__ = ["KINDS", "Generated"]

KINDS = ("int8", "category", "text")
"""What a cell is: a small number, a dictionary of texts, or a text."""

_MARK = "kgmi-recipe"  # by which these files are known
_SAMPLER = 1  # goes up when the same recipe gives other rows
_CELL_BYTES = 0.4  # on disk, more than what two bits per cell and the pages around them take
_SPARE = 500_000_000  # bytes of the disk that are left alone
_TEXTS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Generated:
    """A table by recipe.

    Attributes
    ----------
    n_rows, n_nodes
        N and T.
    kind
        What a cell is: one of :data:`KINDS`.
    seed
        Of graph, kernel and rows.
    n_files
        Files that the rows are spread over.
    group_rows
        Rows of a row group.
    """

    n_rows: int
    n_nodes: int = 20
    kind: str = "int8"
    seed: int = 1
    n_files: int = 1
    group_rows: int = 1_000_000

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise SettingError(f"a cell is one of {', '.join(KINDS)}, not {self.kind!r}")
        if self.n_nodes < 3 or min(self.n_rows, self.n_files, self.group_rows) < 1:
            raise SettingError("a generated table needs at least 3 columns, 1 row, 1 file and 1 row to a group")

    @cached_property
    def process(self) -> Process:
        """The graph and the kernel behind the rows."""
        return process_of(self.n_nodes, self.seed)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns."""
        return tuple(f"X{node + 1}" for node in range(self.n_nodes))

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The states as a reader of the files sees them."""
        states = range(self.process.n_states)
        return tuple(str(state) if self.kind == "int8" else _TEXTS[state] for state in states)

    def path_in(self, folder: Path) -> Path:
        """The folder of its files."""
        size = f"{self.n_rows}x{self.n_nodes}" + (f"-{self.n_files}-files" if self.n_files > 1 else "")
        return folder / f"{size}-{self.kind}-seed-{self.seed}"

    def files_in(self, folder: Path) -> list[Path]:
        """Its files, in the order of the rows."""
        return [self.path_in(folder) / f"part-{number:03d}.parquet" for number in range(self.n_files)]

    def write(self, folder: Path, tell: Callable[[int], object] | None = None) -> Path:
        """The folder of its files, which are written unless they are there already; ``tell`` hears of rows done."""
        if self._is_there(folder):
            return self.path_in(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self._check_room(folder)
        blocks = list(_blocks(self.n_rows, self.group_rows))
        share = -(-len(blocks) // self.n_files)
        done = 0
        for number, path in enumerate(self.files_in(folder)):
            for rows in self._write_file(path, blocks[number * share : (number + 1) * share]):
                done += rows
                if tell is not None:
                    tell(done)
        with atomic_write(self._recipe_in(folder), "recipe") as stream:  # the last: all files are whole
            stream.write((json.dumps(self._made()) + "\n").encode())
        return self.path_in(folder)

    def _recipe_in(self, folder: Path) -> Path:
        """What the files were made from, beside their folder: all that lies in it is rows."""
        path = self.path_in(folder)
        return path.with_name(f"{path.name}.json")

    def _check_room(self, folder: Path) -> None:
        needed, free = self.n_rows * self.n_nodes * _CELL_BYTES, shutil.disk_usage(folder).free
        if needed + _SPARE > free:
            raise TooLargeError(
                f"{self.n_rows:,} rows of {self.n_nodes} columns may take {shown_bytes(needed)} in {folder}, and "
                f"{shown_bytes(free)} are free there; take fewer rows (--most) or another disk (--folder)"
            )

    def _is_there(self, folder: Path) -> bool:
        made = self._recipe_in(folder)
        if not made.exists() or not all(path.exists() for path in self.files_in(folder)):
            return False
        return bool(json.loads(made.read_text(encoding="utf-8")) == self._made())

    def _made(self) -> dict[str, Any]:
        return {"format": _MARK, **asdict(self), "sampler": _SAMPLER}

    def _write_file(self, path: Path, blocks: list[tuple[int, int]]) -> Iterator[int]:
        """Write some blocks, one row group each, while the next is drawn; yields their rows."""
        import pyarrow as pa
        from pyarrow import parquet

        process = self.process
        schema = pa.schema([(name, self._type()) for name in self.names], metadata={"format": _MARK})
        with (
            atomic_write(path, "generated rows") as stream,
            parquet.ParquetWriter(stream, schema) as writer,
            ThreadPoolExecutor(1) as pool,
        ):
            draw = partial(sample_block, process, self.seed, n_rows=self.group_rows)
            drawn = [pool.submit(draw, number) for number, _ in blocks[:1]]
            for place, (_, n_rows) in enumerate(blocks):
                columns = drawn.pop().result()[:, :n_rows]
                drawn = [pool.submit(draw, number) for number, _ in blocks[place + 1 : place + 2]]
                table = pa.table([self._cells(codes) for codes in columns], schema=schema)
                writer.write_table(table, row_group_size=self.group_rows)
                yield n_rows

    def _type(self) -> Any:
        import pyarrow as pa

        kinds = {"int8": pa.int8(), "category": pa.dictionary(pa.int8(), pa.string()), "text": pa.string()}
        return kinds[self.kind]

    def _cells(self, codes: Codes) -> Any:
        import pyarrow as pa

        if self.kind == "int8":
            return pa.array(codes)
        cells = pa.DictionaryArray.from_arrays(pa.array(codes), list(self.texts))
        return cells if self.kind == "category" else cells.cast(pa.string())


def _blocks(n_rows: int, group_rows: int) -> Iterator[tuple[int, int]]:
    """Number and rows of every block."""
    for number, start in enumerate(range(0, n_rows, group_rows)):
        yield number, min(group_rows, n_rows - start)
