/* csv.c - one table of the profile as CSV (RFC 4180 with LF line ends): metrics, layers, steps,
 * groups, launches, samples, series, spans, allocations, counters, ceilings, the points of a sweep,
 * the rows of a comparison or the configurations of a tuning. Text that a spreadsheet would take
 * for a formula (leading = + - @, tab, carriage return) gets a leading '. Unknown numbers are empty
 * cells; each row's state column says so. */
#include "base/text.h"
#include "report/formats.h"
#include "report/ncp_groups.h"
#include "report/parts.h"
#include "report/render.h"
#include "report/sweep_words.h"
#include "report/tune_words.h"

#include <math.h>
#include <string.h>

/* Would a spreadsheet compute it? Some take the full-width forms of the signs for the signs. */
static bool is_formula(const char *text)
{
    static const char *const starts[] = {"=", "+", "-", "@", "＝", "＋", "－", "＠"};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (strncmp(text, starts[i], strlen(starts[i])) == 0) return true;
    return false;
}

void assay__csv_text(struct assay__buf *out, const char *text)
{
    struct assay__buf safe = {0};
    assay__text_safe(&safe, text ? text : "");
    const char *shown = safe.data ? safe.data : "";
    bool guard = (text && *text && strchr("=+-@\t\r\n", *text)) || is_formula(shown);
    bool quote = guard || strpbrk(shown, ",\"\n\r") != NULL;
    if (quote) assay__buf_putc(out, '"');
    if (guard) assay__buf_putc(out, '\'');
    for (const char *c = shown; *c; c++) {
        if (*c == '"') assay__buf_putc(out, '"');
        assay__buf_putc(out, *c);
    }
    if (quote) assay__buf_putc(out, '"');
    if (safe.failed) out->failed = true;
    assay__buf_free(&safe);
}

void assay__csv_next_text(struct assay__buf *out, const char *text)
{
    assay__buf_putc(out, ',');
    assay__csv_text(out, text);
}

void assay__csv_next_number(struct assay__buf *out, double value)
{
    assay__buf_putc(out, ',');
    assay__render_number(out, value);
}

static void metrics_table(const struct assay_profile *profile, const struct assay__trial *trial,
                          struct assay__buf *out)
{
    (void)profile;
    for (size_t i = 0; trial->metrics && i < assay_metrics_count(trial->metrics); i++) {
        const struct assay_metric *m = assay_metrics_at(trial->metrics, i);
        bool known = m->state != ASSAY_UNAVAILABLE;
        assay__buf_printf(out, "%d", trial->id);
        assay__csv_next_text(out, m->name);
        assay__csv_next_number(out, known ? m->value : (double)NAN);
        assay__csv_next_text(out, m->unit);
        assay__csv_next_text(out, assay_state_name(m->state));
        assay__csv_next_text(out, m->source);
        assay__csv_next_text(out, m->note);
        assay__csv_next_text(out, trial->label); /* "" of a single run */
        assay__buf_putc(out, '\n');
    }
}

