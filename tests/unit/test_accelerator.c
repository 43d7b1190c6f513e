/* test_accelerator.c - an accelerator's ceilings on the fake engine, whose times follow from a
 * made-up device: every value is known exactly. Real worker processes run, crash and hang; no speed
 * of this machine is looked at. The models themselves are checked with ONNX Runtime, by their
 * results. */
#include "base/file.h"
#include "base/json.h"
#include "ceiling/accelerator/accelerator.h"
#include "ceiling/accelerator/accelerator_survey.h"
#include "ceiling/published.h"
#include "engine/ort/ort_abi.h"
#include "harness.h"
#include "report/report_machine.h"
#include "subject_fixture.h"
#include "run/worker/job.h"

#include "engine/engine.h"
#include <unistd.h>

/* --- the made-up device ----------------------------------------------------------------------- */

#define FIXED_NS 100000.0
#define FLOPS 1.048576e12 /* float32: 2 · 256³ operations in 32 µs */
#define COPY_RATE 1.048576e12
#define TRANSFER_RATE 6.7108864e9 /* 64 MiB in 10 ms */

struct device {
    double slower;                /* all of it, so many times; 0: 1 */
    bool no_float16;              /* refuses to load */
    bool crash_bfloat16;          /* dies */
    bool broken;                  /* loads nothing */
    bool flat_matmul;             /* takes the same time whatever the work */
    int64_t largest_n;            /* refuses larger matrices; 0: none */
    int64_t largest_copy;         /* refuses larger tensors */
    int merge_negate, merge_roll; /* so many operators become one; 0: none */
    const char *launch;           /* script of the launch model instead */
    unsigned sleep_ms;            /* of real time before the launch model */
    int runs;
};

static double passes(int64_t length, int merged)
{
    return merged > 1 ? (double)((length + merged - 1) / merged) : (double)length;
}

static double matmul_ns(const struct device *device, const struct assay__accelerator_model *model)
{
    double n = (double)model->size;
    double faster = model->dtype == ASSAY__FLOAT16 ? 2 : model->dtype == ASSAY__INT8 ? 4 : 1;
    if (model->options && strcmp(model->options, "use_tf32=1") == 0) faster = 8;
    double length = device->flat_matmul ? 1 : (double)model->length;
    return length * 2 * n * n * n / (FLOPS * faster) * 1e9;
}

static double work_ns(const struct device *device, const struct assay__accelerator_model *model)
{
    double bytes = 4 * (double)model->size;
    switch (model->shape) {
    case ASSAY__SHAPE_LAUNCH: return 0;
    case ASSAY__SHAPE_MATMUL:
    case ASSAY__SHAPE_MATMUL_INTEGER: return matmul_ns(device, model);
    case ASSAY__SHAPE_COPY_NEGATE:
        return (passes(model->length, device->merge_negate) + 0.5) * 2 * bytes / COPY_RATE * 1e9;
    case ASSAY__SHAPE_COPY_ROLL: /* twice the traffic that is counted */
        return (2 * passes(model->length, device->merge_roll) + 0.5) * 2 * bytes / COPY_RATE * 1e9;
    case ASSAY__SHAPE_TRANSFER_IN: return bytes / TRANSFER_RATE * 1e9;
    case ASSAY__SHAPE_TRANSFER_OUT: return bytes / (2 * TRANSFER_RATE) * 1e9;
    }
    return 0;
}

