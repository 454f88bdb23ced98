"""Checks answers by the rules of the game alone."""

_UNITS = [
    [cell for cell in range(81) if index(cell) == i]
    for index in (lambda c: c // 9, lambda c: c % 9, lambda c: c // 27 * 3 + c % 9 // 3)
    for i in range(9)
]


def solves(solution, puzzle):
    """Whether `solution` completes every row, column and box, and keeps every clue of `puzzle`."""
    complete = len(solution) == 81 and all({solution[c] for c in unit} == set("123456789") for unit in _UNITS)
    return complete and all(clue in (".", "0", digit) for clue, digit in zip(puzzle, solution))
