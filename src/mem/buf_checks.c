/* SPDX-License-Identifier: BSD-3-Clause */
#include "mem/buf_checks.h"

#include "core/task_checks.h"
#include "mem/mmap_private.h"
#include "validation/validation.h"

#define LIST_MAX 4096 /* elements of a list that are checked */

uint16_t sf_buf_refs_checked;

void sf_buf_check_data(const struct doca_buf *buf, const char *call)
{
	uintptr_t offset = (uintptr_t)buf->data - (uintptr_t)buf->head;

	if (offset > buf->len || buf->data_len > buf->len - offset)
		SF_BROKEN(BUF_001, buf, call, "data of %zu bytes at %p passes its end: it has %zu bytes at %p", buf->data_len,
			  (void *)buf->data, buf->len, (void *)buf->head);
}

void sf_buf_check_release(const struct doca_buf *buf)
{
	for (uint32_t i = 0; buf != NULL && i < LIST_MAX; i++, buf = buf->next) {
		const char *user = sf_task_use_find(buf);

		if (user == NULL)
			continue;
		SF_BROKEN(BUF_008, buf, "doca_buf_dec_refcount", "a %s task in flight has it", user);
		return;
	}
}

/* Returns whether the buf is sound enough to check its contents. */
static bool check_life(const struct doca_task *task, const struct doca_buf *buf)
{
	if (buf->first->refcount == 0) {
		SF_BROKEN(BUF_002, buf, "doca_task_submit", "a %s task has it, and it was released already", task->cls->name);
		return false;
	}
	if (!buf->mmap->started)
		SF_BROKEN(MMAP_003, buf->mmap, "doca_task_submit", "a %s task has a buf of it, and it is not started",
			  task->cls->name);
	return true;
}

/* Returns the bytes of data of the list, as far as it is sound. */
static size_t check_list(const struct doca_task *task, const struct doca_buf *buf, bool *is_sound)
{
	size_t len = 0;

	for (uint32_t i = 0; buf != NULL && i < LIST_MAX; i++, buf = buf->next) {
		*is_sound = check_life(task, buf);
		if (!*is_sound)
			return 0;
		sf_task_use_note(task, buf);
		len += buf->data_len;
	}
	return len;
}

void sf_buf_check_message(const struct doca_task *task, const struct doca_buf *buf)
{
	bool is_sound = buf != NULL;

	if (check_list(task, buf, &is_sound) == 0 && is_sound)
		SF_BROKEN(BUF_007, buf, "doca_task_submit", "a %s task sends it, and it has no data", task->cls->name);
}

void sf_buf_check_list(const struct doca_task *task, const struct doca_buf *buf)
{
	bool is_sound = true;

	(void)check_list(task, buf, &is_sound);
}
