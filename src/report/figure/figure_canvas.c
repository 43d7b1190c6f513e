/* figure_canvas.c - see figure_canvas.h. */
#include "report/figure/figure_canvas.h"

#include "base/text.h"

#define NUDGE 4

void assay__canvas_dot(struct assay__canvas *canvas, int column, int row)
{
    static const unsigned char bits[4][2] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    if (column < 0 || row < 0 || column >= canvas->columns * 2 || row >= canvas->rows * 4) return;
    canvas->dots[row / 4][column / 2] |= bits[row % 4][column % 2];
}

bool assay__canvas_letter(struct assay__canvas *canvas, int column, int row, char letter)
{
    for (int away = 0; away <= 2 * NUDGE; away++) {
        int at = column + (away % 2 ? (away + 1) / 2 : -(away / 2));
        if (row < 0 || row >= canvas->rows || at < 0 || at >= canvas->columns ||
            canvas->text[row][at])
            continue;
        canvas->text[row][at] = letter;
        canvas->letter[row][at] = true;
        return true;
    }
    return false;
}

static void put_dots(const struct assay__canvas *canvas, unsigned char bits)
{
    if (!canvas->page->ascii) {
        const char braille[] = {(char)0xe2, (char)(0xa0 | bits >> 6), (char)(0x80 | (bits & 63)),
                                0};
        assay__buf_puts(canvas->page->out, braille);
        return;
    }
    bool top = bits & 0x09, middle = bits & 0x36, bottom = bits & 0xc0;
    assay__buf_putc(canvas->page->out, middle || (top && bottom) ? '-' : top ? '\'' : '.');
}

void assay__canvas_put(const struct assay__canvas *canvas, int row)
{
    int last = canvas->columns;
    while (last > 0 && !canvas->text[row][last - 1] && !canvas->dots[row][last - 1])
        last--;
    for (int i = 0; i < last; i++) {
        if (canvas->letter[row][i]) {
            assay__page_style(canvas->page, ASSAY__STYLE_BOLD);
            assay__buf_putc(canvas->page->out, canvas->text[row][i]);
            assay__page_style(canvas->page, ASSAY__STYLE_PLAIN);
        } else if (canvas->text[row][i]) {
            assay__buf_putc(canvas->page->out, canvas->text[row][i]);
        } else if (canvas->dots[row][i]) {
            put_dots(canvas, canvas->dots[row][i]);
        } else {
            assay__buf_putc(canvas->page->out, ' ');
        }
    }
    assay__buf_putc(canvas->page->out, '\n');
}

void assay__canvas_axis(const struct assay__canvas *canvas, size_t margin, const char *head,
                        assay__tick_fn *label, const void *plot)
{
    struct assay__buf *out = canvas->page->out, numbers = {0};
    int used = 0;
    assay__buf_repeat(out, " ", margin - 2);
    assay__buf_puts(out, "└");
    assay__buf_puts(&numbers, head);
    assay__buf_repeat(&numbers, " ", margin - 1 - assay__text_width(head));
    for (int column = 0; column < canvas->columns; column++) {
        char text[64] = "";
        label(plot, column, text, sizeof text);
        assay__buf_puts(out, text[0] ? "┬" : "─");
        if (!text[0]) continue;
        int width = (int)assay__text_width(text), at = column - width / 2;
        if (at > canvas->columns - width) at = canvas->columns - width;
        if (at < 0) at = 0;
        if (at < used + (used > 0)) continue;
        assay__buf_repeat(&numbers, " ", (size_t)(at - used));
        assay__buf_puts(&numbers, text);
        used = at + width;
    }
    assay__buf_printf(out, "\n%s\n", assay__buf_text(&numbers));
    assay__buf_drop(&numbers, out);
}
