/* accelerator_rows.c - from times to ceilings. Rows in order of importance: when the time is over,
 * the rest say so.
 *
 *   matmul     operations ÷ time. Sizes grow from small to large while an inference stays short;
 *              the best is kept. At that size a
 *              second, shorter chain is run: 2 N³ (K − k) ÷ (t_K − min t_k) leaves out what an
 *                inference costs besides
 *              its products. Nothing is left out when that would give less, is known to be below 1
 *                %, or the time was over.
 *   copy       2 × bytes × (K − k) ÷ (t_K − min t_k): every operator reads the tensor and writes
 *              it. Rolling may be done with
 *              more traffic than that, never with less.
 *   transfers  (B − b) ÷ (t_B − min t_b) of two sizes of the tensor
 *   launch     the time itself
 *
 * Subtracting the shortest time of the lesser work makes the rest longer: such a rate is never too
 * high because the lesser one was disturbed. Work that does not take its time is no measurement:
 * where a step of the longer chain takes less than a share of the chain's mean step, the provider
 * has merged or left out operators, and the row is unavailable. */
#include "base/buf.h"
#include "base/text.h"
#include "base/vec.h"
#include "ceiling/accelerator/accelerator_survey.h"

#include <math.h>
#include <string.h>

#define SMALLEST_N 256
#define LARGEST_N 16384
#define FIRST_CHAIN 4
#define CHAIN_S 0.1     /* an inference's length that is aimed at */
#define INFERENCE_S 0.4 /* a size whose two products would take longer is left out */
#define CHAIN_MOST 60
#define STEP_SHARE_LEAST 0.5 /* of the mean step: what a matmul's or a byte's own must take */
#define PASS_SHARE_LEAST \
    0.75 /* the same for copies: operators merged in groups of a few would pass a half */

/* --- rows ------------------------------------------------------------------------------------- */

/* NULL: not wanted (*code 0), interrupted or out of memory. */
static struct assay__ceiling *add_row(struct assay__accelerator_survey *survey,
                                      const struct assay__ceiling *what, int *code)
{
    const struct assay__ceiling_options *options = survey->options;
    *code = 0;
    if (options->only && strncmp(what->name, options->only, strlen(options->only)) != 0)
        return NULL;
    *code = ASSAY_ENOMEM;
    if (assay__vec_grow((void **)&survey->rows, &survey->capacity, survey->count + 1,
                        sizeof *survey->rows))
        return NULL;
    if (options->progress && options->progress(options->context, what->name)) {
        *code = ASSAY_EINTERRUPTED;
        return NULL;
    }
    struct assay__ceiling *row = &survey->rows[survey->count++];
    *row = *what;
    row->unit = what->kind == ASSAY__CEILING_LATENCY        ? "s"
                : what->kind == ASSAY__CEILING_BANDWIDTH    ? "B/s"
                : what->type && !strcmp(what->type, "int8") ? "OP/s"
                                                            : "FLOP/s";
    row->state = ASSAY_UNAVAILABLE;
    row->source = "none";
    row->note = row->simd = row->variant = "";
    row->type = what->type ? what->type : "";
    row->level = what->level ? what->level : "";
    row->pattern = what->pattern ? what->pattern : "";
    row->value = row->low = row->median = row->high = NAN;
    row->clock_before_hz = row->clock_after_hz = NAN;
    *code = 0;
    return row;
}

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

/* The row from its times: work / (time − less_s); the time itself where there is no work. */
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

/* Is a step of the longer work, without what both cost, at least `share` of its mean step? */
static bool grows(const struct assay__accelerator_times *longer, double steps,
                  const struct assay__accelerator_times *shorter, double fewer, double share)
{
    double own = (longer->low_s - shorter->low_s) / (steps - fewer);
    return own >= share * longer->low_s / steps;
}

static void add_value(struct assay__buf *buf, double value, const char *unit)
{
    char text[64];
    assay__text_scaled(text, sizeof text, value, unit);
    assay__buf_puts(buf, text);
}

/* --- launch ----------------------------------------------------------------------------------- */

