/* zoo.c - the table of builders, and the reading of "name:key=value,key=value". A builder asks
 * for its parameters by name; a key that no builder asked for is an error, with the nearest key
 * suggested. */
#include "zoo/zoo.h"

#include "base/text.h"
#include "zoo/builders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PARAMS 32

struct assay__zoo_params {
    const char *model;
    char *text; /* the part after the colon, cut up */
    struct {
        const char *key, *value;
        bool used;
    } given[MAX_PARAMS];
    size_t given_count;
    const char *asked[MAX_PARAMS]; /* keys the builder knows */
    size_t asked_count;
};

static const struct assay__zoo_entry entries[] = {
    {"resnet50", "ResNet-50 v1.5, image classification, 25.6 M parameters, random weights",
     "batch=(symbolic),classes=1000,image=224", assay__zoo_resnet50},
};

const struct assay__zoo_entry *assay__zoo_at(size_t index)
{
    return index < sizeof entries / sizeof entries[0] ? &entries[index] : NULL;
}

static const struct assay__zoo_entry *find(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
        if (strlen(entries[i].name) == length && memcmp(entries[i].name, name, length) == 0)
            return &entries[i];
    return NULL;
}

bool assay__zoo_knows(const char *name)
{
    return find(name, strcspn(name, ":")) != NULL;
}

static int unknown_model(const char *name, struct assay_error *error)
{
    char wanted[64];
    const char *nearest = entries[0].name;
    size_t best = SIZE_MAX;
    snprintf(wanted, sizeof wanted, "%.*s",
             (int)(strcspn(name, ":") < 60 ? strcspn(name, ":") : 60), name);
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        size_t distance = assay__text_distance(wanted, entries[i].name);
        if (distance < best) nearest = entries[i].name;
        if (distance < best) best = distance;
    }
    return assay_error_set(
        error, ASSAY_ENOTFOUND,
        "the zoo has no model '%s'; the nearest is '%s' (a path needs its ending or a "
        "'/')",
        wanted, nearest);
}

/* Cuts "k=v,k=v" in place. */
static int parse_params(struct assay__zoo_params *params, struct assay_error *error)
{
    for (char *at = params->text; at && *at;) {
        char *comma = strchr(at, ','), *equals;
        if (comma) *comma = 0;
        equals = strchr(at, '=');
        if (!equals || equals == at)
            return assay_error_set(error, ASSAY_EINVAL, "%s: '%.60s' is not key=value",
                                   params->model, at);
        if (params->given_count == MAX_PARAMS)
            return assay_error_set(error, ASSAY_ELIMIT, "%s: more than %d parameters",
                                   params->model, MAX_PARAMS);
        *equals = 0;
        for (size_t i = 0; i < params->given_count; i++)
            if (strcmp(params->given[i].key, at) == 0)
                return assay_error_set(error, ASSAY_EINVAL, "%s: '%.60s' is given twice",
                                       params->model, at);
        params->given[params->given_count].key = at;
        params->given[params->given_count++].value = equals + 1;
        at = comma ? comma + 1 : NULL;
    }
    return 0;
}

int assay__zoo_param_int(struct assay__zoo_params *params, const char *key, int64_t otherwise,
                         int64_t low, int64_t high, int64_t *value, struct assay_error *error)
{
    *value = otherwise;
    if (params->asked_count < MAX_PARAMS) params->asked[params->asked_count++] = key;
    for (size_t i = 0; i < params->given_count; i++) {
        if (strcmp(params->given[i].key, key) != 0) continue;
        params->given[i].used = true;
        if (assay__text_int64(params->given[i].value, value) || *value < low || *value > high)
            return assay_error_set(error, ASSAY_EINVAL,
                                   "%s: %s=%.40s: a whole number from %lld to %lld", params->model,
                                   key, params->given[i].value, (long long)low, (long long)high);
    }
    return 0;
}

int assay__zoo_params_done(const struct assay__zoo_params *params, struct assay_error *error)
{
    for (size_t i = 0; i < params->given_count; i++) {
        const char *nearest = "";
        size_t best = SIZE_MAX;
        if (params->given[i].used) continue;
        for (size_t k = 0; k < params->asked_count; k++) {
            size_t distance = assay__text_distance(params->given[i].key, params->asked[k]);
            if (distance < best) nearest = params->asked[k];
            if (distance < best) best = distance;
        }
        return assay_error_set(error, ASSAY_EINVAL,
                               "%s has no parameter '%.60s'; the nearest is '%s' (it takes %s)",
                               params->model, params->given[i].key, nearest,
                               find(params->model, strlen(params->model))->parameters);
    }
    return 0;
}

int assay__zoo_build(const char *name, struct assay__model **out, struct assay_error *error)
{
    size_t length = strcspn(name, ":");
    const struct assay__zoo_entry *entry = find(name, length);
    *out = NULL;
    if (!entry) return unknown_model(name, error);
    struct assay__zoo_params params = {.model = entry->name,
                                       .text = strdup(name[length] ? name + length + 1 : "")};
    struct assay__model *model = assay__model_new();
    int code = params.text && model ? 0 : assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    if (!code) code = parse_params(&params, error);
    if (!code) code = entry->build(&params, model, error);
    if (!code) {
        *out = model;
        model = NULL;
    }
    assay__model_free(model);
    free(params.text);
    return code;
}
