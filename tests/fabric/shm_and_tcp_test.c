/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One endpoint with peers of two providers: one in the same runtime folder, by shm, and one with a folder of its own, as on
 * another machine, by TCP. Both use the endpoint's posted receives.
 */
#include "forked_case.h"

#include <ftw.h>
#include <sys/stat.h>

#define RECVS 16u
#define MESSAGES 400u /* of each peer, with RECVS receives between them */
#define LEN 200u

enum { NEAR, FAR, PEERS }; /* by shm, by TCP */

static const char *const provider_names[] = {"shm", "tcp"};
static char folder[] = "/tmp/softfield-test-XXXXXX"; /* the key, and the runtime folder of the far peer */

/* ---- processes ---- */

static void path_of(char path[64], const char *name)
{
	CHECK(snprintf(path, 64, "%s/%s", folder, name) < 64);
}

static void folder_make(void)
{
	char path[64];
	FILE *key;

	CHECK(mkdtemp(folder) != NULL);
	path_of(path, "far");
	CHECK(mkdir(path, 0700) == 0);
	path_of(path, "key");
	key = fopen(path, "wx");
	CHECK(key != NULL && fchmod(fileno(key), 0600) == 0);
	for (int i = 0; i < 32; i++)
		fprintf(key, "%02x", (unsigned)i);
	CHECK(fclose(key) == 0);
}

static int entry_remove(const char *path, const struct stat *status, int kind, struct FTW *at)
{
	(void)status;
	(void)kind;
	(void)at;
	return remove(path);
}

static void folder_remove(void)
{
	(void)nftw(folder, entry_remove, 8, FTW_DEPTH | FTW_PHYS);
}

/* A process of a node with an address, whose domains connect by both providers. */
static void node_join(void)
{
	const struct sf_fabric_node self = {.name = "host0", .address = "127.0.0.1"};
	char path[64];
	const struct sf_fabric_key key = {.path = path};

	path_of(path, "key");
	CHECK_OK(sf_fabric_join(&self, NULL, 0, &key));
}

/* The endpoint that has both peers, and their scripts' sockets. */
struct hub {
	struct end end;
	struct peer peers[PEERS];
	struct sf_conn *conns[PEERS];
	struct slot slots[MESSAGES];
};

static struct hub hub;

/* A peer, which has connected to the hub. */
struct spoke {
	struct end end;
	struct sf_conn *conn;
	uint8_t out[LEN];
};

static void spoke_open(struct spoke *spoke, int sock, uint32_t kind)
{
	char name[SF_NAME_MAX], address[SF_ADDRESS_MAX], path[64];

	path_of(path, "far");
	if (kind == FAR)
		CHECK(setenv("SOFTFIELD_RUNTIME", path, 1) == 0);
	node_join();
	end_open(&spoke->end, "dpu0/0000:03:00.0", RECVS);
	hear(sock, name, sizeof(name));
	hear(sock, address, sizeof(address));
	CHECK_OK(sf_conn_connect(spoke->end.ep, name, address, NULL, 0, NULL, &spoke->conn));
	WAIT(spoke->end.connects == 1);
	CHECK_OK(spoke->end.connect_status);
	CHECK(strcmp(spoke->conn->ops->name, provider_names[kind]) == 0);
}

static void spoke_close(struct spoke *spoke)
{
	sf_conn_disconnect(spoke->conn);
	sf_conn_close(spoke->conn);
	end_close(&spoke->end);
}

static void hub_open(void (*near)(int sock), void (*far)(int sock))
{
	char address[SF_ADDRESS_MAX];

	folder_make();
	peer_fork(&hub.peers[NEAR], near);
	peer_fork(&hub.peers[FAR], far);
	node_join();
	end_open(&hub.end, "host0/0000:d8:00.0", MESSAGES);
	end_listen(&hub.end, SF_LISTEN_AUTO);
	CHECK_OK(sf_listener_address(hub.end.listener, address));
	CHECK(address[0] != '\0');
	for (uint32_t kind = 0; kind < PEERS; kind++) {
		say(hub.peers[kind].sock, hub.end.name, SF_NAME_MAX);
		say(hub.peers[kind].sock, address, SF_ADDRESS_MAX);
		WAIT(hub.end.accepts == kind + 1);
		hub.conns[kind] = hub.end.accepted[kind];
		CHECK(strcmp(hub.conns[kind]->ops->name, provider_names[kind]) == 0);
	}
}

