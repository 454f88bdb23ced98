"""Generates the stubs from the contract, as any caller would, and starts the real server."""

import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
STUBS = tempfile.TemporaryDirectory(prefix="sudoku-stubs-")


def pytest_configure():
    subprocess.run(
        [sys.executable, "-m", "grpc_tools.protoc", f"-I{ROOT / 'proto'}"]
        + [f"--python_out={STUBS.name}", f"--grpc_python_out={STUBS.name}", "sudoku/v1/sudoku.proto"],
        check=True,
    )
    sys.path.insert(0, STUBS.name)


class Server:
    """The server as a process of its own, on a port that the system picks."""

    def __init__(self, *arguments):
        program = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "sudoku-server"
        self.process = subprocess.Popen(
            [program, "--listen", "127.0.0.1:0", *arguments], stdout=subprocess.PIPE, text=True
        )
        # A server that never says its address is killed, which ends the read.
        watchdog = threading.Timer(30, self.process.kill)
        watchdog.start()
        self.address = self.process.stdout.readline().strip()
        watchdog.cancel()
        assert self.address, "the server ended before it listened"

    def drain(self):
        """Asks the server to finish what runs and end."""
        self.process.terminate()

    def exit_status(self):
        """Waits for the end that was asked for."""
        try:
            return self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        finally:
            self.process.stdout.close()


@pytest.fixture(scope="session")
def start():
    """Starts a server with the given arguments, and stops it after the last test."""
    servers = []

    def start(*arguments):
        servers.append(Server(*arguments))
        return servers[-1]

    yield start
    for server in servers:
        if server.process.poll() is None:
            server.drain()
            assert server.exit_status() == 0


@pytest.fixture(scope="session")
def server(start):
    return start()


@pytest.fixture(scope="session")
def slow_server(start):
    """One thread for all: what the slow requests ask of it takes it a millisecond and more for each message."""
    return start("--threads", "1")
