/* test_explain.c - the analysis of a timeline on timelines made by hand: every nanosecond of a
 * device's span is accounted for, and to the right causes. */
#include "timeline_fixture.h"

#include "explain/explain_diff.h"
#include "explain/gpu_metrics.h"

/* --- busy and idle ---------------------------------------------------------------------------- */

static void test_busy_is_a_union(void)
{
    struct made m = make();
    uint32_t other = stream_of(&m, 0, 8);
    kernel(&m, "a", 1000, 2000, 0);
    put(&m, ASSAY__EVENT_KERNEL, other, "b", 1500, 2500, 0);   /* overlaps */
    put(&m, ASSAY__EVENT_MEMSET, other, "set", 2500, 2600, 0); /* touches */
    kernel(&m, "a", 4000, 4300, 0);
    put(&m, ASSAY__EVENT_DEVICE_RANGE, other, "mark", 0, 9000, 0); /* no work */
    const struct assay__explain *x = explain(&m);
    CHECK_INT(x->device_count, 1);
    const struct assay__explain_device *d = &x->devices[0];
    CHECK_INT(d->span_ns, 3300);
    CHECK_INT(d->busy_ns, 1900);
    CHECK_INT(d->idle_ns, 1400);
    CHECK_INT(d->kernel.count, 3);
    CHECK_INT(d->memsets, 1);
    CHECK_INT(d->kernel.median_ns, 1000);
    CHECK_INT(d->kernel_sum_ns, 2300);
    CHECK_INT(d->gap.count, 1);
    CHECK_INT(d->gap_bin_count[1], 1); /* 1 to 5 µs */
    CHECK_INT(d->stream_count, 2);
    CHECK_INT(d->streams[0].busy_ns, 1100); /* stream 8, which was named first */
    CHECK_INT(d->streams[1].busy_ns, 1300);
    check_sums(x);
    drop(&m);
}

static void test_metrics(void)
{
    struct made m = make();
    launch(&m, 0, 100, 1);
    kernel(&m, "a", 1000, 3000, 1);
    launch(&m, 3500, 4000, 2);
    kernel(&m, "a", 4000, 5000, 2);
    put(&m, ASSAY__EVENT_CPU, thread_of(&m, 1), "rest", 5000, 8000, 0);
    const struct assay__explain *x = explain(&m);
    struct assay_metrics *set = assay__gpu_metrics(x, 0);
    CHECK_NEAR(assay_metrics_get(set, "gpu.utilization")->value, 0.75, 1e-12);
    CHECK_NEAR(assay_metrics_get(set, "gpu.launch_efficiency")->value, 3.0 / 8, 1e-12);
    CHECK_NEAR(assay_metrics_get(set, "gpu.kernel_mean")->value, 1.5e-6, 1e-15);
    CHECK_NEAR(assay_metrics_get(set, "gpu.gap_mean")->value, 1e-6, 1e-15);
    CHECK_INT(assay_metrics_get(set, "gpu.copy_bandwidth")->state, ASSAY_UNAVAILABLE);
    CHECK_INT(x->devices[0].before_ns, 1000);
    CHECK_INT(x->devices[0].after_ns, 3000);
    assay_metrics_free(set);
    drop(&m);
}

/* --- why the device was idle ------------------------------------------------------------------ */

static void test_launch_gap_and_dependency(void)
{
    struct made m = make();
    for (uint64_t i = 1; i <= 4; i++)
        launch(&m, (int64_t)i * 100, (int64_t)i * 100 + 50, i);
    kernel(&m, "a", 1000, 2000, 1);
    kernel(&m, "a", 3000, 4000, 2); /* queued, same stream, 1 µs later */
    put(&m, ASSAY__EVENT_KERNEL, stream_of(&m, 0, 8), "b", 10000, 11000,
        3);                           /* 6 µs, other stream */
    kernel(&m, "a", 51000, 52000, 4); /* 40 µs: a dependency on any stream */
    const struct assay__explain *x = explain(&m);
    const struct assay__explain_device *d = &x->devices[0];
    CHECK_INT(d->idle[ASSAY__DEVICE_LAUNCH_GAP][ASSAY__HOST_QUEUED], 1000);
    CHECK_INT(d->idle[ASSAY__DEVICE_DEPENDENCY][ASSAY__HOST_QUEUED], 6000 + 40000);
    check_sums(x);
    drop(&m);
}

static void test_unknown_without_launches(void)
{
    struct made m = make();
    kernel(&m, "a", 0, 1000, 0);
    kernel(&m, "a", 3000, 4000, 0);
    kernel(&m, "a", 50000, 51000, 0);
    const struct assay__explain *x = explain(&m);
    const struct assay__explain_device *d = &x->devices[0];
    CHECK_INT(d->idle[ASSAY__DEVICE_LAUNCH_GAP][ASSAY__HOST_QUEUED], 2000);
    CHECK_INT(d->idle[ASSAY__DEVICE_UNKNOWN][ASSAY__HOST_UNSEEN], 46000);
    CHECK_INT(x->diagnosis.id, ASSAY__DIAGNOSIS_UNDECIDED);
    CHECK_INT(x->what_if.count, 0);
    check_sums(x);
    drop(&m);
}

