/* accelerator_rows.c - from times to ceilings. Rows are in order of importance: when the time runs
 * out, the rest say so.
 *
 *   matmul     operations ÷ time. Sizes grow from small to large while an inference stays short;
 *              the best is kept. At that size a second, shorter chain is run: 2 N³ (K − k) ÷ (t_K −
 *              min t_k) leaves out the fixed cost of an inference. Nothing is left out if that
 *              would give less, is known to be below 1 %, or the time ran out.
 *   copy       2 × bytes × (K − k) ÷ (t_K − min t_k): every operator reads the tensor and writes
 *              it. Rolling may cause more traffic than that, never less.
 *   transfers  (B − b) ÷ (t_B − min t_b) of two sizes of the tensor
 *   launch     the time itself
 *
 * Subtracting the minimum time of the smaller work leaves the largest remainder: a disturbance of
 * the smaller one cannot make the rate too high. If a step of the longer chain takes less than a
 * share of the chain's mean step, the provider has merged or dropped operators, and the row is
 * unavailable. */
#include "base/buf.h"
#include "base/text.h"
#include "ceiling/accelerator/accelerator_survey.h"

#include <math.h>
#include <string.h>

#define SMALLEST_N 256
#define LARGEST_N 16384
#define FIRST_CHAIN 4
#define CHAIN_S 0.1     /* target duration of an inference */
#define INFERENCE_S 0.4 /* a size whose two products would take longer is skipped */
#define CHAIN_MOST 60
#define STEP_SHARE_LEAST 0.5 /* of the mean step, for the matmul or copy itself */
/* The same for copies: operators merged in small groups would pass with a half. */
#define PASS_SHARE_LEAST 0.75

/* --- rows ------------------------------------------------------------------------------------- */

/* A row, and how it is measured. */
struct row_kind {
    const char *name;
    enum assay__ceiling_kind kind;
    const char *type, *level, *pattern;
    int (*measure)(struct assay__accelerator_survey *survey, const struct row_kind *kind,
                   struct assay__ceiling *row);
    enum assay__accelerator_shape shape;
    enum assay__dtype dtype;
    const char *options; /* of the CUDA provider; NULL: none */
    const char *remark;  /* matmul: on CUDA; transfers: from where to where */
};

static const char *text_of(struct assay__accelerator_survey *survey, struct assay__buf *buf)
{
    const char *text = assay__buf_keep(buf, survey->arena);
    return text ? text : "out of memory for the note";
}

static void refuse(struct assay__accelerator_survey *survey, struct assay__ceiling *row,
                   const struct assay__accelerator_times *times)
{
    row->note = *times->reason ? times->reason : "the run gave no times";
    if (times->late) survey->late = true;
}

static double at_rank(const struct assay__accelerator_times *times, size_t rank, double work,
                      double less_s)
{
    double seconds = times->samples_s[rank] - less_s;
    return work > 0 ? work / seconds : seconds;
}

/* The row from its times: work / (time − less_s); the time itself if there is no work. */
static void measured(struct assay__ceiling *row, const struct assay__accelerator_times *times,
                     double work, double less_s)
{
    size_t last = times->count - 1, middle = last / 2; /* nearest rank, times ascend */
    double fast = at_rank(times, 0, work, less_s), slow = at_rank(times, last, work, less_s);
    row->low = work > 0 ? slow : fast;
    row->high = work > 0 ? fast : slow;
    row->median = at_rank(times, middle, work, less_s);
    row->value = fast;
    row->repeats = (int)times->count;
    row->clock_before_hz = times->clock_before_hz;
    row->clock_after_hz = times->clock_after_hz;
    row->state = ASSAY_MEASURED;
    row->source = "clock";
}

/* Whether a step of the longer work, without the common cost, takes at least `share` of its mean
 * step. */
static bool grows(const struct assay__accelerator_times *longer, double steps,
                  const struct assay__accelerator_times *shorter, double fewer, double share)
{
    double own = (longer->low_s - shorter->low_s) / (steps - fewer);
    return own >= share * longer->low_s / steps;
}

/* --- launch ----------------------------------------------------------------------------------- */

