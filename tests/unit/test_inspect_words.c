/* test_inspect_words.c - what inspect says adds up: the nodes that the totals leave out are those
 * that it lists, by FLOPs and by bytes, and the rows under the peak sum to it, bodies included. */
#include "flow_fixture.h"

#include "base/json.h"
#include "report/inspect.h"

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

static char *rendered(const struct assay__inspect *doc, const char *format)
{
    const struct assay__inspect_view view = {.format = format, .columns = 200, .top = -1};
    struct assay__buf out = {0};
    struct assay_error error = {0};
    CHECK_INT(assay__inspect_render(doc, &view, &out, &error), 0);
    CHECK(out.data);
    return out.data;
}

static void has(const struct assay__inspect *doc, const char *format, const char *text)
{
    char *all = rendered(doc, format);
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
    has(doc, "text",
        "2 of 4 nodes have no known FLOPs and 2 no known bytes (Frob: no cost row, NoSuch:");
    has(doc, "text", "the totals leave out 3 nodes");
    has(doc, "text", "NonZero × 1: depends on the data (bytes; FLOPs are known)");
    CHECK_STR(note(doc, "compute.flops"),
              "2 of 4 nodes have no known FLOPs (Frob: no cost row, NoSuch: no cost row)");
    CHECK_STR(note(doc, "memory.read"),
              "2 of 4 nodes have no known bytes (Frob: no cost row, NonZero: depends on the data)");
    assay__inspect_free(doc);
}

/* FLOPs are all known, bytes are not: the sentence does not say "at least". */
static void test_bytes_alone(void)
{
    struct assay__model *model = fixture_model(17);
    cost_node(model, "", "NonZero x[10] -> c", "");
    cost_node(model, "", "Relu x -> d", "");
    struct assay__inspect *doc = inspect(model);
    has(doc, "text",
        "0 parameters: 10 FLOP per inference, 100 % of them in 1 Relu. 1 of 2 nodes has no known "
        "bytes (NonZero: depends on the data): the totals leave it out.");
    has(doc, "text", "compute     =10 FLOP");
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
    has(doc, "text",
        "2 of 2 nodes have no known cost (Frob × 2: no cost row): the totals leave them out.");
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
    has(doc, "text", "65 B  inside the body of '");
    has(doc, "json", "\"inside_bodies_bytes\": 65,");
    assay__inspect_free(doc);
    struct assay__model *model = fixture_model(17);
    cost_node(model, "", "Relu x[10] -> d", "");
    doc = inspect(model);
    char *all = rendered(doc, "text");
    CHECK(!strstr(all, "inside the body"));
    free(all);
    has(doc, "json", "\"inside_bodies_bytes\": 0,");
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
