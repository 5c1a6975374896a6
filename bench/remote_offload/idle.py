#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What idle connections cost the remote offload server: memory of all its parts, and throughput of others beside them.

    bench/remote_offload/idle.py --build build --idle 4000 --json result.json

Memory is the resident size of server and orchestrator together, with and without the idle connections, each of which has asked
once and had its answer. Throughput is measured by the same client in pairs, with and without them, one right after the other,
in turn with the one and with the other first, and only when the server has opened or closed them all. The ratio is the median
of the pairs' ratios; beside it stands the same median of pairs without idle connections on either side, which is what the
machine's noise makes of no cost at all.
"""
import json
import os
import resource
import socket
import statistics
import struct
import sys
import tempfile
import time

import run

RUNS = 9  # pairs
REQUESTS = 300000


def resident_bytes(programs):
    total = 0
    for _, _, process in programs.running:
        with open(f"/proc/{process.pid}/statm") as stream:
            total += int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return total


class Idle:
    """The idle connections, which are there or not."""

    def __init__(self, server_pid, port, count, size):
        self.port, self.count, self.size = port, count, size
        self.fds = f"/proc/{server_pid}/fd"
        self.base = len(os.listdir(self.fds))
        self.sockets = []

    def settle(self):
        """Until the server has all of them, or none."""
        deadline = time.monotonic() + run.DEADLINE_S
        while len(os.listdir(self.fds)) != self.base + len(self.sockets):
            if time.monotonic() > deadline:
                sys.exit(f"the server has {len(os.listdir(self.fds)) - self.base} idle connections, not {len(self.sockets)}")
            time.sleep(0.02)

    def open(self):
        request = struct.pack(">III", self.size + 12, 4, self.size) + b"x" * self.size
        for _ in range(self.count):
            client = socket.create_connection(("127.0.0.1", self.port), run.DEADLINE_S)
            self.sockets.append(client)
            client.sendall(request)
            answer = b""
            while len(answer) < len(request):
                part = client.recv(len(request) - len(answer))
                if not part:
                    sys.exit("the server closed an idle connection")
                answer += part
        self.settle()

    def close(self):
        for client in self.sockets:
            client.close()
        self.sockets = []
        self.settle()


def ratio_of(pairs):
    return statistics.median(second / first for first, second in pairs)


def main():
    parser = run.parser(__doc__)
    parser.add_argument("--idle", type=int, default=4000, help="idle connections")
    parser.add_argument("--server", choices=("offload", "echo"), default="offload", help="echo: what the kernel alone makes of it")
    parser.set_defaults(runs=RUNS, requests=REQUESTS, connections="64")
    options = parser.parse_args()
    connections = int(options.connections.split(",")[0])
    os.sched_setaffinity(0, {int(cpu) for cpu in options.cpus.split(",")})
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

    with tempfile.TemporaryDirectory() as folder:
        os.environ["SOFTFIELD_RUNTIME"] = folder
        programs = run.Programs(folder)

        def rate():
            return run.measure(options, port, connections)["operations_s"]

        try:
            port = (run.start_offload if options.server == "offload" else run.start_echo)(programs, options)
            rate()
            idle = Idle(programs.running[0][2].pid, port, options.idle, options.size)
            before = resident_bytes(programs)
            idle.open()
            with_idle = resident_bytes(programs)
            pairs, noise = [], []
            for _ in range((options.runs + 1) // 2):
                beside = rate()
                idle.close()
                pairs.append((rate(), beside))
                noise.append((rate(), rate()))
                alone = rate()
                idle.open()
                pairs.append((alone, rate()))
        finally:
            programs.stop()

    result = {
        "idle_connections": options.idle,
        "resident_bytes": with_idle,
        "idle_bytes": with_idle - before,
        "operations_s": statistics.median(beside for _, beside in pairs),
        "operations_s_without": statistics.median(alone for alone, _ in pairs),
        "ratio": ratio_of(pairs),
        "ratios": sorted(beside / alone for alone, beside in pairs),
        "pairs": pairs,
        "noise": ratio_of(noise),
        "noises": sorted(second / first for first, second in noise),
    }
    print(f"{options.idle} idle connections: {result['idle_bytes'] / 1e6:.1f} MB more, {with_idle / 1e6:.1f} MB in all "
          f"({' and '.join(name for name, _, _ in programs.running)}); {result['operations_s'] / 1e6:.3f} M/s beside them, {result['operations_s_without'] / 1e6:.3f} without: "
          f"ratio {result['ratio']:.2f} (median of {len(pairs)} pairs, {result['ratios'][0]:.2f} to {result['ratios'][-1]:.2f}; "
          f"without any: {result['noise']:.2f}, {result['noises'][0]:.2f} to {result['noises'][-1]:.2f})")
    if options.json:
        with open(options.json, "w") as stream:
            json.dump(result, stream, indent=1)
            stream.write("\n")


if __name__ == "__main__":
    main()