static void hub_close(void)
{
	WAIT(hub.end.closes == PEERS);
	for (uint32_t kind = 0; kind < PEERS; kind++)
		sf_conn_close(hub.conns[kind]);
	end_close(&hub.end);
	folder_remove();
}

static void hub_post(uint32_t first, uint32_t num)
{
	for (uint32_t i = first; i < first + num; i++)
		CHECK_OK(slot_post(&hub.end, &hub.slots[i], i * (size_t)LEN, LEN));
}

static uint32_t seed_of(uint32_t kind, uint32_t number)
{
	return number * PEERS + kind;
}

static void expect_message(const struct slot *slot, uint32_t kind, uint32_t number)
{
	CHECK(slot->done == 1);
	CHECK_OK(slot->recv.status);
	CHECK(slot->recv.conn == hub.conns[kind] && slot->recv.len == LEN);
	CHECK(filled(slot->pieces[0].addr, LEN, seed_of(kind, number)));
}

/* ---- one message after the other ---- */

/* Sends its next message for each 's', until an 'e'. */
static void turns_script(int sock, uint32_t kind)
{
	struct spoke spoke;
	char word;

	spoke_open(&spoke, sock, kind);
	for (uint32_t i = 0;; i++) {
		hear(sock, &word, 1);
		if (word == 'e')
			break;
		fill(spoke.out, LEN, seed_of(kind, i));
		send_wait(spoke.conn, spoke.out, LEN);
		say_word(sock, 'd');
	}
	spoke_close(&spoke);
}

static void near_turns(int sock)
{
	turns_script(sock, NEAR);
}

static void far_turns(int sock)
{
	turns_script(sock, FAR);
}

static void peers_end(void)
{
	for (uint32_t kind = 0; kind < PEERS; kind++)
		say_word(hub.peers[kind].sock, 'e');
	for (uint32_t kind = 0; kind < PEERS; kind++)
		peer_end(&hub.peers[kind]);
}

/* The peer's message number `number` takes the receive `slot`. */
static void turn(uint32_t kind, uint32_t number, uint32_t slot)
{
	say_word(hub.peers[kind].sock, 's');
	WAIT(hub.slots[slot].done == 1);
	hear_word(hub.peers[kind].sock, 'd');
	expect_message(&hub.slots[slot], kind, number);
}

static void receives_posted_once_take_messages_of_both_as_they_arrive(void)
{
	uint32_t sent[PEERS] = {0}, seed = seed_new();

	hub_open(near_turns, far_turns);
	hub_post(0, 4 * RECVS);
	for (uint32_t i = 0; i < 4 * RECVS; i++) {
		const uint32_t kind = random_below(&seed, PEERS);

		turn(kind, sent[kind]++, i);
	}
	peers_end();
	hub_close();
}

/* ---- many messages in flight ---- */

static void stream_script(int sock, uint32_t kind)
{
	struct spoke spoke;

	spoke_open(&spoke, sock, kind);
	hear_word(sock, 's');
	for (uint32_t i = 0; i < MESSAGES; i++) {
		fill(spoke.out, LEN, seed_of(kind, i));
		send_wait(spoke.conn, spoke.out, LEN);
	}
	hear_word(sock, 'e');
	spoke_close(&spoke);
}

static void near_stream(int sock)
{
	stream_script(sock, NEAR);
}

static void far_stream(int sock)
{
	stream_script(sock, FAR);
}

static uint32_t num_arrived[PEERS];

static void stream_arrived(struct slot *slot)
{
	const uint32_t kind = slot->recv.conn == hub.conns[FAR] ? FAR : NEAR;

	expect_message(slot, kind, num_arrived[kind]++);
	slot->done = 0;
	CHECK_OK(slot_post_set(slot));
}

