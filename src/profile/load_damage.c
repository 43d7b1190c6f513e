/* load_damage.c - what a profile lacks that its writer put there. The loader takes a missing table
 * as an empty one, and a report of an empty table looks like a report of nothing measured: here the
 * difference is said. What is demanded are the tables that were there from the start of the file's
 * schema (`since` of their field tables), with their keys. A capture that was killed lacks rows,
 * never tables. */
#include "profile/rows.h"

static const char samples[] = "sample_chunks"; /* the only such table without a field table */

/* Views and virtual tables do not prepare on this connection, so they count as missing. */
static bool has_samples(struct assay__loader *loader)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(
        loader->db->sqlite,
        "SELECT trial, launch, stream, chunk, first, count, encoding, data FROM sample_chunks", -1,
        &statement, NULL);
    sqlite3_finalize(statement);
    return code == SQLITE_OK;
}

static bool has_table(struct assay__loader *loader, const struct assay__field_table *table)
{
    static const struct assay__key any[ASSAY__KEYS_MOST];
    struct assay__rows rows = assay__rows_of(loader, table, any, assay__keys_count(table), NULL);
    bool found = rows.statement != NULL;
    assay__rows_stop(&rows);
    return found;
}

static bool demand(struct assay__loader *loader, const char *table, bool found)
{
    if (found || loader->code) return true;
    const char *text = assay__arena_printf(
        loader->profile->arena, "damaged profile: its table '%s' is missing or not readable",
        table);
    struct assay_profile *profile = loader->profile;
    if (!text)
        assay__load_no_memory(loader);
    else if (profile->trial_count == 0)
        assay__load_failed(loader, ASSAY_EFORMAT, text);
    for (size_t i = 0; i < profile->trial_count && text; i++)
        assay__load_note(loader, &profile->trials[i], text);
    return false;
}

void assay__load_damage(struct assay__loader *loader)
{
    struct assay_profile *profile = loader->profile;
    if (loader->code) return;
    bool sound = demand(loader, samples, has_samples(loader));
    for (size_t i = 0; i < assay__table_count; i++) {
        const struct assay__field_table *table = assay__tables[i];
        if ((table->since ? table->since : 2) <= loader->db->schema)
            sound &= demand(loader, table->name, has_table(loader, table));
    }
    /* The writer puts a trial's metrics before it calls the profile complete, unavailable ones
     * too. */
    for (size_t i = 0; i < profile->trial_count && sound && profile->complete; i++) {
        struct assay__trial *trial = &profile->trials[i];
        if (trial->state != ASSAY__TRIAL_OK || assay_metrics_get(trial->metrics, "latency.p50"))
            continue;
        assay__load_note(loader, trial,
                         "damaged profile: the trial is complete, but its latency.p50 is missing");
    }
}
