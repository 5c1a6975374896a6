/* SPDX-License-Identifier: BSD-3-Clause */
/* libdoca_gpunetio_device where there is no nvcc: the device functions are in the headers, and programs name the library. */
#include <softfield/gpu_queue.h>

extern const unsigned int softfield_device_gpu_queue_version_host;
const unsigned int softfield_device_gpu_queue_version_host = SOFTFIELD_GPU_QUEUE_VERSION;
