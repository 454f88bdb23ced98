#!/usr/bin/env python3
"""Measures what one server on one core serves, and what a second one on the next core adds.

    just scaling [FILE...]      (puzzles; by default those of the tests)

Each server solves with one thread and is pinned to a core of its own. With one of them, the load has the other core; with two,
the load (and HAProxy, where it is asked to spread the calls) takes its time from them. So the processor time of each is told
too. What is compared is measured in turn, round by round; each figure is the median of the rounds.
"""

import argparse
import json
import os
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests/foreign/python"), str(ROOT / "tests/deploy")]

from proxies import TLS, HAProxy  # noqa: E402

PROGRAMS = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
MODES = {"streams": ["--mode", "stream", "--concurrency", "4"], "calls": ["--mode", "unary", "--concurrency", "32"]}
TICKS = os.sysconf("SC_CLK_TCK")


class Server:
    """A server pinned to some cores, with a solving thread for each."""

    def __init__(self, cores):
        listen = ["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--threads", str(len(cores))]
        self.process = subprocess.Popen(
            ["taskset", "-c", ",".join(cores), PROGRAMS / "sudoku-server", *listen],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )
        self.address = self.process.stdout.readline().strip()
        self.admin = urlsplit(self.process.stdout.readline().strip()).netloc


def processor_time(processes):
    """Seconds that these have taken so far."""
    total = 0
    for process in processes:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / TICKS


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def measure(where, mode, servers, proxy, alone, arguments):
    """Puts the load on, and tells puzzles a second and the cores that were in use meanwhile."""
    ours, theirs = [server.process for server in servers], [proxy.process] if proxy else []
    command = [PROGRAMS / "sudoku-client", "bench", *where, *MODES[mode], "--format", "json"]
    command += ["--duration", f"{arguments.seconds}s", *arguments.files]
    if alone:
        command = ["taskset", "-c", "1", *command]
    spent = lambda: resource.getrusage(resource.RUSAGE_CHILDREN)  # noqa: E731
    before = processor_time(ours), processor_time(theirs), spent()
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{command}: {done.stdout}")
    report = json.loads(done.stdout)
    after = processor_time(ours), processor_time(theirs), spent()
    load = after[2].ru_utime + after[2].ru_stime - before[2].ru_utime - before[2].ru_stime
    seconds = report["seconds"]
    return (
        report["answered_per_second"],
        (after[0] - before[0]) / seconds,
        (load + after[1] - before[1]) / seconds,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", help="files of puzzles")
    parser.add_argument("--seconds", type=int, default=3, help="for each measurement")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    if not {0, 1} <= os.sched_getaffinity(0):
        sys.exit("needs the cores 0 and 1")

    with ExitStack() as started:
        folder = started.enter_context(tempfile.TemporaryDirectory())

        def run(command, **options):
            process = subprocess.Popen(command, stderr=subprocess.DEVNULL, **options)
            started.callback(lambda: (process.terminate(), process.wait()))
            return process

        def find(name):
            return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") or sys.exit(f"needs {name}")

        def serve(cores):
            server = Server(cores)
            started.callback(lambda: (server.process.terminate(), server.process.wait()))
            return server

        servers = [serve("0"), serve("1")]
        both = serve("01")
        ways = {("the SDK", "1 on two cores"): (["--endpoint", f"http://{both.address}"], [both], None)}
        for count in [1, 2]:
            some = servers[:count]
            direct = [part for server in some for part in ("--endpoint", f"http://{server.address}")]
            ways["the SDK", str(count)] = direct, some, None
            place = Path(folder, str(count))
            place.mkdir()
            proxy = HAProxy(find, run, place, some, f"127.0.0.1:{free_port()}")
            if count == 1:
                # All of its threads.
                for thread in Path(f"/proc/{proxy.process.pid}/task").iterdir():
                    os.sched_setaffinity(int(thread.name), {1})
            through = ["--endpoint", f"https://{proxy.listen}", "--ca", TLS / "ca.pem", "--server-name", "localhost"]
            ways["HAProxy", str(count)] = through, some, proxy

        print("| how | spread by | servers | puzzles/s | to one | servers' cores | others' cores | puzzles a core-second |")
        print("|---|---|---|---:|---:|---:|---:|---:|")
        for mode in MODES:
            rounds = {way: [] for way in ways}
            for _ in range(arguments.rounds):
                for way, (where, some, proxy) in ways.items():
                    rounds[way].append(measure(where, mode, some, proxy, way[1] == "1", arguments))
            for (who, count), figures in rounds.items():
                rate, busy, others = (statistics.median(column) for column in zip(*figures))
                ratio = statistics.median(now[0] / one[0] for now, one in zip(figures, rounds[who, "1"]))
                share = statistics.median(figure[0] / figure[1] for figure in figures)
                print(f"| {mode} | {who} | {count} | {rate:,.0f} | {ratio:.2f} | {busy:.2f} | {others:.2f} | {share:,.0f} |", flush=True)


main()
