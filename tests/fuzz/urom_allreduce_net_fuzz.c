/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All workers of an allreduce, with hosts and a network between them in which anything may happen at any time. The input's first
 * byte says whether all are honest. If so, results are right, everything that all ranks have begun ends, and no worker touches a
 * vector that its rank has taken back, whatever breaks, is cancelled or dies. Otherwise arbitrary messages arrive at any time,
 * repeated or changed, and commands are changed. In any case each command is answered once.
 */
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>
#include <doca_urom_plugin.h>

#include "../../plugins/allreduce/worker_allreduce.h"
#include "support/check.h"
#include "urom_fake_net.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
doca_error_t urom_plugin_get_iface(struct urom_plugin_iface *iface);
void softfield_urom_plugin_client_left(struct urom_worker_ctx *ctx, uint64_t dest_id);

#define RANKS 3
#define TAGS 3
#define SLOTS 4 /* of a rank: a guard and its vectors */
#define VECTOR 1024
#define COMMANDS 1024
#define CALM_TURNS 50000
#define BOARD 0x100000
#define SEND 0x110000
#define RECEIVE 0x120000

enum slot_state { SLOT_FREE, SLOT_USED, SLOT_CLOSING };

struct slot {
	enum slot_state state;
	bool guarded;
	_Alignas(8) uint8_t send[VECTOR], receive[VECTOR];
};

/* A rank's operation under a tag. Those of an epoch follow each other until one fails, which changes the tag. */
struct collective {
	bool active, failed;
	uint32_t epoch, num; /* that were begun in the epoch */
	uint32_t slot, outstanding;
	struct allreduce_command command;
};

struct rank {
	struct urom_worker_ctx ctx;
	void *address; /* the address in the domain */
	uint64_t dest_id, process, attachment, serial;
	bool attaching, proven, dead; /* dead: its worker has died */
	_Alignas(8) struct allreduce_board board;
	struct slot slots[SLOTS];
	struct collective collectives[TAGS];
};

struct command {
	uint64_t dest_id;
	uint32_t rank, kind, tag; /* tag: of TAGS */
	uint64_t offset;
	bool answered;
};

static struct fake_input input;
static bool honest;
static struct rank ranks[RANKS];
static struct command commands[COMMANDS];
static uint32_t num_commands;
static uint64_t last_process, last_dest_id;

/* ---- the ranks' memories ---- */

static struct rank *find_process(int pid)
{
	for (int i = 0; i < RANKS; i++) {
		if (ranks[i].process == (uint64_t)pid)
			return &ranks[i];
	}
	return NULL;
}

static void *find_vector(struct rank *rank, uint64_t address, size_t len)
{
	for (uint32_t i = 0; i < 2 * SLOTS; i++) {
		struct slot *slot = &rank->slots[i / 2];
		uint64_t begin = (i % 2 == 0 ? SEND : RECEIVE) + i / 2 * VECTOR;

		if (address < begin || address - begin > VECTOR || len > VECTOR - (address - begin))
			continue;
		CHECK(!honest || (slot->state != SLOT_FREE && slot->guarded)); /* else the rank has taken it back */
		return (i % 2 == 0 ? slot->send : slot->receive) + (address - begin);
	}
	return NULL;
}

static void *find_memory(const struct process_memory *memory, uint64_t address, size_t len, doca_error_t *why)
{
	struct rank *rank = find_process(memory->pid);

	*why = rank == NULL ? DOCA_ERROR_CONNECTION_ABORTED : DOCA_ERROR_INVALID_VALUE;
	if (rank == NULL)
		return NULL;
	if (address >= BOARD && address - BOARD <= sizeof(rank->board) && len <= sizeof(rank->board) - (address - BOARD))
		return (uint8_t *)&rank->board + (address - BOARD);
	return find_vector(rank, address, len);
}

doca_error_t process_memory_open(struct process_memory *memory, uint64_t process)
{
	*memory = (struct process_memory){.pid = -1, .fd = -1};
	if (find_process((int)process) == NULL)
		return DOCA_ERROR_NOT_FOUND;
	*memory = (struct process_memory){.pid = (int)process, .fd = 0};
	return DOCA_SUCCESS;
}

