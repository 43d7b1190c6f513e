/* figure_label.c - see figure_label.h. Equal names of different points (two layers with the same
 * name) get a number: " (2)". */
#include "report/figure/figure_label.h"

#include "base/text.h"
#include "report/figure/figure_svg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_LEAST 6

struct place {
    const char *name;
    size_t index;
};

static int by_name(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    return order ? order : a->index < b->index ? -1 : a->index > b->index;
}

static bool same(const struct place *a, const struct place *b)
{
    return *a->name && strcmp(a->name, b->name) == 0;
}

/* Safe texts, the second and later ones of a name with its number. */
static bool make_safe(const char *const *names, size_t count, struct assay__buf *safe)
{
    struct place *sorted = calloc(count + 1, sizeof *sorted);
    for (size_t i = 0; sorted && i < count; i++) {
        assay__text_safe(&safe[i], names[i] ? names[i] : "");
        sorted[i] = (struct place){assay__buf_text(&safe[i]), i};
    }
    if (sorted) qsort(sorted, count, sizeof *sorted, by_name);
    for (size_t end = count, first; sorted && end > 0; end = first) {
        for (first = end - 1; first > 0 && same(&sorted[first - 1], &sorted[end - 1]); first--)
            ;
        for (size_t i = first + 1; i < end; i++) /* its name may have moved by now */
            assay__buf_printf(&safe[sorted[i].index], " (%zu)", i - first + 1);
    }
    bool done = sorted != NULL;
    free(sorted);
    return done;
}

char **assay__labels(const char *const *names, size_t count, size_t columns)
{
    struct assay__buf *safe = calloc(count + 1, sizeof *safe);
    struct assay__buf *cut = calloc(count + 1, sizeof *cut);
    const char **texts = calloc(count + 1, sizeof *texts);
    char **labels = calloc(count + 1, sizeof *labels);
    bool failed = !safe || !cut || !texts || !labels || !make_safe(names, count, safe);
    for (size_t i = 0; !failed && i < count; i++)
        texts[i] = assay__buf_text(&safe[i]);
    if (!failed) assay__text_shorten(texts, count, columns, cut);
    for (size_t i = 0; !failed && i < count; i++) {
        size_t length = cut[i].length; /* it is padded to its column */
        while (length && cut[i].data[length - 1] == ' ')
            length--;
        labels[i] = strndup(assay__buf_text(&cut[i]), length);
        failed = !labels[i] || safe[i].failed || cut[i].failed;
    }
    for (size_t i = 0; i < count; i++) {
        if (safe) assay__buf_free(&safe[i]);
        if (cut) assay__buf_free(&cut[i]);
    }
    free(safe);
    free(cut);
    free(texts);
    if (!failed) return labels;
    assay__labels_free(labels, count);
    return NULL;
}

char **assay__labels_within(const char *const *names, size_t count, double room)
{
    size_t columns = (size_t)(room > 0 ? room / (0.55 * ASSAY__SVG_FONT) : 0);
    for (;; columns--) {
        if (columns < COLUMNS_LEAST) columns = COLUMNS_LEAST;
        char **labels = assay__labels(names, count, columns);
        bool fits = true;
        for (size_t i = 0; labels && i < count && fits; i++)
            fits = assay__svg_width(labels[i]) <= room;
        if (!labels || fits || columns == COLUMNS_LEAST) return labels;
        assay__labels_free(labels, count);
    }
}

void assay__labels_free(char **labels, size_t count)
{
    for (size_t i = 0; labels && i < count; i++)
        free(labels[i]);
    free(labels);
}

/* --- ends ------------------------------------------------------------------------------------- */

struct tail {
    const char *name;
    size_t length, at; /* where it is among the names */
};

static size_t common_end(const struct tail *a, const struct tail *b)
{
    size_t length = 0;
    while (length < a->length && length < b->length &&
           a->name[a->length - 1 - length] == b->name[b->length - 1 - length])
        length++;
    return length;
}

/* By their last characters: names with the same ending are neighbours. */
static int compare_ends(const void *left, const void *right)
{
    const struct tail *a = left, *b = right;
    size_t common = common_end(a, b);
    if (common == a->length || common == b->length)
        return a->length < b->length ? -1 : a->length > b->length;
    return (unsigned char)a->name[a->length - 1 - common] <
                   (unsigned char)b->name[b->length - 1 - common]
               ? -1
               : 1;
}

void assay__label_tails(const char *const *names, size_t count, const char **tails)
{
    struct tail *sorted = calloc(count + 1, sizeof *sorted);
    for (size_t i = 0; i < count; i++) {
        tails[i] = names[i]; /* where memory runs out: the whole */
        if (sorted) sorted[i] = (struct tail){names[i], strlen(names[i]), i};
    }
    if (sorted) qsort(sorted, count, sizeof *sorted, compare_ends);
    for (size_t i = 0; sorted && i < count; i++) {
        const struct tail *own = &sorted[i];
        size_t before = i ? common_end(own, own - 1) : 0,
               after = i + 1 < count ? common_end(own, own + 1) : 0;
        /* An end that is longer than what it shares with any other, at a boundary or not, so that
         * it is unambiguous. */
        size_t shared = before > after ? before : after;
        for (size_t at = own->length; at-- > 0;)
            if ((own->name[at] == '/' || own->name[at] == '.') && own->length - at - 1 > shared) {
                tails[own->at] = own->name + at + 1;
                break;
            }
    }
    free(sorted);
}

size_t assay__path_prefix(const char *path, size_t depth)
{
    size_t at = 0;
    for (size_t i = 0; i < depth && path[at]; i++) {
        if (i) at++;
        at += strcspn(path + at, "/");
    }
    return at;
}
