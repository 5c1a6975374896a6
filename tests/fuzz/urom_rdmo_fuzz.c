/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All of the rdmo plugin's UCX: initiators and their worker, over a network in which anything may happen at any time. The input's
 * first byte says whether all are honest, or messages are repeated and changed, and commands, too. In any case each command and
 * each flush is answered once, and nothing lands in a region whose removal was answered. If all are honest, memory holds what a
 * flush has confirmed.
 */
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>
#include <doca_urom_plugin.h>

#include "../../plugins/rdmo/rdmo_proto.h"
#include "../../plugins/rdmo/urom_rdmo.h"
#include "support/check.h"
#include "ucx_side.h"
#include "urom_fake_net.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
doca_error_t rdmo_get_iface(struct urom_plugin_iface *iface);
void rdmo_client_left(struct urom_worker_ctx *ctx, uint64_t dest_id);

#define TARGETS 2
#define INITIATORS 2
#define QUEUES 4     /* queues that initiators have opened */
#define COMMANDS 256 /* of an input */
#define KEYS 64
#define MEMORY 8192 /* bytes of a target; the first 64 are pointers, which begin at the middle */
#define BASE 0x10000
#define CALM_TURNS 20000

struct command {
	enum rdmo_command_type type;
	uint64_t dest_id;
	uint8_t key;
	bool answered;
};

struct key {
	uint8_t target;
	uint64_t dest_id; /* generation of the client: numbers restart with the next one */
	uint64_t va, len, number;
	bool removed; /* and that was answered */
};

struct queue {
	struct urom_rdmo_queue *queue;
	uint32_t initiator;
	uint8_t tag; /* number of its bytes, of all queues that were ever opened */
	bool clean;  /* nothing has failed */
};

static struct fake_input input;
static bool honest, over;
static struct urom_worker_ctx ctx;
static struct ucx_side targets[TARGETS], initiators[INITIATORS];
static struct urom_rdmo_initiator *sides[INITIATORS];
static uint64_t dest_ids[TARGETS], last_dest_id;
static _Alignas(8) uint8_t memory[TARGETS][MEMORY];
static struct command commands[COMMANDS];
static uint32_t num_commands;
static struct key keys[KEYS + 1]; /* 0: none */
static uint8_t num_keys, last_tag;
static uint64_t queue_numbers[TARGETS][4], num_queue_numbers[TARGETS];
static bool is_open[TARGETS][4]; /* an honest initiator opens a queue once */
static struct queue queues[QUEUES];
static uint64_t sent[256], landed[256]; /* bytes, by tag */
static uint32_t num_flushes;
static const void *worker_address;

/* ---- the targets' memory ---- */

void *fake_net_memory(uint8_t number, uint64_t address, const uint8_t *data, size_t len)
{
	if (data != NULL)
		landed[data[0]] += len;
	CHECK(number != 0 && number <= num_keys);
	const struct key *key = &keys[number];
	CHECK(!key->removed && address >= key->va && len <= key->len && address - key->va <= key->len - len);
	return &memory[key->target][address - BASE];
}

/* ---- commands ---- */

static void command(uint8_t target, enum rdmo_command_type type, uint64_t number, const struct key *key, const void *blob,
		    size_t len)
{
	struct rdmo_command head = {.type = type, .number = number, .blob_len = len};
	uint8_t body[sizeof(head) + 64] = {0};
	ucs_list_link_t list;

	if (num_commands == COMMANDS)
		return;
	if (key != NULL) {
		head.va = key->va;
		head.len = key->len;
	}
	memcpy(body, &head, sizeof(head));
	if (len != 0)
		memcpy(body + sizeof(head), blob, len);
	size_t size = sizeof(head) + len;
	if (!honest) /* UCX itself trusts addresses and keys: they end with the command */
		(void)fake_mutate(&input, body, sizeof(uint64_t) * 2, sizeof(body));
	struct urom_worker_cmd_desc *desc = (struct urom_worker_cmd_desc *)malloc(sizeof(*desc) + size);
	CHECK(desc != NULL);
	*desc = (struct urom_worker_cmd_desc){
		.dest_id = dest_ids[target],
		.worker_cmd = {.type = 1, .urom_context = num_commands, .len = size},
	};
	memcpy(desc->worker_cmd.plugin_cmd, body, size);
	memcpy(&head, body, sizeof(head));
	commands[num_commands++] =
		(struct command){(enum rdmo_command_type)head.type, dest_ids[target], key != NULL ? num_keys : 0, false};
	ucs_list_head_init(&list);
	ucs_list_add_tail(&list, &desc->entry);
	CHECK(ctx.iface.worker_cmd(&ctx, &list) == DOCA_SUCCESS && ucs_list_is_empty(&list));
}

