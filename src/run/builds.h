/* builds.h - several builds of ONNX Runtime side by side. One is the default (found without a name,
 * doc/engines.md) and its devices have plain names: "cpu". The others are in the user's list, and
 * their name is a prefix of their devices: "ovn/openvino:cpu".
 *
 * The list is a text file, $XDG_CONFIG_HOME/assay/ort, else $HOME/.config/assay/ort. A line is
 * "NAME PATH": a name of letters, digits, '-' and '_', blanks, and the path of a libonnxruntime or
 * of its folder, to the end of the line (it may contain blanks). '#' begins a comment line. An
 * unusable line becomes a complaint with its number; the others work. */
#ifndef ASSAY_RUN_BUILDS_H
#define ASSAY_RUN_BUILDS_H

#include "base/arena.h"

#include <assay/error.h>
#include <stdbool.h>
#include <stddef.h>

#define ASSAY__BUILD_NAME 32 /* characters of a name at most */

struct assay__build {
    const char *name;    /* "" is the default one */
    const char *library; /* path of the library or its folder; NULL: the default search */
};

struct assay__builds {
    struct assay__build *items; /* arena */
    size_t count;
    const char **complaints; /* "…/ort:3: …" */
    size_t complaint_count;
    const char *path; /* path of the list; "" if there is no place for it */
};

/** Where the list is. ASSAY_ENOTFOUND if neither variable contains an absolute path. */
int assay__builds_path(char *out, size_t out_size, struct assay_error *error);
/** Reads the list. A missing file is an empty list. ASSAY_EIO and the like when it cannot be
 *  read. */
int assay__builds_read(struct assay__arena *arena, struct assay__builds *builds,
                       struct assay_error *error);
const struct assay__build *assay__builds_find(const struct assay__builds *builds, const char *name);
/** ASSAY_EINVAL with the reason when it is not a valid name. */
int assay__build_name_check(const char *name, struct assay_error *error);
/** An absolute path of a build's library or folder that exists. */
int assay__build_path_check(struct assay__arena *arena, const char *given, const char **path,
                            struct assay_error *error);
/** A name for an unnamed build: from its folder ("…/onnxruntime-openvino/1.24.1" is "openvino"),
 * different from all in `builds`. */
const char *assay__build_name_for(struct assay__arena *arena, const char *path,
                                  const struct assay__builds *builds);

/** Appends "[NAME=]PATH" to the builds, whose items have room for it. The part before '=' is a name
 * only if it could be one; a build without a name gets one. ASSAY_EINVAL with the reason. */
int assay__build_take(struct assay__arena *arena, const char *text, struct assay__builds *builds,
                      struct assay_error *error);

/** Adds to the list, or replaces the build of that name; comments and other lines stay. A temporary
 * file is written next to it and renamed. */
int assay__builds_add(const char *name, const char *path, struct assay_error *error);
/** ASSAY_ENOTFOUND when there is no build of that name. */
int assay__builds_remove(const char *name, struct assay_error *error);

/** Splits "ovn/openvino:cpu" into the library of the build and the engine's own name. Without a
 *  prefix *library is NULL. Both live in the arena. ASSAY_ENOTFOUND when the list has no such
 *  build. */
int assay__build_resolve(struct assay__arena *arena, const char *text, const char **library,
                         const char **device, struct assay_error *error);
/** The same for a run: only ONNX Runtime has builds, and a prefix contradicts an explicit library.
 * Without a prefix *library is not changed. */
int assay__build_of_run(struct assay__arena *arena, const char *engine, const char *text,
                        const char **library, const char **device, struct assay_error *error);

#endif
