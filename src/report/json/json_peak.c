/* json_peak.c - member of a trial: "peak", the activations that are alive when most are. */
#include "report/json/json_parts.h"

static void put_tensor(struct assay__json_writer *w, const struct assay__peak_tensor *t)
{
    assay__json_object(w);
    assay__json_put_string(w, "name", t->name);
    assay__json_put_text(w, "type", t->type);
    assay__json_put_number(w, "bytes", t->bytes);
    assay__json_put_text(w, "producer", t->producer);
    assay__json_put_text(w, "op", t->op);
    assay__json_put_text(w, "first", t->first);
    assay__json_put_text(w, "last", t->last);
    assay__json_object_end(w);
}

void assay__json_peak(struct assay__json_writer *w, const struct assay__trial *trial)
{
    const struct assay__peak *p = &trial->peak;
    if (!p->reason) {
        assay__json_put_null(w, "peak");
        return;
    }
    assay__json_put_object(w, "peak");
    assay__json_put_text(w, "reason", p->reason);
    assay__json_put_text(w, "node", p->node);
    assay__json_put_text(w, "op", p->op);
    assay__json_put_number(w, "bytes", p->bytes);
    assay__json_put_number(w, "body_bytes", p->body_bytes);
    if (p->alive >= 0)
        assay__json_put_integer(w, "alive", p->alive);
    else
        assay__json_put_null(w, "alive");
    assay__json_put_number(w, "rest_bytes", p->rest_bytes);
    assay__json_put_array(w, "tensors");
    for (size_t i = 0; i < p->count; i++)
        put_tensor(w, &p->tensors[i]);
    assay__json_array_end(w);
    assay__json_object_end(w);
}
