/* ncp_params.c - the parameters of cfc and ltc: sizes, wiring, form, state and time. */
#include "zoo/ncp_net.h"

#include "base/text.h"

#include <string.h>

const struct assay__zoo_param assay__ncp_wiring_params[] = {
    ASSAY__ZOO_INT("units", "64", 1, ASSAY__WIRING_MOST, "neurons"),
    ASSAY__ZOO_INT("outputs", "16", 1, ASSAY__WIRING_MOST, "outputs: motor neurons of an NCP"),
    ASSAY__ZOO_INT("inputs", "32", 1, ASSAY__WIRING_MOST, "inputs: sensory neurons"),
    ASSAY__ZOO_ONE_OF("wiring", "autoncp", "autoncp|ncp|random|full",
                      "how the neurons are connected"),
    ASSAY__ZOO_REAL("sparsity", "0.5", 0, 1, "share of synapses that are left out"),
    ASSAY__ZOO_INT("seed", "22222", 0, (double)INT64_MAX,
                   "of the wiring; random and full: 1111 unless given"),
    ASSAY__ZOO_INT("inter", "", 1, ASSAY__WIRING_MOST, "wiring=ncp: inter neurons"),
    ASSAY__ZOO_INT("command", "", 1, ASSAY__WIRING_MOST, "wiring=ncp: command neurons"),
    ASSAY__ZOO_INT("motor", "", 1, ASSAY__WIRING_MOST, "wiring=ncp: motor neurons"),
    ASSAY__ZOO_INT("sensory_fanout", "", 0, ASSAY__WIRING_MOST,
                   "wiring=ncp: synapses from each sensory neuron"),
    ASSAY__ZOO_INT("inter_fanout", "", 0, ASSAY__WIRING_MOST,
                   "wiring=ncp: synapses from each inter neuron"),
    ASSAY__ZOO_INT("recurrent_command", "", 0, 1 << 20,
                   "wiring=ncp: synapses among command neurons"),
    ASSAY__ZOO_INT("motor_fanin", "", 0, ASSAY__WIRING_MOST,
                   "wiring=ncp: synapses to each motor neuron"),
    {0},
};

const struct assay__zoo_param assay__ncp_time_params[] = {
    ASSAY__ZOO_ONE_OF("mixed_memory", "0", "0|1", "1: with an LSTM cell beside it"),
    ASSAY__ZOO_INT("batch", "(symbolic)", 1, 1 << 20, "batch size"),
    ASSAY__ZOO_INT("seq", "1", 1, 4096, "time steps"),
    ASSAY__ZOO_ONE_OF(
        "form", "step", "step|unrolled|scan",
        "one step, all steps as nodes, or a Scan; several steps: unrolled unless given"),
    ASSAY__ZOO_ONE_OF("return_sequences", "1", "1|0", "0: the output of the last step only"),
    ASSAY__ZOO_WORDS("dt", "1|input", "time between steps, or an input"),
    ASSAY__ZOO_WORDS("weights", "FILE", "trained weights, a safetensors file"),
    {0},
};

#define NOT_GIVEN INT64_MIN

static int64_t given_or(int64_t given, int64_t otherwise)
{
    return given == NOT_GIVEN ? otherwise : given;
}

