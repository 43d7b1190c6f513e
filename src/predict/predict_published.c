/* predict_published.c - published measurements of Apple's chips: those that the Neural Engine's
 * efficiencies are fitted to (A, B, C, D, G), further rows of two of these sources that are never
 * fitted (A+, G+) and only predicted, and those that cannot be used, each with the reason. What a
 * row ran is modelled as follows.
 *
 * A: MobileNetV2 and ResNet50 at 224 x 224, batch 1. B: DistilBERT, 128 tokens. C: the output layer
 * of Llama 3 8B, 4096 to 128256, with weights of 6 bits: the authors say that these latencies are
 * those of the 6-bit variant, and the full one has 1050.67 MB. D: one step of 64 tokens after a
 * cache of 448, logits of one position, as the project's models are converted. G: products of 64 x
 * 256 x 256, 128 x 1024 x 1024 and 256 x 4096 x 4096 (sizes of the same harness on M2), their times
 * computed from the rates; convolutions without padding, as their rates and times imply. */
#include "predict/predict.h"

#include "base/no_memory.h"

#include <math.h>
#include <string.h>

#define CORE "coremltools documentation, Xcode performance tab, all compute units, iOS 17"
#define RESEARCH "Apple, Deploying Transformers on the Apple Neural Engine"
#define BENCH "anemll-bench, early Results.MD (6-bit llama_lm_head)"
#define MORE "smpanaro/more-ane-transformers:evals/SPEED.md"
#define GUIDE "sbryngelson/ane-guide chapters 10, 11 and 18"
#define LM_HEAD "matmul:m=1,k=4096,n=128256"
#define GPT2(size) "gpt2:size=" size ",seq=64,past=448,logits=last"
#define MS 1e-3
#define RATE(m, k, n, gflops) (2.0 * (m) * (k) * (n) / ((gflops)*1e9))
#define NO (double)NAN
#define HELD "never fitted: used only to validate the fit"

