/* check_text.c - a check for people: the verdict, what was asked, then errors, warnings and notes,
 * each rule once with the nodes that break it, and the map of what would run where. */
#include "report/check.h"

#include "base/text.h"
#include "report/walk/text_page.h"

#include <assay/profile.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES_SHOWN 3
#define SEGMENTS_SHOWN 12
#define CROSSING_COLUMNS 48 /* of the page, for that column to be shown */
#define NAME_COLUMNS 60
#define INDENT "      "

/* --- the head --------------------------------------------------------------------------------- */

static void put_target(struct assay__page *page, const struct assay__check *check)
{
    struct assay__buf items = {0};
    assay__page_item(&items, "%s", check->target);
    if (check->chip_count == 1)
        assay__page_item(&items, "%s (engine of the %s family)", check->chip,
                         check->chips[0]->name);
    else if (check->chip_count > 1)
        assay__page_item(&items, "every chip from A14 and M1 to A18 and M5%s",
                         strcmp(check->target, "ane") == 0 ? "; --chip asks of one" : "");
    if (*check->asked) assay__page_item(&items, "asked %s", check->asked);
    assay__page_row(page, "target", items.data ? items.data : "");
    assay__buf_free(&items);
}

static void put_model(struct assay__page *page, const struct assay__check *check)
{
    struct assay__buf items = {0};
    const struct assay__model *model = check->model;
    char scaled[64];
    assay__page_item(&items, "%s", model->format && *model->format ? model->format : "ONNX");
    assay__page_item(&items, "%zu node%s", model->graph.node_count,
                     model->graph.node_count == 1 ? "" : "s");
    if (check->partitions.folded)
        assay__page_item(&items, "%zu of them constant", check->partitions.folded);
    if (check->analysis->parameter_bytes >= 0) {
        assay__text_scaled(scaled, sizeof scaled, (double)check->analysis->parameter_bytes, "B");
        assay__page_item(&items, "weights =%s", scaled);
    }
    assay__text_scaled(scaled, sizeof scaled, check->analysis->flops, "FLOP");
    assay__page_item(&items, "=%s%s", scaled, check->analysis->unknown_flops ? " at least" : "");
    for (size_t i = 0; check->planned && i < check->workload->dim_count && i < 4; i++)
        assay__page_item(&items, "%s %lld", check->workload->dims[i].symbol,
                         (long long)check->workload->dims[i].value);
    assay__page_row(page, "model", items.data ? items.data : "");
    if (check->unplanned) assay__page_row(page, "shapes", check->unplanned);
    assay__buf_free(&items);
}

static void put_places(struct assay__page *page, const struct assay__check *check)
{
    const struct assay__check_partitions *p = &check->partitions;
    struct assay__buf items = {0};
    char scaled[64];
    if (!check->has_partitions) return;
    if (check->chip_count > 1) assay__page_item(&items, "on every chip");
    size_t nodes = p->on + p->off + p->unknown;
    assay__page_item(&items, "%zu of %zu node%s", p->on, nodes, nodes == 1 ? "" : "s");
    double share = assay__check_share(p);
    if (isfinite(share)) assay__page_item(&items, "=%.1f %% of the FLOPs", 100 * share);
    if (p->unknown) assay__page_item(&items, "of %zu it is not known", p->unknown);
    if (p->off) assay__page_item(&items, "%zu elsewhere", p->off);
    assay__page_item(&items, "%zu piece%s", p->on_segments, p->on_segments == 1 ? "" : "s");
    if (p->engine_pieces) assay__page_item(&items, "the engine compiles %zu", p->engine_pieces);
    if (p->crossings) {
        assay__text_scaled(scaled, sizeof scaled, p->crossing_bytes, "B");
        assay__page_item(&items, "%zu tensor%s cross%s, =%s%s", p->crossings,
                         p->crossings == 1 ? "" : "s", p->crossings == 1 ? "es" : "", scaled,
                         p->crossing_unsized ? " at least" : "");
    } else {
        assay__page_item(&items, "nothing crosses");
    }
    assay__page_row(page, "stays", items.data ? items.data : "");
    assay__buf_free(&items);
}

