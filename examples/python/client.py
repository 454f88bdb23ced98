"""A client of the Sudoku service in Python: one puzzle, or a file of them.

    python client.py solve 53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79
    python client.py batch < puzzles.txt

The stubs come from the contract; ../../docs/clients.md tells how to make them.
"""

import argparse
import os
import sys
import threading

import grpc
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from sudoku.v1 import sudoku_pb2, sudoku_pb2_grpc

# A message with many puzzles costs far less a puzzle than many messages, and a server takes 2,048 by default.
PUZZLES_A_MESSAGE = 256

# How many messages may be without an answer: what is read ahead of the slowest part, be it the server or the output.
MESSAGES_AHEAD = 16


def main():
    args = arguments()
    with channel(args) as connection:
        sudoku = sudoku_pb2_grpc.SudokuServiceStub(connection)
        metadata = credentials(args)
        try:
            if args.command == "solve":
                solve(sudoku, args, metadata)
            else:
                batch(sudoku, args, metadata)
        except grpc.RpcError as error:
            sys.exit(explain(error))


def solve(sudoku, args, metadata):
    """Solves one puzzle. One that is none is an error of the call."""
    options = sudoku_pb2.SolveOptions(solution_limit=args.limit)
    request = sudoku_pb2.SolveRequest(puzzle=args.puzzle, options=options)
    print(line(sudoku.Solve(request, timeout=args.deadline, metadata=metadata).result))


def batch(sudoku, args, metadata):
    """Solves the lines of standard input, and writes a line for each, in order.

    A line that is no puzzle is a result like the others, so the lines of the output are those of the input.
    """
    options = sudoku_pb2.SolveOptions(solution_limit=args.limit)
    # gRPC takes messages from the generator on a thread of its own, as fast as it can send them. The semaphore holds it
    # back until answers were read, so memory stays bounded however long the input is and however slow the output.
    room = threading.BoundedSemaphore(MESSAGES_AHEAD)
    ended = threading.Event()

    def messages():
        while puzzles := [puzzle.strip() for _, puzzle in zip(range(PUZZLES_A_MESSAGE), sys.stdin)]:
            # A call that is over reads no answers, and must not leave this thread waiting for room.
            while not room.acquire(timeout=1):
                if ended.is_set():
                    return
            yield sudoku_pb2.SolveManyRequest(puzzles=puzzles, options=options)

    try:
        for answer in sudoku.SolveMany(messages(), timeout=args.deadline, metadata=metadata):
            room.release()
            for result in answer.results:
                print(line(result))
    finally:
        ended.set()


def line(result):
    """A result in one line: what was found out, and the solutions or what is wrong."""
    outcome = sudoku_pb2.Outcome.Name(result.outcome).removeprefix("OUTCOME_").lower()
    if result.outcome == sudoku_pb2.OUTCOME_INVALID:
        return f"{outcome}: {result.invalid.message}"
    return " ".join([outcome, *result.solutions])


def explain(error):
    """An error as the contract has it: the code, and the reason with its details."""
    text = [f"{error.code().name}: {error.details()}"]
    status = rpc_status.from_call(error)
    for detail in status.details if status else []:
        for kind in (error_details_pb2.ErrorInfo, error_details_pb2.BadRequest, error_details_pb2.RetryInfo):
            if not detail.Is(kind.DESCRIPTOR):
                continue
            message = kind()
            detail.Unpack(message)
            text.append(f"{kind.__name__}: {' '.join(str(message).split())}")
    return "\n".join(text)


def channel(args):
    """The connection: encrypted if an authority is given, and with a certificate of the client's own if it has one."""
    if not args.ca:
        return grpc.insecure_channel(args.endpoint)
    identity = (read(args.key), read(args.cert)) if args.cert else (None, None)
    tls = grpc.ssl_channel_credentials(read(args.ca), *identity)
    options = [("grpc.ssl_target_name_override", args.server_name)] if args.server_name else []
    return grpc.secure_channel(args.endpoint, tls, options)


def credentials(args):
    """The token as calls carry it. It comes from a file or the environment, since arguments are for all to see."""
    token = read(args.token_file).decode().strip() if args.token_file else os.environ.get("SUDOKU_TOKEN")
    return [("authorization", f"Bearer {token}")] if token else []


def read(path):
    with open(path, "rb") as file:
        return file.read()


def arguments():
    parser = argparse.ArgumentParser(description="Solve Sudoku puzzles on a server.")
    parser.add_argument("--endpoint", default="127.0.0.1:50051", help="host and port, or unix:PATH")
    parser.add_argument("--deadline", type=float, default=60, help="how long the call may take, in seconds")
    parser.add_argument("--limit", type=int, default=2, help="after how many solutions to stop")
    parser.add_argument("--ca", help="the authority to trust, in PEM; the call is then encrypted")
    parser.add_argument("--server-name", help="the name in the server's certificate, if it is not the endpoint's host")
    parser.add_argument("--cert", help="the client's own certificate, in PEM")
    parser.add_argument("--key", help="its key, in PEM")
    parser.add_argument("--token-file", help="a file with the token; else SUDOKU_TOKEN")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("solve", help="solve one puzzle").add_argument("puzzle")
    commands.add_parser("batch", help="solve the lines of standard input")
    return parser.parse_args()


if __name__ == "__main__":
    main()