static uint8_t target_of(uint64_t dest_id)
{
	return dest_id == dest_ids[0] ? 0 : 1;
}

static void note(const struct command *asked, const struct rdmo_notification *body)
{
	uint8_t target = target_of(asked->dest_id);

	if (asked->type == RDMO_CLIENT_INIT)
		CHECK(body->blob_len == FAKE_NET_ADDRESS_LEN && memcmp(body->blob, worker_address, body->blob_len) == 0);
	if (asked->type == RDMO_RQ_CREATE) {
		uint64_t at = num_queue_numbers[target]++ % 4;

		queue_numbers[target][at] = body->number;
		is_open[target][at] = false;
	}
	if (asked->type == RDMO_MR_REGISTER)
		keys[asked->key].number = body->number;
	for (uint8_t i = 1; asked->type == RDMO_MR_DEREGISTER && i <= num_keys; i++)
		keys[i].removed |= keys[i].dest_id == asked->dest_id && keys[i].number == body->number;
}

static void take_answers(ucs_list_link_t *list)
{
	while (!ucs_list_is_empty(list)) {
		struct urom_worker_notif_desc *desc = ucs_list_extract_head(list, struct urom_worker_notif_desc, entry);
		const struct urom_worker_notify *notify = &desc->worker_notif;

		CHECK(notify->urom_context < num_commands);
		struct command *asked = &commands[notify->urom_context];
		bool there = desc->dest_id == dest_ids[0] || desc->dest_id == dest_ids[1];
		CHECK(!asked->answered && desc->dest_id == asked->dest_id && notify->status != DOCA_ERROR_IN_PROGRESS);
		asked->answered = true;
		if (notify->status == DOCA_SUCCESS && there)
			note(asked, (const struct rdmo_notification *)(const void *)notify->plugin_notif);
		free(desc);
	}
}

static bool progress(void)
{
	ucs_list_link_t list;

	ucs_list_head_init(&list);
	bool any = ctx.iface.progress(&ctx, &list) == DOCA_SUCCESS;
	take_answers(&list);
	return any;
}

static void init_client(uint8_t target)
{
	command(target, RDMO_CLIENT_INIT, target + 1u, NULL, targets[target].address, FAKE_NET_ADDRESS_LEN);
}

static void create_queue(uint8_t target, uint8_t initiator)
{
	command(target, RDMO_RQ_CREATE, 0, NULL, initiators[initiator].address, FAKE_NET_ADDRESS_LEN);
}

static void register_region(uint8_t target, uint8_t what)
{
	uint8_t blob[8] = {0};

	if (num_keys == KEYS || num_commands == COMMANDS)
		return;
	struct key *key = &keys[++num_keys];
	*key = what % 2 == 0 ? (struct key){.va = BASE, .len = MEMORY} : (struct key){.va = BASE + what * 16u, .len = 256};
	key->target = target;
	key->dest_id = dest_ids[target];
	blob[0] = num_keys;
	command(target, RDMO_MR_REGISTER, 0, key, blob, sizeof(blob));
}

static void leave(uint8_t target)
{
	rdmo_client_left(&ctx, dest_ids[target]);
	for (uint32_t i = 0; i < num_commands; i++)
		commands[i].answered |= commands[i].dest_id == dest_ids[target] && over;
	dest_ids[target] = ++last_dest_id;
}

/* ---- initiators ---- */

struct flush {
	struct queue *queue;
	uint64_t sent; /* before it */
};

static void request(struct queue *queue, uint8_t what);

static void flushed(doca_error_t result, union doca_data cookie)
{
	const struct flush flush = *(const struct flush *)cookie.ptr;
	struct queue *queue = flush.queue;

	free(cookie.ptr);
	CHECK(num_flushes-- != 0 && queue->queue != NULL);
	queue->clean &= result == DOCA_SUCCESS;
	if (honest && queue->clean)
		CHECK(landed[queue->tag] >= flush.sent);
	if (!over && fake_byte(&input) >= 224)
		request(queue, fake_byte(&input));
}

