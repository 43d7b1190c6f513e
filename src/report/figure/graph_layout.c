/* graph_layout.c - rows, bends and the order within rows; graph_place.c has centres and columns.
 *
 * A layered drawing after Sugiyama, Tagawa and Toda (1981): cycles are broken where a depth-first
 * search in the order of execution meets a box that is still on its path; rows are the longest
 * paths from the sources, then boxes with at least as many outgoing as incoming lines move down to
 * their first reader; the order within rows is improved by barycentres, downward and upward in
 * turn, as long as the number of crossings falls (counted by inversions, Barth, Jünger and Mutzel
 * 2002). */
#include "report/figure/graph_work.h"

#include <assay/error.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SWEEPS 12
#define BENDS_PER_BOX 8u /* at most, and … */
#define BENDS_MORE 4096u

struct edge {
    int target, net;
    bool back;
};

struct work {
    const struct assay__graph_boxes *graph;
    struct assay__arena *scratch, *arena;
    struct assay__graph_layout *out;
    size_t *first; /* edges of box i: first[i] … first[i + 1] - 1 */
    struct edge *edges;
    int *inverse; /* boxes in reverse topological order */
    int *rank;
    size_t *out_count, *in_count; /* by box: edges that lead on */
    int *bend_first;              /* by net: its first bend, in the row below its source */
    int far;                      /* the longest line that is drawn, in rows */
    struct assay__graph_lists lists;
};

static unsigned end_of(const struct work *w, int box)
{
    return w->graph->ends ? w->graph->ends[box] : ASSAY__GRAPH_INSIDE;
}

/* --- edges ------------------------------------------------------------------------------------ */

static bool is_edge(const struct work *w, int source, int target)
{
    int count = (int)w->graph->box_count;
    return source >= 0 && source < count && target >= 0 && target < count && source != target;
}

