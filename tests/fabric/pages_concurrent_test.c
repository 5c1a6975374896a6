/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory is moved while other threads write to it or move it: as root, as an ordinary user, without userfaultfd, and in a
 * child. */
#include "pages.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "fabric/shm/guard.h"
#include "fabric/shm/maps.h"
#include "support/check.h"
#include "support/slow.h"
#include "support/stop.h"

#define ROUNDS (slow_build() ? 200 : 1000)

/* Each counter belongs to one thread; the last value that it wrote must still be there afterwards. */
struct writer {
	_Atomic bool stop;
	_Atomic uint64_t *counters;
	size_t num, stride;
	uint64_t rounds;
	uint64_t lost;
};

static void *writer_run(void *arg)
{
	struct writer *writer = arg;

	while (!atomic_load_explicit(&writer->stop, memory_order_relaxed)) {
		for (size_t i = 0; i < writer->num; i++) {
			_Atomic uint64_t *counter = &writer->counters[i * writer->stride];
			uint64_t seen = atomic_load_explicit(counter, memory_order_relaxed);

			writer->lost += seen != writer->rounds;
			atomic_store_explicit(counter, writer->rounds + 1, memory_order_relaxed);
		}
		writer->rounds++;
	}
	return NULL;
}

static void writers_lose_nothing(size_t pages_num, int rounds)
{
	const size_t len = pages_num * PAGE;
	char *addr = anon(len);
	struct writer writer = {
		.counters = (_Atomic uint64_t *)addr, .num = pages_num * 2, .stride = PAGE / 2 / sizeof(uint64_t)};
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, writer_run, &writer), 0);
	for (int i = 0; i < rounds; i++)
		sf_pages_restore(move(addr, len));
	atomic_store(&writer.stop, true);
	pthread_join(thread, NULL);
	assert_int_equal(writer.lost, 0);
	assert_true(writer.rounds > 0);
	munmap(addr, len);
}

static void concurrent_writer_loses_nothing(void **state)
{
	struct sf_guard guard;

	sf_guard_open(&guard);
	if (guard.fd < 0)
		skip(); /* without userfaultfd a write can be lost, as documented */
	sf_guard_close(&guard);
	writers_lose_nothing(1, ROUNDS);
	writers_lose_nothing(16, ROUNDS);
	writers_lose_nothing(512, ROUNDS / 10);
}

static void writer_as_an_ordinary_user_loses_nothing(void **state)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		struct sf_guard guard;

		if (geteuid() == 0 && setuid(65534) != 0)
			_exit(77); /* there is no such user in this namespace */
		sf_guard_open(&guard);
		if (guard.fd < 0)
			_exit(77);
		writers_lose_nothing(16, 300);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* As in a container whose seccomp filter forbids it. */
static bool forbid_userfaultfd(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_userfaultfd, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = 4, .filter = filter};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static int moves_unguarded(void)
{
	const size_t len = 300 * PAGE;
	char *addr = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sf_pages *pages = NULL;
	struct sf_guard guard;
	bool kept = true;

	if (!forbid_userfaultfd())
		return 77;
	sf_guard_open(&guard);
	if (guard.fd >= 0)
		return 2;
	for (unsigned int i = 0; i < 3; i++) {
		pattern(addr, len, i);
		if (sf_pages_move(addr + i * 7, len - i * 7, &pages) != DOCA_SUCCESS || moved_bytes(pages) < len - PAGE)
			return 3;
		kept = kept && pattern_holds(addr, len, i);
		pattern(addr, len, i + 10);
		sf_pages_restore(pages);
		kept = kept && pattern_holds(addr, len, i + 10);
	}
	return kept ? 0 : 4;
}

