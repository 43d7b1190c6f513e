/* test_diff_layers.c - which layers of several runs are the same work: fused, split, renamed,
 * permuted, numbered anew, of another batch; groups of three runs; names that occur often; and
 * which rows are shown. */
#include "diff_fixture.h"

#include "judge/diff.h"
#include "base/stats.h"

enum { MOST = 64 };

/* "name op time_us flops from,from": one layer each. */
struct recipe {
    const char *name, *op;
    double time_us, flops;
    const char *from[4];
};

static struct assay_profile *make(const char *fingerprint, const struct recipe *recipes,
                                  size_t count)
{
    struct assay_profile *profile = diff_profile(fingerprint);
    struct assay__trial *trial = &profile->trials[0];
    assay_metrics_measured(trial->metrics, "latency.p50", 1e-3, "clock", "");
    trial->layers.items = assay__arena_array(arena, count, sizeof(struct assay__layer));
    trial->layers.count = count;
    for (size_t i = 0; i < count; i++) {
        struct assay__layer *layer = &trial->layers.items[i];
        const char **from = assay__arena_array(arena, 4, sizeof *from);
        *layer = (struct assay__layer){.index = (int)i,
                                       .name = recipes[i].name,
                                       .op = recipes[i].op,
                                       .provider = "",
                                       .bound = "",
                                       .time_ns = recipes[i].time_us * 1e3,
                                       .flops = recipes[i].flops,
                                       .bytes = NAN,
                                       .state = ASSAY_MEASURED,
                                       .method = "",
                                       .note = "",
                                       .from = from};
        for (size_t k = 0; k < 4 && recipes[i].from[k]; k++)
            from[layer->from_count++] = recipes[i].from[k];
    }
    return profile;
}

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define COMPARE(one, two, fa, fb) \
    compare((struct assay_profile *[]){make(fa, one, COUNT(one)), make(fb, two, COUNT(two))}, 2)

/* Members of a side as text: "0 1", "-". */
static const char *members(const struct assay__diff *diff, size_t row, size_t side)
{
    static char text[4][256];
    static size_t next;
    char *out = text[next++ % 4];
    const struct assay__diff_layer *r = &diff->layers[row];
    size_t used = 0;
    out[0] = 0;
    for (size_t i = r->starts[side]; i < r->starts[side + 1] && used < 200; i++)
        used += (size_t)snprintf(out + used, 256 - used, "%s%zu", used ? " " : "", r->members[i]);
    return used ? out : "-";
}

static size_t layer_rows(const struct assay__diff *diff)
{
    size_t count = 0;
    for (size_t i = 0; i < diff->layer_count; i++)
        count += diff->layers[i].kind == ASSAY__DIFF_LAYER;
    return count;
}

static void check_row(const struct assay__diff *diff, size_t row, const char *a, const char *b,
                      enum assay__diff_match match)
{
    CHECK_STR(members(diff, row, 0), a);
    CHECK_STR(members(diff, row, 1), b);
    CHECK_INT(diff->layers[row].match, match);
}

static const struct recipe apart[] = {{"c1", "Conv", 60, 100, {"conv1"}},
                                      {"r1", "Relu", 30, 10, {"relu1"}},
                                      {"f", "Gemm", 10, 50, {"fc"}}};
static const struct recipe fused[] = {{"x", "FusedConv", 70, 110, {"conv1", "relu1"}},
                                      {"f", "Gemm", 10, 50, {"fc"}}};

static void fused_layers_are_one_row(void)
{
    struct assay__diff diff = COMPARE(apart, fused, "f", "f");
    CHECK_INT(layer_rows(&diff), 2);
    check_row(&diff, 0, "0 1", "0", ASSAY__DIFF_ORIGIN);
    check_row(&diff, 1, "2", "1", ASSAY__DIFF_ORIGIN);
    CHECK(diff.layers[0].grouped && !diff.layers[1].grouped);
    CHECK_NEAR(diff.layers[0].times_ns[0], 90e3, 1e-6);
    CHECK_NEAR(diff.layers[0].deltas[1].ratio, 70.0 / 90, 1e-12);
    CHECK_NEAR(diff.layers[0].deltas[1].difference, -20e3, 1e-6);
    CHECK_INT(diff.layers[0].deltas[1].verdict, ASSAY__DIFF_UNJUDGED);
    CHECK_HAS(diff.layers[0].deltas[1].reason, "per launch");
    CHECK_INT(diff.layer_order[0], 0);
}

