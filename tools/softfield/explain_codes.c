/* SPDX-License-Identifier: BSD-3-Clause */
/* For each doca_error_t the usual cause and what to check. */
#include "base/nearest_word.h"
#include "explain_codes.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PREFIX "DOCA_ERROR_"
#define CODES_NUM ((int)(sizeof(codes) / sizeof(codes[0])))

static const struct explained_code codes[] = {
	[DOCA_SUCCESS] = {"the call succeeded", "nothing"},
	[DOCA_ERROR_UNKNOWN] = {"a failure without a more specific code", "see the error line of the call: SOFTFIELD_LOG=error"},
	[DOCA_ERROR_NOT_PERMITTED] =
		{"the call is not for this object at this time; memory without the access right; a file, device or "
		 "process of another user",
		 "give the right in doca_mmap_set_permissions before the start; run both sides as one user"},
	[DOCA_ERROR_IN_USE] = {"an object is destroyed or stopped while tasks, buffers or contexts still use it",
			       "progress until the tasks have completed, then destroy in the opposite order of creation"},
	[DOCA_ERROR_NOT_SUPPORTED] = {"the device, or Softfield, has no such feature; real hardware may have it",
				      "ask the doca_*_cap_* call first; docs/COVERAGE.md lists what is implemented"},
	[DOCA_ERROR_AGAIN] = {"a queue is full, nothing has arrived, or an operation is pending: not an error, and not logged",
			      "call doca_pe_progress, then try again; if it never ends, see whether the peer progresses"},
	[DOCA_ERROR_INVALID_VALUE] =
		{"an argument is NULL or out of its range, or objects of different devices are used together",
		 "see the error line, which names the argument: SOFTFIELD_LOG=error"},
	[DOCA_ERROR_NO_MEMORY] = {"the process is out of memory, or a pool, inventory or task list has no free element",
				  "release what has completed, or create the pool larger"},
	[DOCA_ERROR_INITIALIZATION] = {"a resource of the context could not be set up",
				       "see the error line: SOFTFIELD_LOG=error"},
	[DOCA_ERROR_TIME_OUT] = {"the peer or the service did not answer in time, and showed no sign of life",
				 "check whether its process is stopped or does not call doca_pe_progress"},
	[DOCA_ERROR_SHUTDOWN] = {"the object is stopping or was stopped",
				 "submit nothing after doca_ctx_stop; start the context again"},
	[DOCA_ERROR_CONNECTION_RESET] = {"the peer ended, was killed, or destroyed its side of the connection",
					 "find out why the peer ended, then connect again"},
	[DOCA_ERROR_CONNECTION_ABORTED] =
		{"the connection failed: no process listens, the peer rejected it, or its machine is unreachable",
		 "start the peer first; `softfield doctor` looks for a different runtime folder or user"},
	[DOCA_ERROR_CONNECTION_INPROGRESS] = {"the connection is still being established",
					      "call doca_pe_progress until it is established, then use it"},
	[DOCA_ERROR_NOT_CONNECTED] = {"the call needs a connection, which is not established yet or is closed",
				      "wait for the state RUNNING, or for the connection's callback"},
	[DOCA_ERROR_NO_LOCK] = {"a lock could not be acquired", "check whether another process that holds it is stopped"},
	[DOCA_ERROR_NOT_FOUND] = {"no such device, representor, name, service or peer is visible to this process",
				  "`softfield devices` shows what this process sees; `softfield doctor` checks the environment"},
	[DOCA_ERROR_IO_FAILED] =
		{"an operation of a task failed: memory that is gone, a peer without a receive, a broken connection",
		 "see the error line on both sides: SOFTFIELD_LOG=error"},
	[DOCA_ERROR_BAD_STATE] =
		{"the call comes too early or too late: before the start, after it, or while the context stops",
		 "create, set, start, use, stop, destroy, in this order; wait for the state with doca_ctx_get_state"},
	[DOCA_ERROR_UNSUPPORTED_VERSION] =
		{"the two sides use different versions of Softfield, or of a descriptor",
		 "build both sides with the same Softfield; `softfield doctor` names processes of another build"},
	[DOCA_ERROR_OPERATING_SYSTEM] = {"a system call failed",
					 "see the error line, which has the system's reason: SOFTFIELD_LOG=error"},
	[DOCA_ERROR_DRIVER] = {"CUDA, libibverbs or UCX failed",
			       "see the reason in the error line; `softfield doctor` checks drivers"},
	[DOCA_ERROR_UNEXPECTED] =
		{"an unexpected state: with NVIDIA's libraries often a mistake of the caller; here the peer violated the "
		 "protocol",
		 "see the error line: SOFTFIELD_LOG=error"},
	[DOCA_ERROR_ALREADY_EXIST] = {"an object of this name or number exists already",
				      "use that object, end it first, or use another name"},
	[DOCA_ERROR_FULL] = {"something is full: a list, the file system of the runtime folder, the table of open files",
			     "make room, or raise the limit; `softfield doctor` checks the limits"},
	[DOCA_ERROR_EMPTY] = {"the list or queue is empty", "call doca_pe_progress, then try again"},
	[DOCA_ERROR_IN_PROGRESS] = {"a stop or a task has begun and ends later: no error",
				    "call doca_pe_progress until the context is IDLE or the callback was called"},
	[DOCA_ERROR_TOO_BIG] = {"a message, buffer or list is larger than the limit",
				"stay within the result of the doca_*_cap_get_max_* call"},
	[DOCA_ERROR_AUTHENTICATION] = {"the keys or secrets of the two sides differ",
				       "use the same key file on both sides (docs/security.md)"},
	[DOCA_ERROR_BAD_CONFIG] = {"a configuration file or variable of Softfield is invalid", "`softfield doctor` names it"},
	[DOCA_ERROR_SKIPPED] = {"an earlier task failed, so this one was not executed",
				"see the first error; submit again from that task"},
	[DOCA_ERROR_DEVICE_FATAL_ERROR] = {"the device failed permanently: only NVIDIA's libraries return it",
					   "close the device and open it again"},
};

