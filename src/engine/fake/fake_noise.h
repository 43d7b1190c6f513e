/* fake_noise.h - the noise of the fake engine that a real machine shows: of each step, of each
 * launch, and of the machine, whose state depends on the machine's time alone, so that the launches
 * of one comparison share it. Grammar: doc/fake-engine.md. */
#ifndef ASSAY_ENGINE_FAKE_FAKE_NOISE_H
#define ASSAY_ENGINE_FAKE_FAKE_NOISE_H

#include "base/stats.h"

/** What the script says. Shares are relative to the scripted time: 0.02 is 2 %. All zero: no
 *  noise. */
struct assay__fake_noise {
    double white;                          /* standard deviation of each step */
    double launch;                         /* standard deviation of a launch's level */
    double launch_mode, launch_mode_share; /* this share of launches is so much slower */
    uint64_t machine_seed, machine_at_ns;  /* the machine's time when the session is open */
    double drift;                          /* reached after drift_ns of the machine's time */
    uint64_t drift_ns;
    double mode, mode_share; /* of the machine's time, in stays of mode_ns on average */
    uint64_t mode_ns;
    double wander; /* standard deviation, forgotten over wander_ns */
    uint64_t wander_ns;
    bool any;
};

/** The state of one stream. */
struct assay__fake_noise_state {
    double level;     /* of this launch, the same for all streams */
    uint64_t open_ns; /* the session's clock when it was open */
    struct assay__random telegraph;
    double mode_until_ns; /* of the machine's time */
    bool slow;
    bool wandered;         /* the two ends below are known */
    uint64_t wander_at;    /* the grid point before */
    double wander_ends[2]; /* standard normal, at that point and the next */
};

/** Takes one key of the script. 0, ASSAY_ENOTFOUND (not a key of noise), ASSAY_EINVAL. `value` is
 *  written to. */
int assay__fake_noise_set(struct assay__fake_noise *noise, const char *key, char *value);
/** A new stream. `seed` is the launch's, the same for all its streams. */
void assay__fake_noise_open(const struct assay__fake_noise *noise, uint64_t seed, uint64_t open_ns,
                            struct assay__fake_noise_state *state);
/** What a step that begins at now_ns of the session's clock is multiplied by. At least 0.01. */
double assay__fake_noise_factor(const struct assay__fake_noise *noise,
                                struct assay__fake_noise_state *state, uint64_t now_ns,
                                struct assay__random *random);

#endif
