/* drift.c - runs two models on the same inputs and compares their outputs. Sums are in double
 * precision. Infinite values and NaN are never averaged away: if both have the same they are
 * counted and left out, otherwise the output has a reason instead of numbers. */
#include "run/trial/drift.h"

#include "base/file.h"
#include "model/model_format.h"
#include "run/child.h"
#include "run/single_run.h"
#include "run/workload_try.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the numbers ------------------------------------------------------------------------------ */

/* Index of the largest value of a row; -1 if it is not unique: then the row has no top class. */
static int64_t first_class(const double *row, int64_t classes)
{
    int64_t best = 0;
    bool alone = true;
    for (int64_t i = 1; i < classes; i++) {
        if (row[i] == row[best]) alone = false;
        if (row[i] > row[best] || (isnan(row[best]) && !isnan(row[i]))) {
            best = i;
            alone = true;
        }
    }
    return alone && !isnan(row[best]) ? best : -1;
}

/* Rows without a top class in the reference, for instance with all numbers equal, do not count.
 * Rows of `classes` numbers, `step` apart: [N, C, 1, 1] has its classes at axis 1, [B, S, V] at
 * axis 2. */
static void count_top1(const double *reference, const double *candidate, int rank,
                       const int64_t *dims, struct assay__drift_output *out)
{
    int axis = rank - 1;
    int64_t same = 0;
    while (axis > 0 && dims[axis] == 1)
        axis--;
    if (axis < 1 || dims[axis] < 2 || out->elements == 0) return;
    int64_t classes = dims[axis];
    for (int64_t row = 0; row < out->elements / classes; row++) {
        int64_t wanted = first_class(reference + row * classes, classes);
        if (wanted < 0) continue;
        out->rows++;
        same += first_class(candidate + row * classes, classes) == wanted;
    }
    if (out->rows) out->top1 = (double)same / (double)out->rows;
}

void assay__drift_compare(const double *reference, const double *candidate, int rank,
                          const int64_t *dims, bool floats, struct assay__arena *arena,
                          struct assay__drift_output *out)
{
    double difference = 0, rr = 0, cc = 0, rc = 0, most = 0;
    int64_t bad_candidate = 0;
    out->max_absolute = out->relative_l2 = out->cosine = out->top1 = NAN;
    out->reason = "";
    for (int64_t i = 0; i < out->elements; i++) {
        double r = reference[i], c = candidate[i];
        if (!isfinite(r) || !isfinite(c)) {
            bad_candidate += !isfinite(c);
            bool same = (isnan(r) && isnan(c)) || (isinf(r) && r == c);
            if (same)
                out->nonfinite++;
            else
                out->broken++;
            continue;
        }
        difference += (c - r) * (c - r);
        rr += r * r;
        cc += c * c;
        rc += r * c;
        if (fabs(c - r) > most) most = fabs(c - r);
    }
    if (out->broken) {
        const char *reason = assay__arena_printf(
            arena,
            "%" PRId64 " of %" PRId64
            " numbers are infinite or NaN and differ between the two (%" PRId64
            " of the other's are)",
            out->broken, out->elements, bad_candidate);
        out->reason = reason ? reason : "infinite or NaN";
        return;
    }
    if (out->elements == out->nonfinite) {
        out->reason = out->elements ? "all numbers are infinite or NaN" : "the output is empty";
        return;
    }
    out->max_absolute = most;
    if (rr > 0) out->relative_l2 = sqrt(difference / rr);
    if (rr == 0 && difference == 0) out->relative_l2 = 0;
    if (rr > 0 && cc > 0) out->cosine = rc / (sqrt(rr) * sqrt(cc));
    if (isfinite(out->cosine) && out->cosine > 1) out->cosine = 1; /* rounding */
    if (floats) count_top1(reference, candidate, rank, dims, out);
}

/* --- comparing -------------------------------------------------------------------------------- */

