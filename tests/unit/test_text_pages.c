/* test_text_pages.c - what holds of every page of text: no line is wider than the page, a heading
 * loses no word, names drive no terminal. Also what stands in them: the tensors at the peak, the
 * kind of energy, reasons told once; and Markdown in which a name mentions nobody. */
#include "text_lines.h"

#include "facts_fixture.h"
#include "profile_fixture.h"

#include "base/text.h"
#include "report/formats.h"
#include "report/walk/text_page.h"
#include "report/formats.h"

#include <assay/assay.h>

static const int widths[] = {40, 60, 80};

static char *render(const struct assay_profile *p, struct assay_report_options asked)
{
    char *text = NULL;
    size_t length = 0;
    struct assay_error error = {0};
    asked.size = sizeof asked;
    if (assay_report(p, &asked, &text, &length, &error)) printf("  %s\n", error.message);
    CHECK(text != NULL && strlen(text) == length);
    return text;
}

static void check_lines(const char *text, int columns, bool ascii)
{
    check_line_widths(text, columns, "the page");
    for (const char *c = text; *c; c++)
        CHECK(((unsigned char)*c >= ' ' && *c != 0x7f && (!ascii || (unsigned char)*c < 0x80)) ||
              *c == '\n');
}

/* At every width, with and without other signs than ASCII; each of the words is there whole. */
static void check_page(const struct assay_profile *p, const char *const *words, size_t count)
{
    for (size_t w = 0; w < COUNT(widths); w++)
        for (int ascii = 0; ascii < 2; ascii++) {
            char *text = render(
                p, (struct assay_report_options){.columns = widths[w], .ascii = ascii});
            char *whole = flat(text);
            check_lines(text, widths[w], ascii);
            for (size_t i = 0; i < count; i++)
                CHECK_HAS(whole, words[i]);
            free(whole);
            assay_free(text);
        }
}

static char longest[10001];

static void fill_longest(void)
{
    for (size_t i = 0; i + 1 < sizeof longest; i++)
        longest[i] = i % 23 == 22 ? ' ' : 'x';
}

/* --- pages of one trial ----------------------------------------------------------------------- */

static void test_one_trial(void)
{
    static const char *const commands[] = {"run", "power", "memory", "counters", "advise"};
    static const char *const words[] = {"Not observed: possible disturbances",
                                        "Disturbances seen during the run"};
    for (size_t c = 0; c < COUNT(commands); c++)
        for (int hostile = 0; hostile < 2; hostile++) {
            struct assay_profile *p = make_document();
            assay__profile_set_command(p, commands[c]);
            if (hostile) {
                fill_longest();
                p->models[0]->name = p->models[0]->path = p->environment.cpu_model = longest;
                p->trials[0].target.device = "\xe4\xb8\xad\xe6\x96\x87\x1b[31m \xf0\x9f\x98\x80";
            }
            check_page(p, words, COUNT(words));
            assay_profile_close(p);
        }
}

static void test_memory_headings(void)
{
    static const char *const words[] = {"Layers by the bytes they move",
                                        "Allocations counted in a separate launch"};
    struct assay_profile *p = make_document();
    assay__profile_set_command(p, "memory");
    check_page(p, words, COUNT(words));
    assay_profile_close(p);
}

/* --- pages of several trials ------------------------------------------------------------------ */