static int launch_row(struct assay__accelerator_survey *survey)
{
    int code;
    struct assay__accelerator_times times;
    struct assay__ceiling *row = add_row(survey,
                                         &(struct assay__ceiling){.name = "latency.launch",
                                                                  .kind = ASSAY__CEILING_LATENCY,
                                                                  .level = "launch"},
                                         &code);
    if (!row) return code;
    struct assay__accelerator_model model = {ASSAY__SHAPE_LAUNCH, ASSAY__FLOAT32, 1, 1, NULL};
    code = assay__accelerator_time(survey, &model, 1e-3, &times);
    if (code) return code;
    if (!times.count) {
        refuse(survey, row, &times);
        if (!times.late) survey->fault = row->note;
        return 0;
    }
    measured(row, &times, 0, 0);
    survey->launch_s = row->value;
    row->variant = "one addition";
    struct assay__buf note = {0};
    assay__buf_puts(&note, "an inference of one addition of one number, host to host; median ");
    add_value(&note, row->median, "s");
    row->note = text_of(survey, &note);
    return 0;
}

/* --- matmul ----------------------------------------------------------------------------------- */

struct ladder {
    struct assay__accelerator_model best;
    struct assay__accelerator_times times; /* of the best; count 0: none */
    double rate;
    struct assay__buf tried;
    int tries;
};

static double products(const struct assay__accelerator_model *model)
{
    double n = (double)model->size;
    return 2 * n * n * n;
}

/* Four matrices at a time, the largest of them float32. */
static bool fits(const struct assay__accelerator_survey *survey, int64_t n)
{
    if (!survey->main_memory || !survey->machine->memory_bytes) return true;
    return 16 * (uint64_t)n * (uint64_t)n <= survey->machine->memory_bytes / 8;
}

/* The next size: the largest whose chain of two stays short; at most `most` times this one. 0:
 * none. */
static int64_t next_size(const struct assay__accelerator_survey *survey, int64_t n,
                         double product_s, int64_t most)
{
    for (int64_t times = most; times > 1; times /= 2) {
        double product = product_s * (double)(times * times * times);
        if (n * times <= LARGEST_N && fits(survey, n * times) && 2 * product <= INFERENCE_S)
            return n * times;
    }
    return 0;
}

static int64_t chain_of(double product_s)
{
    double length = CHAIN_S / product_s;
    return length < 2 ? 2 : length > CHAIN_MOST ? CHAIN_MOST : (int64_t)length;
}

/* Sizes upward from model.size until time or memory says stop; down again to what was passed over
 * when more became less. */
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
        assay__buf_printf(&ladder->tried, "%sN=%lld: ", ladder->tries ? ", " : "",
                          (long long)model.size);
        add_value(&ladder->tried, rate, unit);
        ladder->tries++;
        if (rate > ladder->rate) {
            ladder->best = model;
            ladder->times = times;
            ladder->rate = rate;
        }
        /* the first, small one says little about a fast device: far steps are allowed from it */
        int64_t next = down || rate < 0.9 * ladder->rate
                           ? model.size / 2
                           : next_size(survey, model.size, product_s, model.size < 1024 ? 8 : 4);
        down = down || next < model.size;
        if (!next || (down && next <= ladder->best.size)) return 0;
        double ratio = (double)next / (double)model.size;
        product_s *= ratio * ratio * ratio;
        model.size = next;
        model.length = chain_of(product_s);
        about_s = product_s * (double)model.length;
    }
}

static bool chain_grows(const struct ladder *ladder, const struct assay__accelerator_model *shorter,
                        const struct assay__accelerator_times *times)
{
    return grows(&ladder->times, (double)ladder->best.length, times, (double)shorter->length,
                 STEP_SHARE_LEAST);
}

/* The chain of that size with a quarter of the products; once more when the first was disturbed so
 * much that it took as long as the longer one. */
static int shorter_times(struct assay__accelerator_survey *survey, const struct ladder *ladder,
                         struct assay__accelerator_model *shorter,
                         struct assay__accelerator_times *times)
{
    int64_t length = ladder->best.length;
    int code = 0;
    *shorter = ladder->best;
    shorter->length = length >= 4 ? length / 4 : 1;
    for (int attempt = 0; attempt < 2 && !code; attempt++) {
        double share = (double)shorter->length / (double)length;
        code = assay__accelerator_time(survey, shorter, ladder->times.low_s * share, times);
        if (times->late) survey->late = true;
        if (!times->count || chain_grows(ladder, shorter, times)) break;
    }
    return code;
}

