/* fuzz_profile.c - arbitrary bytes as a profile: opening it and scanning its samples table must end
 * without a crash, a leak or a sanitizer's complaint. Beyond that: a refusal always says why, and a
 * profile that opens holds samples whose stream offsets are in order. SQLite wants a file, so the
 * bytes go through one in $TMPDIR. */
#include "profile/profile.h"
#include "profile/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int ignore_row(void *context, int columns, const char *const *names,
                      const char *const *values, const int *types)
{
    (void)context, (void)columns, (void)names, (void)values, (void)types;
    return 0;
}

static void check_launch(const struct assay__launch *launch)
{
    if (launch->streams < 1 || launch->stream_offsets[0] != 0) abort();
    for (int s = 0; s < launch->streams; s++)
        if (launch->stream_offsets[s] > launch->stream_offsets[s + 1]) abort();
    if (launch->stream_offsets[launch->streams] != launch->sample_count) abort();
    if (launch->warmup > launch->sample_count) abort();
}

static void check_open(const char *path)
{
    struct assay_error error = {0};
    struct assay_profile *profile = NULL;
    int code = assay_profile_open(path, &profile, &error);
    if ((code == 0) != (profile != NULL) || (code != 0) != (error.message[0] != 0)) abort();
    for (size_t t = 0; profile && t < profile->trial_count; t++)
        for (size_t l = 0; l < profile->trials[t].launch_count; l++)
            check_launch(&profile->trials[t].launches[l]);
    assay_profile_close(profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[256];
    if (!path[0]) {
        const char *folder = getenv("TMPDIR");
        snprintf(path, sizeof path, "%s/assay-fuzz-%ld", folder && folder[0] ? folder : "/tmp",
                 (long)getpid());
    }
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) abort();
    check_open(path);
    struct assay_error error = {0};
    assay__query(path, "SELECT count(*), avg(ns) FROM samples", ignore_row, NULL, NULL, &error);
    unlink(path);
    return 0;
}
