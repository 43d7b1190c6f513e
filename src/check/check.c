/* check.c - the framework of a check: fixes the inputs, analyses the model, applies the rules and
 * derives the verdict.
 *
 * Verdict: FAIL with an error, else WARN with a warning. An engine that could not be queried leaves
 * no verdict, unless the rules have already found an error. */
#include "check/check.h"

#include "base/no_memory.h"
#include "base/file.h"
#include "base/options_read.h"
#include "base/vec.h"
#include "zoo/model_open.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

const char *assay__check_severity_name(enum assay__check_severity severity)
{
    return severity == ASSAY__CHECK_ERROR     ? "error"
           : severity == ASSAY__CHECK_WARNING ? "warning"
                                              : "note";
}

const char *assay__check_verdict_name(enum assay__check_verdict verdict)
{
    return verdict == ASSAY__CHECK_PASS   ? "pass"
           : verdict == ASSAY__CHECK_WARN ? "warn"
           : verdict == ASSAY__CHECK_FAIL ? "fail"
                                          : NULL;
}

const char *assay__check_basis_name(enum assay__check_basis basis)
{
    /* values of "basis" in JSON, so they do not change */
    static const char *const names[] = {"the maker's own word", "several sources that agree",
                                        "a single source", "the engine's own answer",
                                        "follows from the model"};
    return names[basis];
}

size_t assay__check_count(const struct assay__check *check, enum assay__check_severity severity)
{
    size_t count = 0;
    for (size_t i = 0; i < check->item_count; i++)
        count += check->items[i].severity == severity;
    return count;
}

/* --- pieces that the rules use ---------------------------------------------------------------- */

const char *assay__check_node_name(const struct assay__node *node)
{
    if (node->name && *node->name) return node->name;
    return node->output_count ? node->outputs[0] : "";
}

const char *assay__check_input(const struct assay__node *node, size_t index)
{
    return index < node->input_count ? node->inputs[index] : "";
}

const char *assay__check_output(const struct assay__node *node, size_t index)
{
    return index < node->output_count ? node->outputs[index] : "";
}

const struct assay__shape_entry *assay__check_shape(const struct assay__check *check,
                                                    const char *value)
{
    if (!value || !*value) return NULL;
    const struct assay__shape_entry *entry = assay__shapes_get(check->analysis->shapes, value);
    return entry && entry->rank >= 0 ? entry : NULL;
}

const struct assay__shape_entry *assay__check_in(const struct assay__check *check, size_t index)
{
    return assay__check_shape(check, assay__check_input(check->node, index));
}

const struct assay__shape_entry *assay__check_out(const struct assay__check *check, size_t index)
{
    return assay__check_shape(check, assay__check_output(check->node, index));
}

bool assay__check_is_constant(const struct assay__check *check, const char *value)
{
    return *value && assay__map_get(check->constants, value) != ASSAY__MAP_NONE;
}

size_t assay__check_producer(const struct assay__check *check, const char *value)
{
    return *value ? assay__map_get(check->producers, value) : ASSAY__MAP_NONE;
}

double assay__check_bytes(const struct assay__check *check, const char *value, bool half)
{
    const struct assay__shape_entry *entry = assay__check_shape(check, value);
    double elements = 1;
    if (!entry) return (double)NAN;
    for (int d = 0; d < entry->rank; d++) {
        if (entry->dims[d] < 0) return (double)NAN;
        elements *= (double)entry->dims[d];
    }
    enum assay__dtype t = entry->dtype;
    bool wide = t == ASSAY__FLOAT32 || t == ASSAY__FLOAT64;
    int bits = half && wide ? 16 : assay__dtype_bits(t);
    return bits ? elements * bits / 8 : (double)NAN;
}

