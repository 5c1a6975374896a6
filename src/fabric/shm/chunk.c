/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/chunk.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/thread_safety.h"
#include "fabric/shm/guard.h"
#include "fabric/shm/pages.h"

/* bytes that are watched at a time; the move needs memory for them twice */
#define CHUNK ((size_t)32 << 20)

/* Does not use libc's functions where the memory of others is touched: sanitizers would check the program's bytes and our mapping
 * by the rules for our own. */
static void *map_over(void *addr, size_t len, int prot, int fd, uint64_t offset)
{
	return (void *)syscall(SYS_mmap, addr, len, (long)prot, (long)(MAP_SHARED | MAP_FIXED), (long)fd, offset);
}

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t chunk_len(uintptr_t start, uintptr_t end)
{
	size_t len = CHUNK - start % CHUNK;

	return len < end - start ? len : end - start;
}

/* ---- the library's own writes ---- */

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_over = PTHREAD_COND_INITIALIZER;
static uint32_t num_waiting GUARDED_BY(turn); /* for the end of the current chunk */
static atomic_bool is_moving;		      /* a chunk; guarded by turn, except for reads of it */
static _Atomic uint32_t holders;

static SF_IN_CHILD void turn_reset(void)
{
	pthread_cond_init(&turn_over, NULL);
	num_waiting = 0;
	atomic_store(&holders, 0);
}

SF_FORK_LOCK(SF_FORK_CHUNK, &turn, turn_reset);

void sf_pages_hold(void)
{
	atomic_fetch_add(&holders, 1);
	if (!atomic_load(&is_moving))
		return;
	atomic_fetch_sub(&holders, 1);
	pthread_mutex_lock(&turn);
	num_waiting++;
	while (atomic_load(&is_moving))
		pthread_cond_wait(&turn_over, &turn);
	num_waiting--;
	atomic_fetch_add(&holders, 1);
	pthread_cond_broadcast(&turn_over);
	pthread_mutex_unlock(&turn);
}

void sf_pages_release(void)
{
	atomic_fetch_sub(&holders, 1);
}

/* Threads that wait to write come first, so that a long range delays them by one chunk only. */
static void chunk_begin(void)
{
	pthread_mutex_lock(&turn);
	while (num_waiting != 0)
		pthread_cond_wait(&turn_over, &turn);
	atomic_store(&is_moving, true);
	pthread_mutex_unlock(&turn);
	while (atomic_load(&holders) != 0)
		sched_yield();
}

static void chunk_end(void)
{
	pthread_mutex_lock(&turn);
	assert(atomic_load(&is_moving));
	atomic_store(&is_moving, false);
	pthread_cond_broadcast(&turn_over);
	pthread_mutex_unlock(&turn);
}

/* ---- moving ---- */

__attribute__((no_sanitize_address, no_sanitize_thread)) static bool page_is_zero(const char *page, size_t size)
{
	const uint64_t *word = (const uint64_t *)page;

	for (size_t i = 0; i < size / sizeof(*word); i++) {
		if (word[i] != 0)
			return false;
	}
	return true;
}

