/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests to the plugin worker_hostile: the first byte of a command. */
#ifndef ABUSE_HOSTILE_H
#define ABUSE_HOSTILE_H

enum hostile_act {
	HOSTILE_ANSWER, /* answer correctly, with the command's own bytes */
	HOSTILE_OTHER_CONTEXT,
	HOSTILE_TWICE,
	HOSTILE_OTHER_TYPE,
	HOSTILE_OTHER_CLIENT,
	HOSTILE_LONGER,	 /* answer with a header that claims more bytes than there are */
	HOSTILE_SHORTER, /* notif_pack returns fewer bytes than a header has */
	HOSTILE_STATUS,	 /* answer with a status that no doca_error_t has */
	HOSTILE_LATE,
	HOSTILE_NEVER,
	HOSTILE_LEAVE,	 /* leave the command in the list */
	HOSTILE_UNASKED, /* answer correctly, and send many notifications that answer nothing */
	HOSTILE_UNPACKABLE,
	HOSTILE_LARGE,	   /* an answer of the maximum message size */
	HOSTILE_TOO_LARGE, /* an answer of one byte more */
	HOSTILE_HARMLESS,
	HOSTILE_CRASH = HOSTILE_HARMLESS,
	HOSTILE_ACTS,
};

#endif
