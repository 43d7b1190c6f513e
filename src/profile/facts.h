/* facts.h - the typed facts of a profile: its kind, each trial's target and role, the settings that
 * vary, the plan of all trials together, the provider of each node. They are set where they are
 * known and read everywhere; texts for people and JSON are written from them and never parsed.
 * Profiles of schema 1 have them only as text: schema1.c reads those. */
#ifndef ASSAY_PROFILE_FACTS_H
#define ASSAY_PROFILE_FACTS_H

#include "base/enum_names.h"

#include <assay/layer.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- the kind of a profile -------------------------------------------------------------------- */

enum assay__profile_kind {
    ASSAY__PROFILE_UNKNOWN,
    ASSAY__PROFILE_RUN,
    ASSAY__PROFILE_COMPARE,
    ASSAY__PROFILE_SWEEP,
    ASSAY__PROFILE_TUNE,
    ASSAY__PROFILE_POWER,
    ASSAY__PROFILE_MEMORY,
    ASSAY__PROFILE_COUNTERS,
    ASSAY__PROFILE_ADVISE,
    ASSAY__PROFILE_PREDICT,
    ASSAY__PROFILE_EXPLAIN,
    ASSAY__PROFILE_BENCH,
    ASSAY__PROFILE_WATCH,
    ASSAY__PROFILE_KINDS
};

extern const struct assay__enum_names assay__kind_names; /* the commands that make such profiles */
/** The kind that a command makes; UNKNOWN for any other text, and for NULL. */
enum assay__profile_kind assay__kind_of_command(const char *command);

/* --- the role of a trial ---------------------------------------------------------------- */

enum assay__trial_role {
    ASSAY__ROLE_NONE,
    ASSAY__ROLE_REFERENCE, /* what the others are compared with */
    ASSAY__ROLE_CONTROL,   /* the CPU of a further build: measured, never recommended */
    ASSAY__ROLE_SOFTWARE,  /* on a device emulated in software: never recommended either */
    ASSAY__ROLE_CONFIRM,   /* a point of a sweep repeated with enough launches for a test */
    ASSAY__ROLE_START,     /* of a tuning: the default settings */
    ASSAY__ROLE_SEARCH,    /* short launches that choose */
    ASSAY__ROLE_REFUSED,   /* known not to run */
    ASSAY__ROLE_FINALIST,  /* separate launches that decide */
    ASSAY__ROLE_ABLATION,  /* the best, and the best with one setting reset */
    ASSAY__ROLE_COUNT
};
extern const struct assay__enum_names assay__role_names;
const char *assay__role_name(enum assay__trial_role role); /* "reference", …; "" none */
enum assay__trial_role assay__role_parse(const char *name);

/* --- the target ------------------------------------------------------------------------------- */

enum assay__device_class {
    ASSAY__CLASS_UNKNOWN,
    ASSAY__CLASS_CPU,
    ASSAY__CLASS_GPU,
    ASSAY__CLASS_NPU,
    ASSAY__CLASS_COUNT
};
extern const struct assay__enum_names assay__device_class_names;
const char *assay__device_class_name(enum assay__device_class device_class); /* "cpu", …; "" */
enum assay__device_class assay__device_class_parse(const char *name);

enum assay__optimization {
    ASSAY__OPTIMIZATION_UNKNOWN,
    ASSAY__OPTIMIZATION_NONE,
    ASSAY__OPTIMIZATION_BASIC,
    ASSAY__OPTIMIZATION_EXTENDED,
    ASSAY__OPTIMIZATION_ALL,
    ASSAY__OPTIMIZATION_COUNT
};
extern const struct assay__enum_names assay__optimization_names;
const char *assay__optimization_name(enum assay__optimization level); /* "none", …; "" unknown */
enum assay__optimization assay__optimization_parse(const char *name);

/** What a trial ran on. Strings are "" where unknown. */
struct assay__target {
    const char *engine, *engine_version, *engine_library;
    const char *device; /* as the user names it: "cpu", "ovn/openvino:cpu" */
    /* build of the engine, the prefix of the device: "ovn"; "" the default one */
    const char *build;
    /* by the engine's table of devices: the one answer to "is it the CPU?" */
    enum assay__device_class device_class;
    bool software;        /* emulated on the CPU */
    int threads;          /* 0 unknown */
    bool threads_default; /* the engine's default, not requested */
    enum assay__optimization optimization;
    int streams;           /* requests in flight; 0 unknown */
    const char *precision; /* of a rewritten copy: "float16"; "" the original model */
    bool spinning_off;     /* of the engine's threads while they wait */
    const char *cpus;      /* pinned to: "0-3"; "" any */
    const char *chip;      /* of a prediction: "m1-max", "this"; "" measured */
    bool published;        /* of a prediction: from published peaks, not measured ceilings */
    const char *uncovered; /* of a prediction: why its error does not cover the model; "" it does */
};
/** What follows the build's prefix: "openvino:cpu" in "ovn/openvino:cpu". Borrowed; NULL is
 * allowed. */
