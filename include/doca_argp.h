/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_argp.h
 * Command lines and parameter files. A program describes its flags; the parser calls back with the user's values:
 *
 *     doca_argp_init(NULL, &config);
 *     doca_argp_param_create(&param);             name, description, type and callback with the setters
 *     doca_argp_register_param(param);            once for each flag
 *     doca_argp_start(argc, argv);                the callbacks run here
 *     doca_argp_destroy();
 *
 * A process has one parser, which belongs to one thread at a time. It copies strings, and owns what is registered.
 *
 * Every program has the flags -h/--help, -v/--version, -l/--log-level, --sdk-log-level and -j/--json. Help and version print to
 * standard output and end the process with success. Log levels are the numbers of enum doca_log_level: -l is for the program
 * (doca_log_level_set_global_lower_limit), --sdk-log-level for the libraries (doca_log_level_set_global_sdk_limit).
 *
 * A flag is a dash and its short name, of one or more letters (`-gid 3`), or two dashes and its long name. A value is the next
 * word, or follows '=' after a long name. A boolean flag has no value. Flags after a command belong to that command, or are
 * inherited from those above.
 *
 * A parameter file holds one JSON object; C comments and trailing commas are accepted. Flags of the command line replace its
 * values:
 *
 *     {
 *         "doca_general_flags": { "log-level": 60 },
 *         "doca_program_flags": { "server-ip-port": 12345, "cpu": [1, 2] },   // long names; an array for repeated flags
 *         "doca_dpdk_flags": { "devices": [{"device": "sf", "id": "4"}], "core-mask": 3, "core-list": "0-1", "flags": "-n 4" }
 *     }
 *
 * doca_argp_start() checks everything before it calls back: log levels, the file, the command line in order, DPDK, and last the
 * validation callback. A user's mistake is reported on standard error or to the logger callback, followed by the usage. A
 * program's mistake is logged. (Arg Parser guide)
 *
 * @retval DOCA_ERROR_BAD_STATE doca_argp_register_*, doca_argp_start, doca_argp_destroy, doca_argp_*_create,
 *   doca_argp_disable_*: no parser
 * @retval DOCA_ERROR_NO_MEMORY doca_argp_init, doca_argp_start, doca_argp_*_create: out of memory
 * @retval DOCA_ERROR_BAD_STATE *_register_param, *_register_cmd: registered already
 * @retval DOCA_ERROR_INITIALIZATION *_register_param, *_register_cmd: no name or description, or a flag without type or callback
 * @retval DOCA_ERROR_INVALID_VALUE *_register_param, *_register_cmd: a name is over 63 characters, unprintable, has '=' or is in
 *   use
 */
#ifndef DOCA_ARGP_H_
#define DOCA_ARGP_H_

#include <stdarg.h>
#include <doca_compat.h>
#include <doca_ctx.h>
#include <doca_error.h>
#include <doca_log.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;
struct doca_dev_rep;
struct doca_devinfo;

/** The value of a DEVICE flag. The program owns the device, which is open, and closes it, unless its callback returns an error.
 */
struct doca_argp_device_ctx {
	struct doca_dev *dev;
	const char *devargs; /**< what follows the first comma, or NULL; valid during the callback */
};

/** The value of a DEVICE_REP flag. The program owns both, as above. */
struct doca_argp_device_rep_ctx {
	struct doca_argp_device_ctx dev_ctx; /**< devargs: what follows the second comma, or NULL */
	struct doca_dev_rep *dev_rep;
};

/**
 * Receives a flag's value: `char *` for STRING, `int *` for INT, `bool *` for BOOLEAN, `double *` for DOUBLE, `struct
 * doca_argp_device_ctx *` for DEVICE, `struct doca_argp_device_rep_ctx *` for DEVICE_REP, `struct json_object *` (json-c) for
 * JSON_OBJ. It is valid during the call only. The second argument is the configuration. An error ends doca_argp_start(), which
 * returns it.
 */
typedef doca_error_t (*doca_argp_param_cb_t)(void *, void *);

/** Called for a command, with the configuration. An error ends doca_argp_start(). */
typedef doca_error_t (*doca_argp_cmd_cb_t)(void *);

/**
 * Receives the words for DPDK, after all flags: the program's name, those before `--`, and those of doca_dpdk_flags. argv is
 * valid until doca_argp_destroy().
 */
typedef doca_error_t (*doca_argp_dpdk_cb_t)(int argc, char **argv);

