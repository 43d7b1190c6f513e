/* same_session.c - assay's measured loop against the shortest C loop, over one and the same ONNX
 * Runtime session, in alternating blocks of one process. Two processes of one model differ by some
 * percent through their memory layout alone; here that luck is shared, so the ratio shows what our
 * loop adds.
 *
 *   same_session MODEL BLOCKS
 *
 * One thread. Prints one JSON object: the medians of the blocks' medians, in ns. */
#include "base/clock.h"
#include "base/stats.h"
#include "engine/ort/ort_session.h"
#include "model/inputs/inputs.h"
#include "run/worker/loop.h"

#include <stdio.h>
#include <stdlib.h>

#define ITERATIONS 2000
#define MAX_VALUES 64
#define MAX_BLOCKS 1000

static struct assay__host_tensor tensors[MAX_VALUES];

static int make_inputs(const struct assay__workload *workload, struct assay_error *error)
{
    for (size_t i = 0; i < workload->input_count; i++) {
        const struct assay__input_plan *plan = &workload->inputs[i];
        void *data = malloc(plan->bytes + 1);
        if (!data || assay__input_fill(plan, data, error)) return 1;
        tensors[i] = (struct assay__host_tensor){.name = plan->name,
                                                 .dtype = (int)plan->dtype,
                                                 .rank = plan->rank,
                                                 .dims = plan->dims,
                                                 .data = data,
                                                 .data_size = plan->bytes};
    }
    return 0;
}

static double median_of(const uint64_t *stamps)
{
    static double times[ITERATIONS];
    for (size_t i = 0; i < ITERATIONS; i++)
        times[i] = (double)(stamps[i + 1] - stamps[i]);
    assay__stats_sort(times, ITERATIONS);
    return assay__stats_median(times, ITERATIONS);
}

static double bare_block(struct assay__session *session)
{
    static uint64_t stamps[ITERATIONS + 1];
    struct OrtValue *outputs[MAX_VALUES] = {NULL};
    stamps[0] = assay__now_ns();
    for (size_t i = 0; i < ITERATIONS; i++) {
        struct OrtStatus *status = session->ort.run(
            session->session, NULL, session->input_names,
            (const struct OrtValue *const *)session->input_values, session->input_count,
            session->output_names, session->output_count, outputs);
        if (status) exit(1);
        for (size_t k = 0; k < session->output_count; k++) {
            session->ort.release_value(outputs[k]);
            outputs[k] = NULL;
        }
        stamps[i + 1] = assay__now_ns();
    }
    return median_of(stamps);
}

static double loop_block(const struct assay__engine_ops *ops, struct assay__session *session)
{
    static uint64_t stamps[ITERATIONS + 1];
    _Atomic uint64_t count = 0;
    struct assay__loop loop = {.step = ops->step,
                               .session = session,
                               .stamps = stamps,
                               .capacity = ITERATIONS,
                               .count = &count};
    size_t done = 0;
    if (assay__loop_run(&loop, ITERATIONS, ASSAY__LOOP_NO_DEADLINE, &done)) exit(1);
    double median = median_of(stamps);
    /* Its last outputs would otherwise stay alive beside the bare loop's. */
    assay__ort_release_values(&session->ort, session->streams[0]->outputs, session->output_count);
    return median;
}

int main(int argc, char **argv)
{
    static double ours[MAX_BLOCKS], bare[MAX_BLOCKS];
    struct assay_error error = {0};
    struct assay__model *model = NULL;
    struct assay__workload *workload = NULL;
    struct assay__workload_options plan = {0};
    struct assay__session *session = NULL;
    const struct assay__engine_ops *ops = assay__engine_find("ort");
    size_t blocks = argc == 3 ? (size_t)strtoul(argv[2], NULL, 10) : 0;
    if (blocks < 1 || blocks > MAX_BLOCKS) return 2;
    if (assay__model_read(argv[1], &model, &error) ||
        assay__workload_plan(model, &plan, &workload, &error) ||
        workload->input_count > MAX_VALUES || make_inputs(workload, &error))
        goto failed;
    struct assay__session_options options = {.size = sizeof options,
                                             .model_path = argv[1],
                                             .device = "cpu",
                                             .threads = 1,
                                             .spinning = -1,
                                             .inputs = tensors,
                                             .input_count = workload->input_count};
    if (ops->open(&options, &session, &error) || session->output_count > MAX_VALUES) goto failed;
    for (int i = 0; i < 5; i++) /* warm-up */
        loop_block(ops, session);
    for (size_t i = 0; i < blocks; i++) {
        ours[i] = loop_block(ops, session);
        bare[i] = bare_block(session);
    }
    assay__stats_sort(ours, blocks);
    assay__stats_sort(bare, blocks);
    printf("{\"loop_ns\": %.1f, \"bare_ns\": %.1f}\n", assay__stats_median(ours, blocks),
           assay__stats_median(bare, blocks));
    ops->close(session);
    return 0;
failed:
    fprintf(stderr, "same_session: %s\n", error.message);
    return 1;
}
