/* benchmarks.h - the standard set of small models that `assay bench` measures. To add one, add a
 * row: a name that stays, the family it belongs to, the model of the zoo with every parameter that
 * sets its size, and what it is. The members of family "rank" differ in rank only, smallest first.
 * A row that is changed gets a new name, because profiles are compared by name. */
#ifndef ASSAY_ZOO_BENCHMARKS_H
#define ASSAY_ZOO_BENCHMARKS_H

#include <stddef.h>

/* X(NAME, FAMILY, MODEL, SUMMARY) */
/* clang-format off */
#define ASSAY__BENCHMARKS(X)                                                                       \
    X("lora-small", "lora", "lora:d=768,rank=8,batch=1,seq=128",                                   \
      "LoRA forward, width 768, rank 8")                                                           \
    X("lora-medium", "lora", "lora:d=2048,rank=16,batch=1,seq=128",                                \
      "LoRA forward, width 2048, rank 16")                                                         \
    X("lora-large", "lora", "lora:d=4096,rank=64,batch=1,seq=128",                                 \
      "LoRA forward, width 4096, rank 64")                                                         \
    X("softmax", "operator", "softmax:rows=1024,width=1024", "softmax, 1024 rows of 1024")         \
    X("layer-norm", "operator", "layernorm:rows=1024,width=768", "layer norm, 1024 rows of 768")   \
    X("rms-norm", "operator", "rmsnorm:rows=1024,width=768", "RMS norm, 1024 rows of 768")         \
    X("lora-rank-4", "rank", "lora:d=1024,rank=4,batch=1,seq=128", "LoRA, width 1024, rank 4")     \
    X("lora-rank-8", "rank", "lora:d=1024,rank=8,batch=1,seq=128", "LoRA, width 1024, rank 8")     \
    X("lora-rank-16", "rank", "lora:d=1024,rank=16,batch=1,seq=128", "LoRA, width 1024, rank 16")  \
    X("lora-rank-32", "rank", "lora:d=1024,rank=32,batch=1,seq=128", "LoRA, width 1024, rank 32")  \
    X("lora-rank-64", "rank", "lora:d=1024,rank=64,batch=1,seq=128", "LoRA, width 1024, rank 64")  \
    X("cfc", "recurrent", "cfc:units=64,outputs=16,inputs=32,batch=1", "one step of a CfC cell")   \
    X("ltc", "recurrent", "ltc:units=64,outputs=16,inputs=32,batch=1", "one step of an LTC cell")
/* clang-format on */

struct assay__benchmark {
    const char *name;
    const char *family; /* "lora", "operator", "rank", "recurrent" */
    const char *model;  /* "softmax:rows=1024,width=1024" */
    const char *summary;
};

/** NULL past the end. */
const struct assay__benchmark *assay__benchmark_at(size_t index);
/** NULL: there is none of that name. */
const struct assay__benchmark *assay__benchmark_find(const char *name);

#endif
