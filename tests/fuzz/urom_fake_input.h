/* SPDX-License-Identifier: BSD-3-Clause */
/* A fuzz target's input, read sequentially; after its end zeros are read. */
#ifndef UROM_FAKE_INPUT_H
#define UROM_FAKE_INPUT_H

#include <stddef.h>
#include <stdint.h>

struct fake_input {
	const uint8_t *at, *end;
};

static inline uint8_t fake_byte(struct fake_input *input)
{
	return input->at < input->end ? *input->at++ : 0;
}

/* Some unchanged bytes of it: at most max. */
static inline size_t fake_bytes(struct fake_input *input, const uint8_t **bytes, size_t max)
{
	size_t len = fake_byte(input) % (max + 1), left = (size_t)(input->end - input->at);

	len = len < left ? len : left;
	*bytes = input->at;
	input->at += len;
	return len;
}

/* In half of all cases unchanged. Otherwise some bytes differ, are missing or are added (len is at most room). */
static inline size_t fake_mutate(struct fake_input *input, uint8_t *body, size_t len, size_t room)
{
	uint8_t how = fake_byte(input);

	if (how < 128)
		return len;
	if (how < 160)
		return len != 0 ? fake_byte(input) % len : 0;
	if (how < 176) {
		size_t more = fake_byte(input) % 32;

		return len + more <= room ? len + more : room;
	}
	for (uint8_t num = how % 8 + 1; num != 0 && len != 0; num--) {
		size_t at = (size_t)fake_byte(input) << 8 | fake_byte(input);

		body[at % len] = fake_byte(input);
	}
	return len;
}

#endif