/* What a second, slower repeat takes more, so that low, median and high differ. */
static const char *script(void *context, const struct assay__accelerator_model *model)
{
    static char text[256];
    struct device *device = context;
    bool copies = model->shape == ASSAY__SHAPE_COPY_NEGATE ||
                  model->shape == ASSAY__SHAPE_COPY_ROLL;
    bool matmul = model->shape == ASSAY__SHAPE_MATMUL;
    device->runs++;
    if (device->sleep_ms && model->shape == ASSAY__SHAPE_LAUNCH) usleep(device->sleep_ms * 1000);
    if (device->broken) return "open_error=nothing loads here";
    if (device->launch && model->shape == ASSAY__SHAPE_LAUNCH) return device->launch;
    if (matmul && device->no_float16 && model->dtype == ASSAY__FLOAT16)
        return "open_error=no half precision here";
    if (matmul && device->crash_bfloat16 && model->dtype == ASSAY__BFLOAT16) return "crash_at=1";
    if (matmul && device->largest_n && model->size > device->largest_n)
        return "open_error=out of device memory";
    if (copies && device->largest_copy && model->size > device->largest_copy)
        return "open_error=the buffer is too large";
    double ns = (FIXED_NS + work_ns(device, model)) * (device->slower > 0 ? device->slower : 1);
    snprintf(text, sizeof text, "first=5ms;steady=%.0fns,%.0fns,%.0fns", 2 * ns, ns, ns);
    return text;
}

/* --- measuring it ----------------------------------------------------------------------------- */

static char folder[256];
static struct assay__arena *arena;
static struct assay__machine machine;

static void begin(void)
{
    CHECK_INT(assay__folder_temporary(folder, sizeof folder, NULL), 0);
    setenv("XDG_CACHE_HOME", folder, 1);
    setenv("ASSAY_WORKER", ASSAY_TEST_BUILD "/assay-worker", 0);
    unsetenv("ASSAY_FSROOT");
    arena = assay__arena_new();
    CHECK(arena != NULL);
    CHECK_INT(assay__machine_read(arena, &machine), 0);
}

static void end(void)
{
    assay__folder_remove(folder);
    assay__arena_free(arena);
}

static struct assay__accelerator accelerator_of(struct device *device)
{
    return (struct assay__accelerator){.engine = "fake",
                                       .device = "cpu",
                                       .identity = "one",
                                       .own_memory = true,
                                       .script = script,
                                       .script_context = device};
}

static struct assay__ceilings *get(struct device *device, const char *only)
{
    struct assay__accelerator accelerator = accelerator_of(device);
    struct assay__ceiling_options options = {.only = only};
    struct assay__ceilings *set = NULL;
    struct assay_error error = {0};
    int code = assay__accelerator_ceilings_get(arena, &machine, &accelerator, &options, &set,
                                               &error);
    if (code) printf("  %s\n", error.message);
    CHECK_INT(code, 0);
    return set;
}

static const struct assay__ceiling *row_of(const struct assay__ceilings *set, const char *name)
{
    const struct assay__ceiling *row = assay__ceilings_find(set, name);
    if (!row) harness_fail(__FILE__, __LINE__, name);
    return row;
}

static void check_value(const struct assay__ceilings *set, const char *name, double expected)
{
    const struct assay__ceiling *row = row_of(set, name);
    if (row->state != ASSAY_MEASURED) printf("  %s: %s\n", name, row->note);
    CHECK_INT(row->state, ASSAY_MEASURED);
    CHECK_NEAR(row->value / expected, 1, 1e-6); /* the script's times are whole nanoseconds */
    CHECK(row->low <= row->median && row->median <= row->high && row->repeats >= 3);
    CHECK_INT(row->threads, 0);
    CHECK(isnan(row->clock_before_hz) || row->clock_before_hz > 0);
}

static void check_missing(const struct assay__ceilings *set, const char *name, const char *why)
{
    const struct assay__ceiling *row = row_of(set, name);
    CHECK_INT(row->state, ASSAY_UNAVAILABLE);
    CHECK(isnan(row->value) && isnan(row->low) && isnan(row->median) && isnan(row->high));
    CHECK_INT(row->repeats, 0);
    CHECK_HAS(row->note, why);
}

/* --- what it gives ---------------------------------------------------------------------------- */

