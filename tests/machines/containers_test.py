#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""deploy/compose.yaml and deploy/softfield-nodes.yaml: are they valid, and do two nodes that run as they describe find each
other?

The containers are network namespaces here, with the addresses, names, variables, files and commands from the files. Exits with 77
if a tool is missing and everything else is right. Usage: containers_test.py DEPLOY_FOLDER SOFTFIELD SAMPLES ENVIRONMENT_PAGE
"""
import json
import os
import re
import subprocess
import sys
import tempfile

from machines import SKIPPED, Machine, Skip, address_add, cable, enter

try:
    import yaml
except ImportError:
    yaml = None

LIMIT_S = 60
NODES = ("host0", "dpu0")


class Container(Machine):
    """A machine with a container's files and variables. `places`: where the container's folders are on this machine."""

    def __init__(self, root, name, environment, places, hosts):
        super().__init__(root, name, "", hosts)
        self.places = places
        for place in places.values():
            os.makedirs(place, exist_ok=True)
        self.environment = {"PATH": os.environ["PATH"], **{key: self.here(value) for key, value in environment.items()}}

    def here(self, text):
        for path in sorted(self.places, key=len, reverse=True):
            text = text.replace(path, self.places[path])
        return text

    def file_write(self, path, text, mode):
        path = self.here(path)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, mode), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path


def check_topology(topology, key):
    assert [node["name"] for node in topology["nodes"]] == list(NODES)
    assert topology["key"] == key
    return {node["name"]: node["address"] for node in topology["nodes"]}


def meet(containers, addresses, command, softfield, samples):
    """Starts both services with the files' command, and sends a message from one node to the other."""
    assert command == ["softfield", "node"]
    cable(containers[0], "net", containers[1], "net")
    for container, address in zip(containers, addresses):
        address_add(container, "net", address + "/24")
    for container in containers:
        container.serve(softfield)
    receiver = containers[0].start([os.path.join(samples, "rdma_receive"), "-cm"], SOFTFIELD_LOG="error")
    for line in receiver.stdout:
        if line.startswith("listening to port"):
            break
    sender = containers[1].start([os.path.join(samples, "rdma_send"), "-cm", "-sa", "192.168.100.1"], SOFTFIELD_LOG="error")
    said = [process.communicate(timeout=LIMIT_S)[0] for process in (sender, receiver)]
    assert receiver.returncode == 0 and sender.returncode == 0, "\n".join(said)


def key_text():
    return os.urandom(32).hex() + "\n"


def meet_as(containers, *arguments):
    try:
        meet(containers, *arguments)
    finally:
        for container in containers:
            container.end()


# ---- compose


def compose(folder, root, softfield, samples):
    with open(os.path.join(folder, "compose.yaml"), encoding="utf-8") as file:
        composition = yaml.safe_load(file)
    services = composition["services"]
    assert set(services) == set(NODES)
    assert set(composition) <= {"x-node", "services", "networks", "secrets"}
    known = {"image", "pull_policy", "user", "entrypoint", "init", "restart", "read_only", "cap_drop", "security_opt", "tmpfs", "volumes",
             "secrets", "hostname", "environment", "networks"}
    secret = composition["secrets"]["key"]["file"]
    assert secret == "${HOME}/softfield.key", "the key lies where docs/machines.md puts it, and never in the image's build context"
    with open(os.path.join(folder, "nodes.json"), encoding="utf-8") as file:
        topology = json.load(file)
    addresses = check_topology(topology, "/run/secrets/softfield.key")
    containers, key = [], key_text()
    subnet = composition["networks"]["fabric"]["ipam"]["config"][0]["subnet"]
    assert subnet.endswith(".0/24")
    for name, service in services.items():
        assert set(service) <= known, service
        assert service["hostname"] == name and service["environment"]["SOFTFIELD_NODE"] == name
        assert service["user"].startswith("${SOFTFIELD_USER:?"), "no user is right everywhere"
        assert service["networks"]["fabric"]["ipv4_address"] == addresses[name] and addresses[name].startswith(subnet[:-4])
        assert service["volumes"] == ["./nodes.json:%s:ro" % service["environment"]["SOFTFIELD_TOPOLOGY"]]
        assert service["secrets"] == [{"source": "key", "target": "softfield.key"}]  # in /run/secrets
        assert service["tmpfs"] == ["/run/softfield:mode=1777"]
        assert os.path.dirname(service["environment"]["SOFTFIELD_RUNTIME"]) == "/run/softfield"
        base = os.path.join(root, "compose-" + name)
        container = Container(root, name, service["environment"], {
            "/etc/softfield": base + "/etc", "/run/softfield": base + "/run", "/run/secrets": base + "/secrets"}, None)
        container.file_write("/run/secrets/softfield.key", key, 0o600)
        container.file_write("/etc/softfield/nodes.json", container.here(json.dumps(topology)), 0o644)
        os.chmod(container.here("/run/softfield"), 0o1777)
        containers.append(container)
    meet_as(containers, [addresses[container.name] for container in containers], services["host0"]["entrypoint"], softfield, samples)
    return {name for service in services.values() for name in service["environment"]}


# ---- Kubernetes


