/* shapes_misc.c - shape rows of signals, losses, strings, sampling and ai.onnx.ml. */
#include "model/shapes/shape_call.h"

/* --- signals ---------------------------------------------------------------------------------- */

/* input […, n, 1 or 2], dft_length, axis (an attribute before opset 20): one-sided transforms keep
 * floor(n / 2) + 1, inverse one-sided ones give 2 (n - 1) real numbers. */
static void infer_dft(struct assay__shape_call *call)
{
    int64_t out[ASSAY__SHAPE_RANK], at = assay__node_int(call->node, "axis", 1);
    int rank = assay__shape_copy(call, 0, out), axis = 0;
    bool inverse = assay__node_int(call->node, "inverse", 0) != 0;
    bool one_sided = assay__node_int(call->node, "onesided", 0) != 0;
    enum assay__dtype dtype = assay__shape_dtype(call, 0);
    assay__shape_set(call, 0, dtype, rank, NULL);
    if (call->opset >= 20) at = assay__shape_has(call, 2) ? assay__shape_num(call, 2) : -2;
    if (rank < 2) return;
    out[rank - 1] = inverse && one_sided ? 1 : 2;
    if (!assay__num_known(at)) {
        /* a whole transform of the input's own length keeps every size, whatever the axis */
        bool changes = one_sided || assay__shape_has(call, 1);
        for (int i = 0; changes && i < rank - 1; i++)
            out[i] = ASSAY__NUM_ANY;
        assay__shape_set(call, 0, dtype, rank, out);
        return;
    }
    if (!assay__shape_axis(at, rank, &axis)) return;
    int64_t length = assay__shape_has(call, 1) ? assay__shape_num(call, 1) : out[axis];
    if (one_sided && inverse && !assay__shape_has(call, 1))
        length = assay__num_mul(call->symbols, assay__num_sub(call->symbols, length, 1), 2);
    else if (one_sided && !inverse)
        length = assay__num_add(call->symbols, assay__num_floor_div(call->symbols, length, 2), 1);
    out[axis] = length;
    assay__shape_set(call, 0, dtype, rank, out);
}

/* signal [batch, n, 1 or 2], frame_step, window, frame_length: [batch, frames, bins, 2] */
static void infer_stft(struct assay__shape_call *call)
{
    struct assay__symbols *symbols = call->symbols;
    int64_t step = assay__shape_num(call, 1), length = assay__shape_num(call, 3);
    int64_t out[4] = {assay__shape_dim(call, 0, 0), ASSAY__NUM_ANY, ASSAY__NUM_ANY, 2};
    if (!assay__shape_has(call, 3)) length = assay__shape_dim(call, 2, 0);
    out[2] = length;
    if (assay__node_int(call->node, "onesided", 1))
        out[2] = assay__num_add(symbols, assay__num_floor_div(symbols, length, 2), 1);
    int64_t room = assay__num_sub(symbols, assay__shape_dim(call, 0, 1), length);
    out[1] = assay__num_add(symbols, assay__num_floor_div(symbols, room, step), 1);
    assay__shape_set_same(call, 4, out);
}

/* com.microsoft: real to half-complex of the last `signal_ndim` axes, and back */
static void infer_rfft(struct assay__shape_call *call)
{
    int64_t out[ASSAY__SHAPE_RANK];
    int rank = assay__shape_copy(call, 0, out);
    assay__shape_same_type(call);
    if (rank < 1 || rank + 1 > ASSAY__SHAPE_RANK || assay__node_int(call->node, "onesided", 1) != 1)
        return;
    out[rank - 1] = assay__num_add(call->symbols,
                                   assay__num_floor_div(call->symbols, out[rank - 1], 2), 1);
    out[rank] = 2;
    assay__shape_set_same(call, rank + 1, out);
}

static void infer_irfft(struct assay__shape_call *call)
{
    int64_t out[ASSAY__SHAPE_RANK];
    int rank = assay__shape_copy(call, 0, out);
    assay__shape_same_type(call);
    if (rank < 2) return;
    out[rank - 2] = assay__num_mul(call->symbols, assay__num_sub(call->symbols, out[rank - 2], 1),
                                   2);
    assay__shape_set_same(call, rank - 1, out);
}

/* scores [N, C, …], labels [N, …]: a scalar, or the shape of the labels; log_prob has that of the
 * scores */
static void infer_loss(struct assay__shape_call *call)
{
    enum assay__dtype dtype = assay__shape_dtype(call, 0);
    if (assay__shape_attr_is(call, "reduction", "none"))
        assay__shape_as(call, 0, 1, dtype);
    else
        assay__shape_set(call, 0, dtype, 0, NULL);
    if (assay__shape_op_is(call, "SoftmaxCrossEntropyLoss"))
        assay__shape_like(call, 1, 0, ASSAY__UNDEFINED);
}