static void layer_row(const struct assay__layers *layers, const struct assay__layer *l, int trial,
                      struct assay__buf *out)
{
    bool known = l->state != ASSAY_UNAVAILABLE && isfinite(l->time_ns);
    double low_ns, high_ns;
    assay__layer_interval(layers, l, &low_ns, &high_ns, NULL);
    assay__buf_printf(out, "%d,%d", trial, l->index);
    assay__csv_next_text(out, l->name);
    assay__csv_next_text(out, l->op);
    assay__csv_next_text(out, l->provider);
    assay__csv_next_number(out, known ? l->time_ns / 1e3 : (double)NAN);
    assay__csv_next_number(out, known ? l->share : (double)NAN);
    assay__csv_next_number(out, l->flops);
    assay__csv_next_number(out, l->bytes);
    assay__csv_next_text(out, l->bound && *l->bound ? l->bound : "unknown");
    assay__csv_next_text(out, assay_state_name(known ? l->state : ASSAY_UNAVAILABLE));
    assay__csv_next_text(out, l->method);
    assay__csv_next_number(out, l->host_enqueue_ns / 1e3);
    assay__csv_next_text(out, l->note);
    struct assay__buf from = {0};
    for (size_t i = 0; i < l->from_count; i++) {
        if (i) assay__buf_puts(&from, "; ");
        assay__buf_puts(&from, l->from[i]);
    }
    assay__csv_next_text(out, from.data);
    assay__csv_next_number(out, l->weight_bytes);
    assay__csv_next_number(out, l->live_bytes);
    assay__csv_next_number(out, low_ns / 1e3);
    assay__csv_next_number(out, high_ns / 1e3);
    assay__csv_next_text(out, l->inputs);
    assay__csv_next_text(out, l->weights);
    assay__csv_next_text(out, l->outputs);
    assay__csv_next_text(out, l->attributes);
    if (from.failed) out->failed = true;
    assay__buf_free(&from);
    assay__buf_putc(out, '\n');
}

/* `engine` and `unattributed` are rows too, so that the column adds up to the latency. */
static void layers_table(const struct assay_profile *profile, const struct assay__trial *trial,
                         struct assay__buf *out)
{
    (void)profile;
    const struct assay__layers *layers = &trial->layers;
    for (size_t i = 0; i < layers->count; i++)
        layer_row(layers, &layers->items[i], trial->id, out);
    if (!layers->count) return;
    const struct {
        const char *name;
        double time_ns;
    } rest[] = {{"(engine per run)", layers->engine_ns},
                {"(unattributed)", layers->unattributed_ns}};
    const struct assay_metric *p50 = assay__trial_metric(trial, "latency.p50");
    for (size_t i = 0; i < 2; i++) {
        bool known = isfinite(rest[i].time_ns);
        assay__buf_printf(out, "%d,,%s,,", trial->id, rest[i].name);
        assay__csv_next_number(out, rest[i].time_ns / 1e3);
        assay__csv_next_number(
            out, known && p50 && p50->value > 0 ? rest[i].time_ns / 1e9 / p50->value : (double)NAN);
        assay__buf_printf(out, ",,,,%s", !known ? "unavailable" : i ? "derived" : "measured");
        assay__csv_next_text(out, layers->method);
        assay__buf_puts(out, ",,,,,,,,,,,\n");
    }
}

static void launches_table(const struct assay_profile *profile, const struct assay__trial *trial,
                           struct assay__buf *out)
{
    (void)profile;
    for (size_t i = 0; i < trial->launch_count; i++) {
        const struct assay__launch *l = &trial->launches[i];
        assay__buf_printf(out, "%d,%d,%s", trial->id, l->id, assay__trial_state_name(l->state));
        assay__csv_next_text(out, l->reason);
        assay__buf_printf(out, ",%zu,%zu,%d", l->sample_count, l->warmup, l->streams);
        assay__csv_next_number(out, l->p50_ns / 1e3);
        struct assay__launch_counts counts = assay__render_launch_counts(l);
        assay__buf_printf(out, ",%zu", counts.counted);
        assay__csv_next_number(out, counts.prerun);
        assay__buf_putc(out, '\n');
    }
}

static void samples_table(const struct assay_profile *profile, const struct assay__trial *trial,
                          struct assay__buf *out)
{
    (void)profile;
    for (size_t i = 0; i < trial->launch_count; i++) {
        const struct assay__launch *l = &trial->launches[i];
        size_t stream = 0, start = 0;
        for (size_t k = 0; l->samples_ns && k < l->sample_count; k++) {
            while (l->stream_offsets && stream + 1 < (size_t)l->streams &&
                   k >= l->stream_offsets[stream + 1])
                start = l->stream_offsets[++stream];
            assay__buf_printf(out, "%d,%d,%zu,%zu", trial->id, l->id, stream, k - start);
            assay__csv_next_number(out, l->samples_ns[k]);
            assay__buf_puts(out, k - start < l->warmup ? ",1\n" : ",0\n");
        }
    }
}