static void split_layers_are_one_row(void)
{
    struct assay__diff diff = COMPARE(fused, apart, "f", "f");
    CHECK_INT(layer_rows(&diff), 2);
    check_row(&diff, 0, "0", "0 1", ASSAY__DIFF_ORIGIN);
    check_row(&diff, 1, "1", "2", ASSAY__DIFF_ORIGIN);
    CHECK_NEAR(diff.layers[0].deltas[1].ratio, 90.0 / 70, 1e-12);
}

/* a {1,2}{3}, b {1}{2,3}: neither fusion holds the other, so all of it is one row. */
static void overlapping_fusions_are_one_row(void)
{
    static const struct recipe a[] = {{"x", "A", 1, 1, {"1", "2"}}, {"y", "B", 2, 1, {"3"}}};
    static const struct recipe b[] = {{"p", "A", 4, 1, {"1"}}, {"q", "B", 8, 1, {"2", "3"}}};
    struct assay__diff diff = COMPARE(a, b, "f", "f");
    CHECK_INT(layer_rows(&diff), 1);
    check_row(&diff, 0, "0 1", "0 1", ASSAY__DIFF_ORIGIN);
    CHECK_NEAR(diff.layers[0].deltas[1].ratio, 4, 1e-12);
}

static void renamed_layers_match_by_structure(void)
{
    static const struct recipe a[] = {{"a0", "Conv", 1, 100, {0}},
                                      {"a1", "Relu", 1, 10, {0}},
                                      {"a2", "Conv", 1, 200, {0}},
                                      {"a3", "Gemm", 1, 50, {0}}};
    static const struct recipe b[] = {{"b0", "Conv", 2, 100, {0}},
                                      {"b1", "Relu", 2, 10, {0}},
                                      {"b2", "Sigmoid", 2, 5, {0}},
                                      {"b3", "Conv", 2, 200, {0}},
                                      {"b4", "Gemm", 2, 50, {0}}};
    struct assay__diff diff = COMPARE(a, b, "one", "two");
    CHECK_INT(layer_rows(&diff), 5);
    check_row(&diff, 0, "0", "0", ASSAY__DIFF_STRUCTURE);
    check_row(&diff, 1, "1", "1", ASSAY__DIFF_STRUCTURE);
    check_row(&diff, 2, "2", "3", ASSAY__DIFF_STRUCTURE);
    check_row(&diff, 3, "3", "4", ASSAY__DIFF_STRUCTURE);
    check_row(&diff, 4, "-", "2", ASSAY__DIFF_ALONE);
    CHECK_STR(diff.layers[4].deltas[1].reason, "not in the base");
    CHECK(diff.layers[4].shown);
    CHECK(!diff.same_model);
}

/* An exporter that numbers nodes: one more layer renames all later ones, and names must not win. */
static void numbers_in_names_do_not_mislead(void)
{
    static const struct recipe a[] = {{"Conv_0", "Conv", 1, 100, {0}},
                                      {"Conv_1", "Conv", 1, 200, {0}},
                                      {"Conv_2", "Conv", 1, 400, {0}},
                                      {"Conv_3", "Conv", 1, 800, {0}}};
    static const struct recipe b[] = {{"Conv_0", "Conv", 1, 100, {0}},
                                      {"Conv_1", "Conv", 1, 7, {0}},
                                      {"Conv_2", "Conv", 1, 200, {0}},
                                      {"Conv_3", "Conv", 1, 400, {0}},
                                      {"Conv_4", "Conv", 1, 800, {0}}};
    struct assay__diff diff = COMPARE(a, b, "one", "two");
    CHECK_INT(layer_rows(&diff), 5);
    check_row(&diff, 1, "1", "2", ASSAY__DIFF_STRUCTURE);
    check_row(&diff, 3, "3", "4", ASSAY__DIFF_STRUCTURE);
    check_row(&diff, 4, "-", "1", ASSAY__DIFF_ALONE);
}

