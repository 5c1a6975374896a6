/* SPDX-License-Identifier: BSD-3-Clause */
/* Flags whose values are devices and representors of the default topology. */
#include "argp_fixture.h"

#include <string.h>

static int device_setup(void **state)
{
	if (setup(state) != 0)
		return -1;
	flag_add("a", "device", DOCA_ARGP_TYPE_DEVICE, MULTIPLE);
	flag_add("r", "rep", DOCA_ARGP_TYPE_DEVICE_REP, MULTIPLE);
	return 0;
}

static void again(void)
{
	assert_int_equal(teardown(NULL), 0);
	assert_int_equal(device_setup(NULL), 0);
}

static void devices_are_found_by_address_and_name(void **state)
{
	assert_int_equal(parse("-a pci/0000:03:00.1 -a d8:00.2 --device=mlx5_0 -a p1"), DOCA_SUCCESS);
	assert_string_equal(seen.text, "dev=0000:03:00.1(NULL);dev=0000:d8:00.2(NULL);dev=0000:03:00.0(NULL);"
				       "dev=0000:03:00.1(NULL);valid;");
}

static void what_follows_the_comma_is_left_to_the_program(void **state)
{
	assert_int_equal(parse("-a pci/0000:03:00.0,dv_flow_en=2,mode=1 -a 03:00.0,"), DOCA_SUCCESS);
	assert_string_equal(seen.text, "dev=0000:03:00.0(dv_flow_en=2,mode=1);dev=0000:03:00.0();valid;");
}

static void representors_are_found_by_interface_and_address(void **state)
{
	assert_int_equal(parse("-r pci/0000:03:00.0,pf0vf1 -r mlx5_0,d8:00.2,key=1 -r 03:00.1,pf1hpf"), DOCA_SUCCESS);
	assert_string_equal(seen.text, "rep=pf0vf1;dev=0000:03:00.0(NULL);rep=pf0vf0;dev=0000:03:00.0(key=1);"
				       "rep=pf1hpf;dev=0000:03:00.1(NULL);valid;");
}

static void a_file_names_devices_too(void **state)
{
	assert_int_equal(parse_file("{\"doca_program_flags\": {\"device\": [\"pci/0000:03:00.0\"], "
				    "\"rep\": [\"03:00.0,pf0hpf\"]}}",
				    ""),
			 DOCA_SUCCESS);
	assert_string_equal(seen.text, "dev=0000:03:00.0(NULL);rep=pf0hpf;dev=0000:03:00.0(NULL);valid;");
	again();
	assert_int_equal(parse_file("{\"doca_program_flags\": {\"device\": 3}}", ""), DOCA_ERROR_INVALID_VALUE);
}

static void malformed_texts_are_invalid(void **state)
{
	static const char *const wrong[] = {"-a ,x", "-a pci/", "-a pci/mlx5_0", "-r 03:00.0", "-r 03:00.0,", "-r ,pf0vf0"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(parse(wrong[i]), DOCA_ERROR_INVALID_VALUE);
		assert_non_null(strstr(message, "such as pci/0000:03:00.0"));
		assert_string_equal(seen.text, "");
		again();
	}
}

static void missing_devices_are_not_found(void **state)
{
	assert_int_equal(parse("-a pci/0000:0f:00.0"), DOCA_ERROR_NOT_FOUND);
	assert_non_null(strstr(message, "there is no device 0000:0f:00.0"));
	again();
	assert_int_equal(parse("-a mlx5_99"), DOCA_ERROR_NOT_FOUND);
	again();
	assert_int_equal(parse("-r 03:00.0,pf0vf7"), DOCA_ERROR_NOT_FOUND);
	assert_non_null(strstr(message, "device 03:00.0 has no representor pf0vf7"));
	again();
	assert_int_equal(parse("-r d8:00.0,pf0vf0"), DOCA_ERROR_NOT_SUPPORTED); /* a host's function */
	assert_string_equal(seen.text, "");
}

