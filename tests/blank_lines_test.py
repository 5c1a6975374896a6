#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A blank line follows the declarations that begin a block. clang-format does not support the rule. Usage: blank_lines_test.py [--fix]"""
import os
import re
import sys

from format_test import ROOT, sources

WORDS = r"(?:static|const|volatile|register|extern|unsigned|signed|long|short|_Atomic|_Thread_local)\s+"
TYPE = r"(?:(?:struct|enum|union)\s+\w+|(?!(?:return|else|goto|case|default|do|if|for|while|switch|sizeof|typedef)\b)[A-Za-z_]\w*)"
DECLARATION = re.compile(r"\t+(?:%s|alignas\(.*?\)\s*)*%s\s+\**(?:const\s+)?(?:\(\*)?[A-Za-z_]\w*[^()]*?(?:=|;|,|\[|\)\(|$)" % (WORDS, TYPE))
UNNAMED = re.compile(r"\t+(?:%s)*(?:struct|enum|union)(?:\s+\w+)?\s*\{$" % WORDS)
BLOCK = re.compile(r"\t*(?:\{|(?:[A-Z_]+\s\(|(?:\}\s)?(?:if|else|for|while|do|switch|case|default)\b).*\{)(?:\s/\*.*)?$")
TEXT = re.compile(r"/\*.*?(?:\*/|$)|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])+'")


def depth_of(line):
    return len(line) - len(line.lstrip("\t"))


def statement_end(lines, at):
    """The line after the statement that begins at `at`, and after its comment."""
    nested = 0
    while at < len(lines):
        bare = TEXT.sub(" ", lines[at])
        nested += len(re.findall(r"[({]", bare)) - len(re.findall(r"[)}]", bare))
        if nested <= 0 and bare.rstrip().endswith(";"):
            break
        at += 1
    return comment_end(lines, at)


def comment_end(lines, at):
    """The line after `at`, and after a comment that begins on it."""
    if at < len(lines) and lines[at].rfind("/*") > lines[at].rfind("*/"):
        at += 1
        while at < len(lines) and "*/" not in lines[at]:
            at += 1
    return at + 1


def is_declaration(line):
    return bool(DECLARATION.match(line) or UNNAMED.match(line))


def declarations_end(lines, at, depth):
    """The line after the declarations that begin at `at`, or `at` if there are none."""
    while at < len(lines) and depth_of(lines[at]) == depth:
        begin = at
        if lines[at].lstrip().startswith("/*"):
            begin = comment_end(lines, at) if "*/" not in lines[at] else at + 1
        if begin >= len(lines) or not is_declaration(lines[begin]):
            break
        at = statement_end(lines, begin)
    return at


def missing(lines):
    """The lines that need a blank line before them."""
    for at, line in enumerate(lines):
        if not BLOCK.match(line):
            continue
        depth = depth_of(line) + 1
        end = declarations_end(lines, at + 1, depth)
        if at + 1 < end < len(lines) and depth_of(lines[end]) == depth and lines[end].strip() not in ("", "}"):
            yield end


def main():
    failed = num = 0

    for path in sorted(sources()):
        with open(path, encoding="utf-8") as source:
            lines = source.read().split("\n")
        wanted = list(missing(lines))
        num += 1
        if not wanted:
            continue
        if "--fix" in sys.argv:
            for at in reversed(wanted):
                lines.insert(at, "")
            with open(path, "w", encoding="utf-8") as source:
                source.write("\n".join(lines))
            continue
        failed += 1
        for at in wanted:
            print("FAILED: %s:%d: a blank line follows declarations" % (os.path.relpath(path, ROOT), at + 1))
    print("%d passed, %d failed" % (num - failed, failed))
    return failed != 0 or num == 0


if __name__ == "__main__":
    sys.exit(main())