/* Reorders have no origin, and their numbers are dealt anew in each session. */
static void names_the_engine_made_up_join_nothing(void)
{
    static const struct recipe a[] = {{"c0", "Conv", 9, 100, {"n0"}},
                                      {"Reorder_token_7", "Reorder", 200, 0, {0}},
                                      {"c1", "Conv", 9, 200, {"n1"}},
                                      {"Reorder_token_8", "Reorder", 1, 0, {0}},
                                      {"c2", "Conv", 9, 400, {"n2"}}};
    static const struct recipe b[] = {{"c0", "Conv", 9, 100, {"n0"}},
                                      {"Reorder_token_8", "Reorder", 200, 0, {0}},
                                      {"c1", "Conv", 9, 200, {"n1"}},
                                      {"Reorder_token_7", "Reorder", 1, 0, {0}},
                                      {"c2", "Conv", 9, 400, {"n2"}}};
    struct assay__diff diff = COMPARE(a, b, "f", "f");
    CHECK_INT(layer_rows(&diff), 5);
    check_row(&diff, 1, "1", "1", ASSAY__DIFF_STRUCTURE);
    check_row(&diff, 3, "3", "3", ASSAY__DIFF_STRUCTURE);
}

/* Another batch is another fingerprint, but all FLOPs stand in one ratio: names mean the same. */
static void another_batch_matches_by_origin(void)
{
    struct recipe a[] = {{"x0", "Conv", 1, 100, {"n0"}},
                         {"x1", "Conv", 1, 800, {"n1"}},
                         {"x2", "Gemm", 1, 30, {"n2"}}};
    struct recipe b[] = {{"x0", "Conv", 9, 800, {"n0"}},
                         {"x1", "Conv", 9, 6400, {"n1"}},
                         {"x2", "Gemm", 9, 240, {"n2"}}};
    struct assay__diff diff = COMPARE(a, b, "one", "two");
    CHECK_INT(layer_rows(&diff), 3);
    for (size_t i = 0; i < 3; i++)
        CHECK_INT(diff.layers[i].match, ASSAY__DIFF_ORIGIN);
    check_row(&diff, 0, "0", "0", ASSAY__DIFF_ORIGIN);
}

static void permuted_layers_match_by_origin(void)
{
    struct recipe a[MOST], b[MOST];
    static char names[MOST][16];
    for (size_t i = 0; i < MOST; i++) {
        snprintf(names[i], sizeof names[i], "node%zu", i);
        a[i] = (struct recipe){"", "Conv", (double)i + 1, 100, {names[i]}};
        b[(i * 37 + 11) % MOST] = (struct recipe){"", "Conv", 2 * (double)(i + 1), 100, {names[i]}};
    }
    struct assay__diff diff = COMPARE(a, b, "f", "f");
    CHECK_INT(layer_rows(&diff), MOST);
    for (size_t i = 0; i < MOST; i++) {
        CHECK_INT(diff.layers[i].members[0], i);
        CHECK_INT(diff.layers[i].members[1], (i * 37 + 11) % MOST);
        CHECK_NEAR(diff.layers[i].deltas[1].ratio, 2, 1e-12);
    }
}

/* What has no name in common takes its place between matched neighbours. */
static void position_is_the_last_resort(void)
{
    static const struct recipe a[] = {{"", "Conv", 1, 1, {"c1"}},
                                      {"p", "Reorder", 1, 3, {0}},
                                      {"", "Conv", 1, 1, {"c2"}},
                                      {"q", "Reorder", 1, 4, {0}}};
    static const struct recipe b[] = {
        {"", "Conv", 1, 1, {"c1"}}, {"", "Conv", 1, 1, {"c2"}}, {"s", "Reorder", 1, 9, {0}}};
    struct assay__diff diff = COMPARE(a, b, "f", "f");
    CHECK_INT(layer_rows(&diff), 4);
    check_row(&diff, 1, "1", "-", ASSAY__DIFF_ALONE);
    check_row(&diff, 3, "3", "2", ASSAY__DIFF_POSITION);
    CHECK_STR(diff.layers[1].deltas[1].reason, "only in the base");
}

