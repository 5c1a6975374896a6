#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a manual page of each program, and of each command of one, from its --help, by help2man.
Usage: programs.py FOLDER VERSION PROGRAM..."""
import os
import re
import subprocess
import sys

COMMAND = re.compile(r'^  ([a-z_]+(?: [a-z_]+)*)(?: \S.*?)?  +[A-Z]', re.M)
# Descriptions that the help texts of doca_argp lack.
ABOUT = {
    'doca_caps': 'what DOCA devices can do',
    'doca_dpu_gpu_remote_offload_client': 'client of the DPU GPU Remote Offload guide',
    'doca_dpu_gpu_remote_offload_server': 'server of the DPU GPU Remote Offload guide',
    'doca_dpu_gpu_remote_offload_orchestrator': 'orchestrator of the DPU GPU Remote Offload guide',
    'doca_urom_daemon': 'the UROM service',
    'doca_urom_worker': 'a worker process of the UROM service',
    'softfield': 'devices, nodes, topologies and measurements of Softfield',
}


def said(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def summary_of(text):
    """The sentence after the usage, without its full stop and its capital."""
    sentence = re.sub(r'\s+', ' ', text.split('\n\n')[1].strip()).rstrip('.')
    return sentence[0].lower() + sentence[1:]


def page(program, words, about, others, version):
    name = '-'.join([os.path.basename(program), *words])
    env = dict(os.environ, PATH=os.path.dirname(os.path.realpath(program)) + os.pathsep + os.environ['PATH'])
    text = subprocess.run(['help2man', '--no-info', '--no-discard-stderr', f'--version-string={version}', '--manual=Softfield',
                           '--source=Softfield', f'--name={about}', ' '.join([os.path.basename(program), *words])],
                          env=env, check=True, stdout=subprocess.PIPE, text=True).stdout
    text = re.sub(r'^\.TH \S+', f'.TH {name.upper()}', text, count=1, flags=re.M)
    text = re.sub(r'^(\.SH NAME\n).*? \\- ', lambda match: match[1] + name.replace('-', '\\-') + ' \\- ', text, count=1, flags=re.M)
    if others:
        text += '.SH "SEE ALSO"\n' + '\n'.join(f'.BR {other} (1){"," if other != others[-1] else ""}' for other in others) + '\n'
    return name, text


def main():
    folder, version, *programs = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    for program in programs:
        base = os.path.basename(program)
        section = said(program, '--help').partition('\nCommands:\n')[2].partition('\n\n')[0]
        commands = [found.split() for found in COMMAND.findall(section)]
        pages = [page(program, [], ABOUT[base], ['-'.join([base, *words]) for words in commands], version)]
        for words in commands:
            pages.append(page(program, words, summary_of(said(program, *words, '--help')), [base], version))
        for name, text in pages:
            with open(os.path.join(folder, name + '.1'), 'w', encoding='utf-8') as stream:
                stream.write(text)


if __name__ == '__main__':
    main()
