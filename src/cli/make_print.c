/* make_print.c - what `assay make` made, as text and as JSON; and the list of the zoo. */
#include "base/json.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/make.h"
#include "report/json/json_head.h"
#include "zoo/zoo.h"

#include <assay/api.h>
#include <assay/profile.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAME_COLUMNS 28

/* --- text ------------------------------------------------------------------------------------- */

static void put_grouped(struct assay__buf *out, int64_t number)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%" PRId64, number);
    for (int i = 0; i < length; i++) {
        assay__buf_putc(out, digits[i]);
        if (i + 1 < length && (length - i - 1) % 3 == 0 && digits[i] != '-')
            assay__buf_putc(out, ',');
    }
}

/* "1.2e-04", "0.9998", or a dash */
static void put_cell(struct assay__buf *out, double value, bool scientific)
{
    char text[48];
    if (isnan(value))
        snprintf(text, sizeof text, "—");
    else
        snprintf(text, sizeof text, scientific ? "%.2e" : "%.6f", value);
    size_t width = assay__text_width(text);
    assay__buf_repeat(out, " ", width < 12 ? 12 - width : 1);
    assay__buf_puts(out, text);
}

static void put_output(struct assay__buf *out, const struct assay__drift_output *output)
{
    struct assay__buf name = {0};
    assay__text_safe(&name, output->name);
    assay__buf_puts(out, "  ");
    assay__text_fit(out, assay__buf_text(&name), NAME_COLUMNS, 0);
    assay__buf_free(&name);
    if (*output->reason) {
        assay__buf_puts(out, "  unavailable: ");
        assay__text_safe(out, output->reason);
        assay__buf_putc(out, '\n');
        return;
    }
    put_cell(out, output->max_absolute, true);
    put_cell(out, output->relative_l2, true);
    put_cell(out, output->cosine, false);
    if (isnan(output->top1))
        assay__buf_puts(out, "           —");
    else
        assay__buf_printf(out, "     %5.1f %%", 100 * output->top1);
    if (output->nonfinite)
        assay__buf_printf(out, "   (%" PRId64 " infinite or NaN in both, left out)",
                          output->nonfinite);
    assay__buf_putc(out, '\n');
}

static void put_drift(struct assay__buf *out, const struct assay__made *made)
{
    if (!made->drift) {
        assay__buf_puts(out, "\n  drift of the outputs: unavailable: ");
        assay__text_safe(out, made->drift_reason);
        assay__buf_putc(out, '\n');
        return;
    }
    const struct assay__drift *drift = made->drift;
    assay__buf_printf(out,
                      "\n  drift of the outputs, original against rewritten on the same inputs "
                      "(measured; %s %s on the CPU, seed %" PRIu64 ")\n",
                      drift->engine, drift->version, drift->seed);
    assay__buf_printf(out, "  %-*s%12s%12s%12s%12s\n", NAME_COLUMNS, "output", "max |error|",
                      "relative L2", "cosine", "top-1 same");
    for (size_t i = 0; i < drift->output_count; i++)
        put_output(out, &drift->outputs[i]);
    if (made->drift_note)
        assay__buf_printf(out, "  %s\n  %s\n", made->drift_note[0], made->drift_note[1]);
}

