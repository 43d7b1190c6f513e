/* ncp_read.c - reads the metadata entry "assay.ncp" (doc/ncp.md). The file is anyone's: sizes are
 * limited, the matrices must have the size that the neurons say, the groups must cover each neuron
 * once. */
#include "cost/ncp_wiring.h"

#include "base/json.h"

#include <stdlib.h>
#include <string.h>

#define STEPS_MOST 1000000

static int bad_metadata(struct assay_error *error, const char *what)
{
    return assay_error_set(error, ASSAY_EFORMAT, "the metadata \"%s\": %s", ASSAY__NCP_METADATA,
                           what);
}

static bool read_size(const struct assay__json *root, const char *key, int64_t low, int64_t high,
                      int64_t *value)
{
    const struct assay__json *found = assay__json_get(root, key);
    if (!found || found->kind != ASSAY__JSON_NUMBER || !found->is_integer) return false;
    *value = found->integer;
    return *value >= low && *value <= high;
}

static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(text, *words) == 0) return true;
    return false;
}

static int read_names(const struct assay__json *root, struct assay__ncp *ncp,
                      struct assay_error *error)
{
    static const char *const cells[] = {"CfC", "LTC", NULL};
    static const char *const wirings[] = {"AutoNCP",        "NCP",  "Random",
                                          "FullyConnected", "none", NULL};
    static const char *const modes[] = {"default", "no_gate", "pure", "", NULL};
    static const char *const forms[] = {"step", "unrolled", "scan", NULL};
    ncp->cell = assay__json_get_string(root, "cell", "");
    ncp->wiring = assay__json_get_string(root, "wiring", "");
    ncp->mode = assay__json_get_string(root, "mode", "");
    ncp->form = assay__json_get_string(root, "form", "");
    if (!is_one_of(ncp->cell, cells)) return bad_metadata(error, "an unknown cell");
    if (!is_one_of(ncp->wiring, wirings)) return bad_metadata(error, "an unknown wiring");
    if (!is_one_of(ncp->mode, modes)) return bad_metadata(error, "an unknown mode");
    if (!is_one_of(ncp->form, forms)) return bad_metadata(error, "an unknown form");
    ncp->mixed_memory = assay__json_get_bool(root, "mixed_memory", false);
    ncp->wired = strcmp(ncp->wiring, "none") != 0;
    return 0;
}

static int read_matrix(const struct assay__json *root, const char *key, size_t count,
                       const char **matrix, struct assay_error *error)
{
    *matrix = assay__json_get_string(root, key, "");
    if (strlen(*matrix) != count || strspn(*matrix, "+-.") != count)
        return bad_metadata(error, "a matrix does not have one of '+', '-', '.' per pair");
    return 0;
}

/* Every neuron in one group. */
static int read_groups(const struct assay__json *list, struct assay__ncp_wiring *wiring,
                       struct assay_error *error)
{
    bool *taken = calloc(wiring->units, sizeof *taken);
    size_t total = 0;
    bool good = list && list->kind == ASSAY__JSON_ARRAY && list->count <= ASSAY__NCP_GROUPS;
    if (!taken) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    for (const struct assay__json *item = good ? list->first : NULL; item && good;
         item = item->next) {
        struct assay__ncp_range *group = &wiring->groups[wiring->group_count++];
        int64_t first = 0, count = 0, units = (int64_t)wiring->units;
        group->name = assay__json_get_string(item, "name", "");
        good = *group->name && strlen(group->name) < 64 &&
               read_size(item, "first", 0, units - 1, &first) &&
               read_size(item, "count", 1, units, &count) && first + count <= units;
        group->first = (size_t)first;
        group->count = (size_t)count;
        for (size_t i = group->first; good && i < group->first + group->count; i++) {
            good = !taken[i];
            taken[i] = true;
            total++;
        }
    }
    free(taken);
    if (!good || total != wiring->units)
        return bad_metadata(error, "the groups do not hold every neuron once");
    return 0;
}

int assay__ncp_read(const char *text, struct assay__arena *arena, struct assay__ncp *ncp,
                    struct assay__ncp_wiring *wiring, struct assay_error *error)
{
    struct assay__json *root = NULL;
    *wiring = (struct assay__ncp_wiring){.adjacency = NULL};
    int code = assay__json_parse(arena, text, strlen(text), &root, error);
    if (code == ASSAY_ENOMEM) return code;
    if (code || root->kind != ASSAY__JSON_OBJECT) return bad_metadata(error, "not a JSON object");
    if (assay__json_get_integer(root, "version", 0) != 1)
        return bad_metadata(error, "of another version than 1");
    code = read_names(root, ncp, error);
    if (code) return code;
    if (!read_size(root, "units", 1, ASSAY__NCP_UNITS, &ncp->units) ||
        !read_size(root, "inputs", 1, ASSAY__NCP_UNITS, &ncp->inputs) ||
        !read_size(root, "outputs", 1, ncp->units, &ncp->outputs))
        return bad_metadata(error, "units, inputs or outputs are missing or absurd");
    if (!read_size(root, "steps", 1, STEPS_MOST, &ncp->steps))
        return bad_metadata(error, "steps are missing or absurd");
    if (strcmp(ncp->cell, "LTC") == 0 && !read_size(root, "unfolds", 1, STEPS_MOST, &ncp->unfolds))
        return bad_metadata(error, "unfolds are missing or absurd");
    wiring->units = (size_t)ncp->units;
    wiring->inputs = (size_t)ncp->inputs;
    if (!ncp->wired) return 0;
    code = read_matrix(root, "adjacency", wiring->units * wiring->units, &wiring->adjacency, error);
    if (!code)
        code = read_matrix(root, "sensory", wiring->inputs * wiring->units, &wiring->sensory,
                           error);
    return code ? code : read_groups(assay__json_get(root, "groups"), wiring, error);
}
