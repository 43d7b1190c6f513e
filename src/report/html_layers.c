/* html_layers.c - the layers: picture, table (longest first), and their place under the roofs. At
 * most ASSAY__HTML_ROWS layers stand in the page as rows; the script makes the others from the
 * data, and a reader without it is told. */
#include "report/html_sections.h"

#include "base/text.h"
#include "cost/roofline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool time_known(const struct assay__layer *layer)
{
    return layer->state != ASSAY_UNAVAILABLE && isfinite(layer->time_ns);
}

/* A bar as long as the share of the longest layer, then the share in words. */
static void put_share(struct assay__html *page, double share, double longest)
{
    if (!isfinite(share)) {
        assay__buf_puts(&page->body, "<td class=\"n\">—</td>");
        return;
    }
    assay__buf_puts(&page->body, "<td class=\"n share\">");
    /* one of fifty widths: a class costs a browser less than a picture in every row */
    if (longest > 0 && share > 0)
        assay__buf_printf(&page->body, "<i class=\"w%d\"></i>",
                          (int)fmax(1, round(share / longest * 50)));
    assay__buf_printf(&page->body, "%.*f %%</td>", fabs(share) < 0.0995 ? 2 : 1, share * 100);
}

/* A short name of ASCII letters needs no isolation: a thousand rows have two thousand elements
 * less. */
static void put_word(struct assay__buf *out, const char *name)
{
    enum { MOST = 24 };
    size_t length = name ? strlen(name) : 0;
    bool plain = length > 0 && length <= MOST;
    for (size_t i = 0; plain && i < length; i++)
        plain = name[i] > ' ' && name[i] < 0x7f;
    if (plain)
        assay__html_text(out, name);
    else
        assay__html_name(out, name);
}

/* "CPU" of "CPUExecutionProvider": the engine's names all end alike, and the column is narrow. */
static void put_provider(struct assay__buf *out, const char *provider)
{
    static const char end[] = "ExecutionProvider";
    size_t length = provider ? strlen(provider) : 0, tail = sizeof end - 1;
    char name[64];
    bool known = length > tail && length - tail < sizeof name &&
                 strcmp(provider + length - tail, end) == 0;
    if (known) snprintf(name, sizeof name, "%.*s", (int)(length - tail), provider);
    put_word(out, known ? name : length ? provider : "—");
}

static void put_layer(struct assay__html *page, const struct assay__layer *l, const char *prefix,
                      double longest)
{
    struct assay__buf *out = &page->body;
    bool known = time_known(l);
    assay__buf_printf(out, "<tr id=\"%slayer-%d\"><td class=\"n\">%d</td><th scope=\"row\">",
                      prefix, l->index, l->index);
    assay__buf_printf(out, "<a href=\"#%slayer-%d\">", prefix, l->index);
    assay__html_name(out, assay__render_layer_title(l));
    assay__buf_puts(out, "</a></th>");
    assay__html_cell_number(page, known ? l->time_ns / 1e9 : (double)NAN, "s",
                            assay__render_mark(l->state));
    put_share(page, known ? l->share : (double)NAN, longest);
    assay__buf_puts(out, "<td>");
    put_word(out, l->op);
    if (l->from_count > 1)
        assay__buf_printf(out, "<span class=\"o\">+%zu</span>", l->from_count - 1);
    assay__buf_puts(out, "</td><td>");
    put_provider(out, l->provider);
    assay__buf_puts(out, "</td>");
    assay__html_cell_number(page, l->flops, "FLOP", "=");
    assay__html_cell_number(page, l->bytes, "B", "=");
    assay__buf_puts(out, "<td>");
    assay__html_text(out,
                     l->bound && *l->bound && strcmp(l->bound, "unknown") != 0 ? l->bound : "—");
    assay__buf_puts(out, "</td><td>");
    assay__html_text(out, l->method && *l->method ? l->method : "—");
    assay__buf_puts(out, "</td></tr>\n");
}

/* The engine's own part and what is left: rows like any other. */
static void put_extra(struct assay__html *page, const char *id, const char *name, const char *mark,
                      double time_ns, double p50_ns)
{
    if (!isfinite(time_ns)) return;
    assay__buf_printf(
        &page->body,
        "<tr id=\"%s\" class=\"extra\"><td class=\"n\">—</td><th scope=\"row\">%s</th>", id, name);
    assay__html_cell_number(page, time_ns / 1e9, "s", mark);
    put_share(page, time_ns / p50_ns, 0);
    assay__buf_puts(&page->body, "<td>—</td><td>—</td><td class=\"n\">—</td><td class=\"n\">—</td>"
                                 "<td>—</td><td>—</td></tr>\n");
}

