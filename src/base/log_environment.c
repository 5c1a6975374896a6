/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SOFTFIELD_LOG turns on the libraries' log lines without a call of the program. It is a comma-separated list of
 *
 *	error, warning, info, debug	the level of all modules
 *	MODULE:LEVEL			of one
 *	file=PATH			appended there, instead of printed to standard error
 *	json				as JSON lines
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/log.h"
#include "base/log_backend.h"
#include "base/log_file.h"
#include "base/log_module.h"
#include "base/nearest_word.h"

#define MISTAKES_MAX 4 /* mistakes that are reported */

struct item {
	const char *text;
	size_t len;
};

struct choice_reading {
	struct sf_log_choice choice;
	struct item file; /* empty: none */
	struct item mistakes[MISTAKES_MAX];
	size_t num_mistakes;
};

static const char *const level_names[] = {"error", "warning", "info", "debug", NULL};

static bool item_is(struct item item, const char *text)
{
	return strlen(text) == item.len && strncmp(item.text, text, item.len) == 0;
}

static uint32_t level_of(struct item item)
{
	for (uint32_t i = 0; level_names[i] != NULL; i++) {
		if (item_is(item, level_names[i]))
			return DOCA_LOG_LEVEL_ERROR + 10 * i;
	}
	return DOCA_LOG_LEVEL_DISABLE;
}

static bool read_pair(struct item item, const char *colon, struct sf_log_modules *modules)
{
	const char *name = sf_log_module_find(item.text, (size_t)(colon - item.text));
	uint32_t level = level_of((struct item){colon + 1, (size_t)(item.text + item.len - (colon + 1))});

	return name != NULL && level != DOCA_LOG_LEVEL_DISABLE && sf_log_modules_set(modules, name, level);
}

/* Returns true if the item is valid. */
static bool read_item(struct item item, struct choice_reading *reading)
{
	const char *colon = memchr(item.text, ':', item.len);
	uint32_t level = level_of(item);

	if (level != DOCA_LOG_LEVEL_DISABLE) {
		reading->choice.level = level;
	} else if (item_is(item, "json")) {
		reading->choice.json = true;
	} else if (item.len > 5 && strncmp(item.text, "file=", 5) == 0) {
		reading->file = (struct item){item.text + 5, item.len - 5};
	} else {
		return item.len == 0 || (colon != NULL && read_pair(item, colon, &reading->choice.modules));
	}
	return true;
}

static void read_list(const char *text, struct choice_reading *reading)
{
	for (;;) {
		struct item item = {text, strcspn(text, ",")};

		if (!read_item(item, reading) && reading->num_mistakes < MISTAKES_MAX)
			reading->mistakes[reading->num_mistakes++] = item;
		if (text[item.len] == '\0')
			return;
		text += item.len + 1;
	}
}

static void explain_pair(struct item item, const char *colon)
{
	const char *const *names = sf_log_module_names;
	char name[32] = "";
	size_t len = (size_t)(colon - item.text);

	if (len < sizeof(name))
		memcpy(name, item.text, len);
	if (sf_log_module_find(item.text, len) != NULL) {
		SF_LOG_ERR(
			"SOFTFIELD_LOG has \"%.*s\": a level is error, warning, info or debug, and at most %d modules have one",
			(int)(item.len < 48 ? item.len : 48), item.text, SF_LOG_MODULES_MAX);
		return;
	}

	const char *nearest = sf_nearest_word(name, names, 0);

	SF_LOG_ERR("SOFTFIELD_LOG has \"%.*s\": no module has this name; %s%s", (int)(item.len < 48 ? item.len : 48), item.text,
		   nearest != NULL ? "did you mean " : "docs/environment.md lists them", nearest != NULL ? nearest : "");
}

static void forms_explain(const struct choice_reading *reading)
{
	for (size_t i = 0; i < reading->num_mistakes; i++) {
		struct item item = reading->mistakes[i];
		const char *colon = memchr(item.text, ':', item.len);

		if (colon != NULL)
			explain_pair(item, colon);
		else
			SF_LOG_ERR("SOFTFIELD_LOG is \"%.*s\": set it to error, warning, info or debug, or to a list with "
				   "MODULE:LEVEL, "
				   "file=PATH or json; it is ignored",
				   (int)(item.len < 32 ? item.len : 32), item.text);
	}
}

/* Returns 0 or why the file cannot be opened. */
static int open_file(struct item item, struct sf_log_file **file)
{
	char path[PATH_MAX];

	if (item.len == 0)
		return 0;
	if (item.len >= sizeof(path))
		return ENAMETOOLONG;
	memcpy(path, item.text, item.len);
	path[item.len] = '\0';
	*file = sf_log_file_open(path);
	return *file != NULL ? 0 : errno;
}

static void read_log_choice(void)
{
	/* Its backend is used until the process ends. */
	static struct choice_reading reading = {.choice.level = DOCA_LOG_LEVEL_ERROR};
	const char *text = secure_getenv("SOFTFIELD_LOG");
	int error;

	if (text == NULL || text[0] == '\0')
		return;
	read_list(text, &reading);
	error = open_file(reading.file, &reading.choice.file);
	/* If the process was started without standard error, descriptor 2 is another file. */
	if (reading.choice.file == NULL && fcntl(STDERR_FILENO, F_GETFD) < 0)
		return;
	sf_log_backend_add_choice(&reading.choice);
	if (error != 0)
		SF_LOG_ERR("SOFTFIELD_LOG names the file %.*s, which cannot be opened: %s; lines go to standard error",
			   (int)reading.file.len, reading.file.text, strerror(error));
	forms_explain(&reading);
}

/* Runs when the library is loaded, so that the first line of any library is not lost. */
__attribute__((constructor)) static void environment_read(void)
{
	read_log_choice();
	sf_environment_check();
}
