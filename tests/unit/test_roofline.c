/* test_roofline.c - what bounds a layer, on hand-made profiles whose roofs are round numbers: each
 * bound and its edges, cores and data types, what is not known, the metrics, and the picture as
 * golden files. */
#include "golden.h"
#include "harness.h"

#include "base/file.h"
#include "cost/roofline.h"
#include "report/figure/figure.h"
#include "subject_fixture.h"
#include "text_lines.h"

#include <assay/assay.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- a machine of 4 cores --------------------------------------------------------------------- */

#define ROW(n, v, u)                                                                \
    {                                                                               \
        .device = "cpu", .name = n, .value = v, .unit = u, .low = NAN, .high = NAN, \
        .source = "clock", .note = "", .measured_at = "2025-01-02T03:04:05Z"        \
    }

static struct assay__ceiling_info ceilings[] = {
    ROW("compute.float32.one-core", 1e11, "FLOP/s"),
    ROW("compute.float32.all-cores", 3.5e11, "FLOP/s"),
    ROW("compute.float64.one-core", 5e10, "FLOP/s"),
    ROW("compute.float16.one-core", NAN, "FLOP/s"),
    ROW("compute.int8.one-core", 4e11, "OP/s"),
    ROW("compute.int8.all-cores", 1.4e12, "OP/s"),
    ROW("bandwidth.l1.read.one-core", 2e11, "B/s"),
    ROW("bandwidth.l1.read.all-cores", 8e11, "B/s"),
    ROW("bandwidth.l2.read.one-core", 1e11, "B/s"),
    ROW("bandwidth.l2.read.all-cores", 4e11, "B/s"),
    ROW("bandwidth.l3.read.one-core", 5e10, "B/s"),
    ROW("bandwidth.l3.read.all-cores", 1e11, "B/s"),
    ROW("bandwidth.dram.read.one-core", 1e10, "B/s"),
    ROW("bandwidth.dram.read.all-cores", 2e10, "B/s"),
    ROW("bandwidth.dram.triad.one-core", 1.2e10, "B/s"),
    ROW("bandwidth.dram.triad.all-cores", 2.4e10, "B/s"),
};

static struct assay__layer layer(const char *op, double flops, double bytes, double time_ns)
{
    return (struct assay__layer){.name = op,
                                 .op = op,
                                 .provider = "",
                                 .time_ns = time_ns,
                                 .host_enqueue_ns = NAN,
                                 .kernel_count = NAN,
                                 .gap_ns = NAN,
                                 .share = NAN,
                                 .flops = flops,
                                 .bytes = bytes,
                                 .bound = "",
                                 .state = isfinite(time_ns) ? ASSAY_MEASURED : ASSAY_UNAVAILABLE,
                                 .method = "markers",
                                 .note = ""};
}

static struct assay__tensor_info input = {.name = "x", .dtype = "float32", .rank = -1, .fill = ""};

static struct assay_profile *machine(struct assay__layer *layers, size_t count)
{
    struct assay_profile *p = assay__profile_new();
    CHECK(p != NULL);
    p->assay_version = "0.1.0";
    assay__profile_set_command(p, "run");
    p->environment.cores = 4;
    p->environment.l1d_bytes = 32768;
    p->environment.l2_bytes = 1 << 20;
    p->environment.l3_bytes = 16 << 20;
    p->ceilings = ceilings;
    p->ceiling_count = COUNT(ceilings);
    struct assay__trial *t = assay__profile_trial(p);
    CHECK(t != NULL);
    t->state = ASSAY__TRIAL_OK;
    t->target.engine = "ort";
    t->target.device = "cpu";
    t->target.threads = 1;
    t->target.device_class = ASSAY__CLASS_CPU;
    t->inputs = &input;
    t->input_count = 1;
    t->layers.items = layers;
    t->layers.count = count;
    for (size_t i = 0; i < count; i++)
        layers[i].index = (int)i;
    return p;
}

static struct assay__roofline roofline(const struct assay_profile *p)
{
    struct assay__roofline r;
    CHECK_INT(assay__roofline(p, &p->trials[0], p->arena, &r), 0);
    return r;
}

/* The roofline of one layer. */
static struct assay__roofline_layer one(const char *op, double flops, double bytes, double time_ns)
{
    struct assay__layer l = layer(op, flops, bytes, time_ns);
    struct assay_profile *p = machine(&l, 1);
    struct assay__roofline r = roofline(p);
    struct assay__roofline_layer found = r.layers[0];
    assay_profile_close(p);
    return found;
}

