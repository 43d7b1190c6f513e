/* diff_align.c - which layers of several runs are the same work. Layers of all sides are nodes of
 * one union-find structure; each step below joins some, with the strongest evidence first:
 *
 * 1. Origin. A layer's `from` has the nodes of the model that it came from. Layers that share one
 *    belong together; so a fused layer is joined with the layers it is made of, in either
 *    direction. A name that occurs several times on both sides is matched in order of occurrence
 *    if the counts agree, and not at all if they do not.
 * 2. Structure. Between different models names prove nothing (exporters number nodes: one more
 *    layer renames all later ones). Then the longest common subsequence over operator, FLOPs and
 *    bytes comes first, and names only join layers of the same operator.
 * 3. Name. Layers that are still alone, by their name, with the same operator. If a side knows
 *    origins, a layer without one was added by the engine, which also made up its name: ONNX
 *    Runtime renumbers its reorders in each session. Such a name joins nothing.
 * 4. Position. Between the matched neighbours (the longest run of matches that keeps the order):
 *    the longest common subsequence over operator and work, then over the operator alone (not for
 *    another model of which less than half was matched so far).
 *
 * From step 2 on a join never brings a second layer of a side into a group. Time: hash tables, O(n
 * log n) for the order; the subsequences are solved exactly up to CELLS table cells each and
 * CELLS_ALL together, beyond that by looking ahead WINDOW layers. */
#include "judge/diff.h"

#include "base/checked.h"
#include "base/map.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CELLS ((size_t)4 << 20)
#define CELLS_ALL ((size_t)32 << 20)
#define WINDOW 64
#define NONE SIZE_MAX

struct state {
    const struct assay__align_side *sides;
    size_t count, total;
    size_t *offsets;
    size_t *parent, *size;
    uint32_t *mask;       /* for roots: sides that have a layer in the group */
    unsigned char *match; /* of roots */
    uint64_t *keys;
    size_t cells_left;
    struct assay__arena *arena; /* for temporary data */
    /* scratch of by_order */
    struct anchor *all, *kept;
    size_t *gap_a, *gap_b, *first, *tails, *before;
};

struct anchor { /* a match of the base with another side */
    size_t a, b;
};

/* --- groups ----------------------------------------------------------------------------------- */

static size_t root_of(struct state *s, size_t at)
{
    while (s->parent[at] != at) {
        s->parent[at] = s->parent[s->parent[at]];
        at = s->parent[at];
    }
    return at;
}

static void join(struct state *s, size_t x, size_t y, enum assay__diff_match match)
{
    size_t a = root_of(s, x), b = root_of(s, y);
    if (a == b) return;
    if (s->size[a] < s->size[b]) {
        size_t swap = a;
        a = b;
        b = swap;
    }
    s->parent[b] = a;
    s->size[a] += s->size[b];
    s->mask[a] |= s->mask[b];
    if (s->match[b] > s->match[a]) s->match[a] = s->match[b];
    if (s->match[a] < match) s->match[a] = (unsigned char)match;
}

/* Joins two that have no side in common. */
static void join_apart(struct state *s, size_t x, size_t y, enum assay__diff_match match)
{
    if ((s->mask[root_of(s, x)] & s->mask[root_of(s, y)]) == 0) join(s, x, y, match);
}

static const char *op_of(const struct state *s, size_t layer)
{
    size_t side = 0;
    while (layer >= s->offsets[side + 1])
        side++;
    return s->sides[side].layers[layer - s->offsets[side]].op;
}

/* --- names ------------------------------------------------------------------------------------ */

struct entry { /* one occurrence of a name on a side */
    size_t layer, next;
};
struct word {
    const char *name;
    size_t side, head, tail, count; /* of the side that has it first */
};
struct words {
    struct assay__map *map;
    struct word *items;
    struct entry *entries;
    size_t count, entry_count;
};

static int words_add(struct words *words, const char *name, size_t side, size_t layer)
{
    if (!name || !*name) return 0;
    size_t at = assay__map_get(words->map, name), entry = words->entry_count;
    if (at == ASSAY__MAP_NONE) {
        at = words->count++;
        words->items[at] = (struct word){name, side, NONE, NONE, 0};
        if (assay__map_set(words->map, name, at)) return ASSAY_ENOMEM;
    }
    struct word *word = &words->items[at];
    words->entries[words->entry_count++] = (struct entry){layer, NONE};
    if (word->head == NONE)
        word->head = entry;
    else
        words->entries[word->tail].next = entry;
    word->tail = entry;
    word->count++;
    return 0;
}

