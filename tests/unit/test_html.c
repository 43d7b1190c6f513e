/* test_html.c - the HTML page without a browser: escaping to the byte, data that cannot end its
 * element, samples that come back as they were, the policy's hashes, and what stands where of full,
 * hostile, empty, broken and very large profiles. */
#include "base/json.h"
#include "model/sha256.h"
#include "page_fixture.h"
#include "profile_fixture.h"
#include "report/json/json_pack.h"
#include "report/walk/html_page.h"

#include <assay/report.h>

#define CHECK_WRITTEN(expected, call)    \
    do {                                 \
        struct assay__buf out = {0};     \
        call;                            \
        CHECK(!out.failed && out.data);  \
        CHECK_STR(out.data, (expected)); \
        assay__buf_free(&out);           \
    } while (0)

static void test_escapes(void)
{
    CHECK_WRITTEN("a &lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;",
                  assay__html_text(&out, "a <b> & \"c\" 'd'"));
    CHECK_WRITTEN(
        "caf\xc3\xa9 \xf0\x9f\x9a\x80 \xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d",
        assay__html_text(&out, "caf\xc3\xa9 \xf0\x9f\x9a\x80 \xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d"));
    /* escape, a C1 control, a turn of direction, a cut sequence, an overlong one */
    CHECK_WRITTEN("a\xef\xbf\xbd[31m", assay__html_text(&out, "a\033[31m"));
    CHECK_WRITTEN("\xef\xbf\xbd", assay__html_text(&out, "\xc2\x9b"));
    CHECK_WRITTEN("x\xef\xbf\xbdy\xef\xbf\xbd",
                  assay__html_text(&out, "x\xe2\x80\xaey\xe2\x81\xa7"));
    CHECK_WRITTEN("\xef\xbf\xbd\xef\xbf\xbd!", assay__html_text(&out, "\xe2\x82!"));
    CHECK_WRITTEN("\xef\xbf\xbd\xef\xbf\xbd", assay__html_text(&out, "\xc0\xbc"));
    CHECK_WRITTEN("two\nlines\tand a tab", assay__html_text(&out, "two\nlines\tand a tab"));
    struct assay__buf none = {0};
    assay__html_text(&none, NULL);
    CHECK_INT(none.length, 0);
    assay__buf_free(&none);
}

/* No line ends between a number and its unit, nor inside an option; all else as it is. */
static void test_prose(void)
{
    CHECK_WRITTEN("takes 5.4\xc2\xa0%, 3\xc2\xa0ms; 2\xc2\xa0× as fast",
                  assay__html_prose(&out, "takes 5.4 %, 3 ms; 2 × as fast"));
    CHECK_WRITTEN("2 launches of 8 samples", assay__html_prose(&out, "2 launches of 8 samples"));
    CHECK_WRITTEN("more (<span class=\"o\">--iters</span>, <span class=\"o\">--time</span>)",
                  assay__html_prose(&out, "more (--iters, --time)"));
    CHECK_WRITTEN("a--b -- <span class=\"o\">--x</span>&lt;i&gt;",
                  assay__html_prose(&out, "a--b -- --x<i>"));
    CHECK_WRITTEN("&lt;1\xc2\xa0s &gt;", assay__html_prose(&out, "<1 s >"));
    CHECK_WRITTEN("7 ", assay__html_prose(&out, "7 "));
    struct assay__buf none = {0};
    assay__html_prose(&none, NULL);
    CHECK_INT(none.length, 0);
    assay__buf_free(&none);
}

static void test_names(void)
{
    CHECK_WRITTEN("<bdi>&lt;/bdi&gt;</bdi>", assay__html_name(&out, "</bdi>"));
    CHECK_WRITTEN("<bdi></bdi>", assay__html_name(&out, NULL));
    /* 160 characters stay whole, 161 do not, whatever bytes they take */
    struct assay__buf name = {0}, out = {0};
    assay__buf_repeat(&name, "\xc3\xa9", 160);
    assay__html_name(&out, name.data);
    CHECK_INT(out.length, 320 + strlen("<bdi></bdi>"));
    CHECK(!strstr(out.data, "…"));
    assay__buf_puts(&name, "z");
    assay__buf_clear(&out);
    assay__html_name(&out, name.data);
    CHECK_HAS(out.data, "…");
    CHECK_HAS(out.data, "z</bdi>");
    CHECK_INT(out.length, 2 * 78 + 3 + 2 * 77 + 1 + strlen("<bdi></bdi>"));
    /* bytes that are no character: still cut */
    assay__buf_clear(&name);
    assay__buf_clear(&out);
    assay__buf_repeat(&name, "\x80", 10000);
    assay__html_name(&out, name.data);
    CHECK(out.length < 1500);
    assay__buf_free(&name);
    assay__buf_free(&out);
}

