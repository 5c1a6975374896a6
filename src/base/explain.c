/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/explain.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define OBJECT_WORDS_MAX 4 /* words before the first colon */
#define RULE_WORDS_MAX 25

/* A part of a text. */
struct piece {
	const char *text;
	size_t len;
};

/* The rule and the advice for messages that contain one of the words. The first match counts, so specific words come first. */
static const struct {
	const char *words[RULE_WORDS_MAX];
	const char *rule, *fix;
} rules[] = {
	{{" is NULL", " is null", "no place", " given"}, "required arguments are not NULL", "pass the argument"},
	{{"no memory", "out of memory"},
	 "objects, queues and connections use memory of the process",
	 "destroy unused objects, configure fewer or smaller ones, or raise the memory limit of the process or container"},
	{{"file descriptor", "open files", "ulimit -n"},
	 "connections and notification handles use file descriptors",
	 "raise the limit of open files (ulimit -n)"},
	{{"permit", "permission", "access right", "not let in"},
	 "a process uses memory and other processes only as their owner permits",
	 "grant the right with doca_mmap_set_permissions, or run both sides as one user"},
	{{"in flight", "in use", " out: release", "still uses", "are out"},
	 "an object lives until everything that uses it has ended",
	 "progress until the tasks have completed, stop the contexts, then destroy in the opposite order of creation"},
	{{"not started", "started already", "before start", "before doca_", "not connected", "RUNNING", "does not run",
	  "is stopped"},
	 "an object is created, set up, started, used, stopped and destroyed, in this order",
	 "wait until the object is in the state that the call needs (doca_ctx_get_state, the state callback)"},
	{{"another device", "have device", "the connection's device", "device of the memory map", "add its device"},
	 "contexts, memory maps and tasks that are used together share a device",
	 "add the context's device to the memory map (doca_mmap_add_dev)"},
	{{"already", "twice", "once and for all"},
	 "some objects and settings exist only once",
	 "use the existing one, or destroy it first"},
	{{"did not answer", "refused", "the peer", "connection", "nobody listens", "no answer"},
	 "both peers of a connection run, call doca_pe_progress, and can reach each other",
	 "check that the peer runs and calls doca_pe_progress; `softfield doctor` finds other causes"},
	{{"no GPU", "no DPA", "has a DPA", "not supported", "has no data path", "cannot do"},
	 "a feature is used only on a device that supports it",
	 "check with the doca_*_cap_* call first"},
	{{" possible", "at most", "more than", "too long", "room for", "reach out of", "fewer than", "outside", "limit"},
	 "sizes and counts stay within the limits of their objects",
	 "stay within the limit that the line names, or configure a higher one before start"},
	{{" another ", " belongs ", "inside a list"},
	 "objects that are used together belong to the same parent",
	 "use an object that was created from the same parent"},
	{{"cannot be destroyed", "before the queue is destroyed", "that first"},
	 "an object lives until everything that uses it has ended",
	 "stop what uses it, then destroy in the opposite order of creation"},
	{{"multiples of", "power of two", "do not fit", "not inside", " empty range", "below"},
	 "sizes and addresses fit the memory and its alignment",
	 "check the values that the line names"},
	{{"cannot open", "cannot read", "cannot make", "cannot listen", "No such file", "Permission denied"},
	 "files, sockets and devices exist, and the user may access them",
	 "check the path and its permissions"},
	{{" lacks ", " has no ", " needs ", "missing", " want ", "none was set"},
	 "prerequisites of a call are set before it",
	 "set what the line names before start"},
	{{" is no ", " are no ", "is not a ", "may not"},
	 "an argument has a value that the call accepts",
	 "use a value that the function's documentation lists"},
	{{"memory of a GPU", "kernels reach", "kernels use", "kernels do"},
	 "a GPU's memory and queues are its kernels'",
	 "use memory of the host, or let a kernel do it"},
	{{"cannot connect", "connecting", "cannot reach",     "not reached",	 "cannot be reached",
	  "is gone",	    "died",	  "turned away",      "does not answer", "is reached",
	  "the owner",	    "its owner",  "cannot call",      "left before",	 "reached nobody",
	  "on its way",	    "on the way", "and does not say", "answers no",	 "a peer "},
	 "both ends of a connection run, progress, and find each other",
	 "see whether the peer runs and progresses; `softfield doctor` looks for other causes"},
	{{"SOFTFIELD_", "UROM_", "UCX_", "topology"},
	 "variables and files have the form that docs/environment.md gives them",
	 "see `softfield doctor`, which checks them"},
	{{" cannot change", "no longer change", " changes ",	   " only before",	 "only while",	  "while it runs",
	  "is started",	    "never started",	"was freed",	   "were freed",	 "not freed",	  "was destroyed",
	  "was removed",    "is closed",	"not registered",  "none is registered", "has not ended", "from a callback",
	  "is imported",    "stopping it",	"neither listens", "not listened",	 "only be before"},
	 "an object is created, set up, started, used, stopped and destroyed, in this order",
	 "compare the state of the object with what the call needs"},
	{{" are the most",
	  " is the most",
	  "it takes",
	  " has 1 to ",
	  " fit into",
	  "at least",
	  "needed are",
	  "too large",
	  "too small",
	  "wraps around",
	  "passes the end",
	  "overlap",
	  "divisible",
	  "aligned",
	  "padded",
	  " pad ",
	  "became one of",
	  "one too many",
	  "more there cannot be",
	  "cannot grow",
	  "more cannot",
	  "bytes on gpu",
	  "set of processors is empty",
	  "value is 8",
	  "one range"},
	 "sizes and addresses fit the memory and its alignment",
	 "check the values that the line names"},
	{{" itself", "in none of", "is not in ", "in no group", "same progress engine", "not the one of", "not one allocation",
	  "of the same list", "two lists", "be chained", "of that type", "is none of the", "are not among", "is not among",
	  "not an address of", "of this session", "one after the other", "without a region"},
	 "objects that are used together belong to the same parent",
	 "use the object that was made for this one"},
	{{" is none of", " is neither", "is not one ", "is not RC",	 "is not IPv4",	     "is not an ",
	  " is one of ", "no flag has", " flag has",   "hold bits",	 "no log level",     "takes no data",
	  "does not do", "there is",	"there are",   "has the number", "the device has",   "cannot be registered",
	  "names no",	 "has a name",	"of type",     "has the name",	 "has an address of"},
	 "an argument has a value that the call accepts",
	 "use a value that the function's documentation lists"},
	{{"differs from", "was altered", "malformed", "corrupt", "does not match", "token", "descriptor", " says "},
	 "what one side writes reaches the other side unchanged",
	 "pass on all bytes, unchanged; see that both sides run the same version"},
	{{"cannot start",    "cannot wait",   "no thread",	"threads",     "random",	 "OpenSSL",
	  "libcrypto",	     "gives no ",     "takes no ",	"no endpoint", "cannot lock",	 "cannot be mapped",
	  "cannot map",	     "stays private", "stay private",	"stay shared", "could not be",	 "no protection domain",
	  "does not report", "shared memory", "went backwards", " tries",      "no RDMA device", "no device here"},
	 "the system and its devices give what the libraries need of them",
	 "see the system's reason in the line; `softfield doctor` checks limits, devices and permissions"},
	{{"not on a DPA", "port is Ethernet", "is not there for", "is not active", "data path on a GPU"},
	 "a feature is used on a device whose capability call has it",
	 "ask the doca_*_cap_* call first"},
	{{"cannot ", "does not "}, "a call ends at the first step that fails", "see the reason at the end of the line"},
	{{" maximum", "longer than", "exceed", "multiple of", "no more ", "are needed"},
	 "sizes and counts stay within the limits of their objects",
	 "stay within the limit that the line names, or configure a higher one before start"},
	{{"different ", "same context", "last buf", "not memory of"},
	 "objects that are used together belong to the same parent",
	 "use an object that was created from the same parent"},
	{{"only kernels", "kernels take"},
	 "a GPU's memory and queues are its kernels'",
	 "use memory of the host, or let a kernel do it"},
	{{"unknown", "invalid", "bits that no", "was set", "has only", "always on", "but this", "must be", "must have",
	  "accepts no "},
	 "an argument has a value that the call accepts",
	 "use a value that the function's documentation lists"},
};

