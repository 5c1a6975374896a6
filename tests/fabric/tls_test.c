/* SPDX-License-Identifier: BSD-3-Clause */
/* TLS between two sockets of this process. Where the kernel has TLS (modprobe tls) it must encrypt what is sent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>

#include "base/tls.h"
#include "support/check.h"
#include "support/log_lines.h"

#define IDENTITY "softfield tls test"
#define STREAM (16u << 20)  /* bytes of each direction */
#define CHUNK_MAX 40000u    /* more than a record */
#define SOCKET_BUFFER 16384 /* small, so that sending often has to wait */
#define LATE_MS 30000

static const struct sf_tls_key key = {.bytes = {3, 1, 4, 1, 5, 9, 2, 6}};

/* ---- two connected sockets ---- */

static void connect_sockets(int fds[2])
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), small = SOCKET_BUFFER;
	socklen_t len = sizeof(address);

	fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0 && listen(listener, 1) == 0);
	CHECK(getsockname(listener, (struct sockaddr *)&address, &len) == 0);
	CHECK(connect(fds[0], (struct sockaddr *)&address, sizeof(address)) == 0);
	fds[1] = accept(listener, NULL, NULL);
	CHECK(fds[1] >= 0);
	close(listener);
	for (int i = 0; i < 2; i++)
		CHECK(setsockopt(fds[i], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)) == 0);
}

/* The kernel says so of a socket that is not connected. */
static bool kernel_has_tls(void)
{
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(setsockopt(fd, IPPROTO_TCP, TCP_ULP, "tls", sizeof("tls")) != 0);
	const bool has = errno == ENOTCONN;
	close(fd);
	return has;
}

/* ---- one end ---- */

struct end {
	struct sf_tls *tls;
	int fd, side;
	uint64_t sent, received;
	uint32_t seed;
	/* What is being sent. It moves after each try. */
	uint8_t chunks[2][CHUNK_MAX];
	size_t len;
};

static void end_wait(const struct end *end, bool sends)
{
	struct pollfd one = {.fd = end->fd, .events = sends ? POLLIN | POLLOUT : POLLIN};

	CHECK(poll(&one, 1, LATE_MS) == 1);
}

