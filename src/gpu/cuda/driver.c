/* SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>

#include "base/log.h"
#include "gpu/cuda/driver.h"

#define LIBRARY "libcuda.so.1"

static struct cuda_driver driver;
static bool usable;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const struct {
	const char *symbol;
	size_t offset;
	bool optional;
} symbols[] = {
#define SYMBOL(member, name)                                                                                                     \
	{                                                                                                                        \
		name, offsetof(struct cuda_driver, member), false                                                                \
	}
	SYMBOL(init, "cuInit"),
	SYMBOL(get_error_name, "cuGetErrorName"),
	SYMBOL(device_get_count, "cuDeviceGetCount"),
	SYMBOL(device_get, "cuDeviceGet"),
	SYMBOL(device_get_pci_bus_id, "cuDeviceGetPCIBusId"),
	SYMBOL(device_get_attribute, "cuDeviceGetAttribute"),
	SYMBOL(primary_ctx_retain, "cuDevicePrimaryCtxRetain"),
	SYMBOL(primary_ctx_release, "cuDevicePrimaryCtxRelease_v2"),
	SYMBOL(ctx_get_current, "cuCtxGetCurrent"),
	SYMBOL(ctx_set_current, "cuCtxSetCurrent"),
	SYMBOL(ctx_push_current, "cuCtxPushCurrent_v2"),
	SYMBOL(ctx_pop_current, "cuCtxPopCurrent_v2"),
	SYMBOL(mem_alloc, "cuMemAlloc_v2"),
	SYMBOL(mem_alloc_managed, "cuMemAllocManaged"),
	SYMBOL(mem_free, "cuMemFree_v2"),
	SYMBOL(mem_host_alloc, "cuMemHostAlloc"),
	SYMBOL(mem_free_host, "cuMemFreeHost"),
	SYMBOL(mem_host_register, "cuMemHostRegister_v2"),
	SYMBOL(mem_host_unregister, "cuMemHostUnregister"),
	SYMBOL(mem_host_get_device_pointer, "cuMemHostGetDevicePointer_v2"),
	SYMBOL(memset_d8_async, "cuMemsetD8Async"),
	SYMBOL(memcpy_htod_async, "cuMemcpyHtoDAsync_v2"),
	SYMBOL(memcpy_dtoh_async, "cuMemcpyDtoHAsync_v2"),
	SYMBOL(memcpy_async, "cuMemcpyAsync"),
	SYMBOL(pointer_get_attribute, "cuPointerGetAttribute"),
	SYMBOL(mem_get_address_range, "cuMemGetAddressRange_v2"),
	SYMBOL(ipc_get_mem_handle, "cuIpcGetMemHandle"),
	SYMBOL(ipc_open_mem_handle, "cuIpcOpenMemHandle_v2"),
	SYMBOL(ipc_close_mem_handle, "cuIpcCloseMemHandle"),
	SYMBOL(stream_create, "cuStreamCreate"),
	SYMBOL(stream_destroy, "cuStreamDestroy_v2"),
	SYMBOL(stream_synchronize, "cuStreamSynchronize"),
	SYMBOL(stream_query, "cuStreamQuery"),
	SYMBOL(module_load_data, "cuModuleLoadData"),
	SYMBOL(module_unload, "cuModuleUnload"),
	SYMBOL(module_get_function, "cuModuleGetFunction"),
	SYMBOL(launch_kernel, "cuLaunchKernel"),
	{"cuMemGetHandleForAddressRange", offsetof(struct cuda_driver, mem_get_handle_for_address_range), true},
#undef SYMBOL
};

static void driver_load(void)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	cu_result result;

	if (library == NULL)
		return; /* no driver, as on every machine without a GPU */
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *symbol = dlsym(library, symbols[i].symbol);

		if (symbol == NULL && !symbols[i].optional) {
			SF_LOG_WARN("%s has no %s: the driver is too old, its GPUs are ignored", LIBRARY, symbols[i].symbol);
			return;
		}
		*(void **)((char *)&driver + symbols[i].offset) = symbol;
	}
	result = driver.init(0);
	if (result != CU_SUCCESS) {
		SF_LOG_INFO("the cuda driver does not start: %s", cuda_error_name(result));
		return;
	}
	usable = true;
}

const struct cuda_driver *cuda_driver_get(void)
{
	pthread_once(&once, driver_load);
	return usable ? &driver : NULL;
}

const char *cuda_error_name(cu_result error)
{
	const char *name = NULL;

	if (driver.get_error_name == NULL || driver.get_error_name(error, &name) != CU_SUCCESS || name == NULL)
		return "an unknown cuda error";
	return name;
}

doca_error_t cuda_error_to_doca(cu_result error)
{
	switch (error) {
	case CU_SUCCESS:
		return DOCA_SUCCESS;
	case CU_ERROR_OUT_OF_MEMORY:
		return DOCA_ERROR_NO_MEMORY;
	case CU_ERROR_INVALID_VALUE:
		return DOCA_ERROR_INVALID_VALUE;
	case CU_ERROR_NOT_FOUND:
		return DOCA_ERROR_NOT_FOUND;
	case CU_ERROR_INVALID_IMAGE:
	case CU_ERROR_NO_BINARY_FOR_GPU:
	case CU_ERROR_UNSUPPORTED_PTX_VERSION:
		return DOCA_ERROR_NOT_SUPPORTED;
	default:
		return DOCA_ERROR_DRIVER;
	}
}