static void two_streams_share_few_receives_and_each_keeps_its_order(void)
{
	hub_open(near_stream, far_stream);
	hub_post(0, RECVS);
	for (uint32_t i = 0; i < RECVS; i++)
		hub.slots[i].then = stream_arrived;
	for (uint32_t kind = 0; kind < PEERS; kind++)
		say_word(hub.peers[kind].sock, 's');
	WAIT(num_arrived[NEAR] == MESSAGES && num_arrived[FAR] == MESSAGES);
	for (uint32_t i = 0; i < RECVS; i++)
		hub.slots[i].then = NULL;
	peers_end();
	hub_close();
}

/* ---- credits ---- */

/* For each 'a' checks that a submit returns AGAIN; for each 's' sends a message, which may wait for a receive; until an 'e'. */
static void credits_script(int sock, uint32_t kind)
{
	struct spoke spoke;
	struct send send;
	uint32_t sent = 0;
	char word;

	spoke_open(&spoke, sock, kind);
	for (hear(sock, &word, 1); word != 'e'; hear(sock, &word, 1)) {
		fill(spoke.out, LEN, seed_of(kind, sent));
		if (word == 'a') {
			send_set(&send, spoke.out, LEN);
			CHECK_RESULT(submit(spoke.conn, &send), DOCA_ERROR_AGAIN);
		} else {
			send_wait(spoke.conn, spoke.out, LEN);
			sent++;
		}
		say_word(sock, 'd');
	}
	spoke_close(&spoke);
}

static void near_credits(int sock)
{
	credits_script(sock, NEAR);
}

static void far_credits(int sock)
{
	credits_script(sock, FAR);
}

static void expect_again(uint32_t kind)
{
	say_word(hub.peers[kind].sock, 'a');
	hear_word(hub.peers[kind].sock, 'd');
}

static void without_a_receive_both_get_again_and_a_new_one_serves_either(void)
{
	uint32_t sent[PEERS] = {0}, posted = 0;

	hub_open(near_credits, far_credits);
	expect_again(NEAR);
	expect_again(FAR);
	for (uint32_t kind = 0; kind < PEERS; kind++) {
		/* This peer uses all of them. The other one, which saw them too, then waits for the next one. */
		hub_post(posted, 3);
		for (uint32_t i = 0; i < 3; i++)
			turn(kind, sent[kind]++, posted++);
		expect_again(kind);
		say_word(hub.peers[!kind].sock, 's');
		hub_post(posted, 1);
		WAIT(hub.slots[posted].done == 1);
		hear_word(hub.peers[!kind].sock, 'd');
		expect_message(&hub.slots[posted++], !kind, sent[!kind]++);
	}
	peers_end();
	hub_close();
}

/* ---- death ---- */

static void the_death_of_one_leaves_the_other_and_the_receives(uint32_t dead)
{
	const uint32_t alive = !dead;
	struct sf_conn *lost;

	hub_open(near_turns, far_turns);
	hub_post(0, RECVS);
	turn(dead, 0, 0);
	turn(alive, 0, 1);
	lost = hub.conns[dead];
	peer_kill(&hub.peers[dead]);
	turn(alive, 1, 2); /* before or after the hub knows */
	WAIT(hub.end.closes == 1);
	CHECK(hub.end.closed == lost && lost->state == SF_CONN_CLOSED);
	CHECK_RESULT(hub.end.close_reason, DOCA_ERROR_CONNECTION_ABORTED);
	CHECK(hub.conns[alive]->state == SF_CONN_READY);
	for (uint32_t i = 3; i < RECVS; i++)
		turn(alive, i - 1, i);
	say_word(hub.peers[alive].sock, 'e');
	peer_end(&hub.peers[alive]);
	hub_close();
}

static void the_death_of_the_near_peer_leaves_the_far_one(void)
{
	the_death_of_one_leaves_the_other_and_the_receives(NEAR);
}

static void the_death_of_the_far_peer_leaves_the_near_one(void)
{
	the_death_of_one_leaves_the_other_and_the_receives(FAR);
}

/* ---- the other direction, and memory ---- */

