/* test_report_details.c - what the formats say of a layer's interval, shapes and attributes, and of
 * the tensors at the peak; and of what is not known of them. */
#include "harness.h"

#include "profile/profile.h"

#include <assay/assay.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const double conv_ns[] = {60000, 62000, 61000, 59000, 63000};
static const double relu_ns[] = {1000, NAN, 3000, 2000, 4000};
static const int ids[] = {1, 2, 3, 4, 5};
static const char *from[] = {"conv"};
static struct assay__layer layers[2];
static struct assay__peak_tensor tensors[25];

static struct assay__layer layer_of(int index, const char *op, double time_ns, const double *times)
{
    return (struct assay__layer){.index = index,
                                 .name = op,
                                 .op = op,
                                 .provider = "CPUExecutionProvider",
                                 .time_ns = time_ns,
                                 .host_enqueue_ns = NAN,
                                 .kernel_count = NAN,
                                 .gap_ns = NAN,
                                 .share = time_ns / 1e5,
                                 .flops = 1e6,
                                 .bytes = 2e4,
                                 .weight_bytes = NAN,
                                 .live_bytes = 4096,
                                 .bound = "",
                                 .state = ASSAY_MEASURED,
                                 .method = "markers",
                                 .note = "",
                                 .from = from,
                                 .from_count = 1,
                                 .launch_times_ns = times};
}

static struct assay_profile *document(void)
{
    struct assay_profile *p = assay__profile_new();
    struct assay__trial *t = assay__profile_trial(p);
    assay__profile_set_command(p, "run");
    p->models[0]->name = "small";
    p->complete = true;
    t->state = ASSAY__TRIAL_OK;
    t->target.device = "cpu";
    CHECK_INT(assay_metrics_measured(t->metrics, "latency.p50", 1e-4, "clock", ""), 0);
    layers[0] = layer_of(0, "Conv", 61000, conv_ns);
    layers[0].inputs = "1x3x8x8 float32";
    layers[0].weights = "4x3x3x3 float32";
    layers[0].outputs = "1x4x6x6 float32";
    layers[0].attributes = "auto_pad <b>, =1+1";
    layers[1] = layer_of(1, "Relu", 2500, relu_ns);
    t->layers.method = "markers";
    t->layers.items = layers;
    t->layers.count = COUNT(layers);
    t->layers.launch_count = COUNT(ids);
    t->layers.launch_ids = ids;
    for (size_t i = 0; i < COUNT(tensors); i++)
        tensors[i] = (struct assay__peak_tensor){"t", "64 float32", 256, "n", "Relu", "n", "m"};
    tensors[0] = (struct assay__peak_tensor){"<i>x</i>", "1x3x8x8 float32", 768, "", "", "", "n"};
    t->peak = (struct assay__peak){.reason = "",
                                   .node = "join<b>",
                                   .op = "Concat",
                                   .bytes = 768 + 24 * 256 + 500,
                                   .body_bytes = 0,
                                   .tensors = tensors,
                                   .count = COUNT(tensors),
                                   .alive = 30,
                                   .rest_bytes = 500};
    return p;
}

static char *render(const struct assay_profile *p, const char *format, const char *table)
{
    char *text = NULL;
    struct assay_error error = {0};
    struct assay_report_options options = {
        .size = sizeof options, .format = format, .table = table};
    if (assay_report(p, &options, &text, NULL, &error)) printf("  %s\n", error.message);
    CHECK(text != NULL);
    return text;
}

