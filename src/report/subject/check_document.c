/* check_document.c - a check as a document: the verdict, what was checked, then errors, warnings
 * and notes, each rule once with the nodes that break it, and the map of what would run where. */
#include "report/report_model.h"

#include "base/text.h"
#include "judge/headline.h"

#include <math.h>
#include <string.h>

/* --- the verdict ------------------------------------------------------------------------------ */

/* Items of one rule and severity are adjacent: a group. */
static size_t group_end(const struct assay__check *check, size_t first)
{
    const struct assay__check_item *items = check->items;
    size_t end = first + 1;
    while (end < check->item_count && items[end].rule == items[first].rule &&
           items[end].severity == items[first].severity)
        end++;
    return end;
}

static size_t group_count(const struct assay__check *check, enum assay__check_severity severity)
{
    size_t groups = 0;
    for (size_t i = 0; i < check->item_count; i = group_end(check, i))
        groups += check->items[i].severity == severity;
    return groups;
}

/* Where nodes run is only valid for the assumed shapes; if these are a range, nothing is shown. */
static bool has_open_inputs(const struct assay__check *check)
{
    for (size_t i = 0; i < check->item_count; i++)
        if (strcmp(check->items[i].rule->id, "dynamic-input") == 0) return true;
    return false;
}

static const char *verdict_word(enum assay__check_verdict verdict)
{
    static const char *const words[] = {"pass", "warn", "fail", "no verdict"};
    return words[verdict];
}

/* What stays on the target: "100 %" only if all of it does. */
static void put_share(struct assay__buf *out, const struct assay__check *check)
{
    const struct assay__check_partitions *p = &check->partitions;
    size_t nodes = p->on + p->off + p->unknown;
    const char *target = strcmp(check->target, "ane") == 0 ? "the Neural Engine" : check->target;
    double share = assay__check_share(p);
    if (!check->has_partitions) return;
    if (!nodes) {
        assay__buf_puts(out, "; no node runs, everything is constant");
        return;
    }
    if (!p->off && !p->unknown && check->verdict == ASSAY__CHECK_FAIL) return;
    if (!p->off && !p->unknown)
        assay__buf_printf(out,
                          strcmp(p->method, "engine") == 0 ? "; every node runs on %s"
                                                           : "; every node may run on %s",
                          target);
    else if (isfinite(share))
        assay__buf_printf(out, share < 1 ? "; %.1f %% of FLOPs %s %s" : "; %.0f %% of FLOPs %s %s",
                          share < 1 ? fmin(100 * share, 99.9) : 100,
                          p->unknown ? "are known to stay on" : "stay on", target);
    else
        assay__buf_printf(out, "; %zu of %zu nodes stay on %s", p->on, nodes, target);
    if (has_open_inputs(check)) assay__buf_puts(out, " once shapes are fixed");
}

/* "WARN: 2 warnings, 5 notes; 98.8 % of FLOPs stay on cuda:0."; at most 20 words. */
static void add_verdict(struct assay__doc *doc, const struct assay__check *check)
{
    static const char *const words[] = {"PASS", "WARN", "FAIL", "NO VERDICT"};
    static const enum assay__badge badges[] = {ASSAY__BADGE_PASS, ASSAY__BADGE_WARN,
                                               ASSAY__BADGE_FAIL, ASSAY__BADGE_WARN};
    struct assay__buf text = {0};
    size_t before;
    assay__buf_printf(&text, "%s: ", words[check->verdict]);
    if (check->verdict == ASSAY__CHECK_NONE)
        assay__buf_puts(&text, "the target could not be queried; the model alone: ");
    before = text.length;
    for (int s = ASSAY__CHECK_ERROR; s <= ASSAY__CHECK_NOTE; s++) {
        size_t count = group_count(check, (enum assay__check_severity)s);
        if (count)
            assay__buf_printf(&text, "%s%zu %s%s", text.length > before ? ", " : "", count,
                              assay__check_severity_name((enum assay__check_severity)s),
                              assay__plural(count));
    }
    if (text.length == before) assay__buf_puts(&text, "nothing found");
    put_share(&text, check);
    assay__buf_putc(&text, '.');
    assay__doc_verdict(doc, assay__headline_cut(assay__doc_take(doc, &text), doc->arena));
    assay__doc_quality(doc, (struct assay__quality){badges[check->verdict],
                                                    verdict_word(check->verdict), NULL, 0});
    assay__doc_say(doc, ASSAY__TONE_WARN, check->unasked);
    if (check->planned)
        assay__doc_assumed(doc, assay__workload_assumed(check->workload, doc->arena));
    if (*check->unasked)
        assay__doc_note(
            doc, "The list of devices shows which can be queried here, and what the others lack.");
}

