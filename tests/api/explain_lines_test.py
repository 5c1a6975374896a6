#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""softfield explain has a rule, or the line its own advice, for each error and warning that the libraries log:
explain_lines_test.py SOURCE EXPLAIN_EACH

A line whose reason is only known when it is logged, for it ends with that, is left out, and so is one without words."""
import pathlib
import re
import subprocess
import sys

LINE = re.compile(r'SF_LOG_(?:ERR|WARN)(?:_LIMITED)?\(\s*((?:"(?:[^"\\]|\\.)*"|PRI\w+|\s)+)')
TEXT = re.compile(r'%[-+ #0]*[\d*]*(?:\.[\d*]+)?s')
NUMBER = re.compile(r'%[-+ #0]*[\d*]*(?:\.[\d*]+)?(?:hh|h|ll|l|z|j)?[diuxXcp]|%(?=\W)')
WORDS_MIN = 3
NONSENSE = ('x.c', 'xyzzy plugh xyzzy')  # its advice is that of a line that no rule is about


def lines_of(source):
    """(file, message) of each, with values in place of the formats."""
    lines = []
    for path in sorted((source / 'src').rglob('*.c')):
        for found in LINE.finditer(path.read_text()):
            text = ''.join(re.findall(r'"((?:[^"\\]|\\.)*)"', found.group(1))).replace('\\"', '"')
            words = re.findall(r'[A-Za-z]{2,}', NUMBER.sub(' ', TEXT.sub(' ', text)))
            if len(words) >= WORDS_MIN and not re.search(r'%s\W*$', text):
                lines.append((path.name, NUMBER.sub('7', TEXT.sub('name', text)).replace('%%', '%')))
    return lines


def main():
    lines = lines_of(pathlib.Path(sys.argv[1]))
    text = ''.join('%s\t%s\n' % line for line in [NONSENSE] + lines)
    answers = subprocess.run([sys.argv[2]], input=text, stdout=subprocess.PIPE, check=True, universal_newlines=True).stdout.splitlines()
    nonsense, answers = answers[0], answers[1:]
    unknown = [answer.split('\t')[:2] for answer in answers if answer.split('\t')[3] == nonsense.split('\t')[3]]
    for file, message in unknown:
        print('%s: no rule of src/base/explain.c matches: %s' % (file, message))
    print('%d lines' % len(answers))
    return 0 if len(answers) == len(lines) > 1000 and not unknown else 1


if __name__ == '__main__':
    sys.exit(main())
