/* SPDX-License-Identifier: BSD-3-Clause */
#include <softfield/device.h>
#include <doca_gpunetio_dev_comch.cuh>

#include "gpu_pair_kernel.h"

static uint8_t byte_of(uint64_t number, uint32_t at)
{
	return (uint8_t)(number * 7 + at);
}

static int is_message(uint64_t number, const struct ping_args *args, const uint8_t *bytes, uint32_t len, const uint8_t *imm,
		      uint32_t imm_len)
{
	if (len != args->size || imm_len != args->imm_len)
		return 0;
	for (uint32_t i = 0; i < len; i++) {
		if (bytes[i] != byte_of(number, i))
			return 0;
	}
	for (uint32_t i = 0; i < imm_len; i++) {
		if (imm[i] != byte_of(number, i + 1))
			return 0;
	}
	return 1;
}

static doca_error_t send_one(const struct ping_args *args, uint64_t number)
{
	const struct echo_queue *queue = args->queue;
	uint32_t half = queue->num_bufs / 2;
	uint8_t *bytes = (uint8_t *)(uintptr_t)(queue->memory + (half + number % half) * queue->buf_size), imm[32];

	for (uint32_t i = 0; i < args->size; i++)
		bytes[i] = byte_of(number, i);
	for (uint32_t i = 0; i < args->imm_len; i++)
		imm[i] = byte_of(number, i + 1);
	return doca_dev_gpu_comch_producer_send(queue->producer, 0, (uintptr_t)bytes, args->size, imm, args->imm_len,
						queue->consumer_id, number);
}

/* Sends as many messages as there are buffers; sends the next when one has returned and its buffer is free. */
static doca_error_t ping(const struct ping_args *args, struct ping_result *result)
{
	const struct echo_queue *queue = args->queue;
	uint32_t half = queue->num_bufs / 2, mkey = 0, len, imm_len = 0;
	uint64_t polled = 0, id;
	doca_error_t status;
	uintptr_t addr;
	uint8_t *imm = 0;

	for (uint32_t i = 0; i < half; i++)
		doca_dev_gpu_comch_consumer_post_recv(queue->consumer, 0, queue->memory + (uint64_t)i * queue->buf_size,
						      queue->buf_size);
	while (result->got < args->messages && !softfield_load_word(args->stop)) {
		if (result->sent < args->messages && result->sent - polled < half && result->sent - result->got < half) {
			status = send_one(args, result->sent);
			if (status != DOCA_SUCCESS && status != DOCA_ERROR_AGAIN)
				return status;
			result->sent += status == DOCA_SUCCESS;
		}
		status = doca_dev_gpu_comch_producer_poll(queue->producer, &id, DOCA_GPU_COMCH_WAIT_FLAG_NB);
		if (status != DOCA_SUCCESS && status != DOCA_ERROR_AGAIN)
			return status;
		polled += status == DOCA_SUCCESS;
		status = doca_dev_gpu_comch_consumer_recv_wait(queue->consumer, &mkey, &addr, &len, &imm, &imm_len,
							       DOCA_GPU_COMCH_WAIT_FLAG_NB);
		if (status == DOCA_ERROR_AGAIN)
			continue;
		if (status != DOCA_SUCCESS)
			return status;
		result->wrong += !is_message(result->got, args, (const uint8_t *)addr, len, imm, imm_len);
		__atomic_store_n(&result->got, result->got + 1, __ATOMIC_RELAXED); /* the host reads it meanwhile */
		doca_dev_gpu_comch_consumer_post_recv(queue->consumer, 0, addr, queue->buf_size);
	}
	return DOCA_SUCCESS;
}

void ping_thread(const void *args)
{
	const struct ping_args *ping_args = args;

	ping_args->result->status = ping(ping_args, ping_args->result);
}
