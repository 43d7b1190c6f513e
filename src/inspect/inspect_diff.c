/* inspect_diff.c - matches the layers of two models.
 *
 * First by structure: the longest common subsequence of both execution orders over a hash of
 * operator and output shapes, so that renamed layers are found. Common prefixes and suffixes are
 * removed first; the rest is solved exactly, in O(n m) time and 2 bits per cell, up to LCS_CELLS;
 * beyond that the next equal layer within a window is used. Then by name among the rest: those
 * layers are in the same place with another operator or shape. */
#include "inspect/inspect_diff.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LCS_CELLS ((size_t)64 << 20) /* 16 MB of directions */
#define WINDOW 256
#define NONE SIZE_MAX

struct match {
    const struct assay__inspect *a, *b;
    uint64_t *keys_a, *keys_b;
    size_t *of_a, *of_b; /* partner; NONE */
    bool *named;         /* of a: found by name */
};

static uint64_t mix(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * 0x100000001b3u; /* FNV-1a */
    return hash;
}

/* A hash of operator and output shapes for each layer. NULL: out of memory. */
static uint64_t *keys_of(const struct assay__inspect *inspect)
{
    uint64_t *keys = calloc(inspect->layer_count + 1, sizeof *keys);
    for (size_t i = 0; keys && i < inspect->layer_count; i++) {
        const struct assay__node *node = inspect->layers[i].node;
        uint64_t hash = mix(0xcbf29ce484222325u, node->op, strlen(node->op) + 1);
        hash = mix(hash, node->domain, strlen(node->domain) + 1);
        for (size_t k = 0; k < node->output_count; k++) {
            const struct assay__shape_entry *e = assay__shapes_get(inspect->analysis->shapes,
                                                                   node->outputs[k]);
            int rank = e ? e->rank : -1;
            hash = mix(hash, &rank, sizeof rank);
            if (rank > 0) hash = mix(hash, e->dims, (size_t)rank * sizeof *e->dims);
        }
        keys[i] = hash;
    }
    return keys;
}

/* --- by structure ----------------------------------------------------------------------------- */

static void join(struct match *m, size_t a, size_t b)
{
    m->of_a[a] = b;
    m->of_b[b] = a;
}

/* Directions of the table from the end: 0 both (equal), 1 down (skip a), 2 right (skip b). */
static int solve(struct match *m, size_t a0, size_t a1, size_t b0, size_t b1)
{
    size_t n = a1 - a0, k = b1 - b0;
    uint32_t *row = calloc(2 * (k + 1), sizeof *row);
    unsigned char *way = calloc(n * k / 4 + 1, 1);
    if (!row || !way) {
        free(row);
        free(way);
        return ASSAY_ENOMEM;
    }
    for (size_t i = n; i-- > 0;) {
        uint32_t *now = row + (i & 1) * (k + 1), *below = row + (~i & 1) * (k + 1);
        now[k] = 0;
        for (size_t j = k; j-- > 0;) {
            unsigned direction = below[j] >= now[j + 1] ? 1 : 2;
            now[j] = direction == 1 ? below[j] : now[j + 1];
            if (m->keys_a[a0 + i] == m->keys_b[b0 + j]) {
                now[j] = below[j + 1] + 1;
                direction = 0;
            }
            size_t cell = i * k + j;
            way[cell / 4] |= (unsigned char)(direction << (cell % 4 * 2));
        }
    }
    for (size_t i = 0, j = 0; i < n && j < k;) {
        size_t cell = i * k + j;
        unsigned direction = (way[cell / 4] >> (cell % 4 * 2)) & 3u;
        if (direction == 0) join(m, a0 + i++, b0 + j++);
        if (direction == 1) i++;
        if (direction == 2) j++;
    }
    free(row);
    free(way);
    return 0;
}

