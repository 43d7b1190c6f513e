/* ort_session.h - the session of the ort engine, shared by its files: ort.c (open, step, facts,
 * close), ort_values.c (tensors in and out), ort_device.c (providers), and the layer timing, which
 * opens more sessions on the same model with the same options. Files written by the library go to a
 * folder of assay__folder_temporary (base/file.h). */
#ifndef ASSAY_ENGINE_ORT_ORT_SESSION_H
#define ASSAY_ENGINE_ORT_ORT_SESSION_H

#include "engine/ort/ort_abi.h"

#include "base/arena.h"
#include "base/no_memory.h"

#include "engine/adapter.h"
#include "engine/engine.h"
#include <stdatomic.h>

struct assay__ort_bound;
struct assay__ort_generation;

/* --- outputs that become inputs of the next run (ort_feedback.c) ------------------------------ */

/* Of one runner of a model: a stream, or a session that times layers. */
struct assay__ort_feed {
    /* inputs of the next run: the session's own, or states of the last run */
    const OrtValue **inputs;
    OrtValue **held; /* by pair: the states that `inputs` refers to; NULL: the first ones */
    bool checked;    /* their shapes are those of the inputs */
};

/* What step() of one stream touches. Streams are allocated separately, so that they share no cache
 * line.
 */
struct assay__ort_stream {
    /* output_count; the last step's results, released by the next step */
    OrtValue **outputs;
    struct assay__ort_feed feed;
    char error[512]; /* of the last step that failed */
};

struct assay__session {
    struct assay__ort ort;
    OrtEnv *env;
    OrtSession *session;
    OrtMemoryInfo *cpu_memory;
    OrtAllocator *allocator;    /* the default one: not released */
    struct assay__arena *arena; /* lives as long as the session */

    /* options; strings are our copies */
    const char *model_path, *model_name; /* the second is used in messages */
    const char *device;                  /* "cpu", "cuda:0" */
    const char *provider;                /* ONNX Runtime's name, "CPUExecutionProvider" */
    struct assay__adapter adapter;       /* the card; of CUDA, once facts were asked for */
    int optimization;                    /* ASSAY__ORT_OPT_* */
    int threads;                         /* as asked; 0 default */
    int spinning;                        /* -1 default, 0, 1 */
    int stream_count;
    bool strict;                  /* nothing may fall back to the CPU */
    const char *provider_options; /* "key=value;key=value"; NULL none */

    /* inputs in the order of the caller's list; values use the caller's memory */
    const struct assay__host_tensor *inputs;
    const char **input_names;
    OrtValue **input_values;
    size_t input_count;

    const char **output_names; /* all outputs of the model */
    size_t output_count;

    /* outputs that become inputs of the next run, by their indices */
    size_t *feed_outputs, *feed_inputs;
    size_t feed_count;

    struct assay__ort_stream **streams;
    atomic_int failed_stream; /* whose error step_error() returns; -1 none */

    struct assay__arena *output_arena; /* outputs(): views created on demand */

    struct assay__ort_bound *bound; /* it replays a CUDA graph; NULL: it does not */

    double load_ns, compile_ns, create_ns;
    const char *load_reason;

    struct assay__layer_work *layer_work;     /* since layers_begin(); NULL otherwise */
    struct assay__arena *layer_arena;         /* the last result of the layer timing */
    struct assay__ort_generation *generation; /* ort_generate.c; NULL: a step is one run */
};

/* --- ort.c ------------------------------------------------------------------------------------ */

/** New session options like those of this session: threads, spinning, device, sequential execution;
 *  the graph optimisation level is the argument (ASSAY__ORT_OPT_*). The caller releases them. */
int assay__ort_session_options(struct assay__session *session, int optimization,
                               OrtSessionOptions **options, struct assay_error *error);
