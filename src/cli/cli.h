/* cli.h - the command line: one table of commands; help, completion and manual pages are generated
 * from it. A command is one file cmd_<verb>.c that owns its options structure and its table of
 * options, and a row in commands.h. */
#ifndef ASSAY_CLI_H
#define ASSAY_CLI_H

#include "base/buf.h"

#include <assay/error.h>
#include <assay/run.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit status: part of the interface. */
enum assay__exit_status {
    ASSAY__EXIT_DONE = 0,
    ASSAY__EXIT_NO = 1, /* a check or gate failed */
    ASSAY__EXIT_USAGE = 2,
    ASSAY__EXIT_FAILED = 3, /* the measurement (or the requested work) failed */
    ASSAY__EXIT_NO_VERDICT = 4,
    ASSAY__EXIT_INTERRUPTED = 130,
};

/* --- options ---------------------------------------------------------------------------------- */

enum assay__option_kind {
    ASSAY__OPTION_FLAG,     /* bool */
    ASSAY__OPTION_STRING,   /* const char * */
    ASSAY__OPTION_ONCE,     /* const char *; a second, different value is refused */
    ASSAY__OPTION_CHOICE,   /* const char *, one of `choices` */
    ASSAY__OPTION_INTEGER,  /* int64_t, low … high */
    ASSAY__OPTION_DURATION, /* double seconds, low … high */
    ASSAY__OPTION_LIST,     /* struct assay__option_list; may be repeated */
};

struct assay__option_list {
    const char **items; /* borrowed from argv */
    size_t count, capacity;
};

struct assay__option {
    const char *name; /* without the dashes */
    char letter;      /* 0: none */
    enum assay__option_kind kind;
    size_t offset;        /* of the member in the command's options structure */
    const char *argument; /* "N", "FILE"; NULL for flags */
    const char *help;     /* one sentence, without its default */
    const char *choices;  /* "a|b|c" */
    const char *bare;     /* value of `--name` without "=value"; NULL: a value is required */
    double low, high;     /* INTEGER and DURATION */
    bool hidden;
};

/* Rows of an option table; AT(member) is the offset of a member in the command's structure. */
/* clang-format off */
#define ASSAY__FLAG_ROW(name, letter, member, help)                                               \
    {name, letter, ASSAY__OPTION_FLAG, AT(member), NULL, help, NULL, NULL, 0, 0, false}
#define ASSAY__STRING_ROW(name, letter, member, argument, help)                                   \
    {name, letter, ASSAY__OPTION_STRING, AT(member), argument, help, NULL, NULL, 0, 0, false}
#define ASSAY__ONCE_ROW(name, member, argument, help)                                             \
    {name, 0, ASSAY__OPTION_ONCE, AT(member), argument, help, NULL, NULL, 0, 0, false}
#define ASSAY__CHOICE_ROW(name, letter, member, argument, help, choices)                          \
    {name, letter, ASSAY__OPTION_CHOICE, AT(member), argument, help, choices, NULL, 0, 0, false}
#define ASSAY__LIST_ROW(name, member, argument, help)                                             \
    {name, 0, ASSAY__OPTION_LIST, AT(member), argument, help, NULL, NULL, 0, 0, false}
#define ASSAY__INTEGER_ROW(name, member, argument, help, low, high)                               \
    {name, 0, ASSAY__OPTION_INTEGER, AT(member), argument, help, NULL, NULL, low, high, false}
#define ASSAY__DURATION_ROW(name, member, help, low, high)                                        \
    {name, 0, ASSAY__OPTION_DURATION, AT(member), "TIME", help, NULL, NULL, low, high, false}
/* clang-format on */

struct assay__command;

struct assay__invocation {
    const struct assay__command *command;
    void *options;          /* the command's structure, zeroed, then filled */
    const char **arguments; /* what is not an option */
    size_t argument_count, argument_capacity;
    bool dashed; /* "--" was given, after the first `before_dashes` arguments */
    size_t before_dashes;
    const char *command_line; /* exact, shell-quoted */
    uint64_t given;           /* bit i: the command's option i was given */
};
/** Whether every item of the list is "name=value". 0, or ASSAY__EXIT_USAGE after one line on
 *  stderr: "is not <expected>". */
int assay__option_pairs(const char *command, const char *option,
                        const struct assay__option_list *list, const char *expected);
/** True if that option was given, even as 0. */
bool assay__option_given(const struct assay__invocation *invocation, const char *name);

struct assay__command {
    const char *name, *summary;
    const char *arguments; /* "MODEL", "PROFILE [SQL]" */
    size_t min_arguments, max_arguments;
    const char *description;             /* paragraphs separated by a blank line */
    const char *examples;                /* lines */
    const struct assay__option *options; /* ends with a NULL name */
    /* rows shared by several commands; the command's own rows override those with the same name;
     * NULL: none */
    const struct assay__option *shared;
    size_t options_size;
    int (*run)(struct assay__invocation *invocation);
    bool hidden;
};

