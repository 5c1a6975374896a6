#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes what public headers document as a C table: each function, and the DOCA_ERROR codes that its comment names.

    codes.py OUT.c HEADER...

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
    r'((?:static\s+inline\s+)?[\w\s]+?[\s*])'  # what it returns
    r'(doca_\w+)\s*\(', re.S)


def functions(text):
    for comment, returns, name in DECLARATION.findall(text):
        if not returns.strip().startswith('typedef'):
            yield name, 'doca_error_t' in returns, comment


def main(out, headers):
    found = {}
    for header in headers:
        with open(header) as f:
            above = ''
            for name, has_code, comment in functions(f.read()):
                if 'as above' in comment:
                    comment += above
                found[name] = (os.path.basename(header), has_code, comment)
                above = comment

    def codes(name, seen=()):
        _, _, comment = found[name]
        result = set(re.findall(r'DOCA_ERROR_\w+', comment))
        for other in re.findall(r'(?:[Aa]s|same as) (doca_\w+)', comment):
            if other in found and other not in seen and other != name:
                result |= codes(other, (*seen, name))
        return result

    with open(out, 'w') as f:
        f.write('/* Made by codes.py from the public headers. */\n#include "abuse.h"\n\n')
        f.write('const struct documented documented[] = {\n')
        for name, (header, has_code, _) in sorted(found.items()):
            listed = ', '.join(sorted(codes(name))) if has_code else ''
            f.write(f'\t{{"{name}", "{header}", {int(has_code)}, {{{listed + ", " if listed else ""}DOCA_SUCCESS}}}},\n')
        f.write('};\nconst size_t num_documented = sizeof(documented) / sizeof(documented[0]);\n')


main(sys.argv[1], sys.argv[2:])
