/* test_advise_rules.c - every rule by a profile that triggers it, with the exact potential, and by
 * one just on the other side of its threshold. Each starts from a profile in which all rules are
 * evaluated and none finds anything; a test holds the table of rules against the list below. */
#include "advise_graphs.h"

/* --- target ----------------------------------------------------------------------------------- */

CASE(threads_over)
{
    option(p, "threads", near ? "8" : "9");
}
CASE(threads_smt)
{
    option(p, "threads", near ? "4" : "8 (engine's default)");
}
/* One thread, 100 % of the time compute-bound at one core's ceiling: 1 / (1 - 0.88 + 0.88 / 4). */
CASE(threads_under)
{
    option(p, "threads", near ? "4" : "1");
}
CASE(spinning)
{
    metric(p, "hardware.cpus_busy", near ? 3.5 : 3.6);
    LAYER(0).flops = 4e5, LAYER(2).flops = 3e5, LAYER(0).bytes = LAYER(2).bytes = 1e3;
    LAYER(0).weight_bytes = LAYER(2).weight_bytes = 0;
    LAYER(1).bytes = 1e4;
}
CASE(optimization_off)
{
    option(p, "opt", near ? "all" : "basic");
}
CASE(streams_over)
{
    option(p, "streams", near ? "8" : "9");
}

/* --- batch ------------------------------------------------------------------------------------ */

/* Of 1 ms 20 us engine and 380 us memory-bound with half its bytes in weights: 0.21 is fixed. */
CASE(batch_small)
{
    LAYER(2).flops = 1e3, LAYER(2).bytes = 3.04e6, LAYER(2).weight_bytes = near ? 1.3e6 : 1.52e6;
}
CASE(dynamic_shapes)
{
    static const int64_t dims[] = {-1, 64};
    static const char *const symbols[] = {"batch", NULL};
    p->models[0]->inputs = assay__arena_array(p->arena, 1, sizeof *p->models[0]->inputs);
    CHECK(p->models[0]->inputs != NULL);
    p->models[0]->inputs[0] = TRIAL->inputs[0];
    if (near) return;
    p->models[0]->inputs[0].dims = dims;
    p->models[0]->inputs[0].symbols = symbols;
}
CASE(size_steps)
{
    CHECK_INT(assay_metrics_measured(p->trials[1].metrics, "throughput.samples", near ? 7300 : 6400,
                                     "test", ""),
              0);
}

/* --- precision -------------------------------------------------------------------------------- */

/* Compute-bound 0.88, memory-bound 0.08; twice the ceiling: 1 / (1 - 0.44 - 0.04). */
CASE(float16)
{
    fact_device(p, TRIAL, "cuda:0");
    for (size_t i = 0; near && i < p->ceiling_count; i++)
        if (strcmp(p->ceilings[i].name, "compute.float16.matmul") == 0)
            p->ceilings[i].value = 1.1e11;
}
/* Four times the ceiling, on an Arm processor: 1 / (1 - 0.66 - 0.04). */
CASE(bfloat16)
{
    p->environment.architecture = near ? "x86_64" : "aarch64";
}
/* 380 us, half of the bytes are weights, three quarters of these go: 1 / (1 - 0.38 x 0.375). */
CASE(weights_int8)
{
    LAYER(2).flops = 1e3, LAYER(2).bytes = 3.04e6, LAYER(2).weight_bytes = near ? 0 : 1.52e6;
}
/* 0.88 of the time in products, twice the ceiling. */
CASE(products_int8)
{
    p->ceilings[2].value = near ? 1.19e11 : 2e11;
}
CASE(float64)
{
    const struct node_spec nodes[] = {{"MatMul", "a", {"x", "w"}, "y", NULL, 0}};
    const struct weight_spec weights[] = {
        {"w", near ? ASSAY__FLOAT32 : ASSAY__FLOAT64, 2, {64, 64}}};
    set_model(p, nodes, 1, weights, 1, NULL);
}

/* --- bound ------------------------------------------------------------------------------------ */

