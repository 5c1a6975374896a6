/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program loads a library, uses memory of it that peers reach, and unloads it while the library's thread runs. The program
 * itself links none of the libraries. Usage: dlclose_test LIBRARY..., each of which depends on libdoca_common.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <doca_dev.h>
#include <doca_mmap.h>

#include "support/child.h"

static const char *library;
static char folder[] = "/tmp/softfield-dlclose-XXXXXX";

#define FIND(handle, name) __typeof__(&name) name##_ = (__typeof__(&name))dlsym(handle, #name)

/* From here on the agent's thread runs. */
static void start_agent(void *handle)
{
	static char memory[8192];
	struct doca_devinfo **list;
	struct doca_dev *dev;
	struct doca_mmap *mmap;
	const void *bytes;
	size_t len;
	uint32_t num;

	FIND(handle, doca_devinfo_create_list);
	FIND(handle, doca_dev_open);
	FIND(handle, doca_mmap_create);
	FIND(handle, doca_mmap_set_memrange);
	FIND(handle, doca_mmap_add_dev);
	FIND(handle, doca_mmap_set_permissions);
	FIND(handle, doca_mmap_start);
	FIND(handle, doca_mmap_export_pci);
	CHECK(doca_devinfo_create_list_ != NULL && doca_mmap_export_pci_ != NULL);
	CHECK(doca_devinfo_create_list_(&list, &num) == DOCA_SUCCESS);
	CHECK(doca_dev_open_(list[0], &dev) == DOCA_SUCCESS);
	CHECK(doca_mmap_create_(&mmap) == DOCA_SUCCESS);
	CHECK(doca_mmap_set_memrange_(mmap, memory, sizeof(memory)) == DOCA_SUCCESS);
	CHECK(doca_mmap_add_dev_(mmap, dev) == DOCA_SUCCESS);
	CHECK(doca_mmap_set_permissions_(mmap, DOCA_ACCESS_FLAG_PCI_READ_WRITE) == DOCA_SUCCESS);
	CHECK(doca_mmap_start_(mmap) == DOCA_SUCCESS);
	CHECK(doca_mmap_export_pci_(mmap, dev, &bytes, &len) == DOCA_SUCCESS);
}

/* Sends the agent an invalid message, so that it closes the connection. */
static void wake_agent(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct pollfd agent = {.fd = socket(AF_UNIX, SOCK_SEQPACKET, 0), .events = POLLIN};
	DIR *dir = opendir(folder);
	struct dirent *entry;

	CHECK(dir != NULL);
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == 'a')
			snprintf(address.sun_path, sizeof(address.sun_path), "%s/%.60s", folder, entry->d_name);
	}
	closedir(dir);
	CHECK(connect(agent.fd, (struct sockaddr *)&address, sizeof(address)) == 0);
	CHECK(send(agent.fd, "what", 4, MSG_NOSIGNAL) == 4);
	CHECK(poll(&agent, 1, -1) == 1);
	close(agent.fd);
}

static void load_use_unload(void)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);

	if (handle == NULL)
		dprintf(STDERR_FILENO, "%s\n", dlerror());
	CHECK(handle != NULL);
	start_agent(handle);
	wake_agent();
	CHECK(dlclose(handle) == 0);
	wake_agent();
	_exit(0); /* nothing can destroy the objects any more */
}

static void folder_remove(void)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL)
		(void)unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir != NULL)
		closedir(dir);
	(void)rmdir(folder);
}

int main(int argc, char **argv)
{
	int failed = 0;

	CHECK(argc > 1 && mkdtemp(folder) != NULL && setenv("SOFTFIELD_RUNTIME", folder, 1) == 0);
	for (int i = 1; i < argc; i++) {
		library = argv[i];

		int status = run_in_child(load_use_unload);

		if (status != 0)
			dprintf(STDERR_FILENO, "%s: status %d\n", library, status);
		failed |= status != 0;
	}
	folder_remove();
	return failed;
}
