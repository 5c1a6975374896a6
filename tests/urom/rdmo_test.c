/* SPDX-License-Identifier: BSD-3-Clause */
/* The rdmo plugin: a target's worker executes initiators' requests in the target's memory. */
#include "rdmo_rig.h"

#define REQUEST_MAX (1u << 20)
#define AM_REQUEST 1 /* the id of the initiators' messages */
#define HEAD_BYTES 64

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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
