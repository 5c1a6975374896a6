#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The remote offload on three machines: the client's, the DPU's with the server, and the host's with the orchestrator and its
GPU.

Each machine is a network namespace. The client has a cable to the DPU, and no Softfield; the DPU and the host are nodes of the
topology, with a cable between them. Usage: three_machines_test.py SOFTFIELD SERVER ORCHESTRATOR CLIENT IPv4|IPv6
"""
import os
import re
import subprocess
import sys
import tempfile

import machines
from waiting import await_line, wait_until

LIMIT_S = 60
NODES = {"IPv4": {"host0": "10.78.0.1", "dpu0": "10.78.0.2"}, "IPv6": {"host0": "fd78::1", "dpu0": "fd78::2"}}
SERVICE = {"IPv4": ("10.79.0.1", "10.79.0.2"), "IPv6": ("fd79::1", "fd79::2")}  # the client's end, the DPU's
PREFIX = {"IPv4": "/24", "IPv6": "/64"}
QUEUES, CONCURRENT = "2", "32"


class Program:
    """A program whose log is read while it runs."""

    def __init__(self, machine, words, name):
        self.path = os.path.join(machine.folder, name + ".log")
        with open(self.path, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(machine.within(words), env=machine.environment, cwd=machine.folder, stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=subprocess.STDOUT)

    def log(self):
        with open(self.path, encoding="utf-8") as log:
            return log.read()

    def wait_log(self, pattern, count=1):
        """Waits until the log has that many matching lines."""
        found = await_line(self.path, pattern, self.process.pid, count, LIMIT_S)
        assert found, "no %r in the log:\n%s" % (pattern, self.log())
        return found

    def end(self):
        """Waits until the program exits by itself."""
        status = self.process.wait(timeout=LIMIT_S)
        assert status == 0, "status %d:\n%s" % (status, self.log())

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


class Test:
    def __init__(self, root, softfield, server, orchestrator, client, family):
        self.root, self.softfield, self.family = root, softfield, family
        self.programs = {"server": server, "orchestrator": orchestrator, "client": client}
        topology = machines.write_topology(root, softfield, NODES[family])
        self.host, self.dpu = machines.Machine(root, "host0", topology), machines.Machine(root, "dpu0", topology)
        self.office = machines.Namespace()
        self.port, self.server, self.orchestrator = None, None, None

    def wire(self):
        near, far = SERVICE[self.family]
        machines.cable(self.host, "w0", self.dpu, "w1")
        machines.cable(self.office, "v0", self.dpu, "v1")
        for machine, device, address in ((self.host, "w0", NODES[self.family]["host0"]), (self.dpu, "w1", NODES[self.family]["dpu0"]),
                                         (self.office, "v0", near), (self.dpu, "v1", far)):
            machines.address_add(machine, device, address + PREFIX[self.family])

    def start_server(self):
        self.server = Program(self.dpu, [self.programs["server"], "--device-id", "03:00.0", "--representor-id", "d8:00.0", "-p", "0",
                                         "--max-concurrent-messages", CONCURRENT, "--cpu", "0", "--cpu", "1", "--listen-address",
                                         SERVICE[self.family][1]], "server")

    def start_orchestrator(self, name="orchestrator"):
        self.orchestrator = Program(self.host, [self.programs["orchestrator"], "--device-id", "d8:00.0", "--gpu-pci-addr", "b5:00.0",
                                                "--max-concurrent-messages", CONCURRENT, "--num-gpu-threads", QUEUES], name)
        self.orchestrator.wait_log("gpu kernel running")

    def client(self, threads, iterations, message):
        return subprocess.Popen(self.office.within([self.programs["client"], "-s", SERVICE[self.family][1], "-p", self.port, "-t",
                                                    str(threads), "-i", str(iterations), "-m", message, "-e", message[::-1]]),
                                text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def answered_bytes(self):
        """The bytes that arrived over the client's cable."""
        lines = subprocess.run(self.office.within(["cat", "/proc/net/dev"]), check=True, text=True, stdout=subprocess.PIPE).stdout
        return int(re.search(r"v0: *(\d+)", lines).group(1))

    def ask(self, *what):
        client = self.client(*what)
        said = client.communicate(timeout=LIMIT_S)[0]
        assert client.returncode == 0, said

    # ---- the cases, each in the state that the one before left ----

    def one_request(self):
        self.start_server()
        self.start_orchestrator()
        self.port = self.server.wait_log(r"listening for clients on \S+ port (\d+)").group(1)
        self.ask(1, 1, "ABCD")

    def many_requests(self):
        """Four clients, with messages that fit into a line of the kernel's queue, and with longer ones."""
        self.ask(4, 3000, "twenty-seven characters now")
        self.ask(4, 500, "a request that is too long for a line" * 6)

    def orchestrator_dies(self):
        """The client with a request in flight loses its connection; the next orchestrator serves the next client."""
        before = self.answered_bytes()
        client = self.client(1, 10000000, "a request without an end")
        wait_until(lambda: client.poll() is not None or self.answered_bytes() >= before + 100000)
        self.orchestrator.kill()
        client.communicate(timeout=LIMIT_S)
        assert client.returncode != 0
        self.start_orchestrator("second")
        self.ask(2, 100, "ABCD")

    def orderly_end(self):
        self.server.process.terminate()
        self.server.end()
        self.orchestrator.end()

    def run(self):
        self.wire()
        for machine in (self.host, self.dpu):
            machine.serve(self.softfield)
        cases = (("one request", self.one_request), ("many requests", self.many_requests),
                 ("the orchestrator dies", self.orchestrator_dies), ("orderly end", self.orderly_end))
        for number, (name, case) in enumerate(cases):
            try:
                case()
            except (AssertionError, subprocess.SubprocessError) as error:
                print("FAILED: %s, %s: %s" % (name, self.family, error), flush=True)
                print("%d passed, %d failed" % (number, len(cases) - number))
                return 1
            print("ok: %s, %s" % (name, self.family), flush=True)
        print("%d passed, 0 failed" % len(cases))
        return 0

    def end(self):
        for program in (self.server, self.orchestrator):
            if program is not None:
                program.kill()
        for machine in (self.host, self.dpu, self.office):
            machine.end()


def main():
    if not machines.enter():
        print("skipped: this user may not make network namespaces")
        return machines.SKIPPED
    with tempfile.TemporaryDirectory() as root:
        test = Test(root, *(os.path.abspath(path) for path in sys.argv[1:5]), sys.argv[5])
        try:
            return test.run()
        except machines.Skip as reason:
            print("skipped: %s" % reason)
            return machines.SKIPPED
        finally:
            test.end()


if __name__ == "__main__":
    sys.exit(main())
