/* walk_html.c - a document as one page: a header with the answer and the key numbers, then its
 * sections by tab; without the script, the tabs follow each other. Tables can be sorted; numbers
 * that are metrics show where they come from when hovered or focused. The page is complete without
 * its script, except rows beyond the first ROWS or SCRIPTED_ROWS of a table. */
#include "report/figure/figure_scale.h"
#include "report/walk/html_page.h"
#include "report/formats.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 500, SCRIPTED_ROWS = 200, TIPPED_ROWS = 200, OPEN = 64, WIDTHS = 50 };

struct walk {
    struct assay__html page;
    struct assay__buf *body; /* of the tab, or the header */
    const struct assay__doc *doc;
    int depth;             /* number of open sections and folds … */
    int folds;             /* … and how many of them are folds, whose titles are not headings */
    const char *open_list; /* "</dl>\n" of facts that are not ended yet; NULL */
    bool stopped;          /* it has its tab stop */
    const char *piece;     /* opens each part of a table in the section that is open; NULL: none */
    struct assay__buf regions; /* names of tables and sections so far: "\nname\n\nname\n" */
    /* of the section that is open: its pictures stand beside the rest */
    bool paired;
    struct assay__buf pictures, rest, *tab; /* tab: above both, for what is as wide as they are */
};

/* --- numbers with their source ---------------------------------------------------------------- */

/* Text, or a sentence, between two pieces of markup. */
static void put(struct walk *w, const char *before, const char *text, const char *after)
{
    assay__buf_puts(w->body, before);
    assay__html_text(w->body, text);
    assay__buf_puts(w->body, after);
}

static void put_prose(struct walk *w, const char *before, const char *text, const char *after)
{
    assay__buf_puts(w->body, before);
    assay__html_prose(w->body, text);
    assay__buf_puts(w->body, after);
}

static void put_note(struct walk *w, const char *text)
{
    if (text) put_prose(w, "<p class=\"note\">", text, "</p>\n");
}

static void tip_line(struct walk *w, const char *term, const char *text)
{
    if (!text || !*text) return;
    assay__buf_printf(w->body, "<span><b>%s</b> ", term);
    put(w, "", text, "</span>");
}

/* after: a remark on the number; NULL: none. stop: it is a tab stop. Of a list of facts the first
 * number is one, of a table its box: the script walks the others by arrow keys. */
static void put_tip(struct walk *w, const struct assay__datum *value, const char *text,
                    const char *after, bool stop)
{
    bool known = assay__datum_is_known(value);
    const struct assay_metric_info *info = value->name ? assay_metric_lookup(value->name) : NULL;
    assay__buf_printf(w->body,
                      "<span class=\"tipped\"><span class=\"num%s\" tabindex=\"%s\" "
                      "aria-describedby=\"tip-%u\">",
                      known ? "" : " gone", stop ? "0" : "-1", ++w->page.tips);
    assay__html_text(w->body, text);
    assay__buf_printf(w->body, "</span><span class=\"tip\" role=\"tooltip\" id=\"tip-%u\">",
                      w->page.tips);
    tip_line(w, "what", info ? info->summary : value->name);
    tip_line(w, "remark", after);
    tip_line(w, "state", assay_state_name(known ? value->state : ASSAY_UNAVAILABLE));
    if (known) tip_line(w, "source", value->source);
    tip_line(w, !known ? "why" : value->state == ASSAY_DERIVED ? "formula" : "note", value->note);
    assay__buf_puts(w->body, "</span></span>");
}

/* after: a note that is shown when the number is hovered; NULL: none. */
static void put_value(struct walk *w, const struct assay__datum *value,
                      const struct assay__column *column, bool tipped, const char *after)
{
    static const char *const badges[] = {"", "pass", "warn", "fail"};
    struct assay__buf text = {0};
    bool number = value->kind == ASSAY__DATUM_NUMBER;
    tipped = tipped && number &&
             (value->name || (value->note && *value->note) || after ||
              (!column && value->state == ASSAY_DERIVED && assay__datum_is_known(value)));
    assay__datum_print(&text, value, column ? column->unit : NULL, column ? column->factor : 0);
    const char *shown = assay__buf_text(&text);
    /* Derived: shown on hovering, or in the header of its column. */
    if (number && *shown == '=' && (tipped || column)) shown++;
    if (value->badge) {
        assay__buf_printf(w->body, "<span class=\"verdict %s\">", badges[value->badge]);
        put(w, "", shown, "</span>");
    } else if (tipped) {
        put_tip(w, value, shown, after, !column && !w->stopped);
        if (w->open_list && !column) w->stopped = true;
    } else if (number)
        assay__html_text(w->body, shown);
    else if (column && column->flags & ASSAY__COLUMN_NAME)
        assay__html_name(w->body, shown);
    else if (column && !(column->flags & ASSAY__COLUMN_PROSE))
        assay__html_breaking(w->body, shown);
    else
        assay__html_prose(w->body, shown);
    assay__buf_drop(&text, w->body);
}

