"""How calls end before their time: cancelled, out of time, refused under load, drained."""

import itertools
import time
from threading import Event, Timer

import grpc
import pytest
from cases import SOLUTIONS, solve_many_request, solve_request
from connection import TIMEOUT, Connection, details
from test_slow_server import slow_request


class OpenStream:
    """A stream that has had one answer, and whose caller then neither writes nor closes."""

    def __init__(self, connection, **options):
        self._close = Event()
        self.call = connection.sudoku.SolveMany(self._requests(), **options)
        assert list(next(self.call).results[0].solutions) == [SOLUTIONS["easy"]]

    def _requests(self):
        yield solve_many_request(["easy"])
        self._close.wait(TIMEOUT)

    def error(self):
        """The error that ends the stream, with no further answer before it."""
        try:
            with pytest.raises(grpc.RpcError) as failure:
                next(self.call)
        finally:
            self._close.set()
        return failure.value


def solve_many_once(connection):
    """The error's details where a stream with one puzzle is refused, or nothing where it is answered."""
    request = solve_many_request(["easy"])
    try:
        (response,) = connection.sudoku.SolveMany(iter([request]), timeout=TIMEOUT)
    except grpc.RpcError as error:
        return details(error)
    assert list(response.results[0].solutions) == [SOLUTIONS["easy"]]
    return None


def test_a_cancelled_stream_makes_room(start):
    server = start("--max-streams", "1", "--threads", "1")
    with Connection(server) as connection:
        endless = map(slow_request, itertools.count())
        call = connection.sudoku.SolveMany(endless, timeout=TIMEOUT)
        next(call)

        code, found = solve_many_once(connection)
        assert (code, found["ErrorInfo"].reason) == ("RESOURCE_EXHAUSTED", "OVERLOADED")
        pause = found["RetryInfo"].retry_delay.ToTimedelta().total_seconds()
        assert 0 < pause < 10

        call.cancel()
        give_up = time.monotonic() + TIMEOUT
        while solve_many_once(connection):
            assert time.monotonic() < give_up, "the cancelled stream still holds its place"
            time.sleep(pause)


# gRPC's clients end a call at their own deadline and then no longer see what the server says of it. So that it is the
# server that ends these, the deadline is sent as the protocol sends it and not kept here.


def test_a_deadline_ends_a_search(server):
    request = solve_request("empty", options={"solution_limit": 10000, "omit_solutions": True})
    with Connection(server) as connection:
        with pytest.raises(grpc.RpcError) as failure:
            connection.sudoku.Solve(request, metadata=[("grpc-timeout", "100u")])
    code, found = details(failure.value)
    assert (code, found["ErrorInfo"].reason) == ("DEADLINE_EXCEEDED", "DEADLINE")


def test_a_deadline_ends_an_idle_stream(server):
    with Connection(server) as connection:
        stream = OpenStream(connection, metadata=[("grpc-timeout", "1S")])
        watchdog = Timer(TIMEOUT, stream.call.cancel)
        watchdog.start()
        code, found = details(stream.error())
        watchdog.cancel()
    assert (code, found["ErrorInfo"].reason) == ("DEADLINE_EXCEEDED", "DEADLINE")


def test_a_deadline_of_the_client_leaves_the_connection_whole(server):
    with Connection(server) as connection:
        stream = OpenStream(connection, timeout=1)
        assert stream.error().code() == grpc.StatusCode.DEADLINE_EXCEEDED
        assert solve_many_once(connection) is None


def test_a_draining_server_says_so(start):
    server = start()
    stream = OpenStream(Connection(server), timeout=TIMEOUT)
    server.drain()
    code, found = details(stream.error())
    assert (code, found["ErrorInfo"].reason) == ("UNAVAILABLE", "DRAINING")
    assert server.exit_status() == 0
