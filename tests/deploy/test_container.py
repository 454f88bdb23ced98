"""The image: built from the Containerfile with what `just static` makes, and started."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path
from threading import Timer

import grpc
import pytest
from cases import SOLUTIONS, solve_request
from server import PROGRAM, ROOT
from sudoku.v1 import sudoku_pb2_grpc

CONTAINERFILE = ROOT / "deploy/Containerfile"
STATIC = PROGRAM.parents[1] / "static" / "sudoku-server"
PATIENCE = 60


def lint(file):
    hadolint = Path(sys.executable).with_name("hadolint")
    return subprocess.run([hadolint, "--no-color", file], capture_output=True, text=True)


def test_the_linter_has_no_complaint(tmp_path):
    done = lint(CONTAINERFILE)
    assert (done.returncode, done.stdout) == (0, "")

    careless = tmp_path / "Containerfile"
    careless.write_text(CONTAINERFILE.read_text().replace("FROM scratch", "FROM debian").replace("COPY", "ADD"))
    done = lint(careless)
    assert done.returncode != 0
    assert "DL3006" in done.stdout and "DL3020" in done.stdout


@pytest.fixture(scope="module")
def static():
    if not STATIC.exists():
        give_up = pytest.fail if os.environ.get("CI") else pytest.skip
        give_up("no static program (just static)")
    return STATIC


def test_the_program_needs_no_library(static):
    def read(what):
        return subprocess.run(["readelf", what, static], check=True, capture_output=True, text=True).stdout

    assert "INTERP" not in read("--program-headers")
    assert "NEEDED" not in read("--dynamic")


@pytest.fixture
def buildah(program, tmp_path):
    """Runs buildah with all that it stores in a folder of its own."""
    path = program("buildah")
    if os.geteuid() != 0:
        pytest.skip("buildah with chroot needs root")
    # The user of the image must be able to reach its files.
    for folder in [tmp_path, tmp_path.parent, tmp_path.parent.parent]:
        folder.chmod(0o755)
    places = ["--root", tmp_path / "storage", "--runroot", tmp_path / "run", "--storage-driver", "vfs"]
    yield lambda command, *arguments: [path, *places, command, *arguments]
    shutil.rmtree(tmp_path)


def answer(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def descendants(process):
    """The processes that this one has started, and so on."""
    found = [pid for thread in Path(f"/proc/{process}/task").iterdir() for pid in (thread / "children").read_text().split()]
    return found + [pid for child in found for pid in descendants(child)]


def users(process):
    """The real, effective, saved and file system user of a process."""
    (line,) = [line for line in Path(f"/proc/{process}/status").read_text().splitlines() if line.startswith("Uid:")]
    return set(line.split()[1:])


def test_the_image_serves(static, buildah, run):
    folder = static.parent
    answer(buildah("build", "--isolation", "chroot", "--file", CONTAINERFILE, "--tag", "sudoku-server", folder))
    config = json.loads(answer(buildah("inspect", "--type", "image", "sudoku-server")))["OCIv1"]["config"]
    container = answer(buildah("from", "sudoku-server"))

    # A collector whose name the server must look up, which static programs may not be able to.
    with socket.create_server(("127.0.0.1", 0)) as collector:
        collector.settimeout(PATIENCE)
        traces = ["--trace-share", "1", "--otlp-endpoint", f"http://localhost:{collector.getsockname()[1]}"]
        command = [*config["Entrypoint"], "--listen", "127.0.0.1:0", *traces]
        process = run(buildah("run", "--isolation", "chroot", container, "--", *command), stdout=subprocess.PIPE, text=True)
        watchdog = Timer(PATIENCE, process.kill)
        watchdog.start()
        address = process.stdout.readline().strip()
        watchdog.cancel()

        with grpc.insecure_channel(address) as channel:
            sudoku = sudoku_pb2_grpc.SudokuServiceStub(channel)
            response = sudoku.Solve(solve_request("easy"), timeout=PATIENCE)
        assert list(response.result.solutions) == [SOLUTIONS["easy"]]
        collector.accept()[0].close()

    (server,) = [pid for pid in descendants(process.pid) if Path(f"/proc/{pid}/comm").read_text() == "sudoku-server\n"]
    assert users(server) == {"65532"}
    os.kill(int(server), signal.SIGTERM)
    assert process.wait(timeout=PATIENCE) == 0
