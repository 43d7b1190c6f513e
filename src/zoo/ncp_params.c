/* ncp_params.c - the parameters of cfc and ltc: sizes, wiring, form, state and time. */
#include "zoo/ncp_net.h"

#include "base/text.h"

#include <string.h>

const struct assay__zoo_param assay__ncp_wiring_params[] = {
    ASSAY__ZOO_INT("units", "64", 1, ASSAY__WIRING_MOST, "number of neurons"),
    ASSAY__ZOO_INT("outputs", "16", 1, ASSAY__WIRING_MOST, "outputs: motor neurons of an NCP"),
    ASSAY__ZOO_INT("inputs", "32", 1, ASSAY__WIRING_MOST, "inputs: sensory neurons"),
    ASSAY__ZOO_ONE_OF("wiring", "autoncp", "autoncp|ncp|random|full",
                      "how the neurons are connected"),
    ASSAY__ZOO_REAL("sparsity", "0.5", 0, 1, "share of synapses left out"),
    ASSAY__ZOO_INT("seed", "22222", 0, (double)INT64_MAX,
                   "seed of the wiring; 1111 by default for random and full"),
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
    ASSAY__ZOO_ONE_OF("mixed_memory", "0", "0|1", "1: with an LSTM in front of the cell"),
    ASSAY__ZOO_INT("batch", "(symbolic)", 1, 1 << 20, "batch size"),
    ASSAY__ZOO_INT("seq", "1", 1, 4096, "time steps"),
    ASSAY__ZOO_ONE_OF(
        "form", "step", "step|unrolled|scan",
        "one step, all steps as nodes, or a Scan; unrolled by default for several steps"),
    ASSAY__ZOO_ONE_OF("return_sequences", "1", "1|0", "0: the output of the last step only"),
    ASSAY__ZOO_WORDS("dt", "1|input", "time between steps, or an input"),
    ASSAY__ZOO_WORDS("weights", "FILE", "trained weights, a safetensors file"),
    {0},
};

/* The numbers of an NCP; what is not given is chosen as by AutoNCP. */
static void read_ncp(struct assay__zoo_params *params, struct assay__wiring *wiring)
{
    static const char *const keys[] = {"inter",          "command",      "motor",
                                       "sensory_fanout", "inter_fanout", "recurrent_command",
                                       "motor_fanin"};
    bool any = false;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        any |= assay__zoo_given(params, keys[i]);
    if (any && wiring->kind != ASSAY__WIRING_NCP)
        assay__zoo_refuse(params, "inter, command, motor, sensory_fanout, inter_fanout, "
                                  "recurrent_command and motor_fanin require wiring=ncp");
    if (params->code || wiring->kind != ASSAY__WIRING_NCP) return;
    int64_t inter = assay__zoo_int_or(params, "inter", -1),
            command = assay__zoo_int_or(params, "command", -1);
    bool groups = inter >= 0 && command >= 0;
    wiring->outputs = assay__zoo_int_or(params, "motor", wiring->outputs);
    if (groups && assay__zoo_given(params, "units") &&
        wiring->units != inter + command + wiring->outputs)
        assay__zoo_refuse(params, "units is not the sum of inter, command and motor: omit it");
    if (groups) wiring->units = inter + command + wiring->outputs;
    int code = assay__wiring_auto(wiring, groups ? NULL : params->error);
    if (code && !groups) params->code = code;
    wiring->motor = wiring->outputs;
    if (command >= 0)
        wiring->command = command;
    else if (inter >= 0)
        wiring->command = wiring->units - wiring->outputs - inter;
    wiring->inter = inter >= 0 ? inter : wiring->units - wiring->outputs - wiring->command;
    assay__wiring_fans(wiring);
    wiring->sensory_fanout = assay__zoo_int_or(params, keys[3], wiring->sensory_fanout);
    wiring->inter_fanout = assay__zoo_int_or(params, keys[4], wiring->inter_fanout);
    wiring->recurrent_command = assay__zoo_int_or(params, keys[5], wiring->recurrent_command);
    wiring->motor_fanin = assay__zoo_int_or(params, keys[6], wiring->motor_fanin);
}

int assay__ncp_read_params(struct assay__ncp_net *ncp, struct assay__zoo_params *params, bool dense)
{
    struct assay__wiring *wiring = &ncp->wiring;
    const char *dt = assay__zoo_text(params, "dt");
    if (dense && assay__zoo_given(params, "wiring"))
        assay__zoo_refuse(params, "a backbone mixes all neurons, so a wiring has no meaning: give "
                                  "backbone_units and backbone_layers, or wiring");
    wiring->kind = (enum assay__wiring_kind)assay__zoo_choice(params, "wiring");
    wiring->units = assay__zoo_int(params, "units");
    wiring->outputs = assay__zoo_int(params, "outputs");
    wiring->inputs = ncp->inputs = assay__zoo_int(params, "inputs");
    wiring->sparsity = assay__zoo_number(params, "sparsity");
    wiring->seed = (uint64_t)(assay__wiring_layered(wiring)
                                  ? assay__zoo_int(params, "seed")
                                  : assay__zoo_int_or(params, "seed", 1111));
    read_ncp(params, wiring);
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
                          "form=step is a single time step: omit seq, or use unrolled or scan");
    ncp->return_sequences = assay__zoo_choice(params, "return_sequences") == 0;
    ncp->dt = 1;
    if (!dt || strcmp(dt, "none") == 0) return params->code;
    ncp->dt_input = strcmp(dt, "input") == 0;
    if (!ncp->dt_input && (assay__text_double(dt, &ncp->dt) || !(ncp->dt > 1e-6 && ncp->dt < 1e6)))
        assay__zoo_refuse(params,
                          "dt must be a time between steps (above 1e-6, below 1e6), or 'input'");
    return params->code;
}