/* What the first type has shown: its inference's cost besides the products, which grows with the
 * matrices. Below 1 % of this type's time the shorter chain is left out. int8 has another form of
 * model. */
static bool fixed_is_small(const struct assay__accelerator_survey *survey,
                           const struct ladder *ladder)
{
    double ratio = (double)ladder->best.size / (double)survey->matmul_n;
    return ladder->best.shape == ASSAY__SHAPE_MATMUL && survey->matmul_n > 0 &&
           survey->fixed_s * ratio * ratio < 0.01 * ladder->times.low_s;
}

/* Without the products: where the line through both chains meets no product at all. */
static void learn(struct assay__accelerator_survey *survey, const struct ladder *ladder,
                  const struct assay__accelerator_model *shorter,
                  const struct assay__accelerator_times *times)
{
    double length = (double)ladder->best.length, fewer = (double)shorter->length;
    if (survey->matmul_n) return;
    survey->matmul_n = ladder->best.size;
    survey->matmul_s = ladder->times.low_s / length;
    if (!times->count) return;
    double product_s = (ladder->times.low_s - times->low_s) / (length - fewer);
    double fixed_s = ladder->times.low_s - length * product_s;
    survey->fixed_s = fixed_s > 0 ? fixed_s : 0;
}

static int merged(struct assay__accelerator_survey *survey, struct assay__ceiling *row,
                  const struct ladder *ladder, const struct assay__accelerator_model *shorter,
                  const struct assay__accelerator_times *times)
{
    row->note = assay__arena_printf(
        survey->arena,
        "the time does not grow with the work: N=%lld, %lld products %.3g ms, %lld products "
        "%.3g ms",
        (long long)ladder->best.size, (long long)ladder->best.length, ladder->times.low_s * 1e3,
        (long long)shorter->length, times->low_s * 1e3);
    return row->note ? 0 : ASSAY_ENOMEM;
}

/* The row from the best of the sizes and, when there is need and time, a shorter chain of that
 * size. */
static int fill_row_from_best(struct assay__accelerator_survey *survey, struct assay__ceiling *row,
                              const struct ladder *ladder, const char *remark)
{
    long long n = (long long)ladder->best.size, length = (long long)ladder->best.length;
    struct assay__accelerator_model shorter = ladder->best;
    struct assay__accelerator_times times = {.reason = ""};
    struct assay__buf note = {0};
    bool small = fixed_is_small(survey, ladder);
    int code = small ? 0 : shorter_times(survey, ladder, &shorter, &times);
    if (code) return code;
    if (times.count && !chain_grows(ladder, &shorter, &times))
        return merged(survey, row, ladder, &shorter, &times);
    learn(survey, ladder, &shorter, &times);
    double whole = products(&shorter) * (double)length;
    double extra = products(&shorter) * (double)(length - shorter.length);
    if (times.count && extra / (ladder->times.low_s - times.low_s) > whole / ladder->times.low_s) {
        measured(row, &ladder->times, extra, times.low_s);
        assay__buf_printf(
            &note, "2 N^3 (K-k) / (time of K products - shortest of k), N=%lld, K=%lld, k=%lld", n,
            length, (long long)shorter.length);
    } else {
        measured(row, &ladder->times, whole, 0);
        assay__buf_printf(&note, "2 N^3 K / time, N=%lld, K=%lld%s", n, length,
                          times.count ? ""
                          : small     ? "; what an inference costs besides is below 1 %"
                                      : "; what an inference costs besides is counted in");
    }
    if (ladder->tries > 1) assay__buf_printf(&note, "; whole chains: %s", ladder->tried.data);
    if (remark) assay__buf_printf(&note, "; %s", remark);
    row->note = text_of(survey, &note);
    row->variant = assay__arena_printf(survey->arena, "N=%lld", n);
    return row->variant ? 0 : ASSAY_ENOMEM;
}

