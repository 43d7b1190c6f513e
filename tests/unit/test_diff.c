/* test_diff.c - several profiles side by side, on hand-made profiles whose numbers are chosen:
 * verdicts and intervals, which trial, what is said of what cannot be compared, what else differs,
 * and what each format does with hostile names. */
#include "diff_fixture.h"
#include "facts_fixture.h"

#include "base/json.h"
#include "base/text.h"
#include "judge/verdict.h"
#include "report/report_diff.h"

#include <math.h>

/* A profile of one trial with `launches` launches around p50_us, a thousandth apart. */
static struct assay_profile *make(double p50_us, size_t launches)
{
    struct assay_profile *profile = diff_profile("f00");
    struct assay__trial *trial = &profile->trials[0];
    profile->assay_version = "0.1.0";
    profile->schema = 1;
    assay__profile_set_command(profile, "run");
    profile->models[0]->name = "net";
    trial->target.engine = "fake";
    trial->target.engine_version = "1";
    trial->target.device = "cpu";
    for (size_t i = 0; i < launches; i++) {
        struct assay__launch *launch = assay__trial_launch(profile, trial);
        double p50 = p50_us * (1 + 0.001 * ((double)i - (double)(launches / 2)));
        launch->state = ASSAY__TRIAL_OK;
        launch->p50_ns = p50 * 1e3;
        assay_metrics_measured(launch->metrics, "throughput.inferences", 1e6 / p50, "clock", "");
    }
    assay_metrics_measured(trial->metrics, "latency.p50", p50_us / 1e6, "clock", "");
    assay_metrics_measured(trial->metrics, "throughput.inferences", 1e6 / p50_us, "clock", "");
    assay_metrics_derived(trial->metrics, "compute.flops", 1e6, "graph", "sum");
    assay_metrics_derived(trial->metrics, "compute.rate", 1e12 / p50_us, "clock",
                          "compute.flops / latency.p50");
    return profile;
}

static struct assay__diff compare_two(struct assay_profile *a, struct assay_profile *b)
{
    struct assay_profile *both[] = {a, b};
    return compare(both, 2);
}

static const struct assay__diff_delta *delta(const struct assay__diff *diff, const char *name,
                                             size_t side)
{
    const struct assay__diff_metric *row = assay__diff_metric_find(diff, name);
    CHECK(row != NULL);
    return &row->deltas[side];
}

static void a_difference_has_its_interval(void)
{
    struct assay__diff diff = compare_two(make(100, 10), make(50, 10));
    const struct assay__diff_delta *d = delta(&diff, "latency.p50", 1);
    CHECK_INT(d->verdict, ASSAY__DIFF_LOWER);
    CHECK_NEAR(d->ratio, 0.5, 1e-12);
    CHECK(d->ci.known && d->ci.low > 0.495 && d->ci.low < 0.5 && d->ci.high > 0.5 &&
          d->ci.high < 0.505);
    CHECK_NEAR(d->difference, -49.975e-6, 1e-15); /* of the same medians as the ratio */
    CHECK_STR(assay__diff_verdict_name(d->verdict, ASSAY__DIFF_TIME), "faster");
    /* a rate goes the other way, and one that follows from the latency has its interval */
    const struct assay__diff_metric *rate = assay__diff_metric_find(&diff, "compute.rate");
    CHECK_INT(rate->deltas[1].verdict, ASSAY__DIFF_HIGHER);
    CHECK_NEAR(rate->deltas[1].ratio, 2, 1e-12);
    CHECK_NEAR(rate->deltas[1].ci.low, 1 / d->ci.high, 1e-9);
    CHECK_NEAR(rate->deltas[1].ci.high, 1 / d->ci.low, 1e-9);
    CHECK_STR(assay__diff_verdict_name(rate->deltas[1].verdict, rate->sense), "faster");
    CHECK_INT(delta(&diff, "throughput.inferences", 1)->verdict, ASSAY__DIFF_HIGHER);
    CHECK_INT(delta(&diff, "compute.flops", 1)->verdict, ASSAY__DIFF_EQUAL);
    CHECK_HAS(diff.summary, "b.assay is faster: 50.0 µs against 100 µs, 0.5 × the time of a.assay");
    CHECK_INT(diff.judged, 3);
}

