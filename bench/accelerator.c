/* accelerator.c - measures a device's ceilings through ONNX Runtime and prints them.
 *
 *   accelerator DEVICE [--library FILE] [--only PREFIX] [--budget SECONDS] [--json] */
#include "base/json.h"
#include "ceiling/accelerator/accelerator.h"
#include "report/formats.h"
#include "report/report_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool on_row(void *context, const char *name)
{
    (void)context;
    fprintf(stderr, "%s\n", name);
    return false;
}

int main(int argc, char **argv)
{
    struct assay__ceiling_options options = {.remeasure = true, .progress = on_row};
    struct assay__accelerator device = {.engine = "ort", .identity = ""};
    struct assay__arena *arena = assay__arena_new();
    struct assay__machine machine;
    struct assay__ceilings *set;
    struct assay_error error = {0};
    struct assay__buf out = {0};
    bool json = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            options.only = argv[++i];
        else if (strcmp(argv[i], "--budget") == 0 && i + 1 < argc)
            options.budget_s = strtod(argv[++i], NULL);
        else if (strcmp(argv[i], "--library") == 0 && i + 1 < argc)
            device.library = argv[++i];
        else if (strcmp(argv[i], "--json") == 0)
            json = true;
        else if (argv[i][0] != '-' && !device.device)
            device.device = argv[i];
        else
            return fprintf(stderr, "accelerator: '%s'?\n", argv[i]), 2;
    }
    if (!device.device) return fprintf(stderr, "accelerator: which device?\n"), 2;
    int code = arena ? assay__machine_read(arena, &machine) : ASSAY_ENOMEM;
    if (!code)
        code = assay__accelerator_ceilings_get(arena, &machine, &device, &options, &set, &error);
    if (code)
        return fprintf(stderr, "accelerator: %s\n",
                       error.message[0] ? error.message : assay_error_text(code)),
               1;
    struct assay__doc *doc = NULL;
    if (json) {
        struct assay__json_writer writer;
        assay__json_start(&writer, &out, true);
        assay__json_object(&writer);
        assay__ceilings_json(&writer, set, "");
        assay__json_object_end(&writer);
    } else if (!assay__doc_new(&doc)) {
        assay__add_ceilings(doc, set, device.device);
        assay__walk_text(doc, &(struct assay_report_options){.columns = 80}, &out, &error);
        assay__doc_free(doc);
    }
    printf("%s\n", out.data ? out.data : "");
    assay__buf_free(&out);
    assay__arena_free(arena);
    return 0;
}
