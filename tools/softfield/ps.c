/* SPDX-License-Identifier: BSD-3-Clause */
/* softfield ps: lists what the runtime folder's processes run, from their status pages. */
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/runtime_folder.h"
#include "base/status_folder.h"
#include "printable.h"
#include "ps.h"
#include "table.h"
#include "tool.h"

#define WATCH_DEFAULT_S 2
#define WATCH_MAX_S 3600

struct options {
	bool json;
	long watch_s; /* 0: once */
};

/* ---- collecting ---- */

/* Makes text of the process printable on a terminal. */
static void page_clean(struct sf_status_page *page)
{
	make_printable(page->head.program);
	make_printable(page->head.node);
	for (uint32_t i = 0; i < page->head.num_contexts; i++) {
		make_printable(page->contexts[i].kind);
		make_printable(page->contexts[i].device);
		make_printable(page->contexts[i].name);
	}
}

static bool page_keep(struct sf_status_reader *reader, pid_t pid, const struct sf_status_page *page)
{
	struct ps_list *list = reader->user;
	struct ps_process *all;

	if (list->num == PS_PROCESSES_MAX)
		return false;
	all = realloc(list->all, (list->num + 1) * sizeof(*all));
	if (all == NULL)
		return false;
	list->all = all;
	all[list->num] = (struct ps_process){.pid = pid, .page = malloc(sizeof(*page))};
	if (all[list->num].page == NULL)
		return false;
	memcpy(all[list->num].page, page, sizeof(*page));
	page_clean(all[list->num++].page);
	return true;
}

static int process_compare(const void *left, const void *right)
{
	const struct ps_process *a = left, *b = right;

	return a->pid != b->pid ? (a->pid > b->pid) - (a->pid < b->pid)
				: (a->page->head.pid > b->page->head.pid) - (a->page->head.pid < b->page->head.pid);
}

static void list_read(struct ps_list *list)
{
	struct sf_status_reader reader = {.page = page_keep, .user = list};

	*list = (struct ps_list){.now_ns = sf_now_ns()};
	(void)sf_status_folder_read(&reader); /* a missing folder means no process */
	if (list->num > 0)
		qsort(list->all, list->num, sizeof(*list->all), process_compare);
}

static void list_free(struct ps_list *list)
{
	for (size_t i = 0; i < list->num; i++)
		free(list->all[i].page);
	free(list->all);
}

uint64_t ps_age_ms(const struct ps_list *list, uint64_t since_ns)
{
	return since_ns < list->now_ns ? (list->now_ns - since_ns) / 1000000 : 0;
}

uint64_t ps_oldest_ns(const struct ps_process *process, const struct sf_status_context *it)
{
	uint64_t ms = process->page->head.sampled_ns / 1000000;

	return it->oldest_ms == 0 || it->oldest_ms >= ms ? 0 : (ms - it->oldest_ms) * 1000000;
}

const char *ps_user(uint32_t user, char text[PS_TEXT_MAX])
{
	const struct passwd *entry = getpwuid(user);

	if (entry != NULL)
		snprintf(text, PS_TEXT_MAX, "%s", entry->pw_name);
	else
		snprintf(text, PS_TEXT_MAX, "%u", user);
	return text;
}

static const struct ps_process *process_find(const struct ps_list *list, pid_t pid)
{
	for (size_t i = 0; pid != 0 && i < list->num; i++) {
		if (list->all[i].pid == pid)
			return &list->all[i];
	}
	return NULL;
}

/* Of a process without a page, such as a worker of UROM. Empty if it is not visible. */
static void comm_read(pid_t pid, char text[SF_STATUS_TEXT_MAX])
{
	char path[32];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	file = fopen(path, "re");
	text[0] = '\0';
	if (file != NULL && fgets(text, SF_STATUS_TEXT_MAX, file) == NULL)
		text[0] = '\0';
	if (file != NULL)
		fclose(file);
	text[strcspn(text, "\n")] = '\0';
	make_printable(text);
}

const char *ps_program(const struct ps_list *list, pid_t pid, char text[SF_STATUS_TEXT_MAX])
{
	const struct ps_process *process = process_find(list, pid);

	if (process != NULL)
		return process->page->head.program;
	text[0] = '\0';
	if (pid != 0)
		comm_read(pid, text);
	return text[0] != '\0' ? text : NULL;
}

