/* cmd_man.c - assay man DIR: manual pages in roff from the table of commands: assay.1 and
 * assay-<command>.1. No date is written, so that the same program generates the same pages. */
#include "base/file.h"
#include "base/utf8.h"
#include "cli/commands.h"

#include <assay/api.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Text in roff: backslashes and dashes are escaped, a line must not start with a dot or an
 * apostrophe, and non-ASCII characters are written by number, which every roff can read whatever
 * the locale. */
static void put_roff(struct assay__buf *out, const char *text, size_t length)
{
    bool line_start = true;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (line_start && (c == '.' || c == '\'')) assay__buf_puts(out, "\\&");
        line_start = c == '\n';
        if (c == '\\')
            assay__buf_puts(out, "\\e");
        else if (c == '-')
            assay__buf_puts(out, "\\-");
        else if ((unsigned char)c < 0x80)
            assay__buf_putc(out, c);
        else {
            size_t size;
            uint32_t code = assay__utf8_decode(text + i, length - i, &size);
            assay__buf_printf(out, "\\[u%04X]",
                              code == ASSAY__UTF8_INVALID ? 0xfffdu : (unsigned)code);
            i += size - 1;
        }
    }
}

static void puts_text(struct assay__buf *out, const char *text)
{
    put_roff(out, text, strlen(text));
}

static void put_head(struct assay__buf *out, const char *page, const char *summary)
{
    assay__buf_puts(out, ".\\\" made by 'assay man' from its table of commands\n.TH ");
    for (const char *c = page; *c; c++) {
        if (*c == '-')
            assay__buf_puts(out, "\\-");
        else
            assay__buf_putc(out, *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c);
    }
    /* ragged and without hyphenation: a line with a long list of choices has no spaces to stretch,
     * and its words must be typed exactly */
    assay__buf_printf(out, " 1 \"\" \"assay %s\" \"assay manual\"\n.ad l\n.nh\n.SH NAME\n",
                      assay_version());
    puts_text(out, page);
    assay__buf_puts(out, " \\- ");
    puts_text(out, summary);
    assay__buf_putc(out, '\n');
}

static void put_option(struct assay__buf *out, const struct assay__option *option)
{
    struct assay__buf label = {0};
    assay__option_label(&label, option);
    assay__buf_puts(out, ".TP\n.B ");
    puts_text(out, assay__buf_text(&label));
    assay__buf_putc(out, '\n');
    puts_text(out, option->help);
    if (option->choices) {
        assay__buf_puts(out, " (");
        for (const char *at = option->choices; *at;) { /* a line may break after each bar */
            size_t length = strcspn(at, "|");
            put_roff(out, at, length);
            at += length;
            if (*at == '|') assay__buf_puts(out, "|\\:");
            at += *at == '|';
        }
        assay__buf_putc(out, ')');
    }
    assay__buf_putc(out, '\n');
    assay__buf_free(&label);
}

static void put_status(struct assay__buf *out)
{
    static const char *const rows[][2] = {
        {"0", "Done."},        {"1", "A check or gate failed."},
        {"2", "Wrong usage."}, {"3", "The measurement failed."},
        {"4", "No verdict."},  {"130", "Interrupted; the partial profile is saved."}};
    assay__buf_puts(out, ".SH EXIT STATUS\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assay__buf_printf(out, ".TP\n.B %s\n%s\n", rows[i][0], rows[i][1]);
}

static void command_page(struct assay__buf *out, const struct assay__command *command)
{
    char page[64];
    struct assay__buf usage = {0};
    snprintf(page, sizeof page, "assay-%s", command->name);
    put_head(out, page, command->summary);
    assay__buf_puts(out, ".SH SYNOPSIS\n.B ");
    assay__usage(&usage, command);
    puts_text(out, assay__buf_text(&usage));
    assay__buf_puts(out, "\n.SH DESCRIPTION\n");
    for (const char *at = command->description; *at;) {
        const char *end = strstr(at, "\n\n");
        size_t length = end ? (size_t)(end - at) : strlen(at);
        put_roff(out, at, length);
        assay__buf_puts(out, end ? "\n.PP\n" : "\n");
        at += length;
        while (*at == '\n')
            at++;
    }
    assay__buf_puts(out, ".SH OPTIONS\n");
    const struct assay__option *o;
    for (size_t i = 0; (o = assay__option_at(command, i)); i++)
        if (!o->hidden) put_option(out, o);
    static const struct assay__option help = {
        .name = "help", .letter = 'h', .help = "Show the help of this command."};
    put_option(out, &help);
    if (command->examples) {
        assay__buf_puts(out, ".SH EXAMPLES\n.nf\n");
        puts_text(out, command->examples);
        assay__buf_puts(out, ".fi\n");
    }
    put_status(out);
    assay__buf_puts(out, ".SH SEE ALSO\n.BR assay (1)\n");
    assay__buf_free(&usage);
}

static int write_page(const char *folder, const char *name, struct assay__buf *page)
{
    char path[4096];
    struct assay_error error = {0};
    int code = assay__path_join(folder, name, path, sizeof path);
    if (code)
        assay_error_set(&error, code, "the path of %s is too long", name);
    else if (page->failed)
        code = assay_error_set(&error, ASSAY_ENOMEM, "out of memory");
    else
        code = assay__file_write(path, page->data, page->length, &error);
    assay__buf_free(page);
    return code ? assay__fail(code, &error) : ASSAY__EXIT_DONE;
}

static int write_pages(struct assay__invocation *invocation)
{
    const char *folder = invocation->arguments[0];
    const struct assay__command *command;
    struct assay__buf page = {0};
    char name[80];
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        assay__say("man: cannot create the folder '%s': %s", folder, strerror(errno));
        return ASSAY__EXIT_FAILED;
    }
    put_head(&page, "assay", "show where a neural network's time, memory and energy go");
    assay__buf_puts(&page, ".SH SYNOPSIS\n.B assay\n.I command\n.RI [ options ]\n.SH DESCRIPTION\n"
                           "assay profiles neural networks on this machine. What it cannot measure "
                           "it reports as unavailable, with the reason.\n.SH COMMANDS\n");
    for (size_t i = 0; (command = assay__command_at(i)); i++) {
        if (command->hidden) continue;
        assay__buf_printf(&page, ".TP\n.BR assay\\-%s (1)\n", command->name);
        puts_text(&page, command->summary);
        assay__buf_putc(&page, '\n');
    }
    put_status(&page);
    assay__buf_puts(
        &page,
        ".SH ENVIRONMENT\n.TP\n.B ASSAY_ORT_LIBRARY\nPath of the ONNX Runtime library to use.\n"
        ".TP\n.B ASSAY_WORKER\nPath of the worker program.\n"
        ".TP\n.B NO_COLOR\nWhen set and not empty, no colours are used.\n");
    int status = write_page(folder, "assay.1", &page);
    for (size_t i = 0; (command = assay__command_at(i)) && !status; i++) {
        if (command->hidden) continue;
        command_page(&page, command);
        snprintf(name, sizeof name, "assay-%s.1", command->name);
        status = write_page(folder, name, &page);
    }
    return status;
}

const struct assay__command assay__command_man = {
    .name = "man",
    .summary = "write the manual pages into a folder",
    .arguments = "DIR",
    .min_arguments = 1,
    .max_arguments = 1,
    .description = "Writes assay.1 and one page per command into DIR. The installation uses it.",
    .run = write_pages,
    .hidden = true,
};
