/* SPDX-License-Identifier: BSD-3-Clause */
/* Erasure coding by definition, one bit of one byte at a time, for comparison. It shares no code with ISA-L or the library. */
#ifndef EC_REFERENCE_H
#define EC_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <doca_erasure_coding.h>

/* A product in GF(2^8) with x^8+x^4+x^3+x^2+1. */
static inline uint8_t ref_mul(uint8_t a, uint8_t b)
{
	uint8_t product = 0;

	for (; b != 0; b >>= 1) {
		if (b & 1)
			product ^= a;
		a = (uint8_t)(a << 1 ^ (a & 0x80 ? 0x1d : 0));
	}
	return product;
}

static inline uint8_t ref_inverse(uint8_t a)
{
	unsigned int b = 1;

	while (ref_mul(a, (uint8_t)b) != 1)
		b++;
	return (uint8_t)b;
}

/* The coefficient of data block i in redundancy block j. */
static inline uint8_t ref_coefficient(enum doca_ec_matrix_type type, size_t num_data, size_t i, size_t j)
{
	uint8_t power = 1;

	if (type == DOCA_EC_MATRIX_TYPE_CAUCHY)
		return ref_inverse((uint8_t)(i ^ (j + num_data)));
	while (j-- > 0)
		power = ref_mul(power, (uint8_t)(i + 1));
	return power;
}

/* to += factor * from */
static inline void ref_add(uint8_t *to, const uint8_t *from, uint8_t factor, size_t len)
{
	static uint8_t products[256][256];

	if (products[factor][1] != factor) { /* not filled yet */
		for (unsigned int i = 0; i < 256; i++)
			products[factor][i] = ref_mul((uint8_t)i, factor);
	}
	for (size_t i = 0; i < len; i++)
		to[i] ^= products[factor][from[i]];
}

/* Computes the redundancy blocks of data blocks that lie in a row. */
static inline void ref_create(enum doca_ec_matrix_type type, const uint8_t *data, size_t num_data, uint8_t *rdnc, size_t num_rdnc,
			      size_t size)
{
	memset(rdnc, 0, num_rdnc * size);
	for (size_t j = 0; j < num_rdnc; j++) {
		for (size_t i = 0; i < num_data; i++)
			ref_add(rdnc + j * size, data + i * size, ref_coefficient(type, num_data, i, j), size);
	}
}

/* Returns whether the first blocks that are not lost determine all blocks. By elimination. */
static inline bool ref_recoverable(enum doca_ec_matrix_type type, size_t num_data, const bool *lost)
{
	uint8_t *rows = calloc(num_data, num_data);
	size_t rank = 0;

	for (size_t block = 0, row = 0; row < num_data; block++) {
		if (lost[block])
			continue;
		for (size_t i = 0; i < num_data; i++)
			rows[row * num_data + i] =
				block < num_data ? block == i : ref_coefficient(type, num_data, i, block - num_data);
		row++;
	}
	for (size_t column = 0; column < num_data; column++) {
		size_t pivot = rank;
		uint8_t swap[256];

		while (pivot < num_data && rows[pivot * num_data + column] == 0)
			pivot++;
		if (pivot == num_data)
			continue;
		memcpy(swap, rows + pivot * num_data, num_data);
		memcpy(rows + pivot * num_data, rows + rank * num_data, num_data);
		memcpy(rows + rank * num_data, swap, num_data);
		for (size_t row = rank + 1; row < num_data; row++)
			ref_add(rows + row * num_data, swap, ref_mul(rows[row * num_data + column], ref_inverse(swap[column])),
				num_data);
		rank++;
	}
	free(rows);
	return rank == num_data;
}

#endif