static bool copy_out(int fd, const char *from, size_t len, uint64_t offset)
{
	while (len != 0) {
		long n = syscall(SYS_pwrite64, (long)fd, from, len, offset);

		if (n <= 0)
			return false;
		from += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return true;
}

/* Copies pages to the file, but leaves holes for those without content: memory that nobody touched stays free. */
static bool pages_copy_out(int fd, const char *from, size_t len, uint64_t offset)
{
	const size_t page = page_size();
	size_t begin = 0, at;

	for (at = 0; at < len; at += page) {
		if (!page_is_zero(from + at, page))
			continue;
		if (!copy_out(fd, from + begin, at - begin, offset + begin))
			return false;
		begin = at + page;
	}
	return begin >= len || copy_out(fd, from + begin, len - begin, offset + begin);
}

/* Holds the first pages of the rest of a watched chunk. Returns how many bytes that is, 0 if writers are not blocked. */
static size_t step_hold(const struct sf_guard *guard, const struct sf_pages_file *file, char *addr, size_t rest)
{
	size_t step = file->in_use ? page_size() : rest;

	return sf_guard_hold(guard, addr, step) ? step : 0;
}

typedef bool chunk_step_t(const struct sf_guard *guard, uintptr_t start, size_t len, int prot, const struct sf_pages_file *file,
			  uint64_t offset);

/* Calls step for each chunk. Returns where it ended: before `end` after a failure. */
static uintptr_t chunks_walk(chunk_step_t *step, const struct sf_pages_file *file, uintptr_t start, uintptr_t end, int prot,
			     uint64_t offset)
{
	struct sf_guard guard;
	bool good = true;
	uintptr_t at = start;

	sf_guard_open(&guard);
	while (good && at < end) {
		const size_t len = chunk_len(at, end);

		chunk_begin();
		good = step(&guard, at, len, prot, file, offset + (at - start));
		chunk_end();
		at += good ? len : 0;
	}
	sf_guard_close(&guard);
	return at;
}

/* From watch to unwatch nothing is allocated and nothing logged: the heap itself may be in the range. */
static bool chunk_move(const struct sf_guard *guard, uintptr_t start, size_t len, int prot, const struct sf_pages_file *file,
		       uint64_t offset)
{
	char *addr = (char *)start;
	bool watched = sf_guard_watch(guard, addr, len, true), moved = true;
	size_t step;

	for (size_t at = 0; moved && at < len; at += step) {
		size_t held = watched ? step_hold(guard, file, addr + at, len - at) : 0;

		step = held != 0 ? held : page_size();
		moved = pages_copy_out(file->fd, addr + at, step, offset + at) &&
			map_over(addr + at, step, prot, file->fd, offset + at) != MAP_FAILED;
		if (held != 0)
			sf_guard_release(guard, addr + at, held);
	}
	if (watched)
		sf_guard_unwatch(guard, addr, len);
	return moved;
}
uintptr_t sf_chunks_move(const struct sf_pages_file *file, uintptr_t start, uintptr_t end, int prot, uint64_t offset)
{
	return chunks_walk(chunk_move, file, start, end, prot, offset);
}

/* ---- restoring ---- */

static bool copy_in(int fd, char *to, size_t len, uint64_t offset)
{
	while (len != 0) {
		long n = syscall(SYS_pread64, (long)fd, to, len, offset);

		if (n <= 0)
			return false;
		to += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return true;
}

/* Reads the file's content of [offset, offset + len); holes stay untouched zeros. */
static bool pages_copy_in(int fd, char *to, size_t len, uint64_t offset)
{
	const off_t end = (off_t)(offset + len);
	off_t data = lseek(fd, (off_t)offset, SEEK_DATA), hole;

	while (data >= 0 && data < end) {
		hole = len > page_size() ? lseek(fd, data, SEEK_HOLE) : end; /* it checks all pages up to the hole */
		if (hole < 0)
			return false;
		if (hole > end)
			hole = end;
		if (!copy_in(fd, to + ((uint64_t)data - offset), (size_t)(hole - data), (uint64_t)data))
			return false;
		data = hole < end ? lseek(fd, hole, SEEK_DATA) : end;
	}
	return data >= 0 || errno == ENXIO; /* ENXIO: only a hole to the end of the file */
}

/* Private pages for a chunk. They move away piece by piece, and the kernel joins the pieces again if they have the same anon_vma,
 * which the first write makes. */
static char *fresh_pages(size_t len)
{
	void *fresh = (void *)syscall(SYS_mmap, NULL, len, (long)(PROT_READ | PROT_WRITE), (long)(MAP_PRIVATE | MAP_ANONYMOUS),
				      -1L, 0L);

	if (fresh == MAP_FAILED)
		return NULL;
	*(volatile char *)fresh = 0;
	return fresh;
}

/* Fills fresh private pages aside, and puts them in place in one step. */
static bool piece_restore(char *fresh, char *addr, size_t len, int prot, int fd, uint64_t offset)
{
	return pages_copy_in(fd, fresh, len, offset) && (prot == (PROT_READ | PROT_WRITE) || mprotect(fresh, len, prot) == 0) &&
	       syscall(SYS_mremap, fresh, len, len, (long)(MREMAP_MAYMOVE | MREMAP_FIXED), addr) == (long)addr;
}

/* The kernel copies a page when it is written to, so its first byte is rewritten with its own value. */
__attribute__((no_sanitize_address, no_sanitize_thread)) static bool page_privatize(char *addr, size_t len, int prot, int fd,
										    uint64_t offset)
{
	if (syscall(SYS_mmap, addr, len, (long)(PROT_READ | PROT_WRITE), (long)(MAP_PRIVATE | MAP_FIXED), (long)fd, offset) !=
	    (long)addr)
		return false;
	__atomic_fetch_or((uint8_t *)addr, 0, __ATOMIC_SEQ_CST);
	return mprotect(addr, len, prot) == 0;
}

static bool chunk_restore(const struct sf_guard *guard, uintptr_t start, size_t len, int prot, const struct sf_pages_file *file,
			  uint64_t offset)
{
	char *addr = (char *)start, *fresh = fresh_pages(len);
	bool watched = sf_guard_watch(guard, addr, len, false), restored = fresh != NULL;
	size_t at = 0;

	while (restored && at < len) {
		size_t held = watched ? step_hold(guard, file, addr + at, len - at) : 0;
		size_t step = held != 0 ? held : page_size();

		if (held == 0 && file->in_use) {
			restored = page_privatize(addr + at, step, prot, file->fd, offset + at);
			syscall(SYS_munmap, fresh + at, step);
		} else {
			restored = piece_restore(fresh + at, addr + at, step, prot, file->fd, offset + at);
		}
		if (held != 0)
			sf_guard_release(guard, addr + at, held);
		at += restored ? step : 0;
	}
	if (watched)
		sf_guard_unwatch(guard, addr, len);
	if (fresh != NULL && at < len)
		syscall(SYS_munmap, fresh + at, len - at);
	/* Importers that still have it mapped keep no memory alive. */
	if (restored && file->owner == getpid())
		fallocate(file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)len);
	return restored;
}

uintptr_t sf_chunks_restore(const struct sf_pages_file *file, uintptr_t start, uintptr_t end, int prot, uint64_t offset)
{
	return chunks_walk(chunk_restore, file, start, end, prot, offset);
}