/* --- a layer ---------------------------------------------------------------------------------- */

static void test_compute(void)
{
    struct assay__layer l = layer("Conv", 1e9, 1e6, 20e6); /* 10 ms at the peak */
    struct assay_profile *p = machine(&l, 1);
    struct assay__roofline r = roofline(p);
    CHECK_STR(r.reason, "");
    CHECK_STR(assay__bound_name(r.layers[0].bound), "compute");
    CHECK_STR(r.layers[0].peak->name, "compute.float32.one-core");
    CHECK_STR(r.layers[0].level->label, "l2"); /* 1 MB of 1 MiB */
    CHECK_NEAR(r.layers[0].intensity, 1000, 1e-9);
    CHECK_NEAR(r.layers[0].rate, 5e10, 1);
    CHECK_NEAR(r.layers[0].attainable, 1e11, 1);
    CHECK_NEAR(r.layers[0].utilization, 0.5, 1e-12);
    CHECK_NEAR(r.least_ns, 10e6, 1e-3);
    CHECK_NEAR(r.least_of_ns, 20e6, 1e-3);
    CHECK_NEAR(r.time_ns[ASSAY__BOUND_COMPUTE], 20e6, 0);
    CHECK_INT(r.above, 0);
    assay_profile_close(p);
}

static void test_memory(void)
{
    /* beyond L3: the faster of read and triad of the memory, 12 GB/s */
    struct assay__roofline_layer l = one("Gemm", 1e7, 2.4e7, 4e6);
    CHECK_INT(l.bound, ASSAY__BOUND_MEMORY);
    CHECK_NEAR(l.least_ns, 2e6, 1e-3);
    CHECK_NEAR(l.utilization, 0.5, 1e-12);
    CHECK_NEAR(l.attainable, 1e7 / 2.4e7 * 1.2e10, 1);
    CHECK_NEAR(l.rate / l.attainable, l.utilization, 1e-12); /* the two forms agree */
    /* no arithmetic at all */
    l = one("Transpose", 0, 1e6, 20e3);
    CHECK_INT(l.bound, ASSAY__BOUND_MEMORY);
    CHECK_NEAR(l.utilization, 0.5, 1e-12);
    CHECK(l.intensity == 0 && isnan(l.rate) && isnan(l.attainable) && !l.peak);
}

/* The nearest level that can hold the bytes; on one core one L1 and one L2. */
static void test_levels(void)
{
    static const struct {
        double bytes;
        const char *level;
        double value;
    } rows[] = {
        {32768, "l1", 2e11},   {32769, "l2", 1e11},    {1 << 20, "l2", 1e11},
        {1048577, "l3", 5e10}, {16 << 20, "l3", 5e10}, {16777217, "dram", 1.2e10},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct assay__roofline_layer l = one("Relu", 1, rows[i].bytes, 1e9);
        CHECK_NEAR(l.least_ns, rows[i].bytes / rows[i].value * 1e9, 1e-6);
    }
    struct assay__layer l = layer("Relu", 1, 2e5, 1e9);
    struct assay_profile *p = machine(&l, 1);
    p->trials[0].target.threads = 4; /* four of each: 200 kB do not fit 131 kB, and fit one L2 */
    CHECK_STR(roofline(p).layers[0].level->label, "l2");
    l.bytes = 1.2e5;
    CHECK_STR(roofline(p).layers[0].level->label, "l1");
    l.bytes = 4 << 20;
    CHECK_STR(roofline(p).layers[0].level->label, "l2");
    p->environment.l1d_bytes = p->environment.l2_bytes = NAN; /* sizes unknown: no such level */
    CHECK_STR(roofline(p).layers[0].level->label, "l3");
    p->environment.l3_bytes = NAN;
    CHECK_STR(roofline(p).layers[0].level->label, "dram");
    assay_profile_close(p);
}

/* Weights come from where all of the model's weights fit, by reading, unless the layer was timed
 * alone. */
