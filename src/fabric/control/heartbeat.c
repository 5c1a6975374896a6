/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/control/heartbeat.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/log_rate.h"
#include "base/thread_safety.h"
#include "fabric/control/address.h"
#include "fabric/control/agent.h"

#define TIMEOUT_MS 1000
#define TIMEOUT_MIN_MS 200
#define TIMEOUT_MAX_MS 3600000
#define LOOKS 10       /* checks in that time; */
#define SILENT_LOOKS 8 /* without any data from a lost channel, */
#define WAITED_LOOKS 5 /* and with data in flight; */
#define STUCK_LOOKS 3  /* without progress at a peer that answers, */
#define STUCK_TRIES 2  /* after so many retransmissions */
/* What the kernel reports, since Linux 4.6. */
#define INFO_SIZE (offsetof(struct tcp_info, tcpi_notsent_bytes) + sizeof(((struct tcp_info *)NULL)->tcpi_notsent_bytes))

/* A remote address with channels, and when data last came from it. */
struct sf_machine {
	struct sf_address address; /* its port is 0 */
	uint32_t scope;
	uint64_t heard_ns, asked_ns; /* 0: not since data came */
	LIST_HEAD(, sf_heartbeat) heartbeats;
	LIST_ENTRY(sf_machine) entry;
};

/* Taken under the locks of channels' owners. Recursive: a channel that is probed may end for another reason. */
static pthread_mutex_t lock;
static LIST_HEAD(, sf_machine) machines GUARDED_BY(lock) = LIST_HEAD_INITIALIZER(machines);
static uint64_t next_look_ns GUARDED_BY(lock);
/* The last check that came so late that this machine, not the peers, was silent. */
static uint64_t resumed_ns GUARDED_BY(lock);

/* ---- the time limit ---- */

/* Returns false if the variable's value is not a valid number of milliseconds. */
static bool timeout_read(uint32_t *timeout_ms)
{
	const char *text = secure_getenv("SOFTFIELD_PEER_TIMEOUT");
	unsigned long number;
	char *end;

	*timeout_ms = TIMEOUT_MS;
	if (text == NULL || text[0] == '\0')
		return true;
	errno = 0;
	number = strtoul(text, &end, 10);
	if (errno != 0 || *end != '\0' || text[0] < '0' || text[0] > '9' || number < TIMEOUT_MIN_MS || number > TIMEOUT_MAX_MS)
		return false;
	*timeout_ms = (uint32_t)number;
	return true;
}

doca_error_t sf_heartbeat_check(void)
{
	uint32_t timeout_ms;

	if (timeout_read(&timeout_ms))
		return DOCA_SUCCESS;
	SF_LOG_ERR("SOFTFIELD_PEER_TIMEOUT is %s: give milliseconds, %d to %d", secure_getenv("SOFTFIELD_PEER_TIMEOUT"),
		   TIMEOUT_MIN_MS, TIMEOUT_MAX_MS);
	return DOCA_ERROR_BAD_CONFIG;
}

uint32_t sf_heartbeat_timeout_ms(void)
{
	static _Atomic uint32_t timeout_ms;
	uint32_t read_ms = timeout_ms;

	if (read_ms == 0) {
		(void)timeout_read(&read_ms);
		timeout_ms = read_ms;
	}
	return read_ms;
}

static uint64_t look_interval_ns(void)
{
	return sf_heartbeat_timeout_ms() * UINT64_C(1000000) / LOOKS;
}

/* ---- what is watched ---- */

/* Returns false if TCP_INFO is not that of Linux, as under qemu's user mode. */
static bool info_read(int fd, struct tcp_info *info)
{
	socklen_t len = sizeof(*info);

	memset(info, 0, sizeof(*info));
	return getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &len) == 0 && len >= INFO_SIZE;
}

/* NULL: no memory. */
static REQUIRES(lock) struct sf_machine *machine_get(const struct sf_address *address, uint32_t scope)
{
	struct sf_machine *machine;

	LIST_FOREACH (machine, &machines, entry) {
		if (machine->scope == scope && machine->address.is_ipv6 == address->is_ipv6 &&
		    memcmp(machine->address.bytes, address->bytes, sizeof(address->bytes)) == 0)
			return machine;
	}
	machine = calloc(1, sizeof(*machine));
	if (machine == NULL)
		return NULL;
	machine->address = *address;
	machine->scope = scope;
	LIST_INSERT_HEAD(&machines, machine, entry);
	return machine;
}

