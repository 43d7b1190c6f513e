/* assignment.c - the parent's side of assignment.h: one child, its lines, and what became of it. */
#include "run/assignment.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/vec.h"
#include "platform/platform.h"
#include "run/worker/channel.h"
#include "run/locate.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_GRACE_NS 3000000000u /* a driver may take its time to unload */
#define POLL_MS 500               /* a signal ends poll() at once */
#define SEND_TIMEOUT_MS 30000

struct assignment_query {
    const struct assay__assignment_request *request;
    struct assay__arena *arena;
    struct assay__assignment *into;
    struct assay__assigned *nodes; /* grows on the heap */
    size_t capacity;
    bool done;
    double timeout_s;
    struct assay_error *error;
};

/* --- what the child says ---------------------------------------------------------------------- */

static const char *copy_text(struct assignment_query *ask, const struct assay__json *item)
{
    return assay__arena_strdup(ask->arena, item && item->string ? item->string : "");
}

static int hear_nodes(struct assignment_query *ask, const struct assay__json *list)
{
    for (const struct assay__json *row = list->first; row; row = row->next) {
        size_t count = ask->into->count;
        const struct assay__json *at[5] = {0};
        size_t n = 0;
        for (const struct assay__json *cell = row->first; cell && n < 5; cell = cell->next)
            at[n++] = cell;
        if (n < 5 || !at[4]->is_integer || at[4]->integer < 0)
            return assay_error_set(ask->error, ASSAY_EFORMAT,
                                   "the worker told of a node without its provider");
        if (assay__vec_grow((void **)&ask->nodes, &ask->capacity, count + 1, sizeof *ask->nodes))
            return assay__no_memory(ask->error);
        struct assay__assigned *node = &ask->nodes[count];
        *node = (struct assay__assigned){copy_text(ask, at[0]), copy_text(ask, at[1]),
                                         copy_text(ask, at[2]), copy_text(ask, at[3]),
                                         (size_t)at[4]->integer};
        if (!node->name || !node->op || !node->domain || !node->provider)
            return assay__no_memory(ask->error);
        ask->into->count++;
    }
    return 0;
}

static int hear(struct assignment_query *ask, const char *line, size_t length)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__json *root = NULL;
    if (!arena) return assay__no_memory(ask->error);
    int code = assay__json_parse(arena, line, length, &root, NULL);
    const struct assay__json *nodes = assay__json_get(root, "nodes"),
                             *failed = assay__json_get(root, "error");
    const char *target = assay__json_get_string(root, "target", NULL);
    if (code) {
        code = assay_error_set(ask->error, ASSAY_EFORMAT, "the worker said what is not JSON");
    } else if (nodes) {
        code = hear_nodes(ask, nodes);
    } else if (target) {
        ask->into->target = assay__arena_strdup(ask->arena, target);
        ask->into->version = assay__arena_strdup(ask->arena,
                                                 assay__json_get_string(root, "version", ""));
        if (!ask->into->target || !ask->into->version) code = assay__no_memory(ask->error);
    } else if (failed) {
        code = assay_error_set(ask->error,
                               (int)assay__json_get_integer(failed, "code", ASSAY_EENGINE), "%s",
                               assay__json_get_string(failed, "message", "the worker failed"));
    } else if (assay__json_get(root, "done")) {
        ask->done = true;
    }
    assay__arena_free(arena);
    return code;
}

/* --- the child -------------------------------------------------------------------------------- */

static void write_job(const struct assay__assignment_request *r, struct assay__buf *line)
{
    struct assay__json_writer out;
    assay__json_start(&out, line, false);
    assay__json_object(&out);
    assay__json_put_integer(&out, "job", 1);
    assay__json_put_bool(&out, "assignment", true);
    assay__json_put_string(&out, "engine", r->engine);
    assay__json_put_string(&out, "library", r->library);
    assay__json_put_string(&out, "device", r->device);
    assay__json_put_string(&out, "model", r->model);
    assay__json_put_string(&out, "optimization", r->optimization);
    assay__json_key(&out, "dims");
    assay__json_array(&out);
    for (size_t i = 0; i < r->dim_count; i++) {
        assay__json_array(&out);
        assay__json_string(&out, r->dim_names[i]);
        assay__json_integer(&out, r->dim_values[i]);
        assay__json_array_end(&out);
    }
    assay__json_array_end(&out);
    assay__json_object_end(&out);
}