static void test_drained_by_synchronisation(void)
{
    struct made m = make();
    uint32_t host = thread_of(&m, 1);
    launch(&m, 0, 5000, 1);
    kernel(&m, "a", 8000, 50000, 1);
    put(&m, ASSAY__EVENT_SYNC, host, "cudaStreamSynchronize", 6000, 53000, 2);
    launch(&m, 60000, 65000, 3);
    kernel(&m, "a", 68000, 70000, 3);
    const struct assay__explain *x = explain(&m);
    const struct assay__explain_device *d = &x->devices[0];
    /* 50 … 53 in the call, 53 … 60 on the way to the launch, 60 … 68 launching */
    CHECK_INT(d->idle[ASSAY__DEVICE_SYNCHRONISATION][ASSAY__HOST_SYNC], 3000);
    CHECK_INT(d->idle[ASSAY__DEVICE_SYNCHRONISATION][ASSAY__HOST_LAUNCH], 15000);
    CHECK_INT(x->loss_ns[ASSAY__LOSS_SYNCHRONISING], 18000);
    CHECK_INT(x->sync_count, 1);
    CHECK_INT(x->syncs[0].count, 1);
    CHECK_INT(x->syncs[0].drained, 1);
    CHECK_INT(x->syncs[0].wait_ns, 47000);
    CHECK_INT(x->syncs[0].idle_ns, 18000);
    check_sums(x);
    drop(&m);
}

/* A wait that began after the device was empty emptied nothing. */
static void test_late_wait_does_not_drain(void)
{
    struct made m = make();
    launch(&m, 0, 5000, 1);
    kernel(&m, "a", 8000, 10000, 1);
    put(&m, ASSAY__EVENT_SYNC, thread_of(&m, 1), "cudaDeviceSynchronize", 20000, 22000, 2);
    launch(&m, 30000, 35000, 3);
    kernel(&m, "a", 38000, 40000, 3);
    const struct assay__explain *x = explain(&m);
    CHECK_INT(x->devices[0].idle_gaps[ASSAY__DEVICE_SYNCHRONISATION], 0);
    CHECK_INT(x->devices[0].idle_gaps[ASSAY__DEVICE_STARVED], 1);
    CHECK_INT(x->devices[0].idle[ASSAY__DEVICE_STARVED][ASSAY__HOST_SYNC], 2000);
    drop(&m);
}

static void test_copies_that_block(void)
{
    struct made m = make();
    uint32_t host = thread_of(&m, 1);
    launch(&m, 0, 5000, 1);
    kernel(&m, "a", 8000, 10000, 1);
    put(&m, ASSAY__EVENT_LAUNCH, host, "cudaMemcpyAsync", 9000, 40000, 2); /* until it is done */
    copy(&m, ASSAY__COPY_TO_HOST, 1 << 20, 12000, 30000, 2);
    launch(&m, 45000, 50000, 3);
    kernel(&m, "a", 53000, 60000, 3);
    const struct assay__explain *x = explain(&m);
    const struct assay__explain_device *d = &x->devices[0];
    CHECK_INT(d->idle[ASSAY__DEVICE_COPY][ASSAY__HOST_COPYING], 10000);
    CHECK_INT(d->idle[ASSAY__DEVICE_COPY][ASSAY__HOST_LAUNCH], 13000);
    CHECK_INT(d->copy_only_ns, 18000);
    CHECK_INT(x->loss_ns[ASSAY__LOSS_TRANSFERS], 18000 + 23000 + 2000); /* and the gap before it */
    CHECK_INT(x->transfer_count, 1);
    CHECK_INT(x->transfers[0].blocking, 1);
    CHECK_INT(x->transfers[0].small, 0);
    CHECK_INT(x->transfers[0].bytes, 1 << 20);
    CHECK_INT(x->transfers[0].call_ns, 31000);
    CHECK_INT(x->transfers[0].hidden_ns, 0);
    check_sums(x);
    drop(&m);
}

/* Four bytes are a number that the program looks at: the wait is the cost, not the copy. */
static void test_scalar_reads_are_synchronisation(void)
{
    struct made m = make();
    uint32_t host = thread_of(&m, 1);
    launch(&m, 0, 5000, 1);
    kernel(&m, "a", 8000, 20000, 1);
    put(&m, ASSAY__EVENT_LAUNCH, host, "cudaMemcpyAsync", 6000, 9000, 2);
    copy(&m, ASSAY__COPY_TO_HOST, 4, 21000, 22000, 2);
    put(&m, ASSAY__EVENT_SYNC, host, "cudaStreamSynchronize", 9500, 25000, 3);
    launch(&m, 30000, 35000, 4);
    kernel(&m, "a", 38000, 60000, 4);
    const struct assay__explain *x = explain(&m);
    CHECK_INT(x->devices[0].idle_gaps[ASSAY__DEVICE_SYNCHRONISATION], 1);
    CHECK_INT(x->devices[0].idle_gaps[ASSAY__DEVICE_COPY], 0);
    drop(&m);
}

