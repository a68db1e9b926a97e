"""Models compute what their formulas say, and no query sees what it must not see."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi import Dag, Kernel, Process
from kgmi.attention import masked_softmax
from kgmi.errors import SettingError
from kgmi.lab import Decoder, DisentangledTransformer, PaperLayer, Task
from tests.embedded import EmbeddedHead, embed

from .laws import PROCESSES

pytestmark = pytest.mark.lab

S, T, H = 3, 6, 2
MAKERS = {
    "paper": lambda: PaperLayer(S, T, H),
    "readout": lambda: PaperLayer(S, T, H, readout=True),
    "full": lambda: PaperLayer(S, T, H, full=True),
    "full readout": lambda: PaperLayer(S, T, H, full=True, readout=True, shift=1),
    "disentangled": lambda: DisentangledTransformer(S, T, (H, 1, 2), last_only=False),
    "disentangled last": lambda: DisentangledTransformer(S, T, (H, 1)),
    "decoder": lambda: Decoder(S, T, n_layers=2, n_heads=H, width=8),
    "decoder of all": lambda: Decoder(S, T, n_layers=2, n_heads=H, width=8, causal=False),
}


def made(name, seed=0):
    """A model with random weights in double precision."""
    model = MAKERS[name]().double()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for value in model.parameters():
            value.copy_(torch.randn(value.shape, generator=generator, dtype=torch.float64))
    return model


def random_rows(seed, n_rows=4):
    return np.random.default_rng(seed).integers(S, size=(n_rows, T))


@given(
    seed=st.integers(0, 2**32 - 1), n_states=st.integers(2, 4), n_nodes=st.integers(2, 7), n_heads=st.integers(1, 3)
)
@settings(max_examples=25, deadline=None)
def test_the_papers_layer_is_the_embedded_head(seed, n_states, n_nodes, n_heads):
    rng = np.random.default_rng(seed)
    weights = 3 * rng.normal(size=(n_heads, n_nodes, n_nodes)).astype(np.float32)
    rows = rng.integers(n_states, size=(3, n_nodes))
    layer = PaperLayer(n_states, n_nodes, n_heads, weights=weights).double()
    attention = layer(torch.as_tensor(rows)).attention[0].detach().numpy()
    assert np.allclose(
        attention, masked_softmax(weights.astype(float), np.tri(n_nodes, k=-1, dtype=bool)), atol=1e-12
    )
    for row, maps in zip(rows, attention, strict=True):
        for head, map_ in zip(weights, maps, strict=True):
            whole = EmbeddedHead.from_positions(head.astype(float), n_states)
            assert np.allclose(map_, whole(embed(row, n_states)).T, atol=1e-12)


@pytest.mark.parametrize("name", ["full", "full readout", "readout"])
def test_a_full_layer_is_the_softmax_of_its_products(name):
    model, rows = made(name), random_rows(1)
    output = model(torch.as_tensor(rows))
    weights = model.weights.detach().numpy()
    mask = np.tri(T, k=0 if name == "full readout" else -1, dtype=bool)
    for number, row in enumerate(rows):
        embedded = embed(row, S)  # [feature, position]
        products = weights if name == "readout" else embedded.T @ weights @ embedded
        attention = masked_softmax(products, mask)
        assert np.allclose(output.attention[0][number].detach(), attention, atol=1e-12)
        if name != "full":
            values = model.values.detach().numpy()
            logits = sum(v @ embedded @ a.T for v, a in zip(values, attention, strict=True))
            assert np.allclose(output.logits[number].detach(), logits.T, atol=1e-10)


@pytest.mark.parametrize("name", ["readout", "full readout", "disentangled", "decoder"])
def test_later_tokens_change_no_earlier_logits(name):
    model, rows = made(name), random_rows(2)
    before = model(torch.as_tensor(rows)).logits
    for place in range(T):
        changed = rows.copy()
        changed[:, place] = (changed[:, place] + 1) % S
        after = model(torch.as_tensor(changed)).logits
        first = place if model.shift else place + 1  # with shift 0 a query does not see its own token
        assert torch.equal(after[:, :first], before[:, :first])
        assert first == T or (after[:, first:] != before[:, first:]).any()


def test_a_decoder_that_is_not_causal_sees_everything():
    model, rows = made("decoder of all"), random_rows(3)
    rows[:, 2] = S  # a masked token
    before = model(torch.as_tensor(rows)).logits
    for place in range(T):
        changed = rows.copy()
        changed[:, place] = (changed[:, place] + 1) % S
        assert (model(torch.as_tensor(changed)).logits != before).any(dim=-1).all()


@pytest.mark.parametrize("name", MAKERS)
def test_attention_sums_to_one_or_to_zero_without_candidates(name):
    output = made(name)(torch.as_tensor(random_rows(4)))
    assert len(output.attention) == len(output.scores)
    for attention, scores in zip(output.attention, output.scores, strict=True):
        assert attention.shape == scores.shape
        wanted = torch.ones(attention.shape[:-1], dtype=torch.float64)
        if name in ("paper", "readout", "full"):
            wanted[..., 0] = 0
        assert torch.allclose(attention.sum(-1), wanted)
        if name != "decoder of all" and attention.shape[-2] == T:
            assert not attention.triu(1 if wanted[..., 0].any() else 0).any()


def test_the_last_position_of_a_disentangled_transformer_is_computed_alone():
    whole, last = DisentangledTransformer(S, T, (H, 1), last_only=False), made("disentangled last")
    whole.double().load_state_dict(last.state_dict())
    rows = torch.as_tensor(random_rows(5))
    assert torch.allclose(last(rows).logits, whole(rows).logits[:, -1:])


def test_a_disentangled_transformer_counts_transitions_along_the_true_parent():
    parents = [(), (0,), (0,), (2,), (1,), (4,), (3,), (6,)]
    task = Task(Process(Dag(parents), Kernel.random(S, 1, rng=1)), "label")
    size, last = S + task.length, task.length - 1
    model = DisentangledTransformer(S, task.length, (1, 1)).double()
    first, second = (weights.detach() for weights in model.weights)
    for child in range(task.length):
        whole = parents[child] if child < last else ()
        first[0, S + child, S + (whole[0] if whole else child)] = 1e3
    for state in range(S):
        second[0, state, size + state] = 1e3  # its own token matches the token that the first layer found
        model.readout.detach()[state, 2 * size + state] = 1.0
    second[0, S + last, [S, S + last]] = -1e4  # neither the root nor the position itself
    batch = task.sample(0, 200)
    logits = model(batch.tokens[0]).logits[:, 0].detach().numpy()
    for row, found in zip(batch.tokens[0].numpy(), logits, strict=True):
        counts = np.zeros(S)
        for child in range(1, 8):
            counts[row[child]] += row[parents[child][0]] == row[last]
        if counts.any():
            assert np.allclose(found, counts / counts.sum(), atol=1e-10)


def test_models_that_cannot_be():
    with pytest.raises(SettingError, match="shift"):
        PaperLayer(S, T, H, full=True, readout=True)
    with pytest.raises(SettingError, match="weights"):
        PaperLayer(S, T, H, weights=np.zeros((H, T, T + 1)))
    with pytest.raises(SettingError, match="width"):
        Decoder(S, T, n_heads=3, width=8)


def test_given_weights_are_the_position_block_of_a_full_layer():
    weights = np.random.default_rng(0).normal(size=(2, 10, 10))
    rows = Task(PROCESSES["paper"]).rows(0, 3)[0]
    narrow, full = (PaperLayer(3, 10, 2, weights=weights, full=full)(rows) for full in (False, True))
    assert torch.allclose(narrow.attention[0], full.attention[0], atol=1e-6)
