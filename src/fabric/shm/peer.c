/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/peer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "base/thread_safety.h"
#include "fabric/control/runtime.h"
#include "fabric/shm/fds.h"
#include "fabric/iov.h"
#include "fabric/shm/layout.h"
#include "fabric/shm/lend.h"
#include "fabric/shm/peer_memory.h"
#include "fabric/shm/region.h"
#include "fabric/shm/conn.h"

static struct shm_peer *peers; /* guarded by sf_control_lock */

static void attach_settle(struct shm_attach *attach, enum shm_attach_state state, doca_error_t status)
{
	attach->status = status;
	atomic_store_explicit(&attach->state, state, memory_order_release);
	pthread_cond_broadcast(&sf_control_changed);
}

static void job_end(struct shm_job *job, doca_error_t status)
{
	sf_shm_job_cancel(job);
	job->status = status;
	atomic_store_explicit(&job->finished, true, memory_order_release);
	job->notify(job);
}

static void peer_dead(struct shm_peer *peer)
{
	assert(sf_is_locked(&sf_control_lock));
	sf_channel_close(peer->channel);
	peer->channel = NULL;
	atomic_store_explicit(&peer->dead, true, memory_order_release);
	peer->asking = false;
	for (struct shm_attach *a = peer->attaches; a != NULL; a = a->next) {
		if (atomic_load_explicit(&a->state, memory_order_relaxed) == SHM_ATTACH_PENDING)
			attach_settle(a, SHM_ATTACH_FAILED, DOCA_ERROR_NOT_FOUND);
		sf_shm_imports_ring(a);
	}
	while (peer->jobs != NULL)
		job_end(peer->jobs, DOCA_ERROR_CONNECTION_ABORTED);
}

static bool map_runs(struct shm_attach *attach, const struct shm_msg_attached *msg, const int *fds)
{
	bool writable = attach->by_ep || (msg->rights & (SF_RIGHT_WRITE | SF_RIGHT_ATOMIC)) != 0;
	uint64_t origin = msg->addr & ~(uint64_t)(SHM_PAGE - 1);
	uint64_t span = (msg->addr + msg->len - origin + SHM_PAGE - 1) & ~(uint64_t)(SHM_PAGE - 1);
	uint8_t *base;

	if (msg->run_num == 0)
		return true;
	attach->runs = calloc(msg->run_num, sizeof(*attach->runs));
	base = mmap(NULL, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (attach->runs == NULL || base == MAP_FAILED)
		return false;
	attach->base = base;
	attach->span = span;
	attach->origin = origin;
	for (uint32_t i = 0; i < msg->run_num; i++) {
		const struct shm_msg_run *run = &msg->run[i];

		if (!sf_shm_memfd_check(fds[run->fd], run->offset + run->len) ||
		    mmap(base + (run->addr - origin), run->len, writable ? PROT_READ | PROT_WRITE : PROT_READ,
			 MAP_SHARED | MAP_FIXED, fds[run->fd], (off_t)run->offset) == MAP_FAILED)
			return false;
		attach->runs[i] = (struct shm_run){.addr = run->addr, .len = run->len};
	}
	attach->run_num = msg->run_num;
	return true;
}

static void peer_attached(struct shm_peer *peer, const struct shm_msg_attached *msg, const int *fds)
{
	struct shm_attach *a = peer->attaches;

	while (a != NULL && a->tag != msg->head.value)
		a = a->next;
	if (a == NULL || atomic_load_explicit(&a->state, memory_order_relaxed) != SHM_ATTACH_PENDING)
		return;
	if (msg->status != DOCA_SUCCESS) {
		attach_settle(a, SHM_ATTACH_FAILED, sf_msg_status(msg->status));
		return;
	}
	a->addr = msg->addr;
	a->len = msg->len;
	a->rights = msg->rights;
	if (peer->generations == NULL || !map_runs(a, msg, fds)) {
		SF_LOG_WARN_LIMITED("cannot map %lu bytes of process %d: access to them is slower", (unsigned long)msg->len,
				    peer->pid);
		a->run_num = 0;
	}
	if (peer->generations == NULL)
		attach_settle(a, SHM_ATTACH_FAILED, DOCA_ERROR_UNEXPECTED);
	else
		attach_settle(a, SHM_ATTACH_READY, DOCA_SUCCESS);
}

static void peer_welcome(struct shm_peer *peer, int fd)
{
	size_t size = SHM_REGIONS_MAX * sizeof(uint64_t);

	if (peer->generations != NULL || !sf_shm_memfd_check(fd, size))
		return;

	void *map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);

	if (map != MAP_FAILED)
		peer->generations = map;
}

