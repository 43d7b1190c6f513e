/* devices.c - lists an engine's devices from a child process. */
#include "run/devices.h"

#include "base/no_memory.h"
#include "run/child.h"
#include "run/worker/messages.h"

#include <stdio.h>

#define CHILDREN_MOST 64

struct told {
    const char *name; /* arena */
    bool works;
};

struct listing {
    const struct assay__devices_options *options;
    assay__device_fn *found;
    void *context;
    struct assay__arena *arena;
    struct told *told; /* arena */
    size_t count;
    /* the device being tried; strings in the arena, name NULL: none */
    struct assay__device next;
    struct assay__question question;
};

static int report_device(struct listing *list, const struct assay__device *device,
                         struct assay_error *error)
{
    const char *name = assay__arena_strdup(list->arena, device->name);
    struct told *told = assay__arena_grow(list->arena, list->told, list->count, sizeof *told);
    if (!name || !told) return assay__no_memory(error);
    list->told = told;
    told[list->count++] = (struct told){name, device->available};
    list->next.name = NULL;
    int code = list->found(list->context, device);
    return code ? assay_error_set(error, code, "the caller stopped the search") : 0;
}

static int hear(void *context, const struct assay__json *root, struct assay__arena *arena,
                struct assay_error *error)
{
    struct listing *list = context;
    const struct assay__json *trying = assay__json_get(root, "trying"),
                             *json = assay__json_get(root, "device");
    struct assay__device device = {0};
    if (assay__fields_receive(trying ? trying : json, &assay__message_device,
                              trying ? list->arena : arena, &device))
        return assay__no_memory(error);
    if (!device.name[0])
        return assay_error_set(error, ASSAY_EFORMAT, "the worker sent a device without a name");
    if (!trying) return report_device(list, &device, error);
    list->question.last_log[0] = '\0';
    list->next = device;
    list->next.engine = list->options->engine;
    if (list->options->trying)
        list->options->trying(list->options->trying_context, list->next.name);
    return 0;
}

static void put_names(struct assay__json_writer *out, const char *key, const struct listing *list,
                      bool works)
{
    assay__json_put_array(out, key);
    for (size_t i = 0; i < list->count; i++)
        if (list->told[i].works == works) assay__json_string(out, list->told[i].name);
    assay__json_array_end(out);
}

static void write_job(void *context, struct assay__json_writer *out)
{
    const struct listing *list = context;
    assay__json_put_bool(out, "devices", true);
    assay__json_put_string(out, "engine", list->options->engine);
    assay__json_put_string(out, "library", list->options->library);
    assay__json_put_string(out, "only", list->options->only);
    put_names(out, "working", list, true);
    put_names(out, "failed", list, false);
}

/* A device that crashes its child gets a row that says so; a new child continues after it. */
static int run_children(struct listing *list, struct assay_error *error)
{
    for (int n = 0; n < CHILDREN_MOST; n++) {
        bool lost;
        size_t before = list->count;
        list->next.name = NULL;
        int code = assay__question_ask(&list->question, &lost, error);
        if (!lost) return code;
        char reason[1100];
        struct assay__device device = list->next;
        snprintf(reason, sizeof reason, "%s it %s", device.name ? "probing" : "loading",
                 list->question.reason);
        device.reason = reason;
        if (!device.name && list->count == before)
            return assay_error_set(error, code, "engine '%s': %s", list->options->engine, reason);
        code = device.name ? report_device(list, &device, error) : 0;
        if (code) return code;
    }
    return assay_error_set(error, ASSAY_ELIMIT,
                           "too many devices crash the process that tries them");
}

int assay__devices_list(const struct assay__devices_options *options, assay__device_fn *found,
                        void *context, struct assay_error *error)
{
    struct listing list = {.options = options,
                           .found = found,
                           .context = context,
                           .arena = assay__arena_new(),
                           .question = {.timeout_s = options->timeout_s > 0
                                                         ? options->timeout_s
                                                         : ASSAY__DEVICES_TIMEOUT_S,
                                        .interrupt = options->interrupt,
                                        .write_job = write_job,
                                        .hear = hear,
                                        .context = &list}};
    int code = list.arena ? run_children(&list, error) : assay__no_memory(error);
    assay__arena_free(list.arena);
    return code;
}
