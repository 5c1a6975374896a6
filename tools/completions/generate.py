#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes completions for bash, zsh and fish of a program from what it and its commands print for --help.
Usage: generate.py FOLDER PROGRAM. The files are FOLDER/NAME, FOLDER/_NAME and FOLDER/NAME.fish."""
import os
import re
import subprocess
import sys

OPTION = re.compile(r'^  (?:-(?P<letter>\w), )?--(?P<name>[\w-]+)(?: (?P<value><[^>]+>|\S+))?(?:  +(?P<text>\S.*))?$')
COMMAND = re.compile(r'^  (?P<name>[a-z_]+(?: [a-z_]+)*)(?: (?P<arguments>\S.*?))?  +(?P<text>[A-Z].*)$')
MORE = re.compile(r'^ {10,}(\S.*)$')


class Command:
    """What the help of a command says. name is '' for the program itself."""

    def __init__(self, program, name):
        self.name, self.options, self.commands = name, [], []
        said = subprocess.run([program, *name.split(), '--help'], check=True, stdout=subprocess.PIPE, text=True).stdout
        usage = re.match(r'Usage: .*\[OPTION \.\.\.\] (.*)', said)
        self.arguments = usage[1] if usage else ''
        last = None
        for line in said.splitlines():
            more = MORE.match(line)
            option, command = OPTION.match(line), COMMAND.match(line)
            if more and last:
                last['text'] = f"{last['text'] or ''} {more[1]}".strip()
            elif option:
                last = option.groupdict()
                self.options.append(last)
            elif command:
                last = command.groupdict()
                self.commands.append(last)
            else:
                last = None


def kind(value):
    """How a value is completed: a list of words, or 'files', 'programs', 'nothing'; None where there is no value."""
    if value is None:
        return None
    if re.fullmatch(r'[\[<]?[a-z_]+(\|[a-z_]+)+[\]>]?', value):
        return value.strip('[]<>').split('|')
    if 'PROGRAM' in value:
        return 'programs'
    return 'files' if re.search(r'\b(FILE|TIMELINE|path|folders?)\b', value) else 'nothing'


def read(program):
    """The program itself, and all its commands."""
    first = Command(program, '')
    return first, [Command(program, found['name']) for found in first.commands]


def groups(commands):
    """'topology' and the like, each with the second words of its commands."""
    found = {}
    for command in commands:
        if ' ' in command.name:
            group, word = command.name.split()
            found.setdefault(group, []).append((word, command))
    return found


def first_words(first):
    """The words that may follow the program's name, each with a description."""
    words = {}
    for command in first.commands:
        word = command['name'].split()[0]
        words.setdefault(word, command['text'] if word == command['name'] else 'commands: ' + ', '.join(
            other['name'].split()[1] for other in first.commands if other['name'].startswith(word + ' ')))
    return words


def spellings(option):
    return ([f"-{option['letter']}"] if option['letter'] else []) + [f"--{option['name']}"]


# ---- bash ----

def bash_words(how):
    if how == 'files':
        return "_softfield_files"
    if how == 'programs':
        return 'COMPREPLY=($(compgen -c -- "$cur"))'
    return "COMPREPLY=($(compgen -W '%s' -- \"$cur\"))" % ' '.join(how)


def bash_branch(pattern, command):
    lines = [f'\t{pattern})', '\t\tcase $prev in']
    unknown = []
    for option in command.options:
        how = kind(option['value'])
        if how == 'nothing' and not option['value'].startswith('['):
            unknown += spellings(option)
        elif how and how != 'nothing':
            lines.append(f"\t\t{'|'.join(spellings(option))}) {bash_words(how)} ;;")
    lines += [f"\t\t{'|'.join(unknown)}) ;;"] if unknown else []
    names = ' '.join(f"--{option['name']}" for option in command.options)
    how = kind(command.arguments) if command.arguments else 'nothing'
    if isinstance(how, list):
        names = ' '.join(how) + ' ' + names
    lines.append("\t\t*) COMPREPLY=($(compgen -W '%s' -- \"$cur\"))" % names)
    if how in ('files', 'programs'):
        lines.append(f"\t\t\t[[ $cur == -* ]] || {bash_words(how)}")
    return lines + ['\t\t\t;;', '\t\tesac', '\t\t;;']


def bash(name, first, commands):
    function = '_' + re.sub(r'\W', '_', name)
    lines = [f'# bash completion for {name}, made from its --help', '_softfield_files() {', '\tCOMPREPLY=($(compgen -f -- "$cur"))',
             '\tcompopt -o filenames 2>/dev/null', '\treturn 0', '}', '', f'{function}() {{',
             '\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}', '', '\tCOMPREPLY=()',
             '\tcase "$COMP_CWORD:${COMP_WORDS[1]}:${COMP_WORDS[2]}" in']
    if not commands:
        lines += bash_branch('*', first)
    else:
        lines.append("\t1:*) COMPREPLY=($(compgen -W '%s --help --version' -- \"$cur\")) ;;" % ' '.join(first_words(first)))
        for group, members in groups(commands).items():
            lines.append("\t2:%s:*) COMPREPLY=($(compgen -W '%s --help --version' -- \"$cur\")) ;;" %
                         (group, ' '.join(word for word, _ in members)))
        for command in commands:
            lines += bash_branch('*:' + (command.name.replace(' ', ':') if ' ' in command.name else command.name + ':*'), command)
    return '\n'.join(lines + ['\tesac', '}', f'complete -F {function} {name}', ''])


