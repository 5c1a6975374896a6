/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UROM without memory and without descriptors. Each allocation of create, of start, of the progress of a start, and of a command
 * fails in turn. A failed call reports it, a start that has begun ends in IDLE, and nothing is left.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include <doca_buf.h>

#include "support/urom_rig.h"
#include "urom_graph.h"

#define GRAPH "worker_graph"

/* A daemon and a service for all scenarios; a rig holds what a scenario creates. */
static struct urom_rig urom;

struct rig {
	struct doca_urom_service *service;
	struct doca_urom_worker *worker;
	struct doca_urom_domain *domain;
};

#include "starved.h"

/* ---- a service ---- */

static doca_error_t make_service(struct rig *rig)
{
	STEP(doca_urom_service_create(&rig->service));
	STEP(doca_pe_connect_ctx(urom.pe, doca_urom_service_as_ctx(rig->service)));
	STEP(doca_urom_service_set_dev(rig->service, urom.dev));
	return doca_ctx_start(doca_urom_service_as_ctx(rig->service));
}

/* ---- a worker, to its first answer ---- */

/* Waits until a start that has begun ends in RUNNING or in IDLE. */
static doca_error_t started(struct doca_ctx *ctx)
{
	uint64_t until = sf_now_ns() + UROM_RIG_WAIT_NS;
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;

	do {
		urom_rig_progress(urom.pe);
		(void)doca_ctx_get_state(ctx, &state);
	} while (state != DOCA_CTX_STATE_RUNNING && state != DOCA_CTX_STATE_IDLE && sf_now_ns() < until);
	assert_true(state == DOCA_CTX_STATE_RUNNING || state == DOCA_CTX_STATE_IDLE);
	return state == DOCA_CTX_STATE_RUNNING ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}

static doca_error_t run_worker(struct doca_urom_worker **worker)
{
	static char *const env[] = {(char *)"STARVED=1", (char *)"STARVED_TOO=2"};

	STEP(doca_urom_worker_create(worker));
	STEP(doca_pe_connect_ctx(urom.pe, doca_urom_worker_as_ctx(*worker)));
	STEP(doca_urom_worker_set_service(*worker, urom.service));
	STEP(doca_urom_worker_set_plugins(*worker, urom_rig_plugin(&urom, GRAPH)));
	STEP(doca_urom_worker_set_max_inflight_tasks(*worker, 4));
	STEP(doca_urom_worker_set_env(*worker, env, 2));
	STEP(doca_ctx_start(doca_urom_worker_as_ctx(*worker)));
	return started(doca_urom_worker_as_ctx(*worker));
}

static doca_error_t make_worker(struct rig *rig)
{
	STEP(run_worker(&rig->worker));
	doca_error_t result = urom_rig_loopback(&urom, rig->worker, 5);
	return result == DOCA_ERROR_AGAIN ? DOCA_ERROR_NO_MEMORY : result;
}

/* ---- a domain ---- */

static doca_error_t allgather(void *sbuf, void *rbuf, size_t msglen, void *coll_info, void **req)
{
	memcpy(rbuf, sbuf, msglen);
	*req = coll_info;
	return DOCA_SUCCESS;
}

static doca_error_t req_done(void *req)
{
	(void)req;
	return DOCA_SUCCESS;
}

static void begin_with_worker(struct rig *rig)
{
	assert_int_equal(run_worker(&rig->worker), DOCA_SUCCESS);
}

static doca_error_t make_domain(struct rig *rig)
{
	struct doca_urom_domain_oob_coll oob = {allgather, req_done, req_done, rig, 1, 0};
	uint8_t key[300] = {1};
	uint64_t id = 1;

	STEP(doca_urom_domain_create(&rig->domain));
	struct doca_ctx *ctx = doca_urom_domain_as_ctx(rig->domain);
	STEP(doca_pe_connect_ctx(urom.pe, ctx));
	STEP(doca_urom_domain_set_oob(rig->domain, &oob));
	STEP(doca_urom_domain_set_buffers_count(rig->domain, 3));
	STEP(doca_urom_domain_add_buffer(rig->domain, key, sizeof(key), key, 100, key, 200));
	STEP(doca_urom_domain_add_buffer(rig->domain, key, sizeof(key), key, 200, key, 100));
	STEP(doca_urom_domain_set_workers(rig->domain, &id, &rig->worker, 1));
	STEP(doca_ctx_start(ctx));
	return started(ctx);
}

/* ---- the end ---- */

static void end_service(struct doca_urom_service *service)
{
	assert_int_equal(doca_ctx_stop(doca_urom_service_as_ctx(service)), DOCA_SUCCESS);
	assert_int_equal(doca_urom_service_destroy(service), DOCA_SUCCESS);
}

static void end_domain(struct doca_urom_domain *domain)
{
	assert_int_equal(doca_ctx_stop(doca_urom_domain_as_ctx(domain)), DOCA_SUCCESS);
	assert_int_equal(doca_urom_domain_destroy(domain), DOCA_SUCCESS);
}

static void rig_end(struct rig *rig)
{
	if (rig->service != NULL)
		end_service(rig->service);
	if (rig->domain != NULL)
		end_domain(rig->domain);
	if (rig->worker != NULL)
		assert_true(urom_rig_stop_worker(&urom, rig->worker));
}

TEST(service, NULL, 0)
TEST(worker, NULL, 1)		   /* requests to the service are repeated if they could not be sent */
TEST(domain, begin_with_worker, 1) /* so are the pieces of a directory */

/* ---- descriptors ---- */

static void allow_descriptors(bool any)
{
	struct rlimit limit;
	int lowest = any ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = any ? limit.rlim_max : (rlim_t)lowest;
	if (!any)
		close(lowest);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* Tested only with no descriptor at all: if descriptors run out during a connect, UCX does not release the half-made
 * connection, which then disturbs later ones. */
static void without_a_descriptor(void **state)
{
	struct rig rig = {0};
	uint32_t before = num_descriptors();

	(void)state;
	assert_int_equal(run_worker(&rig.worker), DOCA_SUCCESS);
	assert_true(urom_rig_stop_worker(&urom, rig.worker));
	rig.worker = NULL;
	allow_descriptors(false);
	doca_error_t service = make_service(&rig), worker = run_worker(&rig.worker);
	allow_descriptors(true);
	assert_int_equal(service, DOCA_ERROR_NOT_FOUND); /* the service file cannot be read */
	assert_int_equal(worker, DOCA_ERROR_OPERATING_SYSTEM);
	rig_end(&rig);
	assert_int_equal(num_descriptors(), before);
	rig = (struct rig){0};
	assert_int_equal(make_service(&rig), DOCA_SUCCESS);
	rig_end(&rig);
}

static void engine_progress(void)
{
	(void)doca_pe_progress(urom.pe);
}

static int open_all(void **state)
{
	progress = engine_progress;
	return install(state) == 0 && urom_rig_open(&urom, NULL) ? 0 : -1;
}

static int close_all(void **state)
{
	urom_rig_close(&urom);
	return uninstall(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(out_of_memory_for_service),
		cmocka_unit_test(out_of_memory_for_worker),
		cmocka_unit_test(out_of_memory_for_domain),
		cmocka_unit_test(without_a_descriptor),
	};

	return cmocka_run_group_tests_name("urom without memory", tests, open_all, close_all);
}