void process_memory_close(struct process_memory *memory)
{
	*memory = (struct process_memory){.pid = -1, .fd = -1};
}
bool process_memory_is_alive(const struct process_memory *memory)
{
	return find_process(memory->pid) != NULL;
}

doca_error_t process_memory_read(const struct process_memory *memory, void *to, uint64_t from, size_t len)
{
	doca_error_t why;
	const void *place = find_memory(memory, from, len, &why);

	if (place == NULL)
		return why;
	memcpy(to, place, len);
	return DOCA_SUCCESS;
}

doca_error_t process_memory_write(const struct process_memory *memory, uint64_t to, const void *from, size_t len)
{
	doca_error_t why;
	void *place = find_memory(memory, to, len, &why);

	if (place == NULL)
		return why;
	memcpy(place, from, len);
	return DOCA_SUCCESS;
}

void *fake_net_memory(uint8_t key, uint64_t address, const uint8_t *data, size_t len)
{
	abort();
}

static doca_error_t look_up(struct urom_worker_ctx *ctx, uint64_t domain_id, void **addr)
{
	if (domain_id >= RANKS)
		return DOCA_ERROR_NOT_FOUND;
	*addr = ranks[domain_id].address;
	return DOCA_SUCCESS;
}

/* ---- what is computed ---- */

static uint32_t mix(uint32_t tag, const struct collective *collective)
{
	return (tag * 31 + collective->epoch * 7 + collective->num * 13 + 5) * 2654435761u >> 8;
}

static struct allreduce_shape shape_of(uint32_t what)
{
	static const uint32_t totals[] = {8, 64, 136, 520, 1024, 1000, 256, 16};

	return (struct allreduce_shape){
		.num_ranks = RANKS,
		.type = (uint8_t)(what % ALLREDUCE_TYPES),
		.op = (uint8_t)(what / 4 % ALLREDUCE_OPS),
		.algorithm = (uint8_t)(what / 16 % ALLREDUCE_ALGORITHMS),
		.piece_max = what / 64 % 2 != 0 ? 64 : 256,
		.total = totals[what / 128 % 8],
	};
}

static uint32_t value_of(uint32_t what, uint32_t rank, size_t i)
{
	return (what + rank * 11 + (uint32_t)i * 3) % 50;
}

static void put_value(const struct allreduce_shape *shape, uint8_t *place, uint32_t value)
{
	const float as_float = (float)value;
	const double as_double = value;
	const uint64_t as_int = value;
	const void *from = shape->type == ALLREDUCE_FLOAT    ? (const void *)&as_float
			   : shape->type == ALLREDUCE_DOUBLE ? (const void *)&as_double
							     : &as_int;

	memcpy(place, from, allreduce_element_size(shape->type));
}

static void check_result(const struct allreduce_shape *shape, uint32_t what, const uint8_t *receive)
{
	uint32_t size = allreduce_element_size(shape->type);
	uint8_t expected[8];

	for (size_t i = 0; i < shape->total / size; i++) {
		uint32_t result = value_of(what, 0, i);

		for (uint32_t rank = 1; rank < RANKS; rank++) {
			uint32_t value = value_of(what, rank, i);

			if (shape->op == ALLREDUCE_SUM)
				result += value;
			else if ((shape->op == ALLREDUCE_MIN) == (value < result))
				result = value;
		}
		put_value(shape, expected, result);
		CHECK(memcmp(receive + i * size, expected, size) == 0);
	}
}

/* ---- commands ---- */

static void command(struct rank *rank, uint32_t tag, const struct allreduce_command *wanted, const void *body, size_t len)
{
	uint8_t bytes[sizeof(*wanted) + VECTOR];
	ucs_list_link_t list;

	if (num_commands == COMMANDS)
		return;
	memcpy(bytes, wanted, sizeof(*wanted));
	if (len != 0)
		memcpy(bytes + sizeof(*wanted), body, len);
	len += sizeof(*wanted);
	if (!honest)
		len = fake_mutate(&input, bytes, len, sizeof(bytes));
	struct urom_worker_cmd_desc *desc = (struct urom_worker_cmd_desc *)malloc(sizeof(*desc) + len);
	CHECK(desc != NULL);
	*desc = (struct urom_worker_cmd_desc){.dest_id = rank->dest_id,
					      .worker_cmd = {.type = 1, .urom_context = num_commands, .len = len}};
	memcpy(desc->worker_cmd.plugin_cmd, bytes, len);
	commands[num_commands++] = (struct command){rank->dest_id, wanted->rank, wanted->kind, tag, wanted->offset, false};
	ucs_list_head_init(&list);
	ucs_list_add_tail(&list, &desc->entry);
	CHECK(rank->ctx.iface.worker_cmd(&rank->ctx, &list) == DOCA_SUCCESS && ucs_list_is_empty(&list));
}