static void test_json(void)
{
    static const char *const expected[] = {
        "\"time_us\": 61,",
        "\"time_low_us\": 59,",
        "\"time_high_us\": 63,",
        "\"inputs\": \"1x3x8x8 float32\"",
        "\"weights\": \"4x3x3x3 float32\"",
        "\"outputs\": \"1x4x6x6 float32\"",
        "\"attributes\": \"auto_pad ",
        "\"time_low_us\": null", /* four launches timed the second layer */
        "\"inputs\": null",
        "\"launches\": 5",
        "\"interval_reason\": null",
        "\"node\": \"join",
        "\"alive\": 30",
        "\"rest_bytes\": 500",
        "\"producer\": null",
    };
    struct assay_profile *p = document();
    char *text = render(p, "json", NULL);
    for (size_t i = 0; i < COUNT(expected); i++)
        CHECK_HAS(text, expected[i]);
    assay_free(text);
    p->trials[0].layers.launch_count = 3;
    p->trials[0].peak = assay__peak_unknown();
    text = render(p, "json", NULL);
    CHECK_HAS(text, "\"interval_reason\": \"processes differ");
    CHECK_HAS(text, "\"peak\": null");
    CHECK(strstr(text, "\"time_low_us\": 5") == NULL);
    assay_free(text);
    assay_profile_close(p);
}

static void test_csv(void)
{
    struct assay_profile *p = document();
    char *text = render(p, "csv", "layers");
    CHECK_HAS(text, "live_bytes,time_low_us,time_high_us,inputs,weights,outputs,attributes,layer,"
                    "kernel_count,gap_us,kernels\n");
    CHECK_HAS(text, ",4096,59,63,1x3x8x8 float32,4x3x3x3 float32,1x4x6x6 float32,\"auto_pad <b>, "
                    "=1+1\",conv,,,\n");
    CHECK_HAS(text, ",4096,,,,,,,conv,,,\n");
    assay_free(text);
    text = render(p, "csv", "layer-times");
    CHECK_STR(text, "trial,index,launch,name,time_us\n1,0,1,Conv,60\n1,0,2,Conv,62\n1,0,3,Conv,61\n"
                    "1,0,4,Conv,59\n1,0,5,Conv,63\n1,1,1,Relu,1\n1,1,2,Relu,\n1,1,3,Relu,3\n"
                    "1,1,4,Relu,2\n1,1,5,Relu,4\n");
    assay_free(text);
    p->trials[0].peak.count = 2;
    text = render(p, "csv", "peak");
    CHECK_STR(text, "trial,position,name,type,bytes,producer,op,first,last,dtype,shape\n"
                    "1,0,<i>x</i>,1x3x8x8 float32,768,,,,n,float32,1x3x8x8\n"
                    "1,1,t,64 float32,256,n,Relu,n,m,float32,64\n");
    assay_free(text);
    assay_profile_close(p);
}

static void test_page(void)
{
    struct assay_profile *p = document();
    char *text = render(p, "html", NULL);
    CHECK_HAS(text, "Alive at the peak");
    CHECK_HAS(
        text,
        "7.41\xc2\xa0kB of activations are alive while &#39;join&lt;b&gt;&#39; (Concat) runs");
    CHECK_HAS(text, "&lt;i&gt;x&lt;/i&gt;");
    /* 25 of 30 are kept, the others take 500 bytes */
    CHECK_HAS(text, "5 smaller ones that are not stored");
    CHECK_HAS(text, " data-v=\"500\">500");
    CHECK(strstr(text, "<i>x</i>") == NULL && strstr(text, "auto_pad <b>") == NULL);
    assay_free(text);
    p->trials[0].peak = assay__peak_unknown();
    p->trials[0].peak.reason = "the cache grows with every token";
    text = render(p, "html", NULL);
    CHECK_HAS(text, "the cache grows with every token");
    assay_free(text);
    p->trials[0].peak.reason = "";
    p->trials[0].peak.tensors = tensors;
    p->trials[0].peak.count = 1;
    p->trials[0].peak.alive = 1;
    tensors[0].bytes = NAN;
    text = render(p, "html", NULL);
    CHECK_HAS(text, "1 of them of unknown size");
    assay_free(text);
    assay_profile_close(p);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"json", test_json}, {"csv", test_csv}, {"page", test_page}};
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