static int launch_row(struct assay__accelerator_survey *survey, const struct row_kind *kind,
                      struct assay__ceiling *row)
{
    struct assay__accelerator_times times;
    struct assay__accelerator_model model = {kind->shape, kind->dtype, 1, 1, NULL};
    int code = assay__accelerator_time(survey, &model, 1e-3, &times);
    if (code) return code;
    if (!times.count) {
        refuse(survey, row, &times);
        if (!times.late) survey->fault = row->note;
        return 0;
    }
    measured(row, &times, 0, 0);
    survey->launch_s = row->value;
    row->variant = "one addition";
    row->note = assay__arena_printf(
        survey->arena, "an inference of one addition of one number, host to host; median %s",
        assay__scaled(row->median, "s").text);
    return row->note ? 0 : ASSAY_ENOMEM;
}

/* --- matmul ----------------------------------------------------------------------------------- */

struct ladder {
    struct assay__accelerator_model best;
    struct assay__accelerator_times times; /* of the best; count 0: none */
    double rate;
    int64_t fewer;                           /* products of a shorter chain of that size … */
    struct assay__accelerator_times shorter; /* … and its times; count 0: none */
    struct assay__buf tried;
    int tries;
};

static double products(const struct assay__accelerator_model *model)
{
    double n = (double)model->size;
    return 2 * n * n * n;
}

/* The next size: the largest for which a chain of two stays short and four matrices, the largest of
 * them float32, fit into an eighth of the memory; at most `most` times this one. 0: none. */
static int64_t next_size(const struct assay__accelerator_survey *survey, int64_t n,
                         double product_s, int64_t most)
{
    uint64_t memory = survey->main_memory ? survey->machine->memory_bytes : 0;
    for (int64_t times = most; times > 1; times /= 2) {
        uint64_t next = (uint64_t)(n * times);
        double product = product_s * (double)(times * times * times);
        if (next <= LARGEST_N && (!memory || 16 * next * next <= memory / 8) &&
            2 * product <= INFERENCE_S)
            return (int64_t)next;
    }
    return 0;
}

/* Increasing sizes from model.size until time or memory runs out; then back to the sizes that were
 * skipped if the rate dropped. */
static int climb(struct assay__accelerator_survey *survey, struct assay__accelerator_model model,
                 struct ladder *ladder, double about_s, const char *unit,
                 struct assay__accelerator_times *failed)
{
    bool down = false;
    for (;;) {
        struct assay__accelerator_times times;
        int code = assay__accelerator_time(survey, &model, about_s, &times);
        if (code) return code;
        if (!times.count) {
            *failed = times;
            if (times.late) survey->late = true;
            if (ladder->tries)
                assay__buf_printf(&ladder->tried, "; N=%lld: %s", (long long)model.size,
                                  times.reason);
            return 0;
        }
        double product_s = times.low_s / (double)model.length;
        double rate = products(&model) / product_s;
        assay__buf_printf(&ladder->tried, "%sN=%lld: %s", ladder->tries++ ? ", " : "",
                          (long long)model.size, assay__scaled(rate, unit).text);
        if (rate > ladder->rate) {
            ladder->best = model;
            ladder->times = times;
            ladder->rate = rate;
        }
        /* the first, small one says little about a fast device: large steps are allowed after it */
        int64_t next = down || rate < 0.9 * ladder->rate
                           ? model.size / 2
                           : next_size(survey, model.size, product_s, model.size < 1024 ? 8 : 4);
        down = down || next < model.size;
        if (!next || (down && next <= ladder->best.size)) return 0;
        double ratio = (double)next / (double)model.size;
        product_s *= ratio * ratio * ratio;
        model.size = next;
        model.length = (int64_t)fmax(2, fmin(CHAIN_S / product_s, CHAIN_MOST));
        about_s = product_s * (double)model.length;
    }
}

static bool chain_grows(const struct ladder *ladder)
{
    return grows(&ladder->times, (double)ladder->best.length, &ladder->shorter,
                 (double)ladder->fewer, STEP_SHARE_LEAST);
}

/* The chain of that size with a quarter of the products; repeated if the first was disturbed so
 * much that it took as long as the longer one. */
static int run_shorter(struct assay__accelerator_survey *survey, struct ladder *ladder)
{
    struct assay__accelerator_model model = ladder->best;
    int code = 0;
    model.length = ladder->fewer = model.length >= 4 ? model.length / 4 : 1;
    for (int attempt = 0; attempt < 2 && !code; attempt++) {
        double share = (double)model.length / (double)ladder->best.length;
        code = assay__accelerator_time(survey, &model, ladder->times.low_s * share,
                                       &ladder->shorter);
        if (ladder->shorter.late) survey->late = true;
        if (!ladder->shorter.count || chain_grows(ladder)) break;
    }
    return code;
}

