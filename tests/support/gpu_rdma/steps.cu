/* SPDX-License-Identifier: BSD-3-Clause */
#include <doca_gpunetio_dev_buf.cuh>
#include <doca_gpunetio_dev_rdma.cuh>
#include <softfield/device.h>

#include "steps.h"

#define POLLS_MAX 400000000u

SOFTFIELD_DEVICE struct doca_gpu_buf *buf_of(const struct step_args *args, uint32_t array)
{
	struct doca_gpu_buf *buf = 0;

	if (array != STEP_NONE)
		doca_gpu_dev_buf_get_buf(args->arrays[array], 0, &buf);
	return buf;
}

SOFTFIELD_DEVICE uint8_t *at_of(const struct step_args *args, const struct step *s)
{
	uintptr_t addr;

	doca_gpu_dev_buf_get_addr(buf_of(args, s->local), &addr);
	return (uint8_t *)addr + s->local_offset;
}

SOFTFIELD_COLD doca_error_t post_one_sided(const struct step_args *args, const struct step *s, uint64_t more)
{
	struct doca_gpu_buf *local = buf_of(args, s->local), *remote = buf_of(args, s->remote);
	enum doca_gpu_dev_rdma_write_flags flags = s->has_imm ? DOCA_GPU_RDMA_WRITE_FLAG_IMM : DOCA_GPU_RDMA_WRITE_FLAG_NONE;
	uint64_t to = s->remote_offset + more, from = s->local_offset + more;
	uint8_t bytes[64];
	uint32_t i;

	if (s->what == STEP_READ)
		return s->weak ? doca_gpu_dev_rdma_read_weak(args->rdma, s->connection, remote, to, local, from, s->len, 0,
							     s->position)
			       : doca_gpu_dev_rdma_read_strong(args->rdma, s->connection, remote, to, local, from, s->len, 0);
	if (s->what == STEP_WRITE)
		return s->weak ? doca_gpu_dev_rdma_write_weak(args->rdma, s->connection, remote, to, local, from, s->len, s->imm,
							      flags, s->position)
			       : doca_gpu_dev_rdma_write_strong(args->rdma, s->connection, remote, to, local, from, s->len,
								s->imm, flags);
	for (i = 0; i < s->len && i < sizeof(bytes); i++)
		bytes[i] = step_byte(s->seed, i);
	return s->weak ? doca_gpu_dev_rdma_write_inline_weak(args->rdma, s->connection, remote, to, bytes, (uint32_t)s->len,
							     s->imm, flags, s->position)
		       : doca_gpu_dev_rdma_write_inline_strong(args->rdma, s->connection, remote, to, bytes, (uint32_t)s->len,
							       s->imm, flags);
}

SOFTFIELD_COLD doca_error_t post_send(const struct step_args *args, const struct step *s, uint64_t more)
{
	struct doca_gpu_buf *local = buf_of(args, s->local);
	enum doca_gpu_dev_rdma_send_flags flags = s->has_imm ? DOCA_GPU_RDMA_SEND_FLAG_IMM : DOCA_GPU_RDMA_SEND_FLAG_NONE;
	uint64_t from = s->local_offset + more;
	uint8_t bytes[64];
	uint32_t i;

	if (s->what == STEP_SEND)
		return s->weak ? doca_gpu_dev_rdma_send_weak(args->rdma, s->connection, local, from, s->len, s->imm, flags,
							     s->position)
			       : doca_gpu_dev_rdma_send_strong(args->rdma, s->connection, local, from, s->len, s->imm, flags);
	for (i = 0; i < s->len && i < sizeof(bytes); i++)
		bytes[i] = step_byte(s->seed, i);
	return s->weak ? doca_gpu_dev_rdma_send_inline_weak(args->rdma, s->connection, bytes, (uint32_t)s->len, s->imm, flags,
							    s->position)
		       : doca_gpu_dev_rdma_send_inline_strong(args->rdma, s->connection, bytes, (uint32_t)s->len, s->imm, flags);
}

