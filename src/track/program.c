/* program.c - the tracker in a program of the user's (base/track.h, ASSAY_TRACK_FILE): everything
 * from the start of the process to its end is one phase. What it recorded is written when the
 * process ends by exit or _exit, or executes another program. One that is killed leaves its file
 * empty; a child that was forked and executes nothing leaves none, for its table is its parent's.
 */
#include "track/tracker.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))
#define PHASE ASSAY__TRACK_LOAD
#define SITES 64u
#define PROGRAMS_MOST 1000

const struct assay__track_api *assay_track(void);

static char path[4096]; /* "": this process is not recorded */
static pid_t owner;
static atomic_bool written;
static struct assay__track_site sites[SITES];

/* --- JSON ------------------------------------------------------------------------------------- */

static int file = -1;
static char line[2 * ASSAY__TRACK_SITE_TEXT + 512];

static void put(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void put(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    for (const char *at = line; length > 0;) {
        ssize_t count = write(file, at, (size_t)length);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return; /* a full disk: the reader finds no end */
        at += count;
        length -= (int)count;
    }
}

/* Names of functions and files; what JSON cannot hold as it is becomes "?". */
static const char *quoted(const char *text, char out[2 * ASSAY__TRACK_SITE_TEXT])
{
    size_t used = 0;
    for (; *text && used + 2 < 2 * ASSAY__TRACK_SITE_TEXT; text++) {
        if (*text == '"' || *text == '\\') out[used++] = '\\';
        out[used++] = (unsigned char)*text < 0x20 || (unsigned char)*text >= 0x7f ? '?' : *text;
    }
    out[used] = '\0';
    return out;
}

static void put_totals(const struct assay__track_api *api)
{
    struct assay__track_totals t;
    api->totals(PHASE, &t);
    put("\"dropped\":%llu,\n\"phases\":[{\"name\":\"" ASSAY__TRACK_PHASE_OF_PROGRAM
        "\",\"inferences\":0,\"count\":%llu,\"bytes\":%llu,\"freed_count\":%llu,"
        "\"freed_bytes\":%llu,\"live_bytes\":%lld,\"peak_live_bytes\":%lld}],\n",
        (unsigned long long)api->dropped(), (unsigned long long)t.count,
        (unsigned long long)t.bytes, (unsigned long long)t.freed_count,
        (unsigned long long)t.freed_bytes, (long long)t.live_bytes, (long long)t.peak_live_bytes);
}

static void put_classes(const struct assay__track_api *api)
{
    struct assay__track_class classes[ASSAY__TRACK_CLASSES];
    const char *before = "";
    api->classes(PHASE, classes);
    put("\"classes\":[");
    for (unsigned i = 0; i < ASSAY__TRACK_CLASSES; i++) {
        if (!classes[i].count) continue;
        put("%s{\"phase\":\"" ASSAY__TRACK_PHASE_OF_PROGRAM "\",\"low_bytes\":%llu,", before,
            i ? 1ull << i : 0ull);
        if (i + 1 < ASSAY__TRACK_CLASSES) put("\"high_bytes\":%llu,", 1ull << (i + 1));
        put("\"count\":%llu,\"bytes\":%llu}", (unsigned long long)classes[i].count,
            (unsigned long long)classes[i].bytes);
        before = ",\n";
    }
    put("],\n");
}

static void put_sites(const struct assay__track_api *api)
{
    char text[2 * ASSAY__TRACK_SITE_TEXT];
    size_t count = api->sites(PHASE, sites, SITES);
    put("\"sites\":[");
    for (size_t i = 0; i < count; i++)
        put("%s{\"phase\":\"" ASSAY__TRACK_PHASE_OF_PROGRAM "\",\"site\":\"%s\",\"count\":%llu,"
            "\"bytes\":%llu,\"live_bytes\":%lld}",
            i ? ",\n" : "", quoted(sites[i].text, text), (unsigned long long)sites[i].count,
            (unsigned long long)sites[i].bytes, (long long)sites[i].live_bytes);
    put("]}\n");
}

static void put_program(void)
{
    char name[64] = "", text[2 * ASSAY__TRACK_SITE_TEXT];
    int comm = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
    ssize_t length = comm >= 0 ? read(comm, name, sizeof name - 1) : 0;
    if (comm >= 0) close(comm);
    name[length > 0 ? strcspn(name, "\n") : 0] = '\0';
    put("{\"program\":\"%s\",\"pid\":%ld,\n", quoted(name, text), (long)owner);
}

/* --- the process ------------------------------------------------------------------------------ */

static void write_out(void)
{
    const struct assay__track_api *api = assay_track();
    if (!path[0] || getpid() != owner || atomic_exchange(&written, true)) return;
    int saved = errno;
    api->phase(ASSAY__TRACK_NONE);
    track_busy_set(true); /* what follows is the tracker's own */
    file = open(path, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC);
    if (file >= 0) {
        put_program();
        put_totals(api);
        put_classes(api);
        put_sites(api);
        close(file);
    }
    track_busy_set(false);
    errno = saved;
}

/* The execution has failed: the program goes on, and so does counting. */
static void go_on(void)
{
    if (!path[0] || getpid() != owner) return;
    int saved = errno;
    assay_track()->phase(PHASE);
    atomic_store(&written, false);
    errno = saved;
}

__attribute__((constructor)) static void begin(void)
{
    const char *wanted = getenv(ASSAY__TRACK_VARIABLE);
    if (!wanted || !*wanted) return;
    owner = getpid();
    for (int i = 1; i <= PROGRAMS_MOST && file < 0; i++) { /* one process may execute several */
        int length = snprintf(path, sizeof path, "%s.%ld.%d", wanted, (long)owner, i);
        if (length < 0 || (size_t)length >= sizeof path) break;
        file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (file < 0 && errno != EEXIST) break;
    }
    if (file < 0) {
        path[0] = '\0';
        return;
    }
    close(file);
    assay_track()->phase(PHASE);
    assay_track()->enter();
}

__attribute__((destructor)) static void end(void)
{
    write_out();
}

/* --- ends that run no destructor -------------------------------------------------------------- */

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

PUBLIC void _exit(int status)
{
    void (*original)(int);
    void *found = next("_exit");
    write_out();
    memcpy(&original, &found, sizeof original);
    original(status);
    __builtin_unreachable();
}

PUBLIC void _Exit(int status)
{
    _exit(status);
}

PUBLIC int execve(const char *program, char *const argv[], char *const environment[])
{
    int (*original)(const char *, char *const[], char *const[]);
    void *found = next("execve");
    memcpy(&original, &found, sizeof original);
    write_out();
    int result = original(program, argv, environment);
    go_on();
    return result;
}

PUBLIC int execv(const char *program, char *const argv[])
{
    int (*original)(const char *, char *const[]);
    void *found = next("execv");
    memcpy(&original, &found, sizeof original);
    write_out();
    int result = original(program, argv);
    go_on();
    return result;
}

PUBLIC int execvp(const char *program, char *const argv[])
{
    int (*original)(const char *, char *const[]);
    void *found = next("execvp");
    memcpy(&original, &found, sizeof original);
    write_out();
    int result = original(program, argv);
    go_on();
    return result;
}
