/* cmd_devices.c - assay devices: the processors of this machine, what every build of an engine
 * offers on them, what is missing and why, and, on request, measured ceilings. Also maintains the
 * user's list of builds. */
#include "cli/commands.h"
#include "cli/render_options.h"
#include "report/report_machine.h"
#include "run/builds.h"
#include "run/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct devices_options {
    bool ceilings, remeasure, quiet;
    const char *engine, *library, *only, *device;
    double timeout_s, time_s;
    struct assay__render_options render;
    struct assay__option_list ort, add, remove;
};

#define AT(member) offsetof(struct devices_options, member)

/* Which options exclude each other. 0, or ASSAY__EXIT_USAGE after a message. */
static int check(const struct devices_options *o)
{
    if (!o->ceilings && (o->remeasure || o->only || o->time_s > 0))
        return assay__refuse("devices: --%s needs --ceilings", o->remeasure ? "remeasure"
                                                               : o->only    ? "only"
                                                                            : "time");
    if (o->engine && !assay__engine_find(o->engine))
        return assay__refuse("devices: --engine: there is no engine '%s'", o->engine);
    const struct assay__render_options *r = &o->render;
    if ((o->add.count || o->remove.count) &&
        (r->json || r->format || r->table || o->ceilings || o->ort.count || o->device))
        return assay__refuse("devices: --add-ort and --remove-ort only edit the list: use them "
                             "without other options");
    return assay__render_check("devices", r);
}

/* --- the user's list -------------------------------------------------------------------------- */

struct loaded {
    bool works;
    char version[64], reason[256];
};

static int on_cpu(void *context, const struct assay__device *device)
{
    struct loaded *loaded = context;
    loaded->works = device->available;
    snprintf(loaded->version, sizeof loaded->version, "%s", device->version);
    snprintf(loaded->reason, sizeof loaded->reason, "%s", device->reason);
    return 0;
}

/* A build that cannot be loaded is not added to the list. */
static int add_one(const char *text, const struct devices_options *flags,
                   struct assay__arena *arena, struct assay__buf *out)
{
    struct assay__build item[1];
    struct assay__builds builds = {.items = item};
    struct assay_error error = {0};
    struct loaded loaded = {.works = false};
    if (!strchr(text, '='))
        return assay__refuse("devices: --add-ort: '%s' is not of the form NAME=PATH", text);
    if (assay__build_take(arena, text, &builds, &error)) {
        assay__say("devices: --add-ort: %s", error.message);
        return error.code == ASSAY_ENOMEM ? ASSAY__EXIT_FAILED : ASSAY__EXIT_USAGE;
    }
    struct assay__devices_options options = {.engine = "ort",
                                             .library = item[0].library,
                                             .only = "cpu",
                                             .timeout_s = flags->timeout_s,
                                             .interrupt = &assay__interrupted};
    int code = assay__devices_list(&options, on_cpu, &loaded, &error);
    if (code == ASSAY_EINTERRUPTED) return ASSAY__EXIT_INTERRUPTED;
    if (code || !loaded.works) {
        assay__say("devices: --add-ort: '%s' was not added: %s", item[0].name,
                   code ? error.message : loaded.reason);
        return ASSAY__EXIT_FAILED;
    }
    code = assay__builds_add(item[0].name, item[0].library, &error);
    if (code) return assay__fail(code, &error);
    assay__buf_printf(out, "added %s: ONNX Runtime %s, %s\n", item[0].name, loaded.version,
                      item[0].library);
    return 0;
}

static int edit_list(const struct devices_options *flags)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__buf out = {0};
    int status = arena ? 0 : assay__fail(ASSAY_ENOMEM, NULL);
    assay__catch_interrupts();
    for (size_t i = 0; i < flags->remove.count && !status; i++) {
        struct assay_error error = {0};
        int code = assay__builds_remove(flags->remove.items[i], &error);
        if (code)
            status = assay__fail(code, &error);
        else
            assay__buf_printf(&out, "removed %s\n", flags->remove.items[i]);
    }
    for (size_t i = 0; i < flags->add.count && !status; i++)
        status = add_one(flags->add.items[i], flags, arena, &out);
    int printed = out.length ? assay__print(&out) : 0;
    assay__buf_free(&out);
    assay__arena_free(arena);
    return status ? status : printed;
}

