/* SPDX-License-Identifier: BSD-3-Clause */
/* DMA and SHA contexts of DOCA 2.2, sessions, and possible jobs of each kind of context. */
#include <string.h>

#include "legacy.h"

#define TYPES_MAX 6

/* ---- jobs ---- */

static struct doca_buf *use_buf(struct made_job *made, int slot)
{
	struct object *buf = chance(24) ? NULL : object_any(BUF);

	if (buf == NULL)
		return NULL;
	buf->users++;
	made->bufs[slot] = buf->pointer;
	return buf->pointer;
}

static void use_session(struct made_job *made)
{
	struct object *session = chance(24) ? NULL : object_any(SESSION);

	if (session == NULL)
		return;
	made->job.partial.session = session->pointer;
}

void job_release(struct made_job *made)
{
	for (int i = 0; i < JOB_BUFS; i++) {
		if (made->bufs[i] != NULL)
			object_find(BUF, made->bufs[i])->users--;
	}
	memset(made, 0, sizeof(*made));
}

static void make_sha(struct made_job *made, bool in_graph)
{
	int type = DOCA_SHA_JOB_SHA1 + (int)random_below(in_graph ? 3 : TYPES_MAX);

	made->job.base.type = type;
	made->job.sha.req_buf = use_buf(made, 0);
	made->job.sha.resp_buf = use_buf(made, 1);
	if (type >= DOCA_SHA_JOB_SHA1_PARTIAL) {
		made->job.sha.flags = chance(3);
		use_session(made);
	}
}

static void make_event(struct made_job *made, bool in_graph)
{
	int type = DOCA_SYNC_EVENT_JOB_WAIT_GT + (in_graph ? 1 + (int)random_below(3) : (int)random_below(4));

	made->job.base.type = type;
	switch (type) {
	case DOCA_SYNC_EVENT_JOB_WAIT_GT:
		made->job.wait.value = chance(8) ? 255 : random_below(255);
		made->job.wait.mask = chance(2) ? 0xff : UINT64_MAX;
		made->is_wait = true;
		break;
	case DOCA_SYNC_EVENT_JOB_GET:
		made->job.get.value = chance(12) ? NULL : &made->word;
		break;
	case DOCA_SYNC_EVENT_JOB_UPDATE_SET:
		made->job.set.value = random_below(300);
		break;
	default:
		made->job.add.value = random_below(3);
		made->job.add.fetched = chance(4) ? NULL : &made->word;
	}
}

bool job_make(struct made_job *made, struct doca_ctx *ctx, bool in_graph)
{
	memset(made, 0, sizeof(*made));
	if (object_find(OLD_DMA, ctx) != NULL) {
		made->job.base.type = DOCA_DMA_JOB_MEMCPY;
		made->job.memcpy.src_buff = use_buf(made, 0);
		made->job.memcpy.dst_buff = use_buf(made, 1);
	} else if (object_find(OLD_SHA, ctx) != NULL) {
		make_sha(made, in_graph);
	} else if (object_find(OLD_EVENT, ctx) != NULL) {
		make_event(made, in_graph);
	} else {
		return false;
	}
	made->job.base.ctx = ctx;
	if (chance(24) && !made->is_wait) { /* an invalid job type */
		made->job.base.type = chance(2) ? 0 : DOCA_GRAPH_JOB;
		refuse_if(!in_graph);
	}
	return true;
}

/* ---- DMA and SHA ---- */

