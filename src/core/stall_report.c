/* SPDX-License-Identifier: BSD-3-Clause */
/* Composes stall reports: the missing action, and the process that must do it. */
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/liveness.h"
#include "base/log.h"
#include "base/trace_own.h"
#include "core/pe_checks.h"
#include "core/stall.h"
#include "validation/validation.h"

#define LINE_MAX_LEN 768

struct line {
	char text[LINE_MAX_LEN];
	size_t len;
};

static __attribute__((format(printf, 2, 3))) void line_add(struct line *line, const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(line->text + line->len, sizeof(line->text) - line->len, format, args);
	va_end(args);
	if (len > 0)
		line->len += (size_t)len < sizeof(line->text) - line->len ? (size_t)len : sizeof(line->text) - 1 - line->len;
}

static void add_age(struct line *line, uint64_t ms)
{
	line_add(line, "%llu.%llu s", (unsigned long long)(ms / 1000), (unsigned long long)(ms / 100 % 10));
}

static const char *plural_s(uint64_t num)
{
	return num == 1 ? "" : "s";
}

/* ---- the peer ---- */

struct peer {
	pid_t pid;
	bool has_page, is_stopped, was_called;
	uint64_t last_ms;   /* time since its last progress call, at least */
	uint64_t inside_ms; /* in one progress call, at least */
	char program[SF_STATUS_TEXT_MAX];
};

struct search {
	pid_t pid;
	const char *name; /* of the context, which the peer uses as well, or empty */
	struct peer *peer;
};

/* Returns whether we wait for this context: it has the same name, or is connected to this process. */
static bool is_awaited(const struct sf_status_page *page, uint32_t context, const char *name)
{
	const struct sf_status_context *it = &page->contexts[context];

	if (name[0] != '\0' && strcmp(it->name, name) == 0)
		return true;
	for (uint32_t i = 0; i < page->head.num_connections; i++) {
		if (page->connections[i].context == context && page->connections[i].pid == (uint32_t)getpid())
			return true;
	}
	return false;
}

/* The peer's progress engine that must be called: of a context that we wait for, else any; the least recently called one. */
static const struct sf_status_engine *engine_find(const struct sf_status_page *page, const char *name)
{
	const struct sf_status_engine *found = NULL;
	bool found_awaited = false;

	for (uint32_t i = 0; i < page->head.num_contexts; i++) {
		const struct sf_status_engine *engine = &page->engines[page->contexts[i].engine];
		bool awaited = is_awaited(page, i, name);

		if (found == NULL || awaited > found_awaited ||
		    (awaited == found_awaited && engine->last_call_ns < found->last_call_ns)) {
			found = engine;
			found_awaited = awaited;
		}
	}
	return found;
}

static uint64_t age_ms(uint64_t since_ns, uint64_t now_ns)
{
	return since_ns < now_ns ? (now_ns - since_ns) / 1000000 : 0;
}

static void page_take(struct peer *peer, const struct sf_status_page *page, const char *name)
{
	const struct sf_status_engine *engine = engine_find(page, name);
	uint64_t now_ns = sf_now_ns();

	snprintf(peer->program, sizeof(peer->program), "%s", page->head.program);
	if (engine == NULL)
		return;
	peer->has_page = true;
	peer->was_called = engine->last_call_ns != 0;
	peer->last_ms = age_ms(engine->last_call_ns, now_ns);
	peer->inside_ms = engine->inside_since_ns != 0 ? age_ms(engine->inside_since_ns, now_ns) : 0;
}

static bool page_seen(struct sf_status_reader *reader, pid_t pid, const struct sf_status_page *page)
{
	struct search *search = reader->user;

	if (pid != search->pid)
		return true;
	page_take(search->peer, page, search->name);
	return false;
}

/* Reads the first line of a file of the peer in /proc. False if there is none. */
static bool proc_read(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	len = read(fd, text, size - 1);
	close(fd);
	text[len > 0 ? len : 0] = '\0';
	return len > 0;
}

