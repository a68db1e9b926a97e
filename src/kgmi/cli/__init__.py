"""The ``kgmi`` command."""
