/* feedback.h - which outputs of a model become inputs of the next inference: the state of a
 * recurrent cell, the cache of a streaming model. They are given, or found where names
 * (feedback_names.c), recurrent cells (feedback_graph.c) or a shape leave no doubt. */
#ifndef ASSAY_MODEL_INPUTS_FEEDBACK_H
#define ASSAY_MODEL_INPUTS_FEEDBACK_H

#include "model/inputs/inputs.h"
#include "profile/facts.h"

/** The pairs that were asked for ("output=input"; {"none"}: no pair at all), else those found
 *  whose type and shape are equal. Inputs that are fed back start at zero unless the options
 *  gave their values, and what they hold later is not known: the workload is changed. Names and the
 *  list lie in the arena. */
int assay__feedback_plan(const struct assay__model *model, const char *const *states,
                         size_t state_count, struct assay__workload *workload,
                         struct assay__arena *arena, struct assay__feedback **feedback,
                         size_t *count, struct assay_error *error);

/** How much audio one inference processes, if the inputs show it: *samples of a waveform, next to
 * the chosen value of a sampling rate. False: they do not. */
bool assay__workload_sound(const struct assay__workload *workload, int64_t *samples, double *rate);

/* --- names (feedback_names.c) ----------------------------------------------------------------- */

#define ASSAY__STATE_STEM 128

/** What the name of an output or input implies about a state. */
struct assay__state_name {
    char stem[ASSAY__STATE_STEM]; /* without the words below, lower case; "" nothing is left */
    bool passed;                  /* a word says that time has passed, or not yet: "next", "past" */
    bool aside;                   /* a word says which side it is of: "out", "in" */
    bool state;                   /* what is left has a word for a state */
    bool recurrent;               /* … that means nothing else: "state", "gru"; not "memory" */
    bool ends; /* an output "…N", an input "…0", which is still in its stem */
};

void assay__state_name_read(const char *name, bool output, struct assay__state_name *out);
/** The stem of the output that would be the next value of this input, as a second attempt: "h" for
 * "h0". False: there is none. */
bool assay__state_name_again(struct assay__state_name *input);
/** Whether these two names with the same stem are a state and its next value. */
bool assay__state_names_pair(const struct assay__state_name *output,
                             const struct assay__state_name *input);

/* --- the graph (feedback_graph.c) ------------------------------------------------------------- */

/** For every output of the graph that recurrent cells end with: the name that they begin with,
 *  which need not be an input; "" for others. ASSAY_ENOMEM. */
int assay__feedback_cells(const struct assay__graph *graph, const char **inputs);

#endif
