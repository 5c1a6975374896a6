/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a side: it is opened and connected, runs round after round, and ends. */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/little.h"
#include "rdma_order.h"

#define SILENCE_S 30 /* without any completion: then the test reports a hang */
#define DETAILS_MAX 1024
#define WINDOWS (LANES_MAX * (WINDOW + 8))
#define MEMORY (WINDOWS + (LANES_MAX * DEPTH_MAX + RECEIVES_MAX) * AREA)

/* ---- opening ---- */

struct introduction {
	size_t details_len[LANES_MAX], event_len[LANES_MAX], descriptor_len;
	uint8_t details[LANES_MAX][DETAILS_MAX], event[LANES_MAX][EVENT_DETAILS_MAX], descriptor[DETAILS_MAX];
};

static void lane_open(struct side *side, uint32_t index)
{
	struct lane *lane = &side->lanes[index];

	memset(lane, 0, sizeof(*lane));
	lane->side = side;
	lane->index = index;
	lane->depth = 2 + (uint32_t)random_below(&side->random, DEPTH_MAX - 1);
	for (uint32_t i = 0; i < DEPTH_MAX; i++) {
		lane->ops[i].lane = lane;
		lane->ops[i].area = side->rig.memory + WINDOWS + (size_t)(index * DEPTH_MAX + i) * AREA;
		lane->ops[i].expected = malloc(MESSAGE_MAX);
	}
	CHECK_OK(doca_sync_event_create(&lane->own));
	CHECK_OK(doca_sync_event_add_publisher_location_remote_net(lane->own));
	CHECK_OK(doca_sync_event_add_subscriber_location_cpu(lane->own, side->rig.dev));
	if (index % 2 == 1)
		CHECK_OK(doca_sync_event_set_addr(lane->own, &lane->own_word));
	CHECK_OK(doca_sync_event_start(lane->own));
}

static void introduce(struct side *side)
{
	static _Thread_local struct introduction mine;
	const void *bytes;
	const uint8_t *event;

	for (uint32_t i = 0; i < side->num_lanes; i++) {
		struct lane *lane = &side->lanes[i];

		CHECK_OK(doca_rdma_export(side->rig.rdma, &bytes, &mine.details_len[i], &lane->connection));
		CHECK(mine.details_len[i] <= DETAILS_MAX);
		memcpy(mine.details[i], bytes, mine.details_len[i]);
		CHECK_OK(doca_rdma_connection_set_user_data(lane->connection, (union doca_data){.ptr = lane}));
		CHECK_OK(doca_sync_event_export_to_remote_net(lane->own, &event, &mine.event_len[i]));
		CHECK(mine.event_len[i] <= EVENT_DETAILS_MAX);
		memcpy(mine.event[i], event, mine.event_len[i]);
	}
	CHECK_OK(doca_mmap_export_rdma(side->rig.mmap, side->rig.dev, &bytes, &mine.descriptor_len));
	CHECK(mine.descriptor_len <= DETAILS_MAX);
	memcpy(mine.descriptor, bytes, mine.descriptor_len);
	CHECK(send(side->socket, &mine, sizeof(mine), MSG_NOSIGNAL) == sizeof(mine));
}

void side_prepare(struct side *side, uint32_t index, int socket, uint64_t seed)
{
	uint64_t common = seed;

	memset(side, 0, sizeof(*side));
	rdma_rig_prepare(&side->rig, index, MEMORY, RIG_ALL, RIG_ALL);
	side->index = index;
	side->socket = socket;
	side->seed = seed;
	side->random = seed * 2 + index;
	side->num_lanes = 1 + (uint32_t)random_below(&common, LANES_MAX);
	CHECK_OK(doca_rdma_set_max_num_connections(side->rig.rdma, LANES_MAX));
	tasks_configure(side);
	rdma_rig_start(&side->rig);
	for (uint32_t i = 0; i < side->num_lanes; i++)
		lane_open(side, i);
	for (uint32_t i = 0; i < RECEIVES_MAX; i++) {
		side->receives[i].side = side;
		side->receives[i].area = side->rig.memory + WINDOWS + (size_t)(LANES_MAX * DEPTH_MAX + i) * AREA;
	}
	introduce(side);
}

