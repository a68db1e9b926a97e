"""``KGMI``: the learner as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin, OneToOneFeatureMixin
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.utils.validation import check_is_fitted

from kgmi.alphabets import Coded, Rules, Seen, whole_number
from kgmi.certify import NodeCertificate
from kgmi.checks import Check
from kgmi.counts.counted import FIRST_ROWS, CountedTable, added
from kgmi.counts.tally import Tallier, tally_bytes
from kgmi.errors import SettingError, TooFewRowsError
from kgmi.estimator.columns import Coding, first_coding, take_rows
from kgmi.kernel import AnyKernel
from kgmi.learning import Learned, certify, learn
from kgmi.model import Model
from kgmi.table import Batch
from kgmi.types import Attention, Codes, Floats, Ints, ScoreTable

if TYPE_CHECKING:
    import networkx

__all__ = ["KGMI", "MOST_BYTES"]

MOST_BYTES = 64_000_000
"""Of codes that are kept; where there are more, counts are kept instead."""

_MOST_COUNTED = 128_000_000  # bytes of counts that are kept instead of codes

# Options that kgmi.learn does not have, or has in another form.
_OURS = ("n_parents", "missing", "alphabet", "states", "bins", "random_state")


class KGMI(OneToOneFeatureMixin, DensityMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Learn a directed acyclic graph and a distribution of rows from a table of discrete data.

    Columns are nodes; parents come before their children, or are in an earlier tier. The options are those of
    :func:`kgmi.learn`, where they are described in full.

    Parameters
    ----------
    n_parents
        K, the most parents of a node (no more than the columns allow); None takes that of the kernel, or 2.
    kernel
        The shared :class:`kgmi.Kernel`, where it is known; it is learned otherwise.
    guide, search
        What scores candidates, and how the parents of a child are searched for jointly.
    in_degree
        ``mixed`` (0..K parents) or ``uniform`` (none or K); by default mixed when the kernel is learned.
    penalty, share
        Price of the parameters of learned kernels, and which columns share one.
    classes
        Which columns share kernels, where that is known: {column: class}, a class for every column, or groups of
        columns.
    error
        Share of values that are replaced by random ones; ``estimate`` with a known kernel.
    missing
        What a missing value (NaN, None, and -1 in an array) is: ``error``, ``category`` (a state) or ``pairwise``
        (left out of the counts that need it). With ``error``, -1 is a state.
    alphabet
        ``shared``: all columns have the same states, all that occur; ``own``: each has its own; ``auto``: columns
        over one set of values share it, the others have their own.
    states
        The states of all columns, in their order. Numbers in the rows are states of that name where the declared
        states are numbers, and positions in the list otherwise. By default: what occurs, and the categories of
        categorical columns; with a known kernel, whole numbers from 0 are codes.
    order
        ``given``: parents come before their children; ``learn``: the order is found too; or the columns in another
        order.
    forbidden, required, tiers, max_lag
        Which edges can be there: (parent, child) by name or column number, generations, and how far back.
    solver, smoothing
        ``ascent`` or its ``limit``; pseudo-rows.
    memory_limit
        The most memory that a fit may take, in bytes or as a text like ``2GB``; with the same result.
    bins
        Into how many bins columns of numbers that are not whole are cut, at the quantiles of the first rows. A
        warning names them. None refuses them. Scores with different bins cannot be compared.
    random_state
        Seed or generator of :meth:`sample`; learning has no randomness.

    Attributes
    ----------
    parents_
        Names of the parents of every column. Columns of arrays are called x0, x1, ….
    causal_graph_
        The graph as a :class:`networkx.DiGraph`.
    adjacency_matrix_
        [parent, child] in the order of the columns.
    attention_, scores_
        [head, child, candidate] in the order of the columns.
    kernel_, kernels_
        The kernel of the columns with the most parents, or None, and all kernels.
    certificates_
        What is certain about the parents of every column, made when first looked at.
    checks_
        Whether one kernel, K parents and independent rows are enough, made when first looked at.
    status_
        Full sentences on how the fit ended and what to beware of.
    learned_
        The full result, a :class:`kgmi.Learned`; its nodes are in the order of the tiers, if there are any.
    n_features_in_, feature_names_in_
        Number of columns, and their names where they are texts.

    Examples
    --------
    >>> import kgmi
    >>> process = kgmi.Process(kgmi.Dag.paper(10), kgmi.Kernel.paper())
    >>> rows = kgmi.sample(process, 2_000, rng=1)
    >>> model = kgmi.KGMI(n_parents=2).fit(rows[:1_500])
    >>> model.parents_["x9"]
    ('x0', 'x6')
    >>> print(f"{model.score(rows[1_500:]):.1f} nats per row")
    -10.2 nats per row
    """

    def __init__(
        self,
        n_parents: Any = 2,
        *,
        kernel: Any = None,
        guide: Any = None,
        search: Any = "auto",
        in_degree: Any = None,
        penalty: Any = "nml",
        share: Any = "auto",
        classes: Any = None,
        error: Any = 0.0,
        missing: Any = "error",
        alphabet: Any = "auto",
        states: Any = None,
        order: Any = "given",
        forbidden: Any = None,
        required: Any = None,
        tiers: Any = None,
        max_lag: Any = None,
        solver: Any = "ascent",
        smoothing: Any = 1.0,
        memory_limit: Any = None,
        bins: Any = 4,
        random_state: Any = None,
    ) -> None:
        self.n_parents = n_parents
        self.kernel = kernel
        self.guide = guide
        self.search = search
        self.in_degree = in_degree
        self.penalty = penalty
        self.share = share
        self.classes = classes
        self.error = error
        self.missing = missing
        self.alphabet = alphabet
        self.states = states
        self.order = order
        self.forbidden = forbidden
        self.required = required
        self.tiers = tiers
        self.max_lag = max_lag
        self.solver = solver
        self.smoothing = smoothing
        self.memory_limit = memory_limit
        self.bins = bins
        self.random_state = random_state

    _waiting: tuple[Batch, ...] = ()  # too few to learn from yet
    _why = ""

    def fit(self, X: Any, y: Any = None) -> KGMI:
        """Learn from the rows X only; y is not used.

        Rows are an array or lists of whole numbers, truth values or texts, or a data frame (pandas, polars, Arrow).
        """
        self._waiting = ()
        return self._learn_first((take_rows(self, X, reset=True, least_rows=2),))

    def partial_fit(self, X: Any, y: Any = None) -> KGMI:
        """Learn from the rows X and all that came before, in earlier calls or in :meth:`fit`; y is not used.

        The result is that of one :meth:`fit` on all rows, given the same states and bins. As long as the rows are
        too few (a column has no values or only one), they are kept and the estimator is not fitted. The first rows
        that are enough decide on the alphabet, unless ``states`` or categories declare it, and on the bins; a new
        state in later rows is an error, and so are other ``states``, ``missing``, ``alphabet`` or ``bins``.

        The codes of the rows are kept, a byte for each cell, up to 64 MB. Beyond that only counts of all sets of
        K + 1 columns are kept, which do not grow with the rows: the graph, the kernels and the scores stay the
        same, but :attr:`certificates_` need somewhat more rows, two of the :attr:`checks_` look at the first rows
        only, and K cannot be raised any more. With ``missing='pairwise'``, and where the counts would take more
        than 128 MB (hundreds of columns, or many states), the codes of all rows are kept.
        """
        if hasattr(self, "learned_"):
            coding = self._coding
            self._check_unchanged(coding)
            codes = coding.codes(take_rows(self, X, reset=False))
            return self._learn(coding, _followed_by(coding, self._kept, codes, self._most_parents(coding)[0] or 2))
        rows = take_rows(self, X, reset=not self._waiting)
        try:
            return self._learn_first((*self._waiting, rows))
        except TooFewRowsError as error:
            self._waiting, self._why = (*self._waiting, deepcopy(rows)), str(error)
        return self

    def score_samples(self, X: Any) -> Floats:
        """Return the log-likelihood of each row in nats, without missing values; new states are an error."""
        return self._model().log_likelihood(self._coding.codes(take_rows(self, X, reset=False)))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log-likelihood of a row in nats: the higher the better, for any number of parents."""
        return float(self.score_samples(X).mean())

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Any:
        """Draw rows from what was learned, as a table like the one that was learned from.

        Columns have the order of the input. A data frame comes back as one of the same library, with the categories
        that it had (with texts, where columns share states that are none of their categories); an array has truth
        values, whole numbers or floats where all columns do, and Python objects otherwise. A column of measurements
        has the medians of its bins. ``random_state`` is a seed or generator, by default that of the estimator.
        """
        self._fitted()
        seed = self.random_state if random_state is None else random_state
        if isinstance(seed, np.random.RandomState):
            seed = seed.randint(2**31, size=4)
        codes = self._model().sample(n_samples, np.random.default_rng(seed))
        return self._coding.rows(codes)

    @property
    def parents_(self) -> dict[str, tuple[str, ...]]:
        """Names of the parents of every column."""
        parents = self._fitted().parents
        return {name: parents[name] for name in self._coding.empty.names}

    @property
    def causal_graph_(self) -> networkx.DiGraph[Any]:
        """The graph, with the names of the columns as nodes and edges from parents to children."""
        import networkx as nx

        parents = self.parents_
        graph: networkx.DiGraph[Any] = nx.DiGraph()
        graph.add_nodes_from(parents)
        graph.add_edges_from((parent, child) for child, chosen in parents.items() for parent in chosen)
        return graph

    @property
    def adjacency_matrix_(self) -> Ints:
        """[parent, child]: 1 for an edge."""
        return self._fitted().dag.matrix_parent_child()

    @property
    def attention_(self) -> Attention:
        """[head, child, candidate]: the final attention."""
        return self._fitted().attention

    @property
    def scores_(self) -> ScoreTable:
        """[head, child, candidate]: the score that the guide gives to every candidate, NaN where it is none."""
        return self._fitted().scores

    @property
    def kernel_(self) -> AnyKernel | None:
        """The kernel of the columns with the most parents; None where these do not share one."""
        return self._fitted().kernel

    @property
    def kernels_(self) -> tuple[Any, ...]:
        """All kernels with their counts and standard errors; their children are nodes of ``learned_``."""
        return self._fitted().kernels

    @property
    def checks_(self) -> tuple[Check, ...]:
        """Whether one kernel, K parents and independent rows are enough for these data; made when first used."""
        return self._fitted().checks

    @property
    def certificates_(self) -> dict[str, NodeCertificate]:
        """What is certain about the parents of every column at α = 0.05 (``learned_.certify`` for another α)."""
        learned = self._fitted()
        certificate = vars(learned).get("certificate")
        if certificate is None and learned.witness is None:  # the result does not keep so many rows
            kept = self._kept
            rows = kept if isinstance(kept, CountedTable) else self._coding.table(kept)
            certificate = certify(rows, n_parents=learned.n_heads, **self._learning())
            vars(learned)["certificate"] = certificate
        found = {node.name: node for node in learned.certificate.nodes}
        return {name: found[name] for name in self._coding.empty.names}

    @property
    def status_(self) -> str:
        """Full sentences on how the rows were read, how the fit ended and what to beware of."""
        status = self._fitted().status
        return " ".join(filter(None, [*self._notes, status]))

    def _rules(self) -> Rules:
        """Return how cells are read; declared states may be whole numbers too."""
        states: Any = self.states
        if isinstance(states, Iterable) and not isinstance(states, str):
            states = tuple(
                one if isinstance(one, bool) or not isinstance(one, Integral) else str(one) for one in states
            )
        n_states = getattr(self.kernel, "n_states", None) if states is None else None
        return Rules(states, n_states, self.missing, self.alphabet)

    def _check_unchanged(self, coding: Coding) -> None:
        """Refuse to read further rows in another way than the first."""
        then, now = {"bins": coding.n_bins, **vars(coding.rules)}, {"bins": self.bins, **vars(self._rules())}
        changed = [name for name in then if then[name] != now[name]]
        if changed:
            name = changed[0]
            raise SettingError(
                f"{name} is {now[name]!r}, but the first rows were read with {name}={then[name]!r}; set it back, "
                "or give all rows to fit"
            )

    def _learn_first(self, batches: tuple[Batch, ...]) -> KGMI:
        """Learn from rows that decide on how all later ones are read."""
        from warnings import warn

        n_bins = None if self.bins is None else whole_number("bins", self.bins, least=2)
        coding, codes = first_coding(batches, self._rules(), n_bins)
        self._learn(coding, codes)
        self._waiting = ()
        if coding.note:
            advice = "Cut them yourself, or refuse them with bins=None."
            warn(f"{coding.note} {advice}", DataConversionWarning, stacklevel=3)
        return self

    def _learn(self, coding: Coding, rows: Codes | CountedTable) -> KGMI:
        """Learn from all codes, or from counts of them; the estimator changes only when that succeeds."""
        n_parents, note = self._most_parents(coding)
        if isinstance(rows, CountedTable) and (n_parents or 0) > rows.n_parents:  # the option was changed
            raise SettingError(
                f"{n_parents} parents need the rows again: of the {rows.n_rows:,} rows so far only counts for up "
                f"to {rows.n_parents} parents were kept; fit anew"
            )
        source = rows if isinstance(rows, CountedTable) else coding.table(rows)
        learned = learn(source, n_parents=n_parents, **self._learning())
        self._coding, self._kept, self._notes, self.learned_ = coding, rows, (coding.note, note), learned
        return self

    def _most_parents(self, coding: Coding) -> tuple[int | None, str]:
        """Return K as far as the columns allow, None for any, and a sentence where that is less than asked for."""
        asked = getattr(self.kernel, "n_parents", None) if self.n_parents is None else self.n_parents
        if asked is None:
            return None, ""
        n_parents, most = whole_number("n_parents", asked), len(coding.empty.names) - 1
        if self.kernel is not None or n_parents <= most:
            return n_parents, ""
        return most, f"With {most + 1} columns a node has {most} parents at most, not {n_parents}."

    def _learning(self) -> dict[str, Any]:
        """Return the options that are those of kgmi.learn."""
        return {name: value for name, value in self.get_params(deep=False).items() if name not in _OURS}

    def _fitted(self) -> Learned:
        """Return the result; the usual error of scikit-learn where there is none yet."""
        if self._waiting:
            n_rows = sum(map(len, self._waiting))
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet: {n_rows:,} row{'s' * (n_rows != 1)} came "
                f"so far, which cannot be learned from yet ({self._why}). Go on with partial_fit"
            )
        check_is_fitted(self, "learned_")
        return self.learned_

    def _model(self) -> Model:
        model = self._fitted().model
        assert model is not None  # it is None for statistics of pairs only
        return model

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "learned_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = isinstance(self.missing, str) and self.missing in ("pairwise", "category")
        return tags


def _followed_by(
    coding: Coding, before: Codes | CountedTable, codes: Codes, n_parents: int
) -> Codes | CountedTable:
    """Return all rows: their codes, or counts for so many parents where the codes would take too much memory.

    Rows with missing values that are left out of counts are kept, as counts do not replace them, and so are rows
    that take less memory than their counts.
    """
    if isinstance(before, CountedTable):
        return added(before, _counted(coding, codes, before.part.width))
    sizes, width = coding.empty.sizes, min(n_parents + 1, codes.shape[1])
    needed = tally_bytes(sizes, width)
    fits = before.nbytes + codes.nbytes <= max(MOST_BYTES, needed)
    if fits or needed > _MOST_COUNTED or coding.rules.missing == "pairwise":
        return np.concatenate([before, codes])
    return added(_counted(coding, before, width), _counted(coding, codes, width))


def _counted(coding: Coding, codes: Codes, width: int) -> CountedTable:
    """Return the counts of rows in which no value is missing; one state may stand for missing values."""
    table = coding.empty
    seen = tuple(Seen(states, (states,)) for states in table.column_states)
    rules = Rules(missing=coding.rules.missing, alphabet="own" if table.own_alphabets else "shared")
    tallier = Tallier(table.sizes, width)
    tallier.add(codes.T)
    first = Coded(codes[:FIRST_ROWS].T.copy(), seen)
    return CountedTable(table.names, rules, seen, tallier.tally(), first=((0, first),))
