/* test_symbol.c - symbolic integers: what is written is canonical, equal expressions are equal
 * numbers, and (checked on random expressions, by evaluating the text with an evaluator of its own)
 * every rewriting keeps the value. */
#include "harness.h"

#include "base/stats.h"
#include "model/symbol/symbol.h"

static struct assay__symbols *symbols;

static int64_t sym(const char *name)
{
    return assay__num_symbol(symbols, name);
}

static const char *text(int64_t num)
{
    return assay__num_text(symbols, num);
}

static void test_sums(void)
{
    symbols = assay__symbols_new();
    int64_t seq = sym("seq"), past = sym("past"), sum = assay__num_add(symbols, seq, past);
    CHECK_STR(text(sum), "past + seq");
    CHECK_INT(sum, assay__num_add(symbols, past, seq));
    CHECK_INT(assay__num_sub(symbols, sum, past), seq);
    CHECK_INT(assay__num_sub(symbols, sum, sum), 0);
    CHECK_STR(text(assay__num_sub(symbols, seq, 1)), "seq - 1");
    CHECK_STR(text(assay__num_sub(symbols, 1, seq)), "-seq + 1");
    CHECK_STR(text(assay__num_mul(symbols, sum, 2)), "2*past + 2*seq");
    CHECK_INT(assay__num_mul(symbols, sum, 0), 0);
    CHECK_INT(assay__num_add(symbols, sum, ASSAY__NUM_ANY), ASSAY__NUM_ANY);
    CHECK_INT(assay__num_add(symbols, INT64_MAX, 1), ASSAY__NUM_ANY);
    CHECK(assay__num_plain(symbols, seq) && !assay__num_plain(symbols, sum));
    assay__symbols_free(symbols);
}

static void test_quotients(void)
{
    symbols = assay__symbols_new();
    int64_t batch = sym("batch"), seq = sym("seq"), h = sym("h");
    int64_t area = assay__num_mul(symbols, batch, seq);
    int64_t whole = assay__num_mul(symbols, area, 768), part = assay__num_mul(symbols, area, 12);
    CHECK_INT(assay__num_exact_div(symbols, whole, part), 64);
    CHECK_INT(assay__num_exact_div(symbols, part, whole), ASSAY__NUM_ANY);
    CHECK_INT(assay__num_exact_div(symbols, whole, seq), assay__num_mul(symbols, batch, 768));
    int64_t square = assay__num_mul(symbols, assay__num_add(symbols, h, 1),
                                    assay__num_sub(symbols, h, 1));
    CHECK_STR(text(square), "h*h - 1");
    CHECK_INT(assay__num_exact_div(symbols, square, assay__num_add(symbols, h, 1)),
              assay__num_sub(symbols, h, 1));
    /* a stride of 2 twice is a stride of 4 */
    int64_t half = assay__num_add(
        symbols, assay__num_floor_div(symbols, assay__num_sub(symbols, h, 1), 2), 1);
    CHECK_STR(text(half), "floor((h + 1)/2)");
    int64_t quarter = assay__num_add(
        symbols, assay__num_floor_div(symbols, assay__num_sub(symbols, half, 1), 2), 1);
    CHECK_STR(text(quarter), "floor((h + 3)/4)");
    CHECK_STR(text(assay__num_ceil_div(symbols, h, 2)), "floor((h + 1)/2)");
    CHECK_INT(assay__num_ceil_div(symbols, h, 2), half);
    CHECK_STR(text(assay__num_floor_div(symbols, assay__num_mul(symbols, h, 6), 4)),
              "floor(h/2) + h");
    CHECK_STR(text(assay__num_mod(symbols, h, 2)), "h - 2*floor(h/2)");
    CHECK_INT(assay__num_floor_div(symbols, -7, 2), -4);
    CHECK_INT(assay__num_floor_div(symbols, h, 0), ASSAY__NUM_ANY);
    assay__symbols_free(symbols);
}

static void test_bounds(void)
{
    symbols = assay__symbols_new();
    int64_t a = sym("a"), b = sym("b"), sum = assay__num_add(symbols, a, b);
    CHECK(assay__num_at_least(symbols, sum, a));
    CHECK(!assay__num_at_least(symbols, a, sum));
    CHECK(!assay__num_at_least(symbols, a, 1)); /* a size may be 0 */
    CHECK_INT(assay__num_min(symbols, sum, a), a);
    CHECK_INT(assay__num_max(symbols, a, 0), a);
    CHECK_STR(text(assay__num_min(symbols, a, 1024)), "min(a, 1024)");
    CHECK_INT(assay__num_min(symbols, a, b), assay__num_min(symbols, b, a));
    assay__symbols_free(symbols);
}

