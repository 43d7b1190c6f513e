/* require_advice.c - why a requirement was missed and what to try, from the profile. */
#include "judge/require_advice.h"

#include "base/buf.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>

/* --- evidence --------------------------------------------------------------------------------- */

int assay__require_evidence(const struct assay_profile *profile, const struct assay__trial *trial,
                            const struct assay__require_table *table, struct assay__arena *arena,
                            struct assay__require_evidence *out)
{
    struct assay__require_evidence *e = out;
    *e = (struct assay__require_evidence){
        .trial = trial, .table = table, .bound = ASSAY__BOUND_UNKNOWN, .ceiling = NAN};
    int code = assay__roofline(profile, trial, arena, &e->roofline);
    if (code) return code;
    const struct assay__roofline *r = &e->roofline;
    double sum = 0;
    for (int i = 0; i < ASSAY__BOUND_COUNT && !r->reason[0]; i++)
        sum += r->time_ns[i];
    for (int i = 0; i < ASSAY__BOUND_COUNT; i++) {
        e->share[i] = sum > 0 ? r->time_ns[i] / sum : NAN;
        if (sum > 0 && e->share[i] > e->share[e->bound]) e->bound = (enum assay__bound)i;
    }
    if (!r->reason[0] && r->peak) e->ceiling = r->peak->value;
    double p50_ns = assay__trial_value(trial, "latency.p50") * 1e9, most = 0;
    for (size_t i = 0; i < trial->layers.count; i++) {
        const struct assay__layer *layer = &trial->layers.items[i];
        if (layer->state == ASSAY_UNAVAILABLE || !(layer->time_ns > most)) continue;
        most = layer->time_ns;
        e->slowest = layer;
    }
    e->slowest_share = e->slowest && p50_ns > 0 ? most / p50_ns : NAN;
    return 0;
}

/* --- words ------------------------------------------------------------------------------------ */

/* "raise the batch (now 1; the table's is 128)" */
static void put_batch(struct assay__buf *out, const struct assay__require_evidence *e)
{
    int64_t wanted = e->table ? e->table->batch : 0, now = e->trial->batch;
    assay__buf_puts(out, "raise the batch");
    if (now > 0) assay__buf_printf(out, " (now %" PRId64, now);
    if (wanted > 0 && wanted != now)
        assay__buf_printf(out, "%s the table's is %" PRId64, now > 0 ? ";" : " (", wanted);
    if (now > 0 || (wanted > 0 && wanted != now)) assay__buf_putc(out, ')');
}

/* Followed by "raise the batch", and for some of them by more. */
static const char *const bounds[2][ASSAY__BOUND_COUNT] = {
    /* compute */
    {[ASSAY__BOUND_NEITHER] = "far below both roofs: try another number of threads, or ",
     [ASSAY__BOUND_OVERHEAD] = "overhead of layers that are too small for the device: ",
     [ASSAY__BOUND_MEMORY] = "limited by memory: ",
     [ASSAY__BOUND_COMPUTE] = "limited by compute"},
    /* bandwidth */
    {[ASSAY__BOUND_NEITHER] = "far below both roofs: try another number of threads, or ",
     [ASSAY__BOUND_OVERHEAD] = "overhead of small layers that move little data: ",
     [ASSAY__BOUND_MEMORY] =
         "limited by memory: look at how data is laid out (copies, transposes, small pieces)",
     [ASSAY__BOUND_COMPUTE] =
         "limited by compute, not by memory: a bandwidth floor suits memory-bound models"},
};

static void put_bound(struct assay__buf *out, const struct assay__require_evidence *e,
                      bool bandwidth)
{
    assay__buf_printf(out, "%.0f %% of the layers' time is %s", e->share[e->bound] * 100,
                      bounds[bandwidth][e->bound]);
}

static const char *const no_bound = "; measured ceilings would show what limits the layers";

static void advise_compute(struct assay__buf *out, const struct assay__require_evidence *e)
{
    static const char *const after[ASSAY__BOUND_COUNT] = {
        [ASSAY__BOUND_NEITHER] = "",
        [ASSAY__BOUND_OVERHEAD] = ", or fuse small nodes",
        [ASSAY__BOUND_MEMORY] =
            " to compute more per byte read, or store weights as float16 or int8",
        [ASSAY__BOUND_COMPUTE] = ", float16 or int8, or a faster device"};
    double utilization = assay__trial_value(e->trial, "compute.utilization");
    if (e->bound == ASSAY__BOUND_UNKNOWN) {
        put_batch(out, e);
        assay__buf_printf(out, " or the size of the model%s", no_bound);
        return;
    }
    put_bound(out, e, false);
    if (e->bound == ASSAY__BOUND_COMPUTE && utilization < ASSAY__REQUIRE_LOW)
        assay__buf_printf(out,
                          ", at %.0f %% of the measured ceiling: try another number of threads, ",
                          utilization * 100);
    else if (e->bound == ASSAY__BOUND_COMPUTE)
        assay__buf_puts(out, ": ");
    put_batch(out, e);
    assay__buf_puts(out, after[e->bound]);
}

