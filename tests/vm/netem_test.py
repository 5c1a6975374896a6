#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two machines' programs over a bad network: packets are lost, delayed, reordered and duplicated (tc netem).

The machines connect over it, every operation completes with the right bytes, in order and once, and nothing is left behind. Skips
if the kernel has no sch_netem. Run it by `meson test --suite vm`, or directly inside a virtual machine. SOFTFIELD_TEST_SLOW
shortens it for an emulated machine. Usage: netem_test.py SOFTFIELD FAULT_PEER [CASE...]
"""
import os
import subprocess
import sys
import tempfile
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "machines"))

from fault_pair import Pair  # pylint: disable=wrong-import-position
from machines import SKIPPED, Namespace, enter  # pylint: disable=wrong-import-position

ROUNDS = 10 if os.environ.get("SOFTFIELD_TEST_SLOW") else 50
# Such a network is sometimes silent for longer than the default limit.
os.environ.setdefault("SOFTFIELD_PEER_TIMEOUT", "60000")
DELAY = "delay 20ms 10ms"
CASES = {
    "loss": "loss 5%",
    "delay": DELAY,
    "reordering": DELAY + " reorder 25% 50%",
    "duplication": "duplicate 5%",
    "all of it": DELAY + " reorder 25% 50% loss 5% duplicate 5%",
}


def has_netem():
    place = Namespace()
    try:
        said = subprocess.run(place.within(["tc", "qdisc", "add", "dev", "lo", "root", "netem", "loss", "1%"]), check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except FileNotFoundError as error:
        return str(error)
    finally:
        place.end()
    return None if said.returncode == 0 else said.stdout.strip() or "tc ended with %d" % said.returncode


def make_bad(pair, how):
    """In both directions. Each packet is one on the wire, not several that the kernel passes on as one."""
    for machine, device in ((pair.host, "net"), (pair.dpu, "net"), (pair.router, "host0"), (pair.router, "dpu0")):
        machine.do("ip", "link", "set", "dev", device, "gso_max_segs", "1")
    for device in ("host0", "dpu0"):
        pair.router.do("tc", "qdisc", "add", "dev", device, "root", "netem", *how.split())


def statistics(pair):
    said = subprocess.run(pair.router.within(["tc", "-s", "qdisc", "show", "dev", "dpu0"]), check=True, stdout=subprocess.PIPE,
                          text=True).stdout
    return " ".join(said.split("Sent")[1].split("backlog")[0].split())


def run_case(root, programs, how):
    pair = Pair(root, programs)
    try:
        make_bad(pair, how)
        pair.good_cycle()
        before = pair.holds()
        pair.meet()
        pair.rounds(ROUNDS)
        for program in pair.both():
            assert program.failures() == {}, program.story()
            assert not [line for line in program.said() if line.startswith("over")], program.story()
        pair.part()
        assert pair.holds() == before, "%s before, %s after" % (before, pair.holds())
        for program in pair.both():
            program.quit()
        return statistics(pair)
    finally:
        pair.end()


def main():
    if not enter():
        print("skipped: this user may not make network namespaces")
        return SKIPPED
    reason = has_netem()
    if reason is not None:
        print("skipped: no netem here: %s" % reason)
        return SKIPPED
    programs, failed = [os.path.abspath(path) for path in sys.argv[1:3]], 0
    names = sys.argv[3:] or list(CASES)
    with tempfile.TemporaryDirectory() as root:
        for name in names:
            try:
                print("ok: %s: %s" % (name, run_case(os.path.join(root, name), programs, CASES[name])), flush=True)
            except Exception:  # pylint: disable=broad-except
                failed += 1
                print("FAILED: %s: %s" % (name, traceback.format_exc()), flush=True)
    print("%d passed, %d failed" % (len(names) - failed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
