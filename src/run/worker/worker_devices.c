/* worker_devices.c - the child's side of devices.h. A provider that fails often says why only in
 * its log: the last error of the log is added to the reason of the device that was being tried. */
#include "run/devices.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/log.h"
#include "run/worker/channel.h"
#include "run/worker/messages.h"

#include <stdio.h>
#include <string.h>

#define SEND_TIMEOUT_MS 60000

struct asked {
    struct assay__channel *channel;
    const struct assay__json *working, *failed;
    const char *only;
    char log[512]; /* the last error while this device was tried */
    struct assay_error *error;
};

static struct assay__json *parse(struct assay__arena *arena, const char *line, size_t length)
{
    struct assay__json *root = NULL;
    return arena && assay__json_parse(arena, line, length, &root, NULL) == 0 ? root : NULL;
}

bool assay__devices_asked(const char *line, size_t length)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__json *root = parse(arena, line, length);
    bool asked = root && assay__json_get(root, "devices") != NULL;
    assay__arena_free(arena);
    return asked;
}

static int send(struct asked *asked, struct assay__json_writer *out, struct assay__buf *line)
{
    assay__json_object_end(out);
    int code = assay__channel_send(asked->channel, line, SEND_TIMEOUT_MS);
    assay__buf_free(line);
    return code ? assay_error_set(asked->error, code, "the parent is gone") : 0;
}

static int send_text(struct asked *asked, const char *key, const char *text)
{
    struct assay__buf line = {0};
    struct assay__json_writer out;
    assay__json_start(&out, &line, false);
    assay__json_object(&out);
    assay__json_put_string(&out, key, text);
    return send(asked, &out, &line);
}

static bool is_in(const struct assay__json *list, const char *name)
{
    for (const struct assay__json *item = list ? list->first : NULL; item; item = item->next)
        if (item->string && strcmp(item->string, name) == 0) return true;
    return false;
}

static int send_device(struct asked *asked, const char *key, const struct assay_device *device)
{
    struct assay__buf line = {0};
    struct assay__json_writer out;
    assay__json_start(&out, &line, false);
    assay__json_object(&out);
    assay__json_key(&out, key);
    assay__json_object(&out);
    assay__fields_send(&out, &assay__message_device, device);
    assay__json_object_end(&out);
    return send(asked, &out, &line);
}

/* "cuda" is "cuda:0" too. */
static bool is_wanted(const char *only, const char *name)
{
    size_t length = only ? strlen(only) : 0;
    return !only || strcmp(only, name) == 0 ||
           (strncmp(only, name, length) == 0 && strcmp(name + length, ":0") == 0);
}

static enum assay_device_answer on_about(void *context, const struct assay_device *device)
{
    struct asked *asked = context;
    const char *name = device->name;
    if (is_in(asked->failed, name)) return ASSAY_DEVICE_END;
    if (is_in(asked->working, name) || !is_wanted(asked->only, name)) return ASSAY_DEVICE_PASS;
    asked->log[0] = '\0';
    /* What only trying it shows is not known yet. */
    struct assay_device known = {.name = name,
                                 .kind = device->kind,
                                 .library = device->library,
                                 .version = device->version,
                                 .offered = true};
    return send_device(asked, "trying", &known) ? ASSAY_DEVICE_END : ASSAY_DEVICE_TRY;
}

static void on_log(void *context, enum assay_log_level level, const char *domain, const char *text)
{
    struct asked *asked = context;
    (void)domain;
    if (level != ASSAY_LOG_ERROR) return;
    snprintf(asked->log, sizeof asked->log, "%s", text);
    send_text(asked, "log", asked->log);
}

static int on_device(void *context, const struct assay_device *device)
{
    struct asked *asked = context;
    struct assay_device told = *device;
    char reason[1024];
    const char *own = device->reason ? device->reason : "";
    bool more = !device->available && asked->log[0] && !strstr(own, asked->log);
    snprintf(reason, sizeof reason, "%s%s%s", own, more ? "; " : "", more ? asked->log : "");
    told.reason = reason;
    return send_device(asked, "device", &told);
}

int assay__devices_answer(struct assay__channel *channel, const char *line, size_t length,
                          struct assay_error *error)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__json *root = parse(arena, line, length);
    struct asked asked = {.channel = channel,
                          .working = assay__json_get(root, "working"),
                          .failed = assay__json_get(root, "failed"),
                          .only = assay__json_get_string(root, "only", NULL),
                          .error = error};
    const char *name = assay__json_get_string(root, "engine", ""),
               *library = assay__json_get_string(root, "library", NULL);
    const struct assay_engine_ops *engine = assay_engine_find(name);
    int code;
    assay_log_set(on_log, &asked, ASSAY_LOG_ERROR);
    if (!engine || !engine->devices_each)
        code = assay_error_set(error, ASSAY_ENOTFOUND,
                               engine ? "engine '%s' cannot be asked for its devices"
                                      : "no engine is called '%s'",
                               name);
    else
        code = engine->devices_each(library, on_about, on_device, &asked, error);
    assay_log_set(NULL, NULL, ASSAY_LOG_ERROR);
    if (code == 0) code = send_text(&asked, "done", "");
    assay__arena_free(arena);
    return code;
}
