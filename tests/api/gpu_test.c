/* SPDX-License-Identifier: BSD-3-Clause */
/* GPUs, their memory, semaphores and kernels. On the software GPU; with SOFTFIELD_GPU=cuda the same tests run on a CUDA GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <doca_gpunetio.h>
#include <softfield/gpu.h>
#include <softfield/gpu_sem.h>

#include "base/clock.h"
#include "core/gpu.h"
#include "gpu_kernels.h"

#define GPU "b5:00.0"
#define DEADLINE_MS 60000

#ifdef HAVE_CUDA_CODE
extern const unsigned char kernels_image[], kernels_image_end[];
#define IMAGE kernels_image
#define IMAGE_SIZE ((size_t)(kernels_image_end - kernels_image))
#else
#define IMAGE NULL
#define IMAGE_SIZE 0
#endif

#define KERNEL(fn)                                                                                                               \
	{                                                                                                                        \
#fn, fn, IMAGE, IMAGE_SIZE                                                                                       \
	}

static struct doca_gpu *gpu;

static int open_gpu(void **state)
{
	return doca_gpu_create(GPU, &gpu) != DOCA_SUCCESS;
}
static int close_gpu(void **state)
{
	return doca_gpu_destroy(gpu) != DOCA_SUCCESS;
}

static bool is_soft(void)
{
	return strcmp(softfield_gpu_backend(gpu), "soft") == 0;
}

static void *shared(size_t size, void **for_gpu)
{
	void *cpu = NULL;

	assert_int_equal(doca_gpu_mem_alloc(gpu, size, 0, DOCA_GPU_MEM_TYPE_CPU_GPU, for_gpu, &cpu), DOCA_SUCCESS);
	return cpu;
}

static void run(softfield_kernel_fn fn, const char *name, uint32_t grid, uint32_t block, const struct kernel_args *args)
{
	struct softfield_kernel kernel = {name, fn, IMAGE, IMAGE_SIZE};
	struct softfield_launch *launch;

	assert_int_equal(softfield_gpu_launch(gpu, &kernel, grid, block, args, sizeof(*args), &launch), DOCA_SUCCESS);
	assert_int_equal(softfield_gpu_launch_wait(launch, DEADLINE_MS), DOCA_SUCCESS);
	assert_int_equal(softfield_gpu_launch_destroy(launch), DOCA_SUCCESS);
}

/* ---- gpu ---- */

static void both_spellings_of_an_address(void **state)
{
	struct doca_gpu *other;

	assert_int_equal(doca_gpu_create("0000:B5:00.0", &other), DOCA_SUCCESS);
	assert_int_equal(doca_gpu_destroy(other), DOCA_SUCCESS);
}

