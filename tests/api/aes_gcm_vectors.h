/* SPDX-License-Identifier: BSD-3-Clause */
/* Known answers for AES-GCM: the test cases of the specification that was submitted to NIST (McGrew and Viega, "The
 * Galois/Counter Mode of Operation"), those with keys and IVs that DOCA has, and the first of NIST's CAVP file
 * gcmEncryptExtIV256.rsp. In hexadecimal. */
#ifndef AES_GCM_VECTORS_H
#define AES_GCM_VECTORS_H

#define KEY_3 "feffe9928665731c6d6a8f9467308308"
#define PLAIN_60                                                                                                                 \
	"d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b" \
	"39"
#define AAD_20 "feedfacedeadbeeffeedfacedeadbeefabaddad2"

static const struct vector {
	const char *key, *iv, *aad, *plain, *cipher, *tag;
} vectors[] = {
	/* 1 */ {"00000000000000000000000000000000", "000000000000000000000000", "", "", "", "58e2fccefa7e3061367f1d57a4e7455a"},
	/* 2 */
	{"00000000000000000000000000000000", "000000000000000000000000", "", "00000000000000000000000000000000",
	 "0388dace60b6a392f328c2b971b2fe78", "ab6e47d42cec13bdf53a67b21257bddf"},
	/* 3 */
	{KEY_3, "cafebabefacedbaddecaf888", "", PLAIN_60 "1aafd255",
	 "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e0"
	 "91473f5985",
	 "4d5c2af327cd64a62cf35abd2ba6fab4"},
	/* 4 */
	{KEY_3, "cafebabefacedbaddecaf888", AAD_20, PLAIN_60,
	 "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e0"
	 "91",
	 "5bc94fbc3221a5db94fae95ae7121a47"},
	/* 5 */
	{KEY_3, "cafebabefacedbad", AAD_20, PLAIN_60,
	 "61353b4c2806934a777ff51fa22a4755699b2a714fcdc6f83766e5f97b6c742373806900e49f24b22b097544d4896b424989b5e1ebac0f07c23f45"
	 "98",
	 "3612d2e79e3b0785561be14aaca2fccb"},
	/* 13 */
	{"0000000000000000000000000000000000000000000000000000000000000000", "000000000000000000000000", "", "", "",
	 "530f8afbc74536b9a963b4f1c4cb738b"},
	/* 14 */
	{"0000000000000000000000000000000000000000000000000000000000000000", "000000000000000000000000", "",
	 "00000000000000000000000000000000", "cea7403d4d606b6e074ec5d3baf39d18", "d0d1c8a799996bf0265b98b5d48ab919"},
	/* 15 */
	{KEY_3 KEY_3, "cafebabefacedbaddecaf888", "", PLAIN_60 "1aafd255",
	 "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f6"
	 "62898015ad",
	 "b094dac5d93471bdec1a502270e3cc6c"},
	/* 16 */
	{KEY_3 KEY_3, "cafebabefacedbaddecaf888", AAD_20, PLAIN_60,
	 "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f6"
	 "62",
	 "76fc6ece0f4e1768cddf8853bb2d551b"},
	/* 17 */
	{KEY_3 KEY_3, "cafebabefacedbad", AAD_20, PLAIN_60,
	 "c3762df1ca787d32ae47c13bf19844cbaf1ae14d0b976afac52ff7d79bba9de0feb582d33934a4f0954cc2363bc73f7862ac430e64abe499f47c9b"
	 "1f",
	 "3a337dbf46a792c45e454913fe2ea8f2"},
	/* CAVP, 256 bits, no text */
	{"b52c505a37d78eda5dd34f20c22540ea1b58963cf8e5bf8ffa85f9f2492505b4", "516c33929df5a3284ff463d7", "", "", "",
	 "bdc1ac884d332457a1d2664f168c76f0"},
};

#define NUM_VECTORS (sizeof(vectors) / sizeof(vectors[0]))

#endif
