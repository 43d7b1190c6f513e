/* test_ncp_groups.c - time steps and neuron groups of a recurrent cell, from profiles made by hand
 * whose sums are exact: every time is a whole number of ns, so the rows must add up to the last
 * bit. */
#include "base/buf.h"
#include "base/json.h"
#include "harness.h"
#include "judge/ncp_groups.h"
#include "text_lines.h"

#include <assay/report.h>

#define FROM(...) \
    (const char *[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / sizeof(const char *)

static struct assay__cell_group wired[] = {
    {"sensory", 8, 0, 0, ASSAY_DERIVED},
    {"inter", 10, 6000, 5000, ASSAY_DERIVED},
    {"command", 6, 3000, 2000, ASSAY_DERIVED},
    {"motor", 4, 1000, 900, ASSAY_DERIVED},
};

static struct assay__layer layer(const char *op, double time_ns, double flops, const char **from,
                                 size_t from_count)
{
    /* The names stay until the test's process ends. */
    static const char *pool[256];
    static size_t used;
    const char **kept = pool + used;
    CHECK(used + from_count <= sizeof pool / sizeof pool[0]);
    for (size_t i = 0; i < from_count; i++)
        pool[used++] = from[i];
    return (struct assay__layer){.name = from_count ? from[0] : op,
                                 .op = op,
                                 .provider = "CPU",
                                 .time_ns = time_ns,
                                 .host_enqueue_ns = NAN,
                                 .kernel_count = NAN,
                                 .gap_ns = NAN,
                                 .share = NAN,
                                 .flops = flops,
                                 .bytes = NAN,
                                 .bound = "unknown",
                                 .state = isnan(time_ns) ? ASSAY_UNAVAILABLE : ASSAY_MEASURED,
                                 .method = "markers",
                                 .note = "",
                                 .from = kept,
                                 .from_count = from_count};
}

static struct assay_profile *make(const char *form, int64_t steps, struct assay__layer *layers,
                                  size_t count, double engine_ns, double p50_ns)
{
    struct assay_profile *p = assay__profile_new();
    CHECK(p != NULL);
    struct assay__trial *t = assay__profile_trial(p);
    CHECK(t != NULL);
    double sum = engine_ns;
    p->models[0]->name = "cfc";
    p->models[0]->cell = (struct assay__cell_info){.kind = "CfC",
                                                   .form = form,
                                                   .steps = steps,
                                                   .fault = "",
                                                   .groups = wired,
                                                   .group_count = 4};
    for (size_t i = 0; i < count; i++) {
        layers[i].index = (int)i;
        if (!isnan(layers[i].time_ns)) sum += layers[i].time_ns;
    }
    t->state = ASSAY__TRIAL_OK;
    t->target.engine = "fake", t->target.device = "cpu";
    t->layers = assay__layers_unknown();
    t->layers.method = "markers", t->layers.reason = "";
    t->layers.items = layers, t->layers.count = count;
    t->layers.engine_ns = count ? engine_ns : (double)NAN;
    t->layers.unattributed_ns = count ? p50_ns - sum : (double)NAN;
    if (!isnan(p50_ns))
        CHECK_INT(assay_metrics_measured(t->metrics, "latency.p50", p50_ns / 1e9, "clock", ""), 0);
    return p;
}

static struct assay__ncp_groups *groups_of(const struct assay_profile *p)
{
    struct assay__ncp_groups *g = NULL;
    CHECK_INT(assay__ncp_groups_make(p, &p->trials[0], p->arena, &g), 0);
    CHECK(g != NULL);
    return g;
}

static const struct assay__part *row(const struct assay__part *rows, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].name, name) == 0) return &rows[i];
    printf("  no row '%s'\n", name);
    CHECK(false);
    return NULL;
}

static double sum_of(const struct assay__part *rows, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(rows[i].time_ns)) sum += rows[i].time_ns;
    return sum;
}

#define GROUP(g, name) row((g)->groups, (g)->group_count, name)
#define STEP(g, name) row((g)->steps, (g)->step_count, name)