void side_join(struct side *side)
{
	static _Thread_local struct introduction theirs;

	CHECK(recv(side->socket, &theirs, sizeof(theirs), MSG_WAITALL) == sizeof(theirs));
	rdma_rig_import(&side->rig, theirs.descriptor, theirs.descriptor_len);
	for (uint32_t i = 0; i < side->num_lanes; i++) {
		struct lane *lane = &side->lanes[i];

		CHECK_OK(doca_rdma_connect(side->rig.rdma, theirs.details[i], theirs.details_len[i], lane->connection));
		CHECK_OK(doca_sync_event_remote_net_create_from_export(side->rig.dev, theirs.event[i], theirs.event_len[i],
								       &lane->remote));
	}
}

/* ---- the end of a round ---- */

static void report_send(struct side *side)
{
	struct report mine = {.round = side->round};

	for (uint32_t i = 0; i < side->num_lanes; i++) {
		const struct lane *lane = &side->lanes[i];

		mine.sent[i] = lane->sent;
		mine.sums[i] = sf_checksum(SF_CHECKSUM_BEGIN, lane->model, sizeof(lane->model));
		mine.events[i] = lane->event_model;
	}
	CHECK(send(side->socket, &mine, sizeof(mine), MSG_NOSIGNAL) == sizeof(mine));
}

static bool all_came(const struct side *side)
{
	for (uint32_t i = 0; i < side->num_lanes; i++) {
		CHECK(side->lanes[i].received <= side->theirs.sent[i]);
		if (side->lanes[i].received < side->theirs.sent[i])
			return false;
	}
	return true;
}

static void check_own_memory(const struct side *side)
{
	uint64_t value;

	for (uint32_t i = 0; i < side->num_lanes; i++) {
		CHECK(sf_checksum(SF_CHECKSUM_BEGIN, side->rig.memory + (size_t)i * (WINDOW + 8), WINDOW + 8) ==
		      side->theirs.sums[i]);
		CHECK_OK(doca_sync_event_get(side->lanes[i].own, &value));
		CHECK(value == side->theirs.events[i]);
	}
}

/* The peer sends a report, then a byte that confirms ours. It begins the tasks of a new round only after receiving our byte. */
static void listen_to_peer(struct side *side)
{
	struct report report;
	ssize_t len = recv(side->socket, &report, sizeof(report), MSG_DONTWAIT);

	if (len < 0 && errno == EAGAIN)
		return;
	CHECK(len == sizeof(report) || len == 1); /* otherwise the peer has failed and logged the reason */
	if (len == 1) {
		CHECK(!side->agreed);
		side->agreed = true;
		return;
	}
	CHECK(!side->heard && report.round == side->round);
	side->theirs = report;
	side->heard = true;
}

static bool all_ended(const struct side *side)
{
	for (uint32_t i = 0; i < side->num_lanes; i++) {
		if (side->lanes[i].in_flight != 0)
			return false;
	}
	return true;
}

static bool round_advance(struct side *side)
{
	listen_to_peer(side);
	if (side->phase == PHASE_SUBMIT && side->left == 0)
		side->phase = PHASE_DRAIN;
	if (side->phase == PHASE_DRAIN && all_ended(side)) {
		report_send(side);
		side->phase = PHASE_REPORTED;
	}
	if (side->phase == PHASE_REPORTED && side->heard && all_came(side)) {
		check_own_memory(side);
		CHECK(send(side->socket, "", 1, MSG_NOSIGNAL) == 1);
		side->phase = PHASE_CHECKED;
	}
	return side->phase != PHASE_CHECKED || !side->agreed;
}

/* ---- what a side does next ---- */

static void submit_some(struct side *side)
{
	struct lane *lane = &side->lanes[random_below(&side->random, side->num_lanes)];
	uint64_t num = 1 + random_below(&side->random, DEPTH_MAX);

	for (; num != 0 && side->left != 0 && lane->in_flight + 2 <= lane->depth; num--) {
		tasks_submit(side, lane);
		side->left--;
	}
}