static const struct {
    const char *name, *header;
    void (*rows)(const struct assay_profile *profile, const struct assay__trial *trial,
                 struct assay__buf *out); /* of each trial … */
    void (*whole)(const struct assay_profile *profile, struct assay__buf *out); /* … or of all */
} tables[] = {
    {"metrics", "trial,metric,value,unit,state,source,note,label\n", metrics_table, NULL},
    {"layers",
     "trial,index,name,op,provider,time_us,share,flops,bytes,bound,state,method,host_enqueue_us,"
     "note,from,weight_bytes,live_bytes,time_low_us,time_high_us,inputs,weights,outputs,"
     "attributes\n",
     layers_table, NULL},
    {"layer-times", "trial,index,launch,name,time_us\n", assay__csv_layer_times, NULL},
    {"peak", "trial,position,name,type,bytes,producer,op,first,last\n", assay__csv_peak, NULL},
    {"steps", "trial,step,kind,time_us,share,flops,layers,state,flops_state,note\n",
     assay__csv_ncp_steps, NULL},
    {"groups", "trial,group,kind,time_us,share,flops,layers,state,flops_state,note\n",
     assay__csv_ncp_groups, NULL},
    {"launches", "trial,launch,state,reason,samples,warmup,streams,p50_us,counted,prerun\n",
     launches_table, NULL},
    {"samples", "trial,launch,stream,seq,ns,warmup\n", samples_table, NULL},
    {"series", "trial,launch,name,seq,time_s,value,unit,state,source,note\n", assay__csv_series,
     NULL},
    {"spans", "trial,launch,kind,begin_s,end_s,completions\n", assay__csv_spans, NULL},
    {"allocations",
     "trial,phase,kind,low_bytes,high_bytes,site,inferences,count,bytes,freed_count,freed_bytes,"
     "live_bytes,peak_live_bytes,note\n",
     assay__csv_allocations, NULL},
    {"counters", "trial,op,layers,time_us,counter,value,note\n", assay__csv_counters, NULL},
    {"ceilings", "device,name,value,unit,low,high,state,source,note,measured_at\n", NULL,
     assay__csv_ceilings},
    {"comparison", assay__csv_comparison_header, NULL, assay__csv_comparison},
    {"sweep",
     "trial,point,device,p50_s,p99_s,throughput_per_s,memory_bytes,energy_j,bandwidth_bytes_per_s,"
     "utilization,flops_per_s,scaling,mark,state,reason\n",
     NULL, assay__csv_sweep},
    {"tune",
     "trial,configuration,fate,launches,p50_s,throughput_per_s,memory_bytes,energy_j,drift_"
     "relative_l2,ratio,ratio_low,ratio_high,mark,pareto,state,reason\n",
     NULL, assay__csv_tune},
};

int assay__report_csv(const struct assay_profile *profile,
                      const struct assay_report_options *options, struct assay__buf *out,
                      struct assay_error *error)
{
    bool compared = profile->kind == ASSAY__PROFILE_COMPARE;
    const char *wanted = options->table ? options->table : compared ? "comparison" : "metrics";
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++) {
        if (strcmp(wanted, tables[t].name) != 0) continue;
        assay__buf_puts(out, tables[t].header);
        if (tables[t].whole) tables[t].whole(profile, out);
        for (size_t i = 0; tables[t].rows && i < profile->trial_count; i++)
            tables[t].rows(profile, &profile->trials[i], out);
        return 0;
    }
    return assay_error_set(error, ASSAY_EINVAL, "unknown table '%s' (%s)", wanted,
                           ASSAY__TABLE_NAMES);
}
