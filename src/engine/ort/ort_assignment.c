/* ort_assignment.c - which provider of ONNX Runtime gets which node: a session is made with
 * "session.record_ep_graph_assignment_info" switched on and asked (API version 24; before it no
 * build can say). The library records nodes after its basic simplifications (constants folded,
 * some nodes fused), so names may be missing or new. A provider that compiles gets pieces of many
 * nodes; one with kernels gets each node as a piece of its own.
 *
 * Nothing is run and no input is needed. Symbolic dimensions that the caller fixes are fixed in
 * the session too: providers that compile need them. */
#include "engine/engine.h"
#include "engine/ort/ort_session.h"

#include <string.h>

struct assignment_query {
    struct assay__ort ort;
    struct assay_assignment_options options;
    struct OrtEnv *env;
    struct OrtSessionOptions *made;
    struct OrtSession *session;
    assay_assigned_fn *found;
    void *context;
    struct assay_error *error;
};

static int check(struct assignment_query *ask, struct OrtStatus *status, const char *what)
{
    return assay__ort_check(&ask->ort, status, ask->error, what);
}

static int level_of(const char *name)
{
    return !name || strcmp(name, "all") == 0 ? ASSAY__ORT_OPT_ALL
           : strcmp(name, "extended") == 0   ? ASSAY__ORT_OPT_EXTENDED
           : strcmp(name, "none") == 0       ? ASSAY__ORT_OPT_NONE
                                             : ASSAY__ORT_OPT_BASIC;
}

static int prepare(struct assignment_query *ask)
{
    const struct assay__ort *ort = &ask->ort;
    const struct assay_assignment_options *o = &ask->options;
    static const char what[] = "session options";
    int code = check(ask, ort->create_session_options(&ask->made), what);
    if (!code)
        code = check(
            ask, ort->set_session_graph_optimization_level(ask->made, level_of(o->optimization)),
            what);
    if (!code) code = check(ask, ort->set_intra_op_num_threads(ask->made, 1), what);
    if (!code)
        code = check(ask,
                     ort->add_session_config_entry(ask->made,
                                                   "session.record_ep_graph_assignment_info", "1"),
                     what);
    for (size_t i = 0; i < o->dim_count && !code; i++)
        code = check(
            ask,
            ort->add_free_dimension_override_by_name(ask->made, o->dim_names[i], o->dim_values[i]),
            what);
    return code ? code
                : assay__ort_append_device(ort, ask->made, o->device ? o->device : "cpu",
                                           o->provider_options, false, ask->error);
}

static const char *target_of(const struct assignment_query *ask)
{
    return assay__ort_provider(ask->options.device ? ask->options.device : "cpu");
}

static int report_subgraph(struct assignment_query *ask, size_t index,
                           const struct OrtEpAssignedSubgraph *piece)
{
    const struct assay__ort *ort = &ask->ort;
    const struct OrtEpAssignedNode *const *nodes = NULL;
    size_t count = 0;
    struct assay_assigned_node told = {
        .subgraph = index,
        .target = target_of(ask),
        .version = ort->version,
    };
    int code = check(ask, ort->ep_assigned_subgraph_get_ep_name(piece, &told.provider),
                     "assignment");
    if (!code)
        code = check(ask, ort->ep_assigned_subgraph_get_nodes(piece, &nodes, &count), "assignment");
    for (size_t i = 0; i < count && !code; i++) {
        code = check(ask, ort->ep_assigned_node_get_name(nodes[i], &told.name), "assignment");
        if (!code)
            code = check(ask, ort->ep_assigned_node_get_domain(nodes[i], &told.domain),
                         "assignment");
        if (!code)
            code = check(ask, ort->ep_assigned_node_get_operator_type(nodes[i], &told.op),
                         "assignment");
        if (!code) code = ask->found(ask->context, &told);
    }
    return code;
}

static int report_nodes(struct assignment_query *ask)
{
    const struct OrtEpAssignedSubgraph *const *pieces = NULL;
    size_t count = 0;
    int code = check(ask,
                     ask->ort.session_get_ep_graph_assignment_info(ask->session, &pieces, &count),
                     "assignment");
    if (!code && ask->options.about)
        code = ask->options.about(ask->context, target_of(ask), ask->ort.version);
    for (size_t i = 0; i < count && !code; i++)
        code = report_subgraph(ask, i, pieces[i]);
    return code;
}

int assay__ort_assignment(const struct assay_assignment_options *options, assay_assigned_fn *found,
                          void *context, struct assay_error *error)
{
    struct assignment_query ask = {.found = found, .context = context, .error = error};
    int code = assay__assignment_options_read(options, &ask.options, error);
    if (!code) code = assay__ort_load(ask.options.library, &ask.ort, error);
    if (code) return code;
    if (!ask.ort.session_get_ep_graph_assignment_info)
        return assay_error_set(
            error, ASSAY_EUNSUPPORTED,
            "ONNX Runtime %s cannot say which nodes run where; 1.24 and newer can",
            ask.ort.version);
    code = assay__ort_env(&ask.ort, &ask.env, error);
    if (!code) code = prepare(&ask);
    if (!code)
        code = check(
            &ask, ask.ort.create_session(ask.env, ask.options.model_path, ask.made, &ask.session),
            ask.options.model_path);
    if (!code) code = report_nodes(&ask);
    if (ask.session) ask.ort.release_session(ask.session);
    if (ask.made) ask.ort.release_session_options(ask.made);
    if (ask.env) ask.ort.release_env(ask.env);
    return code;
}
