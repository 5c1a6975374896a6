/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Peers are killed at random moments and replaced by new ones; nothing of the old ones remains. Some die before they connect,
 * some during traffic in both directions. Sometimes this side stops and starts its instance instead, with everything in flight.
 *
 * SOFTFIELD_TEST_ROUNDS sets how many peers die (10000 for the full run), SOFTFIELD_TEST_SEED repeats a run.
 *
 * A "nursery" process that never used the libraries forks the peers, which is cheaper than starting a program each time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/rdma_peer.h"

#include "support/rdma_pair.h"
#include "support/sanitizers.h"

#define ROUNDS 300  /* by default */
#define WARM_UP 100 /* after so many rounds the process has allocated all that it keeps */
#define SIZE (64 << 10)
#define PLACES 3       /* peers at a time */
#define CONNECTIONS 48 /* connections of one run; then the instance is stopped and started */
#define RECEIVES 16
#define PATIENCE 400 /* the most progress calls in the life of a peer */
#define RSS_GROWTH_MAX (8 << 20)

/* ---- random numbers ---- */

static uint64_t random_state;

static uint32_t random_below(uint32_t limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 32) % limit;
}

/* ---- receives of both sides ---- */

/* When a receive ends, it is posted again, as long as the instance runs. */
static void received(struct doca_rdma_task_receive *task, union doca_data data, union doca_data ctx_data)
{
	(void)data;
	(void)ctx_data;
	if (doca_task_submit(doca_rdma_task_receive_as_task(task)) != DOCA_SUCCESS)
		doca_task_free(doca_rdma_task_receive_as_task(task));
}

static void receive_failed(struct doca_rdma_task_receive *task, union doca_data data, union doca_data ctx_data)
{
	received(task, data, ctx_data);
}

static void post_receives(struct rdma_rig *rig)
{
	for (uint32_t i = 0; i < RECEIVES; i++)
		CHECK_OK(rig_receive(rig, NULL, i));
}

/* ---- a peer ---- */

/* Sends messages and atomics, each submitted again from its callback, until the peer is killed. */
static void peer_live(int socket, uint64_t seed)
{
	static struct rdma_rig rig;
	struct doca_rdma_connection *connection;

	random_state = seed | 1;
	rdma_rig_prepare(&rig, 1, SIZE, RIG_ALL, RIG_ALL);
	CHECK_OK(doca_rdma_task_receive_set_conf(rig.rdma, received, receive_failed, RIG_TASKS));
	rdma_rig_start(&rig);
	peer_meet(socket, &rig, &connection);
	post_receives(&rig);
	rig.resubmits = UINT32_MAX;
	CHECK_OK(rig_send_imm(&rig, connection, NULL, 1, 0));
	CHECK_OK(rig_add(&rig, connection, rig_remote_source(&rig, 64, 8), rig_room(&rig, 6000, 8), 1, 0));
	for (;;)
		(void)doca_pe_progress(rig.pe);
}

static pid_t nursery_pid;
static int nursery;

/* Forks a peer for each socket that arrives. */
static void nursery_run(int orders)
{
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		uint64_t seed;
		char room[CMSG_SPACE(sizeof(int))];
		struct iovec iov = {&seed, sizeof(seed)};
		struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)};
		int socket;

		if (recvmsg(orders, &msg, 0) != sizeof(seed) || CMSG_FIRSTHDR(&msg) == NULL)
			_exit(0);
		memcpy(&socket, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(socket));
		pid_t pid = fork();

		if (pid == 0) {
			signal(SIGCHLD, SIG_DFL);
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			alarm(PEER_LIFE_S);
			close(orders);
			peer_live(socket, seed);
		}
		CHECK(pid > 0);
		peer_say(orders, &pid, sizeof(pid));
		close(socket);
	}
}

static void peer_bear(struct peer *peer)
{
	int sockets[2];
	char room[CMSG_SPACE(sizeof(int))] = {0};
	uint64_t seed = random_below(UINT32_MAX);
	struct iovec iov = {&seed, sizeof(seed)};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)};
	struct cmsghdr *head = CMSG_FIRSTHDR(&msg);

	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) == 0);
	*head = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
	memcpy(CMSG_DATA(head), &sockets[1], sizeof(int));
	CHECK(sendmsg(nursery, &msg, 0) == sizeof(seed));
	close(sockets[1]);
	peer->socket = sockets[0];
	peer_hear(nursery, &peer->pid, sizeof(peer->pid));
}

/* ---- this side ---- */

