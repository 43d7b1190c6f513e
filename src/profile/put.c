/* put.c - the rows of a profile. Each public function replaces, in one transaction, what stood in
 * the file for its subject. Functions that write rows return SQLite's code; the transaction turns
 * it into an error line. Lists are deleted and written anew: they are short (samples are not among
 * them). */
#include "profile/put.h"

#include <math.h>

/* A list of texts as rows of `notes`. */
static int put_notes(sqlite3 *db, int64_t trial, const char *kind, const char *const *texts,
                     size_t count)
{
    int code = assay__sql_put_once(db, "DELETE FROM notes WHERE profile=1 AND trial=?1 AND kind=?2",
                                   "is", trial, kind);
    for (size_t i = 0; i < count && code == SQLITE_OK; i++)
        code = assay__sql_put_once(
            db, "INSERT INTO notes(profile,trial,kind,position,text) VALUES(1,?,?,?,?)", "isis",
            trial, kind, (int64_t)i, texts[i]);
    return code;
}

static int put_dims(sqlite3_stmt *statement, int64_t trial, const char *role, size_t position,
                    const struct assay__tensor_info *tensor)
{
    int code = SQLITE_OK;
    for (int axis = 0; tensor->dims && axis < tensor->rank && code == SQLITE_OK; axis++)
        code = assay__sql_put(statement, "isiint", trial, role, (int64_t)position, (int64_t)axis,
                              tensor->dims[axis], tensor->symbols ? tensor->symbols[axis] : NULL);
    return code;
}

