/* make_json.c - what `assay make` made, and the list of the zoo, as JSON. */
#include "report/report_make.h"

#include "report/json/json_members.h"
#include "zoo/zoo.h"

#include <assay/api.h>
#include <assay/profile.h>
#include <math.h>

static void put_metric(struct assay__json_writer *w, const char *key, double value,
                       const char *unit, const char *state, const char *source, const char *note)
{
    assay__json_record(w, key, json_number("value", value), json_string("unit", unit),
                       json_string("state", isnan(value) ? "unavailable" : state),
                       json_string("source", isnan(value) ? "none" : source),
                       json_string("note", note));
}

static void json_output(struct assay__json_writer *w, const struct assay__drift_output *output,
                        const char *engine)
{
    struct assay__drift_number numbers[ASSAY__DRIFT_NUMBERS];
    assay__json_object(w);
    assay__json_members(w, json_string("name", output->name),
                        json_string("dtype", assay__dtype_name(output->dtype)));
    assay__json_put_array(w, "shape");
    for (int d = 0; d < output->rank; d++)
        assay__json_integer(w, output->dims[d]);
    assay__json_array_end(w);
    assay__drift_numbers(output, numbers);
    for (size_t i = 0; i < ASSAY__DRIFT_NUMBERS; i++)
        put_metric(w, numbers[i].name, numbers[i].value, numbers[i].unit, "measured", engine,
                   numbers[i].gap);
    assay__json_members(
        w, json_integer("rows", output->rows), json_integer("elements", output->elements),
        json_integer("nonfinite", output->nonfinite), json_integer("broken", output->broken));
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
    assay__json_members(w, json_string("state", drift ? "measured" : "unavailable"),
                        json_string("reason", drift ? "" : made->drift_reason),
                        json_string("note", drift && made->drift_note ? made->drift_note : ""),
                        json_string("engine", drift ? drift->engine : NULL),
                        json_string("engine_version", drift ? drift->version : NULL),
                        json_string("device", drift ? "cpu" : NULL));
    assay__json_assumed(w, drift ? drift->assumed : NULL);
    assay__json_key(w, "seed");
    if (drift)
        assay__json_unsigned(w, drift->seed);
    else
        assay__json_null(w);
    for (ASSAY__JSON_EACH(i, w, "outputs", drift ? drift->output_count : 0))
        json_output(w, &drift->outputs[i], drift->engine);
    assay__json_object_end(w);
}

void assay__make_json(struct assay__buf *out, const struct assay__made *made)
{
    struct assay__json_writer w;
    assay__json_head(&w, out, "make");
    assay__json_record(&w, "model", json_string("source", made->source),
                       json_bool("zoo", made->zoo), json_string("path", made->path),
                       json_string("format", "ONNX"), json_integer("bytes", made->bytes),
                       json_count("parameters", made->parameters_known ? made->parameters : -1, 0),
                       json_integer("nodes", made->nodes), json_integer("opset", made->opset),
                       json_integer("ir_version", made->ir));
    assay__json_put_strings(&w, "steps", made->steps, made->step_count);
    assay__json_put_strings(&w, "notes", (const char *const *)made->notes->lines,
                            made->notes->count);
    assay__json_put_object(&w, "times");
    put_metric(&w, "read", made->build_s, "s", "measured", "clock", "");
    put_metric(&w, "rewrite", made->rewrite_s, "s", "measured", "clock",
               made->rewritten ? "" : "nothing was rewritten");
    put_metric(&w, "write", made->write_s, "s", "measured", "clock", "");
    put_metric(&w, "write_rate", assay__made_write_rate(made), "B/s", "derived", "clock",
               "bytes of the file over the time to write it");
    assay__json_object_end(&w);
    json_drift(&w, made);
    assay__json_tail(&w);
}

void assay__zoo_json(struct assay__buf *out)
{
    const struct assay__zoo_entry *entry;
    struct assay__json_writer w;
    assay__json_head(&w, out, "make");
    assay__json_put_array(&w, "zoo");
    for (size_t i = 0; (entry = assay__zoo_at(i)); i++) {
        struct assay__buf line = {0};
        assay__zoo_params_line(&line, entry);
        assay__json_record(&w, NULL, json_string("name", entry->name),
                           json_string("summary", entry->summary),
                           json_string("parameters", assay__buf_text(&line)));
        assay__buf_free(&line);
    }
    assay__json_array_end(&w);
    assay__json_tail(&w);
}