/* A copy of four bytes whose call lasts until it is done: no other call has to wait for it. */
static void read_number(struct made *m, const char *call, uint8_t memory)
{
    struct assay__event_args args = {.direction = ASSAY__COPY_TO_HOST, .to = memory};
    launch(m, 0, 5000, 1);
    kernel(m, "a", 8000, 20000, 1);
    put(m, ASSAY__EVENT_LAUNCH, thread_of(m, 1), call, 6000, 25000, 2);
    assay__events_add(m->events,
                      &(struct assay__event){.start_ns = 21000,
                                             .duration_ns = 1000,
                                             .name = "Memcpy DtoH",
                                             .name_length = SIZE_MAX,
                                             .kind = ASSAY__EVENT_COPY,
                                             .track = stream_of(m, 0, 7),
                                             .correlation = 2,
                                             .bytes = 4,
                                             .args = assay__events_args(m->events, &args)});
    launch(m, 30000, 35000, 4);
    kernel(m, "a", 38000, 60000, 4);
}

static void test_blocking_reads_of_numbers(void)
{
    static const struct {
        const char *call;
        uint8_t memory;
        int64_t waits;
    } rows[] = {{"cudaMemcpy", ASSAY__MEMORY_PINNED, 1},
                {"cudaMemcpyAsync", ASSAY__MEMORY_PAGEABLE, 1},
                {"hipMemcpyWithStream", ASSAY__MEMORY_UNKNOWN, 1},
                {"cudaMemcpyAsync", ASSAY__MEMORY_PINNED, 0}}; /* its end says nothing */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct made m = make();
        read_number(&m, rows[i].call, rows[i].memory);
        const struct assay__explain *x = explain(&m);
        const struct assay__explain_device *d = &x->devices[0];
        CHECK_INT(d->idle_gaps[ASSAY__DEVICE_SYNCHRONISATION], rows[i].waits);
        CHECK_INT(d->idle_gaps[ASSAY__DEVICE_COPY], 0);
        CHECK_INT(x->sync_count, rows[i].waits);
        if (rows[i].waits) CHECK_INT(x->syncs[0].idle_ns, 16000);
        check_sums(x);
        drop(&m);
    }
}

/* Good kernels acquit a device only if it spends its time in them. */
static void test_copies_on_the_device(void)
{
    for (int64_t copy_ns = 10000; copy_ns <= 1000000; copy_ns *= 100) {
        struct made m = make();
        for (uint64_t i = 0; i < 40; i++) {
            int64_t at_ns = (int64_t)i * (copy_ns + 100000);
            launch(&m, (int64_t)i * 100, (int64_t)i * 100 + 50, i + 1);
            kernel(&m, "nvjet_hsh_128x128", at_ns, at_ns + 100000, i + 1);
            copy(&m, ASSAY__COPY_ON_DEVICE, 1 << 20, at_ns + 100000, at_ns + 100000 + copy_ns, 0);
        }
        const struct assay__explain *x = explain(&m);
        CHECK_INT(x->diagnosis.id,
                  copy_ns > 100000 ? ASSAY__DIAGNOSIS_UNDECIDED : ASSAY__DIAGNOSIS_NONE);
        CHECK_INT(x->transfer_count, 0);
        drop(&m);
    }
}

static void test_copies_hidden_by_kernels(void)
{
    struct made m = make();
    struct assay__event_args args = {.direction = ASSAY__COPY_TO_DEVICE,
                                     .from = ASSAY__MEMORY_PINNED};
    kernel(&m, "a", 0, 10000, 0);
    kernel(&m, "a", 12000, 20000, 0);
    assay__events_add(m.events,
                      &(struct assay__event){.start_ns = 5000,
                                             .duration_ns = 10000,
                                             .name = "Memcpy",
                                             .name_length = SIZE_MAX,
                                             .kind = ASSAY__EVENT_COPY,
                                             .track = stream_of(&m, 0, 9),
                                             .bytes = 1000,
                                             .args = assay__events_args(m.events, &args)});
    const struct assay__explain *x = explain(&m);
    CHECK_INT(x->transfers[0].hidden_ns, 8000);
    CHECK_INT(x->transfers[0].small, 1);
    CHECK_INT(x->transfers[0].memory, ASSAY__MEMORY_PINNED);
    CHECK_INT(x->devices[0].copy_only_ns, 2000);
    CHECK_INT(x->devices[0].busy_ns, 20000);
    check_sums(x);
    drop(&m);
}

/* --- what the host did ------------------------------------------------------------------------ */

/* Launches of 1 µs at 2 µs distance set the pace; then the host does something for a long time. */
static int64_t at_pace(struct made *m, int count)
{
    for (int i = 0; i < count; i++) {
        launch(m, i * 3000, i * 3000 + 1000, (uint64_t)i + 1);
        kernel(m, "a", i * 3000 + 1500, i * 3000 + 2500, (uint64_t)i + 1);
    }
    return (count - 1) * 3000 + 2500; /* when the device ran dry */
}

