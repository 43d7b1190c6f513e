/* fake_noise.c - adds the noise of a real machine to the steps of the fake engine: per step, per
 * launch, and for the machine, whose state depends only on the machine's time, so that the launches
 * of one comparison share it. Grammar: doc/fake-engine.md. A step takes
 *
 *   scripted x (1 + launch's level + drift(t) + mode(t) + wander(t)) x (1 + white N(0, 1)),   t the
 *     machine's time.
 *
 * mode(t) is a telegraph process: slow and fast periods of exponential length. It is simulated from
 * t = 0, so every session with the same machine seed sees the same one. wander(t) is an
 * Ornstein-Uhlenbeck process on a grid of wander_ns / 8, linear between its points; x_i = p x_(i-1)
 * + sqrt(1 - p^2) e_i with p = exp(-1/8), where e_i depends only on the machine's seed and i. It is
 * started 96 points before it is needed; what lies further back is negligible (exp(-12)): so it too
 * is a function of t. */
#include "engine/fake/fake.h"

#include "base/text.h"

#include <assay/error.h>
#include <math.h>
#include <string.h>

#define SHARE_LEAST (-0.9)
#define SHARE_MOST 100.0
#define FACTOR_LEAST 0.01
#define GRID_PER_MEMORY 8
#define GRID_BEFORE 96
#define GRID_KEEPS 0.88249690258459540286 /* exp(-1/8) */
#define GRID_TAKES 0.47031820816187325384 /* sqrt(1 - exp(-1/4)) */
#define LENGTH_MOST_S 1e6
#define STAYS_MOST 10000000 /* periods of the telegraph process: limits the time it takes */

/* --- script ----------------------------------------------------------------------------------- */

static bool read_share(const char *text, double least, double most, double *out)
{
    return assay__text_double(text, out) == 0 && *out >= least && *out <= most;
}

static bool read_length(const char *text, bool zero, uint64_t *length_ns)
{
    double seconds = 0;
    if (assay__text_duration_s(text, &seconds) || !(seconds >= 0 && seconds <= LENGTH_MOST_S))
        return false;
    *length_ns = (uint64_t)llround(seconds * 1e9);
    return zero || *length_ns > 0;
}

/* Splits "a:b:c" into exactly `count` parts. */
static bool split(char *value, char **parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        parts[i] = value;
        char *colon = strchr(value, ':');
        if ((colon != NULL) != (i + 1 < count)) return false;
        if (!colon) return true;
        *colon = '\0';
        value = colon + 1;
    }
    return true;
}

int assay__fake_noise_set(struct assay__fake_noise *noise, const char *key, char *value)
{
    char *parts[3];
    int64_t seed = 0;
    bool right;
    if (strcmp(key, "white") == 0)
        right = read_share(value, 0, 1, &noise->white);
    else if (strcmp(key, "launch") == 0)
        right = read_share(value, 0, 1, &noise->launch);
    else if (strcmp(key, "launch_modes") == 0)
        right = split(value, parts, 2) &&
                read_share(parts[0], 0, SHARE_MOST, &noise->launch_mode) &&
                read_share(parts[1], 0, 1, &noise->launch_mode_share);
    else if (strcmp(key, "machine") == 0) {
        right = assay__text_int64(value, &seed) == 0;
        noise->machine_seed = (uint64_t)seed;
        return right ? 0 : ASSAY_EINVAL;
    } else if (strcmp(key, "machine_at") == 0)
        return read_length(value, true, &noise->machine_at_ns) ? 0 : ASSAY_EINVAL;
    else if (strcmp(key, "machine_drift") == 0)
        right = split(value, parts, 2) &&
                read_share(parts[0], SHARE_LEAST, SHARE_MOST, &noise->drift) &&
                read_length(parts[1], false, &noise->drift_ns);
    else if (strcmp(key, "machine_modes") == 0)
        right = split(value, parts, 3) && read_share(parts[0], 0, SHARE_MOST, &noise->mode) &&
                read_share(parts[1], 0.001, 0.999, &noise->mode_share) &&
                read_length(parts[2], false, &noise->mode_ns) && noise->mode_ns >= 1000;
    else if (strcmp(key, "machine_wander") == 0)
        right = split(value, parts, 2) && read_share(parts[0], 0, 1, &noise->wander) &&
                read_length(parts[1], false, &noise->wander_ns) && noise->wander_ns >= 1000;
    else
        return ASSAY_ENOTFOUND;
    noise->any = noise->any || right;
    return right ? 0 : ASSAY_EINVAL;
}

