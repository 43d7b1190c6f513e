"""schema_check.py - is a JSON report what doc/design.md section 10 promises? Standard library only.

    python3 tests/schema_check.py run FILE      FILE is what `assay run --json` or `assay report --json` printed
    python3 tests/schema_check.py devices FILE
    python3 tests/schema_check.py doctor FILE

Prints every fault, one per line, and exits with 1 if there is one.
"""

import json
import math
import sys

STATES = {"measured", "derived", "estimated", "published", "unavailable"}
NUMBER = (int, float)
faults = []


def fault(where, what):
    faults.append(f"{where}: {what}")


def member(where, holder, name, kinds, null=False):
    """The member must exist; null only where a number or text may be unknown."""
    if not isinstance(holder, dict) or name not in holder:
        fault(where, f"no member '{name}'")
        return None
    value = holder[name]
    if value is None:
        if not null:
            fault(f"{where}.{name}", "is null")
        return None
    if isinstance(value, bool) and kinds is not bool:
        fault(f"{where}.{name}", "is a boolean")
    elif not isinstance(value, kinds):
        fault(f"{where}.{name}", f"is a {type(value).__name__}")
    return value


def texts(where, holder, name):
    for i, item in enumerate(member(where, holder, name, list) or []):
        if not isinstance(item, str):
            fault(f"{where}.{name}[{i}]", "is not text")


def tensors(where, holder, name):
    for i, tensor in enumerate(member(where, holder, name, list) or []):
        at = f"{where}.{name}[{i}]"
        member(at, tensor, "name", str)
        member(at, tensor, "dtype", str, null=True)
        for size in member(at, tensor, "shape", list, null=True) or []:
            if not (size is None or isinstance(size, (int, str))):
                fault(at, f"shape holds {size!r}")


def metrics(where, holder):
    for name, metric in (member(where, holder, "metrics", dict) or {}).items():
        at = f"{where}.metrics[{name}]"
        value = member(at, metric, "value", NUMBER, null=True)
        member(at, metric, "unit", str)
        state = member(at, metric, "state", str)
        source = member(at, metric, "source", str)
        note = member(at, metric, "note", str)
        if state not in STATES:
            fault(at, f"state {state!r}")
        if (value is None) != (state == "unavailable"):
            fault(at, f"value {value!r} and state {state!r}")
        if value is not None and not math.isfinite(value):
            fault(at, "value is not finite")
        if state == "unavailable" and not note:
            fault(at, "unavailable without a reason")
        if state != "unavailable" and not source:
            fault(at, "a value without a source")


def layers(where, trial):
    total = 0.0
    rows = member(where, trial, "layers", list) or []
    for i, layer in enumerate(rows):
        at = f"{where}.layers[{i}]"
        member(at, layer, "index", int)
        for name in ("name", "op", "method", "note"):
            member(at, layer, name, str)
        member(at, layer, "provider", str, null=True)
        time = member(at, layer, "time_us", NUMBER, null=True)
        for name in ("share", "flops", "bytes", "host_enqueue_us"):
            member(at, layer, name, NUMBER, null=True)
        if member(at, layer, "bound", str) not in ("compute", "memory", "overhead", "unknown"):
            fault(at, f"bound {layer.get('bound')!r}")
        if layer.get("state") not in STATES or (time is None) != (layer.get("state") == "unavailable"):
            fault(at, f"time {time!r} and state {layer.get('state')!r}")
        texts(at, layer, "from")
        total = None if time is None or total is None else total + time
    engine = member(where, trial, "engine_us", NUMBER, null=True)
    rest = member(where, trial, "unattributed_us", NUMBER, null=True)
    p50 = trial.get("metrics", {}).get("latency.p50", {}).get("value")
    if rows and total is not None and None not in (engine, rest, p50):
        if abs(total + engine + rest - p50 * 1e6) > 1e-6 * max(1.0, p50 * 1e6):
            fault(where, f"layers + engine + unattributed = {total + engine + rest} us, p50 = {p50 * 1e6} us")


