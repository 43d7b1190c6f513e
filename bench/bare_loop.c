/* bare_loop.c - the peer that assay run is held against: the shortest C loop over an ONNX Runtime
 * session that a careful person would write. No worker, no shared memory, no statistics beyond a
 * median.
 *
 *   bare_loop LIBRARY MODEL SECONDS THREADS
 *
 * Inputs are float32, uniform in [-1, 1), or int64, all 1 (others: exit 2); symbolic dimensions
 * are 1. Prints one JSON object. */
#include "engine/ort/ort_abi.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define MAX_VALUES 64
#define MAX_SAMPLES 4000000

enum { ELEMENT_INT64 = 7 }; /* ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64 */

static struct assay__ort ort;
static struct OrtMemoryInfo *memory;

struct loop {
    struct OrtSession *session;
    const char *input_names[MAX_VALUES], *output_names[MAX_VALUES];
    struct OrtValue *inputs[MAX_VALUES];
    size_t input_count, output_count;
};

static void must(struct OrtStatus *status)
{
    if (!status) return;
    fprintf(stderr, "bare_loop: %s\n", ort.get_error_message(status));
    exit(2);
}

static unsigned long long now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (unsigned long long)now.tv_sec * 1000000000ull + (unsigned long long)now.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    unsigned long long x = *(const unsigned long long *)a, y = *(const unsigned long long *)b;
    return (x > y) - (x < y);
}

static struct OrtValue *make_input(const struct OrtSession *session, size_t index)
{
    struct OrtTypeInfo *type;
    const struct OrtTensorTypeAndShapeInfo *info;
    int64_t dims[16];
    size_t rank, count = 1;
    int element;
    must(ort.session_get_input_type_info(session, index, &type));
    must(ort.cast_type_info_to_tensor_info(type, &info));
    must(ort.get_tensor_element_type(info, &element));
    must(ort.get_dimensions_count(info, &rank));
    bool whole = element == ELEMENT_INT64;
    if ((element != ASSAY__ORT_ELEMENT_FLOAT && !whole) || rank > 16) {
        fprintf(stderr, "bare_loop: only float32 and int64 inputs of rank 16 or less\n");
        exit(2);
    }
    must(ort.get_dimensions(info, dims, rank));
    for (size_t i = 0; i < rank; i++) {
        if (dims[i] < 0) dims[i] = 1;
        count *= (size_t)dims[i];
    }
    size_t size = whole ? sizeof(int64_t) : sizeof(float);
    void *data = calloc(count, size);
    if (!data) exit(2);
    for (size_t i = 0; i < count; i++)
        if (whole)
            ((int64_t *)data)[i] = 1;
        else
            ((float *)data)[i] = (float)rand() / (float)RAND_MAX * 2 - 1;
    struct OrtValue *value;
    must(ort.create_tensor_with_data(memory, data, count * size, dims, rank, element, &value));
    ort.release_type_info(type);
    return value;
}

static void open_session(struct loop *loop, const char *model, int threads)
{
    struct OrtEnv *env;
    struct OrtSessionOptions *options;
    struct OrtAllocator *allocator;
    must(ort.create_env_with_custom_logger(NULL, NULL, ASSAY__ORT_LOG_FATAL, "bare", &env));
    must(ort.create_session_options(&options));
    must(ort.set_intra_op_num_threads(options, threads));
    must(ort.create_session(env, model, options, &loop->session));
    must(ort.create_cpu_memory_info(ASSAY__ORT_ALLOCATOR_ARENA, ASSAY__ORT_MEM_DEFAULT, &memory));
    must(ort.get_allocator_with_default_options(&allocator));
    must(ort.session_get_input_count(loop->session, &loop->input_count));
    must(ort.session_get_output_count(loop->session, &loop->output_count));
    if (loop->input_count > MAX_VALUES || loop->output_count > MAX_VALUES) exit(2);
    for (size_t i = 0; i < loop->input_count; i++) {
        char *name;
        must(ort.session_get_input_name(loop->session, i, allocator, &name));
        loop->input_names[i] = name;
        loop->inputs[i] = make_input(loop->session, i);
    }
    for (size_t i = 0; i < loop->output_count; i++) {
        char *name;
        must(ort.session_get_output_name(loop->session, i, allocator, &name));
        loop->output_names[i] = name;
    }
}

static void run_once(struct loop *loop)
{
    struct OrtValue *outputs[MAX_VALUES] = {NULL};
    must(ort.run(loop->session, NULL, loop->input_names,
                 (const struct OrtValue *const *)loop->inputs, loop->input_count,
                 loop->output_names, loop->output_count, outputs));
    for (size_t i = 0; i < loop->output_count; i++)
        ort.release_value(outputs[i]);
}

int main(int argc, char **argv)
{
    static unsigned long long samples[MAX_SAMPLES];
    struct assay_error error = {0};
    struct loop loop = {0};
    if (argc != 5 || assay__ort_load(argv[1], &ort, &error)) {
        fprintf(stderr, "bare_loop: %s\n",
                argc != 5 ? "LIBRARY MODEL SECONDS THREADS" : error.message);
        return 2;
    }
    open_session(&loop, argv[2], (int)strtol(argv[4], NULL, 10));
    for (int i = 0; i < 10; i++)
        run_once(&loop);
    unsigned long long length = (unsigned long long)(strtod(argv[3], NULL) * 1e9);
    unsigned long long warm_end = now_ns() + length / 5;
    while (now_ns() < warm_end)
        run_once(&loop);
    size_t count = 0;
    for (unsigned long long start = now_ns(), end = start + length;
         start < end && count < MAX_SAMPLES;) {
        run_once(&loop);
        unsigned long long stop = now_ns();
        samples[count++] = stop - start;
        start = stop;
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    qsort(samples, count, sizeof samples[0], by_value);
    printf("{\"median_ns\": %llu, \"samples\": %zu, \"peak_bytes\": %lld}\n", samples[count / 2],
           count, (long long)usage.ru_maxrss * 1024);
    return 0;
}
