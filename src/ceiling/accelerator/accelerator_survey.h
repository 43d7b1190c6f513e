/* accelerator_survey.h - an accelerator measurement in progress: the rows so far, the time left,
 * and the run of one model in a worker. Inside ceiling/ only. */
#ifndef ASSAY_CEILING_ACCELERATOR_ACCELERATOR_SURVEY_H
#define ASSAY_CEILING_ACCELERATOR_ACCELERATOR_SURVEY_H

#include "ceiling/accelerator/accelerator.h"
#include "ceiling/accelerator/accelerator_models.h"
#include "ceiling/ceiling_survey.h"
#include "probe/probe.h"

struct assay__accelerator_survey {
    struct assay__arena *arena;
    const struct assay__machine *machine;
    const struct assay__accelerator *accelerator;
    const struct assay__ceiling_options *options; /* not NULL */
    char worker[4096], folder[4096];
    uint64_t deadline_ns;
    double budget_s;
    bool late;        /* something was left out because the time ran out */
    bool main_memory; /* the device uses the machine's own memory */
    /* the clock of the GPU, read between two windows of a run; NULL: cannot be read, and why */
    const struct assay__probe_ops *clock_ops;
    struct assay__probe *clock_probe;
    struct assay__probe_reading *clock_readings;
    size_t clock_channel;
    const char *clock_why;
    double launch_s;   /* latency.launch; NaN unknown */
    int64_t matmul_n;  /* the best size for the first data type; 0 unknown */
    double matmul_s;   /* of one product of that size */
    double fixed_s;    /* cost of an inference of that size besides its products; NaN unknown */
    const char *fault; /* why no model at all runs; NULL: one did, or none was tried */
    struct assay__ceiling_rows rows;
};

/* What one run of a model took. */
struct assay__accelerator_times {
    double *samples_s; /* sorted, in the arena */
    size_t count;
    double low_s;
    double clock_before_hz, clock_after_hz; /* NaN unknown */
    const char *reason;                     /* why there are no samples; "" */
    bool late;                              /* because the time ran out */
};

/** Runs the model. about_s: probable time of one inference; NaN unknown. 0: look at times->count;
 *  else ASSAY_EINTERRUPTED or ASSAY_ENOMEM. */
int assay__accelerator_time(struct assay__accelerator_survey *survey,
                            const struct assay__accelerator_model *model, double about_s,
                            struct assay__accelerator_times *times);

/** Opens what reads the clock, or explains why nothing does. hardware: set if the driver identifies
 *  the card. */
void assay__accelerator_clock_open(struct assay__accelerator_survey *survey, const char **hardware);
double assay__accelerator_clock_hz(struct assay__accelerator_survey *survey);
void assay__accelerator_clock_close(struct assay__accelerator_survey *survey);

/** All rows, most important first. 0, ASSAY_ENOMEM or ASSAY_EINTERRUPTED. */
int assay__accelerator_rows(struct assay__accelerator_survey *survey);

#endif