#define LIBRARY(name, kind)                                                                                                      \
	static void name##_create(void)                                                                                          \
	{                                                                                                                        \
		struct doca_##name *object;                                                                                      \
		if (!has_room(kind) || !has_room(OLD_CTX))                                                                       \
			return;                                                                                                  \
		struct doca_##name **place = or_null(&object);                                                                   \
		expect_if(true);                                                                                                 \
		if (CALL(doca_##name##_create, place) != DOCA_SUCCESS)                                                           \
			return;                                                                                                  \
		object_add(kind, object);                                                                                        \
		old_ctx_add(CALL_VALUE(doca_##name##_as_ctx, object));                                                           \
	}                                                                                                                        \
	static void name##_destroy(void)                                                                                         \
	{                                                                                                                        \
		struct doca_##name *object = pick(kind);                                                                         \
		if (old_ctx_is_kept(object))                                                                                     \
			return;                                                                                                  \
		if (CALL(doca_##name##_destroy, object) != DOCA_SUCCESS)                                                         \
			return;                                                                                                  \
		object_drop(kind, object);                                                                                       \
		object_drop(OLD_CTX, object);                                                                                    \
	}                                                                                                                        \
	static void name##_as_ctx(void)                                                                                          \
	{                                                                                                                        \
		(void)CALL_VALUE(doca_##name##_as_ctx, (struct doca_##name *)pick(kind));                                        \
	}                                                                                                                        \
	static void name##_prepare(void)                                                                                         \
	{                                                                                                                        \
		struct doca_##name *object;                                                                                      \
		if (CALL(doca_##name##_create, &object) != DOCA_SUCCESS)                                                         \
			return;                                                                                                  \
		object_add(kind, object);                                                                                        \
		old_ctx_add(doca_##name##_as_ctx(object));                                                                       \
		old_ctx_run(doca_##name##_as_ctx(object));                                                                       \
	}
LIBRARY(dma, OLD_DMA)
LIBRARY(sha, OLD_SHA)

static const struct call dma_calls[] = {
	{"doca_dma_create", dma_create, 2},
	{"doca_dma_destroy", dma_destroy, 1, true},
	{"doca_dma_as_ctx", dma_as_ctx},
};
const struct group old_dma_group = GROUP(dma_calls, dma_prepare);

/* ---- sessions: created from a context, which is kept, and from a queue, by its id ---- */

static uint64_t queue_of[OBJECTS_MAX];
static void *sessions[OBJECTS_MAX];

static int session_index(const void *session)
{
	int i = 0;

	while (i < OBJECTS_MAX - 1 && sessions[i] != session)
		i++;
	return i;
}

static void session_create(void)
{
	struct doca_sha_partial_session *session;

	if (!has_room(SESSION))
		return;
	struct doca_sha *sha = pick(OLD_SHA);
	struct doca_workq *workq = pick(WORKQ);
	struct doca_sha_partial_session **place = or_null(&session);

	if (CALL(doca_sha_partial_session_create, sha, workq, place) != DOCA_SUCCESS)
		return;
	int i = session_index(NULL);

	object_add(SESSION, session)->of = object_find(OLD_CTX, sha)->id;
	sessions[i] = session;
	queue_of[i] = object_find(WORKQ, workq)->id;
	object_find(OLD_CTX, sha)->kept++;
	object_find(WORKQ, workq)->kept++;
}

static void session_destroy(void)
{
	struct doca_sha_partial_session *session = pick(SESSION);
	struct doca_sha *sha = pick(OLD_SHA);
	struct doca_workq *workq = pick(WORKQ);

	if (session != NULL && chance(2)) { /* what it was created from */
		verdict_take();
		sha = object_by_id(OLD_CTX, object_find(SESSION, session)->of)->pointer;
		workq = object_by_id(WORKQ, queue_of[session_index(session)])->pointer;
	}
	if (CALL(doca_sha_partial_session_destroy, sha, workq, session) != DOCA_SUCCESS)
		return;
	int i = session_index(session);

	object_by_id(OLD_CTX, object_find(SESSION, session)->of)->kept--;
	object_by_id(WORKQ, queue_of[i])->kept--;
	sessions[i] = NULL;
	object_drop(SESSION, session);
}

static void session_copy(void)
{
	struct doca_sha *sha = pick(OLD_SHA);
	struct doca_workq *workq = pick(WORKQ);
	struct doca_sha_partial_session *from = pick(SESSION), *to = pick(SESSION);

	CALL(doca_sha_partial_session_copy, sha, workq, from, to);
}

static const struct call sha_calls[] = {
	{"doca_sha_create", sha_create, 2},
	{"doca_sha_destroy", sha_destroy, 1, true},
	{"doca_sha_as_ctx", sha_as_ctx},
	{"doca_sha_partial_session_create", session_create, 6},
	{"doca_sha_partial_session_destroy", session_destroy, 2, true},
	{"doca_sha_partial_session_copy", session_copy, 3},
};
const struct group old_sha_group = GROUP(sha_calls, sha_prepare);
