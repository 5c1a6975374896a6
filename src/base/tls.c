/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Uses its own BIO, because OpenSSL's socket BIO calls write(2), which raises SIGPIPE when the peer has closed the connection.
 * Only that one passes the key to the kernel, by private calls, so where the kernel has TLS it sends the handshake. From then on
 * the kernel encrypts what is sent to the socket, without OpenSSL, whose SSL_write keeps the address of what it could not send.
 */
#include "base/tls.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/tls.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "base/log.h"
#include "base/log_rate.h"

#ifndef SOL_TLS
#define SOL_TLS 282
#endif
#ifndef TCP_ULP
#define TCP_ULP 31
#endif

#define CIPHER "TLS_AES_128_GCM_SHA256"
#define CONTENT_ALERT 21 /* RFC 8446, 5.1 */

/* Shared by all connections; created by the first one. */
struct common {
	SSL_CTX *context;
	BIO_METHOD *method;
	bool kernel_has_tls;
};

struct sf_tls {
	SSL *ssl;
	BIO *bio; /* ours for sending, while OpenSSL's sends the handshake; else NULL */
	int fd;
	bool wants_write;
	bool kernel_sends;
	uint8_t ahead[SSL3_RT_HEADER_LENGTH]; /* received, and not yet read by OpenSSL */
	uint8_t ahead_at, ahead_len;
	const char *identity;
	struct sf_tls_key key; /* until the handshake is over */
};

/* ---- the socket, without SIGPIPE ---- */

static int fd_of(BIO *bio)
{
	return ((const struct sf_tls *)BIO_get_data(bio))->fd;
}

static int take_result(BIO *bio, ssize_t result, int retry)
{
	BIO_clear_retry_flags(bio);
	if (result < 0 && (errno == EAGAIN || errno == EINTR))
		BIO_set_flags(bio, retry | BIO_FLAGS_SHOULD_RETRY);
	return (int)result;
}

static int bio_write(BIO *bio, const char *data, int len)
{
	const struct sf_tls *tls = BIO_get_data(bio);

	if (tls->kernel_sends) { /* OpenSSL answers a message that no peer of ours sends */
		errno = EPROTO;
		return take_result(bio, -1, 0);
	}
	return take_result(bio, send(fd_of(bio), data, (size_t)len, MSG_NOSIGNAL | MSG_DONTWAIT), BIO_FLAGS_WRITE);
}

static int read_ahead(struct sf_tls *tls, char *out, int room)
{
	const int left = tls->ahead_len - tls->ahead_at, len = room < left ? room : left;

	memcpy(out, tls->ahead + tls->ahead_at, (size_t)len);
	tls->ahead_at += (uint8_t)len;
	return len;
}

static int bio_read(BIO *bio, char *out, int room)
{
	struct sf_tls *tls = BIO_get_data(bio);

	if (tls->ahead_at != tls->ahead_len)
		return take_result(bio, read_ahead(tls, out, room), BIO_FLAGS_READ);
	return take_result(bio, recv(tls->fd, out, (size_t)room, MSG_DONTWAIT), BIO_FLAGS_READ);
}

static long bio_ctrl(BIO *bio, int command, long number, void *pointer)
{
	(void)bio;
	(void)number;
	(void)pointer;
	return command == BIO_CTRL_FLUSH;
}

/* ---- the key ---- */

/* OpenSSL accepts an external key only in the form of a session, as if of an earlier connection. */
static SSL_SESSION *make_session(SSL *ssl)
{
	static const unsigned char aes_128_gcm_sha256[] = {0x13, 0x01};
	const struct sf_tls *tls = (const struct sf_tls *)SSL_get_app_data(ssl);
	const SSL_CIPHER *cipher = SSL_CIPHER_find(ssl, aes_128_gcm_sha256);
	SSL_SESSION *session = SSL_SESSION_new();

	if (cipher != NULL && session != NULL &&
	    SSL_SESSION_set1_master_key(session, tls->key.bytes, sizeof(tls->key.bytes)) == 1 &&
	    SSL_SESSION_set_cipher(session, cipher) == 1 && SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1)
		return session;
	SSL_SESSION_free(session);
	return NULL;
}