struct matmul_kind {
    const char *name, *type;
    enum assay__dtype dtype;
    enum assay__accelerator_shape shape;
    const char *options; /* of the CUDA provider; NULL: none */
    const char *remark;  /* on CUDA */
};

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static int matmul_row(struct assay__accelerator_survey *survey, const struct matmul_kind *kind)
{
    const char *device = survey->accelerator->device;
    int code;
    struct assay__accelerator_times failed = {.reason = ""};
    struct ladder ladder = {.rate = 0};
    struct assay__ceiling *row = add_row(survey,
                                         &(struct assay__ceiling){.name = kind->name,
                                                                  .kind = ASSAY__CEILING_COMPUTE,
                                                                  .type = kind->type,
                                                                  .pattern = "matmul"},
                                         &code);
    if (!row) return code;
    bool cuda = starts(device, "cuda"), tensorrt = starts(device, "tensorrt");
    const char *remark = cuda ? kind->remark : NULL;
    if (tensorrt && kind->dtype == ASSAY__FLOAT32) remark = "the provider may compute in TF32";
    struct assay__accelerator_model model = {
        .shape = kind->shape,
        .dtype = kind->dtype,
        .size = survey->matmul_n > SMALLEST_N ? survey->matmul_n / 2 : SMALLEST_N,
        .length = FIRST_CHAIN,
        .options = cuda ? kind->options : NULL,
    };
    double about_s = survey->matmul_s / 8 *
                     FIRST_CHAIN; /* half the size of the first type's best */
    code = climb(survey, model, &ladder, model.size > SMALLEST_N ? about_s : NAN, row->unit,
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

/* Elements of the tensor, from what one pass over COPY_FIRST took at most. */
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

/* Both lengths at one size; a size that does not work is taken smaller. */
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

/* Turns the times into the row, or says in `why` what was wrong with them. */
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
    row->working_set_bytes = (uint64_t)(2 * bytes);
    return true;
}

static int copy_row(struct assay__accelerator_survey *survey)
{
    struct copy copies[] = {
        {.name = "negation", .shape = ASSAY__SHAPE_COPY_NEGATE},
        {.name = "rolling", .shape = ASSAY__SHAPE_COPY_ROLL},
    };
    struct assay__buf why = {0};
    int code;
    struct assay__ceiling *row = add_row(survey,
                                         &(struct assay__ceiling){.name = "bandwidth.device.copy",
                                                                  .kind = ASSAY__CEILING_BANDWIDTH,
                                                                  .level = "device",
                                                                  .pattern = "copy"},
                                         &code);
    for (size_t i = 0; row && !code && i < 2 && row->state == ASSAY_UNAVAILABLE; i++) {
        code = copy_times(survey, &copies[i]);
        if (code) break;
        if (!copy_settle(survey, row, &copies[i], &why)) {
            if (copies[i].shorter.late || copies[i].longer.late) break;
            continue;
        }
        row->note = assay__arena_printf(
            survey->arena,
            "%s of %lld MiB, what it reads and writes at least: 2 × bytes × (%d-%d) / (time of %d "
            "operators - shortest of %d)%s%s",
            copies[i].name, (long long)(copies[i].elements >> 18), COPY_LONG, COPY_SHORT, COPY_LONG,
            COPY_SHORT, why.length ? "; not kept: " : "", why.length ? why.data : "");
        if (!row->note) code = ASSAY_ENOMEM;
    }
    if (row && row->state == ASSAY_UNAVAILABLE) {
        row->note = text_of(survey, &why);
        return code;
    }
    assay__buf_free(&why);
    return code;
}

/* --- transfers -------------------------------------------------------------------------------- */

#define TRANSFER_SMALL ((int64_t)4 << 20) /* elements of float32: 16 MiB */
#define TRANSFER_FIRST ((int64_t)16 << 20)
#define TRANSFER_LARGE ((int64_t)64 << 20)
#define TRANSFER_QUICK_S 0.1 /* a first transfer within this makes the larger one worth while */

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
        *large = first; /* too large for it: the other way then */
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

static int transfer_row(struct assay__accelerator_survey *survey, const char *name,
                        const char *pattern, enum assay__accelerator_shape shape, const char *how)
{
    int code;
    int64_t less, more;
    struct assay__accelerator_times small, large;
    struct assay__ceiling *row = add_row(survey,
                                         &(struct assay__ceiling){.name = name,
                                                                  .kind = ASSAY__CEILING_BANDWIDTH,
                                                                  .level = "transfer",
                                                                  .pattern = pattern},
                                         &code);
    if (!row) return code;
    if (survey->main_memory) {
        row->note = "the device works in main memory: nothing is transferred";
        return 0;
    }
    code = transfer_times(survey, shape, &small, &large, &less, &more);
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
    row->working_set_bytes = 4 * (uint64_t)more;
    row->variant = "as the engine does it";
    row->note = assay__arena_printf(survey->arena,
                                    "%s, as the engine does it: (%lld-%lld) MiB / (time of the "
                                    "larger - shortest of the smaller)",
                                    how, (long long)(more >> 18), (long long)(less >> 18));
    return row->note ? 0 : ASSAY_ENOMEM;
}

/* --- all of them ------------------------------------------------------------------------------ */

/* A row that is not tried because nothing runs. */
static int faulty_row(struct assay__accelerator_survey *survey, const struct assay__ceiling *what)
{
    int code;
    struct assay__ceiling *row = add_row(survey, what, &code);
    if (!row) return code;
    row->note = assay__arena_printf(survey->arena, "no model runs on it: %s", survey->fault);
    return row->note ? 0 : ASSAY_ENOMEM;
}

enum { FLOAT32, FLOAT16, TF32, BFLOAT16, INT8 };
static const struct matmul_kind kinds[] = {
    {"compute.float32.matmul", "float32", ASSAY__FLOAT32, ASSAY__SHAPE_MATMUL, "use_tf32=0",
     "TF32 switched off"},
    {"compute.float16.matmul", "float16", ASSAY__FLOAT16, ASSAY__SHAPE_MATMUL, NULL, NULL},
    {"compute.tf32.matmul", "tf32", ASSAY__FLOAT32, ASSAY__SHAPE_MATMUL, "use_tf32=1",
     "float32 operands, rounded to 19 bits by the provider: its default"},
    {"compute.bfloat16.matmul", "bfloat16", ASSAY__BFLOAT16, ASSAY__SHAPE_MATMUL, NULL, NULL},
    {"compute.int8.matmul", "int8", ASSAY__INT8, ASSAY__SHAPE_MATMUL_INTEGER, NULL, NULL},
};

/* What follows when neither a launch nor a float32 matmul works: each row with that reason. */
static int faulty_rows(struct assay__accelerator_survey *survey)
{
    static const struct {
        const char *name, *level, *pattern;
    } bands[] = {{"bandwidth.device.copy", "device", "copy"},
                 {"bandwidth.transfer.in", "transfer", "in"},
                 {"bandwidth.transfer.out", "transfer", "out"}};
    int code = 0;
    for (size_t i = FLOAT16; i <= INT8 && !code; i++)
        if (i != TF32 || starts(survey->accelerator->device, "cuda"))
            code = faulty_row(survey, &(struct assay__ceiling){.name = kinds[i].name,
                                                               .kind = ASSAY__CEILING_COMPUTE,
                                                               .type = kinds[i].type,
                                                               .pattern = "matmul"});
    for (size_t i = 0; i < sizeof bands / sizeof bands[0] && !code; i++)
        code = faulty_row(survey, &(struct assay__ceiling){.name = bands[i].name,
                                                           .kind = ASSAY__CEILING_BANDWIDTH,
                                                           .level = bands[i].level,
                                                           .pattern = bands[i].pattern});
    return code;
}

int assay__accelerator_rows(struct assay__accelerator_survey *survey)
{
    int code = launch_row(survey);
    if (!code) code = matmul_row(survey, &kinds[FLOAT32]);
    if (!code && survey->fault) return faulty_rows(survey);
    if (!code) code = matmul_row(survey, &kinds[FLOAT16]);
    if (!code) code = copy_row(survey);
    if (!code)
        code = transfer_row(survey, "bandwidth.transfer.in", "in", ASSAY__SHAPE_TRANSFER_IN,
                            "from the host's memory to the device");
    if (!code)
        code = transfer_row(survey, "bandwidth.transfer.out", "out", ASSAY__SHAPE_TRANSFER_OUT,
                            "from the device to the host's memory");
    if (!code && starts(survey->accelerator->device, "cuda"))
        code = matmul_row(survey, &kinds[TF32]);
    if (!code) code = matmul_row(survey, &kinds[BFLOAT16]);
    if (!code) code = matmul_row(survey, &kinds[INT8]);
    return code;
}