static bool same_result(const struct assay__check_chip *a, const struct assay__check_chip *b)
{
    return a->verdict == b->verdict && a->off == b->off && a->on_segments == b->on_segments;
}

/* "A14, M1: WARN, 4 nodes leave, 2 pieces": chips of one result together; nothing when all have the
 * same. */
static void put_by_chip(struct assay__page *page, const struct assay__check *check)
{
    static const char *const words[] = {"pass", "warn", "fail", "no verdict"};
    struct assay__buf text = {0};
    bool differ = false;
    for (size_t i = 1; i < check->chip_count; i++)
        differ |= !same_result(&check->by_chip[0], &check->by_chip[i]);
    for (size_t i = 0; i < check->chip_count && differ; i++) {
        const struct assay__check_chip *one = &check->by_chip[i];
        bool seen = false;
        for (size_t k = 0; k < i; k++)
            seen |= same_result(one, &check->by_chip[k]);
        if (seen) continue;
        assay__buf_puts(&text, text.length ? "; " : "");
        for (size_t k = i; k < check->chip_count; k++)
            if (same_result(one, &check->by_chip[k]))
                assay__buf_printf(&text, "%s%s", k > i ? ", " : "", check->by_chip[k].chip->name);
        assay__buf_printf(&text, ": %s, ", words[one->verdict]);
        if (one->off)
            assay__buf_printf(&text, "%zu node%s leave%s, %zu piece%s", one->off,
                              one->off == 1 ? "" : "s", one->off == 1 ? "s" : "", one->on_segments,
                              one->on_segments == 1 ? "" : "s");
        else
            assay__buf_puts(&text, "none leaves");
    }
    if (text.length) assay__page_row(page, "by chip", text.data);
    assay__buf_free(&text);
}

/* --- rules ------------------------------------------------------------------------------------ */

/* Items of one rule, severity and set of chips stand together. */
static size_t group_end(const struct assay__check *check, size_t first)
{
    const struct assay__check_item *items = check->items;
    size_t end = first + 1;
    while (end < check->item_count && items[end].rule == items[first].rule &&
           items[end].severity == items[first].severity)
        end++;
    return end;
}

/* The chips on which all items of a group fail; NULL: they differ. */
static const char *group_chips(const struct assay__check *check, size_t first, size_t end)
{
    for (size_t i = first + 1; i < end; i++)
        if (strcmp(check->items[i].chips, check->items[first].chips) != 0) return NULL;
    return check->items[first].chips;
}

static void put_group_head(struct assay__page *page, const struct assay__check *check, size_t first,
                           size_t end)
{
    const struct assay__check_item *item = &check->items[first];
    struct assay__buf text = {0};
    double bytes = 0;
    char scaled[64];
    for (size_t i = first; i < end; i++)
        if (isfinite(check->items[i].bytes)) bytes += check->items[i].bytes;
    assay__buf_printf(&text, "%s", item->rule->title);
    if (end - first > 1) assay__buf_printf(&text, " × %zu", end - first);
    if (end - first > 1 && bytes > 0) {
        assay__text_scaled(scaled, sizeof scaled, bytes, "B");
        assay__buf_printf(&text, ", together %s", scaled);
    }
    const char *chips = group_chips(check, first, end);
    if (chips && *chips) assay__buf_printf(&text, " — on %s", chips);
    assay__buf_printf(&text, " [%s]", item->rule->id);
    assay__page_wrap(page,
                     item->severity == ASSAY__CHECK_ERROR     ? ASSAY__STYLE_FAULT
                     : item->severity == ASSAY__CHECK_WARNING ? ASSAY__STYLE_WARN
                                                              : ASSAY__STYLE_PLAIN,
                     "  ", text.data ? text.data : "");
    assay__buf_free(&text);
}

static void put_item(struct assay__page *page, const struct assay__check_item *item, bool chips)
{
    struct assay__buf text = {0};
    if (*item->name && *item->op) assay__buf_printf(&text, "%s (%s): ", item->name, item->op);
    assay__buf_puts(&text, item->reason);
    if (chips && *item->chips) assay__buf_printf(&text, " (on %s)", item->chips);
    assay__page_wrap(page, ASSAY__STYLE_PLAIN, "    ", text.data ? text.data : "");
    assay__buf_free(&text);
}