static int by_structure(struct match *m)
{
    size_t a0 = 0, b0 = 0, a1 = m->a->layer_count, b1 = m->b->layer_count;
    while (a0 < a1 && b0 < b1 && m->keys_a[a0] == m->keys_b[b0])
        join(m, a0++, b0++);
    while (a1 > a0 && b1 > b0 && m->keys_a[a1 - 1] == m->keys_b[b1 - 1])
        join(m, --a1, --b1);
    if (a0 == a1 || b0 == b1) return 0;
    if ((b1 - b0) <= LCS_CELLS / (a1 - a0)) return solve(m, a0, a1, b0, b1);
    for (; a0 < a1; a0++)
        for (size_t j = b0; j < b1 && j < b0 + WINDOW; j++)
            if (m->keys_a[a0] == m->keys_b[j]) {
                join(m, a0, j);
                b0 = j + 1;
                break;
            }
    return 0;
}

static int by_name(struct match *m)
{
    struct assay__map *names = assay__map_new();
    int code = names ? 0 : ASSAY_ENOMEM;
    for (size_t j = 0; j < m->b->layer_count && !code; j++)
        if (m->of_b[j] == NONE && *m->b->layers[j].name)
            code = assay__map_set(names, m->b->layers[j].name, j);
    for (size_t i = 0; i < m->a->layer_count && !code; i++) {
        if (m->of_a[i] != NONE) continue;
        size_t j = assay__map_get(names, m->a->layers[i].name);
        if (j == ASSAY__MAP_NONE || m->of_b[j] != NONE) continue;
        join(m, i, j);
        m->named[i] = true;
    }
    assay__map_free(names);
    return code;
}

/* --- what differs ----------------------------------------------------------------------------- */

static bool equal_number(double a, double b)
{
    return a == b || (!isfinite(a) && !isfinite(b));
}

static bool equal_layer(const struct match *m, size_t i, size_t j)
{
    const struct assay__node *a = m->a->layers[i].node, *b = m->b->layers[j].node;
    const struct assay__cost *left = m->a->layers[i].cost, *right = m->b->layers[j].cost;
    return m->keys_a[i] == m->keys_b[j] && strcmp(a->op, b->op) == 0 &&
           strcmp(a->domain, b->domain) == 0 && equal_number(left->flops, right->flops) &&
           equal_number(left->macs, right->macs) &&
           equal_number(left->bytes_read, right->bytes_read) &&
           equal_number(left->bytes_written, right->bytes_written) &&
           equal_number(left->bytes_weights, right->bytes_weights);
}

static void add_pair(struct assay__inspect_diff *diff, enum assay__inspect_change change, size_t a,
                     size_t b, bool named)
{
    diff->pairs[diff->pair_count++] = (struct assay__inspect_pair){change, a, b, named};
    diff->counts[change]++;
}

/* Additions come before the layer of a that their successor in b is paired with. */
static int fill_pairs(struct assay__inspect_diff *diff, const struct match *m)
{
    size_t n = m->a->layer_count, k = m->b->layer_count, next = 0;
    diff->pairs = calloc(n + k + 1, sizeof *diff->pairs);
    if (!diff->pairs) return ASSAY_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        size_t j = m->of_a[i];
        if (j == NONE) {
            add_pair(diff, ASSAY__LAYER_REMOVED, i, NONE, false);
            continue;
        }
        for (; next < j; next++)
            if (m->of_b[next] == NONE) add_pair(diff, ASSAY__LAYER_ADDED, NONE, next, false);
        bool same = equal_layer(m, i, j);
        add_pair(diff, same ? ASSAY__LAYER_SAME : ASSAY__LAYER_CHANGED, i, j, m->named[i]);
        if (same && strcmp(m->a->layers[i].name, m->b->layers[j].name) != 0) diff->renamed++;
    }
    for (; next < k; next++)
        if (m->of_b[next] == NONE) add_pair(diff, ASSAY__LAYER_ADDED, NONE, next, false);
    return 0;
}

