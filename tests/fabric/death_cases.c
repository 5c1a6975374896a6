/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers that are killed or stopped. */
#include "conformance.h"
#include "needs.h"
#include "support/stop.h"
#include "support/wait.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define OTHER SF_CAP_OTHER_PROCESS
#define OTHER_SIDED (SF_CAP_OTHER_PROCESS | SF_CAP_ONE_SIDED)

#define BLOCKED_MS 900 /* a call that takes longer and yielded the CPU has waited for another process */

static void meet(struct end *end, int sock, struct sf_conn **conn, uint32_t recv_max)
{
	end_open(end, "dpu0/0000:03:00.0", recv_max);
	end_listen(end, SF_LISTEN_AUTO);
	say_name(sock, end->name);
	WAIT(end->accepts == 1);
	*conn = end->accepted[0];
}

static struct sf_conn *reach(struct end *end, struct peer *peer)
{
	char name[SF_NAME_MAX];
	uint32_t connects = end->connects;
	struct sf_conn *conn;

	hear_name(peer->sock, name);
	conn = end_connect(end, name);
	WAIT(end->connects == connects + 1);
	CHECK_OK(end->connect_status);
	return conn;
}

static void idle_script(int sock)
{
	struct sf_conn *conn;
	struct end end;

	meet(&end, sock, &conn, 16);
	say_word(sock, 'i');
	WAIT_WITHIN(3600000, end.closes == 1);
}

static void killed_while_idle(void)
{
	struct slot slot;
	struct send send;
	struct sf_conn *conn;
	struct peer peer;
	struct end end;

	peer_fork(&peer, idle_script);
	end_open(&end, "host0/0000:d8:00.0", 16);
	CHECK_OK(slot_post(&end, &slot, 0, 64));
	conn = reach(&end, &peer);
	hear_word(peer.sock, 'i');
	peer_kill(&peer);
	WAIT(end.closes == 1);
	CHECK(end.closed == conn);
	CHECK_RESULT(end.close_reason, DOCA_ERROR_CONNECTION_ABORTED);
	send_set(&send, "x", 1);
	CHECK_RESULT(submit(conn, &send), DOCA_ERROR_NOT_CONNECTED);
	CHECK(slot.done == 0); /* the receive belongs to the endpoint, not to the connection */
	sf_conn_close(conn);
	end_close(&end);
}

static void killed_while_we_sleep(void)
{
	struct sf_conn *conn;
	struct peer peer;
	struct end end;
	struct pollfd wait;
	uint64_t killed, count;

	peer_fork(&peer, idle_script);
	end_open(&end, "host0/0000:d8:00.0", 16);
	conn = reach(&end, &peer);
	hear_word(peer.sock, 'i');
	peer_kill(&peer);
	killed = sf_now_ms();
	while (end.closes == 0) {
		if (end_poll(&end, 16) != 0 || sf_ep_arm(end.ep))
			continue;
		CHECK(sf_now_ms() - killed < WAIT_MS);
		wait = (struct pollfd){.fd = end.event_fd, .events = POLLIN};
		CHECK(poll(&wait, 1, (int)(killed + WAIT_MS - sf_now_ms())) == 1);
		CHECK(read(end.event_fd, &count, sizeof(count)) == sizeof(count));
	}
	sf_conn_close(conn);
	end_close(&end);
}

static void stream_script(int sock)
{
	static struct slot slots[16];
	static struct send sends[16];
	struct sf_conn *conn;
	struct end end;
	uint64_t n = 0, got = 0;

	meet(&end, sock, &conn, 16);
	for (uint32_t i = 0; i < 16; i++)
		CHECK_OK(slot_post(&end, &slots[i], i * 70000, 70000));
	for (int i = 0; i < 16; i++)
		sends[i].done = 1;
	say_word(sock, 's');
	for (;;) { /* until killed */
		struct send *send = &sends[n % 16];
		char *data = end.memory + (8 << 20) + (n % 16) * 70000;

		if (send->done == 1) {
			size_t len = n % 7 == 0 ? 70000 : 8 + n % 100;

			fill(data, len, (uint32_t)n);
			memcpy(data, &n, 8);
			send_set(send, data, len);
			if (submit(conn, send) == DOCA_SUCCESS)
				n++;
			else
				send->done = 1;
		}
		end_poll(&end, 4);
		if (slots[got % 16].done == 1) {
			CHECK_OK(slot_post(&end, &slots[got % 16], (got % 16) * 70000, 70000));
			got++;
		}
	}
}