void sf_heartbeat_begin(struct sf_heartbeat *heartbeat, int fd, bool (*probe)(struct sf_heartbeat *heartbeat))
{
	const int timeout_ms = (int)sf_heartbeat_timeout_ms();
	struct sf_address address;
	struct tcp_info info;
	uint32_t scope;
	bool was_empty;

	heartbeat->machine = NULL;
	if (!sf_address_of_peer(fd, &address, &scope))
		return;
	address.port = 0;
	if (!info_read(fd, &info)) {
		/* The fallback: it also ends a channel to a stopped process with much unread data. */
		(void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms, sizeof(timeout_ms));
		return;
	}
	heartbeat->probe = probe;
	heartbeat->fd = fd;
	heartbeat->generation = sf_control_generation();
	heartbeat->is_lost = false;
	heartbeat->is_full = false;
	heartbeat->has_sent = true;
	heartbeat->waiting_ns = heartbeat->stuck_ns = 0;
	pthread_mutex_lock(&lock);
	was_empty = LIST_EMPTY(&machines);
	heartbeat->machine = machine_get(&address, scope);
	if (heartbeat->machine != NULL)
		LIST_INSERT_HEAD(&heartbeat->machine->heartbeats, heartbeat, entry);
	pthread_mutex_unlock(&lock);
	if (was_empty)
		sf_control_wake();
}

void sf_heartbeat_end(struct sf_heartbeat *heartbeat)
{
	if (heartbeat->machine == NULL)
		return;
	pthread_mutex_lock(&lock);
	if (heartbeat->generation == sf_control_generation())
		LIST_REMOVE(heartbeat, entry);
	heartbeat->machine = NULL; /* the agent frees it when it is unused */
	pthread_mutex_unlock(&lock);
}

static __attribute__((constructor)) void lock_init(void)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
}

static SF_IN_CHILD void after_fork_child(void)
{
	lock_init(); /* a thread of the parent may have held it */
	LIST_INIT(&machines);
	next_look_ns = 0;
}

SF_FORK_LOCK(SF_FORK_HEARTBEAT, &lock, after_fork_child);

/* ---- looking after them; by the agent ---- */

static void connection_end(struct sf_heartbeat *heartbeat, const char *what, uint64_t since_ns)
{
	const struct linger none = {.l_onoff = 1};
	const struct sf_address *address = &heartbeat->machine->address;
	char text[INET6_ADDRSTRLEN];

	(void)inet_ntop(address->is_ipv6 ? AF_INET6 : AF_INET, address->bytes, text, sizeof(text));
	SF_LOG_WARN_LIMITED("the machine at %s %s for %u ms: closed a connection to it (SOFTFIELD_PEER_TIMEOUT)", text, what,
			    (unsigned)(since_ns / 1000000));
	heartbeat->is_lost = true;
	(void)setsockopt(heartbeat->fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none)); /* do not wait for its last bytes */
	(void)shutdown(heartbeat->fd, SHUT_RDWR);
}

/* Returns true if the peer must acknowledge something: data is in flight; or the peer has room and data cannot even be sent; or
 * its window is full and the kernel probes it. Not every probe is answered: tcp_invalid_ratelimit. */
static bool is_waiting(const struct tcp_info *info)
{
	return info->tcpi_unacked != 0 || (info->tcpi_notsent_bytes != 0 && info->tcpi_snd_wnd != 0) || info->tcpi_probes > 1;
}

/* The peer answers, but data does not arrive: the path drops full-size packets. A peer with a full window is stopped
 * instead. */
static bool is_stuck(struct sf_heartbeat *heartbeat, const struct tcp_info *info, uint64_t now)
{
	const bool moves = info->tcpi_unacked == 0 || info->tcpi_retransmits < STUCK_TRIES || info->tcpi_snd_wnd == 0 ||
			   info->tcpi_bytes_acked != heartbeat->acked;

	heartbeat->acked = info->tcpi_bytes_acked;
	if (moves)
		heartbeat->stuck_ns = 0;
	else if (heartbeat->stuck_ns == 0)
		heartbeat->stuck_ns = now;
	return !moves && now - heartbeat->stuck_ns >= STUCK_LOOKS * look_interval_ns();
}

