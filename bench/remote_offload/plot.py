#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws throughput and p99 latency against connections from what run.py wrote: plot.py RESULT.json PICTURE.svg"""
import json
import math
import sys

WIDTH, HEIGHT, LEFT, TOP, GAP = 340, 240, 62, 48, 84
SIDES = (("echo", "echo server", "#888888"), ("offload", "remote offload", "#1f6fb2"))


def nice_ceiling(value):
    """The next 1, 2 or 5 times a power of ten."""
    power = 10 ** math.floor(math.log10(value))
    return next(power * step for step in (1, 2, 5, 10) if power * step >= value)


def text(x, y, words, anchor="middle", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>{words}</text>'


def scale_linear(values):
    """Ticks, and where a value lies between 0 and 1."""
    top = nice_ceiling(max(values))
    return [top * step / 5 for step in range(6)], lambda value: value / top


def scale_log(values):
    """The same in decades, for values that differ by orders of magnitude."""
    low = math.floor(math.log10(min(values)))
    high = max(math.ceil(math.log10(max(values))), low + 1)
    return [10.0**power for power in range(low, high + 1)], lambda value: (math.log10(value) - low) / (high - low)


def panel(points, title, pick, scale, left):
    """One set of axes; connections in powers of two."""
    xs = [math.log2(point["connections"]) for point in points]
    ticks, height_of = scale([pick(point[side]) for point in points for side, _, _ in SIDES])
    span = max(xs[-1] - xs[0], 1)

    def at(x, y):
        return left + (x - xs[0]) / span * WIDTH, TOP + HEIGHT - height_of(y) * HEIGHT

    out = [text(left + WIDTH / 2, TOP - 14, title, more='font-weight="bold"')]
    for tick in ticks:
        y = at(xs[0], tick)[1]
        out.append(f'<line x1="{left}" y1="{y:.1f}" x2="{left + WIDTH}" y2="{y:.1f}" stroke="#dddddd"/>')
        out.append(text(left - 8, y + 4, f"{tick:g}", "end"))
    for x, point in zip(xs, points):
        out.append(text(at(x, ticks[-1])[0], TOP + HEIGHT + 18, point["connections"]))
    out.append(text(left + WIDTH / 2, TOP + HEIGHT + 38, "connections"))
    for side, _, colour in SIDES:
        places = [at(x, pick(point[side])) for x, point in zip(xs, points)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
    return out


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1]) as stream:
        result = json.load(stream)
    points = result["points"]
    second = LEFT + WIDTH + GAP
    out = panel(points, "million messages a second", lambda side: side["operations_s"] / 1e6, scale_linear, LEFT)
    out += panel(points, "p99 latency, milliseconds", lambda side: side["p99_us"] / 1e3, scale_log, second)
    total = second + WIDTH + 24
    for place, (_, name, colour) in enumerate(SIDES):
        x, y = LEFT + 190 * place, TOP + HEIGHT + 66
        out.append(f'<line x1="{x}" y1="{y - 4}" x2="{x + 24}" y2="{y - 4}" stroke="{colour}" stroke-width="2"/>')
        out.append(text(x + 30, y, name, "start"))
    out.append(text(total - 24, TOP + HEIGHT + 66, f"{result['message_bytes']} bytes, {result['depth']} in flight on a connection, "
                    f"CPUs {result['cpus']}, medians of {result['runs']}", "end", 'fill="#555555"'))
    with open(sys.argv[2], "w") as stream:
        stream.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total} {TOP + HEIGHT + 84}" font-family="sans-serif" '
                     f'font-size="12">\n<rect width="100%" height="100%" fill="white"/>\n')
        stream.write("\n".join(out) + "\n</svg>\n")


if __name__ == "__main__":
    main()
