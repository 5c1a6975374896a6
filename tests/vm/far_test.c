/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RDMA between two processes that share nothing but the network of their RDMA devices. The peer has its own runtime folder, its
 * own mount, process and IPC namespaces, and another user (where this user may do that). Connection details, memory maps and sync
 * events are exported on one side, transferred, and used on the other. Skips without an RDMA device.
 *
 * SOFTFIELD_TEST_DEVICES: "ours theirs", two RDMA devices that reach each other; by default both sides use the first one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "support/rdma_peer.h"

#include <doca_sync_event.h>

#include "support/rdma_cm_side.h"
#include "topology/sysfs.h"

#define SIZE (1 << 20)
#define MESSAGE 5000
#define NOBODY 65534
#define ROUNDS 5 /* peers that are killed */
#define FAR_PORT 18515
#define DESCRIPTOR_MAX 4096

#undef WAIT
#define WAIT(condition) RDMA_RIG_WAIT(&side->cm.rig, NULL, condition)

struct side {
	struct cm_side cm; /* first member, because the context's user data points to it */
	struct doca_rdma_connection *connection;
	struct doca_sync_event *event;
	struct doca_sync_event_remote_net *remote_event;
	uint32_t received;     /* messages that were checked */
	struct doca_buf *room; /* of the posted receive */
	int socket;
	struct peer peer;
};

struct exports {
	size_t details_len, memory_len, event_len;
	uint8_t details[DESCRIPTOR_MAX], memory[DESCRIPTOR_MAX], event[DESCRIPTOR_MAX];
};

/* ---- either side ---- */

