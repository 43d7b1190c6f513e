/* test_require_report.c - the score and its parts, and requirement tables in reports: text,
 * Markdown, JSON and JUnit, with and without a table. */
#include "require_fixture.h"

#include "cost/score.h"

#include <assay/report.h>

/* --- score ------------------------------------------------------------------------------------ */

static void test_score(void)
{
    struct assay__score score;
    begin();
    assay__score(trial->metrics, true, &score);
    CHECK_NEAR(score.parts[0].points, 40, 0); /* 1,000 per second */
    CHECK(isnan(score.parts[1].points) && isnan(score.points));
    CHECK_NEAR(score.parts[2].points, 20 * 0.25, 1e-12);
    CHECK_INT(assay__score_put(trial->metrics, true), 0);
    CHECK_INT(get("score.efficiency")->state, ASSAY_UNAVAILABLE);
    CHECK_STR(get("score.efficiency")->note,
              "unknown: TOPS/W; known: speed 40.0 of 40, memory 5.0 of 20; "
              "TOPS/W: see efficiency.tops_per_watt");
    assay_metrics_derived(trial->metrics, "efficiency.tops_per_watt", 2.5, "sensors", "");
    CHECK_INT(assay__score_put(trial->metrics, true), 0);
    CHECK_NEAR(get("score.efficiency")->value, 40 + 10 + 5, 1e-12);
    CHECK_STR(get("score.efficiency")->note,
              "speed 40.0 of 40, TOPS/W 10.0 of 40, memory 5.0 of 20");
    /* each part is full at most */
    assay_metrics_measured(trial->metrics, "throughput.inferences", 5000, "clock", "");
    assay_metrics_derived(trial->metrics, "efficiency.tops_per_watt", 50, "sensors", "");
    assay_metrics_derived(trial->metrics, "memory.model", 3000 * MIB, "graph", "");
    assay__score(trial->metrics, true, &score);
    CHECK_NEAR(score.points, 100, 0);
    /* of a device, its own memory counts */
    assay__score(trial->metrics, false, &score);
    CHECK(isnan(score.parts[2].points));
    /* a peak of 0 is no memory to compare with */
    assay_metrics_derived(trial->metrics, "memory.peak.worker", 0, "process", "");
    assay__score(trial->metrics, true, &score);
    CHECK(isnan(score.parts[2].points));
    CHECK_STR(score.parts[2].reason, "peak memory is 0");
    end();
}

/* --- reports ---------------------------------------------------------------------------------- */

static char *render(const char *format, const char *detail)
{
    struct assay_report_options options = {
        .size = sizeof options, .format = format, .detail = detail, .columns = 80, .full = true};
    struct assay_error error = {0};
    char *text = NULL;
    int code = assay_report(profile, &options, &text, NULL, &error);
    if (code) printf("  %s\n", error.message);
    CHECK_INT(code, 0);
    return text;
}

