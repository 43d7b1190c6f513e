/* test_other_pages.c - what the pages of several runs rest on, number by number: the steps of a
 * waterfall sum to the difference, matched layers of strips begin at the same place, cells of a
 * heat map are those of the table, the rows of a band are those that the judge calls tied, and the
 * answer in a sentence has at most 20 words whatever the names are. */
#include "diff_fixture.h"
#include "facts_fixture.h"

#include "judge/headline.h"
#include "judge/verdict.h"
#include "judge/waterfall.h"
#include "report/figure/figure_text.h"
#include "report/figure/figure_scale.h"
#include "report/subject/subject.h"

#include <assay/assay.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- runs with layers ------------------------------------------------------------------------- */

struct recipe {
    const char *name, *op;
    double time_us;
};

static struct assay_profile *run_of(double p50_us, const struct recipe *recipes, size_t count,
                                    double engine_us)
{
    struct assay_profile *profile = diff_profile("f");
    struct assay__trial *trial = &profile->trials[0];
    assay_metrics_measured(trial->metrics, "latency.p50", p50_us / 1e6, "clock", "");
    for (int l = 0; l < 5; l++) {
        struct assay__launch *launch = assay__trial_launch(profile, trial);
        launch->state = ASSAY__TRIAL_OK;
        launch->p50_ns = p50_us * 1e3;
        assay_metrics_measured(launch->metrics, "latency.p50", p50_us / 1e6, "clock", "");
    }
    trial->layers.items = assay__arena_array(arena, count, sizeof *trial->layers.items);
    trial->layers.count = count;
    trial->layers.engine_ns = engine_us * 1e3;
    trial->layers.unattributed_ns = NAN;
    trial->layers.spread = 0.001;
    for (size_t i = 0; i < count; i++) {
        const char **from = assay__arena_array(arena, 1, sizeof *from);
        from[0] = recipes[i].name;
        trial->layers.items[i] = (struct assay__layer){.index = (int)i,
                                                       .name = recipes[i].name,
                                                       .op = recipes[i].op,
                                                       .provider = "",
                                                       .bound = "",
                                                       .time_ns = recipes[i].time_us * 1e3,
                                                       .flops = NAN,
                                                       .bytes = NAN,
                                                       .state = ASSAY_MEASURED,
                                                       .method = "",
                                                       .note = "",
                                                       .from = from,
                                                       .from_count = 1};
    }
    return profile;
}

static const struct recipe old_run[] = {{"a", "Conv", 100},  {"b", "Relu", 10}, {"c", "Conv", 50},
                                        {"d", "Gemm", 40},   {"e", "Add", 5},   {"f", "Mul", 6},
                                        {"g", "Softmax", 7}, {"h", "Exp", 8},   {"i", "Div", 9}};
static const struct recipe new_run[] = {
    {"a", "Conv", 70},  {"b", "Relu", 11}, {"c", "Conv", 52},  {"new", "Cast", 4},
    {"d", "Gemm", 44},  {"e", "Add", 5.5}, {"f", "Mul", 6.25}, {"g", "Softmax", 7.125},
    {"h", "Exp", 8.05}, {"i", "Div", 9.01}};

static struct assay__diff two_runs(void)
{
    return compare((struct assay_profile *[]){run_of(260, old_run, COUNT(old_run), 7),
                                              run_of(240.5, new_run, COUNT(new_run), 7.5)},
                   2);
}

/* --- waterfall -------------------------------------------------------------------------------- */

