#!/usr/bin/env python3
"""one_row.py ROOT BUILD - adding something is one file and one row of one list.

First the census: for each kind of thing, the rows of its list and the definitions in src/ are the same set, and the symbol of
each stands in its own file only. Then the proof: in a scratch folder a thing of each kind is added by writing its file and its
row, nothing else; the registry is compiled with them, linked in front of the library, and asked for the new thing.
CONTRIBUTING's table is compared with the files and lists.
"""
import glob
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

root, build = sys.argv[1:3]
failures = []

# kind: the list's header, its macro, the symbol of a row, where its files are
KINDS = {
    "probe": ("probe/probes.h", "ASSAY__PROBES", "assay__probe_%s", r"probe/\w+\.c"),
    "engine": ("engine/engines.h", "ASSAY__ENGINES", "assay__engine_%s", r"engine/(\w+/)?\w+\.c"),
    "command": ("cli/commands.h", "ASSAY__COMMANDS", "assay__command_%s", r"cli/cmd_\w+\.c"),
    "importer": ("import/importers.h", "ASSAY__IMPORTERS", "assay__importer_%s", r"import/import_\w+\.c"),
    "recorder": ("run/tracing/recorders.h", "ASSAY__RECORDERS", "assay__recorder_%s", r"run/tracing/recorder_\w+\.c"),
    "watcher": ("run/watch/watchers.h", "ASSAY__WATCHERS", "assay__watch_%s", r"run/watch/watch_\w+\.c"),
    "model format": ("model/model_format.h", "ASSAY__MODEL_FORMATS", "assay__model_format_%s", r"model/\w+/\w+\.c"),
    "rewrite": ("model/rewrite/rewrites.h", "ASSAY__REWRITES", "assay__rewriter_%s", r"model/rewrite/rewrite_\w+\.c"),
    "subject": ("report/subject/subjects.h", "ASSAY__SUBJECTS", "assay__subject_%s", r"report/subject/subject_\w+\.c"),
    "exporter": ("trace/exporters.h", "ASSAY__EXPORTERS", "assay__exporter_%s", r"trace/export_\w+\.c"),
    "zoo model": ("zoo/zoo_models.h", "ASSAY__ZOO_MODELS", "assay__zoo_%s", r"zoo/\w+\.c"),
    "family of rules": ("advise/rules.h", "ASSAY__RULE_FAMILIES", "assay__rules_%s", r"advise/rules_\w+\.c"),
    "family of costs": ("cost/cost_table.h", "ASSAY__COST_FAMILIES", "assay__cost_rows_%s", r"cost/cost_\w+\.c"),
    "family of shapes": ("model/shapes/shape_call.h", "ASSAY__SHAPE_FAMILIES", "assay__shape_rows_%s",
                         r"model/shapes/shapes_\w+\.c"),
    "table of MIL operators": ("model/coreml/mil.h", "ASSAY__MIL_TABLES", "assay__mil_rows_%s", r"model/coreml/mil_\w+\.c"),
    "table of Core ML layers": ("model/coreml/coreml_nn.h", "ASSAY__NN_TABLES", "assay__nn_rows_%s",
                                r"model/coreml/coreml_nn_\w+\.c"),
}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def sources():
    for folder, _, names in os.walk(os.path.join(root, "src")):
        for name in names:
            if name.endswith((".c", ".h")):
                path = os.path.join(folder, name)
                yield os.path.relpath(path, os.path.join(root, "src")), read(path)


def fail(text):
    failures.append(text)


# --- census ---------------------------------------------------------------------------------------------------------------


def rows_of(text, macro):
    """The names of an X-macro list's rows, in their order."""
    body = re.search(r"#define %s\(X\)((?:.*\\\n)*.*)\n" % macro, text).group(1)
    return re.findall(r"\bX\((\w+)", body)


