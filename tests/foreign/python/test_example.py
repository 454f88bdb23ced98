"""The example of the README, as it stands there."""

import os
import subprocess
import sys

from cases import SOLUTIONS
from conftest import ROOT, STUBS
from connection import TIMEOUT


def test_solve(server):
    command = [sys.executable, ROOT / "examples/python/solve.py", server.address]
    environment = {**os.environ, "PYTHONPATH": STUBS.name}
    answer = subprocess.run(
        command, env=environment, check=True, stdout=subprocess.PIPE, text=True, timeout=TIMEOUT
    ).stdout
    assert answer.split() == ["OUTCOME_UNIQUE", SOLUTIONS["easy"]]
