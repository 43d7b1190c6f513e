/* predict.h - how long a model would take on another chip: an analytic model per operator.
 *
 * For each operator, with F its operations, W its weights and A its other bytes:
 *
 *   t = max(F / (P × e), W / (B_w × e_w) + A / (B_a × e_a)) + d
 *
 * P is the compute roof of the data type, B_w the bandwidth for weights, B_a that of the nearest
 * memory that can hold A. e is the efficiency of the operator's class times n / (n + half): small
 * operators do not reach the peak (n: products per output of a convolution, or its input channels
 * on a Neural Engine, which processes them in passes; rows of a matrix product). d is the cost of
 * starting one operator. The model takes the sum over its operators, plus a floor per inference,
 * plus the bytes that enter and leave it divided by the host's copy rate.
 *
 * P and the bandwidths are the chip's, each with its source (predict_chips.c), or the measured
 * ceilings of a machine. Efficiencies are fitted (predict_fit.c); errors are always on measurements
 * that the fit has not used. doc/predict.md has the definitions and doc/results/predict.md the
 * errors. */
#ifndef ASSAY_PREDICT_PREDICT_H
#define ASSAY_PREDICT_PREDICT_H

#include "base/arena.h"
#include "cost/analysis.h"
#include "cost/roofline.h"
#include "profile/profile.h"

/* --- work: what a model needs from a chip (predict_work.c) ------------------------------------ */

enum assay__work_class {
    ASSAY__WORK_CONV,
    ASSAY__WORK_DEPTHWISE,
    ASSAY__WORK_GEMM,      /* a product with weights */
    ASSAY__WORK_ATTENTION, /* a product of two activations */
    ASSAY__WORK_ELEMENTWISE,
    ASSAY__WORK_FUNCTION, /* elementwise, by a function: tanh, erf, exp, … */
    ASSAY__WORK_NORMALISATION,
    ASSAY__WORK_MOVEMENT,
    ASSAY__WORK_RECURRENT,
    ASSAY__WORK_VIEW, /* moves nothing */
    ASSAY__WORK_CLASSES
};

struct assay__work_item {
    enum assay__work_class class;
    /* done by the preceding operator: engines do this after convolutions and products */
    bool fused;
    double flops, weight_bytes, read_bytes, written_bytes; /* read: without weights */
    double channels; /* input channels per group of a convolution; 0: none */
    /* products per output of a convolution (channels x kernel), rows of a matrix product, numbers
     * that a function produces; 0: none */
    double depth;
    const struct assay__node *node; /* the first of several; NULL: not from a model */
    size_t repeats;                 /* equal ones, and how often each runs in a loop */
};

struct assay__work {
    struct assay__work_item *items;
    size_t count;
    double weight_bytes;                 /* of the model, as stored */
    double io_bytes;                     /* of its inputs and outputs */
    double activation_bytes;             /* peak by liveness; NaN unknown */
    double weight_bits, activation_bits; /* of its own numbers: 32, 16, 8 */
    size_t unknown;                      /* operators without a known cost: left out */
};

/** From an analysis. merge: equal items are combined (and layers are lost). In the arena. */
int assay__work_of(const struct assay__analysis *analysis, bool merge, struct assay__arena *arena,
                   struct assay__work **work, struct assay_error *error);
/** The work of a model by what the user wrote ("resnet50", a path), or of
 *  "conv:channels=64,size=256,kernel=3[,depth=16]" (a stack of convolutions, float16, without
 *  padding where depth is 1), which the zoo does not have. Merged. */
int assay__work_named(const char *name, struct assay__arena *arena, struct assay__work **work,
                      struct assay_error *error);

/* --- precision -------------------------------------------------------------------------------- */

struct assay__precision {
    const char *name; /* "float32", "float16", "w8", "w8a8", "w6", "w4" */
    double weight_bits, activation_bits;
    bool integer; /* products of 8-bit integers */
};
const struct assay__precision *assay__precision_find(const char *name); /* NULL unknown */

/* --- chips (predict_chips.c) ------------------------------------------------------------------ */

/** A number of a chip with its source; NaN: `source` says why there is none. */
struct assay__cell {
    double value;
    const char *source;
};

