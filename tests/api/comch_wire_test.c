/* SPDX-License-Identifier: BSD-3-Clause */
/* Comch's messages on the wire: which are valid, and which are rejected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "comch/control.h"

static void handshake_is_read_back(void **state)
{
	const struct comch_handshake handshake = {4080, 16};
	struct comch_handshake back;
	uint8_t wire[COMCH_HANDSHAKE_SIZE];

	(void)state;
	assert_int_equal(comch_handshake_pack(&handshake, wire), sizeof(wire));
	assert_int_equal(comch_handshake_parse(wire, sizeof(wire), &back), DOCA_SUCCESS);
	assert_int_equal(back.max_msg_size, 4080);
	assert_int_equal(back.recv_queue_size, 16);
}

static void handshake_of_another_version_or_size_is_rejected(void **state)
{
	const struct comch_handshake none = {0, 16}, large = {COMCH_MSG_SIZE_MAX + 1, 16}, queue = {16, COMCH_RECV_QUEUE_MAX + 1};
	const struct comch_handshake handshake = {100, 1};
	struct comch_handshake back;
	uint8_t wire[COMCH_HANDSHAKE_SIZE];

	(void)state;
	comch_handshake_pack(&none, wire);
	assert_int_equal(comch_handshake_parse(wire, sizeof(wire), &back), DOCA_ERROR_INVALID_VALUE);
	comch_handshake_pack(&large, wire);
	assert_int_equal(comch_handshake_parse(wire, sizeof(wire), &back), DOCA_ERROR_INVALID_VALUE);
	comch_handshake_pack(&queue, wire);
	assert_int_equal(comch_handshake_parse(wire, sizeof(wire), &back), DOCA_ERROR_INVALID_VALUE);
	comch_handshake_pack(&handshake, wire);
	for (size_t len = 0; len < sizeof(wire); len++)
		assert_int_equal(comch_handshake_parse(wire, len, &back), DOCA_ERROR_INVALID_VALUE);
	wire[4]++;
	assert_int_equal(comch_handshake_parse(wire, sizeof(wire), &back), DOCA_ERROR_UNSUPPORTED_VERSION);
	wire[0] ^= 1;
	assert_int_equal(comch_handshake_parse(wire, sizeof(wire), &back), DOCA_ERROR_INVALID_VALUE);
}

static void rejection_has_its_reason_or_aborted(void **state)
{
	uint8_t wire[COMCH_REFUSAL_SIZE];

	(void)state;
	comch_refusal_pack(DOCA_ERROR_FULL, wire);
	assert_int_equal(comch_refusal_parse(wire, sizeof(wire)), DOCA_ERROR_FULL);
	assert_int_equal(comch_refusal_parse(wire, 3), DOCA_ERROR_CONNECTION_ABORTED);
	comch_refusal_pack(DOCA_SUCCESS, wire); /* no reason */
	assert_int_equal(comch_refusal_parse(wire, sizeof(wire)), DOCA_ERROR_CONNECTION_ABORTED);
}

