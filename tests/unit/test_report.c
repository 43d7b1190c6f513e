/* test_report.c - the report formats on a document built by hand: two launches, layers, unavailable
 * metrics and names that try to drive the terminal, a spreadsheet or a Markdown renderer. Whole
 * outputs are compared with tests/golden/report.{txt,json,csv,md,…}; see golden.h. */
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "golden.h"
#include "harness.h"
#include "profile/profile.h"

#include <assay/report.h>

#ifndef ASSAY_TEST_ROOT
#define ASSAY_TEST_ROOT "."
#endif

#define HOSTILE                                             \
    "evil\033[2J\033]0;x\007|<b>\"=cmd()\n\xff\xe2\x80\xae" \
    "end"

static const char **strings(struct assay_profile *p, size_t count, const char *const *items)
{
    const char **list = assay__arena_array(p->arena, count, sizeof *list);
    CHECK(list != NULL);
    for (size_t i = 0; i < count; i++)
        list[i] = items[i];
    return list;
}

/* Deterministic integers, so that the picture is the same everywhere: a hump around 39.1 ms with a
 * slow tail. */
static void fill_samples(struct assay_profile *p, struct assay__launch *l, size_t count,
                         double shift_ns)
{
    uint32_t state = 12345u + (uint32_t)l->id;
    l->samples_ns = assay__arena_array(p->arena, count, sizeof *l->samples_ns);
    l->stream_offsets = assay__arena_array(p->arena, 2, sizeof *l->stream_offsets);
    CHECK(l->samples_ns && l->stream_offsets);
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (int k = 0; k < 4; k++) {
            state = state * 1664525u + 1013904223u;
            sum += (double)(state >> 16); /* 0 … 65535 */
        }
        l->samples_ns[i] = 38500000 + shift_ns + (double)((long)(sum / 20) * 100);
        if (i < 12) l->samples_ns[i] += 9000000; /* warm-up */
        if (i % 97 == 50) l->samples_ns[i] += 12000000;
    }
    l->sample_count = count;
    l->stream_offsets[1] = count;
    l->warmup = 12;
}

static void fill_environment(struct assay_profile *p)
{
    static const char *const disturbances[] = {"steal time was 0.8 % of CPU time"};
    static const char *const unknown[] = {"CPU clock: no cpufreq on this host"};
    struct assay__environment *e = &p->environment;
    e->host = "testhost";
    e->os = "Linux";
    e->kernel = "6.1.0";
    e->architecture = "x86_64";
    e->cpu_model = "Example CPU 9000";
    e->virtualized = "kvm";
    e->packages = 1;
    e->cores = 2;
    e->threads = 4;
    e->memory_bytes = 8e9;
    e->l2_bytes = 1048576;
    e->disturbances = strings(p, 1, disturbances);
    e->disturbance_count = 1;
    e->unknown = strings(p, 1, unknown);
    e->unknown_count = 1;
}

static void fill_model(struct assay_profile *p)
{
    static const int64_t symbolic[] = {-1, 3, -1, 224};
    static const char *const symbols[] = {"batch", NULL, "", NULL};
    static const int64_t out[] = {1, 1000};
    static struct assay__tensor_info input, output;
    static struct assay__operator_info operators[2];
    struct assay__model_info *m = p->models[0];
    input = (struct assay__tensor_info){.name = "data",
                                        .dtype = "float32",
                                        .rank = 4,
                                        .dims = symbolic,
                                        .symbols = symbols,
                                        .fill = ""};
    output = (struct assay__tensor_info){
        .name = HOSTILE, .dtype = "float32", .rank = 2, .dims = out, .fill = ""};
    operators[0] = (struct assay__operator_info){"Conv", 53, 8.2e9, 4.1e9, 1.9e8};
    operators[1] = (struct assay__operator_info){"Custom", 1, NAN, NAN, NAN};
    m->name = "resnet50";
    m->path = "models/resnet50.onnx";
    m->format = "onnx";
    m->fingerprint = "0123456789abcdef";
    m->parameters = 25557032;
    m->weight_bytes = 102228128;
    m->node_count = 122;
    m->ir_version = 8;
    m->opset = "17";
    m->producer = "assay";
    m->operators = operators;
    m->operator_count = 2;
    m->inputs = &input;
    m->outputs = &output;
    m->input_count = m->output_count = 1;
}

