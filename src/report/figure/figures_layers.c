/* figures_layers.c - where the time goes, layer by layer: bars of the slowest, and a treemap of all
 * by the structure of the graph (the path in a layer's name). `engine per run` and `unattributed`
 * are shown next to the layers. */
#include "report/figure/figures.h"

#include "base/map.h"
#include "report/subject/layer_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 20
#define KINDS 7 /* operators with their own colour; the rest share one */

int assay__figure_no_layers(struct assay__sketch *k)
{
    const struct assay__layers *layers = &k->trial->layers;
    return assay__sketch_none(k, layers->count                         ? "no layer has a time"
                                 : layers->reason && layers->reason[0] ? layers->reason
                                 : k->trial->generation.tokens
                                     ? "layers are not timed during a generation"
                                     : "the layers were not timed");
}

static size_t count_timed(const struct assay__layers *layers)
{
    size_t count = 0;
    for (size_t i = 0; i < layers->count; i++)
        count += assay__layer_is_timed(&layers->items[i]);
    return count;
}

/* --- bars ------------------------------------------------------------------------------------- */

static void add_rest(struct assay__points *b, const char *name, double time_ns)
{
    if (!isfinite(time_ns)) return;
    b->names[b->count] = name;
    b->flags[b->count] = ASSAY__POINT_FAINT;
    b->y[b->count++] = time_ns * 1e-9;
}

static void add_layer(struct assay__points *b, const struct assay__layer *layer)
{
    b->y[b->count] = layer->time_ns * 1e-9;
    b->names[b->count] = assay__layer_title(layer);
    b->layers[b->count++] = layer->index;
}

static void fill_bars(struct assay__sketch *k, struct assay__points *b, const size_t *order,
                      size_t shown)
{
    const struct assay__layers *layers = &k->trial->layers;
    const struct assay__roofline *r = assay__study_roofline(k->study, k->trial);
    for (size_t i = 0; i < shown; i++) {
        if (!assay__layer_is_timed(&layers->items[order[i]])) continue;
        if (order[i] < r->layer_count) b->shares[b->count] = r->layers[order[i]].utilization;
        add_layer(b, &layers->items[order[i]]);
    }
    if (r->reason[0] || !r->peak || !r->memory) b->shares = NULL; /* there is nothing to judge by */
    if (shown < layers->count)
        add_rest(b, assay__sketch_printf(k, "%zu more layers", layers->count - shown),
                 assay__layer_sum(layers, order, shown, layers->count));
    add_rest(b, "engine per run", layers->engine_ns);
    add_rest(b, "unattributed", layers->unattributed_ns);
}

static const char *describe_bars(struct assay__sketch *k, const struct assay__points *b)
{
    struct assay__buf text = {0};
    const struct assay_metric *p50 = assay__trial_metric(k->trial, "latency.p50");
    assay__buf_printf(&text, "%zu layers", k->trial->layers.count);
    if (p50)
        assay__buf_printf(&text, " of a median latency of %s", assay__scaled(p50->value, "s").text);
    assay__buf_puts(&text, ". Slowest: ");
    for (size_t i = 0; i < b->count && i < 3 && b->layers[i] >= 0; i++)
        assay__buf_printf(&text, "%s%s %s", i ? ", " : "", assay__sketch_short(k, b->names[i]),
                          assay__scaled(b->y[i], "s").text);
    assay__buf_putc(&text, '.');
    return assay__sketch_take(k, &text);
}

int assay__figure_layers(struct assay__sketch *k, size_t part)
{
    const struct assay__layers *layers = &k->trial->layers;
    struct assay__points b;
    if (part || !count_timed(layers)) return assay__figure_no_layers(k);
    size_t shown = layers->count <= SHOWN + 1 ? layers->count : SHOWN;
    size_t *order = assay__layer_order(layers);
    if (!order) k->failed = true;
    struct assay__figure *f = assay__sketch_trial(k, ASSAY__FIGURE_BARS, "layers",
                                                  "Time per layer");
    if (assay__sketch_points(k, &b, shown + 3,
                             ASSAY__WITH_NAMES | ASSAY__WITH_LAYERS | ASSAY__WITH_SHARES) &&
        order) {
        fill_bars(k, &b, order, shown);
        assay__sketch_add(k, "time", &b);
        f->description = describe_bars(k, &b);
    }
    free(order);
    f->y_unit = "s", f->y_zero = true;
    f->caption =
        "Longer is slower: each bar is the time of one layer in one inference. The last rows are "
        "sums without a bar: the other layers, the engine's fixed cost and the unattributed time.";
    return assay__sketch_end(k);
}

/* --- treemap ---------------------------------------------------------------------------------- */

