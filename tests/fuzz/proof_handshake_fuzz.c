/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a stranger on the network can send before the key is proven without TLS, to the accepting and to the connecting side. No
 * input is a complete handshake, which needs the key and the other side's nonce. The first byte chooses the side and the sizes of
 * the pieces.
 */
#include <assert.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fabric/control/alert.h"
#include "fabric/control/proof.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In pieces of `most` bytes, a step after each. */
static int hear(struct sf_proof *proof, int fd, const uint8_t *data, size_t size, size_t most)
{
	int result = sf_proof_shake(proof);

	for (size_t at = 0; at < size && result == SF_PROOF_AGAIN; at += most) {
		(void)!write(fd, data + at, size - at < most ? size - at : most);
		result = sf_proof_shake(proof);
	}
	(void)shutdown(fd, SHUT_WR);
	return result == SF_PROOF_AGAIN ? sf_proof_shake(proof) : result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct sf_tls_key key = {.bytes = {1, 2, 3}};
	struct sf_proof *proof;
	uint8_t reason;
	int fds[2];

	if (size < 2 || size > 4096 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) != 0)
		return 0;
	if (sf_proof_begin(fds[0], data[0] % 2 == 0, &key, &proof) == DOCA_SUCCESS) {
		int result = hear(proof, fds[1], data + 1, size - 1, data[0] < 128 ? size : 1U + data[0] % 8U);

		assert(result == SF_PROOF_CLOSED || result == SF_PROOF_REFUSED || result == SF_PROOF_FOREIGN ||
		       result == SF_PROOF_OTHER);
		assert(result != SF_PROOF_OTHER || sf_alert_asks_for_tls(data + 1, size - 1) ||
		       sf_alert_reason(data + 1, size - 1, &reason) || size > sizeof(struct sf_proof_call));
		sf_proof_free(proof);
	}
	close(fds[0]);
	close(fds[1]);
	return 0;
}
