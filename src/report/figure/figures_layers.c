/* figures_layers.c - where the time goes, layer by layer: bars of the slowest, and a treemap of all
 * by the structure of the graph (the path in a layer's name). `engine per run` and `unattributed`
 * stand beside the layers as the profile has them. */
#include "report/doc/datum.h"
#include "report/figure/figures.h"
#include "report/subject/layer_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 20
#define KINDS 7 /* operators with a colour of their own; the rest share one */

static int no_layers(const struct assay__trial *trial, struct assay_error *error)
{
    const char *reason = trial->layers.reason && trial->layers.reason[0] ? trial->layers.reason
                         : trial->generation.tokens ? "layers are not timed while it generates"
                                                    : "no layers were timed";
    if (trial->layers.count) reason = "no layer has a time";
    return assay_error_set(error, ASSAY_ENOTFOUND, "%s", reason);
}

static size_t count_timed(const struct assay__layers *layers)
{
    size_t count = 0;
    for (size_t i = 0; i < layers->count; i++)
        count += assay__layer_is_timed(&layers->items[i]);
    return count;
}

/* --- bars ------------------------------------------------------------------------------------- */

struct bars {
    double *values;
    const char **names, **links;
    unsigned char *flags;
    size_t count;
};

static void add_rest(struct bars *b, const char *name, double time_ns)
{
    if (!isfinite(time_ns)) return;
    b->names[b->count] = name;
    b->links[b->count] = "";
    b->flags[b->count] = ASSAY__POINT_FAINT;
    b->values[b->count++] = time_ns * 1e-9;
}

static void fill_bars(struct bars *b, const struct assay__layers *layers, const size_t *order,
                      size_t shown, struct assay__arena *arena)
{
    for (size_t i = 0; i < shown; i++) {
        const struct assay__layer *layer = &layers->items[order[i]];
        if (!assay__layer_is_timed(layer)) continue;
        b->values[b->count] = layer->time_ns * 1e-9;
        b->names[b->count] = assay__layer_title(layer);
        b->links[b->count] = assay__arena_printf(arena, "#layer-%d", layer->index);
        b->count++;
    }
    if (shown < layers->count) {
        const char *more = assay__arena_printf(arena, "%zu more layers", layers->count - shown);
        add_rest(b, more ? more : "more layers",
                 assay__layer_sum(layers, order, shown, layers->count));
    }
    add_rest(b, "engine per run", layers->engine_ns);
    add_rest(b, "unattributed", layers->unattributed_ns);
}

static void describe_bars(const struct assay__trial *trial, const struct bars *b,
                          struct assay__arena *arena, struct assay__figure *figure)
{
    struct assay__buf text = {0};
    const struct assay_metric *p50 = assay__trial_metric(trial, "latency.p50");
    assay__buf_printf(&text, "%zu layers", trial->layers.count);
    if (p50)
        assay__buf_printf(&text, " of a median latency of %s",
                          assay__figure_scaled(arena, p50->value, "s"));
    assay__buf_puts(&text, ". Slowest: ");
    for (size_t i = 0; i < b->count && i < 3 && b->links[i] && b->links[i][0]; i++)
        assay__buf_printf(&text, "%s%s %s", i ? ", " : "", assay__figure_short(arena, b->names[i]),
                          assay__figure_scaled(arena, b->values[i], "s"));
    assay__buf_putc(&text, '.');
    figure->description = assay__arena_strdup(arena, assay__buf_text(&text));
    assay__buf_free(&text);
}

int assay__figure_layers(struct assay__study *study, const struct assay__trial *trial, size_t part,
                         struct assay__arena *arena, struct assay__figure *figure,
                         struct assay_error *error)
{
    const struct assay_profile *profile = study->profile;
    const struct assay__layers *layers = &trial->layers;
    if (part || !count_timed(layers)) return no_layers(trial, error);
    size_t *order = assay__layer_order(layers);
    if (!order) return assay__figure_no_memory(error);
    size_t shown = layers->count <= SHOWN + 1 ? layers->count : SHOWN, room = shown + 3;
    struct bars b = {.values = assay__figure_values(arena, room),
                     .names = assay__arena_array(arena, room, sizeof *b.names),
                     .links = assay__arena_array(arena, room, sizeof *b.links),
                     .flags = assay__arena_array(arena, room, 1)};
    struct assay__figure_series *series = assay__arena_array(arena, 1, sizeof *series);
    if (b.values && b.names && b.links && b.flags && series)
        fill_bars(&b, layers, order, shown, arena);
    free(order);
    if (!b.count) return assay__figure_no_memory(error);
    *series = (struct assay__figure_series){.name = "time",
                                            .y = b.values,
                                            .names = b.names,
                                            .links = b.links,
                                            .flags = b.flags,
                                            .count = b.count};
    *figure = assay__figure_begin(ASSAY__FIGURE_BARS, "layers");
    figure->title = assay__figure_title(arena, profile, trial, "Time per layer");
    figure->y_unit = "s", figure->y_zero = true;
    figure->series = series, figure->series_count = 1;
    figure->caption = "Longer is slower: each bar is the time of one layer in one inference; grey "
                      "bars are the other layers together, the engine's own cost and what could "
                      "not be attributed.";
    describe_bars(trial, &b, arena, figure);
    return figure->description ? 0 : assay__figure_no_memory(error);
}

