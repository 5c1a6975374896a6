/* SPDX-License-Identifier: BSD-3-Clause */
#include "validation/rules.h"

#include <string.h>
#include <strings.h>

const struct sf_rule_text sf_rules[SF_RULES] = {
#define SF_RULE(its_noun, its_number, its_object, its_rule, its_why, its_fix)                                                    \
	[SF_RULE_##its_noun##_##its_number] = {.id = "SF-" #its_noun "-" #its_number,                                            \
					       .object = (its_object),                                                           \
					       .rule = (its_rule),                                                               \
					       .why = (its_why),                                                                 \
					       .fix = (its_fix)},
#include "validation/validation_rules.def"
#undef SF_RULE
};

const struct sf_rule_text *sf_rule_find(const char *id)
{
	for (size_t i = 0; i < SF_RULES; i++) {
		if (strcasecmp(sf_rules[i].id, id) == 0)
			return &sf_rules[i];
	}
	return NULL;
}

/* ---- selection ---- */

static void choose_all(struct sf_rule_choice *choice, bool chosen)
{
	for (size_t i = 0; i < SF_RULES; i++)
		choice->chosen[i] = chosen;
}

/* A prefix ends at a dash: SF-MMAP matches all ids of memory maps, SF-MM none. */
static bool is_beginning(const char *id, const char *text, size_t len)
{
	return strncasecmp(id, text, len) == 0 && (id[len] == '\0' || id[len] == '-') && len > strlen("SF");
}

/* Applies one item. Returns whether it is valid. */
static bool item_choose(const char *text, size_t len, struct sf_rule_choice *choice)
{
	bool chosen = text[0] != '-', found = false;

	if ((len == 1 && text[0] == '1') || (len == 3 && strncasecmp(text, "all", 3) == 0)) {
		choose_all(choice, true);
		return true;
	}
	text += !chosen;
	len -= !chosen;
	for (size_t i = 0; i < SF_RULES && len < SF_RULE_ID_MAX; i++) {
		if (!is_beginning(sf_rules[i].id, text, len))
			continue;
		choice->chosen[i] = chosen;
		found = true;
	}
	return found;
}

const char *sf_rule_choose(const char *text, struct sf_rule_choice *choice, size_t *bad_len)
{
	const char *bad = NULL;

	choose_all(choice, text[0] == '-');
	if (strcmp(text, "0") == 0)
		return NULL;
	for (;; text++) {
		size_t len = strcspn(text, ",");

		if (len != 0 && !item_choose(text, len, choice) && bad == NULL) {
			bad = text;
			*bad_len = len;
		}
		text += len;
		if (*text == '\0')
			return bad;
	}
}
