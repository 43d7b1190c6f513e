/* cmd_devices.c - assay devices: the processors of this machine, what every build of an engine
 * offers on them, what is missing and why, and, when asked, measured ceilings. Also keeps the
 * user's list of builds. devices_find.c does the work. */
#include "cli/commands.h"
#include "cli/device_list.h"
#include "cli/render_options.h"

#include <stdlib.h>
#include <string.h>

#define AT(member) offsetof(struct assay__devices_flags, member)

/* What excludes what. 0, or ASSAY__EXIT_USAGE after it was said. */
static int check(const struct assay__devices_flags *o)
{
    if (!o->ceilings && (o->remeasure || o->only)) {
        assay__say("devices: --%s needs --ceilings", o->remeasure ? "remeasure" : "only");
        return ASSAY__EXIT_USAGE;
    }
    if (o->engine && !assay_engine_find(o->engine)) {
        assay__say("devices: --engine: there is no engine '%s'", o->engine);
        return ASSAY__EXIT_USAGE;
    }
    const struct assay__render_options *r = &o->render;
    if ((o->add.count || o->remove.count) &&
        (r->json || r->format || r->table || o->ceilings || o->ort.count || o->device)) {
        assay__say("devices: --add-ort and --remove-ort edit the list and show nothing: give them "
                   "alone");
        return ASSAY__EXIT_USAGE;
    }
    return assay__render_check("devices", r);
}

static int list_devices(struct assay__invocation *invocation)
{
    struct assay__devices_flags *o = invocation->options;
    struct assay__found found = {0};
    struct assay__buf out = {0};
    struct assay__doc *doc = NULL;
    int status = check(o);
    if (status) return status;
    if (o->add.count || o->remove.count) return assay__devices_edit(o);
    assay__render_top(invocation, &o->render);
    status = assay__devices_find(o, &found);
    if (!status) {
        if (assay__wants_json(&o->render))
            assay__devices_json(&out, &found);
        else if (assay__devices_document(&found, &doc))
            out.failed = true;
        status = assay__print_document(&o->render, doc, &out);
        if (!status && found.interrupted) {
            assay__say("interrupted: what was found until then is shown");
            status = ASSAY__EXIT_INTERRUPTED;
        }
    }
    assay__devices_free(&found);
    return status;
}

static const struct assay__option options[] = {
    {"engine", 0, ASSAY__OPTION_STRING, AT(engine), "NAME", "Only devices of this engine.", NULL,
     NULL, 0, 0, false},
    {"library", 0, ASSAY__OPTION_STRING, AT(library), "FILE",
     "The engine's library (default: $ASSAY_ORT_LIBRARY, else the one set up here).", NULL, NULL, 0,
     0, false},
    {"ort", 0, ASSAY__OPTION_LIST, AT(ort), "[NAME=]PATH",
     "Another build of ONNX Runtime for this call: its library or folder; may be given again.",
     NULL, NULL, 0, 0, false},
    {"add-ort", 0, ASSAY__OPTION_LIST, AT(add), "NAME=PATH",
     "Put a build on your list: its devices are then called NAME/cpu and so on.", NULL, NULL, 0, 0,
     false},
    {"remove-ort", 0, ASSAY__OPTION_LIST, AT(remove), "NAME", "Take a build off your list.", NULL,
     NULL, 0, 0, false},
    {"device", 0, ASSAY__OPTION_STRING, AT(device), "NAME",
     "Only this device, such as cuda:0 or ovn/openvino:cpu.", NULL, NULL, 0, 0, false},
    {"timeout", 0, ASSAY__OPTION_DURATION, AT(timeout_s), "TIME",
     "Give up on a device that does not answer for so long (default 30s).", NULL, NULL, 0.1, 86400,
     false},
    {"ceilings", 0, ASSAY__OPTION_FLAG, AT(ceilings), NULL,
     "Show what the CPU (measured in about 17 s) and each other usable device (at most 60 s each) "
     "can do "
     "at most; then kept for this machine.",
     NULL, NULL, 0, 0, false},
    {"remeasure", 0, ASSAY__OPTION_FLAG, AT(remeasure), NULL,
     "Measure the ceilings again, although they are kept.", NULL, NULL, 0, 0, false},
    {"only", 0, ASSAY__OPTION_STRING, AT(only), "NAME",
     "Only ceilings whose names begin so, such as compute.float32 or bandwidth.dram.", NULL, NULL,
     0, 0, false},
    {"quiet", 'q', ASSAY__OPTION_FLAG, AT(quiet), NULL,
     "No progress on stderr; errors are still said.", NULL, NULL, 0, 0, false},
    ASSAY__RENDER_ROWS(ASSAY__VIEW_NAMES_AND("|json"), ASSAY__DEVICES_TABLES),
    {0},
};

const struct assay__command assay__command_devices = {
    .name = "devices",
    .summary = "list the devices a model can run on, and why others cannot",
    .arguments = "",
    .description =
        "Shows the processors of this machine and asks every engine which devices it can reach on "
        "them. Each device is "
        "tried with a tiny model in a process of its own; one that cannot be used is listed with "
        "the reason.\n\n"
        "Several builds of ONNX Runtime can stand side by side: --ort adds one for this call, "
        "--add-ort keeps one on your "
        "list. Devices of such a build have its name before theirs, here and in 'assay run "
        "--device'.\n\n"
        "With --ceilings it also measures what the devices can do at most: arithmetic per data "
        "type, bandwidth and "
        "latency. The result is kept for this machine and measured again when the machine changes.",
    .examples = "  assay devices\n  assay devices --add-ort ovn=/opt/onnxruntime-openvino\n"
                "  assay devices --device ovn/openvino:cpu\n  assay devices --ceilings\n"
                "  assay devices --ceilings --only compute --json\n",
    .options = options,
    .options_size = sizeof(struct assay__devices_flags),
    .run = list_devices,
};
