/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases with two processes. The scripts run in the forked peer. */
#include "conformance.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define OTHER SF_CAP_OTHER_PROCESS
#define OTHER_SIDED (SF_CAP_OTHER_PROCESS | SF_CAP_ONE_SIDED)

/* Opens the peer's end and lets the case connect to it. */
static void serve(struct end *end, int sock, uint32_t recv_max)
{
	end_open(end, "dpu0/0000:03:00.0", recv_max);
	end_listen(end, SF_LISTEN_AUTO);
	say_name(sock, end->name);
}

static struct sf_conn *reach(struct end *end, struct peer *peer, uint32_t recv_max)
{
	char name[SF_NAME_MAX];
	struct sf_conn *conn;

	hear_name(peer->sock, name);
	end_open(end, "host0/0000:d8:00.0", recv_max);
	conn = end_connect(end, name);
	WAIT(end->connects == 1);
	CHECK_OK(end->connect_status);
	return conn;
}

static void echo_script(int sock)
{
	static struct slot slots[4];
	static struct end end;
	uint32_t next = 0;

	CHECK(chdir("/") == 0);
	serve(&end, sock, 4);
	for (uint32_t i = 0; i < 4; i++)
		CHECK_OK(slot_post(&end, &slots[i], i * 4000000, 4000000));
	while (end.closes == 0) {
		struct slot *slot = &slots[next % 4];

		WAIT(slot->done == 1 || end.closes == 1);
		if (slot->done == 0)
			continue;
		send_wait(slot->recv.conn, slot->pieces[0].addr, slot->recv.len);
		CHECK_OK(slot_post(&end, slot, (next % 4) * 4000000, 4000000));
		next++;
	}
	CHECK_RESULT(end.close_reason, DOCA_ERROR_CONNECTION_RESET);
	sf_conn_close(end.accepted[0]);
	end_close(&end);
}

static void messages_between_processes(void)
{
	static const size_t sizes[] = {0, 1, 8, 48, 64, 100, 4096, 5000, 65536, 300001, 4000000};
	struct sf_conn *conn;
	struct peer peer;
	struct slot slot;
	struct end end;

	peer_fork(&peer, echo_script);
	conn = reach(&end, &peer, 4);
	for (uint32_t round = 0; round < 100; round++) {
		size_t size = sizes[round % 11];

		fill(end.memory, size, round);
		CHECK_OK(slot_post(&end, &slot, 8000001, size));
		send_wait(conn, end.memory, size);
		WAIT(slot.done == 1);
		CHECK(slot.recv.len == size && filled(end.memory + 8000001, size, round));
	}
	/* from several pieces of memory that is not registered */
	char *heap = malloc(100000);
	struct send send;

	fill(heap, 100000, 5);
	CHECK_OK(slot_post(&end, &slot, 3, 200000));
	send_set(&send, heap, 33333);
	send.pieces[1] = (struct sf_iov){heap + 33333, 66667};
	send.op.iov_num = 2;
	CHECK_OK(submit_wait(conn, &send));
	WAIT(slot.done == 1);
	CHECK(slot.recv.len == 100000 && filled(end.memory + 3, 100000, 5));
	free(heap);
	sf_conn_close(conn);
	end_close(&end);
	peer_end(&peer);
}

static void region_script(int sock)
{
	char descriptor[SF_DESCRIPTOR_MAX] = {0};
	size_t len = sizeof(descriptor);
	struct sf_region *region;
	struct end end;

	serve(&end, sock, 4);
	fill(end.memory, 100000, 1);
	CHECK_OK(sf_region_register(end.domain, end.memory + 200, 100000 - 200, ALL_RIGHTS, &region));
	CHECK_OK(sf_region_export(region, descriptor, &len));
	say(sock, &len, sizeof(len));
	say(sock, descriptor, sizeof(descriptor));
	hear_word(sock, 'w');
	CHECK(filled(end.memory + 300, 50000, 2));
	CHECK(memcmp(end.memory + 50300, (char[8]){0x2b, 0, 0, 0, 0, 0, 0, 0}, 8) == 0);
	sf_region_close(region);
	say_word(sock, 'c');
	hear_word(sock, 'z');
	CHECK(filled(end.memory + 300, 50000, 2)); /* writes after the end of the region had no effect */
	WAIT(end.closes == 1);
	sf_conn_close(end.accepted[0]);
	end_close(&end);
}

