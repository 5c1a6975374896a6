#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The %files of an RPM spec name every installed file, else rpmbuild fails: spec_test.py SPEC FOLDER

FOLDER is an installation with the prefix /usr, whose library folder may be another than the spec's."""
import fnmatch
import pathlib
import re
import sys

MACROS = {"_prefix": "usr", "_lib": "lib64", "_includedir": "usr/include", "_bindir": "usr/bin", "_datadir": "usr/share", "_mandir": "usr/share/man"}


def patterns_of(spec):
    listed = spec.read_text().partition("\n%files")[2].partition("\n%changelog")[0]
    lines = [re.sub(r"%\{(\w+)\}", lambda match: MACROS[match[1]], line) for line in listed.splitlines() if line.startswith("%{")]
    return [line.lstrip("/") for line in lines]


def is_named(path, patterns):
    """It, or a folder that it is in."""
    return any(fnmatch.fnmatchcase(str(each), pattern) for each in (path, *path.parents) for pattern in patterns)


def main():
    spec, folder = map(pathlib.Path, sys.argv[1:])
    patterns = patterns_of(spec)
    files = [path.relative_to(folder) for path in folder.rglob("*") if not path.is_dir()]
    files = [pathlib.PurePath(re.sub(r"^usr/lib/[^/]+-linux-gnu/", "usr/lib64/", str(path))) for path in files]
    others = [path for path in files if not is_named(path, patterns)]
    print("\n".join(["not in %%files: %s" % path for path in sorted(others)] + ["%d files" % len(files)]))
    return 1 if others or not files else 0


if __name__ == "__main__":
    sys.exit(main())
