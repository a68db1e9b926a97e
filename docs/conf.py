"""How Sphinx turns docs/ into pages: `make docs`, warnings are errors, nothing is fetched from the network.

The Markdown files are read on GitHub as well, so that links between them are plain. What lies outside this folder
(CONTRIBUTING.md, CHANGELOG.md, the example scripts) is copied into docs/_copied/, which git ignores, and links to
it are turned there while a page is read.
"""

import ast
import re
from pathlib import Path

from docutils import nodes

from kgmi.version import __version__

HERE = Path(__file__).parent
COPIES = HERE / "_copied"
OUTSIDE = {"contributing": "CONTRIBUTING.md", "changelog": "CHANGELOG.md", "benchmarks": "benchmarks/README.md"}

project = "kgmi"
author = "The kgmi developers"
project_copyright = "2026, the kgmi developers"
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
root_doc = "index"
source_suffix = {".md": "markdown"}
exclude_patterns = ["paper/*/*", "lab/*/*"]
nitpicky = True
smartquotes = False  # --option stays --option
nitpick_ignore_regex = [
    # Types of other packages have pages elsewhere, which would have to be fetched; our aliases are spelled out.
    (r"py:.*", r"(?!kgmi).*"),
    (r"py:mod", r"kgmi\..*"),  # modules, named where something comes from
    (r"py:attr", r"kgmi\.Learned\..*"),  # fields of a record are described in one list
    # Internal.
    (r"py:(class|func)", r"kgmi\.(learning\.certified\.Witness|bins\.Bins|alphabets\.\w+|sources\.base\.\w+)"),
]

suppress_warnings = ["ref.python"]  # attributes of one name in several classes, each shown where it belongs

html_theme = "furo"
html_title = f"kgmi {release}"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
highlight_language = "text"  # of blocks that do not say what they are
pygments_style = "friendly"
pygments_dark_style = "monokai"

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]
copybutton_exclude = ".linenos, .gp, .go"
copybutton_prompt_text = "$ "

autodoc_member_order = "bysource"
autodoc_mock_imports = ["torch"]  # kgmi.lab is described without it
autodoc_typehints = "none"  # the parameters say in words what they take
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_ivar = True  # attributes as a list of fields: no second entry for what autodoc finds itself
napoleon_use_param = False  # «n_states, states» are described once, together
napoleon_use_rtype = False


def _copy(name: str, text: str) -> None:
    """Write a page into _copied/, unless it is there already: Sphinx then knows that nothing changed."""
    path = COPIES / f"{name}.md"
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _copy_what_lies_outside() -> None:
    COPIES.mkdir(exist_ok=True)
    for name, path in OUTSIDE.items():
        text = (HERE.parent / path).read_text(encoding="utf-8")
        text = re.sub(r"\]\((?:\.\./)?docs/", "](../", text)
        _copy(name, _turned(text, here=r"(?:\.\./)?", copies=""))
    page = [
        "# Examples",
        "Each is a script in `examples/` that the tests run. It prints sentences on what it found.",
    ]
    for script in sorted((HERE.parent / "examples").glob("*.py")):
        text = script.read_text(encoding="utf-8")
        says = (ast.get_docstring(ast.parse(text)) or "").replace("\n", " ")
        code = text.split('"""', 2)[2].strip()
        page.append(f"({script.stem})=\n## {script.name}\n\n{says}\n\n```python\n{code}\n```")
    _copy("examples", "\n\n".join(page) + "\n")


def _turned(text: str, here: str, copies: str) -> str:
    """The text with links to what lies outside turned to the copies; ``here`` matches the way out of docs/."""
    for name, path in OUTSIDE.items():
        text = re.sub(rf"\]\({here}{re.escape(path)}", f"]({copies}{name}.md", text)
    text = re.sub(rf"\]\({here}examples/(\w+)\.py\)", rf"]({copies}examples.md#\1)", text)
    return re.sub(rf"\]\({here}examples/?\)", f"]({copies}examples.md)", text)


def _turn_links(app: object, name: str, source: list[str]) -> None:
    """Links of a page that lead out of docs/ lead to the copies; plain HTML anchors become targets."""
    text = _turned(source[0], here=r"\.\./", copies="_copied/")
    text = re.sub(r'<a id="([\w-]+)"></a>', r"(\1)=", text)
    source[0] = re.sub(r"\*\*(.+)\*\*\n\n((?:- \[.+\]\(.+\)\n)+)", _contents, text) if name == "index" else text


def _contents(part: re.Match[str]) -> str:
    """A list of pages under a heading as a part of the table of contents."""
    pages = re.sub(r"- \[(.+)\]\((.+)\.md\)", r"\1 <\2>", part[2])
    return f"```{{toctree}}\n:caption: {part[1]}\n:maxdepth: 1\n\n{pages}```\n"


def _keep_signs(app: object, what: str, name: str, found: object, options: object, lines: list[str]) -> None:
    """Signs that are not meant for Sphinx: |x| is a size, and a line may begin with S, the number of states."""
    for number, line in enumerate(lines):
        parts = line.split("``")  # what stands between double backquotes stays
        parts[::2] = [re.sub(r"^(\s*\w)\. ", r"\1\\. ", part.replace("|", r"\|")) for part in parts[::2]]
        lines[number] = "``".join(parts)


def _keep_colons(app: object, what: str, name: str, found: object, options: object, lines: list[str]) -> None:
    """A colon in the sentence of a property does not end the name of a type, as napoleon takes it to."""
    for number, line in enumerate(lines):
        if what == "property" and line.startswith(":type: "):
            lines[0] = f"{line.removeprefix(':type: ')}: {lines[0]}"
            lines[number] = ""


def _set_dashes(app: object, tree: nodes.document) -> None:
    """Between the name of a parameter and what it is stands a dash, not the two hyphens of an option."""
    for text in list(tree.findall(nodes.Text)):
        if " -- " in text:
            text.parent.replace(text, nodes.Text(text.replace(" -- ", " – ")))


_copy_what_lies_outside()


def setup(app) -> None:
    """Called by Sphinx."""
    app.connect("source-read", _turn_links)
    app.connect("autodoc-process-docstring", _keep_signs, priority=400)  # before napoleon
    app.connect("autodoc-process-docstring", _keep_colons, priority=600)  # after it
    app.connect("doctree-read", _set_dashes)
