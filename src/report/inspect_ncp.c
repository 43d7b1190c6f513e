/* inspect_ncp.c - the wiring of a Neural Circuit Policy, as text and as JSON: its synapses and
 * their graph, the work the wiring needs against the work the dense graph executes, and the cost
 * of a time step and of each neuron group. */
#include "base/json.h"
#include "base/text.h"
#include "report/inspect.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define STEPS_SHOWN 4

static const char *scaled(char text[64], double value, const char *unit)
{
    assay__text_scaled(text, 64, value, unit);
    return text;
}

/* --- text ------------------------------------------------------------------------------------- */

static void put_cell(struct assay__page *page, const struct assay__ncp *n)
{
    struct assay__buf items = {0};
    assay__page_item(&items, "%s%s%s", n->cell, n->mode && *n->mode ? ", mode " : "",
                     n->mode ? n->mode : "");
    assay__page_item(&items, "wiring %s", n->wiring);
    assay__page_item(&items, "%" PRId64 " units", n->units);
    assay__page_item(&items, "%" PRId64 " inputs", n->inputs);
    assay__page_item(&items, "%" PRId64 " outputs", n->outputs);
    assay__page_item(&items, "%s form, %" PRId64 " step%s", n->form, n->steps,
                     n->steps == 1 ? "" : "s");
    if (n->unfolds > 1) assay__page_item(&items, "%" PRId64 " unfolds per step", n->unfolds);
    if (n->mixed_memory) assay__page_item(&items, "mixed memory");
    assay__page_row(page, "cell", items.data ? items.data : "");
    assay__buf_free(&items);
}

static void put_wiring(struct assay__page *page, const struct assay__ncp *n)
{
    struct assay__buf items = {0};
    if (!n->wired) {
        assay__page_row(page, "wiring", "none: every neuron is connected to every other");
        return;
    }
    assay__page_item(&items, "%zu between neurons (%.1f %% sparse)", n->synapses,
                     n->sparsity * 100);
    assay__page_item(&items, "%zu from inputs (%.1f %% sparse)", n->sensory_synapses,
                     n->sensory_sparsity * 100);
    assay__page_item(&items, "%zu excitatory, %zu inhibitory", n->excitatory, n->inhibitory);
    assay__page_row(page, "synapses", items.data ? items.data : "");
    assay__buf_clear(&items);
    assay__page_item(&items, "%zu strongly connected component%s", n->components,
                     n->components == 1 ? "" : "s");
    assay__page_item(&items, "the largest of %zu neuron%s", n->largest_component,
                     n->largest_component == 1 ? "" : "s");
    assay__page_item(&items, "%zu with a cycle", n->cyclic_components);
    assay__page_item(&items, "longest path %zu synapse%s", n->longest_path,
                     n->longest_path == 1 ? "" : "s");
    assay__page_row(page, "graph", items.data ? items.data : "");
    assay__buf_free(&items);
}

static void put_work(struct assay__page *page, const struct assay__ncp *n)
{
    char a[64], b[64];
    struct assay__buf items = {0};
    assay__page_item(&items, "=%s executed", scaled(a, n->flops, "FLOP"));
    if (isfinite(n->flops_needed)) {
        assay__page_item(&items, "=%s needed by the wiring", scaled(a, n->flops_needed, "FLOP"));
        if (n->flops > 0)
            assay__page_item(&items, "%.1f %% of what is executed",
                             n->flops_needed / n->flops * 100);
    } else {
        assay__page_item(&items, "what the wiring needs of it is not known");
    }
    assay__page_row(page, "work", items.data ? items.data : "");
    assay__buf_clear(&items);
    assay__page_item(&items, "=%s and =%s%s", scaled(a, n->flops_per_step, "FLOP"),
                     scaled(b, n->bytes_per_step, "B"), n->steps > 1 ? " on average" : "");
    bool alike = true;
    for (size_t i = 1; i < n->per_step_count; i++)
        alike &= n->per_step[i].flops == n->per_step[0].flops;
    for (size_t i = 0; i < n->per_step_count && i < STEPS_SHOWN && !alike; i++)
        assay__page_item(&items, "step %" PRId64 " =%s", n->per_step[i].step,
                         scaled(a, n->per_step[i].flops, "FLOP"));
    if (!alike && n->per_step_count > STEPS_SHOWN)
        assay__page_item(&items, "and %zu more", n->per_step_count - STEPS_SHOWN);
    assay__page_row(page, "per step", items.data ? items.data : "");
    assay__buf_free(&items);
}

