/* tracing.c - the session: its folder, the program's environment, its end. */
#include "run/tracing/tracing.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/no_memory.h"
#include "base/vec.h"
#include "platform/program.h"
#include "run/tracing/recorders.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLICE_NS 100000000u
#define LAST_PATIENCE_S 5.0 /* between SIGTERM and SIGKILL, at most */

static const struct assay__recorder *const recorders[] = {
#define ROW(name) &assay__recorder_##name,
    ASSAY__RECORDERS(ROW)
#undef ROW
};
#define RECORDERS (sizeof recorders / sizeof *recorders)

void assay__tracing_say(const struct assay__tracing *tracing, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (tracing->options->say) tracing->options->say(tracing->options->context, text);
}

/* --- the environment -------------------------------------------------------------------------- */

int assay__tracing_variable(struct assay__tracing *tracing, const char *entry,
                            struct assay_error *error)
{
    const char *copy = entry ? assay__arena_strdup(tracing->arena, entry) : NULL;
    if (!copy || assay__vec_grow((void **)&tracing->added, &tracing->added_capacity,
                                 tracing->added_count + 1, sizeof *tracing->added))
        return assay__no_memory(error);
    tracing->added[tracing->added_count++] = copy;
    return 0;
}

static bool is_replaced(const struct assay__tracing *tracing, const char *entry)
{
    for (size_t i = 0; i < tracing->added_count; i++) {
        size_t length = strcspn(tracing->added[i], "=") + 1;
        if (!strncmp(tracing->added[i], entry, length)) return true;
    }
    return false;
}

static char **environment_of(const struct assay__tracing *tracing)
{
    char *const *own = tracing->options->environment;
    size_t count = 0, used = 0;
    while (own[count])
        count++;
    char **made = assay__arena_array(tracing->arena, count + tracing->added_count + 1,
                                     sizeof *made);
    if (!made) return NULL;
    for (size_t i = 0; i < count; i++)
        if (!is_replaced(tracing, own[i])) made[used++] = own[i];
    for (size_t i = 0; i < tracing->added_count; i++)
        made[used++] = (char *)(uintptr_t)tracing->added[i];
    made[used] = NULL;
    return made;
}

/* --- the folder ------------------------------------------------------------------------------- */

static int make_folder(struct assay__tracing *tracing, const char *path, struct assay_error *error)
{
    char beside[PATH_MAX], folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (assay__path_folder(path, beside, sizeof beside) || !realpath(beside, folder))
        return assay_error_set(error, ASSAY_EIO, "the folder of '%s' cannot be used: %s", path,
                               strerror(errno));
    tracing->folder = assay__arena_printf(tracing->arena, "%s/%s.records.XXXXXX", folder,
                                          slash ? slash + 1 : path);
    if (!tracing->folder) return assay__no_memory(error);
    if (mkdtemp(tracing->folder)) return 0;
    int reason = errno;
    tracing->folder = NULL;
    return assay_error_set(error, ASSAY_EIO, "cannot make a folder for the records in '%s': %s",
                           folder, strerror(reason));
}

size_t assay__tracing_files(const struct assay__tracing *tracing)
{
    size_t count = 0;
    DIR *folder = opendir(tracing->folder);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        count += entry->d_name[0] != '.';
    if (folder) closedir(folder);
    return count;
}

/* --- the program ------------------------------------------------------------------------------ */

static void attach(void *context, pid_t pid)
{
    struct assay__tracing *tracing = context;
    for (size_t i = 0; i < RECORDERS; i++) {
        struct assay_error error = {0};
        if (recorders[i]->attach && recorders[i]->attach(tracing, pid, &tracing->states[i], &error))
            assay__tracing_say(tracing, "%s", error.message);
    }
}

static void prepare(struct assay__tracing *tracing)
{
    for (size_t i = 0; i < RECORDERS; i++) {
        struct assay_error error = {0};
        if (recorders[i]->prepare && recorders[i]->prepare(tracing, &tracing->states[i], &error))
            assay__tracing_say(tracing, "%s", error.message);
    }
}

/* After Ctrl-C: SIGTERM when patience is over, then SIGKILL. */
struct stopping {
    uint64_t first_ns;
    int sent; /* signals of ours */
};