/* The same operator at the same place means nothing between models that have nothing else in
 * common. */
static void another_model_is_not_matched_by_force(void)
{
    static const struct recipe a[] = {{"a0", "Conv", 1, 10, {0}},
                                      {"a1", "Conv", 1, 20, {0}},
                                      {"a2", "Conv", 1, 30, {0}},
                                      {"a3", "Gemm", 1, 40, {0}}};
    static const struct recipe b[] = {{"b0", "Conv", 1, 5, {0}},
                                      {"b1", "Conv", 1, 6, {0}},
                                      {"b2", "Conv", 1, 7, {0}},
                                      {"a3", "Gemm", 1, 41, {0}},
                                      {"b4", "Conv", 1, 90, {0}}};
    struct assay__diff diff = COMPARE(a, b, "one", "two");
    for (size_t i = 0; i < diff.layer_count; i++)
        CHECK(diff.layers[i].match != ASSAY__DIFF_POSITION);
    bool said = false;
    for (size_t i = 0; i < diff.note_count; i++)
        said |= strstr(diff.notes[i], "1 of 4 layers of a.assay have a counterpart in b.assay") !=
                NULL;
    CHECK(said);
}

static void names_that_repeat_are_taken_in_order(void)
{
    static const struct recipe three[] = {
        {"n", "A", 1, 1, {0}}, {"n", "A", 2, 2, {0}}, {"n", "A", 3, 3, {0}}};
    static const struct recipe two[] = {{"n", "A", 2, 2, {0}}, {"n", "A", 3, 3, {0}}};
    struct assay__diff same = COMPARE(three, three, "f", "f");
    CHECK_INT(layer_rows(&same), 3);
    for (size_t i = 0; i < 3; i++)
        CHECK_NEAR(same.layers[i].deltas[1].ratio, 1, 0);
    /* counts that disagree prove nothing: work decides */
    struct assay__diff less = COMPARE(three, two, "f", "f");
    CHECK_INT(layer_rows(&less), 3);
    check_row(&less, 0, "0", "-", ASSAY__DIFF_ALONE);
    check_row(&less, 1, "1", "0", ASSAY__DIFF_STRUCTURE);
    check_row(&less, 2, "2", "1", ASSAY__DIFF_STRUCTURE);
}

static void three_runs_make_one_row(void)
{
    static const struct recipe only[] = {{"x", "FusedConv", 50, 110, {"conv1", "relu1"}},
                                         {"n", "New", 5, 1, {"new"}}};
    static const struct recipe also[] = {{"n", "New", 7, 1, {"new"}}};
    struct assay_profile *all[] = {make("f", apart, COUNT(apart)), make("f", only, COUNT(only)),
                                   make("f", also, COUNT(also))};
    struct assay__diff diff = compare(all, 3);
    CHECK_INT(layer_rows(&diff), 3);
    CHECK_STR(members(&diff, 0, 0), "0 1");
    CHECK_STR(members(&diff, 0, 1), "0");
    CHECK_STR(members(&diff, 0, 2), "-");
    CHECK_STR(diff.layers[0].deltas[2].reason, "only in the base");
    CHECK_STR(members(&diff, 2, 0), "-");
    CHECK_STR(members(&diff, 2, 1), "1");
    CHECK_STR(members(&diff, 2, 2), "0");
}

static void unknown_times_stay_unknown(void)
{
    struct recipe a[] = {{"x", "A", 1, 1, {"1"}}, {"y", "B", NAN, 1, {"2"}}};
    struct recipe b[] = {{"z", "A", 4, 1, {"1", "2"}}};
    struct assay__diff diff = COMPARE(a, b, "f", "f");
    CHECK_INT(layer_rows(&diff), 1);
    CHECK(isnan(diff.layers[0].times_ns[0]));
    CHECK(isnan(diff.layers[0].deltas[1].ratio) && isnan(diff.layers[0].deltas[1].difference));
    CHECK_INT(diff.layers[0].deltas[1].verdict, ASSAY__DIFF_NOT_COMPARABLE);
}

