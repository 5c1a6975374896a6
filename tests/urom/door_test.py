#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Raw bytes to every socket that the UROM daemon, its workers and its client listen on, while they work.
Usage: door_test.py local|network|crowd DAEMON TALKER [SECONDS]

local    a service without a secret file: nothing listens but a Unix socket, which another user cannot reach
network  one for the network, attacked from another network namespace: what listens is the front door, and the UCX ports of workers
         with such plugins, of the documented range; nothing else. The documented firewall rule closes those for all but peers.
         Skipped where namespaces are not permitted.
crowd    connections that never pass, more than there can be, and more than the daemon has descriptors for
The bytes are noise, changed conversations of good clients, UCX's 32 messages, halves, huge lengths, silence, and one byte at a time.
SOFTFIELD_TEST_SEED repeats a run.
"""
import ctypes
import glob
import os
import random
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path[:0] = [os.path.join(TESTS, "system", "sockets"), os.path.join(TESTS, "system", "remote_offload")]
import offload
from listening_sockets_test import attack, descriptors
from raw_bytes import Conversation, listeners

SECONDS = 5
PORTS = range(20000, 28192)  # docs/urom_service.md
CLONE_NEWNET = 0x40000000
MAGIC, LISTENER = struct.pack("<Q", 0x31204d4f52550016), (1 << 64) - 1
VERSION, HANDSHAKE, PROOF, SPAWN, JOIN, COMMAND = 3, 1, 3, 6, 13, 15
UCX_MAGIC = struct.pack("<Q", 0xcafebabe12345678)
CROWD, OF_ONE = 300, 128  # of one address at a time
WAKES = 1000
REACH_S = 1  # within which a port that is open takes a connection
FULL = "cannot accept connections now"
NEAR, FAR = ("10.213.90.1", "10.213.90.2")


def preamble(worker):
    return MAGIC + struct.pack("<Q", worker)


def frame(kind, body, said=None):
    head = struct.pack("<HHiQQQ", VERSION, kind, 0, 1, 0, 0)
    lengths = struct.pack("<II", len(head), len(body) if said is None else said)
    return lengths + head + body + bytes(-len(body) % 8)


def client_hello():
    import ssl
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        context.wrap_bio(incoming, outgoing).do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


def conversations():
    handshake = frame(HANDSHAKE, bytes(range(32)) + struct.pack("<I", 4096))
    said = [[preamble(LISTENER), handshake, frame(PROOF, bytes(32)), frame(SPAWN, bytes(200))],
            [preamble(1), frame(JOIN, bytes(16)), frame(COMMAND, bytes(64))], [preamble(2), frame(JOIN, bytes(16))],
            [preamble(LISTENER), frame(HANDSHAKE, b"", 1 << 30)], [preamble(LISTENER), frame(HANDSHAKE, b"", (1 << 32) - 1)],
            [preamble(LISTENER), client_hello(), client_hello()], [preamble(1), client_hello()], [preamble(77)]]
    for number in range(32):  # the sender's address of what is to be dereferenced is among the bytes
        message = struct.pack("<BI", number, 64) + b"\x41" * 64
        said += [[UCX_MAGIC + message], [preamble(LISTENER) + UCX_MAGIC + message]]
    return [Conversation([(data, []) for data in messages]) for messages in said]


def enter_namespace(name):
    with open("/run/netns/" + name) as there:
        if ctypes.CDLL(None, use_errno=True).setns(there.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")


class Service:
    """The daemon, and a client with a worker for each of the plugins."""

    def __init__(self, folder, daemon, talker, plugins, options=(), address="127.0.0.1", device="lo", namespaces=None):
        self.conversations = conversations()
        environment = dict(os.environ, SOFTFIELD_RUNTIME=os.path.join(folder, "run"), SOFTFIELD_NODE="host0",
                           DOCA_UROM_SERVICE_FILE=os.path.join(folder, "services"))
        environment = {name: value for name, value in environment.items() if not name.startswith("UCX_")}
        within = [[], []] if namespaces is None else [["ip", "netns", "exec", name] for name in namespaces]
        self.log = os.path.join(folder, "daemon")
        self.programs = []
        with open(self.log, "w") as log:
            self.daemon = subprocess.Popen([*within[0], daemon, "--port", "0", *options], env=environment, stdout=log, stderr=log)
        self.programs.append(self.daemon)
        offload.wait_until(lambda: " plugins\n" in self.said() or self.daemon.poll() is not None, "the daemon does not listen")
        self.port = int(self.said().partition(" port ")[2].partition(",")[0])
        with open(environment["DOCA_UROM_SERVICE_FILE"], "w") as services:
            services.write("localhost dpu %s:%d d8:00.0 %s\n" % (address, self.port, device))
        self.client = subprocess.Popen([*within[1], talker, *plugins], env=environment, text=True, bufsize=1, stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE)
        self.programs.append(self.client)
        self.hear("ready")

    def said(self):
        with open(self.log) as log:
            return log.read()

    def hear(self, word):
        line = self.client.stdout.readline()
        assert line == word + "\n", "%r instead of %r; the daemon: %s" % (line, word, self.said())

    def pids(self):
        with open("/proc/%d/task/%d/children" % (self.daemon.pid, self.daemon.pid)) as children:
            return [self.daemon.pid, self.client.pid, *map(int, children.read().split())]

    def begin(self):
        self.client.stdin.write("\n")

    def check(self):
        self.hear("exchanged")

    def end(self):
        self.client.stdin.close()
        assert self.client.wait() == 0, "the client did not end well"
        self.daemon.send_signal(signal.SIGTERM)
        assert self.daemon.wait() == 0, "the daemon did not end well: " + self.said()

    def close(self):
        for program in self.programs:
            program.kill()
            program.wait()


def tcp_ports(service):
    """Of each process, in the order of pids()."""
    return [[at.address for at in listeners(pid) if at.family != socket.AF_UNIX] for pid in service.pids()]


def as_another_user(do):
    """Whether it comes to its end."""
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        try:
            do()
        except OSError as error:
            print("another user: %s" % error)
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def another_user_may_connect(path):
    return as_another_user(lambda: socket.socket(socket.AF_UNIX).connect(path))


def abstract_names(pid):
    """Of its Unix sockets whose name is in no file system."""
    own = {os.readlink(fd)[8:-1] for fd in glob.glob("/proc/%d/fd/*" % pid) if os.readlink(fd).startswith("socket:[")}
    with open("/proc/%d/net/unix" % pid) as table:
        rows = [row.split(None, 7) for row in table.read().splitlines()[1:]]
    return ["\0" + row[7][1:] for row in rows if row[6] in own and len(row) == 8 and row[7].startswith("@")]


def another_user_can_only_wake(service):
    """What UCX's shared memory has of files and sockets in workers: nobody else opens the files, and noise to the sockets harms none."""
    files = {os.readlink(file): os.stat(file).st_mode & 0o077 for pid in service.pids() for file in glob.glob("/proc/%d/map_files/*" % pid)
             if os.readlink(file).startswith("/dev/shm/")}
    names = [name for pid in service.pids() for name in abstract_names(pid)]
    print("shared files: %s, sockets: %s" % (sorted(files), names))
    if not files or not names or any(files.values()):
        sys.exit("FAILED: workers' shared files should be there, and for nobody else: %s, %s" % (files, names))

    def wake():
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as there:
            there.setblocking(False)
            for number in range(WAKES * len(names)):
                try:
                    there.sendto(os.urandom(number % 64), names[number % len(names)])
                except BlockingIOError:
                    pass

    if not as_another_user(wake):
        sys.exit("FAILED: another user cannot wake the workers: docs/security.md should say so")


