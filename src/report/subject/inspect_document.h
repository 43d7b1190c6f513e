/* inspect_document.h - between the files that build the document of a model: inspect_document.c,
 * inspect_layers.c (layers, memory over them) and inspect_wiring.c (Neural Circuit Policies). */
#ifndef ASSAY_REPORT_SUBJECT_INSPECT_DOCUMENT_H
#define ASSAY_REPORT_SUBJECT_INSPECT_DOCUMENT_H

#include "inspect/inspect.h"
#include "report/doc/doc.h"

/** "com.microsoft.Gelu", in the document's arena. */
const char *assay__doc_op(struct assay__doc *doc, const char *domain, const char *op);

/** Live activations in order of execution, and what is alive at the peak. */
void assay__inspect_add_memory(struct assay__doc *doc, const struct assay__inspect *inspect);
void assay__inspect_add_layers(struct assay__doc *doc, const struct assay__inspect *inspect,
                               enum assay__inspect_sort sort);
/** Adds nothing if the model is not a Neural Circuit Policy. */
void assay__inspect_add_wiring(struct assay__doc *doc, const struct assay__inspect *inspect);

#endif