/* Without the products: where the line through both chains reaches zero products. */
static void learn(struct assay__accelerator_survey *survey, const struct ladder *ladder)
{
    double length = (double)ladder->best.length, long_s = ladder->times.low_s;
    if (survey->matmul_n) return;
    survey->matmul_n = ladder->best.size;
    survey->matmul_s = long_s / length;
    if (!ladder->shorter.count) return;
    double product_s = (long_s - ladder->shorter.low_s) / (length - (double)ladder->fewer);
    survey->fixed_s = fmax(0, long_s - length * product_s);
}

/* The row from the best of the sizes and, if needed and there is time, a shorter chain of that
 * size. */
static int fill_row_from_best(struct assay__accelerator_survey *survey, struct assay__ceiling *row,
                              struct ladder *ladder, const char *remark)
{
    const struct assay__accelerator_times *shorter = &ladder->shorter;
    long long n = (long long)ladder->best.size, length = (long long)ladder->best.length;
    struct assay__buf note = {0};
    /* What the first type has shown: the cost of its inference besides the products, which grows
     * with the matrices. If it is below 1 % of this type's time, the shorter chain is skipped. int8
     * has another form of model. */
    double ratio = (double)n / (double)survey->matmul_n;
    bool small = ladder->best.shape == ASSAY__SHAPE_MATMUL && survey->matmul_n > 0 &&
                 survey->fixed_s * ratio * ratio < 0.01 * ladder->times.low_s;
    int code = small ? 0 : run_shorter(survey, ladder);
    if (code) return code;
    long long fewer = (long long)ladder->fewer;
    if (shorter->count && !chain_grows(ladder)) {
        row->note = assay__arena_printf(
            survey->arena,
            "the time does not grow with the work: N=%lld, %lld products %.3g ms, %lld products "
            "%.3g ms",
            n, length, ladder->times.low_s * 1e3, fewer, shorter->low_s * 1e3);
        return row->note ? 0 : ASSAY_ENOMEM;
    }
    learn(survey, ladder);
    double whole = products(&ladder->best) * (double)length, long_s = ladder->times.low_s;
    double extra = products(&ladder->best) * (double)(length - fewer);
    if (shorter->count && extra / (long_s - shorter->low_s) > whole / long_s) {
        measured(row, &ladder->times, extra, shorter->low_s);
        assay__buf_printf(
            &note, "2 N^3 (K-k) / (time of K products - shortest of k), N=%lld, K=%lld, k=%lld", n,
            length, fewer);
    } else {
        measured(row, &ladder->times, whole, 0);
        assay__buf_printf(&note, "2 N^3 K / time, N=%lld, K=%lld%s", n, length,
                          shorter->count ? ""
                          : small        ? "; the fixed cost of an inference is below 1 %"
                                         : "; the fixed cost of an inference is included");
    }
    if (ladder->tries > 1) assay__buf_printf(&note, "; whole chains: %s", ladder->tried.data);
    if (remark) assay__buf_printf(&note, "; %s", remark);
    row->note = text_of(survey, &note);
    row->variant = assay__arena_printf(survey->arena, "N=%lld", n);
    return row->variant ? 0 : ASSAY_ENOMEM;
}

static int matmul_row(struct assay__accelerator_survey *survey, const struct row_kind *kind,
                      struct assay__ceiling *row)
{
    struct assay__accelerator_times failed = {.reason = ""};
    struct ladder ladder = {.shorter = {.reason = ""}};
    const char *device = survey->accelerator->device;
    bool cuda = strncmp(device, "cuda", 4) == 0, tensorrt = strncmp(device, "tensorrt", 8) == 0;
    const char *remark = cuda ? kind->remark : NULL;
    if (tensorrt && kind->dtype == ASSAY__FLOAT32) remark = "the provider may compute in TF32";
    int64_t first = survey->matmul_n > SMALLEST_N ? survey->matmul_n / 2 : SMALLEST_N;
    struct assay__accelerator_model model = {kind->shape, kind->dtype, first, FIRST_CHAIN,
                                             cuda ? kind->options : NULL};
    /* half the size of the first type's best */
    double about_s = survey->matmul_s / 8 * FIRST_CHAIN;
    int code = climb(survey, model, &ladder, model.size > SMALLEST_N ? about_s : NAN, row->unit,
                     &failed);
    if (!code && ladder.times.count) code = fill_row_from_best(survey, row, &ladder, remark);
    if (!code && !ladder.times.count) {
        refuse(survey, row, &failed);
        if (kind->dtype == ASSAY__FLOAT32 && survey->fault && !failed.late)
            survey->fault = row->note;
    }
    if (!code && row->state == ASSAY_MEASURED) survey->fault = NULL;
    assay__buf_free(&ladder.tried);
    return code;
}

