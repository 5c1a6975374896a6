# SPDX-License-Identifier: BSD-3-Clause
"""The rows of docs/performance.md: what each measures, beside what, and what is wanted. bench/rows.py runs them."""
import json
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from typing import Callable, Optional

import rows_machine

TIMEOUT_S = 300
WARP = 32  # threads


class Failed(Exception):
    """A benchmark broke, or printed what this file does not expect."""


class Missing(Exception):
    """This machine, or this build, lacks what the row needs."""


@dataclass
class Figure:
    """One number of a row. `bound` is of the value, or of its ratio to the peer's; None: there is no bound."""
    name: str
    unit: str
    peer: Optional[str] = None
    bound: Optional[float] = None
    more_is_better: bool = True
    of_ratio: bool = False

    def wanted(self):
        if self.bound is None:
            return ""
        return f"{'at least' if self.more_is_better else 'at most'} {self.bound:g} {f'of {self.peer}' if self.of_ratio else self.unit}"

    def reached(self, value, ratio):
        if self.bound is None:
            return None
        number = ratio if self.of_ratio else value
        return number >= self.bound if self.more_is_better else number <= self.bound


@dataclass
class Row:
    """`measure` runs the benchmarks once and gives {figure: (value, peer's value or None)}."""
    name: str
    what: str
    before: str  # what was seen before this page existed
    figures: list
    measure: Callable
    programs: list = field(default_factory=list)
    gpu: bool = False
    cpus: int = 2
    runs: int = 5
    unchecked: str = ""  # what no number tells about the wish

    def verdict(self, words, reached):
        return words[reached] + (", by number" if reached and self.unchecked else "")


# ---- how the benchmarks are started, and read ----

def end_group(process):
    """Ends a program and all that it has started."""
    for number in signal.SIGTERM, signal.SIGKILL:
        try:
            os.killpg(process.pid, number)
            process.communicate(timeout=5)
            return
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue


class Run:
    """What a row's measure function starts programs with."""

    def __init__(self, programs, gpu, trial):
        self.programs, self.gpu, self.trial = programs, gpu, trial
        self.pair = rows_machine.pair()
        self.commands = []

    def output(self, argv, codes=(0,), cpus=None, shown=None):
        """The standard output of a program; argv[0] is its place in the build folder, or an absolute path."""
        kind = "cuda" if self.gpu and not self.trial else "soft"
        pinned = ["taskset", "-c", ",".join(map(str, sorted(cpus)))] if cpus else []
        text = " ".join(["SOFTFIELD_GPU=cuda"] * (kind == "cuda") + pinned + (shown or argv))
        if text not in self.commands:
            self.commands.append(text)
        with tempfile.TemporaryDirectory(prefix="rows-") as folder:
            env = dict(os.environ, **self.programs.env, SOFTFIELD_GPU=kind, SOFTFIELD_RUNTIME=folder)
            pin = (lambda: os.sched_setaffinity(0, cpus)) if cpus else None
            # In a session of its own, so that what a script has started ends with it.
            process = subprocess.Popen([self.programs.path(argv[0]), *argv[1:]], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                       env=env, preexec_fn=pin, start_new_session=True)
            try:
                out, errors = process.communicate(timeout=TIMEOUT_S)
            except subprocess.TimeoutExpired as error:
                raise Failed(f"{text}: no end after {TIMEOUT_S} s") from error
            finally:
                if process.poll() is None:
                    end_group(process)
        if process.returncode not in codes:
            raise Failed(f"{text}: exit status {process.returncode}: {(errors or out).strip()[-600:]}")
        return out

    def json(self, argv, **more):
        out = self.output(argv, **more)
        try:
            return json.loads(out)
        except ValueError as error:
            raise Failed(f"{' '.join(argv)} printed no JSON: {out[:200]!r}") from error

    def script(self, script, arguments):
        """One of the scripts beside this one: its JSON, printed or, for an argument OUT, written."""
        path = os.path.join(rows_machine.HERE, script)
        with tempfile.NamedTemporaryFile(prefix="rows-", suffix=".json") as file:
            argv = [sys.executable, path, "--build", self.programs.root, *(file.name if word == "OUT" else word for word in arguments)]
            shown = [f"bench/{script}", "--build", "BUILD", *(word if word != "OUT" else "OUT.json" for word in arguments)]
            out = self.output(argv, shown=shown)
            text = rows_machine.read(file.name) if "OUT" in arguments else out
        try:
            return json.loads(text)
        except ValueError as error:
            raise Failed(f"{' '.join(shown)} gave no JSON: {text[:200]!r}") from error


