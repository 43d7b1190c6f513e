/* inputs.h - a workload's inputs: shapes fixed, and values that are valid for the model (token
 * ids within the embedding table that consumes them, masks of 0/1, lengths within their axis,
 * …), seeded. The plan is made by the parent from the graph; the worker fills memory. */
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
    uint64_t seed;       /* of this input alone: from the workload's */
    const char *file;    /* FILE: .npy */
    const char *why;     /* what led to these values, "rows of 'wte' (Gather)"; "" nothing did */
    bool given;          /* the options gave the value */
    const char *assumed; /* "tokens": an axis has a size that was guessed; NULL: none */
    bool fed; /* an output is its next value (feedback.h): these are those of the first inference */
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
    bool shapes_only; /* nothing will be fed: of values only those are thought of that may decide
                         a branch or a number of trips, and one that cannot be is unknown */
    bool any_size;    /* what nothing says the size of is 1, not an error */
    size_t attempt;   /* guesses that an engine refused: the next ones are taken */
};

/** What a caller's options say of the inputs; borrows their lists. */
struct assay__workload_options assay__workload_options_of(
    const struct assay_workload_options *options);

/** The dimension that a note of a workload is about. */
struct assay__note_subject {
    const char *symbol; /* a symbolic one; "" none */
    const char *input;  /* or the axis of an input, which has no name; "" none */
    int axis;
    const char *guess; /* what it was taken for; "": it was not guessed, or is the batch */
    int64_t size;
};

struct assay__workload {
    struct assay__arena *arena;
    struct assay__input_plan *inputs; /* graph inputs that are not initializers, in order */
    size_t input_count;
    struct assay__dim_value {
        const char *symbol;
        int64_t value;
    } * dims; /* symbolic dimensions and what they became */
    size_t dim_count;
    const char **notes;                        /* "symbolic dimension 'seq' set to 1" */
    struct assay__note_subject *note_subjects; /* what each is about */
    size_t note_count;
    uint64_t seed;         /* as asked for */
    int64_t batch;         /* -1 unknown: no batch axis found */
    int64_t sequence;      /* -1: none */
    bool has_tokens;       /* integer ids with a sequence axis: throughput.tokens */
    bool has_images;       /* a 4-D image input: throughput.images */
    size_t attempt, tries; /* which of how many guesses; 0 of 0: nothing was guessed */
    size_t conflicts;      /* between shapes, that follow from the guesses and not from the file */
};

/** Clear errors: unknown input or dimension (nearest suggested), wrong rank, contradiction with a
 *  fixed dimension, .npy of another type or shape, unsupported type. */
int assay__workload_plan(const struct assay__model *model,
                         const struct assay__workload_options *options,
                         struct assay__workload **workload, struct assay_error *error);
void assay__workload_free(struct assay__workload *workload);
/** "x 1x3x224x224 (the side of an image)": what was guessed but the batch; "" nothing. In the
 *  arena; NULL: out of memory. */
const char *assay__workload_assumed(const struct assay__workload *workload,
                                    struct assay__arena *arena);
/** The axis of an input that is its batch where no symbol says so: 1 where it goes to a recurrent
 *  cell or a Scan with time first, else 0. Its rank may be less. */
int assay__inputs_batch_axis(const struct assay__model *model, const char *input);
/** The plans as values whose shapes are fixed, and contents where they are known, as
 *  assay__shapes_infer takes them; in the arena. 0 or ASSAY_ENOMEM. */
int assay__workload_values(const struct assay__input_plan *inputs, size_t count,
                           struct assay__arena *arena, struct assay__value **values);
/** Fills plan->bytes bytes. FILE reads the .npy (checked again). Strings: use
 *  assay__input_strings. */
int assay__input_fill(const struct assay__input_plan *plan, void *data, struct assay_error *error);
/** Is it a number or a short list of integers or booleans, which may decide a branch, a number of
 *  trips or a shape? */
bool assay__input_is_list(const struct assay__input_plan *plan);
/** What such an input will hold, where that was decided (not drawn) or lies in a file; NULL: it is
 *  not known. ASSAY_ENOMEM. */
int assay__input_contents(const struct assay__input_plan *plan, struct assay__arena *arena,
                          const int64_t **contents, size_t *count);
int assay__input_strings(const struct assay__input_plan *plan, struct assay__arena *arena,
                         const char ***strings, size_t *count);
/** A job is sent to the worker as JSON: these write and read one plan. */
struct assay__json_writer;
struct assay__json;
void assay__input_to_json(const struct assay__input_plan *plan, struct assay__json_writer *writer);
int assay__input_from_json(const struct assay__json *json, struct assay__arena *arena,
                           struct assay__input_plan *plan, struct assay_error *error);

#endif
