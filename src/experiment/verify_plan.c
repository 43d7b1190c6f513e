/* verify_plan.c - what to try: the distinct changes of the findings, the arm of each, and the
 * combination of those that helped. See verify.h. */
#include "experiment/verify_attempt.h"

#include "base/file.h"
#include "base/no_memory.h"
#include "zoo/model_open.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT_LEAST_S 5.0 /* for one launch, however small the budget is */

static const char *describe_attempt(struct assay__verifying *v,
                                    const struct assay__attempt *attempt)
{
    struct assay__buf text = {0};
    for (size_t i = 0; i < attempt->change_count; i++) {
        if (i) assay__buf_puts(&text, " + ");
        assay__change_words(&text, attempt->changes[i]);
    }
    return assay__buf_keep(&text, v->arena);
}

int assay__verify_collect(struct assay__verifying *v)
{
    struct assay_profile *profile = v->advice->profile;
    for (size_t i = 0; i < profile->finding_count; i++) {
        const struct assay__rule_result *result = assay__advice_finding(v->advice, i);
        enum assay__change_kind kind = result ? result->change.kind : ASSAY__CHANGE_NONE;
        bool none = kind == ASSAY__CHANGE_NONE || kind == ASSAY__CHANGE_ITERATIONS, known = false;
        if (none || v->count == ASSAY__VERIFY_MOST) {
            const char *needs = !result || !none ? "a rule of this version"
                                : kind == ASSAY__CHANGE_ITERATIONS
                                    ? "a longer measurement, not another configuration"
                                    : assay__verify_needs(result->rule);
            profile->findings[i].reason = assay__arena_printf(v->arena, "not tried: needs %s",
                                                              needs);
            if (!profile->findings[i].reason) return ASSAY_ENOMEM;
            continue;
        }
        for (size_t k = 0; k < v->count; k++)
            known |= assay__change_same(v->attempts[k].changes[0], &result->change);
        if (known) continue;
        struct assay__attempt *made = &v->attempts[v->count++];
        *made = (struct assay__attempt){
            .changes = {&result->change}, .change_count = 1, .arm = SIZE_MAX, .refusal = ""};
        made->words = describe_attempt(v, made);
        if (!made->words) return ASSAY_ENOMEM;
    }
    v->out->changes = v->count;
    return 0;
}

/* --- everything that helped ------------------------------------------------------------------- */

/* Two of a kind, two precisions, two levels of optimisation, and fixed sizes with a larger batch
 * exclude each other. */
static bool exclude(enum assay__change_kind a, enum assay__change_kind b)
{
    bool sized = a == ASSAY__CHANGE_FIX_DIMS || b == ASSAY__CHANGE_FIX_DIMS,
         batched = a == ASSAY__CHANGE_BATCH || b == ASSAY__CHANGE_BATCH;
    bool levels = (a == ASSAY__CHANGE_OPTIMIZE || a == ASSAY__CHANGE_LAYOUT_OFF) &&
                  (b == ASSAY__CHANGE_OPTIMIZE || b == ASSAY__CHANGE_LAYOUT_OFF);
    return a == b || (assay__change_is_precision(a) && assay__change_is_precision(b)) ||
           (sized && batched) || levels;
}

bool assay__verify_combine(struct assay__verifying *v)
{
    v->all = (struct assay__attempt){.arm = SIZE_MAX, .refusal = ""};
    for (size_t i = 0; i < v->count; i++) {
        const struct assay__attempt *one = &v->attempts[i];
        bool beaten = strcmp(one->finding_state, "verified") != 0;
        for (size_t k = 0; k < v->count && !beaten; k++) {
            const struct assay__attempt *other = &v->attempts[k];
            beaten = k != i && strcmp(other->finding_state, "verified") == 0 &&
                     exclude(one->changes[0]->kind, other->changes[0]->kind) &&
                     (other->gain.ratio > one->gain.ratio ||
                      (other->gain.ratio == one->gain.ratio && k < i));
        }
        if (!beaten) v->all.changes[v->all.change_count++] = one->changes[0];
    }
    v->all.words = describe_attempt(v, &v->all);
    return v->all.words && v->all.change_count > 1;
}

/* --- arms ------------------------------------------------------------------------------------- */

static bool has(const struct assay__attempt *attempt, enum assay__change_kind kind)
{
    for (size_t i = 0; i < attempt->change_count; i++)
        if (attempt->changes[i]->kind == kind) return true;
    return false;
}

/* A copy of the model with every rewrite of the attempt, in the private folder of the arms. 0, or
 * ASSAY_ENOMEM; else the refusal is set. */
