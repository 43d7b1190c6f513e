/* flops_list.h - lists of accumulators for flops_body.h. */
#ifndef ASSAY_CEILING_KERNELS_FLOPS_LIST_H
#define ASSAY_CEILING_KERNELS_FLOPS_LIST_H

/* clang-format off */
#define ASSAY__EACH_8(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define ASSAY__EACH_12(X) ASSAY__EACH_8(X) X(8) X(9) X(10) X(11)
#define ASSAY__EACH_24(X) ASSAY__EACH_12(X) X(12) X(13) X(14) X(15) X(16) X(17) X(18) \
    X(19) X(20) X(21) X(22) X(23)
/* clang-format on */

#endif
