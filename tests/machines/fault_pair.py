# SPDX-License-Identifier: BSD-3-Clause
"""A host and a DPU on two machines with a router between them, and the program that reports the results of their operations."""
import os
import re
import subprocess
import threading
import time

from machines import Machine, Namespace, address_add, cable, write_topology
from waiting import time_pass

LIMIT_S = 1.0  # in which a dead, silent or partitioned peer is noticed
SLACK_S = 10.0  # what a busy machine may add
WAIT_S = 600.0 if os.environ.get("SOFTFIELD_TEST_SLOW") else 60.0  # only a hang takes longer
ADDRESSES = {"IPv4": {"host0": "10.77.1.2", "dpu0": "10.77.2.2"}, "IPv6": {"host0": "fd77:1::2", "dpu0": "fd77:2::2"}}
GATEWAYS = {"IPv4": {"host0": "10.77.1.1", "dpu0": "10.77.2.1"}, "IPv6": {"host0": "fd77:1::1", "dpu0": "fd77:2::1"}}
PREFIX = {"IPv4": ("/24", "/32"), "IPv6": ("/64", "/128")}
FLOWS = {"host0": ("comch", "data", "rdma"), "dpu0": ("comch", "data", "rdma", "dma")}  # flows that report their end
STATUSES = {  # as documented in the headers and in docs/, for a peer that is gone or does not answer
    "comch": ("CONNECTION_ABORTED", "CONNECTION_RESET", "NOT_CONNECTED"),
    "data": ("CONNECTION_ABORTED", "CONNECTION_RESET", "NOT_CONNECTED", "BAD_STATE"),
    "rdma": ("CONNECTION_ABORTED", "BAD_STATE"),
    "dma": ("IO_FAILED",),
}


