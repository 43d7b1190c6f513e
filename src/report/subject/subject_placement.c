/* subject_placement.c - which provider ran each layer: time and energy by provider, where execution
 * crosses from one to another, and the time by the type that layers compute in.
 *
 * From the layers' providers in execution order. The engine's copies between devices (MemcpyToHost,
 * MemcpyFromHost) are separate layers: they give the bytes and the time of a crossing; without them
 * both are unknown. Energy is known per provider only if there is one: no sensor measures providers
 * separately. */
#include "report/subject/subject.h"

#include "report/subject/layer_list.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 12 }; /* providers, at most; later ones are called "others" */

struct place {
    const char *name;
    size_t layers, untimed;
    double time_ns;
};

struct crossing {
    size_t count;
    double bytes, time_ns; /* NaN: at least one is not known */
};

struct placement {
    struct place places[PLACES];
    size_t count;
    struct crossing crossings[PLACES][PLACES];
    bool crosses;
};

static size_t place_of(struct placement *all, const char *name)
{
    const char *own = name && *name ? name : "unknown";
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->places[i].name, own) == 0) return i;
    if (all->count == PLACES) return PLACES - 1;
    all->places[all->count].name = all->count == PLACES - 1 ? "others" : own;
    return all->count++;
}

static int by_index(const void *left, const void *right)
{
    const struct assay__layer *const *a = left, *const *b = right;
    return (*a)->index < (*b)->index ? -1 : (*a)->index > (*b)->index;
}

static bool collect(const struct assay__layers *layers, struct placement *all)
{
    const struct assay__layer **sorted = calloc(layers->count + 1, sizeof *sorted);
    struct crossing copies = {0}; /* since the previous layer: they belong to the next crossing */
    size_t previous = SIZE_MAX;
    if (!sorted) return false;
    for (size_t i = 0; i < layers->count; i++)
        sorted[i] = &layers->items[i];
    qsort(sorted, layers->count, sizeof *sorted, by_index);
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *l = sorted[i];
        size_t at = place_of(all, l->provider);
        all->places[at].layers++;
        all->places[at].untimed += !assay__layer_is_timed(l);
        if (assay__layer_is_timed(l)) all->places[at].time_ns += l->time_ns;
        if (l->op && strncmp(l->op, "Memcpy", 6) == 0) {
            copies.count++;
            copies.bytes += l->bytes;
            copies.time_ns += assay__layer_is_timed(l) ? l->time_ns : (double)NAN;
            continue;
        }
        if (previous != SIZE_MAX && previous != at) {
            struct crossing *c = &all->crossings[previous][at];
            c->count++;
            c->bytes += copies.count ? copies.bytes : (double)NAN;
            c->time_ns += copies.count ? copies.time_ns : (double)NAN;
            all->crosses = true;
        }
        previous = at;
        copies = (struct crossing){0};
    }
    free(sorted);
    return true;
}

static const struct assay__column place_columns[] = {
    {.title = "provider", .flags = ASSAY__COLUMN_NAME},
    {.title = "layers", .unit = ASSAY__UNIT_COUNT},
    {.title = "time", .unit = "s", .flags = ASSAY__COLUMN_KEEP},
    {.title = "share", .unit = "ratio"},
    {.title = "net energy", .unit = "J"},
};

static const struct assay__column crossing_columns[] = {
    {.title = "from", .flags = ASSAY__COLUMN_NAME},
    {.title = "to", .flags = ASSAY__COLUMN_NAME},
    {.title = "crossings", .unit = ASSAY__UNIT_COUNT},
    {.title = "bytes", .unit = "B", .flags = ASSAY__COLUMN_KEEP},
    {.title = "time", .unit = "s", .flags = ASSAY__COLUMN_KEEP},
};