static void the_same_shows_nothing(void)
{
    struct assay__diff diff = compare_two(make(100, 10), make(100, 10));
    const struct assay__diff_delta *d = delta(&diff, "latency.p50", 1);
    CHECK_INT(d->verdict, ASSAY__DIFF_SAME);
    CHECK(d->smallest > 0 && d->smallest < 0.02);
    CHECK_HAS(diff.summary, "No difference in latency shown");
    for (size_t i = 0; i < diff.metric_count; i++)
        CHECK(!assay__diff_is_shown(diff.metrics[i].deltas[1].verdict));
    CHECK_INT(diff.cause_count, 0);
}

static void few_launches_give_no_verdict(void)
{
    struct assay__diff diff = compare_two(make(100, 10), make(50, 4));
    const struct assay__diff_delta *d = delta(&diff, "latency.p50", 1);
    CHECK_INT(d->verdict, ASSAY__DIFF_UNJUDGED);
    CHECK_NEAR(d->ratio, 0.5, 1e-12);
    CHECK(!d->ci.known && isnan(d->ci.low) && isnan(d->p_value));
    CHECK_HAS(d->reason, "at least 5 launches");
    CHECK_HAS(diff.summary, "no verdict");
    CHECK_INT(diff.judged, 0);
}

static void what_one_side_lacks_is_not_compared(void)
{
    struct assay_profile *a = make(100, 5), *b = make(100, 5);
    assay_metrics_measured(a->trials[0].metrics, "memory.peak.worker", 5e6, "process", "");
    assay_metrics_unavailable(b->trials[0].metrics, "memory.peak.worker", "no /proc here");
    assay_metrics_measured(a->trials[0].metrics, "power.average", 3, "sensor", "");
    struct assay__diff diff = compare_two(a, b);
    const struct assay__diff_delta *d = delta(&diff, "memory.peak.worker", 1);
    CHECK_INT(d->verdict, ASSAY__DIFF_NOT_COMPARABLE);
    CHECK(isnan(d->ratio) && isnan(d->difference));
    CHECK_STR(d->reason, "b.assay: no /proc here");
    CHECK_STR(delta(&diff, "power.average", 1)->reason, "b.assay: not measured in that run");
}

static void the_graph_counts_exactly(void)
{
    struct assay_profile *a = make(100, 5), *b = make(100, 5);
    assay_metrics_derived(b->trials[0].metrics, "compute.flops", 2e6, "graph", "sum");
    struct assay__diff diff = compare_two(a, b);
    CHECK_INT(delta(&diff, "compute.flops", 1)->verdict, ASSAY__DIFF_EXACT);
    CHECK_NEAR(delta(&diff, "compute.flops", 1)->ratio, 2, 0);
    CHECK_INT(assay__diff_fold(&diff, assay__diff_metric_find(&diff, "compute.flops")),
              ASSAY__DIFF_LINE);
}

static void three_runs_are_each_held_against_the_first(void)
{
    struct assay_profile *all[] = {make(100, 6), make(50, 6), make(200, 6)};
    struct assay__diff diff = compare(all, 3);
    CHECK_INT(delta(&diff, "latency.p50", 1)->verdict, ASSAY__DIFF_LOWER);
    CHECK_INT(delta(&diff, "latency.p50", 2)->verdict, ASSAY__DIFF_HIGHER);
    CHECK_NEAR(delta(&diff, "latency.p50", 2)->ratio, 2, 1e-12);
    CHECK_HAS(diff.summary, "b.assay is faster");
    CHECK_HAS(diff.summary, "c.assay is slower");
}

static void options_of(struct assay_profile *profile, struct assay__trial *trial,
                       const struct assay__pair *pairs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fact(profile, trial, pairs[i].key, pairs[i].value);
}

