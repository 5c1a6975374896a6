/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receives that a kernel has posted are posted to the endpoint, each with a buffer of the same length. So the peer has the
 * kernel's credits. A message is copied from its buffer into the GPU queue; if the GPU queue's arena is full it waits in its
 * buffer, with all behind it.
 */
#include "comch/gpu_consumer_proxy.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "comch/gpu_sender.h"

#define BUFFER_ALIGN 64

struct buffer {
	struct sf_recv recv;
	struct sf_iov iov;
	struct gpu_consumer_proxy *proxy;
	struct buffer *next;
};

struct gpu_consumer_proxy {
	struct gpu_proxy base;
	struct doca_comch_consumer *consumer;
	struct gpu_sender sender;
	uint8_t *memory; /* the memory of the buffers */
	size_t memory_len;
	struct sf_region *region;
	struct buffer *buffers;
	uint32_t num_buffers; /* there are */
	uint32_t len;	      /* of each, since no receive was posted */
	uint32_t num_used;    /* at that length */
	struct buffer *free;
	struct buffer *arrived_first, *arrived_last;
	uint32_t num_posted, num_arrived;
	bool cancelled;
};

/* ---- messages ---- */

static void buffer_free(struct buffer *buffer)
{
	buffer->next = buffer->proxy->free;
	buffer->proxy->free = buffer;
}

static void message_queue(struct buffer *buffer)
{
	struct gpu_consumer_proxy *proxy = buffer->proxy;

	buffer->next = NULL;
	if (proxy->arrived_last != NULL)
		proxy->arrived_last->next = buffer;
	else
		proxy->arrived_first = buffer;
	proxy->arrived_last = buffer;
	proxy->num_arrived++;
}

static struct buffer *message_pop(struct gpu_consumer_proxy *proxy)
{
	struct buffer *buffer = proxy->arrived_first;

	proxy->arrived_first = buffer->next;
	if (buffer->next == NULL)
		proxy->arrived_last = NULL;
	assert(proxy->num_arrived > 0);
	proxy->num_arrived--;
	return buffer;
}

static void recv_done(struct sf_recv *recv)
{
	struct buffer *buffer = (struct buffer *)((char *)recv - offsetof(struct buffer, recv));
	struct gpu_consumer_proxy *proxy = buffer->proxy;
	const struct comch_data_header *header = (const struct comch_data_header *)recv->header;

	assert(proxy->num_posted > 0);
	proxy->num_posted--;
	if (recv->status != DOCA_SUCCESS) {
		buffer_free(buffer);
		return;
	}
	if (recv->kind != SF_OP_SEND || !comch_data_header_valid(header, recv->header_len) ||
	    header->imm_len > proxy->consumer->imm_data_len) {
		SF_LOG_ERR_LIMITED(
			"consumer %u: a message of %u bytes with a header of %u is not from a producer; its connection is closed",
			proxy->consumer->child.id, recv->len, recv->header_len);
		sf_conn_disconnect(recv->conn);
		buffer_free(buffer);
		return;
	}
	message_queue(buffer);
}

/* Returns false if the GPU queue has no room now. */
static bool pass_on(struct gpu_consumer_proxy *proxy)
{
	const struct buffer *buffer = proxy->arrived_first;
	const struct comch_data_header *header = (const struct comch_data_header *)buffer->recv.header;
	const struct sf_iov iov = {buffer->iov.addr, buffer->recv.len};
	doca_error_t result = comch_gpu_sender_send(&proxy->sender, buffer, &iov, 1, header->imm, header->imm_len);

	if (result == DOCA_ERROR_AGAIN)
		return false;
	if (result != DOCA_SUCCESS && result != DOCA_ERROR_NOT_CONNECTED) /* NOT_CONNECTED: the kernel receives no more */
		SF_LOG_ERR_LIMITED(
			"consumer %u: a message of %zu bytes is lost: the kernel's receive of %u bytes became one of %u",
			proxy->consumer->child.id, iov.len, proxy->len, proxy->sender.len);
	buffer_free(message_pop(proxy));
	return true;
}

/* ---- receives ---- */

/* Kernels post receives of another length when all others are used up. */
static void buffers_cut(struct gpu_consumer_proxy *proxy, uint32_t len)
{
	size_t room = len != 0 ? ((size_t)len + BUFFER_ALIGN - 1) & ~(size_t)(BUFFER_ALIGN - 1) : BUFFER_ALIGN;
	size_t num = proxy->memory_len / room;

	proxy->len = len;
	proxy->num_used = num < proxy->num_buffers ? (uint32_t)num : proxy->num_buffers;
	proxy->free = NULL;
	for (uint32_t i = proxy->num_used; i-- > 0;) {
		struct buffer *buffer = &proxy->buffers[i];

		buffer->proxy = proxy;
		buffer->iov = (struct sf_iov){proxy->memory + i * room, len};
		buffer->recv = (struct sf_recv){.done = recv_done,
						.region = len != 0 ? proxy->region : NULL,
						.iov_num = len != 0,
						.iov = &buffer->iov,
						.kept = true};
		buffer_free(buffer);
	}
}

/* A receive that is longer than the arena takes what fits there, as with a peer that maps the GPU queue. */
static bool receives_post(struct gpu_consumer_proxy *proxy)
{
	uint32_t len, credits = comch_gpu_sender_credits(&proxy->sender, &len), used = proxy->num_posted + proxy->num_arrived;
	bool posted = false;

	if (credits <= used)
		return false;
	len = len < proxy->memory_len ? len : (uint32_t)proxy->memory_len;
	if (len != proxy->len && used == 0)
		buffers_cut(proxy, len);
	while (len == proxy->len && credits > used && proxy->free != NULL) {
		struct buffer *buffer = proxy->free;

		proxy->free = buffer->next;
		if (sf_ep_post_recv(proxy->consumer->ep, &buffer->recv) != DOCA_SUCCESS) {
			buffer_free(buffer);
			break;
		}
		proxy->num_posted++;
		used++;
		posted = true;
	}
	return posted;
}