const char *assay__device_bare(const char *device);
/** The CPU provider that every engine has, in any build: other devices fall back to it, and its
 * outputs count as the model's own. */
bool assay__target_is_fallback(const struct assay__target *target);

/* --- how it was measured ---------------------------------------------------------------------- */

/* What is measured besides the latency; bits. */
enum assay__watched {
    ASSAY__WATCHED_POWER = 1u << 0,
    ASSAY__WATCHED_MEMORY = 1u << 1,
    ASSAY__WATCHED_COUNTERS = 1u << 2,
};

extern const struct assay__enum_names assay__layer_method_names; /* enum assay_layer_method */

struct assay__protocol {
    int launches;   /* asked for; 0 unknown */
    int64_t warmup; /* iterations requested; -1: detected from the data */
    uint64_t seed;
    enum assay_layer_method layers; /* asked for */
    unsigned watched;               /* enum assay__watched */
};

/** When a token of a generation was ready: medians over all measured generations. */
struct assay__token_time {
    int64_t token;  /* 1, 2, … */
    double at_ns;   /* since the generation began; NaN unknown */
    double step_ns; /* since the previous token; for the first, since the generation began */
    double low_ns, high_ns; /* of step_ns: 5th and 95th percentile */
};

/* stored at most; for longer generations, as many evenly spread ones */
#define ASSAY__TOKEN_TIMES 1024

/** Text generation with the model's cache. */
struct assay__generation_info {
    int64_t tokens; /* of one inference; 0: it does not generate */
    int64_t prompt;
    const int64_t *ids; /* tokens of the last generation, for all samples of the batch */
    size_t id_count;
    struct assay__token_time *times; /* in their order */
    size_t time_count;               /* 0: not known */
};

/* --- what one inference passes on to the next ------------------------------------------------- */

enum assay__feedback_source {
    ASSAY__FEEDBACK_UNKNOWN,
    ASSAY__FEEDBACK_NAME,  /* the names of the two say it */
    ASSAY__FEEDBACK_GIVEN, /* asked for */
    ASSAY__FEEDBACK_GRAPH, /* recurrent cells begin with the one and end with the other */
    ASSAY__FEEDBACK_SHAPE, /* the only output that is shaped like an input named as a state */
};
extern const struct assay__enum_names assay__feedback_names; /* "name", "given", …; "" unknown */

/** An output that becomes an input of the next inference: a state. */
struct assay__feedback {
    const char *output, *input;
    enum assay__feedback_source found;
};

/** The period of real time that the input of one inference covers. */
struct assay__real_time {
    double seconds;        /* as it was given; NaN */
    int64_t sound_samples; /* taken from the inputs: samples of a waveform … */
    double sound_rate;     /* … and the sampling rate, in Hz; -1 and NaN: unknown */
};

/* --- the settings that vary ------------------------------------------------------------------- */

/* In the order of labels and of points: the last axis varies fastest. */
enum assay__axis {
    ASSAY__AXIS_BENCHMARK, /* its name (zoo/benchmarks.h); only of a profile of benchmarks */
    ASSAY__AXIS_DEVICE,
    ASSAY__AXIS_PRECISION,
    ASSAY__AXIS_OPT,
    ASSAY__AXIS_THREADS,
    ASSAY__AXIS_SPINNING,
    ASSAY__AXIS_SEQ,
    ASSAY__AXIS_BATCH,
    ASSAY__AXIS_COUNT
};
extern const struct assay__enum_names assay__axis_names;
const char *assay__axis_name(enum assay__axis axis); /* "device", …: in labels and in JSON */
/** ASSAY__AXIS_COUNT: no such axis. */
enum assay__axis assay__axis_parse(const char *name, size_t length);
/** Its values are numbers. */
bool assay__axis_is_number(enum assay__axis axis);

/** A trial's value on an axis of its sweep, tuning or benchmarks. */
struct assay__axis_value {
    enum assay__axis axis;
    const char *value; /* "8", "float16" */
};
/** What the value means for a target: its precision, optimisation, threads or spinning. The value
 * is borrowed. */
void assay__target_set_axis(struct assay__target *target, const struct assay__axis_value *value);
/** The value as a number; NaN: it is a word. */
double assay__axis_number(const char *value);

/* --- what was requested for all trials together ----------------------------------------------- */

