/* SPDX-License-Identifier: BSD-3-Clause */
/* Compression's capabilities, tried. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_compress.h>
#include <doca_ctx.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "caps_attempts.h"

#define ROOM 1048576	/* bytes for the result */
#define BEGINNING 65536 /* so many bytes that begin neither a stream nor a block */

static void ok(doca_error_t result)
{
	assert_int_equal(result, DOCA_SUCCESS);
}

struct bench {
	struct doca_pe *pe;
	struct doca_compress *compress;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	struct doca_buf *src, *dst;
	bool ended;
	doca_error_t status;
};

static void ended(struct doca_task *task, union doca_data data, union doca_data ctx_data)
{
	struct bench *b = ctx_data.ptr;

	(void)data;
	b->status = doca_task_get_status(task);
	b->ended = true;
	doca_task_free(task);
}

/* ---- the types of task ---- */

#define SET_CONF(type)                                                                                                           \
	static doca_error_t set_conf_##type(struct doca_compress *compress, uint32_t num)                                        \
	{                                                                                                                        \
		return doca_compress_task_##type##_set_conf(compress, (doca_compress_task_##type##_completion_cb_t)ended,        \
							    (doca_compress_task_##type##_completion_cb_t)ended, num);            \
	}

#define ALLOCATE(type, ...)                                                                                                      \
	static struct doca_task *allocate_##type(struct bench *b)                                                                \
	{                                                                                                                        \
		struct doca_compress_task_##type *task;                                                                          \
                                                                                                                                 \
		ok(doca_compress_task_##type##_alloc_init(b->compress, __VA_ARGS__ b->src, b->dst, (union doca_data){0},         \
							  &task));                                                               \
		return doca_compress_task_##type##_as_task(task);                                                                \
	}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
SET_CONF(compress_deflate)
SET_CONF(decompress_deflate)
SET_CONF(decompress_lz4)
SET_CONF(decompress_lz4_stream)
SET_CONF(decompress_lz4_block)
ALLOCATE(compress_deflate, )
ALLOCATE(decompress_deflate, )
ALLOCATE(decompress_lz4, )
ALLOCATE(decompress_lz4_stream, 0, 1, )
ALLOCATE(decompress_lz4_block, )
#pragma GCC diagnostic pop

/* A source for each type of task: nine letters, stored without compression in that type's format. */
static const uint8_t text[] = "softfield", deflate[] = "\x01\x09\x00\xf6\xffsoftfield", block[] = "\x90softfield",
		     stream[] = "\x09\x00\x00\x80softfield";

static const struct type {
	const char *name;
	doca_error_t (*set_conf)(struct doca_compress *compress, uint32_t num);
	struct doca_task *(*allocate)(struct bench *b);
	const uint8_t *source;
	size_t len;
} types[] = {
	{"decompress_deflate", set_conf_decompress_deflate, allocate_decompress_deflate, deflate, sizeof(deflate) - 1},
	{"decompress_lz4_stream", set_conf_decompress_lz4_stream, allocate_decompress_lz4_stream, stream, sizeof(stream) - 1},
	{"decompress_lz4_block", set_conf_decompress_lz4_block, allocate_decompress_lz4_block, block, sizeof(block) - 1},
	{"decompress_lz4", set_conf_decompress_lz4, allocate_decompress_lz4, block, sizeof(block) - 1},
	{"compress_deflate", set_conf_compress_deflate, allocate_compress_deflate, text, sizeof(text) - 1},
};

static const struct type *type_of(const struct attempt *a)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strstr(a->function, types[i].name) != NULL)
			return &types[i];
	}
	fail_msg("%s belongs to no type of task", a->function);
	return NULL;
}

/* ---- a task of it ---- */

static struct doca_buf *list_of(struct bench *b, uint8_t *bytes, size_t len, uint32_t pieces)
{
	struct doca_buf *head = NULL, *part;

	for (uint32_t i = 0; i < pieces; i++) {
		size_t begin = len * i / pieces, end = len * (i + 1) / pieces;

		ok(doca_buf_inventory_buf_get_by_data(b->inventory, b->mmap, bytes + begin, end - begin, &part));
		if (head == NULL)
			head = part;
		else
			ok(doca_buf_chain_list(head, part));
	}
	return head;
}