/* --- copies in the device's memory ------------------------------------------------------------ */

#define COPY_FIRST ((int64_t)4 << 20) /* elements of float32: 16 MiB */
#define COPY_SLOW ((int64_t)16 << 20)
#define COPY_FAST ((int64_t)256 << 20) /* 1 GiB: far beyond any cache */
#define COPY_LONG 10
#define COPY_SHORT 2

/* Elements of the tensor, from the maximum time of one pass over COPY_FIRST. */
static int64_t copy_size(const struct assay__accelerator_survey *survey, double pass_s)
{
    const struct assay__machine *machine = survey->machine;
    if (!survey->main_memory)
        return pass_s < 1e-3 ? COPY_FAST : pass_s < 8e-3 ? COPY_SLOW : COPY_FIRST;
    uint64_t bytes = machine->l3_bytes > 16 << 20 ? 4 * machine->l3_bytes : 64 << 20;
    if (machine->memory_bytes && bytes > machine->memory_bytes / 16)
        bytes = machine->memory_bytes / 16;
    double pass = pass_s * (double)bytes / (4.0 * (double)COPY_FIRST);
    if (pass * COPY_LONG > 1) return COPY_SLOW;
    return (int64_t)(bytes / 4096 * 1024);
}

struct copy {
    const char *name;
    enum assay__accelerator_shape shape;
    struct assay__accelerator_times longer, shorter;
    int64_t elements;
};

/* Both lengths at one size; if a size does not work, a smaller one is tried. */
static int copy_times(struct assay__accelerator_survey *survey, struct copy *copy)
{
    struct assay__accelerator_model model = {copy->shape, ASSAY__FLOAT32, COPY_FIRST, COPY_SHORT,
                                             NULL};
    struct assay__accelerator_times first;
    copy->longer = (struct assay__accelerator_times){.reason = ""};
    int code = assay__accelerator_time(survey, &model, NAN, &first);
    copy->shorter = first;
    if (code || !first.count) return code;
    double pass_s = first.low_s / COPY_SHORT;
    model.size = copy_size(survey, pass_s);
    for (;;) {
        double scale = (double)model.size / (double)COPY_FIRST;
        model.length = COPY_LONG;
        code = assay__accelerator_time(survey, &model, pass_s * scale * COPY_LONG, &copy->longer);
        if (code || copy->longer.count || copy->longer.late || model.size <= COPY_FIRST) break;
        model.size = model.size > COPY_SLOW ? COPY_SLOW : COPY_FIRST;
    }
    copy->elements = model.size;
    if (code || !copy->longer.count || model.size == COPY_FIRST) return code;
    model.length = COPY_SHORT;
    return assay__accelerator_time(survey, &model,
                                   pass_s * COPY_SHORT * (double)model.size / (double)COPY_FIRST,
                                   &copy->shorter);
}

/* Turns the times into the row, or explains in `why` what is wrong with them. */
static bool copy_settle(struct assay__accelerator_survey *survey, struct assay__ceiling *row,
                        const struct copy *copy, struct assay__buf *why)
{
    const struct assay__accelerator_times *longer = &copy->longer, *shorter = &copy->shorter;
    const char *comma = why->length ? "; " : "";
    if (!shorter->count || !longer->count) {
        const struct assay__accelerator_times *bad = !shorter->count ? shorter : longer;
        if (bad->late) survey->late = true;
        if (bad->late && !why->length)
            assay__buf_puts(why, bad->reason);
        else
            assay__buf_printf(why, "%s%s: %s", comma, copy->name, bad->reason);
        return false;
    }
    if (!grows(longer, COPY_LONG, shorter, COPY_SHORT, PASS_SHARE_LEAST)) {
        assay__buf_printf(why, "%s%s: %d operators take %.3g ms, %d take %.3g ms: they are merged",
                          comma, copy->name, COPY_LONG, longer->low_s * 1e3, COPY_SHORT,
                          shorter->low_s * 1e3);
        return false;
    }
    double bytes = 4.0 * (double)copy->elements;
    measured(row, longer, 2 * bytes * (COPY_LONG - COPY_SHORT), shorter->low_s);
    row->variant = copy->name;
    row->working_set_bytes = (int64_t)(2 * bytes);
    return true;
}

