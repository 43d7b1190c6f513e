/* fake_devices.c - devices of the fake engine. Without a script there is one, "cpu", and it works.
 * $ASSAY_FAKE_DEVICES scripts them, so that a test can see how a device with a misbehaving driver
 * is handled:
 *
 *   NAME[=WHAT];…     WHAT: works (default), refused, missing, crash, hang, exit, oom, software,
 *                     log
 *
 * crash: SIGSEGV; oom: SIGKILL; exit: the process exits with status 3; hang: never returns, without
 * using CPU time; each writes one line to stderr first. refused: tried, with a reason. missing: the
 * engine has no provider for it. software: works, on an adapter called "Fake adapter" that is
 * software. log: logs an error, then is refused. The class is the part of the name before ':' or
 * after it that is cpu, gpu or npu, else gpu. "cpu" and every device of the script run models. */
#include "engine/fake/fake.h"

#include "base/arena.h"
#include "base/log.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void misbehave(const char *what, const char *name)
{
    bool crash = strcmp(what, "crash") == 0, hang = strcmp(what, "hang") == 0,
         leave = strcmp(what, "exit") == 0, killed = strcmp(what, "oom") == 0;
    if (!crash && !hang && !leave && !killed) return;
    char line[128];
    int length = snprintf(line, sizeof line, "fake driver of %s: %s\n", name, what);
    /* a driver writes directly, not through our log */
    if (length > 0 && write(STDERR_FILENO, line, (size_t)length) < 0) return;
    if (crash) {
        signal(SIGSEGV, SIG_DFL); /* a sanitizer would catch it */
        raise(SIGSEGV);
    }
    if (killed) raise(SIGKILL);
    if (leave) _exit(3);
    while (hang)
        pause();
}

const char *assay__fake_device_kind(const char *name)
{
    static const char *const classes[] = {"cpu", "gpu", "npu"};
    size_t length = strcspn(name, ":");
    const char *after = name[length] ? name + length + 1 : "";
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if ((strlen(classes[i]) == length && strncmp(name, classes[i], length) == 0) ||
            strcmp(after, classes[i]) == 0)
            return classes[i];
    return "gpu";
}

bool assay__fake_has_device(const char *name)
{
    const char *script = getenv("ASSAY_FAKE_DEVICES");
    size_t length = strlen(name);
    for (const char *item = script; item && *item;) {
        const char *end = item + strcspn(item, ";");
        if (strncmp(item, name, length) == 0 &&
            (item + length == end || item[length] == '=' || item[length] == '\0'))
            return true;
        item = *end ? end + 1 : end;
    }
    return strcmp(name, "cpu") == 0;
}

/* "npu output=nan|gpu steady=9ms;first=1s": a device, a space, what is added to the script
 * there. */
const char *assay__fake_device_script(const char *device, struct assay__arena *arena)
{
    size_t length = strlen(device);
    for (const char *item = getenv("ASSAY_FAKE_SCRIPTS"); item && *item;) {
        size_t size = strcspn(item, "|");
        if (size > length && strncmp(item, device, length) == 0 && item[length] == ' ')
            return assay__arena_strndup(arena, item + length + 1, size - length - 1);
        item += size + (item[size] == '|');
    }
    return NULL;
}

/* Openings are counted in a file, one byte each, because each happens in another process. */
int assay__fake_device_gone(const char *script, struct assay_error *error)
{
    const char *at = strncmp(script, "gone=", 5) == 0 ? script : strstr(script, ";gone=");
    char path[512];
    long most = 0;
    if (!at || sscanf(strchr(at, '=') + 1, "%ld:%511[^;]", &most, path) != 2) return 0;
    FILE *file = fopen(path, "ae");
    if (!file) return assay_error_set(error, ASSAY_EIO, "gone: %.100s cannot be written", path);
    fputc('.', file);
    fflush(file);
    long count = ftell(file) - 1; /* after a write at the end the position is the size */
    fclose(file);
    return count < most ? 0 : assay_error_set(error, ASSAY_EENGINE, "the device is gone");
}

int assay__fake_devices(const char *library, assay__device_about_fn *about, assay__device_fn *found,
                        void *context, struct assay_error *error)
{
    (void)library;
    const char *script = getenv("ASSAY_FAKE_DEVICES");
    char *copy = strdup(script && script[0] ? script : "cpu"), *rest = copy;
    int code = copy ? 0 : assay__no_memory(error);
    while (code == 0 && rest) {
        char *item = strsep(&rest, ";"), *equals = strchr(item, '=');
        const char *what = equals ? equals + 1 : "works";
        if (equals) *equals = '\0';
        struct assay__device device = {.name = item,
                                       .kind = assay__fake_device_kind(item),
                                       .engine = "fake",
                                       .library = "",
                                       .version = "1"};
        if (!*item || (about && about(context, &device) != ASSAY__DEVICE_TRY)) continue;
        misbehave(what, item);
        bool missing = strcmp(what, "missing") == 0, logs = strcmp(what, "log") == 0,
             refused = logs || strcmp(what, "refused") == 0;
        if (logs) assay__log(ASSAY_LOG_ERROR, "fake", "the driver has another version");
        device.available = !missing && !refused;
        device.offered = !missing;
        device.reason = missing   ? "this fake engine has no such provider"
                        : refused ? "the script refuses it"
                                  : "";
        device.software = strcmp(what, "software") == 0;
        device.hardware = device.software ? "Fake adapter" : "";
        device.note = device.software ? "the script says so" : "";
        code = found(context, &device);
    }
    free(copy);
    return code;
}