/* --- sentences, facts, lists ------------------------------------------------------------------ */

static void close_list(struct walk *w)
{
    if (w->open_list) assay__buf_puts(w->body, w->open_list);
    w->open_list = NULL;
    w->stopped = false;
}

static void put_fact(struct walk *w, const struct assay__fact *fact)
{
    if (!w->open_list) assay__buf_puts(w->body, "<dl class=\"facts\">\n");
    w->open_list = "</dl>\n";
    put(w, "<div><dt>", fact->label, "</dt><dd>");
    for (size_t i = 0; i < fact->count; i++) {
        if (i) assay__buf_puts(w->body, " · ");
        const struct assay__item *item = &fact->items[i];
        bool unknown = item->value.kind == ASSAY__DATUM_NUMBER &&
                       !assay__datum_is_known(&item->value);
        if (item->name) put(w, "", item->name, " ");
        if (item->value.link) assay__buf_printf(w->body, "<a href=\"#%s\">", item->value.link);
        put_value(w, &item->value, NULL, true, NULL);
        if (item->value.link) assay__buf_puts(w->body, "</a>");
        if (unknown && item->value.note) put_prose(w, " ", item->value.note, "");
        if (item->after) put_prose(w, " ", item->after, "");
    }
    assay__buf_puts(w->body, "</dd></div>\n");
}

/* --- tables ----------------------------------------------------------------------------------- */

/* A table, or a part of one, as the page shows it. */
struct view {
    const struct assay__table *table;
    struct {
        bool shown, derived; /* derived: every number in it is */
    } * columns;
    size_t *rows; /* `count` of them: the body, then totals */
    size_t count, body, more;
    size_t header; /* column of the names of the rows; SIZE_MAX: none */
    bool tipped;   /* numbers say where they come from; else columns do, or there are too many */
    struct assay__datum *scratch;
};

static bool is_derived(const struct view *v, size_t column)
{
    bool any = false;
    if (!v->table->columns[column].unit) return false;
    for (size_t i = 0; i < v->count; i++) {
        const struct assay__datum *cell = &assay__table_cells(v->table, v->rows[i],
                                                              v->scratch)[column];
        if (cell->kind != ASSAY__DATUM_NUMBER || !assay__datum_is_known(cell)) continue;
        if (cell->state != ASSAY_DERIVED) return false;
        any = true;
    }
    return any;
}

/* False: out of memory. */
static bool open_view(struct view *v, const struct assay__table *table, size_t limit)
{
    *v = (struct view){.table = table, .header = SIZE_MAX};
    v->columns = calloc(table->column_count + 1, sizeof *v->columns);
    v->rows = calloc(table->row_count + 1, sizeof *v->rows);
    v->scratch = calloc(table->column_count + 1, sizeof *v->scratch);
    if (!v->columns || !v->rows || !v->scratch) return false;
    v->count = assay__walk_rows(table, limit, v->rows, &v->body, &v->more);
    v->tipped = table->row_count <= TIPPED_ROWS;
    for (size_t c = 0; c < table->column_count; c++) {
        v->columns[c].shown = assay__walk_column_is_shown(table, c, true);
        v->columns[c].derived = v->columns[c].shown && is_derived(v, c);
        if (v->columns[c].shown && table->columns[c].key &&
            strcmp(table->columns[c].key, "source") == 0)
            v->tipped = false;
        if (v->columns[c].shown && table->columns[c].flags & ASSAY__COLUMN_NAME &&
            v->header == SIZE_MAX)
            v->header = c;
    }
    return true;
}

