/* inputs_guess.c - sizes for open dimensions, by their meaning.
 *
 * The meaning of an axis follows from the type and rank of its input, its position, its name, and
 * what the graph does with it: a weight applied along the axis gives its size directly. Each kind
 * has a list of usual sizes; the first is used unless the resulting shapes contradict each other or
 * the engine refuses it; then the next is tried. After the list come all sizes up to 1,024, for
 * layers that accept only one, unusual size. What fits no kind has no guess. */
#include "model/inputs/inputs_guess.h"

#include "base/checked.h"
#include "base/map.h"
#include "model/inputs/inputs_plan.h"
#include "model/onnx/onnx.h"
#include "model/op_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind {
    UNKNOWN,
    BATCH,
    HIGH, /* of an image: each size is paired with that of the width */
    WIDE,
    LINE, /* the width if the height is fixed */
    LINE_HIGH,
    LINE_WIDE,
    LINE_WHOLE, /* the width if the line has a single output: a classifier */
    LATENT,
    TOKENS,
    NO_PAST,
    PAST,
    SAMPLES,
    CHUNK,
    FRAMES,
    STEPS,
    KINDS
};

#define SIZES 20

static const struct {
    const char *what;
    int64_t sizes[SIZES]; /* -1 ends */
} kinds[KINDS] = {
    [UNKNOWN] = {"", {-1}},
    [BATCH] = {"", {1, -1}},
    [HIGH] = {"the side of an image",
              {224, 48, 32, 640, 256, 320, 384, 299, 512, 416, 448, 227, 192, 128, 112, 96, 64, 28,
               -1}},
    [WIDE] = {"the side of an image",
              {224, 320, 320, 640, 256, 320, 384, 299, 512, 416, 448, 227, 192, 128, 112, 96, 64,
               28, -1}},
    [LINE] = {"the width of a text line", {320, 160, 256, 512, 640, 200, 128, 100, -1}},
    [LINE_HIGH] = {"a text line: rows shrink faster than columns",
                   {48, 32, 64, 40, 96, 24, 128, -1}},
    [LINE_WIDE] = {"a text line: rows shrink faster than columns",
                   {320, 320, 320, 320, 320, 320, 320, -1}},
    [LINE_WHOLE] = {"a text line: rows shrink faster than columns",
                    {192, 192, 192, 192, 192, 192, 192, -1}},
    [LATENT] = {"the side of a latent image", {64, 128, 96, 32, -1}},
    [TOKENS] = {"tokens", {128, 512, 256, 77, 64, 32, 16, 8, 4, 2, 1, -1}},
    [NO_PAST] = {"an empty cache: this is the prompt", {0, 1, -1}},
    [PAST] = {"tokens in the cache", {128, 64, 16, 1, -1}},
    [SAMPLES] = {"samples of audio",
                 {16000, 48000, 80000, 160000, 480000, 8000, 4000, 1536, 1024, 512, 256, -1}},
    [CHUNK] = {"samples of audio: one chunk",
               {512, 576, 1536, 1024, 640, 480, 320, 256, 160, 1280, 16000, -1}},
    [FRAMES] = {"frames", {128, 3000, 1000, 512, 300, 256, 100, 64, 32, 16, 8, 4, 2, 1, -1}},
    [STEPS] = {"time steps", {128, 100, 64, 50, 32, 16, 10, 8, 4, 2, 1, -1}},
};

/* The sizes up to ASSAY__GUESS_SEARCHED, rounder ones first: multiples of 32, then of 16, … */
static int64_t searched(size_t index)
{
    for (int64_t step = 32, seen = 0; step >= 1; step /= 2) {
        int64_t count = ASSAY__GUESS_SEARCHED / step / (step == 32 ? 1 : 2); /* the others were */
        if ((int64_t)index < seen + count)
            return step == 32 ? ((int64_t)index + 1) * step
                              : (2 * ((int64_t)index - seen) + 1) * step;
        seen += count;
    }
    return ASSAY__GUESS_SEARCHED;
}

