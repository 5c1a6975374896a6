/* SPDX-License-Identifier: BSD-3-Clause */
/* SHA jobs: each slot is a hash task; a partial job is the task of its session. */
#include <stdlib.h>

#include <doca_sha.h>

#include "legacy/for_1_5.h"
#include "legacy/sha.h"
#include "sha/partial.h"

#define SHA_SLOTS_MAX 8192 /* the maximum of tasks of a SHA context */

static uint8_t log2_up(uint32_t num)
{
	return num > 1 ? (uint8_t)(32 - __builtin_clz(num - 1)) : 0;
}

static doca_error_t pool_configure(struct doca_sha *sha, uint32_t num_slots)
{
	doca_error_t result =
		doca_sha_task_hash_set_conf(sha, (doca_sha_task_hash_completion_cb_t)legacy_task_ended,
					    (doca_sha_task_hash_completion_cb_t)legacy_task_ended, log2_up(num_slots));

	if (result != DOCA_SUCCESS)
		return result;
	return doca_sha_task_partial_hash_set_conf(sha, (doca_sha_task_partial_hash_completion_cb_t)legacy_task_ended,
						   (doca_sha_task_partial_hash_completion_cb_t)legacy_task_ended,
						   log2_up(num_slots));
}

static doca_error_t sha_open(struct legacy_lane *lane)
{
	struct doca_sha *sha;
	doca_error_t result = doca_sha_create(lane->ctx->dev, &sha);

	if (result != DOCA_SUCCESS)
		return result;
	if (((struct legacy_sha *)lane->ctx)->overwrites)
		sf_sha_overwrite(sha);
	result = doca_pe_connect_ctx(lane->pe, doca_sha_as_ctx(sha));
	if (result == DOCA_SUCCESS)
		result = pool_configure(sha, lane->num_slots);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(doca_sha_as_ctx(sha));
	if (result != DOCA_SUCCESS)
		doca_sha_destroy(sha);
	lane->object = sha;
	return result;
}

static void sha_close(struct legacy_lane *lane)
{
	legacy_sha_sessions_end(lane);
	legacy_ctx_end(lane->pe, doca_sha_as_ctx(lane->object));
	doca_sha_destroy(lane->object);
}

/* A placeholder for the bufs of a task that is allocated before its job: alloc_init rejects NULL. Each job sets its own bufs. */
struct doca_buf *legacy_sha_missing_buf(struct legacy_lane *lane)
{
	return (struct doca_buf *)lane;
}

static doca_error_t sha_slot_init(struct legacy_lane *lane, struct legacy_slot *slot)
{
	struct doca_sha_task_hash *task;
	doca_error_t result = doca_sha_task_hash_alloc_init(lane->object, DOCA_SHA_ALGORITHM_SHA1, legacy_sha_missing_buf(lane),
							    legacy_sha_missing_buf(lane), (union doca_data){.ptr = slot}, &task);

	if (result == DOCA_SUCCESS)
		slot->task = slot->tasks[0] = doca_sha_task_hash_as_task(task);
	return result;
}

doca_error_t legacy_sha_load_hash(struct legacy_slot *slot, const struct doca_sha_job *job, enum doca_sha_algorithm algorithm)
{
	struct doca_sha_task_hash *task = (struct doca_sha_task_hash *)slot->tasks[0];
	doca_error_t result = doca_sha_task_hash_set_algorithm(task, algorithm);

	if (result == DOCA_SUCCESS)
		result = doca_sha_task_hash_set_src(task, job->req_buf);
	if (result == DOCA_SUCCESS)
		result = doca_sha_task_hash_set_dst(task, job->resp_buf);
	slot->task = slot->tasks[0];
	return result;
}

