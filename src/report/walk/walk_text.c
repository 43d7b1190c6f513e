/* walk_text.c - a document for the terminal: a page of 40 columns or more (80 by default). Folds
 * are left out unless the reader asks for everything; the last line then mentions them. */
#include "report/figure/figure.h"
#include "report/walk/text_page.h"
#include "report/formats.h"

#include "base/text.h"

#include <stdint.h>
#include <string.h>

enum { LIST_MOST = 20, LABEL_LEAST = 11, LABEL_MOST = 22, TOP = 20, WIDEST = 1000 };

struct walk {
    struct assay__page page;
    const struct assay__doc *doc;
    bool full;
    size_t top;    /* rows of a table */
    size_t folded; /* folds that were left out */
    size_t label_width;
    const char *heading; /* of the last section or fold */
    bool keyed;          /* of the picture that is drawn */
};

static void put_fact(struct walk *w, const struct assay__fact *fact)
{
    struct assay__buf items = {0}, first = {0};
    for (size_t i = 0; i < fact->count; i++) {
        const struct assay__item *item = &fact->items[i];
        struct assay__buf value = {0};
        assay__datum_print(&value, &item->value, NULL, 0);
        const char *text = assay__buf_text(&value);
        bool unknown = item->value.kind == ASSAY__DATUM_NUMBER &&
                       !assay__datum_is_known(&item->value);
        const char *why = unknown && item->value.note ? item->value.note : "";
        if (fact->count == 1 || *why || (item->after && assay__text_width(item->after) > 24))
            /* a sentence: it may break anywhere */
            assay__buf_printf(&items, "%s%s%s%s%s%s%s%s", items.length ? " · " : "",
                              item->name ? item->name : "", item->name ? " " : "", text,
                              *why ? " " : "", why, item->after ? " " : "",
                              item->after ? item->after : "");
        else
            assay__page_item(&items, "%s%s%s%s%s", item->name ? item->name : "",
                             item->name ? " " : "", text, item->after ? " " : "",
                             item->after ? item->after : "");
        assay__buf_drop(&value, &items);
    }
    assay__buf_puts(&first, "  ");
    struct assay__page line = w->page;
    line.out = &first;
    assay__page_fit(&line, fact->label, (int)w->label_width, 0);
    assay__buf_putc(&first, ' ');
    assay__page_wrap(&w->page, ASSAY__STYLE_PLAIN, assay__buf_text(&first),
                     assay__buf_text(&items));
    assay__buf_drop(&items, w->page.out);
    assay__buf_drop(&first, w->page.out);
}

/* Facts that follow each other are one column of labels. */
static size_t label_width(const struct assay__doc *doc, size_t from)
{
    size_t width = LABEL_LEAST;
    for (size_t i = from; i < doc->count && doc->blocks[i].kind == ASSAY__BLOCK_FACT; i++) {
        size_t own = assay__text_width(doc->blocks[i].fact->label);
        if (own > width) width = own;
    }
    return width < LABEL_MOST ? width : LABEL_MOST;
}

/* Index of the block after the end of the section or fold that begins at `at`. */
static size_t past_end(const struct assay__doc *doc, size_t at)
{
    int depth = 0;
    for (; at < doc->count; at++) {
        enum assay__block_kind kind = doc->blocks[at].kind;
        depth += kind == ASSAY__BLOCK_SECTION || kind == ASSAY__BLOCK_FOLD;
        depth -= kind == ASSAY__BLOCK_END;
        if (!depth) return at;
    }
    return at;
}

static void put_part(void *context, const struct assay__table *table,
                     const struct assay__heading *part)
{
    struct walk *w = context;
    if (part) assay__page_heading(&w->page, part->title, part->remark);
    assay__text_table(&w->page, table, assay__walk_limit(table, w->full ? SIZE_MAX : w->top));
}

static bool is_shown_table(const struct assay__block *block)
{
    return block->kind == ASSAY__BLOCK_TABLE && !block->table->data && block->table->row_count;
}

/* Only a blank line is between it and what is above. */
static bool stands_apart(const struct assay__block *before)
{
    return is_shown_table(before) ||
           (before->kind == ASSAY__BLOCK_SECTION && before->heading.flags & ASSAY__SECTION_QUIET);
}

static void draw(void *context, const struct assay__figure *figure)
{
    struct walk *w = context;
    struct assay__figure shown = *figure;
    shown.keyed = w->keyed;
    if (w->heading && figure->title && strcmp(figure->title, w->heading) == 0) shown.title = "";
    assay__figure_text(&w->page, &shown);
}

static void put_picture(struct walk *w, const struct assay__picture *picture)
{
    struct assay_error why;
    if (picture->flags & ASSAY__PICTURE_DETAIL && !w->full) return;
    if (picture->flags & ASSAY__PICTURE_PAGE) return;
    w->keyed = picture->flags & ASSAY__PICTURE_KEYED;
    if (!assay__walk_picture(picture, draw, w, &why, &w->page.out->failed) &&
        picture->flags & ASSAY__PICTURE_SAY && why.message[0])
        assay__page_wrap(&w->page, ASSAY__STYLE_DIM, "  ", why.message);
}

