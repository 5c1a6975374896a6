/* SPDX-License-Identifier: BSD-3-Clause */
#include "validation/rules.h"

#include <string.h>
#include <strings.h>

#define FILE_ITEM "file="

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

static bool is_file(const char *text, size_t len)
{
	return len > strlen(FILE_ITEM) && strncmp(text, FILE_ITEM, strlen(FILE_ITEM)) == 0;
}

static bool list_selects(const char *text)
{
	while (*text != '\0') {
		size_t len = strcspn(text, ",");

		if (len != 0 && text[0] != '-' && !is_file(text, len))
			return true;
		text += len + (text[len] == ',');
	}
	return false;
}

/* Applies one item. Returns whether it is valid. */
static bool item_choose(const char *text, size_t len, struct sf_rule_choice *choice)
{
	bool chosen = text[0] != '-', found = false;

	if (is_file(text, len)) {
		choice->file = text + strlen(FILE_ITEM);
		choice->file_len = len - strlen(FILE_ITEM);
		return true;
	}
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

	choose_all(choice, !list_selects(text));
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
