/* make_json.c - what `assay make` made, and the list of the zoo, as JSON. */
#include "report/report_make.h"

#include "report/json/json_head.h"
#include "zoo/zoo.h"

#include <assay/api.h>
#include <assay/profile.h>
#include <math.h>

static void json_number(struct assay__json_writer *w, const char *key, double value,
                        const char *unit, const char *state, const char *source, const char *note)
{
    assay__json_put_object(w, key);
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
    struct assay__drift_number numbers[ASSAY__DRIFT_NUMBERS];
    assay__json_object(w);
    assay__json_put_string(w, "name", output->name);
    assay__json_put_string(w, "dtype", assay__dtype_name(output->dtype));
    assay__json_put_array(w, "shape");
    for (int d = 0; d < output->rank; d++)
        assay__json_integer(w, output->dims[d]);
    assay__json_array_end(w);
    assay__drift_numbers(output, numbers);
    for (size_t i = 0; i < ASSAY__DRIFT_NUMBERS; i++)
        json_number(w, numbers[i].name, numbers[i].value, numbers[i].unit, "measured", engine,
                    numbers[i].gap);
    assay__json_put_integer(w, "rows", output->rows);
    assay__json_put_integer(w, "elements", output->elements);
    assay__json_put_integer(w, "nonfinite", output->nonfinite);
    assay__json_put_integer(w, "broken", output->broken);
    assay__json_object_end(w);
}

static void json_drift(struct assay__json_writer *w, const struct assay__made *made)
{
    const struct assay__drift *drift = made->drift;
    if (!made->rewritten) {
        assay__json_put_null(w, "drift");
        return;
    }
    assay__json_put_object(w, "drift");
    assay__json_put_string(w, "state", drift ? "measured" : "unavailable");
    assay__json_put_string(w, "reason", drift ? "" : made->drift_reason);
    assay__json_put_string(w, "note", drift && made->drift_note ? made->drift_note : "");
    assay__json_put_string(w, "engine", drift ? drift->engine : NULL);
    assay__json_put_string(w, "engine_version", drift ? drift->version : NULL);
    assay__json_put_string(w, "device", drift ? "cpu" : NULL);
    assay__json_key(w, "seed");
    if (drift)
        assay__json_unsigned(w, drift->seed);
    else
        assay__json_null(w);
    assay__json_put_array(w, "outputs");
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
    assay__json_put_object(&w, "model");
    assay__json_put_string(&w, "source", made->source);
    assay__json_put_bool(&w, "zoo", made->zoo);
    assay__json_put_string(&w, "path", made->path);
    assay__json_put_string(&w, "format", "ONNX");
    assay__json_put_integer(&w, "bytes", (int64_t)made->bytes);
    assay__json_put_count(&w, "parameters", made->parameters_known ? made->parameters : -1, 0);
    assay__json_put_integer(&w, "nodes", (int64_t)made->nodes);
    assay__json_put_integer(&w, "opset", made->opset);
    assay__json_put_integer(&w, "ir_version", made->ir);
    assay__json_object_end(&w);
    assay__json_put_strings(&w, "steps", made->steps, made->step_count);
    assay__json_put_strings(&w, "notes", (const char *const *)made->notes->lines,
                            made->notes->count);
    assay__json_put_object(&w, "times");
    json_number(&w, "read", made->build_s, "s", "measured", "clock", "");
    json_number(&w, "rewrite", made->rewrite_s, "s", "measured", "clock",
                made->rewritten ? "" : "nothing was rewritten");
    json_number(&w, "write", made->write_s, "s", "measured", "clock", "");
    json_number(&w, "write_rate", assay__made_write_rate(made), "B/s", "derived", "clock",
                "bytes of the file over the time to write it");
    assay__json_object_end(&w);
    json_drift(&w, made);
    assay__json_object_end(&w);
    assay__buf_putc(out, '\n');
}

void assay__zoo_json(struct assay__buf *out)
{
    const struct assay__zoo_entry *entry;
    struct assay__json_writer w;
    assay__json_start(&w, out, true);
    assay__json_head(&w, assay_version(), ASSAY_SCHEMA_VERSION);
    assay__json_put_string(&w, "command", "make");
    assay__json_put_array(&w, "zoo");
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
