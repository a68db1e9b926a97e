"""Experiment 3: the stopping epoch against the length of the sequence and against the information gap."""
