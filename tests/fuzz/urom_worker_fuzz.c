/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker without its process: its clients, domains, notifications and its socket to the daemon, and the DPU parts of the
 * plugins graph, sandbox and rdmo, with clients that send anything. The input is a script of what arrives: UROM's messages,
 * mostly well-formed commands, active messages to rdmo, and completions of UCX operations.
 */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <doca_log.h>

#include "../../apps/urom/worker/clients.h"
#include "../../apps/urom/worker/clock.h"
#include "../../apps/urom/worker/domains.h"
#include "../../apps/urom/worker/notify.h"
#include "../../apps/urom/worker/parent.h"
#include "../../apps/urom/worker/plugins.h"
#include "../../apps/urom/worker/worker.h"
#include "../../plugins/graph/graph_proto.h"
#include "../../plugins/rdmo/rdmo_proto.h"
#include "../../plugins/sandbox/sandbox_proto.h"
#include "support/check.h"
#include "urom/auth.h"
#include "urom_fake_ucx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
doca_error_t graph_get_iface(struct urom_plugin_iface *iface);
doca_error_t sandbox_get_iface(struct urom_plugin_iface *iface);
doca_error_t rdmo_get_iface(struct urom_plugin_iface *iface);
void sandbox_client_left(struct urom_worker_ctx *ctx, uint64_t dest_id);
void rdmo_client_left(struct urom_worker_ctx *ctx, uint64_t dest_id);

#define CLIENTS_MAX 4
#define BODY_MAX 1024

static struct fake_input input;
static struct worker worker;
static struct heartbeat heartbeat;
static int daemon_fd; /* the daemon's end */
static volatile uint8_t sink;
static uint64_t last_queue; /* created by rdmo, read from its notification */

static const struct {
	doca_error_t (*get_iface)(struct urom_plugin_iface *iface);
	void (*client_left)(struct urom_worker_ctx *ctx, uint64_t dest_id);
} plugins[] = {{graph_get_iface, NULL}, {sandbox_get_iface, sandbox_client_left}, {rdmo_get_iface, rdmo_client_left}};

static uint64_t now_ns;

uint64_t worker_now_ns(void)
{
	return ++now_ns;
}

/* ---- what a worker has ---- */

static void begin(void)
{
	const struct sf_comm_options options = {.handler = &clients_handler, .user = &worker, .body_max = UROM_CONTROL_MAX};
	char reason[UROM_TEXT_MAX];
	int fds[2];

	memset(&worker, 0, sizeof(worker));
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) == 0);
	worker.parent_fd = fds[0];
	daemon_fd = fds[1];
	worker.heartbeat = &heartbeat;
	worker.message_max = UROM_MESSAGE_DEFAULT;
	TAILQ_INIT(&worker.clients);
	TAILQ_INIT(&worker.answered);
	LIST_INIT(&worker.domains);
	ucs_list_head_init(&worker.notifications);
	worker.packed = (uint8_t *)malloc(worker.message_max);
	CHECK(worker.packed != NULL && sf_comm_open(&options, &worker.comm) == DOCA_SUCCESS);
	for (uint32_t i = 0; i < 3; i++) {
		struct worker_plugin *plugin = &worker.plugins[worker.num_plugins++];

		*plugin = (struct worker_plugin){.worker = &worker, .path = "plugin", .index = i, .id = UINT64_C(1) << i};
		plugin->client_left = plugins[i].client_left;
		CHECK(plugins[i].get_iface(&plugin->ctx.iface) == DOCA_SUCCESS);
		CHECK(plugin_open(&worker, plugin, reason) == DOCA_SUCCESS);
	}
}

static void end(void)
{
	while (worker.comm->peers != NULL)
		fake_lose(worker.comm->peers);
	CHECK(TAILQ_EMPTY(&worker.clients) && worker.num_outstanding == 0 && worker.num_domains == 0);
	for (uint32_t i = 0; i < worker.num_plugins; i++)
		plugin_close(&worker.plugins[i]);
	clients_drop_all(&worker);
	sf_comm_close(worker.comm);
	free(worker.packed);
	close(worker.parent_fd);
	close(daemon_fd);
	CHECK(fake_ucx_is_empty());
}

bool fake_poll(struct sf_comm *comm)
{
	(void)comm;
	return false;
}

/* ---- what arrives ---- */

static struct fake_peer *any_peer(void)
{
	uint32_t at = fake_byte(&input) % CLIENTS_MAX;
	struct fake_peer *peer = worker.comm->peers;

	while (peer != NULL && at-- != 0 && peer->next != NULL)
		peer = peer->next;
	return peer;
}

static uint32_t num_peers(void)
{
	uint32_t num = 0;

	for (const struct fake_peer *peer = worker.comm->peers; peer != NULL; peer = peer->next)
		num++;
	return num;
}

