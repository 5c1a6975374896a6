/* SPDX-License-Identifier: BSD-3-Clause */
/* The provider tcp with a key: all its traffic is encrypted. */
#include "conformance.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char key[] = "000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F\n";

int main(void)
{
	char folder[] = "/tmp/softfield-tls-XXXXXX", path[sizeof(folder) + 8];
	int fd, failed;

	if (mkdtemp(folder) == NULL)
		return 1;
	(void)snprintf(path, sizeof(path), "%s/key", folder);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, key, sizeof(key) - 1) != (ssize_t)sizeof(key) - 1 || setenv("SOFTFIELD_TCP_KEY", path, 1) != 0)
		return 1;
	close(fd);
	failed = conformance_run("tcp");
	return unlink(path) == 0 && rmdir(folder) == 0 ? failed : 1;
}
