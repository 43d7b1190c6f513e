/* test_advise.c - the advice around its rules: what is missing is named, the model behind a
 * profile, order and severity, energy, what is kept in a file, JSON, the page, the changes that
 * could be tried, and doc/rules.md (tests/run --bless rewrites its table). */
#include "advise_fixture.h"

#include "advise/finding_rank.h"
#include "base/json.h"
#include "golden.h"
#include "profile/store.h"
#include "report/report_advise.h"
#include "report/formats.h"

#define DOC_MARK "<!-- from the table of rules -->\n"

static void close_both(struct assay__advice *advice, struct assay_profile *p)
{
    assay__advice_free(advice);
    assay_profile_close(p);
}

/* --- what is missing -------------------------------------------------------------------------- */

/* A trial that holds nothing: nothing may be found, and every rule that needs something says
 * what. */
static void test_empty(void)
{
    struct assay_profile *p = assay__profile_new();
    CHECK(p && assay__profile_trial(p));
    p->trials[0].state = ASSAY__TRIAL_OK;
    p->trials[0].target.device = "cpu";
    p->trials[0].target.engine = "ort";
    p->models[0]->cell = (struct assay__cell_info){
        .kind = "", .form = "", .steps = -1, .fault = ""};
    p->environment.governor = p->environment.simd = "";
    struct assay__advice *advice = advise(p);
    CHECK_INT(advice->found, 0);
    CHECK(advice->missing >= 30);
    for (size_t i = 0; i < advice->result_count; i++) {
        const struct assay__rule_result *r = &advice->results[i];
        if (r->rule->needs && r->outcome != ASSAY__RULE_MISSING) printf("  %s\n", r->rule->id);
        unsigned needs = r->rule->needs & ((1u << ASSAY__NEED_COUNT) - 1);
        CHECK(!needs || r->outcome == ASSAY__RULE_MISSING);
        CHECK((r->outcome == ASSAY__RULE_MISSING) == (r->missing[0] != 0));
    }
    CHECK_HAS(result_of(advice, "memory-bound")->missing, "latency");
    CHECK_HAS(result_of(advice, "unused-weights")->missing, "names no model file");
    CHECK_HAS(result_of(advice, "size-steps")->missing, "an experiment");
    CHECK_HAS(result_of(advice, "rate-required")->missing, "requirement: ");
    close_both(advice, p);
}

static void test_missing(void)
{
    struct assay_profile *p = base_profile();
    p->trials[0].layers.count = 0;
    p->trials[0].layers.reason = "";
    p->trials[0].allocations.reason = "the tracker was not loaded";
    unknown_metric(p, "disturbance.steal", "this system does not report steal time");
    unknown_metric(p, "hardware.page_faults", "no counters here");
    p->environment.cores = p->environment.threads = 0;
    option(p, "threads", "2");
    struct assay__advice *advice = advise(p);
    CHECK_HAS(result_of(advice, "transposes")->missing, "layers: ");
    CHECK_STR(result_of(advice, "memory-growth")->missing, "the tracker was not loaded");
    CHECK_STR(result_of(advice, "steal")->missing,
              "disturbance.steal: this system does not report steal time");
    CHECK_STR(result_of(advice, "page-faults")->missing, "hardware.page_faults: no counters here");
    CHECK_HAS(result_of(advice, "threads-smt")->missing, "cores is unknown");
    CHECK_INT(advice->found, 0);
    close_both(advice, p);
    p = base_profile();
    p->ceiling_count = 0;
    advice = advise(p);
    CHECK_HAS(result_of(advice, "memory-bound")->missing, "no ceilings");
    CHECK_INT(result_of(advice, "transposes")->outcome, ASSAY__RULE_NOTHING);
    close_both(advice, p);
}

