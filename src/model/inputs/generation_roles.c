/* generation_roles.c - finds the inputs and outputs of a language model by their names. */
#include "model/inputs/generation_roles.h"

#include <string.h>

/* What follows one of the prefixes (the longest is first), or NULL. */
static const char *after_prefix(const char *name, const char *const *prefixes)
{
    for (; *prefixes; prefixes++)
        if (strncmp(name, *prefixes, strlen(*prefixes)) == 0) return name + strlen(*prefixes);
    return NULL;
}

static const char *past_rest(const char *name)
{
    return after_prefix(name, (const char *const[]){"past_key_values", "past", NULL});
}

static const char *present_rest(const char *name)
{
    return after_prefix(name, (const char *const[]){"present_key_values", "present", NULL});
}

static int place_input(const struct assay__graph *graph, const struct assay__value *input,
                       const char **past, const char **present,
                       struct assay__generation *generation, struct assay_error *error)
{
    bool integer = input->dtype == ASSAY__INT64 || input->dtype == ASSAY__INT32;
    const char *rest = past_rest(input->name), *partner = NULL;
    if (rest) {
        for (size_t i = 0; i < graph->output_count && !partner; i++) {
            const char *other = present_rest(graph->outputs[i].name);
            if (other && strcmp(other, rest) == 0 && graph->outputs[i].dtype == input->dtype)
                partner = graph->outputs[i].name;
        }
        if (!partner)
            return assay_error_set(
                error, ASSAY_EUNSUPPORTED,
                "the cache input '%.80s' has no matching 'present' output that could feed it",
                input->name);
        past[generation->pair_count] = input->name;
        present[generation->pair_count++] = partner;
    } else if (strcmp(input->name, "attention_mask") == 0) {
        generation->mask = input->name;
    } else if (strcmp(input->name, "position_ids") == 0) {
        generation->positions = input->name;
    } else if (integer && input->rank == 2 && !generation->ids) {
        generation->ids = input->name;
    } else {
        return assay_error_set(error, ASSAY_EUNSUPPORTED,
                               "the input '%.80s' has no known role in a generation (known: "
                               "input_ids, attention_mask, position_ids, past_key_values.*)",
                               input->name);
    }
    return 0;
}

int assay__generation_find(const struct assay__model *model, int64_t tokens,
                           struct assay__arena *arena, struct assay__generation *generation,
                           struct assay_error *error)
{
    const struct assay__graph *graph = &model->graph;
    const char **past = assay__arena_array(arena, graph->input_count + 1, sizeof *past);
    const char **present = assay__arena_array(arena, graph->input_count + 1, sizeof *present);
    int code = 0;
    *generation = (struct assay__generation){.tokens = tokens, .past = past, .present = present};
    if (!past || !present) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    for (size_t i = 0; i < graph->input_count && !code; i++)
        if (!assay__graph_is_initializer(graph, graph->inputs[i].name))
            code = place_input(graph, &graph->inputs[i], past, present, generation, error);
    if (code) return code;
    for (size_t i = 0; i < graph->output_count; i++) {
        const struct assay__value *output = &graph->outputs[i];
        bool real = output->dtype == ASSAY__FLOAT32 || output->dtype == ASSAY__FLOAT16 ||
                    output->dtype == ASSAY__BFLOAT16;
        bool named = strcmp(output->name, "logits") == 0;
        bool shaped = output->rank == 3 && !present_rest(output->name);
        if (real && (named || (shaped && !generation->logits))) generation->logits = output->name;
        if (real && named) break;
    }
    if (!generation->ids || !generation->logits)
        return assay_error_set(error, ASSAY_EUNSUPPORTED, "the model has no %s: it cannot generate",
                               generation->ids ? "output 'logits' (float, batch x new x vocabulary)"
                                               : "input of token ids (integers, batch x sequence)");
    if (generation->pair_count == 0)
        return assay_error_set(
            error, ASSAY_EUNSUPPORTED,
            "the model has no cache (inputs past_key_values.* with outputs present.*): export it "
            "with past inputs; in the zoo, gpt2 and llama have one");
    return 0;
}

/* --- shapes of the first run ------------------------------------------------------------------ */

static struct assay__input_plan *plan_of(struct assay__workload *workload, const char *name)
{
    for (size_t i = 0; name && i < workload->input_count; i++)
        if (strcmp(workload->inputs[i].name, name) == 0) return &workload->inputs[i];
    return NULL;
}

static const struct assay__value *value_of(const struct assay__graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->input_count; i++)
        if (strcmp(graph->inputs[i].name, name) == 0) return &graph->inputs[i];
    return NULL;
}

/* The axis that grows: symbolic, and not the batch (the first); -1: none. */
static int growing_axis(const struct assay__value *value)
{
    for (int axis = value->rank - 1; axis > 0; axis--)
        if (value->dims[axis].value < 0) return axis;
    return -1;
}

static int set_row(struct assay__input_plan *plan, const int64_t *ids_dims, enum assay__fill fill,
                   const char *why, struct assay_error *error)
{
    if (plan->rank != 2)
        return assay_error_set(error, ASSAY_EUNSUPPORTED, "'%.80s' has %d axes instead of 2",
                               plan->name, plan->rank);
    plan->dims[0] = ids_dims[0];
    plan->dims[1] = ids_dims[1];
    plan->bytes = assay__dtype_bytes(plan->dtype, ids_dims[0] * ids_dims[1]);
    plan->fill = fill;
    plan->low = 1;
    plan->high = 0;
    plan->why = why;
    plan->assumed = NULL;
    return 0;
}