/* Five launches of a latency, with energies; none: it failed. */
static void add(struct assay_profile *p, const char *role, const char *label, double latency_s,
                const char *reason)
{
    struct assay__trial *trial = assay__profile_trial(p);
    CHECK(trial != NULL);
    fact(p, trial, "label", label);
    fact(p, trial, "role", role);
    fact(p, trial, "goal", "latency");
    fact(p, trial, "drift_limit", "0.01");
    trial->target.device = "cpu";
    trial->state = *reason ? ASSAY__TRIAL_FAILED : ASSAY__TRIAL_OK;
    trial->reason = reason;
    for (int i = 0; i < 5 && !*reason; i++) {
        struct assay__launch *launch = assay__trial_launch(p, trial);
        launch->state = ASSAY__TRIAL_OK;
        launch->p50_ns = latency_s * 1e9 * (1 + 0.001 * i);
        assay_metrics_derived(launch->metrics, "energy.inference.gross",
                              latency_s * 40 * (1 + 0.001 * i), "sensors", "");
    }
    if (*reason) return;
    assay_metrics_measured(trial->metrics, "latency.p50", latency_s, "", "");
    assay_metrics_derived(trial->metrics, "throughput.samples", 1 / latency_s, "", "");
    assay_metrics_measured(trial->metrics, "memory.peak.worker", 1e6, "", "");
    assay_metrics_derived(trial->metrics, "power.average", 40, "sensors", "");
    assay_metrics_derived(trial->metrics, "energy.inference.gross", latency_s * 40, "sensors", "");
    assay_metrics_derived(trial->metrics, "drift.relative_l2", 0, "", "");
}

static struct assay_profile *several(const char *command)
{
    static const char *unseen[] = {"temperature: no sensor can be read"};
    struct assay_profile *p = assay__profile_new();
    CHECK(p != NULL);
    assay__profile_set_command(p, command);
    p->complete = true;
    p->environment.unknown = unseen, p->environment.unknown_count = 1;
    return p;
}

static void test_compare(void)
{
    static const char *const words[] = {
        "Numbers medians over alternating launches",
        "gross energy",
        "Speed and energy against the reference; 95 % intervals over launches",
        "Outputs on the same inputs",
        "Not observed",
    };
    struct assay_profile *p = several("compare");
    add(p, "reference", "cpu", 0.002, "");
    add(p, "", "npu", 0.001, "");
    add(p, "", "gpu", 0,
        "the driver refused it: no memory is left on the device, give a smaller batch");
    check_page(p, words, COUNT(words));
    char *text = render(p, (struct assay_report_options){.format = "markdown"});
    CHECK_HAS(text, "| cpu | 2.00 ms | =500 /s | 1.00 MB | =40.0 W | =80.2 mJ |");
    assay_free(text);
    assay_profile_close(p);
}

static void test_compare_long_names(void)
{
    struct assay_profile *p = several("compare");
    fill_longest();
    add(p, "reference", longest, 0.002, "");
    add(p, "", "\xe4\xb8\xad\xe6\x96\x87\x1b]0;x\x07", 0.001, "");
    check_page(p, NULL, 0);
    assay_profile_close(p);
}

static void test_sweep(void)
{
    static const char *const words[] = {
        "Points per second: samples; energy: gross",
        "Configurations compiled: graph optimisation on; accelerator: not the CPU",
        "no kernel for this type",
        "Not observed: possible disturbances",
    };
    struct assay_profile *p = several("sweep");
    add(p, "", "device=cpu opt=none batch=1", 0.004, "");
    add(p, "", "device=cpu opt=all batch=1", 0.002, "");
    add(p, "", "device=cuda:0 opt=none batch=1", 0.0005, "");
    add(p, "", "device=cuda:0 opt=all batch=1", 0, "no kernel for this type");
    check_page(p, words, COUNT(words));
    char *text = render(p, (struct assay_report_options){.format = "markdown"});
    /* a setting that all share is no column */
    CHECK_HAS(text, "| device | opt | p50 | per second | memory | energy | mark |");
    CHECK_HAS(text, "| **cuda:0** | **none** | 501 µs | =2.00 k/s | 1.00 MB | =20.0 mJ | best |");
    CHECK_HAS(text, "| in every row | batch 1 |");
    assay_free(text);
    assay_profile_close(p);
}