static void put_group(struct assay__page *page, const struct assay__check *check,
                      const struct assay__check_view *view, size_t first, size_t end)
{
    const struct assay__check_rule *rule = check->items[first].rule;
    struct assay__buf text = {0};
    size_t shown = view->all || end - first <= NODES_SHOWN + 1 ? end : first + NODES_SHOWN;
    put_group_head(page, check, first, end);
    for (size_t i = first; i < shown; i++)
        put_item(page, &check->items[i], !group_chips(check, first, end));
    if (shown < end) {
        assay__buf_printf(&text, "and %zu more (--all shows them)", end - shown);
        assay__page_wrap(page, ASSAY__STYLE_DIM, "    ", text.data ? text.data : "");
        assay__buf_clear(&text);
    }
    assay__buf_printf(&text, "fix: %s", rule->fix);
    assay__page_wrap(page, ASSAY__STYLE_PLAIN, INDENT, text.data ? text.data : "");
    assay__buf_clear(&text);
    assay__buf_printf(&text, "source: %s", rule->source);
    if (rule->basis == ASSAY__BASIS_SINGLE || rule->basis == ASSAY__BASIS_SEVERAL)
        assay__buf_printf(&text, " (%s)", assay__check_basis_name(rule->basis));
    assay__page_wrap(page, ASSAY__STYLE_DIM, INDENT, text.data ? text.data : "");
    assay__buf_free(&text);
}

static void put_severity(struct assay__page *page, const struct assay__check *check,
                         const struct assay__check_view *view, enum assay__check_severity severity)
{
    static const char *const titles[] = {"Errors", "Warnings", "Notes"};
    size_t first = 0;
    char remark[64];
    while (first < check->item_count && check->items[first].severity != severity)
        first++;
    if (first == check->item_count) return;
    size_t rules = assay__check_groups(check, severity),
           items = assay__check_count(check, severity);
    if (items > rules)
        snprintf(remark, sizeof remark, "%zu, in %zu places", rules, items);
    else
        snprintf(remark, sizeof remark, "%zu", rules);
    assay__page_heading(page, titles[severity], remark);
    while (first < check->item_count && check->items[first].severity == severity) {
        size_t end = group_end(check, first);
        put_group(page, check, view, first, end);
        first = end;
    }
}

/* --- the map ---------------------------------------------------------------------------------- */

static void put_segment(struct assay__page *page, const struct assay__check *check, size_t index)
{
    const struct assay__check_segment *s = &check->partitions.segments[index];
    const struct assay__graph *graph = &check->model->graph;
    struct assay__buf line = {0};
    char cell[64];
    int name_columns = page->columns >= NAME_COLUMNS ? page->columns - 46 : 0;
    assay__buf_printf(&line, "%s%s", assay__check_node_name(&graph->nodes[s->first]),
                      s->nodes > 1 ? " … " : "");
    if (s->nodes > 1) assay__buf_puts(&line, assay__check_node_name(&graph->nodes[s->last]));
    assay__buf_puts(page->out, "  ");
    assay__page_fit(page, s->on ? check->target : "elsewhere", 14, 0);
    snprintf(cell, sizeof cell, "%zu", s->nodes);
    assay__page_right(page, cell, 6);
    assay__text_scaled(cell, sizeof cell, s->flops, "FLOP");
    assay__page_right(page, cell, 12);
    if (s->in_bytes > 0 || isnan(s->in_bytes))
        assay__text_scaled(cell, sizeof cell, s->in_bytes, "B");
    else
        snprintf(cell, sizeof cell, "%s", "");
    if (page->columns >= CROSSING_COLUMNS) assay__page_right(page, cell, 10);
    assay__buf_puts(page->out, "  ");
    if (name_columns > 8) assay__page_fit_middle(page, line.data ? line.data : "", name_columns);
    while (page->out->length && page->out->data[page->out->length - 1] == ' ')
        page->out->data[--page->out->length] = '\0';
    assay__buf_puts(page->out, "\n");
    assay__buf_free(&line);
}