static struct assay__guess of_kind(enum kind kind, size_t attempt)
{
    size_t count = 0;
    while (kinds[kind].sizes[count] >= 0)
        count++;
    if (!count) return (struct assay__guess){-1, "", 0};
    bool only = kind == BATCH || kind == NO_PAST;
    size_t tries = only ? count : count + ASSAY__GUESS_SEARCHED;
    if (!only && attempt >= count && attempt < tries)
        return (struct assay__guess){searched(attempt - count), "a size that later layers take",
                                     tries};
    return (struct assay__guess){kinds[kind].sizes[attempt < count ? attempt : count - 1],
                                 kinds[kind].what, tries};
}

/* --- what the graph does ---------------------------------------------------------------------- */

static bool is(const struct assay__node *node, const char *op)
{
    return strcmp(node->op, op) == 0;
}

/* A convolution along one axis: by its attribute, or its weights. */
static bool is_along(const struct assay__graph *main, const struct assay__node *node)
{
    const struct assay__attr *kernel = assay__node_attr(node, "kernel_shape");
    if (!is(node, "Conv") || node->input_count < 2) return false;
    if (kernel) return kernel->count == 1;
    const struct assay__tensor *weights = assay__graph_initializer(main, node->inputs[1]);
    return weights && weights->rank == 3;
}

static bool has_signal(const struct assay__graph *main, const struct assay__graph *graph, int depth)
{
    for (size_t i = 0; i < graph->node_count && depth <= ASSAY__ONNX_DEPTH; i++) {
        const struct assay__node *node = &graph->nodes[i];
        if (is_along(main, node) || is(node, "STFT") || is(node, "DFT")) return true;
        for (size_t k = 0; k < node->attr_count; k++)
            if (node->attrs[k].g && has_signal(main, node->attrs[k].g, depth + 1)) return true;
    }
    return false;
}

/* "state", "h", "c0", "hidden", … in a recurrent cell */
static bool is_state(const struct assay__value *value)
{
    static const char *const whole[] = {"h", "c", "h0", "c0", "h_0", "c_0", "hx", "cx", "hn", "cn"};
    if (value->rank < 2 || assay__name_has(value->name, "encoder")) return false;
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
        if (assay__name_is(value->name, whole[i])) return true;
    return assay__name_has(value->name, "state") || assay__name_has(value->name, "hidden");
}

static bool is_cache(const struct assay__value *value)
{
    return assay__name_has(value->name, "past") || assay__name_has(value->name, "cache");
}

/* Whether it is used to look up rows in a table of weights, possibly through a Cast. (Keras feeds
 * ids as float32.) */
static bool looks_up(const struct assay__graph *graph, const char *name)
{
    const char *cast = "";
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct assay__node *node = &graph->nodes[i];
        bool reads = node->input_count && strcmp(node->inputs[0], name) == 0;
        if (reads && is(node, "Cast") && node->output_count) cast = node->outputs[0];
        if (!is(node, "Gather") || node->input_count < 2) continue;
        const char *rows = node->inputs[1];
        bool mine = strcmp(rows, name) == 0 || (*cast && strcmp(rows, cast) == 0);
        const struct assay__tensor *table = assay__graph_initializer(graph, node->inputs[0]);
        if (mine && table && table->rank == 2) return true;
    }
    return false;
}

static bool is_ids(const struct assay__model *model, const struct assay__value *value)
{
    if (value->rank != 2) return false;
    return value->dtype == ASSAY__INT64 || value->dtype == ASSAY__INT32 ||
           looks_up(&model->graph, value->name);
}

/* How much more rows than columns have shrunk on the way to the data that a node reads. */
static double shrunk_before(const struct assay__node *node, const struct assay__map *makers,
                            const double *shrunk)
{
    double most = 1;
    for (size_t i = 0; i < node->input_count; i++) {
        size_t maker = assay__map_get(makers, node->inputs[i]);
        if (maker != ASSAY__MAP_NONE && shrunk[maker] > most) most = shrunk[maker];
    }
    return most;
}