static void test_weights(void)
{
    struct assay__layer l = layer("Gemm", 1e6, 1e6, 1e6); /* 10 us of L2 and at the peak */
    struct assay_profile *p = machine(&l, 1);
    p->trials[0].layers.method = "markers";
    p->models[0]->weight_bytes = 500e6;
    l.weight_bytes = 9e5;
    struct assay__roofline r = roofline(p);
    CHECK_STR(r.weights->name, "bandwidth.dram.read.one-core"); /* not triad: nothing is written */
    CHECK_STR(r.weights->label, "dram read");
    CHECK_INT(r.layers[0].bound, ASSAY__BOUND_NEITHER); /* 90 us of 1 ms */
    CHECK(r.layers[0].under_memory);
    CHECK_NEAR(r.layers[0].least_ns, 9e5 / 1e10 * 1e9, 1e-6);
    CHECK_NEAR(r.layers[0].attainable, 1e6 / (9e5 / 1e10), 1);
    CHECK(r.layers[0].level == r.weights);
    l.weight_bytes = 1e4; /* 1 us: moving the rest takes longer */
    r = roofline(p);
    CHECK_STR(r.layers[0].level->label, "l2");
    CHECK(!r.layers[0].under_memory);
    l.weight_bytes = NAN; /* not known: as all else */
    CHECK_NEAR(roofline(p).layers[0].least_ns, 10e3, 1e-6);
    l.weight_bytes = 9e5;
    p->models[0]->weight_bytes = 10 << 20; /* all of them fit L3, which was only read */
    r = roofline(p);
    CHECK_STR(r.weights->label, "l3");
    CHECK_NEAR(r.layers[0].least_ns, 9e5 / 5e10 * 1e9, 1e-6);
    p->models[0]->weight_bytes = 500e6;
    p->trials[0].layers.method = "isolated";
    r = roofline(p);
    CHECK(!r.weights);
    CHECK_NEAR(r.layers[0].least_ns, 10e3, 1e-6);
    assay_profile_close(p);
}

/* Where both roofs allow the same time it is compute; an operation less and it is memory. */
static void test_ridge(void)
{
    CHECK_INT(one("Gemm", 1e6, 1e6, 1e5).bound, ASSAY__BOUND_COMPUTE);
    CHECK_INT(one("Gemm", 999999, 1e6, 1e5).bound, ASSAY__BOUND_MEMORY);
    CHECK_NEAR(one("Gemm", 1e6, 1e6, 1e5).attainable, 1e11, 1);
}

static void test_overhead(void)
{
    CHECK_INT(one("Relu", 100, 800, 5e3).bound, ASSAY__BOUND_OVERHEAD);
    CHECK_INT(one("Relu", 100, 800, 19999).bound, ASSAY__BOUND_OVERHEAD);
    CHECK_INT(one("Relu", 100, 800, 20000).bound, ASSAY__BOUND_NEITHER); /* too long for it */
    /* 1 MB of L2 takes 10 us: at a share of 10 % exactly it is not overhead, below it is */
    CHECK_INT(one("Relu", 1, 1e5, 10e3).bound, ASSAY__BOUND_MEMORY);
    CHECK_INT(one("Relu", 1, 1e5, 10001).bound, ASSAY__BOUND_OVERHEAD);
    /* what does nothing is overhead, however long it takes */
    struct assay__roofline_layer l = one("Reshape", 0, 0, 1e6);
    CHECK_INT(l.bound, ASSAY__BOUND_OVERHEAD);
    CHECK(l.utilization == 0 && isnan(l.intensity));
}

static void test_unknown(void)
{
    struct assay__roofline_layer l = one("Loop", NAN, 1e6, 1e6);
    CHECK_INT(l.bound, ASSAY__BOUND_UNKNOWN);
    CHECK_STR(l.reason, "its FLOPs are unknown");
    CHECK(isnan(l.utilization) && isnan(l.least_ns));
    l = one("Conv", 1e6, NAN, 1e6);
    CHECK_INT(l.bound, ASSAY__BOUND_UNKNOWN);
    CHECK_STR(l.reason, "its bytes are unknown");
    CHECK_STR(one("Conv", 1e6, 1e6, NAN).reason, "its time is unknown");
    CHECK_STR(one("Conv", 1e6, 1e6, 0).reason, "its time is unknown");
    CHECK_STR(one("Conv", -1, 1e6, 1e6).reason, "its FLOPs are unknown");
    /* something that moves nothing has no place on the picture, but a roof */
    l = one("Range", 1e9, 0, 20e6);
    CHECK_INT(l.bound, ASSAY__BOUND_COMPUTE);
    CHECK(isinf(l.intensity));
    CHECK_NEAR(l.utilization, 0.5, 1e-12);
    CHECK_NEAR(l.attainable, 1e11, 1);
}