static void test_base64(void)
{
    static const char *const cases[][2] = {{"f", "Zg=="},         {"fo", "Zm8="},
                                           {"foo", "Zm9v"},       {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"}};
    for (size_t i = 0; i < COUNT(cases); i++)
        CHECK_WRITTEN(cases[i][1], assay__html_base64(&out, cases[i][0], strlen(cases[i][0])));
    struct assay__buf out = {0};
    unsigned char bytes[3000];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 7 + i / 256);
    assay__html_base64(&out, bytes, sizeof bytes);
    CHECK_INT(out.length, 4000);
    assay__buf_free(&out);
}

/* --- data ------------------------------------------------------------------------------------- */

static bool same_json(const struct assay__json *a, const struct assay__json *b)
{
    if (!a || !b) return a == b;
    if (a->kind != b->kind || a->count != b->count) return false;
    if ((a->key || b->key) && (!a->key || !b->key || strcmp(a->key, b->key) != 0)) return false;
    if (a->kind == ASSAY__JSON_STRING && strcmp(a->string, b->string) != 0) return false;
    if (a->kind == ASSAY__JSON_NUMBER && a->number != b->number) return false;
    const struct assay__json *x = a->first, *y = b->first;
    for (; x && y; x = x->next, y = y->next)
        if (!same_json(x, y)) return false;
    return x == y;
}

static const struct assay__json *parse(struct assay__arena *arena, const char *text, size_t length)
{
    struct assay__json *root = NULL;
    struct assay_error error = {0};
    int code = assay__json_parse(arena, text, length, &root, &error);
    if (code) printf("  %s\n", error.message);
    CHECK_INT(code, 0);
    return root;
}

static void test_json_in_a_script(void)
{
    static const char json[] =
        "{\n  \"a b\" : \"</script><!-- & \\\"q\\\\\" ,\t\"\\u003c\": [ 1 , -2.5e3, true ],"
        "\"\xe2\x80\xa8\xe2\x80\xa9\xe2\x82\xac\": null\r\n}";
    struct assay__buf out = {0};
    assay__html_json(&out, json, sizeof json - 1);
    CHECK_STR(out.data, "{\"a b\":\"\\u003c/script\\u003e\\u003c!-- \\u0026 "
                        "\\\"q\\\\\",\"\\u003c\":[1,-2.5e3,true],"
                        "\"\\u2028\\u2029\xe2\x82\xac\":null}");
    struct assay__arena *arena = assay__arena_new();
    CHECK(same_json(parse(arena, json, sizeof json - 1), parse(arena, out.data, out.length)));
    assay__arena_free(arena);
    assay__buf_free(&out);
}

/* --- pages ------------------------------------------------------------------------------------ */

static char *render(const struct assay_profile *profile, const char *format)
{
    const struct assay_report_options wanted = {.size = sizeof wanted, .format = format};
    struct assay_error error = {0};
    char *text = NULL;
    int code = assay_report(profile, &wanted, &text, NULL, &error);
    if (code) printf("  %s\n", error.message);
    CHECK_INT(code, 0);
    return text;
}

static size_t count_of(const char *text, const char *what)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
        count++;
    return count;
}

/* The text between two marks, fresh. */
static char *between(const char *text, const char *before, const char *after)
{
    const char *begin = strstr(text, before);
    CHECK(begin != NULL);
    begin += strlen(before);
    const char *end = strstr(begin, after);
    CHECK(end != NULL);
    char *part = strndup(begin, (size_t)(end - begin));
    CHECK(part != NULL);
    return part;
}

/* Elements are closed in the order they were opened; ids stand once. What is inside of style and
 * script is no markup. */
