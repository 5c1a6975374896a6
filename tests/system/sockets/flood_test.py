#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A peer makes the same mistake over and over: few lines are logged, and they report how many were suppressed.

Usage: flood_test.py Stranger|Agent|Client"""
import os
import re
import shutil
import sys
import tempfile

from listening_sockets_test import Comch, Rdma, Talker, Verbs, offload
from raw_bytes import listeners, receive, send

CLIENTS = 12  # at a time: the agent keeps at most 16 callers of one process that have not sent a request
HANDSHAKE_MAGIC, REFUSAL_MAGIC = b"SFCH", b"SFCR"


def connected(at):
    made = at.connect()
    while made is None:  # its queue is full
        made = at.connect()
    made.settimeout(offload.DEADLINE_S)
    return made


class Stranger(Verbs):
    """Callers from the network without the token."""

    flood = 1500
    line = "rejected a peer on the network"

    def wrong(self):
        made = connected(self.tcp[0])
        made.sendall(self.question)
        assert made.recv(1) == b"", "a stranger was answered"
        made.close()
        return 1


class Agent(Rdma):
    """A process of the same user that requests memory with a wrong token."""

    flood = 1500
    line = "may not attach a region"
    asking = None

    def wrong(self):
        if self.asking is None:
            handshake, self.question = next((heard[0][0], heard[1][0]) for heard in self.conversations
                                        if heard.name.startswith("a-") and len(heard) > 1)
            self.asking = connected(next(at for at in listeners(self.pids()[0]) if os.path.basename(at.address).startswith("a-")))
            self.asking.send(handshake)
            assert self.asking.recv(4096), "no welcome"
        self.asking.send(self.question)
        assert self.asking.recv(70000), "no answer"
        return 1

    def end(self):
        self.asking.close()
        super().end()


class Client(Comch):
    """Clients of a Comch server whose first message is not Comch's."""

    flood = 500
    line = "invalid handshake of [0-9]+ bytes"

    def wrong(self):
        good = next(heard for heard in self.conversations if HANDSHAKE_MAGIC in heard[0][0])
        connect, fds = good[0]
        server = next(at for at in listeners(self.pids()[0]) if os.path.basename(at.address) == good.name)
        made = [connected(server) for _ in range(CLIENTS)]
        for each in made:
            assert send(each, connect.replace(HANDSHAKE_MAGIC, b"hoax"), fds)
        while made:  # the server's program accepts clients now and then
            self.begin()
            self.check()
            for each in list(made):
                message = receive(each)
                if message is not None and (not message[0] or REFUSAL_MAGIC in message[0]):
                    each.close()
                    made.remove(each)
        return CLIENTS


class Log:
    """What a program printed to standard error."""

    def __init__(self, path):
        self.path = path

    def count(self, pattern):
        """How many lines match, and how many more were suppressed according to other lines of the same place in the source."""
        with open(self.path) as file:
            lines = file.read().splitlines()
        places = {re.search(r"\[(\w+\.c:\d+)\]", line)[1] for line in lines if re.search(pattern, line)}
        suppressed = sum(int(said[2]) for line in lines
                         if (said := re.search(r"\[(\w+\.c:\d+)\].* (\d+) more of this kind suppressed in the last \d+ s$", line))
                         and said[1] in places)
        return sum(1 for line in lines if re.search(pattern, line)), suppressed


def main():
    target_class = {"Stranger": Stranger, "Agent": Agent, "Client": Client}[sys.argv[1]]
    folder = tempfile.mkdtemp(prefix="sf-flood-")
    os.environ["SOFTFIELD_LOG"] = "warning"
    Talker.log = os.path.join(folder, "log")
    log = Log(Talker.log)
    target = None
    try:
        target = target_class(folder)
        target.begin()
        target.check()
        total = sum(log.count(target.line))  # in the recording
        wrongs = 0
        while wrongs < target.flood:
            wrongs += target.wrong()
        total += wrongs
        logged, _ = log.count(target.line)
        assert 0 < logged < target.flood // 5, "%d lines were logged" % logged
        # The flood just stops; the count of what was suppressed must be logged nevertheless.
        offload.wait_until(lambda: sum(log.count(target.line)) == total, "%s lines and suppressed ones are not %d" % (log.count(target.line), total))
        target.end()
        print("%d lines logged, %d suppressed" % log.count(target.line))
        assert sum(log.count(target.line)) == total
    finally:
        if target is not None:
            target.close()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