/* A client that joins, with a token that is mostly known. */
static void arrive(void)
{
	uint8_t packet[UROM_HEAD_SIZE + UROM_TOKEN_SIZE] = {0}, token[UROM_TOKEN_SIZE] = {7};
	struct urom_head admit = urom_head_make(UROM_ADMIT, DOCA_SUCCESS, 0, 0),
			 join = urom_head_make(UROM_JOIN, DOCA_SUCCESS, 0, 0);
	struct fake_peer *peer = num_peers() < CLIENTS_MAX ? fake_arrive(worker.comm) : NULL;

	if (peer == NULL)
		return;
	memcpy(packet, &admit, sizeof(admit));
	memcpy(packet + sizeof(admit), token, sizeof(token));
	(void)send(daemon_fd, packet, fake_mutate(&input, packet, sizeof(packet), sizeof(packet)), MSG_DONTWAIT);
	fake_deliver(peer, &join, token, sizeof(token));
}

static size_t graph_body(uint8_t *out)
{
	const struct graph_command command = {GRAPH_LOOPBACK, 77};

	memcpy(out, &command, sizeof(command));
	return sizeof(command);
}

static size_t sandbox_body(uint8_t *out)
{
	uint8_t what = fake_byte(&input);
	struct sandbox_command command = {
		.type = what % 2 != 0 ? SANDBOX_SEND : SANDBOX_RECEIVE, .peer = what % 8, .tag = 1, .len = what / 2};

	memcpy(out, &command, sizeof(command));
	return sizeof(command) + (command.type == SANDBOX_SEND ? command.len : 0);
}

static size_t rdmo_body(uint8_t *out)
{
	uint8_t what = fake_byte(&input), number = fake_byte(&input);
	struct rdmo_command command = {.type = what % 5 + 1, .number = number % 4, .va = 4096, .len = 4096};
	bool has_blob = command.type == RDMO_CLIENT_INIT || command.type == RDMO_RQ_CREATE || command.type == RDMO_MR_REGISTER;

	if (command.type == RDMO_RQ_DESTROY && number >= 128)
		command.number = last_queue;
	command.blob_len = has_blob ? 8 : 0;
	memcpy(out, &command, sizeof(command));
	memset(out + sizeof(command), number, 8);
	return sizeof(command) + command.blob_len;
}

/* A correct command, or a changed one. */
static void deliver_command(struct fake_peer *peer)
{
	static size_t (*const bodies[])(uint8_t *) = {graph_body, sandbox_body, rdmo_body};
	const struct urom_head head = urom_head_make(UROM_COMMAND, DOCA_SUCCESS, 0, 0);
	uint8_t which = fake_byte(&input), body[BODY_MAX] = {0};
	struct urom_worker_cmd command = {.type = UINT64_C(1) << which % 3, .urom_context = 5};

	command.len = bodies[which % 3](body + sizeof(command));
	command.len = fake_mutate(&input, body + sizeof(command), command.len, sizeof(body) - sizeof(command));
	memcpy(body, &command, sizeof(command));
	fake_deliver(peer, &head, body, fake_mutate(&input, body, sizeof(command) + command.len, sizeof(body)));
}

/* A request of an initiator to rdmo. */
static void deliver_request(void)
{
	uint8_t what = fake_byte(&input), body[300];
	static uint64_t number;
	struct rdmo_request_head head = {
		.client = what % 4,
		.queue = last_queue,
		.operation = what / 4 % 3 + 1,
		.flags = what / 16 % 2,
		.number = what >= 240 ? what : ++number,
		.pointer = 4096 + what % 16 * 8,
		.pointer_region = 1,
		.data_region = 1,
		.num_pieces = 1,
	};
	struct rdmo_piece_head piece = {4096, 1, 8};
	size_t len = head.operation == RDMO_FLUSH ? 0 : sizeof(piece) + 8;

	if (fake_byte(&input) < 128)
		number = head.number = 1;
	memset(body, what, sizeof(body));
	memcpy(body, &piece, sizeof(piece));
	len = fake_mutate(&input, body, len, sizeof(body));
	fake_ucx_am(&head, fake_mutate(&input, (uint8_t *)&head, sizeof(head), sizeof(head)), body, len);
}

/* A directory in pieces, or bytes that may be one. */
static void deliver_part(struct fake_peer *peer)
{
	const uint8_t *body;
	struct urom_head head = fake_head(&input);
	size_t len = fake_bytes(&input, &body, 255);

	head.kind = UROM_DOMAIN_PART;
	head.subject = fake_byte(&input) % 3;
	fake_deliver(peer, &head, body, len);
}