/** ASSAY__ORT_OPT_* for the name of a level (NULL: all); ASSAY_EINVAL if there is no such level. */
int assay__ort_optimization(const char *name, int *level, struct assay_error *error);
/** Ends the profile of a session and returns the path of its file. */
int assay__ort_end_profile(struct assay__session *session, OrtSession *profiled, char *path,
                           size_t path_size, struct assay_error *error);
/** The process's environment of ONNX Runtime, with its log redirected to ours. The caller releases
 *  it. */
int assay__ort_env(const struct assay__ort *ort, OrtEnv **env, struct assay_error *error);

/* --- ort_values.c ----------------------------------------------------------------------------- */

#define ASSAY__ORT_RANK_MOST 64

struct assay__ort_shape {
    int element; /* ONNX Runtime's element type */
    size_t rank, count;
    int64_t dims[ASSAY__ORT_RANK_MOST]; /* 0 beyond the rank */
};

/** Type and shape of a tensor. Fails if it has more than ASSAY__ORT_RANK_MOST dimensions. */
OrtStatus *assay__ort_shape_read(const struct assay__ort *ort, const OrtValue *value,
                                 struct assay__ort_shape *shape);
/** Bytes of the elements, packed. */
size_t assay__ort_shape_bytes(const struct assay__ort_shape *shape);
/** ONNX's TensorProto.DataType to ONNX Runtime's element type, and back. The numbers differ from 24
 *  on. */
int assay__ort_element_of(int onnx_dtype);
int assay__ort_dtype_of(int element);
/** Bits of one element of an ONNX data type; 0 for strings and unknown types. */
unsigned assay__ort_dtype_bits(int onnx_dtype);
/** A value that uses the tensor's memory (strings are copied). */
int assay__ort_value_make(struct assay__session *session, const struct assay__host_tensor *tensor,
                          OrtValue **value, struct assay_error *error);
/** A tensor view of a value; what is not in the value goes to the arena. A value that is not a
 *  tensor (a sequence, a map, nothing) has dtype 0, rank 0 and no data. The name is borrowed. */
int assay__ort_value_view(struct assay__session *session, OrtValue *value, const char *name,
                          struct assay__arena *arena, struct assay__host_tensor *tensor,
                          struct assay_error *error);
/** Releases and clears an array of values. */
void assay__ort_release_values(const struct assay__ort *ort, OrtValue **values, size_t count);

/* --- ort_feedback.c --------------------------------------------------------------------------- */

/** After the inputs and outputs of the session are created. */
int assay__ort_feedback_open(struct assay__session *session, const struct assay__feedback *feedback,
                             size_t count, struct assay_error *error);
/** A runner's own: its next run begins with the session's inputs. */
int assay__ort_feed_open(const struct assay__session *session, struct assay__ort_feed *feed,
                         struct assay_error *error);
/** Before a run: the states among the last run's outputs become inputs, and those that the last run
 * has read are released. Their entries among the outputs are then empty. */
int assay__ort_feed_take(const struct assay__session *session, struct assay__ort_feed *feed,
                         OrtValue **outputs, struct assay_error *error);
/** The next run begins with the session's inputs again. */
void assay__ort_feed_restart(const struct assay__session *session, struct assay__ort_feed *feed);
void assay__ort_feed_close(const struct assay__session *session, struct assay__ort_feed *feed);

/* --- a CUDA graph (ort_bound.c) --------------------------------------------------------------- */

/** Between host memory and that of the device; 0 or the driver's error. */
struct assay__device_copy {
    void *context;               /* of the device */
    int (*enter)(void *context); /* on the thread that copies */
    int (*to_device)(void *device, const void *host, size_t bytes);
    int (*to_host)(void *host, const void *device, size_t bytes);
    int (*wait)(void); /* until copies to the device are complete */
};
/** Whether the session was asked to record its runs as a CUDA graph. */
bool assay__ort_wants_graph(const struct assay__session *session);
/** By CUDA's driver, for the device that this thread uses now. */
int assay__ort_driver_copy(struct assay__device_copy *copy, struct assay_error *error);
/** After the inputs and outputs of the session are created: its steps are bound from now on. */
int assay__ort_bound_open(struct assay__session *session, const struct assay__device_copy *copy,
                          struct assay_error *error);