struct assay__chip {
    const char *name;             /* "M1 Max" */
    struct assay__cell bandwidth; /* of its memory, B/s */
    struct assay__cell memory;    /* B, the largest configuration */
    struct assay__cell gpu_flops; /* float32; float16 is the same on M1 and M2 */
    struct assay__cell ane_flops; /* float16, for the engine that one model runs on */
    struct assay__cell ane_bandwidth;
    struct assay__cell ane_conv_watts, ane_gemm_watts; /* while busy with convolutions, products */
    struct assay__cell ane_floor_watts;                /* while it starts and copies */
};
/** All of them, M1, M1 Pro, M1 Max and M1 Ultra first: other tables of chips refer to this one. */
extern const struct assay__chip assay__chips[];
const struct assay__chip *assay__chip_at(size_t index); /* NULL past the end */
/** Whether it is based on a clock that Apple does not publish (±10 %): good enough for an estimate,
 * not for ruling something out. */
bool assay__cell_is_rough(const struct assay__cell *cell);
/** By name, case and spaces ignored ("m1max"); NULL, with *nearest (a pointer that may be NULL) set
 * to the name that was probably meant. */
const struct assay__chip *assay__chip_find(const char *name, const char **nearest);

enum assay__unit { ASSAY__UNIT_CPU, ASSAY__UNIT_GPU, ASSAY__UNIT_ANE, ASSAY__UNITS };
const char *assay__unit_name(enum assay__unit unit); /* "cpu", "gpu", "ane" */

#define ASSAY__TARGET_LEVELS 4
#define ASSAY__TARGET_SOURCES 12

/** What a unit can do. */
struct assay__predict_target {
    const char *chip;
    enum assay__unit unit;
    const char *reason;                              /* why it cannot be predicted; "" */
    double float32_flops, float16_flops, int8_flops; /* NaN unknown */
    struct {
        double holds_bytes, bandwidth; /* INFINITY: costs nothing */
    } levels[ASSAY__TARGET_LEVELS];
    size_t level_count;
    /* cost of reading, by level; weights never stay in a level with cost 0 */
    double weights_bandwidth[ASSAY__TARGET_LEVELS];
    double memory_bytes; /* NaN unknown */
    double conv_watts, gemm_watts, floor_watts;
    const char *power_source; /* or why there is none */
    const char *memory_source;
    bool published; /* the roofs are published numbers; false: measured ceilings */
    const char *sources[ASSAY__TARGET_SOURCES]; /* "peak: …" */
    size_t source_count;
};
/** For a chip of the table. A missing number becomes a reason. Strings are in the arena. */
int assay__target_of_chip(const struct assay__chip *chip, enum assay__unit unit,
                          struct assay__arena *arena, struct assay__predict_target *target);
/** From measured ceilings: device "cpu" or another one of the profile. */
int assay__target_of_ceilings(const struct assay_profile *profile, const char *device,
                              const char *shown, struct assay__arena *arena,
                              struct assay__predict_target *target);

/* --- the fit (predict_fit.c) ------------------------------------------------------------------ */

enum assay__fit_parameter {
    ASSAY__FIT_FLOOR_S,
    ASSAY__FIT_DISPATCH_S,
    ASSAY__FIT_CONV,
    ASSAY__FIT_DEPTHWISE,
    ASSAY__FIT_GEMM,
    ASSAY__FIT_ATTENTION,
    ASSAY__FIT_RECURRENT,
    ASSAY__FIT_ELEMENTWISE,
    ASSAY__FIT_FUNCTION,
    ASSAY__FIT_NORMALISATION,
    ASSAY__FIT_WEIGHTS,     /* share of the bandwidth that weights reach */
    ASSAY__FIT_ACTIVATIONS, /* … other bytes */
    ASSAY__FIT_MOVEMENT,    /* … of operators that only move */
    ASSAY__FIT_CONV_HALF,   /* n of a convolution at which half the efficiency is reached */
    ASSAY__FIT_GEMM_HALF,   /* n of a product at which … */
    ASSAY__FIT_IO,          /* B/s of what enters and leaves */
    ASSAY__FIT_PARAMETERS
};
const char *assay__fit_parameter_name(enum assay__fit_parameter parameter);

/** How wrong predictions of unseen measurements were: |predicted / measured - 1|. p90 is the
 * ⌈0.9 (n + 1)⌉-th of them by size, so that a further measurement of the same kind is within it in
 * 9 of 10 cases (of fewer than nine, the largest, which holds less often). */
struct assay__fit_errors {
    double median, p90; /* NaN: never validated */
    size_t count;
};

