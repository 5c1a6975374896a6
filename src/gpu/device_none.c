/* SPDX-License-Identifier: BSD-3-Clause */
/* libdoca_gpunetio_device for builds without nvcc. It is empty, because the device functions are in the headers, but programs
 * link the library by name. */
#include <softfield/gpu_queue.h>

extern const unsigned int softfield_device_gpu_queue_version_host;
const unsigned int softfield_device_gpu_queue_version_host = SOFTFIELD_GPU_QUEUE_VERSION;