/** A run; `outputs`, of the session's outputs, are filled. */
int assay__ort_bound_run(struct assay__session *session, OrtValue **outputs,
                         struct assay_error *error);
/** The next run records the graph again. */
int assay__ort_bound_again(struct assay__session *session, struct assay_error *error);
void assay__ort_bound_close(struct assay__session *session);

/* --- ort_device.c ----------------------------------------------------------------------------- */

/** ONNX Runtime's name for the provider behind a device name; NULL if no row of the table
 *  matches. */
const char *assay__ort_provider(const char *device);
const char *assay__ort_device_kind(const char *device); /* "cpu" | "gpu" | "npu"; NULL: no row */
/** The card of a device that runs on CUDA; else without a name. */
void assay__ort_adapter(const char *device, struct assay__adapter *adapter);
/** Appends the device's provider to session options ("cpu" appends nothing), with additional
 *  provider options ("key=value;key=value"; NULL: none). strict: no node may run on the CPU
 *  instead. */
int assay__ort_append_device(const struct assay__ort *ort, OrtSessionOptions *options,
                             const char *device, const char *more, bool strict,
                             struct assay_error *error);
/** Removes that option from "key=value;key=value". */
void assay__ort_drop_option(char *text, const char *key);
/** Memory of the device in ONNX Runtime's naming, for its arena's statistics; the caller releases
 *  it. */
int assay__ort_device_memory(const struct assay__ort *ort, const char *device,
                             OrtMemoryInfo **info);
int assay__ort_devices(const char *library, assay__device_about_fn *about, assay__device_fn *found,
                       void *context, struct assay_error *error);

/* --- generation with a cache (ort_generate.c) ------------------------------------------------- */

/** After the inputs and outputs of the session are created. The plan is borrowed. */
int assay__ort_generation_open(struct assay__session *session, const struct assay__generation *plan,
                               struct assay_error *error);
int assay__ort_generation_step(struct assay__session *session, struct assay_error *error);
int assay__ort_generation_tokens(struct assay__session *session, struct assay__token_times *times,
                                 struct assay_error *error);
/** The outputs of the last run, in the session's order; entries are NULL before the first step. */
OrtValue *const *assay__ort_generation_outputs(const struct assay__session *session);
void assay__ort_generation_close(struct assay__session *session);

/* --- the layer timing (ort_layers.c) ---------------------------------------------------------- */

int assay__ort_layers(struct assay__session *session, const struct assay__layer_options *options,
                      struct assay__layers *result, struct assay_error *error);
int assay__ort_layers_begin(struct assay__session *session,
                            const struct assay__layer_options *options, struct assay_error *error);
int assay__ort_layers_block(struct assay__session *session, double seconds, double *total_ns,
                            struct assay_error *error);
void assay__ort_layers_drop(struct assay__session *session);
void assay__ort_layers_free(struct assay__session *session);
int assay__ort_timeline(struct assay__session *session,
                        const struct assay__timeline_options *options, struct assay_error *error);

/* The configuration entry of a session that can be asked which node runs where. */
#define ASSAY__ORT_RECORDS_ASSIGNMENT "session.record_ep_graph_assignment_info"
/** ASSAY_EUNSUPPORTED: this library cannot say it. */
int assay__ort_can_assign(const struct assay__ort *ort, struct assay_error *error);
/** Calls back for every node of such a session. */
int assay__ort_assigned(const struct assay__ort *ort, const OrtSession *session,
                        assay__assigned_fn *found, void *context, struct assay_error *error);
/** Which provider would get which node (ort_assignment.c). */
int assay__ort_assignment(const struct assay__assignment_options *options,
                          assay__assigned_fn *found, void *context, struct assay_error *error);

#endif
