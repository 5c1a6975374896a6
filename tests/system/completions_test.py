#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A shell completes what the programs' help says: options of every command, commands, and names of files where one is expected.
Usage: completions_test.py SHELL COMPLETIONS PROGRAM..., with the shell bash, zsh or fish."""
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from programs_help_test import commands_of, run  # noqa: E402

FILE = 'a_file'
# What zsh runs in place of a prompt: it completes each line of $ASKED and notes what is offered.
ZSHRC = r'''
fpath=("$COMPLETIONS" $fpath)
autoload -Uz compinit && compinit -u -D
compadd() {
	local -a hits
	if [[ " ${(j: :)@[1,(i)--]} " != *\ -[A-Za-z]#[OAD]\ * ]]; then # offers, and does not only filter
		builtin compadd -O hits "$@"
		print -rl -- $hits >>"$NOTES"
	fi
	builtin compadd "$@"
}
complete-all() {
	local line
	for line in "${(f)ASKED}"; do
		print -r -- "? $line" >>"$NOTES"
		BUFFER=$line CURSOR=$#line
		zle list-offers
	done
	exit
}
zle -C list-offers list-choices _main_complete
zle -N zle-line-init complete-all
'''


def bash(folder, name, lines):
    """What bash offers for each line's last word."""
    function, offers = '_' + re.sub(r'\W', '_', name), {}
    for line in lines:
        words = line.split(' ')
        asked = f'. "$0"; COMP_WORDS=("$@"); COMP_CWORD={len(words) - 1}; {function}; printf "%s\\n" "${{COMPREPLY[@]}}"'
        offers[line] = run('bash', '-c', asked, os.path.join(folder, name), *words)[1].split()
    return offers


def fish(folder, name, lines):
    asked = 'source $argv[1]; for line in $argv[2..]; echo "? $line"; complete -C $line; end'
    said = run('fish', '--no-config', '-c', asked, os.path.join(folder, name + '.fish'), *lines)[1]
    return parsed(line.partition('\t')[0] for line in said.splitlines())


def zsh(folder, _name, lines):
    with tempfile.TemporaryDirectory() as home:
        with open(os.path.join(home, '.zshrc'), 'w', encoding='utf-8') as stream:
            stream.write(ZSHRC)
        notes = os.path.join(home, 'notes')
        env = dict(os.environ, ZDOTDIR=home, COMPLETIONS=folder, ASKED='\n'.join(lines), NOTES=notes, TERM='dumb')
        ours, terminal = pty.openpty()
        with subprocess.Popen(['timeout', '-s', 'KILL', '60', 'zsh', '-d', '-i'], stdin=terminal, stdout=terminal, stderr=terminal, env=env,
                              start_new_session=True):
            os.close(terminal)
            try:
                while os.read(ours, 4096):
                    pass
            except OSError: # zsh has closed the terminal
                pass
        os.close(ours)
        with open(notes, encoding='utf-8') as stream:
            return parsed(stream.read().splitlines())


def parsed(said):
    offers = {}
    for line in said:
        if line.startswith('? '):
            words = offers.setdefault(line[2:], [])
        elif line:
            words.append(line)
    return offers


def wanted_by(program):
    """{line: what is offered for its last word}, from the program's help."""
    name = os.path.basename(program)
    commands = commands_of(run(program, '--help')[1])
    wanted = {}
    for words in commands or [[]]:
        text = run(program, *words, '--help')[1]
        wanted[' '.join([name, *words, '--'])] = {'--' + option for option in re.findall(r'^  (?:-\w, )?--([\w-]+)', text, re.M)}
    if commands:
        wanted[name + ' '] = {words[0] for words in commands}
        wanted[name + ' --'] = {'--help', '--version'}
    if name == 'softfield':
        wanted['softfield perf --op '] = {'write', 'read', 'send', 'write_imm', 'cas', 'faa'}
        wanted.update({'softfield trace ': {FILE}, 'softfield topology check ': {FILE}, 'softfield trace --output ': {FILE}})
        wanted['softfield explain '] = set()
    return wanted


def main():
    shell, folder, *programs = sys.argv[1:]
    if not shutil.which(shell):
        print(f'skipped: {shell} is not installed, so its completions are not checked; scripts/install-dependencies test installs it')
        sys.exit(77)
    folder, programs = os.path.abspath(folder), [os.path.abspath(program) for program in programs]
    failed = 0
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        with open(FILE, 'w', encoding='utf-8'):
            pass
        for program in programs:
            name = os.path.basename(program)
            script = os.path.join(folder, {'bash': '', 'zsh': '_', 'fish': ''}[shell] + name + ('.fish' if shell == 'fish' else ''))
            status, _, err = run(shell, '-n', script)
            wanted = wanted_by(program)
            offers = {'bash': bash, 'zsh': zsh, 'fish': fish}[shell](folder, name, list(wanted))
            faults = [f'{script}: {err}'] if status or err else []
            for line, words in wanted.items():
                # Some shells offer options even without a dash before the cursor.
                offered = {word for word in offers.get(line, []) if line.endswith('-') or not word.startswith('-')}
                if offered != words:
                    faults.append(f'{line}: not {sorted(words)}, but {sorted(offered)}')
            failed += bool(faults)
            print('\n'.join([f'{"FAILED" if faults else "ok"}: {shell} completes {name}', *('    ' + fault for fault in faults)]))
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
