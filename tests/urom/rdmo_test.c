/* SPDX-License-Identifier: BSD-3-Clause */
/* The rdmo plugin: a target's worker executes initiators' requests in the target's memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <doca_buf.h>

#include "support/stop.h"
#include "support/urom_rig.h"
#include "ucx_side.h"
#include "urom_rdmo.h"

#define RDMO "worker_rdmo"
#define CLIENT 77
#define DATA_BYTES (4u << 20)
#define REQUEST_MAX (1u << 20)
#define AM_REQUEST 1 /* the id of the initiators' messages */
#define HEAD_BYTES 64

struct region {
	uint8_t *memory;
	size_t len;
	ucp_mem_h memh;
	uint64_t number;
};

struct initiator {
	struct ucx_side ucx;
	struct urom_rdmo_initiator *rdmo;
	struct urom_rdmo_queue *queue;
	uint64_t number;
};

static struct urom_rig rig;
static struct doca_urom_worker *worker;
static struct ucx_side target;
static uint8_t worker_address[4096];
static struct region words, data;
static uint64_t *word; /* the first word of words: a pointer into data */
static struct initiator initiators[2];
static bool target_sleeps; /* its program no longer calls UCX */

/* ---- waiting ---- */

static void progress(void)
{
	urom_rig_progress(rig.pe);
	if (!target_sleeps)
		(void)ucp_worker_progress(target.worker);
	for (int i = 0; i < 2; i++) {
		if (initiators[i].rdmo != NULL)
			(void)ucp_worker_progress(initiators[i].ucx.worker);
	}
}

static bool await(const volatile int *flag)
{
	uint64_t until = sf_now_ns() + UROM_RIG_WAIT_NS;

	while (!*flag && sf_now_ns() < until)
		progress();
	return *flag;
}

/* ---- commands ---- */

struct end {
	volatile int done;
	doca_error_t result;
	uint64_t number;
};

static void finished(doca_error_t result, union doca_data cookie, uint64_t number)
{
	struct end *end = (struct end *)cookie.ptr;

	end->result = result;
	end->number = number;
	end->done = 1;
}

static void initialized(doca_error_t result, union doca_data cookie, const void *addr, uint64_t addr_len)
{
	if (addr != NULL && addr_len <= sizeof(worker_address))
		memcpy(worker_address, addr, addr_len);
	finished(result, cookie, 0);
}

#define RUN(end, call) (assert_int_equal(call, DOCA_SUCCESS), assert_true(await(&(end)->done)), (end)->result)

static doca_error_t init_client(uint64_t id)
{
	struct end end = {0};
	union doca_data cookie = {.ptr = &end};

	return RUN(&end, urom_rdmo_task_client_init(worker, cookie, id, target.address, target.address_len, initialized));
}

static doca_error_t create_queue(struct initiator *initiator)
{
	struct end end = {0};
	union doca_data cookie = {.ptr = &end};
	doca_error_t result =
		RUN(&end, urom_rdmo_task_rq_create(worker, cookie, initiator->ucx.address, initiator->ucx.address_len, finished));

	initiator->number = end.number;
	return result;
}

static doca_error_t destroy_queue(uint64_t number)
{
	struct end end = {0};
	union doca_data cookie = {.ptr = &end};

	return RUN(&end, urom_rdmo_task_rq_destroy(worker, cookie, number, finished));
}

static doca_error_t register_region(struct region *region, uint64_t len)
{
	struct end end = {0};
	union doca_data cookie = {.ptr = &end};
	void *rkey;
	size_t rkey_len;

	assert_int_equal(ucp_rkey_pack(target.context, region->memh, &rkey, &rkey_len), UCS_OK);
	doca_error_t result =
		RUN(&end, urom_rdmo_task_mr_register(worker, cookie, (uintptr_t)region->memory, len, rkey, rkey_len, finished));
	ucp_rkey_buffer_release(rkey);
	region->number = end.number;
	return result;
}

