/* load_damage.c - what a profile lacks that its writer put there. The loader treats a missing table
 * as empty, and its report would look as if nothing was measured: here the difference is noted.
 * Tables and key columns are those of schema version 1 from its start; what later versions add is
 * not required. A capture that was killed lacks rows, never tables. */
#include "profile/rows.h"

static const struct {
    const char *table, *keys;
} required[] = {
    {"environments", "SELECT profile FROM environments"},
    {"models", "SELECT profile FROM models"},
    {"operators", "SELECT profile, position FROM operators"},
    {"tensors", "SELECT profile, trial, role, position FROM tensors"},
    {"dims", "SELECT profile, trial, role, tensor, axis, size, symbol FROM dims"},
    {"notes", "SELECT profile, trial, kind, position, text FROM notes"},
    {"trials", "SELECT id, profile FROM trials"},
    {"options", "SELECT trial, position, key, value FROM options"},
    {"launches", "SELECT trial, id FROM launches"},
    {"metrics", "SELECT trial, launch, position FROM metrics"},
    {"layers", "SELECT trial, position FROM layers"},
    {"layer_origins", "SELECT trial, layer, position, node FROM layer_origins"},
    {"findings", "SELECT profile, position FROM findings"},
    {"evidence", "SELECT profile, finding, position, text FROM evidence"},
    {"sample_chunks",
     "SELECT trial, launch, stream, chunk, first, count, encoding, data FROM sample_chunks"},
};

/* Views and virtual tables do not prepare on this connection, so they count as missing. */
static bool readable(struct assay__loader *loader, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(loader->db->sqlite, sql, -1, &statement, NULL);
    sqlite3_finalize(statement);
    return code == SQLITE_OK;
}

static void say(struct assay__loader *loader, const char *text)
{
    struct assay_profile *profile = loader->profile;
    if (!text)
        assay__load_no_memory(loader);
    else if (profile->trial_count == 0)
        assay__load_failed(loader, ASSAY_EFORMAT, text);
    for (size_t i = 0; i < profile->trial_count && text; i++)
        assay__load_note(loader, &profile->trials[i], text);
}

void assay__load_damage(struct assay__loader *loader)
{
    struct assay_profile *profile = loader->profile;
    bool sound = true;
    for (size_t i = 0; i < sizeof required / sizeof required[0] && !loader->code; i++) {
        if (readable(loader, required[i].keys)) continue;
        sound = false;
        say(loader,
            assay__arena_printf(profile->arena,
                                "damaged profile: its table '%s' is missing or not readable",
                                required[i].table));
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
