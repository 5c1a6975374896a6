#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each test that docs/security.md names exists: security_doc_test.py SOURCE BUILD"""
import json
import pathlib
import re
import sys

ENDINGS = {".c", ".py", ".sh"}


def main():
    source, build = (pathlib.Path(argument) for argument in sys.argv[1:])
    rows = re.findall(r"^\|.*\| ([^|]*) \|$", (source / "docs" / "security.md").read_text(), re.M)
    names = {name for cell in rows for name in re.findall(r"`([^`]+)`", cell)}
    assert len(names) > 20, "docs/security.md names only %d tests" % len(names)

    known = {test["name"] for test in json.loads((build / "meson-info" / "intro-tests.json").read_text())}
    known |= {path.stem for path in (source / "tests" / "fuzz").glob("*_fuzz.c")}
    text = "".join(path.read_text() for path in (source / "tests").rglob("*") if path.suffix in ENDINGS)
    # A test function, or a test named by a string.
    missing = sorted(name for name in names - known if not re.search(r'(\b%s\(|"%s")' % ((re.escape(name),) * 2), text))
    for name in missing:
        print("docs/security.md names a test that does not exist: " + name)
    print("%d tests are named" % len(names))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
