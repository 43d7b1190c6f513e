/* model_owns.c - checks whether a path is one of a model's files. A mistyped -o must not destroy
 * the weights of a model, so files are compared by identity (device and inode), not by how their
 * paths are written. In a package everything counts, even a file that does not exist yet: whatever
 * is in it is part of it. */
#include "zoo/model_open.h"

#include "base/file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

static bool same_file(const char *path, const struct stat *file)
{
    struct stat other;
    return stat(path, &other) == 0 && other.st_dev == file->st_dev && other.st_ino == file->st_ino;
}

/* Tensors name few files many times: the last one that did not match is not checked again. */
struct looking {
    const struct assay__model *model;
    const struct stat *file;
    const char *last;
};

static bool is_external(struct looking *look, const struct assay__tensor *tensor)
{
    char path[PATH_MAX];
    if (!tensor || !tensor->external || !tensor->location) return false;
    if (look->last && strcmp(look->last, tensor->location) == 0) return false;
    look->last = tensor->location;
    return !assay__path_join(look->model->folder, tensor->location, path, sizeof path) &&
           same_file(path, look->file);
}

static bool graph_refers(struct looking *look, const struct assay__graph *graph, int depth)
{
    if (depth > 100) return false; /* the reader's limit is lower */
    for (size_t i = 0; i < graph->initializer_count; i++)
        if (is_external(look, &graph->initializers[i])) return true;
    for (size_t n = 0; n < graph->node_count; n++) {
        const struct assay__graph *body;
        for (size_t a = 0; a < graph->nodes[n].attr_count; a++)
            if (is_external(look, graph->nodes[n].attrs[a].t)) return true;
        for (size_t k = 0; (body = assay__node_body(&graph->nodes[n], k)); k++)
            if (graph_refers(look, body, depth + 1)) return true;
    }
    return false;
}

/* Whether `path` is or would be in the package, following links. It need not exist yet. */
static bool inside(const char *package, const char *path)
{
    char outer[PATH_MAX], inner[PATH_MAX], folder[PATH_MAX], whole[PATH_MAX];
    const char *slash = strrchr(path, '/');
    struct stat status;
    if (stat(package, &status) || !S_ISDIR(status.st_mode) || !realpath(package, outer))
        return false;
    if (!realpath(path, inner) &&
        (assay__path_folder(path, folder, sizeof folder) || !realpath(folder, whole) ||
         assay__path_join(whole, slash ? slash + 1 : path, inner, PATH_MAX)))
        return false;
    size_t length = strlen(outer);
    return strncmp(inner, outer, length) == 0 && (inner[length] == '/' || !inner[length]);
}

/* "cfc:units=8,weights=policy.safetensors" */
static bool is_zoo_weights(const char *name, const struct stat *file)
{
    char path[PATH_MAX];
    const char *at = strstr(name, "weights=");
    if (!at) return false;
    at += strlen("weights=");
    int length = (int)strcspn(at, ",");
    return snprintf(path, sizeof path, "%.*s", length, at) < (int)sizeof path &&
           same_file(path, file);
}

const char *assay__model_owns(const struct assay__model *model, const char *name, bool zoo,
                              const char *path)
{
    struct stat file;
    if (!zoo && inside(name, path)) return "is inside the model's package";
    if (stat(path, &file)) return NULL;
    if (zoo) return is_zoo_weights(name, &file) ? "holds the model's weights" : NULL;
    if (same_file(name, &file)) return "is the model itself";
    struct looking look = {.model = model, .file = &file};
    if (model && graph_refers(&look, &model->graph, 0)) return "holds the model's weights";
    for (size_t i = 0; model && model->functions && i < model->function_count; i++)
        if (model->functions[i].body && graph_refers(&look, model->functions[i].body, 0))
            return "holds the model's weights";
    return NULL;
}
