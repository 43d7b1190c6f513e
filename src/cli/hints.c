/* hints.c - the tables from the library's names to the flags. */
#include "cli/cli.h"

#include <stddef.h>
#include <string.h>

static const struct assay__option_hint options[] = {
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
    {"seed", "--seed", NULL},
    {"sequence", "--seq", NULL},
    {"shapes", "--shape", NULL},
    {"slo", "--slo", NULL},
    {"spinning", "--spinning", NULL},
    {"streams", "--streams", NULL},
    {"target", "--target", "'assay devices' lists devices"},
    {"threads", "--threads", NULL},
    {"time_s", "--time", NULL},
    {"timeout_s", "--timeout", NULL},
    {"unit", "--unit", NULL},
    {"warmup", "--warmup", NULL},
};

/* By the beginning of a metric's name, or by what a report calls the thing to do. */
static const struct {
    const char *prefix, *hint;
} metrics[] = {
    {"assumed", "--shape, --dim"},
    {"budget", "--budget"},
    {"cache.", "assay run --counters"},
    {"compute.utilization", "assay devices --ceilings"},
    {"efficiency.", "assay run --power"},
    {"energy.", "assay run --power"},
    {"hardware.", "assay run --counters"},
    {"latency.p", "--time, --iters"},
    {"llm.", "--time, --iters"},
    {"memory.bandwidth_utilization", "assay devices --ceilings"},
    {"memory.bandwidth", "assay run --counters"},
    {"memory.peak.device", "assay run --memory"},
    {"power.", "assay run --power"},
    {"roofline.", "assay devices --ceilings"},
    {"target", "assay check --target ane"},
    {"unavailable", "--full"},
    {"verification", "assay advise --verify"},
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
