#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""For every installed program, and every command of one: --help, --version, and a single error for an unknown option.
Usage: programs_help_test.py PROGRAM..."""
import os
import re
import subprocess
import sys

failed = 0


def check(what, good, said=''):
    global failed
    failed += not good
    print(f"{'ok' if good else 'FAILED'}: {what}{'' if good else ': ' + repr(said)}")


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, timeout=20,
                          check=False)
    return done.returncode, done.stdout, done.stderr


def commands_of(text):
    """The words in the section Commands; commands of a group are listed in full."""
    section = text.partition('\nCommands:\n')[2].partition('\n\n')[0]
    found = re.findall(r'^  ([a-z_]+(?: [a-z_]+)*)(?: \S.*?)?  +[A-Z]', section, re.M)
    return [name.split() for name in found]


def check_command(program, words):
    """Checks --help, --version and a mistyped --help. Returns the help text."""
    name = os.path.basename(program)
    label = ' '.join([name, *words])
    status, text, err = run(program, *words, '--help')
    check(f'{label} --help', status == 0 and err == '' and text.startswith(f'Usage: {label} '), (status, text, err))
    status, out, err = run(program, *words, '--version')
    check(f'{label} --version', status == 0 and err == '' and re.fullmatch(name + r' \d[\d.]*, DOCA API [\d.]+\n', out), (status, out, err))
    status, out, err = run(program, *words, '--hlep')
    wanted = f'{label}: there is no (option|flag) --hlep; did you mean --help\\?\nSee `{label} --help`\\.\n'
    check(f'{label} --hlep', status == 2 and out == '' and re.fullmatch(wanted, err), (status, out, err))
    return text


def main():
    for program in sys.argv[1:]:
        all_words = commands_of(check_command(program, []))
        for words in all_words or [[]]:
            check_command(program, words)
        for group in sorted({words[0] for words in all_words if len(words) > 1}):
            check_command(program, [group])
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
