/* html_placement.c - which provider takes which share of the time and of the energy, and where
 * execution crosses from one to another. From the layers' providers in execution order. The
 * engine's copies between devices (MemcpyToHost, MemcpyFromHost) are layers of their own: they are
 * the bytes and the time of a crossing; where there are none, both are unknown. Energy is known per
 * provider only when one of them did everything: no rail is split between providers. */
#include "report/html_sections.h"

#include "cost/roofline.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACES 12 /* providers, at most; later ones are called "others" */

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
    bool any;
};

static size_t place_of(struct placement *all, const char *name)
{
    const char *own = name && *name ? name : "unknown";
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->places[i].name, own) == 0) return i;
    if (all->count == PLACES) return PLACES - 1;
    bool last = all->count == PLACES - 1;
    all->places[all->count].name = last ? "others" : own;
    return all->count++;
}

static bool is_copy(const struct assay__layer *layer)
{
    return layer->op && strncmp(layer->op, "Memcpy", 6) == 0;
}

static int by_index(const void *left, const void *right)
{
    const struct assay__layer *const *a = left, *const *b = right;
    return (*a)->index < (*b)->index ? -1 : (*a)->index > (*b)->index;
}

static bool collect(const struct assay__layers *layers, struct placement *all)
{
    const struct assay__layer **sorted = calloc(layers->count + 1, sizeof *sorted);
    size_t previous = SIZE_MAX;
    double bytes = 0, time_ns = 0;
    size_t copies = 0;
    if (!sorted) return false;
    for (size_t i = 0; i < layers->count; i++)
        sorted[i] = &layers->items[i];
    qsort(sorted, layers->count, sizeof *sorted, by_index);
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *l = sorted[i];
        bool known = l->state != ASSAY_UNAVAILABLE && isfinite(l->time_ns);
        size_t at = place_of(all, l->provider);
        all->places[at].layers++;
        if (known)
            all->places[at].time_ns += l->time_ns;
        else
            all->places[at].untimed++;
        if (is_copy(l)) { /* belongs to the crossing that follows it */
            copies++;
            bytes += l->bytes;
            time_ns += known ? l->time_ns : (double)NAN;
            continue;
        }
        if (previous != SIZE_MAX && previous != at) {
            struct crossing *c = &all->crossings[previous][at];
            c->count++;
            c->bytes += copies ? bytes : (double)NAN;
            c->time_ns += copies ? time_ns : (double)NAN;
            all->any = true;
        }
        previous = at;
        copies = 0;
        bytes = time_ns = 0;
    }
    free(sorted);
    return true;
}

/* A run that read no sensor is told what would; one that did is told why it has no energy. */
static void put_no_energy(struct assay__html *page, const struct assay__trial *trial)
{
    const struct assay_metric *net = trial->metrics
                                         ? assay_metrics_get(trial->metrics, "energy.inference.net")
                                         : NULL;
    bool asked = trial->protocol.watched & ASSAY__WATCHED_POWER;
    struct assay__buf text = {0};
    for (size_t i = 0; i < trial->series_count && !asked; i++)
        asked = strcmp(trial->series[i].quantity, "power") == 0 ||
                strcmp(trial->series[i].quantity, "energy") == 0;
    assay__buf_printf(&text, "Energy — %s%s",
                      net && net->note && *net->note ? net->note : "it was not measured",
                      asked ? "." : "; --power reads what sensors there are.");
    assay__html_paragraph(page, "note", text.data);
    if (text.failed) page->body.failed = true;
    assay__buf_free(&text);
}

static void put_places(struct assay__html *page, const struct assay__trial *trial,
                       const struct placement *all)
{
    const struct assay_metric *energy = assay__trial_metric(trial, "energy.inference.net");
    const char *mark = "";
    double total_ns = assay__render_layer_total(trial, &mark);
    assay__html_table(page, "", "sortable", "Time and energy by provider",
                      "Provider|>Layers|>Time|>Share of the latency|>Energy, net");
    for (size_t i = 0; i < all->count; i++) {
        const struct place *p = &all->places[i];
        bool known = p->untimed == 0;
        assay__html_row(page, "");
        assay__html_cell_name(page, p->name);
        assay__html_cell_number(page, (double)p->layers, "count", "");
        assay__html_cell_number(page, known ? p->time_ns / 1e9 : (double)NAN, "s", "=");
        assay__html_cell_number(page, known ? p->time_ns / total_ns : (double)NAN, "ratio", "=");
        assay__html_cell_number(page, energy && all->count == 1 ? energy->value : (double)NAN, "J",
                                "=");
        assay__html_row_end(page);
    }
    assay__html_table_end(page);
    for (size_t i = 0; i < all->count; i++)
        if (all->places[i].untimed) {
            assay__html_paragraph(page, "note",
                                  "A provider with a layer whose time is not known has no share: "
                                  "its known layers alone would be less than "
                                  "it took.");
            break;
        }
    if (!energy)
        put_no_energy(page, trial);
    else if (all->count > 1)
        assay__html_paragraph(
            page, "note",
            "Energy — no sensor splits it between providers, so the shares are not known.");
}