static void fill_metrics(struct assay_metrics *s)
{
    CHECK_INT(assay_metrics_measured(s, "timing.load", 0.0123, "clock", ""), 0);
    CHECK_INT(
        assay_metrics_unavailable(s, "timing.compile", "the engine does not separate it from load"),
        0);
    CHECK_INT(assay_metrics_measured(s, "timing.first", 0.0611, "clock", ""), 0);
    CHECK_INT(assay_metrics_measured(s, "latency.mean", 0.0393, "clock", ""), 0);
    CHECK_INT(assay_metrics_measured(s, "latency.stddev", 0.00081, "clock", ""), 0);
    CHECK_INT(assay_metrics_derived(s, "latency.cv", 0.0206, "clock", "stddev / mean"), 0);
    CHECK_INT(assay_metrics_measured(s, "latency.min", 0.0382, "clock", ""), 0);
    CHECK_INT(
        assay_metrics_measured(s, "latency.p50", 0.0391, "clock", "median of 2 launch medians"), 0);
    CHECK_INT(assay_metrics_measured(s, "latency.p90", 0.0402, "clock", ""), 0);
    CHECK_INT(assay_metrics_measured(s, "latency.p95", 0.041, "clock", ""), 0);
    CHECK_INT(assay_metrics_unavailable(s, "latency.p99", "662 samples are needed, 588 were taken"),
              0);
    CHECK_INT(
        assay_metrics_unavailable(s, "latency.p999", "6,636 samples are needed, 588 were taken"),
        0);
    CHECK_INT(assay_metrics_measured(s, "latency.max", 0.0541, "clock", ""), 0);
    CHECK_INT(assay_metrics_derived(s, "latency.ci_low", 0.03895, "clock", "order statistics"), 0);
    CHECK_INT(assay_metrics_derived(s, "latency.ci_high", 0.0392, "clock", "order statistics"), 0);
    const char *parts = "ONNX Runtime on the CPU runs in host memory: there is nothing to separate";
    CHECK_INT(assay_metrics_unavailable(s, "latency.transfer_in", parts), 0);
    CHECK_INT(assay_metrics_unavailable(s, "latency.execute", parts), 0);
    CHECK_INT(assay_metrics_unavailable(s, "latency.transfer_out", parts), 0);
    CHECK_INT(assay_metrics_measured(s, "throughput.inferences", 25.6, "clock", ""), 0);
    CHECK_INT(assay_metrics_derived(s, "throughput.images", 25.6, "clock", "inferences x batch"),
              0);
    CHECK_INT(assay_metrics_derived(s, "compute.flops", 8.2e9, "graph", "sum over nodes"), 0);
    CHECK_INT(assay_metrics_derived(s, "compute.rate", 8.2e9 / 0.0391, "graph",
                                    "compute.flops / latency.p50"),
              0);
    CHECK_INT(assay_metrics_measured(s, "memory.model", 102228128, "graph", ""), 0);
    CHECK_INT(assay_metrics_measured(s, "memory.peak.worker", 184e6, "proc.smaps", ""), 0);
    struct assay_metric metric = {
        "memory.activation.predicted", 9.6e6, "B", ASSAY_ESTIMATED, "liveness", "±10 %"};
    CHECK_INT(assay_metrics_put(s, &metric), 0);
    metric = (struct assay_metric){"memory.bandwidth", 68e9,         "B/s",
                                   ASSAY_PUBLISHED,    "data sheet", "=2+3, \"quoted\""};
    CHECK_INT(assay_metrics_put(s, &metric), 0);
    CHECK_INT(assay_metrics_measured(s, "overhead.loop", 46e-9, "clock", ""), 0);
}