/* Verbs that advice begins with. */
static const char *const verbs[] = {
	"chmod ",   "check ", "configure ", "copy ",	"remove ", "send ",	"split ", "add ",     "allow ",
	"ask ",	    "bring ", "build ",	    "call ",	"change ", "choose ",	"close ", "connect ", "create ",
	"destroy ", "do ",    "doca_",	    "end ",	"export ", "free ",	"give ",  "import ",  "install ",
	"keep ",    "leave ", "let ",	    "load ",	"make ",   "open ",	"pass ",  "post ",    "progress ",
	"put ",	    "raise ", "register ",  "release ", "reset ",  "retrieve ", "run ",	  "see ",     "set ",
	"start ",   "stop ",  "submit ",    "try ",	"unset ",  "use ",	"wait ",  NULL};

static bool begins_with_any(const char *text, const char *const *words)
{
	for (size_t i = 0; words[i] != NULL; i++) {
		if (strncmp(text, words[i], strlen(words[i])) == 0)
			return true;
	}
	return false;
}

static void text_put(char *out, size_t size, const char *text, size_t len)
{
	if (len >= size)
		len = size - 1;
	memcpy(out, text, len);
	out[len] = '\0';
}

/* The last occurrence of a separator in the text, or NULL. */
static const char *find_last(const char *text, const char *separator)
{
	const char *found = NULL;

	for (const char *at = text; (at = strstr(at, separator)) != NULL; at++)
		found = at;
	return found;
}

