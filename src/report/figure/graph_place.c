/* graph_place.c - the centres of boxes and bends, the columns, and the geometry for given sizes.
 *
 * A row is placed by its connections to the adjacent row: a bend continues straight, a box moves to
 * the middle of the boxes it is connected to (or of bends, if there is no box), so that a chain is
 * a straight line and passing lines are beside it. If places of a row come too close, each touching
 * group moves as one to the mean of its members' targets: least squares with minimum distances, by
 * pooling adjacent violators. Downward and upward sweeps take turns. */
#include "report/figure/graph_work.h"

#include <assay/error.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SWEEPS 8
#define COLUMNS_MOST 16
#define CUT_MOST 3      /* lines that may lead from one column to the next */
#define BETTER 1.04     /* how much larger an additional column must make the drawing */
#define SMALL_ENOUGH 1. /* a drawing is not enlarged */

/* --- a row with distances kept ---------------------------------------------------------------- */

struct pool { /* neighbours that touch */
    double sum, weight;
    size_t count;
};

/* wanted[i]: the preferred centre of i of `count`, replaced by the final one; gap[i]: the minimum
 * distance from i - 1. */
static void keep_distances(double *wanted, const double *weight, const double *gap, size_t count,
                           struct pool *pools)
{
    size_t made = 0, at = 0;
    double offset = 0;
    for (size_t i = 0; i < count; i++) {
        offset += i ? gap[i] : 0;
        pools[made++] = (struct pool){(wanted[i] - offset) * weight[i], weight[i], 1};
        while (made > 1 && pools[made - 2].sum / pools[made - 2].weight >
                               pools[made - 1].sum / pools[made - 1].weight) {
            made--;
            pools[made - 1].sum += pools[made].sum;
            pools[made - 1].weight += pools[made].weight;
            pools[made - 1].count += pools[made].count;
        }
    }
    offset = 0;
    for (size_t p = 0; p < made; p++)
        for (size_t k = 0; k < pools[p].count; k++, at++) {
            offset += at ? gap[at] : 0;
            wanted[at] = pools[p].sum / pools[p].weight + offset;
        }
}

static double distance(double left, double right)
{
    return (left + right) / 2 + ASSAY__GRAPH_GAP;
}

/* --- centres ---------------------------------------------------------------------------------- */

struct centring {
    struct assay__graph_layout *out;
    const struct assay__graph_lists *lists;
    double *wanted, *weight, *gap;
    struct pool *pools;
};

/* The median position of those it is connected to on one side: only boxes, if there are any and it
 * is a box itself. Their list is not ordered, so this is by centre. NaN: none. */
static double middle(const struct centring *c, int place, int side, double *weight)
{
    const struct assay__graph_place *places = c->out->places;
    size_t from = c->lists->first[side][place], to = c->lists->first[side][place + 1];
    bool bend = places[place].net >= 0;
    double low = INFINITY, high = -INFINITY, sum = 0;
    size_t count = 0;
    int pass = 0;
    for (; pass < 2 && count == 0; pass++) /* the same kind, then the other */
        for (size_t k = from; k < to; k++) {
            const struct assay__graph_place *other = &places[c->lists->near[side][k]];
            if (((other->net >= 0) == bend) != (pass == 0)) continue;
            low = fmin(low, other->x), high = fmax(high, other->x);
            sum += other->x;
            count++;
        }
    /* a bend may move where its line begins and ends, and is straight in between */
    *weight = count == 0 ? 0.1 : bend ? (pass == 1 ? 4 : 1e-6) : to - from == 1 ? 2 : 1;
    if (count == 0) return NAN;
    /* the middle one of three, else the mean of the outer two and of all */
    return count == 3 ? sum - low - high : ((low + high) / 2 + sum / (double)count) / 2;
}

static void centre_row(struct centring *c, int row, int side)
{
    struct assay__graph_layout *out = c->out;
    const int *order = out->order + out->row_first[row];
    size_t count = (size_t)(out->row_first[row + 1] - out->row_first[row]);
    for (size_t i = 0; i < count; i++) {
        struct assay__graph_place *place = &out->places[order[i]];
        c->gap[i] = i ? distance(out->places[order[i - 1]].width, place->width) : 0;
        c->wanted[i] = middle(c, order[i], side, &c->weight[i]);
        if (isnan(c->wanted[i])) c->wanted[i] = place->x;
    }
    keep_distances(c->wanted, c->weight, c->gap, count, c->pools);
    for (size_t i = 0; i < count; i++)
        out->places[order[i]].x = c->wanted[i];
}

static void pack_rows(struct assay__graph_layout *out)
{
    for (int r = 0; r < out->row_count; r++) {
        double at = 0;
        for (int i = out->row_first[r]; i < out->row_first[r + 1]; i++) {
            struct assay__graph_place *place = &out->places[out->order[i]];
            place->x = at + place->width / 2;
            at += place->width + ASSAY__GRAPH_GAP;
        }
    }
}