static void test_host_causes(void)
{
    struct made m = make();
    uint32_t host = thread_of(&m, 1);
    int64_t dry_ns = at_pace(&m, 20), at_ns = dry_ns + 500; /* 59,500: the host is in nothing */
    put(&m, ASSAY__EVENT_OPERATOR, host, "aten::normal_", at_ns, at_ns + 100000, 0);
    put(&m, ASSAY__EVENT_RUNTIME, host, "cudaMalloc", at_ns + 20000, at_ns + 70000, 0);
    put(&m, ASSAY__EVENT_PYTHON, host, "decode", at_ns + 100000, at_ns + 300000, 0);
    put(&m, ASSAY__EVENT_RANGE, host, "prepare", at_ns + 300000, at_ns + 400000, 0);
    put(&m, ASSAY__EVENT_RANGE, host, "enumerate(DataLoader)#next", at_ns + 400000, at_ns + 450000,
        0);
    launch(&m, at_ns + 500000, at_ns + 501000, 100);
    kernel(&m, "a", at_ns + 502000, at_ns + 503000, 100);
    const struct assay__explain *x = explain(&m);
    const int64_t *starved = x->devices[0].idle[ASSAY__DEVICE_STARVED];
    CHECK_INT(x->timeline->call_ns, 1000);
    CHECK_INT(x->timeline->patience_ns, 25000);
    CHECK_INT(starved[ASSAY__HOST_CPU], 50000 + 50000); /* the operator itself; the loader */
    CHECK_INT(starved[ASSAY__HOST_RUNTIME], 50000);
    CHECK_INT(starved[ASSAY__HOST_PYTHON], 200000);
    CHECK_INT(starved[ASSAY__HOST_UNTRACED], 500 + 100000 + 50000);
    CHECK_INT(starved[ASSAY__HOST_LAUNCH], 19 * 2000 + 2000); /* the last: call and latency */
    CHECK_INT(x->loss_ns[ASSAY__LOSS_STARVATION], 500500);
    CHECK_STR(assay__events_text(m.events, x->host_times[0].name), "decode");
    CHECK_INT(x->host_times[0].ns, 200000);
    CHECK_INT(x->diagnosis.id, ASSAY__DIAGNOSIS_STARVED);
    check_sums(x);
    drop(&m);
}

/* Where the launching thread shows nothing, the one that launched before it is asked. */
static void test_host_causes_of_another_thread(void)
{
    struct made m = make();
    int64_t dry_ns = at_pace(&m, 20);
    put(&m, ASSAY__EVENT_OPERATOR, thread_of(&m, 1), "aten::loss", dry_ns, dry_ns + 200000, 0);
    uint32_t other = thread_of(&m, 2);
    put(&m, ASSAY__EVENT_LAUNCH, other, "cudaLaunchKernel", dry_ns + 300000, dry_ns + 301000, 100);
    kernel(&m, "a", dry_ns + 302000, dry_ns + 303000, 100);
    const struct assay__explain *x = explain(&m);
    const int64_t *starved = x->devices[0].idle[ASSAY__DEVICE_STARVED];
    CHECK_INT(starved[ASSAY__HOST_CPU], 200000);
    CHECK_INT(starved[ASSAY__HOST_UNTRACED], 100000);
    check_sums(x);
    drop(&m);
}

static void test_profiler_time(void)
{
    struct made m = make();
    int64_t dry_ns = at_pace(&m, 20);
    put(&m, ASSAY__EVENT_CPU, thread_of(&m, 9), "Buffer Flush", dry_ns + 1000, dry_ns + 41000, 0);
    launch(&m, dry_ns + 60000, dry_ns + 61000, 100);
    kernel(&m, "a", dry_ns + 62000, dry_ns + 63000, 100);
    const struct assay__explain *x = explain(&m);
    CHECK_INT(x->devices[0].idle[ASSAY__DEVICE_STARVED][ASSAY__HOST_PROFILER], 40000);
    CHECK_INT(x->loss_ns[ASSAY__LOSS_PROFILING], 40000);
    check_sums(x);
    drop(&m);
}

/* --- HTA -------------------------------------------------------------------------------------- */

static void test_hta_classes(void)
{
    struct made m = make();
    launch(&m, 0, 100, 1);
    launch(&m, 200, 300, 2);
    launch(&m, 400, 500, 3);
    kernel(&m, "a", 1000, 2000, 1);
    kernel(&m, "a", 2020, 3000, 2);  /* 20 ns */
    kernel(&m, "a", 2900, 43000, 3); /* -100 ns: it overlaps */
    launch(&m, 50000, 50100, 4);
    kernel(&m, "a", 60000, 61000, 4); /* 17 µs, launched after */
    kernel(&m, "a", 92000, 93000, 5); /* 31 µs, no launch known */
    const struct assay__explain *x = explain(&m);
    const struct assay__explain_stream *s = &x->devices[0].streams[0];
    CHECK_INT(s->hta_gaps[ASSAY__HTA_HOST_WAIT], 1);
    CHECK_INT(s->hta_idle_ns[ASSAY__HTA_HOST_WAIT], 17000);
    CHECK_INT(s->hta_gaps[ASSAY__HTA_KERNEL_WAIT], 2);
    CHECK_INT(s->hta_idle_ns[ASSAY__HTA_KERNEL_WAIT], 20 - 100);
    CHECK_INT(s->hta_kernel_wait_30ns_ns, 20 - 100);
    CHECK_INT(s->hta_gaps[ASSAY__HTA_OTHER], 1);
    CHECK_INT(s->hta_idle_ns[ASSAY__HTA_OTHER], 31000);
    CHECK_INT(s->queue_max, 3);
    /* 1 2 3 2 1 0 1 0: the queue after each launch and start */
    CHECK_NEAR(s->queue_mean, 10.0 / 8, 1e-12);
    CHECK_INT(s->queue_empty_ns, 50000 - 2900);
    drop(&m);
}

/* --- names ------------------------------------------------------------------------------------ */

