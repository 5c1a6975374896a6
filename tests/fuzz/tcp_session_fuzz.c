/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a peer may send in a session of the tcp provider: frames that are valid except for a field, or arbitrary bytes, in pieces
 * of any length, while operations of this side wait for answers. Only permitted memory is touched, and every receive and
 * operation ends once.
 */
#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fabric/shm/pages.h"
#include "fabric/shm/region.h"
#include "fabric/tcp/import.h"
#include "fabric/tcp/session.h"

#define RECVS 6
#define OPS 6
#define BUFFER 3000
#define REGION_LEN 20000
#define REGION_ID 77

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct receive {
	struct sf_recv recv;
	struct sf_iov iov[2];
	bool is_taken;
};

struct operation {
	struct sf_op op;
	struct sf_iov iov;
	uint8_t bytes[BUFFER];
	bool in_flight;
};

static struct receive receives[RECVS];
static struct operation operations[OPS];
static uint8_t memory[RECVS * BUFFER];
static uint8_t guarded[REGION_LEN + 64]; /* the region, and the bytes after it */
static uint32_t posted, entered, held;
static bool region_ended, may_wait;
static const struct sf_key token = {.bytes = {1, 2, 3}};
static struct sf_fabric_ops table = {.name = "tcp"};

/* ---- the process's one region ---- */

void *sf_shm_region_enter(uint64_t id, uint64_t addr, uint64_t len)
{
	if (id != REGION_ID || region_ended || !sf_range_inside(addr, len, (uintptr_t)guarded, REGION_LEN))
		return NULL;
	entered++;
	return (void *)(uintptr_t)addr;
}

void sf_shm_region_leave(uint64_t id)
{
	assert(id == REGION_ID && entered != 0);
	entered--;
}

void sf_pages_hold(void)
{
	held++;
}

void sf_pages_release(void)
{
	assert(held != 0);
	held--;
}

bool sf_shm_region_permits(uint64_t id, const struct sf_key *brought, uint64_t addr, uint64_t len, uint32_t right)
{
	(void)right;
	return id == REGION_ID && !region_ended && memcmp(brought, &token, sizeof(token)) == 0 &&
	       sf_range_inside(addr, len, (uintptr_t)guarded, REGION_LEN);
}

bool sf_shm_region_has_doorbell(uint64_t id)
{
	return id == REGION_ID;
}

void sf_tcp_import_target(const struct sf_region *region, struct tcp_target *target)
{
	(void)region;
	target->region = REGION_ID;
	target->token = token;
}

const struct sf_fabric_ops *sf_tcp_fabric_ops(void)
{
	return &table;
}

/* ---- the agent, which looks after connections by TCP ---- */

void sf_heartbeat_begin(struct sf_heartbeat *heartbeat, int fd, bool (*probe)(struct sf_heartbeat *heartbeat))
{
	(void)fd;
	heartbeat->probe = probe;
}

void sf_heartbeat_end(struct sf_heartbeat *heartbeat)
{
	assert(heartbeat->probe != NULL);
}

/* ---- the port ---- */

static doca_error_t claim_recv(struct tcp_session *session, uint64_t len, struct sf_recv **recv)
{
	struct receive *r = &receives[posted % RECVS];

	(void)session;
	if (posted == RECVS || r->is_taken)
		return DOCA_ERROR_AGAIN;
	if (len > r->iov[0].len + r->iov[1].len)
		return DOCA_ERROR_TOO_BIG;
	posted++;
	r->is_taken = true;
	*recv = &r->recv;
	return DOCA_SUCCESS;
}

static bool wait_for_receive(struct tcp_session *session)
{
	(void)session;
	return may_wait;
}

static void filled(struct tcp_session *session, struct sf_recv *recv)
{
	struct receive *r = (struct receive *)recv;

	(void)session;
	assert(r->is_taken && recv->len <= r->iov[0].len + r->iov[1].len && recv->header_len <= SF_HEADER_MAX);
	r->is_taken = false;
}

