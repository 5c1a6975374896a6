/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_argp.h
 *
 * Command lines and parameter files.
 *
 * A program describes its flags, and the parser calls it back with the values that the user gave:
 *
 *     doca_argp_init(NULL, &config);
 *     doca_argp_param_create(&param);             name, description, type and callback with the setters
 *     doca_argp_register_param(param);            once for each flag
 *     doca_argp_start(argc, argv);                here the callbacks run
 *     doca_argp_destroy();
 *
 * There is one parser in a process. It belongs to one thread at a time.
 *
 * Every program also has the DOCA flags -h/--help, -v/--version, -l/--log-level, --sdk-log-level and -j/--json. Help and
 * version print to standard output and end the process with success. Log levels are the numbers of enum doca_log_level:
 * -l is for the program's own backends (doca_log_level_set_global_lower_limit), --sdk-log-level for the libraries'
 * (doca_log_level_set_global_sdk_limit).
 *
 * On a command line a flag is a dash and its whole short name, which may have several letters (`-gid 3`; letters are never
 * taken apart), or two dashes and its long name. A value is the next word or, behind a long name, follows '='. A flag of
 * type boolean takes no value. Sub-commands are words of their own; flags that follow one are that command's, or inherited
 * ones of the commands above.
 *
 * A parameter file holds one JSON object; C comments and trailing commas are fine:
 *
 *     {
 *         "doca_general_flags": { "log-level": 60 },
 *         "doca_program_flags": { "server-ip-port": 12345, "cpu": [1, 2] },   // long names; an array for repeated flags
 *         "doca_dpdk_flags": { "devices": [{"device": "sf", "id": "4"}], "core-mask": 3, "core-list": "0-1", "flags": "-n 4" }
 *     }
 *
 * A flag that is given on the command line replaces what the file says about it. doca_dpdk_flags is for DPDK programs.
 *
 * doca_argp_start first reads and checks everything, then calls back: the log levels, the values of the file, the flags and
 * commands of the command line in their order, DPDK, and the validation callback last. So a mistake anywhere on the line
 * is found before anything was done. It is reported in one line on standard error, or to the logger callback, followed by the
 * usage on standard error; mistakes of the program in calling these functions go to the log.
 *
 * Strings given to the setters are copied. What is registered belongs to the parser.
 */
#ifndef DOCA_ARGP_H_
#define DOCA_ARGP_H_

#include <stdarg.h>
#include <doca_compat.h>
#include <doca_error.h>
#include <doca_log.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Receives one value of a flag.
 *
 * The first argument is the value: `char *` for DOCA_ARGP_TYPE_STRING, `int *` for INT, `bool *` for BOOLEAN and
 * `struct json_object *` (json-c) for JSON_OBJ. It is valid during the call only, so it must be copied. The second is the
 * configuration given to doca_argp_init. An error ends doca_argp_start, which returns it.
 */
typedef doca_error_t (*doca_argp_param_cb_t)(void *, void *);

/** Runs where a command stands on the command line; its argument is the configuration. An error ends doca_argp_start. */
typedef doca_error_t (*doca_argp_cmd_cb_t)(void *);

/**
 * Receives the words for DPDK's environment layer after all flags: the program's name, then what stands in front of `--`
 * and what doca_dpdk_flags says. argv stays valid until doca_argp_destroy.
 */
typedef doca_error_t (*doca_argp_dpdk_cb_t)(int argc, char **argv);

/** Runs last, with the configuration, to judge values that depend on each other. An error ends doca_argp_start. */
typedef doca_error_t (*doca_argp_validation_cb_t)(void *);

/** Receives a message for the user in place of standard error. The format has no newline at its end. */
typedef doca_error_t (*doca_argp_logger_cb_t)(enum doca_log_level level, const char *format, va_list args);

/** What the value of a flag is. */
enum doca_argp_type {
	DOCA_ARGP_TYPE_UNKNOWN = 0,  /**< Not set; such a flag cannot be registered. */
	DOCA_ARGP_TYPE_STRING = 1,   /**< Any text. */
	DOCA_ARGP_TYPE_INT = 2,	     /**< A decimal number that fits an int, nothing behind it. */
	DOCA_ARGP_TYPE_BOOLEAN = 3,  /**< No value on a command line, where it means true; true or false in a file. */
	DOCA_ARGP_TYPE_JSON_OBJ = 4, /**< Any JSON value; on a command line its text. */
};

/** A flag. */
struct doca_argp_param;

/** A command of a program that has several. */
struct doca_argp_cmd;

/**
 * Prints the usage to standard output: of the command that the command line named last, before doca_argp_start of the
 * program. Needs doca_argp_init.
 */