/** Called last, with the configuration. An error ends doca_argp_start(). */
typedef doca_error_t (*doca_argp_validation_cb_t)(void *);

/** Opens a device for a DEVICE or DEVICE_REP flag. An error ends doca_argp_start(). */
typedef doca_error_t (*doca_argp_dev_open_cb_t)(struct doca_devinfo *devinfo, void *usr_ctx, struct doca_dev **dev);

/** Receives a message for the user. The format has no newline at its end. */
typedef doca_error_t (*doca_argp_logger_cb_t)(enum doca_log_level level, const char *format, va_list args);

/** The type of a flag's value. */
enum doca_argp_type {
	DOCA_ARGP_TYPE_UNKNOWN = 0, /**< Not set; such a flag cannot be registered. */
	DOCA_ARGP_TYPE_STRING = 1,  /**< Any text. */
	DOCA_ARGP_TYPE_INT = 2,	    /**< A decimal number that fits an int, with nothing after it. */
	DOCA_ARGP_TYPE_BOOLEAN = 3, /**< No value on a command line, where it means true; true or false in a file. */
	/**
	 * Any JSON value; on a command line its text. Up to DOCA 3.0. In 3.3 the numbers of the following types are smaller by
	 * one.
	 */
	DOCA_ARGP_TYPE_JSON_OBJ = 4,
	/** A device: `pci/0000:03:00.0`, or without `pci/` its address or name (ibdev or interface); `,arguments` may follow. */
	DOCA_ARGP_TYPE_DEVICE = 5,
	/** A representor: a device, a comma, and the representor's interface (`pf0vf0`) or address; `,arguments` may follow. */
	DOCA_ARGP_TYPE_DEVICE_REP = 6,
	DOCA_ARGP_TYPE_DOUBLE = 7, /**< A decimal number, with nothing after it. */
};

/** A flag. */
struct doca_argp_param;

/** A command of a program that has several. */
struct doca_argp_cmd;

/** Prints the usage of the last command on the command line; before doca_argp_start() the program's. Needs doca_argp_init(). */
DOCA_EXPERIMENTAL
void doca_argp_usage(void);

/**
 * Makes the parser, of which a process has one.
 * @param program_name at most 255 characters; NULL takes it from argv[0]
 * @param program_config passed to every callback; may be NULL
 * @retval DOCA_ERROR_BAD_STATE the parser exists already
 * @retval DOCA_ERROR_INVALID_VALUE the name is too long
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_init(const char *program_name, void *program_config);

/**
 * Adds a flag to the program. The parser owns it, and frees it if this fails, unless it was registered before. Without a long
 * name it cannot be in a parameter file. The limit is 256 flags (DOCA_ERROR_INVALID_VALUE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_param(struct doca_argp_param *input_param);

/**
 * Adds a command to the program, after its own flags and commands were added to it. Ownership as for flags. The limit is 128
 * commands on a level and 16 levels (DOCA_ERROR_INVALID_VALUE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_cmd(struct doca_argp_cmd *input_cmd);

/**
 * Replaces what -v prints. The callback gets a `bool *` and the configuration. If the callback succeeds, the process exits with
 * success.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_version_callback(doca_argp_param_cb_t callback);

/** The last call counts. */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_validation_callback(doca_argp_validation_cb_t callback);

/**
 * Registers what gets the lines about a user's mistakes, in place of standard error.
 * @retval DOCA_ERROR_ALREADY_EXIST a callback is registered
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_logger_callback(doca_argp_logger_cb_t callback);

/**
 * Writes messages for the user to standard error again.
 * @retval DOCA_ERROR_BAD_STATE no callback is registered
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_disable_logger_callback(void);

/**
 * Replaces doca_dev_open() for DEVICE and DEVICE_REP flags. It is called once for each device: flags that name the same device
 * share it. The last call counts.
 * @param usr_ctx passed to the callback; may be NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_dev_open_callback(doca_argp_dev_open_cb_t callback, void *usr_ctx);

/** Ignores keys of a parameter file that are not known. They are errors otherwise. */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_disable_pedantic_config_parsing(void);

