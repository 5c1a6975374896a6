#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The pages of docs/tutorial do what they print. Usage: tutorial_test.py SOURCE BUILD PREFIX, where BUILD installs into PREFIX.

Installs a copy into ~/opt/softfield of a fresh home folder. A fenced block of a page is either a file, whose name the line above
it gives, or a terminal: commands after a prompt, with what they print. The prompt `$` runs a command to its end. Any other
prompt is a terminal of its own, of which two make a pair: the second command starts when the first one has printed a line, and
Enter is pressed in the first terminal when the second command has ended. Blocks that are indented, not fenced, are not run. The
programs may break no rule of docs/validation.md, unless the page shows that they fail.
"""
import difflib
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time

LINES_MAX = 119
PATIENCE = 120  # seconds; only a hang takes longer
PAGES = ("README.md", "comch.md", "dma.md", "rdma.md", "gpu.md")
PROVIDERS = ("shm", "tcp")
PROMPT = re.compile(r"(\w*)\$ (.*)")
MASKS = (  # text that differs between runs, or with any change of the libraries
    (re.compile(r"\[\d\d:\d\d:\d\d:\d{6}\]\[\d+\]"), "[TIME][PID]"),
    (re.compile(r"\[(\w+\.c):\d+\]"), r"[\1:LINE]"),
    (re.compile(r"line \d+ of (\w+\.c)"), r"line LINE of \1"),
    (re.compile(r"in the runtime folder [^ ;]+"), "in the runtime folder FOLDER"),
)


class Broken(Exception):
    """A page's commands do not print what the page shows."""


class Terminal:
    """A command that runs in a terminal of its own."""

    def __init__(self, exports, command, folder, env):
        self.command, self.output, self.end = command, b"", time.monotonic() + PATIENCE
        self.master, slave = pty.openpty()
        modes = termios.tcgetattr(slave)
        modes[3] &= ~termios.ECHO  # do not echo the input
        termios.tcsetattr(slave, termios.TCSANOW, modes)
        self.process = subprocess.Popen(["sh", "-c", exports + command], cwd=folder, env=env, stdin=slave, stdout=slave,
                                        stderr=slave, start_new_session=True)
        os.close(slave)

    def read(self):
        """Waits for more output. Returns False if the command has closed the terminal."""
        if not select.select([self.master], [], [], max(0, self.end - time.monotonic()))[0]:
            raise Broken("`%s` still runs after %d s; it printed:\n%s" % (self.command, PATIENCE, self.text()))
        try:
            more = os.read(self.master, 4096)
        except OSError:  # EIO: nothing has the other end open
            more = b""
        self.output += more
        return more != b""

    def text(self):
        return self.output.decode(errors="replace").replace("\r\n", "\n")

    def wait_for_line(self):
        while b"\n" not in self.output and self.read():
            pass

    def wait_for_end(self):
        while self.read():
            pass
        return self.process.wait(max(1, self.end - time.monotonic()))

    def close(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self.master)


def blocks(page):
    """Yields the language, the file's name or None, and the lines of each fenced block."""
    before, block, language = "", None, None
    for line in page:
        if line.startswith("```") and block is None:
            block, language = [], line[3:]
            named = re.fullmatch(r"`([\w.]+)`", before)
        elif line.startswith("```"):
            yield language, named.group(1) if named else None, block
            block = None
        elif block is not None:
            block.append(line)
        elif line != "":
            before = line
    if block is not None:
        raise Broken("the last block has no end")


def steps(block):
    """Yields terminal, command and expected output of each command of a block."""
    at = 0
    while at < len(block):
        prompt = PROMPT.fullmatch(block[at])
        if prompt is None:
            raise Broken("no prompt before `%s`" % block[at])
        command, at = prompt.group(2), at + 1
        while command.endswith("\\"):
            command, at = command[:-1] + block[at].lstrip(), at + 1
        begin = at
        while at < len(block) and PROMPT.fullmatch(block[at]) is None:
            at += 1
        yield prompt.group(1), command, block[begin:at]


def masked(lines):
    for pattern, by in MASKS:
        lines = [pattern.sub(by, line.rstrip()) for line in lines]
    return lines


