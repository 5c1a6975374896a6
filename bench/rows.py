#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the rows of docs/performance.md: each beside its peer in one run, medians of several runs, with the bound that is wanted.

    bench/rows.py build --cpu --out .                     # the rows without a GPU; writes DATE-MACHINE.json here
    bench/rows.py build --row sync-event --runs 9 --out file.json
    bench/rows.py build --trial                           # every row with tiny counts: whether it works, no numbers to keep
    bench/rows.py --page                                  # the table of docs/performance.md from bench/results
    bench/rows.py --check                                 # whether that is what the page has

On a machine without a build folder, of a copy that holds programs and libraries:

    bench/rows.py build --pack FOLDER                     # here
    FOLDER/bench/rows.py --bin-dir FOLDER --gpu --out .   # there

--bin-dir takes programs from the folder or its bin/, libraries from it or its lib/, the allreduce plugin from plugins/. A row whose
hardware or program is missing is reported as not run. A result that is to be kept is of an idle machine and at least three runs; copy it
to bench/results. Exit status: 0, 1 when a benchmark failed, 2 for a wrong command line. A missed bound is no failure.
"""
import argparse
import datetime
import json
import os
import shlex
import statistics
import sys
import time

import rows_machine
import rows_page
import rows_table


def numbers_of(row, runs):
    """The figures of a row as a result has them, of one dictionary for each run."""
    for figure in row.figures:
        values = [one[figure.name] for one in runs if figure.name in one]
        if len(values) != len(runs):
            continue
        found = {"name": figure.name, "unit": figure.unit, "value": statistics.median(value for value, _ in values),
                 "all": [value for value, _ in values], "wanted": figure.wanted()}
        if figure.bound is not None and any(one is not None and not one > 0 for pair in values for one in pair):
            raise rows_table.Failed(f"{figure.name}: a run measured nothing: {values}")
        ratio = None
        if all(peer is not None for _, peer in values):
            found |= {"peer": figure.peer, "peer_value": statistics.median(peer for _, peer in values), "peer_all": [peer for _, peer in values]}
            ratio = found["value"] / found["peer_value"] if found["peer_value"] else None
            found["ratio"] = ratio
        if not figure.of_ratio or ratio is not None:
            found["reached"] = figure.reached(found["value"], ratio)
        yield found


def missing(row, programs, gpu, trial):
    """Why a row cannot run here, or None."""
    if row.gpu and not gpu and not trial:
        return "there is no NVIDIA GPU here"
    if len(rows_machine.cpus()) < row.cpus and not trial:
        return f"it takes {row.cpus} CPUs, and {len(rows_machine.cpus())} may be used"
    for program in row.programs:
        script = os.path.join(rows_machine.HERE, os.path.relpath(program, "bench"))
        if not os.path.exists(programs.path(program)) and not (program in map("bench/{}".format, rows_machine.SCRIPTS) and os.path.exists(script)):
            return f"{program} is not built"
    return None


def measure(row, programs, gpu, options):
    """The row's entry of the result, and whether a benchmark failed."""
    entry = {"row": row.name, "what": row.what, "ran": False}
    why = missing(row, programs, gpu, options.trial)
    if why is not None:
        return entry | {"why": why}, False
    run = rows_table.Run(programs, row.gpu, options.trial)
    runs = 1 if options.trial else options.runs or row.runs
    busy, began = rows_machine.busy_share(0.1 if options.trial else 1), time.monotonic()
    try:
        found = list(numbers_of(row, [row.measure(run) for _ in range(runs)]))
    except rows_table.Missing as error:
        return entry | {"why": str(error)}, False
    except (rows_table.Failed, KeyError, TypeError, ValueError, OSError) as error:
        return entry | {"why": f"failed: {type(error).__name__}: {error}"}, True
    if not found:
        return entry | {"why": "failed: no figure in every run"}, True
    return entry | {"ran": True, "runs": runs, "busy_share": round(busy, 4), "seconds": round(time.monotonic() - began, 1),
                    "commands": run.commands, "figures": found}, False


def show(row, entry):
    if not entry["ran"]:
        print(f"{row.name:20} not run: {entry['why']}", flush=True)
        return
    for figure in entry["figures"]:
        beside = ""
        if figure.get("ratio") is not None:
            beside = f"{figure['peer']} {figure['peer_value']:.4g}, ratio {figure['ratio']:.2f}"
        reached = row.verdict({None: "", True: "reached", False: "missed"}, figure.get("reached"))
        print(f"{row.name:20} {figure['name']:30} {figure['value']:9.4g} {figure['unit']:5} {beside:44} {figure['wanted']:28} {reached}",
              flush=True)
    if entry["busy_share"] > rows_machine.BUSY_SHARE_MAX:
        print(f"{row.name:20} not to be kept: before it began, {entry['busy_share']:.0%} of the CPUs did something else", flush=True)


