/* wiring.c - draws the synapses of a wiring. A wiring is determined by the order of the draws: for
 * NCP, every sensory neuron to `sensory_fanout` inter neurons, every inter neuron to `inter_fanout`
 * command neurons, `recurrent_command` synapses among command neurons, and `motor_fanin` command
 * neurons to every motor neuron; after each layer, neurons without a synapse get the mean number of
 * synapses, at least one. Each synapse's polarity is drawn right after its ends. Random and
 * FullyConnected draw polarity from {-1, 1, 1}. A synapse drawn twice has its last polarity. */
#include "zoo/wiring.h"

#include "zoo/numpy_random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *assay__wiring_name(enum assay__wiring_kind kind)
{
    static const char *const names[] = {"AutoNCP", "NCP", "Random", "FullyConnected"};
    return names[kind];
}

bool assay__wiring_layered(const struct assay__wiring *wiring)
{
    return wiring->kind == ASSAY__WIRING_AUTONCP || wiring->kind == ASSAY__WIRING_NCP;
}

static int64_t at_least_one(double value)
{
    return value < 1 ? 1 : (int64_t)value;
}

void assay__wiring_fans(struct assay__wiring *wiring)
{
    double density = 1.0 - wiring->sparsity;
    wiring->sensory_fanout = at_least_one((double)wiring->inter * density);
    wiring->inter_fanout = wiring->motor_fanin = at_least_one((double)wiring->command * density);
    wiring->recurrent_command = at_least_one((double)wiring->command * density * 2);
}

int assay__wiring_auto(struct assay__wiring *wiring, struct assay_error *error)
{
    if (wiring->outputs >= wiring->units - 2)
        return assay_error_set(error, ASSAY_EINVAL,
                               "AutoNCP: %lld outputs of %lld units: at least three units must not "
                               "be outputs",
                               (long long)wiring->outputs, (long long)wiring->units);
    if (!(wiring->sparsity >= 0.1 && wiring->sparsity <= 1.0))
        return assay_error_set(error, ASSAY_EINVAL, "AutoNCP: sparsity %g: must be from 0.1 to 1",
                               wiring->sparsity);
    int64_t rest = wiring->units - wiring->outputs;
    wiring->command = at_least_one(0.4 * (double)rest);
    wiring->inter = rest - wiring->command;
    wiring->motor = wiring->outputs;
    assay__wiring_fans(wiring);
    return 0;
}

/* --- NCP -------------------------------------------------------------------------------------- */

struct ncp {
    struct assay__wiring *wiring;
    struct assay__mt19937 random;
    uint32_t *order; /* scratch: a permutation */
    bool *reached;   /* scratch: neurons of a layer */
};

/* One side of a layer of synapses: neurons `first` … `first + count - 1`. */
struct side {
    int64_t first, count;
};

static void connect(struct ncp *ncp, int8_t *matrix, int64_t source, int64_t target)
{
    int8_t polarity = assay__mt19937_choice(&ncp->random, 2) ? 1 : -1;
    matrix[source * ncp->wiring->units + target] = polarity;
}

/* Every neuron of `from` to `fan` of `to` (reversed: from `fan` of `to`); then neurons of `to`
 * without a synapse get the mean number of synapses, within 1 … most. */
static void connect_layer(struct ncp *ncp, int8_t *matrix, struct side from, struct side to,
                          int64_t fan, int64_t most, bool reversed)
{
    int64_t mean = from.count * fan / to.count;
    if (mean > most) mean = most;
    if (mean < 1) mean = 1;
    memset(ncp->reached, 0, ASSAY__WIRING_MOST * sizeof *ncp->reached);
    for (int64_t i = 0; i < from.count; i++) {
        assay__mt19937_permute(&ncp->random, ncp->order, (uint32_t)to.count);
        for (int64_t k = 0; k < fan; k++) {
            int64_t a = from.first + i, b = to.first + ncp->order[k];
            ncp->reached[ncp->order[k]] = true;
            connect(ncp, matrix, reversed ? b : a, reversed ? a : b);
        }
    }
    for (int64_t i = 0; i < to.count; i++) {
        if (ncp->reached[i]) continue;
        assay__mt19937_permute(&ncp->random, ncp->order, (uint32_t)from.count);
        for (int64_t k = 0; k < mean && k < from.count; k++) {
            int64_t a = from.first + ncp->order[k], b = to.first + i;
            connect(ncp, matrix, reversed ? b : a, reversed ? a : b);
        }
    }
}

static int check_ncp(const struct assay__wiring *wiring, struct assay_error *error)
{
    const struct {
        const char *name;
        int64_t fan, most;
        const char *layer;
    } fans[] = {{"a sensory_fanout", wiring->sensory_fanout, wiring->inter, "inter"},
                {"an inter_fanout", wiring->inter_fanout, wiring->command, "command"},
                {"a motor_fanin", wiring->motor_fanin, wiring->command, "command"}};
    if (wiring->inter < 1 || wiring->command < 1 || wiring->motor < 1)
        return assay_error_set(error, ASSAY_EINVAL,
                               "NCP: inter, command and motor need at least one neuron each");
    for (size_t i = 0; i < sizeof fans / sizeof fans[0]; i++)
        if (fans[i].fan < 0 || fans[i].fan > fans[i].most)
            return assay_error_set(error, ASSAY_EINVAL, "NCP: %s of %lld with %lld %s neurons",
                                   fans[i].name, (long long)fans[i].fan, (long long)fans[i].most,
                                   fans[i].layer);
    if (wiring->seed > UINT32_MAX)
        return assay_error_set(error, ASSAY_EINVAL, "%s: the seed must be below 2^32",
                               assay__wiring_name(wiring->kind));
    return 0;
}