bool assay__graph_centre(struct assay__graph_layout *out, const struct assay__graph_lists *lists,
                         struct assay__arena *scratch)
{
    struct centring c = {.out = out, .lists = lists};
    c.wanted = assay__arena_array(scratch, out->count + 1, sizeof *c.wanted);
    c.weight = assay__arena_array(scratch, out->count + 1, sizeof *c.weight);
    c.gap = assay__arena_array(scratch, out->count + 1, sizeof *c.gap);
    c.pools = assay__arena_array(scratch, out->count + 1, sizeof *c.pools);
    if (!c.wanted || !c.weight || !c.gap || !c.pools) return false;
    pack_rows(out);
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        for (int r = 1; r < out->row_count; r++)
            centre_row(&c, r, 0);
        if (sweep == SWEEPS - 1) break; /* the last word is the producers' */
        for (int r = out->row_count - 1; r-- > 0;)
            centre_row(&c, r, 1);
    }
    return true;
}

/* --- columns ---------------------------------------------------------------------------------- */

struct breaking {
    const struct assay__graph_layout *out;
    double *bottom;       /* by row: its lower end if all are in one column */
    double *left, *right; /* by row */
    size_t *cut;          /* by row: lines that lead to the next one */
    int *columns;         /* being tried */
};

static void measure_rows(struct breaking *b, const struct assay__graph_size *sizes)
{
    const struct assay__graph_layout *out = b->out;
    double y = 0;
    for (int r = 0; r < out->row_count; r++) {
        double height = 0;
        b->left[r] = INFINITY, b->right[r] = -INFINITY;
        for (int i = out->row_first[r]; i < out->row_first[r + 1]; i++) {
            const struct assay__graph_place *place = &out->places[out->order[i]];
            if (place->net < 0) height = fmax(height, sizes[out->order[i]].height);
            b->left[r] = fmin(b->left[r], place->x - place->width / 2);
            b->right[r] = fmax(b->right[r], place->x + place->width / 2);
        }
        y += height + ASSAY__GRAPH_ROW_GAP;
        b->bottom[r] = y;
    }
    for (size_t s = 0; s < out->segment_count; s++) { /* a net counts once in a row */
        const struct assay__graph_segment *now = &out->segments[s], *before = now - 1;
        bool again = s && before->from == now->from && before->net == now->net;
        b->cut[out->places[now->from].row] += !again;
    }
}

/* Rows into `count` columns of about the same height, each split where few lines cross. False:
 * impossible. */
static bool break_rows(struct breaking *b, int count)
{
    int rows = b->out->row_count, row = 0;
    double height = b->bottom[rows - 1];
    for (int c = 0; c + 1 < count; c++) {
        double ideal = height * (c + 1) / count, slack = height / count * 0.3, least = INFINITY;
        int end = -1;
        for (int r = row; r + 1 < rows && b->bottom[r] < ideal + slack; r++) {
            double off = fabs(b->bottom[r] - ideal) / slack;
            double cost = (double)b->cut[r] + off;
            if (off > 1 || b->cut[r] > CUT_MOST || !(cost < least)) continue;
            least = cost;
            end = r;
        }
        if (end < 0) return false;
        for (; row <= end; row++)
            b->columns[row] = c;
    }
    for (; row < rows; row++)
        b->columns[row] = count - 1;
    return true;
}

static struct assay__graph_size size_broken(const struct breaking *b)
{
    struct assay__graph_size size = {0, 0};
    double top = 0;
    for (int r = 0; r < b->out->row_count;) {
        double left = INFINITY, right = -INFINITY;
        int column = b->columns[r];
        for (; r < b->out->row_count && b->columns[r] == column; r++)
            left = fmin(left, b->left[r]), right = fmax(right, b->right[r]);
        size.width += right - left + (column ? ASSAY__GRAPH_GUTTER : 0);
        size.height = fmax(size.height, b->bottom[r - 1] - top);
        top = b->bottom[r - 1];
    }
    return size;
}