static struct sf_region *import_heard(struct peer *peer, struct end *end)
{
	char descriptor[SF_DESCRIPTOR_MAX];
	struct sf_region *import;
	size_t len;

	hear(peer->sock, &len, sizeof(len));
	hear(peer->sock, descriptor, sizeof(descriptor));
	CHECK_OK(sf_region_import(end->domain, descriptor, len, &import));
	return import;
}

static void one_sided_between_processes(void)
{
	struct sf_region *import;
	struct sf_conn *conn;
	struct peer peer;
	struct send send;
	struct end end;
	uint64_t old;

	peer_fork(&peer, region_script);
	conn = reach(&end, &peer, 4);
	import = import_heard(&peer, &end);
	one_sided_set(&send, SF_OP_READ, import, import->addr, end.memory + 200, 100000 - 200);
	CHECK_OK(submit_wait(conn, &send));
	fill(end.memory, 200, 1);
	CHECK(filled(end.memory, 100000, 1));
	fill(end.memory + 1, 50000, 2);
	one_sided_set(&send, SF_OP_WRITE, import, import->addr + 100, end.memory + 1, 50000);
	CHECK_OK(submit_wait(conn, &send));
	memset(end.memory, 0, 8);
	one_sided_set(&send, SF_OP_WRITE, import, import->addr + 50100, end.memory, 8);
	CHECK_OK(submit_wait(conn, &send));
	if ((fabric->caps & SF_CAP_ATOMIC) != 0 && (import->addr + 50100) % 8 == 4) {
		one_sided_set(&send, SF_OP_FAA, import, import->addr + 50100, &old, 8);
		CHECK_RESULT(submit(conn, &send), DOCA_ERROR_INVALID_VALUE);
	}
	end.memory[0] = 0x2b;
	one_sided_set(&send, SF_OP_WRITE, import, import->addr + 50100, end.memory, 8);
	CHECK_OK(submit_wait(conn, &send));
	say_word(peer.sock, 'w');
	hear_word(peer.sock, 'c');
	one_sided_set(&send, SF_OP_WRITE, import, import->addr + 5000, end.memory + 7, 30000);
	CHECK_RESULT(submit_wait(conn, &send), DOCA_ERROR_CONNECTION_ABORTED);
	sf_region_close(import);
	say_word(peer.sock, 'z');
	sf_conn_close(conn);
	peer_end(&peer);
	end_close(&end);
}

static void map_script(int sock)
{
	char descriptor[SF_DESCRIPTOR_MAX] = {0};
	struct sf_region *regions[2];
	struct end end;

	serve(&end, sock, 4);
	fill(end.memory, 65536, 3);
	for (uint32_t i = 0; i < 2; i++) {
		size_t len = sizeof(descriptor);

		CHECK_OK(sf_region_register(end.domain, end.memory + i * 65536, 65536, i == 0 ? SF_RIGHT_READ : ALL_RIGHTS,
					    &regions[i]));
		CHECK_OK(sf_region_export(regions[i], descriptor, &len));
		say(sock, &len, sizeof(len));
		say(sock, descriptor, sizeof(descriptor));
	}
	hear_word(sock, 'm');
	CHECK(end.memory[65536 + 5] == 'w');
	CHECK(filled(end.memory, 65536, 3));
	sf_region_close(regions[1]);
	end.memory[65536 + 5] = 'o';
	say_word(sock, 'c');
	hear_word(sock, 'z');
	CHECK(end.memory[65536 + 5] == 'o'); /* the mapping does not reach the region any more */
	sf_region_close(regions[0]);
	WAIT(end.closes == 1);
	sf_conn_close(end.accepted[0]);
	end_close(&end);
}