static void what_else_differs_is_ranked(void)
{
    static struct assay__pair one[] = {{"seed", "0"}, {"threads", "1"}, {"opt", "all"}};
    static struct assay__pair two[] = {{"seed", "7"}, {"threads", "2"}, {"opt", "all"}};
    struct assay_profile *a = make(100, 5), *b = make(50, 5);
    options_of(a, &a->trials[0], one, 3);
    options_of(b, &b->trials[0], two, 3);
    a->environment.kernel = "6.1";
    b->environment.kernel = "6.6";
    a->environment.governor = "performance"; /* of b it is not known: no difference */
    b->trials[0].target.engine_version = "2";
    assay_metrics_measured(a->trials[0].metrics, "disturbance.steal", 0.001, "process", "");
    assay_metrics_measured(b->trials[0].metrics, "disturbance.steal", 0.2, "process", "");
    assay_metrics_measured(a->trials[0].metrics, "disturbance.cpu_other", 0.10, "process", "");
    assay_metrics_measured(b->trials[0].metrics, "disturbance.cpu_other", 0.11, "process", "");
    struct assay__diff diff = compare_two(a, b);
    static const char *const expected[] = {"threads", "engine version", "stolen time", "kernel",
                                           "seed"};
    CHECK_INT(diff.cause_count, 5);
    for (size_t i = 0; i < 5; i++)
        CHECK_STR(diff.causes[i].name, expected[i]);
    CHECK_STR(diff.causes[0].values[0], "1");
    CHECK_STR(diff.causes[0].values[1], "2");
    CHECK_STR(assay__diff_likelihood(diff.causes[0].weight), "likely");
    CHECK_STR(assay__diff_likelihood(diff.causes[2].weight), "possible");
    CHECK_STR(assay__diff_likelihood(diff.causes[4].weight), "unlikely");
    CHECK_HAS(diff.summary, ": threads (1, 2)");
}

static void trials_are_chosen_by_label(void)
{
    static struct assay__pair x[] = {{"label", "batch=1"}}, y[] = {{"label", "batch=8"}};
    struct assay_profile *a = make(100, 5), *b = make(70, 5);
    struct assay__trial *second = assay__profile_trial(b);
    options_of(a, &a->trials[0], y, 1);
    options_of(b, &b->trials[0], x, 1);
    second->state = ASSAY__TRIAL_OK;
    second->target.device = second->target.engine = second->target.engine_version = "";
    options_of(b, second, y, 1);
    assay_metrics_measured(second->metrics, "latency.p50", 25e-6, "clock", "");
    struct assay__diff diff = compare_two(a, b);
    CHECK_NEAR(delta(&diff, "latency.p50", 1)->ratio, 0.25, 1e-12);
    CHECK_STR(diff.sides[1].trial_label, "batch=8");
    struct assay__diff_input inputs[] = {{a, "a", NULL}, {b, "b", "1"}};
    CHECK_INT(assay__diff(inputs, 2, arena, &diff, NULL), 0);
    CHECK_NEAR(delta(&diff, "latency.p50", 1)->ratio, 0.7, 1e-12);
    struct assay_error error = {0};
    inputs[1].trial = "batch=9";
    CHECK_INT(assay__diff(inputs, 2, arena, &diff, &error), ASSAY_ENOTFOUND);
    CHECK_HAS(error.message, "no trial 'batch=9'");
}

/* A model under another name is the same model while its graph is: the name is no cause. */
static void a_name_of_the_same_graph_is_no_cause(void)
{
    struct assay_profile *a = make(100, 5), *b = make(100, 5);
    a->models[0]->name = "old.onnx";
    b->models[0]->name = "new.onnx";
    CHECK_INT(compare_two(a, b).cause_count, 0);
    b->models[0]->fingerprint = "another";
    struct assay__diff diff = compare_two(a, b);
    CHECK(diff.cause_count > 0);
    CHECK_STR(diff.causes[0].kind, "model");
    a->models[0]->fingerprint = b->models[0]->fingerprint = ""; /* unknown: it may be another one */
    diff = compare_two(a, b);
    CHECK_INT(diff.cause_count, 1);
    CHECK_STR(diff.causes[0].kind, "model");
    CHECK_STR(diff.causes[0].values[1], "new.onnx");
}

