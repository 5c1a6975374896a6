/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/serve.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "base/thread_safety.h"
#include "fabric/shm/lend.h"
#include "fabric/shm/pages.h"
#include "fabric/shm/ep.h"
#include "fabric/shm/message.h"
#include "fabric/shm/region.h"

#define ATTACHMENTS_MAX 4096 /* regions that one peer has attached */

struct attachment {
	uint64_t region;
	uint32_t rights; /* of OPERATE */
};

/* A connection from another process's agent. Guarded by sf_control_lock. */
struct session {
	struct sf_channel *channel;
	struct attachment *attachments;
	uint32_t attachment_num, attachment_room;
	struct session *next;
};

static struct session *sessions;

static void session_ended(struct sf_channel *channel)
{
	struct session *session = channel->owner, **at = &sessions;

	assert(sf_is_locked(&sf_control_lock));
	while (*at != session) {
		assert(*at != NULL);
		at = &(*at)->next;
	}
	*at = session->next;
	for (uint32_t i = 0; i < session->attachment_num; i++)
		sf_shm_region_ring(session->attachments[i].region);
	free(session->attachments);
	free(session);
}

static bool session_attach(struct session *session, uint64_t region, uint32_t rights)
{
	for (uint32_t i = 0; i < session->attachment_num; i++) {
		if (session->attachments[i].region == region) {
			session->attachments[i].rights |= rights;
			return true;
		}
	}
	if (session->attachment_num == session->attachment_room) {
		uint32_t room = session->attachment_room == 0 ? 8 : 2 * session->attachment_room;
		struct attachment *more = room <= ATTACHMENTS_MAX ? realloc(session->attachments, room * sizeof(*more)) : NULL;

		if (more == NULL)
			return false;
		session->attachments = more;
		session->attachment_room = room;
	}
	assert(session->attachment_num < session->attachment_room);
	session->attachments[session->attachment_num++] = (struct attachment){.region = region, .rights = rights};
	return true;
}

static uint32_t session_rights(const struct session *session, uint64_t region)
{
	for (uint32_t i = 0; i < session->attachment_num; i++) {
		if (session->attachments[i].region == region)
			return session->attachments[i].rights;
	}
	return 0;
}

void sf_shm_agent_serve_gone(uint64_t region)
{
	struct shm_msg_gone gone = {.head = sf_msg_head(SHM_MSG_GONE, sizeof(gone), 0), .region = region};

	assert(sf_is_locked(&sf_control_lock));
	for (struct session *s = sessions; s != NULL; s = s->next) {
		for (uint32_t i = 0; i < s->attachment_num; i++) {
			if (s->attachments[i].region != region)
				continue;
			s->attachments[i] = s->attachments[--s->attachment_num];
			/* If it cannot be notified, it sees the generation when it next uses the region. */
			sf_channel_send_optional(s->channel, &gone);
			break;
		}
	}
}

/* Chooses the runs that the peer may map, and their descriptors. Descriptors made here (read-only ones) are counted in *made. */
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

/* Finds the memory that the peer requests: an exported region by its token, or memory that an endpoint lends by the key of a
 * connection. */
