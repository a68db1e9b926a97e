"""Rows that need not fit into memory: how fast they are counted and learned from, beside databases and frames."""