struct streaming {
	struct end end;
	struct slot slots[16];
	uint64_t next; /* number of the next message */
};

static struct streaming streaming;

static void streaming_received(struct slot *slot)
{
	uint64_t number;

	if (slot->recv.status != DOCA_SUCCESS)
		return; /* the peer died while it filled this receive */
	memcpy(&number, slot->pieces[0].addr, 8);
	CHECK(number == streaming.next++);
	CHECK(slot->recv.len == (number % 7 == 0 ? 70000 : 8 + number % 100));
	fill(slot->pieces[0].addr, 8, (uint32_t)number);
	CHECK(filled(slot->pieces[0].addr, slot->recv.len, (uint32_t)number));
	CHECK_OK(slot_post_set(slot));
}

static void kill_one_streaming_peer(uint32_t *seed)
{
	struct sf_conn *conn;
	struct peer peer;
	struct send sends[4] = {0};
	uint32_t closes = streaming.end.closes;
	uint64_t until;

	peer_fork(&peer, stream_script);
	end_open(&streaming.end, "host0/0000:d8:00.0", 16);
	for (uint32_t i = 0; i < 16; i++) {
		slot_set(&streaming.end, &streaming.slots[i], i * 70000, 70000);
		streaming.slots[i].then = streaming_received;
		CHECK_OK(slot_post_set(&streaming.slots[i]));
	}
	conn = reach(&streaming.end, &peer);
	until = sf_now_ms() + random_below(seed, 40);
	for (int i = 0; i < 4; i++)
		sends[i].done = 1;
	for (uint64_t i = 0; sf_now_ms() < until || streaming.next < 10; i++) {
		struct send *send = &sends[i % 4];

		if (send->done == 1) {
			send_set(send, streaming.end.memory + (8 << 20), i % 5 == 0 ? 70000 : 32);
			if (submit(conn, send) != DOCA_SUCCESS)
				send->done = 1;
		}
		end_poll(&streaming.end, 8);
	}
	peer_kill(&peer);
	WAIT(streaming.end.closes == closes + 1);
	CHECK_RESULT(streaming.end.close_reason, DOCA_ERROR_CONNECTION_ABORTED);
	for (int i = 0; i < 4; i++)
		CHECK(sends[i].done == 1); /* before the closed callback runs */
	sf_conn_close(conn);
}

static void killed_while_streaming_once(void)
{
	uint32_t seed = seed_new() ^ (uint32_t)getpid();
	uint32_t returned;

	memset(&streaming, 0, sizeof(streaming));
	kill_one_streaming_peer(&seed);
	/* Every receive is returned, also one that the dead peer was filling. */
	returned = streaming.end.posted;
	for (int i = 0; i < 16; i++)
		streaming.slots[i].then = NULL;
	sf_ep_flush_recvs(streaming.end.ep);
	WAIT(streaming.end.posted == 0);
	CHECK(returned <= 16);
	for (int i = 0; i < 16; i++)
		CHECK(slot_post_set(&streaming.slots[i]) == DOCA_SUCCESS);
	end_close(&streaming.end);
}

