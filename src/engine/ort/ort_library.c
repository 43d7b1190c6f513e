/* ort_library.c - finds ONNX Runtime on this machine, loads it, and fills the table of its
 * functions.
 *
 * Search order: the path given by the caller; $ASSAY_ORT_LIBRARY; next to the program and next to
 * libassay (folders of `places`); the system loader. A given path is either used or refused:
 * nothing else is tried. A path may be a folder: the library is looked for in it, in its lib/ (the
 * release archives) and in its capi/ and onnxruntime/capi/ (the Python package). */
#include "engine/ort/ort_abi.h"

#include "base/file.h"
#include "platform/platform.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_SIZE 1024

/* Number of slots of the table by API version: the index of the last function of a version plus
 * one. Versions that added nothing repeat the previous number. */
static const int slot_counts[ASSAY__ORT_API_NEWEST + 1] = {
    0,   102, 119, 125, 127, 150, 158, 162, 170, 192, 204, /* 0 … 10 */
    210, 219, 225, 239, 255, 266, 276, 280, 280, 285,      /* 11 … 20 */
    285, 318, 390, 415, 419, 419, 422, 424, 425, 425,      /* 21 … 30 */
};

/* --- the table -------------------------------------------------------------------------------- */

/* "1.31.1" -> 31: the minor version is the API version. 0 if the text has another form. */
static int api_version_of(const char *version)
{
    if (!version || strncmp(version, "1.", 2) != 0) return 0;
    char *end = NULL;
    long minor = strtol(version + 2, &end, 10);
    if (end == version + 2 || (*end != '.' && *end != '\0') || minor < 1 || minor > 10000) return 0;
    return (int)minor;
}

int assay__ort_fill(struct assay__ort *ort, const struct OrtApiBase *base, const char *name,
                    struct assay_error *error)
{
    memset(ort, 0, sizeof *ort);
    ort->version = base && base->GetVersionString ? base->GetVersionString() : NULL;
    int minor = api_version_of(ort->version);
    if (minor == 0)
        return assay_error_set(error, ASSAY_EUNSUPPORTED,
                               "%s: not a version of ONNX Runtime that assay knows (\"%s\")", name,
                               ort->version ? ort->version : "");
    if (minor < ASSAY__ORT_API_OLDEST)
        return assay_error_set(error, ASSAY_EUNSUPPORTED,
                               "%s: ONNX Runtime %s is too old, assay needs 1.%d or newer", name,
                               ort->version, ASSAY__ORT_API_OLDEST);
    /* Requesting a version that the library does not have makes it print to stderr, so request one
     * it has. */
    ort->api_version = minor < ASSAY__ORT_API_NEWEST ? minor : ASSAY__ORT_API_NEWEST;
    ort->api = base->GetApi((uint32_t)ort->api_version);
    if (!ort->api)
        return assay_error_set(error, ASSAY_EUNSUPPORTED,
                               "%s: ONNX Runtime %s refuses API version %d", name, ort->version,
                               ort->api_version);
    typedef void slot_fn(void);
    slot_fn *const *slots = (slot_fn *const *)(const void *)ort->api;
    int count = slot_counts[ort->api_version];
#define FILL(member, slot, result, arguments) \
    ort->member = (slot) < count ? (result(*) arguments)slots[slot] : NULL;
    ASSAY__ORT_API(FILL)
#undef FILL
    return 0;
}

void assay__ort_ignore(const struct assay__ort *ort, OrtStatus *status)
{
    if (status) ort->release_status(status);
}

/* The end of a word that is a source position ("…/ops.h:583"); NULL if it is not one. */
static const char *position_end(const char *word)
{
    static const char *const endings[] = {".cc:", ".h:", ".cpp:"};
    size_t length = strcspn(word, " \n");
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        const char *found = strstr(word, endings[i]);
        if (!found || found >= word + length) continue;
        found += strlen(endings[i]);
        if (found < word + length && *found >= '0' && *found <= '9') return word + length;
    }
    return NULL;
}

/* What follows the C++ function after a source position: "void a::f(int) text", with
 * "[with T = float]" in between for templates. */
