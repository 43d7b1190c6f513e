/* figures_strip.c - one inference as a strip: the layers in order of execution, each as wide as its
 * time, in the stages and blocks of the model (judge/blocks.h), coloured by the share of their roof
 * (cost/roofline.h), or by operator if the profile has no ceilings. Times are placed end to end:
 * this is not a trace. Time in no layer is at its end. */
#include "report/figure/figures.h"

#include "base/map.h"
#include "report/figure/figure_label.h"
#include "report/figure/palette.h"
#include "report/subject/layer_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROOFED 0.5 /* share of the layers' time that must have a roof for colours by roof */

struct strip {
    struct assay__sketch *k;
    const struct assay__layers *layers;
    const struct assay__roofline *roofline; /* NULL: none */
    struct assay__figure_strip *out;
    const char *operators[ASSAY__PALETTE_SERIES];
    double *begins; /* by layer: where it begins, s */
    double sum_s;
};

/* --- operators -------------------------------------------------------------------------------- */

static void find_operators(struct strip *s)
{
    size_t count = 0, most = ASSAY__PALETTE_SERIES;
    struct assay__operator *sums = assay__operators(s->layers, &count);
    if (!sums) s->k->failed = true;
    while (count && !sums[count - 1].timed)
        count--;
    size_t own = count <= most ? count : most - 1;
    for (size_t i = 0; sums && i < own; i++)
        s->operators[i] = sums[i].op;
    if (count > most) s->operators[most - 1] = "others";
    s->out->operator_count = count < most ? count : most;
    s->out->operators = assay__arena_array(s->k->arena, most, sizeof *s->operators);
    if (s->out->operators) memcpy((void *)s->out->operators, s->operators, sizeof s->operators);
    free(sums);
}

static int series_of(const struct strip *s, const char *op)
{
    int count = (int)s->out->operator_count;
    for (int i = 0; i < count; i++)
        if (strcmp(s->operators[i], op ? op : "") == 0) return i;
    return count - 1;
}

/* --- layers ----------------------------------------------------------------------------------- */

static double share_of(const struct strip *s, size_t layer)
{
    return s->roofline ? s->roofline->layers[layer].utilization : (double)NAN;
}

static void add_layer(struct strip *s, size_t at)
{
    const struct assay__layer *l = &s->layers->items[at];
    struct assay__figure_strip *out = s->out;
    out->layers[out->layer_count++] = (struct assay__strip_part){
        .id = l->index,
        .name = assay__layer_title(l),
        .label = assay__figure_layer_name(s->k, l),
        .begin_s = s->sum_s,
        .time_s = l->time_ns * 1e-9,
        .share = share_of(s, at),
        .series = series_of(s, l->op),
        .rate = l->time_ns > 0 && l->flops > 0 ? l->flops / l->time_ns * 1e9 : (double)NAN,
        .live_bytes = l->live_bytes};
    const struct assay__strip_part *made = &out->layers[out->layer_count - 1];
    s->sum_s += made->time_s;
    if (!(made->rate <= out->rate_most)) out->rate_most = fmax(made->rate, out->rate_most);
    if (!(made->live_bytes <= out->live_most))
        out->live_most = fmax(made->live_bytes, out->live_most);
}

/* What is in no layer, at the end. */
static void add_rest(struct strip *s, const char *name, double time_ns)
{
    struct assay__figure_strip *out = s->out;
    if (!(time_ns > 0) || !isfinite(time_ns)) return;
    out->layers[out->layer_count++] = (struct assay__strip_part){.id = -1,
                                                                 .name = name,
                                                                 .label = name,
                                                                 .begin_s = s->sum_s,
                                                                 .time_s = time_ns * 1e-9,
                                                                 .share = NAN,
                                                                 .series = -1,
                                                                 .rate = NAN,
                                                                 .live_bytes = NAN};
    s->sum_s += time_ns * 1e-9;
}

/* The shortest ends of the layers' names that differ. */
static void find_labels(struct strip *s, size_t timed)
{
    const char **names = calloc(timed + 1, sizeof *names),
               **tails = calloc(timed + 1, sizeof *tails);
    if (!names || !tails) s->k->failed = true;
    for (size_t i = 0; names && tails && i < timed; i++)
        names[i] = s->out->layers[i].label;
    if (names && tails) assay__label_tails(names, timed, tails);
    for (size_t i = 0; names && tails && i < timed; i++)
        s->out->layers[i].label = tails[i];
    free(names);
    free(tails);
}

static void add_layers(struct strip *s)
{
    size_t count = s->layers->count;
    s->out->layers = assay__arena_array(s->k->arena, count + 2, sizeof *s->out->layers);
    s->begins = assay__figure_values(s->k->arena, count + 1);
    if (!s->out->layers || !s->begins) s->k->failed = true;
    if (s->k->failed) return;
    for (size_t i = 0; i < count; i++) {
        s->begins[i] = s->sum_s;
        if (assay__layer_is_timed(&s->layers->items[i]) && s->layers->items[i].time_ns >= 0)
            add_layer(s, i);
    }
    s->begins[count] = s->sum_s;
    find_labels(s, s->out->layer_count);
    add_rest(s, "engine per run", s->layers->engine_ns);
    add_rest(s, "unattributed", s->layers->unattributed_ns);
    s->out->whole_s = s->sum_s;
}

/* --- blocks ----------------------------------------------------------------------------------- */

/* The share of a block is that of its layers together; its operator is the one with the most
 * time. */