static doca_error_t sha_load(struct legacy_slot *slot, const struct doca_job *job)
{
	const struct doca_sha_job *sha_job = (const struct doca_sha_job *)job;

	if (sha_job->req_buf == NULL || sha_job->resp_buf == NULL) {
		SF_LOG_ERR("the SHA job has no %s", sha_job->req_buf == NULL ? "source" : "destination");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (job->type >= DOCA_SHA_JOB_SHA1_PARTIAL)
		return legacy_sha_load_partial(slot, (const struct doca_sha_partial_job *)job);
	slot->session = NULL;
	return legacy_sha_load_hash(slot, sha_job, (enum doca_sha_algorithm)(job->type - DOCA_SHA_JOB_SHA1));
}

static doca_error_t check_any(const struct doca_devinfo *devinfo)
{
	for (int algorithm = DOCA_SHA_ALGORITHM_SHA1; algorithm <= DOCA_SHA_ALGORITHM_SHA512; algorithm++) {
		if (doca_sha_cap_task_hash_get_supported(devinfo, (enum doca_sha_algorithm)algorithm) == DOCA_SUCCESS)
			return DOCA_SUCCESS;
	}
	return DOCA_ERROR_NOT_SUPPORTED;
}

static const struct legacy_ctx_ops sha_ops = {
	.name = "SHA",
	.first_type = DOCA_SHA_JOB_SHA1,
	.last_type = DOCA_SHA_JOB_SHA512_PARTIAL,
	.slots_max = SHA_SLOTS_MAX,
	.needs_dev = true,
	.check_dev = check_any,
	.open = sha_open,
	.close = sha_close,
	.slot_init = sha_slot_init,
	.load = sha_load,
	.goes_on = legacy_sha_job_ended,
};

/* ---- public ---- */

LEGACY_API doca_error_t doca_2_2_sha_create(struct legacy_sha **sha)
{
	doca_error_t result = legacy_check("doca_sha_create", sha, sha);
	struct legacy_sha *created;

	if (result != DOCA_SUCCESS)
		return result;
	created = calloc(1, sizeof(*created));
	if (created == NULL) {
		SF_LOG_ERR("no memory for a SHA context");
		return DOCA_ERROR_NO_MEMORY;
	}
	legacy_ctx_init(&created->ctx, &sha_ops);
	*sha = created;
	return DOCA_SUCCESS;
}

doca_error_t sf_legacy_sha_create_overwriting(struct legacy_sha **sha)
{
	doca_error_t result = doca_2_2_sha_create(sha);

	if (result == DOCA_SUCCESS)
		(*sha)->overwrites = true;
	return result;
}

LEGACY_API doca_error_t doca_2_2_sha_destroy(struct legacy_sha *sha)
{
	doca_error_t result = legacy_check("doca_sha_destroy", sha, sha);

	if (result == DOCA_SUCCESS)
		result = legacy_ctx_fini(&sha->ctx);
	if (result == DOCA_SUCCESS)
		free(sha);
	return result;
}

/* Sets *algorithm to the job type's. INVALID_VALUE, logged, if it is not a SHA job. */
static doca_error_t check_type(enum doca_sha_job_type job_type, const char *function, enum doca_sha_algorithm *algorithm)
{
	if ((int)job_type < DOCA_SHA_JOB_SHA1 || (int)job_type > DOCA_SHA_JOB_SHA512_PARTIAL) {
		SF_LOG_ERR("%s: 0x%x is not a SHA job", function, (unsigned int)job_type);
		return DOCA_ERROR_INVALID_VALUE;
	}
	*algorithm = (enum doca_sha_algorithm)((job_type - DOCA_SHA_JOB_SHA1) % (DOCA_SHA_JOB_SHA1_PARTIAL - DOCA_SHA_JOB_SHA1));
	return DOCA_SUCCESS;
}

LEGACY_API doca_error_t doca_2_2_sha_job_get_supported(const struct doca_devinfo *devinfo, enum doca_sha_job_type job_type)
{
	doca_error_t result = legacy_check("doca_sha_job_get_supported", devinfo, devinfo);
	enum doca_sha_algorithm algorithm;

	if (result == DOCA_SUCCESS)
		result = check_type(job_type, "doca_sha_job_get_supported", &algorithm);
	if (result != DOCA_SUCCESS)
		return result;
	if (job_type >= DOCA_SHA_JOB_SHA1_PARTIAL)
		return doca_sha_cap_task_partial_hash_get_supported(devinfo, algorithm);
	return doca_sha_cap_task_hash_get_supported(devinfo, algorithm);
}

LEGACY_API doca_error_t doca_2_2_sha_get_min_dst_buffer_size(const struct doca_devinfo *devinfo, enum doca_sha_job_type job_type,
							     uint32_t *min_buffer_size)
{
	doca_error_t result = legacy_check("doca_sha_get_min_dst_buffer_size", devinfo, min_buffer_size);
	enum doca_sha_algorithm algorithm;

	if (result == DOCA_SUCCESS)
		result = check_type(job_type, "doca_sha_get_min_dst_buffer_size", &algorithm);
	return result == DOCA_SUCCESS ? doca_sha_cap_get_min_dst_buf_size(devinfo, algorithm, min_buffer_size) : result;
}

LEGACY_API doca_error_t doca_2_2_sha_get_hardware_supported(const struct doca_devinfo *devinfo)
{
	doca_error_t result = legacy_check("doca_sha_get_hardware_supported", devinfo, devinfo);

	return result == DOCA_SUCCESS ? check_any(devinfo) : result; /* every device that supports SHA counts as hardware */
}