static void put_slowest(struct assay__buf *out, const struct assay__require_evidence *e)
{
    if (!e->slowest || !isfinite(e->slowest_share)) {
        assay__buf_puts(out, "; layer times would show where the time goes");
        return;
    }
    assay__buf_printf(out, "; the slowest layer is %.80s (%.40s) with %.0f %% of the time",
                      assay__layer_title(e->slowest), e->slowest->op, e->slowest_share * 100);
}

static void advise_latency(struct assay__buf *out, const struct assay__require_evidence *e,
                           const struct assay__requirement *row)
{
    double p50 = assay__trial_value(e->trial, "latency.p50");
    if (row->kind == ASSAY__REQUIRE_P99 && row->value > 1.5 * p50)
        assay__buf_printf(out,
                          "p99 is %.1f × the median: single inferences are disturbed (other "
                          "processes, clocks, page faults): try a quieter machine or pinned CPUs",
                          row->value / p50);
    else if (e->trial->batch > 1)
        assay__buf_printf(
            out, "a smaller batch (now %" PRId64 ") responds faster, as may float16 or int8",
            e->trial->batch);
    else
        assay__buf_puts(out, "try another number of threads, float16 or int8, or a faster device");
    put_slowest(out, e);
}

static void advise_memory(struct assay__buf *out, const struct assay__require_evidence *e,
                          const struct assay__requirement *row)
{
    double weights = assay__trial_value(e->trial, "memory.model");
    if (weights > row->value / 2) {
        assay__buf_printf(out,
                          "weights are %.0f %% of it (%s): float16 halves them, int8 quarters them",
                          fmin(weights / row->value, 1) * 100, assay__scaled(weights, "B").text);
        return;
    }
    assay__buf_puts(out, "most of it is activations and the engine's buffers");
    if (isfinite(weights))
        assay__buf_printf(out, " (weights: %s)", assay__scaled(weights, "B").text);
    if (e->trial->batch > 1)
        assay__buf_printf(out, ": a smaller batch (now %" PRId64 ") needs less", e->trial->batch);
    else
        assay__buf_puts(out, ": 'assay memory' shows where it goes");
}

static void advise(struct assay__buf *out, const struct assay__require_evidence *e,
                   const struct assay__requirement *row)
{
    const char *threads = assay__trial_option(e->trial, "threads");
    int streams = e->trial->target.streams;
    switch (row->kind) {
    case ASSAY__REQUIRE_TFLOPS: advise_compute(out, e); break;
    case ASSAY__REQUIRE_BANDWIDTH:
        if (e->bound == ASSAY__BOUND_UNKNOWN)
            assay__buf_printf(
                out,
                "look at how data is accessed: fewer copies and transposes, contiguous layouts%s",
                no_bound);
        else
            put_bound(out, e, true);
        if (e->bound == ASSAY__BOUND_OVERHEAD || e->bound == ASSAY__BOUND_NEITHER)
            put_batch(out, e);
        break;
    case ASSAY__REQUIRE_THROUGHPUT:
        assay__buf_printf(
            out, "try more requests in flight (now %d) and another number of threads (now %s)",
            streams ? streams : 1, threads[0] ? threads : "default");
        put_slowest(out, e);
        break;
    case ASSAY__REQUIRE_P50:
    case ASSAY__REQUIRE_P99: advise_latency(out, e, row); break;
    case ASSAY__REQUIRE_MEMORY: advise_memory(out, e, row); break;
    default:
        assay__buf_puts(out, "use fewer threads or a device that draws less; energy.inference.net "
                             "shows what actually saves energy");
    }
}

/* "memory uses 83 % of what the minimum allows: …". If no program can reach it, another requirement
 * or another device is needed, not another model. If the minimum is out of reach, so is the harder
 * target. */
const char *assay__require_advice(const struct assay__require_evidence *e,
                                  struct assay__requirement *row, struct assay__arena *arena)
{
    struct assay__buf out = {0};
    bool to_minimum = row->level == ASSAY__REQUIRE_TO_MINIMUM,
         to_target = row->level == ASSAY__REQUIRE_TO_TARGET || !isfinite(row->minimum_ratio) ||
                     (row->level == ASSAY__REQUIRE_WARN && isfinite(row->target_ratio) &&
                      !(row->minimum_ratio > ASSAY__REQUIRE_LOW));
    double ratio = to_target ? row->target_ratio : row->minimum_ratio;
    assay__buf_printf(
        &out, row->info->floor ? "%s reaches %s of the %s: " : "%s uses %s of what the %s allows: ",
        row->info->label, assay__scaled(ratio, "ratio").text, to_target ? "target" : "minimum");
    if (*row->beyond && row->minimum_beyond == to_minimum)
        row->advice_limit = row->beyond;
    else if (*row->unreachable && row->minimum_unreachable == to_minimum)
        row->advice_limit = row->unreachable;
    else
        row->advice_limit = row->minimum_beyond ? row->beyond : "";
    assay__buf_puts(&out, row->advice_limit);
    if (!*row->advice_limit) advise(&out, e, row);
    const char *kept = assay__buf_keep(&out, arena);
    if (!kept) assay__arena_fail(arena);
    return kept ? kept : "";
}
