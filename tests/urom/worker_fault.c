/* SPDX-License-Identifier: BSD-3-Clause */
/* A plugin that does what plugins must not do. */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <doca_urom_plugin.h>

#include "answer.h"
#include "fault_proto.h"

#define SOCKET_FD 3
#define HEARTBEAT_FD 4
#define MIB (1 << 20)
#define MIBS_MAX 4096

doca_error_t urom_plugin_get_version(uint64_t *version);
doca_error_t urom_plugin_get_iface(struct urom_plugin_iface *iface);

struct fault {
	ucs_list_link_t answers;
	ucs_list_link_t late; /* waiting until the file exists */
	struct fault_command in_progress;
	bool floods, prints;
	struct urom_worker_cmd_desc *flood; /* answered again and again */
};

/* ---- faults that end the worker ---- */

static void crash(void)
{
	signal(SIGSEGV, SIG_DFL); /* even if a sanitizer handles the signal */
	raise(SIGSEGV);
}

static void spin(void)
{
	fprintf(stderr, "a plugin hangs now\n");
	for (volatile int turning = 1; turning;)
		;
}

static uint64_t processor_time_ns(void)
{
	struct timespec ran;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran);
	return (uint64_t)ran.tv_sec * 1000000000 + (uint64_t)ran.tv_nsec;
}

static void compute(void)
{
	uint64_t until = processor_time_ns() + FAULT_COMPUTE_NS;

	while (processor_time_ns() < until)
		;
}

static void end(uint32_t what)
{
	if (what == FAULT_CRASH)
		crash();
	else if (what == FAULT_EXIT)
		_exit(0);
	else if (what == FAULT_SPIN)
		spin();
	else if (what == FAULT_PAUSE)
		for (;;)
			pause();
}

static void at(const char *place)
{
	const char *wanted = getenv(FAULT_ENV);
	size_t len = strlen(place);

	if (wanted == NULL || strncmp(wanted, place, len) != 0)
		return;
	if (strcmp(wanted + len, "-crash") == 0)
		crash();
	else if (strcmp(wanted + len, "-exit") == 0)
		_exit(0);
	else if (strcmp(wanted + len, "-spin") == 0)
		spin();
	else if (strcmp(wanted + len, "-compute") == 0)
		compute();
}

/* ---- too much ---- */

static uint64_t open_files(void)
{
	uint64_t num = 0;

	while (open("/dev/null", O_RDONLY) >= 0)
		num++;
	return num;
}

static uint64_t take_memory(bool crashes)
{
	static void *taken[MIBS_MAX];
	uint64_t num = 0;

	for (; num < MIBS_MAX; num++) {
		taken[num] = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (taken[num] == MAP_FAILED)
			break;
		memset(taken[num], 1, MIB);
	}
	if (crashes)
		crash();
	for (uint64_t i = 0; i < num; i++)
		munmap(taken[i], MIB);
	return num;
}

static uint64_t start_child(void)
{
	pid_t child = fork();

	if (child != 0)
		return (uint64_t)child;
	for (;;)
		pause();
}

static uint64_t start_orphan(void)
{
	/* as some shells do, it has the variables in another order */
	FILE *shell = popen("env -u SOFTFIELD_UROM_SERVICE SOFTFIELD_UROM_SERVICE=\"$SOFTFIELD_UROM_SERVICE\" sleep 600 "
			    ">/dev/null 2>&1 & echo $!",
			    "r");
	int child = 0;

	if (shell == NULL || fscanf(shell, "%d", &child) != 1)
		child = 0;
	if (shell != NULL)
		pclose(shell);
	return (uint64_t)child;
}

static uint64_t attack_heartbeat(void)
{
	uint64_t *page = (uint64_t *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, HEARTBEAT_FD, 0);
	int done = ftruncate(HEARTBEAT_FD, 0); /* both fail: the descriptor is closed, and the memory is sealed */

	(void)page;
	return done == 0;
}

static struct urom_worker_notif_desc *copy(const struct urom_worker_cmd_desc *command)
{
	struct urom_worker_notif_desc *answer = answer_create(command, sizeof(struct fault_answer));

	answer->worker_notif.len = sizeof(struct fault_answer);
	return answer;
}

static void answer_strangers(struct fault *fault, const struct urom_worker_cmd_desc *command)
{
	for (int i = 0; i < 100; i++) {
		struct urom_worker_notif_desc *one = copy(command), *other = copy(command);

		one->dest_id = UINT64_MAX - (uint64_t)i;
		other->worker_notif.type <<= 1;
		ucs_list_add_tail(&fault->answers, &one->entry);
		ucs_list_add_tail(&fault->answers, &other->entry);
	}
}

/* ---- operations ---- */

static doca_error_t fault_open(struct urom_worker_ctx *ctx)
{
	struct fault *fault = (struct fault *)calloc(1, sizeof(*fault));

	at("open");
	if (fault == NULL)
		return DOCA_ERROR_NO_MEMORY;
	ucs_list_head_init(&fault->answers);
	ucs_list_head_init(&fault->late);
	ctx->plugin_ctx = fault;
	return DOCA_SUCCESS;
}

static void fault_close(struct urom_worker_ctx *ctx)
{
	struct fault *fault = (struct fault *)ctx->plugin_ctx;

	at("close");
	answers_free(&fault->answers);
	answers_free(&fault->late);
	free(fault->flood);
	free(fault);
}

static doca_error_t fault_addr(struct urom_worker_ctx *ctx, void *addr, size_t *addr_len)
{
	(void)ctx;
	(void)addr;
	at("addr");
	*addr_len = 0;
	return DOCA_SUCCESS;
}