class Tutorial:
    def __init__(self, source, work, env):
        self.source, self.work, self.env = source, work, env
        self.exports, self.files, self.failed = "", [], False
        self.reports = os.path.join(work, "reports")
        self.env["SOFTFIELD_VALIDATE"] = "1,file=" + self.reports

    def finish(self, terminal, expected):
        status = terminal.wait_for_end()
        self.failed |= status != 0
        difference = list(difflib.unified_diff(masked(expected), masked(terminal.text().splitlines()), "the page", "the command",
                                               lineterm=""))
        if difference:
            raise Broken("`%s` prints something else:\n%s" % (terminal.command, "\n".join(difference)))
        names = tuple(os.path.splitext(name)[0] + ": " for name in self.files)
        if (status != 0) != any(line.startswith(names) for line in expected):
            raise Broken("`%s` ended with status %d" % (terminal.command, status))

    def check_reports(self):
        """Checks the reports of the commands that have run since the last check."""
        failed, self.failed = self.failed, False
        if not os.path.exists(self.reports):  # no command was a program of DOCA
            return
        with open(self.reports, encoding="utf-8") as file:
            text = file.read()
        os.remove(self.reports)
        if text and not failed:
            raise Broken("validation reports:\n" + text)

    def run_pair(self, first, second, folder):
        """Runs the second command, in its own terminal, when the first one has printed a line."""
        waiting = Terminal(self.exports, first[0], folder, self.env)
        try:
            waiting.wait_for_line()
            self.run_command(*second, folder)
            os.write(waiting.master, b"\n")
            self.finish(waiting, first[1])
        except Broken as reason:
            raise Broken("%s\n`%s` printed:\n%s" % (reason, first[0], waiting.text())) from None
        finally:
            waiting.close()

    def run_command(self, command, expected, folder):
        terminal = Terminal(self.exports, command, folder, self.env)
        try:
            self.finish(terminal, expected)
        finally:
            terminal.close()

    def run_steps(self, todo, folder):
        first = None
        for name, command, expected in todo:
            if command.startswith("export "):
                self.exports += command + "\n"
            elif name == "":
                self.run_command(command, expected, folder)
                self.check_reports()
            elif first is None:
                first = command, expected
            else:
                self.run_pair(first, (command, expected), folder)
                self.check_reports()
                first = None
        if first is not None:
            raise Broken("`%s` has no second terminal" % first[0])

    def run_page(self, name):
        folder = os.path.join(self.work, name)
        os.mkdir(folder)
        self.files, todo = [], []
        with open(os.path.join(self.source, "docs", "tutorial", name), encoding="utf-8") as page:
            for language, file, lines in blocks(page.read().splitlines()):
                if language == "console":
                    todo += steps(lines)
                    continue
                if file is None:
                    raise Broken("a block of `%s` is neither a file nor a terminal" % language)
                if len(lines) > LINES_MAX:
                    raise Broken("%s has %d lines, more than %d" % (file, len(lines), LINES_MAX))
                self.files.append(file)
                with open(os.path.join(folder, file), "w", encoding="utf-8") as out:
                    out.write("\n".join(lines) + "\n")
        if not todo or (name != "README.md" and not self.files):
            raise Broken("the page has no program to run")
        self.run_steps(todo, folder)


def install(build, prefix, work):
    """Installs into ~/opt/softfield, with pkg-config modules as a build for that prefix writes them."""
    subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", os.path.join(work, "stage")],
                   stdout=subprocess.DEVNULL, check=True)
    home = os.path.join(work, "home")
    place = os.path.join(home, "opt", "softfield")
    os.makedirs(os.path.dirname(place))
    shutil.move(os.path.join(work, "stage", prefix.lstrip("/")), place)
    for folder, _, names in os.walk(place):
        for name in names:
            if name.endswith(".pc"):
                with open(os.path.join(folder, name), "r+", encoding="utf-8") as file:
                    text = re.sub(r"(?m)^prefix=.*$", lambda _: "prefix=" + place, file.read())
                    if "-rpath" not in text:  # the prefix of the build is one that the loader knows
                        text = text.replace('"-L${libdir}"', '"-L${libdir}" "-Wl,-rpath,${libdir}"')
                    file.seek(0)
                    file.write(text)
                    file.truncate()
    return home


def main():
    source, build, prefix = sys.argv[1:]
    count = failed = 0
    if shutil.which("meson") is None or shutil.which("pkg-config") is None:
        print("1..0 # SKIP there is no meson or no pkg-config")
        return 0
    with tempfile.TemporaryDirectory() as work:
        env = {name: value for name, value in os.environ.items()
               if not name.startswith(("SOFTFIELD_", "PKG_CONFIG_", "LD_", "DESTDIR"))}
        env.update(HOME=install(build, prefix, work), LC_ALL="C")
        for provider in PROVIDERS:
            folder = os.path.join(work, provider)
            os.mkdir(folder)
            env.update(SOFTFIELD_FABRIC=provider, SOFTFIELD_RUNTIME=os.path.join(folder, "runtime"))
            tutorial = Tutorial(source, folder, env)
            for name in PAGES:
                count += 1
                try:
                    tutorial.run_page(name)
                    print("ok %d - %s, %s" % (count, name, provider), flush=True)
                except (Broken, subprocess.TimeoutExpired) as reason:
                    failed += 1
                    print("not ok %d - %s, %s" % (count, name, provider))
                    print("\n".join("# " + line for line in str(reason).splitlines()), flush=True)
    print("1..%d" % count)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