static void mappings_are_as_wide_as_the_rights(void)
{
	struct sf_region *readable, *writable;
	struct sf_conn *conn;
	struct peer peer;
	struct end end;
	void *addr = NULL;
	int status;
	pid_t child;

	peer_fork(&peer, map_script);
	conn = reach(&end, &peer, 4);
	readable = import_heard(&peer, &end);
	writable = import_heard(&peer, &end);
	CHECK_OK(sf_region_map(writable, &addr));
	((volatile char *)addr)[5] = 'w';
	CHECK_OK(sf_region_map(readable, &addr));
	CHECK(filled(addr, 65536, 3));
	child = fork();
	if (child == 0) {
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		((volatile char *)addr)[5] = 'x'; /* read-only: the kernel ends the child */
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFSIGNALED(status));
	say_word(peer.sock, 'm');
	hear_word(peer.sock, 'c');
	CHECK_OK(sf_region_map(writable, &addr));
	((volatile char *)addr)[5] = 'z';
	say_word(peer.sock, 'z');
	sf_region_close(readable);
	sf_region_close(writable);
	sf_conn_close(conn);
	peer_end(&peer);
	end_close(&end);
}

static void counting_script(int sock)
{
	char descriptor[SF_DESCRIPTOR_MAX] = {0};
	size_t len = sizeof(descriptor);
	_Atomic uint64_t *word;
	struct end end;

	serve(&end, sock, 4);
	word = (_Atomic uint64_t *)(end.memory + 4096);
	CHECK_OK(sf_region_export(end.region, descriptor, &len));
	say(sock, &len, sizeof(len));
	say(sock, descriptor, sizeof(descriptor));
	hear_word(sock, 'g');
	for (uint32_t i = 0; i < 1000000; i++)
		atomic_fetch_add(word, 3);
	hear_word(sock, 'd');
	CHECK(atomic_load(word) == 3000000 + 5 * (uint64_t)rounds_of(20000));
	CHECK(atomic_load(word + 1) == 1000);
	WAIT(end.closes == 1);
	sf_conn_close(end.accepted[0]);
	end_close(&end);
}

static void atomics_agree_across_processes(void)
{
	struct sf_region *import;
	struct sf_conn *conn;
	struct peer peer;
	struct send send;
	struct end end;
	uint64_t old, seen = 0;

	peer_fork(&peer, counting_script);
	conn = reach(&end, &peer, 4);
	import = import_heard(&peer, &end);
	say_word(peer.sock, 'g');
	for (uint32_t i = 0, rounds = rounds_of(20000); i < rounds; i++) {
		one_sided_set(&send, SF_OP_FAA, import, import->addr + 4096, &old, 8);
		send.op.value = 5;
		CHECK_OK(submit_wait(conn, &send));
		CHECK(i == 0 || old >= seen + 5);
		seen = old;
	}
	for (uint64_t i = 0; i < 1000; i++) {
		one_sided_set(&send, SF_OP_CAS, import, import->addr + 4104, &old, 8);
		send.op.compare = i;
		send.op.value = i + 1;
		CHECK_OK(submit_wait(conn, &send));
		CHECK(old == i);
	}
	say_word(peer.sock, 'd');
	sf_region_close(import);
	sf_conn_close(conn);
	peer_end(&peer);
	end_close(&end);
}

static void listening_script(int sock)
{
	struct end end;

	serve(&end, sock, 4);
	hear_word(sock, 'q');
	end_close(&end);
}

static void a_name_in_use_by_another_process_is_rejected(void)
{
	struct sf_listener *listener;
	char name[SF_NAME_MAX];
	struct peer peer;
	struct end end;

	peer_fork(&peer, listening_script);
	hear_name(peer.sock, name);
	end_open(&end, "dpu0/0000:03:00.0", 4);
	CHECK_RESULT(sf_listener_open(end.ep, name, 0, NULL, &listener), DOCA_ERROR_ALREADY_EXIST);
	say_word(peer.sock, 'q');
	peer_end(&peer);
	CHECK_OK(sf_listener_open(end.ep, name, 0, NULL, &listener));
	sf_listener_close(listener);
	end_close(&end);
}

