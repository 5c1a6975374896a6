#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Usage: check.py BUILD. Compiles, without output, each C source of a gcc build as other systems would: against musl, and
against headers that lack what came with later kernels. The second compiles only sources that mention, themselves or in a header
of ours, a name that those headers lack: for any other source nothing changes. Prints the errors and
"headers: N passed, M failed, K skipped"."""
import concurrent.futures, json, os, re, shlex, shutil, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
# Headers of the system that do not belong to the C library, so they work with musl too.
OTHERS = ["asm", "asm-generic", "cmocka.h", "cmocka_version.h", "infiniband", "isa-l", "json-c", "linux", "lz4.h", "lz4frame.h",
          "openssl", "rdma", "ucm", "ucp", "ucs", "uct", "xxhash.h", "zconf.h", "zlib.h"]
TAKEN_OUT = ("-o", "-MF", "-MQ")


def machine():
    return subprocess.check_output(["gcc", "-print-multiarch"], text=True).strip()


def musl_flags(folder):
    """The flags for musl, or None if it is not installed."""
    musl = "/usr/include/" + machine().replace("gnu", "musl")
    if not os.path.exists(musl + "/stdio.h"):
        return None
    for name in OTHERS:
        own = os.path.join(folder, name)
        os.mkdir(own)
        for place in ("/usr/include", "/usr/include/" + machine()):
            path = os.path.join(place, name)
            if os.path.isfile(path):
                os.rmdir(own)
                os.symlink(path, own)
            elif os.path.isdir(path):
                for entry in os.listdir(path):
                    os.symlink(os.path.join(path, entry), os.path.join(own, entry))
    compiler = subprocess.check_output(["gcc", "-print-file-name=include"], text=True).strip()
    return ["-nostdinc", "-I" + SOURCE + "/src/compat", "-isystem", musl, "-isystem", compiler, "-idirafter", folder]


def with_hidden_names(build, entries):
    """The entries of sources that mention a name which old_headers.h hides, by what the compiler has included for them."""
    with open(HERE + "/old_headers.h", encoding="utf-8") as file:
        hidden = re.compile(r"\b(?:%s)\b" % "|".join(re.findall(r"^#undef (\w+)", file.read(), re.MULTILINE)))
    mentions = {}

    def mentioned(path):
        path = os.path.realpath(os.path.join(build, path))
        if path not in mentions:
            mentions[path] = False
            if path.startswith(SOURCE + os.sep) and os.path.exists(path):
                with open(path, encoding="utf-8", errors="replace") as file:
                    mentions[path] = hidden.search(file.read()) is not None
        return mentions[path]

    found, output = set(), None
    for line in subprocess.check_output(["ninja", "-C", build, "-t", "deps"], text=True).splitlines():
        if not line.startswith(" "):
            output = line.split(":")[0]
        elif mentioned(line.strip()):
            found.add(output)
    return [entry for entry in entries if entry["output"] in found]


def compile_one(entry, flags):
    """The first errors; none if it compiles."""
    words = iter(shlex.split(entry["command"]))
    command = ["gcc"]
    for word in words:
        if word in TAKEN_OUT:
            next(words)
        elif not (word in ("-c", "-MD") or word.endswith("ccache") or (command == ["gcc"] and not word.startswith("-"))):
            command.append(word)
    done = subprocess.run(command + flags + ["-fsyntax-only", "-fno-diagnostics-color"], cwd=entry["directory"], stderr=subprocess.PIPE,
                          text=True)
    return [] if done.returncode == 0 else ([line for line in done.stderr.splitlines() if "error:" in line] or [done.stderr])[:3]


def main():
    passed, failed, skipped = 0, 0, 0
    with open(os.path.join(sys.argv[1], "compile_commands.json")) as file:
        entries = list({entry["file"]: entry for entry in json.load(file) if entry["file"].endswith(".c")}.values())
    folder = tempfile.mkdtemp()
    for name, flags, entries in (("musl", musl_flags(folder), entries),
                                 ("older headers", ["-include", HERE + "/old_headers.h"], with_hidden_names(sys.argv[1], entries))):
        if flags is None:
            print(f"skipped: no {name} here")
            skipped += 1
            continue
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            errors = [line for lines in pool.map(lambda entry: compile_one(entry, flags), entries) for line in lines]
        if errors or not entries:
            failed += 1
            print(f"FAILED: {len(entries)} sources with {name}")
            print("".join(f"    {line}\n" for line in errors), end="")
        else:
            passed += 1
            print(f"ok: {len(entries)} sources with {name}")
    shutil.rmtree(folder)
    print(f"headers: {passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)


main()
