/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync_event/cell.h"

#include <assert.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/log_rate.h"
#include "base/thread_safety.h"

#define SET_TRIES_MAX 10000 /* another thread changed the word each time */
#define BUCKETS 1024

/* The pages of this process. An import in the same process uses the page itself and keeps it from being freed. */
struct own_page {
	struct sf_cell_page *page;
	uint32_t users;
	struct own_page *next;
};

static pthread_mutex_t pages_lock = PTHREAD_MUTEX_INITIALIZER;
SF_FORK_LOCK(SF_FORK_TABLE, &pages_lock, NULL);
static struct own_page *pages[BUCKETS] GUARDED_BY(pages_lock); /* protects the entries, too */

static REQUIRES(pages_lock) struct own_page **page_find(const struct sf_cell_page *page)
{
	struct own_page **at = &pages[(uintptr_t)page / SF_CELL_PAGE_SIZE % BUCKETS];

	while (*at != NULL && (*at)->page != page)
		at = &(*at)->next;
	return at;
}

struct sf_cell_page *sf_cell_page_new(void)
{
	struct own_page *own = calloc(1, sizeof(*own)), **bucket;
	struct sf_cell_page *page;
	void *memory = mmap(NULL, SF_CELL_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (own == NULL || memory == MAP_FAILED) {
		free(own);
		if (memory != MAP_FAILED)
			munmap(memory, SF_CELL_PAGE_SIZE);
		return NULL;
	}
	page = memory;
	atomic_store(&page->live, 1);
	pthread_mutex_lock(&pages_lock);
	bucket = page_find(page);
	assert(*bucket == NULL);
	*own = (struct own_page){.page = page, .users = 1};
	*bucket = own;
	pthread_mutex_unlock(&pages_lock);
	return page;
}

bool sf_cell_page_hold(struct sf_cell_page *page)
{
	struct own_page *own;

	pthread_mutex_lock(&pages_lock);
	own = *page_find(page);
	if (own != NULL)
		own->users++;
	pthread_mutex_unlock(&pages_lock);
	return own != NULL;
}

void sf_cell_page_release(struct sf_cell_page *page)
{
	struct own_page **at, *own;

	pthread_mutex_lock(&pages_lock);
	at = page_find(page);
	own = *at;
	assert(own != NULL && own->users > 0);
	if (--own->users == 0) {
		*at = own->next;
		munmap(page, SF_CELL_PAGE_SIZE);
		free(own);
	}
	pthread_mutex_unlock(&pages_lock);
}

doca_error_t sf_cell_open(struct sf_cell *cell, uint64_t *user_word)
{
	struct sf_cell_page *page = sf_cell_page_new();

	if (page == NULL) {
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
	atomic_store(&cell->page->live, 0);
	sf_cell_ring(cell->page);
}

void sf_cell_close(struct sf_cell *cell)
{
	sf_cell_page_release(cell->page);
	*cell = (struct sf_cell){.page = NULL};
}

void sf_cell_wake(struct sf_cell_page *page, uint32_t doorbell)
{
	/* If the exchange fails, another thread rang it after our change of the value. */
	if (atomic_compare_exchange_strong(&page->doorbell, &doorbell, doorbell + 1))
		syscall(SYS_futex, &page->doorbell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
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

doca_error_t sf_cell_owner_lives(struct sf_region *page_region)
{
	uint64_t value;

	return access_word(page_region, page_region->addr, SF_OP_READ, 0, 0, &value);
}

doca_error_t sf_cell_ask(struct sf_cell *cell)
{
	uint64_t now = sf_cell_clock();
	doca_error_t status;

	if (cell->page_region == NULL)
		return DOCA_SUCCESS;
	if (atomic_load_explicit(&cell->page->live, memory_order_relaxed) == 0)
		return DOCA_ERROR_CONNECTION_ABORTED;
	status = sf_cell_owner_lives(cell->page_region);
	atomic_store_explicit(&cell->asked, status == DOCA_SUCCESS ? now : 0, memory_order_relaxed);
	return status;
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
	SF_LOG_ERR_LIMITED("the sync event's value changed in each of %d attempts to set it: submit again", SET_TRIES_MAX);
	return DOCA_ERROR_AGAIN;
}
