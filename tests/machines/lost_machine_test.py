#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A machine that disappears without notice, as the fabric sees it.

Two network namespaces are joined by a veth pair, with a process in each (far_peer.c). Usage: lost_machine_test.py FAR_PEER
IPv4|IPv6
"""
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time

from machines import SKIPPED, Machine, Skip, address_add, cable, enter
from waiting import time_pass

ADDRESSES = {"IPv4": {"host0": "10.77.0.1", "dpu0": "10.77.0.2"}, "IPv6": {"host0": "fd77::1", "dpu0": "fd77::2"}}
PREFIX = {"IPv4": "/24", "IPv6": "/64"}
LIMIT_S = 60
# The default limit of a second, plus what a busy machine may add. A connection that only the kernel watches takes longer.
NOTICED_S = 3.0
STOPPED_S = 5  # longer than any timeout for connections
CONNECTIONS = 8


class Peer:
    """A process of a machine. A thread reads its lines, each with its time of arrival."""

    def __init__(self, machine, program, *words, **environment):
        self.process = machine.start([program] + list(words), stdin=subprocess.PIPE, **environment)
        self.lines, self.unheard, self.said = queue.Queue(), [], []
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put((time.monotonic(), line.strip()))

    def command(self, word, times=1):
        self.process.stdin.write((word + "\n") * times)
        self.process.stdin.flush()

    def hear(self, beginning, limit=LIMIT_S):
        """The next line with this beginning, and its time."""
        end = time.monotonic() + limit
        while True:
            for at, (when, line) in enumerate(self.unheard):
                if line.startswith(beginning):
                    del self.unheard[at]
                    return line, when
            try:
                self.unheard.append(self.lines.get(timeout=max(0, end - time.monotonic())))
            except queue.Empty:
                raise AssertionError("no line '%s ...' came; before: %s" % (beginning, self.said[-10:])) from None
            self.said.append(self.unheard[-1][1])

    def hear_all(self, beginning, number, limit=LIMIT_S):
        return [self.hear(beginning, limit) for _ in range(number)]

    def count(self):
        self.command("count")
        words = self.hear("holds")[0].split()
        return int(words[1]), int(words[3]), int(words[6])  # connections, descriptors, messages

    def end(self):
        self.process.kill()
        self.process.wait()


def mac_of(machine, device):
    said = subprocess.run(machine.within(["ip", "-o", "link", "show", "dev", device]), check=True, stdout=subprocess.PIPE, text=True)
    return said.stdout.split("link/ether ")[1].split()[0]


class Test:
    def __init__(self, root, program, family):
        self.program, self.family = program, family
        self.one, self.other = Machine(root, "host0", ""), Machine(root, "dpu0", "")
        for machine in (self.one, self.other):
            for name in ("SOFTFIELD_NODE", "SOFTFIELD_TOPOLOGY"):
                machine.environment.pop(name)
            address = ADDRESSES[family][machine.name]
            machine.environment["SOFTFIELD_LISTEN"] = "[%s]" % address if family == "IPv6" else address
        self.ends = ((self.one, "w0", self.other, "w1"), (self.other, "w1", self.one, "w0"))
        self.peers = []

    # ---- the network ----

    def lose(self, lost):
        """Each side's packets go to a hardware address that does not exist: they vanish, and no error reports it."""
        for machine, device, peer, peer_device in self.ends:
            mac = "02:00:00:00:00:99" if lost else mac_of(peer, peer_device)
            machine.do("ip", "neigh", "replace", ADDRESSES[self.family][peer.name], "lladdr", mac, "dev", device, "nud", "permanent")

    def unplug(self, lost):
        """The cable is pulled at one end."""
        self.one.do("ip", "link", "set", "w0", "down" if lost else "up")
        if not lost and self.family == "IPv6":  # the kernel has removed it
            self.one.do("ip", "addr", "replace", ADDRESSES["IPv6"]["host0"] + "/64", "dev", "w0", "nodad")

    # ---- what is between the two ----

    def begin(self, **environment):
        server = Peer(self.one, self.program, "serve", **environment)
        self.peers = [server]
        client = Peer(self.other, self.program, "call", *server.hear("serving")[0].split()[1:], **environment)
        self.peers.append(client)
        client.hear("calling")
        return server, client

    def end(self):
        for peer in self.peers:
            peer.end()
        self.peers = []

    @staticmethod
    def connect(server, client, what="connection", times=1):
        client.command(what, times)
        client.hear_all("connected", times)
        server.hear_all("connected", times)

    @staticmethod
    def flows(*peers):
        """Messages continue: each peer completes more of them."""
        for peer in peers:
            before, end = peer.count()[2], time.monotonic() + LIMIT_S
            while peer.count()[2] == before:
                assert time.monotonic() < end, "no message got through"

    def all_ends(self, cut):
        """Idle and busy connections, an import, and a pending request: each ends in time, on both sides, and afterwards the network works
        again."""
        server, client = self.begin()
        self.connect(server, client)
        before = [peer.count()[1] for peer in (server, client)]
        self.connect(server, client, "connection", CONNECTIONS - 1)
        self.connect(server, client, "busy")
        client.command("ask")
        client.command("access")
        assert client.hear("access")[0] == "access DOCA_SUCCESS"
        self.flows(server, client)
        cut(True)
        begun = time.monotonic()
        ends = server.hear_all("closed", CONNECTIONS + 1) + client.hear_all("closed", CONNECTIONS + 1) + [client.hear("refused")]
        print("  noticed after %.2f to %.2f s" % tuple(f(when - begun for _, when in ends) for f in (min, max)))
        for line, when in ends:
            assert line.endswith("DOCA_ERROR_CONNECTION_ABORTED"), line
            assert when - begun < NOTICED_S, "%s came after %.2f s" % (line, when - begun)
        client.command("access")
        assert client.hear("access")[0] in ("access DOCA_ERROR_CONNECTION_ABORTED", "access DOCA_ERROR_TIME_OUT")
        cut(False)
        end = time.monotonic() + LIMIT_S
        client.command("access")
        while client.hear("access")[0] != "access DOCA_SUCCESS":
            assert time.monotonic() < end, "the memory is not reached again"
            client.command("access")
        self.connect(server, client, "busy")
        self.flows(server, client)
        # With one connection again, each side holds what it held with the first one.
        for peer, descriptors in zip((server, client), before):
            now = peer.count()
            while now[1] > descriptors:
                assert time.monotonic() < end, "%s descriptors before, %s now" % (descriptors, now[1])
                now = peer.count()
            assert now[0] == 1, now

    def cable_is_pulled(self):
        self.all_ends(self.unplug)

    def packets_vanish(self):
        self.all_ends(self.lose)

    def a_stopped_process_keeps_its_connections(self):
        """The same with more in flight than the kernel's buffers hold."""
        server, client = self.begin()
        self.connect(server, client, "connection", CONNECTIONS)
        self.connect(server, client, "busy")
        self.flows(server, client)
        os.kill(server.process.pid, signal.SIGSTOP)
        time_pass(STOPPED_S)
        os.kill(server.process.pid, signal.SIGCONT)
        self.flows(server, client)
        for peer in (server, client):
            assert peer.count()[0] == CONNECTIONS + 1, peer.said
            assert not [line for line in peer.said if line.startswith("closed")], peer.said

    def a_longer_limit_outlasts_a_short_cut(self):
        server, client = self.begin(SOFTFIELD_PEER_TIMEOUT="60000")
        self.connect(server, client, "connection", CONNECTIONS)
        self.connect(server, client, "busy")
        self.flows(server, client)
        self.lose(True)
        time_pass(STOPPED_S)
        self.lose(False)
        self.flows(server, client)
        for peer in (server, client):
            assert peer.count()[0] == CONNECTIONS + 1, peer.said

    def run(self):
        cable(self.one, "w0", self.other, "w1")
        for machine, device, _, _ in self.ends:
            address_add(machine, device, ADDRESSES[self.family][machine.name] + PREFIX[self.family])
        failed = 0
        for case in (self.cable_is_pulled, self.packets_vanish, self.a_stopped_process_keeps_its_connections,
                     self.a_longer_limit_outlasts_a_short_cut):
            try:
                case()
                assert not [line for peer in self.peers for line in peer.said if "Sanitizer" in line or "runtime error" in line]
                print("ok: %s, %s" % (case.__name__, self.family), flush=True)
            except (AssertionError, subprocess.SubprocessError) as error:
                failed += 1
                print("FAILED: %s, %s: %s" % (case.__name__, self.family, error), flush=True)
            finally:
                self.end()
                self.unplug(False)
                self.lose(False)
        return failed != 0

    def close(self):
        for machine in (self.one, self.other):
            machine.end()


def main():
    if not enter():
        print("skipped: this user may not make network namespaces")
        return SKIPPED
    with tempfile.TemporaryDirectory() as root:
        test = Test(root, os.path.abspath(sys.argv[1]), sys.argv[2])
        try:
            return test.run()
        except Skip as skip:
            print("skipped: %s" % skip)
            return SKIPPED
        finally:
            test.close()


if __name__ == "__main__":
    sys.exit(main())