static int copy_row(struct assay__accelerator_survey *survey, const struct row_kind *kind,
                    struct assay__ceiling *row)
{
    struct copy copies[] = {
        {.name = "negation", .shape = ASSAY__SHAPE_COPY_NEGATE},
        {.name = "rolling", .shape = ASSAY__SHAPE_COPY_ROLL},
    };
    struct assay__buf why = {0};
    int code = 0;
    (void)kind;
    for (size_t i = 0; !code && i < 2 && row->state == ASSAY_UNAVAILABLE; i++) {
        code = copy_times(survey, &copies[i]);
        if (code) break;
        if (!copy_settle(survey, row, &copies[i], &why)) {
            if (copies[i].shorter.late || copies[i].longer.late) break;
            continue;
        }
        row->note = assay__arena_printf(
            survey->arena,
            "%s of %lld MiB, minimum traffic: 2 × bytes × (%d-%d) / (time of %d operators - "
            "shortest of %d)%s%s",
            copies[i].name, (long long)(copies[i].elements >> 18), COPY_LONG, COPY_SHORT, COPY_LONG,
            COPY_SHORT, why.length ? "; not kept: " : "", why.length ? why.data : "");
        if (!row->note) code = ASSAY_ENOMEM;
    }
    if (row->state == ASSAY_UNAVAILABLE) row->note = text_of(survey, &why);
    assay__buf_free(&why);
    return code;
}

/* --- transfers -------------------------------------------------------------------------------- */

#define TRANSFER_SMALL ((int64_t)4 << 20) /* elements of float32: 16 MiB */
#define TRANSFER_FIRST ((int64_t)16 << 20)
#define TRANSFER_LARGE ((int64_t)64 << 20)
#define TRANSFER_QUICK_S 0.1 /* if a first transfer takes less, the larger one is worthwhile */

static int transfer_times(struct assay__accelerator_survey *survey,
                          enum assay__accelerator_shape shape,
                          struct assay__accelerator_times *small,
                          struct assay__accelerator_times *large, int64_t *less, int64_t *more)
{
    struct assay__accelerator_model model = {shape, ASSAY__FLOAT32, TRANSFER_FIRST, 1, NULL};
    struct assay__accelerator_times first;
    *less = *more = TRANSFER_FIRST;
    int code = assay__accelerator_time(survey, &model, NAN, &first);
    *small = *large = first;
    if (code || (!first.count && first.late)) return code;
    if (first.count && first.low_s < TRANSFER_QUICK_S) {
        model.size = *more = TRANSFER_LARGE;
        code = assay__accelerator_time(survey, &model, 4 * first.low_s, large);
        if (code || large->count || large->late) return code;
        *large = first; /* too large: continue with the other direction */
        *more = TRANSFER_FIRST;
    }
    model.size = *less = TRANSFER_SMALL;
    code = assay__accelerator_time(survey, &model, first.count ? first.low_s / 4 : NAN, small);
    if (code || first.count || !small->count) return code;
    *large = *small;
    *more = TRANSFER_SMALL;
    model.size = *less = TRANSFER_SMALL / 4;
    return assay__accelerator_time(survey, &model, NAN, small);
}

