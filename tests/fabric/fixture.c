/* SPDX-License-Identifier: BSD-3-Clause */
/* The ends, messages and peers that the cases use. */
#include "conformance.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/wait.h"

#define ENDS_MAX 16
#define POLL_BUDGET 64

/* Per thread: an end belongs to the thread that opened it. */
static __thread struct end *ends[ENDS_MAX];
static __thread bool polling, submitting;
static __thread uint32_t sends_in_flight;
static _Atomic uint64_t completions;

void wait_step(uint64_t end_ms, const char *file, int line, const char *what)
{
	static __thread uint32_t num_idle;
	uint32_t ran = 0;

	for (int i = 0; i < ENDS_MAX; i++) {
		if (ends[i] != NULL)
			ran += end_poll(ends[i], POLL_BUDGET);
	}
	turn_end(&num_idle, ran != 0);
	if (ran == 0 && sf_now_ms() > end_ms)
		check_failed(file, line, "%s does not hold", what);
}

static struct end *end_of(const struct sf_ep *ep)
{
	for (int i = 0; i < ENDS_MAX; i++) {
		if (ends[i] != NULL && ends[i]->ep == ep)
			return ends[i];
	}
	check_failed(__FILE__, __LINE__, "a callback is about an endpoint of another thread");
}

static void data_keep(struct end *end, const void *data, size_t len)
{
	CHECK(polling);
	CHECK(len <= SF_PRIVATE_MAX);
	if (len != 0)
		memcpy(end->data, data, len);
	end->data_len = len;
}

static void on_request(struct sf_listener *listener, struct sf_request *request, const void *data, size_t len)
{
	struct end *end = end_of(listener->ep);

	data_keep(end, data, len);
	end->requests++;
	end->request = request;
	if (end->on_request != NULL)
		end->on_request(end);
}

static void on_accepted(struct sf_listener *listener, struct sf_conn *conn, const void *data, size_t len)
{
	struct end *end = end_of(listener->ep);

	CHECK(conn->ep == end->ep);
	CHECK(conn->state == SF_CONN_READY);
	data_keep(end, data, len);
	CHECK(end->accepts < CONNS_MAX);
	end->accepted[end->accepts++] = conn;
	if (end->on_accepted != NULL)
		end->on_accepted(end, conn);
}

static void on_connected(struct sf_conn *conn, doca_error_t status, const void *data, size_t len)
{
	struct end *end = end_of(conn->ep);

	CHECK(conn->state == (status == DOCA_SUCCESS ? SF_CONN_READY : SF_CONN_CLOSED));
	data_keep(end, data, len);
	end->connects++;
	end->connected = conn;
	end->connect_status = status;
	if (end->on_connected != NULL)
		end->on_connected(end, conn);
}

static void on_closed(struct sf_conn *conn, doca_error_t reason)
{
	struct end *end = end_of(conn->ep);

	CHECK(polling);
	CHECK(conn->state == SF_CONN_CLOSED);
	CHECK(reason == DOCA_ERROR_CONNECTION_RESET || reason == DOCA_ERROR_CONNECTION_ABORTED);
	end->closes++;
	end->closed = conn;
	end->close_reason = reason;
	if (end->on_closed != NULL)
		end->on_closed(end, conn);
}

static const struct sf_ep_handler handler = {on_request, on_accepted, on_connected, on_closed};