SOFTFIELD_COLD doca_error_t do_receive(const struct step_args *args, const struct step *s, uint64_t more, struct step_result *r)
{
	struct doca_gpu_dev_rdma_r *recv;
	doca_error_t result = doca_gpu_dev_rdma_get_recv(args->rdma, &recv);

	if (result != DOCA_SUCCESS)
		return result;
	switch (s->what) {
	case STEP_RECV:
		return s->weak ? doca_gpu_dev_rdma_recv_weak(recv, buf_of(args, s->local), s->len, s->local_offset + more, 0,
							     s->position)
			       : doca_gpu_dev_rdma_recv_strong(recv, buf_of(args, s->local), s->len, s->local_offset + more, 0);
	case STEP_RECV_COMMIT:
		return s->weak ? doca_gpu_dev_rdma_recv_commit_weak(recv, s->position)
			       : doca_gpu_dev_rdma_recv_commit_strong(recv);
	case STEP_RECV_INFO:
		return doca_gpu_dev_rdma_recv_get_info(recv, &r->num, &r->imms[0]);
	default:
		return doca_gpu_dev_rdma_recv_wait_all(
			recv, s->what == STEP_RECV_WAIT ? DOCA_GPU_RDMA_RECV_WAIT_FLAG_B : DOCA_GPU_RDMA_RECV_WAIT_FLAG_NB,
			&r->num, r->imms, r->connections);
	}
}

SOFTFIELD_DEVICE void store_byte(volatile uint8_t *at, uint8_t byte)
{
#if defined(__CUDACC__)
	*at = byte;
#else
	__atomic_store_n(at, byte, __ATOMIC_RELEASE);
#endif
}

SOFTFIELD_COLD doca_error_t touch_memory(const struct step_args *args, const struct step *s, uint64_t more)
{
	volatile uint8_t *at = at_of(args, s) + more;
	uint64_t i;
	uint32_t polls;

	if (s->what == STEP_AWAIT_BYTE) {
		for (polls = 0; polls < POLLS_MAX && *at != (uint8_t)s->seed; polls++)
			softfield_rdma_relax();
		return *at == (uint8_t)s->seed ? DOCA_SUCCESS : DOCA_ERROR_TIME_OUT;
	}
	for (i = 0; i < s->len; i++) {
		if (s->what == STEP_FILL)
			store_byte(&at[i], step_byte(s->seed, more + i));
		else if (at[i] != step_byte(s->seed, more + i))
			return DOCA_ERROR_IO_FAILED;
	}
	return DOCA_SUCCESS;
}

/* ---- many threads ---- */

/* What a thread writes next: where, and on which connection. */
struct piece {
	uint64_t at;
	uint32_t connection;
};

/* All threads write side by side. Of two connections they use the first, both, the second, and both again. */
SOFTFIELD_DEVICE struct piece piece_of(const struct step *s, uint32_t number)
{
	uint32_t thread = softfield_thread_index();
	struct piece piece;

	piece.at = ((uint64_t)number * softfield_block_size() + thread) * s->len;
	piece.connection = s->position ? ((thread & number) ^ (number >> 1)) & 1 : 0;
	return piece;
}

SOFTFIELD_COLD doca_error_t post_from_memory(const struct step_args *args, const struct step *s, struct piece piece)
{
	return doca_gpu_dev_rdma_write_strong(args->rdma, piece.connection, buf_of(args, s->remote), s->remote_offset + piece.at,
					      buf_of(args, s->local), s->local_offset + piece.at, s->len, 0,
					      DOCA_GPU_RDMA_WRITE_FLAG_NONE);
}

SOFTFIELD_COLD doca_error_t post_inline(const struct step_args *args, const struct step *s, struct piece piece)
{
	uint8_t bytes[SOFTFIELD_RDMA_WRITE_INLINE];
	uint32_t i;

	for (i = 0; i < s->len && i < sizeof(bytes); i++)
		bytes[i] = step_byte(s->seed, piece.at + i);
	return doca_gpu_dev_rdma_write_inline_strong(args->rdma, piece.connection, buf_of(args, s->remote),
						     s->remote_offset + piece.at, bytes, (uint32_t)s->len, 0,
						     DOCA_GPU_RDMA_WRITE_FLAG_NONE);
}