struct assay__fit {
    double value[ASSAY__FIT_PARAMETERS];
    /* out of sample (what estimates are labelled with), and in sample */
    struct assay__fit_errors out, in;
    /* `out` if fixed cost is a large part of the estimate, or most of it */
    struct assay__fit_errors fixed, floor;
    /* the largest share of the time that each class of operators has in a measurement of `out`; NaN
     * unknown */
    double seen[ASSAY__WORK_CLASSES];
    const char *origin;     /* "built in, fitted on …" */
    const char *validation; /* how `out` was determined, or why there is none */
};

/** The prior of a fit, which is also its start: sensible numbers with a reason, by unit. */
void assay__fit_prior(enum assay__unit unit, struct assay__fit *fit);
/** The built-in parameters: fitted to the published rows (ane), to one machine (cpu), published
 * efficiencies (gpu). */
void assay__fit_builtin(enum assay__unit unit, struct assay__fit *fit);

struct assay__fit_sample {
    const struct assay__work *work;
    const struct assay__predict_target *target;
    const struct assay__precision *precision;
    double measured_s;
    const char *group; /* groups that are left out together in validation … */
    const char *other; /* … and in another; "" none */
};
enum assay__leave { /* what validation leaves out together with a sample */
                    ASSAY__LEAVE_GROUP = 1,
                    ASSAY__LEAVE_OTHER = 2,
                    ASSAY__LEAVE_EITHER = ASSAY__LEAVE_GROUP | ASSAY__LEAVE_OTHER
};
/** Fits to all samples except those in the same group as `without` (NULL: to all). */
void assay__fit_samples(const struct assay__fit_sample *samples, size_t count,
                        enum assay__unit unit, const struct assay__fit_sample *without,
                        enum assay__leave leave, struct assay__fit *fit);
void assay__fit_predict(const struct assay__fit_sample *samples, size_t count,
                        const struct assay__fit *fit, double *predicted_s);
/** predicted[i] is from a fit without the group of sample i. */
void assay__fit_leave_out(const struct assay__fit_sample *samples, size_t count,
                          enum assay__unit unit, enum assay__leave leave, double *predicted_s);
struct assay__fit_errors assay__fit_errors_of(const struct assay__fit_sample *samples,
                                              const double *predicted_s, size_t count,
                                              double *scratch);

/* --- the prediction (predict.c) --------------------------------------------------------------- */

struct assay__predicted_item {
    double compute_s, memory_s, time_s; /* time: of all its repeats, including dispatch */
    enum assay__bound bound;
};

struct assay__prediction {
    double latency_s; /* NaN: `reason` */
    const char *reason;
    double floor_s, io_s, dispatch_s;
    double class_s[ASSAY__WORK_CLASSES];
    double bound_s[ASSAY__BOUND_COUNT]; /* overhead: floor, transfers and dispatch */
    double flops, bytes;                /* bytes at this precision */
    double peak_flops;
    double weight_bytes, activation_bytes; /* at this precision */
};
/** If fixed cost is more than this share of an estimate, the estimate is poor: see struct
 * assay__validation. */
#define ASSAY__FIXED_SHARE (1.0 / 3)
#define ASSAY__FLOOR_SHARE (1.0 / 2)                                   /* … and poorer */
double assay__fixed_share(const struct assay__prediction *prediction); /* NaN: no estimate */
const char *assay__work_class_name(enum assay__work_class class); /* "depthwise convolutions" */
/** items: work->count entries or NULL. */
void assay__predict(const struct assay__work *work, const struct assay__predict_target *target,
                    const struct assay__precision *precision, const struct assay__fit *fit,
                    struct assay__predicted_item *items, struct assay__prediction *out);
/** Only the time: what a fit calls often. NaN: cannot be predicted. */
double assay__predict_time_s(const struct assay__work *work,
                             const struct assay__predict_target *target,
                             const struct assay__precision *precision,
                             const struct assay__fit *fit);
/** Power while it runs, weighted by the times of convolutions, products and the rest; NaN: *reason
 * says why. */
double assay__predict_watts(const struct assay__predict_target *target,
                            const struct assay__prediction *prediction, const char **reason);

/** A trial like those of `run` with every value estimated: metrics, layers, notes. `work` is not
 * merged; items are those filled in by assay__predict. A prediction that cannot be made is a
 * skipped trial with the reason. 0 or ASSAY_ENOMEM. */
