#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Remote offload against the plain echo server: the same client, frames and CPUs, in turn, and the ratio of the medians.

    bench/remote_offload/run.py --build build --json result.json
    bench/remote_offload/plot.py result.json docs/remote_offload.svg

Both servers run one thread on the same CPU, and everything else is held to the other CPUs of --cpus: the client of either side,
and the software GPU. Each number is the median of --runs
runs; the two sides alternate, so that what else the machine does meets both.
"""
import argparse
import json
import os
import re
import shlex
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

TWO_CPUS = [str(cpu) for cpu in (sorted(os.sched_getaffinity(0)) * 2)[:2]]
DEADLINE_S = 60


def parser(description):
    """The options that the benchmarks of this folder share."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="build folder")
    parser.add_argument("--runs", type=int, default=5, help="runs of each side for a number, at least 5 for one to quote")
    parser.add_argument("--connections", default="1,4,16,64,256,1024", help="counts, with commas")
    parser.add_argument("--depth", type=int, default=32)
    parser.add_argument("--concurrent", type=int, default=512, help="--max-concurrent-messages of server and orchestrator")
    parser.add_argument("--size", type=int, default=64, help="bytes of a message")
    parser.add_argument("--requests", type=int, default=1000000, help="requests of a run")
    parser.add_argument("--client-threads", type=int, default=1, help="threads of the client, which share the connections and requests")
    parser.add_argument("--server-cpus", default=TWO_CPUS[1], help="CPUs of the server threads, with commas")
    parser.add_argument("--cpus", default=",".join(TWO_CPUS), help="all CPUs that anything may use")
    parser.add_argument("--server-flags", default="", help="more flags for the server")
    parser.add_argument("--orchestrator-flags", default="", help="more flags for the orchestrator")
    parser.add_argument("--json", help="write the result here")
    return parser


def other_cpus(options):
    """Those that no server thread is pinned to: for the client of either side, and the software GPU."""
    cpus = {int(cpu) for cpu in options.cpus.split(",")}
    return cpus - {int(cpu) for cpu in options.server_cpus.split(",")} or cpus


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Programs:
    """Programs that run beside the client, each with a log file."""

    def __init__(self, folder):
        self.folder = folder
        self.running = []

    def start(self, name, argv, cpus=None):
        log = os.path.join(self.folder, name + ".log")
        pin = (lambda: os.sched_setaffinity(0, cpus)) if cpus else None
        with open(log, "w") as stream:
            self.running.append((name, log, subprocess.Popen(argv, stdout=stream, stderr=subprocess.STDOUT, preexec_fn=pin)))
        return log

    def check(self):
        for name, log, process in self.running:
            if process.poll() is not None:
                sys.exit(f"{name} ended early with {process.returncode}:\n{open(log).read()}")

    def wait_port(self, port):
        deadline = time.monotonic() + DEADLINE_S
        while True:
            self.check()
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except OSError:
                if time.monotonic() > deadline:
                    sys.exit(f"nobody listens on port {port} after {DEADLINE_S} s")
                time.sleep(0.05)

    def stop(self):
        # The orchestrator, started last, goes first: it asks the server to let go of its consumers.
        for _, _, process in reversed(self.running):
            process.send_signal(signal.SIGINT)
            try:
                process.wait(DEADLINE_S)
            except subprocess.TimeoutExpired:
                process.kill()


def start_echo(programs, options):
    argv = [f"{options.build}/bench/echo_server/echo_server", "-p", "0", "--max-message-length", str(options.size + 4)]
    for cpu in options.server_cpus.split(","):
        argv += ["--cpu", cpu]
    log = programs.start("echo_server", argv)
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        programs.check()
        found = re.search(r"listening on port (\d+)\n", open(log).read())
        if found:
            return int(found.group(1))
        time.sleep(0.05)
    sys.exit("the echo server does not listen")


