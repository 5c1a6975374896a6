/* SPDX-License-Identifier: BSD-3-Clause */
/* Real devices and their libraries. A library without a device is not required. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor/doctor.h"
#include "topology/sysfs.h"

static void *library_open(const char *name)
{
	return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

static bool wants_cuda(void)
{
	const char *choice = getenv("SOFTFIELD_GPU");

	return choice && !strncmp(choice, "cuda", 4);
}

/* Gets the driver's version and the number of GPUs. False: the driver is missing or does not work. */
static bool ask_cuda(int *version, int *num)
{
	void *cuda = library_open("libcuda.so.1");
	int (*init)(unsigned), (*get_version)(int *), (*get_count)(int *);
	bool works;

	if (!cuda)
		return false;
	*(void **)&init = dlsym(cuda, "cuInit");
	*(void **)&get_version = dlsym(cuda, "cuDriverGetVersion");
	*(void **)&get_count = dlsym(cuda, "cuDeviceGetCount");
	works = init && get_version && get_count && init(0) == 0 && get_version(version) == 0 && get_count(num) == 0;
	dlclose(cuda);
	return works;
}

static void check_gpu(struct doctor_report *report)
{
	static struct sf_real_device gpus[SF_REAL_DEVICES_MAX];
	uint32_t real = sf_sysfs_gpus("", gpus);
	int version = 0, num = 0;

	if (real == 0 && !wants_cuda()) {
		doctor_say(report, DOCTOR_OK, "gpu", "no NVIDIA GPU here: kernels run on software GPUs, by CPU threads");
		return;
	}
	if (ask_cuda(&version, &num) && num > 0)
		doctor_say(report, DOCTOR_OK, "gpu", "%d of CUDA %d.%d%s%s", num, version / 1000, version % 1000 / 10,
			   real ? ", the first is " : "", real ? gpus[0].name : "");
	else if (wants_cuda())
		doctor_say(report, DOCTOR_ERROR, "gpu",
			   "SOFTFIELD_GPU is %s, but CUDA finds no GPU: install NVIDIA's driver (libcuda.so.1), give the "
			   "container its GPUs, "
			   "or unset SOFTFIELD_GPU",
			   getenv("SOFTFIELD_GPU"));
	else
		doctor_say(report, DOCTOR_WARNING, "gpu",
			   "%s at %s is here, but not for CUDA: install NVIDIA's driver (libcuda.so.1), or give the container "
			   "its GPUs",
			   gpus[0].name, gpus[0].pci_addr);
}

/* Returns true if a program of this user may open the device. */
static bool may_open(const char *ibdev)
{
	char path[128];
	bool may = false;

	for (int i = 0; i < SF_REAL_DEVICES_MAX && !may; i++) {
		char line[64] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/sys/class/infiniband_verbs/uverbs%d/ibdev", i);
		file = fopen(path, "re");
		if (!file)
			continue;
		if (fgets(line, sizeof(line), file))
			line[strcspn(line, "\n")] = '\0';
		fclose(file);
		snprintf(path, sizeof(path), "/dev/infiniband/uverbs%d", i);
		may = !strcmp(line, ibdev) && access(path, R_OK | W_OK) == 0;
	}
	return may;
}

static void check_rdma(struct doctor_report *report)
{
	static struct sf_real_device devices[SF_REAL_DEVICES_MAX];
	const char *fabric = getenv("SOFTFIELD_FABRIC");
	uint32_t num = sf_sysfs_rdma("", devices);
	void *verbs;

	if (num == 0 && fabric && strstr(fabric, "verbs")) {
		doctor_say(report, DOCTOR_ERROR, "rdma",
			   "SOFTFIELD_FABRIC is %s, but there is no RDMA device: unset it, or set shm or tcp", fabric);
		return;
	}
	if (num == 0) {
		doctor_say(report, DOCTOR_OK, "rdma", "no RDMA device here: software devices use shared memory and TCP");
		return;
	}
	verbs = library_open("libibverbs.so.1");
	if (!verbs)
		doctor_say(report, DOCTOR_WARNING, "rdma",
			   "%s exists, but libibverbs.so.1 does not: install libibverbs1 and its providers", devices[0].name);
	else if (!may_open(devices[0].name))
		doctor_say(report, DOCTOR_WARNING, "rdma",
			   "%s may not be opened: load ib_uverbs, and give yourself (or the container) /dev/infiniband",
			   devices[0].name);
	else
		doctor_say(report, DOCTOR_OK, "rdma", "devices: %u, the first is %s", num, devices[0].name);
	if (verbs)
		dlclose(verbs);
}

static void check_ucx(struct doctor_report *report)
{
	void *ucp = library_open("libucp.so.0");
	void (*get_version)(unsigned *, unsigned *, unsigned *);
	unsigned major, minor, release;

	if (ucp)
		*(void **)&get_version = dlsym(ucp, "ucp_get_version");
	if (ucp && get_version) {
		get_version(&major, &minor, &release);
		doctor_say(report, DOCTOR_OK, "ucx", "version %u.%u.%u", major, minor, release);
	} else {
		doctor_say(report, DOCTOR_WARNING, "ucx", "libucp.so.0 cannot be loaded: UROM needs it; install ucx (libucx0)");
	}
	/* No dlclose: UCX cannot be unloaded safely. */
}

void doctor_check_hardware(struct doctor_report *report)
{
	check_gpu(report);
	check_rdma(report);
	check_ucx(report);
}