static void test_waterfall_sums(void)
{
    struct assay__diff diff = two_runs();
    struct assay__waterfall all = assay__waterfall(&diff, 1, arena);
    CHECK_STR(all.reason, "");
    CHECK_NEAR(all.from_ns, 260e3, 1e-6);
    CHECK_NEAR(all.to_ns, 240.5e3, 1e-6);
    /* Conv -28, Gemm +4, Cast +4, Relu +1, Add +0.5, Mul +0.25, three others +0.185, engine +0.5 */
    static const struct {
        const char *name;
        double change_us;
        size_t layers;
    } expected[] = {{"Conv", -28, 2},
                    {"Cast", 4, 1},
                    {"Gemm", 4, 1},
                    {"Relu", 1, 1},
                    {"Add", 0.5, 1},
                    {"Mul", 0.25, 1},
                    {"other operators", 0.185, 3},
                    {"engine", 0.5, 0},
                    {"unattributed", -1.935, 0}};
    double sum = 0;
    CHECK_INT(all.count, COUNT(expected));
    for (size_t i = 0; i < all.count; i++) {
        CHECK_STR(all.steps[i].name, expected[i].name);
        CHECK_NEAR(all.steps[i].change_ns, expected[i].change_us * 1e3, 1e-6);
        CHECK_INT(all.steps[i].layers, expected[i].layers);
        sum += all.steps[i].change_ns;
    }
    CHECK_NEAR(sum, all.to_ns - all.from_ns, 1e-9);
    CHECK_STR(assay__waterfall_largest(&all)->name, "Conv");
}

/* The figure's rows: a total, changes that lead to the other, and that. */
static void test_waterfall_figure(void)
{
    struct assay__diff diff = two_runs();
    struct assay__figure *figures;
    size_t count;
    CHECK_INT(assay__figures_of_diff(&diff, assay__figure_row_find("waterfall"), arena, &figures,
                                     &count, NULL),
              0);
    CHECK_INT(count, 1);
    const struct assay__figure_series *s = figures[0].series;
    double level = s->y[0], low, high;
    for (size_t i = 1; i + 1 < s->count; i++)
        level += s->y[i];
    CHECK_NEAR(level, s->y[s->count - 1], 1e-15);
    CHECK(s->flags[0] & ASSAY__POINT_TOTAL && s->flags[s->count - 1] & ASSAY__POINT_TOTAL);
    struct assay__digits_pair change = assay__figure_step(&figures[0], 1),
                              first = assay__figure_step(&figures[0], 0);
    CHECK_STR(change.text, "−28.0 µs");
    CHECK_STR(first.text, "260 µs");
    assay__figure_steps_range(&figures[0], &low, &high);
    CHECK(low > 0 && low < 232e-6); /* changes are small: the axis does not begin at 0 */
    CHECK_NEAR(high, 260e-6, 1e-12);
    struct assay__buf out = {0};
    struct assay__page page = {.out = &out, .columns = 60, .ascii = true};
    assay__figure_text(&page, &figures[0]);
    CHECK_HAS(out.data, "Conv (2)");
    CHECK_HAS(out.data, "The bars begin at ");
    assay__buf_free(&out);
}

/* Without a difference, without layers, without a latency: a reason. */
static void test_waterfall_reasons(void)
{
    struct assay_profile *with = run_of(260, old_run, COUNT(old_run), 7),
                         *again = run_of(260, old_run, COUNT(old_run), 7),
                         *without = run_of(260, old_run, 0, NAN);
    struct assay__diff diff = compare((struct assay_profile *[]){with, again}, 2);
    CHECK_STR(assay__waterfall(&diff, 1, arena).reason, "nothing differs");
    diff = compare((struct assay_profile *[]){with, without}, 2);
    CHECK_STR(assay__waterfall(&diff, 1, arena).reason, "no layer has a time in both runs");
}

/* --- strips ----------------------------------------------------------------------------------- */

