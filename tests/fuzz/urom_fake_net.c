/* SPDX-License-Identifier: BSD-3-Clause */
#include "urom_fake_net.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/little.h"
#include "support/check.h"

#define HANDLERS 4
#define HISTORY 16 /* messages that may be repeated */
#define CUTS 64
#define REACH 4 /* bound of the reordering of puts and atomics */

enum kind { OP_MESSAGE, OP_PUT, OP_ATOMIC, OP_FLUSH };

struct op {
	TAILQ_ENTRY(op) next;
	enum kind kind;
	ucp_ep_h ep;
	ucp_request_param_t param;
	unsigned id;
	const void *head, *data;
	size_t head_len, len;
	uint64_t sum; /* bytes of head and data */
	uint64_t address;
	uint8_t key;
	ucp_atomic_op_t atomic;
	bool done; /* removed from its endpoint's list */
	ucs_status_t status;
};

struct message {
	TAILQ_ENTRY(message) next;
	uint64_t from, to, ep; /* number of the endpoint, among all that were ever created */
	unsigned id;
	bool reply;
	size_t head_len, len;
	uint8_t *head, *data;
};

struct landing {
	TAILQ_ENTRY(landing) next;
	uint64_t ep, address;
	uint8_t key;
	size_t len;
	uint8_t data[];
};

struct ucp_context {
	uint32_t num_workers;
};

struct ucp_worker {
	LIST_ENTRY(ucp_worker) next;
	ucp_context_h context;
	uint64_t uid;
	ucp_am_handler_param_t handlers[HANDLERS];
	LIST_HEAD(, ucp_ep) eps;
	struct op *flush; /* of all its endpoints */
};

struct ucp_ep {
	LIST_ENTRY(ucp_ep) next;
	ucp_worker_h worker;
	uint64_t peer, number;
	ucp_err_handler_t err_handler;
	bool failed, reported;
	bool unanswered; /* UCX does not detect its failure, but that of another one to the same peer */
	TAILQ_HEAD(ops, op) ops;
};

struct ucp_rkey {
	uint8_t key;
};

static struct fake_input *input;
static bool calm, honest;
static LIST_HEAD(, ucp_worker) workers;
static TAILQ_HEAD(messages, message) wire;
static TAILQ_HEAD(, landing) landings;
static struct message *history[HISTORY];
static uint64_t last_uid, last_ep;
static uint64_t cuts[CUTS][2]; /* pairs of workers that are disconnected; with 0: one and all others */
static uint32_t num_cuts;
static uint32_t num_requests, num_keys, num_contexts, num_arrived;

/* ---- messages ---- */

static uint8_t *copy_of(const void *data, size_t len)
{
	uint8_t *copy = (uint8_t *)malloc(len + 1); /* any alignment is valid */

	CHECK(copy != NULL);
	if (len != 0)
		memcpy(copy + 1, data, len);
	return copy;
}

static struct message *make_message(const struct message *like, const void *head, size_t head_len, const void *data, size_t len)
{
	struct message *message = (struct message *)malloc(sizeof(*message));

	CHECK(message != NULL);
	*message = *like;
	message->head_len = head_len;
	message->len = len;
	message->head = copy_of(head, head_len);
	message->data = copy_of(data, len);
	return message;
}

static void free_message(struct message *message)
{
	if (message == NULL)
		return;
	free(message->head);
	free(message->data);
	free(message);
}

static ucp_worker_h find_worker(uint64_t uid)
{
	ucp_worker_h worker;

	LIST_FOREACH (worker, &workers, next) {
		if (worker->uid == uid)
			return worker;
	}
	return NULL;
}

static void post(struct message *message)
{
	if (find_worker(message->to) != NULL)
		TAILQ_INSERT_TAIL(&wire, message, next);
	else
		free_message(message);
}

void fake_net_send(uint64_t from, uint64_t to, unsigned id, const void *head, size_t head_len, const void *data, size_t len)
{
	const struct message like = {.from = from, .to = to, .id = id, .reply = true};

	post(make_message(&like, head, head_len, data, len));
}

