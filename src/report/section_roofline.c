/* section_roofline.c - each hot layer against what the device can do: a sentence, the picture, and
 * a table of the layers in it. Computed from the profile's ceilings when it is rendered
 * (cost/roofline.h, doc/roofline.md). */
#include "report/sections.h"

#include "base/text.h"
#include "cost/roofline.h"
#include "report/figure/figure_text.h"
#include "report/figure/figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 10

struct shown {
    const struct assay__layer *layer;
    const struct assay__roofline_layer *placed;
    char letter; /* ' ': it cannot be placed */
};

/* --- sentences -------------------------------------------------------------------------------- */

/* "Of the time in layers 62 % is bound by memory, 30 % by compute, 8 % is overhead." */
static void put_sentence(struct assay__page *page, const struct assay__roofline *r)
{
    static const char *const words[ASSAY__BOUND_COUNT] = {"bound by compute", "bound by memory",
                                                          "overhead", "of unknown bound"};
    struct assay__buf text = {0};
    bool done[ASSAY__BOUND_COUNT] = {false};
    double all = 0;
    for (int b = 0; b < ASSAY__BOUND_COUNT; b++)
        all += r->time_ns[b];
    for (;;) {
        int most = -1;
        for (int b = 0; b < ASSAY__BOUND_COUNT; b++)
            if (!done[b] && r->time_ns[b] >= 0.0005 * all &&
                (most < 0 || r->time_ns[b] > r->time_ns[most]))
                most = b;
        if (most < 0) break;
        done[most] = true;
        double share = r->time_ns[most] / all;
        assay__buf_printf(&text, "%s%.*f %% is %s", text.length ? ", " : "Of the time in layers ",
                          share < 0.0095 || (share >= 0.995 && share < 0.9995) ? 1 : 0, share * 100,
                          words[most]);
    }
    assay__buf_puts(&text, ". At their roofs the layers would take ");
    assay__render_ns(&text, r->least_ns);
    assay__buf_puts(&text, " instead of ");
    assay__render_ns(&text, r->least_of_ns);
    assay__buf_printf(&text, " (%.0f %%).", r->least_ns / r->least_of_ns * 100);
    assay__page_wrap(page, ASSAY__STYLE_PLAIN, "  ", text.data ? text.data : "");
    assay__buf_free(&text);
}

static void put_roofs(struct assay__page *page, const struct assay__roofline *r,
                      const struct shown *shown, size_t count)
{
    struct assay__buf items = {0}, text = {0};
    char scaled[64];
    const struct assay__roof *seen[SHOWN] = {0};
    size_t seen_count = 0;
    for (size_t i = 0; i <= count; i++) {
        const struct assay__roof *roof = i < count ? shown[i].placed->peak : r->peak;
        bool again = !roof || seen_count == SHOWN;
        for (size_t s = 0; s < seen_count && !again; s++)
            again = seen[s] == roof;
        if (again) continue;
        seen[seen_count++] = roof;
        bool integer = strcmp(roof->kind, "int8") == 0;
        assay__text_scaled(scaled, sizeof scaled, roof->value, integer ? "OP/s" : "FLOP/s");
        assay__page_item(&items, "%s %s", roof->label, scaled);
    }
    for (size_t i = 0; i < r->level_count; i++) {
        assay__text_scaled(scaled, sizeof scaled, r->levels[i].value, "B/s");
        assay__page_item(&items, "%s %s", r->levels[i].label, scaled);
        if (!isfinite(r->levels[i].holds_bytes)) continue;
        assay__text_scaled(scaled, sizeof scaled, r->levels[i].holds_bytes, "B");
        assay__buf_printf(&items, ASSAY__PAGE_NBSP "(%s)", scaled);
    }
    if (r->weights) {
        assay__text_scaled(scaled, sizeof scaled, r->weights->value, "B/s");
        assay__page_item(&items, "weights from %s %s", r->weights->label, scaled);
    }
    if (items.length) assay__page_row(page, "roofs", items.data);
    assay__buf_printf(&text, "%s; %s: %s", r->cores_note, r->type, r->type_from);
    if (r->peak_note[0]) assay__buf_printf(&text, "; %s", r->peak_note);
    assay__page_row(page, "", text.data ? text.data : "");
    assay__buf_free(&items);
    assay__buf_free(&text);
}

