/* html_environment.c - where and with what it was measured, what disturbed it, and whether the run
 * was stable. */
#include "report/html_sections.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void scaled_fact(struct assay__html *page, const char *term, double value, const char *unit)
{
    char text[64];
    if (!isfinite(value)) return;
    assay__text_scaled(text, sizeof text, value, unit);
    assay__html_fact(page, term, text);
}

static void count_fact(struct assay__html *page, const char *term, int64_t value)
{
    struct assay__buf text = {0};
    if (value < 0) return;
    assay__render_count(&text, value);
    assay__html_fact(page, term, text.data);
    assay__buf_free(&text);
}

static void put_machine(struct assay__html *page, const struct assay__environment *e)
{
    struct assay__buf text = {0};
    assay__html_heading(page, "Machine");
    assay__html_facts(page);
    assay__html_fact(page, "host", e->host);
    assay__html_fact(page, "system", e->os);
    assay__html_fact(page, "kernel", e->kernel);
    assay__html_fact(page, "architecture", e->architecture);
    assay__html_fact(page, "processor", e->cpu_model);
    if (e->cores > 0) assay__buf_printf(&text, "%d cores", e->cores);
    if (e->threads > 0)
        assay__buf_printf(&text, "%s%d threads", text.length ? ", " : "", e->threads);
    if (e->packages > 1) assay__buf_printf(&text, ", %d packages", e->packages);
    assay__html_fact(page, "cores", text.data);
    scaled_fact(page, "clock at most", e->cpu_max_hz, "Hz");
    scaled_fact(page, "L1 data", e->l1d_bytes, "B");
    scaled_fact(page, "L2", e->l2_bytes, "B");
    scaled_fact(page, "L3", e->l3_bytes, "B");
    assay__html_fact(page, "vector units", e->simd);
    scaled_fact(page, "memory", e->memory_bytes, "B");
    assay__html_fact(page, "governor", e->governor);
    assay__html_fact(page, "virtualised", e->virtualized);
    assay__html_fact(page, "container", e->container);
    assay__html_facts_end(page);
    assay__buf_free(&text);
}

/* "batch×3×224×224": an x between a name and a number would read as a part of the name. */
static void put_dims(struct assay__buf *out, const struct assay__tensor_info *tensor)
{
    if (tensor->rank <= 0) {
        assay__render_shape(out, tensor);
        return;
    }
    for (int d = 0; d < tensor->rank; d++) {
        const char *symbol = tensor->symbols && tensor->symbols[d] ? tensor->symbols[d] : "";
        if (d) assay__buf_puts(out, "×");
        if (tensor->dims[d] >= 0)
            assay__buf_printf(out, "%lld", (long long)tensor->dims[d]);
        else
            assay__buf_puts(out, *symbol ? symbol : "?");
    }
}

static void put_model(struct assay__html *page, const struct assay__model_info *m)
{
    struct assay__buf text = {0};
    assay__html_heading(page, "Model");
    assay__html_facts(page);
    assay__html_fact(page, "name", m->name);
    assay__html_fact(page, "file", m->path);
    assay__html_fact(page, "format", m->format);
    assay__html_fact(page, "operator set", m->opset);
    assay__html_fact(page, "made by", m->producer);
    count_fact(page, "nodes", m->node_count);
    count_fact(page, "parameters", m->parameters);
    if (m->weight_bytes >= 0) scaled_fact(page, "weights", (double)m->weight_bytes, "B");
    assay__html_fact(page, "fingerprint", m->fingerprint);
    assay__html_fact(page, "SHA-256", m->sha256);
    for (size_t side = 0; side < 2; side++) {
        const struct assay__tensor_info *tensors = side ? m->outputs : m->inputs;
        size_t count = side ? m->output_count : m->input_count;
        for (size_t i = 0; i < count && i < 16; i++) {
            assay__buf_clear(&text);
            assay__buf_printf(&text, "%s: %s ", tensors[i].name,
                              tensors[i].dtype ? tensors[i].dtype : "");
            put_dims(&text, &tensors[i]);
            assay__html_fact(page, side ? "output" : "input", text.data);
        }
    }
    assay__html_facts_end(page);
    assay__buf_free(&text);
}

static void put_versions(struct assay__html *page, const struct assay_profile *profile,
                         const struct assay__trial *trial)
{
    struct assay__buf text = {0};
    assay__html_heading(page, "Versions and options");
    assay__html_facts(page);
    assay__html_fact(page, "assay", profile->assay_version);
    assay__html_fact(page, "measured", profile->created);
    if (trial) {
        assay__buf_printf(&text, "%s %s", trial->target.engine ? trial->target.engine : "",
                          trial->target.engine_version ? trial->target.engine_version : "");
        assay__html_fact(page, "engine", text.data);
        assay__html_fact(page, "library", trial->target.engine_library);
        assay__html_fact(page, "device", trial->target.device);
        for (size_t i = 0; i < trial->option_count; i++)
            if (strcmp(trial->options[i].key, "token_ids") != 0)
                assay__html_fact(page, trial->options[i].key, trial->options[i].value);
    }
    assay__html_facts_end(page);
    if (trial) assay__html_list(page, trial->notes, trial->note_count);
    assay__buf_free(&text);
}

static void put_stability(struct assay__html *page, const struct assay__trial *trial)
{
    const struct assay__stability *s = &trial->stability;
    const char *verdict = s->verdict && *s->verdict ? s->verdict : "";
    assay__html_heading(page, "Stability");
    if (!*verdict) {
        assay__html_paragraph(page, "note",
                              "No verdict: the run did not end, or there are no samples.");
        return;
    }
    assay__buf_puts(&page->body, "<p><span class=\"verdict ");
    assay__buf_puts(&page->body, strcmp(verdict, "stable") == 0     ? "pass"
                                 : strcmp(verdict, "unstable") == 0 ? "fail"
                                                                    : "unavailable");
    assay__buf_puts(&page->body, "\">");
    assay__html_text(&page->body, strcmp(verdict, "too-few") == 0 ? "too few samples" : verdict);
    assay__buf_puts(&page->body, "</span>");
    if (s->more_iterations > 0) {
        assay__buf_puts(&page->body, " about ");
        assay__render_count(&page->body, s->more_iterations);
        assay__buf_puts(&page->body, " more inferences would have met the goal");
    }
    assay__buf_puts(&page->body, "</p>\n");
    assay__html_list(page, s->reasons, s->reason_count);
}

void assay__html_environment(struct assay__html *page, const struct assay_profile *profile,
                             const struct assay__trial *trial)
{
    const struct assay__environment *e = &profile->environment;
    assay__html_section(page, "environment", "Environment",
                        ASSAY__HTML_OVERVIEW | ASSAY__HTML_MACHINE);
    if (trial) put_stability(page, trial);
    assay__html_heading(page, "Disturbances");
    if (e->disturbance_count)
        assay__html_list(page, e->disturbances, e->disturbance_count);
    else
        assay__html_paragraph(page, NULL, "None was seen.");
    if (e->unknown_count) {
        assay__html_heading(page, "What could not be observed");
        assay__html_list(page, e->unknown, e->unknown_count);
    }
    assay__buf_puts(&page->body, "<div class=\"pair\"><div>\n");
    put_machine(page, e);
    assay__buf_puts(&page->body, "</div><div>\n");
    put_model(page, profile->models[0]);
    assay__buf_puts(&page->body, "</div></div>\n");
    put_versions(page, profile, trial);
    assay__html_section_end(page);
}
