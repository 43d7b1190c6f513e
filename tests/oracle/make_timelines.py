#!/usr/bin/env python3
"""make_timelines.py - timelines whose cause of slowness is known, because a small model of a host and a device made them.

    make_timelines.py FOLDER [SEED]     writes FOLDER/NNN.json (Kineto's JSON) and FOLDER/truth.json: {file: [accepted ids]}

A host issues operators with launches, copies and waits; streams run what was launched, in order. Every kind of cause is
written with different magnitudes, counts, names, numbers of streams, with and without operators, Python frames and
annotations. File names are numbers: nothing but the content says what a trace is.
"""
import json
import os
import random
import sys

GOOD = [
    "nvjet_sm90_hsh_256x128_64x4_1x2_h_bz_coopA_bias_TNT",
    "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn",
    "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_tn_align8>(cutlass::Params)",
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas",
    "void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, cutlass::bfloat16_t>>(Flash_fwd_params)",
    "Cijk_Alik_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1_SN_K1",
]
GELU = ("void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, "
        "at::native::GeluType)::{lambda()#2}::operator()() const::{lambda(float)#1}, std::array<char*, 2ul> >(int)")
SMALL = [
    "void gemmSN_TN_kernel<float, 128, 16, 2, 4, 4, 4, true, cublasGemvTensorStridedBatched<float const>>(int)",
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int)",
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_t<float, sum_functor<float>>>>(int)",
    GELU,
]
SGEMM = "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma_aligna4_alignc4_execute_kernel__51_cublas"
DGEMM = ["sm90_xmma_gemm_f64f64_f64f64_f64_nn_n_tilesize128x64x32_stage3_warpsize4x2x1_tensor16x8x16_execute_kernel__5x_cublas",
         "volta_dgemm_128x64_nn", "void cutlass::Kernel2<cutlass_80_tensorop_d884gemm_64x32_16x4_nn_align1>(cutlass::Params)",
         "Cijk_Ailk_Bljk_DB_MT64x64x16_SN_K1"]
STRIDED = ("void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda("
           "at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda(float)#1}>(at::TensorIteratorBase&)>(int)")
DOUBLE_MAP = ("void at::native::vectorized_elementwise_kernel<2, at::native::AUnaryFunctor<double, double, double, "
              "at::native::binary_internal::MulFunctor<double> >, std::array<char*, 2ul> >(int)")
NAMELESS = ["kernel_%d" % i for i in range(4)]