/* The lanes of the first of four warps post together; of the second in two branches; of the third one by one; and of the fourth
 * some with invalid arguments, which post again. */
SOFTFIELD_COLD doca_error_t post_piece(const struct step_args *args, const struct step *s, struct piece piece)
{
	uint32_t lane = softfield_thread_index() % 32, warp = softfield_thread_index() / 32 % 4, i;
	doca_error_t result = DOCA_ERROR_UNEXPECTED;
	struct piece first = piece;

	if (warp == 1)
		return lane % 4 < 2 ? post_inline(args, s, piece) : post_from_memory(args, s, piece);
	if (warp == 2) {
		for (i = 0; i < 32; i++)
			if (i == lane)
				result = post_from_memory(args, s, piece);
		return result;
	}
	if (warp == 3 && lane % 3 == 1)
		first.at = (uint64_t)1 << 40;
	result = post_from_memory(args, s, first);
	if (first.at == piece.at)
		return result;
	return result == DOCA_ERROR_INVALID_VALUE ? post_from_memory(args, s, piece) : DOCA_ERROR_UNEXPECTED;
}

SOFTFIELD_COLD doca_error_t commit_and_wait(const struct step_args *args, const struct step *s)
{
	doca_error_t result = doca_gpu_dev_rdma_commit_strong(args->rdma, 0);
	uint32_t commits;

	if (result == DOCA_SUCCESS && s->position)
		result = doca_gpu_dev_rdma_commit_strong(args->rdma, 1);
	return result == DOCA_SUCCESS ? doca_gpu_dev_rdma_wait_all(args->rdma, &commits) : result;
}

/* No thread leaves a loop with a synchronization early. */
SOFTFIELD_COLD doca_error_t write_many(const struct step_args *args, const struct step *s)
{
	doca_error_t result = DOCA_SUCCESS, posted;
	uint32_t number, round;

	for (number = 0; number < s->pieces; number++) {
		posted = DOCA_ERROR_AGAIN;
		for (round = 0; round < s->rounds; round++) {
			if (posted == DOCA_ERROR_AGAIN)
				posted = post_piece(args, s, piece_of(s, number));
			softfield_block_sync();
			if (softfield_thread_index() == 0 && result == DOCA_SUCCESS)
				result = commit_and_wait(args, s);
			softfield_block_sync();
		}
		if (result == DOCA_SUCCESS)
			result = posted;
	}
	return result;
}

#define ROUNDS_UNDER_WAY 3

/* A message of a round: a word inline, or several from local memory, where no round that is under way has its bytes. */
SOFTFIELD_COLD doca_error_t post_message(const struct step_args *args, const struct step *s, uint32_t number, uint32_t round)
{
	const uint64_t value = step_word(round), at = s->remote_offset + number * s->len;
	const uint64_t local = ((round % ROUNDS_UNDER_WAY) * s->pieces + number) * s->len;
	uint64_t *words, i;

	if (s->len <= 8)
		return doca_gpu_dev_rdma_write_inline_strong(args->rdma, s->connection, buf_of(args, s->remote), at,
							     (uint8_t *)&value, (uint32_t)s->len, 0,
							     DOCA_GPU_RDMA_WRITE_FLAG_NONE);
	words = (uint64_t *)(void *)(at_of(args, s) + local);
	for (i = 0; i < s->len / 8; i++)
		words[i] = value;
	return doca_gpu_dev_rdma_write_strong(args->rdma, s->connection, buf_of(args, s->remote), at, buf_of(args, s->local),
					      s->local_offset + local, s->len, 0, DOCA_GPU_RDMA_WRITE_FLAG_NONE);
}

