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

SOFTFIELD_COLD doca_error_t touch_memory(const struct step_args *args, const struct step *s)
{
	volatile uint8_t *at = at_of(args, s);
	uint64_t i;
	uint32_t polls;

	if (s->what == STEP_AWAIT_BYTE) {
		for (polls = 0; polls < POLLS_MAX && *at != (uint8_t)s->seed; polls++)
			softfield_rdma_relax();
		return *at == (uint8_t)s->seed ? DOCA_SUCCESS : DOCA_ERROR_TIME_OUT;
	}
	for (i = 0; i < s->len; i++) {
		if (s->what == STEP_FILL)
			store_byte(&at[i], step_byte(s->seed, i));
		else if (at[i] != step_byte(s->seed, i))
			return DOCA_ERROR_IO_FAILED;
	}
	return DOCA_SUCCESS;
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
		return touch_memory(args, s);
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
		if (thread == 0 || status != DOCA_SUCCESS)
			args->results[i].status = (uint32_t)status;
		softfield_block_sync();
	}
}
