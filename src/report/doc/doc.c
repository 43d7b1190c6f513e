/* doc.c - building documents: blocks, facts, lists and tables that grow, in one arena except the
 * arrays. */
#include "report/doc/doc.h"

#include "base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int assay__doc_new(struct assay__doc **doc)
{
    struct assay__doc *made = calloc(1, sizeof *made);
    if (made) made->arena = assay__arena_new();
    if (!made || !made->arena) {
        free(made);
        *doc = NULL;
        return ASSAY_ENOMEM;
    }
    made->title = made->kicker = made->subtitle = made->version = made->footer = "";
    made->table = made->prefix = made->verdict = made->heading = "";
    made->nobody.doc = made;
    *doc = made;
    return 0;
}

void assay__doc_free(struct assay__doc *doc)
{
    if (!doc) return;
    for (size_t i = 0; i < doc->count; i++) {
        struct assay__block *block = &doc->blocks[i];
        if (block->fact) free(block->fact->items);
        if (block->list) free(block->list->items);
        if (block->table) {
            free(block->table->rows);
            free(block->table->cells);
        }
    }
    for (size_t i = 0; i < doc->attachment_count; i++)
        assay__buf_free(&doc->attachments[i].json);
    free(doc->blocks);
    assay__arena_free(doc->arena);
    free(doc);
}

/* --- text in the arena ------------------------------------------------------------------------ */

static const char *copy(struct assay__doc *doc, const char *text)
{
    char *made = text ? assay__arena_strdup(doc->arena, text) : NULL;
    if (text && !made) doc->failed = true;
    return made;
}

static const char *print(struct assay__doc *doc, const char *format, va_list args)
{
    struct assay__buf text = {0};
    assay__buf_vprintf(&text, format, args);
    return assay__doc_take(doc, &text);
}

const char *assay__doc_take(struct assay__doc *doc, struct assay__buf *text)
{
    const char *made = assay__buf_keep(text, doc->arena);
    if (!made) doc->failed = true;
    return made ? made : "";
}

const char *assay__doc_printf(struct assay__doc *doc, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *made = print(doc, format, args);
    va_end(args);
    return made;
}

const char *assay__doc_join(struct assay__doc *doc, const char *const *items, size_t count)
{
    struct assay__buf text = {0};
    for (size_t i = 0; i < count; i++)
        assay__buf_printf(&text, "%s%s", i ? "; " : "", items[i]);
    return assay__doc_take(doc, &text);
}

void *assay__doc_array(struct assay__doc *doc, size_t count, size_t size)
{
    void *made = assay__arena_array(doc->arena, count ? count : 1, size);
    if (!made) doc->failed = true;
    return made;
}

struct assay__column *assay__doc_columns(struct assay__doc *doc,
                                         const struct assay__column *columns, size_t count,
                                         size_t more)
{
    struct assay__column *own = assay__doc_array(doc, count + more, sizeof *own);
    for (size_t i = 0; own && i < count; i++)
        own[i] = columns[i];
    return own;
}

void assay__doc_name(struct assay__doc *doc, const char *command, const char *title,
                     const char *version)
{
    doc->title = assay__doc_printf(doc, "%s", title);
    doc->kicker = assay__doc_printf(doc, "assay %s", command);
    doc->version = assay__doc_printf(doc, "assay %s", version);
    doc->footer = assay__doc_printf(
        doc, "Made by assay %s. This page is self-contained: it loads nothing and sends nothing.",
        version);
}

struct assay__doc *assay__doc_open(struct assay__doc **doc, const char *command, const char *title)
{
    if (!assay__doc_new(doc)) assay__doc_name(*doc, command, title, assay_version());
    return *doc;
}

/* --- blocks ----------------------------------------------------------------------------------- */

static struct assay__block *last_of(const struct assay__doc *doc)
{
    return doc->count ? &doc->blocks[doc->count - 1] : NULL;
}

/* Drops a fact without items. */
static void drop_empty(struct assay__doc *doc)
{
    const struct assay__block *last = last_of(doc);
    if (last && last->kind == ASSAY__BLOCK_FACT && !last->fact->count) {
        if (doc->kpis == last->fact) doc->kpis = NULL;
        free(last->fact->items);
        doc->count--;
    }
}