static void peer_find(struct peer *peer, pid_t pid, const char *name, const struct sf_status_page *own_page,
		      const struct sf_status_file *own)
{
	struct search search = {.pid = pid, .name = name, .peer = peer};
	struct sf_status_reader reader = {.page = page_seen, .own = own, .user = &search};
	char *newline;

	*peer = (struct peer){.pid = pid};
	if (pid == getpid())
		page_take(peer, own_page, name);
	else
		(void)sf_status_folder_read(&reader);
	if (!peer->has_page && proc_read(pid, "comm", peer->program, sizeof(peer->program))) {
		newline = strchr(peer->program, '\n');
		if (newline != NULL)
			*newline = '\0';
	}
	for (char *at = peer->program; *at != '\0'; at++) { /* untrusted text of the peer */
		if (*at < 0x20 || *at >= 0x7f)
			*at = '?';
	}
	peer->is_stopped = sf_process_is_stopped(pid);
}

/* Returns whether peer is the more likely cause: it is stopped, or was not progressed for longer. */
static bool is_worse(const struct peer *peer, const struct peer *than)
{
	if (peer->is_stopped != than->is_stopped)
		return peer->is_stopped;
	if (peer->was_called != than->was_called)
		return !peer->was_called;
	return peer->last_ms + peer->inside_ms > than->last_ms + than->inside_ms;
}

static void peer_choose(struct peer *worst, const struct sf_stall_case *stall, const struct sf_status_page *own_page,
			const struct sf_status_file *own)
{
	struct peer peer;

	*worst = (struct peer){.pid = 0};
	for (uint32_t i = 0; i < stall->num_peers; i++) {
		if (stall->peers[i] == 0)
			continue;
		peer_find(&peer, stall->peers[i], stall->name, own_page, own);
		if (worst->pid == 0 || is_worse(&peer, worst))
			*worst = peer;
	}
}

/* Adds what a process must do whose progress call does not return. */
static void add_blocked(struct line *line, pid_t pid)
{
	line_add(line,
		 "must return from a callback, for doca_pe_progress has not returned: gdb -p %d -batch -ex 'thread apply all bt' "
		 "shows "
		 "where it is",
		 (int)pid);
}

/* Returns whether the context's peers are a daemon and its workers, which have no progress engine. */
static bool is_urom(const char *type)
{
	return strncmp(type, "urom ", strlen("urom ")) == 0;
}

/* Adds what the peer must do. type: of the context. */
static void add_peer(struct line *line, const struct peer *peer, const char *type, uint64_t stalled_ms)
{
	line_add(line, "process %d (%s) ", (int)peer->pid, peer->program[0] != '\0' ? peer->program : "?");
	if (peer->is_stopped)
		line_add(line, "is stopped by a signal or a debugger: continue it (kill -CONT %d)", (int)peer->pid);
	else if (!peer->has_page && is_urom(type))
		line_add(line, "does not answer: see its log");
	else if (!peer->has_page)
		line_add(line, "runs no context on a progress engine: start one there, and call doca_pe_progress");
	else if (!peer->was_called)
		line_add(line, "never called doca_pe_progress: call it there");
	else if (peer->inside_ms >= stalled_ms / 2)
		add_blocked(line, peer->pid);
	else if (peer->last_ms >= stalled_ms / 2)
		line_add(line, "must call doca_pe_progress");
	else
		line_add(line, "progresses, but does not take them: it must post receives, or accept");
	if (peer->has_page && peer->was_called) {
		bool is_inside = peer->inside_ms >= stalled_ms / 2;

		line_add(line, is_inside ? " (the call has taken " : " (last call ");
		add_age(line, is_inside ? peer->inside_ms : peer->last_ms);
		line_add(line, is_inside ? ")" : " ago)");
	}
}

/* ---- the line ---- */

static void add_begin(struct line *line, const struct sf_stall_case *stall)
{
	switch (stall->stall) {
	case SF_STALL_STOPPING:
		line_add(line, "context %s is in STOPPING for ", stall->what);
		break;
	case SF_STALL_STARTING:
		line_add(line, "connect of %s has taken ", stall->what);
		break;
	case SF_STALL_TASKS:
		line_add(line, "%s has %llu task%s in flight, and none ended for ", stall->what,
			 (unsigned long long)stall->num_owed, plural_s(stall->num_owed));
		break;
	case SF_STALL_OLD_TASK:
		line_add(line, "%s has had a task in flight, while others ended or moved, for ", stall->what);
		break;
	case SF_STALL_AGAIN:
		line_add(line, "submit to %s answers AGAIN for ", stall->what);
		break;
	case SF_STALL_CALL:
		line_add(line, "doca_pe_progress is in %s and has not returned for ", stall->what);
		break;
	}
	add_age(line, stall->stalled_ms);
	line_add(line, ": ");
	if (stall->num_inflight > 0 && (stall->stall & (SF_STALL_STOPPING | SF_STALL_STARTING | SF_STALL_AGAIN)) != 0)
		line_add(line, "%llu task%s in flight; ", (unsigned long long)stall->num_inflight,
			 stall->num_inflight == 1 ? " is" : "s are");
}

