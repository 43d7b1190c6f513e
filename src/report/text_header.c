/* text_header.c - the head of the text report: what was measured, with which program, what must be
 * said first, the model (of a comparison of models all of them), the machine, and when. */
#include "report/page.h"

#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A comparison of models names its trials by their models, one of devices by their devices. */
static bool has_several_models(const struct assay_profile *profile)
{
    return profile->trial_count > 1 && profile->kind == ASSAY__PROFILE_COMPARE &&
           *profile->trials[0].label &&
           strcmp(profile->trials[0].label, profile->trials[0].target.device) != 0;
}

/* The others of a comparison of models, each in a row of its own. */
static void put_other_models(struct assay__page *page, const struct assay_profile *profile)
{
    enum { SHOWN = 20 };
    const struct assay__trial *trial;
    for (size_t i = 0; i < SHOWN && (trial = assay__trial_of_model(profile, i + 1)); i++) {
        struct assay__buf items = {0}, number = {0};
        const struct assay_metric *weights = assay__trial_metric(trial, "memory.model");
        int64_t parameters = trial->model->parameters;
        assay__page_item(&items, "%s", trial->model->name);
        if (parameters >= 0) {
            assay__render_short_count(&number, parameters);
            assay__page_item(&items, "%s parameter%s", number.data ? number.data : "",
                             parameters == 1 ? "" : "s");
            assay__buf_clear(&number);
        }
        assay__render_metric(&number, weights);
        if (weights) assay__page_item(&items, "%s of weights", number.data ? number.data : "");
        assay__page_row(page, "model", items.data ? items.data : "");
        if (items.failed || number.failed) page->out->failed = true;
        assay__buf_free(&items);
        assay__buf_free(&number);
    }
}

static void put_model_row(struct assay__page *page, const struct assay_profile *profile)
{
    const struct assay__model_info *m = profile->models[0];
    struct assay__buf items = {0}, number = {0};
    char scaled[64];
    bool others = assay__trial_of_model(profile, 1) != NULL;
    if (others && m->name) assay__page_item(&items, "%s", m->name);
    if (m->path && *m->path && strcmp(m->path, m->name) != 0) {
        size_t room = (size_t)page->columns - 16, width = assay__text_width(m->path);
        assay__text_fit(&number, m->path, width < room ? width : room, 1);
        assay__page_item(&items, "%s", number.data ? number.data : "");
        assay__buf_clear(&number);
    }
    if (m->opset && *m->opset) assay__page_item(&items, "%s opset %s", m->format, m->opset);
    if (m->parameters >= 0) {
        assay__render_short_count(&number, m->parameters);
        assay__page_item(&items, "%s parameter%s", number.data ? number.data : "",
                         m->parameters == 1 ? "" : "s");
    }
    if (m->weight_bytes >= 0) {
        assay__text_scaled(scaled, sizeof scaled, (double)m->weight_bytes, "B");
        assay__page_item(&items, "%s of weights", scaled);
    }
    if (m->node_count >= 0)
        assay__page_item(&items, "%" PRId64 " node%s", m->node_count,
                         m->node_count == 1 ? "" : "s");
    if (!others && has_several_models(profile))
        assay__page_item(&items, "the first of %zu", profile->trial_count);
    assay__page_row(page, "model", items.data ? items.data : "—");
    assay__buf_free(&items);
    assay__buf_free(&number);
}

static void put_machine_row(struct assay__page *page, const struct assay__environment *e)
{
    struct assay__buf items = {0};
    char scaled[64];
    if (e->cpu_model && *e->cpu_model) assay__page_item(&items, "%s", e->cpu_model);
    if (e->cores > 0) assay__page_item(&items, "%d core%s", e->cores, e->cores > 1 ? "s" : "");
    if (e->threads > 0 && e->threads != e->cores)
        assay__page_item(&items, "%d hardware thread%s", e->threads, e->threads == 1 ? "" : "s");
    if (isfinite(e->memory_bytes)) {
        assay__text_scaled(scaled, sizeof scaled, e->memory_bytes, "B");
        assay__page_item(&items, "%s", scaled);
    }
    if (e->virtualized && *e->virtualized && strcmp(e->virtualized, "none") != 0)
        assay__page_item(&items, "virtual machine (%s)", e->virtualized);
    if (e->container && *e->container) assay__page_item(&items, "container (%s)", e->container);
    if (e->os && *e->os) assay__page_item(&items, "%s", e->os);
    assay__page_row(page, "machine", items.data ? items.data : "—");
    assay__buf_free(&items);
}

