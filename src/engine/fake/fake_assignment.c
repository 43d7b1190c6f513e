/* fake_assignment.c - the fake engine's answer to "which provider runs which node". The model is
 * read and every node of its main graph goes to the device ("FakeExecutionProvider"), except
 * operators that $ASSAY_FAKE_ASSIGNMENT lists ("Softmax,Gather"), which go to
 * "CPUExecutionProvider". Neighbours in the file's order that share a provider are one piece.
 *
 * Instead of a list: "old" (this build cannot report it), "refuse" (no session can be created),
 * "nothing" (the record names no node), "crash" (SIGSEGV), "hang". */
#include "engine/fake/fake.h"

#include "model/graph.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TARGET "FakeExecutionProvider"
#define VERSION "1"

static bool listed(const char *list, const char *op)
{
    size_t length = strlen(op);
    while (list && *list) {
        size_t item = strcspn(list, ",");
        if (item == length && strncmp(list, op, item) == 0) return true;
        list += item + (list[item] == ',');
    }
    return false;
}

static int report_nodes(const struct assay__model *model, const char *script,
                        assay__assigned_fn *found, void *context)
{
    const struct assay__graph *graph = &model->graph;
    size_t piece = 0;
    bool before = false;
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct assay__node *node = &graph->nodes[i];
        bool away = listed(script, node->op);
        if (i > 0 && away != before) piece++;
        before = away;
        struct assay__assigned told = {
            .name = node->name ? node->name : "",
            .op = node->op,
            .domain = node->domain,
            .provider = away ? "CPUExecutionProvider" : TARGET,
            .subgraph = piece,
        };
        int code = found(context, &told);
        if (code) return code;
    }
    return 0;
}

int assay__fake_assignment(const struct assay__assignment_options *given, assay__assigned_fn *found,
                           void *context, struct assay_error *error)
{
    const char *script = getenv("ASSAY_FAKE_ASSIGNMENT");
    struct assay__assignment_options options;
    struct assay__model *model = NULL;
    int code = assay__assignment_options_read(given, &options, error);
    if (code) return code;
    if (!script) script = "";
    if (strcmp(script, "crash") == 0) {
        signal(SIGSEGV, SIG_DFL); /* a sanitizer would catch it */
        raise(SIGSEGV);
    }
    while (strcmp(script, "hang") == 0)
        pause();
    if (strcmp(script, "old") == 0)
        return assay_error_set(error, ASSAY_EUNSUPPORTED,
                               "this build of the fake engine cannot say which nodes run where");
    if (strcmp(script, "refuse") == 0)
        return assay_error_set(error, ASSAY_EENGINE, "the script refuses the model");
    if (options.device && !assay__fake_has_device(options.device))
        return assay_error_set(error, ASSAY_ENOTFOUND, "the fake engine has no device '%s'",
                               options.device);
    code = assay__model_read(options.model_path, &model, error);
    if (code == 0 && options.about) code = options.about(context, TARGET, VERSION);
    if (code == 0 && strcmp(script, "nothing") != 0)
        code = report_nodes(model, script, found, context);
    assay__model_free(model);
    return code;
}
