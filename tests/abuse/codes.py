#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes what public headers document as a C table: each function, and the DOCA_ERROR codes that its comment names.

    codes.py OUT.c HEADER... [--also HEADER...]

Functions of the headers after --also may be called and need not be. A header before it may declare the same name anew; a comment
in it that says "today's doca_x()" means the other one.

Only functions that return doca_error_t have codes. "as doca_x()" in a comment takes over what doca_x documents,
"as above" what the function above it does. Inline functions count
too. A function without a comment is an error: nothing says what it may return.
"""
import os
import re
import sys

DECLARATION = re.compile(
    r'/\*\*((?:[^*]|\*(?!/))*)\*/\s*'  # its comment
    r'(?:DOCA_STABLE|DOCA_EXPERIMENTAL|DOCA_DEPRECATED)?\s*'
    r'((?:static\s+inline\s+)?[\w\s]+?[\s*]+)'  # what it returns
    r'(doca_\w+)\s*\((?!\*)', re.S)


def functions(text):
    for comment, returns, name in DECLARATION.findall(text):
        if not returns.strip().startswith('typedef'):
            yield name, 'doca_error_t' in returns, comment


def read(headers):
    found = {}
    for header in headers:
        with open(header) as f:
            above = ''
            for name, has_code, comment in functions(f.read()):
                if 'as above' in comment:
                    comment += above
                found[name] = (os.path.basename(header), has_code, comment)
                above = comment
    return found


def codes(found, today, name, seen=()):
    _, _, comment = found[name]
    result = set(re.findall(r'DOCA_ERROR_\w+', comment))
    for other in re.findall(r"today's (doca_\w+)", comment):
        if other in today and today is not found:
            result |= codes(today, today, other)
    for other in re.findall(r'(?:[Aa]s|same as) (doca_\w+)', comment):
        if other in found and other not in seen and other != name:
            result |= codes(found, today, other, (*seen, name))
    return result


def main(out, headers):
    split = headers.index('--also') if '--also' in headers else len(headers)
    today = read(headers[split + 1:])
    wanted = read(headers[:split])
    found = {**today, **wanted}
    with open(out, 'w') as f:
        f.write('/* Made by codes.py from the public headers. */\n#include "core.h"\n\n')
        f.write('const struct documented documented[] = {\n')
        for name, (header, has_code, _) in sorted(found.items()):
            listed = ''.join(code + ', ' for code in sorted(codes(found, today, name))) if has_code else ''
            f.write(f'\t{{"{name}", "{header}", {int(has_code)}, {int(name in wanted)}, {{{listed}DOCA_SUCCESS}}}},\n')
        f.write('};\nconst size_t num_documented = sizeof(documented) / sizeof(documented[0]);\n')


main(sys.argv[1], sys.argv[2:])