static void test_tune(void)
{
    static const char *const words[] = {
        "Use it in Python",
        "Why goal latency",
        "Configurations the best, what is tied with it, then by cost",
        "no kernel of this engine takes the type of the weights; give another --precision",
    };
    struct assay_profile *p = several("tune");
    add(p, "start", "precision=float32 threads=2", 0.010, "");
    add(p, "finalist", "precision=float32 threads=1", 0.005, "");
    add(p, "finalist", "precision=float32 threads=2", 0.010, "");
    add(p, "search", "precision=int8-weights threads=1", 0,
        "no kernel of this engine takes the type of the weights; give another --precision");
    check_page(p, words, COUNT(words));
    char *text = render(p, (struct assay_report_options){.format = "markdown"});
    CHECK_HAS(text, "| **float32** | **1** | 5 | 5.00 ms | =200 /s | 1.00 MB | =200 mJ |");
    assay_free(text);
    assay_profile_close(p);
}

/* --- headings --------------------------------------------------------------------------------- */

static void put_heading(struct assay__buf *out, int columns, const char *title, const char *remark)
{
    struct assay__page page = {.out = out, .columns = columns};
    assay__buf_clear(out);
    assay__page_heading(&page, title, remark);
    check_lines(out->data, columns, false);
}

static void test_heading(void)
{
    struct assay__buf out = {0};
    put_heading(&out, 80, "Latency", "host to host, profilers off");
    CHECK_STR(out.data, "\nLatency  host to host, profilers off\n");
    put_heading(&out, 36, "Latency", "host to host, profilers off");
    CHECK_STR(out.data, "\nLatency  host to host, profilers off\n"); /* 36 columns: it just fits */
    put_heading(&out, 35, "Latency", "host to host, profilers off");
    CHECK_STR(out.data, "\nLatency\n  host to host, profilers off\n");
    put_heading(&out, 40, "Stability", "");
    CHECK_STR(out.data, "\nStability\n");
    put_heading(&out, 40, "Latency: \x1b[31mred\x07 of a name that is longer than the page", NULL);
    CHECK(strchr(out.data, '\x1b') == NULL);
    CHECK_HAS(out.data, "of a name");
    fill_longest();
    put_heading(&out, 40, longest, longest);
    size_t lines = 0;
    for (const char *c = out.data; *c; c++)
        lines += *c == '\n';
    CHECK(lines > 6 && lines < 20); /* a name of 10 kB is no page of its own */
    CHECK_HAS(out.data, "…");
    assay__buf_free(&out);
}

/* --- the peak --------------------------------------------------------------------------------- */

static struct assay__peak_tensor tensors[12] = {
    {"/stem/Conv_output_0", "1x64x112x112 float32", 6e6, "/stem/Conv", "Conv", "", ""},
    {"input", "1x3x224x224 float32", 3e6, "", "", "", ""},
    {"mask", "", NAN, "", "Where", "", ""},
};

static struct assay_profile *with_peak(size_t count, int64_t alive, double rest)
{
    struct assay_profile *p = make_document();
    assay__profile_set_command(p, "memory");
    CHECK_INT(assay_metrics_derived(p->trials[0].metrics, "memory.activation.predicted", 1e7,
                                    "graph", ""),
              0);
    p->trials[0].peak = (struct assay__peak){.reason = "",
                                             .node = "/stem/Conv",
                                             .op = "Conv",
                                             .bytes = 1e7,
                                             .tensors = tensors,
                                             .count = count,
                                             .alive = alive,
                                             .rest_bytes = rest};
    return p;
}

static void check_wide(const struct assay_profile *p, int top, const char *const *words,
                       size_t count)
{
    char *text = render(p, (struct assay_report_options){.columns = 200, .top = top}),
         *whole = flat(text);
    for (size_t i = 0; i < count; i++)
        CHECK_HAS(whole, words[i]);
    assay_free(text);
    free(whole);
}

