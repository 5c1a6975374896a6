/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REPORTS_MAX 8
#define WAIT_S 60
#define TESTS_MAX 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static char texts[REPORTS_MAX][1200]; /* of this program; GUARDED_BY(lock) */
static uint64_t num_texts;

/* ---- reports ---- */

/* Writes c at *to, if it has room before end. */
static void put(char **to, const char *end, char c)
{
	if (*to < end)
		*(*to)++ = c;
}

/* An address has more digits than permissions. */
static size_t address_len(const char *at)
{
	size_t len = 2;

	if (strncmp(at, "0x", 2) != 0)
		return 0;
	while (isxdigit((unsigned char)at[len]))
		len++;
	return len > 10 ? len : 0;
}

static size_t time_len(const char *at)
{
	size_t len = strspn(at, "0123456789");

	if (len == 0 || at[len] != '.')
		return 0;
	len += 1 + strspn(at + len + 1, "0123456789");
	return strncmp(at + len, " s", 2) == 0 ? len : 0;
}

/* Replaces what differs between runs. */
static void normalize(const char *from, char *text, size_t size)
{
	const char *end = text + size - 1;

	while (*from != '\0') {
		size_t address = address_len(from), time = time_len(from);

		if (address != 0) {
			put(&text, end, '0');
			put(&text, end, 'x');
			from += address;
		} else if (time != 0) {
			put(&text, end, 'T');
			from += time;
		} else {
			put(&text, end, *from++);
		}
	}
	*text = '\0';
}

static void reported(const struct softfield_validation_report *report, void *user_data)
{
	(void)user_data;
	pthread_mutex_lock(&lock);
	if (num_texts < REPORTS_MAX)
		normalize(report->message, texts[num_texts], sizeof(texts[0]));
	num_texts++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

void scenario_await(uint64_t num_reports)
{
	struct timespec end;
	int error = 0;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += WAIT_S;
	pthread_mutex_lock(&lock);
	while (num_texts < num_reports && error == 0)
		error = pthread_cond_timedwait(&changed, &lock, &end);
	pthread_mutex_unlock(&lock);
	assert_int_equal(error, 0);
}

uint64_t scenario_num_reports(void)
{
	pthread_mutex_lock(&lock);
	uint64_t num = num_texts;
	pthread_mutex_unlock(&lock);
	return num;
}

/* ---- the pairs ---- */

/* N in the expected text matches digits. */
static bool is_alike(const char *expected, const char *text)
{
	while (*expected != '\0') {
		if (*expected == 'N' && isdigit((unsigned char)*text)) {
			expected++;
			text += strspn(text, "0123456789");
		} else if (*expected++ != *text++) {
			return false;
		}
	}
	return *text == '\0';
}

static void run_wrong(void **state)
{
	const struct scenario *scenario = *state;

	num_texts = 0;
	scenario->run(true);
	if (num_texts != 1)
		fail_msg("%llu reports, the last: %s", (unsigned long long)num_texts, num_texts > 0 ? texts[num_texts - 1] : "-");
	if (!is_alike(scenario->report, texts[0]))
		fail_msg("\nexpected: %s\nreported: %s", scenario->report, texts[0]);
}

static void run_right(void **state)
{
	const struct scenario *scenario = *state;

	num_texts = 0;
	scenario->run(false);
	if (num_texts != 0)
		fail_msg("reported: %s", texts[0]);
}

int scenarios_run(const char *group, const struct scenario *scenarios, size_t num)
{
	static char names[TESTS_MAX][96];
	struct CMUnitTest tests[TESTS_MAX];

	if (2 * num > TESTS_MAX)
		abort();
	softfield_validation_set_callback(reported, NULL);
	for (size_t i = 0; i < 2 * num; i++) {
		snprintf(names[i], sizeof(names[i]), "%s: %s", scenarios[i / 2].name, i % 2 == 0 ? "wrong" : "right");
		tests[i] = (struct CMUnitTest){.name = names[i],
					       .test_func = i % 2 == 0 ? run_wrong : run_right,
					       .initial_state = (void *)(uintptr_t)&scenarios[i / 2]};
	}
	return _cmocka_run_group_tests(group, tests, 2 * num, NULL, NULL);
}
