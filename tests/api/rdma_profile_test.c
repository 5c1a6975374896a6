/* SPDX-License-Identifier: BSD-3-Clause */
/* With SOFTFIELD_PROFILE, a message is at most as long as the card's longest. A list that names the same memory many times is
 * long without much memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/log_lines.h"
#include "support/rdma_pair.h"

#define LONGEST (UINT32_C(1) << 30)
#define LIST 16
#define PIECE ((size_t)65 << 20)

static struct doca_buf *long_list(struct rdma_rig *rig)
{
	struct doca_buf *head = rig_source(rig, 0, PIECE);

	for (uint32_t i = 1; i < LIST; i++)
		CHECK_OK(doca_buf_chain_list(head, rig_source(rig, 0, PIECE)));
	return head;
}

static void longer_message_than_the_cards(void **state)
{
	static struct pair pair;
	struct doca_buf *list;
	uint32_t longest;

	(void)state;
	rdma_rig_prepare(&pair.a, 0, PIECE, RIG_ALL, RIG_ALL);
	rdma_rig_prepare(&pair.b, 1, PAIR_SIZE, RIG_ALL, RIG_ALL);
	CHECK_OK(doca_rdma_cap_get_max_message_size(doca_dev_as_devinfo(pair.a.dev), &longest));
	assert_int_equal(longest, LONGEST);
	CHECK_OK(doca_rdma_set_max_send_buf_list_len(pair.a.rdma, LIST));
	pair_start(&pair, 1);
	list = long_list(&pair.a);
	log_lines_forget();
	assert_int_equal(rig_send(&pair.a, pair.ab[0], list, 0), DOCA_ERROR_INVALID_VALUE);
	log_lines_expect("1090519040 bytes exceed the 1073741824", getenv("SOFTFIELD_PROFILE"), "several tasks");
	rig_put(list);
	pair_fini(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(longer_message_than_the_cards)};

	return cmocka_run_group_tests(tests, log_lines_setup, NULL);
}
