/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bridge to rdma-core: its results for a software device, and for devices that have a protection domain. The latter use a
 * provider that consists of this file's functions. The bridge is compiled into the test, which supplies its own sf_dev_domain and
 * sf_mmap_region; protection domains are addresses that are never dereferenced.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <doca_rdma_bridge.h>

#include "buf_fixture.h"
#include "core/dev.h"
#include "fabric/bridge.h"
#include "mem/mmap.h"

#define KEY 0x1234
#define FIRST_DEVICE "dpu0/0000:03:00.0"

static struct ibv_pd pds[2]; /* one of the first device, one of no device */
static bool is_real;
static doca_error_t domain_result, region_result;

/* ---- a provider on rdma-core ---- */

static doca_error_t domain_pd(struct sf_domain *domain, struct ibv_pd **pd)
{
	if (!is_real)
		return DOCA_ERROR_NOT_SUPPORTED;
	*pd = &pds[0];
	return DOCA_SUCCESS;
}

static doca_error_t region_mkey(struct sf_region *region, uint32_t *mkey)
{
	if (!is_real)
		return DOCA_ERROR_NOT_SUPPORTED;
	*mkey = KEY;
	return DOCA_SUCCESS;
}

static doca_error_t pd_device(struct ibv_pd *pd, const char **device)
{
	if (!is_real)
		return DOCA_ERROR_NOT_SUPPORTED;
	if (pd != &pds[0])
		return DOCA_ERROR_NOT_FOUND;
	*device = FIRST_DEVICE;
	return DOCA_SUCCESS;
}

static const struct sf_fabric_bridge_ops bridge = {.domain_pd = domain_pd, .region_mkey = region_mkey, .pd_device = pd_device};
static const struct sf_fabric_ops provider = {.name = "test", .bridge = &bridge};
static struct sf_domain domain_of_all = {.ops = &provider};
static struct sf_region region_of_all = {.ops = &provider, .domain = &domain_of_all};

const struct sf_fabric_ops *sf_fabric_of(const char *key)
{
	return &provider;
}

doca_error_t sf_dev_domain(struct doca_dev *dev, struct sf_domain **domain)
{
	*domain = &domain_of_all;
	return domain_result;
}

doca_error_t sf_mmap_region(struct doca_mmap *mmap, struct doca_dev *dev, struct sf_region **region)
{
	*region = &region_of_all;
	return sf_mmap_has_dev(mmap, dev) ? region_result : DOCA_ERROR_NOT_FOUND;
}

static int real_setup(void **state)
{
	is_real = true;
	domain_result = region_result = DOCA_SUCCESS;
	return setup(state);
}

static int software_setup(void **state)
{
	int result = real_setup(state);

	is_real = false;
	return result;
}

/* ---- tests ---- */

static void a_real_device_has_its_protection_domain(void **state)
{
	struct fixture *f = *state;
	struct ibv_pd *pd = NULL;

	assert_int_equal(doca_rdma_bridge_get_dev_pd(f->dev, &pd), DOCA_SUCCESS);
	assert_ptr_equal(pd, &pds[0]);
	domain_result = DOCA_ERROR_DRIVER;
	assert_int_equal(doca_rdma_bridge_get_dev_pd(f->dev, &pd), DOCA_ERROR_BAD_STATE);
}

static void a_protection_domain_opens_its_device(void **state)
{
	struct fixture *f = *state;
	struct doca_dev *dev = NULL;

	assert_int_equal(doca_rdma_bridge_open_dev_from_pd(&pds[0], &dev), DOCA_SUCCESS);
	assert_ptr_equal(dev, f->dev);
	assert_int_equal(doca_dev_close(dev), DOCA_SUCCESS);
	assert_int_equal(doca_rdma_bridge_open_dev_from_pd(&pds[1], &dev), DOCA_ERROR_NOT_FOUND);
}

static void keys_of_a_real_device(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *buf = get(f, 0, 64);
	struct doca_dev *other = test_dev_open(1);
	uint32_t mkey = 0;

	assert_int_equal(doca_rdma_bridge_get_buf_mkey(buf, f->dev, &mkey), DOCA_SUCCESS);
	assert_int_equal(mkey, KEY);
	assert_int_equal(doca_rdma_bridge_get_buf_mkey(buf, other, &mkey), DOCA_ERROR_INVALID_VALUE);
	mkey = 0;
	assert_int_equal(doca_rdma_bridge_get_mmap_mkey_from_pd(f->mmap, &pds[0], &mkey), DOCA_SUCCESS);
	assert_int_equal(mkey, KEY);
	assert_int_equal(doca_rdma_bridge_get_mmap_mkey_from_pd(f->mmap, &pds[1], &mkey), DOCA_ERROR_NOT_FOUND);
	region_result = DOCA_ERROR_OPERATING_SYSTEM;
	assert_int_equal(doca_rdma_bridge_get_mmap_mkey_from_pd(f->mmap, &pds[0], &mkey), DOCA_ERROR_OPERATING_SYSTEM);
	put(buf);
	assert_int_equal(doca_dev_close(other), DOCA_SUCCESS);
}

static void a_stopped_mmap_has_no_key(void **state)
{
	struct fixture *f = *state;
	uint32_t mkey;

	assert_int_equal(doca_mmap_stop(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_rdma_bridge_get_mmap_mkey_from_pd(f->mmap, &pds[0], &mkey), DOCA_ERROR_INVALID_VALUE);
}

static void a_software_device_has_no_protection_domain(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *buf = get(f, 0, 64);
	struct doca_dev *dev;
	struct ibv_pd *pd;
	uint32_t mkey;

	assert_int_equal(doca_rdma_bridge_get_dev_pd(f->dev, &pd), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_rdma_bridge_open_dev_from_pd(&pds[0], &dev), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_rdma_bridge_get_buf_mkey(buf, f->dev, &mkey), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_rdma_bridge_get_mmap_mkey_from_pd(f->mmap, &pds[0], &mkey), DOCA_ERROR_NOT_SUPPORTED);
	put(buf);
}

static void null_is_an_invalid_value(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *buf = get(f, 0, 64);
	struct doca_dev *dev;
	struct ibv_pd *pd;
	uint32_t mkey;

	assert_int_equal(doca_rdma_bridge_get_dev_pd(NULL, &pd), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_bridge_get_dev_pd(f->dev, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_bridge_open_dev_from_pd(NULL, &dev), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_bridge_open_dev_from_pd(&pds[0], NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_bridge_get_buf_mkey(NULL, f->dev, &mkey), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_bridge_get_buf_mkey(buf, NULL, &mkey), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_bridge_get_buf_mkey(buf, f->dev, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_bridge_get_mmap_mkey_from_pd(NULL, &pds[0], &mkey), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_bridge_get_mmap_mkey_from_pd(f->mmap, NULL, &mkey), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_bridge_get_mmap_mkey_from_pd(f->mmap, &pds[0], NULL), DOCA_ERROR_INVALID_VALUE);
	put(buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_real_device_has_its_protection_domain, real_setup, teardown),
		cmocka_unit_test_setup_teardown(a_protection_domain_opens_its_device, real_setup, teardown),
		cmocka_unit_test_setup_teardown(keys_of_a_real_device, real_setup, teardown),
		cmocka_unit_test_setup_teardown(a_stopped_mmap_has_no_key, real_setup, teardown),
		cmocka_unit_test_setup_teardown(a_software_device_has_no_protection_domain, software_setup, teardown),
		cmocka_unit_test_setup_teardown(null_is_an_invalid_value, real_setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