/* Each round runs in a process of its own: a peer must not be forked from one that has the provider's threads. */
static void killed_while_streaming(void)
{
	for (int i = 0; i < 8; i++) {
		int status;
		pid_t child;

		fflush(NULL);
		child = fork();
		CHECK(child >= 0);
		if (child == 0) {
			killed_while_streaming_once();
			exit(0);
		}
		CHECK(waitpid(child, &status, 0) == child);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
}

static void survivors_script(int sock)
{
	struct sf_conn *conn;
	struct slot slot;
	struct end end;

	meet(&end, sock, &conn, 16);
	while (end.closes == 0) {
		CHECK_OK(slot_post(&end, &slot, 0, 64));
		WAIT_WITHIN(3600000, slot.done == 1 || end.closes == 1);
		if (slot.done == 1)
			send_wait(conn, end.memory, slot.recv.len);
	}
	sf_conn_close(conn);
	end_close(&end);
}

static void a_death_ends_only_the_dead_peers_connections(void)
{
	struct sf_conn *conns[2];
	struct peer peers[2];
	struct slot slot;
	struct end end;

	peer_fork(&peers[0], survivors_script);
	peer_fork(&peers[1], survivors_script);
	end_open(&end, "host0/0000:d8:00.0", 16);
	conns[0] = reach(&end, &peers[0]);
	conns[1] = reach(&end, &peers[1]);
	peer_kill(&peers[0]);
	for (uint32_t i = 0; i < 1000 || end.closes == 0; i++) {
		CHECK_OK(slot_post(&end, &slot, 0, 64));
		send_wait(conns[1], "ping", 5);
		WAIT(slot.done == 1);
		CHECK_OK(slot.recv.status);
		CHECK(slot.recv.conn == conns[1]);
	}
	CHECK(end.closes == 1 && end.closed == conns[0]);
	sf_conn_close(conns[0]);
	sf_conn_close(conns[1]);
	peer_end(&peers[1]);
	end_close(&end);
}

static void named_script(int sock)
{
	struct sf_listener *listener;
	char name[SF_NAME_MAX];
	struct end end;

	hear(sock, name, sizeof(name));
	end_open(&end, "dpu0/0000:03:00.0", 16);
	CHECK_OK(sf_listener_open(end.ep, name, SF_LISTEN_AUTO, NULL, &listener));
	say_word(sock, 'l');
	WAIT_WITHIN(3600000, false);
}

static void a_dead_processes_name_is_taken_over(void)
{
	struct sf_listener *listener;
	char name[SF_NAME_MAX] = {0};
	struct peer peers[2];
	struct sf_conn *conn;
	struct end end;

	snprintf(name, sizeof(name), "conformance/named %d", (int)getpid());
	peer_fork(&peers[0], named_script);
	peer_fork(&peers[1], named_script);
	say(peers[0].sock, name, sizeof(name));
	hear_word(peers[0].sock, 'l');
	end_open(&end, "host0/0000:d8:00.0", 16);
	CHECK_RESULT(sf_listener_open(end.ep, name, 0, NULL, &listener), DOCA_ERROR_ALREADY_EXIST);
	peer_kill(&peers[0]);
	conn = end_connect(&end, name); /* no process has the name */
	WAIT(end.connects == 1);
	CHECK_RESULT(end.connect_status, DOCA_ERROR_NOT_FOUND);
	sf_conn_close(conn);
	say(peers[1].sock, name, sizeof(name)); /* a restarted server */
	hear_word(peers[1].sock, 'l');
	conn = end_connect(&end, name);
	WAIT(end.connects == 2);
	CHECK_OK(end.connect_status);
	peer_kill(&peers[1]);
	WAIT(end.closes == 1);
	CHECK_OK(sf_listener_open(end.ep, name, 0, NULL, &listener));
	sf_listener_close(listener);
	sf_conn_close(conn);
	end_close(&end);
}

static void silent_script(int sock)
{
	struct end end;

	end_open(&end, "dpu0/0000:03:00.0", 16);
	end_listen(&end, 0);
	say_name(sock, end.name);
	WAIT_WITHIN(3600000, false);
}

static void killed_before_it_answers_a_request(void)
{
	char name[SF_NAME_MAX];
	struct sf_conn *conn;
	struct peer peer;
	struct end end;

	peer_fork(&peer, silent_script);
	hear_name(peer.sock, name);
	end_open(&end, "host0/0000:d8:00.0", 16);
	conn = end_connect(&end, name);
	for (int i = 0; i < 100; i++)
		end_poll(&end, 4);
	CHECK(end.connects == 0);
	peer_kill(&peer);
	WAIT(end.connects == 1);
	CHECK(end.connect_status == DOCA_ERROR_CONNECTION_ABORTED || end.connect_status == DOCA_ERROR_NOT_FOUND);
	sf_conn_close(conn);
	end_close(&end);
}

static void exporting_script(int sock)
{
	char descriptor[SF_DESCRIPTOR_MAX] = {0};
	size_t len = sizeof(descriptor);
	struct sf_conn *conn;
	struct end end;

	meet(&end, sock, &conn, 16);
	fill(end.memory, 1 << 20, 1);
	CHECK_OK(sf_region_export(end.region, descriptor, &len));
	say(sock, &len, sizeof(len));
	say(sock, descriptor, sizeof(descriptor));
	hear_word(sock, 'c');
	CHECK(filled(end.memory, 1 << 20, 2));
	WAIT(end.closes == 1);
	sf_conn_close(conn);
	end_close(&end);
}

static struct sf_region *import_heard(struct peer *peer, struct end *end, char *descriptor, size_t *len)
{
	struct sf_region *import;

	hear(peer->sock, len, sizeof(*len));
	hear(peer->sock, descriptor, SF_DESCRIPTOR_MAX);
	CHECK_OK(sf_region_import(end->domain, descriptor, *len, &import));
	return import;
}

static void owner_of_a_region_killed(void)
{
	char descriptor[SF_DESCRIPTOR_MAX];
	struct sf_region *import, *again;
	struct sf_conn *conn;
	struct peer peer;
	struct send send;
	struct end end;
	doca_error_t result;
	size_t len;

	peer_fork(&peer, exporting_script);
	end_open(&end, "host0/0000:d8:00.0", 16);
	conn = reach(&end, &peer);
	import = import_heard(&peer, &end, descriptor, &len);
	peer_kill(&peer);
	/* Operations are still accepted, have no effect, and fail once the death is known. */
	do {
		one_sided_set(&send, SF_OP_READ, import, import->addr + 4096, end.memory, 100000);
		result = submit(conn, &send);
		CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_AGAIN || result == DOCA_ERROR_NOT_CONNECTED);
		if (result == DOCA_SUCCESS)
			WAIT(send.done == 1);
		end_poll(&end, 16);
	} while (end.closes == 0);
	CHECK_RESULT(submit(conn, &send), DOCA_ERROR_NOT_CONNECTED);
	CHECK_RESULT(sf_region_import(end.domain, descriptor, len, &again), DOCA_ERROR_NOT_FOUND);
	sf_region_close(import);
	sf_conn_close(conn);
	end_close(&end);
}

