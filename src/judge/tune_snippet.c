/* tune_snippet.c - the best configuration as code and as session options, in ONNX Runtime's names.
 * A comment names the command that creates the copy with that precision, and the build that has the
 * provider. */
#include "judge/tune_report.h"
#include "model/rewrite/rewrites.h"
#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

struct settings {
    const struct assay__target *target;
    const char *precision, *batch; /* from the configuration; "" if they do not vary */
    const char *model;
    const char *provider; /* "CUDAExecutionProvider"; "" unknown */
    const char *c_name;
    const char *detail; /* of the device, after its colon; "" */
};

static const struct {
    const char *device, *provider, *c_name; /* the name by which the C API appends it; NULL: none */
} providers[] = {{"cpu", "CPUExecutionProvider", NULL},
                 {"cuda", "CUDAExecutionProvider", NULL},
                 {"openvino", "OpenVINOExecutionProvider", "OpenVINO"},
                 {"webgpu", "WebGpuExecutionProvider", "WebGPU"},
                 {"coreml", "CoreMLExecutionProvider", "CoreML"},
                 {"xnnpack", "XnnpackExecutionProvider", "XNNPACK"},
                 {"qnn", "QNNExecutionProvider", "QNN"},
                 {"tensorrt", "TensorrtExecutionProvider", NULL},
                 {"rocm", "ROCMExecutionProvider", NULL},
                 {"migraphx", "MIGraphXExecutionProvider", NULL},
                 {"dnnl", "DnnlExecutionProvider", NULL}};

/* A string literal. A control character is three octal digits in C and Python (so that a following
 * digit is not part of it), \u00xx in JSON. */
static void put_literal(struct assay__buf *out, const char *text, bool octal)
{
    assay__buf_putc(out, '"');
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') assay__buf_putc(out, '\\');
        if (c >= ' ' && c != 0x7f)
            assay__buf_putc(out, *text);
        else if (octal)
            assay__buf_printf(out, "\\%03o", c);
        else
            assay__buf_printf(out, "\\u%04x", c);
    }
    assay__buf_putc(out, '"');
}

static struct settings settings_of(const struct assay_profile *profile,
                                   const struct assay__tune_result *result)
{
    const struct assay__trial *trial = &profile->trials[result->rows[result->best].judged.trial];
    const char *name = assay__device_bare(trial->target.device), *colon = strchr(name, ':');
    size_t length = colon ? (size_t)(colon - name) : strlen(name);
    struct settings s = {.target = &trial->target,
                         .precision = assay__trial_axis(trial, ASSAY__AXIS_PRECISION),
                         .batch = assay__trial_axis(trial, ASSAY__AXIS_BATCH),
                         .model = profile->models[0]->path,
                         .provider = "",
                         .detail = colon ? colon + 1 : ""};
    for (size_t i = 0; i < sizeof providers / sizeof providers[0]; i++)
        if (strlen(providers[i].device) == length &&
            strncmp(providers[i].device, name, length) == 0) {
            s.provider = providers[i].provider;
            s.c_name = providers[i].c_name;
        }
    if (!*s.model || (*s.precision && strcmp(s.precision, "float32") != 0)) s.model = "model.onnx";
    return s;
}

static const char *level_name(const struct settings *s)
{
    static const char *const names[] = {"ORT_DISABLE_ALL", "ORT_ENABLE_BASIC",
                                        "ORT_ENABLE_EXTENDED", "ORT_ENABLE_ALL"};
    enum assay__optimization level = s->target->optimization;
    bool named = level >= ASSAY__OPTIMIZATION_NONE && level < ASSAY__OPTIMIZATION_ALL;
    return names[named ? level - ASSAY__OPTIMIZATION_NONE : 3];
}

/* The engine's own number need not be set. */
static bool has_threads(const struct settings *s)
{
    return s->target->threads > 0 && !s->target->threads_default;
}

static void put_notes(struct assay__buf *out, const struct settings *s, const char *comment)
{
    const struct assay__rewrite_precision *precision = assay__rewrite_precision_find(s->precision);
    if (precision)
        assay__buf_printf(out, "%s %s: the model rewritten by assay make, %s%s%s\n", comment,
                          s->model, assay__rewrite_option(precision->rewrite),
                          precision->argument ? " " : "",
                          precision->argument ? precision->argument : "");
    if (*s->target->build)
        assay__buf_printf(out, "%s with the build '%s' of ONNX Runtime\n", comment,
                          s->target->build);
    if (*s->batch && strcmp(s->batch, "1") != 0)
        assay__buf_printf(out, "%s feed %s samples at a time\n", comment, s->batch);
}

