/* SPDX-License-Identifier: BSD-3-Clause */
/* Everything that Comch reads from a peer: handshakes, rejections, control messages, advertisements, attaches, data headers. */
#include <assert.h>
#include <string.h>

#include "comch/control.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Accepted values must be in bounds, and must pack to the same bytes again. */

static void try_handshake(const uint8_t *data, size_t size)
{
	struct comch_handshake handshake;
	uint8_t again[COMCH_HANDSHAKE_SIZE];

	if (comch_handshake_parse(data, size, &handshake) != DOCA_SUCCESS)
		return;
	assert(handshake.max_msg_size > 0 && handshake.max_msg_size <= COMCH_MSG_SIZE_MAX);
	assert(handshake.recv_queue_size > 0 && handshake.recv_queue_size <= COMCH_RECV_QUEUE_MAX);
	assert(comch_handshake_pack(&handshake, again) == size && memcmp(again, data, size) == 0);
}

static void try_control(const uint8_t *data, size_t size)
{
	size_t header_len = size < COMCH_CONTROL_HEADER_SIZE ? size : COMCH_CONTROL_HEADER_SIZE;
	uint8_t again[COMCH_ADVERTISE_MAX];
	struct comch_advertisement ad;
	struct comch_control control;

	if (comch_control_parse(data, header_len, size - header_len, &control) != DOCA_SUCCESS)
		return;
	assert(comch_control_pack(&control, again) == header_len && memcmp(again, data, header_len) == 0);
	assert((control.id == 0) == (control.type == COMCH_CONTROL_MESSAGE));
	if (control.type != COMCH_CONTROL_ADVERTISE ||
	    comch_advertisement_parse(data + header_len, size - header_len, &ad) != DOCA_SUCCESS)
		return;
	assert(strnlen(ad.name, SF_NAME_MAX) > 0 && strnlen(ad.name, SF_NAME_MAX) < SF_NAME_MAX);
	assert(ad.descriptor_len <= SF_DESCRIPTOR_MAX);
	assert(comch_advertisement_pack(&ad, again) == size - header_len &&
	       memcmp(again, data + header_len, size - header_len) == 0);
}

static void try_attach(const uint8_t *data, size_t size)
{
	uint8_t again[SF_PRIVATE_MAX];
	struct comch_attach attach;

	if (comch_attach_parse(data, size, &attach) != DOCA_SUCCESS)
		return;
	assert(attach.descriptor_len <= COMCH_ATTACH_DESCRIPTOR_MAX);
	assert(comch_attach_pack(&attach, again) == size && memcmp(again, data, size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	doca_error_t reason = comch_refusal_parse(data, size);

	assert(reason != DOCA_SUCCESS && reason <= DOCA_ERROR_DEVICE_FATAL_ERROR);
	try_handshake(data, size);
	try_control(data, size);
	try_attach(data, size);
	if (comch_data_header_valid(data, size))
		assert(size <= sizeof(struct comch_data_header));
	return 0;
}
