// SPDX-License-Identifier: BSD-3-Clause
// All headers of DOCA 1.5 in C++: a device's address, a digest by a SHA job, and the name of a service.
#include <cstdio>
#include <cstring>

#include <doca_argp.h>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_comm_channel.h>
#include <doca_compat.h>
#include <doca_config.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_error.h>
#include <doca_log.h>
#include <doca_mmap.h>
#include <doca_sha.h>
#include <doca_types.h>
#include <doca_version.h>

DOCA_LOG_REGISTER(OUTSIDE::ALL_HEADERS);

namespace {

#ifdef DOCA_ARCH_DPU
const char built_for[] = "dpu";
#else
const char built_for[] = "host";
#endif

struct failure {
	const char *what;
	doca_error_t result;
};

void must(doca_error_t result, const char *what)
{
	if (result != DOCA_SUCCESS)
		throw failure{what, result};
}

void hash(doca_workq *workq, doca_sha *sha, doca_buf *src, doca_buf *dst)
{
	doca_sha_job job = {};
	doca_event event = {};
	doca_error_t result;

	job.base.type = DOCA_SHA_JOB_SHA1;
	job.base.ctx = doca_sha_as_ctx(sha);
	job.req_buf = src;
	job.resp_buf = dst;
	must(doca_workq_submit(workq, &job.base), "submit");
	do {
		result = doca_workq_progress_retrieve(workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
	} while (result == DOCA_ERROR_AGAIN);
	must(result, "the job");
}

void run(char *memory, size_t size)
{
	doca_devinfo **list = nullptr;
	uint32_t num = 0, name_len = 0;
	doca_pci_bdf bdf = {};
	doca_dev *dev = nullptr;
	doca_mmap *mmap = nullptr;
	doca_buf_inventory *inventory = nullptr;
	doca_buf *src = nullptr, *dst = nullptr;
	doca_workq *workq = nullptr;
	doca_sha *sha = nullptr;

	must(doca_devinfo_list_create(&list, &num), "devices");
	must(doca_devinfo_get_pci_addr(list[0], &bdf), "address");
	must(doca_dev_open(list[0], &dev), "device");
	must(doca_devinfo_list_destroy(list), "devices");
	must(doca_comm_channel_get_max_service_name_len(&name_len), "service name");
	must(doca_mmap_create(nullptr, &mmap), "memory map");
	must(doca_mmap_start(mmap), "start the memory map");
	must(doca_mmap_dev_add(mmap, dev), "add the device");
	must(doca_mmap_populate(mmap, memory, size, 4096, nullptr, nullptr), "populate");
	must(doca_buf_inventory_create(nullptr, 2, DOCA_BUF_EXTENSION_LINKED_LIST, &inventory), "inventory");
	must(doca_buf_inventory_start(inventory), "start the inventory");
	must(doca_buf_inventory_buf_by_args(inventory, mmap, memory, 3, memory, 3, &src), "source");
	must(doca_buf_inventory_buf_by_addr(inventory, mmap, memory + 8, DOCA_SHA1_BYTE_COUNT, &dst), "destination");
	must(doca_workq_create(8, &workq), "work queue");
	must(doca_sha_create(&sha), "sha");
	must(doca_ctx_dev_add(doca_sha_as_ctx(sha), dev), "device of the context");
	must(doca_ctx_start(doca_sha_as_ctx(sha)), "start");
	must(doca_ctx_workq_add(doca_sha_as_ctx(sha), workq), "add the queue");
	must(doca_workq_set_depth(workq, 16), "depth");
	hash(workq, sha, src, dst);
	must(doca_ctx_workq_rm(doca_sha_as_ctx(sha), workq), "remove the queue");
	must(doca_ctx_stop(doca_sha_as_ctx(sha)), "stop");
	must(doca_sha_destroy(sha), "destroy");
	must(doca_workq_destroy(workq), "destroy the queue");
	must(doca_buf_refcount_rm(src, nullptr), "source");
	must(doca_buf_refcount_rm(dst, nullptr), "destination");
	must(doca_buf_inventory_destroy(inventory), "destroy the inventory");
	must(doca_mmap_destroy(mmap), "destroy the memory map");
	must(doca_dev_close(dev), "close");
}

} // namespace

int main(int argc, char **argv)
{
	/* SHA-1 of "abc", from FIPS 180. */
	static const unsigned char digest[] = {0xa9, 0x99, 0x3e, 0x36, 0x47, 0x06, 0x81, 0x6a, 0xba, 0x3e,
					       0x25, 0x71, 0x78, 0x50, 0xc2, 0x6c, 0x9c, 0xd0, 0xd8, 0x9d};
	char memory[64] = "abc";

	try {
		run(memory, sizeof(memory));
	} catch (failure const &error) {
		DOCA_LOG_ERR("%s: %s", error.what, doca_get_error_string(error.result));
		return 1;
	}
	DOCA_LOG_INFO("built for the %s", built_for);
	return argc == 2 && std::strcmp(argv[1], built_for) == 0 && std::memcmp(memory + 8, digest, sizeof(digest)) == 0 ? 0 : 1;
}
