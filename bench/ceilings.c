/* ceilings.c - prints this processor's ceilings as a table; bench_ceilings.py holds it against
 * likwid-bench.
 *
 *   ceilings [--only PREFIX] [--budget SECONDS] [--cached] [--plain]
 *
 * --cached uses and writes the user's file; otherwise everything is measured now. --plain: name,
 * value, low, median, high, repeats, threads and working set in base units, separated by tabs. */
#include "base/text.h"
#include "ceiling/ceiling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_plain(const struct assay__ceiling *row)
{
    printf("%s\t%.17g\t%.17g\t%.17g\t%.17g\t%d\t%d\t%llu\t%s\t%s\n", row->name, row->value,
           row->low, row->median, row->high, row->repeats, row->threads,
           (unsigned long long)row->working_set_bytes, row->simd, row->variant);
}

static void print_row(const struct assay__ceiling *row)
{
    char value[64], low[64], median[64], high[64], set[64], before[64], after[64];
    const char *unit = strcmp(row->unit, "OP/s") == 0 ? "1/s" : row->unit;
    if (row->state == ASSAY_UNAVAILABLE) {
        printf("%-34s — %s\n", row->name, row->note);
        return;
    }
    assay__text_scaled(value, sizeof value, row->value, unit);
    assay__text_scaled(low, sizeof low, row->low, unit);
    assay__text_scaled(median, sizeof median, row->median, unit);
    assay__text_scaled(high, sizeof high, row->high, unit);
    assay__text_scaled(set, sizeof set, (double)row->working_set_bytes, "B");
    assay__text_scaled(before, sizeof before, row->clock_before_hz, "Hz");
    assay__text_scaled(after, sizeof after, row->clock_after_hz, "Hz");
    printf("%-34s %14s  %s .. %s .. %s (%d)  %d thr  %s %s  %s  %s -> %s  %s\n", row->name, value,
           low, median, high, row->repeats, row->threads, row->simd, row->variant,
           row->working_set_bytes ? set : "", before, after, row->note);
}

int main(int argc, char **argv)
{
    struct assay__ceiling_options options = {0};
    struct assay__arena *arena = assay__arena_new();
    struct assay__machine machine;
    struct assay__ceilings *set;
    struct assay_error error = {0};
    bool cached = false, plain = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            options.only = argv[++i];
        else if (strcmp(argv[i], "--budget") == 0 && i + 1 < argc)
            options.budget_s = strtod(argv[++i], NULL);
        else if (strcmp(argv[i], "--cached") == 0)
            cached = true;
        else if (strcmp(argv[i], "--plain") == 0)
            plain = true;
        else
            return fprintf(stderr, "ceilings: '%s'?\n", argv[i]), 2;
    }
    if (!arena || assay__machine_read(arena, &machine)) return 2;
    int code = cached ? assay__ceilings_get(arena, &machine, &options, &set, &error)
                      : assay__ceilings_measure(arena, &machine, &options, &set, &error);
    if (code) return fprintf(stderr, "ceilings: %s\n", error.message), 1;
    for (size_t i = 0; i < set->count; i++)
        plain ? print_plain(&set->rows[i]) : print_row(&set->rows[i]);
    if (!plain)
        printf("%.1f s, %s%s; steal %.1f %%, others %.1f %%; %s\n", set->duration_s,
               set->pinned ? "pinned" : "not pinned", set->from_cache ? ", from the file" : "",
               100 * set->steal_share, 100 * set->other_share, set->note);
    assay__arena_free(arena);
    return 0;
}
