#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each function of the tables in docs/api that a header declares has a manual page, which tells what it does, each argument, and what it
returns: manual_test.py SOURCE FOLDER, where FOLDER is that of section 3."""
import csv
import gzip
import pathlib
import re
import sys

TABLES = ("current", "added-3.3", "aes_gcm", "compress", "erasure_coding")


def declared_in(include):
    """Names before a parenthesis, outside of comments."""
    text = "".join(path.read_text() for pattern in ("*.h", "*.cuh") for path in include.glob(pattern))
    return set(re.findall(r"\b(doca_\w+)\(", re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)))


def functions_of(table):
    with open(table, newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {row["name"] for row in rows if re.search(r"\b%s\(" % row["name"], row["declaration"])
                and not re.match(r"(enum|struct|union) \w+\s*[{;]|typedef|#", row["declaration"])}


def sections_of(path):
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    parts = re.split(r"^\.SH (.*)\n", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def faults_of(page):
    """What the page lacks."""
    sections = sections_of(page)
    synopsis = re.sub(r"\\-", "-", sections["SYNOPSIS"])
    prototype = " ".join(re.findall(r'^\.B "?(?!#include)(.*?)"?$', synopsis, re.M))
    result, _, arguments = prototype.partition("(")
    described = dict(re.findall(r"^\.TP\n\.I (\w+)\n(\S.*)$", sections.get("PARAMETERS", ""), re.M))
    names = [re.sub(r"\[.*\]|\W*$", "", argument).split()[-1].lstrip("*") for argument in arguments.split(",") if re.search(r"\w", argument)]
    faults = ["argument " + name for name in names if name != "void" and name not in described]
    if not re.match(r"(\.PP\n)?[^.\s]", sections.get("DESCRIPTION", "")):
        faults.append("what it does")
    returns = sections.get("RETURN VALUE", "")
    if "doca_error_t " in result and ".B DOCA_SUCCESS" not in returns or "*" in result and not returns:
        faults.append("what it returns")
    return faults


def main():
    source, folder = map(pathlib.Path, sys.argv[1:])
    wanted = set().union(*(functions_of(source / "docs" / "api" / (name + ".tsv")) for name in TABLES))
    wanted &= declared_in(source / "include")
    pages = {path.name.split(".3")[0]: path for path in folder.glob("*.3*")}
    faults = ["%s: no page" % name for name in sorted(wanted - set(pages))]
    faults += ["%s: the page lacks %s" % (name, fault) for name in sorted(wanted & set(pages)) for fault in faults_of(pages[name])]
    print("\n".join(faults + ["%d functions, %d pages" % (len(wanted), len(wanted & set(pages)))]))
    return 1 if faults or len(wanted) < 990 else 0


if __name__ == "__main__":
    sys.exit(main())
