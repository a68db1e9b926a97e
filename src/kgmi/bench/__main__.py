"""The process of one peer: ``python -m kgmi.bench FOLDER`` (see :mod:`kgmi.bench.worker`)."""

import sys
from pathlib import Path

from kgmi.bench.worker import work

if __name__ == "__main__":
    work(Path(sys.argv[1]))
