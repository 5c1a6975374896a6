/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random calls on two RDMA instances of DOCA 2.5 in one process, most of them in a wrong state. Each result must be one that the
 * state permits, and every accepted task must end. Usage: rdma_random_test [SEED]; the seed is printed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "legacy25/rig.h"

#define LIVES 200
#define STEPS 400
#define DETAILS_MAX 4096

static uint64_t seed;

static uint32_t below(uint32_t bound)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % bound;
}

struct player {
	struct rig rig;
	struct doca_buf *data, *room;
	uint8_t details[DETAILS_MAX]; /* the last export, possibly of an earlier run */
	size_t size;
	bool connected; /* in this run */
	uint32_t num_submitted;
};

static void player_start(struct player *player)
{
	bool idle = rig_state(&player->rig) == DOCA_CTX_STATE_IDLE;
	doca_error_t result = doca_ctx_start(player->rig.ctx);

	CHECK(result == (idle ? DOCA_ERROR_IN_PROGRESS : DOCA_ERROR_BAD_STATE));
	if (idle)
		player->connected = false;
	player->rig.num_states = 0;
}

static bool is_started(const struct player *player)
{
	enum doca_ctx_states state = rig_state(&player->rig);

	return state == DOCA_CTX_STATE_STARTING || state == DOCA_CTX_STATE_RUNNING;
}

static void player_export(struct player *player)
{
	const void *details;
	size_t size;
	doca_error_t result = doca_rdma_export(player->rig.rdma, &details, &size);

	CHECK(result == (is_started(player) ? DOCA_SUCCESS : DOCA_ERROR_BAD_STATE));
	if (result != DOCA_SUCCESS)
		return;
	CHECK(size <= DETAILS_MAX);
	memcpy(player->details, details, size);
	player->size = size;
}

static void player_connect(struct player *player, struct player *peer)
{
	bool may = is_started(player) && !player->connected;
	struct player *whose = below(8) == 0 ? player : peer;
	uint8_t details[DETAILS_MAX];
	doca_error_t result;

	if (whose->size == 0)
		return;
	memcpy(details, whose->details, whose->size);
	if (below(8) == 0)
		details[below((uint32_t)whose->size)] ^= (uint8_t)(1 + below(255));
	result = doca_rdma_connect(player->rig.rdma, details, whose->size);
	if (!may)
		CHECK(result == DOCA_ERROR_BAD_STATE);
	else
		CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_INVALID_VALUE || result == DOCA_ERROR_CONNECTION_ABORTED);
	if (result == DOCA_SUCCESS)
		player->connected = true;
}

static void player_submit(struct player *player)
{
	bool may = rig_state(&player->rig) == DOCA_CTX_STATE_RUNNING;
	struct doca_rdma_task_send *task;
	union doca_data data = {.u64 = 0};
	doca_error_t result = doca_rdma_task_send_allocate_init(player->rig.rdma, player->data, data, &task);

	CHECK(may ? result == DOCA_SUCCESS || result == DOCA_ERROR_NO_MEMORY : result == DOCA_ERROR_BAD_STATE);
	if (result != DOCA_SUCCESS)
		return;
	if (below(4) != 0 && doca_task_submit(doca_rdma_task_send_as_task(task)) == DOCA_SUCCESS)
		player->num_submitted++;
	else
		doca_task_free(doca_rdma_task_send_as_task(task));
}

static void player_receive(struct player *player)
{
	bool may = rig_state(&player->rig) == DOCA_CTX_STATE_RUNNING;
	struct doca_rdma_task_receive *task;
	union doca_data data = {.u64 = 0};
	doca_error_t result = doca_rdma_task_receive_allocate_init(player->rig.rdma, player->room, data, &task);

	CHECK(may ? result == DOCA_SUCCESS || result == DOCA_ERROR_NO_MEMORY : result == DOCA_ERROR_BAD_STATE);
	if (result != DOCA_SUCCESS)
		return;
	CHECK_OK(doca_buf_reset_data_len(player->room));
	if (doca_task_submit(doca_rdma_task_receive_as_task(task)) == DOCA_SUCCESS)
		player->num_submitted++;
	else
		doca_task_free(doca_rdma_task_receive_as_task(task));
}

static void player_stop(struct player *player)
{
	doca_error_t result = doca_ctx_stop(player->rig.ctx);
	enum doca_ctx_states state = rig_state(&player->rig);

	CHECK(result == DOCA_SUCCESS ? state == DOCA_CTX_STATE_IDLE
				     : result == DOCA_ERROR_IN_PROGRESS && state == DOCA_CTX_STATE_STOPPING);
}

static void step(struct player *player, struct player *peer)
{
	switch (below(12)) {
	case 0:
		player_start(player);
		break;
	case 1:
		player_export(player);
		break;
	case 2:
	case 3:
		player_connect(player, peer);
		break;
	case 4:
	case 5:
		player_submit(player);
		break;
	case 6:
		player_receive(player);
		break;
	case 7:
		if (below(6) == 0)
			player_stop(player);
		break;
	default:
		player->rig.num_states = 0;
		(void)doca_pe_progress(player->rig.pe);
		break;
	}
}

static void player_open(struct player *player, uint32_t device)
{
	memset(player, 0, sizeof(*player));
	rig_prepare(&player->rig, device);
	if (below(2) == 0)
		CHECK_OK(doca_rdma_set_rnr_retry_count(player->rig.rdma, (uint8_t)below(2)));
	player->data = rig_data(&player->rig, 0, 8);
	player->room = rig_room(&player->rig, 4096, 64);
}

static void player_close(struct player *player)
{
	player->rig.num_states = 0;
	rig_end(&player->rig);
	CHECK(player->rig.num_good + player->rig.num_failed == player->num_submitted);
}

static void random_lives(void **state)
{
	static struct player a, b;

	(void)state;
	for (int life = 0; life < LIVES; life++) {
		player_open(&a, 0);
		player_open(&b, below(2));
		for (int i = 0; i < STEPS; i++) {
			if (below(2) == 0)
				step(&a, &b);
			else
				step(&b, &a);
		}
		player_close(&a);
		player_close(&b);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(random_lives)};

	seed = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
	printf("seed %llu\n", (unsigned long long)seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