static void test_reading(void)
{
    symbols = assay__symbols_new();
    int64_t sum = assay__num_add(symbols, sym("past_length"), sym("length"));
    CHECK_INT(sym("length + past_length"), sum);
    CHECK_INT(sym("2*s0*s1"),
              assay__num_mul(symbols, 2, assay__num_mul(symbols, sym("s0"), sym("s1"))));
    CHECK_INT(
        sym("(s0 - 1)//2 + 1"),
        assay__num_add(symbols,
                       assay__num_floor_div(symbols, assay__num_sub(symbols, sym("s0"), 1), 2), 1));
    CHECK_STR(text(sym("batch-size")), "batch-size"); /* a name */
    CHECK_STR(text(sym("a + ")), "a + ");             /* nothing else it could be */
    CHECK_STR(text(sym("none of * these)")), "none of * these)");
    CHECK_INT(sym(""), ASSAY__NUM_ANY);
    CHECK_INT(sym("x") == sym("y"), 0);
    CHECK_STR(text(ASSAY__NUM_CODE + 12345), ""); /* names nothing */
    assay__symbols_free(symbols);
}

static void test_dims(void)
{
    symbols = assay__symbols_new();
    int64_t n = sym("n");
    CHECK(assay__dim_of_num(n) <= -2);
    CHECK_INT(assay__num_of_dim(assay__dim_of_num(n)), n);
    CHECK_INT(assay__dim_of_num(ASSAY__NUM_ANY), -1);
    CHECK_INT(assay__num_of_dim(-1), ASSAY__NUM_ANY);
    CHECK_INT(assay__dim_of_num(-5), -1); /* a number, but no size */
    CHECK_INT(assay__num_of_dim(INT64_MIN), ASSAY__NUM_ANY);
    CHECK_INT(assay__num_from_file(n), ASSAY__NUM_ANY); /* a file cannot name an expression */
    assay__symbols_free(symbols);
}

/* --- random expressions ----------------------------------------------------------------------- */

/* Evaluates "2*a*floor((b + 1)/2) - min(a, 3)" for given a, b, c. */
static int64_t value_of[3];

static int64_t eval_sum(const char **at);

static void skip(const char **at)
{
    while (**at == ' ')
        ++*at;
}

static int64_t eval_atom(const char **at)
{
    skip(at);
    if (**at >= '0' && **at <= '9') {
        char *end;
        int64_t number = strtoll(*at, &end, 10);
        *at = end;
        return number;
    }
    bool floor = strncmp(*at, "floor(", 6) == 0, least = strncmp(*at, "min(", 4) == 0;
    bool most = strncmp(*at, "max(", 4) == 0;
    if (!floor && !least && !most && **at != '(') return value_of[*(*at)++ - 'a'];
    *at += floor ? 6 : least || most ? 4 : 1;
    int64_t a = eval_sum(at), b = 1;
    if (floor || least || most) {
        CHECK(**at == (floor ? '/' : ','));
        ++*at;
        b = floor ? eval_atom(at) : eval_sum(at);
    }
    CHECK(**at == ')');
    ++*at;
    if (floor) return a / b - (a % b < 0);
    return least ? (a < b ? a : b) : most ? (a > b ? a : b) : a;
}

static int64_t eval_product(const char **at)
{
    int64_t value = eval_atom(at);
    while (**at == '*') {
        ++*at;
        value *= eval_atom(at);
    }
    return value;
}

static int64_t eval_sum(const char **at)
{
    skip(at);
    bool minus = **at == '-';
    if (minus) ++*at;
    int64_t value = minus ? -eval_product(at) : eval_product(at);
    for (skip(at); **at == '+' || **at == '-'; skip(at)) {
        char sign = *(*at)++;
        int64_t other = eval_product(at);
        value += sign == '+' ? other : -other;
    }
    return value;
}

static int64_t numbers[64], nums[64];

/* Applies one operation to a number and, in the same way, to an expression. */
static void random_step(struct assay__random *random, int i)
{
    int a = (int)assay__random_below(random, (uint64_t)i),
        b = (int)assay__random_below(random, (uint64_t)i);
    int64_t constant = 1 + (int64_t)assay__random_below(random, 5);
    switch (assay__random_below(random, 7)) {
    case 0:
        numbers[i] = numbers[a] + numbers[b];
        nums[i] = assay__num_add(symbols, nums[a], nums[b]);
        break;
    case 1:
        numbers[i] = numbers[a] - numbers[b];
        nums[i] = assay__num_sub(symbols, nums[a], nums[b]);
        break;
    case 2:
        numbers[i] = numbers[a] * constant;
        nums[i] = assay__num_mul(symbols, nums[a], constant);
        break;
    case 3:
        numbers[i] = numbers[a] / constant - (numbers[a] % constant < 0);
        nums[i] = assay__num_floor_div(symbols, nums[a], constant);
        break;
    case 4:
        numbers[i] = numbers[a] < numbers[b] ? numbers[a] : numbers[b];
        nums[i] = assay__num_min(symbols, nums[a], nums[b]);
        break;
    case 5:
        numbers[i] = numbers[a] > numbers[b] ? numbers[a] : numbers[b];
        nums[i] = assay__num_max(symbols, nums[a], nums[b]);
        break;
    default:
        numbers[i] = numbers[a] + constant;
        nums[i] = assay__num_add(symbols, nums[a], constant);
        break;
    }
}

