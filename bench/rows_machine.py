# SPDX-License-Identifier: BSD-3-Clause
"""Where bench/rows.py runs: the machine, whether it is idle, and the programs, in a build folder or in one folder of copies."""
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
SOURCE = os.path.dirname(HERE)
BUSY_SHARE_MAX = 0.05  # of all CPUs: more than this before a row, and its numbers are not kept
SYSTEM_LIBRARIES = re.compile(r"^(ld-linux|libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+|libcuda|linux-vdso)\b")

# Those that the rows start, by their place in a build folder.
PROGRAMS = (
    "tools/softfield/softfield", "bench/gpu/gpu_bench", "bench/gpu_rdma/gpu_rdma_bench", "bench/comch/comch_bench",
    "bench/sync_event/bench_sync_event", "bench/dma/bench_dma", "bench/echo_server/echo_server",
    "bench/urom_allreduce/urom_allreduce_bench", "apps/remote_offload/doca_dpu_gpu_remote_offload_server",
    "apps/remote_offload/doca_dpu_gpu_remote_offload_orchestrator", "apps/remote_offload/doca_dpu_gpu_remote_offload_client",
    "apps/urom/doca_urom_daemon", "apps/urom/doca_urom_worker",
)
PLUGIN = "plugins/allreduce/worker_allreduce.so"
SCRIPTS = ("rows.py", "rows_machine.py", "rows_page.py", "rows_table.py", "remote_offload/run.py", "rdma/run", "urom_allreduce/run")


# ---- the machine ----

def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


def cpu_model():
    found = re.search(r"^(?:model name|Model|CPU part)\s*:\s*(.+)$", read("/proc/cpuinfo"), re.M)
    return found.group(1).strip() if found else "unknown"


def gpu_name():
    """Of the first NVIDIA GPU, or None."""
    try:
        out = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             text=True, check=True, timeout=60).stdout.strip()
        if out:
            return out.splitlines()[0].strip()
    except (OSError, subprocess.SubprocessError):
        pass
    for path in sorted(glob.glob("/proc/driver/nvidia/gpus/*/information")):
        found = re.search(r"^Model:\s*(.+)$", read(path), re.M)
        if found:
            return found.group(1).strip()
    return "unnamed NVIDIA GPU" if os.environ.get("SOFTFIELD_GPU", "").startswith("cuda") else None


def topology(cpu, name):
    return read(f"/sys/devices/system/cpu/cpu{cpu}/topology/{name}").strip()


def cpus():
    return sorted(os.sched_getaffinity(0))


def pair():
    """Two cores of one socket, which are not two threads of one core; the first two CPUs where there are none, or it is not known."""
    first = cpus()[0]
    for other in cpus()[1:]:
        same_socket = topology(first, "physical_package_id") == topology(other, "physical_package_id")
        if same_socket and topology(first, "core_id") != topology(other, "core_id"):
            return [first, other]
    return (cpus() * 2)[:2]


def describe():
    return {"cpu": cpu_model(), "cpus": len(cpus()), "sockets": len({topology(cpu, "physical_package_id") for cpu in cpus()}),
            "gpu": gpu_name(), "kernel": re.match(r"[\d.]*\d", os.uname().release)[0], "hypervisor": "hypervisor" in read("/proc/cpuinfo")}


def slug(machine):
    """A machine's part of a file name: amd-epyc-2-cpus, intel-xeon-platinum-8480-16-cpus-nvidia-h100."""
    cpu = re.sub(r"\((r|tm)\)|\bcpu\b|@.*|\bprocessor\b|\b\d+-core\b", " ", machine["cpu"].lower())
    words = " ".join([cpu, str(machine["cpus"]), "cpus", (machine["gpu"] or "").lower()])
    return "-".join(re.findall(r"[a-z0-9]+", words))


# ---- what else it does ----

def ticks():
    """Seconds of all CPUs since the start: busy, taken by the hypervisor, all."""
    fields = [int(field) for field in read("/proc/stat").split("\n", 1)[0].split()[1:9]]
    user, nice, system, idle, iowait, irq, softirq, steal = fields
    hz = os.sysconf("SC_CLK_TCK")
    return (user + nice + system + irq + softirq) / hz, steal / hz, sum(fields) / hz


def busy_share(seconds=1.0):
    """The share of all CPUs that is in use while this program sleeps."""
    busy, steal, whole = ticks()
    time.sleep(seconds)
    now = ticks()
    return (now[0] - busy + now[1] - steal) / max(now[2] - whole, 1e-9)


# ---- the programs ----

