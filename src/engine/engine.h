/* engine.h - the software that runs a model, behind a small table of functions. Built-in engines
 * are in one list (engines.h); adding one means a new file and a row there. A session runs in the
 * worker process. The table is private until engines can be registered from outside; a caller's own
 * runtime is measured through a callback (assay/measure.h). */
#ifndef ASSAY_ENGINE_ENGINE_H
#define ASSAY_ENGINE_ENGINE_H

#include "base/no_memory.h"
#include "model/inputs/generation_roles.h"
#include "profile/profile.h"

#include <assay/error.h>
#include <assay/metric.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ASSAY__ENGINE_ABI 1

struct assay__session; /* each engine defines its own */

/** A tensor in host memory. dtype is ONNX's TensorProto.DataType number. */
struct assay__host_tensor {
    const char *name;
    int dtype;
    int rank;
    const int64_t *dims;
    void *data; /* NULL for strings */
    size_t data_size;
    const char *const *strings; /* dtype 8 only */
    size_t string_count;
};

/** The times of the tokens of the generations since the last call. */
struct assay__token_times {
    int64_t tokens, prompt, batch;
    size_t generations; /* recorded; only the first ones if there was not enough room */
    size_t dropped;     /* generations not recorded */
    const uint64_t *ns; /* generations x tokens: time since the step began */
    const int64_t *ids; /* batch x tokens: output of the last generation */
    double choose_ns;   /* mean time per token to find the most likely one (included in the times
                           above) */
};

struct assay__session_options {
    size_t size;
    const char *model_path;
    const char *library;      /* the engine's library, or NULL: its default search */
    const char *device;       /* "cpu", "cuda:0"; NULL: "cpu" */
    const char *optimization; /* "none" | "basic" | "extended" | "all"; NULL: "all" */
    int threads;              /* 0: the engine's default */
    /* requests in flight: step() is called from that many threads, stream 0 … n-1; 0 means 1 */
    int streams;
    int spinning; /* -1 engine's default, 0 off, 1 on */
    /* one set, shared read-only by all streams; outlives the session */
    const struct assay__host_tensor *inputs;
    size_t input_count;
    const char *script; /* fake engine only: its script */
    /* NULL: a step is one run; else a whole generation, one stream; borrowed */
    const struct assay__generation *generation;
    bool strict; /* the device must run every node: one that would run on the CPU instead is an
                    error */
    const char *provider_options; /* of the device's provider: "key=value;key=value"; NULL: none */
    const char *model_name;       /* what messages call the model; NULL: its path */
    /* outputs of a step that become inputs of the stream's next step, starting with `inputs`;
     * borrowed */
    const struct assay__feedback *feedback;
    size_t feedback_count;
};

struct assay__session_facts {
    double load_ns, compile_ns,
        create_ns; /* NaN when the engine cannot separate them; create = whole session creation */
    const char *load_reason; /* why load/compile are NaN */
    const char *version;     /* engine version */
    const char *library;     /* path really loaded */
    const char *provider;    /* what the device resolved to */
    const char *hardware;    /* the card, as its driver names it; "" or NULL unknown */
    int threads;             /* really used; 0 unknown */
};

/* --- layers ----------------------------------------------------------------------------------- */

/** Counters that an engine may read before and after its layers, in a separate pass: they count
 *  only between begin and end. */
struct assay__layer_counters {
    size_t count;
    void (*begin)(void *context);
    void (*end)(void *context);
    void (*read)(void *context, double *values); /* `count` totals so far; NaN: unknown now */
    void *context;
};

struct assay__layer_options {
    size_t size;
    enum assay_layer_method method;
    double budget_s;   /* soft limit of wall time; 0: 2 s below 1 ms per run, else 10 s */
    double latency_ns; /* the unprofiled median of this launch, to validate passes */
    const struct assay__layer_counters *counters; /* NULL: none are wanted */
    /* what another process with the same session options can use again is kept here; NULL: none */
    const char *keep;
};