# ---- zsh ----

def zsh_quote(text):
    return "'" + (text or '').replace("'", "'\\''") + "'"


def zsh_action(value):
    how = kind(value)
    return {'files': '_files', 'programs': '_command_names -e', 'nothing': ' '}.get(how) if isinstance(how, str) else f"({' '.join(how)})"


def zsh_arguments(command):
    specs = []
    for option in command.options:
        text = re.sub(r'([\[\]:])', r'\\\1', option['text'] or '')
        for spelling in spellings(option):
            spec = f'{spelling}[{text}]'
            if option['value']:
                label = re.sub(r'[\[\]<>:|]', ' ', option['value']).strip()
                spec += f"{'::' if option['value'].startswith('[') else ':'}{label}:{zsh_action(option['value'])}"
            specs.append(zsh_quote(spec))
    if command.arguments:
        specs.append(zsh_quote(f'*:argument:{zsh_action(command.arguments)}'))
    return '_arguments ' + ' '.join(specs)


def zsh_describe(words):
    described = ' '.join(zsh_quote(word.replace(':', '\\:') + ':' + text) for word, text in words.items())
    return f'found=({described}); _describe command found'


def zsh(name, first, commands):
    lines = [f'#compdef {name}', f'# zsh completion for {name}, made from its --help', 'local -a found']
    if not commands:
        return '\n'.join(lines + [zsh_arguments(first), ''])
    lines += ['if (( CURRENT == 2 )); then', '\t' + zsh_describe({**first_words(first), '--help': 'show the help', '--version': 'show the version'}),
              '\treturn', 'fi', 'case "$CURRENT:$words[2]:$words[3]" in']
    for group, members in groups(commands).items():
        lines += [f'3:{group}:*)', '\t' + zsh_describe({word: command_text(first, command) for word, command in members}), '\t;;']
    for command in commands:
        words = len(command.name.split())
        pattern = '*:' + (command.name.replace(' ', ':') if words == 2 else command.name + ':*')
        lines += [f'{pattern})', f'\tshift {words} words; (( CURRENT -= {words} ))', '\t' + zsh_arguments(command), '\t;;']
    return '\n'.join(lines + ['esac', ''])


def command_text(first, command):
    return next(found['text'] for found in first.commands if found['name'] == command.name)


# ---- fish ----

def fish_quote(text):
    return "'" + (text or '').replace('\\', '\\\\').replace("'", "\\'") + "'"


def fish_options(name, condition, command):
    lines = []
    for option in command.options:
        line = f"complete -c {name}{condition} -l {option['name']}"
        line += f" -s {option['letter']}" if option['letter'] else ''
        how = kind(option['value'])
        if isinstance(how, list):
            line += f" -xa {fish_quote(' '.join(how))}"
        elif how and not option['value'].startswith('['):
            line += ' -rF' if how == 'files' else ' -x'
        lines.append(f"{line} -d {fish_quote(option['text'])}")
    how = kind(command.arguments) if command.arguments else 'nothing'
    if how == 'files':
        lines.append(f'complete -c {name}{condition} -F')
    elif how == 'programs':
        lines.append(f"complete -c {name}{condition} -a '(__fish_complete_subcommand)'")
    elif isinstance(how, list):
        lines.append(f"complete -c {name}{condition} -a {fish_quote(' '.join(how))}")
    return lines


def fish(name, first, commands):
    lines = [f'# fish completion for {name}, made from its --help', f'complete -c {name} -f']
    if not commands:
        return '\n'.join(lines + fish_options(name, '', first) + [''])
    for word, text in first_words(first).items():
        lines.append(f'complete -c {name} -n __fish_use_subcommand -a {word} -d {fish_quote(text)}')
    lines += fish_options(name, ' -n __fish_use_subcommand', first)
    grouped = groups(commands)
    for group, members in grouped.items():
        others = ' '.join(word for word, _ in members)
        for word, command in members:
            condition = fish_quote(f'__fish_seen_subcommand_from {group}; and not __fish_seen_subcommand_from {others}')
            lines.append(f'complete -c {name} -n {condition} -a {word} -d {fish_quote(command_text(first, command))}')
    for command in commands:
        seen = '; and '.join(f'__fish_seen_subcommand_from {word}' for word in command.name.split())
        lines += fish_options(name, f' -n {fish_quote(seen)}', command)
    return '\n'.join(lines + [''])


def main():
    folder, program = sys.argv[1:]
    name = os.path.basename(program)
    first, commands = read(program)
    for path, text in (name, bash), ('_' + name, zsh), (name + '.fish', fish):
        with open(os.path.join(folder, path), 'w', encoding='utf-8') as stream:
            stream.write(text(name, first, commands))


if __name__ == '__main__':
    main()
