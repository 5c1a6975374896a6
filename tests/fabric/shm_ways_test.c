/* SPDX-License-Identifier: BSD-3-Clause */
/* What only shm has: its slower ways to copy a byte, receives that are held by stopped peers, and its folder. */
#include "forked_case.h"

#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fabric/shm/descriptor.h"
#include "fabric/shm/due.h"
#include "fabric/shm/conn.h"
#include "fabric/shm/ring.h"
#include "support/stop.h"

#define OTHER_USER 65534
#define SHARED_MEMORY ((size_t)1 << 20)
#define EDGE 24 /* the region begins neither on a page nor at a multiple of 64 bytes */

/* From here on this process cannot access the memory of others, as in a container that forbids it. */
static void forbid_process_vm(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_preadv, 1, 0), /* from /proc/PID/mem */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwritev, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};
	char byte = 0;
	struct iovec here = {&byte, 1};

	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
	CHECK(process_vm_readv(getpid(), &here, 1, &here, 1, 0) < 0 && errno == EPERM);
}

/* Memory that is already shared is not moved: a peer can map none of its pages. */
static void use_shared_memory(struct end *end, struct sf_region **region, char **memory)
{
	*memory = mmap(NULL, SHARED_MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(*memory != MAP_FAILED);
	*memory += EDGE;
	CHECK_OK(sf_region_register(end->domain, *memory, SHARED_MEMORY - EDGE, ALL_RIGHTS, region));
}

static struct sf_conn *meet(struct end *end, struct peer *peer)
{
	char name[SF_NAME_MAX];
	struct sf_conn *conn;

	hear_name(peer->sock, name);
	end_open(end, "host0/0000:d8:00.0", 4);
	conn = end_connect(end, name);
	WAIT(end->connects == 1);
	CHECK_OK(end->connect_status);
	return conn;
}

static void owner_open(struct end *end, int sock, uint32_t recv_max)
{
	end_open(end, "dpu0/0000:03:00.0", recv_max);
	end_listen(end, SF_LISTEN_AUTO);
	say_name(sock, end->name);
}

static void owner_close(struct end *end)
{
	WAIT(end->closes == 1);
	sf_conn_close(end->accepted[0]);
	end_close(end);
}

#define LONG_MESSAGE ((size_t)300000)

static void unmapped_receiver(int sock)
{
	struct sf_region *region;
	struct slot slot;
	struct end end;
	char *memory;

	owner_open(&end, sock, 1);
	use_shared_memory(&end, &region, &memory);
	slot_set(&end, &slot, 0, 1);
	slot.recv.region = region;
	slot.pieces[0] = (struct sf_iov){memory + 7, 1000};
	slot.pieces[1] = (struct sf_iov){memory + 5000, LONG_MESSAGE};
	slot.recv.iov_num = 2;
	CHECK_OK(slot_post_set(&slot));
	say_word(sock, 'p');
	WAIT(slot.done == 1);
	CHECK_OK(slot.recv.status);
	CHECK(slot.recv.len == LONG_MESSAGE && slot.recv.header_len == 5 && memcmp(slot.recv.header, "title", 5) == 0);
	memmove(memory + 1007, memory + 5000, LONG_MESSAGE - 1000);
	CHECK(filled(memory + 7, LONG_MESSAGE, 3));
	sf_region_close(region);
	owner_close(&end);
}

static void a_long_message_goes_in_parts(void)
{
	struct peer peer;
	struct send send, next;
	struct sf_conn *conn;
	struct end end;

	needs_system_call_filter();
	peer_fork(&peer, unmapped_receiver);
	forbid_process_vm();
	conn = meet(&end, &peer);
	fill(end.memory, LONG_MESSAGE, 3);
	send_set(&send, end.memory, LONG_MESSAGE);
	send.op.header = "title";
	send.op.header_len = 5;
	hear_word(peer.sock, 'p');
	CHECK_OK(submit(conn, &send));
	send_set(&next, "x", 1);
	CHECK_RESULT(submit(conn, &next), DOCA_ERROR_AGAIN); /* no matter if it lacks the ring or a receive */
	WAIT(send.done == 1);
	CHECK_OK(send.op.status);
	sf_conn_close(conn);
	peer_end(&peer);
	end_close(&end);
}

static void unmapped_owner(int sock)
{
	char descriptor[SF_DESCRIPTOR_MAX] = {0};
	size_t len = sizeof(descriptor);
	struct sf_region *region;
	struct slot slot;
	struct end end;
	char *memory;

	owner_open(&end, sock, 1);
	use_shared_memory(&end, &region, &memory);
	CHECK_OK(slot_post(&end, &slot, 0, 0));
	memset(memory, 0, 64);
	CHECK_OK(sf_region_export(region, descriptor, &len));
	say(sock, descriptor, sizeof(descriptor));
	hear_word(sock, 'w'); /* only the agent has served the peer until now */
	WAIT(slot.done == 1);
	CHECK(slot.recv.kind == SF_OP_WRITE && slot.recv.len == 0 && slot.recv.header_len == 2);
	CHECK(filled(memory + 100, LONG_MESSAGE, 5));
	CHECK(__atomic_load_n((uint64_t *)(void *)memory, __ATOMIC_ACQUIRE) == 47);
	sf_region_close(region);
	say_word(sock, 'c');
	owner_close(&end);
}

static void the_agent_reaches_what_nothing_else_does(void)
{
	char descriptor[SF_DESCRIPTOR_MAX];
	struct sf_region *region;
	struct sf_conn *conn;
	struct peer peer;
	struct send send;
	struct end end;
	uint64_t old = 9;
	void *mapped;

	needs_system_call_filter();
	peer_fork(&peer, unmapped_owner);
	forbid_process_vm();
	conn = meet(&end, &peer);
	hear(peer.sock, descriptor, sizeof(descriptor));
	CHECK_OK(sf_region_import(end.domain, descriptor, SHM_DESCRIPTOR_SIZE, &region));
	CHECK_RESULT(sf_region_map(region, &mapped), DOCA_ERROR_NOT_SUPPORTED);
	fill(end.memory, LONG_MESSAGE, 5);
	one_sided_set(&send, SF_OP_WRITE, region, region->addr + 100, end.memory, LONG_MESSAGE);
	send.op.header = "hi";
	send.op.header_len = 2;
	CHECK_OK(submit_wait(conn, &send));
	one_sided_set(&send, SF_OP_READ, region, region->addr + 100, end.memory + LONG_MESSAGE, LONG_MESSAGE);
	CHECK_OK(submit_wait(conn, &send));
	CHECK(filled(end.memory + LONG_MESSAGE, LONG_MESSAGE, 5));
	one_sided_set(&send, SF_OP_FAA, region, region->addr, &old, sizeof(old));
	send.op.value = 5;
	CHECK_OK(submit_wait(conn, &send));
	CHECK(old == 0);
	one_sided_set(&send, SF_OP_CAS, region, region->addr, &old, sizeof(old));
	send.op.compare = 5;
	send.op.value = 47;
	CHECK_OK(submit_wait(conn, &send));
	CHECK(old == 5);
	say_word(peer.sock, 'w');
	hear_word(peer.sock, 'c');
	CHECK_RESULT(submit_wait(conn, &send), DOCA_ERROR_CONNECTION_ABORTED);
	sf_region_close(region);
	sf_conn_close(conn);
	peer_end(&peer);
	end_close(&end);
}

#define ACCESSORS 3
#define ACCESS_LEN ((size_t)40000) /* takes several requests to the agent */
#define ACCESS_ROUNDS 20u

struct accessor {
	pthread_t thread;
	struct sf_region *region;
	uint32_t number;
	doca_error_t ended;
};

static doca_error_t reach(struct sf_region *region, enum sf_op_kind kind, uint64_t at, void *data, size_t len)
{
	struct sf_iov piece = {data, len};
	struct sf_op op = {.kind = kind, .iov = &piece, .iov_num = 1, .remote_addr = region->addr + at, .value = 1};

	return sf_region_access(region, &op);
}

static void *access_run(void *arg)
{
	struct accessor *accessor = arg;
	uint64_t at = 8 + accessor->number * ACCESS_LEN, old;
	char *data = malloc(ACCESS_LEN);

	for (uint32_t i = 0; i < ACCESS_ROUNDS; i++) {
		fill(data, ACCESS_LEN, accessor->number * ACCESS_ROUNDS + i);
		CHECK_OK(reach(accessor->region, SF_OP_WRITE, at, data, ACCESS_LEN));
		CHECK_OK(reach(accessor->region, SF_OP_FAA, 0, &old, sizeof(old)));
		memset(data, 0, ACCESS_LEN);
		CHECK_OK(reach(accessor->region, SF_OP_READ, at, data, ACCESS_LEN));
		CHECK(filled(data, ACCESS_LEN, accessor->number * ACCESS_ROUNDS + i));
	}
	free(data);
	return NULL;
}

static void *access_until_it_ends(void *arg)
{
	struct accessor *accessor = arg;
	uint64_t old;

	while ((accessor->ended = reach(accessor->region, SF_OP_FAA, 0, &old, sizeof(old))) == DOCA_SUCCESS)
		;
	return NULL;
}

static void unconnected_owner(int sock)
{
	char descriptor[SF_DESCRIPTOR_MAX] = {0};
	size_t len = sizeof(descriptor);
	struct sf_region *region;
	struct end end;
	char *memory;

	end_open(&end, "dpu0/0000:03:00.0", 1);
	use_shared_memory(&end, &region, &memory);
	memset(memory, 0, 8);
	CHECK_OK(sf_region_export(region, descriptor, &len));
	say(sock, descriptor, sizeof(descriptor));
	hear_word(sock, 'e'); /* never sent */
}

/* Several threads access a region without connections; the owner's agent is stopped for a while, and killed in the end. */
static void the_agent_serves_accesses_without_connections(void)
{
	struct accessor accessors[ACCESSORS];
	char descriptor[SF_DESCRIPTOR_MAX];
	struct sf_domain *domain;
	struct sf_region *region;
	struct peer peer;
	uint64_t old, begin;

	needs_system_call_filter();
	peer_fork(&peer, unconnected_owner);
	forbid_process_vm();
	CHECK_OK(sf_domain_open(fabric, "host0/0000:d8:00.0", &domain));
	hear(peer.sock, descriptor, sizeof(descriptor));
	CHECK_OK(sf_region_import(domain, descriptor, SHM_DESCRIPTOR_SIZE, &region));
	for (uint32_t i = 0; i < ACCESSORS; i++) {
		accessors[i] = (struct accessor){.region = region, .number = i};
		CHECK(pthread_create(&accessors[i].thread, NULL, access_run, &accessors[i]) == 0);
	}
	for (uint32_t i = 0; i < ACCESSORS; i++)
		CHECK(pthread_join(accessors[i].thread, NULL) == 0);
	CHECK_OK(reach(region, SF_OP_READ, 0, &old, sizeof(old)));
	CHECK(old == ACCESSORS * ACCESS_ROUNDS);

	process_stop(peer.pid);
	begin = sf_now_ms();
	CHECK_RESULT(reach(region, SF_OP_READ, 0, &old, sizeof(old)), DOCA_ERROR_TIME_OUT);
	CHECK_RESULT(reach(region, SF_OP_FAA, 0, &old, sizeof(old)), DOCA_ERROR_TIME_OUT);
	CHECK(sf_now_ms() - begin < 10000);
	CHECK(kill(peer.pid, SIGCONT) == 0);
	CHECK_OK(reach(region, SF_OP_FAA, 0, &old, sizeof(old)));
	CHECK(old == ACCESSORS * ACCESS_ROUNDS); /* the first FAA was never sent, because the read before it was still pending */

	for (uint32_t i = 0; i < ACCESSORS; i++)
		CHECK(pthread_create(&accessors[i].thread, NULL, access_until_it_ends, &accessors[i]) == 0);
	peer_kill(&peer);
	for (uint32_t i = 0; i < ACCESSORS; i++) {
		CHECK(pthread_join(accessors[i].thread, NULL) == 0);
		CHECK_RESULT(accessors[i].ended, DOCA_ERROR_CONNECTION_ABORTED);
	}
	sf_region_close(region);
	sf_domain_close(domain);
}

/* Claims the first receive of the case's endpoint, as a sender does just before it copies, and then pauses. */
static void claimer(int sock)
{
	char name[SF_NAME_MAX];
	struct shm_conn *conn;
	struct shm_entry *entry;
	struct end end;
	uint64_t state;

	hear_name(sock, name);
	end_open(&end, "dpu0/0000:03:00.0", 1);
	conn = shm_conn(end_connect(&end, name));
	WAIT(end.connects == 1);
	entry = &conn->peer_ep->segment->entry[shm_position(conn->peer_ep->segment->hint, conn->peer_ep->entries)];
	state = atomic_load(&entry->state);
	CHECK(shm_state_kind(state) == SHM_POSTED);
	atomic_store(conn->tx.claim, shm_claim_word(entry->slot, shm_state_ticket(state)));
	CHECK(atomic_compare_exchange_strong(&entry->state, &state,
					     shm_state(SHM_TAKEN, conn->peer_conn, shm_state_ticket(state))));
	say_word(sock, 't');
	for (;;)
		pause();
}

static void claimed_from(struct peer *peer, struct end *end, struct slot *slot)
{
	peer_fork(peer, claimer);
	end_open(end, "host0/0000:d8:00.0", 2);
	end_listen(end, SF_LISTEN_AUTO);
	CHECK_OK(slot_post(end, slot, 0, 4096));
	say_name(peer->sock, end->name);
	hear_word(peer->sock, 't');
	WAIT(end->accepts == 1);
}

static void a_killed_senders_receive_is_posted_again(void)
{
	struct sf_conn *conn;
	struct peer peer;
	struct slot slot;
	struct end end;

	claimed_from(&peer, &end, &slot);
	peer_kill(&peer);
	WAIT(end.closes == 1);
	CHECK_RESULT(end.close_reason, DOCA_ERROR_CONNECTION_ABORTED);
	CHECK(slot.done == 0);
	sf_conn_close(end.closed);
	conn = end_connect(&end, end.name);
	WAIT(end.connects == 1 && end.accepts == 2);
	send_wait(conn, "again", 5);
	WAIT(slot.done == 1);
	CHECK_OK(slot.recv.status);
	CHECK(slot.recv.len == 5 && memcmp(end.memory, "again", 5) == 0);
	sf_conn_close(conn);
	sf_conn_close(end.accepted[1]);
	end_close(&end);
}

static void a_stopped_sender_holds_up_one_receive_only(void)
{
	struct slot slot, rounds[2];
	struct sf_conn *conn;
	struct peer peer;
	struct end end;

	claimed_from(&peer, &end, &slot);
	process_stop(peer.pid);
	conn = end_connect(&end, end.name);
	WAIT(end.connects == 1 && end.accepts == 2);
	for (int i = 0; i < 100; i++) { /* often enough to go around the ring of two many times */
		CHECK_OK(slot_post(&end, &rounds[i % 2], 8192, 64));
		send_wait(conn, &i, sizeof(i));
		WAIT(rounds[i % 2].done == 1);
		CHECK(memcmp(end.memory + 8192, &i, sizeof(i)) == 0);
	}
	CHECK(slot.done == 0);
	/* A flush returns the receive after a second, and ends the connection that claimed it. */
	sf_ep_flush_recvs(end.ep);
	WAIT(slot.done == 1 && end.closes == 1);
	CHECK_RESULT(slot.recv.status, DOCA_ERROR_CONNECTION_ABORTED);
	CHECK(end.closed == end.accepted[0] && slot.recv.conn == NULL);
	sf_conn_close(end.accepted[0]);
	sf_conn_close(end.accepted[1]);
	sf_conn_close(conn);
	end_close(&end);
	peer_kill(&peer);
}

/* Reports the first receive as filled without having claimed it. */
static void false_sender(int sock)
{
	char name[SF_NAME_MAX];
	struct shm_record *record;
	struct shm_entry *entry;
	struct shm_conn *conn;
	struct end end;

	hear_name(sock, name);
	end_open(&end, "dpu0/0000:03:00.0", 1);
	conn = shm_conn(end_connect(&end, name));
	WAIT(end.connects == 1);
	entry = &conn->peer_ep->segment->entry[shm_position(conn->peer_ep->segment->hint, conn->peer_ep->entries)];
	CHECK(shm_state_kind(atomic_load(&entry->state)) == SHM_POSTED);
	record = shm_tx_next(&conn->tx);
	memcpy(record->bytes, "lie", 4);
	atomic_store(&record->slot, atomic_load(&entry->slot));
	atomic_store(&record->ticket, shm_state_ticket(atomic_load(&entry->state)));
	atomic_store(&record->data_len, 4);
	atomic_store(&record->msg_len, 4);
	atomic_store(&record->mark, SHM_RECORD_SEND | 1 << 16);
	shm_ready_set(conn->peer_ep->segment, conn->peer_slot);
	for (;;)
		pause();
}

static void naming_an_unclaimed_receive_ends_the_connection(void)
{
	struct sf_conn *conn;
	struct peer peer;
	struct slot slot;
	struct end end;

	peer_fork(&peer, false_sender);
	end_open(&end, "host0/0000:d8:00.0", 2);
	end_listen(&end, SF_LISTEN_AUTO);
	conn = end_connect(&end, end.name);
	WAIT(end.connects == 1 && end.accepts == 1);
	CHECK_OK(slot_post(&end, &slot, 0, 4096));
	say_name(peer.sock, end.name);
	WAIT(end.closes == 1);
	CHECK(end.accepts == 2 && end.closed == end.accepted[1] && slot.done == 0);
	CHECK_RESULT(end.close_reason, DOCA_ERROR_CONNECTION_ABORTED);
	send_wait(conn, "truth", 6);
	WAIT(slot.done == 1);
	CHECK_OK(slot.recv.status);
	CHECK(slot.recv.conn == end.accepted[0] && memcmp(end.memory, "truth", 6) == 0);
	sf_conn_close(end.accepted[0]);
	sf_conn_close(end.accepted[1]);
	sf_conn_close(conn);
	end_close(&end);
	peer_kill(&peer);
}

static void folder_remove(const char *folder)
{
	char lock[4096 + 8];

	snprintf(lock, sizeof(lock), "%s/lock", folder);
	CHECK(unlink(lock) == 0);
	CHECK(rmdir(folder) == 0); /* succeeds only if nothing else is left */
}

static void a_folder_open_to_others_is_rejected(void)
{
	char folder[] = "/tmp/softfield-test-XXXXXX", deep[4096], *at = deep;
	struct sf_listener *listener;
	struct end end;

	CHECK(mkdtemp(folder) != NULL && chmod(folder, 0755) == 0);
	CHECK(setenv("SOFTFIELD_RUNTIME", folder, 1) == 0);
	end_open(&end, "host0/0000:d8:00.0", 1);
	CHECK_RESULT(sf_listener_open(end.ep, "name", 0, NULL, &listener), DOCA_ERROR_NOT_PERMITTED);
	CHECK(chmod(folder, 0700) == 0);
	CHECK_OK(sf_listener_open(end.ep, "name", 0, NULL, &listener));
	sf_listener_close(listener);
	end_close(&end);

	/* A folder whose name is longer than the path of a socket may be. */
	at += sprintf(at, "%s/", folder);
	memset(at, 'd', 200);
	at[200] = '\0';
	CHECK(setenv("SOFTFIELD_RUNTIME", deep, 1) == 0);
	struct pair pair;
	pair_open(&pair, 1);
	pair_close(&pair);
	folder_remove(deep);
	folder_remove(folder);
}

static void exporter(int sock)
{
	char descriptor[SF_DESCRIPTOR_MAX] = {0};
	size_t len = sizeof(descriptor);
	struct end end;

	end_open(&end, "dpu0/0000:03:00.0", 1);
	CHECK_OK(sf_region_export(end.region, descriptor, &len));
	say(sock, descriptor, sizeof(descriptor));
	hear_word(sock, 'x');
	end_close(&end);
}

/* A well-formed descriptor, so that the owner rejects it. */
static void a_wrong_token_is_rejected(void)
{
	char bytes[SF_DESCRIPTOR_MAX];
	struct sf_descriptor descriptor;
	struct sf_region *region;
	struct peer peer;
	struct end end;

	peer_fork(&peer, exporter);
	end_open(&end, "host0/0000:d8:00.0", 1);
	hear(peer.sock, bytes, sizeof(bytes));
	CHECK_OK(sf_descriptor_unpack(&sf_shm_descriptor, bytes, SHM_DESCRIPTOR_SIZE, &descriptor));
	for (int bit = 0; bit < 8 * SF_KEY_SIZE; bit += 9) {
		descriptor.token.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		sf_descriptor_pack(&sf_shm_descriptor, &descriptor, NULL, (uint8_t *)bytes);
		CHECK_RESULT(sf_region_import(end.domain, bytes, SHM_DESCRIPTOR_SIZE, &region), DOCA_ERROR_NOT_PERMITTED);
		descriptor.token.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	sf_descriptor_pack(&sf_shm_descriptor, &descriptor, NULL, (uint8_t *)bytes);
	CHECK_OK(sf_region_import(end.domain, bytes, SHM_DESCRIPTOR_SIZE, &region));
	sf_region_close(region);
	say_word(peer.sock, 'x');
	peer_end(&peer);
	end_close(&end);
}

/* Connects to every socket of a folder that any user may enter. */
static void knock_as_another_user(int sock)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct timeval deadline = {.tv_sec = WAIT_MS / 1000};
	char byte;
	int fd;

	CHECK(setuid(OTHER_USER) == 0);
	for (;;) {
		hear(sock, address.sun_path, sizeof(address.sun_path));
		if (address.sun_path[0] == '\0')
			return;
		fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
		CHECK(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof(deadline)) == 0);
		CHECK(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
		CHECK(recv(fd, &byte, 1, 0) == 0); /* a peer that is accepted would block here */
		close(fd);
		say_word(sock, 'c');
	}
}

static void a_process_of_another_user_is_rejected(void)
{
	char folder[] = "/tmp/softfield-test-XXXXXX", path[sizeof(((struct sockaddr_un *)0)->sun_path)] = {0};
	struct dirent *entry;
	struct peer peer;
	struct end end;
	int sockets = 0;
	DIR *dir;

	needs_user(OTHER_USER);
	peer_fork(&peer, knock_as_another_user);
	CHECK(mkdtemp(folder) != NULL && setenv("SOFTFIELD_RUNTIME", folder, 1) == 0);
	end_open(&end, "host0/0000:d8:00.0", 1);
	end_listen(&end, SF_LISTEN_AUTO);
	CHECK(chmod(folder, 0755) == 0);
	dir = opendir(folder);
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_type != DT_SOCK)
			continue;
		snprintf(path, sizeof(path), "%s/%.60s", folder, entry->d_name);
		CHECK(chmod(path, 0777) == 0);
		say(peer.sock, path, sizeof(path));
		hear_word(peer.sock, 'c');
		sockets++;
	}
	closedir(dir);
	CHECK(sockets == 2); /* the agent's and the listener's */
	memset(path, 0, sizeof(path));
	say(peer.sock, path, sizeof(path));
	peer_end(&peer);
	CHECK(end.requests == 0 && chmod(folder, 0700) == 0);
	end_close(&end);
	folder_remove(folder);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		SHM_CASE(a_long_message_goes_in_parts),
		SHM_CASE(the_agent_reaches_what_nothing_else_does),
		SHM_CASE(the_agent_serves_accesses_without_connections),
		SHM_CASE(a_killed_senders_receive_is_posted_again),
		SHM_CASE(a_stopped_sender_holds_up_one_receive_only),
		SHM_CASE(naming_an_unclaimed_receive_ends_the_connection),
		SHM_CASE(a_folder_open_to_others_is_rejected),
		SHM_CASE(a_wrong_token_is_rejected),
		SHM_CASE(a_process_of_another_user_is_rejected),
	};

	return cmocka_run_group_tests_name("shm", cases, NULL, NULL);
}
