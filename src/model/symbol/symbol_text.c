/* symbol_text.c - a symbolic integer as text: "past + seq", "floor((s0 + 1)/2)". Made once for each
 * expression. */
#include "model/symbol/symbol_internal.h"

#include "base/buf.h"

#include <string.h>

static void put_num(struct assay__symbols *symbols, struct assay__buf *buf, int64_t num, bool group)
{
    const struct assay__expression *expression = assay__symbols_get(symbols, num);
    bool wrap = group && expression && expression->count > 1;
    if (wrap) assay__buf_putc(buf, '(');
    if (expression)
        assay__buf_puts(buf, assay__num_text(symbols, num));
    else
        assay__buf_printf(buf, "%lld", (long long)num);
    if (wrap) assay__buf_putc(buf, ')');
}

static void put_atom(struct assay__symbols *symbols, struct assay__buf *buf, int32_t index)
{
    struct assay__atom atom = symbols->atoms[index];
    if (atom.kind == ASSAY__ATOM_NAME) {
        assay__buf_puts(buf, atom.name);
        return;
    }
    bool floor = atom.kind == ASSAY__ATOM_FLOOR;
    assay__buf_puts(buf, floor ? "floor(" : atom.kind == ASSAY__ATOM_MIN ? "min(" : "max(");
    put_num(symbols, buf, atom.a, floor);
    assay__buf_puts(buf, floor ? "/" : ", ");
    put_num(symbols, buf, atom.b, floor);
    assay__buf_putc(buf, ')');
}

/* The text of one term without its sign. */
static char *term_text(struct assay__symbols *symbols, const struct assay__term *term)
{
    struct assay__buf buf = {0};
    uint64_t size = term->coefficient < 0 ? 0 - (uint64_t)term->coefficient
                                          : (uint64_t)term->coefficient;
    if (size != 1 || term->degree == 0) assay__buf_printf(&buf, "%llu", (unsigned long long)size);
    for (int i = 0; i < term->degree; i++) {
        if (buf.length) assay__buf_putc(&buf, '*');
        put_atom(symbols, &buf, term->atoms[i]);
    }
    return assay__buf_keep(&buf, symbols->arena);
}

/* Added terms before subtracted ones, the constant last, else larger degrees first and then by
 * text: so that the text does not depend on which symbol was met first. */
static bool before(const struct assay__term *a, const char *a_text, const struct assay__term *b,
                   const char *b_text)
{
    if ((a->degree == 0) != (b->degree == 0)) return b->degree == 0;
    if ((a->coefficient < 0) != (b->coefficient < 0)) return b->coefficient < 0;
    if (a->degree != b->degree) return a->degree > b->degree;
    return strcmp(a_text, b_text) < 0;
}

const char *assay__num_text(struct assay__symbols *symbols, int64_t num)
{
    const struct assay__expression *found = assay__symbols_get(symbols, num);
    if (!found) return "";
    if (found->text) return found->text;
    const struct assay__term *terms = found->terms;
    int count = found->count, order[ASSAY__POLY_TERMS] = {0};
    const char *texts[ASSAY__POLY_TERMS] = {NULL};
    struct assay__buf buf = {0};
    for (int i = 0; i < count; i++) {
        if (!(texts[i] = term_text(symbols, &terms[i]))) return "";
        int at = i;
        for (; at > 0 && before(&terms[i], texts[i], &terms[order[at - 1]], texts[order[at - 1]]);
             at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (int i = 0; i < count; i++) {
        bool minus = terms[order[i]].coefficient < 0;
        if (i)
            assay__buf_puts(&buf, minus ? " - " : " + ");
        else if (minus)
            assay__buf_putc(&buf, '-');
        assay__buf_puts(&buf, texts[order[i]]);
    }
    const char *text = assay__buf_keep(&buf, symbols->arena);
    if (text) symbols->expressions[num - ASSAY__NUM_CODE].text = text;
    return text ? text : "";
}
