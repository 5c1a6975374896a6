/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/faults_parse.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest_word.h"

#define RULE_MAX 512 /* length of one rule in bytes */
#define BLANKS " \t\r"

struct point {
	enum sf_fault_kind kind;
	bool takes_ms; /* and requires it */
	bool takes_peer;
};

static const char *const names[] = {
	"submit.again", "task.fail",	 "copy.slow",	"alloc.task",	 "alloc.pool", "alloc.buf",
	"notify.lost",	"notify.late",	 "device.open", "device.remove", "conn.again", "conn.rnr",
	"conn.reset",	"conn.refuse",	 "op.fail",	"peer.late",	 "peer.stop",  "peer.dead",
	"poll.pause",	"region.memory", "import.late", "access.fail",	 "seed",       NULL,
};

_Static_assert(sizeof(names) / sizeof(names[0]) == SF_FAULT_POINTS + 2, "a name for each point");

static const struct point points[SF_FAULT_POINTS] = {
	[SF_FAULT_SUBMIT_AGAIN] = {SF_FAULT_CTX, false, false},	  [SF_FAULT_TASK_FAIL] = {SF_FAULT_CTX, false, false},
	[SF_FAULT_COPY_SLOW] = {SF_FAULT_CTX, true, false},	  [SF_FAULT_ALLOC_TASK] = {SF_FAULT_CTX, false, false},
	[SF_FAULT_ALLOC_POOL] = {SF_FAULT_CTX, false, false},	  [SF_FAULT_ALLOC_BUF] = {SF_FAULT_BUFS, false, false},
	[SF_FAULT_NOTIFY_LOST] = {SF_FAULT_PE, false, false},	  [SF_FAULT_NOTIFY_LATE] = {SF_FAULT_PE, true, false},
	[SF_FAULT_DEVICE_OPEN] = {SF_FAULT_DEVICE, false, false}, [SF_FAULT_DEVICE_REMOVE] = {SF_FAULT_CTX, false, false},
	[SF_FAULT_CONN_AGAIN] = {SF_FAULT_CONN, false, true},	  [SF_FAULT_CONN_RNR] = {SF_FAULT_CONN, false, true},
	[SF_FAULT_CONN_RESET] = {SF_FAULT_CONN, false, true},	  [SF_FAULT_CONN_REFUSE] = {SF_FAULT_DOMAIN, false, false},
	[SF_FAULT_OP_FAIL] = {SF_FAULT_CONN, false, true},	  [SF_FAULT_PEER_LATE] = {SF_FAULT_CONN, true, true},
	[SF_FAULT_PEER_STOP] = {SF_FAULT_CONN, true, true},	  [SF_FAULT_PEER_DEAD] = {SF_FAULT_CONN, false, true},
	[SF_FAULT_POLL_PAUSE] = {SF_FAULT_EP, false, false},	  [SF_FAULT_REGION_MEMORY] = {SF_FAULT_DOMAIN, false, false},
	[SF_FAULT_IMPORT_LATE] = {SF_FAULT_DOMAIN, false, false}, [SF_FAULT_ACCESS_FAIL] = {SF_FAULT_DOMAIN, false, false},
};

enum { KEY_RATE, KEY_NTH, KEY_AFTER, KEY_EVERY, KEY_COUNT, KEY_MS, KEY_ON, KEY_PEER };

static const char *const keys[] = {"rate", "nth", "after", "every", "count", "ms", "on", "peer", NULL};

const char *sf_fault_point_name(enum sf_fault_point point)
{
	return names[point];
}

enum sf_fault_kind sf_fault_point_kind(enum sf_fault_point point)
{
	return points[point].kind;
}

static int word_find(const char *word, const char *const *words)
{
	for (int i = 0; words[i] != NULL; i++) {
		if (strcmp(word, words[i]) == 0)
			return i;
	}
	return -1;
}

static bool word_unknown(const char *word, const char *const *words, const char *what, char *error)
{
	const char *nearest = sf_nearest_word(word, words, 0);

	snprintf(error, SF_FAULT_ERROR_MAX, "unknown %s %.40s: %s%s", what, word,
		 nearest != NULL ? "did you mean " : "docs/faults.md lists those that exist", nearest != NULL ? nearest : "");
	return false;
}

