/* SPDX-License-Identifier: BSD-3-Clause */
/* Error lines, which may come from a file: whatever their bytes, each text of the explanation must be terminated. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/explain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The next text of the input, which ends with a zero or at the end of the input. */
static char *next(const uint8_t **data, size_t *size)
{
	size_t len = strnlen((const char *)*data, *size), taken = len < *size ? len + 1 : len;
	char *text = malloc(len + 1);

	if (text == NULL)
		abort();
	memcpy(text, *data, len);
	text[len] = '\0';
	*data += taken;
	*size -= taken;
	return text;
}

static void must_end(const char *text, size_t size)
{
	if (strnlen(text, size) == size)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *file = next(&data, &size), *func = next(&data, &size), *message = next(&data, &size);
	struct softfield_error error;

	memset(&error, 0xff, sizeof(error));
	sf_explain(file, 1, func, message, &error);
	must_end(error.object, sizeof(error.object));
	must_end(error.call, sizeof(error.call));
	must_end(error.argument, sizeof(error.argument));
	must_end(error.rule, sizeof(error.rule));
	must_end(error.cause, sizeof(error.cause));
	must_end(error.fix, sizeof(error.fix));
	must_end(error.file, sizeof(error.file));
	must_end(error.function, sizeof(error.function));
	must_end(error.message, sizeof(error.message));
	free(message);
	free(func);
	free(file);
	return 0;
}
