#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What happens to two machines' programs when the network between them, or one of them, fails.

A host and a DPU with a router between them, each a network namespace. Each case has its own pair and disturbs it under traffic of
all kinds. Every operation completes with the right bytes, or fails with the documented status in time, on both sides. Then
nothing is left behind, and the pair connects again. Usage: network_faults_test.py SOFTFIELD FAULT_PEER [CASE...]
"""
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

from fault_pair import LIMIT_S, SLACK_S, WAIT_S, Pair, await_first
from machines import SKIPPED, Skip, enter
from waiting import time_pass, wait_until

WORKERS = 4  # they mostly wait
SHORT_S = 0.3  # a pause that TCP survives
PARTITION_S = 10
ANSWER_S = 5  # limit for a process that is asked where it listens
STOP_S = 6  # longer than any limit of a peer's answer
SEED = int(os.environ.get("SOFTFIELD_TEST_SEED", "1"))
MEETINGS = 4
MEETING_S = 0.06  # what connecting takes
RESETS = 40
RESET_S = 0.03


def summary(took):
    sides = {}
    for name, seconds in took.items():
        sides.setdefault(name.split()[0], []).append("%s %.1f s" % (name.split()[1], seconds))
    return "; ".join("%s: %s" % (side, ", ".join(flows)) for side, flows in sides.items())


def failures(pair):
    return " ".join(sorted({"%s %s %s" % (flow, what, status) for program in pair.both()
                            for flow, ends in program.failures().items() for what, status in ends}))


# ---- cases: each begins while the pair has traffic, and returns what to report


def cable_out_for_a_moment(pair):
    """No connection ends."""
    pair.cable_pull(False)
    time_pass(SHORT_S)
    pair.cable_pull(True)
    pair.rounds(10)
    return "nothing ends %s" % failures(pair)


def cable_out(pair):
    began = time.monotonic()
    pair.cable_pull(False)
    took = pair.over(began)
    pair.cable_pull(True)
    return summary(took)


def cable_loose(pair):
    """The cable is pulled many times, never for long: no connection ends."""
    for _ in range(10):
        pair.cable_pull(False)
        time_pass(SHORT_S / 6)
        pair.cable_pull(True)
        pair.rounds(1)
    assert [line for line in pair.on_dpu.said() if line.startswith("over")] == [], pair.on_dpu.story()
    return "nothing ends %s" % failures(pair)


def partition_for_ten_seconds(pair):
    began = time.monotonic()
    pair.black_hole(True)
    took = pair.over(began)
    time_pass(max(0, PARTITION_S - (time.monotonic() - began)))
    pair.black_hole(False)
    return summary(took)


def partition_without_traffic(pair):
    """Both sides learn of it although there is no traffic."""
    pair.pause()
    began = time.monotonic()
    pair.black_hole(True)
    took = pair.over(began, flows=("comch", "data", "rdma"))
    pair.on_dpu.command("go")  # the next copy fails
    pair.on_dpu.await_line("over dma")
    pair.check_statuses()
    pair.black_hole(False)
    return summary(took)


def partition_that_is_waited_for(pair):
    """The time limit permits it, so no connection ends."""
    pair.black_hole(True)
    time_pass(3 * LIMIT_S)
    pair.black_hole(False)
    pair.rounds(3)
    for program in pair.both():
        assert program.failures() == {}, program.story()
    return "nothing ends"


def partition_one_way(pair, to):
    """The packets of one direction are lost; those of the other arrive."""
    began = time.monotonic()
    pair.black_hole(True, (to,))
    took = pair.over(began)
    pair.black_hole(False, (to,))
    return summary(took)


def partition_to_host(pair):
    return partition_one_way(pair, "host0")


def partition_to_dpu(pair):
    return partition_one_way(pair, "dpu0")


def partition_while_they_meet(pair):
    """At any moment of connecting: the side that waits gets an error in time, and everything can be closed."""
    moments = random.Random(SEED)
    slowest, met = 0, 0
    pair.part()
    for _ in range(MEETINGS):
        pair.on_dpu.say("meet")
        pair.on_dpu.await_line("listening")
        pair.on_host.say("meet")
        time_pass(moments.uniform(0, MEETING_S))
        pair.black_hole(True)
        began = time.monotonic()
        slowest = max(slowest, pair.on_host.await_line("over comch", LIMIT_S + SLACK_S) - began)
        met += pair.on_host.find("met") is not None
        pair.part()
        pair.black_hole(False)
    pair.meet()
    return "%d attempts to connect, of which %d succeeded, the slowest end took %.1f s" % (MEETINGS, met, slowest)


def partition_for_good(pair):
    """Every attempt to connect fails with an error, and everything can be closed."""
    began = time.monotonic()
    pair.black_hole(True)
    took = pair.over(began)
    pair.part()
    pair.on_dpu.say("meet")
    pair.on_dpu.await_line("listening")
    pair.on_host.say("meet")
    asked = time.monotonic()
    took["host0 call"] = pair.on_host.await_line("over comch") - asked
    pair.part()
    pair.black_hole(False)
    pair.meet()
    return summary(took)


def reset_by_the_network(pair):
    began = time.monotonic()
    pair.router.nft("meta l4proto tcp reject with tcp reset")
    took = pair.over(began)
    pair.router.nft_end()
    return summary(took)


def reset_by_the_administrator(pair):
    """Resets all connections of the host's service and programs. A DMA flow with no copy in flight reconnects and continues."""
    began = time.monotonic()
    killed = subprocess.run(pair.host.within(["ss", "-K", "-t", "state", "established"]), check=True, stdout=subprocess.PIPE,
                            text=True).stdout
    if ADDRESS_MARK not in killed:
        raise Skip("ss -K ends nothing here: the kernel is without INET_DIAG_DESTROY")
    return summary(pair.over(began, flows=("comch", "data", "rdma")))


