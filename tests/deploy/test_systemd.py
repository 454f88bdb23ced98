"""The unit is one that systemd understands, shuts the server in, and leaves it the system calls that it makes."""

import re
import signal
import subprocess
import time
from pathlib import Path
from urllib.request import urlopen

import grpc
import pytest
from load import Load
from server import PROGRAM, ROOT

FOLDER = ROOT / "deploy/systemd"
PATIENCE = 60


@pytest.fixture
def unit(tmp_path):
    """The unit with the program that is built here."""
    text = (FOLDER / "sudoku-server.service").read_text()
    assert text.count("/usr/local/bin/sudoku-server ") == 1
    file = tmp_path / "sudoku-server.service"
    file.write_text(text.replace("/usr/local/bin/sudoku-server ", f"{PROGRAM} "))
    return file


@pytest.fixture
def analyze(program):
    """Runs systemd-analyze, and gives its exit status and all that it says."""
    path = program("systemd-analyze", "systemd")

    def analyze(*arguments):
        done = subprocess.run([path, "--no-pager", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    return analyze


def test_systemd_understands_it(unit, analyze):
    assert analyze("verify", unit) == (0, "")
    unit.write_text(unit.read_text().replace("ProtectHome=", "ProtectHoem="))
    _, complaint = analyze("verify", unit)
    assert "ProtectHoem" in complaint


def test_the_user_is_made(program):
    make = [program("systemd-sysusers", "systemd"), "--dry-run", FOLDER / "sudoku-server.sysusers.conf"]
    done = subprocess.run(make, check=True, capture_output=True, text=True)
    assert "sudoku" in done.stdout + done.stderr


def test_it_is_shut_in(unit, analyze):
    # In tenths of a point, of which 100 is a service with all rights.
    limit = ["security", "--offline=yes", "--threshold=15", unit]
    status, report = analyze(*limit)
    assert status == 0, report
    unit.write_text(re.sub(r"^(ProtectSystem|NoNewPrivileges)=.*\n", "", unit.read_text(), flags=re.MULTILINE))
    assert analyze(*limit)[0] != 0


def allowed(unit, analyze):
    """The system calls that the unit leaves to the server."""

    def members(names):
        for name in names:
            if name.startswith("@"):
                status, found = analyze("syscall-filter", name)
                assert status == 0, found
                listed = [line.strip() for line in found.splitlines()[1:]]
                yield from members(one for one in listed if one and not one.startswith("#"))
            else:
                yield name

    calls = set()
    for line in re.findall(r"^SystemCallFilter=(.*)$", unit.read_text(), re.MULTILINE):
        if line.startswith("~"):
            calls -= set(members(line[1:].split()))
        else:
            calls |= set(members(line.split()))
    return calls


def test_it_leaves_the_system_calls_that_the_server_makes(unit, analyze, program, run, tmp_path):
    log = tmp_path / "calls"
    tracer = [program("strace"), "-f", "-qq", "-e", "signal=none", "-o", log]
    socket = tmp_path / "socket"
    server = [PROGRAM, "--listen", f"127.0.0.1:0,unix:{socket}", "--admin-listen", "127.0.0.1:0"]
    process = run([*tracer, *server], stdout=subprocess.PIPE, text=True)
    address, _, admin = [process.stdout.readline().strip() for _ in range(3)]
    with urlopen(f"{admin}/metrics", timeout=PATIENCE) as answer:
        assert b"process_open_fds" in answer.read()
    with grpc.insecure_channel(address) as channel, Load(channel, calls=2, streams=2) as load:
        give_up = time.monotonic() + PATIENCE
        while load.solved < 20 or load.messages < 20:
            assert not load.wrong
            assert time.monotonic() < give_up
            time.sleep(0.05)
    (traced,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    for number in [signal.SIGHUP, signal.SIGTERM]:
        subprocess.run(["kill", f"-{int(number)}", traced], check=True)
    assert process.wait(timeout=PATIENCE) == 0

    made = set(re.findall(r"^\d+ +(?:<\.\.\. )?(\w+)(?:\(| resumed)", log.read_text(), re.MULTILINE))
    assert {"accept4", "clone3", "epoll_wait"} <= made
    assert made - allowed(unit, analyze) == set()
