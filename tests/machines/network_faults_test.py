#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What happens to two machines' programs when the network between them, or one of them, fails.

A host and a DPU with a router between them, each a network namespace. Each case has a pair of its own, and disturbs it under traffic of
all kinds: every operation completes with the right bytes, or fails with the documented status in time, on both sides; then nothing is
left behind, and the pair meets again. Usage: network_faults_test.py SOFTFIELD FAULT_PEER [CASE...]
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

WORKERS = 4  # most of the time they wait
SHORT_S = 0.3  # a pause that TCP survives
PARTITION_S = 10
ANSWER_S = 5  # of a process that is asked where it listens
STOP_S = 6  # longer than any limit of a peer's answer
SEED = int(os.environ.get("SOFTFIELD_TEST_SEED", "1"))
MEETINGS = 4
MEETING_S = 0.06  # what a meeting takes
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


# ---- cases: each begins while the pair is under traffic, and returns what is to be told


def cable_out_for_a_moment(pair):
    """Everything goes on."""
    pair.cable_pull(False)
    time.sleep(SHORT_S)
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
    """In and out, many times, and never out for long: everything goes on."""
    for _ in range(10):
        pair.cable_pull(False)
        time.sleep(SHORT_S / 6)
        pair.cable_pull(True)
        pair.rounds(1)
    assert [line for line in pair.on_dpu.said() if line.startswith("over")] == [], pair.on_dpu.story()
    return "nothing ends %s" % failures(pair)


def partition_for_ten_seconds(pair):
    began = time.monotonic()
    pair.black_hole(True)
    took = pair.over(began)
    time.sleep(max(0, PARTITION_S - (time.monotonic() - began)))
    pair.black_hole(False)
    return summary(took)


def partition_without_traffic(pair):
    """Both learn of it all the same."""
    pair.pause()
    began = time.monotonic()
    pair.black_hole(True)
    took = pair.over(began, flows=("comch", "data", "rdma"))
    pair.on_dpu.tell("go")  # the next copy fails
    pair.on_dpu.await_line("over dma")
    pair.check_statuses()
    pair.black_hole(False)
    return summary(took)


def partition_that_is_waited_for(pair):
    """The time limit allows for it, so everything goes on."""
    pair.black_hole(True)
    time.sleep(3 * LIMIT_S)
    pair.black_hole(False)
    pair.rounds(3)
    for program in pair.both():
        assert program.failures() == {}, program.story()
    return "nothing ends"


def partition_one_way(pair, to):
    """The packets of one direction are lost, and those of the other come."""
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
    """At any moment: whoever waits for the other is told in time, and everything can be closed."""
    moments = random.Random(SEED)
    slowest, met = 0, 0
    pair.part()
    for _ in range(MEETINGS):
        pair.on_dpu.say("meet")
        pair.on_dpu.await_line("listening")
        pair.on_host.say("meet")
        time.sleep(moments.uniform(0, MEETING_S))
        pair.black_hole(True)
        began = time.monotonic()
        slowest = max(slowest, pair.on_host.await_line("over comch", LIMIT_S + SLACK_S) - began)
        met += pair.on_host.find("met") is not None
        pair.part()
        pair.black_hole(False)
    pair.meet()
    return "of %d meetings %d came about, the slowest end took %.1f s" % (MEETINGS, met, slowest)


def partition_for_good(pair):
    """Nobody comes through, and is told so; everything can be closed."""
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
    """All of the host's connections, the service's and the programs'. A copy that is not under way just then connects anew, and goes on."""
    began = time.monotonic()
    killed = subprocess.run(pair.host.within(["ss", "-K", "-t", "state", "established"]), check=True, stdout=subprocess.PIPE,
                            text=True).stdout
    if ADDRESS_MARK not in killed:
        raise Skip("ss -K ends nothing here: the kernel is without INET_DIAG_DESTROY")
    return summary(pair.over(began, flows=("comch", "data", "rdma")))


def reset_while_they_meet(pair):
    """At any moment, on either side: the host meets the DPU or one of them is told that it does not, and everything can be closed.

    Connections are reset one after the other, so one that is made meanwhile stays. The DPU alone knows of an import that failed."""
    moments = random.Random(SEED)
    slowest, met = 0, 0
    pair.part()
    for _ in range(RESETS):
        pair.on_dpu.say("meet")
        pair.on_dpu.await_line("listening")
        pair.on_host.say("meet")
        time.sleep(moments.uniform(0, RESET_S))
        subprocess.run(moments.choice((pair.host, pair.dpu)).within(["ss", "-K", "-t"]), check=True, stdout=subprocess.DEVNULL)
        began = time.monotonic()
        met += await_first(*((pair.on_host, text) for text in ("met", "over comch", "over data", "over rdma")),
                           (pair.on_dpu, "over rdma"))[1] == "met"
        slowest = max(slowest, time.monotonic() - began)
        pair.part()
    pair.meet()
    return "of %d meetings %d came about, the slowest end took %.1f s" % (RESETS, met, slowest)


ADDRESS_MARK = "10.77."


def half_open(pair):
    """One machine is not there any more, for the other as for itself: no FIN and no RST comes."""
    began = time.monotonic()
    pair.address_drop()
    took = pair.over(began)
    pair.address_add(pair.dpu)
    return summary(took)


def packets_are_lost(pair):
    """One of twenty, in both directions: everything goes on."""
    pair.router.nft("numgen random mod 20 == 0 drop")
    pair.rounds(20)
    pair.router.nft_end()
    return "nothing ends %s" % failures(pair)


def full_packets_are_dropped(pair):
    """Small ones go through, and no ICMP says why the others do not. So the DPU goes on hearing the host's short messages."""
    began = time.monotonic()
    pair.router.nft("meta length > 1000 drop")
    took = pair.over(began)
    pair.router.nft_end()
    return summary(took)


def stopped(pair):
    """A reader that stops for longer than the limit, and goes on: so does everything but the copy, which has waited for a second."""
    pair.pause()
    pair.on_host.process.send_signal(signal.SIGSTOP)
    pair.on_dpu.tell("go")  # the first thing is a write: more than the sockets hold, if it is long
    pair.on_dpu.await_line("over dma")
    time.sleep(STOP_S)
    assert [line for line in pair.on_dpu.said() if line.startswith("over")] == ["over dma"], pair.on_dpu.story()
    pair.on_host.process.send_signal(signal.SIGCONT)
    pair.rounds(10)
    pair.check_statuses()
    return "only dma ends: %s" % failures(pair)


def stopped_server(pair):
    """Who calls a process that is stopped is told so by its machine, in the time that holds on one machine."""
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
    """The DPU's machine goes on at another address, where its name leads from then on: the host's program finds it there."""
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
    """A program of the host begins before anybody knows the DPU's machine."""
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


PATIENT = {"timeout_ms": 60000}  # where everything is to go on, and a busy machine is slow to end the fault
CASES = {  # the long ones first
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
    """A service closes the connection of somebody who says nothing, as when the network has failed, after three seconds."""
    end = time.monotonic() + WAIT_S
    while pair.holds() != before and time.monotonic() < end:
        time.sleep(0.1)
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
