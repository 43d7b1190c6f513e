/* test_figure_label.c - labels of figures: no wider than asked, no two equal, safe. */
#include "base/text.h"
#include "harness.h"
#include "report/figure/figure_label.h"
#include "report/figure/figure_svg.h"

enum { MANY = 400 };

static size_t equal_ones(char **labels, size_t count)
{
    size_t equal = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            equal += strcmp(labels[i], labels[k]) == 0;
    return equal;
}

static void test_distinct(void)
{
    static char texts[MANY][96];
    static const char *names[MANY];
    for (int i = 0; i < MANY; i++) {
        snprintf(texts[i], sizeof texts[i], "/transformer/h.%d/attention/self/%s/MatMul_output",
                 i / 4,
                 i % 4 ? i % 4 == 1   ? "query"
                         : i % 4 == 2 ? "key"
                                      : "value"
                       : "gate");
        names[i] = texts[i];
    }
    for (size_t columns = 12; columns < 60; columns += 9) {
        char **labels = assay__labels(names, MANY, columns);
        CHECK(labels != NULL);
        for (size_t i = 0; i < MANY; i++)
            CHECK(assay__text_width(labels[i]) <= columns);
        CHECK_INT(equal_ones(labels, MANY), 0);
        assay__labels_free(labels, MANY);
    }
    for (double room = 70; room < 300; room += 70) {
        char **labels = assay__labels_within(names, 40, room);
        CHECK(labels != NULL);
        for (size_t i = 0; i < 40; i++)
            CHECK(assay__svg_width(labels[i]) <= room);
        CHECK_INT(equal_ones(labels, 40), 0);
        assay__labels_free(labels, 40);
    }
}

/* Two layers of one name are two layers. */
static void test_equal_names(void)
{
    const char *const names[] = {"Conv", "Add", "Conv", "", "Conv", "", NULL};
    char **labels = assay__labels(names, 7, 20);
    CHECK(labels != NULL);
    CHECK_STR(labels[0], "Conv");
    CHECK_STR(labels[1], "Add");
    CHECK_STR(labels[2], "Conv (2)");
    CHECK_STR(labels[4], "Conv (3)");
    CHECK_STR(labels[3], ""); /* what has no name needs none */
    CHECK_STR(labels[6], "");
    assay__labels_free(labels, 7);
    labels = assay__labels(names, 0, 20);
    CHECK(labels != NULL);
    assay__labels_free(labels, 0);
}

static void test_safe(void)
{
    const char *const names[] = {"\x1b[31mred", "a\nb"};
    char **labels = assay__labels(names, 2, 20);
    CHECK(labels != NULL);
    CHECK(!strchr(labels[0], '\x1b') && !strchr(labels[1], '\n'));
    assay__labels_free(labels, 2);
}

static void test_tails(void)
{
    const char *const names[] = {"h.0.gate", "h.1.gate", "h.1.attn/key", "fc", "x.h.1.gate", "fc"};
    const char *tails[6];
    assay__label_tails(names, 6, tails);
    CHECK_STR(tails[0], "0.gate");
    CHECK_STR(tails[1], "h.1.gate"); /* the other ends so too: it has no end of its own */
    CHECK_STR(tails[2], "key");
    CHECK_STR(tails[3], "fc");
    CHECK_STR(tails[4], "x.h.1.gate");
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {{"distinct", test_distinct},
                                                {"equal_names", test_equal_names},
                                                {"safe", test_safe},
                                                {"tails", test_tails}};
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
