/* cmd_run.c - assay run: profile one model on one target and print the report. */
#include "cli/commands.h"
#include "cli/require_option.h"
#include "cli/run_command.h"

#include <math.h>

struct run_options {
    struct assay__run_flags run; /* first: the shared option rows write to it */
    bool power, memory, counters;
    double interval_s, idle_s;
    int64_t repetitions;
    const char *require;
};

#define AT(member) offsetof(struct run_options, member)

static const struct assay__option options[] = {
    ASSAY__FLAG_ROW("power", 0, power,
                    "Also read power, energy, temperature and clocks during the run."),
    ASSAY__FLAG_ROW(
        "memory", 0, memory,
        "Also track the worker's memory, and count its allocations in a separate launch."),
    ASSAY__FLAG_ROW("counters", 0, counters,
                    "Also read the processor's and the kernel's counters."),
    ASSAY__DURATION_ROW("interval", interval_s,
                        "Time between two readings of the sensors (default 100ms).", 1e-3, 3600),
    ASSAY__DURATION_ROW(
        "idle", idle_s,
        "How long to measure the idle machine before the run with --power (default 3s).", 0, 3600),
    ASSAY__STRING_ROW("require", 0, require, "NAME|FILE",
                      "Check the run against a requirement table: m1, m1-pro, m1-max, m1-ultra or "
                      "a file; exit status 1 if a minimum is not met."),
    ASSAY__INTEGER_ROW("pp", run.prompt, "N",
                       "Prompt tokens, as llama-bench calls them: the same as --prompt.", 1, 1e9),
    ASSAY__INTEGER_ROW("tg", run.generate, "N",
                       "Tokens to generate, as llama-bench calls them: the same as --generate "
                       "(default with --pp: 1).",
                       1, 1e6),
    {"repetitions", 'r', ASSAY__OPTION_INTEGER, AT(repetitions), "N",
     "Exactly N inferences in one launch, after one that is dropped; as llama-bench counts.", NULL,
     NULL, 1, 1e6, false},
    ASSAY__CHOICE_ROW("detail", 0, run.render.detail, "DETAIL",
                      "Instead of the whole report: verdicts, score and three recommendations; or "
                      "also bottlenecks, opportunities and environment.",
                      "basic|detailed"),
    {0},
};

static int run_model(struct assay__invocation *invocation)
{
    struct run_options *o = invocation->options;
    struct assay__arena *arena = NULL;
    if (o->run.prompt && !o->run.generate && assay__option_given(invocation, "pp"))
        o->run.generate = 1;
    int status = assay__run_check(invocation);
    if (!status && o->repetitions &&
        (o->run.iters || o->run.time_s > 0 || assay__option_given(invocation, "launches")))
        status = assay__refuse(
            "run: --repetitions cannot be used with --iters, --time or --launches");
    if (!status && o->require)
        status = assay__require_option("run", o->require, &arena, &o->run.table);
    /* what the table requires is measured */
    const struct assay__require_table *table = status ? NULL : o->run.table;
    bool power = o->power || (table && (isfinite(table->minimum[ASSAY__REQUIRE_POWER]) ||
                                        isfinite(table->target[ASSAY__REQUIRE_POWER])));
    /* sampling options without anything to sample are a mistake */
    if (!status && assay__option_given(invocation, "idle") && !power)
        status = assay__refuse("run: --idle needs --power: without it nothing is sampled");
    if (!status && assay__option_given(invocation, "interval") && !power && !o->memory)
        status = assay__refuse(
            "run: --interval needs --power or --memory: without it nothing is sampled");
    if (!status) {
        struct assay__run_options library = assay__run_options_of(invocation);
        if (o->repetitions) {
            library.measuring.iterations = o->repetitions;
            library.measuring.launches = 1;
        }
        if (o->repetitions && !library.measuring.warmup_given) {
            library.measuring.warmup_given = true;
            library.measuring.warmup = 1;
        }
        library.watching = (struct assay_watching_options){
            .power = power,
            .memory = o->memory,
            .counters = o->counters,
            .interval_s = o->interval_s,
            .idle_given = assay__option_given(invocation, "idle"),
            .idle_s = o->idle_s,
        };
        status = assay__run_go(invocation, &library);
    }
    assay__arena_free(arena);
    return status;
}

const struct assay__command assay__command_run = {
    .name = "run",
    .summary = "profile a model: latency, throughput, layers, memory",
    .arguments = "MODEL",
    .min_arguments =
        0, /* a script of the fake engine needs no model; otherwise assay__run_go() requires it */
    .max_arguments = 1,
    .description = "Runs MODEL on a device of this machine and reports where its time goes. MODEL "
                   "is an ONNX file or the name of a built-in model such as resnet50 (with "
                   "parameters: resnet50:batch=8).\n\n"
                   "Latency comes from worker processes with every profiler off; layer times come "
                   "from separate passes and, with the engine's fixed cost and what could not be "
                   "attributed, add up to the unprofiled median. Inputs are synthetic and valid "
                   "for the model unless --input gives real ones.",
    .examples = "  assay run resnet50\n"
                "  assay run model.onnx --batch 8 --threads 4 -o model.assay\n"
                "  assay run model.onnx --shape data=1x3x224x224 --input data=cat.npy\n"
                "  assay run gpt2 --generate 32\n"
                "  assay run gpt2 --pp 512 --tg 128 -r 5\n"
                "  assay run resnet50 --require m1-max --detail basic\n"
                "  assay run model.onnx --json | python3 -m json.tool\n",
    .options = options,
    .shared = assay__run_rows,
    .options_size = sizeof(struct run_options),
    .run = run_model,
};
