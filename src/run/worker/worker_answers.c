/* worker_answers.c - the child's side of devices.h and assignment.h. A failing provider often gives
 * the cause only in its log, so the last logged error is added to the reason of the device, and to
 * the message of an assignment. Nodes are sent a few hundred per line. */
#include "run/assignment.h"
#include "run/devices.h"

#include "base/json.h"
#include "base/log.h"
#include "run/worker/messages.h"

#include <stdio.h>
#include <string.h>

#define NODES_PER_LINE 256u
#define DIMS_MOST 256u

/* --- devices ---------------------------------------------------------------------------------- */

struct asked {
    struct assay__channel *channel;
    const struct assay__json *working, *failed;
    const char *only;
    char log[512]; /* the last error while this device was tried */
    struct assay_error *error;
};

static bool is_in(const struct assay__json *list, const char *name)
{
    for (const struct assay__json *item = list ? list->first : NULL; item; item = item->next)
        if (item->string && strcmp(item->string, name) == 0) return true;
    return false;
}

/* "cuda" is "cuda:0" too. */
static bool is_wanted(const char *only, const char *name)
{
    size_t length = only ? strlen(only) : 0;
    return !only || strcmp(only, name) == 0 ||
           (strncmp(only, name, length) == 0 && strcmp(name + length, ":0") == 0);
}

static enum assay__device_answer on_about(void *context, const struct assay__device *device)
{
    struct asked *asked = context;
    const char *name = device->name;
    if (is_in(asked->failed, name)) return ASSAY__DEVICE_END;
    if (is_in(asked->working, name) || !is_wanted(asked->only, name)) return ASSAY__DEVICE_PASS;
    asked->log[0] = '\0';
    /* What only a trial run can show is not known yet. */
    struct assay__device known = {.name = name,
                                  .kind = device->kind,
                                  .library = device->library,
                                  .version = device->version,
                                  .offered = true};
    int code = assay__message_send_fields(asked->channel, "trying", &assay__message_device, &known,
                                          asked->error);
    return code ? ASSAY__DEVICE_END : ASSAY__DEVICE_TRY;
}

static void on_device_log(void *context, enum assay_log_level level, const char *domain,
                          const char *text)
{
    struct asked *asked = context;
    (void)domain;
    if (level != ASSAY_LOG_ERROR) return;
    snprintf(asked->log, sizeof asked->log, "%s", text);
    struct assay__message message;
    assay__json_string(assay__message_open(&message, "log"), asked->log);
    assay__message_send(&message, asked->channel, asked->error);
}

static int on_device(void *context, const struct assay__device *device)
{
    struct asked *asked = context;
    struct assay__device told = *device;
    char reason[1024];
    const char *own = device->reason ? device->reason : "";
    bool more = !device->available && asked->log[0] && !strstr(own, asked->log);
    snprintf(reason, sizeof reason, "%s%s%s", own, more ? "; " : "", more ? asked->log : "");
    told.reason = reason;
    return assay__message_send_fields(asked->channel, "device", &assay__message_device, &told,
                                      asked->error);
}

int assay__devices_answer(struct assay__channel *channel, const struct assay__json *job,
                          struct assay_error *error)
{
    struct asked asked = {.channel = channel,
                          .working = assay__json_get(job, "working"),
                          .failed = assay__json_get(job, "failed"),
                          .only = assay__json_get_string(job, "only", NULL),
                          .error = error};
    const char *name = assay__json_get_string(job, "engine", ""),
               *library = assay__json_get_string(job, "library", NULL);
    const struct assay__engine_ops *engine = assay__engine_find(name);
    if (!engine) return assay_error_set(error, ASSAY_ENOTFOUND, "there is no engine '%s'", name);
    assay_log_set(on_device_log, &asked, ASSAY_LOG_ERROR);
    int code = engine->devices(library, on_about, on_device, &asked, error);
    assay_log_set(NULL, NULL, ASSAY_LOG_ERROR);
    return code ? code : assay__message_send_done(channel, error);
}

/* --- which provider gets which node ----------------------------------------------------------- */

