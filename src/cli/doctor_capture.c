/* doctor_capture.c - assay doctor --capture: writes this machine's files into a folder and says
 * what it wrote, and what it could not. */
#include "base/json.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/doctor.h"
#include "probe/capture.h"
#include "report/page.h"

#include <assay/profile.h>

static void render_json(struct assay__buf *out, const char *folder,
                        const struct assay__capture *capture)
{
    struct assay__json_writer writer, *w = &writer;
    assay__json_start(w, out, true);
    assay__render_json_head(w, assay_version(), ASSAY_SCHEMA_VERSION);
    assay__json_put_string(w, "command", "doctor");
    assay__json_key(w, "capture");
    assay__json_object(w);
    assay__json_put_string(w, "folder", folder);
    assay__json_put_integer(w, "files", (int64_t)capture->files);
    assay__json_put_integer(w, "bytes", (int64_t)capture->bytes);
    assay__json_key(w, "written");
    assay__json_array(w);
    for (size_t i = 0; i < capture->group_count; i++) {
        assay__json_object(w);
        assay__json_put_string(w, "folder", capture->groups[i].what);
        assay__json_put_integer(w, "files", (int64_t)capture->groups[i].files);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
    assay__json_key(w, "not_written");
    assay__json_array(w);
    for (size_t i = 0; i < capture->fault_count; i++) {
        assay__json_object(w);
        assay__json_put_string(w, "path", capture->faults[i].path);
        assay__json_put_string(w, "reason", capture->faults[i].reason);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
    assay__json_put_integer(w, "not_listed", (int64_t)capture->faults_left_out);
    assay__json_object_end(w);
    assay__json_object_end(w);
    assay__buf_putc(out, '\n');
}

static void render_text(struct assay__buf *out, const char *folder,
                        const struct assay__capture *capture)
{
    struct assay__page page = {
        .out = out, .columns = assay__stdout_columns(), .color = assay__stdout_color()};
    struct assay__buf text = {0};
    char size[64];
    assay__text_scaled(size, sizeof size, (double)capture->bytes, "B");
    for (size_t i = 0; i < capture->group_count; i++)
        assay__buf_printf(out, "%6zu  %s\n", capture->groups[i].files, capture->groups[i].what);
    if (capture->fault_count) assay__buf_puts(out, "\nnot written, or not whole:\n");
    for (size_t i = 0; i < capture->fault_count; i++) {
        assay__buf_clear(&text);
        assay__buf_printf(&text, "%s: %s", capture->faults[i].path, capture->faults[i].reason);
        assay__page_wrap(&page, ASSAY__STYLE_PLAIN, "  ", assay__buf_text(&text));
    }
    if (capture->faults_left_out)
        assay__buf_printf(out, "  … and %zu more\n", capture->faults_left_out);
    assay__buf_clear(&text);
    assay__buf_printf(
        &text,
        "%zu file%s, %s, in %s. The host's name was replaced; look through the folder "
        "before you give it away. To use it: ASSAY_FSROOT=%s assay doctor",
        capture->files, capture->files == 1 ? "" : "s", size, folder, folder);
    assay__buf_putc(out, '\n');
    assay__page_wrap(&page, ASSAY__STYLE_PLAIN, "", assay__buf_text(&text));
    assay__buf_free(&text);
}

int assay__doctor_capture(const char *folder, bool json)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__capture capture;
    struct assay_error error = {0};
    struct assay__buf out = {0};
    int code = arena ? assay__capture_write(arena, folder, &capture, &error) : ASSAY_ENOMEM;
    int status;
    if (code) {
        status = assay__fail(code, &error);
    } else {
        if (json)
            render_json(&out, folder, &capture);
        else
            render_text(&out, folder, &capture);
        status = assay__print(&out);
    }
    assay__arena_free(arena);
    return status;
}
