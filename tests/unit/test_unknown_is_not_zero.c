/* test_unknown_is_not_zero.c - a profile in which no number is known, in every format, every table
 * and every subject: nowhere a 0, a NaN or an infinity may stand for it. Everything that the
 * profile does know is chosen not to be 0, so that any zero found is a fault. The search itself is
 * tested on texts that hold one. */
#include "judge/require.h"
#include "base/metric_table.h"
#include "harness.h"
#include "page_fixture.h"
#include "profile/profile.h"

#include <assay/report.h>
#include <ctype.h>

#define REASON "no sensor tells it: install one"

/* --- the search ------------------------------------------------------------------------------- */

/* What a number becomes that was unknown and was printed all the same: -1 of a count, the ends of
 * the integers. */
static const char *const left_overs[] = {"-1",
                                         "9,223,372,036,854,775,80",
                                         "9223372036854775",
                                         "18,446,744,073,709,551,61",
                                         "1844674407370955",
                                         "9.22e18",
                                         "9.22 E",
                                         "4294967295",
                                         "4,294,967,29",
                                         "2147483647",
                                         "2147483648",
                                         "2,147,483,64"};

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static bool is_left_over(const char *at)
{
    for (size_t i = 0; i < sizeof left_overs / sizeof left_overs[0]; i++) {
        size_t length = strlen(left_overs[i]);
        const char *start = *at == '-' && left_overs[i][0] != '-' ? at + 1 : at;
        if (strncmp(start, left_overs[i], length) == 0 && (i > 0 || !in_word(at[length])))
            return true;
    }
    return false;
}

/* The first number in the text that is 0 or a left-over, or a word for a number that is none; NULL.
 * Numbers inside words ("0x10", "v0") and version numbers ("1.0.2") are no numbers. */
static const char *find_zero(const char *text)
{
    static const char *const words[] = {"nan", "-nan", "inf", "-inf", "infinity"};
    for (const char *at = text; *at; at++) {
        if (at > text && in_word(at[-1]) && *at != '-')
            continue; /* "7-9,223" is one number behind another */
        if (at > text && *at == '-' && isalpha((unsigned char)at[-1])) continue;
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
            size_t length = strlen(words[i]);
            bool same = true;
            for (size_t k = 0; same && k < length; k++)
                same = tolower((unsigned char)at[k]) == words[i][k];
            if (same && !in_word(at[length])) return at;
        }
        if (is_left_over(at)) return at;
        const char *digits = *at == '-' || *at == '+' ? at + 1 : at;
        if (!isdigit((unsigned char)*digits) &&
            !(*digits == '.' && isdigit((unsigned char)digits[1])))
            continue;
        char *end;
        double value = strtod(at, &end);
        if (end[-1] == '.') end--;                   /* the end of a sentence */
        if (value == 0 && !in_word(*end)) return at; /* "0", "0.0", "0e0", "-0" */
        if (value == 0 && *end == '.' && !isdigit((unsigned char)end[1])) return at;
        while (in_word(*end)) /* past the word */
            end++;
        at = end > at ? end - 1 : at;
    }
    return NULL;
}

static void test_search(void)
{
    static const char *const zeros[] = {"power 0 W",
                                        "0 B",
                                        "x: 0.0 %",
                                        "\"value\": 0",
                                        "[0]",
                                        "a,0,b",
                                        "a,0\n",
                                        "0",
                                        "=0 W",
                                        "~0.00 ms",
                                        "-0",
                                        "+0",
                                        "0e0",
                                        "it is 0.",
                                        "nan",
                                        "(NaN)",
                                        "-nan",
                                        "inf W",
                                        "0 %",
                                        "0/s",
                                        ".0 W",
                                        "0·W",
                                        "-1",
                                        "\"x\": -1,",
                                        "7-9,223,372,036,854,775,808",
                                        "18446744073709551615"};
    static const char *const fine[] = {
        "",     "warm-up", "float-1",        "1-2",           "-12",  "-1.5",
        "10 W", "0.5 B",   "0x10",           "version 0.1.0", "gpu0", "power.gpu0",
        "100",  "1e0",     "20:05",          "inference",     "nano", "infinite",
        "L1",   "[1,20]",  "\"value\": null"};
    for (size_t i = 0; i < sizeof zeros / sizeof zeros[0]; i++) {
        if (!find_zero(zeros[i])) printf("  not found: '%s'\n", zeros[i]);
        CHECK(find_zero(zeros[i]) != NULL);
    }
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
        if (find_zero(fine[i])) printf("  found: '%s'\n", fine[i]);
        CHECK(find_zero(fine[i]) == NULL);
    }
}