static void a_run_without_layers_says_why(void)
{
    struct assay_profile *both[] = {make("f", apart, COUNT(apart)), make("f", apart, 0)};
    both[1]->trials[0].layers.reason = "layers were off";
    struct assay__diff diff = compare(both, 2);
    CHECK_INT(diff.layer_count, 0);
    CHECK_STR(diff.layers_reason, "b.assay has no layers: layers were off.");
}

/* --- what is shown ---------------------------------------------------------------------------- */

static void add_launches(struct assay_profile *profile, double sum_us, double unattributed_us)
{
    struct assay__trial *trial = &profile->trials[0];
    trial->layers.engine_ns = 5e3;
    trial->layers.unattributed_ns = unattributed_us * 1e3;
    trial->layers.spread = 0.1;
    for (size_t i = 0; i < 6; i++) {
        struct assay__launch *launch = assay__trial_launch(profile, trial);
        double wobble = 1 + 0.001 * ((double)i - 3);
        launch->state = ASSAY__TRIAL_OK;
        launch->p50_ns = sum_us * 1e4 * wobble;
        assay_metrics_derived(launch->metrics, "layers.sum", sum_us / 1e6 * wobble, "m", "x");
        assay_metrics_derived(launch->metrics, "layers.engine", 5e-6 * wobble, "m", "x");
        assay_metrics_derived(launch->metrics, "layers.unattributed", unattributed_us / 1e6, "m",
                              "x");
    }
}

static const struct assay__diff_layer *special(const struct assay__diff *diff,
                                               enum assay__diff_kind kind)
{
    for (size_t i = 0; i < diff->layer_count; i++)
        if (diff->layers[i].kind == kind) return &diff->layers[i];
    CHECK(false);
    return NULL;
}

static void rows_within_the_spread_are_folded(void)
{
    static const struct recipe a[] = {
        {"", "A", 50, 1, {"1"}}, {"", "B", 30, 1, {"2"}}, {"", "C", 20, 1, {"3"}}};
    static const struct recipe b[] = {
        {"", "A", 25, 1, {"1"}}, {"", "B", 32, 1, {"2"}}, {"", "C", 26, 1, {"3"}}};
    struct assay_profile *both[] = {make("f", a, 3), make("f", b, 3)};
    add_launches(both[0], 100, -2);
    add_launches(both[1], 83, 3);
    struct assay__diff diff = compare(both, 2);
    CHECK(!diff.layers_strict);
    CHECK_NEAR(diff.layers_spread, 0.1, 0);
    CHECK(diff.layers[0].shown && !diff.layers[1].shown && diff.layers[2].shown);
    CHECK_INT(special(&diff, ASSAY__DIFF_LAYER_SUM)->deltas[1].verdict, ASSAY__DIFF_LOWER);
    CHECK_NEAR(special(&diff, ASSAY__DIFF_LAYER_SUM)->deltas[1].ratio, 0.83, 1e-12);
    CHECK_INT(special(&diff, ASSAY__DIFF_ENGINE)->deltas[1].verdict, ASSAY__DIFF_SAME);
    /* what is signed has a difference and no ratio */
    const struct assay__diff_delta *rest = &special(&diff, ASSAY__DIFF_UNATTRIBUTED)->deltas[1];
    CHECK_INT(rest->verdict, ASSAY__DIFF_UNJUDGED);
    CHECK(isnan(rest->ratio));
    CHECK_NEAR(rest->difference, 5e3, 1e-9);
    CHECK_HAS(rest->reason, "above zero");
}