static int use_key(SSL *ssl, const EVP_MD *digest, const unsigned char **identity, size_t *len, SSL_SESSION **session)
{
	const struct sf_tls *tls = (const struct sf_tls *)SSL_get_app_data(ssl);

	*session = NULL;
	if (digest != NULL && EVP_MD_type(digest) != NID_sha256)
		return 1; /* for a cipher that was not offered */
	*session = make_session(ssl);
	*identity = (const unsigned char *)tls->identity;
	*len = strlen(tls->identity);
	return *session != NULL;
}

static int find_key(SSL *ssl, const unsigned char *identity, size_t len, SSL_SESSION **session)
{
	const struct sf_tls *tls = (const struct sf_tls *)SSL_get_app_data(ssl);
	const bool ours = len == strlen(tls->identity) && memcmp(identity, tls->identity, len) == 0;

	*session = ours ? make_session(ssl) : NULL;
	return *session != NULL || !ours;
}

/* ---- shared state ---- */

/* Asked with a socket that is not connected, once: naming TLS makes a kernel that lacks it look for a module each time. */
static bool kernel_has_tls(void)
{
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const bool has = fd >= 0 && setsockopt(fd, IPPROTO_TCP, TCP_ULP, "tls", sizeof("tls")) != 0 && errno == ENOTCONN;

	if (fd >= 0)
		close(fd);
	return has;
}

static bool common_init(struct common *common)
{
	/* Our threads may still use OpenSSL when the program exits, so its exit handler must not free anything. */
	if (OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL) != 1)
		return false;
	common->method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "softfield");
	common->context = SSL_CTX_new(TLS_method());
	common->kernel_has_tls = kernel_has_tls();
	if (common->method == NULL || common->context == NULL)
		return false;
	BIO_meth_set_write(common->method, bio_write);
	BIO_meth_set_read(common->method, bio_read);
	BIO_meth_set_ctrl(common->method, bio_ctrl);
	SSL_CTX_set_options(common->context, SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION);
	SSL_CTX_set_session_cache_mode(common->context, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_mode(common->context,
			 SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_verify(common->context, SSL_VERIFY_PEER,
			   NULL); /* without a trusted authority, so no certificate is accepted */
	SSL_CTX_set_psk_use_session_callback(common->context, use_key);
	SSL_CTX_set_psk_find_session_callback(common->context, find_key);
	return SSL_CTX_set_min_proto_version(common->context, TLS1_3_VERSION) == 1 &&
	       SSL_CTX_set_max_proto_version(common->context, TLS1_3_VERSION) == 1 &&
	       SSL_CTX_set_ciphersuites(common->context, CIPHER) == 1 &&
	       SSL_CTX_set1_groups_list(common->context, "X25519:P-256") == 1 && SSL_CTX_set_num_tickets(common->context, 0) == 1;
}

static void common_free(struct common *common)
{
	SSL_CTX_free(common->context);
	BIO_meth_free(common->method);
	free(common);
}

/* Lock-free, because a fork could leave a lock held. If two threads create the state, the second one frees its own. */
static struct common *common_get(void)
{
	static struct common *_Atomic common;
	struct common *ours = common, *theirs = NULL;

	if (ours != NULL)
		return ours;
	ours = calloc(1, sizeof(*ours));
	if (ours == NULL || !common_init(ours)) {
		SF_LOG_ERR_LIMITED("OpenSSL cannot be set up for TLS 1.3: %s",
				   ours != NULL ? ERR_reason_error_string(ERR_get_error()) : "no memory");
		if (ours != NULL)
			common_free(ours);
		return NULL;
	}
	if (atomic_compare_exchange_strong(&common, &theirs, ours))
		return ours;
	common_free(ours);
	return theirs;
}

/* ---- one connection ---- */

static bool bios_init(struct sf_tls *tls, const struct common *common)
{
	BIO *bio = BIO_new(common->method), *openssls;

	if (bio == NULL)
		return false;
	BIO_set_data(bio, tls);
	BIO_set_init(bio, 1);
	SSL_set_bio(tls->ssl, bio, bio);
	if (!common->kernel_has_tls)
		return true;
	openssls = BIO_new_socket(tls->fd, BIO_NOCLOSE);
	if (openssls == NULL)
		return false;
	BIO_up_ref(bio);
	tls->bio = bio;
	SSL_set0_wbio(tls->ssl, openssls);
	SSL_set_options(tls->ssl, SSL_OP_ENABLE_KTLS);
	return true;
}

static bool ssl_init(struct sf_tls *tls, const struct common *common, bool server)
{
	tls->ssl = SSL_new(common->context);
	if (tls->ssl == NULL || !bios_init(tls, common))
		return false;
	(void)SSL_set_app_data(tls->ssl, tls);
	if (!server) {
		SSL_set_connect_state(tls->ssl);
		return true;
	}
	SSL_set_accept_state(tls->ssl);
	/* A verifying server accepts only sessions with its own context id; a client has none. */
	return SSL_set_session_id_context(tls->ssl, (const unsigned char *)tls->identity, (unsigned)strlen(tls->identity)) == 1;
}

doca_error_t sf_tls_begin(int fd, bool server, const uint8_t key[SF_TLS_KEY_SIZE], const char *identity, struct sf_tls **out)
{
	const struct common *common = common_get();
	struct sf_tls *tls;

	if (common == NULL)
		return DOCA_ERROR_DRIVER;
	ERR_clear_error();
	tls = calloc(1, sizeof(*tls));
	if (tls != NULL) {
		tls->fd = fd;
		tls->identity = identity;
		memcpy(tls->key.bytes, key, sizeof(tls->key.bytes));
		if (ssl_init(tls, common, server)) {
			*out = tls;
			return DOCA_SUCCESS;
		}
	}
	SF_LOG_ERR_LIMITED("no memory for a connection by TLS");
	sf_tls_free(tls);
	ERR_clear_error();
	return DOCA_ERROR_NO_MEMORY;
}

/* Returns whether the keys differ: one side gets an alert from the peer, the other finds that the binder does not verify. */
static bool is_of_key(unsigned long error)
{
	return ERR_GET_LIB(error) == ERR_LIB_SSL &&
	       (ERR_GET_REASON(error) >= SSL_AD_REASON_OFFSET || ERR_GET_REASON(error) == SSL_R_BINDER_DOES_NOT_VERIFY);
}

/* Returns whether the peer sent invalid data. */
static bool is_foreign(unsigned long error)
{
	return ERR_GET_LIB(error) == ERR_LIB_SSL && ERR_GET_REASON(error) != SSL_R_UNEXPECTED_EOF_WHILE_READING;
}

static int result_of(unsigned long error)
{
	if (ERR_GET_LIB(error) == ERR_LIB_SSL && ERR_GET_REASON(error) == SSL_R_TLSV1_ALERT_PROTOCOL_VERSION)
		return SF_TLS_OTHER;
	if (is_of_key(error))
		return SF_TLS_REFUSED;
	return is_foreign(error) ? SF_TLS_FOREIGN : SF_TLS_CLOSED;
}

static int take_error(struct sf_tls *tls, int result)
{
	const int error = SSL_get_error(tls->ssl, result);

	tls->wants_write = error == SSL_ERROR_WANT_WRITE;
	if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE)
		return SF_TLS_AGAIN;
	result = result_of(ERR_peek_error());
	ERR_clear_error();
	return result;
}