static void close_view(struct view *v)
{
    free(v->columns);
    free(v->rows);
    free(v->scratch);
}

/* " n1 n4": the columns of numbers. Stated for the table, because every row would repeat it. */
static void put_numeric(struct walk *w, const struct view *v)
{
    unsigned at = 0;
    for (size_t c = 0; c < v->table->column_count; c++) {
        if (!v->columns[c].shown) continue;
        at++;
        if (v->table->columns[c].unit && !(v->table->columns[c].flags & ASSAY__COLUMN_BAR))
            assay__buf_printf(w->body, " n%u", at);
    }
}

/* False: another region has that name. */
static bool take_name(struct walk *w, const char *name)
{
    struct assay__buf line = {0};
    assay__buf_printf(&line, "\n%s\n", name);
    bool free = !strstr(assay__buf_text(&w->regions), assay__buf_text(&line));
    if (free) assay__buf_puts(&w->regions, assay__buf_text(&line));
    assay__buf_drop(&line, w->body);
    return free;
}

/* Every region has a name of its own: of two with one caption, the second says which table it
 * is. */
static void put_region(struct walk *w, const char *caption)
{
    struct assay__buf name = {0};
    assay__buf_puts(&name, caption);
    for (unsigned i = 1; !name.failed && !take_name(w, assay__buf_text(&name)); i++) {
        assay__buf_free(&name);
        assay__buf_printf(&name, i > 1 ? "%s, table %u" : "%s, table", caption, i);
    }
    put(w, "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"",
        assay__buf_text(&name), "\">\n<table");
    assay__buf_drop(&name, w->body);
}

static void put_head(struct walk *w, const struct view *v)
{
    const struct assay__table *table = v->table;
    const char *caption = table->caption ? table->caption : "";
    put_region(w, caption);
    if (table->id) assay__buf_printf(w->body, " id=\"%s%s\"", table->prefix, table->id);
    if (table->name) assay__buf_printf(w->body, " data-table=\"%s\"", table->name);
    assay__buf_printf(w->body, " class=\"%s",
                      table->scripted ? table->name
                      : v->body > 1   ? "sortable"
                                      : "single");
    put_numeric(w, v);
    put(w, "\">\n<caption class=\"hidden\">", caption, "</caption>\n<thead><tr>");
    for (size_t c = 0; c < table->column_count; c++) {
        const struct assay__column *column = &table->columns[c];
        if (!v->columns[c].shown) continue;
        assay__buf_puts(w->body, "<th scope=\"col\"");
        if (column->unit) assay__buf_puts(w->body, " class=\"n\"");
        if (column->key) put(w, " data-key=\"", column->key, "\"");
        if (column->flags & ASSAY__COLUMN_BAR) /* it speaks for itself */
            put(w, "><span class=\"hidden\">", *column->title ? column->title : "bar",
                "</span></th>");
        else if (*column->title)
            put(w, v->columns[c].derived ? "><i>=</i>" : ">", column->title, "</th>");
        else
            assay__buf_puts(w->body, "><span class=\"hidden\">mark</span></th>");
    }
    assay__buf_puts(w->body, "</tr></thead>\n<tbody>\n");
}

/* One of fifty widths: a class costs a browser less than a picture in every row. */
static void put_bar(struct walk *w, const struct assay__datum *value)
{
    double share = assay__datum_is_known(value) ? value->number : 0;
    assay__buf_puts(w->body, "<td class=\"bar\">");
    if (share > 0)
        assay__buf_printf(w->body, "<i class=\"w%d\"></i>",
                          (int)fmin(WIDTHS, fmax(1, round(share * WIDTHS))));
    assay__buf_puts(w->body, "</td>");
}

