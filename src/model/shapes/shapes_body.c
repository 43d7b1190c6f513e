/* shapes_body.c - shape rows of If, Loop and Scan: their bodies are walked as separate graphs that
 * see the names of the enclosing graphs.
 *
 * What a loop carries may change from one iteration to the next: the body is walked with what is
 * common to the state before and after it, until that no longer changes (a dimension that grows
 * becomes unknown). Contradictions are reported only in what certainly runs: the branch chosen by a
 * constant, the body of a loop that is not known to be skipped. */
#include "model/shapes/shapes_scope.h"

#include "base/vec.h"

#include <stdlib.h>

#define MAX_DEPTH 16
#define MAX_PASSES 4

static void add_control(struct assay__shape_call *call, int64_t trips, int branch)
{
    struct assay__shape_state *state = call->scope->state;
    if (assay__vec_grow((void **)&state->controls, &state->control_capacity,
                        state->control_count + 1, sizeof *state->controls))
        assay__arena_fail(call->arena);
    else
        state->controls[state->control_count++] = (struct assay__shape_control){
            call->node, assay__num_known(trips) && trips >= 0 ? trips : -1, branch};
}

static const struct assay__graph *body_of(const struct assay__shape_call *call, const char *name)
{
    const struct assay__attr *attr = assay__node_attr(call->node, name);
    return attr && attr->type == ASSAY__ATTR_GRAPH ? attr->g : NULL;
}

/* Walks a body whose inputs are `seeds`. NULL: not entered (too deep, a cycle, out of memory). */
static struct assay__shapes *enter(struct assay__shape_call *call, const struct assay__graph *body,
                                   const struct assay__fact *seeds, size_t seed_count)
{
    struct assay__shape_state *state = call->scope->state;
    if (!body || state->depth >= MAX_DEPTH || state->budget <= body->node_count) return NULL;
    struct assay__shapes *scope = assay__scope_new(state, call->scope, body);
    if (!scope || assay__vec_grow((void **)&state->bodies, &state->body_capacity,
                                  state->body_count + 1, sizeof *state->bodies)) {
        assay__scope_free(scope);
        assay__arena_fail(call->arena);
        return NULL;
    }
    size_t mark = state->body_count;
    state->bodies[state->body_count++] = (struct assay__shape_body){body, scope};
    state->budget -= body->node_count + 1;
    state->depth++;
    for (size_t i = 0; i < body->input_count; i++) {
        struct assay__fact *fact = assay__scope_add(scope, body->inputs[i].name);
        if (i < seed_count) *fact = seeds[i];
        fact->maker = NULL;
        assay__fact_complete(scope, &body->inputs[i], fact);
    }
    int code = assay__scope_walk(scope, NULL);
    state->depth--;
    if (!code) return scope;
    if (code == ASSAY_ENOMEM) assay__arena_fail(call->arena);
    while (state->body_count > mark)
        assay__scope_free(state->bodies[--state->body_count].scope);
    return NULL;
}

static const struct assay__fact *body_output(const struct assay__shapes *scope, size_t i)
{
    if (i >= scope->graph->output_count) return &scope->nothing;
    const struct assay__fact *fact = assay__scope_find(scope, scope->graph->outputs[i].name);
    return fact ? fact : &scope->nothing;
}

static void infer_if(struct assay__shape_call *call)
{
    struct assay__shape_state *state = call->scope->state;
    int64_t condition = assay__shape_num(call, 0);
    int taken = assay__num_known(condition) ? condition != 0 : -1;
    struct assay__shapes *scopes[2] = {NULL, NULL};
    add_control(call, -1, taken);
    for (int which = 1; which >= 0 && !assay__arena_failed(call->arena); which--) {
        state->quiet += taken != which;
        scopes[which] = enter(call, body_of(call, which ? "then_branch" : "else_branch"), NULL, 0);
        state->quiet -= taken != which;
    }
    for (size_t o = 0; o < call->out_count && !assay__arena_failed(call->arena); o++) {
        if (taken >= 0) {
            if (scopes[taken]) assay__shape_pass(call, o, body_output(scopes[taken], o));
            continue;
        }
        if (!scopes[0] || !scopes[1]) continue;
        struct assay__fact both = *body_output(scopes[1], o);
        assay__fact_join(call, &both, body_output(scopes[0], o));
        assay__shape_pass(call, o, &both);
    }
}

