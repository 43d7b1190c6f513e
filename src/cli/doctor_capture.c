/* doctor_capture.c - assay doctor --capture: writes this machine's files into a folder and says
 * what it wrote, and what it could not. */
#include "cli/doctor.h"
#include "cli/render_options.h"

int assay__doctor_capture(const char *folder, const struct assay__render_options *render)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__capture capture;
    struct assay_error error = {0};
    struct assay__buf out = {0};
    struct assay__doc *doc = NULL;
    int code = arena ? assay__capture_write(arena, folder, &capture, &error) : ASSAY_ENOMEM;
    int status;
    if (code) {
        status = assay__fail(code, &error);
    } else {
        if (assay__wants_json(render))
            assay__capture_json(&out, &capture, folder);
        else if (assay__capture_document(&capture, folder, &doc))
            out.failed = true;
        status = assay__print_document(render, doc, &out);
    }
    assay__arena_free(arena);
    return status;
}