/* Faster than its roof: not clipped, and counted. */
static void test_above(void)
{
    struct assay__layer layers[] = {layer("Conv", 1e9, 1e6, 5e6), layer("Conv", 1e9, 1e6, 9.6e6),
                                    layer("Conv", 1e9, 1e6, 20e6)};
    struct assay_profile *p = machine(layers, COUNT(layers));
    struct assay__roofline r = roofline(p);
    CHECK_NEAR(r.layers[0].utilization, 2, 1e-12);
    CHECK_NEAR(r.layers[1].utilization, 10 / 9.6, 1e-12); /* 104 %: within the noise */
    CHECK_INT(r.above, 1);
    assay_profile_close(p);
}

/* --- cores, types, devices -------------------------------------------------------------------- */

static void test_cores(void)
{
    static const struct {
        int threads; /* 0: not known */
        const char *cpus;
        double peak, memory;
        const char *note;
    } rows[] = {
        {1, "", 1e11, 1.2e10, "ceilings of one core"},
        {4, "", 3.5e11, 2.4e10, "ceilings of all cores"},
        {8, "", 3.5e11, 2.4e10, "ceilings of all cores"},
        {0, "", 3.5e11, 2.4e10, "ceilings of all cores"},
        {0, "3", 1e11, 1.2e10, "ceilings of one core"},
        {4, "2", 1e11, 1.2e10, "ceilings of one core"},
        {4, "0-1", 2e11, 2.4e10, "2 of 4 cores"}, /* twice one core; memory: all cores' */
        {2, "0-3", 2e11, 2.4e10, "2 of 4 cores"},
        {3, "", 3e11, 2.4e10, "3 of 4 cores"},
    };
    struct assay__layer l = layer("Conv", 1e9, 1e9, 1e9);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct assay_profile *p = machine(&l, 1);
        p->trials[0].target.threads = rows[i].threads;
        p->trials[0].target.cpus = rows[i].cpus;
        struct assay__roofline r = roofline(p);
        CHECK_NEAR(r.peak->value, rows[i].peak, 1);
        CHECK_NEAR(r.levels[r.level_count - 1].value, rows[i].memory, 1);
        CHECK_HAS(r.cores_note, rows[i].note);
        if (rows[i].peak == 2e11) CHECK_STR(r.peak->name, "2 x compute.float32.one-core");
        assay_profile_close(p);
    }
}

static void test_types(void)
{
    struct assay__layer layers[] = {layer("QLinearConv", 4e9, 1e6, 20e6),
                                    layer("Conv", 1e9, 1e6, 20e6)};
    struct assay_profile *p = machine(layers, COUNT(layers));
    struct assay__tensor_info tensors[] = {{.name = "ids", .dtype = "int64", .rank = -1},
                                           {.name = "y", .dtype = "float64", .rank = -1}};
    struct assay__trial *t = &p->trials[0];
    struct assay__roofline r = roofline(p);
    CHECK_STR(r.layers[0].peak->label, "int8"); /* by its operator */
    CHECK_NEAR(r.layers[0].utilization, 0.5, 1e-12);
    CHECK_STR(r.layers[1].peak->label, "float32");
    CHECK_STR(r.type_from, "the type of input 'x'");
    /* 16-bit weights behind float32 inputs; no ceiling of float16 has a value here */
    p->models[0]->parameters = 1000;
    p->models[0]->weight_bytes = 2000;
    r = roofline(p);
    CHECK_STR(r.type, "float16");
    CHECK_STR(r.type_from, "the model's weights take 2 bytes each");
    CHECK_STR(r.layers[1].peak->label, "float32");
    CHECK_HAS(r.peak_note, "no ceiling of float16 is saved: float32 is used");
    p->models[0]->weight_bytes = 4000;
    t->inputs = tensors; /* ids only: the outputs say it */
    p->models[0]->outputs = tensors;
    p->models[0]->output_count = 2;
    r = roofline(p);
    CHECK_STR(r.type, "float64");
    CHECK_STR(r.type_from, "the type of output 'y'");
    CHECK_NEAR(r.layers[1].utilization, 1, 1e-12);
    p->models[0]->output_count = 1;
    r = roofline(p);
    CHECK_STR(r.type, "float32");
    CHECK_HAS(r.type_from, "assumed");
    /* a type without a ceiling and without a stand-in */
    tensors[0].dtype = "float64";
    /* float64 was measured on one core only: 4 of them are no ceiling of all */
    p->trials[0].target.threads = 4;
    r = roofline(p);
    CHECK(!r.peak);
    CHECK_INT(r.layers[1].bound, ASSAY__BOUND_UNKNOWN);
    CHECK_STR(r.layers[1].reason, "no ceiling of float64 is saved");
    assay_profile_close(p);
}

