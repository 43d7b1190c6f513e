/* fuzz_ncp.c - what the zoo and inspect read of a Neural Circuit Policy beside ONNX: weights
 * (.safetensors) and the metadata "assay.ncp", on arbitrary bytes. Beyond "no crash": what is
 * accepted lies inside the input and has the size of its shape; a wiring's counts agree with each
 * other; what is refused says so in one line. */
#include "cost/ncp_wiring.h"
#include "zoo/safetensors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void one_line(const struct assay_error *error)
{
    if (!*error->message || strchr(error->message, '\n')) abort();
}

static void weights(const uint8_t *data, size_t size, struct assay__arena *arena)
{
    struct assay__safetensors file = {.path = NULL};
    struct assay_error error = {.code = 0};
    if (assay__safetensors_parse(data, size, "input", arena, &file, &error)) {
        one_line(&error);
        return;
    }
    for (size_t i = 0; i < file.count; i++) {
        const struct assay__safetensor *tensor = &file.tensors[i];
        if (tensor->data < data || tensor->size > size - (size_t)(tensor->data - data)) abort();
        if (tensor->elements > 4096) continue;
        float *values = malloc(4096 * sizeof *values);
        if (!values) abort();
        if (assay__safetensor_floats(tensor, values, &error)) one_line(&error);
        free(values);
    }
}

static void metadata(const uint8_t *data, size_t size, struct assay__arena *arena)
{
    struct assay__ncp ncp = {.note = ""};
    struct assay__ncp_wiring wiring;
    struct assay_error error = {.code = 0};
    char *text = malloc(size + 1);
    if (!text) abort();
    memcpy(text, data, size);
    text[size] = '\0';
    if (assay__ncp_read(text, arena, &ncp, &wiring, &error)) {
        one_line(&error);
    } else if (ncp.wired) {
        if (assay__ncp_wiring_facts(&wiring, &ncp)) abort();
        size_t neurons = 0;
        for (size_t i = 0; i < wiring.group_count; i++) {
            struct assay__ncp_degree in, out;
            assay__ncp_degrees(&wiring, &wiring.groups[i], &in, &out);
            if (!(in.mean >= (double)in.min - 1e-6 && in.mean <= (double)in.max + 1e-6)) abort();
            neurons += wiring.groups[i].count;
        }
        if (neurons != wiring.units || ncp.components > neurons) abort();
        if (ncp.cyclic_components > ncp.components || ncp.longest_path > ncp.components) abort();
        if (ncp.largest_component + ncp.components > neurons + 1) abort();
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct assay__arena *arena = assay__arena_new();
    if (!arena) abort();
    weights(data, size, arena);
    metadata(data, size, arena);
    assay__arena_free(arena);
    return 0;
}