static void check_markup(const char *page)
{
    static const char *const voids[] = {"meta", "br", "wbr", "input"};
    char stack[64][24];
    size_t depth = 0;
    for (const char *at = strchr(page, '<'); at; at = strchr(at, '<')) {
        bool closes = at[1] == '/';
        const char *name = at + 1 + closes, *end = strchr(at, '>');
        size_t length = strspn(name,
                               "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
        char tag[24];
        CHECK(end != NULL);
        if (at[1] == '!') {
            at = end;
            continue;
        }
        CHECK(length > 0 && length < sizeof tag);
        snprintf(tag, sizeof tag, "%.*s", (int)length, name);
        bool empty = end[-1] == '/';
        for (size_t i = 0; i < COUNT(voids); i++)
            empty |= strcmp(tag, voids[i]) == 0;
        if (closes) {
            CHECK(depth > 0);
            CHECK_STR(stack[--depth], tag);
        } else if (!empty) {
            CHECK(depth < COUNT(stack));
            memcpy(stack[depth++], tag, sizeof tag);
        }
        at = end;
        if (!closes && (strcmp(tag, "script") == 0 || strcmp(tag, "style") == 0))
            CHECK((at = strstr(at, strcmp(tag, "style") ? "</script" : "</style")) != NULL);
    }
    CHECK_INT(depth, 0);
}

/* The policy has the hash of that text after `directive`. Frees the text. */
static void check_hash(const char *page, const char *directive, char *content)
{
    struct assay__sha256 sha;
    struct assay__buf wanted = {0};
    uint8_t digest[32];
    char *policy = between(page, directive, "\n");
    policy[strcspn(policy, ";\"")] = 0;
    assay__sha256_start(&sha);
    assay__sha256_add(&sha, content, strlen(content));
    assay__sha256_end(&sha, digest);
    assay__buf_puts(&wanted, "'sha256-");
    assay__html_base64(&wanted, digest, sizeof digest);
    assay__buf_putc(&wanted, '\'');
    CHECK_HAS(policy, wanted.data);
    assay__buf_free(&wanted);
    free(content);
    free(policy);
}

static void check_page(const struct assay_profile *profile, const char *page)
{
    struct assay__arena *arena = assay__arena_new();
    char *json = render(profile, "json"), *data = page_text(page, "assay-data"),
         *script = page_text(page, "assay-script");
    check_markup(page);
    /* three blocks of data, the script and what inflates them; with uPlot where a figure can be
     * zoomed and the build has it */
    bool zoom = strstr(page, " data-plot=\"") != NULL;
    CHECK_INT(count_of(page, "<script"), 5);
    CHECK_INT(strstr(script, "uPlot=") != NULL, zoom);
    CHECK(!zoom || (assay__html_can_zoom() && strstr(page, "MIT License")));
    CHECK_INT(count_of(page, " style="), 0);
    CHECK_INT(count_of(page, " src=\""), 0);
    struct assay__buf packed = {0}; /* test_json_pack, page_check.py: that nothing is lost in it */
    assay__json_pack(&packed, json, strlen(json));
    CHECK(same_json(parse(arena, packed.data, packed.length), parse(arena, data, strlen(data))));
    assay__buf_free(&packed);
    free(json);
    free(data);
    check_hash(page, "style-src", between(page, "<style>", "</style>"));
    check_hash(page, "script-src", between(page, "<script>", "</script>"));
    check_hash(page, "script-src", script);
    assay__arena_free(arena);
}

static void test_full(void)
{
    static const char *const sections[] = {"summary",  "latency",   "metrics",
                                           "layers",   "placement", "memory",
                                           "findings", "trials",    "environment"};
    struct assay_profile *profile = make_document();
    char *page = render(profile, "html");
    check_page(profile, page);
    for (size_t i = 0; i < COUNT(sections); i++) {
        char text[64];
        snprintf(text, sizeof text, "<section id=\"%s\"", sections[i]);
        CHECK_INT(count_of(page, text), 1);
    }
    static const char *const tabs[] = {"overview", "latency", "memory", "evidence"};
    for (size_t i = 0; i < COUNT(tabs); i++) {
        char text[64];
        snprintf(text, sizeof text, "<section class=\"tab\" id=\"tab-%s\"", tabs[i]);
        CHECK_INT(count_of(page, text), 1);
        snprintf(text, sizeof text, "<a href=\"#tab-%s\">", tabs[i]);
        CHECK_INT(count_of(page, text), 1);
    }
    CHECK(!strstr(page, "tab-generate"));
    CHECK_HAS(page, "INCOMPLETE");
    CHECK_HAS(page, "FAILED (trial 2): worker died: SIGSEGV");
    CHECK_HAS(page, "steal time 3.1\xc2\xa0%");
    CHECK_HAS(page, "UNSTABLE");
    CHECK_HAS(page, "temperature: no sensor on this host");
    CHECK_HAS(page, "no RAPL on this host");
    CHECK_HAS(page, ">1.8 ×</span>"); /* derived: the tip says so */
    CHECK_HAS(page, "<b>state</b> derived");
    CHECK_HAS(page, "0.99 ×");
    CHECK_HAS(page, "0.97 to 1.01");
    CHECK_HAS(page, "threads=2");
    CHECK_HAS(page, "assay run &#39;a b.onnx&#39;");
    CHECK_HAS(page, "<tr id=\"layer-0\">");
    CHECK_HAS(page, ">engine per run<");
    CHECK_HAS(page, ">unattributed<");
    CHECK(!strstr(page, "<section id=\"sweep\""));
    CHECK(!strstr(page, "<section id=\"comparison\""));
    CHECK(!strstr(page, "<section id=\"requirements\""));
    assay_free(page);
    assay_profile_close(profile);
}

/* The unknown layer has no time: its provider has no share, and nothing of it reads as 0. */
static void test_unknown_stays_unknown(void)
{
    struct assay_profile *profile = make_document();
    char *page = render(profile, "html"), *row = between(page, "<tr id=\"layer-1\">", "</tr>");
    CHECK(count_of(row, "—") >= 3); /* time, share, rate */
    CHECK(!strstr(row, ">0"));
    free(row);
    assay_free(page);
    assay_profile_close(profile);
}

#define HOSTILE \
    "</script></title>\"'><img src=x onerror=alert(1)><!-- \xe2\x80\xae \033[2J \xff &amp;"

static void test_hostile(void)
{
    static const char *hostile_from[] = {HOSTILE, "=cmd()"};
    struct assay_profile *profile = make_document();
    struct assay__trial *trial = &profile->trials[0];
    struct assay__layer item = layers[0];
    struct assay__buf longest = {0};
    assay__buf_repeat(&longest, "<b>\xf0\x9f\x98\x80", 1500); /* some 10 kB */
    item.from = hostile_from;
    item.from_count = 2;
    item.name = item.op = item.provider = item.note = longest.data;
    trial->layers.items = &item;
    trial->layers.count = 1;
    profile->models[0]->name = profile->command_line = profile->environment.host = HOSTILE;
    trial->target.device = trial->target.engine = trial->stability.verdict = HOSTILE;
    char *page = render(profile, "html");
    check_page(profile, page);
    CHECK(!strstr(page, "<img") && !strstr(page, "<b>\xf0") && !strchr(page, '\033'));
    CHECK(!strstr(page, "\xe2\x80\xae</"));
    assay_free(page);
    profile->models[0]->name = longest.data;
    page = render(profile, "html");
    check_page(profile, page);
    assay_free(page);
    assay__buf_free(&longest);
    assay_profile_close(profile);
}

static void test_empty(void)
{
    struct assay_profile *profile = assay__profile_new();
    CHECK(profile != NULL);
    profile->complete = true;
    char *page = render(profile, "html");
    check_page(profile, page);
    CHECK_HAS(page, "EMPTY: ");
    CHECK(!strstr(page, "<section id=\"latency\""));
    assay_free(page);

    /* a trial with a single metric */
    struct assay__trial *trial = assay__profile_trial(profile);
    CHECK(trial != NULL);
    trial->state = ASSAY__TRIAL_OK;
    CHECK_INT(assay_metrics_measured(trial->metrics, "latency.p50", 0.002, "clock", ""), 0);
    page = render(profile, "html");
    check_page(profile, page);
    CHECK_HAS(page, "2.00\xc2\xa0ms per inference");
    CHECK_HAS(page, "<section id=\"layers\"");
    CHECK(!strstr(page, "<section id=\"placement\""));
    assay_free(page);
    assay_profile_close(profile);
}

/* Trials against each other: each command has its section, an unknown drift is no number, and every
 * trial is there. */
static void test_several_trials(void)
{
    static const char *const commands[][2] = {{"compare", "comparison"}, {"sweep", "sweep"}};
    for (size_t i = 0; i < COUNT(commands); i++) {
        struct assay_profile *profile = make_document();
        char wanted[64];
        assay__profile_set_command(profile, commands[i][0]);
        CHECK_INT(assay_metrics_measured(profile->trials[0].metrics, "drift.cosine", 0.999999,
                                         "outputs", "of y"),
                  0);
        char *page = render(profile, "html");
        check_page(profile, page);
        snprintf(wanted, sizeof wanted, "<section id=\"%s\"", commands[i][1]);
        char *part = between(page, wanted, "</section>");
        CHECK_HAS(part, "worker died: SIGSEGV");
        if (i == 0) CHECK_HAS(part, "0.999999");
        CHECK_HAS(page, "<details id=\"t2-trial\">");
        CHECK(!strstr(page, i ? "<section id=\"comparison\"" : "<section id=\"sweep\""));
        free(part);
        assay_free(page);
        assay_profile_close(profile);
    }
}

/* The headline energy is the gross one, by name; the net one only where it is above zero, else
 * noise in words. */
static void test_energy(void)
{
    for (int positive = 0; positive < 2; positive++) {
        struct assay_profile *profile = make_document();
        struct assay_metrics *metrics = profile->trials[0].metrics;
        CHECK_INT(assay_metrics_derived(metrics, "energy.inference.gross", 0.002, "sensors", "E"),
                  0);
        CHECK_INT(assay_metrics_derived(metrics, "energy.inference.net",
                                        positive ? 0.0015 : -0.00179, "sensors", "E - P t"),
                  0);
        char *page = render(profile, "html"), *card = between(page, "<dl class=\"kpis\">", "</dl>");
        check_page(profile, page);
        CHECK_HAS(card, "<dt>energy per inference</dt>");
        CHECK_HAS(card, ">2.00 mJ<");
        CHECK(!strstr(card, "-1.79"));
        CHECK_HAS(page, positive ? "1.50 mJ" : "-1.79 mJ");
        free(card);
        assay_free(page);
        assay_profile_close(profile);
    }
}

/* Counters of time are times. */
static void test_counters_of_time(void)
{
    static const char *names[] = {"task-clock", "elapsed"};
    static double values[] = {0.00000336, 0.0025};
    static struct assay__class_counters rows[] = {{"Conv", 2, 1000, values}};
    struct assay_profile *profile = make_document();
    profile->trials[0].counter_names = names;
    profile->trials[0].counter_count = 2;
    profile->trials[0].class_counters = rows;
    profile->trials[0].class_counter_count = 1;
    char *page = render(profile, "html");
    CHECK_HAS(page, ">3.36 µs</td>");
    CHECK_HAS(page, ">2.50 ms</td>");
    assay_free(page);
    assay_profile_close(profile);
}

/* --- samples come back ------------------------------------------------------------------------ */

static size_t unpack(const char *text, double *out, size_t room)
{
    unsigned char bytes[256];
    size_t size = page_bytes(text, strlen(text), bytes, sizeof bytes), count = 0;
    int64_t previous = 0;
    for (size_t at = 0; at < size;) {
        uint64_t code = 0;
        int shift = 0;
        do {
            code |= (uint64_t)(bytes[at] & 127) << shift;
            shift += 7;
        } while (bytes[at++] & 128);
        previous += code & 1 ? -(int64_t)(code >> 1) - 1 : (int64_t)(code >> 1);
        CHECK(count < room);
        out[count++] = (double)previous;
    }
    return count;
}

static void test_samples(void)
{
    static double whole[] = {0, 20500, 20499, 1, 4503599627370496.0, 3, 20563, 20564},
                  broken[] = {1.5, NAN, -2};
    static size_t offsets[] = {0, 8}, three[] = {0, 3};
    double back[16];
    struct assay_profile *profile = make_document();
    struct assay__trial *trial = &profile->trials[0];
    trial->launches[0].samples_ns = whole, trial->launches[0].sample_count = COUNT(whole);
    trial->launches[0].stream_offsets = offsets;
    trial->launches[1].samples_ns = broken, trial->launches[1].sample_count = COUNT(broken);
    trial->launches[1].stream_offsets = three, trial->launches[1].streams = 1;
    char *page = render(profile, "html"), *data = page_text(page, "assay-samples");
    struct assay__arena *arena = assay__arena_new();
    const struct assay__json *launches = assay__json_get(parse(arena, data, strlen(data)),
                                                         "launches");
    CHECK(launches && launches->count == 2);
    CHECK_INT(assay__json_get_integer(launches->first, "warmup", -1), 10);
    CHECK_INT(unpack(assay__json_get_string(launches->first, "data", ""), back, COUNT(back)),
              COUNT(whole));
    for (size_t i = 0; i < COUNT(whole); i++)
        CHECK(back[i] == whole[i]);
    const struct assay__json *values = assay__json_get(launches->first->next, "values");
    CHECK(values && values->count == 3 && values->first->number == 1.5);
    CHECK(values->first->next->kind == ASSAY__JSON_NULL);
    assay__arena_free(arena);
    free(data);
    assay_free(page);
    assay_profile_close(profile);
}

/* --- placement -------------------------------------------------------------------------------- */

static void test_crossings(void)
{
    static struct assay__layer chain[6];
    static const struct {
        const char *op, *provider;
        double time_ns, bytes;
    } rows[] = {{"Conv", "CUDA", 5e6, 1},   {"MemcpyToHost", "CUDA", 2e6, 4e6},
                {"NonZero", "CPU", 1e6, 1}, {"MemcpyFromHost", "CUDA", 1e6, 3e6},
                {"Conv", "CUDA", 1e6, 1},   {"TopK", "CPU", 10e6, 1}};
    struct assay_profile *profile = make_document();
    struct assay__trial *trial = &profile->trials[0];
    for (size_t i = 0; i < COUNT(rows); i++) {
        chain[i] = layers[0];
        chain[i].index = (int)i;
        chain[i].op = rows[i].op, chain[i].provider = rows[i].provider;
        chain[i].time_ns = rows[i].time_ns, chain[i].bytes = rows[i].bytes;
    }
    trial->layers.items = chain;
    trial->layers.count = COUNT(chain);
    CHECK_INT(assay_metrics_measured(trial->metrics, "latency.p50", 0.02, "clock", ""), 0);
    char *page = render(profile, "html"),
         *part = between(page, "<section id=\"placement\"", "</section>");
    /* 9 of 20 ms on CUDA with its copies, 11 on the CPU */
    CHECK_HAS(part, ">9.00 ms<");
    CHECK_HAS(part, ">45.0 %<");
    CHECK_HAS(part, ">11.0 ms<");
    CHECK_HAS(part, ">55.0 %<");
    /* CUDA to CPU twice, once without a copy: bytes and time are not known; CPU to CUDA once, 3 MB
     * in 1 ms */
    CHECK_HAS(part, "<th scope=\"row\"><bdi>CUDA</bdi></th><td><bdi>CPU</bdi></td>"
                    "<td data-v=\"2\">2</td><td>—</td><td>—</td>");
    CHECK_HAS(part, "<th scope=\"row\"><bdi>CPU</bdi></th><td><bdi>CUDA</bdi></td>"
                    "<td data-v=\"1\">1</td><td data-v=\"3000000\">3.00 MB</td>"
                    "<td data-v=\"0.001\">1.00 ms</td>");
    free(part);
    assay_free(page);
    assay_profile_close(profile);
}

/* --- many layers ------------------------------------------------------------------------------ */

static void test_many_layers(void)
{
    enum { MANY = 3000 };
    struct assay_profile *profile = make_document();
    struct assay__trial *trial = &profile->trials[0];
    struct assay__layer *many = calloc(MANY, sizeof *many);
    CHECK(many != NULL);
    for (int i = 0; i < MANY; i++) {
        many[i] = layers[0];
        many[i].index = i;
        many[i].time_ns = 1000 + i;
    }
    trial->layers.items = many;
    trial->layers.count = MANY;
    char *page = render(profile, "html");
    check_page(profile, page);
    CHECK_INT(count_of(page, "<tr id=\"layer-"), 203); /* and engine, unattributed, total */
    CHECK_HAS(page, "The 200 of 3,000 layers that take the longest; ");
    CHECK_HAS(page, "<tr id=\"layer-2999\">");
    CHECK(!strstr(page, "<tr id=\"layer-2799\""));
    assay_free(page);
    free(many);
    assay_profile_close(profile);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"escapes", test_escapes},
        {"prose", test_prose},
        {"names", test_names},
        {"base64", test_base64},
        {"json in a script", test_json_in_a_script},
        {"full", test_full},
        {"unknown stays unknown", test_unknown_stays_unknown},
        {"hostile", test_hostile},
        {"empty", test_empty},
        {"several trials", test_several_trials},
        {"energy", test_energy},
        {"counters of time", test_counters_of_time},
        {"samples", test_samples},
        {"crossings", test_crossings},
        {"many layers", test_many_layers},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