void fake_net_replay(void)
{
	const struct message *old = history[fake_byte(input) % HISTORY];

	if (old == NULL)
		return;
	struct message *message = make_message(old, old->head + 1, old->head_len, old->data + 1, old->len);
	message->ep = 0;
	message->head_len = fake_mutate(input, message->head + 1, old->head_len, old->head_len);
	message->len = fake_mutate(input, message->data + 1, old->len, old->len);
	struct message *shorter = make_message(message, message->head + 1, message->head_len, message->data + 1, message->len);
	free_message(message); /* a separate allocation, so that a read beyond the end is detected */
	post(shorter);
}

static ucp_ep_h make_ep(ucp_worker_h worker, uint64_t peer)
{
	ucp_ep_h ep = (ucp_ep_h)calloc(1, sizeof(*ep));

	CHECK(ep != NULL);
	ep->worker = worker;
	ep->peer = peer;
	ep->number = ++last_ep;
	TAILQ_INIT(&ep->ops);
	LIST_INSERT_HEAD(&worker->eps, ep, next);
	return ep;
}

/* For answers: UCX creates an endpoint if there is none. */
static ucp_ep_h reply_ep(ucp_worker_h worker, uint64_t peer)
{
	ucp_ep_h ep;

	LIST_FOREACH (ep, &worker->eps, next) {
		if (ep->peer == peer && !ep->failed)
			return ep;
	}
	return make_ep(worker, peer);
}

static void arrive(ucp_worker_h worker, struct message *message)
{
	const ucp_am_handler_param_t *handler = &worker->handlers[message->id % HANDLERS];
	ucp_am_recv_param_t param = {.recv_attr = 0};

	TAILQ_REMOVE(&wire, message, next);
	if (handler->cb != NULL) {
		if (message->reply) {
			param.recv_attr = UCP_AM_RECV_ATTR_FIELD_REPLY_EP;
			param.reply_ep = reply_ep(worker, message->from);
		}
		CHECK(handler->cb(handler->arg, message->head + 1, message->head_len, message->data + 1, message->len, &param) ==
		      UCS_OK);
	}
	struct message **slot = &history[num_arrived++ % HISTORY];
	free_message(*slot);
	*slot = message;
}

/* The first operation of some endpoint. */
static bool deliver(ucp_worker_h worker, uint8_t which)
{
	struct message *message, *first = NULL;
	uint64_t seen[8];
	uint32_t num_seen = 0;

	TAILQ_FOREACH (message, &wire, next) {
		uint32_t i = 0;

		while (i < num_seen && seen[i] != message->ep)
			i++;
		if (message->to != worker->uid || i < num_seen || num_seen == 8)
			continue;
		seen[num_seen++] = message->ep;
		if (first == NULL || num_seen == which % 8 + 1u)
			first = message;
	}
	if (first != NULL)
		arrive(worker, first);
	return first != NULL;
}

/* ---- memory ---- */

static bool land_first(uint64_t ep, bool any)
{
	struct landing *landing;

	TAILQ_FOREACH (landing, &landings, next) {
		if (any || landing->ep == ep)
			break;
	}
	if (landing == NULL)
		return false;
	memcpy(fake_net_memory(landing->key, landing->address, landing->data, landing->len), landing->data, landing->len);
	TAILQ_REMOVE(&landings, landing, next);
	free(landing);
	return true;
}

bool fake_net_land(void)
{
	uint8_t which = calm ? 0 : fake_byte(input) % 4;
	struct landing *landing = TAILQ_FIRST(&landings);

	for (; which != 0 && landing != NULL && TAILQ_NEXT(landing, next) != NULL; which--) /* in no order */
		landing = TAILQ_NEXT(landing, next);
	if (landing == NULL)
		return false;
	TAILQ_REMOVE(&landings, landing, next);
	TAILQ_INSERT_HEAD(&landings, landing, next);
	return land_first(0, true);
}

static void leave(const struct op *op)
{
	struct landing *landing = (struct landing *)malloc(sizeof(*landing) + op->len);

	CHECK(landing != NULL);
	*landing = (struct landing){.ep = op->ep->number, .address = op->address, .key = op->key, .len = op->len};
	memcpy(landing->data, op->data, op->len);
	TAILQ_INSERT_TAIL(&landings, landing, next);
}

