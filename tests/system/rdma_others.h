/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An RDMA instance whose peers are other processes: this program again. They obey one-byte commands on a socket and answer each
 * with one byte. The second peer's pages are imported over PCI; the test chooses where they begin within a page.
 */
#ifndef TEST_RDMA_OTHERS_H
#define TEST_RDMA_OTHERS_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doca_sync_event.h>

#include "support/check.h"
#include "support/rdma_rig.h"

#define SIZE (8 << 20)
#define LARGE (4 << 20)
#define LARGE_AT 4000 /* offset in a peer's memory that is written: not a page boundary */
#define PAGES_SIZE (1 << 20)
#define ODD 13 /* offset from a page boundary for memory that is not whole pages */
#define DETAILS_MAX 4096
#define PEERS 2

enum export { EXPORT_DETAILS, EXPORT_RDMA, EXPORT_PAGES, EXPORT_READ_ONLY, EXPORT_EVENT, EXPORTS };

struct introduction {
	size_t len[EXPORTS];
	uint8_t bytes[EXPORTS][DETAILS_MAX];
};

/* The initial pattern of all memory; other bytes are sent and written. */
static inline uint8_t pattern(size_t i)
{
	return (uint8_t)(i * 7 + (i >> 13));
}

/* ---- the peer ---- */

struct peer {
	struct rdma_rig rig;
	struct doca_rdma_connection *connection;
	uint8_t *pages;
	struct doca_mmap *exported[EXPORTS];
	uint32_t num_posted;
	int socket;
};

static inline struct doca_mmap *make_mmap(struct doca_dev *dev, void *addr, size_t len, uint32_t permissions)
{
	struct doca_mmap *mmap;

	CHECK_OK(doca_mmap_create(&mmap));
	CHECK_OK(doca_mmap_set_memrange(mmap, addr, len));
	CHECK_OK(doca_mmap_set_permissions(mmap, permissions));
	CHECK_OK(doca_mmap_add_dev(mmap, dev));
	CHECK_OK(doca_mmap_start(mmap));
	return mmap;
}

static inline void put(struct introduction *introduction, enum export which, const void *bytes, size_t len)
{
	CHECK(len <= DETAILS_MAX);
	introduction->len[which] = len;
	memcpy(introduction->bytes[which], bytes, len);
}

static inline void export_pci(struct peer *peer, struct introduction *mine, enum export which, void *addr, size_t len,
			      uint32_t right)
{
	const void *descriptor;
	size_t descriptor_len;

	peer->exported[which] = make_mmap(peer->rig.dev, addr, len, right);
	CHECK_OK(doca_mmap_export_pci(peer->exported[which], peer->rig.dev, &descriptor, &descriptor_len));
	put(mine, which, descriptor, descriptor_len);
}

/* Exports an event that peers set, add to and get. */
static inline void export_event(struct peer *peer, struct introduction *mine)
{
	struct doca_sync_event *event;
	const uint8_t *bytes;
	size_t len;

	CHECK_OK(doca_sync_event_create(&event));
	CHECK_OK(doca_sync_event_add_publisher_location_remote_net(event));
	CHECK_OK(doca_sync_event_add_subscriber_location_cpu(event, peer->rig.dev));
	CHECK_OK(doca_sync_event_start(event));
	CHECK_OK(doca_sync_event_export_to_remote_net(event, &bytes, &len));
	put(mine, EXPORT_EVENT, bytes, len);
}

