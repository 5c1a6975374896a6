/* SPDX-License-Identifier: BSD-3-Clause */
/* What memory of receives a hostile peer can map: what its connection's endpoint has posted, and nothing after the connection
 * has ended. */
#include "forked_case.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/runtime_folder.h"
#include "fabric/shm/conn.h"

#define PAGE 4096u
#define PAGES 64u
#define FILES_MAX 16
#define PLACES 64u /* size of the table of regions that are requested */
#define USES 4u

struct given {
	uint8_t *at;
	size_t len;
};

/* Connects to the owner's agent, as any process of the same user can. */
static int agent_call(const struct sf_key *agent)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char folder[PATH_MAX], name[2 * SF_KEY_SIZE + 3], *at = name;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	at += sprintf(at, "a-");
	for (int i = 0; i < SF_KEY_SIZE; i++)
		at += sprintf(at, "%02x", agent->bytes[i]);
	sf_runtime_folder_path(folder);
	CHECK(fd >= 0 &&
	      snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", folder, name) < (int)sizeof(address.sun_path));
	CHECK(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
	return fd;
}

/* Requests one region; maps every file of the answer writable. */
static uint32_t attach(int fd, uint64_t region, const struct sf_key *key, struct given *given, uint32_t num)
{
	struct shm_msg_attach ask = {.region = region, .key = *key, .by_ep = 1};
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(64 * sizeof(int))];
	} control;
	struct shm_msg_attached answer;
	struct iovec iov = {&answer, sizeof(answer)};
	struct msghdr head = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};

	ask.head = sf_msg_head(SHM_MSG_ATTACH, sizeof(ask), 1);
	CHECK(send(fd, &ask, sizeof(ask), 0) == sizeof(ask));
	do {
		head.msg_controllen = sizeof(control);
		CHECK(recvmsg(fd, &head, 0) > 0);
	} while (answer.head.kind != SHM_MSG_ATTACHED);
	if (answer.status != DOCA_SUCCESS)
		return num;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&head); c != NULL; c = CMSG_NXTHDR(&head, c)) {
		size_t fds = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		for (size_t i = 0; i < fds; i++) {
			int file = ((int *)(void *)CMSG_DATA(c))[i];
			off_t len = lseek(file, 0, SEEK_END);

			CHECK(num < FILES_MAX && len > 0);
			given[num].len = (size_t)len;
			given[num].at = mmap(NULL, (size_t)len, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
			CHECK(given[num++].at != MAP_FAILED);
		}
	}
	return num;
}

/* Requests every region that may exist. */
static uint32_t attach_all(int fd, const struct sf_key *key, struct given *given)
{
	uint32_t num = 0;

	for (uint64_t place = 0; place < PLACES; place++) {
		for (uint64_t use = 1; use <= USES; use++)
			num = attach(fd, use * SHM_REGIONS_MAX + place, key, given, num);
	}
	return num;
}

static void given_fill(const struct given *given, uint32_t num, int byte)
{
	for (uint32_t i = 0; i < num; i++)
		memset(given[i].at, byte, given[i].len);
}

/* Connects to an endpoint, maps and overwrites everything that the connection's key opens, and repeats that after the
 * connection has ended. */
static void thief(int sock)
{
	struct given given[FILES_MAX], later[FILES_MAX];
	struct sf_key agent, key;
	char name[SF_NAME_MAX];
	struct sf_conn *conn;
	struct end end;
	uint32_t num;
	int fd;

	hear_name(sock, name);
	end_open(&end, "host0/0000:d8:00.0", 1);
	conn = end_connect(&end, name);
	WAIT(end.connects == 1);
	CHECK_OK(end.connect_status);
	agent = shm_conn(conn)->peer_id;
	key = shm_conn(conn)->peer_key;
	fd = agent_call(&agent);
	num = attach_all(fd, &key, given);
	given_fill(given, num, 0xe1);
	say(sock, &num, sizeof(num));
	hear_word(sock, 'e');
	sf_conn_close(conn);
	hear_word(sock, 'w');
	given_fill(given, num, 0xe2);
	num = attach_all(fd, &key, later);
	given_fill(later, num, 0xe3);
	say(sock, &num, sizeof(num));
	end_close(&end);
}

static char *memory;

/* Both regions are over the same memory, for two devices. */
static struct sf_region *over_memory(struct end *end)
{
	struct sf_region *region;

	CHECK_OK(sf_region_register(end->domain, memory, PAGES * PAGE, ALL_RIGHTS, &region));
	return region;
}

static void post_at(struct end *end, struct slot *slot, struct sf_region *region, size_t at, size_t len)
{
	slot_set(end, slot, 0, 1);
	slot->recv.region = region;
	slot->pieces[0] = (struct sf_iov){memory + at, len};
	CHECK_OK(slot_post_set(slot));
}

/* Returns whether nobody wrote outside [from, to). */
static bool untouched_but(size_t from, size_t to, uint8_t inside)
{
	for (size_t i = 0; i < (size_t)PAGES * PAGE; i++) {
		if ((uint8_t)memory[i] != (i >= from && i < to ? inside : 0x11))
			return false;
	}
	return true;
}

