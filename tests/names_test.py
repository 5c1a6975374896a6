#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the names of functions that several files share against the table of prefixes in docs/architecture.md: a function in
src/ that is not static begins with a prefix of its folder's row. `sf_` and the names of public headers may be anywhere. A static
function has a name of at least two words, a noun and a verb.
Usage: names_test.py ROOT"""
import os
import re
import sys

ROW = re.compile(r'^\|((?: *`src/[a-z0-9_/]*`,?)+) *\|((?: *`[a-z0-9_]+_`,?)+) *\|$', re.M)
NAME = re.compile(r'`([a-z0-9_/]+)`')
# A definition: at the beginning of a line, followed by its body.
FUNCTION = re.compile(r'^(?!static\b|typedef\b|struct \w+ \w* = )[a-z][\w \t]*?[ *]+(\w+)\(([^;{}()]|\([^;{}]*?\))*\)\n\{', re.M)
STATIC = re.compile(
    r'^static (?:__attribute__\(\((?:[^()]|\([^()]*\))*\)\) )*(?!const struct\b|struct \w+ \w+ = )[^;={}()]*?[ *]+([a-z]\w*)\([^;{}]*?\)\n\{', re.M)
PUBLIC = ('sf_', 'doca_', 'softfield_')


def rows(page):
    """The prefixes of each folder."""
    known = {}
    for match in ROW.finditer(page):
        for folder in NAME.findall(match.group(1)):
            known[folder] = tuple(NAME.findall(match.group(2)))
    return known


def prefixes(path, known):
    """The prefixes of the file's folder, or of the nearest one above with a row."""
    folder = os.path.dirname(path)
    while folder and folder not in known:
        folder = os.path.dirname(folder)
    return known.get(folder, ())


def files(root, *tops):
    for top in tops:
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in names:
                if name.endswith('.c'):
                    yield os.path.relpath(os.path.join(folder, name), root)


def main():
    root = sys.argv[1]
    with open(os.path.join(root, 'docs/architecture.md'), encoding='utf-8') as page:
        known = rows(page.read())
    errors = []
    num = 0

    for path in sorted(files(root, 'src')):
        with open(os.path.join(root, path), encoding='utf-8') as source:
            found = [match.group(1) for match in FUNCTION.finditer(source.read())]
        num += len(found)
        for name in found:
            if not name.startswith(PUBLIC + prefixes(path, known)):
                errors.append(f'{path}: {name} begins with none of its folder\'s prefixes; see docs/architecture.md, "Names"')
    for path in sorted(files(root, 'src', 'apps', 'plugins', 'tools')):
        with open(os.path.join(root, path), encoding='utf-8') as source:
            found = STATIC.findall(source.read())
        num += len(found)
        errors += [f'{path}: {name} does not name its noun; see docs/architecture.md, "Names"' for name in found if '_' not in name]
    print('\n'.join(errors))
    print(f'{num - len(errors)} passed, {len(errors)} failed')
    return 1 if errors or num == 0 or not known else 0


if __name__ == '__main__':
    sys.exit(main())
