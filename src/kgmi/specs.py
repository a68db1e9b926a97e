"""Graphs, kernels, divergences and numbers as they are written on the command line and in configuration files."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from kgmi.divergence import DIVERGENCES, Divergence, divergence_named
from kgmi.errors import DataError, DivergenceError, GraphError, KernelError, SettingError
from kgmi.graph import Dag
from kgmi.kernel import Kernel
from kgmi.outputs import note_read

__all__ = [
    "DIVERGENCE_NAMES",
    "GRAPHS",
    "GRAPH_HELP",
    "KERNELS",
    "KERNEL_HELP",
    "read_divergence",
    "read_divergence_name",
    "read_graph",
    "read_kernel",
    "read_named_graph",
    "read_numbers",
]

GRAPH_HELP = (
    'paper, paper5, mixed, chain:T,K, random:T,K,SEED, or a .json or .dot file (JSON: {"parents": [[], [0], …]}).'
)
KERNEL_HELP = 'paper, mendelian, random:S,K,SEED, or a .json or .npy file (JSON: {"table": nested lists}).'
GRAPHS = ("paper", "paper5", "mixed", "chain:", "random:")
KERNELS = ("paper", "mendelian", "random:")
DIVERGENCE_NAMES = tuple(f"{name}{form}" for name in DIVERGENCES for form in ("", "-matched"))

_MOST_BYTES = 500_000_000
_MOST_NODES = 100_000  # of a graph that is made by a recipe
_MOST_DIGITS = 9  # of a number in a recipe


def read_graph(spec: str, copies: int = 1, *, also: str = "") -> Dag:
    """A graph by name, by recipe, or from a file; an error names ``also`` as further things that could be given."""
    named: dict[str, Callable[[], Dag]] = {
        "paper": Dag.paper,
        "paper5": lambda: Dag.paper(5),
        "mixed": Dag.paper_mixed,
    }
    if spec in named:
        dag = named[spec]()
    elif spec.startswith("chain:"):
        n_nodes, n_parents = _recipe(spec, 2, "chain:T,K")
        _check_nodes(n_nodes, spec)
        dag = Dag.chain(n_nodes, n_parents)
    elif spec.startswith("random:"):
        n_nodes, n_parents, seed = _recipe(spec, 3, "random:T,K,SEED")
        _check_nodes(n_nodes, spec)
        dag = Dag.random(n_nodes, n_parents, rng=np.random.default_rng(seed))
    elif spec.endswith(".dot"):
        dag = Dag.from_dot(_text(spec))
    elif spec.endswith(".json"):
        dag = Dag.from_dict(_json(spec, GraphError))
    else:
        raise SettingError(f"{spec!r} is not a graph; use {also}{GRAPH_HELP}")
    if copies < 1:
        raise SettingError(f"--copies must be at least 1, got {copies}")
    _check_nodes(dag.n_nodes * copies, f"--copies {copies}")
    return dag.copies(copies)


def read_named_graph(spec: str, *, also: str = "") -> tuple[Dag, list[str] | None]:
    """A graph and, where its file tells them, the names of its nodes."""
    dag = read_graph(spec, also=also)
    names = None
    if spec.endswith(".dot"):
        labels = re.findall(r'^\s*\d+ \[label="((?:[^"\\]|\\.)*)"\];$', _text(spec), re.MULTILINE)
        names = [re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], label) for label in labels]
    elif spec.endswith(".json"):
        names = _json(spec, GraphError).get("names")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return dag, None
    return dag, names if len(set(names)) == dag.n_nodes else None


def read_kernel(spec: str, p: str | None = None) -> Kernel:
    """A kernel by name, by recipe, or from a file; ``p`` are the tunables of the paper's."""
    if p is not None and spec != "paper":
        raise SettingError("--p sets the tunables of the paper's kernel; use it with --kernel paper")
    if spec == "paper":
        tunables = [0.0] * 9 if p is None else read_numbers(p, "--p")
        if len(tunables) != 9:
            raise SettingError(f"--p takes the nine tunables p_0..p_8, got {len(tunables)} numbers")
        return Kernel.paper(tunables)
    if spec == "mendelian":
        return Kernel.mendelian()
    if spec.startswith("random:"):
        n_states, n_parents, seed = _recipe(spec, 3, "random:S,K,SEED")
        return Kernel.random(n_states, n_parents, rng=np.random.default_rng(seed))
    if spec.endswith(".json"):
        return Kernel.from_dict(_json(spec, KernelError))
    if spec.endswith(".npy"):
        _check_file(spec)
        try:
            return Kernel(np.load(spec, allow_pickle=False))
        except (ValueError, EOFError) as error:
            if isinstance(error, KernelError):
                raise
            raise KernelError(f"{spec} cannot be read as a .npy array: {error}") from None
    raise SettingError(f"{spec!r} is not a kernel; use {KERNEL_HELP}")


