/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds two redundancy blocks to a text in four blocks, discards two data blocks and recovers them. Usage: erasure_coding [TEXT]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_erasure_coding.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "arguments.h"
#include "common.h"

#define NUM_DATA 4
#define NUM_RDNC 2
#define BLOCK 64 /* bytes: the smallest block size */

/* The data blocks, the redundancy blocks, and room for recovered blocks. */
struct store {
	char data[NUM_DATA][BLOCK];
	char rdnc[NUM_RDNC][BLOCK];
	char recovered[NUM_RDNC][BLOCK];
};

struct desk {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_ec *ec;
	struct doca_ec_matrix *coding, *recovery;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	struct store store;
	bool ended;
	doca_error_t status; /* of the completed task */
};

static const uint32_t lost[] = {1, 3};

static void created(struct doca_ec_task_create *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct desk *desk = ctx_user_data.ptr;

	(void)task_user_data;
	desk->status = doca_task_get_status(doca_ec_task_create_as_task(task));
	desk->ended = true;
}

static void recovered(struct doca_ec_task_recover *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct desk *desk = ctx_user_data.ptr;

	(void)task_user_data;
	desk->status = doca_task_get_status(doca_ec_task_recover_as_task(task));
	desk->ended = true;
}

/* ---- open and close ---- */

static doca_error_t open_memory(struct desk *desk)
{
	doca_error_t status = doca_mmap_create(&desk->mmap);

	if (status == DOCA_SUCCESS)
		status = doca_mmap_add_dev(desk->mmap, desk->dev);
	if (status == DOCA_SUCCESS)
		status = doca_mmap_set_memrange(desk->mmap, &desk->store, sizeof(desk->store));
	if (status == DOCA_SUCCESS)
		status = doca_mmap_start(desk->mmap);
	if (status == DOCA_SUCCESS)
		status = doca_buf_inventory_create(NUM_DATA + 1, &desk->inventory);
	if (status == DOCA_SUCCESS)
		status = doca_buf_inventory_start(desk->inventory);
	return status;
}

static doca_error_t start(struct desk *desk)
{
	doca_error_t status = doca_pe_create(&desk->pe);

	if (status == DOCA_SUCCESS)
		status = doca_ec_create(desk->dev, &desk->ec);
	if (status == DOCA_SUCCESS)
		status = doca_pe_connect_ctx(desk->pe, doca_ec_as_ctx(desk->ec));
	if (status == DOCA_SUCCESS)
		status = doca_ctx_set_user_data(doca_ec_as_ctx(desk->ec), (union doca_data){.ptr = desk});
	if (status == DOCA_SUCCESS)
		status = doca_ec_task_create_set_conf(desk->ec, created, created, 1);
	if (status == DOCA_SUCCESS)
		status = doca_ec_task_recover_set_conf(desk->ec, recovered, recovered, 1);
	if (status == DOCA_SUCCESS)
		status = doca_ctx_start(doca_ec_as_ctx(desk->ec));
	return status;
}

static void close_all(struct desk *desk)
{
	if (desk->recovery != NULL)
		(void)doca_ec_matrix_destroy(desk->recovery);
	if (desk->coding != NULL)
		(void)doca_ec_matrix_destroy(desk->coding);
	if (desk->ec != NULL) {
		(void)doca_ctx_stop(doca_ec_as_ctx(desk->ec));
		(void)doca_ec_destroy(desk->ec);
	}
	if (desk->pe != NULL)
		(void)doca_pe_destroy(desk->pe);
	if (desk->inventory != NULL)
		(void)doca_buf_inventory_destroy(desk->inventory);
	if (desk->mmap != NULL)
		(void)doca_mmap_destroy(desk->mmap);
	if (desk->dev != NULL)
		(void)doca_dev_close(desk->dev);
}

/* ---- tasks ---- */

static doca_error_t run(struct desk *desk, struct doca_task *task)
{
	desk->ended = false;

	doca_error_t status = doca_task_submit(task);

	if (status == DOCA_SUCCESS)
		status = sample_progress_until(desk->pe, &desk->ended);
	doca_task_free(task);
	return status == DOCA_SUCCESS ? desk->status : status;
}