static void degree(struct assay__buf *out, const struct assay__ncp_degree *d)
{
    if (!isfinite(d->mean))
        assay__buf_puts(out, "—");
    else if (d->min == d->max)
        assay__buf_printf(out, "%zu", d->min);
    else
        assay__buf_printf(out, "%zu–%zu, %.*f", d->min, d->max, d->mean < 100 ? 1 : 0, d->mean);
}

static void put_groups(struct assay__page *page, const struct assay__ncp *n)
{
    bool degrees = page->columns >= 80 && n->wired, shared = false;
    char text[64];
    int name = page->columns >= 56 ? 14 : 7;
    assay__page_style(page, ASSAY__STYLE_DIM);
    assay__page_fit(page, "  group", name + 2, 0);
    assay__page_right(page, "neurons", 8);
    assay__page_right(page, "FLOPs", 12); /* "~73.6 kFLOP" is 11 */
    assay__page_right(page, "needed", 11);
    if (degrees) {
        assay__page_right(page, "in (min–max, mean)", 19);
        assay__page_right(page, "out", 14);
    }
    assay__page_style(page, ASSAY__STYLE_PLAIN);
    assay__buf_putc(page->out, '\n');
    for (size_t i = 0; i < n->group_count; i++) {
        const struct assay__ncp_group *g = &n->groups[i];
        struct assay__buf cell = {0};
        assay__buf_puts(page->out, "  ");
        assay__page_fit(page, g->name, name, 0);
        snprintf(text, sizeof text, "%" PRId64, g->neurons);
        assay__page_right(page, g->neurons ? text : "", 8);
        snprintf(text, sizeof text, "%s", "");
        assay__buf_printf(&cell, "%s%s", g->shared ? "~" : "", scaled(text, g->flops, "FLOP"));
        assay__page_right(page, cell.data ? cell.data : "", 12);
        assay__page_right(page, scaled(text, g->flops_needed, "FLOP"), 11);
        assay__buf_clear(&cell);
        degree(&cell, &g->in);
        if (degrees) assay__page_right(page, cell.data ? cell.data : "", 19);
        assay__buf_clear(&cell);
        degree(&cell, &g->out);
        if (degrees) assay__page_right(page, cell.data ? cell.data : "", 14);
        assay__buf_putc(page->out, '\n');
        assay__buf_free(&cell);
        shared |= g->shared;
    }
    if (shared)
        assay__page_wrap(page, ASSAY__STYLE_DIM, "  ",
                         "~ nodes that compute all neurons at once, by the group's share of them");
}

