/* arm_model.c - the model of an arm: a file that is read, or a zoo model that is built into the
 * recording's folder (only once if several arms run it) and read back. Then its workload is planned
 * and it is described. Inputs larger than the machine's memory are refused. */
#include "run/arm/arm.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "model/inputs/feedback.h"
#include "model/inputs/generation_roles.h"
#include "model/sha256.h"
#include "run/workload_try.h"
#include "zoo/model_open.h"
#include "zoo/zoo.h"

#include <stdio.h>
#include <string.h>

static int build_zoo(struct assay__arm *arm, const char *name, struct assay_error *error)
{
    char file[48];
    snprintf(file, sizeof file, "model-%zu.onnx", arm->index + 1);
    struct assay__model *built = NULL;
    uint64_t start = assay__now_ns();
    assay__progress(&arm->options.callbacks, "building", -1);
    char folder[PATH_MAX];
    if (arm->recording->folder[0] == '\0') /* sets the error */
        return assay__folder_temporary(folder, sizeof folder, error);
    if (assay__path_join(arm->recording->folder, file, arm->model_path, sizeof arm->model_path))
        return assay_error_set(error, ASSAY_ELIMIT, "the temporary folder's path is too long");
    if (arm->recording->built_name && strcmp(arm->recording->built_name, name) == 0 &&
        snprintf(arm->model_path, sizeof arm->model_path, "%s", arm->recording->built_path) > 0)
        return 0; /* an earlier arm has built it */
    int code = assay__zoo_build(name, &built, error);
    if (code == 0) code = assay__model_write(built, arm->model_path, error);
    if (code == 0) {
        arm->recording->built_name = assay__arena_strdup(arm->recording->profile->arena, name);
        arm->recording->built_path = assay__arena_strdup(arm->recording->profile->arena,
                                                         arm->model_path);
        if (!arm->recording->built_path) arm->recording->built_name = NULL;
    }
    /* Read back: the mapped file, not the builder's memory, is what the parent keeps. */
    assay__model_free(built);
    arm->building_ns = assay__now_ns() - start;
    return code;
}

static bool is_given(const char *const *list, size_t count, const char *name)
{
    size_t length = name ? strlen(name) : 0;
    for (size_t i = 0; i < count && length; i++)
        if (strncmp(list[i], name, length) == 0 && list[i][length] == '=') return true;
    return false;
}

/* The length of the prompt if no option gives it: that of the ids given, else the default. */
static int64_t prompt_of(const struct assay__arm *arm)
{
    const struct assay__run_options *options = &arm->options;
    const char *ids = arm->generation.ids, *symbol = NULL;
    for (size_t i = 0; i < arm->model->graph.input_count; i++) {
        const struct assay__value *input = &arm->model->graph.inputs[i];
        if (strcmp(input->name, ids) == 0 && input->rank == 2 && input->dims[1].value < 0)
            symbol = input->dims[1].symbol;
    }
    if (!symbol || is_given(options->workload.inputs, options->workload.input_count, ids) ||
        is_given(options->workload.shapes, options->workload.shape_count, ids) ||
        is_given(options->workload.dims, options->workload.dim_count, symbol))
        return 0;
    return ASSAY__GENERATE_PROMPT;
}

/* Guessed sizes are tried before measuring, once for all arms of a model. Those of the zoo are
 * known. */
static int plan_tried(struct assay__arm *arm, struct assay__workload_options *plan, bool zoo,
                      struct assay_error *error)
{
    const struct assay__run_options *options = &arm->options;
    struct assay__recording *recording = arm->recording;
    const struct assay__drift_options engine = {.engine = options->target.engine,
                                                .device = arm->device,
                                                .library = options->target.library,
                                                .timeout_s = options->measuring.timeout_s,
                                                .interrupt = options->callbacks.interrupt};
    bool known = recording->tried_path && strcmp(recording->tried_path, arm->model_path) == 0;
    if (known) plan->attempt = recording->tried;
    if (zoo || known || options->script)
        return assay__workload_plan(arm->model, plan, &arm->workload, error);
    int code = assay__workload_try(arm->model, arm->model_path, plan, &engine, &arm->workload,
                                   error);
    if (code) return code;
    recording->tried = arm->workload->attempt;
    recording->tried_path = assay__arena_strdup(recording->profile->arena, arm->model_path);
    return recording->tried_path ? 0 : assay__no_memory(error);
}

