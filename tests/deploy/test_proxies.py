"""Three servers of which one is drained or killed under load, behind what `deploy` sets up to spread calls over them."""

import json
import re
import socket
import subprocess
import time
import urllib.request
from contextlib import contextmanager

import grpc
import pytest
from load import Load
from proxies import TLS, HAProxy, Nginx
from server import PROGRAM, ROOT

PATIENCE = 60
DRAIN_DELAY = "5s"
CLIENT = PROGRAM.with_name("sudoku-client")

# HAProxy 2.6 often makes CANCELLED of the error with which a server ends a stream whose client still writes.
ENDS_OF_STREAMS = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED}


class RoundRobin:
    """No proxy: the clients know all servers and spread their calls themselves."""

    def __init__(self, _program, _run, _folder, servers, _listen):
        self.listen = "ipv4:" + ",".join(server.address for server in servers)


@contextmanager
def through(proxy):
    """A channel of gRPC's own client."""
    options = []
    # HAProxy knows what drains, so that clients need no retries for that.
    if isinstance(proxy, HAProxy):
        options += [("grpc.enable_retries", 0)]
    else:
        options += [("grpc.service_config", (ROOT / "deploy/grpc/service-config.json").read_text())]
    if isinstance(proxy, RoundRobin):
        options += [("grpc.default_authority", "sudoku-server")]
        opened = grpc.insecure_channel(proxy.listen, options)
    else:
        options += [("grpc.ssl_target_name_override", "localhost")]
        credentials = grpc.ssl_channel_credentials((TLS / "ca.pem").read_bytes())
        opened = grpc.secure_channel(proxy.listen, credentials, options)
    with opened as channel:
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


@pytest.fixture(params=[HAProxy, Nginx, RoundRobin])
def proxy(request, program, run, servers, tmp_path):
    # Proxies cannot pick a port and tell it.
    with socket.create_server(("127.0.0.1", 0)) as free:
        listen = f"127.0.0.1:{free.getsockname()[1]}"
    return request.param(program, run, tmp_path, servers, listen)


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


def test_streams_flow_at_full_speed(proxy, tmp_path):
    """The SDK writes as much as is taken from it, and so fills all buffers on the way."""
    if isinstance(proxy, RoundRobin):
        pytest.skip("is about proxies")
    load = ["bench", "--mode", "stream", "--concurrency", "4", "--count", "300000", "--format", "json"]
    place = ["--endpoint", f"https://{proxy.listen}", "--ca", TLS / "ca.pem", "--server-name", "localhost"]
    with through(proxy):
        pass  # it listens
    done = subprocess.run([CLIENT, *load, *place], stdout=subprocess.PIPE, text=True, timeout=PATIENCE)
    report = json.loads(done.stdout)
    assert (done.returncode, report["answered"], report["errors"]) == (0, 300_000, {})
