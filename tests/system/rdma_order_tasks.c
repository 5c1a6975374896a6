/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks of every verb: submitted, applied to the model, and checked when they end. */
#include "rdma_order.h"

static void note_event(struct side *side)
{
	side->events++;
	side->moved_ns = sf_now_ns();
}

/* ---- the end of a task ---- */

static bool fetches(enum verb verb)
{
	return verb == VERB_READ || verb == VERB_CAS || verb == VERB_ADD || verb == VERB_EVENT_GET || verb == VERB_EVENT_ADD;
}

static void check_fetched(struct op *op)
{
	static _Thread_local uint8_t got[MESSAGE_MAX];
	const struct chain *chain = &op->local;

	chain_copy_out(chain, got, op->len);
	if (memcmp(got, op->expected, op->len) == 0)
		return;
	for (size_t i = 0; i < op->len; i++) {
		if (got[i] != op->expected[i]) {
			fprintf(stderr, "lane %u, task %llu, verb %d: byte %zu of %zu is %u, expected %u\n", op->lane->index,
				(unsigned long long)op->number, (int)op->verb, i, op->len, got[i], op->expected[i]);
			break;
		}
	}
	CHECK(!"the fetched bytes match the model");
}

static void op_ended(struct doca_task *task, struct op *op)
{
	struct lane *lane = op->lane;
	size_t remote_len;

	if (doca_task_get_status(task) != DOCA_SUCCESS)
		fprintf(stderr, "lane %u, task %llu, verb %d: %s\n", lane->index, (unsigned long long)op->number, (int)op->verb,
			doca_error_get_name(doca_task_get_status(task)));
	CHECK_OK(doca_task_get_status(task));
	CHECK(op->used);
	CHECK(op->number == lane->ended); /* in the order of submission */
	lane->ended++;
	lane->in_flight--;
	if (fetches(op->verb))
		check_fetched(op);
	if (op->remote != NULL && (op->verb == VERB_WRITE || op->verb == VERB_WRITE_IMM)) {
		CHECK_OK(doca_buf_get_data_len(op->remote, &remote_len));
		CHECK(remote_len == op->remote_before + op->len);
	}
	doca_task_free(task);
	if (op->local.head != NULL)
		rig_put(op->local.head);
	if (op->remote != NULL)
		rig_put(op->remote);
	op->used = false;
	note_event(lane->side);
}