struct telling {
    struct assay__channel *channel;
    struct assay__message nodes; /* those that are not sent yet */
    size_t pending;
    char log[512];
    struct assay_error *error;
};

static int send_nodes(struct telling *tell)
{
    if (tell->pending == 0) return 0;
    assay__json_array_end(&tell->nodes.writer);
    tell->pending = 0;
    return assay__message_send(&tell->nodes, tell->channel, tell->error);
}

/* Sent before any node: a record may have none. */
static int introduce(void *context, const char *target, const char *version)
{
    struct telling *tell = context;
    struct assay__message message;
    struct assay__json_writer *out = assay__message_open(&message, "target");
    assay__json_string(out, target ? target : "");
    assay__json_put_string(out, "version", version ? version : "");
    return assay__message_send(&message, tell->channel, tell->error);
}

static int on_node(void *context, const struct assay__assigned *node)
{
    struct telling *tell = context;
    struct assay__json_writer *out = &tell->nodes.writer;
    if (tell->pending++ == 0) assay__json_array(assay__message_open(&tell->nodes, "nodes"));
    assay__json_array(out);
    assay__json_string(out, node->name ? node->name : "");
    assay__json_string(out, node->op ? node->op : "");
    assay__json_string(out, node->domain ? node->domain : "");
    assay__json_string(out, node->provider ? node->provider : "");
    assay__json_integer(out, (int64_t)node->subgraph);
    assay__json_array_end(out);
    return tell->pending < NODES_PER_LINE ? 0 : send_nodes(tell);
}

static void on_assignment_log(void *context, enum assay_log_level level, const char *domain,
                              const char *text)
{
    struct telling *tell = context;
    (void)domain;
    if (level == ASSAY_LOG_ERROR) snprintf(tell->log, sizeof tell->log, "%s", text);
}

/* "dims": [["batch", 1], …] */
static size_t read_dims(const struct assay__json *list, const char **names, int64_t *values)
{
    size_t count = 0;
    for (const struct assay__json *pair = list ? list->first : NULL; pair && count < DIMS_MOST;
         pair = pair->next) {
        const struct assay__json *name = pair->first, *value = name ? name->next : NULL;
        if (!value || !name->string || !value->is_integer) continue;
        names[count] = name->string;
        values[count++] = value->integer;
    }
    return count;
}

int assay__assignment_answer(struct assay__channel *channel, const struct assay__json *job,
                             struct assay_error *error)
{
    struct telling tell = {.channel = channel, .error = error};
    const char *names[DIMS_MOST], *name = assay__json_get_string(job, "engine", "");
    int64_t values[DIMS_MOST];
    struct assay__assignment_options options = {
        .size = sizeof options,
        .model_path = assay__json_get_string(job, "model", NULL),
        .library = assay__json_get_string(job, "library", NULL),
        .device = assay__json_get_string(job, "device", NULL),
        .optimization = assay__json_get_string(job, "optimization", NULL),
        .save_path = assay__json_get_string(job, "save", NULL),
        .dim_names = names,
        .dim_values = values,
        .dim_count = read_dims(assay__json_get(job, "dims"), names, values),
        .about = introduce,
    };
    const struct assay__engine_ops *engine = assay__engine_find(name);
    if (!engine) return assay_error_set(error, ASSAY_ENOTFOUND, "there is no engine '%s'", name);
    if (!engine->assignment)
        return assay_error_set(error, ASSAY_EUNSUPPORTED,
                               "engine '%s' cannot say which nodes run where", name);
    assay_log_set(on_assignment_log, &tell, ASSAY_LOG_ERROR);
    int code = engine->assignment(&options, on_node, &tell, error);
    assay_log_set(NULL, NULL, ASSAY_LOG_ERROR);
    if (code && tell.log[0] && !strstr(error->message, tell.log)) {
        struct assay_error own = *error;
        assay_error_set(error, code, "%.150s; %.90s", own.message, tell.log);
    }
    if (code == 0) code = send_nodes(&tell);
    assay__buf_free(&tell.nodes.text);
    return code ? code : assay__message_send_done(channel, error);
}