/* Of a generation no layers are timed, and its sizes cannot be fixed. */
static void test_generation(void)
{
    static const int64_t open_dims[] = {-1, 64};
    struct assay_profile *p = base_profile();
    struct assay__tensor_info input = p->trials[0].inputs[0];
    input.dims = open_dims;
    p->models[0]->inputs = &input;
    p->trials[0].layers.count = 0;
    option(p, "generate", "8");
    struct assay__advice *advice = advise(p);
    CHECK_HAS(result_of(advice, "transposes")->missing, "not timed during a whole generation");
    CHECK_INT(result_of(advice, "dynamic-shapes")->outcome, ASSAY__RULE_NOTHING);
    CHECK_HAS(result_of(advice, "cache-growth")->missing, "llm.itl_first");
    CHECK_HAS(result_of(advice, "decode-bandwidth")->missing, "llm.itl");
    close_both(advice, p);
}

/* An accelerator whose timeline was not recorded. */
static void test_missing_device(void)
{
    struct assay_profile *p = base_profile();
    fact_device(p, &p->trials[0], "cuda:0");
    unknown_metric(p, "latency.transfer_in", "not separated");
    struct assay__advice *advice = advise(p);
    CHECK_STR(result_of(advice, "io-binding")->missing, "latency.transfer_in: not separated");
    CHECK_HAS(result_of(advice, "device-idle")->missing, "gpu.utilization");
    close_both(advice, p);
}

static void test_model(void)
{
    struct assay_profile *p = base_profile();
    const char *path = p->models[0]->path;
    p->models[0]->path = scratch("gone.onnx");
    struct assay__advice *advice = advise(p);
    CHECK_HAS(result_of(advice, "cast-chain")->missing, "the model file does not exist");
    CHECK_HAS(result_of(advice, "float64")->missing, "the model file does not exist");
    assay__advice_free(advice);
    struct assay__advise_options elsewhere = {.trial = SIZE_MAX, .model = path};
    CHECK_INT(assay__advise(p, &elsewhere, &advice, NULL), 0);
    CHECK_INT(result_of(advice, "cast-chain")->outcome, ASSAY__RULE_NOTHING);
    assay__advice_free(advice);
    p->models[0]->path = path;
    p->models[0]->fingerprint = "0123456789abcdef";
    advice = advise(p);
    CHECK_HAS(result_of(advice, "cast-chain")->missing, "has changed since it was profiled");
    assay__advice_free(advice);
    CHECK_INT(assay__file_write(path, "no model", 8, NULL), 0);
    advice = advise(p);
    CHECK_HAS(result_of(advice, "cast-chain")->missing, "cannot be read");
    close_both(advice, p);
}

/* A model of the zoo has no file: it is built again by its name. */
static void test_zoo(void)
{
    struct assay_profile *p = base_profile();
    p->models[0]->path = "";
    p->models[0]->name = "cfc:units=16,outputs=4,inputs=8";
    p->models[0]->fingerprint = "";
    p->trials[0].input_count = 0;
    struct assay__advice *advice = advise(p);
    CHECK(advice->model != NULL && advice->analysis != NULL);
    CHECK_INT(result_of(advice, "cast-chain")->outcome, ASSAY__RULE_NOTHING);
    close_both(advice, p);
}

/* --- order, energy, trials -------------------------------------------------------------------- */

