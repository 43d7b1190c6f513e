/* child.c - where the worker's executable is, a worker's log and its end, and the dialogue with one
 * that answers a question. A program that uses libassay may be anywhere, hence the places relative
 * to the library. */
#include "run/child.h"

#include "base/clock.h"
#include "base/file.h"
#include "run/worker/channel.h"
#include "run/worker/messages.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_GRACE_NS 3000000000u /* a driver may take long to unload */
#define POLL_MS 500 /* a signal ends poll() at once; this covers one that arrived just before */
#define SEND_TIMEOUT_MS 30000

static const char worker_name[] = "assay-worker";

static bool usable(const char *path)
{
    return assay__file_exists(path) && access(path, X_OK) == 0;
}

/* `file`'s folder joined with `relative` ("" for the folder itself), when the worker is there. */
static bool beside(const char *file, const char *relative, char *out, size_t out_size)
{
    char folder[PATH_MAX], place[PATH_MAX];
    if (file[0] == '\0' || assay__path_folder(file, folder, sizeof folder)) return false;
    if (relative[0] && assay__path_join(folder, relative, place, sizeof place)) return false;
    return assay__path_join(relative[0] ? place : folder, worker_name, out, out_size) == 0 &&
           usable(out);
}

static const char address_in_library;

int assay__worker_locate(char *out, size_t out_size, struct assay_error *error)
{
    const char *given = getenv("ASSAY_WORKER");
    if (given && given[0]) {
        if (snprintf(out, out_size, "%s%s", given[0] == '/' ? "" : "./", given) >= (int)out_size)
            return assay_error_set(error, ASSAY_ELIMIT, "ASSAY_WORKER is too long");
        if (usable(out)) return 0;
        return assay_error_set(error, ASSAY_ENOTFOUND, "ASSAY_WORKER=%s is not a program", given);
    }
    char program[PATH_MAX] = "", library[PATH_MAX] = "";
    if (assay__executable_path(program, sizeof program)) program[0] = '\0';
    if (beside(program, "", out, out_size) || beside(program, "../libexec/assay", out, out_size))
        return 0;
    /* Before the prefix that was compiled in: a library that lies elsewhere (in a Python package)
     * has a worker of its own version beside it. */
    assay__library_path(&address_in_library, library, sizeof library);
    if (beside(library, "", out, out_size) || beside(library, "../libexec/assay", out, out_size))
        return 0;
#ifdef ASSAY_LIBEXECDIR
    if (assay__path_join(ASSAY_LIBEXECDIR, worker_name, out, out_size) == 0 && usable(out))
        return 0;
#endif
    return assay_error_set(
        error, ASSAY_ENOTFOUND,
        "assay-worker is neither next to the program (%s) nor in libexec/assay: set ASSAY_WORKER",
        program[0] ? program : "?");
}

int assay__child_log_open(FILE **log)
{
    *log = tmpfile();
    return *log ? fileno(*log) : open("/dev/null", O_WRONLY | O_CLOEXEC);
}

void assay__child_log_tail(FILE *log, char *out, size_t size)
{
    out[0] = '\0';
    off_t end = log ? lseek(fileno(log), 0, SEEK_END) : 0, room = (off_t)size - 1;
    if (end <= 0) return;
    ssize_t got = pread(fileno(log), out, size - 1, end > room ? end - room : 0);
    while (got > 0 && (unsigned char)out[got - 1] <= ' ')
        got--;
    out[got > 0 ? got : 0] = '\0';
    for (char *c = out; *c; c++)
        if ((unsigned char)*c < ' ' && *c != '\n') *c = *c == '\t' ? ' ' : '?';
}

int assay__child_end(struct assay__child *child, uint64_t grace_ns, struct assay__exit *status,
                     bool *killed)
{
    int code = assay__process_wait(child, grace_ns, status);
    *killed = code == ASSAY_ETIMEOUT;
    if (!*killed) return code;
    assay__process_kill(child, SIGKILL);
    return assay__process_wait(child, UINT64_MAX, status);
}

/* --- queries ---------------------------------------------------------------------------------- */

static int send_job(const struct assay__question *question, struct assay__channel *channel,
                    struct assay_error *error)
{
    struct assay__message message;
    struct assay__json_writer *out = assay__message_open(&message, "job");
    assay__json_integer(out, 1);
    question->write_job(question->context, out);
    assay__json_object_end(out);
    int code = assay__channel_send(channel, &message.text, SEND_TIMEOUT_MS);
    assay__buf_free(&message.text);
    if (code == ASSAY_EIO) return 0; /* it has ended: what it sent before must still be read */
    return code ? assay_error_set(error, code, "the worker does not accept its job") : 0;
}

