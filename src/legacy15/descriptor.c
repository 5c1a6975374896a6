/* SPDX-License-Identifier: BSD-3-Clause */
#include "legacy15/descriptor.h"

#include <stdbool.h>
#include <string.h>

#include <json-c/json.h>
#include <openssl/evp.h>

#include "base/log_rate.h"
#include "legacy15/legacy15.h"

#define DEPTH_MAX 4 /* nested values; a descriptor has one level */
#define BASE64_MAX ((LEGACY15_BYTES_MAX + 2) / 3 * 4)

static doca_error_t no_memory(void)
{
	SF_LOG_ERR("no memory for the JSON text of an export descriptor");
	return DOCA_ERROR_NO_MEMORY;
}

/* ---- writing ---- */

static bool object_fill(struct json_object *object, const struct legacy15_descriptor *descriptor)
{
	unsigned char base64[BASE64_MAX + 1];
	struct json_object *addr = json_object_new_int64((int64_t)descriptor->addr);
	struct json_object *len = json_object_new_int64((int64_t)descriptor->len);
	struct json_object *bytes;

	EVP_EncodeBlock(base64, descriptor->bytes, (int)descriptor->num_bytes);
	bytes = json_object_new_string((const char *)base64);
	if (addr == NULL || len == NULL || bytes == NULL) {
		json_object_put(addr);
		json_object_put(len);
		json_object_put(bytes);
		return false;
	}
	json_object_object_add(object, "addr", addr);
	json_object_object_add(object, "len", len);
	json_object_object_add(object, "descriptor", bytes);
	return json_object_object_length(object) == 3;
}

doca_error_t legacy15_descriptor_pack(const struct legacy15_descriptor *descriptor, char **text, size_t *text_len)
{
	struct json_object *object = json_object_new_object();
	const char *written = NULL;
	char *copy = NULL;

	if (object != NULL && object_fill(object, descriptor))
		written = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	if (written != NULL)
		copy = strdup(written);
	json_object_put(object);
	if (copy == NULL)
		return no_memory();
	*text = copy;
	*text_len = strlen(copy) + 1;
	return DOCA_SUCCESS;
}

/* ---- reading ---- */

static bool number_get(struct json_object *object, const char *key, uint64_t *number)
{
	struct json_object *value;

	if (!json_object_object_get_ex(object, key, &value) || !json_object_is_type(value, json_type_int) ||
	    json_object_get_int64(value) <= 0)
		return false;
	*number = (uint64_t)json_object_get_int64(value);
	return true;
}

static bool bytes_get(struct json_object *object, struct legacy15_descriptor *descriptor)
{
	unsigned char decoded[BASE64_MAX], encoded[BASE64_MAX + 1];
	struct json_object *value;
	const char *base64;
	int len, num;

	if (!json_object_object_get_ex(object, "descriptor", &value) || !json_object_is_type(value, json_type_string))
		return false;
	base64 = json_object_get_string(value);
	len = json_object_get_string_len(value);
	if (len == 0 || len % 4 != 0 || len > BASE64_MAX)
		return false;
	num = EVP_DecodeBlock(decoded, (const unsigned char *)base64, len);
	if (num != len / 4 * 3) /* EVP_DecodeBlock skips surrounding space, which pack never writes */
		return false;
	EVP_EncodeBlock(encoded, decoded, num - (base64[len - 1] == '=') - (base64[len - 2] == '='));
	if (memcmp(encoded, base64, (size_t)len) != 0) /* it ignores unused bits of the last character */
		return false;
	num -= (base64[len - 1] == '=') + (base64[len - 2] == '=');
	if (num > LEGACY15_BYTES_MAX)
		return false;
	memcpy(descriptor->bytes, decoded, (size_t)num);
	descriptor->num_bytes = (size_t)num;
	return true;
}

/* Returns the error text, or NULL for a valid object. */
static const char *object_read(struct json_object *object, struct legacy15_descriptor *descriptor)
{
	if (!json_object_is_type(object, json_type_object))
		return "is not a JSON object";
	if (!number_get(object, "addr", &descriptor->addr) || !number_get(object, "len", &descriptor->len))
		return "lacks the number \"addr\" or \"len\"";
	if (!bytes_get(object, descriptor))
		return "lacks the string \"descriptor\", or that is not base64";
	return NULL;
}

doca_error_t legacy15_descriptor_unpack(const char *text, size_t text_len, struct legacy15_descriptor *descriptor)
{
	size_t len = strnlen(text, text_len);
	struct json_tokener *tokener;
	struct json_object *object;
	const char *wrong;

	if (len == 0 || len > LEGACY15_TEXT_MAX) {
		SF_LOG_ERR_LIMITED("export descriptor of %zu characters: valid ones have 1 to %d", len, LEGACY15_TEXT_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	tokener = json_tokener_new_ex(DEPTH_MAX);
	if (tokener == NULL)
		return no_memory();
	object = json_tokener_parse_ex(tokener, text, (int)len);
	wrong = object_read(object, descriptor);
	json_object_put(object);
	json_tokener_free(tokener);
	if (wrong == NULL)
		return DOCA_SUCCESS;
	SF_LOG_ERR_LIMITED("export descriptor %s: pass the bytes of doca_mmap_export complete and unchanged", wrong);
	return DOCA_ERROR_INVALID_VALUE;
}
