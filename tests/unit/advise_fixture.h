/* advise_fixture.h - for the tests of the advice: a profile in which every rule has what it needs
 * and finds nothing, and words to change it. An inference takes 1 ms; the ceilings are round
 * numbers (10^11 FLOP/s, 10^10 B/s), so that gains are exact. */
#ifndef ASSAY_TESTS_ADVISE_FIXTURE_H
#define ASSAY_TESTS_ADVISE_FIXTURE_H

#include "facts_fixture.h"
#include "scratch.h"

#include "advise/advise.h"

#include <assay/assay.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define P50_NS 1e6
#define US 1e3

/* --- the profile ------------------------------------------------------------------------------ */

#define CEILING(d, n, v, u)                                                                        \
    {                                                                                              \
        .device = d, .name = n, .value = v, .unit = u, .low = NAN, .high = NAN, .source = "clock", \
        .note = "", .measured_at = ""                                                              \
    }

static struct assay__ceiling_info ceilings[] = {
    CEILING("cpu", "compute.float32.one-core", 2.5e10, "FLOP/s"),
    CEILING("cpu", "compute.float32.all-cores", 1e11, "FLOP/s"),
    CEILING("cpu", "compute.int8.all-cores", 1.1e11, "OP/s"),
    CEILING("cpu", "compute.float16.all-cores", 2e11, "FLOP/s"),
    CEILING("cpu", "compute.bfloat16.all-cores", 4e11, "FLOP/s"),
    CEILING("cpu", "bandwidth.dram.read.all-cores", 1e10, "B/s"),
    CEILING("cpu", "bandwidth.dram.read.one-core", 1e10, "B/s"),
    CEILING("cuda:0", "compute.float32.matmul", 1e11, "FLOP/s"),
    CEILING("cuda:0", "compute.float16.matmul", 2e11, "FLOP/s"),
    CEILING("cuda:0", "compute.bfloat16.matmul", 1.1e11, "FLOP/s"),
    CEILING("cuda:0", "bandwidth.device.copy", 1e10, "B/s"),
};

static inline struct assay__layer make_layer(const char *name, const char *op, double time_us,
                                             double flops, double bytes, double weight_bytes)
{
    return (struct assay__layer){.name = name,
                                 .op = op,
                                 .provider = "CPUExecutionProvider",
                                 .time_ns = time_us * US,
                                 .host_enqueue_ns = NAN,
                                 .kernel_count = NAN,
                                 .gap_ns = NAN,
                                 .share = NAN,
                                 .flops = flops,
                                 .bytes = bytes,
                                 .weight_bytes = weight_bytes,
                                 .live_bytes = NAN,
                                 .bound = "",
                                 .state = isfinite(time_us) ? ASSAY_MEASURED : ASSAY_UNAVAILABLE,
                                 .method = "markers",
                                 .note = ""};
}

static inline void metric(struct assay_profile *p, const char *name, double value)
{
    CHECK_INT(assay_metrics_measured(p->trials[0].metrics, name, value, "test", ""), 0);
}

static inline void unknown_metric(struct assay_profile *p, const char *name, const char *why)
{
    CHECK_INT(assay_metrics_unavailable(p->trials[0].metrics, name, why), 0);
}

static inline void option(struct assay_profile *p, const char *key, const char *value)
{
    fact(p, &p->trials[0], key, value);
}

static inline struct assay__layer *set_layers(struct assay_profile *p,
                                              const struct assay__layer *layers, size_t count)
{
    struct assay__layers *l = &p->trials[0].layers;
    l->items = assay__arena_array(p->arena, count, sizeof *layers);
    CHECK(l->items != NULL);
    memcpy(l->items, layers, count * sizeof *layers);
    l->count = count;
    for (size_t i = 0; i < count; i++)
        l->items[i].index = (int)i;
    return l->items;
}

/* Layers come from the node of the same name, unless set otherwise. */
static inline void from_own_node(struct assay_profile *p, struct assay__layer *layer)
{
    layer->from = assay__arena_array(p->arena, 1, sizeof *layer->from);
    CHECK(layer->from != NULL);
    layer->from[0] = layer->name;
    layer->from_count = 1;
}

static inline void base_metrics(struct assay_profile *p)
{
    static const struct {
        const char *name;
        double value;
    } all[] = {
        {"latency.p50", P50_NS * 1e-9},
        {"latency.p99", 1.1e-3},
        {"latency.cv", 0.01},
        {"latency.samples", 1000},
        {"throughput.samples", 8000},
        {"timing.session", 0.01},
        {"timing.compile", 0.005},
        {"timing.first", 1.2e-3},
        {"compute.rate", 7e10},
        {"compute.efficiency", 1},
        {"memory.budget_share", 0.5},
        {"power.budget_share", 0.5},
        {"memory.model", 32768},
        {"memory.peak.worker", 1e6},
        {"memory.activation.arena", 1e6},
        {"memory.activation.predicted", 1e6},
        {"memory.allocations", 10},
        {"memory.allocated", 640},
        {"memory.fragmentation", 0.1},
        {"hardware.cpus_busy", 1},
        {"hardware.page_faults", 0},
        {"hardware.context_switches", 0},
        {"disturbance.steal", 0},
        {"disturbance.cpu_other", 0},
        {"disturbance.frequency", 3e9},
        {"disturbance.frequency_change", 0},
        {"disturbance.throttled", 0},
        {"disturbance.page_faults_major", 0},
    };
    for (size_t i = 0; i < COUNT(all); i++)
        metric(p, all[i].name, all[i].value);
}

