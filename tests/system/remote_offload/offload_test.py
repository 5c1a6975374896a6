# SPDX-License-Identifier: BSD-3-Clause
"""The remote offload programs together, on the software GPU: python3 remote_offload_test.py [TEST...]"""
import hashlib
import os
import random
import selectors
import signal
import struct
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from offload import CPUS, HEADER, Site, frame, unread, wait_until  # noqa: E402


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


class Chain(unittest.TestCase):
    def test_reverses_a_request(self):
        with Site() as site:
            site.start_both()
            self.assertEqual(site.connect().ask(b"ABCD"), b"DCBA")

    def test_client_program_gets_its_answers(self):
        with Site() as site:
            site.start_both()
            one = site.start("client", "-s", "127.0.0.1", "-p", site.port, "-t", 1, "-i", 1, "-m", "ABCD", "-e", "DCBA")
            self.assertEqual(one.wait_exit(), 0)
            many = site.start("client", "-s", "127.0.0.1", "-p", site.port, "-t", 2, "--connections", 8, "-i", 20000,
                              "--max-concurrent-messages", 32, "--message-size", 200)
            self.assertEqual(many.wait_exit(), 0)
            wrong = site.start("client", "-s", "127.0.0.1", "-p", site.port, "-t", 1, "-i", 1, "-m", "ABCD", "-e", "ABCD")
            self.assertEqual(wrong.wait_exit(), 1)

    def test_takes_every_length_up_to_the_limit(self):
        with Site() as site:
            site.start_both("--max-message-length", 256)
            client = site.connect()
            for length in range(253):
                payload = bytes(random.randrange(256) for _ in range(length))
                self.assertEqual(client.ask(payload), payload[::-1])

    def test_small_messages_that_come_together(self):
        """The requests cross the queue in batches where possible, and each one is counted."""
        with Site() as site:
            server, orchestrator = site.start_both("--max-message-length", 4096, "--max-concurrent-messages", 64)
            client = site.connect()
            generator = random.Random(11)
            for lengths in ((4,), (64,), (1000, 8), (1012, 4), (0,), (4, 5), (63, 64, 65), (4084, 4), range(0, 260)):
                payloads = [os.urandom(generator.choice(lengths)) for _ in range(200)]
                client.send(b"".join(frame(payload) for payload in payloads))
                for payload in payloads:
                    self.assertEqual(client.receive(), payload[::-1])
            self.assertEqual(orchestrator.stop(signal.SIGTERM), 0)
            self.assertEqual(server.wait_exit(), 0)
            orchestrator.wait_log("the gpu answered 1800 messages")

    def test_large_messages(self):
        with Site() as site:
            site.start_both("--max-message-length", 1 << 20, "--max-concurrent-messages", 8)
            client = site.connect()
            for length in (65536, (1 << 20) - 4, 1, 99999):
                payload = os.urandom(length)
                self.assertEqual(client.ask(payload), payload[::-1])

    def test_sha256(self):
        with Site() as site:
            site.start_both(orchestrator=("--kernel", "sha256"))
            client = site.connect()
            for length in (0, 1, 31, 32, 33, 55, 56, 63, 64, 65, 119, 120, 252):
                payload = os.urandom(length)
                self.assertEqual(client.ask(payload), hashlib.sha256(payload).digest())

    def test_crc32c(self):
        with Site() as site:
            site.start_both(orchestrator=("--kernel", "crc32c"))
            client = site.connect()
            self.assertEqual(client.ask(b"123456789"), struct.pack(">I", 0xE3069283))
            for length in (0, 1, 2, 64, 252):
                payload = os.urandom(length)
                self.assertEqual(client.ask(payload), struct.pack(">I", crc32c(payload)))

    def test_both_scopes(self):
        for scope in "thread", "block":
            with self.subTest(scope), Site() as site:
                server, orchestrator = site.start_both(orchestrator=("--gpu-scope", scope))
                client = site.connect()
                client.send(b"".join(frame(b"number %d" % i) for i in range(1000)))
                for i in range(1000):
                    self.assertEqual(client.receive(), (b"number %d" % i)[::-1])
                self.assertEqual(orchestrator.stop(signal.SIGTERM), 0)
                self.assertEqual(server.wait_exit(), 0)
                orchestrator.wait_log("the gpu answered 1000 messages")

    def test_answers_keep_their_order_on_many_connections(self):
        with Site() as site:
            site.start_both(cpus=(CPUS * 2)[:2])
            exchange(site, connections=64, depth=32, requests=200)

    def test_waits_for_a_server_that_starts_later(self):
        with Site() as site:
            orchestrator = site.start_orchestrator(wait=False)
            orchestrator.wait_log("no server on channel")
            site.start_server()
            orchestrator.wait_log("gpu kernel running")

    def test_a_client_that_only_half_closes_gets_all_answers(self):
        with Site() as site:
            site.start_both()
            client = site.connect()
            client.send(b"".join(frame(b"%d" % i) for i in range(500)))
            client.socket.shutdown(1)
            for i in range(500):
                self.assertEqual(client.receive(), (b"%d" % i)[::-1])
            self.assertIsNone(client.receive())


