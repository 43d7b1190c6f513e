/* inject.c - CUDA calls InitializeInjection of the library in CUDA_INJECTION64_PATH when a program
 * first uses it. Nothing here may print, fail the program or keep it from leaving: what went wrong
 * is written into the trace.
 *
 *   ASSAY_CUDA_TRACE=kinds=15,delay_ms=1000,duration_ms=500,signal=12,nvtx=step,file=/tmp/run/p
 *
 * "file" comes last: its value may have commas. A comma in the name of an NVTX range is "%2C", a
 * per cent sign "%25". */
#include "cuda/recorder.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct settings {
    struct assay__cuda_trace_options options;
    char nvtx[256];
};

static unsigned long number_of(const char *value)
{
    char *end;
    unsigned long number = strtoul(value, &end, 10);
    return *end && *end != ',' ? 0 : number;
}

static void decode(const char *from, size_t length, char *to, size_t room)
{
    size_t used = 0;
    for (size_t i = 0; i < length && used + 1 < room; i++) {
        if (from[i] == '%' && i + 2 < length && from[i + 1] == '2') {
            to[used++] = from[i + 2] == 'C' ? ',' : '%';
            i += 2;
        } else {
            to[used++] = from[i];
        }
    }
    to[used] = '\0';
}

static void take(struct settings *settings, const char *key, size_t key_bytes, const char *value,
                 size_t value_bytes)
{
    struct assay__cuda_trace_options *options = &settings->options;
#define IS(name) (key_bytes == sizeof name - 1 && !memcmp(key, name, key_bytes))
    if (IS("kinds")) options->kinds = (unsigned)number_of(value);
    if (IS("delay_ms")) options->delay_ms = (uint32_t)number_of(value);
    if (IS("duration_ms")) options->duration_ms = (uint32_t)number_of(value);
    if (IS("flush_ms")) options->flush_ms = (uint32_t)number_of(value);
    if (IS("buffer_bytes")) options->buffer_bytes = number_of(value);
    if (IS("buffers")) options->buffers = number_of(value);
    if (IS("signal")) options->signal = (int)number_of(value);
    if (IS("paused")) options->paused = number_of(value) != 0;
    if (IS("nvtx")) {
        decode(value, value_bytes, settings->nvtx, sizeof settings->nvtx);
        options->nvtx = settings->nvtx;
    }
#undef IS
}

/* False: there is no file to write to. */
static bool read_settings(struct settings *settings)
{
    const char *text = getenv(ASSAY__CUDA_TRACE_VARIABLE);
    memset(settings, 0, sizeof *settings);
    settings->options.size = sizeof settings->options;
    while (text && *text) {
        const char *equals = strchr(text, '=');
        if (!equals) break;
        size_t key_bytes = (size_t)(equals - text), length = strcspn(equals + 1, ",");
        if (key_bytes == 4 && !memcmp(text, "file", 4)) {
            settings->options.file = equals + 1;
            break;
        }
        take(settings, text, key_bytes, equals + 1, length);
        text = equals + 1 + length;
        if (*text == ',') text++;
    }
    return settings->options.file && settings->options.file[0];
}

static void on_signal(int number)
{
    (void)number;
    if (session_options()) writer_toggle();
}

/* A program that has a handler of its own for this signal keeps it. */
static void watch_signal(int number)
{
    struct sigaction before, ours = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    if (number <= 0 || sigaction(number, NULL, &before)) return;
    bool is_free = !(before.sa_flags & SA_SIGINFO) &&
                   (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN);
    sigemptyset(&ours.sa_mask);
    if (is_free) sigaction(number, &ours, NULL);
}

int InitializeInjection(void);

__attribute__((visibility("default"))) int InitializeInjection(void)
{
    static struct settings settings;
    static bool leaves;
    char why[WHY_BYTES] = "";
    if (session_options() || !read_settings(&settings)) return 1;
    watch_signal(settings.options.signal);
    if (session_open(&settings.options, why, sizeof why))
        session_fail(&settings.options, why);
    else if (!leaves)
        leaves = !atexit(session_close);
    return 1;
}
