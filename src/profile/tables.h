/* tables.h - the field tables of everything a profile stores (fields.h says what a row means). Only
 * the column chunks (samples, series, layer times) have none. The element of a list of texts is the
 * text itself, const char *. */
#ifndef ASSAY_PROFILE_TABLES_H
#define ASSAY_PROFILE_TABLES_H

#include "profile/fields.h"
#include "profile/profile.h"

/* Of the profile. */
extern const struct assay__field_table assay__stored_profile;     /* struct assay_profile */
extern const struct assay__field_table assay__stored_environment; /* struct assay__environment */
extern const struct assay__field_table assay__stored_model;       /* struct assay__model_info */
extern const struct assay__field_table assay__stored_operator;    /* struct assay__operator_info */
extern const struct assay__field_table assay__stored_cell;        /* struct assay__cell_info */
extern const struct assay__field_table assay__stored_cell_group;  /* struct assay__cell_group */
extern const struct assay__field_table assay__stored_tensor;      /* struct assay__tensor_info */
extern const struct assay__field_table assay__stored_dim;         /* struct assay__axis_row */
extern const struct assay__field_table assay__stored_plan;        /* struct assay__plan */
extern const struct assay__field_table assay__stored_note;        /* struct assay__note_row */
extern const struct assay__field_table assay__stored_finding;     /* struct assay__finding */
extern const struct assay__field_table assay__stored_evidence;    /* text */
extern const struct assay__field_table assay__stored_ceiling;     /* struct assay__ceiling_info */

/* Of a trial. */
extern const struct assay__field_table assay__stored_trial;  /* struct assay__trial */
extern const struct assay__field_table assay__stored_layers; /* struct assay__layers, part of it */
extern const struct assay__field_table assay__stored_option; /* struct assay__pair */
extern const struct assay__field_table assay__stored_axis;   /* struct assay__axis_value */
extern const struct assay__field_table assay__stored_token;  /* int64_t */
extern const struct assay__field_table assay__stored_requirements; /* struct assay__requirements */
extern const struct assay__field_table assay__stored_placed_node;  /* struct assay__placed_node */
extern const struct assay__field_table assay__stored_power;        /* struct assay__power_info */
extern const struct assay__field_table assay__stored_power_rail;   /* text */
extern const struct assay__field_table
    assay__stored_power_warning;                                   /* struct assay__power_warning */
extern const struct assay__field_table assay__stored_launch;       /* struct assay__launch */
extern const struct assay__field_table assay__stored_metric;       /* struct assay_metric */
extern const struct assay__field_table assay__stored_layer;        /* struct assay__layer */
extern const struct assay__field_table assay__stored_layer_origin; /* text */
extern const struct assay__field_table assay__stored_peak;         /* struct assay__peak */
extern const struct assay__field_table assay__stored_peak_tensor;  /* struct assay__peak_tensor */
extern const struct assay__field_table assay__stored_series;       /* struct assay__series_info */
extern const struct assay__field_table assay__stored_span;         /* struct assay__span */
extern const struct assay__field_table assay__stored_allocations;  /* struct assay__allocations */
extern const struct assay__field_table assay__stored_phase; /* struct assay__allocation_phase */
extern const struct assay__field_table assay__stored_class; /* struct assay__allocation_class */
extern const struct assay__field_table assay__stored_site;  /* struct assay__allocation_site */
extern const struct assay__field_table assay__stored_counter_info; /* struct assay__counter_info */
extern const struct assay__field_table assay__stored_counter_name; /* text */
extern const struct assay__field_table
    assay__stored_class_counters; /* struct assay__class_counters */
extern const struct assay__field_table assay__stored_counter_value; /* double */

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
