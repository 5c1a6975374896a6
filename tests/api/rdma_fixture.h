/* SPDX-License-Identifier: BSD-3-Clause */
/* Two RDMA instances of one process, each with the other's memory imported. Include it after cmocka. */
#ifndef SF_RDMA_FIXTURE_H
#define SF_RDMA_FIXTURE_H

#include "support/rdma_rig.h"

#define SIZE (4 << 20) /* bytes of memory of each side */

struct rdma_fixture {
	struct rdma_rig a, b;
	struct doca_rdma_connection *ab, *ba; /* a's to b, b's to a */
	const void *a_details, *b_details;
	size_t a_size, b_size;
};

static inline void import_each_other(struct rdma_fixture *f)
{
	const void *descriptor;
	size_t len;

	CHECK_OK(doca_mmap_export_rdma(f->a.mmap, f->a.dev, &descriptor, &len));
	rdma_rig_import(&f->b, descriptor, len);
	CHECK_OK(doca_mmap_export_rdma(f->b.mmap, f->b.dev, &descriptor, &len));
	rdma_rig_import(&f->a, descriptor, len);
}

static inline void export_both(struct rdma_fixture *f)
{
	CHECK_OK(doca_rdma_export(f->a.rdma, &f->a_details, &f->a_size, &f->ab));
	CHECK_OK(doca_rdma_export(f->b.rdma, &f->b_details, &f->b_size, &f->ba));
}

static inline void connect_both(struct rdma_fixture *f)
{
	export_both(f);
	CHECK_OK(doca_rdma_connect(f->a.rdma, f->b_details, f->b_size, f->ab));
	CHECK_OK(doca_rdma_connect(f->b.rdma, f->a_details, f->a_size, f->ba));
}

/* For cmocka: create both sides, connect them, destroy them. */

static inline int rdma_prepare(void **state)
{
	static struct rdma_fixture f;

	memset(&f, 0, sizeof(f));
	rdma_rig_prepare(&f.a, 0, SIZE, RIG_ALL, RIG_ALL);
	rdma_rig_prepare(&f.b, 1, SIZE, RIG_ALL, RIG_ALL);
	for (size_t i = 0; i < SIZE; i++) {
		f.a.memory[i] = (uint8_t)(i * 31 + (i >> 12));
		f.b.memory[i] = (uint8_t)(i * 17 + (i >> 11) + 5);
	}
	import_each_other(&f);
	*state = &f;
	return 0;
}

static inline int rdma_setup(void **state)
{
	(void)rdma_prepare(state);
	struct rdma_fixture *f = *state;
	rdma_rig_start(&f->a);
	rdma_rig_start(&f->b);
	connect_both(f);
	return 0;
}

static inline int rdma_teardown(void **state)
{
	struct rdma_fixture *f = *state;

	rdma_rig_stop(&f->a);
	rdma_rig_stop(&f->b);
	CHECK_OK(doca_mmap_destroy(f->a.remote));
	CHECK_OK(doca_mmap_destroy(f->b.remote));
	f->a.remote = f->b.remote = NULL;
	rdma_rig_fini(&f->a);
	rdma_rig_fini(&f->b);
	return 0;
}

#define WAIT(condition) RDMA_RIG_WAIT(&f->a, &f->b, condition)

#endif