static int transfer_row(struct assay__accelerator_survey *survey, const struct row_kind *kind,
                        struct assay__ceiling *row)
{
    int64_t less, more;
    struct assay__accelerator_times small, large;
    if (survey->main_memory) {
        row->note = "the device uses main memory: nothing is transferred";
        return 0;
    }
    int code = transfer_times(survey, kind->shape, &small, &large, &less, &more);
    if (code) return code;
    if (!small.count || !large.count) {
        refuse(survey, row, small.count ? &large : &small);
        return 0;
    }
    if (!grows(&large, (double)more, &small, (double)less, STEP_SHARE_LEAST)) {
        row->note = assay__arena_printf(
            survey->arena,
            "the time does not grow with the tensor: %lld MiB %.3g ms, %lld MiB %.3g ms",
            (long long)(more >> 18), large.low_s * 1e3, (long long)(less >> 18), small.low_s * 1e3);
        return row->note ? 0 : ASSAY_ENOMEM;
    }
    measured(row, &large, 4.0 * (double)(more - less), small.low_s);
    row->working_set_bytes = 4 * more;
    row->variant = "as the engine does it";
    row->note = assay__arena_printf(survey->arena,
                                    "%s, as the engine does it: (%lld-%lld) MiB / (time of the "
                                    "larger - shortest of the smaller)",
                                    kind->remark, (long long)(more >> 18), (long long)(less >> 18));
    return row->note ? 0 : ASSAY_ENOMEM;
}

/* --- all of them ------------------------------------------------------------------------------ */

#define TF32 "tf32"
static const struct row_kind kinds[] = {
    {"latency.launch", ASSAY__CEILING_LATENCY, "", "launch", "", launch_row, ASSAY__SHAPE_LAUNCH,
     ASSAY__FLOAT32, NULL, NULL},
    {"compute.float32.matmul", ASSAY__CEILING_COMPUTE, "float32", "", "matmul", matmul_row,
     ASSAY__SHAPE_MATMUL, ASSAY__FLOAT32, "use_tf32=0", "TF32 switched off"},
    {"compute.float16.matmul", ASSAY__CEILING_COMPUTE, "float16", "", "matmul", matmul_row,
     ASSAY__SHAPE_MATMUL, ASSAY__FLOAT16, NULL, NULL},
    {"bandwidth.device.copy", ASSAY__CEILING_BANDWIDTH, "", "device", "copy", copy_row,
     ASSAY__SHAPE_COPY_NEGATE, ASSAY__FLOAT32, NULL, NULL},
    {"bandwidth.transfer.in", ASSAY__CEILING_BANDWIDTH, "", "transfer", "in", transfer_row,
     ASSAY__SHAPE_TRANSFER_IN, ASSAY__FLOAT32, NULL, "from the host's memory to the device"},
    {"bandwidth.transfer.out", ASSAY__CEILING_BANDWIDTH, "", "transfer", "out", transfer_row,
     ASSAY__SHAPE_TRANSFER_OUT, ASSAY__FLOAT32, NULL, "from the device to the host's memory"},
    {"compute.tf32.matmul", ASSAY__CEILING_COMPUTE, TF32, "", "matmul", matmul_row,
     ASSAY__SHAPE_MATMUL, ASSAY__FLOAT32, "use_tf32=1",
     "float32 operands, rounded to 19 bits by the provider: its default"},
    {"compute.bfloat16.matmul", ASSAY__CEILING_COMPUTE, "bfloat16", "", "matmul", matmul_row,
     ASSAY__SHAPE_MATMUL, ASSAY__BFLOAT16, NULL, NULL},
    {"compute.int8.matmul", ASSAY__CEILING_COMPUTE, "int8", "", "matmul", matmul_row,
     ASSAY__SHAPE_MATMUL_INTEGER, ASSAY__INT8, NULL, NULL},
};

int assay__accelerator_rows(struct assay__accelerator_survey *survey)
{
    bool cuda = strncmp(survey->accelerator->device, "cuda", 4) == 0;
    int code = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && !code; i++) {
        const struct row_kind *kind = &kinds[i];
        if (!cuda && strcmp(kind->type, TF32) == 0) continue;
        const struct assay__ceiling what = {.name = kind->name,
                                            .kind = kind->kind,
                                            .type = kind->type,
                                            .level = kind->level,
                                            .pattern = kind->pattern};
        struct assay__ceiling *row = assay__ceiling_row(&survey->rows, survey->options, &what,
                                                        &code);
        if (!row) continue;          /* an error ends the loop */
        if (survey->fault && i >= 2) /* neither a launch nor a float32 matmul worked */
            row->note = assay__arena_text(survey->arena, "no model runs on it: %s", survey->fault);
        else
            code = kind->measure(survey, kind, row);
    }
    return code;
}