static void test_values(void)
{
    struct device device = {0};
    begin();
    struct assay__ceilings *set = get(&device, NULL);
    CHECK_INT(set->count, 8);
    CHECK(set->complete && !set->from_cache);
    CHECK_STR(set->device, "cpu");
    CHECK_HAS(set->note, "clock not known: ");
    check_value(set, "latency.launch", FIXED_NS / 1e9);
    const struct assay__ceiling *row = row_of(set, "latency.launch");
    CHECK_NEAR(row->low, 100e-6, 1e-15); /* two of three repeats; the third takes twice as long */
    CHECK_NEAR(row->median, 100e-6, 1e-15);
    CHECK_NEAR(row->high, 200e-6, 1e-15);
    CHECK_STR(row->unit, "s");
    check_value(set, "compute.float32.matmul", FLOPS);
    row = row_of(set, "compute.float32.matmul");
    CHECK_STR(row->variant, "N=4096");
    CHECK_STR(row->unit, "FLOP/s");
    CHECK_HAS(row->note, "2 N^3 (K-k) / (time of K products - shortest of k), N=4096, K=2, k=1");
    CHECK_HAS(row->note, "whole chains: N=256: 589 GFLOP/s, N=2048: 1.05 TFLOP/s, N=4096: ");
    /* the first type's inference has shown what one costs besides its products: 0.1 ms of 131.172
     * and of 262.244 */
    check_value(set, "compute.float16.matmul", 2 * FLOPS * 131.072 / 131.172);
    check_value(set, "compute.bfloat16.matmul", FLOPS * 262.144 / 262.244);
    CHECK_HAS(row_of(set, "compute.float16.matmul")->note, "2 N^3 K / time, N=4096, K=2");
    check_value(set, "compute.int8.matmul", 4 * FLOPS);
    CHECK_STR(row_of(set, "compute.int8.matmul")->unit, "OP/s");
    check_value(set, "bandwidth.device.copy", COPY_RATE);
    row = row_of(set, "bandwidth.device.copy");
    CHECK_STR(row->variant, "negation");
    CHECK_HAS(row->note, "negation of 1024 MiB");
    CHECK_INT(row->working_set_bytes, 2ll << 30);
    check_value(set, "bandwidth.transfer.in", TRANSFER_RATE);
    check_value(set, "bandwidth.transfer.out", 2 * TRANSFER_RATE);
    CHECK_HAS(row_of(set, "bandwidth.transfer.in")->note, "(256-64) MiB");
    end();
}

/* The slow end: small matrices, small tensors, and the value is the device's all the same. */
static void test_slow_device(void)
{
    struct device device = {.slower = 50};
    begin();
    struct assay__ceilings *set = get(&device, NULL);
    check_value(set, "compute.float32.matmul", FLOPS / 50);
    CHECK_STR(row_of(set, "compute.float32.matmul")->variant, "N=1024");
    check_value(set, "bandwidth.device.copy", COPY_RATE / 50);
    CHECK_HAS(row_of(set, "bandwidth.device.copy")->note, "negation of 64 MiB");
    check_value(set, "bandwidth.transfer.in", TRANSFER_RATE / 50);
    CHECK_HAS(row_of(set, "bandwidth.transfer.in")->note, "(64-16) MiB");
    end();
}

/* Merged operators are found out by the time, wholly merged or in groups; the next pattern is
 * taken. */
static void test_merged_copies(void)
{
    begin();
    static const int groups[] = {1000, 8, 4};
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        struct device device = {.merge_negate = groups[i]};
        struct assay__accelerator accelerator = accelerator_of(&device);
        struct assay__ceiling_options options = {.only = "bandwidth.device", .remeasure = true};
        struct assay__ceilings *set = NULL;
        CHECK_INT(
            assay__accelerator_ceilings_get(arena, &machine, &accelerator, &options, &set, NULL),
            0);
        CHECK_INT(set->count, 1);
        check_value(set, "bandwidth.device.copy", COPY_RATE / 2); /* never above the truth */
        CHECK_STR(set->rows[0].variant, "rolling");
        CHECK_HAS(set->rows[0].note, "not kept: negation: 10 operators take ");
    }
    struct device both = {.merge_negate = 1000, .merge_roll = 1000, .slower = 2};
    struct assay__ceilings *set = get(&both, "bandwidth.device.copy");
    check_missing(set, "bandwidth.device.copy", "negation: 10 operators take ");
    check_missing(set, "bandwidth.device.copy", "; rolling: 10 operators take ");
    end();
}