/* --- timelines -------------------------------------------------------------------------------- */

/** What a host thread did; times are of the engine's clock. */
struct assay__timeline_span {
    const char *name, *op, *provider; /* "" unknown */
    uint64_t start_ns, end_ns;
    bool step; /* a whole inference; else a layer */
};

struct assay__timeline_options {
    size_t size;
    int runs;           /* inferences to record */
    const char *folder; /* where files that import/ reads may be written */
    /** Gets every span on the calling thread. 0, or ASSAY_ENOMEM, which ends the recording. */
    int (*span)(void *context, const struct assay__timeline_span *span);
    void *context;
};

/* --- devices ---------------------------------------------------------------------------------- */

struct assay__device {
    const char *name; /* "cpu", "cuda:0" */
    const char *kind; /* "cpu" | "gpu" | "npu" */
    const char *engine;
    const char *library; /* path, "" none */
    bool available;
    const char *reason;   /* why not; "" */
    const char *version;  /* of the engine's library; "" unknown */
    const char *hardware; /* the card or adapter behind it, as named by its driver; "" unknown */
    bool software;        /* the adapter is emulated on the CPU (SwiftShader, llvmpipe) */
    const char *note;     /* how the hardware was identified, and whether it is software; "" */
    /* the library has the provider, and it was tried; false: the row only says what is missing */
    bool offered;
};
typedef int assay__device_fn(void *context, const struct assay__device *device);

/** What to do with a device that is about to be tried. */
enum assay__device_answer {
    ASSAY__DEVICE_TRY,
    ASSAY__DEVICE_PASS, /* skip it for now and continue with the next one */
    ASSAY__DEVICE_END,  /* skip it, and those of the same kind with higher numbers */
};
/** The device has its name, kind, engine, library and version; the rest is not known yet. */
typedef enum assay__device_answer assay__device_about_fn(void *context,
                                                         const struct assay__device *device);

/** What the engine's own arena has done so far; NaN unknown. */
struct assay__arena_use {
    double allocations; /* allocations it served */
    double extensions;  /* times it requested more from the system */
    double held_bytes;  /* taken from the system now */
};

/* --- which provider gets which node ----------------------------------------------------------- */

/** What a session would be created from. Strings are borrowed; NULL: the default, as in the session
 *  options. */
struct assay__assignment_options {
    size_t size;
    const char *model_path, *library, *device, *optimization, *provider_options;
    /* symbolic dimensions of the model that are fixed before the nodes are assigned */
    const char *const *dim_names;
    const int64_t *dim_values;
    size_t dim_count;
    /* optional: called before any node, with found's context, with the device's own provider and
     * the engine's version: a record may name no node at all. A value other than 0 stops it and is
     * returned. */
    int (*about)(void *context, const char *target, const char *version);
    const char *save_path; /* NULL or: save the model as the engine optimised it there */
};

/** A node and the provider that would run it. Strings live until the callback returns. */
struct assay__assigned {
    const char *name, *op, *domain; /* name "": it has none */
    const char *provider;           /* that runs it, by the engine's name for it */
    size_t subgraph;                /* nodes with the same number are one piece for the provider */
};
typedef int assay__assigned_fn(void *context, const struct assay__assigned *node);

