"""The ledger: every numbered or named statement of the paper, with its code, its trial, a verdict and a repair.

Sections and numbers are those that the LaTeX source of the paper prints: theorems IV.1 to IV.3 are theorems 1 to 3,
the assumptions II.1 and III.1 are assumptions 1 and 2, and lemmas of appendix B, C and D carry its letter.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["LEDGER", "Example", "Statement", "Verdict", "count_verdicts", "statement"]

Verdict: TypeAlias = Literal["holds", "holds where", "fails", "cannot be tested"]


@dataclass(frozen=True)
class Example:
    """A counter-example: ``measured`` should be at most ``bound``, and is not.

    ``name`` is its key in :data:`kgmi.theory.examples.EXAMPLES`, which recomputes both figures.
    """

    name: str
    text: str
    measured: float
    bound: float


@dataclass(frozen=True)
class Statement:
    """One statement of the paper.

    Attributes
    ----------
    key
        A word for code; ``number`` and ``title`` are for readers.
    says
        The statement in our words.
    code
        Dotted names of what computes it.
    tried
        Tests (``module::function``) and experiments (``kgmi reproduce …``) that try it.
    verdict
        ``holds``; ``holds where`` a condition is met that the paper does not state; ``fails`` as printed;
        ``cannot be tested``.
    where
        That condition, or why it cannot be tested.
    proof
        Where the printed proof breaks, or what it leaves open; empty where we found no gap.
    repair
        What holds instead, with its reason; empty where there is nothing to repair.
    examples
        Counter-examples, the smallest first.
    """

    key: str
    number: str
    title: str
    says: str
    code: tuple[str, ...]
    tried: tuple[str, ...]
    verdict: Verdict
    where: str = ""
    proof: str = ""
    repair: str = ""
    examples: tuple[Example, ...] = ()


_THEOREMS = "kgmi reproduce theorems"
_FLIP = "P(1 | s_1, s_2) = .8 + .1 s_1 − .7 s_2, two states, μ_π = (½, ½)"
_THREE = "two roots and their child (T = 3)"
_FOUR = "nodes 1 to 4 with parents 3: (1, 2), 4: (1, 3)"
_PAPER = "the paper's 10-node graph and kernel, p = 0"
_CONDITION = "every node follows μ_π and P(S_i, S_p(i)^ℓ) = μ_π π^ℓ, as in an order-K Markov chain or a tree"

LEDGER: tuple[Statement, ...] = (
    Statement(
        "generation",
        "Section II-A",
        "Generation of random sequences",
        "Roots that are the K parents of a node are drawn together from M_π, every other node from its parents by "
        "the "
        "kernel π, which is itself drawn from P_Π for every sequence.",
        ("kgmi.Process", "kgmi.sample", "kgmi.exact_joint"),
        ("test_exact::test_the_exact_joint_is_that_of_the_full_table",),
        "holds",
        proof="Step 2 reads «Else, i is not a parent node»; a node with parents is meant.",
    ),
    Statement(
        "assumption-1",
        "Assumption II.1",
        "Distinct marginal kernels",
        "The marginal kernels π^1, …, π^K of every kernel in the support of P_Π are distinct.",
        ("kgmi.Kernel.marginal_kernels", "kgmi.Kernel.has_distinct_marginals"),
        ("test_kernel_marginals::test_equal_marginal_kernels_are_noticed",),
        "holds where",
        where="parents do not play the same role: a kernel that is symmetric in its parents, such as Mendel's "
        "law, has "
        "π^1 = π^2.",
        proof="No proof uses it. It does not make the gap Δ positive, which every theorem needs.",
        repair="Assume Δ > 0 in its place. It can be computed: kgmi.theory.information_gap.",
        examples=(
            Example(
                "no-positive-gap",
                "Order-2 chain of 4 nodes, P(1 | s_1, s_2) = .1 + .8 s_1: the marginal kernels differ by .4, and "
                "Δ = 0",
                0.4,
                0.0,
            ),
        ),
    ),
    Statement(
        "definition-head",
        "Definition II.1",
        "Causal self-attention head",
        "attn = W_V E softmax(Mask((W_K E)ᵀ W_Q E)), softmax by column; the mask keeps the entries (j, i) with j "
        "< i.",
        ("kgmi.embedded.EmbeddedHead",),
        ("test_embedded::test_a_head_is_the_transposed_masked_softmax_whatever_the_sequence",),
        "holds",
        proof="Column 1 has no entry that is kept, so its softmax is not defined; kgmi takes zeros.",
    ),
    Statement(
        "embedding",
        "Section II-B",
        "Embeddings",
        "E stacks the one-hot state over the one-hot position of every node: (S + T) × T.",
        ("kgmi.embedded.EmbeddedHead",),
        ("test_embedded::test_a_head_is_the_transposed_masked_softmax_whatever_the_sequence",),
        "holds",
    ),
    Statement(
        "reparameterization",
        "Section II-B",
        "Reparameterization",
        "With W_KQ zero outside its block Q^ℓ and W_V E = I, attn^ℓ = softmax(Mask(Q^ℓ)), whatever the sequence.",
        ("kgmi.attention.masked_softmax", "kgmi.embedded.EmbeddedHead"),
        ("test_embedded::test_a_head_is_the_transposed_masked_softmax_whatever_the_sequence",),
        "holds",
    ),
    Statement(
        "definition-f",
        "Definition III.1",
        "f-divergence and f-mutual information",
        "D_f(P‖Q) = Σ Q f(P/Q) for convex f with f(1) = 0, and I_f(S_i; S_j) = E_Π D_f(P_ij ‖ P_i ⊗ P_j).",
        ("kgmi.Divergence.between", "kgmi.scores"),
        ("test_guides::test_scores_are_the_formulas_of_the_paper_cell_by_cell",),
        "holds",
        proof="The printed sum has P_j(s) where P_j(s') is meant.",
    ),
    Statement(
        "tree-principle",
        "Section III-A",
        "The parent has the largest mutual information",
        "By data processing, the node with which i shares the largest f-mutual information is its parent.",
        ("kgmi.scores",),
        (_THEOREMS, "test_chow_liu::test_on_rows_from_a_tree_the_edges_are_those_of_chow_and_liu"),
        "holds where",
        where="the graph is a tree (K = 1): every earlier node is independent of i given its one parent. With two "
        "parents "
        "either of them may carry no information alone (XOR).",
    ),
    Statement(
        "head-collapse",
        "Section III-B",
        "Head collapse",
        "With plain f-mutual information all heads have one objective, and learn one and the same parent.",
        ("kgmi.learn",),
        ("kgmi reproduce collapse", "test_learning::test_plain_information_collapses_both_heads_onto_one_parent"),
        "holds",
    ),
    Statement(
        "definition-kgmi",
        "Definition III.2",
        "Kernel-guided mutual information",
        "Ĩ^ℓ(S_i; S_j) = E_Π Σ P_j(s) π^ℓ(s'|s) (P_i P_j / P_ij) f(P_ij / (P_i P_j)).",
        ("kgmi.scores",),
        ("test_guides::test_scores_are_the_formulas_of_the_paper_cell_by_cell",),
        "holds",
        proof="It depends on the form of f: f and f + c (x − 1) have the same divergence and other KG-MI. The "
        "paper writes "
        "out KL (x log x) and Pearson (x² − x) only.",
    ),
    Statement(
        "no-loss",
        "Section III-C",
        "No loss in optimality",
        "The maximum of the objective is L* = 1/(KT) Σ_ℓ Σ over non-roots of the KG-MI of the best parent, also "
        "without "
        "the reparameterization.",
        ("kgmi.theory.paper_optimum", "kgmi.attention.best_objective"),
        (_THEOREMS, "test_attention::test_no_attention_beats_the_best_objective"),
        "fails",
        proof="The attention of a root sums to 1 too, and roots that are drawn together do not score 0; the best "
        "candidate "
        "need not be a parent. (The printed arg max runs over [K]; parents are meant.)",
        repair="The maximum is the sum over all columns of the best candidate, kgmi.attention.best_objective: L "
        "is linear in "
        "the attention, and each column is a simplex of its own, with or without the reparameterization. It is L* "
        "where "
        "roots score 0 and the best candidate of every head is a parent.",
        examples=(
            Example("loss-in-optimality", f"{_THREE}, {_FLIP}: L* against the maximum of L", 0.0949092, -0.0367714),
            Example("loss-on-paper-graph", f"{_PAPER}: L* against the maximum of L", 0.0111543, 0.0107518),
        ),
    ),
    Statement(
        "assumption-2",
        "Assumption III.1",
        "A reliable estimate exists",
        "For every ε > 0 enough sequences give an estimate of KG-MI within ε.",
        ("kgmi.scores", "kgmi.labelled_scores", "kgmi.certify.concentration.information_error"),
        (
            "test_certify_bootstrap::test_the_bound_on_the_error_of_the_information_holds",
            "test_labelled::test_the_reweighted_form_converges_to_chi2_kg_mi_and_the_others_do_not",
        ),
        "holds where",
        where="P_Π is a point mass and the pair laws are positive: KG-MI is then a continuous function of laws "
        "that rows "
        "estimate. The printed estimator for χ² does not satisfy it (lemma C.1). With a random kernel one "
        "sequence shows "
        "one draw of each pair, and whether an estimate exists we do not know.",
    ),
    Statement(
        "algorithm-1",
        "Algorithm 1",
        "Gradient ascent from Q = 0",
        "Estimate KG-MI, start from Q = 0, take τ steps of the estimated gradient with a constant rate η.",
        ("kgmi.ascend",),
        ("test_ascent::test_ascent_is_a_plain_loop_over_columns", "kgmi reproduce heatmaps"),
        "holds",
    ),
    Statement(
        "theorem-1",
        "Theorem IV.1",
        "Convergence of the objective (theorem 1)",
        "With ε < Δ/4 and t ≥ τ* = 4KT I_max log(I_max/ε_attn)/(ε_attn η Δ) + 4KT² log T/(η Δ): "
        "L* − L(t) ≤ max(I_max ε_attn, ε).",
        ("kgmi.theory.tau_star", "kgmi.theory.suboptimality_bound", "kgmi.theory.repaired_suboptimality_bound"),
        (_THEOREMS, "test_theorems::test_theorem_1_repaired"),
        "fails",
        proof="Three steps. The terms −Ĩ(S_i; S_j) attn_j of other candidates are dropped as if they were "
        "negative, but "
        "KG-MI can be negative (44 of the 90 scores of the paper's graph). τ* was got by putting ε_attn/I_max for "
        "ε_attn "
        "into the epochs of theorem 2 (a commented-out lemma has these), which is right for the bound max(ε_attn, "
        "ε), not "
        "for the printed one, and is too few epochs where I_max < 1. The columns of roots are taken to score 0.",
        repair="After the epochs of theorem 2 for the last node with the gap Δ, the loss over non-root columns is "
        "at most "
        "(n/T) D ε_attn: n the number of nodes with parents, D the largest range, best minus worst score, of "
        "their columns. "
        "Proof: theorem 2 leaves each such column at most ε_attn of attention off its best candidate, and that "
        "costs at "
        "most D. D ≤ I_max − min Ĩ.",
        examples=(
            Example(
                "negative-scores",
                "Chain of 3 nodes, cyclic kernel of 3 states with slip 1e-30, exact scores, η = .001: loss after "
                "τ*, "
                "ε_attn = .5, against I_max ε_attn",
                0.675677,
                0.549306,
            ),
            Example(
                "negative-scores-longer",
                "The same after the epochs of theorem 2, ε_attn = .3",
                0.447719,
                0.329584,
            ),
            Example(
                "too-few-epochs",
                "Chain of 3 nodes, two states that change with probability .6, exact scores, η = 10: loss after "
                "τ*, "
                "ε_attn = .01, against I_max ε_attn",
                0.000299842,
                0.000201355,
            ),
            Example(
                "unreachable-optimum",
                f"{_THREE}, {_FLIP}: what L stays below the printed L* for ever, against I_max ε_attn at ε_attn = "
                ".1",
                0.131681,
                0.0344315,
            ),
        ),
    ),
    Statement(
        "tightness",
        "Section IV-A",
        "The bound is tight in T and Δ",
        "The measured epochs grow linearly in T² log T and in 1/Δ, so that theorem 1 is tight in T and Δ.",
        ("kgmi.theory.tau_star", "kgmi.theory.asymptotic_epochs"),
        ("kgmi reproduce rate-length", "kgmi reproduce rate-gap"),
        "fails",
        proof="Points near a line in T² log T are nearer to one in T²: over T = 10 to 100 the logarithm hardly "
        "bends.",
        repair="Training takes about T² epochs, and in the end KT/(n η ε_attn) Σ_j 1/Δ_j over the n − 1 other "
        "candidates of "
        "the slowest column (kgmi.theory.asymptotic_epochs): the sum of 1/Δ_j, not the smallest Δ_j alone.",
        examples=(
            Example(
                "not-tight",
                "Copies of the paper's graph, p = 0, ε_attn = .1: τ* / measured epoch at T = 40, against T = 10",
                65.7012,
                19.7142,
            ),
        ),
    ),
    Statement(
        "choice-of-f",
        "Section IV-A",
        "A larger gap Δ accelerates training",
        "The convergence rate is inversely proportional to Δ, so that an f with a larger Δ converges faster.",
        ("kgmi.theory.information_gap", "kgmi.ascend"),
        ("kgmi reproduce divergences", "kgmi reproduce long"),
        "fails",
        proof="A bound in 1/Δ does not order the measured epochs; Δ is the smallest of all gaps, and most columns "
        "have larger "
        "ones.",
        repair="The time until the last head concentrates follows Σ_j 1/Δ_j (see above). Late in training L* − L "
        "is "
        "Σ (1 − 1/n)/(η t) over the columns, whatever f.",
        examples=(
            Example(
                "slower-with-larger-gap",
                f"{_PAPER}: epochs until L* − L falls to a tenth with Pearson (Δ = .0144), against Neyman as 1/x "
                "− 1 "
                "(Δ = .0016)",
                1296,
                598,
            ),
        ),
    ),
    Statement(
        "theorem-2-non-root",
        "Theorem IV.2 (1)",
        "Attention of non-root nodes concentrates (theorem 2)",
        "With ε < Δ^ℓ(i)/4 and t ≥ 4KT log(1/ε_attn)/(ε_attn η Δ^ℓ(i)) + 4KT i log i/(η Δ^ℓ(i)): head ℓ has more "
        "than "
        "1 − ε_attn of its attention on the candidate with the largest KG-MI.",
        ("kgmi.theory.column_epochs",),
        (_THEOREMS, "test_theorems::test_theorem_2_non_roots_concentrate_on_the_best_candidate"),
        "holds",
        proof="The second phase starts from δ ≥ log i, which the first phase does not show: it may end earlier, "
        "with a smaller "
        "δ. A direct argument: let R be the sum over the other candidates of their attention divided by that of "
        "the best, "
        "so that R = (1 − a)/a. By lemma D.2 every step multiplies R by at most exp(−η Δ a (1 − a)/(2KT)). While "
        "a ≤ 1/2, "
        "a ≥ 1/(i − 1), so R falls from i − 2 to 1 within 4KT (i − 1) log(i − 2)/(η Δ) epochs; then, while 1 − a "
        "≥ ε_attn, "
        "to ε_attn/(1 − ε_attn) within 4KT log(1/ε_attn)/(ε_attn η Δ).",
    ),
    Statement(
        "theorem-2-root",
        "Theorem IV.2 (2)",
        "Attention of roots stays near uniform (theorem 2)",
        "At a root i > 1, for all t up to those epochs, |attn_j − 1/(i − 1)| ≤ "
        "64 (log(1/ε_attn)/ε_attn + i log i) ε/((i − 1)² Δ).",
        ("kgmi.theory.root_bound",),
        (_THEOREMS, "test_theorems::test_theorem_2_roots_stay_near_uniform_where_the_bound_is_small"),
        "fails",
        proof="It fixes w < 1 and then sets w to (i − 1) times the bound, which may be larger; and it takes the "
        "KG-MI of a "
        "root to be 0. (A root has no Δ^ℓ(i) of its own; kgmi takes Δ.)",
        repair="It holds at roots that are independent of all earlier nodes, where the bound is below 1/(i − 1), "
        "that is w < 1.",
        examples=(
            Example(
                "roots-together",
                f"Two copies of {_THREE}, {_FLIP}, exact scores (ε = 0), ε_attn = .1: root 5, drawn together with "
                "root 4",
                0.745819,
                0.0,
            ),
            Example(
                "roots-with-error",
                "Ten chains of two nodes, two states, ε = .045 Δ, ε_attn = .1: root 19, one candidate "
                "overestimated",
                0.766967,
                0.701957,
            ),
        ),
    ),
    Statement(
        "roots-zero",
        "Section IV-B",
        "The KG-MI of a root is identically zero",
        "For a root i and every earlier node j the true KG-MI is 0.",
        ("kgmi.scores", "kgmi.find_roots"),
        (_THEOREMS,),
        "fails",
        proof="The data model draws the roots of a component together from M_π, so that they are dependent.",
        repair="It is 0 for nodes that are independent of j (property 1), such as roots of different components.",
        examples=(
            Example("root-scores", f"{_THREE}, {_FLIP}: largest |KG-MI| of root 2 on root 1", 1.1344, 0.0),
            Example(
                "root-scores-of-copies",
                "Two copies of the paper's graph, p = 0: node 12 on node 11 scores (−.0249, +.0169)",
                0.0249107,
                0.0,
            ),
        ),
    ),
    Statement(
        "theorem-3",
        "Theorem IV.3",
        "With KL the best candidate is the parent (theorem 3)",
        "For KL-KG-MI the candidate with the largest score of head ℓ is the ℓ-th parent p(i)^ℓ.",
        ("kgmi.scores", "kgmi.theory.check_process"),
        (
            _THEOREMS,
            "kgmi reproduce assumptions",
            "test_theorem_3::test_theorem_3_the_best_candidate_of_a_head_is_its_parent_on_chains",
        ),
        "fails",
        proof="It uses that every node follows μ_π and that P(S_i, S_p(i)^ℓ) = μ_π π^ℓ. The appendix proves both "
        "for the order-K "
        "Markov chain and extends them to DAGs in a sentence.",
        repair=f"It holds where {_CONDITION}, and no other candidate has the same pair law: the score is then a "
        "constant minus "
        "KL(μ_π π^ℓ ‖ P_ij).",
        examples=(
            Example(
                "wrong-parent",
                f"{_FOUR}; {_FLIP}: head 1 at node 4 scores node 2, which is no parent, and its parent 1",
                0.203152,
                -0.302108,
            ),
        ),
    ),
    Statement(
        "appendix-a",
        "Appendix A",
        "Non-uniform in-degrees",
        "Where kernels of fewer parents are marginals of π_K and share μ_π, the K_i responsible heads recover the "
        "parents, the "
        "others repeat a parent or stay diffuse, and the parent set is read off the heads that concentrate.",
        ("kgmi.Kernel.marginalise", "kgmi.decode"),
        ("kgmi reproduce degrees", "test_paper_degrees::test_a_kernel_with_both_conditions_has_the_same_marginal"),
        "fails",
        proof="By theorem 2 a surplus head concentrates too, on its best candidate, whatever that is. The "
        "experiment's own "
        "kernels do not share μ_π at p = 0 (total variation .011).",
        repair="Heads that repeat a parent are harmless. Which heads are surplus must be decided otherwise; kgmi "
        "compares the "
        "description length of parent sets.",
        examples=(
            Example(
                "surplus-head",
                f"Two roots and a child of the first (T = 3), {_FLIP}, which meets both conditions: head 2 scores "
                "root 2, which "
                "is independent of the child, and the parent",
                0.0,
                -0.0830638,
            ),
        ),
    ),
    Statement(
        "lemma-b1-law",
        "Lemma B.1 (1)",
        "Existence and uniqueness of the stationary law",
        "For a positive kernel the lifted chain on K-tuples has one stationary law M_π.",
        ("kgmi.Kernel.stationary",),
        (_THEOREMS, "test_kernel_stationary::test_the_stationary_law_solves_the_lifted_chain"),
        "holds",
        proof="The printed product stops at j = K − 2, one factor early.",
    ),
    Statement(
        "lemma-b1-marginals",
        "Lemma B.1 (2)",
        "Identical marginals",
        "All one-coordinate marginals of M_π are the same law μ_π.",
        ("kgmi.Kernel.marginal",),
        (_THEOREMS,),
        "holds",
    ),
    Statement(
        "lemma-b2-stationarity",
        "Lemma B.2 (1)",
        "Stationarity condition",
        "Σ M_π(s_1, …, s_K) π(s' | s_1, …, s_K) = μ_π(s').",
        ("kgmi.Kernel.marginal",),
        (_THEOREMS,),
        "holds",
    ),
    Statement(
        "lemma-b2-nodes",
        "Lemma B.2 (2)",
        "Distribution of any node",
        "If the parent roots are drawn from M_π, every node follows μ_π.",
        ("kgmi.theory.check_process",),
        (
            _THEOREMS,
            "test_assumptions::test_on_the_papers_graph_the_first_three_nodes_follow_the_stationary_law_and_the_others_do_not",
        ),
        "fails",
        proof="Proved for K consecutive nodes of the order-K Markov chain. In a DAG the parents of a node need "
        "not be "
        "distributed as M_π.",
        repair="It holds in order-K Markov chains and in trees.",
        examples=(
            Example(
                "node-law",
                f"{_FOUR}; P(1 | s_1, s_2) = .2, .1, .9, .1 for (0, 0), (0, 1), (1, 0), (1, 1): total variation "
                "of node 4",
                0.214468,
                0.0,
            ),
            Example(
                "node-law-of-paper",
                f"{_PAPER}: seven nodes are off μ_π; the largest total variation",
                0.0218557,
                0.0,
            ),
        ),
    ),
    Statement(
        "lemma-b2-marginals",
        "Lemma B.2 (3)",
        "Stationarity of the marginals",
        "μ_π is stationary for every marginal kernel: Σ μ_π(s) π^ℓ(s'|s) = μ_π(s').",
        ("kgmi.Kernel.marginal_kernels",),
        (_THEOREMS,),
        "holds",
    ),
    Statement(
        "definition-b1",
        "Definition B.1",
        "Spectral gap",
        "1 − λ(π), λ(π) the largest spectral norm of the centred and normalised marginal kernels B^k.",
        ("kgmi.Kernel.spectral_norm", "kgmi.Kernel.spectral_gap"),
        ("test_kernel_marginals::test_the_spectral_norm_is_the_largest_singular_value_of_the_centred_kernels",),
        "holds",
    ),
    Statement(
        "lemma-b3",
        "Lemma B.3",
        "Bound on the spectral norm",
        "If all kernel entries exceed γ/S, then λ(π) ≤ 1 − γ/S.",
        ("kgmi.Kernel.spectral_norm",),
        (_THEOREMS,),
        "holds",
        proof="The second condition, that the chain does not mix in one step, is not used.",
    ),
    Statement(
        "lemma-b4",
        "Lemma B.4",
        "Margins",
        "If all kernel entries exceed γ/S, then so do the entries of the marginal kernels and of μ_π.",
        ("kgmi.Kernel.marginal_kernels",),
        (_THEOREMS,),
        "holds",
    ),
    Statement(
        "definition-b2",
        "Definition B.2",
        "Effective sequence length",
        "T_eff(λ) = T²/Σ λ^d(i,j), d the length of the shortest path.",
        ("kgmi.theory.effective_length", "kgmi.theory.node_distances"),
        ("test_theory::test_effective_length_is_above_its_bound",),
        "holds",
        proof="It is not said whether paths follow the direction of edges. kgmi takes paths in either direction, "
        "which makes the "
        "bounds weaker, in favour of the paper.",
    ),
    Statement(
        "lemma-b5",
        "Lemma B.5",
        "Bound on the effective length",
        "T_eff(λ) ≥ T (1 − λ)/L, L the most nodes at one distance from a node.",
        ("kgmi.theory.effective_length_bound", "kgmi.theory.largest_sphere"),
        (_THEOREMS, "test_theory::test_effective_length_is_above_its_bound"),
        "holds",
    ),
    Statement(
        "lemma-b6",
        "Lemma B.6",
        "Concentration of the joint law",
        "|P_ij(s', s) − μ(s) μ(s')| ≤ √(μ(s) μ(s')) λ^d(i,j).",
        ("kgmi.theory.correlation_bound",),
        (_THEOREMS, "test_theory::test_correlation_decays_with_distance_on_trees"),
        "fails",
        proof="P(S_j | S_i) is taken to be the product of marginal kernels along the path. With two parents the "
        "other parent "
        "depends on the path too, and roots that are drawn together are dependent without a path.",
        repair="It holds on trees (K = 1).",
        examples=(
            Example(
                "joint-law",
                f"{_THREE}, P(1 | s_1, s_2) = .2 + .1 s_1 + .3 s_2, λ = 1/3: the two roots, at distance 2",
                0.0740741,
                0.0370370,
            ),
        ),
    ),
    Statement(
        "lemma-b7-mean",
        "Lemma B.7 (1)",
        "Mean of the state frequencies",
        "E μ̂_I(s) = μ_π(s) for the share μ̂_I of nodes of I in state s.",
        ("kgmi.theory.frequency_error",),
        (_THEOREMS,),
        "fails",
        proof="It rests on lemma B.2 (2).",
        repair="It holds in order-K Markov chains and in trees.",
        examples=(
            Example(
                "frequency-mean",
                f"{_FOUR}; P(1 | s_1, s_2) = .1, .1, .9, .1: |E μ̂ − μ_π| over all four nodes",
                0.0514286,
                0.0,
            ),
        ),
    ),
    Statement(
        "lemma-b7-variance",
        "Lemma B.7 (2)",
        "Mean square of the state frequencies",
        "E (μ̂_I(s) − μ(s))² ≤ μ(s) T L S/(|I|² γ). Corollary B.8 is the case of all nodes, I = [T].",
        ("kgmi.theory.frequency_bound",),
        (_THEOREMS,),
        "fails",
        proof="It rests on lemmas B.2 (2) and B.6.",
        repair="It holds on trees (K = 1).",
        examples=(Example("frequencies-of-four", "As in corollary B.8 below (I = [T])", 0.00266551, 0.00107143),),
    ),
    Statement(
        "corollary-b8",
        "Corollary B.8",
        "State frequencies of one sequence",
        "E (μ̂(s) − μ(s))² ≤ μ(s) L S/(T γ).",
        ("kgmi.theory.frequency_bound", "kgmi.theory.frequency_error"),
        (_THEOREMS,),
        "fails",
        proof="It rests on lemma B.7. Nodes off μ_π leave a bias that no length T removes.",
        repair="It holds on trees (K = 1).",
        examples=(
            Example(
                "frequencies-of-four",
                f"2,500 copies (T = 10,000) of {_FOUR}; P(1 | s_1, s_2) = .1, .1, .9, .1; state 1",
                0.00266551,
                0.00107143,
            ),
            Example(
                "frequencies-of-paper",
                "100,000 copies (T = 10⁶) of the paper's graph, p = 0, state 0",
                9.10843e-05,
                1.36841e-05,
            ),
        ),
    ),
    Statement(
        "property-1-variation",
        "Property 1 (1)",
        "KG-MI varies with ℓ",
        "KG-MI takes different values for different heads ℓ.",
        ("kgmi.scores",),
        (_THEOREMS,),
        "holds where",
        where="the two nodes are dependent, for all but special kernels. Independent nodes score 0 for every head.",
        examples=(
            Example(
                "equal-heads",
                f"{_THREE}, P(1 | s_1, s_2) = .1 + .8 s_1, node 3 on node 2: the kernels differ by .4, KG-MI by 0",
                0.4,
                0.0,
            ),
        ),
    ),
    Statement(
        "property-1-parent",
        "Property 1 (2)",
        "KG-MI of a parent is its mutual information",
        "If j = p(i)^ℓ, then KG-MI of head ℓ equals the f-mutual information of S_i and S_j.",
        ("kgmi.scores",),
        (_THEOREMS, "test_guides::test_kg_mi_of_a_true_parent_under_the_stationary_law_is_f_mi"),
        "fails",
        proof="P_j π^ℓ = P_ij needs the parents of i to be distributed as M_π. On the paper's graph |KG-MI − MI| "
        "is up to .0147, "
        "where MI is .0095 to .0283.",
        repair="It holds where P_ij = P_j π^ℓ, as in order-K Markov chains and trees.",
        examples=(
            Example(
                "not-information", f"{_FOUR}; {_FLIP}: node 4 and its parent 1, |−.3021 − .0630|", 0.365081, 0.0
            ),
        ),
    ),
    Statement(
        "property-1-independent",
        "Property 1 (2)",
        "KG-MI of independent nodes is zero",
        "If S_i and S_j are independent given Π, KG-MI is 0.",
        ("kgmi.scores",),
        (_THEOREMS, "test_guides::test_independent_nodes_score_zero"),
        "holds",
    ),
    Statement(
        "chi2-form",
        "Appendix C-B",
        "χ²-KG-MI and its estimator",
        "With f = x² − x, KG-MI is E_Π Σ π^ℓ(s'|s) P_ij(s', s)/μ_Π(s') − 1. K uniform tokens and a label estimate "
        "π^ℓ, and "
        "Î is the mean of the product of label and pair factors over N sequences.",
        ("kgmi.count_labelled", "kgmi.labelled_scores", "kgmi.expected_labelled_scores"),
        ("test_labelled::test_both_forms_are_literal_loops_over_the_formula",),
        "holds where",
        where="every node follows μ_Π; in general P_i(s') belongs in the denominator. The tokens estimate the "
        "kernel with "
        "uniform co-parents, which is π^ℓ only if M_π is uniform (lemma C.1).",
    ),
    Statement(
        "lemma-c1",
        "Lemma C.1",
        "Estimation error of χ²-KG-MI",
        "With κ ≤ ε/4 and enough nodes T and sequences N, |Î − Ĩ| ≤ ε for all pairs, with probability 1 − δ.",
        ("kgmi.expected_labelled_scores", "kgmi.labelled_scores"),
        (_THEOREMS, "test_labelled::test_the_reweighted_form_converges_to_chi2_kg_mi_and_the_others_do_not"),
        "fails",
        proof="S·1[label = s']·1[token_ℓ = s] has the mean of π over *uniform* other parents, not π^ℓ; the proof "
        "puts π^ℓ for it. "
        "It ends with κ ≤ γ² ε/(4S³), not with κ ≤ ε/4.",
        repair="For one kernel: estimate it from the labels, weight its parents with M_π of that estimate, divide "
        "by the "
        "frequencies of node i over all sequences. This is consistent as N grows, for every T, without κ "
        "(labelled_scores(…, 'reweighted')).",
        examples=(
            Example(
                "uniform-parents",
                f"{_THREE}, {_FLIP}: bias at node 3 and parent 1, whatever N, T and κ (.0644 for .4153)",
                0.350864,
                0.0,
            ),
            Example(
                "kappa",
                "Chain, K = 1, three states that stay with probability .8, ε = .1 and κ = ε/4: bias for T → ∞, "
                "against ε",
                0.13814,
                0.1,
            ),
            Example("uniform-parents-of-paper", f"{_PAPER}: largest bias over children", 0.00675459, 0.0),
        ),
    ),
    Statement(
        "lemma-d1",
        "Lemma D.1",
        "Gradient of the objective",
        "∂L/∂Q_j,i = attn_j,i Σ_k attn_k,i (Ĩ(i; j) − Ĩ(i; k))/(KT).",
        ("kgmi.attention.gradient",),
        (_THEOREMS, "test_attention::test_gradient_is_the_finite_difference_of_the_objective"),
        "holds",
    ),
    Statement(
        "lemma-d2",
        "Lemma D.2",
        "Difference of gradients at non-root nodes",
        "With ε < Δ^ℓ(i)/4 and attn_j ≤ attn_*: ∂̂L_* − ∂̂L_j ≥ attn_* (1 − attn_*) Δ^ℓ(i)/(2KT).",
        ("kgmi.attention.gradient",),
        (_THEOREMS,),
        "holds where",
        where="j is not the best candidate itself, for which the left side is 0.",
    ),
    Statement(
        "lemma-d3",
        "Lemma D.3",
        "Difference of gradients at roots",
        "At a root max_j ∂̂L_j − min_j ∂̂L_j ≤ (4ε/KT) max_j attn_j.",
        ("kgmi.attention.gradient",),
        (_THEOREMS,),
        "fails",
        proof="It takes the KG-MI of a root to be 0.",
        repair="It holds at roots that are independent of all earlier nodes.",
        examples=(
            Example(
                "root-gradient",
                f"Two copies of {_THREE}, {_FLIP}, exact scores, Q = 0: root 5, drawn together with root 4",
                0.0236333,
                0.0,
            ),
        ),
    ),
)
"""All statements, in the order of the paper."""


def statement(key: str) -> Statement:
    """The statement with this key."""
    return next(one for one in LEDGER if one.key == key)


def count_verdicts() -> dict[Verdict, int]:
    """Number of statements with each verdict."""
    found = Counter(one.verdict for one in LEDGER)
    verdicts: tuple[Verdict, ...] = ("holds", "holds where", "fails", "cannot be tested")
    return {verdict: found[verdict] for verdict in verdicts}
