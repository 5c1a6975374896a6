/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports the objects that are left at the end of the process. */
#include <stdio.h>
#include <string.h>

#include "validation/object.h"
#include "validation/report.h"
#include "validation/rules.h"
#include "validation/site.h"

#define LEAKS_MAX 32 /* leaks reported one by one */

/* Does not use the log: its backends may be functions of the program, which has been torn down already. */
static void leak_report(const struct sf_object *leak)
{
	char object[SF_OBJECT_TEXT_MAX], site[SF_SITE_TEXT_MAX], state[SF_OBJECT_TEXT_MAX] = "", line[1024];

	if (leak->describe != NULL)
		leak->describe(leak->address, state, sizeof(state));
	snprintf(line, sizeof(line),
		 "%s: %s: end of the program: it was not destroyed%s%s%s; created at %s by thread %d; fix: %s",
		 sf_rules[SF_RULE_EXIT_001].id, sf_object_text(leak->address, leak->type, object, sizeof(object)),
		 state[0] != '\0' ? " (" : "", state, state[0] != '\0' ? ")" : "",
		 sf_site_text(leak->created_at, site, sizeof(site)), leak->thread, sf_rules[SF_RULE_EXIT_001].fix);
	sf_report_write(line);
}

/* Runs after the destructors of the program and of the libraries that depend on this one. */
static __attribute__((destructor)) void leaks_report(void)
{
	struct sf_object *leaks[LEAKS_MAX];
	char line[64];
	size_t num;

	if (!sf_rule_is_chosen(SF_RULE_EXIT_001))
		return;
	num = sf_object_leaks(leaks, LEAKS_MAX);
	for (size_t i = 0; i < num && i < LEAKS_MAX; i++)
		leak_report(leaks[i]);
	if (num <= LEAKS_MAX)
		return;
	snprintf(line, sizeof(line), "%s: %zu more objects", sf_rules[SF_RULE_EXIT_001].id, num - LEAKS_MAX);
	sf_report_write(line);
}