static void test_strips(void)
{
    struct assay__diff diff = two_runs();
    struct assay__figure *figures;
    size_t count;
    CHECK_INT(assay__figures_of_diff(&diff, assay__figure_row_find("strips"), arena, &figures,
                                     &count, NULL),
              0);
    const struct assay__figure_series *a = &figures[0].series[0], *b = &figures[0].series[1];
    CHECK_INT(figures[0].series_count, 2);
    CHECK_INT(a->count, COUNT(old_run));
    CHECK_INT(b->count, COUNT(new_run));
    double end = 0;
    for (size_t i = 0, k = 0; i < b->count; i++) {
        CHECK_STR(b->names[i], new_run[i].name); /* in its order of execution */
        CHECK_NEAR(b->y[i], new_run[i].time_us / 1e6, 1e-15);
        CHECK_NEAR(b->x[i], end, 1e-12); /* after the longer of the two before */
        CHECK(!i || strcmp(b->groups[i], b->groups[i - 1]) != 0); /* no two labels are equal */
        end += fmax(new_run[i].time_us, i == 3 ? 0 : old_run[k].time_us) / 1e6;
        if (i == 3) continue;
        CHECK_NEAR(a->x[k], b->x[i], 1e-15);
        CHECK_INT(a->layers[k], b->layers[i]); /* selected together */
        k++;
    }
    /* by more than the passes of one run differ: coloured by the ratio; the new one as much longer
     */
    CHECK_NEAR(b->tone[0], 0.7, 1e-12);
    CHECK(isinf(b->tone[3]) && assay__tone_step(b->tone[3]) == 0);
    CHECK_INT(assay__tone_step(0.7), 5);
    CHECK_INT(assay__tone_step(1), 3);
    CHECK_INT(assay__tone_step(2), 0);
    CHECK_INT(assay__tone_step(0.5), 6);
    CHECK_INT(assay__tone_step(NAN), 3);
}

/* --- a sweep of two axes ---------------------------------------------------------------------- */

static void add_point(struct assay_profile *p, const char *label, double latency_s, double spread)
{
    struct assay__trial *trial = assay__profile_trial(p);
    fact(p, trial, "label", label);
    trial->state = ASSAY__TRIAL_OK;
    trial->target.device = "cpu";
    for (int l = -1; l <= 1; l++) {
        struct assay__launch *launch = assay__trial_launch(p, trial);
        launch->state = ASSAY__TRIAL_OK;
        launch->p50_ns = latency_s * 1e9 * (1 + l * spread);
    }
    assay_metrics_measured(trial->metrics, "latency.p50", latency_s, "", "");
    assay_metrics_derived(trial->metrics, "throughput.samples", 1 / latency_s, "", "");
}

static struct assay_profile *grid(void)
{
    struct assay_profile *p = assay__profile_new();
    assay__profile_set_command(p, "sweep");
    add_point(p, "threads=1 batch=1", 0.010, 0.001);
    add_point(p, "threads=1 batch=2", 0.008, 0.001);
    add_point(p, "threads=1 batch=4", 0.0052, 0.05); /* overlaps with the best */
    add_point(p, "threads=2 batch=1", 0.009, 0.001);
    add_point(p, "threads=2 batch=2", 0.007, 0.001);
    add_point(p, "threads=2 batch=4", 0.005, 0.05);
    return p;
}