/* Names of one side: of the nodes that its layers came from, else (or with `own`) of the layers
 * themselves. */
static int collect(const struct state *s, size_t side, bool own, struct words *words)
{
    const struct assay__align_side *from = &s->sides[side];
    size_t origins = 0;
    for (size_t i = 0; i < from->count; i++)
        origins += from->layers[i].from_count;
    size_t most = from->count + origins;
    *words = (struct words){
        .map = assay__map_new(),
        .items = assay__arena_array(s->arena, most + 1, sizeof *words->items),
        .entries = assay__arena_array(s->arena, most + 1, sizeof *words->entries)};
    if (!words->map || !words->items || !words->entries) return ASSAY_ENOMEM;
    int code = assay__map_reserve(words->map, most);
    for (size_t i = 0; i < from->count && !code; i++) {
        const struct assay__layer *layer = &from->layers[i];
        size_t number = s->offsets[side] + i;
        if (origins && layer->from_count == 0) continue;
        if (own || layer->from_count == 0) code = words_add(words, layer->name, side, number);
        for (size_t k = 0; !own && k < layer->from_count && !code; k++)
            code = words_add(words, layer->from[k], side, number);
    }
    return code;
}

/* The occurrences of one name on two sides, in their order. careful: only of the same operator, and
 * never a second layer of a side. */
static void join_words(struct state *s, enum assay__diff_match match, bool careful,
                       const struct words *a, const struct word *one, const struct words *b,
                       const struct word *two)
{
    size_t x = one->head, y = two->head;
    if (one->count != two->count && one->count != 1 && two->count != 1) return;
    while (x != NONE && y != NONE) {
        size_t first = a->entries[x].layer, second = b->entries[y].layer;
        if (!careful)
            join(s, first, second, match);
        else if (strcmp(op_of(s, first), op_of(s, second)) == 0)
            join_apart(s, first, second, match);
        size_t next_x = a->entries[x].next, next_y = b->entries[y].next;
        if (next_x == NONE && next_y == NONE) break;
        if (next_x != NONE) x = next_x; /* in a one-to-many match, the single one stays in place */
        if (next_y != NONE) y = next_y;
    }
}

/* Each name is looked up in the first of the earlier sides that has it. */
static int by_names(struct state *s, bool own, bool trusted)
{
    struct words words[ASSAY__DIFF_MOST] = {{0}};
    enum assay__diff_match match = own ? ASSAY__DIFF_NAME : ASSAY__DIFF_ORIGIN;
    int code = 0;
    for (size_t p = 0; p < s->count && !code; p++) {
        code = collect(s, p, own, &words[p]);
        for (size_t i = 0; i < words[p].count && !code; i++) {
            for (size_t q = 0; q < p; q++) {
                bool pair_trusted = s->sides[p].same_model && s->sides[q].same_model;
                if (!own && pair_trusted != trusted) continue;
                size_t at = assay__map_get(words[q].map, words[p].items[i].name);
                if (at == ASSAY__MAP_NONE) continue;
                join_words(s, match, own || !trusted, &words[q], &words[q].items[at], &words[p],
                           &words[p].items[i]);
                break;
            }
        }
    }
    for (size_t p = 0; p < s->count; p++)
        assay__map_free(words[p].map);
    return code;
}

/* --- structure and position ------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * 0x100000001b3u; /* FNV-1a */
    return hash;
}

static void make_keys(struct state *s, bool work)
{
    for (size_t p = 0; p < s->count; p++)
        for (size_t i = 0; i < s->sides[p].count; i++) {
            const struct assay__layer *layer = &s->sides[p].layers[i];
            uint64_t key = mix(0xcbf29ce484222325u, layer->op, strlen(layer->op) + 1);
            double flops = isfinite(layer->flops) ? layer->flops : -1;
            double bytes = isfinite(layer->bytes) ? layer->bytes : -1;
            if (work) key = mix(mix(key, &flops, sizeof flops), &bytes, sizeof bytes);
            s->keys[s->offsets[p] + i] = key;
        }
}

struct gap { /* layers without a partner between two matches, of both sides */
    size_t *a, *b;
    size_t a_count, b_count;
};

