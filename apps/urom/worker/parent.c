/* SPDX-License-Identifier: BSD-3-Clause */
#include "parent.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include <doca_log.h>

#include "tokens.h"
#include "worker.h"

DOCA_LOG_REGISTER(UROM_WORKER::PARENT);

#define PACKET_MAX (UROM_HEAD_SIZE + UROM_TEXT_MAX)

static void send_packet(int fd, const struct urom_head *head, const void *body, size_t len)
{
	uint8_t packet[PACKET_MAX];

	memcpy(packet, head, sizeof(*head));
	if (len != 0)
		memcpy(packet + sizeof(*head), body, len);
	if (send(fd, packet, sizeof(*head) + len, MSG_NOSIGNAL) < 0)
		DOCA_LOG_ERR("cannot report to the daemon: %s", strerror(errno));
}

void parent_ready(struct worker *worker)
{
	struct urom_head head = urom_head_make(UROM_READY, DOCA_SUCCESS, 0, 0);

	send_packet(worker->parent_fd, &head, NULL, 0);
}

void parent_failed(int fd, const char *reason)
{
	struct urom_head head = urom_head_make(UROM_FAILED, DOCA_ERROR_UNKNOWN, 0, 0);
	uint8_t text[UROM_TEXT_MAX];

	send_packet(fd, &head, text, urom_text_pack(reason, text, sizeof(text)));
}

bool parent_read(struct worker *worker)
{
	uint8_t packet[PACKET_MAX];
	struct urom_head head;
	ssize_t len = recv(worker->parent_fd, packet, sizeof(packet), MSG_DONTWAIT);

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (len <= 0) {
		bool news = !worker->ending;

		worker->ending = true; /* the daemon is gone */
		worker->drains = false;
		return news;
	}
	if ((size_t)len < sizeof(head) || urom_head_parse(packet, sizeof(head), &head) != DOCA_SUCCESS)
		return true;
	if (head.kind == UROM_END)
		worker->ending = worker->drains = true;
	else if (head.kind == UROM_ADMIT && (size_t)len == sizeof(head) + UROM_TOKEN_SIZE)
		tokens_add(worker, packet + sizeof(head));
	return true;
}