/* Layers that are faster than their roof, and those that cannot be judged with the first reason. */
static void put_remarks(struct assay__page *page, const struct assay__roofline *r)
{
    struct assay__buf text = {0};
    const char *why = "";
    size_t unknown = 0;
    for (size_t i = r->layer_count; i-- > 0;)
        if (r->layers[i].bound == ASSAY__BOUND_UNKNOWN) {
            unknown++;
            why = r->layers[i].reason;
        }
    if (r->above) {
        assay__buf_printf(
            &text,
            "%zu layer%s faster than %s roof: bytes are counted as if nothing stayed "
            "in a cache, FLOPs as the operators define them, and the ceiling may have "
            "been measured on a busier machine",
            r->above, r->above == 1 ? " is" : "s are", r->above == 1 ? "its" : "their");
        assay__page_wrap(page, ASSAY__STYLE_PLAIN, "  ", text.data ? text.data : "");
        assay__buf_clear(&text);
    }
    if (unknown) {
        assay__buf_printf(&text, "%zu layer%s of unknown bound, the first because %s", unknown,
                          unknown == 1 ? "" : "s", why);
        assay__page_wrap(page, ASSAY__STYLE_PLAIN, "  ", text.data ? text.data : "");
    }
    assay__buf_free(&text);
}

/* --- table ------------------------------------------------------------------------------------ */

/* "180 G": the unit stands in the heading; "—" unknown or none. */
static void put_scaled(struct assay__page *page, double value, int columns)
{
    char scaled[64] = "—";
    if (isfinite(value)) {
        assay__text_scaled(scaled, sizeof scaled, value, "FLOP/s");
        char *unit = strstr(scaled, "FLOP/s");
        if (unit) *unit = 0;
        if (unit && unit > scaled && unit[-1] == ' ') unit[-1] = 0;
    }
    assay__page_right(page, scaled, columns);
}

static void put_ratio(struct assay__page *page, double ratio, int columns)
{
    char text[32] = "—";
    if (ratio > 0 && ratio < 0.0005)
        snprintf(text, sizeof text, "<0.1 %%");
    else if (isfinite(ratio))
        snprintf(text, sizeof text, ratio < 0.0995 ? "%.1f %%" : "%.0f %%", ratio * 100);
    assay__page_right(page, text, columns);
}

static int name_columns(const struct assay__page *page)
{
    int room = page->columns - 55;
    return room < 12 ? 12 : room > 60 ? 60 : room;
}

static bool wide(const struct assay__page *page)
{
    return page->columns >= 74;
}

static void put_head(struct assay__page *page)
{
    assay__page_style(page, ASSAY__STYLE_DIM);
    assay__buf_puts(page->out, "    ");
    assay__page_fit(page, "layer", wide(page) ? name_columns(page) : page->columns - 32, 0);
    assay__page_right(page, "share", 7);
    if (wide(page)) {
        assay__page_right(page, "FLOP/B", 7);
        assay__page_right(page, "FLOP/s", 8);
        assay__page_right(page, "at most", 8);
    }
    assay__page_right(page, "of roof", 8);
    assay__buf_puts(page->out, "  bound");
    assay__page_style(page, ASSAY__STYLE_PLAIN);
    assay__buf_putc(page->out, '\n');
}