/* Table of subsequence lengths from the end; directions: 0 both, 1 skip a, 2 skip b. */
static int solve(struct state *s, const struct gap *g, enum assay__diff_match match)
{
    size_t n = g->a_count, k = g->b_count;
    uint32_t *row = calloc(2 * (k + 1), sizeof *row);
    unsigned char *way = malloc(n * k);
    int code = row && way ? 0 : ASSAY_ENOMEM;
    for (size_t i = n; i-- > 0 && !code;) {
        uint32_t *now = row + (i & 1) * (k + 1), *below = row + (~i & 1) * (k + 1);
        now[k] = 0;
        for (size_t j = k; j-- > 0;) {
            bool same = s->keys[g->a[i]] == s->keys[g->b[j]];
            unsigned char direction = same ? 0 : below[j] >= now[j + 1] ? 1 : 2;
            now[j] = same ? below[j + 1] + 1 : direction == 1 ? below[j] : now[j + 1];
            way[i * k + j] = direction;
        }
    }
    for (size_t i = 0, j = 0; i < n && j < k && !code;) {
        unsigned char direction = way[i * k + j];
        if (direction == 0) join_apart(s, g->a[i], g->b[j], match);
        if (direction != 2) i++;
        if (direction != 1) j++;
    }
    free(row);
    free(way);
    return code;
}

/* Equal ends first; the rest exactly if the table is small enough, else by looking ahead. */
static int fill_gap(struct state *s, const struct gap *g, enum assay__diff_match match)
{
    struct gap rest = *g;
    while (rest.a_count && rest.b_count && s->keys[rest.a[0]] == s->keys[rest.b[0]]) {
        join_apart(s, rest.a[0], rest.b[0], match);
        rest.a++, rest.b++, rest.a_count--, rest.b_count--;
    }
    while (rest.a_count && rest.b_count &&
           s->keys[rest.a[rest.a_count - 1]] == s->keys[rest.b[rest.b_count - 1]]) {
        rest.a_count--, rest.b_count--;
        join_apart(s, rest.a[rest.a_count], rest.b[rest.b_count], match);
    }
    if (!rest.a_count || !rest.b_count) return 0;
    size_t most = s->cells_left < CELLS ? s->cells_left : CELLS;
    if (rest.b_count <= most / rest.a_count) {
        s->cells_left -= rest.a_count * rest.b_count;
        return solve(s, &rest, match);
    }
    for (size_t i = 0, at = 0; i < rest.a_count; i++)
        for (size_t j = at; j < rest.b_count && j < at + WINDOW; j++) {
            size_t x = rest.a[i], y = rest.b[j];
            if (s->keys[x] != s->keys[y] || (s->mask[root_of(s, x)] & s->mask[root_of(s, y)]))
                continue;
            join(s, x, y, match);
            at = j + 1;
            break;
        }
    return 0;
}

/* The longest run of matches in which both sides go forward (patience sorting), into s->kept. */
static size_t keep_in_order(struct state *s, size_t count)
{
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        size_t low = 0, high = length;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (s->all[s->tails[middle]].b < s->all[i].b)
                low = middle + 1;
            else
                high = middle;
        }
        s->before[i] = low ? s->tails[low - 1] : NONE;
        s->tails[low] = i;
        if (low == length) length++;
    }
    size_t at = length ? s->tails[length - 1] : NONE;
    for (size_t i = length; i-- > 0; at = s->before[at])
        s->kept[i] = s->all[at];
    return length;
}

/* Fills the gaps between the matches of the base with side p: each layer of the base is paired with
 * the first layer of p in its group. */
static int by_order(struct state *s, size_t p, enum assay__diff_match match)
{
    struct gap g = {s->gap_a, s->gap_b, 0, 0};
    size_t found = 0, i = 0, j = 0;
    int code = 0;
    for (size_t k = 0; k < s->total; k++)
        s->first[k] = NONE;
    for (size_t k = s->sides[p].count; k-- > 0;)
        s->first[root_of(s, s->offsets[p] + k)] = k;
    for (size_t k = 0; k < s->sides[0].count; k++) {
        size_t other = s->first[root_of(s, k)];
        if (other != NONE) s->all[found++] = (struct anchor){k, other};
    }
    size_t count = keep_in_order(s, found);
    for (size_t k = 0; k <= count && !code; k++) {
        size_t a_end = k < count ? s->kept[k].a : s->sides[0].count;
        size_t b_end = k < count ? s->kept[k].b : s->sides[p].count;
        for (; i < a_end; i++)
            if (!(s->mask[root_of(s, i)] & (1u << p))) g.a[g.a_count++] = i;
        for (; j < b_end; j++)
            if (!(s->mask[root_of(s, s->offsets[p] + j)] & 1u))
                g.b[g.b_count++] = s->offsets[p] + j;
        code = fill_gap(s, &g, match);
        g.a_count = g.b_count = 0;
    }
    return code;
}

