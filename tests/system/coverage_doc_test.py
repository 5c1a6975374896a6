#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The counts in docs/COVERAGE.md match the tables in docs/api: coverage_doc_test.py SOURCE BUILD [--fix]

With --fix it writes them. A name counts as declared if the compiler finds it with the table's type, values and fields; a function
counts as exported if a library of BUILD exports the symbol that a call of it uses. CC is the compiler (cc)."""
import csv
import difflib
import os
import pathlib
import re
import subprocess
import sys

LIBRARIES = ("aes_gcm.tsv", "compress.tsv", "erasure_coding.tsv") # tables of one library each
BEGIN = "<!-- counted by tests/system/coverage_doc_test.py -->\n"
END = "<!-- end of what is counted -->\n"
FLAGS = ["-std=gnu11", "-w", "-DDOCA_ALLOW_EXPERIMENTAL_API", "-DDOCA_ALLOW_DEPRECATED_API"]
DEFINED = "#if !defined(%s)%s\n#line %d \"probe\"\n#error not so\n#endif\n"


def rows_of(path):
    with open(path, newline="") as table:
        rows = list(csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE))
    # Omitted: names that the release removes, names that appear in text only, and what a plugin exports, which no header
    # declares.
    return [row for row in rows if row["declaration"] != "-" and not row.get("confidence", "").startswith("named in text only")
            and not row["name"].startswith("urom_plugin_get_")]


def kind_of(row):
    declaration = row["declaration"]
    return row.get("kind") or next((kind for kind in ("enum", "typedef") if declaration.startswith(kind)), "function")


def fields_of(declaration):
    body = re.search(r"\{(.*)\}", declaration, re.S)
    text = re.sub(r"\bstruct\s*\{[^{}]*\}\s*;|\{[^{}]*\}", "", body[1]) if body else "" # an unnamed struct adds no field name
    names = [re.search(r"\(\s*\*\s*(\w+)\s*\)|(\w+)\s*(?:\[[^]]*\]\s*)*(?::\s*\d+\s*)?$", part.strip()) for part in text.split(";")]
    names = [name[1] or name[2] for name in names if name]
    return ["__doca_api_version" if name == "DOCA_STRUCT_START" else name for name in names]


def value_of(row):
    """The number or text that a macro expands to; empty for another macro."""
    value = re.fullmatch(r'#define \w+ (\d+|"[^"]*")', row["declaration"].strip())
    return value[1] if value else ""


def probe(row, line):
    """C code that compiles only if the name is declared as in the table."""
    name, kind, declaration = row["name"], kind_of(row), row["declaration"].strip().rstrip(";")
    if kind == "macro":
        value = value_of(row)
        if value.startswith('"'):
            return DEFINED % (name, "", line) + "#line %d \"probe\"\n_Static_assert(__builtin_strcmp(%s, %s) == 0, \"\");\n" % (line, name, value)
        return DEFINED % (name, value and " || %s != %s" % (name, value), line)
    if kind == "function":
        prototype = re.sub(r"^((static|inline|extern)\s+)+", "", declaration)
        code = "static const void *const u%d = (const void *)&%s; %s;" % (line, name, prototype)
    elif kind == "enum":
        pairs = re.findall(r"(\w+)\s*=\s*([^,}]+)", declaration)
        code = " ".join("_Static_assert((%s) == (%s), \"\");" % pair for pair in pairs)
    elif kind in ("struct", "union"):
        uses = " ".join("(void)x->%s;" % field for field in fields_of(declaration))
        code = "static %s %s *s%d; static void f%d(%s %s *x) { %s }" % (kind, name, line, line, kind, name, uses if "{" in declaration else "")
    else:
        code = "static %s *t%d; %s;" % (name, line, "" if "{" in declaration else declaration)
    return "#line %d \"probe\"\n%s\n" % (line, code)


def compile_c(text, includes, *flags):
    command = os.environ.get("CC", "cc").split() + FLAGS + ["-I%s" % folder for folder in includes] + list(flags) + ["-xc", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def lines_with_errors(text, includes):
    run = compile_c(text, includes, "-fsyntax-only", "-ferror-limit=0" if is_clang() else "-fmax-errors=0")
    errors = [line for line in run.stderr.splitlines() if "error:" in line]
    other = [line for line in errors if not line.startswith("probe:")]
    if other:
        sys.exit("the headers do not compile: " + other[0])
    return {int(line.split(":")[1]) for line in errors}


def is_clang():
    return "__clang__" in compile_c("", [], "-dM", "-E").stdout


def symbols_of(functions, headers, includes):
    """The symbol that a call of each function uses; inline functions are left out."""
    text = includes_text(headers) + "".join("const void *const p_%s = (const void *)&%s;\n" % (name, name) for name in functions)
    run = compile_c(text, includes, "-S", "-O0", "-fno-pic", "-o", "-")
    if run.returncode != 0:
        sys.exit("the functions' addresses do not compile: " + run.stderr[:400])
    symbols = dict(re.findall(r"^p_(\w+):\n\s+\.\w+\s+([\w.]+)", run.stdout, re.M))
    inline = set(re.findall(r"^(\w+):", run.stdout, re.M)) - {"p_" + name for name in functions}
    return {name: symbol for name, symbol in symbols.items() if symbol not in inline}


def includes_text(headers):
    return "".join("#include <%s>\n" % header for header in headers)


def exported_by(build):
    libraries = [str(path) for path in sorted((build / "src").glob("libdoca*.so.*")) if path.is_file() and not path.is_symlink()]
    assert libraries, "no library in %s: build it first" % build
    out = subprocess.run(["nm", "-D", "--defined-only", *libraries], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in out.splitlines() if len(line.split()) == 3}


class Api:
    """What the headers declare of some tables, as sets of (header, name). If a name has two forms, either counts."""

    def __init__(self, rows, includes, exported):
        forms = [((row["header"], row["name"]), row) for row in rows]
        self.names = {key for key, _ in forms}
        self.headers = sorted({header for header, _ in self.names})
        places = {header: next((folder / header for folder in includes if (folder / header).exists()), None) for header in self.headers}
        of_c = [header for header in self.headers if places[header] and not header.endswith(".cuh")]
        self.declared = declared_in_c([form for form in forms if form[0][0] in of_c], of_c, includes)
        for header in set(filter(places.get, self.headers)) - set(of_c):
            text = re.sub(r"/\*.*?\*/|//[^\n]*", "", places[header].read_text(), flags=re.S)
            self.declared |= {key for key in self.names if key[0] == header and re.search(r"\b%s\b" % key[1], text)}

        functions = {key for key, row in forms if kind_of(row) == "function" and not key[0].endswith(".cuh")}
        symbols = symbols_of(sorted({name for _, name in functions & self.declared}), of_c, includes)
        self.functions = {key for key in functions if key not in self.declared or key[1] in symbols} # without inline ones
        self.exported = {key for key in self.functions if symbols.get(key[1]) in exported}

    def part(self, header, which):
        return len([key for key in which if key[0] == header])

    def cells(self, header):
        return " | ".join((cell(self.part(header, self.declared), self.part(header, self.names)),
                           cell(self.part(header, self.exported), self.part(header, self.functions))))


def declared_in_c(forms, headers, includes):
    probes = "".join(probe(row, line) for line, (_, row) in enumerate(forms, 1))
    wrong = lines_with_errors(includes_text(headers) + probes, includes)
    seen = compile_c(includes_text(headers), includes, "-E").stdout # a struct without fields compiles without a declaration, so look for its name
    return {key for line, (key, row) in enumerate(forms, 1)
            if line not in wrong and (kind_of(row) != "struct" or re.search(r"\bstruct %s\b" % key[1], seen))}


def changed(added, table):
    """Of the names that a release added, those that the table lacks or has with another form that a compiler can distinguish."""
    forms = {(row["header"], row["name"]): row["declaration"] for row in table}
    return [row for row in added if (row["header"], row["name"]) not in forms or
            row["declaration"] != forms[row["header"], row["name"]] and (kind_of(row) != "macro" or value_of(row))]


def cell(here, there):
    return "" if there == 0 else "%d of %d" % (here, there)


def counted(source, build):
    """The generated part of the page."""
    api, include, exported = source / "docs" / "api", source / "include", exported_by(build)
    ucx = subprocess.run(["pkg-config", "--cflags-only-I", "ucx"], capture_output=True, text=True, check=False).stdout
    others = [pathlib.Path(flag[2:]) for flag in ucx.split()]
    with open(api / "not_supported.tsv", newline="") as table:
        why = dict(csv.reader(table, delimiter="\t", quoting=csv.QUOTE_NONE))

    table, added = rows_of(api / "current.tsv"), rows_of(api / "added-3.3.tsv")
    table += [row for name in LIBRARIES if (api / name).exists() for row in rows_of(api / name)]
    today = Api(table + added, [include] + others, exported)
    newer = Api(changed(added, table), [include] + others, exported)
    text = "| header | names | functions exported | new or changed in 3.3 | answers NOT_SUPPORTED, and why |\n| --- | --- | --- | --- | --- |\n"
    for header in today.headers:
        change = cell(newer.part(header, newer.declared), newer.part(header, newer.names))
        text += "| `%s` | %s | %s | %s |\n" % (header, today.cells(header), change, why.pop(header, ""))
    assert list(why) == ["header"], "docs/api/not_supported.tsv has headers that no table has: %s" % why
    text += "| all | %s | %s | |\n" % (total(today), cell(len(newer.declared), len(newer.names)))

    earlier = {
        "2.5": Api(rows_of(source / "tests" / "legacy25" / "forms.tsv"), [include / "doca-2.5", include] + others, exported),
        "2.2": Api(rows_of(api / "legacy-2.2.tsv"), [include / "doca-2.2"], exported),
        "1.5": Api(rows_of(api / "legacy-1.5.tsv"), [include / "doca-1.5"], exported),
    }
    text += "\nEarlier releases, which have headers of their own:\n\n| header |" + "".join(
        " %s: names | functions exported |" % release for release in earlier) + "\n|" + " --- |" * (1 + 2 * len(earlier)) + "\n"
    for header in sorted({header for api in earlier.values() for header in api.headers}):
        text += "| `%s` | %s |\n" % (header, " | ".join(api.cells(header) for api in earlier.values()))
    return text + "| all | %s |\n" % " | ".join(total(api) for api in earlier.values())


def total(api):
    return "%s | %s" % (cell(len(api.declared), len(api.names)), cell(len(api.exported), len(api.functions)))


def main():
    source, build = (pathlib.Path(argument) for argument in sys.argv[1:3])
    path = source / "docs" / "COVERAGE.md"
    before, rest = path.read_text().split(BEGIN)
    old, after = rest.split(END)
    new = counted(source, build)
    if old == new:
        return 0
    if "--fix" in sys.argv[3:]:
        path.write_text(before + BEGIN + new + END + after)
        return 0
    for line in difflib.unified_diff(old.splitlines(), new.splitlines(), "docs/COVERAGE.md", "counted", "", "", 0, ""):
        print(line)
    print("write it: python3 tests/system/coverage_doc_test.py SOURCE BUILD --fix")
    return 1


if __name__ == "__main__":
    sys.exit(main())
