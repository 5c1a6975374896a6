/* SPDX-License-Identifier: BSD-3-Clause */
/* Two RDMA instances of one process with several connections, and the verbs by number, for table-driven tests. */
#ifndef TEST_RDMA_PAIR_H
#define TEST_RDMA_PAIR_H

#include "support/rdma_rig.h"

#define PAIR_SIZE (64 << 10)
#define PAIR_CONNECTIONS 4

enum verb {
	VERB_SEND,
	VERB_SEND_IMM,
	VERB_READ,
	VERB_WRITE,
	VERB_WRITE_IMM,
	VERB_CAS,
	VERB_ADD,
	VERBS,
};

struct pair {
	struct rdma_rig a, b;
	uint32_t num;
	struct doca_rdma_connection *ab[PAIR_CONNECTIONS], *ba[PAIR_CONNECTIONS];
};

#define PAIR_WAIT(pair, condition) RDMA_RIG_WAIT(&(pair)->a, &(pair)->b, condition)

/* Takes the permissions of a's memory map, b's instance and b's memory map. Does not start them. */
static inline void pair_prepare(struct pair *pair, uint32_t a_memory, uint32_t b_instance, uint32_t b_memory)
{
	const void *descriptor;
	size_t len;

	memset(pair, 0, sizeof(*pair));
	rdma_rig_prepare(&pair->a, 0, PAIR_SIZE, RIG_ALL, a_memory);
	rdma_rig_prepare(&pair->b, 1, PAIR_SIZE, b_instance, b_memory);
	for (size_t i = 0; i < PAIR_SIZE; i++) {
		pair->a.memory[i] = (uint8_t)(i * 31 + (i >> 8));
		pair->b.memory[i] = (uint8_t)(i * 17 + (i >> 8) + 5);
	}
	CHECK_OK(doca_mmap_export_rdma(pair->b.mmap, pair->b.dev, &descriptor, &len));
	rdma_rig_import(&pair->a, descriptor, len);
}

static inline void pair_connect(struct pair *pair)
{
	const void *a_details, *b_details;
	size_t a_size, b_size;

	CHECK(pair->num < PAIR_CONNECTIONS);
	CHECK_OK(doca_rdma_export(pair->a.rdma, &a_details, &a_size, &pair->ab[pair->num]));
	CHECK_OK(doca_rdma_export(pair->b.rdma, &b_details, &b_size, &pair->ba[pair->num]));
	CHECK_OK(doca_rdma_connect(pair->a.rdma, b_details, b_size, pair->ab[pair->num]));
	CHECK_OK(doca_rdma_connect(pair->b.rdma, a_details, a_size, pair->ba[pair->num]));
	pair->num++;
}

static inline void pair_start(struct pair *pair, uint32_t num_connections)
{
	CHECK_OK(doca_rdma_set_max_num_connections(pair->a.rdma, PAIR_CONNECTIONS));
	CHECK_OK(doca_rdma_set_max_num_connections(pair->b.rdma, PAIR_CONNECTIONS));
	rdma_rig_start(&pair->a);
	rdma_rig_start(&pair->b);
	for (uint32_t i = 0; i < num_connections; i++)
		pair_connect(pair);
}

static inline void pair_fini(struct pair *pair)
{
	rdma_rig_stop(&pair->a);
	rdma_rig_stop(&pair->b);
	if (pair->a.remote != NULL)
		CHECK_OK(doca_mmap_destroy(pair->a.remote));
	pair->a.remote = NULL;
	rdma_rig_fini(&pair->a);
	rdma_rig_fini(&pair->b);
}

/* Submits one task of the verb with buffers of the caller: here is local, there is the peer's. Returns the result of the
 * submit. */
static inline doca_error_t verb_submit(enum verb verb, struct rdma_rig *rig, struct doca_rdma_connection *to,
				       struct doca_buf *here, struct doca_buf *there, uint64_t mark)
{
	switch (verb) {
	case VERB_SEND:
		return rig_send(rig, to, here, mark);
	case VERB_SEND_IMM:
		return rig_send_imm(rig, to, here, 7, mark);
	case VERB_READ:
		return rig_read(rig, to, there, here, mark);
	case VERB_WRITE:
		return rig_write(rig, to, here, there, mark);
	case VERB_WRITE_IMM:
		return rig_write_imm(rig, to, here, there, 7, mark);
	case VERB_CAS:
		return rig_cas(rig, to, there, here, 1, 2, mark);
	default:
		return rig_add(rig, to, there, here, 1, mark);
	}
}

static inline bool verb_takes_receive(enum verb verb)
{
	return verb == VERB_SEND || verb == VERB_SEND_IMM || verb == VERB_WRITE_IMM;
}

/* Returns true if the verb sends its local buffer, and false if it receives into it. */
static inline bool verb_goes_out(enum verb verb)
{
	return verb_takes_receive(verb) || verb == VERB_WRITE;
}

static inline bool verb_is_one_sided(enum verb verb)
{
	return verb != VERB_SEND && verb != VERB_SEND_IMM;
}

/* The local and the remote buffer that the verb needs, at an offset of both memories. */
static inline struct doca_buf *verb_here(enum verb verb, struct rdma_rig *rig, size_t offset, size_t len)
{
	return rdma_rig_buf(rig, false, offset, len, verb_goes_out(verb));
}

static inline struct doca_buf *verb_there(enum verb verb, struct rdma_rig *rig, size_t offset, size_t len)
{
	return rdma_rig_buf(rig, true, offset, len, !verb_goes_out(verb));
}

#endif
