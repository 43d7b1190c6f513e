/* ort_assignment.c - which execution provider gets which node. A session is created with
 * "session.record_ep_graph_assignment_info" set and then queried (API version 24; older builds do
 * not support it). ONNX Runtime records nodes after its basic optimisations (constants folded, some
 * nodes fused), so names may be missing or new. A compiling provider gets subgraphs of many nodes;
 * a provider with kernels gets one subgraph per node.
 *
 * Nothing runs and no input is needed. Symbolic dimensions that the caller fixes are fixed in the
 * session too, because compiling providers need them. */
#include "engine/engine.h"
#include "engine/ort/ort_session.h"

struct assignment_query {
    struct assay__ort ort;
    struct assay__assignment_options options;
    OrtEnv *env;
    OrtSessionOptions *made;
    OrtSession *session;
    void *context; /* of `about` */
    struct assay_error *error;
};

static int prepare(struct assignment_query *ask)
{
    const struct assay__ort *ort = &ask->ort;
    const struct assay__assignment_options *o = &ask->options;
    int level = 0, code = assay__ort_optimization(o->optimization, &level, ask->error);
    if (code) return code;
    OrtStatus *status = ort->create_session_options(&ask->made);
    if (!status) status = ort->set_session_graph_optimization_level(ask->made, level);
    if (!status) status = ort->set_intra_op_num_threads(ask->made, 1);
    if (!status)
        status = ort->add_session_config_entry(ask->made, ASSAY__ORT_RECORDS_ASSIGNMENT, "1");
    if (!status && o->save_path)
        status = ort->set_optimized_model_file_path(ask->made, o->save_path);
    for (size_t i = 0; i < o->dim_count && !status; i++)
        status = ort->add_free_dimension_override_by_name(ask->made, o->dim_names[i],
                                                          o->dim_values[i]);
    code = assay__ort_check(ort, status, ask->error, "session options");
    return code ? code
                : assay__ort_append_device(ort, ask->made, o->device ? o->device : "cpu",
                                           o->provider_options, false, ask->error);
}

static int report_subgraph(const struct assay__ort *ort, size_t index,
                           const OrtEpAssignedSubgraph *piece, assay__assigned_fn *found,
                           void *context, struct assay_error *error)
{
    const OrtEpAssignedNode *const *nodes = NULL;
    size_t count = 0;
    struct assay__assigned told = {.subgraph = index};
    OrtStatus *status = ort->ep_assigned_subgraph_get_ep_name(piece, &told.provider);
    if (!status) status = ort->ep_assigned_subgraph_get_nodes(piece, &nodes, &count);
    int code = assay__ort_check(ort, status, error, "assignment");
    for (size_t i = 0; i < count && !code; i++) {
        status = ort->ep_assigned_node_get_name(nodes[i], &told.name);
        if (!status) status = ort->ep_assigned_node_get_domain(nodes[i], &told.domain);
        if (!status) status = ort->ep_assigned_node_get_operator_type(nodes[i], &told.op);
        code = assay__ort_check(ort, status, error, "assignment");
        if (!code) code = found(context, &told);
    }
    return code;
}

int assay__ort_can_assign(const struct assay__ort *ort, struct assay_error *error)
{
    if (ort->session_get_ep_graph_assignment_info) return 0;
    return assay_error_set(error, ASSAY_EUNSUPPORTED,
                           "ONNX Runtime %s cannot say which nodes run where; 1.24 and newer can",
                           ort->version);
}

int assay__ort_assigned(const struct assay__ort *ort, const OrtSession *session,
                        assay__assigned_fn *found, void *context, struct assay_error *error)
{
    const OrtEpAssignedSubgraph *const *pieces = NULL;
    size_t count = 0;
    int code = assay__ort_check(ort,
                                ort->session_get_ep_graph_assignment_info(session, &pieces, &count),
                                error, "assignment");
    for (size_t i = 0; i < count && !code; i++)
        code = report_subgraph(ort, i, pieces[i], found, context, error);
    return code;
}

int assay__ort_assignment(const struct assay__assignment_options *options,
                          assay__assigned_fn *found, void *context, struct assay_error *error)
{
    struct assignment_query ask = {.context = context, .error = error};
    int code = assay__assignment_options_read(options, &ask.options, error);
    if (!code) code = assay__ort_load(ask.options.library, &ask.ort, error);
    if (!code) code = assay__ort_can_assign(&ask.ort, error);
    if (code) return code;
    code = assay__ort_env(&ask.ort, &ask.env, error);
    if (!code) code = prepare(&ask);
    if (!code)
        code = assay__ort_check(
            &ask.ort,
            ask.ort.create_session(ask.env, ask.options.model_path, ask.made, &ask.session), error,
            ask.options.model_path);
    if (!code && ask.options.about)
        code = ask.options.about(
            ask.context, assay__ort_provider(ask.options.device ? ask.options.device : "cpu"),
            ask.ort.version);
    if (!code) code = assay__ort_assigned(&ask.ort, ask.session, found, context, error);
    if (ask.session) ask.ort.release_session(ask.session);
    if (ask.made) ask.ort.release_session_options(ask.made);
    if (ask.env) ask.ort.release_env(ask.env);
    return code;
}
