/* test_ceiling_text.c - ceilings as a document and JSON, from a set made by hand: one core beside
 * all cores, an unavailable row, notes shared by rows, names that try to drive the terminal. Whole
 * outputs are compared with tests/golden/ceilings.*; see golden.h. */
#include "base/file.h"
#include "base/json.h"
#include "golden.h"
#include "report/report_machine.h"
#include "subject_fixture.h"
#include "text_lines.h"

#define NEWER "no such instructions: avx512_fp16 has them"

static struct assay__ceiling row(const char *name, enum assay__ceiling_kind kind, const char *unit,
                                 double low, double median, double high, int threads)
{
    return (struct assay__ceiling){.name = name,
                                   .kind = kind,
                                   .value = kind == ASSAY__CEILING_LATENCY ? low : high,
                                   .unit = unit,
                                   .state = ASSAY_MEASURED,
                                   .source = "clock",
                                   .note = "",
                                   .low = low,
                                   .median = median,
                                   .high = high,
                                   .repeats = 40,
                                   .threads = threads,
                                   .type = "",
                                   .level = "",
                                   .pattern = "",
                                   .simd = "",
                                   .variant = "",
                                   .clock_before_hz = 3.5e9,
                                   .clock_after_hz = NAN};
}

static struct assay__ceiling none(const char *name, const char *unit, int threads)
{
    struct assay__ceiling made = row(name, ASSAY__CEILING_COMPUTE, unit, NAN, NAN, NAN, threads);
    made.state = ASSAY_UNAVAILABLE;
    made.source = "none";
    made.note = NEWER;
    made.repeats = 0;
    made.type = "float16";
    made.clock_before_hz = NAN;
    return made;
}

static struct assay__ceiling rows[8];

static struct assay__ceilings set_of(void)
{
    rows[0] = row("compute.float32.one-core", ASSAY__CEILING_COMPUTE, "FLOP/s", 90e9, 110e9, 120e9,
                  1);
    rows[0].note = "also avx2+fma (vfmadd): 117 GFLOP/s";
    rows[1] = row("compute.float32.all-cores", ASSAY__CEILING_COMPUTE, "FLOP/s", 900e9, 950e9, 1e12,
                  16);
    rows[0].type = rows[1].type = "float32";
    rows[0].simd = "avx512f", rows[1].simd = "avx2+fma";
    rows[0].variant = rows[1].variant = "vfmadd";
    rows[2] = none("compute.float16.one-core", "FLOP/s", 1);
    rows[3] = none("compute.float16.all-cores", "FLOP/s", 16);
    rows[4] = row("compute.int8.one-core", ASSAY__CEILING_COMPUTE, "OP/s", 2e12, 2e12, 2e12, 1);
    rows[4].type = "int8";
    rows[4].simd = "avx512_vnni";
    rows[4].variant = "vpdpbusd\033[2J";
    rows[5] = row("bandwidth.dram.triad.one-core", ASSAY__CEILING_BANDWIDTH, "B/s", 10e9, 11e9,
                  12.5e9, 1);
    rows[6] = row("bandwidth.dram.triad.all-cores", ASSAY__CEILING_BANDWIDTH, "B/s", 30e9, 39e9,
                  40e9, 16);
    for (int i = 5; i < 7; i++) {
        rows[i].level = "dram", rows[i].pattern = "triad", rows[i].simd = "avx512f";
        rows[i].variant = "non-temporal stores";
        rows[i].working_set_bytes = 402653184;
    }
    rows[7] = row("latency.dram", ASSAY__CEILING_LATENCY, "s", 80e-9, 90e-9, 120e-9, 1);
    rows[7].level = "dram";
    rows[7].working_set_bytes = 134217728;
    return (struct assay__ceilings){.key = "",
                                    .measured_at = "2026-05-04T03:02:01Z",
                                    .note = "other work took 12 % of the machine's CPU time",
                                    .duration_s = 16.25,
                                    .steal_share = 0,
                                    .other_share = NAN,
                                    .pinned = true,
                                    .complete = true,
                                    .from_cache = true,
                                    .rows = rows,
                                    .count = 8};
}

