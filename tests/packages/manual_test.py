#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each function of the API's tables, of this release and of earlier ones, that a header declares has a manual page, and so has each of
the UROM plugins' headers. The page tells what it does, each argument, what it returns, and, of another release or a plugin, which file
of pkg-config it needs. The reference for a browser has a page of each program and of each function of an earlier release, which its
search finds and its first page leads to. Usage: manual_test.py SOURCE MAN HTML, where MAN has the folders man1 and man3."""
import csv
import gzip
import pathlib
import re
import sys

TABLES = ("current", "added-3.3", "aes_gcm", "compress", "erasure_coding")
EARLIER = {"2.5": "tests/legacy25/forms.tsv", "2.2": "docs/api/legacy-2.2.tsv", "1.5": "docs/api/legacy-1.5.tsv"} # newest first
PLUGINS = ("allreduce", "graph", "rdmo", "sandbox")


def declared_in(include, headers=("*.h", "*.cuh"), prefix="doca"):
    """Names before a parenthesis, outside of comments."""
    text = "".join(path.read_text() for pattern in headers for path in include.glob(pattern))
    return set(re.findall(r"\b(%s_\w+)\(" % prefix, re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)))


def functions_of(table):
    with open(table, newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {row["name"] for row in rows if re.search(r"\b%s\(" % row["name"], row["declaration"])
                and not re.match(r"(enum|struct|union) \w+\s*[{;]|typedef|#", row["declaration"])}


def wanted_from(source):
    """For each function the words that its page must have: of an earlier release, that of the newest one that declares it."""
    include = source / "include"
    current = set().union(*(functions_of(source / "docs" / "api" / (name + ".tsv")) for name in TABLES)) & declared_in(include)
    wanted = {name: '"Softfield"\n' for name in current}
    for plugin in PLUGINS:
        header = "urom_%s.h" % plugin
        names = declared_in(source / "plugins" / plugin, (header,), "urom_" + plugin)
        wanted.update((name, "\nCompile with the flags of urom\\-%s.pc." % plugin) for name in names)
    known = set().union(*(functions_of(source / table) for table in EARLIER.values()))
    for release in EARLIER:
        names = known & declared_in(include / ("doca-" + release)) - declared_in(include)
        for name in names - set(wanted):
            wanted[name] = "LIBDIR/pkgconfig/%s/doca.pc " % release
    missing = known - set(wanted) - declared_in(include)
    return wanted, ["%s: in a table, but no header declares it" % name for name in sorted(missing)]


def text_of(path):
    return gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()


def sections_of(text):
    parts = re.split(r"^\.SH (.*)\n", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def faults_of(page, words):
    """What the page lacks."""
    text = text_of(page)
    sections = sections_of(text)
    synopsis = re.sub(r"\\-", "-", sections["SYNOPSIS"])
    prototype = " ".join(re.findall(r'^\.B "?(?!#include)(.*?)"?$', synopsis, re.M))
    result, _, arguments = prototype.partition("(")
    described = dict(re.findall(r"^\.TP\n\.I (\w+)\n(\S.*)$", sections.get("PARAMETERS", ""), re.M))
    names = [re.sub(r"\[.*\]|\W*$", "", argument).split()[-1].lstrip("*") for argument in arguments.split(",") if re.search(r"\w", argument)]
    faults = [] if words in text else [repr(words)]
    faults += ["argument " + name for name in names if name != "void" and name not in described]
    if not re.match(r"(\.PP\n)?[^.\s]", sections.get("DESCRIPTION", "")):
        faults.append("what it does")
    returns = sections.get("RETURN VALUE", "")
    if "doca_error_t " in result and ".B DOCA_SUCCESS" not in returns or "*" in result and not returns:
        faults.append("what it returns")
    return faults


def found_by_search(html):
    """The pages that the search of the reference finds, by their titles."""
    entries = "".join(path.read_text() for path in (html / "search").glob("pages_*.js"))
    return dict(re.findall(r"\['([^']*)',\['\.\./([^']*\.html)'", entries))


def linked_from(html, first):
    """The files that one reaches from the first page by links in the text."""
    reached, left = set(), [first]
    while left:
        name = left.pop()
        if name not in reached and (html / name).is_file():
            reached.add(name)
            left += re.findall(r'href="([\w.-]+\.html)', (html / name).read_text().partition('<div class="contents">')[2])
    return reached


def faults_of_reference(html, titles):
    found, linked = found_by_search(html), linked_from(html, "index.html")
    for title in titles:
        page = found.get(title)
        if page is None or not (html / page).is_file():
            yield "%s: the search in the reference does not find it" % title
        elif page not in linked:
            yield "%s: no link of the reference leads to %s" % (title, page)


def main():
    source, man, html = map(pathlib.Path, sys.argv[1:])
    wanted, faults = wanted_from(source)
    pages = {path.name.split(".3")[0]: path for path in (man / "man3").glob("*.3*")}
    faults += ["%s: no page" % name for name in sorted(set(wanted) - set(pages))]
    faults += ["%s: the page lacks %s" % (name, fault) for name in sorted(set(wanted) & set(pages))
               for fault in faults_of(pages[name], wanted[name])]
    titles = {path.name.split(".1")[0].replace("-", " ") for path in (man / "man1").glob("*.1*")
              if path.name.startswith(("softfield", "doca_caps", "doca_urom", "doca_dpu"))}
    earlier = {name for name, words in wanted.items() if words.endswith("doca.pc ")}
    faults += faults_of_reference(html, sorted(titles | earlier))
    numbers = len(wanted), len(earlier), len(titles)
    print("\n".join(faults + ["%d functions, %d of them of earlier releases only, %d programs and commands" % numbers]))
    return 1 if faults or any(number < least for number, least in zip(numbers, (1250, 240, 18))) else 0


if __name__ == "__main__":
    sys.exit(main())
