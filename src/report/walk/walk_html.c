/* walk_html.c - a document as one page. Sections of the first level are what the navigation lists;
 * tables can be sorted; numbers that are metrics show where they come from when hovered or focused.
 * The page is complete without its script, except rows beyond the first ROWS of a table. */
#include "report/figure/figure.h"
#include "report/walk/html_page.h"
#include "report/walk/walk.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS = 500, TIPPED_ROWS = 200, OPEN = 64, WIDTHS = 50 };

struct walk {
    struct assay__html page;
    struct assay__buf *body;
    const struct assay__doc *doc;
    int depth;             /* of sections and folds that are open … */
    int folds;             /* … and how many of them are folds, whose titles are not headings */
    unsigned views[OPEN];  /* of the sections around */
    const char *open_list; /* "</dl>\n" of facts that are not ended yet; NULL */
};

/* --- numbers with where they come from -------------------------------------------------------- */

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

static void put_tip(struct walk *w, const struct assay__datum *value, const char *text)
{
    bool known = assay__datum_is_known(value);
    const struct assay_metric_info *info = value->name ? assay_metric_lookup(value->name) : NULL;
    assay__buf_printf(w->body,
                      "<span class=\"tipped\"><span class=\"num%s\" tabindex=\"0\" "
                      "aria-describedby=\"tip-%u\">",
                      known ? "" : " gone", ++w->page.tips);
    assay__html_text(w->body, text);
    assay__buf_printf(w->body, "</span><span class=\"tip\" role=\"tooltip\" id=\"tip-%u\">",
                      w->page.tips);
    tip_line(w, "what", info ? info->summary : value->name);
    tip_line(w, "state", assay_state_name(known ? value->state : ASSAY_UNAVAILABLE));
    if (known) tip_line(w, "source", value->source);
    tip_line(w, !known ? "why" : value->state == ASSAY_DERIVED ? "formula" : "note", value->note);
    assay__buf_puts(w->body, "</span></span>");
}

static void put_value(struct walk *w, const struct assay__datum *value,
                      const struct assay__column *column, bool tipped)
{
    static const char *const badges[] = {"", "pass", "warn", "fail"};
    struct assay__buf text = {0};
    assay__datum_print(&text, value, column ? column->unit : NULL, column ? column->factor : 0);
    const char *shown = assay__buf_text(&text);
    bool number = value->kind == ASSAY__DATUM_NUMBER;
    if (value->badge) {
        assay__buf_printf(w->body, "<span class=\"verdict %s\">", badges[value->badge]);
        put(w, "", shown, "</span>");
    } else if (number && tipped && (value->name || (value->note && *value->note)))
        put_tip(w, value, shown);
    else if (number)
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
}

/* A card per item, labelled with its name. */
static void put_cards(struct walk *w, const struct assay__fact *fact)
{
    close_list(w);
    assay__buf_puts(w->body, "<dl class=\"cards\">\n");
    for (size_t i = 0; i < fact->count; i++) {
        const struct assay__item *item = &fact->items[i];
        const char *state = assay_state_name(
            assay__datum_is_known(&item->value) ? item->value.state : ASSAY_UNAVAILABLE);
        put(w, "<div class=\"card\"><dt>", item->name ? item->name : fact->label,
            "</dt><dd class=\"big\">");
        put_value(w, &item->value, NULL, true);
        assay__buf_printf(w->body, "</dd><dd class=\"from\"><span class=\"state %s\">%s</span> ",
                          state, state);
        put_prose(w, "", item->after ? item->after : item->value.name, "</dd></div>\n");
    }
    assay__buf_puts(w->body, "</dl>\n");
}

static void put_fact(struct walk *w, const struct assay__fact *fact)
{
    if (fact->cards) {
        put_cards(w, fact);
        return;
    }
    if (!w->open_list) assay__buf_puts(w->body, "<dl class=\"facts\">\n");
    w->open_list = "</dl>\n";
    put(w, "<div><dt>", fact->label, "</dt><dd>");
    for (size_t i = 0; i < fact->count; i++) {
        if (i) assay__buf_puts(w->body, " · ");
        const struct assay__item *item = &fact->items[i];
        bool unknown = item->value.kind == ASSAY__DATUM_NUMBER &&
                       !assay__datum_is_known(&item->value);
        if (item->name) put(w, "", item->name, " ");
        put_value(w, &item->value, NULL, true);
        if (unknown && item->value.note) put_prose(w, " ", item->value.note, "");
        if (item->after) put_prose(w, " ", item->after, "");
    }
    assay__buf_puts(w->body, "</dd></div>\n");
}

/* --- tables ----------------------------------------------------------------------------------- */

