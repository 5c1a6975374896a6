/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies from kernels, between memory of the GPU, of this process and of another one: this program again, with a memory map on
 * the host's function. On the software GPU; with SOFTFIELD_GPU=cuda the same tests run on a CUDA GPU.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <doca_buf.h>
#include <doca_buf_array.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dma.h>
#include <doca_gpunetio.h>
#include <doca_pe.h>
#include <softfield/gpu.h>

#include "core/gpu.h"
#include "gpu_dma_kernel.h"
#include "support/exporter.h"
#include "support/wait.h"

#define GPU "b5:00.0"
#define DEVICE "03:00.0" /* may import what the host's function exports */
#define DEADLINE_MS 60000
#define SIZE (UINT64_C(8) << 20) /* of each memory: two elements */
#define ELEMENT (SIZE / 2)
#define QUEUE 4096u
#define EXPORTED_OFFSET 640 /* where a memory map begins that is not of whole pages */
/* Instead of an offset: the exporter's memory is of type GPU_CPU, small or large. */
#define EXPORTED_SMALL (SIZE + 1)
#define EXPORTED_LARGE (SIZE + 2)
#define SMALL_SIZE ((size_t)4096)
#define LARGE_SIZE ((size_t)1 << 20)

#ifdef HAVE_CUDA_CODE
extern const uint8_t gpu_dma_image[], gpu_dma_image_end[];
#define IMAGE gpu_dma_image
#define IMAGE_SIZE ((size_t)(gpu_dma_image_end - gpu_dma_image))
#else
#define IMAGE NULL
#define IMAGE_SIZE 0
#endif

/* What kernels and this process share, in pinned memory. */
struct shared {
	struct copy copies[COPIES_MAX];
	uint32_t results[COPIES_MAX], commits[THREADS_MAX];
	uint32_t go_on;
};

struct fixture {
	struct doca_dev *dev;
	struct doca_gpu *gpu;
	struct doca_dma *dma;
	struct doca_ctx *ctx;
	uint8_t *memory[PLACES]; /* of PLACE_GPU, the address for kernels */
	struct doca_mmap *mmaps[PLACES];
	struct doca_buf_arr *arrays[PLACES];
	struct doca_gpu_buf_arr *handles[PLACES];
	struct shared *shared, *shared_gpu;
	uint32_t num;	   /* copies in the list */
	uint8_t *model[2]; /* what the first two memories must contain */
	struct softfield_launch *launch;
};

/* ---- memory ---- */

static void array_add(struct fixture *f, enum place place, size_t len)
{
	struct doca_buf_arr **array = &f->arrays[place];

	CHECK_OK(doca_buf_arr_create(2, array));
	CHECK_OK(doca_buf_arr_set_target_gpu(*array, f->gpu));
	CHECK_OK(doca_buf_arr_set_params(*array, f->mmaps[place], len / 2, 0));
	CHECK_OK(doca_buf_arr_start(*array));
	CHECK_OK(doca_buf_arr_get_gpu_handle(*array, &f->handles[place]));
}

static void mmap_add(struct fixture *f, enum place place, uint8_t *memory, uint32_t permissions)
{
	struct doca_mmap **mmap = &f->mmaps[place];

	CHECK_OK(doca_mmap_create(mmap));
	CHECK_OK(doca_mmap_set_memrange(*mmap, memory, SIZE));
	CHECK_OK(doca_mmap_set_permissions(*mmap, permissions));
	CHECK_OK(doca_mmap_add_dev(*mmap, f->dev));
	CHECK_OK(doca_mmap_start(*mmap));
	f->memory[place] = memory;
	array_add(f, place, SIZE);
}

static void place_remove(struct fixture *f, enum place place)
{
	CHECK_OK(doca_mmap_destroy(f->mmaps[place])); /* in the order of published programs: the memory map first */
	CHECK_OK(doca_buf_arr_destroy(f->arrays[place]));
	f->mmaps[place] = NULL;
}

/* Fills a memory with a pattern. */
static void fill(struct fixture *f, enum place place, uint32_t seed)
{
	for (size_t i = 0; i < SIZE; i++)
		f->model[place][i] = (uint8_t)(seed * 31 + i * 7 + (i >> 11));
	if (place == PLACE_GPU)
		CHECK_OK(f->gpu->ops->copy_to(f->gpu, f->memory[place], f->model[place], SIZE));
	else
		memcpy(f->memory[place], f->model[place], SIZE);
}

