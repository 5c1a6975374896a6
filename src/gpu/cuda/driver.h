/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of the CUDA driver's interface that the backend uses, declared here so that the build needs no CUDA, and loaded from
 * libcuda.so.1 on first use.
 */
#ifndef SF_GPU_CUDA_DRIVER_H
#define SF_GPU_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>

typedef int cu_result;
typedef int cu_device;
typedef uint64_t cu_deviceptr; /* 64-bit machines only */
typedef struct cu_context *cu_context;
typedef struct cu_stream *cu_stream;
typedef struct cu_module *cu_module;
typedef struct cu_function *cu_function;

enum {
	CU_SUCCESS = 0,
	CU_ERROR_INVALID_VALUE = 1,
	CU_ERROR_OUT_OF_MEMORY = 2,
	CU_ERROR_INVALID_IMAGE = 200,
	CU_ERROR_NO_BINARY_FOR_GPU = 209,
	CU_ERROR_UNSUPPORTED_PTX_VERSION = 222,
	CU_ERROR_NOT_FOUND = 500,
	CU_ERROR_NOT_READY = 600,
	CU_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
};

enum {
	CU_STREAM_NON_BLOCKING = 1,
	CU_HOST_PORTABLE = 1, /* of both cuMemHostAlloc and cuMemHostRegister */
	CU_HOST_DEVICEMAP = 2,
	CU_IPC_LAZY_PEER_ACCESS = 1,
	CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
	CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,
	CU_MEMORYTYPE_DEVICE = 2,
	CU_MEM_ATTACH_GLOBAL = 1,
	CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS = 89,
	CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED = 124,
	CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD = 1,
};

/* cuIpcGetMemHandle's */
struct cu_ipc_mem_handle {
	uint8_t bytes[64];
};

struct cuda_driver {
	cu_result (*init)(unsigned int flags);
	cu_result (*get_error_name)(cu_result error, const char **name);
	cu_result (*device_get_count)(int *count);
	cu_result (*device_get)(cu_device *device, int ordinal);
	cu_result (*device_get_pci_bus_id)(char *id, int len, cu_device device);
	cu_result (*device_get_attribute)(int *value, int attribute, cu_device device);
	cu_result (*primary_ctx_retain)(cu_context *context, cu_device device);
	cu_result (*primary_ctx_release)(cu_device device);
	cu_result (*ctx_get_current)(cu_context *context);
	cu_result (*ctx_set_current)(cu_context context);
	cu_result (*ctx_push_current)(cu_context context);
	cu_result (*ctx_pop_current)(cu_context *context);
	cu_result (*mem_alloc)(cu_deviceptr *address, size_t size);
	cu_result (*mem_alloc_managed)(cu_deviceptr *address, size_t size, unsigned int flags);
	cu_result (*mem_free)(cu_deviceptr address); /* of both */
	cu_result (*mem_host_alloc)(void **address, size_t size, unsigned int flags);
	cu_result (*mem_free_host)(void *address);
	cu_result (*mem_host_register)(void *address, size_t size, unsigned int flags);
	cu_result (*mem_host_unregister)(void *address);
	cu_result (*mem_host_get_device_pointer)(cu_deviceptr *device, void *host, unsigned int flags);
	cu_result (*memset_d8_async)(cu_deviceptr address, unsigned char value, size_t count, cu_stream stream);
	cu_result (*memcpy_htod_async)(cu_deviceptr to, const void *from, size_t size, cu_stream stream);
	cu_result (*memcpy_dtoh_async)(void *to, cu_deviceptr from, size_t size, cu_stream stream);
	cu_result (*memcpy_async)(cu_deviceptr to, cu_deviceptr from, size_t size, cu_stream stream);
	cu_result (*pointer_get_attribute)(void *value, int attribute, cu_deviceptr address);
	cu_result (*mem_get_address_range)(cu_deviceptr *base, size_t *size, cu_deviceptr address);
	cu_result (*ipc_get_mem_handle)(struct cu_ipc_mem_handle *handle, cu_deviceptr address);
	cu_result (*ipc_open_mem_handle)(cu_deviceptr *address, struct cu_ipc_mem_handle handle, unsigned int flags);
	cu_result (*ipc_close_mem_handle)(cu_deviceptr address);
	cu_result (*stream_create)(cu_stream *stream, unsigned int flags);
	cu_result (*stream_destroy)(cu_stream stream);
	cu_result (*stream_synchronize)(cu_stream stream);
	cu_result (*stream_query)(cu_stream stream);
	cu_result (*module_load_data)(cu_module *module, const void *image);
	cu_result (*module_unload)(cu_module module);
	cu_result (*module_get_function)(cu_function *function, cu_module module, const char *name);
	cu_result (*launch_kernel)(cu_function function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
				   unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_bytes,
				   cu_stream stream, void **params, void **extra);
	/* newer drivers only; may be NULL */
	cu_result (*mem_get_handle_for_address_range)(void *handle, cu_deviceptr address, size_t size, int type,
						      unsigned long long flags);
};

/* The initialised driver; NULL if there is none or it does not work here. Any thread. */
const struct cuda_driver *cuda_driver_get(void);

/* The driver's name for an error. Never NULL. */
const char *cuda_error_name(cu_result error);

/* The DOCA code for an error. */
doca_error_t cuda_error_to_doca(cu_result error);

#endif
