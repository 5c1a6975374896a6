/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a TCP channel without TLS begins, between machines whose topology says "tls": false: both sides prove that they have the
 * key. What follows is neither encrypted nor signed: an attacker that can change packets can change it, or take the channel over.
 *
 *   caller -> called   CALL     its nonce
 *   caller <- called   ANSWER   its nonce, its proof
 *   caller -> called   PROOF    its proof
 *
 * A proof is an HMAC-SHA256 by the key, of the side that makes it and of every byte of the handshake before it: version, kinds,
 * both nonces, and the proof of the called side. So what was said in one channel, or by the other side, proves nothing in
 * another. Names are not in it: all machines have one key, so any of them could say any name. Which process is called is asked
 * for behind this, by its token. Nothing here blocks.
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

/* Results that are not 0, which is: done, and the peer has the key. Those of TLS have the same meaning and the same numbers. */
#define SF_PROOF_AGAIN SF_TLS_AGAIN	/* when the socket is readable, or also when it is writable: sf_proof_wants_write */
#define SF_PROOF_CLOSED SF_TLS_CLOSED	/* by the peer, or the channel is broken */
#define SF_PROOF_REFUSED SF_TLS_REFUSED /* the keys differ */
#define SF_PROOF_FOREIGN SF_TLS_FOREIGN /* the peer has no key, or is no program of ours */
#define SF_PROOF_OTHER SF_TLS_OTHER	/* the peer speaks TLS */

struct sf_proof;

/* The socket stays the caller's. NO_MEMORY or DRIVER, logged. */
doca_error_t sf_proof_begin(int fd, bool server, const struct sf_tls_key *key, struct sf_proof **proof);

/* Goes on with the handshake. It takes no byte that is behind it from the socket. */
int sf_proof_shake(struct sf_proof *proof);

/* Does the last result AGAIN wait for room to send? */
bool sf_proof_wants_write(const struct sf_proof *proof);

/* NULL is nothing. */
void sf_proof_free(struct sf_proof *proof);

/* Of the first bytes that a peer says: do they begin such a handshake? */
bool sf_proof_begins(const void *bytes, size_t len);

#endif
