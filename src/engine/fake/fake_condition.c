/* fake_condition.c - picks the items of a script that hold for a session's options.
 * `when_threads=2:steady=50us` is `steady=50us` in a session of two threads and nothing in another
 * one; the same with `when_batch` (the first dimension of the first input), `when_opt`,
 * `when_spinning` (off) and `when_model` (a part of the model's path). So a test can make a change
 * of the options help, hurt, fail or alter the outputs. An item that is none of these is left as it
 * is: the script's reader refuses it. */
#include "engine/fake/fake_condition.h"

#include "base/buf.h"

#include <stdio.h>
#include <string.h>

static bool is_now(const char *what, const char *value, const struct assay_session_options *options,
                   bool *known)
{
    char number[32] = "";
    *known = true;
    if (strcmp(what, "when_threads") == 0) {
        snprintf(number, sizeof number, "%d", options->threads);
        return strcmp(number, value) == 0;
    }
    if (strcmp(what, "when_batch") == 0) {
        if (!options->input_count || options->inputs[0].rank < 1) return false;
        snprintf(number, sizeof number, "%lld", (long long)options->inputs[0].dims[0]);
        return strcmp(number, value) == 0;
    }
    if (strcmp(what, "when_opt") == 0)
        return strcmp(options->optimization ? options->optimization : "all", value) == 0;
    if (strcmp(what, "when_spinning") == 0)
        return strcmp(options->spinning == 0 ? "off" : "on", value) == 0;
    if (strcmp(what, "when_model") == 0)
        return options->model_path && strstr(options->model_path, value) != NULL;
    *known = false;
    return false;
}

/* One item, without the semicolon behind it. */
static void put_item(struct assay__buf *out, const char *item, size_t length,
                     const struct assay_session_options *options)
{
    char copy[256];
    size_t skip = strspn(item, " \t\n");
    if (skip > length) skip = length;
    snprintf(copy, sizeof copy, "%.*s", (int)(length - skip < 255 ? length - skip : 255),
             item + skip);
    char *value = strchr(copy, '='), *then = value ? strchr(value, ':') : NULL;
    bool known = false, now = false;
    if (strncmp(copy, "when_", 5) == 0 && then && length - skip < sizeof copy) {
        *value++ = '\0';
        *then++ = '\0';
        now = is_now(copy, value, options, &known);
    }
    if (!known)
        assay__buf_printf(out, "%.*s;", (int)length, item);
    else if (now)
        assay__buf_printf(out, "%s;", then);
}

const char *assay__fake_script_for(struct assay__arena *arena,
                                   const struct assay_session_options *options)
{
    const char *script = options->script ? options->script : "";
    if (!strstr(script, "when_")) return script;
    struct assay__buf out = {0};
    for (const char *at = script; *at;) {
        size_t length = strcspn(at, ";");
        put_item(&out, at, length, options);
        at += length;
        at += *at == ';';
    }
    const char *chosen = out.failed ? NULL : assay__arena_strdup(arena, out.data ? out.data : "");
    assay__buf_free(&out);
    return chosen ? chosen : script; /* whose items are refused then */
}