def check_objects(objects):
    service, policy = objects["Service", "softfield"]["spec"], objects["NetworkPolicy", "softfield"]["spec"]
    assert service["clusterIP"] == "None", "a pod listens on its own address"
    assert service["publishNotReadyAddresses"] is True, "each waits for the other's name before it is ready"
    assert service["selector"] == policy["podSelector"]["matchLabels"] == {"app": "softfield"}
    assert policy["ingress"] == [{"from": [{"podSelector": policy["podSelector"]}]}]


def check_node(name, node, config):
    """Returns the pod's specification."""
    template = node["spec"]["template"]
    pod = template["spec"]
    assert node["spec"]["serviceName"] == "softfield" and node["spec"]["replicas"] == 1
    assert node["spec"]["selector"]["matchLabels"] == template["metadata"]["labels"] == {"app": "softfield", "node": name}
    assert pod["nodeSelector"] == {"softfield-node": name}
    user = pod["securityContext"]
    assert user["runAsNonRoot"] is True and user["fsGroup"] == user["runAsGroup"] and user["runAsUser"] != 0
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    assert volumes["key"]["secret"]["defaultMode"] == 0o440, "the group may read it, and the program wants a copy that it may not"
    assert volumes["nodes"]["configMap"]["name"] == config["metadata"]["name"]
    for container in pod["initContainers"] + pod["containers"]:
        mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
        assert set(mounts) <= set(volumes) and mounts["run"] == "/run/softfield"
        assert container["securityContext"]["allowPrivilegeEscalation"] is False
        assert container["imagePullPolicy"] == "IfNotPresent"
    assert {mount["name"] for container in pod["initContainers"] + pod["containers"] for mount in container["volumeMounts"]} == set(volumes)
    return pod


def kubernetes(folder, root, softfield, samples):
    with open(os.path.join(folder, "softfield-nodes.yaml"), encoding="utf-8") as file:
        text = file.read()
    objects = {(each["kind"], each["metadata"]["name"]): each for each in yaml.safe_load_all(text)}
    assert len(objects) == 5
    check_objects(objects)
    config = objects["ConfigMap", "softfield-nodes"]
    topology = json.loads(config["data"]["nodes.json"])
    names = check_topology(topology, "/run/softfield/key")
    addresses = {"host0": "10.77.3.1", "dpu0": "10.77.3.2"}
    hosts = os.path.join(root, "hosts")
    with open(hosts, "w", encoding="ascii") as file:
        file.write("127.0.0.1 localhost\n" + "".join("%s %s\n" % (addresses[name], names[name]) for name in NODES))
    containers, key, variables = [], key_text(), set()
    for name in NODES:
        pod = check_node(name, objects["StatefulSet", name], config)
        assert names[name] == name + "-0.softfield"
        environment = {entry["name"]: entry["value"] for entry in pod["containers"][0]["env"]}
        variables |= set(environment)
        assert environment["SOFTFIELD_NODE"] == name
        base = os.path.join(root, "pod-" + name)
        os.mkdir(base)
        container = Container(base, name, environment, {
            "/etc/softfield": base + "/etc", "/run/softfield": base + "/run", "/etc/softfield-key": base + "/secret"}, hosts)
        container.file_write("/etc/softfield-key/softfield.key", key, 0o440)
        container.file_write("/etc/softfield/nodes.json", container.here(config["data"]["nodes.json"]), 0o644)
        os.chmod(container.here("/run/softfield"), 0o777)
        prepare = pod["initContainers"][0]
        subprocess.run(container.within([container.here(word) for word in prepare["command"] + prepare["args"]]), check=True,
                       timeout=LIMIT_S, stdout=subprocess.DEVNULL)
        containers.append(container)
        command = pod["containers"][0]["command"]
        assert pod["containers"][0]["readinessProbe"]["tcpSocket"]["port"] == pod["containers"][0]["ports"][0]["name"]
    either = [re.sub("host0|dpu0", "NODE", part.strip()) for part in text.split("---\n")[-2:]]
    assert either[0] == either[1], "the two differ in more than their names"
    meet_as(containers, [addresses[name] for name in NODES], command, softfield, samples)
    return variables


def check_tool(folder):
    """The command docker compose or docker-compose, if one is installed."""
    path = os.path.join(folder, "compose.yaml")
    for tool in (["docker", "compose"], ["docker-compose"], ["podman-compose"]):
        try:
            if subprocess.run(tool + ["version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0:
                subprocess.run(tool + ["-f", path, "config"], check=True, stdout=subprocess.DEVNULL,
                               env=dict(os.environ, SOFTFIELD_USER="1000:1000"))
                return
        except FileNotFoundError:
            pass
    print("not checked: there is no docker compose")


def main():
    if yaml is None:
        print("skipped: there is no PyYAML")
        return SKIPPED
    if not enter():
        print("skipped: this user may not create network namespaces")
        return SKIPPED
    folder, softfield, samples = (os.path.abspath(path) for path in sys.argv[1:4])
    with open(sys.argv[4], encoding="utf-8") as file:
        page = file.read()
    check_tool(folder)
    for case in (compose, kubernetes):
        with tempfile.TemporaryDirectory() as root:
            try:
                unknown = [name for name in case(folder, root, softfield, samples) if not re.search("`%s`" % name, page)]
            except Skip as skip:
                print("skipped: %s" % skip)
                return SKIPPED
            assert not unknown, "nothing reads %s" % unknown
            print("ok: %s" % case.__name__)
    return 0


if __name__ == "__main__":
    sys.exit(main())
