/* tables.h - the field tables of everything a profile stores (fields.h says what a row means). Only
 * the column chunks (samples, series, layer times) have none. The element of a list of texts is the
 * text itself, const char *. */
#ifndef ASSAY_PROFILE_TABLES_H
#define ASSAY_PROFILE_TABLES_H

#include "profile/fields.h"
#include "profile/profile.h"

/* X(NAME): the table assay__stored_NAME, and what its elements are. */
#define ASSAY__STORED_TABLES(X)                            \
    X(profile)        /* struct assay_profile */           \
    X(environment)    /* struct assay__environment */      \
    X(model)          /* struct assay__model_info */       \
    X(operator)       /* struct assay__operator_info */    \
    X(cell)           /* struct assay__cell_info */        \
    X(cell_group)     /* struct assay__cell_group */       \
    X(tensor)         /* struct assay__tensor_info */      \
    X(dim)            /* struct assay__axis_row */         \
    X(note)           /* struct assay__note_row */         \
    X(finding)        /* struct assay__finding */          \
    X(evidence)       /* text */                           \
    X(ceiling)        /* struct assay__ceiling_info */     \
    X(plan)           /* struct assay__plan */             \
    X(trial)          /* struct assay__trial */            \
    X(option)         /* struct assay__pair */             \
    X(axis)           /* struct assay__axis_value */       \
    X(token)          /* int64_t */                        \
    X(feedback)       /* struct assay__feedback */         \
    X(token_time)     /* struct assay__token_time */       \
    X(requirements)   /* struct assay__requirements */     \
    X(placed_node)    /* struct assay__placed_node */      \
    X(power)          /* struct assay__power_info */       \
    X(power_rail)     /* text */                           \
    X(power_warning)  /* struct assay__power_warning */    \
    X(launch)         /* struct assay__launch */           \
    X(metric)         /* struct assay_metric */            \
    X(layer)          /* struct assay__layer */            \
    X(layer_origin)   /* text */                           \
    X(edge)           /* struct assay__edge */             \
    X(peak)           /* struct assay__peak */             \
    X(peak_tensor)    /* struct assay__peak_tensor */      \
    X(series)         /* struct assay__series_info */      \
    X(span)           /* struct assay__span */             \
    X(allocations)    /* struct assay__allocations */      \
    X(phase)          /* struct assay__allocation_phase */ \
    X(class)          /* struct assay__allocation_class */ \
    X(site)           /* struct assay__allocation_site */  \
    X(counter_info)   /* struct assay__counter_info */     \
    X(counter_name)   /* text */                           \
    X(class_counters) /* struct assay__class_counters */   \
    X(counter_value)  /* double */

#define ASSAY__STORED_DECLARE(NAME) extern const struct assay__field_table assay__stored_##NAME;
ASSAY__STORED_TABLES(ASSAY__STORED_DECLARE)
extern const struct assay__field_table assay__stored_layers; /* struct assay__layers: a trial's */

/** An axis of a tensor, as a row. */
struct assay__axis_row {
    int64_t size; /* -1 symbolic */
    const char *symbol;
};

/** A sentence, as a row. */
struct assay__note_row {
    const char *text;                     /* NULL: the row has none */
    enum assay__disturbance_kind subject; /* of a disturbance */
};

/** The note on a trial's class counters, as a row. */
struct assay__counter_info {
    int64_t counters; /* how many names; -1: there are none */
    const char *note;
};

/** All of them that schema.sql has a table for. */
extern const struct assay__field_table *const assay__tables[];
extern const size_t assay__table_count;

#endif