static double own_stride(const struct assay__node *node)
{
    const struct assay__attr *strides = assay__node_attr(node, "strides");
    if (!assay__has_word("Conv MaxPool AveragePool", node->op) || !strides || !strides->ints ||
        strides->count != 2 || strides->ints[0] < 1 || strides->ints[1] < 1)
        return 1;
    return (double)strides->ints[0] / (double)strides->ints[1];
}

/* Models that read lines of text keep the width, where the letters are, and reduce the height, as
 * their strides show. 4: halved two more times; a single odd stride is not enough. */
static bool reads_lines(const struct assay__graph *graph)
{
    struct assay__map *makers = assay__map_new();
    double *shrunk = calloc(graph->node_count + 1, sizeof *shrunk);
    bool line = false, room = makers && shrunk;
    for (size_t i = 0; i < graph->node_count && room && !line; i++) {
        const struct assay__node *node = &graph->nodes[i];
        shrunk[i] = shrunk_before(node, makers, shrunk) * own_stride(node);
        line = shrunk[i] >= 4;
        for (size_t k = 0; k < node->output_count && room; k++)
            room = !assay__map_set(makers, node->outputs[k], i);
    }
    assay__map_free(makers);
    free(shrunk);
    return line;
}

/* One output for the whole input: no axis besides the batch and the classes. */
static bool answers_once(const struct assay__graph *graph)
{
    return graph->output_count && graph->outputs[0].rank == 2;
}

/* "[320, 320]", rows and columns, which Ultralytics writes beside a detector. */
static void read_stated(const struct assay__model *model, struct assay__guess_facts *facts)
{
    const char *text = assay__model_metadata(model, "imgsz");
    long long rows = 0, columns = 0;
    if (!text || sscanf(text, " [%6lld , %6lld ]", &rows, &columns) != 2) return;
    if (rows < 1 || columns < 1) return;
    facts->stated_high = rows;
    facts->stated_wide = columns;
}

struct assay__guess_facts assay__guess_look(const struct assay__model *model,
                                            const struct assay__guess_input *inputs, size_t count)
{
    struct assay__guess_facts facts = {.model = model,
                                       .signal = has_signal(&model->graph, &model->graph, 0),
                                       .line = reads_lines(&model->graph),
                                       .whole = answers_once(&model->graph)};
    read_stated(model, &facts);
    for (size_t i = 0; i < count; i++) {
        const struct assay__value *value = inputs[i].value;
        bool ids = is_ids(model, value) && !assay__name_has(value->name, "mask");
        facts.stateful |= is_state(value);
        facts.step |= ids && !facts.tokens && inputs[i].dims[1] == 1;
        facts.tokens |= ids;
    }
    return facts;
}

static int64_t constant_dim(const struct assay__graph *graph, const struct assay__node *node,
                            size_t input, int axis)
{
    const struct assay__tensor *tensor = input < node->input_count
                                             ? assay__graph_initializer(graph, node->inputs[input])
                                             : NULL;
    if (!tensor) return -1;
    if (axis < 0) axis += tensor->rank;
    return axis >= 0 && axis < tensor->rank ? tensor->dims[axis] : -1;
}

/* The features that trees use: one more than the largest feature index. */
static int64_t tree_features(const struct assay__node *node)
{
    const struct assay__attr *ids = assay__node_attr(node, "nodes_featureids");
    int64_t most = -1;
    for (size_t i = 0; ids && ids->ints && i < ids->count; i++)
        if (ids->ints[i] > most && ids->ints[i] < INT32_MAX) most = ids->ints[i];
    return most < 0 ? -1 : most + 1;
}

