/* xla_details.c - what TensorFlow and JAX write about device work, which has no category there:
 *   memcpy_details  "kind_src:pinned kind_dst:device size:4096 dest:0 async:1", older "kind:…
 * size:…" kernel_details  "regs:32 static_shared:0 dynamic_shared:0 grid:8,1,1 block:128,1,1
 * occ_pct:50" and host events that only their names tell apart. */
#include "import/kineto_state.h"
#include "import/runtime_calls.h"

#include <ctype.h>
#include <stdlib.h>

/* The text after "key:" in a list of such words, or NULL. */
static const char *word_of(const char *details, const char *key)
{
    size_t length = strlen(key);
    for (const char *at = details; (at = strstr(at, key)); at += length)
        if ((at == details || isspace((unsigned char)at[-1])) && at[length] == ':')
            return at + length + 1;
    return NULL;
}

static void read_triple(const char *at, uint32_t out[3])
{
    for (int i = 0; at && i < 3; i++) {
        char *end;
        unsigned long number = strtoul(at, &end, 10);
        if (end == at) return;
        out[i] = number <= UINT32_MAX ? (uint32_t)number : 0;
        if (*end != ',') return;
        at = end + 1;
    }
}

static enum assay__memory_kind memory_of(const char *word)
{
    static const struct {
        const char *name;
        enum assay__memory_kind kind;
    } kinds[] = {{"pageable", ASSAY__MEMORY_PAGEABLE},
                 {"pinned", ASSAY__MEMORY_PINNED},
                 {"device", ASSAY__MEMORY_DEVICE},
                 {"array", ASSAY__MEMORY_DEVICE},
                 {"managed", ASSAY__MEMORY_MANAGED}};
    for (size_t i = 0; word && i < sizeof kinds / sizeof *kinds; i++)
        if (!strncmp(word, kinds[i].name, strlen(kinds[i].name))) return kinds[i].kind;
    return ASSAY__MEMORY_UNKNOWN;
}

static int64_t read_size(const char *word)
{
    long long size = word ? strtoll(word, NULL, 10) : 0;
    return size > 0 ? size : 0;
}

static void fill_device(struct assay__kineto *kineto, const struct assay__scan_value *copy,
                        const struct assay__scan_value *kernel, struct assay__event *row)
{
    struct assay__event_args args = {0};
    char text[256];
    assay__scan_text(copy ? copy : kernel, text, sizeof text);
    if (copy) {
        args.from = (uint8_t)memory_of(word_of(text, "kind_src"));
        args.to = (uint8_t)memory_of(word_of(text, "kind_dst"));
        row->bytes = read_size(word_of(text, "size"));
    } else {
        read_triple(word_of(text, "grid"), args.grid);
        read_triple(word_of(text, "block"), args.block);
    }
    row->args = assay__events_args(kineto->events, &args);
}

/* "cuLaunchKernel", "cudaMemcpyAsync", "hipLaunchKernel": a capital after the prefix. */
static bool is_runtime_call(const char *name)
{
    static const char *const prefixes[] = {"cuda", "cu", "hip"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i]);
        if (!strncmp(name, prefixes[i], length) && isupper((unsigned char)name[length]))
            return true;
    }
    return false;
}

void assay__kineto_describe_xla(struct assay__kineto *kineto,
                                const struct assay__chrome_event *event, uint32_t name,
                                struct assay__event *row)
{
    const struct assay__scan_value *copy = assay__chrome_get(event, ASSAY__CHROME_MEMCPY_DETAILS);
    const struct assay__scan_value *kernel = assay__chrome_get(event, ASSAY__CHROME_KERNEL_DETAILS);
    const char *text = assay__events_text(kineto->events, name);
    if (!row->correlation)
        row->correlation = (uint64_t)assay__scan_integer(
            assay__chrome_get(event, ASSAY__CHROME_CORRELATION_ID), 0);
    if (copy || kernel) fill_device(kineto, copy, kernel, row);
    if (text[0] == '$') row->kind = ASSAY__EVENT_PYTHON; /* "$file.py:12 function" */
    if (is_runtime_call(text)) row->kind = assay__runtime_call_kind(text);
}