static size_t unrolled_layers(struct assay__layer *l)
{
    size_t n = 0;
    l[n++] = layer("Split", 100, 0, FROM("/step0/input/Gather", "/step1/input/Gather"));
    l[n++] = layer("Gemm", 300, 30, FROM("/step0/inter/ff1/Gemm", "/step0/inter/gate/Tanh"));
    l[n++] = layer("Fused", 200, 20, FROM("/step0/command/Add", "/step0/inter/Mul"));
    l[n++] = layer("Gemm", 400, 40, FROM("/step1/inter/ff1/Gemm"));
    l[n++] = layer("Gemm", 500, 50, FROM("/step1/command/ff1/Gemm"));
    l[n++] = layer("Gemm", 600, 60, FROM("/step2/inter/ff1/Gemm"));
    l[n++] = layer("Gemm", 700, 70, FROM("/step2/command/ff1/Gemm"));
    l[n++] = layer("Fused", 80, 8, FROM("/step2/command/Mul", "/step1/inter/Mul"));
    l[n++] = layer("Concat", 50, 0, FROM("/output/Concat"));
    l[n++] = layer("Squeeze", 25, NAN, NULL, 0);
    return n;
}

static void test_unrolled_rows_add_up_and_fused_layers_are_not_split(void)
{
    struct assay__layer layers[16];
    size_t count = unrolled_layers(layers);
    struct assay_profile *p = make("unrolled", 3, layers, count, 1000, 4000);
    struct assay__ncp_groups *g = groups_of(p);
    CHECK(sum_of(g->groups, g->group_count) == 4000);
    CHECK(sum_of(g->steps, g->step_count) == 4000);
    CHECK(GROUP(g, "sensory")->time_ns == 100);
    CHECK(GROUP(g, "inter")->time_ns == 1300 && GROUP(g, "inter")->flops == 130);
    CHECK_INT(GROUP(g, "inter")->layers, 3);
    CHECK(GROUP(g, "inter")->share == 1300.0 / 4000);
    CHECK(GROUP(g, "inter")->state == ASSAY_DERIVED && GROUP(g, "inter")->neurons == 10);
    CHECK(GROUP(g, "command")->time_ns == 1200);
    /* whatever the order of a layer's nodes, its groups are named in the cell's */
    CHECK(GROUP(g, "shared by inter, command")->time_ns == 280);
    CHECK(GROUP(g, "shared by inter, command")->kind == ASSAY__PART_SHARED);
    CHECK(GROUP(g, "outside the steps")->time_ns == 50);
    CHECK(GROUP(g, "added by the engine")->time_ns == 25);
    CHECK(isnan(GROUP(g, "added by the engine")->flops));
    CHECK(GROUP(g, "engine per run")->time_ns == 1000);
    CHECK(GROUP(g, "engine per run")->state == ASSAY_MEASURED);
    CHECK(GROUP(g, "unattributed")->time_ns == 45);
    /* no layer came from the motor neurons: that is not 0 */
    CHECK(isnan(GROUP(g, "motor")->time_ns) && GROUP(g, "motor")->state == ASSAY_UNAVAILABLE);
    CHECK_STR(GROUP(g, "motor")->note, "no layer came from its nodes");
    CHECK(STEP(g, "0")->time_ns == 500 && STEP(g, "0")->step == 0);
    CHECK(STEP(g, "1")->time_ns == 900 && STEP(g, "2")->time_ns == 1300);
    CHECK(STEP(g, "several steps")->time_ns == 180);
    CHECK(g->per_step_ns == 4000.0 / 3 && g->first_ns == 500);
    CHECK(g->min_ns == 900 && g->median_ns == 1100 && g->max_ns == 1300);
    CHECK(isnan(g->scan_step_ns));
    CHECK(g->floor_ns == 25 && g->floor_share == (10 * 25 + 1000) / 4000.0);
    assay_profile_close(p);
}

