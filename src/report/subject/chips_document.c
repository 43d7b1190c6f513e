/* chips_document.c - the chips that predict knows, each number with its source, or the reason why
 * there is none. */
#include "report/report_model.h"

#include <math.h>

static const struct assay__column columns[] = {
    {"chip", "chip", .flags = ASSAY__COLUMN_NAME},
    {"memory_bandwidth", "memory GB/s", .unit = "B/s"},
    {"memory", "memory GB", .unit = "B"},
    {"gpu_flops", "GPU TFLOP/s", .unit = "FLOP/s"},
    {"ane_flops", "ANE TFLOP/s", .unit = "FLOP/s"},
    {"ane_bandwidth", "ANE GB/s", .unit = "B/s"},
    {"ane_conv_watts", "conv W", .unit = "W"},
    {"ane_gemm_watts", "gemm W", .unit = "W"},
    {"ane_floor_watts", "floor W", .unit = "W"},
};

/* Shown with four digits, as in the sources; the unit is in the title. */
static void put_cell(struct assay__table *t, const struct assay__cell *cell, double scale)
{
    if (!isfinite(cell->value)) {
        assay__table_cell(t,
                          assay__datum_unknown(cell->source ? cell->source : "no published value"));
        return;
    }
    struct assay__datum value = assay__datum_number(
        cell->value, NULL, assay__cell_is_rough(cell) ? ASSAY_ESTIMATED : ASSAY_PUBLISHED);
    value.text = assay__doc_printf(t->doc, "%s%.4g", assay__state_mark(value.state),
                                   cell->value / scale);
    value.note = cell->source;
    assay__table_cell(t, value);
}

int assay__chips_document(struct assay__doc **made)
{
    const struct assay__chip *chip;
    struct assay__doc *doc = assay__doc_open(made, "predict", "Known chips");
    if (!doc) return ASSAY_ENOMEM;
    assay__doc_section(doc, "chips", "Chips", NULL, ASSAY__SECTION_QUIET);
    struct assay__table *t = assay__doc_table(doc, "chips", "Chips", columns);
    for (size_t i = 0; (chip = assay__chip_at(i)); i++) {
        const double giga = 1e9, tera = 1e12;
        assay__table_row_of(t, 0, chip->name);
        put_cell(t, &chip->bandwidth, giga);
        put_cell(t, &chip->memory, giga);
        put_cell(t, &chip->gpu_flops, tera);
        put_cell(t, &chip->ane_flops, tera);
        put_cell(t, &chip->ane_bandwidth, giga);
        put_cell(t, &chip->ane_conv_watts, 1);
        put_cell(t, &chip->ane_gemm_watts, 1);
        put_cell(t, &chip->ane_floor_watts, 1);
    }
    assay__doc_note(
        doc, "ANE: Neural Engine, float16. W: power for convolutions, for matrix products, and "
             "while it starts and copies. Units without published numbers are not predicted, nor "
             "are CPUs, except 'this': this machine's CPU by its measured ceilings.");
    assay__doc_end(doc);
    return 0;
}
