/* test_inspect_document.c - what inspect says adds up in every view of its document: the nodes that
 * the totals leave out are those that it lists, by FLOPs and by bytes, and the rows under the peak
 * sum to it, bodies included. */
#include "flow_fixture.h"

#include "report/report_model.h"

#include <assay/metric.h>

static struct assay__inspect *inspect(struct assay__model *model)
{
    const struct assay__workload_options options = {.shapes_only = true};
    struct assay__inspect *doc = NULL;
    struct assay_error error = {0};
    model->ir_version = 8;
    if (assay__inspect_new(model, "model", true, &options, &doc, &error))
        harness_fail(__FILE__, __LINE__, error.message);
    return doc;
}

static char *rendered(const struct assay__inspect *doc, const char *format, const char *table)
{
    const struct assay_report_options view = {.size = sizeof view,
                                              .format = format,
                                              .table = table,
                                              .columns = 200,
                                              .top = -1,
                                              .full = true};
    struct assay__buf out = {0};
    struct assay_error error = {0};
    CHECK_INT(assay__inspect_report(doc, &view, &out, &error), 0);
    CHECK(out.data);
    return out.data;
}

/* The rows of a table that programs read. */
static void check_csv(const struct assay__inspect *doc, const char *table, const char *rows)
{
    char *all = rendered(doc, "csv", table), *head = strchr(all, '\n');
    CHECK(head);
    CHECK_STR(head + 1, rows);
    free(all);
}

/* In views that people read as they are. */
static void has(const struct assay__inspect *doc, const char *text)
{
    static const char *const formats[] = {"text", "markdown"};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        char *all = rendered(doc, formats[i], NULL);
        CHECK_HAS(all, text);
        free(all);
    }
}

static void has_json(const struct assay__inspect *doc, const char *text)
{
    char *all = rendered(doc, "json", NULL);
    CHECK_HAS(all, text);
    free(all);
}

static const char *note(const struct assay__inspect *doc, const char *metric)
{
    const struct assay_metric *m = assay_metrics_get(doc->metrics, metric);
    CHECK(m && m->state == ASSAY_UNAVAILABLE && m->note);
    return m->note;
}

static enum assay_state state(const struct assay__inspect *doc, const char *metric)
{
    const struct assay_metric *m = assay_metrics_get(doc->metrics, metric);
    CHECK(m != NULL);
    return m->state;
}

/* One node lacks both, one FLOPs, one bytes. */
static void test_both(void)
{
    struct assay__model *model = fixture_model(17);
    cost_node(model, "", "Frob x[10] -> a", "");
    cost_node(model, "", "NoSuch x -> b[10]", "");
    cost_node(model, "", "NonZero x -> c", "");
    cost_node(model, "", "Relu x -> d", "");
    struct assay__inspect *doc = inspect(model);
    has(doc, "2 of 4 nodes have no known FLOPs and 2 no known bytes");
    has(doc, "3 nodes not included in the totals");
    check_csv(doc, "unknown",
              "Frob,,1,1,1,no cost formula\nNoSuch,,1,1,0,no cost formula\n"
              "NonZero,,1,0,1,depends on the data\n");
    CHECK_STR(note(doc, "compute.flops"),
              "2 of 4 nodes have no known FLOPs (Frob: no cost formula, NoSuch: no cost formula)");
    CHECK_STR(
        note(doc, "memory.read"),
        "2 of 4 nodes have no known bytes (Frob: no cost formula, NonZero: depends on the data)");
    assay__inspect_free(doc);
}

/* FLOPs are all known, bytes are not: the sentence does not say "at least". */
static void test_bytes_alone(void)
{
    struct assay__model *model = fixture_model(17);
    cost_node(model, "", "NonZero x[10] -> c", "");
    cost_node(model, "", "Relu x -> d", "");
    struct assay__inspect *doc = inspect(model);
    has(doc, "0 parameters, 10 FLOP per inference, 100 % of them in 1 Relu node.\n");
    has(doc, "1 of 2 nodes has no known bytes");
    has(doc, "=10 FLOP");
    char *all = rendered(doc, "markdown", NULL);
    CHECK(!strstr(all, "at least 10 FLOP"));
    CHECK_HAS(all, "(at least 40 B)"); /* the Relu's */
    free(all);
    CHECK_INT(state(doc, "compute.flops"), ASSAY_DERIVED);
    CHECK_INT(state(doc, "memory.read"), ASSAY_UNAVAILABLE);
    CHECK_HAS(note(doc, "compute.intensity"), "no known bytes");
    assay__inspect_free(doc);
}

static void test_same(void)
{
    struct assay__model *model = fixture_model(17);
    cost_node(model, "", "Frob x[10] -> a", "");
    cost_node(model, "", "Frob a -> b", "");
    struct assay__inspect *doc = inspect(model);
    has(doc, "2 of 2 nodes have no known cost (Frob × 2: no cost formula)");
    check_csv(doc, "unknown", "Frob,,2,2,2,no cost formula\n");
    assay__inspect_free(doc);
}

/* What a body needs is a row of its own: 32 + 32 and 65 inside. */
static void test_bodies(void)
{
    struct assay__inspect *doc = inspect(flow_loop(5));
    const struct assay__liveness *live = &doc->analysis->live;
    double sum = live->peak_body_bytes;
    for (size_t i = 0; i < live->peak_tensor_count; i++)
        sum += live->tensors[live->peak_tensors[i]].bytes;
    CHECK_NEAR(sum, live->peak_bytes, 0);
    CHECK_NEAR(live->peak_body_bytes, 65, 0);
    char *all = rendered(doc, "csv", "tensors");
    double listed = 0;
    for (const char *row = strchr(all, '\n'); row && row[1]; row = strchr(row + 1, '\n'))
        listed += strtod(strchr(row, ',') + 1, NULL);
    CHECK_NEAR(listed, live->peak_bytes, 0);
    free(all);
    has(doc, "65 B");
    has_json(doc, "\"inside_bodies_bytes\": 65,");
    assay__inspect_free(doc);
    struct assay__model *model = fixture_model(17);
    cost_node(model, "", "Relu x[10] -> d", "");
    doc = inspect(model);
    check_csv(doc, "tensors", "x,40,float32,10,0,0\nd,40,float32,10,0,0\n");
    check_csv(doc, "unknown", ""); /* none: the head alone */
    check_csv(doc, "groups", "");
    has_json(doc, "\"inside_bodies_bytes\": 0,");
    assay__inspect_free(doc);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"both", test_both},
        {"bytes_alone", test_bytes_alone},
        {"same", test_same},
        {"bodies", test_bodies},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
