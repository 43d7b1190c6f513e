/* inspect_layers.c - the layers of a model in the requested order, and the memory that their
 * activations take in order of execution: a picture, the layer that runs at the peak, and the
 * tensors that make it up. */
#include "report/subject/inspect_document.h"

#include "report/figure/figures.h"

#include <math.h>
#include <string.h>

static const struct assay__column tensor_columns[] = {
    {"name", "tensor", .flags = ASSAY__COLUMN_NAME},
    {"bytes", "size", "B", .flags = ASSAY__COLUMN_SUM},
    {"dtype", "type", .priority = 2},
    {"shape", "shape", .priority = 1},
    {"first", "from #", ASSAY__UNIT_COUNT, .priority = 5},
    {"last", "to #", ASSAY__UNIT_COUNT, .priority = 5},
};

/* The rows sum to the peak: what its bodies need is one of them. */
static void put_tensors(struct assay__doc *doc, const struct assay__inspect *inspect, bool known)
{
    const struct assay__liveness *live = &inspect->analysis->live;
    struct assay__table *t = assay__doc_table(doc, "tensors", "Tensors alive at the peak",
                                              tensor_columns);
    t->more = "tensors";
    t->limit = 6;
    if (known && live->peak_body_bytes > 0) {
        assay__table_row_of(t, 0,
                            assay__doc_printf(doc, "inside the body of '%s'",
                                              inspect->layers[live->peak_position].name));
        assay__table_number(t, live->peak_body_bytes, ASSAY_DERIVED);
    }
    for (size_t i = 0; known && i < live->peak_tensor_count; i++) {
        const struct assay__live_tensor *tensor = &live->tensors[live->peak_tensors[i]];
        const struct assay__shapes *shapes = inspect->analysis->shapes;
        const struct assay__shape_entry *entry = assay__shapes_get(shapes, tensor->name);
        struct assay__buf shape = {0};
        assay__inspect_shape(&shape, shapes, entry);
        assay__table_row_of(t, 0, tensor->name);
        assay__table_number(t, tensor->bytes, ASSAY_DERIVED);
        assay__table_texts(t, entry ? assay__dtype_name(entry->dtype) : NULL,
                           assay__doc_take(t->doc, &shape));
        assay__table_numbers(t, ASSAY_MEASURED, tensor->first, tensor->last);
    }
}

static void add_picture(struct assay__doc *doc, const struct assay__inspect *inspect)
{
    struct assay__figure *figure = assay__arena_alloc(doc->arena, sizeof *figure);
    double *live_bytes = assay__figure_values(doc->arena, inspect->layer_count);
    struct assay__sketch sketch = {.arena = doc->arena, .figure = figure};
    size_t peak = 0;
    if (!figure || !live_bytes) {
        doc->failed = true;
        return;
    }
    for (size_t i = 0; i < inspect->layer_count; i++)
        live_bytes[i] = inspect->layers[i].live_bytes;
    if (assay__figure_live(&sketch, live_bytes, inspect->layer_count, &peak) == 0) {
        figure->title = "Live activations by layer";
        figure->description = assay__sketch_printf(
            &sketch, "Peak %s, at layer %zu, %s.", assay__scaled(live_bytes[peak], "B").text, peak,
            assay__sketch_short(&sketch, inspect->layers[peak].name));
        assay__doc_figure(doc, figure, 0);
    }
    if (sketch.failed) doc->failed = true;
}

void assay__inspect_add_memory(struct assay__doc *doc, const struct assay__inspect *inspect)
{
    const struct assay__liveness *live = &inspect->analysis->live;
    const struct assay_metric *peak = assay_metrics_get(inspect->metrics,
                                                        "memory.activation.predicted");
    bool known = isfinite(live->peak_bytes) && live->peak_position < inspect->layer_count;
    assay__doc_section(doc, "memory", "Memory",
                       "live activations in order of execution, without weights",
                       ASSAY__TAB_MEMORY | ASSAY__SECTION_DETAIL);
    if (inspect->layer_count) add_picture(doc, inspect);
    assay__doc_fact(doc, "peak");
    if (known) {
        const struct assay__inspect_layer *layer = &inspect->layers[live->peak_position];
        assay__doc_item_after(
            doc, NULL, assay__datum_metric(peak),
            assay__doc_printf(
                doc, "while layer %zu, %s (%s), runs; alive at that time:", live->peak_position,
                layer->name, assay__doc_op(doc, layer->node->domain, layer->node->op)));
    } else if (inspect->layer_count) {
        assay__doc_item(doc, NULL, assay__datum_unknown(peak ? peak->note : NULL));
    }
    put_tensors(doc, inspect, known);
    assay__doc_end(doc);
}