/* --- a profile that knows nothing ------------------------------------------------------------- */

/* Every row of the table, each with a reason. */
static void put_unavailable(struct assay_metrics *metrics)
{
    for (size_t i = 0; i < assay__metric_table_count; i++) {
        char name[128];
        const char *row = assay__metric_table[i].name;
        size_t length = strlen(row);
        bool rail = length > 5 && strcmp(row + length - 5, ".RAIL") == 0;
        snprintf(name, sizeof name, "%.*s%s", (int)(rail ? length - 4 : length), row,
                 rail ? "package" : "");
        CHECK_INT(assay_metrics_unavailable(metrics, name, REASON), 0);
    }
}

static void put_layers(struct assay_profile *profile, struct assay__trial *trial)
{
    static const char *const bounds[] = {"unknown", "unknown"};
    trial->layers = assay__layers_unknown();
    trial->layers.method = "markers";
    trial->layers.reason = REASON;
    trial->layers.sessions = 3;
    trial->layers.discarded = 1;
    trial->layers.items = assay__arena_array(profile->arena, 2, sizeof *trial->layers.items);
    CHECK(trial->layers.items != NULL);
    trial->layers.count = 2;
    for (int i = 0; i < 2; i++)
        trial->layers.items[i] = (struct assay__layer){.index = i + 1,
                                                       .name = i ? "second" : "first",
                                                       .op = "Conv",
                                                       .provider = "",
                                                       .time_ns = NAN,
                                                       .host_enqueue_ns = NAN,
                                                       .kernel_count = NAN,
                                                       .gap_ns = NAN,
                                                       .share = NAN,
                                                       .flops = NAN,
                                                       .bytes = NAN,
                                                       .weight_bytes = NAN,
                                                       .live_bytes = NAN,
                                                       .bound = bounds[i],
                                                       .state = ASSAY_UNAVAILABLE,
                                                       .method = "markers",
                                                       .note = REASON};
}

static void put_series(struct assay_profile *profile, struct assay__trial *trial)
{
    static double times[] = {1e6, 2e6, 3e6}, nothing[] = {NAN, NAN, NAN};
    static const char *const all[][3] = {{"power.package", "power", "W"},
                                         {"energy.package", "energy", "J"},
                                         {"temperature.cpu", "temperature", "\xc2\xb0\x43"},
                                         {"clock.cpu", "clock", "Hz"},
                                         {"utilization.gpu", "utilization", "ratio"},
                                         {"memory.rss.worker", "memory", "B"},
                                         {"memory.pss.worker", "memory", "B"},
                                         {"memory.device.worker", "memory", "B"}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        bool read = i % 2 == 1; /* read, and never with a value; or not readable at all */
        bool memory = strcmp(all[i][1], "memory") == 0;
        struct assay__series_info series = {.launch = memory,
                                            .name = all[i][0],
                                            .quantity = all[i][1],
                                            .rail = "package",
                                            .unit = all[i][2],
                                            .probe = "test",
                                            .source = "nowhere",
                                            .state = read ? ASSAY_MEASURED : ASSAY_UNAVAILABLE,
                                            .note = REASON,
                                            .counter = i == 1,
                                            .period_s = NAN,
                                            .count = read ? 3 : 0,
                                            .times_ns = read ? times : NULL,
                                            .values = read ? nothing : NULL};
        CHECK_INT(assay__trial_add_series(profile, trial, &series), 0);
    }
    struct assay__span idle = {
        .launch = 1, .kind = "idle", .begin_ns = 1e6, .end_ns = 2e6, .completions = -1};
    struct assay__span measure = {
        .launch = 1, .kind = "measure", .begin_ns = 2e6, .end_ns = 3e6, .completions = -1};
    CHECK_INT(assay__trial_add_span(profile, trial, &idle), 0);
    CHECK_INT(assay__trial_add_span(profile, trial, &measure), 0);
}