enum assay__plan_goal {
    ASSAY__PLAN_THROUGHPUT,
    ASSAY__PLAN_LATENCY,
    ASSAY__PLAN_ENERGY,
    ASSAY__PLAN_GOALS
};
extern const struct assay__enum_names assay__goal_names;
const char *assay__plan_goal_name(enum assay__plan_goal goal); /* "throughput", … */
/** THROUGHPUT for any other text, and for NULL. */
enum assay__plan_goal assay__plan_goal_parse(const char *name);

/** Of a sweep or a tuning. */
struct assay__plan {
    bool asked; /* false: there is none, the rest is unknown */
    enum assay__plan_goal goal;
    const char *slo_metric; /* "latency.p99"; NULL: no latency limit */
    double slo_s;           /* at most; NaN */
    const char *slo;        /* as requested: "p99=20ms"; "" none */
    double memory_bytes;    /* budget of memory.peak.worker; NaN: none */
    double drift_limit;     /* of the outputs, relative L2; INFINITY: any drift is allowed */
    double budget_s;        /* of a tuning; NaN */
    int64_t configurations; /* number of configurations a tuning chooses from; -1 unknown */
};
struct assay__plan assay__plan_unknown(void);
/** Parses "p99=20ms" as the plan's latency limit. False: not of that form (a time needs its unit);
 * then the plan has none. The text is borrowed. */
bool assay__plan_set_slo(struct assay__plan *plan, const char *text);

/* --- what a trial must reach ------------------------------------------------------------------ */

enum assay__require_kind {
    ASSAY__REQUIRE_TFLOPS,
    ASSAY__REQUIRE_BANDWIDTH,
    ASSAY__REQUIRE_THROUGHPUT,
    ASSAY__REQUIRE_P50,
    ASSAY__REQUIRE_P99,
    ASSAY__REQUIRE_MEMORY,
    ASSAY__REQUIRE_POWER,
    ASSAY__REQUIRE_COUNT
};

/** The requirement table that a trial is judged by. */
struct assay__requirements {
    const char *name;                     /* "m1-max" */
    const char *chip;                     /* "M1 Max"; "" none */
    double minimum[ASSAY__REQUIRE_COUNT]; /* base units; NaN: not required */
    double target[ASSAY__REQUIRE_COUNT];
    int64_t batch, backbone_units; /* of the NCP guides; 0: none */
};

/* --- what disturbed the run ------------------------------------------------------------------- */

enum assay__disturbance_kind {
    ASSAY__DISTURBANCE_OTHER,
    ASSAY__DISTURBANCE_CLOCK,     /* the CPU's clock changed */
    ASSAY__DISTURBANCE_THROTTLED, /* the CPU, for heat */
    ASSAY__DISTURBANCE_SLOWED,    /* a device reduced its clocks, or the system was too warm */
    ASSAY__DISTURBANCE_QUOTA,     /* the control group's */
};
extern const struct assay__enum_names assay__disturbance_names; /* "clock", …; "" other */

/* --- energy ----------------------------------------------------------------------------------- */

/* Why the power of a trial is not known. */
enum assay__power_gap {
    ASSAY__POWER_UNREAD, /* not requested */
    ASSAY__POWER_KNOWN,
    ASSAY__POWER_NO_SENSOR, /* nothing here measures it */
    ASSAY__POWER_LOST,      /* there is a sensor, but it returned nothing: see the metric */
};
extern const struct assay__enum_names assay__power_gap_names; /* "known", …; "" unread */

/** A warning about one of the power numbers. */
struct assay__power_warning {
    const char *about; /* "package", "package, idle", "power", "net energy" */
    const char *text;
};

struct assay__power_info {
    enum assay__power_gap gap;
    const char **rails; /* that power.average adds up: "package", "dram" */
    size_t rail_count;
    bool whole_machine;      /* they are the whole machine's */
    const char *temperature; /* the series behind hardware.temperature; "" none */
    const char *frequency;   /* … and hardware.frequency */
    struct assay__power_warning *warnings;
    size_t warning_count;
};

/* --- which provider ran which node ------------------------------------------------------------ */

struct assay__placed_node {
    const char *node, *op;
    const char *provider; /* the engine's name for it: "CPUExecutionProvider"; "" none */
    bool elsewhere;       /* not on the trial's device */
    bool indices;         /* it only computes shapes and indices, which engines keep on the CPU */
};

/** As reported by the engine; the totals are the metrics placement.* of the trial. */
struct assay__placement {
    const char *record; /* the source: "ONNX Runtime 1.31.1, …"; "" none */
    struct assay__placed_node *nodes;
    size_t node_count;
};

#endif
