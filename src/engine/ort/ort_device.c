/* ort_device.c - devices of the ort engine: the ONNX Runtime provider of a device name, how it is
 * added to a session, and which of them work on this machine. One table row per kind of device.
 *
 * A device counts as available only after a tiny model has run on it with the right result and
 * fallback to the CPU disabled: a provider that is compiled in may still lack its driver. The Azure
 * provider calls a remote service, not a device of this machine; it has no row. Limits: the probe
 * runs in the calling process, so a driver that crashes takes it down; run/devices.c uses a child
 * process. DirectML is for Windows, and the ROCm provider was removed in 1.23 (replaced by
 * MIGraphX): their rows report what a build has and are untested. */
#include "engine/adapter.h"

#include "engine/ort/ort_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICE_MAX 16 /* of one kind */
#define OPTIONS_MAX 8 /* of a provider */

enum append { NOTHING, BY_NAME, CUDA, TENSORRT };

struct device_row {
    const char *device;   /* the name, without ":N" for numbered ones */
    const char *provider; /* ONNX Runtime's full name */
    const char *append;   /* the name for its generic append function */
    const char *title;    /* for people */
    const char *kind;     /* "cpu" | "gpu" | "npu" */
    enum append how;
    bool numbered;   /* device:0, device:1, … */
    const char *key; /* provider option: the number, or `value` */
    const char *value;
    const char *memory; /* name of its memory, for statistics; NULL: main memory or unknown */
};

#define EP(name) name "ExecutionProvider"

static const struct device_row rows[] = {
    {"cpu", EP("CPU"), "CPU", "CPU", "cpu", NOTHING, false, NULL, NULL, "Cpu"},
    {"cuda", EP("CUDA"), "CUDA", "CUDA", "gpu", CUDA, true, "device_id", NULL, "Cuda"},
    {"tensorrt", EP("Tensorrt"), "TensorRT", "TensorRT", "gpu", TENSORRT, true, "device_id", NULL,
     "Cuda"},
    {"tensorrt-rtx", EP("NvTensorRTRTX"), "NvTensorRtRtx", "TensorRT RTX", "gpu", BY_NAME, true,
     "device_id", NULL, NULL},
    {"migraphx", EP("MIGraphX"), "MIGraphX", "MIGraphX", "gpu", BY_NAME, true, "device_id", NULL,
     NULL},
    {"rocm", EP("ROCM"), "ROCM", "ROCm", "gpu", BY_NAME, true, "device_id", NULL, NULL},
    {"directml", EP("Dml"), "DML", "DirectML", "gpu", BY_NAME, true, "device_id", NULL, NULL},
    {"webgpu", EP("WebGpu"), "WebGPU", "WebGPU", "gpu", BY_NAME, true, NULL, NULL, NULL},
    {"coreml", EP("CoreML"), "CoreML", "Core ML", "npu", BY_NAME, false, NULL, NULL, NULL},
    {"coreml:ane", EP("CoreML"), "CoreML", "Core ML", "npu", BY_NAME, false, "MLComputeUnits",
     "CPUAndNeuralEngine", NULL},
    {"coreml:gpu", EP("CoreML"), "CoreML", "Core ML", "gpu", BY_NAME, false, "MLComputeUnits",
     "CPUAndGPU", NULL},
    {"openvino:cpu", EP("OpenVINO"), "OpenVINO", "OpenVINO", "cpu", BY_NAME, false, "device_type",
     "CPU", NULL},
    {"openvino:gpu", EP("OpenVINO"), "OpenVINO", "OpenVINO", "gpu", BY_NAME, false, "device_type",
     "GPU", NULL},
    {"openvino:npu", EP("OpenVINO"), "OpenVINO", "OpenVINO", "npu", BY_NAME, false, "device_type",
     "NPU", NULL},
    {"qnn", EP("QNN"), "QNN", "QNN", "npu", BY_NAME, false, "backend_type", "htp", NULL},
    {"vitisai", EP("VitisAI"), "VitisAI", "Vitis AI", "npu", BY_NAME, false, NULL, NULL, NULL},
    {"xnnpack", EP("Xnnpack"), "XNNPACK", "XNNPACK", "cpu", BY_NAME, false, NULL, NULL, NULL},
};

#define ROW_COUNT (sizeof rows / sizeof rows[0])

/* The row of a device name and its number (0 if it has none). "cuda" alone means "cuda:0". */
static const struct device_row *row_of(const char *device, int *number)
{
    *number = 0;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        size_t length = strlen(rows[i].device);
        if (strncmp(device, rows[i].device, length) != 0) continue;
        const char *rest = device + length;
        if (*rest == '\0') return &rows[i];
        if (!rows[i].numbered || *rest != ':') continue;
        char *end = NULL;
        long value = strtol(rest + 1, &end, 10);
        if (end == rest + 1 || *end != '\0' || rest[1] < '0' || rest[1] > '9' || value >= 1024)
            continue;
        if (value > 0 && !rows[i].key) continue; /* the provider has no number: there is only :0 */
        *number = (int)value;
        return &rows[i];
    }
    return NULL;
}