static void attach(struct rank *rank)
{
	const struct allreduce_command wanted = {.kind = ALLREDUCE_ATTACH, .rank = (uint32_t)(rank - ranks)};
	const struct allreduce_attach body = {rank->process, BOARD};

	if (rank->attaching)
		return;
	rank->attaching = true;
	command(rank, 0, &wanted, &body, sizeof(body));
}

static void prove(struct rank *rank, const struct allreduce_attached *attached)
{
	const struct allreduce_command wanted = {
		.kind = ALLREDUCE_PROVE, .rank = (uint32_t)(rank - ranks), .tag = attached->attachment};

	rank->attachment = attached->attachment;
	memcpy(rank->board.numbers[ALLREDUCE_DIRECT_RANKS_MAX], attached->number, sizeof(attached->number));
	command(rank, 0, &wanted, NULL, 0);
}

static void send_pieces(struct rank *rank, uint32_t tag)
{
	struct collective *collective = &rank->collectives[tag];
	struct allreduce_command wanted = collective->command;

	wanted.kind = ALLREDUCE_PIECE;
	for (wanted.offset = 0; wanted.offset < wanted.shape.total; wanted.offset += wanted.shape.piece_max) {
		uint64_t left = wanted.shape.total - wanted.offset;

		collective->outstanding += num_commands != COMMANDS;
		collective->failed |= num_commands == COMMANDS;
		command(rank, tag, &wanted, rank->slots[collective->slot].send + wanted.offset,
			left < wanted.shape.piece_max ? left : wanted.shape.piece_max);
	}
}

static void send_vector(struct rank *rank, uint32_t tag)
{
	struct collective *collective = &rank->collectives[tag];
	struct slot *slot = &rank->slots[collective->slot];
	struct allreduce_vector body = {.attachment = 0};

	if (rank->proven) {
		slot->guarded = true;
		rank->board.guards[collective->slot].serial = ++rank->serial;
		body.attachment = rank->attachment;
		body.place = (struct allreduce_place){SEND + collective->slot * VECTOR, RECEIVE + collective->slot * VECTOR,
						      BOARD + offsetof(struct allreduce_board, guards) +
							      collective->slot * sizeof(struct allreduce_guard),
						      rank->serial};
	}
	collective->outstanding++;
	command(rank, tag, &collective->command, &body, sizeof(body));
}

/* Operations in flight end at some time. */
static void cancel(struct rank *rank, uint32_t tag)
{
	struct collective *collective = &rank->collectives[tag];
	const struct allreduce_command wanted = {.kind = ALLREDUCE_CANCEL,
						 .rank = (uint32_t)(rank - ranks),
						 .tag = collective->command.tag,
						 .shape = {.num_ranks = RANKS},
						 .status = DOCA_ERROR_NO_MEMORY};

	if (!collective->active || collective->failed)
		return;
	collective->failed = true;
	collective->outstanding += num_commands != COMMANDS;
	command(rank, tag, &wanted, NULL, 0);
}

/* ---- collectives ---- */