static int plan_workload(struct assay__arm *arm, struct assay__workload_options *plan, bool zoo,
                         struct assay_error *error)
{
    int code = 0;
    if (arm->options.workload.generate == 0) {
        const struct assay_feedback_options *asked = &arm->options.feedback;
        code = plan_tried(arm, plan, zoo, error);
        return code ? code
                    : assay__feedback_plan(arm->model, asked->states, asked->state_count,
                                           arm->workload, arm->recording->profile->arena,
                                           &arm->feedback, &arm->feedback_count, error);
    }
    code = assay__generation_find(arm->model, arm->options.workload.generate,
                                  arm->recording->profile->arena, &arm->generation, error);
    if (code) return code;
    if (plan->sequence == 0) plan->sequence = prompt_of(arm);
    code = assay__workload_plan(arm->model, plan, &arm->workload, error);
    if (code == 0)
        code = assay__generation_shape(arm->model, &arm->generation, arm->workload, error);
    for (size_t i = 0; i < (code ? 0 : arm->workload->input_count); i++)
        if (strcmp(arm->workload->inputs[i].name, arm->generation.ids) == 0)
            arm->options.workload.prompt = arm->workload->inputs[i].dims[1];
    return code;
}

/* Inputs that do not fit are not tried: the machine would swap for minutes first. */
static int check_memory(const struct assay__arm *arm, struct assay_error *error)
{
    double memory = arm->recording->profile->environment.memory_bytes, bytes = 0;
    char needed[64], present[64];
    for (size_t i = 0; i < arm->workload->input_count; i++)
        bytes += (double)arm->workload->inputs[i].bytes;
    if (!(memory > 0) || !(bytes > memory)) return 0; /* unknown memory refuses nothing */
    assay__text_scaled(needed, sizeof needed, bytes, "B");
    assay__text_scaled(present, sizeof present, memory, "B");
    return assay_error_set(
        error, ASSAY_ELIMIT,
        "the model's inputs alone take %s, but this machine has only %s of memory", needed,
        present);
}

static int put_hash(struct assay__arm *arm, struct assay__model_info *info,
                    struct assay_error *error)
{
    char digest[65];
    int code = assay__sha256_file(arm->model_path, digest, error);
    if (code) return code;
    info->sha256 = assay__arena_strdup(arm->recording->profile->arena, digest);
    return info->sha256 ? 0 : assay__no_memory(error);
}

static bool is_same(const struct assay__model_info *a, const struct assay__model_info *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->path, b->path) == 0 &&
           strcmp(a->fingerprint, b->fingerprint) == 0 && strcmp(a->sha256, b->sha256) == 0 &&
           a->parameters == b->parameters && a->weight_bytes == b->weight_bytes;
}

int assay__arm_resolve_model(struct assay__arm *arm, struct assay_error *error)
{
    const char *name = arm->options.workload.model;
    bool zoo = !assay__file_exists(name) && assay__zoo_knows(name);
    if (zoo) {
        int code = build_zoo(arm, name, error);
        if (code) return code;
    } else if (snprintf(arm->model_path, sizeof arm->model_path, "%s", name) >=
               (int)sizeof arm->model_path) {
        return assay_error_set(error, ASSAY_ELIMIT, "the model's path is too long");
    }
    int code = assay__model_open(arm->model_path, &arm->model, NULL, error);
    if (code) return code;
    if (!assay__model_is_onnx(arm->model))
        return assay_error_set(error, ASSAY_EUNSUPPORTED,
                               "%s is a %s: no engine here runs it; it can only be inspected", name,
                               arm->model->format);
    code = assay__model_check(arm->model, error);
    if (code) return code;
    struct assay__workload_options plan = assay__workload_options_of(&arm->options.workload);
    code = plan_workload(arm, &plan, zoo, error);
    if (!code) code = check_memory(arm, error);
    if (code) return code;
    /* The model in the profile. The costs of its operators are those of the workload of the first
     * arm that runs it. */
    struct assay_profile *profile = arm->recording->profile;
    bool first = profile->model_count == 1 && !*profile->models[0]->name;
    struct assay__model_info *info = first ? profile->models[0] : assay__profile_model(profile);
    if (!info) return assay__no_memory(error);
    code = assay__describe_model(profile, info, arm->model, arm->workload, name,
                                 zoo ? "" : arm->model_path, &arm->costs, error);
    if (code == 0 && arm->generation.tokens)
        code = assay__describe_generation(profile, info, arm->model, arm->workload,
                                          &arm->generation, &arm->costs, error);
    if (code == 0 && arm->options.keeping.hash) code = put_hash(arm, info, error);
    if (code && !first) profile->model_count--;
    if (code) return code;
    arm->info = info;
    for (size_t i = 0; i + 1 < profile->model_count && arm->info == info; i++)
        if (is_same(profile->models[i], info)) arm->info = profile->models[i];
    if (arm->info != info) profile->model_count--;
    return 0;
}
