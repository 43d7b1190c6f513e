/* predict_chips.c - see predict.h: the chips that predict knows, as JSON. A number stands with its
 * source; one that no source gives is null, with the reason. */
#include "report/predict.h"

#include "base/json.h"
#include "report/render.h"

#include <assay/assay.h>
#include <math.h>

static void put_cell(struct assay__json_writer *w, const char *name, const struct assay__cell *cell,
                     const char *unit)
{
    bool known = isfinite(cell->value);
    assay__json_key(w, name);
    assay__json_object(w);
    assay__json_put_number(w, "value", known ? cell->value : (double)NAN);
    assay__json_put_string(w, "unit", unit);
    assay__json_put_string(w, "state",
                           !known                       ? "unavailable"
                           : assay__cell_is_rough(cell) ? "estimated"
                                                        : "published");
    assay__json_put_string(w, "source",
                           cell->source ? cell->source
                           : known      ? ""
                                        : "no source gives it");
    assay__json_object_end(w);
}

void assay__chips_json(struct assay__buf *out)
{
    struct assay__json_writer writer, *w = &writer;
    const struct assay__chip *chip;
    assay__json_start(w, out, true);
    assay__render_json_head(w, ASSAY_VERSION_STRING, 1);
    assay__json_put_string(w, "command", "predict");
    assay__json_key(w, "chips");
    assay__json_array(w);
    for (size_t i = 0; (chip = assay__chip_at(i)); i++) {
        assay__json_object(w);
        assay__json_put_string(w, "name", chip->name);
        put_cell(w, "memory_bandwidth", &chip->bandwidth, "B/s");
        put_cell(w, "memory", &chip->memory, "B");
        put_cell(w, "gpu_flops", &chip->gpu_flops, "FLOP/s");
        put_cell(w, "ane_flops", &chip->ane_flops, "FLOP/s");
        put_cell(w, "ane_bandwidth", &chip->ane_bandwidth, "B/s");
        put_cell(w, "ane_conv_watts", &chip->ane_conv_watts, "W");
        put_cell(w, "ane_gemm_watts", &chip->ane_gemm_watts, "W");
        put_cell(w, "ane_floor_watts", &chip->ane_floor_watts, "W");
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
    assay__json_object_end(w);
    assay__buf_putc(out, '\n');
}
