/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts of SOFTFIELD_FAULTS, which may come from a file: each gives a plan whose rules are within their bounds, or a sentence. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/faults_parse.h"
#include "support/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void rule_check(const struct sf_fault_rule *rule)
{
	CHECK((unsigned)rule->point < SF_FAULT_POINTS);
	CHECK((unsigned)sf_fault_point_kind(rule->point) < SF_FAULT_KINDS);
	CHECK(sf_fault_point_name(rule->point)[0] != '\0');
	CHECK(rule->rate <= SF_FAULT_ALWAYS && rule->ms <= SF_FAULT_MS_MAX);
	CHECK(rule->nth <= UINT32_MAX && rule->after <= UINT32_MAX && rule->every <= UINT32_MAX && rule->count <= UINT32_MAX);
	CHECK(strnlen(rule->on, sizeof(rule->on)) < sizeof(rule->on));
	CHECK(strnlen(rule->peer, sizeof(rule->peer)) < sizeof(rule->peer));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct sf_fault_plan plan;
	char error[SF_FAULT_ERROR_MAX],
		*text = malloc(size != 0 ? size : 1); /* a separate allocation, so that a read beyond the end is detected */

	CHECK(text != NULL);
	memcpy(text, data, size);
	memset(error, 0xff, sizeof(error));
	if (sf_fault_plan_parse(text, size, &plan, error)) {
		CHECK(plan.num_rules <= SF_FAULT_RULES_MAX);
		for (uint32_t i = 0; i < plan.num_rules; i++)
			rule_check(&plan.rules[i]);
	} else {
		CHECK(error[0] != '\0' && strnlen(error, sizeof(error)) < sizeof(error));
	}
	free(text);
	return 0;
}
