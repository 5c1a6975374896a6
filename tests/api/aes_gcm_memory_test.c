/* SPDX-License-Identifier: BSD-3-Clause */
/* AES-GCM when memory runs out, at each allocation of create, start and key in turn; and tasks allocate nothing, not even
 * in libcrypto. Runs with and without engine threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <doca_aes_gcm.h>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "support/failing_build.h"
#include "support/failing_crypto.h"
#include "support/test_dev.h"

#define LEN (1 << 20)
#define TAG 16
#define ok(call) assert_int_equal(call, DOCA_SUCCESS)

static const uint8_t zeros[32];

struct fixture {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	struct doca_buf *plain, *sealed, *opened;
	struct doca_aes_gcm *aes_gcm; /* of build */
	uint8_t *memory;
	uint32_t num_ended;
	doca_error_t status;
};

static void ended(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct fixture *f = ctx_user_data.ptr;

	(void)task_user_data;
	f->status = doca_task_get_status(task);
	f->num_ended++;
}

static struct doca_buf *buf(struct fixture *f, size_t at, size_t len)
{
	struct doca_buf *made;

	ok(doca_buf_inventory_buf_get_by_addr(f->inventory, f->mmap, f->memory + at, len, &made));
	return made;
}

static int setup(void **state)
{
	static struct fixture f;

	memset(&f, 0, sizeof(f));
	f.dev = test_dev_open(0);
	f.memory = calloc(3, LEN + TAG);
	ok(doca_pe_create(&f.pe));
	ok(doca_mmap_create(&f.mmap));
	ok(doca_mmap_add_dev(f.mmap, f.dev));
	ok(doca_mmap_set_memrange(f.mmap, f.memory, 3 * (LEN + TAG)));
	ok(doca_mmap_start(f.mmap));
	ok(doca_buf_inventory_create(3, &f.inventory));
	ok(doca_buf_inventory_start(f.inventory));
	f.plain = buf(&f, 0, LEN);
	f.sealed = buf(&f, LEN, LEN + TAG);
	f.opened = buf(&f, 2 * LEN + TAG, LEN);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	ok(doca_buf_dec_refcount(f->plain, NULL));
	ok(doca_buf_dec_refcount(f->sealed, NULL));
	ok(doca_buf_dec_refcount(f->opened, NULL));
	ok(doca_buf_inventory_destroy(f->inventory));
	ok(doca_mmap_destroy(f->mmap));
	ok(doca_pe_destroy(f->pe));
	ok(doca_dev_close(f->dev));
	free(f->memory);
	return 0;
}

static doca_error_t build(void *arg)
{
	struct fixture *f = arg;
	doca_error_t result = doca_aes_gcm_create(f->dev, &f->aes_gcm);

	if (result != DOCA_SUCCESS)
		return result;
	ok(doca_aes_gcm_task_encrypt_set_conf(f->aes_gcm, (doca_aes_gcm_task_encrypt_completion_cb_t)ended,
					      (doca_aes_gcm_task_encrypt_completion_cb_t)ended, 1));
	ok(doca_aes_gcm_task_decrypt_set_conf(f->aes_gcm, (doca_aes_gcm_task_decrypt_completion_cb_t)ended,
					      (doca_aes_gcm_task_decrypt_completion_cb_t)ended, 1));
	ok(doca_pe_connect_ctx(f->pe, doca_aes_gcm_as_ctx(f->aes_gcm)));
	ok(doca_ctx_set_user_data(doca_aes_gcm_as_ctx(f->aes_gcm), (union doca_data){.ptr = f}));
	return doca_ctx_start(doca_aes_gcm_as_ctx(f->aes_gcm));
}

static void destroy(void *arg)
{
	struct fixture *f = arg;

	if (f->aes_gcm == NULL)
		return;
	ok(doca_ctx_stop(doca_aes_gcm_as_ctx(f->aes_gcm)));
	ok(doca_aes_gcm_destroy(f->aes_gcm));
	f->aes_gcm = NULL;
}

static void context_without_memory(void **state)
{
	failing_build(build, destroy, *state, 2);
}