static void reject_script(int sock)
{
	struct end end;

	end_open(&end, "dpu0/0000:03:00.0", 4);
	end_listen(&end, 0);
	say_name(sock, end.name);
	WAIT(end.requests == 1);
	CHECK(end.data_len == 5 && memcmp(end.data, "hello", 5) == 0);
	sf_conn_reject(end.listener, end.request, "full", 4);
	WAIT(end.requests == 2);
	CHECK_OK(sf_conn_accept(end.listener, end.request, "come in", 7, NULL, &end.accepted[0]));
	WAIT(end.closes == 1);
	sf_conn_close(end.accepted[0]);
	end_close(&end);
}

static void requests_between_processes(void)
{
	struct sf_conn *conn;
	char name[SF_NAME_MAX];
	struct peer peer;
	struct end end;

	peer_fork(&peer, reject_script);
	hear_name(peer.sock, name);
	end_open(&end, "host0/0000:d8:00.0", 4);
	CHECK_OK(sf_conn_connect(end.ep, name, name_address(name), "hello", 5, NULL, &conn));
	WAIT(end.connects == 1);
	CHECK_RESULT(end.connect_status, DOCA_ERROR_CONNECTION_ABORTED);
	CHECK(end.data_len == 4 && memcmp(end.data, "full", 4) == 0);
	sf_conn_close(conn);
	conn = end_connect(&end, name);
	WAIT(end.connects == 2);
	CHECK_OK(end.connect_status);
	CHECK(end.data_len == 7 && memcmp(end.data, "come in", 7) == 0);
	sf_conn_close(conn);
	peer_end(&peer);
	end_close(&end);
}

static void leaving_script(int sock)
{
	struct send send;
	struct end end;
	uint32_t i;

	serve(&end, sock, 4);
	WAIT(end.accepts == 1);
	hear_word(sock, 'g');
	for (i = 0; i < 64; i++) {
		fill(end.memory, 10000, i);
		send_set(&send, end.memory, 10000);
		CHECK_OK(submit_wait(end.accepted[0], &send));
	}
	sf_conn_close(end.accepted[0]);
	end_close(&end);
}

static void a_peer_that_leaves_has_sent_everything(void)
{
	static struct slot slots[64];
	struct sf_conn *conn;
	struct peer peer;
	struct end end;

	peer_fork(&peer, leaving_script);
	conn = reach(&end, &peer, 64);
	for (uint32_t i = 0; i < 64; i++)
		CHECK_OK(slot_post(&end, &slots[i], i * 10000, 10000));
	say_word(peer.sock, 'g');
	CHECK(waitpid(peer.pid, NULL, 0) == peer.pid); /* this process has not polled since */
	WAIT(end.closes == 1);
	CHECK_RESULT(end.close_reason, DOCA_ERROR_CONNECTION_RESET);
	for (uint32_t i = 0; i < 64; i++) {
		CHECK(slots[i].done == 1 && slots[i].recv.len == 10000);
		CHECK(filled(end.memory + i * 10000, 10000, i));
	}
	sf_conn_close(conn);
	end_close(&end);
}

const struct conformance_case process_cases[] = {
	CASE(messages_between_processes, OTHER),
	CASE(requests_between_processes, OTHER),
	CASE(one_sided_between_processes, OTHER_SIDED),
	CASE(mappings_are_as_wide_as_the_rights, OTHER_SIDED | SF_CAP_MAP),
	CASE(atomics_agree_across_processes, OTHER_SIDED | SF_CAP_ATOMIC | SF_CAP_ATOMIC_CPU),
	CASE(a_name_in_use_by_another_process_is_rejected, OTHER | ONE_MACHINE),
	CASE(a_peer_that_leaves_has_sent_everything, OTHER),
	{0},
};