static void put_shown(struct assay__page *page, const struct shown *s, double p50_ns)
{
    const struct assay__roofline_layer *l = s->placed;
    char intensity[32] = "—";
    if (isfinite(l->intensity))
        snprintf(intensity, sizeof intensity, l->intensity < 9.995 ? "%.2f" : "%.0f", l->intensity);
    if (l->intensity == 0) snprintf(intensity, sizeof intensity, "none");
    assay__buf_printf(page->out, "  %c ", s->letter);
    assay__page_fit_middle(page, assay__render_layer_title(s->layer),
                           wide(page) ? name_columns(page) : page->columns - 32);
    put_ratio(page, s->layer->time_ns / p50_ns, 7);
    if (wide(page)) {
        assay__page_right(page, intensity, 7);
        put_scaled(page, l->rate, 8);
        put_scaled(page, l->attainable, 8);
    }
    put_ratio(page, l->utilization, 8);
    assay__buf_printf(page->out, "  %s", assay__bound_name(l->bound));
    if (l->bound == ASSAY__BOUND_MEMORY && l->level && strlen(l->level->kind) < 5)
        assay__buf_printf(page->out, " %s", l->level->kind);
    assay__buf_putc(page->out, '\n');
}

/* --- together --------------------------------------------------------------------------------- */

/* Whether it has a place in the picture (figures_roofline.c): it computes and moves something, in
 * numbers that a machine could have. */
static bool placeable(const struct assay__roofline_layer *layer)
{
    return layer->rate > 1e-12 && layer->rate < 1e24 && layer->intensity > 1e-12 &&
           layer->intensity < 1e24;
}

static size_t choose(const struct assay__layers *layers, const size_t *order,
                     const struct assay__roofline *r, struct shown *shown)
{
    size_t count = 0;
    char letter = 'A';
    for (size_t i = 0; i < layers->count && count < SHOWN; i++) {
        const struct assay__layer *layer = &layers->items[order[i]];
        const struct assay__roofline_layer *placed = &r->layers[order[i]];
        if (layer->state == ASSAY_UNAVAILABLE || !isfinite(layer->time_ns)) continue;
        bool place = placeable(placed);
        shown[count++] = (struct shown){layer, placed, place ? letter++ : ' '};
    }
    return count;
}

static void put_section(struct assay__page *page, const struct assay_profile *profile,
                        const struct assay__trial *trial, const struct assay__roofline *r,
                        struct assay__arena *arena)
{
    struct shown shown[SHOWN];
    struct assay__figure figure;
    size_t *order = assay__render_layer_order(&trial->layers), point_count = 0;
    const struct assay_metric *p50 = assay__trial_metric(trial, "latency.p50");
    if (!order) {
        page->out->failed = true;
        return;
    }
    size_t count = choose(&trial->layers, order, r, shown);
    struct assay__buf remark = {0};
    assay__buf_printf(&remark, "the %zu slowest layers against the ceilings of %s", count,
                      profile->ceilings[0].measured_at && profile->ceilings[0].measured_at[0]
                          ? profile->ceilings[0].measured_at
                          : "this device");
    assay__page_heading(page, "Roofline", remark.data ? remark.data : "");
    put_sentence(page, r);
    for (size_t i = 0; i < count; i++)
        point_count += shown[i].letter != ' ';
    if (point_count) assay__buf_putc(page->out, '\n');
    int code = assay__figure_roofline_of(profile, trial, point_count, arena, &figure, NULL);
    if (code == ASSAY_ENOMEM) page->out->failed = true;
    if (!code) assay__text_roofline(page, &figure);
    put_head(page);
    for (size_t i = 0; i < count; i++)
        put_shown(page, &shown[i], p50 ? p50->value * 1e9 : (double)NAN);
    put_roofs(page, r, shown, count);
    put_remarks(page, r);
    assay__buf_free(&remark);
    free(order);
}

void assay__section_roofline(struct assay__page *page, const struct assay_profile *profile,
                             const struct assay__trial *trial)
{
    struct assay__roofline r;
    if (!profile->ceiling_count || !trial->layers.count) return;
    struct assay__arena *arena = assay__arena_new();
    if (!arena || assay__roofline(profile, trial, arena, &r))
        page->out->failed = true;
    else if (!r.reason[0] && r.time_ns[ASSAY__BOUND_COMPUTE] + r.time_ns[ASSAY__BOUND_MEMORY] +
                                     r.time_ns[ASSAY__BOUND_OVERHEAD] >
                                 0)
        put_section(page, profile, trial, &r, arena);
    assay__arena_free(arena);
}