/* A SIGPIPE that OpenSSL's BIO raises is for this thread, and taken back. */
static int shake_without_signal(SSL *ssl)
{
	const struct timespec at_once = {0};
	sigset_t pipe, before, pending;
	int result, error;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &pipe, &before);
	result = SSL_do_handshake(ssl);
	error = errno;
	if (!sigismember(&pending, SIGPIPE))
		(void)sigtimedwait(&pipe, NULL, &at_once);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error; /* SSL_get_error may need it */
	return result;
}

static void leave_openssls_bio(struct sf_tls *tls)
{
	tls->kernel_sends = BIO_get_ktls_send(SSL_get_wbio(tls->ssl));
	SSL_set0_wbio(tls->ssl, tls->bio);
	tls->bio = NULL;
}

int sf_tls_shake(struct sf_tls *tls)
{
	int result;

	ERR_clear_error();
	result = tls->bio != NULL ? shake_without_signal(tls->ssl) : SSL_do_handshake(tls->ssl);
	if (result != 1)
		return take_error(tls, result);
	if (tls->bio != NULL)
		leave_openssls_bio(tls);
	tls->wants_write = false;
	explicit_bzero(&tls->key, sizeof(tls->key));
	return SSL_session_reused(tls->ssl) == 1 ? 0 : SF_TLS_CLOSED; /* reused means: authenticated by the key */
}