/* Times add up: 9 layers + engine + unattributed = 39.1 ms exactly. */
static void fill_layers(struct assay_profile *p, struct assay__trial *t)
{
    static const struct {
        const char *name, *op;
        double time_ns, flops;
    } rows[] = {
        {"stem/conv/Conv", "FusedConv", 4200000, 2.4e8},
        {"stem/pool/MaxPool", "MaxPool", 900000, NAN},
        {"layer1/layer1.0/a_rather_long_scope_name/conv1/Conv", "FusedConv", 9100000, 1.1e9},
        {"layer1/layer1.0/conv2/Conv", "Conv", 8700000, 1.1e9},
        {HOSTILE, "Custom", 150000, NAN},
        {"層/畳み込み", "Conv", 7000000, 1.1e9},
        {"layer3/conv", "Conv", 6400000, 1.1e9},
        {"pool", "GlobalAveragePool", 90000, 1e5},
        {"fc", "Gemm", 2460000, 4.1e6},
    };
    enum { COUNT = sizeof rows / sizeof rows[0] };
    static const char *const from[] = {"stem/conv", "stem/bn", "stem/relu"};
    struct assay__layers *l = &t->layers;
    l->items = assay__arena_array(p->arena, COUNT, sizeof *l->items);
    CHECK(l->items != NULL);
    l->count = COUNT;
    for (size_t i = 0; i < COUNT; i++) {
        l->items[i] = (struct assay__layer){.index = (int)i,
                                            .name = rows[i].name,
                                            .op = rows[i].op,
                                            .provider = "CPUExecutionProvider",
                                            .time_ns = rows[i].time_ns,
                                            .host_enqueue_ns = NAN,
                                            .kernel_count = NAN,
                                            .gap_ns = NAN,
                                            .share = rows[i].time_ns / 39100000,
                                            .flops = rows[i].flops,
                                            .bytes = NAN,
                                            .weight_bytes = i == 8 ? 8196000 : (double)NAN,
                                            .live_bytes = i == 8 ? 12192 : (double)NAN,
                                            .bound = "unknown",
                                            .state = ASSAY_DERIVED,
                                            .method = "markers",
                                            .note = ""};
    }
    l->items[4].state = ASSAY_MEASURED;
    l->items[0].from = strings(p, 3, from);
    l->items[0].from_count = 3;
    l->method = "markers";
    l->engine_ns = 64000;
    l->unattributed_ns = 36000;
    l->scale_factor = 0.9871;
    l->slowdown = 1.02;
    l->spread = 0.013;
    l->contention = 0.004;
    l->sessions = 5;
    l->discarded = 1;
}

static struct assay_profile *document(void)
{
    static const int64_t dims[] = {1, 3, 224, 224};
    static struct assay__tensor_info input;
    static struct assay__pair options[] = {{"threads", "1"}, {"opt", "all"}};
    static const char *const notes[] = {
        "symbolic dimension 'batch' set to 1 (--batch N changes it)",
        "input 'data': uniform [-1, 1), seed 1"};
    static const char *const reasons[] = {
        "2 launches differ by 1.2 %: identical processes often do"};
    struct assay_profile *p = assay__profile_new();
    CHECK(p != NULL);
    p->assay_version = "0.1.0";
    assay__profile_set_command(p, "run");
    p->command_line = "assay run models/resnet50.onnx --launches 2";
    p->created = "2025-01-02T03:04:05Z";
    p->complete = true;
    fill_environment(p);
    fill_model(p);
    struct assay__trial *t = assay__profile_trial(p);
    CHECK(t != NULL);
    input = (struct assay__tensor_info){.name = "data",
                                        .dtype = "float32",
                                        .rank = 4,
                                        .dims = dims,
                                        .fill = "uniform [-1, 1), seed 1"};
    t->state = ASSAY__TRIAL_OK;
    t->target.engine = "ort";
    t->target.engine_version = "1.31.1";
    t->target.engine_library = "libonnxruntime.so";
    t->target.device = "cpu";
    t->options = options;
    t->option_count = 2;
    t->batch = 1;
    t->inputs = &input;
    t->input_count = 1;
    t->notes = strings(p, 2, notes);
    t->note_count = 2;
    t->stability = (struct assay__stability){"unstable", strings(p, 1, reasons), 1, 1200};
    fill_metrics(t->metrics);
    fill_layers(p, t);
    for (int i = 0; i < 2; i++) {
        struct assay__launch *l = assay__trial_launch(p, t);
        CHECK(l != NULL);
        l->state = ASSAY__TRIAL_OK;
        fill_samples(p, l, 300, i * 200000.0);
        l->p50_ns = 39000000 + i * 200000.0;
    }
    return p;
}