static void set_device(struct assay_profile *p, const char *device)
{
    p->trials[0].target.device = device;
    p->trials[0].target.device_class = strstr(device, "cuda") ? ASSAY__CLASS_GPU : ASSAY__CLASS_CPU;
}

static void test_accelerator(void)
{
    struct assay__ceiling_info gpu[] = {ROW("compute.float32.matmul", 5e13, "FLOP/s"),
                                        ROW("compute.float16.matmul", 4e14, "FLOP/s"),
                                        ROW("bandwidth.device.copy", 4e12, "B/s"),
                                        ROW("latency.launch", 50e-6, "s")};
    struct assay__layer layers[] = {layer("Conv", 1e11, 1e8, 4e6), layer("Gather", 0, 4e8, 2e5),
                                    layer("Relu", 1e3, 8e3, 49e3), layer("Relu", 1e3, 8e3, 50e3)};
    struct assay_profile *p = machine(layers, COUNT(layers));
    for (size_t i = 0; i < COUNT(gpu); i++)
        gpu[i].device = "cuda:0";
    p->ceilings = gpu;
    p->ceiling_count = COUNT(gpu);
    set_device(p, "fast/cuda:0"); /* the same device, of a named build */
    struct assay__roofline r = roofline(p);
    CHECK_STR(r.layers[0].peak->name, "compute.float32.matmul"); /* whatever threads says */
    CHECK_NEAR(r.layers[0].utilization, 0.5, 1e-12);
    CHECK_INT(r.layers[0].bound, ASSAY__BOUND_COMPUTE);
    CHECK_STR(r.layers[1].level->label, "device");
    CHECK_NEAR(r.layers[1].utilization, 0.5, 1e-12);
    CHECK_INT(r.layers[2].bound, ASSAY__BOUND_OVERHEAD); /* below what an empty inference takes */
    CHECK_INT(r.layers[3].bound, ASSAY__BOUND_NEITHER);
    CHECK(r.layers[3].under_memory);
    CHECK_HAS(r.cores_note, "of the device");
    gpu[1].name = "compute.tf32.matmul"; /* what float32 really is there */
    r = roofline(p);
    CHECK_STR(r.layers[0].peak->name, "compute.tf32.matmul");
    CHECK_HAS(r.cores_note, "TF32");
    set_device(p, "cuda:1");
    r = roofline(p);
    CHECK_HAS(r.reason, "no ceilings of cuda:1 are saved");
    set_device(p, "gpu/cuda:1"); /* the name that was given, with its build */
    r = roofline(p);
    CHECK_HAS(r.reason, "no ceilings of gpu/cuda:1 are saved");
    setenv("ASSAY_FSROOT", "/somewhere", 1); /* another machine: advice that cannot work is none */
    r = roofline(p);
    CHECK_HAS(r.reason, "cannot be measured");
    CHECK(!strstr(r.reason, "assay devices"));
    unsetenv("ASSAY_FSROOT");
    assay_profile_close(p);
}