static void test_heat_map(void)
{
    struct assay_profile *p = grid();
    struct assay__study *study = NULL;
    struct assay__figure *figures;
    size_t count, left;
    if (!arena) arena = assay__arena_new();
    CHECK_INT(assay__study_new(p, &study), 0);
    CHECK_INT(assay__figures_of(study, assay__figure_row_find("heat"), arena, &figures, &count,
                                &left, NULL),
              0);
    const struct assay__sweep *sweep = assay__study_sweep(study);
    const struct assay__figure *f = figures;
    CHECK_STR(f->x_title, "batch"); /* three values; threads has two */
    CHECK_INT(f->series_count, 2);
    for (size_t i = 0; i < sweep->count; i++) {
        size_t row = i / 3, column = i % 3;
        bool tied = false;
        for (size_t k = 0; k < sweep->alike_count; k++)
            tied |= sweep->alike[k] == i;
        CHECK_NEAR(f->series[row].y[column], sweep->points[i].judged.throughput.value, 0);
        CHECK_STR(f->series[row].names[column], sweep->points[i].judged.label);
        CHECK_INT(f->series[row].flags[column], i == sweep->best ? ASSAY__POINT_MARKED
                                                : tied           ? ASSAY__POINT_TIED
                                                                 : 0);
    }
    CHECK_INT(sweep->best, 5);
    CHECK_INT(sweep->alike_count, 1);
    CHECK_INT(assay__heat_step(f, sweep->points[5].judged.throughput.value), 7);
    CHECK_INT(assay__heat_step(f, sweep->points[0].judged.throughput.value), 0);
    CHECK_INT(assay__heat_step(f, NAN), -1);
    CHECK_HAS(assay__headline(study), "Best throughput: threads=2 batch=4, 200 /s, 2 × ");
    CHECK_HAS(assay__headline(study), "; tied with threads=1 batch=4.");
    /* the lines: the axis with most values, and the best and what is tied with it joined */
    CHECK_INT(assay__figures_of(study, assay__figure_row_find("sweep"), arena, &figures, &count,
                                &left, NULL),
              0);
    CHECK_STR(figures[0].x_title, "batch");
    const struct assay__figure_series *joined = &figures[0].series[2];
    CHECK(joined->joined && joined->count == 2);
    assay__study_free(study);
    assay_profile_close(p);
}

/* --- rows that are tied ----------------------------------------------------------------------- */

static const struct assay__table *table_of(const struct assay__doc *doc, const char *name)
{
    for (size_t i = 0; i < doc->count; i++)
        if (doc->blocks[i].table && doc->blocks[i].table->name &&
            strcmp(doc->blocks[i].table->name, name) == 0)
            return doc->blocks[i].table;
    harness_fail(__FILE__, __LINE__, "no such table");
    return NULL;
}

static void add_configuration(struct assay_profile *p, const char *role, const char *label,
                              double latency_s, int launches)
{
    struct assay__trial *trial = assay__profile_trial(p);
    fact(p, trial, "label", label);
    fact(p, trial, "role", role);
    fact(p, trial, "goal", "latency");
    trial->state = ASSAY__TRIAL_OK;
    trial->target.device = "cpu";
    for (int i = 0; i < launches; i++) {
        struct assay__launch *launch = assay__trial_launch(p, trial);
        launch->state = ASSAY__TRIAL_OK;
        launch->p50_ns = latency_s * 1e9 * (1 + 0.01 * i);
        assay_metrics_measured(launch->metrics, "latency.p50", launch->p50_ns / 1e9, "", "");
    }
    assay_metrics_measured(trial->metrics, "latency.p50", latency_s, "", "");
    assay_metrics_derived(trial->metrics, "throughput.samples", 1 / latency_s, "", "");
}

/* The best first, then the band of those tied with it, as the judge has them; one column per
 * setting that varies; a short launch does not push the best off the front. */
static void test_band(void)
{
    struct assay_profile *p = assay__profile_new();
    struct assay__study *study = NULL;
    struct assay__doc *doc;
    assay__profile_set_command(p, "tune");
    add_configuration(p, "start", "precision=float32 opt=all threads=4", 0.020, 1);
    add_configuration(p, "finalist", "precision=float32 opt=all threads=4", 0.020, 5);
    add_configuration(p, "finalist", "precision=float32 opt=none threads=1", 0.0101, 5);
    add_configuration(p, "finalist", "precision=float32 opt=all threads=1", 0.0102, 5);
    add_configuration(p, "search", "precision=float32 opt=basic threads=2", 0.009, 2);
    CHECK_INT(assay__study_new(p, &study), 0);
    struct assay_report_options options = {.size = sizeof options, .format = "text", .full = true};
    CHECK_INT(assay__report_document(study, &options, &doc, NULL), 0);
    const struct assay__tune_result *tune = assay__study_tune(study);
    const struct assay__table *t = table_of(doc, "tune");
    CHECK_INT(t->row_count, tune->count);
    size_t tied = 0;
    for (size_t i = 0; i < tune->count; i++) {
        unsigned flags = assay__table_flags(t, i);
        CHECK_INT((flags & ASSAY__ROW_TIED) != 0, tune->rows[i].alike);
        CHECK_INT((flags & ASSAY__ROW_BEST) != 0, i == tune->best);
        tied += tune->rows[i].alike;
    }
    CHECK(tied > 0);
    CHECK_INT(t->order[0], tune->best);
    for (size_t i = 1; i <= tied; i++)
        CHECK(tune->rows[t->order[i]].alike);
    CHECK(tune->rows[tune->best].front);
    size_t shown = 0;
    for (size_t c = 0; c < t->column_count; c++)
        shown += t->columns[c].title && (strcmp(t->columns[c].title, "opt") == 0 ||
                                         strcmp(t->columns[c].title, "threads") == 0 ||
                                         strcmp(t->columns[c].title, "precision") == 0);
    CHECK_INT(shown, 2); /* precision is the same in all: not a column */
    assay__doc_free(doc);
    assay__study_free(study);
    assay_profile_close(p);
}

