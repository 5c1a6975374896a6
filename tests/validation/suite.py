#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs tests of the suite with all rules of docs/validation.md, and checks the reports against on_purpose.txt, which lists the
rules that test programs break on purpose.

Usage: suite.py BUILD [TEST...], where BUILD is a build folder that is up to date. Without TEST it runs the whole suite, which takes
as long as without the rules, and also prints entries of the list that were not needed. Some depend on the speed of the machine.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
REPORT = re.compile(r"(.+)\[\d+\]: (SF-[A-Z]+-\d{3}): ")
SKIPPED = 77


def expected_rules():
    """Returns the pairs of program and rule of the list. The rule may be "any"."""
    pairs = set()
    with open(os.path.join(HERE, "on_purpose.txt"), encoding="utf-8") as file:
        for line in file:
            line = line.split("#")[0].strip()
            if line:
                program, rules = line.split(":")
                pairs |= {(program, rule) for rule in rules.split()}
    return pairs


def run(build, tests, reports):
    """Returns whether the tests pass. Their log is validation.txt or validation-part.txt of the build's meson-logs."""
    command = ["meson", "test", "-C", build, "--no-rebuild", "--logbase", "validation-part" if tests else "validation",
               "--print-errorlogs", "-t", "3"]
    if not tests:
        command += ["--no-suite", "arm64", "--no-suite", "sources"]
    # The suite may run beside it, and the same test has the same names.
    with tempfile.TemporaryDirectory(prefix="softfield-") as runtime:
        env = dict(os.environ, SOFTFIELD_VALIDATE="all,file=" + reports, SOFTFIELD_RUNTIME=runtime)
        return subprocess.run(command + tests, env=env, check=False).returncode == 0


def reported_rules(reports):
    """Returns a report of each pair of program and rule."""
    found = {}
    with open(reports, encoding="utf-8", errors="replace") as file:
        for line in file:
            match = REPORT.match(line)
            if match is None:
                sys.exit("not a report: " + line)
            found.setdefault(match.groups(), line.rstrip())
    return found


def main():
    build, tests = sys.argv[1], sys.argv[2:]
    if shutil.which("meson") is None:
        print("there is no meson")
        return SKIPPED
    # Not in /tmp, which some tests hide.
    with tempfile.NamedTemporaryFile(dir=os.path.join(os.path.abspath(build), "meson-logs"), prefix="validation.") as reports:
        os.chmod(reports.name, 0o666)  # test programs of other users write there too
        passed = run(build, tests, reports.name)
        found, expected = reported_rules(reports.name), expected_rules()
    if not found:
        print("no program broke a rule on purpose: was any checked?")
        return 1
    unexpected = sorted(pair for pair in found if pair not in expected and (pair[0], "any") not in expected)
    print("%d programs broke rules, in %d pairs; %d are not in on_purpose.txt" %
          (len({program for program, _ in found}), len(found), len(unexpected)))
    for pair in unexpected:
        print(found[pair])
    if not tests:
        for program, rule in sorted(expected - set(found)):
            if rule != "any":
                print("not needed: %s: %s" % (program, rule))
    return 0 if passed and not unexpected else 1


if __name__ == "__main__":
    sys.exit(main())