/* The directory of a domain of two workers, as a host creates it: offered, then announced. */
static void deliver_directory(struct fake_peer *peer)
{
	static uint8_t addresses[64], entry[512], directory[2048];
	size_t addresses_len = urom_addresses_append(addresses, sizeof(addresses), 0, 2, "\1 an address", 12);
	struct urom_entry_worker workers[] = {{.domain_id = 1, .addresses = {addresses, addresses_len}},
					      {.domain_id = 2, .addresses = {addresses, addresses_len}}};
	struct urom_entry_buffer buffer = {.va = 4096, .len = 100, .memh = {"memh", 4}, .mkey = {"mkey", 4}};
	size_t len = urom_entry_pack(workers, 2, &buffer, 1, entry, sizeof(entry));

	CHECK(len != 0);
	size_t place = urom_directory_place(directory, urom_directory_begin(directory, 1), len);
	CHECK(place + len <= sizeof(directory));
	memcpy(directory + place, entry, len);
	len = fake_mutate(&input, directory, place + len, sizeof(directory));
	struct urom_head head = urom_head_make(UROM_DOMAIN_OFFER, DOCA_SUCCESS, 0, fake_byte(&input) % 3);
	uint8_t digest[UROM_DIGEST_SIZE];
	CHECK(urom_digest(directory, len, digest) == DOCA_SUCCESS);
	head.size = len;
	fake_deliver(peer, &head, digest, fake_mutate(&input, digest, sizeof(digest), sizeof(digest)));
	for (size_t sent = 0; sent < len && fake_is_there(worker.comm, peer); sent += len / 2 + 1) {
		head.kind = UROM_DOMAIN_PART;
		head.request = sent;
		fake_deliver(peer, &head, directory + sent, len - sent < len / 2 + 1 ? len - sent : len / 2 + 1);
	}
}

static void deliver_anything(struct fake_peer *peer)
{
	const uint8_t *body;
	struct urom_head head = fake_head(&input);
	size_t len = fake_bytes(&input, &body, 255);

	fake_deliver(peer, &head, body, len);
}

static void daemon_says(void)
{
	const uint8_t *body;
	uint8_t packet[UROM_HEAD_SIZE + 255];
	struct urom_head head = fake_head(&input);
	size_t len = fake_bytes(&input, &body, 255);

	head.kind = UROM_READY + fake_byte(&input) % 4;
	memcpy(packet, &head, sizeof(head));
	memcpy(packet + sizeof(head), body, len);
	(void)send(daemon_fd, packet, sizeof(head) + len, MSG_DONTWAIT);
	while (parent_read(&worker) && !worker.ending)
		;
	worker.ending = worker.drains = false;
}

/* A plugin's look-ups of domains, and reads of the answers. */
static void look_up(void)
{
	struct urom_worker_ctx *ctx = &worker.plugins[1].ctx;
	uint64_t id = fake_byte(&input) % 4;
	void *found;
	size_t len;
	int seg;

	if (doca_urom_worker_domain_addr_lookup(ctx, id, &found) == DOCA_SUCCESS) {
		CHECK(((uintptr_t)found & 7) == 0);
		sink ^= ((const uint8_t *)found)[WORKER_DIRECTORY_SLACK - 1]; /* a plugin trusts the length that it reads there */
	}
	if (doca_urom_worker_domain_seg_lookup(ctx, id, 4096 + fake_byte(&input), &seg) != DOCA_SUCCESS)
		seg = fake_byte(&input);
	if (doca_urom_worker_domain_memh_lookup(ctx, id, seg, &len, &found) == DOCA_SUCCESS && len != 0)
		sink ^= ((const uint8_t *)found)[len - 1];
	if (doca_urom_worker_domain_mkey_lookup(ctx, id, seg, &len, &found) == DOCA_SUCCESS && len != 0)
		sink ^= ((const uint8_t *)found)[len - 1];
}

/* One iteration of the worker's loop; its clients read their answers. */
static void turn(void)
{
	(void)plugins_run(&worker);
	(void)notifications_send(&worker);
	for (struct fake_peer *peer = worker.comm->peers; peer != NULL; peer = peer->next) {
		struct fake_sent sent;

		while (fake_take_sent(peer, &sent)) {
			const struct rdmo_notification *answer = (const void *)(sent.body + sizeof(struct urom_worker_notify));

			if (sent.head.kind == UROM_NOTIFY && sent.len == sizeof(struct urom_worker_notify) + sizeof(*answer) &&
			    answer->type == RDMO_RQ_CREATE)
				last_queue = answer->number;
			free(sent.body);
		}
	}
}

static void time_passes(void)
{
	now_ns += WORKER_JOIN_NS;
	clients_expire(&worker);
}

static void act(uint8_t what)
{
	struct fake_peer *peer = any_peer();

	if (what % 12 == 0 || peer == NULL)
		arrive();
	else if (what % 12 < 4)
		deliver_command(peer);
	else if (what % 12 == 4)
		deliver_request();
	else if (what % 12 == 5)
		deliver_part(peer);
	else if (what % 12 == 6)
		deliver_directory(peer);
	else if (what % 12 == 7)
		deliver_anything(peer);
	else if (what == 8)
		fake_lose(peer);
	else if (what == 20)
		daemon_says();
	else if (what == 32)
		time_passes();
	else if (what % 12 == 9)
		(void)fake_ucx_progress();
	else if (what % 12 == 10)
		look_up();
	else
		turn();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool prepared;

	if (!prepared)
		(void)doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_DISABLE);
	prepared = true;
	input = (struct fake_input){data, data + size};
	fake_ucx_input = &input;
	last_queue = 0;
	begin();
	while (input.at < input.end)
		act(fake_byte(&input));
	turn();
	end();
	return 0;
}
