/* big_model.c - writes a model with 2 GB of external data: a chain of MatMuls on 1 x 8192, each
 * with a 268 MB weight.
 *
 *   big_model PATH.onnx
 *
 * The weights are small normal floats (not zeros: sparse files and denormals would flatter). */
#include "base/file.h"
#include "model/graph.h"

#include <stdio.h>
#include <stdlib.h>

#define WIDTH 8192
#define LAYERS 8

static int write_weights(const char *path)
{
    FILE *file = fopen(path, "wb");
    float *row = malloc(WIDTH * sizeof *row);
    int failed = !file || !row;
    for (int r = 0; !failed && r < WIDTH * LAYERS; r++) {
        for (int c = 0; c < WIDTH; c++)
            row[c] = (float)(((unsigned)r * 2654435761u + (unsigned)c * 40503u) % 2048u + 1u) *
                     1e-6f;
        failed = fwrite(row, sizeof *row, WIDTH, file) != WIDTH;
    }
    free(row);
    if (file && fclose(file)) failed = 1;
    return failed;
}

static int build(struct assay__model *model)
{
    struct assay__dim io[2] = {{1, ""}, {WIDTH, ""}};
    int64_t dims[2] = {WIDTH, WIDTH};
    static struct assay__opset opset = {"", 17};
    struct assay__graph *graph = &model->graph;
    model->ir_version = 8;
    model->opsets = &opset;
    model->opset_count = 1;
    graph->name = "big";
    char names[LAYERS + 1][16];
    snprintf(names[0], sizeof names[0], "x");
    for (int i = 0; i < LAYERS; i++) {
        char weight[16];
        snprintf(names[i + 1], sizeof names[i + 1], i + 1 == LAYERS ? "y" : "h%d", i);
        snprintf(weight, sizeof weight, "w%d", i);
        struct assay__tensor *tensor = assay__graph_add_initializer(
            model, graph, weight, ASSAY__FLOAT32, 2, dims, NULL, 0);
        if (!tensor) return 1;
        tensor->external = true;
        tensor->location = "big.bin";
        tensor->length = (uint64_t)WIDTH * WIDTH * sizeof(float);
        tensor->offset = (uint64_t)i * tensor->length;
        const char *inputs[2] = {names[i], weight}, *outputs[1] = {names[i + 1]};
        char node[16];
        snprintf(node, sizeof node, "matmul%d", i);
        if (!assay__graph_add_node(model, graph, "MatMul", node, inputs, 2, outputs, 1)) return 1;
    }
    return assay__graph_add_value(model, &graph->inputs, &graph->input_count, "x", ASSAY__FLOAT32,
                                  2, io) ||
           assay__graph_add_value(model, &graph->outputs, &graph->output_count, "y", ASSAY__FLOAT32,
                                  2, io);
}

int main(int argc, char **argv)
{
    struct assay_error error = {0};
    char folder[4096], weights[4096];
    if (argc != 2) return 2;
    if (assay__path_folder(argv[1], folder, sizeof folder) ||
        assay__path_join(folder, "big.bin", weights, sizeof weights))
        return 2;
    struct assay__model *model = assay__model_new();
    int code = model && !build(model) ? assay__model_write(model, argv[1], &error) : ASSAY_ENOMEM;
    if (code || write_weights(weights)) {
        fprintf(stderr, "big_model: could not write %s: %s\n", argv[1],
                code ? error.message : "its weights");
        return 1;
    }
    assay__model_free(model);
    return 0;
}