int assay__predict_trial(struct assay_profile *profile, const struct assay__analysis *analysis,
                         const struct assay__work *work, const struct assay__predict_target *target,
                         const struct assay__precision *precision, const struct assay__fit *fit,
                         const struct assay__predicted_item *items,
                         const struct assay__prediction *prediction);
/** Why the validated error does not apply to this model; "": it does, or there is none. In the
 * arena; NULL: out of memory. work: not merged. */
const char *assay__predict_uncovered(struct assay__arena *arena, const struct assay__work *work,
                                     const struct assay__predict_target *target,
                                     const struct assay__fit *fit,
                                     const struct assay__prediction *prediction);
/** "median error 23 %, 9 of 10 within 68 %", or "error unknown": the label of every estimate. */
void assay__fit_label(const struct assay__fit *fit, char *out, size_t out_size);

/* --- published measurements (predict_published.c) --------------------------------------------- */

struct assay__published_row {
    const char *row;   /* "A" … "I" of the list, "G+": never fitted */
    const char *label; /* "MobileNetV2 float16" */
    const char *model; /* as for assay__work_named; NULL: not modelled */
    const char *family;
    const char *chip, *precision;
    double measured_s;    /* NaN: not a time */
    const char *excluded; /* why it is not used; NULL: it is */
    const char *source;
};
const struct assay__published_row *assay__published_at(size_t index); /* NULL past the end */

struct assay__validation_row {
    const char *row, *label, *chip, *excluded, *source;
    double measured_s, in_s, chip_out_s, model_out_s, both_out_s; /* NaN: not predicted */
    double fixed_share;                                           /* of the estimate in_s */
};
struct assay__validation {
    struct assay__validation_row *rows;
    size_t count, used;
    struct assay__fit fit; /* on all of them */
    struct assay__fit_errors in, chip_out, model_out;
    /* both_out: without the chip and without the model; held_out: rows never fitted; blind: these
     * two together, which label every estimate; fixed and floor: those of them with more than
     * ASSAY__FIXED_SHARE and ASSAY__FLOOR_SHARE fixed cost */
    struct assay__fit_errors both_out, held_out, blind, fixed, floor;
    double seen[ASSAY__WORK_CLASSES]; /* of the rows of blind: as in struct assay__fit */
    size_t missing;                   /* measured here: models that no longer exist */
};
/** Fits the published rows and leaves out one chip, one model: a pure function of the tables. */
int assay__validate_published(struct assay__arena *arena, struct assay__validation *out,
                              struct assay_error *error);

/* --- this machine (predict_machine.c) --------------------------------------------------------- */

struct assay__calibration_row {
    const char *model, *family;
    double p50_s, low_s, high_s; /* median, min and max of the launch medians */
};
struct assay__calibration {
    const char *key, *measured_at, *engine;
    struct assay__calibration_row *rows;
    size_t count;
    /* of a new one: models during which other processes took more than 10 % of the CPU */
    size_t disturbed;
    struct assay__fit fit;
};

struct assay__calibrate_options {
    const char *const *models; /* more models, after the built-in set */
    size_t model_count;
    bool whole; /* the whole zoo, not the small set */
    double time_s;
    int launches;
    /** Called before each model; true ends it. May be NULL. */
    bool (*progress)(void *context, const char *model, size_t index, size_t count);
    void *context;
    const volatile int *interrupt;
};
/** Runs the set on this machine and fits it. What fails is left out. ASSAY_EINTERRUPTED stores
 * nothing. */
int assay__calibrate(struct assay__arena *arena, const struct assay__predict_target *target,
                     const struct assay__calibrate_options *options, const char *key,
                     struct assay__calibration *out, struct assay_error *error);
/** Leaves one family out at a time, on this target. */
int assay__validate_calibration(const struct assay__calibration *calibration,
                                const struct assay__predict_target *target,
                                struct assay__arena *arena, struct assay__validation *out,
                                struct assay_error *error);
/** predict-<hash>.json next to the ceilings, with the same key. */
int assay__calibration_path(const char *key, char *out, size_t out_size, struct assay_error *error);
int assay__calibration_save(const struct assay__calibration *calibration, const char *path,
                            struct assay_error *error);
/** key NULL: any. ASSAY_ENOTFOUND: none, or with another key. ASSAY_EFORMAT: not such a file.
 * Untrusted. */
int assay__calibration_load(struct assay__arena *arena, const char *path, const char *key,
                            struct assay__calibration *out, struct assay_error *error);

#endif
