/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/explain.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define OBJECT_WORDS_MAX 4 /* before the first colon */
#define RULE_WORDS_MAX 9

/* A part of a text. */
struct piece {
	const char *text;
	size_t len;
};

/* What lines with such words are about. The first that matches counts, so what is special comes first. */
static const struct {
	const char *words[RULE_WORDS_MAX];
	const char *rule, *fix;
} rules[] = {
	{{" is NULL", " is null", "no place", " given"},
	 "what a call needs is given to it, and is not NULL",
	 "pass the argument"},
	{{"no memory", "out of memory"},
	 "objects, queues and connections take memory of the process",
	 "destroy what is not needed, ask for less, or raise the limit of the process or its container"},
	{{"file descriptor", "open files", "ulimit -n"},
	 "connections and notification handles take file descriptors",
	 "raise the limit of open files (ulimit -n)"},
	{{"permit", "permission", "access right", "not let in"},
	 "memory and processes are used only as their owner permits",
	 "give the right where the memory is set up (doca_mmap_set_permissions), or run both sides as one user"},
	{{"in flight", "in use", " out: release", "still uses", "are out"},
	 "an object lives until everything that uses it has ended",
	 "progress until the tasks have completed, stop the contexts, then destroy in the opposite order of creation"},
	{{"not started", "started already", "before start", "before doca_", "not connected", "RUNNING", "does not run",
	  "is stopped"},
	 "an object is created, set up, started, used, stopped and destroyed, in this order",
	 "wait for the state that the call needs (doca_ctx_get_state, the state callback)"},
	{{"another device", "have device", "the connection's device", "device of the memory map", "add its device"},
	 "contexts, memory and tasks that are used together are of one device",
	 "add the context's device to the memory map (doca_mmap_add_dev)"},
	{{"already", "twice", "once and for all"},
	 "what there may be once is made once",
	 "use the one that there is, or end it first"},
	{{"did not answer", "refused", "the peer", "connection", "nobody listens", "no answer"},
	 "both ends of a connection run, progress, and find each other",
	 "see whether the peer runs and progresses; `softfield doctor` looks for other causes"},
	{{"no GPU", "no DPA", "has a DPA", "not supported", "has no data path", "cannot do"},
	 "a feature is used on a device whose capability call has it",
	 "ask the doca_*_cap_* call first"},
	{{" possible", "at most", "more than", "too long", "room for", "reach out of", "fewer than", "outside", "limit"},
	 "sizes and counts keep to the limits of their objects",
	 "keep to the limit that the line names, or ask for a higher one before the start"},
	{{" another ", " belongs ", "inside a list"},
	 "objects that are used together belong to the same parent",
	 "use the object that was made for this one"},
	{{"cannot be destroyed", "before the queue is destroyed", "that first"},
	 "an object lives until everything that uses it has ended",
	 "stop what uses it, then destroy in the opposite order of creation"},
	{{"multiples of", "power of two", "do not fit", "not inside", " empty range", "below"},
	 "sizes and addresses fit their memory and its alignment",
	 "see the values that the line names"},
	{{"cannot open", "cannot read", "cannot make", "cannot listen", "No such file", "Permission denied"},
	 "files, sockets and devices are there, and may be used",
	 "see whether the path is right and the user may use it"},
	{{" lacks ", " has no ", " needs ", "missing", " want "},
	 "what a call needs is set before it",
	 "set what the line names, before the start"},
	{{" is no ", " are no ", "is not a ", "may not"},
	 "an argument has a value that its call knows",
	 "give a value that the call's comment names"},
};

/* Words that advice begins with. */
static const char *const verbs[] = {
	"add ",	     "allow ",	 "ask ",   "build ",	"call ",    "change ", "choose ",   "close ", "connect ",
	"create ",   "destroy ", "do ",	   "doca_",	"end ",	    "export ", "free ",	    "give ",  "import ",
	"install ",  "keep ",	 "leave ", "let ",	"load ",    "make ",   "open ",	    "pass ",  "post ",
	"progress ", "put ",	 "raise ", "register ", "release ", "reset ",  "retrieve ", "run ",   "see ",
	"set ",	     "start ",	 "stop ",  "submit ",	"try ",	    "unset ",  "use ",	    "wait ",  NULL};

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

/* The last place of a separator in the text, or NULL. */
static const char *find_last(const char *text, const char *separator)
{
	const char *found = NULL;

	for (const char *at = text; (at = strstr(at, separator)) != NULL; at++)
		found = at;
	return found;
}

/* Where the advice begins, or the end of the message. *cause_len is what comes before. */
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

/* Advice in the line itself counts more than the rule's. */
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
	if (error->file[0] != '\0') /* else it may be anybody's line */
		set_rule("a call keeps to the comment above it in its header",
			 "compare the call, and the values of the line, with that comment", error);
}

/* The public function: that which logged it, or that which the message begins with. */
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