static const char *signature_end(const char *text)
{
    const char *at = strchr(text, '(');
    if (!at || !strstr(text, "onnxruntime::") || strstr(text, "onnxruntime::") > at) return text;
    int depth = 0;
    do
        depth += (*at == '(') - (*at == ')');
    while (*at++ && depth > 0);
    if (depth > 0) return text;
    if (strncmp(at, " const", 6) == 0) at += 6;
    const char *bracket = strncmp(at, " [with ", 7) == 0 ? strchr(at, ']') : NULL;
    return bracket ? bracket + 1 : at;
}

/* ONNX Runtime's messages contain C++ source positions and signatures, and span several lines.
 * Keeps what is useful to people: removes those and a path that the caller mentions anyway, and
 * collapses white space. */
void assay__ort_message_trim(const char *message, char *out, size_t out_size)
{
    const char *text = message;
    const char *failed = strncmp(text, "Load model from ", 16) == 0 ? strstr(text, " failed:")
                                                                    : NULL;
    if (failed && failed[8] != '\0') text = failed + 8;
    size_t used = 0;
    while (*text && used + 1 < out_size) {
        char c = *text == '\n' || *text == '\t' || *text == '\r' ? ' ' : *text;
        bool word_start = used == 0 || out[used - 1] == ' ';
        const char *end = word_start ? position_end(text) : NULL;
        if (end) {
            text = signature_end(end);
            continue;
        }
        if (c != ' ' || !word_start) out[used++] = c;
        text++;
    }
    while (used > 0 && out[used - 1] == ' ')
        used--;
    out[used] = '\0';
}

int assay__ort_check(const struct assay__ort *ort, OrtStatus *status, struct assay_error *error,
                     const char *what)
{
    if (!status) return 0;
    char text[400];
    assay__ort_message_trim(ort->get_error_message(status), text, sizeof text);
    int code = ort->get_error_code(status);
    ort->release_status(status);
    if (strstr(text, "fallback to CPU EP has been explicitly disabled")) /* of a strict session */
        snprintf(text, sizeof text,
                 "the provider does not support all of its operators: some would run on the CPU");
    int result = code == ASSAY__ORT_NO_SUCHFILE        ? ASSAY_ENOTFOUND
                 : code == ASSAY__ORT_INVALID_PROTOBUF ? ASSAY_EFORMAT
                                                       : ASSAY_EENGINE;
    return assay_error_set(error, result, "%s: %s", what, text);
}

/* --- finding it ------------------------------------------------------------------------------- */

/* libonnxruntime.so, libonnxruntime.so.1.31.1, libonnxruntime.1.31.1.dylib; not
 * libonnxruntime_providers_shared.so. */
static bool is_library_name(const char *name)
{
    static const char prefix[] = "libonnxruntime.";
    if (strncmp(name, prefix, sizeof prefix - 1) != 0) return false;
    const char *rest = name + sizeof prefix - 2; /* from the dot */
    if (strcmp(rest, ".so") == 0 || strncmp(rest, ".so.", 4) == 0) return true;
    size_t length = strlen(rest);
    return length >= 6 && strcmp(rest + length - 6, ".dylib") == 0;
}

/* The library in one folder: the shortest name (without a version, if there is one). */
static bool find_in_folder(const char *folder, char *out, size_t out_size)
{
    DIR *dir = opendir(folder);
    if (!dir) return false;
    char best[NAME_MAX + 1] = "";
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        if (!is_library_name(entry->d_name)) continue;
        size_t length = strlen(entry->d_name);
        size_t best_length = strlen(best);
        if (length >= sizeof best) continue;
        if (best_length == 0 || length < best_length ||
            (length == best_length && strcmp(entry->d_name, best) > 0))
            memcpy(best, entry->d_name, length + 1);
    }
    closedir(dir);
    return best[0] && assay__path_join(folder, best, out, out_size) == 0;
}

static bool find_below(const char *folder, char *out, size_t out_size)
{
    static const char *const below[] = {"lib", "capi", "onnxruntime/capi"};
    if (find_in_folder(folder, out, out_size)) return true;
    for (size_t i = 0; i < sizeof below / sizeof below[0]; i++) {
        char path[PATH_SIZE];
        if (assay__path_join(folder, below[i], path, sizeof path) == 0 &&
            find_in_folder(path, out, out_size))
            return true;
    }
    return false;
}

