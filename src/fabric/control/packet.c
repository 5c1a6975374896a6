/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/control/packet.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fabric/control/message.h"

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(SF_MSG_FDS_MAX * sizeof(int))];
};

bool sf_packet_send(int fd, const void *bytes, size_t len, const int *fds, unsigned num)
{
	union control control;
	struct iovec iov = {.iov_base = (void *)bytes, .iov_len = len};
	struct msghdr head = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t sent;

	if (num != 0) {
		memset(&control, 0, sizeof(control));
		head.msg_control = &control;
		head.msg_controllen = CMSG_SPACE(num * sizeof(int));

		struct cmsghdr *cmsg = CMSG_FIRSTHDR(&head);

		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(num * sizeof(int));
		memcpy(CMSG_DATA(cmsg), fds, num * sizeof(int));
	}
	sent = sendmsg(fd, &head, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent >= 0)
		errno = 0;
	return sent == (ssize_t)len;
}

static void close_all(const int *fds, unsigned num)
{
	for (unsigned i = 0; i < num; i++)
		close(fds[i]);
}

/* Returns false if there are more descriptors than fit, or unexpected ones. */
static bool descriptors_receive(struct msghdr *head, int *fds, unsigned room, unsigned *num)
{
	bool good = true;

	*num = 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(head); c != NULL; c = CMSG_NXTHDR(head, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		unsigned got = (unsigned)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		int taken[SF_MSG_FDS_MAX];

		memcpy(taken, CMSG_DATA(c), got * sizeof(int));
		if (*num + got > room) {
			close_all(taken, got);
			good = false;
			continue;
		}
		memcpy(fds + *num, taken, got * sizeof(int));
		*num += got;
	}
	return good;
}

ssize_t sf_packet_receive(int fd, void *bytes, size_t size, int *fds, unsigned *num)
{
	union control control;
	struct iovec iov = {.iov_base = bytes, .iov_len = size};
	struct msghdr head = {.msg_iov = &iov, .msg_iovlen = 1};
	unsigned room = num != NULL ? *num : 0, got = 0;
	ssize_t len;
	bool good;

	if (num != NULL) {
		head.msg_control = &control;
		head.msg_controllen = sizeof(control);
		*num = 0;
	}
	do
		len = recvmsg(fd, &head, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (len < 0 && errno == EINTR);
	if (len < 0)
		return errno == EAGAIN || errno == EWOULDBLOCK || errno == ECONNRESET ? -1 : 0;
	/* An empty packet is invalid, but may carry descriptors. */
	good = descriptors_receive(&head, fds, room, &got) && len != 0 && (head.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
	if (good && num != NULL)
		*num = got;
	if (good)
		return len;
	close_all(fds, got);
	return 0;
}