#define CALLBACK(name)                                                                                                           \
	static void name##_ended(struct doca_rdma_task_##name *task, union doca_data data, union doca_data ctx_data)             \
	{                                                                                                                        \
		(void)ctx_data;                                                                                                  \
		op_ended(doca_rdma_task_##name##_as_task(task), data.ptr);                                                       \
	}
CALLBACK(send)
CALLBACK(send_imm)
CALLBACK(write)
CALLBACK(write_imm)
CALLBACK(read)
CALLBACK(atomic_cmp_swp)
CALLBACK(atomic_fetch_add)
CALLBACK(remote_net_sync_event_get)
CALLBACK(remote_net_sync_event_notify_set)
CALLBACK(remote_net_sync_event_notify_add)

/* ---- receives ---- */

static void check_mark(struct lane *lane, const struct message *message, uint64_t number)
{
	uint64_t seen = UINT64_MAX;

	if (message->mark == MARK_EVENT) {
		CHECK_OK(doca_sync_event_get(lane->own, &seen));
		seen >>= 32;
	} else if (message->mark != MARK_NONE) {
		const void *mark = lane->side->rig.memory + (size_t)lane->index * (WINDOW + 8) + WINDOW;

		seen = *(const _Atomic uint64_t *)mark;
	}
	if (seen <= number)
		fprintf(stderr, "lane %u, message %llu, mark %d: only %llu is visible\n", lane->index, (unsigned long long)number,
			(int)message->mark, (unsigned long long)seen);
	CHECK(seen > number);
}

static void receive_ended(struct doca_rdma_task_receive *task, union doca_data data, union doca_data ctx_data)
{
	static const enum doca_rdma_opcode opcodes[] = {
		[VERB_SEND] = DOCA_RDMA_OPCODE_RECV_SEND,
		[VERB_SEND_IMM] = DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM,
		[VERB_WRITE_IMM] = DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM,
	};
	struct receive *receive = data.ptr;
	struct side *side = receive->side;
	doca_error_t status = doca_task_get_status(doca_rdma_task_receive_as_task(task));

	(void)ctx_data;
	if (!side->ending) {
		union doca_data connection_data;
		size_t len = doca_rdma_task_receive_get_result_len(task), first;

		CHECK_OK(status);
		CHECK_OK(doca_rdma_connection_get_user_data(doca_rdma_task_receive_get_result_rdma_connection(task),
							    &connection_data));

		struct lane *lane = connection_data.ptr;
		uint64_t number = lane->received++;
		struct message message = message_of(side->seed, 1 - side->index, lane->index, number);

		if (doca_rdma_task_receive_get_result_opcode(task) != opcodes[message.verb] ||
		    doca_rdma_task_receive_get_result_immediate_data(task) != message.immediate)
			fprintf(stderr, "lane %u, message %llu\n", lane->index, (unsigned long long)number);
		CHECK(doca_rdma_task_receive_get_result_opcode(task) == opcodes[message.verb]);
		CHECK(doca_rdma_task_receive_get_result_immediate_data(task) == message.immediate);
		CHECK(len == (message.verb == VERB_WRITE_IMM ? 0 : message.len));
		CHECK(message.verb == VERB_WRITE_IMM || chain_holds(&receive->room, message.base, len));
		CHECK_OK(doca_buf_get_data_len(receive->room.head, &first));
		CHECK(first == receive->room.before + (len < receive->room.len[0] ? len : receive->room.len[0]));
		check_mark(lane, &message, number);
	}
	doca_task_free(doca_rdma_task_receive_as_task(task));
	rig_put(receive->room.head);
	receive->posted = false;
	side->posted--;
	note_event(side);
}

void receive_post(struct receive *receive)
{
	struct side *side = receive->side;
	struct doca_rdma_task_receive *task;

	chain_make(&receive->room, side, receive->area, MESSAGE_MAX + random_below(&side->random, 100), false);
	CHECK_OK(doca_rdma_task_receive_allocate_init(side->rig.rdma, receive->room.head, (union doca_data){.ptr = receive},
						      &task));
	CHECK_OK(doca_task_submit(doca_rdma_task_receive_as_task(task)));
	receive->posted = true;
	side->posted++;
}

void tasks_configure(struct side *side)
{
	struct doca_rdma *rdma = side->rig.rdma;

	CHECK_OK(doca_rdma_task_receive_set_conf(rdma, receive_ended, receive_ended, RECEIVES_MAX));
#define CONFIGURE(name) CHECK_OK(doca_rdma_task_##name##_set_conf(rdma, name##_ended, name##_ended, DEPTH_MAX *LANES_MAX))
	CONFIGURE(send);
	CONFIGURE(send_imm);
	CONFIGURE(write);
	CONFIGURE(write_imm);
	CONFIGURE(read);
	CONFIGURE(atomic_cmp_swp);
	CONFIGURE(atomic_fetch_add);
	CONFIGURE(remote_net_sync_event_get);
	CONFIGURE(remote_net_sync_event_notify_set);
	CONFIGURE(remote_net_sync_event_notify_add);
#undef CONFIGURE
}

/* ---- submitting ---- */

static struct op *op_take(struct lane *lane, enum verb verb)
{
	struct op *op = lane->ops;

	while (op->used)
		op++;
	CHECK(op < lane->ops + DEPTH_MAX);
	op->used = true;
	op->verb = verb;
	op->number = lane->submitted++;
	op->local.head = NULL;
	op->remote = NULL;
	op->len = 0;
	lane->in_flight++;
	return op;
}

static size_t window_of(const struct lane *lane)
{
	return (size_t)lane->index * (WINDOW + 8);
}

/* The peer's bytes at an offset of the window: data to read, or free space behind a few bytes. */
static void take_remote(struct op *op, size_t at, size_t len, bool data)
{
	struct rdma_rig *rig = &op->lane->side->rig;
	size_t before = data || at == WINDOW ? 0 : random_below(&op->lane->side->random, at < 16 ? at + 1 : 16), from;

	from = window_of(op->lane) + at - before;
	op->remote_before = before;
	op->remote = rdma_rig_buf(rig, true, from, before + len, data);
	if (!data)
		CHECK_OK(doca_buf_set_data(op->remote, rig->remote_memory + from, before));
}

static size_t place_for(struct side *side, size_t len)
{
	return random_below(&side->random, WINDOW - len + 1);
}

static void take_local(struct op *op, size_t len, bool data)
{
	op->len = len;
	chain_make(&op->local, op->lane->side, op->area, len, data);
}

/* 8 bytes in one piece: the result of an atomic, or a mark, which the peer may read while the next one is written. */
static void take_word(struct op *op, bool data)
{
	struct rdma_rig *rig = &op->lane->side->rig;

	op->len = sizeof(uint64_t);
	op->local = (struct chain){.num = 1, .at = {op->area}, .len = {sizeof(uint64_t)}};
	op->local.head = rdma_rig_buf(rig, false, (size_t)(op->area - rig->memory), sizeof(uint64_t), data);
}

static void write_submit(struct lane *lane, size_t at, const uint8_t *bytes, size_t len)
{
	struct op *op = op_take(lane, VERB_WRITE);
	struct doca_rdma_task_write *task;

	if (len != 0 || random_below(&lane->side->random, 2) == 0) {
		if (at == WINDOW && len != 0)
			take_word(op, true);
		else
			take_local(op, len, true);
		chain_put(&op->local, bytes, len);
		memcpy(lane->model + at, bytes, len);
		take_remote(op, at, len, false);
	}
	CHECK_OK(doca_rdma_task_write_allocate_init(lane->side->rig.rdma, lane->connection, op->local.head, op->remote,
						    (union doca_data){.ptr = op}, &task));
	CHECK_OK(doca_task_submit(doca_rdma_task_write_as_task(task)));
}

static void random_write(struct lane *lane)
{
	static _Thread_local uint8_t bytes[MESSAGE_MAX];
	struct side *side = lane->side;
	size_t len = random_len(&side->random), at = place_for(side, len);
	uint8_t base = (uint8_t)random_next(&side->random);

	for (size_t i = 0; i < len; i++)
		bytes[i] = content(base, i);
	write_submit(lane, at, bytes, len);
}

static void event_set(struct lane *lane, uint64_t value)
{
	struct op *op = op_take(lane, VERB_EVENT_SET);
	struct doca_rdma_task_remote_net_sync_event_notify_set *task;

	take_local(op, sizeof(value), true);
	chain_put(&op->local, (const uint8_t *)&value, sizeof(value));
	lane->event_model = value;
	CHECK_OK(doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(
		lane->side->rig.rdma, lane->connection, lane->remote, op->local.head, (union doca_data){.ptr = op}, &task));
	CHECK_OK(doca_task_submit(doca_rdma_task_remote_net_sync_event_notify_set_as_task(task)));
}

/* The upper half never decreases: it is the number of messages that were submitted before. */
static uint64_t event_value(struct lane *lane)
{
	return lane->sent << 32 | (random_next(&lane->side->random) & INT32_MAX);
}

static void event_get(struct lane *lane)
{
	struct op *op = op_take(lane, VERB_EVENT_GET);
	struct doca_rdma_task_remote_net_sync_event_get *task;

	take_local(op, sizeof(uint64_t), false);
	memcpy(op->expected, &lane->event_model, sizeof(uint64_t));
	CHECK_OK(doca_rdma_task_remote_net_sync_event_get_allocate_init(lane->side->rig.rdma, lane->connection, lane->remote,
									op->local.head, (union doca_data){.ptr = op}, &task));
	CHECK_OK(doca_task_submit(doca_rdma_task_remote_net_sync_event_get_as_task(task)));
}

static void event_add(struct lane *lane)
{
	struct op *op = op_take(lane, VERB_EVENT_ADD);
	uint64_t value = random_below(&lane->side->random, 65536);
	struct doca_rdma_task_remote_net_sync_event_notify_add *task;

	take_word(op, false);
	memcpy(op->expected, &lane->event_model, sizeof(uint64_t));
	lane->event_model += value;
	CHECK_OK(doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(lane->side->rig.rdma, lane->connection,
									       lane->remote, op->local.head, value,
									       (union doca_data){.ptr = op}, &task));
	CHECK_OK(doca_task_submit(doca_rdma_task_remote_net_sync_event_notify_add_as_task(task)));
}

static void read_submit(struct lane *lane)
{
	struct op *op = op_take(lane, VERB_READ);
	size_t len = random_len(&lane->side->random), at = place_for(lane->side, len);
	struct doca_rdma_task_read *task;

	if (len != 0 || random_below(&lane->side->random, 2) == 0) {
		take_local(op, len, false);
		take_remote(op, at, len, true);
		memcpy(op->expected, lane->model + at, len);
	}
	CHECK_OK(doca_rdma_task_read_allocate_init(lane->side->rig.rdma, lane->connection, op->remote, op->local.head,
						   (union doca_data){.ptr = op}, &task));
	CHECK_OK(doca_task_submit(doca_rdma_task_read_as_task(task)));
}

static void atomic_submit(struct lane *lane, enum verb verb)
{
	struct side *side = lane->side;
	struct op *op = op_take(lane, verb);
	size_t at = random_below(&side->random, WINDOW / 8) * 8;
	uint64_t old, value = random_next(&side->random), compare = value;
	struct doca_rdma_task_atomic_cmp_swp *swap;
	struct doca_rdma_task_atomic_fetch_add *add;

	take_word(op, false);
	take_remote(op, at, sizeof(uint64_t), true);
	memcpy(&old, lane->model + at, sizeof(old));
	memcpy(op->expected, &old, sizeof(old));
	if (verb == VERB_ADD) {
		CHECK_OK(doca_rdma_task_atomic_fetch_add_allocate_init(
			side->rig.rdma, lane->connection, op->remote, op->local.head, value, (union doca_data){.ptr = op}, &add));
		value += old;
		memcpy(lane->model + at, &value, sizeof(value));
		CHECK_OK(doca_task_submit(doca_rdma_task_atomic_fetch_add_as_task(add)));
		return;
	}
	if (random_below(&side->random, 3) != 0)
		compare = old;
	CHECK_OK(doca_rdma_task_atomic_cmp_swp_allocate_init(side->rig.rdma, lane->connection, op->remote, op->local.head,
							     compare, value, (union doca_data){.ptr = op}, &swap));
	if (compare == old)
		memcpy(lane->model + at, &value, sizeof(value));
	CHECK_OK(doca_task_submit(doca_rdma_task_atomic_cmp_swp_as_task(swap)));
}

/* ---- messages ---- */

static void send_submit(struct lane *lane, const struct message *message)
{
	struct op *op = op_take(lane, message->verb);
	union doca_data data = {.ptr = op};
	struct doca_rdma *rdma = lane->side->rig.rdma;
	struct doca_rdma_task_send *plain;
	struct doca_rdma_task_send_imm *immediate;

	if (message->len != 0 || random_below(&lane->side->random, 2) == 0) {
		take_local(op, message->len, true);
		chain_fill(&op->local, message->base, message->len);
	}
	if (message->verb == VERB_SEND) {
		CHECK_OK(doca_rdma_task_send_allocate_init(rdma, lane->connection, op->local.head, data, &plain));
		CHECK_OK(doca_task_submit(doca_rdma_task_send_as_task(plain)));
	} else {
		CHECK_OK(doca_rdma_task_send_imm_allocate_init(rdma, lane->connection, op->local.head, message->immediate, data,
							       &immediate));
		CHECK_OK(doca_task_submit(doca_rdma_task_send_imm_as_task(immediate)));
	}
}

static void write_imm_submit(struct lane *lane, const struct message *message)
{
	struct op *op = op_take(lane, VERB_WRITE_IMM);
	size_t at = message->mark == MARK_OWN ? WINDOW : place_for(lane->side, message->len);
	uint64_t mark = lane->sent;
	struct doca_rdma_task_write_imm *task;

	if (message->mark == MARK_OWN) {
		take_word(op, true);
		chain_put(&op->local, (const uint8_t *)&mark, sizeof(mark));
	} else if (message->len != 0) {
		take_local(op, message->len, true);
		chain_fill(&op->local, message->base, message->len);
	}
	if (message->len != 0) {
		chain_copy_out(&op->local, lane->model + at, message->len);
		take_remote(op, at, message->len, false);
	}
	CHECK_OK(doca_rdma_task_write_imm_allocate_init(lane->side->rig.rdma, lane->connection, op->local.head, op->remote,
							message->immediate, (union doca_data){.ptr = op}, &task));
	CHECK_OK(doca_task_submit(doca_rdma_task_write_imm_as_task(task)));
}

static void message_submit(struct lane *lane)
{
	struct message message = message_of(lane->side->seed, lane->side->index, lane->index, lane->sent);
	uint64_t mark = ++lane->sent;

	if (message.mark == MARK_WRITE)
		write_submit(lane, WINDOW, (const uint8_t *)&mark, sizeof(mark));
	else if (message.mark == MARK_EVENT)
		event_set(lane, event_value(lane));
	if (message.verb == VERB_WRITE_IMM)
		write_imm_submit(lane, &message);
	else
		send_submit(lane, &message);
}

void tasks_submit(struct side *side, struct lane *lane)
{
	switch (random_below(&side->random, 12)) {
	case 0:
	case 1:
	case 2:
	case 3:
		message_submit(lane);
		break;
	case 4:
	case 5:
		random_write(lane);
		break;
	case 6:
		read_submit(lane);
		break;
	case 7:
		atomic_submit(lane, VERB_CAS);
		break;
	case 8:
		atomic_submit(lane, VERB_ADD);
		break;
	case 9:
		event_set(lane, event_value(lane));
		break;
	case 10:
		event_get(lane);
		break;
	default:
		event_add(lane);
	}
}