static void put_crossings(struct assay__html *page, const struct placement *all)
{
    assay__html_heading(page, "Crossings");
    if (!all->any) {
        assay__html_paragraph(page, NULL,
                              all->count > 1 ? "Execution does not cross between providers."
                                             : "All layers ran on one provider: nothing crosses.");
        return;
    }
    assay__html_table(page, "", "sortable", "Crossings between providers in execution order",
                      "From|To|>Count|>Bytes|>Time");
    for (size_t from = 0; from < all->count; from++)
        for (size_t to = 0; to < all->count; to++) {
            const struct crossing *c = &all->crossings[from][to];
            if (!c->count) continue;
            assay__html_row(page, "");
            assay__html_cell_name(page, all->places[from].name);
            assay__html_cell_name(page, all->places[to].name);
            assay__html_cell_number(page, (double)c->count, "count", "");
            assay__html_cell_number(page, c->bytes, "B", "=");
            assay__html_cell_number(page, c->time_ns / 1e9, "s", "=");
            assay__html_row_end(page);
        }
    assay__html_table_end(page);
    assay__html_paragraph(page, "note",
                          "A crossing is a layer on another provider than the one before it in "
                          "execution order. Bytes and time are those of "
                          "the engine's copies between the two; — where a crossing has none, or "
                          "their size is not known.");
}

/* Share of the time per data type that the layers compute in, as the roofline takes it. */
static void put_types(struct assay__html *page, const struct assay_profile *profile,
                      const struct assay__trial *trial)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__roofline r;
    const struct assay__layers *layers = &trial->layers;
    const char *names[2] = {"", "int8"};
    double times[2] = {0, 0};
    size_t counts[2] = {0, 0};
    const char *mark = "";
    if (!arena || assay__roofline(profile, trial, arena, &r)) {
        page->body.failed = true;
        goto out;
    }
    assay__html_heading(page, "Precision");
    if (!r.type || !r.type[0]) {
        assay__html_paragraph(page, "note",
                              "— The type that the layers compute in is not known: the profile "
                              "holds no type of the model.");
        goto out;
    }
    names[0] = r.type;
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *l = &layers->items[i];
        size_t at = strcmp(assay__roofline_type(l->op, r.type), r.type) != 0;
        counts[at]++;
        times[at] += l->state != ASSAY_UNAVAILABLE ? l->time_ns : (double)NAN;
    }
    double total_ns = assay__render_layer_total(trial, &mark);
    assay__html_table(page, "", NULL, "Time by the type that layers compute in",
                      "Type|>Layers|>Time|>Share of the latency");
    for (size_t i = 0; i < 2; i++) {
        if (!counts[i]) continue;
        assay__html_row(page, "");
        assay__html_cell_name(page, names[i]);
        assay__html_cell_number(page, (double)counts[i], "count", "");
        assay__html_cell_number(page, times[i] / 1e9, "s", "~");
        assay__html_cell_number(page, times[i] / total_ns, "ratio", "~");
        assay__html_row_end(page);
    }
    assay__html_table_end(page);
    struct assay__buf text = {0};
    assay__buf_printf(&text,
                      "Estimated from %s, int8 for integer products: what a provider computes in "
                      "inside is not told.",
                      r.type_from);
    assay__html_paragraph(page, "note", text.data);
    assay__buf_free(&text);
out:
    assay__arena_free(arena);
}

void assay__html_placement(struct assay__html *page, const struct assay_profile *profile,
                           const struct assay__trial *trial)
{
    const struct assay__layers *layers = &trial->layers;
    struct placement *all = calloc(1, sizeof *all);
    if (!layers->count) goto out; /* the layers' own section says why */
    if (!all || !collect(layers, all)) {
        page->body.failed = true;
        goto out;
    }
    assay__html_section(page, "placement", "Placement", ASSAY__HTML_LAYERS);
    put_places(page, trial, all);
    put_crossings(page, all);
    put_types(page, profile, trial);
    assay__html_section_end(page);
out:
    free(all);
}