static void test_work_not_done(void)
{
    struct device device = {.flat_matmul = true};
    begin();
    check_missing(get(&device, "compute.float32"), "compute.float32.matmul",
                  "the time does not grow with the work");
    end();
}

/* One type is refused, another kills its worker; the rest is measured. */
static void test_refused_and_crashed(void)
{
    struct device device = {.no_float16 = true, .crash_bfloat16 = true};
    begin();
    struct assay__ceilings *set = get(&device, NULL);
    check_missing(set, "compute.float16.matmul", "no half precision here");
    check_missing(set, "compute.bfloat16.matmul", "worker crashed: SIGSEGV");
    check_value(set, "compute.float32.matmul", FLOPS);
    check_value(set, "compute.int8.matmul", 4 * FLOPS);
    CHECK(set->complete);
    end();
}

/* Sizes that the device cannot hold cost nothing but themselves. */
static void test_limits(void)
{
    struct device device = {.largest_n = 2048, .largest_copy = 16 << 20};
    begin();
    struct assay__ceilings *set = get(&device, NULL);
    check_value(set, "compute.float32.matmul", FLOPS);
    CHECK_STR(row_of(set, "compute.float32.matmul")->variant, "N=2048");
    CHECK_HAS(row_of(set, "compute.float32.matmul")->note, "N=4096: out of device memory");
    check_value(set, "bandwidth.device.copy", COPY_RATE);
    CHECK_HAS(row_of(set, "bandwidth.device.copy")->note, "negation of 64 MiB");
    end();
}

static void test_nothing_runs(void)
{
    struct device device = {.broken = true};
    begin();
    struct assay__ceilings *set = get(&device, NULL);
    CHECK_INT(set->count, 8);
    CHECK_INT(device.runs, 2); /* the launch and one matmul: then it is believed */
    check_missing(set, "latency.launch", "nothing loads here");
    check_missing(set, "compute.int8.matmul", "no model runs on it: nothing loads here");
    check_missing(set, "bandwidth.transfer.out", "no model runs on it");
    device.broken = false; /* not kept: it may work the next time */
    check_value(get(&device, NULL), "compute.float32.matmul", FLOPS);
    end();
}

static void test_main_memory(void)
{
    struct device device = {0};
    struct assay__ceilings *set = NULL;
    begin();
    struct assay__accelerator accelerator = accelerator_of(&device);
    accelerator.own_memory = false;
    struct assay__ceiling_options options = {.only = "bandwidth.transfer"};
    CHECK_INT(assay__accelerator_ceilings_get(arena, &machine, &accelerator, &options, &set, NULL),
              0);
    CHECK_INT(device.runs, 0);
    check_missing(set, "bandwidth.transfer.in", "uses main memory:");
    check_missing(set, "bandwidth.transfer.out", "uses main memory:");
    end();
}

/* --- time, interruption, the file ------------------------------------------------------------- */

static void test_budget(void)
{
    struct device device = {.sleep_ms = 4100};
    struct assay__ceilings *set = NULL;
    begin();
    struct assay__accelerator accelerator = accelerator_of(&device);
    struct assay__ceiling_options options = {.budget_s = 4};
    CHECK_INT(assay__accelerator_ceilings_get(arena, &machine, &accelerator, &options, &set, NULL),
              0);
    CHECK(!set->complete);
    CHECK_INT(set->count, 8);
    CHECK_HAS(set->note, "not saved for next time: there was not enough time");
    CHECK_INT(row_of(set, "latency.launch")->state, ASSAY_MEASURED);
    check_missing(set, "compute.float32.matmul", "not reached: the limit of 4 s was used up");
    check_missing(set, "compute.int8.matmul", "not reached: the limit of 4 s was used up");
    check_missing(set, "bandwidth.device.copy", "not reached: the limit of 4 s was used up");
    CHECK_INT(device.runs, 1);
    CHECK(!get(&device, "latency")->from_cache);
    end();
}