/* AGAIN or CLOSED. A peer that closes the connection is not logged, one that violates the protocol is. */
static int end_of(struct sf_tls *tls, int result)
{
	const int error = take_error(tls, result);

	if (error != SF_TLS_AGAIN && error != SF_TLS_CLOSED)
		SF_LOG_WARN_LIMITED("a TLS record is invalid, or the peer reports such a record: the connection ends");
	return error == SF_TLS_AGAIN ? SF_TLS_AGAIN : SF_TLS_CLOSED;
}

/*
 * Receives the beginning of the next record, for OpenSSL to read. A poll that finds nothing is cheap so: OpenSSL would allocate a
 * buffer for a record, and free it. At the end of the stream, and after an error, OpenSSL finds the end itself.
 */
static bool has_input(struct sf_tls *tls)
{
	ssize_t got;

	if (tls->ahead_at != tls->ahead_len || SSL_has_pending(tls->ssl) == 1)
		return true;
	got = recv(tls->fd, tls->ahead, sizeof(tls->ahead), MSG_DONTWAIT);
	tls->ahead_at = 0;
	tls->ahead_len = got > 0 ? (uint8_t)got : 0;
	return got >= 0 || (errno != EAGAIN && errno != EINTR);
}

ssize_t sf_tls_read(struct sf_tls *tls, void *out, size_t room)
{
	int result;

	if (!tls->wants_write && !has_input(tls))
		return SF_TLS_AGAIN;
	ERR_clear_error();
	result = SSL_read(tls->ssl, out, (int)(room < SF_TLS_RECORD ? room : SF_TLS_RECORD));
	if (result > 0) {
		tls->wants_write = false;
		return result;
	}
	return end_of(tls, result);
}

static ssize_t write_by_kernel(struct sf_tls *tls, const void *data, size_t len)
{
	const ssize_t sent = send(tls->fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);

	tls->wants_write = sent < 0 && (errno == EAGAIN || errno == EINTR || errno == ENOBUFS || errno == ENOMEM);
	if (sent >= 0)
		return sent;
	return tls->wants_write ? SF_TLS_AGAIN : SF_TLS_CLOSED;
}

ssize_t sf_tls_write(struct sf_tls *tls, const void *data, size_t len)
{
	int result;

	if (tls->kernel_sends)
		return write_by_kernel(tls, data, len);
	ERR_clear_error();
	result = SSL_write(tls->ssl, data, (int)(len < SF_TLS_RECORD ? len : SF_TLS_RECORD));
	if (result > 0)
		return result;
	return end_of(tls, result);
}

size_t sf_tls_pending(const struct sf_tls *tls)
{
	return (size_t)SSL_pending(tls->ssl);
}

bool sf_tls_wants_write(const struct sf_tls *tls)
{
	return tls->wants_write;
}

bool sf_tls_kernel_sends(const struct sf_tls *tls)
{
	return tls->kernel_sends;
}

/* Sends the alert "close notify" by the kernel. */
static void end_by_kernel(const struct sf_tls *tls)
{
	uint8_t alert[] = {SSL3_AL_WARNING, SSL3_AD_CLOSE_NOTIFY};
	union {
		struct cmsghdr head;
		uint8_t bytes[CMSG_SPACE(sizeof(uint8_t))];
	} control = {.head = {.cmsg_level = SOL_TLS, .cmsg_type = TLS_SET_RECORD_TYPE, .cmsg_len = CMSG_LEN(sizeof(uint8_t))}};
	struct iovec iov = {.iov_base = alert, .iov_len = sizeof(alert)};
	const struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control.bytes)};

	*CMSG_DATA(&control.head) = CONTENT_ALERT;
	(void)sendmsg(tls->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void sf_tls_end(struct sf_tls *tls)
{
	if (tls->kernel_sends) {
		end_by_kernel(tls);
		return;
	}
	ERR_clear_error();
	(void)SSL_shutdown(tls->ssl);
	ERR_clear_error();
}

void sf_tls_free(struct sf_tls *tls)
{
	if (tls == NULL)
		return;
	SSL_free(tls->ssl);
	BIO_free(tls->bio);
	explicit_bzero(&tls->key, sizeof(tls->key));
	free(tls);
}
