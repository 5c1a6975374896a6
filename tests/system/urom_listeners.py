#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What UROM's processes listen on.
Usage: urom_listeners.py ADDRESS NUM PID    of the daemon PID and its workers, NUM processes in all, the daemon alone listens, on ADDRESS
       urom_listeners.py DAEMON PROGRAM     of a daemon for its own machine and its workers nothing does, nor of PROGRAM, a client that
                                            has its workers until SIGINT"""
import glob, ipaddress, os, signal, subprocess, sys, tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
from waiting import await_line

LISTEN = "0A"


def address_of(text):
    """Groups of four bytes, each in the machine's byte order."""
    return ipaddress.ip_address(b"".join(bytes.fromhex(text[at:at + 8])[::-1] for at in range(0, len(text), 8)))


def sockets(pid):
    links = []
    for fd in glob.glob(f"/proc/{pid}/fd/*"):
        try:
            links.append(os.readlink(fd))
        except FileNotFoundError:
            pass
    return {link[8:-1] for link in links if link.startswith("socket:[")}


def listeners(pid):
    own, found = sockets(pid), []
    for table in ("tcp", "tcp6"):
        for row in open(f"/proc/{pid}/net/{table}").read().splitlines()[1:]:
            fields = row.split()
            if fields[3] == LISTEN and fields[9] in own:
                address, port = fields[1].split(":")
                found.append((str(address_of(address)), int(port, 16)))
    return found


def check(address, num, daemon, clients=()):
    children = open(f"/proc/{daemon}/task/{daemon}/children").read().split()
    spawners = [pid for pid in children if open(f"/proc/{pid}/comm").read() == "urom_spawner\n"]  # it has only one socket
    wrong = len(children) - len(spawners) + 1 != num
    if wrong:
        print(f"FAILED: {num} processes were expected, the daemon has {len(children) - len(spawners)} workers")
    for pid in [str(daemon), *children, *clients]:
        found = listeners(pid)
        name = os.path.basename(os.readlink(f"/proc/{pid}/exe"))
        print(f"{name} {pid}: " + ", ".join(f"{at} port {port}" for at, port in found))
        expected = [address] if pid == str(daemon) and address else []
        if [at for at, _ in found] != expected:
            print(f"FAILED: it should listen on {expected}")
            wrong = True
    return 1 if wrong else 0


def await_said(path, pattern, process):
    found = await_line(path, pattern, process.pid)
    if found is None:
        sys.exit(f"FAILED: no {pattern}: {open(path).read()}")
    return found


def end(processes):
    codes = []
    for process in reversed(processes):
        process.send_signal(signal.SIGINT)
        codes.append(process.wait(60))
    return any(codes)


def loopback(daemon_program, program):
    processes = []
    with tempfile.TemporaryDirectory() as work:
        services = os.path.join(work, "services")
        environment = {name: value for name, value in os.environ.items() if not name.startswith("UCX_")}
        environment.update(SOFTFIELD_RUNTIME=os.path.join(work, "run"), SOFTFIELD_NODE="host0", DOCA_UROM_SERVICE_FILE=services)

        def start(*command):
            with open(os.path.join(work, f"out{len(processes)}"), "w") as out:
                processes.append(subprocess.Popen(command, env=environment, stdout=out, stderr=subprocess.STDOUT))
            return out.name

        try:
            out = start(daemon_program, "--port", "0")
            port = await_said(out, r"listening on 127\.0\.0\.1 port (\d+)", processes[0])[1]
            with open(services, "w") as file:
                file.write(f"localhost dpu 127.0.0.1:{port} d8:00.0 lo\n")
            out = start("stdbuf", "-oL", program)
            await_said(out, r"group 1 has 2 workers", processes[1])
            code = check(None, 5, processes[0].pid, [str(processes[1].pid)])
        except BaseException:
            end(processes)
            raise
        if end(processes):
            print("FAILED: the daemon, or its client, did not end well")
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(check(sys.argv[1], int(sys.argv[2]), sys.argv[3]) if len(sys.argv) == 4 else loopback(*sys.argv[1:3]))