static void put_head(struct walk *w, const struct assay__table *table, bool sortable)
{
    const char *caption = table->caption ? table->caption : "";
    put(w, "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"", caption,
        "\">\n<table");
    if (table->id) assay__buf_printf(w->body, " id=\"%s%s\"", table->prefix, table->id);
    if (table->name) assay__buf_printf(w->body, " data-table=\"%s\"", table->name);
    if (table->scripted)
        assay__buf_printf(w->body, " class=\"%s\"", table->name);
    else if (sortable)
        assay__buf_puts(w->body, " class=\"sortable\"");
    put(w, ">\n<caption class=\"hidden\">", caption, "</caption>\n<thead><tr>");
    for (size_t c = 0; c < table->column_count; c++) {
        const struct assay__column *column = &table->columns[c];
        if (!assay__walk_column_is_shown(table, c)) continue;
        assay__buf_puts(w->body, "<th scope=\"col\"");
        if (column->unit) assay__buf_puts(w->body, " class=\"n\"");
        put(w, " data-key=\"", column->key ? column->key : column->title, "\">");
        put(w, "", column->title, "</th>");
    }
    assay__buf_puts(w->body, "</tr></thead>\n<tbody>\n");
}

/* The first name of a row is its header. */
static bool is_row_header(const struct assay__table *table, size_t column)
{
    for (size_t c = 0; c < column; c++)
        if (table->columns[c].flags & ASSAY__COLUMN_NAME && assay__walk_column_is_shown(table, c))
            return false;
    return table->columns[column].flags & ASSAY__COLUMN_NAME;
}

static void put_cell(struct walk *w, const struct assay__table *table, size_t c,
                     const struct assay__datum *value)
{
    const struct assay__column *column = &table->columns[c];
    bool name = is_row_header(table, c);
    if (column->flags & ASSAY__COLUMN_BAR) {
        /* One of fifty widths: a class costs a browser less than a picture in every row. */
        double share = assay__datum_is_known(value) ? value->number : 0;
        assay__buf_puts(w->body, "<td class=\"bar\">");
        if (share > 0)
            assay__buf_printf(w->body, "<i class=\"w%d\"></i>",
                              (int)fmin(WIDTHS, fmax(1, round(share * WIDTHS))));
        assay__buf_puts(w->body, "</td>");
        return;
    }
    assay__buf_puts(w->body, name ? "<th scope=\"row\"" : "<td");
    if (column->unit) assay__buf_puts(w->body, " class=\"n\"");
    if (column->flags & ASSAY__COLUMN_PROSE) assay__buf_puts(w->body, " class=\"words\"");
    if (column->unit && value->kind == ASSAY__DATUM_NUMBER && assay__datum_is_known(value))
        assay__buf_printf(w->body, " data-v=\"%.9g\"", value->number);
    assay__buf_putc(w->body, '>');
    if (value->link) assay__buf_printf(w->body, "<a href=\"#%s%s\">", table->prefix, value->link);
    put_value(w, value, column, table->row_count <= TIPPED_ROWS);
    if (value->link) assay__buf_puts(w->body, "</a>");
    assay__buf_puts(w->body, name ? "</th>" : "</td>");
}

static void put_row(struct walk *w, const struct assay__table *table, size_t row,
                    const struct assay__datum *cells)
{
    unsigned flags = assay__table_flags(table, row);
    const char *id = table->fill ? NULL : table->rows[row].id;
    assay__buf_puts(w->body, "<tr");
    if (id) assay__buf_printf(w->body, " id=\"%s%s\"", table->prefix, id);
    if (flags & (ASSAY__ROW_TOTAL | ASSAY__ROW_BEST))
        assay__buf_printf(w->body, " class=\"%s\"", flags & ASSAY__ROW_BEST ? "best" : "extra");
    assay__buf_putc(w->body, '>');
    for (size_t c = 0; c < table->column_count; c++)
        if (assay__walk_column_is_shown(table, c)) put_cell(w, table, c, &cells[c]);
    assay__buf_puts(w->body, "</tr>\n");
}

static void put_left_out(struct walk *w, const struct assay__table *table, size_t shown,
                         size_t more)
{
    if (!more) return;
    assay__buf_printf(w->body, "<p class=\"note\">The first %s of %s %s are shown here; %s</p>\n",
                      assay__scaled((double)shown, "count").text,
                      assay__scaled((double)(shown + more), "count").text,
                      table->more ? table->more : "rows",
                      table->scripted ? "with JavaScript the others can be shown, sorted and "
                                        "searched; all are in the data of this page."
                                      : "the CSV format has all of them.");
}

static void put_part(void *context, const struct assay__table *table,
                     const struct assay__heading *part)
{
    struct walk *w = context;
    size_t *rows = calloc(table->row_count, sizeof *rows), body = 0, more = 0;
    struct assay__datum *scratch = calloc(table->column_count + 1, sizeof *scratch);
    size_t count = rows && scratch ? assay__walk_rows(table, ROWS, rows, &body, &more) : 0;
    if (!rows || !scratch) w->body->failed = true;
    if (part) {
        put(w, "<h3>", part->title, "</h3>\n");
        put_note(w, part->remark);
    }
    if (count) {
        put_left_out(w, table, body, more);
        if (table->scripted)
            assay__buf_printf(w->body, "<div data-trial=\"%d\" data-count=\"%zu\">\n", table->trial,
                              body + more);
        put_head(w, table, body > 1);
        for (size_t i = 0; i < count; i++)
            put_row(w, table, rows[i], assay__table_cells(table, rows[i], scratch));
        assay__buf_puts(w->body, "</tbody>\n</table>\n</div>\n");
        if (table->scripted) assay__buf_puts(w->body, "</div>\n");
    }
    free(rows);
    free(scratch);
}

