/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync_event/cell.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"

#define SET_TRIES_MAX 10000 /* somebody else changed the word each time */

doca_error_t sf_cell_open(struct sf_cell *cell, uint64_t *user_word)
{
	void *page = mmap(NULL, SF_CELL_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED) {
		SF_LOG_ERR("no memory for the page of a sync event");
		return DOCA_ERROR_NO_MEMORY;
	}
	*cell = (struct sf_cell){.page = page};
	cell->word = user_word != NULL ? user_word : &cell->page->value;
	cell->word_addr = (uintptr_t)cell->word;
	return DOCA_SUCCESS;
}

void sf_cell_end(struct sf_cell *cell)
{
	atomic_store(&cell->page->closed, 1);
	sf_cell_ring(cell->page);
}

void sf_cell_close(struct sf_cell *cell)
{
	munmap(cell->page, SF_CELL_PAGE_SIZE);
	*cell = (struct sf_cell){.page = NULL};
}

void sf_cell_wake(struct sf_cell_page *page, uint32_t gate)
{
	/* Whoever opened it in between did so after the value that we changed. */
	if (atomic_compare_exchange_strong(&page->gate, &gate, gate + 1))
		syscall(SYS_futex, &page->gate, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static doca_error_t access_word(struct sf_region *region, uint64_t addr, enum sf_op_kind kind, uint64_t compare, uint64_t value,
				uint64_t *word)
{
	const struct sf_iov piece = {.addr = word, .len = sizeof(*word)};
	struct sf_op op = {
		.kind = kind,
		.iov = &piece,
		.iov_num = 1,
		.remote_addr = addr,
		.region = region,
		.compare = compare,
		.value = value,
	};

	return sf_region_access(region, &op);
}

doca_error_t sf_cell_alive(const struct sf_cell *cell)
{
	uint64_t value;

	if (cell->page_region == NULL)
		return DOCA_SUCCESS;
	if (atomic_load_explicit(&cell->page->closed, memory_order_relaxed) != 0)
		return DOCA_ERROR_CONNECTION_ABORTED;
	return access_word(cell->page_region, cell->page_region->addr, SF_OP_READ, 0, 0, &value);
}

doca_error_t sf_cell_look_far(const struct sf_cell *cell, uint64_t *value)
{
	return access_word(cell->word_region, cell->word_addr, SF_OP_READ, 0, 0, value);
}

doca_error_t sf_cell_get_far(const struct sf_cell *cell, uint64_t *value)
{
	return access_word(cell->word_region, cell->word_addr, SF_OP_FAA, 0, 0, value);
}

doca_error_t sf_cell_add_far(const struct sf_cell *cell, uint64_t increment, uint64_t *fetched)
{
	doca_error_t status = access_word(cell->word_region, cell->word_addr, SF_OP_FAA, 0, increment, fetched);

	if (status == DOCA_SUCCESS)
		sf_cell_ring(cell->page);
	return status;
}

/* By compare-and-swap: a copy into another process's memory need not be one store. */
doca_error_t sf_cell_set_far(const struct sf_cell *cell, uint64_t value)
{
	uint64_t expected = 0, found;

	for (int i = 0; i < SET_TRIES_MAX; i++) {
		doca_error_t status = access_word(cell->word_region, cell->word_addr, SF_OP_CAS, expected, value, &found);

		if (status != DOCA_SUCCESS)
			return status;
		if (found == expected) {
			sf_cell_ring(cell->page);
			return DOCA_SUCCESS;
		}
		expected = found;
	}
	SF_LOG_ERR("the sync event's word changed at each of %d tries to set it", SET_TRIES_MAX);
	return DOCA_ERROR_AGAIN;
}
