#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every source file is formatted by clang-format with .clang-format. Usage: format_test.py [--fix]"""
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
FOLDERS = ("apps", "bench", "include", "plugins", "samples", "src", "tests", "tools")
VERSION = "14"  # other versions format a few things differently
SKIPPED = 77


def formatter():
    """clang-format of our version, or None."""
    for name in ("clang-format-" + VERSION, "clang-format"):
        path = shutil.which(name)
        if path is None:
            continue
        said = subprocess.run([path, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
        if re.search(r"version " + VERSION + r"\.", said):
            return path
    return None


def sources():
    for folder in FOLDERS:
        for where, _, names in os.walk(os.path.join(ROOT, folder)):
            for name in names:
                if name.endswith((".c", ".h", ".cu", ".cuh")):
                    yield os.path.join(where, name)


def main():
    program, files = formatter(), sorted(sources())
    if program is None:
        print("skipped: there is no clang-format " + VERSION)
        return SKIPPED
    if "--fix" in sys.argv:
        return subprocess.run([program, "-i", *files], check=False).returncode
    ended = subprocess.run([program, "--dry-run", "--Werror", *files], stderr=subprocess.PIPE, text=True, check=False)
    wrong = sorted(set(re.findall(r"^(.*?):\d+:\d+: error:", ended.stderr, re.MULTILINE)))
    for path in wrong:
        print("FAILED: %s is not formatted: run tests/format_test.py --fix" % os.path.relpath(path, ROOT))
    if ended.returncode != 0 and not wrong:
        print(ended.stderr)
    print("%d passed, %d failed" % (len(files) - len(wrong), len(wrong)))
    return ended.returncode != 0 or not files


if __name__ == "__main__":
    sys.exit(main())
