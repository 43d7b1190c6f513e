/* ncp_weights.c - where the weights of a Neural Circuit Policy come from: a .safetensors file with
 * the names of ncps' state_dict, or ranges (those of ncps' initialisation: ltc's own, and Glorot's
 * for linear maps), generated from the tensor's name and the seed, so that they are the same
 * everywhere.
 *
 * The mask of a wiring is multiplied into the weights here, once, where ncps multiplies it at
 * every step: the numbers are the same, and the graph is the one that an exporter with constant
 * folding would write. */
#include "zoo/ncp_net.h"

#include "base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The tensor of this name and shape, marked as used; NULL, with the failure recorded. */
static struct assay__safetensor *take_tensor(struct assay__ncp_net *ncp, const char *name, int rank,
                                             const int64_t *dims)
{
    struct assay__safetensor *tensor = assay__safetensors_find(&ncp->file, name);
    bool same = tensor && tensor->rank == rank;
    for (int i = 0; same && i < rank; i++)
        same = tensor->dims[i] == dims[i];
    if (!tensor)
        assay__net_fail(&ncp->net, ASSAY_ENOTFOUND, "%s has no tensor '%s'", ncp->file.path, name);
    else if (!same)
        assay__net_fail(&ncp->net, ASSAY_EINVAL,
                        "%s: the shape of '%s' differs from this network's %lld%s%lld",
                        ncp->file.path, name, (long long)dims[0], rank > 1 ? " x " : "",
                        rank > 1 ? (long long)dims[1] : 0);
    if (tensor) tensor->used = true;
    return same ? tensor : NULL;
}

static void load(struct assay__ncp_net *ncp, const struct assay__ncp_weight *weight, float *out,
                 size_t count)
{
    struct assay__safetensor *tensor = take_tensor(ncp, weight->name, weight->rank, weight->dims);
    struct assay_error error = {0};
    if (!tensor) return;
    int code = assay__safetensor_floats(tensor, out, &error);
    if (code) assay__net_fail(&ncp->net, code, "%s: %s", ncp->file.path, error.message);
    for (size_t i = 0; code == 0 && i < count; i++)
        if (!isfinite(out[i])) {
            assay__net_fail(&ncp->net, ASSAY_EINVAL,
                            "%s: '%s' contains a number that is not finite", ncp->file.path,
                            weight->name);
            return;
        }
}

const char *assay__ncp_weight(struct assay__ncp_net *ncp, const struct assay__ncp_weight *weight)
{
    size_t count = (size_t)weight->dims[0] * (weight->rank > 1 ? (size_t)weight->dims[1] : 1);
    struct assay__random random;
    uint64_t seed = 0xcbf29ce484222325u ^ ncp->net.seed; /* FNV-1a of the name goes into it */
    const char *name = "";
    if (ncp->net.code) return "";
    float *values = calloc(count + 1, sizeof *values);
    if (!values) {
        assay__net_no_memory(&ncp->net);
        return "";
    }
    for (const char *c = weight->name; *c; c++)
        seed = (seed ^ (unsigned char)*c) * 0x100000001b3u;
    assay__random_seed(&random, seed);
    if (ncp->file.path) load(ncp, weight, values, count);
    for (size_t i = 0; i < count; i++) {
        if (!ncp->file.path && weight->values)
            values[i] = weight->values[i];
        else if (!ncp->file.path)
            values[i] = (float)(weight->low +
                                assay__random_unit(&random) * (weight->high - weight->low));
        if (weight->positive && values[i] <= 20) /* softplus, linear above 20 as in torch */
            values[i] = (float)log1p(exp((double)values[i]));
        if (weight->absolute) values[i] = fabsf(values[i]);
        if (weight->mask) values[i] *= weight->mask[i];
    }
    if (!ncp->net.code)
        name = assay__net_floats(&ncp->net, weight->name, weight->rank, weight->dims, values);
    free(values);
    return name;
}

struct assay__ncp_linear assay__ncp_linear(struct assay__ncp_net *ncp, const char *name, int64_t in,
                                           int64_t out, bool bias, const float *mask)
{
    double glorot = sqrt(6.0 / (double)(in + out)), shift = 1 / sqrt((double)in);
    struct assay__ncp_weight weight = {.name = assay__net_text(&ncp->net, "%s.weight", name),
                                       .rank = 2,
                                       .dims = {out, in},
                                       .low = -glorot,
                                       .high = glorot,
                                       .mask = mask};
    struct assay__ncp_linear linear = {assay__ncp_weight(ncp, &weight), NULL};
    if (!bias) return linear;
    struct assay__ncp_weight offset = {.name = assay__net_text(&ncp->net, "%s.bias", name),
                                       .rank = 1,
                                       .dims = {out, 0},
                                       .low = -shift,
                                       .high = shift};
    linear.bias = assay__ncp_weight(ncp, &offset);
    return linear;
}

void assay__ncp_check_mask(struct assay__ncp_net *ncp, const char *name, int64_t rows,
                           int64_t columns, const float *mask)
{
    const int64_t dims[] = {rows, columns};
    size_t count = (size_t)rows * (size_t)columns;
    struct assay_error error = {0};
    if (ncp->net.code || !ncp->file.path || !assay__safetensors_find(&ncp->file, name)) return;
    struct assay__safetensor *tensor = take_tensor(ncp, name, 2, dims);
    float *values = tensor ? calloc(count + 1, sizeof *values) : NULL;
    if (!tensor) return;
    int code = values ? assay__safetensor_floats(tensor, values, &error) : ASSAY_ENOMEM;
    if (code)
        assay__net_fail(&ncp->net, code, "%s: %s", ncp->file.path, error.message);
    else if (memcmp(values, mask, count * sizeof *values) != 0)
        assay__net_fail(&ncp->net, ASSAY_EINVAL,
                        "%s: '%s' is the mask of another wiring (another seed, sparsity or kind)",
                        ncp->file.path, name);
    free(values);
}
