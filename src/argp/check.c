/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>

#include "argp/check.h"
#include "argp/report.h"

static doca_error_t repeats_check(const struct sf_argp_items *items)
{
	char label[SF_ARGP_LABEL_SIZE];

	for (uint32_t i = 0; i < items->count; i++) {
		const struct doca_argp_param *param = items->list[i].param;

		/* Linear: only flags that may not repeat are counted, and the first repeated one ends the loop. */
		if (param == NULL || param->multiple || sf_argp_items_count_param(items, param) <= 1)
			continue;
		sf_argp_report("%s is given more than once", sf_argp_param_label(param, label, sizeof(label)));
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

static const struct doca_argp_param *singular_find(const struct sf_argp_items *items)
{
	for (uint32_t i = 0; i < items->count; i++) {
		if (items->list[i].param != NULL && items->list[i].param->singular)
			return items->list[i].param;
	}
	return NULL;
}

static const struct doca_argp_param *other_find(const struct sf_argp_items *items, const struct doca_argp_param *singular)
{
	for (uint32_t i = 0; i < items->count; i++) {
		const struct doca_argp_param *param = items->list[i].param;

		if (param != NULL && param != singular && !param->general)
			return param;
	}
	return NULL;
}

static doca_error_t singular_check(const struct sf_argp_items *cli, const struct sf_argp_items *file,
				   const struct doca_argp_param *singular)
{
	const struct doca_argp_param *other = other_find(cli, singular);
	char label[SF_ARGP_LABEL_SIZE], other_label[SF_ARGP_LABEL_SIZE];

	if (other == NULL)
		other = other_find(file, singular);
	if (other == NULL)
		return DOCA_SUCCESS;
	sf_argp_report("%s cannot be combined with %s", sf_argp_param_label(singular, label, sizeof(label)),
		       sf_argp_param_label(other, other_label, sizeof(other_label)));
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t mandatory_check(const struct sf_argp_items *cli, const struct sf_argp_items *file,
				    const struct doca_argp_cmd *cmd)
{
	char label[SF_ARGP_LABEL_SIZE];

	for (; cmd != NULL; cmd = cmd->parent) {
		for (const struct doca_argp_param *param = cmd->params; param != NULL; param = param->next) {
			if (!param->mandatory || sf_argp_items_count_param(cli, param) != 0 ||
			    sf_argp_items_count_param(file, param) != 0)
				continue;
			sf_argp_report("%s is missing: it is mandatory", sf_argp_param_label(param, label, sizeof(label)));
			return DOCA_ERROR_INVALID_VALUE;
		}
	}
	return DOCA_SUCCESS;
}

doca_error_t sf_argp_items_check(const struct sf_argp_items *cli, const struct sf_argp_items *file,
				 const struct doca_argp_cmd *cmd)
{
	const struct doca_argp_param *singular = singular_find(cli);
	doca_error_t result = repeats_check(cli);

	if (result != DOCA_SUCCESS)
		return result;
	if (singular == NULL)
		singular = singular_find(file);
	if (singular != NULL) /* it stands alone, so no flag is mandatory */
		return singular_check(cli, file, singular);
	return mandatory_check(cli, file, cmd);
}