static double longest_share(const struct assay__layers *layers)
{
    double longest = 0;
    for (size_t i = 0; i < layers->count; i++)
        if (time_known(&layers->items[i]) && layers->items[i].share > longest)
            longest = layers->items[i].share;
    return longest;
}

void assay__html_layer_table(struct assay__html *page, const struct assay__trial *trial,
                             size_t rows, const char *prefix)
{
    const struct assay__layers *layers = &trial->layers;
    const char *mark = "";
    char id[48], extra[64];
    size_t *order = assay__render_layer_order(layers);
    if (!order && layers->count) page->body.failed = true;
    double total_ns = assay__render_layer_total(trial, &mark), longest = longest_share(layers);
    if (rows > layers->count) rows = layers->count;
    if (rows < layers->count) {
        struct assay__buf text = {0};
        assay__buf_puts(&text, "The ");
        assay__render_count(&text, (int64_t)rows);
        assay__buf_puts(&text, " longest of ");
        assay__render_count(&text, (int64_t)layers->count);
        assay__buf_puts(&text,
                        " layers stand here; with JavaScript the others can be shown, sorted and "
                        "searched, and all are in the data at the end of the page.");
        assay__html_paragraph(page, "note", text.data);
        assay__buf_free(&text);
    }
    snprintf(id, sizeof id, "%slayer-table", prefix);
    assay__buf_printf(&page->body, "<div data-trial=\"%d\" data-count=\"%zu\">\n", trial->id,
                      layers->count);
    assay__html_table(page, id, "layers", "Layers, longest first",
                      ">#|Layer|>Time|>Share|Operator|Provider|>FLOP|>Bytes|Bound|Method");
    for (size_t i = 0; order && i < rows; i++)
        put_layer(page, &layers->items[order[i]], prefix, longest);
    snprintf(extra, sizeof extra, "%slayer-engine", prefix);
    put_extra(page, extra, "engine per run", "", layers->engine_ns, total_ns);
    snprintf(extra, sizeof extra, "%slayer-unattributed", prefix);
    put_extra(page, extra, "unattributed", "=", layers->unattributed_ns, total_ns);
    assay__html_table_end(page);
    assay__buf_puts(&page->body, "</div>\n");
    free(order);
}

/* How the times were taken and what that cost. */
static void put_method(struct assay__html *page, const struct assay__layers *layers)
{
    struct assay__buf text = {0};
    assay__buf_puts(&text, "Layers ");
    assay__render_layer_method(&text, layers);
    if (layers->sessions > 0)
        assay__buf_printf(&text, ", in %d pass%s", layers->sessions,
                          layers->sessions == 1 ? "" : "es");
    if (layers->discarded > 0) assay__buf_printf(&text, " (%d thrown away)", layers->discarded);
    if (isfinite(layers->slowdown))
        assay__buf_printf(&text, "; a run with it took %.2f times as long", layers->slowdown);
    if (fabs(layers->scale_factor - 1) >= 0.005)
        assay__buf_printf(&text, "; node times were multiplied by %s to meet what brackets them",
                          assay__digits(layers->scale_factor, 3).text);
    if (isfinite(layers->spread))
        assay__buf_printf(&text, "; their sum varies by %s %% between passes",
                          assay__digits(layers->spread * 100, 2).text);
    assay__buf_puts(
        &text,
        ". Shares are of the median of the run without it. Press a layer for what is known of it.");
    assay__html_paragraph(page, "note", text.data);
    assay__html_paragraph(page, "note", layers->reason);
    assay__buf_free(&text);
}

/* What hovering would say of every number of the table, once. */
static void put_columns(struct assay__html *page)
{
    static const char *const rows[][2] = {
        {"Time", "of one inference, the median over the timed runs; — with the reason in the "
                 "layer's details when it is not known"},
        {"Share", "time / latency.p50 of the run without any timing of layers; the bar is against "
                  "the longest layer"},
        {"Operator", "+2: two more nodes of the model are fused into this layer"},
        {"FLOP", "from the operator and the fixed shapes; a multiply-add counts as 2"},
        {"Bytes", "what the operator reads and writes, each once, weights too"},
        {"Bound", "what holds it back under the measured roofs: compute, memory or overhead"},
        {"Method", "how the time was taken"},
        {"engine per run", "the engine's fixed cost of one run, whatever the model"},
        {"unattributed",
         "latency.p50 less the layers less the engine; negative when they sum to more"},
    };
    assay__buf_puts(&page->body, "<details><summary>What the columns are</summary>\n");
    assay__html_facts(page);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assay__html_fact(page, rows[i][0], rows[i][1]);
    assay__html_facts_end(page);
    assay__buf_puts(&page->body, "</details>\n");
}

