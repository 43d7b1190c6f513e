/* subject_environment.c - where and with what it was measured: what disturbed the run or could have
 * done so unseen, the machine, the model, versions, options and the exact command. */
#include "report/subject/subject.h"

static void add_machine(struct assay__doc *doc, const struct assay__environment *e)
{
    assay__doc_fold(doc, "machine", "Machine", NULL);
    assay__doc_fact_text(doc, "host", e->host);
    assay__doc_fact_text(doc, "system", e->os);
    assay__doc_fact_text(doc, "kernel", e->kernel);
    assay__doc_fact_text(doc, "architecture", e->architecture);
    assay__doc_fact_text(doc, "processor", e->cpu_model);
    assay__doc_fact(doc, "cores");
    if (e->cores > 0) assay__doc_item_after(doc, NULL, assay__datum_count(e->cores), "cores");
    if (e->threads > 0)
        assay__doc_item_after(doc, NULL, assay__datum_count(e->threads), "hardware threads");
    if (e->packages > 1)
        assay__doc_item_after(doc, NULL, assay__datum_count(e->packages), "packages");
    assay__doc_fact_number(doc, "max clock", e->cpu_max_hz, "Hz");
    assay__doc_fact_number(doc, "L1 data", e->l1d_bytes, "B");
    assay__doc_fact_number(doc, "L2", e->l2_bytes, "B");
    assay__doc_fact_number(doc, "L3", e->l3_bytes, "B");
    assay__doc_fact_text(doc, "vector units", e->simd);
    assay__doc_fact_number(doc, "memory", e->memory_bytes, "B");
    assay__doc_fact_text(doc, "governor", e->governor);
    assay__doc_fact_text(doc, "virtualised", e->virtualized);
    assay__doc_fact_text(doc, "container", e->container);
    assay__doc_end(doc);
}

static void add_tensors(struct assay__doc *doc, const char *label,
                        const struct assay__tensor_info *tensors, size_t count)
{
    enum { SHOWN = 16 };
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        struct assay__buf shape = {0};
        assay__print_shape(&shape, &tensors[i]);
        assay__doc_fact(doc, label);
        assay__doc_item_text(
            doc, "%s: %s %s%s%s%s", tensors[i].name, tensors[i].dtype ? tensors[i].dtype : "",
            assay__doc_take(doc, &shape), tensors[i].fill && *tensors[i].fill ? " (" : "",
            tensors[i].fill ? tensors[i].fill : "", tensors[i].fill && *tensors[i].fill ? ")" : "");
    }
    if (count > SHOWN)
        assay__doc_fact_text(doc, label, assay__doc_printf(doc, "and %zu more", count - SHOWN));
}

static void add_model(struct assay__doc *doc, const struct assay__model_info *m, size_t index)
{
    assay__doc_fold(doc, index ? assay__doc_printf(doc, "model-%zu", index + 1) : "model", "Model",
                    NULL);
    assay__doc_fact_text(doc, "name", m->name);
    assay__doc_fact_text(doc, "file", m->path);
    assay__doc_fact_text(doc, "format", m->format);
    assay__doc_fact_text(doc, "opset", m->opset);
    assay__doc_fact_text(doc, "made by", m->producer);
    if (m->node_count >= 0)
        assay__doc_fact_number(doc, "nodes", (double)m->node_count, ASSAY__UNIT_COUNT);
    if (m->parameters >= 0)
        assay__doc_fact_number(doc, "parameters", (double)m->parameters, ASSAY__UNIT_COUNT);
    if (m->weight_bytes >= 0) assay__doc_fact_number(doc, "weights", (double)m->weight_bytes, "B");
    assay__doc_fact_text(doc, "fingerprint", m->fingerprint);
    assay__doc_fact_text(doc, "SHA-256", m->sha256);
    add_tensors(doc, "input", m->inputs, m->input_count);
    add_tensors(doc, "output", m->outputs, m->output_count);
    assay__doc_end(doc);
}

void assay__add_options(struct assay__doc *doc, const struct assay__trial *trial)
{
    assay__doc_fact(doc, "engine");
    assay__doc_item_text(doc, "%s %s", trial->target.engine, trial->target.engine_version);
    assay__doc_fact_text(doc, "library", trial->target.engine_library);
    assay__doc_fact_text(doc, "device", trial->target.device);
    for (size_t i = 0; i < trial->option_count; i++)
        assay__doc_fact_text(doc, trial->options[i].key, trial->options[i].value);
    add_tensors(doc, "workload", trial->inputs, trial->input_count);
}

static void build(struct assay__doc *doc, const struct assay__trial *trial)
{
    const struct assay_profile *profile = doc->study->profile;
    const struct assay__environment *e = &profile->environment;
    bool measured = trial && assay__trial_metric(trial, "latency.p50");
    assay__doc_section(doc, "environment", "Disturbances", "seen during the run",
                       ASSAY__TAB_EVIDENCE);
    if (e->disturbance_count)
        assay__doc_points(doc, e->disturbances, e->disturbance_count);
    else if (measured)
        assay__doc_plain(doc, "None seen.");
    if (e->unknown_count && measured) {
        assay__doc_fold(doc, NULL, "Not observed",
                        "possible disturbances that cannot be seen here");
        assay__doc_points(doc, e->unknown, e->unknown_count);
        assay__doc_end(doc);
    }
    add_machine(doc, e);
    for (size_t i = 0; i < profile->model_count; i++)
        if (!i || assay__trial_of_model(profile, i)) add_model(doc, profile->models[i], i);
    assay__doc_fold(doc, "versions", "Versions and options", NULL);
    assay__doc_fact_text(doc, "assay", profile->assay_version);
    assay__doc_fact_text(doc, "measured", profile->created);
    if (trial) assay__add_options(doc, trial);
    assay__doc_end(doc);
    if (profile->command_line && *profile->command_line) {
        assay__doc_fold(doc, "command", "Command", NULL);
        assay__doc_code(doc, "sh", NULL, profile->command_line);
        assay__doc_end(doc);
    }
    assay__doc_end(doc);
}

const struct assay__subject assay__subject_environment = {
    "environment", ASSAY__OF_PROFILE, build, {{0}}};