static const struct assay__published_row rows[] = {
    {"A", "MobileNetV2 float16", "mobilenetv2", "mobilenetv2", "A16", "float16", 0.48 * MS, NULL,
     CORE},
    {"A", "MobileNetV2 W8", "mobilenetv2", "mobilenetv2", "A16", "w8", 0.45 * MS, NULL, CORE},
    {"A", "MobileNetV2 W8A8", "mobilenetv2", "mobilenetv2", "A16", "w8a8", 0.27 * MS, NULL, CORE},
    {"A", "MobileNetV2 float16", "mobilenetv2", "mobilenetv2", "A17 Pro", "float16", 0.49 * MS,
     NULL, CORE},
    {"A", "MobileNetV2 W8", "mobilenetv2", "mobilenetv2", "A17 Pro", "w8", 0.44 * MS, NULL, CORE},
    {"A", "MobileNetV2 W8A8", "mobilenetv2", "mobilenetv2", "A17 Pro", "w8a8", 0.20 * MS, NULL,
     CORE},
    {"A", "ResNet50 float16", "resnet50", "resnet50", "A16", "float16", 1.52 * MS, NULL, CORE},
    {"A", "ResNet50 W8", "resnet50", "resnet50", "A16", "w8", 1.49 * MS, NULL, CORE},
    {"A", "ResNet50 W8A8", "resnet50", "resnet50", "A16", "w8a8", 0.94 * MS, NULL, CORE},
    {"B", "DistilBERT, 128 tokens", "distilbert:seq=128", "distilbert", "A15", "float16", 3.47 * MS,
     NULL, RESEARCH},
    {"C", "llama_lm_head, 6 bits", LM_HEAD, "lm_head", "M1", "w6", 7.52 * MS, NULL, BENCH},
    {"C", "llama_lm_head, 6 bits", LM_HEAD, "lm_head", "M1 Pro", "w6", 7.45 * MS, NULL, BENCH},
    {"C", "llama_lm_head, 6 bits", LM_HEAD, "lm_head", "M1 Max", "w6", 7.61 * MS, NULL, BENCH},
    {"C", "llama_lm_head, 6 bits", LM_HEAD, "lm_head", "M2", "w6", 8.67 * MS, NULL, BENCH},
    {"C", "llama_lm_head, 6 bits", LM_HEAD, "lm_head", "M3", "w6", 6.95 * MS, NULL, BENCH},
    {"C", "llama_lm_head, 6 bits", LM_HEAD, "lm_head", "M4 Pro", "w6", 3.85 * MS, NULL, BENCH},
    {"D", "GPT-2 350M, a step", GPT2("medium"), "gpt2-350m", "M1", "float16", 27 * MS, NULL, MORE},
    {"D", "GPT-2 350M, a step", GPT2("medium"), "gpt2-350m", "M2", "float16", 23 * MS, NULL, MORE},
    {"D", "GPT-2 1558M, a step", GPT2("xl"), "gpt2-1558m", "M1", "float16", 138 * MS, NULL, MORE},
    {"D", "GPT-2 1558M, a step", GPT2("xl"), "gpt2-1558m", "M2", "float16", 95 * MS, NULL, MORE},
    {"G", "product, K = 256", "matmul:m=64,k=256,n=256", "gemm-256", "M1", "float16",
     RATE(64, 256, 256, 51), NULL, GUIDE},
    {"G", "product, K = 1024", "matmul:m=128,k=1024,n=1024", "gemm-1024", "M1", "float16",
     RATE(128, 1024, 1024, 662), NULL, GUIDE},
    {"G", "product, K = 4096", "matmul:m=256,k=4096,n=4096", "gemm-4096", "M1", "float16",
     RATE(256, 4096, 4096, 3588), NULL, GUIDE},
    {"G", "conv 3x3, 64 ch., 16^2", "conv:channels=64,size=16,kernel=3", "conv-16", "M1", "float16",
     0.231 * MS, NULL, GUIDE},
    {"G", "conv 3x3, 64 ch., 64^2", "conv:channels=64,size=64,kernel=3", "conv-64", "M1", "float16",
     0.395 * MS, NULL, GUIDE},
    {"G", "conv 3x3, 64 ch., 256^2", "conv:channels=64,size=256,kernel=3", "conv-256", "M1",
     "float16", 3.814 * MS, NULL, GUIDE},

    {"A+", "MobileNetV3-Small float16", "mobilenetv3-small", "", "A16", "float16", 0.13 * MS, HELD,
     CORE},
    {"A+", "MobileNetV3-Small W8", "mobilenetv3-small", "", "A16", "w8", 0.13 * MS, HELD, CORE},
    {"G+", "conv 3x3, 64 ch., 32^2", "conv:channels=64,size=32,kernel=3", "", "M1", "float16",
     0.248 * MS, HELD, GUIDE},
    {"G+", "conv 3x3, 64 ch., 128^2", "conv:channels=64,size=128,kernel=3", "", "M1", "float16",
     1.062 * MS, HELD, GUIDE},
    {"G+", "16 conv 3x3, 256 ch., 32^2", "conv:channels=256,size=32,kernel=3,depth=16", "", "M1",
     "float16", 16 * RATE(256 * 9, 256, 1024, 9602), HELD, GUIDE},
    {"G+", "conv 3x3, 256 ch., 28^2", "conv:channels=256,size=28,kernel=3,padded=1", "", "M1",
     "float16", 0.507 * MS, HELD, GUIDE},
    {"G+", "conv 1x1, 512 ch., 32^2", "conv:channels=512,size=32,kernel=1", "", "M1", "float16",
     0.444 * MS, HELD, GUIDE},
    {"G+", "conv 1x1, 1024 ch., 16^2", "conv:channels=1024,size=16,kernel=1", "", "M1", "float16",
     0.686 * MS, HELD, GUIDE},
    {"G+", "conv 1x1, 2048 ch., 8^2", "conv:channels=2048,size=8,kernel=1", "", "M1", "float16",
     1.047 * MS, HELD, GUIDE},

    {"E", "Llama-3 by llama.cpp on Metal", NULL, "", "M1, M1 Max, M2 Ultra", "", NO,
     "GPU kernels of another runtime with weights of mixed widths; the F16 rows set the GPU's "
     "bandwidth efficiency",
     "XiongjieDai/GPU-Benchmarks-on-LLM-Inference"},
    {"F", "Stable Diffusion 2.1 UNet", NULL, "", "A14, A15, M1", "", NO,
     "CPU and Neural Engine together, split unknown; the model is not in the zoo",
     "apple/ml-stable-diffusion"},
    {"G", "ResNet-18, energy on M2", NULL, "", "M2", "", NO, "an energy without a time", GUIDE},
    {"H", "Linear layer in MLX", NULL, "", "M1, M1 Max", "", NO,
     "GPU, one operator of a framework; it supports the GPU's efficiency of products",
     "TristanBilot/mlx-benchmark"},
    {"I", "training ResNet50, DistilBERT", NULL, "", "M1 Max", "", NO,
     "training, not inference; batch sizes are not given", "tlkh/tf-metal-experiments"},
};
#define ROWS (sizeof rows / sizeof rows[0])

const struct assay__published_row *assay__published_at(size_t index)
{
    return index < ROWS ? &rows[index] : NULL;
}

/* --- validation ------------------------------------------------------------------------------- */

struct validating {
    struct assay__arena *arena;
    struct assay__fit_sample samples[ROWS]; /* used rows first in their order, then held-out ones */
    size_t row[ROWS];                       /* of the table */
    size_t used, count;
};