def run(service, seconds, seed, check=None):
    try:
        if seconds:
            attack(service, seconds, seed)
        if check:
            check()
        service.begin()
        service.check()
        service.end()
    finally:
        service.close()


def local(folder, daemon, talker, seconds, seed):
    service = Service(folder, daemon, talker, ["worker_graph", "worker_sandbox", "worker_rdmo", "worker_allreduce"])
    found = tcp_ports(service)
    print("TCP ports of daemon, client, spawner and workers: %s" % found)
    ours = [at for pid in service.pids() for at in listeners(pid)]
    if any(found) or len(ours) != 1:
        service.close()
        sys.exit("FAILED: one Unix socket should listen, but these do: %s" % ours)
    if os.geteuid() == 0:
        os.chmod(folder, 0o755)  # only the runtime folder is closed
        if another_user_may_connect(ours[0].address):
            service.close()
            sys.exit("FAILED: another user may connect to %s" % ours[0])
    run(service, seconds, seed, lambda: os.geteuid() != 0 or another_user_can_only_wake(service))


def is_served(folder, daemon, talker):
    """Another client, with the same service file."""
    environment = dict(os.environ, SOFTFIELD_RUNTIME=os.path.join(folder, "run"), SOFTFIELD_NODE="host0",
                       DOCA_UROM_SERVICE_FILE=os.path.join(folder, "services"))
    return subprocess.run([talker, "worker_graph"], env=environment, input="\n", stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL).returncode == 0