static doca_error_t deregister_region(uint64_t number)
{
	struct end end = {0};
	union doca_data cookie = {.ptr = &end};

	return RUN(&end, urom_rdmo_task_mr_deregister(worker, cookie, number, finished));
}

/* ---- the rig ---- */

/* The memory outlives its registration: operations that a leaving client had begun may still complete while UCX is closed. */
static bool make_region(struct region *region, size_t len)
{
	region->memory = (uint8_t *)aligned_alloc(4096, len);
	region->len = len;
	if (region->memory == NULL)
		return false;
	memset(region->memory, 0, len);
	const ucp_mem_map_params_t params = {
		.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
		.address = region->memory,
		.length = len,
	};
	return ucp_mem_map(target.context, &params, &region->memh) == UCS_OK;
}

static bool open_initiator(struct initiator *initiator)
{
	return ucx_side_open(&initiator->ucx, UCP_FEATURE_AM) == DOCA_SUCCESS &&
	       urom_rdmo_initiator_create(initiator->ucx.worker, &initiator->rdmo) == DOCA_SUCCESS &&
	       create_queue(initiator) == DOCA_SUCCESS &&
	       urom_rdmo_queue_open(initiator->rdmo, worker_address, CLIENT, initiator->number, &initiator->queue) ==
		       DOCA_SUCCESS;
}

static void close_initiator(struct initiator *initiator)
{
	if (initiator->rdmo == NULL)
		return;
	urom_rdmo_queue_close(initiator->queue);
	urom_rdmo_initiator_destroy(initiator->rdmo);
	ucx_side_close(&initiator->ucx);
	memset(initiator, 0, sizeof(*initiator));
}

static bool init_plugin(void)
{
	const struct doca_urom_service_plugin_info *plugins;
	size_t num;

	if (doca_urom_service_get_plugins_list(rig.service, &plugins, &num) != DOCA_SUCCESS)
		return false;
	for (size_t i = 0; i < num; i++) {
		if (strcmp(plugins[i].plugin_name, RDMO) == 0)
			return urom_rdmo_init(plugins[i].id, plugins[i].version + 1) == DOCA_ERROR_UNSUPPORTED_VERSION &&
			       urom_rdmo_init(plugins[i].id, PUBLISHED_VERSION) == DOCA_ERROR_UNSUPPORTED_VERSION &&
			       urom_rdmo_init(plugins[i].id, plugins[i].version) == DOCA_SUCCESS;
	}
	return false;
}

static int open_worker(void **state)
{
	(void)state;
	memset(initiators, 0, sizeof(initiators));
	target_sleeps = false;
	if (!urom_rig_open(&rig, NULL) || !init_plugin())
		return -1;
	worker = urom_rig_worker(&rig, DOCA_UROM_WORKER_ID_ANY, RDMO);
	if (worker == NULL || !urom_rig_start_worker(&rig, worker))
		return -1;
	if (ucx_side_open(&target, UCP_FEATURE_RMA | UCP_FEATURE_AMO64 | UCP_FEATURE_AM) != DOCA_SUCCESS)
		return -1;
	return make_region(&words, 4096) && make_region(&data, DATA_BYTES) ? 0 : -1;
}

static int open_rig(void **state)
{
	if (open_worker(state) != 0 || init_client(CLIENT) != DOCA_SUCCESS ||
	    register_region(&words, words.len) != DOCA_SUCCESS || register_region(&data, data.len) != DOCA_SUCCESS)
		return -1;
	word = (uint64_t *)(void *)words.memory;
	*word = (uintptr_t)data.memory;
	return open_initiator(&initiators[0]) && open_initiator(&initiators[1]) ? 0 : -1;
}

static int close_rig(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++)
		close_initiator(&initiators[i]);
	if (worker != NULL)
		(void)urom_rig_stop_worker(&rig, worker);
	worker = NULL;
	(void)ucp_mem_unmap(target.context, words.memh);
	(void)ucp_mem_unmap(target.context, data.memh);
	ucx_side_close(&target);
	free(words.memory);
	free(data.memory);
	urom_rig_close(&rig);
	return 0;
}

