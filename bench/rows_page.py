# SPDX-License-Identifier: BSD-3-Clause
"""The results of bench/results: what a file must have, and the table of docs/performance.md that they make."""
import glob
import json
import os
import re
import statistics

import rows_machine
import rows_table

RESULTS = os.path.join(rows_machine.HERE, "results")
PAGE = os.path.join(rows_machine.SOURCE, "docs", "performance.md")
BEGIN = "<!-- begin of the table: written by bench/rows.py --page -->"
END = "<!-- end of the table -->"
MACHINE = {"cpu": str, "cpus": int, "sockets": int, "kernel": str, "hypervisor": bool}
FILE = {"format": int, "date": str, "machine": dict, "origin": dict, "command": str, "trial": bool, "rows": list}
ROW = {"row": str, "runs": int, "busy_share": float, "commands": list, "figures": list}
FORMAT = 1


class Bad(Exception):
    """A file that is no result to keep."""


# ---- what a file must have ----

def fields(found, wanted, where):
    for key, kind in wanted.items():
        number = kind is float and isinstance(found.get(key), (int, float)) and not isinstance(found.get(key), bool)
        if not number and not isinstance(found.get(key), kind):
            raise Bad(f"{where}: {key} is {found.get(key)!r}, not a {kind.__name__}")


def check_figure(row, figure, where):
    fields(figure, {"name": str, "unit": str, "value": float, "all": list}, where)
    known = {one.name: one for one in row.figures}.get(figure["name"])
    where = f"{where}, {figure['name']}"
    if known is None or known.unit != figure["unit"]:
        raise Bad(f"{where}: the row has no such figure in {figure['unit']}")
    peers = figure.get("peer_all")
    if peers is not None and known.peer is None:
        raise Bad(f"{where}: the row has nothing beside this figure")
    for numbers, value in ((figure["all"], figure["value"]), (peers, figure.get("peer_value"))):
        if numbers is not None and (not numbers or not all(isinstance(one, (int, float)) and one >= 0 for one in numbers)
                                    or statistics.median(numbers) != value):
            raise Bad(f"{where}: {value} is not the median of {numbers}")
    if known.bound is not None and min(figure["all"] + (peers or [])) <= 0:
        raise Bad(f"{where}: a run measured nothing: {figure['all']}, {peers}")
    if known.of_ratio and peers is None:
        raise Bad(f"{where}: nothing was measured beside it")


def check_row(found, machine, where):
    fields(found, {"row": str}, where)
    row = rows_table.BY_NAME.get(found["row"])
    where = f"{where}, {found['row']}"
    if row is None:
        raise Bad(f"{where}: there is no such row")
    if found.get("ran") is not True:
        fields(found, {"why": str}, where)
        return
    fields(found, ROW, where)
    if found["busy_share"] > rows_machine.BUSY_SHARE_MAX:
        raise Bad(f"{where}: {found['busy_share']:.0%} of the machine's CPUs did something else")
    if row.gpu and not machine.get("gpu") or machine["cpus"] < row.cpus:
        raise Bad(f"{where}: the machine has {machine['cpus']} CPUs and GPU {machine.get('gpu')}, which is too little")
    if not found["figures"] or found["runs"] < 3:
        raise Bad(f"{where}: {len(found['figures'])} figures of {found['runs']} runs; it takes three runs")
    for figure in found["figures"]:
        check_figure(row, figure, where)
        if len(figure["all"]) != found["runs"]:
            raise Bad(f"{where}, {figure['name']}: {len(figure['all'])} numbers of {found['runs']} runs")


def check(result, name):
    """Raises Bad. The name is that of the file: DATE-MACHINE.json, one for each machine and date."""
    fields(result, FILE, name)
    fields(result["machine"], MACHINE, name)
    fields(result["origin"], {"commit": str, "build_type": str}, name)
    if result["format"] != FORMAT or not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", result["date"]):
        raise Bad(f"{name}: format {result['format']}, date {result['date']}")
    if result["trial"] or not re.fullmatch(r"[0-9a-f]{7,40}", result["origin"]["commit"]):
        raise Bad(f"{name}: a trial, or of an unknown commit")
    if result["origin"].get("changed"):
        raise Bad(f"{name}: the source was changed after commit {result['origin']['commit']}")
    wanted = f"{result['date'][:10]}-{rows_machine.slug(result['machine'])}.json"
    if name != wanted:
        raise Bad(f"{name}: its name must be {wanted}")
    names = [row.get("row") for row in result["rows"]]
    if not names or len(set(names)) != len(names):
        raise Bad(f"{name}: no rows, or one twice")
    for row in result["rows"]:
        check_row(row, result["machine"], name)


