/* SPDX-License-Identifier: BSD-3-Clause */
/* DMA: the DPU's side copies into memory that the host exported, and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/dma_rig.h"

#include "fault_flow.h"

#define LEN 65536

static struct {
	struct rig rig;
	uint8_t *memory;
	uint8_t *there;
	struct doca_mmap *own, *imported;
	struct doca_buf *src, *dst;
	uint32_t ended; /* tasks whose completion was handled */
	bool is_back;	/* the second copy of a round */
} d;

static void dma_open(struct flow *flow)
{
	memset(&d, 0, sizeof(d));
	d.memory = aligned_alloc(4096, 2 * LEN);
	memset(d.memory, 0, 2 * LEN);
	rig_prepare(&d.rig, test_dev_open(fault_device()));
	rig_start(&d.rig);
	d.own = rig_mmap(&d.rig, d.memory, 2 * LEN, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	flow->pe = d.rig.pe;
	flow->is_met = !fault_is_dpu;
}

void fault_dma_export(struct fault_descriptor *descriptor)
{
	const void *bytes;
	size_t len;

	CHECK(doca_mmap_export_pci(d.own, d.rig.dev, &bytes, &len) == DOCA_SUCCESS);
	CHECK(len <= sizeof(descriptor->bytes));
	memcpy(descriptor->bytes, bytes, len);
	descriptor->len = (uint32_t)len;
}

static void import(struct flow *flow, const struct fault_descriptor *descriptor)
{
	doca_error_t status = doca_mmap_create_from_export(NULL, descriptor->bytes, descriptor->len, d.rig.dev, &d.imported);
	void *there;
	size_t len;

	if (status != DOCA_SUCCESS) {
		fault_failed(flow, "import", status);
		d.imported = NULL;
		flow->is_ended = true;
		return;
	}
	CHECK(doca_mmap_get_memrange(d.imported, &there, &len) == DOCA_SUCCESS);
	d.there = there;
	flow->is_met = true;
}

static void copy_begin(struct flow *flow)
{
	doca_error_t status;

	if (!d.is_back) {
		pattern_write(d.memory, LEN, flow->rounds + 1);
		d.src = rig_source(&d.rig, d.own, d.memory, LEN);
		d.dst = rig_destination(&d.rig, d.imported, d.there, LEN);
	} else {
		memset(d.memory + LEN, 0, LEN);
		d.src = rig_source(&d.rig, d.imported, d.there, LEN);
		d.dst = rig_destination(&d.rig, d.own, d.memory + LEN, LEN);
	}
	flow->under_way = 1;
	status = doca_task_submit(rig_task(&d.rig, d.src, d.dst));
	CHECK(status == DOCA_SUCCESS);
}

static void copy_ended(struct flow *flow)
{
	d.ended++;
	flow->under_way = 0;
	rig_put(d.src);
	rig_put(d.dst);
	if (d.rig.num_failed != 0) {
		fault_failed(flow, d.is_back ? "from" : "to", d.rig.status);
		flow->is_ended = true;
		return;
	}
	if (d.is_back) {
		CHECK(pattern_is(d.memory + LEN, LEN, flow->rounds + 1));
		flow->rounds++;
	}
	d.is_back = !d.is_back;
	if (d.is_back)
		copy_begin(flow);
}

static void dma_turn(struct flow *flow)
{
	if (!fault_is_dpu) {
		flow->is_ended = fault_comch.is_ended; /* the owner is not notified */
		flow->rounds = flow->wanted;
		return;
	}
	if (!flow->is_met && !flow->is_ended && fault_introduced() != NULL && fault_comch.is_met)
		import(flow, &fault_introduced()->pci);
	if (flow->under_way != 0 && d.rig.num_good + d.rig.num_failed != d.ended)
		copy_ended(flow);
	if (flow->is_met && !flow->is_ended && flow->under_way == 0 && fault_may_begin(flow))
		copy_begin(flow);
}

static void dma_close(struct flow *flow)
{
	if (d.rig.state == DOCA_CTX_STATE_IDLE) /* a failed task has stopped it */
		rig_start(&d.rig);
	rig_stop(&d.rig);
	if (flow->under_way != 0) {
		rig_put(d.src);
		rig_put(d.dst);
	}
	if (d.imported != NULL)
		assert_int_equal(doca_mmap_destroy(d.imported), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(d.own), DOCA_SUCCESS);
	rig_start(&d.rig);
	rig_fini(&d.rig);
	free(d.memory);
	flow->pe = NULL;
}

struct flow fault_dma = {.name = "dma", .open = dma_open, .turn = dma_turn, .close = dma_close};
