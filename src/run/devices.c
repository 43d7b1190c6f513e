/* devices.c - lists an engine's devices from a child process. */
#include "run/devices.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/vec.h"
#include "platform/platform.h"
#include "run/worker/channel.h"
#include "run/worker/messages.h"
#include "run/locate.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_GRACE_NS 3000000000u /* a driver may take its time to unload */
#define POLL_MS 500 /* a signal ends poll() at once; this is for one that came just before */
#define CHILDREN_MOST 64
#define TAIL 512

struct told {
    const char *name; /* arena */
    bool works;
};

struct listing {
    const struct assay__devices_options *options;
    assay_device_fn *found;
    void *context;
    struct assay__arena *arena;
    struct told *told;
    size_t count, capacity;
    char worker[4096], last_log[512];
    bool done;
    double timeout_s;
    /* the one that is being tried; strings in the arena, name NULL: none */
    struct assay_device next;
    struct assay_error error;
};

static int remember(struct listing *list, const char *name, bool works)
{
    if (assay__vec_grow((void **)&list->told, &list->capacity, list->count + 1, sizeof *list->told))
        return assay__no_memory(&list->error);
    struct told *told = &list->told[list->count];
    *told = (struct told){assay__arena_strdup(list->arena, name), works};
    if (!told->name) return assay__no_memory(&list->error);
    list->count++;
    return 0;
}

static int report_device(struct listing *list, const struct assay_device *device)
{
    int code = remember(list, device->name, device->available);
    if (code) return code;
    code = list->found(list->context, device);
    return code ? assay_error_set(&list->error, code, "the caller ended the list") : 0;
}

/* --- what the child says ---------------------------------------------------------------------- */

static int hear_device(struct listing *list, const struct assay__json *json,
                       struct assay__arena *arena)
{
    struct assay_device device = {0};
    if (assay__fields_receive(json, &assay__message_device, arena, &device))
        return assay__no_memory(&list->error);
    if (!device.name[0])
        return assay_error_set(&list->error, ASSAY_EFORMAT, "the worker told of a nameless device");
    list->next.name = NULL;
    return report_device(list, &device);
}

static int hear_trying(struct listing *list, const struct assay__json *json)
{
    list->last_log[0] = '\0';
    if (assay__fields_receive(json, &assay__message_device, list->arena, &list->next))
        return assay__no_memory(&list->error);
    list->next.engine = list->options->engine;
    if (list->options->trying)
        list->options->trying(list->options->trying_context, list->next.name);
    return 0;
}

static int hear(struct listing *list, const char *line, size_t length)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__json *root = NULL;
    if (!arena) return assay__no_memory(&list->error);
    int code = assay__json_parse(arena, line, length, &root, &list->error);
    const struct assay__json *device = assay__json_get(root, "device"),
                             *trying = assay__json_get(root, "trying"),
                             *failed = assay__json_get(root, "error");
    const char *log = assay__json_get_string(root, "log", NULL);
    if (code) {
        code = assay_error_set(&list->error, ASSAY_EFORMAT, "the worker said what is not JSON");
    } else if (trying) {
        code = hear_trying(list, trying);
    } else if (log) {
        snprintf(list->last_log, sizeof list->last_log, "%s", log);
    } else if (device) {
        code = hear_device(list, device, arena);
    } else if (failed) {
        code = assay_error_set(&list->error,
                               (int)assay__json_get_integer(failed, "code", ASSAY_EENGINE), "%s",
                               assay__json_get_string(failed, "message", "the worker failed"));
    } else if (assay__json_get(root, "done")) {
        list->done = true;
    }
    assay__arena_free(arena);
    return code;
}

/* --- one child -------------------------------------------------------------------------------- */

static void put_names(struct assay__json_writer *out, const char *key, const struct listing *list,
                      bool works)
{
    assay__json_key(out, key);
    assay__json_array(out);
    for (size_t i = 0; i < list->count; i++)
        if (list->told[i].works == works) assay__json_string(out, list->told[i].name);
    assay__json_array_end(out);
}

static int send_job(struct listing *list, struct assay__channel *channel)
{
    struct assay__buf line = {0};
    struct assay__json_writer out;
    assay__json_start(&out, &line, false);
    assay__json_object(&out);
    assay__json_put_integer(&out, "job", 1);
    assay__json_put_bool(&out, "devices", true);
    assay__json_put_string(&out, "engine", list->options->engine);
    assay__json_put_string(&out, "library", list->options->library);
    assay__json_put_string(&out, "only", list->options->only);
    put_names(&out, "working", list, true);
    put_names(&out, "failed", list, false);
    assay__json_object_end(&out);
    int code = assay__channel_send(channel, &line, 30000);
    assay__buf_free(&line);
    /* it is gone: what it said before is still to be read */
    return code && code != ASSAY_EIO
               ? assay_error_set(&list->error, code, "the worker does not take its job")
               : 0;
}

/* Reads until the child is done, gone or silent for too long: 0, ASSAY_ECRASH, ASSAY_ETIMEOUT, or
 * list->error. */
static int converse(struct listing *list, struct assay__channel *channel)
{
    const volatile int *interrupt = list->options->interrupt;
    uint64_t last_ns = assay__now_ns();
    while (!list->done) {
        const char *line;
        size_t length;
        if (interrupt && *interrupt)
            return assay_error_set(&list->error, ASSAY_EINTERRUPTED, "interrupted");
        double left_ms = list->timeout_s * 1e3 - (double)(assay__now_ns() - last_ns) / 1e6;
        if (left_ms <= 0) return ASSAY_ETIMEOUT;
        int wait_ms = left_ms < POLL_MS ? (int)ceil(left_ms) : POLL_MS;
        int code = assay__channel_read(channel, wait_ms, &line, &length);
        if (code == ASSAY_EINTERRUPTED || code == ASSAY_ETIMEOUT) continue;
        if (code) return ASSAY_ECRASH;
        code = hear(list, line, length);
        if (code) return code;
        last_ns = assay__now_ns();
    }
    return 0;
}