/* libcrypto does not report why it rejects a key, and works without some of the allocations that it tries. */
static void key_without_memory(void **state)
{
	struct fixture *f = *state;
	struct doca_aes_gcm_key *key;
	int n, num_refused = 0;

	ok(build(f));
	ok(doca_aes_gcm_key_create(f->aes_gcm, zeros, DOCA_AES_GCM_KEY_256,
				   &key)); /* libcrypto allocates some memory once and keeps it */
	ok(doca_aes_gcm_key_destroy(key));
	ERR_clear_error(); /* the same for its error queue */
	for (n = 0; n < FAILING_BUILD_GIVE_UP; n++) {
		long live = failing_alloc_live();

		key = NULL;
		failing_alloc_after(n);
		doca_error_t result = doca_aes_gcm_key_create(f->aes_gcm, zeros, DOCA_AES_GCM_KEY_256, &key);
		bool failed = failing_alloc_failed();

		failing_alloc_after(-1);
		if (result != DOCA_SUCCESS) {
			assert_true(failed);
			assert_int_equal(result, n == 0 ? DOCA_ERROR_NO_MEMORY : DOCA_ERROR_NOT_SUPPORTED);
			assert_null(key);
			assert_int_equal(ERR_peek_error(), 0);
			num_refused++;
		} else {
			ok(doca_aes_gcm_key_destroy(key));
		}
		assert_int_equal(failing_alloc_live(), live);
		if (!failed)
			break;
	}
	assert_in_range(n, 2, FAILING_BUILD_GIVE_UP - 1);
	assert_true(num_refused >= 2);
	destroy(f);
}

static void run(struct fixture *f, struct doca_task *task, struct doca_buf *dst)
{
	uint32_t num = f->num_ended;

	ok(doca_buf_reset_data_len(dst));
	ok(doca_task_submit(task));
	while (f->num_ended == num)
		(void)doca_pe_progress(f->pe);
}

static void tasks_allocate_nothing(void **state)
{
	static const size_t lengths[] = {0, 64, 4096, 100 * 1024, LEN};
	struct fixture *f = *state;
	union doca_data data = {.u64 = 0};
	struct doca_aes_gcm_key *keys[2];
	struct doca_aes_gcm_task_encrypt *encrypt;
	struct doca_aes_gcm_task_decrypt *decrypt;

	ok(build(f));
	ok(doca_aes_gcm_key_create(f->aes_gcm, zeros, DOCA_AES_GCM_KEY_128, &keys[0]));
	ok(doca_aes_gcm_key_create(f->aes_gcm, zeros, DOCA_AES_GCM_KEY_256, &keys[1]));

	long before = failing_alloc_count();

	ok(doca_aes_gcm_task_encrypt_alloc_init(f->aes_gcm, f->plain, f->sealed, NULL, NULL, 12, TAG, 0, data, &encrypt));
	ok(doca_aes_gcm_task_decrypt_alloc_init(f->aes_gcm, f->sealed, f->opened, NULL, NULL, 12, TAG, 0, data, &decrypt));
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		for (uint32_t iv_len = 8; iv_len <= 12; iv_len += 4) {
			ok(doca_buf_set_data(f->plain, f->memory, lengths[i]));
			doca_aes_gcm_task_encrypt_set_key(encrypt, keys[i % 2]);
			doca_aes_gcm_task_encrypt_set_iv(encrypt, zeros, iv_len);
			doca_aes_gcm_task_decrypt_set_key(decrypt, keys[i % 2]);
			doca_aes_gcm_task_decrypt_set_iv(decrypt, zeros, iv_len);
			run(f, doca_aes_gcm_task_encrypt_as_task(encrypt), f->sealed);
			ok(f->status);
			run(f, doca_aes_gcm_task_decrypt_as_task(decrypt), f->opened);
			ok(f->status);
		}
	}
	assert_int_equal(failing_alloc_count(), before);
	doca_task_free(doca_aes_gcm_task_encrypt_as_task(encrypt));
	doca_task_free(doca_aes_gcm_task_decrypt_as_task(decrypt));
	ok(doca_aes_gcm_key_destroy(keys[0]));
	ok(doca_aes_gcm_key_destroy(keys[1]));
	destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(context_without_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(key_without_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(tasks_allocate_nothing, setup, teardown),
	};

	if (!failing_crypto_set())
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