/* --- strings and pictures --------------------------------------------------------------------- */

static void infer_string_concat(struct assay__shape_call *call)
{
    assay__shape_broadcast_inputs(call, NULL, call->in_count, ASSAY__STRING);
}

/* X with an additional axis as long as the longest split; and the counts */
static void infer_string_split(struct assay__shape_call *call)
{
    int64_t out[ASSAY__SHAPE_RANK];
    int rank = assay__shape_copy(call, 0, out);
    assay__shape_set_dtype(call, 0, ASSAY__STRING);
    assay__shape_as(call, 1, 0, ASSAY__INT64);
    if (rank < 0 || rank + 1 > ASSAY__SHAPE_RANK) return;
    out[rank] = ASSAY__NUM_ANY;
    assay__shape_set(call, 0, ASSAY__STRING, rank + 1, out);
}

/* [C] or [1, C]: the words that are not stop words */
static void infer_string_normalizer(struct assay__shape_call *call)
{
    int rank = assay__shape_rank(call, 0);
    int64_t out[2] = {1, ASSAY__NUM_ANY};
    bool stops = assay__node_attr(call->node, "stopwords") != NULL;
    assay__shape_set_dtype(call, 0, ASSAY__STRING);
    if (!stops)
        assay__shape_like(call, 0, 0, ASSAY__STRING);
    else if (rank == 1 || rank == 2)
        assay__shape_set(call, 0, ASSAY__STRING, rank, rank == 1 ? out + 1 : out);
}

/* [C] or [N, C]: a count for each n-gram of the pool, one more than the largest index */
static void infer_tfidf(struct assay__shape_call *call)
{
    size_t count = 0;
    const int64_t *indexes = assay__shape_ints(call, "ngram_indexes", &count);
    int rank = assay__shape_rank(call, 0);
    int64_t largest = -1, out[2];
    assay__shape_set_dtype(call, 0, ASSAY__FLOAT32);
    if (!indexes || (rank != 1 && rank != 2)) return;
    for (size_t i = 0; i < count; i++)
        if (indexes[i] > largest) largest = indexes[i];
    out[0] = assay__shape_dim(call, 0, 0);
    out[rank - 1] = assay__num_add(call->symbols, largest, 1);
    assay__shape_set(call, 0, ASSAY__FLOAT32, rank, out);
}

static void infer_image_decoder(struct assay__shape_call *call)
{
    bool gray = assay__shape_attr_is(call, "pixel_format", "Grayscale");
    int64_t out[3] = {ASSAY__NUM_ANY, ASSAY__NUM_ANY, gray ? 1 : 3};
    assay__shape_set(call, 0, ASSAY__UINT8, 3, out);
}

/* --- ai.onnx.ml ------------------------------------------------------------------------------- */

static void infer_same_float(struct assay__shape_call *call)
{
    assay__shape_as(call, 0, 0, ASSAY__FLOAT32);
}

/* The type of the values that keys are mapped to. */
static void infer_label_encoder(struct assay__shape_call *call)
{
    static const struct {
        const char *attr;
        enum assay__dtype dtype;
    } kinds[] = {{"values_int64s", ASSAY__INT64},
                 {"values_strings", ASSAY__STRING},
                 {"values_floats", ASSAY__FLOAT32}};
    const struct assay__attr *tensor = assay__node_attr(call->node, "values_tensor");
    enum assay__dtype dtype = tensor && tensor->t ? tensor->t->dtype : ASSAY__UNDEFINED;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (assay__node_attr(call->node, kinds[i].attr)) dtype = kinds[i].dtype;
    assay__shape_as(call, 0, 0, dtype);
}

/* X [N, features]: labels [N] and scores [N, classes] */
static void infer_classifier(struct assay__shape_call *call)
{
    static const char *const names[] = {"classlabels_strings", "classlabels_ints",
                                        "classlabels_int64s"};
    int64_t out[2] = {1, ASSAY__NUM_ANY};
    bool text = false;
    if (assay__shape_rank(call, 0) == 2) out[0] = assay__shape_dim(call, 0, 0);
    for (size_t i = 0; i < 3; i++) {
        const struct assay__attr *labels = assay__node_attr(call->node, names[i]);
        if (!labels || !labels->count) continue;
        out[1] = (int64_t)labels->count;
        text = i == 0;
    }
    int rank = assay__shape_rank(call, 0);
    assay__shape_set(call, 0, text ? ASSAY__STRING : ASSAY__INT64, rank < 0 ? -1 : 1, out);
    assay__shape_set(call, 1, ASSAY__FLOAT32, rank < 0 ? -1 : 2, out);
}