static bool same_operator(const struct assay__inspect_diff *diff, size_t i, size_t j)
{
    const struct assay__op_total *a = &diff->a->analysis->ops[i], *b = &diff->b->analysis->ops[j];
    return strcmp(a->op, b->op) == 0 && strcmp(a->domain, b->domain) == 0;
}

static bool same_parameter(const struct assay__inspect_diff *diff, size_t i, size_t j)
{
    const struct assay__parameter_total *a = &diff->a->analysis->parameters_by_type[i],
                                        *b = &diff->b->analysis->parameters_by_type[j];
    return a->dtype == b->dtype && strcmp(a->storage, b->storage) == 0;
}

/* The n items of one model next to the k of the other: first those of a, then those only in b.
 * NULL: out of memory. */
static struct assay__inspect_both *pair_up(
    const struct assay__inspect_diff *diff, size_t n, size_t k,
    bool (*same)(const struct assay__inspect_diff *diff, size_t i, size_t j), size_t *count)
{
    struct assay__inspect_both *both = calloc(n + k + 1, sizeof *both);
    for (size_t i = 0; both && i < n; i++)
        both[(*count)++] = (struct assay__inspect_both){i, NONE};
    for (size_t j = 0; both && j < k; j++) {
        size_t i = 0;
        while (i < n && !same(diff, i, j))
            i++;
        if (i < n)
            both[i].b = j;
        else
            both[(*count)++] = (struct assay__inspect_both){NONE, j};
    }
    return both;
}

bool assay__inspect_diff_operator(const struct assay__inspect_diff *diff, size_t index)
{
    const struct assay__inspect_both *both = &diff->operators[index];
    if (both->a == NONE || both->b == NONE) return true;
    const struct assay__op_total *a = &diff->a->analysis->ops[both->a];
    const struct assay__op_total *b = &diff->b->analysis->ops[both->b];
    return a->count != b->count || !equal_number(a->flops, b->flops) ||
           !equal_number(a->bytes, b->bytes);
}

bool assay__inspect_diff_parameter(const struct assay__inspect_diff *diff, size_t index)
{
    const struct assay__inspect_both *both = &diff->parameters[index];
    if (both->a == NONE || both->b == NONE) return true;
    const struct assay__parameter_total *a = &diff->a->analysis->parameters_by_type[both->a];
    const struct assay__parameter_total *b = &diff->b->analysis->parameters_by_type[both->b];
    return a->tensors != b->tensors || a->elements != b->elements || a->bytes != b->bytes;
}

static void describe_ends(struct assay__buf *out, const struct assay__inspect *inspect)
{
    const struct assay__graph *g = &inspect->model->graph;
    for (size_t i = 0; i < g->input_count + g->output_count; i++) {
        const struct assay__value *v = i < g->input_count ? &g->inputs[i]
                                                          : &g->outputs[i - g->input_count];
        if (i < g->input_count && !assay__inspect_is_input(inspect, v)) continue;
        assay__buf_printf(out, "%c%s\n%s ", i < g->input_count ? '<' : '>', v->name,
                          assay__dtype_name(v->dtype));
        assay__inspect_shape(out, inspect->analysis->shapes,
                             assay__shapes_get(inspect->analysis->shapes, v->name));
        assay__buf_putc(out, '\n');
    }
}