void end_open(struct end *end, const char *device, uint32_t recv_max)
{
	int i = 0;

	memset(end, 0, sizeof(*end));
	end->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	CHECK(end->event_fd >= 0);
	end->memory = mmap(NULL, END_MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(end->memory != MAP_FAILED);
	CHECK_OK(sf_domain_open(fabric, device, &end->domain));
	CHECK_OK(sf_region_register(end->domain, end->memory, END_MEMORY, ALL_RIGHTS, &end->region));
	CHECK_OK(sf_ep_open(end->domain, &handler, recv_max, end->event_fd, &end->ep));
	while (ends[i] != NULL)
		CHECK(++i < ENDS_MAX);
	ends[i] = end;
}

void end_listen(struct end *end, uint32_t flags)
{
	static _Atomic int num;

	snprintf(end->name, sizeof(end->name), "conformance/%d.%d", (int)getpid(), atomic_fetch_add(&num, 1));
	CHECK_OK(sf_listener_open(end->ep, end->name, flags, end, &end->listener));
	name_add(end->name, end->listener);
	CHECK(end->listener->user == end && end->listener->ep == end->ep);
}

uint32_t end_poll(struct end *end, uint32_t budget)
{
	uint32_t ran;

	CHECK(!polling);
	polling = true;
	ran = sf_ep_poll(end->ep, budget);
	polling = false;
	CHECK(ran <= budget);
	return ran;
}

void end_close(struct end *end)
{
	if (end->listener != NULL)
		sf_listener_close(end->listener);
	sf_ep_flush_recvs(end->ep);
	WAIT(end->posted == 0);
	sf_ep_close(end->ep);
	for (int i = 0; i < ENDS_MAX; i++) {
		if (ends[i] == end)
			ends[i] = NULL;
	}
	sf_region_close(end->region);
	sf_domain_close(end->domain);
	munmap(end->memory, END_MEMORY);
	close(end->event_fd);
}

struct sf_conn *end_connect(struct end *end, const char *name)
{
	struct sf_conn *conn;

	CHECK_OK(sf_conn_connect(end->ep, name, name_address(name), NULL, 0, NULL, &conn));
	CHECK(conn->state == SF_CONN_CONNECTING && conn->ep == end->ep);
	return conn;
}

void pair_open(struct pair *pair, uint32_t recv_max)
{
	end_open(&pair->a, "host0/0000:d8:00.0", recv_max);
	end_open(&pair->b, "dpu0/0000:03:00.0", recv_max);
	end_listen(&pair->b, SF_LISTEN_AUTO);
	pair->ab = end_connect(&pair->a, pair->b.name);
	WAIT(pair->a.connects == 1 && pair->b.accepts == 1);
	CHECK_OK(pair->a.connect_status);
	pair->ba = pair->b.accepted[0];
}

void pair_close(struct pair *pair)
{
	if (sends_in_flight != 0) {
		sf_conn_disconnect(pair->ab);
		sf_conn_disconnect(pair->ba);
		WAIT(sends_in_flight == 0);
	}
	sf_conn_close(pair->ab);
	sf_conn_close(pair->ba);
	end_close(&pair->a);
	end_close(&pair->b);
}

static void slot_done(struct sf_recv *recv)
{
	struct slot *slot = (struct slot *)recv;

	CHECK(polling && !submitting);
	slot->done++;
	slot->end->posted--;
	slot->order = atomic_fetch_add(&completions, 1);
	if (slot->then != NULL)
		slot->then(slot);
}

void slot_set(struct end *end, struct slot *slot, size_t offset, size_t len)
{
	memset(slot, 0, sizeof(*slot));
	slot->end = end;
	slot->pieces[0] = (struct sf_iov){end->memory + offset, len};
	slot->recv.iov = slot->pieces;
	slot->recv.iov_num = len != 0;
	slot->recv.region = len != 0 ? end->region : NULL;
	slot->recv.done = slot_done;
}

doca_error_t slot_post_set(struct slot *slot)
{
	doca_error_t result = sf_ep_post_recv(slot->end->ep, &slot->recv);

	slot->end->posted += result == DOCA_SUCCESS;
	return result;
}

doca_error_t slot_post(struct end *end, struct slot *slot, size_t offset, size_t len)
{
	slot_set(end, slot, offset, len);
	return slot_post_set(slot);
}

static void send_done(struct sf_op *op)
{
	struct send *send = (struct send *)op;

	CHECK(polling && !submitting);
	sends_in_flight--;
	send->done++;
	if (send->then != NULL)
		send->then(send);
}

void send_set(struct send *send, const void *data, size_t len)
{
	memset(send, 0, sizeof(*send));
	send->op.kind = SF_OP_SEND;
	send->op.done = send_done;
	send->op.iov = send->pieces;
	send->op.iov_num = len != 0;
	send->pieces[0] = (struct sf_iov){(void *)(uintptr_t)data, len};
}

void one_sided_set(struct send *send, enum sf_op_kind kind, struct sf_region *region, uint64_t remote, void *data, size_t len)
{
	send_set(send, data, len);
	send->op.kind = kind;
	send->op.region = region;
	send->op.remote_addr = remote;
}

doca_error_t submit(struct sf_conn *conn, struct send *send)
{
	doca_error_t result;

	send->done = 0;
	submitting = true;
	result = sf_conn_submit(conn, &send->op);
	submitting = false;
	sends_in_flight += result == DOCA_SUCCESS;
	return result;
}

doca_error_t submit_wait(struct sf_conn *conn, struct send *send)
{
	doca_error_t result;

	WAIT((result = submit(conn, send)) != DOCA_ERROR_AGAIN);
	if (result != DOCA_SUCCESS)
		return result;
	WAIT(send->done != 0);
	CHECK(send->op.conn == conn);
	return send->op.status;
}

void send_wait(struct sf_conn *conn, const void *data, size_t len)
{
	struct send send;

	send_set(&send, data, len);
	CHECK_OK(submit_wait(conn, &send));
}

struct sf_region *region_pass(struct sf_region *region, struct sf_domain *to)
{
	char descriptor[SF_DESCRIPTOR_MAX];
	size_t len = sizeof(descriptor);
	struct sf_region *import;

	CHECK_OK(sf_region_export(region, descriptor, &len));
	CHECK(len <= SF_DESCRIPTOR_MAX);
	CHECK_OK(sf_region_import(to, descriptor, len, &import));
	return import;
}

void fill(void *data, size_t len, uint32_t seed)
{
	uint8_t *byte = data;

	for (size_t i = 0; i < len; i++)
		byte[i] = (uint8_t)((i * 2654435761u + seed * 40503u) >> 13);
}

bool filled(const void *data, size_t len, uint32_t seed)
{
	const uint8_t *byte = data;

	for (size_t i = 0; i < len; i++) {
		if (byte[i] != (uint8_t)((i * 2654435761u + seed * 40503u) >> 13))
			return false;
	}
	return true;
}

uint32_t seed_new(void)
{
	const char *given = getenv("SOFTFIELD_TEST_SEED");
	uint32_t seed = given != NULL ? (uint32_t)strtoul(given, NULL, 0) : (uint32_t)sf_now_ms() * 2654435761u;

	fprintf(stderr, "seed %u\n", seed);
	return seed;
}

uint32_t random_below(uint32_t *state, uint32_t bound)
{
	*state = *state * 1664525u + 1013904223u;
	return (uint32_t)(((uint64_t)(*state >> 8) * bound) >> 24);
}

void peer_fork(struct peer *peer, void (*script)(int sock))
{
	static unsigned number;
	int socks[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks) == 0);
	fflush(NULL);
	number++;
	peer->pid = fork();
	CHECK(peer->pid >= 0);
	if (peer->pid != 0) {
		close(socks[1]);
		peer->sock = socks[0];
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(socks[0]);
	machine_enter(number);
	script(socks[1]);
	close(socks[1]);
	exit(0);
}

void peer_end(struct peer *peer)
{
	int status;
	pid_t reaped;

	WAIT((reaped = waitpid(peer->pid, &status, WNOHANG)) != 0);
	CHECK(reaped == peer->pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	close(peer->sock);
}

void peer_kill(struct peer *peer)
{
	CHECK(kill(peer->pid, SIGKILL) == 0);
	CHECK(waitpid(peer->pid, NULL, 0) == peer->pid);
	close(peer->sock);
}

void say(int sock, const void *data, size_t len)
{
	CHECK(send(sock, data, len, MSG_NOSIGNAL) == (ssize_t)len);
}

bool word_waits(int sock)
{
	struct pollfd fd = {.fd = sock, .events = POLLIN};

	return poll(&fd, 1, 0) == 1;
}

void hear(int sock, void *data, size_t len)
{
	char *at = data;
	ssize_t n;

	while (len != 0) {
		WAIT(word_waits(sock));
		n = recv(sock, at, len, 0);
		CHECK(n > 0); /* else the other side failed */
		at += n;
		len -= (size_t)n;
	}
}

void say_word(int sock, char word)
{
	say(sock, &word, 1);
}

void hear_word(int sock, char word)
{
	char heard;

	hear(sock, &heard, 1);
	CHECK(heard == word);
}

int mappings_num(void)
{
	FILE *file = fopen("/proc/self/maps", "re");
	int num = 0, c;

	CHECK(file != NULL);
	while ((c = getc(file)) != EOF)
		num += c == '\n';
	fclose(file);
	return num;
}
