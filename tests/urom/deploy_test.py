#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Usage: deploy_test.py DEPLOY_FOLDER DAEMON PLUGIN_FOLDER. Checks the files in deploy/ with the tools that are installed, and
runs the daemon as each file does. Exits with 77 if a tool is missing and everything else is right."""
import json, os, re, shlex, shutil, signal, subprocess, sys, tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
from waiting import await_line

folder = sys.argv[1]
missing, wrong = [], []
work = tempfile.mkdtemp()
# The files use folders without blanks in their names; the programs' real folders may have blanks.
daemon, plugins = os.path.join(work, "doca_urom_daemon"), os.path.join(work, "urom-plugins")
os.symlink(os.path.abspath(sys.argv[2]), daemon)
os.symlink(os.path.abspath(sys.argv[3]), plugins)
installed = {"/usr/local/bin/doca_urom_daemon": daemon, "/usr/local/lib/softfield/urom-plugins": plugins}


def expect(condition, what):
    if not condition:
        wrong.append(what)


help_text = subprocess.run([daemon, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
variables = set(re.findall(r"\[(UROM_\w+)\]", help_text)) | {"UROM_LOG_LEVEL", "UROM_SDK_LOG_LEVEL"}
environment_page = open(os.path.join(folder, "..", "docs", "environment.md")).read()


def expect_variables(names, where):
    for name in names:
        expect(name in variables or name == "SERVICE_ARGS" or f"`{name}`" in environment_page, f"{where}: nothing reads {name}")


def here(text):
    for path, own in installed.items():
        text = text.replace(path, own)
    return text


def expect_to_listen(command, environment, where, found):
    """Runs the command with the environment on a free port. It must print what it listens on, and exit with 0 after SIGTERM."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("UROM_")}
    path = os.path.join(work, "out")
    with open(path, "w") as out:
        process = subprocess.Popen(command, env={**own, **environment, "UROM_PORT": "0"}, stdout=out, stderr=subprocess.STDOUT)
    await_line(path, "listening on .* plugins$", process.pid, limit_s=30)
    process.send_signal(signal.SIGTERM)
    try:
        code = process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        code = process.wait()
    text = open(path).read()
    expect(code == 0 and re.search(found, text), f"{where}: no {found}, ended with {code}: {text}")


