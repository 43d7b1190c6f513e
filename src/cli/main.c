/* main.c - finds the command in the table generated from commands.h, and runs it. */
#include "cli/commands.h"
#include "model/model_format.h"
#include "report/formats.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

#define ROW(NAME) &assay__command_##NAME,
static const struct assay__command *const commands[] = {ASSAY__COMMANDS(ROW)};

const struct assay__command *assay__command_at(size_t index)
{
    return index < sizeof commands / sizeof commands[0] ? commands[index] : NULL;
}

const struct assay__command *assay__command_find(const char *name)
{
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(commands[i]->name, name) == 0) return commands[i];
    return NULL;
}

/* A closed descriptor 0, 1 or 2 would be reused for the next file opened, for example a profile. It
 * is replaced with one that cannot be misused: writing to a closed stdout remains an error. */
static void fill_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) >= 0) continue;
        int opened = open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
        if (opened > 2) close(opened);
    }
}

int assay__unknown_command(const char *name)
{
    struct assay__nearest nearest = {.word = name};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        assay__nearest_try(&nearest, commands[i]->name);
    const char *best = assay__nearest_get(&nearest);
    return assay__refuse(best ? "unknown command '%s'; did you mean '%s'?"
                              : "unknown command '%s'; 'assay help' lists them",
                         name, best);
}

static int dispatch(const struct assay__command *command, int argc, char **argv, int first)
{
    struct assay__invocation invocation = {.command = command};
    struct assay__buf line = {0};
    bool help = false;
    int status;
    invocation.options = calloc(1, command->options_size ? command->options_size : 1);
    for (int i = 0; i < argc; i++) {
        if (i) assay__buf_putc(&line, ' ');
        assay__shell_quote(&line, i ? argv[i] : "assay");
    }
    invocation.command_line = line.data;
    status = !invocation.options || line.failed
                 ? assay__fail(ASSAY_ENOMEM, NULL)
                 : assay__options_parse(&invocation, argc, argv, first, &help);
    if (!status && help) {
        struct assay__buf text = {0};
        assay__help_command(&text, command);
        status = assay__print(&text);
    } else if (!status) {
        status = command->run(&invocation);
    }
    assay__invocation_free(&invocation);
    assay__buf_free(&line);
    return status;
}

struct assay__origin assay__origin;

/* A copy: setenv() and unsetenv() change the array itself. */
static void remember_origin(void)
{
    size_t count = 0;
    while (environ && environ[count])
        count++;
    char **copy = calloc(count + 1, sizeof *copy);
    if (copy && count) memcpy(copy, environ, count * sizeof *copy);
    assay__origin.environment = copy ? copy : environ;
    assay__origin.ignores_sigpipe = signal(SIGPIPE, SIG_IGN) == SIG_IGN;
}

/* hwloc takes its settings from the environment: none that describe another machine, print or load
 * plug-ins are allowed, and the root is that of our own readers. */
static void prepare_hwloc(void)
{
    static const char *const others[] = {
        "HWLOC_THISSYSTEM", "HWLOC_XMLFILE",           "HWLOC_SYNTHETIC", "HWLOC_CPUID_PATH",
        "HWLOC_COMPONENTS", "HWLOC_DUMPED_HWDATA_DIR", "HWLOC_FSROOT"};
    const char *root = getenv("ASSAY_FSROOT");
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        unsetenv(others[i]);
    if (root && *root) setenv("HWLOC_FSROOT", root, 1);
    setenv("HWLOC_HIDE_ERRORS", "2", 1);
    setenv("HWLOC_PLUGINS_PATH", "/dev/null", 1);
}

/* `assay model.onnx` runs it, `assay saved.assay` reports on it: the first word is a file, or looks
 * like the name of one. NULL: it is neither. */
static const struct assay__command *command_of_file(const char *name)
{
    const char *extension = assay__path_extension(name);
    struct stat file;
    bool there = stat(name, &file) == 0 && S_ISREG(file.st_mode);
    if (extension && strcmp(extension, "assay") == 0) return &assay__command_report;
    return there || assay__model_file_named(name) ? &assay__command_run : NULL;
}

int main(int argc, char **argv)
{
    fill_standard_descriptors();
    remember_origin(); /* and a closed pipe now makes write() fail */
    prepare_hwloc();
    if (argc < 2)
        return assay__refuse("no command given: 'assay run MODEL' profiles a model, 'assay help' "
                             "lists the commands");
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) name = "help";
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) name = "version";
    const struct assay__command *command = assay__command_find(name);
    if (!command && name[0] == '-')
        return assay__refuse(
            "unknown option '%s' before a command; 'assay help' lists the commands", name);
    if (command) return dispatch(command, argc, argv, 2);
    command = command_of_file(name);
    return command ? dispatch(command, argc, argv, 1) : assay__unknown_command(name);
}
