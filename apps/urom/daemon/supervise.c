/* SPDX-License-Identifier: BSD-3-Clause */
/* Detects workers without progress and explains deaths. */
#include "supervise.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <doca_log.h>

#include "daemon.h"
#include "plugins.h"

DOCA_LOG_REGISTER(UROM_DAEMON::SUPERVISE);

#define LOOKS 4
#define STOPPED_FACTOR 10 /* for a worker stopped by SIGSTOP, perhaps on purpose */

/* ---- the heartbeat ---- */

static const struct daemon_plugin *nth_plugin(const struct daemon *daemon, const struct daemon_worker *worker, uint32_t index)
{
	uint64_t left = worker->plugins;

	while (index-- > 0)
		left &= left - 1;
	return plugins_find(daemon, left & -left);
}

/* Returns the plugin in whose operation the worker is, and that operation's name; NULL: none. Plugins can write to the heartbeat,
 * so it is checked. */
static const struct daemon_plugin *worker_find_call(const struct daemon *daemon, const struct daemon_worker *worker,
						    const char **call)
{
	static const char *const names[HEARTBEAT_CALLS] = {"",	       "the loading", "open",	     "addr", "worker_cmd",
							   "progress", "notif_pack",  "client_left", "close"};
	uint64_t word = atomic_load_explicit(&worker->heartbeat->word, memory_order_relaxed);
	uint32_t index = (uint32_t)(word >> 8) & 0xff, number = (uint32_t)word & 0xff;

	if (number == HEARTBEAT_OWN || number >= HEARTBEAT_CALLS || index >= (uint32_t)__builtin_popcountll(worker->plugins))
		return NULL;
	*call = names[number];
	return nth_plugin(daemon, worker, index);
}

void supervise_set_names(const struct daemon *daemon, struct daemon_worker *worker)
{
	size_t used = 0;

	for (uint64_t left = worker->plugins; left != 0 && used < sizeof(worker->names); left &= left - 1) {
		const struct daemon_plugin *plugin = plugins_find(daemon, left & -left);

		used += (size_t)snprintf(worker->names + used, sizeof(worker->names) - used, "%s%s", used != 0 ? ", " : "",
					 plugin->info.name);
	}
}

/* ---- checks ---- */

static void end_hanging(struct daemon *daemon, struct daemon_worker *worker, bool stopped)
{
	const char *call = NULL;
	const struct daemon_plugin *plugin = worker_find_call(daemon, worker, &call);

	if (plugin != NULL)
		snprintf(worker->reason, sizeof(worker->reason),
			 "killed because it hung in %s of %s: --plugin-timeout is %u seconds", call, plugin->info.name,
			 daemon->config.plugin_timeout_s);
	else
		snprintf(worker->reason, sizeof(worker->reason), "killed because it hung%s: --plugin-timeout is %u seconds",
			 stopped ? ", stopped by a signal" : " outside of its plugins' operations",
			 daemon->config.plugin_timeout_s);
	worker->killed = true;
	kill(worker->pid, SIGKILL);
}

static uint64_t look_interval(const struct daemon *daemon)
{
	return (uint64_t)daemon->config.plugin_timeout_s * (UINT64_C(1000000000) / LOOKS);
}

/* Only the worker's own time counts, not time in which the machine or the daemon slept. */
static void worker_look(struct daemon *daemon, struct daemon_worker *worker, uint64_t now)
{
	uint64_t word = atomic_load_explicit(&worker->heartbeat->word, memory_order_relaxed), before = worker->idle.had_ns;

	if (worker->state == WORKER_ENDING || worker->killed)
		return; /* STARTING and ENDING have limits of their own */
	if (word != worker->last_word || !worker->looked) {
		worker->last_word = word;
		worker->looked = true;
		own_time_begin(&worker->idle, worker->pid, false, now);
		return;
	}
	char state = own_time_look(&worker->idle, worker->pid, now, look_interval(daemon));
	if (state == 't') /* stopped by a debugger */
		worker->idle.had_ns = 0;
	else if (state == 'T')
		worker->idle.had_ns = before + (worker->idle.had_ns - before) / STOPPED_FACTOR;
	if (worker->idle.had_ns >= LOOKS * look_interval(daemon))
		end_hanging(daemon, worker, state == 'T');
}

uint64_t supervise_workers(struct daemon *daemon, uint64_t now)
{
	struct daemon_worker *worker;

	if (daemon->config.plugin_timeout_s == 0 || TAILQ_EMPTY(&daemon->workers))
		return UINT64_MAX;
	if (now < daemon->next_look)
		return daemon->next_look;
	TAILQ_FOREACH (worker, &daemon->workers, next)
		worker_look(daemon, worker, now);
	daemon->next_look = now + look_interval(daemon);
	return daemon->next_look;
}

/* ---- deaths ---- */

/* A worker that used nearly all its memory limit has likely died of that. */
static void add_memory(const struct daemon *daemon, const struct rusage *usage, char *text, size_t room)
{
	long used_mib = usage->ru_maxrss / 1024, max_mib = (long)daemon->config.memory_max_mib;

	if (max_mib != 0 && used_mib >= max_mib - max_mib / 8)
		snprintf(text, room, "; it used %ld MiB of memory, --max-worker-memory is %ld", used_mib, max_mib);
}

void supervise_explain(const struct daemon *daemon, const struct daemon_worker *worker, int status, const struct rusage *usage,
		       char reason[UROM_TEXT_MAX], const char **path)
{
	const char *call = "";
	const struct daemon_plugin *plugin = worker_find_call(daemon, worker, &call);
	char place[UROM_PLUGIN_NAME_SIZE + 32] = "", memory[80] = "";

	*path = plugin != NULL ? plugin->path : NULL;
	if (worker->reason[0] != '\0') {
		snprintf(reason, UROM_TEXT_MAX, "%s", worker->reason);
		return;
	}
	if (plugin != NULL)
		snprintf(place, sizeof(place), " in %s of %s", call, plugin->info.name);
	add_memory(daemon, usage, memory, sizeof(memory));
	if (WIFSIGNALED(status))
		snprintf(reason, UROM_TEXT_MAX, "its process %d was ended by signal %d (%s)%s%s%s", worker->pid, WTERMSIG(status),
			 strsignal(WTERMSIG(status)), place, memory, worker->killed ? ": it did not start or end in time" : "");
	else
		snprintf(reason, UROM_TEXT_MAX, "its process %d ended by itself with status %d%s%s", worker->pid,
			 WEXITSTATUS(status), place, memory);
}
