/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/task_age.h"

#define EACH_MAX 64 /* marks that count each look; then some that count every 16th, and the others every 256th */
#define SOME_MAX 128
#define SOME_LOOKS 16
#define MANY_LOOKS 256
#define MARKS_MAX (SF_TASK_INFLIGHT_MAX - SF_TASK_INFLIGHT)

/* Returns whether this look counts for a task with so many marks. */
static bool is_counted(uint32_t marks, uint64_t number)
{
	if (marks < EACH_MAX)
		return true;
	if (marks < SOME_MAX)
		return number % SOME_LOOKS == 0;
	return marks < MARKS_MAX && number % MANY_LOOKS == 0;
}

/* The first mark is set by the first look, when the age is not known. */
static uint64_t looks_of(uint32_t marks)
{
	if (marks <= EACH_MAX)
		return marks > 0 ? marks - 1 : 0;
	if (marks <= SOME_MAX)
		return EACH_MAX - 1 + (uint64_t)(marks - EACH_MAX - 1) * SOME_LOOKS;
	return EACH_MAX - 1 + (SOME_MAX - EACH_MAX - 1) * SOME_LOOKS + (uint64_t)(marks - SOME_MAX - 1) * MANY_LOOKS;
}

#if defined(__SANITIZE_THREAD__)
#define HAS_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HAS_TSAN 1
#endif
#endif

/* ThreadSanitizer sees atomic builtins even where it is told not to look, but no assembly. Elsewhere its build counts no ages. */
static bool byte_exchange(uint8_t *byte, uint8_t from, uint8_t to)
{
#if !defined(HAS_TSAN)
	return __atomic_compare_exchange_n(byte, &from, to, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#elif defined(__x86_64__)
	uint8_t found = from;

	__asm__ volatile("lock cmpxchgb %2, %1" : "+a"(found), "+m"(*byte) : "q"(to) : "cc");
	return found == from;
#else
	(void)byte, (void)from, (void)to;
	return false;
#endif
}

/*
 * The engine's thread runs concurrently, and writes the byte without reading it. If it does so meanwhile, the exchange fails, or
 * is overwritten. ThreadSanitizer must ignore this function.
 */
__attribute__((no_sanitize("thread"), noinline)) static uint32_t marks_after_look(struct doca_task *task, uint64_t number)
{
	uint8_t *byte = (uint8_t *)&task->state, state = *(volatile uint8_t *)byte;

	if (state < SF_TASK_INFLIGHT)
		return 0;
	if (!is_counted(state - SF_TASK_INFLIGHT, number))
		return state - SF_TASK_INFLIGHT;
	if (!byte_exchange(byte, state, (uint8_t)(state + 1)))
		return 0;
	return state + 1 - SF_TASK_INFLIGHT;
}

__attribute__((no_sanitize("thread"), noinline)) uint64_t sf_task_ages_look(const struct sf_task_pool *pool, uint64_t number,
									    uint32_t *left, uint64_t *looks)
{
	uint32_t begun = *(const volatile uint32_t *)&pool->num_begun;
	uint64_t num = 0;

	if (begun > *left)
		begun = *left;
	*left -= begun;
	for (uint32_t i = 0; i < begun; i++) {
		uint32_t marks = marks_after_look((struct doca_task *)((char *)pool->memory + pool->slot_built * i), number);

		num += marks != 0;
		if (looks_of(marks) > *looks)
			*looks = looks_of(marks);
	}
	return num;
}