/** What we were started with, before we changed it: what a program that we start gets. */
struct assay__origin {
    char **environment;
    bool ignores_sigpipe;
};
extern struct assay__origin assay__origin;

/** The options of a command, its own before the shared ones; NULL past the end. */
const struct assay__option *assay__option_at(const struct assay__command *command, size_t index);
/** Whether the word is one of "a|b|c". */
bool assay__is_choice(const char *choices, const char *word);

/** The table; NULL past the end. */
const struct assay__command *assay__command_at(size_t index);
const struct assay__command *assay__command_find(const char *name);
/** Names the nearest command on stderr. ASSAY__EXIT_USAGE. */
int assay__unknown_command(const char *name);

/** Reads argv[first …] into the invocation. 0, or ASSAY__EXIT_USAGE after one line on stderr; *help
 *  is set by --help. */
int assay__options_parse(struct assay__invocation *invocation, int argc, char **argv, int first,
                         bool *help);
void assay__invocation_free(struct assay__invocation *invocation);
/** The closest of the candidates tried, if it is close enough to be a typing error; else NULL. */
struct assay__nearest {
    const char *word, *best;
    size_t distance;
};
void assay__nearest_try(struct assay__nearest *nearest, const char *candidate);
const char *assay__nearest_get(const struct assay__nearest *nearest);
/** Appends `word`, quoted for a POSIX shell if necessary. */
void assay__shell_quote(struct assay__buf *out, const char *word);

/* --- messages and data ------------------------------------------------------------------------ */

/** "assay: …" on stderr, one line; control characters are replaced. */
void assay__say(const char *format, ...) ASSAY_PRINTF(1, 2);
/** The same, and ASSAY__EXIT_USAGE. */
int assay__refuse(const char *format, ...) ASSAY_PRINTF(1, 2);
/** Reports what went wrong and returns the exit status for the code. */
int assay__fail(int code, const struct assay_error *error);
/** The command-line flag for an option that the library refused by its member name. NULL: no flag
 *  sets it. option may be NULL. */
struct assay__option_hint {
    const char *option; /* member of the library's options (error.option) */
    const char *flag;   /* "--warmup" */
    const char *hint;   /* an additional hint; NULL: none */
};
const struct assay__option_hint *assay__option_hint(const char *option);
/** What would provide a metric, or how to do what a report suggests: "assay run --power"; NULL:
 *  nothing on the command line. For struct assay_report_options. */
const char *assay__metric_hint(const char *metric);
/** All of it to stdout; a closed or full stdout is reported. ASSAY__EXIT_DONE or
 *  ASSAY__EXIT_FAILED. */
int assay__write_stdout(const char *data, size_t size);
/** The buffer to stdout, then frees it. */
int assay__print(struct assay__buf *out);

/** True if stdout is a terminal that supports colours and NO_COLOR is not set. */
bool assay__stdout_color(void);
int assay__stdout_columns(void); /* 80 when not a terminal */

/* --- Ctrl-C ----------------------------------------------------------------------------------- */

extern volatile int assay__interrupted;
/** The first SIGINT, SIGTERM or SIGHUP sets the flag; another one half a second or more later kills
 *  the process. */
void assay__catch_interrupts(void);

/* --- progress --------------------------------------------------------------------------------- */

struct assay__bar {
    bool on, quiet;
    const char *command; /* whose messages these are */
    uint64_t drawn_ns;
    char phase[32];
    int columns;
};
/** Drawn only if stderr is a terminal; nothing is drawn or printed when quiet. The callbacks of the
 *  library: the bar, messages as lines of that command on stderr, Ctrl-C. */
struct assay_callbacks assay__bar_start(struct assay__bar *bar, const char *command, bool quiet);
/** An assay_progress_fn; context is the bar. */
void assay__bar_update(void *context, const struct assay_progress *progress);
void assay__bar_erase(struct assay__bar *bar);

/* --- made from the table ---------------------------------------------------------------------- */

void assay__help_overview(struct assay__buf *out);
void assay__help_command(struct assay__buf *out, const struct assay__command *command);
void assay__usage(struct assay__buf *out, const struct assay__command *command);
/** "-o, --output FILE" / "--layers[=METHOD]" */
void assay__option_label(struct assay__buf *out, const struct assay__option *option);

/* --- shared by the commands that render a profile --------------------------------------------- */

struct assay__render_options {
    bool json, ascii, no_color, full;
    const char *format, *table, *detail;
    int64_t top; /* 0: the default; < 0 all */
    int64_t columns;
};
/** Whether the options are compatible: --table needs CSV, --detail text or JSON. 0, or
 *  ASSAY__EXIT_USAGE after one line on stderr. */
int assay__render_check(const char *command, const struct assay__render_options *options);
struct assay_profile;
/** Renders into out. 0 or a negative code. */
int assay__render(const struct assay_profile *profile, const struct assay__render_options *options,
                  bool to_file, struct assay__buf *out, struct assay_error *error);

#endif