static void test_no_ceilings(void)
{
    struct assay__layer l = layer("Conv", 1e9, 1e6, 20e6);
    struct assay_profile *p = machine(&l, 1);
    size_t all = p->ceiling_count;
    p->ceiling_count = 0;
    struct assay__roofline r = roofline(p);
    CHECK_HAS(r.reason, "no ceilings of this machine are saved:");
    CHECK_INT(r.layers[0].bound, ASSAY__BOUND_UNKNOWN);
    CHECK_STR(r.layers[0].reason, r.reason);
    CHECK_INT(assay__roofline_apply(p, &p->trials[0]), 0);
    CHECK_STR(l.bound, "unknown");
    static const char *const names[] = {"compute.utilization", "memory.bandwidth_utilization",
                                        "roofline.time", "roofline.utilization"};
    for (size_t i = 0; i < COUNT(names); i++) {
        const struct assay_metric *m = assay_metrics_get(p->trials[0].metrics, names[i]);
        CHECK(m && m->state == ASSAY_UNAVAILABLE && isnan(m->value));
        CHECK_STR(m->note, r.reason);
    }
    p->trials[0].target.engine = "fake";
    CHECK_HAS(roofline(p).reason, "scripted");
    /* no ceiling of the last level: none of a nearer one stands for it */
    struct assay__ceiling_info kept[32];
    size_t count = 0;
    p->trials[0].target.engine = "ort";
    p->ceiling_count = all;
    for (size_t i = 0; i < all; i++)
        if (!strstr(p->ceilings[i].name, "dram")) kept[count++] = p->ceilings[i];
    struct assay__ceiling_info *whole = p->ceilings;
    p->ceilings = kept, p->ceiling_count = count;
    r = roofline(p);
    CHECK(count < all && r.level_count && !r.memory);
    p->ceilings = whole;
    /* ceilings of compute only */
    p->trials[0].target.engine = "ort";
    p->ceiling_count = 6;
    r = roofline(p);
    CHECK_INT(r.level_count, 0);
    CHECK_STR(r.layers[0].reason, "no memory ceiling is saved");
    assay_profile_close(p);
}

/* --- metrics ---------------------------------------------------------------------------------- */

static void check_metric(const struct assay_profile *p, const char *name, double value,
                         const char *note)
{
    const struct assay_metric *m = assay_metrics_get(p->trials[0].metrics, name);
    CHECK(m != NULL);
    if (m->state != ASSAY_DERIVED) printf("  %s: %s\n", name, m->note);
    CHECK_INT(m->state, ASSAY_DERIVED);
    CHECK_STR(m->source, "ceilings");
    CHECK_NEAR(m->value, value, 1e-12);
    CHECK_HAS(m->note, note);
}

static void test_metrics(void)
{
    struct assay__layer layers[] = {layer("Conv", 1e9, 1e6, 20e6), layer("Gemm", 1e7, 2.4e7, 4e6),
                                    layer("Loop", NAN, NAN, 1e6)};
    struct assay__operator_info operators[] = {{"QLinearConv", 1, 6e8, 3e8, 0},
                                               {"Conv", 1, 4e8, 2e8, 0}};
    struct assay_profile *p = machine(layers, COUNT(layers));
    struct assay_metrics *m = p->trials[0].metrics;
    CHECK_INT(assay_metrics_derived(m, "compute.rate", 4e10, "graph", "f"), 0);
    CHECK_INT(assay_metrics_unavailable(m, "memory.bandwidth", "no bytes"), 0);
    CHECK_INT(assay__roofline_apply(p, &p->trials[0]), 0);
    check_metric(p, "compute.utilization", 0.4,
                 "compute.rate / compute.float32.one-core, 100 GFLOP/s");
    check_metric(p, "roofline.time", 12e-3, "2 of 3 layers");
    check_metric(p, "roofline.utilization", 0.5, "these 2 layers");
    CHECK_STR(assay_metrics_get(m, "memory.bandwidth_utilization")->note, "no bytes");
    CHECK_STR(layers[0].bound, "compute");
    CHECK_STR(layers[1].bound, "memory");
    CHECK_STR(layers[2].bound, "unknown");
    /* caches may serve more than the memory could */
    CHECK_INT(assay_metrics_derived(m, "memory.bandwidth", 1.8e10, "graph", "f"), 0);
    p->models[0]->operators = operators; /* most operations are integer products */
    p->models[0]->operator_count = 2;
    CHECK_INT(assay__roofline_apply(p, &p->trials[0]), 0);
    check_metric(p, "memory.bandwidth_utilization", 1.5,
                 "memory.bandwidth / bandwidth.dram.triad.one-core, 12.0 GB/s");
    check_metric(p, "compute.utilization", 0.1, "compute.int8.one-core");
    p->trials[0].layers.count = 0;
    CHECK_INT(assay__roofline_apply(p, &p->trials[0]), 0);
    CHECK_STR(assay_metrics_get(m, "roofline.time")->note, "layers were not timed");
    check_metric(p, "compute.utilization", 0.1, "compute.int8.one-core"); /* needs no layers */
    assay_profile_close(p);
}

/* --- the picture ------------------------------------------------------------------------------ */

