/* test_report_marks.c - Markdown says how each number is known, as the text does: comparison,
 * sweep, tuning, findings, counters of time. Also what the head of a page tells: every model of a
 * comparison, a version that is no wider than the page, samples and warm-up named apart. */
#include "facts_fixture.h"

#include "base/text.h"
#include "profile/profile.h"
#include "report/figure/figure.h"

#include <assay/assay.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static char *render(const struct assay_profile *p, struct assay_report_options asked)
{
    char *text = NULL;
    size_t length = 0;
    asked.size = sizeof asked;
    asked.full = true;
    CHECK_INT(assay_report(p, &asked, &text, &length, NULL), 0);
    CHECK(text != NULL);
    return text;
}

static char *markdown(const struct assay_profile *p)
{
    return render(p, (struct assay_report_options){.format = "markdown"});
}

static struct assay_profile *profile_of(const char *command)
{
    struct assay_profile *p = assay__profile_new();
    CHECK(p != NULL);
    assay__profile_set_command(p, command);
    p->complete = true;
    p->models[0]->name = "first";
    return p;
}

/* Launches whose medians lie `spread` apart; memory is derived, energy estimated, the rest
 * measured. */
static struct assay__trial *add(struct assay_profile *p, const char *label, double latency_s,
                                double spread)
{
    struct assay__trial *trial = assay__profile_trial(p);
    CHECK(trial != NULL);
    fact(p, trial, "label", label);
    fact(p, trial, "role", "");
    fact(p, trial, "goal", "throughput");
    trial->target.device = "cpu";
    trial->state = ASSAY__TRIAL_OK;
    for (int i = -2; i <= 2; i++) {
        struct assay__launch *launch = assay__trial_launch(p, trial);
        launch->state = ASSAY__TRIAL_OK;
        launch->p50_ns = latency_s * 1e9 * (1 + spread * i);
    }
    assay_metrics_measured(trial->metrics, "latency.p50", latency_s, "", "");
    assay_metrics_derived(trial->metrics, "throughput.samples", 1 / latency_s, "", "");
    assay_metrics_derived(trial->metrics, "memory.peak.worker", 73.1e6, "", "");
    const struct assay_metric energy = {"energy.inference.gross", 0.25, "J",
                                        ASSAY_ESTIMATED,          "",   ""};
    CHECK_INT(assay_metrics_put(trial->metrics, &energy), 0);
    return trial;
}

/* --- marks ------------------------------------------------------------------------------------ */

static void test_comparison(void)
{
    struct assay_profile *p = profile_of("compare");
    add(p, "cpu", 0.002, 0.001);
    struct assay__trial *npu = add(p, "npu", 0.001, 0.001);
    assay_metrics_derived(npu->metrics, "drift.relative_l2", 0.001, "", "");
    char *text = markdown(p);
    CHECK_HAS(text, "| cpu | 2.00 ms | =500 /s | =73.1 MB | \\~250 mJ |");
    CHECK_HAS(text, "| **npu** |  | =2 × (");
    CHECK_HAS(text, "| **npu** | =0.001 |");
    assay_free(text);
    assay_profile_close(p);
}

static void test_sweep(void)
{
    struct assay_profile *p = profile_of("sweep");
    add(p, "batch=1", 0.010, 0.001);
    add(p, "batch=2", 0.005, 0.05);
    add(p, "batch=4", 0.00505, 0.05); /* its launches and those of the one before overlap */
    char *text = markdown(p), *page = render(p, (struct assay_report_options){.columns = 200});
    CHECK_HAS(text, "| 1 | 10.0 ms | =100 /s | =73.1 MB | \\~250 mJ |");
    CHECK_HAS(text, "| tied | batch=4: ");
    CHECK_HAS(page, "  tied        batch=4: ");
    CHECK(strstr(text, "batch=1: not distinguishable") == NULL);
    assay_free(text);
    assay_free(page);
    assay_profile_close(p);
}

static void test_tune(void)
{
    struct assay_profile *p = profile_of("tune");
    static const char *const labels[] = {"threads=1", "threads=2"};
    for (size_t i = 0; i < COUNT(labels); i++) {
        struct assay__trial *trial = add(p, labels[i], 0.004 / (double)(i + 1), 0.001);
        trial->role = i ? ASSAY__ROLE_FINALIST : ASSAY__ROLE_START;
    }
    char *text = markdown(p);
    CHECK_HAS(text, "| **2** | 5 | 2.00 ms | ");
    CHECK_HAS(text, " | =250 /s | =73.1 MB | \\~250 mJ | ");
    assay_free(text);
    assay_profile_close(p);
}

static void test_findings(void)
{
    static const char *assumed[] = {"40 allocations",
                                    "estimated at 50 ns each: 3 % of the latency"};
    static const char *shares[] = {"Conv takes 40 % of the latency"};
    struct assay__finding findings[] = {{.id = "a",
                                         .severity = "low",
                                         .title = "allocations",
                                         .gain_estimated = true,
                                         .evidence = assumed,
                                         .evidence_count = COUNT(assumed)},
                                        {.id = "b",
                                         .severity = "low",
                                         .title = "layout",
                                         .evidence = shares,
                                         .evidence_count = COUNT(shares)}};
    struct assay_profile *p = profile_of("run");
    add(p, "cpu", 0.001, 0.001);
    for (size_t i = 0; i < COUNT(findings); i++) {
        findings[i].advice = findings[i].effort = findings[i].state = findings[i].reason = "";
        findings[i].verified_of = findings[i].tried = findings[i].drift_note = "";
        findings[i].expected_gain = 1.25;
        findings[i].verified_gain = findings[i].energy_saving = NAN;
    }
    p->findings = findings, p->finding_count = COUNT(findings);
    char *text = markdown(p);
    CHECK_HAS(text, "low; not tried; at most about 1.25 × ");
    CHECK_HAS(text, "low; not tried; at most 1.25 × ");
    assay_free(text);
    assay_profile_close(p);
}

