/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RDMA by address: the DPU's side writes to the host's memory and reads it back, adds to a word there, and sends a message. The
 * host's side also sends short messages, so the connection is never idle.
 */
#include <string.h>

#include "fault_flow.h"

#include "support/rdma_cm_side.h"

#define PORT 4791
#define HOST_ADDRESS "192.168.100.1" /* address of the host's first device, in the topology of `softfield topology show` */
#define MESSAGE_LEN 8192
#define SHORT_LEN 64
#define SHORTS 16			  /* in flight at a time, */
#define SHORT_EACH_NS UINT64_C(100000000) /* at this interval */
#define RECEIVES 16
#define ROOM (RECEIVES * MESSAGE_LEN)
#define OWN RECEIVES /* the user data of the first operation other than a receive; receives have their slot */

/* A round's operations, in order. */
enum step { WRITE, READ, ADD, SEND, NUM_STEPS };

static const char *const step_names[NUM_STEPS] = {"write", "read", "add", "send"};

static struct {
	struct cm_side side;
	struct doca_buf *near, *far;
	struct doca_buf *receives[RECEIVES];
	enum step step;
	uint64_t num_short, short_ns; /* messages sent or received; time of the last send */
	struct doca_buf *shorts[SHORTS];
	bool has_called, is_closing;
} r;

/* Offsets in the memory of either side: the transfer, the bytes read back, the word, a short message, messages. */
static size_t read_at(void)
{
	return fault_len;
}

static size_t word_at(void)
{
	return 2 * fault_len;
}

static size_t short_at(void)
{
	return word_at() + SHORT_LEN;
}

static size_t messages_at(void)
{
	return short_at() + SHORTS * SHORT_LEN;
}

/* The DPU's side uses its first buffer for the message that it sends, and the others for short ones. */
static size_t receive_at(uint64_t slot)
{
	return messages_at() + (fault_is_dpu ? MESSAGE_LEN + slot * SHORT_LEN : slot * MESSAGE_LEN);
}

static size_t receive_len(void)
{
	return fault_is_dpu ? SHORT_LEN : MESSAGE_LEN;
}

/* ---- the DPU's side ---- */

static doca_error_t step_submit(struct rdma_rig *rig)
{
	struct doca_rdma_connection *to = r.side.established;
	const uint64_t round = fault_rdma.rounds + 1;

	switch (r.step) {
	case WRITE:
		pattern_write(rig->memory, fault_len, round);
		r.near = rig_source(rig, 0, fault_len);
		r.far = rig_remote_room(rig, 0, fault_len);
		return rig_write(rig, to, r.near, r.far, OWN);
	case READ:
		memset(rig->memory + read_at(), 0, fault_len);
		r.near = rig_room(rig, read_at(), fault_len);
		r.far = rig_remote_source(rig, 0, fault_len);
		return rig_read(rig, to, r.far, r.near, OWN);
	case ADD:
		r.near = rig_room(rig, word_at(), sizeof(uint64_t));
		r.far = rig_remote_room(rig, word_at(), sizeof(uint64_t));
		return rig_add(rig, to, r.far, r.near, 1, OWN);
	default:
		pattern_write(rig->memory + messages_at(), MESSAGE_LEN, round);
		r.near = rig_source(rig, messages_at(), MESSAGE_LEN);
		r.far = NULL;
		return rig_send(rig, to, r.near, OWN);
	}
}

static void put_bufs(void)
{
	rig_put(r.near);
	if (r.far != NULL)
		rig_put(r.far);
	r.near = r.far = NULL;
}

static void step_begin(struct rdma_rig *rig)
{
	doca_error_t status = step_submit(rig);

	fault_rdma.under_way = status == DOCA_SUCCESS;
	if (status == DOCA_SUCCESS)
		return;
	put_bufs();
	fault_failed(&fault_rdma, "submit", status);
}

static void step_check(const struct rdma_rig *rig)
{
	uint64_t word;

	memcpy(&word, rig->memory + word_at(), sizeof(word));
	if (r.step == READ)
		CHECK(pattern_is(rig->memory + read_at(), fault_len, fault_rdma.rounds + 1));
	if (r.step == ADD)
		CHECK(word == fault_rdma.rounds); /* each add was executed once */
}

static void step_ended(struct rdma_rig *rig, doca_error_t status)
{
	put_bufs();
	fault_rdma.under_way = 0;
	if (r.is_closing)
		return;
	if (status != DOCA_SUCCESS) {
		fault_failed(&fault_rdma, step_names[r.step], status);
		return;
	}
	step_check(rig);
	r.step = (r.step + 1) % NUM_STEPS;
	if (r.step == WRITE)
		fault_rdma.rounds++;
	else
		step_begin(rig);
}

/* ---- the host's side ---- */

