/* binomial.h - the fair coin's distribution, for intervals of a median by order statistics. */
#ifndef ASSAY_BASE_BINOMIAL_H
#define ASSAY_BASE_BINOMIAL_H

#include <stddef.h>

/** P(X <= k) for X ~ Binomial(n, 1/2). */
double assay__binomial_half_cdf(size_t n, size_t k);
/** The largest rank r (1-based) with 2 P(X < r) <= alpha, so that [x_(r), x_(n+1-r)] covers the
 *  median with at least 1 - alpha. 0 when even the extremes do not. */
size_t assay__binomial_half_rank(size_t n, double alpha);

#endif