def reset_while_they_meet(pair):
    """At any moment of connecting, on either side: either the host and the DPU connect, or one of them gets an error, and everything
    can be closed. Connections are reset one after the other, so one that is made meanwhile stays. Only the DPU learns of a
    failed import."""
    moments = random.Random(SEED)
    slowest, met = 0, 0
    pair.part()
    for _ in range(RESETS):
        pair.on_dpu.say("meet")
        pair.on_dpu.await_line("listening")
        pair.on_host.say("meet")
        time_pass(moments.uniform(0, RESET_S))
        subprocess.run(moments.choice((pair.host, pair.dpu)).within(["ss", "-K", "-t"]), check=True, stdout=subprocess.DEVNULL)
        began = time.monotonic()
        met += await_first(*((pair.on_host, text) for text in ("met", "over comch", "over data", "over rdma")),
                           (pair.on_dpu, "over rdma"))[1] == "met"
        slowest = max(slowest, time.monotonic() - began)
        pair.part()
    pair.meet()
    return "%d attempts to connect, of which %d succeeded, the slowest end took %.1f s" % (RESETS, met, slowest)


ADDRESS_MARK = "10.77."


def half_open(pair):
    """One machine disappears for the other as for itself: no FIN and no RST arrives."""
    began = time.monotonic()
    pair.address_drop()
    took = pair.over(began)
    pair.address_add(pair.dpu)
    return summary(took)


def packets_are_lost(pair):
    """One packet of twenty is lost, in both directions: no connection ends."""
    pair.router.nft("numgen random mod 20 == 0 drop")
    pair.rounds(20)
    pair.router.nft_end()
    return "nothing ends %s" % failures(pair)


def full_packets_are_dropped(pair):
    """Small packets pass, and no ICMP message explains why larger ones do not. The DPU still receives the host's short messages."""
    began = time.monotonic()
    pair.router.nft("meta length > 1000 drop")
    took = pair.over(began)
    pair.router.nft_end()
    return summary(took)


def stopped(pair):
    """A reader stops for longer than the limit and continues. No flow ends except the copy, which has waited for a second."""
    pair.pause()
    pair.on_host.process.send_signal(signal.SIGSTOP)
    pair.on_dpu.command("go")  # the first operation is a write: if it is long, it exceeds what the sockets hold
    pair.on_dpu.await_line("over dma")
    time_pass(STOP_S)
    assert [line for line in pair.on_dpu.said() if line.startswith("over")] == ["over dma"], pair.on_dpu.story()
    pair.on_host.process.send_signal(signal.SIGCONT)
    pair.rounds(10)
    pair.check_statuses()
    return "only dma ends: %s" % failures(pair)


def stopped_server(pair):
    """A connect to a stopped process fails with an error from its machine, in the same time as on one machine."""
    pair.part()
    pair.on_dpu.say("meet")
    pair.on_dpu.await_line("listening")
    pair.on_dpu.process.send_signal(signal.SIGSTOP)
    pair.on_host.say("meet")
    asked = time.monotonic()
    took = pair.on_host.await_line("over comch", ANSWER_S + SLACK_S) - asked
    assert "did not answer in time" in pair.on_host.story(), pair.on_host.story()
    pair.on_host.say("part")
    pair.on_host.await_line("parted")
    pair.on_dpu.process.send_signal(signal.SIGCONT)
    pair.on_dpu.say("part")
    pair.on_dpu.await_line("parted")
    pair.meet()
    return "host0: call %.1f s" % took


def stopped_and_killed(pair):
    pair.on_host.process.send_signal(signal.SIGSTOP)
    pair.on_dpu.await_line("over dma")
    began = time.monotonic()
    pair.on_host.process.kill()
    pair.on_host.process.wait()
    took = {"dpu0 " + flow: pair.on_dpu.await_line("over " + flow, WAIT_S) - began for flow in ("comch", "data", "rdma")}
    pair.check_statuses()
    pair.programs.remove(pair.on_host)
    pair.on_dpu.say("part")
    pair.on_dpu.await_line("parted")
    pair.on_host = pair.program(pair.host, "host")
    pair.meet()
    return summary(took)


