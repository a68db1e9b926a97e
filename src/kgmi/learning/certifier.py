"""``Certifier``: certificates while the rows come in, so that one can stop as soon as all is certain."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from kgmi.alphabets import Rules
from kgmi.certify import Certificate, Stream, check_alpha, check_patience
from kgmi.certify.evidence import Evidence
from kgmi.errors import DataError, SettingError, TooFewRowsError
from kgmi.learning.certified import Witness, has_own_law, learn_and_keep, refuse_guide, refuse_learned_order
from kgmi.learning.inputs import Source
from kgmi.learning.learn import learn
from kgmi.learning.learned import Learned
from kgmi.learning.searched import problem_of
from kgmi.table import Table, as_table, own_names
from kgmi.types import Codes

__all__ = ["Certifier"]

_PATIENCE = 10.0  # seconds; all counts are kept in memory
_USUAL_ROWS = 10_000  # by which to judge what can be afforded
_WHOLE = ("windows", "labelled_form", "kappa")  # options of tables that come in one piece


class Certifier:
    """Takes rows in batches and says after each what is certain; how they are batched makes no difference.

    Looking often costs nothing: the certificate holds at any time, also at one that was chosen for what it says.

    Parameters
    ----------
    alpha
        Probability that anything that is ever certified is wrong.
    **options
        Options of :func:`kgmi.learn`. The states must be declared (``states``, ``n_states`` or a known ``kernel``),
        as the first rows may not show all of them.

    Examples
    --------
    >>> import kgmi
    >>> process = kgmi.Process(kgmi.Dag.paper(5), kgmi.Kernel.paper())
    >>> rows = kgmi.sample(process, 5_000, rng=7)
    >>> certifier = kgmi.Certifier(kernel=process.kernel)
    >>> while not certifier.update(rows[certifier.n_rows :][:100]):
    ...     pass
    >>> certifier.n_rows
    200
    """

    def __init__(self, *, alpha: float = 0.05, patience: float = _PATIENCE, **options: Any) -> None:
        check_alpha(alpha)
        check_patience(patience)
        _check_options(options)
        kernel = options.get("kernel")
        declared = options.get("states") or options.get("n_states") or getattr(kernel, "n_states", None)
        if declared is None or options.get("alphabet", "auto") == "own":
            raise SettingError(
                "rows in batches need their states beforehand, the same for all columns: give states=… or "
                "n_states=…"
            )
        self.alpha, self._patience = alpha, patience
        states, n_states, self._names = (options.pop(name, None) for name in ("states", "n_states", "names"))
        if states is None and n_states is None:
            n_states = declared
        missing = options.pop("missing", "error")
        if missing not in ("error", "pairwise"):
            raise SettingError(f"in batches missing values are an error or left out (pairwise), not {missing!r}")
        self._rules = Rules(states, n_states, missing)
        self._options = options
        self._table: Table | None = None
        self._columns: tuple[str, ...] | None = None  # as the first rows that had names called them
        self._n_counted = 0
        self._stream: Stream | None = None
        self._evidence: dict[int, Evidence] = {}
        self.learned: Learned | None = None
        self.certificate: Certificate | None = None
        self._settled = False

    @property
    def n_rows(self) -> int:
        """Rows so far."""
        return 0 if self._table is None else len(self._table.codes)

    @property
    def is_complete(self) -> bool:
        """Whether everything that can be certified is.

        Where roots cannot be certified (the kernel is learned and they are not told), that is: the graph is the
        same as after the batch before, it has edges, and every node with parents is certified. Never while there
        are nodes that were not looked at.
        """
        if self.certificate is None or self.learned is None or not self.certificate.is_complete:
            return False
        rootless = all(node.certified for node in self.certificate.nodes)
        return rootless or (self._settled and self.learned.dag.n_edges > 0)

    def update(self, rows: Source) -> bool:
        """Take more rows; the result is in ``certificate`` and ``learned``. Says whether all is certain now.

        Rows that nothing can be learned from yet (a column is constant, or no row is complete so far) wait for
        others; ``certificate`` is None so long. Rows that are refused with an error are not kept.
        """
        columns = own_names(rows)
        table = self._joined(as_table(rows, names=self._names, **vars(self._rules)), columns)
        learned: Learned | None = None
        if (table.codes >= 0).all(axis=1).any():
            with suppress(TooFewRowsError):
                learned = learn_and_keep(table, {"missing": self._rules.missing, **self._options})
        certificate = None
        if learned is not None:
            assert learned.witness is not None
            certificate = self._look(learned.witness)
        self._table, self._columns = table, self._columns or columns
        if learned is None:
            return False
        before, self.learned = self.learned, learned
        self._settled = before is not None and before.dag.parents == learned.dag.parents
        self.certificate = certificate
        return self.is_complete

    def _joined(self, batch: Table, columns: tuple[str, ...] | None) -> Table:
        """The rows so far and these, column by column as the first ones."""
        if self._table is None:
            return batch
        n_columns, n_before = batch.codes.shape[1], self._table.codes.shape[1]
        if n_columns != n_before:
            raise DataError(f"these rows have {n_columns} columns, those before {n_before}")
        known = self._columns or self._table.names
        if columns is not None and columns != known:
            raise DataError(
                f"these rows have other columns than those before, or in another order: {', '.join(columns[:8])}; "
                f"give them as before: {', '.join(known[:8])}"
            )
        return Table(np.concatenate([self._table.codes, batch.codes]), self._table.names, self._table.states)

    def _look(self, witness: Witness) -> Certificate:
        codes, known = witness.rows("a certificate"), witness.known()
        if self._stream is None:
            problem = problem_of(witness.data, known, witness.settings)
            self._stream = Stream(problem, _USUAL_ROWS, self._patience, any_block=has_own_law(known))
            self._evidence = {child: self._stream.evidence(child) for child in self._stream.chosen}
        for rows, tables_of in self._stream.pieces(_complete(codes[self._n_counted :])):
            for child, evidence in self._evidence.items():
                evidence.add(rows, tables_of(child))
        self._n_counted = len(codes)
        n_complete = len(_complete(codes))
        return self._stream.certificate(
            {child: evidence.look() for child, evidence in self._evidence.items()},
            witness.dag.parents,
            witness.data.names,
            self.alpha,
            n_complete,
            len(codes) - n_complete,
            "known" if known is not None else "sequential",
        )


def _check_options(options: dict[str, Any]) -> None:
    """Refuse options that there are not, or that do not go with rows in batches."""
    for name in options:
        if name in _WHOLE:
            raise SettingError(f"{name} does not go with rows in batches; use kgmi.certify with all rows")
        if name not in (learn.__kwdefaults__ or {}):
            raise SettingError(f"there is no option {name}; the options are those of kgmi.learn")
    refuse_learned_order(options.get("order"))
    refuse_guide(options.get("guide") or "likelihood")


def _complete(codes: Codes) -> Codes:
    return codes[(codes >= 0).all(axis=1)]