static void test_kernels_and_operators(void)
{
    struct made m = make();
    uint32_t host = thread_of(&m, 1);
    put(&m, ASSAY__EVENT_OPERATOR, host, "aten::linear", 0, 10000, 0);
    put(&m, ASSAY__EVENT_OPERATOR, host, "aten::addmm", 1000, 9000, 0);
    launch(&m, 2000, 3000, 1);
    launch(&m, 11000, 12000, 2);
    kernel(&m, "gemm", 3000, 8000, 1);
    kernel(&m, "gemm", 13000, 14000, 2);
    const struct assay__explain *x = explain(&m);
    CHECK_INT(x->kernel_count, 1);
    CHECK_INT(x->kernels[0].count, 2);
    CHECK_INT(x->kernels[0].ns, 6000);
    CHECK_INT(x->kernels[0].min_ns, 1000);
    CHECK_INT(x->kernels[0].max_ns, 5000);
    CHECK_STR(assay__events_text(m.events, x->kernels[0].op), "aten::addmm");
    CHECK_INT(x->operator_count, 1);
    CHECK_STR(assay__events_text(m.events, x->operators[0].name), "aten::addmm");
    CHECK_INT(x->operators[0].device_ns, 5000);
    CHECK_INT(x->operators[0].calls, 1);
    drop(&m);
}

static void test_host_functions(void)
{
    struct made m = make();
    uint32_t host = thread_of(&m, 1);
    put(&m, ASSAY__EVENT_OPERATOR, host, "outer", 0, 10000, 0);
    put(&m, ASSAY__EVENT_OPERATOR, host, "inner", 2000, 5000, 0);
    put(&m, ASSAY__EVENT_OPERATOR, host, "inner", 6000, 12000, 0); /* outlives it: cut at its end */
    const struct assay__explain *x = explain(&m);
    CHECK_INT(x->device_count, 0);
    CHECK_INT(x->function_count, 2);
    CHECK_STR(assay__events_text(m.events, x->functions[0].name), "inner");
    CHECK_INT(x->functions[0].self_ns, 7000);
    CHECK_INT(x->functions[1].self_ns, 3000);
    CHECK_INT(x->diagnosis.id, ASSAY__DIAGNOSIS_UNDECIDED);
    drop(&m);
}

/* --- steps ------------------------------------------------------------------------------------ */

static void test_steps_of_annotations(void)
{
    struct made m = make();
    for (int i = 0; i < 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "ProfilerStep#%d", i);
        put(&m, ASSAY__EVENT_RANGE, thread_of(&m, 1), name, i * 100000, i * 100000 + 90000, 0);
        launch(&m, i * 100000 + 1000, i * 100000 + 2000, (uint64_t)i + 1);
        kernel(&m, "a", i * 100000 + 5000, i * 100000 + (i == 1 ? 80000 : 20000), (uint64_t)i + 1);
    }
    const struct assay__explain *x = explain(&m);
    CHECK_INT(x->steps.count, 3);
    CHECK_STR(x->steps.items[2].name, "ProfilerStep#2");
    CHECK_INT(x->steps.items[1].busy_ns, 75000);
    CHECK_INT(x->steps.items[2].idle_ns, 205000 - 180000);
    CHECK_INT(x->steps.time.median_ns, 90000);
    drop(&m);
}

/* Two layers of two kernels, and one that ends the step: the longest period is the step. */
static void test_steps_of_launches(void)
{
    static const char *const names[] = {"gemm", "gelu", "gemm", "gelu", "loss"};
    struct made m = make();
    for (int i = 0; i < 20; i++) {
        int64_t at_ns = i * 10000 + i / 5 * 3000;
        launch(&m, at_ns, at_ns + 1000, (uint64_t)i + 1);
        kernel(&m, names[i % 5], at_ns + 2000, at_ns + 4000, (uint64_t)i + 1);
    }
    const struct assay__explain *x = explain(&m);
    CHECK_INT(x->steps.count, 4);
    CHECK_INT(x->steps.items[0].start_ns, 2000);
    CHECK_INT(x->steps.items[0].kernels, 5);
    CHECK_INT(x->steps.items[1].end_ns - x->steps.items[1].start_ns, 53000);
    drop(&m);
}

static void test_no_steps(void)
{
    struct made m = make();
    for (int i = 0; i < 9; i++) {
        char name[32];
        snprintf(name, sizeof name, "kernel%d", i * i % 7);
        kernel(&m, name, i * 1000, i * 1000 + 500, 0);
    }
    CHECK_INT(explain(&m)->steps.count, 0);
    drop(&m);
}

/* --- what if, and the critical path ----------------------------------------------------------- */

