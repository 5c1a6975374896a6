/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers: headroom, data and tailroom, and lists. The sample gathers three scattered pieces after a headroom, and then puts
 * a header in front of them without moving data; a list splits the result again, each buffer as much as it has room for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "common.h"
#include "dma_common.h"

#define ROOM 4096
#define HEADER "header:"
#define HEADER_LEN 7

static char memory[ROOM];
static const char *const pieces[] = {"one,", "two and a half,", "three"};

static void show(const char *what, const struct doca_buf *buf)
{
	void *head, *data;
	size_t len, data_len;

	if (doca_buf_get_head(buf, &head) != DOCA_SUCCESS || doca_buf_get_data(buf, &data) != DOCA_SUCCESS ||
	    doca_buf_get_len(buf, &len) != DOCA_SUCCESS || doca_buf_get_data_len(buf, &data_len) != DOCA_SUCCESS)
		return;
	size_t headroom = (size_t)((char *)data - (char *)head);

	printf("%s: headroom %zu, data %zu, tailroom %zu: \"%.*s\"\n", what, headroom, data_len, len - headroom - data_len,
	       (int)data_len, (char *)data);
}

/* Creates a list of the pieces, which are not contiguous. */
static doca_error_t scatter(struct copier *copier, struct doca_mmap *mmap, struct doca_buf **list)
{
	doca_error_t status = DOCA_SUCCESS;

	for (int i = 0; i < 3 && status == DOCA_SUCCESS; i++) {
		char *at = memory + i * 100;
		struct doca_buf *buf;

		memcpy(at, pieces[i], strlen(pieces[i]));
		status = doca_buf_inventory_buf_get_by_data(copier->inventory, mmap, at, strlen(pieces[i]), &buf);
		if (status == DOCA_SUCCESS && i == 0)
			*list = buf;
		else if (status == DOCA_SUCCESS)
			status = doca_buf_chain_list(*list, buf);
	}
	return status;
}

/* Gathers after a headroom of 16 bytes, and then uses a part of that. */
static doca_error_t gather(struct copier *copier, struct doca_mmap *mmap, const struct doca_buf *list, struct doca_buf **whole)
{
	char *head = memory + 1000;
	void *data;
	size_t len;
	doca_error_t status = doca_buf_inventory_buf_get_by_addr(copier->inventory, mmap, head, 64, whole);

	if (status == DOCA_SUCCESS)
		status = doca_buf_set_data(*whole, head + 16, 0);
	if (status == DOCA_SUCCESS)
		status = copier_copy(copier, list, *whole);
	if (status != DOCA_SUCCESS)
		return status;
	show("gathered", *whole);
	memcpy(head + 16 - HEADER_LEN, HEADER, HEADER_LEN);
	if (doca_buf_get_data(*whole, &data) == DOCA_SUCCESS && doca_buf_get_data_len(*whole, &len) == DOCA_SUCCESS)
		status = doca_buf_set_data(*whole, (char *)data - HEADER_LEN, len + HEADER_LEN);
	show("with a header", *whole);
	return status;
}

/* Splits it into a list of buffers of 7, 10 and 100 bytes. */
static doca_error_t take_apart(struct copier *copier, struct doca_mmap *mmap, const struct doca_buf *whole)
{
	static const size_t rooms[] = {HEADER_LEN, 10, 100};
	struct doca_buf *list = NULL, *buf = NULL;
	doca_error_t status = DOCA_SUCCESS;

	for (int i = 0; i < 3 && status == DOCA_SUCCESS; i++) {
		status = doca_buf_inventory_buf_get_by_addr(copier->inventory, mmap, memory + 2000 + i * 200, rooms[i], &buf);
		if (status == DOCA_SUCCESS && i > 0)
			status = doca_buf_chain_list(list, buf);
		list = i == 0 ? buf : list;
	}
	if (status == DOCA_SUCCESS)
		status = copier_copy(copier, whole, list);
	buf = list;
	for (int i = 0; i < 3 && status == DOCA_SUCCESS; i++) {
		show("taken apart", buf);
		if (i < 2)
			status = doca_buf_get_next_in_list(buf, &buf);
	}
	if (list != NULL)
		(void)doca_buf_dec_refcount(list, NULL); /* releasing the head releases the list */
	return status;
}

static doca_error_t run(struct copier *copier, struct doca_mmap *mmap)
{
	struct doca_buf *list = NULL, *whole = NULL;
	doca_error_t status = scatter(copier, mmap, &list);

	if (status == DOCA_SUCCESS)
		status = gather(copier, mmap, list, &whole);
	if (status == DOCA_SUCCESS)
		status = take_apart(copier, mmap, whole);
	if (list != NULL)
		(void)doca_buf_dec_refcount(list, NULL);
	if (whole != NULL)
		(void)doca_buf_dec_refcount(whole, NULL);
	return status;
}

int main(int argc, char **argv)
{
	sample_arguments(argc, argv, 0, "");

	struct doca_mmap *mmap = NULL;
	struct copier copier;
	doca_error_t status = copier_open(&copier, NULL);

	if (status == DOCA_SUCCESS)
		status = map_memory(copier.dev, memory, ROOM, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &mmap);
	if (status == DOCA_SUCCESS)
		status = run(&copier, mmap);
	if (mmap != NULL)
		(void)doca_mmap_destroy(mmap);
	copier_close(&copier);
	return status == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