int assay__inspect_diff_make(const struct assay__inspect *a, const struct assay__inspect *b,
                             struct assay__inspect_diff *diff)
{
    struct match m = {.a = a, .b = b};
    struct assay__buf ends_a = {0}, ends_b = {0};
    *diff = (struct assay__inspect_diff){.a = a, .b = b};
    m.keys_a = keys_of(a);
    m.keys_b = keys_of(b);
    m.of_a = malloc((a->layer_count + 1) * sizeof *m.of_a);
    m.of_b = malloc((b->layer_count + 1) * sizeof *m.of_b);
    m.named = calloc(a->layer_count + 1, sizeof *m.named);
    int code = m.keys_a && m.keys_b && m.of_a && m.of_b && m.named ? 0 : ASSAY_ENOMEM;
    if (!code) memset(m.of_a, 0xff, (a->layer_count + 1) * sizeof *m.of_a); /* NONE */
    if (!code) memset(m.of_b, 0xff, (b->layer_count + 1) * sizeof *m.of_b);
    if (!code) code = by_structure(&m);
    if (!code) code = by_name(&m);
    if (!code) code = fill_pairs(diff, &m);
    if (code) goto out;
    diff->operators = pair_up(diff, a->analysis->op_count, b->analysis->op_count, same_operator,
                              &diff->operator_count);
    diff->parameters = pair_up(diff, a->analysis->parameter_type_count,
                               b->analysis->parameter_type_count, same_parameter,
                               &diff->parameter_count);
    describe_ends(&ends_a, a);
    describe_ends(&ends_b, b);
    if (!diff->operators || !diff->parameters || ends_a.failed || ends_b.failed)
        code = ASSAY_ENOMEM;
    diff->ends_equal = !code && ends_a.length == ends_b.length &&
                       (!ends_a.length || memcmp(ends_a.data, ends_b.data, ends_a.length) == 0);
    diff->same_graph = strcmp(a->fingerprint, b->fingerprint) == 0;
    diff->equal = !code && diff->ends_equal && diff->counts[ASSAY__LAYER_SAME] == diff->pair_count;
    for (size_t i = 0; i < diff->parameter_count && diff->equal; i++)
        diff->equal = !assay__inspect_diff_parameter(diff, i);
out:
    assay__buf_free(&ends_a);
    assay__buf_free(&ends_b);
    free(m.keys_a);
    free(m.keys_b);
    free(m.of_a);
    free(m.of_b);
    free(m.named);
    return code;
}

void assay__inspect_diff_free(struct assay__inspect_diff *diff)
{
    free(diff->pairs);
    free(diff->operators);
    free(diff->parameters);
    memset(diff, 0, sizeof *diff);
}

static void put_ratio(struct assay__buf *out, const char *what, double a, double b)
{
    if (!(a > 0) || !(b > 0) || a == b) return;
    assay__buf_printf(out, ", %s × the %s", assay__digits(b / a, 3).text, what);
}

void assay__inspect_diff_answer(struct assay__buf *out, const struct assay__inspect_diff *diff)
{
    const struct assay__analysis *a = diff->a->analysis, *b = diff->b->analysis;
    if (diff->equal && diff->same_graph) {
        assay__buf_puts(out, "The two models are equal: same graph, attributes and shapes (weights "
                             "are not compared).");
        return;
    }
    if (diff->equal) {
        assay__buf_puts(out,
                        "The two models do the same work: every layer has the same operator, "
                        "shapes and cost; names or attributes differ (weights are not compared).");
        return;
    }
    size_t same = diff->counts[ASSAY__LAYER_SAME];
    assay__buf_printf(out, "%zu layer%s the same, %zu changed, %zu removed, %zu added", same,
                      same == 1 ? " is" : "s are", diff->counts[ASSAY__LAYER_CHANGED],
                      diff->counts[ASSAY__LAYER_REMOVED], diff->counts[ASSAY__LAYER_ADDED]);
    assay__buf_puts(out, ": the second has");
    size_t before = out->length;
    if (!a->unknown_flops && !b->unknown_flops) put_ratio(out, "FLOPs", a->flops, b->flops);
    put_ratio(out, "bytes of weights", (double)a->parameter_bytes, (double)b->parameter_bytes);
    put_ratio(out, "peak of activations", a->live.peak_bytes, b->live.peak_bytes);
    if (out->length == before)
        assay__buf_puts(out, " the same totals");
    else if (out->data && out->data[before] == ',')
        memmove(out->data + before, out->data + before + 1, out->length-- - before);
    assay__buf_putc(out, '.');
}