static uint32_t device_index(const char *name)
{
	struct doca_devinfo **list;
	char ibdev[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	uint32_t num, found = UINT32_MAX;

	CHECK_OK(doca_devinfo_create_list(&list, &num));
	for (uint32_t i = 0; i < num; i++) {
		CHECK_OK(doca_devinfo_get_ibdev_name(list[i], ibdev, sizeof(ibdev)));
		if (found == UINT32_MAX && strcmp(ibdev, name) == 0)
			found = i;
	}
	doca_devinfo_destroy_list(list);
	CHECK(found != UINT32_MAX);
	return found;
}

static void side_open(struct side *side, const char *device)
{
	cm_side_prepare(&side->cm, device_index(device), 4);
	/* the rig's own memory has the default size; this test needs more */
	CHECK_OK(doca_mmap_destroy(side->cm.rig.mmap));
	free(side->cm.rig.memory);
	side->cm.rig.size = SIZE;
	side->cm.rig.memory = calloc(1, SIZE);
	CHECK_OK(doca_mmap_create(&side->cm.rig.mmap));
	CHECK_OK(doca_mmap_set_memrange(side->cm.rig.mmap, side->cm.rig.memory, SIZE));
	CHECK_OK(doca_mmap_set_permissions(side->cm.rig.mmap, RIG_ALL));
	CHECK_OK(doca_mmap_add_dev(side->cm.rig.mmap, side->cm.rig.dev));
	CHECK_OK(doca_mmap_start(side->cm.rig.mmap));
	CHECK_OK(doca_sync_event_create(&side->event));
	CHECK_OK(doca_sync_event_add_publisher_location_remote_net(side->event));
	CHECK_OK(doca_sync_event_add_subscriber_location_cpu(side->event, side->cm.rig.dev));
	CHECK_OK(doca_sync_event_start(side->event));
	rdma_rig_start(&side->cm.rig);
}

static void side_close(struct side *side)
{
	rdma_rig_stop(&side->cm.rig);
	if (side->remote_event != NULL)
		CHECK_OK(doca_sync_event_remote_net_destroy(side->remote_event));
	CHECK_OK(doca_sync_event_stop(side->event));
	CHECK_OK(doca_sync_event_destroy(side->event));
	rdma_rig_fini(&side->cm.rig);
}

static void copy(uint8_t to[DESCRIPTOR_MAX], const void *from, size_t len)
{
	CHECK(len <= DESCRIPTOR_MAX);
	memcpy(to, from, len);
}

static void make_exports(struct side *side, struct exports *exports)
{
	const void *details, *memory;
	const uint8_t *event;

	CHECK_OK(doca_rdma_export(side->cm.rig.rdma, &details, &exports->details_len, &side->connection));
	CHECK_OK(doca_mmap_export_rdma(side->cm.rig.mmap, side->cm.rig.dev, &memory, &exports->memory_len));
	CHECK_OK(doca_sync_event_export_to_remote_net(side->event, &event, &exports->event_len));
	copy(exports->details, details, exports->details_len);
	copy(exports->memory, memory, exports->memory_len);
	copy(exports->event, event, exports->event_len);
}

static void use_exports(struct side *side, const struct exports *exports)
{
	CHECK_OK(doca_rdma_connect(side->cm.rig.rdma, exports->details, exports->details_len, side->connection));
	rdma_rig_import(&side->cm.rig, exports->memory, exports->memory_len);
	CHECK_OK(doca_sync_event_remote_net_create_from_export(side->cm.rig.dev, exports->event, exports->event_len,
							       &side->remote_event));
}

static void fill(uint8_t *bytes, uint32_t seed)
{
	for (uint32_t i = 0; i < MESSAGE; i++)
		bytes[i] = (uint8_t)(i * 7 + (i >> 8) + seed);
}

static bool filled(const uint8_t *bytes, uint32_t seed)
{
	uint8_t expected[MESSAGE];

	fill(expected, seed);
	return memcmp(bytes, expected, MESSAGE) == 0;
}

static void receive(struct side *side)
{
	side->room = rig_room(&side->cm.rig, 0, MESSAGE);
	CHECK_OK(rig_receive(&side->cm.rig, side->room, 0));
}

static void receive_end(struct side *side, uint32_t num, uint32_t seed)
{
	WAIT(side->cm.rig.num_received == num);
	CHECK(side->cm.rig.len == MESSAGE && filled(side->cm.rig.memory, seed));
	rig_put(side->room);
}

static void send_one(struct side *side, struct doca_rdma_connection *connection, uint32_t seed)
{
	uint32_t good = side->cm.rig.num_good;
	struct doca_buf *buf = rig_source(&side->cm.rig, 8192, MESSAGE);

	fill(side->cm.rig.memory + 8192, seed);
	CHECK_OK(rig_send(&side->cm.rig, connection, buf, 0));
	WAIT(side->cm.rig.num_good == good + 1);
	rig_put(buf);
}

/* ---- the peer ---- */

/* Isolates the process like a machine of its own, except for the network, because Soft-RoCE works in one namespace only.
 * Without permission it does nothing. */
static void isolate(void)
{
	const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
	int status;
	pid_t pid;

	if (geteuid() != 0 || unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS) != 0)
		return;
	pid = fork();
	CHECK(pid >= 0);
	if (pid != 0) {
		CHECK(waitpid(pid, &status, 0) == pid);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
	}
	CHECK(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
	CHECK(mount("tmpfs", "/tmp", "tmpfs", 0, NULL) == 0 && mount("tmpfs", "/run", "tmpfs", 0, NULL) == 0);
	CHECK(mount("proc", "/proc", "proc", 0, NULL) == 0 && chmod("/tmp", 0777) == 0);
	(void)setrlimit(RLIMIT_MEMLOCK, &all);
	CHECK(setresgid(NOBODY, NOBODY, NOBODY) == 0 && setresuid(NOBODY, NOBODY, NOBODY) == 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* when the process that waits for this one exits */
}

static void peer_listen(struct side *side)
{
	char text[2][64];

	CHECK_OK(doca_rdma_start_listen_to_port(side->cm.rig.rdma, FAR_PORT));
	cm_text(side->cm.rig.dev, DOCA_RDMA_ADDR_TYPE_IPv4, text[0]);
	cm_text(side->cm.rig.dev, DOCA_RDMA_ADDR_TYPE_GID, text[1]);
	peer_say(side->socket, text, sizeof(text));
}

static void obey(struct side *side, char command)
{
	static struct exports exports;
	uint64_t value;

	switch (command) {
	case 'e': /* export */
		make_exports(side, &exports);
		peer_say(side->socket, &exports, sizeof(exports));
		return;
	case 'c': /* connect, so that this side can send before the other side connects */
		peer_hear(side->socket, &exports, sizeof(exports));
		use_exports(side, &exports);
		break;
	case 'r':
		receive(side);
		break;
	case 'R':
		receive_end(side, ++side->received, 1);
		break;
	case 's':
		send_one(side, side->connection, 2);
		break;
	case 'v':
		CHECK_OK(doca_sync_event_get(side->event, &value));
		peer_say(side->socket, &value, sizeof(value));
		return;
	case 'l':
		peer_listen(side);
		return;
	case 'a': /* accept a connection by address */
		value = side->cm.num_requests;
		WAIT(side->cm.num_requests == value + 1);
		WAIT(side->cm.policy == CM_REJECT || side->cm.num_established > 0);
		break;
	case 'j':
		side->cm.policy = CM_REJECT;
		break;
	case 'd':
		WAIT(side->cm.num_ended > 0);
		break;
	default:
		CHECK(!"a command");
	}
	peer_notify(side->socket, command);
}

static void peer_run(const char *device, int socket)
{
	static struct side side;
	char command;

	isolate();
	alarm(PEER_LIFE_S);
	peer_folder_make();
	side.socket = socket;
	side_open(&side, device);
	peer_notify(socket, '!');
	while (recv(socket, &command, 1, 0) == 1 && command != 'q')
		obey(&side, command);
	side_close(&side);
	peer_folder_remove();
	_exit(0);
}

/* ---- this side ---- */

static char devices[2][64];

static void peer_begin(struct side *side)
{
	peer_spawn(&side->peer, devices[1]);
	peer_expect(side->peer.socket, '!');
}

static void side_notify(struct side *side, char command)
{
	peer_notify(side->peer.socket, command);
}

static void expect(struct side *side, char command)
{
	peer_expect(side->peer.socket, command);
}

static void do_it(struct side *side, char command)
{
	side_notify(side, command);
	expect(side, command);
}

static int setup(void **state)
{
	static struct side side;

	memset(&side, 0, sizeof(side));
	peer_begin(&side);
	side_open(&side, devices[0]);
	*state = &side;
	return 0;
}

static int teardown(void **state)
{
	struct side *side = *state;

	if (side->peer.pid != 0) {
		(void)send(side->peer.socket, "q", 1, MSG_NOSIGNAL);
		peer_wait(&side->peer);
	}
	side_close(side);
	return 0;
}

static void meet(struct side *side, bool peer_first)
{
	static struct exports mine, theirs;

	if (peer_first) {
		side_notify(side, 'e');
		peer_hear(side->peer.socket, &theirs, sizeof(theirs));
	}
	make_exports(side, &mine);
	if (peer_first) {
		use_exports(side, &theirs);
	} else {
		do_it(side, 'r'); /* a receive is posted before any connection exists */
		side_notify(side, 'e');
		peer_hear(side->peer.socket, &theirs, sizeof(theirs));
	}
	side_notify(side, 'c');
	peer_say(side->peer.socket, &mine, sizeof(mine));
	expect(side, 'c');
	if (!peer_first)
		use_exports(side, &theirs);
}

static void talk(struct side *side)
{
	receive(side);
	do_it(side, 'r');
	send_one(side, side->connection, 1);
	do_it(side, 'R');
	do_it(side, 's');
	receive_end(side, 1, 2);
}

static void details_of_the_peer_first(void **state)
{
	struct side *side = *state;

	meet(side, true);
	talk(side);
}

static void details_of_ours_first(void **state)
{
	struct side *side = *state;

	meet(side, false);
	receive(side);
	send_one(side, side->connection, 1); /* into the receive that was posted first */
	do_it(side, 'R');
	do_it(side, 's');
	receive_end(side, 1, 2);
}

static void one_sided(void **state)
{
	struct side *side = *state;
	struct rdma_rig *rig = &side->cm.rig;
	const size_t word = 512 * 1024, here = 600 * 1024;
	struct doca_buf *bufs[7];
	uint64_t value;

	meet(side, true);
	bufs[0] = rig_source(rig, 8192, MESSAGE);
	bufs[1] = rig_remote_room(rig, 100000, MESSAGE);
	bufs[2] = rig_remote_source(rig, 100000, MESSAGE);
	bufs[3] = rig_room(rig, 300000, MESSAGE);
	fill(rig->memory + 8192, 9);
	CHECK_OK(rig_write(rig, side->connection, bufs[0], bufs[1], 0));
	CHECK_OK(rig_read(rig, side->connection, bufs[2], bufs[3], 0));
	WAIT(rig->num_good == 2);
	assert_true(filled(rig->memory + 300000, 9));
	bufs[4] = rig_remote_room(rig, word, 8);
	bufs[5] = rig_room(rig, here, 8);
	CHECK_OK(rig_add(rig, side->connection, bufs[4], bufs[5], 41, 0));
	WAIT(rig->num_good == 3);
	CHECK_OK(rig_cas(rig, side->connection, bufs[4], bufs[5], 41, 77, 0));
	WAIT(rig->num_good == 4);
	CHECK_OK(rig_add(rig, side->connection, bufs[4], bufs[5], 0, 0));
	WAIT(rig->num_good == 5);
	memcpy(&value, rig->memory + here, sizeof(value));
	assert_int_equal(value, 77);
	for (int i = 0; i < 6; i++)
		rig_put(bufs[i]);
}

static void sync_events(void **state)
{
	struct side *side = *state;
	struct rdma_rig *rig = &side->cm.rig;
	struct doca_buf *source = rig_source(rig, 64, 8), *result = rig_room(rig, 128, 8), *got = rig_room(rig, 192, 8);
	uint64_t value = 40;

	meet(side, true);
	memcpy(rig->memory + 64, &value, sizeof(value));
	CHECK_OK(rig_event_set(rig, side->connection, side->remote_event, source, 0));
	CHECK_OK(rig_event_add(rig, side->connection, side->remote_event, result, 2, 0));
	CHECK_OK(rig_event_get(rig, side->connection, side->remote_event, got, 0));
	WAIT(rig->num_good == 3);
	memcpy(&value, rig->memory + 192, sizeof(value));
	assert_int_equal(value, 42);
	memcpy(&value, rig->memory + 128, sizeof(value));
	assert_int_equal(value, 40);
	side_notify(side, 'v');
	peer_hear(side->peer.socket, &value, sizeof(value));
	assert_int_equal(value, 42);
	rig_put(source);
	rig_put(result);
	rig_put(got);
}

/* The peer's accept needs its progress calls, which it makes on command. */
static void by_address(void **state)
{
	struct side *side = *state;
	char text[2][64];

	side_notify(side, 'l');
	peer_hear(side->peer.socket, text, sizeof(text));
	for (uint32_t i = 0; i < 2; i++) {
		CHECK_OK(cm_call(&side->cm, i == 0 ? DOCA_RDMA_ADDR_TYPE_IPv4 : DOCA_RDMA_ADDR_TYPE_GID, text[i], FAR_PORT, 5));
		side_notify(side, 'a');
		WAIT(side->cm.num_established == i + 1);
		expect(side, 'a');
		do_it(side, 'r');
		send_one(side, side->cm.established, 1);
		do_it(side, 'R');
		CHECK_OK(doca_rdma_connection_disconnect(side->cm.established));
		WAIT(side->cm.num_ended == i + 1);
		do_it(side, 'd');
	}
	do_it(side, 'j');
	CHECK_OK(cm_call(&side->cm, DOCA_RDMA_ADDR_TYPE_IPv4, text[0], FAR_PORT, 5));
	side_notify(side, 'a');
	WAIT(side->cm.num_failed == 1);
	expect(side, 'a');
	CHECK_OK(cm_call(&side->cm, DOCA_RDMA_ADDR_TYPE_IPv4, text[0], FAR_PORT + 1, 5)); /* nothing listens there */
	WAIT(side->cm.num_failed == 2);
}

static void a_caller_learns_that_the_peer_died(void **state)
{
	struct side *side = *state;
	char text[2][64];

	side_notify(side, 'l');
	peer_hear(side->peer.socket, text, sizeof(text));
	CHECK_OK(cm_call(&side->cm, DOCA_RDMA_ADDR_TYPE_IPv4, text[0], FAR_PORT, 5));
	side_notify(side, 'a');
	WAIT(side->cm.num_established == 1);
	expect(side, 'a');
	peer_kill(&side->peer);
	WAIT(side->cm.num_ended == 1);
	peer_wait(&side->peer);
}

static void fail_next_task(struct side *side)
{
	CHECK_OK(rig_send(&side->cm.rig, side->connection, NULL, 0));
	WAIT(side->cm.rig.num_failed > 0 && side->cm.rig.state == DOCA_CTX_STATE_IDLE);
	assert_int_equal(side->cm.rig.status, DOCA_ERROR_CONNECTION_ABORTED);
	side->cm.rig.num_failed = 0;
}

static void forget_imports(struct side *side)
{
	CHECK_OK(doca_mmap_destroy(side->cm.rig.remote));
	side->cm.rig.remote = NULL;
	CHECK_OK(doca_sync_event_remote_net_destroy(side->remote_event));
	side->remote_event = NULL;
}

static void peers_that_are_killed_and_replaced(void **state)
{
	struct side *side = *state;

	for (int i = 0; i < ROUNDS; i++) {
		uint32_t received = side->cm.rig.num_received;

		meet(side, true);
		do_it(side, 'r');
		send_one(side, side->connection, 1);
		do_it(side, 'R');
		assert_int_equal(side->cm.rig.num_received, received);
		peer_kill(&side->peer);
		peer_wait(&side->peer);
		fail_next_task(side);
		forget_imports(side);
		rdma_rig_start(&side->cm.rig);
		peer_begin(side);
	}
}

/* Its details are valid, but the process no longer exists. */
static void a_peer_that_is_gone_before_we_connect(void **state)
{
	static struct exports theirs;
	struct side *side = *state;
	struct doca_sync_event_remote_net *event;
	struct doca_mmap *mmap;
	struct exports mine;

	side_notify(side, 'e');
	peer_hear(side->peer.socket, &theirs, sizeof(theirs));
	peer_kill(&side->peer);
	peer_wait(&side->peer);
	make_exports(side, &mine);
	CHECK_OK(doca_rdma_connect(side->cm.rig.rdma, theirs.details, theirs.details_len, side->connection));
	fail_next_task(side);
	assert_int_equal(doca_mmap_create_from_export(NULL, theirs.memory, theirs.memory_len, side->cm.rig.dev, &mmap),
			 DOCA_ERROR_NOT_PERMITTED);
	assert_int_not_equal(
		doca_sync_event_remote_net_create_from_export(side->cm.rig.dev, theirs.event, theirs.event_len, &event),
		DOCA_SUCCESS);
}

static bool choose_devices(void)
{
	static struct sf_real_device real[SF_REAL_DEVICES_MAX];
	const char *named = getenv("SOFTFIELD_TEST_DEVICES");

	if (named != NULL)
		return sscanf(named, "%63s %63s", devices[0], devices[1]) == 2;
	if (sf_sysfs_rdma("", real) == 0)
		return false;
	memcpy(devices[0], real[0].name, sizeof(devices[0]));
	memcpy(devices[1], real[0].name, sizeof(devices[1]));
	return true;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(details_of_the_peer_first, setup, teardown),
		cmocka_unit_test_setup_teardown(details_of_ours_first, setup, teardown),
		cmocka_unit_test_setup_teardown(one_sided, setup, teardown),
		cmocka_unit_test_setup_teardown(sync_events, setup, teardown),
		cmocka_unit_test_setup_teardown(by_address, setup, teardown),
		cmocka_unit_test_setup_teardown(a_caller_learns_that_the_peer_died, setup, teardown),
		cmocka_unit_test_setup_teardown(peers_that_are_killed_and_replaced, setup, teardown),
		cmocka_unit_test_setup_teardown(a_peer_that_is_gone_before_we_connect, setup, teardown),
	};

	unsetenv("SOFTFIELD_FABRIC");
	if (argc == 3) {
		peer_run(argv[1], atoi(argv[2]));
		return 0;
	}
	if (!choose_devices())
		return 77;
	peer_folder_make();

	int failed = cmocka_run_group_tests_name("rdma between machines", tests, NULL, NULL);

	peer_folder_remove();
	return failed;
}