static struct assay__check_item *add_item(struct assay__check *check,
                                          const struct assay__check_rule *rule, size_t node,
                                          const char *chips, double bytes, const char *reason,
                                          va_list args)
{
    char text[1024];
    vsnprintf(text, sizeof text, reason, args);
    if (check->failed || assay__vec_grow((void **)&check->items, &check->item_capacity,
                                         check->item_count + 1, sizeof *check->items)) {
        check->failed = true;
        return NULL;
    }
    const struct assay__node *at = node == SIZE_MAX ? NULL : &check->model->graph.nodes[node];
    struct assay__check_item *item = &check->items[check->item_count++];
    *item = (struct assay__check_item){.rule = rule,
                                       .severity = rule->severity,
                                       .node = node,
                                       .name = at ? assay__check_node_name(at) : "",
                                       .op = at ? at->op : "",
                                       .reason = assay__arena_strdup(check->arena, text),
                                       .fix = rule->fix,
                                       .chips = chips,
                                       .bytes = bytes,
                                       .index = check->item_count,
                                       .order = check->rules_asked};
    if (!item->reason) {
        check->failed = true;
        item->reason = "";
    }
    if (at && rule->place != ASSAY__PLACE_ON && check->places[node] != ASSAY__PLACE_FOLDED &&
        check->places[node] != ASSAY__PLACE_OFF)
        check->places[node] = rule->place;
    return item;
}

struct assay__check_item *assay__check_say(struct assay__check *check,
                                           const struct assay__check_rule *rule, size_t node,
                                           const char *reason, ...)
{
    va_list args;
    va_start(args, reason);
    struct assay__check_item *item = add_item(check, rule, node, "", NAN, reason, args);
    va_end(args);
    return item;
}

struct assay__check_item *assay__check_add(struct assay__check *check, const char *chips,
                                           const char *reason, ...)
{
    va_list args;
    va_start(args, reason);
    struct assay__check_item *item = add_item(check, check->rule, check->at, chips, NAN, reason,
                                              args);
    va_end(args);
    return item;
}

struct assay__check_item *assay__check_add_bytes(struct assay__check *check, const char *chips,
                                                 double bytes, const char *reason, ...)
{
    va_list args;
    va_start(args, reason);
    struct assay__check_item *item = add_item(check, check->rule, check->at, chips, bytes, reason,
                                              args);
    va_end(args);
    return item;
}

static void ask(struct assay__check *check, size_t node)
{
    check->at = node;
    check->node = node == SIZE_MAX ? NULL : &check->model->graph.nodes[node];
    check->rule->look(check);
}

void assay__check_rules(struct assay__check *check, const struct assay__check_rule *rules)
{
    for (check->rule = rules; check->rule->id; check->rule++) {
        check->rules_asked++;
        if (check->rule->once) ask(check, SIZE_MAX);
        for (size_t i = 0; i < check->model->graph.node_count && !check->rule->once; i++) {
            size_t node = check->analysis->order[i];
            if (check->places[node] != ASSAY__PLACE_FOLDED) ask(check, node);
        }
    }
}

/* --- making a check --------------------------------------------------------------------------- */

/* Places every node on the target, except what depends only on constants, or whose contents follow
 * from shapes alone: that is computed once and runs nowhere. Maps values to the nodes that produce
 * them. */
static int index_nodes(struct assay__check *check)
{
    const struct assay__graph *graph = &check->model->graph;
    check->constants = assay__map_over(graph->names);
    check->producers = assay__map_over(graph->names);
    check->places = assay__arena_array(check->arena, graph->node_count + 1, sizeof *check->places);
    int code = check->constants && check->producers && check->places ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; i < graph->initializer_count && !code; i++)
        code = assay__map_set(check->constants, graph->initializers[i].name, 1);
    for (size_t i = 0; i < graph->sparse_count && graph->sparse_tensors && !code; i++)
        code = assay__map_set(check->constants, graph->sparse_tensors[i].name, 1);
    for (size_t i = 0; i < graph->node_count && !code; i++) {
        const struct assay__node *node = &graph->nodes[i];
        bool known = node->output_count > 0;
        for (size_t k = 0, count = 0; k < node->output_count && known; k++)
            known = !*node->outputs[k] ||
                    assay__shapes_values(check->analysis->shapes, node->outputs[k], &count);
        bool unpacks = strcmp(node->domain, "coreml") == 0 &&
                       strncmp(node->op, "constexpr_", 10) == 0; /* by its definition */
        bool folded = known || unpacks || check->analysis->costs[i].constant;
        check->places[i] = folded ? ASSAY__PLACE_FOLDED : ASSAY__PLACE_ON;
        for (size_t k = 0; k < node->output_count && !code; k++) {
            if (!*node->outputs[k]) continue;
            code = assay__map_set(check->producers, node->outputs[k], i);
            if (!code && folded) code = assay__map_set(check->constants, node->outputs[k], 1);
        }
    }
    return code;
}