/* A rejected device was closed: one more close fails with INVALID_VALUE. */
static void a_rejected_device_is_closed(void **state)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	uint32_t num;

	assert_int_equal(doca_devinfo_create_list(&list, &num), DOCA_SUCCESS);
	assert_int_equal(doca_dev_open(list[0], &dev), DOCA_SUCCESS); /* 03:00.0 */
	seen.answer = DOCA_ERROR_FULL;
	assert_int_equal(parse("-r 03:00.0,pf0vf0"), DOCA_ERROR_FULL);
	assert_ptr_equal(seen.devs[0], dev);
	assert_int_equal(doca_dev_close(dev), DOCA_SUCCESS);
	assert_int_equal(doca_dev_open(list[0], &dev), DOCA_SUCCESS);
	assert_int_equal(doca_dev_close(dev), DOCA_SUCCESS);
	assert_int_equal(doca_devinfo_destroy_list(list), DOCA_SUCCESS);
}

static uint32_t num_opened;

static doca_error_t list_open(struct doca_devinfo *devinfo, void *usr_ctx, struct doca_dev **dev)
{
	assert_ptr_equal(usr_ctx, &num_opened);
	num_opened++;
	return doca_dev_open(devinfo, dev);
}

static doca_error_t do_not_open(struct doca_devinfo *devinfo, void *usr_ctx, struct doca_dev **dev)
{
	return DOCA_ERROR_AUTHENTICATION;
}

static void the_program_opens_each_device_once(void **state)
{
	num_opened = 0;
	seen.keeps = true;
	assert_int_equal(doca_argp_register_dev_open_callback(NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_register_dev_open_callback(list_open, &num_opened), DOCA_SUCCESS);
	assert_int_equal(parse("-a mlx5_0 -r 03:00.0,pf0vf0 -a 03:00.1 -r pci/0000:03:00.0,pf0hpf"), DOCA_SUCCESS);
	assert_int_equal(num_opened, 2);
	assert_int_equal(seen.num_devs, 4);
	assert_ptr_equal(seen.devs[0], seen.devs[1]);
	assert_ptr_equal(seen.devs[0], seen.devs[3]);
	assert_ptr_not_equal(seen.devs[0], seen.devs[2]);
	assert_int_equal(doca_dev_close(seen.devs[0]), DOCA_SUCCESS);
	assert_int_equal(doca_dev_close(seen.devs[2]), DOCA_SUCCESS);
}

static void the_programs_error_ends_the_start(void **state)
{
	assert_int_equal(doca_argp_register_dev_open_callback(do_not_open, NULL), DOCA_SUCCESS);
	assert_int_equal(parse("-a mlx5_0"), DOCA_ERROR_AUTHENTICATION);
	assert_string_equal(seen.text, "");
}

static void calls_without_a_parser_are_bad_state(void **state)
{
	assert_int_equal(doca_argp_register_dev_open_callback(list_open, NULL), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_disable_pedantic_config_parsing(), DOCA_ERROR_BAD_STATE);
}

#define DEVICE_CASE(name) cmocka_unit_test_setup_teardown(name, device_setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		DEVICE_CASE(devices_are_found_by_address_and_name),
		DEVICE_CASE(what_follows_the_comma_is_left_to_the_program),
		DEVICE_CASE(representors_are_found_by_interface_and_address),
		DEVICE_CASE(a_file_names_devices_too),
		DEVICE_CASE(malformed_texts_are_invalid),
		DEVICE_CASE(missing_devices_are_not_found),
		DEVICE_CASE(a_rejected_device_is_closed),
		DEVICE_CASE(the_program_opens_each_device_once),
		DEVICE_CASE(the_programs_error_ends_the_start),
		cmocka_unit_test(calls_without_a_parser_are_bad_state),
	};

	return cmocka_run_group_tests_name("%s", tests, NULL, NULL);
}