/* X [N, features]: [N, targets] */
static void infer_regressor(struct assay__shape_call *call)
{
    bool linear = assay__shape_op_is(call, "LinearRegressor");
    bool vectors = assay__shape_op_is(call, "SVMRegressor");
    int64_t targets = assay__node_int(call->node, linear ? "targets" : "n_targets",
                                      linear || vectors ? 1 : ASSAY__NUM_ANY);
    int64_t out[2] = {ASSAY__NUM_ANY, targets};
    int rank = assay__shape_rank(call, 0);
    enum assay__dtype dtype = ASSAY__FLOAT32;
    if (assay__shape_op_is(call, "TreeEnsemble")) dtype = assay__shape_dtype(call, 0);
    if (rank == 2) out[0] = assay__shape_dim(call, 0, 0);
    if (rank == 1) out[0] = 1;
    assay__shape_set(call, 0, dtype, rank < 0 ? -1 : 2, out);
}

/* One axis more: the categories */
static void infer_one_hot_encoder(struct assay__shape_call *call)
{
    const struct assay__attr *ints = assay__node_attr(call->node, "cats_int64s");
    const struct assay__attr *strings = assay__node_attr(call->node, "cats_strings");
    const struct assay__attr *cats = ints ? ints : strings;
    int64_t out[ASSAY__SHAPE_RANK];
    int rank = assay__shape_copy(call, 0, out);
    assay__shape_set_dtype(call, 0, ASSAY__FLOAT32);
    if (rank < 0 || rank + 1 > ASSAY__SHAPE_RANK || !cats) return;
    out[rank] = (int64_t)cats->count;
    assay__shape_set(call, 0, ASSAY__FLOAT32, rank + 1, out);
}

/* X […, n], Y: the indices of the last axis */
static void infer_array_features(struct assay__shape_call *call)
{
    int64_t out[ASSAY__SHAPE_RANK];
    int rank = assay__shape_copy(call, 0, out), indices = assay__shape_rank(call, 1);
    assay__shape_same_type(call);
    if (rank < 1 || indices < 0) return;
    int64_t picked = assay__shape_product(call, assay__shape_dims(call, 1), 0, indices);
    if (rank == 1) {
        int64_t row[2] = {1, picked};
        assay__shape_set_same(call, 2, row);
        return;
    }
    out[rank - 1] = picked;
    assay__shape_set_same(call, rank, out);
}

/* Optimisers: R, T, then n of each kind (X, G, …); outputs are n of each of 2 or 3 kinds. */
static void infer_optimizer(struct assay__shape_call *call)
{
    size_t kinds = assay__shape_op_is(call, "Adam") ? 3 : 2, n = call->out_count / kinds;
    for (size_t o = 0; n && o < call->out_count; o++)
        assay__shape_like(call, o, 2 + o % n, ASSAY__UNDEFINED);
}

/* Its outputs are gradients of a function of the graph; left unknown. */
static void infer_unknown(struct assay__shape_call *call)
{
    (void)call;
}

const struct assay__shape_row assay__shape_rows_misc[] = {
    {"Adagrad Adam Momentum", "preview", infer_optimizer},
    {"Gradient", "preview", infer_unknown},
    {"ArrayFeatureExtractor", "ml", infer_array_features},
    {"Binarizer Imputer", "ml", assay__shape_row_same},
    {"DFT", "", infer_dft},
    {"ImageDecoder", "", infer_image_decoder},
    {"Irfft", "ms", infer_irfft},
    {"LabelEncoder", "ml", infer_label_encoder},
    {"LinearClassifier SVMClassifier TreeEnsembleClassifier", "ml", infer_classifier},
    {"LinearRegressor SVMRegressor TreeEnsemble TreeEnsembleRegressor", "ml", infer_regressor},
    {"NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss", "", infer_loss},
    {"Normalizer Scaler", "ml", infer_same_float},
    {"OneHotEncoder", "ml", infer_one_hot_encoder},
    {"RegexFullMatch", "", assay__shape_row_same_bool},
    {"Rfft", "ms", infer_rfft},
    {"STFT", "", infer_stft},
    {"StringConcat", "", infer_string_concat},
    {"StringNormalizer", "", infer_string_normalizer},
    {"StringSplit", "", infer_string_split},
    {"TfIdfVectorizer", "", infer_tfidf},
    {"ZipMap", "ml", assay__shape_row_sequence}, /* of maps */
    {NULL, NULL, NULL},
};
