/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DMA tasks on memory of a real GPU, which is pretended here: a range that the CPU cannot access, as its pages are mapped without
 * rights, and that only sf_gpu_copy reaches, by a second mapping. tests/system/gpu_dma_test.c uses a GPU.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <sys/mman.h>

#include "core/gpu.h"
#include "dma_fixture.h"

#define GPU_SIZE ((size_t)SIZE)

static uint8_t *gpu, *gpu_view; /* the GPU's addresses, and where its bytes are for this test */
static struct doca_mmap *gpu_mmap;
static bool gpu_is_lost;

static bool gpu_owns(const void *addr)
{
	return (const uint8_t *)addr >= gpu && (const uint8_t *)addr < gpu + GPU_SIZE;
}

static doca_error_t gpu_copy(void *to, const void *from, size_t len)
{
	assert_true(gpu_owns(to) || gpu_owns(from));
	if (gpu_is_lost)
		return DOCA_ERROR_IO_FAILED;
	memmove(gpu_owns(to) ? gpu_view + ((uint8_t *)to - gpu) : to,
		gpu_owns(from) ? gpu_view + ((const uint8_t *)from - gpu) : from, len);
	return DOCA_SUCCESS;
}

static int gpu_setup(void **state)
{
	int fd = memfd_create("gpu memory", MFD_CLOEXEC);

	setup(state);
	assert_int_equal(ftruncate(fd, SIZE), 0);
	gpu = mmap(NULL, GPU_SIZE, PROT_NONE, MAP_SHARED, fd, 0);
	gpu_view = mmap(NULL, GPU_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	gpu_is_lost = false;
	sf_gpu_owns_address = gpu_owns;
	sf_gpu_copy = gpu_copy;
	gpu_mmap = rig_mmap(&((struct fixture *)*state)->rig, gpu, GPU_SIZE, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	return 0;
}

static int gpu_teardown(void **state)
{
	assert_int_equal(doca_mmap_destroy(gpu_mmap), DOCA_SUCCESS);
	teardown(state);
	sf_gpu_owns_address = NULL;
	sf_gpu_copy = NULL;
	munmap(gpu, GPU_SIZE);
	munmap(gpu_view, GPU_SIZE);
	return 0;
}

static void copy(struct fixture *f, struct doca_buf *src, struct doca_buf *dst)
{
	assert_int_equal(rig_copy(&f->rig, src, dst), DOCA_SUCCESS);
	assert_int_equal(doca_buf_dec_refcount(src, NULL), DOCA_SUCCESS);
	assert_int_equal(doca_buf_dec_refcount(dst, NULL), DOCA_SUCCESS);
}

static void host_and_gpu(void **state)
{
	static const size_t lengths[] = {1, 100, 1 << 20, LARGE + 1};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		size_t len = lengths[i];

		copy(f, source(f, 7 * i, len), rig_destination(&f->rig, gpu_mmap, gpu + 3, len));
		assert_memory_equal(gpu_view + 3, f->memory + 7 * i, len);
		gpu_view[3]++;
		copy(f, rig_source(&f->rig, gpu_mmap, gpu + 3, len), destination(f, SIZE / 2, len));
		assert_memory_equal(f->memory + SIZE / 2, gpu_view + 3, len);
	}
}

static void within_the_gpu(void **state)
{
	struct fixture *f = *state;

	memset(gpu_view, 5, LARGE);
	copy(f, rig_source(&f->rig, gpu_mmap, gpu, LARGE), rig_destination(&f->rig, gpu_mmap, gpu + SIZE / 2, LARGE));
	assert_memory_equal(gpu_view + SIZE / 2, gpu_view, LARGE);
}

/* The pieces of both lists do not match. */
static void lists_of_both(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = source(f, 0, 1000), *dst = rig_destination(&f->rig, gpu_mmap, gpu + 4096, 1500);

	memset(gpu_view, 9, 2000);
	assert_int_equal(doca_buf_chain_list(src, rig_source(&f->rig, gpu_mmap, gpu, 2000)), DOCA_SUCCESS);
	assert_int_equal(doca_buf_chain_list(dst, destination(f, 8192, 1500)), DOCA_SUCCESS);
	copy(f, src, dst);
	assert_memory_equal(gpu_view + 4096, f->memory, 1000);
	assert_memory_equal(gpu_view + 5096, gpu_view, 500);
	assert_memory_equal(f->memory + 8192, gpu_view, 1500);
}

/* By way of a bounce buffer, of which it needs several. */
static void imported_memory_and_gpu(void **state)
{
	struct fixture *f = *state;
	struct doca_mmap *imported, *exported = rig_mmap(&f->rig, f->memory + 4096, 65536, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	const void *descriptor;
	size_t len;

	assert_int_equal(doca_mmap_export_pci(exported, f->rig.dev, &descriptor, &len), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_create_from_export(NULL, descriptor, len, f->rig.dev, &imported), DOCA_SUCCESS);
	copy(f, rig_source(&f->rig, imported, f->memory + 5000, 50000), rig_destination(&f->rig, gpu_mmap, gpu, 50000));
	assert_memory_equal(gpu_view, f->memory + 5000, 50000);
	memset(gpu_view, 3, 50000);
	copy(f, rig_source(&f->rig, gpu_mmap, gpu, 50000), rig_destination(&f->rig, imported, f->memory + 6000, 50000));
	assert_memory_equal(f->memory + 6000, gpu_view, 50000);
	assert_int_equal(doca_mmap_destroy(imported), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(exported), DOCA_SUCCESS);
}

static void lost_gpu_fails_the_task(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = source(f, 0, 100), *dst = rig_destination(&f->rig, gpu_mmap, gpu, 100);

	gpu_is_lost = true;
	assert_int_equal(rig_copy(&f->rig, src, dst), DOCA_ERROR_IO_FAILED);
	RIG_WAIT(&f->rig, f->rig.state == DOCA_CTX_STATE_IDLE);
	assert_int_equal(rig_data_len(dst), 0);
	rig_put(src);
	rig_put(dst);
}

static void read_only_memory_is_no_destination(void **state)
{
	struct fixture *f = *state;
	struct doca_mmap *mmap = rig_mmap(&f->rig, gpu, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	struct doca_buf *src = source(f, 0, 100), *dst = rig_destination(&f->rig, mmap, gpu, 100);

	expect_wrong(f, src, dst, DOCA_ERROR_NOT_PERMITTED);
	rig_put(src);
	rig_put(dst);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

#define T(name) cmocka_unit_test_setup_teardown(name, gpu_setup, gpu_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(host_and_gpu),
		T(within_the_gpu),
		T(lists_of_both),
		T(imported_memory_and_gpu),
		T(lost_gpu_fails_the_task),
		T(read_only_memory_is_no_destination),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
