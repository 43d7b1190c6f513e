/* measure_compute.c - peak arithmetic per data type: every kernel that this processor supports, on
 * one core and on all; the best is kept, and the row lists the results of the others. */
#include "base/text.h"
#include "ceiling/kernels/kernels.h"
#include "ceiling/ceiling_survey.h"

#include <stdlib.h>
#include <string.h>

static const char *const types[] = {"float64", "float32", "bfloat16", "float16", "int8"};
#define TYPES (sizeof types / sizeof types[0])

/* The scalar kernels are used only if there is nothing else. */
static bool usable(const struct assay__survey *survey, const struct assay__flops_kernel *kernel,
                   const char *type)
{
    if (strcmp(kernel->type, type) != 0) return false;
    if (kernel->features == 0) return survey->features == 0;
    return (kernel->features & survey->features) == kernel->features;
}

size_t assay__survey_compute_slots(const struct assay__survey *survey)
{
    size_t slots = 0;
    const struct assay__flops_kernel *kernel;
    for (size_t type = 0; type < TYPES; type++)
        for (size_t i = 0; (kernel = assay__flops_at(i)); i++)
            slots += usable(survey, kernel, types[type]);
    return slots * ASSAY__SURVEY_TEAMS;
}

struct compute {
    const struct assay__flops_kernel *kernel;
    struct assay__flops_operands operands;
};

static void work(void *context, size_t thread, uint64_t steps)
{
    const struct compute *compute = context;
    _Alignas(64) unsigned char results[ASSAY__FLOPS_RESULT_BYTES];
    (void)thread;
    memset(results, 0, sizeof results);
    compute->kernel->run(steps, &compute->operands, results);
    /* consumed: the compiler must treat the bytes as used */
    __asm__ volatile("" : : "r"(results) : "memory");
}

static void add_other(struct assay__survey *survey, struct assay__ceiling *row, double value,
                      const struct assay__flops_kernel *kernel)
{
    const char *note = assay__arena_printf(
        survey->arena, "%s%s%s (%s): %s", row->note, row->note[0] ? "; " : "also ", kernel->simd,
        kernel->instruction, assay__scaled(value, row->unit).text);
    if (note) row->note = note;
}

static int measure_row(struct assay__survey *survey, struct assay__ceiling *row,
                       struct assay__survey_team *team, struct compute *compute)
{
    const struct assay__flops_kernel *kernel, *best = NULL;
    struct assay__rate best_rate, rate;
    row->note = "";
    for (size_t i = 0; (kernel = assay__flops_at(i)); i++) {
        if (!usable(survey, kernel, row->type)) continue;
        if (assay__survey_late(survey, row)) break;
        compute->kernel = kernel;
        assay__flops_operands_fill(&compute->operands, row->type);
        int code = assay__thread_team_measure(team->team, work, compute, survey->slot_ns, &rate);
        if (code) return code;
        double value = rate.high * kernel->operations;
        if (best && value <= best_rate.high * best->operations) {
            add_other(survey, row, value, kernel);
            continue;
        }
        if (best) add_other(survey, row, best_rate.high * best->operations, best);
        best = kernel;
        best_rate = rate;
    }
    if (best) {
        assay__survey_measured(row, &best_rate, best->operations);
        row->simd = best->simd;
        row->variant = best->instruction;
    } else if (!row->note[0]) {
        const char *why = assay__arena_printf(
            survey->arena, "no %s arithmetic: there is no kernel for this processor's instructions",
            row->type);
        row->note = why ? why : "no such instructions";
    }
    return 0;
}

int assay__survey_compute(struct assay__survey *survey)
{
    void *memory = NULL;
    int code = 0;
    if (posix_memalign(&memory, 64, sizeof(struct compute)) != 0) return ASSAY_ENOMEM;
    for (size_t type = 0; type < TYPES && !code; type++)
        for (size_t i = 0; i < ASSAY__SURVEY_TEAMS && !code; i++) {
            struct assay__survey_team *team = &survey->teams[i];
            const char *name = assay__arena_printf(survey->arena, "compute.%s.%s", types[type],
                                                   team->name);
            const struct assay__ceiling what = {
                .name = name,
                .type = types[type],
                .threads = (int)assay__thread_team_size(team->team)};
            struct assay__ceiling *row = assay__ceiling_row(&survey->rows, survey->options, &what,
                                                            &code);
            if (row) code = measure_row(survey, row, team, memory);
        }
    free(memory);
    return code;
}