/* The size that a weight of this node implies for an axis of its first input; -1: none. */
static int64_t met_by(const struct assay__graph *graph, const struct assay__node *node, int axis,
                      int rank)
{
    bool last = axis == rank - 1;
    if (is(node, "Conv") && axis == 1) {
        int64_t own = constant_dim(graph, node, 1, 1), all = -1;
        bool fits = own >= 0 &&
                    !assay__mul_i64_overflows(own, assay__node_int(node, "group", 1), &all);
        return fits ? all : -1;
    }
    if (is(node, "BatchNormalization") && axis == 1) return constant_dim(graph, node, 1, 0);
    if (!last) return -1;
    if (is(node, "Gemm") && !assay__node_int(node, "transA", 0))
        return constant_dim(graph, node, 1, assay__node_int(node, "transB", 0) ? 1 : 0);
    if (is(node, "MatMul")) return constant_dim(graph, node, 1, -2);
    if (is(node, "LayerNormalization")) return constant_dim(graph, node, 1, -1);
    if (assay__has_word("LSTM GRU RNN", node->op)) return constant_dim(graph, node, 1, 2);
    if (is(node, "Scaler")) {
        const struct assay__attr *scale = assay__node_attr(node, "scale");
        return scale && scale->count > 1 ? (int64_t)scale->count : -1;
    }
    if (strncmp(node->op, "TreeEnsemble", 12) == 0) return tree_features(node);
    if (assay__has_word("Add Sub Mul Div", node->op)) {
        int64_t size = constant_dim(graph, node, 1, -1);
        return size > 1 ? size : -1;
    }
    return -1;
}

/* The size that a weight implies for the axis of an input, through operators that do not change its
 * axes. File order is topological: the names of the input are followed in one pass. */
static int64_t implied(const struct assay__graph *graph, const char *name, int axis, int rank)
{
    enum { NAMES = 16 };
    const char *names[NAMES] = {name};
    size_t count = 1;
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct assay__node *node = &graph->nodes[i];
        bool reads = false;
        for (size_t k = 0; k < count && node->input_count && !reads; k++)
            reads = strcmp(node->inputs[0], names[k]) == 0;
        int64_t size = reads ? met_by(graph, node, axis, rank) : -1;
        if (size > 0) return size;
        bool through = reads &&
                       assay__has_word("Identity Cast Add Sub Mul Div Clip Relu", node->op);
        if (through && count < NAMES && node->output_count && *node->outputs[0])
            names[count++] = node->outputs[0];
    }
    return -1;
}

/* --- the meaning of an axis ------------------------------------------------------------------- */

static bool is_color(int64_t channels)
{
    return channels == 1 || channels == 3 || channels == 4;
}

static bool named_side(const char *symbol)
{
    return assay__name_has(symbol, "height") || assay__name_has(symbol, "width") ||
           assay__name_is(symbol, "h") || assay__name_is(symbol, "w");
}

static enum kind side_kind(const char *symbol)
{
    return assay__name_has(symbol, "width") || assay__name_is(symbol, "w") ? WIDE : HIGH;
}

/* The channel axis of an image; -1: it is not an image. */
static int channel_axis(const struct assay__guess_facts *facts,
                        const struct assay__guess_input *input)
{
    const struct assay__value *value = input->value;
    int first = value->rank - 3, last = value->rank - 1;
    bool batched = value->rank == 4 || value->rank == 5;
    if ((!batched && value->rank != 3) || is_cache(value) || assay__name_has(value->name, "mask"))
        return -1;
    if (value->rank == 5) first = 1;
    int64_t before = input->dims[first], behind = input->dims[last];
    bool open = input->dims[last - 1] < 0 && (batched || behind < 0 || before < 0);
    if (!batched) /* without a batch axis both sides must be open, and there must be 3 channels */
        return before == 3 && behind < 0 && open   ? first
               : behind == 3 && before < 0 && open ? last
                                                   : -1;
    if (is_color(before)) return first;
    if (is_color(behind)) return last;
    if (before < 0) before = implied(&facts->model->graph, value->name, first, value->rank);
    return is_color(before) ? first : -1;
}