static void begin_collective(struct rank *rank, uint32_t tag)
{
	struct collective *collective = &rank->collectives[tag];
	uint32_t slot = 0, what = mix(tag, collective), me = (uint32_t)(rank - ranks);

	while (slot < SLOTS && rank->slots[slot].state != SLOT_FREE)
		slot++;
	if (collective->active || slot == SLOTS || num_commands > COMMANDS - 40)
		return;
	struct allreduce_command *wanted = &collective->command;
	bool whole = what / 1024 % 4 != 0;
	*wanted = (struct allreduce_command){.kind = whole ? ALLREDUCE_VECTOR : ALLREDUCE_PIECE,
					     .rank = me,
					     .tag = tag + 16u * collective->epoch,
					     .shape = shape_of(what)};
	if (!whole)
		wanted->shape.algorithm %= 2; /* by steps */
	for (size_t i = 0, size = allreduce_element_size(wanted->shape.type); i < wanted->shape.total / size; i++)
		put_value(&wanted->shape, rank->slots[slot].send + i * size, value_of(what, me, i));
	rank->slots[slot].state = SLOT_USED;
	rank->slots[slot].guarded = false;
	collective->slot = slot;
	collective->num++;
	collective->active = true;
	collective->failed = false;
	collective->outstanding = 0;
	if (whole)
		send_vector(rank, tag);
	else
		send_pieces(rank, tag);
}

static void close_guards(struct rank *rank)
{
	for (uint32_t i = 0; i < SLOTS; i++) {
		bool busy = false;

		for (uint32_t k = 0; k <= ALLREDUCE_DIRECT_RANKS_MAX; k++)
			busy |= rank->board.guards[i].busy[k] != 0;
		if (rank->slots[i].state == SLOT_CLOSING && !busy)
			rank->slots[i].state = SLOT_FREE;
	}
}

static void end_collective(struct rank *rank, uint32_t tag)
{
	struct collective *collective = &rank->collectives[tag];
	struct slot *slot = &rank->slots[collective->slot];

	rank->board.guards[collective->slot].serial = 0;
	slot->state = SLOT_CLOSING;
	collective->active = false;
	close_guards(rank);
	collective->num--; /* which allocated its data */
	if (honest && !collective->failed)
		check_result(&collective->command.shape, mix(tag, collective), slot->receive);
	collective->num++;
	if (!collective->failed)
		return;
	collective->epoch++;
	collective->num = 0;
}

/* ---- answers ---- */

static void take_vector(struct rank *rank, uint32_t tag, const struct urom_worker_notify *notify)
{
	struct collective *collective = &rank->collectives[tag];
	struct allreduce_done done;

	if (notify->status != DOCA_SUCCESS) {
		collective->failed = true;
		return;
	}
	CHECK(allreduce_done_parse(notify->plugin_notif, notify->len, &done) == DOCA_SUCCESS);
	if (done.as_pieces == 0 || collective->failed)
		return;
	collective->command.shape.algorithm = (uint8_t)done.algorithm;
	send_pieces(rank, tag);
}

static void take_piece(struct rank *rank, const struct command *asked, const struct urom_worker_notify *notify)
{
	struct collective *collective = &rank->collectives[asked->tag];

	if (notify->status != DOCA_SUCCESS) {
		cancel(rank, asked->tag);
	} else if (notify->len != 0 && asked->offset + notify->len <= VECTOR) {
		memcpy(rank->slots[collective->slot].receive + asked->offset, notify->plugin_notif, notify->len);
	}
}

static void take_answer(struct rank *rank, const struct command *asked, const struct urom_worker_notify *notify)
{
	struct collective *collective = &rank->collectives[asked->tag];
	struct allreduce_attached attached;

	switch (asked->kind) {
	case ALLREDUCE_ATTACH:
		if (notify->status == DOCA_SUCCESS &&
		    allreduce_attached_parse(notify->plugin_notif, notify->len, &attached) == DOCA_SUCCESS)
			prove(rank, &attached);
		return;
	case ALLREDUCE_PROVE:
		CHECK(!honest || notify->status == DOCA_SUCCESS);
		rank->proven = notify->status == DOCA_SUCCESS;
		return;
	case ALLREDUCE_VECTOR:
	case ALLREDUCE_PIECE:
	case ALLREDUCE_CANCEL:
		if (!collective->active) {
			CHECK(!honest);
			return;
		}
		collective->outstanding--;
		if (asked->kind == ALLREDUCE_VECTOR)
			take_vector(rank, asked->tag, notify);
		else if (asked->kind == ALLREDUCE_PIECE)
			take_piece(rank, asked, notify);
		if (collective->outstanding == 0)
			end_collective(rank, asked->tag);
		return;
	default:
		return;
	}
}

