"""``results.json`` of an experiment: written whole, read back with its checks, never trusted blindly."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from kgmi.errors import RecordError
from kgmi.files import atomic_write
from kgmi.paper.experiment import Check, Numbers, Outcome, Run, Verdict, verdict_of
from kgmi.version import __version__

__all__ = ["Result", "read_result", "read_whole", "write_result"]

FORMAT = "kgmi-reproduction"
VERSION = 1
_MOST_BYTES = 50_000_000
_PACKAGES = ("numpy", "scipy", "numba", "networkx", "matplotlib")


@dataclass(frozen=True)
class Result:
    """One experiment as it was run.

    Attributes
    ----------
    name, claim
        Which experiment, and what the paper says.
    verdict, why
        What became of the claim, and the reason.
    checks
        Claims against measurements.
    configuration, seed, quick, seconds, versions, date
        How, with what, how long and when it was run.
    numbers
        All measurements.
    figures
        File names of the figures without their endings.
    """

    name: str
    claim: str
    verdict: Verdict
    why: str
    checks: tuple[Check, ...]
    configuration: Numbers
    seed: int
    quick: bool
    seconds: float
    versions: dict[str, str]
    date: str
    numbers: Numbers
    figures: tuple[str, ...] = ()

    @property
    def tables(self) -> list[Numbers]:
        """Tables made for people: title, columns, rows of texts, and perhaps a note."""
        return list(self.numbers.get("tables", []))

    @property
    def mode(self) -> str:
        """« (quick)» for a quick run, nothing for a full one; stands behind the title."""
        return " (quick)" if self.quick else ""

    @property
    def headline(self) -> str:
        """The measurement that speaks first: of the first claim of the paper that fails, or else of its first."""
        own = [check for check in self.checks if check.source == "paper"] or list(self.checks)
        first = next((check for check in own if check.holds is False), own[0])
        return f"{first.name}: {first.measured}"

    @property
    def circumstances(self) -> str:
        """Command, seed, time and versions in a sentence."""
        quick = " --quick" if self.quick else ""
        versions = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        return (
            f"`kgmi reproduce {self.name}{quick} --seed {self.seed}` took {self.seconds:.1f} s on {self.date} "
            f"({versions}). Numbers and configuration: `{self.name}/results.json`."
        )

    @classmethod
    def of(
        cls, name: str, claim: str, outcome: Outcome, run: Run, seconds: float, figures: tuple[str, ...]
    ) -> Result:
        """What a run found, with its circumstances."""
        return cls(
            name=name,
            claim=claim,
            verdict=verdict_of(outcome.checks),
            why=outcome.why,
            checks=outcome.checks,
            configuration=outcome.configuration,
            seed=run.seed,
            quick=run.quick,
            seconds=round(seconds, 3),
            versions=_versions(),
            date=datetime.now(UTC).strftime("%Y-%m-%d"),
            numbers=outcome.numbers,
            figures=figures,
        )


def write_result(folder: Path, result: Result, *, force: bool = False) -> Path:
    """Write ``results.json`` into ``folder``."""
    path = folder / "results.json"
    content = {"format": FORMAT, "version": VERSION, **asdict(result)}
    with atomic_write(path, "experiment", force=force) as stream:
        stream.write(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False).encode())
    return path


def read_result(folder: Path) -> Result:
    """Read ``results.json`` back."""
    path = folder / "results.json"
    if path.stat().st_size > _MOST_BYTES:
        raise RecordError(f"{path} is larger than any result is")
    try:
        content: dict[str, Any] = json.loads(path.read_bytes())
        if content.pop("format") != FORMAT or content.pop("version") != VERSION:
            raise RecordError(
                f"{path} was written by another version of kgmi: run the experiment again, or remove the folder"
            )
        content["checks"] = tuple(Check(**check) for check in content["checks"])
        content["figures"] = tuple(Path(str(name)).name for name in content["figures"])
        return Result(**content)
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError, AttributeError) as error:
        raise RecordError(
            f"{path} is not a result of kgmi reproduce ({error}): run the experiment again, or remove the folder"
        ) from None


def read_whole(folder: Path) -> Result:
    """Read ``results.json`` back, and make sure that its figures are there too."""
    result = read_result(folder)
    for name in result.figures:
        if not (folder / f"{name}.png").is_file():
            raise RecordError(
                f"{folder} has results but no {name}.png: run the experiment again, or remove the folder"
            )
    return result


def _versions() -> dict[str, str]:
    found = {"kgmi": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # vendored or unpacked by hand: it runs, but nobody wrote down its version
            found[package] = "unknown"
    return found
