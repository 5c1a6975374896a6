/* SPDX-License-Identifier: BSD-3-Clause */
/* The same in C++: every header in one unit, flags by argp, a buffer from an inventory, a GPU if there is one. */
#include <cstdio>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include <doca_argp.h>
#include <doca_bitfield.h>
#include <doca_buf.h>
#include <doca_buf_array.h>
#include <doca_buf_inventory.h>
#include <doca_buf_pool.h>
#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_gpunetio.h>
#include <doca_gpunetio_dev_buf.cuh>
#include <doca_gpunetio_dev_rdma.cuh>
#include <doca_log.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_types.h>
#include <doca_version.h>

DOCA_LOG_REGISTER(OUTSIDE::CPP);

namespace {

#ifdef DOCA_ARCH_DPU
std::string const built_for{"dpu"};
#else
std::string const built_for{"host"};
#endif

/* As kernels of 2.9 call them: with a result, and without the connections of receives. */
static_assert(std::is_same<decltype(doca_gpu_dev_buf_get_buf(nullptr, 0, nullptr)), doca_error_t>::value, "");
static_assert(std::is_same<decltype(doca_gpu_dev_buf_get_addr(nullptr, nullptr)), doca_error_t>::value, "");
static_assert(std::is_same<decltype(doca_gpu_dev_rdma_recv_wait_all(nullptr, DOCA_GPU_RDMA_RECV_WAIT_FLAG_B, nullptr, nullptr)),
			   doca_error_t>::value,
	      "");

struct failure {
	char const *what;
	doca_error_t result;
};

void must(doca_error_t result, char const *what)
{
	if (result != DOCA_SUCCESS)
		throw failure{what, result};
}

void parse_flags(int argc, char **argv, std::string &flavour)
{
	doca_argp_param *param = nullptr;

	must(doca_argp_init("outside_cpp", &flavour), "argp init");
	must(doca_argp_param_create(&param), "param create");
	doca_argp_param_set_short_name(param, "f");
	doca_argp_param_set_long_name(param, "flavour");
	doca_argp_param_set_description(param, "For which side the program should have been built");
	doca_argp_param_set_type(param, DOCA_ARGP_TYPE_STRING);
	doca_argp_param_set_callback(param, [](void *value, void *config) {
		*static_cast<std::string *>(config) = static_cast<char const *>(value);
		return DOCA_SUCCESS;
	});
	must(doca_argp_register_param(param), "register");
	must(doca_argp_start(argc, argv), "start");
}

void use_buffers(doca_dev *dev)
{
	std::vector<char> memory(8192, 'x');
	doca_mmap *mmap = nullptr;
	doca_buf_inventory *inventory = nullptr;
	doca_buf *buf = nullptr;
	void *data = nullptr;
	size_t len = 0;

	must(doca_mmap_create(&mmap), "mmap create");
	must(doca_mmap_add_dev(mmap, dev), "add dev");
	must(doca_mmap_set_memrange(mmap, memory.data(), memory.size()), "memrange");
	must(doca_mmap_start(mmap), "mmap start");
	must(doca_buf_inventory_create(2, &inventory), "inventory create");
	must(doca_buf_inventory_start(inventory), "inventory start");
	must(doca_buf_inventory_buf_get_by_data(inventory, mmap, memory.data() + 100, 50, &buf), "get by data");
	must(doca_buf_get_data(buf, &data), "get data");
	must(doca_buf_get_data_len(buf, &len), "get data len");
	if (data != memory.data() + 100 || len != 50)
		throw failure{"buffer", DOCA_ERROR_UNEXPECTED};
	must(doca_buf_dec_refcount(buf, nullptr), "dec refcount");
	must(doca_buf_inventory_destroy(inventory), "inventory destroy");
	must(doca_mmap_destroy(mmap), "mmap destroy");
}

void use_first_device()
{
	doca_devinfo **list = nullptr;
	uint32_t num = 0;
	doca_dev *dev = nullptr;

	must(doca_devinfo_create_list(&list, &num), "device list");
	must(doca_dev_open(list[0], &dev), "open");
	must(doca_devinfo_destroy_list(list), "destroy list");
	use_buffers(dev);
	must(doca_dev_close(dev), "close");
}

} // namespace

int main(int argc, char **argv)
{
	std::string flavour;

	try {
		must(doca_log_backend_create_standard(), "log");
		parse_flags(argc, argv, flavour);
		use_first_device();
		doca_gpu *gpu = nullptr;
		if (doca_gpu_create("b5:00.0", &gpu) == DOCA_SUCCESS)
			must(doca_gpu_destroy(gpu), "gpu destroy");
		must(doca_argp_destroy(), "argp destroy");
	} catch (failure const &error) {
		std::printf("%s: %s\n", error.what, doca_error_get_name(error.result));
		return 1;
	}
	std::printf("built for the %s\n", built_for.c_str());
	return flavour == built_for ? 0 : 1;
}