static void test_counters_of_time(void)
{
    static const char *names[] = {"elapsed", "task-clock", "page-faults"};
    static double values[] = {3.09e-6, 2.5e-6, 0.125};
    struct assay__class_counters class = {
        .op = "Conv", .layers = 3, .time_ns = 4e3, .values = values};
    struct assay_profile *p = profile_of("counters");
    struct assay__trial *trial = add(p, "cpu", 0.001, 0.001);
    trial->counter_names = names, trial->counter_count = COUNT(names);
    trial->class_counters = &class, trial->class_counter_count = 1;
    char *text = markdown(p);
    CHECK_HAS(text, "| Conv | 3 | 4.00 µs | 3.09 µs | 2.50 µs | 0.125 |");
    assay_free(text);
    assay_profile_close(p);
}

/* --- the head --------------------------------------------------------------------------------- */

static void test_two_models(void)
{
    struct assay_profile *p = profile_of("compare");
    p->models[0]->parameters = 13220;
    add(p, "1: first", 0.002, 0.001);
    for (int i = 0; i < 2; i++) { /* the same model on two devices is told once */
        struct assay__trial *other = add(p, i ? "3: lora" : "2: lora", 0.001, 0.001);
        fact(p, other, "model", "lora\x1b[31m");
        fact(p, other, "parameters", "602112");
        assay_metrics_derived(other->metrics, "memory.model", 2408452, "", "");
    }
    char *text = render(p, (struct assay_report_options){.columns = 80}), *forge = markdown(p);
    CHECK(strncmp(text, "first and lora", 14) == 0);
    CHECK_HAS(text, "  model       first · 13.2 k parameters\n");
    CHECK_HAS(text, " · 602 k parameters · 2.41 MB of weights\n");
    CHECK(strchr(text, '\x1b') == NULL && strchr(forge, '\x1b') == NULL);
    const char *row = strstr(text, "602 k parameters");
    CHECK(row && strstr(row + 1, "602 k parameters") == NULL);
    CHECK_HAS(forge, "# first and lora");
    CHECK_HAS(forge, "| parameters | 602,112 |\n| weights | 2.41 MB |\n");
    assay_free(text);
    assay_free(forge);
    assay_profile_close(p);
}

static void test_version(void)
{
    static char longest[500];
    static const char *const versions[] = {longest, "1\x1b[31m\r\n\t\xe2\x80\xae", "", "0.1.0"};
    memset(longest, '9', sizeof longest - 1);
    for (size_t i = 0; i < COUNT(versions); i++)
        for (int columns = 40; columns <= 80; columns += 40) {
            struct assay_profile *p = profile_of("run");
            p->assay_version = versions[i];
            p->models[0]->name = "a model whose name is quite long, too";
            add(p, "cpu", 0.001, 0.001);
            char *text = render(p, (struct assay_report_options){.columns = columns});
            text[strcspn(text, "\n")] = '\0';
            CHECK_INT((int)assay__text_width(text), columns);
            CHECK_HAS(text, "too on cpu"); /* the end of the title is there */
            for (const char *c = text; *c; c++)
                CHECK((unsigned char)*c >= ' ');
            CHECK(strstr(text, "\xe2\x80\xae") == NULL);
            assay_free(text);
            assay_profile_close(p);
        }
}

/* 100 before measuring and 30 of 200 found in the data: two things, in two words. */
static void test_samples(void)
{
    static double samples[200];
    struct assay_profile *p = profile_of("run");
    struct assay__trial *trial = add(p, "cpu", 0.001, 0.001);
    for (size_t i = 0; i < COUNT(samples); i++)
        samples[i] = 1e6 + 100 * (double)(i % 37);
    struct assay__launch *l = &trial->launches[0];
    l->id = 1, l->samples_ns = samples, l->sample_count = COUNT(samples), l->warmup = 30;
    assay_metrics_measured(trial->metrics, "latency.samples", 170, "", "");
    assay_metrics_measured(trial->metrics, "latency.warmup", 130, "", "");
    char *text = render(p, (struct assay_report_options){.columns = 120});
    CHECK_HAS(text, "170 in 1 launch");
    CHECK_HAS(text, "100 of the pre-run");
    CHECK_HAS(text, "30 found to be warm-up");
    assay_free(text);
    struct assay__arena *arena = assay__arena_new();
    struct assay__figure figure;
    CHECK(arena != NULL);
    struct assay__study *study;
    CHECK_INT(assay__study_new(p, &study), 0);
    struct assay__sketch sketch = {
        .study = study, .trial = trial, .arena = arena, .figure = &figure};
    CHECK_INT(assay__figure_row_find("samples")->make(&sketch, 0), 0);
    CHECK_HAS(figure.description,
              "170 samples around 1.00 ms in 5 launches, 30 found to be warm-up");
    CHECK_STR(figure.note, "100 inferences of the pre-run, before measuring, were not recorded.");
    assay__study_free(study);
    assay__arena_free(arena);
    assay_profile_close(p);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"comparison", test_comparison},
        {"sweep", test_sweep},
        {"tune", test_tune},
        {"findings", test_findings},
        {"counters_of_time", test_counters_of_time},
        {"two_models", test_two_models},
        {"version", test_version},
        {"samples", test_samples},
    };
    return harness_main(argc, argv, tests, COUNT(tests));
}