/* NULL: out of memory, now or before. */
static struct assay__block *add(struct assay__doc *doc, enum assay__block_kind kind)
{
    drop_empty(doc);
    if (doc->data && kind != ASSAY__BLOCK_TABLE) return NULL;
    if (doc->failed || assay__vec_grow((void **)&doc->blocks, &doc->capacity, doc->count + 1,
                                       sizeof *doc->blocks)) {
        doc->failed = true;
        return NULL;
    }
    doc->blocks[doc->count] = (struct assay__block){.kind = kind, .headed = doc->headed};
    return &doc->blocks[doc->count++];
}

static void begin(struct assay__doc *doc, enum assay__block_kind kind, const char *id,
                  const char *title, const char *remark, unsigned flags)
{
    struct assay__block *block = add(doc, kind);
    doc->depth++;
    if (!block) return;
    if (doc->detail && doc->depth == 1) {
        unsigned tab = flags & ASSAY__TABS;
        flags |= ASSAY__SECTION_DETAIL;
        if (tab <= ASSAY__TAB_OVERVIEW)
            flags = (flags & ~(unsigned)ASSAY__TABS) | ASSAY__TAB_EVIDENCE;
    }
    block->heading = (struct assay__heading){
        .id = id ? assay__doc_printf(doc, "%s%s", doc->prefix, id) : NULL,
        .title = copy(doc, title),
        .remark = remark && *remark ? copy(doc, remark) : NULL,
        .flags = flags};
}

void assay__doc_section(struct assay__doc *doc, const char *id, const char *title,
                        const char *remark, unsigned flags)
{
    begin(doc, ASSAY__BLOCK_SECTION, id, title, remark, flags);
}

void assay__doc_fold(struct assay__doc *doc, const char *id, const char *title, const char *remark)
{
    begin(doc, doc->unfolded ? ASSAY__BLOCK_SECTION : ASSAY__BLOCK_FOLD, id, title, remark,
          doc->open ? ASSAY__SECTION_OPEN : 0);
}

/* Drops the heading of an empty section. Tables without rows stay: CSV prints their header. */
static bool drop_hollow(struct assay__doc *doc)
{
    size_t at = doc->count;
    while (at && doc->blocks[at - 1].table && !doc->blocks[at - 1].table->row_count)
        at--;
    if (!at || (doc->blocks[at - 1].kind != ASSAY__BLOCK_SECTION &&
                doc->blocks[at - 1].kind != ASSAY__BLOCK_FOLD))
        return false;
    memmove(&doc->blocks[at - 1], &doc->blocks[at], (doc->count - at) * sizeof *doc->blocks);
    doc->count--;
    return true;
}

void assay__doc_end(struct assay__doc *doc)
{
    drop_empty(doc);
    doc->depth--;
    if (!doc->data && !drop_hollow(doc)) add(doc, ASSAY__BLOCK_END);
}

void assay__doc_sentence(struct assay__doc *doc, enum assay__tone tone, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = print(doc, format, args);
    va_end(args);
    if (!*text) return;
    struct assay__block *block = add(doc, ASSAY__BLOCK_SENTENCE);
    if (!block) return;
    block->tone = tone;
    block->text = text;
}

void assay__doc_assumed(struct assay__doc *doc, const char *assumed)
{
    const char *hint = doc->hint ? doc->hint("assumed") : NULL;
    if (assumed && *assumed)
        assay__doc_plain(doc, "Assumed: %s%s%s.", assumed, hint ? "; to change this: " : "",
                         hint ? hint : "");
}

void assay__doc_say(struct assay__doc *doc, enum assay__tone tone, const char *text)
{
    if (text) assay__doc_sentence(doc, tone, "%s", text);
}