static bool has_note(const struct assay__diff *diff, const char *text)
{
    for (size_t i = 0; i < diff->note_count; i++)
        if (strstr(diff->notes[i], text)) return true;
    return false;
}

static void notes_say_what_is_wrong(void)
{
    struct assay_profile *a = make(100, 5), *b = make(100, 5), *empty = assay__profile_new();
    a->created = b->created = "2026-01-01T00:00:00Z";
    a->command_line = b->command_line = "assay run x";
    b->complete = false;
    empty->models[0]->fingerprint = "other";
    struct assay_profile *all[] = {a, b, empty};
    struct assay__diff diff = compare(all, 3);
    CHECK(has_note(&diff, "b.assay is INCOMPLETE"));
    CHECK(has_note(&diff, "a.assay and b.assay are the same capture"));
    CHECK(has_note(&diff, "c.assay cannot be compared: it has no trial"));
    CHECK(has_note(&diff, "The models differ"));
    CHECK(has_note(&diff, "did not alternate"));
    CHECK(!diff.sides[2].usable);
    CHECK_HAS(diff.summary, "c.assay cannot be compared with a.assay");
    diff = compare_two(a, b); /* trials of one run alternate */
    CHECK(!has_note(&diff, "did not alternate"));
    b->trials[0].state = ASSAY__TRIAL_FAILED;
    assay_metrics_unavailable(b->trials[0].metrics, "latency.p50", "it crashed");
    b->trials[0].reason = "the worker crashed";
    diff = compare_two(a, b);
    CHECK(has_note(&diff, "b.assay cannot be compared: the worker crashed"));
}

static void names_tell_the_runs_apart(void)
{
    struct assay_profile *a = make(100, 5), *b = make(100, 5);
    struct assay__diff_input inputs[] = {{a, "x/p.assay", NULL}, {b, "y/p.assay", NULL}};
    struct assay__diff diff;
    CHECK_INT(assay__diff(inputs, 2, arena, &diff, NULL), 0);
    CHECK_STR(diff.sides[0].name, "x/p.assay");
    CHECK_STR(diff.sides[1].name, "y/p.assay");
    CHECK_INT(assay__diff(inputs, 1, arena, &diff, NULL), ASSAY_EINVAL);
    CHECK_INT(assay__diff(inputs, 17, arena, &diff, NULL), ASSAY_EINVAL);
}

/* --- formats ---------------------------------------------------------------------------------- */

#define HOSTILE "<script>alert(1)</script>\x1b[31m|`x`\n\xff\xe2\x80\xae</td>"

static struct assay__layer hostile_layers[2];

static struct assay__diff hostile(void)
{
    struct assay_profile *a = make(100, 5), *b = make(200, 5);
    for (size_t i = 0; i < 2; i++)
        hostile_layers[i] = (struct assay__layer){.name = HOSTILE,
                                                  .op = HOSTILE,
                                                  .provider = "",
                                                  .time_ns = 1e5 * (double)(i + 1),
                                                  .flops = NAN,
                                                  .bytes = NAN,
                                                  .weight_bytes = NAN,
                                                  .live_bytes = NAN,
                                                  .host_enqueue_ns = NAN,
                                                  .kernel_count = NAN,
                                                  .gap_ns = NAN,
                                                  .bound = "",
                                                  .state = ASSAY_MEASURED,
                                                  .method = "",
                                                  .note = ""};
    a->models[0]->name = b->models[0]->name = HOSTILE;
    a->trials[0].layers.items = &hostile_layers[0];
    b->trials[0].layers.items = &hostile_layers[1];
    a->trials[0].layers.count = b->trials[0].layers.count = 1;
    a->trials[0].target.device = HOSTILE;
    struct assay__diff_input inputs[] = {{a, HOSTILE, NULL}, {b, "b|c>d.assay", NULL}};
    struct assay__diff diff;
    CHECK_INT(assay__diff(inputs, 2, arena, &diff, NULL), 0);
    CHECK_INT(diff.layer_count, 2); /* the layer and the sum */
    return diff;
}

