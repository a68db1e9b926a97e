"""Results for the tests of the report, and what reads a page."""

from __future__ import annotations

from functools import cache
from html.parser import HTMLParser

import numpy as np

from kgmi import Dag, Kernel, Process, exact_joint, learn, sample

HOSTILE = (
    "</script><img src=x onerror=window.hit=1>",
    '"><svg onload=window.hit=2>',
    "<!--",
    "a very long name of a column that nobody would want to read in full",
    "Ünïcödé 名前",
    "&amp;",
    "'; window.hit=3; '",
    "${window.hit=4}",
    "\u202eturned",
    "tab\tname",
)
_EMPTY = {"meta", "link", "br", "img", "input", "hr"}


@cache
def paper_result(n_rows=5_000):
    """The paper's graph, kernel learned."""
    rows = sample(Process(Dag.paper(10), Kernel.paper()), n_rows, rng=np.random.default_rng(101))
    return learn(rows, n_parents=2)


@cache
def hostile_result():
    """The same with names that would like to be more than names."""
    rows = sample(Process(Dag.paper(10), Kernel.paper()), 1_000, rng=np.random.default_rng(102))
    return learn(rows, n_parents=2, names=HOSTILE)


@cache
def wide_result():
    """500 nodes, two heads: the trace keeps no attention, and heat maps are binned."""
    process = Process(Dag.random(500, 2, rng=np.random.default_rng(103)), Kernel.paper())
    return learn(sample(process, 2_000, rng=np.random.default_rng(103)), n_parents=2)


RANDOM = np.random.default_rng(104).integers(0, 3, (300, 5))
KINDS = {
    "paper": paper_result,
    "hostile names": hostile_result,
    "500 nodes": wide_result,
    "stationary, exact": lambda: learn(exact_joint(Process(Dag.paper(5), Kernel.paper())), kernel=Kernel.paper()),
    "no edges": lambda: learn(RANDOM, n_parents=3),
    "limit": lambda: learn(RANDOM, roots=["X1"], solver="limit"),
    "order": lambda: learn(RANDOM, order="learn", roots=["X1"]),
    "two nodes": lambda: learn(RANDOM[:, :2]),
}


class Page(HTMLParser):
    """What stands in a page: elements in order, with attributes and text; fails where tags do not match."""

    def __init__(self, text):
        super().__init__()
        self.elements, self._open = [], []
        self.feed(text)
        self.close()
        assert not self._open, f"not closed: {self._open}"

    def handle_starttag(self, tag, attrs):
        self.elements.append([tag, dict(attrs), ""])
        if tag not in _EMPTY:
            self._open.append((tag, self.elements[-1]))

    def handle_startendtag(self, tag, attrs):
        self.elements.append([tag, dict(attrs), ""])

    def handle_endtag(self, tag):
        assert self._open, f"</{tag}> closes nothing"
        assert self._open[-1][0] == tag, f"</{tag}> closes <{self._open[-1][0]}>"
        self._open.pop()

    def handle_data(self, data):
        for _, element in self._open:
            element[2] += data

    def all(self, *tags):
        """Attributes and text of all elements with these tags, in their order."""
        return [(attributes, text) for tag, attributes, text in self.elements if tag in tags]
