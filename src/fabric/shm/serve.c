/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/serve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "fabric/shm/agent.h"
#include "fabric/shm/connect.h"
#include "fabric/shm/fds.h"
#include "fabric/shm/lend.h"
#include "fabric/shm/port.h"
#include "fabric/shm/proto.h"
#include "fabric/shm/region.h"

#define SESSIONS_MAX 8192
#define SESSIONS_OF_PROCESS_MAX 16		  /* one is its agent's; the others have asked for nothing yet, or were closed */
#define SESSIONS_OF_UNSEEN_MAX (SESSIONS_MAX / 2) /* of all processes whose number means nothing here, together */
#define HANDSHAKE_LIMIT_NS UINT64_C(3000000000)	  /* for the first message, of a peer that is silent */
#define GRANTS_MAX 4096				  /* regions that one peer has attached */

struct grant {
	uint64_t region;
	uint32_t rights; /* of OPERATE */
};

/* A connection from another process. Guarded by sf_shm_lock. */
struct session {
	struct shm_conn *conn;
	struct grant *grants;
	uint32_t grant_num, grant_room;
	bool greeted;			/* its first message came */
	struct sf_liveness handshaking; /* until then */
	struct session *next;
};

static struct session *sessions;
static uint32_t session_num, ungreeted_num;

static void session_end(struct session *session)
{
	struct session **at = &sessions;

	while (*at != session)
		at = &(*at)->next;
	*at = session->next;
	session_num--;
	ungreeted_num -= !session->greeted;
	for (uint32_t i = 0; i < session->grant_num; i++)
		sf_shm_region_ring(session->grants[i].region);
	sf_shm_conn_close(session->conn);
	free(session->grants);
	free(session);
}

static bool session_grant(struct session *session, uint64_t region, uint32_t rights)
{
	for (uint32_t i = 0; i < session->grant_num; i++) {
		if (session->grants[i].region == region) {
			session->grants[i].rights |= rights;
			return true;
		}
	}
	if (session->grant_num == session->grant_room) {
		uint32_t room = session->grant_room == 0 ? 8 : 2 * session->grant_room;
		struct grant *more = room <= GRANTS_MAX ? realloc(session->grants, room * sizeof(*more)) : NULL;

		if (more == NULL)
			return false;
		session->grants = more;
		session->grant_room = room;
	}
	session->grants[session->grant_num++] = (struct grant){.region = region, .rights = rights};
	return true;
}

static uint32_t session_rights(const struct session *session, uint64_t region)
{
	for (uint32_t i = 0; i < session->grant_num; i++) {
		if (session->grants[i].region == region)
			return session->grants[i].rights;
	}
	return 0;
}

void sf_shm_serve_gone(uint64_t region)
{
	struct shm_msg_gone gone = {.head = shm_msg_head(SHM_MSG_GONE, sizeof(gone), 0), .region = region};

	for (struct session *s = sessions; s != NULL; s = s->next) {
		for (uint32_t i = 0; i < s->grant_num; i++) {
			if (s->grants[i].region != region)
				continue;
			s->grants[i] = s->grants[--s->grant_num];
			/* If it cannot be told, it finds out by the generation when it next uses the region. */
			(void)sf_shm_send(s->conn->fd, &gone, sizeof(gone), NULL, 0);
			break;
		}
	}
}

/* Which runs the peer may map, and by which descriptors. Descriptors made here (read-only ones) are counted in *made. */
static void attach_runs(const struct sf_pages *pages, bool writable, struct shm_msg_attached *answer, int *fds, uint32_t *made)
{
	uint32_t num = 0, at = 0;
	const struct sf_pages_run *runs = pages != NULL ? sf_pages_runs(pages, &num) : NULL;

	for (uint32_t i = 0; i < num && i < SHM_MSG_RUNS_MAX; i++) {
		uint64_t begin = (uintptr_t)runs[i].addr, end = begin + runs[i].len;

		if (!sf_range_inside(begin, end - begin, answer->addr, answer->len))
			continue;
		if (writable) {
			fds[at] = runs[i].fd;
		} else {
			if (sf_pages_open_readonly(&runs[i], &fds[at]) != DOCA_SUCCESS)
				continue;
			(*made)++;
		}
		answer->run[at] = (struct shm_msg_run){.addr = begin, .len = end - begin, .offset = runs[i].offset, .fd = at};
		at++;
	}
	answer->run_num = at;
}

/* What the peer asks for: an exported region by its token, or what a port lends by the key of a link. */
static doca_error_t attach_find(const struct session *session, const struct shm_msg_attach *ask, struct shm_msg_attached *answer,
				const struct sf_pages **pages)
{
	const struct shm_region *region;
	const struct shm_lend *lend;

	if (ask->by_port != 0) {
		lend = sf_shm_lend_find(ask->region, &ask->key, session->conn->pid);
		if (lend == NULL)
			return DOCA_ERROR_NOT_PERMITTED;
		answer->addr = lend->addr;
		answer->len = lend->len;
		*pages = lend->pages;
		return DOCA_SUCCESS;
	}
	region = sf_shm_region_find(ask->region);
	if (region == NULL)
		return DOCA_ERROR_NOT_FOUND;
	if (!region->exported || !sf_key_equal(&region->token, &ask->key))
		return DOCA_ERROR_NOT_PERMITTED;
	answer->addr = region->base.addr;
	answer->len = region->base.len;
	answer->rights = region->base.rights;
	*pages = region->pages;
	return DOCA_SUCCESS;
}

