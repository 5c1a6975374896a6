/* SPDX-License-Identifier: BSD-3-Clause */
#include "comch/remote_consumer.h"

#include <assert.h>
#include <stdlib.h>

#include "comch/gpu_path.h"

static struct comch_remote_consumer **find_slot(struct comch_remote_consumers *table, uint32_t id)
{
	struct comch_remote_consumer **slot = &table->buckets[id % COMCH_REMOTE_BUCKETS];

	while (*slot != NULL && (*slot)->id != id)
		slot = &(*slot)->next;
	return slot;
}

static void expire_slot(struct comch_remote_consumers *table, struct comch_remote_consumer **slot)
{
	struct comch_remote_consumer *consumer = *slot;

	*slot = consumer->next;
	assert(table->num > 0);
	table->num--;
	atomic_store_explicit(&consumer->expired, true, memory_order_release);
	comch_remote_consumer_unref(consumer);
}

doca_error_t comch_remote_consumers_add(struct comch_remote_consumers *table, uint32_t id, uint32_t imm_len_max,
					const struct comch_advertisement *ad)
{
	struct comch_remote_consumer **slot = find_slot(table, id);
	struct comch_remote_consumer *consumer;

	if (*slot != NULL)
		return DOCA_ERROR_ALREADY_EXIST;
	if (table->num == COMCH_CONSUMERS_MAX)
		return DOCA_ERROR_FULL;
	consumer = (struct comch_remote_consumer *)calloc(1, sizeof(*consumer));
	if (consumer == NULL)
		return DOCA_ERROR_NO_MEMORY;
	atomic_init(&consumer->refs, 1);
	consumer->id = id;
	consumer->imm_len_max = imm_len_max;
	consumer->ad = *ad;
	*slot = consumer;
	table->num++;
	atomic_fetch_add_explicit(&table->version, 1, memory_order_release);
	return DOCA_SUCCESS;
}

bool comch_remote_consumers_expire(struct comch_remote_consumers *table, uint32_t id)
{
	struct comch_remote_consumer **slot = find_slot(table, id);

	if (*slot == NULL)
		return false;
	expire_slot(table, slot);
	return true;
}

uint32_t comch_remote_consumers_expire_any(struct comch_remote_consumers *table)
{
	for (uint32_t i = 0; i < COMCH_REMOTE_BUCKETS; i++) {
		if (table->buckets[i] != NULL) {
			uint32_t id = table->buckets[i]->id;

			expire_slot(table, &table->buckets[i]);
			return id;
		}
	}
	return 0;
}

struct comch_remote_consumer *comch_remote_consumers_find(const struct comch_remote_consumers *table, uint32_t id)
{
	struct comch_remote_consumer *consumer = table->buckets[id % COMCH_REMOTE_BUCKETS];

	while (consumer != NULL && consumer->id != id)
		consumer = consumer->next;
	if (consumer != NULL)
		atomic_fetch_add_explicit(&consumer->refs, 1, memory_order_relaxed);
	return consumer;
}

void comch_remote_consumer_unref(struct comch_remote_consumer *consumer)
{
	assert(atomic_load(&consumer->refs) > 0);
	if (atomic_fetch_sub_explicit(&consumer->refs, 1, memory_order_acq_rel) != 1)
		return;
	comch_gpu_queue_sender_destroy(consumer->sender);
	free(consumer);
}
