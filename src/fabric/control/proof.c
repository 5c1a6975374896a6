/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/control/proof.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <openssl/crypto.h>
#include <openssl/hmac.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "fabric/control/alert.h"

/* The input of a proof. It has no padding, so both sides compute the HMAC of the same bytes. */
struct proven {
	char label[24];	    /* no other use of the key has this label */
	uint32_t by_server; /* whose proof it is */
	struct sf_proof_call call;
	struct sf_proof_answer answer; /* without the proof, in the called side's own proof */
};

static_assert(sizeof(struct proven) == 24 + 4 + 40 + 72, "a signed structure has no padding");

#define LABEL "softfield fabric, HMAC" /* 22 characters: the rest is zeros */

struct sf_proof {
	int fd;
	bool is_server, wants_write;
	enum sf_proof_kind next; /* the next frame to send or receive */
	size_t at;		 /* bytes of it already processed */
	struct sf_tls_key key;
	struct sf_proof_call call;
	struct sf_proof_answer answer;
	struct sf_proof_proof proof;
};

/* ---- proofs ---- */

static bool proof_make(const struct sf_proof *proof, bool by_server, uint8_t out[SF_PROOF_SIZE])
{
	struct proven proven = {.label = LABEL, .by_server = by_server, .call = proof->call, .answer = proof->answer};
	unsigned int len = 0;

	if (by_server)
		memset(proven.answer.proof, 0, sizeof(proven.answer.proof));
	return HMAC(EVP_sha256(), proof->key.bytes, sizeof(proof->key.bytes), (const unsigned char *)&proven, sizeof(proven), out,
		    &len) != NULL &&
	       len == SF_PROOF_SIZE;
}

static bool proof_is_valid(const struct sf_proof *proof, bool by_server, const uint8_t said[SF_PROOF_SIZE])
{
	uint8_t right[SF_PROOF_SIZE];
	const bool is_right = proof_make(proof, by_server, right) && CRYPTO_memcmp(right, said, sizeof(right)) == 0;

	explicit_bzero(right, sizeof(right));
	return is_right;
}

static bool nonce_make(uint8_t nonce[SF_PROOF_SIZE])
{
	if (getrandom(nonce, SF_PROOF_SIZE, 0) == SF_PROOF_SIZE)
		return true;
	SF_LOG_ERR_LIMITED("no random bytes from the kernel: %s", strerror(errno));
	return false;
}

/* ---- frames ---- */

static struct sf_proof_head head_of(enum sf_proof_kind kind)
{
	struct sf_proof_head head = {.version = SF_PROOF_VERSION, .kind = (uint16_t)kind};

	memcpy(head.magic, SF_PROOF_MAGIC, sizeof(head.magic));
	return head;
}

static uint8_t *frame_of(struct sf_proof *proof, size_t *size)
{
	switch (proof->next) {
	case SF_PROOF_CALL:
		*size = sizeof(proof->call);
		return (uint8_t *)&proof->call;
	case SF_PROOF_ANSWER:
		*size = sizeof(proof->answer);
		return (uint8_t *)&proof->answer;
	default:
		*size = sizeof(proof->proof);
		return (uint8_t *)&proof->proof;
	}
}

bool sf_proof_begins(const void *bytes, size_t len)
{
	return len >= SF_PROOF_MAGIC_SIZE && memcmp(bytes, SF_PROOF_MAGIC, SF_PROOF_MAGIC_SIZE) == 0;
}

/* Classifies a peer that did not send our next frame; AGAIN: more bytes must arrive. */
static int judge_other(const struct sf_proof *proof, const uint8_t *bytes, size_t len)
{
	uint8_t reason;

	if (len < SF_ALERT_HEAD_SIZE)
		return SF_PROOF_AGAIN;
	if (proof->is_server && proof->next == SF_PROOF_CALL && sf_alert_asks_for_tls(bytes, len))
		return SF_PROOF_OTHER;
	if (!sf_alert_is(bytes, len))
		return SF_PROOF_FOREIGN;
	if (!sf_alert_reason(bytes, len, &reason))
		return SF_PROOF_AGAIN;
	return reason == SF_ALERT_OTHER ? SF_PROOF_OTHER : SF_PROOF_REFUSED;
}

/* Judges the received part of a frame. 0: it may be valid. */
static int frame_judge(const struct sf_proof *proof, const uint8_t *frame)
{
	const struct sf_proof_head wanted = head_of(proof->next);
	const size_t len = proof->at < sizeof(wanted) ? proof->at : sizeof(wanted);

	return memcmp(frame, &wanted, len) == 0 ? 0 : judge_other(proof, frame, proof->at);
}

