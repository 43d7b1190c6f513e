/* inspect_stored.c - weights that the file holds compressed (Core ML: palettised, quantised,
 * sparse): by scheme, how many weights they stand for and what is stored of them. */
#include "base/json.h"
#include "base/text.h"
#include "report/inspect.h"
#include "report/render.h"

#include <stdio.h>
#include <string.h>

static bool alike(const struct assay__stored_weight *a, const struct assay__stored_weight *b)
{
    return strcmp(a->scheme, b->scheme) == 0 && a->bits == b->bits && a->dtype == b->dtype;
}

static bool seen_before(const struct assay__model *model, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (alike(&model->stored[k], &model->stored[i])) return true;
    return false;
}

/* "palettised, 4 bits: 3 tensors, 1.2 M weights in 0.6 MB (2.4 MB as float16)" */
static void put_scheme(struct assay__page *page, const struct assay__model *model, size_t first)
{
    const struct assay__stored_weight *weight = &model->stored[first];
    struct assay__buf line = {0};
    char bytes[64], dense[64];
    size_t tensors = 0;
    double stored = 0, whole = 0;
    int64_t elements = 0;
    for (size_t i = first; i < model->stored_count; i++) {
        if (!alike(&model->stored[i], weight)) continue;
        tensors++;
        elements += model->stored[i].logical_elements;
        stored += (double)model->stored[i].stored_bytes;
        whole += (double)assay__dtype_bytes(weight->dtype, model->stored[i].logical_elements);
    }
    assay__text_scaled(bytes, sizeof bytes, stored, "B");
    assay__text_scaled(dense, sizeof dense, whole, "B");
    assay__text_safe(&line, weight->scheme);
    if (weight->bits > 0) assay__buf_printf(&line, ", %g bits", weight->bits);
    assay__buf_printf(&line, ": %zu tensor%s, ", tensors, tensors == 1 ? "" : "s");
    assay__render_short_count(&line, elements);
    assay__buf_printf(&line, " weights in %s (%s as dense %s)", bytes, dense,
                      assay__dtype_name(weight->dtype));
    if (tensors == 1 && weight->detail && *weight->detail) {
        assay__buf_puts(&line, "; ");
        assay__text_safe(&line, weight->detail);
    }
    assay__page_wrap(page, ASSAY__STYLE_PLAIN, "  ", line.data ? line.data : "");
    assay__buf_free(&line);
}

void assay__inspect_page_stored(struct assay__page *page, const struct assay__inspect *doc)
{
    for (size_t i = 0; i < doc->model->stored_count; i++)
        if (!seen_before(doc->model, i)) put_scheme(page, doc->model, i);
}

void assay__inspect_json_stored(struct assay__json_writer *w, const struct assay__model *model)
{
    if (!model->stored_count) return;
    assay__json_key(w, "compressed_weights");
    assay__json_array(w);
    for (size_t i = 0; i < model->stored_count; i++) {
        const struct assay__stored_weight *weight = &model->stored[i];
        assay__json_object(w);
        assay__json_put_string(w, "name", weight->name);
        assay__json_put_string(w, "scheme", weight->scheme);
        assay__json_put_string(w, "detail", weight->detail);
        assay__json_put_number(w, "bits", weight->bits);
        assay__json_put_string(w, "dtype", assay__dtype_name(weight->dtype));
        assay__json_put_integer(w, "elements", weight->logical_elements);
        assay__json_put_integer(w, "stored_bytes", weight->stored_bytes);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
}
