/* subject_operators.c - where the time goes, operator by operator: the layers of one operator are
 * summed up, the longest first; then the engine's fixed cost and what could not be attributed, as
 * in the table of layers. */
#include "report/subject/subject.h"

#include "report/subject/layer_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct assay__column columns[] = {
    {.key = "trial"},
    {"operator", "operator", .flags = ASSAY__COLUMN_NAME},
    {"layers", "layers", ASSAY__UNIT_COUNT, .flags = ASSAY__COLUMN_SUM},
    {"time_us", "time", "s", .factor = 1e-6, .flags = ASSAY__COLUMN_SUM | ASSAY__COLUMN_KEEP},
    {.key = "share"},
    {.title = "share", .unit = "ratio", .flags = ASSAY__COLUMN_SUM},
    {.title = "bar", .unit = "ratio", .priority = 2, .flags = ASSAY__COLUMN_BAR},
    {"flops", "FLOP", "FLOP", .priority = 1, .flags = ASSAY__COLUMN_SUM},
    {.key = "state"},
};

/* --- sums ------------------------------------------------------------------------------------- */

/* Sorted, not searched: a profile may have very many layers. */
static int compare_ops(const void *left, const void *right)
{
    const struct assay__layer *const *a = left, *const *b = right;
    int order = strcmp((*a)->op, (*b)->op);
    return order ? order : (*a)->index < (*b)->index ? -1 : (*a)->index > (*b)->index;
}

static int compare_times(const void *left, const void *right)
{
    const struct assay__operator *a = left, *b = right;
    double x = a->timed ? a->time_ns : -1, y = b->timed ? b->time_ns : -1;
    return x != y ? (x > y ? -1 : 1) : strcmp(a->op, b->op);
}

static void add_layer(struct assay__operator *sum, const struct assay__layer *l)
{
    sum->layers++;
    sum->flops += l->flops;
    if (!assay__layer_is_timed(l)) return;
    sum->timed++;
    sum->time_ns += l->time_ns;
    sum->share += l->share;
    if (l->state == ASSAY_ESTIMATED) sum->state = ASSAY_ESTIMATED;
}

struct assay__operator *assay__operators(const struct assay__layers *layers, size_t *count)
{
    const struct assay__layer **sorted = calloc(layers->count + 1, sizeof *sorted);
    struct assay__operator *sums = calloc(layers->count + 1, sizeof *sums);
    size_t made = 0;
    *count = 0;
    if (!sorted || !sums) {
        free(sorted);
        free(sums);
        return NULL;
    }
    for (size_t i = 0; i < layers->count; i++)
        sorted[i] = &layers->items[i];
    qsort(sorted, layers->count, sizeof *sorted, compare_ops);
    for (size_t i = 0; i < layers->count; i++) {
        if (!made || strcmp(sums[made - 1].op, sorted[i]->op) != 0)
            sums[made++] = (struct assay__operator){.op = sorted[i]->op, .state = ASSAY_DERIVED};
        add_layer(&sums[made - 1], sorted[i]);
    }
    qsort(sums, made, sizeof *sums, compare_times);
    free(sorted);
    *count = made;
    return sums;
}

/* --- the table -------------------------------------------------------------------------------- */

static void put_operator(struct assay__doc *doc, struct assay__table *t, int trial,
                         const struct assay__operator *sum, double whole_ns, double longest_ns)
{
    bool known = sum->timed == sum->layers;
    size_t untimed = sum->layers - sum->timed;
    const char *why = sum->timed
                          ? assay__doc_printf(doc, "%zu of its %zu layers %s no time", untimed,
                                              sum->layers, untimed == 1 ? "has" : "have")
                      : sum->layers == 1 ? "its layer has no time"
                                         : "its layers have no times";
    assay__table_row(t, 0, NULL);
    assay__table_number(t, trial, ASSAY_MEASURED);
    assay__table_text(t, sum->op);
    assay__table_number(t, (double)sum->layers, ASSAY_MEASURED);
    assay__table_cell(t, known ? assay__datum_number(sum->time_ns / 1e3, NULL, sum->state)
                               : assay__datum_unknown(why));
    assay__table_numbers(t, sum->state, known ? sum->share : NAN,
                         known ? sum->time_ns / whole_ns : NAN);
    assay__table_numbers(t, ASSAY_MEASURED,
                         known && longest_ns > 0 ? sum->time_ns / longest_ns : NAN);
    assay__table_numbers(t, ASSAY_DERIVED, sum->flops);
    assay__table_text(t, assay_state_name(known ? sum->state : ASSAY_UNAVAILABLE));
}

/* A row that is not an operator: people see its name, programs find it in parentheses. */
static void put_rest(struct assay__table *t, const struct assay__trial *trial, const char *name,
                     const char *key, double time_ns, enum assay_state state)
{
    double whole_ns = assay__layers_whole(trial);
    for (int pass = 0; pass < 2 && isfinite(time_ns); pass++) {
        assay__table_row(t, pass ? ASSAY__ROW_PEOPLE | ASSAY__ROW_TOTAL : ASSAY__ROW_DATA, NULL);
        assay__table_number(t, trial->id, ASSAY_MEASURED);
        assay__table_text(t, pass ? name : key);
        assay__table_skip(t, 1);
        assay__table_number(t, time_ns / 1e3, state);
        assay__table_number(t, time_ns / whole_ns, ASSAY_DERIVED);
        assay__table_known(t, time_ns >= 0 ? time_ns / whole_ns : (double)NAN, ASSAY_DERIVED);
        assay__table_skip(t, 2);
        assay__table_text(t, assay_state_name(state));
    }
}

void assay__add_operators(struct assay__doc *doc, const struct assay__trial *trial, size_t limit)
{
    const struct assay__layers *layers = &trial->layers;
    double whole_ns = assay__layers_whole(trial), longest_ns = 0;
    size_t count;
    struct assay__operator *sums = assay__operators(layers, &count);
    if (!sums) doc->failed = true;
    for (size_t i = 0; i < count; i++)
        if (sums[i].timed) longest_ns = fmax(longest_ns, sums[i].time_ns);
    struct assay__table *t = assay__doc_table(doc, "operators", "Operators, longest first",
                                              columns);
    t->more = "operators";
    t->limit = limit;
    t->trial = trial->id;
    for (size_t i = 0; i < count; i++)
        put_operator(doc, t, trial->id, &sums[i], whole_ns, longest_ns);
    bool gpu = assay__layers_on_gpu(layers);
    put_rest(t, trial, gpu ? "not in these kernels" : "engine per run", "(engine per run)",
             layers->engine_ns, ASSAY_MEASURED);
    put_rest(t, trial, gpu ? "less by not recording" : "unattributed", "(unattributed)",
             layers->unattributed_ns, ASSAY_DERIVED);
    free(sums);
}

static void build(struct assay__doc *doc, const struct assay__trial *trial)
{
    if (!trial->layers.count) return;
    assay__doc_section(doc, "operators", "Operators", "the layers by what they compute",
                       ASSAY__TAB_OVERVIEW);
    assay__add_operators(doc, trial, 0);
    assay__doc_end(doc);
}

const struct assay__subject assay__subject_operators = {
    "operators", ASSAY__OF_TRIAL, build, {{"operators", ASSAY__ARRAY(columns)}}};
