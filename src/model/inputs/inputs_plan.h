/* inputs_plan.h - shared by inputs_plan.c (the whole plan), inputs.c (shapes), inputs_symbol.c
 * (symbolic dimensions) and inputs_values.c (values, and axes). */
#ifndef ASSAY_MODEL_INPUTS_INPUTS_PLAN_H
#define ASSAY_MODEL_INPUTS_INPUTS_PLAN_H

#include "model/inputs/inputs.h"
#include "model/inputs/inputs_guess.h"

/** Decides the fill of every input of the workload whose shapes are already fixed (except those
 * with a file), and has_tokens, has_images, and batch and sequence if no symbol gave them. With
 * shapes_only, only for those that may decide a branch or a trip count. */
int assay__inputs_values(const struct assay__model *model, struct assay__workload *workload,
                         const struct assay__workload_options *options, struct assay_error *error);

/** The shapes, with the guesses of that attempt; *out is NULL on failure. */
int assay__plan_shapes(const struct assay__model *model,
                       const struct assay__workload_options *options, size_t attempt,
                       struct assay__workload **out, struct assay_error *error);

/** A symbolic dimension, shared by all inputs that name it. */
struct assay__plan_symbol {
    const char *name;
    int64_t value;             /* -1 open */
    const char *by;            /* the option that set it */
    bool expression;           /* "2*batch" */
    struct assay__guess guess; /* its size where nothing fixes it */
    bool guessed;              /* a guess was used, and it is not the batch */
};
struct assay__plan_symbols {
    struct assay__plan_symbol *items;
    size_t count, capacity;
};
struct assay__plan_symbol *assay__plan_find(struct assay__plan_symbols *symbols, const char *name,
                                            size_t length);
/** ASSAY_ENOMEM when out of memory. */
int assay__plan_add_symbol(struct assay__plan_symbols *symbols, const char *name);
/** Adds the names that occur in the expressions among them. */
int assay__plan_add_names(struct assay__plan_symbols *symbols, struct assay__arena *arena);
/** Values for all open ones, with notes; an error if there is no guess. */
int assay__plan_settle(struct assay__plan_symbols *symbols, struct assay__workload *workload,
                       struct assay_error *error);
/** Adds a note on a symbol, or on an axis of an input; there is room for the maximum. ASSAY_ENOMEM
 * if `note` is NULL. */
int assay__plan_note(struct assay__workload *workload, struct assay__note_subject subject,
                     const char *note);

/** Case-insensitive search; `word` is lower case. */
bool assay__name_has(const char *name, const char *word);
bool assay__name_is(const char *name, const char *word);
/** Lengths of the past, and dimensions computed from others. */
bool assay__name_like_past(const char *symbol);
bool assay__name_like_sequence(const char *symbol);
/** A sampling rate: "sr", "sample_rate". */
bool assay__name_like_rate(const char *name);

/** Names whose axis 1 is the batch (assay__inputs_batch_axis), in the whole main graph; NULL: out
 * of memory. */
struct assay__map *assay__inputs_batch_second(const struct assay__model *model);

/** Whether an .npy of type `file` can be used for an input of type `model`. (bfloat16 as uint16
 * bits, float8 as uint8 bits) */
bool assay__inputs_npy_fits(enum assay__dtype file, enum assay__dtype model);

#endif