static int rewrite(struct assay__verifying *v, struct assay__attempt *attempt,
                   struct assay__run_options *options)
{
    struct assay__model *model = NULL;
    struct assay_error error = {0};
    struct assay__rewrite_notes notes = {0};
    char name[96], path[PATH_MAX];
    const char *kind = "";
    int code = assay__model_open(options->workload.model, &model, NULL, &error);
    notes.arena = model ? model->arena : NULL;
    for (int k = 0; k < ASSAY__CHANGE_COUNT && code == 0; k++) /* in the order of their kinds */
        for (size_t i = 0; i < attempt->change_count && code == 0; i++) {
            const struct assay__change *change = attempt->changes[i];
            if ((int)change->kind != k || !assay__change_is_rewrite(change)) continue;
            kind = assay__change_name(change->kind);
            code = assay__change_rewrite(change, model, &notes, &error);
        }
    snprintf(name, sizeof name, "tried-%zu-%s.onnx", v->arms->count,
             attempt->change_count > 1 ? "all" : kind);
    if (code == 0 && !v->arms->recording.folder[0])
        code = assay_error_set(&error, ASSAY_EIO, "there is no temporary folder for the copy");
    if (code == 0)
        code = assay__path_join(v->arms->recording.folder, name, path, sizeof path)
                   ? assay_error_set(&error, ASSAY_ELIMIT, "the path of the copy is too long")
                   : assay__model_write(model, path, &error);
    assay__model_free(model);
    if (code == 0) {
        options->workload.model = assay__arena_strdup(v->arena, path);
        return options->workload.model ? 0 : ASSAY_ENOMEM;
    }
    attempt->refusal = assay__arena_strdup(v->arena, error.message);
    return attempt->refusal && code != ASSAY_ENOMEM ? 0 : ASSAY_ENOMEM;
}

/* A change may be much slower. A launch that takes more of the budget than one of the minimum
 * number for a verdict is ended, unless launches without changes take about as long. */
static double launch_limit(const struct assay__verifying *v)
{
    double own_s = v->baseline.launches ? v->baseline.spent_s / v->baseline.launches : 0;
    return fmax(fmax(v->options->budget_s / ASSAY__COMPARISON_LAUNCHES, LIMIT_LEAST_S), 2 * own_s);
}

int assay__verify_open(struct assay__verifying *v, struct assay__attempt *attempt,
                       const char *label, struct assay_error *error)
{
    struct assay__run_options options = v->options->run;
    struct assay__arms *arms = v->arms;
    const struct assay__arm_identity identity = {
        .label = label,
        .role = attempt->change_count ? ASSAY__ROLE_NONE : ASSAY__ROLE_REFERENCE,
        .software = v->advice->trial->target.software};
    options.measuring.layers = ASSAY_LAYERS_OFF;
    options.watching.memory = options.watching.counters = false;
    if (attempt->change_count && !(options.measuring.launch_limit_s > 0))
        options.measuring.launch_limit_s = launch_limit(v);
    attempt->state = ASSAY__ATTEMPT_RUNNING;
    attempt->refusal = "";
    bool copied = false;
    for (size_t i = 0; i < attempt->change_count; i++) {
        assay__change_options(attempt->changes[i], &options);
        copied |= assay__change_is_rewrite(attempt->changes[i]);
    }
    struct assay_workload_options *w = &options.workload;
    if (has(attempt, ASSAY__CHANGE_BATCH) && v->options->batch_dims) {
        w->shapes = NULL;
        w->shape_count = 0;
        w->dims = v->options->batch_dims;
        w->dim_count = v->options->batch_dim_count;
    }
    if (has(attempt, ASSAY__CHANGE_FIX_DIMS)) { /* they are in the copy now */
        w->dims = w->shapes = NULL;
        w->dim_count = w->shape_count = 0;
        w->batch = w->sequence = 0;
    }
    int code = copied ? rewrite(v, attempt, &options) : 0;
    if (code) return assay_error_set(error, code, "out of memory");
    code = *attempt->refusal ? assay__arms_add_refused(arms, &options, &identity, attempt->refusal,
                                                       &attempt->arm, error)
                             : assay__arms_add(arms, &options, &identity, &attempt->arm, error);
    if (v->same_profile)
        v->advice->trial = &v->advice->profile->trials[v->trial]; /* it may have moved */
    return code;
}

/* --- a saved profile -------------------------------------------------------------------------- */

/* "seq=16" for the symbols that are not the first dimension of an input, so that the batch can
 * still change. */
static const char **dims_of(const struct assay__advice *advice, struct assay__arena *arena,
                            size_t *count)
{
    const struct assay__model_info *m = advice->trial->model;
    const struct assay__trial *trial = advice->trial;
    size_t room = 1;
    for (size_t i = 0; i < m->input_count; i++)
        room += m->inputs[i].rank > 0 ? (size_t)m->inputs[i].rank : 0;
    const char **dims = assay__arena_array(arena, room, sizeof *dims);
    *count = 0;
    for (size_t i = 0; dims && i < m->input_count && i < trial->input_count; i++) {
        const struct assay__tensor_info *input = &m->inputs[i], *fixed = &trial->inputs[i];
        for (int k = 1; k < input->rank && k < fixed->rank; k++) {
            const char *symbol = input->symbols ? input->symbols[k] : NULL;
            if (input->dims[k] >= 0 || !symbol || !*symbol || strcmp(input->name, fixed->name) != 0)
                continue;
            const char *one = assay__arena_printf(arena, "%s=%lld", symbol,
                                                  (long long)fixed->dims[k]);
            bool known = false;
            for (size_t d = 0; one && d < *count; d++)
                known |= strcmp(dims[d], one) == 0;
            if (!one) return NULL;
            if (!known) dims[(*count)++] = one;
        }
    }
    return dims;
}