static void post_some(struct side *side)
{
	uint64_t num = 1 + random_below(&side->random, RECEIVES_MAX);

	for (uint32_t i = 0; i < RECEIVES_MAX && num != 0; i++) {
		if (side->receives[i].posted)
			continue;
		receive_post(&side->receives[i]);
		num--;
	}
}

/* Returns whether only the progress engine or the socket can advance the round. */
static bool has_to_wait(const struct side *side)
{
	if (side->phase < PHASE_REPORTED)
		return side->left == 0 && !all_ended(side);
	return side->phase == PHASE_CHECKED || !side->heard || !all_came(side);
}

/* Nothing is left to do and all receives are posted: waits until the progress engine or the peer's socket has something. */
static void sleep_some(struct side *side)
{
	doca_notification_handle_t handle;
	struct pollfd fds[2] = {{.events = POLLIN}, {.fd = side->socket, .events = POLLIN}};

	CHECK_OK(doca_pe_get_notification_handle(side->rig.pe, &handle));
	fds[0].fd = (int)handle;
	while (side->posted < RECEIVES_MAX)
		post_some(side);
	while (doca_pe_progress(side->rig.pe) != 0)
		;
	if (side->posted < RECEIVES_MAX)
		return;
	CHECK_OK(doca_pe_request_notification(side->rig.pe));
	if (has_to_wait(side))
		CHECK(poll(fds, 2, SILENCE_S * 1000) > 0);
	else
		CHECK(poll(fds, 2, 1) >= 0);
	CHECK_OK(doca_pe_clear_notification(side->rig.pe, handle));
}

static void report_and_give_up(const struct side *side)
{
	fprintf(stderr, "side %u hangs in round %llu, phase %d, %llu to submit, %u receives posted\n", side->index,
		(unsigned long long)side->round, (int)side->phase, (unsigned long long)side->left, side->posted);
	for (uint32_t i = 0; i < side->num_lanes; i++) {
		const struct lane *lane = &side->lanes[i];

		fprintf(stderr, "  lane %u: %llu submitted, %llu ended, %llu sent, %llu received (of %llu); next:", i,
			(unsigned long long)lane->submitted, (unsigned long long)lane->ended, (unsigned long long)lane->sent,
			(unsigned long long)lane->received, (unsigned long long)side->theirs.sent[i]);
		for (uint32_t j = 0; j < DEPTH_MAX; j++) {
			if (lane->ops[j].used && lane->ops[j].number == lane->ended)
				fprintf(stderr, " verb %d, %zu bytes", (int)lane->ops[j].verb, lane->ops[j].len);
		}
		fprintf(stderr, "\n");
	}
	CHECK(!"it goes on");
}

bool side_step(struct side *side)
{
	uint64_t choice = random_below(&side->random, 16);

	if (choice < 5)
		submit_some(side);
	else if (choice < 7)
		post_some(side);
	else if (choice == 7 && side->alone)
		sleep_some(side);
	else if (choice < 14)
		(void)doca_pe_progress(side->rig.pe);
	else
		while (doca_pe_progress(side->rig.pe) != 0)
			;
	if (sf_now_ns() > side->moved_ns + SILENCE_S * UINT64_C(1000000000))
		report_and_give_up(side);
	return round_advance(side);
}

void side_begin_round(struct side *side, uint64_t num_tasks)
{
	side->round++;
	side->phase = PHASE_SUBMIT;
	side->left = num_tasks;
	side->heard = side->agreed = false;
	side->moved_ns = sf_now_ns();
}

void side_end(struct side *side)
{
	side->ending = true;
	rdma_rig_stop(&side->rig);
	for (uint32_t i = 0; i < side->num_lanes; i++) {
		struct lane *lane = &side->lanes[i];

		CHECK_OK(doca_sync_event_remote_net_destroy(lane->remote));
		CHECK_OK(doca_sync_event_stop(lane->own));
		CHECK_OK(doca_sync_event_destroy(lane->own));
		for (uint32_t j = 0; j < DEPTH_MAX; j++)
			free(lane->ops[j].expected);
	}
	CHECK_OK(doca_mmap_destroy(side->rig.remote));
	side->rig.remote = NULL;
	rdma_rig_fini(&side->rig);
}
