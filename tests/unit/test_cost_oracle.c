/* test_cost_oracle.c - the multiply-adds of every convolution and matrix product are those that
 * onnx-tool counts, node by node (tests/oracle/cost.py wrote the listing and says what its lines
 * are): the onnx package's light models, and transformers as PyTorch exports them. ASSAY_TEST_COST
 * names another folder (the live comparison with transformers of real size). */
#include "model_fixture.h"

#include "base/map.h"
#include "cost/analysis.h"

#include <errno.h>

struct subject {
    struct assay__model *model;
    struct assay__analysis *analysis;
    struct assay__map *by_output;
    size_t compared;
    double macs;
};

static void open_subject(struct subject *s, const char *path)
{
    struct assay_error error = {.code = 0};
    *s = (struct subject){.model = fixture_read(path), .by_output = assay__map_new()};
    if (assay__analyse(s->model, NULL, &s->analysis, &error))
        harness_fail(__FILE__, __LINE__, error.message);
    for (size_t i = 0; i < s->model->graph.node_count; i++)
        CHECK_INT(assay__map_set(s->by_output, s->model->graph.nodes[i].outputs[0], i), 0);
}

/* All products were compared: what the analysis adds up is what was listed. */
static void close_subject(struct subject *s)
{
    double macs = 0;
    if (!s->model) return;
    for (size_t i = 0; i < s->analysis->op_count; i++) {
        const char *op = s->analysis->ops[i].op;
        if (strcmp(op, "Conv") == 0 || strcmp(op, "Gemm") == 0 || strcmp(op, "MatMul") == 0)
            macs += s->analysis->ops[i].macs;
    }
    CHECK(s->compared > 0);
    CHECK_NEAR(s->macs, macs, 0);
    printf("  %zu products, %.0f MACs\n", s->compared, macs);
    assay__map_free(s->by_output);
    assay__analysis_free(s->analysis);
    assay__model_free(s->model);
    s->model = NULL;
}

static void compare(struct subject *s, char *line)
{
    char *op = strchr(line, '\t'), *macs = op ? strchr(op + 1, '\t') : NULL;
    CHECK(op && macs && s->model);
    *op++ = *macs++ = 0;
    size_t at = assay__map_get(s->by_output, line);
    CHECK(at != ASSAY__MAP_NONE);
    CHECK_STR(s->model->graph.nodes[at].op, op);
    double expected = strtod(macs, NULL);
    if (s->analysis->costs[at].macs != expected)
        printf("  %s (%s): %.17g, onnx-tool has %.17g\n", line, op, s->analysis->costs[at].macs,
               expected);
    CHECK(s->analysis->costs[at].macs == expected);
    s->compared++;
    s->macs += expected;
}

static void test_oracle(void)
{
    char path[1024], name[128], line[1024];
    const char *folder = getenv("ASSAY_TEST_COST");
    struct subject s = {.model = NULL};
    if (!folder) folder = ASSAY_TEST_ROOT "/tests/fixtures/cost";
    snprintf(path, sizeof path, "%s/macs.txt", folder);
    FILE *file = fopen(path, "r");
    if (!file) harness_fail(__FILE__, __LINE__, strerror(errno));
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "model ", 6) != 0) {
            compare(&s, line);
            continue;
        }
        close_subject(&s);
        CHECK_INT(sscanf(line + 6, "%*s %127s", name), 1);
        if (strncmp(line + 6, "light ", 6) == 0)
            light_path(name, path, sizeof path);
        else
            snprintf(path, sizeof path, "%s/%s", folder, name);
        open_subject(&s, path);
    }
    close_subject(&s);
    fclose(file);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {{"oracle", test_oracle}};
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
