"""What a generic tool finds: the standard health service and reflection."""

import json
import subprocess
import sys
from pathlib import Path

from cases import PUZZLES, SOLUTIONS
from connection import TIMEOUT, Connection
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

SERVICE = "sudoku.v1.SudokuService"
GRPCURL = Path(sys.executable).parent / "grpcurl"


def test_health(server):
    with Connection(server) as connection:
        health = health_pb2_grpc.HealthStub(connection.channel)
        for service in ("", SERVICE):
            answer = health.Check(health_pb2.HealthCheckRequest(service=service), timeout=TIMEOUT)
            assert answer.status == health_pb2.HealthCheckResponse.SERVING


def test_reflection(server):
    with Connection(server) as connection:
        database = ProtoReflectionDescriptorDatabase(connection.channel)
        assert SERVICE in database.get_services()
        service = DescriptorPool(database).FindServiceByName(SERVICE)
        assert {"Solve", "SolveMany", "GetServerInfo"} <= set(service.methods_by_name)


def test_grpcurl_needs_nothing_but_the_address(server):
    request = json.dumps({"puzzle": PUZZLES["easy"]})
    command = [GRPCURL, "-plaintext", "-d", request, server.address, f"{SERVICE}/Solve"]
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=TIMEOUT).stdout
    assert json.loads(answer)["result"] == {
        "outcome": "OUTCOME_UNIQUE",
        "solutions": [SOLUTIONS["easy"]],
        "solutionCount": 1,
    }
