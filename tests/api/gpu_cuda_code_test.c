/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with kernels compiled by nvcc gets one warning: the software GPU does not run what it launches with <<<>>>. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <doca_gpunetio.h>
#include <doca_log.h>

#ifdef WITH_KERNELS /* what nvcc leaves in a program with kernels, made without nvcc */
__attribute__((section(".nvFatBinSegment"), used)) static const uint32_t kernels[6] = {0x466243b1, 1};
#define WARNINGS 1
#else
#define WARNINGS 0
#endif

static char text[1024];
static int num_warnings;

static void written(char *line)
{
	num_warnings += strstr(line, "softfield_gpu_launch") != NULL;
}

static void cuda_kernels_are_warned_of_once(void **state)
{
	struct doca_log_backend *backend;
	struct doca_gpu *gpu;

	(void)state;
	assert_int_equal(doca_log_backend_create_with_buf_sdk(text, sizeof(text), written, &backend), DOCA_SUCCESS);
	assert_int_equal(doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_WARNING), DOCA_SUCCESS);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(doca_gpu_create("b5:00.0", &gpu), DOCA_SUCCESS);
		assert_int_equal(num_warnings, WARNINGS);
		assert_int_equal(doca_gpu_destroy(gpu), DOCA_SUCCESS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cuda_kernels_are_warned_of_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