/**
 * Parses the command line, once per doca_argp_init(). Also returns the error of a callback.
 * @param argc words in argv, including the program's name
 * @retval DOCA_ERROR_BAD_STATE called before
 * @retval DOCA_ERROR_NOT_SUPPORTED an unknown flag, command or key, or one that a file cannot hold
 * @retval DOCA_ERROR_INVALID_VALUE a missing or wrong value, a missing mandatory flag, a flag that must not be repeated or
 *   combined, an unknown log level, a stray word, or argc below 1
 * @retval DOCA_ERROR_IO_FAILED the parameter file cannot be read, or is not JSON
 * @retval DOCA_ERROR_NOT_FOUND no such device or representor
 * @retval DOCA_ERROR_NO_MEMORY more than 65536 flags
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_start(int argc, char **argv);

/** Frees the parser, what is registered, and the words for DPDK. doca_argp_init() may be called again. */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_destroy(void);

/**
 * Accepts `program <EAL flags> -- <flags>`. Without `--` all words are DPDK's, unless help, version or parameter file comes
 * first. Needs doca_argp_init().
 */
DOCA_EXPERIMENTAL
void doca_argp_set_dpdk_program(doca_argp_dpdk_cb_t callback);

/**
 * @name Flags
 * Setters have no effect on a registered flag. Description, type, callback and a name are required.
 * @{
 */

/** The caller owns the flag until it is registered: optional, given once, visible, and accepted in files. */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_param_create(struct doca_argp_param **param);

/** NULL removes it. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_short_name(struct doca_argp_param *param, const char *name);

/** Also the key in a parameter file. NULL removes it. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_long_name(struct doca_argp_param *param, const char *name);

/** The name of the value in the usage, such as `<PORT>`. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_arguments(struct doca_argp_param *param, const char *arguments);

DOCA_EXPERIMENTAL
void doca_argp_param_set_description(struct doca_argp_param *param, const char *description);

DOCA_EXPERIMENTAL
void doca_argp_param_set_callback(struct doca_argp_param *param, doca_argp_param_cb_t callback);

DOCA_EXPERIMENTAL
void doca_argp_param_set_type(struct doca_argp_param *param, enum doca_argp_type type);

/** Required in every run, or for a command's flag in runs with the command. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_mandatory(struct doca_argp_param *param);

/** Not accepted in parameter files. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_cli_only(struct doca_argp_param *param);

/** Accepted several times, with a callback for each. In a parameter file the values are an array. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_multiplicity(struct doca_argp_param *param);

/** Excludes all other flags but the DOCA flags. Nothing is mandatory beside it. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_singular(struct doca_argp_param *param);

/** Also accepted after the commands below its own. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_inherited(struct doca_argp_param *param);

/** Not in the usage. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_hidden(struct doca_argp_param *param);

/**
 * Frees a flag that is not registered.
 * @retval DOCA_ERROR_BAD_STATE it is registered: doca_argp_destroy() frees it
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_param_destroy(struct doca_argp_param *param);

/** @} */

/**
 * @name Commands
 * Setters have no effect on a registered command. Name and description are required.
 * @{
 */

/** The caller owns the command until it is registered. */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_cmd_create(struct doca_argp_cmd **cmd);

DOCA_EXPERIMENTAL
void doca_argp_cmd_set_name(struct doca_argp_cmd *cmd, const char *name);

DOCA_EXPERIMENTAL
void doca_argp_cmd_set_description(struct doca_argp_cmd *cmd, const char *description);

DOCA_EXPERIMENTAL
void doca_argp_cmd_set_callback(struct doca_argp_cmd *cmd, doca_argp_cmd_cb_t callback);

DOCA_EXPERIMENTAL
void doca_argp_cmd_set_hidden(struct doca_argp_cmd *cmd);

/** As doca_argp_register_param(). The flag may hide a DOCA flag, except help, and a flag of other commands. */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_cmd_register_param(struct doca_argp_cmd *cmd, struct doca_argp_param *input_param);

/** As doca_argp_register_cmd(). */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_cmd_register_cmd(struct doca_argp_cmd *cmd, struct doca_argp_cmd *input_cmd);

/**
 * Frees a command that is not registered, with its flags and commands.
 * @retval DOCA_ERROR_BAD_STATE it is registered: doca_argp_destroy() frees it
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_cmd_destroy(struct doca_argp_cmd *cmd);

/** @} */

/** The value of -l, or the program's present limit (doca_log_level_get_global_lower_limit()). */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_get_log_level(int *log_level);

/** The value of --sdk-log-level, or the libraries' present limit (doca_log_level_get_global_sdk_limit()). */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_get_sdk_log_level(int *log_level);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_ARGP_H_ */
