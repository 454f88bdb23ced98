"""What the manifests say fits together, and fits the server. `kubernetes.test.js` holds them against the schemas."""

import re
import subprocess
import tomllib

import pytest
import yaml
from server import PROGRAM, ROOT

MANIFESTS = {
    manifest["kind"]: manifest
    for manifest in (yaml.safe_load(file.read_text()) for file in (ROOT / "deploy/kubernetes").glob("*.yaml"))
}
POD = MANIFESTS["Deployment"]["spec"]["template"]
CONTAINER = POD["spec"]["containers"][0]
PORTS = {port["name"]: port["containerPort"] for port in CONTAINER["ports"]}
UNITS = {"KiB": 2**10, "MiB": 2**20, "Mi": 2**20, "GiB": 2**30, "Gi": 2**30}


def size(text):
    number, unit = re.fullmatch(r"([\d.]+) ?(\w+)", text).groups()
    return float(number) * UNITS[unit]


def seconds(text):
    return int(re.fullmatch(r"(\d+)s", text)[1])


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    """All settings of a server with the ConfigMap, as the server itself reads them."""
    file = tmp_path_factory.mktemp("config") / "sudoku.toml"
    file.write_text(MANIFESTS["ConfigMap"]["data"]["sudoku.toml"])
    command = [PROGRAM, "--config", file, "--print-config"]
    return tomllib.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def test_the_server_is_started_with_the_settings(settings):
    mounts = {mount["name"]: mount["mountPath"] for mount in CONTAINER["volumeMounts"]}
    assert CONTAINER["args"] == ["--config", f"{mounts['config']}/sudoku.toml"]
    assert settings["tls-cert"] == f"{mounts['tls']}/tls.crt"
    assert settings["tls-key"] == f"{mounts['tls']}/tls.key"
    assert settings["listen"] == f"0.0.0.0:{PORTS['grpc']}"
    assert settings["admin-listen"] == f"0.0.0.0:{PORTS['admin']}"


def test_the_limits_fit_the_memory(settings):
    """By the table that `server/tests/memory.rs` holds the server to."""
    page = (ROOT / "docs/operating.md").read_text().split("## Memory")[1]
    table = re.findall(r"^\| (?:each of `)?([\w -]+)`? \| ([\d.]+ \w+) \|$", page, re.MULTILINE)
    assert len(table) >= 5
    assert settings["threads"] <= 2, "with more a stream takes more"
    held = sum(size(each) * (1 if what == "the program" else settings[what]) for what, each in table)
    assert held <= size(CONTAINER["resources"]["limits"]["memory"])


def test_a_pod_has_time_to_drain(settings):
    drain = seconds(settings["drain-delay"]) + seconds(settings["drain-deadline"])
    assert POD["spec"]["terminationGracePeriodSeconds"] > drain


def test_all_mean_the_same_pods():
    labels = POD["metadata"]["labels"]
    assert MANIFESTS["Service"]["spec"]["selector"] == labels
    for kind in ["Deployment", "PodDisruptionBudget"]:
        assert MANIFESTS[kind]["spec"]["selector"]["matchLabels"] == labels
    assert MANIFESTS["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"] == labels
    name = MANIFESTS["Deployment"]["metadata"]["name"]
    assert MANIFESTS["HorizontalPodAutoscaler"]["spec"]["scaleTargetRef"]["name"] == name


def test_only_monitoring_reaches_the_admin_port():
    rules = MANIFESTS["NetworkPolicy"]["spec"]["ingress"]
    (admin,) = [rule for rule in rules if {"port": "admin"} in rule["ports"]]
    (who,) = admin["from"]
    assert who["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": "monitoring"}
    assert all(rule.get("ports") and rule.get("from") for rule in rules), "a rule for all ports or everybody"
    probes = [CONTAINER[f"{kind}Probe"]["httpGet"]["port"] for kind in ["startup", "readiness", "liveness"]]
    assert probes == ["admin"] * 3
    assert [port["targetPort"] for port in MANIFESTS["Service"]["spec"]["ports"]] == ["grpc"]


def test_the_image_is_of_this_version():
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    assert CONTAINER["image"].endswith(f":{version}")
