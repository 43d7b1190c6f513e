/* test_feedback.c - which outputs are states: by their names, with equal types and shapes; as asked
 * for; what is refused; what a state begins with; and what sound the inputs say an inference has.
 */
#include "inputs_fixture.h"
#include "scratch.h"

#include "model/inputs/feedback.h"
#include "model/inputs/npy.h"

/* --- names ------------------------------------------------------------------------------------ */

static bool are_paired(const char *output, const char *input)
{
    struct assay__state_name out, in;
    assay__state_name_read(output, true, &out);
    assay__state_name_read(input, false, &in);
    if (assay__state_names_pair(&out, &in)) return true;
    return out.ends && assay__state_name_again(&in) && assay__state_names_pair(&out, &in);
}

static void test_names(void)
{
    static const char *const pairs[][2] = {
        {"stateN", "state"}, /* silero */
        {"hn", "h"},
        {"cn", "c"},
        {"hn", "h0"}, /* PyTorch, the zoo */
        {"hN", "h0"},
        {"h_n", "h_0"},
        {"c_n", "c_0"},
        {"state_out", "state"},
        {"state_out", "state_in"},
        {"output_state", "input_state"},
        {"new_states", "states"},
        {"new_cached_key_0", "cached_key_0"}, /* streaming zipformer */
        {"cache_last_channel_next", "cache_last_channel"},
        {"cache_last_channel_next_len", "cache_last_channel_len"},
        {"next_hidden", "hidden"},
        {"present_memory", "past_memory"},
        {"present.0.key", "past.0.key"},
        {"state", "prev_state"},
        {"hidden_out", "initial_hidden"},
        {"conv_cache_out", "conv_cache"},
        {"r_att_cache", "att_cache"},
        {"lstm1.h.out", "lstm1.h.in"},
        {"lstmHiddenOut", "lstmHiddenIn"},
        {"xN", "x"}, /* time has passed: any stem */
        {"new_x", "x"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (!are_paired(pairs[i][0], pairs[i][1])) harness_fail(__FILE__, __LINE__, pairs[i][0]);
}

static void test_other_names(void)
{
    static const char *const pairs[][2] = {
        {"output", "input"},
        {"image_out", "image"}, /* a function from an image to an image */
        {"out_sample", "sample"},
        {"hidden_states_out", "hidden_states"}, /* a layer of a transformer */
        {"last_hidden_state", "hidden_state"},
        {"state", "state"}, /* goes through as it is */
        {"state_out", "cell_in"},
        {"new_cached_key_1", "cached_key_0"},
        {"h1", "h0"},
        {"train", "trai"},
        {"", ""},
        {"N", "x"},
        {"new", "past"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (are_paired(pairs[i][0], pairs[i][1])) harness_fail(__FILE__, __LINE__, pairs[i][0]);
    char wide[400];
    memset(wide, 'a', sizeof wide - 1);
    wide[sizeof wide - 1] = '\0';
    CHECK(!are_paired(wide, wide));
    for (size_t i = 1; i < sizeof wide - 1; i += 2)
        wide[i] = '_';
    CHECK(!are_paired(wide, wide)); /* more words than are looked at */
}

/* --- models ----------------------------------------------------------------------------------- */

struct planned {
    struct assay__model *model;
    struct assay__workload *workload;
    struct assay__feedback *feedback;
    size_t count;
    int code;
    struct assay_error error;
};

/* "x,h -> y,hn": each output is the Relu of the input in its place, which is all it takes. */
static struct assay__model *model_of(const char *text)
{
    struct assay__model *model = fixture_model(17);
    char copy[256], *save = NULL;
    const char *inputs[8];
    size_t count = 0, at = 0;
    snprintf(copy, sizeof copy, "%s", text);
    char *arrow = strstr(copy, " -> ");
    *arrow = '\0';
    for (char *name = strtok_r(copy, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
        fixture_input(model, name, ASSAY__FLOAT32, "1,4");
        inputs[count++] = model->graph.inputs[model->graph.input_count - 1].name;
    }
    for (char *name = strtok_r(arrow + 4, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
        char node[128];
        snprintf(node, sizeof node, "Relu %s -> %s", inputs[at++ % count], name);
        fixture_node(model, node);
        fixture_output(model, name);
    }
    return model;
}

static struct planned plan(struct assay__model *model, const char *const *states, size_t count,
                           const struct assay__workload_options *options)
{
    static const struct assay__workload_options defaults = {.seed = 0};
    struct planned made = {.model = model};
    made.workload = plan_ok(model, options ? options : &defaults);
    made.code = assay__feedback_plan(model, states, count, made.workload, made.workload->arena,
                                     &made.feedback, &made.count, &made.error);
    return made;
}

static void done(struct planned *made)
{
    assay__workload_free(made->workload);
    assay__model_free(made->model);
}

/* "hn>h cn>c" */
static void expect_found(const char *text, const char *expected)
{
    char found[256] = "";
    struct planned made = plan(model_of(text), NULL, 0, NULL);
    CHECK_INT(made.code, 0);
    for (size_t i = 0; i < made.count; i++) {
        size_t length = strlen(found);
        snprintf(found + length, sizeof found - length, "%s%s>%s", i ? " " : "",
                 made.feedback[i].output, made.feedback[i].input);
        CHECK_INT(made.feedback[i].found, ASSAY__FEEDBACK_NAME);
    }
    CHECK_STR(found, expected);
    done(&made);
}

static void test_found(void)
{
    expect_found("x,h,c -> y,hn,cn", "hn>h cn>c");
    expect_found("x,h0,c0 -> y,hn,cn", "hn>h0 cn>c0");
    expect_found("x,state -> y,stateN", "stateN>state");
    expect_found("x,state -> y,output", "");
    expect_found("state -> stateN", "stateN>state"); /* a word for a state is enough */
    expect_found("x -> new_x", "");                  /* without one it takes another input */
    expect_found("x,t -> new_x", "new_x>x");
    expect_found("x,state -> new_state,state_out", ""); /* which one? */
    expect_found("x,state_in,prev_state -> y,new_state", "");
    expect_found("x,h -> h,y", ""); /* goes through as it is */
}

/* Equal names with other types or shapes are no states, and shapes alone are not either. */
static void test_shapes(void)
{
    struct assay__model *model = fixture_model(17);
    const int64_t axes[] = {0};
    fixture_input(model, "x", ASSAY__FLOAT32, "1,4");
    fixture_input(model, "cache", ASSAY__FLOAT32, "1,4");
    fixture_input(model, "count", ASSAY__INT64, "1,4");
    fixture_input(model, "h", ASSAY__FLOAT32, "n,4");
    fixture_input(model, "a", ASSAY__FLOAT32, "1,4");
    fixture_ints(model, "axes", 1, axes);
    fixture_node(model, "Concat cache,x -> new_cache");
    fixture_node(model, "Relu x -> new_count");
    fixture_node(model, "Relu h -> hn");
    fixture_node(model, "Relu a -> b");
    static const char *const outputs[] = {"new_cache", "new_count", "hn", "b"};
    for (size_t i = 0; i < 4; i++)
        fixture_output(model, outputs[i]);
    struct planned made = plan(model, NULL, 0, NULL);
    CHECK_INT(made.count, 1); /* the symbolic dimension has one size in both */
    CHECK_STR(made.feedback[0].output, "hn");
    done(&made);
}

/* --- the graph -------------------------------------------------------------------------------- */

/* Two cells whose states are halves of one input, stacked again in one output; beside them a third
 * cell with states of its own, whose last step is also an answer; names say nothing. */
static struct assay__model *stacked_cells(bool computed)
{
    struct assay__model *model = fixture_model(17);
    const int64_t axes[] = {0};
    fixture_input(model, "a", ASSAY__FLOAT32, "3,1,4");
    fixture_input(model, "b", ASSAY__FLOAT32, "2,1,4");
    fixture_input(model, "d", ASSAY__FLOAT32, "1,4");
    fixture_input(model, "e", ASSAY__FLOAT32, "1,4");
    fixture_ints(model, "zero", 1, axes);
    fixture_weights(model, "w", ASSAY__FLOAT32, "1,12,4");
    fixture_weights(model, "wl", ASSAY__FLOAT32, "1,16,4");
    static const char *const nodes[] = {"Split b -> b0,b1",
                                        "GRU a,w,w,,,b0 -> y0,h0",
                                        "GRU y0s,w,w,,,b1 -> y1,h1",
                                        "Concat h0,h1 -> o1",
                                        "Unsqueeze d,zero -> d0",
                                        "Unsqueeze e,zero -> e0",
                                        "LSTM a,wl,wl,,,d0,e0 -> y2,h2,c2",
                                        "Squeeze h2,zero -> o2",
                                        "Squeeze c2,zero -> o3"};
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        if (i == 2) { /* y0 has an axis of directions */
            const int64_t one[] = {1};
            fixture_ints(model, "one", 1, one);
            fixture_node(model, "Squeeze y0,one -> y0s");
        }
        struct assay__node *node = fixture_node(model, nodes[i]);
        if (strcmp(node->op, "Concat") == 0)
            CHECK_INT(assay__node_set_int(model, node, "axis", 0), 0);
        if (strcmp(node->op, "GRU") == 0 || strcmp(node->op, "LSTM") == 0)
            CHECK_INT(assay__node_set_int(model, node, "hidden_size", 4), 0);
    }
    if (computed) fixture_node(model, "Relu o1 -> o1c");
    fixture_output(model, "y1");
    fixture_output(model, computed ? "o1c" : "o1");
    fixture_output(model, "o3");
    fixture_output(model, "o2");
    return model;
}

static void test_cells(void)
{
    struct planned made = plan(stacked_cells(false), NULL, 0, NULL);
    static const char *const expected[][2] = {{"o1", "b"}, {"o2", "d"}, {"o3", "e"}};
    CHECK_INT(made.code, 0);
    CHECK_INT(made.count, 3);
    for (size_t i = 0; i < made.count; i++) {
        CHECK_STR(made.feedback[i].output, expected[i][0]);
        CHECK_STR(made.feedback[i].input, expected[i][1]);
        CHECK_INT(made.feedback[i].found, ASSAY__FEEDBACK_GRAPH);
    }
    done(&made);
    made = plan(stacked_cells(true), NULL, 0, NULL); /* what was computed with is no state */
    CHECK_INT(made.count, 2);
    CHECK_STR(made.feedback[0].output, "o2");
    done(&made);
}

/* "x:1,8", "state:2,1,4": each output is the Relu of an input; they are called 30, 31, … */
static void expect_shaped(const char *const *inputs, size_t count, const char *expected)
{
    struct assay__model *model = fixture_model(17);
    for (size_t i = 0; i < count; i++) {
        char name[32], node[64];
        const char *shape = strchr(inputs[i], ':') + 1;
        snprintf(name, sizeof name, "%.*s", (int)(shape - 1 - inputs[i]), inputs[i]);
        fixture_input(model, name, ASSAY__FLOAT32, shape);
        snprintf(node, sizeof node, "Relu %s -> %zu", name, 30 + i);
        fixture_node(model, node);
        fixture_output(model, strchr(node, '>') + 2);
    }
    struct planned made = plan(model, NULL, 0, NULL);
    CHECK_INT(made.count, *expected ? 1 : 0);
    if (made.count) CHECK_STR(made.feedback[0].output, expected);
    if (made.count) CHECK_INT(made.feedback[0].found, ASSAY__FEEDBACK_SHAPE);
    done(&made);
}

/* The only output shaped like the only input that is named as a state and has a state's rank. */
static void test_shaped(void)
{
    expect_shaped(LIST("x:1,8", "state:2,1,4"), 2, "31");
    expect_shaped(LIST("x:1,8", "gru_hidden:2,1,4"), 2, "31");
    expect_shaped(LIST("x:1,8", "image:2,1,4"), 2, "");         /* not a name for it */
    expect_shaped(LIST("x:1,8", "memory:2,1,4"), 2, "");        /* of a decoder, as likely */
    expect_shaped(LIST("x:1,8", "encoder_state:2,1,4"), 2, ""); /* the same every time */
    expect_shaped(LIST("x:1,8", "state:1,4"), 2, "");           /* of a game, as likely */
    expect_shaped(LIST("x:2,1,4", "state:2,1,4"), 2, "");       /* two outputs */
    expect_shaped(LIST("state:2,1,4"), 1, "");                  /* a function */
}

/* --- what a state begins with ----------------------------------------------------------------- */

static void test_begins(void)
{
    struct planned made = plan(
        model_of("x,h,c -> y,hn,cn"), NULL, 0,
        &(struct assay__workload_options){.files = LIST("c=0.25"), .file_count = 1});
    const struct assay__input_plan *x = &made.workload->inputs[0], *h = x + 1, *c = x + 2;
    float values[4] = {1, 1, 1, 1};
    CHECK_INT(made.count, 2);
    CHECK(!x->fed && x->fill == ASSAY__FILL_UNIFORM);
    CHECK(h->fed && h->fill == ASSAY__FILL_CONSTANT);
    CHECK_INT(assay__input_fill(h, values, NULL), 0);
    for (int i = 0; i < 4; i++)
        CHECK_NEAR((double)values[i], 0, 0);
    CHECK(c->fed); /* what was given stays */
    CHECK_INT(assay__input_fill(c, values, NULL), 0);
    CHECK_NEAR((double)values[3], 0.25, 0);
    done(&made);
    char given[700]; /* a file says what it begins with, too */
    const float first[] = {1, 2, 3, 4};
    snprintf(given, sizeof given, "h=%s", scratch("h.npy"));
    CHECK_INT(assay__npy_write(given + 2, ASSAY__FLOAT32, 2, (const int64_t[]){1, 4}, first,
                               sizeof first, NULL),
              0);
    made = plan(model_of("x,h -> y,hn"), NULL, 0,
                &(struct assay__workload_options){.files = LIST(given), .file_count = 1});
    CHECK_INT(made.count, 1);
    CHECK(made.workload->inputs[1].fed);
    CHECK_INT(assay__input_fill(&made.workload->inputs[1], values, NULL), 0);
    CHECK_NEAR((double)values[3], 4, 0);
    done(&made);
    made = plan(model_of("x,h -> y,hn"), LIST("none"), 1, NULL);
    CHECK_INT(made.code, 0);
    CHECK_INT(made.count, 0);
    CHECK(!made.workload->inputs[1].fed);
    CHECK_INT(made.workload->inputs[1].fill, ASSAY__FILL_UNIFORM);
    done(&made);
}

/* What a state holds in later inferences is not known, whatever it begins with. */
static void test_contents(void)
{
    struct assay__model *model = fixture_model(17);
    struct assay__value *values = NULL;
    fixture_input(model, "x", ASSAY__FLOAT32, "1,4");
    fixture_input(model, "step", ASSAY__INT64, "1");
    fixture_node(model, "Relu x -> y");
    fixture_node(model, "Add step,step -> next_step");
    fixture_output(model, "y");
    fixture_output(model, "next_step");
    struct planned made = plan(model, NULL, 0, NULL);
    CHECK_INT(made.count, 1);
    CHECK_INT(assay__workload_values(made.workload->inputs, 2, made.workload->arena, &values), 0);
    CHECK(values[1].contents == NULL);
    made.workload->inputs[1].fed = false;
    CHECK_INT(assay__workload_values(made.workload->inputs, 2, made.workload->arena, &values), 0);
    CHECK(values[1].contents != NULL); /* it is the flag that hides it */
    done(&made);
}

/* --- asked for -------------------------------------------------------------------------------- */

static void test_given(void)
{
    struct planned made = plan(model_of("x,h,c -> y,hn,cn"), LIST("y=x", "cn=h"), 2, NULL);
    CHECK_INT(made.code, 0);
    CHECK_INT(made.count, 2); /* those only */
    CHECK_STR(made.feedback[0].output, "y");
    CHECK_STR(made.feedback[0].input, "x");
    CHECK_STR(made.feedback[1].input, "h");
    CHECK_INT(made.feedback[1].found, ASSAY__FEEDBACK_GIVEN);
    CHECK(!made.workload->inputs[2].fed);
    done(&made);
    made = plan(model_of("a=b,h -> c=d,hn"), LIST("c=d=a=b"), 1, NULL); /* names may hold '=' */
    CHECK_INT(made.code, 0);
    CHECK_STR(made.feedback[0].output, "c=d");
    CHECK_STR(made.feedback[0].input, "a=b");
    done(&made);
}

static void expect_refused(struct assay__model *model, const char *const *states, size_t count,
                           const char *says)
{
    struct planned made = plan(model, states, count, NULL);
    CHECK_INT(made.code, ASSAY_EINVAL);
    CHECK_STR(made.error.option, "states");
    CHECK_HAS(made.error.message, says);
    CHECK(made.feedback == NULL && made.count == 0);
    done(&made);
}

static void test_refused(void)
{
    static const char text[] = "x,h -> y,hn";
    expect_refused(model_of(text), LIST("h_n=h"), 1, "no output 'h_n' (did you mean 'hn'?)");
    expect_refused(model_of(text), LIST("hn=h0"), 1, "no input 'h0' (did you mean 'h'?)");
    expect_refused(model_of(text), LIST("hn"), 1, "output=input");
    expect_refused(model_of(text), LIST("=h"), 1, "output=input");
    expect_refused(model_of(text), LIST("hn="), 1, "output=input");
    expect_refused(model_of(text), LIST("hn=h", "y=h"), 2, "'h' would be fed by two outputs");
    expect_refused(model_of(text), LIST("hn=h", "hn=x"), 2, "'hn' would be fed to two inputs");
    expect_refused(model_of(text), LIST("hn=h", "none"), 2, "stands alone");
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, "1,4");
    fixture_input(model, "cache", ASSAY__FLOAT32, "2,4");
    fixture_input(model, "count", ASSAY__INT64, "1,4");
    fixture_node(model, "Relu x -> y");
    fixture_output(model, "y");
    expect_refused(model, LIST("y=cache"), 1, "'y' is 1x4 and the input 'cache' is 2x4");
    model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, "1,4");
    fixture_input(model, "count", ASSAY__INT64, "1,4");
    fixture_node(model, "Relu x -> y");
    fixture_output(model, "y");
    expect_refused(model, LIST("y=count"), 1, "'y' is float32 and the input 'count' is int64");
}

/* --- sound ------------------------------------------------------------------------------------ */

static bool sound_of(const char *wave, const char *rate, int64_t *samples, double *hertz)
{
    struct assay__model *model = fixture_model(17);
    char file[64];
    snprintf(file, sizeof file, "%s=16000", rate);
    fixture_input(model, "input", ASSAY__FLOAT32, wave);
    fixture_input(model, rate, ASSAY__INT64, "");
    fixture_node(model, "Relu input -> y");
    fixture_output(model, "y");
    struct assay__workload *workload = plan_ok(
        model,
        &(struct assay__workload_options){.files = (const char *const[]){file}, .file_count = 1});
    bool known = assay__workload_sound(workload, samples, hertz);
    assay__workload_free(workload);
    assay__model_free(model);
    return known;
}

static void test_sound(void)
{
    int64_t samples = 0;
    double rate = 0;
    CHECK(sound_of("1,512", "sr", &samples, &rate));
    CHECK_INT(samples, 512);
    CHECK_NEAR(rate, 16000, 0);
    CHECK(sound_of("1,1,480", "sample_rate", &samples, &rate));
    CHECK_INT(samples, 480);
    CHECK(!sound_of("1,512", "threshold", &samples, &rate)); /* no rate */
    CHECK(!sound_of("128,576", "sr", &samples, &rate));      /* frames, not a wave */
    CHECK(!sound_of("1,8", "sr", &samples, &rate));
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"names", test_names},   {"other_names", test_other_names},
        {"found", test_found},   {"cells", test_cells},
        {"shaped", test_shaped}, {"shapes", test_shapes},
        {"begins", test_begins}, {"contents", test_contents},
        {"given", test_given},   {"refused", test_refused},
        {"sound", test_sound},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
