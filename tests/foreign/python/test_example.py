"""The example of the README, as it stands there."""

import os
import subprocess
import sys

from cases import SOLUTIONS
from connection import TIMEOUT
from server import ROOT, STUBS


def test_solve(server):
    command = [sys.executable, ROOT / "examples/python/solve.py", server.address]
    environment = {**os.environ, "PYTHONPATH": STUBS.name}
    answer = subprocess.run(
        command, env=environment, check=True, stdout=subprocess.PIPE, text=True, timeout=TIMEOUT
    ).stdout
    assert answer.split() == ["OUTCOME_UNIQUE", SOLUTIONS["easy"]]