class Program:
    """A fault_peer, and each of its lines with its time of arrival."""

    def __init__(self, machine, role, peer, length, log, changed):
        self.name, self.log, self.changed = machine.name, log, changed
        with open(log, "a", encoding="utf-8") as stderr:
            self.process = machine.start([peer, role, str(length)], stdin=subprocess.PIPE, stderr=stderr,
                                         SOFTFIELD_LOG=os.environ.get("SOFTFIELD_LOG", "warning"))
        self.lines, self.begin, self.ended = [], 0, False
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        self.await_line("ready")

    def read(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append((time.monotonic(), line.rstrip()))
                self.changed.notify_all()
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def said(self):
        return [line for _, line in self.lines[self.begin:]]

    def story(self):
        with open(self.log, encoding="utf-8") as file:
            return "%s printed %s\nand logged\n%s" % (self.name, self.said(), file.read()[-3000:])

    def find(self, text):
        return next((when for when, line in self.lines[self.begin:] if line == text), None)

    def await_line(self, text, limit=WAIT_S):
        """Returns the time of the line's arrival."""
        self.await_any(text, limit=limit)
        return self.find(text)

    def await_any(self, *texts, limit=WAIT_S):
        """Returns the text that arrived."""
        return await_first(*((self, text) for text in texts), limit=limit)[1]

    def check(self):
        assert not self.ended, "%s ended\n%s" % (self.name, self.story())

    def say(self, text):
        """Sends a command; only lines from here on count as its answer."""
        with self.changed:
            self.begin = len(self.lines)
        self.command(text)

    def command(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def failures(self):
        """The statuses with which each flow's operations ended."""
        found = {}
        for line in self.said():
            word = line.split()
            if word[0] == "failed":
                found.setdefault(word[1], []).append((word[2], word[3].replace("DOCA_ERROR_", "")))
        return found

    def quit(self):
        self.process.stdin.close()
        assert self.process.wait(WAIT_S) == 0, self.story()
        self.reader.join()
        self.process.stdout.close()


def await_first(*wanted, limit=WAIT_S):
    """Waits for the first of some lines of programs of one pair."""
    end = time.monotonic() + limit
    programs = list(dict.fromkeys(program for program, _ in wanted))
    with programs[0].changed:
        while True:
            found = [(program, text) for program, text in wanted if program.find(text) is not None]
            if found:
                return found[0]
            for program in programs:
                program.check()
            assert programs[0].changed.wait(max(0, end - time.monotonic())) or time.monotonic() < end, \
                "none of these came in %.0f s: %s\n%s" % (limit, ["%s: %s" % (program.name, text) for program, text in wanted],
                                                           "\n".join(program.story() for program in programs))


def holds(pid):
    """Descriptors, and mappings that others may share."""
    descriptors = sorted(re.sub(r"\d+", "N", os.readlink("/proc/%d/fd/%s" % (pid, fd))) for fd in os.listdir("/proc/%d/fd" % pid)
                         if os.path.islink("/proc/%d/fd/%s" % (pid, fd)))
    with open("/proc/%d/maps" % pid, encoding="utf-8") as file:
        shared = sorted(line.split(maxsplit=5)[5].strip() for line in file if line.split()[1].endswith("s"))
    return descriptors, [re.sub(r"\d+", "N", name) for name in shared]


class Router(Namespace):
    """The router between the machines, where the network fails."""

    def __init__(self):
        super().__init__()
        self.do("sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward; cd /proc/sys/net/ipv6/conf/all 2>/dev/null || exit 0; "
                            "echo 1 > forwarding; echo 1 > keep_addr_on_down; cd ../default; echo 1 > keep_addr_on_down")

    def nft(self, rules):
        self.do("nft", "table inet faults { chain forward { type filter hook forward priority 0; %s; }; }" % rules)

    def nft_end(self):
        self.do("nft", "delete table inet faults")


class Pair:
    def __init__(self, root, programs, family="IPv4", length=65536, has_names=False, timeout_ms=None):
        self.root, self.family, self.length = root, family, length
        self.softfield, self.peer = programs
        self.changed = threading.Condition()  # notified when a program of the pair has printed a line
        self.addresses = dict(ADDRESSES[family])
        os.mkdir(root)
        hosts = os.path.join(root, "hosts") if has_names else None
        topology = write_topology(root, self.softfield, {name: name for name in self.addresses} if has_names else self.addresses)
        if has_names:
            self.names_write(("host0", "dpu0"))
        self.namespaces = []
        self.router = self.add(Router())
        self.host, self.dpu = (self.add(Machine(root, name, topology, hosts)) for name in ("host0", "dpu0"))
        self.programs = []
        if timeout_ms is not None:
            for machine in (self.host, self.dpu):
                machine.environment["SOFTFIELD_PEER_TIMEOUT"] = str(timeout_ms)
        for machine in (self.host, self.dpu):
            cable(machine, "net", self.router, machine.name)
            gateway = GATEWAYS[family][machine.name]
            address_add(self.router, machine.name, gateway + PREFIX[family][0])
            self.address_add(machine)
            machine.serve(self.softfield)
        self.files_before = self.files()
        self.on_host = self.program(self.host, "host")
        self.on_dpu = self.program(self.dpu, "dpu")

    def add(self, namespace):
        self.namespaces.append(namespace)
        return namespace

    def program(self, machine, role):
        program = Program(machine, role, self.peer, self.length, os.path.join(self.root, machine.name + ".log"), self.changed)
        self.programs.append(program)
        return program

    def address_add(self, machine):
        address_add(machine, "net", self.addresses[machine.name] + PREFIX[self.family][0])
        machine.do("ip", "route", "add", "default", "via", GATEWAYS[self.family][machine.name])

    def names_write(self, known):
        """Sets what the machines' resolvers know from now on."""
        with open(os.path.join(self.root, "hosts"), "w", encoding="ascii") as file:
            file.write("127.0.0.1 localhost\n" + "".join("%s %s\n" % (self.addresses[name], name) for name in known))

    # ---- faults

    def black_hole(self, on, to=("host0", "dpu0")):
        """The router silently drops all packets to them."""
        for name in to:
            self.router.do("ip", "route", "add" if on else "del", "blackhole", self.addresses[name] + PREFIX[self.family][1])

    def cable_pull(self, is_in):
        self.router.do("ip", "link", "set", "dpu0", "up" if is_in else "down")

    def address_drop(self):
        """The DPU's machine loses its address, and with it its routes."""
        self.dpu.do("ip", "addr", "flush", "dev", "net", "scope", "global")
        self.dpu.do("ip", "-4" if self.family == "IPv4" else "-6", "route", "flush", "default")

    # ---- the programs together

    def both(self):
        return self.on_host, self.on_dpu

    def meet(self):
        self.on_dpu.say("meet")
        self.on_dpu.await_line("listening")
        self.on_host.say("meet")
        for program in self.both():
            program.await_line("met")

    def meet_in_the_end(self):
        """The host connects until it finds the DPU's side."""
        self.on_dpu.say("meet")
        self.on_dpu.await_line("listening")
        calls, end = 1, time.monotonic() + WAIT_S
        while time.monotonic() < end:
            self.on_host.say("meet")
            if self.on_host.await_any("met", "over comch") == "met":
                self.on_dpu.await_line("met")
                return calls
            self.on_host.say("part")
            self.on_host.await_line("parted")
            calls += 1
            time_pass(0.1)  # as a program does that tries again
        raise AssertionError("the host does not find the DPU\n%s" % self.on_host.story())

    def rounds(self, num=3):
        """Each remaining flow completes more rounds."""
        for program in self.both():
            program.command("rounds %d" % num)
        for program in self.both():
            program.await_line("rounds %d" % num)

    def part(self):
        for program in self.both():
            program.say("part")
        for program in self.both():
            program.await_line("parted")

    def pause(self):
        for program in self.both():
            program.command("pause")
        for program in self.both():
            program.await_line("paused")

    def good_cycle(self):
        self.meet()
        self.rounds()
        for program in self.both():
            assert program.failures() == {}, program.story()
        self.part()

    def over(self, since, limit=LIMIT_S, flows=None):
        """All flows end on both sides, in time and with the documented statuses. Returns how long each took."""
        took = {}
        for program in self.both():
            for flow in FLOWS[program.name]:
                if flows is None or flow in flows:
                    left = since + limit + SLACK_S - time.monotonic()
                    took[program.name + " " + flow] = program.await_line("over " + flow, max(0.1, left)) - since
        self.check_statuses()
        return took

    def check_statuses(self):
        for program in self.both():
            for flow, failures in program.failures().items():
                for _, status in failures:
                    assert status in STATUSES[flow], "%s ended with %s\n%s" % (flow, status, program.story())

    def holds(self):
        return {name: holds(pid) for name, pid in (
            ("host0", self.on_host.process.pid), ("dpu0", self.on_dpu.process.pid),
            ("service of host0", self.host.node.pid), ("service of dpu0", self.dpu.node.pid))}

    def files(self):
        return {machine.name: sorted(re.sub("[0-9a-f]{8,}", "N", name) for name in os.listdir(machine.folder))
                for machine in (self.host, self.dpu)}

    def end(self):
        for program in self.programs:
            if program.process.poll() is None:
                program.process.kill()
                program.process.wait()
        for namespace in reversed(self.namespaces):
            namespace.end()
