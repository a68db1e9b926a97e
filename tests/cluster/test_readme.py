"""What README.md says about clusters, on a scheduler with workers and on workers of its own."""

import re

import pytest

from tests.cluster.conftest import FOUR
from tests.readme import commands, fill, run

ADDRESS = "tcp://scheduler:8786"
COMMANDS = [one for section in commands() for one in section if "--cluster" in one]


def found(said):
    """The graph, its score and its kernel as they are printed."""
    return said[re.search(r"^\d+ edges among 5 nodes, from 3,000 rows", said, re.MULTILINE).start() :]


@pytest.mark.cluster
def test_commands_with_a_cluster_run(tmp_path, own):
    fill(tmp_path)
    here = own(2).address
    assert any(ADDRESS in one for one in COMMANDS)
    for command in COMMANDS:
        alone = found(run(re.sub(r" --cluster \S+", " --stream", command), tmp_path))
        for place in (here, FOUR):  # the comment of the command says that this one works too
            assert found(run(command.replace(ADDRESS, place), tmp_path)) == alone
