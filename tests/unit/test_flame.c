/* test_flame.c - samples as a tree: totals, own time, order, functions that call themselves,
 * samples without stacks or times; the picture in text and as SVG. */
#include "harness.h"

#include "explain/explain.h"
#include "report/figure/figures.h"

static struct assay__events *events;
static uint32_t threads[2];

static void begin(void)
{
    events = assay__events_new();
    CHECK(events && assay__events_source(events));
    for (int i = 0; i < 2; i++)
        threads[i] = assay__events_track(
            events, &(struct assay__track){.pid = 1,
                                           .tid = i,
                                           .device = -1,
                                           .stream = -1,
                                           .name = i ? "helper" : "main thread"});
}

static void sample(int thread, const char *stack, const char *leaf, int64_t duration_ns)
{
    static int64_t now_ns;
    struct assay__event_args args = {.stack = stack};
    assay__events_add(events, &(struct assay__event){.start_ns = now_ns++,
                                                     .duration_ns = duration_ns,
                                                     .name = leaf,
                                                     .name_length = SIZE_MAX,
                                                     .kind = ASSAY__EVENT_SAMPLE,
                                                     .track = threads[thread],
                                                     .args = assay__events_args(events, &args)});
}

static const struct assay__flame_node *child(const struct assay__flame *flame,
                                             const struct assay__flame_node *of, const char *name)
{
    for (uint32_t i = of->first; i; i = flame->nodes[i].next)
        if (!strcmp(flame->nodes[i].name, name)) return &flame->nodes[i];
    printf("  no \"%s\"\n", name);
    CHECK(false);
    return NULL;
}

static void add_samples(void)
{
    begin();
    sample(0, "main;f;g", "g", 10);
    sample(0, "main;f;g", "g", 10);
    sample(0, "main;f", "f", 5);
    sample(0, "main;r;r;r", "r", 40);
    sample(1, "main;g", "g", 7);
    sample(1, NULL, NULL, 3);
    CHECK_INT(assay__events_seal(events, NULL), 0);
}

static void test_tree(void)
{
    struct assay__arena *arena = assay__arena_new();
    add_samples();
    const struct assay__flame *flame = assay__flame_new(events, arena);
    CHECK(flame && flame->is_time);
    CHECK_INT(flame->samples, 6);
    CHECK_INT(flame->stackless, 1);
    CHECK_INT(flame->depth, 5);
    CHECK_INT(flame->nodes->total, 72);
    const struct assay__flame_node *first = &flame->nodes[flame->nodes->first];
    CHECK_STR(first->name, "main thread"); /* the largest first */
    CHECK_INT(first->total, 65);
    const struct assay__flame_node *top = child(flame, first, "main");
    CHECK_STR(flame->nodes[top->first].name, "r");
    const struct assay__flame_node *f = child(flame, top, "f");
    CHECK_INT(f->total, 25);
    CHECK_INT(f->self, 5);
    CHECK_INT(child(flame, f, "g")->self, 20);
    CHECK_INT(child(flame, child(flame, &flame->nodes[first->next], "main"), "g")->total, 7);
    int64_t self = 0;
    for (size_t i = 0; i < flame->count; i++)
        self += flame->nodes[i].self;
    CHECK_INT(self, flame->nodes->total);
    assay__arena_free(arena);
    assay__events_free(events);
}

static const struct assay__host_function *function(const struct assay__explain *x, const char *name)
{
    for (size_t i = 0; i < x->function_count; i++)
        if (!strcmp(assay__events_text(x->events, x->functions[i].name), name))
            return &x->functions[i];
    CHECK(false);
    return NULL;
}

/* A function counts once, however often a stack has it. */
static void test_functions(void)
{
    struct assay__explain *x;
    add_samples();
    CHECK_INT(assay__explain_new(events, &x, NULL), 0);
    CHECK_INT(x->samples, 6);
    CHECK_INT(x->sampled_ns, 75);
    CHECK_INT(function(x, "r")->self_ns, 40);
    CHECK_INT(function(x, "r")->total_ns, 40);
    CHECK_INT(function(x, "f")->self_ns, 5);
    CHECK_INT(function(x, "f")->total_ns, 25);
    CHECK_INT(function(x, "g")->self_ns, 27);
    CHECK_INT(x->timeline != NULL, 1);
    assay__explain_free(x);
    assay__events_free(events);
}

static void test_without_times(void)
{
    struct assay__arena *arena = assay__arena_new();
    begin();
    for (int i = 0; i < 3; i++)
        sample(0, "main;f", "f", 0);
    CHECK_INT(assay__events_seal(events, NULL), 0);
    const struct assay__flame *flame = assay__flame_new(events, arena);
    CHECK(flame && !flame->is_time);
    CHECK_INT(flame->nodes->total, 3);
    assay__events_free(events);
    begin();
    sample(0, NULL, NULL, 5);
    CHECK_INT(assay__events_seal(events, NULL), 0);
    CHECK(assay__flame_new(events, arena) == NULL && !assay__arena_failed(arena));
    assay__events_free(events);
    assay__arena_free(arena);
}

static size_t count_of(const char *text, const char *word)
{
    size_t count = 0;
    for (; (text = strstr(text, word)); text += strlen(word))
        count++;
    return count;
}

static void test_pictures(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__buf out = {0};
    struct assay__page page = {.out = &out, .columns = 80, .ascii = true};
    begin();
    sample(0, "main;f;<script>", "<script>", 90);
    sample(0, "main;r;r;r;r", "r", 9);
    sample(0, "main;tiny", "tiny", 1);
    CHECK_INT(assay__events_seal(events, NULL), 0);
    const struct assay__flame *flame = assay__flame_new(events, arena);
    const struct assay__figure *figure = assay__flame_figure(flame, arena);
    CHECK(figure != NULL);
    assay__figure_text(&page, figure);
    CHECK_HAS(out.data, "100.0 % ########## main thread > main\n");
    CHECK_HAS(out.data, " 90.0 % #########.   f > <script>\n");
    CHECK_HAS(out.data, "  9.0 % #.........   r (4 times)\n");
    assay__buf_clear(&out);
    assay__figure_svg(&out, figure, &(struct assay__svg_options){.width = 800, .standalone = true});
    CHECK(!strstr(out.data, "<script>"));
    CHECK_INT(count_of(out.data, "<g><title>"), 10); /* a bar for each node */
    CHECK_HAS(out.data, "<title>f: 90.0 ns, 90.00 %</title>");
    assay__buf_free(&out);
    assay__events_free(events);
    assay__arena_free(arena);
}

/* A stack of a thousand functions is drawn without recursion. */
static void test_deep(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__buf stack = {0}, out = {0};
    struct assay__page page = {.out = &out, .columns = 80};
    for (int i = 0; i < 1000; i++)
        assay__buf_printf(&stack, "%sf%d", i ? ";" : "", i);
    begin();
    sample(0, stack.data, "f999", 10);
    CHECK_INT(assay__events_seal(events, NULL), 0);
    const struct assay__flame *flame = assay__flame_new(events, arena);
    CHECK_INT(flame->depth, 1001);
    const struct assay__figure *figure = assay__flame_figure(flame, arena);
    assay__figure_text(&page, figure);
    assay__figure_svg(&out, figure, &(struct assay__svg_options){.width = 400});
    CHECK(!out.failed);
    assay__buf_free(&stack);
    assay__buf_free(&out);
    assay__events_free(events);
    assay__arena_free(arena);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {{"tree", test_tree},
                                                {"functions", test_functions},
                                                {"without_times", test_without_times},
                                                {"pictures", test_pictures},
                                                {"deep", test_deep}};
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
