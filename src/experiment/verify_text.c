/* verify_text.c - a gain in words, and what a finding needs that a program cannot try by itself.
 * By rule where there is something specific to say, else by family. */
#include "experiment/verify.h"

#include <string.h>

struct word {
    const char *id, *needs;
};

static const struct word by_rule[] = {
    {"bfloat16", "an export in bfloat16, or an option of the engine that assay does not set"},
    {"float64", "an export in float32: there is no rewrite for it"},
    {"fallback", "other operators in the model, or a provider that has them"},
    {"unused-weights", "nothing at run time: it saves room in the file and time while loading"},
    {"constant-outputs", "an export without these outputs"},
    {"cast-chain", "another export: the engine's optimisation is on and leaves them"},
    {"view-chain", "another export: the engine's optimisation is on and leaves them"},
    {"transpose-pair", "another export: the engine's optimisation is on and leaves them"},
    {"identities", "another export: the engine's optimisation is on and leaves them"},
    {"dispatch-bound", "a batch axis that is known, or a graph of fewer operators"},
    {"batch-small", "a batch axis that can grow"},
    {"rate-required", "a batch axis that is known, or another model or device"},
    {"size-steps", "a trial whose own batch is no power of two"},
    {"dynamic-shapes", "symbolic dimensions that have names"},
    {"cell-unrolled", "the exporter of the model: only the zoo's own cells have another form"},
    {"cell-scan", "the exporter of the model: only the zoo's own cells have another form"},
    {"sparse-as-dense", "another graph, or a kernel for sparse products"},
    {"cache-growth", "another graph: a cache that is not copied"},
    {"compile-time", "a start of the program that uses the model, not an inference"},
    {"cold-start", "a start of the program that uses the model, not an inference"},
    {"first-inference", "a start of the program that uses the model, not an inference"},
    {"few-samples", "a longer measurement, not another configuration"},
    {"unstable", "a quieter machine"},
    {"latency-tail", "a quieter machine or reserved cores"},
    {"neighbours", "a quieter machine or reserved cores"},
    {"steal", "another machine or instance"},
    {"major-faults", "more memory, or a model that was read before"},
};

static const struct word by_family[] = {
    {"target", "the number of cores, which is unknown here"},
    {"graph", "a change of the model by its author"},
    {"fusion", "a change of the model by its author, or the engine's offline optimizer"},
    {"bound", "a change of the model by its author"},
    {"device", "a change of the program that feeds the device"},
    {"machine", "a setting of the machine"},
    {"memory", "a change of the program around the model, or an option that assay does not set"},
    {"requirement", "a choice between what is required and what can be had"},
};

const char *assay__gain_words(const char *of)
{
    if (!of || !*of || strcmp(of, "latency") == 0) return "as fast";
    if (strcmp(of, "samples per second") == 0) return "the samples per second";
    return strcmp(of, "time per token") == 0 ? "as fast per token" : of;
}

const char *assay__verify_needs(const struct assay__rule *rule)
{
    for (size_t i = 0; i < sizeof by_rule / sizeof by_rule[0]; i++)
        if (strcmp(by_rule[i].id, rule->id) == 0) return by_rule[i].needs;
    for (size_t i = 0; i < sizeof by_family / sizeof by_family[0]; i++)
        if (strcmp(by_family[i].id, rule->family) == 0) return by_family[i].needs;
    return "a change that a program cannot make by itself";
}
