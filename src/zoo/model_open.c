/* model_open.c - opens a model by its path or its name in the zoo. A file that exists takes
 * precedence over a model of the zoo with the same name: the user can always write ./name, and a
 * name that is not a file cannot mean one. */
#include "zoo/model_open.h"

#include "base/options_read.h"

#include "base/file.h"
#include "model/model_format.h"
#include "zoo/zoo.h"

#include <string.h>

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
    /* with a slash or a known extension it is a path: the zoo is not searched */
    if (code == ASSAY_ENOTFOUND && !strchr(name, '/') && !assay__model_file_named(name)) {
        /* that there is none of that name, and the nearest one */
        struct assay_error zoo_says = {0};
        assay__zoo_build(name, model, &zoo_says);
        return assay_error_set(error, code, "%s; %s", detail.message, zoo_says.message);
    }
    return code ? assay_error_set(error, code, "%s", detail.message) : 0;
}

int assay__model_named(const char *name, struct assay__model **model, bool *zoo,
                       struct assay_error *error)
{
    if (!name) return assay__refuse_option(error, "model", "no model was given");
    return assay__model_open(name, model, zoo, error);
}
