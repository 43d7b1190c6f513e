/* test_strip.c - one inference as a strip: what is in it, number by number, as SVG (marks that a
 * page selects by, slivers together, no two labels equal) and as text (as wide as asked for, ASCII
 * where asked, colours only where asked). */
#include "harness.h"
#include "text_lines.h"

#include "report/figure/figure.h"
#include "report/figure/palette.h"

#include <assay/assay.h>

enum { MOST = 12000 };
static struct assay__layer items[MOST];
static struct assay__ceiling_info ceilings[] = {
    {"cpu", "compute.float32.all-cores", 1e11, "FLOP/s", NAN, NAN, "clock", "", ""},
    {"cpu", "compute.float32.one-core", 1e11, "FLOP/s", NAN, NAN, "clock", "", ""},
    {"cpu", "bandwidth.dram.read.all-cores", 1e10, "B/s", NAN, NAN, "clock", "", ""},
    {"cpu", "bandwidth.dram.read.one-core", 1e10, "B/s", NAN, NAN, "clock", "", ""},
};
static struct assay__tensor_info input = {.name = "x", .dtype = "float32", .rank = -1, .fill = ""};
static struct assay_profile *profile;
static struct assay__study *study;
static struct assay__arena *arena;
static struct assay__figure *figure;

static void begin(bool roofs)
{
    profile = assay__profile_new();
    arena = assay__arena_new();
    CHECK(profile && arena);
    profile->complete = true;
    profile->environment.cores = profile->environment.threads = 1;
    if (roofs) profile->ceilings = ceilings, profile->ceiling_count = 4;
    profile->models[0]->inputs = &input, profile->models[0]->input_count = 1;
    struct assay__trial *t = assay__profile_trial(profile);
    t->state = ASSAY__TRIAL_OK;
    t->model = profile->models[0];
    t->inputs = &input, t->input_count = 1;
    t->target.engine = "ort", t->target.device = "cpu", t->target.threads = 1;
    t->target.device_class = ASSAY__CLASS_CPU;
    t->layers.items = items, t->layers.method = "markers", t->layers.reason = "";
}

static void end(void)
{
    assay__study_free(study);
    assay__arena_free(arena);
    assay_profile_close(profile);
    study = NULL;
}

/* A layer that reaches that share of 100 GFLOP/s. */
static struct assay__layer *add(const char *name, const char *op, double time_ns, double share)
{
    struct assay__layers *layers = &profile->trials[0].layers;
    struct assay__layer *l = &items[layers->count];
    CHECK(layers->count < MOST);
    *l = assay__layer_unknown();
    l->index = (int)layers->count++;
    l->name = name, l->op = op, l->time_ns = time_ns;
    l->state = isfinite(time_ns) ? ASSAY_MEASURED : ASSAY_UNAVAILABLE;
    l->flops = share * time_ns * 100, l->bytes = 8;
    l->live_bytes = 100.0 * (l->index + 1);
    return l;
}

static int make(void)
{
    struct assay_error error = {0};
    size_t count, left_out;
    assay__study_free(study);
    CHECK_INT(assay__study_new(profile, &study), 0);
    int code = assay__figures_of(study, assay__figure_row_find("strip"), arena, &figure, &count,
                                 &left_out, &error);
    if (code == 0) CHECK_INT(count, 1);
    return code;
}

/* Two stages of two blocks each, a layer without a time, the engine and what is unattributed. */
static void make_small(bool roofs)
{
    begin(roofs);
    add("/a.0/c1/Conv", "Conv", 1000, 0.9);
    add("/a.0/c2/Conv", "Conv", 3000, 0.3);
    add("/a.1/c1/Conv", "Conv", 2000, 0.1);
    add("/a.1/c2/Relu", "Relu", NAN, 0.1);
    add("/b.0/c1/Conv", "Conv", 1000, 0.5);
    add("/b.0/c2/Gemm", "Gemm", 2000, 0.99);
    add("/b.1/c1/Conv", "Conv", 500, 0);
    add("/b.1/c2/Conv", "Conv", 500, 0.7);
    profile->trials[0].layers.engine_ns = 400;
    profile->trials[0].layers.unattributed_ns = 600;
    CHECK_INT(make(), 0);
}

/* --- data ------------------------------------------------------------------------------------- */

