"""Script and style that come with the package."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from kgmi.errors import SettingError

__all__ = ["ASSETS", "asset"]

# The script is written in small parts that share one scope; their order is that of what needs what.
ASSETS = {
    "view.js": tuple(
        f"{part}.js"
        for part in [
            "basics",
            "colours",
            "camera",
            "places",
            "edges",
            "drawing",
            "paper",
            "keys",
            "panel",
            "graph",
            "frames",
            "heat",
            "curve",
            "player",
            "show",
        ]
    ),
    "view.css": ("view.css",),
    "report.js": ("report.js",),
    "report.css": ("report.css",),
}
"""What :func:`asset` gives, and the files that it is joined from."""


@cache
def asset(name: str) -> str:
    """The text of ``view.js`` (a classic script; it defines ``window.kgmiView``), ``view.css`` or the page's."""
    if name not in ASSETS:
        raise SettingError(f"there is no {name!r} in the report; choose one of {', '.join(ASSETS)}")
    folder = files("kgmi.report") / "assets"
    parts = [(folder / part).read_text(encoding="utf-8") for part in ASSETS[name]]
    if name != "view.js":
        return "".join(parts)
    return '(function () {\n"use strict";\n' + "\n".join(parts) + "\n})();\n"