static char *draw(const struct assay_profile *p, int columns, bool ascii)
{
    return subject_text(
        p, &p->trials[0], &assay__subject_roofline,
        (struct assay_report_options){.columns = columns, .ascii = ascii, .full = true});
}

static struct assay__layer picture[] = {
    {.name = "stem/conv", .op = "Conv", .flops = 2.4e8, .bytes = 4e6, .time_ns = 6e6},
    {.name = "layer1/layer1.0/a_rather_long_scope/conv2",
     .op = "Conv",
     .flops = 1.2e9,
     .bytes = 9e5,
     .time_ns = 15e6},
    {.name = "fc", .op = "Gemm", .flops = 2e7, .bytes = 4e7, .weight_bytes = 3.9e7, .time_ns = 5e6},
    {.name = "transpose", .op = "Transpose", .flops = 0, .bytes = 6e6, .time_ns = 2e5},
    {.name = "relu", .op = "Relu", .flops = 1e5, .bytes = 8e5, .time_ns = 3e4},
    {.name = "fast", .op = "Conv", .flops = 1e8, .bytes = 1e6, .time_ns = 5e5},
    {.name = "fast again", .op = "Conv", .flops = 1e8, .bytes = 1e6, .time_ns = 5e5},
    {.name = "add", .op = "Add", .flops = 10, .bytes = 120, .time_ns = 3e3},
    {.name = "custom \x1b[31m", .op = "Custom", .flops = NAN, .bytes = NAN, .time_ns = 1e5},
};

static struct assay_profile *pictured(void)
{
    double sum = 0;
    for (size_t i = 0; i < COUNT(picture); i++) {
        picture[i].state = ASSAY_MEASURED;
        picture[i].host_enqueue_ns = NAN;
        sum += picture[i].time_ns;
    }
    struct assay_profile *p = machine(picture, COUNT(picture));
    p->models[0]->weight_bytes = 50000000;
    p->trials[0].layers.method = "markers";
    CHECK_INT(assay_metrics_measured(p->trials[0].metrics, "latency.p50", sum / 1e9, "clock", ""),
              0);
    return p;
}

/* The picture alone. */
static void check_picture(const char *name, const struct assay_profile *p, int columns, bool ascii)
{
    struct assay__study *study = NULL;
    struct assay__arena *arena = assay__arena_new();
    struct assay__figure figure;
    struct assay__buf out = {0};
    struct assay__page page = {.out = &out, .columns = columns, .ascii = ascii};
    CHECK_INT(assay__study_new(p, &study), 0);
    struct assay__sketch sketch = {
        .study = study, .trial = p->trials, .arena = arena, .figure = &figure};
    CHECK_INT(assay__figure_row_find("roofline")->make(&sketch, 0), 0);
    assay__figure_text(&page, &figure);
    if (ascii) assay__page_to_ascii(&out, 0);
    check_golden(name, out.data);
    assay__buf_free(&out);
    assay__arena_free(arena);
    assay__study_free(study);
}

static void test_golden(void)
{
    struct assay_profile *p = pictured();
    check_picture("roofline.txt", p, 80, false);
    check_picture("roofline-ascii.txt", p, 60, true);
    assay_profile_close(p);
}

/* Beside the picture: its letters, the numbers, the roofs. */
static void test_tables(void)
{
    static const char *const rows[] = {
        " 80.5 % is bound by compute, 19.1 % is bound by memory, 0.366 % is of unknown bound.",
        " 20.4 ms instead of 27.2 ms (75 %).",
        " A stem/conv 22.0 % =60 =40.0 G =100 G =40.0 % =3.60 ms compute",
        " B layer1/layer1.0/a_rather_long_scope/conv2 54.9 % =1,333 =80.0 G =100 G =80.0 % =3.00 "
        "ms "
        "compute",
        " C fc 18.3 % =0.5 =4.00 G =5.13 G =78.0 % =1.10 ms memory dram ",
        " F fast 1.83 % =100 =200 G =100 G =200 % =0 s compute",
        " transpose 0.732 % =0 — — =60.0 % =80.0 µs memory l3",
        " 0.366 % — — — — — unknown",
        " E add 0.0110 % =0.0833 =3.33 M =16.7 G =0.0200 % =3.00 µs overhead",
        " float32 100 GFLOP/s compute.float32.one-core",
        " l2 100 GB/s 1.05 MB bandwidth.l2.read.one-core",
        " weights from dram read 10.0 GB/s bandwidth.dram.read.one-core",
        " 2 layers are faster than their roof",
        " The bound of 1 layer is not known: its FLOPs are unknown.",
    };
    struct assay_profile *p = pictured();
    char *text = draw(p, 200, false), *whole = flat(text);
    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_HAS(whole, rows[i]);
    free(text);
    free(whole);
    assay_profile_close(p);
}

