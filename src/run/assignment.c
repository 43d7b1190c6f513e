/* assignment.c - the parent's side of assignment.h. */
#include "run/assignment.h"

#include "base/no_memory.h"
#include "run/child.h"

struct assignment_query {
    const struct assay__assignment_request *request;
    struct assay__arena *arena;
    struct assay__assignment *into;
};

static const char *copy_text(struct assignment_query *ask, const struct assay__json *item)
{
    return assay__arena_strdup(ask->arena, item && item->string ? item->string : "");
}

static void write_job(void *context, struct assay__json_writer *out)
{
    const struct assay__assignment_request *r = ((struct assignment_query *)context)->request;
    assay__json_put_bool(out, "assignment", true);
    assay__json_put_string(out, "engine", r->engine);
    assay__json_put_string(out, "library", r->library);
    assay__json_put_string(out, "device", r->device);
    assay__json_put_string(out, "model", r->model);
    assay__json_put_string(out, "optimization", r->optimization);
    assay__json_put_string(out, "save", r->save);
    assay__json_put_array(out, "dims");
    for (size_t i = 0; i < r->dim_count; i++) {
        assay__json_array(out);
        assay__json_string(out, r->dim_names[i]);
        assay__json_integer(out, r->dim_values[i]);
        assay__json_array_end(out);
    }
    assay__json_array_end(out);
}

static int hear(void *context, const struct assay__json *root, struct assay__arena *arena,
                struct assay_error *error)
{
    struct assignment_query *ask = context;
    struct assay__assignment *into = ask->into;
    const struct assay__json *nodes = assay__json_get(root, "nodes"),
                             *target = assay__json_get(root, "target");
    (void)arena;
    for (const struct assay__json *row = nodes ? nodes->first : NULL; row; row = row->next) {
        const struct assay__json *at[5] = {0};
        size_t n = 0;
        for (const struct assay__json *cell = row->first; cell && n < 5; cell = cell->next)
            at[n++] = cell;
        if (n < 5 || !at[4]->is_integer || at[4]->integer < 0)
            return assay_error_set(error, ASSAY_EFORMAT,
                                   "the worker sent a node without a provider");
        struct assay__assigned *grown = assay__arena_grow(ask->arena, into->nodes, into->count,
                                                          sizeof *grown);
        if (!grown) return assay__no_memory(error);
        into->nodes = grown;
        grown[into->count++] = (struct assay__assigned){
            copy_text(ask, at[0]), copy_text(ask, at[1]), copy_text(ask, at[2]),
            copy_text(ask, at[3]), (size_t)at[4]->integer};
    }
    if (target) {
        into->target = copy_text(ask, target);
        into->version = copy_text(ask, assay__json_get(root, "version"));
    }
    return assay__arena_failed(ask->arena) ? assay__no_memory(error) : 0;
}

int assay__assignment_ask(const struct assay__assignment_request *request,
                          struct assay__arena *arena, struct assay__assignment *assignment,
                          struct assay_error *error)
{
    bool lost;
    struct assignment_query ask = {.request = request, .arena = arena, .into = assignment};
    struct assay__question question = {
        .timeout_s = request->timeout_s > 0 ? request->timeout_s : ASSAY__ASSIGNMENT_TIMEOUT_S,
        .interrupt = request->interrupt,
        .write_job = write_job,
        .hear = hear,
        .context = &ask};
    *assignment = (struct assay__assignment){.target = "", .version = ""};
    int code = assay__question_ask(&question, &lost, error);
    if (lost) assay_error_set(error, code, "creating the session %s", question.reason);
    return code;
}
