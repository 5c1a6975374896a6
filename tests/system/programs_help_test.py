#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""For every installed program, and every command of one: --help, --version, and a single error for an unknown option. Bash
completions must know the options of all of them. Usage: programs_help_test.py COMPLETIONS|- PROGRAM..."""
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
    check(f'{label} --hlep', status != 0 and (out + err).count('--hlep') == 1 and 'did you mean --help?' in out + err, (status, out, err))
    return text


def complete(script, words):
    """What bash would complete the last word to."""
    line = ' '.join(f"'{word}'" for word in words)
    function = '_' + re.sub(r'\W', '_', words[0])
    asked = f'. "$0"; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; {function}; printf "%s\\n" "${{COMPREPLY[@]}}"'
    return run('bash', '-c', asked, script)[1].split()


def check_completion(script, name, words, text):
    wanted = re.findall(r'^  (?:-\w, )?--([\w-]+)', text, re.M)
    offered = complete(script, [name, *words, '--'])
    check(f"completion of {' '.join([name, *words])}", sorted(offered) == sorted('--' + option for option in wanted), (wanted, offered))


def main():
    folder, programs = sys.argv[1], sys.argv[2:]
    for program in programs:
        name, script = os.path.basename(program), os.path.join(folder, os.path.basename(program))
        all_words = commands_of(check_command(program, []))
        for words in all_words or [[]]:
            text = check_command(program, words)
            if os.path.exists(script):
                check_completion(script, name, words, text)
        for group in sorted({words[0] for words in all_words if len(words) > 1}):
            check_command(program, [group])
        if all_words and os.path.exists(script):
            offered = complete(script, [name, ''])
            check(f'completion of {name}', set(offered) == {words[0] for words in all_words} | {'--help', '--version'}, offered)
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
