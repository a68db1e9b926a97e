"""``python -m kgmi``."""

from kgmi.cli import command

if __name__ == "__main__":
    command()