/* The last line that the child wrote to its stdout or stderr. */
static void read_tail(FILE *log, char *out, size_t out_size)
{
    char text[TAIL + 1];
    out[0] = '\0';
    off_t end = log ? lseek(fileno(log), 0, SEEK_END) : 0;
    if (end <= 0) return;
    ssize_t got = pread(fileno(log), text, TAIL, end > TAIL ? end - TAIL : 0);
    if (got <= 0) return;
    while (got > 0 && (unsigned char)text[got - 1] <= ' ')
        got--;
    text[got] = '\0';
    const char *newline = strrchr(text, '\n');
    snprintf(out, out_size, "%s", newline ? newline + 1 : text);
    for (char *c = out; *c; c++)
        if ((unsigned char)*c < ' ') *c = ' ';
}

/* "probing it crashed: SIGSEGV (…); its last words: …" */
static void describe(const struct listing *list, int code, const struct assay__exit *status,
                     FILE *log, char *out, size_t out_size)
{
    char tail[TAIL + 1];
    const char *what = list->next.name ? "probing" : "loading";
    int used;
    read_tail(log, tail, sizeof tail);
    if (code == ASSAY_ETIMEOUT)
        used = snprintf(out, out_size, "%s it hung: no answer for %g s; killed", what,
                        list->timeout_s);
    else if (status->exited)
        used = snprintf(out, out_size, "%s it ended the process with status %d", what,
                        status->status);
    else if (status->oom)
        used = snprintf(out, out_size, "%s it ran out of memory (SIGKILL)", what);
    else
        used = snprintf(out, out_size, "%s it crashed: %s", what,
                        assay__signal_name(status->signal));
    const char *words = tail[0] ? tail : list->last_log;
    if (words[0] && used > 0 && (size_t)used < out_size)
        snprintf(out + used, out_size - (size_t)used, "; its last words: %s", words);
}

static int run_child(struct listing *list, char *reason, size_t reason_size)
{
    struct assay__child child = {.pid = -1, .socket = -1};
    struct assay__channel channel = {.fd = -1};
    struct assay__exit status = {0};
    const char *const argv[] = {list->worker, NULL};
    FILE *log = tmpfile(); /* nameless: nothing is left behind whatever happens */
    int log_fd = log ? fileno(log) : open("/dev/null", O_WRONLY | O_CLOEXEC);
    /* descriptor 4, where a launch's worker measures into, is not used: any will do */
    int code = assay__process_start(argv, log_fd, log_fd, NULL, &child, &list->error);
    if (!log && log_fd >= 0) close(log_fd);
    if (code) goto out;
    assay__channel_open(&channel, child.socket);
    code = send_job(list, &channel);
    if (code == 0) code = converse(list, &channel);
    if (code && code != ASSAY_ECRASH) assay__process_kill(&child, SIGKILL);
    if (assay__process_wait(&child, EXIT_GRACE_NS, &status) == ASSAY_ETIMEOUT) {
        assay__process_kill(&child, SIGKILL);
        assay__process_wait(&child, UINT64_MAX, &status);
    }
    if (code == ASSAY_ECRASH || code == ASSAY_ETIMEOUT)
        describe(list, code, &status, log, reason, reason_size);
out:
    assay__channel_close(&channel);
    if (log) fclose(log);
    return code;
}

/* --- all children ----------------------------------------------------------------------------- */

/* The row of a device that took its child with it. */
static int report_lost(struct listing *list, const char *reason)
{
    struct assay_device device = list->next;
    device.reason = reason;
    list->next.name = NULL;
    return report_device(list, &device);
}

static int run_children(struct listing *list)
{
    for (int n = 0; n < CHILDREN_MOST && !list->done; n++) {
        char reason[1024] = "";
        list->next.name = NULL;
        list->last_log[0] = '\0';
        size_t before = list->count;
        int code = run_child(list, reason, sizeof reason);
        if (code == 0) return 0;
        bool lost = code == ASSAY_ECRASH || code == ASSAY_ETIMEOUT;
        if (list->error.code) return list->error.code;
        if (lost && list->next.name) {
            code = report_lost(list, reason);
            if (code) return code;
        } else if (list->count == before) {
            return assay_error_set(&list->error, code, "engine '%s': %s", list->options->engine,
                                   reason);
        }
    }
    return list->done ? 0
                      : assay_error_set(&list->error, ASSAY_ELIMIT,
                                        "too many devices end the process that tries them");
}

int assay__devices_list(const struct assay__devices_options *options, assay_device_fn *found,
                        void *context, struct assay_error *error)
{
    struct listing *list = calloc(1, sizeof *list);
    if (!list) return assay__no_memory(error);
    list->options = options;
    list->found = found;
    list->context = context;
    list->timeout_s = options->timeout_s > 0 ? options->timeout_s : ASSAY__DEVICES_TIMEOUT_S;
    list->arena = assay__arena_new();
    int code = list->arena ? assay__worker_locate(list->worker, sizeof list->worker, &list->error)
                           : assay__no_memory(&list->error);
    if (code == 0) code = run_children(list);
    if (code && error) *error = list->error;
    assay__arena_free(list->arena);
    free(list->told);
    free(list);
    return code;
}