static void put_cell(struct walk *w, const struct view *v, size_t c,
                     const struct assay__datum *value)
{
    const struct assay__table *table = v->table;
    const struct assay__column *column = &table->columns[c];
    bool name = c == v->header && assay__datum_is_known(value); /* "" heads nothing */
    if (column->flags & ASSAY__COLUMN_BAR) {
        put_bar(w, value);
        return;
    }
    assay__buf_puts(w->body, name ? "<th scope=\"row\"" : "<td");
    if (column->unit && value->tone > 0)
        assay__buf_printf(w->body, " class=\"x%d\"", assay__tone_step(value->tone));
    if (column->flags & ASSAY__COLUMN_PROSE) assay__buf_puts(w->body, " class=\"words\"");
    if (column->unit && value->kind == ASSAY__DATUM_NUMBER && assay__datum_is_known(value) &&
        !table->scripted) /* for sorting; left out if the script has the numbers anyway */
        assay__buf_printf(w->body, " data-v=\"%.9g\"", value->number);
    assay__buf_putc(w->body, '>');
    if (value->link) assay__buf_printf(w->body, "<a href=\"#%s%s\">", table->prefix, value->link);
    /* In a column with numbers of several states, each shows its own. */
    if (value->state == ASSAY_DERIVED && assay__datum_is_known(value) && !v->columns[c].derived)
        assay__buf_puts(w->body, "<i>=</i>");
    put_value(w, value, column, v->tipped, NULL);
    if (value->link) assay__buf_puts(w->body, "</a>");
    assay__buf_puts(w->body, name ? "</th>" : "</td>");
}

static void put_row(struct walk *w, const struct view *v, size_t row)
{
    const struct assay__table *table = v->table;
    const struct assay__datum *cells = assay__table_cells(table, row, v->scratch);
    unsigned flags = assay__table_flags(table, row);
    const char *id = table->fill ? NULL : table->rows[row].id;
    assay__buf_puts(w->body, "<tr");
    if (id) assay__buf_printf(w->body, " id=\"%s%s\"", table->prefix, id);
    if (!table->fill && table->rows[row].layer >= 0 && !table->scripted)
        assay__buf_printf(w->body, " data-l=\"%d\"", table->rows[row].layer);
    if (flags & (ASSAY__ROW_TOTAL | ASSAY__ROW_BEST | ASSAY__ROW_TIED))
        assay__buf_printf(w->body, " class=\"%s\"",
                          flags & ASSAY__ROW_BEST   ? "best"
                          : flags & ASSAY__ROW_TIED ? "tied"
                                                    : "extra");
    assay__buf_putc(w->body, '>');
    for (size_t c = 0; c < table->column_count; c++)
        if (v->columns[c].shown) put_cell(w, v, c, &cells[c]);
    assay__buf_puts(w->body, "</tr>\n");
}

static void put_left_out(struct walk *w, const struct view *v)
{
    const struct assay__table *table = v->table;
    if (!v->more) return;
    assay__buf_printf(w->body, "<p class=\"note more\">The %s%s of %s %s%s%s; %s</p>\n",
                      table->page_by ? "" : "first ", assay__scaled((double)v->body, "count").text,
                      assay__scaled((double)(v->body + v->more), "count").text,
                      table->more ? table->more : "rows", table->page_by ? " " : "",
                      table->page_by ? table->page_by : "",
                      table->scripted     ? "with JavaScript, all are shown here; the CSV table "
                                            "<code>layers</code> lists them too."
                      : table->page_limit ? "the table of layers has all of them."
                                          : "the CSV format has all of them.");
}

static void put_part(void *context, const struct assay__table *table,
                     const struct assay__heading *part)
{
    struct walk *w = context;
    struct assay__table shown = *table;
    struct view v;
    if (table->page_order) shown.order = table->page_order;
    size_t limit = table->scripted ? SCRIPTED_ROWS : table->page_limit ? table->page_limit : ROWS;
    if (!open_view(&v, &shown, limit)) w->body->failed = true;
    if (part) {
        if (w->piece) assay__buf_printf(w->body, "</div>\n%s>\n", w->piece);
        put(w, "<h4>", part->title, "</h4>\n");
        put_note(w, part->remark);
    }
    if (v.count && !w->body->failed) {
        if (table->scripted)
            assay__buf_printf(w->body, "<div class=\"rows\" data-trial=\"%d\">\n", table->trial);
        put_left_out(w, &v);
        put_head(w, &v);
        for (size_t i = 0; i < v.count; i++)
            put_row(w, &v, v.rows[i]);
        assay__buf_puts(w->body, "</tbody>\n</table>\n</div>\n");
        if (table->scripted) assay__buf_puts(w->body, "</div>\n");
    }
    close_view(&v);
}

/* --- the header ------------------------------------------------------------------------------- */

