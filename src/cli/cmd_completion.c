/* cmd_completion.c - assay completion bash|zsh|fish: a completion script generated from the table
 * of commands. Options, their fixed choices and command names are completed; if a profile is read,
 * *.assay and folders; everything else falls back to file names. */
#include "cli/commands.h"

#include <stdio.h>
#include <string.h>

static void put_choices(struct assay__buf *out, const char *choices)
{
    for (const char *c = choices; *c; c++)
        assay__buf_putc(out, *c == '|' ? ' ' : *c);
}

/* Inside single quotes of a shell. */
static void put_quoted(struct assay__buf *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        if (*c == '\'')
            assay__buf_puts(out, "'\\''");
        else
            assay__buf_putc(out, *c);
    }
}

static void put_names(struct assay__buf *out)
{
    for (size_t i = 0, n = 0; assay__command_at(i); i++)
        if (!assay__command_at(i)->hidden)
            assay__buf_printf(out, "%s%s", n++ ? " " : "", assay__command_at(i)->name);
}

/* Words that complete a command's first argument, between the two texts. False: they are not fixed,
 * and nothing is written. */
static bool put_words(struct assay__buf *out, const char *before,
                      const struct assay__command *command, const char *after)
{
    const char *words = command->arguments;
    bool fixed = strchr(words, '|') && !strchr(words, ' '),
         names = strcmp(command->name, "help") == 0;
    if (!fixed && !names) return false;
    assay__buf_puts(out, before);
    if (names)
        put_names(out);
    else
        put_choices(out, words);
    assay__buf_puts(out, after);
    return true;
}

static bool takes_profile(const struct assay__command *command)
{
    return strncmp(command->arguments, "PROFILE", strlen("PROFILE")) == 0;
}

/* --- bash ------------------------------------------------------------------------------------- */

static void bash_command(struct assay__buf *out, const struct assay__command *command)
{
    const struct assay__option *o;
    bool any = false;
    assay__buf_printf(out, "    %s)\n        options='--help", command->name);
    for (size_t i = 0; (o = assay__option_at(command, i)); i++)
        if (!o->hidden) assay__buf_printf(out, " --%s%s", o->name, o->bare ? "=" : "");
    assay__buf_puts(out, "'\n");
    put_words(out, "        words='", command, "'\n");
    if (takes_profile(command)) assay__buf_puts(out, "        profiles=yes\n");
    for (size_t i = 0; (o = assay__option_at(command, i)); i++) {
        if (o->hidden || !o->choices) continue;
        if (!any) assay__buf_puts(out, "        case $previous in\n");
        any = true;
        assay__buf_printf(out, "        --%s) choices='", o->name);
        put_choices(out, o->choices);
        assay__buf_puts(out, "' ;;\n");
    }
    assay__buf_puts(out, any ? "        esac\n        ;;\n" : "        ;;\n");
}