static void put_allocations(struct assay__trial *trial)
{
    static struct assay__allocation_phase phases[] = {{"warm", 7, NAN, NAN, NAN, NAN, NAN, NAN}};
    static struct assay__allocation_class classes[] = {{"warm", 16, 32, NAN, NAN}};
    static struct assay__allocation_site sites[] = {{"warm", "libx.so", NAN, NAN, NAN}};
    trial->allocations = assay__allocations_unknown();
    trial->allocations.reason = "";
    trial->allocations.phases = phases;
    trial->allocations.phase_count = 1;
    trial->allocations.classes = classes;
    trial->allocations.class_count = 1;
    trial->allocations.sites = sites;
    trial->allocations.site_count = 1;
}

static void put_counters(struct assay__trial *trial)
{
    static const char *names[] = {"cycles", "instructions"};
    static double values[] = {NAN, NAN};
    static struct assay__class_counters classes[] = {{"Conv", 2, NAN, values}};
    trial->counter_names = names;
    trial->counter_count = 2;
    trial->class_counters = classes;
    trial->class_counter_count = 1;
    trial->class_counter_note = REASON;
}

static void put_document(struct assay_profile *profile)
{
    static struct assay__operator_info operators[] = {{"Conv", 2, NAN, NAN, NAN}};
    static struct assay__tensor_info inputs[] = {
        {.name = "x", .dtype = "float32", .rank = -1, .fill = ""}};
    static struct assay__ceiling_info ceilings[] = {
        {"cpu", "compute.float32.all", NAN, "FLOP/s", NAN, NAN, "", REASON, ""},
        {"cpu", "bandwidth.dram.read.all", NAN, "B/s", NAN, NAN, "", REASON, ""}};
    static struct assay__finding findings[] = {
        {.id = "x",
         .severity = "info",
         .title = "a title",
         .advice = "do it",
         .expected_gain = NAN,
         .verified_gain = NAN, /* without it, what else was verified is unknown too */
         .energy_saving = NAN}};
    profile->assay_version = "1.2.3";
    profile->schema = 1;
    profile->complete = true;
    profile->models[0]->name = "model";
    profile->models[0]->format = "onnx";
    profile->models[0]->node_count = 2;
    profile->models[0]->ir_version = 8;
    profile->models[0]->opset = "17";
    profile->models[0]->parameters = profile->models[0]->weight_bytes = -1;
    profile->models[0]->operators = operators;
    profile->models[0]->operator_count = 1;
    profile->models[0]->inputs = profile->models[0]->outputs = inputs;
    profile->models[0]->input_count = profile->models[0]->output_count = 1;
    profile->ceilings = ceilings;
    profile->ceiling_count = 2;
    profile->findings = findings;
    profile->finding_count = 1;
}

static struct assay_profile *make_profile(const char *command)
{
    static double samples[] = {12.3e6, 12.3e6, 12.3e6};
    static size_t offsets[] = {0, 3};
    struct assay_profile *profile = assay__profile_new();
    CHECK(profile != NULL);
    put_document(profile);
    assay__profile_set_command(profile, command);
    struct assay__trial *trial = assay__profile_trial(profile);
    CHECK(trial != NULL);
    trial->state = ASSAY__TRIAL_OK;
    trial->target.engine = "fake";
    trial->target.device = "cpu";
    trial->batch = -1;
    trial->stability.more_iterations = -1;
    struct assay__launch *launch = assay__trial_launch(profile, trial);
    CHECK(launch != NULL);
    launch->state = ASSAY__TRIAL_OK;
    launch->streams = 1;
    launch->samples_ns = samples;
    launch->sample_count = 3;
    launch->stream_offsets = offsets;
    launch->warmup = 1;
    launch->wall_ns = launch->p50_ns = NAN;
    put_unavailable(trial->metrics);
    put_unavailable(launch->metrics);
    /* a trial that was measured, or its sections are not shown */
    CHECK_INT(assay_metrics_measured(trial->metrics, "latency.p50", 0.0123, "clock", ""), 0);
    put_layers(profile, trial);
    put_series(profile, trial);
    put_allocations(trial);
    put_counters(trial);
    return profile;
}

