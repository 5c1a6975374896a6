/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads, writes and atomics that execute inside their submit: the peer's memory is mapped here, so they need only a few checks
 * and the copy. Unusual or invalid tasks are left to submit.c. Only the results of a task change.
 *
 * The order stays that of submission: a task is executed here only if its connection has nothing in flight or waiting, and
 * executed tasks complete before those that the fabric reports.
 */
#include "rdma/inline_completion.h"

#include "core/submit.h"
#include "fabric/mapping.h"
#include "rdma/completion.h"
#include "rdma/connection.h"
#include "rdma/rdma.h"
#include "rdma/request.h"
#include "rdma/submit.h"

#define likely(condition) __builtin_expect(!!(condition), 1)

/* Returns true if [addr, addr + len) of a local buffer is in known memory of this process, with the needed right. */
static inline bool is_local(const struct doca_rdma *rdma, struct rdma_request *request, const struct doca_buf *buf,
			    const uint8_t *addr, uint64_t len, bool written)
{
	const struct sf_reg *reg = sf_reg_known_by(&rdma->reg_cache, &request->local_reg, buf->mmap);

	return likely(reg != NULL && buf->next == NULL && reg->region == NULL && (written ? reg->writable : reg->readable) &&
		      sf_reg_contains(reg, addr, len));
}

/* The mapping of [addr, addr + len) of a remote buffer, if the peer's memory map permits the access, and the local
 * address. */
static inline const struct sf_mapping *mapping_of(const struct doca_rdma *rdma, struct rdma_request *request,
						  const struct doca_buf *buf, const uint8_t *addr, uint64_t len, uint32_t right,
						  uint8_t **at)
{
	const struct sf_reg *reg = sf_reg_known_by(&rdma->reg_cache, &request->remote_reg, buf->mmap);

	if (!likely(reg != NULL && reg->region != NULL && len <= (uint64_t)(buf->head + buf->len - addr) &&
		    (reg->region->rights & right) != 0))
		return NULL;
	const struct sf_mapping *mapping = reg->region->mapping;
	if (!likely(mapping != NULL))
		return NULL;
	*at = sf_mapping_at(mapping, (uintptr_t)addr, len);
	return likely(*at != NULL && sf_mapping_stands(mapping)) ? mapping : NULL;
}

/* The bytes were accessed. If the region has closed meanwhile, the task goes through the fabric, which reports it and
 * does not change it again. */
static inline doca_error_t request_finish(struct rdma_request *request, const struct sf_mapping *mapping, uint64_t len)
{
	if (!likely(sf_mapping_stands(mapping)))
		return rdma_request_submit(&request->base, DOCA_TASK_SUBMIT_FLAG_FLUSH);
	request->len = len;
	rdma_request_succeed(request);
	return DOCA_SUCCESS;
}

/* Other lengths than a word, in a separate function so that a word needs no stack. */
static __attribute__((noinline)) doca_error_t write_bytes(struct rdma_request *request, const struct sf_mapping *mapping,
							  uint8_t *remote, uint64_t len)
{
	sf_bytes_write(remote, request->src->data, len);
	return request_finish(request, mapping, len);
}

static __attribute__((noinline)) doca_error_t read_bytes(struct rdma_request *request, const struct sf_mapping *mapping,
							 const uint8_t *remote, uint64_t len)
{
	struct doca_buf *dst = request->dst;

	sf_bytes_read(dst->data + dst->data_len, remote, len);
	return request_finish(request, mapping, len);
}

/* Returns true if a task of the connection may execute inline now. */
static inline bool may_be_inline(const struct doca_rdma *rdma, const struct rdma_request *request, uint32_t need)
{
	const struct doca_rdma_connection *connection = request->connection;

	return likely(connection != NULL && connection->rdma == rdma && connection->state == RDMA_CONNECTION_CONNECTED &&
		      connection->num_out == 0 && connection->waiting == NULL && connection->out->state == SF_CONN_READY &&
		      (connection->peer.permissions & need) == need);
}

doca_error_t rdma_write_submit(struct doca_task *base, uint32_t flags)
{
	struct rdma_request *request = (struct rdma_request *)base;
	const struct doca_rdma *rdma = (const struct doca_rdma *)base->ctx;
	const struct doca_buf *src = request->src, *dst = request->dst;
	uint64_t len;
	uint8_t *remote;

	if (!likely(may_be_inline(rdma, request, DOCA_ACCESS_FLAG_RDMA_WRITE) && src != NULL && dst != NULL &&
		    (len = src->data_len) - 1 < rdma->len_max && is_local(rdma, request, src, src->data, len, false)))
		return rdma_request_submit(base, flags);
	const struct sf_mapping *mapping =
		mapping_of(rdma, request, dst, dst->data + dst->data_len, len, SF_RIGHT_WRITE, &remote);
	if (!likely(mapping != NULL))
		return rdma_request_submit(base, flags);
	if (len != sizeof(uint64_t))
		return write_bytes(request, mapping, remote, len);
	sf_word_write(remote, src->data);
	return request_finish(request, mapping, len);
}

doca_error_t rdma_read_submit(struct doca_task *base, uint32_t flags)
{
	struct rdma_request *request = (struct rdma_request *)base;
	const struct doca_rdma *rdma = (const struct doca_rdma *)base->ctx;
	const struct doca_buf *src = request->src, *dst = request->dst;
	uint64_t len;
	uint8_t *remote;

	if (!likely(may_be_inline(rdma, request, DOCA_ACCESS_FLAG_RDMA_READ) && src != NULL && dst != NULL &&
		    (len = src->data_len) - 1 < rdma->len_max && len <= sf_buf_tailroom(dst) &&
		    is_local(rdma, request, dst, dst->data + dst->data_len, len, true)))
		return rdma_request_submit(base, flags);
	const struct sf_mapping *mapping = mapping_of(rdma, request, src, src->data, len, SF_RIGHT_READ, &remote);
	if (!likely(mapping != NULL))
		return rdma_request_submit(base, flags);
	if (len != sizeof(uint64_t))
		return read_bytes(request, mapping, remote, len);
	sf_word_read(dst->data + dst->data_len, remote);
	return request_finish(request, mapping, len);
}

doca_error_t rdma_atomic_submit(struct doca_task *base, uint32_t flags)
{
	struct rdma_request *request = (struct rdma_request *)base;
	const struct doca_rdma *rdma = (const struct doca_rdma *)base->ctx;
	const struct doca_buf *dst = request->dst, *result = request->result;
	uint64_t old = request->compare;
	uint8_t *remote;

	if (!likely(may_be_inline(rdma, request, DOCA_ACCESS_FLAG_RDMA_ATOMIC) && dst != NULL && result != NULL &&
		    (uintptr_t)dst->data % sizeof(old) == 0 &&
		    result->head + result->len - result->data >= (ptrdiff_t)sizeof(old) &&
		    is_local(rdma, request, result, result->data, sizeof(old), true)))
		return rdma_request_submit(base, flags);
	const struct sf_mapping *mapping = mapping_of(rdma, request, dst, dst->data, sizeof(old), SF_RIGHT_ATOMIC, &remote);
	if (!likely(mapping != NULL))
		return rdma_request_submit(base, flags);
	uint64_t *word = (uint64_t *)(void *)remote;
	if (((const struct rdma_verb *)base->cls)->kind == SF_OP_FAA)
		old = __atomic_fetch_add(word, request->value, __ATOMIC_SEQ_CST);
	else
		__atomic_compare_exchange_n(word, &old, request->value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	memcpy(result->data, &old, sizeof(old));
	return request_finish(request, mapping, sizeof(old));
}