/* --- loops ------------------------------------------------------------------------------------ */

/* A pass that is repeated leaves nothing behind. */
static void leave(struct assay__shape_state *state, size_t bodies, size_t controls,
                  size_t conflicts)
{
    while (state->body_count > bodies)
        assay__scope_free(state->bodies[--state->body_count].scope);
    state->control_count = controls;
    state->conflict_count = conflicts;
}

/* Walks the body until what is carried is stable. seeds[first … first + carried) are states; body
 * output `out_first + i` follows state i. */
static struct assay__shapes *stabilise(struct assay__shape_call *call,
                                       const struct assay__graph *body, struct assay__fact *seeds,
                                       size_t seed_count, size_t first, size_t carried,
                                       size_t out_first)
{
    struct assay__shape_state *state = call->scope->state;
    for (size_t i = 0; i < carried; i++) {
        seeds[first + i].values = NULL;
        seeds[first + i].tensor = NULL;
    }
    for (int pass = 0;; pass++) {
        size_t bodies = state->body_count, controls = state->control_count;
        size_t conflicts = state->conflict_count;
        bool changed = false;
        struct assay__shapes *scope = enter(call, body, seeds, seed_count);
        if (!scope) return NULL;
        for (size_t i = 0; i < carried; i++) {
            bool moved = assay__fact_join(call, &seeds[first + i],
                                          body_output(scope, out_first + i));
            if (moved && pass >= MAX_PASSES) seeds[first + i].entry.rank = -1;
            changed = changed || moved;
        }
        /* a long chain of states that depend on each other: all become unknown */
        for (size_t i = 0; changed && pass > 2 * MAX_PASSES && i < carried; i++)
            seeds[first + i].entry.rank = -1;
        if (!changed || assay__arena_failed(call->arena)) return scope;
        leave(state, bodies, controls, conflicts);
    }
}

static struct assay__fact scalar_fact(struct assay__shape_call *call, enum assay__dtype dtype,
                                      const int64_t *value)
{
    struct assay__fact fact = {.entry = {.rank = -1}};
    assay__fact_set(call->scope->state, &fact, dtype, 0, NULL);
    fact.values = value;
    fact.value_count = value ? 1 : 0;
    return fact;
}

/* Output o: what the body produces in each iteration, with the number of iterations as an axis. */
static void set_scanned(struct assay__shape_call *call, size_t o, const struct assay__fact *each,
                        int64_t trips, int64_t axis_at)
{
    int rank = each->entry.rank, axis = 0;
    int64_t dims[ASSAY__SHAPE_RANK];
    assay__shape_set_dtype(call, o, each->entry.dtype);
    if (rank < 0 || rank + 1 > ASSAY__SHAPE_RANK || !assay__shape_axis(axis_at, rank + 1, &axis))
        return;
    for (int i = 0, k = 0; i <= rank; i++)
        dims[i] = i == axis ? trips : each->dims[k++];
    assay__shape_set(call, o, each->entry.dtype, rank + 1, dims);
}

/* How often a Loop's body runs, as a num. next: the body's condition for the next iteration. */
static int64_t loop_trips(const struct assay__shape_call *call, int64_t next)
{
    bool bounded = assay__shape_has(call, 0), guarded = assay__shape_has(call, 1);
    int64_t most = assay__shape_num(call, 0), first = guarded ? assay__shape_num(call, 1) : 1;
    if (assay__num_known(first) && first == 0) return 0;
    if (bounded && assay__num_known(most) && most <= 0) return 0;
    if (first != 1) return ASSAY__NUM_ANY;
    if (next == 0) return !bounded || (assay__num_known(most) && most >= 1) ? 1 : ASSAY__NUM_ANY;
    return next == 1 && bounded ? most : ASSAY__NUM_ANY;
}

/* The iterations of a loop that ends by its condition, such as `while (i < steps)`: its body is
 * walked with the values that it carries until the condition is false. seeds: what the body begins
 * with. At most an eighth of the budget; ASSAY__NUM_ANY: a value is unknown, or it did not end. */