/* 0: the frame is sent. */
static int frame_send(struct sf_proof *proof)
{
	size_t size;
	const uint8_t *frame = frame_of(proof, &size);

	while (proof->at < size) {
		ssize_t sent = send(proof->fd, frame + proof->at, size - proof->at, MSG_NOSIGNAL | MSG_DONTWAIT);

		proof->wants_write = sent < 0 && errno == EAGAIN;
		if (sent < 0 && errno != EINTR)
			return proof->wants_write ? SF_PROOF_AGAIN : SF_PROOF_CLOSED;
		proof->at += sent > 0 ? (size_t)sent : 0;
	}
	return 0;
}

/* 0: the frame is received. */
static int frame_receive(struct sf_proof *proof)
{
	size_t size;
	uint8_t *frame = frame_of(proof, &size);

	while (proof->at < size) {
		ssize_t got = recv(proof->fd, frame + proof->at, size - proof->at, MSG_DONTWAIT);
		int judged;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN)
			return SF_PROOF_AGAIN;
		if (got <= 0)
			return SF_PROOF_CLOSED;
		proof->at += (size_t)got;
		judged = frame_judge(proof, frame);
		if (judged != 0 && judged != SF_PROOF_AGAIN)
			return judged;
	}
	return frame_judge(proof, frame) == 0 ? 0 : SF_PROOF_FOREIGN;
}

/* ---- the handshake ---- */

static bool is_sender(const struct sf_proof *proof)
{
	return proof->is_server == (proof->next == SF_PROOF_ANSWER);
}

/* Before a frame is sent. */
static bool frame_make(struct sf_proof *proof)
{
	switch (proof->next) {
	case SF_PROOF_CALL:
		proof->call.head = head_of(SF_PROOF_CALL);
		return nonce_make(proof->call.nonce);
	case SF_PROOF_ANSWER:
		proof->answer.head = head_of(SF_PROOF_ANSWER);
		return nonce_make(proof->answer.nonce) && proof_make(proof, true, proof->answer.proof);
	default:
		proof->proof.head = head_of(SF_PROOF_PROOF);
		return proof_make(proof, false, proof->proof.proof);
	}
}

/* Checks a received frame. */
static bool frame_holds(const struct sf_proof *proof)
{
	return proof->next == SF_PROOF_CALL ||
	       (proof->next == SF_PROOF_ANSWER && proof_is_valid(proof, true, proof->answer.proof)) ||
	       (proof->next == SF_PROOF_PROOF && proof_is_valid(proof, false, proof->proof.proof));
}

/* 0: the frame is done. */
static int frame_step(struct sf_proof *proof)
{
	int result;

	if (is_sender(proof))
		return proof->at != 0 || frame_make(proof) ? frame_send(proof) : SF_PROOF_CLOSED;
	result = frame_receive(proof);
	if (result != 0 || frame_holds(proof))
		return result;
	return SF_PROOF_REFUSED;
}

int sf_proof_shake(struct sf_proof *proof)
{
	while (proof->next <= SF_PROOF_PROOF) {
		int result = frame_step(proof);

		if (result != 0)
			return result;
		proof->next++;
		proof->at = 0;
	}
	explicit_bzero(&proof->key, sizeof(proof->key));
	return 0;
}

bool sf_proof_wants_write(const struct sf_proof *proof)
{
	return proof->wants_write;
}

doca_error_t sf_proof_begin(int fd, bool server, const struct sf_tls_key *key, struct sf_proof **out)
{
	struct sf_proof *proof;

	/* Threads may still use OpenSSL when the program exits, so it must not free anything then. */
	if (OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL) != 1) {
		SF_LOG_ERR_LIMITED("cannot set up OpenSSL for an HMAC");
		return DOCA_ERROR_DRIVER;
	}
	proof = calloc(1, sizeof(*proof));
	if (proof == NULL) {
		SF_LOG_ERR_LIMITED("no memory for the handshake of a connection");
		return DOCA_ERROR_NO_MEMORY;
	}
	proof->fd = fd;
	proof->is_server = server;
	proof->next = SF_PROOF_CALL;
	proof->key = *key;
	*out = proof;
	return DOCA_SUCCESS;
}

void sf_proof_free(struct sf_proof *proof)
{
	if (proof == NULL)
		return;
	explicit_bzero(proof, sizeof(*proof));
	free(proof);
}
