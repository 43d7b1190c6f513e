/* read_profile.c - prints every sample of a kept profile: trial, launch, stream, duration in ns.
 *   cc read_profile.c $(pkg-config --cflags --libs assay) && ./a.out kept.assay */
#include <assay/assay.h>
#include <stdio.h>

static void print_launch(const struct assay_target *target, const struct assay_launch *launch)
{
    struct assay_launch_info info = {.size = sizeof info};
    assay_launch_read(launch, &info);
    for (int stream = 0; stream < info.streams; stream++) {
        size_t count = 0;
        const double *samples = assay_launch_samples(launch, stream, &count);
        for (size_t i = 0; i < count; i++)
            printf("%s,%d,%d,%.0f\n", target->device, info.id, stream, samples[i]);
    }
}

int main(int argc, char **argv)
{
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    if (argc != 2 || assay_profile_open(argv[1], &profile, &error)) {
        fprintf(stderr, "%s\n", argc != 2 ? "usage: read_profile PROFILE" : error.message);
        return 1;
    }
    puts("device,launch,stream,ns");
    const struct assay_trial *trial;
    for (size_t t = 0; (trial = assay_profile_trial(profile, t)); t++) {
        struct assay_target target = {.size = sizeof target};
        const struct assay_launch *launch;
        assay_trial_target(trial, &target);
        for (size_t i = 0; (launch = assay_trial_launch(trial, i)); i++)
            print_launch(&target, launch);
    }
    assay_profile_close(profile);
    return 0;
}