const struct explained_code *explain_code(doca_error_t code)
{
	return (int)code >= 0 && (int)code < CODES_NUM && codes[code].causes ? &codes[code] : NULL;
}

static bool is_name_of(const char *text, const char *name)
{
	return !strcasecmp(text, name) || (!strncmp(name, PREFIX, strlen(PREFIX)) && !strcasecmp(text, name + strlen(PREFIX)));
}

bool explain_find_code(const char *text, doca_error_t *code)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (*text >= '0' && *text <= '9' && *end == '\0') {
		*code = (doca_error_t)number;
		return number < (unsigned long)CODES_NUM;
	}
	for (int i = 0; i < CODES_NUM; i++) {
		if (codes[i].causes && is_name_of(text, doca_error_get_name((doca_error_t)i))) {
			*code = (doca_error_t)i;
			return true;
		}
	}
	return false;
}

const char *explain_nearest_code(const char *text)
{
	const size_t skipped = strncmp(text, PREFIX, strlen(PREFIX)) == 0 ? 0 : strlen(PREFIX);
	const char *words[CODES_NUM + 1];
	int num = 0;

	for (int i = 1; i < CODES_NUM; i++) {
		if (codes[i].causes)
			words[num++] = doca_error_get_name((doca_error_t)i) + skipped;
	}
	words[num] = NULL;
	return sf_nearest_word(text, words, skipped == 0 ? strlen(PREFIX) : 0);
}

/* A name may be part of another one: the longest counts. */
bool explain_find_code_in(const char *line, doca_error_t *code)
{
	size_t longest = 0;

	for (int i = 1; i < CODES_NUM; i++) {
		const char *name = codes[i].causes ? doca_error_get_name((doca_error_t)i) : NULL;

		if (!name || strlen(name) <= longest ||
		    (!strstr(line, name) && !strstr(line, doca_error_get_descr((doca_error_t)i))))
			continue;
		longest = strlen(name);
		*code = (doca_error_t)i;
	}
	return longest != 0;
}
