#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Usage: forms.py FORMS.TSV OUTPUT. Writes a program, for C and for C++, that compiles and links if the 2.5 headers declare each
form of the list, with its type, and the libraries have each function."""
import csv
import re
import sys


def is_inline(name):
    return name in ('doca_version', 'doca_buf_inventory_buf_get_by_addr', 'doca_buf_inventory_buf_get_by_data')


def check(row):
    name, declaration = row['name'], row['declaration']
    if declaration.startswith('enum {'):
        pairs = re.findall(r'(\w+) = (-?\d+)', declaration)
        return ''.join(f'HOLDS((int){constant} == {value}, "{constant}");\n' for constant, value in pairs)
    if declaration.startswith('typedef'):
        return f'HOLDS(sizeof({name} *) != 0, "{name}");\n{declaration}\n'
    return f'HOLDS(sizeof(&{name}) != 0, "{name}");\n{declaration}\n'


def main():
    with open(sys.argv[1], newline='') as table:
        rows = list(csv.DictReader(table, delimiter='\t', quoting=csv.QUOTE_NONE))
    headers = sorted({row['header'] for row in rows})
    functions = [row['name'] for row in rows
                 if not row['declaration'].startswith(('enum', 'typedef')) or '(' in row['declaration'].split('{')[0]
                 and not row['declaration'].startswith('typedef')]
    functions = [name for name in functions if not is_inline(name)]
    with open(sys.argv[2], 'w') as out:
        out.write('#include <stddef.h>\n#include <stdio.h>\n')
        out.write(''.join(f'#include <{header}>\n' for header in headers))
        out.write('#ifdef __cplusplus\n#define HOLDS static_assert\nextern "C" {\n#else\n#define HOLDS _Static_assert\n#endif\n')
        out.write(''.join(check(row) for row in rows))
        out.write('#ifdef __cplusplus\n}\n#endif\ntypedef void (*function)(void);\nstatic const function functions[] = {\n')
        out.write(''.join(f'\t(function){name},\n' for name in functions))
        out.write('};\nint main(void)\n{\n\tsize_t num = sizeof(functions) / sizeof(functions[0]);\n'
                  '\tfor (size_t i = 0; i < num; i++) {\n\t\tif (functions[i] == NULL)\n\t\t\treturn 1;\n\t}\n'
                  f'\tprintf("{len(rows)} forms, %zu functions\\n", num);\n\treturn 0;\n}}\n')


main()