def exchange(site, connections, depth, requests):
    """Every connection keeps `depth` requests of random sizes in flight and compares each answer with its oldest request."""
    generator = random.Random(7)
    selector = selectors.DefaultSelector()
    for number in range(connections):
        client = site.connect()
        client.socket.setblocking(False)
        client.waiting, client.left, client.out = [], requests, b""
        selector.register(client.socket, selectors.EVENT_READ | selectors.EVENT_WRITE, client)
    open_clients = connections
    while open_clients:
        events = selector.select(30)
        assert events, "no progress"
        for key, mask in events:
            client = key.data
            while len(client.waiting) < depth and client.left:
                payload = generator.randbytes(generator.randrange(253))
                client.waiting.append(payload)
                client.left -= 1
                client.out += frame(payload)
            if mask & selectors.EVENT_WRITE and client.out:
                client.out = client.out[client.socket.send(client.out):]
            if mask & selectors.EVENT_READ:
                data = client.socket.recv(65536)
                assert data, "closed"
                client.pending += data
                while len(client.pending) >= HEADER.size:
                    size = HEADER.unpack_from(client.pending)[0]
                    if len(client.pending) < size:
                        break
                    answer, client.pending = client.pending[HEADER.size:size], client.pending[size:]
                    assert answer == client.waiting.pop(0)[::-1]
            if not client.waiting and not client.left:
                selector.unregister(client.socket)
                client.close()
                open_clients -= 1
            elif not client.out and not (client.left and len(client.waiting) < depth):
                selector.modify(client.socket, selectors.EVENT_READ, client)
            else:
                selector.modify(client.socket, selectors.EVENT_READ | selectors.EVENT_WRITE, client)


class BadInput(unittest.TestCase):
    """Each costs only its own connection, and one log line."""

    def check(self, data, pattern, after=None):
        with Site() as site:
            server, _ = site.start_both()
            good = site.connect()
            self.assertEqual(good.ask(b"before"), b"erofeb")
            before = server.descriptors()
            bad = site.connect()
            bad.send(data)
            if after:
                after(bad)
            server.wait_log(pattern)
            if not after:
                self.assertIsNone(bad.receive())
                bad.close()
            self.assertEqual(good.ask(b"after"), b"retfa")
            wait_until(lambda: server.descriptors() == before, "a descriptor is left")
            self.assertEqual(server.count("client .* closed"), 1)
            self.assertEqual(server.stop(), 0)

    def test_frame_over_the_limit(self):
        self.check(frame(b"x" * 253), "265 bytes is above the limit of 264")

    def test_length_that_contradicts_the_size(self):
        self.check(HEADER.pack(16, 4, 5) + b"ABCD", "closed: ")

    def test_size_smaller_than_a_header(self):
        self.check(HEADER.pack(3, 4, 0), "closed: ")

    def test_unknown_id(self):
        self.check(frame(b"ABCD", 77), "message id 77")

    def test_response_from_a_client(self):
        self.check(frame(b"ABCD", 5), "message id 5")

    def test_random_bytes(self):
        self.check(b"\xa5" + random.Random(1).randbytes(4096), "closed: ")

    def test_truncated_frame(self):
        self.check(frame(b"ABCDEFGH")[:15], "closed: ", lambda bad: bad.close())

    def test_reset_half_way(self):
        self.check(frame(b"ABCDEFGH")[:15], r"client 127\.0\.0\.1 port [1-9]\d* closed: .*reset", lambda bad: bad.reset())

    def test_good_requests_before_a_bad_one_are_answered(self):
        with Site() as site:
            server, _ = site.start_both()
            client = site.connect()
            client.send(frame(b"ABCD"))
            self.assertEqual(client.receive(), b"DCBA")
            client.send(b"\xff" * 12)
            self.assertIsNone(client.receive())
            server.wait_log("closed: ")