/* Eight layers of 40 us that do nothing, and 20 us of the engine: 0.34; half of that goes. */
CASE(dispatch_bound)
{
    struct assay__layer layers[9];
    for (size_t i = 0; i < 8; i++)
        layers[i] = make_layer("n", "Reshape", near ? 30 : 40, 0, 0, 0);
    layers[8] = make_layer("a", "MatMul", 600, 4e7, 1e5, 0);
    set_layers(p, layers, 9);
}
/* 600 us at 80 % (near: at 45 %) of the memory's roof */
CASE(memory_bound)
{
    LAYER(0).time_ns = 600 * US, LAYER(0).flops = 1e3, LAYER(0).bytes = near ? 2.7e6 : 4.8e6;
    LAYER(1).bytes = near ? 3e5 : 6.4e5;
    LAYER(2).time_ns = 300 * US, LAYER(2).flops = 2.4e7;
}
/* 500 us at 18 %: at 60 % three tenths of them */
CASE(low_utilization)
{
    LAYER(0).flops = near ? 1.5e7 : 9e6;
}
/* 600 us at 12 %: at 60 % a fifth of them, 480 us less */
CASE(depthwise)
{
    const struct node_spec nodes[] = {{"Conv", "c", {"x", "w"}, "y", "group", near ? 4 : 8}};
    const struct weight_spec weights[] = {{"w", ASSAY__FLOAT32, 4, {8, near ? 2 : 1, 3, 3}}};
    image_input(p);
    set_model(p, nodes, 1, weights, 1, NULL);
    layers_by_node(p, nodes, (double[]){600}, 1);
    LAYER(0).flops = 7.2e6;
}
CASE(gathers)
{
    one_op(p, "Gather", near ? 199 : 400);
}
/* 400 us, of which the roof allows 64: 336 go */
CASE(norms)
{
    one_op(p, "Softmax", near ? 199 : 400);
}
/* 20 columns in registers of 8: 20 / 24 work; 4 columns: a half */
CASE(vector_lanes)
{
    const struct node_spec nodes[] = {{"MatMul", "a", {"x", "w"}, "y", NULL, 0}};
    const struct weight_spec weights[] = {{"w", ASSAY__FLOAT32, 2, {64, near ? 20 : 4}}};
    set_model(p, nodes, 1, weights, 1, NULL);
}

/* --- device ----------------------------------------------------------------------------------- */

CASE(fallback)
{
    fact_device(p, TRIAL, "cuda:0");
    LAYER(0).provider = LAYER(1).provider = LAYER(2).provider = "CUDAExecutionProvider";
    if (!near) LAYER(1).provider = "CPUExecutionProvider";
}
CASE(copies)
{
    fact_device(p, TRIAL, near ? "cpu" : "cuda:0");
    one_op(p, "MemcpyToHost", 200);
}
CASE(io_binding)
{
    fact_device(p, TRIAL, "cuda:0");
    metric(p, "latency.transfer_in", near ? 49e-6 : 150e-6);
    metric(p, "latency.transfer_out", 50e-6);
}
CASE(device_idle)
{
    fact_device(p, TRIAL, "cuda:0");
    metric(p, "gpu.utilization", near ? 0.3 : 0.2);
    metric(p, "gpu.kernel_mean", 1e-6);
    metric(p, "gpu.gap_mean", 4e-6);
}
CASE(launch_bound)
{
    fact_device(p, TRIAL, "cuda:0");
    metric(p, "gpu.launch_efficiency", near ? 0.7 : 0.35);
}

/* --- machine ---------------------------------------------------------------------------------- */

CASE(thermal_throttling)
{
    metric(p, "disturbance.frequency_change", near ? -0.04 : -0.2);
}
CASE(clock_below)
{
    metric(p, "disturbance.frequency", near ? 2.7e9 : 2e9);
}
CASE(governor)
{
    p->environment.governor = near ? "performance" : "powersave";
}
CASE(steal)
{
    metric(p, "disturbance.steal", near ? 0.009 : 0.2);
}
CASE(neighbours)
{
    metric(p, "disturbance.cpu_other", near ? 0.049 : 0.05);
}
CASE(cpu_quota)
{
    metric(p, "disturbance.throttled", near ? 0 : 0.3);
}
CASE(context_switches)
{
    metric(p, "hardware.context_switches", near ? 0.9 : 1);
}
/* 400 x 0.5 us of 1 ms */
CASE(page_faults)
{
    metric(p, "hardware.page_faults", near ? 20 : 400);
}
CASE(major_faults)
{
    metric(p, "disturbance.page_faults_major", near ? 9 : 10);
}
CASE(few_samples)
{
    TRIAL->stability.verdict = near ? "stable" : "too-few";
    TRIAL->stability.more_iterations = 500;
}
CASE(unstable)
{
    static const char *reasons[] = {"drift 4 %"};
    TRIAL->stability = (struct assay__stability){.verdict = near ? "too-few" : "unstable",
                                                 .reasons = reasons,
                                                 .reason_count = 1,
                                                 .more_iterations = -1};
}
CASE(latency_tail)
{
    metric(p, "latency.p99", near ? 1.99e-3 : 2e-3);
}

