/* inputs.h - a workload's inputs: shapes fixed, and values that are valid for the model (token ids
 * within the embedding table that consumes them, masks of 0/1, lengths within their axis, …),
 * seeded. The parent makes the plan from the graph; the worker fills memory. */
#ifndef ASSAY_MODEL_INPUTS_INPUTS_H
#define ASSAY_MODEL_INPUTS_INPUTS_H

#include "model/graph.h"

#include <assay/run.h>

enum assay__fill {
    ASSAY__FILL_UNIFORM,
    ASSAY__FILL_INTEGERS,
    ASSAY__FILL_CONSTANT,
    ASSAY__FILL_RANGE,
    ASSAY__FILL_FILE,
    ASSAY__FILL_STRINGS
};

struct assay__input_plan {
    const char *name;
    enum assay__dtype dtype;
    int rank;
    int64_t *dims;
    size_t bytes; /* 0 for strings */
    enum assay__fill fill;
    /* UNIFORM: [low, high); INTEGERS: low..high inclusive; CONSTANT: low; RANGE: 0, 1, 2, … along
       the last axis (position ids), modulo high + 1 when high > 0 */
    double low, high;
    uint64_t seed;       /* of this input: derived from the workload's */
    const char *file;    /* FILE: .npy */
    const char *why;     /* why these values were chosen, "rows of 'wte' (Gather)"; "" no reason */
    bool given;          /* the options gave the value */
    const char *assumed; /* "tokens": an axis has a size that was guessed; NULL: none */
    /* its next value is an output (feedback.h): these are the values for the first inference */
    bool fed;
};

struct assay__workload_options {
    int64_t batch;           /* 0: not given */
    int64_t sequence;        /* --seq; 0: not given */
    const char *const *dims; /* "name=value" */
    size_t dim_count;
    const char *const *shapes; /* "input=1x3x224x224", "?" leaves an axis open; "1x3x224x224" */
    size_t shape_count;
    const char *const *files; /* "input=file.npy", or "input=16000": that value everywhere */
    size_t file_count;
    uint64_t seed;
    /* no input values are needed: only those that may decide a branch or a trip count are chosen,
     * and one that cannot be chosen is unknown */
    bool shapes_only;
    bool any_size;  /* a dimension of unknown size is 1, not an error */
    size_t attempt; /* guesses that an engine refused: the next ones are used */
};

/** What a caller's options say about the inputs; borrows their lists. */
struct assay__workload_options assay__workload_options_of(
    const struct assay_workload_options *options);

/** The dimension that a note of a workload is about. */
struct assay__note_subject {
    const char *symbol; /* a symbolic one; "" none */
    const char *input;  /* or the axis of an input, which has no name; "" none */
    int axis;
    const char *guess; /* what it was assumed to be; "": it was not guessed, or is the batch */
    int64_t size;
};

struct assay__workload {
    struct assay__arena *arena;
    struct assay__input_plan *inputs; /* graph inputs that are not initializers, in order */
    size_t input_count;
    struct assay__dim_value {
        const char *symbol;
        int64_t value;
    } * dims; /* symbolic dimensions and their values */
    size_t dim_count;
    const char **notes;                        /* "symbolic dimension 'seq' set to 1" */
    struct assay__note_subject *note_subjects; /* what each is about */
    size_t note_count;
    uint64_t seed;         /* as asked for */
    int64_t batch;         /* -1 unknown: no batch axis found */
    int64_t sequence;      /* -1: none */
    bool has_tokens;       /* integer ids with a sequence axis: throughput.tokens */
    bool has_images;       /* a 4-D image input: throughput.images */
    size_t attempt, tries; /* number of the guess and of all guesses; 0 of 0: nothing was guessed */
    /* contradictions between shapes that follow from the guesses and not from the file */
    size_t conflicts;
};

/** Clear errors: unknown input or dimension (nearest suggested), wrong rank, contradiction with a
 *  fixed dimension, .npy of another type or shape, unsupported type. */
int assay__workload_plan(const struct assay__model *model,
                         const struct assay__workload_options *options,
                         struct assay__workload **workload, struct assay_error *error);
void assay__workload_free(struct assay__workload *workload);
/** "x 1x3x224x224 (the side of an image)": what was guessed, except the batch; "" nothing. In the
 * arena; NULL: out of memory. */
const char *assay__workload_assumed(const struct assay__workload *workload,
                                    struct assay__arena *arena);
/** The batch axis of an input if no symbol gives it: 1 if it goes to a recurrent cell or a Scan
 * with time first, else 0. Its rank may be smaller. */
int assay__inputs_batch_axis(const struct assay__model *model, const char *input);
/** The plans as values whose shapes are fixed, and contents if they are known, as needed by
 * assay__shapes_infer; in the arena. 0 or ASSAY_ENOMEM. */
int assay__workload_values(const struct assay__input_plan *inputs, size_t count,
                           struct assay__arena *arena, struct assay__value **values);
/** Fills plan->bytes bytes. FILE reads the .npy (checked again). Strings: use
 *  assay__input_strings. */
int assay__input_fill(const struct assay__input_plan *plan, void *data, struct assay_error *error);
/** Whether it is a number or a short list of integers or booleans, which may decide a branch, a
 * trip count or a shape. */
bool assay__input_is_list(const struct assay__input_plan *plan);
/** The contents of such an input, if they were chosen (not drawn) or are in a file; NULL: unknown.
 * ASSAY_ENOMEM. */
int assay__input_contents(const struct assay__input_plan *plan, struct assay__arena *arena,
                          const int64_t **contents, size_t *count);
int assay__input_strings(const struct assay__input_plan *plan, struct assay__arena *arena,
                         const char ***strings, size_t *count);
/** Jobs are sent to the worker as JSON: these write and read one plan. */
struct assay__json_writer;
struct assay__json;
void assay__input_to_json(const struct assay__input_plan *plan, struct assay__json_writer *writer);
int assay__input_from_json(const struct assay__json *json, struct assay__arena *arena,
                           struct assay__input_plan *plan, struct assay_error *error);

#endif