SOFTFIELD_COLD doca_error_t write_rounds(const struct step_args *args, const struct step *s)
{
	doca_error_t result = DOCA_SUCCESS;
	uint32_t round, number, commits;

	for (round = 1; round <= s->rounds && result == DOCA_SUCCESS; round++) {
		for (number = 0; number < s->pieces && result == DOCA_SUCCESS; number++) {
			result = post_message(args, s, number, round);
			if (result != DOCA_ERROR_AGAIN)
				continue;
			result = doca_gpu_dev_rdma_commit_strong(args->rdma, s->connection);
			if (result == DOCA_SUCCESS)
				result = doca_gpu_dev_rdma_wait_all(args->rdma, &commits);
			if (result == DOCA_SUCCESS)
				result = post_message(args, s, number, round);
		}
		if (result == DOCA_SUCCESS)
			result = doca_gpu_dev_rdma_commit_strong(args->rdma, s->connection);
		if (result == DOCA_SUCCESS && (round % ROUNDS_UNDER_WAY == 0 || round == s->rounds))
			result = doca_gpu_dev_rdma_wait_all(args->rdma, &commits);
	}
	return result;
}

SOFTFIELD_DEVICE void count_more(uint32_t *count, uint32_t num)
{
#if defined(__CUDACC__)
	atomicAdd(count, num);
#else
	__atomic_fetch_add(count, num, __ATOMIC_ACQ_REL);
#endif
}

/* Words behind len bytes of local memory: two, which are 0 before any thread returns. */
SOFTFIELD_DEVICE uint32_t *counters_behind(const struct step_args *args, const struct step *s, uint64_t len)
{
	struct step place = *s;
	uint32_t *counters;

	place.local_offset = (s->local_offset + len + 127) / 128 * 128;
	counters = (uint32_t *)(void *)at_of(args, &place);
	if (softfield_thread_index() == 0) {
		softfield_store_word(&counters[0], 0);
		softfield_store_word(&counters[1], 0);
	}
	softfield_block_sync();
	return counters;
}

SOFTFIELD_COLD doca_error_t write_whenever(const struct step_args *args, const struct step *s)
{
	uint32_t thread = softfield_thread_index(), *ended, number, polls = 0;
	doca_error_t result = DOCA_SUCCESS;

	ended = counters_behind(args, s, (uint64_t)s->pieces * softfield_block_size() * s->len);
	if (thread >= 32) {
		for (number = 0; number < s->pieces && result == DOCA_SUCCESS; number++) {
			result = DOCA_ERROR_AGAIN;
			for (; result == DOCA_ERROR_AGAIN && polls < POLLS_MAX; polls++) {
				result = post_piece(args, s, piece_of(s, number));
				if (result == DOCA_ERROR_AGAIN)
					softfield_rdma_relax();
			}
		}
		count_more(ended, 1);
	} else if (thread == 0) {
		while (softfield_load_word(ended) != softfield_block_size() - 32 && result == DOCA_SUCCESS)
			result = commit_and_wait(args, s);
	}
	softfield_block_sync();
	return thread == 0 && result == DOCA_SUCCESS ? commit_and_wait(args, s) : result;
}

/* Posts the thread's next receive, if it has one and there is room. */
SOFTFIELD_COLD doca_error_t post_next(const struct step_args *args, const struct step *s, struct doca_gpu_dev_rdma_r *recv,
				      uint32_t *posted)
{
	const uint64_t at = ((uint64_t)softfield_thread_index() * s->pieces + *posted) * s->len;
	doca_error_t result;

	if (*posted == s->pieces)
		return DOCA_SUCCESS;
	result = doca_gpu_dev_rdma_recv_strong(recv, buf_of(args, s->local), s->len, s->local_offset + at, 0);
	if (result != DOCA_SUCCESS)
		return result == DOCA_ERROR_AGAIN ? DOCA_SUCCESS : result;
	(*posted)++;
	return doca_gpu_dev_rdma_recv_commit_strong(recv);
}

