/* SPDX-License-Identifier: BSD-3-Clause */
/* Buf pools and buf arrays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_buf_array.h>
#include <doca_buf_pool.h>
#include <doca_mmap.h>
#include <softfield/gpu_buf.h>

#include "core/gpu.h"
#include "support/test_dev.h"

#define SIZE 4096
#define ELEM 60
#define NUM 4

struct fixture {
	struct doca_dev *dev;
	struct doca_mmap *mmap;
	char *memory;
	struct doca_buf_pool *pool;
	struct doca_buf_arr *arr;
};

static int setup(void **state)
{
	static struct fixture fixture;
	struct fixture *f = &fixture;

	f->dev = test_dev_open(0);
	assert_non_null(f->dev);
	f->memory = aligned_alloc(4096, SIZE);
	assert_int_equal(doca_mmap_create(&f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_add_dev(f->mmap, f->dev), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_memrange(f->mmap, f->memory + 4, SIZE - 4), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_buf_pool_create(NUM, ELEM, f->mmap, &f->pool), DOCA_SUCCESS);
	assert_int_equal(doca_buf_arr_create(NUM, &f->arr), DOCA_SUCCESS);
	*state = f;
	return 0;
}

/* Programs destroy the memory map first. */
static int teardown(void **state)
{
	struct fixture *f = *state;

	if (f->mmap != NULL)
		assert_int_equal(doca_mmap_destroy(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_buf_pool_destroy(f->pool), DOCA_SUCCESS);
	assert_int_equal(doca_buf_arr_destroy(f->arr), DOCA_SUCCESS);
	free(f->memory);
	assert_int_equal(doca_dev_close(f->dev), DOCA_SUCCESS);
	return 0;
}

/* ---- pools ---- */

static void pool_null_arguments(void **state)
{
	struct fixture *f = *state;
	struct doca_buf_pool *pool;
	struct doca_buf *buf;
	union doca_data data = {.u64 = 0};
	uint32_t num;
	size_t size;

	assert_int_equal(doca_buf_pool_create(0, ELEM, f->mmap, &pool), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_pool_create(NUM, 0, f->mmap, &pool), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_pool_create(NUM, ELEM, NULL, &pool), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_pool_create(NUM, ELEM, f->mmap, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_pool_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_pool_start(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_pool_stop(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_pool_buf_alloc(NULL, &buf), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_pool_buf_alloc(f->pool, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_pool_set_user_data(NULL, data), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_pool_get_user_data(f->pool, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_pool_set_element_alignment(NULL, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_pool_get_element_alignment(NULL, &size), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_pool_get_element_alignment(f->pool, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_pool_get_num_elements(NULL, &num), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_pool_get_num_free_elements(f->pool, NULL), DOCA_ERROR_INVALID_VALUE);
}

static void pool_gives_aligned_elements_until_empty(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *bufs[NUM], *more;
	uint32_t num;
	size_t size;
	void *head;

	assert_int_equal(doca_buf_pool_set_element_alignment(f->pool, 24), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_pool_set_element_alignment(f->pool, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_pool_set_element_alignment(f->pool, 64), DOCA_SUCCESS);
	assert_int_equal(doca_buf_pool_get_element_alignment(f->pool, &size), DOCA_SUCCESS);
	assert_int_equal(size, 64);
	assert_int_equal(doca_buf_pool_start(f->pool), DOCA_SUCCESS);
	for (int i = 0; i < NUM; i++) {
		assert_int_equal(doca_buf_pool_buf_alloc(f->pool, &bufs[i]), DOCA_SUCCESS);
		assert_int_equal(doca_buf_get_head(bufs[i], &head), DOCA_SUCCESS);
		assert_ptr_equal(head, f->memory + 64 + i * 64);
		assert_int_equal(doca_buf_get_len(bufs[i], &size), DOCA_SUCCESS);
		assert_int_equal(size, ELEM);
		assert_int_equal(doca_buf_get_data_len(bufs[i], &size), DOCA_SUCCESS);
		assert_int_equal(size, 0);
	}
	assert_int_equal(doca_buf_pool_buf_alloc(f->pool, &more), DOCA_ERROR_EMPTY);
	assert_int_equal(doca_buf_set_data(bufs[1], f->memory + 200, 7), DOCA_SUCCESS);
	assert_int_equal(doca_buf_dec_refcount(bufs[1], NULL), DOCA_SUCCESS);
	assert_int_equal(doca_buf_pool_get_num_free_elements(f->pool, &num), DOCA_SUCCESS);
	assert_int_equal(num, 1);
	assert_int_equal(doca_buf_pool_get_num_elements(f->pool, &num), DOCA_SUCCESS);
	assert_int_equal(num, NUM);
	assert_int_equal(doca_buf_pool_buf_alloc(f->pool, &more), DOCA_SUCCESS);
	assert_ptr_equal(more, bufs[1]);
	assert_int_equal(doca_buf_get_data_len(more, &size), DOCA_SUCCESS);
	assert_int_equal(size, 0);
	assert_int_equal(doca_buf_pool_stop(f->pool), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_buf_pool_destroy(f->pool), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_mmap_stop(f->mmap), DOCA_ERROR_NOT_PERMITTED);
	for (int i = 0; i < NUM; i++)
		assert_int_equal(doca_buf_dec_refcount(bufs[i], NULL), DOCA_SUCCESS);
	assert_int_equal(doca_buf_pool_stop(f->pool), DOCA_SUCCESS);
}

static void pool_states(void **state)
{
	struct fixture *f = *state;
	union doca_data data = {.u64 = 4};
	struct doca_buf *buf;

	assert_int_equal(doca_buf_pool_buf_alloc(f->pool, &buf), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_buf_pool_set_user_data(f->pool, data), DOCA_SUCCESS);
	assert_int_equal(doca_buf_pool_start(f->pool), DOCA_SUCCESS);
	assert_int_equal(doca_buf_pool_start(f->pool), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_buf_pool_set_user_data(f->pool, data), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_buf_pool_set_element_alignment(f->pool, 64), DOCA_ERROR_BAD_STATE);
	data.u64 = 0;
	assert_int_equal(doca_buf_pool_get_user_data(f->pool, &data), DOCA_SUCCESS);
	assert_int_equal(data.u64, 4);
	assert_int_equal(doca_mmap_stop(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_buf_pool_buf_alloc(f->pool, &buf), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_buf_pool_stop(f->pool), DOCA_SUCCESS);
	assert_int_equal(doca_buf_pool_start(f->pool), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_buf_pool_start(f->pool), DOCA_SUCCESS);
}

static void pool_must_fit_its_map(void **state)
{
	struct fixture *f = *state;
	const struct {
		size_t num, size, alignment;
		doca_error_t result;
	} cases[] = {
		{1, SIZE - 4, 1, DOCA_SUCCESS},
		{1, SIZE - 3, 1, DOCA_ERROR_INITIALIZATION},
		{2, (SIZE - 4) / 2, 1, DOCA_SUCCESS},
		{64, 64, 64, DOCA_ERROR_INITIALIZATION},
		{63, 64, 64, DOCA_SUCCESS},
		{2, SIZE_MAX, 64, DOCA_ERROR_INITIALIZATION},
		{3, SIZE_MAX / 2, 1, DOCA_ERROR_INITIALIZATION},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct doca_buf_pool *pool;

		assert_int_equal(doca_buf_pool_create(cases[i].num, cases[i].size, f->mmap, &pool), DOCA_SUCCESS);
		assert_int_equal(doca_buf_pool_set_element_alignment(pool, cases[i].alignment), DOCA_SUCCESS);
		assert_int_equal(doca_buf_pool_start(pool), cases[i].result);
		assert_int_equal(doca_buf_pool_destroy(pool), DOCA_SUCCESS);
	}
}

/* ---- arrays, on a GPU with ordinary memory ---- */

static uint32_t num_allocated, num_mapped;
static doca_error_t alloc_result;

static doca_error_t mem_alloc(struct doca_gpu *gpu, size_t size, size_t alignment, enum doca_gpu_mem_type type, void **gpu_addr,
			      void **cpu_addr)
{
	if (alloc_result != DOCA_SUCCESS)
		return alloc_result;
	assert_int_equal(type, DOCA_GPU_MEM_TYPE_GPU);
	*gpu_addr = aligned_alloc(alignment, (size + alignment - 1) & ~(alignment - 1));
	*cpu_addr = NULL;
	memset(*gpu_addr, 0, size);
	num_allocated++;
	return DOCA_SUCCESS;
}

static doca_error_t mem_free(struct doca_gpu *gpu, void *gpu_addr)
{
	num_allocated--;
	free(gpu_addr);
	return DOCA_SUCCESS;
}

static doca_error_t copy_to(struct doca_gpu *gpu, void *gpu_addr, const void *from, size_t len)
{
	memcpy(gpu_addr, from, len);
	return DOCA_SUCCESS;
}

#define GPU_SHIFT 0x100000000000

static doca_error_t host_map(struct doca_gpu *gpu, void *addr, size_t len, void **gpu_addr)
{
	assert_int_equal((uintptr_t)addr % 4096, 0);
	assert_int_equal(len % 4096, 0);
	num_mapped++;
	*gpu_addr = (char *)addr + GPU_SHIFT;
	return DOCA_SUCCESS;
}

static void host_unmap(struct doca_gpu *gpu, void *addr)
{
	assert_int_equal((uintptr_t)addr % 4096, 0);
	num_mapped--;
}

static const struct sf_gpu_ops soft_ops = {.name = "soft",
					   .mem_alloc = mem_alloc,
					   .mem_free = mem_free,
					   .copy_to = copy_to,
					   .host_map = host_map,
					   .host_unmap = host_unmap};
static const struct sf_gpu_ops hard_ops = {.name = "hard",
					   .hardware = true,
					   .mem_alloc = mem_alloc,
					   .mem_free = mem_free,
					   .copy_to = copy_to,
					   .host_map = host_map,
					   .host_unmap = host_unmap};

static void arr_null_arguments(void **state)
{
	struct fixture *f = *state;
	struct doca_buf_arr *arr;
	struct doca_gpu_buf_arr *handle;
	doca_dpa_dev_buf_arr_t dpa;

	assert_int_equal(doca_buf_arr_create(0, &arr), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_arr_create(1, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_arr_set_target_gpu(NULL, (struct doca_gpu *)f), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_arr_set_target_gpu(f->arr, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_arr_set_target_dpa(f->arr, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_arr_set_target_dpa(f->arr, (struct doca_dpa *)f), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_buf_arr_set_params(NULL, f->mmap, 1, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_arr_set_params(f->arr, NULL, 1, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_arr_set_params(f->arr, f->mmap, 0, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_arr_start(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_arr_stop(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_arr_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_arr_get_gpu_handle(NULL, &handle), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_arr_get_gpu_handle(f->arr, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_arr_get_dpa_handle(f->arr, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_arr_get_dpa_handle(f->arr, &dpa), DOCA_ERROR_BAD_STATE);
}

static void arr_needs_target_memory_and_a_started_map(void **state)
{
	struct fixture *f = *state;
	struct doca_gpu gpu = {.ops = &soft_ops};
	struct doca_gpu_buf_arr *handle;

	assert_int_equal(doca_buf_arr_start(f->arr), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_buf_arr_set_target_gpu(f->arr, &gpu), DOCA_SUCCESS);
	assert_int_equal(gpu.users, 1);
	assert_int_equal(doca_buf_arr_start(f->arr), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_buf_arr_set_params(f->arr, f->mmap, 64, 0), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_stop(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_buf_arr_start(f->arr), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_buf_arr_get_gpu_handle(f->arr, &handle), DOCA_ERROR_BAD_STATE);
	alloc_result = DOCA_ERROR_NO_MEMORY;
	assert_int_equal(doca_buf_arr_start(f->arr), DOCA_ERROR_NO_MEMORY);
	alloc_result = DOCA_SUCCESS;
	assert_int_equal(doca_buf_arr_start(f->arr), DOCA_SUCCESS);
	assert_int_equal(doca_buf_arr_start(f->arr), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_buf_arr_set_target_gpu(f->arr, &gpu), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_buf_arr_set_target_dpa(f->arr, (struct doca_dpa *)f), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_buf_arr_set_params(f->arr, f->mmap, 64, 0), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_buf_arr_stop(f->arr), DOCA_SUCCESS);
	assert_int_equal(doca_buf_arr_stop(f->arr), DOCA_SUCCESS);
	assert_int_equal(num_allocated, 0);
	assert_int_equal(doca_buf_arr_destroy(f->arr), DOCA_SUCCESS);
	assert_int_equal(gpu.users, 0);
	assert_int_equal(doca_buf_arr_create(NUM, &f->arr), DOCA_SUCCESS);
}

static void arr_must_fit_its_map(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(doca_buf_arr_set_params(f->arr, f->mmap, (SIZE - 4) / NUM, 0), DOCA_SUCCESS);
	assert_int_equal(doca_buf_arr_set_params(f->arr, f->mmap, (SIZE - 4) / NUM, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_arr_set_params(f->arr, f->mmap, SIZE_MAX / 2, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_arr_set_params(f->arr, f->mmap, 1, UINT64_MAX), DOCA_ERROR_INVALID_VALUE);
}

static void expect_array(const struct doca_gpu_buf_arr *arr, uint64_t base, uint64_t elem_size, uint32_t mkey)
{
	assert_int_equal(arr->base, base);
	assert_int_equal(arr->elem_size, elem_size);
	assert_int_equal(arr->num_elem, NUM);
	assert_int_equal(arr->mkey, mkey);
	for (uint64_t i = 0; i < NUM; i++) {
		assert_int_equal(arr->bufs[i].addr, base + i * elem_size);
		assert_int_equal(arr->bufs[i].mkey, mkey);
	}
}

static void arr_is_laid_out_for_kernels(void **state)
{
	struct fixture *f = *state;
	struct doca_gpu gpu = {.ops = &soft_ops};
	struct doca_gpu_buf_arr *handle;
	uint32_t mkey;

	assert_int_equal(doca_buf_arr_set_target_gpu(f->arr, &gpu), DOCA_SUCCESS);
	assert_int_equal(doca_buf_arr_set_params(f->arr, f->mmap, 100, 12), DOCA_SUCCESS);
	assert_int_equal(doca_buf_arr_start(f->arr), DOCA_SUCCESS);
	assert_int_equal(doca_buf_arr_get_gpu_handle(f->arr, &handle), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_get_mkey(f->mmap, f->dev, &mkey), DOCA_SUCCESS);
	expect_array(handle, (uintptr_t)f->memory + 4 + 12, 100, mkey);
	assert_int_equal(num_mapped, 0);
	/* programs stop and destroy the memory map before the array */
	assert_int_equal(doca_mmap_destroy(f->mmap), DOCA_SUCCESS);
	f->mmap = NULL;
	assert_int_equal(doca_buf_arr_destroy(f->arr), DOCA_SUCCESS);
	assert_int_equal(num_allocated, 0);
	assert_int_equal(doca_buf_arr_create(NUM, &f->arr), DOCA_SUCCESS);
}

static void arr_of_host_memory_is_mapped_for_a_real_gpu(void **state)
{
	struct fixture *f = *state;
	struct doca_gpu gpu = {.ops = &hard_ops};
	struct doca_gpu_buf_arr *handle;
	uint32_t mkey;

	assert_int_equal(doca_buf_arr_set_target_gpu(f->arr, &gpu), DOCA_SUCCESS);
	assert_int_equal(doca_buf_arr_set_params(f->arr, f->mmap, 100, 12), DOCA_SUCCESS);
	assert_int_equal(doca_buf_arr_start(f->arr), DOCA_SUCCESS);
	assert_int_equal(num_mapped, 1);
	assert_int_equal(doca_buf_arr_get_gpu_handle(f->arr, &handle), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_get_mkey(f->mmap, f->dev, &mkey), DOCA_SUCCESS);
	expect_array(handle, (uintptr_t)f->memory + 4 + 12 + GPU_SHIFT, 100, mkey);
	assert_int_equal(doca_buf_arr_stop(f->arr), DOCA_SUCCESS);
	assert_int_equal(num_mapped, 0);
	alloc_result = DOCA_ERROR_NO_MEMORY;
	assert_int_equal(doca_buf_arr_start(f->arr), DOCA_ERROR_NO_MEMORY);
	alloc_result = DOCA_SUCCESS;
	assert_int_equal(num_mapped, 0);
	assert_int_equal(doca_buf_arr_destroy(f->arr), DOCA_SUCCESS);
	assert_int_equal(doca_buf_arr_create(NUM, &f->arr), DOCA_SUCCESS);
}

static void arr_of_imported_memory_needs_its_owner(void **state)
{
	struct fixture *f = *state;
	struct doca_gpu gpu = {.ops = &soft_ops};
	struct doca_mmap *imported;
	const void *descriptor;
	size_t len;

	assert_int_equal(doca_mmap_stop(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_permissions(f->mmap, DOCA_ACCESS_FLAG_RDMA_WRITE), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_export_rdma(f->mmap, f->dev, &descriptor, &len), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_create_from_export(NULL, descriptor, len, f->dev, &imported), DOCA_SUCCESS);
	assert_int_equal(doca_buf_arr_set_target_gpu(f->arr, &gpu), DOCA_SUCCESS);
	assert_int_equal(doca_buf_arr_set_params(f->arr, imported, 100, 12), DOCA_SUCCESS);
	assert_int_equal(doca_buf_arr_start(f->arr), DOCA_SUCCESS);
	assert_int_equal(doca_buf_arr_stop(f->arr), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(f->mmap), DOCA_SUCCESS);
	f->mmap = NULL;
	assert_int_equal(doca_buf_arr_start(f->arr), DOCA_ERROR_BAD_STATE);
	assert_int_equal(num_allocated, 0);
	assert_int_equal(doca_buf_arr_destroy(f->arr), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(imported), DOCA_SUCCESS);
	assert_int_equal(doca_buf_arr_create(NUM, &f->arr), DOCA_SUCCESS);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(pool_null_arguments),
		T(pool_gives_aligned_elements_until_empty),
		T(pool_states),
		T(pool_must_fit_its_map),
		T(arr_null_arguments),
		T(arr_needs_target_memory_and_a_started_map),
		T(arr_must_fit_its_map),
		T(arr_is_laid_out_for_kernels),
		T(arr_of_host_memory_is_mapped_for_a_real_gpu),
		T(arr_of_imported_memory_needs_its_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