DOCA_EXPERIMENTAL
void doca_argp_usage(void);

/**
 * Makes the parser.
 *
 * @param program_name Name in usage and messages, at most 255 characters; NULL takes it from argv[0].
 * @param program_config Handed to every callback; may be NULL.
 * @return DOCA_ERROR_BAD_STATE: it exists already. DOCA_ERROR_INVALID_VALUE: the name is too long.
 *         DOCA_ERROR_NO_MEMORY: no memory for the DOCA flags.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_init(const char *program_name, void *program_config);

/**
 * Adds a flag to the program. The parser owns it from now on, also when this fails (it is then freed, unless it was
 * registered before). A flag without a long name cannot stand in a parameter file.
 *
 * @return DOCA_ERROR_BAD_STATE: no parser, or the flag is registered already. DOCA_ERROR_INITIALIZATION: it lacks a name,
 *         description, type or callback. DOCA_ERROR_INVALID_VALUE: NULL, a name of more than 63 characters or with an unprintable
 *         one or '=', a name that a DOCA flag or an earlier flag has, or more than 256 flags.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_param(struct doca_argp_param *input_param);

/**
 * Adds a command to the program. Its own flags and commands must be added to it before. Ownership as with
 * doca_argp_register_param.
 *
 * @return DOCA_ERROR_BAD_STATE: no parser, or the command is registered already. DOCA_ERROR_INITIALIZATION: it lacks a name or
 *         description. DOCA_ERROR_INVALID_VALUE: NULL, a bad or taken name, more than 128 commands beside or 16 below each other.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_cmd(struct doca_argp_cmd *input_cmd);

/**
 * Replaces what -v prints. The callback gets a `bool *` and the configuration; when it succeeds the process ends with success,
 * when it fails doca_argp_start returns its error. It may call doca_argp_destroy and exit itself.
 *
 * @return DOCA_ERROR_BAD_STATE: no parser. DOCA_ERROR_INVALID_VALUE: NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_version_callback(doca_argp_param_cb_t callback);

/**
 * Sets the callback that judges the whole configuration at the end of doca_argp_start; a second one replaces the first.
 *
 * @return DOCA_ERROR_BAD_STATE: no parser. DOCA_ERROR_INVALID_VALUE: NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_validation_callback(doca_argp_validation_cb_t callback);

/**
 * Sends messages for the user to the program in place of standard error.
 *
 * @return DOCA_ERROR_BAD_STATE: no parser. DOCA_ERROR_ALREADY_EXIST: there is a callback. DOCA_ERROR_INVALID_VALUE: NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_logger_callback(doca_argp_logger_cb_t callback);

/**
 * Sends messages for the user to standard error again.
 *
 * @return DOCA_ERROR_BAD_STATE: no parser, or no callback was registered.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_disable_logger_callback(void);

/**
 * Parses the command line, once for each doca_argp_init. See the top of this file for the order of the callbacks.
 *
 * @param argc Number of words in argv, the program's name included.
 * @param argv As main got it; it must stay valid during the call.
 * @return DOCA_ERROR_BAD_STATE: no parser, or parsed already. DOCA_ERROR_NOT_SUPPORTED: a flag, command or key of a file that
 *         does not exist, or one that a file cannot hold. DOCA_ERROR_INVALID_VALUE: a value of the wrong type, a missing value, a
 *         missing mandatory flag, a flag repeated or combined that must not be, a log level that there is not, a stray word,
 *         argc below 1. DOCA_ERROR_IO_FAILED: the parameter file cannot be read or is no JSON. DOCA_ERROR_NO_MEMORY: out of
 *         memory, or more than 65536 flags. Or the error of the callback that refused.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_start(int argc, char **argv);

/**
 * Frees the parser with all that is registered, and the words given to DPDK. Then doca_argp_init may be called again.
 *
 * @return DOCA_ERROR_BAD_STATE: no parser.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_destroy(void);

/**
 * Makes the program one of DPDK: `program <EAL flags> -- <flags>`. Without `--` all words are DPDK's, except that a line that
 * begins with help, version or parameter file is DOCA's. Needs doca_argp_init.
 */
DOCA_EXPERIMENTAL
void doca_argp_set_dpdk_program(doca_argp_dpdk_cb_t callback);

