/* test_findings_page.c - what the page's header and its findings rest on: one mark of quality for
 * all trials that are set side by side, and findings in the order of what they gain, of which
 * disturbances are none. */
#include "subject_fixture.h"

#include "judge/study.h"
#include "profile/profile.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct assay_profile *profile_of(const char *command)
{
    struct assay_profile *p = assay__profile_new();
    CHECK(p);
    assay__profile_set_command(p, command);
    p->complete = true;
    return p;
}

/* A trial whose median is known to ±width of it. */
static struct assay__trial *add(struct assay_profile *p, const char *label, const char *verdict,
                                double width)
{
    struct assay__trial *t = assay__profile_trial(p);
    t->state = ASSAY__TRIAL_OK;
    t->label = label;
    t->model = p->models[0];
    t->stability.verdict = verdict;
    assay_metrics_measured(t->metrics, "latency.p50", 1e-3, "clock", "");
    assay_metrics_measured(t->metrics, "latency.between_low", 1e-3 * (1 - width), "clock", "");
    assay_metrics_measured(t->metrics, "latency.between_high", 1e-3 * (1 + width), "clock", "");
    return t;
}

static struct assay__study *study;
static struct assay__doc *mark(struct assay_profile *p)
{
    struct assay__doc *doc;
    CHECK_INT(assay__study_new(p, &study), 0);
    CHECK_INT(assay__doc_new(&doc), 0);
    doc->study = study;
    assay__add_quality(doc, &p->trials[0]);
    return doc;
}

static void finish(struct assay__doc *doc, struct assay_profile *p)
{
    CHECK(!doc->failed && !study->failed);
    assay__doc_free(doc);
    assay__study_free(study);
    assay_profile_close(p);
}

static void test_mark_of_several(void)
{
    struct assay_profile *p = profile_of("sweep");
    add(p, "a", "stable", 0.01);
    add(p, "b", "stable", 0.02);
    struct assay__doc *doc = mark(p);
    CHECK_STR(doc->quality.text, "stable ±2 %");
    CHECK_INT(doc->quality.badge, ASSAY__BADGE_PASS);
    finish(doc, p);
    static const char *reasons[] = {"launches differ"};
    p = profile_of("sweep");
    add(p, "a", "stable", 0.01);
    add(p, "b", "unstable", 0.2)->stability = (struct assay__stability){"unstable", reasons, 1, 0};
    add(p, "c", "stable", 0.01);
    p->trials[2].state = ASSAY__TRIAL_FAILED;
    doc = mark(p);
    CHECK_STR(doc->quality.text, "1 of 3 noisy");
    CHECK_INT(doc->quality.badge, ASSAY__BADGE_FAIL);
    CHECK_INT(doc->quality.reason_count, 1);
    CHECK_STR(doc->quality.reasons[0], "b: noisy ±20 %: launches differ");
    finish(doc, p);
}

/* Of a tuning the trial that it chose is the one that counts: the others had one short launch. */
static void test_mark_of_one(void)
{
    struct assay_profile *p = profile_of("tune");
    add(p, "a", "stable", 0.01);
    add(p, "b", "unstable", 0.2);
    struct assay__doc *doc = mark(p);
    CHECK_STR(doc->quality.text, "stable ±1 %");
    finish(doc, p);
}

static struct assay__finding finding(const char *id, const char *title, const char *state,
                                     double gain)
{
    bool tried = strcmp(state, "open") != 0;
    return (struct assay__finding){.id = id,
                                   .severity = "low",
                                   .title = title,
                                   .advice = "do it",
                                   .effort = "",
                                   .reason = "",
                                   .tried = "",
                                   .drift_note = "",
                                   .state = state,
                                   .verified_of = tried ? "latency" : "",
                                   .expected_gain = tried ? (double)NAN : gain,
                                   .verified_gain = tried ? gain : (double)NAN,
                                   .verified_low = gain * 0.9,
                                   .verified_high = gain * 1.1,
                                   .energy_saving = NAN,
                                   .verified_energy = NAN,
                                   .verified_drift = NAN};
}

/* Each title is below the one before it. */
static void test_order(void)
{
    struct assay__finding all[] = {
        finding("x", "small", "open", 1.2), finding("unstable", "noise", "open", NAN),
        finding("y", "large", "open", 3), finding("z", "measured", "verified", 1.1),
        finding("w", "in vain", "withdrawn", 0.9)};
    static const char *const order[] = {
        "measured", "large", "small", "Tried and withdrawn", "in vain", "What disturbed", "noise"};
    struct assay_profile *p = profile_of("run");
    add(p, "a", "stable", 0.01);
    p->findings = all, p->finding_count = COUNT(all);
    char *text = subject_text(p, &p->trials[0], &assay__subject_findings,
                              (struct assay_report_options){.full = 1});
    const char *at = text;
    for (size_t i = 0; i < COUNT(order); i++) {
        const char *found = strstr(at, order[i]);
        if (!found) printf("  '%s' is not after the one before\n", order[i]);
        CHECK(found);
        at = found;
    }
    free(text);
    assay_profile_close(p);
}

/* What was derived from one of several trials is said by none of them. */
static void test_none_of_several(void)
{
    struct assay_profile *p = profile_of("sweep");
    add(p, "a", "stable", 0.01);
    char *text = subject_text(p, &p->trials[0], &assay__subject_findings,
                              (struct assay_report_options){.full = 1});
    CHECK_STR(text, "");
    free(text);
    assay__profile_set_command(p, "run");
    p->environment.disturbances = (const char *[]){"steal time 3 %"};
    p->environment.disturbance_count = 1;
    text = subject_text(p, &p->trials[0], &assay__subject_findings,
                        (struct assay_report_options){.full = 1});
    CHECK(strstr(text, "Bottlenecks") && !strstr(text, "steal"));
    CHECK(!strstr(text, "score"));
    free(text);
    assay_profile_close(p);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"mark_of_several", test_mark_of_several},
        {"mark_of_one", test_mark_of_one},
        {"order", test_order},
        {"none_of_several", test_none_of_several},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
