/* subject_roofline.c - each hot layer against what the device can do: a sentence, the picture, the
 * layers in it and the roofs (cost/roofline.h, doc/roofline.md). */
#include "report/subject/subject.h"

#include "report/figure/figures.h"
#include "report/subject/layer_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LAYERS_SHOWN = 10, PEAKS_MOST = 8 };

/* "62 % is bound by memory, 30 % is bound by compute": the largest first. */
static void print_bounds(struct assay__buf *out, const struct assay__roofline *r)
{
    static const char *const words[ASSAY__BOUND_COUNT] = {"bound by compute", "bound by memory",
                                                          "overhead", "far below both roofs",
                                                          "of unknown bound"};
    bool done[ASSAY__BOUND_COUNT] = {false};
    double all = 0;
    for (int b = 0; b < ASSAY__BOUND_COUNT; b++)
        all += r->time_ns[b];
    for (int pass = 0; pass < ASSAY__BOUND_COUNT; pass++) {
        int most = -1;
        for (int b = 0; b < ASSAY__BOUND_COUNT; b++)
            if (!done[b] && r->time_ns[b] >= 0.0005 * all &&
                (most < 0 || r->time_ns[b] > r->time_ns[most]))
                most = b;
        if (most < 0) return;
        done[most] = true;
        assay__buf_printf(out, "%s%s %% is %s", pass ? ", " : "",
                          assay__digits(r->time_ns[most] / all * 100, 3).text, words[most]);
    }
}

/* Layers that are faster than their roof, and those that cannot be judged, with the first
 * reason. */
static void add_remarks(struct assay__doc *doc, const struct assay__roofline *r)
{
    const char *why = "";
    size_t unknown = 0;
    for (size_t i = r->layer_count; i-- > 0;)
        if (r->layers[i].bound == ASSAY__BOUND_UNKNOWN) {
            unknown++;
            why = r->layers[i].reason;
        }
    if (r->above)
        assay__doc_warn(doc,
                        "%zu layer%s faster than %s roof: bytes are counted as if nothing stayed "
                        "in a cache, FLOPs as the operators define them, and the ceiling may have "
                        "been measured on a busier machine.",
                        r->above, r->above == 1 ? " is" : "s are", r->above == 1 ? "its" : "their");
    if (unknown)
        assay__doc_note(doc,
                        unknown == 1 ? "The bound of %zu layer is not known: %s."
                                     : "The bound of %zu layers is not known; the first: %s.",
                        unknown, why);
}

static const struct assay__column columns[] = {
    {.title = "", .flags = ASSAY__COLUMN_ASIDE}, /* its letter in the picture of a terminal */
    {.title = "layer", .flags = ASSAY__COLUMN_NAME},
    {.title = "share", .unit = "ratio"},
    {.title = "FLOP/B", .unit = ASSAY__UNIT_PLAIN, .priority = 3},
    {.title = "FLOP/s", .unit = ASSAY__UNIT_SHORT, .priority = 2},
    {.title = "at most", .unit = ASSAY__UNIT_SHORT, .priority = 4, .flags = ASSAY__COLUMN_ASIDE},
    {.title = "of roof", .unit = "ratio"},
    {.title = "time lost", .unit = "s", .priority = 1},
    {.title = "bound"},
};

/* Those that lose the most time first, each with its letter in the picture. */
static void add_layers(struct assay__doc *doc, const struct assay__trial *trial,
                       const struct assay__roofline *r)
{
    double whole_ns = assay__layers_whole(trial);
    size_t *order = assay__roofline_order(&trial->layers, r), letters = 0;
    if (!order) doc->failed = true;
    struct assay__table *t = assay__doc_table(doc, NULL, "Layers against their roofs", columns);
    t->more = "layers";
    t->page_limit = 20;
    t->limit = LAYERS_SHOWN;
    for (size_t i = 0; order && i < trial->layers.count; i++) {
        const struct assay__layer *layer = &trial->layers.items[order[i]];
        const struct assay__roofline_layer *placed = &r->layers[order[i]];
        if (layer->state == ASSAY_UNAVAILABLE || !isfinite(layer->time_ns)) continue;
        const char *letter = "";
        double lost = layer->time_ns - placed->least_ns; /* nothing above the roof */
        if (letters < ASSAY__ROOFLINE_LETTERS && assay__roofline_is_placed(placed))
            letter = assay__doc_printf(doc, "%c", (char)('A' + letters++));
        assay__table_row_of(t, 0, letter, assay__layer_title(layer));
        assay__table_layer(t, layer->index);
        assay__table_number(t, layer->time_ns / whole_ns, ASSAY_MEASURED);
        assay__table_numbers(t, ASSAY_DERIVED, placed->intensity, placed->rate, placed->attainable,
                             placed->utilization, lost < 0 ? 0 : lost / 1e9);
        const char *bound = assay__bound_name(placed->bound);
        if (placed->bound == ASSAY__BOUND_MEMORY && placed->level)
            bound = assay__doc_printf(doc, "%s %s", bound, placed->level->kind);
        assay__table_text(t, bound);
    }
    free(order);
}

