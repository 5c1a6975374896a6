/* SPDX-License-Identifier: BSD-3-Clause */
#include "comch/control.h"

#include <string.h>

#include "base/little.h"

#define HANDSHAKE_MAGIC UINT32_C(0x48434653) /* SFCH */
#define REFUSAL_MAGIC UINT32_C(0x52434653)   /* SFCR */
#define ATTACH_MAGIC UINT32_C(0x41434653)    /* SFCA */
#define CONTROL_MARK 0xC0

size_t comch_handshake_pack(const struct comch_handshake *handshake, uint8_t out[COMCH_HANDSHAKE_SIZE])
{
	sf_put_le32(out, HANDSHAKE_MAGIC);
	sf_put_le32(out + 4, COMCH_WIRE_VERSION);
	sf_put_le32(out + 8, handshake->max_msg_size);
	sf_put_le32(out + 12, handshake->recv_queue_size);
	return COMCH_HANDSHAKE_SIZE;
}

doca_error_t comch_handshake_parse(const void *data, size_t len, struct comch_handshake *handshake)
{
	const uint8_t *in = (const uint8_t *)data;
	struct comch_handshake parsed;

	if (len < 8 || sf_get_le32(in) != HANDSHAKE_MAGIC)
		return DOCA_ERROR_INVALID_VALUE;
	if (sf_get_le32(in + 4) != COMCH_WIRE_VERSION)
		return DOCA_ERROR_UNSUPPORTED_VERSION;
	if (len != COMCH_HANDSHAKE_SIZE)
		return DOCA_ERROR_INVALID_VALUE;
	parsed.max_msg_size = sf_get_le32(in + 8);
	parsed.recv_queue_size = sf_get_le32(in + 12);
	if (parsed.max_msg_size == 0 || parsed.max_msg_size > COMCH_MSG_SIZE_MAX)
		return DOCA_ERROR_INVALID_VALUE;
	if (parsed.recv_queue_size == 0 || parsed.recv_queue_size > COMCH_RECV_QUEUE_MAX)
		return DOCA_ERROR_INVALID_VALUE;
	*handshake = parsed;
	return DOCA_SUCCESS;
}

size_t comch_refusal_pack(doca_error_t reason, uint8_t out[COMCH_REFUSAL_SIZE])
{
	sf_put_le32(out, REFUSAL_MAGIC);
	sf_put_le32(out + 4, (uint32_t)reason);
	return COMCH_REFUSAL_SIZE;
}

doca_error_t comch_refusal_parse(const void *data, size_t len)
{
	const uint8_t *in = (const uint8_t *)data;
	uint32_t reason;

	if (len != COMCH_REFUSAL_SIZE || sf_get_le32(in) != REFUSAL_MAGIC)
		return DOCA_ERROR_CONNECTION_ABORTED;
	reason = sf_get_le32(in + 4);
	if (reason == DOCA_SUCCESS || reason > DOCA_ERROR_DEVICE_FATAL_ERROR)
		return DOCA_ERROR_CONNECTION_ABORTED;
	return (doca_error_t)reason;
}

size_t comch_control_pack(const struct comch_control *control, uint8_t out[COMCH_CONTROL_HEADER_SIZE])
{
	out[0] = CONTROL_MARK;
	out[1] = (uint8_t)control->type;
	out[2] = out[3] = 0;
	sf_put_le32(out + 4, control->id);
	sf_put_le32(out + 8, control->value);
	return COMCH_CONTROL_HEADER_SIZE;
}

static bool control_sane(const struct comch_control *control, size_t payload_len)
{
	switch (control->type) {
	case COMCH_CONTROL_MESSAGE:
		return control->id == 0 && payload_len <= COMCH_MSG_SIZE_MAX;
	case COMCH_CONTROL_ADVERTISE:
		return control->id != 0 && control->value <= COMCH_IMM_MAX && payload_len <= COMCH_ADVERTISE_MAX;
	case COMCH_CONTROL_ACK:
		return control->id != 0 && control->value <= DOCA_ERROR_DEVICE_FATAL_ERROR && payload_len == 0;
	case COMCH_CONTROL_EXPIRE:
		return control->id != 0 && payload_len == 0;
	}
	return false;
}