static void importing_script(int sock)
{
	char descriptor[SF_DESCRIPTOR_MAX];
	struct sf_region *import;
	struct sf_conn *conn;
	struct send send;
	struct end end;
	size_t len;

	meet(&end, sock, &conn, 16);
	hear(sock, &len, sizeof(len));
	hear(sock, descriptor, sizeof(descriptor));
	CHECK_OK(sf_region_import(end.domain, descriptor, len, &import));
	say_word(sock, 'i');
	for (;;) { /* until killed */
		fill(end.memory, 300000, 9);
		one_sided_set(&send, SF_OP_WRITE, import, import->addr + 100, end.memory, 300000);
		CHECK_OK(submit_wait(conn, &send));
	}
}

static void importer_killed_while_it_writes(void)
{
	char descriptor[SF_DESCRIPTOR_MAX] = {0};
	size_t len = sizeof(descriptor);
	struct sf_region *region;
	struct sf_conn *conn;
	struct peer peer;
	struct end end;
	uint64_t begun;

	peer_fork(&peer, importing_script);
	end_open(&end, "host0/0000:d8:00.0", 16);
	conn = reach(&end, &peer);
	CHECK_OK(sf_region_register(end.domain, end.memory, 1 << 20, ALL_RIGHTS, &region));
	CHECK_OK(sf_region_export(region, descriptor, &len));
	say(peer.sock, &len, sizeof(len));
	say(peer.sock, descriptor, sizeof(descriptor));
	hear_word(peer.sock, 'i');
	WAIT(((volatile char *)end.memory)[1000] != 0);
	peer_kill(&peer);
	begun = sf_now_ms();
	sf_region_close(region);
	CHECK(sf_now_ms() - begun < WAIT_MS);
	fill(end.memory, 1 << 20, 4);
	CHECK(filled(end.memory, 1 << 20, 4));
	WAIT(end.closes == 1);
	sf_conn_close(conn);
	end_close(&end);
}

