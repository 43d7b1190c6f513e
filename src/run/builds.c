/* builds.c - reads and writes the user's list of ONNX Runtime builds, and splits device names. */
#include "run/builds.h"

#include "base/no_memory.h"
#include "profile/facts.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIST_MOST ((size_t)1 << 20)
#define BUILDS_MOST 256

int assay__builds_path(char *out, size_t out_size, struct assay_error *error)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int length;
    if (config && config[0] == '/') /* the XDG specification: a relative path is ignored */
        length = snprintf(out, out_size, "%s/assay/ort", config);
    else if (home && home[0] == '/')
        length = snprintf(out, out_size, "%s/.config/assay/ort", home);
    else
        return assay_error_set(error, ASSAY_ENOTFOUND,
                               "no location for the list of builds: neither XDG_CONFIG_HOME nor "
                               "HOME is an absolute path");
    if (length < 0 || (size_t)length >= out_size)
        return assay_error_set(error, ASSAY_ELIMIT, "the path of the configuration is too long");
    return 0;
}

int assay__build_name_check(const char *name, struct assay_error *error)
{
    size_t length = strlen(name);
    bool good = length > 0 && length <= ASSAY__BUILD_NAME;
    for (size_t i = 0; i < length && good; i++)
        good = isalnum((unsigned char)name[i]) || name[i] == '-' || name[i] == '_';
    if (good && name[0] != '-') return 0;
    return assay_error_set(error, ASSAY_EINVAL,
                           "a build cannot be called '%.40s': 1 to %d letters, digits, '-' and '_'",
                           name, ASSAY__BUILD_NAME);
}

/* --- one line --------------------------------------------------------------------------------- */