struct place {
	struct peer peer;
	struct doca_rdma_connection *connection;
	struct doca_mmap *remote;
	struct doca_buf *bufs[4];
	uint32_t num_bufs, patience, num_tasks; /* tasks that have not ended */
};

static struct rdma_rig rig;
static struct place places[PLACES];
static uint32_t num_connections, num_killed, num_restarts, num_silent;

static struct doca_buf *keep(struct place *place, struct doca_buf *buf)
{
	place->bufs[place->num_bufs++] = buf;
	return buf;
}

/* Submits some tasks of each kind. The test does not check their results, only that they end. */
static void submit_some(struct place *place)
{
	struct doca_rdma_connection *to = place->connection;
	size_t len = random_below(2) == 0 ? 8 : 20000;
	struct doca_buf *here, *there;
	uint64_t at = (uint64_t)(place - places);

	here = keep(place, rig_source(&rig, 1000, len));
	there = keep(place, rig_remote_room(&rig, 2048, len));
	struct doca_buf *from = keep(place, rig_remote_source(&rig, 4000, len)), *into = keep(place, rig_room(&rig, 30000, len));

	CHECK_OK(rig_write(&rig, to, here, there, at));
	CHECK_OK(rig_send(&rig, to, NULL, at));
	CHECK_OK(rig_read(&rig, to, from, into, at));
	CHECK_OK(rig_send_imm(&rig, to, NULL, 3, at));
	place->num_tasks = 4;
}

static void place_fill(struct place *place)
{
	peer_bear(&place->peer);
	place->patience = random_below(PATIENCE);
	num_connections++;
	if (random_below(8) == 0) { /* the peer dies before it connects: only its details are known */
		static struct peer_introduction theirs;
		const void *details;
		size_t len;

		CHECK_OK(doca_rdma_export(rig.rdma, &details, &len, &place->connection));
		peer_hear(place->peer.socket, &theirs, sizeof(theirs));
		if (random_below(2) == 0) {
			CHECK_OK(doca_rdma_connect(rig.rdma, theirs.details, theirs.details_len, place->connection));
			CHECK_OK(rig_send(&rig, place->connection, NULL, (uint64_t)(place - places)));
			place->num_tasks = 1;
		}
		num_silent++;
		return;
	}
	peer_meet(place->peer.socket, &rig, &place->connection);
	place->remote = rig.remote;
	if (random_below(4) != 0)
		submit_some(place);
	rig.remote = NULL; /* the place owns it now */
}

static void place_forget(struct place *place)
{
	for (uint32_t i = 0; i < place->num_bufs; i++)
		rig_put(place->bufs[i]);
	if (place->remote != NULL)
		CHECK_OK(doca_mmap_destroy(place->remote));
	memset(place, 0, sizeof(*place));
}

/* Returns whether the place's tasks have ended. Each task names its place. */
static bool place_is_quiet(const struct place *place)
{
	static uint32_t seen;

	for (; seen != rig.num_ended; seen++)
		places[rig.order[seen % RIG_LOG]].num_tasks--;
	return place->num_tasks == 0;
}

static pid_t dying[8]; /* those killed last: the signal does not take effect immediately */

static void place_kill(struct place *place)
{
	peer_kill(&place->peer);
	close(place->peer.socket);
	dying[num_killed++ % 8] = place->peer.pid;
}

static void restart(void)
{
	rdma_rig_stop(&rig);
	for (uint32_t i = 0; i < PLACES; i++) {
		if (places[i].peer.pid == 0)
			continue;
		CHECK(place_is_quiet(&places[i]));
		place_kill(&places[i]);
		place_forget(&places[i]);
	}
	rdma_rig_start(&rig);
	post_receives(&rig);
	num_connections = 0;
	num_restarts++;
}

/* ---- what is left ---- */

static size_t resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long size = 0, resident = 0;

	CHECK(file != NULL && fscanf(file, "%lu %lu", &size, &resident) == 2);
	fclose(file);
	return resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* False with a sanitizer, which keeps freed memory for a while. */
static bool counts_memory(void)
{
	return !HAS_SANITIZER;
}

struct left {
	uint32_t descriptors, shared;
	size_t resident;
};

/* Another thread learns of the last deaths a while after the signal, and closes the descriptors. */
static bool descriptors_fell_to(uint32_t num)
{
	uint64_t begin = sf_now_ns();

	while (count_entries("/proc/self/fd") > num && !rdma_rig_late(begin))
		(void)doca_pe_progress(rig.pe);
	return count_entries("/proc/self/fd") <= num;
}