/* --- memory ----------------------------------------------------------------------------------- */

CASE(memory_growth)
{
    TRIAL->allocations.growth_bytes = 64;
    TRIAL->allocations.growth_low = near ? 0 : 60;
    TRIAL->allocations.growth_high = 70;
}
/* 4000 x 50 ns of 1 ms */
CASE(allocations)
{
    metric(p, "memory.allocations", near ? 300 : 4000);
}
CASE(fragmentation)
{
    metric(p, "memory.fragmentation", near ? 0.49 : 0.5);
    TRIAL->allocations.heap_bytes = 32 << 20;
}
CASE(arena_held)
{
    metric(p, "memory.activation.arena", 32768 + (near ? 16777215 : 16777216));
}
CASE(weight_copies)
{
    metric(p, "memory.model", 100e6);
    metric(p, "memory.peak.worker", near ? 250e6 : 251e6);
}

/* --- start ------------------------------------------------------------------------------------ */

CASE(cold_start)
{
    metric(p, "timing.session", near ? 0.49 : 0.5);
}
CASE(compile_time)
{
    metric(p, "timing.compile", near ? 0.19 : 0.2);
    metric(p, "timing.session", 0.4);
}
CASE(first_inference)
{
    metric(p, "timing.first", near ? 4.9e-3 : 5e-3);
}

/* --- sequence --------------------------------------------------------------------------------- */

static struct assay__cell_group groups[] = {{"inter", 8, 1e6, 4e5, ASSAY_DERIVED},
                                            {"motor", 4, 1e6, 1e5, ASSAY_DERIVED}};
static void cell(struct assay_profile *p, const char *form, int64_t steps)
{
    p->models[0]->cell = (struct assay__cell_info){.kind = "CfC",
                                                   .form = form,
                                                   .steps = steps,
                                                   .fault = "",
                                                   .groups = groups,
                                                   .group_count = COUNT(groups)};
}
CASE(cell_unrolled)
{
    cell(p, "unrolled", 16);
    TRIAL->layers.engine_ns = near ? 49 * US : 200 * US;
}
CASE(cell_scan)
{
    cell(p, "scan", near ? 7 : 8);
    one_op(p, "Scan", 500);
}
/* products take 0.88; a quarter of the FLOPs is needed */
CASE(sparse_as_dense)
{
    groups[0].flops_needed = near ? 1.45e6 : 4e5;
    cell(p, "step", 1);
}
CASE(cache_growth)
{
    option(p, "generate", "32");
    metric(p, "llm.itl", 16e-3);
    metric(p, "llm.itl_first", 10e-3);
    metric(p, "llm.itl_last", near ? 11.9e-3 : 20e-3);
}
/* 100 MB at 10 GB/s are 10 ms of 12.5 ms */
CASE(decode_bandwidth)
{
    option(p, "generate", "32");
    metric(p, "memory.model", 100e6);
    metric(p, "llm.itl", near ? 30e-3 : 12.5e-3);
}

/* --- requirement ------------------------------------------------------------------------------ */

CASE(rate_required)
{
    metric(p, "compute.efficiency", near ? 0.8 : 0.79);
}
CASE(memory_budget)
{
    metric(p, "memory.budget_share", near ? 0.8 : 1.1);
}
CASE(power_budget)
{
    metric(p, "power.budget_share", near ? 0.8 : 0.81);
}

/* --- the list --------------------------------------------------------------------------------- */

