/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of rules, and the selection of rules. */
#ifndef SF_VALIDATION_RULES_H
#define SF_VALIDATION_RULES_H

#include "validation/validation.h"

#define SF_RULE_ID_MAX 24

struct sf_rule_text {
	char id[SF_RULE_ID_MAX]; /* "SF-MMAP-003" */
	const char *object, *rule, *why, *fix;
};

SF_API extern const struct sf_rule_text sf_rules[SF_RULES];

/* Finds the rule of that id, ignoring case, or NULL. */
SF_API const struct sf_rule_text *sf_rule_find(const char *id);

struct sf_rule_choice {
	bool chosen[SF_RULES];
	const char *file; /* within the text; NULL: reports go to the log */
	size_t file_len;
};

/* Parses SOFTFIELD_VALIDATE: "1" and "all" select all rules, "0" none. Otherwise a comma-separated list: an id or its beginning
 * (SF-MMAP) selects rules, a minus sign deselects them; a list that selects none starts from all. file=PATH names the file for
 * reports. Returns the first invalid item, with its length in bad_len, or NULL; valid items still apply. */
SF_API const char *sf_rule_choose(const char *text, struct sf_rule_choice *choice, size_t *bad_len);

#endif
