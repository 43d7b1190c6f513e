/* peak_data.c - the activations that are alive when most are, in words, as JSON and as CSV; and the
 * times of layers by launch as CSV. */
#include "base/json.h"
#include "base/text.h"
#include "profile/tables.h"
#include "report/parts.h"
#include "report/render.h"

#include <math.h>

void assay__json_peak(struct assay__json_writer *w, const struct assay__trial *trial)
{
    const struct assay__peak *p = &trial->peak;
    if (!p->reason) {
        assay__json_put_null(w, "peak");
        return;
    }
    assay__json_key(w, "peak");
    assay__json_object(w);
    assay__fields_json(w, &assay__stored_peak, p, NULL, NULL);
    assay__fields_json_list(w, "tensors", &assay__stored_peak_tensor, p->tensors, p->count);
    assay__json_object_end(w);
}

void assay__render_peak(struct assay__buf *out, const struct assay__peak *peak)
{
    char scaled[64];
    size_t unknown = 0;
    for (size_t i = 0; i < peak->count; i++)
        unknown += !isfinite(peak->tensors[i].bytes);
    assay__text_scaled(scaled, sizeof scaled, peak->bytes, "B");
    if (isfinite(peak->bytes))
        assay__buf_printf(out, "%s of activations are alive", scaled);
    else
        assay__buf_puts(out, "Most activations that are known of are alive");
    assay__buf_printf(out, " while '%.100s' (%s) runs, in %lld tensor%s", peak->node, peak->op,
                      (long long)peak->alive, peak->alive == 1 ? "" : "s");
    if (unknown) assay__buf_printf(out, ", %zu of them of unknown size", unknown);
    if (peak->body_bytes > 0) {
        assay__text_scaled(scaled, sizeof scaled, peak->body_bytes, "B");
        assay__buf_printf(out, "; %s of it inside its subgraphs", scaled);
    }
    assay__buf_puts(out, ", by liveness of the graph.");
}

void assay__csv_peak(const struct assay_profile *profile, const struct assay__trial *trial,
                     struct assay__buf *out)
{
    const struct assay__peak *p = &trial->peak;
    (void)profile;
    for (size_t i = 0; i < p->count; i++) {
        const struct assay__peak_tensor *t = &p->tensors[i];
        assay__buf_printf(out, "%d,%zu", trial->id, i);
        assay__csv_next_text(out, t->name);
        assay__csv_next_text(out, t->type);
        assay__csv_next_number(out, t->bytes);
        assay__csv_next_text(out, t->producer);
        assay__csv_next_text(out, t->op);
        assay__csv_next_text(out, t->first);
        assay__csv_next_text(out, t->last);
        assay__buf_putc(out, '\n');
    }
}

void assay__csv_layer_times(const struct assay_profile *profile, const struct assay__trial *trial,
                            struct assay__buf *out)
{
    const struct assay__layers *layers = &trial->layers;
    (void)profile;
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *l = &layers->items[i];
        for (size_t k = 0; l->launch_times_ns && k < layers->launch_count; k++) {
            assay__buf_printf(out, "%d,%d,%d", trial->id, l->index, layers->launch_ids[k]);
            assay__csv_next_text(out, l->name);
            assay__csv_next_number(out, l->launch_times_ns[k] / 1e3);
            assay__buf_putc(out, '\n');
        }
    }
}
