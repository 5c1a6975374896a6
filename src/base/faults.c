/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/faults.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/log.h"

#define FILE_MAX 65536
#define OBJECT_NAME_MAX 128
#define PLAN_TEXT "fault injection is on (SOFTFIELD_FAULTS): %u rule%s; seed=%llu reproduces this run"

struct rule_state {
	uint64_t seen, fired; /* atomic */
};

struct sf_faults {
	enum sf_fault_kind kind;
	uint32_t number;  /* index among the objects of its kind, from 1, in order of creation */
	uint32_t matches; /* bit mask of the rules that match it */
	char name[OBJECT_NAME_MAX];
	struct rule_state rules[SF_FAULT_RULES_MAX];
};

_Static_assert(SF_FAULT_RULES_MAX <= 32, "a bit for each rule");

static struct sf_fault_plan plan;
static doca_error_t plan_status;
static uint32_t numbers[SF_FAULT_KINDS]; /* objects so far; atomic */
static pthread_once_t plan_once = PTHREAD_ONCE_INIT;

static const char *const kind_names[] = {"context", "progress engine", "buffers of", "device",
					 "domain",  "endpoint",	       "connection"};

_Static_assert(sizeof(kind_names) / sizeof(kind_names[0]) == SF_FAULT_KINDS, "a name for each kind");

/* ---- the plan ---- */

static bool is_path(const char *text)
{
	return text[0] == '/' || strncmp(text, "./", 2) == 0 || strncmp(text, "../", 3) == 0;
}

/* The text of a file, to be freed; or NULL, logged. */
static char *file_read(const char *path, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	char *text = malloc(FILE_MAX);
	ssize_t got = -1;

	*len = 0;
	while (fd >= 0 && text != NULL && *len < FILE_MAX && (got = read(fd, text + *len, FILE_MAX - *len)) > 0)
		*len += (size_t)got;
	if (got == 0) {
		close(fd);
		return text;
	}
	SF_LOG_ERR("SOFTFIELD_FAULTS: cannot read file %s: %s", path,
		   got > 0 ? "it is longer than 65535 bytes" : strerror(errno));
	if (fd >= 0)
		close(fd);
	free(text);
	return NULL;
}

static void seed_choose(void)
{
	uint32_t seed;

	if (plan.has_seed)
		return;
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = (uint32_t)getpid();
	plan.seed = seed;
}

/* Printed whatever the log level: without the seed the run cannot be reproduced. */
static void plan_print(void)
{
	if (__atomic_load_n(&sf_log_limit, __ATOMIC_RELAXED) != 0)
		SF_LOG_WARN(PLAN_TEXT, plan.num_rules, plan.num_rules == 1 ? "" : "s", (unsigned long long)plan.seed);
	else if (fcntl(STDERR_FILENO, F_GETFD) >= 0)
		dprintf(STDERR_FILENO, "softfield: " PLAN_TEXT "\n", plan.num_rules, plan.num_rules == 1 ? "" : "s",
			(unsigned long long)plan.seed);
}

static void plan_parse(const char *text, size_t len)
{
	char error[SF_FAULT_ERROR_MAX];

	if (sf_fault_plan_parse(text, len, &plan, error)) {
		seed_choose();
		plan_print();
		return;
	}
	SF_LOG_ERR("SOFTFIELD_FAULTS: %s", error);
	plan.num_rules = 0;
	plan_status = DOCA_ERROR_BAD_CONFIG;
}

static void plan_read(void)
{
	const char *value = secure_getenv("SOFTFIELD_FAULTS");
	char *text;
	size_t len;

	if (value == NULL || value[0] == '\0')
		return;
	if (!is_path(value)) {
		plan_parse(value, strlen(value));
		return;
	}
	text = file_read(value, &len);
	if (text == NULL)
		plan_status = DOCA_ERROR_BAD_CONFIG;
	else
		plan_parse(text, len);
	free(text);
}

doca_error_t sf_faults_check(void)
{
	pthread_once(&plan_once, plan_read);
	return plan_status;
}

bool sf_faults_concern(enum sf_fault_kind kind)
{
	pthread_once(&plan_once, plan_read);
	for (uint32_t i = 0; i < plan.num_rules; i++) {
		if (sf_fault_point_kind(plan.rules[i].point) == kind)
			return true;
	}
	return false;
}

/* ---- objects ---- */