/* Verified by gain, open by potential, then severity; disturbances behind them, withdrawn last. */
static void test_rank(void)
{
    static struct assay__finding findings[] = {
        {.id = "major-faults", .severity = "high", .expected_gain = 9, .verified_gain = NAN},
        {.id = "b", .severity = "medium", .expected_gain = 1.2, .verified_gain = NAN},
        {.id = "c", .severity = "high", .expected_gain = NAN, .verified_gain = NAN},
        {.id = "d", .severity = "low", .expected_gain = 1.01, .verified_gain = 1.1},
        {.id = "e", .severity = "low", .expected_gain = 3, .verified_gain = 2.5},
        {.id = "f", .severity = "note", .expected_gain = NAN, .verified_gain = NAN},
        {.id = "g", .severity = "high", .expected_gain = 1.03, .verified_gain = 1.9},
        {.id = "unstable", .severity = "low", .expected_gain = NAN, .verified_gain = NAN},
    };
    static const char *const expected[] = {"g",        "d", "b", "c", "f", "major-faults",
                                           "unstable", "e"};
    struct assay_profile *p = assay__profile_new();
    struct assay__arena *arena = assay__arena_new();
    size_t advice;
    CHECK(p && arena);
    findings[3].state = findings[6].state = "verified";
    findings[4].state = "withdrawn";
    p->findings = findings, p->finding_count = COUNT(findings);
    const struct assay__finding **order = assay__finding_order(p, arena, &advice);
    CHECK_INT(advice, 5);
    for (size_t i = 0; i < COUNT(expected); i++)
        CHECK_STR(order[i]->id, expected[i]);
    for (size_t i = 0; i < COUNT(findings);
         i++) /* one before the other, whichever is asked first */
        for (size_t k = 0; k < COUNT(findings); k++)
            CHECK((assay__finding_compare(&findings[i], &findings[k]) < 0) ==
                  (assay__finding_compare(&findings[k], &findings[i]) > 0));
    CHECK_INT(assay__finding_sort(p), 0);
    for (size_t i = 0; i < COUNT(expected); i++)
        CHECK_STR(p->findings[i].id, expected[i]);
    assay__arena_free(arena);
    assay_profile_close(p);
}

static void test_order(void)
{
    struct assay_profile *p = base_profile();
    metric(p, "energy.inference.gross", 0.5);
    metric(p, "disturbance.steal", 0.2);              /* a disturbance: medium, 1.25 */
    metric(p, "disturbance.frequency", 1.5e9);        /* high, 2 */
    metric(p, "disturbance.throttled", 1);            /* a disturbance: high, no number */
    metric(p, "timing.first", 1);                     /* note */
    metric(p, "disturbance.frequency_change", -0.05); /* a disturbance: low, 1.0526 */
    struct assay__advice *advice = advise(p);
    /* what to change, then what disturbed the run */
    static const char *const order[] = {"clock-below", "first-inference", "cpu-quota", "steal",
                                        "thermal-throttling"};
    CHECK_INT(p->finding_count, COUNT(order));
    for (size_t i = 0; i < COUNT(order); i++) {
        CHECK_STR(p->findings[i].id, order[i]);
        CHECK_STR(assay__advice_finding(advice, i)->rule->id, order[i]);
    }
    CHECK_NEAR(p->findings[0].energy_saving, 0.5, 1e-12);
    CHECK(isnan(p->findings[1].energy_saving)); /* no potential, no saving */
    CHECK_NEAR(p->findings[3].energy_saving, 0.2, 1e-12);
    close_both(advice, p);
}

static void test_trials(void)
{
    struct assay_profile *p = base_profile();
    struct assay__advice *advice = NULL;
    struct assay_error error = {0};
    struct assay__advise_options options = {.trial = 2};
    CHECK_INT(assay__advise(p, &options, &advice, &error), ASSAY_ENOTFOUND);
    CHECK_HAS(error.message, "no such trial");
    options.trial = 1;
    CHECK_INT(assay__advise(p, &options, &advice, &error), 0);
    CHECK_INT(advice->trial->id, 2);
    assay__advice_free(advice);
    p->trials[0].state = ASSAY__TRIAL_FAILED;
    advice = advise(p); /* the first that ran */
    CHECK_INT(advice->trial->id, 2);
    assay__advice_free(advice);
    static const char *const only[] = {"steal", "governor"};
    options = (struct assay__advise_options){.trial = 0, .only = only, .only_count = 2};
    CHECK_INT(assay__advise(p, &options, &advice, &error), 0);
    CHECK_INT(advice->result_count, 2);
    close_both(advice, p);
}

static void test_amdahl(void)
{
    CHECK_NEAR(assay__amdahl(0.5, 2), 1 / 0.75, 1e-12);
    CHECK_NEAR(assay__amdahl(0.5, INFINITY), 2, 1e-12);
    CHECK_NEAR(assay__amdahl(0, 100), 1, 1e-12);
    CHECK(isnan(assay__amdahl(1, INFINITY)) && isnan(assay__amdahl(NAN, 2)));
    CHECK(isnan(assay__amdahl(1.1, 2)) && isnan(assay__amdahl(0.5, NAN)));
}

