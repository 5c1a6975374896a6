/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/trace_clock.h"

static void boot_read(char text[SF_TRACE_TEXT_MAX])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t len = fd >= 0 ? read(fd, text, SF_TRACE_TEXT_MAX - 1) : 0;

	text[len > 0 ? len : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (fd >= 0)
		close(fd);
}

static void head_fill(struct sf_trace_head *head)
{
	const char *node = secure_getenv("SOFTFIELD_NODE");

	head->version = SF_TRACE_VERSION;
	head->clock = sf_trace_clock_kind();
	head->pid = (uint32_t)getpid();
	head->num_names = 1; /* the first name is empty */
	head->begin = head->last[0] = sf_trace_clock_stamp();
	boot_read(head->boot);
	snprintf(head->program, sizeof(head->program), "%s", program_invocation_short_name);
	snprintf(head->node, sizeof(head->node), "%s", node != NULL ? node : "");
	memcpy(head->magic, SF_TRACE_MAGIC, sizeof(head->magic)); /* written last: it makes the file valid */
}

/* A write beyond the limit of file sizes raises SIGXFSZ, which ends the process. */
static bool size_is_allowed(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= SF_TRACE_FILE_SIZE;
}

static bool room_make(int fd, size_t at, size_t len)
{
	errno = posix_fallocate(fd, (off_t)at, (off_t)len);
	return errno == 0;
}

/* The name may belong to a traced process in another container. Unlinking it does not affect that process's file. */
static int file_open(struct sf_trace_file *file)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	struct stat st;
	int fd;

	unlink(file->path);
	fd = open(file->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -1;
	(void)fcntl(fd, F_SETLK, &lock); /* marks the process as live */
	if (fstat(fd, &st) != 0 || ftruncate(fd, SF_TRACE_FILE_SIZE) != 0 || !room_make(fd, 0, SF_TRACE_RINGS_AT)) {
		int error = errno;

		close(fd);
		unlink(file->path);
		errno = error;
		return -1;
	}
	file->device = st.st_dev;
	file->inode = st.st_ino;
	return fd;
}

bool sf_trace_file_create(struct sf_trace_file *file)
{
	void *map = MAP_FAILED;

	errno = EFBIG;
	file->fd = size_is_allowed() ? file_open(file) : -1;
	if (file->fd >= 0)
		map = mmap(NULL, SF_TRACE_FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, 0);
	if (map == MAP_FAILED) {
		int error = errno;

		if (file->fd >= 0)
			close(file->fd);
		file->fd = -1;
		errno = error;
		return false;
	}
	file->head = map;
	file->num_rings = file->last_stamp = 0;
	head_fill(file->head);
	return true;
}

/* The program may have closed the descriptor and reused its number. */
static bool fd_is_ours(const struct sf_trace_file *file)
{
	struct stat st;

	return fstat(file->fd, &st) == 0 && st.st_dev == file->device && st.st_ino == file->inode;
}

struct sf_trace_ring *sf_trace_file_ring(struct sf_trace_file *file)
{
	uint32_t num = file->num_rings;

	if (num >= SF_TRACE_RINGS_MAX || !fd_is_ours(file) || !room_make(file->fd, sf_trace_ring_at(num), SF_TRACE_RING_SIZE))
		return NULL;
	file->num_rings++;
	__atomic_store_n(&file->head->num_rings, file->num_rings, __ATOMIC_RELEASE);
	return (struct sf_trace_ring *)((char *)file->head + sf_trace_ring_at(num));
}

void sf_trace_file_stamp(struct sf_trace_file *file)
{
	file->last_stamp = 1 - file->last_stamp;
	file->head->last[file->last_stamp] = sf_trace_clock_stamp();
	__atomic_store_n(&file->head->last_stamp, file->last_stamp, __ATOMIC_RELEASE);
}

static bool write_all(int fd, const uint8_t *bytes, size_t len)
{
	for (size_t at = 0; at < len;) {
		ssize_t written = write(fd, bytes + at, len - at);

		if (written <= 0)
			return false;
		at += (size_t)written;
	}
	return true;
}

bool sf_trace_file_copy(const struct sf_trace_file *file, const char *path)
{
	size_t len = sf_trace_ring_at(file->num_rings);
	bool done;
	int fd;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return false;
	done = write_all(fd, (const uint8_t *)file->head, len);
	close(fd);
	if (!done)
		unlink(path);
	return done;
}

void sf_trace_file_forget(struct sf_trace_file *file)
{
	if (file->head == NULL)
		return;
	if (fd_is_ours(file))
		close(file->fd);
	munmap(file->head, SF_TRACE_FILE_SIZE);
	file->head = NULL;
	file->fd = -1;
}
