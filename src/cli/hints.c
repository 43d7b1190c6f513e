/* hints.c - the tables that map names in the library to flags. */
#include "cli/cli.h"

#include <stddef.h>
#include <string.h>

static const struct assay__option_hint options[] = {
    {"against", "--against", "assay bench -o FILE.assay makes one"},
    {"batch", "--batch", NULL},
    {"budget_s", "--budget", NULL},
    {"ceilings", NULL,
     "assay devices --ceilings measures them, about 17 s; assay predict --calibrate too"},
    {"chip", "--chip", "assay predict --chips lists them"},
    {"cpus", "--cpus", NULL},
    {"device", "--device", "'assay devices' lists them"},
    {"devices", "--devices", "'assay devices' lists them"},
    {"dims", "--dim", NULL},
    {"engine", "--engine", NULL},
    {"generate", "--generate", NULL},
    {"goal", "--goal", NULL},
    {"grid", NULL, "--batch 1,2,4,8, --threads 1,2,4"},
    {"idle_s", "--idle", NULL},
    {"inputs", "--input", NULL},
    {"interval_s", "--interval", NULL},
    {"iterations", "--iters", NULL},
    {"launch_limit_s", "--launch-limit", NULL},
    {"launches", "--launches", NULL},
    {"layers", NULL, "assay run --layers times them"},
    {"library", "--library", NULL},
    {"memory_budget", "--memory-budget", NULL},
    {"only", "--only", NULL},
    {"optimization", "--opt", NULL},
    {"ort", "--ort", NULL},
    {"output", "--output", NULL},
    {"precision", "--precision", NULL},
    {"prompt", "--prompt", "--seq is the same"},
    {"resume", "--resume", NULL},
    {"rules", "--rule", "--list shows them"},
    {"seconds_per_inference", "--seconds-per-inference", NULL},
    {"seed", "--seed", NULL},
    {"sequence", "--seq", NULL},
    {"shapes", "--shape", NULL},
    {"slo", "--slo", NULL},
    {"spinning", "--spinning", NULL},
    {"states", "--state", NULL},
    {"streams", "--streams", NULL},
    {"target", "--target", "'assay devices' lists devices"},
    {"threads", "--threads", NULL},
    {"time_s", "--time", NULL},
    {"timeout_s", "--timeout", NULL},
    {"unit", "--unit", NULL},
    {"warmup", "--warmup", NULL},
};

/* By the prefix of a metric's name, or by the name a report uses for something to do. */
static const struct {
    const char *prefix, *hint;
} metrics[] = {
    {"assumed", "--shape, --dim"},
    {"budget", "--budget"},
    {"cache.", "assay run --counters"},
    /* commands that make the change of a finding (advise/change.h): MODEL and VALUE are replaced */
    {"change.batch", "assay run MODEL --batch VALUE"},
    {"change.dynamic-int8", "assay make --from MODEL --int8 dynamic -o int8.onnx"},
    {"change.fix-dims", "assay make --from MODEL --fix-dim VALUE -o fixed.onnx"},
    {"change.float16", "assay make --from MODEL --float16 -o float16.onnx"},
    {"change.fold-affine", "assay make --from MODEL --fold-affine -o folded.onnx"},
    {"change.fuse-hardswish", "assay make --from MODEL --fuse-hardswish -o fused.onnx"},
    {"change.iterations", "assay run MODEL --iters VALUE"},
    {"change.layout-off", "assay run MODEL --opt extended"},
    {"change.optimize", "assay run MODEL --opt all"},
    {"change.spinning-off", "assay run MODEL --no-spinning"},
    {"change.threads", "assay run MODEL --threads VALUE"},
    {"change.weights-int8", "assay make --from MODEL --int8 weights -o int8.onnx"},
    {"change.zoo", "assay run VALUE"},
    {"compute.utilization", "assay devices --ceilings"},
    {"efficiency.", "assay run --power"},
    {"energy.", "assay run --power"},
    {"hardware.", "assay run --counters"},
    {"inputs", "--input NAME=VALUE"},
    {"latency.p", "--time, --iters"},
    {"llm.", "--time, --iters"},
    {"memory.bandwidth_utilization", "assay devices --ceilings"},
    {"memory.bandwidth", "assay run --counters"},
    {"memory.peak.device", "assay run --memory"},
    {"power.", "assay run --power"},
    {"realtime.", "--seconds-per-inference"},
    {"roofline.", "assay devices --ceilings"},
    {"state.", "--state none"},
    {"target", "assay check --target ane"},
    {"unavailable", "--full"},
    {"verification", "assay advise --verify"},
    {"verify-rule", "assay advise MODEL --verify --rule VALUE"},
    {"workload", "--batch, --seq, --dim, --shape, --input, --seed"},
};

const struct assay__option_hint *assay__option_hint(const char *option)
{
    for (size_t i = 0; option && i < sizeof options / sizeof options[0]; i++)
        if (strcmp(options[i].option, option) == 0) return &options[i];
    return NULL;
}

const char *assay__metric_hint(const char *metric)
{
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++)
        if (strncmp(metrics[i].prefix, metric, strlen(metrics[i].prefix)) == 0)
            return metrics[i].hint;
    return NULL;
}
