/* ncp_metadata.c - writes what the graph does not show into the model: the entry "assay.ncp", a
 * JSON object with the cell, its sizes and form, the groups of neurons and, when it is wired, the
 * two matrices as text: one character per pair, '+', '-' or '.', source by source. doc/ncp.md has
 * the members; src/cost/ncp.c reads them. */
#include "zoo/ncp_net.h"

#include "base/json.h"

static void put_matrix(struct assay__json_writer *json, struct assay__net *net, const char *key,
                       const int8_t *matrix, int64_t rows, int64_t columns)
{
    size_t count = (size_t)(rows * columns);
    char *text = assay__arena_alloc(net->model->arena, count + 1);
    if (!text) {
        assay__net_fail(net, ASSAY_ENOMEM, "out of memory");
        return;
    }
    for (size_t i = 0; i < count; i++)
        text[i] = matrix[i] > 0 ? '+' : matrix[i] < 0 ? '-' : '.';
    assay__json_put_string(json, key, text);
}

static void put_group(struct assay__json_writer *json, const char *name, int64_t first,
                      int64_t count)
{
    if (count == 0) return;
    assay__json_object(json);
    assay__json_put_string(json, "name", name);
    assay__json_put_integer(json, "first", first);
    assay__json_put_integer(json, "count", count);
    assay__json_object_end(json);
}

static void put_wiring(struct assay__json_writer *json, struct assay__ncp_net *ncp)
{
    const struct assay__wiring *wiring = &ncp->wiring;
    assay__json_put_number(json, "sparsity", wiring->sparsity);
    assay__json_key(json, "seed");
    assay__json_unsigned(json, wiring->seed);
    assay__json_key(json, "groups");
    assay__json_array(json);
    put_group(json, "inter", wiring->motor + wiring->command, wiring->inter);
    put_group(json, "command", wiring->motor, wiring->command);
    put_group(json, "motor", 0, wiring->motor);
    assay__json_array_end(json);
    put_matrix(json, &ncp->net, "adjacency", wiring->adjacency, wiring->units, wiring->units);
    put_matrix(json, &ncp->net, "sensory", wiring->sensory, wiring->inputs, wiring->units);
}

static void put_backbone(struct assay__json_writer *json, const struct assay__ncp_net *ncp)
{
    assay__json_key(json, "backbone");
    assay__json_array(json);
    for (size_t i = 0; i < ncp->backbone_layers; i++)
        assay__json_integer(json, ncp->backbone[i]);
    assay__json_array_end(json);
}

void assay__ncp_describe(struct assay__ncp_net *ncp)
{
    static const char *const forms[] = {"step", "unrolled", "scan"};
    static const char *const modes[] = {"default", "no_gate", "pure"};
    struct assay__json_writer json;
    struct assay__buf buf = {.data = NULL};
    assay__json_start(&json, &buf, false);
    assay__json_object(&json);
    assay__json_put_integer(&json, "version", 1);
    assay__json_put_string(&json, "cell", ncp->cell->name);
    assay__json_put_string(&json, "wiring",
                           ncp->wired ? assay__wiring_name(ncp->wiring.kind) : "none");
    assay__json_put_string(&json, "form", forms[ncp->form]);
    if (ncp->unfolds == 0) assay__json_put_string(&json, "mode", modes[ncp->mode]);
    assay__json_put_integer(&json, "units", ncp->units);
    assay__json_put_integer(&json, "inputs", ncp->inputs);
    assay__json_put_integer(&json, "outputs", ncp->outputs);
    assay__json_put_integer(&json, "steps", ncp->seq);
    if (ncp->unfolds) assay__json_put_integer(&json, "unfolds", ncp->unfolds);
    assay__json_put_bool(&json, "mixed_memory", ncp->mixed_memory);
    if (ncp->wired)
        put_wiring(&json, ncp);
    else
        put_backbone(&json, ncp);
    assay__json_object_end(&json);
    if (buf.failed || assay__model_set_metadata(ncp->net.model, "assay.ncp", buf.data))
        assay__net_fail(&ncp->net, ASSAY_ENOMEM, "out of memory");
    assay__buf_free(&buf);
}
