"""Callers that go on until they are stopped, and check every answer by the rules of the game."""

import itertools
import queue
from threading import Event, Lock, Thread

import grpc
from cases import PUZZLES
from grids import solves
from sudoku.v1 import sudoku_pb2, sudoku_pb2_grpc

# Bounds every call: far more than any needs.
TIMEOUT = 60
PUZZLES_PER_MESSAGE = 20


def puzzle(number):
    """One of 9! puzzles that differ in their digits alone, so that the answer to another is noticed."""
    digits, left = list("123456789"), []
    while digits:
        number, index = divmod(number, len(digits))
        left.append(digits.pop(index))
    return PUZZLES["easy"].translate(str.maketrans("123456789", "".join(left)))


def check(result, puzzle):
    assert result.outcome == sudoku_pb2.OUTCOME_UNIQUE
    assert solves(result.solutions[0], puzzle)


class Load:
    """Threads that call `Solve` one call after the other, and others with a stream of `SolveMany` each."""

    def __init__(self, channel, calls=8, streams=3):
        self.sudoku = sudoku_pb2_grpc.SudokuServiceStub(channel)
        self.calls = calls
        self.numbers = itertools.count()
        self.solved = 0
        self.messages = 0
        self.broken_streams = []
        self.failed_calls = []
        self.wrong = []
        self._lock = Lock()
        self._stop = Event()
        bodies = [self._call] * calls + [self._stream] * streams
        self._threads = [Thread(target=self._repeat, args=(body,)) for body in bodies]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for thread in self._threads:
            thread.join(timeout=2 * TIMEOUT)
        assert not any(thread.is_alive() for thread in self._threads)

    def _repeat(self, body):
        try:
            while not self._stop.is_set():
                body()
        except Exception as error:  # a wrong answer, which the test must see
            self.wrong.append(error)

    def _call(self):
        asked = puzzle(next(self.numbers))
        try:
            response = self.sudoku.Solve(sudoku_pb2.SolveRequest(puzzle=asked), timeout=TIMEOUT)
        except grpc.RpcError as error:
            self.failed_calls.append(error)
            return
        check(response.result, asked)
        with self._lock:
            self.solved += 1

    def _stream(self):
        """Sends a message for each answer, two ahead, until the stream breaks; then what is unanswered is given up."""
        sent = queue.SimpleQueue()
        answered = queue.SimpleQueue()

        def requests():
            for ahead in itertools.count():
                if ahead >= 2:
                    answered.get(timeout=TIMEOUT)
                if self._stop.is_set():
                    return
                asked = [puzzle(next(self.numbers)) for _ in range(PUZZLES_PER_MESSAGE)]
                sent.put(asked)
                yield sudoku_pb2.SolveManyRequest(puzzles=asked)

        try:
            for response in self.sudoku.SolveMany(requests(), timeout=TIMEOUT):
                asked = sent.get_nowait()
                assert len(response.results) == len(asked)
                for result, one in zip(response.results, asked):
                    check(result, one)
                with self._lock:
                    self.messages += 1
                answered.put(None)
            # A stream that ended well has answered all.
            assert sent.empty()
        except grpc.RpcError as error:
            self.broken_streams.append(error)
        finally:
            answered.put(None)