/* ---- table ---- */

static const char *pid_text(const struct ps_process *process, char text[PS_TEXT_MAX])
{
	if (process->pid != 0)
		snprintf(text, PS_TEXT_MAX, "%d", (int)process->pid);
	else
		snprintf(text, PS_TEXT_MAX, "%u in a container", process->page->head.pid);
	return text;
}

static const char *age_text(const struct ps_list *list, uint64_t since_ns, char text[PS_TEXT_MAX])
{
	uint64_t ms = ps_age_ms(list, since_ns);

	if (since_ns == 0)
		snprintf(text, PS_TEXT_MAX, "never");
	else if (ms < 60000)
		snprintf(text, PS_TEXT_MAX, "%llu.%llu s", (unsigned long long)(ms / 1000), (unsigned long long)(ms / 100 % 10));
	else if (ms < 3600000)
		snprintf(text, PS_TEXT_MAX, "%llu min", (unsigned long long)(ms / 60000));
	else
		snprintf(text, PS_TEXT_MAX, "%llu h", (unsigned long long)(ms / 3600000));
	return text;
}

/* Calls just before the page's last update count as current. */
static const char *call_text(const struct ps_list *list, const struct sf_status_head *head, const struct sf_status_engine *engine,
			     char text[PS_TEXT_MAX])
{
	uint64_t last_call_ns = engine->last_call_ns;
	char age[PS_TEXT_MAX];

	if (engine->inside_since_ns != 0) {
		snprintf(text, PS_TEXT_MAX, "inside, %.20s", age_text(list, engine->inside_since_ns, age));
		return text;
	}
	if (last_call_ns == 0 || last_call_ns != head->sampled_ns || ps_age_ms(list, last_call_ns) > 2 * (uint64_t)head->tick_ms)
		return age_text(list, last_call_ns, text);
	return "now";
}

static void print_processes(const struct ps_list *list)
{
	struct table *table = table_create(
		(const char *[]){"PID", "PROGRAM", "USER", "NODE", "ENGINES", "CONTEXTS", "AGE", "SEEN", "LEFT OUT", NULL});
	char pid[PS_TEXT_MAX], user[PS_TEXT_MAX], engines[PS_TEXT_MAX], contexts[PS_TEXT_MAX], age[PS_TEXT_MAX];
	char seen[PS_TEXT_MAX], left_out[PS_TEXT_MAX];

	for (size_t i = 0; i < list->num; i++) {
		const struct sf_status_head *head = &list->all[i].page->head;

		snprintf(engines, sizeof(engines), "%u", head->num_engines);
		snprintf(contexts, sizeof(contexts), "%u", head->num_contexts);
		snprintf(left_out, sizeof(left_out), "%u", head->num_left_out);
		table_row(table, pid_text(&list->all[i], pid), head->program, ps_user(head->user, user),
			  head->node[0] != '\0' ? head->node : "all", engines, contexts, age_text(list, head->started_ns, age),
			  age_text(list, head->sampled_ns, seen), head->num_left_out > 0 ? left_out : NULL);
	}
	table_print(table, "Processes");
}

static void context_row(struct table *table, const struct ps_list *list, const struct ps_process *process,
			const struct sf_status_context *it)
{
	const struct sf_status_engine *engine = &process->page->engines[it->engine];
	uint64_t oldest_ns = ps_oldest_ns(process, it);
	char pid[PS_TEXT_MAX], age[PS_TEXT_MAX], tasks[PS_TEXT_MAX], queue[PS_TEXT_MAX], again[PS_TEXT_MAX];
	char number[PS_TEXT_MAX], call[PS_TEXT_MAX], oldest[PS_TEXT_MAX];

	snprintf(number, sizeof(number), "%u", it->engine);
	snprintf(tasks, sizeof(tasks), "%llu", (unsigned long long)it->num_inflight);
	snprintf(queue, sizeof(queue), "%llu of %llu", (unsigned long long)it->num_allocated,
		 (unsigned long long)it->num_configured);
	table_row(table, pid_text(process, pid), it->kind, it->name, it->device, sf_status_state_name(it->state),
		  age_text(list, it->since_ns, age), tasks, oldest_ns != 0 ? age_text(list, oldest_ns, oldest) : NULL, queue,
		  it->again_since_ns ? age_text(list, it->again_since_ns, again) : NULL, number,
		  call_text(list, &process->page->head, engine, call));
}

