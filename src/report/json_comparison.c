/* json_comparison.c - "comparison": the rows of a compared profile and what is recommended (design section 10). */
#include "advise/comparison.h"
#include "report/parts.h"

#include <math.h>
#include <stdint.h>

static void put_row(struct assay__json_writer *w, const struct assay_profile *profile,
                    const struct assay__comparison *all, size_t i)
{
    const struct assay__comparison_row *row = &all->rows[i];
    assay__json_object(w);
    assay__json_put_integer(w, "trial", profile->trials[row->trial].id);
    assay__json_put_string(w, "label", row->label);
    assay__json_put_string(w, "device", profile->trials[row->trial].device);
    assay__json_put_text(w, "role", i == all->reference ? "reference" : row->role);
    assay__json_put_bool(w, "usable", row->usable);
    assay__json_put_text(w, "reason", row->reason);
    assay__json_put_number(w, "latency_s", row->latency_s);
    assay__json_put_number(w, "throughput_per_s", row->throughput);
    assay__json_put_number(w, "energy_j", row->energy_j);
    assay__json_put_number(w, "energy_ratio", row->energy_ratio);
    assay__json_put_number(w, "memory_bytes", row->memory_bytes);
    assay__json_put_number(w, "speedup", row->speed.ratio);
    assay__json_put_number(w, "speedup_low", row->speed.ci.low);
    assay__json_put_number(w, "speedup_high", row->speed.ci.high);
    assay__json_put_number(w, "p_value", row->speed.p_value);
    assay__json_put_number(w, "smallest_difference", row->speed.smallest);
    assay__json_put_text(w, "verdict", assay__verdict_name(row->verdict));
    assay__json_object_end(w);
}

static void put_recommendations(struct assay__json_writer *w, const struct assay__comparison *all)
{
    static const char *const names[] = {"latency", "throughput", "energy"};
    assay__json_key(w, "recommendation");
    assay__json_object(w);
    for (size_t i = 0; i < ASSAY__FOR_COUNT; i++) {
        size_t row = all->recommendations[i].row;
        assay__json_put_text(w, names[i], row == SIZE_MAX ? "" : all->rows[row].label);
    }
    assay__json_key(w, "why");
    assay__json_object(w);
    for (size_t i = 0; i < ASSAY__FOR_COUNT; i++)
        assay__json_put_string(w, names[i], all->recommendations[i].why);
    assay__json_object_end(w);
    assay__json_object_end(w);
}

void assay__json_comparison(struct assay__json_writer *w, const struct assay_profile *profile)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__comparison all;
    if (!arena || assay__comparison(profile, arena, &all)) {
        assay__json_put_null(w, "comparison"); /* out of memory: the buffer will have failed too */
        assay__arena_free(arena);
        return;
    }
    assay__json_key(w, "comparison");
    assay__json_object(w);
    assay__json_key(w, "rows");
    assay__json_array(w);
    for (size_t i = 0; i < all.count; i++)
        put_row(w, profile, &all, i);
    assay__json_array_end(w);
    put_recommendations(w, &all);
    assay__json_object_end(w);
    assay__arena_free(arena);
}