static const struct assay__column layer_columns[] = {
    {"index", "#", ASSAY__UNIT_COUNT, .priority = 3},
    {.title = "operator", .priority = 4},
    {"name", "layer", .flags = ASSAY__COLUMN_NAME},
    {.key = "op"},
    {.key = "domain"},
    {"output_shape", "output", .priority = 7},
    {"flops", "FLOPs", .unit = "FLOP"},
    {.title = "share", .unit = "ratio"},
    {"macs", "MACs", "MAC", .priority = 9},
    {"bytes_read", "read", "B", .priority = 8},
    {"bytes_written", "written", "B", .priority = 8},
    {"bytes_weights", "weights", "B", .priority = 8},
    {.title = "bytes", .unit = "B", .priority = 1},
    {"memory_bytes", "memory", "B", .priority = 6},
    {"live_bytes", "live", "B", .priority = 8},
    {"intensity", "FLOP/B", ASSAY__UNIT_PLAIN, .priority = 2},
    {.title = "bar", .unit = "ratio", .priority = 5, .flags = ASSAY__COLUMN_BAR},
};

#define LAYER_COLUMNS (sizeof layer_columns / sizeof layer_columns[0])

struct layer_view {
    const struct assay__inspect *inspect;
    enum assay__inspect_sort sort;
    double total, most; /* total of what it is sorted by; NaN: no shares */
};

static struct assay__datum derived(double number)
{
    return assay__derived(number, NULL);
}

static void fill_layer(const struct assay__table *table, size_t row, struct assay__datum *cells)
{
    const struct layer_view *view = table->context;
    const struct assay__inspect_layer *layer = &view->inspect->layers[row];
    double weight = assay__inspect_weight(layer, view->sort);
    struct assay__buf shape = {0};
    assay__inspect_output_shape(&shape, view->inspect, layer);
    const struct assay__datum made[LAYER_COLUMNS] = {
        assay__datum_count((double)row),
        assay__datum_text(assay__doc_op(table->doc, layer->node->domain, layer->node->op)),
        assay__datum_text(layer->name),
        assay__datum_text(layer->node->op),
        assay__datum_text(layer->node->domain),
        assay__datum_text(assay__doc_take(table->doc, &shape)),
        derived(layer->cost->flops),
        assay__measured(weight / view->total, NULL),
        derived(layer->cost->macs),
        derived(layer->cost->bytes_read),
        derived(layer->cost->bytes_written),
        derived(layer->cost->bytes_weights),
        derived(layer->bytes),
        derived(layer->memory_bytes),
        derived(layer->live_bytes),
        derived(layer->intensity),
        derived(weight / view->most),
    };
    memcpy(cells, made, sizeof made);
}

/* The column it is sorted by stays on a narrow page. Memory cannot be summed: it has no share. */
static const struct assay__column *columns_of(struct assay__doc *doc, enum assay__inspect_sort sort)
{
    struct assay__column *columns = assay__doc_columns(doc, layer_columns, LAYER_COLUMNS, 0);
    const char *by = sort == ASSAY__SORT_BYTES ? "bytes" : "memory";
    for (size_t c = 0; columns && sort != ASSAY__SORT_FLOPS && c < LAYER_COLUMNS; c++) {
        const char *title = columns[c].title ? columns[c].title : "";
        if (strcmp(title, by) == 0) columns[c].priority = 0;
        if (sort == ASSAY__SORT_MEMORY && strcmp(title, "share") == 0) columns[c].title = NULL;
    }
    return columns ? columns : layer_columns;
}

void assay__inspect_add_layers(struct assay__doc *doc, const struct assay__inspect *inspect,
                               enum assay__inspect_sort sort)
{
    static const char *const by[] = {"FLOPs", "bytes", "memory"};
    const struct assay__analysis *a = inspect->analysis;
    struct layer_view *view = assay__arena_alloc(doc->arena, sizeof *view);
    size_t *order = assay__inspect_order(inspect, sort, doc->arena), count = inspect->layer_count;
    if (!view || !order) {
        doc->failed = true;
        return;
    }
    double total = sort == ASSAY__SORT_FLOPS ? a->flops : a->bytes_read + a->bytes_written;
    *view = (struct layer_view){inspect, sort, total > 0 ? total : (double)NAN, NAN};
    if (count) view->most = assay__inspect_weight(&inspect->layers[order[0]], sort);
    const char *remark = assay__doc_printf(
        doc, "%zu, largest first by %s; # is the order of execution", count, by[sort]);
    assay__doc_section(doc, "layers", "Layers", remark, 0);
    struct assay__table *t = assay__doc_add_table(doc, "layers", "Layers, largest first",
                                                  columns_of(doc, sort), LAYER_COLUMNS);
    t->more = "layers";
    t->order = order;
    t->fill = fill_layer;
    t->context = view;
    t->row_count = count;
    assay__doc_end(doc);
}