static void ask_flush(struct queue *queue)
{
	struct flush *flush = (struct flush *)malloc(sizeof(*flush));

	CHECK(flush != NULL);
	*flush = (struct flush){queue, sent[queue->tag]};
	if (urom_rdmo_flush(queue->queue, (union doca_data){.ptr = flush}, flushed) == DOCA_SUCCESS)
		num_flushes++;
	else
		free(flush);
}

static void request(struct queue *queue, uint8_t what)
{
	uint8_t bytes[64];
	uint64_t pointer = BASE + 8u * (what / 4 % 2), first = fake_byte(&input) % (num_keys + 1u),
		 second = fake_byte(&input) % (num_keys + 1u);
	uint32_t flags = what / 8 % 4 == 0 ? UROM_RDMO_FENCE : 0;
	size_t len = what % 61 + 1u;

	memset(bytes, queue->tag, sizeof(bytes));
	if (what % 4 == 0) {
		ask_flush(queue);
	} else if (what % 4 == 1) {
		const struct urom_rdmo_piece pieces[] = {{BASE + 64 + what * 16u, keys[first].number, bytes, len},
							 {BASE + 4096 + what * 8u, keys[second].number, bytes, 1}};

		if (urom_rdmo_scatter(queue->queue, flags, pieces, 2) == DOCA_SUCCESS)
			sent[queue->tag] += len + 1;
	} else if (urom_rdmo_append(queue->queue, flags, pointer, keys[first].number, keys[second].number, bytes, len) ==
		   DOCA_SUCCESS) {
		sent[queue->tag] += len;
	}
}

static void open_queue(struct queue *queue, uint8_t what)
{
	uint8_t target = what % TARGETS, initiator = what / 2 % INITIATORS, at = what / 4 % 4;

	if (last_tag == 254 || queue_numbers[target][at] == 0 || (honest && is_open[target][at]))
		return;
	is_open[target][at] = true;
	*queue = (struct queue){.initiator = initiator, .tag = ++last_tag, .clean = true};
	CHECK(urom_rdmo_queue_open(sides[initiator], worker_address, target + 1u, queue_numbers[target][at], &queue->queue) ==
	      DOCA_SUCCESS);
}

static void close_queue(struct queue *queue)
{
	urom_rdmo_queue_close(queue->queue);
	queue->queue = NULL;
}

static void use_queue(uint8_t what)
{
	struct queue *queue = &queues[what % QUEUES];

	if (queue->queue == NULL)
		open_queue(queue, fake_byte(&input));
	else if (what >= 240)
		close_queue(queue);
	else
		request(queue, fake_byte(&input));
}

/* ---- who says anything ---- */

static void deliver_response(void)
{
	uint8_t who = fake_byte(&input), target = who / 2 % TARGETS;
	struct rdmo_response_head head = {queue_numbers[target][who / 4 % 4], fake_byte(&input) % 16u, fake_byte(&input)};
	size_t len = fake_mutate(&input, (uint8_t *)&head, sizeof(head), sizeof(head));

	fake_net_send(99, fake_net_uid(initiators[who % INITIATORS].worker), RDMO_AM_RESPONSE, &head, len, NULL, 0);
}

static void deliver_request(void)
{
	uint8_t what = fake_byte(&input), body[200];
	uint8_t target = what % TARGETS;
	struct rdmo_request_head head = {
		.client = target + 1u,
		.queue = queue_numbers[target][what / 2 % 4],
		.operation = what / 8 % 4,
		.flags = what / 32 % 2,
		.number = fake_byte(&input) % 32,
		.pointer = BASE + fake_byte(&input) * 8u,
		.pointer_region = fake_byte(&input) % 8,
		.data_region = fake_byte(&input) % 8,
		.num_pieces = what / 64,
	};
	struct rdmo_piece_head piece = {BASE + 64 + fake_byte(&input) * 32u, fake_byte(&input) % 8, fake_byte(&input)};

	memset(body, 255, sizeof(body));
	memcpy(body, &piece, sizeof(piece));
	size_t len = fake_mutate(&input, body, head.operation == RDMO_FLUSH ? 0 : sizeof(body) - what % 64, sizeof(body));
	size_t head_len = fake_mutate(&input, (uint8_t *)&head, sizeof(head), sizeof(head));
	fake_net_send(99, fake_net_uid(((const struct ucx_side *)ctx.plugin_ctx)->worker), RDMO_AM_REQUEST, &head, head_len, body,
		      len);
}