static void verify(struct fixture *f, enum place place)
{
	uint8_t *bytes = f->memory[place];

	if (place == PLACE_GPU) {
		bytes = malloc(SIZE);
		CHECK_OK(f->gpu->ops->copy_from(f->gpu, bytes, f->memory[place], SIZE));
	}
	assert_memory_equal(bytes, f->model[place], SIZE);
	if (place == PLACE_GPU)
		free(bytes);
}

/* ---- the fixture ---- */

static void prepare(struct fixture *f)
{
	void *gpu_addr, *cpu_addr;

	memset(f, 0, sizeof(*f));
	f->dev = test_dev_open_pci(DEVICE);
	CHECK_OK(doca_gpu_create(GPU, &f->gpu));
	CHECK_OK(doca_gpu_mem_alloc(f->gpu, sizeof(struct shared), 4096, DOCA_GPU_MEM_TYPE_CPU_GPU, &gpu_addr, &cpu_addr));
	f->shared = cpu_addr;
	f->shared_gpu = gpu_addr;
	CHECK_OK(doca_gpu_mem_alloc(f->gpu, SIZE, 4096, DOCA_GPU_MEM_TYPE_GPU, &gpu_addr, NULL));
	mmap_add(f, PLACE_GPU, gpu_addr, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	mmap_add(f, PLACE_HOST, aligned_alloc(4096, SIZE), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	for (int i = 0; i < 2; i++) {
		f->model[i] = malloc(SIZE);
		fill(f, i, (uint32_t)i);
	}
	CHECK_OK(doca_dma_create(f->dev, &f->dma));
	f->ctx = doca_dma_as_ctx(f->dma);
	CHECK_OK(doca_ctx_set_datapath_on_gpu(f->ctx, f->gpu));
}

static void open_all(struct fixture *f)
{
	prepare(f);
	CHECK_OK(doca_ctx_start(f->ctx)); /* without a progress engine, as published programs do */
}

static void close_all(struct fixture *f)
{
	CHECK_OK(doca_ctx_stop(f->ctx));
	CHECK_OK(doca_dma_destroy(f->dma));
	for (int i = 0; i < PLACES; i++)
		if (f->mmaps[i] != NULL)
			place_remove(f, i);
	CHECK_OK(doca_gpu_mem_free(f->gpu, f->memory[PLACE_GPU]));
	CHECK_OK(doca_gpu_mem_free(f->gpu, f->shared_gpu));
	free(f->memory[PLACE_HOST]);
	free(f->model[0]);
	free(f->model[1]);
	CHECK_OK(doca_gpu_destroy(f->gpu));
	CHECK_OK(doca_dev_close(f->dev));
}

/* ---- running ---- */

static void add(struct fixture *f, struct copy copy)
{
	assert_true(f->num < COPIES_MAX);
	f->shared->copies[f->num++] = copy;
}

/* A copy that succeeds. */
static void add_good(struct fixture *f, enum place from, uint64_t from_offset, enum place to, uint64_t to_offset, uint64_t len)
{
	add(f, (struct copy){.from = from, .from_offset = from_offset, .to = to, .to_offset = to_offset, .len = len});
	if (from < 2 && to < 2)
		memcpy(f->model[to] + to_offset, f->model[from] + from_offset, len);
}

static struct copies_args args_of(struct fixture *f)
{
	struct copies_args args = {.copies = f->shared_gpu->copies,
				   .results = f->shared_gpu->results,
				   .commits = f->shared_gpu->commits,
				   .go_on = &f->shared_gpu->go_on,
				   .num = f->num,
				   .committers = 1};

	memcpy(args.arrays, f->handles, sizeof(args.arrays));
	CHECK_OK(doca_dma_get_gpu_handle(f->dma, &args.dma));
	return args;
}

static void launch(struct fixture *f, uint32_t threads, const struct copies_args *args)
{
	const struct softfield_kernel kernel = {"run_copies", run_copies, IMAGE, IMAGE_SIZE};

	memset(f->shared->results, 0xff, sizeof(f->shared->results));
	memset(f->shared->commits, 0xff, sizeof(f->shared->commits));
	f->shared->go_on = 0;
	CHECK_OK(softfield_gpu_launch(f->gpu, &kernel, 1, threads, args, sizeof(*args), &f->launch));
}

/* Waits for the kernel's end, and empties the list. */
static void await_kernel(struct fixture *f)
{
	CHECK_OK(softfield_gpu_launch_wait(f->launch, DEADLINE_MS));
	CHECK_OK(softfield_gpu_launch_destroy(f->launch));
	f->num = 0;
}

static void run_args(struct fixture *f, uint32_t threads, const struct copies_args *args)
{
	launch(f, threads, args);
	await_kernel(f);
}

/* Runs the copies of the list, which must all succeed. */
static void run(struct fixture *f, uint32_t threads)
{
	struct copies_args args = args_of(f);

	run_args(f, threads, &args);
	for (uint32_t i = 0; i < args.num; i++)
		assert_int_equal(f->shared->results[i], DOCA_SUCCESS);
	assert_int_equal(f->shared->commits[0], DOCA_SUCCESS);
}

/* ---- copies ---- */

static void every_alignment_and_memory(void **state)
{
	static const uint64_t lengths[] = {1, 2, 3, 4, 8, 13, 16, 40, 127, 300};
	struct fixture f;

	open_all(&f);
	for (uint32_t way = 0; way < 4; way++) {
		enum place from = way & 1 ? PLACE_HOST : PLACE_GPU, to = way & 2 ? PLACE_HOST : PLACE_GPU;

		for (uint32_t k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++) {
			for (uint32_t i = 0; i < 256; i++)
				add_good(&f, from, i * 512 + i / 16, to, ELEMENT + i * 512 + i % 16, lengths[k]);
			run(&f, 32);
		}
		verify(&f, to);
	}
	close_all(&f);
}

static void large_copies(void **state)
{
	static const struct {
		uint64_t from, to, len;
	} copies[] = {{0, 0, 3 << 20},	   {0, 0, 65536},     {16, 32, 1024},	 {48, 16, 8192 * 5 + 16}, {5, 21, 100003},
		      {8, 16, 65536 + 24}, {4, 0, 65536 + 4}, {3, 8, (1 << 20)}, {0, 7, 70001},		  {9, 2, 4095}};
	struct fixture f;

	open_all(&f);
	for (uint32_t way = 0; way < 4; way++) {
		enum place from = way & 1 ? PLACE_HOST : PLACE_GPU, to = way & 2 ? PLACE_HOST : PLACE_GPU;

		for (uint32_t k = 0; k < sizeof(copies) / sizeof(copies[0]); k++) {
			add_good(&f, from, copies[k].from, to, ELEMENT + copies[k].to, copies[k].len);
			run(&f, 1);
			verify(&f, to);
			fill(&f, to, k + 100 * way);
		}
	}
	close_all(&f);
}

/* Large ones among small ones: in one commit. */
static void many_copies_in_one_commit(void **state)
{
	struct fixture f;
	uint64_t at = 0;

	open_all(&f);
	for (uint32_t i = 0; i < 600; i++) {
		uint64_t len = i % 3 == 0 ? 4096 + 16 * i : i % 3 == 1 ? 8 : 1 + i;

		add_good(&f, i & 1 ? PLACE_HOST : PLACE_GPU, at, i & 1 ? PLACE_GPU : PLACE_HOST, ELEMENT + at, len);
		at = (at + len + 15) & ~UINT64_C(15);
	}
	assert_true(at <= ELEMENT);
	run(&f, 64);
	verify(&f, PLACE_GPU);
	verify(&f, PLACE_HOST);
	close_all(&f);
}

static void a_later_commit_copies_what_an_earlier_one_wrote(void **state)
{
	struct fixture f;

	open_all(&f);
	for (uint32_t i = 0; i < 20; i++) {
		uint64_t len = i % 2 ? 12 : 16384;

		add_good(&f, PLACE_GPU, i * 16384, PLACE_HOST, ELEMENT, len);
		run(&f, 1);
		add_good(&f, PLACE_HOST, ELEMENT, PLACE_GPU, (i + 1) * 16384, len);
		run(&f, 1);
	}
	verify(&f, PLACE_GPU);
	verify(&f, PLACE_HOST);
	close_all(&f);
}

static void copies_overlap_the_border_of_elements(void **state)
{
	struct fixture f;

	open_all(&f);
	add_good(&f, PLACE_GPU, ELEMENT - 100, PLACE_HOST, ELEMENT - 50, 1000);
	run(&f, 1);
	add(&f,
	    (struct copy){.from = PLACE_GPU, .from_element = 1, .from_offset = 7, .to = PLACE_HOST, .to_offset = 9, .len = 99});
	memcpy(f.model[PLACE_HOST] + 9, f.model[PLACE_GPU] + ELEMENT + 7, 99);
	run(&f, 1);
	verify(&f, PLACE_HOST);
	close_all(&f);
}

/* ---- completion ---- */

static void nothing_is_copied_before_the_commit(void **state)
{
	struct copies_args args;
	struct fixture f;

	open_all(&f);
	add(&f, (struct copy){.from = PLACE_GPU, .to = PLACE_HOST, .len = 64});
	args = args_of(&f);
	args.committers = 0;
	run_args(&f, 1, &args);
	assert_int_equal(f.shared->results[0], DOCA_SUCCESS);
	verify(&f, PLACE_HOST);
	memcpy(f.model[PLACE_HOST], f.model[PLACE_GPU], 64);
	run(&f, 1); /* another kernel commits */
	verify(&f, PLACE_HOST);
	close_all(&f);
}

static void host_sees_the_bytes_after_the_commit(void **state)
{
	struct copies_args args;
	struct fixture f;

	open_all(&f);
	for (uint32_t len = 8; len <= 65536; len *= 32) {
		volatile uint32_t *committed = &f.shared->commits[0];

		fill(&f, PLACE_HOST, len);
		add_good(&f, PLACE_GPU, len, PLACE_HOST, 128, len);
		args = args_of(&f);
		args.waits = 1;
		launch(&f, 1, &args);
		WAIT_UNTIL(__atomic_load_n(committed, __ATOMIC_ACQUIRE) == DOCA_SUCCESS);
		verify(&f, PLACE_HOST); /* the kernel still runs */
		__atomic_store_n(&f.shared->go_on, 1, __ATOMIC_RELEASE);
		await_kernel(&f);
	}
	close_all(&f);
}

static void full_queue_gives_again(void **state)
{
	struct fixture f;
	struct copies_args args;

	open_all(&f);
	for (int round = 0; round < 3; round++) { /* a commit makes room again */
		for (uint32_t i = 0; i < QUEUE; i++)
			add_good(&f, PLACE_GPU, i * 64, PLACE_HOST, i * 64 + 1, 60);
		add(&f, (struct copy){.from = PLACE_GPU, .to = PLACE_HOST, .to_offset = ELEMENT, .len = 1});
		args = args_of(&f);
		run_args(&f, 1, &args);
		for (uint32_t i = 0; i <= QUEUE; i++)
			assert_int_equal(f.shared->results[i], i < QUEUE ? DOCA_SUCCESS : DOCA_ERROR_AGAIN);
		verify(&f, PLACE_HOST);
	}
	close_all(&f);
}

static void ignore_task(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task, (void)task_data, (void)ctx_data;
}

static void number_of_tasks_enlarges_the_queue(void **state)
{
	struct fixture f;

	prepare(&f);
	CHECK_OK(doca_dma_task_memcpy_set_conf(f.dma, ignore_task, ignore_task, QUEUE + 1)); /* to a power of two */
	CHECK_OK(doca_ctx_start(f.ctx));
	for (uint32_t i = 0; i < 2 * QUEUE; i++)
		add_good(&f, PLACE_GPU, i * 64, PLACE_HOST, i * 64 + 1, 60);
	run(&f, 32);
	verify(&f, PLACE_HOST);
	close_all(&f);
}

/* Threads that find the queue full commit, while others enqueue. */
static void threads_enqueue_and_commit_at_once(void **state)
{
	struct fixture f;
	struct copies_args args;

	open_all(&f);
	for (uint32_t i = 0; i < COPIES_MAX; i++)
		add_good(&f, PLACE_GPU, i * 1024 + i % 32, PLACE_HOST, i * 1024 + i % 31, 500 + i % 490);
	args = args_of(&f);
	args.retries = 1;
	args.committers = THREADS_MAX;
	run_args(&f, THREADS_MAX, &args);
	for (uint32_t i = 0; i < args.num; i++)
		assert_int_equal(f.shared->results[i], DOCA_SUCCESS);
	for (uint32_t i = 0; i < THREADS_MAX; i++)
		assert_int_equal(f.shared->commits[i], DOCA_SUCCESS);
	verify(&f, PLACE_HOST);
	close_all(&f);
}

/* ---- tasks ---- */

static void note_task(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)ctx_data;
	*(doca_error_t *)task_data.ptr = doca_task_get_status(doca_dma_task_memcpy_as_task(task));
}

static void copy_by_task(struct doca_dma *dma, struct doca_pe *pe, struct doca_buf *src, struct doca_buf *dst)
{
	doca_error_t status = DOCA_ERROR_IN_PROGRESS;
	struct doca_dma_task_memcpy *task;

	CHECK_OK(doca_dma_task_memcpy_alloc_init(dma, src, dst, (union doca_data){.ptr = &status}, &task));
	CHECK_OK(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	WAIT_UNTIL((doca_pe_progress(pe), status != DOCA_ERROR_IN_PROGRESS));
	CHECK_OK(status);
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	CHECK_OK(doca_buf_dec_refcount(src, NULL));
	CHECK_OK(doca_buf_dec_refcount(dst, NULL));
}

/* A context on the CPU. */
struct task_side {
	struct doca_buf_inventory *inventory;
	struct doca_dma *dma;
	struct doca_pe *pe;
};

static void task_side_open(struct task_side *side, struct doca_dev *dev)
{
	CHECK_OK(doca_pe_create(&side->pe));
	CHECK_OK(doca_dma_create(dev, &side->dma));
	CHECK_OK(doca_pe_connect_ctx(side->pe, doca_dma_as_ctx(side->dma)));
	CHECK_OK(doca_dma_task_memcpy_set_conf(side->dma, note_task, note_task, 1));
	CHECK_OK(doca_ctx_start(doca_dma_as_ctx(side->dma)));
	CHECK_OK(doca_buf_inventory_create(4, &side->inventory));
	CHECK_OK(doca_buf_inventory_start(side->inventory));
}

static void task_side_close(struct task_side *side)
{
	CHECK_OK(doca_ctx_stop(doca_dma_as_ctx(side->dma)));
	CHECK_OK(doca_dma_destroy(side->dma));
	CHECK_OK(doca_pe_destroy(side->pe));
	CHECK_OK(doca_buf_inventory_destroy(side->inventory));
}

/* It fills the GPU's memory, and reads it. */
static void tasks_copy_from_and_to_the_gpu(void **state)
{
	struct doca_buf *src, *dst;
	struct task_side side;
	struct fixture f;
	const size_t len = 3 << 20;

	open_all(&f);
	task_side_open(&side, f.dev);
	for (int way = 0; way < 4; way++) { /* also within one memory */
		enum place from = way & 1, to = way >> 1;

		CHECK_OK(doca_buf_inventory_buf_get_by_data(side.inventory, f.mmaps[from], f.memory[from] + 5, len, &src));
		CHECK_OK(doca_buf_inventory_buf_get_by_addr(side.inventory, f.mmaps[to], f.memory[to] + ELEMENT + 3, len, &dst));
		copy_by_task(side.dma, side.pe, src, dst);
		memcpy(f.model[to] + ELEMENT + 3, f.model[from] + 5, len);
		verify(&f, to);
		fill(&f, to, 50 + (uint32_t)way);
	}
	task_side_close(&side);
	close_all(&f);
}

/* ---- wrong numbers ---- */

static void wrong_copies_are_rejected(void **state)
{
	static const struct copy wrong[] = {
		{.from = PLACE_NONE, .to = PLACE_HOST, .len = 1},
		{.from = PLACE_GPU, .to = PLACE_NONE, .len = 1},
		{.from = PLACE_MADE, .to = PLACE_HOST, .len = 1},
		{.from = PLACE_GPU, .to = PLACE_MADE, .len = 1},
		{.from = PLACE_GPU, .to = PLACE_HOST},
		{.from = PLACE_GPU, .to = PLACE_HOST, .len = SIZE + 1},
		{.from = PLACE_GPU, .from_offset = 1, .to = PLACE_HOST, .len = SIZE},
		{.from = PLACE_GPU, .to = PLACE_HOST, .to_offset = 1, .len = SIZE},
		{.from = PLACE_GPU, .from_offset = SIZE, .to = PLACE_HOST, .len = 1},
		{.from = PLACE_GPU, .to = PLACE_HOST, .to_offset = SIZE, .len = 1},
		{.from = PLACE_GPU, .from_element = 1, .from_offset = ELEMENT, .to = PLACE_HOST, .len = 1},
		{.from = PLACE_GPU, .to = PLACE_HOST, .to_element = 1, .to_offset = 1, .len = ELEMENT},
		{.from = PLACE_GPU, .from_offset = UINT64_MAX, .to = PLACE_HOST, .len = 1},
		{.from = PLACE_GPU, .to = PLACE_HOST, .to_offset = UINT64_MAX, .len = 2},
		{.from = PLACE_GPU, .to = PLACE_HOST, .len = UINT64_MAX},
		{.from = PLACE_GPU, .from_offset = 16, .to = PLACE_HOST, .to_offset = 16, .len = UINT64_MAX - 15},
		{.from = PLACE_GPU, .from_element = 1, .from_offset = UINT64_MAX - 7, .to = PLACE_HOST, .len = 8},
		{.from = PLACE_GPU, .to = PLACE_HOST, .to_element = 1, .to_offset = -ELEMENT, .len = 8},
		{.from = PLACE_GPU, .to = PLACE_HOST, .to_offset = UINT64_C(1) << 63, .len = UINT64_C(1) << 63},
	};
	const uint32_t num = sizeof(wrong) / sizeof(wrong[0]);
	struct fixture f;
	struct copies_args args;

	open_all(&f);
	for (uint32_t i = 0; i < num; i++)
		add(&f, wrong[i]);
	args = args_of(&f);
	run_args(&f, 4, &args);
	for (uint32_t i = 0; i < num; i++)
		assert_int_equal(f.shared->results[i], DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(f.shared->commits[0], DOCA_SUCCESS);
	verify(&f, PLACE_GPU);
	verify(&f, PLACE_HOST);
	close_all(&f);
}

static void null_context(void **state)
{
	struct copies_args args;
	struct fixture f;

	open_all(&f);
	add(&f, (struct copy){.from = PLACE_GPU, .to = PLACE_HOST, .len = 64});
	args = args_of(&f);
	args.dma = NULL;
	run_args(&f, 1, &args);
	assert_int_equal(f.shared->results[0], DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(f.shared->commits[0], DOCA_ERROR_INVALID_VALUE);
	close_all(&f);
}

static void read_only_memory_is_a_source_only(void **state)
{
	uint8_t *memory = aligned_alloc(4096, SIZE);
	struct fixture f;
	struct copies_args args;

	memset(memory, 5, SIZE);
	open_all(&f);
	mmap_add(&f, PLACE_OTHER, memory, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	add(&f, (struct copy){.from = PLACE_GPU, .to = PLACE_OTHER, .len = 64});
	add(&f, (struct copy){.from = PLACE_OTHER, .to = PLACE_HOST, .len = 64});
	args = args_of(&f);
	run_args(&f, 1, &args);
	assert_int_equal(f.shared->results[0], DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(f.shared->results[1], DOCA_SUCCESS);
	memset(f.model[PLACE_HOST], 5, 64);
	verify(&f, PLACE_HOST);
	assert_int_equal(memory[0], 5);
	close_all(&f);
	free(memory);
}

/* ---- another process's memory ---- */

/* Adds one to each byte when it is asked to. */
static int run_exporter(int socket, size_t offset, uint32_t permissions)
{
	struct doca_dev *dev = test_dev_open_pci(EXPORTER_DEVICE);
	uint8_t *memory = aligned_alloc(4096, SIZE + 4096), *start = memory;
	size_t size = offset == EXPORTED_SMALL ? SMALL_SIZE : offset == EXPORTED_LARGE ? LARGE_SIZE : SIZE;
	struct doca_gpu *gpu = NULL;
	struct doca_mmap *mmap;
	void *gpu_addr, *cpu_addr;
	char command;

	if (size != SIZE) {
		CHECK_OK(doca_gpu_create(GPU, &gpu));
		CHECK_OK(doca_gpu_mem_alloc(gpu, size, 4096, DOCA_GPU_MEM_TYPE_GPU_CPU, &gpu_addr, &cpu_addr));
		start = cpu_addr;
	} else {
		start += offset;
	}
	memset(start, 20, size);
	mmap = exporter_export(socket, dev, start, size, permissions);
	while (recv(socket, &command, 1, 0) == 1) {
		for (size_t i = 0; i < size; i++)
			start[i]++;
		CHECK(send(socket, &command, 1, 0) == 1);
	}
	CHECK_OK(doca_mmap_destroy(mmap));
	CHECK_OK(doca_dev_close(dev));
	if (gpu != NULL) {
		CHECK_OK(doca_gpu_mem_free(gpu, gpu_addr));
		CHECK_OK(doca_gpu_destroy(gpu));
	}
	free(memory);
	return 0;
}

struct exporter {
	pid_t pid;
	int socket;
};

static void import(struct fixture *f, size_t offset, uint32_t permissions, struct exporter *exporter)
{
	uint8_t *there;

	exporter->pid = exporter_spawn("gpu_dma_test", offset, permissions, &exporter->socket);
	f->mmaps[PLACE_OTHER] = exporter_import(exporter->socket, f->dev, &there);
	array_add(f, PLACE_OTHER, SIZE);
}

static void exporter_step(const struct exporter *exporter)
{
	char command = 'a';

	assert_int_equal(send(exporter->socket, &command, 1, 0), 1);
	assert_int_equal(recv(exporter->socket, &command, 1, 0), 1);
}

static void exporter_end(const struct exporter *exporter)
{
	int status;

	close(exporter->socket);
	assert_int_equal(waitpid(exporter->pid, &status, 0), exporter->pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void imported_memory_is_copied_both_ways(void **state)
{
	struct exporter exporter;
	struct fixture f;

	open_all(&f);
	import(&f, 0, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE, &exporter);
	add_good(&f, PLACE_OTHER, 3, PLACE_HOST, 0, 1 << 20);
	add_good(&f, PLACE_GPU, 5, PLACE_OTHER, 2 << 20, 1 << 20);
	run(&f, 2);
	memset(f.model[PLACE_HOST], 20, 1 << 20);
	verify(&f, PLACE_HOST);
	exporter_step(&exporter);
	add_good(&f, PLACE_OTHER, 2 << 20, PLACE_HOST, 0, 1 << 20);
	run(&f, 1);
	for (size_t i = 0; i < 1 << 20; i++)
		f.model[PLACE_HOST][i] = (uint8_t)(f.model[PLACE_GPU][5 + i] + 1);
	verify(&f, PLACE_HOST);
	close_all(&f);
	exporter_end(&exporter);
}

/* Memory that kernels of the other process and its CPU can access: copied by tasks there and back. */
static void check_memory_for_both(size_t exported, size_t size)
{
	struct exporter exporter;
	struct doca_buf *src, *dst;
	struct task_side side;
	struct doca_mmap *mmap;
	struct fixture f;
	uint8_t *there;

	open_all(&f);
	task_side_open(&side, f.dev);
	exporter.pid = exporter_spawn("gpu_dma_test", exported,
				      DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE, &exporter.socket);
	mmap = exporter_import(exporter.socket, f.dev, &there);
	CHECK_OK(doca_buf_inventory_buf_get_by_data(side.inventory, f.mmaps[PLACE_HOST], f.memory[PLACE_HOST] + 5, size / 2,
						    &src));
	CHECK_OK(doca_buf_inventory_buf_get_by_addr(side.inventory, mmap, there + size / 2, size / 2, &dst));
	copy_by_task(side.dma, side.pe, src, dst);
	exporter_step(&exporter);
	CHECK_OK(doca_buf_inventory_buf_get_by_data(side.inventory, mmap, there, size, &src));
	CHECK_OK(doca_buf_inventory_buf_get_by_addr(side.inventory, f.mmaps[PLACE_HOST], f.memory[PLACE_HOST] + ELEMENT, size,
						    &dst));
	copy_by_task(side.dma, side.pe, src, dst);
	for (size_t i = 0; i < size / 2; i++) {
		f.model[PLACE_HOST][ELEMENT + i] = 21;
		f.model[PLACE_HOST][ELEMENT + size / 2 + i] = (uint8_t)(f.model[PLACE_HOST][5 + i] + 1);
	}
	verify(&f, PLACE_HOST);
	CHECK_OK(doca_mmap_destroy(mmap));
	task_side_close(&side);
	close_all(&f);
	exporter_end(&exporter);
}

static void memory_for_both_is_copied_from_another_process(void **state)
{
	(void)state;
	check_memory_for_both(EXPORTED_SMALL, SMALL_SIZE);
	check_memory_for_both(EXPORTED_LARGE, LARGE_SIZE);
}

/* Kernels of a real GPU have no address for pages that are mapped read-only. */
static void read_only_export_is_a_source_only(void **state)
{
	struct exporter exporter;
	struct fixture f;
	struct copies_args args;
	bool soft;

	open_all(&f);
	soft = strcmp(softfield_gpu_backend(f.gpu), "soft") == 0;
	import(&f, 0, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_ONLY, &exporter);
	add(&f, (struct copy){.from = PLACE_GPU, .to = PLACE_OTHER, .len = 64});
	add(&f, (struct copy){.from = PLACE_OTHER, .to = PLACE_HOST, .len = 64});
	args = args_of(&f);
	run_args(&f, 1, &args);
	assert_int_equal(f.shared->results[0], DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(f.shared->results[1], soft ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED);
	if (soft)
		memset(f.model[PLACE_HOST], 20, 64);
	verify(&f, PLACE_HOST);
	close_all(&f);
	exporter_end(&exporter);
}

static void memory_without_an_address_is_not_supported(void **state)
{
	struct exporter exporter;
	struct fixture f;
	struct copies_args args;

	open_all(&f);
	import(&f, EXPORTED_OFFSET, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE, &exporter);
	add(&f, (struct copy){.from = PLACE_GPU, .to = PLACE_OTHER, .len = 64});
	add(&f, (struct copy){.from = PLACE_OTHER, .to = PLACE_HOST, .len = 64});
	args = args_of(&f);
	run_args(&f, 1, &args);
	assert_int_equal(f.shared->results[0], DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(f.shared->results[1], DOCA_ERROR_NOT_SUPPORTED);
	close_all(&f);
	exporter_end(&exporter);
}

/* ---- the host's calls ---- */

static void host_calls(void **state)
{
	struct doca_dma_task_memcpy *task;
	struct doca_gpu_dma *handle = NULL;
	struct doca_dma *cpu;
	struct fixture f;

	prepare(&f);
	assert_int_equal(doca_dma_get_gpu_handle(f.dma, &handle), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_dma_get_gpu_handle(NULL, &handle), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dma_get_gpu_handle(f.dma, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_dma_create(f.dev, &cpu));
	assert_int_equal(doca_dma_get_gpu_handle(cpu, &handle), DOCA_ERROR_BAD_STATE);
	CHECK_OK(doca_dma_destroy(cpu));
	assert_null(handle);
	CHECK_OK(doca_ctx_start(f.ctx));
	CHECK_OK(doca_dma_get_gpu_handle(f.dma, &handle));
	assert_int_equal(doca_ctx_set_datapath_on_gpu(f.ctx, f.gpu), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_dma_task_memcpy_alloc_init(f.dma, NULL, NULL, (union doca_data){0}, &task),
			 DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_dma_destroy(f.dma), DOCA_ERROR_IN_USE);
	CHECK_OK(doca_ctx_stop(f.ctx));
	assert_int_equal(doca_dma_get_gpu_handle(f.dma, &handle), DOCA_ERROR_BAD_STATE);
	close_all(&f);
}

static void works_with_a_progress_engine_too(void **state)
{
	struct doca_pe *pe;
	struct fixture f;

	prepare(&f);
	CHECK_OK(doca_pe_create(&pe));
	CHECK_OK(doca_pe_connect_ctx(pe, f.ctx));
	CHECK_OK(doca_ctx_start(f.ctx));
	assert_int_equal(doca_pe_progress(pe), 0);
	add_good(&f, PLACE_HOST, 0, PLACE_GPU, 0, 4096);
	run(&f, 1);
	verify(&f, PLACE_GPU);
	close_all(&f);
	CHECK_OK(doca_pe_destroy(pe));
}

static void stopped_context_copies_nothing_until_it_is_started_again(void **state)
{
	struct copies_args args;
	struct fixture f;

	open_all(&f);
	add(&f, (struct copy){.from = PLACE_GPU, .to = PLACE_HOST, .len = 64});
	args = args_of(&f);
	CHECK_OK(doca_ctx_stop(f.ctx));
	run_args(&f, 1, &args); /* the handle is still valid */
	assert_int_equal(f.shared->results[0], DOCA_ERROR_BAD_STATE);
	assert_int_equal(f.shared->commits[0], DOCA_ERROR_BAD_STATE);
	verify(&f, PLACE_HOST);
	CHECK_OK(doca_ctx_start(f.ctx));
	add_good(&f, PLACE_GPU, 0, PLACE_HOST, 0, 64);
	run(&f, 1);
	verify(&f, PLACE_HOST);
	close_all(&f);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(host_calls),
		cmocka_unit_test(works_with_a_progress_engine_too),
		cmocka_unit_test(stopped_context_copies_nothing_until_it_is_started_again),
		cmocka_unit_test(every_alignment_and_memory),
		cmocka_unit_test(large_copies),
		cmocka_unit_test(many_copies_in_one_commit),
		cmocka_unit_test(a_later_commit_copies_what_an_earlier_one_wrote),
		cmocka_unit_test(copies_overlap_the_border_of_elements),
		cmocka_unit_test(nothing_is_copied_before_the_commit),
		cmocka_unit_test(host_sees_the_bytes_after_the_commit),
		cmocka_unit_test(full_queue_gives_again),
		cmocka_unit_test(number_of_tasks_enlarges_the_queue),
		cmocka_unit_test(threads_enqueue_and_commit_at_once),
		cmocka_unit_test(tasks_copy_from_and_to_the_gpu),
		cmocka_unit_test(wrong_copies_are_rejected),
		cmocka_unit_test(null_context),
		cmocka_unit_test(read_only_memory_is_a_source_only),
		cmocka_unit_test(imported_memory_is_copied_both_ways),
		cmocka_unit_test(memory_for_both_is_copied_from_another_process),
		cmocka_unit_test(read_only_export_is_a_source_only),
		cmocka_unit_test(memory_without_an_address_is_not_supported),
	};

	if (argc == 4)
		return run_exporter(atoi(argv[1]), (size_t)atol(argv[2]), (uint32_t)atol(argv[3]));
	if (argc == 2)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