/* "cpu · batch 1 · 2026-…": a line ends between short items, not inside one. */
static void put_items(struct walk *w, const char *items)
{
    static const char between[] = " · ";
    enum { SHORT = 28 };
    while (*items) {
        const char *end = strstr(items, between);
        size_t length = end ? (size_t)(end - items) : strlen(items);
        struct assay__buf item = {0};
        assay__buf_add(&item, items, length);
        put(w, length <= SHORT ? "<span class=\"o\">" : "<span>", item.data, "</span>");
        if (end) assay__buf_puts(w->body, between);
        assay__buf_drop(&item, w->body);
        items += length + (end ? sizeof between - 1 : 0);
    }
}

/* The reasons are behind it. */
static void put_quality(struct walk *w, const struct assay__quality *quality)
{
    static const char *const levels[] = {"", "good", "fair", "bad"};
    const char *level = levels[quality->badge];
    if (!quality->badge) return;
    if (!quality->reason_count) {
        assay__buf_printf(w->body, "<p class=\"chip %s\">", level);
        put(w, "", quality->text, "</p>\n");
        return;
    }
    assay__buf_printf(w->body, "<details class=\"chip %s\" id=\"quality\"><summary>", level);
    put(w, "", quality->text, "</summary>\n<ul>\n");
    for (size_t i = 0; i < quality->reason_count; i++)
        put_prose(w, "<li>", quality->reasons[i], "</li>\n");
    assay__buf_puts(w->body, "</ul></details>\n");
}

/* "32.4 images/s   34.4 ms p95" */
static void put_kpis(struct walk *w, const struct assay__fact *kpis)
{
    assay__buf_puts(w->body, "<dl class=\"kpis\">\n");
    for (size_t i = 0; i < kpis->count; i++) {
        const struct assay__item *item = &kpis->items[i];
        put(w, "<div><dt>", item->name ? item->name : kpis->label, "</dt><dd>");
        put_value(w, &item->value, NULL, true, item->after);
        assay__buf_puts(w->body, "</dd></div>\n");
    }
    assay__buf_puts(w->body, "</dl>\n");
}

static void put_header(struct walk *w)
{
    const struct assay__doc *doc = w->doc;
    assay__buf_puts(w->body, "<header class=\"top\">\n<div class=\"who\">\n<h1>");
    assay__html_name(w->body, *doc->heading ? doc->heading : *doc->title ? doc->title : "assay");
    assay__buf_puts(w->body, "</h1>\n<p class=\"subtitle\">");
    if (*doc->subtitle)
        put_items(w, doc->subtitle);
    else
        assay__html_text(w->body, doc->kicker);
    assay__buf_puts(w->body, "</p>\n");
    put_quality(w, &doc->quality);
    /* The script fills and shows it: without the script there is nothing to press. */
    assay__buf_puts(w->body, "<div class=\"tools\" id=\"tools\" hidden></div>\n</div>\n");
    if (*doc->verdict) put_prose(w, "<p class=\"lead\">", doc->verdict, "</p>\n");
    if (doc->kpis) put_kpis(w, doc->kpis);
    assay__buf_puts(w->body, "</header>\n");
}

/* --- sections --------------------------------------------------------------------------------- */

static void turn_to(struct walk *w, struct assay__buf *body)
{
    w->body = w->page.body = body;
}

/* The tab of a top-level section or fold. */
static void enter_tab(struct walk *w, const struct assay__heading *h)
{
    unsigned tab = h->flags & ASSAY__TABS;
    if (tab >= ASSAY__TAB_COUNT || !tab) tab = ASSAY__TAB_OVERVIEW;
    struct assay__html_tab *into = &w->page.tabs[tab];
    turn_to(w, h->flags & ASSAY__SECTION_FIRST ? &into->first : &into->body);
    w->paired = h->flags & ASSAY__SECTION_PAIR || tab == ASSAY__TAB_ROOFLINE ||
                tab == ASSAY__TAB_MEMORY || tab == ASSAY__TAB_POWER || tab == ASSAY__TAB_GENERATE;
    w->tab = w->body;
    w->page.heading = assay__html_tab_title(tab);
}

