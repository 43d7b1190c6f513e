/* coreml.h - shared by the Core ML readers: the field numbers of Model.proto and FeatureTypes.proto
 * that we interpret, the reading state, and the description of a model's inputs and outputs. MIL
 * has its own header (mil.h), the layers of neural networks theirs (coreml_nn.h). Errors stick in
 * the reader (wire_reader.h): functions that read or add something return nothing, and
 * assay__coreml_code reports at the end whether all went well. */
#ifndef ASSAY_MODEL_COREML_COREML_H
#define ASSAY_MODEL_COREML_COREML_H

#include "model/graph.h"
#include "model/onnx/onnx.h"
#include "model/wire.h"

#define ASSAY__COREML_DOMAIN "coreml" /* operators without an ONNX equivalent */
#define ASSAY__COREML_OPSET 24        /* version of ai.onnx whose forms the nodes have */
#define ASSAY__COREML_SMALL 1024 /* longer lists of integers are not parameters of an operator */

enum assay__coreml_field {
    COREML_SPECIFICATION = 1,
    COREML_DESCRIPTION = 2,
    COREML_PIPELINE_CLASSIFIER = 200,
    COREML_PIPELINE_REGRESSOR = 201,
    COREML_PIPELINE = 202,
    COREML_NN_REGRESSOR = 303,
    COREML_NN_CLASSIFIER = 403,
    COREML_NN = 500,
    COREML_PROGRAM = 502,
    /* ModelDescription */
    DESCRIPTION_INPUT = 1,
    DESCRIPTION_OUTPUT = 10,
    DESCRIPTION_STATE = 13,
    DESCRIPTION_FUNCTION = 20,
    DESCRIPTION_DEFAULT_FUNCTION = 21,
    DESCRIPTION_METADATA = 100,
    /* FunctionDescription */
    FUNCTION_DESCRIPTION_NAME = 1,
    FUNCTION_DESCRIPTION_INPUT = 2,
    FUNCTION_DESCRIPTION_OUTPUT = 3,
    FUNCTION_DESCRIPTION_STATE = 6,
    /* FeatureDescription, FeatureType */
    FEATURE_NAME = 1,
    FEATURE_TYPE = 3,
    FEATURE_INT64 = 1,
    FEATURE_DOUBLE = 2,
    FEATURE_STRING = 3,
    FEATURE_IMAGE = 4,
    FEATURE_ARRAY = 5,
    FEATURE_DICTIONARY = 6,
    FEATURE_SEQUENCE = 7,
    FEATURE_STATE = 8,
    FEATURE_OPTIONAL = 1000,
    /* ArrayFeatureType, ImageFeatureType and their flexible shapes */
    ARRAY_SHAPE = 1,
    ARRAY_TYPE = 2,
    ARRAY_ENUMERATED = 21,
    ARRAY_RANGE = 31,
    IMAGE_WIDTH = 1,
    IMAGE_HEIGHT = 2,
    IMAGE_COLOR = 3,
    IMAGE_ENUMERATED = 21,
    IMAGE_RANGE = 31,
    /* Metadata */
    METADATA_SHORT = 1,
    METADATA_VERSION = 2,
    METADATA_AUTHOR = 3,
    METADATA_USER = 100,
};

/** One input, output or state as in the description. Images are 1 x channels x height x width. */
struct assay__coreml_feature {
    const char *name;
    int kind; /* FEATURE_… */
    enum assay__dtype dtype;
    int rank; /* -1 not stated */
    int64_t *dims;
    bool *flexible; /* per dimension; NULL: none is */
    /* what a tensor type cannot express: "image RGB", "axis 2: 64 to 512"; "" nothing */
    const char *words;
    bool optional;
};

struct assay__coreml_features {
    struct assay__coreml_feature *items;
    size_t count;
};

struct assay__coreml_description {
    struct assay__coreml_features inputs, outputs, states;
    const char *function; /* default function, "" if it is not named */
};

/** The state of reading one model. */
struct assay__coreml {
    struct assay__reader reader;
    struct assay__model *model;
    const char *folder; /* folder for "@model_path"; NULL: the weights were given */
    const char *root;   /* real path that no file may leave; NULL together with folder */
    const uint8_t *weights;
    size_t weights_size;
    const char *weights_name; /* as the file names it; NULL before the first use */
    struct assay__coreml_description description;
    int64_t specification;
};

/* coreml.c */
/** 0, or the first error of reading or of adding to the graph. */
int assay__coreml_code(struct assay__coreml *coreml);
/** folder/name, checked: relative, no "..", a regular file (or folder) inside root after following
 * links. */
int assay__coreml_inside(struct assay__coreml *coreml, const char *folder, const char *name,
                         char *out, size_t out_size);
/* Fields of a message by number; if one is repeated, the last counts. `what` names the message in
 * an error. */
/** A message within it; false, and an empty one, if there is none. */
bool assay__coreml_find(struct assay__coreml *coreml, const struct assay__wire_field *message,
                        uint32_t number, const char *what, struct assay__wire_field *found);
const char *assay__coreml_text(struct assay__coreml *coreml,
                               const struct assay__wire_field *message, uint32_t number,
                               const char *what); /* "" not there */
uint64_t assay__coreml_number(struct assay__coreml *coreml, const struct assay__wire_field *message,
                              uint32_t number, const char *what); /* 0 not there */
/** A metadata entry "coreml.KEY". */
void assay__coreml_note(struct assay__coreml *coreml, const char *key, const char *value);
/** Adds the entry "coreml.SIDE.NAME" with what a tensor type cannot express about a feature, if
 * anything. */
void assay__coreml_note_feature(struct assay__coreml *coreml, const char *side,
                                const struct assay__coreml_feature *feature);
/** Adds a compressed weight to the model's list; returns its index. */
size_t assay__coreml_add_stored(struct assay__coreml *coreml,
                                const struct assay__stored_weight *weight);

/* coreml_description.c */
/** Reads a ModelDescription: the features of its top level and of its default function, and the
 * metadata. */
void assay__coreml_describe(struct assay__coreml *coreml, const struct assay__wire_field *message);
const struct assay__coreml_feature *assay__coreml_feature(
    const struct assay__coreml_features *features, const char *name);
/** Dimensions for the graph: a flexible or unknown one is symbolic, "NAME_AXIS". NULL after an
 * error and for rank 0. */
struct assay__dim *assay__coreml_dims(struct assay__coreml *coreml, const char *name, int rank,
                                      const int64_t *dims, const bool *flexible);

/* the readers of what a model may be */
void assay__mil_read(struct assay__coreml *coreml, const struct assay__wire_field *message);
void assay__coreml_nn_read(struct assay__coreml *coreml, const struct assay__wire_field *message);

#endif