static void put_inferred(struct assay__page *page, const struct assay__check *check)
{
    struct assay__buf text = {0};
    if (!check->partitions.inferred) return;
    assay__buf_printf(&text,
                      "By exclusion: ONNX Runtime's record leaves out what this provider takes in "
                      "another layout. %zu nodes that it names for no other provider are counted "
                      "as this one's.",
                      check->partitions.inferred);
    assay__buf_puts(page->out, "\n");
    assay__page_wrap(page, ASSAY__STYLE_DIM, "", text.data ? text.data : "");
    assay__buf_free(&text);
}

static void put_map(struct assay__page *page, const struct assay__check *check,
                    const struct assay__check_view *view)
{
    const struct assay__check_partitions *p = &check->partitions;
    struct assay__buf text = {0};
    if (!check->has_partitions || p->segment_count < 2) return;
    assay__page_heading(page, "Partitions",
                        strcmp(p->method, "engine") == 0 ? "as the engine assigned the nodes"
                                                         : "as the rules above would have it");
    assay__page_style(page, ASSAY__STYLE_DIM);
    assay__buf_puts(page->out, "  where          nodes       FLOPs");
    if (page->columns >= CROSSING_COLUMNS) assay__buf_puts(page->out, " crosses in");
    if (page->columns >= NAME_COLUMNS) assay__buf_puts(page->out, "  from … to");
    assay__buf_puts(page->out, "\n");
    assay__page_style(page, ASSAY__STYLE_PLAIN);
    size_t shown = view->all || p->segment_count <= SEGMENTS_SHOWN + 1 ? p->segment_count
                                                                       : SEGMENTS_SHOWN;
    for (size_t i = 0; i < shown; i++)
        put_segment(page, check, i);
    if (shown < p->segment_count)
        assay__buf_printf(&text, "and %zu more (--all shows them). ", p->segment_count - shown);
    if (p->unknown)
        assay__buf_printf(&text,
                          "Nodes of which it is not known are counted as staying; if they leave "
                          "too, %zu piece%s stay. ",
                          p->on_segments_most, p->on_segments_most == 1 ? "" : "s");
    if (p->merged)
        assay__buf_printf(&text,
                          "%zu nodes were merged into others by the engine and are counted with "
                          "those that feed them. ",
                          p->merged);
    if (text.length) assay__page_wrap(page, ASSAY__STYLE_DIM, "  ", text.data);
    assay__buf_free(&text);
}

void assay__check_text(const struct assay__check *check, const struct assay__check_view *view,
                       struct assay__buf *out)
{
    bool narrow = view->columns < ASSAY__PAGE_MIN_COLUMNS;
    size_t start = out->length;
    struct assay__page page = {.out = out,
                               .columns = narrow ? ASSAY__PAGE_MIN_COLUMNS : view->columns,
                               .color = view->color,
                               .ascii = view->ascii,
                               .top = -1};
    struct assay__buf text = {0};
    assay__buf_printf(&text, "assay %s", assay_version());
    assay__page_title(&page, view->name, text.data ? text.data : "");
    assay__buf_clear(&text);
    assay__check_answer(&text, check);
    assay__page_wrap(&page,
                     check->verdict == ASSAY__CHECK_FAIL   ? ASSAY__STYLE_FAULT
                     : check->verdict == ASSAY__CHECK_PASS ? ASSAY__STYLE_BOLD
                                                           : ASSAY__STYLE_WARN,
                     "", text.data ? text.data : "");
    put_target(&page, check);
    put_model(&page, check);
    put_places(&page, check);
    put_by_chip(&page, check);
    for (int s = ASSAY__CHECK_ERROR; s <= ASSAY__CHECK_NOTE; s++)
        put_severity(&page, check, view, (enum assay__check_severity)s);
    put_map(&page, check, view);
    put_inferred(&page, check);
    if (check->chip_count || *check->unasked) assay__buf_puts(out, "\n");
    if (*check->unasked)
        assay__page_wrap(&page, ASSAY__STYLE_DIM, "",
                         "'assay devices' shows which devices can be asked here, and what the "
                         "others lack.");
    if (check->chip_count)
        assay__page_wrap(&page, ASSAY__STYLE_DIM, "",
                         "From published sources; nothing here was run on a Mac. Core ML decides: "
                         "look at its compute plan there.");
    if (text.failed) out->failed = true;
    if (view->ascii) assay__page_to_ascii(out, start);
    assay__buf_free(&text);
}