/* One endpoint posts whole pages 2 to 5, and parts of 1 and 6; the other posts pages 8 to 11, and later a part of page 5. */
static void a_peer_maps_only_its_endpoints_receives_while_it_is_connected(void)
{
	struct slot own, others, disputed;
	struct sf_region *mine, *theirs;
	struct end server, other;
	struct peer peer;
	uint32_t num;

	memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(memory != MAP_FAILED);
	memset(memory, 0x11, PAGES * PAGE);
	peer_fork(&peer, thief);
	end_open(&server, "dpu0/0000:03:00.0", 4);
	end_open(&other, "dpu0/0000:03:00.0", 4);
	end_listen(&server, SF_LISTEN_AUTO);
	mine = over_memory(&server);
	theirs = over_memory(&other);
	post_at(&server, &own, mine, PAGE + 100, 5 * PAGE);
	post_at(&other, &others, theirs, 8 * PAGE, 4 * PAGE);
	for (int i = 0; i < 3; i++) {
		end_poll(&server, 8);
		end_poll(&other, 8);
	}
	post_at(&other, &disputed, theirs, 5 * PAGE + 512, 1000);
	say_name(peer.sock, server.name);
	hear(peer.sock, &num, sizeof(num));
	/* Without userfaultfd, the conflict about page 5 leaves the other pages private. */
	CHECK(num <= 1);
	CHECK(untouched_but(2 * PAGE, 5 * PAGE, num == 1 ? 0xe1 : 0x11));

	memset(memory, 0x11, PAGES * PAGE);
	say_word(peer.sock, 'e');
	WAIT(server.accepts == 1 && server.closes == 1);
	for (int i = 0; i < 3; i++)
		end_poll(&server, 8); /* what was lent to the peer can now be lent to others */
	say_word(peer.sock, 'w');
	hear(peer.sock, &num, sizeof(num));
	CHECK(num == 0);
	CHECK(untouched_but(0, 0, 0));
	peer_end(&peer);
	sf_conn_close(server.accepted[0]);
	end_close(&server);
	end_close(&other);
}

/* ---- a peer that stays connected while others come and go ---- */

enum { ROUNDS = 400, MESSAGE = 6 * PAGE };

/* Sends messages, each of one repeated byte and long enough to be sent through a mapping. */
static void stayer(int sock)
{
	char name[SF_NAME_MAX];
	struct sf_conn *conn;
	struct end end;

	hear_name(sock, name);
	end_open(&end, "host0/0000:d8:00.0", 1);
	conn = end_connect(&end, name);
	WAIT(end.connects == 1);
	for (int i = 0; i < ROUNDS; i++) {
		memset(end.memory, i + 1, MESSAGE);
		send_wait(conn, end.memory, MESSAGE);
	}
	hear_word(sock, 'e');
	sf_conn_close(conn);
	end_close(&end);
}

/* Connects, is lent the receives, and disconnects, while the other peer sends. */
static void goer(int sock)
{
	char name[SF_NAME_MAX];

	hear_name(sock, name);
	for (;;) {
		struct given given[FILES_MAX];
		struct sf_key agent, key;
		struct sf_conn *conn;
		struct end end;
		int fd;

		end_open(&end, "host0/0000:d8:00.0", 1);
		conn = end_connect(&end, name);
		WAIT(end.connects == 1);
		if (end.connect_status != DOCA_SUCCESS)
			_exit(0);
		agent = shm_conn(conn)->peer_id;
		key = shm_conn(conn)->peer_key;
		fd = agent_call(&agent);
		(void)attach_all(fd, &key, given);
		close(fd);
		sf_conn_close(conn);
		end_close(&end);
	}
}

struct receiver {
	struct end end;
	struct slot slots[4];
	uint32_t messages;
};

static struct receiver *receiver;

static void message_came(struct slot *slot)
{
	const uint8_t *bytes = slot->pieces[0].addr;

	if (slot->recv.status != DOCA_SUCCESS)
		return;
	CHECK(slot->recv.len == MESSAGE);
	for (uint32_t i = 0; i < MESSAGE; i++)
		CHECK(bytes[i] == (uint8_t)(receiver->messages + 1));
	receiver->messages++;
	CHECK_OK(slot_post_set(slot));
}

static void gone(struct end *end, struct sf_conn *conn)
{
	(void)end;
	sf_conn_close(conn);
}

static void arrived(struct end *end, struct sf_conn *conn)
{
	(void)conn;
	end->accepts = 0; /* more connections come than the array holds */
}

static void no_byte_is_lost_when_what_was_lent_to_others_ends(void)
{
	struct peer stays, goes;

	receiver = calloc(1, sizeof(*receiver));
	peer_fork(&stays, stayer);
	peer_fork(&goes, goer);
	end_open(&receiver->end, "dpu0/0000:03:00.0", 4);
	receiver->end.on_closed = gone;
	receiver->end.on_accepted = arrived;
	end_listen(&receiver->end, SF_LISTEN_AUTO);
	for (uint32_t i = 0; i < 4; i++) {
		slot_set(&receiver->end, &receiver->slots[i], i * (size_t)(MESSAGE + 8) + 64, MESSAGE);
		receiver->slots[i].then = message_came;
		CHECK_OK(slot_post_set(&receiver->slots[i]));
	}
	say_name(goes.sock, receiver->end.name);
	WAIT(receiver->end.closes >= 1); /* on a busy machine the other peer could finish before this one connects */
	say_name(stays.sock, receiver->end.name);
	WAIT_WITHIN(CASE_SECONDS * 1000, receiver->messages == ROUNDS);
	peer_kill(&goes);
	say_word(stays.sock, 'e');
	peer_end(&stays);
	WAIT(receiver->end.closes >= 2);
	for (int i = 0; i < 100; i++)
		end_poll(&receiver->end, 8);
	end_close(&receiver->end);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		SHM_CASE(a_peer_maps_only_its_endpoints_receives_while_it_is_connected),
		SHM_CASE(no_byte_is_lost_when_what_was_lent_to_others_ends),
	};

	return cmocka_run_group_tests_name("shm lends", cases, NULL, NULL);
}