static const struct {
    const char *id;
    void (*make)(struct assay_profile *p, bool near);
    double gain;          /* NaN: none is stated */
    const char *severity; /* by potential */
    const char *says;     /* in its evidence */
    enum assay__change_kind change;
} cases[] = {
    {"threads-over", threads_over, NAN, "medium", "9 threads", ASSAY__CHANGE_THREADS},
    {"threads-smt", threads_smt, NAN, "low", "4 of them", ASSAY__CHANGE_THREADS},
    {"threads-under", threads_under, 1 / (1 - 0.88 + 0.88 / 4), "high", "1 of 4 cores",
     ASSAY__CHANGE_THREADS},
    {"spinning", spinning, NAN, "low", "3.6 CPUs", ASSAY__CHANGE_SPINNING_OFF},
    {"optimization-off", optimization_off, NAN, "high", "'basic'", ASSAY__CHANGE_OPTIMIZE},
    {"streams-over", streams_over, NAN, "medium", "9 requests", ASSAY__CHANGE_THREADS},
    {"batch-small", batch_small, 1 / (1 - 0.21 + 0.21 / 8), "medium", "21 %", ASSAY__CHANGE_BATCH},
    {"dynamic-shapes", dynamic_shapes, NAN, "note", "dimensions: 1", ASSAY__CHANGE_FIX_DIMS},
    {"size-steps", size_steps, 1.25, "medium", "batch 9: 6,400", ASSAY__CHANGE_NONE},
    {"float16", float16, 1 / (1 - 0.48), "high", "2 times", ASSAY__CHANGE_FLOAT16},
    {"bfloat16", bfloat16, 1 / (1 - 0.7), "high", "4 times", ASSAY__CHANGE_NONE},
    {"weights-int8", weights_int8, 1 / (1 - 0.38 * 0.375), "medium", "1.52 MB",
     ASSAY__CHANGE_WEIGHTS_INT8},
    {"products-int8", products_int8, 1 / 0.56, "high", "2 compute-bound products take 88 %",
     ASSAY__CHANGE_DYNAMIC_INT8},
    {"float64", float64, NAN, "medium", "32.8 kB of float64", ASSAY__CHANGE_NONE},
    {"transposes", transposes, 1 / 0.92, "low", "8 %", ASSAY__CHANGE_NONE},
    {"casts", casts, 1 / 0.92, "low", "80.0 µs", ASSAY__CHANGE_NONE},
    {"moves", moves, 1.25, "medium", "20 %", ASSAY__CHANGE_NONE},
    {"layout-reorders", reorders, 1 / 0.92, "low", "8 %", ASSAY__CHANGE_LAYOUT_OFF},
    {"cast-chain", cast_chain, 1 / 0.95, "low", "such as 'one'", ASSAY__CHANGE_NONE},
    {"view-chain", view_chain, 1 / 0.95, "low", "such as 'one'", ASSAY__CHANGE_NONE},
    {"transpose-pair", transpose_pair, 1 / 0.95, "low", "5 %", ASSAY__CHANGE_NONE},
    {"identities", identities, 1 / 0.89, "medium", "2 of them ran", ASSAY__CHANGE_NONE},
    {"unused-weights", unused_weights, NAN, "note", "1.02 kB", ASSAY__CHANGE_NONE},
    {"constant-outputs", constant_outputs, NAN, "low", "'y2'", ASSAY__CHANGE_NONE},
    {"fusion-norm", fusion_norm, 1 / 0.9, "medium", "1 of 1 groups", ASSAY__CHANGE_NONE},
    {"fusion-activation", fusion_activation, 1.25, "medium", "2 layers", ASSAY__CHANGE_NONE},
    {"fusion-layer-norm", fusion_layer_norm, 1 / 0.6, "high", "9 layers", ASSAY__CHANGE_NONE},
    {"fusion-gelu", fusion_gelu, 1.25, "medium", "5 layers", ASSAY__CHANGE_NONE},
    {"fusion-attention", fusion_attention, 1.25, "medium", "4 layers", ASSAY__CHANGE_NONE},
    {"fusion-hardswish", fusion_hardswish, 1 / 0.85, "medium", "4 layers",
     ASSAY__CHANGE_FUSE_HARDSWISH},
    {"fusion-affine", fusion_affine, 1.25, "medium", "3 layers", ASSAY__CHANGE_FOLD_AFFINE},
    {"dispatch-bound", dispatch_bound, 1 / (1 - 0.16), "medium", "8 of 9 layers",
     ASSAY__CHANGE_BATCH},
    {"memory-bound", memory_bound, 1 / (1 - 0.34), "high", "80 % of the memory roof",
     ASSAY__CHANGE_WEIGHTS_INT8},
    {"low-utilization", low_utilization, 1 / 0.65, "high", "18 % of its compute roof",
     ASSAY__CHANGE_NONE},
    {"depthwise", depthwise, 1 / 0.52, "high", "12 % of its compute roof", ASSAY__CHANGE_NONE},
    {"gathers", gathers, 1.25, "medium", "40 %", ASSAY__CHANGE_WEIGHTS_INT8},
    {"norms", norms, 1 / (1 - 0.336), "high", "336 µs less", ASSAY__CHANGE_NONE},
    {"vector-lanes", vector_lanes, 1 / 0.75, "medium", "4 columns: 50 %", ASSAY__CHANGE_NONE},
    {"fallback", fallback, 1 / 0.92, "low", "1 of 3 layers", ASSAY__CHANGE_NONE},
    {"copies", copies, 1.25, "medium", "20 %", ASSAY__CHANGE_NONE},
    {"io-binding", io_binding, 1.25, "medium", "150 µs", ASSAY__CHANGE_NONE},
    {"device-idle", device_idle, 4, "high", "20 %", ASSAY__CHANGE_NONE},
    {"launch-bound", launch_bound, 2, "high", "35 %", ASSAY__CHANGE_NONE},
    {"thermal-throttling", thermal_throttling, 1.25, "medium", "20 %", ASSAY__CHANGE_NONE},
    {"clock-below", clock_below, 1.5, "high", "2.00 GHz of 3.00 GHz", ASSAY__CHANGE_NONE},
    {"governor", governor, NAN, "note", "'powersave'", ASSAY__CHANGE_NONE},
    {"steal", steal, 1.25, "medium", "20 %", ASSAY__CHANGE_NONE},
    {"neighbours", neighbours, NAN, "medium", "5 %", ASSAY__CHANGE_NONE},
    {"cpu-quota", cpu_quota, NAN, "high", "300 ms", ASSAY__CHANGE_NONE},
    {"context-switches", context_switches, NAN, "low", "1 context switches",
     ASSAY__CHANGE_SPINNING_OFF},
    {"page-faults", page_faults, 1.25, "medium", "400 page faults", ASSAY__CHANGE_NONE},
    {"major-faults", major_faults, NAN, "medium", "disk: 10", ASSAY__CHANGE_NONE},
    {"few-samples", few_samples, NAN, "medium", "1000 samples", ASSAY__CHANGE_ITERATIONS},
    {"unstable", unstable, NAN, "medium", "drift 4 %", ASSAY__CHANGE_NONE},
    {"latency-tail", latency_tail, NAN, "medium", "2 times the median", ASSAY__CHANGE_NONE},
    {"memory-growth", memory_growth, NAN, "high", "64 B", ASSAY__CHANGE_NONE},
    {"allocations", allocations, 1.25, "medium", "4000 allocations", ASSAY__CHANGE_NONE},
    {"fragmentation", fragmentation, NAN, "low", "50 % of the 33.6 MB", ASSAY__CHANGE_NONE},
    {"arena-held", arena_held, NAN, "low", "16.8 MB besides the weights,", ASSAY__CHANGE_NONE},
    {"weight-copies", weight_copies, NAN, "low", "2.5 times the weights", ASSAY__CHANGE_NONE},
    {"cold-start", cold_start, NAN, "low", "500 inferences", ASSAY__CHANGE_NONE},
    {"compile-time", compile_time, NAN, "low", "200 ms of the 400 ms of session creation",
     ASSAY__CHANGE_NONE},
    {"first-inference", first_inference, NAN, "note", "5 times a warm one", ASSAY__CHANGE_NONE},
    {"cell-unrolled", cell_unrolled, 1.25, "medium", "16 steps", ASSAY__CHANGE_NONE},
    {"cell-scan", cell_scan, NAN, "note", "62.5 µs per step", ASSAY__CHANGE_NONE},
    {"sparse-as-dense", sparse_as_dense, 1 / (1 - 0.66), "high", "(25 %)", ASSAY__CHANGE_NONE},
    {"cache-growth", cache_growth, 1.6, "high", "20.0 ms in the last", ASSAY__CHANGE_NONE},
    {"decode-bandwidth", decode_bandwidth, 1 / (1 - 0.8 + 0.2), "high",
     "80 % of the 12.5 ms per token", ASSAY__CHANGE_WEIGHTS_INT8},
    {"rate-required", rate_required, NAN, "high", "79 %", ASSAY__CHANGE_BATCH},
    {"memory-budget", memory_budget, NAN, "high", "110 % of the budget: exceeded",
     ASSAY__CHANGE_NONE},
    {"power-budget", power_budget, NAN, "high", "81 %", ASSAY__CHANGE_NONE},
};

