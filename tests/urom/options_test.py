#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Usage: options_test.py DAEMON WORKER PLUGIN_FOLDER CHATTY_PLUGIN. Tests each option of doca_urom_daemon by flag, by JSON file
and by variable, its help, and its messages about wrong values."""
import json, os, re, shutil, signal, socket, subprocess, sys, tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../system"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import urom_listeners
from waiting import await_line, wait_until

daemon, worker, plugins, chatty = (os.path.abspath(path) for path in sys.argv[1:5])
work = tempfile.mkdtemp()
wrong = []
VARIABLES = {
    "max-msg-size": "UROM_MAX_MSG_SIZE", "max-workers": "UROM_MAX_WORKERS", "bind": "UROM_BIND", "port": "UROM_PORT",
    "secret-file": "UROM_SECRET_FILE", "plugin-path": "UROM_PLUGIN_PATH", "log-level": "UROM_LOG_LEVEL",
    "sdk-log-level": "UROM_SDK_LOG_LEVEL", "max-worker-memory": "UROM_MAX_WORKER_MEMORY", "plugin-timeout": "UROM_PLUGIN_TIMEOUT",
}
GENERAL = ("log-level", "sdk-log-level")


def expect(condition, what):
    if not condition:
        wrong.append(what)


def json_file(options):
    path = os.path.join(work, "flags.json")
    with open(path, "w") as file:
        json.dump({"doca_general_flags": {name: value for name, value in options.items() if name in GENERAL},
                   "doca_program_flags": {name: value for name, value in options.items() if name not in GENERAL}}, file)
    return ["--json", path]


LIMIT_S = 30


def says(pattern):
    return lambda path, process: await_line(path, pattern, process.pid, limit_s=LIMIT_S) is not None


listening = says(r"listening on .* plugins$")


def listens_silently(path, process):
    return wait_until(lambda: process.poll() is not None or listens(process, "127.0.0.2"), LIMIT_S) and process.poll() is None


def run(args, variables, until=None):
    """Returns the daemon's exit code, or None if it was ended by SIGTERM after `until` held, and its output."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("UROM_")}
    environment.update(variables, SOFTFIELD_RUNTIME=os.path.join(work, "run"))
    out = open(os.path.join(work, "out"), "w+")
    process = subprocess.Popen([daemon] + args, env=environment, stdout=out, stderr=subprocess.STDOUT)
    ended_by_us = until is not None and until(out.name, process)
    if ended_by_us:
        process.send_signal(signal.SIGTERM)
    try:
        code = process.wait(LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        code = process.wait()
        wrong.append(f"{args} {variables}: still running: {open(out.name).read()}")
    return (None if ended_by_us and code == 0 else code), open(out.name).read()


def listens(process, address):
    try:
        return any(at == address for at, _ in urom_listeners.listeners(process.pid))
    except OSError:  # it has exited, which run() detects
        return False


def runs(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def said(way, options):
    """The arguments and variables that pass the options in one of the three ways."""
    if way == "flag":
        return [word for name, value in options.items() for word in (f"--{name}", str(value))], {}
    if way == "file":
        return json_file(options), {}
    return [], {VARIABLES[name]: str(value) for name, value in options.items()}


secret = os.path.join(work, "secret")
with open(os.open(secret, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
    file.write("a secret of many bytes, the same for all who may")

# ---- each of three ways ----
everything = {"port": 0, "bind": "127.0.0.2", "max-msg-size": 8192, "max-workers": 7, "secret-file": secret, "plugin-path": plugins,
              "max-worker-memory": 64, "plugin-timeout": 3}
for way in ("flag", "file", "variable"):
    args, variables = said(way, everything)
    code, text = run(args, variables, listening)
    expect(code is None, f"all by {way}: ended with {code}: {text}")
    for part in (r"listening on 127\.0\.0\.2 port [1-9]\d*, messages of 8192 bytes, at most 7 workers, 1 plugins",
                 r"plugin .*/worker_graph\.so, version 0x[0-9a-f]+, id 0x1"):
        expect(re.search(part, text), f"all by {way}: no {part} in: {text}")
    # the library logs a missing secret, and it has its own log level
    args, variables = said(way, {"secret-file": work + "/none", "port": 0})
    code, text = run(args, variables)
    expect(code == 1 and work + "/none" in text, f"a missing secret by {way}: {code}: {text}")
    args, variables = said(way, {"secret-file": work + "/none", "port": 0, "sdk-log-level": 10})
    code, text = run(args, variables)
    expect(code == 1 and work + "/none" not in text, f"sdk-log-level by {way}: {code}: {text}")
    # without log lines, the listening socket shows that the daemon runs
    args, variables = said(way, {"log-level": 10, "sdk-log-level": 10, "bind": "127.0.0.2", "port": 0, "secret-file": secret})
    code, text = run(args, variables, listens_silently)
    expect(code is None and text == "", f"log-level by {way}: {code}: {text}")

# ---- short names, as the UROM service has them ----
code, text = run(["-l", "60", "-m", "16384", "--port", "0"], {}, listening)
expect(code is None and "messages of 16384 bytes" in text, f"-l -m: {code}: {text}")

# ---- precedence of flag, file and variable ----
for args, variables, found in ((["-m", "8192"] + json_file({"max-msg-size": 16384}), {"UROM_MAX_MSG_SIZE": "32768"}, 8192),
                               (json_file({"max-msg-size": 16384}), {"UROM_MAX_MSG_SIZE": "32768"}, 16384),
                               ([], {"UROM_MAX_MSG_SIZE": "32768"}, 32768), ([], {"UROM_MAX_MSG_SIZE": ""}, 4096)):
    code, text = run(args + ["--port", "0"], variables, listening)
    expect(code is None and f"messages of {found} bytes" in text, f"{args} {variables}: not {found}: {text}")
code, text = run(["--port", "0", "-l", "50"], {"UROM_LOG_LEVEL": "10"}, listening)
expect(code is None and "listening on" in text, f"-l against UROM_LOG_LEVEL: {code}: {text}")

# ---- plugins of any name, in several folders; other files are ignored ----
for folder in ("one", "two folders"):
    os.mkdir(os.path.join(work, folder))
shutil.copy(os.path.join(plugins, "worker_graph.so"), os.path.join(work, "one", "libother_plugin.so"))
shutil.copy(os.path.join(plugins, "worker_graph.so"), os.path.join(work, "two folders", "worker_third.so"))
with open(os.path.join(work, "one", "notes.so"), "w") as file:
    file.write("no shared object")
code, text = run(["--port", "0"], {"UROM_PLUGIN_PATH": f"{work}/one/;{work}/nowhere;;{work}/two folders"}, listening)
expect(code is None and "2 plugins" in text and "libother_plugin.so, version" in text and "worker_third.so, version" in text,
       f"two plugins: {code}: {text}")
expect(len(re.findall(r"ignored .*notes\.so", text)) == 1 and "nowhere: No such file" in text, f"what is no plugin: {text}")

# ---- a plugin that prints when it is loaded is accepted; a broken one is ignored, with the reason ----
os.mkdir(os.path.join(work, "chatty"))
shutil.copy(chatty, os.path.join(work, "chatty", "worker_chatty.so"))
code, text = run(["--port", "0", "--plugin-path", work + "/chatty"], {}, listening)
expect(code is None and "1 plugins" in text and "worker_chatty.so, version 0x534600000001, id 0x1" in text, f"a plugin that prints: {code}: {text}")
for what, reason in (("exit", "loading it ended the process with status 0"), ("crash", "loading it crashed: Segmentation fault"),
                     ("fail", "urom_plugin_get_version of .*: DOCA_ERROR_NOT_SUPPORTED"), ("lack an operation", "lacks one of open, close, "),
                     ("be of another release", r"was built for release \d+ of the plugin interface, this is \d+: rebuild it"),
                     ("hang", "it did not load within 5 seconds")):
    code, text = run(["--port", "0", "--plugin-path", work + "/chatty"], {"CHATTY": what}, listening)
    expect(code is None and "0 plugins" in text and re.search(f"ignored .*worker_chatty.so: .*{reason}", text), f"to {what}: {code}: {text}")
code, text = run(["--port", "0", "--plugin-path", work + "/chatty"], {"CHATTY": "hang"}, says("is loaded by process"))
expect(code in (-signal.SIGTERM, None), f"SIGTERM while a plugin hangs: {code}: {text}")
looking = int(re.search(r"is loaded by process (\d+)", text)[1])
expect(wait_until(lambda: not runs(looking), LIMIT_S), "the process that loaded a plugin outlives the daemon")

# ---- IPv6: rejected, because UCX does not support it ----
code, text = run(["--bind", "::1"], {})
expect(code == 2 and "127.0.0.1" in text and len(text.splitlines()) == 1, f"IPv6 loopback: {code}: {text}")

# ---- wrong values: rejected with one line that says what is wrong ----
for name, value, text in (("port", "70000", "is 70000: it can be 0 to 65535"), ("max-msg-size", "10", "is 10: it can be"),
                          ("max-workers", "0", "is 0: it can be 1 to"),
                          ("max-worker-memory", "3", "is 3: it can be 0 or 16 to"), ("plugin-timeout", "-1", "is -1: it can be 0 to"), ("bind", "1" * 100, "has more than 63 bytes"),
                          ("bind", "not.an.address", '--bind is "not.an.address": it must be an IPv4'), ("log-level", "55", "55"), ("port", "12x", "12x"),
                          ("sdk-log-level", "200", "200")):
    for way in ("flag", "variable"):
        args, variables = said(way, {name: value})
        code, out = run(args, variables)
        lines = [line for line in out.splitlines() if text in line]
        expect(code == 2 and len(lines) == 1, f"{name} {value} by {way}: {code}: {out}")
        if way == "flag" and name != "bind":
            expect(len(out.splitlines()) == 2 and out.endswith("See `doca_urom_daemon --help`.\n"), f"{name} {value}: {out}")
        if way == "variable" and name != "bind":
            expect(VARIABLES[name] in out and len(out.splitlines()) == 1, f"{VARIABLES[name]} is not named, alone: {out}")
code, text = run(["--bind", "0.0.0.0"], {})
expect(code == 2 and "--secret-file" in text and len(text.splitlines()) == 1, f"any address without a secret: {text}")

# ---- a port that is in use, an address that this machine does not have: one line with the address and what to do ----
with socket.socket() as taken:
    taken.bind(("127.0.0.1", 0))
    taken.listen()
    port = taken.getsockname()[1]
    for args, where in (["--port", str(port)], f"127.0.0.1:{port}"), (["--bind", "192.0.2.1", "--secret-file", secret], "192.0.2.1:18650"):
        code, text = run(args, {"UCX_LOG_LEVEL": "fatal"})
        errors = [line for line in text.splitlines() if "[ERR]" in line]
        expect(code == 1 and len(errors) == 1 and f"cannot listen on {where}: " in errors[0] and "a free port" in errors[0],
               f"{args}: {code}: {text}")

# ---- fewer open files than UCX needs: one line, and no end by a signal ----
for few in (8, 10, 16, 31):
    found = subprocess.run(["sh", "-c", f'ulimit -n {few}; exec "$0" --port 0', daemon], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           text=True)
    expect(found.returncode == 1 and f"the limit of open files is {few}: the service needs" in found.stdout and len(found.stdout.splitlines()) == 1,
           f"{few} files: {found.returncode}: {found.stdout}")

# ---- help ----
help_text = subprocess.run([daemon, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
for name, variable in VARIABLES.items():
    lines = [line for line in help_text.splitlines() if f"--{name} " in line]
    expect(len(lines) == 1 and (name in GENERAL or f"[{variable}]" in lines[0]), f"help of --{name}: {lines}")
expect("-m, --max-msg-size" in help_text and "-l, --log-level" in help_text and "-j, --json" in help_text, "help: short names")
found = subprocess.run([worker, "--help"], stdout=subprocess.PIPE, text=True)
expect(found.returncode == 0 and all(flag in found.stdout for flag in ("--fd", "--probe", "SO_PATH:ID")), "the worker's help")
found = subprocess.run([worker], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
expect(found.returncode == 2 and "must be started by doca_urom_daemon" in found.stdout and found.stdout.endswith("See `doca_urom_worker --help`.\n"),
       f"the worker without arguments: {found.stdout}")
for args, text in (["--fd", "three"], "--fd takes a number"), (["--probe", "a.so", "b.so"], "takes no argument b.so"), (["--fdd=3"], "did you mean --fd?"):
    found = subprocess.run([worker, *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    expect(found.returncode == 2 and text in found.stdout and len(found.stdout.splitlines()) == 2, f"the worker with {args}: {found.stdout}")

shutil.rmtree(work)
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
