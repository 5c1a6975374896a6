#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""docs/machines.md, exactly as printed: its commands, its topology and its firewall, on two machines.

The machines are network namespaces with the page's addresses, each with a home folder of its own, where `build` is this build.
SUBSTITUTES lists everything that is not run as the page prints it. Every block of sections 1 to 4 must be used, so a step that is
added to the page fails here until it is run. Usage: machines_page_test.py PAGE BUILD
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from machines import SKIPPED, Namespace, Skip, address_add, cable, enter

LIMIT_S = 60
ADDRESSES = {"host0": "10.77.0.1", "dpu0": "10.77.0.2"}  # the page's
SUBSTITUTES = """
    /home/me            the machine's home folder
    "... unchanged ..." the rest of what `softfield topology show` has printed
    host0, in step 3    dpu0 on the second machine, as the page says; the firewall's address is the other machine's, too
    ssh                 a copy of the key file
    my_..._program      samples: rdma_receive where dpu0 is, then rdma_send where host0 is
    NAME, TCP ports     in the lines of the log: any
"""
UNCHANGED = "... the devices, unchanged ..."
PROGRAMS = {"my_dpu_program": "build/samples/rdma_receive -cm", "my_host_program": "build/samples/rdma_send -cm -sa 192.168.100.2"}


class Page:
    """The indented blocks of each section. Each may be taken once."""

    def __init__(self, path):
        self.blocks = {}
        with open(path, encoding="utf-8") as file:
            for section in re.split(r"^#+ ", file.read(), flags=re.MULTILINE)[1:]:
                title, body = section.split("\n", 1)
                found = re.findall(r"(?:^(?: {4}.*)?\n)*^ {4}.*\n(?:^ {4}.*\n)*", body, re.MULTILINE)
                self.blocks[title] = [re.sub("^ {4}", "", block.strip("\n"), flags=re.MULTILINE) for block in found]

    def take(self, section):
        assert self.blocks.get(section), "section %r of the page has no further block" % section
        return self.blocks[section].pop(0)

    def check_all_taken(self, *sections):
        left = [block for section in sections for block in self.blocks[section]]
        assert not left, "the page has steps that were not run:\n" + "\n\n".join(left)