def census(files):
    words = {path: set(re.findall(r"assay__\w+", text)) for path, text in files.items()}
    for kind, (header, macro, symbol, place) in KINDS.items():
        listed = rows_of(files[header], macro)
        registry = PROOFS[kind][3] if kind in PROOFS else []
        defined = {}
        pattern = re.compile(r"^const struct \w+ %s(?:\[\])? = " % (symbol % r"(\w+)"), re.M)
        for path, text in files.items():
            for name in pattern.findall(text):
                defined.setdefault(name, []).append(path)
        for name in listed:
            if listed.count(name) > 1:
                fail(f"{kind} {name}: listed {listed.count(name)} times in {header}")
            if len(defined.get(name, [])) != 1:
                fail(f"{kind} {name}: defined in {defined.get(name, 'no file')}")
        for name, paths in defined.items():
            if name not in listed:
                fail(f"{kind} {name} of {paths[0]} is not in {header}")
            if not re.fullmatch(place, paths[0]):
                fail(f"{kind} {name}: {paths[0]} is no place for it")
            for path in files:
                if path not in (paths[0], *registry) and symbol % name in words[path]:
                    fail(f"{kind} {name}: {path} names {symbol % name} too")
        if not listed:
            fail(f"no {kind} is listed in {header}")


def guide():
    """The files that CONTRIBUTING's table names exist, and it names the list of every kind that is proven below."""
    table = [line for line in read(os.path.join(root, "CONTRIBUTING.md")).splitlines() if line.startswith("| a")]
    named = [path for line in table for path in re.findall(r"`((?:src|doc|include)/[^`]+)`", line)]
    if not named:
        fail("CONTRIBUTING.md: the table names no file")
    for path in named:
        if not glob.glob(os.path.join(root, re.sub(r"[A-Z]{3,}", "*", path))):
            fail(f"CONTRIBUTING.md names {path}, which does not exist")
    for kind in PROOFS:
        header = KINDS[kind][0] if kind in KINDS else "report/formats.h"
        if "src/" + header not in named and os.path.basename(header) not in " ".join(table):
            fail(f"CONTRIBUTING.md does not say that {kind} needs a row in src/{header}")


# --- proof ----------------------------------------------------------------------------------------------------------------