/* Listens, receives a message from the hub, and writes its answer into the hub's memory, at its own place. */
static void called_script(int sock, uint32_t kind)
{
	char path[64], address[SF_ADDRESS_MAX], descriptor[SF_DESCRIPTOR_MAX];
	struct sf_region *import;
	struct send send;
	struct slot slot;
	uint64_t remote;
	struct end end;
	size_t len;

	path_of(path, "far");
	if (kind == FAR)
		CHECK(setenv("SOFTFIELD_RUNTIME", path, 1) == 0);
	node_join();
	end_open(&end, "dpu0/0000:03:00.0", 1);
	end_listen(&end, SF_LISTEN_AUTO);
	CHECK_OK(slot_post(&end, &slot, 0, LEN));
	CHECK_OK(sf_listener_address(end.listener, address));
	say(sock, end.name, SF_NAME_MAX);
	say(sock, address, SF_ADDRESS_MAX);
	WAIT(slot.done == 1);
	CHECK(slot.recv.len == LEN && filled(end.memory, LEN, seed_of(kind, 7)));
	hear(sock, &len, sizeof(len));
	hear(sock, descriptor, len);
	hear(sock, &remote, sizeof(remote));
	CHECK_OK(sf_region_import(end.domain, descriptor, len, &import));
	CHECK(strcmp(import->ops->name, provider_names[kind]) == 0);
	fill(end.memory, LEN, seed_of(kind, 8));
	one_sided_set(&send, SF_OP_WRITE, import, remote, end.memory, LEN);
	CHECK_OK(submit_wait(end.accepted[0], &send));
	say_word(sock, 'w');
	WAIT(end.closes == 1);
	sf_conn_close(end.accepted[0]);
	sf_region_close(import);
	end_close(&end);
}

static void near_called(int sock)
{
	called_script(sock, NEAR);
}

static void far_called(int sock)
{
	called_script(sock, FAR);
}

static struct sf_conn *hub_call(uint32_t kind)
{
	char name[SF_NAME_MAX], address[SF_ADDRESS_MAX];
	struct sf_conn *conn;

	hear(hub.peers[kind].sock, name, sizeof(name));
	hear(hub.peers[kind].sock, address, sizeof(address));
	CHECK_OK(sf_conn_connect(hub.end.ep, name, address, NULL, 0, NULL, &conn));
	WAIT(hub.end.connects == kind + 1);
	CHECK_OK(hub.end.connect_status);
	CHECK(strcmp(conn->ops->name, provider_names[kind]) == 0);
	return conn;
}

static void an_endpoint_calls_one_of_each_and_both_write_its_memory(void)
{
	char descriptor[SF_DESCRIPTOR_MAX];
	size_t len = sizeof(descriptor);
	uint8_t out[LEN];

	folder_make();
	peer_fork(&hub.peers[NEAR], near_called);
	peer_fork(&hub.peers[FAR], far_called);
	node_join();
	end_open(&hub.end, "host0/0000:d8:00.0", 1);
	CHECK_OK(sf_region_export(hub.end.region, descriptor, &len));
	for (uint32_t kind = 0; kind < PEERS; kind++)
		hub.conns[kind] = hub_call(kind);
	for (uint32_t kind = 0; kind < PEERS; kind++) {
		const uint64_t remote = (uintptr_t)hub.end.memory + (1 + kind) * (uint64_t)LEN;

		fill(out, LEN, seed_of(kind, 7));
		send_wait(hub.conns[kind], out, LEN);
		say(hub.peers[kind].sock, &len, sizeof(len));
		say(hub.peers[kind].sock, descriptor, len);
		say(hub.peers[kind].sock, &remote, sizeof(remote));
		hear_word(hub.peers[kind].sock, 'w');
	}
	for (uint32_t kind = 0; kind < PEERS; kind++) {
		CHECK(filled(hub.end.memory + (1 + kind) * LEN, LEN, seed_of(kind, 8)));
		sf_conn_disconnect(hub.conns[kind]);
		sf_conn_close(hub.conns[kind]);
		peer_end(&hub.peers[kind]);
	}
	end_close(&hub.end);
	folder_remove();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SHM_CASE(receives_posted_once_take_messages_of_both_as_they_arrive),
		SHM_CASE(two_streams_share_few_receives_and_each_keeps_its_order),
		SHM_CASE(without_a_receive_both_get_again_and_a_new_one_serves_either),
		SHM_CASE(the_death_of_the_near_peer_leaves_the_far_one),
		SHM_CASE(the_death_of_the_far_peer_leaves_the_near_one),
		SHM_CASE(an_endpoint_calls_one_of_each_and_both_write_its_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
