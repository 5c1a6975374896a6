/* SPDX-License-Identifier: BSD-3-Clause */
/* The provider tcp with a key and without TLS, as for the processes of a node whose topology says "tls": false. */
#include "conformance.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char key[] = "000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F\n";

int main(void)
{
	char folder[] = "/tmp/softfield-bare-XXXXXX", path[sizeof(folder) + 8];
	const struct sf_fabric_node self = {.name = "here", .address = "127.0.0.1"};
	const struct sf_fabric_key use = {.path = path, .is_bare = true};
	int fd, failed;

	if (mkdtemp(folder) == NULL)
		return 1;
	(void)snprintf(path, sizeof(path), "%s/key", folder);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, key, sizeof(key) - 1) != (ssize_t)sizeof(key) - 1 || unsetenv("SOFTFIELD_TCP_KEY") != 0)
		return 1;
	close(fd);
	failed = sf_fabric_join(&self, NULL, 0, &use) == DOCA_SUCCESS ? conformance_run("tcp") : 1;
	return unlink(path) == 0 && rmdir(folder) == 0 ? failed : 1;
}
