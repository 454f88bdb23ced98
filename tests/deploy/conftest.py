"""What the tests of `deploy` share: real servers, and the programs that operators run beside them.

The stubs, the server's process and the puzzles are those of the foreign clients' tests.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "foreign/python"))

from server import generate_stubs, start_servers  # noqa: E402


def pytest_configure():
    generate_stubs()


@pytest.fixture
def start():
    """Starts a server with the given arguments; those that still run after the test are drained."""
    yield from start_servers()


@pytest.fixture(scope="session")
def program():
    """Finds a program; the test is skipped where it is missing, but not in CI, which installs it."""

    def find(name, package=None):
        # Debian keeps daemons where only root looks.
        found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
        if not found:
            give_up = pytest.fail if os.environ.get("CI") else pytest.skip
            give_up(f"no {name} here (apt-get install {package or name})")
        return found

    return find


@pytest.fixture
def run():
    """Starts a program that runs until the end of the test."""
    processes = []

    def run(command, **options):
        processes.append(subprocess.Popen(command, **options))
        return processes[-1]

    yield run
    for process in reversed(processes):
        process.terminate()
    for process in processes:
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        finally:
            for pipe in filter(None, [process.stdout, process.stderr]):
                pipe.close()
