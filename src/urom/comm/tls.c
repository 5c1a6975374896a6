/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TLS 1.3 with an external pre-shared key (RFC 8446, 4.2.11) and an ephemeral key exchange. There are no certificates, tickets or
 * early data: who has not the key does not get past the first message.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "base/log_rate.h"
#include "urom/comm/comm_private.h"

#define IDENTITY "softfield urom"
#define CIPHER "TLS_AES_128_GCM_SHA256"

struct comm_tls {
	SSL_CTX *context;
	BIO_METHOD *method;
};

/* ---- the socket, without SIGPIPE ---- */

static int fd_of(BIO *bio) { return ((const struct comm_peer *)BIO_get_data(bio))->fd; }

static int take_result(BIO *bio, ssize_t result, int retry)
{
	BIO_clear_retry_flags(bio);
	if (result < 0 && (errno == EAGAIN || errno == EINTR))
		BIO_set_flags(bio, retry | BIO_FLAGS_SHOULD_RETRY);
	return (int)result;
}

static int bio_write(BIO *bio, const char *data, int len)
{
	return take_result(bio, send(fd_of(bio), data, (size_t)len, MSG_NOSIGNAL | MSG_DONTWAIT), BIO_FLAGS_WRITE);
}

static int bio_read(BIO *bio, char *out, int room)
{
	return take_result(bio, recv(fd_of(bio), out, (size_t)room, MSG_DONTWAIT), BIO_FLAGS_READ);
}

static long bio_ctrl(BIO *bio, int command, long number, void *pointer)
{
	(void)bio;
	(void)number;
	(void)pointer;
	return command == BIO_CTRL_FLUSH;
}

/* ---- the key ---- */

/* What OpenSSL takes an external key as: the session of a connection that never was. */
static SSL_SESSION *make_session(SSL *tls)
{
	static const unsigned char aes_128_gcm_sha256[] = {0x13, 0x01};
	const struct comm_peer *peer = (const struct comm_peer *)SSL_get_app_data(tls);
	const SSL_CIPHER *cipher = SSL_CIPHER_find(tls, aes_128_gcm_sha256);
	SSL_SESSION *session = SSL_SESSION_new();
	if (cipher != NULL && session != NULL && SSL_SESSION_set1_master_key(session, peer->key.bytes, sizeof(peer->key.bytes)) == 1 &&
	    SSL_SESSION_set_cipher(session, cipher) == 1 && SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1)
		return session;
	SSL_SESSION_free(session);
	return NULL;
}

static int use_key(SSL *tls, const EVP_MD *digest, const unsigned char **identity, size_t *len, SSL_SESSION **session)
{
	*session = NULL;
	if (digest != NULL && EVP_MD_type(digest) != NID_sha256)
		return 1; /* of another cipher, which was not offered */
	*session = make_session(tls);
	*identity = (const unsigned char *)IDENTITY;
	*len = sizeof(IDENTITY) - 1;
	return *session != NULL;
}

static int find_key(SSL *tls, const unsigned char *identity, size_t len, SSL_SESSION **session)
{
	bool ours = len == sizeof(IDENTITY) - 1 && memcmp(identity, IDENTITY, len) == 0;
	*session = ours ? make_session(tls) : NULL;
	return *session != NULL || !ours;
}

/* ---- the context ---- */

