#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds the comments of the public headers against the code: comments_test.py SOURCE

- Each function has a comment, or is in a section (`@name ... @{`) whose comment covers it.
- Each `@param` names a parameter of the prototype, once.
- Each code of a `@retval` can be returned by the function, as far as its source tells (reach.py).
- Codes are listed in one form: `@retval DOCA_ERROR_X cause`.

What these find is shown first: each rule meets a header that breaks it."""
import fnmatch
import glob
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import comments  # noqa: E402
import reach  # noqa: E402

# Internal device functions: programs include them through the .cuh headers and do not call them.
INTERNAL = re.compile(r'^(?:gpu_\w+|device)\.h$')
OTHER_FORM = re.compile(r'^\s*- DOCA_ERROR_|^@return[^@]*DOCA_ERROR_\w+:|^\s+DOCA_ERROR_\w+:', re.M)
SYMBOL = re.compile(r'\b(doca_\w+)\s*\([^;{]*\)\s*DOCA_[12]_[25]_SYMBOL\((\w+)\)', re.S)


def faults_of_comment(function, codes):
    """The errors in the comment of one function. codes: those that it can return, or None."""
    names = comments.documented_parameters(function.comment)
    for name in sorted(set(names) - set(function.parameter_names())):
        yield '@param %s: no such parameter' % name
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield '@param %s: described twice' % name
    if function.has_code() and OTHER_FORM.search(function.comment):
        yield 'lists a code without @retval'
    listed = [code for code, _ in comments.retvals(function.comment)]
    if listed and function.kind == 'function' and not function.has_code():
        yield '@retval %s: it does not return a doca_error_t' % listed[0]
    elif function.kind == 'function':
        for code in sorted(set(listed) - (codes if codes is not None else set(listed))):
            yield '@retval %s: its source never returns this code' % code


def faults_of_section(section, functions, codes_of):
    """The errors in the @retval lines of a section's or a file's comment."""
    for code, text in comments.retvals(section):
        limit = comments.LIMITED.match(text)
        patterns = limit.group(1).split(', ') if limit else ['*']
        for pattern in patterns:
            matching = [function for function in functions if function.has_code() and fnmatch.fnmatch(function.name, pattern)]
            if not matching:
                yield '@retval %s %s: no such function' % (code, pattern)
            for function in matching:
                codes = codes_of(function)
                if codes is not None and code not in codes:
                    yield '@retval %s: the source of %s never returns this code' % (code, function.name)


def faults_of_header(header, functions, codes_of, is_internal=False):
    sections = {}
    for function in functions:
        for section in function.sections:
            sections.setdefault(section, []).append(function)
        is_device_helper = header.endswith('.cuh') and function.name.startswith('softfield_')
        if not (function.comment or is_internal or is_device_helper or any(text.startswith('@name') for text in function.sections)):
            yield '%s: %s: no comment, and no section covers it' % (header, function.name)
        for fault in faults_of_comment(function, codes_of(function)):
            yield '%s: %s: %s' % (header, function.name, fault)
    for section, members in sections.items():
        for fault in faults_of_section(section, members, codes_of):
            yield '%s: %s: %s' % (header, section.split('\n')[0], fault)


PROTOTYPE = 'DOCA_STABLE\ndoca_error_t doca_thing_stop(struct doca_thing *thing, int (*cb)(int a, int b), const int sizes[2]);\n'
BROKEN = {
    'no comment': (PROTOTYPE, 'no comment'),
    'a comment of its neighbour': ('/** Starts. */\ndoca_error_t doca_thing_start(void);\n' + PROTOTYPE, 'no comment'),
    'a parameter that is not there': ('/**\n * Stops.\n * @param thin the thing\n */\n' + PROTOTYPE, '@param thin'),
    'a parameter of a parameter': ('/**\n * Stops.\n * @param a a number\n */\n' + PROTOTYPE, '@param a'),
    'a parameter twice': ('/**\n * Stops.\n * @param cb one\n * @param cb two\n */\n' + PROTOTYPE, '@param cb'),
    'a parameter of a callback': ('/**\n * Called.\n * @param b a number\n */\ntypedef void (*doca_thing_cb_t)(int a);\n', '@param b'),
    'a code that is never returned': ('/**\n * Stops.\n * @retval DOCA_ERROR_FULL no room\n */\n' + PROTOTYPE, 'DOCA_ERROR_FULL'),
    'a code of a void function': ('/**\n * Frees.\n * @retval DOCA_ERROR_IN_USE in use\n */\nvoid doca_thing_free(void);\n', 'doca_error_t'),
    'a list': ('/**\n * Stops.\n * @return DOCA_SUCCESS; else\n * - DOCA_ERROR_IN_USE: in use\n */\n' + PROTOTYPE, 'without @retval'),
    'a list in a sentence': ('/**\n * Stops.\n * @return DOCA_SUCCESS; DOCA_ERROR_IN_USE: in use\n */\n' + PROTOTYPE, 'without @retval'),
    'a code of a section': ('/**\n * @name Things\n * @retval DOCA_ERROR_FULL no room\n * @{\n */\n' + PROTOTYPE + '/** @} */\n',
                            'DOCA_ERROR_FULL'),
    'a section for no function': ('/**\n * @name Things\n * @retval DOCA_ERROR_IN_USE *_set_*: in use\n * @{\n */\n' + PROTOTYPE + '/** @} */\n',
                                  'no such function'),
}
SOUND = ('/**\n * Stops.\n * @param sizes two of them\n * @param cb called with two numbers\n * @retval DOCA_ERROR_IN_USE in use\n'
         ' * @retval DOCA_ERROR_AGAIN by the table\n */\n' + PROTOTYPE +
         '/**\n * @name Things\n * @retval DOCA_ERROR_IN_USE *_stop: in use\n * @{\n */\n' + PROTOTYPE + '/** @} */\n')
CODE = '''
static doca_error_t check(struct doca_thing *thing) { return thing ? DOCA_SUCCESS : DOCA_ERROR_IN_USE; }
static doca_error_t late(void) { return DOCA_ERROR_AGAIN; }
static const struct ops ops = {.stop = late};
doca_error_t doca_thing_stop(struct doca_thing *thing, int (*cb)(int a, int b), const int sizes[2])
{
	/* never DOCA_ERROR_FULL */
	return check(thing) ? check(thing) : thing->ops->stop();
}
doca_error_t doca_thing_fill(void) { return DOCA_ERROR_FULL; }
'''


def check_itself():
    source = reach.Source()
    source.read('thing.c', CODE)
    source.solve()

    def faults_of(text):
        return list(faults_of_header('thing.h', comments.read_text(text, 'thing.h'), lambda function: source.codes(function.name)))

    assert not faults_of(SOUND), faults_of(SOUND)
    for name, (text, expected) in BROKEN.items():
        faults = faults_of(text)
        assert len(faults) == 1 and expected in faults[0], '%s: %s' % (name, faults)


def main():
    check_itself()
    root = sys.argv[1]
    source = reach.Source(*(os.path.join(root, folder) for folder in ('src', 'include', 'apps/urom')))
    faults, number = [], 0
    for path in sorted(glob.glob(root + '/include/**/*.h', recursive=True) + glob.glob(root + '/include/*.cuh')):
        with open(path) as file:
            symbols = dict(SYMBOL.findall(reach.NOISE.sub(' ', file.read())))  # comments name functions too
        functions = comments.read(path)
        number += len(functions)
        faults += faults_of_header(os.path.relpath(path, root), functions,
                                   lambda function: source.codes(symbols.get(function.name, function.name)),
                                   '/softfield/' in path and INTERNAL.match(os.path.basename(path)) is not None)
    print('\n'.join(faults + ['%d functions, %d faults' % (number, len(faults))]))
    return 1 if faults or number < 1000 else 0


if __name__ == '__main__':
    sys.exit(main())