static void end_begin(struct end *end, int fd, int side)
{
	*end = (struct end){.fd = fd, .side = side, .seed = (uint32_t)side + 1};
	CHECK(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
	CHECK_OK(sf_tls_begin(fd, side == 1, key.bytes, IDENTITY, &end->tls));
}

static int end_shake(const struct end *end)
{
	int result;

	while ((result = sf_tls_shake(end->tls)) == SF_TLS_AGAIN)
		end_wait(end, sf_tls_wants_write(end->tls));
	return result;
}

static uint8_t byte_of(int side, uint64_t at)
{
	return (uint8_t)(at * 31 + (at >> 11) + (uint64_t)side);
}

static uint32_t next_random(struct end *end)
{
	end->seed = end->seed * 1664525u + 1013904223u;
	return end->seed >> 8;
}

static bool send_some(struct end *end)
{
	const uint64_t rest = STREAM - end->sent;
	ssize_t sent;

	if (rest == 0)
		return false;
	if (end->len == 0) {
		end->len = 1 + next_random(end) % CHUNK_MAX;
		if (end->len > rest)
			end->len = rest;
		for (size_t i = 0; i < end->len; i++)
			end->chunks[0][i] = byte_of(end->side, end->sent + i);
	}
	memcpy(end->chunks[1], end->chunks[0], end->len);
	memset(end->chunks[0], 0xee, end->len);
	sent = sf_tls_write(end->tls, end->chunks[1], end->len);
	CHECK(sent > 0 || sent == SF_TLS_AGAIN);
	if (sent == SF_TLS_AGAIN)
		sent = 0;
	memcpy(end->chunks[0], end->chunks[1] + sent, end->len - (size_t)sent);
	memset(end->chunks[1], 0xee, end->len);
	end->len -= (size_t)sent;
	end->sent += (uint64_t)sent;
	return sent != 0;
}

static bool receive_some(struct end *end)
{
	uint8_t bytes[CHUNK_MAX];
	ssize_t got = end->received == STREAM ? SF_TLS_AGAIN : sf_tls_read(end->tls, bytes, 1 + next_random(end) % sizeof(bytes));

	CHECK(got > 0 || got == SF_TLS_AGAIN);
	for (ssize_t i = 0; i < got; i++)
		CHECK(bytes[i] == byte_of(!end->side, end->received++));
	return got > 0;
}

static void *end_stream(void *arg)
{
	struct end *end = arg;

	CHECK(end_shake(end) == 0);
	while (end->sent != STREAM || end->received != STREAM) {
		const bool did = send_some(end), got = receive_some(end);

		if (!did && !got)
			end_wait(end, end->sent != STREAM);
	}
	return NULL;
}

static void end_end(struct end *end)
{
	sf_tls_free(end->tls);
	close(end->fd);
}

/* ---- tests ---- */

static void bytes_go_both_ways_in_order(void **state)
{
	static struct end ends[2];
	pthread_t other;
	uint8_t byte;
	int fds[2];

	(void)state;
	connect_sockets(fds);
	end_begin(&ends[0], fds[0], 0);
	end_begin(&ends[1], fds[1], 1);
	assert_int_equal(pthread_create(&other, NULL, end_stream, &ends[1]), 0);
	end_stream(&ends[0]);
	assert_int_equal(pthread_join(other, NULL), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(sf_tls_kernel_sends(ends[i].tls), kernel_has_tls());

	sf_tls_end(ends[0].tls);
	end_wait(&ends[1], false);
	assert_int_equal(sf_tls_read(ends[1].tls, &byte, 1), SF_TLS_CLOSED);
	end_end(&ends[0]);
	end_end(&ends[1]);
	assert_int_equal(log_lines_count(), 0);
}

/* No call raises SIGPIPE, at whatever point the peer goes. */
static void a_peer_goes_during_the_handshake(void **state)
{
	(void)state;
	for (int side = 0; side < 2; side++) {
		for (int steps = 0; steps < 3; steps++) {
			static struct end ends[2];
			int fds[2], result;

			connect_sockets(fds);
			end_begin(&ends[0], fds[0], 0);
			end_begin(&ends[1], fds[1], 1);
			for (int i = 0; i < steps; i++) {
				(void)sf_tls_shake(ends[i % 2].tls);
				if (i + 1 < steps)
					end_wait(&ends[1 - i % 2], false);
			}
			end_end(&ends[!side]);
			do {
				end_wait(&ends[side], false);
				result = sf_tls_shake(ends[side].tls);
			} while (result == SF_TLS_AGAIN);
			/* After two steps the client has all that it needs. */
			assert_int_equal(result, side == 0 && steps == 2 ? 0 : SF_TLS_CLOSED);
			end_end(&ends[side]);
		}
	}
}

/* ---- a peer that uses OpenSSL directly ---- */

static int peer_use_key(SSL *ssl, const EVP_MD *digest, const unsigned char **identity, size_t *len, SSL_SESSION **session)
{
	static const unsigned char aes_128_gcm_sha256[] = {0x13, 0x01};

	(void)digest;
	*session = SSL_SESSION_new();
	CHECK(SSL_SESSION_set1_master_key(*session, key.bytes, sizeof(key.bytes)) == 1 &&
	      SSL_SESSION_set_cipher(*session, SSL_CIPHER_find(ssl, aes_128_gcm_sha256)) == 1 &&
	      SSL_SESSION_set_protocol_version(*session, TLS1_3_VERSION) == 1);
	*identity = (const unsigned char *)IDENTITY;
	*len = strlen(IDENTITY);
	return 1;
}

/* Asks for new keys, says "x", and is gone before the answer. */
static void *peer_asks_for_new_keys(void *arg)
{
	const int fd = *(int *)arg;
	const struct linger at_once = {.l_onoff = 1};
	SSL_CTX *context = SSL_CTX_new(TLS_client_method());
	SSL *ssl;

	SSL_CTX_set_psk_use_session_callback(context, peer_use_key);
	ssl = SSL_new(context);
	CHECK(SSL_set_fd(ssl, fd) == 1 && SSL_connect(ssl) == 1);
	CHECK(SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED) == 1 && SSL_write(ssl, "x", 1) == 1);
	SSL_free(ssl);
	SSL_CTX_free(context);
	CHECK(setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)) == 0);
	CHECK(shutdown(fd, SHUT_RD) == 0);
	return NULL;
}

static void a_peer_asks_for_new_keys_and_goes(void **state)
{
	static struct end end;
	pthread_t peer;
	uint8_t byte;
	int fds[2];
	ssize_t got;

	(void)state;
	connect_sockets(fds);
	assert_int_equal(pthread_create(&peer, NULL, peer_asks_for_new_keys, &fds[0]), 0);
	end_begin(&end, fds[1], 1);
	assert_int_equal(end_shake(&end), 0);
	assert_int_equal(pthread_join(peer, NULL), 0);
	close(fds[0]);
	do {
		end_wait(&end, false);
		got = sf_tls_read(end.tls, &byte, 1);
	} while (got == SF_TLS_AGAIN || got == 1);
	assert_int_equal(got, SF_TLS_CLOSED);
	(void)sf_tls_write(end.tls, "y", 1); /* which the kernel may take */
	end_end(&end);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_go_both_ways_in_order),
		cmocka_unit_test(a_peer_goes_during_the_handshake),
		cmocka_unit_test(a_peer_asks_for_new_keys_and_goes),
	};

	return cmocka_run_group_tests_name("tls", tests, log_lines_setup, NULL);
}
