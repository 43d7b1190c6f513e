/* model_format.c - finds the reader of a model file by trying the formats of model_format.h in
 * turn. */
#include "model/model_format.h"

#include <stdio.h>
#include <string.h>

#define ROW(NAME) &assay__model_format_##NAME,
static const struct assay__model_format *const formats[] = {ASSAY__MODEL_FORMATS(ROW)};

int assay__model_load(const char *path, struct assay__model **model, struct assay_error *error)
{
    size_t i = 0;
    while (formats[i]->is && !formats[i]->is(path))
        i++;
    return formats[i]->read(path, model, error);
}

bool assay__model_file_named(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        for (const char *at = formats[i]->endings; *at;) {
            char ending[16];
            size_t length = strcspn(at, " ");
            snprintf(ending, sizeof ending, "%.*s", (int)length, at);
            if (strstr(name, ending)) return true;
            at += length + strspn(at + length, " ");
        }
    return false;
}
