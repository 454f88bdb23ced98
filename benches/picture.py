#!/usr/bin/env python3
"""Draws puzzles a second against puzzles a message, from what the throughput benchmark measured.

    cargo bench --bench throughput -- --sweep --peer-ns NANOSECONDS --json target/throughput.json
    benches/picture.py target/throughput.json docs/throughput.svg
"""

import json
import math
import statistics
import sys

WIDTH, HEIGHT = 720, 420
LEFT, RIGHT, TOP, BOTTOM = 70, 150, 50, 50
COLOURS = {"sudoku-server": "#1b6ca8", "bare tonic echo": "#888888", "crate sudoku, linked in": "#c05a2b"}


def lines(output):
    """The points of each line: puzzles a message, puzzles a second of the server's core."""
    found = {"sudoku-server": [], "bare tonic echo": []}
    for name, case in output["cases"].items():
        scenario, _, program = name.partition("/")
        if not scenario.startswith("sweep-"):
            continue
        line = found["sudoku-server" if program == "server" else "bare tonic echo"]
        # By the processor time, since the load is no match for an echo of small messages.
        cost = statistics.median(figures["cpu_ns"] for figures in case["rounds"])
        line.append((case["puzzles_per_message"], 1e9 / cost))
    sizes = [size for size, _ in found["sudoku-server"]]
    if sizes and output["peer_ns"] is not None:
        found["crate sudoku, linked in"] = [(size, 1e9 / output["peer_ns"]) for size in (min(sizes), max(sizes))]
    return {name: sorted(points) for name, points in found.items()}


def draw(found):
    """The picture, both of its axes logarithmic."""
    points = [point for line in found.values() for point in line]
    widest = math.log2(max(size for size, _ in points))
    lowest = math.floor(math.log10(min(rate for _, rate in points)))
    highest = math.ceil(math.log10(max(rate for _, rate in points)))

    def x(size):
        return LEFT + math.log2(size) / widest * (WIDTH - LEFT - RIGHT)

    def y(rate):
        return HEIGHT - BOTTOM - (math.log10(rate) - lowest) / (highest - lowest) * (HEIGHT - TOP - BOTTOM)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="24" font-size="14">Puzzles a second of one server core, 17 clues, uniqueness proved</text>',
    ]
    for power in range(lowest, highest + 1):
        for digit in (1, 2, 5) if power < highest else (1,):
            rate = digit * 10**power
            out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(rate):.1f}" y2="{y(rate):.1f}" stroke="#e4e4e4"/>')
            label = f"{rate / 1e6:g} M" if rate >= 1e6 else f"{rate / 1e3:g} k"
            out.append(f'<text x="{LEFT - 8}" y="{y(rate) + 4:.1f}" text-anchor="end">{label}</text>')
    for size in sorted({size for size, _ in found["sudoku-server"]}):
        out.append(f'<text x="{x(size):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{size:,}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    out.append(f'<text x="{middle}" y="{HEIGHT - 10}" text-anchor="middle">puzzles a message</text>')
    for name, line in found.items():
        path = " ".join(f"{x(size):.1f},{y(rate):.1f}" for size, rate in line)
        out.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[name]}" stroke-width="2"/>')
        size, rate = line[-1]
        out.append(f'<text x="{x(size) + 8:.1f}" y="{y(rate) + 4:.1f}" fill="{COLOURS[name]}">{name}</text>')
    return "\n".join([*out, "</svg>", ""])


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        found = lines(json.load(file))
    if not found["sudoku-server"]:
        sys.exit(f"picture: {sys.argv[1]} has no sweep; measure with --sweep")
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(draw(found))


if __name__ == "__main__":
    main()
