/* timeline.c - how long a timeline takes to export, and (page) to become a page. The trace is made
 * up: a training loop with operators, launches, kernels on two streams, copies and waits, in steps;
 * or it is read from a file. Prints JSON.
 *
 * timeline export FORMAT EVENTS|TRACE ROUNDS [FILE]     {"events", "least_s", "bytes"}
 * timeline page EVENTS|TRACE FILE                       {"events", "explain_s", "page_s", "bytes"}
 */
#include "base/clock.h"
#include "base/file.h"
#include "base/stats.h"
#include "import/import.h"
#include "report/report_explain.h"
#include "trace/export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *text)
{
    fprintf(stderr, "timeline: %s\n", text);
    exit(3);
}

/* --- a made-up trace -------------------------------------------------------------------------- */

struct maker {
    struct assay__events *events;
    struct assay__random random;
    uint32_t host, backward, stream[2];
    uint64_t correlation;
    int64_t now_ns, device_ns[2];
    size_t power;
};

static int64_t pick(struct maker *m, int64_t low, int64_t high)
{
    return low + (int64_t)(assay__random_unit(&m->random) * (double)(high - low));
}

static void add(struct maker *m, enum assay__event_kind kind, uint32_t track, const char *name,
                int64_t start_ns, int64_t duration_ns, uint64_t correlation)
{
    struct assay__event event = {.start_ns = start_ns,
                                 .duration_ns = duration_ns,
                                 .name = name,
                                 .name_length = SIZE_MAX,
                                 .kind = kind,
                                 .track = track,
                                 .correlation = correlation,
                                 .bytes = kind == ASSAY__EVENT_COPY ? pick(m, 4096, 1 << 24) : 0,
                                 .args = ASSAY__EVENT_UNKNOWN};
    if (kind == ASSAY__EVENT_KERNEL)
        event.args = assay__events_args(
            m->events, &(struct assay__event_args){.grid = {(uint32_t)pick(m, 1, 64) * 32, 1, 1},
                                                   .block = {256, 1, 1}});
    assay__events_add(m->events, &event);
}

static void add_tracks(struct maker *m)
{
    struct assay__track track = {.kind = ASSAY__TRACK_THREAD,
                                 .pid = 4242,
                                 .tid = 4242,
                                 .device = -1,
                                 .stream = -1,
                                 .name = "thread 4242 (python3)",
                                 .group = "python3 (4242)"};
    m->host = assay__events_track(m->events, &track);
    track.tid = 4300;
    track.name = "thread 4300 (pt_autograd_0)";
    m->backward = assay__events_track(m->events, &track);
    for (int i = 0; i < 2; i++)
        m->stream[i] = assay__events_track(
            m->events, &(struct assay__track){.kind = ASSAY__TRACK_STREAM,
                                              .pid = -1,
                                              .tid = -1,
                                              .stream = i ? 20 : 7,
                                              .name = i ? "stream 20" : "stream 7",
                                              .group = "NVIDIA H200"});
    m->power = assay__events_counter(m->events, "power", "W", ASSAY__EVENT_UNKNOWN);
}

/* An operator with one inside it, its launch, its kernel: four events. */
static void add_operator(struct maker *m, size_t number)
{
    static const char *const names[] = {"linear", "layer_norm", "gelu",  "softmax",
                                        "add",    "mul",        "matmul"};
    char outer[64], inner[64], kernel[200];
    uint32_t host = number % 3 ? m->host : m->backward;
    int which = number % 11 == 0;
    size_t of = number * 2654435761u % 7, variant = number * 40503u % 37;
    snprintf(outer, sizeof outer, "aten::%s", names[of]);
    snprintf(inner, sizeof inner, "aten::_%s_%zu", names[of], variant);
    snprintf(kernel, sizeof kernel,
             "void at::native::vectorized_%s_kernel<4, at::native::CUDAFunctor_%zu<float>, "
             "at::detail::Array<char*, 3> >(int, float*)",
             names[of], variant);
    int64_t start_ns = m->now_ns, launch_ns = start_ns + pick(m, 2000, 9000);
    int64_t call_ns = pick(m, 2500, 6000), end_ns = launch_ns + call_ns + pick(m, 300, 3000);
    int64_t begin_ns = launch_ns + call_ns / 2 + pick(m, 1500, 4000);
    if (begin_ns < m->device_ns[which]) begin_ns = m->device_ns[which] + pick(m, 600, 1200);
    m->device_ns[which] = begin_ns + pick(m, 1500, number % 40 ? 12000 : 160000);
    add(m, ASSAY__EVENT_OPERATOR, host, outer, start_ns, end_ns - start_ns, 0);
    add(m, ASSAY__EVENT_OPERATOR, host, inner, start_ns + 700, end_ns - start_ns - 900, 0);
    add(m, ASSAY__EVENT_LAUNCH, host, "cudaLaunchKernel", launch_ns, call_ns, ++m->correlation);
    add(m, ASSAY__EVENT_KERNEL, m->stream[which], kernel, begin_ns, m->device_ns[which] - begin_ns,
        m->correlation);
    m->now_ns = end_ns + pick(m, 400, 2500);
}