/* ---- operations ---- */

static void flushed(doca_error_t result, union doca_data cookie)
{
	finished(result, cookie, 0);
}

static doca_error_t flush(struct initiator *initiator)
{
	struct end end = {0};

	return RUN(&end, urom_rdmo_flush(initiator->queue, (union doca_data){.ptr = &end}, flushed));
}

static void append(struct initiator *initiator, uint32_t flags, const void *bytes, size_t len)
{
	assert_int_equal(urom_rdmo_append(initiator->queue, flags, (uintptr_t)word, words.number, data.number, bytes, len),
			 DOCA_SUCCESS);
}

/* ---- tests ---- */

static void appends_follow_each_other(void **state)
{
	(void)state;
	append(&initiators[0], 0, "one ", 4);
	append(&initiators[0], 0, "two ", 4);
	append(&initiators[0], UROM_RDMO_FENCE, "three", 5);
	assert_int_equal(flush(&initiators[0]), DOCA_SUCCESS);
	assert_memory_equal(data.memory, "one two three\0\0", 15);
	assert_int_equal(*word, (uintptr_t)data.memory + 13);
	*word = (uintptr_t)data.memory + 100; /* between flushes the target may write it */
	append(&initiators[0], 0, "four", 4);
	assert_int_equal(flush(&initiators[0]), DOCA_SUCCESS);
	assert_memory_equal(data.memory + 100, "four", 4);
	assert_int_equal(*word, (uintptr_t)data.memory + 104);
}

static void two_initiators_share_a_pointer(void **state)
{
	enum { EACH = 200, BYTES = 40 };
	uint8_t piece[BYTES];
	uint32_t seen[2] = {0};
	(void)state;
	for (uint32_t i = 0; i < EACH; i++) {
		for (uint8_t who = 0; who < 2; who++) {
			memset(piece, who + 1, sizeof(piece));
			memcpy(piece, &i, sizeof(i));
			append(&initiators[who], 0, piece, sizeof(piece));
		}
		progress();
	}
	assert_int_equal(flush(&initiators[0]), DOCA_SUCCESS);
	assert_int_equal(flush(&initiators[1]), DOCA_SUCCESS);
	assert_int_equal(*word, (uintptr_t)data.memory + 2 * EACH * BYTES);
	for (uint32_t i = 0; i < 2 * EACH; i++) {
		const uint8_t *at = data.memory + i * BYTES;
		uint8_t who = at[BYTES - 1];

		assert_in_range(who, 1, 2);
		assert_memory_equal(at, &seen[who - 1], sizeof(uint32_t));
		seen[who - 1]++;
	}
}

static void the_largest_append(void **state)
{
	uint8_t *bytes = (uint8_t *)malloc(REQUEST_MAX + 1);

	(void)state;
	for (size_t i = 0; i <= REQUEST_MAX; i++)
		bytes[i] = (uint8_t)(i * 31 >> 3);
	assert_int_equal(
		urom_rdmo_append(initiators[0].queue, 0, (uintptr_t)word, words.number, data.number, bytes, REQUEST_MAX + 1),
		DOCA_ERROR_TOO_BIG);
	append(&initiators[0], 0, bytes, REQUEST_MAX);
	append(&initiators[0], 0, "end", 3);
	assert_int_equal(flush(&initiators[0]), DOCA_SUCCESS);
	assert_memory_equal(data.memory, bytes, REQUEST_MAX);
	assert_memory_equal(data.memory + REQUEST_MAX, "end", 3);
	free(bytes);
}

