/* markdown.c - the report as GitHub-flavoured Markdown. Text from the profile is escaped: HTML,
 * table pipes, the characters that start emphasis, links, code or headings, and "://" and "www." so
 * that a name does not become a link.
 *
 * A forge looks for mentions (@somebody) and references (#123, GH-123) in what Markdown has become:
 * there a backslash and an entity are gone already. Only what is code, or in another piece of text,
 * is left alone: the sign itself is made code, `@`somebody.
 *
 * What is decided stands first (comparison, sweep, tuning, findings); of several trials each is
 * folded away below it. */
#include "experiment/verify.h"
#include "base/text.h"
#include "report/html.h"
#include "report/ncp_groups.h"
#include "report/parts.h"
#include "report/render.h"
#include "report/sweep_words.h"
#include "report/tune_words.h"
#include "report/require.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Would a forge read a mention or a reference from this sign on? `start` is where the text
 * begins. */
static bool is_reference(const char *start, const char *c)
{
    unsigned char next = (unsigned char)c[1];
    if (*c == '@') return isalnum(next) || next == '_';
    if (*c == '#' || *c == '!') return isdigit(next) != 0; /* an issue, a merge request */
    if (*c == '%') return isalnum(next) != 0;              /* a milestone */
    if (*c != '-' || !isdigit(next) || c - start < 2 || strncasecmp(c - 2, "GH", 2) != 0)
        return false;
    return c - start == 2 || !isalnum((unsigned char)c[-3]);
}

void assay__markdown_text(struct assay__buf *out, const char *text)
{
    struct assay__buf safe = {0};
    assay__text_safe(&safe, text ? text : "");
    const char *start = safe.data ? safe.data : "";
    for (const char *c = start; *c; c++) {
        bool inside = c > start && isalnum((unsigned char)c[-1]) && isalnum((unsigned char)c[1]);
        if (*c == '&')
            assay__buf_puts(out, "&amp;");
        else if (*c == '<')
            assay__buf_puts(out, "&lt;");
        else if (*c == '>')
            assay__buf_puts(out, "&gt;");
        else if (*c == ':' && c[1] == '/' && c[2] == '/')
            assay__buf_puts(out, "&#58;");
        else if (*c == '.' && c - start >= 3 && strncasecmp(c - 3, "www", 3) == 0)
            assay__buf_puts(out, "&#46;");
        else if (is_reference(start, c))
            assay__buf_printf(out, "`%c`", *c);
        else if (strchr("\\`*[]|#~", *c) || (*c == '_' && !inside))
            assay__buf_printf(out, "\\%c", *c);
        else
            assay__buf_putc(out, *c);
    }
    if (safe.failed) out->failed = true;
    assay__buf_free(&safe);
}

const char *assay__markdown_mark(enum assay_state state)
{
    const char *mark = assay__render_mark(state);
    return *mark == '~' ? "\\~" : mark; /* two of them would strike out what lies between */
}

/* The same in HTML, where no Markdown is read: <code>@</code>somebody. */
static void put_summary(struct assay__buf *out, const char *text)
{
    struct assay__buf part = {0};
    for (const char *c = text; *c; c++) {
        if (!is_reference(text, c)) {
            assay__buf_putc(&part, *c);
            continue;
        }
        assay__html_text(out, part.data ? part.data : "");
        assay__buf_printf(out, "<code>%c</code>", *c);
        assay__buf_clear(&part);
    }
    assay__html_text(out, part.data ? part.data : "");
    if (part.failed) out->failed = true;
    assay__buf_free(&part);
}

static void put_cell(struct assay__buf *out, const char *text)
{
    assay__buf_puts(out, " ");
    assay__markdown_text(out, text);
    assay__buf_puts(out, " |");
}

static void put_fact(struct assay__buf *out, const char *label, const char *text)
{
    if (!text || !*text) return;
    assay__buf_printf(out, "| %s |", label);
    put_cell(out, text);
    assay__buf_putc(out, '\n');
}

static void put_list(struct assay__buf *out, const char *title, const char *const *items,
                     size_t count)
{
    if (!count) return;
    assay__buf_printf(out, "\n### %s\n\n", title);
    for (size_t i = 0; i < count; i++) {
        assay__buf_puts(out, "- ");
        assay__markdown_text(out, items[i]);
        assay__buf_putc(out, '\n');
    }
}

/* The others of a comparison of models; the facts above are the first's. */
static void put_other_models(struct assay__buf *out, const struct assay_profile *profile)
{
    const struct assay__trial *trial;
    for (size_t i = 0; (trial = assay__trial_of_model(profile, i + 1)); i++) {
        struct assay__buf text = {0};
        const struct assay_metric *weights = assay__trial_metric(trial, "memory.model");
        put_fact(out, "another model", trial->model->name);
        if (trial->model->parameters >= 0) assay__render_count(&text, trial->model->parameters);
        put_fact(out, "its parameters", text.data);
        assay__buf_clear(&text);
        if (weights) assay__render_metric(&text, weights);
        put_fact(out, "its weights", text.data);
        if (text.failed) out->failed = true;
        assay__buf_free(&text);
    }
}