static void receiving_script(int sock)
{
	static struct slot slots[16];
	struct sf_conn *conn;
	struct end end;
	uint32_t received = 0, total;

	meet(&end, sock, &conn, 16);
	for (uint32_t i = 0; i < 16; i++)
		CHECK_OK(slot_post(&end, &slots[i], i * 70000, 70000));
	say_word(sock, 'p');
	hear(sock, &total, sizeof(total));
	while (received < total) {
		struct slot *slot = &slots[received % 16];

		WAIT(slot->done == 1);
		CHECK_OK(slot->recv.status);
		CHECK(filled(slot->pieces[0].addr, slot->recv.len, received));
		CHECK_OK(slot_post(&end, slot, (received % 16) * 70000, 70000));
		received++;
	}
	say_word(sock, 'd');
	WAIT(end.closes == 1);
	sf_conn_close(conn);
	end_close(&end);
}

static long waits(void)
{
	struct rusage usage;

	CHECK(getrusage(RUSAGE_THREAD, &usage) == 0);
	return usage.ru_nvcsw;
}

static void a_stopped_peer_never_blocks_us(void)
{
	static struct send sends[64];
	struct sf_conn *conn;
	uint32_t sent = 0, total = 40, finished = 0;
	uint64_t until;
	struct peer peer;
	struct end end;

	if ((fabric->caps & (SF_CAP_OTHER_MACHINE | SF_CAP_UNATTENDED)) == SF_CAP_OTHER_MACHINE)
		needs_tcp_info();
	peer_fork(&peer, receiving_script);
	end_open(&end, "host0/0000:d8:00.0", 16);
	conn = reach(&end, &peer);
	hear_word(peer.sock, 'p');
	process_stop(peer.pid);
	until = sf_now_ms() +
		1500; /* longer than the second after which a silent dead peer is noticed: a stopped peer is not dead */
	while (sf_now_ms() < until || (sent < 16 && sf_now_ms() < until + WAIT_MS)) {
		uint64_t begun = sf_now_ms();
		long waited = waits();
		size_t len = sent % 3 == 0 ? 70000 : 100;

		if (sent < total) {
			fill(end.memory + sent * 70000, len, sent);
			send_set(&sends[sent], end.memory + sent * 70000, len);
			sent += submit(conn, &sends[sent]) == DOCA_SUCCESS;
		}
		end_poll(&end, 16);
		(void)sf_ep_arm(end.ep);
		CHECK(sf_now_ms() - begun < BLOCKED_MS || waits() == waited);
	}
	CHECK(sent >= 16 && sent < total); /* all of its receives were used while it was stopped */
	for (uint32_t i = 0; i < sent; i++)
		finished += sends[i].done == 1 && sends[i].op.status == DOCA_SUCCESS;
	CHECK((finished == sent || (fabric->caps & SF_CAP_UNATTENDED) == 0) && end.closes == 0);
	CHECK(kill(peer.pid, SIGCONT) == 0);
	say(peer.sock, &total, sizeof(total));
	for (; sent < total; sent++) {
		fill(end.memory + sent * 70000, 500, sent);
		send_wait(conn, end.memory + sent * 70000, 500);
	}
	hear_word(peer.sock, 'd');
	sf_conn_close(conn);
	peer_end(&peer);
	end_close(&end);
}

static void a_stopped_owners_memory_is_reached(void)
{
	char descriptor[SF_DESCRIPTOR_MAX];
	struct sf_region *import;
	struct sf_conn *conn;
	struct peer peer;
	struct send send;
	struct end end;
	uint64_t old;
	size_t len;

	peer_fork(&peer, exporting_script);
	end_open(&end, "host0/0000:d8:00.0", 16);
	conn = reach(&end, &peer);
	import = import_heard(&peer, &end, descriptor, &len);
	process_stop(peer.pid);
	one_sided_set(&send, SF_OP_READ, import, import->addr, end.memory, 1 << 20);
	CHECK_OK(submit_wait(conn, &send));
	CHECK(filled(end.memory, 1 << 20, 1));
	fill(end.memory, 1 << 20, 2);
	one_sided_set(&send, SF_OP_WRITE, import, import->addr, end.memory, 1 << 20);
	CHECK_OK(submit_wait(conn, &send));
	if ((fabric->caps & SF_CAP_ATOMIC) != 0) {
		one_sided_set(&send, SF_OP_FAA, import, import->addr + (2 << 20), &old, 8);
		send.op.value = 1;
		CHECK_OK(submit_wait(conn, &send));
		CHECK(old == 0);
	}
	CHECK(kill(peer.pid, SIGCONT) == 0);
	say_word(peer.sock, 'c');
	sf_region_close(import);
	sf_conn_close(conn);
	peer_end(&peer);
	end_close(&end);
}

