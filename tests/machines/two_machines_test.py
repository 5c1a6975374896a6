#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs of two machines that are set up as docs/machines.md describes; machines_page_test.py runs the page's own commands.

Each machine is a network namespace with its own runtime folder; only a veth pair joins them. On each runs `softfield node`.
Usage: two_machines_test.py BUILD IPv4|IPv6 [bare] [host0|dpu0]

bare: the topology says "tls": false. host0 or dpu0: that machine's programs are for arm64, from the folder SOFTFIELD_TEST_ARM64
that tests/arm64/build.sh made.
"""
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from machines import SKIPPED, Emulation, Machine, Skip, address_add, cable, enter, write_topology
from waiting import time_pass

LIMIT_S = 120
PROCESSES_LIMIT_S = 300  # a message of a gibibyte is among their cases, and memory may be slow to come
# For the same reason; and so that a failure says why a connection ended.
PROCESSES_ENVIRONMENT = {"SOFTFIELD_PEER_TIMEOUT": "10000", "SOFTFIELD_LOG": "warning"}
ADDRESSES = {"IPv4": {"host0": "10.77.0.1", "dpu0": "10.77.0.2"}, "IPv6": {"host0": "fd77::1", "dpu0": "fd77::2"}}
PORTS = "18600-18699"
PREFIX = {"IPv4": "/24", "IPv6": "/64"}
MEET = {"IPv4": "10.77.0.1:4711", "IPv6": "[fd77::1]:4711"}
RDMA = {
    "send": ("rdma_receive", "rdma_send"),
    "send with immediate": ("rdma_receive_immediate", "rdma_send_immediate"),
    "write": ("rdma_write_responder", "rdma_write_requester"),
    "write with immediate": ("rdma_write_immediate_responder", "rdma_write_immediate_requester"),
    "read": ("rdma_read_responder", "rdma_read_requester"),
    "remote sync event": ("rdma_sync_event_responder", "rdma_sync_event_requester"),
}


def end_pair(*processes, limit_s=LIMIT_S):
    """Waits for all programs and returns their outputs. Fails unless all succeed, and leaves none running."""
    end, late, outputs = time.monotonic() + limit_s, False, []
    for process in processes:
        try:
            outputs.append(process.communicate(timeout=max(end - time.monotonic(), 0))[0])
        except subprocess.TimeoutExpired:
            late = True
            process.kill()
            outputs.append("%s\ndid not end in time" % process.communicate()[0])
    assert not late and all(process.returncode == 0 for process in processes), "\n".join(outputs)
    return "\n".join(outputs)


class Test:
    def __init__(self, root, build, family, tls, emulations):
        self.root, self.build, self.family, self.tls = root, build, family, tls
        self.softfield = os.path.join(build, "tools/softfield/softfield")
        self.comch = os.path.join(build, "tests/system/comch_process_test")
        self.comm_channel = os.path.join(build, "tests/legacy/comm_channel_process_test")
        self.slot16 = os.path.join(build, "tests/api/slot16_test")
        self.topology = write_topology(root, self.softfield, ADDRESSES[family], ports=PORTS, tls=tls)
        self.host, self.dpu = (Machine(root, name, self.topology, emulation=emulations.get(name)) for name in ("host0", "dpu0"))

    def sample(self, name):
        return os.path.join(self.build, "samples", name)

    def copy(self, end, **more):
        """The host exports memory; the DPU reads from it and writes to it. Files in one folder carry the descriptors."""
        with tempfile.TemporaryDirectory(dir=self.root) as folder:
            return end(self.host.start([self.sample("dma_copy_host"), "d8:00.0"], cwd=folder),
                       self.dpu.start([self.sample("dma_copy_dpu"), "03:00.0"], cwd=folder, **more))

    def dma(self):
        said = self.copy(end_pair)
        assert "the host has now: A LETTER FROM THE HOST" in said, said

    def sync_event(self, owner, importer, flags):
        """One machine owns the event, the other imports it; each notifies the other."""
        local, remote = {self.host: "d8:00.0", self.dpu: "03:00.0"}[owner], {self.host: "d8:00.0", self.dpu: "03:00.0"}[importer]
        file = os.path.join(self.root, "event %s%s" % (owner.name, " ".join(flags)))
        end_pair(owner.start([self.sample("sync_event_local_pci"), "-d", local, "-f", file] + flags),
                 importer.start([self.sample("sync_event_remote_pci"), "-d", remote, "-f", file] + flags))

    def rdma(self, responder, requester):
        peer = ["--peer", MEET[self.family]]
        end_pair(self.host.start([self.sample(responder)] + peer), self.dpu.start([self.sample(requester)] + peer))

    def rdma_by_address(self, caller=None, **more):
        """The host listens, then the caller connects, by default the DPU. Returns what both printed."""
        receiver = self.host.start([self.sample("rdma_receive"), "-cm"], **more)
        said = []
        for line in receiver.stdout:
            said.append(line)
            if line.startswith("listening to port"):
                break
        return "".join(said) + end_pair(
            receiver, (caller or self.dpu).start([self.sample("rdma_send"), "-cm", "-sa", "192.168.100.1"], **more))

    def way(self):
        """One line on each side says which way a connection takes, and why."""
        address = {name: "[%s]" % where if self.family == "IPv6" else where for name, where in ADDRESSES[self.family].items()}
        said = self.rdma_by_address(SOFTFIELD_LOG="info")
        guard = "TLS" if self.tls else "HMAC only"
        assert "tcp, %s, to %s:" % (guard, address["host0"]) in said and ", as the service of node host0 says; no listener" in said, said
        assert re.search(r"is called by %s:\d+: tcp, %s$" % (re.escape(address["dpu0"]), guard), said, re.MULTILINE), said
        assert ("neither encrypted nor signed" in said) != self.tls, said
        said = self.rdma_by_address(self.host, SOFTFIELD_LOG="info")
        assert ": shm, its listener answers in the runtime folder" in said, said
        assert re.search(r"is called by process \d+: shm", said), said

    def script(self, name, machine, program):
        """Writes a script that runs `program` with its arguments on the machine; the first argument, a program, is dropped."""
        path = os.path.join(self.root, name)
        words = ["env", "SOFTFIELD_NODE=" + machine.name, "SOFTFIELD_RUNTIME=" + machine.folder] + machine.within(machine.own([program]))
        with open(path, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\nshift\nexec %s "$@"\n' % shlex.join(words))
        os.chmod(path, 0o700)
        return path

    def between_processes(self, program):
        """A test program on this machine, whose peers run on the host's machine."""
        end_pair(self.dpu.start([program], SOFTFIELD_TEST_ELSEWHERE=self.script("elsewhere", self.host, program),
                                SOFTFIELD_TEST_HERE=self.script("here", self.dpu, program), **PROCESSES_ENVIRONMENT),
                 limit_s=PROCESSES_LIMIT_S)

    def absent_service(self):
        """The Comm Channel's connect reports that there is no such service, even if the other machine's node answers late."""
        self.dpu.node.send_signal(signal.SIGSTOP)
        client = self.host.start([self.comm_channel, "nobody", "nobody"])
        try:
            assert client.stdout.readline() == "asking\n"
            time_pass(0.2)  # connect is in progress; if it is not, this case tests less
        finally:
            self.dpu.node.send_signal(signal.SIGCONT)
        end_pair(client)

    @staticmethod
    def end_second(first, second):
        """For a pair whose second program must fail: the first one does not wait for it."""
        said = second.communicate(timeout=LIMIT_S)[0]
        first.terminate()
        first.communicate()
        return said, second.returncode

    def another_key(self):
        """A program without the key gets nothing but an error, and disturbs no other."""
        other = write_topology(self.root, self.softfield, ADDRESSES[self.family], "other.json", "another key", PORTS, self.tls)
        said, status = self.copy(self.end_second, SOFTFIELD_TOPOLOGY=other, SOFTFIELD_LOG="error")
        assert status != 0 and "keys differ" in said, said
        said = self.dpu.start([self.softfield, "devices"], SOFTFIELD_TOPOLOGY=other).communicate(timeout=LIMIT_S)[0]
        assert said.count("no: the keys differ") == 2, said
        said = self.dpu.start([self.softfield, "devices", "--json"], SOFTFIELD_TOPOLOGY=other).communicate(timeout=LIMIT_S)[0]
        assert said.count('"why_not": "the keys differ"') == 2, said
        self.dma()

    def tls_on_one_side(self):
        """A program with TLS and one without do not communicate, and both say why."""
        other = write_topology(self.root, self.softfield, ADDRESSES[self.family], "other tls.json", ports=PORTS, tls=not self.tls)
        caller, called = ("with", "without") if self.tls else ("without", "with")
        with tempfile.TemporaryDirectory(dir=self.root) as folder:
            host = self.host.start([self.sample("dma_copy_host"), "d8:00.0"], cwd=folder, SOFTFIELD_LOG="warning")
            dpu = self.dpu.start([self.sample("dma_copy_dpu"), "03:00.0"], cwd=folder, SOFTFIELD_TOPOLOGY=other, SOFTFIELD_LOG="error")
            said = dpu.communicate(timeout=LIMIT_S)[0]
            host.terminate()
            heard = host.communicate()[0]
        assert dpu.returncode != 0 and "works %s TLS, and this one %s it" % (caller, called) in said, said
        assert ("does not use TLS" if self.tls else "uses TLS, and this process does not") in heard, heard
        said = self.dpu.start([self.softfield, "devices"], SOFTFIELD_TOPOLOGY=other).communicate(timeout=LIMIT_S)[0]
        assert said.count("no: only one side uses TLS") == 2, said
        self.dma()

    def answers(self, machine, **more):
        """What `softfield devices` reports about each node's service."""
        said = machine.start([self.softfield, "devices", "--json"], **more).communicate(timeout=LIMIT_S)[0]
        return {node["name"]: node["answers"] for node in json.loads(said)["nodes"]}

    def no_service(self):
        """Without `softfield node` on the other machine, a name is not found, in bounded time."""
        assert self.answers(self.dpu) == {"host0": True, "dpu0": True}
        self.host.node.terminate()
        self.host.node.wait()
        assert self.answers(self.dpu) == {"host0": False, "dpu0": True}
        began = time.monotonic()
        lost = self.dpu.start([self.sample("rdma_send"), "-cm", "-sa", "192.168.100.1"], SOFTFIELD_LOG="error")
        said = lost.communicate(timeout=LIMIT_S)[0]
        assert lost.returncode != 0, said
        assert time.monotonic() - began < 60, said
        self.host.serve(self.softfield)
        self.rdma_by_address()

    def larger_pages(self, machine):
        """If the kernel's pages are larger than ours, no device works, and a line says why."""
        program = machine.start([self.softfield, "rdma", "bench", "--count", "10"], QEMU_PAGESIZE="65536", SOFTFIELD_LOG="error")
        said = program.communicate(timeout=LIMIT_S)[0]
        assert program.returncode != 0 and "this kernel has pages of 65536 bytes" in said, said

    def close_ports(self):
        """The firewall of docs/machines.md, and one more port for the samples' own messages."""
        for machine in (self.host, self.dpu):
            machine.do("nft", "table inet firewall { chain in { type filter hook input priority 0; policy drop; iif lo accept; "
                       "meta l4proto icmpv6 accept; ct state established,related accept; "
                       "tcp dport { 18515, %s, 4711 } accept; }; }" % PORTS)

    def wire(self):
        cable(self.host, "w0", self.dpu, "w1")
        for machine, device in ((self.host, "w0"), (self.dpu, "w1")):
            address_add(machine, device, ADDRESSES[self.family][machine.name] + PREFIX[self.family])

    def run(self):
        try:
            self.wire()
        except (Skip, subprocess.CalledProcessError) as error:
            print("skipped: no machines with %s can be created here: %s" % (self.family, error))
            return SKIPPED
        if shutil.which("nft") is None:
            print("there is no nft: the tests run without a firewall")
        else:
            self.close_ports()
        for machine in (self.host, self.dpu):
            machine.serve(self.softfield)
        cases = [("DMA both ways", self.dma)]
        cases += [("sync event of %s%s" % (owner.name, "".join(" " + flag for flag in flags)),
                   lambda call=(owner, importer, flags): self.sync_event(*call))
                  for owner, importer in ((self.host, self.dpu), (self.dpu, self.host))
                  for flags in ([], ["--async"], ["--async", "--atomic"])]
        cases += [("RDMA: " + name, lambda pair=pair: self.rdma(*pair)) for name, pair in RDMA.items()]
        cases += [("RDMA by address", self.rdma_by_address), ("way of a connection", self.way), ("another key", self.another_key),
                  ("TLS on one side only", self.tls_on_one_side), ("no service", self.no_service)]
        cases += [("Comm Channel, absent service", self.absent_service)]
        cases += [("Comm Channel between processes", lambda: self.between_processes(self.comm_channel))]
        cases += [("Comch between processes", lambda: self.between_processes(self.comch))]
        cases += [("order of memory accesses of " + machine.name, lambda machine=machine: end_pair(machine.start([self.slot16])))
                  for machine in (self.host, self.dpu) if machine.emulation is not None]
        cases += [("larger pages of " + machine.name, lambda machine=machine: self.larger_pages(machine))
                  for machine in (self.host, self.dpu) if machine.emulation is not None]
        failed = 0
        for name, case in cases:
            try:
                case()
                print("ok: %s, %s" % (name, self.family), flush=True)
            except (AssertionError, subprocess.SubprocessError) as error:
                failed += 1
                print("FAILED: %s, %s: %s" % (name, self.family, error), flush=True)
        print("%d passed, %d failed" % (len(cases) - failed, failed))
        return failed != 0

    def end(self):
        for machine in (self.host, self.dpu):
            machine.end()


def main():
    if not enter():
        print("skipped: this user may not make network namespaces")
        return SKIPPED
    build, emulations = os.path.abspath(sys.argv[1]), {}
    for name in set(sys.argv[3:]) & {"host0", "dpu0"}:
        folder = os.environ.get("SOFTFIELD_TEST_ARM64")
        if folder is None:
            print("skipped: SOFTFIELD_TEST_ARM64 names no folder of arm64 programs: tests/arm64/build.sh makes one, and test.sh calls it")
            return SKIPPED
        emulations[name] = Emulation(build, folder)
        os.environ["SOFTFIELD_TEST_SLOW"] = "1"
    with tempfile.TemporaryDirectory() as root:
        test = Test(root, build, sys.argv[2], "bare" not in sys.argv, emulations)
        try:
            return test.run()
        finally:
            test.end()


if __name__ == "__main__":
    sys.exit(main())
