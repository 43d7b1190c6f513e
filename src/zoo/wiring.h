/* wiring.h - the connections of a Neural Circuit Policy: the wirings AutoNCP, NCP, Random and
 * FullyConnected, synapse by synapse as drawn by the public package `ncps` (1.0.1) from the same
 * seed. Neuron numbers: motor [0, m), command [m, m + c), inter the rest; Random and FullyConnected
 * have no command neurons, and the first `outputs` are the motor neurons. */
#ifndef ASSAY_ZOO_WIRING_H
#define ASSAY_ZOO_WIRING_H

#include "base/arena.h"

#include <assay/error.h>
#include <stdbool.h>
#include <stdint.h>

#define ASSAY__WIRING_MOST 4096 /* neurons; inputs */

enum assay__wiring_kind {
    ASSAY__WIRING_AUTONCP,
    ASSAY__WIRING_NCP,
    ASSAY__WIRING_RANDOM,
    ASSAY__WIRING_FULL
};
const char *assay__wiring_name(enum assay__wiring_kind kind); /* "AutoNCP" … */

struct assay__wiring {
    enum assay__wiring_kind kind;
    int64_t units, outputs, inputs;
    double sparsity; /* AutoNCP: 0.1 to 1; Random: 0 to below 1 */
    uint64_t seed;   /* AutoNCP, NCP: below 2^32 */
    /* NCP (AutoNCP sets them) */
    int64_t inter, command, motor;
    int64_t sensory_fanout, inter_fanout, recurrent_command, motor_fanin;
    /* set by assay__wiring_build: -1, 0, 1; [source][target], row by row */
    int8_t *adjacency; /* units × units */
    int8_t *sensory;   /* inputs × units */
};

/** Sets inter … motor_fanin from units, outputs and sparsity as AutoNCP does. */
int assay__wiring_auto(struct assay__wiring *wiring, struct assay_error *error);
/** Sets only sensory_fanout … motor_fanin, from inter, command and sparsity. */
void assay__wiring_fans(struct assay__wiring *wiring);
/** Draws the synapses. AutoNCP calls assay__wiring_auto first; NCP sets units and outputs. */
int assay__wiring_build(struct assay__wiring *wiring, struct assay__arena *arena,
                        struct assay_error *error);
bool assay__wiring_layered(const struct assay__wiring *wiring); /* inter, command, motor */

#endif