static void test_peak(void)
{
    static const char *const words[] = {
        "Alive at the peak activations by the model's graph",
        "while '/stem/Conv' (Conv) runs, in 3 tensors, 1 of them of unknown size", " =60.0 %",
        " =30.0 %"};
    static const char *const wide[] = {
        "/stem/Conv_output_0 1x64x112x112 float32 =6.00 MB =60.0 % /stem/Conv Conv",
        "input 1x3x224x224 float32 =3.00 MB =30.0 % an input of the model", "mask — — Where"};
    struct assay_profile *p = with_peak(3, 3, 0);
    check_page(p, words, COUNT(words));
    check_wide(p, 0, wide, COUNT(wide));
    assay_profile_close(p);
}

/* Ten of many; all that are stored where all are asked for, and what the others take in any
 * case. */
static void test_many_at_the_peak(void)
{
    static const char *const some[] = {
        "small 10 float32 =1.00 kB =0.0100 % n Add",
        "… 2 more tensors =2.00 kB =0.0200 % 200 smaller ones that are not stored =40.0 kB"};
    static const char *const all[] = {
        "n Add 200 smaller ones that are not stored =40.0 kB =0.400 %"};
    static const char *const none[] = {"the graph has a loop"};
    for (size_t i = 3; i < COUNT(tensors); i++)
        tensors[i] = (struct assay__peak_tensor){"small", "10 float32", 1000, "n", "Add", "", ""};
    struct assay_profile *p = with_peak(12, 212, 4e4);
    check_wide(p, 0, some, COUNT(some));
    check_wide(p, -1, all, COUNT(all));
    p->trials[0].peak.alive = 12, p->trials[0].peak.rest_bytes = 0;
    check_wide(p, 0, (const char *const[]){"… 2 more tensors =2.00 kB =0.0200 % Layers"}, 1);
    p->trials[0].peak = assay__peak_unknown(); /* looked for without success */
    p->trials[0].peak.reason = "the graph has a loop";
    check_wide(p, 0, none, COUNT(none));
    assay_profile_close(p);
}

/* --- Markdown --------------------------------------------------------------------------------- */

/* The same reason of many trials is one line, in text one count, and of one trial it has its
 * number. */
static void test_reasons_are_folded(void)
{
    struct assay_profile *p = several("sweep");
    char labels[40][32];
    for (int i = 0; i < 40; i++) {
        snprintf(labels[i], sizeof labels[i], "batch=%d", i + 1);
        add(p, "", labels[i], 0.001 * (i + 1), i < 23 ? "out of memory" : i == 30 ? "crashed" : "");
    }
    p->trials[39].state = ASSAY__TRIAL_SKIPPED;
    p->trials[39].reason = "out of memory"; /* of another kind: a line of its own */
    char *text = render(p, (struct assay_report_options){.format = "markdown"});
    CHECK_HAS(text, "\n\n**FAILED (23 of 40 trials): out of memory**\n\n"
                    "**FAILED (trial 31): crashed**\n\n"
                    "**SKIPPED (trial 40): out of memory**\n\n");
    assay_free(text);
    text = render(p, (struct assay_report_options){.columns = 80});
    CHECK_HAS(text, "FAILED (23 of 40 trials): out of memory");
    assay_free(text);
    assay_profile_close(p);
}

static void lose(struct assay_profile *p, size_t trial, size_t launch)
{
    p->trials[trial].state = ASSAY__TRIAL_FAILED;
    p->trials[trial].reason = "1 of 5 launches failed; launch 2: killed";
    p->trials[trial].launches[launch].state = ASSAY__TRIAL_FAILED;
    p->trials[trial].launches[launch].reason = "killed";
}

/* A point that stands on its other launches is no failure: of sweep; of compare four launches are
 * too few. */