static void job_send(struct shm_peer *peer)
{
	static union {
		struct shm_msg_operate operate;
		uint8_t bytes[SF_MSG_SIZE_MAX];
	} out; /* guarded by sf_control_lock */
	struct shm_job *job = peer->jobs;

	if (job == NULL || peer->asking)
		return;

	struct sf_op *op = job->op;
	bool atomic = op->kind == SF_OP_CAS || op->kind == SF_OP_FAA;
	uint64_t rest = job->len - job->at;
	uint32_t len = rest < SHM_MSG_OPERATE_MAX ? (uint32_t)rest : SHM_MSG_OPERATE_MAX;
	size_t size = sizeof(out.operate) + (op->kind == SF_OP_WRITE ? len : 0);

	peer->asking = true;
	peer->asked = job;
	peer->job_tag = ++peer->tag;
	out.operate = (struct shm_msg_operate){.head = sf_msg_head(SHM_MSG_OPERATE, size, peer->job_tag),
					       .region = job->region,
					       .addr = op->remote_addr + job->at,
					       .compare = atomic ? op->compare : 0,
					       .value = atomic ? op->value : 0,
					       .kind = op->kind,
					       .len = len};
	if (op->kind == SF_OP_WRITE)
		sf_iov_gather(out.operate.data, op->iov, op->iov_num, job->at, len);
	if (!sf_channel_send(peer->channel, &out, NULL, 0))
		peer_dead(peer); /* one request is in flight at a time: a connection without room for it is broken */
}

static void operation_ended(struct shm_peer *peer, const struct shm_msg_operated *msg)
{
	struct shm_job *job = peer->asked;

	if (!peer->asking || msg->head.value != peer->job_tag)
		return;
	peer->asking = false;
	peer->asked = NULL;
	if (job == NULL) {
		job_send(peer);
		return;
	}
	if (msg->status != DOCA_SUCCESS) {
		job_end(job, DOCA_ERROR_CONNECTION_ABORTED);
		return;
	}

	struct sf_op *op = job->op;
	uint64_t rest = job->len - job->at;
	uint32_t len = rest < SHM_MSG_OPERATE_MAX ? (uint32_t)rest : SHM_MSG_OPERATE_MAX;

	if (op->kind == SF_OP_READ && msg->len != len) {
		job_end(job, DOCA_ERROR_CONNECTION_ABORTED);
		return;
	}
	if (op->kind == SF_OP_READ)
		sf_iov_scatter(op->iov, op->iov_num, job->at, msg->data, len);
	else if (op->kind != SF_OP_WRITE)
		sf_iov_scatter(op->iov, op->iov_num, 0, &msg->old, sizeof(msg->old));
	job->at += len;
	if (job->at < job->len)
		job_send(peer);
	else
		job_end(job, DOCA_SUCCESS);
}

static bool peer_message(struct sf_channel *channel, const struct sf_msg *msg, int *fds)
{
	struct shm_peer *peer = channel->owner;

	assert(sf_is_locked(&sf_control_lock));
	switch (msg->kind) {
	case SHM_MSG_WELCOME:
		peer_welcome(peer, fds[0]);
		return true;
	case SHM_MSG_ATTACHED:
		peer_attached(peer, (const struct shm_msg_attached *)msg, fds);
		return true;
	case SHM_MSG_OPERATED:
		operation_ended(peer, (const struct shm_msg_operated *)msg);
		return true;
	case SHM_MSG_GONE:
		sf_shm_conns_forget(peer);
		return true;
	default:
		return false;
	}
}

static void peer_ended(struct sf_channel *channel)
{
	assert(sf_is_locked(&sf_control_lock));
	peer_dead(channel->owner);
}

static void memory_close(struct shm_peer *peer)
{
	if (peer->memory_fd >= 0)
		close(peer->memory_fd);
	peer->memory_fd = -1;
}

