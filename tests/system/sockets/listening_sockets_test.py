#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Raw bytes to every socket that programs listen on, while they work.
Usage: listening_sockets_test.py Comch|Rdma|Verbs|Offload|Node [SECONDS]

The sockets are those that /proc shows. A stranger sends noise, changed messages of good callers, wrong descriptors, or nothing, while
the programs talk to each other; what they say stays right, and afterwards no process has more descriptors or memory than before.
SOFTFIELD_TEST_SEED repeats a run.
"""
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time

for place in ("../remote_offload", "../../machines"):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), place))
import machines
import offload
from raw_bytes import Attacker, Conversation, Listener, Recorder, listeners

PROGRAMS = os.environ.get("SOCKETS_PROGRAMS", ".")
os.environ["SOFTFIELD_FABRIC"] = "shm"
SECONDS = 5
STEPS = 25  # between two exchanges of the programs
GROWTH_MAX = 8 << 20  # bytes of a process, after the first quarter


class Talker:
    """A program that exchanges messages with its child for each line that it reads."""

    log = None  # a path; None: this program's standard error

    def __init__(self, folder, *command):
        environment = dict(os.environ, SOFTFIELD_RUNTIME=folder)
        os.makedirs(folder, mode=0o700)
        with open(self.log or os.devnull, "a") as log:
            self.process = subprocess.Popen([os.path.join(PROGRAMS, command[0]), *command[1:]], env=environment, text=True, bufsize=1,
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log if self.log else None)
        self.pids = [self.process.pid]

    def say(self):
        self.process.stdin.write("\n")

    def hear(self, word):
        line = self.process.stdout.readline()
        assert line.startswith(word), "%r instead of %r: the program has failed" % (line, word)
        return line.split()[1:]

    def connect(self):
        self.say()
        self.pids.append(int(self.hear("connected to")[-1]))

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Pair:
    """Two processes of a talker. The messages of valid callers are recorded in another folder, with the same names."""

    command = ()
    recorded = {}  # the kinds of sockets, and the least number of messages that valid callers send to each

    def __init__(self, folder):
        self.conversations = self.record(os.path.join(folder, "recorded"))
        self.talker = Talker(os.path.join(folder, "run"), *self.command)
        self.talker.hear("listening")
        self.talker.connect()

    def record(self, folder):
        talker = Talker(folder, *self.command)
        talker.hear("listening")
        recorder = Recorder(listeners(talker.process.pid))
        talker.connect()
        offload.wait_until(lambda: all(any(said.name.startswith(kind) and len(said) >= number for said in recorder.conversations)
                                       for kind, number in self.recorded.items()), "valid callers sent fewer messages than expected")
        talker.kill()
        recorder.close()
        return [said for said in recorder.conversations if said]

    def pids(self):
        return self.talker.pids

    def begin(self):
        self.talker.say()

    def check(self):
        self.talker.hear("exchanged")

    def end(self):
        self.talker.process.stdin.close()
        assert self.talker.process.wait() == 0, "the talker did not end well"

    def close(self):
        self.talker.kill()


class Comch(Pair):
    command = ("comch_talker", "talk")
    recorded = {"l-": 1}


class Rdma(Pair):
    command = ("rdma_talker",)
    recorded = {"l-": 1, "a-": 2}

    def __init__(self, folder):
        os.environ["SOFTFIELD_TOPOLOGY"] = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "rdma_cm.json")
        super().__init__(folder)


class Verbs:
    """The verbs provider's sockets. This test is the valid caller."""

    def __init__(self, folder):
        self.talker = Talker(os.path.join(folder, "run"), "verbs_talker")
        self.handshake, self.question, self.answer = (bytes.fromhex(self.talker.hear(word)[0]) for word in ("handshake", "question", "answer"))
        self.talker.hear("port")
        self.tcp = [at for at in listeners(self.talker.process.pid) if at.family != offload.socket.AF_UNIX]
        assert self.tcp, "no TCP socket listens"
        self.conversations = [Conversation([(self.handshake, []), (self.question, [])]), Conversation([(self.question, [])])]

    def pids(self):
        return self.talker.pids

    def begin(self):
        self.caller = offload.socket.create_connection(self.tcp[0].address, offload.DEADLINE_S)
        self.caller.sendall(self.handshake + self.question)

    def check(self):
        heard = b""
        while len(heard) < len(self.answer):
            part = self.caller.recv(len(self.answer) - len(heard))
            assert part, "the valid caller got no answer"
            heard += part
        assert heard == self.answer
        self.caller.close()

    def end(self):
        self.talker.process.stdin.close()
        assert self.talker.process.wait() == 0, "the talker did not end well"

    def close(self):
        self.talker.kill()


class Offload:
    """The offload server and orchestrator, and a client that stays connected while others come and go."""

    def __init__(self, folder):
        self.site = offload.Site()
        self.site.start_both()
        self.client = self.site.connect()
        self.conversations = [Conversation([(offload.frame(b"a request"), []), (offload.frame(b"x" * 200) + offload.frame(b"y"), [])])]

    def pids(self):
        return [program.pid for program in self.site.programs]

    def begin(self):
        self.newcomer = self.site.connect()
        for client in (self.client, self.newcomer):
            for number in range(8):
                client.send(offload.frame(b"request %d" % number))

    def check(self):
        for client in (self.client, self.newcomer):
            for number in range(8):
                assert client.receive() == (b"request %d" % number)[::-1]
        self.newcomer.close()
        self.site.clients.remove(self.newcomer)

    def end(self):
        for program in reversed(self.site.programs):
            assert program.stop() == 0, program.log()

    def close(self):
        self.site.__exit__(None, None, None)


