/* SPDX-License-Identifier: BSD-3-Clause */
#include "comch/receives.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "base/log_rate.h"

#define SLOT_ALIGN 64

struct slot {
	struct sf_recv recv;
	struct sf_iov iov;
	struct comch_receives *owner;
};

struct comch_receives {
	struct sf_ep *ep;
	struct sf_region *region;
	uint8_t *memory;
	size_t memory_len;
	comch_receives_cb arrived;
	void *user;
	uint32_t num_posted;
	bool flushing;
	struct slot slots[];
};

static void slot_done(struct sf_recv *recv)
{
	struct slot *slot = (struct slot *)recv;
	struct comch_receives *receives = slot->owner;
	doca_error_t result;

	assert(receives->num_posted > 0);
	receives->num_posted--;
	if (recv->status == DOCA_SUCCESS && recv->conn != NULL)
		receives->arrived(receives->user, recv->conn, recv, (uint8_t *)slot->iov.addr);
	if (receives->flushing)
		return;
	result = sf_ep_post_recv(receives->ep, recv);
	if (result == DOCA_SUCCESS)
		receives->num_posted++;
	else
		SF_LOG_ERR_LIMITED("cannot repost a control receive: %s; the queue is shorter by one",
				   doca_error_get_name(result));
}

static doca_error_t post_all(struct comch_receives *receives, uint32_t num, uint32_t slot_size)
{
	for (uint32_t i = 0; i < num; i++) {
		struct slot *slot = &receives->slots[i];
		doca_error_t result;

		slot->owner = receives;
		slot->iov = (struct sf_iov){receives->memory + (size_t)i * slot_size, slot_size};
		slot->recv = (struct sf_recv){
			.done = slot_done, .kept = true, .region = receives->region, .iov_num = 1, .iov = &slot->iov};
		result = sf_ep_post_recv(receives->ep, &slot->recv);
		if (result != DOCA_SUCCESS) {
			SF_LOG_ERR("posting control receive %u of %u: %s", i, num, doca_error_get_name(result));
			return result;
		}
		receives->num_posted++;
	}
	return DOCA_SUCCESS;
}

doca_error_t comch_receives_create(struct sf_ep *ep, uint32_t num, uint32_t slot_size, comch_receives_cb arrived, void *user,
				   struct comch_receives **out)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct comch_receives *receives;
	doca_error_t result;

	slot_size = (slot_size + SLOT_ALIGN - 1) / SLOT_ALIGN * SLOT_ALIGN;
	receives = (struct comch_receives *)calloc(1, sizeof(*receives) + num * sizeof(struct slot));
	if (receives == NULL)
		return DOCA_ERROR_NO_MEMORY;
	receives->ep = ep;
	receives->arrived = arrived;
	receives->user = user;
	/* Separate whole pages, so that the fabric can share them in place. */
	receives->memory_len = ((size_t)num * slot_size + page - 1) / page * page;
	receives->memory =
		(uint8_t *)mmap(NULL, receives->memory_len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (receives->memory == MAP_FAILED) {
		SF_LOG_ERR("no memory for %u control messages of %u bytes; lower the receive queue or message size", num,
			   slot_size);
		free(receives);
		return DOCA_ERROR_NO_MEMORY;
	}
	result = sf_region_register(ep->domain, receives->memory, receives->memory_len, SF_RIGHT_WRITE, &receives->region);
	if (result == DOCA_SUCCESS)
		result = post_all(receives, num, slot_size);
	*out = receives; /* also if incomplete: the caller flushes, polls and destroys it */
	return result;
}

void comch_receives_flush(struct comch_receives *receives)
{
	receives->flushing = true;
	if (receives->num_posted > 0)
		sf_ep_flush_recvs(receives->ep);
}

bool comch_receives_flushed(const struct comch_receives *receives)
{
	return receives->num_posted == 0;
}

void comch_receives_destroy(struct comch_receives *receives)
{
	if (receives == NULL)
		return;
	if (receives->region != NULL)
		sf_region_close(receives->region);
	munmap(receives->memory, receives->memory_len);
	free(receives);
}