void assay__html_layers(struct assay__html *page, const struct assay_profile *profile,
                        const struct assay__trial *trial)
{
    const struct assay__layers *layers = &trial->layers;
    assay__html_section(page, "layers", "Layers", ASSAY__HTML_LAYERS);
    if (layers->count) {
        if (!assay__html_figure(page, profile, trial, "layers", true))
            assay__html_figure(page, profile, trial, "treemap", false);
        put_method(page, layers);
        put_columns(page);
        assay__html_layer_table(page, trial, ASSAY__HTML_ROWS, "");
    } else {
        assay__html_paragraph(page, "note",
                              layers->reason && *layers->reason ? layers->reason
                              : trial->generation.tokens
                                  ? "The layers are not timed while it generates."
                                  : "The layers were not timed: --layers times them.");
    }
    assay__html_section_end(page);
}

/* --- roofline --------------------------------------------------------------------------------- */

static void put_bounds(struct assay__html *page, const struct assay__roofline *r)
{
    static const char *const words[ASSAY__BOUND_COUNT] = {"bound by compute", "bound by memory",
                                                          "overhead", "of unknown bound"};
    struct assay__buf text = {0};
    double all = 0;
    for (int b = 0; b < ASSAY__BOUND_COUNT; b++)
        all += r->time_ns[b];
    if (!(all > 0)) return;
    for (int b = 0; b < ASSAY__BOUND_COUNT; b++)
        if (r->time_ns[b] >= 0.0005 * all)
            assay__buf_printf(&text, "%s%s %% is %s", text.length ? ", " : "Of the time in layers ",
                              assay__digits(r->time_ns[b] / all * 100, 3).text, words[b]);
    assay__buf_puts(&text, ". At their roofs the layers would take ");
    assay__render_ns(&text, r->least_ns);
    assay__buf_puts(&text, " instead of ");
    assay__render_ns(&text, r->least_of_ns);
    assay__buf_puts(&text, ".");
    assay__html_paragraph(page, "answer small", text.data);
    if (r->above) {
        assay__buf_clear(&text);
        assay__buf_printf(
            &text,
            "%zu layer%s above %s roof: that is no good result but an error of FLOPs, bytes "
            "or ceiling (bytes count as if nothing stayed in a cache; the ceiling may be "
            "from a busier machine).",
            r->above, r->above == 1 ? " is" : "s are", r->above == 1 ? "its" : "their");
        assay__html_paragraph(page, "alert", text.data);
    }
    assay__buf_free(&text);
}

static void put_roofs(struct assay__html *page, const struct assay__roofline *r)
{
    struct assay__buf text = {0};
    assay__html_table(page, "", NULL, "The roofs: what the device can do at most, as measured",
                      "Roof|Ceiling|>At most|>Holds");
    for (size_t i = 0; i < r->level_count + 2; i++) {
        const struct assay__roof *roof = i == 0                ? r->peak
                                         : i <= r->level_count ? &r->levels[i - 1]
                                                               : r->weights;
        if (!roof) continue;
        assay__html_row(page, "");
        assay__buf_clear(&text);
        assay__buf_printf(&text, "%s%s", i > r->level_count ? "weights from " : "", roof->label);
        assay__html_cell_name(page, text.data);
        assay__html_cell_text(page, roof->name);
        assay__html_cell_number(page, roof->value, i == 0 ? "FLOP/s" : "B/s", "");
        if (i == 0)
            assay__buf_puts(&page->body, "<td class=\"n\"></td>");
        else
            assay__html_cell_number(page, roof->holds_bytes, "B", "");
        assay__html_row_end(page);
    }
    assay__html_table_end(page);
    assay__buf_clear(&text);
    assay__buf_printf(&text, "%s; %s: %s%s%s", r->cores_note, r->type, r->type_from,
                      r->peak_note[0] ? "; " : "", r->peak_note);
    assay__html_paragraph(page, "note", text.data);
    assay__buf_free(&text);
}

void assay__html_roofline(struct assay__html *page, const struct assay_profile *profile,
                          const struct assay__trial *trial)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__roofline r;
    if (!arena || assay__roofline(profile, trial, arena, &r)) {
        page->body.failed = true;
        goto out;
    }
    assay__html_section(page, "roofline", "Roofline", ASSAY__HTML_LAYERS);
    if (r.reason[0]) {
        assay__html_paragraph(page, "note", r.reason);
    } else {
        put_bounds(page, &r);
        assay__html_figure(page, profile, trial, "roofline", true);
        put_roofs(page, &r);
    }
    assay__html_section_end(page);
out:
    assay__arena_free(arena);
}