/* --- what was requested ----------------------------------------------------------------------- */

static void add_model(struct assay__doc *doc, const struct assay__check *check)
{
    enum { DIMS_SHOWN = 4 };
    const struct assay__model *model = check->model;
    const struct assay__analysis *a = check->analysis;
    assay__doc_fact(doc, "model");
    assay__doc_item_text(doc, "%s", model->format && *model->format ? model->format : "ONNX");
    assay__doc_item_count(doc, (double)model->graph.node_count, "node");
    if (check->partitions.folded)
        assay__doc_item_text(doc, "%zu of them constant", check->partitions.folded);
    if (a->parameter_bytes >= 0)
        assay__doc_item(doc, "weights", assay__derived((double)a->parameter_bytes, "B"));
    assay__doc_item_after(doc, NULL, assay__derived(a->flops, "FLOP"),
                          a->unknown_flops ? "at least" : NULL);
    for (size_t i = 0; check->planned && i < check->workload->dim_count && i < DIMS_SHOWN; i++)
        assay__doc_item_text(doc, "%s %lld", check->workload->dims[i].symbol,
                             (long long)check->workload->dims[i].value);
    const char *how = check->unplanned && doc->hint ? doc->hint("assumed") : NULL;
    assay__doc_fact_text(doc, "shapes",
                         how ? assay__doc_printf(doc, "%s (%s)", check->unplanned, how)
                             : check->unplanned);
}

static void add_places(struct assay__doc *doc, const struct assay__check *check)
{
    const struct assay__check_partitions *p = &check->partitions;
    size_t nodes = p->on + p->off + p->unknown;
    double share = assay__check_share(p);
    if (!check->has_partitions) return;
    assay__doc_fact(doc, "stays");
    if (check->chip_count > 1) assay__doc_item_text(doc, "on every chip");
    if (has_open_inputs(check)) assay__doc_item_text(doc, "once its inputs have fixed shapes");
    assay__doc_item_text(doc, "%zu of %zu node%s", p->on, nodes, assay__plural(nodes));
    if (isfinite(share))
        assay__doc_item_after(doc, NULL, assay__derived(share, "ratio"), "of the FLOPs");
    if (p->unknown) assay__doc_item_text(doc, "%zu not known", p->unknown);
    if (p->off) assay__doc_item_text(doc, "%zu elsewhere", p->off);
    assay__doc_item_count(doc, (double)p->on_segments, "subgraph");
    if (p->engine_pieces) assay__doc_item_text(doc, "the engine compiles %zu", p->engine_pieces);
    if (p->crossings)
        assay__doc_item_after(doc,
                              assay__doc_printf(doc, "%zu tensor%s copied between devices,",
                                                p->crossings, assay__plural(p->crossings)),
                              assay__derived(p->crossing_bytes, "B"),
                              p->crossing_unsized ? "at least" : NULL);
    else
        assay__doc_item_text(doc, "no copies between devices");
}

/* --- chips ------------------------------------------------------------------------------------ */

static bool same_result(const struct assay__check_chip *a, const struct assay__check_chip *b)
{
    return a->verdict == b->verdict && a->off == b->off && a->on_segments == b->on_segments;
}

/* "A14, M1: warn, 4 nodes elsewhere, 2 subgraphs": the chips that have the same result as this one;
 * "" if it is not the first of them. */
