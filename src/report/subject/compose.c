/* compose.c - the report of a profile: its subjects in their order. What the command was for comes
 * first; of several trials, the most interesting one is shown in full, the others are folded. */
#include "report/subject/subjects.h"

#include "report/json/json_parts.h"

#include <string.h>

enum { TRIALS_MOST = 24 }; /* shown besides the main one; CSV and JSON have all */

#define ROW(name, tables) &assay__subject_##name,
static const struct assay__subject *const subjects[] = {ASSAY__SUBJECTS(ROW)};
#undef ROW
#define SUBJECT_COUNT (sizeof subjects / sizeof subjects[0])

bool assay__detail_is_known(const char *detail)
{
    return !detail || !*detail || strcmp(detail, "basic") == 0 || strcmp(detail, "detailed") == 0;
}

static const struct assay__column *known_table(const char *name, size_t *count)
{
    for (size_t i = 0; i < SUBJECT_COUNT; i++)
        for (size_t k = 0; k < ASSAY__SUBJECT_TABLES && subjects[i]->tables[k].name; k++)
            if (strcmp(subjects[i]->tables[k].name, name) == 0) {
                *count = subjects[i]->tables[k].count;
                return subjects[i]->tables[k].columns;
            }
    return NULL;
}

/* What the command was for: the other subjects are details, few of which are shown in the
 * terminal. */
static const struct {
    enum assay__profile_kind kind;
    const char *subjects[6];
} focus[] = {
    {ASSAY__PROFILE_COMPARE, {"summary", "findings", "comparison", "changes", "environment"}},
    {ASSAY__PROFILE_SWEEP, {"summary", "findings", "sweep", "environment"}},
    {ASSAY__PROFILE_TUNE, {"summary", "findings", "tune", "environment"}},
    {ASSAY__PROFILE_BENCH, {"summary", "findings", "bench", "environment"}},
    {ASSAY__PROFILE_POWER, {"summary", "power", "stability", "unavailable", "environment"}},
    {ASSAY__PROFILE_MEMORY,
     {"summary", "memory", "allocations", "stability", "unavailable", "environment"}},
    {ASSAY__PROFILE_COUNTERS, {"summary", "counters", "stability", "unavailable", "environment"}},
};

static bool is_detail(const struct assay_profile *profile, const char *id)
{
    for (size_t i = 0; i < sizeof focus / sizeof focus[0]; i++) {
        if (profile->kind != focus[i].kind) continue;
        /* what is only derived from the numbers of one of several trials */
        if (strcmp(id, "findings") == 0 && !profile->finding_count) return true;
        for (size_t k = 0; k < 6 && focus[i].subjects[k]; k++)
            if (strcmp(focus[i].subjects[k], id) == 0) return false;
        return true;
    }
    return false;
}

void assay__add_subject(struct assay__doc *doc, const char *id, const struct assay__trial *trial)
{
    for (size_t i = 0; i < SUBJECT_COUNT; i++)
        if (strcmp(subjects[i]->id, id) == 0) subjects[i]->build(doc, trial);
}

static const char *title_of(struct assay__doc *doc, const struct assay__trial *trial)
{
    return assay__doc_printf(doc, "Trial %d: %s", trial->id,
                             *trial->label ? trial->label : trial->target.device);
}

static void add_other_trials(struct assay__doc *doc, const struct assay__trial *shown)
{
    const struct assay_profile *profile = doc->study->profile;
    if (profile->trial_count < 2) return;
    assay__doc_section(doc, "trials", "Other trials", NULL,
                       ASSAY__TAB_EVIDENCE | ASSAY__SECTION_DETAIL);
    for (size_t i = 0, count = 0; i < profile->trial_count; i++) {
        if (&profile->trials[i] == shown) continue;
        if (count++ == TRIALS_MOST) {
            assay__doc_note(doc, "%zu more are in the JSON and CSV formats.",
                            profile->trial_count - 1 - TRIALS_MOST);
            doc->data = true;
        }
        const struct assay__trial *trial = &profile->trials[i];
        doc->prefix = assay__doc_printf(doc, "t%d-", trial->id);
        doc->of_trial = trial->id;
        assay__doc_fold(doc, "trial", title_of(doc, trial), assay__trial_state_name(trial->state));
        if (trial->state != ASSAY__TRIAL_OK && trial->reason)
            assay__doc_say(doc, ASSAY__TONE_ALERT, trial->reason);
        assay__add_options(doc, trial);
        for (size_t k = 0; k < SUBJECT_COUNT; k++)
            if (subjects[k]->scope == ASSAY__OF_TRIAL) subjects[k]->build(doc, trial);
        assay__doc_end(doc);
        doc->prefix = "";
        doc->of_trial = 0;
    }
    doc->data = false;
    assay__doc_end(doc);
}