SOFTFIELD_COLD doca_error_t take_some(struct doca_gpu_dev_rdma_r *recv, uint32_t *counters)
{
	uint32_t imms[STEP_RESULTS], num = 0, sum = 0, i;
	doca_error_t result = doca_gpu_dev_rdma_recv_wait_all(recv, DOCA_GPU_RDMA_RECV_WAIT_FLAG_NB, &num, imms, 0);

	for (i = 0; i < num; i++)
		sum += imms[i];
	if (num != 0) {
		count_more(&counters[1], sum);
		count_more(&counters[0], num);
	}
	return result;
}

SOFTFIELD_COLD doca_error_t receive_many(const struct step_args *args, const struct step *s, struct step_result *r)
{
	const uint32_t total = s->pieces * softfield_block_size();
	uint32_t *counters = counters_behind(args, s, (uint64_t)total * s->len), posted = 0, polls = 0;
	struct doca_gpu_dev_rdma_r *recv;
	doca_error_t result = doca_gpu_dev_rdma_get_recv(args->rdma, &recv);
	uint64_t i;

	for (; result == DOCA_SUCCESS && softfield_load_word(&counters[0]) != total; polls++) {
		result = polls < POLLS_MAX ? post_next(args, s, recv, &posted) : DOCA_ERROR_TIME_OUT;
		if (result == DOCA_SUCCESS)
			result = take_some(recv, counters);
	}
	softfield_block_sync();
	if (softfield_thread_index() == 0) {
		r->num = softfield_load_word(&counters[0]);
		r->imms[0] = softfield_load_word(&counters[1]);
	}
	for (i = 0; i < (uint64_t)s->pieces * s->len && result == DOCA_SUCCESS; i++) {
		const volatile uint8_t *mine = at_of(args, s) + softfield_thread_index() * s->pieces * s->len;

		if (mine[i] != step_byte(s->seed, i % s->len))
			result = DOCA_ERROR_IO_FAILED;
	}
	return result;
}

SOFTFIELD_COLD doca_error_t do_step(const struct step_args *args, const struct step *s, uint64_t more, struct step_result *r)
{
	switch (s->what) {
	case STEP_WRITE:
	case STEP_WRITE_INLINE:
	case STEP_READ:
		return post_one_sided(args, s, more);
	case STEP_SEND:
	case STEP_SEND_INLINE:
		return post_send(args, s, more);
	case STEP_COMMIT:
		return s->weak ? doca_gpu_dev_rdma_commit_weak(args->rdma, s->connection, s->position)
			       : doca_gpu_dev_rdma_commit_strong(args->rdma, s->connection);
	case STEP_WAIT:
		return doca_gpu_dev_rdma_wait_all(args->rdma, &r->num);
	case STEP_INFO:
		return doca_gpu_dev_rdma_get_info(args->rdma, s->connection, &r->num, &r->imms[0]);
	case STEP_FILL:
	case STEP_VERIFY:
	case STEP_AWAIT_BYTE:
		return touch_memory(args, s, more);
	case STEP_WRITE_MANY:
		return write_many(args, s);
	case STEP_WRITE_WHENEVER:
		return write_whenever(args, s);
	case STEP_WRITE_ROUNDS:
		return write_rounds(args, s);
	case STEP_RECEIVE_MANY:
		return receive_many(args, s, r);
	default:
		return do_receive(args, s, more, r);
	}
}

SOFTFIELD_KERNEL(run_steps, struct step_args, args)
{
	uint32_t i, thread = softfield_thread_index();

	for (i = 0; i < args->num_steps; i++) {
		const struct step *s = &args->steps[i];
		doca_error_t status = DOCA_SUCCESS;

		if (thread == 0 || s->all)
			status = do_step(args, s, s->all ? thread * s->len : 0, &args->results[i]);
		if (status != DOCA_SUCCESS) /* it was SUCCESS, and stays so only if no thread fails */
			args->results[i].status = (uint32_t)status;
		softfield_block_sync();
	}
}
