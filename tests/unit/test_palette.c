/* test_palette.c - colours that everybody can tell apart: the palette as people see it who lack the
 * red, green or blue cones, in both themes, by the least CIE 1976 difference; words on a colour and
 * lines on paper by the contrast of WCAG 2.1.
 *
 * The matrices are those of Machado, Oliveira and Fernandes, "A Physiologically-based Model for
 * Simulation of Color Vision Deficiency" (IEEE TVCG 15(6), 2009), at severity 1, in linear RGB. */
#include "harness.h"

#include "report/figure/palette.h"

enum { NORMAL, PROTAN, DEUTAN, TRITAN, SIGHTS };

static const double sights[SIGHTS][3][3] = {
    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
    {{0.152286, 1.052583, -0.204868},
     {0.114503, 0.786281, 0.099216},
     {-0.003882, -0.048116, 1.051998}},
    {{0.367322, 0.860646, -0.227968},
     {0.280085, 0.672501, 0.047413},
     {-0.011820, 0.042940, 0.968881}},
    {{1.255528, -0.076749, -0.178779},
     {-0.078411, 0.930809, 0.147602},
     {0.004733, 0.691367, 0.303900}},
};

static void read_linear(const char *color, double out[3])
{
    unsigned parts[3];
    CHECK_INT(strlen(color), 7);
    CHECK_INT(sscanf(color, "#%2x%2x%2x", &parts[0], &parts[1], &parts[2]), 3);
    for (int i = 0; i < 3; i++) {
        double c = parts[i] / 255.0;
        out[i] = c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
    }
}

/* CIE L*a*b*, D65. */
static void to_lab(const double rgb[3], double lab[3])
{
    static const double xyz[3][3] = {{0.4124564, 0.3575761, 0.1804375},
                                     {0.2126729, 0.7151522, 0.0721750},
                                     {0.0193339, 0.1191920, 0.9503041}};
    static const double white[3] = {0.95047, 1, 1.08883};
    double f[3];
    for (int i = 0; i < 3; i++) {
        double t = (xyz[i][0] * rgb[0] + xyz[i][1] * rgb[1] + xyz[i][2] * rgb[2]) / white[i];
        f[i] = t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116;
    }
    lab[0] = 116 * f[1] - 16, lab[1] = 500 * (f[0] - f[1]), lab[2] = 200 * (f[1] - f[2]);
}

static double difference(const char *a, const char *b, int sight)
{
    double labs[2][3];
    const char *const colors[2] = {a, b};
    for (int c = 0; c < 2; c++) {
        double rgb[3], seen[3];
        read_linear(colors[c], rgb);
        for (int i = 0; i < 3; i++) {
            const double *row = sights[sight][i];
            seen[i] = fmin(1, fmax(0, row[0] * rgb[0] + row[1] * rgb[1] + row[2] * rgb[2]));
        }
        to_lab(seen, labs[c]);
    }
    return sqrt(pow(labs[0][0] - labs[1][0], 2) + pow(labs[0][1] - labs[1][1], 2) +
                pow(labs[0][2] - labs[1][2], 2));
}

static double contrast(const char *a, const char *b)
{
    double rgb[3], light[2];
    const char *const colors[2] = {a, b};
    for (int c = 0; c < 2; c++) {
        read_linear(colors[c], rgb);
        light[c] = 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2] + 0.05;
    }
    return fmax(light[0], light[1]) / fmin(light[0], light[1]);
}

/* Any two (or neighbours only) differ by at least so much for everybody. */
static void check_apart(const struct assay__palette_color *colors, size_t count, double least,
                        bool neighbours)
{
    for (int theme = 0; theme < ASSAY__THEMES; theme++)
        for (int sight = 0; sight < SIGHTS; sight++)
            for (size_t i = 0; i < count; i++)
                for (size_t k = i + 1; k < (neighbours && i + 2 < count ? i + 2 : count); k++) {
                    double apart = difference(colors[i].color[theme], colors[k].color[theme],
                                              sight);
                    if (apart < least)
                        printf("  theme %d, sight %d: %s and %s: %.1f\n", theme, sight,
                               colors[i].id, colors[k].id, apart);
                    CHECK(apart >= least);
                }
}

