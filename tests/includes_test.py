#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the includes against the tables of docs/architecture.md: each folder includes the private headers of the folders that
its row names, all of them and no others. Of Softfield's own public headers, which NVIDIA's SDK lacks, apps/remote_offload
includes only those of kernels. Usage: includes_test.py ROOT"""
import os
import re
import sys

SOURCES = ('.c', '.h', '.cu', '.cuh')
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
ROW = re.compile(r'^\|((?: *`[a-z0-9_/]+`,?)+) *\|[^|]*\|([^|]*)\|$', re.M)
PUBLIC = re.compile(r'^#include <(softfield/[^>]+)>', re.M)
PORTABLE = 'apps/remote_offload/'
OF_KERNELS = ('softfield/device.h', 'softfield/gpu.h')
NAME = re.compile(r'`([a-z0-9_/]+)`')


def rows(page):
    """The folders of the tables, each with those that it may include."""
    known = {}
    for match in ROW.finditer(page):
        for folder in NAME.findall(match.group(1)):
            known[folder] = set(NAME.findall(match.group(2)))
    return known


def row_of(path, known):
    """The row that a file belongs to: its folder's, or the nearest one's above."""
    folder = os.path.dirname(path)
    while folder and folder not in known:
        folder = os.path.dirname(folder)
    return folder


def found(root, includer, name):
    """The path of an included file from the root; None for a public or a generated header."""
    for base in (os.path.dirname(includer), 'src', 'apps', 'tools', 'plugins'):
        path = os.path.normpath(os.path.join(base, name))
        if os.path.isfile(os.path.join(root, path)):
            return path
    return None


def files(root):
    for top in ('src', 'apps', 'tools', 'plugins'):
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in names:
                if name.endswith(SOURCES):
                    yield os.path.relpath(os.path.join(folder, name), root)


def main():
    root = sys.argv[1]
    with open(os.path.join(root, 'docs/architecture.md'), encoding='utf-8') as page:
        known = rows(page.read())
    seen = {folder: set() for folder in known}
    errors = []
    num = 0

    for path in sorted(files(root)):
        mine = row_of(path, known)
        if not mine:
            errors.append(f'{path}: docs/architecture.md has no row for its folder')
            continue
        with open(os.path.join(root, path), encoding='utf-8') as source:
            text = source.read()
        for name in PUBLIC.findall(text):
            if path.startswith(PORTABLE) and (name not in OF_KERNELS or '/orchestrator/' not in path):
                errors.append(f'{path} includes {name}, which NVIDIA\'s SDK lacks')
        for name in INCLUDE.findall(text):
            target = found(root, path, name)
            if target is None:
                continue
            num += 1
            its = row_of(target, known)
            if its != mine and its not in known[mine]:
                errors.append(f'{path} includes {target}: the row of {mine} in docs/architecture.md does not name {its}')
            seen[mine].add(its)
    for folder, names in known.items():
        for name in sorted(names - seen[folder]):
            errors.append(f'docs/architecture.md: {folder} includes nothing of {name}')
    print('\n'.join(errors))
    print(f'{num - len(errors)} passed, {len(errors)} failed')
    return 1 if errors or num == 0 else 0


if __name__ == '__main__':
    sys.exit(main())
