/* block_path.c - the parts of a layer's name.
 *
 *   /layer1/layer1.0/conv1/Conv          layer1 · 0 · conv1    a part that repeats the previous one
 *   /layer1.0.conv1/Conv                 layer1 · 0 · conv1    replaces it (PyTorch's exporter)
 *   /encoder/layer.3/attention/MatMul_2  encoder · layer · 3 · attention
 *   h.3.attn                             h · 3                 without an operator, the last part
 *   conv2_block1_1_conv/Conv2D           conv2 · block1 · 1    is the layer itself
 *   p2o.Conv.0, Conv_12                  p2o; nothing          operator counters are not places
 */
#include "judge/block_path.h"

#include <string.h>

#define OPERATOR_MOST 64 /* bytes of an operator's name that are compared */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool assay__block_part_is_index(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!is_digit(text[i])) return false;
    return length > 0;
}

/* "MatMul_2" if the model has a MatMul. */
static bool is_operator(const struct assay__block_part *part, const struct assay__map *operators)
{
    char name[OPERATOR_MOST];
    size_t length = 0;
    while (length < part->length && part->text[length] != '_')
        length++;
    if (length == 0 || length >= sizeof name) return false;
    memcpy(name, part->text, length);
    name[length] = 0;
    return assay__map_has(operators, name);
}

static bool repeats(const struct assay__block_part *one, const struct assay__block_part *next)
{
    return next->length >= one->length && memcmp(next->text, one->text, one->length) == 0 &&
           (next->length == one->length || next->text[one->length] == '.');
}

/* The parts between slashes; one that repeats its predecessor replaces it. */
static size_t split_slashes(const char *name, struct assay__block_part *out)
{
    size_t count = 0;
    while (*name && count < ASSAY__BLOCK_DEPTH) {
        struct assay__block_part part = {name, strcspn(name, "/")};
        if (part.length && count && repeats(&out[count - 1], &part))
            out[count - 1] = part;
        else if (part.length)
            out[count++] = part;
        name += part.length + (name[part.length] == '/');
    }
    return count;
}

static void add_part(struct assay__block_path *out, const char *text, size_t length)
{
    if (length && out->count < ASSAY__BLOCK_DEPTH)
        out->parts[out->count++] = (struct assay__block_part){text, length};
}

/* Splits at dots, and at an underscore that follows a digit and has something after it. */
static void split_dots(const struct assay__block_part *part, struct assay__block_path *out)
{
    size_t begin = 0;
    for (size_t i = 0; i < part->length; i++) {
        bool dot = part->text[i] == '.';
        bool counted = part->text[i] == '_' && i > begin && is_digit(part->text[i - 1]) &&
                       i + 1 < part->length;
        if (!dot && !counted) continue;
        add_part(out, part->text + begin, i - begin);
        begin = i + 1;
    }
    add_part(out, part->text + begin, part->length - begin);
}

void assay__block_path(const char *name, const struct assay__map *operators,
                       struct assay__block_path *out)
{
    struct assay__block_part slashed[ASSAY__BLOCK_DEPTH];
    size_t count = split_slashes(name, slashed), end = 0;
    out->count = 0;
    for (size_t i = 0; i < count; i++)
        split_dots(&slashed[i], out);
    while (end < out->count && !is_operator(&out->parts[end], operators))
        end++;
    if (end == out->count) { /* no operator: drop the layer's own name and its counter */
        while (end &&
               assay__block_part_is_index(out->parts[end - 1].text, out->parts[end - 1].length))
            end--;
        end -= end > 0;
    }
    out->count = end;
}