def load(folder):
    """All results, oldest first. Raises Bad."""
    results = []
    for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
        try:
            with open(path, encoding="utf-8") as file:
                result = json.load(file)
        except ValueError as error:
            raise Bad(f"{os.path.basename(path)}: {error}") from error
        if not isinstance(result, dict):
            raise Bad(f"{os.path.basename(path)}: not an object")
        check(result, os.path.basename(path))
        results.append(dict(result, file=os.path.basename(path)))
    return sorted(results, key=lambda result: result["date"])


# ---- the table ----

def machine_key(result):
    return rows_machine.slug(result["machine"])


def number(value):
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def figure_lines(row, figure, newest):
    """A line of the table for each machine that has this figure, or one that says that there is none."""
    name, wanted = f"[{row.name}](#{row.name})", figure.wanted()
    before = row.before if figure is row.figures[0] else ""
    lines = []
    for letter, result, found in newest:
        one = {each["name"]: each for each in found["figures"]}.get(figure.name)
        if one is None:
            continue
        peer, ratio = "", ""
        if one.get("peer_value"):
            quotient = one["value"] / one["peer_value"]
            peer, ratio = f"{figure.peer}: {number(one['peer_value'])} {figure.unit}", f"{quotient:.2f}"
        reached = figure.reached(one["value"], one["value"] / one["peer_value"] if one.get("peer_value") else None)
        lines.append(f"| {name} | {figure.name} | {before} | {number(one['value'])} {figure.unit} | {peer} | {ratio} | {wanted} | "
                     f"{row.verdict({None: '', True: 'yes', False: 'no'}, reached)} | {letter}, {result['date'][:10]} |")
    if not lines and figure.bound is not None:
        lines.append(f"| {name} | {figure.name} | {before} | | | | {wanted} | | not measured |")
    return lines


def machine_line(letter, results):
    machine = results[-1]["machine"]
    kept = ", ".join(f"[{result['date'][:10]}](../bench/results/{result['file']}): commit {result['origin']['commit'][:8]}, "
                     f"{result['origin']['build_type']}" for result in results)
    return (f"| {letter} | {machine['cpu']}{', virtual' if machine['hypervisor'] else ''} | {machine['cpus']} | {machine['gpu'] or 'none'} | "
            f"{machine['kernel']} | {kept} |")


def table(results):
    """The generated part of the page, of results in the order of their dates."""
    machines = {}
    for result in results:
        machines.setdefault(machine_key(result), []).append(result)
    letters = {key: chr(ord("A") + i) if i < 26 else f"M{i}" for i, key in enumerate(sorted(machines))}
    lines = ["| row | figure | seen before | result | beside it | ratio | wanted | reached | machine, date |", "|" + " --- |" * 9]
    used = {}
    for row in rows_table.ROWS:
        newest = []
        for key, letter in letters.items():
            ran = [(result, found) for result in machines[key] for found in result["rows"] if found["row"] == row.name and found.get("ran")]
            if ran:
                newest.append((letter, *ran[-1]))
                if ran[-1][0] not in used.setdefault(key, []):
                    used[key].append(ran[-1][0])
        for figure in row.figures:
            lines += figure_lines(row, figure, newest)
    for row in rows_table.ROWS:
        if row.unchecked:
            lines += ["", f"By number, [{row.name}](#{row.name}): {row.unchecked}."]
    if used:
        lines += ["", "| machine | CPU | CPUs used | GPU | kernel | results |", "| --- | --- | --- | --- | --- | --- |"]
        lines += [machine_line(letters[key], sorted(kept, key=lambda result: result["date"])) for key, kept in sorted(used.items())]
    return "\n".join(lines)


def with_table(page, text):
    begin, end = page.find(BEGIN), page.find(END)
    if begin < 0 or end < begin:
        raise Bad(f"{PAGE} lacks the lines {BEGIN!r} and {END!r}")
    return page[:begin + len(BEGIN)] + "\n\n" + text + "\n\n" + page[end:]


def update(page_path=PAGE, results=RESULTS):
    """Writes the table into the page. Returns whether that changed it."""
    page = rows_machine.read(page_path)
    new = with_table(page, table(load(results)))
    if new != page:
        with open(page_path, "w", encoding="utf-8") as file:
            file.write(new)
    return new != page