static void put_bash(struct assay__buf *out)
{
    assay__buf_puts(
        out, "# bash completion for assay, made by 'assay completion bash'\n"
             "_assay() {\n"
             "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
             "    local options='' words='' choices='' profiles=''\n"
             "    COMPREPLY=()\n"
             "    if [ \"$previous\" = = ] && [ \"$COMP_CWORD\" -ge 2 ]; then\n"
             "        previous=${COMP_WORDS[COMP_CWORD-2]}\n"
             "    elif [ \"$current\" = = ]; then\n"
             "        current=''\n"
             "    fi\n"
             "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
             "        mapfile -t COMPREPLY < <(compgen -W '");
    put_names(out);
    assay__buf_puts(out,
                    "' -- \"$current\")\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; assay__command_at(i); i++)
        if (!assay__command_at(i)->hidden) bash_command(out, assay__command_at(i));
    assay__buf_puts(
        out, "    esac\n"
             "    if [ -n \"$choices\" ]; then\n"
             "        mapfile -t COMPREPLY < <(compgen -W \"$choices\" -- \"$current\")\n"
             "    elif [[ $current == -* ]]; then\n"
             "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$current\")\n"
             "        [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n"
             "    elif [ -n \"$words\" ]; then\n"
             "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
             "    elif [ -n \"$profiles\" ] && [[ $previous != -* ]]; then\n"
             "        mapfile -t COMPREPLY < <(compgen -d -- \"$current\"\n"
             "            compgen -f -X '!*.assay' -- \"$current\")\n"
             "        compopt -o filenames\n"
             "    else\n"
             "        mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
             "        compopt -o filenames\n"
             "    fi\n"
             "}\n"
             "complete -F _assay assay\n");
}

/* --- zsh -------------------------------------------------------------------------------------- */

/* In an _arguments specification [ ] : and \ have a meaning. */
static void zsh_text(struct assay__buf *out, const char *text)
{
    struct assay__buf escaped = {0};
    for (const char *c = text; *c; c++) {
        if (strchr("[]:\\", *c)) assay__buf_putc(&escaped, '\\');
        assay__buf_putc(&escaped, *c);
    }
    put_quoted(out, assay__buf_text(&escaped));
    assay__buf_free(&escaped);
}

static void zsh_option(struct assay__buf *out, const struct assay__option *o)
{
    const char *repeat = o->kind == ASSAY__OPTION_LIST ? "*" : "";
    for (int form = o->letter ? 0 : 1; form < 2; form++) {
        assay__buf_printf(out, " \\\n            '%s", repeat);
        if (form)
            assay__buf_printf(out, "--%s%s", o->name, o->bare ? "=-" : o->argument ? "=" : "");
        else
            assay__buf_printf(out, "-%c%s", o->letter, o->argument ? "+" : "");
        assay__buf_putc(out, '[');
        zsh_text(out, o->help);
        assay__buf_putc(out, ']');
        if (o->argument) {
            assay__buf_puts(out, o->bare ? "::" : ":");
            zsh_text(out, o->argument);
            assay__buf_putc(out, ':');
            if (o->choices) {
                assay__buf_putc(out, '(');
                put_choices(out, o->choices);
                assay__buf_putc(out, ')');
            } else {
                assay__buf_puts(out, "_files");
            }
        }
        assay__buf_putc(out, '\'');
    }
}

static void put_zsh(struct assay__buf *out)
{
    assay__buf_puts(out,
                    "#compdef assay\n# zsh completion for assay, made by 'assay completion zsh'\n"
                    "_assay() {\n    local -a commands\n    commands=(\n");
    const struct assay__command *command;
    for (size_t i = 0; (command = assay__command_at(i)); i++) {
        if (command->hidden) continue;
        assay__buf_printf(out, "        '%s:", command->name);
        zsh_text(out, command->summary);
        assay__buf_puts(out, "'\n");
    }
    assay__buf_puts(out,
                    "    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n"
                    "        return\n"
                    "    fi\n    local command=$words[2]\n    shift words\n    (( CURRENT-- ))\n"
                    "    case $command in\n");
    for (size_t i = 0; (command = assay__command_at(i)); i++) {
        if (command->hidden) continue;
        assay__buf_printf(out, "    %s)\n        _arguments '(- *)'{-h,--help}'[Show this page.]'",
                          command->name);
        const struct assay__option *o;
        for (size_t k = 0; (o = assay__option_at(command, k)); k++)
            if (!o->hidden) zsh_option(out, o);
        if (!put_words(out, " \\\n            '1:argument:(", command, ")'") &&
            command->max_arguments)
            assay__buf_puts(out, takes_profile(command)
                                     ? " \\\n            '*:profile:_files -g \"*.assay\"'"
                                     : " \\\n            '*:file:_files'");
        assay__buf_puts(out, "\n        ;;\n");
    }
    assay__buf_puts(out,
                    "    esac\n}\nif [[ $funcstack[1] == _assay ]]; then\n    _assay \"$@\"\nelse\n"
                    "    compdef _assay assay\nfi\n");
}

/* --- fish ------------------------------------------------------------------------------------- */

static void put_fish(struct assay__buf *out)
{
    const struct assay__command *command;
    assay__buf_puts(out, "# fish completion for assay, made by 'assay completion fish'\n");
    for (size_t i = 0; (command = assay__command_at(i)); i++) {
        if (command->hidden) continue;
        assay__buf_printf(out, "complete -c assay -n __fish_use_subcommand -f -a %s -d '",
                          command->name);
        put_quoted(out, command->summary);
        assay__buf_puts(out, "'\n");
    }
    for (size_t i = 0; (command = assay__command_at(i)); i++) {
        if (command->hidden) continue;
        const struct assay__option *o;
        for (size_t k = 0; (o = assay__option_at(command, k)); k++) {
            if (o->hidden) continue;
            assay__buf_printf(out, "complete -c assay -n '__fish_seen_subcommand_from %s' -l %s",
                              command->name, o->name);
            if (o->letter) assay__buf_printf(out, " -s %c", o->letter);
            if (o->choices) {
                assay__buf_puts(out, o->bare ? " -f -a '" : " -x -a '");
                put_choices(out, o->choices);
                assay__buf_putc(out, '\'');
            } else if (o->argument) {
                assay__buf_puts(out, " -r");
            }
            assay__buf_puts(out, " -d '");
            put_quoted(out, o->help);
            assay__buf_puts(out, "'\n");
        }
        if (takes_profile(command))
            assay__buf_printf(out,
                              "complete -c assay -n '__fish_seen_subcommand_from %s' -k -f -a "
                              "'(__fish_complete_suffix .assay)'\n",
                              command->name);
        char before[128];
        snprintf(before, sizeof before,
                 "complete -c assay -n '__fish_seen_subcommand_from %s' -f -a '", command->name);
        put_words(out, before, command, "'\n");
    }
}

static int print_completion(struct assay__invocation *invocation)
{
    static const struct {
        const char *name;
        void (*put)(struct assay__buf *out);
    } shells[] = {{"bash", put_bash}, {"zsh", put_zsh}, {"fish", put_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++) {
        if (strcmp(invocation->arguments[0], shells[i].name) != 0) continue;
        struct assay__buf out = {0};
        shells[i].put(&out);
        return assay__print(&out);
    }
    return assay__refuse("completion: '%s' is not one of bash, zsh, fish",
                         invocation->arguments[0]);
}

const struct assay__command assay__command_completion = {
    .name = "completion",
    .summary = "print a completion script for a shell",
    .arguments = "bash|zsh|fish",
    .min_arguments = 1,
    .max_arguments = 1,
    .description =
        "Prints a script that completes assay's commands, options and option values in that shell.",
    .examples = "  source <(assay completion bash)\n"
                "  assay completion zsh > \"${fpath[1]}/_assay\"\n"
                "  assay completion fish > ~/.config/fish/completions/assay.fish\n",
    .run = print_completion,
};
