"""Small messages to a server that is slower than its callers: it must slow them down, and not hang up."""

from concurrent.futures import ThreadPoolExecutor

from cases import SOLUTIONS, solve_many_request
from connection import TIMEOUT, Connection
from sudoku.v1 import sudoku_pb2

STREAMS = 32
UNIQUE = ["easy", "hard"]


def slow_request(k):
    """One puzzle, most of them dear: the number of solutions to count tells which request an answer is for."""
    if k % 4 == 0:
        return solve_many_request([UNIQUE[k // 4 % 2]])
    return solve_many_request(["empty"], options={"solution_limit": 1000 + k % 1000, "omit_solutions": True})


def answers(k, response):
    """Whether `response` is the answer to `slow_request(k)`."""
    (result,) = response.results
    if k % 4 == 0:
        return list(result.solutions) == [SOLUTIONS[UNIQUE[k // 4 % 2]]]
    return result.outcome == sudoku_pb2.OUTCOME_MULTIPLE and result.solution_count == 1000 + k % 1000


def drive(connection, messages, first=0):
    """Sends that many messages on one stream and checks the answers; returns the most that were unanswered at once."""
    sent = received = most = 0

    def requests():
        nonlocal sent
        for k in range(first, first + messages):
            sent += 1
            yield slow_request(k)

    for response in connection.sudoku.SolveMany(requests(), timeout=TIMEOUT):
        most = max(most, sent - received)
        assert answers(first + received, response), f"answer {received} is {response}"
        received += 1
    assert received == messages
    return most


def test_one_puzzle_a_message(slow_server):
    with Connection(slow_server) as connection:
        waiting = drive(connection, 6000)
        assert waiting > 100, "the server kept up, so this showed nothing"


def test_many_streams_on_one_connection(slow_server):
    with Connection(slow_server) as connection, ThreadPoolExecutor(STREAMS) as threads:
        waiting = list(threads.map(lambda stream: drive(connection, 200, first=1000 * stream), range(STREAMS)))
        assert sum(waiting) > 100 * STREAMS, "the server kept up, so this showed nothing"