/* What the run fed back, "output=input"; {"none"} if nothing. NULL: found by names, as in that run,
 * or out of memory. */
static const char *const *states_of(const struct assay__trial *trial, struct assay__arena *arena,
                                    size_t *count)
{
    bool given = false;
    for (size_t i = 0; i < trial->feedback_count; i++)
        given |= trial->feedback[i].found != ASSAY__FEEDBACK_NAME;
    *count = 0;
    if (trial->generation.tokens || (trial->feedback_count && !given)) return NULL;
    const char **states = assay__arena_array(arena, trial->feedback_count + 1, sizeof *states);
    if (!states) return NULL;
    for (size_t i = 0; i < trial->feedback_count; i++)
        states[(*count)++] = assay__arena_text(arena, "%s=%s", trial->feedback[i].output,
                                               trial->feedback[i].input);
    if (!*count) states[(*count)++] = "none";
    return states;
}

int assay__verify_options_of(const struct assay__advice *advice, const char *model,
                             struct assay__arena *arena, struct assay__verify_options *out,
                             struct assay_error *error)
{
    const struct assay__trial *trial = advice->trial;
    const struct assay__model_info *info = trial->model;
    const struct assay__target *target = &trial->target;
    struct assay_workload_options *w = &out->run.workload;
    if (!advice->model)
        return assay_error_set(error, ASSAY_EUNSUPPORTED, "%s", advice->model_reason);
    if (strcmp(target->engine, "fake") == 0)
        return assay_error_set(error, ASSAY_EUNSUPPORTED,
                               "a profile does not contain the script that ran");
    out->run = (struct assay__run_options){
        .workload = {.model = model                       ? model
                              : info->path && *info->path ? info->path
                                                          : info->name,
                     .seed = trial->protocol.seed,
                     .generate = trial->generation.tokens,
                     .prompt = trial->generation.prompt},
        .target = {.engine = target->engine,
                   .device = target->device,
                   .optimization =
                       target->optimization ? assay__optimization_name(target->optimization) : NULL,
                   .cpus = *target->cpus ? target->cpus : NULL,
                   .threads = target->threads_default ? 0 : target->threads,
                   .streams = target->streams,
                   .spinning_off = target->spinning_off}};
    out->run.feedback.states = states_of(trial, arena, &out->run.feedback.state_count);
    if (isfinite(trial->real_time.seconds))
        out->run.feedback.seconds_per_inference = trial->real_time.seconds;
    if (w->generate) {
        w->batch = trial->batch > 0 ? trial->batch : 0;
        return 0;
    }
    w->shapes = assay__advice_shapes(trial, arena, &w->shape_count);
    out->batch_dims = dims_of(advice, arena, &out->batch_dim_count);
    bool failed = !w->shapes || !out->batch_dims || assay__arena_failed(arena);
    return failed ? assay__no_memory(error) : 0;
}

int assay__verify_carry(struct assay_profile *profile, const struct assay__finding *kept,
                        size_t kept_count)
{
    size_t more = 0, tried = 0;
    for (size_t k = 0; k < kept_count; k++)
        tried += kept[k].state && (strcmp(kept[k].state, "verified") == 0 ||
                                   strcmp(kept[k].state, "withdrawn") == 0);
    if (!tried) return 0;
    for (size_t k = 0; k < kept_count; k++) {
        bool found = false;
        for (size_t i = 0; i < profile->finding_count; i++) {
            struct assay__finding *f = &profile->findings[i];
            if (strcmp(f->id, kept[k].id ? kept[k].id : "") != 0) continue;
            struct assay__finding made = *f;
            *f = kept[k]; /* what was measured … */
            f->severity = made.severity, f->title = made.title, f->advice = made.advice;
            f->evidence = made.evidence, f->evidence_count = made.evidence_count;
            f->expected_gain = made.expected_gain, f->energy_saving = made.energy_saving;
            f->gain_estimated = made.gain_estimated;
            f->effort = made.effort; /* … and what this version says about it */
            f->severity = assay__verify_severity(f);
            found = true;
        }
        more += !found && kept[k].id && strcmp(kept[k].id, ASSAY__VERIFY_COMBINED) == 0;
    }
    if (!more) return 0;
    struct assay__finding *all = assay__arena_array(profile->arena, profile->finding_count + more,
                                                    sizeof *all);
    if (!all) return ASSAY_ENOMEM;
    if (profile->finding_count)
        memcpy(all, profile->findings, profile->finding_count * sizeof *all);
    for (size_t k = 0; k < kept_count; k++)
        if (kept[k].id && strcmp(kept[k].id, ASSAY__VERIFY_COMBINED) == 0)
            all[profile->finding_count++] = kept[k];
    profile->findings = all;
    return 0;
}
