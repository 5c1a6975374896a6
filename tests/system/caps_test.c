/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tries every capability of every device of a topology and compares the outcome with the answer. The capabilities are those in
 * doca_caps' table; one without an attempt here fails the test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sys/mman.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_clock.h>
#include <doca_ctx.h>
#include <doca_dma.h>
#include <doca_mmap.h>
#include <doca_mmap_advise.h>
#include <doca_pe.h>
#include <doca_sha.h>

#include "../../tools/doca_caps/capability.h"
#include "caps_aes_gcm.h"
#include "caps_attempts.h"

#define MEMORY_SIZE 65536
#define PROGRESS_MAX 1000000

static uint8_t memory[MEMORY_SIZE] __attribute__((aligned(4096)));
static bool task_ended;
static doca_error_t task_status;

/* ---- the device at the other end of the PCI bus ---- */

/* Unlike the PCI address, it belongs to one function alone. */
static uint16_t vhca_of(const struct doca_devinfo *info)
{
	uint16_t vhca;

	assert_int_equal(doca_devinfo_get_vhca_id(info, &vhca), DOCA_SUCCESS);
	return vhca;
}

static bool stands_for(const struct doca_devinfo_rep *rep, const struct doca_devinfo *info)
{
	uint16_t vhca;

	assert_int_equal(doca_devinfo_rep_get_vhca_id(rep, &vhca), DOCA_SUCCESS);
	return vhca == vhca_of(info);
}

struct doca_dev_rep *caps_rep(struct doca_dev *port, const struct doca_devinfo *function)
{
	struct doca_devinfo_rep **reps;
	struct doca_dev_rep *rep = NULL;
	uint32_t num;

	if (doca_devinfo_rep_create_list(port, DOCA_DEVINFO_REP_FILTER_NET, &reps, &num) != DOCA_SUCCESS)
		return NULL;
	for (uint32_t i = 0; i < num && rep == NULL; i++) {
		if (stands_for(reps[i], function))
			assert_int_equal(doca_dev_rep_open(reps[i], &rep), DOCA_SUCCESS);
	}
	doca_devinfo_rep_destroy_list(reps);
	return rep;
}

static bool has_rep(struct doca_dev *port, const struct doca_devinfo *function)
{
	struct doca_dev_rep *rep = caps_rep(port, function);

	if (rep != NULL)
		assert_int_equal(doca_dev_rep_close(rep), DOCA_SUCCESS);
	return rep != NULL;
}

/* Opens a function behind the device if the device is a port, but not one of the DPU's own; otherwise the port in front of the
 * device. */
static struct doca_dev *open_partner(struct doca_dev *dev)
{
	struct doca_devinfo **list, *info = doca_dev_as_devinfo(dev);
	struct doca_dev *other = NULL;
	enum doca_pci_func_type type;
	bool found = false;
	uint32_t num;

	assert_int_equal(doca_devinfo_create_list(&list, &num), DOCA_SUCCESS);
	for (uint32_t i = 0; i < num && !found; i++) {
		assert_int_equal(doca_dev_open(list[i], &other), DOCA_SUCCESS);
		assert_int_equal(doca_devinfo_get_pci_func_type(list[i], &type), DOCA_SUCCESS);
		found = has_rep(other, info) || (type != DOCA_PCI_FUNC_TYPE_SF && has_rep(dev, list[i]));
		if (!found)
			assert_int_equal(doca_dev_close(other), DOCA_SUCCESS);
	}
	assert_int_equal(doca_devinfo_destroy_list(list), DOCA_SUCCESS);
	return found ? other : NULL;
}

/* ---- memory, a progress engine and a context ---- */

static struct doca_mmap *map(struct doca_dev *dev, void *addr, size_t len)
{
	struct doca_mmap *mmap;

	assert_int_equal(doca_mmap_create(&mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_add_dev(mmap, dev), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_memrange(mmap, addr, len), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_PCI_READ_WRITE | DOCA_ACCESS_FLAG_LOCAL_READ_WRITE),
			 DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	return mmap;
}

/* A running context, bufs for its task, and the task's outcome. */
struct engine {
	struct doca_pe *pe;
	struct doca_ctx *ctx;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	struct doca_buf *src, *dst;
};

static void engine_begin(struct engine *e, struct doca_dev *dev, struct doca_ctx *ctx, void *addr, size_t len)
{
	e->ctx = ctx;
	assert_int_equal(doca_pe_create(&e->pe), DOCA_SUCCESS);
	assert_int_equal(doca_pe_connect_ctx(e->pe, ctx), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(ctx), DOCA_SUCCESS);
	e->mmap = map(dev, addr, len);
	assert_int_equal(doca_buf_inventory_create(256, &e->inventory), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_start(e->inventory), DOCA_SUCCESS);
	e->src = e->dst = NULL;
}

/* `pieces` adjacent bufs of `piece` bytes each. */
static struct doca_buf *list_of(struct engine *e, uint8_t *from, uint32_t pieces, size_t piece, bool has_data)
{
	struct doca_buf *head = NULL, *buf;

