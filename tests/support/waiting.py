# SPDX-License-Identifier: BSD-3-Clause
"""Waiting, for tests in Python. These are their only sleeps (tests/rules_test.py)."""
import re
import subprocess
import time

LIMIT_S = 60  # only a hang takes longer, even on a busy machine
STEP_S = 0.02


def wait_until(condition, limit_s=LIMIT_S):
    """Polls until the condition holds, for what has no event: a file of /proc, a counter of a device. Returns the condition's value."""
    end = time.monotonic() + limit_s
    while True:
        holds = condition()
        if holds or time.monotonic() >= end:
            return holds
        time.sleep(STEP_S)


def await_line(path, pattern, pid, count=1, limit_s=LIMIT_S):
    """The match of the line with which a file, which process `pid` writes, has `count` lines that match; None when the process ended without
    it, or the limit passed. inotify notifies tail of each write."""
    command = ["timeout", str(limit_s), "tail", "-n", "+1", "-f", "--pid=%d" % pid, path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as tail:
        try:
            for line in tail.stdout:
                found = re.search(pattern, line)
                count -= found is not None
                if found and count == 0:
                    return found
            return None
        finally:
            tail.terminate()


def time_pass(seconds):
    """For a test about a span of time: a cable that is out for that long."""
    time.sleep(seconds)