/* A share above 1 (layers may sum to more than the latency) and one below the least gain. */
static void test_edges(void)
{
    struct assay_profile *p = base_profile();
    p->trials[0].layers.items[0].op = "Concat";
    p->trials[0].layers.items[0].time_ns = 3e6;
    struct assay__advice *advice = advise(p);
    const struct assay__rule_result *r = result_of(advice, "moves");
    CHECK_INT(r->outcome, ASSAY__RULE_FOUND);
    CHECK(isnan(r->finding.expected_gain)); /* all of the time cannot go */
    close_both(advice, p);
    p = base_profile();
    metric(p, "memory.allocations", 380); /* 19 us: 1.019 */
    advice = advise(p);
    CHECK_INT(result_of(advice, "allocations")->outcome, ASSAY__RULE_NOTHING);
    close_both(advice, p);
    p = base_profile();
    metric(p, "latency.p50", 0);
    advice = advise(p);
    CHECK_HAS(result_of(advice, "moves")->missing, "latency");
    close_both(advice, p);
}

/* A layer far below its roof is not limited by it: another format gains nothing there. */
static void test_far_from_roof(void)
{
    struct assay_profile *p = base_profile();
    p->ceilings[2].value = 2e11;                /* int8 */
    p->trials[0].layers.items[0].flops = 1.4e7; /* 28 % */
    metric(p, "disturbance.cpu_other", 0.25);
    struct assay__advice *advice = advise(p);
    const struct assay__rule_result *r = result_of(advice, "products-int8");
    CHECK_INT(r->outcome, ASSAY__RULE_FOUND);
    CHECK_NEAR(r->finding.expected_gain, assay__amdahl(0.38, 2), 1e-9);
    r = result_of(advice, "low-utilization");
    CHECK_INT(r->outcome, ASSAY__RULE_FOUND);
    CHECK_INT(r->finding.evidence_count, 3);
    CHECK_HAS(r->finding.evidence[2], "other processes used 25 %");
    close_both(advice, p);
}

/* A loop's time is that of its body's calls: no kernel, and not its weights either. */
static void test_loop(void)
{
    struct assay_profile *p = base_profile();
    struct assay__layer *layer = &p->trials[0].layers.items[2];
    layer->op = "Scan";
    layer->flops = 1e3, layer->bytes = layer->weight_bytes = 1e6; /* 26 % of the memory's roof */
    struct assay__advice *advice = advise(p);
    CHECK_INT(result_of(advice, "low-utilization")->outcome, ASSAY__RULE_NOTHING);
    CHECK_INT(result_of(advice, "batch-small")->outcome, ASSAY__RULE_NOTHING);
    assay__advice_free(advice);
    layer->op = "MatMul";
    advice = advise(p);
    CHECK_INT(result_of(advice, "low-utilization")->outcome, ASSAY__RULE_FOUND);
    CHECK_INT(result_of(advice, "batch-small")->outcome, ASSAY__RULE_NOTHING);
    close_both(advice, p);
}

/* Devices that are the CPU by another name, and one that is not. */
static void test_devices(void)
{
    static const char *const hosts[] = {"cpu", "ovn/cpu", "openvino:cpu", "xnnpack"};
    struct assay_profile *p = base_profile();
    struct assay__advice *advice = advise(p);
    for (size_t i = 0; i < COUNT(hosts); i++) {
        fact_device(p, &p->trials[0], hosts[i]);
        CHECK(assay__trial_on_cpu(advice->trial));
    }
    fact_device(p, &p->trials[0], "gpu/cuda:0");
    CHECK(!assay__trial_on_cpu(advice->trial));
    assay__advice_free(advice);
    /* what it does not take runs on the engine's own */
    fact_device(p, &p->trials[0], "openvino:cpu");
    p->trials[0].layers.items[0].provider = "OpenVINOExecutionProvider";
    advice = advise(p);
    CHECK_INT(result_of(advice, "fallback")->outcome, ASSAY__RULE_FOUND);
    CHECK_INT(result_of(advice, "device-idle")->outcome, ASSAY__RULE_NOTHING);
    close_both(advice, p);
}