class Node:
    """The service of a node. The valid caller is `softfield devices` of another node, which asks whether it answers."""

    HOST, DPU = "127.0.0.1", "127.0.0.2"

    def __init__(self, folder):
        self.folder, self.softfield = folder, os.path.join(PROGRAMS, "..", "..", "..", "tools", "softfield", "softfield")
        self.topology = machines.write_topology(folder, self.softfield, {"host0": self.HOST, "dpu0": self.DPU})
        with socket.create_server((self.HOST, 0)) as free:
            self.port = free.getsockname()[1]
        self.process = self.start(["node"], "host0", self.port)
        assert self.process.stdout.readline().startswith("node host0: serving")
        recorder = Recorder([])
        front = recorder.stand_before(Listener(socket.AF_INET, socket.SOCK_STREAM, (self.HOST, self.port)), (self.HOST, 0), "node")
        self.begin(front[1])
        self.check()
        recorder.close()
        self.conversations = [said for said in recorder.conversations if said]
        assert self.conversations, "the valid caller sent nothing"

    def start(self, words, node, port):
        """Runs the tool as that node, with the host's service at the port."""
        with open(self.topology) as file:
            topology = json.load(file)
        next(node for node in topology["nodes"] if node["name"] == "host0")["port"] = port
        path = os.path.join(self.folder, "topology-%d.json" % port)
        with open(path, "w") as file:
            json.dump(topology, file)
        runtime = os.path.join(self.folder, node)
        os.makedirs(runtime, mode=0o700, exist_ok=True)
        environment = dict(os.environ, SOFTFIELD_TOPOLOGY=path, SOFTFIELD_NODE=node, SOFTFIELD_RUNTIME=runtime)
        return subprocess.Popen([self.softfield, *words], env=environment, stdout=subprocess.PIPE, text=True)

    def pids(self):
        return [self.process.pid]

    def begin(self, port=None):
        self.asked_port = port or self.port
        self.caller = self.start(["devices", "--json"], "dpu0", self.asked_port)

    def check(self):
        """It answers within a second, or at the next try if this machine is too busy."""
        deadline = time.monotonic() + offload.DEADLINE_S
        while True:
            nodes = json.loads(self.caller.communicate()[0])["nodes"]
            if next(node for node in nodes if node["name"] == "host0")["answers"]:
                return
            assert time.monotonic() < deadline, "the node does not answer"
            self.begin(self.asked_port)

    def end(self):
        self.process.terminate()
        assert self.process.wait() == 0, "the service did not end well"

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def descriptors(pid):
    return len(os.listdir("/proc/%d/fd" % pid))


def resident(pid):
    with open("/proc/%d/maps" % pid) as maps:
        if "libasan" in (text := maps.read()) or "libtsan" in text or "clang_rt" in text:
            return 0  # a sanitizer keeps freed memory for a while, and looks for leaks itself
    with open("/proc/%d/exe" % pid, "rb") as program:
        if b"__asan_init" in program.read() or b"__tsan_init" in (program.seek(0), program.read())[1]:
            return 0
    with open("/proc/%d/statm" % pid) as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def round_of(target, attacker):
    """The programs exchange something while all of their sockets are attacked."""
    sockets = [at for pid in target.pids() for at in listeners(pid)]
    assert sockets, "nobody listens"
    target.begin()
    for _ in range(STEPS):
        attacker.step(attacker.random.choice(sockets))
    target.check()
    return sockets


def settle(target, attacker, before):
    """The stranger disconnects, and the programs notice: no more descriptors than before. Some notice only when they have work."""

    def settled():
        target.begin()
        target.check()
        return all(descriptors(pid) <= before[pid] for pid in target.pids())

    attacker.let_go(0)
    offload.wait_until(settled, "descriptors are left: %s of %s" % ({pid: descriptors(pid) for pid in target.pids()}, before))


def warm_up(target):
    """Exchanges until ten in a row opened no descriptor, because memory that a receive uses for the first time may get a file.
    Returns the numbers of descriptors."""
    before, steady = None, 0
    while steady < 10:
        target.begin()
        target.check()
        now = {pid: descriptors(pid) for pid in target.pids()}
        steady, before = (steady + 1 if now == before else 0), now
    return before


def attack(target, seconds, seed):
    attacker = Attacker(random.Random(seed), target.conversations)
    before = warm_up(target)
    sockets, rounds, memory = set(), 0, {}
    begin = time.monotonic()
    # Rounds count, too: a busy machine completes few in the time.
    while time.monotonic() < begin + seconds or rounds < 8:
        sockets.update(map(repr, round_of(target, attacker)))
        rounds += 1
        if not memory and rounds >= 2 and time.monotonic() > begin + seconds / 4:
            settle(target, attacker, before)
            memory = {pid: resident(pid) for pid in target.pids()}
    settle(target, attacker, before)
    for pid in target.pids():
        grown = resident(pid) - memory[pid]
        assert grown < GROWTH_MAX, "process %d has grown by %d bytes" % (pid, grown)
    attacker.close()
    print("%d rounds of %d attacks, with %d recorded conversations, on:" % (rounds, STEPS, len(attacker.conversations)))
    print("\n".join(sorted(sockets)))


def main():
    target_class = {"Comch": Comch, "Rdma": Rdma, "Verbs": Verbs, "Offload": Offload, "Node": Node}[sys.argv[1]]
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else SECONDS
    seed = int(os.environ.get("SOFTFIELD_TEST_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 32)
    print("seed %d" % seed)
    folder = tempfile.mkdtemp(prefix="sf-sockets-")
    target = None
    try:
        target = target_class(folder)
        attack(target, seconds, seed)
        target.end()
    finally:
        if target is not None:
            target.close()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