static bool set_up(struct comm_tls *tls)
{
	tls->method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "urom");
	tls->context = SSL_CTX_new(TLS_method());
	if (tls->method == NULL || tls->context == NULL)
		return false;
	BIO_meth_set_write(tls->method, bio_write);
	BIO_meth_set_read(tls->method, bio_read);
	BIO_meth_set_ctrl(tls->method, bio_ctrl);
	SSL_CTX_set_options(tls->context, SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION);
	SSL_CTX_set_session_cache_mode(tls->context, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_mode(tls->context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_verify(tls->context, SSL_VERIFY_PEER, NULL); /* by no authority: a certificate never does */
	SSL_CTX_set_psk_use_session_callback(tls->context, use_key);
	SSL_CTX_set_psk_find_session_callback(tls->context, find_key);
	return SSL_CTX_set_min_proto_version(tls->context, TLS1_3_VERSION) == 1 &&
	       SSL_CTX_set_max_proto_version(tls->context, TLS1_3_VERSION) == 1 && SSL_CTX_set_ciphersuites(tls->context, CIPHER) == 1 &&
	       SSL_CTX_set1_groups_list(tls->context, "X25519:P-256") == 1 && SSL_CTX_set_num_tickets(tls->context, 0) == 1;
}

static void free_tls(struct comm_tls *tls)
{
	SSL_CTX_free(tls->context);
	BIO_meth_free(tls->method);
	free(tls);
}

static doca_error_t open_tls(struct sf_comm *comm)
{
	if (comm->tls != NULL)
		return DOCA_SUCCESS;
	struct comm_tls *tls = (struct comm_tls *)calloc(1, sizeof(*tls));
	if (tls != NULL && set_up(tls)) {
		comm->tls = tls;
		return DOCA_SUCCESS;
	}
	SF_LOG_ERR("urom: OpenSSL cannot be set up for TLS 1.3: %s", ERR_reason_error_string(ERR_get_error()));
	if (tls != NULL)
		free_tls(tls);
	return DOCA_ERROR_DRIVER;
}

void comm_tls_close(struct sf_comm *comm)
{
	if (comm->tls != NULL)
		free_tls(comm->tls);
	comm->tls = NULL;
}

/* ---- one connection ---- */

doca_error_t comm_tls_begin(struct comm_peer *peer, bool server)
{
	doca_error_t result = open_tls(peer->comm);
	if (result != DOCA_SUCCESS)
		return result;
	peer->tls = SSL_new(peer->comm->tls->context);
	BIO *bio = peer->tls != NULL ? BIO_new(peer->comm->tls->method) : NULL;
	if (bio == NULL) {
		SF_LOG_ERR_LIMITED("urom: no memory for a connection by TLS");
		return DOCA_ERROR_NO_MEMORY;
	}
	BIO_set_data(bio, peer);
	BIO_set_init(bio, 1);
	SSL_set_bio(peer->tls, bio, bio);
	(void)SSL_set_app_data(peer->tls, peer);
	if (!server) {
		SSL_set_connect_state(peer->tls);
		return DOCA_SUCCESS;
	}
	SSL_set_accept_state(peer->tls);
	/* A server that verifies takes sessions of its own context only; a client has none. */
	return SSL_set_session_id_context(peer->tls, (const unsigned char *)IDENTITY, sizeof(IDENTITY) - 1) == 1 ? DOCA_SUCCESS
														 : DOCA_ERROR_DRIVER;
}

/* An alert of the other end's: to a handshake that is right but for the key. */
static bool is_alert(unsigned long error)
{
	return ERR_GET_LIB(error) == ERR_LIB_SSL && ERR_GET_REASON(error) >= SSL_AD_REASON_OFFSET;
}

static int take_error(struct comm_peer *peer, int result)
{
	int error = SSL_get_error(peer->tls, result);
	peer->tls_wants_write = error == SSL_ERROR_WANT_WRITE;
	if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE)
		return COMM_AGAIN;
	result = is_alert(ERR_peek_error()) ? COMM_REFUSED : COMM_CLOSED;
	ERR_clear_error();
	return result;
}

int comm_tls_shake(struct comm_peer *peer)
{
	ERR_clear_error();
	int result = SSL_do_handshake(peer->tls);
	if (result != 1)
		return take_error(peer, result);
	peer->tls_wants_write = false;
	explicit_bzero(&peer->key, sizeof(peer->key));
	return SSL_session_reused(peer->tls) == 1 ? 0 : COMM_CLOSED; /* by the key, that is */
}

ssize_t comm_tls_read(struct comm_peer *peer, void *out, size_t room)
{
	ERR_clear_error();
	int result = SSL_read(peer->tls, out, (int)room);
	if (result > 0) {
		peer->tls_wants_write = false;
		return result;
	}
	return take_error(peer, result) == COMM_AGAIN ? COMM_AGAIN : COMM_CLOSED;
}

ssize_t comm_tls_write(struct comm_peer *peer, const void *data, size_t len)
{
	ERR_clear_error();
	int result = SSL_write(peer->tls, data, (int)(len < COMM_READ_MAX ? len : COMM_READ_MAX));
	if (result > 0)
		return result;
	return take_error(peer, result) == COMM_AGAIN ? COMM_AGAIN : COMM_CLOSED;
}

void comm_tls_end(struct comm_peer *peer)
{
	ERR_clear_error();
	(void)SSL_shutdown(peer->tls);
	ERR_clear_error();
}

void comm_tls_free(struct comm_peer *peer)
{
	SSL_free(peer->tls);
	peer->tls = NULL;
	explicit_bzero(&peer->key, sizeof(peer->key));
}
