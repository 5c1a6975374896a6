#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the sources against their GUARDED_BY and REQUIRES (src/base/thread_safety.h): clang's -Wthread-safety on each file
that names a lock, itself or in a header of ours that it includes. Compiles nothing.
Usage: thread_safety_test.py ROOT BUILD [BEGINNING_OF_PATH...]"""
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

TOPS = ('src/', 'apps/', 'tools/', 'plugins/')
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
LOCK = re.compile(r'\bpthread_mutex_(?:lock|trylock|unlock)\b|\b(?:GUARDED_BY|REQUIRES|ACQUIRE|RELEASE)\(')
HEADER = 'src/base/thread_safety.h'  # documents the macros, and uses none
CHECKED = ('-Wthread-safety', '-Werror')
MISTAKE = 'static pthread_mutex_t lock;\nstatic int num GUARDED_BY(lock);\nint num_add(void);\nint num_add(void)\n{\n\treturn ++num;\n}\n'


class Tree:
    """The files of a checkout, each read once."""

    def __init__(self, root):
        self.root = root
        self.known = {}

    def included(self, path, text):
        for name in INCLUDE.findall(text):
            for base in (os.path.dirname(path), 'src', 'apps', 'tools', 'plugins'):
                found = os.path.normpath(os.path.join(base, name))
                if os.path.isfile(os.path.join(self.root, found)):
                    yield found
                    break

    def names_a_lock(self, path):
        if path not in self.known:
            self.known[path] = False  # two headers may include each other
            with open(os.path.join(self.root, path), encoding='utf-8') as source:
                text = source.read()
            self.known[path] = path != HEADER and (
                LOCK.search(text) is not None or any(self.names_a_lock(name) for name in self.included(path, text)))
        return self.known[path]


def preprocessor_flags(command):
    words = shlex.split(command)
    return [word for word in words if word.startswith(('-I', '-D', '-std='))]


def jobs(tree, build, beginnings):
    """Each file once, with the flags of its first target."""
    with open(os.path.join(build, 'compile_commands.json'), encoding='utf-8') as database:
        entries = json.load(database)
    found = {}
    for entry in entries:
        path = os.path.relpath(os.path.join(entry['directory'], entry['file']), tree.root)
        if path.endswith('.c') and path.startswith(beginnings) and path not in found and tree.names_a_lock(path):
            found[path] = (entry['directory'], preprocessor_flags(entry['command']) + [os.path.join(tree.root, path)])
    return list(found.values())


def check(tree, directory, arguments):
    shim = os.path.join(tree.root, 'tests/thread_safety.h')
    # Assertions tell clang which locks are held; a release build leaves them out.
    command = ['clang', '-fsyntax-only', '-Wno-everything', *CHECKED, '-include', shim, *arguments, '-UNDEBUG']
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)


def mistake_is_found(tree):
    """Whether the check finds a counter that is changed without its lock."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'mistake.c')
        with open(path, 'w', encoding='utf-8') as source:
            source.write('#include "base/thread_safety.h"\n' + MISTAKE)
        result = check(tree, folder, ['-D_GNU_SOURCE', '-I' + os.path.join(tree.root, 'src'), path])
    return "requires holding mutex 'lock'" in result.stderr


def main():
    tree = Tree(os.path.realpath(sys.argv[1]))
    if shutil.which('clang') is None:
        print('skipped: no clang to check the locks: scripts/install-dependencies test installs it')
        return 77
    files = jobs(tree, os.path.realpath(sys.argv[2]), tuple(sys.argv[3:]) or TOPS)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda job: check(tree, *job), files))
    failed = [result for result in results if result.returncode != 0]
    for result in failed:
        print(result.stderr)
    seen = mistake_is_found(tree)
    if not seen:
        print('the check does not find a counter that is changed without its lock')
    print(f'{len(results) - len(failed) + seen} passed, {len(failed) + (not seen)} failed')
    return 1 if failed or not seen or not results else 0


if __name__ == '__main__':
    sys.exit(main())