def another_address(pair):
    """The DPU's machine gets another address, to which its name then resolves: the host's program finds it there."""
    pair.part()
    pair.on_dpu.quit()
    pair.programs.remove(pair.on_dpu)
    pair.dpu.node.terminate()
    pair.dpu.node.wait()
    pair.dpu.node.stdout.close()
    pair.address_drop()
    pair.addresses["dpu0"] = "10.77.2.3"
    pair.address_add(pair.dpu)
    pair.names_write(("host0", "dpu0"))
    pair.dpu.serve(pair.softfield)
    pair.on_dpu = pair.program(pair.dpu, "dpu")
    calls = pair.meet_in_the_end()
    pair.rounds()
    return "found by call %d" % calls


def name_not_known_yet(pair):
    """A program of the host begins before the DPU machine's name can be resolved."""
    pair.part()
    pair.on_host.quit()
    pair.programs.remove(pair.on_host)
    pair.names_write(("host0",))
    pair.on_host = pair.program(pair.host, "host")
    pair.on_host.say("meet")
    pair.on_host.await_line("over comch")
    pair.on_host.say("part")
    pair.on_host.await_line("parted")
    pair.names_write(("host0", "dpu0"))
    calls = pair.meet_in_the_end()
    pair.rounds()
    return "found by call %d" % calls


PATIENT = {"timeout_ms": 60000}  # for cases in which no connection may end although a busy machine is slow to end the fault
CASES = {  # the longest first
    "partition for ten seconds": (partition_for_ten_seconds, {}),
    "stopped, much under way": (stopped, {"length": 16 << 20}),
    "stopped": (stopped, {}),
    "partition for good": (partition_for_good, {}),
    "partition without traffic": (partition_without_traffic, {}),
    "partition while they meet": (partition_while_they_meet, {}),
    "partition to the host": (partition_to_host, {"length": 16 << 20}),
    "partition to the DPU": (partition_to_dpu, {"length": 16 << 20}),
    "cable out": (cable_out, {}),
    "cable out, IPv6": (cable_out, {"family": "IPv6"}),
    "half-open": (half_open, {}),
    "half-open, IPv6": (half_open, {"family": "IPv6"}),
    "full packets are dropped": (full_packets_are_dropped, {}),
    "reset by the network": (reset_by_the_network, {}),
    "reset by the network, much under way": (reset_by_the_network, {"length": 16 << 20}),
    "reset by the administrator": (reset_by_the_administrator, {}),
    "reset while they meet": (reset_while_they_meet, {}),
    "cable out for a moment": (cable_out_for_a_moment, PATIENT),
    "cable out for a moment, much under way": (cable_out_for_a_moment, {"length": 16 << 20, **PATIENT}),
    "loose cable": (cable_loose, PATIENT),
    "packets are lost": (packets_are_lost, PATIENT),
    "partition that is waited for": (partition_that_is_waited_for, PATIENT),
    "another address": (another_address, {"has_names": True}),
    "name not known yet": (name_not_known_yet, {"has_names": True}),
    "stopped server": (stopped_server, {}),
    "stopped and killed": (stopped_and_killed, {}),
}


def check_tools(case):
    needs = {reset_by_the_network: "nft", full_packets_are_dropped: "nft",
             packets_are_lost: "nft", reset_by_the_administrator: "ss", reset_while_they_meet: "ss"}.get(case)
    if needs is not None and shutil.which(needs) is None:
        raise Skip("there is no %s" % needs)


def check_leaks(pair, before):
    """A service closes the connection of a peer that sends nothing, as after a network failure, after three seconds."""
    wait_until(lambda: pair.holds() == before, WAIT_S)
    after = pair.holds()
    for who, held in before.items():
        assert after[who] == held, "%s had %s, and has %s" % (who, held, after[who])


def run_case(root, programs, number, name):
    case, options = CASES[name]
    check_tools(case)
    pair = Pair(os.path.join(root, str(number)), programs, **options)
    try:
        pair.good_cycle()
        before = pair.holds()
        pair.meet()
        pair.rounds()
        said = case(pair)
        pair.part()
        pair.good_cycle()
        check_leaks(pair, before)
        for program in pair.both():
            program.quit()
        assert pair.files() == pair.files_before, pair.files()
        return said
    finally:
        pair.end()


print_lock = threading.Lock()


def attempt(*arguments):
    """'ok', 'skipped' or 'FAILED'."""
    began = time.monotonic()
    try:
        result, said = "ok", run_case(*arguments)
    except Skip as skip:
        result, said = "skipped", str(skip)
    except Exception:  # pylint: disable=broad-except
        result, said = "FAILED", traceback.format_exc()
    with print_lock:
        print("%s: %s, %.0f s: %s" % (result, arguments[-1], time.monotonic() - began, said), flush=True)
    return result


def main():
    if not enter():
        print("skipped: this user may not make network namespaces")
        return SKIPPED
    names = sys.argv[3:] or list(CASES)
    programs = [os.path.abspath(path) for path in sys.argv[1:3]]
    with tempfile.TemporaryDirectory() as root, ThreadPoolExecutor(WORKERS) as pool:
        results = list(pool.map(lambda numbered: attempt(root, programs, *numbered), enumerate(names)))
    print("%d passed, %d failed, %d skipped" % tuple(results.count(result) for result in ("ok", "FAILED", "skipped")))
    return 1 if "FAILED" in results else 0 if "ok" in results else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
