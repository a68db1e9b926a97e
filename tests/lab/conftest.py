"""The modules of this folder import PyTorch; without it they are left out (``make test-lab`` brings it)."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("torch") else ["test_*.py"]