static void test_a_lost_launch_is_a_note(void)
{
    static const char *const labels[] = {"batch=1", "batch=2", "batch=4", "batch=8", "batch=16"};
    struct assay_profile *p = several("sweep");
    for (size_t i = 0; i < 5; i++)
        add(p, "", labels[i], 0.001 * (double)(i + 1), "");
    lose(p, 1, 1);
    char *text = render(p, (struct assay_report_options){.format = "markdown"});
    CHECK_HAS(text, "\n\n**NOTE: trial 2 lost 1 of 5 launches: judged by the 4 that are left "
                    "(launch 2: killed)**\n\n");
    CHECK(strstr(text, "FAILED") == NULL);
    assay_free(text);
    lose(p, 2, 1);
    add(p, "", "batch=32", 0.006, "out of memory");
    text = render(p, (struct assay_report_options){.columns = 160});
    CHECK_HAS(text, "FAILED (trial 6): out of memory\n");
    CHECK_HAS(text, "NOTE: 2 of 6 trials lost 1 of 5 launches each: judged by the 4 that are left");
    assay_free(text);
    lose(p, 3, 1);
    lose(p, 4, 1);
    text = render(p, (struct assay_report_options){.columns = 160});
    CHECK_HAS(text, "NOTE: 4 of 6 trials lost 1 of 5 launches each: judged by the 4 that are left");
    assay_free(text);
    assay__profile_set_command(p, "compare");
    text = render(p, (struct assay_report_options){.format = "markdown"});
    CHECK_HAS(text, "**FAILED (4 of 6 trials): 1 of 5 launches failed; launch 2: killed**");
    CHECK(strstr(text, "NOTE: ") == NULL);
    assay_free(text);
    assay_profile_close(p);
}

static void check_markdown(const char *text, const char *expected)
{
    const struct assay_report_options view = {.size = sizeof view};
    struct assay__buf out = {0}, wanted = {0};
    struct assay__doc *doc;
    CHECK_INT(assay__doc_new(&doc), 0);
    assay__doc_sentence(doc, ASSAY__TONE_PLAIN, "%s", text);
    CHECK_INT(assay__walk_markdown(doc, &view, &out, NULL), 0);
    assay__buf_printf(&wanted, "# \n\n%s\n", expected);
    CHECK_STR(out.data, wanted.data);
    assay__doc_free(doc);
    assay__buf_free(&out);
    assay__buf_free(&wanted);
}

/* A sign that is code begins no mention and no reference; what is none of both stays as it is. */
static void test_mentions(void)
{
    check_markdown("@somebody/conv", "`@`somebody/conv");
    check_markdown("a@b.org @@x @ x@", "a`@`b.org @`@`x @ x@");
    check_markdown("fixes #123, o/r#4 #x", "fixes `#`123, o/r`#`4 \\#x");
    check_markdown("#1#2", "`#`1`#`2");
    check_markdown("!7 %v1 95 % a!", "`!`7 `%`v1 95 % a!");
    check_markdown("GH-6 gh-7 XGH-8 -9 G-1", "GH`-`6 gh`-`7 XGH-8 -9 G-1");
    check_markdown("`@a` \\@b", "\\``@`a\\` \\\\`@`b");
    struct assay_profile *p = several("compare");
    add(p, "reference", "@a <b>#12", 0.002, "");
    add(p, "", "npu", 0.001, "");
    char *text = render(p, (struct assay_report_options){.format = "markdown"});
    CHECK_HAS(text, "<summary>Trial 1: <code>@</code>a &lt;b&gt;<code>#</code>12: ok</summary>");
    CHECK(strstr(text, "@a") == NULL && strstr(text, "#12") == NULL);
    assay_free(text);
    assay_profile_close(p);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"one_trial", test_one_trial},
        {"memory_headings", test_memory_headings},
        {"compare", test_compare},
        {"compare_long_names", test_compare_long_names},
        {"sweep", test_sweep},
        {"tune", test_tune},
        {"heading", test_heading},
        {"peak", test_peak},
        {"many_at_the_peak", test_many_at_the_peak},
        {"reasons_are_folded", test_reasons_are_folded},
        {"a_lost_launch_is_a_note", test_a_lost_launch_is_a_note},
        {"mentions", test_mentions},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
