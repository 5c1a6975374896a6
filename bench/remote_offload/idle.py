#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What idle connections cost the remote offload server: memory of all its parts, and throughput of others beside them.

    bench/remote_offload/idle.py --build build --idle 4000 --json result.json

Memory is the resident size of server and orchestrator together, with and without the idle connections, each of which has asked
once and had its answer. Throughput is measured in turn with and without them, by the same client; medians of --runs.
"""
import json
import os
import resource
import socket
import statistics
import struct
import tempfile

import run


def resident_bytes(programs):
    total = 0
    for _, _, process in programs.running:
        with open(f"/proc/{process.pid}/statm") as stream:
            total += int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return total


def connect_idle(port, count, size):
    request = struct.pack(">III", size + 12, 4, size) + b"x" * size
    sockets = []
    for _ in range(count):
        client = socket.create_connection(("127.0.0.1", port), run.DEADLINE_S)
        client.sendall(request)
        answer = b""
        while len(answer) < len(request):
            answer += client.recv(len(request) - len(answer))
        sockets.append(client)
    return sockets


def main():
    parser = run.parser(__doc__)
    parser.add_argument("--idle", type=int, default=4000, help="idle connections")
    options = parser.parse_args()
    connections = int(options.connections.split(",")[0])
    os.sched_setaffinity(0, {int(cpu) for cpu in options.cpus.split(",")})
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SOFTFIELD_RUNTIME"] = folder
        programs = run.Programs(folder)
        try:
            port = run.start_offload(programs, options)
            run.measure(options, port, connections)
            before = resident_bytes(programs)
            idle = connect_idle(port, options.idle, options.size)
            with_idle = resident_bytes(programs)
            rates = {"without": [], "with": []}
            for _ in range(options.runs):
                rates["with"].append(run.measure(options, port, connections)["operations_s"])
                for client in idle:
                    client.close()
                rates["without"].append(run.measure(options, port, connections)["operations_s"])
                idle = connect_idle(port, options.idle, options.size)
        finally:
            programs.stop()
    result = {
        "idle_connections": options.idle,
        "resident_bytes": with_idle,
        "idle_bytes": with_idle - before,
        "operations_s": statistics.median(rates["with"]),
        "operations_s_without": statistics.median(rates["without"]),
    }
    result["ratio"] = result["operations_s"] / result["operations_s_without"]
    print(f"{options.idle} idle connections: {result['idle_bytes'] / 1e6:.1f} MB more, {with_idle / 1e6:.1f} MB in all (server and "
          f"orchestrator); {result['operations_s'] / 1e6:.3f} M/s beside them, {result['operations_s_without'] / 1e6:.3f} without: "
          f"ratio {result['ratio']:.2f}")
    if options.json:
        with open(options.json, "w") as stream:
            json.dump(result, stream, indent=1)
            stream.write("\n")


if __name__ == "__main__":
    main()