/* --- changes ---------------------------------------------------------------------------------- */

static void test_changes(void)
{
    struct assay__run_options o = {.script = NULL};
    struct assay__change change = {ASSAY__CHANGE_BATCH, 64, NULL, 0};
    CHECK(assay__change_options(&change, &o) && o.workload.batch == 64 &&
          !assay__change_is_rewrite(&change));
    change = (struct assay__change){ASSAY__CHANGE_THREADS, 3, NULL, 0};
    CHECK(assay__change_options(&change, &o) && o.target.threads == 3);
    change.kind = ASSAY__CHANGE_SPINNING_OFF;
    CHECK(assay__change_options(&change, &o) && o.target.spinning_off == 1);
    change.kind = ASSAY__CHANGE_OPTIMIZE;
    CHECK(assay__change_options(&change, &o));
    CHECK_STR(o.target.optimization, "all");
    change.kind = ASSAY__CHANGE_NONE;
    CHECK(!assay__change_options(&change, &o));
    CHECK_INT(assay__change_rewrite(&change, NULL, NULL, NULL), ASSAY_EINVAL);
    change.kind = ASSAY__CHANGE_FLOAT16;
    CHECK(!assay__change_options(&change, &o) && assay__change_is_rewrite(&change));
    for (int i = 0; i < ASSAY__CHANGE_COUNT; i++)
        for (int k = 0; k < i; k++)
            CHECK(strcmp(assay__change_name((enum assay__change_kind)i),
                         assay__change_name((enum assay__change_kind)k)) != 0);
}

/* The dimensions that dynamic-shapes would fix are those of the workload, each once. */
static void test_fix_dims(void)
{
    static const int64_t open_dims[] = {-1, -1}, fixed[] = {4, 64};
    static const char *const symbols[] = {"batch", "batch"}, *const other[] = {"batch", "width"};
    struct assay_profile *p = base_profile();
    struct assay__tensor_info inputs[] = {
        {.name = "x", .dtype = "float32", .rank = 2, .dims = open_dims, .symbols = symbols},
        {.name = "z", .dtype = "float32", .rank = 2, .dims = open_dims, .symbols = other},
    };
    struct assay__tensor_info values[] = {
        {.name = "x", .dtype = "float32", .rank = 2, .dims = fixed, .fill = ""},
        {.name = "z", .dtype = "float32", .rank = 2, .dims = fixed, .fill = ""},
    };
    p->models[0]->inputs = inputs, p->models[0]->input_count = 2;
    p->trials[0].inputs = values, p->trials[0].input_count = 2;
    struct assay__advice *advice = advise(p);
    const struct assay__rule_result *r = result_of(advice, "dynamic-shapes");
    CHECK_INT(r->outcome, ASSAY__RULE_FOUND);
    CHECK_HAS(r->finding.evidence[0], ": 4");
    CHECK_INT(r->change.name_count, 2);
    CHECK_STR(r->change.names[0], "batch=4");
    CHECK_STR(r->change.names[1], "width=64");
    CHECK_HAS(r->finding.advice, ": batch=4 width=64;");
    close_both(advice, p);
}

/* --- kept, JSON, text ------------------------------------------------------------------------- */