/* The numbers of an NCP; what is not given is as AutoNCP would have it. units: as given. */
static void read_ncp(struct assay__zoo_params *params, struct assay__wiring *wiring, int64_t units)
{
    static const char *const keys[] = {"inter",          "command",      "motor",
                                       "sensory_fanout", "inter_fanout", "recurrent_command",
                                       "motor_fanin"};
    int64_t given[7];
    bool groups, any = false;
    for (int i = 0; i < 7; i++)
        given[i] = assay__zoo_int_or(params, keys[i], NOT_GIVEN);
    for (int i = 0; i < 7; i++)
        any = any || given[i] != NOT_GIVEN;
    if (any && wiring->kind != ASSAY__WIRING_NCP)
        assay__zoo_refuse(
            params, "inter, command, motor, sensory_fanout, inter_fanout, recurrent_command and "
                    "motor_fanin belong to wiring=ncp");
    if (params->code || wiring->kind != ASSAY__WIRING_NCP) return;
    groups = given[0] != NOT_GIVEN && given[1] != NOT_GIVEN;
    if (given[2] != NOT_GIVEN) wiring->outputs = given[2];
    if (groups && units != NOT_GIVEN && units != given[0] + given[1] + wiring->outputs)
        assay__zoo_refuse(params, "units is not the sum of inter, command and motor: leave it out");
    if (groups) wiring->units = given[0] + given[1] + wiring->outputs;
    int code = assay__wiring_auto(wiring, groups ? NULL : params->error);
    if (code && !groups) params->code = code;
    wiring->motor = wiring->outputs;
    wiring->command = given_or(given[1], given[0] == NOT_GIVEN
                                             ? wiring->command
                                             : wiring->units - wiring->outputs - given[0]);
    wiring->inter = given_or(given[0], wiring->units - wiring->outputs - wiring->command);
    double density = 1 - wiring->sparsity;
    int64_t half_inter = (int64_t)((double)wiring->inter * density),
            half_command = (int64_t)((double)wiring->command * density),
            recurrent = (int64_t)((double)wiring->command * density * 2);
    wiring->sensory_fanout = given_or(given[3], half_inter > 1 ? half_inter : 1);
    wiring->inter_fanout = given_or(given[4], half_command > 1 ? half_command : 1);
    wiring->recurrent_command = given_or(given[5], recurrent > 1 ? recurrent : 1);
    wiring->motor_fanin = given_or(given[6], half_command > 1 ? half_command : 1);
}

int assay__ncp_read_params(struct assay__ncp_net *ncp, struct assay__zoo_params *params, bool dense)
{
    struct assay__wiring *wiring = &ncp->wiring;
    const char *dt = assay__zoo_text(params, "dt");
    if (dense && assay__zoo_given(params, "wiring"))
        assay__zoo_refuse(params, "a backbone mixes all neurons, so that a wiring has no meaning "
                                  "with it: give backbone_units and backbone_layers, or wiring");
    wiring->kind = (enum assay__wiring_kind)assay__zoo_choice(params, "wiring");
    wiring->units = assay__zoo_int(params, "units");
    wiring->outputs = assay__zoo_int(params, "outputs");
    wiring->inputs = ncp->inputs = assay__zoo_int(params, "inputs");
    wiring->sparsity = assay__zoo_number(params, "sparsity");
    wiring->seed = (uint64_t)(assay__wiring_layered(wiring)
                                  ? assay__zoo_int(params, "seed")
                                  : assay__zoo_int_or(params, "seed", 1111));
    read_ncp(params, wiring, assay__zoo_int_or(params, "units", NOT_GIVEN));
    ncp->wired = !dense;
    ncp->units = wiring->units;
    ncp->outputs = wiring->outputs;
    if (dense && ncp->outputs > ncp->units)
        assay__zoo_refuse(params, "there are more outputs than units");
    ncp->batch = assay__zoo_int(params, "batch");
    ncp->mixed_memory = assay__zoo_choice(params, "mixed_memory") == 1;
    ncp->weights_path = assay__zoo_text(params, "weights");
    ncp->seq = assay__zoo_int(params, "seq");
    ncp->form = ncp->seq > 1 && !assay__zoo_given(params, "form")
                    ? ASSAY__NCP_UNROLLED
                    : assay__zoo_choice(params, "form");
    if (ncp->form == ASSAY__NCP_STEP && ncp->seq > 1)
        assay__zoo_refuse(params,
                          "form=step is one time step: leave seq out, or take unrolled or scan");
    ncp->return_sequences = assay__zoo_choice(params, "return_sequences") == 0;
    ncp->dt = 1;
    if (!dt || strcmp(dt, "none") == 0) return params->code;
    ncp->dt_input = strcmp(dt, "input") == 0;
    if (!ncp->dt_input && (assay__text_double(dt, &ncp->dt) || !(ncp->dt > 1e-6 && ncp->dt < 1e6)))
        assay__zoo_refuse(params, "dt is a time between steps (above 1e-6, below 1e6), or 'input'");
    return params->code;
}
