/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The whole host library and the host parts of plugins, with a daemon and worker processes that send anything. The input is a
 * script: what the program does, and what arrives. Answers that the other side owes arrive as they should, or changed. Whatever
 * arrives, each task ends once, and every context returns to IDLE.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <doca_buf.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_log.h>
#include <doca_pe.h>
#include <doca_urom.h>

#include "../../plugins/common/version.h"
#include "../../plugins/graph/urom_graph.h"
#include "../../plugins/rdmo/urom_rdmo.h"
#include "../../plugins/sandbox/urom_sandbox.h"
#include "fuzz_folder.h"
#include "support/check.h"
#include "support/test_dev.h"
#include "urom/auth.h"
#include "urom/directory.h"
#include "urom_fake_comm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define WORKERS 2
#define TURNS_MAX 2000 /* limit of polls for an end */

static struct fake_input input;
static struct urom_secret secret;
static uint8_t daemon_nonce[UROM_NONCE_SIZE];
static struct doca_dev *dev;

static struct doca_pe *pe;
static struct doca_urom_service *service;
static struct doca_urom_worker *workers[WORKERS];
static struct doca_urom_domain *domain;
static bool ending; /* only correct answers that are owed arrive */
static uint32_t num_inflight;
static volatile uint8_t sink; /* read only to check that it is accessible */

/* ---- the other side's answers ---- */

static size_t answer_handshake(const struct fake_sent *asked, struct urom_head *head, uint8_t *body, size_t room)
{
	struct urom_challenge challenge = {.nonce = {0}};
	struct urom_handshake handshake;

	head->kind = UROM_CHALLENGE;
	CHECK(urom_handshake_parse(asked->body, asked->len, &handshake) == DOCA_SUCCESS);
	memcpy(challenge.nonce, daemon_nonce, sizeof(daemon_nonce));
	CHECK(urom_proof_make(&secret, UROM_ROLE_DAEMON, handshake.nonce, daemon_nonce, challenge.proof) == DOCA_SUCCESS);
	return urom_challenge_pack(&challenge, body, room);
}

static size_t answer_proof(struct urom_head *head, uint8_t *body, size_t room)
{
	static const char *const names[] = {"worker_graph", "worker_sandbox", "worker_rdmo"};
	static struct urom_welcome welcome;

	head->kind = UROM_WELCOME;
	welcome.message_max = UROM_MESSAGE_DEFAULT;
	welcome.num_plugins = 3;
	for (uint32_t i = 0; i < 3; i++) {
		welcome.plugins[i] = (struct urom_plugin){.id = UINT64_C(1) << i, .version = 1};
		strcpy(welcome.plugins[i].name, names[i]);
	}
	return urom_welcome_pack(&welcome, body, room);
}

static size_t answer_spawn(const struct fake_sent *asked, struct urom_head *head, uint8_t *body, size_t room)
{
	struct urom_spawned spawned = {.worker_id = asked->head.subject != UINT64_MAX ? asked->head.subject : 9};

	head->kind = UROM_SPAWNED;
	return urom_spawned_pack(&spawned, body, room);
}

static size_t answer_group(struct urom_head *head, uint8_t *body, size_t room)
{
	static struct urom_group group = {.num = 2, .ids = {1, 2}};

	head->kind = UROM_GROUP_IS;
	return urom_group_pack(&group, body, room);
}

static size_t answer_join(struct urom_head *head, uint8_t *body, size_t room)
{
	head->kind = UROM_JOINED;
	return urom_addresses_append(body, room, 0, 1, "an address", 10);
}

/* With the command's own bytes: graph expects these, and the input changes them for the parsers of the others. */
static size_t answer_command(const struct fake_sent *asked, struct urom_head *head, uint8_t *body, size_t room)
{
	struct urom_worker_cmd command;
	struct urom_worker_notify notify = {0};

	CHECK(asked->len >= sizeof(command) && asked->len + sizeof(notify) <= room);
	memcpy(&command, asked->body, sizeof(command));
	notify.type = command.type;
	notify.urom_context = command.urom_context;
	notify.len = command.len;
	memcpy(body, &notify, sizeof(notify));
	memcpy(body + sizeof(notify), asked->body + sizeof(command), command.len);
	head->kind = UROM_NOTIFY;
	return sizeof(notify) + command.len;
}