static void answer(struct fault *fault, const struct urom_worker_cmd_desc *command, uint64_t value, size_t size)
{
	struct urom_worker_notif_desc *out = answer_create(command, size);
	const struct fault_answer body = {value};

	memcpy(out->worker_notif.plugin_notif, &body, sizeof(body));
	out->worker_notif.len = size;
	ucs_list_add_tail(&fault->answers, &out->entry);
}

static void carry_out(struct fault *fault, const struct urom_worker_cmd_desc *desc)
{
	struct fault_command command = {0};
	uint64_t value = 0;
	size_t size = sizeof(struct fault_answer);

	memcpy(&command, desc->worker_cmd.plugin_cmd,
	       desc->worker_cmd.len < sizeof(command) ? desc->worker_cmd.len : sizeof(command));
	switch (command.what) {
	case FAULT_FLOOD:
		fault->floods = true;
		return;
	case FAULT_FLOOD_AT_ONCE:
		for (int i = 0; i < 100000; i++)
			ucs_list_add_tail(&fault->answers, &copy(desc)->entry);
		return;
	case FAULT_WHEN_FILE:
		answer(fault, desc, 0, size);
		ucs_list_add_tail(&fault->late,
				  &ucs_list_extract_head(&fault->answers, struct urom_worker_notif_desc, entry)->entry);
		fprintf(stderr, "a file is waited for\n");
		return;
	case FAULT_STRANGERS:
		answer_strangers(fault, desc);
		break;
	case FAULT_PRINT:
		fault->prints = true;
		break;
	case FAULT_CHILD:
		value = start_child();
		break;
	case FAULT_ORPHAN:
		value = start_orphan();
		break;
	case FAULT_FILES:
		value = open_files();
		break;
	case FAULT_MEMORY:
	case FAULT_MEMORY_CRASH:
		value = take_memory(command.what == FAULT_MEMORY_CRASH);
		break;
	case FAULT_HEARTBEAT:
		value = attack_heartbeat();
		break;
	case FAULT_SOCKET:
		close(SOCKET_FD);
		break;
	case FAULT_PACKETS:
		while (write(SOCKET_FD, "nonsense", 8) > 0)
			;
		break;
	case FAULT_COMPUTE:
		compute();
		break;
	case FAULT_TOO_LARGE:
		size = 1 << 20;
		break;
	case FAULT_LARGE:
		size = FAULT_LARGE_SIZE;
		break;
	default:
		if (command.where == FAULT_IN_CMD)
			end(command.what);
		else
			fault->in_progress = command;
	}
	answer(fault, desc, value, size);
}

static bool is_to_be_left(const struct urom_worker_cmd_desc *desc)
{
	struct fault_command command;

	if (desc->worker_cmd.len < sizeof(command))
		return false;
	memcpy(&command, desc->worker_cmd.plugin_cmd, sizeof(command));
	return command.what == FAULT_LEAVE;
}

static doca_error_t fault_worker_cmd(struct urom_worker_ctx *ctx, ucs_list_link_t *cmd_list)
{
	struct fault *fault = (struct fault *)ctx->plugin_ctx;

	while (!ucs_list_is_empty(cmd_list)) {
		struct urom_worker_cmd_desc *desc = ucs_list_head(cmd_list, struct urom_worker_cmd_desc, entry);

		if (is_to_be_left(desc))
			return DOCA_SUCCESS;
		ucs_list_del(&desc->entry);
		carry_out(fault, desc);
		if (fault->floods && fault->flood == NULL)
			fault->flood = desc;
		else
			free(desc);
	}
	return DOCA_SUCCESS;
}

static doca_error_t fault_progress(struct urom_worker_ctx *ctx, ucs_list_link_t *notif_list)
{
	static char line[1000];
	struct fault *fault = (struct fault *)ctx->plugin_ctx;
	const char *file = getenv(FAULT_FILE_ENV);

	if (fault->in_progress.where == FAULT_IN_PROGRESS)
		end(fault->in_progress.what);
	for (int i = 0; fault->floods && i < 10; i++) {
		struct urom_worker_notif_desc *desc = copy(fault->flood);

		desc->dest_id = UINT64_MAX; /* to no client: a client disconnects if it gets what it did not ask for, and the
					       worker ends with it */
		ucs_list_add_tail(&fault->answers, &desc->entry);
	}
	if (fault->prints) {
		memset(line, 'x', sizeof(line));
		line[sizeof(line) - 1] = '\n';
		for (int i = 0; i < 1000; i++)
			(void)!write(STDERR_FILENO, line, sizeof(line));
	}
	if (!ucs_list_is_empty(&fault->late) && file != NULL && access(file, F_OK) == 0)
		return answers_hand_over(&fault->late, notif_list);
	return answers_hand_over(&fault->answers, notif_list);
}

static doca_error_t fault_notif_pack(struct urom_worker_notify *notif, size_t *packed_notif_len, void *packed_notif)
{
	size_t len = sizeof(*notif) + notif->len;

	at("pack");
	if (len > *packed_notif_len) {
		*packed_notif_len = len; /* returns success: the worker must notice the length itself */
		return DOCA_SUCCESS;
	}
	memcpy(packed_notif, notif, len);
	*packed_notif_len = len;
	return DOCA_SUCCESS;
}

doca_error_t urom_plugin_get_version(uint64_t *version)
{
	at("load");
	*version = 1;
	return DOCA_SUCCESS;
}

doca_error_t urom_plugin_get_iface(struct urom_plugin_iface *iface)
{
	DOCA_STRUCT_CTOR(*iface);
	iface->open = fault_open;
	iface->close = fault_close;
	iface->addr = fault_addr;
	iface->worker_cmd = fault_worker_cmd;
	iface->progress = fault_progress;
	iface->notif_pack = fault_notif_pack;
	return DOCA_SUCCESS;
}