static void test_random(void)
{
    struct assay__random random;
    size_t compared = 0;
    assay__random_seed(&random, 7);
    for (int round = 0; round < 2000; round++) {
        symbols = assay__symbols_new();
        for (int i = 0; i < 3; i++) {
            char name[2] = {(char)('a' + i), 0};
            value_of[i] = numbers[i] = (int64_t)assay__random_below(&random, 30);
            nums[i] = sym(name);
        }
        for (int i = 3; i < 14; i++) {
            random_step(&random, i);
            if (nums[i] == ASSAY__NUM_ANY) continue; /* too large to be followed */
            int64_t value = nums[i];
            if (assay__num_symbolic(nums[i])) {
                const char *at = text(nums[i]);
                value = eval_sum(&at);
                CHECK_INT(*at, 0);
            }
            CHECK_INT(value, numbers[i]);
            compared++;
            for (int k = 0; k < i; k++) {
                if (nums[k] == nums[i]) CHECK_INT(numbers[k], numbers[i]);
                if (assay__num_at_least(symbols, nums[i], nums[k])) CHECK(numbers[i] >= numbers[k]);
            }
        }
        assay__symbols_free(symbols);
    }
    CHECK(compared > 15000);
}

static int64_t letter_value(void *context, const char *name, size_t length)
{
    (void)context;
    return length == 1 && *name >= 'a' && *name <= 'c'
               ? (int64_t[]){5, 7, ASSAY__NUM_ANY}[*name - 'a']
               : ASSAY__NUM_ANY;
}

/* What is an expression as a whole, and what it is. */
static void test_evaluation(void)
{
    static const struct {
        const char *text;
        bool expression;
        int64_t value;
    } cases[] = {
        {"2*a", true, 10},
        {"a*b + 1", true, 36},
        {"(a + b)//5", true, 2},
        {"a+b", true, 12},
        {"a - b", true, -2},
        {"a//0", true, ASSAY__NUM_ANY},
        {"2*c", true, ASSAY__NUM_ANY},
        {"a", false, 5},
        {"batch-size", false, ASSAY__NUM_ANY},
        {"x=1+1", false, ASSAY__NUM_ANY},
        {"1+1", false, 2},
        {"a\"b<c>=1+1", false, ASSAY__NUM_ANY},
        {"a+", false, ASSAY__NUM_ANY},
        {"a**2", false, ASSAY__NUM_ANY},
        {"", false, ASSAY__NUM_ANY},
        {"9223372036854775807*a", true, ASSAY__NUM_ANY},
    };
    symbols = assay__symbols_new();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (assay__symbol_is_expression(cases[i].text) != cases[i].expression)
            printf("  %s\n", cases[i].text);
        CHECK_INT(assay__symbol_is_expression(cases[i].text), cases[i].expression);
        CHECK_INT(assay__symbol_evaluate(cases[i].text, letter_value, NULL), cases[i].value);
        if (!cases[i].expression && *cases[i].text)
            CHECK_STR(text(sym(cases[i].text)), cases[i].text);
    }
    CHECK_INT(sym("a+b"), sym("b + a"));
    assay__symbols_free(symbols);
}

/* Hostile sizes: nothing grows without end. */
static void test_limits(void)
{
    symbols = assay__symbols_new();
    int64_t sum = sym("s0"), product = sym("s0");
    for (int i = 1; i < 40; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%d", i);
        sum = assay__num_add(symbols, sum, sym(name));
        product = assay__num_mul(symbols, product, sym(name));
    }
    CHECK_INT(sum, ASSAY__NUM_ANY);
    CHECK_INT(product, ASSAY__NUM_ANY);
    int64_t big = assay__num_mul(symbols, sym("s0"), INT64_MAX);
    CHECK_INT(assay__num_mul(symbols, big, 2), ASSAY__NUM_ANY);
    for (int i = 0; i < 6000; i++) { /* more names than there are atoms */
        char name[16];
        snprintf(name, sizeof name, "n%d", i);
        int64_t num = sym(name);
        CHECK(num == ASSAY__NUM_ANY || strcmp(text(num), name) == 0);
    }
    assay__symbols_free(symbols);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"sums", test_sums},     {"quotients", test_quotients},
        {"bounds", test_bounds}, {"reading", test_reading},
        {"dims", test_dims},     {"random", test_random},
        {"limits", test_limits}, {"evaluation", test_evaluation},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
