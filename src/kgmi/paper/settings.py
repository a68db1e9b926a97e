"""Settings of an experiment as data: defaults in a dataclass, changed by a TOML file and by ``key=value`` pairs."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, get_args, get_origin, get_type_hints

from kgmi.divergence import Divergence
from kgmi.errors import SettingError
from kgmi.kernel import Kernel
from kgmi.outputs import note_read
from kgmi.process import Process
from kgmi.specs import GRAPH_HELP, KERNEL_HELP, read_divergence, read_graph, read_kernel

__all__ = [
    "Settings",
    "as_toml",
    "changes",
    "configured",
    "divergences_of",
    "names_of",
    "read_config",
    "read_pairs",
    "setting",
]

_MOST_BYTES = 1_000_000
_N_TUNABLES = 9


def setting(default: Any, help_text: str, low: float | None = None, high: float | None = None) -> Any:
    """A field with a default, a line of explanation, and the range of its values."""
    return field(default=default, metadata=MappingProxyType({"help": help_text, "low": low, "high": high}))


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What most experiments share. The defaults are the paper's; where it is silent, ours.

    An experiment lists the shared settings that have no effect on it in ``unused``: they cannot be set.
    """

    unused: ClassVar[tuple[str, ...]] = ()
    graph: str = setting("paper", f"Graph: {GRAPH_HELP}")
    kernel: str = setting("paper", f"Kernel: {KERNEL_HELP}")
    p: tuple[float, ...] = setting((0.0,), "Tunables p_0..p_8 of the paper's kernel, or one for all.", -1, 1)
    eta: float = setting(10.0, "Learning rate η.", 1e-6, 1e6)
    eps_attn: float = setting(0.1, "Training stops when a head has more than 1 − ε_attn.", 1e-6, 0.99)

    def process(self, copies: int = 1) -> Process:
        """Copies of the graph, with the kernel."""
        dag = read_graph(self.graph, copies)
        if dag.order != tuple(range(dag.n_nodes)):
            raise SettingError(f"the experiments read nodes by number: number those of {self.graph} parents first")
        return Process(dag, self.one_kernel())

    def one_kernel(self) -> Kernel:
        """The kernel; the paper's takes the tunables."""
        if self.kernel != "paper":
            return read_kernel(self.kernel)
        if len(self.p) not in (1, _N_TUNABLES):
            raise SettingError(f"p takes one number or the nine tunables p_0..p_8, got {len(self.p)} numbers")
        return Kernel.paper(self.p if len(self.p) > 1 else self.p[0])

    def __post_init__(self) -> None:
        for one in fields(self):
            _check_range(one.name, getattr(self, one.name), one.metadata)

    def validate(self) -> None:
        """Read everything that is given as text, so that an error shows before the work."""
        self.process()


def divergences_of(texts: Sequence[str]) -> dict[str, Divergence]:
    """Divergences by the texts that name them."""
    return {text: read_divergence(text) for text in texts}


def names_of(cls: type[Settings]) -> list[str]:
    """Names of the settings that can be set."""
    return [one.name for one in fields(cls) if one.name not in cls.unused]


def configured(cls: type[Settings], *layers: Mapping[str, Any]) -> Settings:
    """Settings with the defaults changed by layer after layer; values may be texts, as on the command line."""
    hints = {name: hint for name, hint in get_type_hints(cls).items() if name in names_of(cls)}
    values: dict[str, Any] = {}
    for layer in layers:
        for name, value in layer.items():
            if name not in hints:
                raise SettingError(f"there is no setting {name!r}; the settings here are {', '.join(hints)}")
            values[name] = _converted(name, value, hints[name])
    return cls(**values)


def read_config(path: Path) -> dict[str, dict[str, Any]]:
    """Read a TOML file of settings: one table for each experiment, named like it."""
    if not path.is_file():
        raise SettingError(f"there is no file {path}")
    if path.stat().st_size > _MOST_BYTES:
        raise SettingError(f"{path} is larger than {_MOST_BYTES:,} bytes; settings are a few lines")
    note_read(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingError(f"{path} is not TOML: {error}") from None
    loose = [name for name, value in content.items() if not isinstance(value, dict)]
    if loose:
        raise SettingError(f"{path}: {loose[0]!r} stands outside a table; put it below [name of the experiment]")
    return content


def read_pairs(pairs: Sequence[str]) -> dict[str, str]:
    """Read texts such as ``eta=1``."""
    found = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise SettingError(f"--set takes name=value, such as eta=1, got {pair!r}")
        found[name.strip()] = value.strip()
    return found


def as_toml(name: str, settings: Settings) -> str:
    """Settings as a TOML table, each with its explanation."""
    lines = [f"[{name}]"]
    for one in fields(settings):
        if one.name not in settings.unused:
            lines += [f"# {one.metadata['help']}", f"{one.name} = {_toml(getattr(settings, one.name))}"]
    return "\n".join(lines) + "\n"


def changes(settings: Settings, quick: Mapping[str, Any]) -> dict[str, str]:
    """Settings that differ from the defaults (with those of a ``quick`` run), as texts for ``--set``."""
    base = asdict(configured(type(settings), quick))
    return {name: _text(value) for name, value in asdict(settings).items() if value != base[name]}


def _text(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _toml(value: Any) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(value)


def _converted(name: str, value: Any, hint: Any) -> Any:
    if get_origin(hint) is tuple:
        parts = value.split(",") if isinstance(value, str) else value
        if not isinstance(parts, list | tuple):
            parts = [parts]
        return tuple(_converted(name, part, get_args(hint)[0]) for part in parts)
    if hint is str and isinstance(value, str):
        return value.strip()
    if hint is float and isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            return float(value)
        except (ValueError, OverflowError):
            pass
    if hint is int and isinstance(value, int | str) and not isinstance(value, bool):
        try:
            return int(value)
        except ValueError:
            pass
    kind = {int: "a whole number", float: "a number", str: "a text"}[hint]
    raise SettingError(f"{name} takes {kind}, got {value!r}")


def _check_range(name: str, value: Any, limits: Mapping[str, Any]) -> None:
    values = value if isinstance(value, tuple) else (value,)
    if not values:
        raise SettingError(f"{name} needs at least one value")
    for one in values:
        low, high = limits["low"], limits["high"]
        if low is not None and not low <= one <= high:  # NaN fails too
            raise SettingError(f"{name} must be from {low:,g} to {high:,g}, got {one}")