/* Whether it is the first trial on its device. */
static bool is_first_on(const struct assay_profile *profile, size_t trial)
{
    for (size_t i = 0; i < trial; i++)
        if (strcmp(profile->trials[i].target.device, profile->trials[trial].target.device) == 0)
            return false;
    return true;
}

/* " on cpu and cuda:0", " on cpu, cuda:0 and 2 more devices"; for several models only if they ran
 * on several devices. */
static void put_devices(struct assay__buf *out, const struct assay_profile *profile)
{
    enum { NAMED = 3 };
    size_t count = 0, put = 0;
    for (size_t i = 0; i < profile->trial_count; i++)
        count += is_first_on(profile, i);
    if (count < 2 && profile->trial_count > 1 && profile->kind != ASSAY__PROFILE_BENCH &&
        assay__trial_of_model(profile, 1))
        return;
    for (size_t i = 0; i < profile->trial_count && put < NAMED; i++) {
        bool last = put + 1 == count, more = put + 1 == NAMED && count > NAMED;
        if (!is_first_on(profile, i)) continue;
        assay__buf_puts(out, !put ? " on " : last ? " and " : ", ");
        assay__buf_puts(out, profile->trials[i].target.device);
        if (more) assay__buf_printf(out, " and %zu more devices", count - NAMED);
        put++;
    }
}

static void add_item(struct assay__buf *out, const char *before, const char *text)
{
    if (text && *text) assay__buf_printf(out, "%s%s%s", out->length ? " · " : "", before, text);
}

/* "CPU, 2 cores, AMD EPYC", "cuda:0, NVIDIA H200, host AMD EPYC": what it ran on. */
static void add_device(struct assay__buf *out, const struct assay_profile *profile,
                       const struct assay__trial *trial)
{
    const struct assay__target *target = &trial->target;
    const struct assay__environment *e = &profile->environment;
    const char *card = assay__trial_option(trial, "hardware");
    bool cpu = strcmp(assay__device_bare(target->device), "cpu") == 0;
    add_item(out, "", cpu && !*target->build ? "CPU" : target->device);
    if (card && *card) assay__buf_printf(out, ", %s", card);
    if (cpu && e->cores > 0)
        assay__buf_printf(out, ", %d core%s", e->cores, assay__plural(e->cores));
    if (e->cpu_model && *e->cpu_model)
        assay__buf_printf(out, ", %s%s", cpu ? "" : "host ", e->cpu_model);
}

/* "CPU, 2 cores, AMD EPYC · ONNX Runtime 1.31.1 · float32 · batch 1" */
static const char *subtitle(struct assay__doc *doc, const struct assay__trial *trial)
{
    const struct assay_profile *profile = doc->study->profile;
    struct assay__buf out = {0};
    if (trial) {
        const struct assay__target *target = &trial->target;
        const char *type = assay__study_roofline(doc->study, trial)->type;
        add_device(&out, profile, trial);
        add_item(&out, "", strcmp(target->engine, "ort") == 0 ? "ONNX Runtime" : target->engine);
        if (target->engine_version && *target->engine_version)
            assay__buf_printf(&out, " %s", target->engine_version);
        add_item(&out, "", *target->precision ? target->precision : type);
        if (trial->batch >= 0)
            assay__buf_printf(&out, "%sbatch %lld", out.length ? " · " : "",
                              (long long)trial->batch);
        if (!target->threads_default)
            add_item(&out, "threads ", assay__trial_option(trial, "threads"));
    }
    if (profile->trial_count > 1)
        assay__buf_printf(&out, "%s%zu trials", out.length ? " · " : "", profile->trial_count);
    return assay__doc_take(doc, &out);
}

/* The basic or the detailed report. */
static void add_reviews(struct assay__doc *doc, const struct assay__trial *trial, bool detailed)
{
    const struct assay_profile *profile = doc->study->profile;
    bool one = profile->trial_count == 1;
    assay__subject_summary.build(doc, trial);
    for (size_t i = 0; i < profile->trial_count; i++) {
        const struct assay__trial *t = &profile->trials[i];
        if (!assay__trial_metric(t, "latency.p50")) continue;
        if (!one) doc->prefix = assay__doc_printf(doc, "t%d-", t->id);
        assay__doc_section(doc, "review", title_of(doc, t), NULL,
                           ASSAY__TAB_OVERVIEW | (one ? ASSAY__SECTION_QUIET : 0));
        assay__add_review(doc, t, detailed);
        assay__doc_end(doc);
        doc->unfolded = true;
        if (detailed) assay__subject_stability.build(doc, t);
        doc->unfolded = false;
    }
    doc->prefix = "";
    doc->unfolded = true;
    if (detailed) assay__subject_environment.build(doc, trial);
    doc->unfolded = false;
}