def command_of(options):
    """As it can be repeated anywhere: without this machine's paths."""
    words = ["bench/rows.py", *(["BUILD"] if options.build else ["--bin-dir", "FOLDER"])]
    words += ["--gpu"] * options.gpu + ["--cpu"] * options.cpu + ["--trial"] * options.trial
    for name in options.row or []:
        words += ["--row", name]
    return shlex.join(words + (["--runs", str(options.runs)] if options.runs else []))


def place_of(result, out):
    if os.path.isdir(out):
        return os.path.join(out, f"{result['date'][:10]}-{rows_machine.slug(result['machine'])}.json")
    return out


def earlier(result, path):
    """What an earlier command of the same day, machine and build wrote to this file, or None. Ends the program for another file's."""
    text = rows_machine.read(path)
    if not text:
        return None
    try:
        before = json.loads(text)
        same = all(before[key] == result[key] for key in ("format", "machine", "origin", "trial")) and before["date"][:10] == result["date"][:10]
    except (ValueError, KeyError, TypeError):
        same = False
    if not same:
        sys.exit(f"{path} is there, of another day, machine or build: name another file")
    return before


def joined(before, result):
    """Both commands' rows, the later one's where both ran."""
    if before is None:
        return result
    ran = {row["row"] for row in result["rows"] if row["ran"]}
    kept = [row for row in before["rows"] if row["row"] not in ran]
    names = {row["row"] for row in kept}
    return result | {"command": f"{before['command']}; {result['command']}", "rows": kept + [row for row in result["rows"] if row["row"] not in names]}


def write(result, path):
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    os.replace(path + ".new", path)


def run_rows(options, parser):
    names = options.row or [row.name for row in rows_table.ROWS if row.gpu == options.gpu or options.gpu == options.cpu]
    unknown = [name for name in names if name not in rows_table.BY_NAME]
    if unknown:
        parser.error(f"there is no row {unknown[0]}: {', '.join(rows_table.BY_NAME)}")
    programs = rows_machine.Programs(options.build, options.bin_dir)
    machine = rows_machine.describe()
    gpu = machine["gpu"] is not None
    result = {"format": rows_page.FORMAT, "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
              "machine": machine, "origin": programs.origin, "command": command_of(options), "trial": options.trial, "rows": []}
    failures, path = 0, place_of(result, options.out) if options.out else None
    before = earlier(result, path) if path else None
    try:
        for name in names:
            row = rows_table.BY_NAME[name]
            entry, failed = measure(row, programs, gpu, options)
            failures += failed
            result["rows"].append(entry)
            show(row, entry)
            if path:  # what is measured stays if a later row takes too long
                write(joined(before, result), path)
    finally:
        programs.close()
    if path:
        print(f"written: {path}")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", help="build folder")
    parser.add_argument("--bin-dir", help="a folder of copied programs and libraries, in place of a build folder")
    parser.add_argument("--row", action="append", help="only this row; may be repeated")
    parser.add_argument("--gpu", action="store_true", help="only the rows that need a GPU")
    parser.add_argument("--cpu", action="store_true", help="only the rows that need none")
    parser.add_argument("--runs", type=int, help="runs of each row, in place of its own number")
    parser.add_argument("--trial", action="store_true", help="tiny counts, one run, the software GPU")
    parser.add_argument("--out", help="write the result here: a file, or a folder for DATE-MACHINE.json")
    parser.add_argument("--pack", metavar="FOLDER", help="copy what the rows need to this folder, for --bin-dir")
    parser.add_argument("--page", action="store_true", help="write the table of docs/performance.md from bench/results")
    parser.add_argument("--check", action="store_true", help="exit with 1 if the page has another table, or a result is not well formed")
    options = parser.parse_args()
    if options.page or options.check:
        try:
            page = rows_machine.read(rows_page.PAGE)
            same = rows_page.with_table(page, rows_page.table(rows_page.load(rows_page.RESULTS))) == page
            if options.page:
                rows_page.update()
        except rows_page.Bad as error:
            sys.exit(str(error))
        if options.check and not same:
            sys.exit("docs/performance.md does not have the table of bench/results: bench/rows.py --page writes it")
        return 0
    if (options.build is None) == (options.bin_dir is None) or (options.pack and options.build is None) or (options.runs or 1) < 1:
        parser.error("give a build folder, or --bin-dir; --pack takes from a build folder; --runs is at least 1")
    if not os.path.isdir(options.build or options.bin_dir):
        parser.error(f"{options.build or options.bin_dir} is not a folder")
    if options.pack:
        for program in rows_machine.pack(options.build, options.pack):
            print(f"not built, so not copied: {program}")
        return 0
    return run_rows(options, parser)


if __name__ == "__main__":
    sys.exit(main())