void assay__doc_fact(struct assay__doc *doc, const char *label)
{
    struct assay__block *block = add(doc, ASSAY__BLOCK_FACT);
    if (!block) return;
    block->fact = assay__doc_array(doc, 1, sizeof *block->fact);
    if (block->fact) block->fact->label = copy(doc, label);
    if (doc->failed) doc->count--; /* otherwise a block without its content would be read */
}

void assay__doc_verdict(struct assay__doc *doc, const char *text)
{
    bool first = !*doc->verdict;
    size_t before = doc->count;
    assay__doc_say(doc, ASSAY__TONE_LEAD, text);
    if (!first || doc->failed || doc->count == before) return;
    doc->blocks[doc->count - 1].headed = true;
    doc->verdict = doc->blocks[doc->count - 1].text;
}

void assay__doc_kpis(struct assay__doc *doc, const char *label)
{
    assay__doc_fact(doc, label);
    struct assay__block *last = last_of(doc);
    if (doc->kpis || !last || last->kind != ASSAY__BLOCK_FACT) return;
    last->headed = true;
    doc->kpis = last->fact;
}

void assay__doc_quality(struct assay__doc *doc, struct assay__quality quality)
{
    doc->quality = quality;
}

/* Ceilings of the device are missing, and measuring them would help. */
static bool lacks_ceilings(const struct assay__doc *doc)
{
    const struct assay_profile *profile = doc->study ? doc->study->profile : NULL;
    return profile && profile->trial_count &&
           assay__ceilings_would_help(profile, &profile->trials[0]);
}

const char *assay__doc_reason(struct assay__doc *doc, const char *metric, const char *note)
{
    const struct assay_metric_info *info = metric && doc->hint ? assay_metric_lookup(metric) : NULL;
    if (!info || !note) return note;
    bool unread = info->unread && strcmp(note, info->unread) == 0;
    bool few = info->needs == ASSAY_NEEDS_SAMPLES && doc->study;
    bool roofless = info->needs == ASSAY_NEEDS_CEILINGS && lacks_ceilings(doc);
    if (!unread && !few && !roofless) return note;
    const char *hint = doc->hint(metric);
    return hint ? assay__doc_printf(doc, "%s (%s)", note, hint) : note;
}

static void add_hint(struct assay__doc *doc, struct assay__datum *value)
{
    if (!assay__datum_is_known(value))
        value->note = assay__doc_reason(doc, value->name, value->note);
}

void assay__doc_item_after(struct assay__doc *doc, const char *name, struct assay__datum value,
                           const char *after)
{
    struct assay__block *last = last_of(doc);
    if (doc->failed || !last || last->kind != ASSAY__BLOCK_FACT) return;
    struct assay__fact *fact = last->fact;
    if (assay__vec_grow((void **)&fact->items, &fact->capacity, fact->count + 1,
                        sizeof *fact->items)) {
        doc->failed = true;
        return;
    }
    if (value.kind == ASSAY__DATUM_TEXT) value.text = copy(doc, value.text);
    if (value.kind == ASSAY__DATUM_NUMBER) add_hint(doc, &value);
    if (doc->failed) return;
    fact->items[fact->count++] = (struct assay__item){copy(doc, name), value,
                                                      after && *after ? copy(doc, after) : NULL};
}

void assay__doc_item(struct assay__doc *doc, const char *name, struct assay__datum value)
{
    assay__doc_item_after(doc, name, value, NULL);
}

void assay__doc_item_text(struct assay__doc *doc, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = print(doc, format, args);
    va_end(args);
    if (*text) assay__doc_item(doc, NULL, assay__datum_text(text));
}

void assay__doc_item_count(struct assay__doc *doc, double count, const char *noun)
{
    assay__doc_item_text(doc, "%.0f %s%s", count, noun, assay__plural(count));
}

void assay__doc_fact_text(struct assay__doc *doc, const char *label, const char *text)
{
    if (!text || !*text) return;
    assay__doc_fact(doc, label);
    assay__doc_item(doc, NULL, assay__datum_text(text));
}

void assay__doc_fact_number(struct assay__doc *doc, const char *label, double value,
                            const char *unit)
{
    if (!isfinite(value)) return;
    assay__doc_fact(doc, label);
    assay__doc_item(doc, NULL, assay__datum_number(value, unit, ASSAY_MEASURED));
}

