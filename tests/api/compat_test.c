/* SPDX-License-Identifier: BSD-3-Clause */
/* src/compat replaces headers that other C libraries lack, and behaves as they do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compat/pthread.h"
#include "compat/sys/queue.h"

#define NUM 5

struct item {
	char name;
	SLIST_ENTRY(item) slist;
	LIST_ENTRY(item) list;
	STAILQ_ENTRY(item) stailq;
	TAILQ_ENTRY(item) tailq;
};

SLIST_HEAD(slist, item);
LIST_HEAD(list, item);
STAILQ_HEAD(stailq, item);
TAILQ_HEAD(tailq, item);

static struct item items[NUM];
static struct item *const a = &items[0], *const b = &items[1], *const c = &items[2], *const d = &items[3];

/* The names of a list's elements, in order. */
#define NAMES(kind, head, field)                                                                                                 \
	({                                                                                                                       \
		struct item *item;                                                                                               \
		int num = 0;                                                                                                     \
		kind##_FOREACH(item, head, field) names[num++] = item->name;                                                     \
		names[num] = '\0';                                                                                               \
		names;                                                                                                           \
	})
static char names[NUM + 1];

static int name_items(void **state)
{
	for (int i = 0; i < NUM; i++)
		items[i].name = (char)('a' + i);
	return 0;
}

static void slist(void **state)
{
	struct slist head = SLIST_HEAD_INITIALIZER(head);

	assert_true(SLIST_EMPTY(&head));
	SLIST_INSERT_HEAD(&head, c, slist);
	SLIST_INSERT_HEAD(&head, b, slist);
	SLIST_INSERT_HEAD(&head, a, slist);
	assert_string_equal(NAMES(SLIST, &head, slist), "abc");
	SLIST_REMOVE(&head, b, item, slist);
	assert_string_equal(NAMES(SLIST, &head, slist), "ac");
	SLIST_REMOVE_HEAD(&head, slist);
	SLIST_REMOVE(&head, c, item, slist);
	assert_true(SLIST_EMPTY(&head));
}

static void list(void **state)
{
	struct list head = LIST_HEAD_INITIALIZER(head);

	LIST_INSERT_HEAD(&head, c, list);
	LIST_INSERT_HEAD(&head, b, list);
	LIST_INSERT_HEAD(&head, a, list);
	assert_string_equal(NAMES(LIST, &head, list), "abc");
	LIST_REMOVE(b, list);
	assert_string_equal(NAMES(LIST, &head, list), "ac");
	LIST_REMOVE(a, list);
	assert_ptr_equal(LIST_FIRST(&head), c);
	LIST_REMOVE(c, list);
	assert_true(LIST_EMPTY(&head));
}

static void stailq(void **state)
{
	struct stailq head;

	STAILQ_INIT(&head);
	assert_true(STAILQ_EMPTY(&head));
	STAILQ_INSERT_TAIL(&head, a, stailq);
	STAILQ_INSERT_TAIL(&head, b, stailq);
	STAILQ_INSERT_TAIL(&head, c, stailq);
	assert_string_equal(NAMES(STAILQ, &head, stailq), "abc");
	STAILQ_REMOVE(&head, c, item, stailq);
	STAILQ_INSERT_TAIL(&head, d, stailq);
	assert_string_equal(NAMES(STAILQ, &head, stailq), "abd");
	STAILQ_REMOVE(&head, a, item, stailq);
	STAILQ_REMOVE_HEAD(&head, stailq);
	STAILQ_REMOVE_HEAD(&head, stailq);
	assert_true(STAILQ_EMPTY(&head));
	STAILQ_INSERT_TAIL(&head, a, stailq);
	assert_string_equal(NAMES(STAILQ, &head, stailq), "a");
}

static void tailq(void **state)
{
	struct tailq head = TAILQ_HEAD_INITIALIZER(head);

	TAILQ_INSERT_TAIL(&head, b, tailq);
	TAILQ_INSERT_TAIL(&head, d, tailq);
	TAILQ_INSERT_HEAD(&head, a, tailq);
	TAILQ_INSERT_BEFORE(d, c, tailq);
	assert_string_equal(NAMES(TAILQ, &head, tailq), "abcd");
	assert_ptr_equal(TAILQ_LAST(&head, tailq), d);
	assert_ptr_equal(TAILQ_PREV(d, tailq, tailq), c);
	assert_null(TAILQ_PREV(a, tailq, tailq));
	TAILQ_REMOVE(&head, d, tailq);
	assert_ptr_equal(TAILQ_LAST(&head, tailq), c);
	TAILQ_REMOVE(&head, b, tailq);
	TAILQ_REMOVE(&head, a, tailq);
	assert_string_equal(NAMES(TAILQ, &head, tailq), "c");
	TAILQ_REMOVE(&head, c, tailq);
	assert_true(TAILQ_EMPTY(&head));
	assert_null(TAILQ_LAST(&head, tailq));
	TAILQ_INSERT_HEAD(&head, a, tailq);
	TAILQ_INSERT_TAIL(&head, b, tailq);
	assert_string_equal(NAMES(TAILQ, &head, tailq), "ab");
}

static void a_wait_ends_at_the_time_of_its_clock(void **state)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
	struct timespec until, now;

	pthread_mutex_lock(&lock);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += 50000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	while (sf_cond_clockwait(&never, &lock, CLOCK_MONOTONIC, &until) != ETIMEDOUT)
		;
	clock_gettime(CLOCK_MONOTONIC, &now);
	pthread_mutex_unlock(&lock);
	assert_true(now.tv_sec > until.tv_sec || (now.tv_sec == until.tv_sec && now.tv_nsec >= until.tv_nsec));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(slist),
		cmocka_unit_test(list),
		cmocka_unit_test(stailq),
		cmocka_unit_test(tailq),
		cmocka_unit_test(a_wait_ends_at_the_time_of_its_clock),
	};

	return cmocka_run_group_tests(tests, name_items, NULL);
}