const char *assay__ort_provider(const char *device)
{
    int number;
    const struct device_row *row = row_of(device, &number);
    return row ? row->provider : NULL;
}

const char *assay__ort_device_kind(const char *device)
{
    int number;
    const struct device_row *row = row_of(device, &number);
    return row ? row->kind : NULL;
}

void assay__ort_adapter(const char *device, struct assay__adapter *adapter)
{
    int number;
    const struct device_row *row = row_of(device, &number);
    *adapter = (struct assay__adapter){0};
    if (row && (row->how == CUDA || row->how == TENSORRT)) assay__adapter_cuda(number, adapter);
}

int assay__ort_device_memory(const struct assay__ort *ort, const char *device, OrtMemoryInfo **info)
{
    int number;
    const struct device_row *row = row_of(device, &number);
    *info = NULL;
    if (!row || !row->memory) return ASSAY_EUNSUPPORTED;
    return assay__ort_check(ort,
                            ort->create_memory_info(row->memory, ASSAY__ORT_ALLOCATOR_ARENA, number,
                                                    ASSAY__ORT_MEM_DEFAULT, info),
                            NULL, device);
}

/* --- adding a provider to a session ----------------------------------------------------------- */

static bool library_has(const struct assay__ort *ort, const char *provider)
{
    char **names = NULL;
    int count = 0;
    bool found = false;
    if (assay__ort_check(ort, ort->get_available_providers(&names, &count), NULL, "providers"))
        return false;
    for (int i = 0; i < count; i++)
        found |= strcmp(names[i], provider) == 0;
    assay__ort_ignore(ort, ort->release_available_providers(names, count));
    return found;
}

/* "cpu, cuda:0": the device names whose providers are compiled in. */
static void names_here(const struct assay__ort *ort, char *out, size_t out_size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (!library_has(ort, rows[i].provider)) continue;
        int n = snprintf(out + used, out_size - used, "%s%s%s", used ? ", " : "", rows[i].device,
                         rows[i].numbered ? ":0" : "");
        if (n < 0 || (size_t)n >= out_size - used) return;
        used += (size_t)n;
    }
}

static int append_cuda(const struct assay__ort *ort, OrtSessionOptions *options,
                       const char *const *keys, const char *const *values, size_t count,
                       struct assay_error *error)
{
    OrtCUDAProviderOptionsV2 *own = NULL;
    OrtStatus *status = ort->create_cuda_provider_options(&own);
    if (!status && count > 0) status = ort->update_cuda_provider_options(own, keys, values, count);
    if (!status) status = ort->append_execution_provider_cuda_v2(options, own);
    if (own) ort->release_cuda_provider_options(own);
    return assay__ort_check(ort, status, error, "CUDA");
}

/* TensorRT runs what it supports; the rest goes to CUDA on the same device rather than to the
 * CPU. */
static int append_tensorrt(const struct assay__ort *ort, OrtSessionOptions *options,
                           const char *const *keys, const char *const *values, size_t count,
                           struct assay_error *error)
{
    OrtTensorRTProviderOptionsV2 *own = NULL;
    OrtStatus *status = ort->create_tensorrt_provider_options(&own);
    if (!status && count > 0)
        status = ort->update_tensorrt_provider_options(own, keys, values, count);
    if (!status) status = ort->append_execution_provider_tensorrt_v2(options, own);
    if (own) ort->release_tensorrt_provider_options(own);
    int code = assay__ort_check(ort, status, error, "TensorRT");
    if (code == 0 && library_has(ort, "CUDAExecutionProvider"))
        code = append_cuda(ort, options, keys, values, count, error);
    return code;
}

void assay__ort_drop_option(char *text, const char *key)
{
    size_t length = strlen(key);
    for (char *item = text; *item;) {
        char *next = item + strcspn(item, ";");
        if (*next) next++;
        if (!strncmp(item, key, length) && item[length] == '=')
            memmove(item, next, strlen(next) + 1);
        else
            item = next;
    }
}

/* Splits "key=value;key=value" in place. -1: not of that form, or too many. */
static int split_options(char *text, const char **keys, const char **values, size_t *count)
{
    char *save = NULL;
    for (char *item = strtok_r(text, ";", &save); item; item = strtok_r(NULL, ";", &save)) {
        char *value = strchr(item, '=');
        if (!value || value == item || *count == OPTIONS_MAX) return -1;
        *value = '\0';
        keys[*count] = item;
        values[(*count)++] = value + 1;
    }
    return 0;
}