# what a contributor would write, for each kind
PROBE = """
#include "probe/probes.h"
struct assay__probe { int unused; };
static int open_it(struct assay__arena *arena, struct assay__probe **probe, struct assay_error *error)
{ (void)arena, (void)error; *probe = NULL; return 0; }
static size_t channels(const struct assay__probe *probe, const struct assay__channel **list)
{ (void)probe; *list = NULL; return 0; }
static const char *reason(const struct assay__probe *probe) { (void)probe; return "an example"; }
static void read_it(struct assay__probe *probe, struct assay__probe_reading *readings) { (void)probe, (void)readings; }
static void close_it(struct assay__probe *probe) { (void)probe; }
static const struct assay__capture_files files[] = {{"/sys/example", "*", ASSAY__CAPTURE_COPY}, {0}};
const struct assay__probe_ops assay__probe_example = {.name = "example", .summary = "an example", .open = open_it,
    .channels = channels, .reason = reason, .read = read_it, .close = close_it, .power_of = "c", .files = files};
"""
ENGINE = """
#include "engine/engines.h"
static int devices(const char *library, assay__device_about_fn *about, assay__device_fn *found,
                   void *context, struct assay_error *error)
{ (void)library, (void)about, (void)found, (void)context, (void)error; return 0; }
const struct assay__engine_ops assay__engine_example = {.abi = ASSAY__ENGINE_ABI, .size = sizeof assay__engine_example,
    .name = "example", .summary = "an example", .devices = devices};
"""
COMMAND = """
#include "cli/commands.h"
static int say_it(struct assay__invocation *invocation)
{ (void)invocation; return assay__write_stdout("here\\n", 5); }
const struct assay__command assay__command_example = {.name = "example", .summary = "an example", .arguments = "",
    .description = "An example.", .examples = "", .run = say_it};
"""
ZOO = """
#include "zoo/net.h"
#include "zoo/zoo_models.h"
static int build(struct assay__zoo_params *params)
{
    struct assay__net net;
    assay__zoo_begin(&net, params, 99);
    const char *dims = assay__net_text(&net, "%lld", (long long)assay__zoo_int(params, "width"));
    const char *x = assay__net_1(&net, "Relu", assay__net_input(&net, "input", ASSAY__FLOAT32, dims));
    assay__net_output(&net, x, "output", ASSAY__FLOAT32, dims);
    return assay__net_end(&net);
}
static const struct assay__zoo_param declared[] = {
    {"width", ASSAY__ZOO_INTEGER, "8", NULL, 1, 64, "numbers"}, {0}};
const struct assay__zoo_entry assay__zoo_example = {"example", "An example", {declared}, build};
"""
RULES = """
#include "advise/rules.h"
static enum assay__rule_outcome look(struct assay__advice *advice)
{ (void)advice; return ASSAY__RULE_NOTHING; }
const struct assay__rule assay__rules_example[] = {
    {"example", "example", "note", "small", 0, look, NULL, NULL, "An example", "nothing", "do nothing"}, {0}};
"""
REWRITE = """
#include "model/rewrite/rewrites.h"
static int apply(struct assay__model *model, const struct assay__rewrite_request *request,
                 struct assay__rewrite_notes *notes, struct assay_error *error)
{ (void)model, (void)request, (void)error; return assay__rewrite_note(notes, "an example"); }
const struct assay__rewriter assay__rewriter_example = {.step = "example", .apply = apply};
"""
WATCHER = """
#include "run/watch/watchers.h"
static bool wanted(const struct assay__run_options *options) { (void)options; return false; }
static int begin_it(const struct assay__watch_plan *plan, struct assay__watcher **watcher, struct assay_error *error)
{ (void)plan, (void)error; *watcher = NULL; return 0; }
static void free_it(struct assay__watcher *watcher) { (void)watcher; }
const struct assay__watcher_ops assay__watch_example = {.name = "example", .wanted = wanted, .begin = begin_it,
    .free = free_it};
"""
FORMAT = """
#include "model/model_format.h"
#include <string.h>
static bool is_example(const char *path) { return strstr(path, ".example") != NULL; }
static int read_it(const char *path, struct assay__model **model, struct assay_error *error)
{ (void)path, (void)error; *model = assay__model_new(); return *model ? 0 : ASSAY_ENOMEM; }
const struct assay__model_format assay__model_format_example = {".example", is_example, read_it};
"""
IMPORTER = """
#include "import/importers.h"
#include <string.h>
static enum assay__import_match match(const char *head, size_t size)
{ return size >= 7 && !memcmp(head, "example", 7) ? ASSAY__IMPORT_YES : ASSAY__IMPORT_NO; }
static int read_it(struct assay__import_stream *stream, struct assay__events *events, struct assay__trace_source *source,
                   struct assay_error *error)
{
    (void)stream, (void)source, (void)error;
    assay__events_add(events, &(struct assay__event){.name = "here", .name_length = 4, .args = ASSAY__EVENT_UNKNOWN});
    return 0;
}
const struct assay__importer assay__importer_example = {.name = "example", .title = "an example", .match = match,
    .read = read_it};
"""
SUBJECT = """
#include "report/subject/subjects.h"
static const struct assay__column columns[] = {
    {"tensor", "tensor", NULL, 0, 0, ASSAY__COLUMN_NAME, 0}, {"bytes", "size", "B", 0, 0, 0, 0}};
static void build(struct assay__doc *doc, const struct assay__trial *trial)
{
    (void)trial;
    assay__doc_section(doc, "example", "Largest tensors", NULL, 0);
    struct assay__table *t = assay__doc_table(doc, "tensors", "Tensors", columns);
    assay__table_row(t, 0, NULL);
    assay__table_text(t, "embedding");
    assay__table_number(t, 1234000, ASSAY_MEASURED);
    assay__doc_end(doc);
}
const struct assay__subject assay__subject_example = {.id = "example", .scope = ASSAY__OF_PROFILE,
    .build = build, .tables = {{"tensors", ASSAY__ARRAY(columns)}}};
"""
WALKER = """
#include "report/formats.h"
int assay__walk_example(const struct assay__doc *doc, const struct assay_report_options *options,
                        struct assay__buf *out, struct assay_error *error)
{ (void)options, (void)error; assay__buf_puts(out, doc->title); return 0; }
"""
EXPORTER = """
#include "trace/exporters.h"
static void run(struct assay__export *to) { assay__buf_puts(&to->out, "an example"); }
const struct assay__exporter assay__exporter_example = {"example", "an example", "example", run};
"""
MAIN = """
#include <stddef.h>
%s
int main(void) { %s }
"""
HERE = {  # the program that asks
    "benchmark": ('#include "zoo/benchmarks.h"', 'return assay__benchmark_find("example") ? 0 : 1;'),
    "probe": ('#include "probe/probe.h"', 'return assay__probe_find("example") ? 0 : 1;'),
    "engine": ('#include "engine/engine.h"', 'return assay__engine_find("example") ? 0 : 1;'),
    "exporter": ('#include "trace/export.h"', 'size_t n; assay__exporters(&n); return n == 5 ? 0 : 1;'),
    "zoo model": ('#include "zoo/zoo.h"', 'struct assay__model *m = NULL; return '
                  'assay__zoo_build("example:width=4", &m, NULL) || assay__zoo_build("example:width=65", &m, NULL) == 0;'),
    "family of rules": ('#include "advise/advise.h"', 'return assay__rule_find("example") ? 0 : 1;'),
    "watcher": ('#include "run/watch/watch.h"', 'struct assay__run_options o = {0}; struct assay__watch *w = NULL; '
                'struct assay__watch_plan p = {.options = &o}; return assay__watch_begin(&p, &w, NULL);'),
    "importer": ('#include "import/import.h"\n#include <stdio.h>', """
    const char *path = "trace.example";
    struct assay__events *events = NULL;
    FILE *file = fopen(path, "w");
    return !file || fputs("example", file) < 0 || fclose(file) || assay__import(&path, 1, NULL, &events, NULL) ||
           events->count != 1;"""),
    "subject": ('#include "profile/profile.h"\n#include <assay/report.h>\n#include <string.h>', """
    static const struct { const char *format, *table, *has; } views[] = {{"text", NULL, "1.23 MB"}, {"html", NULL, "1.23"},
        {"markdown", NULL, "| embedding | 1.23 MB |"}, {"csv", "tensors", "embedding,1234000"}};
    struct assay_profile *profile = assay__profile_new();
    assay__profile_set_command(profile, "run");
    assay__profile_trial(profile)->state = ASSAY__TRIAL_OK;
    for (int i = 0; i < 4; i++) {
        struct assay_report_options o = {.size = sizeof o, .format = views[i].format, .table = views[i].table, .full = 1};
        char *text = NULL;
        size_t length = 0;
        if (assay_report(profile, &o, &text, &length, NULL) || !strstr(text, views[i].has)) return i + 1;
        assay_free(text);
    }
    assay_profile_close(profile);
    return 0;"""),
    "report format": ('#include "report/formats.h"', 'return assay__format_find("example") ? 0 : 1;'),
    "model format": ('#include "model/model_format.h"', 'struct assay__model *m = NULL; return '
                     'assay__model_load("a.example", &m, NULL) || !assay__model_file_named("b.example");'),
}
# lists of rows without files of their own
LISTS = {
    "report format": ("report/formats.h", "ASSAY__FORMATS"),
    "benchmark": ("zoo/benchmarks.h", "ASSAY__BENCHMARKS"),
}
# kind: new file (None: the row is all), text, row, sources compiled anew (the registry, and what expands its list)
PROOFS = {
    "benchmark": (None, None, 'X("example", "operator", "gelu:rows=8,width=8", "an example")', ["zoo/benchmarks.c"]),
    "probe": ("probe/example.c", PROBE, "X(example)", ["probe/probes.c"]),
    "engine": ("engine/example.c", ENGINE, "X(example)", ["engine/engines.c"]),
    "command": ("cli/cmd_example.c", COMMAND, "X(example)", ["cli/main.c"]),
    "exporter": ("trace/export_example.c", EXPORTER, "X(example)", ["trace/export.c"]),
    "zoo model": ("zoo/example.c", ZOO, "X(example)", ["zoo/zoo.c"]),
    "family of rules": ("advise/rules_example.c", RULES, "X(example)", ["advise/advise.c"]),
    "rewrite": ("model/rewrite/rewrite_example.c", REWRITE, 'X(example, FLAG, "example", NULL, NULL, NULL, "An example.")',
                ["model/rewrite/rewrites.c", "cli/cmd_make.c"]),
    "importer": ("import/import_example.c", IMPORTER, "X(example)", ["import/import.c"]),
    "watcher": ("run/watch/watch_example.c", WATCHER, "X(example)", ["run/watch/watch.c"]),
    "model format": ("model/onnx/example.c", FORMAT, "X(example)", ["model/model_format.c"]),
    "subject": ("report/subject/subject_example.c", SUBJECT, 'X(example, "|tensors")', ["report/subject/compose.c"]),
    "report format": ("report/walk/walk_example.c", WALKER, 'X(WALK, "example", example, "example", "an example")',
                      ["report/report.c"]),
}


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    return result.returncode, (result.stdout + result.stderr).strip()