static bool rule_matches(const struct sf_fault_rule *rule, enum sf_fault_kind kind, const char *name, const char *peer)
{
	return sf_fault_point_kind(rule->point) == kind && (rule->on[0] == '\0' || strstr(name, rule->on) != NULL) &&
	       (rule->peer[0] == '\0' || (peer != NULL && strstr(peer, rule->peer) != NULL));
}

/* If true, each context checks whether its device still exists. */
static bool plan_removes(void)
{
	for (uint32_t i = 0; i < plan.num_rules; i++) {
		if (plan.rules[i].point == SF_FAULT_DEVICE_REMOVE)
			return true;
	}
	return false;
}

struct sf_faults *sf_faults_attach(enum sf_fault_kind kind, const char *name, const char *peer)
{
	struct sf_faults *faults;
	uint32_t number, matches = 0;

	if (!sf_faults_concern(kind))
		return NULL;
	number = __atomic_add_fetch(&numbers[kind], 1, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < plan.num_rules; i++)
		matches |= (uint32_t)rule_matches(&plan.rules[i], kind, name, peer) << i;
	faults = matches != 0 || (kind == SF_FAULT_CTX && plan_removes()) ? calloc(1, sizeof(*faults)) : NULL;
	if (faults == NULL)
		return NULL;
	faults->kind = kind;
	faults->number = number;
	faults->matches = matches;
	snprintf(faults->name, sizeof(faults->name), "%s", name);
	return faults;
}

void sf_faults_detach(struct sf_faults *faults)
{
	free(faults);
}

/* ---- decisions ---- */

/* splitmix64's last steps: each bit of the input changes half of the output's. */
static uint64_t hash_mix(uint64_t z)
{
	z += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static uint32_t number_draw(const struct sf_faults *faults, uint32_t rule, uint64_t occurrence, uint32_t bound)
{
	uint64_t z = hash_mix(plan.seed ^ hash_mix(((uint64_t)faults->kind << 40 | (uint64_t)rule << 32 | faults->number) ^
						   hash_mix(occurrence)));

	return (uint32_t)(((z >> 32) * bound) >> 32);
}

static bool rule_chooses(const struct sf_faults *faults, uint32_t index, uint64_t occurrence)
{
	const struct sf_fault_rule *rule = &plan.rules[index];

	if (occurrence <= rule->after || (rule->nth != 0 && occurrence != rule->nth))
		return false;
	if (rule->every != 0 && (occurrence - rule->after) % rule->every != 0)
		return false;
	return number_draw(faults, index, occurrence, SF_FAULT_ALWAYS) < rule->rate;
}

static bool rule_fires(struct sf_faults *faults, uint32_t index)
{
	const struct sf_fault_rule *rule = &plan.rules[index];
	struct rule_state *state = &faults->rules[index];
	uint64_t occurrence = __atomic_add_fetch(&state->seen, 1, __ATOMIC_RELAXED);

	if (!rule_chooses(faults, index, occurrence))
		return false;
	if (__atomic_add_fetch(&state->fired, 1, __ATOMIC_RELAXED) > rule->count && rule->count != 0)
		return false;
	SF_LOG_INFO("injected fault %s: occurrence %llu of %s %u, %s", sf_fault_point_name(rule->point),
		    (unsigned long long)occurrence, kind_names[faults->kind], faults->number, faults->name);
	return true;
}

const struct sf_fault_rule *sf_fault(struct sf_faults *faults, enum sf_fault_point point)
{
	const struct sf_fault_rule *fired = NULL;

	if (faults == NULL)
		return NULL;
	for (uint32_t i = 0; i < plan.num_rules; i++) { /* each rule counts, also after one that fires */
		if ((faults->matches & UINT32_C(1) << i) != 0 && plan.rules[i].point == point && rule_fires(faults, i) &&
		    fired == NULL)
			fired = &plan.rules[i];
	}
	return fired;
}

void sf_fault_forget(struct sf_faults *faults, enum sf_fault_point point)
{
	if (faults == NULL)
		return;
	for (uint32_t i = 0; i < plan.num_rules; i++) {
		if ((faults->matches & UINT32_C(1) << i) != 0 && plan.rules[i].point == point)
			__atomic_sub_fetch(&faults->rules[i].seen, 1, __ATOMIC_RELAXED);
	}
}

uint32_t sf_fault_number(struct sf_faults *faults, const struct sf_fault_rule *rule, uint32_t max)
{
	uint32_t index = (uint32_t)(rule - plan.rules);

	return 1 + number_draw(faults, index, ~__atomic_load_n(&faults->rules[index].fired, __ATOMIC_RELAXED), max);
}
