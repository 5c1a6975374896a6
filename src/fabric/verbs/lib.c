/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/verbs/lib.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/log.h"

#define LIBRARY "libibverbs.so.1"

struct vb_lib sf_verbs_lib;

static bool loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const struct {
	const char *name;
	size_t at;
} symbols[] = {
#define SYMBOL(member)                                                                                                           \
	{                                                                                                                        \
		"ibv_" #member, offsetof(struct vb_lib, member)                                                                  \
	}
	SYMBOL(get_device_list),
	SYMBOL(free_device_list),
	SYMBOL(get_device_name),
	SYMBOL(open_device),
	SYMBOL(close_device),
	SYMBOL(query_device),
	SYMBOL(query_port),
	SYMBOL(query_gid),
	SYMBOL(alloc_pd),
	SYMBOL(dealloc_pd),
	SYMBOL(reg_mr),
	SYMBOL(dereg_mr),
	SYMBOL(create_comp_channel),
	SYMBOL(destroy_comp_channel),
	SYMBOL(create_cq),
	SYMBOL(destroy_cq),
	SYMBOL(get_cq_event),
	SYMBOL(ack_cq_events),
	SYMBOL(create_srq),
	SYMBOL(destroy_srq),
	SYMBOL(create_qp),
	SYMBOL(modify_qp),
	SYMBOL(destroy_qp),
	SYMBOL(wc_status_str),
#undef SYMBOL
};

static void library_load(void)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (library == NULL) {
		SF_LOG_INFO("%s cannot be loaded: %s", LIBRARY, dlerror());
		return;
	}
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *symbol = dlsym(library, symbols[i].name);

		if (symbol == NULL) {
			SF_LOG_ERR("%s has no %s: install a newer rdma-core", LIBRARY, symbols[i].name);
			return; /* stays loaded, unused */
		}
		memcpy((char *)&sf_verbs_lib + symbols[i].at, &symbol, sizeof(symbol));
	}
	loaded = true;
}

_Bool sf_verbs_lib_load(void)
{
	pthread_once(&once, library_load);
	return loaded;
}