/* ---- the proxy ---- */

static bool consumer_poll(struct gpu_proxy *base)
{
	struct gpu_consumer_proxy *proxy = (struct gpu_consumer_proxy *)base;
	uint32_t posted = proxy->num_posted;
	bool moved = sf_ep_poll(proxy->consumer->ep, COMCH_POLL_BUDGET) > 0;

	while (proxy->arrived_first != NULL && pass_on(proxy))
		moved = true;
	if (!proxy->cancelled)
		moved |= receives_post(proxy);
	else if (posted != 0 && proxy->num_posted == 0)
		comch_ctx_wake(&proxy->consumer->child.ctx); /* it is drained */
	return moved;
}

static bool consumer_arm(struct gpu_proxy *base)
{
	return sf_ep_arm(((struct gpu_consumer_proxy *)base)->consumer->ep);
}

static void free_all(struct gpu_consumer_proxy *proxy)
{
	comch_gpu_sender_fini(&proxy->sender);
	if (proxy->region != NULL)
		sf_region_close(proxy->region);
	if (proxy->memory != NULL)
		munmap(proxy->memory, proxy->memory_len);
	free(proxy->buffers);
	free(proxy);
}

static doca_error_t make_buffers(struct gpu_consumer_proxy *proxy, const struct gpu_queue *box)
{
	struct sf_domain *domain;
	doca_error_t result;
	void *memory;

	proxy->num_buffers = box->depth;
	proxy->buffers = calloc(box->depth, sizeof(*proxy->buffers));
	memory = mmap(NULL, box->arena_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory != MAP_FAILED) {
		proxy->memory = memory;
		proxy->memory_len = box->arena_size;
	}
	if (memory == MAP_FAILED || proxy->buffers == NULL) {
		SF_LOG_ERR_LIMITED("consumer %u: no memory for %u receives from another machine in %u bytes",
				   proxy->consumer->child.id, box->depth, box->arena_size);
		return DOCA_ERROR_NO_MEMORY;
	}
	buffers_cut(proxy, 0);
	result = sf_dev_domain(proxy->consumer->child.connection->endpoint->dev, &domain);
	if (result == DOCA_SUCCESS)
		result = sf_region_register(domain, proxy->memory, proxy->memory_len, 0, &proxy->region);
	return result;
}

static doca_error_t listen_and_add(struct gpu_consumer_proxy *proxy, const struct sf_ep_handler *handler,
				   struct comch_advertisement *ad, struct gpu_consumer_proxy **out)
{
	int event_fd;
	doca_error_t result = comch_gpu_proxy_acquire(&event_fd);

	if (result != DOCA_SUCCESS)
		return result;
	comch_gpu_proxy_lock();
	result = comch_consumer_listen(proxy->consumer, handler, proxy->num_buffers, event_fd, ad);
	if (result == DOCA_SUCCESS) {
		comch_gpu_proxy_add(&proxy->base);
		*out = proxy; /* the handler may run from here on */
	}
	comch_gpu_proxy_unlock();
	if (result != DOCA_SUCCESS)
		comch_gpu_proxy_release();
	return result;
}

doca_error_t comch_gpu_consumer_proxy_open(struct doca_comch_consumer *consumer, const struct gpu_memory *memory,
					   const struct sf_ep_handler *handler, struct comch_advertisement *ad,
					   struct gpu_consumer_proxy **out)
{
	struct gpu_consumer_proxy *proxy = calloc(1, sizeof(*proxy));
	struct gpu_queue box;
	doca_error_t result;

	if (proxy == NULL)
		return DOCA_ERROR_NO_MEMORY;
	proxy->base.poll = consumer_poll;
	proxy->base.arm = consumer_arm;
	proxy->base.hardware = consumer->child.ctx.gpu->ops->hardware;
	proxy->consumer = consumer;
	result = comch_gpu_queue_view(memory->addr, memory->len, 0, true, &box);
	if (result == DOCA_SUCCESS)
		result = comch_gpu_sender_init(&proxy->sender, &box);
	if (result == DOCA_SUCCESS)
		result = make_buffers(proxy, &box);
	if (result == DOCA_SUCCESS)
		result = listen_and_add(proxy, handler, ad, out);
	if (result != DOCA_SUCCESS)
		free_all(proxy);
	return result;
}

void comch_gpu_consumer_proxy_cancel(struct gpu_consumer_proxy *proxy)
{
	comch_gpu_proxy_lock();
	proxy->cancelled = true;
	sf_ep_flush_recvs(proxy->consumer->ep);
	comch_gpu_proxy_unlock();
	comch_gpu_proxy_ring(NULL);
}

bool comch_gpu_consumer_proxy_drained(const struct gpu_consumer_proxy *proxy)
{
	bool drained;

	if (!comch_gpu_proxy_is_ours(&proxy->base))
		return true;
	comch_gpu_proxy_lock();
	drained = proxy->num_posted == 0;
	comch_gpu_proxy_unlock();
	return drained;
}

void comch_gpu_consumer_proxy_close(struct gpu_consumer_proxy *proxy)
{
	bool ours = comch_gpu_proxy_is_ours(&proxy->base);

	comch_gpu_proxy_lock();
	comch_gpu_proxy_remove(&proxy->base);
	comch_consumer_unlisten(proxy->consumer);
	comch_gpu_proxy_unlock();
	if (ours)
		comch_gpu_proxy_release();
	free_all(proxy);
}