static int send_job(struct assignment_query *ask, struct assay__channel *channel)
{
    struct assay__buf line = {0};
    write_job(ask->request, &line);
    int code = line.failed ? assay__no_memory(ask->error)
                           : assay__channel_send(channel, &line, SEND_TIMEOUT_MS);
    assay__buf_free(&line);
    /* it is gone: what it said before is still to be read */
    return code && code != ASSAY_EIO
               ? assay_error_set(ask->error, code, "the worker does not take its job")
               : 0;
}

/* Reads until the child is done, gone or silent for too long. */
static int converse(struct assignment_query *ask, struct assay__channel *channel)
{
    const volatile int *interrupt = ask->request->interrupt;
    uint64_t start_ns = assay__now_ns();
    while (!ask->done) {
        const char *line;
        size_t length;
        if (interrupt && *interrupt)
            return assay_error_set(ask->error, ASSAY_EINTERRUPTED, "interrupted");
        double left_ms = ask->timeout_s * 1e3 - (double)(assay__now_ns() - start_ns) / 1e6;
        if (left_ms <= 0) return ASSAY_ETIMEOUT;
        int code = assay__channel_read(channel, left_ms < POLL_MS ? (int)ceil(left_ms) : POLL_MS,
                                       &line, &length);
        if (code == ASSAY_EINTERRUPTED || code == ASSAY_ETIMEOUT) continue;
        if (code) return ASSAY_ECRASH;
        code = hear(ask, line, length);
        if (code) return code;
    }
    return 0;
}

static int describe(struct assignment_query *ask, int code, const struct assay__exit *status)
{
    if (code == ASSAY_ETIMEOUT)
        return assay_error_set(ask->error, code, "creating the session took more than %g s; killed",
                               ask->timeout_s);
    if (status->exited)
        return assay_error_set(ask->error, code,
                               "creating the session ended the process with status %d",
                               status->status);
    if (status->oom)
        return assay_error_set(ask->error, code,
                               "creating the session ran out of memory (SIGKILL)");
    return assay_error_set(ask->error, code, "creating the session crashed: %s",
                           assay__signal_name(status->signal));
}

static int run_child(struct assignment_query *ask, const char *worker)
{
    struct assay__child child = {.pid = -1, .socket = -1};
    struct assay__channel channel = {.fd = -1};
    struct assay__exit status = {0};
    const char *const argv[] = {worker, NULL};
    int null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC); /* its chatter is not ours */
    int code = assay__process_start(argv, null_fd, null_fd, NULL, &child, ask->error);
    if (null_fd >= 0) close(null_fd);
    if (code) return code;
    assay__channel_open(&channel, child.socket);
    code = send_job(ask, &channel);
    if (code == 0) code = converse(ask, &channel);
    if (code && code != ASSAY_ECRASH) assay__process_kill(&child, SIGKILL);
    if (assay__process_wait(&child, EXIT_GRACE_NS, &status) == ASSAY_ETIMEOUT) {
        assay__process_kill(&child, SIGKILL);
        assay__process_wait(&child, UINT64_MAX, &status);
    }
    /* a code of the engine's own comes with its words; these two are about the process */
    if ((code == ASSAY_ECRASH || code == ASSAY_ETIMEOUT) && !ask->error->code)
        describe(ask, code, &status);
    assay__channel_close(&channel);
    return code;
}

int assay__assignment_ask(const struct assay__assignment_request *request,
                          struct assay__arena *arena, struct assay__assignment *assignment,
                          struct assay_error *error)
{
    char worker[4096];
    struct assay_error own = {0};
    struct assignment_query ask = {
        .request = request, .arena = arena, .into = assignment, .error = &own};
    *assignment = (struct assay__assignment){.target = "", .version = ""};
    ask.timeout_s = request->timeout_s > 0 ? request->timeout_s : ASSAY__ASSIGNMENT_TIMEOUT_S;
    int code = assay__worker_locate(worker, sizeof worker, &own);
    if (code == 0) code = run_child(&ask, worker);
    if (code == 0) {
        assignment->nodes = assay__arena_array(arena, assignment->count + 1,
                                               sizeof *assignment->nodes);
        if (!assignment->nodes)
            code = assay__no_memory(ask.error);
        else if (assignment->count)
            memcpy(assignment->nodes, ask.nodes, assignment->count * sizeof *assignment->nodes);
    }
    free(ask.nodes);
    if (code && error) *error = own;
    return code;
}