def line(text, pattern, what):
    """The numbers of the one line that matches."""
    found = re.findall(pattern, text, re.M)
    if len(found) != 1:
        raise Failed(f"{what} printed {len(found)} lines like {pattern!r}:\n{text[:600]}")
    return [float(number) for number in (found[0] if isinstance(found[0], tuple) else (found[0],))]


def entry(entries, program, /, **wanted):
    """The one entry of a benchmark's JSON with these fields."""
    found = [one for one in entries if all(one.get(key) == value for key, value in wanted.items())]
    if len(found) != 1 or not found[0].get("ok", True):
        raise Failed(f"{program}: {wanted} {'failed' if found else 'is not there'}: {json.dumps(entries)[:600]}")
    return found[0]


def backend_checked(run, entries, what):
    wanted = "soft" if run.trial else "cuda"
    if any(one.get("backend") != wanted for one in entries):
        raise Failed(f"{what} ran on {sorted({str(one.get('backend')) for one in entries})}, not on {wanted}")
    return entries


# ---- a GPU ----

def gpu_points(run, *points):
    """gpu_bench: scope, queues, bytes, messages under way, threads of a block."""
    argv = ["bench/gpu/gpu_bench", "--json", "--runs", "1", "--seconds", "0.2" if run.trial else "0.25"]
    for point in points:
        argv += ["--point", ",".join(map(str, point))]
    entries = backend_checked(run, run.json(argv), "gpu_bench")
    return [entry(entries, "gpu_bench", scope=scope, queues=queues, size=size, depth=depth, threads=threads)
            for scope, queues, size, depth, threads in points]


def thread_rate(run):
    one, eight, block_one, block_eight = gpu_points(run, ("thread", 1, 32, 64, 1), ("thread", 8, 32, 64, 1), ("block", 1, 48, 256, 128),
                                                    ("block", 8, 48, 256, 128))
    return {"1 queue": (one["messages_per_s"] / 1e6, block_one["messages_per_s"] / 1e6),
            "8 queues": (eight["messages_per_s"] / 1e6, block_eight["messages_per_s"] / 1e6)}


def thread_round_trip(run):
    thread, warp = gpu_points(run, ("thread", 1, 32, 1, 1), ("warp", 1, 32, 1, 32))
    return {"p50": (thread["p50_us"], warp["p50_us"])}


def block_rate(run):
    block, wide, pipe = gpu_points(run, ("block", 8, 48, 256, 128), ("block", 8, 48, 512, 256), ("pipe", 8, 48, 256, 128))
    return {"256 under way, 128 threads": (block["messages_per_s"] / 1e6, None),
            "512 under way, 256 threads": (wide["messages_per_s"] / 1e6, None),
            "two blocks a queue": (pipe["messages_per_s"] / 1e6, None)}


def rdma_points(run, *points, relaxed=False, threads=1):
    """gpu_rdma_bench: what, operation, bytes, queues."""
    argv = ["bench/gpu_rdma/gpu_rdma_bench", "--json", "--runs", "1", "--scale", "0.001" if run.trial else "0.3"]
    argv += ["--relaxed"] * relaxed
    if threads != 1:
        argv += ["--threads", str(threads)]
    for point in points:
        argv += ["--point", ",".join(map(str, point))]
    entries = backend_checked(run, run.json(argv), "gpu_rdma_bench")
    return [entry(entries, "gpu_rdma_bench", what=what, op=op, size=size, queues=queues, threads=threads)
            for what, op, size, queues in points]


def or_none(number):
    """The copy engine's numbers are 0 on the software GPU, which has none."""
    return number if number else None


def rdma_round_trip(run):
    write, = rdma_points(run, ("ping", "write", 8, 1))
    relaxed, = rdma_points(run, ("ping", "write", 8, 1), relaxed=True)
    warp, = gpu_points(run, ("warp", 1, 32, 1, 32))
    return {"p50": (write["p50_us"], warp["p50_us"]), "p50, relaxed ordering": (relaxed["p50_us"], warp["p50_us"])}


