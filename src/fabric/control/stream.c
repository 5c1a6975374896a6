/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/control/stream.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define RECEIVE_MAX (4 * SF_TLS_RECORD) /* bytes of one call, so that a fast peer does not keep the caller busy */

/* ---- the handshake ---- */

int sf_stream_shake(struct sf_stream *stream)
{
	int result;

	if (stream->proof == NULL)
		return sf_tls_shake(stream->tls);
	result = sf_proof_shake(stream->proof);
	if (result != 0)
		return result;
	sf_proof_free(stream->proof);
	stream->proof = NULL;
	stream->is_proven = true;
	return 0;
}

bool sf_stream_wants_write(const struct sf_stream *stream)
{
	return stream->proof != NULL ? sf_proof_wants_write(stream->proof) : sf_tls_wants_write(stream->tls);
}

const char *sf_stream_guard(const struct sf_stream *stream)
{
	if (stream->tls != NULL)
		return sf_tls_kernel_sends(stream->tls) ? ", TLS by the kernel" : ", TLS";
	return stream->is_proven ? ", HMAC only" : "";
}

/* ---- by TLS ---- */

/* Gathers at most one record of bytes. Returns the count. */
static size_t record_gather(const struct iovec *iov, int num, uint8_t record[SF_TLS_RECORD])
{
	size_t len = 0;

	for (int i = 0; i < num && len < SF_TLS_RECORD; i++) {
		const size_t room = SF_TLS_RECORD - len, part = iov[i].iov_len < room ? iov[i].iov_len : room;

		memcpy(record + len, iov[i].iov_base, part);
		len += part;
	}
	return len;
}

static ssize_t send_record(struct sf_stream *stream, const struct iovec *iov, int num)
{
	uint8_t record[SF_TLS_RECORD];
	const bool is_whole = iov[0].iov_len >= SF_TLS_RECORD;
	const void *bytes = is_whole ? iov[0].iov_base : record;
	size_t len = is_whole ? SF_TLS_RECORD : record_gather(iov, num, record);
	ssize_t sent;

	if (stream->tried != 0)
		len = stream->tried;
	sent = sf_tls_write(stream->tls, bytes, len);
	stream->tried = sent == SF_TLS_AGAIN ? len : 0;
	if (sent >= 0)
		return sent;
	errno = sent == SF_TLS_AGAIN ? EAGAIN : EPIPE;
	return -1;
}

static ssize_t receive_records(struct sf_stream *stream, const struct iovec *iov, int num)
{
	ssize_t all = 0, got = 0;

	for (int i = 0; i < num && got >= 0; i++) {
		for (size_t at = 0; at < iov[i].iov_len && all < RECEIVE_MAX; at += (size_t)got) {
			got = sf_tls_read(stream->tls, (uint8_t *)iov[i].iov_base + at, iov[i].iov_len - at);
			if (got < 0)
				break;
			all += got;
		}
	}
	if (all != 0 || got == SF_TLS_CLOSED)
		return all;
	errno = EAGAIN;
	return -1;
}

/* ---- either way ---- */

ssize_t sf_stream_send(struct sf_stream *stream, const struct iovec *iov, int num)
{
	const struct msghdr msg = {.msg_iov = (struct iovec *)(uintptr_t)iov, .msg_iovlen = (size_t)num};

	if (stream->tls != NULL && !sf_tls_kernel_sends(stream->tls))
		return send_record(stream, iov, num);
	if (num == 1) /* cheaper */
		return send(stream->fd, iov->iov_base, iov->iov_len, MSG_NOSIGNAL | MSG_DONTWAIT);
	return sendmsg(stream->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}

ssize_t sf_stream_receive(struct sf_stream *stream, const struct iovec *iov, int num)
{
	struct msghdr msg = {.msg_iov = (struct iovec *)(uintptr_t)iov, .msg_iovlen = (size_t)num};

	if (stream->tls != NULL)
		return receive_records(stream, iov, num);
	if (num == 1) /* cheaper, which counts where an idle socket is polled */
		return recv(stream->fd, iov->iov_base, iov->iov_len, MSG_DONTWAIT);
	return recvmsg(stream->fd, &msg, MSG_DONTWAIT);
}

void sf_stream_close(struct sf_stream *stream, bool is_lent)
{
	sf_tls_free(stream->tls);
	sf_proof_free(stream->proof);
	if (is_lent)
		(void)shutdown(stream->fd, SHUT_RDWR);
	else if (stream->fd >= 0)
		close(stream->fd);
	*stream = (struct sf_stream){.fd = -1};
}
