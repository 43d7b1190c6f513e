/* check_ort_place.c - the engine's assignment over the nodes of the model. Names join the two. The
 * engine assigns after its first simplifications, so some nodes are gone: what it fused is named
 * after a node of ours ("fc1/MatMulAddFusion"), and a node that it does not name at all counts with
 * the one that feeds it, else with the one that reads it.
 *
 * ONNX Runtime's record is incomplete (seen in 1.27, and in its source up to 1.29): before it
 * changes the layout for a provider that wants channels last (WebGPU, XNNPACK, QNN) it marks the
 * provider's nodes, and marked nodes are not recorded. Other providers' nodes are. So an unnamed
 * node is the target's there. Profiles of BERT, GPT-2 and MobileNetV2 on WebGPU confirm it. */
#include "check/check.h"

#include "base/text.h"
#include "run/assignment.h"

#include <math.h>
#include <string.h>

#define SMALL_BYTES 1024.0
#define HALF 0.5

#define ASSIGNMENT "the engine's own assignment"

enum { NOTHING, MOSTLY, FALLBACK, FALLBACK_SMALL };

static const struct assay__check_rule rules[] = {
    [NOTHING] = {"nothing-assigned", "Nothing runs on the target", ASSAY__CHECK_ERROR,
                 ASSAY__BASIS_ENGINE, ASSAY__PLACE_ON, ASSIGNMENT,
                 "Choose the device that it falls back to, and save the transfers.", NULL, true},
    [MOSTLY] = {"mostly-elsewhere", "Most of the work runs elsewhere", ASSAY__CHECK_ERROR,
                ASSAY__BASIS_ENGINE, ASSAY__PLACE_ON, ASSIGNMENT "; FLOPs from the graph",
                "Change the operators below, or choose another device.", NULL, true},
    [FALLBACK] = {"fallback", "Nodes that run elsewhere", ASSAY__CHECK_WARNING, ASSAY__BASIS_ENGINE,
                  ASSAY__PLACE_OFF, ASSIGNMENT,
                  "Use an operator, type or operator set that the provider has a kernel for.", NULL,
                  false},
    [FALLBACK_SMALL] = {"fallback-small", "Shapes and indices that are calculated elsewhere",
                        ASSAY__CHECK_NOTE, ASSAY__BASIS_ENGINE, ASSAY__PLACE_OFF, ASSIGNMENT,
                        "Nothing: engines keep shapes and indices on the CPU on purpose.", NULL,
                        false},
};

/* Providers that have their nodes in another layout. */
#define RELAID "WebGpuExecutionProvider XnnpackExecutionProvider QNNExecutionProvider"

struct placing {
    struct assay__check *check;
    const struct assay__assignment *answer;
    struct assay__map *nodes; /* name -> node */
    bool *named;              /* the engine named it, or it was placed with one that it named */
};

bool assay__check_name_nodes(struct assay__model *model)
{
    bool named = false;
    for (size_t i = 0; i < model->graph.node_count; i++) {
        struct assay__node *node = &model->graph.nodes[i];
        if ((node->name && *node->name) || !node->output_count) continue;
        node->name = node->outputs[0];
        named = true;
    }
    return named;
}

/* "fc1/MatMulAddFusion" and "fc1_token_3" are fc1's. */
static size_t node_named(struct placing *p, const char *name)
{
    size_t node = *name ? assay__map_get(p->nodes, name) : ASSAY__MAP_NONE;
    if (node != ASSAY__MAP_NONE || !*name) return node;
    char *copy = assay__arena_strdup(p->check->arena, name);
    char *token = copy ? strstr(copy, "_token_") : NULL;
    if (token) {
        *token = '\0';
        node = assay__map_get(p->nodes, copy);
    }
    for (char *slash; copy && node == ASSAY__MAP_NONE && (slash = strrchr(copy, '/')) != NULL &&
                      slash != copy;) {
        *slash = '\0';
        node = assay__map_get(p->nodes, copy);
    }
    return node;
}

/* Shapes, indices and flags: engines keep these on the CPU on purpose. A small float in the middle
 * still costs two crossings. */
static bool is_small(const struct assay__check *check, size_t node)
{
    const struct assay__node *at = &check->model->graph.nodes[node];
    for (size_t i = 0; i < at->output_count; i++) {
        const struct assay__shape_entry *out = assay__check_shape(check, at->outputs[i]);
        if (!*at->outputs[i]) continue;
        if (!out ||
            (out->dtype != ASSAY__INT64 && out->dtype != ASSAY__INT32 && out->dtype != ASSAY__BOOL))
            return false;
        if (!(assay__check_bytes(check, at->outputs[i], false) <= SMALL_BYTES)) return false;
    }
    return true;
}