/* Returns false if no answer is owed for that. */
static bool answer(const struct fake_sent *asked, struct urom_head *head, uint8_t *body, size_t room, size_t *len)
{
	*head = urom_head_make(UROM_HANDSHAKE, DOCA_SUCCESS, asked->head.request, asked->head.subject);
	*len = 0;
	switch (asked->head.kind) {
	case UROM_HANDSHAKE:
		*len = answer_handshake(asked, head, body, room);
		return true;
	case UROM_PROOF:
		*len = answer_proof(head, body, room);
		return true;
	case UROM_SPAWN:
		*len = answer_spawn(asked, head, body, room);
		return true;
	case UROM_RELEASE:
		head->kind = UROM_RELEASED;
		return true;
	case UROM_GROUP:
		*len = answer_group(head, body, room);
		return true;
	case UROM_JOIN:
		*len = answer_join(head, body, room);
		return true;
	case UROM_COMMAND:
		*len = answer_command(asked, head, body, room);
		return true;
	case UROM_DOMAIN_OFFER: /* another one may have notified the worker already */
		head->kind = ending || fake_byte(&input) < 192 ? UROM_DOMAIN_WANTED : UROM_DOMAIN_READY;
		return true;
	case UROM_DOMAIN_PART:
		head->kind = UROM_DOMAIN_READY;
		return asked->head.request + asked->len == asked->head.size;
	default:
		return false;
	}
}

static bool give_answer(struct fake_peer *peer)
{
	static uint8_t body[2 * UROM_CONTROL_MAX];
	struct fake_sent asked;
	struct urom_head head;
	size_t len;

	if (!fake_take_sent(peer, &asked))
		return false;
	bool owed = answer(&asked, &head, body, sizeof(body), &len);
	if (owed && !ending) {
		uint8_t how = fake_byte(&input);

		head.status = how >= 224 ? fake_byte(&input) : DOCA_SUCCESS;
		head.request += how == 223;
		len = fake_mutate(&input, body, len, sizeof(body));
	}
	if (owed)
		fake_deliver(peer, &head, body, len);
	free(asked.body);
	return true;
}

/* Delivers to a comm: usually an answer; or any message; or its end. */
bool fake_poll(struct sf_comm *comm)
{
	const uint8_t *body;
	struct fake_peer *peer = comm->peers;

	if (peer == NULL)
		return false;
	if (ending)
		return give_answer(peer);
	if (input.at == input.end) {
		fake_lose(peer);
		return true;
	}
	uint8_t what = fake_byte(&input);
	if (what < 200)
		return give_answer(peer);
	if (what >= 250) {
		fake_lose(peer);
		return true;
	}
	struct urom_head head = fake_head(&input);
	size_t len = fake_bytes(&input, &body, 255);
	fake_deliver(peer, &head, body, len);
	return true;
}

/* ---- the program ---- */

static void ended_group(struct doca_urom_service_get_workers_by_gid_task *task, union doca_data data, union doca_data ctx_data)
{
	const uint64_t *ids = doca_urom_service_get_workers_by_gid_task_get_worker_ids(task);

	for (size_t i = 0; i < doca_urom_service_get_workers_by_gid_task_get_workers_count(task); i++)
		sink ^= (uint8_t)ids[i];
	CHECK(num_inflight-- != 0);
	CHECK(doca_urom_service_get_workers_by_gid_task_release(task) == DOCA_SUCCESS);
}

static void ask_for_group(void)
{
	struct doca_urom_service_get_workers_by_gid_task *task;

	if (doca_urom_service_get_workers_by_gid_task_allocate_init(service, 1, ended_group, &task) != DOCA_SUCCESS)
		return;
	if (doca_task_submit(doca_urom_service_get_workers_by_gid_task_as_task(task)) == DOCA_SUCCESS)
		num_inflight++;
	else
		CHECK(doca_urom_service_get_workers_by_gid_task_release(task) == DOCA_SUCCESS);
}