/* Ten rounds: launch, wait until it is done, go on. Without waiting the device is never empty. */
static void test_replay_without_waiting(void)
{
    struct made m = make();
    int64_t now_ns = 0;
    for (uint64_t i = 1; i <= 10; i++) {
        launch(&m, now_ns, now_ns + 5000, 2 * i);
        kernel(&m, "a", now_ns + 10000, now_ns + 60000, 2 * i);
        put(&m, ASSAY__EVENT_SYNC, thread_of(&m, 1), "cudaDeviceSynchronize", now_ns + 6000,
            now_ns + 62000, 2 * i + 1);
        now_ns += 70000;
    }
    const struct assay__explain *x = explain(&m);
    CHECK_INT(x->what_if.span_ns, 9 * 70000 + 50000); /* the trace itself */
    CHECK_NEAR(x->what_if.error, 0, 1e-12);
    CHECK_INT(x->what_if.items[2].loss, ASSAY__LOSS_SYNCHRONISING);
    CHECK_INT(x->what_if.items[2].span_ns, 10 * 50000);
    CHECK_INT(x->what_if.items[1].span_ns, x->what_if.span_ns); /* there are no transfers */
    CHECK_INT(x->diagnosis.id, ASSAY__DIAGNOSIS_SYNCHRONISATION);
    /* the path: each kernel, then the wait, the way to the next launch and its latency */
    CHECK_INT(x->path.device_ns, 10 * 50000);
    CHECK_INT(x->path.host_ns[ASSAY__HOST_SYNC], 9 * 2000);
    CHECK_INT(x->path.host_ns[ASSAY__HOST_LAUNCH], 9 * 18000);
    check_sums(x);
    drop(&m);
}

static void test_path_through_the_device(void)
{
    struct made m = make();
    for (uint64_t i = 1; i <= 3; i++)
        launch(&m, (int64_t)i * 1000, (int64_t)i * 1000 + 500, i);
    kernel(&m, "a", 5000, 20000, 1);
    kernel(&m, "b", 21000, 40000, 2);
    kernel(&m, "a", 41000, 50000, 3);
    const struct assay__explain *x = explain(&m);
    CHECK_INT(x->path.device_ns, 43000);
    CHECK_INT(x->path.gap_ns, 2000);
    CHECK_INT(x->path.kernel_count, 2);
    CHECK_INT(x->path.kernels[0].ns, 24000);
    check_sums(x);
    drop(&m);
}

/* --- ranks ------------------------------------------------------------------------------------ */

static void test_straggler(void)
{
    struct made m = make();
    for (m.rank = 0; m.rank < 3; m.rank++)
        for (int i = 0; i < 4; i++) {
            int64_t at_ns = i * 100000, late_ns = m.rank == 1 ? 30000 : m.rank * 1000;
            kernel(&m, "gemm", at_ns, at_ns + 40000 + late_ns, 0);
            put(&m, ASSAY__EVENT_KERNEL, stream_of(&m, 0, 9), "ncclDevKernel_AllReduce",
                at_ns + 30000 + late_ns, at_ns + 90000, 0);
        }
    const struct assay__explain *x = explain(&m);
    CHECK_INT(x->ranks.count, 3);
    CHECK_INT(x->ranks.straggler, 1);
    CHECK_INT(x->ranks.items[0].compute_ns, 160000);
    CHECK_INT(x->ranks.items[0].communication_ns, 240000);
    CHECK_INT(x->ranks.items[0].overlap_ns, 40000);
    CHECK_INT(x->ranks.items[1].arrival_ns, 120000);
    CHECK_INT(x->ranks.items[2].arrival_ns, 8000);
    CHECK_INT(x->loss_ns[ASSAY__LOSS_COMMUNICATING], 200000 + 80000 + 192000);
    check_sums(x);
    drop(&m);
}

/* --- two timelines ---------------------------------------------------------------------------- */

static void test_difference_adds_up(void)
{
    struct made a = make(), b = make();
    struct assay__explain_diff *diff;
    at_pace(&a, 20);
    at_pace(&b, 12);
    kernel(&b, "new", 100000, 150000, 99);
    explain(&a);
    explain(&b);
    CHECK_INT(assay__explain_diff_new(a.x, b.x, &diff, NULL), 0);
    double before_s = 0, after_s = 0;
    for (int i = 0; i < ASSAY__DIFF_PARTS; i++) {
        before_s += diff->parts[i].before_s;
        after_s += diff->parts[i].after_s;
    }
    CHECK_NEAR(before_s, diff->before_s, 1e-12);
    CHECK_NEAR(after_s, diff->after_s, 1e-12);
    CHECK_INT(diff->kernel_count, 2);
    CHECK_STR(diff->kernels[0].name, "new");
    CHECK_NEAR(diff->kernels[0].after_s, 50e-6, 1e-15);
    assay__explain_diff_free(diff);
    drop(&a);
    drop(&b);
}

/* --- bad input -------------------------------------------------------------------------------- */

static void test_nothing(void)
{
    struct made m = make();
    const struct assay__explain *x = explain(&m);
    CHECK_INT(x->device_count, 0);
    CHECK_INT(x->diagnosis.id, ASSAY__DIAGNOSIS_UNDECIDED);
    drop(&m);
}

static void test_absurd_times_are_refused(void)
{
    struct made m = make();
    struct assay_error error = {0};
    kernel(&m, "a", INT64_MIN / 2, INT64_MIN / 2 + 10, 1);
    kernel(&m, "a", INT64_MAX / 2, INT64_MAX / 2 + 10, 2);
    CHECK_INT(assay__events_seal(m.events, &error), 0);
    CHECK_INT(assay__explain_new(m.events, &m.x, &error), ASSAY_EFORMAT);
    CHECK(m.x == NULL);
    drop(&m);
}

/* --- the verdict ------------------------------------------------------------------------------ */