def trial_check(where, trial):
    member(where, trial, "id", int)
    if member(where, trial, "state", str) not in ("ok", "failed", "skipped", "running", "interrupted"):
        fault(where, f"state {trial.get('state')!r}")
    if member(where, trial, "reason", str, null=True) is None and trial.get("state") in ("failed", "skipped"):
        fault(where, "failed without a reason")
    target = member(where, trial, "target", dict)
    for name in ("engine", "device"):
        member(f"{where}.target", target, name, str)
    member(f"{where}.target", target, "engine_version", str, null=True)
    member(f"{where}.target", target, "options", dict)
    workload = member(where, trial, "workload", dict)
    member(f"{where}.workload", workload, "batch", int, null=True)
    tensors(f"{where}.workload", workload, "inputs")
    stability = member(where, trial, "stability", dict)
    verdict = member(f"{where}.stability", stability, "verdict", str, null=True)
    if verdict not in (None, "stable", "unstable", "too-few"):
        fault(f"{where}.stability", f"verdict {verdict!r}")
    texts(f"{where}.stability", stability, "reasons")
    member(f"{where}.stability", stability, "more_iterations", int, null=True)
    metrics(where, trial)
    for i, launch in enumerate(member(where, trial, "launches", list) or []):
        at = f"{where}.launches[{i}]"
        member(at, launch, "id", int)
        member(at, launch, "state", str)
        member(at, launch, "reason", str, null=True)
        member(at, launch, "samples", int)
        member(at, launch, "p50_us", NUMBER, null=True)
    layers(where, trial)


def assay(root):
    head = member("$", root, "assay", dict)
    member("$.assay", head, "version", str)
    member("$.assay", head, "schema", int)
    member("$", root, "command", str)


def run(root):
    assay(root)
    member("$", root, "command_line", str, null=True)
    member("$", root, "created", str, null=True)
    member("$", root, "complete", bool)
    member("$", root, "interrupted", bool)
    environment = member("$", root, "environment", dict)
    for name in ("host", "os", "kernel", "virtualized"):
        member("$.environment", environment, name, str, null=True)
    member("$.environment", environment, "memory_bytes", NUMBER, null=True)
    texts("$.environment", environment, "disturbances")
    cpu = member("$.environment", environment, "cpu", dict)
    member("$.environment.cpu", cpu, "model", str, null=True)
    for name in ("cores", "threads"):
        member("$.environment.cpu", cpu, name, int, null=True)
    model = member("$", root, "model", dict)
    for name in ("name", "path", "format", "fingerprint"):
        member("$.model", model, name, str, null=True)
    member("$.model", model, "parameters", int, null=True)
    for i, operator in enumerate(member("$.model", model, "operators", list) or []):
        member(f"$.model.operators[{i}]", operator, "op", str)
        member(f"$.model.operators[{i}]", operator, "count", int)
        for name in ("flops", "macs", "bytes"):
            member(f"$.model.operators[{i}]", operator, name, NUMBER, null=True)
    tensors("$.model", model, "inputs")
    tensors("$.model", model, "outputs")
    for i, trial in enumerate(member("$", root, "trials", list) or []):
        trial_check(f"$.trials[{i}]", trial)
    for i, finding in enumerate(member("$", root, "findings", list) or []):
        at = f"$.findings[{i}]"
        for name in ("id", "severity", "title"):
            member(at, finding, name, str)
        texts(at, finding, "evidence")
        member(at, finding, "advice", str, null=True)
        for name in ("expected_gain", "verified_gain"):
            member(at, finding, name, NUMBER, null=True)


def devices(root):
    assay(root)
    for i, device in enumerate(member("$", root, "devices", list) or []):
        at = f"$.devices[{i}]"
        for name in ("name", "class", "engine"):
            member(at, device, name, str)
        member(at, device, "library", str, null=True)
        available = member(at, device, "available", bool)
        reason = member(at, device, "reason", str, null=True)
        if available is False and not reason:
            fault(at, "not available and no reason")
        member(at, device, "ceilings", dict)
    member("$", root, "cpu", dict)


def doctor(root):
    assay(root)
    for i, check in enumerate(member("$", root, "checks", list) or []):
        at = f"$.checks[{i}]"
        member(at, check, "id", str)
        if member(at, check, "verdict", str) not in ("good", "warning", "missing", "unknown"):
            fault(at, f"verdict {check.get('verdict')!r}")
        member(at, check, "finding", str)
        advice = member(at, check, "advice", str, null=True)
        if check.get("verdict") in ("warning", "missing") and not advice:
            fault(at, "says what is wrong but not what would help")


def main():
    kinds = {"run": run, "devices": devices, "doctor": doctor}
    if len(sys.argv) != 3 or sys.argv[1] not in kinds:
        sys.exit(__doc__)

    def no_constants(name):
        raise ValueError(f"{name} is not JSON")

    with open(sys.argv[2], encoding="utf-8") as file:
        root = json.load(file, parse_constant=no_constants)
    kinds[sys.argv[1]](root)
    for line in faults:
        print(line)
    sys.exit(1 if faults else 0)


main()