static void test_list(void)
{
    size_t rules = 0;
    for (; assay__rule_at(rules); rules++) {
        const struct assay__rule *rule = assay__rule_at(rules);
        CHECK(assay__rule_find(rule->id) == rule); /* ids are unique */
        if (rules >= COUNT(cases)) printf("  no case for '%s'\n", rule->id);
        CHECK(rules < COUNT(cases));
        CHECK_STR(rule->id, cases[rules].id);
    }
    CHECK_INT(rules, COUNT(cases));
    CHECK(rules >= 30);
}

static void test_base(void)
{
    struct assay_profile *p = base_profile();
    struct assay__advice *advice = advise(p);
    for (size_t i = 0; i < advice->result_count; i++) {
        const struct assay__rule_result *r = &advice->results[i];
        if (r->outcome == ASSAY__RULE_NOTHING) continue;
        /* an accelerator's transfers and timeline are asked for only there */
        printf("  '%s' is no silent rule: %s\n", r->rule->id,
               r->outcome == ASSAY__RULE_FOUND ? r->finding.evidence[0] : r->missing);
        harness_fail(__FILE__, __LINE__, "the base profile is not silent");
    }
    CHECK_INT(advice->nothing, COUNT(cases));
    CHECK_INT(p->finding_count, 0);
    assay__advice_free(advice);
    assay_profile_close(p);
}