static void test_data(void)
{
    make_small(true);
    const struct assay__figure_strip *s = figure->strip;
    CHECK_INT(figure->kind, ASSAY__FIGURE_STRIP);
    CHECK(!s->by_operator);
    CHECK_STR(s->roof, "float32 100 GFLOP/s");
    CHECK_INT(s->layer_count, 9); /* 7 timed, engine, unattributed */
    static const double begins[] = {0, 1, 4, 6, 7, 9, 9.5, 10, 10.4};
    for (size_t i = 0; i < 9; i++)
        CHECK_NEAR(s->layers[i].begin_s, begins[i] * 1e-6, 1e-15);
    CHECK_NEAR(s->whole_s, 11e-6, 1e-15);
    CHECK_INT(s->layers[3].id, 4);
    CHECK_NEAR(s->layers[1].share, 0.3, 1e-9);
    CHECK_NEAR(s->layers[1].rate, 0.3e11, 1);
    CHECK_NEAR(s->rate_most, 0.99e11, 1);
    CHECK_NEAR(s->live_most, 800, 0);
    CHECK_INT(s->layers[7].id, -1);
    CHECK_STR(s->layers[7].name, "engine per run");
    CHECK_STR(s->layers[8].name, "unattributed");
    CHECK_INT(s->level_count, 2);
    CHECK_INT(s->block_counts[0], 2);
    CHECK_STR(s->blocks[0][1].name, "b");
    CHECK_NEAR(s->blocks[0][1].begin_s, 6e-6, 1e-15);
    CHECK_NEAR(s->blocks[0][1].time_s, 4e-6, 1e-15);
    CHECK_INT(s->block_counts[1], 4);
    CHECK_STR(s->blocks[1][0].label, "a.0");
    CHECK_NEAR(s->blocks[1][0].share, (0.9 + 3 * 0.3) / 4, 1e-9);
    CHECK_HAS(figure->caption, "laid end to end");
    end();
}

static void test_operators(void) /* without ceilings */
{
    static const char *const ops[] = {"A", "B", "C", "D", "E", "F", "G", "H", "I", "J"};
    make_small(false);
    CHECK(figure->strip->by_operator);
    CHECK_INT(figure->strip->operator_count, 2);
    CHECK_STR(figure->strip->operators[0], "Conv");
    CHECK_INT(figure->strip->layers[4].series, 1);
    CHECK_INT(figure->strip->blocks[1][2].series, 1); /* most of b.0 is the Gemm's */
    CHECK_INT(figure->strip->layers[7].series, -1);
    end();
    begin(false);
    for (int i = 0; i < 10; i++)
        add("n", ops[i], 1000 - i, 0.5);
    CHECK_INT(make(), 0);
    CHECK_INT(figure->strip->operator_count, ASSAY__PALETTE_SERIES);
    CHECK_STR(figure->strip->operators[7], "others");
    CHECK_INT(figure->strip->layers[6].series, 6);
    CHECK_INT(figure->strip->layers[7].series, 7);
    CHECK_INT(figure->strip->layers[9].series, 7);
    end();
    begin(false);
    add("n", "Conv", NAN, 0.5);
    CHECK_INT(make(), ASSAY_ENOTFOUND);
    end();
}

/* --- SVG -------------------------------------------------------------------------------------- */

static size_t count_of(const char *text, const char *needle)
{
    size_t count = 0;
    for (; (text = strstr(text, needle)); text += strlen(needle))
        count++;
    return count;
}

static char *draw(double width, bool standalone)
{
    struct assay__buf out = {0};
    assay__figure_svg(&out, figure,
                      &(struct assay__svg_options){.width = width, .standalone = standalone});
    CHECK(!out.failed);
    CHECK(!strstr(out.data, "<a ") && !strstr(out.data, "nan") && !strstr(out.data, "href"));
    return out.data;
}

static void test_svg(void)
{
    make_small(true);
    char *page = draw(800, false);
    for (int i = 0; i < 8; i++) {
        char mark[32];
        snprintf(mark, sizeof mark, " data-l=\"%d\"", i);
        /* in the row of layers and in that of rates; 3 has no time, 6 computes nothing */
        CHECK_INT(count_of(page, mark), i == 3 ? 0 : 2);
    }
    CHECK_INT(count_of(page, " data-b="), 6);
    CHECK_HAS(page, "fig-f fig-r7 fig-c\" data-l=\"0\"");
    CHECK_HAS(page, "fig-f fig-r2 fig-c\" data-l=\"1\"");
    CHECK_HAS(page, "/a.0/c2/Conv: 3.00 µs (27.3 %), 30 % of its roof");
    CHECK_HAS(page, "activations alive, peak 800 B");
    CHECK_HAS(page, ">a 6.00 µs · 55 %<");
    free(page);
    char *file = draw(0, true);
    CHECK(!strstr(file, "data-l") && !strstr(file, "data-b")); /* nothing to select in a file */
    CHECK_HAS(file, "viewBox=\"0 0 1120 ");
    CHECK_HAS(file, "--fig-r0:");
    free(file);
    end();
}

/* What is written on it: texts of <text>, each once but for axis and key. */
static void check_unique(const char *svg)
{
    const char *labels[2048];
    size_t lengths[2048], count = 0;
    for (const char *at = svg; (at = strstr(at, "<text "));) {
        at = strchr(at, '>') + 1;
        size_t length = strcspn(at, "<");
        CHECK(count < 2048);
        for (size_t i = 0; i < count; i++) {
            bool same = lengths[i] == length && memcmp(labels[i], at, length) == 0;
            if (same) printf("  twice: %.*s\n", (int)length, at);
            CHECK(!same);
        }
        labels[count] = at, lengths[count++] = length;
    }
    CHECK(count > 5);
}

