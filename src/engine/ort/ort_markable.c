/* ort_markable.c - which nodes can have a marker on a CUDA device: those that run there, by the
 * assignment of a session of the same graph, and whose results are there. A marker would copy a
 * value of host memory to the device. */
#include "engine/ort/ort_layers.h"

#include "base/log.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static int on_assigned(void *context, const struct assay__assigned *node)
{
    struct assay__layer_work *work = context;
    size_t at = assay__layers_named(work, node->name);
    if (at != SIZE_MAX)
        work->layers[at].provider = assay__arena_strdup(work->arena, node->provider);
    return 0;
}

/* Nodes of the device whose results are in host memory. */
static bool stays_on_host(const struct assay__node *node)
{
    return assay__text_is_one_of(node->op, "Shape Size MemcpyToHost SequenceLength");
}

/* Asks a session of the same graph, whose nodes have our names. */
static int ask_placement(struct assay__layer_work *work, struct assay_error *error)
{
    char path[ASSAY__LAYERS_PATH] = "";
    int code = assay__ort_can_assign(&work->session->ort, error);
    if (!code) code = assay__layers_write_named(work, path, error);
    struct assay__timed timed = {0};
    struct assay__timed_options options = {
        .path = path, .optimization = ASSAY__ORT_OPT_NONE, .records_assignment = true};
    if (!code) code = assay__timed_open(work->session, &options, &timed, error);
    if (!code)
        code = assay__ort_assigned(&work->session->ort, timed.session, on_assigned, work, error);
    assay__timed_close(&timed);
    assay__layers_unlink(path);
    return code;
}

bool assay__kernels_placed(const struct assay__layer_work *work, size_t node)
{
    const char *provider = work->layers[node].provider;
    return provider && strcmp(provider, work->mark_provider) == 0;
}

int assay__kernels_markable(struct assay__layer_work *work, struct assay_error *error)
{
    size_t count = work->layer_count, markable = 0, placed = 0;
    bool *marked = assay__arena_array(work->arena, count + 1, sizeof *marked);
    if (!marked) return assay__no_memory(error);
    work->mark_provider = assay__ort_provider(work->session->device);
    for (size_t i = 0; i < count; i++)
        work->layers[i].provider = "";
    int code = ask_placement(work, error);
    if (code) return code;
    for (size_t i = 0; i < count; i++) {
        placed += assay__kernels_placed(work, i);
        marked[i] = assay__kernels_placed(work, i) && !stays_on_host(&work->flat.graph.nodes[i]);
        markable += marked[i];
    }
    assay__log(ASSAY_LOG_DEBUG, "kernels", "%zu nodes, %zu of %s, %zu with markers", count, placed,
               work->mark_provider, markable);
    if (!markable)
        return assay_error_set(error, ASSAY_EUNSUPPORTED, "no node of the model runs on %s",
                               work->mark_provider);
    work->markable = marked;
    return 0;
}
