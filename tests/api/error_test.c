/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"

static void names_equal_the_enumerators(void **state)
{
	assert_string_equal(doca_error_get_name(DOCA_SUCCESS), "DOCA_SUCCESS");
	assert_string_equal(doca_error_get_name(DOCA_ERROR_UNKNOWN), "DOCA_ERROR_UNKNOWN");
	assert_string_equal(doca_error_get_name(DOCA_ERROR_AGAIN), "DOCA_ERROR_AGAIN");
	assert_string_equal(doca_error_get_name(DOCA_ERROR_CONNECTION_INPROGRESS), "DOCA_ERROR_CONNECTION_INPROGRESS");
	assert_string_equal(doca_error_get_name(DOCA_ERROR_DEVICE_FATAL_ERROR), "DOCA_ERROR_DEVICE_FATAL_ERROR");
}

static void every_code_has_a_name_and_a_sentence_of_its_own(void **state)
{
	for (int i = DOCA_SUCCESS; i <= DOCA_ERROR_DEVICE_FATAL_ERROR; i++) {
		assert_true(strlen(doca_error_get_descr(i)) > 5 || i == DOCA_SUCCESS);
		for (int j = DOCA_SUCCESS; j < i; j++) {
			assert_string_not_equal(doca_error_get_name(i), doca_error_get_name(j));
			assert_string_not_equal(doca_error_get_descr(i), doca_error_get_descr(j));
		}
	}
}

static void an_unknown_code_is_safe(void **state)
{
	static const int codes[] = {DOCA_ERROR_DEVICE_FATAL_ERROR + 1, -1, 1000000};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		doca_error_t code;

		/* No cast: the value is outside the enumeration. */
		memcpy(&code, &codes[i], sizeof(code));
		assert_non_null(doca_error_get_name(code));
		assert_string_not_equal(doca_error_get_name(code), "DOCA_SUCCESS");
		assert_non_null(doca_error_get_descr(code));
	}
}

static void propagate_keeps_the_first_error(void **state)
{
	doca_error_t result = DOCA_SUCCESS;

	DOCA_ERROR_PROPAGATE(result, DOCA_SUCCESS);
	assert_false(DOCA_IS_ERROR(result));
	DOCA_ERROR_PROPAGATE(result, DOCA_ERROR_EMPTY);
	DOCA_ERROR_PROPAGATE(result, DOCA_ERROR_FULL);
	assert_int_equal(result, DOCA_ERROR_EMPTY);
	assert_true(DOCA_IS_ERROR(result));
}

static void errno_values_become_codes(void **state)
{
	assert_int_equal(sf_error_from_errno(0), DOCA_SUCCESS);
	assert_int_equal(sf_error_from_errno(ENOMEM), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(sf_error_from_errno(EACCES), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(sf_error_from_errno(EADDRINUSE), DOCA_ERROR_IN_USE);
	assert_int_equal(sf_error_from_errno(EAGAIN), DOCA_ERROR_AGAIN);
	assert_int_equal(sf_error_from_errno(ENOENT), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(sf_error_from_errno(EPIPE), DOCA_ERROR_CONNECTION_RESET);
	assert_int_equal(sf_error_from_errno(ETIMEDOUT), DOCA_ERROR_TIME_OUT);
	assert_int_equal(sf_error_from_errno(ECHILD), DOCA_ERROR_OPERATING_SYSTEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_equal_the_enumerators), cmocka_unit_test(every_code_has_a_name_and_a_sentence_of_its_own),
		cmocka_unit_test(an_unknown_code_is_safe),     cmocka_unit_test(propagate_keeps_the_first_error),
		cmocka_unit_test(errno_values_become_codes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
