/* fake.h - shared by the files of the fake engine: its session, and what each file does with it.
 *
 *   fake.c           the engine's functions: open, step, generations, layers, close; its clock
 *   fake_script.c    reads the script into the session
 * Only fake.c creates and frees the session. */
#ifndef ASSAY_ENGINE_FAKE_FAKE_H
#define ASSAY_ENGINE_FAKE_FAKE_H

#include "base/arena.h"
#include "base/stats.h"
#include "engine/engine.h"

#include <stdatomic.h>

#define ASSAY__FAKE_STEADY_MOST 64

/* --- noise of a real machine (fake_noise.c) --------------------------------------------------- */

/** What the script specifies. Shares are relative to the scripted time: 0.02 is 2 %. All zero: no
 *  noise. */
struct assay__fake_noise {
    double white;                          /* standard deviation of each step */
    double launch;                         /* standard deviation of a launch's level */
    double launch_mode, launch_mode_share; /* this share of launches is slower by that much */
    uint64_t machine_seed, machine_at_ns;  /* the machine's time when the session is opened */
    double drift;                          /* reached after drift_ns of the machine's time */
    uint64_t drift_ns;
    double mode, mode_share; /* share of the machine's time, in periods of mode_ns on average */
    uint64_t mode_ns;
    double wander; /* standard deviation, decaying over wander_ns */
    uint64_t wander_ns;
    bool any;
};

/** The state of one stream. */
struct assay__fake_noise_state {
    double level;     /* of this launch, the same for all streams */
    uint64_t open_ns; /* the session's clock when it was opened */
    struct assay__random telegraph;
    double mode_until_ns; /* of the machine's time */
    bool slow;
    bool wandered;         /* the two ends below are known */
    uint64_t wander_at;    /* the grid point before */
    double wander_ends[2]; /* standard normal, at that point and the next */
};

/** Parses one key of the script. 0, ASSAY_ENOTFOUND (not a noise key), ASSAY_EINVAL. `value` is
 *  modified. */
int assay__fake_noise_set(struct assay__fake_noise *noise, const char *key, char *value);
/** A new stream. `seed` is the launch's, the same for all its streams. */
void assay__fake_noise_open(const struct assay__fake_noise *noise, uint64_t seed, uint64_t open_ns,
                            struct assay__fake_noise_state *state);
/** Factor for a step that starts at now_ns of the session's clock. At least 0.01. */
double assay__fake_noise_factor(const struct assay__fake_noise *noise,
                                struct assay__fake_noise_state *state, uint64_t now_ns,
                                struct assay__random *random);

/* --- the session ------------------------------------------------------------------------------ */

struct assay__fake_stream {
    double *states; /* one number per feedback */
    uint64_t now_ns;
    int64_t steps; /* done or begun */
    struct assay__random random;
    struct assay__fake_noise_state noise;
    char padding[64]; /* the streams of several threads are in one array */
};

struct assay__session {
    struct assay__arena *arena;
    unsigned serial; /* identifies the session in a thread's record of its last step */

    bool real_clock;
    double load_ns, compile_ns;
    uint64_t first_ns;
    bool has_first;
    int64_t warmup_count;
    uint64_t warmup_ns;
    uint64_t steady_ns[ASSAY__FAKE_STEADY_MOST];
    size_t steady_count;
    int64_t spike_every;
    uint64_t spike_ns, noise_ns, drift_ns, pace_ns;
    uint64_t seed;
    struct assay__fake_noise noise;
    int64_t crash_at, hang_at, oom_at, exit_at, error_at; /* 0 never */
    const char *open_error, *layers_error, *log, *hardware;
    double memory_bytes, memory_peak_bytes, hold_bytes;
    double allocate_bytes, leak_bytes; /* of each step; 0 none */
    int64_t leak_until;                /* the last step that leaks; 0: all do */
    double engine_ns;
    int threads;

    struct assay__layer *layers;
    size_t layer_count;
    double *counts; /* of the layers, if counters were requested */

    /* generations: `steady` and the like give the time of the first token */
    uint64_t decode_ns[ASSAY__FAKE_STEADY_MOST], choose_ns;
    size_t decode_count;
    int64_t tokens, prompt, batch; /* tokens 0: a step is one run */
    uint64_t *times_ns;            /* GENERATIONS_KEPT x tokens */
    int64_t *ids;                  /* batch x tokens */
    size_t generations, dropped;

    uint64_t open_ns; /* the clock when the session was opened */
    struct assay__fake_stream *streams;
    int stream_count;
    float output[4];
    double output_times; /* its usual values times this; NaN */
    int64_t output_dims[2];
    struct assay__host_tensor *tensors; /* the output, then the states */

    /* feedback: the next state is the last × state_times + state_plus */
    double state_times, state_plus;
    double *first_states; /* by feedback: number of the input that it begins with */
    size_t feedback_count;
    void *held;
    char error_text[64];
    atomic_bool failed;
};

/** Parses "key=value; …" into the session; what it does not mention keeps its value. Strings and
 *  layers are in the arena. */
int assay__fake_script_parse(struct assay__session *session, const char *script,
                             struct assay_error *error);

/** The script of the options with every `when_WHAT=VALUE:ITEM` replaced by its ITEM or by nothing.
 *  Never NULL. */
const char *assay__fake_script_for(struct assay__arena *arena,
                                   const struct assay__session_options *options);

/* --- fake_devices.c, fake_assignment.c -------------------------------------------------------- */

int assay__fake_devices(const char *library, assay__device_about_fn *about, assay__device_fn *found,
                        void *context, struct assay_error *error);

const char *assay__fake_device_kind(const char *name); /* its class, by the name */
bool assay__fake_has_device(const char *name);
/** What $ASSAY_FAKE_SCRIPTS adds to the script on that device, in the arena; NULL: nothing, or out
 *  of memory. */
const char *assay__fake_device_script(const char *device, struct assay__arena *arena);
/** Its "gone=N:FILE": the N-th opening succeeded, this one fails. */
int assay__fake_device_gone(const char *script, struct assay_error *error);

/** Which provider would get which node. */
int assay__fake_assignment(const struct assay__assignment_options *options,
                           assay__assigned_fn *found, void *context, struct assay_error *error);

/** For tests: called at each step of the fake engine (1) and at each of its layers (its share of a
 *  step). NULL: none. */
extern void (*assay__fake_step_hook)(double steps);

#endif