static bool said(const struct assay__finding *f, const char *words)
{
    for (size_t i = 0; i < f->evidence_count; i++)
        if (strstr(f->evidence[i], words)) return true;
    printf("  %s: '%s' does not stand in:\n", f->id, words);
    for (size_t i = 0; i < f->evidence_count; i++)
        printf("    %s\n", f->evidence[i]);
    return false;
}

static bool has_digit(const struct assay__finding *f)
{
    for (size_t i = 0; i < f->evidence_count; i++)
        if (strpbrk(f->evidence[i], "0123456789")) return true;
    return false;
}

static void check_found(size_t i)
{
    struct assay_profile *p = base_profile();
    cases[i].make(p, false);
    struct assay__advice *advice = advise(p);
    const struct assay__rule_result *r = result_of(advice, cases[i].id);
    const struct assay__finding *f = &r->finding;
    if (r->outcome != ASSAY__RULE_FOUND) printf("  %s: not found (%s)\n", cases[i].id, r->missing);
    CHECK_INT(r->outcome, ASSAY__RULE_FOUND);
    if (isfinite(cases[i].gain) && !(fabs(f->expected_gain - cases[i].gain) < 1e-9))
        printf("  %s\n", cases[i].id);
    if (isfinite(cases[i].gain))
        CHECK_NEAR(f->expected_gain, cases[i].gain, 1e-9);
    else
        CHECK(isnan(f->expected_gain));
    if (strcmp(f->severity, cases[i].severity) != 0) printf("  %s\n", cases[i].id);
    CHECK_STR(f->severity, cases[i].severity);
    CHECK(said(f, cases[i].says));
    CHECK(has_digit(f) && f->advice[0] && f->title[0]);
    CHECK_STR(f->state, "open");
    CHECK(assay__op_among(f->effort, "small|medium|large"));
    CHECK(isnan(f->energy_saving) && isnan(f->verified_gain)); /* no power is known here */
    CHECK_INT(r->change.kind, cases[i].change);
    CHECK(p->finding_count >= 1);
    assay__advice_free(advice);
    assay_profile_close(p);
}

