/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs allocate what doca_dma_cap_task_memcpy_get_max_buf_size returns: the card's 2 MiB, or the value of the environment
 * variable. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <doca_dev.h>
#include <doca_dma.h>

#define CARD (UINT64_C(2) << 20)

/* A process reads the environment once, so each case is a child. */
static int child(const char *text, uint64_t expected)
{
	struct doca_devinfo **list;
	uint64_t size = 0;
	uint32_t num;

	if (text == NULL)
		unsetenv("SOFTFIELD_DMA_MAX_BUF_SIZE");
	else
		setenv("SOFTFIELD_DMA_MAX_BUF_SIZE", text, 1);
	if (doca_devinfo_create_list(&list, &num) != DOCA_SUCCESS || num == 0)
		return 1;
	for (uint32_t i = 0; i < num; i++) {
		if (doca_dma_cap_task_memcpy_get_max_buf_size(list[i], &size) != DOCA_SUCCESS || size != expected)
			return 2;
	}
	return doca_devinfo_destroy_list(list) == DOCA_SUCCESS ? 0 : 3;
}

static void expect(const char *text, uint64_t expected)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(child(text, expected));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void the_default_is_that_of_the_card(void **state)
{
	(void)state;
	expect(NULL, CARD);
	expect("", CARD);
}

static void the_environment_sets_it(void **state)
{
	(void)state;
	expect("1", 1);
	expect("65536", 65536);
	expect("2147483648", UINT64_C(2) << 30);
}

static void invalid_values_of_the_environment_are_ignored(void **state)
{
	static const char *const wrong[] = {"0", "-1", "2147483649", "99999999999999999999999", "2M", "many", " 5"};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		expect(wrong[i], CARD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_default_is_that_of_the_card),
		cmocka_unit_test(the_environment_sets_it),
		cmocka_unit_test(invalid_values_of_the_environment_are_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