static struct assay__buf render(const struct assay__diff *diff, const char *format, int columns)
{
    struct assay_report_options options = {
        .size = sizeof options, .format = format, .columns = columns};
    struct assay__buf out = {0};
    CHECK_INT(assay__diff_report(diff, &options, &out, NULL), 0);
    return out;
}

/* Of so many runs, from the first, the median is uncertain by a quarter. */
static void make_noisy(struct assay_profile **profiles, size_t noisy)
{
    for (size_t i = 0; i < 2; i++) {
        struct assay__trial *trial = &profiles[i]->trials[0];
        double p50 = assay_metrics_get(trial->metrics, "latency.p50")->value;
        double part = i < noisy ? 0.25 : 0.01;
        profiles[i]->complete = true;
        trial->stability.verdict = i < noisy ? "unstable" : "stable";
        assay_metrics_derived(trial->metrics, "latency.between_low", p50 * (1 - part), "clock", "");
        assay_metrics_derived(trial->metrics, "latency.between_high", p50 * (1 + part), "clock",
                              "");
    }
}

/* The mark counts the noisy runs; a claim says so too, in its 20 words; what claims nothing does
 * not. */
static void noise_stands_with_the_claim(void)
{
    static const char *const claims[] = {NULL, " 1 of 2 runs was noisy.", " Both runs were noisy."},
                             *const marks[] = {"stable", "1 of 2 noisy", "2 of 2 noisy"};
    for (size_t noisy = 0; noisy <= 2; noisy++)
        for (int same = 0; same < 2; same++) {
            struct assay_profile *both[] = {make(100, 10), make(same ? 100 : 50, 10)};
            struct assay__doc *doc;
            make_noisy(both, noisy);
            struct assay__diff diff = compare_two(both[0], both[1]);
            CHECK_INT(assay__diff_document(&diff, &doc), 0);
            CHECK_INT(strncmp(doc->quality.text, marks[noisy], strlen(marks[noisy])), 0);
            CHECK_INT(doc->quality.badge, noisy ? ASSAY__BADGE_FAIL : ASSAY__BADGE_PASS);
            CHECK_INT(doc->quality.reason_count, noisy);
            if (noisy && !same)
                CHECK_HAS(doc->verdict, claims[noisy]);
            else
                CHECK(!strstr(doc->verdict, "noisy."));
            CHECK(assay__count_words(doc->verdict) <= ASSAY__VERDICT_WORDS);
            assay__doc_free(doc);
        }
}

static void hostile_names_are_escaped(void)
{
    struct assay__diff diff = hostile();
    static const char *const formats[] = {"text", "markdown", "html"};
    for (size_t i = 0; i < 3; i++) {
        struct assay__buf out = render(&diff, formats[i], 80);
        CHECK(!strchr(out.data, '\x1b'));
        CHECK(!strchr(out.data, '\xff'));
        if (i) CHECK(!strstr(out.data, "<script>alert"));
        if (i == 1) CHECK(!strstr(out.data, "m|`x`"));
        if (i == 2) CHECK(!strstr(out.data, "\xe2\x80\xae"));
        assay__buf_free(&out);
    }
    struct assay__buf json = render(&diff, "json", 80);
    struct assay__json *root = NULL;
    CHECK_INT(assay__json_parse(arena, json.data, json.length, &root, NULL), 0);
    CHECK_STR(assay__json_get_string(assay__json_get(root, "metrics")->first, "name", ""),
              "latency.p50");
    assay__buf_free(&json);
}

