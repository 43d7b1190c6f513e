/* fuzz_rewrite.c - what `make --from` does to a model that anyone may have written. The input is an
 * ONNX file, then two bytes: which rewrites (the first in the low four bits, a second one in the
 * high ones) and the number they take. Beyond "no crash": a rewrite that fails says so in one line;
 * one that succeeds leaves a sound model sound and its outputs what they were; what is written and
 * read again is the same model. Numbers are small, so that no input multiplies into gigabytes: at
 * most 8 copies of a node, dimensions of at most 16; inputs beyond 64 KiB are not looked at. */
#include "fuzz_model.h"

#include "model/rewrite/rewrites.h"
#include "model/shapes/shapes.h"

#define MOST_BYTES 65536u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct job {
    struct assay__model *model;
    struct assay__rewrite_notes notes;
    unsigned number;
    struct assay_error error;
};

static int none(struct job *job)
{
    (void)job;
    return 0;
}

static int inlined(struct job *job)
{
    return assay__model_inline(job->model, &job->error);
}

static int float16(struct job *job)
{
    return assay__rewrite_float16(job->model, &job->notes, &job->error);
}

static int weights_int8(struct job *job)
{
    return assay__rewrite_weights_int8(job->model, &job->notes, &job->error);
}

static int dynamic_int8(struct job *job)
{
    return assay__rewrite_dynamic_int8(job->model, &job->notes, &job->error);
}

static int strip(struct job *job)
{
    return assay__rewrite_strip(job->model, job->number, &job->notes, &job->error);
}

/* A dimension with a name, or one that no model has. */
static int fix_dims(struct job *job)
{
    const struct assay__graph *graph = &job->model->graph;
    const char *name = "nobody";
    for (size_t i = 0; i < graph->input_count; i++)
        for (int k = 0; k < graph->inputs[i].rank; k++)
            if (*graph->inputs[i].dims[k].symbol) name = graph->inputs[i].dims[k].symbol;
    const char *dim = assay__arena_printf(job->notes.arena, "%.64s=%u", name, 1 + job->number % 16);
    if (!dim) abort();
    return assay__rewrite_fix_dims(job->model, &dim, 1, 0, &job->notes, &job->error);
}

static int batch(struct job *job)
{
    return assay__rewrite_fix_dims(job->model, NULL, 0, 1 + job->number % 16, &job->notes,
                                   &job->error);
}

/* From a node's first output to another's; sometimes from the graph's inputs. */
static int extract(struct job *job)
{
    const struct assay__graph *graph = &job->model->graph;
    if (!graph->node_count) return 0;
    const struct assay__node *first = &graph->nodes[job->number % 16 % graph->node_count];
    const struct assay__node *last = &graph->nodes[job->number / 16 % graph->node_count];
    if (!first->output_count || !last->output_count) return 0;
    return assay__rewrite_extract(job->model, first->outputs, job->number % 2, last->outputs, 1,
                                  &job->notes, &job->error);
}

static int repeat(struct job *job)
{
    const struct assay__graph *graph = &job->model->graph;
    if (!graph->node_count) return 0;
    const struct assay__node *node = &graph->nodes[job->number / 8 % graph->node_count];
    const char *name = *node->name || !node->output_count ? node->name : node->outputs[0];
    return assay__rewrite_repeat(job->model, name, 1 + job->number % 8, &job->notes, &job->error);
}

static int fuse(struct job *job)
{
    return assay__rewriter_hardswish.apply(job->model, &(struct assay__rewrite_request){0},
                                           &job->notes, &job->error);
}

static int fold(struct job *job)
{
    return assay__rewriter_affine.apply(job->model, &(struct assay__rewrite_request){0},
                                        &job->notes, &job->error);
}

static int (*const rewrites[16])(struct job *job) = {
    none,    inlined, float16, weights_int8, dynamic_int8, strip, fix_dims, batch,
    extract, repeat,  fuse,    fold,         none,         none,  none,     none,
};

/* Only extract gives a model other outputs: a copy of the list, to be compared with. */
static struct assay__value *outputs_of(const struct job *job)
{
    const struct assay__graph *graph = &job->model->graph;
    struct assay__value *copy = assay__arena_array(job->notes.arena, graph->output_count,
                                                   sizeof *copy);
    if (!copy) abort();
    if (graph->output_count) memcpy(copy, graph->outputs, graph->output_count * sizeof *copy);
    return copy;
}

static void same_outputs(const struct job *job, const struct assay__value *before, size_t count)
{
    const struct assay__value *after = job->model->graph.outputs;
    if (job->model->graph.output_count != count) abort();
    for (size_t i = 0; i < count; i++)
        if (strcmp(before[i].name, after[i].name) != 0 || before[i].dtype != after[i].dtype ||
            before[i].rank != after[i].rank)
            abort();
}

static void rewrite(struct job *job, unsigned which)
{
    struct assay_error error = {.code = 0};
    const struct assay__value *before = outputs_of(job);
    size_t count = job->model->graph.output_count;
    bool extracts = rewrites[which & 15] == extract || rewrites[which >> 4] == extract;
    /* The check does not enter functions: what comes out of them may be unsound. */
    bool sound = !expect_line(assay__model_check(job->model, &error), &error) &&
                 !job->model->function_count;
    for (int i = 0; i < 2; i++, which >>= 4)
        if (expect_line(rewrites[which & 15](job), &job->error)) return;
    if (expect_line(assay__model_check(job->model, &error), &error) && sound) {
        fprintf(stderr, "%s\n", error.message);
        abort();
    }
    if (sound && !extracts) same_outputs(job, before, count);
    struct assay__shapes *shapes = NULL;
    expect_line(assay__shapes_infer(job->model, NULL, 0, &shapes, &error), &error);
    assay__shapes_free(shapes);
    round_trip(job->model, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct assay_error error = {.code = 0};
    struct job job = {.model = NULL};
    if (size < 2 || size > MOST_BYTES) return 0;
    if (expect_line(assay__model_parse(data, size - 2, &job.model, &error), &error)) return 0;
    job.notes.arena = assay__arena_new();
    if (!job.notes.arena) abort();
    job.number = data[size - 1];
    rewrite(&job, data[size - 2]);
    assay__arena_free(job.notes.arena);
    assay__model_free(job.model);
    return 0;
}
