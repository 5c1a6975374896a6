/* SPDX-License-Identifier: BSD-3-Clause */
/* A hostile peer that misuses its doorbell, memory that it was lent, or what it keeps after its connection has ended. */
#include "conformance.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define OTHER SF_CAP_OTHER_PROCESS
#define FULL (UINT64_MAX - 1) /* the largest count that a write leaves in an eventfd */

/* ---- doorbells ---- */

enum { FILLS = 50, ROOM_LEFT = 500, PROGRESS = 2000 };

static _Atomic uint64_t *rings; /* shared with the peer: number of rings of its doorbell */

/* Refills the counter, so that the next ring finds it full. */
static void *fill_on(void *arg)
{
	const uint64_t one = 1;
	int fd = *(int *)arg;

	for (;;)
		(void)!write(fd, &one, sizeof(one));
	return NULL;
}

/* Fills its own doorbell repeatedly while it is rung, and checks that the ringing continues. */
static void filling_script(int sock)
{
	uint64_t count, full = FULL - ROOM_LEFT;
	char name[SF_NAME_MAX];
	struct sf_conn *conn;
	pthread_t thread;
	struct end end;

	hear_name(sock, name);
	end_open(&end, "host0/0000:d8:00.0", 1);
	conn = end_connect(&end, name);
	WAIT(end.connects == 1 && conn->state == SF_CONN_READY);
	while (sf_ep_arm(end.ep))
		end_poll(&end, 8);
	CHECK(pthread_create(&thread, NULL, fill_on, &end.event_fd) == 0);
	say_word(sock, 'a');
	for (int i = 0; i < FILLS; i++) {
		CHECK(fcntl(end.event_fd, F_SETFL, O_NONBLOCK) == 0);
		while (read(end.event_fd, &count, sizeof(count)) < 0 || write(end.event_fd, &full, sizeof(full)) < 0)
			;
		CHECK(fcntl(end.event_fd, F_SETFL, 0) == 0);
		for (uint64_t before = atomic_load(rings); atomic_load(rings) < before + PROGRESS;)
			sched_yield(); /* endless, if a ring waits for room */
	}
	say_word(sock, 'd');
	hear_word(sock, 'e');
	_exit(0); /* the thread may itself wait for room */
}

static void a_full_doorbell_does_not_block_a_ring(void)
{
	struct peer peer;
	struct end end;

	rings = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	peer_fork(&peer, filling_script);
	end_open(&end, "dpu0/0000:03:00.0", 1);
	end_listen(&end, SF_LISTEN_AUTO);
	say_name(peer.sock, end.name);
	WAIT(end.accepts == 1);
	hear_word(peer.sock, 'a');
	while (!word_waits(peer.sock)) {
		for (int i = 0; i < 1000; i++) {
			sf_conn_ring(end.accepted[0]);
			atomic_fetch_add(rings, 1);
		}
	}
	hear_word(peer.sock, 'd');
	say_word(peer.sock, 'e');
	peer_end(&peer);
	WAIT(end.closes == 1);
	sf_conn_close(end.accepted[0]);
	end_close(&end);
}

/* ---- reused process ids ---- */

#define NUMBER 77		       /* pid of the owner, and then of the process that replaces it */
#define PLACE ((char *)0x200000000000) /* address of the memory in both processes */
#define EDGE_AT 64		       /* not in a whole page: accessed by system call */
#define EDGE_LEN 128

static struct {
	int to_helper[2], to_caller[2]; /* pipes */
	pid_t owner;
	int sock; /* to the owner, then to the newcomer */
	bool replaced;
	long args[6], number, result;
} switched;

/* Forks a child with that pid. */
static pid_t fork_as(pid_t number)
{
	struct clone_args args = {.exit_signal = SIGCHLD, .set_tid = (uintptr_t)&number, .set_tid_size = 1};

	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

static char *place_map(uint8_t fill_with)
{
	char *memory = mmap(PLACE, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	CHECK(memory == PLACE);
	memset(memory, fill_with, 4096);
	return memory;
}

/* Has the owner's pid, maps memory at the owner's address, and checks that nobody writes there. */
static _Noreturn void newcomer(int sock)
{
	char *memory = place_map(7), word = 'n';

	CHECK(write(sock, &word, 1) == 1 && read(sock, &word, 1) == 1);
	for (int i = 0; i < 4096; i++)
		CHECK(memory[i] == 7);
	_exit(0);
}

/* Holds the importer in its system call while the owner dies and another process gets its pid; then performs the call. */
static void *switch_owners(void *arg)
{
	int socks[2];
	char word;

	while (read(switched.to_helper[0], &word, 1) == 1) {
		if (!switched.replaced) {
			CHECK(kill(switched.owner, SIGKILL) == 0 && waitpid(switched.owner, NULL, 0) == switched.owner);
			CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, socks) == 0);
			switched.owner = fork_as(switched.owner);
			if (switched.owner == 0)
				newcomer(socks[1]);
			CHECK(switched.owner > 0 && read(socks[0], &word, 1) == 1);
			switched.sock = socks[0];
			switched.replaced = true;
		}
		switched.result = syscall(switched.number, switched.args[0], switched.args[1], switched.args[2], switched.args[3],
					  switched.args[4], switched.args[5]);
		if (switched.result < 0)
			switched.result = -errno;
		CHECK(write(switched.to_caller[1], &word, 1) == 1);
	}
	return NULL;
}