static bool collect_edges(struct work *w)
{
    size_t boxes = w->graph->box_count;
    w->first = assay__arena_array(w->scratch, boxes + 2, sizeof *w->first);
    for (size_t n = 0; w->first && n < w->graph->net_count; n++) {
        const struct assay__graph_net *net = &w->graph->nets[n];
        for (size_t t = 0; t < net->target_count; t++)
            if (is_edge(w, net->source, net->targets[t])) w->first[net->source + 2]++;
    }
    for (size_t i = 2; w->first && i < boxes + 2; i++)
        w->first[i] += w->first[i - 1];
    size_t count = w->first ? w->first[boxes + 1] : 0;
    w->edges = assay__arena_array(w->scratch, count + 1, sizeof *w->edges);
    for (size_t n = 0; w->first && w->edges && n < w->graph->net_count; n++) {
        const struct assay__graph_net *net = &w->graph->nets[n];
        for (size_t t = 0; t < net->target_count; t++)
            if (is_edge(w, net->source, net->targets[t]))
                w->edges[w->first[net->source + 1]++] = (struct edge){net->targets[t], (int)n,
                                                                      false};
    }
    return w->edges != NULL;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* Lines that would lead upward: into an entry, out of an exit. */
static bool leads_back(const struct work *w, int source, int target)
{
    return end_of(w, target) == ASSAY__GRAPH_FIRST || end_of(w, source) == ASSAY__GRAPH_LAST;
}

/* Marks edges that close a cycle and fills `inverse`. */
static bool break_cycles(struct work *w)
{
    enum { NEW, OPEN, DONE };
    size_t boxes = w->graph->box_count, finished = 0;
    unsigned char *state = assay__arena_array(w->scratch, boxes + 1, 1);
    size_t *next = assay__arena_array(w->scratch, boxes + 1, sizeof *next);
    int *stack = assay__arena_array(w->scratch, boxes + 1, sizeof *stack);
    w->inverse = assay__arena_array(w->scratch, boxes + 1, sizeof *w->inverse);
    if (!state || !next || !stack || !w->inverse) return false;
    memcpy(next, w->first, boxes * sizeof *next);
    for (size_t root = 0; root < boxes; root++) {
        size_t depth = 0;
        if (state[root] != NEW) continue;
        stack[depth++] = (int)root;
        state[root] = OPEN;
        while (depth) {
            int box = stack[depth - 1];
            if (next[box] == w->first[box + 1]) {
                state[box] = DONE;
                w->inverse[finished++] = box;
                depth--;
                continue;
            }
            struct edge *edge = &w->edges[next[box]++];
            edge->back = state[edge->target] == OPEN || leads_back(w, box, edge->target);
            if (edge->back || state[edge->target] != NEW) continue;
            state[edge->target] = OPEN;
            stack[depth++] = edge->target;
        }
    }
    return true;
}

static void longest_paths(struct work *w)
{
    size_t boxes = w->graph->box_count;
    int top = 0;
    for (size_t i = 0; i < boxes; i++)
        if (end_of(w, (int)i) == ASSAY__GRAPH_FIRST) top = 1;
    for (size_t i = 0; i < boxes; i++)
        w->rank[i] = end_of(w, (int)i) == ASSAY__GRAPH_FIRST ? 0 : top;
    for (size_t k = boxes; k-- > 0;) {
        int box = w->inverse[k];
        for (size_t e = w->first[box]; e < w->first[box + 1]; e++) {
            int target = w->edges[e].target;
            if (w->edges[e].back) {
                w->out->back++;
                continue;
            }
            w->out_count[box]++, w->in_count[target]++;
            if (w->rank[target] <= w->rank[box]) w->rank[target] = w->rank[box] + 1;
        }
    }
}

/* Down to the first reader, if that does not increase the total length of lines. */
static void pull_down(struct work *w)
{
    for (size_t k = 0; k < w->graph->box_count; k++) {
        int box = w->inverse[k], least = INT_MAX;
        for (size_t e = w->first[box]; e < w->first[box + 1]; e++)
            if (!w->edges[e].back && w->rank[w->edges[e].target] < least)
                least = w->rank[w->edges[e].target];
        if (w->out_count[box] && w->out_count[box] >= w->in_count[box] &&
            end_of(w, box) == ASSAY__GRAPH_INSIDE)
            w->rank[box] = least - 1;
    }
}

/* Boxes without lines are placed next to the one that runs before them, several below each other;
 * exits below all; no row is empty. */
static bool settle_rows(struct work *w)
{
    size_t boxes = w->graph->box_count;
    bool alone_before = false;
    int last = 0;
    for (size_t i = 0; i < boxes; i++) {
        bool alone = !w->in_count[i] && !w->out_count[i] &&
                     end_of(w, (int)i) == ASSAY__GRAPH_INSIDE;
        if (alone && i && end_of(w, (int)i - 1) == ASSAY__GRAPH_INSIDE)
            w->rank[i] = w->rank[i - 1] + alone_before;
        alone_before = alone;
        if (w->rank[i] > last) last = w->rank[i];
    }
    for (size_t i = 0; i < boxes; i++)
        if (end_of(w, (int)i) == ASSAY__GRAPH_LAST) w->rank[i] = last + 1;
    int *used = assay__arena_array(w->scratch, (size_t)last + 3, sizeof *used);
    if (!used) return false;
    for (size_t i = 0; i < boxes; i++)
        used[w->rank[i] + 1] = 1;
    for (int r = 1; r <= last + 2; r++)
        used[r] += used[r - 1];
    for (size_t i = 0; i < boxes; i++)
        w->rank[i] = used[w->rank[i]];
    w->out->row_count = used[last + 2];
    return true;
}

/* --- bends and segments ----------------------------------------------------------------------- */

static int reach_of(const struct work *w, const struct assay__graph_net *net, int far)
{
    int reach = 0;
    for (size_t t = 0; t < net->target_count; t++) {
        if (!is_edge(w, net->source, net->targets[t])) continue;
        int span = w->rank[net->targets[t]] - w->rank[net->source];
        if (span > reach && span <= far) reach = span;
    }
    return reach;
}

static size_t bends_needed(const struct work *w, int far)
{
    size_t sum = 0;
    for (size_t n = 0; n < w->graph->net_count; n++) {
        int reach = reach_of(w, &w->graph->nets[n], far);
        if (reach > 1) sum += (size_t)reach - 1;
    }
    return sum;
}

static bool place_all(struct work *w)
{
    size_t boxes = w->graph->box_count, most = BENDS_PER_BOX * boxes + BENDS_MORE;
    w->far = w->out->row_count;
    while (w->far > 1 && bends_needed(w, w->far) > most)
        w->far /= 2;
    size_t count = boxes + bends_needed(w, w->far);
    struct assay__graph_place *places = assay__arena_array(w->arena, count + 1, sizeof *places);
    w->bend_first = assay__arena_array(w->scratch, w->graph->net_count + 1, sizeof *w->bend_first);
    if (!places || !w->bend_first) return false;
    for (size_t i = 0; i < boxes; i++)
        places[i] = (struct assay__graph_place){
            .row = w->rank[i], .net = -1, .width = w->graph->sizes[i].width};
    size_t at = boxes;
    for (size_t n = 0; n < w->graph->net_count; n++) {
        const struct assay__graph_net *net = &w->graph->nets[n];
        int reach = reach_of(w, net, w->far);
        w->bend_first[n] = (int)at;
        for (int r = 1; r < reach; r++)
            places[at++] = (struct assay__graph_place){
                .row = w->rank[net->source] + r, .net = (int)n, .width = ASSAY__GRAPH_BEND};
    }
    w->out->places = places;
    w->out->box_count = boxes;
    w->out->count = count;
    return true;
}

/* By the row where they begin, as the layout guarantees. */
static bool sort_segments(struct work *w)
{
    struct assay__graph_layout *out = w->out;
    size_t *first = assay__arena_array(w->scratch, (size_t)out->row_count + 2, sizeof *first);
    struct assay__graph_segment *sorted = assay__arena_array(w->arena, out->segment_count + 1,
                                                             sizeof *sorted);
    if (!first || !sorted) return false;
    for (size_t s = 0; s < out->segment_count; s++)
        first[out->places[out->segments[s].from].row + 1]++;
    for (int r = 1; r <= out->row_count; r++)
        first[r] += first[r - 1];
    for (size_t s = 0; s < out->segment_count; s++)
        sorted[first[out->places[out->segments[s].from].row]++] = out->segments[s];
    out->segments = sorted;
    return true;
}

/* The line of a net from its source to the row above the target, then to the target; parts shared
 * by several targets exist once. */
static bool segment_all(struct work *w)
{
    struct assay__graph_layout *out = w->out;
    size_t boxes = w->graph->box_count, most = w->first[boxes] + (out->count - boxes);
    struct assay__graph_segment *list = assay__arena_array(w->scratch, most + 1, sizeof *list);
    size_t *seen = assay__arena_array(w->scratch, boxes + 1, sizeof *seen), count = 0;
    if (!list || !seen) return false;
    for (size_t n = 0; n < w->graph->net_count; n++) {
        const struct assay__graph_net *net = &w->graph->nets[n];
        int reach = reach_of(w, net, w->far), bends = w->bend_first[n];
        for (int r = 1; r < reach; r++)
            list[count++] = (struct assay__graph_segment){r == 1 ? net->source : bends + r - 2,
                                                          bends + r - 1, (int)n};
        for (size_t t = 0; t < net->target_count; t++) {
            int target = net->targets[t];
            if (!is_edge(w, net->source, target) || seen[target] == n + 1) continue;
            seen[target] = n + 1;
            int span = w->rank[target] - w->rank[net->source];
            if (span > w->far) out->far++;
            if (span < 1 || span > w->far) continue;
            list[count++] = (struct assay__graph_segment){
                span == 1 ? net->source : bends + span - 2, target, (int)n};
        }
    }
    out->segments = list;
    out->segment_count = count;
    return sort_segments(w);
}

/* --- order ------------------------------------------------------------------------------------ */

static bool list_near(const struct assay__graph_layout *layout, struct assay__arena *arena,
                      struct assay__graph_lists *lists)
{
    for (int side = 0; side < 2; side++) {
        size_t *first = assay__arena_array(arena, layout->count + 2, sizeof *first);
        int *near = assay__arena_array(arena, layout->segment_count + 1, sizeof *near);
        if (!first || !near) return false;
        for (size_t s = 0; s < layout->segment_count; s++)
            first[(side ? layout->segments[s].from : layout->segments[s].to) + 2]++;
        for (size_t i = 2; i < layout->count + 2; i++)
            first[i] += first[i - 1];
        for (size_t s = 0; s < layout->segment_count; s++) {
            const struct assay__graph_segment *segment = &layout->segments[s];
            near[first[(side ? segment->from : segment->to) + 1]++] = side ? segment->to
                                                                           : segment->from;
        }
        lists->first[side] = first;
        lists->near[side] = near;
    }
    return true;
}

struct ranked {
    double key;
    int place, before;
};

static int by_key(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return a->before < b->before ? -1 : a->before > b->before;
}

/* Boxes in the order of execution, then bends: lines that pass by go to the right. */
static bool first_order(struct work *w)
{
    struct assay__graph_layout *out = w->out;
    int *first = assay__arena_array(w->arena, (size_t)out->row_count + 2, sizeof *first);
    out->order = assay__arena_array(w->arena, out->count + 1, sizeof *out->order);
    if (!first || !out->order) return false;
    for (size_t i = 0; i < out->count; i++)
        first[out->places[i].row + 1]++;
    for (int r = 1; r <= out->row_count; r++)
        first[r] += first[r - 1];
    for (size_t i = 0; i < out->count; i++) /* moves every first index to the next row's … */
        out->order[first[out->places[i].row]++] = (int)i;
    for (int r = out->row_count; r > 0; r--) /* … and back */
        first[r] = first[r - 1];
    first[0] = 0;
    out->row_first = first;
    return true;
}

static void note_positions(const struct assay__graph_layout *out, int *position)
{
    for (int r = 0; r < out->row_count; r++)
        for (int i = out->row_first[r]; i < out->row_first[r + 1]; i++)
            position[out->order[i]] = i - out->row_first[r];
}

/* Each place of a row moves to the mean position of those it is connected to on that side. */
static void order_row(struct work *w, int row, int side, int *position, struct ranked *ranked)
{
    struct assay__graph_layout *out = w->out;
    int begin = out->row_first[row], count = out->row_first[row + 1] - begin;
    for (int i = 0; i < count; i++) {
        int place = out->order[begin + i];
        size_t from = w->lists.first[side][place], to = w->lists.first[side][place + 1];
        double sum = 0;
        for (size_t k = from; k < to; k++)
            sum += position[w->lists.near[side][k]];
        ranked[i] = (struct ranked){to > from ? sum / (double)(to - from) : i, place, i};
    }
    qsort(ranked, (size_t)count, sizeof *ranked, by_key);
    for (int i = 0; i < count; i++) {
        out->order[begin + i] = ranked[i].place;
        position[ranked[i].place] = i;
    }
}

static bool improve_order(struct work *w)
{
    struct assay__graph_layout *out = w->out;
    int *best = assay__arena_array(w->scratch, out->count + 1, sizeof *best);
    int *position = assay__arena_array(w->scratch, out->count + 1, sizeof *position);
    struct ranked *ranked = assay__arena_array(w->scratch, out->count + 1, sizeof *ranked);
    size_t least = assay__graph_crossings(out);
    if (!best || !position || !ranked || least == SIZE_MAX) return false;
    memcpy(best, out->order, out->count * sizeof *best);
    note_positions(out, position);
    for (int sweep = 0, idle = 0; sweep < SWEEPS && least > 0 && idle < 4; sweep++) {
        for (int r = 1; r < out->row_count; r++)
            order_row(w, sweep % 2 ? out->row_count - 1 - r : r, sweep % 2, position, ranked);
        size_t now = assay__graph_crossings(out);
        if (now == SIZE_MAX) return false;
        idle = now < least ? 0 : idle + 1;
        if (now < least) memcpy(best, out->order, out->count * sizeof *best);
        if (now < least) least = now;
    }
    memcpy(out->order, best, out->count * sizeof *best);
    return true;
}

/* --- crossings -------------------------------------------------------------------------------- */

struct crossing_pair {
    int above, below;
};

static int by_pair(const void *left, const void *right)
{
    const struct crossing_pair *a = left, *b = right;
    if (a->above != b->above) return a->above < b->above ? -1 : 1;
    return a->below < b->below ? -1 : a->below > b->below;
}

/* Pairs whose ends are in reverse order, counted by a tree over the lower row. */
static size_t inversions(const struct crossing_pair *pairs, size_t count, size_t *tree, size_t size)
{
    size_t sum = 0;
    memset(tree, 0, (size + 1) * sizeof *tree);
    for (size_t i = 0; i < count; i++) {
        size_t at_most = 0;
        for (size_t k = (size_t)pairs[i].below + 1; k; k &= k - 1)
            at_most += tree[k];
        sum += i - at_most;
        for (size_t k = (size_t)pairs[i].below + 1; k <= size; k += k & (~k + 1))
            tree[k]++;
    }
    return sum;
}

size_t assay__graph_crossings(const struct assay__graph_layout *layout)
{
    int *position = calloc(layout->count + 1, sizeof *position);
    struct crossing_pair *pairs = calloc(layout->segment_count + 1, sizeof *pairs);
    size_t *tree = calloc(layout->count + 2, sizeof *tree), sum = 0;
    bool made = position && pairs && tree;
    if (made) note_positions(layout, position);
    for (size_t s = 0; made && s < layout->segment_count;) {
        int row = layout->places[layout->segments[s].from].row;
        size_t count = 0;
        for (; s < layout->segment_count && layout->places[layout->segments[s].from].row == row;
             s++)
            pairs[count++] = (struct crossing_pair){position[layout->segments[s].from],
                                                    position[layout->segments[s].to]};
        qsort(pairs, count, sizeof *pairs, by_pair);
        size_t size = (size_t)(layout->row_first[row + 2] - layout->row_first[row + 1]);
        sum += inversions(pairs, count, tree, size);
    }
    free(tree);
    free(pairs);
    free(position);
    return made ? sum : SIZE_MAX;
}

/* --- the whole -------------------------------------------------------------------------------- */

static bool make_rows(struct work *w)
{
    size_t boxes = w->graph->box_count;
    w->rank = assay__arena_array(w->scratch, boxes + 1, sizeof *w->rank);
    w->out_count = assay__arena_array(w->scratch, boxes + 1, sizeof *w->out_count);
    w->in_count = assay__arena_array(w->scratch, boxes + 1, sizeof *w->in_count);
    if (!w->rank || !w->out_count || !w->in_count || !collect_edges(w) || !break_cycles(w))
        return false;
    longest_paths(w);
    pull_down(w);
    return settle_rows(w);
}

int assay__graph_layout(const struct assay__graph_boxes *graph, struct assay__graph_size view,
                        struct assay__arena *arena, struct assay__graph_layout *out)
{
    struct work w = {.graph = graph, .scratch = assay__arena_new(), .arena = arena, .out = out};
    *out = (struct assay__graph_layout){0};
    bool made = w.scratch && graph->box_count < INT_MAX / 16 && graph->net_count < INT_MAX / 16 &&
                make_rows(&w) && place_all(&w) && segment_all(&w) && first_order(&w) &&
                list_near(out, w.scratch, &w.lists) && improve_order(&w) &&
                assay__graph_centre(out, &w.lists, w.scratch) &&
                assay__graph_columns(out, graph->sizes, view, arena, w.scratch);
    assay__arena_free(w.scratch);
    return made && !assay__arena_failed(arena) ? 0 : ASSAY_ENOMEM;
}
