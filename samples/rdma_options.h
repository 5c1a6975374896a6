/* SPDX-License-Identifier: BSD-3-Clause */
/* The flags of the RDMA samples: those of DOCA's guide, those of current programs for connecting by address, and --peer. */
#ifndef SAMPLES_RDMA_OPTIONS_H
#define SAMPLES_RDMA_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_error.h>

#define TEXT_MAX 256 /* with its NUL */
#define PATH_ROOM 256
#define CONNECTIONS_MAX 8

/* Options of a sample besides the common flags. */
enum option_set {
	OPTION_READ_STRING = 1 << 0,
	OPTION_SEND_STRING = 1 << 1,
	OPTION_WRITE_STRING = 1 << 2,
	OPTION_RESOURCE = 1 << 3,    /* one side exports memory or an event to the other */
	OPTION_CONNECTIONS = 1 << 4, /* several */
	OPTION_SERVER = 1 << 5,	     /* of the requester: the server's address */
};

struct options {
	char device[64];	       /* IB device, or "": any */
	char local_path[PATH_ROOM];    /* the descriptor of our connection */
	char remote_path[PATH_ROOM];   /* the peer's descriptor */
	char resource_path[PATH_ROOM]; /* the descriptor of the responder's memory or event */
	char peer[PATH_ROOM];	       /* HOST:PORT, or "": use files */
	char string[TEXT_MAX];
	bool by_address; /* -cm */
	uint16_t port;	 /* on which the responder listens */
	char server[64]; /* its address, for the requester */
	char server_type[8];
	bool has_gid_index;
	uint32_t gid_index;
	uint32_t num_connections;
};

/* Prints errors to stderr. */
doca_error_t options_read(int argc, char **argv, const char *name, uint32_t set, struct options *options);

#endif