class Machine:
    """Times in microseconds; three digits are kept."""

    def __init__(self, rng, operators=True, python=False, hip=False, call_us=5.0, dispatch_us=9.0, latency_us=4.0, noise=0.2):
        self.rng, self.operators, self.python, self.hip = rng, operators, python, hip
        self.call_us, self.dispatch_us, self.latency_us, self.noise = call_us, dispatch_us, latency_us, noise
        self.now, self.tid, self.correlation, self.events = 1000.0, 100, 1, []
        self.free = {}
        self.pause_us = 1.1

    def jitter(self, us):
        return us * self.rng.lognormvariate(0, self.noise)

    def add(self, name, category, start, duration, tid=None, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": self.tid if tid is None else tid,
                            "ts": round(start, 3), "dur": round(duration, 3), "args": args})

    def runtime(self, name):
        return name.replace("cuda", "hip") if self.hip else name

    def device(self, category, name, launched, duration, stream, **args):
        start = max(launched + self.jitter(self.latency_us), self.free.get(stream, 0) + self.pause_us)
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": 0, "tid": stream, "ts": round(start, 3),
                            "dur": round(duration, 3),
                            "args": dict(args, device=0, stream=stream, correlation=self.correlation)})
        self.free[stream] = start + duration
        return start, start + duration

    def call(self, name, us):
        self.add(self.runtime(name), "cuda_runtime", self.now, us, correlation=self.correlation)
        self.now += us

    def op(self, name, kernels, stream=7, dispatch=None):
        """An operator that launches kernels: [(name, duration)]."""
        begin, dispatch = self.now, self.jitter(self.dispatch_us if dispatch is None else dispatch)
        self.now += dispatch * 0.6
        for kernel, duration in kernels:
            self.correlation += 1
            self.device("kernel", kernel, self.now, duration, stream)
            self.call("cudaLaunchKernel", self.jitter(self.call_us))
            self.now += dispatch * 0.1
        self.now += dispatch * 0.3
        if self.operators:
            self.add(name, "cpu_op", begin, self.now - begin)
        self.now += self.jitter(self.dispatch_us * 0.4)  # the interpreter, on its way to the next one

    def memset(self, stream=7):
        self.correlation += 1
        self.device("gpu_memset", "Memset (Device)", self.now, 0.8, stream, bytes=512)
        self.call("cudaMemsetAsync", self.jitter(3))

    def sync(self, name="cudaDeviceSynchronize", stream=None):
        end = max(list(self.free.values()) or [0]) if stream is None else self.free.get(stream, 0)
        self.correlation += 1
        us = max(end - self.now, 0) + self.jitter(3.5)
        self.call(name, us)

    def copy(self, to_device, size, pinned=False, wait=True, stream=7, bandwidth=20e3):
        """aten::to: pageable memory is staged by the host in the call."""
        begin = self.now
        self.now += self.jitter(self.dispatch_us)
        self.correlation += 1
        us = max(size / bandwidth, 1.4)
        memory = "Pinned" if pinned else "Pageable"
        staging = 0 if pinned else size / 12e3 + 8
        if to_device:
            name = "Memcpy HtoD (%s -> Device)" % memory
            self.device("gpu_memcpy", name, self.now + staging, us, stream, bytes=size)
            self.call("cudaMemcpyAsync", self.jitter(4) + staging)
        else:
            name = "Memcpy DtoH (Device -> %s)" % memory
            _, end = self.device("gpu_memcpy", name, self.now, us, stream, bytes=size)
            self.call("cudaMemcpyAsync", self.jitter(4) if pinned else max(end - self.now, 0) + staging)
        if wait:
            self.sync("cudaStreamSynchronize", stream)
        if self.operators:
            self.add("aten::copy_", "cpu_op", begin, self.now - begin)
        self.now += self.jitter(self.dispatch_us * 0.3)

    def item(self, stream=7):
        begin = self.now
        self.now += self.jitter(2)
        self.correlation += 1
        self.device("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", self.now, 1.4, stream, bytes=4)
        self.call("cudaMemcpyAsync", self.jitter(4))
        self.sync("cudaStreamSynchronize", stream)
        if self.operators:
            self.add("aten::_local_scalar_dense", "cpu_op", begin, self.now - begin)

    def sleep(self, us):
        self.now += self.jitter(us)

    def host_work(self, name, category, us):
        us = self.jitter(us)
        self.add(name, category, self.now, us)
        self.now += us

    def write(self, path):
        if self.python:  # one frame around all of it
            self.add("train.py(1): main", "python_function", 900, self.now - 900 + 50)
        meta = [{"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "ts": 0, "args": {"name": "python"}}]
        self.rng.shuffle(self.events)
        with open(path, "w") as out:
            json.dump({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H200"}], "traceEvents": meta + self.events},
                      out)


def machine(rng, **given):
    options = dict(operators=rng.random() < 0.8, python=rng.random() < 0.2, hip=rng.random() < 0.15,
                   call_us=rng.uniform(3, 9), dispatch_us=rng.uniform(6, 25), latency_us=rng.uniform(2, 8), noise=rng.uniform(0.05, 0.4))
    options.update(given)
    return Machine(rng, **options)


def launch_overhead(rng):
    """Short kernels, one after the other, faster than the host can launch them."""
    m = machine(rng)
    streams = rng.choice([[7], [7], [7, 13]])
    wait, copies = rng.random() < 0.5, rng.random() < 0.3
    kernel_us = rng.uniform(1.2, 4.5)
    layers = rng.randint(12, 60)
    for _ in range(rng.randint(5, 15)):
        if copies:
            m.copy(True, 4096 * rng.randint(1, 16), pinned=rng.random() < 0.5)
        for layer in range(layers):
            m.op("aten::linear", [(rng.choice(SMALL), m.jitter(kernel_us))], stream=streams[layer % len(streams)])
        if wait:
            m.sync()
    return m, ["launch-overhead"]


def tiny_kernels_queued(rng):
    """A recorded graph of tiny kernels: all queued at once, and still the device pauses between them."""
    m = machine(rng)
    m.pause_us = rng.uniform(1.5, 3)
    for _ in range(8):
        m.correlation += 1
        for _ in range(80):
            m.device("kernel", rng.choice(SMALL), m.now, m.jitter(1.5), 7)
        m.call("cudaGraphLaunch", m.jitter(20))
        m.now = max(m.free.values()) - 60
    return m, ["launch-overhead"]


def transfers(rng):
    """Copies there and back around a little work."""
    m = machine(rng, dispatch_us=rng.uniform(6, 15))
    size = int(10 ** rng.uniform(4.3, 6.5))
    pinned, both = rng.random() < 0.25, rng.random() < 0.7
    kernels = rng.randint(1, 6)
    for _ in range(rng.randint(30, 120)):
        m.copy(True, size, pinned=pinned)
        for _ in range(kernels):
            m.op("aten::linear", [(rng.choice(SMALL + [SGEMM]), m.jitter(rng.uniform(2, 15)))])
        if both:
            m.copy(False, size, pinned=pinned)
    return m, ["transfers"]


def large_transfers(rng):
    """Few, but large: the device spends its time copying."""
    m = machine(rng)
    for _ in range(rng.randint(4, 12)):
        m.copy(True, rng.randint(64, 256) << 20, pinned=rng.random() < 0.5)
        for _ in range(rng.randint(4, 20)):
            m.op("aten::mm", [(rng.choice(GOOD), m.jitter(120))])
        m.sync()
    return m, ["transfers"]


def inefficient(rng):
    """The device is busy with double precision, or with strides."""
    m = machine(rng)
    share = rng.uniform(0.45, 1.0)
    bad = rng.choice([DGEMM, [STRIDED], DGEMM + [STRIDED, DOUBLE_MAP]])
    kernel_us = rng.uniform(60, 600)
    for _ in range(rng.randint(5, 12)):
        for _ in range(rng.randint(8, 30)):
            name = rng.choice(bad) if rng.random() < share else rng.choice(GOOD + [GELU])
            m.op("aten::mm", [(name, m.jitter(kernel_us))])
    m.sync()
    return m, ["inefficient-kernels"]


def starved(rng):
    """Something else keeps the host from launching."""
    m = machine(rng)
    how = rng.choice(["sleep", "sleep", "operator", "loader", "python"])
    pause_us = 10 ** rng.uniform(3.2, 4.7)
    wait = rng.random() < 0.5
    kernels = rng.randint(1, 40)
    for _ in range(rng.randint(5, 15)):
        if how == "sleep":
            m.sleep(pause_us)
        elif how == "operator":
            for _ in range(4):
                m.host_work("aten::normal_", "cpu_op", pause_us / 4)
        elif how == "loader":
            m.host_work("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "user_annotation", pause_us)
        else:
            m.host_work("data.py(20): decode", "python_function", pause_us)
        busy_us = pause_us * rng.uniform(0.05, 0.9) / kernels
        for _ in range(kernels):
            m.op("aten::linear", [(rng.choice([SGEMM] + GOOD), m.jitter(busy_us))])
        if wait:
            m.sync()
        else:
            m.now = max(m.now, m.free[7] - rng.uniform(0, 50))
    return m, ["starved"]


def synchronised(rng):
    """A value is read back, or the device is waited for, after every layer."""
    m = machine(rng, dispatch_us=rng.uniform(8, 20))
    how = rng.choice(["item", "item", "device", "event"])
    kernel_us = rng.uniform(35, 110)
    for _ in range(rng.randint(5, 12)):
        for _ in range(rng.randint(6, 16)):
            m.op("aten::linear", [(rng.choice([SGEMM] + GOOD), m.jitter(kernel_us))])
            if how == "item":
                m.memset()
                m.op("aten::sum", [(SMALL[2], m.jitter(5))])
                m.item()
            else:
                m.sync("cudaDeviceSynchronize" if how == "device" else "cudaEventSynchronize")
    return m, ["synchronisation"]


def healthy(rng):
    """Large products in half precision, launched well ahead."""
    m = machine(rng)
    kernel_us = 10 ** rng.uniform(2, 3.3)
    streams = rng.choice([[7], [7], [7, 20]])
    prefetch = rng.random() < 0.4
    for _ in range(rng.randint(5, 12)):
        if prefetch:
            m.copy(True, 1 << 22, pinned=True, wait=False, stream=31)
        for layer in range(rng.randint(8, 30)):
            m.op("aten::linear", [(rng.choice(GOOD), m.jitter(kernel_us))], stream=streams[layer % len(streams)])
            m.op("aten::gelu", [(GELU, m.jitter(kernel_us / 8))], stream=streams[layer % len(streams)])
    m.sync()
    return m, ["none"]


def nameless(rng):
    """Busy, and the names of the kernels say nothing."""
    m = machine(rng)
    for _ in range(rng.randint(50, 200)):
        m.op("my::op", [(rng.choice(NAMELESS), m.jitter(150))])
    m.sync()
    return m, ["undecided"]


def training(rng):
    """Forward here, backward on another thread, an optimiser with small kernels; five steps."""
    m = machine(rng, operators=True, dispatch_us=rng.uniform(6, 14), noise=rng.uniform(0.05, 0.25))
    layers = rng.randint(4, 12)
    kernel_us = rng.uniform(90, 250)
    for step in range(5):
        for _ in range(layers):
            m.op("aten::addmm", [(rng.choice([SGEMM] + GOOD), m.jitter(kernel_us))])
            m.op("aten::gelu", [(GELU, m.jitter(6))])
        m.tid = 200
        for _ in range(layers):
            m.op("autograd::engine::evaluate_function: AddmmBackward0",
                 [(rng.choice([SGEMM] + GOOD), m.jitter(kernel_us)), (rng.choice([SGEMM] + GOOD), m.jitter(kernel_us))])
        m.tid = 100
        begin = m.now
        for _ in range(8):
            m.op("aten::_foreach_mul_", [("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<float>(int)", m.jitter(20))])
        m.add("Optimizer.step#AdamW.step", "user_annotation", begin, m.now - begin)
        if rng.random() < 0.5:
            m.item()
    m.sync()
    return m, ["none", "undecided"]


KINDS = [launch_overhead, tiny_kernels_queued, transfers, large_transfers, inefficient, starved, synchronised, healthy, nameless, training]


def main():
    folder, seed = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
    each = int(sys.argv[3]) if len(sys.argv) > 3 else 8
    os.makedirs(folder, exist_ok=True)
    truth, number = {}, 0
    for kind in KINDS:
        for i in range(each):
            made, accepted = kind(random.Random("%s %d %d" % (kind.__name__, seed, i)))
            name = "%03d.json" % number
            made.write(os.path.join(folder, name))
            truth[name] = {"accepted": accepted, "kind": kind.__name__}
            number += 1
    with open(os.path.join(folder, "truth.json"), "w") as out:
        json.dump(truth, out, indent=1)


if __name__ == "__main__":
    main()