def with_row(text, macro, row):
    """The header with one more row, before those that must stay last."""
    return re.sub(r"(#define %s\(X\)[^\n]*\n)" % macro, lambda m: m.group(1) + "    " + row + " \\\n", text, count=1)


def prove(kind, libraries):
    header, macro = KINDS[kind][:2] if kind in KINDS else LISTS[kind]
    file, text, row, compiled = PROOFS[kind]
    folder = os.path.abspath(kind.replace(" ", "-"))
    for path, content in ((header, with_row(read(os.path.join(root, "src", header)), macro, row)), (file, text)):
        if not path:
            continue
        os.makedirs(os.path.join(folder, os.path.dirname(path)), exist_ok=True)
        with open(os.path.join(folder, path), "w", encoding="utf-8") as out:
            out.write(content)
    flags = ["-std=c17", "-D_GNU_SOURCE", "-O0", "-Wall", "-Wextra", "-Werror", "-I", folder, "-I", root + "/src", "-I",
             root + "/include"]
    inputs = [os.path.join(folder, file)] if file else []
    inputs += [os.path.join(root, "src", path) for path in compiled]
    if kind in HERE:
        inputs.append(os.path.join(folder, "main.c"))
        with open(inputs[-1], "w", encoding="utf-8") as out:
            out.write(MAIN % HERE[kind])
    else:  # a program's registry: with the other objects of the program
        objects = os.path.join(build, "CMakeFiles/assay.dir/src/cli")
        taken = {os.path.basename(path) + ".o" for path in compiled}
        inputs += [os.path.join(objects, name) for name in sorted(os.listdir(objects))
                   if name.endswith(".o") and name not in taken
                   and os.path.exists(os.path.join(root, "src/cli", name[:-2]))]  # not those of files that went
    program = os.path.join(folder, "program")
    code, said = run("cc", *flags, *inputs, build + "/libassay.a", *libraries, "-lpthread", "-ldl", "-lm", "-o", program)
    if code:
        return f"{kind}: more is needed than {file or 'nothing'} and a row in {header}:\n{said[:2000]}"
    if kind in HERE:
        return f"{kind}: it is not there" if run(program)[0] else None
    asked = {"command": (["help"], "an example"), "rewrite": (["help", "make"], "--example")}[kind]
    code, said = run(program, *asked[0])
    return None if code == 0 and asked[1] in said else f"{kind}: assay {asked[0]} does not name it"


def main():
    files = dict(sources())
    census(files)
    guide()
    code, libraries = run("pkg-config", "--libs", "sqlite3", "hwloc", "zlib", "libzstd")
    if code:
        libraries = "-lsqlite3 -lhwloc -lz -lzstd"
    with ThreadPoolExecutor(2) as pool:
        for answer in pool.map(lambda kind: prove(kind, libraries.split()), PROOFS):
            if answer:
                fail(answer)
    print("\n".join(failures))
    return 1 if failures else 0


sys.exit(main())