void assay__make_text(struct assay__buf *out, const struct assay__made *made)
{
    assay__text_safe(out, made->path);
    assay__buf_puts(out, "  ");
    assay__text_put_scaled(out, (double)made->bytes, "B");
    assay__buf_puts(out, ", ");
    if (made->parameters_known)
        put_grouped(out, made->parameters);
    else
        assay__buf_puts(out, "unknown");
    assay__buf_printf(out, " parameters, %zu operators, operator set %" PRId64 "\n", made->nodes,
                      made->opset);
    assay__buf_puts(out, "  from ");
    assay__text_safe(out, made->source);
    assay__buf_puts(out, made->zoo ? ", built in " : ", read in ");
    assay__text_put_scaled(out, made->build_s, "s");
    if (made->rewritten) {
        assay__buf_puts(out, ", rewritten in ");
        assay__text_put_scaled(out, made->rewrite_s, "s");
    }
    assay__buf_puts(out, ", written in ");
    assay__text_put_scaled(out, made->write_s, "s");
    assay__buf_puts(out, " (");
    assay__text_put_scaled(out, made->write_s > 0 ? (double)made->bytes / made->write_s : NAN,
                           "B/s");
    assay__buf_puts(out, ")\n");
    for (size_t i = 0; i < made->notes->count; i++) {
        assay__buf_puts(out, "  ");
        assay__text_safe(out, made->notes->lines[i]);
        assay__buf_putc(out, '\n');
    }
    if (made->rewritten) put_drift(out, made);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void json_number(struct assay__json_writer *w, const char *key, double value,
                        const char *unit, const char *state, const char *source, const char *note)
{
    assay__json_key(w, key);
    assay__json_object(w);
    assay__json_put_number(w, "value", value);
    assay__json_put_string(w, "unit", unit);
    assay__json_put_string(w, "state", isnan(value) ? "unavailable" : state);
    assay__json_put_string(w, "source", isnan(value) ? "none" : source);
    assay__json_put_string(w, "note", note);
    assay__json_object_end(w);
}

static void json_output(struct assay__json_writer *w, const struct assay__drift_output *output,
                        const char *engine)
{
    const char *why = output->reason;
    assay__json_object(w);
    assay__json_put_string(w, "name", output->name);
    assay__json_put_string(w, "dtype", assay__dtype_name(output->dtype));
    assay__json_key(w, "shape");
    assay__json_array(w);
    for (int d = 0; d < output->rank; d++)
        assay__json_integer(w, output->dims[d]);
    assay__json_array_end(w);
    json_number(w, "max_absolute", output->max_absolute, "1", "measured", engine, why);
    json_number(w, "relative_l2", output->relative_l2, "ratio", "measured", engine,
                *why || !isnan(output->relative_l2) ? why : "the original is all zero");
    json_number(w, "cosine", output->cosine, "ratio", "measured", engine,
                *why || !isnan(output->cosine) ? why : "one of the two is all zero");
    json_number(w, "top1", output->top1, "ratio", "measured", engine,
                *why || !isnan(output->top1) ? why : "no class axis");
    assay__json_put_integer(w, "rows", output->rows);
    assay__json_put_integer(w, "elements", output->elements);
    assay__json_put_integer(w, "nonfinite", output->nonfinite);
    assay__json_put_integer(w, "broken", output->broken);
    assay__json_object_end(w);
}

static void json_drift(struct assay__json_writer *w, const struct assay__made *made)
{
    const struct assay__drift *drift = made->drift;
    assay__json_key(w, "drift");
    if (!made->rewritten) {
        assay__json_null(w);
        return;
    }
    assay__json_object(w);
    assay__json_put_string(w, "state", drift ? "measured" : "unavailable");
    assay__json_put_string(w, "reason", drift ? "" : made->drift_reason);
    char note[256] = "";
    if (drift && made->drift_note)
        snprintf(note, sizeof note, "%s %s", made->drift_note[0], made->drift_note[1]);
    assay__json_put_string(w, "note", note);
    assay__json_put_string(w, "engine", drift ? drift->engine : NULL);
    assay__json_put_string(w, "engine_version", drift ? drift->version : NULL);
    assay__json_put_string(w, "device", drift ? "cpu" : NULL);
    assay__json_key(w, "seed");
    if (drift)
        assay__json_unsigned(w, drift->seed);
    else
        assay__json_null(w);
    assay__json_key(w, "outputs");
    assay__json_array(w);
    for (size_t i = 0; drift && i < drift->output_count; i++)
        json_output(w, &drift->outputs[i], drift->engine);
    assay__json_array_end(w);
    assay__json_object_end(w);
}

void assay__make_json(struct assay__buf *out, const struct assay__made *made)
{
    struct assay__json_writer w;
    assay__json_start(&w, out, true);
    assay__json_head(&w, assay_version(), ASSAY_SCHEMA_VERSION);
    assay__json_put_string(&w, "command", "make");
    assay__json_key(&w, "model");
    assay__json_object(&w);
    assay__json_put_string(&w, "source", made->source);
    assay__json_put_bool(&w, "zoo", made->zoo);
    assay__json_put_string(&w, "path", made->path);
    assay__json_put_string(&w, "format", "ONNX");
    assay__json_put_integer(&w, "bytes", (int64_t)made->bytes);
    assay__json_key(&w, "parameters");
    if (made->parameters_known)
        assay__json_integer(&w, made->parameters);
    else
        assay__json_null(&w);
    assay__json_put_integer(&w, "nodes", (int64_t)made->nodes);
    assay__json_put_integer(&w, "opset", made->opset);
    assay__json_put_integer(&w, "ir_version", made->ir);
    assay__json_object_end(&w);
    assay__json_put_strings(&w, "steps", made->steps, made->step_count);
    assay__json_put_strings(&w, "notes", (const char *const *)made->notes->lines,
                            made->notes->count);
    assay__json_key(&w, "times");
    assay__json_object(&w);
    json_number(&w, "read", made->build_s, "s", "measured", "clock", "");
    json_number(&w, "rewrite", made->rewritten ? made->rewrite_s : NAN, "s", "measured", "clock",
                made->rewritten ? "" : "nothing was rewritten");
    json_number(&w, "write", made->write_s, "s", "measured", "clock", "");
    json_number(&w, "write_rate", made->write_s > 0 ? (double)made->bytes / made->write_s : NAN,
                "B/s", "derived", "clock", "bytes of the file over the time to write it");
    assay__json_object_end(&w);
    json_drift(&w, made);
    assay__json_object_end(&w);
    assay__buf_putc(out, '\n');
}

/* --- the zoo ---------------------------------------------------------------------------------- */

void assay__make_list_text(struct assay__buf *out, int columns)
{
    const struct assay__zoo_entry *entry;
    size_t room = columns > 40 ? (size_t)columns : 40;
    for (size_t i = 0; (entry = assay__zoo_at(i)); i++) {
        struct assay__buf words = {0}, line = {0};
        assay__buf_printf(out, "%s\n", entry->name);
        assay__buf_printf(out, "    %s\n", entry->summary);
        assay__zoo_params_line(&line, entry);
        /* wrapped at the commas */
        size_t used = 0;
        for (const char *at = assay__buf_text(&line); *at;) {
            size_t length = strcspn(at, ",") + (at[strcspn(at, ",")] == ',');
            if (used == 0 || used + length > room) {
                assay__buf_puts(&words, used ? "\n    " : "    ");
                used = 4;
            }
            assay__buf_add(&words, at, length);
            used += length;
            at += length;
        }
        if (words.data) assay__buf_printf(out, "%s\n", words.data);
        assay__buf_free(&words);
        assay__buf_free(&line);
    }
}

void assay__make_list_json(struct assay__buf *out)
{
    const struct assay__zoo_entry *entry;
    struct assay__json_writer w;
    assay__json_start(&w, out, true);
    assay__json_head(&w, assay_version(), ASSAY_SCHEMA_VERSION);
    assay__json_put_string(&w, "command", "make");
    assay__json_key(&w, "zoo");
    assay__json_array(&w);
    for (size_t i = 0; (entry = assay__zoo_at(i)); i++) {
        struct assay__buf line = {0};
        assay__zoo_params_line(&line, entry);
        assay__json_object(&w);
        assay__json_put_string(&w, "name", entry->name);
        assay__json_put_string(&w, "summary", entry->summary);
        assay__json_put_string(&w, "parameters", assay__buf_text(&line));
        assay__buf_free(&line);
        assay__json_object_end(&w);
    }
    assay__json_array_end(&w);
    assay__json_object_end(&w);
    assay__buf_putc(out, '\n');
}