static void begin_section(struct walk *w, const struct assay__heading *h)
{
    const char *id = h->id ? h->id : "";
    int level = w->depth - w->folds < 3 ? w->depth - w->folds + 3 : 5;
    bool silent = !w->depth && (h->flags & ASSAY__SECTION_QUIET ||
                                strcmp(h->title, w->page.heading ? w->page.heading : "") == 0);
    w->page.heading = h->title;
    w->piece = NULL;
    if (!w->depth && *id) {
        take_name(w, h->title);
        assay__buf_printf(w->body, "<section id=\"%s\" aria-labelledby=\"h-%s\"%s>\n", id, id,
                          h->flags & ASSAY__SECTION_DECK   ? " class=\"deck\""
                          : h->flags & ASSAY__SECTION_HALF ? " class=\"half\""
                                                           : "");
        assay__buf_printf(w->body, "<h3 id=\"h-%s\"%s>", id, silent ? " class=\"hidden\"" : "");
        put(w, "", h->title, "</h3>\n");
    } else {
        const char *begin = h->flags & ASSAY__SECTION_CARD    ? "<div class=\"part card\""
                            : h->flags & ASSAY__SECTION_HALF  ? "<div class=\"part half\""
                            : h->flags & ASSAY__SECTION_THIRD ? "<div class=\"part third\""
                                                              : "<div class=\"part\"";
        if (h->flags & ASSAY__SECTION_HALF) w->piece = begin;
        assay__buf_puts(w->body, begin);
        if (*id) assay__buf_printf(w->body, " id=\"%s\"", id);
        assay__buf_printf(w->body, ">\n<h%d>", level);
        assay__html_text(w->body, h->title);
        assay__buf_printf(w->body, "</h%d>\n", level);
    }
    put_note(w, h->remark);
}

static void draw(void *context, const struct assay__figure *figure)
{
    struct walk *w = context;
    struct assay__buf *body = w->body;
    if (w->paired && w->depth == 1 && figure->wide) turn_to(w, w->tab);
    assay__html_draw(&w->page, figure);
    turn_to(w, body);
}

static void put_picture(struct walk *w, const struct assay__picture *picture)
{
    struct assay_error why;
    struct assay__buf *body = w->body;
    if (w->paired && w->depth == 1 && !(picture->flags & ASSAY__PICTURE_WIDE))
        turn_to(w, &w->pictures);
    w->page.trial = picture->trial ? picture->trial->id : -1;
    if (!assay__walk_picture(picture, draw, w, &why, &w->body->failed) &&
        picture->flags & ASSAY__PICTURE_SAY && why.message[0])
        put_prose(w, "<p class=\"note\">No picture: ", why.message, "</p>\n");
    w->page.trial = -1;
    turn_to(w, body);
}

/* The section's pictures, then the rest: side by side if there is space. */
static void put_pair(struct walk *w, struct assay__buf *into)
{
    bool both = w->pictures.length && w->rest.length;
    turn_to(w, into);
    if (both) assay__buf_puts(into, "<div class=\"pair\">\n<div class=\"pictures\">\n");
    assay__buf_add(into, assay__buf_text(&w->pictures), w->pictures.length);
    if (both) assay__buf_puts(into, "</div>\n<div class=\"rest\">\n");
    assay__buf_add(into, assay__buf_text(&w->rest), w->rest.length);
    if (both) assay__buf_puts(into, "</div>\n</div>\n");
    assay__buf_drop(&w->pictures, into);
    assay__buf_drop(&w->rest, into);
    w->paired = false;
}

/* --- the walk --------------------------------------------------------------------------------- */