/* "symbolic dimension 'past' set to 1 …" no longer applies to the axes that this file has set. */
static void forget_notes(struct assay__workload *workload, const char *symbol)
{
    size_t kept = 0;
    if (!symbol || !*symbol) return;
    for (size_t i = 0; i < workload->note_count; i++) {
        if (strcmp(workload->note_subjects[i].symbol, symbol) == 0) continue;
        workload->note_subjects[kept] = workload->note_subjects[i];
        workload->notes[kept++] = workload->notes[i];
    }
    workload->note_count = kept;
}

/* Says what one inference is. */
static int add_note(struct assay__workload *workload, const struct assay__generation *generation,
                    const int64_t *ids_dims, struct assay_error *error)
{
    const char *text = assay__arena_printf(
        workload->arena,
        "one inference is a whole generation: a prompt of %lld, then %lld token%s, one run of the "
        "model each, in %lld sequence%s; the most likely token is chosen, and nothing ends it "
        "early",
        (long long)ids_dims[1], (long long)generation->tokens, generation->tokens == 1 ? "" : "s",
        (long long)ids_dims[0], ids_dims[0] == 1 ? "" : "s");
    if (!text) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    /* before the others; the plan left room for it */
    memmove(workload->notes + 1, workload->notes, workload->note_count * sizeof *workload->notes);
    memmove(workload->note_subjects + 1, workload->note_subjects,
            workload->note_count * sizeof *workload->note_subjects);
    workload->notes[0] = text;
    workload->note_subjects[0] = (struct assay__note_subject){"", "", 0, "", 0};
    workload->note_count++;
    return 0;
}

int assay__generation_shape(const struct assay__model *model,
                            const struct assay__generation *generation,
                            struct assay__workload *workload, struct assay_error *error)
{
    const struct assay__input_plan *ids = plan_of(workload, generation->ids);
    const struct assay__value *stated = value_of(&model->graph, generation->ids);
    if (!stated || !ids || ids->rank != 2 || stated->rank != 2)
        return assay_error_set(error, ASSAY_EUNSUPPORTED, "no token ids were planned");
    /* after the prompt, one token at a time: the axis of the sequence must allow 1 */
    int64_t fixed = stated->dims[1].value;
    if (fixed >= 0 && fixed != 1 && generation->tokens != 1)
        return assay_error_set(
            error, ASSAY_EUNSUPPORTED,
            "'%.80s' has a fixed length of %lld: after the prompt a generation gives "
            "one token at a time (zoo models: leave seq at its default)",
            ids->name, (long long)fixed);
    for (size_t i = 0; i < generation->pair_count; i++) {
        struct assay__input_plan *plan = plan_of(workload, generation->past[i]);
        const struct assay__value *value = value_of(&model->graph, generation->past[i]);
        int axis = value ? growing_axis(value) : -1;
        if (!plan || !value) continue;
        if (plan->rank == value->rank && axis < 0)
            return assay_error_set(
                error, ASSAY_EUNSUPPORTED,
                "the cache input '%.80s' has a fixed length: it cannot start empty "
                "(zoo models: leave phase and past at their defaults)",
                plan->name);
        if (plan->rank == value->rank) {
            plan->dims[axis] = 0;
            plan->bytes = 0;
            plan->why = "an empty cache: nothing has been generated yet";
            plan->assumed = NULL;
        }
        if (axis > 0) forget_notes(workload, value->dims[axis].symbol);
    }
    int code = 0;
    struct assay__input_plan *mask = plan_of(workload, generation->mask);
    struct assay__input_plan *positions = plan_of(workload, generation->positions);
    if (!code && mask)
        code = set_row(mask, ids->dims, ASSAY__FILL_CONSTANT, "attend to every token", error);
    const struct assay__value *masked = mask ? value_of(&model->graph, mask->name) : NULL;
    if (!code && masked && masked->rank == 2) forget_notes(workload, masked->dims[1].symbol);
    if (!code && positions)
        code = set_row(positions, ids->dims, ASSAY__FILL_RANGE, "positions of the prompt", error);
    if (!code) code = add_note(workload, generation, ids->dims, error);
    return code;
}

int assay__generation_at(const struct assay__model *model,
                         const struct assay__generation *generation,
                         const struct assay__workload *workload, int64_t token,
                         struct assay__arena *arena, struct assay__input_plan *plans,
                         struct assay_error *error)
{
    int64_t prompt = 0;
    for (size_t i = 0; i < workload->input_count; i++) {
        struct assay__input_plan *plan = &plans[i];
        *plan = workload->inputs[i];
        plan->dims = assay__arena_array(arena, (size_t)plan->rank + 1, sizeof *plan->dims);
        if (!plan->dims) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
        for (int d = 0; d < plan->rank; d++)
            plan->dims[d] = workload->inputs[i].dims[d];
        if (strcmp(plan->name, generation->ids) == 0 && plan->rank == 2) prompt = plan->dims[1];
    }
    for (size_t i = 0; i < workload->input_count && token > 0; i++) {
        struct assay__input_plan *plan = &plans[i];
        bool past = past_rest(plan->name) != NULL;
        const struct assay__value *value = past ? value_of(&model->graph, plan->name) : NULL;
        if (value && value->rank == plan->rank && growing_axis(value) > 0)
            plan->dims[growing_axis(value)] = prompt + token - 1;
        else if (!past && generation->mask && strcmp(plan->name, generation->mask) == 0)
            plan->dims[1] = prompt + token;
        else if (!past) /* the token ids and their positions: one new token */
            plan->dims[1] = 1;
    }
    return 0;
}
