/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions of partial SHA jobs: each is one of today's partial tasks, submitted again for every piece. */
#include <assert.h>
#include <stdlib.h>

#include "legacy/sha.h"
#include "sha/partial.h"

struct doca_sha_partial_session {
	struct doca_sha_partial_session *next; /* in the lane's list */
	struct legacy_lane *lane;	       /* NULL once the context was removed from the queue */
	struct doca_sha_task_partial_hash *task;
	int type;     /* job type of this message; 0 between messages */
	bool is_busy; /* the queue has a job of this session */
	bool is_final;
};

/* ---- jobs ---- */

static doca_error_t check_job(const struct legacy_slot *slot, const struct doca_sha_partial_job *job)
{
	const struct doca_sha_partial_session *session = job->session;

	if (session == NULL || session->lane != slot->entry.lane) {
		SF_LOG_ERR("the partial SHA job has %s",
			   session == NULL ? "no session" : "a session of another context or work queue");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (session->is_busy) {
		SF_LOG_ERR("a job of this SHA session is in the work queue: retrieve it before the next piece");
		return DOCA_ERROR_BAD_STATE;
	}
	if (session->type != 0 && session->type != job->sha_job.base.type) {
		SF_LOG_ERR("the SHA session's message has job type 0x%x, but this piece has 0x%x", (unsigned int)session->type,
			   (unsigned int)job->sha_job.base.type);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if ((job->sha_job.flags & ~(uint64_t)DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL) != 0) {
		SF_LOG_ERR("SHA job flags 0x%lx hold bits that no flag has", (unsigned long)job->sha_job.flags);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

/* Loads a piece that is not the whole message. */
static doca_error_t load_piece(struct doca_sha_partial_session *session, const struct doca_sha_job *job,
			       enum doca_sha_algorithm algorithm, bool is_final)
{
	struct doca_sha_task_partial_hash *task = session->task;
	doca_error_t result = DOCA_SUCCESS;

	if (session->type == 0) {
		result = doca_sha_task_partial_hash_reset(task);
		if (result == DOCA_SUCCESS)
			result = doca_sha_task_partial_hash_set_algorithm(task, algorithm);
		if (result == DOCA_SUCCESS)
			result = doca_sha_task_partial_hash_set_dst(task, job->resp_buf);
	}
	if (result == DOCA_SUCCESS)
		result = doca_sha_task_partial_hash_set_src(task, job->req_buf);
	if (result == DOCA_SUCCESS && is_final) {
		/* The last piece names the destination of the digest. */
		result = sf_sha_partial_set_dst(task, job->resp_buf);
		if (result == DOCA_SUCCESS)
			result = doca_sha_task_partial_hash_set_is_final_buf(task);
	}
	return result;
}

doca_error_t legacy_sha_load_partial(struct legacy_slot *slot, const struct doca_sha_partial_job *job)
{
	struct doca_sha_partial_session *session = job->session;
	enum doca_sha_algorithm algorithm = (enum doca_sha_algorithm)(job->sha_job.base.type - DOCA_SHA_JOB_SHA1_PARTIAL);
	bool is_final = (job->sha_job.flags & DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL) != 0;
	doca_error_t result = check_job(slot, job);

	if (result != DOCA_SUCCESS)
		return result;
	if (is_final && session->type == 0) {
		result = legacy_sha_load_hash(slot, &job->sha_job, algorithm); /* the piece is the whole message */
	} else {
		result = load_piece(session, &job->sha_job, algorithm, is_final);
		slot->task = doca_sha_task_partial_hash_as_task(session->task);
		doca_task_set_user_data(slot->task, (union doca_data){.ptr = slot});
	}
	if (result != DOCA_SUCCESS)
		return result;
	session->type = job->sha_job.base.type;
	session->is_busy = true;
	session->is_final = is_final;
	slot->session = session;
	return DOCA_SUCCESS;
}

bool legacy_sha_job_ended(struct legacy_slot *slot, doca_error_t *status)
{
	struct doca_sha_partial_session *session = slot->session;

	if (session == NULL)
		return false;
	slot->session = NULL;
	session->is_busy = false;
	if (session->is_final || *status != DOCA_SUCCESS)
		session->type = 0; /* the next piece begins a new message */
	return false;
}

/* ---- public ---- */

static struct legacy_lane *lane_of(struct legacy_sha *sha, struct doca_workq *workq, const char *function)
{
	struct legacy_lane *lane = legacy_workq_lane(workq, &sha->ctx);

	if (lane == NULL)
		SF_LOG_ERR("%s: the SHA context is not in this work queue", function);
	return lane;
}

LEGACY_API doca_error_t doca_2_2_sha_partial_session_create(struct legacy_sha *sha, struct doca_workq *workq,
							    struct doca_sha_partial_session **session)
{
	doca_error_t result = legacy_check("doca_sha_partial_session_create", sha, workq != NULL ? session : NULL);
	struct doca_sha_partial_session *created;
	struct legacy_lane *lane;

	if (result != DOCA_SUCCESS)
		return result;
	lane = lane_of(sha, workq, "doca_sha_partial_session_create");
	if (lane == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	created = calloc(1, sizeof(*created));
	if (created == NULL) {
		SF_LOG_ERR("no memory for a SHA session");
		return DOCA_ERROR_NO_MEMORY;
	}
	created->lane = lane;
	result = doca_sha_task_partial_hash_alloc_init(lane->object, DOCA_SHA_ALGORITHM_SHA1, legacy_sha_missing_buf(lane),
						       legacy_sha_missing_buf(lane), (union doca_data){.ptr = NULL},
						       &created->task);
	if (result != DOCA_SUCCESS) {
		free(created);
		return result;
	}
	created->next = lane->sessions;
	lane->sessions = created;
	*session = created;
	return DOCA_SUCCESS;
}

/* Programs may remove the queue first and destroy their sessions later. */
void legacy_sha_sessions_end(struct legacy_lane *lane)
{
	for (struct doca_sha_partial_session *session = lane->sessions; session != NULL; session = session->next) {
		doca_task_free(doca_sha_task_partial_hash_as_task(session->task));
		session->lane = NULL;
	}
	lane->sessions = NULL;
}

static void session_unlink(struct doca_sha_partial_session *session)
{
	struct doca_sha_partial_session **at = &session->lane->sessions;

	while (*at != session) {
		assert(*at != NULL);
		at = &(*at)->next;
	}
	*at = session->next;
	doca_task_free(doca_sha_task_partial_hash_as_task(session->task));
}

/* INVALID_VALUE, logged, unless the session belongs to the lane and has no job in the queue. */
static doca_error_t check_session(const struct doca_sha_partial_session *session, const struct legacy_lane *lane,
				  const char *function)
{
	if (lane == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (session->lane == lane && !session->is_busy)
		return DOCA_SUCCESS;
	SF_LOG_ERR("%s: %s", function,
		   session->is_busy ? "a job of the session is in the work queue"
				    : "the session is of another context or work queue");
	return DOCA_ERROR_INVALID_VALUE;
}

LEGACY_API doca_error_t doca_2_2_sha_partial_session_destroy(struct legacy_sha *sha, struct doca_workq *workq,
							     struct doca_sha_partial_session *session)
{
	const char *function = "doca_sha_partial_session_destroy";
	doca_error_t result = legacy_check(function, sha, workq != NULL ? session : NULL);

	if (result == DOCA_SUCCESS && session->lane != NULL) {
		result = check_session(session, lane_of(sha, workq, function), function);
		if (result == DOCA_SUCCESS)
			session_unlink(session);
	}
	if (result == DOCA_SUCCESS)
		free(session);
	return result;
}

LEGACY_API doca_error_t doca_2_2_sha_partial_session_copy(struct legacy_sha *sha, struct doca_workq *workq,
							  const struct doca_sha_partial_session *from_session,
							  struct doca_sha_partial_session *to_session)
{
	const char *function = "doca_sha_partial_session_copy";
	doca_error_t result = legacy_check(function, sha, workq != NULL && from_session != NULL ? to_session : NULL);
	struct legacy_lane *lane;

	if (result != DOCA_SUCCESS)
		return result;
	lane = lane_of(sha, workq, function);
	result = check_session(from_session, lane, function);
	if (result == DOCA_SUCCESS)
		result = check_session(to_session, lane, function);
	if (result == DOCA_SUCCESS && from_session->type != 0)
		result = sf_sha_partial_copy(to_session->task, from_session->task);
	if (result == DOCA_SUCCESS)
		to_session->type = from_session->type;
	return result;
}
