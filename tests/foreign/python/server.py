"""The stubs, generated from the contract as any caller would, and the real server."""

import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "sudoku-server"
STUBS = tempfile.TemporaryDirectory(prefix="sudoku-stubs-")


def generate_stubs():
    subprocess.run(
        [sys.executable, "-m", "grpc_tools.protoc", f"-I{ROOT / 'proto'}"]
        + [f"--python_out={STUBS.name}", f"--grpc_python_out={STUBS.name}", "sudoku/v1/sudoku.proto"],
        check=True,
    )
    sys.path.insert(0, STUBS.name)


class Server:
    """The server as a process of its own, on a port that the system picks."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [PROGRAM, "--listen", "127.0.0.1:0", *arguments], stdout=subprocess.PIPE, text=True
        )
        # A server that never says its address is killed, which ends the read.
        watchdog = threading.Timer(30, self.process.kill)
        watchdog.start()
        self.address = self.process.stdout.readline().strip()
        # The host and port for operators, where it was started with one.
        self.admin = urlsplit(self.process.stdout.readline().strip()).netloc if "--admin-listen" in arguments else None
        watchdog.cancel()
        assert self.address and self.admin != "", "the server ended before it listened"

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


def start_servers():
    """What a fixture yields from: a function that starts a server; at the end all that still run are drained."""
    servers = []

    def start(*arguments):
        servers.append(Server(*arguments))
        return servers[-1]

    yield start
    running = [server for server in servers if server.process.poll() is None]
    for server in running:
        server.drain()
    assert [server.exit_status() for server in running] == [0] * len(running)