static doca_error_t peer_connect(struct shm_peer *peer)
{
	const struct sf_msg handshake = sf_msg_head(SHM_MSG_HANDSHAKE, sizeof(handshake), 0);
	doca_error_t error = sf_channel_call(SF_SOCKET_AGENT, &peer->id, "", false, 0, peer, &peer->channel);

	if (error != DOCA_SUCCESS)
		return error;
	peer->pid = peer->channel->pid;
	peer->memory_fd = sf_shm_peer_memory_open(peer->channel->stream.fd, peer->pid);
	peer->channel->message = peer_message;
	peer->channel->ended = peer_ended;
	if (sf_channel_send(peer->channel, &handshake, NULL, 0))
		return DOCA_SUCCESS;
	sf_channel_close(peer->channel);
	peer->channel = NULL;
	memory_close(peer);
	return DOCA_ERROR_NOT_FOUND;
}

doca_error_t sf_shm_peer_get(const struct sf_key *id, struct shm_peer **found)
{
	struct shm_peer *peer = peers;

	assert(sf_is_locked(&sf_control_lock));
	while (peer != NULL && memcmp(&peer->id, id, sizeof(*id)) != 0)
		peer = peer->next;
	if (peer == NULL) {
		peer = calloc(1, sizeof(*peer));
		if (peer == NULL)
			return DOCA_ERROR_NO_MEMORY;
		peer->id = *id;
		peer->memory_fd = -1;
		peer->jobs_end = &peer->jobs;
		peer->self = memcmp(id, sf_control_id(), sizeof(*id)) == 0;
		if (peer->self) {
			peer->generations = sf_shm_region_generations();
		} else {
			doca_error_t error = peer_connect(peer);

			if (error != DOCA_SUCCESS) {
				free(peer);
				return error;
			}
		}
		peer->next = peers;
		peers = peer;
	}
	peer->refs++;
	*found = peer;
	return DOCA_SUCCESS;
}

void sf_shm_peer_put(struct shm_peer *peer)
{
	struct shm_peer **at = &peers;

	assert(peer == NULL || peer->refs > 0);
	if (peer == NULL || --peer->refs != 0)
		return;
	while (*at != peer) {
		assert(*at != NULL);
		at = &(*at)->next;
	}
	*at = peer->next;
	sf_channel_close(peer->channel);
	memory_close(peer);
	if (!peer->self && peer->generations != NULL)
		munmap((void *)peer->generations, SHM_REGIONS_MAX * sizeof(uint64_t));
	free(peer);
}

static doca_error_t attach_self_lend(struct shm_attach *a)
{
	const struct shm_lend *lend = sf_shm_lend_find(a->region, &a->key, 0);
	const struct sf_pages_run *runs;

	if (lend == NULL)
		return DOCA_ERROR_NOT_PERMITTED;
	runs = sf_pages_runs(lend->pages, &a->run_num);
	a->runs = calloc(a->run_num, sizeof(*a->runs));
	if (a->runs == NULL)
		return DOCA_ERROR_NO_MEMORY;
	for (uint32_t i = 0; i < a->run_num; i++)
		a->runs[i] = (struct shm_run){.addr = (uintptr_t)runs[i].addr, .len = runs[i].len};
	a->addr = lend->addr;
	a->len = lend->len;
	return DOCA_SUCCESS;
}

static doca_error_t attach_self_region(struct shm_attach *a)
{
	struct shm_region *region = sf_shm_region_find(a->region);

	if (region == NULL)
		return DOCA_ERROR_NOT_FOUND;
	if (!sf_key_equal(&region->base.token, &a->key))
		return DOCA_ERROR_NOT_PERMITTED;
	a->runs = calloc(1, sizeof(*a->runs));
	if (a->runs == NULL)
		return DOCA_ERROR_NO_MEMORY;
	a->runs[0] = (struct shm_run){.addr = region->base.addr, .len = region->base.len};
	a->run_num = 1;
	a->addr = region->base.addr;
	a->len = region->base.len;
	a->rights = region->base.rights;
	return DOCA_SUCCESS;
}

static doca_error_t attach_self(struct shm_attach *a)
{
	doca_error_t error = a->by_ep ? attach_self_lend(a) : attach_self_region(a);

	if (error != DOCA_SUCCESS)
		return error;
	a->origin = a->addr;
	a->base = (uint8_t *)(uintptr_t)a->addr;
	if (a->peer->generations == NULL) /* others may be reading it */
		a->peer->generations = sf_shm_region_generations();
	return DOCA_SUCCESS;
}