void assay__doc_fact_unknown(struct assay__doc *doc, const char *label, const char *why)
{
    assay__doc_fact(doc, label);
    assay__doc_item(doc, NULL, assay__datum_unknown(why));
}

void assay__doc_metric(struct assay__doc *doc, const struct assay__trial *trial, const char *metric,
                       const char *name, const char *after)
{
    const struct assay_metric *m = assay__trial_metric(trial, metric);
    if (m) assay__doc_item_after(doc, name, assay__datum_metric(m), after);
}

void assay__doc_metrics(struct assay__doc *doc, const struct assay__trial *trial, bool reasons,
                        const struct assay__metric_fact *rows, size_t count)
{
    for (size_t i = 0, first = 0; i < count; first = i) {
        bool any = false;
        assay__doc_fact(doc, rows[i].label);
        for (; i < count && strcmp(rows[i].label, rows[first].label) == 0; i++) {
            any |= assay__trial_metric(trial, rows[i].metric) != NULL;
            assay__doc_metric(doc, trial, rows[i].metric, rows[i].name, rows[i].after);
        }
        const struct assay_metric *none = assay_metrics_get(trial->metrics, rows[first].metric);
        if (!any && reasons)
            assay__doc_item(doc, NULL, assay__datum_unknown(none ? none->note : NULL));
    }
}

void assay__doc_legend(struct assay__doc *doc, const char *const (*rows)[2], size_t count)
{
    assay__doc_fold(doc, NULL, "What the columns mean", NULL);
    for (size_t i = 0; i < count; i++)
        assay__doc_fact_text(doc, rows[i][0], rows[i][1]);
    assay__doc_end(doc);
}

void assay__doc_point(struct assay__doc *doc, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = print(doc, format, args);
    va_end(args);
    struct assay__block *last = last_of(doc);
    if (doc->failed || !*text) return;
    if (!last || last->kind != ASSAY__BLOCK_LIST) {
        struct assay__list *list = assay__doc_array(doc, 1, sizeof *list);
        last = list ? add(doc, ASSAY__BLOCK_LIST) : NULL;
        if (!last) return;
        last->list = list;
    }
    struct assay__list *list = last->list;
    if (assay__vec_grow((void **)&list->items, &list->capacity, list->count + 1,
                        sizeof *list->items))
        doc->failed = true;
    else
        list->items[list->count++] = text;
}

void assay__doc_points(struct assay__doc *doc, const char *const *items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assay__doc_point(doc, "%s", items[i]);
}

void assay__doc_code(struct assay__doc *doc, const char *language, const char *title,
                     const char *text)
{
    struct assay__code *code = assay__doc_array(doc, 1, sizeof *code);
    struct assay__block *block = code ? add(doc, ASSAY__BLOCK_CODE) : NULL;
    if (!block) return;
    *code = (struct assay__code){copy(doc, language), copy(doc, title), copy(doc, text)};
    block->code = code;
    if (doc->failed) doc->count--;
}

static void add_picture(struct assay__doc *doc, struct assay__picture picture)
{
    struct assay__picture *own = assay__doc_array(doc, 1, sizeof *own);
    struct assay__block *block = own ? add(doc, ASSAY__BLOCK_FIGURE) : NULL;
    if (!block) return;
    *own = picture;
    block->picture = own;
}

void assay__doc_figure(struct assay__doc *doc, const struct assay__figure *figure, unsigned flags)
{
    add_picture(doc, (struct assay__picture){.figure = figure, .flags = flags});
}

void assay__doc_picture(struct assay__doc *doc, const char *name, const struct assay__trial *trial,
                        unsigned flags)
{
    add_picture(doc, (struct assay__picture){
                         .name = name, .study = doc->study, .trial = trial, .flags = flags});
}

/* --- tables ----------------------------------------------------------------------------------- */

