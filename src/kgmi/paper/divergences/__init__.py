"""Experiment 4: training with several divergences, short and long, and which of them recover the graph."""
