/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of a TCP channel: as they are, or by TLS; and the handshake by which both sides prove the key. Nothing here
 * blocks. */
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
	struct sf_tls *tls;	/* NULL: the bytes go as they are */
	size_t tried;		/* bytes that are encrypted and not sent */
	struct sf_proof *proof; /* NULL: no such handshake is going on */
	bool is_proven;		/* the peer has proved by an HMAC that it has the key */
};

/* Is there a handshake to be done first? Asked when the channel begins. */
static inline bool sf_stream_shakes(const struct sf_stream *stream)
{
	return stream->tls != NULL || stream->proof != NULL;
}

/* Goes on with it. 0: it is done, and the peer has the key; else SF_TLS_... of a handshake. */
int sf_stream_shake(struct sf_stream *stream);

/* Does the last result AGAIN wait for room to send? */
bool sf_stream_wants_write(const struct sf_stream *stream);

/* For log lines, behind the provider's name: what guards the bytes, with a comma before it; empty where nothing does. */
const char *sf_stream_guard(const struct sf_stream *stream);

/* As sendmsg; the bytes are one or more. By TLS at most SF_TLS_RECORD of them go at a time, and after EAGAIN those that were
 * tried are encrypted already: the next call sends them, whatever it is given, and returns how many they are. So the caller may
 * add bytes behind them, and must not give others instead of them. */
ssize_t sf_stream_send(struct sf_stream *stream, const struct iovec *iov, int num);

/* As recvmsg; 0: the end. */
ssize_t sf_stream_receive(struct sf_stream *stream, const struct iovec *iov, int num);

/* Is there something to receive that the socket does not report? */
static inline bool sf_stream_pending(const struct sf_stream *stream)
{
	return stream->tls != NULL && sf_tls_pending(stream->tls) != 0;
}

/* Closes the socket, unless it is somebody else's: then it is shut down. */
void sf_stream_close(struct sf_stream *stream, bool is_lent);

#endif
