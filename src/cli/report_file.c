/* report_file.c - writes a report to a file, in the format of its extension; and single figures, as
 * SVG or text. */
#include "cli/report_file.h"

#include "base/file.h"
#include "cli/render_options.h"
#include "model/model_format.h"
#include "report/formats.h"
#include "report/report_figure.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

bool assay__report_file_is_database(const char *path)
{
    static const char mark[] = "SQLite format 3"; /* its NUL is part of it */
    struct assay__mapping file;
    if (assay__file_map(path, &file, NULL)) return false;
    bool database = file.size >= sizeof mark && memcmp(file.data, mark, sizeof mark) == 0;
    assay__file_unmap(&file);
    return database;
}

/* By its extension: an ONNX file has no magic number. */
static bool is_model(const char *path)
{
    char ending[16];
    const char *extension = assay__path_extension(path);
    return extension && assay__file_exists(path) &&
           snprintf(ending, sizeof ending, ".%s", extension) < (int)sizeof ending &&
           assay__model_file_named(ending);
}

bool assay__same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool assay__same_place(const char *a, const char *b)
{
    char folder_a[4096], folder_b[4096];
    if (strcmp(a, b) == 0 || assay__same_file(a, b)) return true;
    return strcmp(name_of(a), name_of(b)) == 0 &&
           assay__path_folder(a, folder_a, sizeof folder_a) == 0 &&
           assay__path_folder(b, folder_b, sizeof folder_b) == 0 &&
           assay__same_file(folder_a, folder_b);
}

int assay__report_file_ending(const char *command, const char *option, const char *path)
{
    const char *extension = assay__path_extension(path);
    struct assay__buf known = {0};
    if (!extension || assay__format_of_path(path) || assay__path_is_svg(path)) return 0;
    for (size_t i = 0; assay__format_at(i); i++)
        for (const char *at = assay__format_at(i)->extensions; *at; at += strspn(at, " ")) {
            int length = (int)strcspn(at, " ");
            char word[20];
            snprintf(word, sizeof word, ".%.*s,", length, at);
            if (!known.data || !strstr(known.data, word)) assay__buf_printf(&known, "%s ", word);
            at += length;
        }
    assay__say("%s: %s: unknown format '.%.40s'; known: %s.svg", command, option, extension,
               assay__buf_text(&known));
    assay__buf_free(&known);
    return ASSAY__EXIT_USAGE;
}

int assay__report_file_check(const char *command, const char *path, const char *kept)
{
    static const char *const ends[] = {"-wal", "-shm", "-journal"}; /* next to an SQLite database */
    struct assay_error error = {0};
    if (!path) return 0;
    if (kept && assay__same_place(path, kept))
        return assay__refuse("%s: --report and --output name the same file '%s'", command, path);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        char stem[4096];
        size_t length = strlen(path), tail = strlen(ends[i]);
        if (length <= tail || length - tail >= sizeof stem || strcmp(path + length - tail, ends[i]))
            continue;
        memcpy(stem, path, length - tail);
        stem[length - tail] = '\0';
        if ((kept && assay__same_place(stem, kept)) || assay__report_file_is_database(stem))
            return assay__refuse("%s: '%s' is the name of the profile's own log; give another name",
                                 command, path);
    }
    if (assay__report_file_is_database(path))
        return assay__refuse("%s: '%s' is a profile or another database, so the report does not "
                             "replace it; give another name",
                             command, path);
    if (is_model(path))
        return assay__refuse("%s: '%s' is a model, so the report does not replace it; give another "
                             "name",
                             command, path);
    int code = assay__file_writable(path, &error);
    if (code) assay__fail(code, &error);
    return code ? ASSAY__EXIT_FAILED : 0; /* whatever is in the way */
}

int assay__report_file_write(const struct assay_profile *profile,
                             const struct assay__render_options *options, const char *path,
                             bool quiet)
{
    const struct assay__format *format = assay__format_of_path(path);
    struct assay__render_options chosen = *options;
    struct assay_error error = {0};
    struct assay__buf out = {0};
    int code;
    if (!path) return 0;
    chosen.json = false;
    chosen.table = chosen.detail = NULL; /* of the report */
    chosen.format = format ? format->name : "html";
    if (assay__path_is_svg(path))
        code = assay__report_figure_show(profile, assay__report_figure_of(profile, path), NULL,
                                         true, &out, &error);
    else
        code = assay__render(profile, &chosen, true, &out, &error);
    if (!code && assay__report_file_is_database(path)) /* under another name, such as a link */
        code = assay_error_set(&error, ASSAY_EINVAL,
                               "'%s' is the profile, so the report does not replace it", path);
    if (!code) code = assay__file_write(path, out.data, out.length, &error);
    assay__buf_free(&out);
    if (code) {
        assay__fail(code, &error);
        return ASSAY__EXIT_FAILED;
    }
    if (!quiet) assay__say("report written to %s", path);
    return 0;
}

/* --- figures ---------------------------------------------------------------------------------- */

int assay__report_figure_show(const struct assay_profile *profile, const char *name,
                              const struct assay__render_options *render, bool to_file,
                              struct assay__buf *out, struct assay_error *error)
{
    struct assay_report_options view = {0};
    size_t left_out = 0;
    if (render) view = assay__report_options_of(render, to_file);
    int code = assay__report_figure(profile, name, render ? &view : NULL, out, &left_out, error);
    if (!code && left_out)
        assay__say("report: %zu more trials have such a figure, which is not drawn", left_out);
    return code;
}

int assay__report_diff_figure_show(const struct assay__diff *diff, const char *name,
                                   const struct assay__render_options *render, bool to_file,
                                   struct assay__buf *out, struct assay_error *error)
{
    struct assay_report_options view = {0};
    if (render) view = assay__report_options_of(render, to_file);
    return assay__report_diff_figure(diff, name, render ? &view : NULL, out, error);
}