static inline void base_trial(struct assay_profile *p, struct assay__trial *t)
{
    const struct assay__layer layers[] = {
        make_layer("a", "MatMul", 500, 4e7, 1e5, 16384), /* compute-bound at 80 % */
        make_layer("r", "Relu", 80, 1e3, 6.4e5, 0),      /* memory-bound at 80 % */
        make_layer("b", "MatMul", 380, 3.04e7, 1e5, 16384),
    };
    static const struct assay__pair pairs[] = {{"threads", "4"},
                                               {"opt", "all"},
                                               {"streams", "1"},
                                               {"cpus", "any"},
                                               {"spinning", "default"}};
    static const int64_t dims[] = {8, 64};
    static const struct assay__tensor_info x = {
        .name = "x", .dtype = "float32", .rank = 2, .dims = dims, .fill = ""};
    t->state = ASSAY__TRIAL_OK;
    t->target.engine = "ort", t->target.device = "cpu", t->batch = 8;
    t->inputs = assay__arena_array(p->arena, 1, sizeof x);
    CHECK(t->inputs);
    for (size_t i = 0; i < COUNT(pairs); i++)
        fact(p, t, pairs[i].key, pairs[i].value);
    t->inputs[0] = x;
    t->input_count = 1;
    t->stability = (struct assay__stability){.verdict = "stable", .more_iterations = 0};
    t->allocations = (struct assay__allocations){.reason = "",
                                                 .growth_bytes = 0,
                                                 .growth_low = -1,
                                                 .growth_high = 1,
                                                 .heap_bytes = 1e6,
                                                 .heap_used_bytes = 9e5,
                                                 .slowdown = 1};
    t->layers = assay__layers_unknown();
    t->layers.method = "markers";
    t->layers.engine_ns = 20 * US;
    if (t->id != 1) return;
    struct assay__layer *own = set_layers(p, layers, COUNT(layers));
    for (size_t i = 0; i < COUNT(layers); i++)
        from_own_node(p, &own[i]);
}

/* --- models ----------------------------------------------------------------------------------- */

struct node_spec {
    const char *op, *name;
    const char *inputs[3];
    const char *output;
    const char *attribute; /* an integer; NULL none */
    int64_t value;
};

struct weight_spec {
    const char *name; /* "3": the numbers in it, if they are float32; else they are 0 */
    enum assay__dtype dtype;
    int rank;
    int64_t dims[4];
};

static inline void add_nodes(struct assay__model *m, const struct node_spec *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t inputs = 0;
        while (inputs < 3 && nodes[i].inputs[inputs])
            inputs++;
        struct assay__node *node = assay__graph_add_node(
            m, &m->graph, nodes[i].op, nodes[i].name, nodes[i].inputs, inputs, &nodes[i].output, 1);
        CHECK(node != NULL);
        if (nodes[i].attribute)
            CHECK_INT(assay__node_set_int(m, node, nodes[i].attribute, nodes[i].value), 0);
    }
}

static inline void add_weight(struct assay__model *m, const struct weight_spec *w)
{
    int64_t elements = 1;
    for (int k = 0; k < w->rank; k++)
        elements *= w->dims[k];
    size_t bytes = assay__dtype_bytes(w->dtype, elements);
    void *data = assay__arena_alloc(m->arena, bytes); /* zeroes */
    CHECK(data != NULL);
    for (int64_t i = 0; i < elements && w->dtype == ASSAY__FLOAT32; i++)
        ((float *)data)[i] = strtof(w->name, NULL);
    CHECK(assay__graph_add_initializer(m, &m->graph, w->name, w->dtype, w->rank, w->dims, data,
                                       bytes) != NULL);
}

/* Writes the model to the scratch folder and makes it that of the profile: input x, output y (and
 * y2 when `second`). */
