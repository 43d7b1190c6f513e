/* model_open.c - see open.h. What exists as a file is a file, also when the zoo has a model of that
 * name: the user can always write ./name, and a name that is no file cannot be meant as one. */
#include "zoo/model_open.h"

#include "base/file.h"
#include "model/model_format.h"
#include "zoo/zoo.h"

#include <string.h>

/* A name with a slash or a known ending is a path: the zoo has nothing to say of it. */
static bool looks_like_path(const char *name)
{
    static const char *const endings[] = {".onnx", ".mlmodel", ".mlpackage", ".pb"};
    if (strchr(name, '/')) return true;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (strstr(name, endings[i])) return true;
    return false;
}

int assay__model_open(const char *name, struct assay__model **model, bool *zoo,
                      struct assay_error *error)
{
    *model = NULL;
    if (zoo) *zoo = false;
    if (!assay__file_exists(name) && assay__zoo_knows(name)) {
        if (zoo) *zoo = true;
        return assay__zoo_build(name, model, error);
    }
    struct assay_error detail = {0};
    int code = assay__model_load(name, model, &detail);
    if (code == ASSAY_ENOTFOUND && !looks_like_path(name)) {
        struct assay_error zoo_says = {0}; /* that there is none of that name, and the nearest */
        assay__zoo_build(name, model, &zoo_says);
        return assay_error_set(error, code, "%s; %s", detail.message, zoo_says.message);
    }
    return code ? assay_error_set(error, code, "%s", detail.message) : 0;
}