struct line {
    const char *text; /* the whole line, without its end */
    size_t length;
    const char *name, *path; /* of a build; else name_length is 0 */
    size_t name_length, path_length;
    const char *wrong; /* NULL: a build, a comment or blank */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Reads the line at *at and moves past it; false at the end of the text. */
static bool next_line(const char **at, const char *end, struct line *line)
{
    if (*at >= end) return false;
    const char *stop = memchr(*at, '\n', (size_t)(end - *at));
    *line = (struct line){.text = *at, .length = (size_t)((stop ? stop : end) - *at)};
    *at = stop ? stop + 1 : end;
    const char *from = line->text, *to = line->text + line->length;
    if (memchr(from, '\0', line->length)) {
        line->wrong = "it contains a NUL byte";
        return true;
    }
    while (from < to && is_blank(*from))
        from++;
    while (to > from && is_blank(to[-1]))
        to--;
    if (from == to || *from == '#') return true;
    line->name = from;
    while (from < to && !is_blank(*from))
        from++;
    line->name_length = (size_t)(from - line->name);
    while (from < to && is_blank(*from))
        from++;
    line->path = from;
    line->path_length = (size_t)(to - from);
    if (line->path_length == 0)
        line->wrong = "not of the form NAME PATH";
    else if (line->path[0] != '/')
        line->wrong = "the path is not absolute";
    else if (line->path_length >= PATH_MAX)
        line->wrong = "the path is too long";
    return true;
}

/* --- reading ---------------------------------------------------------------------------------- */

const struct assay__build *assay__builds_find(const struct assay__builds *builds, const char *name)
{
    for (size_t i = 0; i < builds->count; i++)
        if (strcmp(builds->items[i].name, name) == 0) return &builds->items[i];
    return NULL;
}

static void complain(struct assay__arena *arena, struct assay__builds *builds, int number,
                     const char *what)
{
    const char *text = assay__arena_printf(arena, "%s:%d: %s", builds->path, number, what);
    if (text) builds->complaints[builds->complaint_count++] = text;
}

static int take_line(struct assay__arena *arena, const struct line *line, int number,
                     struct assay__builds *builds)
{
    struct assay_error wrong = {0};
    if (line->wrong) {
        complain(arena, builds, number, line->wrong);
        return 0;
    }
    if (line->name_length == 0) return 0;
    const char *name = assay__arena_strndup(arena, line->name, line->name_length),
               *path = assay__arena_strndup(arena, line->path, line->path_length);
    if (!name || !path) return ASSAY_ENOMEM;
    if (assay__build_name_check(name, &wrong))
        complain(arena, builds, number, wrong.message);
    else if (assay__builds_find(builds, name))
        complain(arena, builds, number,
                 "this name is already defined above; the first definition is used");
    else
        builds->items[builds->count++] = (struct assay__build){name, path};
    return 0;
}

static int read_text(char **text, size_t *length, const char *path, struct assay_error *error)
{
    *text = NULL;
    *length = 0;
    struct stat info;
    if (stat(path, &info) != 0) {
        if (errno == ENOENT || errno == ENOTDIR) return 0;
        return assay_error_set(error, ASSAY_EIO, "%s: %s", path, strerror(errno));
    }
    if (S_ISDIR(info.st_mode))
        return assay_error_set(error, ASSAY_EIO, "%s: the list of builds is a folder, not a file",
                               path);
    if (info.st_size == 0) return 0;
    return assay__file_read(path, LIST_MOST, text, length, error);
}

int assay__builds_read(struct assay__arena *arena, struct assay__builds *builds,
                       struct assay_error *error)
{
    char path[PATH_MAX];
    char *text = NULL;
    size_t length = 0, lines = 1;
    *builds = (struct assay__builds){.path = ""};
    if (assay__builds_path(path, sizeof path, NULL)) return 0; /* no place: no list */
    int code = read_text(&text, &length, path, error);
    if (code) return code;
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    builds->path = assay__arena_strdup(arena, path);
    builds->items = assay__arena_array(arena, lines, sizeof *builds->items);
    builds->complaints = assay__arena_array(arena, lines, sizeof *builds->complaints);
    if (!builds->path || !builds->items || !builds->complaints) code = ASSAY_ENOMEM;
    const char *at = text, *end = text ? text + length : text;
    struct line line;
    for (int number = 1; code == 0 && text && next_line(&at, end, &line); number++) {
        if (builds->count >= BUILDS_MOST) {
            complain(arena, builds, number, "too many builds; the rest are ignored");
            break;
        }
        code = take_line(arena, &line, number, builds);
    }
    free(text);
    return code ? assay_error_set(error, code, "out of memory for the list of builds") : 0;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* The list without the builds of that name, and with a new line at the end if `path` is not
 * NULL. */
static int rewrite(const char *name, const char *path, size_t *removed, struct assay_error *error)
{
    char list[PATH_MAX];
    char *text = NULL;
    size_t length = 0, name_length = strlen(name);
    struct assay__buf out = {0};
    struct line line;
    *removed = 0;
    int code = assay__builds_path(list, sizeof list, error);
    if (code == 0) code = read_text(&text, &length, list, error);
    if (code) return code;
    const char *at = text, *end = text ? text + length : text;
    while (text && next_line(&at, end, &line)) {
        if (!line.wrong && line.name_length == name_length &&
            strncmp(line.name, name, name_length) == 0) {
            (*removed)++;
            continue;
        }
        assay__buf_add(&out, line.text, line.length);
        assay__buf_putc(&out, '\n');
    }
    if (path) assay__buf_printf(&out, "%s %s\n", name, path);
    if (out.failed) code = assay__no_memory(error);
    if (code == 0 && (path || *removed)) code = assay__file_keep(list, &out, error);
    free(text);
    assay__buf_free(&out);
    return code;
}

int assay__builds_add(const char *name, const char *path, struct assay_error *error)
{
    size_t removed;
    int code = assay__build_name_check(name, error);
    if (code) return code;
    if (path[0] != '/' || strchr(path, '\n') || strlen(path) >= PATH_MAX)
        return assay_error_set(error, ASSAY_EINVAL, "the path of a build must be absolute");
    return rewrite(name, path, &removed, error);
}

int assay__builds_remove(const char *name, struct assay_error *error)
{
    size_t removed;
    int code = rewrite(name, NULL, &removed, error);
    if (code == 0 && removed == 0)
        code = assay_error_set(error, ASSAY_ENOTFOUND, "there is no build '%s'", name);
    return code;
}

/* --- names and paths -------------------------------------------------------------------------- */

int assay__build_path_check(struct assay__arena *arena, const char *given, const char **path,
                            struct assay_error *error)
{
    char here[PATH_MAX], whole[PATH_MAX];
    *path = NULL;
    if (!given[0]) return assay_error_set(error, ASSAY_EINVAL, "the path of a build is missing");
    if (given[0] == '/')
        snprintf(whole, sizeof whole, "%.*s", (int)sizeof whole - 1, given);
    else if (!getcwd(here, sizeof here) || assay__path_join(here, given, whole, sizeof whole))
        return assay_error_set(error, ASSAY_ELIMIT, "%s: the path is too long", given);
    if (strlen(given) >= sizeof whole || strchr(given, '\n'))
        return assay_error_set(error, ASSAY_EINVAL, "not a valid path");
    if (!assay__file_exists(whole))
        return assay_error_set(error, ASSAY_ENOTFOUND,
                               "%s: there is no such file or folder of ONNX Runtime", given);
    *path = assay__arena_strdup(arena, whole);
    return *path ? 0 : assay__no_memory(error);
}

/* Folders that do not identify a build: those of the packages' layout, versions, links to one. */
static bool is_generic_folder(const char *part)
{
    return assay__text_is_one_of(part, "capi onnxruntime lib lib64 bin . .. site-packages current "
                                       "libonnxruntime*") ||
           part[strspn(part, "0123456789.")] == '\0';
}

static void name_from(const char *part, char *out, size_t out_size)
{
    size_t used = 0;
    if (strncmp(part, "onnxruntime", 11) == 0 && (part[11] == '-' || part[11] == '_')) part += 12;
    for (; *part && used + 1 < out_size; part++) {
        bool good = isalnum((unsigned char)*part) || *part == '_';
        if (good)
            out[used++] = (char)tolower((unsigned char)*part);
        else if (used && out[used - 1] != '-')
            out[used++] = '-';
    }
    while (used && out[used - 1] == '-')
        used--;
    out[used] = '\0';
}

const char *assay__build_name_for(struct assay__arena *arena, const char *path,
                                  const struct assay__builds *builds)
{
    char copy[PATH_MAX], base[ASSAY__BUILD_NAME - 3] = "", name[ASSAY__BUILD_NAME + 1];
    snprintf(copy, sizeof copy, "%s", path);
    for (char *slash = strrchr(copy, '/'); slash && !base[0]; slash = strrchr(copy, '/')) {
        if (!is_generic_folder(slash + 1)) name_from(slash + 1, base, sizeof base);
        *slash = '\0';
    }
    if (!base[0]) snprintf(base, sizeof base, "ort");
    snprintf(name, sizeof name, "%s", base);
    for (unsigned n = 2; assay__builds_find(builds, name) && n < 1000; n++)
        snprintf(name, sizeof name, "%s-%u", base, n % 1000);
    return assay__arena_strdup(arena, name);
}

/* --- a device with its build ------------------------------------------------------------------ */

int assay__build_resolve(struct assay__arena *arena, const char *text, const char **library,
                         const char **device, struct assay_error *error)
{
    const char *slash = strchr(text, '/');
    struct assay__builds builds;
    *library = NULL;
    *device = assay__arena_strdup(arena, assay__device_bare(text));
    if (!*device) return assay__no_memory(error);
    if (!slash) return 0;
    const char *name = assay__arena_strndup(arena, text, (size_t)(slash - text));
    if (!name) return assay__no_memory(error);
    if (!**device)
        return assay_error_set(error, ASSAY_EINVAL, "device '%s': its name after '/' is missing",
                               text);
    int code = assay__build_name_check(name, error);
    if (code == 0) code = assay__builds_read(arena, &builds, error);
    if (code) return code;
    const struct assay__build *build = assay__builds_find(&builds, name);
    if (!build) {
        struct assay__buf known = {0};
        for (size_t i = 0; i < builds.count; i++)
            assay__buf_printf(&known, "%s%s", i ? ", " : "", builds.items[i].name);
        code = assay_error_set(error, ASSAY_ENOTFOUND,
                               "there is no ONNX Runtime build '%s' (known: %.200s)", name,
                               known.length ? known.data : "none");
        assay__buf_free(&known);
        return code;
    }
    *library = build->library;
    return 0;
}

int assay__build_of_run(struct assay__arena *arena, const char *engine, const char *text,
                        const char **library, const char **device, struct assay_error *error)
{
    const char *own = NULL;
    if (strchr(text, '/') && strcmp(engine, "ort") != 0)
        return assay_error_set(error, ASSAY_EINVAL,
                               "device '%s': builds belong to ONNX Runtime, engine '%s' has none",
                               text, engine);
    if (strchr(text, '/') && *library && **library)
        return assay_error_set(
            error, ASSAY_EINVAL,
            "device '%s' names a build, but a library is given too: give only one", text);
    int code = assay__build_resolve(arena, text, &own, device, error);
    if (code == 0 && own) *library = own;
    return code;
}

int assay__build_take(struct assay__arena *arena, const char *text, struct assay__builds *builds,
                      struct assay_error *error)
{
    const char *equals = strchr(text, '='), *path = NULL, *name = NULL;
    int code = 0;
    if (equals && !memchr(text, '/', (size_t)(equals - text))) {
        name = assay__arena_strndup(arena, text, (size_t)(equals - text));
        code = name ? assay__build_name_check(name, error) : assay__no_memory(error);
    }
    if (!code) code = assay__build_path_check(arena, name ? equals + 1 : text, &path, error);
    if (!code && !name) name = assay__build_name_for(arena, path, builds);
    if (!code && !name) code = assay__no_memory(error);
    if (!code && assay__builds_find(builds, name))
        code = assay_error_set(error, ASSAY_EINVAL, "a build called '%s' already exists", name);
    if (!code) builds->items[builds->count++] = (struct assay__build){name, path};
    if (error && code == ASSAY_EINVAL) error->option = "ort";
    return code;
}
