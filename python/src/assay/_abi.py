"""The structures and functions of libassay, as include/assay/*.h declares them.

tests/python/test_abi.py compares every size and offset with the kept ABI of the library (tests/golden/abi.txt).
"""

from __future__ import annotations

import ctypes
from typing import Any

_TYPES: dict[str, Any] = {
    "char*": ctypes.c_char_p,
    "char**": ctypes.POINTER(ctypes.c_char_p),
    "size": ctypes.c_size_t,
    "int": ctypes.c_int,
    "int*": ctypes.POINTER(ctypes.c_int),
    "int64": ctypes.c_int64,
    "int64*": ctypes.POINTER(ctypes.c_int64),
    "uint64": ctypes.c_uint64,
    "double": ctypes.c_double,
    "double*": ctypes.POINTER(ctypes.c_double),
    "bool": ctypes.c_bool,
    "void*": ctypes.c_void_p,
}
STRUCTS: dict[str, type[ctypes.Structure]] = {}  # by their name in C


def _struct(name: str, members: str, **types: Any) -> type[ctypes.Structure]:
    """A struct from "type member member; type member …"."""
    fields = []
    for line in members.split(";"):
        kind, *names = line.split()
        fields += [(member, types.get(kind) or _TYPES[kind]) for member in names]
    made = type(name, (ctypes.Structure,), {"_fields_": fields})
    STRUCTS[f"assay_{name}"] = made
    return made


ERROR_MESSAGE = 512
Error = _struct("error", "int code; message message; char* option", message=ctypes.c_char * ERROR_MESSAGE)
Metric = _struct("metric", "char* name; double value; char* unit; int state; char* source note")
MetricInfo = _struct("metric_info", "char* name unit summary unread; int needs")

Progress = _struct(
    "progress",
    "char* phase; int launch launches; double done; int point points; char* best; double left_s latency_s half_width",
)
ProgressFn = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(Progress))
HintFn = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p)
RemarkFn = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)

Workload = _struct(
    "workload_options",
    "char* model; int64 batch sequence; char** dims shapes inputs; size dim_count shape_count input_count; uint64 seed;"
    "int64 generate prompt",
)
Feedback = _struct("feedback_options", "char** states; size state_count; double seconds_per_inference")
Target = _struct("target_options", "char* engine device library optimization cpus; int threads streams; bool spinning_off")
Measuring = _struct(
    "measuring_options",
    "int launches; bool warmup_given; int64 warmup iterations; double time_s timeout_s launch_limit_s; int layers",
)
Watching = _struct("watching_options", "bool power memory counters; double interval_s; bool idle_given; double idle_s")
Keeping = _struct("keeping_options", "char* output; bool hash ceilings")
Callbacks = _struct("callbacks", "progress progress; remark remark; void* context; int* interrupt", progress=ProgressFn,
                    remark=RemarkFn)
Run = _struct(
    "run_options",
    "size size; workload workload; target target; measuring measuring; watching watching; keeping keeping;"
    "callbacks callbacks; feedback feedback",
    workload=Workload, target=Target, measuring=Measuring, watching=Watching, keeping=Keeping, callbacks=Callbacks,
    feedback=Feedback,
)
Grid = _struct("grid_options", "char* devices precision optimization threads sequence batch spinning")
Goal = _struct("goal_options", "char* goal slo memory_budget; bool allow_drift")
Compare = _struct("compare_options", "size size; char** models; size model_count; char* devices; bool no_drift no_placement")
Sweep = _struct("sweep_options", "size size; grid grid; goal goal; bool confirm resume", grid=Grid, goal=Goal)
Tune = _struct("tune_options", "size size; grid grid; goal goal; double budget_s; size configurations", grid=Grid, goal=Goal)
Bench = _struct("bench_options", "size size; char* only devices against")
Advise = _struct("advise_options", "size size; char** rules; size rule_count; int trial; char* model; bool verify; double budget_s")
Inspect = _struct("inspect_options", "size size; workload workload", workload=Workload)
Check = _struct(
    "check_options",
    "size size; workload workload; char* target chip engine library; double timeout_s; int* interrupt",
    workload=Workload,
)
Predict = _struct("predict_options", "size size; workload workload; char* chip unit precision", workload=Workload)
Devices = _struct(
    "devices_options", "size size; char* engine library device; double timeout_s; callbacks callbacks", callbacks=Callbacks
)
Report = _struct(
    "report_options",
    "size size; char* format; int columns; bool color ascii; int top; char* table detail; bool full; char* unfold; hint hint;"
    "char* sort; bool strict",
    hint=HintFn,
)
MeasureSamples = _struct("samples_options", "size size; bool warmup_given; int64 warmup; size calls; double step_ns")

