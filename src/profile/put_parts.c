/* put_parts.c - what the allocation tracker saw, the counters of layer classes, and the ceilings,
 * as rows. What was not asked for leaves no row, so that a reader can tell it from nothing
 * found. */
#include "profile/put.h"

#include <math.h>

/* --- allocations ------------------------------------------------------------------------------ */

static int put_phases(sqlite3 *db, int64_t trial, const struct assay__allocations *a)
{
    int code = SQLITE_OK;
    for (size_t i = 0; i < a->phase_count && code == SQLITE_OK; i++) {
        const struct assay__allocation_phase *p = &a->phases[i];
        code = assay__sql_put_once(
            db,
            "INSERT INTO allocation_phases(trial,position,name,inferences,count,bytes,freed_count,"
            "freed_bytes,live_bytes,peak_live_bytes) VALUES(?,?,?,?,?,?,?,?,?,?)",
            "iitndddddd", trial, (int64_t)i, p->name, p->inferences, p->count, p->bytes,
            p->freed_count, p->freed_bytes, p->live_bytes, p->peak_live_bytes);
    }
    return code;
}

static int put_classes(sqlite3 *db, int64_t trial, const struct assay__allocations *a)
{
    int code = SQLITE_OK;
    for (size_t i = 0; i < a->class_count && code == SQLITE_OK; i++) {
        const struct assay__allocation_class *c = &a->classes[i];
        code = assay__sql_put_once(
            db,
            "INSERT INTO allocation_classes(trial,position,phase,low_bytes,high_bytes,count,bytes)"
            " VALUES(?,?,?,?,?,?,?)",
            "iitdddd", trial, (int64_t)i, c->phase, c->low_bytes,
            isinf(c->high_bytes) ? (double)NAN : c->high_bytes, c->count, c->bytes);
    }
    return code;
}

static int put_sites(sqlite3 *db, int64_t trial, const struct assay__allocations *a)
{
    int code = SQLITE_OK;
    for (size_t i = 0; i < a->site_count && code == SQLITE_OK; i++) {
        const struct assay__allocation_site *s = &a->sites[i];
        code = assay__sql_put_once(
            db,
            "INSERT INTO allocation_sites(trial,position,phase,site,count,bytes,live_bytes)"
            " VALUES(?,?,?,?,?,?,?)",
            "iittddd", trial, (int64_t)i, s->phase, s->site, s->count, s->bytes, s->live_bytes);
    }
    return code;
}

/* Empties these tables of the trial. */
static int clear(sqlite3 *db, int64_t trial, const char *const *statements)
{
    int code = SQLITE_OK;
    for (; *statements && code == SQLITE_OK; statements++)
        code = assay__sql_put_once(db, *statements, "i", trial);
    return code;
}

int assay__put_allocations(sqlite3 *db, const struct assay__trial *t)
{
    static const char *const old[] = {"DELETE FROM allocations WHERE trial=?1",
                                      "DELETE FROM allocation_phases WHERE trial=?1",
                                      "DELETE FROM allocation_classes WHERE trial=?1",
                                      "DELETE FROM allocation_sites WHERE trial=?1", NULL};
    const struct assay__allocations *a = &t->allocations;
    int code = clear(db, t->id, old);
    if (code != SQLITE_OK || !a->reason) return code; /* not asked for */
    code = assay__sql_put_once(
        db,
        "INSERT INTO allocations(trial,reason,growth_bytes,growth_low_bytes,growth_high_bytes,"
        "heap_bytes,heap_used_bytes,slowdown) VALUES(?,?,?,?,?,?,?,?)",
        "itdddddd", (int64_t)t->id, a->reason, a->growth_bytes, a->growth_low, a->growth_high,
        a->heap_bytes, a->heap_used_bytes, a->slowdown);
    if (code == SQLITE_OK) code = put_phases(db, t->id, a);
    if (code == SQLITE_OK) code = put_classes(db, t->id, a);
    if (code == SQLITE_OK) code = put_sites(db, t->id, a);
    return code;
}

/* --- counters of layer classes ---------------------------------------------------------------- */

static int put_class(sqlite3 *db, const struct assay__trial *t, size_t position)
{
    const struct assay__class_counters *c = &t->class_counters[position];
    int code = assay__sql_put_once(
        db, "INSERT INTO class_counters(trial,position,op,layers,time_ns) VALUES(?,?,?,?,?)",
        "iitnd", (int64_t)t->id, (int64_t)position, c->op, c->layers, c->time_ns);
    for (size_t i = 0; c->values && i < t->counter_count && code == SQLITE_OK; i++)
        code = assay__sql_put_once(
            db, "INSERT INTO class_counter_values(trial,class,counter,value) VALUES(?,?,?,?)",
            "iiid", (int64_t)t->id, (int64_t)position, (int64_t)i, c->values[i]);
    return code;
}

int assay__put_class_counters(sqlite3 *db, const struct assay__trial *t)
{
    static const char *const old[] = {"DELETE FROM class_counter_info WHERE trial=?1",
                                      "DELETE FROM counter_names WHERE trial=?1",
                                      "DELETE FROM class_counters WHERE trial=?1",
                                      "DELETE FROM class_counter_values WHERE trial=?1", NULL};
    int code = clear(db, t->id, old);
    bool asked = t->counter_names != NULL;
    bool said = t->class_counter_note && t->class_counter_note[0];
    if (code != SQLITE_OK || (!asked && !said)) return code;
    code = assay__sql_put_once(
        db, "INSERT INTO class_counter_info(trial,counters,note) VALUES(?,?,?)", "int",
        (int64_t)t->id, asked ? (int64_t)t->counter_count : -1, t->class_counter_note);
    for (size_t i = 0; asked && i < t->counter_count && code == SQLITE_OK; i++)
        code = assay__sql_put_once(db,
                                   "INSERT INTO counter_names(trial,position,name) VALUES(?,?,?)",
                                   "iis", (int64_t)t->id, (int64_t)i, t->counter_names[i]);
    for (size_t i = 0; asked && i < t->class_counter_count && code == SQLITE_OK; i++)
        code = put_class(db, t, i);
    return code;
}

/* --- ceilings --------------------------------------------------------------------------------- */

int assay__put_ceilings(sqlite3 *db, const struct assay_profile *p)
{
    int code = assay__sql_exec(db, "DELETE FROM ceilings WHERE profile=1");
    for (size_t i = 0; i < p->ceiling_count && code == SQLITE_OK; i++) {
        const struct assay__ceiling_info *c = &p->ceilings[i];
        code = assay__sql_put_once(
            db,
            "INSERT INTO ceilings(profile,position,device,name,value,unit,low,high,source,note,"
            "measured_at) VALUES(1,?,?,?,?,?,?,?,?,?,?)",
            "ittdtddttt", (int64_t)i, c->device, c->name, c->value, c->unit, c->low, c->high,
            c->source, c->note, c->measured_at);
    }
    return code;
}