class Programs:
    """A build folder, or what looks like one: links to programs that lie in one folder."""

    def __init__(self, build=None, bin_dir=None):
        self.folder = tempfile.TemporaryDirectory(prefix="rows-")  # pylint: disable=consider-using-with
        self.env = {}
        if bin_dir is None:
            self.root = os.path.abspath(build)
            self.origin = origin_of_build(self.root)
        else:
            self.root = os.path.join(self.folder.name, "build")
            self.origin = json.loads(read(os.path.join(bin_dir, "manifest.json")) or "{}") or {"commit": "unknown", "build_type": "unknown"}
            self._link(os.path.abspath(bin_dir))

    def path(self, program):
        return os.path.join(self.root, program)

    def close(self):
        self.folder.cleanup()

    def _link(self, folder):
        """Programs are in the folder or in its bin, libraries in it or in its lib."""
        libraries = os.path.join(self.folder.name, "lib")
        os.makedirs(libraries)
        for library in glob.glob(os.path.join(folder, "*.so*")) + glob.glob(os.path.join(folder, "lib", "*.so*")):
            os.symlink(library, os.path.join(libraries, os.path.basename(library)))
        self.env["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, [libraries, os.environ.get("LD_LIBRARY_PATH")]))
        for program in PROGRAMS:
            for place in os.path.join(folder, "bin"), folder:
                source = os.path.join(place, os.path.basename(program))
                if os.path.isfile(source):
                    os.makedirs(os.path.dirname(self.path(program)), exist_ok=True)
                    os.symlink(source, self.path(program))
                    self._add_missing(source, folder, libraries)
                    break
        for place in os.path.dirname(PLUGIN), "plugins", "lib", ".":
            source = os.path.join(folder, place, os.path.basename(PLUGIN))
            if os.path.isfile(source):
                os.makedirs(os.path.dirname(self.path(PLUGIN)))
                os.symlink(source, self.path(PLUGIN))
                break

    def _add_missing(self, program, folder, libraries):
        """Copies of a system's libraries serve only where this machine lacks them."""
        for _ in range(20):
            out = subprocess.run(["ldd", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False,
                                 env=dict(os.environ, **self.env)).stdout
            missing = [name for name in re.findall(r"^\s*(\S+) => not found", out, re.M)
                       if os.path.exists(os.path.join(folder, "extra", name)) and not os.path.lexists(os.path.join(libraries, name))]
            for name in missing:
                if not os.path.lexists(os.path.join(libraries, name)):  # two programs lack it
                    os.symlink(os.path.join(folder, "extra", name), os.path.join(libraries, name))
            if not missing:
                return


def git(*arguments):
    done = subprocess.run(["git", "-C", SOURCE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def origin_of_build(build):
    """The commit of the source beside this script, and how the build folder was set up."""
    options = json.loads(read(os.path.join(build, "meson-info", "intro-buildoptions.json")) or "[]")
    commands = json.loads(read(os.path.join(build, "compile_commands.json")) or "[]")
    words = [word for word in (commands[0]["command"].split() if commands else []) if not word.endswith("ccache")]
    return {"commit": git("rev-parse", "--short=12", "HEAD") or "unknown",
            "changed": bool(git("status", "--porcelain", "--untracked-files=no")),
            "build_type": next((option["value"] for option in options if option["name"] == "buildtype"), "unknown"),
            "compiler": os.path.basename(words[0]) if words else "unknown"}


def libraries_of(program):
    out = subprocess.run(["ldd", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout
    return dict(re.findall(r"^\s*(\S+) => (/.+?) \(0x", out, re.M))


def pack(build, folder):
    """Copies what a machine without a build folder needs: this script, programs, libraries. Returns what is not built."""
    build, missing = os.path.abspath(build), []
    for name in "bin", "lib", "extra", os.path.dirname(PLUGIN):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
    for script in SCRIPTS:
        os.makedirs(os.path.dirname(os.path.join(folder, "bench", script)), exist_ok=True)
        shutil.copy2(os.path.join(HERE, script), os.path.join(folder, "bench", script))
    for program in (*PROGRAMS, PLUGIN):
        source = os.path.join(build, program)
        if not os.path.exists(source):
            missing.append(program)
            continue
        shutil.copy2(source, os.path.join(folder, "bin" if program in PROGRAMS else os.path.dirname(PLUGIN)))
        for name, path in libraries_of(source).items():
            if not SYSTEM_LIBRARIES.match(name):
                shutil.copy2(path, os.path.join(folder, "lib" if path.startswith(build + os.sep) else "extra", name))
    with open(os.path.join(folder, "manifest.json"), "w", encoding="utf-8") as file:
        json.dump(origin_of_build(build), file, indent=1)
    return missing