/* A run that hangs ends with the time that was given, not later. */
static void test_hang_ends(void)
{
    struct device device = {.launch = "hang_at=1"};
    struct assay__ceilings *set = NULL;
    begin();
    struct assay__accelerator accelerator = accelerator_of(&device);
    struct assay__ceiling_options options = {.budget_s = 0.5};
    CHECK_INT(assay__accelerator_ceilings_get(arena, &machine, &accelerator, &options, &set, NULL),
              0);
    check_missing(set, "latency.launch", "the limit of 0.5 s was used up");
    CHECK(!set->complete && set->duration_s >= 0.47);
    end();
}

static volatile int stop;

static bool stop_at(void *context, const char *name)
{
    if (strcmp(name, context) == 0) stop = 1;
    return false;
}

static bool end_at(void *context, const char *name)
{
    return strcmp(name, context) == 0;
}

static void test_interrupt(void)
{
    struct device device = {0};
    struct assay__ceilings *set = NULL;
    struct assay_error error = {0};
    begin();
    struct assay__accelerator accelerator = accelerator_of(&device);
    struct assay__ceiling_options options = {.progress = end_at,
                                             .context = "compute.float32.matmul"};
    CHECK_INT(
        assay__accelerator_ceilings_get(arena, &machine, &accelerator, &options, &set, &error),
        ASSAY_EINTERRUPTED);
    CHECK(set && device.runs == 1);
    CHECK(!set->complete && set->count == 1 && isfinite(set->rows[0].value));
    CHECK_STR(set->rows[0].name, "latency.launch");
    CHECK_HAS(set->note, "interrupted");
    CHECK_HAS(error.message, "interrupted");
    options.progress = stop_at;
    options.interrupt = &stop;
    CHECK_INT(
        assay__accelerator_ceilings_get(arena, &machine, &accelerator, &options, &set, &error),
        ASSAY_EINTERRUPTED);
    CHECK_INT(device.runs, 2);
    end();
}

static void test_kept(void)
{
    struct device device = {0};
    struct assay__ceilings *first, *again = NULL;
    begin();
    first = get(&device, NULL);
    int runs = device.runs;
    again = get(&device, NULL);
    CHECK(again->from_cache && again->count == first->count);
    CHECK_INT(device.runs, runs);
    CHECK_STR(again->device, "cpu");
    for (size_t i = 0; i < first->count; i++) {
        CHECK_STR(again->rows[i].name, first->rows[i].name);
        CHECK(again->rows[i].value == first->rows[i].value);
        CHECK_STR(again->rows[i].note, first->rows[i].note);
    }
    struct assay__accelerator other = accelerator_of(&device);
    struct assay__ceiling_options options = {.only = "latency"};
    static const char *const identities[] = {"one", "two", "two"};
    for (size_t i = 0; i < 3; i++) { /* another identity is another machine */
        other.identity = identities[i];
        CHECK_INT(assay__accelerator_ceilings_get(arena, &machine, &other, &options, &again, NULL),
                  0);
        CHECK_INT(again->from_cache, i == 2);
    }
    options.remeasure = true;
    CHECK_INT(assay__accelerator_ceilings_get(arena, &machine, &other, &options, &again, NULL), 0);
    CHECK(!again->from_cache);
    setenv("ASSAY_FSROOT", folder, 1);
    CHECK_INT(assay__accelerator_ceilings_get(arena, &machine, &other, &options, &again, NULL),
              ASSAY_EUNSUPPORTED);
    unsetenv("ASSAY_FSROOT");
    end();
}

/* --- beside what is published ----------------------------------------------------------------- */