static int by_severity(const void *a, const void *b)
{
    const struct assay__check_item *x = a, *y = b;
    if (x->severity != y->severity) return x->severity < y->severity ? -1 : 1;
    if (x->order != y->order) return x->order < y->order ? -1 : 1;
    /* largest first, so that a shortened list shows what matters; then in execution order */
    double bx = isfinite(x->bytes) ? x->bytes : 0, by = isfinite(y->bytes) ? y->bytes : 0;
    if (bx > by || bx < by) return bx > by ? -1 : 1;
    if (x->node != y->node) return x->node < y->node ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* The engine reads a file: a zoo model, or one whose nodes have no names, is written into a private
 * folder first. This happens before the analysis, which inlines the model's functions. */
static int write_model(struct assay__check *check, const struct assay__check_options *options,
                       char *folder, size_t folder_size, char *path, size_t path_size,
                       struct assay_error *error)
{
    if (!assay__model_is_onnx(check->model)) return 0; /* nothing an engine could read */
    bool named = assay__check_name_nodes(check->model);
    if (!options->zoo && !named) {
        snprintf(path, path_size, "%s", options->name);
        return 0;
    }
    int code = assay__folder_temporary(folder, folder_size, error);
    if (code) {
        folder[0] = '\0';
        return code;
    }
    if (assay__path_join(folder, "model.onnx", path, path_size))
        return assay_error_set(error, ASSAY_ELIMIT, "the temporary folder's path is too long");
    return assay__model_write_until(check->model, path, options->interrupt, error);
}

static int look(struct assay__check *check, const struct assay__check_options *options,
                struct assay_error *error)
{
    char folder[PATH_MAX] = "", path[PATH_MAX] = "";
    bool ane = strcmp(options->target, "ane") == 0;
    int code = 0;
    if (!ane) code = write_model(check, options, folder, sizeof folder, path, sizeof path, error);
    if (!code)
        code = assay__analysis_plan(check->model, options->workload, check->arena, &check->workload,
                                    &check->unplanned, error);
    check->planned = !code && !check->unplanned;
    if (!code) code = assay__analyse(check->model, check->workload, &check->analysis, error);
    if (!code && index_nodes(check)) code = assay__no_memory(error);
    if (!code)
        code = ane ? assay__check_ane(check, options->chip, error)
                   : assay__check_ort(check, options, path, error);
    if (folder[0]) assay__folder_remove(folder);
    if (!code && check->failed) code = assay__no_memory(error);
    if (code) return code;
    if (check->item_count)
        qsort(check->items, check->item_count, sizeof *check->items, by_severity);
    check->verdict = assay__check_count(check, ASSAY__CHECK_ERROR)     ? ASSAY__CHECK_FAIL
                     : *check->unasked                                 ? ASSAY__CHECK_NONE
                     : assay__check_count(check, ASSAY__CHECK_WARNING) ? ASSAY__CHECK_WARN
                                                                       : ASSAY__CHECK_PASS;
    return 0;
}

int assay__check_new(struct assay__model *model, const struct assay__check_options *options,
                     struct assay__check **out, struct assay_error *error)
{
    struct assay__check *check = calloc(1, sizeof *check);
    *out = NULL;
    if (!check) {
        assay__model_free(model);
        return assay__no_memory(error);
    }
    *check = (struct assay__check){.arena = assay__arena_new(),
                                   .model = model,
                                   .zoo = options->zoo,
                                   .asked = "",
                                   .unasked = ""};
    int code = check->arena ? 0 : assay__no_memory(error);
    if (!code) {
        check->name = assay__arena_strdup(check->arena, options->name);
        check->target = assay__arena_strdup(check->arena, options->target);
        check->chip = assay__arena_strdup(check->arena, options->chip ? options->chip : "");
        if (!check->name || !check->target || !check->chip || assay__model_intern(model))
            code = assay__no_memory(error);
    }
    if (!code) code = look(check, options, error);
    if (code) {
        assay__check_free(check);
        return code;
    }
    *out = check;
    return 0;
}

void assay__check_free(struct assay__check *check)
{
    if (!check) return;
    assay__map_free(check->constants);
    assay__map_free(check->producers);
    assay__analysis_free(check->analysis);
    if (check->planned) assay__workload_free(check->workload);
    assay__model_free(check->model);
    assay__arena_free(check->arena);
    free(check->items);
    free(check);
}

/* --- public: struct assay_check is struct assay__check ---------------------------------------- */

_Static_assert((int)ASSAY_VERDICT_NONE == (int)ASSAY__CHECK_NONE,
               "verdicts are passed on as they are");

static const struct assay__check *own_of(const struct assay_check *check)
{
    return (const struct assay__check *)(const void *)check;
}

int assay__check_model(const struct assay_check_options *options, struct assay__check **check,
                       struct assay_error *error)
{
    struct assay__workload_options workload = assay__workload_options_of(&options->workload);
    struct assay__model *model = NULL;
    const char *target = options->target;
    bool zoo = false;
    *check = NULL;
    if (!target || !*target)
        return assay__refuse_option(error, "target", "no target was given: ane, or a device");
    if (options->chip && strcmp(target, "ane") != 0)
        return assay__refuse_option(
            error, "chip",
            "a chip can only be given for the target ane; other targets are queried");
    workload.shapes_only = strcmp(target, "ane") == 0;
    int code = assay__model_named(options->workload.model, &model, &zoo, error);
    if (code) return code;
    const struct assay__check_options own = {.target = target,
                                             .chip = options->chip,
                                             .engine = options->engine,
                                             .library = options->library,
                                             .name = options->workload.model,
                                             .zoo = zoo,
                                             .workload = &workload,
                                             .timeout_s = options->timeout_s,
                                             .interrupt = options->interrupt};
    return assay__check_new(model, &own, check, error);
}

int assay_check(const struct assay_check_options *given, struct assay_check **check,
                struct assay_error *error)
{
    struct assay_check_options options;
    if (!check) return assay_error_set(error, ASSAY_EINVAL, "nowhere to put the check");
    *check = NULL;
    int code = assay__options_read(given, &options, sizeof options, "check", error);
    return code ? code : assay__check_model(&options, (struct assay__check **)(void *)check, error);
}

void assay_check_free(struct assay_check *check)
{
    assay__check_free((struct assay__check *)(void *)check);
}

enum assay_verdict assay_check_verdict(const struct assay_check *check)
{
    return check ? (enum assay_verdict)own_of(check)->verdict : ASSAY_VERDICT_NONE;
}

bool assay_check_item(const struct assay_check *check, size_t index, struct assay_check_item *item)
{
    if (!check || index >= own_of(check)->item_count) return false;
    const struct assay__check_item *i = &own_of(check)->items[index];
    const struct assay_check_item own = {.rule = i->rule->id,
                                         .severity = assay__check_severity_name(i->severity),
                                         .node = i->name,
                                         .op = i->op,
                                         .reason = i->reason,
                                         .fix = i->fix ? i->fix : "",
                                         .source = i->rule->source};
    return assay__info_write(&own, sizeof own, item);
}
