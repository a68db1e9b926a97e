"""``kgmi theory``: gaps, bounds, mixing and assumptions of a process."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import typer

from kgmi import theory as bounds
from kgmi.attention import best_objective
from kgmi.cli import output
from kgmi.cli.helping import offers
from kgmi.cli.specs import CopiesOption, GraphOption, KernelOption, TunablesOption, process_in_order
from kgmi.exact import exact_joint
from kgmi.guides import scores
from kgmi.process import Process
from kgmi.specs import DIVERGENCE_NAMES, read_divergence
from kgmi.types import Floats, Names

__all__ = ["theory"]


def theory(
    graph: GraphOption = "paper",
    kernel: KernelOption = "paper",
    p: TunablesOption = None,
    copies: CopiesOption = 1,
    divergence: Annotated[
        str, typer.Option(help="Divergence of the scores.", autocompletion=offers(*DIVERGENCE_NAMES))
    ] = "kl",
    eps_attn: Annotated[float, typer.Option(help="ε_attn of theorems 1 and 2.")] = 0.1,
    rate: Annotated[float, typer.Option(help="Rate η of the ascent.")] = 10.0,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Gaps, convergence bounds, mixing and the assumption report, in exact arithmetic.

    Example: kgmi theory --graph paper --kernel paper --eps-attn 0.1

    For readers of the paper: the numbers in its theorems for a graph and a kernel, and which of its assumptions
    hold for them, by how much.
    """
    process, names = process_in_order(graph, copies, kernel, p)
    table = scores(exact_joint(process), process.kernel, read_divergence(divergence))
    numbers = _numbers(process, names, table, eps_attn, rate)
    gaps = bounds.information_gaps(table)
    report = bounds.check_process(process, names)
    if json:
        content = {"numbers": numbers, "gaps": gaps, "assumptions": output.assumption_rows(report)}
        distances = {"marginal_distance": report.marginal_distance, "parent_distance": report.parent_distance}
        output.print_json({"names": names, **content, **distances})
        return
    output.print_table(["quantity", "value"], [[name, f"{value:,.6g}"] for name, value in numbers.items()])
    children = [node for node, parents in enumerate(process.dag.parents) if parents]
    rows = [
        [
            names[node],
            *(f"{gap:.3g}" for gap in gaps[:, node]),
            f"{_column(process, gaps[:, node], node, eps_attn, rate):,.0f}",
        ]
        for node in children[:60]
    ]
    heads = [f"gap Δ of head {head + 1}" for head in range(len(gaps))]
    output.print_table(["node", *heads, "epochs τ (theorem 2)"], rows, title="Columns")
    output.print_assumptions(report)


def _numbers(process: Process, names: Names, table: Floats, eps_attn: float, rate: float) -> dict[str, Any]:
    kernel, dag = process.fixed_kernel(), process.dag
    gap = bounds.information_gap(table, dag)
    largest = float(np.nanmax(table))
    sizes = {"n_heads": len(table), "n_nodes": dag.n_nodes}
    tau = (
        bounds.tau_star(gap=gap, max_information=largest, eps_attn=eps_attn, rate=rate, **sizes)
        if gap > 0
        else np.inf
    )
    return {
        "information gap Δ": gap,
        "largest information I_max": largest,
        "epochs τ* (theorem 1, as printed)": tau,
        "suboptimality bound (theorem 1, as printed)": bounds.suboptimality_bound(
            max_information=largest, eps_attn=eps_attn, estimation_error=0.0
        ),
        "suboptimality bound (theorem 1, repaired)": bounds.repaired_suboptimality_bound(table, dag, eps_attn),
        "optimum L* as printed (non-roots, best parent)": bounds.paper_optimum(table, dag),
        "maximum of the objective (all columns)": best_objective(table),
        "largest sound estimation error Δ/4": gap / 4,
        **_root_numbers(process, names, gap, eps_attn),
        "spectral norm λ": kernel.spectral_norm,
        "spectral gap 1 − λ": kernel.spectral_gap,
        "effective length T_eff": bounds.effective_length(dag, kernel.spectral_norm),
        "lower bound T(1 − λ)/L": bounds.effective_length_bound(dag, kernel.spectral_norm),
        "largest sphere L": bounds.largest_sphere(dag),
        "residual of the stationary law": kernel.stationary_residual,
    }


def _root_numbers(process: Process, names: Names, gap: float, eps_attn: float) -> dict[str, Any]:
    """The bound of theorem 2 for the last root that has candidates, per unit of estimation error."""
    roots = [node for node in process.dag.roots if node > 1]
    if not roots or not 0 < gap < np.inf:
        return {}
    bound = bounds.root_bound(roots[-1], gap=gap, estimation_error=1.0, eps_attn=eps_attn)
    return {f"root bound at {names[roots[-1]]}, per unit of error (theorem 2)": bound}


def _column(process: Process, gaps: Floats, node: int, eps_attn: float, rate: float) -> float:
    """Epochs of the slowest head of a node."""
    sizes = {"n_heads": len(gaps), "n_nodes": process.n_nodes}
    smallest = float(gaps.min())
    if smallest <= 0:
        return float("inf")
    return bounds.column_epochs(node, gap=smallest, eps_attn=eps_attn, rate=rate, **sizes)
