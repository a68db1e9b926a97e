"""The process of one run: ``python -m kgmi.bench.stream FOLDER`` (see :mod:`kgmi.bench.stream.worker`)."""

import sys
from pathlib import Path

from kgmi.bench.stream.worker import work

if __name__ == "__main__":
    work(Path(sys.argv[1]))