static doca_error_t attach_find(const struct session *session, const struct shm_msg_attach *ask, struct shm_msg_attached *answer,
				const struct sf_pages **pages)
{
	const struct shm_region *region;
	const struct shm_lend *lend;

	if (ask->by_ep != 0) {
		lend = sf_shm_lend_find(ask->region, &ask->key, session->channel->pid);
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
	if (!region->exported || !sf_key_equal(&region->base.token, &ask->key))
		return DOCA_ERROR_NOT_PERMITTED;
	answer->addr = region->base.addr;
	answer->len = region->base.len;
	answer->rights = region->base.rights;
	*pages = region->pages;
	return DOCA_SUCCESS;
}

/* These return false if the peer does not read. */
static bool serve_attach(struct session *session, const struct shm_msg_attach *ask)
{
	struct shm_msg_attached answer = {.head = sf_msg_head(SHM_MSG_ATTACHED, sizeof(answer), ask->head.value),
					  .region = ask->region};
	const struct sf_pages *pages = NULL;
	int fds[SF_MSG_FDS_MAX];
	uint32_t made = 0;
	bool sent;
	doca_error_t error = attach_find(session, ask, &answer, &pages);

	if (error == DOCA_SUCCESS && !session_attach(session, ask->region, answer.rights))
		error = DOCA_ERROR_NO_MEMORY;
	answer.status = error;
	if (error == DOCA_SUCCESS) {
		attach_runs(pages, ask->by_ep != 0 || (answer.rights & (SF_RIGHT_WRITE | SF_RIGHT_ATOMIC)) != 0, &answer, fds,
			    &made);
	} else if (ask->by_ep == 0) { /* the lent memory may have ended during the request */
		SF_LOG_WARN_LIMITED("process %d may not attach a region: %s", session->channel->pid, doca_error_get_descr(error));
	}
	sent = sf_channel_send(session->channel, &answer, fds, answer.run_num);
	for (uint32_t i = 0; i < made; i++)
		close(fds[i]);
	return sent;
}

/* A copy inside this process that returns an error for an unmapped address instead of faulting. */
static bool copy_checked(void *local, uint64_t addr, size_t len, bool write)
{
	struct iovec here = {.iov_base = local, .iov_len = len}, there = {.iov_base = (void *)(uintptr_t)addr, .iov_len = len};
	ssize_t done =
		write ? process_vm_writev(getpid(), &here, 1, &there, 1, 0) : process_vm_readv(getpid(), &here, 1, &there, 1, 0);

	if (done >= 0)
		return (size_t)done == len;
	if (errno == EFAULT)
		return false;
	/* A filter rejects the system call. */
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

static doca_error_t operation_run(const struct shm_msg_operate *ask, struct shm_msg_operated *answer)
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

static bool serve_operate(struct session *session, const struct shm_msg_operate *ask)
{
	static union {
		struct shm_msg_operated operated;
		uint8_t bytes[SF_MSG_SIZE_MAX];
	} out; /* guarded by sf_control_lock */
	doca_error_t error = operate_check(session, ask);

	out.operated = (struct shm_msg_operated){.len = 0};
	if (error == DOCA_SUCCESS) {
		sf_pages_hold();
		error = operation_run(ask, &out.operated);
		sf_pages_release();
	}
	if (error != DOCA_SUCCESS) {
		SF_LOG_WARN_LIMITED("process %d may not access %u bytes at 0x%lx: %s", session->channel->pid, ask->len,
				    (unsigned long)ask->addr, doca_error_get_descr(error));
		out.operated.len = 0;
	}
	out.operated.status = error;
	out.operated.head = sf_msg_head(SHM_MSG_OPERATED, sizeof(out.operated) + out.operated.len, ask->head.value);
	return sf_channel_send(session->channel, &out, NULL, 0);
}

static bool serve_handshake(struct session *session)
{
	struct shm_msg_welcome welcome = {.head = sf_msg_head(SHM_MSG_WELCOME, sizeof(welcome), 0)};
	int fd = sf_shm_region_generations_fd();

	if (fd < 0)
		return false; /* no region was ever registered here */
	return sf_channel_send(session->channel, &welcome, &fd, 1);
}

static bool session_message(struct sf_channel *channel, const struct sf_msg *msg, int *fds)
{
	struct session *session = channel->owner;

	(void)fds;
	switch (msg->kind) {
	case SHM_MSG_HANDSHAKE:
		return serve_handshake(session);
	case SHM_MSG_ATTACH:
		return serve_attach(session, (const struct shm_msg_attach *)msg);
	case SHM_MSG_OPERATE:
		return serve_operate(session, (const struct shm_msg_operate *)msg);
	default:
		return false;
	}
}

bool sf_shm_agent_serve(struct sf_channel *channel, const struct sf_msg *first)
{
	struct session *session = channel->is_stream ? NULL : calloc(1, sizeof(*session));

	assert(sf_is_locked(&sf_control_lock));
	if (session == NULL)
		return false;
	session->channel = channel;
	session->next = sessions;
	sessions = session;
	channel->owner = session;
	channel->message = session_message;
	channel->ended = session_ended;
	return session_message(channel, first, NULL);
}

void sf_shm_agent_after_fork(void)
{
	sessions = NULL; /* it belongs to the parent; its memory stays allocated */
}