/** Members marked optional may be NULL. Append only. */
struct assay__engine_ops {
    uint32_t abi;
    size_t size;
    const char *name;
    const char *summary;
    /** Calls back for every device this engine could offer on this machine, available or not (with
     *  the reason). `about` (NULL: try all) is called before each is tried, so that a parent knows
     *  which one caused a crash. */
    int (*devices)(const char *library, assay__device_about_fn *about, assay__device_fn *found,
                   void *context, struct assay_error *error);
    /** Loads the model and creates what is needed to run it. */
    int (*open)(const struct assay__session_options *options, struct assay__session **session,
                struct assay_error *error);
    /** One inference, host to host, synchronised. Contains no allocation, lock or I/O of assay. 0
     *  or a code; text by error(). */
    int (*step)(struct assay__session *session, int stream);
    /** Message of the last failed step(). */
    const char *(*step_error)(struct assay__session *session);
    void (*facts)(struct assay__session *session, struct assay__session_facts *facts);
    /** optional: the outputs of the last step of stream 0; data borrowed until the next step. */
    int (*outputs)(struct assay__session *session, const struct assay__host_tensor **outputs,
                   size_t *count, struct assay_error *error);
    /** optional: where the time of one run goes. Strings and arrays belong to the session and live
     *  until it is closed or layers() is called again. */
    int (*layers)(struct assay__session *session, const struct assay__layer_options *options,
                  struct assay__layers *result, struct assay_error *error);
    /** optional: a scripted clock in ns instead of the real one (tests). */
    uint64_t (*now_ns)(struct assay__session *session);
    /** optional: bytes the engine's own arena holds / held at its peak; NaN unknown. */
    void (*memory)(struct assay__session *session, double *arena_bytes, double *arena_peak_bytes);
    void (*close)(struct assay__session *session); /* NULL legal */
    /** optional: for a session with `generation`; the record is reset. Borrowed until the next
     *  step. */
    int (*tokens)(struct assay__session *session, struct assay__token_times *times,
                  struct assay_error *error);
    /** optional: how the engine's own arena is used. */
    void (*arena_use)(struct assay__session *session, struct assay__arena_use *use);
    /** optional: creates a separate session without inputs, reports for every node after the
     *  engine's first simplifications which provider got it, and closes it. ASSAY_EUNSUPPORTED:
     *  this build of the engine cannot report it. A non-zero value of `found` stops it and is
     *  returned. */
    int (*assignment)(const struct assay__assignment_options *options, assay__assigned_fn *found,
                      void *context, struct assay_error *error);
    /** optional: the class of a device by its name alone, whether it is present or not: "cpu" |
     *  "gpu" | "npu"; NULL: this engine has no such device. */
    const char *(*device_kind)(const char *device);
    /** optional, all three or none: layers that are timed in blocks between measured windows, so
     *  that both see the machine in the same state. layers_begin() opens what that needs besides
     *  the session; ASSAY_EUNSUPPORTED: it cannot, and layers() does it later in one go.
     *  layers_block() runs the instrumented model for about that long; *total_ns is the sum of
     *  layers and engine over the blocks so far, NaN unknown. layers_drop() discards the last
     *  block. layers() then returns the result of the blocks. */
    int (*layers_begin)(struct assay__session *session, const struct assay__layer_options *options,
                        struct assay_error *error);
    int (*layers_block)(struct assay__session *session, double seconds, double *total_ns,
                        struct assay_error *error);
    void (*layers_drop)(struct assay__session *session);
    /** optional: records a timeline of some more inferences. */
    int (*timeline)(struct assay__session *session, const struct assay__timeline_options *options,
                    struct assay_error *error);
};

/** Built-in engines by name / by index (NULL past the end). */
const struct assay__engine_ops *assay__engine_find(const char *name);
const struct assay__engine_ops *assay__engine_at(size_t index);

/** The class of a device by its name, without the prefix of a build, from the engine's table. */
enum assay__device_class assay__engine_device_class(const char *engine, const char *device);
/** As assay__session_options_read. */
int assay__assignment_options_read(const struct assay__assignment_options *given,
                                   struct assay__assignment_options *own,
                                   struct assay_error *error);

/** A caller's options as this library knows them: members missing in the caller's (older) struct
 *  are zero; bytes that this library does not know must be zero, else ASSAY_EINVAL. */
int assay__session_options_read(const struct assay__session_options *given,
                                struct assay__session_options *own, struct assay_error *error);

/** The counters that a caller requests from layers(), and the folder it has for what can be used
 *  again; NULL: none, or its (older) struct has no member for them. */
const struct assay__layer_counters *assay__layer_counters(
    const struct assay__layer_options *options);
const char *assay__layer_keep(const struct assay__layer_options *options);

#endif