/* All together show no difference: a row must have changed by more than a tenth of the sum. */
static void alike_runs_show_no_rows(void)
{
    static const struct recipe a[] = {
        {"", "A", 50, 1, {"1"}}, {"", "B", 30, 1, {"2"}}, {"", "C", 20, 1, {"3"}}};
    static const struct recipe b[] = {
        {"", "A", 41, 1, {"1"}}, {"", "B", 42, 1, {"2"}}, {"", "C", 17, 1, {"3"}}};
    struct assay_profile *both[] = {make("f", a, 3), make("f", b, 3)};
    add_launches(both[0], 100, 1);
    add_launches(both[1], 100, 1);
    struct assay__diff diff = compare(both, 2);
    CHECK(diff.layers_strict);
    CHECK(!diff.layers[0].shown && diff.layers[1].shown && !diff.layers[2].shown);
}

/* --- times by launch -------------------------------------------------------------------------- */

/* Layer i takes its time in every launch, times 1 + (the launch's number - 3) / 1000; launch 2 of
 * layer `gap` has none. */
static void add_launch_times(struct assay_profile *profile, size_t launches, size_t gap)
{
    struct assay__layers *layers = &profile->trials[0].layers;
    int *ids = assay__arena_array(arena, launches, sizeof *ids);
    for (size_t l = 0; l < launches; l++)
        ids[l] = (int)l + 1;
    for (size_t i = 0; i < layers->count; i++) {
        double *times_ns = assay__arena_array(arena, launches, sizeof *times_ns);
        for (size_t l = 0; l < launches; l++)
            times_ns[l] = i == gap && l == 1
                              ? (double)NAN
                              : layers->items[i].time_ns * (1 + ((double)l - 3) / 1000);
        layers->items[i].launch_times_ns = times_ns;
    }
    layers->launch_count = launches;
    layers->launch_ids = ids;
}

/* Two layers against one that fuses them; one that halves; one that stays. Seven launches each:
 * ratios are exact, the ends of the interval are pairwise ratios, and the smallest p is 2 / C(14,
 * 7). */
static void rows_are_judged_launch_by_launch(void)
{
    static const struct recipe a[] = {{"", "A", 50, 1, {"1"}},
                                      {"", "B", 30, 1, {"2"}},
                                      {"", "C", 20, 1, {"3"}},
                                      {"", "D", 8, 1, {"4"}}};
    static const struct recipe b[] = {
        {"", "AB", 160, 1, {"1", "2"}}, {"", "C", 10, 1, {"3"}}, {"", "D", 8, 1, {"4"}}};
    struct assay_profile *both[] = {make("f", a, 4), make("f", b, 3)};
    add_launches(both[0], 100, 1);
    add_launches(both[1], 100, 1);
    add_launch_times(both[0], 7, SIZE_MAX);
    add_launch_times(both[1], 7, SIZE_MAX);
    double half_ns = both[1]->trials[0].layers.items[1].time_ns;
    both[1]->trials[0].layers.items[1].time_ns *= 1.5; /* what the run says otherwise */
    struct assay__diff diff = compare(both, 2);
    CHECK(diff.layers[1].by_launch);
    CHECK_NEAR(diff.layers[1].times_ns[1], half_ns, 1e-9);
    for (size_t i = 0; i < diff.layer_count; i++) { /* one statistic in every row */
        const struct assay__diff_layer *row = &diff.layers[i];
        if (!isfinite(row->deltas[1].ratio)) continue;
        CHECK_NEAR(row->times_ns[1] / row->times_ns[0], row->deltas[1].ratio, 1e-9);
        CHECK_NEAR(row->times_ns[1] - row->times_ns[0], row->deltas[1].difference, 1e-6);
    }
    const struct assay__diff_delta *both_in_one = &diff.layers[0].deltas[1],
                                   *half = &diff.layers[1].deltas[1],
                                   *same = &diff.layers[2].deltas[1];
    CHECK_INT(diff.layers_judged, 3);
    CHECK(diff.layers[0].grouped);
    CHECK_INT(both_in_one->verdict, ASSAY__DIFF_HIGHER);
    CHECK_NEAR(both_in_one->ratio, 2, 1e-12);
    CHECK_NEAR(both_in_one->p_value, 2.0 / 3432, 1e-12);
    CHECK(both_in_one->ci.known && both_in_one->ci.low > 1.99 && both_in_one->ci.high < 2.01);
    CHECK_INT(half->verdict, ASSAY__DIFF_LOWER);
    CHECK_NEAR(half->ratio, 0.5, 1e-12);
    CHECK_INT(same->verdict, ASSAY__DIFF_SAME);
    CHECK_NEAR(same->ratio, 1, 1e-12);
    CHECK(diff.layers[0].shown && diff.layers[1].shown && !diff.layers[2].shown);
    CHECK_STR(diff.layers_interval_reason, "");
    CHECK_HAS(diff.layers_rule, "one in twenty");
}

