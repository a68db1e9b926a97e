"""The process of one method: ``python -m kgmi.bench.speed FOLDER`` (see :mod:`kgmi.bench.worker`)."""

import sys
from pathlib import Path

from kgmi.bench.speed.methods import METHODS
from kgmi.bench.worker import work

if __name__ == "__main__":
    work(Path(sys.argv[1]), METHODS)
