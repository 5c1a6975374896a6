# SPDX-License-Identifier: BSD-3-Clause
"""What a stranger can do to a listening socket: find the sockets of a process, record the messages of valid callers, and attack."""
import array
import glob
import os
import select
import socket
import struct
import threading

LISTENING = "0A"  # a TCP state
ACCEPTS = 0x10000  # a flag of Unix sockets that accept connections
SEQPACKET = 5
MESSAGE_MAX = 70000
FDS_MAX = 250
HELD_MAX = 40  # connections that stay open and silent, or slow


class Listener:
    """A socket that a process listens on."""

    def __init__(self, family, kind, address):
        self.family, self.kind, self.address = family, kind, address

    def __repr__(self):
        return "%s %s" % (socket.SocketKind(self.kind).name, self.address)

    def connect(self):
        """Returns None if its queue is full or it is gone."""
        made = socket.socket(self.family, self.kind)
        made.settimeout(0.2)
        try:
            made.connect(self.address)
            return made
        except OSError:
            made.close()
            return None


def listeners(pid):
    """Every Unix and TCP socket that the process listens on."""
    links = []
    for fd in glob.glob("/proc/%d/fd/*" % pid):
        try:
            links.append(os.readlink(fd))
        except FileNotFoundError:
            pass
    own = {link[8:-1] for link in links if link.startswith("socket:[")}
    found = []
    with open("/proc/%d/net/unix" % pid) as table:
        for row in table.read().splitlines()[1:]:
            fields = row.split(None, 7)
            if fields[6] in own and int(fields[3], 16) & ACCEPTS:
                found.append(Listener(socket.AF_UNIX, int(fields[4], 16), fields[7].replace("@", "\0", 1)))
    for name, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        with open("/proc/%d/net/%s" % (pid, name)) as table:
            for row in table.read().splitlines()[1:]:
                fields = row.split()
                if fields[3] != LISTENING or fields[9] not in own:
                    continue
                text, port = fields[1].split(":")
                raw = b"".join(bytes.fromhex(text[at:at + 8])[::-1] for at in range(0, len(text), 8))
                host = socket.inet_ntop(family, raw)
                host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
                found.append(Listener(family, socket.SOCK_STREAM, (host, int(port, 16))))
    return found


def receive(from_socket):
    """What can be read now: bytes and descriptors. None at the end, or if there is nothing."""
    try:
        data, ancillary, _, _ = from_socket.recvmsg(MESSAGE_MAX, socket.CMSG_SPACE(FDS_MAX * 4), socket.MSG_DONTWAIT)
    except OSError:
        return None
    fds = array.array("i")
    for level, kind, content in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            fds.frombytes(content[:len(content) - len(content) % fds.itemsize])
    return data, list(fds)


