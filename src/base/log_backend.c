/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of backend: stream, file descriptor, buffer, syslog, and the standard pair. */
#include "base/log_backend.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/log_file.h"

#define BACKENDS_MAX 1024 /* of a class */

static struct doca_log_backend *lists[SF_LOG_CLASSES];
static uint32_t num_backends[SF_LOG_CLASSES]; /* atomic */
static bool standard_created;

/* A handler that logs must not write to the buffer that it is handling. */
static __thread bool in_buf_handler;

struct doca_log_backend *sf_log_backends(enum sf_log_class cls)
{
	return __atomic_load_n(&lists[cls], __ATOMIC_ACQUIRE);
}

static void add_locked(struct doca_log_backend *backend)
{
	sf_log_limits_init(backend);
	backend->next = lists[backend->cls];
	__atomic_store_n(&lists[backend->cls], backend, __ATOMIC_RELEASE);
	sf_log_limits_changed();
}

void sf_log_backend_add(struct doca_log_backend *backend)
{
	pthread_mutex_lock(&sf_log_lock);
	add_locked(backend);
	pthread_mutex_unlock(&sf_log_lock);
}

/* Before it was added. */
static void backend_free(struct doca_log_backend *backend)
{
	if (backend)
		__atomic_fetch_sub(&num_backends[backend->cls], 1, __ATOMIC_RELAXED);
	free(backend);
}

static struct doca_log_backend *backend_new(enum sf_log_class cls)
{
	const bool is_full = __atomic_fetch_add(&num_backends[cls], 1, __ATOMIC_RELAXED) >= BACKENDS_MAX;
	struct doca_log_backend *backend = is_full ? NULL : calloc(1, sizeof(*backend));

	if (!backend) {
		__atomic_fetch_sub(&num_backends[cls], 1, __ATOMIC_RELAXED);
		if (is_full)
			SF_LOG_ERR("there are %d log backends of this kind, which is the maximum", BACKENDS_MAX);
		else
			SF_LOG_ERR("no memory for a log backend");
		return NULL;
	}
	backend->cls = cls;
	backend->band_upper = DOCA_LOG_LEVEL_CRIT;
	backend->band_lower = DOCA_LOG_LEVEL_TRACE;
	return backend;
}

uint32_t doca_log_get_max_num_backends(void)
{
	return BACKENDS_MAX;
}

uint32_t doca_log_get_max_num_backends_sdk(void)
{
	return BACKENDS_MAX;
}

static doca_error_t argument_reject(const char *why)
{
	SF_LOG_ERR("log backend rejected: %s", why);
	return DOCA_ERROR_INVALID_VALUE;
}

/* ---- streams ---- */

static void file_write(struct doca_log_backend *backend, uint32_t level, const char *record, size_t len)
{
	FILE *file = __atomic_load_n(&backend->file, __ATOMIC_ACQUIRE);

	/* Held over both, so that other output to the stream cannot come between. */
	flockfile(file);
	fwrite(record, 1, len, file);
	fflush(file);
	funlockfile(file);
}

void sf_log_backend_set_file(struct doca_log_backend *backend, FILE *file)
{
	__atomic_store_n(&backend->file, file, __ATOMIC_RELEASE);
}

static doca_error_t create_with_file(enum sf_log_class cls, FILE *file, struct doca_log_backend **backend)
{
	if (!file || !backend)
		return argument_reject("fptr or backend is NULL");

	struct doca_log_backend *b = backend_new(cls);

	if (!b)
		return DOCA_ERROR_NO_MEMORY;
	b->write = file_write;
	b->file = file;
	sf_log_backend_add(b);
	*backend = b;
	return DOCA_SUCCESS;
}

doca_error_t doca_log_backend_create_with_file(FILE *fptr, struct doca_log_backend **backend)
{
	return create_with_file(SF_LOG_PROGRAM, fptr, backend);
}

doca_error_t doca_log_backend_create_with_file_sdk(FILE *fptr, struct doca_log_backend **backend)
{
	return create_with_file(SF_LOG_SDK, fptr, backend);
}