static int make_samples(struct validating *v, struct assay_error *error)
{
    for (size_t n = 0; n < 2 * ROWS; n++) {
        size_t i = n % ROWS;
        bool held = n >= ROWS;
        const struct assay__published_row *row = &rows[i];
        if (!row->model || (row->excluded != NULL) != held) continue;
        struct assay__predict_target *target = assay__arena_alloc(v->arena, sizeof *target);
        struct assay__work *work = NULL;
        if (!target) return assay__no_memory(error);
        for (size_t k = 0; k < v->count && !work; k++) /* the same model on another chip */
            if (strcmp(rows[v->row[k]].model, row->model) == 0)
                work = (struct assay__work *)v->samples[k].work;
        int code = work ? 0 : assay__work_named(row->model, v->arena, &work, error);
        if (!code)
            code = assay__target_of_chip(assay__chip_find(row->chip, NULL), ASSAY__UNIT_ANE,
                                         v->arena, target);
        if (code) return code;
        v->samples[v->count] = (struct assay__fit_sample){
            work,      target,     assay__precision_find(row->precision), row->measured_s,
            row->chip, row->family};
        v->row[v->count++] = i;
        v->used += !held;
    }
    return 0;
}

static double fixed_share_of(const struct assay__fit_sample *s, const struct assay__fit *fit)
{
    struct assay__prediction p;
    assay__predict(s->work, s->target, s->precision, fit, NULL, &p);
    return assay__fixed_share(&p);
}

/* The errors of all estimates that know neither the chip nor the model: `left` (both left out) and
 * the rows that were never fitted, as far as more than that share of them is fixed cost. */
static struct assay__fit_errors blind_errors(const struct validating *v,
                                             const struct assay__fit *fit, const double *left,
                                             const double *in, double share)
{
    double predicted[ROWS], scratch[ROWS];
    for (size_t i = 0; i < v->count; i++) {
        predicted[i] = i < v->used ? left[i] : in[i];
        if (!(fixed_share_of(&v->samples[i], fit) > share)) predicted[i] = NAN;
    }
    return assay__fit_errors_of(v->samples, predicted, v->count, scratch);
}

/* The largest share of each class over all rows. */
static void find_seen(const struct validating *v, const struct assay__fit *fit, double *seen)
{
    for (size_t c = 0; c < ASSAY__WORK_CLASSES; c++)
        seen[c] = 0;
    for (size_t i = 0; i < v->count; i++) {
        const struct assay__fit_sample *s = &v->samples[i];
        struct assay__prediction p;
        assay__predict(s->work, s->target, s->precision, fit, NULL, &p);
        for (size_t c = 0; c < ASSAY__WORK_CLASSES; c++)
            seen[c] = fmax(seen[c], p.class_s[c] / p.latency_s);
    }
}

int assay__validate_published(struct assay__arena *arena, struct assay__validation *out,
                              struct assay_error *error)
{
    struct validating v = {.arena = arena};
    double in[ROWS], chip[ROWS], model[ROWS], both[ROWS], scratch[ROWS];
    *out = (struct assay__validation){.count = ROWS};
    out->rows = assay__arena_array(arena, ROWS, sizeof *out->rows);
    if (!out->rows) return assay__no_memory(error);
    int code = make_samples(&v, error);
    if (code) return code;
    out->used = v.used;
    assay__fit_samples(v.samples, v.used, ASSAY__UNIT_ANE, NULL, ASSAY__LEAVE_GROUP, &out->fit);
    assay__fit_predict(v.samples, v.count, &out->fit, in);
    assay__fit_leave_out(v.samples, v.used, ASSAY__UNIT_ANE, ASSAY__LEAVE_GROUP, chip);
    assay__fit_leave_out(v.samples, v.used, ASSAY__UNIT_ANE, ASSAY__LEAVE_OTHER, model);
    assay__fit_leave_out(v.samples, v.used, ASSAY__UNIT_ANE, ASSAY__LEAVE_EITHER, both);
    out->in = assay__fit_errors_of(v.samples, in, v.used, scratch);
    out->chip_out = assay__fit_errors_of(v.samples, chip, v.used, scratch);
    out->model_out = assay__fit_errors_of(v.samples, model, v.used, scratch);
    out->both_out = assay__fit_errors_of(v.samples, both, v.used, scratch);
    out->blind = blind_errors(&v, &out->fit, both, in, 0);
    out->fixed = blind_errors(&v, &out->fit, both, in, ASSAY__FIXED_SHARE);
    out->floor = blind_errors(&v, &out->fit, both, in, ASSAY__FLOOR_SHARE);
    find_seen(&v, &out->fit, out->seen);
    out->held_out = assay__fit_errors_of(v.samples + v.used, in + v.used, v.count - v.used,
                                         scratch);
    for (size_t i = 0; i < ROWS; i++)
        out->rows[i] = (struct assay__validation_row){
            rows[i].row,    rows[i].label,      rows[i].chip, rows[i].excluded,
            rows[i].source, rows[i].measured_s, (double)NAN,  (double)NAN,
            (double)NAN,    (double)NAN,        (double)NAN};
    for (size_t i = 0; i < v.count; i++) {
        struct assay__validation_row *row = &out->rows[v.row[i]];
        row->in_s = in[i];
        row->fixed_share = fixed_share_of(&v.samples[i], &out->fit);
        if (i >= v.used) continue;
        row->chip_out_s = chip[i];
        row->model_out_s = model[i];
        row->both_out_s = both[i];
    }
    return 0;
}