static void test_rows_stand_in_the_cells_order_and_steps_by_number(void)
{
    static const char *const names[] = {"sensory", "inter", "command", "motor", "backbone"};
    struct assay__layer layers[16];
    size_t n = 0;
    layers[n++] = layer("Gemm", 1, 1, FROM("/step10/backbone/Gemm"));
    layers[n++] = layer("Gemm", 2, 1, FROM("/step9/motor/Gemm"));
    layers[n++] = layer("Gemm", 4, 1, FROM("/step2/command/Gemm"));
    layers[n++] = layer("Gemm", 8, 1, FROM("/step0/inter/Gemm"));
    struct assay_profile *p = make("unrolled", 11, layers, n, 16, 31);
    struct assay__ncp_groups *g = groups_of(p);
    for (size_t i = 0; i < 5; i++)
        CHECK_STR(g->groups[i].name, names[i]);
    CHECK(g->steps[0].step == 0 && g->steps[1].step == 2 && g->steps[2].step == 9 &&
          g->steps[3].step == 10);
    CHECK(isnan(g->floor_share)); /* the fastest of four is no floor */
    assay_profile_close(p);
}

static void test_a_layer_without_a_time_makes_its_rows_unavailable(void)
{
    struct assay__layer layers[16];
    size_t n = 0;
    layers[n++] = layer("Gemm", 300, 30, FROM("/step0/inter/Gemm"));
    layers[n++] = layer("Gemm", NAN, 30, FROM("/step1/inter/Gemm"));
    layers[n++] = layer("Gemm", 500, 30, FROM("/step1/command/Gemm"));
    struct assay_profile *p = make("unrolled", 2, layers, n, 100, 1500);
    struct assay__ncp_groups *g = groups_of(p);
    const struct assay__part *inter = GROUP(g, "inter");
    CHECK(isnan(inter->time_ns) && isnan(inter->share) && inter->state == ASSAY_UNAVAILABLE);
    CHECK(inter->flops == 60 && inter->untimed == 1);
    CHECK_STR(inter->note, "1 of 2 layers have no time; the others take 0.3 µs");
    CHECK_STR(STEP(g, "1")->note, "1 of 2 layers have no time; the others take 0.5 µs");
    CHECK(GROUP(g, "command")->time_ns == 500 && GROUP(g, "unattributed")->time_ns == 600);
    CHECK(isnan(STEP(g, "1")->time_ns) && g->first_ns == 300 && isnan(g->median_ns));
    assay_profile_close(p);
}

static void test_where_no_layer_has_a_time_no_other_takes_0(void)
{
    struct assay__layer layers[16];
    size_t n = 0;
    layers[n++] = layer("Gemm", NAN, 30, FROM("/step0/inter/Gemm"));
    layers[n++] = layer("Gemm", NAN, 30, FROM("/step1/inter/Gemm"));
    layers[n++] = layer("Gemm", 500, 30, FROM("/step1/command/Gemm"));
    struct assay_profile *p = make("unrolled", 2, layers, n, 100, 1500);
    struct assay__ncp_groups *g = groups_of(p);
    CHECK_STR(GROUP(g, "inter")->note, "its layers have no time");
    CHECK_STR(STEP(g, "0")->note, "its layer has no time");
    CHECK_INT(GROUP(g, "inter")->state, ASSAY_UNAVAILABLE);
    assay_profile_close(p);
}