static void bench_end(struct bench *b)
{
	enum doca_ctx_states state;

	(void)doca_ctx_stop(doca_compress_as_ctx(b->compress));
	do {
		(void)doca_pe_progress(b->pe);
		ok(doca_ctx_get_state(doca_compress_as_ctx(b->compress), &state));
	} while (state != DOCA_CTX_STATE_IDLE);
	ok(doca_buf_dec_refcount(b->src, NULL));
	ok(doca_buf_dec_refcount(b->dst, NULL));
	ok(doca_buf_inventory_destroy(b->inventory));
	ok(doca_mmap_destroy(b->mmap));
	ok(doca_compress_destroy(b->compress));
	ok(doca_pe_destroy(b->pe));
}

/* Runs a task with that source, cut into so many pieces. Returns its status. */
static doca_error_t run(const struct attempt *a, const struct type *type, const uint8_t *source, size_t len, uint32_t pieces)
{
	uint8_t *memory = calloc(1, len + ROOM);
	struct bench b = {0};
	doca_error_t result;

	assert_non_null(memory);
	if (source != NULL)
		memcpy(memory, source, len);
	else
		memset(memory, 0xff, len < BEGINNING ? len : BEGINNING);
	ok(doca_compress_create(a->dev, &b.compress));
	result = type->set_conf(b.compress, 1);
	if (result != DOCA_SUCCESS) {
		ok(doca_compress_destroy(b.compress));
		free(memory);
		return result;
	}
	ok(doca_pe_create(&b.pe));
	ok(doca_pe_connect_ctx(b.pe, doca_compress_as_ctx(b.compress)));
	ok(doca_ctx_set_user_data(doca_compress_as_ctx(b.compress), (union doca_data){.ptr = &b}));
	ok(doca_ctx_start(doca_compress_as_ctx(b.compress)));
	ok(doca_mmap_create(&b.mmap));
	ok(doca_mmap_add_dev(b.mmap, a->dev));
	ok(doca_mmap_set_memrange(b.mmap, memory, len + ROOM));
	ok(doca_mmap_start(b.mmap));
	ok(doca_buf_inventory_create(pieces + 1, &b.inventory));
	ok(doca_buf_inventory_start(b.inventory));
	b.src = list_of(&b, memory, len, pieces);
	ok(doca_buf_inventory_buf_get_by_addr(b.inventory, b.mmap, memory + len, ROOM, &b.dst));
	ok(doca_task_submit(type->allocate(&b)));
	while (!b.ended)
		(void)doca_pe_progress(b.pe);
	bench_end(&b);
	free(memory);
	return b.status;
}

/* ---- the attempts ---- */

static void try_type(const struct attempt *a)
{
	const struct type *type = type_of(a);

	expect_agreed(a, run(a, type, type->source, type->len, 1));
}

/* A task of the largest size takes a second; every device has the same limit, so one of them runs it. */
static void try_size(const struct attempt *a)
{
	static struct attempt ran[sizeof(types) / sizeof(types[0])];
	struct attempt *last = &ran[type_of(a) - types];

	if (last->function != NULL && last->value == a->value)
		return;
	*last = *a;
	assert_int_not_equal(run(a, type_of(a), NULL, a->value, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(run(a, type_of(a), NULL, a->value + 1, 1), DOCA_ERROR_INVALID_VALUE);
}

static void try_list(const struct attempt *a)
{
	assert_int_not_equal(run(a, type_of(a), NULL, 4096, (uint32_t)a->value), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(run(a, type_of(a), NULL, 4096, (uint32_t)a->value + 1), DOCA_ERROR_INVALID_VALUE);
}

static void try_num_tasks(const struct attempt *a)
{
	struct doca_compress *compress;

	ok(doca_compress_create(a->dev, &compress));
	ok(set_conf_decompress_deflate(compress, (uint32_t)a->value));
	assert_int_equal(set_conf_decompress_deflate(compress, (uint32_t)a->value + 1), DOCA_ERROR_INVALID_VALUE);
	ok(doca_compress_destroy(compress));
}

#define OF_TYPE(type)                                                                                                            \
	{"doca_compress_cap_task_" type "_is_supported", try_type},                                                              \
		{"doca_compress_cap_task_" type "_get_max_buf_size", try_size},                                                  \
	{                                                                                                                        \
		"doca_compress_cap_task_" type "_get_max_buf_list_len", try_list                                                 \
	}

const struct attempt_entry compress_attempts[] = {
	OF_TYPE("compress_deflate"),	  OF_TYPE("decompress_deflate"),   OF_TYPE("decompress_lz4"),
	OF_TYPE("decompress_lz4_stream"), OF_TYPE("decompress_lz4_block"), {"doca_compress_cap_get_max_num_tasks", try_num_tasks},
};
const size_t num_compress_attempts = sizeof(compress_attempts) / sizeof(compress_attempts[0]);