static int compare_one(const struct assay__output *reference, const struct assay__output *candidate,
                       struct assay__arena *arena, struct assay__drift_output *out,
                       struct assay_error *error)
{
    double *r = NULL, *c = NULL;
    int64_t count = 0;
    enum assay__dtype dtype = reference->dtype;
    bool floats = dtype == ASSAY__FLOAT32 || dtype == ASSAY__FLOAT16 || dtype == ASSAY__FLOAT64 ||
                  dtype == ASSAY__BFLOAT16;
    out->reason = !candidate
                      ? assay__arena_printf(arena, "it has no output '%.80s' to compare", out->name)
                  : *reference->reason ? reference->reason
                                       : candidate->reason;
    if (!out->reason) return assay__no_memory(error);
    if (*out->reason) return 0;
    out->candidate_dtype = candidate->dtype;
    int code = assay__single_run_numbers(reference, &r, &out->elements, error);
    if (!code) code = assay__single_run_numbers(candidate, &c, &count, error);
    bool same = !code && reference->rank == candidate->rank && count == out->elements;
    for (int i = 0; same && i < reference->rank; i++)
        same = reference->dims[i] == candidate->dims[i];
    if (!code && !same)
        out->reason = "its shape differs";
    else if (!code)
        assay__drift_compare(r, c, reference->rank, reference->dims, floats, arena, out);
    free(r);
    free(c);
    return code;
}

/* --- the inputs ------------------------------------------------------------------------------- */

static int same_inputs(const struct assay__workload *a, const struct assay__workload *b,
                       struct assay_error *error)
{
    if (a->input_count != b->input_count)
        return assay_error_set(error, ASSAY_EUNSUPPORTED,
                               "the models have different inputs (%zu and %zu)", a->input_count,
                               b->input_count);
    for (size_t i = 0; i < a->input_count; i++) {
        const struct assay__input_plan *mine = &a->inputs[i], *other = NULL;
        for (size_t k = 0; k < b->input_count && !other; k++)
            if (strcmp(b->inputs[k].name, mine->name) == 0) other = &b->inputs[k];
        bool same = other && other->dtype == mine->dtype && other->rank == mine->rank;
        for (int d = 0; same && d < mine->rank; d++)
            same = mine->dims[d] == other->dims[d];
        if (!same)
            return assay_error_set(error, ASSAY_EUNSUPPORTED,
                                   "the models have different inputs ('%.100s')", mine->name);
    }
    return 0;
}

/* "name=1x3x224x224" for every input of a plan. */
static const char **shape_texts(const struct assay__workload *plan, struct assay__arena *arena,
                                size_t *count)
{
    const char **texts = assay__arena_array(arena, plan->input_count, sizeof *texts);
    *count = 0;
    for (size_t i = 0; texts && i < plan->input_count; i++) {
        const char *text = assay__arena_text(arena, "%s=", plan->inputs[i].name);
        for (int d = 0; d < plan->inputs[i].rank; d++)
            text = assay__arena_text(arena, "%s%s%" PRId64, text, d ? "x" : "",
                                     plan->inputs[i].dims[d]);
        if (plan->inputs[i].rank > 0) texts[(*count)++] = text;
    }
    return texts;
}

/* The reference's inputs in the shapes that the candidate accepts. */
static int plan_inputs(struct assay__single_run *work, const char *reference, const char *candidate,
                       const struct assay__workload_options *options, struct assay_error *error)
{
    struct assay__workload_options chosen = options ? *options
                                                    : (struct assay__workload_options){.seed = 0};
    struct assay__model *a = NULL, *b = NULL;
    struct assay__workload *other = NULL;
    struct assay_error detail = {0};
    int code = assay__model_load(reference, &a, error);
    if (!code) code = assay__model_load(candidate, &b, error);
    /* sizes that the original accepts: if the rewritten one does not run, that must show later */
    if (!code && !assay__workload_try(a, reference, &chosen, work->options, &other, &detail)) {
        chosen.attempt = other->attempt;
        assay__workload_free(other);
        other = NULL;
    }
    if (!code) code = assay__workload_plan(b, &chosen, &other, error);
    if (!code) work->assumed = assay__workload_assumed(other, work->arena);
    if (!code) chosen.shapes = shape_texts(other, work->arena, &chosen.shape_count);
    if (!code && assay__arena_failed(work->arena)) code = assay__no_memory(error);
    chosen.attempt = 0;
    chosen.dims = NULL;
    chosen.dim_count = 0;
    chosen.batch = chosen.sequence = 0;
    if (!code && (code = assay__workload_plan(a, &chosen, &work->workload, &detail)))
        assay_error_set(error, code, "the original does not accept the same inputs: %s",
                        detail.message);
    if (!code) code = same_inputs(work->workload, other, error);
    assay__workload_free(other);
    assay__model_free(a);
    assay__model_free(b);
    return code;
}