static void test_a_scan_has_a_time_per_step_and_no_groups(void)
{
    struct assay__layer layers[4];
    layers[0] = layer("Transpose", 40, 0, FROM("/scan/Transpose"));
    layers[1] = layer("Scan", 6400, 10000, FROM("/scan/Scan"));
    struct assay_profile *p = make("scan", 16, layers, 2, 60, 6560);
    struct assay__ncp_groups *g = groups_of(p);
    CHECK(g->scan_step_ns == 400 && g->per_step_ns == 410);
    CHECK(GROUP(g, "Scan")->time_ns == 6400 && GROUP(g, "Scan")->kind == ASSAY__PART_SCAN);
    CHECK(GROUP(g, "outside the steps")->time_ns == 40);
    CHECK(isnan(GROUP(g, "inter")->time_ns) && GROUP(g, "inter")->flops == 6000);
    CHECK_STR(GROUP(g, "inter")->note, "inside the body of the Scan; the unrolled form shows it");
    CHECK(sum_of(g->groups, g->group_count) == 6560 && isnan(g->floor_share));
    assay_profile_close(p);
    /* with layers inside its body, groups have theirs and all steps are the Scan */
    layers[1] = layer("Scan", 1400, 0, FROM("/scan/Scan"));
    layers[2] = layer("Gemm", 3000, 6000, FROM("/step/inter/ff1/Gemm"));
    layers[3] = layer("Tanh", 2000, 4000, FROM("/step/motor/Tanh"));
    p = make("scan", 16, layers, 4, 60, 6560);
    g = groups_of(p);
    CHECK(g->scan_step_ns == 400 && g->per_step_ns == 410);
    CHECK(GROUP(g, "inter")->time_ns == 3000 && GROUP(g, "inter")->flops == 6000);
    CHECK(GROUP(g, "motor")->time_ns == 2000 && GROUP(g, "Scan")->time_ns == 1400);
    CHECK(STEP(g, "Scan")->time_ns == 6400 && STEP(g, "Scan")->layers == 3);
    CHECK(sum_of(g->groups, g->group_count) == 6560);
    assay_profile_close(p);
}

static void test_neurons_computed_at_once_are_not_shared_out(void)
{
    static struct assay__cell_group ltc[] = {{"sensory", 8, 100, 50, ASSAY_DERIVED},
                                             {"inter", 10, 600, 300, ASSAY_ESTIMATED},
                                             {"motor", 4, 240, 120, ASSAY_ESTIMATED}};
    struct assay__layer layers[4];
    layers[0] = layer("Mul", 900, 840, FROM("/step0/neurons/unfold0/Mul"));
    layers[1] = layer("Mul", 100, 8, FROM("/step0/motor/Mul"));
    struct assay_profile *p = make("step", 1, layers, 2, 60, 1060);
    p->models[0]->cell.kind = "LTC";
    p->models[0]->cell.groups = ltc, p->models[0]->cell.group_count = 3;
    struct assay__ncp_groups *g = groups_of(p);
    CHECK(GROUP(g, "neurons")->time_ns == 900);
    CHECK(isnan(GROUP(g, "inter")->time_ns) && GROUP(g, "inter")->flops_state == ASSAY_ESTIMATED);
    CHECK(strstr(GROUP(g, "inter")->note, "all neurons at once") != NULL);
    CHECK(GROUP(g, "motor")->time_ns == 100 && GROUP(g, "motor")->flops == 8);
    CHECK(strstr(GROUP(g, "motor")->note, "in the row \"neurons\"") != NULL);
    assay_profile_close(p);
}

static void test_without_layers_or_latency_nothing_is_zero(void)
{
    struct assay_profile *p = make("unrolled", 4, NULL, 0, NAN, NAN);
    struct assay__ncp_groups *g = groups_of(p);
    CHECK(isnan(g->per_step_ns) && isnan(g->first_ns) && isnan(g->floor_share));
    CHECK_INT(g->group_count, 4);
    CHECK_INT(g->step_count, 0);
    CHECK_STR(GROUP(g, "motor")->note, "layers were not timed");
    assay_profile_close(p);
}

static void test_other_models_have_no_such_block(void)
{
    struct assay_profile *p = assay__profile_new();
    struct assay__ncp_groups *g = (struct assay__ncp_groups *)&p;
    char *text = NULL;
    struct assay_report_options json = {.size = sizeof json, .format = "json"};
    CHECK(p && assay__profile_trial(p));
    CHECK_INT(assay__ncp_groups_make(p, &p->trials[0], p->arena, &g), 0);
    CHECK(g == NULL);
    CHECK_INT(assay_report(p, &json, &text, NULL, NULL), 0);
    CHECK(!strstr(text, "time_steps") && !strstr(text, "groups"));
    assay_free(text);
    assay_profile_close(p);
}

/* --- a profile from anyone -------------------------------------------------------------------- */