static struct assay__guess image_side(const struct assay__guess_facts *facts,
                                      const struct assay__guess_input *input, int axis,
                                      int channels, size_t attempt)
{
    const struct assay__value *value = input->value;
    bool first = channels < value->rank - 1;
    int wide = first ? value->rank - 1 : value->rank - 2, high = wide - 1;
    int64_t other = axis == wide ? input->dims[high] : input->dims[wide];
    bool latent = input->dims[channels] == 4 && (assay__name_has(value->name, "latent") ||
                                                 assay__name_has(value->name, "sample"));
    int64_t stated = axis == wide ? facts->stated_wide : facts->stated_high;
    if (stated > 0) return (struct assay__guess){stated, "the imgsz that the file states", 1};
    if (latent) return of_kind(LATENT, attempt);
    if (axis == wide && other > 0 && other < 100) return of_kind(LINE, attempt);
    if (other >= 100) return (struct assay__guess){other, "a square image", 1};
    if (facts->line && axis != wide) return of_kind(LINE_HIGH, attempt);
    if (facts->line) return of_kind(facts->whole ? LINE_WHOLE : LINE_WIDE, attempt);
    return of_kind(axis == wide ? WIDE : HIGH, attempt);
}

static bool sounds(const struct assay__value *value)
{
    static const char *const words[] = {"audio", "wave", "speech", "sound", "signal", "pcm", "wav"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (assay__name_has(value->name, words[i])) return true;
    return value->rank <= 2 && assay__name_has(value->name, "samples");
}

static bool named_time(const char *symbol)
{
    return assay__name_like_sequence(symbol) || assay__name_has(symbol, "sample") ||
           assay__name_has(symbol, "frame");
}

static bool holds_pixels(enum assay__dtype dtype)
{
    return dtype == ASSAY__UINT8 || dtype == ASSAY__FLOAT32 || dtype == ASSAY__FLOAT16 ||
           dtype == ASSAY__BFLOAT16 || dtype == ASSAY__FLOAT64;
}

/* "image_width", "img", "pixel_values", … */
static bool pictures(const char *name)
{
    static const char *const words[] = {"image", "images", "img", "pixel", "picture", "photo"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (assay__name_has(name, words[i])) return true;
    return false;
}

/* A spectrogram: one axis is the time, or its name says so. */
static bool spectral(const struct assay__value *value)
{
    static const char *const words[] = {"mel", "mels", "spec", "spectrogram", "fbank", "stft"};
    bool yes = sounds(value);
    for (size_t i = 0; i < sizeof words / sizeof words[0] && !yes; i++)
        yes = assay__name_has(value->name, words[i]);
    for (int i = 1; i < value->rank && !yes; i++)
        yes = named_time(value->dims[i].symbol);
    return yes;
}

/* Of one channel, where a spectrogram looks the same. */
static bool gray_image(const struct assay__value *value, int64_t high, int64_t wide)
{
    bool named = value->dtype == ASSAY__UINT8 || pictures(value->name);
    for (int i = 1; i < value->rank; i++)
        named |= pictures(value->dims[i].symbol) || named_side(value->dims[i].symbol);
    return named || high == wide;
}

bool assay__guess_is_image(const struct assay__value *value, const int64_t *dims, int rank)
{
    enum { SMALLEST = 8 }; /* pixels */
    if (rank != 4 || !holds_pixels(value->dtype) || is_cache(value) ||
        assay__name_has(value->name, "mask") || spectral(value))
        return false;
    for (int axis = 1; axis <= 3; axis += 2) {
        int64_t high = dims[axis == 1 ? 2 : 1], wide = dims[axis == 1 ? 3 : 2];
        bool color = dims[axis] == 3 || dims[axis] == 4;
        if (high >= SMALLEST && wide >= SMALLEST &&
            (color || (dims[axis] == 1 && gray_image(value, high, wide))))
            return true;
    }
    return false;
}

/* An axis of a float input that runs along time. */
static enum kind time_kind(const struct assay__guess_facts *facts,
                           const struct assay__guess_input *input, int axis)
{
    const struct assay__value *value = input->value;
    int64_t features = 1; /* beside each moment */
    for (int i = 0; i < value->rank; i++)
        if (i != axis && i != input->batch_axis) features = input->dims[i] == 1 ? features : 2;
    bool framed = facts->signal || assay__name_has(value->dims[axis].symbol, "frame");
    if (value->rank == 2 && axis == 0) return STEPS;
    if (features > 1) return framed ? FRAMES : STEPS;
    if (!facts->signal && !sounds(value)) return STEPS;
    return facts->stateful ? CHUNK : SAMPLES;
}

static enum kind past_kind(const struct assay__guess_facts *facts)
{
    return facts->tokens && !facts->step ? NO_PAST : PAST;
}

static enum kind kind_of(const struct assay__guess_facts *facts,
                         const struct assay__guess_input *input, int axis)
{
    const struct assay__value *value = input->value;
    const char *symbol = value->dims[axis].symbol;
    bool timed = named_time(symbol);
    if (assay__name_has(symbol, "batch")) return BATCH;
    if (assay__name_like_past(symbol)) return past_kind(facts);
    if (is_ids(facts->model, value) && axis == 1) return TOKENS;
    if (is_state(value) && value->rank == 3 && axis == 1 && !timed) return BATCH;
    if (is_cache(value) && axis > 0) return past_kind(facts);
    if (timed && (is_ids(facts->model, value) || value->dtype == ASSAY__INT64 ||
                  value->dtype == ASSAY__INT32))
        return TOKENS;
    if (timed && facts->tokens) return TOKENS;
    if (timed) return time_kind(facts, input, axis);
    if (axis == input->batch_axis) return value->rank == 1 && sounds(value) ? SAMPLES : BATCH;
    if (named_side(symbol)) return side_kind(symbol);
    if (input->batch_axis == 1 && axis == 0) return STEPS;
    if (value->rank == 2 && facts->tokens && assay__name_has(value->name, "mask")) return TOKENS;
    if (value->rank == 2 || value->rank == 3)
        return facts->signal || sounds(value) || value->rank == 3 ? time_kind(facts, input, axis)
                                                                  : UNKNOWN;
    return UNKNOWN;
}

struct assay__guess assay__guess_axis(const struct assay__guess_facts *facts,
                                      const struct assay__guess_input *input, int axis,
                                      size_t attempt)
{
    const struct assay__value *value = input->value;
    const char *symbol = value->dims[axis].symbol;
    int channels = channel_axis(facts, input);
    bool batch = axis == input->batch_axis && !assay__name_like_sequence(symbol) &&
                 !named_side(symbol) && value->rank != 3;
    int side = channels < value->rank - 1 ? value->rank - 2 : value->rank - 3;
    bool spatial = channels >= 0 && axis != channels && axis >= side && axis <= side + 1;
    if (spatial && !assay__name_has(symbol, "batch") && !named_time(symbol))
        return image_side(facts, input, axis, channels, attempt);
    int64_t size = batch ? -1 : implied(&facts->model->graph, value->name, axis, value->rank);
    if (size > 0) return (struct assay__guess){size, "from the weights it is used with", 1};
    return of_kind(kind_of(facts, input, axis), attempt);
}

struct assay__guess assay__guess_name(const struct assay__guess_facts *facts, const char *symbol,
                                      size_t attempt)
{
    enum kind kind = assay__name_has(symbol, "batch")     ? BATCH
                     : assay__name_like_past(symbol)      ? past_kind(facts)
                     : named_side(symbol)                 ? side_kind(symbol)
                     : !assay__name_like_sequence(symbol) ? BATCH
                     : facts->tokens || !facts->signal    ? TOKENS
                                                          : FRAMES;
    return of_kind(kind, attempt);
}