const char *assay__figure_layer_name(struct assay__sketch *k, const struct assay__layer *layer)
{
    const char *title = assay__layer_title(layer), *last = strrchr(title, '/');
    if (!last || last == title || strncmp(last + 1, layer->op, strlen(layer->op)) != 0)
        return title;
    return assay__sketch_printf(k, "%.*s", (int)(last - title), title);
}

/* Counts the layers below every folder of the title: "/a" and "/a/b" of "/a/b/Conv". */
static void count_folders(struct assay__sketch *k, struct assay__map *below, const char *title)
{
    for (size_t i = 1; *title && title[i] && !k->failed; i++) {
        if (title[i] != '/') continue;
        const char *folder = assay__sketch_printf(k, "%.*s", (int)i, title);
        size_t before = assay__map_get(below, folder);
        k->failed |= assay__map_set(below, folder, before == ASSAY__MAP_NONE ? 1 : before + 1) != 0;
    }
}

/* The names of all layers, shortened if nothing else is below that. */
const char *const *assay__sketch_layer_names(struct assay__sketch *k)
{
    const struct assay__layers *layers = &k->trial->layers;
    const char **names = assay__arena_array(k->arena, layers->count, sizeof *names);
    struct assay__map *below = assay__map_new();
    k->failed |= !names || !below;
    for (size_t i = 0; i < layers->count && !k->failed; i++)
        count_folders(k, below, assay__layer_title(&layers->items[i]));
    for (size_t i = 0; i < layers->count && !k->failed; i++) {
        names[i] = assay__figure_layer_name(k, &layers->items[i]);
        size_t count = assay__map_get(below, names[i]);
        if (count > 1 && count != ASSAY__MAP_NONE) names[i] = assay__layer_title(&layers->items[i]);
    }
    assay__map_free(below);
    return names;
}

/* "layer1/0" for "/layer1.0.conv2": both dots and slashes separate. */
static const char *group_of(struct assay__sketch *k, const char *name)
{
    struct assay__buf path = {0};
    size_t end = 0;
    while (*name == '/')
        name++;
    for (size_t i = 0; name[i]; i++)
        if (name[i] == '.' || name[i] == '/') end = i;
    for (size_t i = 0; i < end; i++)
        assay__buf_putc(&path, name[i] == '.' ? '/' : name[i]);
    return assay__sketch_take(k, &path);
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
        if (k == most) continue; /* the remaining operators share the last colour */
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

static void add_kind(struct assay__sketch *k, const char *const *names, const struct kind *kinds,
                     size_t kind, size_t own)
{
    const struct assay__layers *layers = &k->trial->layers;
    struct assay__points p;
    size_t room = 0;
    for (size_t i = 0; i < layers->count; i++)
        room += assay__layer_is_timed(&layers->items[i]) &&
                kind_of(&layers->items[i], kinds, own) == kind;
    if (!room || !assay__sketch_points(k, &p, room,
                                       ASSAY__WITH_NAMES | ASSAY__WITH_LAYERS | ASSAY__WITH_GROUPS))
        return;
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *layer = &layers->items[i];
        if (!assay__layer_is_timed(layer) || kind_of(layer, kinds, own) != kind) continue;
        add_layer(&p, layer);
        p.names[p.count - 1] = names[i];
        p.groups[p.count - 1] = group_of(k, p.names[p.count - 1]);
    }
    assay__sketch_add(k, kind < own ? kinds[kind].op : "other operators", &p);
}

int assay__figure_treemap(struct assay__sketch *k, size_t part)
{
    enum { MOST = 64 };
    struct kind kinds[MOST];
    size_t timed = count_timed(&k->trial->layers);
    if (part || !timed) return assay__figure_no_layers(k);
    size_t count = find_kinds(&k->trial->layers, kinds, MOST),
           own = count <= KINDS + 1 ? count : KINDS;
    struct assay__figure *f = assay__sketch_trial(k, ASSAY__FIGURE_TREEMAP, "treemap",
                                                  "Time by the structure of the graph");
    const char *const *names = assay__sketch_layer_names(k);
    for (size_t i = 0; i <= own && !k->failed; i++)
        add_kind(k, names, kinds, i, own);
    f->y_unit = "s";
    f->caption = "Each rectangle is one layer: area shows its time, colour its operator. Layers of "
                 "one block are grouped.";
    f->description = assay__sketch_printf(
        k, "%zu layers; most of their time is in %s: %s in %zu layers.", timed,
        assay__sketch_short(k, kinds[0].op), assay__scaled(kinds[0].time_ns * 1e-9, "s").text,
        kinds[0].layers);
    return assay__sketch_end(k);
}