def strangers(port, number):
    """Silent ones, and some that say whom they are for and stop in the middle of a handshake."""
    made = []
    for index in range(number):
        each = socket.create_connection(("127.0.0.1", port), offload.DEADLINE_S)
        each.send((b"", preamble(LISTENER), preamble(1), preamble(LISTENER) + client_hello()[:100])[index % 4] or MAGIC[:index % 8])
        made.append(each)
    return made


def is_closed(stranger):
    try:
        stranger.setblocking(False)
        return stranger.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def crowd(folder, daemon, talker, seconds, seed):
    secret = os.path.join(folder, "secret")
    with open(os.open(secret, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
        file.write(os.urandom(32).hex())
    os.environ["UROM_SECRET_FILE"] = secret
    service = Service(folder, daemon, talker, ["worker_graph"])
    pids = service.pids()
    before = {pid: descriptors(pid) for pid in pids}

    def goes_on():
        service.begin()
        service.check()

    try:
        held = strangers(service.port, CROWD)
        goes_on()
        for pid in pids:
            assert descriptors(pid) <= before[pid] + OF_ONE + 1, "%d descriptors, %d before" % (descriptors(pid), before[pid])
        offload.wait_until(lambda: is_served(folder, daemon, talker), "a client finds no place among those that do not pass")
        offload.wait_until(lambda: all(map(is_closed, held)), "a connection that does not pass is not closed")
        offload.wait_until(lambda: all(descriptors(pid) <= before[pid] for pid in pids), "descriptors are left")
        goes_on()

        found = resource.prlimit(service.daemon.pid, resource.RLIMIT_NOFILE)
        most = max(map(int, os.listdir("/proc/%d/fd" % service.daemon.pid))) + 10
        resource.prlimit(service.daemon.pid, resource.RLIMIT_NOFILE, (most, found[1]))
        held = strangers(service.port, OF_ONE // 2)
        offload.wait_until(lambda: FULL in service.said(), "the daemon has descriptors for all of them")
        for _ in range(20):
            goes_on()
        lines = service.said().count(FULL)
        assert lines <= 100, "%d lines say that there are no descriptors" % lines
        for each in held:
            each.close()
        resource.prlimit(service.daemon.pid, resource.RLIMIT_NOFILE, found)
        offload.wait_until(lambda: is_served(folder, daemon, talker), "no client is served after there were no descriptors")
    except BaseException:
        print(service.said())
        service.close()
        raise
    run(service, 0, seed)


def command(*words):
    subprocess.run(words, check=True, stderr=subprocess.PIPE)


def join_namespaces(near, far):
    for name in (near, far):
        command("ip", "netns", "add", name)
    command("ip", "link", "add", "n0", "netns", near, "type", "veth", "peer", "name", "f0", "netns", far)
    for name, device, address in ((near, "n0", NEAR), (far, "f0", FAR)):
        command("ip", "-n", name, "addr", "add", address + "/24", "dev", device)
        command("ip", "-n", name, "link", "set", "lo", "up")
        command("ip", "-n", name, "link", "set", device, "up")

    def is_up():
        return all(subprocess.run(["ip", "netns", "exec", name, "cat", "/sys/class/net/%s/operstate" % device], text=True,
                                  stdout=subprocess.PIPE).stdout == "up\n" for name, device in ((near, "n0"), (far, "f0")))

    offload.wait_until(is_up, "the veth pair does not come up")


def documented_rule(peers):
    with open(os.path.join(TESTS, "..", "docs", "urom_service.md")) as file:
        rule = re.search(r"^    table inet urom \{.*?^    \}$", file.read(), re.M | re.S).group()
    return rule.replace("10.0.0.0/24", peers)


def reaches(address):
    with socket.socket() as there:
        there.settimeout(REACH_S)
        return there.connect_ex(address) == 0


def check_rule(near, door, ucx):
    def nft(rule):
        return subprocess.run(["ip", "netns", "exec", near, "nft", "-f", "-"], input="flush ruleset\n" + rule, text=True,
                              stderr=subprocess.PIPE)

    said = nft("").stderr
    if said:
        print("the firewall rule is not tried: %s" % said)
        return
    for peers, open_to_us in (("10.0.0.0/24", False), (FAR + "/32", True)):
        nft(documented_rule(peers)).check_returncode()
        if reaches(ucx) != open_to_us or not reaches(door):
            sys.exit("FAILED: with peers in %s, %s should be %s to %s, and %s open" %
                     (peers, ucx, "open" if open_to_us else "closed", FAR, door))
    nft("").check_returncode()


def network(folder, daemon, talker, seconds, seed):
    names = ["sfn%d" % os.getpid(), "sff%d" % os.getpid()]
    try:
        try:
            join_namespaces(*names)
        except subprocess.CalledProcessError as error:
            print("skipped: network namespaces are not permitted here: %s" % error.stderr)
            sys.exit(77)
        enter_namespace(names[1])
        secret = os.path.join(folder, "secret")
        with open(os.open(secret, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
            file.write(os.urandom(32).hex())
        os.environ["UROM_SECRET_FILE"] = secret
        where = dict(options=["--bind", NEAR], address=NEAR, device="f0", namespaces=names)

        service = Service(folder, daemon, talker, ["worker_graph"], **where)
        found = tcp_ports(service)
        if found[0] != [(NEAR, service.port)] or any(found[1:]):
            service.close()
            sys.exit("FAILED: the front door alone should listen: %s" % found)
        run(service, seconds, seed)

        service = Service(folder, daemon, talker, ["worker_graph", "worker_sandbox"], **where)
        found = tcp_ports(service)
        ucx = [at for each in found[1:] for at in each]
        print("ports of UCX's: %s" % ucx)
        if found[1] or any(host != NEAR or port not in PORTS for host, port in ucx) or not ucx:
            service.close()
            sys.exit("FAILED: UCX should listen on %s, at the documented ports, in one worker: %s" % (NEAR, found))
        run(service, 0, seed, lambda: check_rule(names[0], (NEAR, service.port), ucx[0]))
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL)


def main():
    mode, daemon, talker = sys.argv[1:4]
    seconds = float(sys.argv[4]) if len(sys.argv) > 4 else SECONDS
    if mode == "network" and os.geteuid() != 0 and "UROM_DOOR_INSIDE" not in os.environ:
        if subprocess.run(["unshare", "-rnm", "true"], stderr=subprocess.DEVNULL).returncode != 0:
            print("skipped: no namespaces for this user here")
            sys.exit(77)
        os.environ["UROM_DOOR_INSIDE"] = "1"
        os.execvp("unshare", ["unshare", "-rnm", "sh", "-c", 'mount -t tmpfs none /run && exec "$0" "$@"', sys.executable, *sys.argv])
    seed = int(os.environ.get("SOFTFIELD_TEST_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 32)
    print("seed %d" % seed)
    folder = tempfile.mkdtemp(prefix="sf-door-")
    try:
        {"local": local, "network": network, "crowd": crowd}[mode](folder, daemon, talker, seconds, seed)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