/* The set in a view; name NULL: the CPU's. The caller frees. */
static char *view(const struct assay__ceilings *set, const char *name,
                  struct assay_report_options options)
{
    struct assay__doc *doc = NULL;
    CHECK_INT(assay__doc_new(&doc), 0);
    assay__add_ceilings(doc, set, name);
    assay__add_ceiling_rows(assay__add_ceiling_table(doc), set, name ? name : "cpu");
    return document_text(doc, options);
}

static void test_text(void)
{
    struct assay__ceilings set = set_of();
    char *text = view(&set, NULL, (struct assay_report_options){.columns = 100});
    check_golden("ceilings.txt", text);
    free(text);
}

/* A line for each row, in base units. */
static void test_csv(void)
{
    struct assay__ceilings set = set_of();
    set.hardware = "NVIDIA H200";
    char *text = view(&set, "cuda:0", (struct assay_report_options){.format = "csv"});
    check_golden("ceilings.csv", text);
    free(text);
}

/* No line is wider than the page: the CPU's and a device's, with a published peak and without. */
static void test_widths(void)
{
    struct assay__ceilings set = set_of();
    static const char *const devices[] = {NULL, "cuda:0"}, *const cards[] = {"", "NVIDIA H200"};
    for (int columns = 40; columns <= 130; columns++)
        for (int i = 0; i < 4; i++) {
            set.device = devices[i % 2] ? devices[i % 2] : "";
            set.hardware = cards[i / 2];
            char *text = view(&set, devices[i % 2],
                              (struct assay_report_options){.columns = columns, .ascii = true});
            CHECK(strstr(text, i % 2 ? "best" : "one core") != NULL);
            CHECK(strstr(text, "120 GFLOP/s") != NULL);
            check_line_widths(text, columns, "ceilings");
            free(text);
        }
}

static void test_json(void)
{
    struct assay__ceilings set = set_of();
    struct assay__buf out = {0};
    struct assay__json_writer json;
    assay__json_start(&json, &out, true);
    assay__json_object(&json);
    assay__ceilings_json(&json, &set, NULL);
    assay__json_object_end(&json);
    assay__buf_putc(&out, '\n');
    check_golden("ceilings.json", out.data);
    assay__buf_free(&out);
}

static void test_json_without(void)
{
    struct assay__buf out = {0};
    struct assay__json_writer json;
    assay__json_start(&json, &out, false);
    assay__json_object(&json);
    assay__ceilings_json(&json, NULL, "not requested");
    assay__json_object_end(&json);
    CHECK_STR(out.data,
              "{\"ceilings\":{},\"ceilings_state\":\"unavailable\",\"ceilings_note\":\"not "
              "requested\",\"ceilings_measurement\":null}");
    assay__buf_free(&out);
}

/* Nothing measured: the set's state says so, and no number stands anywhere. */
static void test_json_unavailable(void)
{
    struct assay__buf out = {0};
    struct assay__json_writer json;
    struct assay__ceilings set = set_of();
    set.rows = rows + 2;
    set.count = 2;
    set.note = "";
    assay__json_start(&json, &out, false);
    assay__json_object(&json);
    assay__ceilings_json(&json, &set, NULL);
    assay__json_object_end(&json);
    CHECK_HAS(out.data, "\"value\":null");
    CHECK(!strstr(out.data, "\"value\":0"));
    CHECK_HAS(out.data, "\"spread\":null");
    CHECK_HAS(out.data, "\"ceilings_state\":\"unavailable\"");
    CHECK_HAS(out.data, "\"ceilings_note\":\"no row could be measured\"");
    assay__buf_free(&out);
}

static void test_spread(void)
{
    set_of();
    CHECK_NEAR(assay__ceiling_spread(&rows[0]), 0.25, 1e-12);
    CHECK_NEAR(assay__ceiling_spread(&rows[7]), 0.5, 1e-12);
    CHECK_NEAR(assay__ceiling_spread(&rows[4]), 0, 0);
    CHECK(isnan(assay__ceiling_spread(&rows[2])));
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"text", test_text},
        {"csv", test_csv},
        {"widths", test_widths},
        {"json", test_json},
        {"json_without", test_json_without},
        {"json_unavailable", test_json_unavailable},
        {"spread", test_spread},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
