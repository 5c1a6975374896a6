/* SPDX-License-Identifier: BSD-3-Clause */
/* A peer that turns what it was given against us: its doorbell, the memory it was lent, what it keeps when its link has ended. */
#include "conformance.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#define OTHER SF_CAP_OTHER_PROCESS
#define FULL (UINT64_MAX - 1) /* the largest count that a write leaves in an eventfd */

/* ---- doorbells ---- */

enum { FILLS = 50, ROOM_LEFT = 500, PROGRESS = 2000 };

static _Atomic uint64_t *rings; /* shared with the peer: how often its doorbell was rung */

/* Takes the last room in the counter, against those who ring. */
static void *fill_on(void *arg)
{
	const uint64_t one = 1;
	int fd = *(int *)arg;

	for (;;)
		(void)!write(fd, &one, sizeof(one));
	return NULL;
}

/* Lets its own doorbell become full while it is rung, again and again, and sees the ringing go on. */
static void filling_script(int sock)
{
	uint64_t count, full = FULL - ROOM_LEFT;
	char name[SF_NAME_MAX];
	struct sf_link *link;
	pthread_t thread;
	struct end end;

	hear(sock, name, sizeof(name));
	end_open(&end, "host0/0000:d8:00.0", 1);
	link = end_connect(&end, name);
	WAIT(end.connects == 1 && link->state == SF_LINK_READY);
	while (sf_port_arm(end.port))
		end_poll(&end, 8);
	CHECK(pthread_create(&thread, NULL, fill_on, &end.event_fd) == 0);
	say_word(sock, 'a');
	for (int i = 0; i < FILLS; i++) {
		CHECK(fcntl(end.event_fd, F_SETFL, O_NONBLOCK) == 0);
		while (read(end.event_fd, &count, sizeof(count)) < 0 || write(end.event_fd, &full, sizeof(full)) < 0)
			;
		CHECK(fcntl(end.event_fd, F_SETFL, 0) == 0);
		for (uint64_t before = atomic_load(rings); atomic_load(rings) < before + PROGRESS;)
			sched_yield(); /* for ever, if the ringing waits for room */
	}
	say_word(sock, 'd');
	hear_word(sock, 'e');
	_exit(0); /* the thread may wait for room itself */
}

static void a_full_doorbell_holds_up_nobody_who_rings(void)
{
	struct peer peer;
	struct end end;

	rings = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	peer_fork(&peer, filling_script);
	end_open(&end, "dpu0/0000:03:00.0", 1);
	end_listen(&end, SF_LISTEN_AUTO);
	say(peer.sock, end.name, sizeof(end.name));
	WAIT(end.accepts == 1);
	hear_word(peer.sock, 'a');
	while (!word_waits(peer.sock)) {
		for (int i = 0; i < 1000; i++) {
			sf_link_ring(end.accepted[0]);
			atomic_fetch_add(rings, 1);
		}
	}
	hear_word(peer.sock, 'd');
	say_word(peer.sock, 'e');
	peer_end(&peer);
	WAIT(end.closes == 1);
	sf_link_close(end.accepted[0]);
	end_close(&end);
}

const struct conformance_case hostile_cases[] = {
	CASE(a_full_doorbell_holds_up_nobody_who_rings, OTHER),
	{0},
};
