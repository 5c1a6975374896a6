# SPDX-License-Identifier: BSD-3-Clause
"""Machines for tests: network namespaces with their own runtime folders, and the links between them."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))

SKIPPED = 77
INSIDE = "SOFTFIELD_TEST_INSIDE"


class Skip(Exception):
    """The test needs something that this machine lacks."""


def enter():
    """Continues as root of new namespaces. Returns False if this user may not create them."""
    if os.environ.get(INSIDE) is not None:
        return True
    for flags in ("-Urnm", "-nm"):  # root in a chroot may be denied a user namespace, and needs none
        if subprocess.run(["unshare", flags, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            os.environ[INSIDE] = "1"
            os.execvp("unshare", ["unshare", flags, sys.executable] + sys.argv)
    return False


def command(*words):
    subprocess.run(words, check=True)


class Emulation:
    """Programs of another architecture at the same places of another build, run by qemu-user. `folder` was made by
    tests/arm64/build.sh."""

    def __init__(self, native, folder):
        self.native, self.build = native, os.path.join(folder, "build")
        self.prefix = ["qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu", "-E",
                       "LD_LIBRARY_PATH=" + os.path.join(folder, "root", "usr/lib/aarch64-linux-gnu")]

    def words(self, words):
        """The command with that build's program. Programs that are not ours stay as they are."""
        place = os.path.relpath(words[0], self.native)
        return words if place.startswith("..") else self.prefix + [os.path.join(self.build, place)] + words[1:]


class Namespace:
    """A network namespace that the process `keeper` keeps open."""

    def __init__(self):
        self.keeper = subprocess.Popen(["unshare", "-n", "sh", "-c", "echo; exec cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.keeper.stdout.readline()

    def within(self, words):
        return ["nsenter", "-n", "-t", str(self.keeper.pid)] + words

    def do(self, *words):
        command(*self.within(list(words)))

    def end(self):
        self.keeper.stdin.close()  # so that it exits
        self.keeper.wait()
        self.keeper.stdout.close()


class Machine(Namespace):
    """A node of the topology. `hosts`: a file that replaces /etc/hosts. `emulation`: its programs are of another architecture."""

    def __init__(self, root, name, topology, hosts=None, emulation=None):
        super().__init__()
        self.name, self.hosts, self.emulation = name, hosts, emulation
        self.folder = os.path.join(root, name)
        os.mkdir(self.folder, 0o700)
        self.environment = dict(os.environ, SOFTFIELD_NODE=name, SOFTFIELD_RUNTIME=self.folder, SOFTFIELD_TOPOLOGY=topology)
        self.node = None

    def within(self, words):
        if self.hosts is not None:
            words = ["unshare", "-m", "sh", "-c", 'mount --bind "$0" /etc/hosts && exec "$@"', self.hosts] + words
        return super().within(words)

    def own(self, words):
        return words if self.emulation is None else self.emulation.words(words)

    def start(self, words, cwd=None, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT, **more):
        return subprocess.Popen(self.within(self.own(words)), env=dict(self.environment, **more), cwd=cwd or self.folder, text=True,
                                stdin=stdin, stdout=subprocess.PIPE, stderr=stderr)

    def serve(self, softfield):
        self.node = self.start([softfield, "node"])
        line = self.node.stdout.readline()
        assert line.startswith("node %s: serving" % self.name), line

    def end(self):
        if self.node is not None:
            self.node.terminate()
            self.node.wait()
            self.node.stdout.close()
        super().end()


def cable(one, device, other, other_device):
    """A veth pair between two namespaces."""
    try:
        command("ip", "link", "add", device, "netns", str(one.keeper.pid), "type", "veth", "peer", "name", other_device, "netns",
                str(other.keeper.pid))
    except subprocess.CalledProcessError as error:
        raise Skip("no veth pair can be created here: %s" % error) from error


def address_add(machine, device, address):
    """Adds `address` with its prefix, and brings up the loopback device, too."""
    machine.do("ip", "addr", "add", address, "dev", device, *(["nodad"] if ":" in address else []))
    machine.do("ip", "link", "set", "lo", "up")
    machine.do("ip", "link", "set", device, "up")


def write_topology(root, softfield, addresses, name="topology.json", key="key", ports=None, tls=True):
    """As docs/machines.md describes: an address for each node, and a shared key, which is created if it does not exist; `ports`: the
    ports of each node's programs."""
    path = os.path.join(root, key)
    if not os.path.exists(path):
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as file:
            file.write(os.urandom(32).hex() + "\n")
    topology = json.loads(subprocess.run([softfield, "topology", "show"], check=True, stdout=subprocess.PIPE).stdout)
    for node in topology["nodes"]:
        node["address"] = addresses[node["name"]]
        if ports is not None:
            node["ports"] = ports
    topology["key"] = path
    if not tls:
        topology["tls"] = False
    path = os.path.join(root, name)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(topology, file)
    return path
