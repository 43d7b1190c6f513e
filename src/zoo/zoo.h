/* zoo.h - our own model builders. To add one, write a file that defines assay__zoo_NAME with its
 * parameters and its builder, and add a row in zoo_models.h. */
#ifndef ASSAY_ZOO_H
#define ASSAY_ZOO_H

#include "base/buf.h"
#include "model/graph.h"

enum assay__zoo_kind {
    ASSAY__ZOO_INTEGER, /* low … high */
    ASSAY__ZOO_NUMBER,  /* low … high */
    ASSAY__ZOO_CHOICE,  /* one of `choices` */
    ASSAY__ZOO_TEXT,
};

/** A parameter of a model. Parsing, `assay make --list` and doc/zoo.md follow from it. */
struct assay__zoo_param {
    const char *key; /* NULL ends a list */
    enum assay__zoo_kind kind;
    /* The default as a user would write it. If it depends on other parameters, these are at their
     * defaults. Something that is not a value, such as "(symbolic)", "" or "FILE", says what
     * leaving it out means. */
    const char *otherwise;
    const char *choices; /* CHOICE: "a|b|c"; "a=b": b is another name for a, which is not listed */
    double low, high;
    const char *help; /* a few words, for the documents */
};

/* Rows of a list. */
#define ASSAY__ZOO_INT(KEY, OTHERWISE, LOW, HIGH, HELP)           \
    {                                                             \
        KEY, ASSAY__ZOO_INTEGER, OTHERWISE, NULL, LOW, HIGH, HELP \
    }
#define ASSAY__ZOO_REAL(KEY, OTHERWISE, LOW, HIGH, HELP)         \
    {                                                            \
        KEY, ASSAY__ZOO_NUMBER, OTHERWISE, NULL, LOW, HIGH, HELP \
    }
#define ASSAY__ZOO_ONE_OF(KEY, OTHERWISE, CHOICES, HELP)       \
    {                                                          \
        KEY, ASSAY__ZOO_CHOICE, OTHERWISE, CHOICES, 0, 0, HELP \
    }
#define ASSAY__ZOO_WORDS(KEY, OTHERWISE, HELP)            \
    {                                                     \
        KEY, ASSAY__ZOO_TEXT, OTHERWISE, NULL, 0, 0, HELP \
    }

struct assay__zoo_params;
typedef int assay__zoo_fn(struct assay__zoo_params *params);

struct assay__zoo_entry {
    const char *name, *summary;
    const struct assay__zoo_param *params[4]; /* lists; the first NULL ends them */
    assay__zoo_fn *build;
};
/* The last arguments are the lists of parameters. */
#define ASSAY__ZOO_ENTRY(NAME, SUMMARY, BUILD, ...) \
    {                                               \
        NAME, SUMMARY, {__VA_ARGS__}, BUILD         \
    }
const struct assay__zoo_entry *assay__zoo_at(size_t index); /* NULL past the end */
bool assay__zoo_knows(const char *name);                    /* "resnet50" or "resnet50:batch=8" */
/** Builds "name[:k=v,…]". Unknown name or key: one line with the nearest. */
int assay__zoo_build(const char *name, struct assay__model **model, struct assay_error *error);

/** NULL past the end. */
const struct assay__zoo_param *assay__zoo_param_at(const struct assay__zoo_entry *entry,
                                                   size_t index);
/** "batch=(symbolic),version=1.0|1.1": the parameters in one line. */
void assay__zoo_params_line(struct assay__buf *out, const struct assay__zoo_entry *entry);
/** The parameters of all models as tables, for doc/zoo.md. */
void assay__zoo_markdown(struct assay__buf *out);

/* --- what builders read ----------------------------------------------------------------------- */

#define ASSAY__ZOO_PARAMS 32

/** What a builder gets. Values are checked before it is called. Using a key that is not declared
 * fails the build. */
struct assay__zoo_params {
    const struct assay__zoo_entry *entry;
    struct assay__model *model;
    struct assay_error *error;
    int code;   /* of the first assay__zoo_refuse */
    char *text; /* the part after the colon, split up; in the model's arena */
    struct {
        const char *key, *value;
    } given[ASSAY__ZOO_PARAMS];
    size_t given_count;
    const char *undeclared; /* a key that the builder used and did not declare */
};
/** Reports why these values are incompatible; the first report is kept. Returns ASSAY_EINVAL. */
int assay__zoo_refuse(struct assay__zoo_params *params, const char *format, ...) ASSAY_PRINTF(2, 3);
bool assay__zoo_given(struct assay__zoo_params *params, const char *key);
/** The default if it is not given; -1 if that is not a number. */
int64_t assay__zoo_int(struct assay__zoo_params *params, const char *key);
/** `otherwise` when it is not given. */
int64_t assay__zoo_int_or(struct assay__zoo_params *params, const char *key, int64_t otherwise);
double assay__zoo_number(struct assay__zoo_params *params, const char *key);
double assay__zoo_number_or(struct assay__zoo_params *params, const char *key, double otherwise);
/** The index of the word among the choices. */
int assay__zoo_choice(struct assay__zoo_params *params, const char *key);
/** NULL if it is not given. Lives as long as the model. */
const char *assay__zoo_text(struct assay__zoo_params *params, const char *key);

#endif
