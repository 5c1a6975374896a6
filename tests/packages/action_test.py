#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the steps of action.yml as a runner does, installs into a folder, and builds and runs a program in the environment that they
leave. Then reads the example workflow against the action: action_test.py SOURCE FOLDER"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import yaml


def expect(condition, what):
    if not condition:
        sys.exit("action: " + what)


def run(command, environment, **more):
    return subprocess.run(command, env=environment, check=True, text=True, **more)


def lines_of(path):
    return [line for line in path.read_text().splitlines() if line]


def run_action(source, action, folder):
    """The environment for later steps, and the outputs."""
    inputs = {name: value["default"] for name, value in action["inputs"].items()} | {"prefix": str(folder / "prefix")}
    values = {"github.action_path": str(source)} | {"inputs." + name: value for name, value in inputs.items()}
    files = {name: folder / name for name in ("GITHUB_PATH", "GITHUB_ENV", "GITHUB_OUTPUT")}
    environment, outputs = dict(os.environ), {}
    for step in action["runs"]["steps"]:
        for path in files.values():
            path.write_text("")
        said = {name: re.sub(r"\$\{\{ *([^ }]*) *\}\}", lambda match: values[match[1]], value) for name, value in step["env"].items()}
        expect("${{" not in step["run"], "a script contains an expression, so an input could inject a command")
        run([step["shell"], "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], environment | said |
            {name: str(path) for name, path in files.items()})
        environment |= dict(line.split("=", 1) for line in lines_of(files["GITHUB_ENV"]))
        environment["PATH"] = ":".join(lines_of(files["GITHUB_PATH"]) + [environment["PATH"]])
        outputs |= {"steps.%s.outputs.%s" % (step["id"], *line.split("=", 1)[:1]): line.split("=", 1)[1]
                    for line in lines_of(files["GITHUB_OUTPUT"])}
    named = {name: re.fullmatch(r"\$\{\{ (.*) \}\}", output["value"])[1] for name, output in action["outputs"].items()}
    return environment, {name: outputs[value] for name, value in named.items()}


def main():
    source, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    action = yaml.safe_load((source / "action.yml").read_text())
    expect(action["runs"]["using"] == "composite", "the action is not composite")
    environment, outputs = run_action(source, action, folder)

    version = re.search(r"^ *version: '([^']*)'", (source / "meson.build").read_text(), re.M)[1]
    expect(outputs == {"version": version}, "outputs are %s" % outputs)
    samples = [str(source / "samples" / name) for name in ("dma_local_copy.c", "dma_common.c", "common.c")]
    flags = run(["pkg-config", "--cflags", "--libs", "doca-dma"], environment, stdout=subprocess.PIPE).stdout.split()
    run(["cc", "-DDOCA_ALLOW_EXPERIMENTAL_API", "-o", folder / "copy", *samples, *flags], environment)
    said = run(["softfield", "run", "--node", "dpu0", "--", folder / "copy"], environment, stdout=subprocess.PIPE).stdout
    expect("copied 17 bytes" in said, "the program said " + said)

    workflow = yaml.safe_load((source / "packaging/ci/example-workflow.yml").read_text())
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    uses = [step for step in steps if re.fullmatch(r"[\w-]+/softfield@v%s" % re.escape(version), step.get("uses", ""))]
    expect(len(uses) == 1, "the example does not use the action of version %s once" % version)
    expect(set(uses[0].get("with", {})) <= set(action["inputs"]), "the example passes inputs that the action does not have")
    asked = re.findall(r"steps\.%s\.outputs\.([\w-]+)" % uses[0]["id"], str(steps))
    expect(asked and set(asked) <= set(outputs), "the example uses outputs %s" % asked)


main()
