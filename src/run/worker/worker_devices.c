/* worker_devices.c - the child's side of devices.h. A failing provider often gives the cause only
 * in its log, so the last logged error is added to the reason of the device. */
#include "run/devices.h"

#include "base/json.h"
#include "base/log.h"
#include "run/worker/messages.h"

#include <stdio.h>
#include <string.h>

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
    /* What only trying it shows is not known yet. */
    struct assay__device known = {.name = name,
                                  .kind = device->kind,
                                  .library = device->library,
                                  .version = device->version,
                                  .offered = true};
    int code = assay__message_send_fields(asked->channel, "trying", &assay__message_device, &known,
                                          asked->error);
    return code ? ASSAY__DEVICE_END : ASSAY__DEVICE_TRY;
}

static void on_log(void *context, enum assay_log_level level, const char *domain, const char *text)
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
    if (!engine) return assay_error_set(error, ASSAY_ENOTFOUND, "no engine is called '%s'", name);
    assay_log_set(on_log, &asked, ASSAY_LOG_ERROR);
    int code = engine->devices(library, on_about, on_device, &asked, error);
    assay_log_set(NULL, NULL, ASSAY_LOG_ERROR);
    return code ? code : assay__message_send_done(channel, error);
}
