/* bandwidth_neon.c - loops over memory with 128-bit vectors of 64-bit Arm. No non-temporal variant:
 * the hint (stnp) is for the processor to ignore, and these cores recognise whole-line stores by
 * themselves. */
#include "ceiling/kernels/kernels.h"

#if defined(__aarch64__)

#include "platform/posix_cpu.h"

#include <arm_neon.h>

#define TARGET
#define NAME(pattern) neon_##pattern
#define VECTOR uint64x2_t
#define WIDTH 16
#define LOAD(at) vreinterpretq_u64_u8(vld1q_u8(at))
#define STORE(at, v) vst1q_u8(at, vreinterpretq_u8_u64(v))
#define STORE_ANYWHERE vst1q_u64
#define ADD vaddq_u64
#define SAME(value) vreinterpretq_u64_f64(vdupq_n_f64(value))
#define REAL vreinterpretq_f64_u64
#define TRIAD(v, w, s) vreinterpretq_u64_f64(vfmaq_f64(REAL(v), REAL(s), REAL(w)))
#define FENCE (void)0
#include "ceiling/kernels/bandwidth_body.h"

const struct assay__stream_kernel assay__stream_neon[] = {
    {ASSAY__STREAM_READ, "neon", ASSAY__CPU_NEON, false, neon_read},
    {ASSAY__STREAM_WRITE, "neon", ASSAY__CPU_NEON, false, neon_write},
    {ASSAY__STREAM_COPY, "neon", ASSAY__CPU_NEON, false, neon_copy},
    {ASSAY__STREAM_TRIAD, "neon", ASSAY__CPU_NEON, false, neon_triad},
    {0},
};

#else
const struct assay__stream_kernel assay__stream_neon[] = {{0}};
#endif