static int list_devices(struct assay__invocation *invocation)
{
    struct devices_options *o = invocation->options;
    struct assay__found found = {0};
    struct assay__buf out = {0};
    struct assay__doc *doc = NULL;
    struct assay_error error = {0};
    struct assay__bar bar;
    int status = check(o);
    if (status) return status;
    if (o->add.count || o->remove.count) return edit_list(o);
    assay__render_top(invocation, &o->render);
    const struct assay__device_search search = {
        .engine = o->engine,
        .library = o->library,
        .device = o->device,
        .ort = o->ort.items,
        .ort_count = o->ort.count,
        .timeout_s = o->timeout_s,
        .ceilings = o->ceilings,
        .remeasure = o->remeasure,
        .ceilings_s = o->time_s,
        .only = o->only,
        .callbacks = assay__bar_start(&bar, "devices", o->quiet),
    };
    assay__catch_interrupts();
    int code = assay__devices_find(&search, &found, &error);
    assay__bar_erase(&bar);
    if (code) status = assay__fail(code, &error);
    if (!status) {
        if (assay__wants_json(&o->render))
            assay__devices_json(&out, &found);
        else if (assay__devices_document(&found, &doc))
            out.failed = true;
        status = assay__print_document(&o->render, doc, &out);
        if (!status && found.interrupted) {
            assay__say("interrupted: showing what was found so far");
            status = ASSAY__EXIT_INTERRUPTED;
        }
    }
    assay__devices_free(&found);
    return status;
}

static const struct assay__option options[] = {
    ASSAY__STRING_ROW("engine", 0, engine, "NAME", "Show only devices of this engine."),
    ASSAY__STRING_ROW(
        "library", 0, library, "FILE",
        "The engine's library (default: $ASSAY_ORT_LIBRARY, else the one set up here)."),
    ASSAY__LIST_ROW(
        "ort", ort, "[NAME=]PATH",
        "Another ONNX Runtime build to use for this call: its library or folder; may be repeated."),
    ASSAY__LIST_ROW("add-ort", add, "NAME=PATH",
                    "Add a build to your list: its devices are then called NAME/cpu and so on."),
    ASSAY__LIST_ROW("remove-ort", remove, "NAME", "Remove a build from your list."),
    ASSAY__STRING_ROW("device", 0, device, "NAME",
                      "Show only this device, such as cuda:0 or ovn/openvino:cpu."),
    ASSAY__DURATION_ROW("timeout", timeout_s,
                        "How long to wait for a device to answer (default 30s).", 0.1, 86400),
    ASSAY__FLAG_ROW("ceilings", 0, ceilings,
                    "Measure the peak performance of the CPU (about 17 s) and of every other "
                    "usable device (at most 60 s each), and save it for this machine."),
    ASSAY__FLAG_ROW("remeasure", 0, remeasure,
                    "Measure the ceilings again even if they are saved."),
    ASSAY__DURATION_ROW("time", time_s,
                        "How long to measure the ceilings of one device (default 17s for the CPU, "
                        "up to 51s on a busy machine; 60s for others).",
                        0.1, 3600),
    ASSAY__STRING_ROW("only", 0, only, "NAME",
                      "Only ceilings whose names start with this prefix, such as compute.float32 "
                      "or bandwidth.dram."),
    ASSAY__FLAG_ROW("quiet", 'q', quiet, "No progress on stderr; errors are still printed."),
    ASSAY__RENDER_ROWS(ASSAY__VIEW_NAMES_AND("|json"), ASSAY__DEVICES_TABLES),
    {0},
};

const struct assay__command assay__command_devices = {
    .name = "devices",
    .summary = "list the devices a model can run on, and why others cannot",
    .arguments = "",
    .description =
        "Shows the processors of this machine and asks every engine which of them it can use. Each "
        "device is tried with a tiny model in a separate process; one that cannot be used is "
        "listed with the reason.\n\nSeveral builds of ONNX Runtime can be used side by side: --ort "
        "adds one for this call, --add-ort adds one to your list. Device names are then prefixed "
        "with the name of the build, here and in 'assay run --device'.\n\nWith --ceilings it also "
        "measures the peaks of the devices: arithmetic per data type, bandwidth and latency. The "
        "result is saved for this machine and measured again when the machine changes.",
    .examples = "  assay devices\n  assay devices --add-ort ovn=/opt/onnxruntime-openvino\n"
                "  assay devices --device ovn/openvino:cpu\n  assay devices --ceilings\n"
                "  assay devices --ceilings --only compute --json\n",
    .options = options,
    .options_size = sizeof(struct devices_options),
    .run = list_devices,
};
