# SPDX-License-Identifier: BSD-3-Clause
"""What the remote offload programs do at their limits: an orchestrator that does not answer, too many clients, clients that do
nothing, clients that send only noise: python3 limits_test.py [TEST...]"""
import json
import os
import re
import select
import signal
import socket
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from offload import HEADER, Site, frame, unread, wait_until  # noqa: E402


def pass_time(seconds):
    """Waits for the time to pass: the test checks that nothing happens in it."""
    begin = time.monotonic()
    wait_until(lambda: time.monotonic() - begin >= seconds, "")


class Timeout(unittest.TestCase):
    """--gpu-timeout"""

    def test_stopped_orchestrator_gives_way_to_a_standby(self):
        with Site() as site:
            server, first = site.start_both("--max-concurrent-messages", 1, server=("--gpu-timeout", 1))
            idle, busy, patient = site.connect(), site.connect(), site.connect()
            for client in (idle, busy, patient):
                self.assertEqual(client.ask(b"ABCD"), b"DCBA")
            standby = site.start_orchestrator("--max-concurrent-messages", 1, "--wait-server", 600, wait=False)
            standby.wait_log("serves another orchestrator")
            first.freeze()
            busy.send(frame(b"lost"))
            wait_until(lambda: unread(site.port, busy) == 0, "the request is not read")
            patient.send(frame(b"patient"))  # the queue is full: the request has not reached the GPU
            server.wait_log("no answer from the orchestrator for --gpu-timeout 1 s")
            server.wait_log("1 requests in flight failed and their 1 clients closed")
            self.assertIsNone(busy.receive())
            standby.wait_log("gpu kernel running")
            self.assertEqual(patient.receive(), b"tneitap")
            self.assertEqual(idle.ask(b"EFGH"), b"HGFE")
            # When the first orchestrator continues, its channel is closed; none of its answers reaches a client.
            first.send_signal(signal.SIGCONT)
            for i in range(200):
                self.assertEqual(idle.ask(b"number %d" % i), (b"number %d" % i)[::-1])
            self.assertEqual(first.wait_exit(), 1)
            first.wait_log("the server is lost")
            self.assertEqual(idle.ask(b"EFGH"), b"HGFE")
            self.assertEqual(server.stop(), 0)
            server.wait_log(" 1 requests failed")

    def test_idle_orchestrator_is_kept(self):
        with Site() as site:
            server, _ = site.start_both(server=("--gpu-timeout", 1))
            client = site.connect()
            self.assertEqual(client.ask(b"ABCD"), b"DCBA")
            pass_time(3)
            self.assertEqual(client.ask(b"ABCD"), b"DCBA")
            self.assertEqual(server.count("gpu-timeout"), 0)

    def test_server_that_was_stopped_itself_blames_nobody(self):
        with Site() as site:
            server, orchestrator = site.start_both(server=("--gpu-timeout", 1))
            client = site.connect()
            self.assertEqual(client.ask(b"ABCD"), b"DCBA")
            orchestrator.freeze()
            client.send(frame(b"late"))
            wait_until(lambda: unread(site.port, client) == 0, "the request is not read")
            server.freeze()
            orchestrator.send_signal(signal.SIGCONT)
            pass_time(3)
            server.send_signal(signal.SIGCONT)
            self.assertEqual(client.receive(), b"etal")
            self.assertEqual(server.count("gpu-timeout"), 0)

    def test_off_waits_for_ever(self):
        with Site() as site:
            _, orchestrator = site.start_both(server=("--gpu-timeout", 0))
            client = site.connect()
            orchestrator.freeze()
            client.send(frame(b"ABCD"))
            pass_time(2)
            orchestrator.send_signal(signal.SIGCONT)
            self.assertEqual(client.receive(), b"DCBA")

    def test_normal_start_logs_no_error(self):
        with Site() as site:
            orchestrator = site.start_orchestrator(wait=False)
            orchestrator.wait_log("no server on channel")
            server = site.start_server()
            orchestrator.wait_log("gpu kernel running")
            server.wait_log("listening for clients")
            self.assertEqual(orchestrator.count(r"\[(ERR|WRN)\]"), 0)
            self.assertEqual(server.count(r"\[(ERR|WRN)\]"), 0)

    def test_standby_that_waits_in_vain_says_why(self):
        with Site() as site:
            site.start_both()
            standby = site.start_orchestrator("--wait-server", 1, wait=False)
            self.assertEqual(standby.wait_exit(), 1)
            standby.wait_log("serves another orchestrator, for 1 s now")