/* --- treemap ---------------------------------------------------------------------------------- */

/* The name without its last part where that is the operator: "/layer1.0.conv2/Conv" is
 * "/layer1.0.conv2". */
static const char *leaf_name(const struct assay__layer *layer, struct assay__arena *arena)
{
    const char *title = assay__layer_title(layer), *last = strrchr(title, '/');
    if (!last || last == title || strncmp(last + 1, layer->op, strlen(layer->op)) != 0)
        return title;
    return assay__arena_strndup(arena, title, (size_t)(last - title));
}

/* "layer1/0" of "/layer1.0.conv2": points and slashes divide alike. */
static const char *group_of(const char *name, struct assay__arena *arena)
{
    while (*name == '/')
        name++;
    char *path = assay__arena_strdup(arena, name);
    if (!path) return NULL;
    for (char *c = path; *c; c++)
        if (*c == '.') *c = '/';
    char *end = strrchr(path, '/');
    if (end)
        *end = 0;
    else
        *path = 0;
    return path;
}

struct kind {
    const char *op;
    double time_ns;
    size_t layers;
};

static int by_time(const void *left, const void *right)
{
    const struct kind *a = left, *b = right;
    if (a->time_ns != b->time_ns) return a->time_ns < b->time_ns ? 1 : -1;
    return strcmp(a->op, b->op);
}

static size_t find_kinds(const struct assay__layers *layers, struct kind *kinds, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *layer = &layers->items[i];
        size_t k = 0;
        if (!assay__layer_is_timed(layer)) continue;
        while (k < count && strcmp(kinds[k].op, layer->op) != 0)
            k++;
        if (k == most) continue; /* so many operators share the last colour */
        if (k == count) kinds[count++] = (struct kind){layer->op, 0, 0};
        kinds[k].time_ns += layer->time_ns;
        kinds[k].layers++;
    }
    qsort(kinds, count, sizeof *kinds, by_time);
    return count;
}

/* Which series a layer belongs to: its operator's, else the last. */
static size_t kind_of(const struct assay__layer *layer, const struct kind *kinds, size_t own)
{
    size_t k = 0;
    while (k < own && strcmp(kinds[k].op, layer->op) != 0)
        k++;
    return k;
}

static bool fill_kind(struct assay__figure_series *series, const struct assay__layers *layers,
                      const struct kind *kinds, size_t k, size_t own, struct assay__arena *arena)
{
    size_t room = 0, count = 0;
    for (size_t i = 0; i < layers->count; i++)
        room += assay__layer_is_timed(&layers->items[i]) &&
                kind_of(&layers->items[i], kinds, own) == k;
    double *values = assay__figure_values(arena, room);
    const char **names = assay__arena_array(arena, room + 1, sizeof *names),
               **groups = assay__arena_array(arena, room + 1, sizeof *groups),
               **links = assay__arena_array(arena, room + 1, sizeof *links);
    if (!values || !names || !groups || !links) return false;
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *layer = &layers->items[i];
        if (!assay__layer_is_timed(layer) || kind_of(layer, kinds, own) != k) continue;
        values[count] = layer->time_ns * 1e-9;
        names[count] = leaf_name(layer, arena);
        groups[count] = names[count] ? group_of(names[count], arena) : NULL;
        links[count] = assay__arena_printf(arena, "#layer-%d", layer->index);
        if (!groups[count] || !links[count]) return false;
        count++;
    }
    *series = (struct assay__figure_series){.name = k < own ? kinds[k].op : "other operators",
                                            .y = values,
                                            .names = names,
                                            .groups = groups,
                                            .links = links,
                                            .count = count};
    return true;
}

int assay__figure_treemap(struct assay__study *study, const struct assay__trial *trial, size_t part,
                          struct assay__arena *arena, struct assay__figure *figure,
                          struct assay_error *error)
{
    const struct assay_profile *profile = study->profile;
    enum { MOST = 64 };
    struct kind kinds[MOST];
    size_t timed = count_timed(&trial->layers);
    if (part || !timed) return no_layers(trial, error);
    size_t count = find_kinds(&trial->layers, kinds, MOST),
           own = count <= KINDS + 1 ? count : KINDS;
    struct assay__figure_series *series = assay__arena_array(arena, own + 1, sizeof *series);
    if (!series) return assay__figure_no_memory(error);
    for (size_t k = 0; k <= own; k++)
        if (!fill_kind(&series[k], &trial->layers, kinds, k, own, arena))
            return assay__figure_no_memory(error);
    *figure = assay__figure_begin(ASSAY__FIGURE_TREEMAP, "treemap");
    figure->title = assay__figure_title(arena, profile, trial,
                                        "Time by the structure of the graph");
    figure->y_unit = "s";
    figure->series = series, figure->series_count = series[own].count ? own + 1 : own;
    figure->caption = "Each rectangle is one layer, its area the layer's time, its colour the "
                      "operator; layers of one block stand together.";
    figure->description = assay__arena_printf(
        arena, "%zu layers; most of their time is in %s: %s in %zu layers.", timed,
        assay__figure_short(arena, kinds[0].op),
        assay__figure_scaled(arena, kinds[0].time_ns * 1e-9, "s"), kinds[0].layers);
    return figure->description ? 0 : assay__figure_no_memory(error);
}