/* The data blocks are contiguous: one buffer. */
static doca_error_t create(struct desk *desk)
{
	struct doca_ec_task_create *task;
	struct doca_buf *src = NULL, *dst = NULL;
	doca_error_t status = doca_ec_matrix_create(desk->ec, DOCA_EC_MATRIX_TYPE_CAUCHY, NUM_DATA, NUM_RDNC, &desk->coding);

	if (status == DOCA_SUCCESS)
		status = doca_buf_inventory_buf_get_by_data(desk->inventory, desk->mmap, desk->store.data,
							    sizeof(desk->store.data), &src);
	if (status == DOCA_SUCCESS)
		status = doca_buf_inventory_buf_get_by_addr(desk->inventory, desk->mmap, desk->store.rdnc,
							    sizeof(desk->store.rdnc), &dst);
	if (status == DOCA_SUCCESS)
		status = doca_ec_task_create_allocate_init(desk->ec, desk->coding, src, dst, (union doca_data){.u64 = 0}, &task);
	if (status == DOCA_SUCCESS)
		status = run(desk, doca_ec_task_create_as_task(task));
	if (src != NULL)
		(void)doca_buf_dec_refcount(src, NULL);
	if (dst != NULL)
		(void)doca_buf_dec_refcount(dst, NULL);
	return status;
}

static doca_error_t add_block(struct desk *desk, struct doca_buf **list, char *block)
{
	struct doca_buf *buf;
	doca_error_t status = doca_buf_inventory_buf_get_by_data(desk->inventory, desk->mmap, block, BLOCK, &buf);

	if (status != DOCA_SUCCESS)
		return status;
	if (*list != NULL)
		return doca_buf_chain_list(*list, buf);
	*list = buf;
	return DOCA_SUCCESS;
}

/* The remaining blocks are not contiguous: a list. */
static doca_error_t recover(struct desk *desk)
{
	char *left[NUM_DATA] = {desk->store.data[0], desk->store.data[2], desk->store.rdnc[0], desk->store.rdnc[1]};
	struct doca_ec_task_recover *task;
	struct doca_buf *src = NULL, *dst = NULL;
	doca_error_t status = doca_ec_matrix_create_recover(desk->ec, desk->coding, (uint32_t *)lost, NUM_RDNC, &desk->recovery);

	for (int i = 0; i < NUM_DATA && status == DOCA_SUCCESS; i++)
		status = add_block(desk, &src, left[i]);
	if (status == DOCA_SUCCESS)
		status = doca_buf_inventory_buf_get_by_addr(desk->inventory, desk->mmap, desk->store.recovered,
							    sizeof(desk->store.recovered), &dst);
	if (status == DOCA_SUCCESS)
		status = doca_ec_task_recover_allocate_init(desk->ec, desk->recovery, src, dst, (union doca_data){.u64 = 0},
							    &task);
	if (status == DOCA_SUCCESS)
		status = run(desk, doca_ec_task_recover_as_task(task));
	if (src != NULL)
		(void)doca_buf_dec_refcount(src, NULL);
	if (dst != NULL)
		(void)doca_buf_dec_refcount(dst, NULL);
	return status;
}

static doca_error_t lose_and_recover(struct desk *desk)
{
	doca_error_t status = create(desk);

	if (status != DOCA_SUCCESS)
		return status;
	for (int i = 0; i < NUM_RDNC; i++)
		memset(desk->store.data[lost[i]], '?', strlen(desk->store.data[lost[i]]));
	printf("lost: %s%s%s%s\n", desk->store.data[0], desk->store.data[1], desk->store.data[2], desk->store.data[3]);
	status = recover(desk);
	for (int i = 0; i < NUM_RDNC; i++)
		memcpy(desk->store.data[lost[i]], desk->store.recovered[i], BLOCK);
	return status;
}

int main(int argc, char **argv)
{
	sample_arguments(argc, argv, 1, "[TEXT]");

	static struct desk desk;
	const char *text = argc > 1 ? argv[1] : "what is lost comes back";
	size_t part = strlen(text) / NUM_DATA + 1;
	doca_error_t status = sample_log_to_stderr();

	for (size_t i = 0; i < NUM_DATA; i++)
		snprintf(desk.store.data[i], BLOCK, "%.*s", (int)part, strlen(text) > i * part ? text + i * part : "");
	if (status == DOCA_SUCCESS)
		status = sample_open_device(NULL, doca_ec_cap_task_recover_is_supported, &desk.dev);
	if (status == DOCA_SUCCESS)
		status = open_memory(&desk);
	if (status == DOCA_SUCCESS)
		status = start(&desk);
	if (status == DOCA_SUCCESS)
		status = lose_and_recover(&desk);
	if (status == DOCA_SUCCESS)
		printf("recovered: %s%s%s%s\n", desk.store.data[0], desk.store.data[1], desk.store.data[2], desk.store.data[3]);
	else
		(void)sample_failed("erasure coding", status);
	close_all(&desk);
	return status == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