void assay__inspect_page_ncp(struct assay__page *page, const struct assay__inspect *doc)
{
    const struct assay__ncp *n = &doc->ncp;
    if (!doc->has_ncp) return;
    assay__page_heading(page, "Neural Circuit Policy", "from the model's metadata");
    put_cell(page, n);
    put_wiring(page, n);
    put_work(page, n);
    if (n->group_count) put_groups(page, n);
    if (n->note && *n->note) assay__page_wrap(page, ASSAY__STYLE_PLAIN, "  ", n->note);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void json_degree(struct assay__json_writer *w, const char *key,
                        const struct assay__ncp_degree *d)
{
    assay__json_key(w, key);
    if (!isfinite(d->mean)) {
        assay__json_null(w);
        return;
    }
    assay__json_object(w);
    assay__json_put_integer(w, "min", (int64_t)d->min);
    assay__json_put_integer(w, "max", (int64_t)d->max);
    assay__json_put_number(w, "mean", d->mean);
    assay__json_object_end(w);
}

static void json_groups(struct assay__json_writer *w, const struct assay__ncp *n)
{
    assay__json_key(w, "groups");
    assay__json_array(w);
    for (size_t i = 0; i < n->group_count; i++) {
        const struct assay__ncp_group *g = &n->groups[i];
        assay__json_object(w);
        assay__json_put_string(w, "name", g->name);
        assay__json_put_integer(w, "neurons", g->neurons);
        json_degree(w, "in", &g->in);
        json_degree(w, "out", &g->out);
        assay__json_put_number(w, "flops", g->flops);
        assay__json_put_number(w, "flops_needed", g->flops_needed);
        assay__json_put_number(w, "bytes", g->bytes);
        assay__json_put_bool(w, "shared", g->shared);
        assay__json_put_integer(w, "nodes", (int64_t)g->nodes);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
    assay__json_key(w, "steps");
    assay__json_array(w);
    for (size_t i = 0; i < n->per_step_count; i++) {
        assay__json_object(w);
        assay__json_put_integer(w, "step", n->per_step[i].step);
        assay__json_put_number(w, "flops", n->per_step[i].flops);
        assay__json_put_number(w, "bytes", n->per_step[i].bytes);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
}

static void json_wiring(struct assay__json_writer *w, const struct assay__ncp *n)
{
    const struct {
        const char *key;
        size_t value;
    } counts[] = {{"synapses", n->synapses},
                  {"sensory_synapses", n->sensory_synapses},
                  {"excitatory", n->excitatory},
                  {"inhibitory", n->inhibitory},
                  {"components", n->components},
                  {"largest_component", n->largest_component},
                  {"cyclic_components", n->cyclic_components},
                  {"longest_path", n->longest_path}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        if (n->wired)
            assay__json_put_integer(w, counts[i].key, (int64_t)counts[i].value);
        else
            assay__json_put_null(w, counts[i].key);
    }
    assay__json_put_number(w, "sparsity", n->sparsity);
    assay__json_put_number(w, "sensory_sparsity", n->sensory_sparsity);
}

void assay__inspect_json_ncp(struct assay__json_writer *w, const struct assay__inspect *doc)
{
    const struct assay__ncp *n = &doc->ncp;
    assay__json_key(w, "ncp");
    if (!doc->has_ncp) {
        assay__json_null(w);
        if (doc->ncp_fault) assay__json_put_string(w, "ncp_fault", doc->ncp_fault);
        return;
    }
    assay__json_object(w);
    assay__json_put_string(w, "cell", n->cell);
    assay__json_put_string(w, "wiring", n->wiring);
    assay__json_put_string(w, "mode", n->mode && *n->mode ? n->mode : NULL);
    assay__json_put_string(w, "form", n->form);
    assay__json_put_integer(w, "units", n->units);
    assay__json_put_integer(w, "inputs", n->inputs);
    assay__json_put_integer(w, "outputs", n->outputs);
    assay__json_put_integer(w, "step_count", n->steps);
    assay__json_put_integer(w, "unfolds", n->unfolds);
    assay__json_put_bool(w, "wired", n->wired);
    assay__json_put_bool(w, "mixed_memory", n->mixed_memory);
    json_wiring(w, n);
    assay__json_put_number(w, "flops", n->flops);
    assay__json_put_number(w, "flops_needed", n->flops_needed);
    assay__json_put_number(w, "flops_per_step", n->flops_per_step);
    assay__json_put_number(w, "bytes_per_step", n->bytes_per_step);
    json_groups(w, n);
    assay__json_put_string(w, "note", n->note && *n->note ? n->note : NULL);
    assay__json_object_end(w);
}