/* The loss is read: a copy to the host that is waited for, then the loader. */
static void end_step(struct maker *m, size_t step, int64_t begin_ns)
{
    char name[48];
    int64_t copy_ns = m->device_ns[0] > m->device_ns[1] ? m->device_ns[0] : m->device_ns[1];
    if (copy_ns < m->now_ns) copy_ns = m->now_ns;
    add(m, ASSAY__EVENT_LAUNCH, m->host, "cudaMemcpyAsync", m->now_ns, 5000, ++m->correlation);
    add(m, ASSAY__EVENT_COPY, m->stream[0], "Memcpy DtoH (Device -> Pageable)", copy_ns + 1000,
        2000, m->correlation);
    add(m, ASSAY__EVENT_SYNC, m->host, "cudaStreamSynchronize", m->now_ns + 6000,
        copy_ns + 4000 - m->now_ns, 0);
    m->device_ns[0] = copy_ns + 3000;
    m->now_ns = copy_ns + 12000;
    int64_t load_ns = pick(m, 50000, 900000);
    add(m, ASSAY__EVENT_PYTHON, m->host, "train.py(31): load_batch", m->now_ns, load_ns, 0);
    m->now_ns += load_ns;
    snprintf(name, sizeof name, "ProfilerStep#%zu", step);
    add(m, ASSAY__EVENT_RANGE, m->host, name, begin_ns, m->now_ns - begin_ns, 0);
    assay__events_sample(m->events, m->power, m->now_ns, 300 + (double)pick(m, 0, 400));
    m->now_ns += 1000;
}

static struct assay__events *make_trace(size_t count)
{
    struct maker m = {.events = assay__events_new(), .now_ns = 1790000000000000000};
    int64_t begin_ns = m.now_ns;
    if (!m.events) fail("out of memory");
    assay__random_seed(&m.random, 11);
    add_tracks(&m);
    for (size_t i = 0, step = 0; m.events->count + 9 <= count; i++) {
        add_operator(&m, i);
        if (i % 200 != 199) continue;
        end_step(&m, step++, begin_ns);
        begin_ns = m.now_ns;
    }
    while (m.events->count < count) {
        add(&m, ASSAY__EVENT_CPU, m.host, "the end", m.now_ns, 1000, 0);
        m.now_ns += 2000;
    }
    struct assay_error error;
    if (assay__events_seal(m.events, &error)) fail(error.message);
    return m.events;
}

static struct assay__events *get_trace(const char *what)
{
    struct assay__events *events = NULL;
    struct assay_error error = {0};
    if (*what >= '0' && *what <= '9') return make_trace(strtoull(what, NULL, 10));
    if (assay__import(&what, 1, NULL, &events, &error)) fail(error.message);
    return events;
}

/* --- measuring -------------------------------------------------------------------------------- */

struct sink {
    FILE *file; /* NULL: the bytes are only counted */
    size_t bytes;
};

static int count_bytes(void *context, const void *bytes, size_t size, struct assay_error *error)
{
    struct sink *sink = context;
    sink->bytes += size;
    return sink->file ? assay__export_to_file(sink->file, bytes, size, error) : 0;
}

static int measure_export(char **argv, int argc)
{
    struct assay__events *events = get_trace(argv[1]);
    int rounds = atoi(argv[2]);
    double least_s = 1e9;
    struct sink sink = {0};
    struct assay_error error = {0};
    for (int i = 0; i < rounds; i++) {
        sink = (struct sink){.file = argc > 3 && i == rounds - 1 ? fopen(argv[3], "wb") : NULL};
        uint64_t begin_ns = assay__now_ns();
        if (assay__export(events, argv[0], count_bytes, &sink, &error)) fail(error.message);
        double took_s = (double)(assay__now_ns() - begin_ns) / 1e9;
        if (took_s < least_s) least_s = took_s;
        if (sink.file && fclose(sink.file)) fail("cannot write");
    }
    printf("{\"events\": %zu, \"least_s\": %.6f, \"bytes\": %zu}\n", events->count, least_s,
           sink.bytes);
    assay__events_free(events);
    return 0;
}

/* From the sealed store to the file on disk. */
static int measure_page(char **argv)
{
    struct assay__events *events = get_trace(argv[0]);
    struct assay__explain *explain;
    struct assay_report_options options = {.size = sizeof options, .format = "html"};
    struct assay__buf out = {0};
    struct assay_error error = {0};
    uint64_t begin_ns = assay__now_ns();
    if (assay__explain_new(events, &explain, &error)) fail(error.message);
    uint64_t explained_ns = assay__now_ns();
    if (assay__explain_report(explain, &options, &out, &error)) fail(error.message);
    if (assay__file_write(argv[1], out.data, out.length, &error)) fail(error.message);
    printf("{\"events\": %zu, \"explain_s\": %.6f, \"page_s\": %.6f, \"bytes\": %zu}\n",
           events->count, (double)(explained_ns - begin_ns) / 1e9,
           (double)(assay__now_ns() - explained_ns) / 1e9, out.length);
    assay__buf_free(&out);
    assay__explain_free(explain);
    assay__events_free(events);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "page") == 0) return measure_page(argv + 2);
    if (argc >= 5 && strcmp(argv[1], "export") == 0) return measure_export(argv + 2, argc - 2);
    fail("timeline export FORMAT EVENTS|TRACE ROUNDS [FILE], timeline page EVENTS|TRACE FILE");
    return 2;
}