static void change_word(const struct op *op)
{
	uint64_t *word = (uint64_t *)fake_net_memory(op->key, op->address, NULL, sizeof(*word)), operand, value, old;

	memcpy(&operand, op->data, sizeof(operand));
	memcpy(&value, op->param.reply_buffer, sizeof(value));
	old = *word;
	if (op->atomic == UCP_ATOMIC_OP_ADD)
		*word += operand;
	else if (old == operand)
		*word = value;
	memcpy(op->param.reply_buffer, &old, sizeof(old));
}

/* ---- operations ---- */

static uint64_t sum_of(const struct op *op)
{
	return sf_checksum(sf_checksum(SF_CHECKSUM_BEGIN, op->head, op->head_len), op->data, op->len);
}

/* The effect of the operation, if it succeeds. */
static void carry_out(const struct op *op)
{
	CHECK(sum_of(op) == op->sum || !honest); /* UCX owns it until it is done */
	if (op->kind == OP_MESSAGE) {
		const struct message like = {.from = op->ep->worker->uid,
					     .to = op->ep->peer,
					     .ep = op->ep->number,
					     .id = op->id,
					     .reply = (op->param.op_attr_mask & UCP_OP_ATTR_FIELD_FLAGS) != 0 &&
						      (op->param.flags & UCP_AM_SEND_FLAG_REPLY) != 0};

		post(make_message(&like, op->head, op->head_len, op->data, op->len));
	} else if (op->kind == OP_PUT) {
		leave(op);
	} else if (op->kind == OP_ATOMIC) {
		change_word(op);
	} else {
		while (land_first(op->ep->number, false))
			;
	}
}

static void end_op(struct op *op, ucs_status_t status)
{
	TAILQ_REMOVE(&op->ep->ops, op, next);
	if (status == UCS_OK)
		carry_out(op);
	op->done = true;
	op->status = status;
	if ((op->param.op_attr_mask & UCP_OP_ATTR_FIELD_CALLBACK) != 0)
		op->param.cb.send(op, status, op->param.user_data);
}

static bool may_end(const struct op *op)
{
	const struct op *before = op;
	bool in_order = op->kind == OP_MESSAGE || op->kind == OP_FLUSH;

	while (in_order && (before = TAILQ_PREV(before, ops, next)) != NULL) {
		if (op->kind == OP_FLUSH || before->kind == OP_MESSAGE)
			return false;
	}
	return true;
}

static bool end_some(ucp_ep_h ep, uint8_t which)
{
	struct op *op = TAILQ_FIRST(&ep->ops), *next;

	for (which %= REACH; which != 0 && op != NULL && (next = TAILQ_NEXT(op, next)) != NULL; which--)
		op = next;
	if (op == NULL)
		return false;
	end_op(may_end(op) ? op : TAILQ_FIRST(&ep->ops), UCS_OK);
	return true;
}

static ucs_status_ptr_t error(ucs_status_t status)
{
	return (ucs_status_ptr_t)(intptr_t)status;
}

static ucs_status_ptr_t begin(struct op wanted)
{
	uint8_t what = calm ? 255 : fake_byte(input);
	ucp_ep_h ep = wanted.ep;

	if (ep->failed && (ep->reported || wanted.kind != OP_FLUSH))
		return wanted.kind == OP_FLUSH ? NULL : error(UCS_ERR_CONNECTION_RESET); /* UCX has nothing to flush */
	wanted.sum = sum_of(&wanted);
	struct op *op = (struct op *)malloc(sizeof(*op));
	CHECK(op != NULL);
	*op = wanted;
	TAILQ_INSERT_TAIL(&ep->ops, op, next);
	bool at_once = op->kind == OP_FLUSH ? !ep->failed && TAILQ_FIRST(&ep->ops) == op && TAILQ_EMPTY(&landings)
					    : what < 96 && may_end(op);
	if (!at_once) {
		num_requests++;
		return op;
	}
	TAILQ_REMOVE(&ep->ops, op, next);
	carry_out(op);
	free(op);
	return NULL;
}

