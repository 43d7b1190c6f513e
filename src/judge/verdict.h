/* verdict.h - what a reader of a trial should know first: the verdict (one sentence of at most 20
 * words), the key numbers of its task, and how far the numbers can be trusted. A pure function of
 * the profile's typed facts.
 *
 * The verdict states the time, how far that is from the device's peak (the layers' roofs), what
 * takes most of it, and the change that was measured to help the most. Numbers that cannot be
 * trusted are not interpreted: then it only says so, and what to do. Caveats about method and
 * machine affect the trust, never the verdict. */
#ifndef ASSAY_JUDGE_VERDICT_H
#define ASSAY_JUDGE_VERDICT_H

#include "cost/roofline.h"
#include "profile/profile.h"

#define ASSAY__VERDICT_WORDS 20 /* at most, separated by spaces */
#define ASSAY__KPIS 12          /* at most */

/* From LAYERS on, the verdict says nothing else. */
enum assay__trust {
    ASSAY__TRUST_STABLE,
    ASSAY__TRUST_FEW,         /* too few samples to say whether it is stable */
    ASSAY__TRUST_ESTIMATED,   /* nothing was measured: a prediction */
    ASSAY__TRUST_UNKNOWN,     /* nobody judged it */
    ASSAY__TRUST_UNSTEADY,    /* irregular within launches, but their medians agree */
    ASSAY__TRUST_LAYERS,      /* the latency is valid, but the layers do not add up to it */
    ASSAY__TRUST_NOISY,       /* unstable: the median itself is uncertain */
    ASSAY__TRUST_INTERRUPTED, /* stopped or killed before its end */
    ASSAY__TRUST_FAILED,      /* no latency */
};

/** A key number. Its label reads well before and after it: "p95 34.4 ms", "32.4 images/s". */
struct assay__kpi {
    const char *label;
    const struct assay_metric *metric; /* known */
    bool is_rate; /* the label contains the unit: the number is shown without one */
};

struct assay__trial_verdict {
    const char *text; /* a sentence with its full stop */
    enum assay__trust trust;
    const char *chip;     /* "stable ±1 %", "noisy ±15 %", "12 samples", … */
    double width;         /* the 0.01 of it; NaN unknown */
    const char **reasons; /* sentences without full stops: why the trust is what it is, what
                             disturbed the run, how the layers were timed */
    size_t reason_count;
    struct assay__kpi kpis[ASSAY__KPIS];
    size_t kpi_count;
    /* what the sentence rests on */
    const char *noun;   /* of one inference: "image", "inference", "batch of 8" */
    double distance;    /* latency / what the roofs allow; NaN unknown */
    const char *cause;  /* operator, or "overhead of small layers", "engine overhead", "no layer";
                         * "" unknown */
    double cause_share; /* of an inference; NaN */
    const struct assay__finding *fix; /* NULL: none was verified */
};

/** For one trial; everything is in the arena or in the profile. roofline: that of the trial. 0 or
 * ASSAY_ENOMEM. */
int assay__trial_verdict(const struct assay_profile *profile, const struct assay__trial *trial,
                         const struct assay__roofline *roofline, struct assay__arena *arena,
                         struct assay__trial_verdict *out);
/** The change with the largest measured speed-up of an inference, or else of samples per second;
 * NULL: none. */
const struct assay__finding *assay__best_verified(const struct assay_profile *profile);
/** The number of words, separated by spaces. */
size_t assay__count_words(const char *text);

#endif