/* A launch that did not time a row's layer does not count for it: four are too few, the rows beside
 * it have five. */
static void a_launch_without_a_time_is_left_out(void)
{
    static const struct recipe a[] = {{"", "A", 50, 1, {"1"}}, {"", "B", 30, 1, {"2"}}};
    struct assay_profile *both[] = {make("f", a, 2), make("f", a, 2)};
    add_launch_times(both[0], 5, SIZE_MAX);
    add_launch_times(both[1], 5, 0);
    struct assay__diff diff = compare(both, 2);
    CHECK(!diff.layers[0].deltas[1].ci.known && diff.layers[1].deltas[1].ci.known);
    CHECK_INT(diff.layers[0].deltas[1].verdict, ASSAY__DIFF_UNJUDGED);
    CHECK_HAS(diff.layers[0].deltas[1].reason, "at least 5 launches");
    CHECK_INT(diff.layers_judged, 1);
}

/* Four launches, and none: a ratio, no interval, and why. */
static void too_few_launches_give_no_interval(void)
{
    static const struct recipe a[] = {{"", "A", 50, 1, {"1"}}}, b[] = {{"", "A", 25, 1, {"1"}}};
    struct assay_profile *both[] = {make("f", a, 1), make("f", b, 1)};
    add_launch_times(both[0], 9, SIZE_MAX);
    add_launch_times(both[1], 4, SIZE_MAX);
    struct assay__diff diff = compare(both, 2);
    CHECK(diff.layers_judged == 0 && !diff.layers[0].deltas[1].ci.known);
    CHECK_NEAR(diff.layers[0].deltas[1].ratio, 0.5, 1e-12);
    CHECK_HAS(diff.layers_interval_reason, "at least 5 launches");
    both[1] = make("f", b, 1); /* from before launches were kept */
    diff = compare(both, 2);
    CHECK(diff.layers_judged == 0 && !diff.layers[0].deltas[1].ci.known);
    CHECK_HAS(diff.layers_interval_reason, "one time per layer");
}

/* Random fusions of the same nodes, some unknown to the other side: every layer stands in one row,
 * rows hold all the time, and layers that share a node stand together. */
static void every_layer_stands_once(void)
{
    static char names[MOST * 2][16];
    struct assay__random random;
    assay__random_seed(&random, 7);
    for (size_t i = 0; i < MOST * 2; i++)
        snprintf(names[i], sizeof names[i], "n%zu", i);
    for (size_t round = 0; round < 200; round++) {
        struct recipe sides[2][MOST];
        size_t counts[2] = {0}, row_of[2][MOST];
        for (size_t s = 0; s < 2; s++)
            for (size_t node = 0; node + 3 < MOST;) {
                struct recipe *r = &sides[s][counts[s]++];
                *r = (struct recipe){"",
                                     assay__random_below(&random, 2) ? "A" : "B",
                                     (double)assay__random_below(&random, 100) + 1,
                                     (double)assay__random_below(&random, 3),
                                     {0}};
                size_t nodes = 1 + assay__random_below(&random, 3);
                for (size_t k = 0; k < nodes; k++, node++)
                    r->from[k] = names[node + (assay__random_below(&random, 8) ? 0 : MOST)];
            }
        struct assay_profile *both[] = {make("f", sides[0], counts[0]),
                                        make("f", sides[1], counts[1])};
        struct assay__diff diff = compare(both, 2);
        for (size_t s = 0; s < 2; s++) {
            size_t seen = 0;
            double time = 0, expected = 0;
            for (size_t i = 0; i < layer_rows(&diff); i++)
                for (size_t m = diff.layers[i].starts[s]; m < diff.layers[i].starts[s + 1]; m++) {
                    row_of[s][diff.layers[i].members[m]] = i;
                    time += sides[s][diff.layers[i].members[m]].time_us;
                    seen++;
                }
            for (size_t i = 0; i < counts[s]; i++)
                expected += sides[s][i].time_us;
            CHECK_INT(seen, counts[s]);
            CHECK_NEAR(time, expected, 1e-9);
        }
        for (size_t i = 0; i < counts[0]; i++)
            for (size_t j = 0; j < counts[1]; j++)
                for (size_t x = 0; x < 3 && sides[0][i].from[x]; x++)
                    for (size_t y = 0; y < 3 && sides[1][j].from[y]; y++)
                        if (sides[0][i].from[x] == sides[1][j].from[y])
                            CHECK_INT(row_of[0][i], row_of[1][j]);
        assay_profile_close(both[0]);
        assay_profile_close(both[1]);
    }
}