static const char *chip_result(struct assay__doc *doc, const struct assay__check *check,
                               size_t index)
{
    const struct assay__check_chip *one = &check->by_chip[index];
    struct assay__buf text = {0};
    for (size_t k = 0; k < index; k++)
        if (same_result(one, &check->by_chip[k])) return "";
    for (size_t k = index; k < check->chip_count; k++)
        if (same_result(one, &check->by_chip[k]))
            assay__buf_printf(&text, "%s%s", k > index ? ", " : "", check->by_chip[k].chip->name);
    assay__buf_printf(&text, ": %s, ", verdict_word(one->verdict));
    if (one->off)
        assay__buf_printf(&text, "%zu node%s elsewhere, %zu subgraph%s", one->off,
                          assay__plural(one->off), one->on_segments,
                          assay__plural(one->on_segments));
    else
        assay__buf_puts(&text, "every node stays");
    return assay__doc_take(doc, &text);
}

static const struct assay__column chip_columns[] = {
    {"chip", "chip", .flags = ASSAY__COLUMN_NAME},
    {"verdict", .title = "verdict"},
    {"nodes_elsewhere", "elsewhere", .unit = ASSAY__UNIT_COUNT},
    {"nodes_unknown", "not known", ASSAY__UNIT_COUNT, .priority = 1},
    {"partitions", "subgraphs", .unit = ASSAY__UNIT_COUNT},
    {"flops_share", "FLOPs on it", .unit = "ratio"},
};

/* One line if their results differ, and each separately. */
static void add_chips(struct assay__doc *doc, const struct assay__check *check)
{
    bool differ = false;
    for (size_t i = 1; i < check->chip_count; i++)
        differ |= !same_result(&check->by_chip[0], &check->by_chip[i]);
    assay__doc_fact(doc, "by chip");
    for (size_t i = 0; i < check->chip_count && differ; i++)
        assay__doc_item_text(doc, "%s", chip_result(doc, check, i));
    assay__doc_fold(doc, "chips", "Each chip alone", NULL);
    struct assay__table *t = assay__doc_table(doc, "chips", "Each chip alone", chip_columns);
    for (size_t i = 0; check->by_chip && i < check->chip_count; i++) {
        const struct assay__check_chip *one = &check->by_chip[i];
        assay__table_row_of(t, 0, one->chip->name, verdict_word(one->verdict));
        assay__table_numbers(t, ASSAY_MEASURED, one->off, one->unknown, one->on_segments);
        assay__table_number(t, one->share, ASSAY_DERIVED);
    }
    assay__doc_end(doc);
}

/* --- rules ------------------------------------------------------------------------------------ */

static const struct assay__column item_columns[] = {
    {.key = "rule"},
    {.key = "severity"},
    {"node", "node", .flags = ASSAY__COLUMN_NAME},
    {"op", "operator", .priority = 2},
    {.key = "title"},
    {.key = "reason"},
    {.key = "fix"},
    {.key = "source"},
    {.key = "basis"},
    {.key = "chips"},
    {"bytes", "bytes", "B", .priority = 1, .flags = ASSAY__COLUMN_SUM},
    {.title = "on", .priority = 1}, /* the two columns if they differ within a group */
    {.title = "reason", .flags = ASSAY__COLUMN_PROSE},
};

/* What all items of a group have in common; NULL if they differ. */
struct common {
    const char *chips, *reason;
    double bytes;
};

static struct common common_of(const struct assay__check *check, size_t first, size_t end)
{
    const struct assay__check_item *items = check->items;
    struct common common = {items[first].chips, items[first].reason, 0};
    for (size_t i = first; i < end; i++) {
        if (common.chips && strcmp(items[i].chips, common.chips) != 0) common.chips = NULL;
        if (common.reason && strcmp(items[i].reason, common.reason) != 0) common.reason = NULL;
        if (isfinite(items[i].bytes)) common.bytes += items[i].bytes;
    }
    return common;
}

