/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argp/dpdk.h"
#include "argp/report.h"

doca_error_t sf_argp_eal_add(struct sf_argp_eal *eal, const char *word)
{
	if (eal->argc == SF_ARGP_EAL_ARGS_MAX) {
		sf_argp_report("more than %d arguments for DPDK", SF_ARGP_EAL_ARGS_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	eal->argv[eal->argc] = strdup(word);
	if (eal->argv[eal->argc] == NULL) {
		sf_argp_report("out of memory for DPDK's flags");
		return DOCA_ERROR_NO_MEMORY;
	}
	eal->argc++;
	return DOCA_SUCCESS;
}

static doca_error_t pair_add(struct sf_argp_eal *eal, const char *flag, const char *value)
{
	doca_error_t result = sf_argp_eal_add(eal, flag);

	return result == DOCA_SUCCESS ? sf_argp_eal_add(eal, value) : result;
}

static const char *member_string(struct json_object *object, const char *key)
{
	struct json_object *member = NULL;

	if (!json_object_object_get_ex(object, key, &member) || !json_object_is_type(member, json_type_string))
		return NULL;
	return json_object_get_string(member);
}

/* {"device": "pf"|"vf"|"sf"|..., "id": "..."}: an SF is named by its number, the others by their PCI address. */
static doca_error_t device_add(struct sf_argp_eal *eal, struct json_object *entry, const char *origin)
{
	char word[SF_ARGP_EAL_ARG_SIZE];
	const char *kind, *id;
	int len;

	if (!json_object_is_type(entry, json_type_object) || (kind = member_string(entry, "device")) == NULL ||
	    (id = member_string(entry, "id")) == NULL) {
		sf_argp_report("%s: an entry of \"devices\" needs the strings \"device\" and \"id\"", origin);
		return DOCA_ERROR_INVALID_VALUE;
	}
	len = snprintf(word, sizeof(word), "%s%s", strcmp(kind, "sf") == 0 ? "auxiliary:mlx5_core.sf." : "", id);
	if (len < 0 || (size_t)len >= sizeof(word)) {
		sf_argp_report("%s: the id of a device in \"devices\" is too long", origin);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return pair_add(eal, "-a", word);
}

static doca_error_t devices_add(struct sf_argp_eal *eal, struct json_object *devices, const char *origin)
{
	doca_error_t result = DOCA_SUCCESS;

	if (!json_object_is_type(devices, json_type_array)) {
		sf_argp_report("%s: \"devices\" is not an array", origin);
		return DOCA_ERROR_INVALID_VALUE;
	}
	for (size_t i = 0; i < json_object_array_length(devices) && result == DOCA_SUCCESS; i++)
		result = device_add(eal, json_object_array_get_idx(devices, i), origin);
	return result;
}

static doca_error_t core_mask_add(struct sf_argp_eal *eal, struct json_object *mask, const char *origin)
{
	char word[32];

	if (json_object_is_type(mask, json_type_string))
		return pair_add(eal, "-c", json_object_get_string(mask));
	if (!json_object_is_type(mask, json_type_int) || json_object_get_int64(mask) <= 0) {
		sf_argp_report("%s: \"core-mask\" is neither a positive number nor a string", origin);
		return DOCA_ERROR_INVALID_VALUE;
	}
	snprintf(word, sizeof(word), "0x%" PRIx64, json_object_get_uint64(mask));
	return pair_add(eal, "-c", word);
}

/* Adds flags from one string of words separated by spaces. */
static doca_error_t words_add(struct sf_argp_eal *eal, const char *text)
{
	doca_error_t result = DOCA_SUCCESS;

	while (result == DOCA_SUCCESS && *(text += strspn(text, " \t")) != '\0') {
		size_t len = strcspn(text, " \t");
		char word[SF_ARGP_EAL_ARG_SIZE];

		if (len >= sizeof(word)) {
			sf_argp_report("an argument for DPDK is longer than %zu characters", sizeof(word) - 1);
			return DOCA_ERROR_INVALID_VALUE;
		}
		memcpy(word, text, len);
		word[len] = '\0';
		text += len;
		result = sf_argp_eal_add(eal, word);
	}
	return result;
}

static doca_error_t entry_add(struct sf_argp_eal *eal, const char *key, struct json_object *value, const char *origin)
{
	bool core_list = strcmp(key, "core-list") == 0;

	if (strcmp(key, "devices") == 0)
		return devices_add(eal, value, origin);
	if (strcmp(key, "core-mask") == 0)
		return core_mask_add(eal, value, origin);
	if (!core_list && strcmp(key, "flags") != 0) {
		sf_argp_report("%s: unknown DPDK flag \"%s\": use devices, core-mask, core-list or flags", origin, key);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	if (!json_object_is_type(value, json_type_string)) {
		sf_argp_report("%s: \"%s\" is not a string", origin, key);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return core_list ? pair_add(eal, "-l", json_object_get_string(value)) : words_add(eal, json_object_get_string(value));
}

doca_error_t sf_argp_eal_add_json(struct sf_argp_eal *eal, struct json_object *section, const char *origin)
{
	struct json_object_iterator at = json_object_iter_begin(section);
	struct json_object_iterator end = json_object_iter_end(section);
	doca_error_t result = DOCA_SUCCESS;

	for (; !json_object_iter_equal(&at, &end) && result == DOCA_SUCCESS; json_object_iter_next(&at))
		result = entry_add(eal, json_object_iter_peek_name(&at), json_object_iter_peek_value(&at), origin);
	return result;
}

/* Returns whether the word is a DOCA flag that does not need DPDK. */
static bool word_is_doca(const char *word)
{
	static const char *const words[] = {"-h", "--help", "-v", "--version", "-j", "--json"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(word, words[i]) == 0)
			return true;
	}
	return strncmp(word, "--json=", strlen("--json=")) == 0;
}

doca_error_t sf_argp_eal_split(struct sf_argp_eal *eal, int argc, char **argv, int *doca_argc, char ***doca_argv)
{
	doca_error_t result = DOCA_SUCCESS;
	int eal_argc = 0;

	while (eal_argc < argc && strcmp(argv[eal_argc], "--") != 0)
		eal_argc++;
	*doca_argc = eal_argc == argc ? 0 : argc - eal_argc - 1;
	*doca_argv = eal_argc == argc ? argv + argc : argv + eal_argc + 1;
	if (eal_argc == argc && argc > 0 && word_is_doca(argv[0])) {
		*doca_argc = argc;
		*doca_argv = argv;
		eal_argc = 0;
	}
	for (int i = 0; i < eal_argc && result == DOCA_SUCCESS; i++)
		result = sf_argp_eal_add(eal, argv[i]);
	return result;
}

void sf_argp_eal_fini(struct sf_argp_eal *eal)
{
	for (int i = 0; i < eal->argc; i++)
		free(eal->argv[i]);
	memset(eal, 0, sizeof(*eal));
}