ProfileInfo = _struct("profile_info", "size size; char* path kind created assay; bool complete interrupted")
Environment = _struct(
    "environment",
    "size size; char* host os kernel architecture cpu_model governor simd; int packages cores threads;"
    "double memory_bytes cpu_max_hz; char** disturbances; size disturbance_count",
)
Model = _struct(
    "model",
    "size size; char* name path format fingerprint sha256; int64 parameters weight_bytes node_count; char* opset producer",
)
Finding = _struct(
    "finding",
    "size size; char* id severity title advice; char** evidence; size evidence_count;"
    "double expected_gain verified_gain verified_low verified_high; char* state reason",
)
Ceiling = _struct("ceiling", "size size; char* device name; double value; char* unit; double low high; char* source note measured_at")
TrialInfo = _struct(
    "trial_info",
    "size size; int id state; char* reason label role; int64 batch; char** notes; size note_count; char* stability;"
    "char** stability_reasons; size stability_reason_count; int64 more_iterations",
)
TargetInfo = _struct(
    "target",
    "size size; char* engine engine_version engine_library device build device_class; bool software; int threads;"
    "bool threads_default; char* optimization; int streams; char* precision; bool spinning_off; char* cpus chip",
)
Input = _struct("input", "size size; char* name dtype; int rank; int64* dims; char* fill state")
LaunchInfo = _struct("launch_info", "size size; int id state; char* reason; int streams; size sample_count warmup; double wall_ns p50_ns")
Layers = _struct("layers", "size size count; char* method reason; double engine_ns unattributed_ns slowdown")
Layer = _struct(
    "layer",
    "size size; char* name op provider; int state; double time_ns low_ns high_ns share flops bytes; char* bound note;"
    "char** from; size from_count; char* title",
)
Series = _struct(
    "series",
    "size size; int launch; char* name unit probe source; int state; char* note; bool counter; size count;"
    "double* times_ns values",
)
CheckItem = _struct("check_item", "size size; char* rule severity node op reason fix source")
Device = _struct("device", "size size; char* name kind engine library version hardware; bool software available; char* reason")

# name: what it returns, then its arguments. "struct" is a pointer to a struct of the caller, "handle*" where a new object goes.
_FUNCTIONS = """
assay_version: char*
assay_error_name: char* int
assay_error_text: char* int
assay_free: none void*
assay_metric_lookup: info char*
assay_metrics_count: size void*
assay_metrics_at: metric void* size
assay_metrics_get: metric void* char*
assay_metrics_free: none void*
assay_run: int struct handle* error
assay_compare: int struct struct handle* error
assay_sweep: int struct struct handle* error
assay_tune: int struct struct handle* error
assay_bench: int struct struct handle* error
assay_advise: int struct struct handle* error
assay_inspect: int struct handle* error
assay_inspection_free: none void*
assay_inspection_metrics: void* void*
assay_inspection_conflicts: size void*
assay_inspection_report: int void* void* struct handle* size* error
assay_check: int struct handle* error
assay_check_free: none void*
assay_check_verdict: int void*
assay_check_item: bool void* size struct
assay_check_report: int void* struct handle* size* error
assay_predict: int struct handle* error
assay_prediction_free: none void*
assay_prediction_profile: void* void*
assay_prediction_report: int void* struct handle* size* error
assay_devices: int struct handle* error
assay_devices_at: bool void* size struct
assay_devices_free: none void*
assay_profile_open: int char* handle* error
assay_profile_recover: int void* error
assay_profile_close: none void*
assay_profile_read: bool void* struct
assay_profile_environment: bool void* struct
assay_profile_model: bool void* size struct
assay_profile_finding: bool void* size struct
assay_profile_ceiling: bool void* size struct
assay_profile_trials: size void*
assay_profile_trial: void* void* size
assay_report: int void* struct handle* size* error
assay_report_figure: int void* char* handle* size* error
assay_trial_read: bool void* struct
assay_trial_target: bool void* struct
assay_trial_model: bool void* struct
assay_trial_input: bool void* size struct
assay_trial_metrics: void* void*
assay_trial_launch: void* void* size
assay_trial_layers: bool void* struct
assay_trial_layer: bool void* size struct
assay_trial_series: bool void* size struct
assay_launch_read: bool void* struct
assay_launch_metrics: void* void*
assay_launch_samples: double* void* int size*
assay_measure_samples: int double* size struct handle* error
"""


def declare(library: ctypes.CDLL) -> None:
    """Tells ctypes the types of every function. AttributeError: the library lacks one."""
    types = {
        **_TYPES,
        "none": None,
        "info": ctypes.POINTER(MetricInfo),
        "metric": ctypes.POINTER(Metric),
        "struct": ctypes.c_void_p,
        "handle*": ctypes.POINTER(ctypes.c_void_p),
        "size*": ctypes.POINTER(ctypes.c_size_t),
        "error": ctypes.POINTER(Error),
    }
    for line in _FUNCTIONS.split("\n"):
        if line:
            name, signature = line.split(":")
            result, *arguments = signature.split()
            function = getattr(library, name)
            function.restype = types[result]
            function.argtypes = [types[argument] for argument in arguments]