static void test_kept(void)
{
    struct assay_profile *p = base_profile(), *again = NULL;
    struct assay__store *store = NULL;
    const char *path = scratch("kept.assay");
    metric(p, "energy.inference.gross", 0.5);
    metric(p, "disturbance.steal", 0.2);
    metric(p, "disturbance.throttled", 1);
    struct assay__advice *advice = advise(p);
    p->findings[0].state = "withdrawn";
    p->findings[0].reason = "no difference shown";
    CHECK_INT(assay__store_create(path, &store, NULL), 0);
    CHECK_INT(assay__store_put_profile(store, p, NULL), 0);
    CHECK_INT(assay__store_put_trial(store, &p->trials[0], NULL), 0);
    CHECK_INT(assay__store_put_findings(store, p, NULL), 0);
    double sample = 1e6; /* a profile without a sample is not kept */
    CHECK_INT(assay__store_add_samples(store, 1, 1, 0, &sample, 1, NULL), 0);
    CHECK_INT(assay__store_finish(store, true, false, NULL), 0);
    CHECK_INT(assay_profile_open(path, &again, NULL), 0);
    CHECK_INT(again->finding_count, 2);
    CHECK_STR(again->findings[0].id, "cpu-quota");
    CHECK_STR(again->findings[0].state, "withdrawn");
    CHECK_STR(again->findings[0].reason, "no difference shown");
    CHECK_STR(again->findings[0].effort, "small");
    CHECK(isnan(again->findings[0].energy_saving));
    CHECK_STR(again->findings[1].state, "open");
    CHECK_STR(again->findings[1].reason, "");
    CHECK_NEAR(again->findings[1].energy_saving, 0.2, 1e-12);
    CHECK_INT(again->findings[1].evidence_count, 1);
    assay_profile_close(again);
    close_both(advice, p);
}

static void test_json(void)
{
    struct assay_profile *p = base_profile();
    struct assay__buf out = {0};
    struct assay__json *root = NULL;
    option(p, "threads", "9");
    unknown_metric(p, "disturbance.steal", "not \"here\"");
    struct assay__advice *advice = advise(p);
    assay__json_advice(&out, advice);
    CHECK(!out.failed);
    CHECK_INT(assay__json_parse(p->arena, out.data, out.length, &root, NULL), 0);
    CHECK_STR(assay__json_get_string(root, "command", ""), "advise");
    const struct assay__json *findings = assay__json_get(root, "findings"),
                             *summary = assay__json_get(root, "summary"),
                             *rules = assay__json_get(root, "rules");
    CHECK_INT(findings->count, 1);
    CHECK_STR(assay__json_get_string(findings->first, "id", ""), "threads-over");
    CHECK_STR(assay__json_get_string(findings->first, "state", ""), "open");
    CHECK_STR(assay__json_get_string(findings->first, "effort", ""), "small");
    CHECK_INT(assay__json_get(findings->first, "expected_gain")->kind, ASSAY__JSON_NULL);
    CHECK_INT(assay__json_get(findings->first, "reason")->kind, ASSAY__JSON_NULL);
    CHECK_INT(assay__json_get_integer(summary, "found", -1), 1);
    CHECK_INT(assay__json_get_integer(summary, "not_evaluated", -1), 1);
    CHECK_INT(rules->count, advice->result_count);
    CHECK_STR(assay__json_get_string(rules->first, "outcome", ""), "found");
    CHECK_STR(assay__json_get_string(assay__json_get(rules->first, "change"), "kind", ""),
              "threads");
    CHECK_INT(assay__json_get_integer(assay__json_get(rules->first, "change"), "value", -1), 4);
    CHECK_HAS(out.data, "not \\\"here\\\"");
    assay__buf_clear(&out);
    assay__json_rules(&out);
    CHECK_INT(assay__json_parse(p->arena, out.data, out.length, &root, NULL), 0);
    CHECK_INT(assay__json_get(root, "rules")->count, advice->result_count);
    assay__buf_free(&out);
    close_both(advice, p);
}

/* No line is longer than the page; --ascii prints nothing else. */
static void check_lines(const struct assay__buf *out, size_t columns)
{
    for (const char *line = out->data; line && *line;) {
        size_t length = strcspn(line, "\n");
        if (length > columns) printf("  %.*s\n", (int)length, line);
        CHECK(length <= columns);
        for (size_t i = 0; i < length; i++)
            CHECK(line[i] >= ' ' && line[i] <= '~');
        line += length + (line[length] == '\n');
    }
}

/* The document as text; no line is wider than asked. */
static void print_page(struct assay__doc *doc, int columns, struct assay__buf *out)
{
    struct assay_report_options options = {
        .size = sizeof options, .columns = columns, .ascii = true};
    assay__buf_clear(out);
    CHECK_INT(assay__walk_text(doc, &options, out, NULL), 0);
    CHECK(!out->failed && !doc->failed);
    check_lines(out, (size_t)columns);
}