ucs_status_ptr_t ucp_am_send_nbx(ucp_ep_h ep, unsigned id, const void *header, size_t header_len, const void *buffer,
				 size_t count, const ucp_request_param_t *param)
{
	return begin((struct op){.kind = OP_MESSAGE,
				 .ep = ep,
				 .param = *param,
				 .id = id,
				 .head = header,
				 .head_len = header_len,
				 .data = buffer,
				 .len = count});
}

ucs_status_ptr_t ucp_put_nbx(ucp_ep_h ep, const void *buffer, size_t count, uint64_t address, ucp_rkey_h rkey,
			     const ucp_request_param_t *param)
{
	return begin((struct op){
		.kind = OP_PUT, .ep = ep, .param = *param, .data = buffer, .len = count, .address = address, .key = rkey->key});
}

ucs_status_ptr_t ucp_atomic_op_nbx(ucp_ep_h ep, ucp_atomic_op_t opcode, const void *buffer, size_t count, uint64_t address,
				   ucp_rkey_h rkey, const ucp_request_param_t *param)
{
	CHECK(count == 1 && address % sizeof(uint64_t) == 0);
	return begin((struct op){.kind = OP_ATOMIC,
				 .ep = ep,
				 .param = *param,
				 .data = buffer,
				 .len = sizeof(uint64_t),
				 .address = address,
				 .key = rkey->key,
				 .atomic = opcode});
}

ucs_status_ptr_t ucp_ep_flush_nbx(ucp_ep_h ep, const ucp_request_param_t *param)
{
	return begin((struct op){.kind = OP_FLUSH, .ep = ep, .param = *param});
}

void ucp_request_free(void *request)
{
	CHECK(((const struct op *)request)->done);
	num_requests--;
	free(request);
}

ucs_status_t ucp_request_check_status(void *request)
{
	const struct op *op = (const struct op *)request;

	return op->done ? op->status : UCS_INPROGRESS;
}

/* ---- endpoints ---- */

static void end_ops(ucp_ep_h ep, ucs_status_t status)
{
	while (!TAILQ_EMPTY(&ep->ops))
		end_op(TAILQ_FIRST(&ep->ops), status);
}

static bool is_cut(uint64_t one, uint64_t other)
{
	for (uint32_t i = 0; i < num_cuts; i++) {
		if ((cuts[i][0] == one && (cuts[i][1] == other || cuts[i][1] == 0)) ||
		    (cuts[i][0] == other && (cuts[i][1] == one || cuts[i][1] == 0)))
			return true;
	}
	return false;
}

ucs_status_t ucp_ep_create(ucp_worker_h worker, const ucp_ep_params_t *params, ucp_ep_h *ep)
{
	uint64_t uid;

	memcpy(&uid, params->address, sizeof(uid));
	*ep = make_ep(worker, uid);
	(*ep)->err_handler = params->err_handler;
	(*ep)->failed = find_worker(uid) == NULL || is_cut(worker->uid, uid); /* which is detected later */
	return UCS_OK;
}

/* As over shared memory, so that plugins watch their peers; they call this only for what they will watch. */
void ucp_ep_print_info(ucp_ep_h ep, FILE *stream)
{
	ep->unanswered = !calm && fake_byte(input) < 64;
	fprintf(stream, "endpoint %" PRIu64 ": keepalive\n", ep->number);
}

static void free_ep(ucp_ep_h ep, ucs_status_t status)
{
	end_ops(ep, status);
	LIST_REMOVE(ep, next);
	free(ep);
}

static void lose_messages(uint64_t ep)
{
	struct message *message, *next;

	for (message = TAILQ_FIRST(&wire); message != NULL; message = next) {
		next = TAILQ_NEXT(message, next);
		if (message->ep != ep)
			continue;
		TAILQ_REMOVE(&wire, message, next);
		free_message(message);
	}
}

static struct op *make_request(void)
{
	struct op *request = (struct op *)calloc(1, sizeof(*request));

	CHECK(request != NULL);
	num_requests++;
	return request;
}