def read_divergence_name(name: str) -> Divergence:
    """A divergence by name: what a record can name."""
    try:
        return divergence_named(name)
    except DivergenceError as error:
        raise SettingError(str(error)) from None


def read_divergence(text: str) -> Divergence:
    """A divergence by name, as a formula in x, or as ``file.py:function``; ``-matched`` at the end matches it."""
    plain = text.removesuffix("-matched")
    try:
        if plain in DIVERGENCES:
            return divergence_named(text)
        if ".py:" in plain:
            made = _from_file(*plain.rsplit(":", 1))
        elif re.search(r"\bx\b|[+*/()\d]", plain):
            made = Divergence.from_expression(plain)
        else:
            known = ", ".join(DIVERGENCES)
            raise SettingError(
                f"there is no divergence {text!r}; use one of {known}, a formula in x such as x*log(x), or "
                "file.py:function; each also with -matched"
            )
    except DivergenceError as error:
        raise SettingError(str(error)) from None
    return made if plain == text else made.matched()


def _from_file(path: str, name: str) -> Divergence:
    """Run a Python file and take its function ``name`` as f."""
    _check_file(path)
    spec = importlib.util.spec_from_file_location("kgmi_own_f", path)
    assert spec is not None  # the name ends with .py
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise SettingError(f"{path} cannot be run: {type(error).__name__}: {error}") from error
    f = getattr(module, name, None)
    if not callable(f):
        raise SettingError(f"{path} has no function {name!r}")
    try:
        return Divergence.from_function(
            lambda x: np.asarray(f(x), dtype=np.float64), name=f"{Path(path).name}:{name}"
        )
    except DivergenceError:
        raise
    except Exception as error:
        raise SettingError(
            f"{name} in {path} failed on a NumPy array of numbers: {type(error).__name__}: {error}; it must take "
            "an array and return one"
        ) from error


def read_numbers(text: str, option: str) -> list[float]:
    """Comma-separated numbers."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise SettingError(f"{option} takes numbers separated by commas, got {text!r}") from None


def _check_nodes(number: int, what: str) -> None:
    if number > _MOST_NODES:
        raise SettingError(f"{what} makes {number:,} nodes; at most {_MOST_NODES:,} are allowed here")


def _recipe(spec: str, n_numbers: int, form: str) -> list[int]:
    parts = spec.partition(":")[2].split(",")
    if any(len(part.strip()) > _MOST_DIGITS for part in parts):
        raise SettingError(f"{spec[:60]!r} is too large: numbers have at most {_MOST_DIGITS} digits here")
    if len(parts) != n_numbers or not all(part.strip().isdecimal() for part in parts):
        raise SettingError(f"{spec!r} should be written {form} with whole numbers")
    return [int(part) for part in parts]


def _check_file(path: str) -> None:
    if not Path(path).is_file():
        raise DataError(f"there is no file {path}")
    if Path(path).stat().st_size > _MOST_BYTES:
        raise DataError(f"{path} is larger than {_MOST_BYTES:,} bytes")
    note_read(path)


def _text(path: str) -> str:
    _check_file(path)
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise GraphError(f"{path} is not UTF-8 text") from None


def _json(path: str, failure: type[GraphError] | type[KernelError]) -> Any:
    _check_file(path)
    try:
        return json.loads(Path(path).read_bytes())
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise failure(f"{path} is not JSON: {error}") from None