class Connections(unittest.TestCase):
    def served(self, clients):
        """The clients whose answer has arrived."""
        ready, _, _ = select.select([client.socket for client in clients], [], [], 0)
        return [client for client in clients if client.socket in ready]

    def fill(self, site, count):
        clients = [site.connect() for _ in range(count)]
        for client in clients:
            client.send(frame(b"ABCD"))
        return clients

    def test_max_connections(self):
        with Site() as site:
            server, _ = site.start_both(server=("--max-connections", 4))
            clients = self.fill(site, 12)
            server.wait_log("4 clients are connected, --max-connections: more wait until one leaves")
            for client in clients:  # in the order of arrival: each client that leaves lets another one in
                self.assertEqual(client.receive(), b"DCBA")
                client.close()
            self.assertEqual(server.count("more wait"), 1)
            self.assertEqual(site.connect().ask(b"ABCD"), b"DCBA")
            self.assertEqual(server.stop(), 0)

    def test_out_of_descriptors(self):
        with Site() as site:
            site.start_server(files=64)
            server, orchestrator = site.server, site.start_orchestrator()
            clients = self.fill(site, 200)
            server.wait_log("clients are connected, as many as the limit on open files allows")
            first = clients[0]
            self.assertEqual(first.receive(), b"DCBA")
            before = server.cpu_seconds()
            pass_time(2)
            self.assertLess(server.cpu_seconds() - before, 0.5)
            self.assertLess(len(self.served(clients[1:])), 64)
            # Some descriptors are reserved for the next orchestrator.
            orchestrator.stop(signal.SIGKILL)
            server.wait_log("waiting for an orchestrator", 2)
            site.start_orchestrator()
            self.assertEqual(first.ask(b"EFGH"), b"HGFE")
            first.close()
            for client in clients[1:]:
                self.assertEqual(client.receive(), b"DCBA")
                client.close()
            self.assertLess(len(server.lines), 40)
            self.assertEqual(server.stop(), 0)

    def test_too_few_descriptors_for_any_client(self):
        """The server exits with an error, or it serves clients. It must not run on without serving any."""
        for files in range(16, 72, 4):
            with Site() as site:
                server = site.start_server(files=files, wait=False)
                try:
                    server.wait_log("waiting for an orchestrator")
                except AssertionError:
                    self.assertEqual(server.wait_exit(), 1)
                    server.wait_log(r"\[ERR\]")
                    continue
                site.start_orchestrator("--wait-server", 1, wait=False)
                wait_until(lambda: server.process.poll() is not None or server.count("listening for clients"), "neither")
                if server.process.poll() is None:
                    site.port = int(server.wait_log(r"listening for clients on \S+ port (\d+)").group(1))
                    self.assertEqual(site.connect().ask(b"ABCD"), b"DCBA")
                else:
                    self.assertEqual(server.wait_exit(), 1)
                    server.wait_log("files")

    def test_clients_that_leave_while_there_is_no_orchestrator(self):
        """They are closed unless they have sent a request; those that have cost nothing while they wait."""
        with Site() as site:
            server, orchestrator = site.start_both()
            self.assertEqual(site.connect().ask(b"ABCD"), b"DCBA")
            orchestrator.stop(signal.SIGKILL)
            server.wait_log("waiting for an orchestrator", 2)
            before = server.accepted(site.port)
            asked = 2000
            for client in self.fill(site, asked):
                client.close()
            wait_until(lambda: server.accepted(site.port) == before + asked,
                       lambda: "before %d, now %d of %d more are accepted" % (before, server.accepted(site.port), asked))
            used = server.cpu_seconds()
            for turn in range(500):
                client = site.connect()
                client.socket.shutdown(socket.SHUT_WR)
                self.assertIsNone(client.receive())
                client.close()
                site.clients.remove(client)
            used = server.cpu_seconds() - used
            site.start_orchestrator()
            wait_until(lambda: server.accepted(site.port) < before + 100, "those that asked are not closed")
            self.assertLess(used, 0.3)
            self.assertEqual(site.connect().ask(b"ABCD"), b"DCBA")

    def test_keepalive(self):
        with Site() as site:
            site.start_both()
            client = site.connect()
            self.assertEqual(client.ask(b"ABCD"), b"DCBA")
            wait_until(lambda: timer(site.port, client) == 2, "no keepalive timer")


