/* posix_misc.c - small things that are the same on Linux and macOS: signal names, shared memory,
 * dynamic libraries, the width of a terminal, where a control group is. */
#include "platform/platform.h"
#include "platform/posix.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct signal_text {
    int number;
    const char *text;
};

static const struct signal_text signals[] = {{SIGHUP, "SIGHUP (hang-up)"},
                                             {SIGINT, "SIGINT (interrupted)"},
                                             {SIGQUIT, "SIGQUIT (quit)"},
                                             {SIGILL, "SIGILL (illegal instruction)"},
                                             {SIGTRAP, "SIGTRAP (trap)"},
                                             {SIGABRT, "SIGABRT (aborted)"},
                                             {SIGBUS, "SIGBUS (bus error)"},
                                             {SIGFPE, "SIGFPE (arithmetic exception)"},
                                             {SIGKILL, "SIGKILL (killed)"},
                                             {SIGUSR1, "SIGUSR1 (user signal 1)"},
                                             {SIGSEGV, "SIGSEGV (segmentation fault)"},
                                             {SIGUSR2, "SIGUSR2 (user signal 2)"},
                                             {SIGPIPE, "SIGPIPE (broken pipe)"},
                                             {SIGALRM, "SIGALRM (alarm)"},
                                             {SIGTERM, "SIGTERM (terminated)"},
                                             {SIGSYS, "SIGSYS (bad system call)"},
                                             {SIGXCPU, "SIGXCPU (CPU time limit)"},
                                             {SIGXFSZ, "SIGXFSZ (file size limit)"}};

const char *assay__signal_name(int signal_number)
{
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        if (signals[i].number == signal_number) return signals[i].text;
    static _Thread_local char other[32];
    snprintf(other, sizeof other, "signal %d", signal_number);
    return other;
}

int assay__shared_open(int fd, size_t size, void **address, struct assay_error *error)
{
    struct stat status;
    *address = NULL;
    if (fstat(fd, &status) != 0)
        return assay_error_set(error, ASSAY_EIO, "no shared memory: %s", strerror(errno));
    if (size == 0 ||
        (uint64_t)status.st_size < size) /* every access beyond the end would raise SIGBUS */
        return assay_error_set(error, ASSAY_EINVAL,
                               "shared memory has %lld bytes, %zu were requested",
                               (long long)status.st_size, size);
    void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED)
        return assay_error_set(error, errno == ENOMEM ? ASSAY_ENOMEM : ASSAY_EIO,
                               "cannot map %zu bytes of shared memory: %s", size, strerror(errno));
    *address = mapped;
    return 0;
}

int assay__shared_create(size_t size, int *fd, void **address, struct assay_error *error)
{
    *address = NULL;
    *fd = assay__shared_descriptor(size);
    if (*fd < 0)
        return assay_error_set(error, ASSAY_EIO, "cannot create %zu bytes of shared memory: %s",
                               size, strerror(errno));
    int code = assay__shared_open(*fd, size, address, error);
    if (code) {
        close(*fd);
        *fd = -1;
    }
    return code;
}

void assay__shared_close(void *address, size_t size)
{
    if (address) munmap(address, size);
}

void *assay__library_open(const char *path, struct assay_error *error)
{
    dlerror();
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        assay_error_set(error, ASSAY_ENOTFOUND, "cannot load '%s': %s", path,
                        why ? why : "unknown reason");
    }
    return library;
}

void *assay__library_symbol(void *library, const char *name)
{
    return dlsym(library, name);
}

void *assay__symbol_anywhere(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

void assay__library_close(void *library)
{
    if (library) dlclose(library);
}

void assay__library_path(const void *address, char *out, size_t out_size)
{
    Dl_info info;
    if (out_size == 0) return;
    out[0] = '\0';
    if (dladdr(address, &info) && info.dli_fname) snprintf(out, out_size, "%s", info.dli_fname);
}

int assay__terminal_columns(int fd)
{
    struct winsize size;
    if (!isatty(fd)) return 0;
    if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
    return size.ws_col;
}

/* --- control groups --------------------------------------------------------------------------- */

const char *assay__cgroup_locate(const char *cgroup, const char *mountinfo,
                                 char point[ASSAY__CGROUP_PATH], char own[ASSAY__CGROUP_PATH])
{
    char top[ASSAY__CGROUP_PATH] = "/", group[ASSAY__CGROUP_PATH];
    const char *line = strncmp(cgroup, "0::", 3) == 0 ? cgroup : strstr(cgroup, "\n0::");
    if (!line)
        return "only control groups version 1 are available (systemd.unified_cgroup_hierarchy=1 on "
               "the kernel's command line enables version 2)";
    const char *path = strstr(line, "0::") + 3;
    size_t size = strcspn(path, "\n");
    if (*path != '/' || size >= sizeof group) return "/proc/self/cgroup is malformed";
    snprintf(group, sizeof group, "%.*s", (int)size, path);
    if (strstr(group, "/..")) return "the control group of this process is outside its namespace";
    snprintf(point, ASSAY__CGROUP_PATH, "/sys/fs/cgroup");
    /* Lines of mountinfo: "30 23 0:26 ROOT POINT options … - cgroup2 …" */
    for (const char *at = mountinfo; at && *at;) {
        char text[4096], root[ASSAY__CGROUP_PATH], mounted[ASSAY__CGROUP_PATH];
        size_t length = strcspn(at, "\n");
        snprintf(text, sizeof text, "%.*s", (int)length, at);
        at += length + (at[length] == '\n');
        if (!strstr(text, " - cgroup2 ") ||
            sscanf(text, "%*s %*s %*s %1023s %1023s", root, mounted) != 2 || *root != '/' ||
            *mounted != '/')
            continue;
        memcpy(top, root, sizeof root);
        memcpy(point, mounted, sizeof mounted);
        break;
    }
    size_t length = strcmp(top, "/") == 0 ? 0 : strlen(top);
    bool below = length && strncmp(group, top, length) == 0 &&
                 (group[length] == '/' || !group[length]); /* a part of the tree is mounted */
    const char *rest = below ? group + length : group;
    snprintf(own, ASSAY__CGROUP_PATH, "%s", strcmp(rest, "/") == 0 ? "" : rest);
    return NULL;
}
