#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The conformance suite's cases of several processes, on three machines: network namespaces, each joined to each by a veth pair, without
a shared runtime folder. A case runs on the first one, its peers on the others. Usage: conformance_test.py PROGRAM IPv4|IPv6
"""
import os
import subprocess
import sys
import tempfile

from machines import SKIPPED, Machine, Skip, address_add, cable, enter

ADDRESSES = {"IPv4": ("10.79.0.1", "10.79.0.2", "10.79.0.3"), "IPv6": ("fd79::1", "fd79::2", "fd79::3")}
LENGTH = {"IPv4": "/32", "IPv6": "/128"}


def join(machines, addresses, length):
    """A machine has one address, on both its devices, and a route to each peer by the cable that leads to it."""
    for one, other in ((0, 1), (0, 2), (1, 2)):
        devices = {one: "to%d" % other, other: "to%d" % one}
        cable(machines[one], devices[one], machines[other], devices[other])
        for here, there in ((one, other), (other, one)):
            address_add(machines[here], devices[here], addresses[here] + length)
    for one, other in ((0, 1), (0, 2), (1, 2)):
        for here, there in ((one, other), (other, one)):
            machines[here].do("ip", "route", "add", addresses[there] + length, "dev", "to%d" % there, "src", addresses[here])


def listens(address):
    return "[%s]" % address if ":" in address else address


def run(root, program, family):
    machines = [Machine(root, "machine%d" % number, "") for number in range(3)]
    addresses = ADDRESSES[family]
    try:
        join(machines, addresses, LENGTH[family])
        first = machines[0]
        for name in ("SOFTFIELD_NODE", "SOFTFIELD_TOPOLOGY"):
            first.environment.pop(name)
        first.environment["SOFTFIELD_LISTEN"] = listens(addresses[0])
        first.environment["SOFTFIELD_TEST_MACHINES"] = " ".join(
            "%d,%s,%s" % (machine.keeper.pid, machine.folder, listens(address)) for machine, address in zip(machines[1:], addresses[1:]))
        return subprocess.run(first.within([program]), env=first.environment, check=False).returncode
    finally:
        for machine in machines:
            machine.end()


def main():
    if not enter():
        print("skipped: this user may not create network namespaces")
        return SKIPPED
    with tempfile.TemporaryDirectory() as root:
        try:
            return run(root, os.path.abspath(sys.argv[1]), sys.argv[2])
        except Skip as skip:
            print("skipped: %s" % skip)
            return SKIPPED


if __name__ == "__main__":
    sys.exit(main())