static bool progress(struct rank *rank)
{
	ucs_list_link_t list;

	ucs_list_head_init(&list);
	bool any = rank->ctx.iface.progress(&rank->ctx, &list) == DOCA_SUCCESS;
	while (!ucs_list_is_empty(&list)) {
		struct urom_worker_notif_desc *desc = ucs_list_extract_head(&list, struct urom_worker_notif_desc, entry);

		CHECK(desc->worker_notif.urom_context < num_commands);
		struct command *asked = &commands[desc->worker_notif.urom_context];
		CHECK(!asked->answered && asked->dest_id == desc->dest_id);
		asked->answered = true;
		if (desc->dest_id == rank->dest_id)
			take_answer(rank, asked, &desc->worker_notif);
		free(desc);
	}
	for (int i = 0; i < RANKS; i++)
		close_guards(&ranks[i]);
	return any;
}

static uint64_t uid_of(const struct rank *rank)
{
	return fake_net_uid(((const struct allreduce *)rank->ctx.plugin_ctx)->network.side.worker);
}

/* The rank's program is replaced by another; dies: together with its memory. */
static void leave(struct rank *rank, bool dies)
{
	if (dies)
		rank->process = 0;
	softfield_urom_plugin_client_left(&rank->ctx, rank->dest_id);
	for (uint32_t tag = 0; tag < TAGS; tag++) {
		rank->collectives[tag].failed = true;
		if (rank->collectives[tag].active)
			end_collective(rank, tag);
	}
	rank->dest_id = ++last_dest_id;
	rank->attaching = rank->proven = false;
	if (!dies)
		return;
	rank->process = ++last_process;
	memset(&rank->board, 0, sizeof(rank->board));
	memset(rank->slots, 0, sizeof(rank->slots));
}

/* Its worker dies, and the rank can do nothing any more. */
static void die(struct rank *rank)
{
	rank->dead = true;
	fake_net_kill(uid_of(rank));
	for (uint32_t tag = 0; tag < TAGS; tag++) {
		rank->collectives[tag].failed = true;
		if (rank->collectives[tag].active)
			end_collective(rank, tag);
	}
	for (int i = 0; i < RANKS * SLOTS; i++) /* whose process has left all guards */
		ranks[i / SLOTS].board.guards[i % SLOTS].busy[rank - ranks] = 0;
	for (int i = 0; i < SLOTS; i++)
		rank->board.guards[i].busy[ALLREDUCE_DIRECT_RANKS_MAX] = 0;
	rank->dest_id = ++last_dest_id;
}

/* ---- arbitrary messages ---- */

static void deliver_anything(void)
{
	uint8_t what = fake_byte(&input), to = what % RANKS, data[VECTOR];
	uint32_t tag = what / 4 % TAGS;
	const struct collective *collective = &ranks[what / 16 % RANKS].collectives[tag];
	const struct allreduce_offer offer = {
		ranks[what / 16 % RANKS].attachment,
		ranks[what / 16 % RANKS].process,
		BOARD,
		fake_byte(&input),
		{SEND, RECEIVE, BOARD + offsetof(struct allreduce_board, guards), fake_byte(&input)}};
	struct allreduce_address address;
	struct allreduce_message message = {
		.kind = fake_byte(&input) % (ALLREDUCE_MESSAGES + 1u),
		.source = what / 16 % (RANKS + 1),
		.tag = tag + 16u * collective->epoch,
		.offset = fake_byte(&input) % 4 * 64u,
		.number = fake_byte(&input) % 4,
		.shape = collective->active ? collective->command.shape : shape_of(mix(tag, collective)),
	};

	memcpy(&address, ranks[to].address, sizeof(address));
	message.key = address.id;
	if (fake_byte(&input) >= 192)
		message.shape = shape_of(fake_byte(&input) * 97u);
	size_t len = message.kind == ALLREDUCE_OFFER	   ? sizeof(offer)
		     : message.kind == ALLREDUCE_CHALLENGE ? ALLREDUCE_NUMBER_SIZE
							   : 0;
	if (message.kind == ALLREDUCE_DATA)
		len = (size_t)fake_byte(&input) * 4;
	memset(data, what, sizeof(data));
	memcpy(data, &offer, sizeof(offer));
	len = fake_mutate(&input, data, len, sizeof(data));
	size_t head_len = fake_mutate(&input, (uint8_t *)&message, sizeof(message), sizeof(message));
	fake_net_send(99, uid_of(&ranks[to]), 0, &message, head_len, data, len);
}