static int put_tensors(sqlite3 *db, int64_t trial, const char *role,
                       const struct assay__tensor_info *tensors, size_t count)
{
    sqlite3_stmt *head = NULL, *dims = NULL;
    int code = assay__sql_put_once(
        db, "DELETE FROM tensors WHERE profile=1 AND trial=?1 AND role=?2", "is", trial, role);
    if (code == SQLITE_OK)
        code = assay__sql_put_once(db, "DELETE FROM dims WHERE profile=1 AND trial=?1 AND role=?2",
                                   "is", trial, role);
    if (code == SQLITE_OK)
        code = sqlite3_prepare_v2(
            db,
            "INSERT INTO tensors(profile,trial,role,position,name,dtype,rank,fill)"
            " VALUES(1,?,?,?,?,?,?,?)",
            -1, &head, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_prepare_v2(db,
                                  "INSERT INTO dims(profile,trial,role,tensor,axis,size,symbol)"
                                  " VALUES(1,?,?,?,?,?,?)",
                                  -1, &dims, NULL);
    for (size_t i = 0; i < count && code == SQLITE_OK; i++) {
        const struct assay__tensor_info *tensor = &tensors[i];
        code = assay__sql_put(head, "isittnt", trial, role, (int64_t)i, tensor->name, tensor->dtype,
                              (int64_t)tensor->rank, tensor->fill);
        if (code == SQLITE_OK) code = put_dims(dims, trial, role, i, tensor);
    }
    sqlite3_finalize(head);
    sqlite3_finalize(dims);
    return code;
}

static int put_metrics(sqlite3 *db, int64_t trial, int64_t launch, const struct assay_metrics *set)
{
    sqlite3_stmt *statement = NULL;
    int code = assay__sql_put_once(db, "DELETE FROM metrics WHERE trial=?1 AND launch=?2", "ii",
                                   trial, launch);
    if (code == SQLITE_OK)
        code = sqlite3_prepare_v2(
            db,
            "INSERT INTO metrics(trial,launch,position,name,value,unit,state,source,note)"
            " VALUES(?,?,?,?,?,?,?,?,?)",
            -1, &statement, NULL);
    size_t count = set ? assay_metrics_count(set) : 0;
    for (size_t i = 0; i < count && code == SQLITE_OK; i++) {
        const struct assay_metric *metric = assay_metrics_at(set, i);
        code = assay__sql_put(statement, "iiisdtstt", trial, launch, (int64_t)i, metric->name,
                              metric->value, metric->unit, assay_state_name(metric->state),
                              metric->source, metric->note);
    }
    sqlite3_finalize(statement);
    return code;
}

/* --- the profile itself ----------------------------------------------------------------------- */

static int put_environment(sqlite3 *db, const struct assay__environment *e)
{
    int code = assay__sql_put_once(
        db,
        "INSERT OR REPLACE INTO environments(profile,host,os,kernel,architecture,cpu_model,"
        "virtualized,governor,simd,container,packages,cores,threads,memory_bytes,cpu_max_hz,"
        "l1d_bytes,l2_bytes,l3_bytes)"
        " VALUES(1,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        "tttttttttzzzddddd", e->host, e->os, e->kernel, e->architecture, e->cpu_model,
        e->virtualized, e->governor, e->simd, e->container, e->packages, e->cores, e->threads,
        e->memory_bytes, e->cpu_max_hz, e->l1d_bytes, e->l2_bytes, e->l3_bytes);
    if (code == SQLITE_OK)
        code = put_notes(db, 0, "disturbance", e->disturbances, e->disturbance_count);
    if (code == SQLITE_OK) code = put_notes(db, 0, "unknown", e->unknown, e->unknown_count);
    return code;
}

static int put_operators(sqlite3 *db, const struct assay__model_info *model)
{
    int code = assay__sql_exec(db, "DELETE FROM operators WHERE profile=1");
    for (size_t i = 0; i < model->operator_count && code == SQLITE_OK; i++) {
        const struct assay__operator_info *op = &model->operators[i];
        code = assay__sql_put_once(
            db,
            "INSERT INTO operators(profile,position,op,count,flops,macs,bytes)"
            " VALUES(1,?,?,?,?,?,?)",
            "itnddd", (int64_t)i, op->op, op->count, op->flops, op->macs, op->bytes);
    }
    return code;
}

static int put_cell(sqlite3 *db, const struct assay__cell_info *cell)
{
    int code = assay__sql_exec(db, "DELETE FROM cells WHERE profile=1");
    if (code == SQLITE_OK) code = assay__sql_exec(db, "DELETE FROM neuron_groups WHERE profile=1");
    bool said = (cell->kind && cell->kind[0]) || (cell->fault && cell->fault[0]);
    if (code != SQLITE_OK || !said) return code;
    code = assay__sql_put_once(db,
                               "INSERT INTO cells(profile,kind,form,steps,fault) VALUES(1,?,?,?,?)",
                               "ttnt", cell->kind, cell->form, cell->steps, cell->fault);
    for (size_t i = 0; i < cell->group_count && code == SQLITE_OK; i++) {
        const struct assay__cell_group *group = &cell->groups[i];
        code = assay__sql_put_once(
            db,
            "INSERT INTO neuron_groups(profile,position,name,neurons,flops,flops_needed,state)"
            " VALUES(1,?,?,?,?,?,?)",
            "itndds", (int64_t)i, group->name, group->neurons, group->flops, group->flops_needed,
            assay_state_name(group->state));
    }
    return code;
}

static int put_model(sqlite3 *db, const struct assay__model_info *m)
{
    int code = assay__sql_put_once(
        db,
        "INSERT OR REPLACE INTO models(profile,name,path,format,fingerprint,sha256,parameters,"
        "weight_bytes,node_count,ir_version,opset,producer) VALUES(1,?,?,?,?,?,?,?,?,?,?,?)",
        "tttttnnnntt", m->name, m->path, m->format, m->fingerprint, m->sha256, m->parameters,
        m->weight_bytes, m->node_count, (int64_t)m->ir_version, m->opset, m->producer);
    if (code == SQLITE_OK) code = put_operators(db, m);
    if (code == SQLITE_OK) code = put_cell(db, &m->cell);
    if (code == SQLITE_OK) code = put_tensors(db, 0, "input", m->inputs, m->input_count);
    if (code == SQLITE_OK) code = put_tensors(db, 0, "output", m->outputs, m->output_count);
    return code;
}

int assay__put_profile(sqlite3 *db, const struct assay_profile *p)
{
    /* complete stays 0 here: only a finished store is complete. */
    int code = assay__sql_put_once(
        db,
        "INSERT OR REPLACE INTO profiles(id,schema,assay_version,command,command_line,created,"
        "complete,interrupted) VALUES(1,?,?,?,?,?,0,?)",
        "itttti", (int64_t)ASSAY_SCHEMA_VERSION, p->assay_version, p->command, p->command_line,
        p->created, (int64_t)p->interrupted);
    if (code == SQLITE_OK) code = put_environment(db, &p->environment);
    if (code == SQLITE_OK) code = put_model(db, p->models[0]);
    if (code == SQLITE_OK) code = assay__put_ceilings(db, p);
    return code;
}

/* --- a trial ---------------------------------------------------------------------------------- */

static int put_options(sqlite3 *db, int64_t trial, const struct assay__pair *options, size_t count)
{
    int code = assay__sql_put_once(db, "DELETE FROM options WHERE trial=?1", "i", trial);
    for (size_t i = 0; i < count && code == SQLITE_OK; i++)
        code = assay__sql_put_once(db,
                                   "INSERT INTO options(trial,position,key,value) VALUES(?,?,?,?)",
                                   "iiss", trial, (int64_t)i, options[i].key, options[i].value);
    return code;
}

static int put_trial_row(sqlite3 *db, const struct assay__trial *t)
{
    const struct assay__layers *l = &t->layers;
    return assay__sql_put_once(
        db,
        "INSERT OR REPLACE INTO trials(id,profile,state,reason,engine,engine_version,"
        "engine_library,device,batch,stability,more_iterations,layers_method,layers_reason,"
        "engine_ns,unattributed_ns,layers_scale,"
        "layers_slowdown,layers_spread,layers_contention,layers_sessions,layers_discarded)"
        " VALUES(?,1,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        "istttttntnttddddddii", (int64_t)t->id, assay__trial_state_name(t->state), t->reason,
        t->target.engine, t->target.engine_version, t->target.engine_library, t->target.device,
        t->batch, t->stability.verdict, t->stability.more_iterations, l->method, l->reason,
        l->engine_ns, l->unattributed_ns, l->scale_factor, l->slowdown, l->spread, l->contention,
        (int64_t)l->sessions, (int64_t)l->discarded);
}

int assay__put_trial(sqlite3 *db, const struct assay__trial *t)
{
    int code = put_trial_row(db, t);
    if (code == SQLITE_OK) code = put_options(db, t->id, t->options, t->option_count);
    if (code == SQLITE_OK) code = put_tensors(db, t->id, "input", t->inputs, t->input_count);
    if (code == SQLITE_OK) code = put_notes(db, t->id, "note", t->notes, t->note_count);
    if (code == SQLITE_OK)
        code = put_notes(db, t->id, "stability", t->stability.reasons, t->stability.reason_count);
    if (code == SQLITE_OK) code = put_metrics(db, t->id, 0, t->metrics);
    if (code == SQLITE_OK) code = assay__put_layers(db, t);
    if (code == SQLITE_OK) code = assay__put_peak(db, t);
    if (code == SQLITE_OK) code = assay__put_series(db, t);
    if (code == SQLITE_OK) code = assay__put_spans(db, t);
    if (code == SQLITE_OK) code = assay__put_allocations(db, t);
    if (code == SQLITE_OK) code = assay__put_class_counters(db, t);
    return code;
}

int assay__put_launch(sqlite3 *db, int trial, const struct assay__launch *l)
{
    int code = assay__sql_put_once(
        db,
        "INSERT OR REPLACE INTO launches(trial,id,state,reason,streams,warmup,wall_ns,p50_ns,"
        "log_tail) VALUES(?,?,?,?,?,?,?,?,?)",
        "iistiiddt", (int64_t)trial, (int64_t)l->id, assay__trial_state_name(l->state), l->reason,
        (int64_t)l->streams, (int64_t)l->warmup, l->wall_ns, l->p50_ns, l->log_tail);
    if (code == SQLITE_OK) code = put_metrics(db, trial, l->id, l->metrics);
    return code;
}

/* What a trial of the change gave: unknown where none was made. */
static double tried(const struct assay__finding *f, double value)
{
    return isfinite(f->verified_gain) ? value : NAN;
}

int assay__put_findings(sqlite3 *db, const struct assay_profile *p)
{
    int code = assay__sql_exec(
        db, "DELETE FROM findings WHERE profile=1; DELETE FROM evidence WHERE profile=1");
    for (size_t i = 0; i < p->finding_count && code == SQLITE_OK; i++) {
        const struct assay__finding *f = &p->findings[i];
        code = assay__sql_put_once(
            db,
            "INSERT INTO findings(profile,position,id,severity,title,advice,"
            "expected_gain,verified_gain,effort,state,reason,energy_saving,"
            "verified_low,verified_high,verified_smallest,verified_energy,"
            "verified_energy_low,verified_energy_high,"
            "verified_drift,verified_of,tried,drift_note) "
            "VALUES(1,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            "ittttddtttddddddddttt", (int64_t)i, f->id, f->severity, f->title, f->advice,
            f->expected_gain, f->verified_gain, f->effort, f->state, f->reason, f->energy_saving,
            tried(f, f->verified_low), tried(f, f->verified_high), tried(f, f->verified_smallest),
            tried(f, f->verified_energy), tried(f, f->verified_energy_low),
            tried(f, f->verified_energy_high), tried(f, f->verified_drift), f->verified_of,
            f->tried, f->drift_note);
        for (size_t e = 0; e < f->evidence_count && code == SQLITE_OK; e++)
            code = assay__sql_put_once(
                db, "INSERT INTO evidence(profile,finding,position,text) VALUES(1,?,?,?)", "iis",
                (int64_t)i, (int64_t)e, f->evidence[e]);
    }
    return code;
}