static void test_names_that_lie_stay_outside_and_long_lists_are_cut(void)
{
    struct assay__layer layers[8];
    size_t n = 0;
    layers[n++] = layer("A", 1, 1, FROM("/step3/inter/Gemm")); /* there are three steps */
    layers[n++] = layer("A", 2, 1, FROM("/step999999999999/inter/Gemm"));
    layers[n++] = layer("A", 4, 1, FROM("/step/inter/Gemm")); /* a body's name outside one */
    layers[n++] = layer("A", 8, 1, FROM("", "/step0", "/step0/inter")); /* no scope */
    layers[n++] = layer("A", 16, 1,
                        FROM("/step0/a/x", "/step0/b/x", "/step0/c/x", "/step0/d/x", "/step0/e/x",
                             "/step0/f/x", "/step0/g/x", "/step0/h/x", "/step0/i/x", "/step0/j/x"));
    layers[n++] = layer("A", 32, 1, FROM("/step0/engine per run/x"));
    layers[n++] = layer("A", 64, 1, FROM("/step0/inter/x", "/elsewhere"));
    struct assay_profile *p = make("unrolled", 3, layers, n, 128, 300);
    struct assay__ncp_groups *g = groups_of(p);
    CHECK(GROUP(g, "outside the steps")->time_ns == 15);
    CHECK(GROUP(g, "shared by a, b, c, d, e, f, g, h, …")->time_ns == 16);
    CHECK(GROUP(g, "engine per run")->time_ns == 32); /* a group of that name: the first such row */
    CHECK(GROUP(g, "shared by inter, outside")->time_ns == 64);
    CHECK(sum_of(g->groups, g->group_count) == 300 && sum_of(g->steps, g->step_count) == 300);
    assay_profile_close(p);
}

static char *rendered(const struct assay_profile *p, const char *format, const char *table,
                      int columns)
{
    struct assay_report_options options = {
        .size = sizeof options, .format = format, .table = table, .columns = columns};
    char *text = NULL;
    CHECK_INT(assay_report(p, &options, &text, NULL, NULL), 0);
    return text;
}

static void test_a_hostile_group_drives_no_terminal_no_table_and_no_sheet(void)
{
    static const char *const formats[][2] = {
        {"text", NULL}, {"markdown", NULL}, {"json", NULL}, {"csv", "groups"}, {"csv", "steps"}};
    struct assay__layer layers[2];
    layers[0] = layer("A", 100, 1, FROM("/step0/=cmd()|<b>\033[2J\xff/x"));
    struct assay_profile *p = make("unrolled", 3, layers, 1, 100, 300);
    for (size_t i = 0; i < 5; i++) {
        char *text = rendered(p, formats[i][0], formats[i][1], 60);
        CHECK(!strchr(text, '\033') && !strchr(text, '\xff'));
        if (i == 1) CHECK(!strstr(text, "<b>"));
        if (i == 3) CHECK(!strstr(text, ",=cmd") && strstr(text, "\"'=cmd"));
        assay_free(text);
    }
    assay_profile_close(p);
}

/* --- renderers -------------------------------------------------------------------------------- */

static void test_json_holds_every_row_with_its_state(void)
{
    struct assay__layer layers[16];
    size_t count = unrolled_layers(layers);
    struct assay_profile *p = make("unrolled", 3, layers, count, 1000, 4000);
    char *text = rendered(p, "json", NULL, 0);
    struct assay__json *root = NULL;
    CHECK_INT(assay__json_parse(p->arena, text, strlen(text), &root, NULL), 0);
    const struct assay__json *trial = assay__json_get(root, "trials")->first;
    const struct assay__json *steps = assay__json_get(trial, "time_steps");
    CHECK(assay__json_get_integer(steps, "count", 0) == 3);
    CHECK_STR(assay__json_get_string(steps, "form", ""), "unrolled");
    CHECK_NEAR(assay__json_get_number(steps, "per_step_us", NAN), 4.0 / 3, 1e-12);
    const char *const lists[] = {"groups", "steps"};
    for (size_t i = 0; i < 2; i++) {
        double sum = 0;
        const struct assay__json *list = assay__json_get(trial, lists[i]);
        CHECK(list && list->count == (i ? 8 : 9));
        for (const struct assay__json *item = list->first; item; item = item->next) {
            bool known = assay__json_get(item, "time_us")->kind == ASSAY__JSON_NUMBER;
            bool said = strcmp(assay__json_get_string(item, "state", ""), "unavailable") != 0;
            CHECK(known == said);
            if (known) sum += assay__json_get_number(item, "time_us", NAN);
        }
        CHECK_NEAR(sum, 4.0, 1e-12);
    }
    assay_free(text);
    assay_profile_close(p);
}

