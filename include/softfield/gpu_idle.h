/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_idle.h
 * How a thread of the software GPU waits: it spins for a while, then yields, then sleeps until the peer writes: 20 ms at
 * first, 100 ms at most, since the kernel may also wait for a word that wakes nobody. A CUDA GPU just polls. Internal to
 * doca_gpunetio_dev_comch.cuh.
 */
#ifndef SOFTFIELD_GPU_IDLE_H_
#define SOFTFIELD_GPU_IDLE_H_

#include <softfield/gpu_consumer.h>
#include <softfield/gpu_producer.h>

#if !defined(__CUDACC__)

#define SOFTFIELD_SLEEP_US 20000 /**< of a thread that waits for one object: the first sleep, and the growth of the next ones */
#define SOFTFIELD_SLEEP_MAX_US 100000	/**< the longest of these */
#define SOFTFIELD_SLEEP_SEVERAL_US 1000 /**< of a thread that waits for one of several objects */
#define SOFTFIELD_YIELD_EVERY 4		/**< polls */

/** A message was found: the thread stays awake. */
SOFTFIELD_DEVICE void softfield_busy(void)
{
	struct softfield_thread *self = softfield_self();

	self->idle_on = NULL;
	self->idle_polls = self->idle_several = 0;
}

/** Nothing was found in what. @return microseconds to sleep, or 0 to continue polling */
SOFTFIELD_DEVICE uint32_t softfield_idle(const void *what)
{
	struct softfield_thread *self = softfield_self();
	uint32_t sleeps;

	if (self->idle_on != what) {
		self->idle_several |= self->idle_on != NULL;
		self->idle_on = what;
	}
	if (++self->idle_polls >= self->spin_polls) {
		if (self->idle_several)
			return SOFTFIELD_SLEEP_SEVERAL_US;
		sleeps = self->idle_polls - self->spin_polls;
		return sleeps < SOFTFIELD_SLEEP_MAX_US / SOFTFIELD_SLEEP_US ? (sleeps + 1) * SOFTFIELD_SLEEP_US
									    : SOFTFIELD_SLEEP_MAX_US;
	}
	if (self->idle_polls % SOFTFIELD_YIELD_EVERY == 0)
		softfield_soft_sleep(NULL, 0);
	else
		softfield_relax();
	return 0;
}

/** After a poll that found nothing. */
SOFTFIELD_DEVICE void softfield_consumer_idle(struct doca_comch_gpu_consumer *c)
{
	uint32_t us = softfield_idle(c), seq = __atomic_load_n(&c->delivered, __ATOMIC_RELAXED);

	if (us == 0)
		return;
	__atomic_store_n(&c->gpu_queue->sleeping, 1, __ATOMIC_RELAXED);
	softfield_soft_barrier(); /* the word before the check; the sender writes the line before it checks the word */
	if (softfield_tag_gen(softfield_load_slot16(&c->lines[seq & (c->depth - 1)].slot16[0]).w[3]) !=
		    softfield_gen(seq, c->shift) &&
	    softfield_load_slot16(&c->gpu_queue->control).w[0] == SOFTFIELD_GPU_QUEUE_OPEN)
		softfield_soft_sleep(&c->gpu_queue->sleeping, us);
	softfield_consumer_check_control(c);
}

/** After a send that found no room: until the consumer sends more credits. */
SOFTFIELD_DEVICE void softfield_producer_idle(struct doca_comch_gpu_producer *p)
{
	struct softfield_gpu_dest *d = &p->current;
	uint32_t us = softfield_idle(p), seen;

	if (us == 0)
		return;
	seen = d->count;
	__atomic_store_n(&d->peer.gpu_queue->sleeping, 1, __ATOMIC_RELAXED);
	softfield_fence_system();
	if (softfield_load_slot16(&d->peer.gpu_queue->credits).w[SOFTFIELD_CREDIT_COUNT] == seen &&
	    softfield_load_slot16(&p->control->control).w[0] == SOFTFIELD_GPU_QUEUE_OPEN)
		softfield_soft_sleep(&d->peer.gpu_queue->sleeping,
				     us < SOFTFIELD_SLEEP_SEVERAL_US ? us : SOFTFIELD_SLEEP_SEVERAL_US);
}

/** Serializes the threads of a warp or block on the software GPU. */
SOFTFIELD_DEVICE void softfield_lock(uint32_t *lock)
{
	while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) != 0)
		softfield_soft_sleep(NULL, 0);
}

SOFTFIELD_DEVICE void softfield_unlock(uint32_t *lock)
{
	__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

#else

SOFTFIELD_DEVICE void softfield_busy(void) {}
SOFTFIELD_DEVICE void softfield_consumer_idle(struct doca_comch_gpu_consumer *c)
{
	(void)c;
}
SOFTFIELD_DEVICE void softfield_producer_idle(struct doca_comch_gpu_producer *p)
{
	(void)p;
}

#endif

#endif /* SOFTFIELD_GPU_IDLE_H_ */
