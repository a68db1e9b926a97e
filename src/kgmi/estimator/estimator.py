"""``KGMI``: the learner in the shape of a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, DensityMixin

from kgmi.certify import Certificate, NodeCertificate
from kgmi.counting import Counts
from kgmi.errors import TooFewRowsError
from kgmi.estimator.cells import Cells
from kgmi.estimator.intake import take_cells
from kgmi.estimator.kept import check_counted, followed_by
from kgmi.estimator.labels import as_labels
from kgmi.estimator.options import check_unchanged, generator, most_parents, plain_choices
from kgmi.estimator.reader import Reader
from kgmi.estimator.reading import check_filled_columns, read_first, warn_of_bins
from kgmi.estimator.results import Results, Waiting
from kgmi.learning import certify, learn
from kgmi.model import Model
from kgmi.types import Codes, Floats

__all__ = ["KGMI"]

# Options that kgmi.learn is not told, or not as they are.
_OURS = ("n_parents", "missing", "alphabet", "states", "bins", "random_state")


class KGMI(Results, DensityMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Learn a directed acyclic graph, and a law of rows, from a table of discrete data.

    Columns are nodes; parents stand before their children, or in an earlier tier. The work is done by
    :func:`kgmi.learn`, where the options are described in full.

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
        Price of the parameters of learned kernels, and who shares one.
    classes
        Which columns share kernels, where that is known: {column: class}, a class for every column, or groups of
        columns.
    error
        Share of readings that are random instead; ``estimate`` with a known kernel.
    missing
        What a missing value (NaN, None, and -1 in an array of numbers) is: ``error``, ``category`` (a state) or
        ``pairwise`` (left out of the counts that need it).
    alphabet
        ``shared``: all columns have the same states, all that occur; ``own``: each has its own; ``auto``: columns
        over one set of values share it, the others have their own.
    states
        The states of all columns, in their order. Numbers in the rows are states of that name where the declared
        states are numbers, and positions in the list otherwise. By default: what occurs, and the categories of
        categorical columns; with a known kernel, whole numbers from 0 are codes.
    order
        ``given``: parents stand before their children; ``learn``: the order is found too; or the columns in another
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

    def fit(self, X: Any, y: Any = None) -> KGMI:
        """Learn from rows, and from nothing else.

        Parameters
        ----------
        X
            Rows: an array or lists of whole numbers, truth values or texts, or a data frame (pandas, polars,
            PyArrow).
        y
            Not used.
        """
        self._waiting = None  # fit begins anew
        return self._learn_first(take_cells(self, X, reset=True, least_rows=2))

    def partial_fit(self, X: Any, y: Any = None) -> KGMI:
        """Learn from these rows and all that came before, in earlier calls or in :meth:`fit`.

        The result is that of one :meth:`fit` on all rows, given the same states and bins. Rows that are too few yet
        (a column has no values or only one) are kept until others join them; so long the estimator is not fitted.
        The first rows that are enough decide on the alphabet, unless ``states`` or categories declare it, and on
        the bins; a new state in later rows is an error, and so are other ``states``, ``missing``, ``alphabet`` or
        ``bins`` than before.

        The codes of the rows are kept, a byte for each cell, up to 64 MB. Beyond that only counts of all sets of
        K + 1 columns are, which do not grow with the rows: the graph, the kernels and the scores stay the same, but
        :attr:`certificates_` need somewhat more rows, two of the :attr:`checks_` look at the first ones only, and K
        cannot be raised any more. With ``missing='pairwise'``, and where the counts would take more than 128 MB
        (hundreds of columns, or many states), the codes of all rows are kept, and memory grows with them.

        Parameters
        ----------
        X
            Rows, as in :meth:`fit`.
        y
            Not used.
        """
        if hasattr(self, "learned_"):
            check_unchanged(getattr(self, "_read_as", None), self._choices())
            rows = self._reader.codes(take_cells(self, X, reset=False))
            n_parents, _ = self._most_parents(self._reader)
            return self._learn(self._reader, followed_by(self._reader, self._kept, rows, n_parents or 2))
        waiting = self._waiting
        new = take_cells(self, X, reset=waiting is None)
        cells = new.followed_by(None) if waiting is None else waiting.cells.followed_by(new)
        try:
            return self._learn_first(cells)
        except TooFewRowsError as error:
            check_filled_columns(cells, **self._choices())
            self._waiting = Waiting(cells, str(error))
        return self

    def score_samples(self, X: Any) -> Floats:
        """[row]: log-likelihood of each row, in nats; missing values are left out of it.

        Parameters
        ----------
        X
            Rows with the states of the fit; others are an error.
        """
        order = list(self._fitted().order)
        return self._model().log_likelihood(self._reader.codes(take_cells(self, X, reset=False))[:, order])

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood of a row, in nats: the higher the better, for any number of parents.

        Parameters
        ----------
        X
            Rows that were not learned from.
        y
            Not used.
        """
        return float(self.score_samples(X).mean())

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Any:
        """New rows from what was learned, in a table like the one that was learned from.

        Columns stand in the order of the input. A data frame comes back as one of the same library, with the
        categories that it had (with texts, where columns share states that are none of their categories); an array
        has truth values, whole numbers or floats where all columns do, and Python objects otherwise. A column of
        measurements has the medians of its bins.

        Parameters
        ----------
        n_samples
            Number of rows.
        random_state
            Seed or generator; by default that of the estimator.
        """
        self._fitted()
        rng = generator(self.random_state if random_state is None else random_state)
        codes = self._model().sample(n_samples, rng)
        return as_labels(self._reader, codes[:, self._node_of()])

    def _choices(self) -> dict[str, Any]:
        """How rows are read."""
        sized = None if self.states is not None else getattr(self.kernel, "n_states", None)
        names = ("states", "missing", "alphabet", "bins")
        return {"n_states": sized} | {name: getattr(self, name) for name in names}

    def _learn_first(self, cells: Cells) -> KGMI:
        """Learn from rows that decide on how all later ones are read."""
        choices = self._choices()
        reader, codes = read_first(cells, **choices)
        self._learn(reader, codes)
        self._waiting, self._read_as = None, plain_choices(choices)
        warn_of_bins(reader)
        return self

    def _learn(self, reader: Reader, rows: Codes | Counts) -> KGMI:
        """Learn from all codes, or from counts of them; the estimator changes only when that succeeds."""
        n_parents, notes = self._most_parents(reader)
        if isinstance(rows, Counts):
            check_counted(rows, n_parents)
        source = rows if isinstance(rows, Counts) else reader.table(rows)
        learned = learn(source, n_parents=n_parents, **self._learning())
        self._reader, self._kept, self._notes, self.learned_ = reader, rows, (*reader.sentences, *notes), learned
        return self

    def _most_parents(self, reader: Reader) -> tuple[int | None, list[str]]:
        """K, which a kernel may tell, with a sentence where that is less than was asked for."""
        asked = getattr(self.kernel, "n_parents", None) if self.n_parents is None else self.n_parents
        return most_parents(asked, len(reader.features), kernel_is_known=self.kernel is not None)

    def _learning(self) -> dict[str, Any]:
        """Options that are those of kgmi.learn."""
        return {name: value for name, value in self.get_params(deep=False).items() if name not in _OURS}

    @property
    def certificates_(self) -> dict[str, NodeCertificate]:
        """What is certain about the parents of every column at α = 0.05; made when first looked at.

        For another α, ``learned_.certify(alpha)``; for how to read it, docs/certificates.md.
        """
        learned = self._fitted()
        certificate = vars(learned).get("certificate")
        if certificate is None:
            certificate = learned.certificate if learned.witness is not None else self._certify()
            vars(learned)["certificate"] = certificate
        found = {node.name: node for node in certificate.nodes}
        return {feature.name: found[feature.name] for feature in self._reader.features}

    def _certify(self) -> Certificate:
        """The certificate of rows that the result did not keep."""
        rows = self._kept if isinstance(self._kept, Counts) else self._reader.table(self._kept)
        return certify(rows, n_parents=self.learned_.n_heads, **self._learning())

    def _model(self) -> Model:
        model = self._fitted().model
        assert model is not None  # it is None for statistics of pairs only, and here there are rows
        return model

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "learned_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = isinstance(self.missing, str) and self.missing in ("pairwise", "category")
        return tags