	for (uint32_t i = 0; i < pieces; i++) {
		doca_error_t result =
			has_data ? doca_buf_inventory_buf_get_by_data(e->inventory, e->mmap, from + i * piece, piece, &buf)
				 : doca_buf_inventory_buf_get_by_addr(e->inventory, e->mmap, from + i * piece, piece, &buf);

		assert_int_equal(result, DOCA_SUCCESS);
		if (head == NULL)
			head = buf;
		else
			assert_int_equal(doca_buf_chain_list(head, buf), DOCA_SUCCESS);
	}
	return head;
}

/* Submits the task, waits for its end if it was accepted, and frees it and the bufs. */
static doca_error_t run_task(struct engine *e, struct doca_task *task)
{
	doca_error_t result = doca_task_try_submit(task);

	task_ended = false;
	for (uint32_t i = 0; result == DOCA_SUCCESS && !task_ended; i++) {
		assert_true(i < PROGRESS_MAX);
		doca_pe_progress(e->pe);
	}
	if (result == DOCA_SUCCESS)
		result = task_status;
	doca_task_free(task);
	doca_buf_dec_refcount(e->src, NULL);
	doca_buf_dec_refcount(e->dst, NULL);
	return result;
}

static void engine_end(struct engine *e, doca_error_t (*destroy)(void *object), void *object)
{
	while (doca_ctx_stop(e->ctx) == DOCA_ERROR_IN_PROGRESS)
		doca_pe_progress(e->pe);
	assert_int_equal(destroy(object), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_destroy(e->inventory), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(e->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_pe_destroy(e->pe), DOCA_SUCCESS);
}

static void ended(struct doca_task *task)
{
	task_status = doca_task_get_status(task);
	task_ended = true;
}

/* ---- common ---- */

static void try_hotplug(const struct attempt *a)
{
	struct doca_devinfo_rep **reps;
	uint8_t is_hotplug;
	uint32_t num;

	if (doca_devinfo_rep_create_list(a->dev, DOCA_DEVINFO_REP_FILTER_ALL, &reps, &num) != DOCA_SUCCESS)
		return;
	for (uint32_t i = 0; i < num; i++) {
		assert_int_equal(doca_devinfo_rep_get_is_hotplug(reps[i], &is_hotplug), DOCA_SUCCESS);
		assert_true(a->value || !is_hotplug);
	}
	doca_devinfo_rep_destroy_list(reps);
}

/* No call depends on this capability. */
static void try_moderation(const struct attempt *a)
{
	assert_int_equal(a->value, 0);
}

static void try_reclaim(const struct attempt *a)
{
	expect_agreed(a, doca_dev_accelerate_resource_reclaim(a->dev));
}

static void try_filter(const struct attempt *a, int filter)
{
	struct doca_devinfo_rep **reps;
	uint32_t num;
	doca_error_t result = doca_devinfo_rep_create_list(a->dev, filter, &reps, &num);

	expect_agreed(a, result);
	if (result == DOCA_SUCCESS)
		doca_devinfo_rep_destroy_list(reps);
}

static void try_filter_all(const struct attempt *a)
{
	try_filter(a, DOCA_DEVINFO_REP_FILTER_ALL);
}
static void try_filter_net(const struct attempt *a)
{
	try_filter(a, DOCA_DEVINFO_REP_FILTER_NET);
}
static void try_filter_emulated(const struct attempt *a)
{
	try_filter(a, DOCA_DEVINFO_REP_FILTER_EMULATED);
}

static void try_export_pci(const struct attempt *a)
{
	struct doca_mmap *mmap = map(a->dev, memory, MEMORY_SIZE);
	const void *descriptor;
	size_t len;

	expect_agreed(a, doca_mmap_export_pci(mmap, a->dev, &descriptor, &len));
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static void try_import_pci(const struct attempt *a)
{
	struct doca_mmap *mmap, *imported;
	const void *descriptor;
	size_t len;

	if (a->partner == NULL)
		return; /* no device can export */
	mmap = map(a->partner, memory, MEMORY_SIZE);
	assert_int_equal(doca_mmap_export_pci(mmap, a->partner, &descriptor, &len), DOCA_SUCCESS);
	doca_error_t result = doca_mmap_create_from_export(NULL, descriptor, len, a->dev, &imported);

	expect_agreed(a, result);
	if (result == DOCA_SUCCESS)
		assert_int_equal(doca_mmap_destroy(imported), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static void try_token(const struct attempt *a)
{
	static const uint8_t token[1024] = {1};
	struct doca_mmap *mmap;

	assert_in_range(a->value, 1, sizeof(token) - 1);
	assert_int_equal(doca_mmap_create(&mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_add_dev(mmap, a->dev), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_export_access_token(mmap, a->dev, token, a->value), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_export_access_token(mmap, a->dev, token, a->value + 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static void try_vectors(const struct attempt *a)
{
	struct doca_dma *dma;

	assert_int_equal(doca_dma_create(a->dev, &dma), DOCA_SUCCESS);
	expect_agreed(a, doca_ctx_set_completion_vector(doca_dma_as_ctx(dma), 0));
	assert_int_equal(doca_dma_destroy(dma), DOCA_SUCCESS);
}

/* ---- clock, advice ---- */

static void try_clock(const struct attempt *a, uint64_t type)
{
	union doca_clock_timespec_t time;
	struct doca_clock *clock;

	assert_int_equal(doca_clock_create(a->dev, &clock), DOCA_SUCCESS);
	expect_agreed(a, doca_clock_get_timestamp(clock, type, &time));
	assert_int_equal(doca_clock_destroy(clock), DOCA_SUCCESS);
}

static void try_free_running(const struct attempt *a)
{
	try_clock(a, DOCA_CLOCK_NIC_FREE_RUNNING);
}
static void try_real_time(const struct attempt *a)
{
	try_clock(a, DOCA_CLOCK_NIC_REAL_TIME);
}
static void try_dpa_timer(const struct attempt *a)
{
	try_clock(a, DOCA_CLOCK_NIC_DPA_TIMER);
}

static void advised(struct doca_mmap_advise_task_invalidate_cache *task, union doca_data data, union doca_data ctx_data)
{
	ended(doca_mmap_advise_task_invalidate_cache_as_doca_task(task));
}

static doca_error_t advise_destroy(void *advise)
{
	return doca_mmap_advise_destroy(advise);
}

/* Runs a task of len bytes, of which none is touched. Returns DOCA_ERROR_NOT_SUPPORTED if the context cannot be created. */
static doca_error_t try_advise_of(const struct attempt *a, size_t len)
{
	struct doca_mmap_advise_task_invalidate_cache *task;
	struct doca_mmap_advise *advise;
	struct engine e;
	doca_error_t result = doca_mmap_advise_create(a->dev, &advise);

	if (result != DOCA_SUCCESS)
		return result;
	uint8_t *space = mmap64(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_ptr_not_equal(space, MAP_FAILED);
	assert_int_equal(doca_mmap_advise_task_invalidate_cache_set_conf(advise, advised, advised, 1), DOCA_SUCCESS);
	engine_begin(&e, a->dev, doca_mmap_advise_as_ctx(advise), space, len);
	e.src = list_of(&e, space, 1, len, true);
	e.dst = list_of(&e, space, 1, 1, true);
	assert_int_equal(doca_mmap_advise_task_invalidate_cache_alloc_init(advise, e.src, (union doca_data){0}, &task),
			 DOCA_SUCCESS);
	result = run_task(&e, doca_mmap_advise_task_invalidate_cache_as_doca_task(task));
	engine_end(&e, advise_destroy, advise);
	munmap(space, len);
	return result;
}

static void try_advise(const struct attempt *a)
{
	expect_agreed(a, try_advise_of(a, 4096));
}

static void try_advise_size(const struct attempt *a)
{
	if (a->value > 0)
		assert_int_equal(try_advise_of(a, a->value), DOCA_SUCCESS);
	assert_int_not_equal(try_advise_of(a, a->value + 1), DOCA_SUCCESS);
}

/* ---- DMA ---- */

static void copied(struct doca_dma_task_memcpy *task, union doca_data data, union doca_data ctx_data)
{
	ended(doca_dma_task_memcpy_as_task(task));
}

static doca_error_t dma_destroy(void *dma)
{
	return doca_dma_destroy(dma);
}

/* One copy from a list of `pieces` buffers. */
static doca_error_t try_copy(const struct attempt *a, uint32_t pieces, uint8_t *space, size_t piece)
{
	struct doca_dma_task_memcpy *task;
	struct doca_dma *dma;
	struct engine e;
	doca_error_t result = doca_dma_create(a->dev, &dma);

	if (result != DOCA_SUCCESS)
		return result;
	assert_int_equal(doca_dma_task_memcpy_set_conf(dma, copied, copied, 1), DOCA_SUCCESS);
	engine_begin(&e, a->dev, doca_dma_as_ctx(dma), space, 2 * pieces * piece);
	e.src = list_of(&e, space, pieces, piece, true);
	e.dst = list_of(&e, space + pieces * piece, 1, pieces * piece, false);
	assert_int_equal(doca_dma_task_memcpy_alloc_init(dma, e.src, e.dst, (union doca_data){0}, &task), DOCA_SUCCESS);
	result = run_task(&e, doca_dma_task_memcpy_as_task(task));
	engine_end(&e, dma_destroy, dma);
	return result;
}

static void try_memcpy(const struct attempt *a)
{
	expect_agreed(a, try_copy(a, 1, memory, 64));
}

static void try_memcpy_list(const struct attempt *a)
{
	assert_int_equal(try_copy(a, (uint32_t)a->value, memory, 16), DOCA_SUCCESS);
	assert_int_equal(try_copy(a, (uint32_t)a->value + 1, memory, 16), DOCA_ERROR_INVALID_VALUE);
}

#define COPIED_MAX (UINT64_C(1) << 31) /* the most that one task copies, whatever the capability answers */

/* With a profile, the answer is that of the card, and it is enforced. */
static bool is_card(void)
{
	const char *profile = getenv("SOFTFIELD_PROFILE");

	return profile != NULL && profile[0] != '\0';
}

/* A copy of the answered size works; without a profile, so does a larger one. A size beyond COPIED_MAX must be rejected. */
static void try_memcpy_size(const struct attempt *a)
{
	size_t len = 2 * (COPIED_MAX + 1);
	uint8_t *space = mmap64(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_ptr_not_equal(space, MAP_FAILED);
	assert_int_equal(a->value, 2 << 20);
	assert_int_equal(mprotect(space, 4 * a->value, PROT_READ | PROT_WRITE), 0);
	memset(space, 0x5a, 2 * a->value);
	assert_int_equal(try_copy(a, 1, space, a->value), DOCA_SUCCESS);
	assert_int_equal(try_copy(a, 1, space, 2 * a->value), is_card() ? DOCA_ERROR_INVALID_VALUE : DOCA_SUCCESS);
	assert_memory_equal(space, space + (is_card() ? 1 : 2) * a->value, a->value);
	assert_int_equal(try_copy(a, 1, space, COPIED_MAX + 1), DOCA_ERROR_INVALID_VALUE);
	munmap(space, len);
}

static void try_dma_tasks(const struct attempt *a)
{
	struct doca_dma *dma;

	assert_int_equal(doca_dma_create(a->dev, &dma), DOCA_SUCCESS);
	assert_int_equal(doca_dma_task_memcpy_set_conf(dma, copied, copied, (uint32_t)a->value), DOCA_SUCCESS);
	assert_int_equal(doca_dma_task_memcpy_set_conf(dma, copied, copied, (uint32_t)a->value + 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dma_destroy(dma), DOCA_SUCCESS);
}

/* ---- SHA ---- */

static void hashed(struct doca_sha_task_hash *task, union doca_data data, union doca_data ctx_data)
{
	ended(doca_sha_task_hash_as_task(task));
}

static void hashed_part(struct doca_sha_task_partial_hash *task, union doca_data data, union doca_data ctx_data)
{
	ended(doca_sha_task_partial_hash_as_task(task));
}

static doca_error_t sha_destroy(void *sha)
{
	return doca_sha_destroy(sha);
}

struct message {
	bool is_part; /* the first piece of a message sent in pieces */
	uint32_t pieces, room;
	size_t piece;
	uint8_t *space;
};

static doca_error_t try_message(const struct attempt *a, const struct message *m)
{
	enum doca_sha_algorithm algorithm = (enum doca_sha_algorithm)a->argument;
	struct doca_sha_task_partial_hash *part;
	struct doca_sha_task_hash *whole;
	struct doca_sha *sha;
	struct engine e;
	doca_error_t result = doca_sha_create(a->dev, &sha);

	if (result != DOCA_SUCCESS)
		return result;
	result = doca_sha_task_hash_set_conf(sha, hashed, hashed, 0);
	assert_int_equal(doca_sha_task_partial_hash_set_conf(sha, hashed_part, hashed_part, 0), result);
	if (result != DOCA_SUCCESS) {
		assert_int_equal(doca_sha_destroy(sha), DOCA_SUCCESS);
		return result;
	}
	engine_begin(&e, a->dev, doca_sha_as_ctx(sha), m->space, m->pieces * m->piece + m->room);
	e.src = list_of(&e, m->space, m->pieces, m->piece, true);
	e.dst = list_of(&e, m->space + m->pieces * m->piece, 1, m->room, false);
	if (m->is_part)
		result = doca_sha_task_partial_hash_alloc_init(sha, algorithm, e.src, e.dst, (union doca_data){0}, &part);
	else
		result = doca_sha_task_hash_alloc_init(sha, algorithm, e.src, e.dst, (union doca_data){0}, &whole);
	assert_int_equal(result, DOCA_SUCCESS);
	result = run_task(&e, m->is_part ? doca_sha_task_partial_hash_as_task(part) : doca_sha_task_hash_as_task(whole));
	engine_end(&e, sha_destroy, sha);
	return result;
}

static void try_hash(const struct attempt *a)
{
	expect_agreed(a, try_message(a, &(struct message){.pieces = 1, .piece = 100, .room = 64, .space = memory}));
}

static void try_partial(const struct attempt *a)
{
	expect_agreed(a,
		      try_message(a, &(struct message){.is_part = true, .pieces = 1, .piece = 128, .room = 64, .space = memory}));
}

static void try_digest_room(const struct attempt *a)
{
	struct message m = {.pieces = 1, .piece = 100, .room = (uint32_t)a->value, .space = memory};

	assert_int_equal(try_message(a, &m), DOCA_SUCCESS);
	m.room--;
	assert_int_equal(try_message(a, &m), DOCA_ERROR_INVALID_VALUE);
}

static void try_block_size(const struct attempt *a)
{
	struct message m = {.is_part = true, .pieces = 1, .piece = a->value, .room = 64, .space = memory};

	assert_int_equal(try_message(a, &m), DOCA_SUCCESS);
	m.piece--;
	assert_int_equal(try_message(a, &m), DOCA_ERROR_INVALID_VALUE);
}

static void try_sha_list(const struct attempt *a)
{
	struct message m = {.pieces = (uint32_t)a->value, .piece = 3, .room = 64, .space = memory};

	assert_int_equal(try_message(a, &m), DOCA_SUCCESS);
	m.pieces++;
	assert_int_equal(try_message(a, &m), DOCA_ERROR_INVALID_VALUE);
}

static void try_sha_size(const struct attempt *a)
{
	size_t len = a->value + 1 + 64;
	uint8_t *space = mmap64(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_ptr_not_equal(space, MAP_FAILED);
	assert_int_equal(try_message(a, &(struct message){.pieces = 1, .piece = a->value + 1, .room = 64, .space = space}),
			 DOCA_ERROR_INVALID_VALUE);
	munmap(space, len);
}

static void try_sha_tasks(const struct attempt *a)
{
	uint8_t log_max = 0;
	struct doca_sha *sha;

	while (UINT64_C(2) << log_max <= a->value)
		log_max++;
	assert_int_equal(doca_sha_create(a->dev, &sha), DOCA_SUCCESS);
	assert_int_equal(doca_sha_task_hash_set_conf(sha, hashed, hashed, log_max), DOCA_SUCCESS);
	assert_int_equal(doca_sha_task_hash_set_conf(sha, hashed, hashed, log_max + 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_destroy(sha), DOCA_SUCCESS);
}

/* ---- all of them ---- */

static const struct attempt_entry attempts[] = {
	{"doca_devinfo_cap_is_hotplug_manager_supported", try_hotplug},
	{"doca_devinfo_cap_is_notification_moderation_supported", try_moderation},
	{"doca_devinfo_cap_is_accelerate_resource_reclaim_supported", try_reclaim},
	{"doca_devinfo_rep_cap_is_filter_all_supported", try_filter_all},
	{"doca_devinfo_rep_cap_is_filter_net_supported", try_filter_net},
	{"doca_devinfo_rep_cap_is_filter_emulated_supported", try_filter_emulated},
	{"doca_mmap_cap_is_export_pci_supported", try_export_pci},
	{"doca_mmap_cap_is_create_from_export_pci_supported", try_import_pci},
	{"doca_mmap_cap_get_max_export_access_token_size", try_token},
	{"doca_ctx_cap_get_num_completion_vectors", try_vectors},
	{"doca_clock_cap_nic_free_running_is_supported", try_free_running},
	{"doca_clock_cap_nic_real_time_is_supported", try_real_time},
	{"doca_clock_cap_nic_dpa_timer_is_supported", try_dpa_timer},
	{"doca_mmap_advise_cap_task_cache_invalidate_is_supported", try_advise},
	{"doca_mmap_advise_task_cache_invalidate_get_max_buf_size", try_advise_size},
	{"doca_dma_cap_task_memcpy_is_supported", try_memcpy},
	{"doca_dma_cap_task_memcpy_get_max_buf_list_len", try_memcpy_list},
	{"doca_dma_cap_task_memcpy_get_max_buf_size", try_memcpy_size},
	{"doca_dma_cap_get_max_num_tasks", try_dma_tasks},
	{"doca_sha_cap_task_hash_get_supported", try_hash},
	{"doca_sha_cap_task_partial_hash_get_supported", try_partial},
	{"doca_sha_cap_get_min_dst_buf_size", try_digest_room},
	{"doca_sha_cap_get_partial_hash_block_size", try_block_size},
	{"doca_sha_cap_get_max_list_buf_num_elem", try_sha_list},
	{"doca_sha_cap_get_max_src_buf_size", try_sha_size},
	{"doca_sha_cap_get_max_num_tasks", try_sha_tasks},
};

static const struct attempt_entry *find(const struct attempt_entry *list, size_t num, const char *function)
{
	for (size_t i = 0; i < num; i++) {
		if (strcmp(list[i].function, function) == 0)
			return &list[i];
	}
	return NULL;
}

static void each_capability_of_each_device_agrees_with_what_happens(void **state)
{
	struct doca_devinfo **list;
	doca_error_t result;
	uint32_t num;

	assert_int_equal(doca_devinfo_create_list(&list, &num), DOCA_SUCCESS);
	for (uint32_t i = 0; i < num; i++) {
		struct attempt a = {.info = list[i]};

		assert_int_equal(doca_devinfo_get_pci_addr_str(list[i], a.pci), DOCA_SUCCESS);
		assert_int_equal(doca_dev_open(list[i], &a.dev), DOCA_SUCCESS);
		a.partner = open_partner(a.dev);
		for (size_t c = 0; c < num_capabilities; c++) {
			const struct attempt_entry *entry =
				find(attempts, sizeof(attempts) / sizeof(attempts[0]), capabilities[c].function);

			if (entry == NULL)
				entry = find(event_attempts, num_event_attempts, capabilities[c].function);
			if (entry == NULL)
				entry = find(comch_attempts, num_comch_attempts, capabilities[c].function);
#ifdef HAVE_ISAL
			if (entry == NULL)
				entry = find(erasure_coding_attempts, num_erasure_coding_attempts, capabilities[c].function);
#endif
			if (entry == NULL)
				entry = find(compress_attempts, num_compress_attempts, capabilities[c].function);
			if (entry == NULL)
				entry = find(aes_gcm_attempts, num_aes_gcm_attempts, capabilities[c].function);
			if (entry == NULL)
				fail_msg("no attempt here tries %s", capabilities[c].function);
			a.function = capabilities[c].function;
			a.argument = capabilities[c].argument;
			result = capability_ask(&capabilities[c], list[i], &a.value);
			if (result == DOCA_ERROR_NOT_SUPPORTED && is_card())
				continue; /* a limit of a feature that the card lacks; another capability reports the lack */
			assert_int_equal(result, DOCA_SUCCESS);
			entry->attempt(&a);
		}
		if (a.partner != NULL)
			assert_int_equal(doca_dev_close(a.partner), DOCA_SUCCESS);
		assert_int_equal(doca_dev_close(a.dev), DOCA_SUCCESS);
	}
	assert_int_equal(doca_devinfo_destroy_list(list), DOCA_SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_capability_of_each_device_agrees_with_what_happens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
