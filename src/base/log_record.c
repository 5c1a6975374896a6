/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/log_record.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <doca_log.h>

#include "base/log_module.h"
#include "base/utf8.h"

#define REPLACEMENT "\\ufffd" /* for bytes that are not UTF-8 */

struct output {
	char *at;
	size_t size, len; /* capacity, and total length needed */
};

static void text_put(struct output *out, const char *text, size_t len)
{
	if (out->len < out->size)
		memcpy(out->at + out->len, text, len < out->size - out->len ? len : out->size - out->len);
	out->len += len;
}

static __attribute__((format(printf, 2, 3))) void put_format(struct output *out, const char *format, ...)
{
	char text[128];
	va_list args;

	va_start(args, format);
	int len = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (len > 0)
		text_put(out, text, (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1);
}

static void put_string(struct output *out, const char *text, size_t len)
{
	text_put(out, "\"", 1);
	while (len > 0) {
		size_t step = sf_utf8_len(text, len);

		if (step == 0)
			text_put(out, REPLACEMENT, strlen(REPLACEMENT));
		else if (*text == '"' || *text == '\\')
			put_format(out, "\\%c", *text);
		else if ((unsigned char)*text < 0x20 || *text == 0x7f)
			put_format(out, "\\u%04x", (unsigned)*text);
		else
			text_put(out, text, step);
		step = step == 0 ? 1 : step;
		text += step;
		len -= step;
	}
	text_put(out, "\"", 1);
}

static void put_member(struct output *out, const char *name, const char *text, size_t len)
{
	put_format(out, ",\"%s\":", name);
	put_string(out, text, len);
}

static const char *level_name(uint32_t level)
{
	static const char *const names[] = {"critical", "error", "warning", "info", "debug", "trace"};

	return level % 10 || level < DOCA_LOG_LEVEL_CRIT || level > DOCA_LOG_LEVEL_TRACE ? "" : names[level / 10 - 2];
}

size_t sf_log_json(const struct sf_log_record *r, const struct tm *utc, char *line, size_t size)
{
	struct output out = {.at = line, .size = size};
	const char *slash = strrchr(r->file, '/'), *file = slash != NULL ? slash + 1 : r->file;
	const char *program = program_invocation_short_name, *module, *message = r->text + r->head_len;
	size_t module_len, len = r->len - r->head_len;

	module = sf_log_module_of(r->file, &module_len);
	put_format(&out, "{\"time\":\"%04d-%02d-%02dT%02d:%02d:%02d.%06ldZ\"", utc->tm_year + 1900, utc->tm_mon + 1, utc->tm_mday,
		   utc->tm_hour, utc->tm_min, utc->tm_sec, (long)r->time.tv_usec);
	put_member(&out, "level", level_name(r->level), strlen(level_name(r->level)));
	put_member(&out, "program", program, strlen(program));
	put_format(&out, ",\"pid\":%d,\"tid\":%d", (int)getpid(), (int)gettid());
	put_member(&out, "module", module, module_len);
	put_member(&out, "file", file, strlen(file));
	put_format(&out, ",\"line\":%d", r->line);
	put_member(&out, "function", r->func, strlen(r->func));
	put_member(&out, "message", message, message[len - 1] == '\n' ? len - 1 : len);
	text_put(&out, "}\n", 2);
	return out.len;
}