static char *render_as(const struct assay_profile *p, struct assay_report_options options)
{
    char *text = NULL;
    size_t length = 0;
    struct assay_error error = {0};
    options.size = sizeof options;
    int code = assay_report(p, &options, &text, &length, &error);
    if (code) printf("  %s\n", error.message);
    CHECK_INT(code, 0);
    CHECK_INT(strlen(text), length);
    return text;
}

/* The whole report, not its one screen. */
static char *render(const struct assay_profile *p, struct assay_report_options options)
{
    options.full = true;
    return render_as(p, options);
}

static void check_render(const char *name, const struct assay_profile *p,
                         struct assay_report_options options)
{
    char *text = render(p, options);
    check_golden(name, text);
    assay_free(text);
}

static void test_golden_text(void)
{
    struct assay_profile *p = document();
    check_render("report.txt", p, (struct assay_report_options){.top = 6});
    check_render("report-60.txt", p, (struct assay_report_options){.top = 6, .columns = 60});
    check_render("report-ascii.txt", p,
                 (struct assay_report_options){.ascii = true, .columns = 72});
    assay_profile_close(p);
}

/* One screen of a run: a limit of rows holds for its tables too. */
static void test_golden_brief(void)
{
    struct assay_profile *p = document();
    for (int form = 0; form < 2; form++) {
        const char *format = form ? "markdown" : "text";
        char *text = render_as(
            p, (struct assay_report_options){.format = format, .unfold = "more: full"});
        check_golden(form ? "report-brief.md" : "report-brief.txt", text);
        size_t lines = 0;
        for (const char *c = text; *c; c++)
            lines += *c == '\n';
        CHECK(lines <= 32);
        assay_free(text);
    }
    char *text = render_as(p, (struct assay_report_options){.top = 1});
    CHECK_HAS(text, "… 8 more layers");
    CHECK_HAS(text, "… 5 more operators");
    assay_free(text);
    assay_profile_close(p);
}

static void test_golden_data(void)
{
    struct assay_profile *p = document();
    check_render("report.json", p, (struct assay_report_options){.format = "json"});
    check_render("report.csv", p, (struct assay_report_options){.format = "csv"});
    check_render("report-layers.csv", p,
                 (struct assay_report_options){.format = "csv", .table = "layers"});
    check_render("report-operators.csv", p,
                 (struct assay_report_options){.format = "csv", .table = "operators"});
    check_render("report.md", p, (struct assay_report_options){.format = "markdown"});
    assay_profile_close(p);
}

/* No line is wider than the page, at any width, and nothing in it drives the terminal. */
static void test_widths(void)
{
    struct assay_profile *p = document();
    for (int columns = 40; columns <= 200; columns += 7) {
        for (int ascii = 0; ascii < 2; ascii++) {
            char *text = render(
                p, (struct assay_report_options){.columns = columns, .ascii = ascii, .top = -1});
            for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
                if (assay__text_width(line) > (size_t)columns) printf("  %d: %s\n", columns, line);
                CHECK(assay__text_width(line) <= (size_t)columns);
                for (char *c = line; *c; c++) {
                    CHECK((unsigned char)*c >= 0x20 && (unsigned char)*c != 0x7f);
                    if (ascii) CHECK((unsigned char)*c < 0x80);
                }
            }
            assay_free(text);
        }
    }
    assay_profile_close(p);
}

static void test_color(void)
{
    struct assay_profile *p = document();
    char *plain = render(p, (struct assay_report_options){0});
    char *color = render(p, (struct assay_report_options){.color = true});
    CHECK(strchr(plain, '\033') == NULL);
    CHECK_HAS(color, "\033[1m");
    /* without its sequences the coloured page is the plain page */
    char *to = color;
    for (char *from = color; *from;) {
        if (*from == '\033') {
            from += strcspn(from, "m") + 1;
            continue;
        }
        *to++ = *from++;
    }
    *to = '\0';
    CHECK_STR(color, plain);
    assay_free(plain);
    assay_free(color);
    assay_profile_close(p);
}

/* What JSON says must be JSON, null exactly where a metric is unavailable, and the layers must add
 * up. */
