/* ort_markers_chain.c - what a marker costs, from graphs that are nothing but a chain of markers:
 * the gap between two of them, a marker's own time, and what one more value costs the run outside
 * of both. */
#include "engine/ort/ort_markers.h"

#include "base/stats.h"

#include <math.h>
#include <stdlib.h>

#define CHAIN_LENGTH 20
#define CHAIN_RUNS 400
/* usual: 20 to 50; beyond it the machine changed between the two chains */
#define FRAME_MOST_NS 80

/* What a chain of markers shows: gaps between them, their own time, the whole run. */
struct chain_times {
    double gap_ns, own_ns, run_ns;
};

static int chain_measure(struct assay__timed *timed, struct chain_times *times,
                         struct assay_error *error)
{
    size_t room = (size_t)CHAIN_RUNS * CHAIN_LENGTH, count = 0;
    double *gaps = calloc(room, sizeof *gaps), *owns = calloc(room, sizeof *owns);
    double runs[CHAIN_RUNS] = {0};
    int code = gaps && owns ? 0 : assay__no_memory(error);
    for (size_t i = 0; !code && i < CHAIN_RUNS / 4; i++)
        code = assay__timed_run(timed, NULL, error);
    for (size_t i = 0; !code && i < CHAIN_RUNS; i++) {
        code = assay__timed_run(timed, &runs[i], error);
        const struct assay__marker_event *events = timed->log.events;
        for (size_t k = 1; !code && k < timed->log.count && count < room; k++, count++) {
            gaps[count] = (double)(events[k].entry_ns - events[k - 1].exit_ns);
            owns[count] = (double)(events[k].exit_ns - events[k].entry_ns);
        }
    }
    if (!code && count) {
        assay__stats_sort(gaps, count);
        assay__stats_sort(owns, count);
        assay__stats_sort(runs, CHAIN_RUNS);
        *times = (struct chain_times){assay__stats_iqm(gaps, count), assay__stats_iqm(owns, count),
                                      assay__stats_iqm(runs, CHAIN_RUNS)};
    }
    free(gaps);
    free(owns);
    return code;
}

int assay__chain_open(struct assay__layer_work *work, size_t length,
                      const struct assay__layer_counters *counters, struct assay__chain *chain,
                      struct assay_error *error)
{
    static const char *const input_names[] = {"x"}, *const output_names[] = {"y"};
    const struct assay__ort *ort = &work->session->ort;
    char path[ASSAY__LAYERS_PATH];
    *chain = (struct assay__chain){.number = 1};
    const int64_t one = 1;
    int code = assay__path_join(work->folder, "chain.onnx", path, sizeof path);
    struct assay__model *model = assay__marker_chain(length);
    if (!code && !model) code = assay__no_memory(error);
    if (!code) code = assay__model_write(model, path, error);
    if (!code)
        code = assay__ort_check(ort,
                                ort->create_tensor_with_data(
                                    work->session->cpu_memory, &chain->number, sizeof chain->number,
                                    &one, 1, ASSAY__ORT_ELEMENT_FLOAT, &chain->value),
                                error, "cannot make a tensor");
    struct assay__timed_options options = {.path = path,
                                           .optimization = ASSAY__ORT_OPT_NONE,
                                           .mark_count = length,
                                           .counters = counters,
                                           .input_names = input_names,
                                           .inputs = (const OrtValue *const *)&chain->value,
                                           .input_count = 1,
                                           .output_names = output_names,
                                           .output_count = 1};
    if (!code) code = assay__timed_open(work->session, &options, &chain->timed, error);
    assay__model_free(model);
    return code;
}

void assay__chain_close(struct assay__layer_work *work, struct assay__chain *chain)
{
    assay__timed_close(&chain->timed);
    assay__ort_release_values(&work->session->ort, &chain->value, 1);
}

static int time_chain(struct assay__marking *m, size_t length, struct chain_times *times,
                      struct assay_error *error)
{
    struct assay__chain chain;
    int code = assay__chain_open(m->work, length, NULL, &chain, error);
    if (!code) code = chain_measure(&chain.timed, times, error);
    assay__chain_close(m->work, &chain);
    return code;
}

/* A marker costs a run more than its own time and the gap: the engine keeps books about one more
 * value. Two chains of different length give the whole, and the rest is what the bracket's own
 * markers must not be charged to the engine. */
int assay__marking_chain(struct assay__marking *m, struct assay_error *error)
{
    struct chain_times full = {0}, half = {0};
    int code = time_chain(m, CHAIN_LENGTH, &full, error);
    if (!code) code = time_chain(m, CHAIN_LENGTH / 2, &half, error);
    if (code) return code;
    m->gap_ns = full.gap_ns;
    m->own_ns = full.own_ns;
    double whole_ns = (full.run_ns - half.run_ns) / (CHAIN_LENGTH - CHAIN_LENGTH / 2);
    m->frame_ns = fmin(fmax(whole_ns - full.gap_ns - full.own_ns, 0), FRAME_MOST_NS);
    return 0;
}