static int hear(struct assay__question *question, const char *line, size_t length, bool *done,
                struct assay_error *error)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__json *root = NULL;
    if (!arena) return assay__no_memory(error);
    int code = assay__json_parse(arena, line, length, &root, NULL);
    const struct assay__json *failed = assay__json_get(root, "error");
    const char *log = assay__json_get_string(root, "log", NULL);
    *done = assay__json_get(root, "done") != NULL;
    if (code)
        code = assay_error_set(error, ASSAY_EFORMAT, "the worker sent a line that is not JSON");
    else if (failed)
        code = assay_error_set(error, (int)assay__json_get_integer(failed, "code", ASSAY_EENGINE),
                               "%s",
                               assay__json_get_string(failed, "message", "the worker failed"));
    else if (log)
        snprintf(question->last_log, sizeof question->last_log, "%s", log);
    else if (!*done)
        code = question->hear(question->context, root, arena, error);
    assay__arena_free(arena);
    return code;
}

/* Reads until the worker is done, has ended or is silent for too long. */
static int converse(struct assay__question *question, struct assay__channel *channel, bool *lost,
                    struct assay_error *error)
{
    uint64_t last_ns = assay__now_ns();
    for (bool done = false; !done;) {
        const char *line;
        size_t length;
        if (question->interrupt && *question->interrupt)
            return assay_error_set(error, ASSAY_EINTERRUPTED, "interrupted");
        double left_ms = question->timeout_s * 1e3 - (double)(assay__now_ns() - last_ns) / 1e6;
        *lost = left_ms <= 0;
        if (*lost) return ASSAY_ETIMEOUT;
        int code = assay__channel_read(channel, left_ms < POLL_MS ? (int)ceil(left_ms) : POLL_MS,
                                       &line, &length);
        if (code == ASSAY_EINTERRUPTED || code == ASSAY_ETIMEOUT) continue;
        *lost = code != 0;
        if (*lost) return ASSAY_ECRASH;
        code = hear(question, line, length, &done, error);
        if (code) return code;
        last_ns = assay__now_ns();
    }
    return 0;
}

static void explain(struct assay__question *question, int code, const struct assay__exit *status,
                    FILE *log)
{
    char tail[512], *out = question->reason;
    size_t size = sizeof question->reason;
    assay__child_log_tail(log, tail, sizeof tail);
    const char *line = strrchr(tail, '\n'), *words = tail[0] ? tail : question->last_log;
    if (line) words = line + 1;
    if (code == ASSAY_ETIMEOUT)
        snprintf(out, size, "hung: no answer for %g s; killed", question->timeout_s);
    else if (status->exited)
        snprintf(out, size, "exited with status %d", status->status);
    else if (status->oom)
        snprintf(out, size, "ran out of memory (SIGKILL)");
    else
        snprintf(out, size, "crashed: %s", assay__signal_name(status->signal));
    size_t used = strlen(out);
    if (words[0]) snprintf(out + used, size - used, "; its last output: %s", words);
}

int assay__question_ask(struct assay__question *question, bool *lost, struct assay_error *error)
{
    struct assay__child child = {.pid = -1, .socket = -1};
    struct assay__channel channel = {.fd = -1};
    struct assay__exit status = {0};
    char worker[4096];
    bool killed;
    FILE *log = NULL;
    *lost = false;
    question->last_log[0] = question->reason[0] = '\0';
    int code = assay__worker_locate(worker, sizeof worker, error);
    if (code) return code;
    const char *const argv[] = {worker, NULL};
    int log_fd = assay__child_log_open(&log);
    /* Descriptor 4, into which the worker of a launch measures, is not used: any descriptor will
     * do. */
    code = assay__process_start(argv, log_fd, log_fd, NULL, &child, error);
    if (!log && log_fd >= 0) close(log_fd);
    if (code) goto out;
    assay__channel_open(&channel, child.socket);
    code = send_job(question, &channel, error);
    if (code == 0) code = converse(question, &channel, lost, error);
    if (code && code != ASSAY_ECRASH) assay__process_kill(&child, SIGKILL);
    assay__child_end(&child, EXIT_GRACE_NS, &status, &killed);
    if (*lost) explain(question, code, &status, log);
out:
    assay__channel_close(&channel);
    if (log) fclose(log);
    return code;
}