static inline void introduce(struct peer *peer)
{
	static struct introduction mine;
	static uint8_t theirs[DETAILS_MAX];
	const void *bytes;
	size_t len;

	CHECK_OK(doca_rdma_export(peer->rig.rdma, &bytes, &len, &peer->connection));
	put(&mine, EXPORT_DETAILS, bytes, len);
	CHECK_OK(doca_mmap_export_rdma(peer->rig.mmap, peer->rig.dev, &bytes, &len));
	put(&mine, EXPORT_RDMA, bytes, len);
	export_pci(peer, &mine, EXPORT_PAGES, peer->pages, PAGES_SIZE, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	export_pci(peer, &mine, EXPORT_READ_ONLY, peer->pages, PAGES_SIZE, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	export_event(peer, &mine);
	CHECK(send(peer->socket, &mine, sizeof(mine), 0) == sizeof(mine));
	CHECK(recv(peer->socket, &len, sizeof(len), MSG_WAITALL) == sizeof(len) && len <= DETAILS_MAX);
	CHECK(recv(peer->socket, theirs, len, MSG_WAITALL) == (ssize_t)len);
	CHECK_OK(doca_rdma_connect(peer->rig.rdma, theirs, len, peer->connection));
}

/* The written range holds what was written, and the rest is unchanged. */
static inline bool memory_is_right(const struct peer *peer)
{
	bool right = true;

	for (size_t i = 0; i < SIZE; i++)
		right &= peer->rig.memory[i] ==
			 (i >= LARGE_AT && i < LARGE_AT + LARGE ? (uint8_t)~pattern(i - LARGE_AT) : pattern(i));
	return right;
}

static inline void stop_and_start(struct peer *peer)
{
	const void *descriptor;
	size_t len;

	CHECK_OK(doca_mmap_stop(peer->rig.mmap));
	CHECK(memory_is_right(peer));
	CHECK_OK(doca_mmap_start(peer->rig.mmap));
	CHECK_OK(doca_mmap_export_rdma(peer->rig.mmap, peer->rig.dev, &descriptor, &len));
}

static inline void obey(struct peer *peer, char command)
{
	struct rdma_rig *rig = &peer->rig;

	switch (command) {
	case 's':
		stop_and_start(peer);
		break;
	case 'm':
		CHECK_OK(doca_mmap_destroy(peer->exported[EXPORT_PAGES]));
		peer->exported[EXPORT_PAGES] = NULL;
		break;
	case 'p':
		for (size_t sent = 0; sent < PAGES_SIZE;
		     sent += (size_t)write(peer->socket, peer->pages + sent, PAGES_SIZE - sent))
			;
		return;
	case 'r':
		CHECK_OK(rig_receive(rig, rig_room(rig, 0, PAGES_SIZE), 0));
		peer->num_posted++;
		break;
	case 'x':
		RDMA_RIG_WAIT(rig, NULL, rig->num_received == peer->num_posted);
		break;
	case 'w':
		RDMA_RIG_WAIT(rig, NULL, rig->num_received == 1);
		CHECK(rig->len == PAGES_SIZE);
		break;
	case 't': /* a short message and a long one */
		CHECK_OK(rig_send(rig, peer->connection, rig_source(rig, 0, 40), 0));
		CHECK_OK(rig_send(rig, peer->connection, rig_source(rig, 40, 100000), 0));
		RDMA_RIG_WAIT(rig, NULL, rig->num_ended == 2);
		break;
	default:
		CHECK(!"a command");
	}
	CHECK(send(peer->socket, &command, 1, 0) == 1);
}

/* Returns whole pages, or malloc memory between odd addresses. */
static inline uint8_t *make_pages(size_t odd)
{
	uint8_t *pages;

	if (odd != 0)
		return (uint8_t *)malloc(PAGES_SIZE + odd) + odd;
	pages = mmap(NULL, PAGES_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(pages != MAP_FAILED);
	return pages;
}

static inline void peer_run(int socket, size_t odd)
{
	static struct peer peer;
	char command;

	alarm(120);
	peer.socket = socket;
	rdma_rig_prepare(&peer.rig, 0, SIZE, RIG_ALL, RIG_ALL);
	peer.pages = make_pages(odd);
	for (size_t i = 0; i < SIZE; i++)
		peer.rig.memory[i] = pattern(i);
	for (size_t i = 0; i < PAGES_SIZE; i++)
		peer.pages[i] = pattern(i);
	rdma_rig_start(&peer.rig);
	introduce(&peer);
	while (recv(socket, &command, 1, 0) == 1 && command != 'q')
		obey(&peer, command);
	(void)doca_ctx_stop(peer.rig.ctx);
	RDMA_RIG_WAIT(&peer.rig, NULL, peer.rig.state == DOCA_CTX_STATE_IDLE);
	_exit(0);
}

/* ---- this side ---- */

struct other {
	int socket;
	pid_t pid;
	struct introduction introduction;
	struct doca_rdma_connection *connection;
	struct doca_mmap *memory; /* its own memory, for RDMA */
	uint8_t *at;
};

struct side {
	struct rdma_rig rig;
	struct other others[PEERS];
	struct doca_mmap *pages; /* the second peer's memory, over PCI */
	uint8_t *pages_at;
};

static inline void start_peer(struct other *other, size_t odd)
{
	int sockets[2];
	char number[16], begin[16];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
	fflush(NULL);
	other->pid = fork();
	CHECK(other->pid >= 0);
	if (other->pid == 0) {
		close(sockets[0]);
		snprintf(number, sizeof(number), "%d", sockets[1]);
		snprintf(begin, sizeof(begin), "%zu", odd);
		execl("/proc/self/exe", "peer", number, begin, (char *)NULL);
		_exit(1);
	}
	close(sockets[1]);
	other->socket = sockets[0];
}

static inline struct doca_mmap *import(struct side *side, const struct other *other, enum export which, uint8_t **at)
{
	struct doca_mmap *mmap;
	void *addr;
	size_t size;

	CHECK_OK(doca_mmap_create_from_export(NULL, other->introduction.bytes[which], other->introduction.len[which],
					      side->rig.dev, &mmap));
	CHECK_OK(doca_mmap_get_memrange(mmap, &addr, &size));
	*at = addr;
	return mmap;
}

static inline void meet(struct side *side, struct other *other)
{
	const void *details;
	size_t len;

	CHECK(recv(other->socket, &other->introduction, sizeof(other->introduction), MSG_WAITALL) == sizeof(other->introduction));
	CHECK_OK(doca_rdma_export(side->rig.rdma, &details, &len, &other->connection));
	CHECK(send(other->socket, &len, sizeof(len), 0) == sizeof(len));
	CHECK(send(other->socket, details, len, 0) == (ssize_t)len);
	CHECK_OK(doca_rdma_connect(side->rig.rdma, other->introduction.bytes[EXPORT_DETAILS],
				   other->introduction.len[EXPORT_DETAILS], other->connection));
	other->memory = import(side, other, EXPORT_RDMA, &other->at);
}

static inline int setup_at(void **state, size_t odd)
{
	static struct side side;

	memset(&side, 0, sizeof(side));
	for (int i = 0; i < PEERS; i++)
		start_peer(&side.others[i], odd);
	rdma_rig_prepare(&side.rig, 0, SIZE, RIG_ALL, RIG_ALL);
	CHECK_OK(doca_rdma_set_max_num_connections(side.rig.rdma, PEERS));
	for (size_t i = 0; i < SIZE; i++)
		side.rig.memory[i] = (uint8_t)~pattern(i);
	rdma_rig_start(&side.rig);
	for (int i = 0; i < PEERS; i++)
		meet(&side, &side.others[i]);
	side.pages = import(&side, &side.others[1], EXPORT_PAGES, &side.pages_at);
	*state = &side;
	return 0;
}

static inline int setup(void **state)
{
	return setup_at(state, 0);
}

static inline int setup_odd(void **state)
{
	return setup_at(state, ODD);
}

static inline int teardown(void **state)
{
	struct side *side = *state;

	for (int i = 0; i < PEERS; i++) {
		int status;

		if (side->others[i].pid == 0) {
			CHECK_OK(doca_mmap_destroy(side->others[i].memory));
			continue;
		}
		CHECK(send(side->others[i].socket, "q", 1, MSG_NOSIGNAL) == 1);
		CHECK(waitpid(side->others[i].pid, &status, 0) == side->others[i].pid);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
		close(side->others[i].socket);
		CHECK_OK(doca_mmap_destroy(side->others[i].memory));
	}
	CHECK_OK(doca_mmap_destroy(side->pages));
	rdma_rig_fini(&side->rig);
	return 0;
}

static inline void other_command(struct other *other, char command)
{
	CHECK(send(other->socket, &command, 1, 0) == 1);
}

static inline void hear(struct other *other, char command)
{
	char answer;

	CHECK(recv(other->socket, &answer, 1, 0) == 1 && answer == command);
}

static inline void kill_other(struct other *other)
{
	CHECK(kill(other->pid, SIGKILL) == 0 && waitpid(other->pid, NULL, 0) == other->pid);
	close(other->socket);
	other->pid = 0;
}

static inline struct doca_buf *buf_of(struct side *side, struct doca_mmap *mmap, uint8_t *at, size_t len, bool data)
{
	struct doca_buf *buf;

	if (data)
		CHECK_OK(doca_buf_inventory_buf_get_by_data(side->rig.inventory, mmap, at, len, &buf));
	else
		CHECK_OK(doca_buf_inventory_buf_get_by_addr(side->rig.inventory, mmap, at, len, &buf));
	return buf;
}

#define WAIT(condition) RDMA_RIG_WAIT(&side->rig, NULL, condition)

static inline void look_at_pages(struct side *side, uint8_t *copy)
{
	other_command(&side->others[1], 'p');
	CHECK(recv(side->others[1].socket, copy, PAGES_SIZE, MSG_WAITALL) == PAGES_SIZE);
}

#endif