def send(to_socket, data, fds=()):
    """Returns False if the other side has closed the connection or its buffer is full."""
    ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    try:
        to_socket.sendmsg([data], ancillary, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
        return True
    except OSError:
        return False


class Conversation(list):
    """The messages, with their descriptors, that a valid caller sent to a socket of this name."""

    def __init__(self, messages=(), name=""):
        super().__init__(messages)
        self.name = name


class Recorder:
    """Takes the place of a process's Unix sockets, forwards between them and valid callers, and keeps the callers' messages."""

    def __init__(self, at):
        self.conversations = []
        self.stop_read, self.stop_write = os.pipe()
        self.threads, self.sockets = [], []
        for listener in at:
            real = listener.address + ".real"
            os.rename(listener.address, real)
            self.stand_before(Listener(listener.family, listener.kind, real), listener.address, os.path.basename(listener.address))

    def stand_before(self, real, address, name):
        """Listens at the address and forwards to the real listener. Returns the address of the socket."""
        front = socket.socket(real.family, real.kind)
        front.bind(address)
        front.listen(64)
        self.sockets.append(front)
        self._start(self._accept, front, real, name)
        return front.getsockname()

    def _start(self, function, *arguments):
        self.threads.append(threading.Thread(target=function, args=arguments))
        self.threads[-1].start()

    def _accept(self, front, real, name):
        while front in select.select([front, self.stop_read], [], [])[0]:
            caller, _ = front.accept()
            conversation = Conversation(name=name)
            self.conversations.append(conversation)
            callee = real.connect()
            if callee is None:
                caller.close()
                continue
            self.sockets += [caller, callee]
            self._start(self._pass_on, caller, callee, conversation)

    def _pass_on(self, caller, callee, conversation):
        while True:
            ready = select.select([caller, callee, self.stop_read], [], [])[0]
            if self.stop_read in ready:
                return
            for source, target in ((caller, callee), (callee, caller)):
                if source not in ready:
                    continue
                message = receive(source)
                if message is None or not message[0]:
                    caller.close()
                    callee.close()
                    return
                send(target, *message)
                if source is caller:
                    conversation.append(message)
                else:
                    for fd in message[1]:
                        os.close(fd)

    def close(self):
        os.write(self.stop_write, b"x")
        for thread in self.threads:
            thread.join()
        for each in self.sockets:
            each.close()
        os.close(self.stop_read)
        os.close(self.stop_write)


class Attacker:
    """Does one thing after another, chosen by the seed, to one of the listeners."""

    NUMBERS = (0, 1, 2, 3, 0x7f, 0xff, 0x100, 0x7fff, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff)

    def __init__(self, random, conversations):
        self.random = random
        self.conversations = conversations
        self.held = []
        self.pipe = os.pipe()
        self.memory = os.memfd_create("attack")
        os.ftruncate(self.memory, 1 << 20)
        self.pair = socket.socketpair()
        self.folder = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
        self.own_fds = [*self.pipe, self.memory, self.folder, *(each.fileno() for each in self.pair)]

    def close(self):
        self.let_go(0)
        for fd in (*self.pipe, self.memory, self.folder):
            os.close(fd)
        for each in self.pair:
            each.close()
        for conversation in self.conversations:
            for _, fds in conversation:
                for fd in fds:
                    os.close(fd)

    def let_go(self, number):
        while len(self.held) > number:
            self.held.pop(0).close()

    def mutated(self, data):
        data = bytearray(data)
        for _ in range(self.random.randrange(1, 4)):
            what = self.random.randrange(7)
            at = self.random.randrange(len(data)) if data else 0
            if what == 0 and data:
                data[at] ^= 1 << self.random.randrange(8)
            elif what == 1 and data:
                data[at] = self.random.randrange(256)
            elif what == 2 and len(data) >= 4:  # a length or another number
                at = self.random.randrange(len(data) - 3) & ~3
                struct.pack_into(self.random.choice("<>") + "I", data, at, self.random.choice(self.NUMBERS))
            elif what == 3:
                del data[at:]
            elif what == 4:
                data += self.random.randbytes(self.random.randrange(300))
            elif what == 5:
                data[at:at] = data[at:at + self.random.randrange(64)]
            else:
                data[at:at + 8] = self.random.randbytes(len(data[at:at + 8]))
        return bytes(data[:MESSAGE_MAX])

    def some_fds(self, most):
        return [self.random.choice(self.own_fds) for _ in range(self.random.randrange(most + 1))]

    def garbage(self, made):
        for _ in range(self.random.randrange(1, 4)):
            data = self.random.randbytes(self.random.choice((0, 1, 3, 4, 15, 16, 17, 100, 1000, 20000)))
            if not send(made, data, self.some_fds(3) if made.family == socket.AF_UNIX and data else ()):
                return

    def conversation(self, made):
        """Repeats a valid caller's messages, with one of them changed."""
        if not self.conversations:
            return self.garbage(made)
        conversation = self.random.choice(self.conversations)
        wrong = self.random.randrange(len(conversation) + 1)
        for number, (data, fds) in enumerate(conversation):
            fds = list(fds)
            if number == wrong:
                what = self.random.randrange(4)
                if what != 0:
                    data = self.mutated(data)
                if what == 0 or self.random.randrange(3) == 0:  # other descriptors, fewer or more of them
                    fds = self.some_fds(6)
            for _ in range(self.random.choice((1, 1, 1, 1, 2, 50)) if number == wrong else 1):
                if not send(made, data, fds if made.family == socket.AF_UNIX else ()):
                    return
            if self.random.randrange(2):
                select.select([made], [], [], 0.005)
            answer = receive(made)
            if answer is not None:
                for fd in answer[1]:
                    os.close(fd)

    def many_fds(self, made):
        if made.family == socket.AF_UNIX:
            send(made, self.random.randbytes(64), [self.random.choice(self.own_fds) for _ in range(FDS_MAX)])

    def burst(self, listener):
        made = [listener.connect() for _ in range(self.random.randrange(2, 30))]
        for each in made:
            if each is not None:
                each.close()

    def slow(self):
        """Sends one more byte on some of the connections that are held."""
        for each in self.held:
            if self.random.randrange(3) == 0:
                send(each, self.random.randbytes(1))

    def end(self, made):
        what = self.random.randrange(6)
        try:
            if what == 0:
                made.shutdown(socket.SHUT_WR)
            elif what == 1:
                made.shutdown(socket.SHUT_RD)
            elif what == 2:
                made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        except OSError:
            pass  # the other side closed first
        if what in (0, 1, 3):
            self.held.append(made)
            self.let_go(HELD_MAX)
        else:
            made.close()

    def step(self, listener):
        what = self.random.randrange(20)
        if what == 0:
            return self.burst(listener)
        if what == 1:
            return self.slow()
        made = listener.connect()
        if made is None:
            return self.let_go(len(self.held) // 2)
        if what < 7:
            self.garbage(made)
        elif what == 7:
            self.many_fds(made)
        elif what != 8:  # otherwise it stays silent
            self.conversation(made)
        self.end(made)
