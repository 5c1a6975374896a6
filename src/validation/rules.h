/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of rules, and which of them are chosen. */
#ifndef SF_VALIDATION_RULES_H
#define SF_VALIDATION_RULES_H

#include "validation/validation.h"

#define SF_RULE_ID_MAX 24

struct sf_rule_text {
	char id[SF_RULE_ID_MAX]; /* "SF-MMAP-003" */
	const char *object, *rule, *why, *fix;
};

SF_API extern const struct sf_rule_text sf_rules[SF_RULES];

/* The rule of that id, in any case, or NULL. */
SF_API const struct sf_rule_text *sf_rule_find(const char *id);

struct sf_rule_choice {
	bool chosen[SF_RULES];
};

/* What SOFTFIELD_VALIDATE says: "1" and "all" are all rules, "0" none, else a list with commas: an id or its beginning
 * (SF-MMAP) chooses, with a minus sign it leaves out; a list that only leaves out begins with all. Returns the first item that is
 * none of these, with its length in bad_len, or NULL; the others count. */
SF_API const char *sf_rule_choose(const char *text, struct sf_rule_choice *choice, size_t *bad_len);

#endif