static void make_deep(size_t stages, size_t layers)
{
    begin(true);
    for (size_t i = 0; i < stages; i++)
        for (size_t k = 0; k < layers; k++)
            add(assay__arena_printf(arena, "/enc/layer.%zu/%s/part%zu/MatMul", i,
                                    k % 4 < 2 ? "attention" : "ffn", k),
                "MatMul", 1000 + 997.0 * (double)((i * 31 + k * 17) % 50), (double)(k % 10) / 10);
    CHECK_INT(make(), 0);
}

static void test_labels_differ(void)
{
    make_deep(12, 8);
    for (int width = 320; width <= 3000; width += 335) {
        char *svg = draw(width, false);
        check_unique(svg);
        free(svg);
    }
    end();
}

/* Pieces of paths. */
static size_t count_pieces(const char *svg)
{
    size_t count = 0;
    for (const char *at = svg; (at = strstr(at, " d=\""));)
        for (at += 4; *at != '"'; at++)
            count += *at == 'M' || *at == 'm';
    return count;
}

static void test_slivers(void)
{
    begin(true);
    for (int i = 0; i < 10000; i++)
        add("/x/y/Conv", "Conv", i == 5000 ? 2e6 : 100, (double)(i % 8) / 8);
    CHECK_INT(make(), 0);
    char *svg = draw(1000, false);
    /* those that cannot be pointed at are one path for each colour, in two rows */
    CHECK_INT(count_of(svg, " data-l="), 2);
    CHECK_HAS(svg, " data-l=\"5000\"");
    size_t marks = count_pieces(svg);
    CHECK(marks <= 2 * 1000 / 0.3 && marks > 1000);
    CHECK(strlen(svg) < 200000);
    free(svg);
    end();
}

static void test_hostile(void)
{
    begin(true);
    add("</svg><script>alert(1)</script>", "<b>", 1000, 0.5);
    add("\x1b[31mred\xff\xfe", "\"'&", 1000, 0.5);
    add("", "", 1e-300, 1e300);
    add("/a/b", "Conv", 1e300, NAN);
    CHECK_INT(make(), 0);
    char *svg = draw(800, false);
    CHECK(!strstr(svg, "<script") && !strstr(svg, "\x1b") && !strstr(svg, "\xff"));
    free(svg);
    end();
}

/* --- text ------------------------------------------------------------------------------------- */

static char *write_text(int columns, bool ascii, bool color)
{
    struct assay__buf out = {0};
    struct assay__page page = {.out = &out, .columns = columns, .ascii = ascii, .color = color};
    assay__figure_text(&page, figure);
    if (ascii) assay__page_to_ascii(&out, 0);
    CHECK(!out.failed);
    return out.data;
}

static void test_text(void)
{
    make_small(true);
    char *text = write_text(48, false, false); /* 44 columns of 0.25 µs */
    CHECK_STR(text, "  │a 55 %                 │b 36 %         │\n"
                    "  ████▃▃▃▃▃▃▃▃▃▃▃▃▁▁▁▁▁▁▁▁▅▅▅▅████████▁▁▆▆····\n"
                    "  11.0 µs: per-layer times laid end to end;\n"
                    "  height: share of the layer's roof\n");
    free(text);
    text = write_text(48, true, false);
    CHECK_HAS(text, "  |a 55 %                 |b 36 %         |\n"
                    "  ####::::::::::::________====########__++    \n");
    free(text);
    text = write_text(48, false, true);
    CHECK_HAS(text, "\033[48;5;208;38;5;16ma 55 %"); /* the stage at 30 % of its roof */
    CHECK_HAS(text, "\033[38;5;24m████\033[38;5;208m▃");
    free(text);
    end();
    make_small(false);
    text = write_text(48, false, false);
    CHECK_HAS(text, "  AAAAAAAAAAAAAAAAAAAAAAAAAAAABBBBBBBBAAAA....\n  A Conv  B Gemm\n");
    free(text);
    end();
}

static void test_text_fits(void)
{
    static const char hostile[] = "/\x1b[2J\xff/日本語の名前 that is rather long";
    for (int round = 0; round < 3; round++) {
        if (round == 0) make_deep(12, 8);
        if (round == 1) make_deep(300, 5);
        if (round == 2) {
            begin(false);
            for (int i = 0; i < 30; i++)
                add(hostile, hostile + (i % 12) * 4, 1000 + i, 0.5);
            CHECK_INT(make(), 0);
        }
        for (int columns = 40; columns <= 300; columns += 13)
            for (int ascii = 0; ascii < 2; ascii++) {
                char *text = write_text(columns, ascii, false);
                check_line_widths(text, columns, "strip");
                CHECK(!strchr(text, '\x1b') && !strchr(text, '\xff'));
                for (const char *c = text; ascii && *c; c++)
                    CHECK((unsigned char)*c < 0x80);
                free(text);
            }
        end();
    }
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"data", test_data},       {"operators", test_operators},
        {"svg", test_svg},         {"labels_differ", test_labels_differ},
        {"slivers", test_slivers}, {"hostile", test_hostile},
        {"text", test_text},       {"text_fits", test_text_fits},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