static inline void set_model(struct assay_profile *p, const struct node_spec *nodes,
                             size_t node_count, const struct weight_spec *weights,
                             size_t weight_count, const char *second)
{
    struct assay__model *m = assay__model_new();
    const struct assay__tensor_info *x = &p->trials[0].inputs[0];
    struct assay__dim dims[4] = {{0}};
    char fingerprint[17];
    struct assay_error error = {0};
    CHECK(m != NULL);
    m->ir_version = 8;
    m->opsets = assay__arena_alloc(m->arena, sizeof *m->opsets);
    m->opsets[0] = (struct assay__opset){"", 17};
    m->opset_count = 1;
    for (int k = 0; k < x->rank; k++)
        dims[k] = (struct assay__dim){x->dims[k], ""};
    CHECK_INT(assay__graph_add_value(m, &m->graph.inputs, &m->graph.input_count, "x",
                                     ASSAY__FLOAT32, x->rank, dims),
              0);
    CHECK_INT(assay__graph_add_value(m, &m->graph.outputs, &m->graph.output_count, "y",
                                     ASSAY__FLOAT32, -1, NULL),
              0);
    if (second)
        CHECK_INT(assay__graph_add_value(m, &m->graph.outputs, &m->graph.output_count, second,
                                         ASSAY__FLOAT32, -1, NULL),
                  0);
    for (size_t i = 0; i < weight_count; i++)
        add_weight(m, &weights[i]);
    add_nodes(m, nodes, node_count);
    const char *path = scratch("model.onnx");
    if (assay__model_write(m, path, &error)) harness_fail(__FILE__, __LINE__, error.message);
    assay__model_free(m);
    CHECK_INT(assay__model_read(path, &m, &error), 0);
    CHECK_INT(assay__model_fingerprint(m, fingerprint), 0);
    assay__model_free(m);
    p->models[0]->name = "model.onnx";
    p->models[0]->path = assay__arena_strdup(p->arena, path);
    p->models[0]->fingerprint = assay__arena_strdup(p->arena, fingerprint);
    p->models[0]->node_count = (int64_t)node_count;
    p->models[0]->inputs = p->trials[0].inputs;
    p->models[0]->input_count = 1;
}

/* One layer per node, each as long as said. */
static inline void layers_by_node(struct assay_profile *p, const struct node_spec *nodes,
                                  const double *times_us, size_t count)
{
    struct assay__layer *layers = assay__arena_array(p->arena, count, sizeof *layers);
    CHECK(layers != NULL);
    for (size_t i = 0; i < count; i++) {
        layers[i] = make_layer(nodes[i].name, nodes[i].op, times_us[i], 1e3, 1e3, 0);
        from_own_node(p, &layers[i]);
    }
    set_layers(p, layers, count);
}

/* An input of four dimensions, for convolutions. */
static inline void image_input(struct assay_profile *p)
{
    static const int64_t dims[] = {1, 8, 4, 4};
    p->trials[0].inputs[0].rank = 4;
    p->trials[0].inputs[0].dims = dims;
}

/* --- all of it -------------------------------------------------------------------------------- */

static inline struct assay_profile *base_profile(void)
{
    static const struct node_spec nodes[] = {
        {"MatMul", "a", {"x", "w"}, "h", NULL, 0},
        {"Relu", "r", {"h"}, "g", NULL, 0},
        {"MatMul", "b", {"g", "v"}, "y", NULL, 0},
    };
    static const struct weight_spec weights[] = {{"w", ASSAY__FLOAT32, 2, {64, 64}},
                                                 {"v", ASSAY__FLOAT32, 2, {64, 64}}};
    struct assay_profile *p = assay__profile_new();
    CHECK(p != NULL);
    p->assay_version = "0.1.0";
    assay__profile_set_command(p, "run");
    p->environment.architecture = "x86_64";
    p->environment.simd = "avx2 fma";
    p->environment.governor = "performance";
    p->environment.cores = 4, p->environment.threads = 8;
    p->environment.cpu_max_hz = 3e9;
    p->environment.memory_bytes = 16e9;
    p->ceilings = assay__arena_array(p->arena, COUNT(ceilings), sizeof *ceilings);
    CHECK(p->ceilings != NULL);
    memcpy(p->ceilings, ceilings, sizeof ceilings);
    p->ceiling_count = COUNT(ceilings);
    p->models[0]->cell = (struct assay__cell_info){
        .kind = "", .form = "", .steps = -1, .fault = ""};
    for (int i = 0; i < 2; i++) { /* the second: a batch between two powers of two */
        struct assay__trial *t = assay__profile_trial(p);
        CHECK(t != NULL);
        base_trial(p, t);
    }
    p->trials[1].batch = 9;
    CHECK_INT(assay_metrics_measured(p->trials[1].metrics, "throughput.samples", 8100, "test", ""),
              0);
    base_metrics(p);
    set_model(p, nodes, COUNT(nodes), weights, COUNT(weights), NULL);
    return p;
}

static inline struct assay__advice *advise(struct assay_profile *p)
{
    struct assay__advice *advice = NULL;
    struct assay_error error = {0};
    if (assay__advise(p, NULL, &advice, &error)) harness_fail(__FILE__, __LINE__, error.message);
    return advice;
}

static inline const struct assay__rule_result *result_of(const struct assay__advice *advice,
                                                         const char *id)
{
    for (size_t i = 0; i < advice->result_count; i++)
        if (strcmp(advice->results[i].rule->id, id) == 0) return &advice->results[i];
    printf("  no rule '%s'\n", id);
    harness_fail(__FILE__, __LINE__, "no such rule");
    return NULL;
}

#endif