static void looped(doca_error_t result, union doca_data cookie, uint64_t value)
{
	CHECK(num_inflight-- != 0);
}
static void sent(doca_error_t result, union doca_data cookie)
{
	CHECK(num_inflight-- != 0);
}
static void done(doca_error_t result, union doca_data cookie, uint64_t number)
{
	CHECK(num_inflight-- != 0);
}

static void touch(const void *data, size_t len)
{
	for (size_t i = 0; data != NULL && i < len; i++)
		sink ^= ((const uint8_t *)data)[i];
}

static void received(doca_error_t result, union doca_data cookie, const void *data, size_t len, uint64_t tag)
{
	touch(data, len);
	CHECK(num_inflight-- != 0);
}

static void inited(doca_error_t result, union doca_data cookie, const void *address, uint64_t len)
{
	touch(address, len);
	CHECK(num_inflight-- != 0);
}

static void command(struct doca_urom_worker *worker, uint8_t what)
{
	static const uint8_t bytes[100];
	union doca_data cookie = {.u64 = 1};
	doca_error_t result = DOCA_ERROR_UNKNOWN;

	switch (what % 6) {
	case 0:
		result = urom_graph_task_loopback(worker, cookie, 5, looped);
		break;
	case 1:
		result = urom_sandbox_task_send(worker, cookie, 1, 2, bytes, what % 100, sent);
		break;
	case 2:
		result = urom_sandbox_task_receive(worker, cookie, 1, 2, 50, received);
		break;
	case 3:
		result = urom_rdmo_task_client_init(worker, cookie, 1, bytes, 20, inited);
		break;
	case 4:
		result = urom_rdmo_task_mr_register(worker, cookie, 1000, 100, bytes, 30, done);
		break;
	default:
		result = urom_rdmo_task_rq_destroy(worker, cookie, 3, done);
		break;
	}
	num_inflight += result == DOCA_SUCCESS;
}

static doca_error_t allgather(void *sbuf, void *rbuf, size_t msglen, void *coll_info, void **req)
{
	memcpy(rbuf, sbuf, msglen);
	memcpy((uint8_t *)rbuf + msglen, sbuf, msglen);
	if (msglen == 16) /* the sizes, each with its index */
		((uint64_t *)rbuf)[2] = 1;
	else if (!ending) /* the contents of the other process's part do not matter */
		(void)fake_mutate(&input, (uint8_t *)rbuf + msglen, msglen, msglen);
	*req = rbuf;
	return DOCA_SUCCESS;
}

static doca_error_t req_any(void *req)
{
	return DOCA_SUCCESS;
}

static void set_domain(void)
{
	struct doca_urom_domain_oob_coll oob = {allgather, req_any, req_any, NULL, 2, 0};
	uint8_t key[] = {1, 2, 3};
	uint64_t ids[] = {5, 6};

	(void)doca_urom_domain_set_oob(domain, &oob);
	(void)doca_urom_domain_set_buffers_count(domain, 2);
	(void)doca_urom_domain_add_buffer(domain, key, 3, key, 2, key, 3);
	(void)doca_urom_domain_set_workers(domain, ids, workers, fake_byte(&input) % 2 + 1);
	(void)doca_ctx_start(doca_urom_domain_as_ctx(domain));
}

static void act(uint8_t what)
{
	struct doca_urom_worker *worker = workers[what / 16 % WORKERS];

	switch (what % 16) {
	case 0:
		(void)doca_ctx_start(doca_urom_service_as_ctx(service));
		break;
	case 1:
		(void)doca_ctx_start(doca_urom_worker_as_ctx(worker));
		break;
	case 2:
		(void)doca_ctx_stop(doca_urom_worker_as_ctx(worker));
		break;
	case 3:
		set_domain();
		break;
	case 4:
		if (what >= 128)
			(void)doca_ctx_stop(doca_urom_domain_as_ctx(domain));
		break;
	case 5:
		if (what >= 192)
			(void)doca_ctx_stop(doca_urom_service_as_ctx(service));
		break;
	case 6:
		ask_for_group();
		break;
	case 7:
	case 8:
		command(worker, fake_byte(&input));
		break;
	case 9:
		(void)doca_pe_request_notification(pe);
		break;
	default:
		(void)doca_pe_progress(pe);
		break;
	}
}

