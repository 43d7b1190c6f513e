/* palette.c - see palette.h. Colours were chosen to maximise the smallest difference over all four
 * kinds of colour vision, close to those that readers know from other charts. */
#include "report/figure/palette.h"

#include <math.h>

#define WHITE "#ffffff"
#define BLACK "#0b0e12"

const struct assay__palette_color assay__palette_inks[ASSAY__PALETTE_INKS] = {
    {"paper", {WHITE, "#14181d"}, {"#1b1f24", "#e6e9ed"}, 231, 16},
    {"ink", {"#1b1f24", "#e6e9ed"}, {WHITE, "#14181d"}, 235, 231},
    {"dim", {"#57606a", "#a0a9b4"}, {WHITE, "#14181d"}, 241, 231},
    {"grid", {"#e1e4e8", "#2d343c"}, {"#1b1f24", "#e6e9ed"}, 254, 16},
    {"axis", {"#8c959f", "#6b7580"}, {BLACK, WHITE}, 246, 16},
    {"fault", {"#b3001b", "#ff7b8a"}, {WHITE, BLACK}, 124, 231},
    {"wire", {"#aab2bb", "#59636e"}, {BLACK, WHITE}, 249, 16},
};

const struct assay__palette_color assay__palette_series[ASSAY__PALETTE_SERIES] = {
    {"s0", {"#406bb5", "#41a7e2"}, {WHITE, BLACK}, 25, 231},
    {"s1", {"#cd6c19", "#e77926"}, {BLACK, BLACK}, 166, 16},
    {"s2", {"#1fa677", "#55e8a6"}, {BLACK, BLACK}, 36, 16},
    {"s3", {"#8c3263", "#f5b1d7"}, {WHITE, BLACK}, 89, 231},
    {"s4", {"#604608", "#dad570"}, {WHITE, BLACK}, 94, 231},
    {"s5", {"#432a70", "#6e72e8"}, {WHITE, BLACK}, 53, 231},
    {"s6", {"#d33947", "#ac5d4c"}, {WHITE, WHITE}, 203, 16},
    {"s7", {"#928fa8", "#848990"}, {BLACK, BLACK}, 103, 16},
};

const struct assay__palette_color assay__palette_scale[ASSAY__PALETTE_SCALE] = {
    {"r0", {"#8a2b01", "#a2471f"}, {WHITE, WHITE}, 88, 231},
    {"r1", {"#cb4b02", "#ce601f"}, {WHITE, BLACK}, 166, 16},
    {"r2", {"#f47a28", "#f28c35"}, {BLACK, BLACK}, 208, 16},
    {"r3", {"#ff9e01", "#ffb568"}, {BLACK, BLACK}, 220, 16},
    {"r4", {"#81c6a8", "#a5e8c8"}, {BLACK, BLACK}, 115, 16},
    {"r5", {"#39a99d", "#5acabc"}, {BLACK, BLACK}, 37, 16},
    {"r6", {"#188186", "#32a0a4"}, {WHITE, BLACK}, 30, 231},
    {"r7", {"#0e576d", "#27758b"}, {WHITE, WHITE}, 24, 231},
};

const struct assay__palette_color assay__palette_change[ASSAY__PALETTE_CHANGE] = {
    {"x0", {"#8b3e03", "#ffb273"}, {WHITE, BLACK}, 130, 231},
    {"x1", {"#db832b", "#c4681f"}, {BLACK, BLACK}, 172, 16},
    {"x2", {"#f5c387", "#6e3a14"}, {BLACK, WHITE}, 222, 16},
    {"x3", {"#dfe3e8", "#3a4149"}, {BLACK, WHITE}, 254, 16},
    {"x4", {"#9ecbe3", "#1d4f74"}, {BLACK, WHITE}, 153, 16},
    {"x5", {"#4a8fc0", "#3f87bf"}, {BLACK, BLACK}, 67, 16},
    {"x6", {"#1b5086", "#9ad2f7"}, {WHITE, BLACK}, 24, 231},
};

int assay__palette_bin(double share)
{
    if (!isfinite(share) || share < 0) return -1;
    return share >= 1 ? ASSAY__PALETTE_SCALE - 1 : (int)(share * ASSAY__PALETTE_SCALE);
}

/* --- the style sheet -------------------------------------------------------------------------- */

static const struct {
    const struct assay__palette_color *colors;
    size_t count;
} parts[] = {
    {assay__palette_inks, ASSAY__PALETTE_INKS},
    {assay__palette_series, ASSAY__PALETTE_SERIES},
    {assay__palette_scale, ASSAY__PALETTE_SCALE},
    {assay__palette_change, ASSAY__PALETTE_CHANGE},
};

static void put_variables(struct assay__buf *out, int theme)
{
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++)
        for (size_t i = 0; i < parts[p].count; i++) {
            const struct assay__palette_color *c = &parts[p].colors[i];
            assay__buf_printf(out, "--fig-%s:%s;--fig-on-%s:%s;", c->id, c->color[theme], c->id,
                              c->on[theme]);
        }
}

void assay__palette_css(struct assay__buf *out, bool both)
{
    assay__buf_puts(out, ".fig{");
    put_variables(out, ASSAY__THEME_LIGHT);
    assay__buf_puts(out, "}\n");
    if (both) {
        assay__buf_puts(out, "@media screen and (prefers-color-scheme:dark){"
                             ".fig:not([data-theme=light] *){");
        put_variables(out, ASSAY__THEME_DARK);
        assay__buf_puts(out, "}}\n@media screen{[data-theme=dark] .fig{");
        put_variables(out, ASSAY__THEME_DARK);
        assay__buf_puts(out, "}}\n");
    }
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++)
        for (size_t i = 0; i < parts[p].count; i++) {
            /* plain values first, for viewers without variables */
            const struct assay__palette_color *c = &parts[p].colors[i];
            assay__buf_printf(out,
                              ".fig .fig-%s{color:%s;color:var(--fig-%s)}"
                              ".fig .fig-on-%s{fill:%s;fill:var(--fig-on-%s)}\n",
                              c->id, c->color[0], c->id, c->id, c->on[0], c->id);
        }
}
