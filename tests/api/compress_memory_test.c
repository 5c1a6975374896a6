/* SPDX-License-Identifier: BSD-3-Clause */
/* Compression when memory runs out, at each allocation of create and start in turn, zlib's included; and tasks allocate
 * nothing, not even in zlib. Runs with and without engine threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/compress_rig.h"
#include "support/failing_build.h"

#define LEN ((size_t)1 << 20)

static int setup(void **state)
{
	static struct rig rig;

	rig_init(&rig, test_dev_open(0), 4 * LEN);
	*state = &rig;
	return 0;
}

static int teardown(void **state)
{
	rig_fini(*state);
	return 0;
}

struct made {
	struct rig *rig;
	struct doca_compress *compress;
};

/* Another context on the rig's device and progress engine. */
static doca_error_t build(void *arg)
{
	struct made *made = arg;
	struct rig other = {0};
	doca_error_t result = doca_compress_create(made->rig->dev, &made->compress);

	if (result != DOCA_SUCCESS)
		return result;
	other.compress = made->compress;
	rig_configure(&other, 2);
	ok(doca_pe_connect_ctx(made->rig->pe, doca_compress_as_ctx(made->compress)));
	return doca_ctx_start(doca_compress_as_ctx(made->compress));
}

static void destroy(void *arg)
{
	struct made *made = arg;

	if (made->compress == NULL)
		return;
	ok(doca_ctx_stop(doca_compress_as_ctx(made->compress)));
	ok(doca_compress_destroy(made->compress));
	made->compress = NULL;
}

static void without_memory(void **state)
{
	struct made made = {.rig = *state};

	failing_build(build, destroy, &made, 4); /* the context, its coders, deflate's four allocations, inflate's two */
}

static void tasks_allocate_nothing(void **state)
{
	static const size_t lengths[] = {1, 100, 10000, 100000, LEN};
	struct rig *rig = *state;
	uint8_t *packed = rig->memory + LEN, *out = rig->memory + 3 * LEN;
	long before = failing_alloc_count();

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		rig_fill(rig->memory, lengths[i], (uint32_t)i);

		struct doca_buf *src = rig_source(rig, rig->mmap, rig->memory, lengths[i]);
		struct doca_buf *dst = rig_room(rig, rig->mmap, packed, 2 * LEN);
		struct doca_buf *end = rig_room(rig, rig->mmap, out, LEN);

		ok(rig_run(rig, RIG_DEFLATE, src, dst));
		ok(rig_run(rig, RIG_INFLATE, dst, end));
		assert_memory_equal(out, rig->memory, lengths[i]);
		rig_put(src);
		rig_put(dst);
		rig_put(end);
	}
	assert_int_equal(failing_alloc_count(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(without_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(tasks_allocate_nothing, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
