"""``results.json`` of an experiment: written whole, and checked when it is read back."""

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
from kgmi.paper.experiment import Check, Experiment, Numbers, Outcome, Run, Verdict, reason_of, verdict_of
from kgmi.paper.settings import Settings, changes
from kgmi.version import __version__

__all__ = ["Result", "read_result", "write_result"]

FORMAT = "kgmi-reproduction"
VERSION = 2
_MOST_BYTES = 50_000_000
_PACKAGES = ("numpy", "scipy", "numba", "networkx", "matplotlib")


@dataclass(frozen=True)
class Result:
    """One experiment as it was run.

    Attributes
    ----------
    name, title, claim
        Which experiment, and what its source says.
    verdict, why
        Whether the claim holds, and the reason.
    checks, tables
        Claims against measurements, and tables for people.
    configuration
        All settings; ``changed`` has those that are not the defaults, as for ``--set``.
    seed, quick, seconds, versions, date
        How, with what, how long and when it was run.
    numbers
        All measurements.
    figures
        File names of the figures without their endings.
    source
        Who makes the claim.
    """

    name: str
    title: str
    claim: str
    verdict: Verdict
    why: str
    checks: tuple[Check, ...]
    tables: tuple[Numbers, ...]
    configuration: Numbers
    changed: dict[str, str]
    seed: int
    quick: bool
    seconds: float
    versions: dict[str, str]
    date: str
    numbers: Numbers
    figures: tuple[str, ...] = ()
    source: str = "The paper"

    @property
    def heading(self) -> str:
        """The title, marked where the run was a quick one."""
        return f"{self.title} (quick)" if self.quick else self.title

    @property
    def headline(self) -> str:
        """The measurement of the first claim of the source that fails, or else of its first."""
        own = [check for check in self.checks if check.source == "paper"] or list(self.checks)
        first = next((check for check in own if check.holds is False), own[0])
        return f"{first.name}: {first.measured}"

    @property
    def circumstances(self) -> str:
        """Command, seed, settings, time and versions in a few sentences."""
        quick = " --quick" if self.quick else ""
        versions = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        other = "".join(f' --set "{name}={value}"' for name, value in self.changed.items())
        return (
            f"`kgmi reproduce {self.name}{quick} --seed {self.seed}{other}` took {self.seconds:.1f} s on "
            f"{self.date} ({versions}). Numbers and all settings: `{self.name}/results.json`."
        )

    @classmethod
    def of(
        cls,
        experiment: Experiment,
        settings: Settings,
        outcome: Outcome,
        run: Run,
        *,
        quick: bool,
        seconds: float,
        figures: tuple[str, ...],
    ) -> Result:
        """What a run found, with its circumstances."""
        return cls(
            name=experiment.name,
            title=experiment.title,
            claim=experiment.claim,
            verdict=verdict_of(outcome.checks),
            why=f"{reason_of(outcome.checks)} {outcome.remark}".rstrip(),
            checks=outcome.checks,
            tables=outcome.tables,
            configuration=asdict(settings),
            changed=changes(settings, experiment.quick if quick else {}),
            seed=run.seed,
            quick=quick,
            seconds=round(seconds, 3),
            versions=_versions(),
            date=datetime.now(UTC).strftime("%Y-%m-%d"),
            numbers=outcome.numbers,
            figures=figures,
            source=experiment.source,
        )


def write_result(folder: Path, result: Result, *, force: bool = False) -> Path:
    """Write ``results.json`` into ``folder``."""
    path = folder / "results.json"
    content = {"format": FORMAT, "version": VERSION, **asdict(result)}
    with atomic_write(path, "experiment", force=force) as stream:
        stream.write(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False).encode())
    return path


def read_result(folder: Path) -> Result:
    """Read ``results.json`` back, and make sure that its figures are there too."""
    path = folder / "results.json"
    if path.stat().st_size > _MOST_BYTES:
        raise RecordError(f"{path} is larger than {_MOST_BYTES:,} bytes, which no result is")
    again = "run the experiment again, or remove the folder"
    try:
        content: dict[str, Any] = json.loads(path.read_bytes())
        if content.pop("format") != FORMAT or content.pop("version") != VERSION:
            raise RecordError(f"{path} was written by another version of kgmi: {again}")
        content["checks"] = tuple(Check(**check) for check in content["checks"])
        content["tables"] = tuple(content["tables"])
        content["figures"] = tuple(Path(str(name)).name for name in content["figures"])
        result = Result(**content)
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError, AttributeError) as error:
        raise RecordError(f"{path} is not a result of kgmi reproduce ({error}): {again}") from None
    for name in result.figures:
        if not (folder / f"{name}.png").is_file():
            raise RecordError(f"{folder} has results but no {name}.png: {again}")
    return result


def _versions() -> dict[str, str]:
    found = {"kgmi": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # unpacked by hand, without its metadata
            found[package] = "unknown"
    return found