static void lines_fit_the_page(void)
{
    struct assay__diff diff = hostile();
    static const int widths[] = {40, 60, 80, 120};
    for (size_t i = 0; i < 4; i++) {
        struct assay__buf out = render(&diff, "text", widths[i]);
        for (char *line = strtok(out.data, "\n"); line; line = strtok(NULL, "\n"))
            if (assay__text_width(line) > (size_t)widths[i]) {
                printf("  width %d: %s\n", widths[i], line);
                CHECK(false);
            }
        assay__buf_free(&out);
    }
}

static void formats_of_one_profile_are_refused(void)
{
    struct assay__diff diff = hostile();
    struct assay_report_options options = {.size = sizeof options, .format = "junit"};
    struct assay__buf out = {0};
    struct assay_error error = {0};
    CHECK_INT(assay__diff_report(&diff, &options, &out, &error), ASSAY_EINVAL);
    CHECK_HAS(error.message, "junit");
    assay__buf_free(&out);
}

static void json_holds_every_number(void)
{
    struct assay__diff diff = compare_two(make(100, 10), make(50, 4));
    struct assay__buf json = render(&diff, "json", 80);
    struct assay__json *root = NULL;
    CHECK_INT(assay__json_parse(arena, json.data, json.length, &root, NULL), 0);
    const struct assay__json *p50 = assay__json_get(root, "metrics")->first;
    const struct assay__json *d = assay__json_get(p50, "deltas")->first;
    CHECK_NEAR(assay__json_get_number(d, "ratio", 0), 0.5, 1e-12);
    CHECK(assay__json_get(d, "low")->kind == ASSAY__JSON_NULL);
    CHECK_STR(assay__json_get_string(d, "verdict", ""), "no verdict");
    CHECK_HAS(assay__json_get_string(d, "reason", ""), "at least 5 launches");
    CHECK_STR(assay__json_get_string(assay__json_get(p50, "values")->first, "state", ""),
              "measured");
    assay__buf_free(&json);
}

/* Launches whose greatest are 10, 11 … 14 ms (times `factor`); the run as a whole shows the
 * greatest of all, 14. */
static struct assay_profile *with_max(double factor)
{
    struct assay_profile *profile = make(100 * factor, 5);
    struct assay__trial *trial = &profile->trials[0];
    for (size_t i = 0; i < trial->launch_count; i++)
        assay_metrics_measured(trial->launches[i].metrics, "latency.max",
                               factor * (10 + (double)i) * 1e-3, "clock", "");
    assay_metrics_measured(trial->metrics, "latency.max", 5 * 14e-3, "clock", "over all launches");
    assay_metrics_measured(trial->metrics, "latency.samples", factor * 1000, "clock", "");
    return profile;
}

/* What is shown, subtracted and divided is one statistic: the median over launches where that is
 * judged. */
static void a_row_is_of_one_statistic(void)
{
    struct assay__diff diff = compare_two(with_max(1), with_max(2));
    const struct assay__diff_metric *max = assay__diff_metric_find(&diff, "latency.max");
    CHECK(max->by_launch);
    CHECK_NEAR(max->values[0]->value, 12e-3, 1e-15);
    CHECK_NEAR(max->values[1]->value, 24e-3, 1e-15);
    CHECK_HAS(max->values[0]->note, "median over 5 launches; that of the run is 70.0 ms: over all");
    CHECK_NEAR(max->deltas[1].ratio, 2, 1e-12);
    CHECK_NEAR(max->deltas[1].difference, 12e-3, 1e-15);
    struct assay__buf json = render(&diff, "json", 80);
    CHECK_HAS(json.data, "\"by_launch\": true");
    assay__buf_free(&json);
    /* how much was measured is not judged: the whole runs' numbers stand there */
    const struct assay__diff_metric *samples = assay__diff_metric_find(&diff, "latency.samples");
    CHECK(!samples->by_launch && !samples->deltas[1].ci.known);
    CHECK_NEAR(samples->deltas[1].difference, 1000, 1e-9);
    /* without enough launches nothing is judged, and the whole runs are shown */
    struct assay_profile *few = with_max(2);
    few->trials[0].launch_count = 4;
    diff = compare_two(with_max(1), few);
    max = assay__diff_metric_find(&diff, "latency.max");
    CHECK(!max->by_launch);
    CHECK_NEAR(max->values[0]->value, 70e-3, 1e-15);
    CHECK_NEAR(max->deltas[1].difference, 0, 1e-15);
}

