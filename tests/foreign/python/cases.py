"""What the clients of all languages ask, and what they must hear."""

import json
from pathlib import Path

from sudoku.v1 import sudoku_pb2

_CASES = json.loads((Path(__file__).parents[1] / "cases.json").read_text())

PUZZLES = _CASES["puzzles"]
SOLUTIONS = _CASES["solutions"]
SOLVE = _CASES["solve"]
ERRORS = _CASES["errors"]


def solve_request(puzzle, times=1, **fields):
    """The message of a case; `times` repeats the puzzle in it."""
    return sudoku_pb2.SolveRequest(puzzle=PUZZLES[puzzle] * times, **fields)


def solve_many_request(puzzles, times=1, **fields):
    """The message of a case; `times` repeats the list of puzzles in it."""
    return sudoku_pb2.SolveManyRequest(puzzles=[PUZZLES[puzzle] for puzzle in puzzles] * times, **fields)