static void test_reports(void)
{
    begin();
    CHECK_INT(assay__require_apply(profile, trial, assay__require_preset("m1")), 0);
    char *text = render("text", NULL);
    CHECK_HAS(text, "m1: minimum NOT MET, target NOT MET.\n");
    CHECK_HAS(text, "\n  compute      =1.00 TFLOP/s  2.00 TFLOP/s  =50.0 %  fail\n");
    CHECK_HAS(text, "\n  bandwidth        =100 GB/s     50.0 GB/s   =200 %  pass\n");
    CHECK_HAS(text, "\n  compute      3.00 TFLOP/s  =33.3 %  fail\n");
    CHECK_HAS(text, "\n  bandwidth       70.0 GB/s   =143 %  pass\n");
    CHECK_HAS(text, "now 1; the table's");
    CHECK_HAS(text,
              "score       — of 100 · speed =40.0 of 40 · TOPS/W — of 40 · memory =5.0 of 20\n");
    CHECK_HAS(text, "GB/s (exceeded here: another device, or caches)");
    CHECK_HAS(text, "Latency  host to host"); /* the whole report stays */
    assay_free(text);
    text = render("text", "basic");
    CHECK_HAS(text, "m1: minimum NOT MET");
    CHECK_HAS(text, "Recommendations");
    CHECK(!strstr(text, "Latency  host to host") && !strstr(text, "Bottlenecks"));
    assay_free(text);
    text = render("text", "detailed");
    CHECK_HAS(text, "Bottlenecks");
    CHECK_HAS(text, "Opportunities");
    CHECK_HAS(text, "Disturbances");
    assay_free(text);
    text = render("markdown", NULL);
    CHECK_HAS(text, "| compute | =1.00 TFLOP/s | 2.00 TFLOP/s | =50.0 % | fail |\n");
    CHECK_HAS(text, "| compute | 3.00 TFLOP/s | =33.3 % | fail |\n");
    assay_free(text);
    struct assay_report_options csv = {
        .size = sizeof csv, .format = "csv", .table = "requirements", .detail = "basic"};
    CHECK_INT(assay_report(profile, &csv, &text, NULL, NULL), 0);
    CHECK_HAS(text, "tflops,compute.rate,1000000000000,FLOP/s,derived,2000000000000,0.5,fail,");
    assay_free(text);
    struct assay_report_options wrong = {.size = sizeof wrong, .detail = "much"};
    struct assay_error error = {0};
    CHECK_INT(assay_report(profile, &wrong, &text, NULL, &error), ASSAY_EINVAL);
    CHECK_HAS(error.message, "detail 'much'");
    end();
}

static void test_no_table(void)
{
    begin();
    char *text = render("text", NULL);
    CHECK(!strstr(text, "Requirements"));
    assay_free(text);
    text = render("text", "basic");
    CHECK_HAS(text, "Requirements\n  None given");
    CHECK_HAS(text, "score       — of 100");
    assay_free(text);
    text = render("json", NULL);
    CHECK(!strstr(text, "\"requirements\"") && !strstr(text, "\"review\""));
    assay_free(text);
    text = render("junit", NULL);
    CHECK_HAS(text, "tests=\"1\" failures=\"0\" errors=\"0\"");
    assay_free(text);
    trial->state = ASSAY__TRIAL_FAILED;
    trial->reason = "the worker died of <SIGSEGV>";
    text = render("junit", NULL);
    CHECK_HAS(text, "<failure message=\"the worker died of &lt;SIGSEGV&gt;\" type=\"failed\"/>");
    assay_free(text);
    end();
}

/* Minimum: failure or error; target: no gate. */
static void test_junit_report(void)
{
    begin();
    CHECK_INT(assay__require_apply(profile, trial,
                                   parse("name <t>; tflops 2 3; memory 2000 500; p99 1ms")),
              0);
    char *text = render("junit", NULL);
    CHECK_HAS(text, "tests=\"6\" failures=\"1\" errors=\"1\" skipped=\"2\"");
    CHECK_HAS(text, "<testcase classname=\"cpu\" name=\"compute minimum\">\n      <failure "
                    "message=\"compute is "
                    "1.00 TFLOP/s, at least 2.00 TFLOP/s: 50.0 %\" type=\"requirement\">");
    CHECK_HAS(text, "<error message=\"latency.p99: needs 662 samples\" type=\"unavailable\"/>");
    CHECK_HAS(text, "<skipped message=\"target not met (not a failure): memory is 1.05 GB, at most "
                    "524 MB: 200 %\"/>");
    CHECK_HAS(text, "<system-out>memory is 1.05 GB, at most 2.10 GB: 50.0 %</system-out>");
    assay_free(text);
    end();
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"score", test_score},
        {"reports", test_reports},
        {"no_table", test_no_table},
        {"junit_report", test_junit_report},
    };
    return harness_main(argc, argv, tests, COUNT(tests));
}
