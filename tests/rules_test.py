#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the tests against tests/README.md: one CHECK, and no sleep except in the three files of tests/support that wait. Usage:
rules_test.py ROOT"""
import os
import re
import sys

# Each: the message, the files that it applies to, the pattern, and the files that may contain it.
RULES = (
    ('a check of its own: use tests/support/check.h', ('.c', '.h', '.cu'),
     r'^\s*#\s*define\s+(?:CHECK|CHECK_OK|CHECK_RESULT|OK|MUST|REQUIRE|EXPECT|ASSERT)\(', ('support/check.h',)),
    ('a sleep: use tests/support/wait.h', ('.c', '.h', '.cu'),
     r'\b(?:u?sleep|(?:clock_)?nanosleep|thrd_sleep)\s*\(|\bp?poll\(NULL\b', ('support/wait.h',)),
    ('a sleep: use tests/support/wait.sh', ('.sh',), r'^(?!\s*#).*?(?:^|[;&|({]|\b(?:do|then|else|exec))\s*sleep\s', ('support/wait.sh',)),
    ('a sleep: use tests/support/waiting.py', ('.py', '.sh'), r'\btime\.sleep\(|^from time import.*\bsleep\b', ('support/waiting.py',)),
)
OURS = ('outside', 'rules_test.py')  # programs of users, without tests/support; and this file


def files(tests):
    for folder, _, names in os.walk(tests):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), tests)
            if path.split(os.sep)[0] not in OURS or path.endswith('.sh'):
                yield path


def main():
    tests = os.path.join(sys.argv[1], 'tests')
    errors, num = [], 0
    for path in sorted(files(tests)):
        rules = [(what, re.compile(pattern)) for what, ends, pattern, may in RULES if path.endswith(ends) and path not in may]
        if not rules:
            continue
        num += 1
        with open(os.path.join(tests, path), encoding='utf-8') as source:
            for at, line in enumerate(source, 1):
                errors += [f'tests/{path}:{at}: {what}' for what, pattern in rules if pattern.search(line)]
    with open(os.path.join(tests, 'README.md'), encoding='utf-8') as page:
        text = page.read()
    for folder in sorted(name for name in os.listdir(tests) if os.path.isdir(os.path.join(tests, name)) and name != '__pycache__'):
        if f'`{folder}`' not in text:
            errors.append(f'tests/README.md: no row for {folder}')
    print('\n'.join(errors))
    print(f'{num} files, {len(errors)} failed')
    return 1 if errors or num == 0 else 0


if __name__ == '__main__':
    sys.exit(main())