/* Shared files have no name, so they are counted by the name that the kernel shows. */
static uint32_t count_shared_mappings(void)
{
	char line[512];
	uint32_t num = 0;
	FILE *maps = fopen("/proc/self/maps", "re");

	CHECK(maps != NULL);
	while (fgets(line, sizeof(line), maps) != NULL)
		num += strstr(line, "/memfd:") != NULL;
	fclose(maps);
	return num;
}

static struct left look(void)
{
	uint64_t begin;

	restart();
	begin = sf_now_ns();
	for (int i = 0; i < 8; i++) {
		while (dying[i] != 0 && kill(dying[i], 0) == 0)
			CHECK(!rdma_rig_late(begin));
	}
	return (struct left){count_entries("/proc/self/fd"), count_shared_mappings(), resident_bytes()};
}

static void one_more(uint32_t at)
{
	struct place *place = &places[at];

	if (place->peer.pid == 0) {
		if (num_connections == CONNECTIONS || (num_connections > 4 && random_below(40) == 0))
			restart();
		place_fill(place);
		return;
	}
	for (uint32_t i = place->patience; i > 0; i--)
		(void)doca_pe_progress(rig.pe);
	place_kill(place);
	RDMA_RIG_WAIT(&rig, NULL, place_is_quiet(place) || rig.state != DOCA_CTX_STATE_RUNNING);
	CHECK(rig.state == DOCA_CTX_STATE_RUNNING || (rdma_rig_stop(&rig), place_is_quiet(place)));
	place_forget(place);
	if (rig.state != DOCA_CTX_STATE_RUNNING) /* it was the last working connection */
		restart();
}

static void rounds_of_kills_leave_nothing(void **state)
{
	const char *rounds_given = getenv("SOFTFIELD_TEST_ROUNDS"), *seed = getenv("SOFTFIELD_TEST_SEED");
	uint32_t rounds = rounds_given != NULL ? (uint32_t)strtoul(rounds_given, NULL, 0) : ROUNDS;
	struct left before = {0}, after;

	(void)state;
	random_state = seed != NULL ? strtoull(seed, NULL, 0) : (uint64_t)getpid() * 2654435761u;
	random_state |= 1;
	printf("seed %llu\n", (unsigned long long)random_state);
	rdma_rig_prepare(&rig, 0, SIZE, RIG_ALL, RIG_ALL);
	CHECK_OK(doca_rdma_set_max_num_connections(rig.rdma, CONNECTIONS + 1));
	CHECK_OK(doca_rdma_task_receive_set_conf(rig.rdma, received, receive_failed, RIG_TASKS));
	rdma_rig_start(&rig);
	post_receives(&rig);
	while (num_killed < rounds) {
		one_more(random_below(PLACES));
		if (before.descriptors == 0 && num_killed >= WARM_UP)
			before = look();
	}
	after = look();
	bool none_left = descriptors_fell_to(before.descriptors);

	after.shared = count_shared_mappings();
	printf("%u killed, %u of them before they were connected, %u restarts; descriptors %u and %u, shared mappings %u and %u, "
	       "resident %zu and %zu KiB\n",
	       num_killed, num_silent, num_restarts, before.descriptors, after.descriptors, before.shared, after.shared,
	       before.resident >> 10, after.resident >> 10);
	assert_true(none_left);
	assert_true(after.shared <= before.shared);
	if (counts_memory())
		assert_true(after.resident <= before.resident + RSS_GROWTH_MAX);
	rdma_rig_fini(&rig);
	/* The next process that starts removes what the killed ones left in the folder. */
	rdma_rig_prepare(&rig, 0, SIZE, RIG_ALL, RIG_ALL);
	rdma_rig_start(&rig);
	uint32_t pages = count_pages(peer_folder);
	assert_in_range(pages, 0, 1); /* this process's page */
	/* ".", "..", the lock, the agent's and the listener's sockets */
	assert_in_range(count_entries(peer_folder) - pages, 1, 5);
	rdma_rig_fini(&rig);
}

static int open_nursery(void **state)
{
	int sockets[2];

	(void)state;
	peer_folder_make();
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0);
	fflush(NULL);
	nursery_pid = fork();
	CHECK(nursery_pid >= 0);
	if (nursery_pid == 0) {
		close(sockets[0]);
		nursery_run(sockets[1]);
	}
	close(sockets[1]);
	nursery = sockets[0];
	return 0;
}

static int close_nursery(void **state)
{
	(void)state;
	close(nursery);
	CHECK(waitpid(nursery_pid, NULL, 0) == nursery_pid);
	peer_folder_remove();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounds_of_kills_leave_nothing),
	};

	return cmocka_run_group_tests_name("rdma peers that are killed and replaced", tests, open_nursery, close_nursery);
}
