#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes what public headers document as a C table: each function, and the DOCA_ERROR codes that its comment names.

    codes.py OUT.c HEADER... [--also HEADER...]

Functions of the headers after --also may be called and need not be. A header before it may declare the same name anew; a comment
in it that says "today's doca_x()" means the other one.

Only functions that return doca_error_t have codes: those of its own comment, of its section's and its file's (../headers/comments.py)
and those that doca_error.h gives to every function of its form. "as doca_x()" in a comment takes over what doca_x documents,
"as above" what the function above it does. Inline functions count too.
"""
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..', 'headers'))
import comments  # noqa: E402


class Documented:
    def __init__(self, function, above):
        self.header, self.has_code = function.header, function.has_code()
        self.text, self.codes = function.comment, function.own() | function.by_sections() | function.by_rule()
        if 'as above' in function.comment and above is not None:
            self.text, self.codes = self.text + above.text, self.codes | above.codes


def read(headers):
    found = {}
    for header in headers:
        above = None
        for function in comments.read(header):
            if function.kind == 'function' and function.name.startswith('doca_'):
                found[function.name] = above = Documented(function, above)
    return found


def codes(found, today, name, seen=()):
    result = set(found[name].codes)
    for other in re.findall(r"today's\s+(doca_\w+)", found[name].text):
        if other in today and today is not found:
            result |= codes(today, today, other)
    for other in re.findall(r'[Aa]s\s+(doca_\w+)', found[name].text):
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
        for name, function in sorted(found.items()):
            listed = ''.join(code + ', ' for code in sorted(codes(found, today, name))) if function.has_code else ''
            f.write(f'\t{{"{name}", "{function.header}", {int(function.has_code)}, {int(name in wanted)}, {{{listed}DOCA_SUCCESS}}}},\n')
        f.write('};\nconst size_t num_documented = sizeof(documented) / sizeof(documented[0]);\n')


main(sys.argv[1], sys.argv[2:])
