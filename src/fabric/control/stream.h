/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of a TCP channel, plain or by TLS, and the handshake by which both sides prove the key. Nothing here blocks. */
#ifndef SF_FABRIC_CONTROL_STREAM_H
#define SF_FABRIC_CONTROL_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/tls.h"
#include "fabric/control/proof.h"

struct sf_stream {
	int fd;			/* -1: none */
	struct sf_tls *tls;	/* NULL: plain bytes */
	size_t tried;		/* bytes that are encrypted but not sent */
	struct sf_proof *proof; /* NULL: no such handshake in progress */
	bool is_proven;		/* the peer has proved by an HMAC that it has the key */
};

/* Returns true if a handshake is needed first. For a new channel. */
static inline bool sf_stream_shakes(const struct sf_stream *stream)
{
	return stream->tls != NULL || stream->proof != NULL;
}

/* Continues the handshake. 0: the peer has the key; else SF_TLS_... of a handshake. */
int sf_stream_shake(struct sf_stream *stream);

/* Returns true if the last AGAIN waits for room to send. */
bool sf_stream_wants_write(const struct sf_stream *stream);

/* For log lines, after the provider's name: the protection of the bytes, preceded by a comma; empty without one. */
const char *sf_stream_guard(const struct sf_stream *stream);

/* Like sendmsg, for at least one byte. TLS by OpenSSL sends at most SF_TLS_RECORD bytes at a time. After EAGAIN the
 * attempted bytes are already encrypted: the next call sends them, whatever its arguments, and returns their number.
 * So the caller may append bytes, but must not replace them. */
ssize_t sf_stream_send(struct sf_stream *stream, const struct iovec *iov, int num);

/* Like recvmsg; 0: the end. */
ssize_t sf_stream_receive(struct sf_stream *stream, const struct iovec *iov, int num);

/* Returns true if there is data to receive that the socket does not report. */
static inline bool sf_stream_pending(const struct sf_stream *stream)
{
	return stream->tls != NULL && sf_tls_pending(stream->tls) != 0;
}

/* Closes the socket, or only shuts it down if another owner has it. */
void sf_stream_close(struct sf_stream *stream, bool is_lent);

#endif
