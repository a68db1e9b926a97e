"""What README.md says about clusters, on a scheduler with workers and on workers of its own."""

import pytest

from tests.cluster.conftest import FOUR
from tests.readme import commands, fill, run

ADDRESS = "tcp://scheduler:8786"
COMMANDS = [one for section in commands() for one in section if "--cluster" in one]


@pytest.mark.cluster
def test_commands_with_a_cluster_run(tmp_path, own):
    fill(tmp_path)
    here = own(2).address
    assert any(ADDRESS in one for one in COMMANDS)
    for command in COMMANDS:
        for place in (here, FOUR):  # the comment of the command says that this one works too
            assert "edges among 5 nodes, from 3,000 rows" in run(command.replace(ADDRESS, place), tmp_path)