def rdma_rate(run):
    points = ("flood", "write", 8, 1), ("flood", "write", 8, 8)
    found = {}
    for threads, poster in (1, ""), (WARP, ", a warp posts"):
        for relaxed, suffix in (False, ""), (True, ", relaxed ordering"):
            for one, name in zip(rdma_points(run, *points, relaxed=relaxed, threads=threads), ("1 queue", "8 queues")):
                copies = or_none(one["copy_operations_per_s"])
                found[name + poster + suffix] = (one["operations_per_s"] / 1e6, copies and copies / 1e6)
    return found


def rdma_bandwidth(run):
    found = {}
    for name, threads, relaxed in (("1 queue", 1, False), ("1 queue, a warp posts", WARP, False),
                                   ("1 queue, a warp posts, relaxed ordering", WARP, True)):
        one, = rdma_points(run, ("flood", "write", 65536, 1), relaxed=relaxed, threads=threads)
        copies = or_none(one["copy_operations_per_s"])
        found[name] = (one["bytes_per_s"] / 1e9, copies and copies * 65536 / 1e9)
    return found


def rdma_send(run):
    send, = rdma_points(run, ("ping", "send", 8, 1))
    return {"p50": (send["p50_us"], or_none(send["copy_p50_us"]))}


# ---- remote offload ----

def offload(run, connections, arguments, requests):
    return run.script("remote_offload/run.py", ["--runs", "1", "--requests", str(2000 if run.trial else requests), "--connections",
                                               ",".join(map(str, connections)), *arguments, "--json", "OUT"])["points"]


def rates(points):
    return {f"{point['connections']} connections": (point["offload"]["operations_s"] / 1e6, point["echo"]["operations_s"] / 1e6)
            for point in points}


def offload_gpu(run):
    cpus = rows_machine.cpus()
    servers = cpus[-8:] if len(cpus) >= 16 else cpus[-1:]
    return rates(offload(run, (64, 256, 1024), ["--cpus", ",".join(map(str, cpus)), "--server-cpus", ",".join(map(str, servers)),
                                                "--client-threads", "8"], 8000000))


def on_pair(run):
    return ["--cpus", ",".join(map(str, run.pair)), "--server-cpus", str(run.pair[1])]


def offload_soft(run):
    return rates(offload(run, (64,), on_pair(run), 2000000))


def clock_pause(cpu, seconds, pipe):
    """The longest time between two looks at the clock, of a loop that does nothing else on this CPU."""
    os.sched_setaffinity(0, {cpu})
    longest, last = 0, time.monotonic_ns()
    end = last + int(seconds * 1e9)
    while last < end:
        now = time.monotonic_ns()
        longest = max(longest, now - last)
        last = now
    pipe.send(longest)


def longest_clock_pause(cpus, seconds):
    """Milliseconds, of loops on each of these CPUs at a time."""
    loops = []
    for cpu in cpus:
        here, there = multiprocessing.Pipe()
        loop = multiprocessing.Process(target=clock_pause, args=(cpu, seconds, there))
        loop.start()
        loops.append((loop, here))
    longest = max(pipe.recv() for _, pipe in loops)
    for loop, _ in loops:
        loop.join()
    return longest / 1e6


def offload_longest(run):
    steal, began = rows_machine.ticks()[1], time.monotonic()
    point, = offload(run, (1,), on_pair(run) + ["--depth", "1"], 500000)
    took = time.monotonic() - began
    stolen = rows_machine.ticks()[1] - steal
    return {"p99.99": (point["offload"]["p99_99_us"] / 1e3, point["echo"]["p99_99_us"] / 1e3),
            "longest": (point["offload"]["max_us"] / 1e3, point["echo"]["max_us"] / 1e3),
            "longest pause of a loop that reads the clock": (longest_clock_pause(run.pair, min(took, 10)), None),
            "taken by the hypervisor meanwhile": (stolen * 1e3, None)}


# ---- CPUs ----

def allreduce(run):
    if shutil.which("mpirun") is None:
        raise Missing("mpirun is not installed")
    found = run.script("urom_allreduce/run", ["--ranks", "4", "--bytes", "65536", "--seconds", "0.1", "--json"])
    return {"latency": (found["urom_us"], found["mpi_us"])}