static void put_python(struct assay__buf *out, const struct settings *s)
{
    assay__buf_puts(out, "import onnxruntime as ort\n");
    put_notes(out, s, "#");
    assay__buf_puts(out, "o = ort.SessionOptions()\n");
    assay__buf_printf(out, "o.graph_optimization_level = ort.GraphOptimizationLevel.%s\n",
                      level_name(s));
    if (has_threads(s)) assay__buf_printf(out, "o.intra_op_num_threads = %d\n", s->target->threads);
    assay__buf_printf(out,
                      "o.add_session_config_entry(\"session.intra_op.allow_spinning\", \"%d\")\n",
                      !s->target->spinning_off);
    assay__buf_puts(out, "session = ort.InferenceSession(\n    ");
    put_literal(out, s->model, true);
    assay__buf_puts(out, ", o,\n    providers=[");
    if (strcmp(s->provider, "CUDAExecutionProvider") == 0 && *s->detail)
        assay__buf_printf(out, "(\"%s\", {\"device_id\": \"%s\"})", s->provider, s->detail);
    else
        put_literal(out, s->provider, true);
    assay__buf_puts(out, "])\n");
}

static void put_c(struct assay__buf *out, const struct settings *s)
{
    put_notes(out, s, "//");
    assay__buf_puts(out, "// check each returned OrtStatus\n"
                         "OrtSessionOptions *o = NULL;\n"
                         "ort->CreateSessionOptions(&o);\n");
    assay__buf_printf(out, "ort->SetSessionGraphOptimizationLevel(o, %s);\n", level_name(s));
    if (has_threads(s))
        assay__buf_printf(out, "ort->SetIntraOpNumThreads(o, %d);\n", s->target->threads);
    assay__buf_printf(
        out, "ort->AddSessionConfigEntry(o, \"session.intra_op.allow_spinning\", \"%d\");\n",
        !s->target->spinning_off);
    if (strcmp(s->provider, "CUDAExecutionProvider") == 0)
        assay__buf_puts(out, "OrtCUDAProviderOptionsV2 *cuda = NULL;\n"
                             "ort->CreateCUDAProviderOptions(&cuda);\n"
                             "ort->SessionOptionsAppendExecutionProvider_CUDA_V2(o, cuda);\n");
    else if (s->c_name)
        assay__buf_printf(out,
                          "ort->SessionOptionsAppendExecutionProvider(o, \"%s\", NULL, NULL, 0);\n",
                          s->c_name);
    else if (strcmp(s->provider, "CPUExecutionProvider") != 0)
        assay__buf_printf(out, "// append the provider of %s\n", s->target->device);
    assay__buf_puts(out, "ort->CreateSession(env, ");
    put_literal(out, s->model, true);
    assay__buf_puts(out, ", o, &session);\n");
}

static void put_json(struct assay__buf *out, const struct settings *s)
{
    assay__buf_puts(out, "{\n");
    if (has_threads(s))
        assay__buf_printf(out, "  \"intra_op_num_threads\": %d,\n", s->target->threads);
    assay__buf_printf(out, "  \"graph_optimization_level\": \"%s\",\n", level_name(s));
    assay__buf_printf(out, "  \"session.intra_op.allow_spinning\": \"%d\",\n",
                      !s->target->spinning_off);
    if (*s->precision) {
        assay__buf_puts(out, "  \"precision\": ");
        put_literal(out, s->precision, false);
        assay__buf_puts(out, ",\n");
    }
    if (*s->batch) assay__buf_printf(out, "  \"batch\": %s,\n", s->batch);
    assay__buf_puts(out, "  \"provider\": ");
    put_literal(out, *s->provider ? s->provider : s->target->device, false);
    assay__buf_puts(out, "\n}\n");
}

const char *assay__tune_snippet(const struct assay_profile *profile,
                                const struct assay__tune_result *result, const char *language,
                                struct assay__arena *arena)
{
    struct assay__buf text = {0};
    if (result->best == SIZE_MAX) return "";
    struct settings s = settings_of(profile, result);
    if (strcmp(language, "c") == 0)
        put_c(&text, &s);
    else if (strcmp(language, "python") == 0)
        put_python(&text, &s);
    else
        put_json(&text, &s);
    return assay__buf_keep(&text, arena);
}
