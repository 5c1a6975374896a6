/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a stranger on the network can send before the key is proven, to the accepting and to the connecting side. No input is a
 * complete handshake, which needs the key. The first byte chooses the side.
 */
#include <assert.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/tls.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t key[SF_TLS_KEY_SIZE] = {1, 2, 3};
	struct sf_tls *tls;
	int fds[2];

	if (size < 2 || size > 65536 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) != 0)
		return 0;
	if (sf_tls_begin(fds[0], data[0] % 2 == 0, key, "softfield fabric", &tls) == DOCA_SUCCESS) {
		int result = sf_tls_shake(tls);

		assert(result == SF_TLS_AGAIN);
		(void)!write(fds[1], data + 1, size - 1);
		for (int i = 0; i < 8 && result == SF_TLS_AGAIN; i++)
			result = sf_tls_shake(tls);
		(void)shutdown(fds[1], SHUT_WR);
		if (result == SF_TLS_AGAIN)
			result = sf_tls_shake(tls);
		assert(result == SF_TLS_CLOSED || result == SF_TLS_REFUSED || result == SF_TLS_FOREIGN || result == SF_TLS_OTHER);
		sf_tls_free(tls);
	}
	close(fds[0]);
	close(fds[1]);
	return 0;
}