static int64_t count_trips(struct assay__shape_call *call, const struct assay__graph *body,
                           struct assay__fact *seeds, size_t carried)
{
    struct assay__shape_state *state = call->scope->state;
    int64_t most = assay__shape_has(call, 0) ? assay__shape_num(call, 0) : INT64_MAX;
    int64_t first = assay__shape_has(call, 1) ? assay__shape_num(call, 1) : 1;
    int64_t trips = ASSAY__NUM_ANY;
    size_t walks = state->budget / 8 / (body->node_count + 1);
    if (!assay__num_known(most) || first != 1) return ASSAY__NUM_ANY;
    state->quiet++;
    for (size_t k = 0; k < walks && trips == ASSAY__NUM_ANY; k++) {
        size_t bodies = state->body_count, controls = state->control_count;
        size_t conflicts = state->conflict_count;
        int64_t *iteration = assay__arena_array(call->arena, 1, sizeof *iteration);
        if (iteration) *iteration = (int64_t)k;
        seeds[0] = scalar_fact(call, ASSAY__INT64, iteration);
        struct assay__shapes *scope = enter(call, body, seeds, carried + 2);
        if (!scope) break;
        const struct assay__fact *next = body_output(scope, 0);
        bool known = next->values && next->value_count == 1 && assay__num_known(next->values[0]);
        if (known && (next->values[0] == 0 || (int64_t)k + 1 == most)) trips = (int64_t)k + 1;
        for (size_t i = 0; i < carried; i++)
            seeds[2 + i] = *body_output(scope, 1 + i);
        leave(state, bodies, controls, conflicts);
        if (!known) break;
    }
    state->quiet--;
    return trips;
}

/* M, cond, states; body: iteration, cond, states -> cond, states, scanned */
static void infer_loop(struct assay__shape_call *call)
{
    static const int64_t yes = 1;
    struct assay__shape_state *state = call->scope->state;
    const struct assay__graph *body = body_of(call, "body");
    size_t carried = call->in_count > 2 ? call->in_count - 2 : 0;
    if (!body || body->input_count != carried + 2 || body->output_count < carried + 1) {
        add_control(call, -1, -1);
        return;
    }
    struct assay__fact *seeds = calloc(2 * (carried + 2), sizeof *seeds);
    if (!seeds) {
        assay__arena_fail(call->arena);
        return;
    }
    struct assay__fact *counted = seeds + carried + 2;
    seeds[0] = scalar_fact(call, ASSAY__INT64, NULL);
    seeds[1] = scalar_fact(call, ASSAY__BOOL, &yes); /* or the body would not run */
    for (size_t i = 0; i < carried; i++)
        seeds[2 + i] = *call->in[2 + i];
    bool skipped = loop_trips(call, ASSAY__NUM_ANY) == 0;
    state->quiet += skipped;
    struct assay__shapes *scope = stabilise(call, body, seeds, carried + 2, 2, carried, 1);
    state->quiet -= skipped;
    const struct assay__fact *next = scope ? body_output(scope, 0) : NULL;
    int64_t trips = loop_trips(
        call, next && next->values && next->value_count == 1 ? next->values[0] : ASSAY__NUM_ANY);
    if (scope && !assay__num_known(trips) && !state->quiet) {
        for (size_t i = 0; i < carried; i++)
            counted[2 + i] = *call->in[2 + i];
        counted[1] = seeds[1];
        trips = count_trips(call, body, counted, carried);
    }
    add_control(call, trips, -1);
    for (size_t o = 0; scope && o < call->out_count && !assay__arena_failed(call->arena); o++) {
        const struct assay__fact *made = body_output(scope, o + 1);
        if (o >= carried) {
            set_scanned(call, o, made, trips, 0);
        } else if (trips == 0) { /* never run: the state as it came in */
            assay__shape_pass(call, o, call->in[2 + o]);
        } else {
            bool runs = assay__num_known(trips) && trips > 0; /* once at least */
            struct assay__fact out = runs ? *made : seeds[2 + o];
            out.values = NULL;
            out.tensor = NULL;
            assay__shape_pass(call, o, &out);
        }
    }
    free(seeds);
}

/* --- Scan ------------------------------------------------------------------------------------- */

static int64_t listed(const struct assay__shape_call *call, const char *name, size_t i)
{
    size_t count = 0;
    const int64_t *axes = assay__shape_ints(call, name, &count);
    return i < count ? axes[i] : 0;
}