struct assay__table *assay__doc_add_table(struct assay__doc *doc, const char *name,
                                          const char *caption, const struct assay__column *columns,
                                          size_t count)
{
    struct assay__table *table = assay__doc_array(doc, 1, sizeof *table);
    struct assay__block *block = table ? add(doc, ASSAY__BLOCK_TABLE) : NULL;
    if (!block) return &doc->nobody;
    *table = (struct assay__table){.name = name,
                                   .caption = copy(doc, caption),
                                   .data = doc->data || !caption,
                                   .trial = doc->of_trial,
                                   .columns = columns,
                                   .column_count = count,
                                   .prefix = doc->prefix,
                                   .doc = doc};
    block->table = table;
    return table;
}

/* Fills the rest of the last row with empty cells. */
static bool fill_up(struct assay__table *table)
{
    size_t end = table->row_count * table->column_count;
    if (assay__vec_grow((void **)&table->cells, &table->cell_capacity, end, sizeof *table->cells))
        table->doc->failed = true;
    else
        while (table->cell_count < end)
            table->cells[table->cell_count++] = assay__datum_none();
    return !table->doc->failed;
}

void assay__table_row(struct assay__table *table, unsigned flags, const char *id)
{
    if (table->doc->failed || !fill_up(table)) return;
    if (assay__vec_grow((void **)&table->rows, &table->row_capacity, table->row_count + 1,
                        sizeof *table->rows)) {
        table->doc->failed = true;
        return;
    }
    table->rows[table->row_count++] = (struct assay__row){copy(table->doc, id), flags, -1};
    if (!fill_up(table)) return;
    table->cell_count -= table->column_count;
}

void assay__table_layer(struct assay__table *table, int index)
{
    if (!table->doc->failed && table->row_count) table->rows[table->row_count - 1].layer = index;
}

void assay__table_cell(struct assay__table *table, struct assay__datum value)
{
    if (table->doc->failed) return;
    if (table->cell_count >= table->row_count * table->column_count) return;
    if (value.kind == ASSAY__DATUM_NUMBER) add_hint(table->doc, &value);
    table->cells[table->cell_count++] = value;
}

void assay__table_text(struct assay__table *table, const char *text)
{
    assay__table_cell(table, assay__datum_text(text));
}

void assay__table_number(struct assay__table *table, double value, enum assay_state state)
{
    assay__table_cell(table, assay__datum_number(value, NULL, state));
}

void assay__table_known(struct assay__table *table, double value, enum assay_state state)
{
    assay__table_cell(table, isfinite(value) ? assay__datum_number(value, NULL, state)
                                             : assay__datum_none());
}

void assay__table_add_texts(struct assay__table *table, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assay__table_text(table, texts[i]);
}

void assay__table_add_numbers(struct assay__table *table, enum assay_state state,
                              const double *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assay__table_number(table, numbers[i], state);
}

void assay__table_add_judged(struct assay__table *table, bool usable,
                             const struct assay__number *const *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assay__table_cell(table, usable ? assay__datum_judged(numbers[i]) : assay__datum_none());
}

void assay__table_metric(struct assay__table *table, const struct assay_metric *metric)
{
    assay__table_cell(table, assay__datum_metric(metric));
}

void assay__table_metric_row(struct assay__table *table, const struct assay_metric *metric)
{
    struct assay__datum value = assay__datum_metric(metric);
    value.name = value.note = value.source = NULL; /* they have their own columns */
    assay__table_text(table, metric->name);
    assay__table_cell(table, value);
    assay__table_texts(table, metric->unit, assay_state_name(metric->state), metric->source,
                       metric->note);
}

void assay__table_skip(struct assay__table *table, size_t count)
{
    while (count--)
        assay__table_cell(table, assay__datum_none());
}

const struct assay__datum *assay__table_cells(const struct assay__table *table, size_t row,
                                              struct assay__datum *scratch)
{
    if (!table->fill) return &table->cells[row * table->column_count];
    for (size_t i = 0; i < table->column_count; i++)
        scratch[i] = assay__datum_none();
    table->fill(table, row, scratch);
    return scratch;
}

unsigned assay__table_flags(const struct assay__table *table, size_t row)
{
    return table->fill ? 0 : table->rows[row].flags;
}