static void put_block(struct walk *w, const struct assay__block *block)
{
    static const enum assay__style styles[] = {
        [ASSAY__TONE_PLAIN] = ASSAY__STYLE_PLAIN, [ASSAY__TONE_LEAD] = ASSAY__STYLE_BOLD,
        [ASSAY__TONE_NOTE] = ASSAY__STYLE_DIM,    [ASSAY__TONE_WARN] = ASSAY__STYLE_WARN,
        [ASSAY__TONE_ALERT] = ASSAY__STYLE_FAULT,
    };
    bool lead = block->tone == ASSAY__TONE_LEAD;
    size_t shown = 0;
    switch (block->kind) {
    case ASSAY__BLOCK_SECTION:
    case ASSAY__BLOCK_FOLD:
        w->heading = block->heading.title;
        if (block->heading.flags & ASSAY__SECTION_QUIET) break;
        assay__page_heading(&w->page, block->heading.title, block->heading.remark);
        break;
    case ASSAY__BLOCK_SENTENCE:
        if (lead) assay__buf_putc(w->page.out, '\n');
        assay__page_wrap(&w->page, styles[block->tone], lead ? "" : "  ", block->text);
        break;
    case ASSAY__BLOCK_FACT: put_fact(w, block->fact); break;
    case ASSAY__BLOCK_LIST:
        for (; shown < block->list->count && (w->full || shown < LIST_MOST); shown++)
            assay__page_wrap(&w->page, ASSAY__STYLE_PLAIN, "  • ", block->list->items[shown]);
        if (shown < block->list->count)
            assay__page_print(&w->page, ASSAY__STYLE_DIM, "    ", "and %zu more",
                              block->list->count - shown);
        break;
    case ASSAY__BLOCK_TABLE:
        assay__walk_parts(block->table, put_part, w, &w->page.out->failed);
        break;
    case ASSAY__BLOCK_FIGURE: put_picture(w, block->picture); break;
    case ASSAY__BLOCK_CODE:
        if (block->code->title) assay__page_heading(&w->page, block->code->title, "");
        assay__text_code(&w->page, block->code);
        break;
    case ASSAY__BLOCK_END: break;
    }
}

static void put_blocks(struct walk *w)
{
    const struct assay__doc *doc = w->doc;
    for (size_t i = 0; i < doc->count; i++) {
        const struct assay__block *block = &doc->blocks[i];
        if (!w->full &&
            (block->kind == ASSAY__BLOCK_FOLD || (block->kind == ASSAY__BLOCK_SECTION &&
                                                  block->heading.flags & ASSAY__SECTION_DETAIL))) {
            w->folded++;
            if (block->heading.remark) /* it says how much is left out */
                assay__page_print(&w->page, ASSAY__STYLE_DIM, "  … ", "%s: %s",
                                  block->heading.title, block->heading.remark);
            i = past_end(doc, i);
            continue;
        }
        if (block->kind == ASSAY__BLOCK_FACT && (!i || doc->blocks[i - 1].kind != block->kind))
            w->label_width = label_width(doc, i);
        if (is_shown_table(block) && i && stands_apart(&doc->blocks[i - 1]))
            assay__buf_putc(w->page.out, '\n');
        put_block(w, block);
    }
}

int assay__walk_text(const struct assay__doc *doc, const struct assay_report_options *options,
                     struct assay__buf *out, struct assay_error *error)
{
    size_t start = out->length;
    struct walk w = {.doc = doc, .full = options->full};
    (void)error;
    w.page = (struct assay__page){.out = out, .color = options->color, .ascii = options->ascii};
    w.page.columns = options->columns ? options->columns : 80;
    if (w.page.columns < ASSAY__PAGE_MIN_COLUMNS) w.page.columns = ASSAY__PAGE_MIN_COLUMNS;
    if (w.page.columns > WIDEST) w.page.columns = WIDEST;
    w.top = options->top < 0 ? SIZE_MAX : options->top ? (size_t)options->top : TOP;
    w.page.top = options->top ? options->top : TOP;
    if (*doc->title) assay__page_title(&w.page, doc->title, doc->version);
    put_blocks(&w);
    bool unfold = options->unfold && (w.folded || doc->shortened);
    if (doc->marks || unfold) assay__buf_putc(out, '\n');
    if (doc->marks)
        assay__page_wrap(&w.page, ASSAY__STYLE_DIM, "",
                         "plain measured · = derived · ~ estimated · (published) · — unavailable");
    if (unfold) assay__page_wrap(&w.page, ASSAY__STYLE_DIM, "", options->unfold);
    if (w.page.ascii) assay__page_to_ascii(out, start);
    return 0;
}