/* ---- one input ---- */

static void begin(void)
{
	fake_net_begin(&input, true); /* requests are kept as they arrived */
	over = false;
	num_commands = num_flushes = num_keys = last_tag = 0;
	memset(memory, 0, sizeof(memory));
	memset(keys, 0, sizeof(keys));
	memset(queue_numbers, 0, sizeof(queue_numbers));
	memset(num_queue_numbers, 0, sizeof(num_queue_numbers));
	memset(is_open, 0, sizeof(is_open));
	memset(sent, 0, sizeof(sent));
	memset(landed, 0, sizeof(landed));
	CHECK(rdmo_get_iface(&ctx.iface) == DOCA_SUCCESS && ctx.iface.open(&ctx) == DOCA_SUCCESS);
	worker_address = ((const struct ucx_side *)ctx.plugin_ctx)->address; /* its first member */
	for (int i = 0; i < TARGETS; i++) {
		const uint64_t middle = BASE + MEMORY / 2;

		CHECK(ucx_side_open(&targets[i], UCP_FEATURE_RMA) == DOCA_SUCCESS);
		dest_ids[i] = ++last_dest_id;
		memcpy(memory[i], &middle, sizeof(middle));
		memcpy(memory[i] + 8, &middle, sizeof(middle));
	}
	for (int i = 0; i < INITIATORS; i++) {
		CHECK(ucx_side_open(&initiators[i], UCP_FEATURE_AM) == DOCA_SUCCESS);
		CHECK(urom_rdmo_initiator_create(initiators[i].worker, &sides[i]) == DOCA_SUCCESS);
	}
}

/* All operations in flight end if every side continues. */
static void settle(void)
{
	bool any = true;

	fake_net_calm();
	for (uint32_t i = 0; any; i++) {
		CHECK(i < CALM_TURNS);
		any = progress();
		for (int k = 0; k < INITIATORS; k++)
			any |= ucp_worker_progress(initiators[k].worker) != 0;
		any |= fake_net_land();
	}
	for (uint32_t i = 0; i < num_commands; i++)
		CHECK(commands[i].answered || (commands[i].dest_id != dest_ids[0] && commands[i].dest_id != dest_ids[1]));
}

static void end(void)
{
	over = true;
	settle();
	for (int i = 0; i < QUEUES; i++) {
		if (queues[i].queue != NULL)
			close_queue(&queues[i]);
	}
	CHECK(num_flushes == 0);
	if (fake_byte(&input) < 128)
		leave(0);
	ctx.iface.close(&ctx);
	for (int i = 0; i < INITIATORS; i++) {
		urom_rdmo_initiator_destroy(sides[i]);
		ucx_side_close(&initiators[i]);
	}
	for (int i = 0; i < TARGETS; i++)
		ucx_side_close(&targets[i]);
	CHECK(fake_net_is_empty());
}

static void act(uint8_t what)
{
	uint8_t more = what / 16, target = more % TARGETS;

	switch (what % 16) {
	case 0:
		init_client(target);
		break;
	case 1:
		create_queue(target, more / 2 % INITIATORS);
		break;
	case 2:
		register_region(target, more);
		break;
	case 3:
		command(target, RDMO_MR_DEREGISTER, keys[fake_byte(&input) % (num_keys + 1u)].number, NULL, NULL, 0);
		break;
	case 4:
		if (more % 4 == 0)
			command(target, RDMO_RQ_DESTROY, queue_numbers[target][more / 4], NULL, NULL, 0);
		else if (more == 15)
			leave(target);
		break;
	case 5:
		if (more >= 12)
			fake_net_break(more == 15);
		break;
	case 6:
		if (!honest)
			deliver_request();
		break;
	case 7:
		if (!honest)
			more < 8 ? fake_net_replay() : deliver_response();
		break;
	case 8:
	case 9:
	case 10:
		(void)ucp_worker_progress(initiators[more % INITIATORS].worker);
		break;
	case 11:
	case 12:
		use_queue(fake_byte(&input));
		break;
	default:
		(void)progress();
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool prepared;

	if (!prepared)
		(void)doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_DISABLE);
	prepared = true;
	input = (struct fake_input){data, data + size};
	honest = fake_byte(&input) % 2 == 0;
	begin();
	while (input.at < input.end)
		act(fake_byte(&input));
	end();
	return 0;
}
