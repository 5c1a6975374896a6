/* SPDX-License-Identifier: BSD-3-Clause */
/* The buffers of a task, checked and converted to a fabric operation. */
#include "rdma/operands.h"

#include "base/log.h"
#include "base/profile.h"
#include "rdma/rdma.h"
#include "rdma/request.h"

const struct doca_buf *rdma_request_local(const struct rdma_request *request)
{
	enum sf_op_kind kind = rdma_request_verb(request)->kind;

	if (kind == SF_OP_CAS || kind == SF_OP_FAA)
		return request->result;
	return kind == SF_OP_READ ? request->dst : request->src;
}

/* Some pieces are imported memory. */
static doca_error_t resolve_mapped(struct rdma_request *request, struct sf_reg_list *list)
{
	bool destination = rdma_request_verb(request)->kind == SF_OP_READ;

	request->mapped = true;
	return sf_reg_map_list(&rdma_request_rdma(request)->reg_cache, rdma_request_local(request), destination, list);
}

doca_error_t rdma_request_set_list(struct rdma_request *request, struct sf_reg_list *list)
{
	const struct doca_rdma *rdma = rdma_request_rdma(request);

	if (list->num > rdma->list_len) {
		SF_LOG_ERR("%s: a list of %u buffers, %u are configured: raise doca_rdma_set_max_send_buf_list_len",
			   request->base.cls->name, list->num, rdma->list_len);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (list->len > rdma->len_max) {
		SF_LOG_ERR("%s: %llu bytes exceed the %llu of one message in profile %s: send them by several tasks",
			   request->base.cls->name, (unsigned long long)list->len, (unsigned long long)rdma->len_max,
			   sf_profile_name(sf_profile_get()));
		return DOCA_ERROR_INVALID_VALUE;
	}
	for (uint32_t i = 0; i < list->num; i++) {
		if (__builtin_expect(list->pieces[i].region != NULL, 0)) {
			doca_error_t result = resolve_mapped(request, list);

			if (result != DOCA_SUCCESS)
				return result;
		}
		request->iov[i] = (struct sf_iov){list->pieces[i].addr, list->pieces[i].len};
	}
	request->op.iov_num = list->num;
	request->len = list->len;
	return DOCA_SUCCESS;
}

/* Fast path: one buffer of known memory is the whole local operand. Returns false, without effect, in other cases. */
static inline bool resolve_one(struct rdma_request *request, const struct doca_buf *buf, uint8_t *addr, uint64_t len,
			       bool written)
{
	const struct sf_reg *reg;

	if (buf->next != NULL || len - 1 >= rdma_request_rdma(request)->len_max)
		return false;
	reg = sf_reg_known(&rdma_request_rdma(request)->reg_cache, buf->mmap);
	if (reg == NULL || reg->region != NULL || !(written ? reg->writable : reg->readable) || !sf_reg_contains(reg, addr, len))
		return false;
	request->iov[0] = (struct sf_iov){addr, len};
	request->op.iov_num = 1;
	request->len = len;
	return true;
}

/* The remote operand: one buffer of imported memory. */
static inline doca_error_t resolve_remote(struct rdma_request *request, const struct doca_buf *buf, const uint8_t *addr,
					  uint64_t len)
{
	const struct sf_reg *reg;
	doca_error_t result = sf_reg_get(&rdma_request_rdma(request)->reg_cache, buf->mmap, &reg);

	if (result != DOCA_SUCCESS)
		return result;
	if (reg->region == NULL) {
		SF_LOG_ERR("%s: the remote buffer is this process's own memory: create it from the peer's export",
			   request->base.cls->name);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!sf_reg_contains(reg, addr, len) || len > (uint64_t)(buf->head + buf->len - addr)) {
		SF_LOG_ERR("%s: %llu bytes at %p are more than the remote buffer has there", request->base.cls->name,
			   (unsigned long long)len, (const void *)addr);
		return DOCA_ERROR_INVALID_VALUE;
	}
	request->op.region = reg->region;
	request->op.remote_addr = (uintptr_t)addr;
	return DOCA_SUCCESS;
}

doca_error_t rdma_request_missing(const struct rdma_request *request, const char *what)
{
	SF_LOG_ERR("%s: the task has no %s", request->base.cls->name, what);
	return DOCA_ERROR_INVALID_VALUE;
}

/* A list's pieces take stack space that the usual case does not need. */
static __attribute__((noinline)) doca_error_t resolve_source_list(struct rdma_request *request)
{
	struct sf_reg_list list;
	doca_error_t result = sf_reg_source(&rdma_request_rdma(request)->reg_cache, request->src, &list);

	return result == DOCA_SUCCESS ? rdma_request_set_list(request, &list) : result;
}

static __attribute__((noinline)) doca_error_t resolve_destination_list(struct rdma_request *request, uint64_t len)
{
	struct sf_reg_list list;
	doca_error_t result = sf_reg_destination(&rdma_request_rdma(request)->reg_cache, request->dst, len, &list);

	return result == DOCA_SUCCESS ? rdma_request_set_list(request, &list) : result;
}

static inline doca_error_t resolve_send(struct rdma_request *request)
{
	const struct doca_buf *src = request->src;

	if (__builtin_expect(src != NULL && resolve_one(request, src, src->data, src->data_len, false), 1))
		return DOCA_SUCCESS;
	return resolve_source_list(request);
}

static doca_error_t resolve_write(struct rdma_request *request)
{
	doca_error_t result = resolve_send(request);

	if (result != DOCA_SUCCESS || request->len == 0)
		return result;
	if (request->dst == NULL)
		return rdma_request_missing(request, "remote destination");
	return resolve_remote(request, request->dst, request->dst->data + request->dst->data_len, request->len);
}

static doca_error_t resolve_read(struct rdma_request *request)
{
	uint64_t len = request->src != NULL ? request->src->data_len : 0;

	request->len = 0;
	if (len == 0)
		return DOCA_SUCCESS;
	if (request->dst == NULL)
		return rdma_request_missing(request, "destination");
	struct doca_buf *dst = request->dst;
	if (__builtin_expect(len <= sf_buf_tailroom(dst) && resolve_one(request, dst, dst->data + dst->data_len, len, true), 1))
		return resolve_remote(request, request->src, request->src->data, len);
	doca_error_t result = resolve_destination_list(request, len);
	return result == DOCA_SUCCESS ? resolve_remote(request, request->src, request->src->data, len) : result;
}

doca_error_t rdma_request_set_result(struct rdma_request *request)
{
	const struct doca_buf *result_buf = request->result;
	const struct sf_reg *reg;
	uint8_t *addr;

	if (result_buf == NULL)
		return rdma_request_missing(request, "result buffer");
	doca_error_t result = sf_reg_get(&rdma_request_rdma(request)->reg_cache, result_buf->mmap, &reg);
	if (result != DOCA_SUCCESS)
		return result;
	addr = result_buf->data;
	if (!sf_reg_contains(reg, addr, sizeof(uint64_t)) ||
	    result_buf->head + result_buf->len - addr < (ptrdiff_t)sizeof(uint64_t)) {
		SF_LOG_ERR("%s: the result buffer has fewer than 8 bytes from its data on", request->base.cls->name);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!reg->writable) {
		SF_LOG_ERR("%s: the result buffer's memory map lacks DOCA_ACCESS_FLAG_LOCAL_READ_WRITE", request->base.cls->name);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	request->mapped = reg->region != NULL;
	result = sf_reg_map(&rdma_request_rdma(request)->reg_cache, result_buf->mmap, &addr);
	if (result != DOCA_SUCCESS)
		return result;
	request->iov[0] = (struct sf_iov){addr, sizeof(uint64_t)};
	request->op.iov_num = 1;
	request->len = sizeof(uint64_t);
	return DOCA_SUCCESS;
}

static doca_error_t resolve_atomic(struct rdma_request *request)
{
	if (request->dst == NULL)
		return rdma_request_missing(request, "remote destination");
	const struct doca_buf *into = request->result;
	if (__builtin_expect(into == NULL || into->head + into->len - into->data < (ptrdiff_t)sizeof(uint64_t) ||
				     !resolve_one(request, into, into->data, sizeof(uint64_t), true),
			     0)) {
		doca_error_t result = rdma_request_set_result(request);
		if (result != DOCA_SUCCESS)
			return result;
	}
	if ((uintptr_t)request->dst->data % sizeof(uint64_t) != 0) {
		SF_LOG_ERR("%s: remote address %p is not a multiple of 8", request->base.cls->name, (void *)request->dst->data);
		return DOCA_ERROR_INVALID_VALUE;
	}
	request->op.compare = request->compare;
	request->op.value = request->value;
	return resolve_remote(request, request->dst, request->dst->data, sizeof(uint64_t));
}

doca_error_t rdma_request_resolve(struct rdma_request *request)
{
	const struct rdma_verb *verb = rdma_request_verb(request);

	if (verb->resolve != NULL)
		return verb->resolve(request);
	switch (verb->kind) {
	case SF_OP_SEND:
		return resolve_send(request);
	case SF_OP_WRITE:
		return resolve_write(request);
	case SF_OP_READ:
		return resolve_read(request);
	case SF_OP_CAS:
	case SF_OP_FAA:
		return resolve_atomic(request);
	}
	return DOCA_ERROR_NOT_SUPPORTED;
}
