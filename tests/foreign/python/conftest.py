"""Starts the real server for the tests."""

import pytest
from server import generate_stubs, start_servers


def pytest_configure():
    generate_stubs()


@pytest.fixture(scope="session")
def start():
    """Starts a server with the given arguments, and stops it after the last test."""
    yield from start_servers()


@pytest.fixture(scope="session")
def server(start):
    return start()


@pytest.fixture(scope="session")
def slow_server(start):
    """One thread for all: what the slow requests ask of it takes it a millisecond and more for each message."""
    return start("--threads", "1")