static void stopped_then_killed(void)
{
	struct sf_conn *conn;
	struct peer peer;
	struct end end;

	peer_fork(&peer, idle_script);
	end_open(&end, "host0/0000:d8:00.0", 16);
	conn = reach(&end, &peer);
	hear_word(peer.sock, 'i');
	process_stop(peer.pid);
	peer_kill(&peer);
	WAIT(end.closes == 1);
	CHECK_RESULT(end.close_reason, DOCA_ERROR_CONNECTION_ABORTED);
	sf_conn_close(conn);
	end_close(&end);
}

/* ---- a slow process ends a connection to a slow peer ---- */

#define STOP_NS 1300000000 /* longer than the end of a connection waits for a silent peer */
#define POLLS 100

static void left_script(int sock)
{
	struct sf_conn *conn;
	struct slot slot;
	struct end end;

	end_open(&end, "dpu0/0000:03:00.0", 4);
	end_listen(&end, SF_LISTEN_AUTO);
	CHECK_OK(slot_post(&end, &slot, 0, 64));
	say_name(sock, end.name);
	WAIT(end.accepts == 1);
	conn = end.accepted[0];
	say_word(sock, 'a');
	WAIT(end.closes == 1);
	CHECK_RESULT(end.close_reason, DOCA_ERROR_CONNECTION_RESET);
	CHECK(slot.done == 1);
	sf_conn_close(conn);
	end_close(&end);
}

static void leaver_script(int sock)
{
	char name[SF_NAME_MAX];
	struct sf_conn *conn;
	struct send send;
	struct end end;

	hear_name(sock, name);
	end_open(&end, "host0/0000:d8:00.0", 4);
	conn = end_connect(&end, name);
	WAIT(end.connects == 1);
	CHECK_OK(end.connect_status);
	say_word(sock, 'c');
	hear_word(sock, 'l');
	send_set(&send, "bye", 3);
	CHECK_OK(submit(conn, &send));
	sf_conn_disconnect(conn);
	say_word(sock, 's');
	hear_word(sock, 'p'); /* this process was stopped meanwhile */
	for (int i = 0; i < POLLS; i++)
		end_poll(&end, 4);
	say_word(sock, 'p');
	WAIT(send.done == 1);
	sf_conn_close(conn);
	end_close(&end);
}

/* The time for which the leaver itself was stopped does not count as silence of the peer. */
static void stopped_while_it_leaves(void)
{
	struct peer left, leaver;
	char name[SF_NAME_MAX];

	peer_fork(&left, left_script);
	peer_fork(&leaver, leaver_script);
	hear_name(left.sock, name);
	say_name(leaver.sock, name);
	hear_word(left.sock, 'a');
	hear_word(leaver.sock, 'c');
	process_stop(left.pid);
	say_word(leaver.sock, 'l');
	hear_word(leaver.sock, 's');
	process_stop(leaver.pid);
	time_pass_ns(STOP_NS);
	CHECK(kill(leaver.pid, SIGCONT) == 0);
	say_word(leaver.sock, 'p');
	hear_word(leaver.sock, 'p');
	CHECK(kill(left.pid, SIGCONT) == 0);
	peer_end(&left);
	peer_end(&leaver);
}

const struct conformance_case death_cases[] = {
	CASE(killed_while_idle, OTHER),
	CASE(killed_while_we_sleep, OTHER),
	CASE(killed_while_streaming, OTHER),
	CASE(a_death_ends_only_the_dead_peers_connections, OTHER),
	CASE(a_dead_processes_name_is_taken_over, OTHER | ONE_MACHINE),
	CASE(killed_before_it_answers_a_request, OTHER),
	CASE(owner_of_a_region_killed, OTHER_SIDED),
	CASE(importer_killed_while_it_writes, OTHER_SIDED),
	CASE(a_stopped_peer_never_blocks_us, OTHER),
	CASE(a_stopped_owners_memory_is_reached, OTHER_SIDED | SF_CAP_UNATTENDED),
	CASE(stopped_then_killed, OTHER),
	CASE(stopped_while_it_leaves, OTHER),
	{0},
};