static doca_error_t serve_attach(struct session *session, const struct shm_msg_attach *ask)
{
	struct shm_msg_attached answer = {.head = shm_msg_head(SHM_MSG_ATTACHED, sizeof(answer), ask->head.tag),
					  .region = ask->region};
	const struct sf_pages *pages = NULL;
	int fds[SHM_FDS_MAX];
	uint32_t made = 0;
	doca_error_t error = attach_find(session, ask, &answer, &pages);

	if (error == DOCA_SUCCESS && !session_grant(session, ask->region, answer.rights))
		error = DOCA_ERROR_NO_MEMORY;
	answer.status = error;
	if (error == DOCA_SUCCESS) {
		attach_runs(pages, ask->by_port != 0 || (answer.rights & (SF_RIGHT_WRITE | SF_RIGHT_ATOMIC)) != 0, &answer, fds, &made);
	} else if (ask->by_port == 0) { /* what was lent may have ended while it was asked for */
		SF_LOG_WARN_LIMITED("process %d may not attach a region: %s", session->conn->pid, doca_error_get_descr(error));
	}
	error = sf_shm_send(session->conn->fd, &answer, sizeof(answer), fds, answer.run_num);
	for (uint32_t i = 0; i < made; i++)
		close(fds[i]);
	return error;
}

/* A copy inside this process that tells of an address that is not there instead of faulting. */
static bool copy_checked(void *local, uint64_t addr, size_t len, bool write)
{
	struct iovec here = {.iov_base = local, .iov_len = len}, there = {.iov_base = (void *)(uintptr_t)addr, .iov_len = len};
	ssize_t done =
		write ? process_vm_writev(getpid(), &here, 1, &there, 1, 0) : process_vm_readv(getpid(), &here, 1, &there, 1, 0);

	if (done >= 0)
		return (size_t)done == len;
	if (errno == EFAULT)
		return false;
	/* The system call is filtered out here. */
	if (write)
		memcpy(there.iov_base, local, len);
	else
		memcpy(local, there.iov_base, len);
	return true;
}

static doca_error_t operate_check(const struct session *session, const struct shm_msg_operate *ask)
{
	static const uint32_t needed[] = {[SF_OP_WRITE] = SF_RIGHT_WRITE,
					  [SF_OP_READ] = SF_RIGHT_READ,
					  [SF_OP_CAS] = SF_RIGHT_ATOMIC,
					  [SF_OP_FAA] = SF_RIGHT_ATOMIC};
	const struct shm_region *region = sf_shm_region_find(ask->region);

	if (region == NULL)
		return DOCA_ERROR_NOT_FOUND;
	if ((session_rights(session, ask->region) & needed[ask->kind]) == 0)
		return DOCA_ERROR_NOT_PERMITTED;
	if (!sf_range_inside(ask->addr, ask->len, region->base.addr, region->base.len))
		return DOCA_ERROR_INVALID_VALUE;
	if (needed[ask->kind] == SF_RIGHT_ATOMIC && ask->addr % sizeof(uint64_t) != 0)
		return DOCA_ERROR_INVALID_VALUE;
	return DOCA_SUCCESS;
}

