/* html_report.c - the HTML report: which sections, in which order, of which trial. */
#include "report/html_sections.h"

#include "judge/comparison.h"
#include "judge/sweep.h"
#include "judge/tune_report.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Of advise the findings are the answer: they stand first. */
static bool is_advice(const struct assay_profile *profile)
{
    return profile->kind == ASSAY__PROFILE_ADVISE;
}

static void advice(struct assay__html *page, const struct assay_profile *profile,
                   const struct assay__trial *trial)
{
    if (is_advice(profile)) assay__html_findings(page, profile, trial);
}

static void findings(struct assay__html *page, const struct assay_profile *profile,
                     const struct assay__trial *trial)
{
    if (!is_advice(profile)) assay__html_findings(page, profile, trial);
}

static const struct {
    assay__html_section_fn *write;
    bool of_trial; /* needs one */
} sections[] = {
    {assay__html_summary, false},
    {advice, false},
    {assay__html_comparison, true},
    {assay__html_sweep, true},
    {assay__html_tune, true},
    {assay__html_requirements, true},
    {assay__html_latency, true},
    {assay__html_layers, true},
    {assay__html_roofline, true},
    {assay__html_placement, true},
    {assay__html_memory, true},
    {assay__html_power, true},
    {findings, false},
    {assay__html_trials, true},
    {assay__html_environment, false},
    {assay__html_metrics, true},
    {assay__html_raw, false},
};

/* The trial that is recommended for latency (compare), or the best (sweep, tune); SIZE_MAX none. */
static size_t recommended(const struct assay_profile *profile)
{
    size_t trial = SIZE_MAX;
    struct assay__arena *arena = assay__arena_new();
    if (arena && profile->kind == ASSAY__PROFILE_COMPARE) {
        struct assay__comparison all;
        if (!assay__comparison(profile, arena, &all)) {
            size_t row = all.recommendations[ASSAY__FOR_LATENCY].row;
            if (row == SIZE_MAX) row = all.reference;
            if (row < all.count) trial = all.rows[row].trial;
        }
    } else if (arena && profile->kind == ASSAY__PROFILE_SWEEP) {
        struct assay__sweep sweep;
        if (!assay__sweep(profile, arena, &sweep) && sweep.best < sweep.count)
            trial = sweep.points[sweep.best].trial;
    } else if (arena && profile->kind == ASSAY__PROFILE_TUNE) {
        struct assay__tune_result tune;
        if (!assay__tune_result(profile, arena, &tune) && tune.best < tune.count)
            trial = tune.rows[tune.best].trial;
    }
    assay__arena_free(arena);
    return trial;
}

const struct assay__trial *assay__html_main_trial(const struct assay_profile *profile)
{
    if (!profile->trial_count) return NULL;
    size_t chosen = profile->trial_count > 1 ? recommended(profile) : SIZE_MAX;
    if (chosen < profile->trial_count) return &profile->trials[chosen];
    for (size_t i = 0; i < profile->trial_count; i++)
        if (assay__trial_metric(&profile->trials[i], "latency.p50")) return &profile->trials[i];
    return &profile->trials[0];
}

const char *assay__html_trial_label(const struct assay__trial *trial)
{
    const char *label = trial->label;
    if (*label) return label;
    return trial->target.device && *trial->target.device ? trial->target.device : "?";
}

static void item(struct assay__buf *out, const char *before, const char *text)
{
    if (!text || !*text) return;
    assay__buf_printf(out, "%s%s%s", out->length ? " · " : "", before, text);
}

/* "cpu · ONNX Runtime 1.31.1 · threads 2 · batch 1 · 2026-11-16T01:30:00Z" */
static void subtitle(struct assay__buf *out, const struct assay_profile *profile,
                     const struct assay__trial *trial)
{
    if (trial) {
        char batch[32];
        item(out, "", trial->target.device);
        item(out, "", trial->target.engine);
        if (trial->target.engine_version && *trial->target.engine_version)
            assay__buf_printf(out, " %s", trial->target.engine_version);
        item(out, "threads ", assay__trial_option(trial, "threads"));
        snprintf(batch, sizeof batch, "%lld", (long long)trial->batch);
        if (trial->batch >= 0) item(out, "batch ", batch);
    }
    if (profile->trial_count > 1)
        assay__buf_printf(out, "%s%zu trials", out->length ? " · " : "", profile->trial_count);
    item(out, "", profile->environment.cpu_model);
    item(out, "", profile->created);
}

int assay__report_html(const struct assay_profile *profile,
                       const struct assay_report_options *options, struct assay__buf *out,
                       struct assay_error *error)
{
    struct assay__html page = {.trial = -1};
    struct assay__buf line = {0}, kicker = {0}, footer = {0}, data = {0};
    const struct assay__trial *trial = assay__html_main_trial(profile);
    int code = assay__html_embed(profile, options, &data, error);
    for (size_t i = 0; !code && i < sizeof sections / sizeof sections[0]; i++)
        if (trial || !sections[i].of_trial) sections[i].write(&page, profile, trial);
    subtitle(&line, profile, trial);
    assay__buf_printf(&kicker, "assay %s", profile->command ? profile->command : "");
    assay__buf_printf(&footer,
                      "Made by assay %s. One file: nothing was fetched to show it, and nothing it "
                      "holds is sent anywhere.",
                      profile->assay_version ? profile->assay_version : "");
    bool named = profile->models[0]->name && *profile->models[0]->name;
    struct assay__html_head head = {.title = named ? profile->models[0]->name : "a profile",
                                    .kicker = kicker.data ? kicker.data : "",
                                    .subtitle = line.data ? line.data : "",
                                    .footer = footer.data ? footer.data : "",
                                    .data = &data};
    if (!code) assay__html_document(&page, &head, out);
    assay__buf_free(&page.body);
    assay__buf_free(&line);
    assay__buf_free(&kicker);
    assay__buf_free(&footer);
    assay__buf_free(&data);
    return code;
}