/* One screen of a run, and what else was requested: subjects that appear whenever they have content
 * (watch ""), or if the run watched them. */
static void add_brief(struct assay__doc *doc, const struct assay__trial *trial, int top)
{
    static const struct {
        const char *id, *watch;
    } asked[] = {{"requirements", ""}, {"generation", ""},        {"power", "power"},
                 {"memory", "memory"}, {"allocations", "memory"}, {"counters", "counters"}};
    const char *watch = assay__trial_option(trial, "watch");
    assay__add_brief(doc, trial, top);
    for (size_t i = 0; i < SUBJECT_COUNT; i++)
        for (size_t k = 0; k < sizeof asked / sizeof asked[0]; k++)
            if (strcmp(subjects[i]->id, asked[k].id) == 0 &&
                strstr(watch ? watch : "", asked[k].watch))
                subjects[i]->build(doc, trial);
}

/* A run is shown on one screen unless everything is requested. */
static bool is_brief(const struct assay_profile *profile, const struct assay__trial *trial,
                     const struct assay_report_options *options)
{
    const char *format = options->format ? options->format : "text";
    return !options->full && trial && profile->kind == ASSAY__PROFILE_RUN &&
           profile->trial_count == 1 && !(options->detail && *options->detail) &&
           (strcmp(format, "text") == 0 || strcmp(format, "markdown") == 0);
}

int assay__report_document(struct assay__study *study, const struct assay_report_options *options,
                           struct assay__doc **made, struct assay_error *error)
{
    const struct assay__trial *trial = assay__study_main_trial(study);
    int code = assay__doc_new(made);
    struct assay__doc *doc = *made;
    if (code) return assay_error_set(error, code, "out of memory while writing the report");
    doc->study = study;
    const char *format = options->format ? options->format : "";
    /* Programs read bare reasons; reasons of schema 1 name the options themselves. */
    if (strcmp(format, "csv") != 0 && study->profile->schema > 1) doc->hint = options->hint;
    const struct assay_profile *profile = doc->study->profile;
    struct assay__buf names = {0}, heading = {0};
    assay__print_model_names(&names, profile);
    assay__print_model_names(&heading, profile);
    bool several = profile->kind == ASSAY__PROFILE_COMPARE || profile->kind == ASSAY__PROFILE_BENCH;
    if (several) put_devices(&heading, profile);
    doc->heading = assay__doc_take(doc, &heading);
    if (profile->trial_count == 1 || several) put_devices(&names, profile);
    assay__doc_name(doc, profile->command, assay__doc_take(doc, &names), profile->assay_version);
    doc->subtitle = subtitle(doc, trial);
    doc->trial = trial ? trial->id : 0;
    doc->marks = trial != NULL;
    doc->table = profile->kind == ASSAY__PROFILE_COMPARE ? "comparison"
                 : profile->kind == ASSAY__PROFILE_BENCH ? "benchmarks"
                                                         : "metrics";
    doc->known_table = known_table;
    doc->known_tables = ASSAY__TABLE_NAMES;
    bool brief = is_brief(profile, trial, options);
    bool review = options->detail && *options->detail && strcmp(format, "csv") != 0;
    if (brief) add_brief(doc, trial, options->top);
    if (review) add_reviews(doc, trial, strcmp(options->detail, "detailed") == 0);
    for (size_t i = 0; !review && !brief && i < SUBJECT_COUNT; i++) {
        doc->detail = is_detail(study->profile, subjects[i]->id);
        doc->of_trial = trial && subjects[i]->scope == ASSAY__OF_TRIAL ? trial->id : 0;
        if (trial || subjects[i]->scope == ASSAY__OF_PROFILE) subjects[i]->build(doc, trial);
    }
    doc->detail = false;
    doc->of_trial = 0;
    if (!review && !brief && trial) add_other_trials(doc, trial);
    if (strcmp(format, "html") == 0) code = assay__attach_data(doc, study, options, error);
    if (!code && (doc->failed || study->failed))
        code = assay_error_set(error, ASSAY_ENOMEM, "out of memory while writing the report");
    if (!code) return 0;
    assay__doc_free(doc);
    *made = NULL;
    return code;
}