static void give_back(struct tcp_session *session, struct sf_recv *recv)
{
	struct receive *r = (struct receive *)recv;

	(void)session;
	assert(r->is_taken);
	r->is_taken = false;
}

static void list_receives(struct tcp_session *session, struct tcp_receives *list)
{
	(void)session;
	list->num = posted < RECVS;
	list->runs[0] = (struct tcp_run){.len = BUFFER, .num = RECVS - posted};
}

static void done(struct tcp_session *session, struct sf_op *op)
{
	struct operation *operation = (struct operation *)op;

	(void)session;
	assert(operation->in_flight);
	operation->in_flight = false;
}

static const struct tcp_session_ops session_ops = {.claim_recv = claim_recv,
						   .wait = wait_for_receive,
						   .filled = filled,
						   .give_back = give_back,
						   .receives = list_receives,
						   .done = done};

/* ---- the peer ---- */

struct input {
	const uint8_t *at;
	size_t left;
};

static uint32_t pick(struct input *input, uint32_t bound)
{
	uint32_t value = 0;

	for (int i = 0; i < 2 && input->left != 0; i++, input->left--)
		value = value << 8 | *input->at++;
	return value % bound;
}

/* What the peer had posted when the connection began: by a side of CONNECT or ACCEPT. */
static void set_room(struct tcp_session *session, struct input *input)
{
	struct tcp_side side = {.version = TCP_VERSION, .num = 1, .runs = {{BUFFER, 4}}};

	if (pick(input, 4) == 0) {
		side.num = (uint16_t)pick(input, TCP_SIDE_RUNS_MAX + 2);
		side.more = (uint16_t)pick(input, 2);
		for (uint32_t i = 0; i < TCP_SIDE_RUNS_MAX; i++)
			side.runs[i] = (struct tcp_run){.len = pick(input, 2 * BUFFER), .num = pick(input, 4) - 1};
	}
	if (sf_tcp_side_check(&side))
		sf_tcp_side_receives(&side, &session->room);
}

