"""Heads that a node has no use for are grey, and the legend says so once."""

from kgmi import Dag, Kernel, Process, learn, sample
from kgmi.plots import attention_figure


def test_heads_without_use_are_told_once_for_all_panels():
    dag = Dag([(), (), (0, 1), (2,), (1, 3), (4,), (0, 4), (6,)], [(0,), (1,)])
    process = Process(dag, Kernel.random(3, 2, rng=8400), {1: Kernel.random(3, 1, rng=8401)})
    learned = learn(sample(process, 2000, rng=8402), n_states=3)
    assert {len(parents) for parents in learned.dag.parents} == {0, 1, 2}
    texts = [text.get_text() for text in attention_figure(learned).legends[0].get_texts()]
    assert texts.count("root, or node without use for this head") == 1
    assert "root (not read)" not in texts