def start_offload(programs, options):
    port = free_port()
    softfield = f"{options.build}/tools/softfield/softfield"
    apps = f"{options.build}/apps/remote_offload"
    limits = ["--max-message-length", str(options.size + 4), "--max-concurrent-messages", str(options.concurrent)]
    server = [softfield, "run", "--node", "dpu0", "--", f"{apps}/doca_dpu_gpu_remote_offload_server", "--device-id", "03:00.0",
              "--representor-id", "d8:00.0", "-p", str(port)] + limits + shlex.split(options.server_flags)
    cpus = options.server_cpus.split(",")
    for cpu in cpus:
        server += ["--cpu", cpu]
    programs.start("server", server)
    programs.start("orchestrator", [softfield, "run", "--node", "host0", "--", f"{apps}/doca_dpu_gpu_remote_offload_orchestrator",
                                    "--device-id", "d8:00.0", "--gpu-pci-addr", "b5:00.0", "--num-gpu-threads",
                                    str(len(cpus))] + limits + shlex.split(options.orchestrator_flags), other_cpus(options))
    programs.wait_port(port)
    return port


def measure(options, port, connections):
    argv = [f"{options.build}/apps/remote_offload/doca_dpu_gpu_remote_offload_client", "-s", "127.0.0.1", "-p", str(port),
            "-t", str(options.client_threads), "-i", str(options.requests // options.client_threads),
            "--connections", str(max(1, connections // options.client_threads)), "--max-concurrent-messages", str(options.depth),
            "--message-size", str(options.size), "--warm-up", str(options.requests // options.client_threads // 10), "--json-stats"]
    cpus = other_cpus(options)
    done = subprocess.run(argv, capture_output=True, text=True, preexec_fn=lambda: os.sched_setaffinity(0, cpus))
    if done.returncode != 0:
        sys.exit(f"the client failed:\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def median_of(results):
    def of(pick):
        return statistics.median(pick(result) for result in results)

    return {
        "operations_s": of(lambda result: result["operations_s"]),
        "p50_us": of(lambda result: result["latency_us"]["p50"]),
        "p99_us": of(lambda result: result["latency_us"]["p99"]),
        "p99_99_us": of(lambda result: result["latency_us"]["p99.99"]),
        "max_us": of(lambda result: result["latency_us"]["max"]),
    }


def main():
    options = parser(__doc__).parse_args()
    os.sched_setaffinity(0, {int(cpu) for cpu in options.cpus.split(",")})
    points = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SOFTFIELD_RUNTIME"] = folder
        programs = Programs(folder)
        try:
            ports = {"echo": start_echo(programs, options), "offload": start_offload(programs, options)}
            print(f"{'connections':>11} {'echo M/s':>9} {'offload M/s':>11} {'ratio':>6} {'echo p99 us':>12} {'offload p99 us':>14}")
            for connections in (int(count) for count in options.connections.split(",")):
                results = {side: [] for side in ports}
                for _ in range(options.runs):
                    for side, port in ports.items():
                        results[side].append(measure(options, port, connections))
                point = {"connections": connections, **{side: median_of(runs) for side, runs in results.items()}}
                point["ratio"] = point["offload"]["operations_s"] / point["echo"]["operations_s"]
                points.append(point)
                print(f"{connections:>11} {point['echo']['operations_s'] / 1e6:>9.3f} {point['offload']['operations_s'] / 1e6:>11.3f} "
                      f"{point['ratio']:>6.2f} {point['echo']['p99_us']:>12.1f} {point['offload']['p99_us']:>14.1f}", flush=True)
        finally:
            programs.stop()
    if options.json:
        with open(options.json, "w") as stream:
            json.dump({"depth": options.depth, "concurrent": options.concurrent, "message_bytes": options.size, "runs": options.runs, "cpus": options.cpus,
                       "server_cpus": options.server_cpus, "points": points}, stream, indent=1)
            stream.write("\n")


if __name__ == "__main__":
    main()