static void put_header(struct assay__buf *out, const struct assay_profile *profile)
{
    const struct assay__model_info *m = profile->models[0];
    const struct assay__environment *e = &profile->environment;
    struct assay__buf text = {0};
    assay__buf_puts(out, "# ");
    assay__render_model_names(&text, profile);
    assay__markdown_text(out, text.data);
    assay__buf_clear(&text);
    assay__buf_puts(out, "\n\n");
    for (size_t i = 0; i < 50 && assay__render_alert(&text, profile, i); i++) {
        const char *bold = text.data && strncmp(text.data, "NOTE", 4) == 0 ? "" : "**";
        assay__buf_puts(out, bold);
        assay__markdown_text(out, text.data);
        assay__buf_printf(out, "%s\n\n", bold);
        assay__buf_clear(&text);
    }
    assay__buf_puts(out, "| | |\n|---|---|\n");
    put_fact(out, "model file", m->path);
    put_fact(out, "fingerprint", m->fingerprint);
    put_fact(out, "SHA-256", m->sha256);
    put_fact(out, "opset", m->opset);
    assay__buf_clear(&text);
    if (m->parameters >= 0) assay__render_count(&text, m->parameters);
    put_fact(out, "parameters", text.data);
    put_other_models(out, profile);
    put_fact(out, "CPU", e->cpu_model);
    assay__buf_clear(&text);
    if (e->cores > 0)
        assay__buf_printf(&text, "%d core%s, %d hardware thread%s", e->cores,
                          e->cores == 1 ? "" : "s", e->threads, e->threads == 1 ? "" : "s");
    put_fact(out, "cores", text.data);
    put_fact(out, "virtual machine", e->virtualized);
    put_fact(out, "system", e->os);
    put_fact(out, "created", profile->created);
    put_fact(out, "command", profile->command_line);
    put_fact(out, "assay", profile->assay_version);
    assay__buf_free(&text);
}

static void put_target(struct assay__buf *out, const struct assay__trial *trial)
{
    struct assay__buf text = {0};
    assay__buf_puts(out, "| | |\n|---|---|\n");
    assay__buf_printf(&text, "%s %s", trial->target.engine, trial->target.engine_version);
    put_fact(out, "engine", text.data);
    put_fact(out, "device", trial->target.device);
    for (size_t i = 0; i < trial->option_count; i++) {
        if (strcmp(trial->options[i].key, "token_ids") == 0) continue; /* said, not chosen */
        assay__buf_puts(out, "|");
        put_cell(out, trial->options[i].key);
        put_cell(out, trial->options[i].value);
        assay__buf_putc(out, '\n');
    }
    for (size_t i = 0; i < trial->input_count; i++) {
        const struct assay__tensor_info *t = &trial->inputs[i];
        assay__buf_clear(&text);
        assay__buf_printf(&text, "%s %s ", t->name, t->dtype);
        assay__render_shape(&text, t);
        if (t->fill && *t->fill) assay__buf_printf(&text, " (%s)", t->fill);
        put_fact(out, "input", text.data);
    }
    assay__buf_free(&text);
}

static void put_metrics(struct assay__buf *out, const struct assay__trial *trial)
{
    assay__buf_puts(
        out,
        "\n### Metrics\n\n| metric | value | state | source | note |\n|---|--:|---|---|---|\n");
    for (size_t i = 0; i < assay_metrics_count(trial->metrics); i++) {
        const struct assay_metric *m = assay_metrics_at(trial->metrics, i);
        struct assay__buf value = {0};
        assay__render_metric(&value, m);
        assay__buf_puts(out, "|");
        put_cell(out, m->name);
        put_cell(out, value.data);
        put_cell(out, assay_state_name(m->state));
        put_cell(out, m->source);
        put_cell(out, m->note);
        assay__buf_putc(out, '\n');
        assay__buf_free(&value);
    }
}

static void put_time(struct assay__buf *out, double time_ns, double p50_ns, const char *mark)
{
    struct assay__buf time = {0};
    if (isfinite(time_ns)) assay__buf_puts(&time, mark);
    assay__render_ns(&time, time_ns);
    put_cell(out, time.data);
    double share = time_ns / p50_ns;
    assay__buf_clear(&time);
    if (isfinite(share)) assay__buf_printf(&time, "%.1f %%", share * 100);
    put_cell(out, time.length ? time.data : "—");
    assay__buf_free(&time);
}

