/* SPDX-License-Identifier: BSD-3-Clause */
/* The macros of doca_bitfield.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include <doca_bitfield.h>

static void masks_of_a_byte(void **state)
{
	uint8_t byte = 0xaa;

	assert_int_equal(DOCA_U8_GENMASK(7, 4), 0xf0);
	assert_int_equal(DOCA_U8_GENMASK(0, 0), 0x01);
	assert_int_equal(DOCA_U8_GENMASK(7, 0), 0xff);
	DOCA_U8P_GENMASK(5, 2, &byte);
	assert_int_equal(byte, 0x3c);
}

static void fields_of_a_byte(void **state)
{
	uint8_t byte = 0x01;

	assert_int_equal(DOCA_U8_SET(0xf0, 1 + 2), 0x30);
	assert_int_equal(DOCA_U8_SET(0x30, 7), 0x30); /* cut to the field */
	DOCA_U8P_SET(0xf0, 5, &byte);
	assert_int_equal(byte, 0x51);
	assert_int_equal(DOCA_U8_GET(0xf0, byte), 5);
	assert_int_equal(DOCA_U8_GET(0x0f, byte), 1);
}

static void bytes_lie_in_network_order(void **state)
{
	uint8_t bytes[9] = {0};

	DOCA_BE16P_GENMASK(11, 4, bytes + 1); /* not aligned */
	assert_memory_equal(bytes + 1, "\x0f\xf0", 2);
	DOCA_BE32P_GENMASK(31, 20, bytes + 5);
	assert_memory_equal(bytes + 5, "\xff\xf0\x00\x00", 4);
	assert_int_equal(DOCA_BE16_GENMASK(11, 4), htons(0x0ff0));
	assert_int_equal(DOCA_BE32_GENMASK(31, 0), 0xffffffff);
}

/* Initialisers of static objects: that they compile is half of the test. */
static const uint16_t constant16 = DOCA_HTOBE16(0x0102), mask_constant16 = DOCA_BE16_GENMASK(11, 4);
static const uint32_t constant32 = DOCA_BETOH32(0x01020304), field_constant32 = DOCA_BE32_SET(DOCA_BE32_GENMASK(15, 8), 3);
static const uint64_t constant64 = DOCA_HTOBE64(UINT64_C(0x0102030405060708));

static void constants_in_network_order(void **state)
{
	assert_memory_equal(&constant16, "\x01\x02", 2);
	assert_memory_equal(&mask_constant16, "\x0f\xf0", 2);
	assert_memory_equal(&field_constant32, "\x00\x00\x03\x00", 4);
	assert_memory_equal(&constant64, "\x01\x02\x03\x04\x05\x06\x07\x08", 8);
	assert_int_equal(constant32, ntohl(0x01020304));
	assert_true(DOCA_BETOH64(constant64) == UINT64_C(0x0102030405060708));
	assert_int_equal(DOCA_BETOH16(constant16), 0x0102);
}

static void an_empty_mask_has_no_shift(void **state)
{
	volatile uint32_t empty = 0;

	assert_int_equal(DOCA_SHIFT(0), 0);
	assert_int_equal(DOCA_SHIFT(empty), 0);
	assert_int_equal(DOCA_SHIFT(UINT64_C(1) << 63), 63);
	assert_int_equal(DOCA_SHIFT(0x30), 4);
	assert_int_equal(DOCA_BE32_GET(empty, 0xffffffff), 0);
}

static void fields_in_network_order(void **state)
{
	const uint16_t mask16 = DOCA_BE16_GENMASK(11, 4);
	const uint32_t mask32 = DOCA_BE32_GENMASK(15, 8);
	uint8_t bytes[7] = {0, 0x10, 0x03, 0, 0, 0, 0x40};
	uint16_t word16;
	uint32_t word32;

	DOCA_BE16P_SET(mask16, 0xab, bytes + 1);
	assert_memory_equal(bytes + 1, "\x1a\xb3", 2);
	DOCA_BE32P_SET(mask32, 0xcd, bytes + 3);
	assert_memory_equal(bytes + 3, "\x00\x00\xcd\x40", 4);
	memcpy(&word16, bytes + 1, sizeof(word16));
	memcpy(&word32, bytes + 3, sizeof(word32));
	assert_int_equal(DOCA_BE16_GET(mask16, word16), 0xab);
	assert_int_equal(DOCA_BE32_GET(mask32, word32), 0xcd);
	assert_int_equal(DOCA_BE16_SET(mask16, 0xab), htons(0x0ab0));
	assert_int_equal(DOCA_BE32_SET(mask32, 0xcd), htonl(0xcd00));
	assert_int_equal(DOCA_BE32_SET(mask32, 0x1ff), htonl(0xff00));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(masks_of_a_byte),
		cmocka_unit_test(fields_of_a_byte),
		cmocka_unit_test(bytes_lie_in_network_order),
		cmocka_unit_test(fields_in_network_order),
		cmocka_unit_test(constants_in_network_order),
		cmocka_unit_test(an_empty_mask_has_no_shift),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
