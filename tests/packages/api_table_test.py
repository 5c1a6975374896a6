#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""An installation has everything that the tables of single libraries in docs/api list: api_table_test.py SOURCE

pkg-config finds the installation (PKG_CONFIG_PATH, PKG_CONFIG_SYSROOT_DIR), the loader its libraries (LD_LIBRARY_PATH). For each table
that exists, the module of its library must have the flags to compile a program that declares each name again, with the table's type,
values and fields, and to link one that takes the address of each function from that library. CC is the compiler (cc)."""
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

TABLES = ("aes_gcm", "compress", "erasure_coding")


def load_coverage(source):
    """Loads the code that reads tables and probes declarations for docs/COVERAGE.md."""
    spec = importlib.util.spec_from_file_location("coverage", source / "tests" / "system" / "coverage_doc_test.py")
    coverage = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(coverage)
    return coverage


def flags_of(module, what):
    env = dict(os.environ, PKG_CONFIG_ALLOW_SYSTEM_CFLAGS="1", PKG_CONFIG_ALLOW_SYSTEM_LIBS="1")
    run = subprocess.run(["pkg-config", what, module], capture_output=True, text=True, check=False, env=env)
    if run.returncode != 0:
        sys.exit("pkg-config %s %s: %s" % (what, module, run.stderr.strip()))
    return run.stdout.split()


def exported_by(module, folders):
    """What the module's own library exports."""
    name = "lib%s.so" % module.replace("-", "_")
    path = next((folder / name for folder in folders if (folder / name).exists()), None)
    if path is None:
        sys.exit("%s: there is no %s in %s" % (module, name, ", ".join(map(str, folders))))
    out = subprocess.run(["nm", "-D", "--defined-only", str(path)], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in out.splitlines() if len(line.split()) == 3}


def runs_linked(coverage, module, headers, functions):
    """Links a program with the address of each function by pkg-config's flags, and runs it."""
    text = coverage.includes_text(headers) + "#include <stdio.h>\nstatic const void *const list[] = {\n"
    text += "".join("\t(const void *)&%s,\n" % name for name in functions)
    text += "};\nint main(void) { unsigned i, n = 0; for (i = 0; i < sizeof(list) / sizeof(list[0]); i++) n += list[i] != 0; printf(\"%u\", n); }\n"
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program")
        command = os.environ.get("CC", "cc").split() + coverage.FLAGS + flags_of(module, "--cflags") + ["-xc", "-", "-xnone", "-o", program]
        link = subprocess.run(command + flags_of(module, "--libs"), input=text, capture_output=True, text=True, check=False)
        if link.returncode != 0:
            return link.stderr.strip()
        run = subprocess.run([program], capture_output=True, text=True, check=False)
        return "" if run.stdout == str(len(functions)) else "it ended with %d and printed %r %s" % (run.returncode, run.stdout, run.stderr)


def check(coverage, table):
    """The table's errors, as lines."""
    rows = coverage.rows_of(table)
    module = rows[0]["library"]
    includes = [pathlib.Path(flag[2:]) for flag in flags_of(module, "--cflags-only-I")]
    folders = [pathlib.Path(flag[2:]) for flag in flags_of(module, "--libs-only-L")]
    api = coverage.Api(rows, includes, exported_by(module, folders))
    faults = ["%s: %s is not declared as in the table" % key for key in sorted(api.names - api.declared)]
    faults += ["%s: %s is not exported by the library of %s" % (*key, module) for key in sorted(api.functions - api.exported)]
    if not faults:
        why = runs_linked(coverage, module, api.headers, sorted(name for _, name in api.functions))
        faults += ["a program with pkg-config's flags of %s: %s" % (module, why)] if why else []
    print("%s: %d of %d names, %d of %d functions" % (module, len(api.declared), len(api.names), len(api.exported), len(api.functions)))
    return faults


def main():
    source = pathlib.Path(sys.argv[1])
    coverage = load_coverage(source)
    tables = [source / "docs" / "api" / (name + ".tsv") for name in TABLES]
    faults = [fault for table in tables if table.exists() for fault in check(coverage, table)]
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