/* Writes by system calls, as a provider does when it receives into a program's memory. */
static void *system_calls_run(void *arg)
{
	struct writer *writer = arg;
	const int fd = memfd_create("next", MFD_CLOEXEC);

	while (!atomic_load_explicit(&writer->stop, memory_order_relaxed)) {
		for (size_t i = 0; i < writer->num; i++) {
			_Atomic uint64_t *counter = &writer->counters[i * writer->stride];
			const uint64_t next = writer->rounds + 1;

			writer->lost += atomic_load_explicit(counter, memory_order_relaxed) != writer->rounds;
			writer->lost += pwrite(fd, &next, sizeof(next), 0) != sizeof(next);
			sf_pages_hold();
			writer->lost += pread(fd, (void *)counter, sizeof(next), 0) != sizeof(next);
			sf_pages_release();
		}
		writer->rounds++;
	}
	close(fd);
	return NULL;
}

static int system_calls_lose_nothing(void)
{
	const size_t len = 16 * PAGE;
	char *addr = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct writer writer = {.counters = (_Atomic uint64_t *)addr, .num = 16, .stride = PAGE / sizeof(uint64_t)};
	struct sf_pages *pages;
	pthread_t thread;

	if (pthread_create(&thread, NULL, system_calls_run, &writer) != 0)
		return 2;
	for (int i = 0; i < ROUNDS; i++) {
		if (sf_pages_move(addr, len, &pages) != DOCA_SUCCESS)
			return 3;
		sf_pages_restore(pages);
	}
	atomic_store(&writer.stop, true);
	pthread_join(thread, NULL);
	if (writer.rounds == 0)
		return 4;
	return writer.lost == 0 ? 0 : 5;
}