static void print_contexts(const struct ps_list *list)
{
	struct table *table = table_create((const char *[]){"PID", "CONTEXT", "NAME", "DEVICE", "STATE", "AGE", "IN FLIGHT",
							    "OLDEST", "ALLOCATED", "AGAIN", "ENGINE", "LAST CALL", NULL});

	for (size_t i = 0; i < list->num; i++) {
		const struct sf_status_page *page = list->all[i].page;

		for (uint32_t k = 0; k < page->head.num_contexts; k++)
			context_row(table, list, &list->all[i], &page->contexts[k]);
	}
	table_print(table, "\nContexts");
}

static void connection_row(struct table *table, const struct ps_list *list, const struct ps_process *process,
			   const struct sf_status_connection *it)
{
	const struct sf_status_context *context = &process->page->contexts[it->context];
	char program[SF_STATUS_TEXT_MAX];
	char pid[PS_TEXT_MAX], peer_pid[PS_TEXT_MAX], age[PS_TEXT_MAX];

	snprintf(peer_pid, sizeof(peer_pid), "%u", it->pid);
	table_row(table, pid_text(process, pid), context->kind, context->name, it->is_ready ? "connected" : "connecting",
		  age_text(list, it->since_ns, age), it->pid != 0 ? peer_pid : NULL, ps_program(list, (pid_t)it->pid, program));
}

static void print_connections(const struct ps_list *list)
{
	struct table *table =
		table_create((const char *[]){"PID", "CONTEXT", "NAME", "CONNECTION", "AGE", "PEER", "PROGRAM", NULL});

	for (size_t i = 0; i < list->num; i++) {
		const struct sf_status_page *page = list->all[i].page;

		for (uint32_t k = 0; k < page->head.num_connections; k++)
			connection_row(table, list, &list->all[i], &page->connections[k]);
	}
	table_print(table, "\nConnections");
}

static void print_table(const struct ps_list *list)
{
	char folder[PATH_MAX];

	print_processes(list);
	print_contexts(list);
	print_connections(list);
	if (list->num > 0)
		return;
	sf_runtime_folder_path(folder);
	printf("No process in the runtime folder %s runs a context.\n", folder);
}

/* ---- the command ---- */

static void processes_show(const struct options *options)
{
	struct ps_list list;

	list_read(&list);
	if (options->json) {
		ps_print_json(&list, options->watch_s != 0);
	} else {
		if (options->watch_s != 0)
			fputs(isatty(STDOUT_FILENO) ? "\033[H\033[J" : "\n", stdout);
		print_table(&list);
	}
	list_free(&list);
}

enum { OPT_JSON = CLI_ID_LONG, OPT_WATCH };

static int ps_run(struct cli *cli)
{
	struct options options = {.watch_s = 0};
	int option, num;

	while ((option = cli_next(cli)) != CLI_END) {
		if (option == OPT_JSON)
			options.json = true;
		else
			options.watch_s = cli->value != NULL ? cli_number(cli, "watch", 1, WATCH_MAX_S) : WATCH_DEFAULT_S;
	}
	(void)cli_arguments(cli, 0, 0, &num);
	processes_show(&options);
	while (options.watch_s != 0 && fflush(stdout) == 0) {
		const struct timespec pause = {.tv_sec = options.watch_s};

		nanosleep(&pause, NULL);
		processes_show(&options);
	}
	return TOOL_OK;
}

static const struct cli_option ps_options[] = {
	{.name = "json", .text = "one JSON object", .id = OPT_JSON},
	{.name = "watch",
	 .value = "[SECONDS]",
	 .text = "repeat every SECONDS (default 2)",
	 .id = OPT_WATCH,
	 .value_optional = true},
	{0},
};

const struct cli_command tool_ps = {
	.name = "ps",
	.summary = "List processes, contexts, tasks in flight and connections.",
	.options = ps_options,
	.run = ps_run,
};
