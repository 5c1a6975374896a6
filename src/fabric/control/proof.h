/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The handshake of a TCP channel without TLS, between machines with "tls": false in their topology: both sides prove that they
 * have the key. Later data is neither encrypted nor signed: an attacker that can change packets can change it, or take over the
 * channel.
 *
 *   caller -> called   CALL     its nonce
 *   caller <- called   ANSWER   its nonce, its proof
 *   caller -> called   PROOF    its proof
 *
 * A proof is an HMAC-SHA256 with the key, over the role of its sender and all earlier bytes of the handshake: version, kinds,
 * both nonces, and the proof of the called side. So replayed or reflected bytes are not valid. Names are not covered: all
 * machines share one key, so any of them could claim any name. The called process is verified after this, by its token. Nothing
 * here blocks.
 */
#ifndef SF_FABRIC_CONTROL_PROOF_H
#define SF_FABRIC_CONTROL_PROOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/tls.h"

/* "SFHM": a channel begins with it, and neither a message nor a record of TLS does */
#define SF_PROOF_MAGIC "\x53\x46\x48\x4d"
#define SF_PROOF_MAGIC_SIZE 4
#define SF_PROOF_VERSION 1
#define SF_PROOF_SIZE 32 /* of a nonce, and of a proof */

enum sf_proof_kind {
	SF_PROOF_CALL = 1,
	SF_PROOF_ANSWER,
	SF_PROOF_PROOF,
};

struct sf_proof_head {
	uint8_t magic[SF_PROOF_MAGIC_SIZE];
	uint16_t version, kind;
};

struct sf_proof_call {
	struct sf_proof_head head;
	uint8_t nonce[SF_PROOF_SIZE];
};

struct sf_proof_answer {
	struct sf_proof_head head;
	uint8_t nonce[SF_PROOF_SIZE], proof[SF_PROOF_SIZE];
};

struct sf_proof_proof {
	struct sf_proof_head head;
	uint8_t proof[SF_PROOF_SIZE];
};

/* Results other than 0, which means that the peer has the key. They have the meaning and values of TLS's. */
#define SF_PROOF_AGAIN SF_TLS_AGAIN	/* when the socket is readable, or also writable: sf_proof_wants_write */
#define SF_PROOF_CLOSED SF_TLS_CLOSED	/* by the peer, or the channel is broken */
#define SF_PROOF_REFUSED SF_TLS_REFUSED /* the keys differ */
#define SF_PROOF_FOREIGN SF_TLS_FOREIGN /* the peer has no key, or is not a Softfield program */
#define SF_PROOF_OTHER SF_TLS_OTHER	/* the peer uses TLS */

struct sf_proof;

/* The caller keeps the socket. NO_MEMORY or DRIVER, logged. */
doca_error_t sf_proof_begin(int fd, bool server, const struct sf_tls_key *key, struct sf_proof **proof);

/* Continues the handshake. It reads no byte after its end from the socket. */
int sf_proof_shake(struct sf_proof *proof);

/* Returns true if the last AGAIN waits for room to send. */
bool sf_proof_wants_write(const struct sf_proof *proof);

/* NULL has no effect. */
void sf_proof_free(struct sf_proof *proof);

/* Returns true if the first bytes of a peer begin such a handshake. */
bool sf_proof_begins(const void *bytes, size_t len);

#endif
