/* output.c - data goes to stdout, messages to stderr. Data is written completely and checked: a
 * full disk is an error with a message; a reader that closed the pipe is one without. Neither is a
 * success. */
#include "cli/cli.h"

#include "base/clock.h"
#include "base/text.h"
#include "platform/platform.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

volatile int assay__interrupted;

static bool write_all(int fd, const char *data, size_t size)
{
    while (size) {
        ssize_t written = write(fd, data, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        data += written;
        size -= (size_t)written;
    }
    return true;
}

static void say(const char *format, va_list args)
{
    struct assay__buf text = {0}, line = {0};
    assay__buf_vprintf(&text, format, args);
    assay__buf_puts(&line, "assay: ");
    assay__text_safe(&line, text.data ? text.data : "out of memory");
    assay__buf_putc(&line, '\n');
    if (!line.failed)
        write_all(STDERR_FILENO, line.data, line.length); /* nowhere to report this failure */
    assay__buf_free(&text);
    assay__buf_free(&line);
}

void assay__say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(format, args);
    va_end(args);
}

int assay__refuse(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(format, args);
    va_end(args);
    return ASSAY__EXIT_USAGE;
}

int assay__fail(int code, const struct assay_error *error)
{
    const char *message = error && error->message[0] ? error->message : assay_error_text(code);
    const struct assay__option_hint *hint = assay__option_hint(error ? error->option : NULL);
    const char *flag = hint && hint->flag ? hint->flag : "", *more = hint ? hint->hint : NULL;
    assay__say("%s%s%s%s%s%s", flag, *flag ? ": " : "", message, more ? " (" : "", more ? more : "",
               more ? ")" : "");
    if (code == ASSAY_EINTERRUPTED) return ASSAY__EXIT_INTERRUPTED;
    return code == ASSAY_EINVAL ? ASSAY__EXIT_USAGE : ASSAY__EXIT_FAILED;
}

int assay__write_stdout(const char *data, size_t size)
{
    static bool said;
    if (write_all(STDOUT_FILENO, data, size)) return ASSAY__EXIT_DONE;
    int fault = errno;
    const char *reason = fault == EBADF ? "it is closed" : strerror(fault);
    /* A reader that has seen enough (| head) is not worth a message; the status still shows that
     * not everything was written. */
    if (!said && fault != EPIPE) assay__say("cannot write to standard output: %s", reason);
    said = true;
    return ASSAY__EXIT_FAILED;
}

int assay__print(struct assay__buf *out)
{
    int status = out->failed ? assay__fail(ASSAY_ENOMEM, NULL)
                             : assay__write_stdout(assay__buf_text(out), out->length);
    assay__buf_free(out);
    return status;
}

bool assay__stdout_color(void)
{
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (none && *none) return false;
    return isatty(STDOUT_FILENO) && terminal && *terminal && strcmp(terminal, "dumb") != 0;
}

int assay__stdout_columns(void)
{
    int columns = assay__terminal_columns(STDOUT_FILENO);
    return columns > 0 ? columns : 80;
}

/* --- Ctrl-C ----------------------------------------------------------------------------------- */

/* One Ctrl-C may arrive twice (from the terminal and from a program that forwards it to its group):
 * only a signal half a second or more after the first kills. Reading the clock is
 * async-signal-safe. */
static void on_interrupt(int signal_number)
{
    static volatile uint64_t first_ns;
    uint64_t now_ns = assay__now_ns();
    if (assay__interrupted && now_ns - first_ns < 500000000u) return;
    if (assay__interrupted) {
        signal(signal_number, SIG_DFL);
        raise(signal_number);
    }
    first_ns = now_ns;
    assay__interrupted = 1;
}

void assay__catch_interrupts(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action, old;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_interrupt;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_NODEFER; /* so that the second one takes effect immediately */
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        /* what was ignored at the start (nohup) remains ignored */
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN) continue;
        sigaction(signals[i], &action, NULL);
    }
}