doca_error_t comch_control_parse(const void *header, size_t header_len, size_t payload_len, struct comch_control *control)
{
	const uint8_t *in = (const uint8_t *)header;
	struct comch_control parsed;

	if (header_len != COMCH_CONTROL_HEADER_SIZE || in[0] != CONTROL_MARK || in[2] != 0 || in[3] != 0)
		return DOCA_ERROR_INVALID_VALUE;
	parsed.type = (enum comch_control_type)in[1];
	parsed.id = sf_get_le32(in + 4);
	parsed.value = sf_get_le32(in + 8);
	if (!control_sane(&parsed, payload_len))
		return DOCA_ERROR_INVALID_VALUE;
	*control = parsed;
	return DOCA_SUCCESS;
}

/* path, name_len, descriptor_len, name without its NUL, descriptor */
size_t comch_advertisement_pack(const struct comch_advertisement *ad, uint8_t out[COMCH_ADVERTISE_MAX])
{
	size_t name_len = strnlen(ad->name, SF_NAME_MAX - 1);

	out[0] = (uint8_t)ad->path;
	out[1] = 0;
	out[2] = (uint8_t)name_len;
	out[3] = (uint8_t)(name_len >> 8);
	sf_put_le32(out + 4, ad->descriptor_len);
	memcpy(out + 8, ad->name, name_len);
	memcpy(out + 8 + name_len, ad->descriptor, ad->descriptor_len);
	return 8 + name_len + ad->descriptor_len;
}

doca_error_t comch_advertisement_parse(const void *payload, size_t len, struct comch_advertisement *ad)
{
	const uint8_t *in = (const uint8_t *)payload;
	uint32_t name_len, descriptor_len;

	if (len < 8 || in[0] > COMCH_PATH_GPU_QUEUE || in[1] != 0)
		return DOCA_ERROR_INVALID_VALUE;
	name_len = (uint32_t)in[2] | (uint32_t)in[3] << 8;
	descriptor_len = sf_get_le32(in + 4);
	if (name_len == 0 || name_len >= SF_NAME_MAX || descriptor_len > SF_DESCRIPTOR_MAX)
		return DOCA_ERROR_INVALID_VALUE;
	if (len != (size_t)8 + name_len + descriptor_len || memchr(in + 8, 0, name_len) != NULL)
		return DOCA_ERROR_INVALID_VALUE;
	ad->path = (enum comch_path)in[0];
	memcpy(ad->name, in + 8, name_len);
	ad->name[name_len] = '\0';
	memcpy(ad->descriptor, in + 8 + name_len, descriptor_len);
	ad->descriptor_len = descriptor_len;
	return DOCA_SUCCESS;
}

size_t comch_attach_pack(const struct comch_attach *attach, uint8_t out[SF_PRIVATE_MAX])
{
	sf_put_le32(out, ATTACH_MAGIC);
	sf_put_le32(out + 4, COMCH_WIRE_VERSION);
	sf_put_le32(out + 8, (uint32_t)attach->path);
	sf_put_le32(out + 12, attach->producer_id);
	if (attach->descriptor_len > 0)
		memcpy(out + 16, attach->descriptor, attach->descriptor_len);
	return 16 + attach->descriptor_len;
}

doca_error_t comch_attach_parse(const void *data, size_t len, struct comch_attach *attach)
{
	const uint8_t *in = (const uint8_t *)data;

	if (len < 16 || len > SF_PRIVATE_MAX || sf_get_le32(in) != ATTACH_MAGIC)
		return DOCA_ERROR_INVALID_VALUE;
	if (sf_get_le32(in + 4) != COMCH_WIRE_VERSION)
		return DOCA_ERROR_UNSUPPORTED_VERSION;
	if (sf_get_le32(in + 8) > COMCH_PATH_GPU_QUEUE || sf_get_le32(in + 12) == 0)
		return DOCA_ERROR_INVALID_VALUE;
	attach->path = (enum comch_path)sf_get_le32(in + 8);
	attach->producer_id = sf_get_le32(in + 12);
	attach->descriptor = in + 16;
	attach->descriptor_len = (uint32_t)(len - 16);
	return DOCA_SUCCESS;
}