static int build_ncp(struct assay__wiring *wiring, struct assay_error *error)
{
    int code = check_ncp(wiring, error);
    if (code) return code;
    struct ncp ncp = {.wiring = wiring,
                      .order = calloc(ASSAY__WIRING_MOST, sizeof *ncp.order),
                      .reached = calloc(ASSAY__WIRING_MOST, sizeof *ncp.reached)};
    const struct side sensory = {0, wiring->inputs}, motor = {0, wiring->motor},
                      command = {wiring->motor, wiring->command},
                      inter = {wiring->motor + wiring->command, wiring->inter};
    if (!ncp.order || !ncp.reached) {
        code = assay_error_set(error, ASSAY_ENOMEM, "out of memory");
        goto out;
    }
    assay__mt19937_seed(&ncp.random, (uint32_t)wiring->seed);
    connect_layer(&ncp, wiring->sensory, sensory, inter, wiring->sensory_fanout, wiring->inputs,
                  false);
    connect_layer(&ncp, wiring->adjacency, inter, command, wiring->inter_fanout, wiring->command,
                  false);
    for (int64_t i = 0; i < wiring->recurrent_command; i++) {
        int64_t source = assay__mt19937_choice(&ncp.random, (uint32_t)command.count);
        int64_t target = assay__mt19937_choice(&ncp.random, (uint32_t)command.count);
        connect(&ncp, wiring->adjacency, command.first + source, command.first + target);
    }
    connect_layer(&ncp, wiring->adjacency, motor, command, wiring->motor_fanin, wiring->motor,
                  true);
out:
    free(ncp.order);
    free(ncp.reached);
    return code;
}

/* --- Random, FullyConnected ------------------------------------------------------------------- */

static int8_t polarity(struct assay__pcg64 *random)
{
    return assay__pcg64_choice(random, 3) ? 1 : -1;
}

static int random_synapses(struct assay__pcg64 *random, int8_t *matrix, int64_t rows,
                           int64_t columns, double sparsity, int draws)
{
    uint32_t count = (uint32_t)(rows * columns);
    uint32_t size = (uint32_t)rint((double)count * (1 - sparsity));
    uint32_t *chosen = malloc(((size_t)size + 1) * sizeof *chosen);
    if (!chosen) return ASSAY_ENOMEM;
    int code = assay__pcg64_sample(random, count, size, chosen);
    for (uint32_t i = 0; code == 0 && i < size; i++)
        for (int d = 0; d < draws; d++)
            matrix[chosen[i]] = polarity(random);
    free(chosen);
    return code;
}

static int build_flat(struct assay__wiring *wiring, struct assay_error *error)
{
    struct assay__pcg64 random;
    assay__pcg64_seed(&random, wiring->seed);
    if (wiring->kind == ASSAY__WIRING_FULL) {
        for (int64_t i = 0; i < wiring->units * wiring->units; i++)
            wiring->adjacency[i] = polarity(&random);
        for (int64_t i = 0; i < wiring->inputs * wiring->units; i++)
            wiring->sensory[i] = polarity(&random);
        return 0;
    }
    if (!(wiring->sparsity >= 0 && wiring->sparsity < 1))
        return assay_error_set(error, ASSAY_EINVAL,
                               "Random: sparsity %g: must be at least 0 and below 1",
                               wiring->sparsity);
    int code = random_synapses(&random, wiring->adjacency, wiring->units, wiring->units,
                               wiring->sparsity, 1);
    /* the package draws the polarity of a sensory synapse twice */
    if (code == 0)
        code = random_synapses(&random, wiring->sensory, wiring->inputs, wiring->units,
                               wiring->sparsity, 2);
    return code ? assay_error_set(error, code, "out of memory") : 0;
}

int assay__wiring_build(struct assay__wiring *wiring, struct assay__arena *arena,
                        struct assay_error *error)
{
    int code = wiring->kind == ASSAY__WIRING_AUTONCP ? assay__wiring_auto(wiring, error) : 0;
    if (code) return code;
    if (wiring->kind == ASSAY__WIRING_NCP) {
        wiring->units = wiring->inter + wiring->command + wiring->motor;
        wiring->outputs = wiring->motor;
    }
    if (wiring->units < 1 || wiring->units > ASSAY__WIRING_MOST || wiring->inputs < 1 ||
        wiring->inputs > ASSAY__WIRING_MOST || wiring->outputs < 1 ||
        wiring->outputs > wiring->units)
        return assay_error_set(error, ASSAY_EINVAL,
                               "a wiring of %lld units, %lld outputs and %lld inputs: each must be "
                               "from 1 to %d, with no more outputs than units",
                               (long long)wiring->units, (long long)wiring->outputs,
                               (long long)wiring->inputs, ASSAY__WIRING_MOST);
    if (!assay__wiring_layered(wiring)) {
        wiring->motor = wiring->outputs;
        wiring->command = 0;
        wiring->inter = wiring->units - wiring->outputs;
    }
    wiring->adjacency = assay__arena_array(arena, (size_t)wiring->units, (size_t)wiring->units);
    wiring->sensory = assay__arena_array(arena, (size_t)wiring->inputs, (size_t)wiring->units);
    if (!wiring->adjacency || !wiring->sensory)
        return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    return assay__wiring_layered(wiring) ? build_ncp(wiring, error) : build_flat(wiring, error);
}
