/* ort_timeline.c - a timeline of inferences: layers on the host's track, and what the device did.
 *
 *   CPU, CUDA  the graph with markers (ort_markers.c): a layer is from the marker before it to its
 *              own. On CUDA the recorder writes the kernels, copies, waits and launches beside it;
 *              a launch lies within the layer that makes it. A session that replays a CUDA graph
 *              (ort_bound.c) is recorded itself: it has no markers, and no layers.
 *   others     ONNX Runtime's own profile, which import/import_ort.c reads: nodes, and the kernels
 *              of a WebGPU device where the build records them (category "Api") */
#include "engine/ort/ort_markers.h"

#include "base/clock.h"
#include "base/log.h"
#include "engine/cuda_recorder.h"
#include "profile/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WARM_RUNS 2
#define WHY_BYTES 512

struct timeline {
    struct assay__layer_work *work;
    const struct assay__timeline_options *options;
    const struct assay__cuda_trace_api *recorder; /* NULL: not on CUDA */
    struct assay__marking *marking;
    struct assay__timed own; /* the session that replays a CUDA graph */
};

static int tell(const struct timeline *t, bool step, const struct assay__layer *layer,
                uint64_t start_ns, uint64_t end_ns)
{
    struct assay__timeline_span span = {.step = step, .start_ns = start_ns, .end_ns = end_ns};
    span.name = layer ? assay__layer_title(layer) : "inference";
    span.op = layer ? layer->op : "";
    span.provider = layer ? layer->provider : "";
    return t->options->span(t->options->context, &span);
}

/* The layers of the last run, if it has markers; it began and ended then. */
static int tell_run(const struct timeline *t, uint64_t begin_ns, uint64_t end_ns)
{
    const struct assay__marking *m = t->marking;
    uint64_t start_ns = begin_ns;
    int code = tell(t, true, NULL, begin_ns, end_ns);
    if (!m) return code;
    const struct assay__marker_log *log = &m->marked_session.log;
    for (size_t p = 0; p < log->count && p < m->event_count && !code; p++) {
        const struct assay__marker_event *event = &log->events[p];
        size_t node = event->id == m->sequence[p] ? m->first_of[p] : SIZE_MAX;
        if (node != SIZE_MAX)
            code = tell(t, false, &t->work->layers[node], start_ns, event->entry_ns);
        start_ns = event->exit_ns;
    }
    return code;
}

static int run_marked(struct timeline *t, struct assay_error *error)
{
    struct assay__timed *timed = t->marking ? &t->marking->marked_session : &t->own;
    int code = 0;
    for (int i = 0; i < WARM_RUNS && !code; i++)
        code = assay__timed_run(timed, NULL, error);
    char why[WHY_BYTES] = "";
    if (!code && t->recorder && t->recorder->start(why, sizeof why))
        code = assay_error_set(error, ASSAY_EUNSUPPORTED, "%s", why);
    for (int i = 0; i < t->options->runs && !code; i++) {
        uint64_t begin_ns = assay__now_ns();
        code = assay__timed_run(timed, NULL, error);
        uint64_t end_ns = assay__now_ns();
        if (!code && tell_run(t, begin_ns, end_ns)) code = assay__no_memory(error);
    }
    return code;
}

static int record_markers(struct timeline *t, struct assay_error *error)
{
    char why[WHY_BYTES] = "";
    char prefix[ASSAY__LAYERS_PATH];
    int code = t->work->session->bound ? assay__timed_borrow(t->work->session, &t->own, error)
                                       : assay__marking_open_marked(t->work, &t->marking, error);
    if (!code && assay__path_join(t->options->folder, "cuda", prefix, sizeof prefix))
        code = assay_error_set(error, ASSAY_ELIMIT, "the path of the records is too long");
    if (!code && t->recorder) {
        struct assay__cuda_trace_options options = {.size = sizeof options,
                                                    .file = prefix,
                                                    .kinds = ASSAY__CUDA_KERNELS |
                                                             ASSAY__CUDA_COPIES |
                                                             ASSAY__CUDA_SYNCS | ASSAY__CUDA_CALLS,
                                                    .paused = true};
        if (t->recorder->open(&options, why, sizeof why))
            return assay_error_set(error, ASSAY_EUNSUPPORTED, "%s", why);
    }
    if (!code) code = run_marked(t, error);
    if (t->recorder) t->recorder->close();
    return code;
}

/* The engine's own profile of a session that runs as often. */
static int record_profile(struct timeline *t, struct assay_error *error)
{
    struct assay__session *session = t->work->session;
    char prefix[ASSAY__LAYERS_PATH], path[ASSAY__LAYERS_PATH];
    struct assay__timed timed = {0};
    if (assay__path_join(t->options->folder, "onnxruntime", prefix, sizeof prefix))
        return assay_error_set(error, ASSAY_ELIMIT, "the path of the records is too long");
    struct assay__timed_options options = {.path = session->model_path,
                                           .optimization = session->optimization,
                                           .profile_prefix = prefix};
    int code = assay__timed_open(session, &options, &timed, error);
    for (int i = 0; i < WARM_RUNS + t->options->runs && !code; i++)
        code = assay__timed_run(&timed, NULL, error);
    if (!code) code = assay__ort_end_profile(session, timed.session, path, sizeof path, error);
    assay__timed_close(&timed);
    return code;
}

int assay__ort_timeline(struct assay__session *session,
                        const struct assay__timeline_options *options, struct assay_error *error)
{
    struct assay__layer_options layers = {.size = sizeof layers};
    struct timeline t = {.options = options};
    struct assay__layers result = assay__layers_unknown();
    if (session->generation || session->stream_count > 1)
        return assay_error_set(error, ASSAY_EUNSUPPORTED,
                               "a timeline is recorded of one request at a time, and of a single "
                               "step of a generation");
    int code = assay__layers_work(session, &layers, &t.work, error);
    if (code) return code;
    t.work->result = &result;
    if (assay__layers_runs_on(session, ASSAY__ORT_CPU)) {
        code = assay__layers_prepare(t.work, true, error);
        if (!code) code = record_markers(&t, error);
    } else if (assay__layers_runs_on(session, ASSAY__ORT_CUDA)) {
        code = assay__cuda_recorder_load(&t.recorder, error);
        if (!code && !session->bound) code = assay__layers_prepare(t.work, false, error);
        if (!code && !session->bound) code = assay__kernels_markable(t.work, error);
        if (!code) code = record_markers(&t, error);
    } else {
        code = record_profile(&t, error);
    }
    assay__timed_close(&t.own);
    assay__marking_free(t.marking);
    assay__ort_layers_free(session);
    return code;
}