static void add_own_call(struct line *line, const struct sf_stall_case *stall)
{
	line_add(line, "call doca_pe_progress on its progress engine (");
	if (stall->was_called) {
		line_add(line, "last call ");
		add_age(line, stall->last_ms);
		line_add(line, " ago)");
	} else {
		line_add(line, "it was never called)");
	}
}

/* Adds the advice when no peer is known. */
static void add_own_rest(struct line *line, const struct sf_stall_case *stall)
{
	if (stall->stall == SF_STALL_STOPPING && stall->num_inflight == 0)
		line_add(line, "destroy first what was made on it, as its producers and consumers");
	else if (stall->stall == SF_STALL_STARTING)
		line_add(line, "no peer is known yet; SOFTFIELD_LOG=info shows how far it came");
	else
		line_add(
			line,
			"its engine is progressed and no peer is connected: wait for a peer, or the work itself takes this long");
}

static void add_timeline(struct line *line)
{
	char path[PATH_MAX];

	if (sf_trace_keep(path))
		line_add(line, "; timeline: %s", path);
}

/* Reports a broken rule, unless the cause is a peer that is stopped or not visible. */
static void rule_break(const struct sf_stall_case *stall, const struct peer *peer, struct line *line, size_t cause_len)
{
	bool is_own = stall->is_idle || stall->stall == SF_STALL_CALL;
	enum sf_stall_peer does = SF_STALL_PEER_RESTS;

	if (!is_own && stall->num_peers != 0 && (peer->pid == 0 || peer->is_stopped))
		return;
	if (is_urom(stall->type) && !peer->has_page)
		does = SF_STALL_PEER_PROGRESSES;
	else if (peer->was_called && peer->last_ms < stall->stalled_ms / 2)
		does = peer->inside_ms >= stall->stalled_ms / 2 ? SF_STALL_PEER_BLOCKED : SF_STALL_PEER_PROGRESSES;
	line->text[cause_len - strlen(": ")] = '\0';
	sf_stall_break_rule(stall, does, line->text, line->text + cause_len);
}

void sf_stall_report(const struct sf_stall_case *stall, const struct sf_status_page *page, const struct sf_status_file *own)
{
	struct line line = {.len = 0};
	struct peer peer = {.pid = 0};
	size_t cause_len;

	add_begin(&line, stall);
	cause_len = line.len;
	if (stall->stall == SF_STALL_CALL) {
		line_add(&line,
			 "a callback blocks in it: return from it, and wait elsewhere; gdb -p %d -batch -ex 'thread "
			 "apply all bt' shows where it is",
			 (int)getpid());
	} else if (stall->is_blocked) {
		line_add(&line, "a callback that doca_pe_progress runs must return");
	} else if (stall->is_idle) {
		add_own_call(&line, stall);
	} else if (stall->stall == SF_STALL_STOPPING && stall->num_inflight == 0 && stall->num_allocated > 0) {
		line_add(&line, "free its %llu allocated task%s (doca_task_free)", (unsigned long long)stall->num_allocated,
			 plural_s(stall->num_allocated));
	} else if (stall->num_peers == 0) {
		add_own_rest(&line, stall);
	} else {
		peer_choose(&peer, stall, page, own);
		if (peer.pid != 0)
			add_peer(&line, &peer, stall->type, stall->stalled_ms);
		else
			line_add(&line, "its peer is on another machine or in another container: run softfield ps there");
	}
	add_timeline(&line);
	SF_LOG_WARN("%s", line.text);
	if (sf_validation_is_on)
		rule_break(stall, &peer, &line, cause_len);
}
