#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The names that the libraries export are those of debian/libsoftfield3.symbols: symbols_test.py SOURCE LIBRARY... [--fix]

A library named worker_* is a UROM plugin, which exports what a worker looks for and nothing else.
With --fix it writes that list. Each public name is declared in a public header, and each other one carries the exact version."""
import difflib
import pathlib
import re
import subprocess
import sys

PUBLIC, PRIVATE = "SOFTFIELD_3.0", "SOFTFIELD_PRIVATE_"
PLUGIN, PLUGIN_OPTIONAL = {"urom_plugin_get_iface", "urom_plugin_get_version"}, "softfield_urom_plugin_"
FIRST = "1.0.0"  # version of the package that introduced a name; set it manually for a new name


def exports_of(library):
    """Pairs of name and version of the dynamic symbols that a library defines, without those of the versions themselves."""
    lines = subprocess.run(["nm", "-D", "--defined-only", "--with-symbol-versions", library], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    symbols = [line.split()[-2:] for line in lines]
    return [tuple((name.split("@")[0], name.rpartition("@")[2] if "@" in name else "")) for kind, name in symbols if kind != "A"]


def soname_of(library):
    dynamic = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout
    return re.search(r"\(SONAME\).*\[(.*)\]", dynamic)[1]


def block_of(library, exports, since):
    soname = soname_of(library)
    lines = ["%s libsoftfield3 #MINVER#" % soname, " %s@%s %s" % (PUBLIC, PUBLIC, FIRST),
             ' (optional|regex)"@%s.*$" %s' % (PRIVATE, FIRST)]
    public = sorted(name for name, version in exports if version == PUBLIC)
    return lines + [" %s@%s %s" % (name, PUBLIC, since.get((soname, name), FIRST)) for name in public]


def since_of(text):
    """The package's version of each listed name."""
    since, soname = {}, None
    for line in text.splitlines():
        if not line.startswith(" "):
            soname = line.split()[0]
        elif "regex" not in line:
            symbol, version = line.split()
            since[soname, symbol.split("@")[0]] = version
    return since


def problems_of(source, libraries):
    headers = "".join(path.read_text() for path in sorted(pathlib.Path(source, "include").rglob("*.*h")))
    declared, project = set(re.findall(r"\w+", headers)), pathlib.Path(source, "meson.build").read_text()
    private = PRIVATE + re.search(r"version: '([^']*)'", project)[1]
    for library in libraries:
        for name, version in exports_of(library):
            if version == PUBLIC and name not in declared:
                yield "%s: %s has the public version %s, but no public header declares it" % (library, name, PUBLIC)
            elif version not in (PUBLIC, private):
                yield "%s: %s has the version '%s', not %s or %s" % (library, name, version, PUBLIC, private)


def plugin_problems_of(plugins):
    for plugin in plugins:
        names = {name for name, _ in exports_of(plugin) if not name.startswith(PLUGIN_OPTIONAL)}
        if names != PLUGIN:
            yield "%s exports %s, and not just %s" % (plugin, sorted(names), sorted(PLUGIN))


def main():
    source, files = sys.argv[1], [word for word in sys.argv[2:] if word != "--fix"]
    plugins = [file for file in files if pathlib.Path(file).name.startswith("worker_")]
    libraries = [file for file in files if file not in plugins]
    listed = pathlib.Path(source, "debian", "libsoftfield3.symbols")
    before = listed.read_text() if listed.exists() else ""
    lines = []
    for library in sorted(libraries):
        lines += block_of(library, exports_of(library), since_of(before))
    after = "\n".join(lines) + "\n"
    if "--fix" in sys.argv:
        listed.write_text(after)
        before = after
    problems = list(problems_of(source, libraries)) + list(plugin_problems_of(plugins))
    problems += difflib.unified_diff(before.splitlines(), after.splitlines(), "listed", "exported", lineterm="", n=0)
    print("\n".join(problems[:40]))
    if problems:
        sys.exit("removing a name breaks programs; for a new one run symbols_test.py with --fix")


main()
