#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Usage: deploy_test.py DEPLOY_FOLDER DAEMON. What deploy/ says, by what tools there are; 77 when one is missing and the rest is right."""
import os, re, shutil, subprocess, sys, tempfile

folder, daemon = sys.argv[1], os.path.abspath(sys.argv[2])
missing, wrong = [], []


def expect(condition, what):
    if not condition:
        wrong.append(what)


help_text = subprocess.run([daemon, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout


def expect_flags(words, where):
    for flag in (word for word in words if word.startswith("--")):
        expect(flag in help_text, f"{where}: the daemon has no {flag}")


unit = open(os.path.join(folder, "doca-urom.service")).read()
if shutil.which("systemd-analyze"):
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "doca-urom.service")
        with open(path, "w") as file:  # the installed program is not here
            file.write(unit.replace("/usr/local/bin/doca_urom_daemon", daemon))
        found = subprocess.run(["systemd-analyze", "verify", "--man=no", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        mine = [line for line in found.stdout.splitlines() if "doca-urom" in line]
        expect(found.returncode == 0 and not mine, "systemd-analyze verify: " + found.stdout)
else:
    missing.append("systemd-analyze")

try:
    import yaml
    manifest = yaml.safe_load(open(os.path.join(folder, "doca-urom.yaml")))
    template = manifest["spec"]["template"]
    pod = template["spec"]
    container = pod["containers"][0]
    environment = {entry["name"]: entry for entry in container["env"]}
    expect(manifest["kind"] == "DaemonSet" and manifest["apiVersion"] == "apps/v1", "yaml: it is no DaemonSet")
    expect(manifest["spec"]["selector"]["matchLabels"] == template["metadata"]["labels"], "yaml: the selector does not select the pods")
    expect({mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}, "yaml: volumes")
    for name in re.findall(r"\$\((\w+)\)", " ".join(container["args"])):
        expect(name in environment, f"yaml: no variable {name}")
    expect({"UROM_PLUGIN_PATH", "UROM_SECRET_FILE", "SOFTFIELD_RUNTIME", "UCX_NET_DEVICES"} <= set(environment), "yaml: a variable is missing")
    expect(environment["UROM_SECRET_FILE"]["value"] ==
           next(mount["mountPath"] for mount in container["volumeMounts"] if mount["name"] == "secret"), "yaml: where the secret is")
    expect(next(volume for volume in pod["volumes"] if volume["name"] == "secret")["secret"]["defaultMode"] == 0o600, "yaml: secret's mode")
    expect_flags(container["args"], "yaml")
except ImportError:
    missing.append("PyYAML")

containerfile = open(os.path.join(folder, "Containerfile")).read().replace("\\\n", " ")
known = {"FROM", "RUN", "COPY", "ENV", "EXPOSE", "ENTRYPOINT"}
for line in containerfile.splitlines():
    expect(not line or line.startswith("#") or line.split()[0] in known, f"Containerfile: {line}")
for package in open(os.path.join(folder, "..", "scripts", "install-dependencies")).read().partition("build=(")[2].partition(")")[0].split():
    expect(re.search(rf"\s{re.escape(package)}\s", containerfile), f"Containerfile: {package}, which the build needs, is not installed")

print("\n".join(wrong + [f"not checked: there is no {tool}" for tool in missing]))
sys.exit(1 if wrong else 77 if missing else 0)