static const struct assay__column roof_columns[] = {
    {.title = "roof", .flags = ASSAY__COLUMN_NAME},
    {.title = "at most", .unit = "B/s"},
    {.title = "holds", .unit = "B"},
    {.title = "ceiling", .priority = 1, .flags = ASSAY__COLUMN_CODE},
};

static void put_roof(struct assay__table *t, const struct assay__roof *roof, const char *label,
                     const char *unit, bool memory)
{
    assay__table_row_of(t, 0, label);
    assay__table_cell(t, assay__measured(roof->value, unit));
    assay__table_known(t, memory ? roof->holds_bytes : (double)NAN, ASSAY_MEASURED);
    assay__table_text(t, roof->name);
}

static void add_roofs(struct assay__doc *doc, const struct assay__roofline *r)
{
    assay__doc_fold(doc, NULL, "The roofs: measured limits of the device", NULL);
    struct assay__table *t = assay__doc_table(doc, NULL, "The roofs: measured limits of the device",
                                              roof_columns);
    /* The model's own compute roof, and those of layers that compute in another type. */
    const struct assay__roof *seen[PEAKS_MOST] = {0};
    size_t count = 0;
    for (size_t i = 0; i <= r->layer_count; i++) {
        const struct assay__roof *roof = i ? r->layers[i - 1].peak : r->peak;
        bool again = !roof || count == PEAKS_MOST;
        for (size_t s = 0; s < count && !again; s++)
            again = seen[s] == roof;
        if (again) continue;
        seen[count++] = roof;
        put_roof(t, roof, roof->label, strcmp(roof->kind, "int8") == 0 ? "OP/s" : "FLOP/s", false);
    }
    for (size_t i = 0; i < r->level_count; i++)
        put_roof(t, &r->levels[i], r->levels[i].label, "B/s", true);
    if (r->weights)
        put_roof(t, r->weights, assay__doc_printf(doc, "weights from %s", r->weights->label), "B/s",
                 true);
    assay__doc_note(doc, "%s; %s: %s%s%s", r->cores_note, r->type, r->type_from,
                    r->peak_note[0] ? "; " : "", r->peak_note);
    assay__doc_end(doc);
}

static void build(struct assay__doc *doc, const struct assay__trial *trial)
{
    struct assay__study *study = doc->study;
    if (!trial->layers.count) return; /* the section of the layers says why */
    const struct assay__roofline *r = assay__study_roofline(study, trial);
    /* Without one of the two roofs there is no roofline: the unavailable metrics say which ceiling
     * is missing, and what would measure it. */
    bool judged = !r->reason[0] && r->peak && r->memory &&
                  r->time_ns[ASSAY__BOUND_COMPUTE] + r->time_ns[ASSAY__BOUND_MEMORY] +
                          r->time_ns[ASSAY__BOUND_OVERHEAD] + r->time_ns[ASSAY__BOUND_NEITHER] >
                      0;
    if (!judged) return;
    const char *when = study->profile->ceilings[0].measured_at;
    assay__doc_section(doc, "roofline", "Roofline",
                       when && *when
                           ? assay__doc_printf(doc,
                                               "each layer against the limits of this machine, "
                                               "measured %s",
                                               when)
                           : NULL,
                       ASSAY__TAB_ROOFLINE);
    struct assay__buf bounds = {0};
    print_bounds(&bounds, r);
    assay__doc_plain(doc,
                     "Of the time in layers, %s. At their roofs the layers would take %s instead "
                     "of %s (%.0f %%).",
                     assay__doc_take(doc, &bounds), assay__scaled(r->least_ns / 1e9, "s").text,
                     assay__scaled(r->least_of_ns / 1e9, "s").text,
                     r->least_ns / r->least_of_ns * 100);
    assay__doc_picture(doc, "roofline", trial, ASSAY__PICTURE_KEYED);
    add_layers(doc, trial, r);
    add_remarks(doc, r);
    add_roofs(doc, r);
    assay__doc_end(doc);
}

const struct assay__subject assay__subject_roofline = {"roofline", ASSAY__OF_TRIAL, build, {{0}}};
