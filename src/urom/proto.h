/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages between the host library, the daemon and the workers. A message is a head and a body; bodies are packed and parsed
 * only here. All of it comes from another process: a parser reads nothing beyond the body, and checks that every value is in
 * range.
 */
#ifndef UROM_PROTO_H
#define UROM_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>

#include "base/visibility.h"

#define UROM_PROTO_VERSION 3
#define UROM_PORT_DEFAULT 18650

#define UROM_NONCE_SIZE 32
#define UROM_PROOF_SIZE 32
#define UROM_TOKEN_SIZE 16
#define UROM_DIGEST_SIZE 32
#define UROM_PLUGIN_NAME_SIZE 48 /* with its NUL */
#define UROM_PLUGINS_MAX 62	 /* an id is one bit */
#define UROM_CPUSET_SIZE 128	 /* bytes: 1024 processors */
#define UROM_ENV_MAX 256	 /* variables of one worker */
#define UROM_ENV_BYTES_MAX 32768
#define UROM_GROUP_MAX 4096 /* workers that a group's answer holds */
#define UROM_TEXT_MAX 256   /* a reason, with its NUL */
#define UROM_KEY_SIZE 32
#define UROM_CONTROL_MAX 65536 /* bytes of a body other than a command's or notification's */
#define UROM_DIRECTORY_MAX (UINT32_C(256) << 20)
#define UROM_DIRECTORY_PART 16384 /* bytes of one message */
#define UROM_MESSAGE_DEFAULT 4096
#define UROM_MESSAGE_MIN 256
#define UROM_MESSAGE_MAX (UINT32_C(64) << 20)

enum urom_kind {
	/* client and daemon */
	UROM_HANDSHAKE = 1,
	UROM_CHALLENGE,
	UROM_PROOF,
	UROM_WELCOME,
	UROM_REFUSED, /* then the connection ends */
	UROM_SPAWN,
	UROM_SPAWNED,
	UROM_RELEASE,
	UROM_RELEASED,
	UROM_GROUP,
	UROM_GROUP_IS,
	UROM_WORKER_DIED,
	/* client and worker */
	UROM_JOIN,
	UROM_JOINED,
	UROM_COMMAND,
	UROM_NOTIFY,
	/* A domain: subject is its number, size that of its directory (directory.h). Many clients of a worker may offer
	 * the same directory; the worker requests it from one of them. */
	UROM_DOMAIN_OFFER,  /* the body is the directory's digest */
	UROM_DOMAIN_WANTED, /* the worker may request it: the client must send it */
	UROM_DOMAIN_PART,   /* a piece of it; request is its offset */
	UROM_DOMAIN_READY,  /* the worker has it, or rejects it: status */
	UROM_DOMAIN_LEAVE,
	/* daemon and worker, by the worker's socket: a message is one packet */
	UROM_READY,
	UROM_FAILED,
	UROM_ADMIT, /* a token by which one client may join, once */
	UROM_END,
	UROM_KINDS,
};

#define UROM_STATUS_MAX 255 /* above every doca_error_t */

#define UROM_HEAD_SIZE 32

/* Sent with this layout. */
struct urom_head {
	uint16_t version; /* of the sender's protocol */
	uint16_t kind;
	int32_t status;	  /* doca_error_t of an answer */
	uint64_t request; /* the requester's number, repeated in the answer */
	uint64_t subject; /* id of a worker or a group */
	uint64_t size;	  /* of a DOMAIN_OFFER or a DOMAIN_PART */
};

/* INVALID_VALUE: not a head, or of an unknown kind. UNSUPPORTED_VERSION: of another version (head is filled). Not logged. */
SF_API doca_error_t urom_head_parse(const void *data, size_t len, struct urom_head *head);
static inline struct urom_head urom_head_make(enum urom_kind kind, doca_error_t status, uint64_t request, uint64_t subject)
{
	return (struct urom_head){UROM_PROTO_VERSION, (uint16_t)kind, (int32_t)status, request, subject, 0};
}

/* The bodies. Packers write at most room bytes and return the length, or 0 if they do not fit; parsers return
 * INVALID_VALUE, not logged, for a malformed body. Strings are NUL-terminated. */

struct urom_handshake {
	uint8_t nonce[UROM_NONCE_SIZE];
	uint32_t message_max;
};
SF_API size_t urom_handshake_pack(const struct urom_handshake *handshake, void *out, size_t room);
SF_API doca_error_t urom_handshake_parse(const void *data, size_t len, struct urom_handshake *handshake);

struct urom_challenge {
	uint8_t nonce[UROM_NONCE_SIZE];
	uint8_t proof[UROM_PROOF_SIZE];
};
SF_API size_t urom_challenge_pack(const struct urom_challenge *challenge, void *out, size_t room);
SF_API doca_error_t urom_challenge_parse(const void *data, size_t len, struct urom_challenge *challenge);

/* A PROOF's body is UROM_PROOF_SIZE bytes, that of a JOIN or an ADMIT UROM_TOKEN_SIZE, that of a REFUSED, FAILED, WORKER_DIED or
 * an answer with a status other than SUCCESS a text. A COMMAND's is a struct urom_worker_cmd, a NOTIFY's what notif_pack wrote.
 */

struct urom_plugin {
	uint64_t id; /* one bit */
	uint64_t version;
	char name[UROM_PLUGIN_NAME_SIZE];
};

struct urom_welcome {
	uint32_t message_max;
	uint32_t num_plugins;
	uint8_t cpuset[UROM_CPUSET_SIZE];
	struct urom_plugin plugins[UROM_PLUGINS_MAX];
};
SF_API size_t urom_welcome_pack(const struct urom_welcome *welcome, void *out, size_t room);
SF_API doca_error_t urom_welcome_parse(const void *data, size_t len, struct urom_welcome *welcome);

struct urom_spawn {
	uint64_t worker_id; /* all ones: any */
	uint64_t plugins;
	uint32_t gid;
	bool has_gid, has_cpuset;
	uint8_t cpuset[UROM_CPUSET_SIZE];
	uint32_t num_env;
	const char *env[UROM_ENV_MAX]; /* "NAME=value"; parsed ones point into the message */
};
SF_API size_t urom_spawn_pack(const struct urom_spawn *spawn, void *out, size_t room);
SF_API doca_error_t urom_spawn_parse(const void *data, size_t len, struct urom_spawn *spawn);

struct urom_spawned {
	uint64_t worker_id;
	uint32_t gid;
	bool has_gid;
	uint64_t service_process, process; /* the process ids of the daemon and the worker, as the daemon sees them */
	uint8_t token[UROM_TOKEN_SIZE];
	uint8_t key[UROM_KEY_SIZE]; /* for TLS with the worker, which accepts connections at the daemon's address */
};
SF_API size_t urom_spawned_pack(const struct urom_spawned *spawned, void *out, size_t room);
SF_API doca_error_t urom_spawned_parse(const void *data, size_t len, struct urom_spawned *spawned);

struct urom_group {
	uint32_t num;
	uint64_t ids[UROM_GROUP_MAX];
};
SF_API size_t urom_group_pack(const struct urom_group *group, void *out, size_t room);
SF_API doca_error_t urom_group_parse(const void *data, size_t len, struct urom_group *group);

/* A text without its NUL. Longer texts are truncated, and bytes that are not printable ASCII become '?'. */
SF_API size_t urom_text_pack(const char *text, void *out, size_t room);
SF_API void urom_text_parse(const void *data, size_t len, char text[UROM_TEXT_MAX]);

#endif