static void test_json(void)
{
    struct assay_profile *p = document();
    char *text = render(p, (struct assay_report_options){.format = "json"});
    struct assay__arena *arena = assay__arena_new();
    struct assay__json *root = NULL;
    CHECK_INT(assay__json_parse(arena, text, strlen(text), &root, NULL), 0);
    const struct assay__json *trial = assay__json_get(root, "trials")->first;
    size_t metrics = 0;
    for (const struct assay__json *m = assay__json_get(trial, "metrics")->first; m;
         m = m->next, metrics++) {
        bool null = assay__json_get(m, "value")->kind == ASSAY__JSON_NULL;
        bool unavailable = strcmp(assay__json_get_string(m, "state", ""), "unavailable") == 0;
        CHECK_INT(null, unavailable);
        if (unavailable) CHECK(*assay__json_get_string(m, "note", "") != '\0');
        if (!unavailable) CHECK(*assay__json_get_string(m, "source", "") != '\0');
    }
    CHECK_INT(metrics, assay_metrics_count(p->trials[0].metrics));
    double sum = assay__json_get_number(trial, "engine_us", NAN) +
                 assay__json_get_number(trial, "unattributed_us", NAN);
    for (const struct assay__json *l = assay__json_get(trial, "layers")->first; l; l = l->next)
        sum += assay__json_get_number(l, "time_us", NAN);
    CHECK_NEAR(sum, 39100, 1e-6);
    CHECK_INT(assay__json_get(root, "findings")->count, 0);
    assay_free(text);
    assay__arena_free(arena);
    assay_profile_close(p);
}

static void test_samples_table(void)
{
    struct assay_profile *p = document();
    char *text = render(p, (struct assay_report_options){.format = "csv", .table = "samples"});
    size_t lines = 0, warmup = 0;
    for (char *c = strchr(text, '\n'); c && c[1]; c = strchr(c + 1, '\n')) {
        lines++;
        char *end = strchr(c + 1, '\n');
        CHECK(end != NULL);
        warmup += end[-1] == '1';
    }
    CHECK_INT(lines, 600);
    CHECK_INT(warmup, 24);
    CHECK_HAS(text, "\n1,2,0,299,");
    assay_free(text);
    assay_profile_close(p);
}

static void test_incomplete(void)
{
    struct assay_profile *p = document();
    p->complete = false;
    char *text = render(p, (struct assay_report_options){0});
    CHECK_HAS(text, "INCOMPLETE: ");
    assay_free(text);
    p->interrupted = true;
    text = render(p, (struct assay_report_options){.format = "markdown"});
    CHECK_HAS(text, "INTERRUPTED");
    CHECK(strstr(text, "INCOMPLETE") == NULL);
    assay_free(text);
    p->trials[0].state = ASSAY__TRIAL_FAILED;
    p->trials[0].reason = "launch 2: killed by SIGSEGV";
    text = render(p, (struct assay_report_options){0});
    CHECK_HAS(text, "FAILED: launch 2: killed by SIGSEGV");
    assay_free(text);
    assay_profile_close(p);
}

/* An empty document and an empty trial render in every format, without a made-up 0. */
static void test_empty(void)
{
    struct assay_profile *p = assay__profile_new();
    for (int trials = 0; trials < 2; trials++) {
        for (size_t f = 0; assay_report_format(f); f++) {
            if (strcmp(assay_report_format(f), "model-explorer") == 0)
                continue; /* needs layers (test_formats.c) */
            char *text = render(
                p, (struct assay_report_options){.format = assay_report_format(f), .columns = 40});
            if (strcmp(assay_report_format(f), "text") == 0 && trials == 0)
                CHECK_HAS(text, "EMPTY");
            if (strcmp(assay_report_format(f), "text") == 0 && trials == 1) {
                CHECK_HAS(text, "Interrupted: ");
                CHECK(strstr(text, " 0 ") == NULL);
            }
            assay_free(text);
        }
        CHECK(assay__profile_trial(p) != NULL);
    }
    assay_profile_close(p);
}