static void place_named(struct placing *p)
{
    struct assay__check *check = p->check;
    for (size_t i = 0; i < p->answer->count; i++) {
        const struct assay__assigned *assigned = &p->answer->nodes[i];
        size_t node = node_named(p, assigned->name);
        if (node == ASSAY__MAP_NONE || p->named[node]) continue;
        p->named[node] = true;
        if (check->places[node] == ASSAY__PLACE_FOLDED) check->places[node] = ASSAY__PLACE_ON;
        check->providers[node] = assay__arena_strdup(check->arena, assigned->provider);
        if (!check->providers[node]) check->failed = true;
        if (strcmp(assigned->provider, p->answer->target) == 0) continue;
        check->indices[node] = is_small(check, node);
        assay__check_say(check, &rules[check->indices[node] ? FALLBACK_SMALL : FALLBACK], node,
                         "runs on %s", assigned->provider);
    }
}

/* What the engine does not name goes with the first node that feeds it; then, backwards, with one
 * that reads it. */
static void place_merged(struct placing *p)
{
    struct assay__check *check = p->check;
    const struct assay__graph *graph = &check->model->graph;
    for (size_t i = 0; i < graph->node_count; i++) {
        size_t n = check->analysis->order[i];
        if (p->named[n] || check->places[n] == ASSAY__PLACE_FOLDED) continue;
        check->partitions.merged++;
        check->places[n] = ASSAY__PLACE_UNKNOWN;
        for (size_t k = 0; k < graph->nodes[n].input_count; k++) {
            size_t from = assay__check_producer(check, graph->nodes[n].inputs[k]);
            if (from == ASSAY__MAP_NONE || !p->named[from]) continue;
            check->places[n] = check->places[from];
            p->named[n] = true;
            break;
        }
    }
    for (size_t i = graph->node_count; i-- > 0;) {
        size_t n = check->analysis->order[i];
        if (!p->named[n]) continue;
        for (size_t k = 0; k < graph->nodes[n].input_count; k++) {
            size_t from = assay__check_producer(check, graph->nodes[n].inputs[k]);
            if (from == ASSAY__MAP_NONE || p->named[from] ||
                check->places[from] == ASSAY__PLACE_FOLDED)
                continue;
            check->places[from] = check->places[n];
            p->named[from] = true;
        }
    }
}

/* Pieces of a provider that compiles: several nodes in one. */
static size_t count_pieces(const struct assay__assignment *answer, size_t *on)
{
    size_t pieces = 0, last = SIZE_MAX;
    *on = 0;
    for (size_t i = 0; i < answer->count; i++) {
        if (strcmp(answer->nodes[i].provider, answer->target) != 0) continue;
        (*on)++;
        pieces += answer->nodes[i].subgraph != last;
        last = answer->nodes[i].subgraph;
    }
    return pieces < *on ? pieces : 0;
}

int assay__check_ort_place(struct assay__check *check, const struct assay__assignment *answer,
                           struct assay_error *error)
{
    const struct assay__graph *graph = &check->model->graph;
    size_t count = graph->node_count, on = 0;
    struct placing p = {.check = check, .answer = answer, .nodes = assay__map_new()};
    p.named = assay__arena_array(check->arena, count + 1, sizeof *p.named);
    check->providers = assay__arena_array(check->arena, count + 1, sizeof *check->providers);
    check->indices = assay__arena_array(check->arena, count + 1, sizeof *check->indices);
    int code = p.nodes && p.named && check->providers && check->indices ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; i < count && !code; i++)
        if (graph->nodes[i].name && *graph->nodes[i].name)
            code = assay__map_set(p.nodes, graph->nodes[i].name, i);
    if (code) goto out;
    place_named(&p);
    if (!assay__text_is_one_of(answer->target, RELAID))
        place_merged(&p);
    else
        for (size_t n = 0; n < count; n++) /* unnamed nodes are the target's: not recorded */
            check->partitions.inferred += !p.named[n] && check->places[n] == ASSAY__PLACE_ON;
    check->partitions.engine_pieces = count_pieces(answer, &on);
    code = assay__check_partition(check, "engine", false, error);
    if (code) goto out;
    double share = assay__check_share(&check->partitions);
    const char *other = "";
    for (size_t i = 0; i < answer->count && !*other; i++)
        if (strcmp(answer->nodes[i].provider, answer->target) != 0)
            other = answer->nodes[i].provider;
    if (answer->count && !on && !check->partitions.on)
        assay__check_say(check, &rules[NOTHING], SIZE_MAX, "all %zu nodes run on %s", answer->count,
                         other);
    else if (isfinite(share) && share < HALF)
        assay__check_say(check, &rules[MOSTLY], SIZE_MAX, "only %.1f %% of the FLOPs stay on %s",
                         100 * share, answer->target);
out:
    assay__map_free(p.nodes);
    return code == ASSAY_ENOMEM ? assay_error_set(error, code, "out of memory") : code;
}
