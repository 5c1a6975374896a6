#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws a piece of a timeline that softfield trace wrote, with its arrows, for pages that cannot show Perfetto itself.
Usage: timeline_svg.py FILE.pftrace FIRST NUM > OUT.svg: NUM messages from the one of number FIRST on. Needs protoc."""
import html
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tests', 'system'))
import perfetto  # noqa: E402

WIDTH, LEFT, ROW, TOP = 980, 230, 26, 30
COLOURS = {'callback': '#7cb342', 'deliver': '#039be5', 'task': '#ffb300', 'state': '#d1c4e9'}
TICKS = 8


def slices(timeline, begin, end):
    """(track, level, first ns, last ns, name, flow) of what is seen between the two; an instant has no length."""
    stacks, done = {}, []
    for ns, kind, track, name, flow in timeline.events:
        stack = stacks.setdefault(track, [])
        if kind == 'BEGIN':
            stack.append((ns, name, flow))
        elif kind == 'END':
            first, was, flow = stack.pop()
            done.append((track, len(stack), first, ns, was, flow))
        else:
            done.append((track, len(stack), ns, ns, name, flow))
    done += [(track, level, first, end, name, flow) for track, stack in stacks.items() for level, (first, name, flow) in enumerate(stack)]
    return [it for it in done if it[2] <= end and it[3] >= begin]


def label(timeline, track):
    it = timeline.tracks[track]
    name = it['thread'][0]['thread_name'][0] if 'thread' in it else it['name'][0]
    return f'{timeline.process_of(track)}  {name}'


def colour(name):
    for word, it in COLOURS.items():
        if name.startswith(word):
            return it
    return COLOURS['state'] if ':' in name or name.isupper() else COLOURS['task']


def main():
    path, first, num = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    timeline = perfetto.Timeline(shutil.which('protoc'), path)
    timeline.check()
    order = {}
    for ns, _, _, _, flow in timeline.events:
        if flow:
            order.setdefault(flow, []).append(ns)
    shown = list(order)[first:first + num]
    begin, end = min(order[shown[0]]), max(max(order[flow]) for flow in shown)
    margin = (end - begin) // 20
    begin, end = begin - margin, end + 4 * margin
    seen = slices(timeline, begin, end)
    tracks, rows = sorted({it[0] for it in seen if 'receive' not in it[4] or 'callback' in it[4]}), {}
    for track in tracks:
        for level in range(1 + max(it[1] for it in seen if it[0] == track)):
            rows[track, level] = len(rows)
    place = {}
    scale = (WIDTH - LEFT - 10) / (end - begin)

    def x(ns):
        return round(LEFT + (min(max(ns, begin), end) - begin) * scale, 1)

    def y(row):
        return TOP + row * ROW

    height = y(len(rows)) + 10
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="11">',
           f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
           '<defs><marker id="a" viewBox="0 0 6 6" refX="6" refY="3" markerWidth="7" markerHeight="7" orient="auto">'
           '<path d="M0 0L6 3L0 6z" fill="#c62828"/></marker></defs>']
    for i in range(TICKS + 1):
        ns = begin + (end - begin) * i // TICKS
        out.append(f'<path d="M{x(ns)} {TOP - 6}V{height - 6}" stroke="#e0e0e0"/><text x="{x(ns)}" y="{TOP - 12}" fill="#666" '
                   f'text-anchor="middle">{ns - begin} ns</text>')
    for (track, level), row in rows.items():
        if level == 0:
            out.append(f'<text x="6" y="{y(row) + 15}">{html.escape(label(timeline, track))}</text>')
    for track, level, since, until, name, flow in sorted(seen, key=lambda it: it[2]):
        if (track, level) not in rows:
            continue
        row = rows[track, level]
        if flow and since >= begin:
            place.setdefault(flow, []).append((x(since), y(row) + ROW // 2 - 2, row))
        if since == until:
            out.append(f'<path d="M{x(since)} {y(row) + 3}l5 9l-10 0z" fill="#c62828"><title>{html.escape(name)}</title></path>'
                       f'<text x="{x(since) + 7}" y="{y(row) + 15}">{html.escape(name)}</text>')
            continue
        width = round(max(x(until) - x(since), 1.5), 1)
        out.append(f'<rect x="{x(since)}" y="{y(row) + 2}" width="{width}" height="{ROW - 6}" fill="{colour(name)}">'
                   f'<title>{html.escape(name)}, {until - since} ns</title></rect>')
        inside = width > 6 * len(name)
        text = name if inside else name.split(':')[0]
        if inside or x(until) < WIDTH - 60:
            out.append(f'<text x="{x(since) + 4 if inside else x(until) + 3}" y="{y(row) + 15}">{html.escape(text)}</text>')
    for steps in place.values():
        for (x1, y1, row1), (x2, y2, row2) in zip(steps, steps[1:]):
            if row1 != row2:
                bend = round((x1 + x2) / 2, 1)
                out.append(f'<path d="M{x1} {y1}C{bend} {y1} {bend} {y2} {x2} {y2}" fill="none" stroke="#c62828" marker-end="url(#a)"/>')
    print('\n'.join(out + ['</svg>']))


if __name__ == '__main__':
    main()