/* ---- the end ---- */

static bool is_idle(struct doca_ctx *ctx)
{
	enum doca_ctx_states state;

	CHECK(doca_ctx_get_state(ctx, &state) == DOCA_SUCCESS);
	return state == DOCA_CTX_STATE_IDLE;
}

static void stop(struct doca_ctx *ctx)
{
	(void)doca_ctx_stop(ctx);
	for (uint32_t i = 0; !is_idle(ctx); i++) {
		CHECK(i < TURNS_MAX);
		(void)doca_pe_progress(pe);
	}
}

static void end_all(void)
{
	ending = true;
	(void)doca_ctx_stop(doca_urom_domain_as_ctx(domain));
	CHECK(doca_urom_domain_destroy(domain) == DOCA_SUCCESS);
	for (int i = 0; i < WORKERS; i++) {
		stop(doca_urom_worker_as_ctx(workers[i]));
		CHECK(doca_urom_worker_destroy(workers[i]) == DOCA_SUCCESS);
	}
	stop(doca_urom_service_as_ctx(service));
	CHECK(doca_urom_service_destroy(service) == DOCA_SUCCESS);
	CHECK(num_inflight == 0 && fake_comms == NULL);
	CHECK(doca_pe_destroy(pe) == DOCA_SUCCESS);
}

static void begin_all(void)
{
	ending = false;
	num_inflight = 0;
	CHECK(doca_pe_create(&pe) == DOCA_SUCCESS && doca_urom_service_create(&service) == DOCA_SUCCESS);
	CHECK(doca_pe_connect_ctx(pe, doca_urom_service_as_ctx(service)) == DOCA_SUCCESS);
	CHECK(doca_urom_service_set_dev(service, dev) == DOCA_SUCCESS);
	for (int i = 0; i < WORKERS; i++) {
		CHECK(doca_urom_worker_create(&workers[i]) == DOCA_SUCCESS);
		CHECK(doca_pe_connect_ctx(pe, doca_urom_worker_as_ctx(workers[i])) == DOCA_SUCCESS);
		CHECK(doca_urom_worker_set_service(workers[i], service) == DOCA_SUCCESS);
		CHECK(doca_urom_worker_set_plugins(workers[i], 7) == DOCA_SUCCESS);
		CHECK(doca_urom_worker_set_max_inflight_tasks(workers[i], 4) == DOCA_SUCCESS);
	}
	CHECK(doca_urom_domain_create(&domain) == DOCA_SUCCESS);
	CHECK(doca_pe_connect_ctx(pe, doca_urom_domain_as_ctx(domain)) == DOCA_SUCCESS);
}

/* ---- once ---- */

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0 && chmod(path, 0600) == 0);
}

static void prepare(void)
{
	static const char word[] = "0123456789abcdef0123456789abcdef";
	char path[64], line[128], address[DOCA_DEVINFO_PCI_ADDR_SIZE];
	const char *folder = fuzz_folder_make();

	(void)doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_DISABLE);
	snprintf(path, sizeof(path), "%s/secret", folder);
	write_file(path, word);
	setenv("UROM_SECRET_FILE", path, 1);
	CHECK(urom_secret_read(path, &secret) == DOCA_SUCCESS);
	dev = test_dev_open(0);
	CHECK(dev != NULL && doca_devinfo_get_pci_addr_str(doca_dev_as_devinfo(dev), address) == DOCA_SUCCESS);
	snprintf(line, sizeof(line), "localhost dpu 127.0.0.1:1 %s lo\n", address);
	snprintf(path, sizeof(path), "%s/services", folder);
	write_file(path, line);
	setenv("DOCA_UROM_SERVICE_FILE", path, 1);
	CHECK(urom_graph_init(1, PLUGIN_VERSION(1)) == DOCA_SUCCESS && urom_sandbox_init(2, PLUGIN_VERSION(1)) == DOCA_SUCCESS &&
	      urom_rdmo_init(4, PLUGIN_VERSION(1)) == DOCA_SUCCESS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (dev == NULL)
		prepare();
	input = (struct fake_input){data, data + size};
	begin_all();
	while (input.at < input.end)
		act(fake_byte(&input));
	end_all();
	return 0;
}
