"""Checks that what the README shows is so.

Its first command runs in a fresh clone of what is committed here and must solve the puzzle it names, its second one is
the test command that CI runs, its Python is the example that the tests run, and its picture is what is drawn.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests/foreign/python"))

from grids import solves

EXAMPLE = "examples/python/solve.py"


def main():
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "checkout"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        readme = (clone / "README.md").read_text()
        quick_start = re.search(r"^## Quick start$(.*?)^## ", readme, re.MULTILINE | re.DOTALL)
        if not quick_start:
            sys.exit("README.md has no section 'Quick start'")
        (first, test), [picture, *_] = blocks("sh", quick_start[1]), blocks("text", quick_start[1])

        check("the test command is the one that CI runs", test.strip() == "cargo test")
        check(f"the Python is {EXAMPLE}", (clone / EXAMPLE).read_text() in blocks("python", readme))
        puzzle = re.search(r"[1-9.]{81}", first)
        solution = re.search(r"[1-9]{81}", run(first, clone))
        check("the first command names a puzzle and prints its solution",
              puzzle and solution and solves(solution[0], puzzle[0]))
        drawn = run(f"{first.strip()} --format pretty", clone)
        check("the picture is what is drawn on a terminal", drawn.strip() == picture.strip())


def blocks(language, markdown):
    """The fenced code blocks in that language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", markdown, re.MULTILINE | re.DOTALL)


def run(command, folder):
    # The dependencies that are built here already serve the clone too; all of the project itself is built anew.
    environment = {**os.environ, "CARGO_TARGET_DIR": str(ROOT / "target")}
    print("+", command.strip(), flush=True)
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=folder, env=environment, check=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    print(done.stdout, flush=True)
    return done.stdout


def check(what, holds):
    if not holds:
        sys.exit(f"README.md: not so: {what}")
    print("README.md:", what, flush=True)


main()
