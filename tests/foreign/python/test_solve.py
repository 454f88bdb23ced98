"""Answers to single puzzles and to streams of them, checked by the rules of the game."""

import pytest
from cases import PUZZLES, SOLUTIONS, SOLVE, solve_many_request, solve_request
from connection import TIMEOUT, Connection
from google.protobuf import json_format
from grids import solves
from sudoku.v1 import sudoku_pb2


@pytest.mark.parametrize("case", SOLVE, ids=lambda case: case["name"])
def test_solve(server, case):
    request = solve_request(**case["request"])
    with Connection(server) as connection:
        result = connection.sudoku.Solve(request, timeout=TIMEOUT).result

    assert sudoku_pb2.Outcome.Name(result.outcome) == case["outcome"]
    assert result.solution_count == case.get("count", result.solution_count)
    assert len(set(result.solutions)) == (0 if request.options.omit_solutions else result.solution_count)
    assert all(solves(solution, request.puzzle) for solution in result.solutions)
    if "solution" in case:
        assert list(result.solutions) == [SOLUTIONS[case["solution"]]]
    conflicts = [
        json_format.MessageToDict(c, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
        for c in result.conflicts
    ]
    assert conflicts == case.get("conflicts", [])


def test_a_bad_puzzle_is_a_result_in_its_place(server):
    messages = [["easy", "easy with a letter", "hard"], [], ["easy cut short", "easy"]]
    with Connection(server) as connection:
        responses = list(connection.sudoku.SolveMany(map(solve_many_request, messages), timeout=TIMEOUT))

    first, empty, last = [list(response.results) for response in responses]
    assert [list(result.solutions) for result in first] == [[SOLUTIONS["easy"]], [], [SOLUTIONS["hard"]]]
    assert first[1].outcome == sudoku_pb2.OUTCOME_INVALID
    assert (first[1].invalid.length, first[1].invalid.position) == (81, 4)
    assert empty == []
    assert last[0].outcome == sudoku_pb2.OUTCOME_INVALID
    assert last[0].invalid.length == 80 and not last[0].invalid.HasField("position")
    assert list(last[1].solutions) == [SOLUTIONS["easy"]]


def test_the_server_tells_its_limits(server):
    with Connection(server) as connection:
        info = connection.sudoku.GetServerInfo(sudoku_pb2.GetServerInfoRequest(), timeout=TIMEOUT)
    assert info.version.count(".") == 2
    assert (info.max_puzzles_per_message, info.max_message_bytes) == (2048, 524288)
    assert (info.max_solution_limit, info.max_time_limit.seconds) == (10000, 60)
