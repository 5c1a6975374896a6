/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/descriptor.h"

#include <string.h>

#include "base/little.h"
#include "base/log.h"
#include "base/log_rate.h"

/* The bytes, little endian: magic, version, agent, token, region, addr, len, rights, what is added, checksum of all before it. */
enum offset {
	AT_MAGIC = 0,
	AT_VERSION = 4,
	AT_AGENT = 8,
	AT_TOKEN = 24,
	AT_REGION = 40,
	AT_ADDR = 48,
	AT_LEN = 56,
	AT_RIGHTS = 64,
	AT_MORE = SF_DESCRIPTOR_MORE,
};

void sf_descriptor_pack(const struct sf_descriptor_form *form, const struct sf_descriptor *descriptor, const void *more,
			uint8_t *bytes)
{
	size_t at_checksum = AT_MORE + form->more;

	memset(bytes, 0, AT_MORE);
	memcpy(bytes + AT_MAGIC, form->magic, 4);
	sf_put_le32(bytes + AT_VERSION, form->version);
	memcpy(bytes + AT_AGENT, descriptor->agent.bytes, SF_KEY_SIZE);
	memcpy(bytes + AT_TOKEN, descriptor->token.bytes, SF_KEY_SIZE);
	sf_put_le64(bytes + AT_REGION, descriptor->region);
	sf_put_le64(bytes + AT_ADDR, descriptor->addr);
	sf_put_le64(bytes + AT_LEN, descriptor->len);
	sf_put_le32(bytes + AT_RIGHTS, descriptor->rights);
	if (form->more != 0)
		memcpy(bytes + AT_MORE, more, form->more);
	sf_put_le64(bytes + at_checksum, sf_checksum(SF_CHECKSUM_BEGIN, bytes, at_checksum));
}

doca_error_t sf_descriptor_unpack(const struct sf_descriptor_form *form, const void *data, size_t len,
				  struct sf_descriptor *descriptor)
{
	const uint8_t *bytes = data;
	size_t at_checksum = AT_MORE + form->more, size = SF_DESCRIPTOR_SIZE(form->more);

	if (len < AT_AGENT || memcmp(bytes + AT_MAGIC, form->magic, 4) != 0) {
		SF_LOG_ERR_LIMITED("the %zu bytes are not a descriptor of memory exported on %s; pass all bytes of the export",
				   len, form->what);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (sf_get_le32(bytes + AT_VERSION) != form->version) {
		SF_LOG_ERR_LIMITED("the descriptor has version %u, this library reads version %u; use one release on both sides",
				   sf_get_le32(bytes + AT_VERSION), form->version);
		return DOCA_ERROR_UNSUPPORTED_VERSION;
	}
	if (len != size || sf_get_le64(bytes + at_checksum) != sf_checksum(SF_CHECKSUM_BEGIN, bytes, at_checksum)) {
		SF_LOG_ERR_LIMITED("the descriptor of %zu bytes is truncated or altered; pass all %zu bytes of the export", len,
				   size);
		return DOCA_ERROR_INVALID_VALUE;
	}
	memcpy(descriptor->agent.bytes, bytes + AT_AGENT, SF_KEY_SIZE);
	memcpy(descriptor->token.bytes, bytes + AT_TOKEN, SF_KEY_SIZE);
	descriptor->region = sf_get_le64(bytes + AT_REGION);
	descriptor->addr = sf_get_le64(bytes + AT_ADDR);
	descriptor->len = sf_get_le64(bytes + AT_LEN);
	descriptor->rights = sf_get_le32(bytes + AT_RIGHTS);
	if (descriptor->len != 0 && descriptor->len <= UINT64_MAX - descriptor->addr)
		return DOCA_SUCCESS;
	SF_LOG_ERR_LIMITED("the descriptor has an empty range or one past the end of memory");
	return DOCA_ERROR_INVALID_VALUE;
}
