/* feedback_graph.c - states that the graph itself shows: an output made only of what recurrent
 * cells end with (Y_h, Y_c), moved but not computed with, whose cells begin with parts of one and
 * the same input. Names do not matter, and one output may hold the states of several cells.
 * Limit: cells in the main graph; LEAVES parts of one output. */
#include "base/map.h"
#include "model/inputs/feedback.h"
#include "model/op_words.h"

#include <string.h>

enum { LEAVES = 128, STEPS = 256 };

static const char moves[] =
    "Identity Cast Squeeze Unsqueeze Reshape Transpose Flatten Slice Gather "
    "Split";

struct seeker {
    const struct assay__graph *graph;
    struct assay__map *makers; /* name -> node */
};

static const struct assay__node *maker_of(const struct seeker *seeker, const char *name)
{
    size_t at = *name ? assay__map_get(seeker->makers, name) : ASSAY__MAP_NONE;
    return at == ASSAY__MAP_NONE ? NULL : &seeker->graph->nodes[at];
}

/* The name behind `name` that no mere move made. */
static const char *unmoved(const struct seeker *seeker, const char *name)
{
    const struct assay__node *node = maker_of(seeker, name);
    for (int i = 0; node && node->input_count && assay__has_word(moves, node->op); i++) {
        if (i == STEPS) return "";
        name = node->inputs[0];
        node = maker_of(seeker, name);
    }
    return name;
}

/* What the cell began with where `name` is what it ended with; "": it is no such thing. */
static const char *beginning(const struct seeker *seeker, const char *name)
{
    const struct assay__node *node = maker_of(seeker, name);
    if (!node || !assay__has_word("LSTM GRU RNN", node->op)) return "";
    for (size_t k = 1; k < node->output_count && k < 3; k++) /* Y_h: initial_h; Y_c: initial_c */
        if (strcmp(node->outputs[k], name) == 0)
            return node->input_count > 4 + k ? unmoved(seeker, node->inputs[4 + k]) : "";
    return "";
}

/* The one name that all parts of an output come from, a step before; "": there is none. */
static const char *before(const struct seeker *seeker, const char *output)
{
    const char *parts[LEAVES] = {output}, *found = "";
    for (size_t count = 1, steps = 0; count; steps++) {
        const char *name = unmoved(seeker, parts[--count]);
        const struct assay__node *node = maker_of(seeker, name);
        if (node && strcmp(node->op, "Concat") == 0) {
            if (count + node->input_count > LEAVES || steps > STEPS) return "";
            for (size_t i = 0; i < node->input_count; i++)
                parts[count++] = node->inputs[i];
            continue;
        }
        const char *begins = beginning(seeker, name);
        if (!*begins || (*found && strcmp(found, begins) != 0)) return "";
        found = begins;
    }
    return found;
}

int assay__feedback_cells(const struct assay__graph *graph, const char **inputs)
{
    struct seeker seeker = {graph, assay__map_new()};
    int code = seeker.makers ? 0 : ASSAY_ENOMEM;
    bool cells = false;
    for (size_t i = 0; i < graph->node_count && !code; i++) {
        const struct assay__node *node = &graph->nodes[i];
        cells |= assay__has_word("LSTM GRU RNN", node->op);
        for (size_t k = 0; k < node->output_count && !code; k++)
            code = *node->outputs[k] ? assay__map_set(seeker.makers, node->outputs[k], i) : 0;
    }
    for (size_t i = 0; i < graph->output_count; i++)
        inputs[i] = cells && !code ? before(&seeker, graph->outputs[i].name) : "";
    assay__map_free(seeker.makers);
    return code;
}
