/* inspect_csv.c - one table of inspect as CSV (RFC 4180 with LF line ends): layers in execution
 * order, operators, parameters or metrics. Unknown numbers are empty cells. */
#include "report/inspect.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void layers_table(const struct assay__inspect *doc, struct assay__buf *out)
{
    assay__buf_puts(out, "index,name,op,domain,output_shape,flops,macs,bytes_read,bytes_written,"
                         "bytes_weights,memory_bytes,live_bytes,intensity\n");
    for (size_t i = 0; i < doc->layer_count; i++) {
        const struct assay__inspect_layer *l = &doc->layers[i];
        const char *first = l->node->output_count ? l->node->outputs[0] : "";
        struct assay__buf shape = {0};
        assay__inspect_shape(&shape, doc->analysis->shapes,
                             assay__shapes_get(doc->analysis->shapes, first));
        assay__buf_printf(out, "%zu", i);
        assay__csv_next_text(out, l->name);
        assay__csv_next_text(out, l->node->op);
        assay__csv_next_text(out, l->node->domain);
        assay__csv_next_text(out, shape.data);
        assay__csv_next_number(out, l->cost->flops);
        assay__csv_next_number(out, l->cost->macs);
        assay__csv_next_number(out, l->cost->bytes_read);
        assay__csv_next_number(out, l->cost->bytes_written);
        assay__csv_next_number(out, l->cost->bytes_weights);
        assay__csv_next_number(out, l->memory_bytes);
        assay__csv_next_number(out, l->live_bytes);
        assay__csv_next_number(out, l->intensity);
        assay__buf_putc(out, '\n');
        if (shape.failed) out->failed = true;
        assay__buf_free(&shape);
    }
}

static void operators_table(const struct assay__analysis *a, struct assay__buf *out)
{
    assay__buf_puts(out, "op,domain,count,unknown,flops,macs,bytes\n");
    for (size_t i = 0; i < a->op_count; i++) {
        const struct assay__op_total *op = &a->ops[i];
        assay__csv_text(out, op->op);
        assay__csv_next_text(out, op->domain);
        assay__buf_printf(out, ",%zu,%zu", op->count, op->unknown);
        assay__csv_next_number(out, op->flops);
        assay__csv_next_number(out, op->macs);
        assay__csv_next_number(out, op->bytes);
        assay__buf_putc(out, '\n');
    }
}

static void parameters_table(const struct assay__analysis *a, struct assay__buf *out)
{
    assay__buf_puts(out, "dtype,storage,tensors,elements,bytes\n");
    for (size_t i = 0; i < a->parameter_type_count; i++) {
        const struct assay__parameter_total *p = &a->parameters_by_type[i];
        assay__csv_text(out, assay__dtype_name(p->dtype));
        assay__csv_next_text(out, p->storage ? p->storage : "dense");
        assay__buf_printf(out, ",%" PRId64 ",%" PRId64 ",%" PRId64 "\n", p->tensors, p->elements,
                          p->bytes);
    }
}

static void metrics_table(const struct assay__inspect *doc, struct assay__buf *out)
{
    assay__buf_puts(out, "metric,value,unit,state,source,note\n");
    for (size_t i = 0; i < assay_metrics_count(doc->metrics); i++) {
        const struct assay_metric *m = assay_metrics_at(doc->metrics, i);
        assay__csv_text(out, m->name);
        assay__csv_next_number(out, m->value);
        assay__csv_next_text(out, m->unit);
        assay__csv_next_text(out, assay_state_name(m->state));
        assay__csv_next_text(out, m->source);
        assay__csv_next_text(out, m->note);
        assay__buf_putc(out, '\n');
    }
}

void assay__inspect_csv(const struct assay__inspect *doc, const struct assay__inspect_view *view,
                        struct assay__buf *out)
{
    const char *table = view->table ? view->table : "layers";
    if (strcmp(table, "operators") == 0)
        operators_table(doc->analysis, out);
    else if (strcmp(table, "parameters") == 0)
        parameters_table(doc->analysis, out);
    else if (strcmp(table, "metrics") == 0)
        metrics_table(doc, out);
    else
        layers_table(doc, out);
}