static void call_trapped(int number, siginfo_t *info, void *context)
{
#ifdef __aarch64__
	unsigned long long *regs = ((ucontext_t *)context)->uc_mcontext.regs;
	static const int places[6] = {0, 1, 2, 3, 4, 5}, result = 0;
#else
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	static const int places[6] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9}, result = REG_RAX;
#endif
	char word = 't';

	for (int i = 0; i < 6; i++)
		switched.args[i] = (long)regs[places[i]];
	switched.number = info->si_syscall;
	if (write(switched.to_helper[1], &word, 1) != 1 || read(switched.to_caller[0], &word, 1) != 1)
		_exit(1);
	regs[result] = switched.result;
}

/* From here on, the helper performs this thread's writes into other processes. */
static void trap_calls(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwritev, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};
	struct sigaction action = {.sa_sigaction = call_trapped, .sa_flags = SA_SIGINFO};

	CHECK(sigaction(SIGSYS, &action, NULL) == 0);
	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static _Noreturn void edge_owner(int sock)
{
	char *memory = place_map(5), descriptor[SF_DESCRIPTOR_MAX];
	size_t len = sizeof(descriptor);
	struct sf_region *region;
	struct sf_domain *domain;

	CHECK_OK(sf_domain_open(fabric, "dpu0/0000:03:00.0", &domain));
	CHECK_OK(sf_region_register(domain, memory + EDGE_AT, EDGE_LEN, ALL_RIGHTS, &region));
	CHECK_OK(sf_region_export(region, descriptor, &len));
	say(sock, &len, sizeof(len));
	say(sock, descriptor, len);
	for (;;)
		pause();
}

static void write_while_owners_switch(void)
{
	char descriptor[SF_DESCRIPTOR_MAX], data[EDGE_LEN], word = 'w';
	struct sf_iov piece = {data, sizeof(data)};
	struct sf_region *import;
	struct sf_domain *domain;
	pthread_t helper;
	int socks[2], status;
	size_t len;

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, socks) == 0 && pipe(switched.to_helper) == 0 && pipe(switched.to_caller) == 0);
	switched.owner = fork_as(NUMBER);
	CHECK(switched.owner >= 0);
	if (switched.owner == 0)
		edge_owner(socks[1]);
	CHECK(pthread_create(&helper, NULL, switch_owners, NULL) == 0);
	hear(socks[0], &len, sizeof(len));
	hear(socks[0], descriptor, len);
	CHECK_OK(sf_domain_open(fabric, "host0/0000:d8:00.0", &domain));
	CHECK_OK(sf_region_import(domain, descriptor, len, &import));
	memset(data, 9, sizeof(data));
	trap_calls();

	struct sf_op op = {.kind = SF_OP_WRITE, .iov = &piece, .iov_num = 1, .remote_addr = import->addr};
	doca_error_t result = sf_region_access(import, &op);

	CHECK_RESULT(result, switched.replaced ? DOCA_ERROR_CONNECTION_ABORTED : DOCA_SUCCESS);
	if (switched.replaced) {
		CHECK(write(switched.sock, &word, 1) == 1);
		CHECK(waitpid(switched.owner, &status, 0) == switched.owner && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	sf_region_close(import);
	sf_domain_close(domain);
}

/* The next child is the first of a new pid namespace, so that child can choose the pids of its children. */
static bool make_namespace(void)
{
	char map[32];
	int fd;

	snprintf(map, sizeof(map), "%d %d 1", (int)getuid(), (int)getuid());
	if (unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0 || (fd = open("/proc/self/uid_map", O_WRONLY)) < 0)
		return false;

	bool mapped = write(fd, map, strlen(map)) == (ssize_t)strlen(map);

	close(fd);
	return mapped;
}

static void expect_success(pid_t child)
{
	int status;

	CHECK(child > 0);
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/*
 * No process here ends with exit(): a sanitizer's leak check fails in a pid namespace, where /proc shows the first process its
 * threads by pids of the outer namespace, and after the first process has ended its parent can fork no other.
 */
static _Noreturn void write_in_a_namespace(void)
{
	pid_t first;

	if (!make_namespace()) {
		fprintf(stderr, "no pid namespaces here: not tested\n");
		_exit(0);
	}
	first = fork();
	if (first == 0) {
		write_while_owners_switch();
		_exit(0);
	}
	expect_success(first);
	_exit(0);
}

static void a_write_stays_out_of_the_process_that_got_the_owners_number(void)
{
	pid_t maker = fork();

	if (maker == 0)
		write_in_a_namespace();
	expect_success(maker);
}

const struct conformance_case hostile_cases[] = {
	CASE(a_write_stays_out_of_the_process_that_got_the_owners_number, OTHER | SF_CAP_ONE_SIDED),
	CASE(a_full_doorbell_does_not_block_a_ring, OTHER),
	{0},
};
