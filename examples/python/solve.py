import sys

import grpc
from sudoku.v1 import sudoku_pb2, sudoku_pb2_grpc

with grpc.insecure_channel(sys.argv[1]) as channel:
    sudoku = sudoku_pb2_grpc.SudokuServiceStub(channel)
    puzzle = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
    result = sudoku.Solve(sudoku_pb2.SolveRequest(puzzle=puzzle), timeout=5).result
    print(sudoku_pb2.Outcome.Name(result.outcome), *result.solutions)