def sync_event(run):
    rounds, exchanges = ("3", "2000") if run.trial else ("9", "200000")
    # It exits with 1 where its own, looser bound is missed.
    out = run.output(["bench/sync_event/bench_sync_event", rounds, exchanges], codes=(0, 1), cpus=set(run.pair))
    number = r" +([\d.]+) ns one way"
    bare, = line(out, r"^bare cache line" + number, "bench_sync_event")
    calls, = line(out, r"^set and wait, calls" + number, "bench_sync_event")
    tasks, = line(out, r"^set and wait, tasks" + number, "bench_sync_event")
    return {"set and wait by calls": (calls, bare), "by tasks": (tasks, bare)}


def dma(run):
    out = run.output(["bench/dma/bench_dma"], codes=(0, 1), cpus=set(run.pair))
    rate = r": ([\d.]+) GB/s, memcpy ([\d.]+) GB/s, ratio "
    return {way: tuple(line(out, f"^1 MiB, {way} another process{rate}", "bench_dma")) for way in ("from", "to")}


def send_receive(run):
    cpus = ",".join(map(str, run.pair))
    count = "4000" if run.trial else "100000"
    rdma = run.json(["tools/softfield/softfield", "perf", "rdma", "--json", "--op", "send", "--size", "64K", "--test", "bandwidth", "--count",
                     count, "--cpus", cpus])
    sent = entry(rdma["results"], "softfield perf rdma", size=65536)["bytes_per_s"] / 1e9

    def comch_bench(test, depth, receives):
        return run.json(["bench/comch/comch_bench", test, "--size", "65536", "--count", count, "--depth", depth, "--receives", receives,
                         "--cpus", cpus])["bytes_per_s"] / 1e9

    copied, streamed, copied_more = comch_bench("copy", "1", "1"), comch_bench("stream", "4", "8"), comch_bench("copy", "4", "8")
    found = {"RDMA": (sent, copied), "Comch, 12 buffers": (streamed, copied_more)}
    if shutil.which("ucx_perftest") is not None and not run.trial:
        pair = run.script("rdma/run", ["--repeat", "1", "--cpus", cpus, "--only", "send 64 KiB", "--json"])["results"][0]
        found["RDMA, beside UCX"] = (pair["softfield"], pair["ucx"])
    return found


# ---- the table ----

GPU_BENCH, RDMA_BENCH = "bench/gpu/gpu_bench", "bench/gpu_rdma/gpu_rdma_bench"
OFFLOAD = ["apps/remote_offload/doca_dpu_gpu_remote_offload_server", "apps/remote_offload/doca_dpu_gpu_remote_offload_orchestrator",
           "apps/remote_offload/doca_dpu_gpu_remote_offload_client", "bench/echo_server/echo_server", "tools/softfield/softfield",
           "bench/remote_offload/run.py"]

