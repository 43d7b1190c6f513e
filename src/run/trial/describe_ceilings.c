/* describe_ceilings.c - the ceilings that the caller knows, copied into the document: what is
 * measured is judged against them, here and by whoever renders the profile later. */
#include "run/trial/describe.h"

#include <math.h>

/* A copy in the arena, "" for NULL; *failed when out of memory. */
static const char *copy(struct assay__arena *arena, const char *text, bool *failed)
{
    const char *made = assay__arena_strdup(arena, text ? text : "");
    if (!made) *failed = true;
    return made;
}

int assay__describe_ceilings(struct assay_profile *profile, const struct assay_ceiling *given,
                             size_t count, struct assay_error *error)
{
    struct assay__arena *arena = profile->arena;
    if (count == 0) return 0;
    if (!given) return assay_error_set(error, ASSAY_EINVAL, "ceilings: a count without a list");
    struct assay__ceiling_info *made = assay__arena_array(arena, count, sizeof *made);
    bool failed = made == NULL;
    for (size_t i = 0; i < count && !failed; i++) {
        /* A share of zero, of a negative number or of infinity means nothing. */
        bool known = isfinite(given[i].value) && given[i].value > 0;
        const char *note = given[i].note;
        if (!known && (!note || !note[0])) note = "no value and no reason was given";
        made[i] = (struct assay__ceiling_info){
            .device = copy(arena, given[i].device, &failed),
            .name = copy(arena, given[i].name, &failed),
            .value = known ? given[i].value : (double)NAN,
            .unit = copy(arena, given[i].unit, &failed),
            .low = known ? given[i].low : (double)NAN,
            .high = known ? given[i].high : (double)NAN,
            .source = copy(arena, given[i].source, &failed),
            .note = copy(arena, note, &failed),
            .measured_at = copy(arena, given[i].measured_at, &failed),
        };
    }
    if (failed) return assay__no_memory(error);
    profile->ceilings = made;
    profile->ceiling_count = count;
    return 0;
}
