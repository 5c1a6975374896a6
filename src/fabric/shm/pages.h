/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ordinary memory, made mappable by other processes where it stands.
 *
 *   sf_pages_move     the whole private pages of a range become pages of a memfd, at the same addresses, contents kept
 *   sf_pages_runs     which stretches that is, in which file and where in it
 *   sf_pages_restore  private pages again, contents kept; what others have mapped no longer reaches them
 *
 * Moved are private, anonymous, readable and writable, not executable pages that lie wholly inside the range; never the
 * calling thread's stack, never a mapping of a file or of shared or huge-page memory. Protections are kept. The rest of the
 * range is left as it is, and in no run. The caller of move says that the range stays mapped until restore; memory that was
 * unmapped nevertheless (or unmapped and used anew) is left alone by restore.
 *
 * Overlapping ranges share what they have in common: pages go back when the last user restores. The file of shared pages
 * was made for the first user's range, so whoever is given it can map that whole range. Any thread may call; one at a time
 * does the work.
 *
 * A write that another thread makes meanwhile is not lost: it waits in a page fault (userfaultfd write protection) and goes
 * to the new page. Where the kernel gives an unprivileged process user-mode-only userfaultfd, a system call that writes into
 * the range just then (read(2) in another thread) fails with EFAULT. Where there is no userfaultfd at all (a kernel before
 * 5.19, a container's filter) pages are moved one at a time, and a write between the copy of a page and its mapping is lost.
 * The library's own writes need not mind either: no page moves between sf_pages_hold and sf_pages_release.
 *
 * While moved: a child made by fork shares the pages with its parent instead of getting copies. Locks (mlock) and advice
 * (madvise) given before do not carry over. Memory that a device has pinned must not be moved.
 */
#ifndef SF_FABRIC_SHM_PAGES_H
#define SF_FABRIC_SHM_PAGES_H

#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>

#define SF_PAGES_RUNS_MAX 64 /* memory that is more scattered is not moved */

struct sf_pages;

/* A stretch of moved pages. Everything is a multiple of the page size. */
struct sf_pages_run {
	void *addr;
	size_t len;
	int fd;		 /* the memfd, read and write; sealed against resizing. Open until restore. Runs may share one */
	uint64_t offset; /* of addr in the file */
};

/* Moves the movable parts of [addr, addr + len). SUCCESS also if there are none. INVALID_VALUE: an empty range or NULL;
 * NO_MEMORY. */
doca_error_t sf_pages_move(void *addr, size_t len, struct sf_pages **pages);

/* Page-aligned. */
struct sf_pages_span {
	uintptr_t addr;
	size_t len;
};

/* The same for several stretches, in order and without overlap: one file holds all of them, and nothing else. Peers may be
 * writing to them by system calls: only one page at a time rejects such a write, so a process that is stopped here withholds one
 * page from its peers. */
doca_error_t sf_pages_move_spans(const struct sf_pages_span *spans, uint32_t num, struct sf_pages **pages);

/* The runs, ordered by address; valid until restore. */
const struct sf_pages_run *sf_pages_runs(const struct sf_pages *pages, uint32_t *num);

/* Returns a new read-only descriptor of the run's file, which cannot be mapped writable. The caller closes it. */
doca_error_t sf_pages_open_readonly(const struct sf_pages_run *run, int *fd);

/* Puts private pages back, unless another user still needs them moved, and frees pages. NULL does nothing. */
void sf_pages_restore(struct sf_pages *pages);

/* The same at a time that the program did not choose, while others write; see sf_pages_move_spans. Without userfaultfd the pages
 * become private copies of the file's: no write is lost, but they cannot be moved again. */
void sf_pages_take_back(struct sf_pages *pages);

/* Call around a write of the library to memory that another thread may be moving. The write must be short and wait for
 * nothing. sf_pages_hold waits for the move of 32 MiB at most, however long the range is. */
void sf_pages_hold(void);
void sf_pages_release(void);

#endif