ROWS = [
    Row("thread-rate", "messages to a kernel and back, thread scope: one CUDA thread for each queue, 32 B, 64 under way", "0.16 and 0.63 M/s",
        [Figure("1 queue", "M/s", "block scope", 0.5), Figure("8 queues", "M/s", "block scope", 3)],
        thread_rate, [GPU_BENCH], gpu=True, unchecked="the published orchestrator itself is not run. The kernel has its loop and calls, but does not look into messages"),
    Row("thread-round-trip", "the same, one message of 32 B to and fro", "10.7 us",
        [Figure("p50", "us", "warp scope", 5, False)], thread_round_trip, [GPU_BENCH], gpu=True),
    Row("comch-block-rate", "messages to a kernel and back, block scope, 8 queues, 48 B", "60 to 65 M/s",
        [Figure("256 under way, 128 threads", "M/s", None, 100), Figure("512 under way, 256 threads", "M/s"), Figure("two blocks a queue", "M/s")],
        block_rate, [GPU_BENCH], gpu=True, cpus=9),
    Row("gpu-rdma-round-trip", "RDMA write of 8 B from a kernel, seen by the peer and answered by one", "9.9 us",
        [Figure("p50", "us", "Comch at warp scope", 4, False), Figure("p50, relaxed ordering", "us", "Comch at warp scope")],
        rdma_round_trip, [RDMA_BENCH, GPU_BENCH], gpu=True),
    Row("gpu-rdma-rate", "RDMA writes of 8 B from a kernel, 64 for each commit", "0.18 and 1.4 M/s",
        [Figure("1 queue", "M/s", "copy engine", 2), Figure("8 queues", "M/s", "copy engine", 15),
         Figure("1 queue, relaxed ordering", "M/s", "copy engine"), Figure("8 queues, relaxed ordering", "M/s", "copy engine"),
         Figure("1 queue, a warp posts", "M/s", "copy engine", 2), Figure("8 queues, a warp posts", "M/s", "copy engine", 15),
         Figure("1 queue, a warp posts, relaxed ordering", "M/s", "copy engine"),
         Figure("8 queues, a warp posts, relaxed ordering", "M/s", "copy engine")],
        rdma_rate, [RDMA_BENCH], gpu=True),
    Row("gpu-rdma-bandwidth", "RDMA writes of 64 KiB from a kernel, 16 for each commit", "6.8 GB/s",
        [Figure("1 queue", "GB/s", "copy engine", 20), Figure("1 queue, a warp posts", "GB/s", "copy engine", 20),
         Figure("1 queue, a warp posts, relaxed ordering", "GB/s", "copy engine")], rdma_bandwidth, [RDMA_BENCH], gpu=True),
    Row("gpu-rdma-send", "RDMA send of 8 B from a kernel, answered by one", "24.6 us",
        [Figure("p50", "us", "one copy by the copy engine", 6, False)], rdma_send, [RDMA_BENCH], gpu=True,
        unchecked="a host thread takes part, and none should"),
    Row("offload-gpu", "remote offload with a real GPU, 8 server threads, 8 client threads, 32 in flight on each connection", "0.53, 0.68, 0.59",
        [Figure(f"{count} connections", "M/s", "an echo server", 0.85, of_ratio=True) for count in (64, 256, 1024)],
        offload_gpu, OFFLOAD, gpu=True, cpus=16),
    Row("offload-soft", "remote offload with the software GPU on 2 CPUs, 32 in flight on each connection", "0.74 to 0.82",
        [Figure("64 connections", "M/s", "an echo server", 0.9, of_ratio=True)], offload_soft, OFFLOAD, runs=7),
    Row("offload-longest", "500,000 requests through the remote offload, one after the other, software GPU, idle machine",
        "longest 42 ms once, else 0.2 to 2.6 ms",
        [Figure("p99.99", "ms", "an echo server", 5, False), Figure("longest", "ms", "an echo server"),
         Figure("longest pause of a loop that reads the clock", "ms"), Figure("taken by the hypervisor meanwhile", "ms")],
        offload_longest, OFFLOAD),
    Row("urom-allreduce", "UROM allreduce of 64 KiB over 4 ranks", "607 us",
        [Figure("latency", "us", "Open MPI", 170, False)], allreduce,
        ["bench/urom_allreduce/run", "bench/urom_allreduce/urom_allreduce_bench", "apps/urom/doca_urom_daemon", "apps/urom/doca_urom_worker",
         rows_machine.PLUGIN]),
    Row("sync-event", "sync event, set until the other process's wait sees it, two cores of one socket", "2.03 on 16 cores, 1.3 on 2",
        [Figure("set and wait by calls", "ns", "a bare cache line", 1.5, False, True), Figure("by tasks", "ns", "a bare cache line")],
        sync_event, ["bench/sync_event/bench_sync_event"]),
    Row("dma-other-process", "DMA of 1 MiB from and to another process", "0.875 to 0.895 on 16 cores",
        [Figure("from", "GB/s", "memcpy", 0.95, of_ratio=True), Figure("to", "GB/s", "memcpy", 0.95, of_ratio=True)],
        dma, ["bench/dma/bench_dma"]),
    Row("send-receive", "send and receive of 64 KiB between two processes", "1.8 to 1.9 of UCX",
        [Figure("RDMA", "GB/s", "memcpy", 0.95, of_ratio=True), Figure("RDMA, beside UCX", "GB/s", "UCX"),
         Figure("Comch, 12 buffers", "GB/s", "memcpy")],
        send_receive, ["tools/softfield/softfield", "bench/comch/comch_bench", "bench/rdma/run"]),
]
BY_NAME = {row.name: row for row in ROWS}
