/* recorder_xctrace.c - macOS: Xcode's xctrace starts the program and records it; when it has ended,
 * the tables that import/ reads are exported from the recording. Where there is no xctrace
 * (anywhere but on a Mac) this recorder does nothing; ASSAY_XCTRACE names another one.
 *
 *   xctrace list instruments
 *   xctrace record --instrument NAME … --output X.trace --no-prompt [--time-limit Ns] [--env A=B …]
 *           --target-stdin - --target-stdout - --launch -- PROGRAM [ARGUMENT…]
 *   xctrace export --input X.trace --toc --output toc
 *   xctrace export --input X.trace --xpath '/trace-toc/run[@number="1"]/data/table[@schema="S"]'
 *           --output S.xml
 *
 * Instruments are named instead of a template: recordings made by one may refuse to be exported.
 * The program's exit status is in the table of contents. Tried against a stand-in, not on a Mac. */
#include "run/tracing/recorders.h"

#include "base/file.h"
#include "base/no_memory.h"
#include "base/vec.h"
#include "import/xctrace_tables.h"
#include "run/child.h"

#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM "/usr/bin/xctrace"
#define DASHES "--"
#define OUTPUT (DASHES "output") /* an option of xctrace, not ours of that name */
#define SCHEMA_MOST 128u
#define TABLES_MOST 64u
#define TEXT_MOST ((size_t)16 << 20)
#define PATIENCE_NS 600000000000u /* exporting a long recording takes minutes */

struct recording {
    char *xctrace, *trace, *contents; /* paths: the program, X.trace, its table of contents */
};

/* --- running it ------------------------------------------------------------------------------- */

/* Runs xctrace to its end; what it prints goes to `log`. False with the reason. */
static bool run(const char *const *argv, FILE *log, struct assay_error *error)
{
    struct assay__child child;
    struct assay__exit exit;
    int code = assay__process_start(argv, -1, fileno(log), NULL, &child, error);
    if (code) return false;
    close(child.socket);
    code = assay__process_wait(&child, PATIENCE_NS, &exit);
    if (code == ASSAY_ETIMEOUT) {
        assay__process_kill(&child, SIGKILL);
        assay__process_wait(&child, PATIENCE_NS, &exit);
    }
    if (!code && exit.exited && exit.status == 0) return true;
    char tail[400];
    assay__child_log_tail(log, tail, sizeof tail);
    assay_error_set(error, ASSAY_EIO, "xctrace %s failed%s%s", argv[1], *tail ? ": " : "", tail);
    return false;
}

static FILE *open_log(struct assay_error *error)
{
    FILE *log = NULL;
    int fd = assay__child_log_open(&log);
    if (log) return log;
    if (fd >= 0) close(fd);
    assay_error_set(error, ASSAY_EIO, "no file for what xctrace prints");
    return NULL;
}

static bool run_logged(const char *const *argv, struct assay__arena *arena, const char **text,
                       struct assay_error *error)
{
    FILE *log = open_log(error);
    bool done = log && run(argv, log, error);
    long bytes = done && !fseek(log, 0, SEEK_END) ? ftell(log) : 0;
    *text = "";
    if (bytes > 0 && (size_t)bytes <= TEXT_MOST) {
        char *kept = assay__arena_alloc(arena, (size_t)bytes + 1);
        rewind(log);
        if (kept) kept[fread(kept, 1, (size_t)bytes, log)] = '\0';
        if (kept) *text = kept;
    }
    if (log) fclose(log);
    return done;
}

/* --- the command line ------------------------------------------------------------------------- */

struct words {
    const char **items;
    size_t count, capacity;
    bool failed;
};

static void add(struct words *words, const char *word)
{
    if (!word || assay__vec_grow((void **)&words->items, &words->capacity, words->count + 2,
                                 sizeof *words->items))
        words->failed = true;
    else
        words->items[words->count++] = word;
}

static void add_pair(struct words *words, const char *option, const char *value)
{
    add(words, option);
    add(words, value);
}

/* A line of the list that is this name. */
static bool lists(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = list; line && *line;) {
        size_t blank = strspn(line, " \t"), rest = strcspn(line, "\n");
        if (rest >= blank + length && !strncmp(line + blank, name, length) &&
            strspn(line + blank + length, " \t\r") == rest - blank - length)
            return true;
        line += rest + (line[rest] == '\n');
    }
    return false;
}

static size_t add_instruments(struct words *words, const char *list, bool samples)
{
    static const char *const names[] = {"Time Profiler", "Metal Application", "GPU",
                                        "Neural Engine", "Core ML"};
    size_t before = words->count;
    for (size_t i = samples ? 0 : 1; i < sizeof names / sizeof *names; i++)
        if (lists(list, names[i])) add_pair(words, "--instrument", names[i]);
    return words->count - before;
}