static void attach_ask(struct shm_attach *a)
{
	struct shm_msg_attach ask = {.region = a->region, .key = a->key, .by_ep = a->by_ep};

	a->tag = ++a->peer->tag;
	ask.head = sf_msg_head(SHM_MSG_ATTACH, sizeof(ask), a->tag);
	if (!sf_channel_send(a->peer->channel, &ask, NULL, 0))
		attach_settle(a, SHM_ATTACH_FAILED, DOCA_ERROR_NOT_FOUND);
}

doca_error_t sf_shm_attach_get(struct shm_peer *peer, uint64_t region, const struct sf_key *key, bool by_ep,
			       struct shm_attach **attach)
{
	struct shm_attach *a = peer->attaches;

	/* The key counts too, so that a request with a wrong key does not use the result of another one's correct key. */
	while (a != NULL && (a->region != region || a->by_ep != by_ep || !sf_key_equal(&a->key, key) ||
			     atomic_load_explicit(&a->state, memory_order_relaxed) == SHM_ATTACH_FAILED))
		a = a->next;
	if (a == NULL) {
		a = calloc(1, sizeof(*a));
		if (a == NULL)
			return DOCA_ERROR_NO_MEMORY;
		a->region = region;
		a->key = *key;
		a->by_ep = by_ep;
		a->peer = peer;
		peer->refs++;
		a->next = peer->attaches;
		peer->attaches = a;
		if (peer->self) {
			doca_error_t error = attach_self(a);

			attach_settle(a, error == DOCA_SUCCESS ? SHM_ATTACH_READY : SHM_ATTACH_FAILED, error);
		} else {
			attach_ask(a);
		}
	}
	a->refs++;
	*attach = a;
	return DOCA_SUCCESS;
}

void sf_shm_attach_put(struct shm_attach *attach)
{
	struct shm_attach **at;

	assert(attach == NULL || attach->refs > 0);
	if (attach == NULL || --attach->refs != 0)
		return;
	for (at = &attach->peer->attaches; *at != attach; at = &(*at)->next)
		;
	*at = attach->next;
	if (attach->span != 0)
		munmap(attach->base, attach->span);
	sf_shm_peer_put(attach->peer);
	free(attach->runs);
	free(attach);
}

void sf_shm_peers_after_fork(void)
{
	for (struct shm_peer *peer = peers; peer != NULL; peer = peer->next) {
		peer->channel = NULL;
		memory_close(peer);
		peer->jobs = peer->asked = NULL;
		peer->asking = false;
		peer->jobs_end = &peer->jobs;
		atomic_store(&peer->dead, true);
	}
}

static uint32_t region_index(const struct shm_attach *attach)
{
	return attach->region % SHM_REGIONS_MAX;
}

bool sf_shm_attach_enter(const struct shm_attach *attach)
{
	if (!attach->peer->self)
		return shm_attach_valid(attach);
	/* In this process the owner gives the memory back to the program: it waits for threads that are inside. */
	atomic_fetch_add(&sf_shm_region_users[region_index(attach)], 1);
	if (shm_attach_valid(attach))
		return true;
	atomic_fetch_sub(&sf_shm_region_users[region_index(attach)], 1);
	return false;
}

bool sf_shm_attach_leave(const struct shm_attach *attach)
{
	SHM_FENCE(memory_order_acquire);

	bool valid = shm_attach_valid(attach);

	if (attach->peer->self)
		atomic_fetch_sub(&sf_shm_region_users[region_index(attach)], 1);
	return valid;
}

void sf_shm_job_start(struct shm_job *job)
{
	struct shm_peer *peer = job->peer;

	assert(sf_is_locked(&sf_control_lock));
	job->next = NULL;
	job->at = 0;
	job->active = true;
	atomic_store_explicit(&job->finished, false, memory_order_relaxed);
	*peer->jobs_end = job;
	peer->jobs_end = &job->next;
	if (peer->jobs == job)
		job_send(peer);
}

/* Removes the job, finished or not; an answer that arrives later is ignored. */
void sf_shm_job_cancel(struct shm_job *job)
{
	struct shm_peer *peer = job->peer;
	struct shm_job **at = &peer->jobs;
	bool first = peer->jobs == job;

	assert(sf_is_locked(&sf_control_lock));
	if (!job->active)
		return;
	while (*at != job) {
		assert(*at != NULL);
		at = &(*at)->next;
	}
	*at = job->next;
	if (*at == NULL)
		peer->jobs_end = at;
	job->active = false;
	if (peer->asked == job)
		peer->asked = NULL;
	if (first && peer->channel != NULL)
		job_send(peer);
}