/* By force. */
ucs_status_ptr_t ucp_ep_close_nbx(ucp_ep_h ep, const ucp_request_param_t *param)
{
	ucp_worker_h worker = ep->worker;

	if (!calm && fake_byte(input) < 64)
		lose_messages(ep->number);
	free_ep(ep, UCS_ERR_CANCELED);
	if (calm || worker->flush != NULL || fake_byte(input) < 128)
		return NULL;
	worker->flush = make_request(); /* progress, in which functions of others are called */
	return worker->flush;
}

static void fail_eps(ucp_worker_h worker, uint64_t peer)
{
	ucp_ep_h ep;

	LIST_FOREACH (ep, &worker->eps, next) {
		if (ep->peer == peer)
			ep->failed = true;
	}
}

/* All endpoints between the two. */
static void break_ep(ucp_ep_h ep)
{
	ucp_worker_h other = find_worker(ep->peer);

	fail_eps(ep->worker, ep->peer);
	if (other != NULL)
		fail_eps(other, ep->worker->uid);
}

void fake_net_break(bool for_good)
{
	uint8_t which = fake_byte(input), how = fake_byte(input);
	ucp_worker_h worker;
	ucp_ep_h ep;

	LIST_FOREACH (worker, &workers, next) {
		LIST_FOREACH (ep, &worker->eps, next) {
			if (ep->failed || which-- != 0)
				continue;
			if (how < 128)
				lose_messages(ep->number);
			if (for_good && num_cuts < CUTS) {
				cuts[num_cuts][0] = worker->uid;
				cuts[num_cuts++][1] = ep->peer;
			}
			break_ep(ep);
			return;
		}
	}
}

void fake_net_kill(uint64_t uid)
{
	ucp_worker_h worker;
	ucp_ep_h ep;

	CHECK(num_cuts < CUTS);
	cuts[num_cuts][0] = uid;
	cuts[num_cuts++][1] = 0;
	LIST_FOREACH (worker, &workers, next) {
		LIST_FOREACH (ep, &worker->eps, next) {
			if (worker->uid != uid && ep->peer != uid)
				continue;
			if (fake_byte(input) < 128)
				lose_messages(ep->number);
			ep->failed = true;
		}
	}
}

/* ---- progress ---- */

static bool ep_report_failure(ucp_ep_h ep)
{
	if (!ep->failed || ep->reported || ep->unanswered)
		return false;
	ep->reported = true;
	end_ops(ep, UCS_ERR_CONNECTION_RESET);
	if (ep->err_handler.cb != NULL)
		ep->err_handler.cb(ep->err_handler.arg, ep, UCS_ERR_CONNECTION_RESET);
	return true;
}

/* Does one pending thing of any kind. */
static bool do_any(ucp_worker_h worker)
{
	ucp_ep_h ep;

	LIST_FOREACH (ep, &worker->eps, next) {
		if (ep_report_failure(ep) || end_some(ep, 0))
			return true;
	}
	return deliver(worker, 0) || fake_net_land();
}

static bool do_some(ucp_worker_h worker, uint8_t what)
{
	uint8_t which = what / 8;
	ucp_ep_h ep = LIST_FIRST(&worker->eps);

	for (uint8_t i = which % 8; i != 0 && ep != NULL && LIST_NEXT(ep, next) != NULL; i--)
		ep = LIST_NEXT(ep, next);
	if (what % 8 < 2)
		return false;
	if (what % 8 < 4)
		return ep != NULL && (ep_report_failure(ep) || end_some(ep, which / 8));
	return what % 8 < 7 ? deliver(worker, which) : fake_net_land();
}

unsigned ucp_worker_progress(ucp_worker_h worker)
{
	bool all = calm || worker->flush != NULL;
	bool any = all ? do_any(worker) : do_some(worker, fake_byte(input));

	if (worker->flush != NULL && !any) {
		worker->flush->done = true;
		worker->flush = NULL;
	}
	return any;
}

ucs_status_ptr_t ucp_worker_flush_nbx(ucp_worker_h worker, const ucp_request_param_t *param)
{
	if (worker->flush != NULL)
		return NULL;
	worker->flush = make_request();
	return worker->flush;
}

