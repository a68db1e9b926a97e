"""The order found too: all tuples of all children, and the best graph without a cycle that they allow."""