static void control_header_checks_type_id_and_payload(void **state)
{
	const struct comch_control message = {COMCH_CONTROL_MESSAGE, 0, 0}, message_with_id = {COMCH_CONTROL_MESSAGE, 3, 0};
	const struct comch_control ack = {COMCH_CONTROL_ACK, 1, DOCA_ERROR_FULL}, ack_nobody = {COMCH_CONTROL_ACK, 0, 0};
	const struct comch_control unknown = {(enum comch_control_type)9, 1, 0};
	struct comch_control back;
	uint8_t wire[COMCH_CONTROL_HEADER_SIZE];

	(void)state;
	comch_control_pack(&message, wire);
	assert_int_equal(comch_control_parse(wire, sizeof(wire), 100, &back), DOCA_SUCCESS);
	assert_int_equal(comch_control_parse(wire, sizeof(wire) - 1, 100, &back), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(comch_control_parse(wire, sizeof(wire), COMCH_MSG_SIZE_MAX + 1, &back), DOCA_ERROR_INVALID_VALUE);
	comch_control_pack(&message_with_id, wire);
	assert_int_equal(comch_control_parse(wire, sizeof(wire), 0, &back), DOCA_ERROR_INVALID_VALUE);
	comch_control_pack(&ack, wire);
	assert_int_equal(comch_control_parse(wire, sizeof(wire), 0, &back), DOCA_SUCCESS);
	assert_int_equal(back.value, DOCA_ERROR_FULL);
	assert_int_equal(comch_control_parse(wire, sizeof(wire), 1, &back), DOCA_ERROR_INVALID_VALUE);
	comch_control_pack(&ack_nobody, wire);
	assert_int_equal(comch_control_parse(wire, sizeof(wire), 0, &back), DOCA_ERROR_INVALID_VALUE);
	comch_control_pack(&unknown, wire);
	assert_int_equal(comch_control_parse(wire, sizeof(wire), 0, &back), DOCA_ERROR_INVALID_VALUE);
}

static void advertisement_is_read_back_and_truncations_are_not(void **state)
{
	struct comch_advertisement ad = {.path = COMCH_PATH_GPU_QUEUE, .name = "consumer", .descriptor_len = 100}, back;
	uint8_t wire[COMCH_ADVERTISE_MAX];
	size_t len;

	(void)state;
	memset(ad.descriptor, 7, 100);
	len = comch_advertisement_pack(&ad, wire);
	assert_int_equal(comch_advertisement_parse(wire, len, &back), DOCA_SUCCESS);
	assert_string_equal(back.name, "consumer");
	assert_int_equal(back.path, COMCH_PATH_GPU_QUEUE);
	assert_int_equal(back.descriptor_len, 100);
	assert_memory_equal(back.descriptor, ad.descriptor, 100);
	for (size_t cut = 0; cut < len; cut++)
		assert_int_equal(comch_advertisement_parse(wire, cut, &back), DOCA_ERROR_INVALID_VALUE);
	wire[9] = 0; /* a name with a zero inside */
	assert_int_equal(comch_advertisement_parse(wire, len, &back), DOCA_ERROR_INVALID_VALUE);
}

static void largest_advertisement_fits(void **state)
{
	static struct comch_advertisement ad, back;
	uint8_t wire[COMCH_ADVERTISE_MAX];

	(void)state;
	memset(ad.name, 'n', SF_NAME_MAX - 1);
	ad.descriptor_len = SF_DESCRIPTOR_MAX;
	assert_int_equal(comch_advertisement_parse(wire, comch_advertisement_pack(&ad, wire), &back), DOCA_SUCCESS);
	assert_string_equal(ad.name, back.name);
}

static void attach_is_read_back(void **state)
{
	const uint8_t descriptor[] = {1, 2, 3};
	const struct comch_attach attach = {COMCH_PATH_GPU_QUEUE, 5, descriptor, sizeof(descriptor)};
	struct comch_attach back;
	uint8_t wire[SF_PRIVATE_MAX];
	size_t len = comch_attach_pack(&attach, wire);

	(void)state;
	assert_int_equal(comch_attach_parse(wire, len, &back), DOCA_SUCCESS);
	assert_int_equal(back.producer_id, 5);
	assert_int_equal(back.descriptor_len, 3);
	assert_memory_equal(back.descriptor, descriptor, 3);
	assert_int_equal(comch_attach_parse(wire, 15, &back), DOCA_ERROR_INVALID_VALUE);
	wire[12] = 0; /* producer 0 */
	assert_int_equal(comch_attach_parse(wire, len, &back), DOCA_ERROR_INVALID_VALUE);
}

static void data_header_length_must_match(void **state)
{
	struct comch_data_header header = {.mark = COMCH_DATA_MARK, .imm_len = 4, .producer_id = 1};

	(void)state;
	assert_true(comch_data_header_valid(&header, 12));
	assert_false(comch_data_header_valid(&header, 11));
	assert_false(comch_data_header_valid(&header, 13));
	assert_false(comch_data_header_valid(&header, 0));
	header.imm_len = COMCH_IMM_MAX + 1;
	assert_false(comch_data_header_valid(&header, COMCH_DATA_HEADER_SIZE + COMCH_IMM_MAX + 1));
	header.imm_len = 0;
	header.mark = 0;
	assert_false(comch_data_header_valid(&header, 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(handshake_is_read_back),
		cmocka_unit_test(handshake_of_another_version_or_size_is_rejected),
		cmocka_unit_test(rejection_has_its_reason_or_aborted),
		cmocka_unit_test(control_header_checks_type_id_and_payload),
		cmocka_unit_test(advertisement_is_read_back_and_truncations_are_not),
		cmocka_unit_test(largest_advertisement_fits),
		cmocka_unit_test(attach_is_read_back),
		cmocka_unit_test(data_header_length_must_match),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
