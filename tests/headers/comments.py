# SPDX-License-Identifier: BSD-3-Clause
"""The functions that a public header declares, each with its comments.

A function is described by its own comment, by the comment of its section (`@name`, `@{` ... `@}`), by the comment of the file
(`@file`) and by the rules of doca_error.h. A `@retval` of a section or of a file may begin with the functions that it is for:
`@retval DOCA_ERROR_NO_MEMORY *_alloc_init: all tasks are in use`; without them it is for all."""
import fnmatch
import os
import re

MARKS = r'\b(?:DOCA_STABLE|DOCA_EXPERIMENTAL|DOCA_DEPRECATED|SOFTFIELD_DEVICE|DOCA_GPU_RDMA_FUNCTION|DOCA_GPU_\w*FUNCTION)\b'
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*|"(?:\\.|[^"\\])*"|[{};]', re.S | re.M)
CODE = re.compile(r'\bDOCA_ERROR_[A-Z_]*[A-Z]\b')
LIMITED = re.compile(r'^((?:[\w*]*\*[\w*]*|doca_\w+)(?:, (?:[\w*]*\*[\w*]*|doca_\w+))*): ')


class Function:
    """kind is 'function', or 'callback' for the type of one."""

    def __init__(self, header, kind, name, returns, parameters, comment, sections, line):
        self.header, self.kind, self.name, self.returns, self.parameters = header, kind, name, returns, parameters
        self.comment, self.sections, self.line = comment, sections, line

    def has_code(self):
        return self.kind == 'function' and self.returns.split() == ['doca_error_t']

    def parameter_names(self):
        return [name for _, name in self.parameters]

    def retvals(self):
        """(code, cause) from its own comment and from those of its sections."""
        found = retvals(self.comment)
        for section in self.sections:
            for code, text in retvals(section):
                limit = LIMITED.match(text)
                if limit is None or any(fnmatch.fnmatch(self.name, pattern) for pattern in limit.group(1).split(', ')):
                    found.append((code, text[limit.end():] if limit else text))
        return found

    def by_rule(self):
        """The code that doca_error.h documents for functions with a pointer or a callback, unless a comment states another."""
        takes_pointer = any('*' in kind or re.search(r'_cb_t|callback', kind) for kind, _ in self.parameters)
        says_another = 'NULL does nothing' in self.comment or any(
            code != 'DOCA_ERROR_INVALID_VALUE' and re.search(r'\bis NULL', cause) for code, cause in self.retvals())
        return {'DOCA_ERROR_INVALID_VALUE'} if takes_pointer and not says_another else set()

    def by_sections(self):
        return {code for code, _ in self.retvals()}

    def own(self):
        return set(CODE.findall(self.comment))


def plain(comment):
    """The text of a comment, without asterisks."""
    lines = comment.strip('/').strip('*').split('\n')
    return '\n'.join([lines[0].strip()] + [re.sub(r'^\s*\* ?', '', line).rstrip() for line in lines[1:]]).strip()


def retvals(text):
    return [(code, ' '.join(cause.split())) for code, cause in
            re.findall(r'^@retval (DOCA_ERROR_\w+)[ \t]*((?:[^\n]|\n(?!@|\n|\Z))*)', text, re.M)]


def documented_parameters(text):
    return re.findall(r'^@param(?:\[[\w,]+\])?[ \t]+(\S+)', text, re.M)


def split_parameters(text):
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text + ','):
        depth += (letter == '(') - (letter == ')')
        if letter == ',' and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    return parts


def parameter(text):
    pointer = re.search(r'\(\s*\*\s*(\w+)\s*\)\s*\(', text)
    if pointer:
        return '*', pointer.group(1)
    found = re.match(r'(.*?)(\w+)\s*((?:\[[^]]*\]\s*)*)$', text, re.S)
    return (found.group(1) + ('*' if found.group(3) else ''), found.group(2)) if found else (text, '')


def declaration(text):
    """(kind, name, returns, parameters) of a function's declaration, or None."""
    text = ' '.join(re.sub(MARKS, ' ', text).split())
    found = re.match(r'typedef (.*?)\(\s*(?:\*\s*)?(\w+)\s*\)\s*\((.*)\)$', text)
    kind = 'callback'
    if found is None:
        kind = 'function'
        found = re.match(r'((?:static |inline |extern |__attribute__\(\(\w+\)\) )*)([\w\s*]+?[\s*])(\w+)\s*\((.*)$', text)
        if found is None or text.startswith('typedef') or '=' in text.split('(')[0]:
            return None
        depth, rest = 1, found.group(4)
        for place, letter in enumerate(rest):
            depth += (letter == '(') - (letter == ')')
            if depth == 0:
                break
        returns, name, arguments = found.group(2), found.group(3), rest[:place]
    else:
        returns, name, arguments = found.groups()
    parameters = [] if arguments.strip() in ('', 'void') else [parameter(part) for part in split_parameters(arguments) if part != '...']
    return kind, name, returns.strip(), parameters


def read_text(text, header):
    """Every function and callback type of a header, in order."""
    functions, comment, file_comment, sections, start, depth, braces = [], '', [], [], 0, 0, []
    for token in TOKEN.finditer(text):
        word = token.group(0).strip()
        if depth == 0 and word.startswith('/*'):
            if text[start:token.start()].strip():
                continue  # inside of a declaration
            said = plain(word)
            if word.startswith('/**') and said.startswith('@file'):
                file_comment = [said]
            elif word.startswith('/**') and said.startswith('@name'):
                sections.append(said)
                assert said.endswith('@{'), '%s: a section begins with @name, and its comment ends with @{: %s' % (header, said.split('\n')[0])
            elif word.startswith('/**') and said == '@}':
                assert sections, '%s: an @} without its @name' % header
                sections.pop()
            elif word.startswith('/**'):
                comment = said
            start = token.end()
        elif word.startswith(('/*', '//')):
            if depth == 0 and not text[start:token.start()].strip():
                start = token.end()
        elif word.startswith('#'):
            if depth == 0:
                if text[start:token.start()].strip() == '':
                    start = token.end()
                if not word.startswith(('#if', '#el', '#endif')):
                    comment = ''
        elif word == '{':
            if re.search(r'extern\s*$', re.sub(r'"C"', '', text[start:token.start()])):
                braces.append(False)
                start = token.end()
                continue
            if depth == 0:
                found = declaration(re.sub(r'/\*.*?\*/', ' ', text[start:token.start()], flags=re.S))
                if found:
                    functions.append(Function(header, *found, comment, file_comment + sections, text.count('\n', 0, token.start()) + 1))
            braces.append(True)
            depth += 1
        elif word == '}':
            if braces.pop():
                depth -= 1
            if depth == 0:
                start, comment = token.end(), ''
        elif word == ';' and depth == 0:
            found = declaration(re.sub(r'/\*.*?\*/', ' ', text[start:token.start()], flags=re.S))
            if found:
                functions.append(Function(header, *found, comment, file_comment + sections, text.count('\n', 0, token.start()) + 1))
            start, comment = token.end(), ''
    assert not sections, '%s: the section is not closed by @}: %s' % (header, sections[-1].split('\n')[0] if sections else '')
    return functions


def read(path):
    with open(path) as file:
        return read_text(file.read(), os.path.basename(path))