/* ---- contexts, workers and keys ---- */

ucs_status_t ucp_init_version(unsigned major, unsigned minor, const ucp_params_t *params, const ucp_config_t *config,
			      ucp_context_h *context)
{
	*context = (ucp_context_h)calloc(1, sizeof(**context));
	CHECK(*context != NULL);
	num_contexts++;
	return UCS_OK;
}

void ucp_cleanup(ucp_context_h context)
{
	CHECK(context->num_workers == 0);
	num_contexts--;
	free(context);
}

ucs_status_t ucp_worker_create(ucp_context_h context, const ucp_worker_params_t *params, ucp_worker_h *worker)
{
	*worker = (ucp_worker_h)calloc(1, sizeof(**worker));
	CHECK(*worker != NULL);
	(*worker)->uid = ++last_uid;
	(*worker)->context = context;
	context->num_workers++;
	LIST_INSERT_HEAD(&workers, *worker, next);
	return UCS_OK;
}

void ucp_worker_destroy(ucp_worker_h worker)
{
	struct message *message, *next;

	CHECK(worker->flush == NULL);
	for (message = TAILQ_FIRST(&wire); message != NULL; message = next) {
		next = TAILQ_NEXT(message, next);
		if (message->to != worker->uid)
			continue;
		TAILQ_REMOVE(&wire, message, next);
		free_message(message);
	}
	while (!LIST_EMPTY(&worker->eps)) /* endpoints that were created for answers */
		free_ep(LIST_FIRST(&worker->eps), UCS_ERR_CANCELED);
	LIST_REMOVE(worker, next);
	worker->context->num_workers--;
	free(worker);
}

uint64_t fake_net_uid(ucp_worker_h worker)
{
	return worker->uid;
}

ucs_status_t ucp_worker_get_address(ucp_worker_h worker, ucp_address_t **address, size_t *len)
{
	uint8_t *bytes = (uint8_t *)calloc(1, FAKE_NET_ADDRESS_LEN);

	CHECK(bytes != NULL);
	memcpy(bytes, &worker->uid, sizeof(worker->uid));
	bytes[sizeof(worker->uid)] = FAKE_NET_ADDRESS_MARK;
	*address = (ucp_address_t *)bytes;
	*len = FAKE_NET_ADDRESS_LEN;
	return UCS_OK;
}

void ucp_worker_release_address(ucp_worker_h worker, ucp_address_t *address)
{
	free(address);
}

ucs_status_t ucp_worker_set_am_recv_handler(ucp_worker_h worker, const ucp_am_handler_param_t *param)
{
	CHECK(param->id < HANDLERS);
	worker->handlers[param->id] = *param;
	return UCS_OK;
}

ucs_status_t ucp_ep_rkey_unpack(ucp_ep_h ep, const void *packed, ucp_rkey_h *rkey)
{
	uint8_t key = ((const uint8_t *)packed)[0];

	if (key == 255)
		return UCS_ERR_INVALID_PARAM;
	*rkey = (ucp_rkey_h)malloc(sizeof(**rkey));
	CHECK(*rkey != NULL);
	(*rkey)->key = key;
	num_keys++;
	return UCS_OK;
}

void ucp_rkey_destroy(ucp_rkey_h rkey)
{
	num_keys--;
	free(rkey);
}

/* ---- the target's ---- */

void fake_net_begin(struct fake_input *from, bool is_honest)
{
	input = from;
	honest = is_honest;
	calm = false;
	LIST_INIT(&workers);
	TAILQ_INIT(&wire);
	TAILQ_INIT(&landings);
	last_uid = last_ep = 0;
	num_cuts = 0;
}

void fake_net_calm(void)
{
	calm = true;
}

bool fake_net_is_empty(void)
{
	while (land_first(0, true))
		;
	for (int i = 0; i < HISTORY; i++) {
		free_message(history[i]);
		history[i] = NULL;
	}
	num_arrived = 0;
	return LIST_EMPTY(&workers) && TAILQ_EMPTY(&wire) && num_requests == 0 && num_keys == 0 && num_contexts == 0;
}