bool assay__graph_columns(struct assay__graph_layout *out, const struct assay__graph_size *sizes,
                          struct assay__graph_size view, struct assay__arena *arena,
                          struct assay__arena *scratch)
{
    size_t rows = (size_t)out->row_count + 1;
    struct breaking b = {.out = out,
                         .bottom = assay__arena_array(scratch, rows, sizeof *b.bottom),
                         .left = assay__arena_array(scratch, rows, sizeof *b.left),
                         .right = assay__arena_array(scratch, rows, sizeof *b.right),
                         .cut = assay__arena_array(scratch, rows, sizeof *b.cut),
                         .columns = assay__arena_array(scratch, rows, sizeof *b.columns)};
    out->columns = assay__arena_array(arena, rows, sizeof *out->columns);
    if (!b.bottom || !b.left || !b.right || !b.cut || !b.columns || !out->columns) return false;
    out->column_count = out->row_count > 0;
    if (!out->row_count || !(view.width > 0)) return true;
    measure_rows(&b, sizes);
    double best = 0;
    for (int count = 1; count <= COLUMNS_MOST && best < SMALL_ENOUGH; count++) {
        if (!break_rows(&b, count)) continue;
        struct assay__graph_size size = size_broken(&b);
        double scale = fmin(fmin(view.width / size.width, view.height / size.height), SMALL_ENOUGH);
        if (!(scale > best * BETTER)) continue;
        best = scale;
        out->column_count = count;
        memcpy(out->columns, b.columns, rows * sizeof *b.columns);
    }
    return true;
}

/* --- geometry --------------------------------------------------------------------------------- */

static void arrange_row(const struct assay__graph_layout *layout,
                        const struct assay__graph_size *sizes, int row, struct centring *c,
                        struct assay__graph_geometry *out)
{
    const int *order = layout->order + layout->row_first[row];
    size_t count = (size_t)(layout->row_first[row + 1] - layout->row_first[row]);
    double before = 0, height = 0;
    for (size_t i = 0; i < count; i++) {
        bool box = layout->places[order[i]].net < 0;
        double width = box ? sizes[order[i]].width : ASSAY__GRAPH_BEND;
        c->gap[i] = i ? distance(before, width) : 0;
        c->wanted[i] = layout->places[order[i]].x;
        c->weight[i] = 1;
        before = width;
        if (box) height = fmax(height, sizes[order[i]].height);
    }
    keep_distances(c->wanted, c->weight, c->gap, count, c->pools);
    for (size_t i = 0; i < count; i++)
        out->x[order[i]] = c->wanted[i];
    out->row_height[row] = height;
}

/* Rows from the top of their column; its places from the left. */
static void arrange_column(const struct assay__graph_layout *layout,
                           const struct assay__graph_size *sizes, int first, int end,
                           struct assay__graph_geometry *out)
{
    int column = layout->columns[first];
    double left = INFINITY, right = -INFINITY, y = 0;
    double x = column ? out->size.width + ASSAY__GRAPH_GUTTER : 0;
    for (int i = layout->row_first[first]; i < layout->row_first[end]; i++) {
        int place = layout->order[i];
        double width = layout->places[place].net < 0 ? sizes[place].width : ASSAY__GRAPH_BEND;
        left = fmin(left, out->x[place] - width / 2);
        right = fmax(right, out->x[place] + width / 2);
    }
    for (int r = first; r < end; r++) {
        out->row_y[r] = y;
        for (int i = layout->row_first[r]; i < layout->row_first[r + 1]; i++) {
            int place = layout->order[i];
            out->x[place] += x - left;
            out->y[place] = y;
        }
        y += out->row_height[r] + ASSAY__GRAPH_ROW_GAP;
    }
    out->column_x[column] = x;
    out->column_width[column] = right - left;
    out->size.width = x + right - left;
    out->size.height = fmax(out->size.height, y - ASSAY__GRAPH_ROW_GAP);
}

int assay__graph_arrange(const struct assay__graph_layout *layout,
                         const struct assay__graph_size *sizes, struct assay__arena *arena,
                         struct assay__graph_geometry *out)
{
    size_t count = layout->count + 1, rows = (size_t)layout->row_count + 1;
    size_t columns = (size_t)layout->column_count + 1;
    struct centring c = {.wanted = malloc(count * sizeof *c.wanted),
                         .weight = malloc(count * sizeof *c.weight),
                         .gap = malloc(count * sizeof *c.gap),
                         .pools = malloc(count * sizeof *c.pools)};
    *out = (struct assay__graph_geometry){
        .x = assay__arena_array(arena, count, sizeof *out->x),
        .y = assay__arena_array(arena, count, sizeof *out->y),
        .row_y = assay__arena_array(arena, rows, sizeof *out->row_y),
        .row_height = assay__arena_array(arena, rows, sizeof *out->row_height),
        .column_x = assay__arena_array(arena, columns, sizeof *out->column_x),
        .column_width = assay__arena_array(arena, columns, sizeof *out->column_width)};
    bool made = c.wanted && c.weight && c.gap && c.pools && !assay__arena_failed(arena);
    for (int r = 0; r < layout->row_count && made; r++)
        arrange_row(layout, sizes, r, &c, out);
    for (int r = 0, end; r < layout->row_count && made; r = end) {
        for (end = r; end < layout->row_count && layout->columns[end] == layout->columns[r];
             end++) {
        }
        arrange_column(layout, sizes, r, end, out);
    }
    free(c.pools);
    free(c.gap);
    free(c.weight);
    free(c.wanted);
    return made ? 0 : ASSAY_ENOMEM;
}
