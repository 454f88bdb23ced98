"""The clients in `examples`, each with what its own lock file pins: both take the same arguments and print the same."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cases import PUZZLES, SOLUTIONS
from connection import TIMEOUT
from server import ROOT, STUBS

TLS = ROOT / "tests/fixtures/tls"
TOKEN = "the token of these tests"
CLIENTS = {
    "python": [ROOT / "examples/python/.venv/bin/python", ROOT / "examples/python/client.py"],
    "node": ["node", ROOT / "examples/node/client.js"],
}


@pytest.fixture(params=CLIENTS)
def run(request):
    """Runs a client, and gives its exit status, what it printed, and what it complained of."""

    def run(server, *arguments, puzzles=None, token=None):
        environment = {**os.environ, "PYTHONPATH": STUBS.name}
        environment.pop("SUDOKU_TOKEN", None)
        if token:
            environment["SUDOKU_TOKEN"] = token
        done = subprocess.run(
            [*CLIENTS[request.param], "--endpoint", server.address, *arguments],
            env=environment, input=puzzles, capture_output=True, text=True, timeout=TIMEOUT,
        )
        return done.returncode, done.stdout, done.stderr

    return run


def test_helps_and_refuses_without_a_trace(server, run):
    status, shown, errors = run(server, "--help")
    assert (status, errors) == (0, "")
    assert "--token-file" in shown and "batch" in shown
    for arguments in [["--no-such-option", "solve", "53..7"], ["solve"], ["--limit"], []]:
        status, shown, errors = run(server, *arguments)
        assert (status, shown) == (2, ""), errors
        assert "usage: " in errors
        assert "Traceback" not in errors and "    at " not in errors


def test_docs_show_what_works(server, tmp_path):
    """Runs the commands of docs/clients.md in their order, but for those that install or start what is there."""
    shown = (ROOT / "docs/clients.md").read_text()
    blocks = re.findall(r"^```sh\n(.*?)^```$", shown, re.MULTILINE | re.DOTALL)
    script = "".join(blocks).replace("\\\n", " ")
    installs = re.compile(r"^(python3 -m venv|\S*pip install|npm ci|sudoku-server|cargo run|curl) .*\n", re.MULTILINE)
    script = installs.sub("", script).replace("127.0.0.1:50051", server.address)
    script = re.sub(r"client\.(py|js)", rf"\g<0> --endpoint {server.address}", script)
    # Stubs and puzzles go where nothing else is.
    for name in ["proto", "examples"]:
        (tmp_path / name).mkdir()
    (tmp_path / "proto/sudoku").symlink_to(ROOT / "proto/sudoku")
    for language in ["python", "node"]:
        shutil.copytree(ROOT / "examples" / language, tmp_path / "examples" / language, symlinks=True)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=TIMEOUT,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(f"unique {SOLUTIONS['easy']}") == 4, done.stdout
    assert done.stdout.count("invalid: ") == 2, done.stdout
    assert '"outcome": "OUTCOME_UNIQUE"' in done.stdout


def test_solves_one(server, run):
    assert run(server, "solve", PUZZLES["easy"]) == (0, f"unique {SOLUTIONS['easy']}\n", "")


def test_answers_each_line_in_its_place(server, run):
    lines = [PUZZLES["easy"], "no puzzle"] * 20_000
    status, answers, errors = run(server, "batch", puzzles="\n".join(lines))
    assert (status, errors) == (0, "")
    answers = answers.splitlines()
    assert len(answers) == len(lines)
    assert set(answers[::2]) == {f"unique {SOLUTIONS['easy']}"}
    assert all(answer.startswith("invalid: ") for answer in answers[1::2])


def test_says_what_is_wrong(server, run):
    status, answers, errors = run(server, "solve", "53..7")
    assert (status, answers) == (1, "")
    assert errors.startswith("INVALID_ARGUMENT: ")
    assert "INVALID_PUZZLE" in errors and "BadRequest" in errors
    status, _, errors = run(server, "--limit", "10001", "batch", puzzles=PUZZLES["easy"])
    assert status == 1
    assert "OPTION_OUT_OF_RANGE" in errors and "options.solution_limit" in errors


def test_keeps_its_deadline(server, run):
    status, _, errors = run(server, "--deadline", "0.000001", "solve", PUZZLES["easy"])
    assert (status, errors.split(":")[0]) == (1, "DEADLINE_EXCEEDED")


def test_a_deadline_ends_a_batch_that_waits_for_lines(server, run):
    reader, writer = os.pipe()
    try:
        environment = {**os.environ, "PYTHONPATH": STUBS.name}
        client = [*CLIENTS["node"], "--endpoint", server.address, "--deadline", "1", "batch"]
        done = subprocess.run(client, env=environment, stdin=reader, capture_output=True, text=True, timeout=TIMEOUT)
        assert (done.returncode, done.stderr.split(":")[0]) == (1, "DEADLINE_EXCEEDED")
    finally:
        os.close(reader)
        os.close(writer)


@pytest.fixture(scope="module")
def guarded(start, tmp_path_factory):
    """A server that shows a certificate, asks for one, and for a token."""
    tokens = tmp_path_factory.mktemp("tokens") / "tokens"
    tokens.write_text(f"tests {hashlib.sha256(TOKEN.encode()).hexdigest()}\n")
    return start(
        "--tls-cert", TLS / "server.pem", "--tls-key", TLS / "server.key", "--tls-client-ca", TLS / "ca.pem",
        "--token-file", tokens,
    )


def test_gets_in_with_a_certificate_and_a_token(guarded, run, tmp_path):
    tls = ["--ca", TLS / "ca.pem", "--server-name", "localhost"]
    known = [*tls, "--cert", TLS / "client.pem", "--key", TLS / "client.key"]
    solved = (0, f"unique {SOLUTIONS['easy']}\n", "")
    assert run(guarded, *known, "solve", PUZZLES["easy"], token=TOKEN) == solved
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    assert run(guarded, *known, "--token-file", file, "solve", PUZZLES["easy"]) == solved
    status, answers, _ = run(guarded, *known, "batch", puzzles=PUZZLES["easy"], token=TOKEN)
    assert (status, answers) == solved[:2]

    for token in [None, "another token"]:
        status, _, errors = run(guarded, *known, "solve", PUZZLES["easy"], token=token)
        assert (status, errors.split(":")[0]) == (1, "UNAUTHENTICATED")
    status, _, errors = run(guarded, *tls, "--deadline", "5", "solve", PUZZLES["easy"], token=TOKEN)
    # gRPC for Python also logs why the handshake failed.
    assert status == 1 and "UNAVAILABLE: " in errors
