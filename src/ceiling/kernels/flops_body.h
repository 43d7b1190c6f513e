/* flops_body.h - the body that every arithmetic kernel over vectors has. A kernel file defines the
 * names below and includes this once per kernel (hence no guard):
 *
 *   NAME, TARGET         the function and its attributes
 *   EACH                 the list of accumulators, ASSAY__EACH_12 and so on (kernels.h)
 *   VECTOR               an accumulator
 *   OPERAND              the type of both operands, where it is another; FIRST(o), SECOND(o) make
 * them STEP(r, a, b)        one statement: what one step does to one accumulator
 *
 * Each accumulator is a named variable, so that it stays in a register. There are more of them than
 * the instruction's latency times its throughput: 4 cycles × 2 per cycle where there are 16
 * registers, 4 × 4 where there are 32. */
#ifndef OPERAND
#define OPERAND VECTOR
#endif
#define LOAD_ONE(i) VECTOR r##i = out[i];
#define STEP_ONE(i) STEP(r##i, a, b)
#define STORE_ONE(i) out[i] = r##i;

TARGET static void NAME(uint64_t steps, const struct assay__flops_operands *operands, void *results)
{
    typedef VECTOR __attribute__((aligned(1), may_alias)) unaligned;
    unaligned *out = results;
    OPERAND a = FIRST(operands), b = SECOND(operands);
    EACH(LOAD_ONE)
    for (; steps; steps--) {
        EACH(STEP_ONE)
    }
    EACH(STORE_ONE)
}

#undef LOAD_ONE
#undef STEP_ONE
#undef STORE_ONE
#undef NAME
#undef VECTOR
#undef OPERAND
#undef FIRST
#undef SECOND
#undef STEP