static size_t count_words(const char *text)
{
    size_t words = 0;
    for (const char *at = text; *at; at++)
        words += *at != ' ' && (at == text || at[-1] == ' ');
    return words;
}

static void check_verdict(const struct assay__explain *x)
{
    const char *verdict = x->diagnosis.verdict;
    size_t length = strlen(verdict);
    CHECK(length && verdict[length - 1] == '.');
    CHECK(count_words(verdict) <= 20);
    CHECK(strstr(x->diagnosis.evidence, "; ;") == NULL);
}

/* 20 kernels launched one by one; the host's call before the tenth may be a long one. */
static void launch_slowly(struct made *m, const char *call, int64_t long_ns)
{
    int64_t now_ns = 0;
    for (uint64_t i = 1; i <= 20; i++) {
        int64_t took_ns = i == 10 ? long_ns : 5000;
        put(m, ASSAY__EVENT_LAUNCH, thread_of(m, 1), call, now_ns, now_ns + took_ns, i);
        now_ns += took_ns;
        kernel(m, "a", now_ns + 1000, now_ns + 3000, i);
        now_ns += 15000;
    }
}

static void test_one_long_call_is_named(void)
{
    struct made m = make();
    launch_slowly(&m, "hipLaunchKernel", 6000000);
    const struct assay__explain *x = explain(&m);
    CHECK_INT(x->diagnosis.id, ASSAY__DIAGNOSIS_LAUNCH_OVERHEAD);
    CHECK_INT(x->long_calls.count, 1);
    CHECK_INT(x->events->duration_ns[x->long_calls.longest], 6000000);
    CHECK_NEAR(x->diagnosis.cost, (double)x->long_calls.ns / (double)x->span_ns, 1e-12);
    CHECK(strstr(x->diagnosis.verdict, "one hipLaunchKernel of 6.00 ms") != NULL);
    CHECK(strstr(x->diagnosis.advice, "raph") == NULL); /* a graph would not help */
    check_verdict(x);
    drop(&m);
}

static void test_usual_calls_are_not_long(void)
{
    static const char *const calls[] = {"hipLaunchKernel", "cudaLaunchKernel", "launch"};
    static const char *const graphs[] = {"HIP graphs", "CUDA graphs", "recorded graph that"};
    for (int i = 0; i < 3; i++) {
        struct made m = make();
        launch_slowly(&m, calls[i], 5000);
        const struct assay__explain *x = explain(&m);
        CHECK_INT(x->diagnosis.id, ASSAY__DIAGNOSIS_LAUNCH_OVERHEAD);
        CHECK_INT(x->long_calls.count, 0);
        CHECK(strstr(x->diagnosis.advice, graphs[i]) != NULL);
        check_verdict(x);
        drop(&m);
    }
}

/* A call that is as long each time is paid in each step. */
static void test_calls_as_long_each_time(void)
{
    struct made m = make();
    for (uint64_t i = 1; i <= 10; i++) {
        int64_t now_ns = (int64_t)i * 1000000;
        put(&m, ASSAY__EVENT_RUNTIME, thread_of(&m, 1), "cudaMalloc", now_ns, now_ns + 800000, 0);
        launch(&m, now_ns + 800000, now_ns + 805000, i);
        kernel(&m, "a", now_ns + 806000, now_ns + 900000, i);
    }
    const struct assay__explain *x = explain(&m);
    CHECK_INT(x->diagnosis.id, ASSAY__DIAGNOSIS_STARVED);
    CHECK_INT(x->long_calls.count, 0);
    check_verdict(x);
    drop(&m);
}

/* Ten steps of launches one by one; the first one loads something for that long. */
static void step_slowly(struct made *m, int64_t load_ns)
{
    int64_t now_ns = 0;
    for (int i = 0; i < 100; i++) {
        char name[32];
        uint64_t id = (uint64_t)i + 1;
        int64_t began_ns = now_ns;
        launch(m, now_ns, now_ns + 5000, id);
        kernel(m, "a", now_ns + 6000, now_ns + 9000, id);
        now_ns += 20000;
        if (i == 4 && load_ns) {
            put(m, ASSAY__EVENT_CPU, thread_of(m, 1), "load", now_ns, now_ns + load_ns, 0);
            now_ns += load_ns;
        }
        snprintf(name, sizeof name, "step %d", i / 10);
        if (i % 10 == 9)
            put(m, ASSAY__EVENT_RANGE, thread_of(m, 1), name, i == 9 ? 0 : began_ns - 9 * 20000,
                now_ns, 0);
    }
}

/* A first step that takes longer than all others does not decide; a somewhat longer one is one of
 * them. */
static void test_first_step(void)
{
    struct made m = make();
    step_slowly(&m, 20000000);
    const struct assay__explain *x = explain(&m);
    CHECK_INT(x->steps.count, 10);
    CHECK(x->loss_ns[ASSAY__LOSS_STARVATION] > x->span_ns / 2); /* the tables are of all */
    CHECK_INT(x->diagnosis.id, ASSAY__DIAGNOSIS_LAUNCH_OVERHEAD);
    CHECK_HAS(x->diagnosis.verdict, "after the first step");
    CHECK_HAS(x->diagnosis.evidence, "step 0");
    CHECK_NEAR(x->diagnosis.cost, 17.0 / 20, 0.02);
    CHECK_INT(x->scenarios[0].verdict, ASSAY__VERDICT_YES);
    check_verdict(x);
    check_sums(x);
    drop(&m);
    m = make();
    step_slowly(&m, 300000);
    x = explain(&m);
    CHECK_INT(x->diagnosis.id, ASSAY__DIAGNOSIS_LAUNCH_OVERHEAD);
    CHECK(strstr(x->diagnosis.verdict, "first step") == NULL);
    drop(&m);
}

