/* inputs_guess.h - sizes for dimensions that neither the file nor an option fixes, by their
 * meaning: the sides of an image, tokens, samples of audio. */
#ifndef ASSAY_MODEL_INPUTS_INPUTS_GUESS_H
#define ASSAY_MODEL_INPUTS_INPUTS_GUESS_H

#include "model/graph.h"

/** After the usual sizes of a kind, this many others are tried, and used only if no contradiction
 * follows from them. */
#define ASSAY__GUESS_SEARCHED 1024

struct assay__guess {
    int64_t size;     /* -1: nothing sensible is known */
    const char *what; /* "tokens"; "": the batch */
    size_t tries;     /* number of different sizes to try */
};

/** Properties of the whole model, determined once. */
struct assay__guess_facts {
    const struct assay__model *model;
    bool signal;   /* it has a convolution along one axis, or a Fourier transform */
    bool stateful; /* an input is a state: it is run on one chunk after the other */
    bool tokens;   /* an input of token ids */
    bool line;     /* it shrinks rows more than columns: a reader of lines of text */
    bool whole;    /* its answer has no axis beside batch and classes */
    bool step;     /* its token ids are one at a time: what came before is in a cache */
    int64_t stated_high, stated_wide; /* the sides of an image that its metadata name; 0 none */
};

/** An input, and what is fixed about it so far. */
struct assay__guess_input {
    const struct assay__value *value;
    const int64_t *dims; /* rank entries; -1 open */
    int batch_axis;
};

struct assay__guess_facts assay__guess_look(const struct assay__model *model,
                                            const struct assay__guess_input *inputs, size_t count);
/** The size to try for an open axis; `attempt` counts the sizes that were refused before. */
struct assay__guess assay__guess_axis(const struct assay__guess_facts *facts,
                                      const struct assay__guess_input *input, int axis,
                                      size_t attempt);
/** Whether an input of these sizes is an image: four axes, 1, 3 or 4 channels, at least 8 × 8
 * pixels; not a spectrogram, nor a cache of keys or values. */
bool assay__guess_is_image(const struct assay__value *value, const int64_t *dims, int rank);
/** By the name alone, if no axis has that name (a part of "past + seq"). */
struct assay__guess assay__guess_name(const struct assay__guess_facts *facts, const char *symbol,
                                      size_t attempt);

#endif
