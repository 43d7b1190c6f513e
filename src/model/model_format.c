/* model_format.c - the table of model formats. ONNX is last: it has no signature, so its reader
 * says what is wrong with a file that is nothing else. */
#include "model/model_format.h"

static const struct {
    bool (*is)(const char *path); /* NULL: everything else */
    int (*read)(const char *path, struct assay__model **model, struct assay_error *error);
} formats[] = {
    {assay__coreml_is, assay__coreml_read},
    {NULL, assay__model_read},
};

int assay__model_load(const char *path, struct assay__model **model, struct assay_error *error)
{
    size_t i = 0;
    while (formats[i].is && !formats[i].is(path))
        i++;
    return formats[i].read(path, model, error);
}
