/* replay.c - feeds files to a fuzz target without a fuzzer: every file named, and every file of
 * every directory named. The target is the one the program is called as (fuzz_json): see
 * ../suites.c. A crash is a failure of the target; a file that takes longer than the limit is
 * killed by the alarm. Prints "N inputs replayed". Directories are not descended into: a corpus is
 * flat. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIMIT_S 30

typedef int target_fn(const uint8_t *data, size_t size);
#define SUITE(name) target_fn suite_##name;
#include "suites.h"
#undef SUITE

static const struct {
    const char *name;
    target_fn *run;
} targets[] = {
#define SUITE(name) {#name, suite_##name},
#include "suites.h"
#undef SUITE
};

static target_fn *target;

static target_fn *target_find(const char *program)
{
    const char *slash = strrchr(program, '/');
    const char *name = slash ? slash + 1 : program;
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
        if (strcmp(targets[i].name, name) == 0) return targets[i].run;
    fprintf(stderr, "no fuzz target is called %s\n", name);
    return NULL;
}

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    long size = -1;
    if (file && fseek(file, 0, SEEK_END) == 0) size = ftell(file);
    uint8_t *data = size >= 0 ? malloc(size ? (size_t)size : 1) : NULL;
    if (!data || fseek(file, 0, SEEK_SET) != 0 ||
        fread(data, 1, (size_t)size, file) != (size_t)size) {
        fprintf(stderr, "cannot read %s\n", path);
        if (file) fclose(file);
        free(data);
        return -1;
    }
    fclose(file);
    fprintf(stderr, "%s\n", path); /* the last line names the culprit when the target crashes */
    alarm(LIMIT_S);
    target(data, (size_t)size);
    free(data);
    return 1;
}

static int replay_directory(const char *path)
{
    DIR *directory = opendir(path);
    int count = 0;
    if (!directory) {
        fprintf(stderr, "cannot open %s\n", path);
        return -1;
    }
    for (struct dirent *entry; (entry = readdir(directory));) {
        char name[4096];
        struct stat status;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] == '.' || stat(name, &status) != 0 || !S_ISREG(status.st_mode))
            continue;
        int result = replay_file(name);
        if (result < 0) {
            closedir(directory);
            return -1;
        }
        count += result;
    }
    closedir(directory);
    return count;
}

int main(int argc, char **argv)
{
    int count = 0;
    target = target_find(argv[0]);
    if (!target) return 2;
    alarm(LIMIT_S);
    target((const uint8_t *)"", 0);
    for (int i = 1; i < argc; i++) {
        struct stat status;
        int result = -1;
        if (stat(argv[i], &status) == 0)
            result = S_ISDIR(status.st_mode) ? replay_directory(argv[i]) : replay_file(argv[i]);
        if (result < 0) return 2;
        count += result;
    }
    printf("%d inputs replayed\n", count);
    return count > 0 ? 0 : 2;
}