class Orchestrator(unittest.TestCase):
    def test_killed_and_started_again(self):
        with Site() as site:
            server, orchestrator = site.start_both()
            idle, busy = site.connect(), site.connect()
            self.assertEqual(idle.ask(b"ABCD"), b"DCBA")
            self.assertEqual(busy.ask(b"ABCD"), b"DCBA")
            orchestrator.freeze()
            busy.send(frame(b"lost"))
            # The request is in flight once the server has read it from the socket.
            wait_until(lambda: unread(site.port, busy) == 0, "the request is not read")
            orchestrator.stop(signal.SIGKILL)
            server.wait_log("the orchestrator is lost")
            server.wait_log("1 requests in flight failed and their 1 clients closed")
            self.assertIsNone(busy.receive())
            server.wait_log("waiting for an orchestrator", 2)
            waiting = site.connect()
            waiting.send(frame(b"patient"))
            site.start_orchestrator()
            self.assertEqual(waiting.receive(), b"tneitap")
            self.assertEqual(idle.ask(b"EFGH"), b"HGFE")
            self.assertEqual(server.stop(), 0)

    def test_lost_while_its_clients_are_busy(self):
        """A thread finds in one pass both the order to close its clients and what they sent afterwards."""
        with Site() as site:
            server, orchestrator = site.start_both("--max-concurrent-messages", 64)
            clients = [site.connect() for _ in range(50)]
            for client in clients:
                self.assertEqual(client.ask(b"ABCD"), b"DCBA")
            orchestrator.freeze()
            for client in clients:
                client.send(frame(b"lost"))
            wait_until(lambda: all(unread(site.port, client) == 0 for client in clients), "the requests are not read")
            with server.stopped_thread("offload-cpu%d" % CPUS[0]):
                orchestrator.stop(signal.SIGKILL)
                server.wait_log("the orchestrator is lost")
                for client in clients:
                    client.send(frame(b"more"))
            server.wait_log("50 requests in flight failed and their 50 clients closed")
            site.start_orchestrator("--max-concurrent-messages", 64)
            self.assertEqual(site.connect().ask(b"EFGH"), b"HGFE")
            self.assertEqual(server.stop(), 0)

    def test_killed_many_times_leaves_nothing_behind(self):
        with Site() as site:
            server, orchestrator = site.start_both()
            client = site.connect()
            counts = []
            for turn in range(2, 9):
                self.assertEqual(client.ask(b"ABCD"), b"DCBA")
                orchestrator.stop(signal.SIGKILL)
                server.wait_log("waiting for an orchestrator", turn)
                counts.append(server.descriptors())
                orchestrator = site.start_orchestrator()
                self.assertEqual(client.ask(b"ABCD"), b"DCBA")
            # Descriptors are compared without an orchestrator: while one is connected, a queue may or may not have needed its
            # timer yet. The first loss may leave memory that is kept for the next one; after that nothing may grow.
            orchestrator.stop(signal.SIGKILL)
            wait_until(lambda: server.descriptors() <= counts[0], "descriptors grow: %s" % counts)

    def test_sigterm_ends_both_in_order(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with Site() as site:
                server, orchestrator = site.start_both()
                self.assertEqual(site.connect().ask(b"ABCD"), b"DCBA")
                self.assertEqual(orchestrator.stop(number), 0)
                self.assertEqual(server.wait_exit(), 0)
                orchestrator.wait_log("the gpu answered 1 messages")

    def test_second_one_is_refused(self):
        with Site() as site:
            server, _ = site.start_both()
            second = site.start_orchestrator("--wait-server", 0, wait=False)
            self.assertEqual(second.wait_exit(), 1)
            server.wait_log("rejected a second orchestrator")
            self.assertEqual(site.connect().ask(b"ABCD"), b"DCBA")

    def test_without_a_server(self):
        with Site() as site:
            orchestrator = site.start_orchestrator("--wait-server", 0, wait=False)
            self.assertEqual(orchestrator.wait_exit(), 1)
            orchestrator.wait_log("no server on channel ch of device d8:00.0")

    def test_unknown_kernel_names_those_there_are(self):
        with Site() as site:
            orchestrator = site.start_orchestrator("--kernel", "md5", wait=False)
            self.assertNotEqual(orchestrator.wait_exit(), 0)
            orchestrator.wait_log("md5 is unknown: it can be reverse, sha256, crc32c")

    def test_answer_that_cannot_fit_is_refused(self):
        with Site() as site:
            orchestrator = site.start_orchestrator("--kernel", "sha256", "--max-message-length", 20, wait=False)
            self.assertNotEqual(orchestrator.wait_exit(), 0)
            orchestrator.wait_log("needs --max-message-length 36: it is 20")


class Server(unittest.TestCase):
    def test_sigterm_answers_what_it_read_and_ends_both(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with Site() as site:
                server, orchestrator = site.start_both()
                client = site.connect()
                client.send(b"".join(frame(b"%d" % i) for i in range(300)))
                self.assertEqual(client.receive(), b"0")
                server.send_signal(number)
                answers = 1
                while True:
                    payload = client.receive()
                    if payload is None:
                        break
                    self.assertEqual(payload, (b"%d" % answers)[::-1])
                    answers += 1
                client.close()
                self.assertEqual(server.wait_exit(), 0)
                self.assertEqual(orchestrator.wait_exit(), 0)
                orchestrator.wait_log("the gpu answered %d messages" % answers)
                server.wait_log("%d requests .* %d answers .* 0 requests failed, 0 answers undelivered" % (answers, answers))

    def test_both_signalled_at_once(self):
        with Site() as site:
            server, orchestrator = site.start_both()
            self.assertEqual(site.connect().ask(b"ABCD"), b"DCBA")
            server.send_signal(signal.SIGINT)
            orchestrator.send_signal(signal.SIGINT)
            self.assertEqual(server.wait_exit(), 0)
            self.assertEqual(orchestrator.wait_exit(), 0)

    def test_sigterm_without_an_orchestrator(self):
        with Site() as site:
            self.assertEqual(site.start_server().stop(), 0)

    def test_killed(self):
        with Site() as site:
            server, orchestrator = site.start_both()
            server.stop(signal.SIGKILL)
            self.assertEqual(orchestrator.wait_exit(), 1)
            orchestrator.wait_log("the server is lost")

    def test_client_that_does_not_read_stops_only_itself(self):
        with Site() as site:
            server, _ = site.start_both("--max-concurrent-messages", 16)
            lazy = site.connect()
            lazy.socket.setblocking(False)
            other = site.connect()
            data, sent = frame(b"x" * 252) * 1000, 0
            last = time.monotonic()
            while time.monotonic() - last < 1:  # until the sockets are full
                try:
                    sent += lazy.socket.send(data[sent % len(data):])
                    last = time.monotonic()
                except BlockingIOError:
                    self.assertEqual(other.ask(b"ABCD"), b"DCBA")
                self.assertLess(sent, 256 << 20, "the server swallows everything")
            for i in range(1000):
                self.assertEqual(other.ask(b"%d" % i), (b"%d" % i)[::-1])
            lazy.socket.setblocking(True)
            for i in range(sent // 264):
                self.assertEqual(lazy.receive(), b"x" * 252)
            self.assertLess(server.resident_bytes(), 256 << 20)

    def test_cpu_that_is_not_there(self):
        with Site() as site:
            server = site.start_server(cpus=(99999,), wait=False)
            self.assertEqual(server.wait_exit(), 2)
            server.wait_log("See `doca_dpu_gpu_remote_offload_server --help`")
            self.assertEqual(server.count("Usage:"), 0)
            server.wait_log(r"--cpu 99999 is not a CPU this program may use; it may use: [0-9]")

    def test_port_in_use(self):
        with Site() as site:
            site.start_both()
            second = site.start_server(channel="other", port=site.port, wait=False)
            self.assertEqual(second.wait_exit(), 1)
            second.wait_log("cannot listen to port %d on 127.0.0.1" % site.port)

    def test_unknown_device_names_those_there_are(self):
        with Site() as site:
            server = site.start("server", "-d", "ff:00.0", "-r", "d8:00.0", "-p", 0, "--cpu", CPUS[0])
            self.assertEqual(server.wait_exit(), 1)
            server.wait_log("device ff:00.0 not found; devices here: .*03:00.0")


class Mismatch(unittest.TestCase):
    """Programs that do not fit are rejected at start, with both values; the server keeps waiting for one that fits."""

    def check(self, orchestrator_arguments, queues, patterns):
        with Site() as site:
            server = site.start_server(cpus=CPUS[:1] * 2, wait=True)
            orchestrator = site.start_orchestrator(*orchestrator_arguments, queues=queues, wait=False)
            self.assertEqual(orchestrator.wait_exit(), 1)
            for pattern in patterns:
                orchestrator.wait_log(pattern)
                server.wait_log(pattern)
            server.wait_log("waiting for an orchestrator", 2)
            site.start_orchestrator(queues=2)
            self.assertEqual(site.connect().ask(b"ABCD"), b"DCBA")

    def test_more_gpu_threads_than_cpus(self):
        self.check((), 3, ["2 --cpu and the orchestrator --num-gpu-threads 3"])

    def test_fewer_gpu_threads_than_cpus(self):
        self.check((), 1, ["2 --cpu and the orchestrator --num-gpu-threads 1"])

    def test_message_lengths(self):
        self.check(("--max-message-length", 512), 2, ["--max-message-length 256 and the orchestrator 512"])

    def test_channel_names(self):
        with Site() as site:
            site.start_server(channel="left")
            orchestrator = site.start_orchestrator("--wait-server", 0, channel="right", wait=False)
            self.assertEqual(orchestrator.wait_exit(), 1)
            orchestrator.wait_log("no server on channel right of device d8:00.0: the server there has channel left")

    def test_different_concurrency_fits(self):
        with Site() as site:
            server = site.start_server("--max-concurrent-messages", 64)
            site.start_orchestrator("--max-concurrent-messages", 16)
            server.wait_log("1 queues of 16 messages")
            exchange(site, connections=4, depth=32, requests=200)


class Resources(unittest.TestCase):
    def test_idle_system_uses_under_one_percent_of_a_cpu(self):
        limit = 0.02 if os.environ.get("SOFTFIELD_FABRIC") == "tcp" else 0.01  # of both programs; by TCP they send heartbeats
        with Site() as site:
            programs = site.start_both(cpus=CPUS[:1] * 2)
            client = site.connect()
            self.assertEqual(client.ask(b"ABCD"), b"DCBA")
            used = [sum(program.cpu_seconds() for program in programs)]
            begin = time.monotonic()
            # The time to measure: the test checks that nothing happens in it.
            wait_until(lambda: time.monotonic() - begin >= 5, "")
            used.append(sum(program.cpu_seconds() for program in programs))
            self.assertEqual(client.ask(b"ABCD"), b"DCBA")
            self.assertLessEqual(used[1] - used[0], limit * 5)

    def test_server_without_an_orchestrator_sleeps(self):
        with Site() as site:
            server = site.start_server(wait=False)
            server.wait_log("waiting for an orchestrator")
            used, begin = server.cpu_seconds(), time.monotonic()
            wait_until(lambda: time.monotonic() - begin >= 5, "")  # the time to measure
            self.assertLessEqual(server.cpu_seconds() - used, 0.01 * 5)

    def test_idle_connections_cost_little(self):
        with Site() as site:
            server, orchestrator = site.start_both()
            site.connect().ask(b"ABCD")
            before = server.resident_bytes() + orchestrator.resident_bytes()
            clients = [site.connect() for _ in range(500)]
            for client in clients:
                self.assertEqual(client.ask(b"ABCD"), b"DCBA")
            after = server.resident_bytes() + orchestrator.resident_bytes()
            # 500 of 4,000 connections that must fit into 64 MiB, most of which the programs themselves use.
            self.assertLess(after - before, 500 * 4096)
            self.assertEqual(clients[0].ask(b"EFGH"), b"HGFE")


if __name__ == "__main__":
    unittest.main(verbosity=2)
