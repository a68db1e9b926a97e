"""``python -m kgmi``."""

from kgmi.cli import main

if __name__ == "__main__":
    main()