static void test_page(void)
{
    struct assay_profile *p = base_profile();
    struct assay__buf out = {0};
    struct assay__doc *doc;
    metric(p, "energy.inference.gross", 0.5);
    metric(p, "disturbance.steal", 0.2);
    metric(p, "memory.allocations", 4000);
    unknown_metric(p, "latency.p99", "needs 662 samples");
    p->models[0]->name = "a\033[31mname";
    struct assay__advice *advice = advise(p);
    CHECK_INT(assay__advice_document(advice, NULL, &doc), 0);
    print_page(doc, 80, &out);
    CHECK_HAS(out.data, "Warm inferences allocate: at most 1.25 x as fast, not tried.\n");
    CHECK_HAS(out.data, "rules 71 | findings 2 | found nothing 68");
    CHECK_HAS(out.data, "could not be evaluated 1\n");
    CHECK_HAS(out.data, "medium, steal\n");
    CHECK_HAS(out.data, "potential   =1.25 x as fast");
    CHECK_HAS(out.data, "energy per inference =-20.0 %");
    CHECK_HAS(out.data, "potential   ~1.25 x"); /* rests on an assumed cost */
    CHECK_HAS(out.data, "latency.p99: needs 662 samples [latency-tail]");
    print_page(doc, 40, &out);
    assay__buf_clear(&out);
    struct assay_report_options csv = {.size = sizeof csv, .format = "csv", .table = "rules"};
    CHECK_INT(assay__walk_csv(doc, &csv, &out, NULL), 0);
    CHECK_HAS(out.data, "\nsteal,machine,found,\n");
    CHECK_HAS(out.data, "\nlatency-tail,machine,not-evaluated,latency.p99: needs 662 samples\n");
    assay__doc_free(doc);
    CHECK_INT(assay__rules_document(&doc), 0);
    print_page(doc, 80, &out);
    CHECK_HAS(out.data, "71 rules");
    assay__doc_free(doc);
    assay__buf_free(&out);
    close_both(advice, p);
}

/* --- the documentation ------------------------------------------------------------------------ */

static void test_documented(void)
{
    static const char path[] = ASSAY_TEST_ROOT "/doc/rules.md";
    struct assay__mapping file;
    struct assay__buf table = {0}, whole = {0};
    assay__rules_markdown(&table);
    CHECK_INT(assay__file_map(path, &file, NULL), 0);
    char *text = strndup((const char *)file.data, file.size);
    assay__file_unmap(&file);
    char *mark = text ? strstr(text, DOC_MARK) : NULL;
    CHECK(mark != NULL);
    if (golden_bless()) {
        assay__buf_add(&whole, text, (size_t)(mark - text));
        assay__buf_printf(&whole, DOC_MARK "\n%s", table.data);
        CHECK_INT(assay__file_write(path, whole.data, whole.length, NULL), 0);
    } else if (strcmp(mark + strlen(DOC_MARK) + 1, table.data) != 0) {
        harness_fail(__FILE__, __LINE__,
                     "doc/rules.md is not the table of rules (tests/run --bless)");
    }
    assay__buf_free(&whole);
    assay__buf_free(&table);
    free(text);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"empty", test_empty},
        {"missing", test_missing},
        {"generation", test_generation},
        {"device", test_missing_device},
        {"model", test_model},
        {"zoo", test_zoo},
        {"order", test_order},
        {"rank", test_rank},
        {"trials", test_trials},
        {"amdahl", test_amdahl},
        {"edges", test_edges},
        {"far", test_far_from_roof},
        {"loop", test_loop},
        {"devices", test_devices},
        {"changes", test_changes},
        {"fix-dims", test_fix_dims},
        {"kept", test_kept},
        {"json", test_json},
        {"page", test_page},
        {"documented", test_documented},
    };
    return harness_main(argc, argv, tests, COUNT(tests));
}
