/* cost_math.c - costs of element-wise arithmetic, activations and reductions. exp, log, sqrt, tanh,
 * erf, pow and the trigonometric functions count as one FLOP each: their cost depends on the
 * library, and the operations of the formula are counted. Integers and booleans are not
 * floating-point work: the walk sets those to zero. */
#include "cost/cost_table.h"

#include <math.h>
#include <string.h>

#define EACH ASSAY__COST_EACH
#define EACH_IN ASSAY__COST_EACH_IN
#define MOVE ASSAY__COST_MOVE
#define WORK ASSAY__COST_WORK

/* Gelu: 0.5 x (1 + erf(x / √2)): 5; the tanh form 0.5 x (1 + tanh(c (x + 0.044715 x³))): 8. */
static void count_gelu(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    bool tanh_form = assay__cost_attr_is(call, "approximate", "tanh");
    work->other = (tanh_form ? 8 : 5) * assay__cost_out_elements(call);
}

/* Mean of n inputs: n - 1 additions and a division per element; of one input nothing. */
static void count_mean(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    double inputs = (double)call->node->input_count;
    work->other = (inputs > 1 ? inputs : 0) * assay__cost_out_elements(call);
}

/* Clip: one comparison per bound that is given (opset 6: both are attributes with defaults). */
static void count_clip(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    const struct assay__shape_entry *out = assay__cost_out(call, 0);
    double bounds = call->node->input_count > 1
                        ? (double)assay__cost_has(call, 1) + (double)assay__cost_has(call, 2)
                        : 2;
    bool counts = !out || assay__cost_is_float(out->dtype);
    work->other = counts ? bounds * assay__cost_elements(out) : 0;
}

/* ReduceMean: an addition per input element, a division per output. */
static void count_reduce_mean(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    const struct assay__shape_entry *in = assay__cost_in(call, 0);
    bool counts = !in || assay__cost_is_float(in->dtype);
    work->other = counts ? assay__cost_elements(in) + assay__cost_out_elements(call) : 0;
}

/* L2: a square and an addition per input element, a root per output; LogSum: an addition, a
 * logarithm; LogSumExp: an exponential, an addition, a logarithm. */
static void count_reduce_then(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    double each = strcmp(call->node->op, "ReduceLogSum") == 0 ? 1 : 2;
    work->other = each * assay__cost_in_elements(call, 0) + assay__cost_out_elements(call);
}

/* The k largest of n by a heap: n × ⌈log₂ k⌉ comparisons, at least one each. */
static void count_top_k(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    const struct assay__shape_entry *in = assay__cost_in(call, 0);
    double k = assay__cost_dim(assay__cost_out(call, 0), assay__cost_axis(call, -1));
    bool counts = !in || assay__cost_is_float(in->dtype);
    work->other = counts ? assay__cost_elements(in) * assay__cost_sort_depth(k) : 0;
}

/* Sorting n numbers: n × ⌈log₂ n⌉ comparisons. */
static void count_unique(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    const struct assay__shape_entry *in = assay__cost_in(call, 0);
    double n = assay__cost_elements(in);
    bool counts = !in || assay__cost_is_float(in->dtype);
    work->other = counts ? n * assay__cost_sort_depth(n) : 0;
}

/* Determinant by elimination, per n × n matrix: n (n - 1) (2 n - 1) / 6 multiply-adds,
 * n (n - 1) / 2 divisions, n - 1 products of the diagonal. */
static void count_det(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    const struct assay__shape_entry *in = assay__cost_in(call, 0);
    double n = assay__cost_dim(in, -1), matrices = n > 0 ? assay__cost_elements(in) / (n * n) : NAN;
    work->multiply_adds = matrices * n * (n - 1) * (2 * n - 1) / 6;
    work->other = matrices * (n * (n - 1) / 2 + n - 1);
}

/* The n-dimensional product of the sizes of all letters, one multiply-add each; a single operand
 * needs an addition only, every operand beyond two one more multiplication. "..." stands for the
 * leading axes of each operand, broadcast. */