/* What could not be attributed is signed, and said when it matters. */
static void test_unattributed(void)
{
    struct assay_profile *p = document();
    struct assay__layers *l = &p->trials[0].layers;
    char *text = render(p, (struct assay_report_options){0});
    CHECK_HAS(text, "39.1 ms per image; Conv takes 57 %.\n");
    assay_free(text);
    l->items[2].time_ns += 3910000; /* the layers are now 10 % too long together */
    l->unattributed_ns -= 3910000;
    text = render(p, (struct assay_report_options){.columns = 200});
    CHECK_HAS(text, "39.1 ms per image; Conv takes 51 %.\n"); /* of layers and engine */
    CHECK_HAS(text, "=-3.87 ms\n"); /* no share: those of layers and engine are 100 % */
    CHECK_HAS(text, " 39.1 ms\n");
    assay_free(text);
    assay_profile_close(p);
}

/* No layer has a time: the reason is the layers' own, not a remark about something else. */
static void test_untimed(void)
{
    static struct assay__pair asked[] = {{"layers", "isolated"}, {"time_s", "2"}};
    struct assay_profile *p = document();
    struct assay__trial *t = &p->trials[0];
    struct assay__layers *l = &t->layers;
    struct assay_report_options wide = {.columns = 200};
    l->reason = "Means of the nodes are 8 % above their medians: something else ran here.";
    l->contention = 0.08;
    l->items[1].state = ASSAY_UNAVAILABLE; /* one without a time: the total is still the median */
    char *text = render(p, wide);
    CHECK_HAS(text, " 39.1 ms     100 %\n");
    CHECK_HAS(text, "8 % above their medians");
    CHECK(strstr(text, "means over medians") == NULL);
    assay_free(text);
    text = render(p, (struct assay_report_options){.format = "markdown"});
    CHECK_HAS(text, "| **total (the unprofiled median)** |  | 39.1 ms | 100 % |");
    assay_free(text);
    for (size_t i = 0; i < l->count; i++) {
        l->items[i].state = ASSAY_UNAVAILABLE;
        l->items[i].note = "runs before the first marker: its time is part of the engine row";
    }
    text = render(p, wide);
    CHECK_HAS(text, "39.1 ms per image; layer times are unknown.");
    assay_free(text);
    l->count = 0;
    l->reason = l->method = "";
    t->options = asked;
    t->option_count = 2;
    t->protocol.layers = ASSAY_LAYERS_AUTO;
    text = render(p, wide);
    CHECK_HAS(text, "39.1 ms per image; layer times are unknown.");
    CHECK_HAS(text, "· time 2 s\n");
    assay_free(text);
    t->option_count = 0;
    t->protocol.layers = ASSAY_LAYERS_OFF; /* not asked for: nothing to say */
    text = render(p, wide);
    CHECK_HAS(text, "39.1 ms per image.");
    assay_free(text);
    assay_profile_close(p);
}

static void test_words(void)
{
    struct assay_profile *p = document();
    struct assay__trial *t = &p->trials[0];
    struct assay_report_options wide = {.columns = 100};
    p->models[0]->node_count = p->models[0]->parameters = 1;
    p->environment.cores = 1;
    t->layers.count = 1;
    t->layers.sessions = 1;
    t->layers.method = "isolated";
    t->launches[1].state = ASSAY__TRIAL_INTERRUPTED;
    t->launches[1].reason = "stopped";
    t->stability.more_iterations = 1;
    CHECK_INT(assay_metrics_derived(t->metrics, "overhead.layers", 1.47, "clock", "by hand"), 0);
    char *text = render(p, wide);
    CHECK_HAS(text, " 1 parameter ");
    CHECK_HAS(text, " 1 node\n");
    CHECK_HAS(text, " 1 core ");
    CHECK_HAS(text, " 1 session ");
    CHECK_HAS(text, " 2  interrupted  stopped      300             12  39.2 ms      288");
    CHECK_HAS(text, "about 1 more iteration would");
    CHECK_HAS(text, "timed alone, hot cache (isolated)");
    assay_free(text);
    t->layers.method = "engine";
    text = render(p, (struct assay_report_options){.format = "markdown"});
    CHECK_HAS(text, "; timed by the engine's own profiler\n");
    CHECK_HAS(text, "| overhead.layers | =1.47 × |");
    assay_free(text);
    assay_profile_close(p);
}