/* ---- one input ---- */

static void begin(void)
{
	fake_net_begin(&input, honest);
	num_commands = 0;
	last_process = 1000;
	memset(ranks, 0, sizeof(ranks));
	for (int i = 0; i < RANKS; i++) {
		struct rank *rank = &ranks[i];
		size_t len = 0;

		rank->ctx.domain_iface.addr_lookup = look_up;
		CHECK(urom_plugin_get_iface(&rank->ctx.iface) == DOCA_SUCCESS &&
		      rank->ctx.iface.open(&rank->ctx) == DOCA_SUCCESS);
		CHECK(rank->ctx.iface.addr(&rank->ctx, NULL, &len) == DOCA_ERROR_INVALID_VALUE);
		rank->address = malloc(len);
		CHECK(rank->address != NULL && rank->ctx.iface.addr(&rank->ctx, rank->address, &len) == DOCA_SUCCESS);
		rank->dest_id = ++last_dest_id;
		rank->process = ++last_process;
	}
}

/* Returns true if another rank has begun more than this one. */
static bool is_behind(const struct rank *rank, uint32_t tag)
{
	const struct collective *own = &rank->collectives[tag];

	for (int i = 0; i < RANKS; i++) {
		const struct collective *other = &ranks[i].collectives[tag];

		if (other->epoch > own->epoch || (other->epoch == own->epoch && other->num > own->num))
			return true;
	}
	return false;
}

/* All ranks progress, and begin the operations that other ranks have begun, until nothing waits. */
static void settle(void)
{
	bool any = true;

	for (uint32_t turn = 0; any; turn++) {
		CHECK(turn < CALM_TURNS);
		any = false;
		for (uint32_t i = 0; i < RANKS; i++)
			any |= (!ranks[i].dead || !honest) && progress(&ranks[i]);
		for (uint32_t i = 0; i < RANKS * TAGS && honest; i++) {
			struct rank *rank = &ranks[i / TAGS];
			uint32_t before = num_commands;

			if (!rank->dead && is_behind(rank, i % TAGS))
				begin_collective(rank, i % TAGS);
			any |= num_commands != before;
		}
	}
}

static void end(void)
{
	fake_net_calm();
	settle();
	for (uint32_t i = 0; i < RANKS * TAGS && honest && num_commands <= COMMANDS - 40; i++)
		CHECK(!ranks[i / TAGS].collectives[i % TAGS].active); /* dead ranks have none */
	for (uint32_t i = 0; i < RANKS; i++)
		leave(&ranks[i], false);
	honest = false;
	settle();
	for (uint32_t i = 0; i < num_commands; i++)
		CHECK(commands[i].answered);
	for (int i = 0; i < RANKS; i++) {
		ranks[i].ctx.iface.close(&ranks[i].ctx);
		free(ranks[i].address);
	}
	CHECK(fake_net_is_empty());
}

static void act(uint8_t what)
{
	uint8_t more = what / 16;
	struct rank *rank = &ranks[more % RANKS];

	if (rank->dead)
		return;
	switch (what % 16) {
	case 0:
		attach(rank);
		break;
	case 1:
	case 2:
	case 3:
		begin_collective(rank, what % 16u - 1u);
		break;
	case 4:
		if (more >= 13)
			cancel(rank, fake_byte(&input) % TAGS);
		break;
	case 5:
		if (more >= 13)
			honest ? die(rank) : fake_net_break(true);
		break;
	case 6:
		if (more >= 12)
			leave(rank, more % 2 == 0);
		if (more >= 12 && honest) /* the worker ends, because it has no other one */
			die(rank);
		break;
	case 7:
	case 8:
		if (!honest)
			what % 16 == 7 ? deliver_anything() : fake_net_replay();
		break;
	default:
		(void)progress(rank);
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