/* One side of three has too few launches: it is not judged, and its ratio is of what is shown all
 * the same. */
static void every_ratio_is_of_what_is_shown(void)
{
    struct assay_profile *few = with_max(3);
    few->trials[0].launch_count = 2;
    struct assay_profile *three[] = {with_max(1), with_max(2), few};
    struct assay__diff diff = compare(three, 3);
    for (size_t i = 0; i < diff.metric_count; i++)
        for (size_t s = 1; s < diff.count; s++) {
            const struct assay__diff_metric *row = &diff.metrics[i];
            if (!isfinite(row->deltas[s].ratio)) continue;
            CHECK_NEAR(row->deltas[s].ratio, row->values[s]->value / row->values[0]->value, 1e-9);
            CHECK_NEAR(row->deltas[s].difference, row->values[s]->value - row->values[0]->value,
                       1e-9 * row->values[0]->value);
        }
    CHECK_INT(delta(&diff, "latency.max", 1)->verdict, ASSAY__DIFF_HIGHER);
    CHECK_INT(delta(&diff, "latency.max", 2)->verdict, ASSAY__DIFF_UNJUDGED);
    CHECK_NEAR(assay__diff_metric_find(&diff, "latency.max")->values[2]->value, 31.5e-3, 1e-15);
}

/* "1 × (1 to 1) higher" says nothing. */
static void an_interval_is_seen_to_exclude_one(void)
{
    static const struct {
        double ratio, low, high;
        int digits;
    } rows[] = {
        {1.00021, 1.00012, 1.0004, 5},
        {0.999997, 0.999995, 0.999998, 6},
        {1.34, 1.31, 1.36, 3},
        {1.0002, 0.9999, 1.0003, 3}, /* nothing is claimed */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct assay__diff_delta d = assay__diff_no_delta("");
        d.ratio = rows[i].ratio;
        d.ci = (struct assay__interval){rows[i].low, rows[i].high, true};
        CHECK_INT(assay__diff_digits(&d), rows[i].digits);
    }
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"a_difference_has_its_interval", a_difference_has_its_interval},
        {"the_same_shows_nothing", the_same_shows_nothing},
        {"few_launches_give_no_verdict", few_launches_give_no_verdict},
        {"what_one_side_lacks_is_not_compared", what_one_side_lacks_is_not_compared},
        {"the_graph_counts_exactly", the_graph_counts_exactly},
        {"three_runs_are_each_held_against_the_first", three_runs_are_each_held_against_the_first},
        {"what_else_differs_is_ranked", what_else_differs_is_ranked},
        {"a_name_of_the_same_graph_is_no_cause", a_name_of_the_same_graph_is_no_cause},
        {"trials_are_chosen_by_label", trials_are_chosen_by_label},
        {"notes_say_what_is_wrong", notes_say_what_is_wrong},
        {"names_tell_the_runs_apart", names_tell_the_runs_apart},
        {"noise_stands_with_the_claim", noise_stands_with_the_claim},
        {"hostile_names_are_escaped", hostile_names_are_escaped},
        {"lines_fit_the_page", lines_fit_the_page},
        {"formats_of_one_profile_are_refused", formats_of_one_profile_are_refused},
        {"json_holds_every_number", json_holds_every_number},
        {"a_row_is_of_one_statistic", a_row_is_of_one_statistic},
        {"every_ratio_is_of_what_is_shown", every_ratio_is_of_what_is_shown},
        {"an_interval_is_seen_to_exclude_one", an_interval_is_seen_to_exclude_one},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