static bool number_read(const char *text, uint64_t max, uint64_t *number)
{
	uint64_t value = 0;

	if (text[0] == '\0')
		return false;
	for (; *text != '\0'; text++) {
		unsigned digit = (unsigned)(*text - '0');

		if (digit > 9 || value > (max - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*number = value;
	return true;
}

/* A number from 0 to 1 with up to six decimals. */
static bool rate_read(const char *text, uint32_t *rate)
{
	uint32_t value, unit = SF_FAULT_ALWAYS;

	if ((text[0] != '0' && text[0] != '1') || (text[1] != '.' && text[1] != '\0') || (text[1] == '.' && text[2] == '\0'))
		return false;
	value = text[0] == '1' ? SF_FAULT_ALWAYS : 0;
	for (text += text[1] == '.' ? 2 : 1; *text != '\0'; text++) {
		unit /= 10;
		if (*text < '0' || *text > '9' || unit == 0)
			return false;
		value += (uint32_t)(*text - '0') * unit;
	}
	*rate = value;
	return value <= SF_FAULT_ALWAYS;
}

static bool name_read(const char *text, char name[SF_FAULT_NAME_MAX])
{
	size_t len = strlen(text);

	if (len == 0 || len >= SF_FAULT_NAME_MAX)
		return false;
	memcpy(name, text, len + 1);
	return true;
}

static bool count_read(const char *text, uint64_t *count)
{
	return number_read(text, UINT32_MAX, count) && *count != 0;
}

static bool ms_read(const char *text, uint32_t *ms)
{
	uint64_t number;

	if (!number_read(text, SF_FAULT_MS_MAX, &number) || number == 0)
		return false;
	*ms = (uint32_t)number;
	return true;
}

static bool value_read(struct sf_fault_rule *rule, int key, const char *value)
{
	switch (key) {
	case KEY_RATE:
		return rate_read(value, &rule->rate);
	case KEY_NTH:
		return count_read(value, &rule->nth);
	case KEY_AFTER:
		return number_read(value, UINT32_MAX, &rule->after);
	case KEY_EVERY:
		return count_read(value, &rule->every);
	case KEY_COUNT:
		return count_read(value, &rule->count);
	case KEY_MS:
		return ms_read(value, &rule->ms);
	case KEY_ON:
		return name_read(value, rule->on);
	default:
		return name_read(value, rule->peer);
	}
}

static bool setting_parse(struct sf_fault_rule *rule, char *word, char *error)
{
	static const char *const expected[] = {"0 to 1, with up to six decimals",
					       "a number from 1 on",
					       "a number",
					       "a number from 1 on",
					       "a number from 1 on",
					       "1 to 3600000",
					       "1 to 63 characters of a name",
					       "1 to 63 characters of a name"};
	const struct point *point = &points[rule->point];
	char *equals = strchr(word, '=');
	int key;

	if (equals == NULL) {
		snprintf(error, SF_FAULT_ERROR_MAX, "%s has %.40s: give KEY=VALUE", names[rule->point], word);
		return false;
	}
	*equals = '\0';
	key = word_find(word, keys);
	if (key < 0)
		return word_unknown(word, keys, "fault setting", error);
	if ((key == KEY_MS && !point->takes_ms) || (key == KEY_PEER && !point->takes_peer)) {
		snprintf(error, SF_FAULT_ERROR_MAX, "%s takes no %s=", names[rule->point], word);
		return false;
	}
	if (value_read(rule, key, equals + 1))
		return true;
	snprintf(error, SF_FAULT_ERROR_MAX, "%s has %s=%.40s: give %s", names[rule->point], word, equals + 1, expected[key]);
	return false;
}

static bool seed_parse(struct sf_fault_plan *plan, const char *value, char *error)
{
	plan->has_seed = number_read(value, UINT64_MAX, &plan->seed);
	if (!plan->has_seed)
		snprintf(error, SF_FAULT_ERROR_MAX, "seed=%.40s: give a number", value);
	return plan->has_seed;
}

static bool words_parse(struct sf_fault_plan *plan, char *text, char *error)
{
	char *rest, *word = strtok_r(text, BLANKS, &rest);
	struct sf_fault_rule *rule;
	int point;

	if (word == NULL)
		return true;
	if (strncmp(word, "seed=", 5) == 0 && strtok_r(NULL, BLANKS, &rest) == NULL)
		return seed_parse(plan, word + 5, error);
	point = word_find(word, names);
	if (point < 0 || point >= SF_FAULT_POINTS)
		return word_unknown(word, names, "fault", error);
	if (plan->num_rules == SF_FAULT_RULES_MAX) {
		snprintf(error, SF_FAULT_ERROR_MAX, "more than %d rules", SF_FAULT_RULES_MAX);
		return false;
	}
	rule = &plan->rules[plan->num_rules++];
	*rule = (struct sf_fault_rule){.point = (enum sf_fault_point)point, .rate = SF_FAULT_ALWAYS};
	while ((word = strtok_r(NULL, BLANKS, &rest)) != NULL) {
		if (!setting_parse(rule, word, error))
			return false;
	}
	if (points[point].takes_ms && rule->ms == 0)
		snprintf(error, SF_FAULT_ERROR_MAX, "%s needs ms=", names[point]);
	return !points[point].takes_ms || rule->ms != 0;
}

/* A rule ends at the end of its line or at a semicolon. A comment goes from # to the end of the line. */
static size_t rule_len(const char *text, size_t len)
{
	size_t at = 0;

	while (at < len && text[at] != ';' && text[at] != '\n' && text[at] != '#')
		at++;
	return at;
}

static size_t separator_len(const char *text, size_t len)
{
	size_t at = 0;

	if (len != 0 && text[0] == '#') {
		while (at < len && text[at] != '\n')
			at++;
	}
	return at < len ? at + 1 : at;
}

bool sf_fault_plan_parse(const char *text, size_t len, struct sf_fault_plan *plan, char error[SF_FAULT_ERROR_MAX])
{
	char rule[RULE_MAX];

	memset(plan, 0, sizeof(*plan));
	for (size_t at = 0; at < len;) {
		size_t part = rule_len(text + at, len - at);

		if (part >= sizeof(rule) || memchr(text + at, '\0', part) != NULL) {
			snprintf(error, SF_FAULT_ERROR_MAX, "a rule of %zu bytes: use at most %d bytes, without NUL bytes", part,
				 RULE_MAX - 1);
			return false;
		}
		memcpy(rule, text + at, part);
		rule[part] = '\0';
		if (!words_parse(plan, rule, error))
			return false;
		at += part;
		at += separator_len(text + at, len - at);
	}
	return true;
}