static void put_layer(struct assay__buf *out, const struct assay__layer *l, double p50_ns)
{
    struct assay__buf from = {0};
    bool known = l->state != ASSAY_UNAVAILABLE;
    assay__buf_printf(out, "| %d |", l->index);
    put_cell(out, l->op);
    put_cell(out, l->name);
    put_time(out, known ? l->time_ns : (double)NAN, p50_ns, assay__render_mark(l->state));
    put_cell(out, l->bound && *l->bound ? l->bound : "unknown");
    put_cell(out, assay_state_name(known && isfinite(l->time_ns) ? l->state : ASSAY_UNAVAILABLE));
    for (size_t i = 0; i < l->from_count; i++)
        assay__buf_printf(&from, "%s%s", i ? ", " : "", l->from[i]);
    put_cell(out, from.data);
    if (isfinite(l->host_enqueue_ns)) {
        assay__buf_clear(&from);
        assay__buf_puts(&from, "host enqueue ");
        assay__render_ns(&from, l->host_enqueue_ns);
        if (l->note && *l->note) assay__buf_printf(&from, "; %s", l->note);
        put_cell(out, from.data);
    } else {
        put_cell(out, l->note);
    }
    assay__buf_putc(out, '\n');
    assay__buf_free(&from);
}

static void put_sum_row(struct assay__buf *out, const char *label, double time_ns, double p50_ns,
                        const char *mark)
{
    assay__buf_printf(out, "| | | %s |", label);
    put_time(out, time_ns, p50_ns, mark);
    assay__buf_puts(out, " | | | |\n");
}

static void put_layers(struct assay__buf *out, const struct assay__trial *trial, int top)
{
    const struct assay__layers *layers = &trial->layers;
    const struct assay_metric *p50 = assay__trial_metric(trial, "latency.p50");
    double p50_ns = p50 && p50->value > 0 ? p50->value * 1e9 : (double)NAN;
    if (layers->count || (layers->reason && *layers->reason))
        assay__buf_puts(out, "\n### Layers\n\n");
    if (layers->reason && *layers->reason) {
        assay__markdown_text(out, layers->reason);
        assay__buf_puts(out, "\n\n");
    }
    if (!layers->count) return;
    size_t *order = assay__render_layer_order(layers);
    if (!order) {
        out->failed = true;
        return;
    }
    size_t shown = top < 0 || (size_t)top > layers->count ? layers->count : (size_t)top;
    struct assay__buf method = {0};
    assay__render_layer_method(&method, layers);
    if (method.data && *method.data == 't') *method.data = 'T'; /* it opens the sentence */
    assay__markdown_text(out, method.data);
    assay__buf_free(&method);
    if (isfinite(layers->slowdown))
        assay__buf_printf(out, "; the instrumented run took %.2f × the plain one",
                          layers->slowdown);
    if (isfinite(layers->scale_factor))
        assay__buf_printf(out, "; layer times scaled by %.4f to the bracket", layers->scale_factor);
    assay__buf_printf(out, "; sessions: %d used, %d discarded.\n\n", layers->sessions,
                      layers->discarded);
    assay__buf_puts(out, "| # | operator | layer | time | share | bound | state | from | note |\n"
                         "|--:|---|---|--:|--:|---|---|---|---|\n");
    for (size_t i = 0; i < shown; i++)
        put_layer(out, &layers->items[order[i]], p50_ns);
    if (shown < layers->count) {
        char label[64];
        snprintf(label, sizeof label, "… %zu more", layers->count - shown);
        put_sum_row(out, label, assay__render_layer_sum(layers, order, shown, layers->count),
                    p50_ns, "=");
    }
    put_sum_row(out, "engine per run", layers->engine_ns, p50_ns, "");
    put_sum_row(out, "unattributed", layers->unattributed_ns, p50_ns, "=");
    const char *mark = "";
    double total = assay__render_layer_total(trial, &mark);
    put_sum_row(out, "**total (the unprofiled median)**", total, p50_ns, mark);
    free(order);
}

static void put_launches(struct assay__buf *out, const struct assay__trial *trial)
{
    if (!trial->launch_count) return;
    assay__buf_puts(out,
                    "\n### Launches\n\n| launch | state | samples counted | warm-up found before "
                    "them | pre-run | p50 | reason |\n|--:|---|--:|--:|--:|--:|---|\n");
    for (size_t i = 0; i < trial->launch_count; i++) {
        const struct assay__launch *l = &trial->launches[i];
        struct assay__buf text = {0};
        struct assay__launch_counts counts = assay__render_launch_counts(l);
        assay__buf_printf(out, "| %d | %s | %zu | %zu |", l->id, assay__trial_state_name(l->state),
                          counts.counted, counts.found);
        if (isfinite(counts.prerun)) assay__buf_printf(&text, "%.0f", counts.prerun);
        put_cell(out, text.length ? text.data : "—");
        assay__buf_clear(&text);
        assay__render_ns(&text, l->p50_ns);
        put_cell(out, text.data);
        put_cell(out, l->reason);
        assay__buf_putc(out, '\n');
        assay__buf_free(&text);
    }
}

