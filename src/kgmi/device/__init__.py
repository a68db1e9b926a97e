"""Fits with all nodes at once on a device of PyTorch, from :class:`kgmi.counts.torch.TorchCounts`."""
