/* inspect_wiring.c - the wiring of a Neural Circuit Policy: its synapses and their graph, the work
 * the wiring needs against the work the dense graph executes, and the cost of a time step and of
 * each group of neurons. */
#include "report/subject/inspect_document.h"

#include <inttypes.h>
#include <math.h>

static void add_synapses(struct assay__doc *doc, const struct assay__ncp *n)
{
    if (!n->wired) {
        assay__doc_fact_text(doc, "wiring", "none: every neuron is connected to every other");
        return;
    }
    assay__doc_fact(doc, "synapses");
    assay__doc_item_text(doc, "%zu between neurons (%.1f %% sparse)", n->synapses,
                         n->sparsity * 100);
    assay__doc_item_text(doc, "%zu from inputs (%.1f %% sparse)", n->sensory_synapses,
                         n->sensory_sparsity * 100);
    assay__doc_item_text(doc, "%zu excitatory, %zu inhibitory", n->excitatory, n->inhibitory);
    assay__doc_fact(doc, "graph");
    assay__doc_item_count(doc, (double)n->components, "strongly connected component");
    assay__doc_item_text(doc, "the largest of %zu neuron%s", n->largest_component,
                         assay__plural(n->largest_component));
    assay__doc_item_text(doc, "%zu with a cycle", n->cyclic_components);
    assay__doc_item_text(doc, "longest path %zu synapse%s", n->longest_path,
                         assay__plural(n->longest_path));
}

static void add_work(struct assay__doc *doc, const struct assay__ncp *n)
{
    enum { STEPS_SHOWN = 4 };
    bool alike = true;
    assay__doc_fact(doc, "work");
    assay__doc_item_after(doc, NULL, assay__derived(n->flops, "FLOP"), "executed");
    if (isfinite(n->flops_needed)) {
        assay__doc_item_after(doc, NULL, assay__derived(n->flops_needed, "FLOP"),
                              "needed by the wiring");
        if (n->flops > 0)
            assay__doc_item_after(doc, NULL, assay__derived(n->flops_needed / n->flops, "ratio"),
                                  "of what is executed");
    } else {
        assay__doc_item_text(doc, "the part needed by the wiring is not known");
    }
    assay__doc_fact(doc, "per step");
    assay__doc_item(doc, NULL, assay__derived(n->flops_per_step, "FLOP"));
    assay__doc_item_after(doc, NULL, assay__derived(n->bytes_per_step, "B"),
                          n->steps > 1 ? "on average" : NULL);
    for (size_t i = 1; i < n->per_step_count; i++)
        alike &= n->per_step[i].flops == n->per_step[0].flops;
    for (size_t i = 0; i < n->per_step_count && i < STEPS_SHOWN && !alike; i++)
        assay__doc_item(doc, assay__doc_printf(doc, "step %" PRId64, n->per_step[i].step),
                        assay__derived(n->per_step[i].flops, "FLOP"));
    if (!alike && n->per_step_count > STEPS_SHOWN)
        assay__doc_item_text(doc, "and %zu more", n->per_step_count - STEPS_SHOWN);
}

static const struct assay__column group_columns[] = {
    {"group", "group", .flags = ASSAY__COLUMN_NAME},
    {"neurons", "neurons", .unit = ASSAY__UNIT_COUNT},
    {"flops", "FLOPs", .unit = "FLOP"},
    {"flops_needed", "needed", .unit = "FLOP"},
    {"bytes", "bytes", "B", .priority = 3},
    {"nodes", "nodes", ASSAY__UNIT_COUNT, .priority = 4},
    {.title = "in (min–max, mean)", .priority = 1},
    {.title = "out", .priority = 2},
    {.key = "in_min"},
    {.key = "in_max"},
    {.key = "in_mean"},
    {.key = "out_min"},
    {.key = "out_max"},
    {.key = "out_mean"},
};
static const struct assay__column step_columns[] = {
    {.key = "step"},
    {.key = "flops"},
    {.key = "bytes"},
};