static void test_published(void)
{
    struct device device = {0};
    struct assay__ceilings *set = NULL;
    struct assay__published peak;
    struct assay__buf json = {0};
    struct assay__doc *doc = NULL;
    struct assay__json *root = NULL;
    struct assay__json_writer writer;
    CHECK(assay__published_find("NVIDIA H200", "compute.float16.matmul", &peak));
    CHECK_NEAR(peak.value, 989.5e12, 0);
    CHECK(!assay__published_find("NVIDIA H200", "latency.launch", &peak));
    CHECK(!assay__published_find("NVIDIA H2000", "compute.float16.matmul", &peak));
    CHECK(!assay__published_find("", "compute.float16.matmul", &peak));
    CHECK(!assay__published_find(NULL, "compute.float16.matmul", &peak));
    CHECK(!assay__published_find("Tesla T4", "compute.bfloat16.matmul", &peak));
    begin();
    struct assay__accelerator accelerator = accelerator_of(&device);
    accelerator.hardware = "NVIDIA A10";
    struct assay__ceiling_options options = {.only = "compute.float32"};
    CHECK_INT(assay__accelerator_ceilings_get(arena, &machine, &accelerator, &options, &set, NULL),
              0);
    CHECK_INT(assay__doc_new(&doc), 0);
    assay__add_ceilings(doc, set, set->device);
    char *text = document_text(doc, (struct assay_report_options){.columns = 100});
    CHECK_HAS(text, "Ceilings of cpu  NVIDIA A10\n");
    CHECK_HAS(text, "float32 matmul");
    CHECK_HAS(text, "=3.36 %"); /* 1.049 ÷ 31.2 */
    CHECK_HAS(text, "31.2 TFLOP/s (published)");
    CHECK_HAS(text, "NVIDIA A10 data sheet");
    free(text);
    assay__json_start(&writer, &json, true);
    assay__json_object(&writer);
    assay__ceilings_json(&writer, set, "");
    assay__json_object_end(&writer);
    CHECK_INT(assay__json_parse(arena, json.data, json.length, &root, NULL), 0);
    const struct assay__json *row = assay__json_get(assay__json_get(root, "ceilings"),
                                                    "compute.float32.matmul");
    CHECK_NEAR(assay__json_get_number(row, "share", NAN), FLOPS / 31.2e12, 1e-6);
    const struct assay__json *published = assay__json_get(row, "published");
    CHECK_NEAR(assay__json_get_number(published, "value", NAN), 31.2e12, 1);
    CHECK_STR(assay__json_get_string(published, "state", ""), "published");
    CHECK_HAS(assay__json_get_string(published, "source", ""), "NVIDIA A10");
    assay__buf_free(&json);
    end();
}

/* --- the card and its clock ------------------------------------------------------------------- */

/* What is known of a CUDA device beside a library of two GPUs that have different names. */
static void check_card(const char *name, const char *hardware, double hz, const char *why)
{
    struct assay__accelerator accelerator = {.engine = "ort", .device = name};
    struct assay__accelerator_survey survey = {.arena = assay__arena_new(),
                                               .accelerator = &accelerator};
    const char *found = NULL;
    assay__accelerator_clock_open(&survey, &found);
    double clock = assay__accelerator_clock_hz(&survey);
    if (hardware)
        CHECK_STR(found, hardware);
    else
        CHECK(!found);
    CHECK(isnan(hz) ? isnan(clock) : clock == hz);
    if (why) CHECK_HAS(survey.clock_why, why);
    CHECK((survey.clock_why != NULL) == isnan(hz));
    assay__accelerator_clock_close(&survey);
    assay__arena_free(survey.arena);
}

