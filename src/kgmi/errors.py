"""The exceptions of kgmi: each message says what is wrong, where, and what to do."""

from collections.abc import Sequence
from pathlib import Path

__all__ = [
    "CellError",
    "ClusterError",
    "CountsError",
    "DataError",
    "DivergenceError",
    "GraphError",
    "KernelError",
    "KgmiError",
    "OutputError",
    "RecordError",
    "SettingError",
    "TooFewRowsError",
    "TooLargeError",
    "UnknownColumnError",
    "first_line",
]


class KgmiError(ValueError):
    """Base of all errors that kgmi raises on purpose."""


class KernelError(KgmiError):
    """A transition kernel, or a law derived from it, is not what it has to be."""


class GraphError(KgmiError):
    """A graph has a cycle, or a node that does not exist."""


class DataError(KgmiError):
    """A table, a file or a statistic cannot be used as it is."""


class CellError(DataError):
    """A cell cannot be used as it is.

    Attributes
    ----------
    column, row, value
        Name of the column, row counted from 0, and what the cell holds.
    """

    def __init__(self, message: str, column: str = "", row: int = -1, value: object = None) -> None:
        super().__init__(message)
        self.column, self.row, self.value = column, row, value


class CountsError(DataError):
    """Saved counts are missing, damaged, of another version, or do not fit together."""


class TooFewRowsError(DataError):
    """Rows that nothing can be learned from as they are; further rows may mend it."""


class DivergenceError(KgmiError):
    """A function f does not define an f-divergence."""


class SettingError(KgmiError):
    """An option has a value that makes no sense, alone or with the others."""


class UnknownColumnError(SettingError):
    """An option names a column that does not exist.

    Attributes
    ----------
    option, column, names
        The option, the column that it names, and the columns that there are.
    """

    def __init__(self, message: str, option: str = "", column: object = None, names: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.option, self.column, self.names = option, column, tuple(names)


class OutputError(KgmiError):
    """A file or a folder cannot be written to without a loss.

    Attributes
    ----------
    path
        What is in the way.
    reason
        ``read``: it is one of the files that are read; ``foreign``: kgmi did not write it, or as something else;
        ``folder``, ``file``, ``device``: it is one where another thing is needed.
    """

    def __init__(self, message: str, path: Path | None = None, reason: str = "") -> None:
        super().__init__(message)
        self.path, self.reason = path, reason


class RecordError(KgmiError):
    """A saved result is missing, damaged, or of another version."""


class TooLargeError(KgmiError):
    """The work would need more memory than is sensible; nothing was allocated."""


class ClusterError(KgmiError):
    """A cluster cannot be reached, lost its workers or its scheduler, or runs another kgmi."""


def first_line(error: BaseException) -> str:
    """What an error of somebody else says, in one line."""
    return next(iter(str(error).splitlines()), "") or type(error).__name__