/* A channel that has sent nothing since the last acknowledgement has nothing in flight, so the kernel need not be
 * asked. */
static REQUIRES(lock) void connection_look(struct sf_heartbeat *heartbeat, uint64_t now)
{
	const uint64_t interval = look_interval_ns();
	struct sf_machine *machine = heartbeat->machine;
	struct tcp_info info;
	uint64_t silent_ns, heard;

	if (heartbeat->is_lost || (!heartbeat->has_sent && !heartbeat->is_full && heartbeat->waiting_ns == 0))
		return;
	heartbeat->has_sent = false;
	if (!info_read(heartbeat->fd, &info))
		return;
	silent_ns = info.tcpi_last_ack_recv < info.tcpi_last_data_recv ? info.tcpi_last_ack_recv : info.tcpi_last_data_recv;
	silent_ns *= 1000000;
	heard = silent_ns < now ? now - silent_ns : 0;
	if (heard > machine->heard_ns)
		machine->heard_ns = heard;
	heartbeat->is_full = info.tcpi_notsent_bytes != 0;
	if (is_stuck(heartbeat, &info, now)) {
		connection_end(heartbeat, "answers but receives no data, as on a path that drops full-size packets,",
			       now - heartbeat->stuck_ns);
		return;
	}
	if (!is_waiting(&info))
		heartbeat->waiting_ns = 0;
	else if (heard > heartbeat->waiting_ns || (heartbeat->waiting_ns != 0 && heartbeat->waiting_ns < resumed_ns))
		heartbeat->waiting_ns = now;
	else if (silent_ns >= SILENT_LOOKS * interval && now - heartbeat->waiting_ns >= WAITED_LOOKS * interval)
		connection_end(heartbeat, "did not answer", silent_ns);
}

/* Returns whether data is in flight to the peer. */
static bool connection_ask(struct sf_heartbeat *heartbeat, uint64_t now)
{
	if (heartbeat->waiting_ns != 0)
		return true;
	if (heartbeat->is_lost || heartbeat->is_full || !heartbeat->probe(heartbeat))
		return false;
	heartbeat->waiting_ns = now;
	return true;
}

/* Probes one of its channels, or all. */
static void machine_ask(struct sf_machine *machine, bool all, uint64_t now)
{
	struct sf_heartbeat *heartbeat, *next;

	for (heartbeat = LIST_FIRST(&machine->heartbeats); heartbeat != NULL; heartbeat = next) {
		next = LIST_NEXT(heartbeat, entry);
		if (!connection_ask(heartbeat, now))
			continue;
		if (machine->asked_ns == 0)
			machine->asked_ns = now;
		if (!all)
			return;
	}
}

static REQUIRES(lock) void machine_look(struct sf_machine *machine, uint64_t now)
{
	const uint64_t interval = look_interval_ns();
	struct sf_heartbeat *heartbeat, *next;

	for (heartbeat = LIST_FIRST(&machine->heartbeats); heartbeat != NULL; heartbeat = next) {
		next = LIST_NEXT(heartbeat, entry);
		connection_look(heartbeat, now);
		if (heartbeat->drain != NULL)
			heartbeat->drain(heartbeat);
	}
	if (machine->heard_ns + interval + interval / 2 > now) /* an answer may be as old as the last check */
		machine->asked_ns = 0;
	else
		machine_ask(machine, machine->asked_ns != 0, now);
}

uint64_t sf_heartbeats_tick(uint64_t now)
{
	struct sf_machine *machine, *next;
	uint64_t due = 0;

	pthread_mutex_lock(&lock);
	if (now >= next_look_ns) {
		if (next_look_ns != 0 && now - next_look_ns >= WAITED_LOOKS * look_interval_ns())
			resumed_ns = now;
		for (machine = LIST_FIRST(&machines); machine != NULL; machine = next) {
			next = LIST_NEXT(machine, entry);
			machine_look(machine, now);
			if (!LIST_EMPTY(&machine->heartbeats))
				continue;
			LIST_REMOVE(machine, entry);
			free(machine);
		}
		next_look_ns = now + look_interval_ns();
	}
	if (!LIST_EMPTY(&machines))
		due = next_look_ns;
	pthread_mutex_unlock(&lock);
	return due;
}