static void put_block(struct walk *w, const struct assay__block *block)
{
    static const char *const sentences[] = {
        [ASSAY__TONE_PLAIN] = "<p>",
        [ASSAY__TONE_LEAD] = "<p class=\"lead\">",
        [ASSAY__TONE_NOTE] = "<p class=\"note\">",
        [ASSAY__TONE_WARN] = "<p class=\"alert\">",
        [ASSAY__TONE_ALERT] = "<p class=\"alert\">",
    };
    const struct assay__heading *h = &block->heading;
    switch (block->kind) {
    case ASSAY__BLOCK_SECTION: begin_section(w, h); break;
    case ASSAY__BLOCK_FOLD:
        w->piece = NULL;
        assay__buf_puts(w->body, "<details");
        if (h->id) assay__buf_printf(w->body, " id=\"%s\"", h->id);
        assay__buf_puts(w->body, h->flags & ASSAY__SECTION_OPEN ? " open><summary>" : "><summary>");
        assay__html_name(w->body, h->title);
        put_prose(w, h->remark ? ": " : "", h->remark, "</summary>\n");
        break;
    case ASSAY__BLOCK_SENTENCE: put_prose(w, sentences[block->tone], block->text, "</p>\n"); break;
    case ASSAY__BLOCK_FACT: put_fact(w, block->fact); break;
    case ASSAY__BLOCK_LIST:
        assay__buf_puts(w->body, "<ul>\n");
        for (size_t i = 0; i < block->list->count; i++)
            put_prose(w, "<li>", block->list->items[i], "</li>\n");
        assay__buf_puts(w->body, "</ul>\n");
        break;
    case ASSAY__BLOCK_TABLE: assay__walk_parts(block->table, put_part, w, &w->body->failed); break;
    case ASSAY__BLOCK_FIGURE: put_picture(w, block->picture); break;
    case ASSAY__BLOCK_CODE:
        if (block->code->title) put(w, "<h4>", block->code->title, "</h4>\n");
        put(w, "<pre class=\"command\" tabindex=\"0\"><code>", block->code->text,
            "</code></pre>\n");
        break;
    case ASSAY__BLOCK_END: break;
    }
}

static void put_blocks(struct walk *w)
{
    static const char *const ends[] = {"</section>\n", "</div>\n", "</details>\n"};
    int open[OPEN];
    w->tab = w->body;
    for (size_t i = 0; i < w->doc->count; i++) {
        const struct assay__block *block = &w->doc->blocks[i];
        bool fold = block->kind == ASSAY__BLOCK_FOLD;
        if (block->headed) continue;
        if (block->kind != ASSAY__BLOCK_FACT) close_list(w);
        if (block->kind == ASSAY__BLOCK_END && w->depth > 0) {
            w->piece = NULL;
            if (--w->depth == 0 && w->paired) put_pair(w, w->tab);
            if (w->depth < OPEN) {
                assay__buf_puts(w->body, ends[open[w->depth]]);
                w->folds -= open[w->depth] == 2;
            }
            continue;
        }
        bool begins = block->kind == ASSAY__BLOCK_SECTION || fold;
        if (begins && !w->depth) enter_tab(w, &block->heading);
        put_block(w, block);
        if (!begins) continue;
        if (!w->depth && w->paired) turn_to(w, &w->rest);
        if (w->depth < OPEN) {
            open[w->depth] = fold ? 2 : w->depth || !block->heading.id ? 1 : 0;
            w->folds += fold;
        }
        w->depth++;
    }
    close_list(w);
}

/* For the tab with the evidence: what the marks mean, and what can be downloaded. */
static void put_evidence(struct walk *w)
{
    size_t last = ASSAY__TAB_COUNT - 1;
    while (last > ASSAY__TAB_OVERVIEW && !w->page.tabs[last].body.length)
        last--;
    turn_to(w, &w->page.tabs[last].body);
    if (w->doc->attachment_count) /* the script fills and shows it */
        assay__buf_puts(w->body, "<p id=\"downloads\" class=\"downloads\" hidden></p>\n");
    if (w->doc->marks)
        assay__buf_puts(w->body,
                        "<p class=\"note key\">Plain numbers were measured; = marks those "
                        "that are derived from measured ones (in the head of a column: all "
                        "of it), ~ what a model estimates, — what is not available.<span "
                        "class=\"screen\"> Hover or focus a dotted number to see what it "
                        "is, its state and where it comes from.</span></p>\n");
}

int assay__walk_html(const struct assay__doc *doc, const struct assay_report_options *options,
                     struct assay__buf *out, struct assay_error *error)
{
    struct walk w = {.doc = doc, .page = {.trial = -1}};
    struct assay__buf header = {0}, data = {0};
    (void)options;
    (void)error;
    w.body = &header;
    put_header(&w);
    turn_to(&w, &w.page.tabs[ASSAY__TAB_OVERVIEW].body);
    put_blocks(&w);
    put_evidence(&w);
    for (size_t i = 0; i < doc->attachment_count; i++)
        assay__html_data(&data, &doc->attachments[i]);
    assay__html_document(&w.page, doc, &header, &data, out);
    assay__buf_drop(&w.regions, out);
    assay__buf_free(&header);
    assay__buf_free(&data);
    return 0;
}
