/* test_ort_bound.c - a session whose inputs and outputs are bound, as for a CUDA graph: on the CPU,
 * where copies to "the device" are memcpy. The outputs are those of ordinary steps, in every run;
 * what cannot be bound is refused. */
#include "layers_fixture.h"

static int to_device_calls, to_host_calls, wait_calls, fails;

static int to_device(void *device, const void *host, size_t bytes)
{
    to_device_calls++;
    if (fails) return 700;
    memcpy(device, host, bytes);
    return 0;
}

static int to_host(void *host, const void *device, size_t bytes)
{
    to_host_calls++;
    memcpy(host, device, bytes);
    return 0;
}

static int wait_for_it(void)
{
    wait_calls++;
    return 0;
}

static int enter(void *context)
{
    return context == &wait_calls ? 0 : 201;
}

static const struct assay__device_copy by_memcpy = {&wait_calls, enter, to_device, to_host,
                                                    wait_for_it};

static void outputs_of(struct assay__session *session, float *values, size_t count)
{
    const struct assay__host_tensor *outputs = NULL;
    const struct assay__engine_ops *ops = assay__engine_find("ort");
    size_t found = 0;
    struct assay_error error = {0};
    CHECK_INT(ops->step(session, 0), 0);
    CHECK_INT(ops->outputs(session, &outputs, &found, &error), 0);
    CHECK(found > 0 && outputs[0].data_size >= count * sizeof *values);
    memcpy(values, outputs[0].data, count * sizeof *values);
}

static void test_same_outputs(void)
{
    struct opened opened = open_fixture("split");
    struct assay_error error = {0};
    float plain[2], bound[2];
    outputs_of(opened.session, plain, 2);
    if (assay__ort_bound_open(opened.session, &by_memcpy, &error))
        harness_fail(__FILE__, __LINE__, error.message);
    int opening = to_device_calls;
    CHECK_INT(opening, (int)opened.input_count);
    for (int i = 1; i <= 3; i++) {
        outputs_of(opened.session, bound, 2);
        CHECK(!memcmp(plain, bound, sizeof plain));
        CHECK_INT(to_device_calls, opening + i * (int)opened.input_count);
        CHECK_INT(to_host_calls, i * (int)opened.session->output_count);
    }
    /* another input: the next step reads it */
    ((float *)opened.inputs[0].data)[0] += 1;
    outputs_of(opened.session, bound, 2);
    CHECK(memcmp(plain, bound, sizeof plain) != 0);
    ((float *)opened.inputs[0].data)[0] -= 1;
    CHECK_INT(assay__ort_bound_again(opened.session, &error), 0);
    outputs_of(opened.session, bound, 2);
    CHECK(!memcmp(plain, bound, sizeof plain));
    fails = 1;
    CHECK(assay__engine_find("ort")->step(opened.session, 0) != 0);
    CHECK_HAS(assay__engine_find("ort")->step_error(opened.session), "700");
    close_fixture(&opened);
}

/* Sessions that layer timing opens are not bound, the owner's is. */
static void test_timed_runs(void)
{
    struct opened opened = open_fixture("split");
    struct assay__timed timed = {0};
    struct assay_error error = {0};
    CHECK_INT(assay__ort_bound_open(opened.session, &by_memcpy, &error), 0);
    CHECK_INT(assay__timed_borrow(opened.session, &timed, &error), 0);
    int before = to_host_calls;
    CHECK_INT(assay__timed_run(&timed, NULL, &error), 0);
    CHECK_INT(assay__timed_run(&timed, NULL, &error), 0);
    CHECK_INT(to_host_calls - before, 2 * (int)opened.session->output_count);
    assay__timed_close(&timed);
    struct assay__layers layers = measure(&opened, ASSAY_LAYERS_ENGINE, 0.2);
    CHECK(layers.count > 0);
    close_fixture(&opened);
}

static void test_refused(void)
{
    struct opened opened = open_fixture("split");
    struct assay_error error = {0};
    opened.session->stream_count = 2;
    CHECK_INT(assay__ort_bound_open(opened.session, &by_memcpy, &error), ASSAY_EUNSUPPORTED);
    CHECK(!opened.session->bound);
    opened.session->stream_count = 1;
    fails = 1;
    CHECK_INT(assay__ort_bound_open(opened.session, &by_memcpy, &error), ASSAY_EENGINE);
    close_fixture(&opened); /* what was made is released */
}

static void test_option(void)
{
    static const struct {
        const char *provider, *options;
        bool wanted;
    } rows[] = {{"CUDAExecutionProvider", "enable_cuda_graph=1", true},
                {"CUDAExecutionProvider", "a=b;enable_cuda_graph=true;c=d", true},
                {"CUDAExecutionProvider", "enable_cuda_graph=0", false},
                {"CUDAExecutionProvider", "cudnn_conv_algo_search=HEURISTIC", false},
                {"CUDAExecutionProvider", NULL, false},
                {"TensorrtExecutionProvider", "enable_cuda_graph=1", false},
                {NULL, "enable_cuda_graph=1", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct assay__session session = {.provider = rows[i].provider,
                                         .provider_options = rows[i].options};
        CHECK(assay__ort_wants_graph(&session) == rows[i].wanted);
    }
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"same_outputs", test_same_outputs},
        {"timed_runs", test_timed_runs},
        {"refused", test_refused},
        {"option", test_option},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof *tests);
}