static struct assay__strip_part block_part(struct strip *s, const struct assay__layer_block *block)
{
    double least = 0, of = 0, times[ASSAY__PALETTE_SERIES] = {0};
    int longest = -1;
    for (size_t i = block->first; i < block->first + block->count; i++) {
        const struct assay__layer *l = &s->layers->items[i];
        if (!assay__layer_is_timed(l)) continue;
        double share = share_of(s, i);
        int series = series_of(s, l->op);
        times[series] += l->time_ns;
        if (longest < 0 || times[series] > times[longest]) longest = series;
        if (isfinite(share)) least += share * l->time_ns, of += l->time_ns;
    }
    double begin = s->begins[block->first], end = s->begins[block->first + block->count];
    return (struct assay__strip_part){.id = block->id,
                                      .name = block->name,
                                      .label = block->label,
                                      .begin_s = begin,
                                      .time_s = end - begin,
                                      .share = of > 0 ? least / of : (double)NAN,
                                      .series = longest,
                                      .rate = NAN,
                                      .live_bytes = NAN};
}

/* Blocks whose label is not unique ("attention" of every layer) are called by their full name. */
static void name_blocks(struct strip *s, struct assay__strip_part *parts, size_t count)
{
    struct assay__map *names = assay__map_new(); /* label → block of the first name, or `count` */
    if (!names) s->k->failed = true;
    for (size_t i = 0; names && i < count; i++) {
        size_t first = assay__map_get(names, parts[i].label);
        bool again = first != ASSAY__MAP_NONE;
        if (again && (first == count || strcmp(parts[first].name, parts[i].name) == 0)) continue;
        if (assay__map_set(names, parts[i].label, again ? count : i)) s->k->failed = true;
    }
    for (size_t i = 0; names && i < count; i++)
        if (*parts[i].label && assay__map_get(names, parts[i].label) == count)
            parts[i].label = parts[i].name;
    assay__map_free(names);
}

static void add_blocks(struct strip *s)
{
    const struct assay__blocks *blocks = assay__study_blocks(s->k->study, s->k->trial);
    for (int level = 0; level < blocks->level_count && !s->k->failed; level++) {
        size_t first = blocks->level_first[level], count = blocks->level_first[level + 1] - first;
        struct assay__strip_part *parts = assay__arena_array(s->k->arena, count, sizeof *parts);
        if (!parts) s->k->failed = true;
        for (size_t i = 0; parts && i < count; i++)
            parts[i] = block_part(s, &blocks->items[first + i]);
        if (parts) name_blocks(s, parts, count);
        s->out->blocks[level] = parts;
        s->out->block_counts[level] = parts ? count : 0;
        s->out->level_count = level + 1;
    }
}

/* --- together --------------------------------------------------------------------------------- */

/* Roofs, if they are known for enough of the time. */
static const struct assay__roofline *find_roofs(struct assay__sketch *k)
{
    const struct assay__roofline *r = assay__study_roofline(k->study, k->trial);
    double timed = 0, roofed = 0;
    if (k->study->failed || r->reason[0] || r->layer_count < k->trial->layers.count) return NULL;
    for (size_t i = 0; i < k->trial->layers.count; i++) {
        const struct assay__layer *l = &k->trial->layers.items[i];
        if (!assay__layer_is_timed(l)) continue;
        timed += l->time_ns;
        if (isfinite(r->layers[i].utilization)) roofed += l->time_ns;
    }
    return roofed > 0 && roofed >= ROOFED * timed ? r : NULL;
}

static const char *describe(struct strip *s, size_t timed)
{
    struct assay__buf text = {0};
    const struct assay__figure_strip *out = s->out;
    assay__buf_printf(&text, "%zu layers, %s in total", timed,
                      assay__scaled(s->begins[s->layers->count], "s").text);
    if (out->level_count) {
        const struct assay__strip_part *longest = out->blocks[0];
        for (size_t i = 1; i < out->block_counts[0]; i++)
            if (out->blocks[0][i].time_s > longest->time_s) longest = &out->blocks[0][i];
        assay__buf_printf(&text, ", in %zu stages; the longest, %s, takes %s", out->block_counts[0],
                          *longest->name ? assay__sketch_short(s->k, longest->name) : "unnamed",
                          assay__scaled(longest->time_s, "s").text);
    }
    assay__buf_putc(&text, '.');
    return assay__sketch_take(s->k, &text);
}

int assay__figure_strip(struct assay__sketch *k, size_t part)
{
    const struct assay__layers *layers = &k->trial->layers;
    struct strip s = {.k = k, .layers = layers};
    size_t timed = 0;
    for (size_t i = 0; i < layers->count; i++)
        timed += assay__layer_is_timed(&layers->items[i]) && layers->items[i].time_ns > 0;
    if (part || !timed) return assay__figure_no_layers(k);
    s.out = assay__arena_array(k->arena, 1, sizeof *s.out);
    if (!s.out) k->failed = true;
    if (k->failed) return assay__sketch_end(k);
    s.out->rate_most = s.out->live_most = NAN;
    s.roofline = find_roofs(k);
    s.out->by_operator = !s.roofline;
    s.out->roof = s.roofline && s.roofline->peak
                      ? assay__sketch_printf(k, "%s %s", s.roofline->peak->label,
                                             assay__scaled(s.roofline->peak->value, "FLOP/s").text)
                      : "";
    struct assay__figure *f = assay__sketch_trial(k, ASSAY__FIGURE_STRIP, "strip", "One inference");
    find_operators(&s);
    if (!k->failed) add_layers(&s);
    if (!k->failed) add_blocks(&s);
    if (k->failed) return assay__sketch_end(k);
    f->strip = s.out;
    f->x_unit = "s";
    f->caption = s.roofline
                     ? "Per-layer times laid end to end, in order of execution: width is time, "
                       "colour and height are the share of the layer's roof."
                     : "Per-layer times laid end to end, in order of execution: width is time, "
                       "colour is the operator.";
    f->description = describe(&s, timed);
    return assay__sketch_end(k);
}
