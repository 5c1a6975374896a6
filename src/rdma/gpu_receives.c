/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives posted by kernels: each gets space in the arena and is posted on the endpoint, where peers fill it. Kernels own the
 * data in the arena until they report that they have consumed it.
 */
#include "rdma/gpu_receives.h"

#include <assert.h>
#include <string.h>

#include "base/log.h"
#include "rdma/gpu.h"
#include "rdma/receive.h"

static struct rdma_gpu_recv *recv_at(struct rdma_gpu *gpu, uint32_t number)
{
	return &gpu->recvs[number & (gpu->recv_size - 1)];
}

/* ---- what came ---- */

static void arrival_publish(struct rdma_gpu_recv *recv, uint32_t kind, uint32_t immediate, uint32_t connection)
{
	struct rdma_gpu *gpu = recv->gpu;
	struct softfield_slot16 *slots16 = gpu->arrivals[recv->seq & (gpu->recv_size - 1)].slot16;
	uint32_t mark = softfield_rdma_mark(recv->seq, (uint32_t)__builtin_ctz(gpu->recv_size)), words[12] = {0};

	words[SOFTFIELD_RDMA_ARR_LEN] = recv->recv.len;
	words[SOFTFIELD_RDMA_ARR_IMM] = immediate;
	words[SOFTFIELD_RDMA_ARR_CONNECTION] = connection;
	if (recv->recv.len <= SOFTFIELD_RDMA_ARRIVAL_DATA) {
		kind |= SOFTFIELD_RDMA_IN_COMMAND;
		memcpy(words + SOFTFIELD_RDMA_ARR_DATA, gpu->recv_arena + recv->offset, recv->recv.len);
	} else {
		kind |= SOFTFIELD_RDMA_IN_ARENA;
		words[SOFTFIELD_RDMA_ARR_DATA] = recv->offset;
	}
	words[SOFTFIELD_RDMA_ARR_KIND] = kind;
	softfield_published(slots16);
	softfield_fence_release();
	for (uint32_t i = 0; i < 4; i++) {
		struct softfield_slot16 slot16 = {{words[3 * i], words[3 * i + 1], words[3 * i + 2], mark}};

		softfield_store_slot16(slots16 + i, slot16);
	}
}

static void recv_done(struct sf_recv *base)
{
	struct rdma_gpu_recv *recv = (struct rdma_gpu_recv *)(void *)base;
	struct rdma_gpu *gpu = recv->gpu;
	enum doca_rdma_opcode opcode;
	doca_be32_t immediate;

	assert(gpu->num_posted > 0);
	gpu->num_posted--;
	if (base->status == DOCA_SUCCESS && base->conn != NULL && rdma_header_read(base, &opcode, &immediate)) {
		arrival_publish(recv, opcode, immediate, ((const struct doca_rdma_connection *)base->conn->user)->id);
		return;
	}
	/* Its sender ended during the message, or sent something other than RDMA: the receive is posted again. */
	if (!gpu->flushing && sf_ep_post_recv(gpu->rdma->ep, base) == DOCA_SUCCESS)
		gpu->num_posted++;
}

/* ---- what is posted ---- */

/* Frees the arena's bytes of all receives up to number `consumed`. A number that is not possible is ignored: the newer one of two
 * may be known already, and a program's kernel may write anything. Returns whether any were freed. */
static bool arena_reclaim(struct rdma_gpu *gpu, uint32_t consumed)
{
	if (consumed - gpu->reclaimed > gpu->posted - gpu->reclaimed || consumed == gpu->reclaimed)
		return false;
	for (; gpu->reclaimed != consumed; gpu->reclaimed++)
		gpu->recv_tail = recv_at(gpu, gpu->reclaimed)->arena_end;
	if (gpu->reclaimed == gpu->posted)
		gpu->recv_head = gpu->recv_tail = 0;
	return true;
}

/* false: not now */
static bool receive_post(struct rdma_gpu *gpu, uint32_t len)
{
	struct rdma_gpu_recv *recv = recv_at(gpu, gpu->posted);
	uint64_t head = gpu->recv_head;
	uint32_t offset = 0;

	if (len != 0 && !softfield_rdma_take(&head, gpu->recv_tail, gpu->recv_arena_size, len, &offset))
		return false;
	assert(offset + len <= gpu->recv_arena_size);
	recv->gpu = gpu;
	recv->seq = gpu->posted;
	recv->offset = offset;
	recv->arena_end = head;
	recv->iov = (struct sf_iov){gpu->recv_arena + offset, len};
	recv->recv = (struct sf_recv){
		.done = recv_done, .region = len != 0 ? gpu->recv_region : NULL, .iov = &recv->iov, .iov_num = len != 0 ? 1 : 0};
	if (sf_ep_post_recv(gpu->rdma->ep, &recv->recv) != DOCA_SUCCESS)
		return false;
	gpu->recv_head = head;
	gpu->num_posted++;
	gpu->posted++;
	return true;
}

/* The next receive that kernels have posted, if there is one. */
static bool post_read(const struct rdma_gpu *gpu, struct softfield_slot16 *post)
{
	const struct softfield_slot16 *slot16 = &gpu->posts[gpu->posted & (gpu->recv_size - 1)];

	*post = softfield_load_slot16(slot16);
	if (post->w[3] != softfield_rdma_mark(gpu->posted, (uint32_t)__builtin_ctz(gpu->recv_size)))
		return false;
	softfield_observed(slot16);
	return true;
}

bool rdma_gpu_receives_due(const struct rdma_gpu *gpu)
{
	struct softfield_slot16 post;

	return softfield_load_word(gpu->freed) != gpu->freed_seen || post_read(gpu, &post);
}

bool rdma_gpu_receives_run(struct rdma_gpu *gpu)
{
	const uint32_t freed = softfield_load_word(gpu->freed);
	struct softfield_slot16 post;
	bool moved = false;

	if (gpu->flushing)
		return false;
	if (freed != gpu->freed_seen) { /* only then: kernels with small receives do not update it, and numbers wrap */
		softfield_observed(gpu->freed);
		gpu->freed_seen = freed;
		moved = arena_reclaim(gpu, freed);
	}
	while (post_read(gpu, &post)) {
		moved |= arena_reclaim(gpu, post.w[1]);
		if (post.w[0] > gpu->recv_arena_size || !receive_post(gpu, post.w[0]))
			break;
		moved = true;
	}
	return moved;
}