/* A single item is a sentence; of several, what they have in common is one. */
static void add_group(struct assay__doc *doc, const struct assay__check *check, size_t first,
                      size_t end)
{
    enum { NODES_SHOWN = 3 };
    const struct assay__check_item *item = &check->items[first];
    const struct assay__check_rule *rule = item->rule;
    struct common common = common_of(check, first, end);
    bool cited = rule->basis == ASSAY__BASIS_SINGLE || rule->basis == ASSAY__BASIS_SEVERAL,
         alone = end - first == 1;
    struct assay__buf remark = {0}; /* "on A14, M1 [gather]" */
    if (!alone && common.bytes > 0)
        assay__buf_printf(&remark, "together %s", assay__scaled(common.bytes, "B").text);
    if (common.chips && *common.chips)
        assay__buf_printf(&remark, "%son %s", remark.length ? "; " : "", common.chips);
    assay__buf_printf(&remark, "%s[%s]", remark.length ? " " : "", rule->id);
    const char *id = assay__doc_printf(doc, "%s-%s", assay__check_severity_name(item->severity),
                                       rule->id);
    const char *title = alone ? rule->title
                              : assay__doc_printf(doc, "%s × %zu", rule->title, end - first);
    assay__doc_section(doc, id, title, assay__doc_take(doc, &remark), ASSAY__SECTION_CARD);
    if (alone && *item->name && *item->op)
        assay__doc_plain(doc, "%s (%s): %s", item->name, item->op, item->reason);
    else
        assay__doc_say(doc, ASSAY__TONE_PLAIN, common.reason);
    struct assay__table *t = assay__doc_table(doc, "items", rule->title, item_columns);
    t->more = "nodes";
    t->limit = NODES_SHOWN;
    for (size_t i = first; i < end; i++) {
        const struct assay__check_item *one = &check->items[i];
        assay__table_row_of(t, alone ? ASSAY__ROW_DATA : 0, rule->id,
                            assay__check_severity_name(one->severity), one->name, one->op,
                            rule->title, one->reason, one->fix, rule->source,
                            assay__check_basis_name(rule->basis), one->chips);
        assay__table_known(t, one->bytes, ASSAY_DERIVED);
        assay__table_texts(t, common.chips ? NULL : one->chips, common.reason ? NULL : one->reason);
    }
    assay__doc_fact_text(doc, "fix", rule->fix);
    assay__doc_fact(doc, "source");
    assay__doc_item_text(doc, cited ? "%s (%s)" : "%s", rule->source,
                         assay__check_basis_name(rule->basis));
    assay__doc_end(doc);
}

/* --- the map ---------------------------------------------------------------------------------- */

static const struct assay__column map_columns[] = {
    {.key = "on_target"},
    {.title = "where"},
    {"nodes", "nodes", .unit = ASSAY__UNIT_COUNT},
    {"flops", "FLOPs", .unit = "FLOP"},
    {"bytes_in", "copied in", "B", .priority = 1},
    {"first", "from", .priority = 2, .flags = ASSAY__COLUMN_NAME},
    {"last", "to", .priority = 3, .flags = ASSAY__COLUMN_NAME},
};

static void add_map(struct assay__doc *doc, const struct assay__check *check)
{
    enum { SEGMENTS_SHOWN = 12 };
    const struct assay__check_partitions *p = &check->partitions;
    bool engine = p->method && strcmp(p->method, "engine") == 0;
    bool several = check->has_partitions && p->segment_count > 1;
    assay__doc_section(doc, "partitions", "Partitions",
                       engine ? "as the engine assigned the nodes" : "according to the rules above",
                       0);
    struct assay__table *t = assay__doc_table(doc, "partitions", "Partitions", map_columns);
    t->more = "partitions";
    t->limit = SEGMENTS_SHOWN;
    for (size_t i = 0; several && i < p->segment_count; i++) {
        const struct assay__check_segment *s = &p->segments[i];
        const struct assay__node *nodes = check->model->graph.nodes;
        bool crosses = s->in_bytes > 0 || isnan(s->in_bytes);
        assay__table_row(t, 0, NULL);
        assay__table_number(t, s->on, ASSAY_MEASURED);
        assay__table_text(t, s->on ? check->target : "elsewhere");
        assay__table_number(t, (double)s->nodes, ASSAY_MEASURED);
        assay__table_number(t, s->flops, ASSAY_DERIVED);
        assay__table_cell(t, crosses ? assay__derived(s->in_bytes, NULL) : assay__datum_none());
        assay__table_texts(t, assay__check_node_name(&nodes[s->first]),
                           assay__check_node_name(&nodes[s->last]));
    }
    if (several && p->unknown)
        assay__doc_note(doc,
                        "Nodes whose place is not known are counted as staying; if they run "
                        "elsewhere too, there are %zu subgraph%s.",
                        p->on_segments_most, assay__plural(p->on_segments_most));
    if (several && p->merged)
        assay__doc_note(doc,
                        "The engine merged %zu node%s into others; each is counted with the node "
                        "that feeds it.",
                        p->merged, assay__plural(p->merged));
    assay__doc_end(doc);
}