static void pieces_go_to_their_places(void **state)
{
	const struct urom_rdmo_piece pieces[] = {
		{(uintptr_t)data.memory + 10, data.number, "ten", 3},
		{(uintptr_t)words.memory + 64, words.number, "another region", 14},
		{(uintptr_t)data.memory + DATA_BYTES - 4, data.number, "last", 4},
	};

	(void)state;
	assert_int_equal(urom_rdmo_scatter(initiators[0].queue, 0, pieces, 3), DOCA_SUCCESS);
	assert_int_equal(flush(&initiators[0]), DOCA_SUCCESS);
	assert_memory_equal(data.memory + 10, "ten", 3);
	assert_memory_equal(words.memory + 64, "another region", 14);
	assert_memory_equal(data.memory + DATA_BYTES - 4, "last", 4);
}

static void places_outside_a_region(void **state)
{
	const struct urom_rdmo_piece before = {(uintptr_t)data.memory - 1, data.number, "x", 1};
	const struct urom_rdmo_piece behind = {(uintptr_t)data.memory + DATA_BYTES - 3, data.number, "four", 4};

	(void)state;
	assert_int_equal(urom_rdmo_scatter(initiators[0].queue, 0, &before, 1), DOCA_SUCCESS);
	assert_int_equal(flush(&initiators[0]), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(urom_rdmo_scatter(initiators[0].queue, 0, &behind, 1), DOCA_SUCCESS);
	assert_int_equal(flush(&initiators[0]), DOCA_ERROR_INVALID_VALUE);
	*word = (uintptr_t)data.memory + DATA_BYTES - 3;
	append(&initiators[0], 0, "four", 4);
	assert_int_equal(flush(&initiators[0]), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(*word, (uintptr_t)data.memory + DATA_BYTES - 3);
	assert_int_equal(flush(&initiators[0]), DOCA_SUCCESS); /* an error is reported once */
	append(&initiators[0], 0, "333", 3);
	assert_int_equal(flush(&initiators[0]), DOCA_SUCCESS);
	assert_memory_equal(data.memory + DATA_BYTES - 3, "333", 3);
	assert_int_equal(urom_rdmo_append(initiators[0].queue, 0, (uintptr_t)words.memory + 4095 - 7 + 8, words.number,
					  data.number, "x", 1),
			 DOCA_SUCCESS);
	assert_int_equal(flush(&initiators[0]), DOCA_ERROR_INVALID_VALUE);
}

static void regions_that_are_not_there(void **state)
{
	(void)state;
	assert_int_equal(urom_rdmo_append(initiators[0].queue, 0, (uintptr_t)word, 99, data.number, "x", 1), DOCA_SUCCESS);
	assert_int_equal(flush(&initiators[0]), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(urom_rdmo_append(initiators[0].queue, 0, (uintptr_t)word, words.number, 99, "x", 1), DOCA_SUCCESS);
	assert_int_equal(flush(&initiators[0]), DOCA_ERROR_NOT_FOUND);
	append(&initiators[0], 0, "here", 4);
	assert_int_equal(flush(&initiators[0]), DOCA_SUCCESS);
	assert_int_equal(deregister_region(data.number), DOCA_SUCCESS);
	assert_int_equal(deregister_region(data.number), DOCA_ERROR_NOT_FOUND);
	append(&initiators[0], 0, "gone", 4);
	assert_int_equal(flush(&initiators[0]), DOCA_ERROR_NOT_FOUND);
	assert_memory_equal(data.memory, "here\0\0\0\0", 8);
	assert_int_equal(*word, (uintptr_t)data.memory + 4);
}

static void a_pointer_that_somebody_moves(void **state)
{
	uint64_t until = sf_now_ns() + UROM_RIG_WAIT_NS;

	(void)state;
	append(&initiators[0], 0, "early", 5);
	while (*(volatile uint8_t *)&data.memory[4] != 'y' && sf_now_ns() < until)
		progress();
	*word += 1000;
	assert_int_equal(flush(&initiators[0]), DOCA_ERROR_IN_USE);
	assert_int_equal(*word, (uintptr_t)data.memory + 1000);
	append(&initiators[0], 0, "late", 4);
	assert_int_equal(flush(&initiators[0]), DOCA_SUCCESS);
	assert_memory_equal(data.memory + 1000, "late", 4);
}

static void a_queue_that_is_destroyed(void **state)
{
	(void)state;
	assert_int_equal(destroy_queue(initiators[0].number), DOCA_SUCCESS);
	assert_int_equal(destroy_queue(initiators[0].number), DOCA_ERROR_NOT_FOUND);
	append(&initiators[0], 0, "gone", 4);
	assert_int_equal(flush(&initiators[0]), DOCA_ERROR_NOT_FOUND);
	append(&initiators[1], 0, "here", 4);
	assert_int_equal(flush(&initiators[1]), DOCA_SUCCESS);
	assert_memory_equal(data.memory, "here", 4);
}

static void a_queue_of_an_unknown_number(void **state)
{
	struct urom_rdmo_queue *own = initiators[0].queue, *guess;

	(void)state;
	assert_int_equal(urom_rdmo_queue_open(initiators[0].rdmo, worker_address, CLIENT, initiators[0].number + 1, &guess),
			 DOCA_SUCCESS);
	initiators[0].queue = guess;
	append(&initiators[0], 0, "guess", 5);
	assert_int_equal(flush(&initiators[0]), DOCA_ERROR_NOT_FOUND);
	urom_rdmo_queue_close(guess);
	initiators[0].queue = own;
	append(&initiators[0], 0, "know", 4);
	assert_int_equal(flush(&initiators[0]), DOCA_SUCCESS);
	assert_memory_equal(data.memory, "know\0", 5);
}

static void commands_out_of_their_order(void **state)
{
	struct end end = {0};
	union doca_data cookie = {.ptr = &end};

	(void)state;
	assert_int_equal(destroy_queue(1), DOCA_ERROR_BAD_STATE);
	assert_int_equal(register_region(&data, data.len), DOCA_ERROR_BAD_STATE);
	assert_int_equal(init_client(CLIENT), DOCA_SUCCESS);
	assert_int_equal(init_client(CLIENT), DOCA_ERROR_ALREADY_EXIST);
	assert_int_equal(register_region(&data, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(urom_rdmo_task_rq_create(worker, cookie, NULL, 8, finished), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(RUN(&end, urom_rdmo_task_rq_create(worker, cookie, NULL, 0, finished)), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(urom_rdmo_task_client_init(worker, cookie, 1, target.address, target.address_len, NULL),
			 DOCA_ERROR_INVALID_VALUE);
}

static void sent(void *request, ucs_status_t status, void *user_data)
{
	(void)status;
	*(int *)user_data = 1;
	ucp_request_free(request);
}

/* Sends random heads and data, some with the right client and queue. */
static void send_noise(struct initiator *initiator, unsigned *seed, uint64_t *number)
{
	uint64_t head[HEAD_BYTES / 8 + 2], bytes[32];
	int done = 0;
	struct ucx_endpoint *endpoint;

	assert_int_equal(ucx_side_endpoint_get(&initiator->ucx, worker_address, &endpoint), DOCA_SUCCESS);
	for (size_t i = 0; i < sizeof(head) / 8; i++)
		head[i] = (uint64_t)rand_r(seed) * (rand_r(seed) % 3 == 0 ? UINT64_C(0x100000001) : 1) %
			  (rand_r(seed) % 2 == 0 ? 6 : UINT64_MAX);
	for (size_t i = 0; i < 32; i++)
		bytes[i] = (uint64_t)rand_r(seed) % 40;
	if (rand_r(seed) % 4 != 0) {
		head[0] = CLIENT;
		head[1] = initiator->number;
		head[2] = 1 + (uint64_t)rand_r(seed) % 4;
		if (rand_r(seed) % 4 != 0)
			head[3] = *number + 1; /* the number that the queue expects */
		if (rand_r(seed) % 2 == 0)
			head[4] = (uintptr_t)words.memory + 8 * ((uint64_t)rand_r(seed) % 600);
		*number = head[3];
	}
	const ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS,
		.flags = rand_r(seed) % 8 == 0 ? UCP_AM_SEND_FLAG_RNDV : UCP_AM_SEND_FLAG_REPLY,
		.cb.send = sent,
		.user_data = &done,
	};
	size_t head_len = rand_r(seed) % 8 == 0 ? (size_t)rand_r(seed) % sizeof(head) : HEAD_BYTES;
	ucs_status_ptr_t request =
		ucp_am_send_nbx(endpoint->ep, AM_REQUEST, head, head_len, bytes, (size_t)rand_r(seed) % sizeof(bytes), &param);
	assert_false(UCS_PTR_IS_ERR(request));
	if (request != NULL)
		assert_true(await(&done));
}

static void noise(void **state)
{
	unsigned seed = 20261121;
	uint64_t number = 0;

	(void)state;
	for (int i = 0; i < 500; i++)
		send_noise(&initiators[1], &seed, &number);
	append(&initiators[0], 0, "calm", 4);
	assert_int_equal(flush(&initiators[0]), DOCA_SUCCESS);
	assert_memory_equal(data.memory, "calm", 4);
}

static void an_initiator_that_leaves(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++)
		append(&initiators[1], 0, "leaves", 6);
	close_initiator(&initiators[1]);
	uint64_t before = *word;
	append(&initiators[0], 0, "stays", 5);
	assert_int_equal(flush(&initiators[0]), DOCA_SUCCESS);
	assert_memory_equal((uint8_t *)*word - 5, "stays", 5);
	assert_in_range(*word - before, 5, 5 + 20 * 6);
}

/* ---- clients of one worker ---- */

static struct doca_urom_worker *second_client(void)
{
	uint64_t id;

	assert_int_equal(doca_urom_worker_get_id(worker, &id), DOCA_SUCCESS);
	struct doca_urom_worker *second = urom_rig_worker(&rig, id, RDMO);
	assert_true(urom_rig_start_worker(&rig, second));
	return second;
}

/* The worker learns that the first client is gone when its connection ends. */
static doca_error_t init_when_free(uint64_t id)
{
	uint64_t until = sf_now_ns() + UROM_RIG_WAIT_NS;
	doca_error_t result;

	do
		result = init_client(id);
	while (result == DOCA_ERROR_ALREADY_EXIST && sf_now_ns() < until);
	return result;
}

static void a_client_that_leaves_gives_its_id_back(void **state)
{
	struct doca_urom_worker *first = worker, *second = second_client();

	(void)state;
	append(&initiators[0], 0, "first", 5);
	assert_int_equal(flush(&initiators[0]), DOCA_SUCCESS);
	worker = second;
	assert_int_equal(init_client(CLIENT), DOCA_ERROR_ALREADY_EXIST);
	assert_int_equal(create_queue(&initiators[0]),
			 DOCA_ERROR_BAD_STATE); /* the second client may not use the first one's id */
	assert_true(urom_rig_stop_worker(&rig, first));
	assert_int_equal(init_when_free(CLIENT), DOCA_SUCCESS);
	assert_int_equal(flush(&initiators[0]), DOCA_ERROR_NOT_FOUND); /* its queues no longer exist */
	assert_int_equal(register_region(&words, words.len), DOCA_SUCCESS);
	assert_int_equal(register_region(&data, data.len), DOCA_SUCCESS);
	close_initiator(&initiators[0]);
	assert_true(open_initiator(&initiators[0]));
	append(&initiators[0], 0, "second", 6);
	assert_int_equal(flush(&initiators[0]), DOCA_SUCCESS);
	assert_memory_equal(data.memory, "firstsecond", 11);
}

static void a_client_that_leaves_while_its_memory_is_written(void **state)
{
	struct doca_urom_worker *first = worker, *second = second_client();
	struct end end = {0};

	(void)state;
	append(&initiators[0], 0, "x", 1);
	assert_int_equal(flush(&initiators[0]), DOCA_SUCCESS);
	target_sleeps = true; /* operations from here on do not complete */
	for (int i = 0; i < 50; i++)
		append(&initiators[0], 0, "lost", 4);
	assert_int_equal(urom_rdmo_flush(initiators[0].queue, (union doca_data){.ptr = &end}, flushed), DOCA_SUCCESS);
	assert_true(urom_rig_stop_worker(&rig, first));
	worker = second;
	assert_true(await(&end.done));
	assert_int_equal(end.result, DOCA_ERROR_NOT_FOUND);
	assert_int_equal(init_when_free(CLIENT), DOCA_SUCCESS);
	target_sleeps = false;
	assert_int_equal(register_region(&words, words.len), DOCA_SUCCESS);
}

/* ---- a region that is removed while it is written ---- */

#define PIECES 8
#define PIECE_BYTES 100000u

struct removal {
	struct end end;
	bool landed; /* whether all bytes had arrived when the removal was answered */
};

static bool has_landed(void)
{
	for (size_t i = 0; i < PIECES * PIECE_BYTES; i++) {
		if (data.memory[i] != 'x')
			return false;
	}
	return true;
}

static void removed(doca_error_t result, union doca_data cookie, uint64_t number)
{
	struct removal *removal = (struct removal *)cookie.ptr;

	removal->landed = has_landed();
	finished(result, (union doca_data){.ptr = &removal->end}, number);
}

static void scatter_pieces(void)
{
	struct urom_rdmo_piece pieces[PIECES];
	uint8_t *bytes = (uint8_t *)malloc(PIECE_BYTES);

	memset(bytes, 'x', PIECE_BYTES);
	for (size_t i = 0; i < PIECES; i++)
		pieces[i] = (struct urom_rdmo_piece){(uintptr_t)data.memory + i * PIECE_BYTES, data.number, bytes, PIECE_BYTES};
	assert_int_equal(urom_rdmo_scatter(initiators[0].queue, 0, pieces, PIECES), DOCA_SUCCESS);
	free(bytes);
}

static void a_region_is_removed_when_all_has_landed(void **state)
{
	uint64_t until = sf_now_ns() + UROM_RIG_WAIT_NS;
	struct removal removal = {.end = {0}};

	(void)state;
	scatter_pieces();
	while (*(volatile uint8_t *)data.memory != 'x' && sf_now_ns() < until)
		progress();
	target_sleeps = true; /* all pieces were begun together with the first */
	assert_int_equal(urom_rdmo_task_mr_deregister(worker, (union doca_data){.ptr = &removal}, data.number, removed),
			 DOCA_SUCCESS);
	assert_int_equal(destroy_queue(1), DOCA_ERROR_NOT_FOUND); /* a later command, which does not wait */
	assert_int_equal(deregister_region(data.number), DOCA_ERROR_NOT_FOUND);
	target_sleeps = false;
	assert_true(await(&removal.end.done));
	assert_int_equal(removal.end.result, DOCA_SUCCESS);
	assert_int_equal(removal.end.number, data.number);
	assert_true(removal.landed);
	assert_int_equal(flush(&initiators[0]), DOCA_SUCCESS);
	assert_int_equal(register_region(&data, data.len), DOCA_SUCCESS);
	append(&initiators[0], 0, "again", 5);
	assert_int_equal(flush(&initiators[0]), DOCA_SUCCESS);
	assert_memory_equal(data.memory, "again", 5);
}

static doca_error_t asked_again;

static void flushed_again(doca_error_t result, union doca_data cookie)
{
	const struct urom_rdmo_piece piece = {(uintptr_t)data.memory, data.number, "y", 1};

	asked_again = urom_rdmo_scatter(initiators[1].queue, 0, &piece, 1);
	if (asked_again == DOCA_ERROR_CONNECTION_ABORTED)
		asked_again = urom_rdmo_flush(initiators[1].queue, cookie, flushed);
	finished(result, cookie, 0);
}

static void a_queue_that_closes_takes_no_more(void **state)
{
	struct end end = {0};

	(void)state;
	assert_int_equal(flush(&initiators[1]), DOCA_SUCCESS);
	asked_again = DOCA_SUCCESS;
	assert_int_equal(urom_rdmo_flush(initiators[1].queue, (union doca_data){.ptr = &end}, flushed_again), DOCA_SUCCESS);
	close_initiator(&initiators[1]);
	assert_true(end.done);
	assert_int_equal(end.result, DOCA_ERROR_CONNECTION_ABORTED);
	assert_int_equal(asked_again, DOCA_ERROR_CONNECTION_ABORTED);
}

static void a_worker_that_ends(void **state)
{
	struct end end = {0};
	uint64_t until = sf_now_ns() + UROM_RIG_WAIT_NS;
	doca_error_t result = DOCA_SUCCESS;

	(void)state;
	append(&initiators[0], 0, "before", 6);
	assert_int_equal(flush(&initiators[0]), DOCA_SUCCESS);
	assert_true(urom_rig_stop_worker(&rig, worker));
	worker = NULL;
	/* Until its process is gone, it may answer that the queue is gone. */
	while ((result == DOCA_SUCCESS || result == DOCA_ERROR_NOT_FOUND) && sf_now_ns() < until) {
		end.done = 0;
		result = urom_rdmo_flush(initiators[0].queue, (union doca_data){.ptr = &end}, flushed);
		if (result != DOCA_SUCCESS)
			break;
		assert_true(await(&end.done));
		result = end.result;
	}
	assert_int_equal(result, DOCA_ERROR_CONNECTION_ABORTED);
}

/* It never answers the initiator's first message. */
static void a_worker_that_dies_before_it_answers(void **state)
{
	uint8_t bytes[1000] = {0};
	struct end end = {0};
	pid_t process = urom_rig_process_of(&rig, worker);

	(void)state;
	process_stop(process);
	append(&initiators[0], 0, bytes, sizeof(bytes));
	assert_int_equal(urom_rdmo_flush(initiators[0].queue, (union doca_data){.ptr = &end}, flushed), DOCA_SUCCESS);
	kill(process, SIGKILL);
	assert_true(await(&end.done));
	assert_int_equal(end.result, DOCA_ERROR_CONNECTION_ABORTED);
	assert_int_equal(urom_rdmo_flush(initiators[0].queue, (union doca_data){.ptr = &end}, flushed),
			 DOCA_ERROR_CONNECTION_ABORTED);
}

#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, open_rig, close_rig)

/* The argument: which tests, as a pattern. */
int main(int argc, char **argv)
{
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	const struct CMUnitTest tests[] = {
		WITH_RIG(appends_follow_each_other),
		WITH_RIG(two_initiators_share_a_pointer),
		WITH_RIG(the_largest_append),
		WITH_RIG(pieces_go_to_their_places),
		WITH_RIG(places_outside_a_region),
		WITH_RIG(regions_that_are_not_there),
		WITH_RIG(a_pointer_that_somebody_moves),
		WITH_RIG(a_queue_that_is_destroyed),
		WITH_RIG(a_queue_of_an_unknown_number),
		cmocka_unit_test_setup_teardown(commands_out_of_their_order, open_worker, close_rig),
		WITH_RIG(noise),
		WITH_RIG(an_initiator_that_leaves),
		WITH_RIG(a_client_that_leaves_gives_its_id_back),
		WITH_RIG(a_client_that_leaves_while_its_memory_is_written),
		WITH_RIG(a_region_is_removed_when_all_has_landed),
		WITH_RIG(a_queue_that_closes_takes_no_more),
		WITH_RIG(a_worker_that_ends),
		WITH_RIG(a_worker_that_dies_before_it_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
