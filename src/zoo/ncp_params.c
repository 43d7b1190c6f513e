/* ncp_params.c - the parameters of cfc and ltc: sizes, wiring, form, state and time. */
#include "zoo/ncp_net.h"

#include "base/text.h"

#include <string.h>

#define NOT_GIVEN INT64_MIN

struct reader {
    struct assay__zoo_params *params;
    struct assay_error *error;
    int code;
};

static int64_t read_int(struct reader *reader, const char *key, int64_t otherwise, int64_t low,
                        int64_t high)
{
    int64_t value = otherwise;
    if (reader->code == 0)
        reader->code = assay__zoo_param_int(reader->params, key, otherwise, low, high, &value,
                                            reader->error);
    return value;
}

static int read_choice(struct reader *reader, const char *key, const char *choices, int otherwise)
{
    int index = otherwise;
    if (reader->code == 0)
        reader->code = assay__zoo_param_choice(reader->params, key, choices, otherwise, &index,
                                               reader->error);
    return index;
}

static const char *read_text(struct reader *reader, const char *key)
{
    const char *value = NULL;
    if (reader->code == 0)
        reader->code = assay__zoo_param_text(reader->params, key, &value, reader->error);
    return value;
}

static void refuse(struct reader *reader, const char *text)
{
    if (reader->code == 0) reader->code = assay_error_set(reader->error, ASSAY_EINVAL, "%s", text);
}

/* --- wiring ----------------------------------------------------------------------------------- */

static int64_t given_or(int64_t given, int64_t otherwise)
{
    return given == NOT_GIVEN ? otherwise : given;
}

/* The numbers of an NCP; what is not given is as AutoNCP would have it. units: as given. */
static void read_ncp(struct reader *reader, struct assay__wiring *wiring, int64_t units)
{
    static const char *const keys[] = {"inter",          "command",      "motor",
                                       "sensory_fanout", "inter_fanout", "recurrent_command",
                                       "motor_fanin"};
    int64_t given[7];
    bool groups, any = false;
    for (int i = 0; i < 7; i++)
        given[i] = read_int(reader, keys[i], NOT_GIVEN, i < 3 ? 1 : 0,
                            i == 5 ? 1 << 20 : ASSAY__WIRING_MOST);
    for (int i = 0; i < 7; i++)
        any = any || given[i] != NOT_GIVEN;
    if (any && wiring->kind != ASSAY__WIRING_NCP)
        refuse(reader, "inter, command, motor, sensory_fanout, inter_fanout, recurrent_command and "
                       "motor_fanin belong to wiring=ncp");
    if (reader->code || wiring->kind != ASSAY__WIRING_NCP) return;
    groups = given[0] != NOT_GIVEN && given[1] != NOT_GIVEN;
    if (given[2] != NOT_GIVEN) wiring->outputs = given[2];
    if (groups && units != NOT_GIVEN && units != given[0] + given[1] + wiring->outputs)
        refuse(reader, "units is not the sum of inter, command and motor: leave it out");
    if (groups) wiring->units = given[0] + given[1] + wiring->outputs;
    int code = assay__wiring_auto(wiring, groups ? NULL : reader->error);
    if (code && !groups) reader->code = code;
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

static void read_wiring(struct reader *reader, struct assay__ncp_net *ncp, bool dense)
{
    struct assay__wiring *wiring = &ncp->wiring;
    int kind = read_choice(reader, "wiring", "autoncp|ncp|random|full", -1);
    if (dense && kind >= 0)
        refuse(reader,
               "a backbone mixes all neurons, so that a wiring has no meaning with it: give "
               "backbone_units and backbone_layers, or wiring");
    wiring->kind = kind < 0 ? ASSAY__WIRING_AUTONCP : (enum assay__wiring_kind)kind;
    int64_t units = read_int(reader, "units", NOT_GIVEN, 1, ASSAY__WIRING_MOST);
    wiring->units = given_or(units, 64);
    wiring->outputs = read_int(reader, "outputs", 16, 1, ASSAY__WIRING_MOST);
    wiring->inputs = ncp->inputs = read_int(reader, "inputs", 32, 1, ASSAY__WIRING_MOST);
    if (reader->code == 0)
        reader->code = assay__zoo_param_number(reader->params, "sparsity", 0.5, 0, 1,
                                               &wiring->sparsity, reader->error);
    bool layered = assay__wiring_layered(wiring);
    wiring->seed = (uint64_t)read_int(reader, "seed", layered ? 22222 : 1111, 0, INT64_MAX);
    read_ncp(reader, wiring, units);
    ncp->wired = !dense;
    ncp->units = wiring->units;
    ncp->outputs = wiring->outputs;
    if (dense && ncp->outputs > ncp->units) refuse(reader, "there are more outputs than units");
}

/* --- time ------------------------------------------------------------------------------------- */

static void read_time(struct reader *reader, struct assay__ncp_net *ncp)
{
    const char *dt = read_text(reader, "dt");
    ncp->dt = 1;
    ncp->seq = read_int(reader, "seq", 1, 1, 4096);
    ncp->form = read_choice(reader, "form", "step|unrolled|scan",
                            ncp->seq > 1 ? ASSAY__NCP_UNROLLED : ASSAY__NCP_STEP);
    if (ncp->form == ASSAY__NCP_STEP && ncp->seq > 1)
        refuse(reader, "form=step is one time step: leave seq out, or take unrolled or scan");
    ncp->return_sequences = read_choice(reader, "return_sequences", "0|1", 1) == 1;
    if (!dt || strcmp(dt, "none") == 0) return;
    ncp->dt_input = strcmp(dt, "input") == 0;
    if (!ncp->dt_input && (assay__text_double(dt, &ncp->dt) || !(ncp->dt > 1e-6 && ncp->dt < 1e6)))
        refuse(reader, "dt is a time between steps (above 1e-6, below 1e6), or 'input'");
}

int assay__ncp_params(struct assay__ncp_net *ncp, struct assay__zoo_params *params, bool dense,
                      struct assay_error *error)
{
    struct reader reader = {params, error, 0};
    read_wiring(&reader, ncp, dense);
    ncp->batch = read_int(&reader, "batch", -1, 1, 1 << 20);
    ncp->mixed_memory = read_choice(&reader, "mixed_memory", "0|1", 0) == 1;
    read_time(&reader, ncp);
    ncp->weights_path = read_text(&reader, "weights");
    if (reader.code) return reader.code;
    return assay__zoo_params_done(params, error);
}
