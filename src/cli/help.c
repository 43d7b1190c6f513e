/* help.c - help generated from the table of commands: the overview, and one page per command. */
#include "base/text.h"
#include "cli/cli.h"

#include <string.h>

#define HELP_COLUMNS 80

void assay__usage(struct assay__buf *out, const struct assay__command *command)
{
    bool options = assay__option_at(command, 0) != NULL;
    assay__buf_printf(out, "assay %s%s%s%s", command->name, options ? " [options]" : "",
                      *command->arguments ? " " : "", command->arguments);
}

void assay__option_label(struct assay__buf *out, const struct assay__option *option)
{
    if (option->letter) assay__buf_printf(out, "-%c, ", option->letter);
    assay__buf_printf(out, "--%s", option->name);
    if (option->argument && option->bare)
        assay__buf_printf(out, "[=%s]", option->argument);
    else if (option->argument)
        assay__buf_printf(out, " %s", option->argument);
}

/* Words of one paragraph from column `at`, later lines indented to `hang`. */
static void wrap(struct assay__buf *out, const char *text, size_t length, size_t at, size_t hang)
{
    const char *end = text + length;
    bool first = true;
    while (text < end) {
        size_t word = 0;
        while (text + word < end && text[word] != ' ' && text[word] != '\n')
            word++;
        struct assay__buf copy = {0};
        assay__buf_add(&copy, text, word);
        size_t width = copy.data ? assay__text_width(copy.data) : word;
        if (!first && at + 1 + width > HELP_COLUMNS) {
            assay__buf_putc(out, '\n');
            assay__buf_repeat(out, " ", hang);
            at = hang;
            first = true;
        }
        if (!first) {
            assay__buf_putc(out, ' ');
            at++;
        }
        assay__buf_add(out, text, word);
        at += width;
        first = false;
        text += word;
        while (text < end && (*text == ' ' || *text == '\n'))
            text++;
        assay__buf_free(&copy);
    }
    assay__buf_putc(out, '\n');
}

enum { HELP_AT = 26 };

static void put_option(struct assay__buf *out, const struct assay__option *option)
{
    struct assay__buf label = {0}, text = {0};
    assay__buf_puts(&label, option->letter ? "  " : "      ");
    assay__option_label(&label, option);
    size_t width = assay__text_width(assay__buf_text(&label));
    assay__buf_puts(out, assay__buf_text(&label));
    if (width + 2 > HELP_AT) {
        assay__buf_putc(out, '\n');
        width = 0;
    }
    assay__buf_repeat(out, " ", HELP_AT - width);
    assay__buf_puts(&text, option->help);
    if (option->choices) { /* "(a|b|c)", or as words that can be wrapped if they do not fit */
        bool fits = strlen(option->choices) + 2 <= HELP_COLUMNS - HELP_AT;
        assay__buf_puts(&text, " (");
        for (const char *c = option->choices; *c; c++) {
            if (*c == '|' && !fits)
                assay__buf_puts(&text, ", ");
            else
                assay__buf_putc(&text, *c);
        }
        assay__buf_putc(&text, ')');
    }
    wrap(out, assay__buf_text(&text), text.length, HELP_AT, HELP_AT);
    assay__buf_free(&label);
    assay__buf_free(&text);
}

void assay__help_command(struct assay__buf *out, const struct assay__command *command)
{
    assay__buf_puts(out, "usage: ");
    assay__usage(out, command);
    assay__buf_puts(out, "\n\n");
    for (const char *at = command->description; *at;) {
        const char *end = strstr(at, "\n\n");
        size_t length = end ? (size_t)(end - at) : strlen(at);
        wrap(out, at, length, 0, 0);
        assay__buf_putc(out, '\n');
        at += length;
        while (*at == '\n')
            at++;
    }
    assay__buf_puts(out, "options:\n");
    const struct assay__option *o;
    for (size_t i = 0; (o = assay__option_at(command, i)); i++)
        if (!o->hidden) put_option(out, o);
    static const struct assay__option help = {
        .name = "help", .letter = 'h', .help = "Show this page."};
    put_option(out, &help);
    if (command->examples) assay__buf_printf(out, "\nexamples:\n%s", command->examples);
}

void assay__help_overview(struct assay__buf *out)
{
    assay__buf_puts(
        out, "assay shows where a neural network's time, memory and energy go on this machine.\n"
             "What it cannot measure it reports as unavailable, with the reason.\n\n"
             "usage: assay COMMAND [options] …\n\ncommands:\n");
    for (size_t i = 0; assay__command_at(i); i++) {
        const struct assay__command *command = assay__command_at(i);
        if (!command->hidden)
            assay__buf_printf(out, "  %-12s %s\n", command->name, command->summary);
    }
    assay__buf_puts(
        out, "\n'assay help COMMAND' shows the options. To get started: assay run resnet50,\nor "
             "assay model.onnx, which is short for assay run model.onnx.\nExit status: 0 success, "
             "1 a check failed, 2 wrong usage, 3 the measurement failed,\n4 no verdict, 130 "
             "interrupted (the partial profile is saved).\n");
}