/* --- every renderer --------------------------------------------------------------------------- */

static const char *line_of(const char *text, const char *at)
{
    while (at > text && at[-1] != '\n')
        at--;
    return at;
}

/* Is the place in the column of that name? The header of CSV is the first line, that of a Markdown
 * table the one above "|---". */
static bool in_column(const char *text, const char *place, char separator, const char *name)
{
    const char *line = line_of(text, place), *header = text;
    if (separator == '|') {
        const char *rule = line;
        while (rule > text && strncmp(rule, "|---", 4) != 0)
            rule = line_of(text, rule - 1);
        if (*line != '|' || rule == text) return false;
        header = line_of(text, rule - 1);
    }
    for (const char *at = line; at < place; at++) {
        if (*at != separator) continue;
        header = strchr(header, separator);
        if (!header) return false;
        header++;
    }
    return strncmp(header, name, strlen(name)) == 0 && header[strlen(name)] == separator;
}

/* The same of a table of a page: its header is in the last <thead>. */
static bool in_page_column(const char *text, const char *place, const char *name)
{
    const char *row = place, *head = place;
    size_t cells = 0;
    while (row > text && strncmp(row, "<tr", 3) != 0)
        row--;
    while (head > text && strncmp(head, "<thead", 6) != 0)
        head--;
    if (row == text || head == text) return false;
    for (const char *at = row + 3; at < place; at++)
        cells += strncmp(at, "<th", 3) == 0 || strncmp(at, "<td", 3) == 0;
    for (const char *at = head + 6; at < row; at++) {
        if (strncmp(at, "<th", 3) != 0 || --cells) continue;
        const char *end = strstr(at, "</th>"), *found = strstr(at, name);
        return found && end && found < end;
    }
    return false;
}

/* How many of something there are is known also when there are none; launch 0 is the whole
 * trial. */
/* "12.3 ms at 0": the place of a sample in its figure; the end of its tag became a blank. */
static bool is_first_sample(const char *text, const char *zero)
{
    return zero - text >= 6 && memcmp(zero - 6, "ms at ", 6) == 0 && zero[1] == ' ';
}

/* Of the page's packed columns (json_pack.h): places in a list, ids and lengths. */
static bool is_packed_place(const char *text, const char *zero)
{
    static const char *const keys[] = {"\"~at\":", "\"launch\":", "\"count\":", "\"~list\":"};
    const char *open = zero;
    while (open > text && strchr("0123456789,", *open))
        open--;
    for (size_t i = 0; *open == '[' && i < sizeof keys / sizeof keys[0]; i++) {
        size_t length = strlen(keys[i]);
        if ((size_t)(open - text) >= length && memcmp(open - length, keys[i], length) == 0)
            return true;
    }
    return false;
}

static bool is_a_count(const char *text, const char *zero)
{
    static const char *const known[] = {
        "\"count\": ",    "\"samples\": ", "\"sessions\": ", "\"discarded\": ", "\"launch\": ",
        "\"launches\": ", "failures=\"",   "errors=\"",      "skipped=\""};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        size_t length = strlen(known[i]);
        if ((size_t)(zero - text) >= length && memcmp(zero - length, known[i], length) == 0)
            return true;
        bool member = known[i][0] == '"'; /* of JSON, which has no blank in a page */
        length--;
        if (member && (size_t)(zero - text) >= length &&
            memcmp(zero - length, known[i], length) == 0)
            return true;
    }
    return in_column(text, zero, ',', "seq") || in_column(text, zero, ',', "launch") ||
           in_column(text, zero, '|', " readings ") || in_page_column(text, zero, ">Readings<") ||
           strncmp(zero, "0 samples are too few", 21) == 0 || is_first_sample(text, zero) ||
           is_packed_place(text, zero);
}

