/* progress.c - a bar on stderr during a long run: only on a terminal, redrawn at most ten times a
 * second, erased at the end so that nothing of it remains in the scroll-back. */
#include "base/clock.h"
#include "base/text.h"
#include "cli/cli.h"
#include "platform/platform.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REDRAW_NS 100000000u
#define BAR_COLUMNS 24

static void write_bar(const struct assay__buf *out)
{
    if (out->failed || !out->data) return;
    /* a lost redraw is not an error: another one follows */
    ssize_t written = write(STDERR_FILENO, out->data, out->length);
    (void)written;
}

/* " · 1 min 20 s left · 1.23 ms ±2.1 % · best so far batch=8: 1.23 k/s" */
static void put_course(struct assay__buf *line, const struct assay_progress *progress)
{
    double left_s = progress->left_s;
    if (left_s >= 60)
        assay__buf_printf(line, " · %.0f min %.0f s left", floor(left_s / 60), fmod(left_s, 60));
    else if (left_s > 0)
        assay__buf_printf(line, " · %.0f s left", left_s);
    if (progress->latency_s > 0)
        assay__buf_printf(line, " · %s", assay__scaled(progress->latency_s, "s").text);
    if (progress->half_width > 0) assay__buf_printf(line, " ±%.1f %%", progress->half_width * 100);
    if (!progress->best) return;
    assay__buf_puts(line, " · best so far ");
    assay__text_safe(line, progress->best);
}

void assay__bar_update(void *context, const struct assay_progress *progress)
{
    struct assay__bar *bar = context;
    uint64_t now = assay__now_ns();
    const char *phase = progress->phase ? progress->phase : "";
    bool same = strncmp(bar->phase, phase, sizeof bar->phase - 1) == 0;
    if (!bar->on || (same && bar->drawn_ns && now - bar->drawn_ns < REDRAW_NS)) return;
    bar->drawn_ns = now;
    snprintf(bar->phase, sizeof bar->phase, "%s", phase);
    struct assay__buf line = {0}, out = {0};
    if (progress->done >= 0) {
        double done = progress->done > 1 ? 1 : progress->done;
        int full = (int)(done * BAR_COLUMNS + 0.5);
        assay__buf_repeat(&line, "█", (size_t)full);
        assay__buf_repeat(&line, "░", (size_t)(BAR_COLUMNS - full));
        assay__buf_printf(&line, " %3.0f %%  ", done * 100);
    }
    if (progress->points)
        assay__buf_printf(&line, "point %d of %d, ", progress->point, progress->points);
    if (progress->launches > 1)
        assay__buf_printf(&line, "launch %d of %d: ", progress->launch, progress->launches);
    assay__text_safe(&line, phase);
    put_course(&line, progress);
    assay__buf_puts(&out, "\r\033[K");
    size_t width = assay__text_width(assay__buf_text(&line)), room = (size_t)bar->columns - 1;
    assay__text_fit(&out, assay__buf_text(&line), width < room ? width : room, 0);
    write_bar(&out);
    assay__buf_free(&line);
    assay__buf_free(&out);
}

void assay__bar_erase(struct assay__bar *bar)
{
    struct assay__buf out = {0};
    if (!bar->on || !bar->drawn_ns) return;
    assay__buf_puts(&out, "\r\033[K");
    write_bar(&out);
    assay__buf_free(&out);
    bar->drawn_ns = 0;
}

static void remark(void *context, const char *text)
{
    struct assay__bar *bar = context;
    if (bar->quiet) return;
    assay__bar_erase(bar);
    assay__say("%s: %s", bar->command, text);
}

struct assay_callbacks assay__bar_start(struct assay__bar *bar, const char *command, bool quiet)
{
    const char *terminal = getenv("TERM");
    *bar = (struct assay__bar){.quiet = quiet, .command = command};
    bar->columns = assay__terminal_columns(STDERR_FILENO);
    bar->on = !quiet && bar->columns >= 20 && isatty(STDERR_FILENO) && terminal && *terminal &&
              strcmp(terminal, "dumb") != 0;
    return (struct assay_callbacks){assay__bar_update, remark, bar, &assay__interrupted};
}