static void count_einsum(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    const struct assay__attr *equation = assay__node_attr(call->node, "equation");
    if (!equation) equation = assay__node_attr(call->node, "equations");
    bool seen[128] = {false};
    bool text = equation && equation->type == ASSAY__ATTR_STRING && equation->s;
    double total = text ? 1 : NAN, dots = 1;
    const char *at = text ? equation->s : "";
    size_t inputs = call->node->input_count;
    for (size_t i = 0; i < inputs; i++) {
        const struct assay__shape_entry *in = assay__cost_in(call, i);
        int letters = 0, axis = 0;
        double here = 1;
        for (const char *c = at; *c && *c != ',' && *c != '-'; c++)
            letters += *c != ' ' && *c != '.';
        for (; *at && *at != ',' && *at != '-'; at++) {
            unsigned char letter = (unsigned char)*at;
            if (letter == ' ') continue;
            if (letter >= 128) total = NAN;
            if (letter == '.') { /* the first of the three takes all axes */
                for (int k = in ? in->rank - letters : 0; k > 0 && strncmp(at, "...", 3) == 0; k--)
                    here *= assay__cost_dim(in, axis++);
                continue;
            }
            double size = assay__cost_dim(in, axis++);
            if (letter < 128 && !seen[letter]) total *= size;
            if (letter < 128) seen[letter] = true;
        }
        if (!(here <= dots)) dots = here;
        at += *at == ',';
    }
    total *= dots;
    if (inputs >= 2) work->multiply_adds = total;
    work->other = inputs >= 2 ? (double)(inputs - 2) * total : total;
}

const struct assay__cost_row assay__cost_rows_math[] = {
    /* arithmetic, per output element */
    EACH("Abs Acos Acosh Add Asin Asinh Atan Atanh Ceil Cos Cosh CumProd CumSum Div Equal Erf Exp "
         "Floor Greater GreaterOrEqual Less LessOrEqual Log Mod Mul Neg Pow Reciprocal "
         "Round Sign Sin Sinh Sqrt Sub Tan",
         "", 1),
    EACH("Bernoulli IsInf IsNaN", "", 1),                                         /* a comparison */
    EACH("RandomNormal RandomNormalLike RandomUniform RandomUniformLike", "", 1), /* one function */
    EACH("Range", "", 2),           /* start + i × delta */
    EACH("TfIdfVectorizer", "", 1), /* a count × its weight */
    /* n - 1 operations for n inputs */
    {.ops = "Max Min Sum", .domain = "", .flops = 1, .variadic = true},
    WORK("Mean", "", count_mean), /* n - 1 additions and a division */
    /* activations, per element */
    EACH("Celu", "", 5), /* max, exp, /, -, ×, min: at most one side is taken; 5 as written */
    WORK("Clip", "", count_clip),
    EACH("Elu", "", 3), /* exp, -, × */
    WORK("Gelu", "", count_gelu),
    EACH("HardSigmoid", "", 4), /* × + and two comparisons */
    EACH("HardSwish", "", 5),   /* HardSigmoid and × */
    EACH("Hardmax", "", 1),     /* a comparison */
    EACH("LeakyRelu", "", 2),   /* comparison, × */
    EACH("LogSoftmax", "", 6),  /* Softmax and a logarithm */
    EACH("Mish", "", 4),        /* exp, log, tanh, × */
    EACH("PRelu", "", 2),       /* comparison, × */
    EACH("Relu", "", 1),        /* comparison */
    EACH("Selu", "", 4),        /* exp, -, ×, × */
    EACH("Shrink", "", 2),      /* comparison, subtraction */
    EACH("Sigmoid", "", 4),     /* negate, exp, +, / */
    EACH("Softmax", "", 5),     /* maximum, subtraction, exponential, sum, division */
    EACH("Softplus", "", 3),    /* exp, +, log */
    EACH("Softsign", "", 3),    /* abs, +, / */
    EACH("SwiGLU", "", 6),      /* Swish of one half × the other, per output */
    EACH("Swish", "", 5),       /* sigmoid and × */
    EACH("Tanh", "", 1),        /* one function */
    EACH("ThresholdedRelu", "", 1),
    /* reductions, per input element */
    EACH_IN("ArgMax ArgMin ReduceMax ReduceMin ReduceProd ReduceSum", "", 1),
    EACH_IN("Multinomial", "", 3), /* exp, running sum, comparison */
    EACH_IN("ReduceL1", "", 2),    /* abs, + */
    WORK("ReduceL2 ReduceLogSum ReduceLogSumExp", "", count_reduce_then),
    WORK("ReduceMean", "", count_reduce_mean),
    EACH_IN("ReduceSumSquare", "", 2), /* ×, + */
    WORK("TopK", "", count_top_k),
    {.ops = "Unique", .domain = "*", .count = count_unique, .by_data = true},
    /* algebra */
    WORK("Det", "", count_det),
    WORK("Einsum", "", count_einsum),
    WORK("einsum", "coreml", count_einsum),
    {.ops = NULL},
};