/**
 * Makes an empty flag: optional, given once, visible, in files too.
 *
 * @param param The flag, owned by the caller until it is registered.
 * @return DOCA_ERROR_BAD_STATE: no parser. DOCA_ERROR_INVALID_VALUE: NULL. DOCA_ERROR_NO_MEMORY: out of memory.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_param_create(struct doca_argp_param **param);

/** Sets the name behind one dash, of one or more letters. NULL takes it away. No setter works on a registered flag. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_short_name(struct doca_argp_param *param, const char *name);

/** Sets the name behind two dashes, which is also the key in a parameter file. NULL takes it away. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_long_name(struct doca_argp_param *param, const char *name);

/** Sets how the usage shows the value, such as `<PORT>`. Optional. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_arguments(struct doca_argp_param *param, const char *arguments);

/** Sets the usage's text about the flag. Must be set. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_description(struct doca_argp_param *param, const char *description);

/** Sets what receives the value. Must be set. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_callback(struct doca_argp_param *param, doca_argp_param_cb_t callback);

/** Sets the type of the value. Must be set. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_type(struct doca_argp_param *param, enum doca_argp_type type);

/** Demands the flag: of every run for a flag of the program, of runs with the command for a flag of a command. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_mandatory(struct doca_argp_param *param);

/** Keeps the flag out of parameter files. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_cli_only(struct doca_argp_param *param);

/** Allows the flag several times, one callback each. In a parameter file the values stand in an array. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_multiplicity(struct doca_argp_param *param);

/** Forbids all other flags beside it, DOCA flags aside. Nothing is mandatory in such a run. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_singular(struct doca_argp_param *param);

/** Allows the flag behind the commands below its own too. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_inherited(struct doca_argp_param *param);

/** Leaves the flag out of the usage. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_hidden(struct doca_argp_param *param);

/**
 * Frees a flag that was not registered.
 *
 * @return DOCA_ERROR_BAD_STATE: it is registered, so doca_argp_destroy frees it. DOCA_ERROR_INVALID_VALUE: NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_param_destroy(struct doca_argp_param *param);

/**
 * Makes an empty command.
 *
 * @param cmd The command, owned by the caller until it is registered.
 * @return DOCA_ERROR_BAD_STATE: no parser. DOCA_ERROR_INVALID_VALUE: NULL. DOCA_ERROR_NO_MEMORY: out of memory.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_cmd_create(struct doca_argp_cmd **cmd);

/** Sets the word that names the command. Must be set. No setter works on a registered command. */
DOCA_EXPERIMENTAL
void doca_argp_cmd_set_name(struct doca_argp_cmd *cmd, const char *name);

/** Sets the usage's text about the command. Must be set. */
DOCA_EXPERIMENTAL
void doca_argp_cmd_set_description(struct doca_argp_cmd *cmd, const char *description);

/** Sets what runs when the command is named. Optional. */
DOCA_EXPERIMENTAL
void doca_argp_cmd_set_callback(struct doca_argp_cmd *cmd, doca_argp_cmd_cb_t callback);

/** Leaves the command out of the usage. */
DOCA_EXPERIMENTAL
void doca_argp_cmd_set_hidden(struct doca_argp_cmd *cmd);

/**
 * Adds a flag to a command. Names may repeat those of the DOCA flags, except help's, and of other commands; the command's own
 * flag then wins. Ownership as with doca_argp_register_param.
 *
 * @return DOCA_ERROR_BAD_STATE: command or flag is registered already. DOCA_ERROR_INITIALIZATION and DOCA_ERROR_INVALID_VALUE as
 *         with doca_argp_register_param.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_cmd_register_param(struct doca_argp_cmd *cmd, struct doca_argp_param *input_param);

/**
 * Adds a command below a command. Ownership as with doca_argp_register_cmd.
 *
 * @return DOCA_ERROR_BAD_STATE: one of them is registered already. DOCA_ERROR_INITIALIZATION and DOCA_ERROR_INVALID_VALUE as with
 *         doca_argp_register_cmd.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_cmd_register_cmd(struct doca_argp_cmd *cmd, struct doca_argp_cmd *input_cmd);

/**
 * Frees a command that was not registered, with its flags and commands.
 *
 * @return DOCA_ERROR_BAD_STATE: it is registered, so doca_argp_destroy frees it. DOCA_ERROR_INVALID_VALUE: NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_cmd_destroy(struct doca_argp_cmd *cmd);

/**
 * The log level that the user gave with -l, else the one that holds for the program now
 * (doca_log_level_get_global_lower_limit).
 *
 * @return DOCA_ERROR_INVALID_VALUE: NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_get_log_level(int *log_level);

/**
 * The log level that the user gave with --sdk-log-level, else the one that holds for the libraries now
 * (doca_log_level_get_global_sdk_limit).
 *
 * @return DOCA_ERROR_INVALID_VALUE: NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_get_sdk_log_level(int *log_level);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_ARGP_H_ */