static doca_error_t operate(const struct shm_msg_operate *ask, struct shm_msg_operated *answer)
{
	uint64_t *word = (uint64_t *)(uintptr_t)ask->addr, probe;

	if (ask->kind == SF_OP_WRITE)
		return copy_checked((void *)ask->data, ask->addr, ask->len, true) ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED;
	if (ask->kind == SF_OP_READ) {
		answer->len = ask->len;
		return copy_checked(answer->data, ask->addr, ask->len, false) ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED;
	}
	if (!copy_checked(&probe, ask->addr, sizeof(probe), false))
		return DOCA_ERROR_IO_FAILED;
	answer->old = ask->compare;
	if (ask->kind == SF_OP_FAA)
		answer->old = __atomic_fetch_add(word, ask->value, __ATOMIC_SEQ_CST);
	else
		__atomic_compare_exchange_n(word, &answer->old, ask->value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return DOCA_SUCCESS;
}

static doca_error_t serve_operate(struct session *session, const struct shm_msg_operate *ask)
{
	static union {
		struct shm_msg_operated operated;
		uint8_t bytes[SHM_MSG_SIZE_MAX];
	} out; /* guarded by sf_shm_lock */
	doca_error_t error = operate_check(session, ask);

	out.operated = (struct shm_msg_operated){.len = 0};
	if (error == DOCA_SUCCESS)
		error = operate(ask, &out.operated);
	if (error != DOCA_SUCCESS) {
		SF_LOG_WARN_LIMITED("process %d may not have %u bytes at 0x%lx: %s", session->conn->pid, ask->len,
				    (unsigned long)ask->addr, doca_error_get_descr(error));
		out.operated.len = 0;
	}
	out.operated.status = error;
	out.operated.head = shm_msg_head(SHM_MSG_OPERATED, sizeof(out.operated) + out.operated.len, ask->head.tag);
	return sf_shm_send(session->conn->fd, &out, out.operated.head.size, NULL, 0);
}

static doca_error_t serve_hello(struct session *session)
{
	struct shm_msg_welcome welcome = {.head = shm_msg_head(SHM_MSG_WELCOME, sizeof(welcome), 0)};
	int fd = sf_shm_generations_fd();

	if (fd < 0)
		return DOCA_ERROR_NOT_FOUND; /* no region was ever registered here */
	return sf_shm_send(session->conn->fd, &welcome, sizeof(welcome), &fd, 1);
}

/* An error ends the session: the peer breaks the rules or does not read. */
static doca_error_t session_message(struct session *session, const void *buffer)
{
	const struct shm_msg *msg = buffer;

	switch (msg->kind) {
	case SHM_MSG_HELLO:
		return serve_hello(session);
	case SHM_MSG_ATTACH:
		return serve_attach(session, buffer);
	case SHM_MSG_OPERATE:
		return serve_operate(session, buffer);
	default:
		return DOCA_ERROR_UNEXPECTED;
	}
}

static void session_ready(struct shm_conn *conn)
{
	static union {
		struct shm_msg head;
		uint8_t bytes[SHM_MSG_SIZE_MAX];
	} in; /* guarded by sf_shm_lock */
	struct session *session = conn->owner;
	int fds[SHM_FDS_MAX];

	for (;;) {
		unsigned num = SHM_FDS_MAX;
		ssize_t len = sf_shm_receive(conn->fd, &in, sizeof(in), fds, &num);
		bool good = len > 0 && sf_shm_msg_check(&in, (size_t)len, num);

		if (good && !session->greeted) {
			session->greeted = true;
			ungreeted_num--;
		}
		if (good && in.head.kind == SHM_MSG_CONNECT) {
			/* From here on the connection is the link's. */
			struct shm_conn *link_conn = session->conn;

			session->conn = NULL;
			session_end(session);
			sf_shm_connect_arrived(link_conn, (const struct shm_msg_connect *)&in, fds);
			return;
		}
		for (unsigned i = 0; i < num; i++)
			close(fds[i]);
		if (len < 0)
			return;
		if (!good || session_message(session, &in) != DOCA_SUCCESS) {
			session_end(session);
			return;
		}
	}
}

/* Those of a process, or of all that cannot be seen. */
static uint32_t sessions_of(int pid)
{
	uint32_t num = 0;

	for (const struct session *s = sessions; s != NULL; s = s->next)
		num += s->conn->pid == pid;
	return num;
}

/* What the process has closed is not counted against it. */
static void sessions_read(int pid)
{
	for (struct session *s = sessions, *next; s != NULL; s = next) {
		next = s->next;
		if (s->conn->pid == pid)
			session_ready(s->conn);
	}
}

static bool may_come(int pid)
{
	uint32_t most = pid != 0 ? SESSIONS_OF_PROCESS_MAX : SESSIONS_OF_UNSEEN_MAX;

	if (session_num < SESSIONS_OF_PROCESS_MAX || sessions_of(pid) < most)
		return session_num < SESSIONS_MAX;
	sessions_read(pid);
	return sessions_of(pid) < most && session_num < SESSIONS_MAX;
}

void sf_shm_serve_accepted(int fd, int pid)
{
	struct session *session = may_come(pid) ? calloc(1, sizeof(*session)) : NULL;

	if (session == NULL || sf_shm_conn_open(fd, pid, session_ready, session, &session->conn) != DOCA_SUCCESS) {
		SF_LOG_WARN_LIMITED("process %d is not let in: it has %u of the %u connections that are open, or memory is short",
				    pid, sessions_of(pid), session_num);
		free(session);
		close(fd);
		return;
	}
	sf_liveness_begin(&session->handshaking);
	session->next = sessions;
	sessions = session;
	session_num++;
	ungreeted_num++;
	session_ready(session->conn); /* most have said something already */
}

bool sf_shm_serve_tick(void)
{
	for (struct session *s = ungreeted_num != 0 ? sessions : NULL, *next; s != NULL; s = next) {
		next = s->next;
		if (s->greeted || !sf_liveness_lost(&s->handshaking, s->conn->pid, HANDSHAKE_LIMIT_NS))
			continue;
		SF_LOG_WARN_LIMITED("process %d has connected and says nothing: its connection is closed", s->conn->pid);
		session_end(s);
	}
	return ungreeted_num != 0;
}

void sf_shm_serve_end(void)
{
	while (sessions != NULL)
		session_end(sessions);
}

void sf_shm_serve_after_fork(void)
{
	sessions = NULL; /* the parent's; its memory stays behind */
	session_num = ungreeted_num = 0;
}