static void unknown_address_is_not_found(void **state)
{
	struct doca_gpu *other;

	assert_int_equal(doca_gpu_create("12:34.5", &other), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_gpu_create("gpu0", &other), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_gpu_create(NULL, &other), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_gpu_create(GPU, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_gpu_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
}

static void gpu_in_use_cannot_be_destroyed(void **state)
{
	struct doca_gpu_semaphore *semaphore;

	assert_int_equal(doca_gpu_semaphore_create(gpu, &semaphore), DOCA_SUCCESS);
	assert_int_equal(doca_gpu_destroy(gpu), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_gpu_semaphore_destroy(semaphore), DOCA_SUCCESS);
}

/* ---- memory ---- */

static void memory_is_aligned_and_zero(void **state)
{
	static const size_t alignments[] = {0, 1, 64, 4096, 65536};

	for (size_t i = 0; i < sizeof(alignments) / sizeof(alignments[0]); i++) {
		uint8_t bytes[100], zeros[100] = {0};
		void *addr = NULL, *cpu = &addr;

		assert_int_equal(doca_gpu_mem_alloc(gpu, sizeof(bytes), alignments[i], DOCA_GPU_MEM_TYPE_GPU, &addr, &cpu),
				 DOCA_SUCCESS);
		assert_null(cpu); /* device memory has no CPU address */
		assert_int_equal((uintptr_t)addr % (alignments[i] != 0 ? alignments[i] : 1), 0);
		memset(bytes, 1, sizeof(bytes));
		assert_int_equal(gpu->ops->copy_from(gpu, bytes, addr, sizeof(bytes)), DOCA_SUCCESS);
		assert_memory_equal(bytes, zeros, sizeof(bytes));
		assert_int_equal(doca_gpu_mem_free(gpu, addr), DOCA_SUCCESS);
	}
}

static void shared_memory_is_seen_by_both(void **state)
{
	static const enum doca_gpu_mem_type types[] = {DOCA_GPU_MEM_TYPE_GPU_CPU, DOCA_GPU_MEM_TYPE_CPU_GPU};

	for (size_t i = 0; i < 2; i++) {
		struct kernel_args args = {.value = 7};
		uint32_t *words;
		void *addr, *cpu;

		assert_int_equal(doca_gpu_mem_alloc(gpu, 64 * sizeof(*words), 0, types[i], &addr, &cpu), DOCA_SUCCESS);
		words = cpu;
		for (uint32_t k = 0; k < 64; k++)
			words[k] = k;
		args.words = addr;
		run(add_value, "add_value", 2, 32, &args);
		for (uint32_t k = 0; k < 64; k++)
			assert_int_equal(words[k], k + 7);
		assert_int_equal(doca_gpu_mem_free(gpu, addr), DOCA_SUCCESS);
	}
}

static void wrong_memory_arguments(void **state)
{
	void *addr, *cpu;

	assert_int_equal(doca_gpu_mem_alloc(gpu, 0, 0, DOCA_GPU_MEM_TYPE_GPU, &addr, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_gpu_mem_alloc(gpu, 64, 3, DOCA_GPU_MEM_TYPE_GPU, &addr, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_gpu_mem_alloc(gpu, 64, 0, (enum doca_gpu_mem_type)3, &addr, &cpu), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_gpu_mem_alloc(gpu, 64, 0, DOCA_GPU_MEM_TYPE_CPU_GPU, &addr, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_gpu_mem_alloc(NULL, 64, 0, DOCA_GPU_MEM_TYPE_GPU, &addr, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_gpu_mem_alloc(gpu, SIZE_MAX - 64, 0, DOCA_GPU_MEM_TYPE_GPU, &addr, NULL), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(doca_gpu_mem_free(gpu, &addr), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_gpu_mem_free(gpu, NULL), DOCA_ERROR_INVALID_VALUE);
}

static void double_free_is_rejected(void **state)
{
	void *addr;

	assert_int_equal(doca_gpu_mem_alloc(gpu, 64, 0, DOCA_GPU_MEM_TYPE_GPU, &addr, NULL), DOCA_SUCCESS);
	assert_int_equal(doca_gpu_mem_free(gpu, addr), DOCA_SUCCESS);
	assert_int_equal(doca_gpu_mem_free(gpu, addr), DOCA_ERROR_INVALID_VALUE);
}

static void dmabuf_is_exported_or_not_supported(void **state)
{
	doca_error_t result;
	void *addr;
	int fd = -1;

	assert_int_equal(doca_gpu_mem_alloc(gpu, 65536, 65536, DOCA_GPU_MEM_TYPE_GPU, &addr, NULL), DOCA_SUCCESS);
	result = doca_gpu_dmabuf_fd(gpu, addr, 65536, &fd);
	if (is_soft())
		assert_int_equal(result, DOCA_ERROR_NOT_SUPPORTED);
	else
		assert_true(result == DOCA_ERROR_NOT_SUPPORTED || (result == DOCA_SUCCESS && fd >= 0));
	assert_int_equal(doca_gpu_dmabuf_fd(gpu, addr, 0, &fd), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_gpu_dmabuf_fd(gpu, NULL, 64, &fd), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_gpu_mem_free(gpu, addr), DOCA_SUCCESS);
}

static void device_memory_is_known_as_such(void **state)
{
	int local;
	void *addr;

	assert_non_null(sf_gpu_owns_address);
	assert_int_equal(doca_gpu_mem_alloc(gpu, 4096, 0, DOCA_GPU_MEM_TYPE_GPU, &addr, NULL), DOCA_SUCCESS);
	assert_int_equal(sf_gpu_owns_address(addr), !is_soft());
	assert_int_equal(sf_gpu_owns_address((uint8_t *)addr + 100), !is_soft());
	assert_false(sf_gpu_owns_address(&local));
	assert_int_equal(doca_gpu_mem_free(gpu, addr), DOCA_SUCCESS);
}

/* ---- kernels ---- */

static void every_thread_runs_once_with_its_index(void **state)
{
	struct kernel_args args = {0};
	void *addr;
	uint32_t *words = shared(6 * sizeof(*words), &addr);

	args.words = addr;
	run(write_index, "write_index", 2, 3, &args);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(words[i], 1000 * 2 + 100 * (i / 3) + 10 * 3 + i % 3);
	assert_int_equal(doca_gpu_mem_free(gpu, addr), DOCA_SUCCESS);
}

static void block_barrier_holds_all_threads(void **state)
{
	struct kernel_args args = {.value = 64};
	void *addr;
	uint32_t *words = shared(128 * sizeof(*words), &addr);

	args.words = addr;
	run(sum_by_rounds, "sum_by_rounds", 1, 64, &args); /* a tree of additions, a barrier between its levels */
	assert_int_equal(words[0], 64 * 65 / 2);
	assert_int_equal(doca_gpu_mem_free(gpu, addr), DOCA_SUCCESS);
}

static void persistent_kernel_stops_within_100_ms(void **state)
{
	struct softfield_kernel kernel = KERNEL(until_stopped);
	struct kernel_args args = {0};
	struct softfield_launch *launch;
	void *addr;
	volatile uint32_t *words = shared(2 * sizeof(uint32_t), &addr);

	args.words = addr;
	assert_int_equal(softfield_gpu_launch(gpu, &kernel, 1, 2, &args, sizeof(args), &launch), DOCA_SUCCESS);
	assert_int_equal(softfield_gpu_launch_query(launch), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(softfield_gpu_launch_wait(launch, 20), DOCA_ERROR_TIME_OUT);
	assert_int_equal(softfield_gpu_launch_destroy(launch), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_gpu_destroy(gpu), DOCA_ERROR_IN_USE);
	__atomic_store_n(words, 1, __ATOMIC_RELEASE);
	assert_int_equal(softfield_gpu_launch_wait(launch, DEADLINE_MS), DOCA_SUCCESS);
	assert_string_equal(softfield_gpu_launch_error(launch), "");
	assert_int_equal(softfield_gpu_launch_destroy(launch), DOCA_SUCCESS);
	assert_int_equal(doca_gpu_mem_free(gpu, addr), DOCA_SUCCESS);
}

static void wrong_launch_arguments(void **state)
{
	struct softfield_kernel kernel = KERNEL(write_index), none = {"none", NULL, NULL, 0};
	struct kernel_args args = {0};
	struct softfield_launch *launch;

	assert_int_equal(softfield_gpu_launch(NULL, &kernel, 1, 1, &args, sizeof(args), &launch), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(softfield_gpu_launch(gpu, &kernel, 0, 1, &args, sizeof(args), &launch), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(softfield_gpu_launch(gpu, &kernel, 1, 0, &args, sizeof(args), &launch), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(softfield_gpu_launch(gpu, &kernel, 1, 1, &args, SOFTFIELD_ARGS_MAX + 1, &launch),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(softfield_gpu_launch(gpu, &none, 1, 1, &args, sizeof(args), &launch), DOCA_ERROR_NOT_SUPPORTED);
	if (is_soft())
		assert_int_equal(softfield_gpu_launch(gpu, &kernel, 1 << 20, 1 << 20, &args, sizeof(args), &launch),
				 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(softfield_gpu_launch_query(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(softfield_gpu_launch_wait(NULL, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(softfield_gpu_launch_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(softfield_gpu_backend(NULL));
}

/* ---- semaphores ---- */

static struct doca_gpu_semaphore *semaphore(enum doca_gpu_mem_type type, uint32_t items, uint32_t info)
{
	struct doca_gpu_semaphore *s;

	assert_int_equal(doca_gpu_semaphore_create(gpu, &s), DOCA_SUCCESS);
	assert_int_equal(doca_gpu_semaphore_set_memory_type(s, type), DOCA_SUCCESS);
	assert_int_equal(doca_gpu_semaphore_set_items_num(s, items), DOCA_SUCCESS);
	if (info != 0)
		assert_int_equal(doca_gpu_semaphore_set_custom_info(s, info, type), DOCA_SUCCESS);
	assert_int_equal(doca_gpu_semaphore_start(s), DOCA_SUCCESS);
	return s;
}

static void kernel_and_cpu_share_a_semaphore(void **state)
{
	struct doca_gpu_semaphore *s = semaphore(DOCA_GPU_MEM_TYPE_CPU_GPU, 8, 24);
	enum doca_gpu_semaphore_status status;
	struct kernel_args args = {0};
	void *addr, *info;
	uint32_t *words = shared(8 * sizeof(*words), &addr);

	args.words = addr;
	assert_int_equal(doca_gpu_semaphore_get_gpu_handle(s, &args.semaphore), DOCA_SUCCESS);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(doca_gpu_semaphore_set_status(s, i, DOCA_GPU_SEMAPHORE_STATUS_READY), DOCA_SUCCESS);
	run(use_semaphore, "use_semaphore", 1, 1, &args);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(words[i], 0); /* each check of the kernel passed */
	assert_int_equal(doca_gpu_semaphore_get_status(s, 3, &status), DOCA_SUCCESS);
	assert_int_equal(status, DOCA_GPU_SEMAPHORE_STATUS_DONE);
	assert_int_equal(doca_gpu_semaphore_get_custom_info_addr(s, 3, &info), DOCA_SUCCESS);
	assert_int_equal(*(uint32_t *)info, 33);
	assert_int_equal(doca_gpu_semaphore_destroy(s), DOCA_SUCCESS);
	assert_int_equal(doca_gpu_mem_free(gpu, addr), DOCA_SUCCESS);
}

static void semaphore_in_gpu_memory_has_no_cpu_access(void **state)
{
	struct doca_gpu_semaphore *s = semaphore(DOCA_GPU_MEM_TYPE_GPU, 4, 0);
	enum doca_gpu_semaphore_status status;
	void *info;

	assert_int_equal(doca_gpu_semaphore_get_status(s, 0, &status), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_gpu_semaphore_set_status(s, 0, DOCA_GPU_SEMAPHORE_STATUS_DONE), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_gpu_semaphore_get_custom_info_addr(s, 0, &info), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_gpu_semaphore_destroy(s), DOCA_SUCCESS);
}

static void wrong_semaphore_arguments(void **state)
{
	struct doca_gpu_semaphore_gpu *handle;
	enum doca_gpu_semaphore_status status;
	struct doca_gpu_semaphore *s;

	assert_int_equal(doca_gpu_semaphore_create(NULL, &s), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_gpu_semaphore_create(gpu, &s), DOCA_SUCCESS);
	assert_int_equal(doca_gpu_semaphore_start(s), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_gpu_semaphore_get_gpu_handle(s, &handle), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_gpu_semaphore_set_items_num(s, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_gpu_semaphore_set_memory_type(s, (enum doca_gpu_mem_type)9), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_gpu_semaphore_set_custom_info(s, 0, DOCA_GPU_MEM_TYPE_GPU), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_gpu_semaphore_set_memory_type(s, DOCA_GPU_MEM_TYPE_CPU_GPU), DOCA_SUCCESS);
	assert_int_equal(doca_gpu_semaphore_set_items_num(s, 2), DOCA_SUCCESS);
	assert_int_equal(doca_gpu_semaphore_start(s), DOCA_SUCCESS);
	assert_int_equal(doca_gpu_semaphore_start(s), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_gpu_semaphore_set_items_num(s, 4), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_gpu_semaphore_get_status(s, 2, &status), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_gpu_semaphore_stop(s), DOCA_SUCCESS);
	assert_int_equal(doca_gpu_semaphore_get_status(s, 0, &status), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_gpu_semaphore_destroy(s), DOCA_SUCCESS);
	assert_int_equal(doca_gpu_semaphore_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
}

/* ---- verbs ---- */

static void verbs_are_not_supported(void **state)
{
	struct doca_gpu_verbs_qp *qp = (struct doca_gpu_verbs_qp *)&gpu, *out;
	struct doca_gpu_dev_verbs_qp *dev_qp;
	uint8_t enabled;

	assert_int_equal(doca_gpu_verbs_get_qp_dev(qp, &dev_qp), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_gpu_verbs_unexport_qp(gpu, qp), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_gpu_verbs_cpu_proxy_enabled(qp, &enabled), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_gpu_verbs_cpu_proxy_progress(qp), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_gpu_verbs_cpu_proxy_progress(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_gpu_verbs_export_qp(gpu, NULL, NULL, DOCA_GPUNETIO_VERBS_NIC_HANDLER_AUTO, NULL, NULL, NULL, &out),
			 DOCA_ERROR_INVALID_VALUE);
}

/* Last: on a CUDA GPU the fault ends the device for this process. */
static void fault_is_reported_by_its_name(void **state)
{
	struct softfield_kernel kernel = KERNEL(write_badly);
	struct kernel_args args = {.value = 16};
	struct softfield_launch *launch;
	void *addr;

	if (is_soft())
		skip(); /* there the fault is one of the process itself */
	assert_int_equal(doca_gpu_mem_alloc(gpu, 4096, 0, DOCA_GPU_MEM_TYPE_GPU, &addr, NULL), DOCA_SUCCESS);
	assert_int_equal(softfield_gpu_launch(gpu, &kernel, 1, 1, &args, sizeof(args), &launch), DOCA_SUCCESS);
	assert_int_equal(softfield_gpu_launch_wait(launch, DEADLINE_MS), DOCA_ERROR_IO_FAILED);
	assert_string_equal(softfield_gpu_launch_error(launch), "CUDA_ERROR_ILLEGAL_ADDRESS");
	assert_int_equal(softfield_gpu_launch_destroy(launch), DOCA_SUCCESS);
	assert_int_equal(doca_gpu_mem_free(gpu, addr), DOCA_SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_spellings_of_an_address),
		cmocka_unit_test(unknown_address_is_not_found),
		cmocka_unit_test(gpu_in_use_cannot_be_destroyed),
		cmocka_unit_test(memory_is_aligned_and_zero),
		cmocka_unit_test(shared_memory_is_seen_by_both),
		cmocka_unit_test(wrong_memory_arguments),
		cmocka_unit_test(double_free_is_rejected),
		cmocka_unit_test(dmabuf_is_exported_or_not_supported),
		cmocka_unit_test(device_memory_is_known_as_such),
		cmocka_unit_test(every_thread_runs_once_with_its_index),
		cmocka_unit_test(block_barrier_holds_all_threads),
		cmocka_unit_test(persistent_kernel_stops_within_100_ms),
		cmocka_unit_test(wrong_launch_arguments),
		cmocka_unit_test(kernel_and_cpu_share_a_semaphore),
		cmocka_unit_test(semaphore_in_gpu_memory_has_no_cpu_access),
		cmocka_unit_test(wrong_semaphore_arguments),
		cmocka_unit_test(verbs_are_not_supported),
		cmocka_unit_test(fault_is_reported_by_its_name),
	};

	return cmocka_run_group_tests(tests, open_gpu, close_gpu);
}