static void test_known_values(void)
{
    CHECK_NEAR(contrast("#000000", "#ffffff"), 21, 1e-9);
    CHECK_NEAR(difference("#000000", "#ffffff", NORMAL), 100, 1e-3);
    /* Red and green of one lightness: far apart, but not without red or green cones. */
    CHECK(difference("#d55e00", "#6f8f00", NORMAL) > 40);
    CHECK(difference("#d55e00", "#6f8f00", DEUTAN) < difference("#d55e00", "#6f8f00", NORMAL) / 2);
    /* The two blues that series 0 and 5 once were. */
    CHECK(difference("#0072b2", "#2f7fb5", NORMAL) < 15);
}

static void test_apart(void)
{
    check_apart(assay__palette_series, ASSAY__PALETTE_SERIES, 20, false);
    check_apart(assay__palette_scale, ASSAY__PALETTE_SCALE, 15, false);
    check_apart(assay__palette_change, ASSAY__PALETTE_CHANGE, 15, true);
}

static void check_words(const struct assay__palette_color *colors, size_t count)
{
    for (int theme = 0; theme < ASSAY__THEMES; theme++)
        for (size_t i = 0; i < count; i++)
            CHECK(contrast(colors[i].color[theme], colors[i].on[theme]) >= 4.5);
}

static void test_contrast(void)
{
    check_words(assay__palette_inks, ASSAY__PALETTE_INKS);
    check_words(assay__palette_series, ASSAY__PALETTE_SERIES);
    check_words(assay__palette_scale, ASSAY__PALETTE_SCALE);
    check_words(assay__palette_change, ASSAY__PALETTE_CHANGE);
    for (int theme = 0; theme < ASSAY__THEMES; theme++) {
        const char *paper = assay__palette_inks[0].color[theme];
        CHECK_STR(assay__palette_inks[0].id, "paper");
        for (size_t i = 1; i < 3; i++) /* words */
            CHECK(contrast(assay__palette_inks[i].color[theme], paper) >= 4.5);
        for (size_t i = 0; i < ASSAY__PALETTE_SERIES; i++) /* lines and dots */
            CHECK(contrast(assay__palette_series[i].color[theme], paper) >= 3);
    }
}

/* Little is dark and brown, much is dark and teal, the middle is light: in grey the rows beside it
 * tell the ends apart. */
static void test_scale(void)
{
    CHECK_INT(assay__palette_bin(0), 0);
    CHECK_INT(assay__palette_bin(0.1249), 0);
    CHECK_INT(assay__palette_bin(0.125), 1);
    CHECK_INT(assay__palette_bin(0.999), 7);
    CHECK_INT(assay__palette_bin(1), 7);
    CHECK_INT(assay__palette_bin(3), 7);
    CHECK_INT(assay__palette_bin(NAN), -1);
    CHECK_INT(assay__palette_bin(INFINITY), -1);
    CHECK_INT(assay__palette_bin(-0.1), -1);
}

static void test_css(void)
{
    struct assay__buf css = {0};
    assay__palette_css(&css, true);
    const char *text = assay__buf_text(&css);
    CHECK_HAS(text, "--fig-paper:#ffffff;--fig-on-paper:#1b1f24;");
    CHECK_HAS(text, "--fig-r7:#0e576d;--fig-on-r7:#ffffff;");
    CHECK_HAS(text, ".fig .fig-s0{color:#406bb5;color:var(--fig-s0)}");
    CHECK_HAS(text, "[data-theme=dark] .fig{");
    CHECK(css.length < 8000);
    assay__buf_free(&css);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"known_values", test_known_values},
        {"apart", test_apart},
        {"contrast", test_contrast},
        {"scale", test_scale},
        {"css", test_css},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