static void check_text(const char *text, const char *what)
{
    const char *zero = find_zero(text);
    while (zero && is_a_count(text, zero))
        zero = find_zero(zero + 1);
    if (!zero) return;
    const char *line = zero;
    while (line > text && line[-1] != '\n')
        line--;
    printf("  %s: a zero (or no number) at column %d of: %.*s\n", what, (int)(zero - line) + 1,
           (int)strcspn(line, "\n"), line);
    CHECK(zero == NULL);
}

/* --- what people read of a page --------------------------------------------------------------- */

/* The 0 at which a scale begins: beside or below the axis, never the value at a bar (text-anchor
 * start). */
static bool is_origin(const char *tag, const char *end)
{
    const char *anchor = strstr(tag, "text-anchor=\"");
    return strncmp(tag, "<text class=\"fig-n\"", 19) == 0 && anchor && anchor < end &&
           strncmp(anchor + 13, "start", 5) != 0 && strncmp(end + 1, "0</text>", 8) == 0;
}

/* The end of what begins here and nobody reads: a style sheet, a program, a tag of a drawing (its
 * coordinates); NULL: it is read. The page's data (page_unpacked) is read. */
static const char *unread(const char *at, bool *drawing)
{
    static const char *const ends[][2] = {
        {"<style", "</style>"},
        {"<script>", "</script>"},
        {"<script nonce", "</script>"},
        {"<script type=\"application/json\" id=\"assay-samples\"", "</script>"} /* packed */};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (strncmp(at, ends[i][0], strlen(ends[i][0])) != 0) continue;
        const char *end = strstr(at, ends[i][1]);
        CHECK(end != NULL);
        return end + strlen(ends[i][1]);
    }
    if (strncmp(at, "<svg", 4) == 0) *drawing = true;
    if (strncmp(at, "</svg", 5) == 0) *drawing = false;
    if (*at != '<' || !*drawing) return NULL;
    const char *end = strchr(at, '>');
    CHECK(end != NULL);
    return is_origin(at, end) ? end + 9 : end + 1;
}

/* In place; line ends stay, so that a find can be shown. */
static void keep_what_is_read(char *page)
{
    bool drawing = false;
    char *to = page;
    for (const char *at = page; *at;) {
        const char *end = unread(at, &drawing);
        if (end) {
            *to++ = ' ';
            at = end;
        } else if (strncmp(at, " tabindex=\"", 11) == 0) { /* no number of the profile */
            at = strchr(at + 11, '"') + 1;
        } else if (strncmp(at, "<th scope=\"row\" title=\"", 23) == 0) { /* the metric's words */
            at = strchr(at + 23, '"') + 1;
        } else {
            *to++ = *at++;
        }
    }
    *to = '\0';
}

static void test_page(void)
{
    char page[] =
        "<style>a{margin: 0}</style><p tabindex=\"0\">7<svg x=\"0\"><text y=\"0\">8</text>"
        "</svg><script>0</script>9",
         scale[] = "<svg><text class=\"fig-n\" x=\"1\" text-anchor=\"middle\">0</text></svg>",
         zero[] = "<svg y=\"1\"><text>0</text></svg>", after[] = "<svg></svg><td>0</td>",
         data[] = "<script type=\"application/json\">{\"x\": 0}</script>";
    keep_what_is_read(page);
    CHECK(strchr(page, '7') && strchr(page, '8') && strchr(page, '9'));
    CHECK(find_zero(page) == NULL);
    keep_what_is_read(scale);
    CHECK(find_zero(scale) == NULL);
    keep_what_is_read(zero);
    keep_what_is_read(after);
    keep_what_is_read(data);
    CHECK(find_zero(zero) && find_zero(after) && find_zero(data));
}