static void add_basis(struct assay__doc *doc, const struct assay__check *check)
{
    assay__doc_section(doc, "basis", "Basis", NULL, ASSAY__TAB_EVIDENCE);
    if (check->partitions.inferred)
        assay__doc_note(
            doc,
            "By exclusion: ONNX Runtime's record omits nodes that this provider runs in another "
            "layout. The %zu nodes that it assigns to no other provider are counted as this one's.",
            check->partitions.inferred);
    if (check->chip_count)
        assay__doc_note(doc, "From published sources; nothing was run on a Mac. Core ML decides: "
                             "check its compute plan there.");
    assay__doc_end(doc);
}

int assay__check_document(const struct assay__check *check, const char *(*hint)(const char *),
                          struct assay__doc **made)
{
    struct assay__doc *doc = assay__doc_open(made, "check", check->name);
    if (!doc) return ASSAY_ENOMEM;
    doc->hint = hint;
    doc->table = "items";
    doc->subtitle = assay__doc_printf(doc, "on %s", check->target);
    assay__doc_section(doc, "summary", "Summary", NULL, ASSAY__SECTION_QUIET);
    add_verdict(doc, check);
    assay__doc_fact(doc, "target");
    assay__doc_item_text(doc, "%s", check->target);
    if (check->chip_count == 1)
        assay__doc_item_text(doc, "%s (engine of the %s family)", check->chip,
                             check->chips[0]->name);
    else if (check->chip_count > 1)
        assay__doc_item_text(doc, "every chip from A14 and M1 to A18 and M5");
    if (*check->asked) assay__doc_item_text(doc, "queried %s", check->asked);
    add_model(doc, check);
    add_places(doc, check);
    add_chips(doc, check);
    assay__doc_end(doc);
    /* Notes are evidence, unless there is nothing else to show. */
    bool only_notes = !assay__check_count(check, ASSAY__CHECK_ERROR) &&
                      !assay__check_count(check, ASSAY__CHECK_WARNING);
    for (int s = ASSAY__CHECK_ERROR; s <= ASSAY__CHECK_NOTE; s++) {
        enum assay__check_severity severity = (enum assay__check_severity)s;
        static const char *const titles[] = {"Errors", "Warnings", "Notes"};
        static const char *const ids[] = {"errors", "warnings", "notes"};
        size_t rules = group_count(check, severity), items = assay__check_count(check, severity);
        const char *remark = items > rules
                                 ? assay__doc_printf(doc, "%zu, in %zu places", rules, items)
                                 : NULL;
        assay__doc_section(doc, ids[severity], titles[severity], remark,
                           (severity == ASSAY__CHECK_NOTE && !only_notes ? ASSAY__TAB_EVIDENCE
                                                                         : ASSAY__TAB_OVERVIEW) |
                               ASSAY__SECTION_DECK);
        for (size_t first = 0; first < check->item_count; first = group_end(check, first))
            if (check->items[first].severity == severity)
                add_group(doc, check, first, group_end(check, first));
        assay__doc_end(doc);
    }
    if (!check->item_count) assay__doc_table(doc, "items", NULL, item_columns);
    add_map(doc, check);
    add_basis(doc, check);
    return 0;
}