static int append_row(const struct assay__ort *ort, OrtSessionOptions *options,
                      const struct device_row *row, int number, const char *more, bool strict,
                      struct assay_error *error)
{
    char digits[16], text[256];
    snprintf(digits, sizeof digits, "%d", number);
    const char *keys[OPTIONS_MAX] = {row->key};
    const char *values[OPTIONS_MAX] = {row->value ? row->value : digits};
    size_t count = row->key ? 1 : 0;
    int length = snprintf(text, sizeof text, "%s", more ? more : "");
    if (length < 0 || (size_t)length >= sizeof text || split_options(text, keys, values, &count))
        return assay_error_set(error, ASSAY_EINVAL,
                               "provider options must be key=value;key=value, not \"%.100s\"",
                               more);
    int code = 0;
    switch (row->how) {
    case NOTHING:
        if (!count) return 0;
        return assay_error_set(error, ASSAY_EINVAL, "device \"%s\" takes no provider options",
                               row->device);
    case CUDA: code = append_cuda(ort, options, keys, values, count, error); break;
    case TENSORRT: code = append_tensorrt(ort, options, keys, values, count, error); break;
    case BY_NAME:
        code = assay__ort_check(
            ort, ort->append_execution_provider(options, row->append, keys, values, count), error,
            row->title);
    }
    if (code || !strict) return code;
    return assay__ort_check(
        ort, ort->add_session_config_entry(options, "session.disable_cpu_ep_fallback", "1"), error,
        row->title);
}

int assay__ort_append_device(const struct assay__ort *ort, OrtSessionOptions *options,
                             const char *device, const char *more, bool strict,
                             struct assay_error *error)
{
    char here[256];
    int number;
    const struct device_row *row = row_of(device, &number);
    if (row && library_has(ort, row->provider))
        return append_row(ort, options, row, number, more, strict, error);
    names_here(ort, here, sizeof here);
    if (!row)
        return assay_error_set(error, ASSAY_EUNSUPPORTED,
                               "unknown device \"%s\"; this ONNX Runtime build has: %s", device,
                               here);
    return assay_error_set(error, ASSAY_EUNSUPPORTED,
                           "device \"%s\": this ONNX Runtime build has no %s provider; it has: %s",
                           device, row->title, here);
}

/* --- probing ---------------------------------------------------------------------------------- */

/* An ONNX file by hand (IR version 7, operator set 13): y = MatMul(x, w), x and y float [1,2], w =
 * {{1,2},{3,4}}. A MatMul with a constant right operand is supported by every provider. In a nested
 * message the second byte is the length. */
static const unsigned char probe_model[] = {
    0x08, 7,                                                        /* ir_version */
    0x3a, 93,                                                       /* graph */
    0x0a, 17,   0x0a, 1,   'x',  0x0a, 1,    'w',  0x12, 1,    'y', /* node: inputs, output */
    0x22, 6,    'M',  'a', 't',  'M',  'u',  'l',                   /*   op_type */
    0x12, 1,    'p',                                                /* name */
    0x2a, 27,   0x08, 2,   0x08, 2,    0x10, 1,    0x42, 1,    'w', /* initializer: dims, float,
                                                                       name */
    0x4a, 16,   0,    0,   0x80, 0x3f, 0,    0,    0,    0x40, 0,   0,
    0x40, 0x40, 0,    0,   0x80, 0x40, /*   raw_data 1 2 3 4 */
    0x5a, 19,   0x0a, 1,   'x',  0x12, 14,   0x0a, 12,   8,    1,   0x12,
    8,    0x0a, 2,    8,   1,    0x0a, 2,    8,    2, /* input x: float [1,2] */
    0x62, 19,   0x0a, 1,   'y',  0x12, 14,   0x0a, 12,   8,    1,   0x12,
    8,    0x0a, 2,    8,   1,    0x0a, 2,    8,    2, /* output y */
    0x42, 4,    0x0a, 0,   0x10, 13,                  /* opset_import */
};

static int probe_run(const struct assay__ort *ort, OrtSession *session, struct assay_error *error)
{
    static const int64_t dims[] = {1, 2};
    static const char *const input_names[] = {"x"}, *const output_names[] = {"y"};
    /* {5,6} · {{1,2},{3,4}} = {23,34}: exact with 6 bits of mantissa */
    float x[] = {5, 6};
    OrtMemoryInfo *memory = NULL;
    OrtValue *in = NULL, *out = NULL;
    void *data = NULL;
    OrtStatus *status = ort->create_cpu_memory_info(ASSAY__ORT_ALLOCATOR_ARENA,
                                                    ASSAY__ORT_MEM_DEFAULT, &memory);
    if (!status)
        status = ort->create_tensor_with_data(memory, x, sizeof x, dims, 2,
                                              ASSAY__ORT_ELEMENT_FLOAT, &in);
    if (!status)
        status = ort->run(session, NULL, input_names, (const OrtValue *const *)&in, 1, output_names,
                          1, &out);
    if (!status) status = ort->get_tensor_mutable_data(out, &data);
    int code = assay__ort_check(ort, status, error, "a tiny model does not run on it");
    const float *y = data;
    if (code == 0 && (y[0] != 23 || y[1] != 34))
        code = assay_error_set(error, ASSAY_EENGINE,
                               "a tiny model gives the wrong result on it: %g %g, not 23 34",
                               (double)y[0], (double)y[1]);
    if (out) ort->release_value(out);
    if (in) ort->release_value(in);
    if (memory) ort->release_memory_info(memory);
    return code;
}