doca_error_t doca_log_backend_create_standard(void)
{
	doca_error_t result = DOCA_SUCCESS;

	pthread_mutex_lock(&sf_log_lock);
	if (!standard_created) {
		struct doca_log_backend *out = backend_new(SF_LOG_PROGRAM), *err = backend_new(SF_LOG_PROGRAM);

		if (out && err) {
			out->write = err->write = file_write;
			out->file = stdout;
			out->band_upper = DOCA_LOG_LEVEL_INFO;
			err->file = stderr;
			err->band_lower = DOCA_LOG_LEVEL_WARNING;
			add_locked(out);
			add_locked(err);
			standard_created = true;
		} else {
			backend_free(out);
			backend_free(err);
			result = DOCA_ERROR_NO_MEMORY;
		}
	}
	pthread_mutex_unlock(&sf_log_lock);
	return result;
}

/* ---- file descriptors ---- */

static void fd_write(struct doca_log_backend *backend, uint32_t level, const char *record, size_t len)
{
	sf_log_fd_write(backend->fd, record, len);
}

static doca_error_t create_with_fd(enum sf_log_class cls, int fd, struct doca_log_backend **backend)
{
	int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);

	if (!backend)
		return argument_reject("backend is NULL");
	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
		return argument_reject("the file descriptor is not open for writing");

	struct doca_log_backend *b = backend_new(cls);

	if (!b)
		return DOCA_ERROR_NO_MEMORY;
	b->write = fd_write;
	b->fd = fd;
	sf_log_backend_add(b);
	*backend = b;
	return DOCA_SUCCESS;
}

doca_error_t doca_log_backend_create_with_fd(int fd, struct doca_log_backend **backend)
{
	return create_with_fd(SF_LOG_PROGRAM, fd, backend);
}

doca_error_t doca_log_backend_create_with_fd_sdk(int fd, struct doca_log_backend **backend)
{
	return create_with_fd(SF_LOG_SDK, fd, backend);
}

/* ---- the backend of SOFTFIELD_LOG ---- */

static void path_write(struct doca_log_backend *backend, uint32_t level, const char *record, size_t len)
{
	sf_log_file_write(backend->path, record, len);
}

void sf_log_backend_add_choice(const struct sf_log_choice *choice)
{
	struct doca_log_backend *backend = backend_new(SF_LOG_SDK);

	if (!backend)
		return;
	backend->json = choice->json;
	backend->modules = &choice->modules;
	backend->modules_level = choice->level;
	if (choice->file) {
		backend->write = path_write;
		backend->path = choice->file;
	} else {
		backend->write = file_write;
		backend->file = stderr;
		backend->yields = !choice->json;
	}
	pthread_mutex_lock(&sf_log_lock);
	add_locked(backend);
	__atomic_store_n(&backend->lower, sf_log_modules_limit(&choice->modules, choice->level), __ATOMIC_RELAXED);
	backend->lower_strict = true;
	sf_log_limits_changed();
	pthread_mutex_unlock(&sf_log_lock);
}

/* The descriptor that a backend writes to; -1 if it has none. */
static int backend_fd(const struct doca_log_backend *backend)
{
	if (backend->write == file_write)
		return fileno(backend->file);
	return backend->write == fd_write ? backend->fd : -1;
}

bool sf_log_backend_same_file(const struct doca_log_backend *a, const struct doca_log_backend *b)
{
	int a_fd = backend_fd(a), b_fd = backend_fd(b);
	struct stat a_stat, b_stat;

	if (a_fd < 0 || b_fd < 0)
		return false;
	if (a_fd == b_fd)
		return true;
	return fstat(a_fd, &a_stat) == 0 && fstat(b_fd, &b_stat) == 0 && a_stat.st_dev == b_stat.st_dev &&
	       a_stat.st_ino == b_stat.st_ino;
}

/* ---- buffers ---- */

static void buf_write(struct doca_log_backend *backend, uint32_t level, const char *record, size_t len)
{
	if (in_buf_handler)
		return;
	pthread_mutex_lock(&backend->buf.lock);
	if (len > backend->buf.capacity - 1)
		len = backend->buf.capacity - 1;
	memcpy(backend->buf.memory, record, len);
	backend->buf.memory[len] = '\0';
	in_buf_handler = true;
	backend->buf.handler(backend->buf.memory);
	in_buf_handler = false;
	pthread_mutex_unlock(&backend->buf.lock);
}