/* The part of an input that the body sees: without the scanned axis. */
static struct assay__fact without_axis(struct assay__shape_call *call,
                                       const struct assay__fact *from, int64_t axis_at,
                                       int64_t *size)
{
    struct assay__fact fact = {.entry = {.rank = -1, .dtype = from->entry.dtype}};
    int rank = from->entry.rank, axis = 0;
    int64_t dims[ASSAY__SHAPE_RANK];
    if (rank < 1 || !assay__shape_axis(axis_at, rank, &axis)) return fact;
    if (*size == ASSAY__NUM_ANY || from->dims[axis] >= 0) *size = from->dims[axis];
    for (int i = 0, k = 0; i < rank; i++)
        if (i != axis) dims[k++] = from->dims[i];
    assay__fact_set(call->scope->state, &fact, from->entry.dtype, rank - 1, dims);
    return fact;
}

/* Opset 8 has sequence lengths before the inputs and a batch as the first axis of everything. */
static void scan_inputs(struct assay__shape_call *call, struct assay__fact *seeds, size_t states,
                        size_t scans, int64_t *trips, int64_t *batch)
{
    bool batched = call->opset < 9;
    size_t first = batched ? 1 : 0;
    for (size_t i = 0; i < states + scans; i++) {
        const struct assay__fact *from = call->in[first + i];
        struct assay__fact inner = batched ? without_axis(call, from, 0, batch) : *from;
        if (i < states) {
            seeds[i] = inner;
            continue;
        }
        int64_t axis = batched ? 0 : listed(call, "scan_input_axes", i - states);
        int64_t size = ASSAY__NUM_ANY;
        seeds[i] = without_axis(call, &inner, axis, &size);
        assay__shape_differ(call, first + i, "iterations of two scanned inputs", *trips, size);
        if (*trips == ASSAY__NUM_ANY || size >= 0) *trips = size;
    }
}

static void scan_outputs(struct assay__shape_call *call, const struct assay__shapes *scope,
                         const struct assay__fact *seeds, size_t states, int64_t trips,
                         int64_t batch)
{
    bool batched = call->opset < 9;
    for (size_t o = 0; o < call->out_count && !assay__arena_failed(call->arena); o++) {
        if (o < states) {
            if (batched)
                set_scanned(call, o, &seeds[o], batch, 0);
            else
                assay__shape_pass(call, o, &seeds[o]);
            continue;
        }
        int64_t axis = batched ? 0 : listed(call, "scan_output_axes", o - states);
        set_scanned(call, o, body_output(scope, o), trips, axis);
        if (!batched) continue;
        struct assay__fact each = *call->out[o];
        set_scanned(call, o, &each, batch, 0);
    }
}

/* states, scanned inputs; body: states, slices -> states, slices */
static void infer_scan(struct assay__shape_call *call)
{
    const struct assay__graph *body = body_of(call, "body");
    int64_t wanted = assay__node_int(call->node, "num_scan_inputs", 0);
    size_t first = call->opset < 9 ? 1 : 0;
    size_t inputs = call->in_count > first ? call->in_count - first : 0;
    int64_t trips = ASSAY__NUM_ANY, batch = ASSAY__NUM_ANY;
    bool fits = body && wanted >= 1 && (size_t)wanted <= inputs && body->input_count == inputs;
    struct assay__fact *seeds = fits ? calloc(inputs, sizeof *seeds) : NULL;
    if (!seeds) {
        if (fits) assay__arena_fail(call->arena);
        add_control(call, -1, -1);
        return;
    }
    size_t scans = (size_t)wanted, states = inputs - scans;
    scan_inputs(call, seeds, states, scans, &trips, &batch);
    bool skipped = trips == 0;
    call->scope->state->quiet += skipped;
    struct assay__shapes *scope = assay__arena_failed(call->arena)
                                      ? NULL
                                      : stabilise(call, body, seeds, inputs, 0, states, 0);
    call->scope->state->quiet -= skipped;
    add_control(call, trips, -1);
    if (scope) scan_outputs(call, scope, seeds, states, trips, batch);
    free(seeds);
}

const struct assay__shape_row assay__shape_rows_body[] = {
    {"If", "", infer_if},
    {"Loop", "", infer_loop},
    {"Scan", "", infer_scan},
    {NULL, NULL, NULL},
};
