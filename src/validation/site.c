/* SPDX-License-Identifier: BSD-3-Clause */
#include "validation/site.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef __GLIBC__
#include <execinfo.h>
#else
#define backtrace(addresses, max) (0)
#endif

#define FRAMES_MAX 24
#define FOREIGN_MAX 3

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* Returns whether the object is one of our libraries, which all have this prefix, also those of earlier APIs. */
static bool is_ours(const Dl_info *info)
{
	return strncmp(base_name(info->dli_fname), "libdoca_", strlen("libdoca_")) == 0;
}

static bool address_look_up(const void *address, Dl_info *info)
{
	/* The return address of a call that does not return may lie in the next function, so look up the byte before it. */
	return dladdr((const void *)((uintptr_t)address - 1), info) != 0 && info->dli_fname != NULL;
}

/* Returns the first frame of our libraries, or num. Only frames of a sanitizer may precede it. A program linked with the static
 * libraries has none, since its frames cannot be told apart. */
static int own_frame(void *const *frames, int num)
{
	Dl_info info;

	for (int i = 0; i < num && i < FOREIGN_MAX; i++) {
		if (address_look_up(frames[i], &info) && is_ours(&info))
			return i;
	}
	return num;
}

struct sf_site sf_site_find(void)
{
	struct sf_site site = {NULL, NULL};
	void *frames[FRAMES_MAX];
	int num = backtrace(frames, FRAMES_MAX);
	Dl_info info;

	for (int i = own_frame(frames, num); i < num; i++) {
		if (!address_look_up(frames[i], &info))
			continue;
		if (!is_ours(&info)) {
			site.caller = frames[i];
			break;
		}
		site.call =
			info.dli_sname != NULL && strncmp(info.dli_sname, "doca_", strlen("doca_")) == 0 ? info.dli_sname : NULL;
	}
	return site;
}

const char *sf_site_text(const void *caller, char *text, size_t size)
{
	Dl_info info;

	if (caller == NULL || !address_look_up(caller, &info)) {
		snprintf(text, size, "an unknown location");
		return text;
	}
	int len = snprintf(text, size, "%s+0x%zx", base_name(info.dli_fname),
			   (size_t)((uintptr_t)caller - (uintptr_t)info.dli_fbase));
	if (info.dli_sname != NULL && len > 0 && (size_t)len < size)
		snprintf(text + len, size - (size_t)len, " (%s)", info.dli_sname);
	return text;
}