/* Folders relative to that of the program, and to that of libassay if a program elsewhere uses
 * it. */
static bool find_beside_us(char *out, size_t out_size)
{
    static const char *const places[] = {"onnxruntime", "../lib/assay", "../lib", "assay"};
    char files[2][PATH_SIZE] = {"", ""};
    if (assay__executable_path(files[0], sizeof files[0]) != 0) files[0][0] = '\0';
    assay__library_path((const void *)slot_counts, files[1], sizeof files[1]);
    for (size_t f = 0; f < 2; f++) {
        char folder[PATH_SIZE], place[PATH_SIZE];
        if (!files[f][0] || assay__path_folder(files[f], folder, sizeof folder) != 0) continue;
        for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
            if (assay__path_join(folder, places[i], place, sizeof place) == 0 &&
                find_below(place, out, out_size))
                return true;
    }
    return false;
}

/* --- loading it ------------------------------------------------------------------------------- */

static int load_file(const char *path, struct assay__ort *ort, struct assay_error *error)
{
    struct assay_error reason = {0};
    void *library = assay__library_open(path, &reason);
    if (!library)
        return assay_error_set(error, ASSAY_ENOTFOUND, "ONNX Runtime could not be loaded: %s",
                               reason.message);
    typedef const struct OrtApiBase *base_fn(void);
    union {
        void *object;
        base_fn *function; /* POSIX guarantees that this works; ISO C has no cast for it */
    } symbol = {assay__library_symbol(library, "OrtGetApiBase")};
    if (!symbol.object) {
        assay__library_close(library);
        return assay_error_set(error, ASSAY_EFORMAT,
                               "%s is not ONNX Runtime: it has no OrtGetApiBase", path);
    }
    int code = assay__ort_fill(ort, symbol.function(), path, error);
    if (code) assay__library_close(library);
    if (code) return code;
    assay__library_path(symbol.object, ort->path, sizeof ort->path);
    if (!ort->path[0]) snprintf(ort->path, sizeof ort->path, "%s", path);
    return 0;
}

/* A path that was given explicitly. `who` is its source, for messages. */
static int load_named(const char *path, const char *who, struct assay__ort *ort,
                      struct assay_error *error)
{
    char file[PATH_SIZE];
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        if (!find_below(path, file, sizeof file))
            return assay_error_set(error, ASSAY_ENOTFOUND, "%s: no libonnxruntime in the folder %s",
                                   who, path);
        return load_file(file, ort, error);
    }
    /* A name without a slash is for the system's loader. */
    if (strchr(path, '/') && !assay__file_exists(path))
        return assay_error_set(error, ASSAY_ENOTFOUND, "%s: no such file: %s", who, path);
    return load_file(path, ort, error);
}

int assay__ort_load(const char *library, struct assay__ort *ort, struct assay_error *error)
{
    if (library && library[0]) return load_named(library, "ONNX Runtime library", ort, error);
    const char *named = getenv("ASSAY_ORT_LIBRARY");
    if (named && named[0]) return load_named(named, "ASSAY_ORT_LIBRARY", ort, error);

    char file[PATH_SIZE];
    if (find_beside_us(file, sizeof file)) return load_file(file, ort, error);

    static const char *const system_names[] = {"libonnxruntime.so", "libonnxruntime.so.1",
                                               "libonnxruntime.dylib"};
    for (size_t i = 0; i < sizeof system_names / sizeof system_names[0]; i++) {
        void *library_handle = assay__library_open(system_names[i], NULL);
        if (!library_handle) continue;
        assay__library_close(library_handle);
        return load_file(system_names[i], ort, error);
    }
    return assay_error_set(
        error, ASSAY_ENOTFOUND,
        "ONNX Runtime was found neither next to the program nor on this system: set "
        "ASSAY_ORT_LIBRARY to libonnxruntime or its folder (in a checkout `make` fetches it)");
}
