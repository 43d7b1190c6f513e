"""schema_check.py - is a JSON report what doc/design.md section 10 promises? Standard library only.

    python3 tests/schema_check.py run FILE      FILE is what `assay run --json` or `assay report --json` printed
    python3 tests/schema_check.py devices FILE
    python3 tests/schema_check.py doctor FILE
    python3 tests/schema_check.py inspect FILE
    python3 tests/schema_check.py advise FILE
    python3 tests/schema_check.py check FILE

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
        for name in ("share", "flops", "bytes", "weight_bytes", "live_bytes", "host_enqueue_us"):
            member(at, layer, name, NUMBER, null=True)
        if member(at, layer, "bound", str) not in ("compute", "memory", "overhead", "neither", "unknown"):
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


VERDICTS_ORDER = ("fail", "unavailable", "pass", "none")


def score(where, holder):
    block = member(where, holder, "score", dict)
    total = member(f"{where}.score", block, "value", NUMBER, null=True)
    points = []
    for i, part in enumerate(member(f"{where}.score", block, "parts", list) or []):
        at = f"{where}.score.parts[{i}]"
        for name in ("name", "formula"):
            member(at, part, name, str)
        points.append(member(at, part, "points", NUMBER, null=True))
        of = member(at, part, "of", NUMBER)
        if (points[-1] is None) != bool(part.get("reason")):
            fault(at, f"points {points[-1]!r} and reason {part.get('reason')!r}")
        if points[-1] is not None and not 0 <= points[-1] <= of:
            fault(at, f"{points[-1]} of {of} points")
    if (total is None) != (None in points) or (total is not None and abs(total - sum(points)) > 1e-9):
        fault(f"{where}.score", f"value {total!r}, parts {points!r}")


def requirements(where, trial):
    """Only of a trial that was judged: every ratio follows from its values, every verdict from its ratio."""
    if "review" in trial:
        score(f"{where}.review", trial["review"])
        for name in ("bottlenecks", "opportunities", "recommendations"):
            texts(f"{where}.review", trial["review"], name)
    if "requirements" not in trial:
        return
    at, block = f"{where}.requirements", trial["requirements"]
    member(at, block, "table", str)
    member(at, block, "chip", str, null=True)
    score(at, block)
    seen = {"minimum": set(), "target": set()}
    for i, row in enumerate(member(at, block, "rows", list) or []):
        here = f"{at}.rows[{i}]"
        for name in ("name", "metric", "unit", "level"):
            member(here, row, name, str)
        for name in ("reason", "note", "unreachable", "beyond_device", "recommendation"):
            member(here, row, name, str, null=True)
        value = member(here, row, "value", NUMBER, null=True)
        if (value is None) != (row.get("state") == "unavailable") or (value is None) != bool(row.get("reason")):
            fault(here, f"value {value!r}, state {row.get('state')!r}, reason {row.get('reason')!r}")
        for column in ("minimum", "target"):
            cell = member(here, row, column, dict)
            asked = member(here, cell, "value", NUMBER, null=True)
            ratio = member(here, cell, "ratio", NUMBER, null=True)
            verdict = "none" if asked is None else "unavailable" if value is None else None
            if verdict is None:
                if abs(ratio - value / asked) > 1e-9 * abs(ratio):
                    fault(here, f"{column}: ratio {ratio}, but {value} / {asked}")
                met = ratio >= 1 if row.get("kind") == "floor" else ratio <= 1
                verdict = "pass" if met else "fail"
            if cell.get("verdict") != verdict:
                fault(here, f"{column}: verdict {cell.get('verdict')!r}, expected {verdict!r}")
            seen[column].add(verdict)
    for column, verdicts in seen.items():
        expected = next((v for v in VERDICTS_ORDER if v in verdicts), "none")
        if block.get(column) != expected:
            fault(at, f"{column} {block.get(column)!r}, its rows say {expected!r}")


def generation(where, trial):
    """Only a trial that generated text has one; its times are those of the metrics."""
    asked = trial.get("target", {}).get("options", {}).get("generate")
    if (asked is None) != ("generation" not in trial):
        fault(where, f"generate {asked!r}, but generation {'' if 'generation' in trial else 'not '}there")
    if asked is None or "generation" not in trial:
        return
    at, block = f"{where}.generation", trial["generation"]
    if member(at, block, "tokens", int) != int(asked):
        fault(at, f"tokens {block.get('tokens')!r}, asked {asked}")
    member(at, block, "prompt", int)
    for name in ("batch", "generations", "dropped"):
        member(at, block, name, int, null=True)
    for name, keys in (("ttft_us", ["p50", "p90", "p99"]),
                       ("itl_us", ["p50", "p90", "p99", "first_quarter", "last_quarter"])):
        times = member(at, block, name, dict)
        for key in keys:
            member(f"{at}.{name}", times, key, NUMBER, null=True)
    ids = member(at, block, "token_ids", list) or []
    if len(ids) > int(asked) or not all(isinstance(i, int) for i in ids):
        fault(at, f"token_ids {ids!r}")
    last = 0
    for i, row in enumerate(block.get("token_times", [])):
        here = f"{at}.token_times[{i}]"
        if not last < member(here, row, "token", int) <= int(asked):
            fault(here, f"token {row.get('token')!r} after {last}")
        last = row.get("token", last)
        for name in ("at_us", "step_us", "low_us", "high_us"):
            member(here, row, name, NUMBER, null=True)
    p50 = trial.get("metrics", {}).get("llm.ttft", {}).get("value")
    told = block.get("ttft_us", {}).get("p50")
    if (p50 is None) != (told is None) or (p50 is not None and abs(p50 * 1e6 - told) > 1e-6 * told):
        fault(at, f"ttft_us.p50 {told!r}, llm.ttft {p50!r} s")


def time_steps(where, trial):
    """Of a recurrent cell only: rows of steps and of groups, each adding up to the latency."""
    if "time_steps" not in trial:
        return
    summary = member(where, trial, "time_steps", dict)
    for name in ("cell", "form", "state", "note"):
        member(f"{where}.time_steps", summary, name, str)
    member(f"{where}.time_steps", summary, "count", int)
    member(f"{where}.time_steps", summary, "per_step_us", NUMBER, null=True)
    p50 = trial.get("metrics", {}).get("latency.p50", {}).get("value")
    for key, title in (("steps", "name"), ("groups", "group")):
        total = 0.0
        rows = member(where, trial, key, list) or []
        for i, row in enumerate(rows):
            at = f"{where}.{key}[{i}]"
            member(at, row, title, str)
            member(at, row, "kind", str)
            time = member(at, row, "time_us", NUMBER, null=True)
            for name in ("share", "flops"):
                member(at, row, name, NUMBER, null=True)
            if row.get("state") not in STATES or (time is None) != (row.get("state") == "unavailable"):
                fault(at, f"time {time!r} and state {row.get('state')!r}")
            if time is None and not member(at, row, "note", str) and row.get("kind") not in ("engine", "unattributed"):
                fault(at, "unavailable without a reason")
            lost = time is None and (row.get("layers") or row.get("kind") in ("engine", "unattributed"))
            total = None if lost or total is None else total + (time or 0.0)
        if trial.get("layers") and total is not None and p50 is not None:
            if abs(total - p50 * 1e6) > 1e-6 * max(1.0, p50 * 1e6):
                fault(where, f"{key} add up to {total} us, p50 = {p50 * 1e6} us")


def finite(where, holder, *names):
    """Numbers that may be unknown."""
    for name in names:
        value = member(where, holder, name, NUMBER, null=True)
        if value is not None and not math.isfinite(value):
            fault(f"{where}.{name}", "is not finite")


def series(where, trial):
    seen = set()
    for i, one in enumerate(member(where, trial, "series", list) or []):
        at = f"{where}.series[{i}]"
        for name in ("name", "unit", "source", "note", "state"):
            member(at, one, name, str)
        for name in ("quantity", "rail", "probe"):
            member(at, one, name, str, null=True)
        launch = member(at, one, "launch", int)
        for name in ("counter", "update_period_is_bound"):
            member(at, one, name, bool)
        period = member(at, one, "update_period_s", NUMBER, null=True)
        if period is not None and not period > 0:
            fault(at, f"update_period_s {period!r}")
        if not one.get("name") or (one.get("name"), launch) in seen:
            fault(at, f"name {one.get('name')!r} is empty or stands twice")
        seen.add((one.get("name"), launch))
        count = member(at, one, "count", int)
        times = member(at, one, "times_s", list) or []
        values = member(at, one, "values", list) or []
        if not len(times) == len(values) == count:
            fault(at, f"count {count}, {len(times)} times, {len(values)} values")
        if any(not isinstance(time, NUMBER) for time in times) or times != sorted(times):
            fault(at, "times are not numbers in order")
        if any(value is not None and (isinstance(value, bool) or not isinstance(value, NUMBER)) for value in values):
            fault(at, "values are neither numbers nor null")
        if one.get("state") not in STATES:
            fault(at, f"state {one.get('state')!r}")
        if one.get("state") == "unavailable" and not one.get("note"):
            fault(at, "unavailable without a reason")
        if one.get("state") != "unavailable" and not one.get("source"):
            fault(at, "values without a source")
    for i, span in enumerate(member(where, trial, "spans", list) or []):
        at = f"{where}.spans[{i}]"
        if member(at, span, "kind", str) not in ("idle", "measure"):
            fault(at, f"kind {span.get('kind')!r}")
        member(at, span, "launch", int)
        begin, end = (member(at, span, name, NUMBER) for name in ("begin_s", "end_s"))
        if None not in (begin, end) and begin > end:
            fault(at, "ends before it begins")
        member(at, span, "completions", int, null=True)


def allocations(where, trial):
    block = member(where, trial, "allocations", dict, null=True)
    reason = member(where, trial, "allocations_reason", str, null=True)
    if block is None:
        if not reason:
            fault(where, "has neither allocations nor a reason")
        return
    at = f"{where}.allocations"
    finite(at, block, "growth_bytes", "growth_low_bytes", "growth_high_bytes", "heap_bytes", "heap_used_bytes",
           "slowdown")
    phases = [member(f"{at}.phases[{i}]", phase, "phase", str)
              for i, phase in enumerate(member(at, block, "phases", list) or [])]
    for i, phase in enumerate(block.get("phases", [])):
        member(f"{at}.phases[{i}]", phase, "inferences", int, null=True)
        finite(f"{at}.phases[{i}]", phase, "count", "bytes", "freed_count", "freed_bytes", "live_bytes",
               "peak_live_bytes")
    for key in ("classes", "sites"):
        for i, row in enumerate(member(at, block, key, list) or []):
            if member(f"{at}.{key}[{i}]", row, "phase", str) not in phases:
                fault(f"{at}.{key}[{i}]", f"phase {row.get('phase')!r} is none")
            finite(f"{at}.{key}[{i}]", row, "count", "bytes")
            if key == "classes":
                finite(f"{at}.{key}[{i}]", row, "low_bytes", "high_bytes")
            else:
                member(f"{at}.{key}[{i}]", row, "site", str)
                finite(f"{at}.{key}[{i}]", row, "live_bytes")


def counters(where, trial):
    block = member(where, trial, "counters", dict, null=True)
    if block is None:
        return
    at = f"{where}.counters"
    names = member(at, block, "names", list) or []
    texts(at, block, "names")
    rows = member(at, block, "classes", list) or []
    if not member(at, block, "note", str) and not rows:
        fault(at, "no counters of layer classes and no reason")
    for i, row in enumerate(rows):
        member(f"{at}.classes[{i}]", row, "op", str)
        member(f"{at}.classes[{i}]", row, "layers", int, null=True)
        finite(f"{at}.classes[{i}]", row, "time_us")
        values = member(f"{at}.classes[{i}]", row, "values", dict) or {}
        if sorted(values) != sorted(names):
            fault(f"{at}.classes[{i}]", f"values of {sorted(values)}, names are {sorted(names)}")
        finite(f"{at}.classes[{i}]", values, *values)


def kept_ceilings(root):
    for i, row in enumerate(member("$", root, "ceilings", list) or []):
        at = f"$.ceilings[{i}]"
        for name in ("device", "name", "source", "note"):
            member(at, row, name, str)
        if member(at, row, "unit", str) not in ("FLOP/s", "OP/s", "B/s", "s"):
            fault(at, f"unit {row.get('unit')!r}")
        value = member(at, row, "value", NUMBER, null=True)
        finite(at, row, "low", "high")
        member(at, row, "measured_at", str, null=True)
        if row.get("state") not in STATES or (value is None) != (row.get("state") == "unavailable"):
            fault(at, f"value {value!r} and state {row.get('state')!r}")
        if value is None and not row.get("note"):
            fault(at, "unavailable without a reason")
        if value is not None and not value > 0:
            fault(at, f"value {value!r}")


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
    generation(where, trial)
    requirements(where, trial)
    for i, launch in enumerate(member(where, trial, "launches", list) or []):
        at = f"{where}.launches[{i}]"
        member(at, launch, "id", int)
        member(at, launch, "state", str)
        member(at, launch, "reason", str, null=True)
        member(at, launch, "samples", int)
        member(at, launch, "p50_us", NUMBER, null=True)
    layers(where, trial)
    time_steps(where, trial)
    series(where, trial)
    allocations(where, trial)
    counters(where, trial)


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
    kept_ceilings(root)
    findings(root)


def findings(root):
    for i, finding in enumerate(member("$", root, "findings", list) or []):
        at = f"$.findings[{i}]"
        for name in ("id", "severity", "title"):
            member(at, finding, name, str)
        texts(at, finding, "evidence")
        for name in ("advice", "effort", "state", "reason"):
            member(at, finding, name, str, null=True)
        for name in ("expected_gain", "verified_gain", "energy_saving", "verified_low", "verified_high",
                     "smallest_difference", "verified_energy", "verified_energy_low",
                     "verified_energy_high", "drift_relative_l2"):
            member(at, finding, name, NUMBER, null=True)
        for name in ("tried", "verified_of", "drift_note"):
            member(at, finding, name, str, null=True)
        if finding["state"] == "verified" and not finding["verified_gain"]:
            fault(at, "verified without a gain")
        if finding["state"] == "withdrawn" and not finding["reason"]:
            fault(at, "withdrawn without a reason")


def advise(root):
    findings(root)
    found = [finding["id"] for finding in root["findings"]]
    for i, finding in enumerate(root["findings"]):
        if not finding["evidence"]:
            fault(f"$.findings[{i}]", "without evidence")
        if finding["severity"] not in ("high", "medium", "low", "note"):
            fault(f"$.findings[{i}].severity", repr(finding["severity"]))
    outcomes = {"found": 0, "nothing": 0, "not-evaluated": 0}
    for i, rule in enumerate(member("$", root, "rules", list) or []):
        at = f"$.rules[{i}]"
        outcome = member(at, rule, "outcome", str)
        if outcome not in outcomes:
            fault(at, f"outcome {outcome!r}")
            continue
        outcomes[outcome] += 1
        if (outcome == "not-evaluated") != bool(member(at, rule, "missing", str, null=True)):
            fault(at, "what is missing is not named, or named of a rule that was evaluated")
        if (outcome == "found") != (member(at, rule, "id", str) in found):
            fault(at, "the findings do not agree")
        member(at, rule, "change", dict, null=True)
    verification = member("$", root, "verification", dict, null=True)
    if verification:
        for name in ("launches", "changes", "tried", "verified", "withdrawn"):
            member("$.verification", verification, name, int)
        for name in ("budget_s", "spent_s", "baseline_us"):
            member("$.verification", verification, name, NUMBER, null=True)
        if verification["tried"] != verification["verified"] + verification["withdrawn"]:
            fault("$.verification", "tried is not verified and withdrawn together")
    summary = member("$", root, "summary", dict) or {}
    for name, outcome in (("found", "found"), ("nothing", "nothing"), ("not_evaluated", "not-evaluated")):
        if summary.get(name) != outcomes[outcome]:
            fault(f"$.summary.{name}", f"is {summary.get(name)}, the rules say {outcomes[outcome]}")


def inspect_layer(where, layer, index):
    if member(where, layer, "index", int) != index:
        fault(where, "index is not its place")
    for name in ("name", "op", "domain"):
        member(where, layer, name, str)
    for name in ("inputs", "outputs"):
        given = [value for value in member(where, layer, name, list) or [] if value is not None]
        tensors(where, {name: given}, name)
    for name in ("flops", "macs", "bytes_read", "bytes_written", "bytes_weights", "memory_bytes", "live_bytes", "intensity"):
        value = member(where, layer, name, NUMBER, null=True)
        if value is not None and value < 0:
            fault(f"{where}.{name}", "is negative")


def inspect(root):
    assay(root)
    model = member("$", root, "model", dict)
    for name in ("name", "format", "fingerprint"):
        member("$.model", model, name, str)
    for name in ("path", "producer", "external_missing"):
        member("$.model", model, name, str, null=True)
    for name in ("nodes", "subgraphs", "subgraph_nodes", "functions_inlined", "external_tensors"):
        member("$.model", model, name, int)
    member("$.model", model, "parameters", int, null=True)
    for i, operator in enumerate(member("$.model", model, "operators", list) or []):
        for name in ("op", "domain"):
            member(f"$.model.operators[{i}]", operator, name, str)
        for name in ("count", "unknown"):
            member(f"$.model.operators[{i}]", operator, name, int)
        for name in ("flops", "macs", "bytes"):
            member(f"$.model.operators[{i}]", operator, name, NUMBER, null=True)
    tensors("$.model", model, "inputs")
    tensors("$.model", model, "outputs")
    metrics("$", root)
    totals = member("$", root, "totals", dict)
    for name in ("flops", "macs", "bytes_read", "bytes_written", "bytes_weights"):
        member("$.totals", totals, name, NUMBER, null=True)
    left_out = [member("$.totals", totals, name, int) for name in ("nodes_without_flops", "nodes_without_bytes")]
    unknown = member("$", root, "unknown_operators", list) or []
    for i, operator in enumerate(unknown):
        for name in ("op", "domain", "why"):
            member(f"$.unknown_operators[{i}]", operator, name, str)
        counts = [member(f"$.unknown_operators[{i}]", operator, name, int)
                  for name in ("count", "without_flops", "without_bytes")]
        if not max(counts[1:]) <= counts[0] <= sum(counts[1:]):
            fault(f"$.unknown_operators[{i}]", f"{counts[0]} nodes, without FLOPs or bytes {counts[1:]}")
    listed = [sum(operator.get(name, 0) for operator in unknown) for name in ("without_flops", "without_bytes")]
    if listed != left_out:
        fault("$.unknown_operators", f"lists {listed} without FLOPs and bytes, but the totals leave out {left_out}")
    for i, conflict in enumerate(member("$", root, "conflicts", list) or []):
        for name in ("node", "op", "producer", "message"):
            member(f"$.conflicts[{i}]", conflict, name, str)
    memory = member("$", root, "memory", dict)
    peak = member("$.memory", memory, "peak_bytes", NUMBER, null=True)
    bodies = member("$.memory", memory, "inside_bodies_bytes", NUMBER, null=True)
    if (peak is not None and bool(root.get("layers"))) != (bodies is not None):
        fault("$.memory.inside_bodies_bytes", f"{bodies} at a peak of {peak}")
    alive = [tensor.get("bytes") for tensor in member("$.memory", memory, "tensors", list) or []]
    rows = member("$", root, "layers", list) or []
    if len(rows) != (model or {}).get("nodes"):
        fault("$.layers", "are not as many as the nodes")
    for i, layer in enumerate(rows):
        inspect_layer(f"$.layers[{i}]", layer, i)
    live = [layer.get("live_bytes") for layer in rows]
    if peak is not None and live and None not in live and max(live) != peak:
        fault("$.memory", f"peak {peak}, but the largest live_bytes is {max(live)}")
    if bodies is not None and abs(sum(alive) + bodies - peak) > 1e-9 * peak:
        fault("$.memory", f"peak {peak}, but its tensors sum to {sum(alive)} and bodies to {bodies}")
    stored = [member(f"$.parameters[{i}]", kind, "bytes", int)
              for i, kind in enumerate(member("$", root, "parameters", list) or [])]
    if model.get("weight_bytes") is not None and sum(stored) != model["weight_bytes"]:
        fault("$.parameters", f"sum to {sum(stored)} bytes, the model's are {model['weight_bytes']}")
    for name in ("flops", "macs"):
        values = [layer.get(name) for layer in rows]
        if not left_out[0] and None not in values and abs(sum(values) - totals[name]) > 1e-9 * max(1.0, totals[name]):
            fault(f"$.totals.{name}", f"is {totals[name]}, the layers sum to {sum(values)}")
    member("$", root, "ncp", dict, null=True)


def ceiling(at, row):
    value = member(at, row, "value", (int, float), null=True)
    if member(at, row, "unit", str) not in ("FLOP/s", "OP/s", "B/s", "s"):
        fault(at, f"unit {row.get('unit')!r}")
    member(at, row, "threads", int)
    spread = member(at, row, "spread", (int, float), null=True)
    state = member(at, row, "state", str)
    if state == "measured":
        if value is None or not value > 0 or spread is None or spread < 0 or not row.get("repeats"):
            fault(at, "measured without a value, a spread or repeats")
    elif state != "unavailable" or value is not None or spread is not None or not row.get("note"):
        fault(at, "neither measured nor unavailable with a reason and no number")


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
        offered = member(at, device, "offered", bool)
        software = member(at, device, "software", bool)
        if available and (offered is False or reason):
            fault(at, "available, and not offered or with a reason")
        for name in ("build", "version", "hardware", "note"):
            member(at, device, name, str, null=True)
        if software and not (device.get("hardware") and device.get("note")):
            fault(at, "software, but not which or how that is known")
        for name, row in (member(at, device, "ceilings", dict) or {}).items():
            ceiling(f'{at}.ceilings["{name}"]', row)
        state = member(at, device, "ceilings_state", str)
        note = member(at, device, "ceilings_note", str, null=True)
        measurement = member(at, device, "ceilings_measurement", dict, null=True)
        if state == "measured":
            member(f"{at}.ceilings_measurement", measurement or {}, "measured_at", str)
        elif state != "unavailable" or not note:
            fault(at, f"ceilings are {state!r} because of {note!r}")
    names = [device.get("name") for device in root.get("devices", [])]
    if len(names) != len(set(names)):
        fault("$.devices", f"a name stands twice: {names}")
    builds = member("$", root, "builds", list) or []
    for i, build in enumerate(builds):
        for name in ("name", "library", "version", "reason"):
            member(f"$.builds[{i}]", build, name, str, null=True)
    for device in root.get("devices", []):
        if device.get("build") not in [build.get("name") for build in builds]:
            fault("$.devices", f"{device.get('name')!r} is of a build that is not there")
    member("$", root, "interrupted", bool)
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
    for i, probe in enumerate(member("$", root, "probes", list) or []):
        at = f"$.probes[{i}]"
        member(at, probe, "name", str)
        cost = member(at, probe, "read_us", (int, float), null=True)
        reason = member(at, probe, "reason", str, null=True)
        if member(at, probe, "available", bool) is False and (not reason or cost is not None):
            fault(at, "not available, and no reason or a cost")
        for channel in member(at, probe, "channels", list) or []:
            if channel.get("value") is None and not channel.get("reason"):
                fault(at, f"channel {channel.get('name')!r} has neither value nor reason")


def check_partitions(at, parts):
    for side in ("target", "elsewhere", "unknown"):
        holder = member(at, parts, side, dict) or {}
        for name in ("nodes", "flops"):
            if (member(f"{at}.{side}", holder, name, NUMBER) or 0) < 0:
                fault(f"{at}.{side}.{name}", "is negative")
    share = member(at, parts, "flops_share", NUMBER, null=True)
    if share is not None and not 0 <= share <= 1:
        fault(f"{at}.flops_share", f"is {share}")
    segments = member(at, parts, "map", list) or []
    if sum(s["nodes"] for s in segments) != sum(parts[s]["nodes"] for s in ("target", "elsewhere", "unknown")):
        fault(f"{at}.map", "its nodes are not those of the sides")
    for one, other in zip(segments, segments[1:]):
        if one["on_target"] == other["on_target"]:
            fault(f"{at}.map", "two segments of one side follow each other")


def check(root):
    member("$", root, "target", str)
    verdict = member("$", root, "verdict", str, null=True)
    if verdict not in ("pass", "warn", "fail", None):
        fault("$.verdict", repr(verdict))
    if verdict is None and not member("$", root, "reason", str):
        fault("$", "no verdict and no reason")
    severities = set()
    for i, item in enumerate(member("$", root, "items", list) or []):
        at = f"$.items[{i}]"
        for name in ("rule", "reason", "fix", "source"):
            if not member(at, item, name, str):
                fault(at, f"{name} is empty")
        for name in ("node", "op"):
            member(at, item, name, str, null=True)
        severities.add(member(at, item, "severity", str))
    if not severities <= {"error", "warning", "note"}:
        fault("$.items", f"severities {severities}")
    if ("error" in severities) != (verdict == "fail"):
        fault("$.verdict", f"{verdict} with {severities}")
    parts = member("$", root, "partitions", dict, null=True)
    if parts:
        check_partitions("$.partitions", parts)


def main():
    kinds = {"advise": advise, "check": check, "run": run, "inspect": inspect, "devices": devices, "doctor": doctor}
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