/* --- all steps -------------------------------------------------------------------------------- */

static int steps(struct state *s)
{
    int code = by_names(s, false, true);
    make_keys(s, true);
    for (size_t p = 1; p < s->count && !code; p++)
        if (!s->sides[p].same_model) code = by_order(s, p, ASSAY__DIFF_STRUCTURE);
    if (!code) code = by_names(s, false, false);
    if (!code) code = by_names(s, true, false);
    for (size_t p = 1; p < s->count && !code; p++)
        code = by_order(s, p, ASSAY__DIFF_STRUCTURE);
    make_keys(s, false);
    for (size_t p = 1; p < s->count && !code; p++) {
        size_t n = s->sides[0].count, k = s->sides[p].count, matched = 0;
        for (size_t i = 0; i < n; i++)
            matched += (s->mask[root_of(s, i)] & (1u << p)) != 0;
        /* for another model with little in common, the same operator at the same place means
         * nothing */
        if (s->sides[p].same_model || 2 * matched >= (n < k ? n : k))
            code = by_order(s, p, ASSAY__DIFF_POSITION);
    }
    return code;
}

static void number_groups(struct state *s, struct assay__align *out)
{
    size_t *number = s->first;
    for (size_t i = 0; i < s->total; i++)
        number[i] = NONE;
    for (size_t i = 0; i < s->total; i++) {
        size_t root = root_of(s, i);
        if (number[root] == NONE) {
            bool alone = !(s->mask[root] & (s->mask[root] - 1));
            out->matches[out->group_count] = alone ? ASSAY__DIFF_ALONE : s->match[root];
            number[root] = out->group_count++;
        }
        out->groups[i] = number[root];
    }
}

int assay__align(const struct assay__align_side *sides, size_t count, struct assay__arena *arena,
                 struct assay__align *out)
{
    *out = (struct assay__align){
        .offsets = assay__arena_array(arena, count + 1, sizeof *out->offsets)};
    if (!out->offsets) return ASSAY_ENOMEM;
    for (size_t p = 0; p < count; p++)
        if (assay__add_overflows(out->offsets[p], sides[p].count, &out->offsets[p + 1]))
            return ASSAY_ENOMEM;
    size_t total = out->offsets[count], room = total + 1, base = sides[0].count + 1;
    struct assay__arena *own = assay__arena_new();
    struct state s = {.sides = sides,
                      .count = count,
                      .total = total,
                      .offsets = out->offsets,
                      .parent = assay__arena_array(own, room, sizeof *s.parent),
                      .size = assay__arena_array(own, room, sizeof *s.size),
                      .mask = assay__arena_array(own, room, sizeof *s.mask),
                      .match = assay__arena_array(own, room, sizeof *s.match),
                      .keys = assay__arena_array(own, room, sizeof *s.keys),
                      .cells_left = CELLS_ALL,
                      .arena = own,
                      .all = assay__arena_array(own, base, sizeof *s.all),
                      .kept = assay__arena_array(own, base, sizeof *s.kept),
                      .gap_a = assay__arena_array(own, base, sizeof *s.gap_a),
                      .gap_b = assay__arena_array(own, room, sizeof *s.gap_b),
                      .first = assay__arena_array(own, room, sizeof *s.first),
                      .tails = assay__arena_array(own, base, sizeof *s.tails),
                      .before = assay__arena_array(own, base, sizeof *s.before)};
    out->groups = assay__arena_array(arena, room, sizeof *out->groups);
    out->matches = assay__arena_array(arena, room, sizeof *out->matches);
    int code = assay__arena_failed(own) || !out->groups || !out->matches ? ASSAY_ENOMEM : 0;
    for (size_t p = 0; p < count && !code; p++)
        for (size_t i = s.offsets[p]; i < s.offsets[p + 1]; i++) {
            s.parent[i] = i;
            s.size[i] = 1;
            s.mask[i] = 1u << p;
        }
    if (!code) code = steps(&s);
    if (!code) number_groups(&s, out);
    assay__arena_free(own);
    return code;
}