/* The beginning of the advice, or the end of the message. *cause_len is the length of what precedes it. */
static const char *find_fix(const char *message, size_t *cause_len)
{
	const char *at = find_last(message, "; ");

	if (at == NULL) {
		at = find_last(message, ": ");
		if (at != NULL && !begins_with_any(at + 2, verbs))
			at = NULL;
	}
	*cause_len = at != NULL ? (size_t)(at - message) : strlen(message);
	return at != NULL ? at + 2 : message + *cause_len;
}

static bool is_word_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static size_t word_len(const char *text)
{
	size_t len = 0;

	while (is_word_byte(text[len]))
		len++;
	return len;
}

/* "consumer 3" of "consumer 3: ...", or nothing. */
static struct piece find_object(const char *message, size_t cause_len)
{
	const char *colon = memmem(message, cause_len, ": ", 2);
	size_t len = colon != NULL ? (size_t)(colon - message) : 0, spaces = 0;

	for (size_t i = 0; i < len; i++)
		spaces += message[i] == ' ';
	if (spaces >= OBJECT_WORDS_MAX || memmem(message, len, " is ", 4) != NULL || memmem(message, len, "cannot ", 7) != NULL)
		len = 0;
	return (struct piece){message, len};
}

/* The noun of a source file: mmap of src/mem/mmap.c. */
static struct piece noun_of_file(const char *file)
{
	const char *slash = strrchr(file, '/'), *name = slash != NULL ? slash + 1 : file;

	return (struct piece){name, strcspn(name, ".")};
}

/* X of "X is NULL" and of "no X given". */
static struct piece find_argument(const char *cause, size_t len)
{
	const char *null = memmem(cause, len, " is NULL", 8), *given = memmem(cause, len, " given", 6), *no;
	const char *begin;

	if (null != NULL) {
		for (begin = null; begin > cause && is_word_byte(begin[-1]); begin--)
			;
		return (struct piece){begin, (size_t)(null - begin)};
	}
	no = given != NULL ? memmem(cause, (size_t)(given - cause), "no ", 3) : NULL;
	if (no != NULL && (no == cause || no[-1] == ' '))
		return (struct piece){no + 3, (size_t)(given - no - 3)};
	return (struct piece){cause, 0};
}

/* Advice in the line itself takes precedence over the rule's. */
static void set_rule(const char *rule, const char *fix, struct softfield_error *error)
{
	snprintf(error->rule, sizeof(error->rule), "%s", rule);
	if (error->fix[0] == '\0')
		snprintf(error->fix, sizeof(error->fix), "%s", fix);
}

static void find_rule(const char *message, struct softfield_error *error)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		for (size_t j = 0; j < RULE_WORDS_MAX && rules[i].words[j] != NULL; j++) {
			if (strstr(message, rules[i].words[j]) != NULL) {
				set_rule(rules[i].rule, rules[i].fix, error);
				return;
			}
		}
	}
	if (error->file[0] != '\0') /* otherwise the line may come from anywhere */
		set_rule("a call follows its documentation in the header",
			 "compare the call and the values of the line with that documentation", error);
}

/* The public function: the one that logged the line, or the one that the message begins with. */
static void find_call(const char *func, const char *message, struct softfield_error *error)
{
	size_t len = word_len(message);

	if (strncmp(func, "doca_", 5) == 0)
		text_put(error->call, sizeof(error->call), func, strlen(func));
	else if (strncmp(message, "doca_", 5) == 0 && (message[len] == ':' || message[len] == ' '))
		text_put(error->call, sizeof(error->call), message, len);
}

void sf_explain(const char *file, int line, const char *func, const char *message, struct softfield_error *error)
{
	size_t cause_len, skipped;
	const char *fix = find_fix(message, &cause_len);
	struct piece object = find_object(message, cause_len), argument, noun = noun_of_file(file);

	*error = (struct softfield_error){.line = line};
	snprintf(error->message, sizeof(error->message), "%s", message);
	snprintf(error->function, sizeof(error->function), "%s", func);
	snprintf(error->file, sizeof(error->file), "%s", noun.text);
	text_put(error->fix, sizeof(error->fix), fix, strlen(fix));
	find_call(func, message, error);
	skipped = object.len != 0 ? object.len + 2 : 0;
	text_put(error->cause, sizeof(error->cause), message + skipped, cause_len - skipped);
	argument = find_argument(message, cause_len);
	text_put(error->argument, sizeof(error->argument), argument.text, argument.len);
	if (object.len == 0 || strncmp(object.text, "doca_", 5) == 0)
		object = noun;
	text_put(error->object, sizeof(error->object), object.text, object.len);
	find_rule(message, error);
}