static void write_all(int fd, const void *bytes, size_t len)
{
	(void)!send(fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* A frame that fits the session, unless a choice says otherwise. */
static void say_frame(int fd, const struct tcp_session *session, struct input *input)
{
	uint8_t bytes[sizeof(struct tcp_head) + sizeof(struct tcp_receives) + SF_HEADER_MAX + 8192] = {0};
	struct tcp_head head = {.kind = (uint8_t)pick(input, TCP_BYE + 2), .seq = session->executed, .ack = session->first_seq};
	struct tcp_target target = {.region = REGION_ID, .token = token, .addr = (uintptr_t)guarded};
	uint32_t fixed;

	if (head.kind == TCP_SEND || head.kind == TCP_WRITE)
		head.header_len = (uint8_t)pick(input, SF_HEADER_MAX + 2);
	if (!tcp_is_request(head.kind))
		head.seq = session->first_seq;
	if (pick(input, 8) == 0)
		head.seq += pick(input, 5) - 2;
	if (pick(input, 3) == 0)
		head.ack += pick(input, 4);
	fixed = tcp_fixed_len(&head);
	head.len = fixed + (head.kind <= TCP_WRITE || head.kind == TCP_DATA ? pick(input, 8000) : 0);
	if (pick(input, 16) == 0)
		head.len = pick(input, 9000);
	target.addr += pick(input, REGION_LEN + 16);
	if (pick(input, 16) == 0)
		target.region++;
	memcpy(bytes, &head, sizeof(head));
	if (head.kind == TCP_RECEIVES) {
		const struct tcp_receives list = {
			.from = pick(input, 4), .num = (uint16_t)pick(input, TCP_RUNS_MAX + 2), .runs = {{BUFFER, 3}}};

		memcpy(bytes + sizeof(head), &list, sizeof(list));
	} else {
		struct tcp_read read = {.target = target, .len = pick(input, 9000)};

		memcpy(bytes + sizeof(head), &read, sizeof(read));
	}
	write_all(fd, bytes, sizeof(head) + (head.len < sizeof(bytes) - sizeof(head) ? head.len : sizeof(bytes) - sizeof(head)));
}

static void submit(struct tcp_session *session, struct input *input)
{
	struct operation *operation = &operations[pick(input, OPS)];
	static struct sf_region region;
	const uint32_t kind = pick(input, SF_OP_FAA + 1);

	if (operation->in_flight)
		return;
	operation->iov = (struct sf_iov){operation->bytes, kind >= SF_OP_CAS ? 8 : pick(input, BUFFER)};
	operation->op = (struct sf_op){
		.kind = (enum sf_op_kind)kind, .iov = &operation->iov, .iov_num = 1, .region = &region, .remote_addr = 64};
	operation->in_flight = true; /* the submit may complete it if the session ends there */
	if (sf_tcp_session_submit(session, &operation->op, operation->iov.len) != DOCA_SUCCESS)
		operation->in_flight = false;
}

static void drain(int fd)
{
	static uint8_t away[65536];

	while (recv(fd, away, sizeof(away), MSG_DONTWAIT) > 0)
		;
}

static void step(struct tcp_session *session, int fd, struct input *input)
{
	const struct sf_msg alive = sf_msg_head(SF_MSG_ALIVE, sizeof(alive), 0);

	switch (pick(input, 8)) {
	case 0:
		write_all(fd, input->at, input->left < 64 ? input->left : 64);
		if (pick(input, 2) == 0)
			write_all(fd, &alive, sizeof(alive));
		break;
	case 1:
		submit(session, input);
		break;
	case 2:
		drain(fd);
		if (pick(input, 2) == 0)
			(void)sf_tcp_session_probe(session);
		break;
	case 3:
		region_ended = pick(input, 4) == 0;
		may_wait = pick(input, 2) == 0;
		if (pick(input, 4) == 0)
			sf_tcp_session_wait_end(session);
		break;
	case 4:
		session->credits_due = true;
		posted = 0;
		break;
	default:
		say_frame(fd, session, input);
		break;
	}
	(void)sf_tcp_session_receive(session);
	session->changed_num = 0;
	sf_tcp_session_send(session);
	assert(entered == 0 && held == 0 && (may_wait || !session->is_waiting));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct tcp_session session;
	struct input input = {data, size};
	int fds[2];

	memset(&session, 0, offsetof(struct tcp_session, answers));
	memset(receives, 0, sizeof(receives));
	memset(guarded + REGION_LEN, 0xa5, sizeof(guarded) - REGION_LEN);
	posted = 0;
	region_ended = may_wait = false;
	for (uint32_t i = 0; i < RECVS; i++) {
		receives[i].iov[0] = (struct sf_iov){memory + i * BUFFER, BUFFER / 3};
		receives[i].iov[1] = (struct sf_iov){memory + i * BUFFER + BUFFER / 3, BUFFER - BUFFER / 3};
		receives[i].recv.iov = receives[i].iov;
		receives[i].recv.iov_num = 2;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) != 0)
		return 0;
	sf_tcp_session_begin(&session, &session_ops, (struct sf_stream){.fd = fds[0]});
	set_room(&session, &input);
	for (int i = 0; i < 64 && input.left != 0; i++)
		step(&session, fds[1], &input);
	sf_tcp_session_end(&session, DOCA_ERROR_CONNECTION_ABORTED);
	close(fds[1]);
	for (uint32_t i = 0; i < RECVS; i++)
		assert(!receives[i].is_taken);
	for (uint32_t i = 0; i < OPS; i++)
		assert(!operations[i].in_flight);
	for (size_t i = REGION_LEN; i < sizeof(guarded); i++)
		assert(guarded[i] == 0xa5);
	return 0;
}
