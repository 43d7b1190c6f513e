/* test_zoo_params.c - the declarations of the zoo's parameters: a default that is declared is the
 * one that holds, every value at the edge of a range is taken and the next one is not, choices are
 * told apart, and doc/zoo.md has them all (ASSAY_BLESS=1 writes it). */
#include "harness.h"

#include "base/file.h"
#include "zoo/zoo.h"

#define DOC_MARK "<!-- from the declarations of the parameters -->\n"

static int built(const char *name, char fingerprint[17], struct assay_error *error)
{
    struct assay__model *model = NULL;
    int code = assay__zoo_build(name, &model, error);
    if (!code) CHECK_INT(assay__model_fingerprint(model, fingerprint), 0);
    assay__model_free(model);
    return code;
}

static bool is_value(const struct assay__zoo_param *p)
{
    return p->kind == ASSAY__ZOO_CHOICE ||
           (p->kind != ASSAY__ZOO_TEXT && p->otherwise[0] >= '0' && p->otherwise[0] <= '9');
}

static void test_defaults(void)
{
    const struct assay__zoo_entry *entry;
    const struct assay__zoo_param *p;
    for (size_t i = 0; (entry = assay__zoo_at(i)); i++) {
        char plain[17], given[17], name[160];
        struct assay_error error = {0};
        CHECK_INT(built(entry->name, plain, &error), 0);
        for (size_t k = 0; (p = assay__zoo_param_at(entry, k)); k++) {
            if (!is_value(p)) continue;
            snprintf(name, sizeof name, "%s:%s=%s", entry->name, p->key, p->otherwise);
            if (built(name, given, &error) || strcmp(plain, given) != 0)
                harness_fail(__FILE__, __LINE__, name);
        }
    }
}

static void refused(const struct assay__zoo_entry *entry, const struct assay__zoo_param *p,
                    const char *value)
{
    char name[160], fingerprint[17];
    struct assay_error error = {0};
    snprintf(name, sizeof name, "%s:%s=%s", entry->name, p->key, value);
    if (built(name, fingerprint, &error) != ASSAY_EINVAL) harness_fail(__FILE__, __LINE__, name);
    CHECK_HAS(error.message, p->key);
}

static void test_ranges(void)
{
    const struct assay__zoo_entry *entry;
    const struct assay__zoo_param *p;
    char value[64];
    for (size_t i = 0; (entry = assay__zoo_at(i)); i++)
        for (size_t k = 0; (p = assay__zoo_param_at(entry, k)); k++) {
            CHECK(p->help && *p->help);
            if (p->kind == ASSAY__ZOO_TEXT) continue;
            refused(entry, p, "");
            refused(entry, p, "what");
            if (p->kind == ASSAY__ZOO_CHOICE) continue;
            CHECK(p->low < p->high);
            snprintf(value, sizeof value, "%.0f", p->low - 1);
            refused(entry, p, value);
            snprintf(value, sizeof value, "%.0f", p->high * 2 + 1);
            refused(entry, p, value);
        }
}

static void test_keys(void)
{
    const struct assay__zoo_entry *entry;
    const struct assay__zoo_param *p;
    for (size_t i = 0; (entry = assay__zoo_at(i)); i++)
        for (size_t k = 0; (p = assay__zoo_param_at(entry, k)); k++)
            for (size_t other = 0; other < k; other++)
                CHECK(strcmp(p->key, assay__zoo_param_at(entry, other)->key) != 0);
}

static void test_other_names(void)
{
    char a[17], b[17];
    struct assay_error error = {0};
    CHECK_INT(built("gpt2:size=1.5b", a, &error), 0);
    CHECK_INT(built("gpt2:size=xl", b, &error), 0);
    CHECK_STR(a, b);
    CHECK_INT(built("gpt2:size=1.5b=xl", b, &error), ASSAY_EINVAL);
    CHECK_INT(built("gpt2:size=124m|355m", b, &error), ASSAY_EINVAL);
}

static void test_documented(void)
{
    static const char path[] = ASSAY_TEST_ROOT "/doc/zoo.md";
    struct assay__buf table = {0}, whole = {0};
    char *text = NULL;
    assay__zoo_markdown(&table);
    CHECK_INT(assay__file_read(path, 1 << 20, &text, NULL, NULL), 0);
    char *mark = strstr(text, DOC_MARK);
    CHECK(mark != NULL);
    mark += strlen(DOC_MARK);
    if (getenv("ASSAY_BLESS")) {
        assay__buf_add(&whole, text, (size_t)(mark - text));
        assay__buf_add(&whole, table.data, table.length);
        CHECK_INT(assay__file_write(path, whole.data, whole.length, NULL), 0);
    } else if (strcmp(mark, table.data) != 0) {
        harness_fail(__FILE__, __LINE__, "doc/zoo.md lacks a declared parameter (ASSAY_BLESS=1)");
    }
    assay__buf_free(&whole);
    assay__buf_free(&table);
    free(text);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"defaults", test_defaults},       {"ranges", test_ranges},         {"keys", test_keys},
        {"other_names", test_other_names}, {"documented", test_documented},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