static void test_card(void)
{
    unsetenv("ASSAY_FSROOT");
    unsetenv("CUDA_VISIBLE_DEVICES");
    unsetenv("CUDA_DEVICE_ORDER");
    setenv("ASSAY_NVML_LIBRARY", ASSAY_TEST_BUILD "/tests/lib/lib_fake_nvml.so", 1);
    setenv("FAKE_NVML", "", 1);
    /* CUDA's order is not NVML's: which of the two it is is not known */
    check_card("cuda:0", NULL, NAN, "several GPUs");
    setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
    check_card("cuda:0", "Fake GPU A", 1965e6, NULL);
    check_card("tensorrt:0", "Fake GPU A", 1965e6, NULL);
    check_card("cuda:7", NULL, NAN, "several GPUs");
    setenv("CUDA_VISIBLE_DEVICES", "1", 1);
    check_card("cuda:0", NULL, NAN, "several GPUs");
    setenv("ASSAY_NVML_LIBRARY", "/nowhere/libnvidia-ml.so", 1);
    check_card("cuda:0", NULL, NAN, "/nowhere/libnvidia-ml.so");
    check_card("webgpu:0", NULL, NAN, "known for this device");
}

/* --- the models ------------------------------------------------------------------------------- */

/* The model's output on the CPU, its first number. */
static float result_of(const struct assay__accelerator_model *model)
{
    static float data[4096];
    const struct assay__engine_ops *ort = assay__engine_find("ort");
    struct assay__input_plan input;
    struct assay_error error = {0};
    struct assay__session *session = NULL;
    const struct assay__host_tensor *outputs;
    size_t count;
    char path[300];
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    CHECK_INT(assay__accelerator_model_write(model, arena, path, &input, &error), 0);
    CHECK(input.bytes <= sizeof data);
    CHECK_INT(assay__input_fill(&input, data, &error), 0);
    struct assay__host_tensor x = {.name = input.name,
                                   .dtype = (int)input.dtype,
                                   .rank = input.rank,
                                   .dims = input.dims,
                                   .data = data,
                                   .data_size = input.bytes};
    struct assay__session_options options = {.size = sizeof options,
                                             .model_path = path,
                                             .threads = 1,
                                             .spinning = -1,
                                             .inputs = &x,
                                             .input_count = 1,
                                             .strict = true};
    int code = ort->open(&options, &session, &error);
    if (code) printf("  %s\n", error.message);
    CHECK_INT(code, 0);
    CHECK_INT(ort->step(session, 0), 0);
    CHECK_INT(ort->outputs(session, &outputs, &count, &error), 0);
    CHECK_INT(count, 1);
    CHECK_INT(outputs[0].dtype, ASSAY__FLOAT32);
    CHECK(outputs[0].data_size >= sizeof(float));
    float first = *(const float *)outputs[0].data;
    if (model->shape == ASSAY__SHAPE_TRANSFER_OUT) CHECK_INT(outputs[0].data_size, 4 * model->size);
    ort->close(session);
    return first;
}

static void ort_or_skip(void)
{
    static struct assay__ort ort;
    struct assay_error error = {0};
    if (access(ASSAY_TEST_BUILD "/onnxruntime", F_OK) == 0)
        setenv("ASSAY_ORT_LIBRARY", ASSAY_TEST_BUILD "/onnxruntime", 0);
    if (assay__ort_load(NULL, &ort, &error)) SKIP(error.message);
}