static void test_text_and_markdown_show_the_rows(void)
{
    struct assay__layer layers[16];
    size_t count = unrolled_layers(layers);
    struct assay_profile *p = make("unrolled", 3, layers, count, 1000, 4000);
    char *text = rendered(p, "text", NULL, 120), *narrow = rendered(p, "text", NULL, 40);
    char *markdown = rendered(p, "markdown", NULL, 0), *whole = flat(text), *few = flat(narrow);
    CHECK_HAS(whole, "Time steps and neuron groups CfC, unrolled over 3 steps");
    CHECK_HAS(whole, "=1.33 µs of the latency (latency.p50 / 3)");
    CHECK_HAS(whole, "first step =500 ns");
    CHECK_HAS(whole, "min =900 ns · max =1.30 µs");
    CHECK_HAS(whole, " shared by inter, command =280 ns 7.00 % =28 FLOP 2 ");
    CHECK_HAS(whole, " motor — — =1.00 kFLOP 0 4 =900 FLOP no layer came from its nodes ");
    CHECK_HAS(few, " inter =1.30 µs 32.5 % ");
    CHECK_HAS(markdown, "| inter | =1.30 µs | 32.5 % | =130 FLOP | 3 |");
    CHECK_HAS(markdown, "| motor | — | — | =1.00 kFLOP | 0 |");
    assay_free(text);
    assay_free(narrow);
    assay_free(markdown);
    free(whole);
    free(few);
    assay_profile_close(p);
}

static void test_what_is_wrong_with_the_metadata_is_said(void)
{
    struct assay_profile *p = make("unrolled", 3, NULL, 0, NAN, 4000);
    p->models[0]->cell = (struct assay__cell_info){
        .kind = "", .form = "", .steps = -1, .fault = "the metadata: steps are absurd"};
    char *text = rendered(p, "text", NULL, 80), *json = rendered(p, "json", NULL, 0);
    CHECK(strstr(text, "the metadata: steps are absurd"));
    CHECK(strstr(json, "\"time_steps_fault\": \"the metadata: steps are absurd\""));
    CHECK(!strstr(json, "\"groups\""));
    assay_free(text);
    assay_free(json);
    assay_profile_close(p);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"unrolled_rows_add_up_and_fused_layers_are_not_split",
         test_unrolled_rows_add_up_and_fused_layers_are_not_split},
        {"rows_stand_in_the_cells_order_and_steps_by_number",
         test_rows_stand_in_the_cells_order_and_steps_by_number},
        {"a_layer_without_a_time_makes_its_rows_unavailable",
         test_a_layer_without_a_time_makes_its_rows_unavailable},
        {"a_scan_has_a_time_per_step_and_no_groups", test_a_scan_has_a_time_per_step_and_no_groups},
        {"neurons_computed_at_once_are_not_shared_out",
         test_neurons_computed_at_once_are_not_shared_out},
        {"where_no_layer_has_a_time_no_other_takes_0",
         test_where_no_layer_has_a_time_no_other_takes_0},
        {"without_layers_or_latency_nothing_is_zero",
         test_without_layers_or_latency_nothing_is_zero},
        {"other_models_have_no_such_block", test_other_models_have_no_such_block},
        {"names_that_lie_stay_outside_and_long_lists_are_cut",
         test_names_that_lie_stay_outside_and_long_lists_are_cut},
        {"a_hostile_group_drives_no_terminal_no_table_and_no_sheet",
         test_a_hostile_group_drives_no_terminal_no_table_and_no_sheet},
        {"json_holds_every_row_with_its_state", test_json_holds_every_row_with_its_state},
        {"text_and_markdown_show_the_rows", test_text_and_markdown_show_the_rows},
        {"what_is_wrong_with_the_metadata_is_said", test_what_is_wrong_with_the_metadata_is_said},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
