#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The rules in docs/validation.md are those of the table in the source, whose ids are sound, and each is broken by a program
of tests/validation: validation_doc_test.py SOURCE [--fix]

With --fix it writes them."""
import pathlib
import re
import sys

BEGIN = "<!-- from src/validation/validation_rules.def by tests/validation/validation_doc_test.py -->\n"
END = "<!-- end of the table -->\n"
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


def check_programs(rules, folder):
    programs = "".join(path.read_text() for path in sorted(folder.glob("*_test.c")))
    return ["no program of %s breaks SF-%s-%s" % (folder, noun, number) for noun, number, _ in rules
            if "SF-%s-%s: " % (noun, number) not in programs]


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
            errors.append("docs/validation.md has not the rules of the table: run this with --fix")
    for error in errors:
        print(error)
    print("%d rules" % len(rules))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