static void in_a_child(int (*run)(void))
{
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(run());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void without_userfaultfd_contents_are_kept(void **state)
{
	in_a_child(moves_unguarded);
}

static int system_calls_of_an_ordinary_user(void)
{
	return geteuid() == 0 && setuid(65534) != 0 ? 77 : system_calls_lose_nothing();
}

static int system_calls_without_userfaultfd(void)
{
	return forbid_userfaultfd() ? system_calls_lose_nothing() : 77;
}

static void held_system_calls_lose_nothing(void **state)
{
	in_a_child(system_calls_lose_nothing);
	in_a_child(system_calls_of_an_ordinary_user);
	in_a_child(system_calls_without_userfaultfd);
}

/* ---- a long range ---- */

#define LONG_LEN ((size_t)256 << 20)

struct holder {
	char *addr;
	_Atomic bool stop;
	uint32_t num_amid; /* how often it wrote while only a part of the range was moved */
};

static bool is_moved(char *page)
{
	struct sf_vma *mappings;
	bool moved = false;
	uint32_t num;

	CHECK_OK(sf_maps_read((uintptr_t)page, (uintptr_t)page + PAGE, &mappings, &num));
	for (uint32_t i = 0; i < num; i++)
		moved = moved || mappings[i].shared;
	free(mappings);
	return moved;
}

static void *holder_run(void *arg)
{
	struct holder *holder = arg;

	while (!atomic_load(&holder->stop)) {
		sf_pages_hold();
		holder->num_amid += is_moved(holder->addr) && !is_moved(holder->addr + LONG_LEN - PAGE);
		sf_pages_release();
	}
	return NULL;
}

/* Otherwise the agent, which writes what other machines send, could not answer them for as long as the move takes. */
static void a_write_waits_for_a_part_of_a_long_range(void **state)
{
	struct holder holder = {.addr = anon(LONG_LEN)};
	struct sf_pages *pages;
	pthread_t thread;

	for (size_t at = 0; at < LONG_LEN; at += PAGE)
		holder.addr[at] = 1;
	assert_int_equal(pthread_create(&thread, NULL, holder_run, &holder), 0);
	pages = move(holder.addr, LONG_LEN);
	atomic_store(&holder.stop, true);
	pthread_join(thread, NULL);
	assert_int_equal(moved_bytes(pages), LONG_LEN);
	assert_true(holder.num_amid != 0);
	sf_pages_restore(pages);
	munmap(holder.addr, LONG_LEN);
}

static void child_that_restores_leaves_the_parent_alone(void **state)
{
	const size_t len = 4 * PAGE;
	char *addr = anon(len), *view;
	struct sf_pages *pages;
	uint32_t num;
	int status;
	pid_t child;

	pattern(addr, len, 4);
	pages = move(addr, len);
	child = fork();
	if (child == 0) {
		sf_pages_restore(pages);
		bool kept = pattern_holds(addr, len, 4);

		memset(addr, 0, len);
		_exit(kept ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_true(pattern_holds(addr, len, 4));
	view = map_run(sf_pages_runs(pages, &num), PROT_READ);
	assert_true(pattern_holds(view, len, 4));
	munmap(view, len);
	sf_pages_restore(pages);
	munmap(addr, len);
}

/* ---- a process that is stopped while it moves ---- */

#define LENT_LEN ((size_t)2048 * PAGE)
#define STOPS 40

static void lend_for_ever(char *addr)
{
	const struct sf_pages_span span = {(uintptr_t)addr, LENT_LEN};
	struct sf_pages *pages;

	pattern(addr, LENT_LEN, 5);
	while (sf_pages_move_spans(&span, 1, &pages) == DOCA_SUCCESS)
		sf_pages_take_back(pages);
	_exit(1);
}

/* Returns how many bytes of the process's memory another process cannot write. */
static size_t withheld_bytes(int memory, const char *addr)
{
	size_t withheld = 0;

	for (size_t at = 0; at < LENT_LEN; at += PAGE)
		withheld += pwrite(memory, "x", 1, (off_t)(uintptr_t)(addr + at)) == 1 ? 0 : PAGE;
	return withheld;
}

static void stopped_mover_withholds_one_page(void **state)
{
	char *addr = anon(LENT_LEN), path[32];
	uint64_t until;
	pid_t child = fork();
	int memory, status;

	if (child == 0)
		lend_for_ever(addr);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)child);
	memory = open(path, O_RDWR | O_CLOEXEC);
	for (unsigned int i = 0; i < STOPS && memory >= 0; i++) {
		for (until = sf_now_ns() + UINT64_C(1000000) + i * UINT64_C(77777); sf_now_ns() < until;)
			; /* each time at another moment of its work */
		process_stop(child);
		assert_true(withheld_bytes(memory, addr) <= (size_t)sysconf(_SC_PAGESIZE));
		assert_int_equal(kill(child, SIGCONT), 0);
	}
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	munmap(addr, LENT_LEN);
	if (memory < 0)
		skip(); /* this process may not access another's memory: then no provider does */
	close(memory);
}

#define THREADS 3

struct mover {
	char *addr;
	unsigned int seed;
};

static void *mover_run(void *arg)
{
	struct mover *mover = arg;

	for (int i = 0; i < 200; i++) {
		size_t from = (size_t)rand_r(&mover->seed) % 16, num = 1 + (size_t)rand_r(&mover->seed) % 16;

		sf_pages_restore(move(mover->addr + from * PAGE, num * PAGE));
	}
	return NULL;
}

static void overlapping_moves_from_many_threads_keep_contents(void **state)
{
	char *addr = anon(32 * PAGE);
	struct mover movers[THREADS];
	pthread_t threads[THREADS];

	pattern(addr, 32 * PAGE, 11);
	for (unsigned int i = 0; i < THREADS; i++) {
		movers[i] = (struct mover){addr, i + 1};
		assert_int_equal(pthread_create(&threads[i], NULL, mover_run, &movers[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_true(pattern_holds(addr, 32 * PAGE, 11));
	munmap(addr, 32 * PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writer_as_an_ordinary_user_loses_nothing),
		cmocka_unit_test(without_userfaultfd_contents_are_kept),
		cmocka_unit_test(held_system_calls_lose_nothing),
		cmocka_unit_test(a_write_waits_for_a_part_of_a_long_range),
		cmocka_unit_test(child_that_restores_leaves_the_parent_alone),
		cmocka_unit_test(stopped_mover_withholds_one_page),
		cmocka_unit_test(concurrent_writer_loses_nothing),
		cmocka_unit_test(overlapping_moves_from_many_threads_keep_contents),
	};

	return cmocka_run_group_tests_name("pages concurrent", tests, NULL, NULL);
}
