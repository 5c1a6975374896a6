/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers to commands, for the DPU halves of our plugins. */
#ifndef PLUGINS_ANSWER_H
#define PLUGINS_ANSWER_H

#include <stdlib.h>
#include <string.h>

#include <doca_urom_plugin.h>

/* Creates an answer to the command with room for size zeroed bytes; its len is 0. NULL: no memory. */
static inline struct urom_worker_notif_desc *answer_create(const struct urom_worker_cmd_desc *command, size_t size)
{
	struct urom_worker_notif_desc *answer = (struct urom_worker_notif_desc *)calloc(1, sizeof(*answer) + size);

	if (answer == NULL)
		return NULL;
	answer->dest_id = command->dest_id;
	answer->worker_notif.type = command->worker_cmd.type;
	answer->worker_notif.urom_context = command->worker_cmd.urom_context;
	return answer;
}

/* Moves all answers to the end of out. EMPTY: there were none. A plugin's progress returns the result. */
static inline doca_error_t answers_hand_over(ucs_list_link_t *answers, ucs_list_link_t *out)
{
	if (ucs_list_is_empty(answers))
		return DOCA_ERROR_EMPTY;
	while (!ucs_list_is_empty(answers)) {
		struct urom_worker_notif_desc *answer = ucs_list_extract_head(answers, struct urom_worker_notif_desc, entry);

		ucs_list_add_tail(out, &answer->entry);
	}
	return DOCA_SUCCESS;
}

static inline void answers_free(ucs_list_link_t *answers)
{
	struct urom_worker_notif_desc *answer, *next;

	ucs_list_for_each_safe(answer, next, answers, entry) free(answer);
	ucs_list_head_init(answers);
}

/* A plugin's notif_pack. An answer that is too large for a message becomes TOO_BIG without data: the host waits for it. */
static inline doca_error_t answer_pack(struct urom_worker_notify *notif, size_t *packed_notif_len, void *packed_notif)
{
	if (*packed_notif_len < sizeof(*notif))
		return DOCA_ERROR_TOO_BIG;
	if (notif->len > *packed_notif_len - sizeof(*notif)) {
		notif->len = 0;
		notif->status = DOCA_ERROR_TOO_BIG;
	}
	*packed_notif_len = sizeof(*notif) + notif->len;
	memcpy(packed_notif, notif, *packed_notif_len);
	return DOCA_SUCCESS;
}

#endif
