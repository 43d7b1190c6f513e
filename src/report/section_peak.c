/* section_peak.c - the activations that are alive when most are: the largest, each with its share
 * of them all, its shape and type, and the node that makes it; what the others take together. A
 * size that is not known is "—" and has no share. */
#include "report/section_peak.h"

#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define TENSORS_SHOWN 8
#define SIZE 10
#define SHARE 9
#define UNDER_NAME 60 /* columns from which on the second line begins below the name */

static const char *text_of(const struct assay__buf *buf)
{
    return buf->data ? buf->data : "";
}

static void put_maker(struct assay__buf *out, const struct assay__peak_tensor *t)
{
    if (*t->producer)
        assay__buf_printf(out, "made by %s (%s)", t->producer, t->op);
    else if (*t->op)
        assay__buf_printf(out, "made by a node without a name (%s)", t->op);
    else
        assay__buf_puts(out, "an input of the model");
}

/* Size, share and name; below them what it is and where it comes from. */
static void put_tensor(struct assay__page *page, const struct assay__peak *peak,
                       const struct assay__peak_tensor *t)
{
    char size[80], scaled[64], share[32];
    struct assay__buf first = {0}, line = {0};
    struct assay__page cells = {.out = &first, .columns = page->columns};
    double part = t->bytes / peak->bytes;
    assay__text_scaled(scaled, sizeof scaled, t->bytes, "B");
    snprintf(size, sizeof size, "%s%s", isfinite(t->bytes) ? "=" : "", scaled);
    snprintf(share, sizeof share, part > 0 && part < 0.0005 ? "<0.1 %%" : "=%.1f %%", part * 100);
    assay__page_right(&cells, size, SIZE);
    assay__page_right(&cells, isfinite(part) ? share : "—", SHARE);
    assay__buf_puts(&first, "  ");
    assay__page_wrap_lines(page, ASSAY__STYLE_PLAIN, text_of(&first), t->name, 3);
    assay__buf_printf(&line, "%s, ", *t->type ? t->type : "type not known");
    put_maker(&line, t);
    assay__buf_clear(&first);
    assay__buf_repeat(&first, " ", page->columns >= UNDER_NAME ? SIZE + SHARE + 2 : SIZE + 2);
    assay__page_wrap_lines(page, ASSAY__STYLE_DIM, text_of(&first), text_of(&line), 4);
    if (first.failed || line.failed) page->out->failed = true;
    assay__buf_free(&first);
    assay__buf_free(&line);
}

static void put_table(struct assay__page *page, const struct assay__peak *peak, size_t shown)
{
    assay__page_style(page, ASSAY__STYLE_DIM);
    assay__page_right(page, "size", SIZE);
    assay__page_right(page, "share", SHARE);
    assay__buf_puts(page->out, "  tensor\n");
    assay__page_style(page, ASSAY__STYLE_PLAIN);
    for (size_t i = 0; i < shown; i++)
        put_tensor(page, peak, &peak->tensors[i]);
}

/* "and 12 more, =1.20 MB together; --top 0 shows all" */
static void put_rest(struct assay__page *page, const struct assay__peak *peak, size_t shown)
{
    struct assay__buf text = {0};
    char scaled[64];
    double rest = peak->rest_bytes;
    if (peak->alive <= (int64_t)shown) return;
    for (size_t i = shown; i < peak->count; i++)
        rest += peak->tensors[i].bytes;
    assay__text_scaled(scaled, sizeof scaled, rest, "B");
    assay__buf_printf(&text, "and %" PRId64 " more, %s%s together", peak->alive - (int64_t)shown,
                      isfinite(rest) ? "=" : "", scaled);
    if (shown < peak->count && peak->alive > (int64_t)peak->count)
        assay__buf_printf(&text, "; --top 0 shows the largest %zu", peak->count);
    else if (shown < peak->count)
        assay__buf_puts(&text, "; --top 0 shows all");
    assay__page_wrap(page, ASSAY__STYLE_DIM, "  ", text_of(&text));
    if (text.failed) page->out->failed = true;
    assay__buf_free(&text);
}

void assay__section_peak(struct assay__page *page, const struct assay__trial *trial)
{
    const struct assay__peak *peak = &trial->peak;
    struct assay__buf text = {0};
    bool known = assay__trial_metric(trial, "memory.activation.predicted") != NULL;
    if (!peak->reason || (*peak->reason && !known)) return;
    assay__page_heading(page, "Alive at the peak", "activations, the largest first");
    if (*peak->reason) {
        assay__buf_printf(&text, "— %s", peak->reason);
        assay__page_wrap(page, ASSAY__STYLE_PLAIN, "  ", text_of(&text));
    } else {
        size_t most = page->top < 0 ? peak->count : TENSORS_SHOWN,
               shown = peak->count < most ? peak->count : most;
        if (shown + 1 == peak->count) shown++; /* the row is no longer than saying so */
        assay__render_peak(&text, peak);
        assay__page_wrap(page, ASSAY__STYLE_PLAIN, "  ", text_of(&text));
        if (shown) put_table(page, peak, shown);
        put_rest(page, peak, shown);
    }
    if (text.failed) page->out->failed = true;
    assay__buf_free(&text);
}