static void insist(const struct assay__tracing *tracing, struct assay__child *child,
                   struct stopping *stopping)
{
    double patience_s = tracing->options->patience_s, last_s = patience_s;
    uint64_t now_ns = assay__now_ns();
    if (last_s > LAST_PATIENCE_S) last_s = LAST_PATIENCE_S;
    if (!stopping->first_ns) stopping->first_ns = now_ns;
    double passed_s = (double)(now_ns - stopping->first_ns) / 1e9;
    if (!(patience_s > 0) || passed_s < patience_s) return;
    if (stopping->sent == 0) {
        stopping->sent = 1;
        assay__tracing_say(tracing, "the program has not ended: sending it SIGTERM");
        assay__process_kill(child, SIGTERM);
    } else if (stopping->sent == 1 && passed_s >= patience_s + last_s) {
        stopping->sent = 2;
        assay__tracing_say(tracing, "the program has not ended: killing it");
        assay__process_kill(child, SIGKILL);
    }
}

static int wait_for(struct assay__tracing *tracing, pid_t pid, struct assay_error *error)
{
    struct assay__child child = {.pid = pid, .socket = -1, .oom_kills_before = UINT64_MAX};
    struct stopping stopping = {0};
    int code;
    while ((code = assay__process_wait(&child, SLICE_NS, &tracing->exit)) == ASSAY_ETIMEOUT)
        if (assay__program_stops()) insist(tracing, &child, &stopping);
    int stops = assay__program_stops();
    tracing->stopped = stops > 0;
    if (code) return assay_error_set(error, code, "the program was lost: %s", strerror(errno));
    while (tracing->options->wait_for_all && assay__program_stops() == stops &&
           assay__program_left())
        assay__sleep_ns(SLICE_NS / 10);
    return 0;
}

/* Their environment names the folder of the records. */
static void say_left(const struct assay__tracing *tracing)
{
    size_t left = assay__program_count_with(tracing->folder);
    if (left)
        assay__tracing_say(tracing,
                           "the program left %zu process%s running: what %s from now on is not "
                           "recorded (--wait waits for such processes)",
                           left, left == 1 ? "" : "es", left == 1 ? "it does" : "they do");
}

static int run(struct assay__tracing *tracing, struct assay_error *error)
{
    const struct assay__tracing_options *o = tracing->options;
    struct assay__program program = {
        .ignores_sigpipe = o->ignores_sigpipe, .held = attach, .context = tracing};
    pid_t pid;
    int code;
    prepare(tracing);
    program.argv = tracing->argv;
    program.environment = environment_of(tracing);
    if (!program.environment) return assay__no_memory(error);
    if (o->wait_for_all) assay__program_adopt();
    code = assay__program_start(&program, &pid, error);
    if (!code) code = wait_for(tracing, pid, error);
    if (!code && !o->wait_for_all) say_left(tracing);
    for (size_t i = 0; i < RECORDERS; i++)
        if (recorders[i]->detach) recorders[i]->detach(tracing, tracing->states[i]);
    assay__program_forget();
    return code;
}

int assay__tracing_new(const char *beside, struct assay__tracing **tracing,
                       struct assay_error *error)
{
    struct assay__tracing *made = calloc(1, sizeof *made);
    *tracing = made;
    if (!made || !(made->arena = assay__arena_new())) return assay__no_memory(error);
    made->states = assay__arena_array(made->arena, RECORDERS, sizeof *made->states);
    if (!made->states) return assay__no_memory(error);
    return make_folder(made, beside, error);
}

int assay__tracing_run(const struct assay__tracing_options *options,
                       struct assay__tracing **tracing, struct assay_error *error)
{
    int code = assay__tracing_new(options->beside, tracing, error);
    if (code) return code;
    (*tracing)->options = options;
    (*tracing)->argv = options->argv;
    return run(*tracing, error);
}

void assay__tracing_end(struct assay__tracing *tracing, bool keep)
{
    if (!tracing) return;
    if (tracing->folder && !keep) assay__folder_remove(tracing->folder);
    free(tracing->added);
    assay__arena_free(tracing->arena);
    free(tracing);
}