static int probe(const struct assay__ort *ort, const OrtEnv *env, const struct device_row *row,
                 int number, struct assay_error *error)
{
    OrtSessionOptions *options = NULL;
    OrtSession *session = NULL;
    OrtStatus *status = ort->create_session_options(&options);
    if (!status) status = ort->set_intra_op_num_threads(options, 1);
    int code = assay__ort_check(ort, status, error, "probe");
    if (code == 0) code = append_row(ort, options, row, number, NULL, true, error);
    if (code == 0)
        code = assay__ort_check(
            ort,
            ort->create_session_from_array(env, probe_model, sizeof probe_model, options, &session),
            error, "a tiny model does not load on it");
    if (code == 0) code = probe_run(ort, session, error);
    if (session) ort->release_session(session);
    if (options) ort->release_session_options(options);
    return code;
}

/* --- messages about them ---------------------------------------------------------------------- */

struct listing {
    const struct assay__ort *ort;
    const OrtEnv *env;
    assay__device_about_fn *about; /* NULL: try everything */
    assay__device_fn *found;
    void *context;
};

/* Calls back for one row: numbered devices are counted until one fails; the first is always
 * reported. Only providers that the library has are tried. */
static int report_row(const struct listing *list, const struct device_row *row)
{
    bool here = library_has(list->ort, row->provider);
    int last = row->numbered && row->key && here ? DEVICE_MAX : 1;
    for (int number = 0; number < last; number++) {
        char name[64];
        if (row->numbered)
            snprintf(name, sizeof name, "%s:%d", row->device, number);
        else
            snprintf(name, sizeof name, "%s", row->device);
        struct assay__device device = {.name = name,
                                       .kind = row->kind,
                                       .engine = "ort",
                                       .library = list->ort->path,
                                       .version = list->ort->version};
        enum assay__device_answer answer = list->about ? list->about(list->context, &device)
                                                       : ASSAY__DEVICE_TRY;
        if (answer == ASSAY__DEVICE_END) return 0;
        if (answer == ASSAY__DEVICE_PASS) continue;
        struct assay_error reason = {0};
        struct assay__adapter adapter = {0};
        if (here)
            probe(list->ort, list->env, row, number, &reason);
        else
            assay_error_set(&reason, ASSAY_EUNSUPPORTED,
                            "this ONNX Runtime build has no %s provider", row->title);
        device.available = reason.code == 0;
        if (!device.available && number > 0) return 0; /* one more than exist */
        if (device.available && strcmp(row->device, "webgpu") == 0)
            assay__adapter_vulkan(&adapter);
        else if (device.available)
            assay__ort_adapter(name, &adapter);
        device.reason = reason.message;
        device.hardware = adapter.name;
        device.software = adapter.software;
        device.note = adapter.note;
        device.offered = here;
        int code = list->found(list->context, &device);
        if (code || !device.available) return code;
    }
    return 0;
}

int assay__ort_devices(const char *library, assay__device_about_fn *about, assay__device_fn *found,
                       void *context, struct assay_error *error)
{
    struct assay__ort *ort = malloc(sizeof *ort);
    OrtEnv *env = NULL;
    struct assay_error reason = {0};
    if (!ort) return assay__no_memory(error);
    int code = assay__ort_load(library, ort, &reason);
    if (code == 0) code = assay__ort_env(ort, &env, &reason);
    if (code) { /* no device can be queried: give the reason for the CPU, which always exists */
        struct assay__device cpu = {.name = "cpu",
                                    .kind = "cpu",
                                    .engine = "ort",
                                    .library = "",
                                    .reason = reason.message,
                                    .version = "",
                                    .hardware = "",
                                    .note = "",
                                    .offered = true};
        code = found(context, &cpu);
        free(ort);
        return code;
    }
    struct listing list = {ort, env, about, found, context};
    for (size_t i = 0; i < ROW_COUNT && code == 0; i++)
        code = report_row(&list, &rows[i]);
    ort->release_env(env);
    free(ort);
    return code;
}