/* --- sections --------------------------------------------------------------------------------- */

static void begin_section(struct walk *w, const struct assay__heading *h)
{
    const char *id = h->id ? h->id : "";
    unsigned views = h->flags & ASSAY__VIEWS;
    if (!views) views = w->depth ? w->views[w->depth - 1] : ASSAY__VIEW_OVERVIEW;
    if (w->depth < OPEN) w->views[w->depth] = views;
    w->page.heading = h->title;
    if (!w->depth && *id) {
        if (w->page.link_count < ASSAY__HTML_SECTIONS)
            w->page.links[w->page.link_count++] = (struct assay__html_link){id, h->title, views};
        assay__buf_printf(w->body,
                          "<section id=\"%s\" data-views=\"%u\" aria-labelledby=\"h-%s\">\n<h2 "
                          "id=\"h-%s\"><a href=\"#%s\">",
                          id, views, id, id, id);
        put(w, "", h->title, "</a></h2>\n");
    } else {
        int level = w->depth - w->folds < 3 ? w->depth - w->folds + 2 : 4;
        assay__buf_puts(w->body, "<div class=\"part\"");
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
    assay__html_draw(&w->page, figure);
}

static void put_picture(struct walk *w, const struct assay__picture *picture)
{
    struct assay_error why;
    w->page.trial = picture->trial ? picture->trial->id : -1;
    if (!assay__walk_picture(picture, draw, w, &why, &w->body->failed) &&
        picture->flags & ASSAY__PICTURE_SAY && why.message[0])
        put_prose(w, "<p class=\"note\">No picture: ", why.message, "</p>\n");
    w->page.trial = -1;
}

/* --- the walk --------------------------------------------------------------------------------- */

static void put_block(struct walk *w, const struct assay__block *block)
{
    static const char *const sentences[] = {
        [ASSAY__TONE_PLAIN] = "<p>",
        [ASSAY__TONE_LEAD] = "<p class=\"lead answer\">",
        [ASSAY__TONE_NOTE] = "<p class=\"note\">",
        [ASSAY__TONE_WARN] = "<p class=\"alert\">",
        [ASSAY__TONE_ALERT] = "<p class=\"alert\">",
    };
    const struct assay__heading *h = &block->heading;
    switch (block->kind) {
    case ASSAY__BLOCK_SECTION: begin_section(w, h); break;
    case ASSAY__BLOCK_FOLD:
        assay__buf_puts(w->body, "<details");
        if (h->id) assay__buf_printf(w->body, " id=\"%s\"", h->id);
        assay__buf_puts(w->body, "><summary>");
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
        if (block->code->title) put(w, "<h3>", block->code->title, "</h3>\n");
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
    for (size_t i = 0; i < w->doc->count; i++) {
        const struct assay__block *block = &w->doc->blocks[i];
        bool fold = block->kind == ASSAY__BLOCK_FOLD;
        if (block->kind != ASSAY__BLOCK_FACT) close_list(w);
        if (block->kind == ASSAY__BLOCK_END && w->depth > 0) {
            /* Once, at the end of the first section. */
            if (--w->depth == 0 && w->doc->marks && w->page.link_count == 1)
                assay__buf_puts(
                    w->body, "<p class=\"note key\">Plain numbers were measured; = is derived "
                             "from measured ones, ~ estimated by a model, — not available. Hover "
                             "or focus a number to see what it is and where it comes "
                             "from.</p>\n");
            if (w->depth < OPEN) {
                assay__buf_puts(w->body, ends[open[w->depth]]);
                w->folds -= open[w->depth] == 2;
            }
            continue;
        }
        put_block(w, block);
        if (block->kind != ASSAY__BLOCK_SECTION && !fold) continue;
        if (w->depth < OPEN) {
            open[w->depth] = fold ? 2 : w->depth || !block->heading.id ? 1 : 0;
            if (fold) w->views[w->depth] = w->depth ? w->views[w->depth - 1] : 1;
            w->folds += fold;
        }
        w->depth++;
    }
    close_list(w);
}

int assay__walk_html(const struct assay__doc *doc, const struct assay_report_options *options,
                     struct assay__buf *out, struct assay_error *error)
{
    struct walk w = {.doc = doc, .page = {.trial = -1}};
    struct assay__buf data = {0};
    (void)options;
    (void)error;
    w.body = &w.page.body;
    put_blocks(&w);
    if (doc->attachment_count) /* the script fills and shows it */
        assay__buf_puts(w.body, "<p id=\"downloads\" class=\"downloads\" hidden></p>\n");
    for (size_t i = 0; i < doc->attachment_count; i++)
        assay__html_data(&data, doc->attachments[i].id, doc->attachments[i].json.data,
                         doc->attachments[i].json.length);
    assay__html_document(&w.page, doc, &data, out);
    assay__buf_free(&data);
    return 0;
}