/* --- sentences -------------------------------------------------------------------------------- */

static void check_words(const char *text)
{
    CHECK(*text != 0);
    if (assay__count_words(text) > ASSAY__VERDICT_WORDS) harness_fail(__FILE__, __LINE__, text);
}

static void test_headlines_are_short(void)
{
    static const char *const words[] = {
        "", "a name of very many words that somebody gave to a profile, and more of them still"};
    for (size_t w = 0; w < COUNT(words); w++) {
        struct assay__diff diff = two_runs();
        if (*words[w]) diff.sides[0].name = diff.sides[1].name = words[w];
        check_words(assay__headline_diff(&diff, arena));
        struct assay_profile *p = grid();
        struct assay__study *study = NULL;
        if (*words[w])
            for (size_t i = 0; i < p->trial_count; i++)
                p->trials[i].label = words[w];
        CHECK_INT(assay__study_new(p, &study), 0);
        check_words(assay__headline(study));
        assay__study_free(study);
        assay_profile_close(p);
    }
    check_words(
        assay__headline_cut("one two three four five six seven eight nine ten eleven twelve "
                            "thirteen fourteen fifteen sixteen; seventeen eighteen nineteen "
                            "twenty twenty-one",
                            arena));
    CHECK_STR(
        assay__headline_cut("1 2 3 4 5 6 7 8 9; 10 11 12 13 14 15 16 17 18 19.5 20 21", arena),
        "1 2 3 4 5 6 7 8 9.");
}

static void test_headline_of_a_busy_machine(void)
{
    struct assay_profile *p = grid();
    struct assay__sweep sweep = {.best = 0, .withdrawn = true};
    const char *text = assay__headline_sweep(p, &sweep, arena);
    CHECK_HAS(text, "Not judged");
    check_words(text);
    assay_profile_close(p);
}

static void test_headline_of_a_difference(void)
{
    struct assay__diff diff = two_runs();
    CHECK_HAS(assay__headline_diff(&diff, arena),
              "b.assay is 7.5 % faster than a.assay (7.5 to 7.5 %). Most in Conv: −28.0 µs.");
    struct assay__diff slower = compare(
        (struct assay_profile *[]){run_of(100, old_run, COUNT(old_run), 7),
                                   run_of(250, new_run, COUNT(new_run), 7)},
        2);
    CHECK_HAS(assay__headline_diff(&slower, arena), "b.assay takes 2.5 × the time of a.assay (2.5");
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"waterfall_sums", test_waterfall_sums},
        {"waterfall_figure", test_waterfall_figure},
        {"waterfall_reasons", test_waterfall_reasons},
        {"strips", test_strips},
        {"heat_map", test_heat_map},
        {"band", test_band},
        {"headlines_are_short", test_headlines_are_short},
        {"headline_of_a_busy_machine", test_headline_of_a_busy_machine},
        {"headline_of_a_difference", test_headline_of_a_difference},
    };
    return harness_main(argc, argv, tests, COUNT(tests));
}
