"""HAProxy and nginx, as `deploy` sets them up, in front of three servers of which one is drained or killed under load."""

import json
import re
import time
import urllib.request
from contextlib import contextmanager

import grpc
import pytest
from load import Load
from server import ROOT

PATIENCE = 60
DRAIN_DELAY = "5s"
TLS = ROOT / "tests/fixtures/tls"
RETRIES = {
    "methodConfig": [
        {
            "name": [{"service": "sudoku.v1.SudokuService"}],
            "retryPolicy": {
                "maxAttempts": 4,
                "initialBackoff": "0.05s",
                "maxBackoff": "1s",
                "backoffMultiplier": 2,
                "retryableStatusCodes": ["UNAVAILABLE"],
            },
        }
    ]
}


# HAProxy 2.6 often makes CANCELLED of the error with which a server ends a stream whose client still writes.
ENDS_OF_STREAMS = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED}


class HAProxy:
    def __init__(self, program, run, folder, servers):
        self.socket = folder / "socket"
        certificate = folder / "sudoku.pem"
        certificate.write_bytes((TLS / "server.pem").read_bytes() + (TLS / "server.key").read_bytes())
        places = {"192.0.2.10:443": f"unix@{self.socket}", "/etc/haproxy/sudoku.pem": str(certificate)}
        for number, server in enumerate(servers, 11):
            places[f"192.0.2.{number}:50051 port 9464"] = f"{server.address} port {server.admin.rpartition(':')[2]}"
        config = folder / "haproxy.cfg"
        config.write_text(put(ROOT / "deploy/haproxy/haproxy.cfg", places))
        # A warning about the file is an error.
        self.process = run([program("haproxy"), "-dW", "-f", config])


class Nginx:
    def __init__(self, program, run, folder, servers):
        self.socket = folder / "socket"
        places = {
            "192.0.2.10:443": f"unix:{self.socket}",
            "/etc/nginx/sudoku.pem": str(TLS / "server.pem"),
            "/etc/nginx/sudoku.key": str(TLS / "server.key"),
        }
        for number, server in enumerate(servers, 11):
            places[f"192.0.2.{number}:50051"] = server.address
        config = folder / "nginx.conf"
        config.write_text(put(ROOT / "deploy/nginx/nginx.conf", places))
        start = f"daemon off; pid {folder}/pid;"
        self.process = run([program("nginx"), "-p", folder, "-e", "stderr", "-c", config, "-g", start])


def put(file, places):
    """The text of the file with these places instead of the ones that it has for an example."""
    text = file.read_text()
    for example, place in places.items():
        assert text.count(example) == 1, f"{file}: {example}"
        text = text.replace(example, place)
    return text


@contextmanager
def channel(proxy, retries):
    """A channel of gRPC's own client through the proxy, on one connection."""
    credentials = grpc.ssl_channel_credentials((TLS / "ca.pem").read_bytes())
    options = [
        ("grpc.ssl_target_name_override", "localhost"),
        ("grpc.enable_retries", int(retries)),
        ("grpc.service_config", json.dumps(RETRIES if retries else {})),
    ]
    with grpc.secure_channel(f"unix:{proxy.socket}", credentials, options) as channel:
        grpc.channel_ready_future(channel).result(timeout=PATIENCE)
        yield channel


def answered(server):
    """How many calls of Solve this server has answered well."""
    with urllib.request.urlopen(f"http://{server.admin}/metrics", timeout=PATIENCE) as answer:
        metrics = answer.read().decode()
    labels = {'grpc_method="Solve"', 'grpc_code="OK"'}
    series = re.findall(r"^grpc_server_handled_total{(.*)} (\d+)", metrics, re.MULTILINE)
    return sum(int(count) for names, count in series if labels <= set(names.split(",")))


def wait_until(holds, load):
    give_up = time.monotonic() + PATIENCE
    while not holds():
        assert not load.wrong
        assert time.monotonic() < give_up
        time.sleep(0.02)


def serve_more(load, servers):
    """Waits until each of these servers has answered further calls, and some messages have been answered."""
    before = [answered(server) for server in servers]
    messages = load.messages
    more = lambda: [answered(server) for server in servers]  # noqa: E731
    wait_until(lambda: all(now > then + 20 for now, then in zip(more(), before)), load)
    wait_until(lambda: load.messages > messages + 20, load)


@pytest.fixture
def servers(start):
    """Three, of which the first can be drained as the configurations want it."""
    admin = ["--admin-listen", "127.0.0.1:0"]
    return [start(*admin, "--drain-delay", DRAIN_DELAY), start(*admin), start(*admin)]


@pytest.fixture(params=[HAProxy, Nginx])
def proxy(request, program, run, servers, tmp_path):
    return request.param(program, run, tmp_path, servers)


def through(proxy):
    # HAProxy knows by itself what to leave out; nginx needs clients that retry.
    return channel(proxy, retries=isinstance(proxy, Nginx))


def test_a_drained_server_loses_no_call(proxy, servers):
    with through(proxy) as connection, Load(connection) as load:
        serve_more(load, servers)
        servers[0].drain()
        serve_more(load, servers[1:])
        assert servers[0].exit_status() == 0
        serve_more(load, servers[1:])
    assert load.wrong == []
    assert load.failed_calls == []
    assert {error.code() for error in load.broken_streams} <= ENDS_OF_STREAMS


def test_a_killed_server_takes_no_other_with_it(proxy, servers):
    with through(proxy) as connection, Load(connection) as load:
        serve_more(load, servers)
        servers[0].process.kill()
        servers[0].process.wait()
        serve_more(load, servers[1:])
    assert load.wrong == []
    # Lost is no more than what ran there, and those that were on the way.
    assert len(load.failed_calls) <= 2 * load.calls
    assert {error.code() for error in load.failed_calls} <= {grpc.StatusCode.UNAVAILABLE}
    with through(proxy) as connection, Load(connection) as load:
        serve_more(load, servers[1:])
    assert (load.wrong, load.failed_calls, load.broken_streams) == ([], [], [])