static const char *detail; /* of the report */

static size_t render(const struct assay_profile *profile, const char *format, const char *table,
                     bool ascii)
{
    struct assay_report_options options = {.size = sizeof options,
                                           .format = format,
                                           .columns = 80,
                                           .ascii = ascii,
                                           .top = -1,
                                           .table = table,
                                           .detail = detail};
    struct assay_error error = {0};
    char *text = NULL, what[128];
    size_t length = 0;
    int code = assay_report(profile, &options, &text, &length, &error);
    snprintf(what, sizeof what, "%s, %s%s%s", profile->command, format, table ? ", " : "",
             table ? table : "");
    if (strcmp(format, "model-explorer") == 0) { /* without a time there is nothing to show */
        CHECK_INT(code, ASSAY_ENOTFOUND);
        CHECK_STR(error.option, "layers");
        return SIZE_MAX;
    }
    if (code) printf("  %s: %s\n", what, error.message);
    CHECK_INT(code, 0);
    if (strcmp(format, "html") == 0) {
        char *whole = page_unpacked(text);
        assay_free(text);
        keep_what_is_read(text = whole);
    }
    if (getenv("SHOW")) printf("=== %s\n%s\n", what, text);
    check_text(text, what);
    assay_free(text);
    return length;
}

static void render_all(const char *command)
{
    static const char *const tables[] = {"metrics", "layers",      "launches", "series",
                                         "spans",   "allocations", "counters", "ceilings"};
    struct assay_profile *profile = make_profile(command);
    for (size_t i = 0; assay_report_format(i); i++) {
        const char *format = assay_report_format(i);
        if (strcmp(format, "csv") == 0)
            for (size_t k = 0; k < sizeof tables / sizeof tables[0]; k++)
                CHECK(render(profile, format, tables[k], false) > 0);
        else
            CHECK(render(profile, format, NULL, false) > 200); /* there is something to search */
    }
    CHECK(render(profile, "text", NULL, true) > 200);
    assay_profile_close(profile);
}

static void test_run(void)
{
    render_all("run");
}

static void test_power(void)
{
    render_all("power");
}

static void test_memory(void)
{
    render_all("memory");
}

static void test_counters(void)
{
    render_all("counters");
}

/* Judged by a table: a share of nothing known is not 0 %. */
static void test_required(void)
{
    static const char *const details[] = {NULL, "basic", "detailed"};
    struct assay_profile *profile = make_profile("run");
    struct assay__trial *trial = &profile->trials[0];
    trial->allocations = assay__allocations_unknown(); /* the other tests have them */
    CHECK_INT(assay__require_apply(profile, trial, assay__require_preset("m1-max")), 0);
    CHECK(strstr(trial->options[0].value, "m1-max") != NULL);
    for (size_t i = 0; i < sizeof details / sizeof details[0]; i++) {
        detail = details[i];
        CHECK(render(profile, "text", NULL, false) > 200);
        CHECK(render(profile, "json", NULL, false) > 200);
        CHECK(render(profile, "markdown", NULL, false) > 200);
        CHECK(render(profile, "junit", NULL, false) > 200);
    }
    assay_profile_close(profile);
}

/* A document that was just made: even less is known. */
static void test_empty(void)
{
    struct assay_profile *profile = assay__profile_new();
    CHECK(profile != NULL);
    assay__profile_set_command(profile, "run");
    profile->assay_version = "1.2.3";
    profile->schema = 1;
    struct assay__trial *trial = assay__profile_trial(profile);
    CHECK(trial != NULL);
    trial->state = ASSAY__TRIAL_FAILED;
    trial->reason = "it fell over";
    for (size_t i = 0; assay_report_format(i); i++)
        render(profile, assay_report_format(i), NULL, false);
    assay_profile_close(profile);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"search", test_search}, {"run", test_run},           {"power", test_power},
        {"memory", test_memory}, {"counters", test_counters}, {"required", test_required},
        {"empty", test_empty},   {"page", test_page},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
