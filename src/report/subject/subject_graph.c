/* subject_graph.c - the network as a graph, for the trial that the report is about. */
#include "report/subject/subject.h"

#include "report/figure/graph_tree.h"

static void build(struct assay__doc *doc, const struct assay__trial *trial)
{
    if (trial != assay__study_main_trial(doc->study) || assay__graph_missing(trial)) return;
    assay__doc_section(doc, "graph", "The network", NULL,
                       ASSAY__TAB_GRAPH | ASSAY__SECTION_DETAIL | ASSAY__SECTION_QUIET);
    assay__doc_picture(doc, "graph", trial, 0);
    assay__doc_end(doc);
}

const struct assay__subject assay__subject_graph = {"graph", ASSAY__OF_TRIAL, build, {{0}}};
