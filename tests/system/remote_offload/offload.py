# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the remote offload programs share: starting them, waiting for what they log, speaking frames to them.

Every Site has a runtime folder, a channel and a port of its own, so tests run side by side. Its programs may break no rule of
docs/validation.md. Nothing here sleeps: each wait is
for a condition, with a deadline.
"""
import contextlib
import ctypes
import os
import re
import resource
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

DEADLINE_S = float(os.environ.get("REMOTE_OFFLOAD_DEADLINE_S", "30"))
CPUS = sorted(os.sched_getaffinity(0))  # the CPUs that the server may use
PROGRAMS = os.environ.get("REMOTE_OFFLOAD_PROGRAMS", ".")

PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH = 0x4206, 0x4207, 17
libc = ctypes.CDLL(None)
libc.ptrace.restype = ctypes.c_long


def ptrace(request, thread):
    return libc.ptrace(ctypes.c_long(request), ctypes.c_long(thread), ctypes.c_long(0), ctypes.c_long(0))


REQUEST = 4
HEADER = struct.Struct(">III")


def frame(payload, message_id=REQUEST):
    return HEADER.pack(len(payload) + HEADER.size, message_id, len(payload)) + payload


class Program:
    """A running program: its log lines as they arrive, and its exit status."""

    def __init__(self, arguments, environment, files=None):
        self.name = os.path.basename(arguments[0])
        self.lines = []
        self.was_stopped = False
        self.changed = threading.Condition()
        self.process = subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                        errors="replace", stdin=subprocess.DEVNULL,
                                        preexec_fn=files and (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))))
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(line.rstrip())
                self.changed.notify_all()
        with self.changed:
            self.lines.append(None)
            self.changed.notify_all()

    @property
    def pid(self):
        return self.process.pid

    def log(self):
        return "\n".join(line for line in self.lines if line is not None)

    def count(self, pattern):
        return sum(1 for line in self.lines if line is not None and re.search(pattern, line))

    def wait_log(self, pattern, count=1):
        """The count-th line that matches."""
        deadline = time.monotonic() + DEADLINE_S
        with self.changed:
            while True:
                found = [match for match in (re.search(pattern, line) for line in self.lines if line is not None) if match]
                if len(found) >= count:
                    return found[count - 1]
                if (self.lines and self.lines[-1] is None) or time.monotonic() > deadline:
                    raise AssertionError("%s did not log %r:\n%s" % (self.name, pattern, self.log()))
                self.changed.wait(0.5)

    def wait_exit(self):
        try:
            status = self.process.wait(DEADLINE_S)
        except subprocess.TimeoutExpired:
            raise AssertionError("%s does not end:\n%s" % (self.name, self.log()))
        self.reader.join(DEADLINE_S)
        self.process.stdout.close()
        return status

    def send_signal(self, number):
        self.process.send_signal(number)

    def freeze(self):
        """Stops every thread, and waits until they have stopped, because the signal takes effect later."""
        self.was_stopped = True
        self.send_signal(signal.SIGSTOP)
        wait_until(lambda: all(state == "T" for state in self.thread_states()), "%s does not stop" % self.name)

    def thread_states(self):
        for thread in os.listdir("/proc/%d/task" % self.pid):
            try:
                with open("/proc/%d/task/%s/stat" % (self.pid, thread)) as file:
                    yield file.read().rsplit(")", 1)[1].split()[0]
            except (FileNotFoundError, ProcessLookupError):  # it has exited meanwhile
                pass

    @contextlib.contextmanager
    def stopped_thread(self, name):
        """Stops one thread while the others run. The test is skipped where that is not permitted."""
        tasks = "/proc/%d/task" % self.pid
        thread = next(int(task) for task in os.listdir(tasks) if open("%s/%s/comm" % (tasks, task)).read().strip() == name)
        if ptrace(PTRACE_SEIZE, thread) != 0 or ptrace(PTRACE_INTERRUPT, thread) != 0:
            raise unittest.SkipTest("no thread can be stopped here")
        os.waitpid(thread, 0x40000000)  # __WALL
        self.was_stopped = True
        try:
            yield
        finally:
            ptrace(PTRACE_DETACH, thread)

    def stop(self, number=signal.SIGTERM):
        self.send_signal(number)
        return self.wait_exit()

    def cpu_seconds(self):
        with open("/proc/%d/stat" % self.pid) as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_bytes(self):
        with open("/proc/%d/statm" % self.pid) as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def descriptors(self):
        return len(os.listdir("/proc/%d/fd" % self.pid))

    def accepted(self, port):
        """The number of its TCP connections at a port; those that only the kernel has accepted have no inode."""
        with open("/proc/%d/net/tcp" % self.pid) as table:
            lines = [line.split() for line in table.readlines()[1:]]
        return sum(int(line[1].split(":")[1], 16) == port and line[3] != "0A" and line[9] != "0" for line in lines)


class Site:
    """A place for one server and its orchestrators."""

    def __init__(self, channel="ch"):
        self.folder = tempfile.mkdtemp(prefix="sf-offload-")
        self.runtime = os.path.join(self.folder, "runtime")
        os.mkdir(self.runtime, 0o700)
        self.reports = os.path.join(self.folder, "reports")
        self.channel = channel
        self.programs = []
        self.clients = []
        self.port = None
        self.server = None

    def start(self, name, *arguments, files=None):
        environment = dict(os.environ, SOFTFIELD_RUNTIME=self.runtime, SOFTFIELD_VALIDATE="1,file=" + self.reports)
        program = Program([os.path.join(PROGRAMS, "doca_dpu_gpu_remote_offload_" + name), *map(str, arguments)], environment,
                          files)
        self.programs.append(program)
        return program

    def start_server(self, *arguments, cpus=CPUS[:1], channel=None, port=0, wait=True, files=None):
        places = [text for cpu in cpus for text in ("--cpu", cpu)]
        self.server = self.start("server", "--device-id", "03:00.0", "--representor-id", "d8:00.0", "-p", port, "-c",
                                 channel or self.channel, *places, *arguments, files=files)
        if wait:
            self.server.wait_log("waiting for an orchestrator")
        return self.server

    def start_orchestrator(self, *arguments, queues=1, channel=None, wait=True):
        orchestrator = self.start("orchestrator", "--device-id", "d8:00.0", "--gpu-pci-addr", "b5:00.0", "--num-gpu-threads", queues,
                                  "-c", channel or self.channel, *arguments)
        if wait:
            orchestrator.wait_log("gpu kernel running")
            before = sum(1 for program in self.programs if program.name.endswith("orchestrator") and program.count("gpu kernel running"))
            self.port = int(self.server.wait_log(r"listening for clients on \S+ port (\d+)", before).group(1))
        return orchestrator

    def start_both(self, *arguments, cpus=CPUS[:1], server=(), orchestrator=()):
        self.start_server(*arguments, *server, cpus=cpus)
        return self.server, self.start_orchestrator(*arguments, *orchestrator, queues=len(cpus))

    def connect(self):
        self.clients.append(Client(self.port))
        return self.clients[-1]

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        for client in self.clients:
            client.close()
        for program in self.programs:
            if program.process.poll() is None:
                program.send_signal(signal.SIGCONT)
                program.send_signal(signal.SIGKILL)
                program.wait_exit()
        for program in self.programs:
            program.process.stdout.close()
        if kind is not None:
            for program in self.programs:
                sys.stderr.write("---- %s (%s)\n%s\n" % (program.name, program.process.returncode, program.log()))
        reports = self.read_reports()
        shutil.rmtree(self.folder, ignore_errors=True)
        assert kind is not None or not reports, "validation reports:\n" + reports

    def read_reports(self):
        if any(program.was_stopped for program in self.programs):  # others waited for it, which breaks rules
            return ""
        try:
            with open(self.reports) as file:
                return file.read()
        except FileNotFoundError:  # no program was started
            return ""


class Client:
    """One TCP connection that speaks frames."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), DEADLINE_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.pending = b""

    def send(self, data):
        self.socket.sendall(data)

    def receive(self):
        """The payload of the next frame; None if the server closed the connection."""
        while True:
            if len(self.pending) >= HEADER.size:
                size, message_id, length = HEADER.unpack_from(self.pending)
                assert size == length + HEADER.size and message_id in (REQUEST, 5), (size, message_id, length)
                if len(self.pending) >= size:
                    payload, self.pending = self.pending[HEADER.size:size], self.pending[size:]
                    return payload
            try:
                data = self.socket.recv(65536)
            except ConnectionError:
                return None
            if not data:
                assert not self.pending, "the server closed within a frame"
                return None
            self.pending += data

    def ask(self, payload):
        self.send(frame(payload))
        return self.receive()

    def close(self):
        self.socket.close()

    def reset(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


def wait_until(condition, what):
    """Polls, for a condition that no event announces, until the deadline. what: a text, or a function that returns one."""
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, what() if callable(what) else what
        select.select([], [], [], 0.01)


def unread(port, client):
    """Bytes that the server has not read yet from its socket for this client."""
    local = client.socket.getsockname()[1]
    with open("/proc/net/tcp") as file:
        for line in file.readlines()[1:]:
            fields = line.split()
            ports = [int(address.split(":")[1], 16) for address in fields[1:3]]
            if ports == [port, local]:
                return int(fields[4].split(":")[1], 16)
    return -1