static doca_error_t create_with_buf(enum sf_log_class cls, char *buf, size_t capacity, log_flush_callback handler,
				    struct doca_log_backend **backend)
{
	if (!buf || !handler || !backend)
		return argument_reject("buf, handler or backend is NULL");
	if (capacity < 2)
		return argument_reject("the buffer has no room for a record");

	struct doca_log_backend *b = backend_new(cls);

	if (!b)
		return DOCA_ERROR_NO_MEMORY;
	b->write = buf_write;
	b->buf.memory = buf;
	b->buf.capacity = capacity;
	b->buf.handler = handler;
	pthread_mutex_init(&b->buf.lock, NULL);
	sf_log_backend_add(b);
	*backend = b;
	return DOCA_SUCCESS;
}

doca_error_t doca_log_backend_create_with_buf(char *buf, size_t capacity, log_flush_callback handler,
					      struct doca_log_backend **backend)
{
	return create_with_buf(SF_LOG_PROGRAM, buf, capacity, handler, backend);
}

doca_error_t doca_log_backend_create_with_buf_sdk(char *buf, size_t capacity, log_flush_callback handler,
						  struct doca_log_backend **backend)
{
	return create_with_buf(SF_LOG_SDK, buf, capacity, handler, backend);
}

/* ---- syslog ---- */

static int syslog_priority(uint32_t level)
{
	switch (level) {
	case DOCA_LOG_LEVEL_CRIT:
		return LOG_CRIT;
	case DOCA_LOG_LEVEL_ERROR:
		return LOG_ERR;
	case DOCA_LOG_LEVEL_WARNING:
		return LOG_WARNING;
	case DOCA_LOG_LEVEL_INFO:
		return LOG_INFO;
	default:
		return LOG_DEBUG;
	}
}

/* A process has one syslog name at a time; backends with different names take turns. */
static pthread_mutex_t syslog_lock = PTHREAD_MUTEX_INITIALIZER;

static void buf_locks_reinit(enum sf_log_class cls)
{
	for (struct doca_log_backend *b = sf_log_backends(cls); b; b = b->next) {
		if (b->write == buf_write)
			pthread_mutex_init(&b->buf.lock, NULL);
	}
}

/* Another thread may have been writing, perhaps in the program's handler. A fork does not wait for it. */
static void locks_reinit(void)
{
	pthread_mutex_init(&syslog_lock, NULL);
	if (in_buf_handler)
		return;
	buf_locks_reinit(SF_LOG_PROGRAM);
	buf_locks_reinit(SF_LOG_SDK);
}

SF_FORK_LOCK(SF_FORK_LOG, NULL, locks_reinit);

static void syslog_write(struct doca_log_backend *backend, uint32_t level, const char *record, size_t len)
{
	/* Guarded by syslog_lock */
	static const char *ident;

	pthread_mutex_lock(&syslog_lock);
	if (ident != backend->ident) {
		openlog(backend->ident, LOG_PID, LOG_USER);
		ident = backend->ident;
	}
	syslog(syslog_priority(level), "%.*s", (int)(len - 1), record);
	pthread_mutex_unlock(&syslog_lock);
}

static doca_error_t create_with_syslog(enum sf_log_class cls, const char *name, struct doca_log_backend **backend)
{
	if (!name || !backend)
		return argument_reject("name or backend is NULL");

	struct doca_log_backend *b = backend_new(cls);
	char *ident = strdup(name);

	if (!b || !ident) {
		backend_free(b);
		free(ident);
		return DOCA_ERROR_NO_MEMORY;
	}
	b->write = syslog_write;
	b->ident = ident;
	sf_log_backend_add(b);
	*backend = b;
	return DOCA_SUCCESS;
}

doca_error_t doca_log_backend_create_with_syslog(const char *name, struct doca_log_backend **backend)
{
	return create_with_syslog(SF_LOG_PROGRAM, name, backend);
}

doca_error_t doca_log_backend_create_with_syslog_sdk(const char *name, struct doca_log_backend **backend)
{
	return create_with_syslog(SF_LOG_SDK, name, backend);
}
