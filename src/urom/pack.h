/* SPDX-License-Identifier: BSD-3-Clause */
/* A position in a body that is packed or parsed. After the first failure all later calls fail. */
#ifndef UROM_PACK_H
#define UROM_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <doca_error.h>

struct urom_writer {
	uint8_t *at;
	size_t room, used;
	bool failed;
};

static inline void urom_put(struct urom_writer *writer, const void *data, size_t len)
{
	if (writer->failed || len > writer->room - writer->used) {
		writer->failed = true;
		return;
	}
	if (len != 0)
		memcpy(writer->at + writer->used, data, len);
	writer->used += len;
}

static inline void urom_put_u32(struct urom_writer *writer, uint32_t value)
{
	urom_put(writer, &value, sizeof(value));
}
static inline void urom_put_u64(struct urom_writer *writer, uint64_t value)
{
	urom_put(writer, &value, sizeof(value));
}

static inline void urom_put_string(struct urom_writer *writer, const char *string)
{
	size_t len = strlen(string);

	urom_put_u32(writer, (uint32_t)len);
	urom_put(writer, string, len + 1);
}

static inline size_t urom_written(const struct urom_writer *writer)
{
	return writer->failed ? 0 : writer->used;
}

struct urom_reader {
	const uint8_t *at;
	size_t left;
	bool failed;
};

static inline const void *urom_skip(struct urom_reader *reader, size_t len)
{
	const uint8_t *data = reader->at;

	if (reader->failed || len > reader->left) {
		reader->failed = true;
		return NULL;
	}
	reader->at += len;
	reader->left -= len;
	return data;
}

static inline void urom_get(struct urom_reader *reader, void *out, size_t len)
{
	const void *data = urom_skip(reader, len);

	if (data != NULL)
		memcpy(out, data, len);
	else
		memset(out, 0, len);
}

static inline uint32_t urom_get_u32(struct urom_reader *reader)
{
	uint32_t value;

	urom_get(reader, &value, sizeof(value));
	return value;
}

static inline uint64_t urom_get_u64(struct urom_reader *reader)
{
	uint64_t value;

	urom_get(reader, &value, sizeof(value));
	return value;
}

static inline bool urom_get_bool(struct urom_reader *reader)
{
	uint32_t value = urom_get_u32(reader);

	if (value > 1)
		reader->failed = true;
	return value == 1;
}

/* A text with its NUL, and no other NUL inside; at most max bytes. */
static inline const char *urom_get_string(struct urom_reader *reader, size_t max)
{
	size_t len = urom_get_u32(reader);
	const char *string = len < max ? (const char *)urom_skip(reader, len + 1) : NULL;

	if (string != NULL && strnlen(string, len + 1) == len)
		return string;
	reader->failed = true;
	return NULL;
}

static inline void urom_copy_string(struct urom_reader *reader, char *out, size_t max)
{
	const char *string = urom_get_string(reader, max);

	if (string != NULL)
		memcpy(out, string, strlen(string) + 1);
	else
		out[0] = '\0';
}

/* A body must end with its last field. */
static inline doca_error_t urom_finished(const struct urom_reader *reader)
{
	return !reader->failed && reader->left == 0 ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

/* Data that plugins read in place is aligned to 8 bytes from the beginning of the body. */
static inline void urom_put_aligned(struct urom_writer *writer, const void *data, size_t len)
{
	static const uint8_t zeroes[8];

	urom_put_u32(writer, (uint32_t)len);
	urom_put(writer, zeroes, -writer->used & 7);
	urom_put(writer, data, len);
}

static inline const void *urom_get_aligned(struct urom_reader *reader, const void *body, size_t *len)
{
	*len = urom_get_u32(reader);
	(void)urom_skip(reader, (size_t)(-(reader->at - (const uint8_t *)body) & 7));
	return urom_skip(reader, *len);
}

#endif