/* At every width: within the page, nothing that drives the terminal, every placed layer's letter
 * once in the picture and once in the table; in ASCII nothing else. */
static void test_widths(void)
{
    struct assay_profile *p = pictured();
    for (int columns = 40; columns <= 200; columns++)
        for (int ascii = 0; ascii < 2; ascii++) {
            char *text = draw(p, columns, ascii);
            CHECK(strchr(text, 0x1b) == NULL);
            for (const char *line = text; *line;) {
                size_t length = strcspn(line, "\n"), width = 0;
                for (size_t i = 0; i < length; i++) {
                    width += ((unsigned char)line[i] & 0xc0) != 0x80;
                    if (ascii) CHECK((unsigned char)line[i] < 128);
                }
                if (width > (size_t)columns) printf("  %d: %.*s\n", columns, (int)length, line);
                CHECK(width <= (size_t)columns);
                line += length + (line[length] == '\n');
            }
            free(text);
        }
    assay_profile_close(p);
}

/* Times by bound add up to the time of the layers. */
static void test_sum(void)
{
    struct assay_profile *p = pictured();
    struct assay__roofline r = roofline(p);
    double sum = 0, all = 0;
    for (int b = 0; b < ASSAY__BOUND_COUNT; b++)
        sum += r.time_ns[b];
    for (size_t i = 0; i < COUNT(picture); i++)
        all += picture[i].time_ns;
    CHECK_NEAR(sum, all, 1e-6);
    CHECK_NEAR(r.time_ns[ASSAY__BOUND_OVERHEAD], 3e3, 0);
    CHECK_NEAR(r.time_ns[ASSAY__BOUND_UNKNOWN], 1e5, 0);
    assay_profile_close(p);
}

/* Numbers that no machine has: printed, never placed, never a crash. */
static void test_absurd(void)
{
    static const double values[] = {5e-324, 1e-300, 1e300, 1.7e308};
    struct assay__ceiling_info rows[] = {ceilings[0], ceilings[6], ceilings[12]};
    struct assay_profile *p = pictured();
    struct assay__layer *layers = p->trials[0].layers.items;
    for (size_t i = 0; i < 256; i++) {
        layers[0].flops = values[i & 3];
        layers[0].bytes = values[i >> 2 & 3];
        layers[1].time_ns = values[i >> 4 & 3];
        rows[i % 3].value = values[i >> 6 & 3];
        p->ceilings = rows;
        p->ceiling_count = 3;
        free(draw(p, 80, false));
        p->ceilings = ceilings;
        p->ceiling_count = COUNT(ceilings);
        char *text = draw(p, 80, false);
        CHECK_HAS(text, "Roofline");
        free(text);
    }
    assay_profile_close(p);
}

static void check_nothing(const struct assay_profile *p)
{
    char *text = draw(p, 80, false);
    CHECK_STR(text, "");
    free(text);
}

/* Nothing to draw: nothing is printed. */
static void test_nothing(void)
{
    struct assay_profile *p = pictured();
    p->ceiling_count = 0;
    check_nothing(p);
    p->ceiling_count = COUNT(ceilings);
    p->trials[0].layers.count = 0;
    check_nothing(p);
    p->trials[0].layers.count = COUNT(picture);
    set_device(p, "cuda:0"); /* ceilings of another device */
    check_nothing(p);
    assay_profile_close(p);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"compute", test_compute},
        {"memory", test_memory},
        {"levels", test_levels},
        {"ridge", test_ridge},
        {"weights", test_weights},
        {"overhead", test_overhead},
        {"unknown", test_unknown},
        {"above", test_above},
        {"cores", test_cores},
        {"types", test_types},
        {"accelerator", test_accelerator},
        {"no_ceilings", test_no_ceilings},
        {"metrics", test_metrics},
        {"golden", test_golden},
        {"tables", test_tables},
        {"widths", test_widths},
        {"absurd", test_absurd},
        {"sum", test_sum},
        {"nothing", test_nothing},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