static void check_near(size_t i)
{
    struct assay_profile *p = base_profile();
    cases[i].make(p, true);
    struct assay__advice *advice = advise(p);
    const struct assay__rule_result *r = result_of(advice, cases[i].id);
    if (r->outcome != ASSAY__RULE_NOTHING)
        printf("  %s: %s\n", cases[i].id,
               r->outcome == ASSAY__RULE_FOUND ? r->finding.evidence[0] : r->missing);
    CHECK_INT(r->outcome, ASSAY__RULE_NOTHING);
    assay__advice_free(advice);
    assay_profile_close(p);
}

static void test_found(void)
{
    for (size_t i = 0; i < COUNT(cases); i++)
        check_found(i);
}

static void test_near(void)
{
    for (size_t i = 0; i < COUNT(cases); i++)
        check_near(i);
}

/* Layers whose times add up to twice the latency: shares of the sum, neither "100 %" nor a lost
 * potential. */
static void test_longer_than_the_whole(void)
{
    struct assay_profile *p = base_profile();
    struct assay__layer layers[] = {
        make_layer("a", "MatMul", 1500, 9e6, 1e5, 16384), /* at 6 %; at 60 %, 1350 us go */
        make_layer("s", "Softmax", 500, 1e3, 1e6, 0),     /* the roof allows 100 us of them */
    };
    set_layers(p, layers, COUNT(layers));
    struct assay__advice *advice = advise(p);
    const struct assay__finding *f = &result_of(advice, "low-utilization")->finding;
    CHECK(said(f, "2 layers below 30 % of their roof take 100 % of the layers' summed time"));
    CHECK(said(f, "the layer times add up to 200 % of the latency"));
    /* 1 - (1350 + 500 (1 - 0.2 / 0.6)) / 2000 */
    CHECK_NEAR(f->expected_gain, 1 / (1 - (1350 + 500 * (1 - 0.2 / 0.6)) / 2000), 1e-9);
    f = &result_of(advice, "norms")->finding;
    CHECK(said(f, "take 25 % of the layers' summed time"));
    CHECK_NEAR(f->expected_gain, 1 / (1 - 400.0 / 2000), 1e-9);
    assay__advice_free(advice);
    assay_profile_close(p);
}

/* Calls that add up to more than the latency: "about all", no 100 % and no potential of exactly 8;
 * no word of weights that no layer reads. Joining calls does not halve what the engine takes once
 * per run. */
static void test_all_is_calls(void)
{
    struct assay_profile *p = base_profile();
    struct assay__layer layers[9];
    for (size_t i = 0; i < COUNT(layers); i++)
        layers[i] = make_layer("n", "Reshape", 130, 0, 0, 0);
    set_layers(p, layers, COUNT(layers));
    p->trials[0].layers.engine_ns = 300 * US;
    struct assay__advice *advice = advise(p);
    const struct assay__rule_result *r = result_of(advice, "batch-small");
    CHECK_INT(r->outcome, ASSAY__RULE_FOUND);
    CHECK(isnan(r->finding.expected_gain));
    CHECK(said(&r->finding, "nearly all of an inference (1.00 ms) does not grow with the batch"));
    for (size_t i = 0; i < r->finding.evidence_count; i++)
        CHECK(!strstr(r->finding.evidence[i], "weights"));
    r = result_of(advice, "dispatch-bound");
    CHECK_INT(r->outcome, ASSAY__RULE_FOUND);
    CHECK_NEAR(r->finding.expected_gain, 1 / (1 - 9 * 130 / (9 * 130 + 300.0) / 2), 1e-9);
    assay__advice_free(advice);
    assay_profile_close(p);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"list", test_list},
        {"base", test_base},
        {"found", test_found},
        {"near", test_near},
        {"longer_than_the_whole", test_longer_than_the_whole},
        {"all_is_calls", test_all_is_calls}};
    return harness_main(argc, argv, tests, COUNT(tests));
}