/* --- the machine ------------------------------------------------------------------------------ */

/* Length of a period: exponential. Slow ones last mode_ns on average, fast ones as long as the
 * share requires. */
static double stay_ns(const struct assay__fake_noise *noise, struct assay__fake_noise_state *state)
{
    double mean = (double)noise->mode_ns;
    if (!state->slow) mean *= (1 - noise->mode_share) / noise->mode_share;
    return -mean * log(1 - assay__random_unit(&state->telegraph));
}

static double grid_normal(const struct assay__fake_noise *noise, uint64_t point)
{
    struct assay__random random;
    assay__random_seed(&random, noise->machine_seed * 0xd1342543de82ef95u + point);
    return assay__random_normal(&random);
}

static double wander_at(const struct assay__fake_noise *noise,
                        struct assay__fake_noise_state *state, double at_ns)
{
    double place = at_ns * GRID_PER_MEMORY / (double)noise->wander_ns, before = floor(place);
    uint64_t point = (uint64_t)before;
    /* Unsigned: points before 0 have numbers too. */
    if (!state->wandered || point - state->wander_at > GRID_BEFORE) {
        state->wander_at = point - GRID_BEFORE;
        state->wander_ends[1] = grid_normal(noise, state->wander_at + 1);
        state->wander_ends[0] = state->wander_ends[1];
        state->wandered = true;
    }
    while (state->wander_at != point) {
        state->wander_at++;
        state->wander_ends[0] = state->wander_ends[1];
        state->wander_ends[1] = GRID_KEEPS * state->wander_ends[0] +
                                GRID_TAKES * grid_normal(noise, state->wander_at + 1);
    }
    return noise->wander * (state->wander_ends[0] +
                            (place - before) * (state->wander_ends[1] - state->wander_ends[0]));
}

/* --- streams ---------------------------------------------------------------------------------- */

void assay__fake_noise_open(const struct assay__fake_noise *noise, uint64_t seed, uint64_t open_ns,
                            struct assay__fake_noise_state *state)
{
    struct assay__random own;
    *state = (struct assay__fake_noise_state){.open_ns = open_ns};
    assay__random_seed(&own, seed ^ 0x6c61756e63680000u); /* separate from the steps' generator */
    if (noise->launch > 0) state->level = noise->launch * assay__random_normal(&own);
    if (noise->launch_mode > 0 && assay__random_unit(&own) < noise->launch_mode_share)
        state->level += noise->launch_mode;
    assay__random_seed(&state->telegraph, noise->machine_seed ^ 0x6d6f6465730000u);
    if (noise->mode_ns) { /* the period that contains t = 0: exponential too, because it is
                             memoryless */
        state->slow = assay__random_unit(&state->telegraph) < noise->mode_share;
        state->mode_until_ns = stay_ns(noise, state);
    }
}

double assay__fake_noise_factor(const struct assay__fake_noise *noise,
                                struct assay__fake_noise_state *state, uint64_t now_ns,
                                struct assay__random *random)
{
    double at_ns = (double)noise->machine_at_ns + (double)(now_ns - state->open_ns);
    double factor = 1 + state->level;
    if (noise->drift_ns) factor += noise->drift * fmin(at_ns / (double)noise->drift_ns, 1);
    for (int i = 0; noise->mode_ns && i < STAYS_MOST && state->mode_until_ns <= at_ns; i++) {
        state->slow = !state->slow;
        state->mode_until_ns += stay_ns(noise, state);
    }
    if (state->slow) factor += noise->mode;
    if (noise->wander_ns) factor += wander_at(noise, state, at_ns);
    if (noise->white > 0) factor *= 1 + noise->white * assay__random_normal(random);
    return fmax(factor, FACTOR_LEAST);
}
