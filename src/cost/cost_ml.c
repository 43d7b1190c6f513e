/* cost_ml.c - costs of the classical operators of ai.onnx.ml, as far as shapes determine them. */
#include "cost/cost_table.h"

#include <math.h>

#define EACH ASSAY__COST_EACH
#define EACH_IN ASSAY__COST_EACH_IN
#define MOVE ASSAY__COST_MOVE
#define WORK ASSAY__COST_WORK

/* LinearRegressor, LinearClassifier X [N, F], coefficients [targets × F]: a multiply-add each, an
 * intercept per target and row. */
static void count_linear(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    const struct assay__shape_entry *x = assay__cost_in(call, 0);
    const struct assay__attr *coefficients = assay__node_attr(call->node, "coefficients");
    double features = assay__cost_dim(x, -1), rows = assay__cost_elements(x) / features;
    double count = coefficients && coefficients->floats ? (double)coefficients->count : NAN;
    work->multiply_adds = rows * count;
    if (assay__node_attr(call->node, "intercepts")) work->bias_adds = rows * count / features;
}

const struct assay__cost_row assay__cost_rows_ml[] = {
    ASSAY__COST_PICK("ArrayFeatureExtractor", "ml", 1),
    EACH("Binarizer", "ml", 1), /* a comparison */
    MOVE("FeatureVectorizer LabelEncoder OneHotEncoder", "ml"),
    EACH("Imputer", "ml", 1), /* a comparison */
    WORK("LinearClassifier LinearRegressor", "ml", count_linear),
    EACH("Normalizer", "ml", 3),                     /* power, sum, division */
    EACH("Scaler", "ml", 2),                         /* -, × */
    WORK("TreeEnsemble", "ml", assay__cost_by_data), /* how deep a row goes */
    WORK("TreeEnsembleClassifier TreeEnsembleRegressor", "ml", assay__cost_by_data),
    {.ops = NULL},
};