/* Every output of the reference with the candidate's output of that name. */
static int compare_lists(const struct assay__output *r, size_t r_count,
                         const struct assay__output *c, size_t c_count, struct assay__drift *drift,
                         struct assay_error *error)
{
    int code = 0;
    drift->outputs = assay__arena_array(drift->arena, r_count, sizeof *drift->outputs);
    if (!drift->outputs) return assay__no_memory(error);
    for (size_t i = 0; i < r_count && !code; i++) {
        const struct assay__output *match = NULL;
        for (size_t k = 0; k < c_count; k++)
            if (strcmp(c[k].name, r[i].name) == 0) match = &c[k];
        drift->outputs[i] = (struct assay__drift_output){.name = r[i].name,
                                                         .reason = "",
                                                         .dtype = r[i].dtype,
                                                         .candidate_dtype = r[i].dtype,
                                                         .rank = r[i].rank,
                                                         .dims = r[i].dims,
                                                         .max_absolute = NAN,
                                                         .relative_l2 = NAN,
                                                         .cosine = NAN,
                                                         .top1 = NAN};
        code = compare_one(&r[i], match, drift->arena, &drift->outputs[i], error);
    }
    drift->output_count = r_count;
    return code;
}

int assay__drift_folders(const char *reference, const char *candidate, struct assay__drift *drift,
                         struct assay_error *error)
{
    struct assay__output *r = NULL, *c = NULL;
    size_t r_count = 0, c_count = 0;
    *drift = (struct assay__drift){.arena = assay__arena_new(), .engine = "", .version = ""};
    if (!drift->arena) return assay__no_memory(error);
    int code = *reference && *candidate ? 0 : ASSAY_ENOTFOUND;
    if (!code) code = assay__outputs_read(reference, drift->arena, &r, &r_count, error);
    if (!code) code = assay__outputs_read(candidate, drift->arena, &c, &c_count, error);
    if (code == ASSAY_ENOTFOUND) /* the path of a folder that is deleted later is of no use */
        assay_error_set(error, code, "no outputs were saved");
    if (!code) code = compare_lists(r, r_count, c, c_count, drift, error);
    if (code) assay__drift_free(drift);
    return code;
}

int assay__drift(const char *reference_path, const char *candidate_path,
                 const struct assay__workload_options *workload,
                 const struct assay__drift_options *options, struct assay__drift *drift,
                 struct assay_error *error)
{
    static const struct assay__drift_options defaults;
    struct assay__output *r = NULL, *c = NULL;
    size_t r_count = 0, c_count = 0;
    struct assay__single_run *work = calloc(1, sizeof *work);
    *drift = (struct assay__drift){.arena = assay__arena_new()};
    if (!work || !drift->arena) {
        free(work);
        assay__drift_free(drift);
        return assay__no_memory(error);
    }
    work->arena = drift->arena;
    work->options = options ? options : &defaults;
    work->version = "";
    int code = assay__worker_locate(work->worker, sizeof work->worker, error);
    if (!code) code = plan_inputs(work, reference_path, candidate_path, workload, error);
    if (!code) code = assay__folder_temporary(work->folder, sizeof work->folder, error);
    if (!code) code = assay__single_run_run(work, reference_path, "original", &r, &r_count, error);
    if (!code) code = assay__single_run_run(work, candidate_path, "rewritten", &c, &c_count, error);
    if (!code) code = compare_lists(r, r_count, c, c_count, drift, error);
    if (*work->folder) assay__folder_remove(work->folder);
    drift->seed = workload ? workload->seed : 0;
    drift->engine = assay__arena_strdup(drift->arena,
                                        assay__or_default(work->options->engine, "ort"));
    drift->version = work->version;
    drift->assumed = work->assumed;
    assay__workload_free(work->workload);
    free(work);
    if (code) assay__drift_free(drift);
    return code;
}

void assay__drift_free(struct assay__drift *drift)
{
    assay__arena_free(drift->arena);
    *drift = (struct assay__drift){.output_count = 0};
}