static void test_models(void)
{
    ort_or_skip();
    begin();
    struct assay__accelerator_model model = {ASSAY__SHAPE_LAUNCH, ASSAY__FLOAT32, 1, 1, NULL};
    CHECK_NEAR(result_of(&model), 2, 0);
    /* every product of the chain is W again: neither grows nor fades */
    static const enum assay__dtype types[] = {ASSAY__FLOAT32, ASSAY__FLOAT16};
    static const double tolerance[] = {1e-4, 0.05};
    for (size_t i = 0; i < 2; i++) {
        model = (struct assay__accelerator_model){ASSAY__SHAPE_MATMUL, types[i], 64, 1, NULL};
        double once = (double)result_of(&model);
        CHECK(fabs(once) > 0.25 / 8 && fabs(once) < 2.5 / 8); /* |a| |b|, b about 1/√64 */
        model.length = 40;
        CHECK_NEAR((double)result_of(&model) / once, 1, tolerance[i]);
    }
    /* a tall aᵀ-scaled matrix: rows 1 … of W times W, whole numbers */
    model = (struct assay__accelerator_model){ASSAY__SHAPE_MATMUL_INTEGER, ASSAY__INT8, 32, 3,
                                              NULL};
    double product = (double)result_of(&model);
    CHECK(product == floor(product) && fabs(product) < 32.0 * 64 * 64);
    /* an even number of negations changes nothing, an odd one the sign */
    model = (struct assay__accelerator_model){ASSAY__SHAPE_COPY_NEGATE, ASSAY__FLOAT32, 9 * 1024, 2,
                                              NULL};
    double kept = (double)result_of(&model);
    model.length = 3;
    CHECK_NEAR((double)result_of(&model), -kept, 0);
    /* nine rows moved by three, three times: as before */
    model.shape = ASSAY__SHAPE_COPY_ROLL;
    CHECK_NEAR((double)result_of(&model), kept, 0);
    model.length = 1;
    CHECK((double)result_of(&model) != kept);
    model = (struct assay__accelerator_model){ASSAY__SHAPE_TRANSFER_IN, ASSAY__FLOAT32, 1000, 1,
                                              NULL};
    CHECK_NEAR(result_of(&model), 1, 0);
    model.shape = ASSAY__SHAPE_TRANSFER_OUT;
    CHECK_NEAR(result_of(&model), 1, 0);
    struct assay__input_plan input;
    model.length = 64;
    CHECK_INT(assay__accelerator_model_write(&model, arena, "unused", &input, NULL), ASSAY_EINVAL);
    end();
}

/* What a job asks of its session reaches the worker. */
static void test_job(void)
{
    struct assay__job sent = {.engine = "ort",
                              .streams = 1,
                              .strict = true,
                              .provider_options = "use_tf32=0;device_id=1"},
                      got;
    struct assay__buf text = {0};
    struct assay__arena *own = assay__arena_new();
    assay__job_write(&sent, &text);
    CHECK_INT(assay__job_read(text.data, text.length, own, &got, NULL), 0);
    CHECK(got.strict);
    CHECK_STR(got.provider_options, "use_tf32=0;device_id=1");
    sent.strict = false;
    sent.provider_options = NULL;
    text.length = 0;
    assay__job_write(&sent, &text);
    CHECK_INT(assay__job_read(text.data, text.length, own, &got, NULL), 0);
    CHECK(!got.strict && !got.provider_options);
    assay__buf_free(&text);
    assay__arena_free(own);
}

static void test_provider_options(void)
{
    ort_or_skip();
    begin();
    struct assay__accelerator_model model = {ASSAY__SHAPE_LAUNCH, ASSAY__FLOAT32, 1, 1, NULL};
    struct assay__input_plan input;
    struct assay_error error = {0};
    struct assay__session *session = NULL;
    char path[300];
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    CHECK_INT(assay__accelerator_model_write(&model, arena, path, &input, &error), 0);
    struct assay__session_options options = {
        .size = sizeof options, .model_path = path, .spinning = -1, .provider_options = "nonsense"};
    CHECK_INT(assay__engine_find("ort")->open(&options, &session, &error), ASSAY_EINVAL);
    CHECK_HAS(error.message, "key=value");
    options.provider_options = "a=1;b=2;c=3;d=4;e=5;f=6;g=7;h=8;i=9";
    CHECK_INT(assay__engine_find("ort")->open(&options, &session, &error), ASSAY_EINVAL);
    CHECK(session == NULL);
    end();
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"values", test_values},
        {"slow_device", test_slow_device},
        {"merged_copies", test_merged_copies},
        {"work_not_done", test_work_not_done},
        {"refused_and_crashed", test_refused_and_crashed},
        {"limits", test_limits},
        {"nothing_runs", test_nothing_runs},
        {"main_memory", test_main_memory},
        {"budget", test_budget},
        {"hang_ends", test_hang_ends},
        {"interrupt", test_interrupt},
        {"kept", test_kept},
        {"published", test_published},
        {"card", test_card},
        {"models", test_models},
        {"job", test_job},
        {"provider_options", test_provider_options},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