/* Several at the same time: they continue while the DPU's side sends nothing. */
static void short_begin(struct rdma_rig *rig)
{
	const uint64_t slot = r.num_short % SHORTS;
	const size_t at = short_at() + slot * SHORT_LEN;
	doca_error_t status;

	if (r.shorts[slot] != NULL || sf_now_ns() - r.short_ns < SHORT_EACH_NS)
		return;
	r.short_ns = sf_now_ns();
	pattern_write(rig->memory + at, SHORT_LEN, r.num_short + 1);
	r.shorts[slot] = rig_source(rig, at, SHORT_LEN);
	status = rig_send(rig, r.side.established, r.shorts[slot], OWN + slot);
	if (status == DOCA_SUCCESS) {
		fault_rdma.under_way++;
		r.num_short++;
		return;
	}
	rig_put(r.shorts[slot]);
	r.shorts[slot] = NULL;
	fault_failed(&fault_rdma, "submit", status);
}

static void short_ended(uint64_t slot, doca_error_t status)
{
	rig_put(r.shorts[slot]);
	r.shorts[slot] = NULL;
	fault_rdma.under_way--;
	if (status != DOCA_SUCCESS && !r.is_closing)
		fault_failed(&fault_rdma, "send", status);
}

/* ---- both ---- */

static void receive_post(struct rdma_rig *rig, uint64_t slot)
{
	r.receives[slot] = rig_room(rig, receive_at(slot), receive_len());
	CHECK_OK(rig_receive(rig, r.receives[slot], slot));
}

static void received(struct rdma_rig *rig, uint64_t slot, doca_error_t status)
{
	uint64_t *count = fault_is_dpu ? &r.num_short : &fault_rdma.rounds;

	rig_put(r.receives[slot]);
	if (r.is_closing)
		return;
	if (status != DOCA_SUCCESS) {
		fault_failed(&fault_rdma, "receive", status);
		return;
	}
	(*count)++;
	CHECK(rig->len == receive_len());
	CHECK(pattern_is(rig->memory + receive_at(slot), receive_len(), *count));
	receive_post(rig, slot);
}

static void ended(struct rdma_rig *rig)
{
	const uint32_t last = (rig->num_ended - 1) % RIG_LOG;

	if (rig->order[last] < OWN)
		received(rig, rig->order[last], rig->statuses[last]);
	else if (fault_is_dpu)
		step_ended(rig, rig->statuses[last]);
	else
		short_ended(rig->order[last] - OWN, rig->statuses[last]);
}

static void rdma_open(struct flow *flow)
{
	struct rdma_rig *rig = &r.side.rig;

	memset(&r, 0, sizeof(r));
	rdma_rig_prepare(rig, fault_device(), messages_at() + ROOM, RIG_ALL, RIG_ALL);
	rig->on_ended = ended;
	CHECK_OK(doca_rdma_set_max_num_connections(rig->rdma, 1));
	CHECK_OK(doca_rdma_set_connection_state_callbacks(rig->rdma, cm_requested, cm_established, cm_failed, cm_ended));
	r.side.may_be_gone = true;
	rdma_rig_start(rig);
	flow->pe = rig->pe;
	for (uint64_t slot = 0; slot < RECEIVES; slot++)
		receive_post(rig, slot);
	if (!fault_is_dpu)
		CHECK_OK(doca_rdma_start_listen_to_port(rig->rdma, PORT));
}

void fault_rdma_export(struct fault_descriptor *descriptor)
{
	const void *bytes;
	size_t len;

	CHECK_OK(doca_mmap_export_rdma(r.side.rig.mmap, r.side.rig.dev, &bytes, &len));
	CHECK(len <= sizeof(descriptor->bytes));
	memcpy(descriptor->bytes, bytes, len);
	descriptor->len = (uint32_t)len;
}

static void call(struct flow *flow, const struct fault_descriptor *descriptor)
{
	struct rdma_rig *rig = &r.side.rig;
	doca_error_t status = doca_mmap_create_from_export(NULL, descriptor->bytes, descriptor->len, rig->dev, &rig->remote);
	void *there;
	size_t len;

	r.has_called = true;
	if (status == DOCA_SUCCESS)
		status = cm_call(&r.side, DOCA_RDMA_ADDR_TYPE_IPv4, HOST_ADDRESS, PORT, 0);
	else
		rig->remote = NULL;
	if (status != DOCA_SUCCESS) {
		fault_failed(flow, "call", status);
		r.side.num_failed++;
		return;
	}
	CHECK_OK(doca_mmap_get_memrange(rig->remote, &there, &len));
	rig->remote_memory = there;
}

static void rdma_turn(struct flow *flow)
{
	const struct fault_introduction *introduction = fault_introduced();

	if (fault_is_dpu && !r.has_called && introduction != NULL && fault_comch.is_met)
		call(flow, &introduction->rdma);
	flow->is_met = r.side.num_established != 0;
	flow->is_ended = r.side.num_ended + r.side.num_failed != 0;
	if (!flow->is_met || flow->is_ended || r.side.rig.num_failed != 0 || (fault_is_dpu && flow->under_way != 0) ||
	    !fault_may_begin(flow))
		return;
	if (fault_is_dpu)
		step_begin(&r.side.rig);
	else
		short_begin(&r.side.rig);
}

static void rdma_close(struct flow *flow)
{
	r.is_closing = true;
	rdma_rig_fini(&r.side.rig);
	flow->pe = NULL;
}

struct flow fault_rdma = {.name = "rdma", .open = rdma_open, .turn = rdma_turn, .close = rdma_close};