/* --- many ------------------------------------------------------------------------------------- */

static void many(size_t count, bool renamed)
{
    struct assay__layer *layers[2];
    struct assay__align_side sides[2];
    struct assay__align found;
    for (size_t s = 0; s < 2; s++) {
        layers[s] = calloc(count, sizeof *layers[s]);
        for (size_t i = 0; i < count; i++) {
            char name[32];
            snprintf(name, sizeof name, "%s%zu", s && renamed ? "new" : "old", i);
            layers[s][i] = (struct assay__layer){.name = assay__arena_strdup(arena, name),
                                                 .op = i % 3 ? "Conv" : "Relu",
                                                 .flops = (double)(i * 7919 % 50),
                                                 .bytes = NAN};
        }
        sides[s] = (struct assay__align_side){layers[s], count, true};
    }
    layers[1][count / 2].op = "Other"; /* the ends alone do not settle it */
    CHECK_INT(assay__align(sides, 2, arena, &found), 0);
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += found.groups[i] != found.groups[count + i];
    CHECK(wrong <= 1);
    CHECK(found.group_count <= count + 1);
    free(layers[0]);
    free(layers[1]);
}

static void many_layers_are_matched(void)
{
    arena = assay__arena_new();
    many(100000, false);
    many(100000, true);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"fused_layers_are_one_row", fused_layers_are_one_row},
        {"split_layers_are_one_row", split_layers_are_one_row},
        {"overlapping_fusions_are_one_row", overlapping_fusions_are_one_row},
        {"renamed_layers_match_by_structure", renamed_layers_match_by_structure},
        {"numbers_in_names_do_not_mislead", numbers_in_names_do_not_mislead},
        {"names_the_engine_made_up_join_nothing", names_the_engine_made_up_join_nothing},
        {"another_batch_matches_by_origin", another_batch_matches_by_origin},
        {"permuted_layers_match_by_origin", permuted_layers_match_by_origin},
        {"position_is_the_last_resort", position_is_the_last_resort},
        {"another_model_is_not_matched_by_force", another_model_is_not_matched_by_force},
        {"names_that_repeat_are_taken_in_order", names_that_repeat_are_taken_in_order},
        {"three_runs_make_one_row", three_runs_make_one_row},
        {"unknown_times_stay_unknown", unknown_times_stay_unknown},
        {"a_run_without_layers_says_why", a_run_without_layers_says_why},
        {"rows_within_the_spread_are_folded", rows_within_the_spread_are_folded},
        {"rows_are_judged_launch_by_launch", rows_are_judged_launch_by_launch},
        {"a_launch_without_a_time_is_left_out", a_launch_without_a_time_is_left_out},
        {"too_few_launches_give_no_interval", too_few_launches_give_no_interval},
        {"alike_runs_show_no_rows", alike_runs_show_no_rows},
        {"every_layer_stands_once", every_layer_stands_once},
        {"many_layers_are_matched", many_layers_are_matched},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