# ---- systemd ----
unit = open(os.path.join(folder, "doca-urom.service")).read()
if shutil.which("systemd-analyze"):
    path = os.path.join(work, "doca-urom.service")
    with open(path, "w") as file:  # the program is not installed here
        file.write(here(unit))
    result = subprocess.run(["systemd-analyze", "verify", "--man=no", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    mine = [line for line in result.stdout.splitlines() if "doca-urom" in line]
    expect(result.returncode == 0 and not mine, "systemd-analyze verify: " + result.stdout)
else:
    missing.append("systemd-analyze")
settings = dict(re.findall(r"^Environment=(\w+)=(.*)$", unit, re.M))
expect_variables(settings, "unit")
expect(settings["SOFTFIELD_RUNTIME"] == "/run/" + re.search(r"^RuntimeDirectory=(.*)$", unit, re.M)[1], "unit: RuntimeDirectory")
command = shlex.split(here(re.search(r"^ExecStart=(.*)$", unit, re.M)[1]).replace("$SERVICE_ARGS", "-m 8192"))  # systemd splits it in the same way
settings = {name: here(value) for name, value in settings.items()}
expect_to_listen(command, {**settings, "SOFTFIELD_RUNTIME": work + "/unit"}, "unit", r"listening on 127\.0\.0\.1 .* 8192 bytes.* 1 plugins")

# ---- the image ----
containerfile = open(os.path.join(folder, "Containerfile")).read().replace("\\\n", " ")
known = {"FROM", "RUN", "COPY", "ENV", "EXPOSE", "ENTRYPOINT"}
for line in containerfile.splitlines():
    expect(not line or line.startswith("#") or line.split()[0] in known, f"Containerfile: {line}")
for package in open(os.path.join(folder, "..", "scripts", "install-dependencies")).read().partition("build=(")[2].partition(")")[0].split():
    expect(re.search(rf"\s{re.escape(package)}\s", containerfile), f"Containerfile: {package}, which the build needs, is not installed")
entrypoint = [here(word) for word in json.loads(re.search(r"^ENTRYPOINT (.*)$", containerfile, re.M)[1])]
image_settings = {name: here(value) for name, value in re.findall(r"^ENV (\w+)=(.*)$", containerfile, re.M)}
expect_variables(image_settings, "Containerfile")
expect_to_listen(entrypoint + ["--max-workers", "9"], {**image_settings, "SERVICE_ARGS": "-l 60 -m 8192", "SOFTFIELD_RUNTIME": work + "/image"},
                 "Containerfile", r"listening on 127\.0\.0\.1 .* messages of 8192 bytes, at most 9 workers, 1 plugins")

# ---- Kubernetes ----
try:
    import yaml
    manifest = yaml.safe_load(open(os.path.join(folder, "doca-urom.yaml")))
    template = manifest["spec"]["template"]
    pod = template["spec"]
    container = pod["containers"][0]
    environment = {entry["name"]: entry for entry in container["env"]}
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    expect(manifest["kind"] == "DaemonSet" and manifest["apiVersion"] == "apps/v1", "yaml: not a DaemonSet")
    expect(manifest["spec"]["selector"]["matchLabels"] == template["metadata"]["labels"], "yaml: the selector does not select the pods")
    expect(len(environment) == len(container["env"]), "yaml: a variable is there twice")
    expect(set(mounts) == set(volumes), "yaml: volumes and mounts differ")
    expect_variables(environment, "yaml")
    expect({"SERVICE_ARGS", "UROM_PLUGIN_PATH"} <= set(environment), "yaml: a variable of the service is missing")
    expect(pod["enableServiceLinks"] is False, "yaml: a Service named urom would set UROM_PORT")
    expect(environment["UROM_SECRET_FILE"]["value"] == mounts["secret"], "yaml: where the secret is")
    expect(environment["SOFTFIELD_RUNTIME"]["value"].startswith(mounts["runtime"] + "/"), "yaml: where the runtime folder is")
    expect(mounts["plugins"] in environment["UROM_PLUGIN_PATH"]["value"].split(";"), "yaml: where plugins are")
    expect(volumes["secret"]["secret"]["defaultMode"] == 0o600, "yaml: the secret's mode")
    secret = os.path.join(work, "secret")
    with open(os.open(secret, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
        file.write("a secret of many bytes, the same for all who may")
    os.mkdir(work + "/plugins")
    os.mkdir(work + "/run")
    os.chmod(work + "/run", 0o777)  # as an emptyDir has
    installed.update({mounts["secret"]: secret, mounts["runtime"]: work + "/run", mounts["plugins"]: work + "/plugins"})
    fields = {"status.hostIP": "127.0.0.2"}
    settings = {name: here(str(entry["value"])) if "value" in entry else fields[entry["valueFrom"]["fieldRef"]["fieldPath"]]
                for name, entry in environment.items()}
    command = [here(word) for word in container.get("command", entrypoint)] + container.get("args", [])
    expect_to_listen(command, settings, "yaml", r"listening on 127\.0\.0\.2 .* 4096 bytes.* 1 plugins")
    if shutil.which("yamllint"):
        result = subprocess.run(["yamllint", "-d", "{extends: relaxed, rules: {line-length: disable}}", os.path.join(folder, "doca-urom.yaml")],
                                stdout=subprocess.PIPE, text=True)
        expect(result.returncode == 0 and result.stdout == "", "yamllint: " + result.stdout)
except ImportError:
    missing.append("PyYAML")

shutil.rmtree(work)
print("\n".join(wrong + [f"not checked: there is no {tool}" for tool in missing]))
sys.exit(1 if wrong else 77 if missing else 0)
