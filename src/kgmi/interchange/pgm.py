"""A result as a model of pgmpy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kgmi.errors import SettingError
from kgmi.interchange.laws import laws_of
from kgmi.learning import Learned

if TYPE_CHECKING:
    from pgmpy.models import DiscreteBayesianNetwork

__all__ = ["to_pgmpy"]


def to_pgmpy(learned: Learned) -> DiscreteBayesianNetwork:
    """The result as pgmpy's ``DiscreteBayesianNetwork``, with every table filled and states by name.

    Nodes keep their names and order. Roots that are drawn together have edges among them, as only so a network can
    say it: ``model.given`` of the result lists them. Needs the extra ``pgm``.

    Examples
    --------
    >>> model = to_pgmpy(learned)  # doctest: +SKIP
    >>> VariableElimination(model).query(["wet"], evidence={"rain": "much"})  # doctest: +SKIP
    """
    laws = laws_of(learned)
    try:
        from pgmpy.factors.discrete import TabularCPD
        from pgmpy.models import DiscreteBayesianNetwork
    except ImportError:
        raise SettingError(
            "a pgmpy model needs pgmpy, which is not installed; install the extra pgm: pip install 'kgmi[pgm]'"
        ) from None
    names = laws.names
    network: Any = DiscreteBayesianNetwork()
    network.add_nodes_from(names)
    tables = []
    for node, (given, table) in enumerate(zip(laws.model.given, laws.model.tables, strict=True)):
        network.add_edges_from((names[other], names[node]) for other in given)
        states = {names[one]: list(laws.alphabets[one]) for one in (node, *given)}
        tables.append(
            TabularCPD(
                names[node],
                table.shape[-1],
                # pgmpy wants [state, configuration], the last parent fastest: the axes of ours, the state in front
                table.reshape(-1, table.shape[-1]).T,
                evidence=[names[other] for other in given],
                evidence_card=[len(laws.alphabets[other]) for other in given],
                state_names=states,
            )
        )
    network.add_cpds(*tables)
    return network
