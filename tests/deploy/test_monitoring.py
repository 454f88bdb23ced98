"""A real Prometheus that scrapes a real server has data for every query of the dashboard, and for all that the alerts ask."""

import itertools
import json
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from threading import Thread

import grpc
import pytest
import yaml
from cases import solve_many_request, solve_request
from server import ROOT
from sudoku.v1 import sudoku_pb2_grpc

PATIENCE = 60
PANELS = [
    panel
    for panel in json.loads((ROOT / "deploy/grafana/sudoku-server.json").read_text())["panels"]
    if panel["type"] != "row"
]
ALERTS = ROOT / "deploy/prometheus/alerts.yaml"
CONFIG = ROOT / "deploy/prometheus/prometheus.yaml"


class Prometheus:
    """Prometheus as it is set up in `deploy`, but on a port that it picks, scraping these servers twice a second."""

    def __init__(self, program, run, folder, servers):
        config = yaml.safe_load(CONFIG.read_text())
        config["global"] = {"scrape_interval": "500ms", "evaluation_interval": "1s"}
        config["rule_files"] = [str(CONFIG.parent / rules) for rules in config["rule_files"]]
        config["scrape_configs"][0]["static_configs"][0]["targets"] = servers
        # JSON is YAML.
        (folder / "prometheus.yaml").write_text(json.dumps(config))
        log = folder / "log"
        with log.open("w") as file:
            self.process = run(
                [program, f"--config.file={folder}/prometheus.yaml", f"--storage.tsdb.path={folder}/data"]
                + ["--web.listen-address=127.0.0.1:0", "--log.format=json"],
                stderr=file,
            )
        self.address = self._wait_for(lambda: self._listens_on(log))
        self._wait_for(lambda: self.get("query", query="up") is not None)

    def _wait_for(self, done):
        give_up = time.monotonic() + PATIENCE
        while not (result := done()):
            assert self.process.poll() is None, "prometheus ended"
            assert time.monotonic() < give_up, "prometheus does not start"
            time.sleep(0.05)
        return result

    @staticmethod
    def _listens_on(log):
        # The last line may not be whole yet.
        for line in log.read_text().split("\n")[:-1]:
            entry = json.loads(line)
            if entry.get("msg") == "Listening on":
                return entry["address"]
        return None

    def get(self, path, **query):
        """What the API answers, or nothing while it is not ready."""
        url = f"http://{self.address}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        try:
            with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            if error.code != 503:
                raise AssertionError(f"{query}: {error.read().decode()}") from error
            return None

    def wait_for_data(self, query):
        """Waits for a sample that is a number."""
        give_up = time.monotonic() + PATIENCE
        while True:
            samples = self.get("query", query=query)["result"]
            if any(sample["value"][1] != "NaN" for sample in samples):
                return
            assert time.monotonic() < give_up, f"no data: {query}"
            time.sleep(0.2)


def load(channel, stop):
    """Calls of all kinds, one after the other, until told to stop; some fail."""
    sudoku = sudoku_pb2_grpc.SudokuServiceStub(channel)
    for number in itertools.count():
        if stop:
            return
        sudoku.Solve(solve_request("hard"), timeout=PATIENCE)
        list(sudoku.SolveMany(iter([solve_many_request(["easy", "empty"])] * 10), timeout=PATIENCE))
        if number % 10 == 0:
            with pytest.raises(grpc.RpcError):
                sudoku.Solve(solve_request("easy cut short"), timeout=PATIENCE)


@pytest.fixture
def prometheus(program, run, start, tmp_path):
    """A Prometheus that watches two servers, both under load."""
    path = program("prometheus")
    servers = [start("--admin-listen", "127.0.0.1:0") for _ in range(2)]
    stop = []
    channels = [grpc.insecure_channel(server.address) for server in servers]
    threads = [Thread(target=load, args=(channel, stop)) for channel in channels]
    for thread in threads:
        thread.start()
    try:
        yield Prometheus(path, run, tmp_path, [server.admin for server in servers])
    finally:
        stop.append(True)
        for thread in threads:
            thread.join()
        for channel in channels:
            channel.close()


def test_queries_have_data(prometheus):
    for panel in PANELS:
        for target in panel["targets"]:
            # What Grafana puts in place of its variables.
            query = target["expr"].replace("$__rate_interval", "10s")
            prometheus.wait_for_data(query.replace("$job", "sudoku-server").replace("$instance", ".*"))

    instances = prometheus.get("label/instance/values", **{"match[]": "sudoku_build_info"})
    assert len(instances) == 2

    # An alert that asks for what the server does not count would never fire.
    asked = set()
    for rule in yaml.safe_load(ALERTS.read_text())["groups"][0]["rules"]:
        asked.update(re.findall(r"\b(?:up\b|(?:grpc|sudoku|process)_\w+(?=[{\[ ]))(?:{[^}]*})?", rule["expr"]))
    assert len(asked) > 5
    for selector in asked:
        prometheus.wait_for_data(selector)
    groups = prometheus.get("rules")["groups"]
    assert {rule["health"] for group in groups for rule in group["rules"]} == {"ok"}


def test_panels_are_laid_out():
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)
    taken = [
        (x, y)
        for panel in PANELS
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(set(taken)) == len(taken), "panels overlap"
    assert all(x < 24 for x, _ in taken)
    assert all(target["datasource"]["uid"] == "${datasource}" for panel in PANELS for target in panel["targets"])