/* The trace lasts as long as the program was seen, also by samples alone; not as long as marks. */
static void test_extent(void)
{
    struct made m = make();
    kernel(&m, "a", 1000, 2000, 0);
    put(&m, ASSAY__EVENT_SAMPLE, thread_of(&m, 1), "main", 500, 9000, 0);
    put(&m, ASSAY__EVENT_ALLOCATION, thread_of(&m, 1), "malloc", 100, 100, 0);
    put(&m, ASSAY__EVENT_DEVICE_STATE, stream_of(&m, 0, 9), "P0", 0, 20000, 0);
    const struct assay__explain *x = explain(&m);
    CHECK_INT(x->timeline->first_ns, 500);
    CHECK_INT(x->timeline->last_ns, 9000);
    CHECK_INT(x->span_ns, 1000);
    drop(&m);
}

static void test_no_host_is_unknown(void)
{
    struct made m = make();
    kernel(&m, "a", 0, 1000, 0);
    put(&m, ASSAY__EVENT_COPY, stream_of(&m, 0, 7), "Blit", 3000, 4000, 0);
    const struct assay__explain *x = explain(&m);
    struct assay_metrics *set = assay__gpu_metrics(x, 0);
    CHECK(!x->devices[0].host);
    CHECK_INT(assay_metrics_get(set, "gpu.copies")->state, ASSAY_UNAVAILABLE);
    CHECK_INT(assay_metrics_get(set, "gpu.transfers")->state, ASSAY_UNAVAILABLE);
    check_verdict(x);
    assay_metrics_free(set);
    drop(&m);
}

/* Random events of all kinds, on tracks that exist or not: the sums hold whatever they are. */
static void scatter(struct made *m, struct assay__random *random, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        enum assay__event_kind kind = (enum assay__event_kind)assay__random_below(
            random, ASSAY__EVENT_KINDS);
        bool device = kind <= ASSAY__EVENT_DEVICE_STATE;
        uint64_t pick = assay__random_below(random, 20);
        m->rank = (int32_t)assay__random_below(random, 2);
        uint32_t track = pick == 0                   ? ASSAY__EVENT_UNKNOWN
                         : device == (pick % 7 != 0) ? stream_of(m, (int32_t)(pick % 2), pick % 3)
                                                     : thread_of(m, (int64_t)pick % 3);
        int64_t start_ns = (int64_t)assay__random_below(random, 2000000);
        char name[32];
        snprintf(name, sizeof name, pick % 4 ? "n%d" : "ProfilerStep#%d", (int)pick);
        put(m, kind, track, name, start_ns,
            start_ns + (int64_t)assay__random_below(random, pick % 5 ? 3000 : 200000),
            assay__random_below(random, count));
    }
}

static void test_random_stores(void)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct assay__random random;
        struct made m = make();
        assay__random_seed(&random, seed);
        scatter(&m, &random, 20 + seed * 10);
        check_sums(explain(&m));
        check_verdict(m.x);
        drop(&m);
    }
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"busy_is_a_union", test_busy_is_a_union},
        {"metrics", test_metrics},
        {"launch_gap_and_dependency", test_launch_gap_and_dependency},
        {"unknown_without_launches", test_unknown_without_launches},
        {"drained_by_synchronisation", test_drained_by_synchronisation},
        {"late_wait_does_not_drain", test_late_wait_does_not_drain},
        {"copies_that_block", test_copies_that_block},
        {"scalar_reads_are_synchronisation", test_scalar_reads_are_synchronisation},
        {"blocking_reads_of_numbers", test_blocking_reads_of_numbers},
        {"copies_on_the_device", test_copies_on_the_device},
        {"copies_hidden_by_kernels", test_copies_hidden_by_kernels},
        {"host_causes", test_host_causes},
        {"host_causes_of_another_thread", test_host_causes_of_another_thread},
        {"profiler_time", test_profiler_time},
        {"hta_classes", test_hta_classes},
        {"kernels_and_operators", test_kernels_and_operators},
        {"host_functions", test_host_functions},
        {"steps_of_annotations", test_steps_of_annotations},
        {"steps_of_launches", test_steps_of_launches},
        {"no_steps", test_no_steps},
        {"replay_without_waiting", test_replay_without_waiting},
        {"path_through_the_device", test_path_through_the_device},
        {"straggler", test_straggler},
        {"difference_adds_up", test_difference_adds_up},
        {"nothing", test_nothing},
        {"absurd_times_are_refused", test_absurd_times_are_refused},
        {"one_long_call_is_named", test_one_long_call_is_named},
        {"usual_calls_are_not_long", test_usual_calls_are_not_long},
        {"calls_as_long_each_time", test_calls_as_long_each_time},
        {"first_step", test_first_step},
        {"extent", test_extent},
        {"no_host_is_unknown", test_no_host_is_unknown},
        {"random_stores", test_random_stores},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
