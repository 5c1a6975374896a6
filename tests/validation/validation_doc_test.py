#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The rules in docs/validation.md are those of the table in the source, whose ids are sound. Each has a program in
tests/validation that breaks it and a sibling that does not, and a report that names the object, the call and the fix:
validation_doc_test.py SOURCE [--fix]

With --fix it writes the rules into the page."""
import pathlib
import re
import sys

BEGIN = "<!-- from src/validation/validation_rules.def by tests/validation/validation_doc_test.py -->\n"
END = "<!-- end of the table -->\n"
# A pair of programs, and the report of the first; scenario.h runs both.
SCENARIO = re.compile(r'SCENARIO\(\s*(\w+),((?:\s*"(?:[^"\\]|\\.)*")+)\)')
REPORT = re.compile(r'(SF-\w+-\d+): (?:[\w ]+)(?: "[^"]*")?(?: \(0x\))?: (doca_\w+: )?[^;].*; fix: .')
# Another process checks what is left at the end: the two programs of exit_test.c.
AT_THE_END = {"SF-EXIT-001": ("leave_a_mmap", "leave_nothing")}
RULE = re.compile(r'SF_RULE\((\w+), (\d+),((?:\s*"(?:[^"\\]|\\.)*",?)+)\)')


def rules_of(path):
    """The rules: noun, number, and the four texts."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    rules = []
    for noun, number, rest in RULE.findall(text):
        texts = re.findall(r'"((?:[^"\\]|\\.)*)"', rest)
        rules.append((noun, number, texts))
    if len(rules) != text.count("SF_RULE("):
        sys.exit("%s: %d rules, and %d of them can be read" % (path, text.count("SF_RULE("), len(rules)))
    return rules


def check_ids(rules):
    errors, numbers = [], {}
    for noun, number, texts in rules:
        if len(texts) != 4 or not all(texts):
            errors.append("SF-%s-%s has %d texts: object, rule, why and fix" % (noun, number, len(texts)))
        if len(number) != 3 or int(number) <= numbers.get(noun, 0):
            errors.append("SF-%s-%s: numbers have three digits, and go up" % (noun, number))
        numbers[noun] = int(number)
    return errors


def scenarios_of(path, errors):
    """The rules that a file's pairs break, each with whether a report of it names a call."""
    text, rules = path.read_text(), {}
    pairs = SCENARIO.findall(text)
    if len(pairs) != len(re.findall(r"\bSCENARIO\(", text)):
        errors.append("%s: a SCENARIO cannot be read" % path)
    for name, literals in pairs:
        report = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals)).replace('\\"', '"')
        body = re.search(r"^static void %s\(bool wrong\)\n\{\n(.*?)^\}" % name, text, re.M | re.S)
        found = REPORT.match(report)
        if body is None or not re.search(r"\bwrong\b", body.group(1)):
            errors.append("%s: %s does the same with and without `wrong`" % (path, name))
        elif found is None:
            errors.append("%s: the report of %s does not have the form RULE: OBJECT: CALL: CAUSE; fix: FIX" % (path, name))
        else:
            rules[found.group(1)] = rules.get(found.group(1), False) or found.group(2) is not None
    return rules


def has_end_pair(programs, text):
    return all(re.search(r'\{"%s", %s\}' % (name, name), text) and 'run("%s", "1")' % name in text for name in programs)


def check_programs(rules, folder):
    errors, broken = [], {}
    for path in sorted(folder.glob("*_test.c")):
        for rule, has_call in scenarios_of(path, errors).items():
            broken[rule] = broken.get(rule, False) or has_call
    for rule, programs in AT_THE_END.items():
        broken[rule] = has_end_pair(programs, (folder / "exit_test.c").read_text())
    ids = ["SF-%s-%s" % (noun, number) for noun, number, _ in rules]
    errors += ["no pair of programs in %s breaks %s" % (folder, rule) for rule in ids if rule not in broken]
    errors += ["no report of %s in %s names a call" % (rule, folder) for rule in ids if broken.get(rule) is False]
    return errors + ["%s is in %s, but is not a rule" % (rule, folder) for rule in broken if rule not in ids]


def table(rules):
    lines = ["| id | object | rule | why | fix |\n", "| --- | --- | --- | --- | --- |\n"]
    for noun, number, texts in rules:
        lines.append("| SF-%s-%s | %s |\n" % (noun, number, " | ".join(text.replace("|", "\\|") for text in texts)))
    return "".join(lines)


def main():
    source, fix = pathlib.Path(sys.argv[1]), "--fix" in sys.argv
    rules = rules_of(source / "src/validation/validation_rules.def")
    errors = check_ids(rules) + check_programs(rules, source / "tests/validation")
    page = source / "docs/validation.md"
    text = page.read_text()
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    if text[begin:end] != table(rules):
        if fix:
            page.write_text(text[:begin] + table(rules) + text[end:])
        else:
            errors.append("docs/validation.md does not have the rules of the table: run this with --fix")
    for error in errors:
        print(error)
    print("%d rules" % len(rules))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
