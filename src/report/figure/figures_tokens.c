/* figures_tokens.c - a generation, token by token, as medians over all that were measured: a row
 * with the prompt's run and then one block per token; and the time between tokens against their
 * position, where a longer cache shows as a slope. */
#include "report/figure/figures.h"

#include <inttypes.h>
#include <math.h>

/* A block ends when its token is ready. A time that is unknown, or runs backwards, ends the row. */
static void add_blocks(struct assay__sketch *k)
{
    const struct assay__generation_info *made = &k->trial->generation;
    struct assay__points prompt, p;
    double last = 0;
    if (!assay__sketch_points(k, &prompt, 1, ASSAY__WITH_NAMES) ||
        !assay__sketch_points(k, &p, made->time_count, ASSAY__WITH_NAMES))
        return;
    for (size_t i = 0; i < made->time_count; i++) {
        const struct assay__token_time *t = &made->times[i];
        double at = t->at_ns * 1e-9;
        if (!(at >= last)) break;
        struct assay__points *to = i ? &p : &prompt;
        to->x[to->count] = last, to->x[to->count + 1] = last = at;
        to->y[to->count] = t->step_ns * 1e-9;
        to->names[to->count++] = i ? assay__sketch_printf(k, "token %" PRId64, t->token)
                                   : assay__sketch_printf(
                                         k, "the prompt of %" PRId64 " tokens, and token 1",
                                         made->prompt);
    }
    assay__sketch_add(k, "prompt, to the first token", &prompt);
    assay__sketch_add(k, "each further token", &p);
}

static int make_row(struct assay__sketch *k)
{
    const struct assay__generation_info *made = &k->trial->generation;
    struct assay__figure *f = assay__sketch_trial(k, ASSAY__FIGURE_BLOCKS, "tokens",
                                                  "One generation");
    add_blocks(k);
    f->x_title = "time since the generation began", f->x_unit = "s", f->y_unit = "s";
    f->wide = true;
    f->caption = "The first block is the run of the prompt (prefill), then every block is one "
                 "token; width is time.";
    f->description = assay__sketch_printf(
        k, "The first token after %s, token %" PRId64 " after %s.",
        assay__scaled(made->times[0].at_ns * 1e-9, "s").text,
        made->times[made->time_count - 1].token,
        assay__scaled(made->times[made->time_count - 1].at_ns * 1e-9, "s").text);
    if (made->time_count < (size_t)made->tokens)
        f->note = assay__sketch_printf(k, "%zu of %" PRId64 " tokens are kept, evenly spread.",
                                       made->time_count, made->tokens);
    return assay__sketch_end(k);
}

/* From the second token on: the first belongs to the prompt. */
static int make_positions(struct assay__sketch *k)
{
    const struct assay__generation_info *made = &k->trial->generation;
    struct assay__points p;
    double low = NAN, high = NAN;
    struct assay__figure *f = assay__sketch_trial(k, ASSAY__FIGURE_LINES, "tokens",
                                                  "Time between tokens");
    if (!assay__sketch_points(k, &p, made->time_count, ASSAY__WITH_INTERVALS))
        return assay__sketch_end(k);
    for (size_t i = 1; i < made->time_count; i++) {
        const struct assay__token_time *t = &made->times[i];
        p.x[p.count] = (double)t->token, p.y[p.count] = t->step_ns * 1e-9;
        p.low[p.count] = t->low_ns * 1e-9, p.high[p.count++] = t->high_ns * 1e-9;
        low = fmin(low, t->step_ns), high = fmax(high, t->step_ns);
    }
    assay__sketch_add(k, "time since the previous token", &p);
    const struct assay_metric *itl = assay__trial_metric(k->trial, "llm.itl");
    if (itl)
        assay__sketch_mark(
            k, false, itl->value,
            assay__sketch_printf(k, "median %s", assay__scaled(itl->value, "s").text));
    f->x_title = "token", f->x_unit = "count";
    f->y_title = "time since the previous token", f->y_unit = "s", f->y_zero = true;
    f->caption = "The median time of each token over all generations; whiskers cover 90 % of them. "
                 "A rising line is the cost of a longer cache.";
    f->description = assay__sketch_printf(k, "%zu tokens, from %s to %s each.", p.count,
                                          assay__scaled(low * 1e-9, "s").text,
                                          assay__scaled(high * 1e-9, "s").text);
    return assay__sketch_end(k);
}

int assay__figure_tokens(struct assay__sketch *k, size_t part)
{
    const struct assay__generation_info *made = &k->trial->generation;
    if (!made->tokens) return assay__sketch_none(k, "the run does not generate text");
    if (!made->time_count) return assay__sketch_none(k, "the profile has no token times");
    if (part == 0) return make_row(k);
    if (part == 1 && made->time_count > 2) return make_positions(k);
    return assay__sketch_none(k, "there are no more parts");
}