static void add_crossings(struct assay__doc *doc, const struct placement *all)
{
    if (!all->crosses) {
        assay__doc_plain(doc, all->count > 1 ? "Execution does not cross between providers."
                                             : "All layers ran on one provider: nothing crosses.");
        return;
    }
    struct assay__table *t = assay__doc_table(
        doc, NULL, "Crossings between providers in execution order", crossing_columns);
    for (size_t from = 0; from < all->count; from++)
        for (size_t to = 0; to < all->count; to++) {
            const struct crossing *c = &all->crossings[from][to];
            if (!c->count) continue;
            assay__table_row_of(t, 0, all->places[from].name, all->places[to].name);
            assay__table_number(t, (double)c->count, ASSAY_MEASURED);
            assay__table_numbers(t, ASSAY_DERIVED, c->bytes, c->time_ns / 1e9);
        }
    assay__doc_note(doc, "A crossing is a layer on a different provider than the layer before it. "
                         "Bytes and time are those of the engine's copies between the two; — if "
                         "there are none, or their size is not known.");
}

static const struct assay__column type_columns[] = {
    {.title = "type", .flags = ASSAY__COLUMN_NAME},
    {.title = "layers", .unit = ASSAY__UNIT_COUNT},
    {.title = "time", .unit = "s", .flags = ASSAY__COLUMN_KEEP},
    {.title = "share", .unit = "ratio"},
};

/* The type that layers compute in, as used by the roofline. */
static void add_types(struct assay__doc *doc, struct assay__study *study,
                      const struct assay__trial *trial)
{
    const struct assay__roofline *r = assay__study_roofline(study, trial);
    double times_ns[2] = {0, 0};
    size_t counts[2] = {0, 0};
    double total_ns = assay__layer_total(trial);
    if (!r->type || !r->type[0]) {
        assay__doc_note(doc, "The compute type of the layers is unknown: the profile does not "
                             "record the type of the model.");
        return;
    }
    for (size_t i = 0; i < trial->layers.count; i++) {
        const struct assay__layer *l = &trial->layers.items[i];
        size_t at = strcmp(assay__roofline_type(l->op, r->type), r->type) != 0;
        counts[at]++;
        times_ns[at] += assay__layer_is_timed(l) ? l->time_ns : (double)NAN;
    }
    struct assay__table *t = assay__doc_table(doc, NULL, "Time by compute type", type_columns);
    for (size_t i = 0; i < 2; i++) {
        if (!counts[i]) continue;
        assay__table_row_of(t, 0, i ? "int8" : r->type);
        assay__table_number(t, (double)counts[i], ASSAY_MEASURED);
        assay__table_numbers(t, ASSAY_ESTIMATED, times_ns[i] / 1e9, times_ns[i] / total_ns);
    }
    assay__doc_note(
        doc,
        "Estimated from %s, int8 for integer products: providers do not report their compute type.",
        r->type_from);
}

static void build(struct assay__doc *doc, const struct assay__trial *trial)
{
    struct placement all = {0};
    if (!trial->layers.count) return; /* the section of the layers says why */
    if (!collect(&trial->layers, &all)) doc->failed = true;
    assay__doc_section(doc, "placement", "Placement", "which provider ran each layer",
                       all.count < 2 ? ASSAY__TAB_EVIDENCE | ASSAY__SECTION_DETAIL
                                     : (unsigned)ASSAY__TAB_GRAPH);
    static const char untimed[] = "some of its layers have no time, so the sum would be too low";
    double total_ns = assay__layer_total(trial);
    struct assay__datum energy = assay__datum_metric(
        assay_metrics_get(trial->metrics, "energy.inference.net"));
    if (all.count > 1 && assay__datum_is_known(&energy))
        energy = assay__datum_unknown("not measured separately per provider");
    struct assay__table *t = assay__doc_table(doc, NULL, "Time and energy by provider",
                                              place_columns);
    for (size_t i = 0; i < all.count; i++) {
        const struct place *p = &all.places[i];
        assay__table_row_of(t, 0, p->name);
        assay__table_number(t, (double)p->layers, ASSAY_MEASURED);
        if (p->untimed) {
            assay__table_cell(t, assay__datum_unknown(untimed));
            assay__table_cell(t, assay__datum_unknown(untimed));
        } else {
            assay__table_numbers(t, ASSAY_DERIVED, p->time_ns / 1e9, p->time_ns / total_ns);
        }
        assay__table_cell(t, energy);
    }
    add_crossings(doc, &all);
    add_types(doc, doc->study, trial);
    assay__doc_end(doc);
}

const struct assay__subject assay__subject_placement = {"placement", ASSAY__OF_TRIAL, build, {{0}}};