static void put_trial(struct assay__buf *out, const struct assay_profile *profile,
                      const struct assay__trial *trial, int top)
{
    struct assay__buf answer = {0};
    bool folded = profile->trial_count > 1;
    /* HTML up to the next blank line, in which no Markdown is read: escaped otherwise, and on one
     * line */
    if (folded) {
        struct assay__buf label = {0};
        assay__text_safe(&label, trial->label);
        assay__buf_printf(out, "\n<details>\n<summary>Trial %d: %s", trial->id,
                          assay__trial_state_name(trial->state));
        assay__buf_puts(out, label.length ? ", " : "");
        put_summary(out, label.data ? label.data : "");
        assay__buf_free(&label);
        assay__buf_puts(out, "</summary>\n\n");
    } else {
        assay__buf_printf(out, "\n## Trial %d: %s\n\n", trial->id,
                          assay__trial_state_name(trial->state));
    }
    assay__render_answer(&answer, trial);
    assay__markdown_text(out, answer.data);
    assay__buf_puts(out, "\n\n");
    assay__buf_free(&answer);
    put_target(out, trial);
    if (trial->metrics && assay_metrics_count(trial->metrics)) put_metrics(out, trial);
    assay__markdown_requirements(out, profile, trial);
    put_layers(out, trial, top);
    assay__markdown_ncp_groups(out, profile, trial);
    assay__markdown_parts(out, trial, top);
    put_launches(out, trial);
    if (trial->stability.verdict && *trial->stability.verdict) {
        assay__buf_puts(out, "\nStability: **");
        assay__markdown_text(out, trial->stability.verdict);
        assay__buf_puts(out, "**\n");
    }
    put_list(out, "Why", trial->stability.reasons, trial->stability.reason_count);
    put_list(out, "What was assumed", trial->notes, trial->note_count);
    if (folded) assay__buf_puts(out, "\n</details>\n");
}

static void put_finding(struct assay__buf *out, const struct assay__finding *f)
{
    assay__buf_puts(out, "- **");
    assay__markdown_text(out, f->severity);
    assay__buf_puts(out, "**: ");
    assay__markdown_text(out, f->title);
    assay__buf_puts(out, f->advice && *f->advice ? " → " : "");
    assay__markdown_text(out, f->advice);
    if (f->state && strcmp(f->state, "verified") == 0 && isfinite(f->verified_gain)) {
        assay__buf_printf(out, "; verified: %s × ", assay__digits(f->verified_gain, 3).text);
        assay__markdown_text(out, assay__gain_words(f->verified_of));
        assay__buf_printf(out, " (%s to %s)", assay__digits(f->verified_low, 3).text,
                          assay__digits(f->verified_high, 3).text);
    } else if (f->state && strcmp(f->state, "withdrawn") == 0) {
        assay__buf_puts(out, "; withdrawn: ");
        assay__markdown_text(out, f->reason);
    } else if (isfinite(f->expected_gain)) {
        assay__buf_printf(out, "; at most %s%s × (not tried)",
                          assay__markdown_mark(assay__render_gain_state(f)),
                          assay__digits(f->expected_gain, 3).text);
    }
    assay__buf_putc(out, '\n');
    for (size_t i = 0; i < f->evidence_count; i++) {
        assay__buf_puts(out, "  - ");
        assay__markdown_text(out, f->evidence[i]);
        assay__buf_putc(out, '\n');
    }
}

int assay__report_markdown(const struct assay_profile *profile,
                           const struct assay_report_options *options, struct assay__buf *out,
                           struct assay_error *error)
{
    (void)error;
    put_header(out, profile);
    assay__markdown_comparison(out, profile);
    assay__markdown_sweep(out, profile);
    assay__markdown_tune(out, profile);
    if (profile->finding_count) assay__buf_puts(out, "\n### Findings\n\n");
    for (size_t i = 0; i < profile->finding_count; i++)
        put_finding(out, &profile->findings[i]);
    for (size_t i = 0; i < profile->trial_count; i++)
        put_trial(out, profile, &profile->trials[i], options->top ? options->top : 20);
    assay__markdown_ceilings(out, profile);
    put_list(out, "Disturbances", profile->environment.disturbances,
             profile->environment.disturbance_count);
    put_list(out, "Not observed", profile->environment.unknown, profile->environment.unknown_count);
    assay__buf_puts(
        out, "\nMarks: plain measured, = derived, \\~ estimated, (published), — unavailable.\n");
    return 0;
}