class Idle(unittest.TestCase):
    """--idle-timeout"""

    def check(self, *flags):
        with Site() as site:
            server, _ = site.start_both(*flags, server=("--idle-timeout", 2))
            silent, half, active = site.connect(), site.connect(), site.connect()
            self.assertEqual(silent.ask(b"ABCD"), b"DCBA")
            lazy = site.connect()
            lazy.socket.setblocking(False)
            half.send(HEADER.pack(1 << 20, 4, (1 << 20) - HEADER.size))
            data, sent = frame(b"x" * 252) * 1000, 0
            closed = set()
            while len(closed) < 3:
                self.assertEqual(active.ask(b"ABCD"), b"DCBA")
                for client in {silent, half} - closed:
                    if select.select([client.socket], [], [], 0)[0]:
                        self.assertIsNone(client.receive())
                        closed.add(client)
                try:
                    if half not in closed:
                        half.send(b"x")  # part of a frame that never ends
                except OSError:
                    pass
                try:
                    if lazy not in closed:  # this client reads no answers
                        sent += lazy.socket.send(data[sent % len(data):])
                except BlockingIOError:
                    pass
                except ConnectionError:
                    closed.add(lazy)
            server.wait_log("closed: idle for --idle-timeout 2 s", 3)
            self.assertEqual(active.ask(b"ABCD"), b"DCBA")
            self.assertEqual(server.stop(), 0)

    def test_clients_that_do_nothing_are_closed(self):
        self.check("--max-message-length", 1 << 20)

    def test_off_by_default(self):
        with Site() as site:
            site.start_both()
            client = site.connect()
            pass_time(3)
            self.assertEqual(client.ask(b"ABCD"), b"DCBA")

    def test_who_waits_for_the_gpu_is_not_idle(self):
        with Site() as site:
            _, orchestrator = site.start_both("--max-concurrent-messages", 1, server=("--idle-timeout", 1))
            clients = [site.connect() for _ in range(3)]
            self.assertEqual(clients[0].ask(b"ABCD"), b"DCBA")
            orchestrator.freeze()
            for client in clients:
                client.send(frame(b"EFGH"))
            pass_time(3)
            orchestrator.send_signal(signal.SIGCONT)
            for client in clients:
                self.assertEqual(client.receive(), b"HGFE")

    def test_who_waits_for_an_orchestrator_is_not_idle(self):
        with Site() as site:
            server, orchestrator = site.start_both(server=("--idle-timeout", 1))
            client = site.connect()
            self.assertEqual(client.ask(b"ABCD"), b"DCBA")
            orchestrator.stop(signal.SIGKILL)
            server.wait_log("waiting for an orchestrator", 2)
            client.send(frame(b"EFGH"))
            pass_time(3)
            site.start_orchestrator()
            self.assertEqual(client.receive(), b"HGFE")

    def test_limits_in_a_parameter_file(self):
        with Site() as site:
            path = os.path.join(site.folder, "server.json")
            with open(path, "w") as file:
                json.dump({"doca_program_flags": {"idle-timeout": 1, "max-connections": 1, "gpu-timeout": 5}}, file)
            server, _ = site.start_both(server=("-j", path))
            client = site.connect()
            server.wait_log("1 clients are connected, --max-connections")
            self.assertIsNone(client.receive())
            server.wait_log("closed: idle for --idle-timeout 1 s")


class Flood(unittest.TestCase):
    def test_bad_clients_do_not_fill_the_log(self):
        with Site() as site:
            server, orchestrator = site.start_both()
            good = site.connect()
            for turn in range(1000):
                bad = site.connect()
                bad.send(b"\xff" * 12)
                if turn % 50 == 0:
                    self.assertEqual(good.ask(b"ABCD"), b"DCBA")
                self.assertIsNone(bad.receive())
                bad.close()
                site.clients.remove(bad)
            self.assertEqual(server.stop(), 0)
            logged = server.count("client .* closed: ")
            suppressed = sum(int(re.search(r"(\d+) more of this kind suppressed", line).group(1)) for line in server.log().split("\n")
                             if "close_bad" in line and "more of this kind" in line)
            self.assertEqual(logged + suppressed, 1000)
            self.assertLess(len(server.lines), 200)

    def test_orchestrators_that_come_and_go_do_not_fill_the_log(self):
        with Site() as site:
            server, _ = site.start_both()
            standby = [site.start_orchestrator("--wait-server", 5, wait=False) for _ in range(4)]
            for program in standby:
                self.assertEqual(program.wait_exit(), 1)
                self.assertLess(len(program.lines), 12)
            self.assertLessEqual(server.count("rejected a second orchestrator"), 20)
            self.assertEqual(site.connect().ask(b"ABCD"), b"DCBA")


def timer(port, client):
    """The kind of timer of the server's socket for this client, from /proc/net/tcp: 2 is keepalive."""
    local = client.socket.getsockname()[1]
    with open("/proc/net/tcp") as file:
        for line in file.readlines()[1:]:
            fields = line.split()
            if [int(address.split(":")[1], 16) for address in fields[1:3]] == [port, local]:
                return int(fields[5].split(":")[0], 16)
    return None


if __name__ == "__main__":
    unittest.main(verbosity=2)