/* A clock of 10.02 ns whose ends are rounded to whole nanoseconds: no comb of empty bins. */
static void test_clock_comb(void)
{
    struct assay_profile *p = document();
    struct assay__trial *t = &p->trials[0];
    for (size_t n = 0; n < t->launch_count; n++) {
        struct assay__launch *l = &t->launches[n];
        uint32_t state = 7u + (uint32_t)n;
        for (size_t i = 0; i < l->sample_count; i++) {
            double sum = 0;
            for (int k = 0; k < 4; k++) {
                state = state * 1664525u + 1013904223u;
                sum += (double)(state >> 28); /* 0 … 15 */
            }
            double begin = (double)(state >> 20) * 10.02;
            l->samples_ns[i] = floor(begin + 2400 + floor(sum / 3) * 10.02) - floor(begin);
        }
    }
    for (int columns = 40; columns <= 120; columns += 20) {
        char *text = render(p, (struct assay_report_options){.columns = columns});
        char *axis = strstr(text, "\n  └");
        if (!axis) axis = strstr(text, "\n  ┬");
        CHECK(axis != NULL);
        char *row = axis;
        while (row > text && row[-1] != '\n')
            row--;
        *axis = '\0';
        if (strchr(row + 2, ' ')) printf("  %d:%s\n", columns, row);
        CHECK(strchr(row + 2, ' ') == NULL); /* every spot has samples, so has every bin */
        CHECK_HAS(axis + 1, "p50");
        assay_free(text);
    }
    assay_profile_close(p);
}

/* Only host enqueue times: shown as such, the layer's own time stays unknown. */
static void test_enqueue(void)
{
    struct assay_profile *p = document();
    struct assay__layers *l = &p->trials[0].layers;
    for (size_t i = 0; i < l->count; i++) {
        l->items[i].host_enqueue_ns = 5000.0 + (double)i;
        l->items[i].time_ns = NAN;
        l->items[i].state = ASSAY_UNAVAILABLE;
        l->items[i].note = "host enqueue time only";
    }
    l->engine_ns = l->unattributed_ns = NAN;
    char *text = render(p, (struct assay_report_options){0});
    CHECK_HAS(text, "enqueue");
    CHECK_HAS(text, "5.01 µs");
    CHECK_HAS(text, "host enqueue time only");
    CHECK_HAS(text, "layer times are unknown");
    CHECK(strstr(text, "total (") == NULL);
    assay_free(text);
    text = render(p, (struct assay_report_options){.format = "json"});
    CHECK_HAS(text, "\"engine_us\": null");
    CHECK_HAS(text, "\"host_enqueue_us\": 5.008");
    assay_free(text);
    assay_profile_close(p);
}

static void test_options(void)
{
    struct assay_profile *p = document();
    char *text = NULL;
    struct assay_error error = {0};
    struct assay_report_options options = {.size = sizeof options, .format = "pdf"};
    CHECK_INT(assay_report(p, &options, &text, NULL, &error), ASSAY_EINVAL);
    CHECK_HAS(error.message, "pdf");
    CHECK(text == NULL);
    options = (struct assay_report_options){
        .size = sizeof options, .format = "csv", .table = "nothing"};
    CHECK_INT(assay_report(p, &options, &text, NULL, &error), ASSAY_EINVAL);
    options = (struct assay_report_options){0};
    CHECK_INT(assay_report(p, &options, &text, NULL, &error), ASSAY_EINVAL);
    struct {
        struct assay_report_options known;
        long later;
    } newer = {.known = {.size = sizeof newer}, .later = 1};
    CHECK_INT(assay_report(p, &newer.known, &text, NULL, &error), ASSAY_EINVAL);
    newer.later = 0;
    CHECK_INT(assay_report(p, &newer.known, &text, NULL, &error), 0);
    assay_free(text);
    CHECK_INT(assay_report(p, NULL, &text, NULL, &error), 0);
    assay_free(text);
    CHECK_STR(assay_report_format(0), "text");
    CHECK(assay_report_format(99) == NULL);
    assay_profile_close(p);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"golden_text", test_golden_text},
        {"golden_brief", test_golden_brief},
        {"golden_data", test_golden_data},
        {"widths", test_widths},
        {"color", test_color},
        {"json", test_json},
        {"samples_table", test_samples_table},
        {"incomplete", test_incomplete},
        {"empty", test_empty},
        {"enqueue", test_enqueue},
        {"unattributed", test_unattributed},
        {"untimed", test_untimed},
        {"words", test_words},
        {"clock_comb", test_clock_comb},
        {"options", test_options},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