#define NOTES_MOST 3 /* trials that lost a launch, each with its line; of more only how many */

/* Trials of a joint report that lost a launch and are judged by the others. */
static void put_lost(struct assay__page *page, const struct assay_profile *profile, size_t lost)
{
    struct assay__buf note = {0};
    if (lost > NOTES_MOST) {
        assay__buf_printf(&note,
                          "NOTE: %zu of %zu trials lost a launch: judged by those that are left; "
                          "the report says which.",
                          lost, profile->trial_count);
        assay__page_wrap(page, ASSAY__STYLE_WARN, "", note.data ? note.data : "");
    }
    for (size_t i = 0; i < 50 && lost <= NOTES_MOST && assay__render_alert(&note, profile, i);
         i++) {
        if (note.data && strncmp(note.data, "NOTE", 4) == 0)
            assay__page_wrap(page, ASSAY__STYLE_WARN, "", note.data);
        assay__buf_clear(&note);
    }
    assay__buf_free(&note);
}

/* Of a joint report the rows say why which trial failed: here is only how many. */
static void put_alerts(struct assay__page *page, const struct assay_profile *profile)
{
    struct assay__buf alert = {0};
    bool joint = assay__kind_info(profile->kind)->joint;
    size_t failed = 0, lost = 0;
    for (size_t i = 0; i < profile->trial_count; i++) {
        lost += assay__render_stands(profile, &profile->trials[i]);
        failed += profile->trials[i].state == ASSAY__TRIAL_FAILED ||
                  profile->trials[i].state == ASSAY__TRIAL_SKIPPED;
    }
    failed -= lost;
    for (size_t i = 0; i < 50 && assay__render_alert(&alert, profile, i); i++) {
        const char *text = alert.data ? alert.data : "";
        bool of_trial = strncmp(text, "FAILED", 6) == 0 || strncmp(text, "SKIPPED", 7) == 0 ||
                        strncmp(text, "NOTE", 4) == 0;
        if (!joint || !of_trial) assay__page_wrap(page, ASSAY__STYLE_WARN, "", text);
        assay__buf_clear(&alert);
        if (joint && of_trial) break; /* those of trials come last */
    }
    if (joint && failed) {
        assay__buf_printf(
            &alert, "FAILED: %zu of %zu trials could not run to the end%s; the report says why.",
            failed, profile->trial_count,
            profile->kind == ASSAY__PROFILE_TUNE ? " or lost a launch" : "");
        assay__page_wrap(page, ASSAY__STYLE_WARN, "", alert.data ? alert.data : "");
    }
    if (joint && lost) put_lost(page, profile, lost);
    assay__buf_free(&alert);
}

void assay__page_header(struct assay__page *page, const struct assay_profile *profile)
{
    struct assay__buf title = {0}, right = {0};
    assay__render_model_names(&title, profile);
    if (profile->trial_count == 1)
        assay__buf_printf(&title, " on %s", profile->trials[0].target.device);
    assay__buf_printf(&right, "assay %s", profile->assay_version);
    assay__page_title(page, title.data ? title.data : "", right.data ? right.data : "");
    assay__buf_free(&title);
    assay__buf_free(&right);
    put_alerts(page, profile);
    put_model_row(page, profile);
    put_other_models(page, profile);
    put_machine_row(page, &profile->environment);
    if (profile->created && *profile->created) assay__page_row(page, "when", profile->created);
}