/* Puts xctrace in front of the program. */
static int wrap(struct assay__tracing *tracing, const struct recording *r, const char *list,
                struct assay_error *error)
{
    const struct assay__tracing_options *o = tracing->options;
    struct words words = {0};
    add(&words, r->xctrace);
    add(&words, "record");
    if (!add_instruments(&words, list, o->cpu_rate_hz > 0)) {
        free(words.items);
        return assay_error_set(error, ASSAY_EUNSUPPORTED,
                               "xctrace lists none of the instruments that assay reads");
    }
    add_pair(&words, OUTPUT, r->trace);
    add(&words, "--no-prompt");
    if (o->duration_s > 0)
        add_pair(&words, "--time-limit",
                 assay__arena_printf(tracing->arena, "%.0fms", o->duration_s * 1e3));
    for (size_t i = 0; i < tracing->added_count; i++)
        add_pair(&words, "--env", tracing->added[i]);
    add_pair(&words, "--target-stdin", "-");
    add_pair(&words, "--target-stdout", "-");
    add_pair(&words, "--launch", "--");
    for (size_t i = 0; o->argv[i]; i++)
        add(&words, o->argv[i]);
    const char **argv = words.failed
                            ? NULL
                            : assay__arena_array(tracing->arena, words.count + 1, sizeof *argv);
    if (argv) memcpy(argv, words.items, words.count * sizeof *argv);
    free(words.items);
    if (!argv) return assay__no_memory(error);
    tracing->argv = argv;
    return 0;
}

static int prepare(struct assay__tracing *tracing, void **state, struct assay_error *error)
{
    const char *given = getenv("ASSAY_XCTRACE"), *list;
    struct assay__arena *arena = tracing->arena;
    const char *program = given && *given ? given : PROGRAM;
    if (!assay__file_exists(program))
        return given && *given ? assay_error_set(error, ASSAY_ENOTFOUND,
                                                 "ASSAY_XCTRACE=%s is not a file", given)
                               : 0;
    struct recording *r = assay__arena_alloc(arena, sizeof *r);
    if (!r) return assay__no_memory(error);
    r->xctrace = assay__arena_strdup(arena, program);
    r->trace = assay__arena_printf(arena, "%s/program.trace", tracing->folder);
    r->contents = assay__arena_printf(arena, "%s/.toc", tracing->folder); /* it is no table */
    if (!r->xctrace || !r->trace || !r->contents) return assay__no_memory(error);
    const char *const argv[] = {r->xctrace, "list", "instruments", NULL};
    if (!run_logged(argv, arena, &list, error)) return error->code;
    int code = wrap(tracing, r, list, error);
    if (!code) *state = r;
    return code;
}

/* --- the recording ---------------------------------------------------------------------------- */

static bool export(const struct recording *r, const char *what, const char *which,
                   const char *output, struct assay_error *error)
{
    const char *argv[] = {r->xctrace, "export", "--input", r->trace, what,
                          which,      OUTPUT,   output,    NULL};
    const char *plain[] = {r->xctrace, "export", "--input", r->trace, what, OUTPUT, output, NULL};
    FILE *log = open_log(error);
    bool done = log && run(which ? argv : plain, log, error);
    if (log) fclose(log);
    return done;
}

static void export_table(struct assay__tracing *tracing, const struct recording *r,
                         const char *schema)
{
    struct assay_error error = {0};
    const char *xpath = assay__arena_text(
        tracing->arena, "/trace-toc/run[@number=\"1\"]/data/table[@schema=\"%s\"]", schema);
    const char *output = assay__arena_text(tracing->arena, "%s/%s.xml", tracing->folder, schema);
    if (!export(r, "--xpath", xpath, output, &error))
        assay__tracing_say(tracing, "table %s: %s", schema, error.message);
}

/* Every table that can be read, once; it may be there for several processes. */
static void export_tables(struct assay__tracing *tracing, const struct recording *r,
                          const char *contents)
{
    const char *seen[TABLES_MOST];
    size_t count = 0;
    for (const char *at = contents; (at = strstr(at, "schema=\"")) && count < TABLES_MOST;) {
        char schema[SCHEMA_MOST];
        at += strlen("schema=\"");
        size_t length = strcspn(at, "\"");
        /* it becomes part of a path */
        if (length >= sizeof schema ||
            strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") < length)
            continue;
        memcpy(schema, at, length);
        schema[length] = '\0';
        bool known = !assay__xctrace_table_find(schema);
        for (size_t i = 0; i < count && !known; i++)
            known = !strcmp(seen[i], schema);
        if (known) continue;
        seen[count++] = assay__arena_text(tracing->arena, "%s", schema);
        export_table(tracing, r, schema);
    }
}

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *where)
{
    (void)about, (void)type, (void)where;
    remove(path);
    return 0;
}

static void detach(struct assay__tracing *tracing, void *state)
{
    const struct recording *r = state;
    struct assay_error error = {0};
    char *contents = NULL;
    if (!r) return;
    if (!export(r, "--toc", NULL, r->contents, &error) ||
        assay__file_read(r->contents, TEXT_MOST, &contents, NULL, &error)) {
        assay__tracing_say(tracing, "%s", error.message);
    } else {
        const char *status = strstr(contents, "return-exit-status=\"");
        if (status && tracing->exit.exited)
            tracing->exit.status = (int)strtol(status + strlen("return-exit-status=\""), NULL, 10) &
                                   0xff;
        export_tables(tracing, r, contents);
    }
    free(contents);
    nftw(r->trace, remove_one, 16, FTW_DEPTH | FTW_PHYS); /* a folder of folders, and large */
}

const struct assay__recorder assay__recorder_xctrace = {
    .name = "xctrace", .prepare = prepare, .detach = detach};