/* "9–22, 15.4" */
static const char *degree_text(struct assay__doc *doc, const struct assay__ncp_degree *d)
{
    if (!isfinite(d->mean)) return NULL;
    if (d->min == d->max) return assay__doc_printf(doc, "%zu", d->min);
    return assay__doc_printf(doc, "%zu–%zu, %.*f", d->min, d->max, d->mean < 100 ? 1 : 0, d->mean);
}

static void put_degree(struct assay__table *t, const struct assay__ncp_degree *d)
{
    if (isfinite(d->mean))
        assay__table_numbers(t, ASSAY_DERIVED, d->min, d->max, d->mean);
    else
        assay__table_skip(t, 3);
}

static void add_tables(struct assay__doc *doc, const struct assay__ncp *n)
{
    bool shared = false;
    struct assay__table *t = assay__doc_table(doc, "groups", "Groups of neurons", group_columns);
    for (size_t i = 0; i < n->group_count; i++) {
        const struct assay__ncp_group *g = &n->groups[i];
        enum assay_state state = g->shared ? ASSAY_ESTIMATED : ASSAY_DERIVED;
        assay__table_row_of(t, 0, g->name);
        assay__table_known(t, g->neurons ? (double)g->neurons : (double)NAN, ASSAY_MEASURED);
        assay__table_numbers(t, state, g->flops, g->flops_needed, g->bytes);
        assay__table_number(t, (double)g->nodes, ASSAY_MEASURED);
        assay__table_texts(t, degree_text(t->doc, &g->in), degree_text(t->doc, &g->out));
        put_degree(t, &g->in);
        put_degree(t, &g->out);
        shared |= n->groups[i].shared;
    }
    if (shared)
        assay__doc_note(
            doc,
            "~ nodes that compute all neurons at once, divided by the groups' shares of neurons");
    t = assay__doc_table(doc, "steps", NULL, step_columns);
    for (size_t i = 0; i < n->per_step_count; i++) {
        assay__table_row(t, 0, NULL);
        assay__table_number(t, (double)n->per_step[i].step, ASSAY_MEASURED);
        assay__table_numbers(t, ASSAY_DERIVED, n->per_step[i].flops, n->per_step[i].bytes);
    }
}

void assay__inspect_add_wiring(struct assay__doc *doc, const struct assay__inspect *inspect)
{
    static const struct assay__ncp none = {0}; /* CSV has the headers of its tables nevertheless */
    const struct assay__ncp *n = &inspect->ncp;
    assay__doc_section(doc, "wiring", "Neural Circuit Policy", "from the model's metadata", 0);
    if (inspect->has_ncp) {
        assay__doc_fact(doc, "cell");
        assay__doc_item_text(doc, "%s%s%s", n->cell, n->mode && *n->mode ? ", mode " : "",
                             n->mode ? n->mode : "");
        assay__doc_item_text(doc, "wiring %s", n->wiring);
        assay__doc_item_text(doc, "%" PRId64 " units", n->units);
        assay__doc_item_text(doc, "%" PRId64 " inputs", n->inputs);
        assay__doc_item_text(doc, "%" PRId64 " outputs", n->outputs);
        assay__doc_item_text(doc, "%s form, %" PRId64 " step%s", n->form, n->steps,
                             n->steps == 1 ? "" : "s");
        if (n->unfolds > 1) assay__doc_item_text(doc, "%" PRId64 " unfolds per step", n->unfolds);
        if (n->mixed_memory) assay__doc_item_text(doc, "mixed memory");
        add_synapses(doc, n);
        add_work(doc, n);
    }
    add_tables(doc, inspect->has_ncp ? n : &none);
    if (inspect->has_ncp) assay__doc_say(doc, ASSAY__TONE_NOTE, n->note);
    assay__doc_end(doc);
}
