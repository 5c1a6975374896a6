# SPDX-License-Identifier: BSD-3-Clause
"""Which DOCA_ERROR codes a function can return, as far as its source shows.

The source is read, not compiled. A function has the codes that its body names, and those of everything that it names: functions that it
calls or passes on, macros, tables. A call through a member, `x->stop(...)`, has those of every function that is assigned to a
member `stop`; a member that is read has the codes that are assigned to it. So the result may have too many codes: the function never
returns a code that is missing here."""
import os
import re

NOISE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
ATTRIBUTE = re.compile(r'__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)')
DIRECTIVE = re.compile(r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', re.M)
MACRO = re.compile(r'^[ \t]*#[ \t]*define[ \t]+(\w+)((?:[^\n]*\\\n)*[^\n]*)', re.M)
CODE = re.compile(r'\bDOCA_ERROR_[A-Z_]*[A-Z]\b')
WORD = re.compile(r'\b[A-Za-z_]\w*\b')
MEMBER_CALL = re.compile(r'(?:(?:->|\.)\s*(\w+)\s*)?(?:->|\.)\s*(\w+)\s*\(')
MEMBER = re.compile(r'(?:->|\.)\s*(\w+)\b(?!\s*\()')
MEMBER_SET = re.compile(r'(?:->|\.)\s*(\w+)\s*=(?!=)\s*([^;,}]*)')
MEMBER_STORE = re.compile(r'__atomic_store_n\(&[^;]*?(?:->|\.)(\w+), ([^;]*);')
# Calls for log lines: their codes are not what the calling function returns.
QUIET = re.compile(r'SF_LOG_\w+|sf_log_\w+|doca_error_get_\w+|log_source')


class Source:
    def __init__(self, *folders):
        self.texts = {}  # (file or None, name): the text of a function, a macro or a table; None: of any file
        self.assigned = {}  # member: what is assigned to it
        for folder in folders:
            for place, _, names in sorted(os.walk(folder)):
                for path in (os.path.join(place, name) for name in sorted(names)):
                    if path.endswith(('.c', '.h', '.cuh')):
                        with open(path, errors='replace') as file:
                            self.read(path, file.read())
        self.solve()

    def put(self, file, name, text):
        self.texts.setdefault((file, name), []).append(text)

    def read(self, path, text):
        text = NOISE.sub(lambda found: ' ' if found.group(0)[0] == '/' else '""', text)
        own = path if path.endswith('.c') else None
        for name, body in MACRO.findall(text):
            self.put(own, name, (path, body))
        text = ATTRIBUTE.sub(' ', DIRECTIVE.sub(' ', text))
        text = re.sub(r'extern\s*""\s*\{', ' ', text)
        for name, value in MEMBER_SET.findall(text) + MEMBER_STORE.findall(text):
            self.assigned.setdefault(name, []).append((path, value))
        depth, start = 0, 0
        for token in re.finditer(r'[{};]', text):
            word = token.group(0)
            depth += (word == '{') - (word == '}')
            if depth or word == '{':
                continue
            piece = text[start:token.end()]
            is_function = re.search(r'\)\s*\{', piece) is not None and '=' not in piece.split('{')[0]
            if word == '}' and not is_function:
                continue  # a struct or a table: it ends with its semicolon
            start = token.end()
            head = piece.split('{')[0].split('=')[0]
            found = re.search(r'\b(\w+)\s*\((?!\*)', head) if is_function else re.search(r'(\w+)\s*(?:\[[^=]*)?$', head)
            if found and (is_function or '=' in piece):
                self.put(own if re.search(r'\bstatic\b', head) else None, found.group(1), (path, piece))

    def targets(self, path, word):
        for key in ((path, word), (None, word)):
            if key in self.texts:
                return [key]
        return []

    def uses(self, path, text):
        """(codes, keys) that a text names."""
        codes, keys = set(CODE.findall(text)), set()
        for word in set(WORD.findall(text)):
            if not QUIET.fullmatch(word):
                keys.update(self.targets(path, word))
        for holder, member in set(MEMBER_CALL.findall(text)):
            called = member if member in self.assigned else holder  # its table is assigned as a whole
            if called in self.assigned:
                keys.add(('->', called))
        for member in set(MEMBER.findall(text)):
            for _, value in self.assigned.get(member, []):
                codes.update(CODE.findall(value))
        return codes, keys

    def solve(self):
        self.codes_of, users, uses = {}, {}, {}
        for key, texts in self.texts.items():
            uses[key] = [self.uses(path, text) for path, text in texts]
        for member, values in self.assigned.items():
            uses['->', member] = [self.uses(path, value) for path, value in values]
        for key, found in uses.items():
            self.codes_of[key] = set().union(*(codes for codes, _ in found))
            for _, keys in found:
                for other in keys:
                    users.setdefault(other, set()).add(key)
        todo = list(uses)
        while todo:
            key = todo.pop()
            for user in users.get(key, ()):
                if not self.codes_of[key] <= self.codes_of[user]:
                    self.codes_of[user] |= self.codes_of[key]
                    todo.append(user)

    def codes(self, name):
        """None: the source has no such function."""
        return self.codes_of.get((None, name))
