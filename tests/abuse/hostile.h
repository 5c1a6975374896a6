/* SPDX-License-Identifier: BSD-3-Clause */
/* What a test asks the plugin worker_hostile for: the first byte of a command. */
#ifndef ABUSE_HOSTILE_H
#define ABUSE_HOSTILE_H

enum hostile_act {
	HOSTILE_ANSWER, /* as a plugin should, with the command's own bytes */
	HOSTILE_OTHER_CONTEXT,
	HOSTILE_TWICE,
	HOSTILE_OTHER_TYPE,
	HOSTILE_OTHER_CLIENT,
	HOSTILE_LONGER,	 /* its header says more bytes than there are */
	HOSTILE_SHORTER, /* notif_pack says fewer than a header has */
	HOSTILE_STATUS,	 /* that no doca_error_t has */
	HOSTILE_LATE,
	HOSTILE_NEVER,
	HOSTILE_LEAVE,	 /* the command in the list */
	HOSTILE_UNASKED, /* a right answer, and many that answer nothing */
	HOSTILE_UNPACKABLE,
	HOSTILE_LARGE,	   /* an answer as large as a message can be */
	HOSTILE_TOO_LARGE, /* and one byte more */
	HOSTILE_HARMLESS,
	HOSTILE_CRASH = HOSTILE_HARMLESS,
	HOSTILE_ACTS,
};

#endif
