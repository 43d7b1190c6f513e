/* program.h - a program that is run for the user: it has our descriptors, directory, terminal and
 * process group, and gets the signals that we get. (A worker has none of these: platform.h.) */
#ifndef ASSAY_PLATFORM_PROGRAM_H
#define ASSAY_PLATFORM_PROGRAM_H

#include <assay/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct assay__program {
    const char *const *argv;  /* argv[0] is searched in the environment's PATH */
    char *const *environment; /* all of it */
    bool ignores_sigpipe;     /* as we were started with, before we ignored it ourselves */
    /** Called while the program waits before its first instruction; what fails here is the
     *  caller's. May be NULL. */
    void (*held)(void *context, pid_t pid);
    void *context;
};

/** 0; ASSAY_ENOTFOUND: there is none of that name; ASSAY_EIO: it cannot be executed. From now on
 *  signals that a process sends us go on to it (those of the terminal reach it by themselves). */
int assay__program_start(const struct assay__program *program, pid_t *pid,
                         struct assay_error *error);
/** The program has ended: SIGINT, SIGTERM and SIGQUIT are our own again, the others are ignored. */
void assay__program_forget(void);
/** How many signals have asked the program to end (SIGINT, SIGTERM). */
int assay__program_stops(void);
/** Processes whose parents end become our children, where the system can do that. */
void assay__program_adopt(void);
/** Whether there is a child of ours left; reaps those that have ended. */
bool assay__program_left(void);
/** How many other processes have this text in their environment, as far as the system shows it
 *  (Linux: those of this user). */
size_t assay__program_count_with(const char *text);
/** Ends this process by that signal, without a core file. */
void assay__program_die(int signal_number);
/** "USR2", "SIGUSR2", "12"; 0: there is none, or none that a program can catch. */
int assay__signal_number(const char *name);

#endif