class Place(Namespace):
    """A machine with a home folder, the programs of this build, and a shell that runs the page's commands."""

    def __init__(self, root, name, build):
        super().__init__()
        self.name, self.exports = name, ""
        self.home = os.path.join(root, name)
        os.makedirs(os.path.join(self.home, "bin"))
        os.symlink(os.path.join(build, "tools/softfield/softfield"), os.path.join(self.home, "bin/softfield"))
        os.symlink(build, os.path.join(self.home, "build"))
        for program, command in PROGRAMS.items():
            with open(os.open(os.path.join(self.home, program), os.O_WRONLY | os.O_CREAT, 0o700), "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\nexec %s\n" % command)
        runtime = os.path.join(self.home, "run")
        os.mkdir(runtime, 0o700)
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("SOFTFIELD_")}
        self.environment.update(HOME=self.home, SOFTFIELD_RUNTIME=runtime,
                                PATH=os.path.join(self.home, "bin") + ":" + os.environ["PATH"])
        self.service = None

    def path(self, name):
        return os.path.join(self.home, name)

    def start(self, command):
        """A program in the foreground, after the page's exports."""
        return subprocess.Popen(self.within(["sh", "-ec", self.exports + "exec env " + command]), env=self.environment, cwd=self.home,
                                text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def shell(self, command):
        """Runs a command to its end. Returns what it printed."""
        done = subprocess.run(self.within(["sh", "-ec", self.exports + command]), env=self.environment, cwd=self.home, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_S, check=False)
        assert done.returncode == 0, "`%s` fails:\n%s" % (command, done.stdout)
        return done.stdout

    def end(self):
        if self.service is not None:
            self.service.terminate()
            self.service.wait()
            self.service.stdout.close()
        super().end()


def where(line):
    """A command and the node of its comment `# where NODE is`."""
    found = re.fullmatch(r"(.*?) +# where (\w+) is", line)
    assert found, "this line does not say where it runs: " + line
    return found.groups()


def run_pair(places, block):
    """Runs the block's two programs, the second one when the first one listens. Returns what each printed."""
    lines = [where(line) for line in block.split("\n")]
    assert len(lines) == 2, block
    (first, at_first), (second, at_second) = lines
    assert {at_first, at_second} == set(places)
    said, server, client = "", places[at_first].start(first), None
    try:
        for line in server.stdout:
            said += line
            if line.startswith("listening to port"):
                break
        client = places[at_second].start(second)
        heard = client.communicate(timeout=LIMIT_S)[0]
        said += server.communicate(timeout=LIMIT_S)[0]
    finally:
        for process in (server, client):
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()
    assert server.returncode == 0 and client.returncode == 0, "%s\n%s" % (said, heard)
    return {at_first: said, at_second: heard}


def topology_make(place, text):
    """The page's text with what `softfield topology show` printed in place of the line that stands for it."""
    with open(place.path("two.json"), encoding="utf-8") as file:
        shown = json.load(file)
    assert UNCHANGED in text, text
    rest = {name: value for name, value in shown.items() if name not in ("description", "key", "nodes")}
    text = text.replace(UNCHANGED, json.dumps(rest)[1:-1]).replace("/home/me", place.home)
    made = json.loads(text)
    assert [sorted(set(node) - {"address"}) for node in made["nodes"]] == [sorted(node) for node in shown["nodes"]], \
        "the page's nodes differ in more than their addresses"
    assert {node["name"]: node["address"] for node in made["nodes"]} == ADDRESSES, "the nodes have other addresses than the machines"
    return text


def topology_write(place, text):
    with open(place.path("two.json"), "w", encoding="utf-8") as file:
        file.write(text)
    place.shell("softfield topology check two.json")


class Steps:
    """The page's sections 1 to 4, in order. `bare`: with the line of "Without TLS"; `closed`: behind the page's firewall."""

    def __init__(self, page, places, bare=False, closed=False):
        self.page, self.places, self.bare, self.closed = page, places, bare, closed
        self.first, self.second = places["host0"], places["dpu0"]

    def run(self):
        self.key()
        self.topology()
        if self.closed:
            self.firewall()
        self.services()
        self.programs()
        self.page.check_all_taken("1. The key", "2. The topology", "3. The service of each node", "4. Programs")

    def key(self):
        self.first.shell(self.page.take("1. The key"))
        shutil.copy2(self.first.path("softfield.key"), self.second.path("softfield.key"))

    def topology(self):
        show, block = self.page.take("2. The topology"), self.page.take("2. The topology")
        if self.bare:
            begin = self.page.take("Without TLS")
            assert begin.endswith("...")
            block, count = re.subn(r"^.*?\"nodes\":", lambda _: begin[:-3].rstrip(), block, count=1, flags=re.DOTALL)
            assert count == 1, block
        self.first.shell(show)
        shutil.copyfile(self.first.path("two.json"), self.second.path("two.json"))
        texts = {name: topology_make(place, block) for name, place in self.places.items()}
        for name, place in self.places.items():
            topology_write(place, self.with_ports(texts[name]) if self.closed else texts[name])

    def with_ports(self, text):
        """The node of section "A firewall", and its ports for the other node, too."""
        node = json.loads(self.page.blocks["A firewall"][0])
        topology = json.loads(text)
        assert node in [dict(each, ports=node["ports"]) for each in topology["nodes"]], "the firewall's node is not one of section 2"
        for each in topology["nodes"]:
            each["ports"] = node["ports"]
        return json.dumps(topology)

    def firewall(self):
        rules = self.page.blocks["A firewall"][1].replace("\n", "; ")
        assert rules.count(ADDRESSES["dpu0"]) == 1, rules
        for place, other in ((self.first, "dpu0"), (self.second, "host0")):
            place.do("nft", "table inet firewall { chain in { type filter hook input priority 0; policy drop; iif lo accept; %s; }; }"
                     % rules.replace(ADDRESSES["dpu0"], ADDRESSES[other]))

    def services(self):
        exports, serve = self.page.take("3. The service of each node").split("\n")
        assert exports.startswith("export ") and exports.count("host0") == 1, exports
        for name, place in self.places.items():
            place.exports = exports.replace("host0", name) + "\n"
            place.service = place.start(serve)
            line = place.service.stdout.readline()
            assert line.startswith("node %s: serving at %s" % (name, ADDRESSES[name])), line + place.service.stdout.read()

    def programs(self):
        run_pair(self.places, self.page.take("4. Programs"))
        devices = self.second.shell("softfield devices")
        for name, address in ADDRESSES.items():
            assert re.search(r"^ *%s .* %s +yes *$" % (name, re.escape(address)), devices, re.MULTILINE), devices
        said = run_pair(self.places, self.page.take("4. Programs"))
        called, calls = reversed(self.page.take("4. Programs").split("\n"))
        self.check_line(calls, said["dpu0"])
        self.check_line(called, said["host0"])

    def check_line(self, line, said):
        """A line of the log as the page shows it, but for the name and the ports."""
        guard = "HMAC only" if self.bare else "TLS(?: by the kernel)?"
        pattern = re.sub(r"(?<=\d:)\d+", r"\\d+", re.escape(line).replace(r"\ ", " ")).replace("NAME", r"\S+")
        pattern, count = re.subn("tcp, TLS", "tcp, " + guard, pattern)
        assert count == 1 and re.search(pattern + "$", said, re.MULTILINE), "no line like\n%s\nin\n%s" % (line, said)


CASES = {"as printed": {}, "without TLS": {"bare": True}, "behind the firewall": {"closed": True}}


def run_case(page, build, options):
    with tempfile.TemporaryDirectory() as root:
        places = {name: Place(root, name, build) for name in ADDRESSES}
        try:
            cable(places["host0"], "w0", places["dpu0"], "w1")
            for device, name in (("w0", "host0"), ("w1", "dpu0")):
                address_add(places[name], device, ADDRESSES[name] + "/24")
            Steps(Page(page), places, **options).run()
        finally:
            for place in places.values():
                place.end()


def main():
    missing = [tool for tool in ("openssl", "ip") if shutil.which(tool) is None]
    if missing or not enter():
        print("skipped: %s" % ("there is no " + missing[0] if missing else "this user may not make network namespaces"))
        return SKIPPED
    page, build = (os.path.abspath(path) for path in sys.argv[1:])
    print("not as the page prints it:" + SUBSTITUTES)
    failed = 0
    for name, options in CASES.items():
        if "closed" in options and shutil.which("nft") is None:
            print("not tested: %s: there is no nft" % name)
            continue
        try:
            run_case(page, build, options)
            print("ok: %s" % name, flush=True)
        except Skip as skip:
            print("skipped: %s" % skip)
            return SKIPPED
        except (AssertionError, subprocess.SubprocessError) as error:
            failed += 1
            print("FAILED: %s: %s" % (name, error), flush=True)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
