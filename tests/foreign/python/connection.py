"""One connection to a server, which must last."""

from threading import Timer

import grpc
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from sudoku.v1 import sudoku_pb2_grpc

# Bounds every call: far more than any needs.
TIMEOUT = 120

_READY = grpc.ChannelConnectivity.READY


class Connection:
    """A channel with a connection of its own and no retries, so that a lost connection fails the test."""

    def __init__(self, server):
        options = [("grpc.enable_retries", 0), ("grpc.use_local_subchannel_pool", 1)]
        self.channel = grpc.insecure_channel(server.address, options)
        self.sudoku = sudoku_pb2_grpc.SudokuServiceStub(self.channel)
        self._states = []

    def __enter__(self):
        self.channel.subscribe(self._states.append, try_to_connect=True)
        grpc.channel_ready_future(self.channel).result(timeout=TIMEOUT)
        return self

    def __exit__(self, failure, *_):
        lost = self._states[self._states.index(_READY) + 1:] if _READY in self._states else self._states
        self.channel.unsubscribe(self._states.append)
        # gRPC's thread that watches the states looks at the channel up to 0.2 s longer, and fails on a closed one.
        Timer(1, self.channel.close).start()
        if failure is None:
            assert lost == [], "the connection was lost"


def details(error):
    """The status that a failed call came with: its code's name, and its details by the name of their type."""
    status = rpc_status.from_call(error)
    assert status is not None, f"{error.code()} without details: {error.details()}"
    found = {}
    for packed in status.details:
        name = packed.type_url.rpartition(".")[2]
        found[name] = getattr(error_details_pb2, name)()
        assert packed.Unpack(found[name])
    return error.code().name, found
