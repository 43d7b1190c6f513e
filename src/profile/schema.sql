-- schema.sql - the one schema of a profile (*.assay), version 2. It is embedded into the library at build time.
--
-- The file carries two marks that are read before anything else: PRAGMA application_id = 1095979865 ("ASSY") and
-- PRAGMA user_version = the schema's version. New tables and new columns keep the version (readers ignore what they do
-- not know and take what is missing as unknown); a changed meaning raises it, and older programs then refuse the file.
--
-- Unknown is NULL, never 0. Names end in their unit (_ns, _bytes, _hz); values in `metrics` are in the base unit that
-- stands in `unit`. `position` keeps the order of a list, from 0. `trial` 0 means the whole profile, `launch` 0 means
-- the whole trial. doc/schema.md describes every table.

CREATE TABLE profiles (
    id            INTEGER PRIMARY KEY, -- 1 in the profile of one capture
    schema        INTEGER,
    assay_version TEXT,
    command       TEXT,                -- 'run'
    kind          TEXT,                -- the command, when it is one whose profiles are known
    command_line  TEXT,
    created       TEXT,                -- ISO 8601, UTC
    complete      INTEGER,             -- 0 while capturing, and for ever when the capture was killed
    interrupted   INTEGER
);

CREATE TABLE environments (
    profile INTEGER PRIMARY KEY,
    host TEXT, os TEXT, kernel TEXT, architecture TEXT, cpu_model TEXT,
    virtualized TEXT, governor TEXT, simd TEXT, container TEXT,
    packages INTEGER, cores INTEGER, threads INTEGER,
    memory_bytes REAL, cpu_max_hz REAL, l1d_bytes REAL, l2_bytes REAL, l3_bytes REAL
);

CREATE TABLE plans (                   -- what was asked of all trials together; a row only of a sweep or a tuning
    profile INTEGER PRIMARY KEY,
    goal TEXT,                         -- 'throughput' | 'latency' | 'energy'
    slo TEXT,                          -- the limit of latency as it was asked for: 'p99=20ms'
    slo_metric TEXT, slo_s REAL,       -- 'latency.p99', at most 0.02
    memory_bytes REAL,                 -- budget of memory.peak.worker
    drift_limit REAL,                  -- of the outputs, relative L2; NULL: none
    budget_s REAL,                     -- of a tuning
    configurations INTEGER             -- that a tuning chooses from
);

CREATE TABLE models (
    id INTEGER PRIMARY KEY, profile INTEGER NOT NULL, -- the first one's is the profile's own
    name TEXT, path TEXT, format TEXT,
    fingerprint TEXT,                  -- of graph and shapes, not of weights
    sha256 TEXT,                       -- of the file, when it was asked for
    parameters INTEGER, weight_bytes INTEGER, node_count INTEGER,
    ir_version INTEGER, opset TEXT, producer TEXT
);

CREATE TABLE operators (
    model INTEGER NOT NULL, position INTEGER NOT NULL,
    op TEXT, count INTEGER,
    flops REAL, macs REAL, bytes REAL, -- all nodes of this operator together, per inference
    PRIMARY KEY (model, position)
);

CREATE TABLE cells (                   -- a row only when the model is a recurrent cell that says so
    model INTEGER PRIMARY KEY,
    kind TEXT,                         -- 'CfC' | 'LTC'
    form TEXT,                         -- 'step' | 'unrolled' | 'scan'
    steps INTEGER,                     -- time steps of one inference
    fault TEXT                         -- what is wrong with what the model says of itself
);

CREATE TABLE neuron_groups (           -- of that cell; parts of the cell that hold no neurons too
    model INTEGER NOT NULL, position INTEGER NOT NULL,
    name TEXT, neurons INTEGER,
    flops REAL, flops_needed REAL,     -- executed by the graph, needed by the wiring; all steps together
    state TEXT,                        -- of the FLOPs
    PRIMARY KEY (model, position)
);

CREATE TABLE tensors (
    model INTEGER NOT NULL, trial INTEGER NOT NULL,
    role TEXT NOT NULL,                -- 'input' | 'output'; trial 0: of the model, else of that trial's workload
    position INTEGER NOT NULL,
    name TEXT, dtype TEXT, rank INTEGER,
    fill TEXT,                         -- how the values were made
    PRIMARY KEY (model, trial, role, position)
);

CREATE TABLE dims (
    model INTEGER NOT NULL, trial INTEGER NOT NULL, role TEXT NOT NULL, tensor INTEGER NOT NULL,
    axis INTEGER NOT NULL,
    size INTEGER,                      -- NULL where symbolic
    symbol TEXT,
    PRIMARY KEY (model, trial, role, tensor, axis)
);

CREATE TABLE notes (
    profile INTEGER NOT NULL, trial INTEGER NOT NULL,
    kind TEXT NOT NULL,                -- trial 0: 'disturbance' | 'unknown'; else 'note' | 'assumed' | 'stability'
    position INTEGER NOT NULL,
    text TEXT,
    subject TEXT,                      -- of a disturbance: 'clock' | 'throttled' | 'slowed' | 'quota'; NULL: another one
    PRIMARY KEY (profile, trial, kind, position)
);

CREATE TABLE trials (
    id INTEGER PRIMARY KEY, profile INTEGER NOT NULL,
    state TEXT,                        -- 'running' | 'ok' | 'failed' | 'skipped' | 'interrupted'
    reason TEXT,
    label TEXT,                        -- what it is called among the others
    role TEXT,                         -- what it is there for: 'reference' | 'control' | 'software' | 'confirm' |
                                       -- 'start' | 'search' | 'refused' | 'finalist' | 'ablation'
    model INTEGER,                     -- models.id
    -- the target
    engine TEXT, engine_version TEXT, engine_library TEXT, device TEXT,
    build TEXT,                        -- of the engine: the device's prefix
    device_class TEXT,                 -- 'cpu' | 'gpu' | 'npu'
    software INTEGER,                  -- 1: emulated on the CPU
    threads INTEGER, threads_default INTEGER, -- 1: the engine's number, nobody asked for it
    optimization TEXT,                 -- 'none' | 'basic' | 'extended' | 'all'
    streams INTEGER,                   -- requests in flight
    precision TEXT,                    -- of a copy of the model: 'float16'
    spinning_off INTEGER,              -- 1: the engine's threads do not spin
    cpus TEXT,                         -- pinned to: '0-3'
    chip TEXT, published INTEGER,      -- of a prediction; 1: from published peaks
    uncovered TEXT,                    -- of a prediction: why its error does not cover the model
    -- how it was measured, as it was asked for
    launches_asked INTEGER,
    warmup_asked INTEGER,              -- iterations; NULL: found in the data
    seed INTEGER,
    layers_asked TEXT,                 -- 'off' | 'auto' | 'markers' | 'isolated' | 'engine'
    watched INTEGER,                   -- sum of 1 power, 2 memory, 4 counters
    generated_tokens INTEGER, prompt_tokens INTEGER, -- of one inference that generates text
    seconds_per_inference REAL,        -- of real time that one inference is about, as it was given
    sound_samples INTEGER, sound_rate_hz REAL, -- what its inputs say: a wave and its sampling rate
    placement_record TEXT,             -- who said which node ran where
    batch INTEGER,
    stability TEXT,                    -- 'stable' | 'unstable' | 'too-few'
    more_iterations INTEGER,
    layers_method TEXT, layers_reason TEXT,
    engine_ns REAL, unattributed_ns REAL,
    layers_scale REAL, layers_slowdown REAL, layers_spread REAL, layers_contention REAL, -- ratios
    layers_sessions INTEGER, layers_discarded INTEGER,
    traced_ns REAL,                    -- a run on a GPU whose work is recorded: kernels + copies + gaps + host
    kernels_ns REAL, copies_ns REAL, gaps_ns REAL, host_ns REAL,
    kernel_count REAL,                 -- of an inference
    plain_ns REAL,                     -- a run without recording beside the traced ones
    layers_lasting REAL                -- plain_ns / a run before the recorder was opened
);

CREATE TABLE options (
    trial INTEGER NOT NULL, position INTEGER NOT NULL,
    key TEXT, value TEXT,
    PRIMARY KEY (trial, position)
);

CREATE TABLE axes (                    -- where a trial stands on the axes of its sweep, tuning or benchmarks
    trial INTEGER NOT NULL, position INTEGER NOT NULL,
    axis TEXT,                         -- 'benchmark' | 'device' | 'precision' | 'opt' | 'threads' | 'spinning' | 'seq' | 'batch'
    value TEXT,
    PRIMARY KEY (trial, position)
);

CREATE TABLE token_ids (               -- what the last generation said
    trial INTEGER NOT NULL, position INTEGER NOT NULL,
    token INTEGER,
    PRIMARY KEY (trial, position)
);

CREATE TABLE feedback (                -- an output that is an input of the next inference
    trial INTEGER NOT NULL, position INTEGER NOT NULL,
    output TEXT, input TEXT,
    found TEXT,                        -- 'name': by the names of the two; 'given': asked for
    PRIMARY KEY (trial, position)
);
CREATE TABLE token_times (             -- when a token was there: medians over all generations
    trial INTEGER NOT NULL, position INTEGER NOT NULL,
    token INTEGER,                     -- 1, 2, …
    at_ns REAL,                        -- since the generation began
    step_ns REAL,                      -- since the token before
    low_ns REAL, high_ns REAL,         -- of step_ns: 5th and 95th percentile
    PRIMARY KEY (trial, position)
);

CREATE TABLE requirements (            -- what a trial must reach, in base units; a row only where something is required
    trial INTEGER PRIMARY KEY,
    name TEXT, chip TEXT,              -- of the table; the chip it is made for
    minimum_compute REAL, target_compute REAL,       -- FLOP/s
    minimum_bandwidth REAL, target_bandwidth REAL,   -- B/s
    minimum_throughput REAL, target_throughput REAL, -- 1/s
    minimum_p50_s REAL, target_p50_s REAL, minimum_p99_s REAL, target_p99_s REAL,
    minimum_memory_bytes REAL, target_memory_bytes REAL,
    minimum_power_w REAL, target_power_w REAL,
    batch INTEGER, backbone_units INTEGER
);

CREATE TABLE placed_nodes (            -- who ran which node, as the engine says
    trial INTEGER NOT NULL, position INTEGER NOT NULL,
    node TEXT, op TEXT,
    provider TEXT,                     -- the engine's name of it
    elsewhere INTEGER,                 -- 1: not on the trial's device
    indices INTEGER,                   -- 1: it only makes shapes and indices
    PRIMARY KEY (trial, position)
);

CREATE TABLE power_info (              -- a row only where power was asked for
    trial INTEGER PRIMARY KEY,
    gap TEXT,                          -- 'known' | 'no-sensor' | 'lost' (a sensor had no answer)
    whole_machine INTEGER,             -- 1: the rails of power.average are the whole machine's
    temperature TEXT, frequency TEXT   -- series behind hardware.temperature and hardware.frequency
);

CREATE TABLE power_rails (             -- that power.average adds up
    trial INTEGER NOT NULL, position INTEGER NOT NULL,
    name TEXT,
    PRIMARY KEY (trial, position)
);

CREATE TABLE power_warnings (          -- what must not be overlooked about a number of power
    trial INTEGER NOT NULL, position INTEGER NOT NULL,
    about TEXT, text TEXT,
    PRIMARY KEY (trial, position)
);

CREATE TABLE launches (
    trial INTEGER NOT NULL, id INTEGER NOT NULL,
    state TEXT, reason TEXT,
    streams INTEGER,
    warmup INTEGER,                    -- leading samples of each stream that the statistics leave out
    wall_ns REAL, p50_ns REAL,
    log_tail TEXT,
    PRIMARY KEY (trial, id)
);

CREATE TABLE metrics (
    trial INTEGER NOT NULL, launch INTEGER NOT NULL, position INTEGER NOT NULL,
    name TEXT, value REAL, unit TEXT,
    state TEXT,                        -- 'measured' | 'derived' | 'estimated' | 'published' | 'unavailable'
    source TEXT, note TEXT,
    PRIMARY KEY (trial, launch, position)
);

CREATE TABLE layers (
    trial INTEGER NOT NULL, position INTEGER NOT NULL,
    layer INTEGER,                     -- execution order
    name TEXT, op TEXT, provider TEXT,
    time_ns REAL, host_enqueue_ns REAL,
    share REAL,                        -- of latency.p50, or of layers and engine if their sum is more
    flops REAL, bytes REAL, bound TEXT,
    state TEXT, method TEXT, note TEXT,
    live_bytes REAL,                   -- activations alive while it runs, by liveness of the graph
    weight_bytes REAL,                 -- the part of bytes that is weights
    inputs TEXT, weights TEXT, outputs TEXT, -- shapes and types: '1x64x112x112 float32, 64 float32'
    attributes TEXT,                   -- of its nodes: 'kernel_shape 3x3, strides 2x2'
    kernel_count REAL, gap_ns REAL,    -- on a GPU: kernels launched, idle time just before them
    kernels TEXT,                      -- their names, each once, separated by '; '
    title TEXT,                        -- what reports call it: the first of its layer_origins, else name, else op
    PRIMARY KEY (trial, position)
);

-- The times of the layers in each launch: one row per at most 65,536 layers. `assay query` shows them as the table
-- layer_times(trial, launch, layer, time_ns).
CREATE TABLE layer_time_chunks (
    trial INTEGER NOT NULL, launch INTEGER NOT NULL,
    chunk INTEGER NOT NULL,            -- 0, 1, 2
    first INTEGER NOT NULL,            -- layers.position of the chunk's first value
    count INTEGER NOT NULL,
    encoding TEXT NOT NULL, data BLOB NOT NULL, -- ns, as in sample_chunks; NaN: that launch has no time of it
    PRIMARY KEY (trial, launch, chunk)
);

CREATE TABLE peaks (                   -- when most activations are alive, by liveness of the graph
    trial INTEGER PRIMARY KEY,
    reason TEXT,                       -- why nothing is known
    node TEXT, op TEXT,                -- that runs then
    bytes REAL, body_bytes REAL,       -- alive; of it inside the subgraphs of that node
    alive INTEGER,                     -- tensors
    rest_bytes REAL                    -- of those that peak_tensors leaves out
);

CREATE TABLE peak_tensors (            -- the largest that are alive then, those of unknown size before them
    trial INTEGER NOT NULL, position INTEGER NOT NULL,
    name TEXT, type TEXT,              -- '1x64x112x112 float32'
    bytes REAL,
    producer TEXT, op TEXT,            -- the node that makes it; NULL for an input of the model
    first TEXT, last TEXT,             -- nodes between which it lives
    PRIMARY KEY (trial, position)
);

CREATE TABLE layer_origins (           -- nodes of the original model that a layer came from
    trial INTEGER NOT NULL, layer INTEGER NOT NULL, -- layers.position
    position INTEGER NOT NULL,
    node TEXT,
    PRIMARY KEY (trial, layer, position)
);

CREATE TABLE edges (                   -- a tensor that one layer makes and another reads
    trial INTEGER NOT NULL, position INTEGER NOT NULL,
    producer INTEGER,                  -- layers.position; NULL: an input of the model
    consumer INTEGER,                  -- layers.position; NULL: an output of the model
    tensor TEXT,
    bytes REAL,                        -- its size by the shapes at the fixed inputs
    PRIMARY KEY (trial, position)
);

CREATE TABLE findings (
    profile INTEGER NOT NULL, position INTEGER NOT NULL,
    id TEXT, severity TEXT, title TEXT, advice TEXT,
    expected_gain REAL, verified_gain REAL, -- ratios
    gain_estimated INTEGER,            -- 1: expected_gain rests on an assumed cost
    effort TEXT, state TEXT, reason TEXT,   -- small | medium | large; open | verified | withdrawn, and why
    energy_saving REAL,                -- potential: share of an inference's energy
    verified_low REAL, verified_high REAL, verified_smallest REAL, -- 95 % interval of verified_gain; what could be shown
    verified_energy REAL, verified_energy_low REAL, verified_energy_high REAL, -- after / before, 95 % interval
    verified_drift REAL,               -- relative L2 of the outputs
    verified_of TEXT, tried TEXT, drift_note TEXT, -- latency | samples per second; the change; its limit or why not
    PRIMARY KEY (profile, position)
);

CREATE TABLE evidence (
    profile INTEGER NOT NULL, finding INTEGER NOT NULL, position INTEGER NOT NULL,
    text TEXT,
    PRIMARY KEY (profile, finding, position)
);

-- Durations of single inferences, in time order per stream: one row per at most 65,536 values. `assay query` shows them
-- as the table samples(trial, launch, stream, seq, ns).
CREATE TABLE sample_chunks (
    trial INTEGER NOT NULL, launch INTEGER NOT NULL, stream INTEGER NOT NULL,
    chunk INTEGER NOT NULL,            -- 0, 1, 2
    first INTEGER NOT NULL,            -- position of the chunk's first value in its stream
    count INTEGER NOT NULL,
    encoding TEXT NOT NULL,            -- 'delta-varint' (integer ns) | 'f64' (ns)
    data BLOB NOT NULL,
    PRIMARY KEY (trial, launch, stream, chunk)
);

-- What was read over time while the trial ran: one row per channel, those that could not be read too. Their values are in
-- series_chunks; `assay query` shows both as the table series(trial, launch, name, seq, time_ns, value).
CREATE TABLE series_info (
    trial INTEGER NOT NULL, position INTEGER NOT NULL,
    launch INTEGER,                    -- 0: the whole trial
    name TEXT,                         -- unique within trial and launch
    quantity TEXT, rail TEXT, unit TEXT, probe TEXT, source TEXT,
    state TEXT, note TEXT,             -- an unavailable one has no values and says why
    counter INTEGER,                   -- 1: values are growth since the first reading
    update_period_s REAL,              -- of the source
    update_period_is_bound INTEGER,    -- 1: it updates at least that often
    count INTEGER NOT NULL,            -- values in all its chunks
    PRIMARY KEY (trial, position)
);

CREATE TABLE series_chunks (
    trial INTEGER NOT NULL, series INTEGER NOT NULL, -- series_info.position
    chunk INTEGER NOT NULL,            -- 0, 1, 2
    first INTEGER NOT NULL,            -- position of the chunk's first value in its series
    count INTEGER NOT NULL,            -- at most 65,536
    time_encoding TEXT NOT NULL, time_data BLOB NOT NULL,   -- ns since the run began
    value_encoding TEXT NOT NULL, value_data BLOB NOT NULL, -- NaN: no value then
    PRIMARY KEY (trial, series, chunk)
);

-- A timeline that was imported or recorded: where it is from, its tracks, texts and arguments as rows, its events as chunks of
-- columns. `assay query` shows the events as the table events(event, start_ns, duration_ns, kind, name, track, device,
-- stream, correlation, bytes, args).
CREATE TABLE trace_sources (
    profile INTEGER NOT NULL, position INTEGER NOT NULL,
    path TEXT, title TEXT,             -- title: what was traced, where that is known
    format TEXT,                       -- the importer's name
    producer TEXT,                     -- 'PyTorch profiler (CUDA 13.0)'
    rank INTEGER, world_size INTEGER,
    offset_ns INTEGER, clock TEXT,     -- added to its times to align them, and what they count from
    bytes INTEGER, events INTEGER, skipped INTEGER, -- read; kept; not readable
    complaint TEXT,                    -- the first reason why something was not read
    truncated INTEGER,                 -- 1: it ended early
    PRIMARY KEY (profile, position)
);

CREATE TABLE trace_tracks (
    profile INTEGER NOT NULL, position INTEGER NOT NULL,
    kind TEXT,                         -- 'thread' | 'stream' | 'other'
    rank INTEGER, pid INTEGER, tid INTEGER,
    device INTEGER, stream INTEGER,    -- NULL: none
    name TEXT, owner TEXT,             -- the process or device it belongs to
    PRIMARY KEY (profile, position)
);

CREATE TABLE trace_texts (             -- names of events, by number
    profile INTEGER NOT NULL, position INTEGER NOT NULL,
    text TEXT,
    PRIMARY KEY (profile, position)
);

CREATE TABLE trace_kinds (             -- kinds of events, by number
    profile INTEGER NOT NULL, position INTEGER NOT NULL,
    name TEXT,                         -- 'kernel' | 'copy' | 'launch' | …
    PRIMARY KEY (profile, position)
);

CREATE TABLE trace_args (              -- what else is known of events; equal ones are one row
    profile INTEGER NOT NULL, position INTEGER NOT NULL,
    direction TEXT,                    -- of a copy: 'to-device' | 'to-host' | 'on-device' | 'peer' | 'on-host'
    from_memory TEXT, to_memory TEXT,  -- 'pageable' | 'pinned' | 'device' | 'managed'
    grid_x INTEGER, grid_y INTEGER, grid_z INTEGER, block_x INTEGER, block_y INTEGER, block_z INTEGER,
    flops REAL,
    operator TEXT, provider TEXT, shapes TEXT, types TEXT,
    collective TEXT, group_size INTEGER,
    stack TEXT, state TEXT,
    PRIMARY KEY (profile, position)
);

CREATE TABLE event_chunks (            -- sorted by start; every column as 'delta-varint' of 64-bit integers
    profile INTEGER NOT NULL,
    chunk INTEGER NOT NULL,            -- 0, 1, 2
    first INTEGER NOT NULL,            -- number of the chunk's first event
    count INTEGER NOT NULL,            -- at most 65,536
    start_ns BLOB NOT NULL, duration_ns BLOB NOT NULL,
    kind BLOB NOT NULL,                -- trace_kinds.position
    name BLOB NOT NULL, track BLOB NOT NULL, args BLOB NOT NULL, -- positions; -1: none
    correlation BLOB NOT NULL,         -- 0: none
    bytes BLOB NOT NULL,               -- 0: unknown
    PRIMARY KEY (profile, chunk)
);

CREATE TABLE trace_counters (          -- numbers over time
    profile INTEGER NOT NULL, position INTEGER NOT NULL,
    name TEXT, unit TEXT,
    track INTEGER,                     -- trace_tracks.position; NULL: none
    count INTEGER NOT NULL,
    PRIMARY KEY (profile, position)
);

CREATE TABLE trace_counter_chunks (
    profile INTEGER NOT NULL, counter INTEGER NOT NULL, -- trace_counters.position
    chunk INTEGER NOT NULL, first INTEGER NOT NULL, count INTEGER NOT NULL,
    time_ns BLOB NOT NULL,             -- as in event_chunks
    encoding TEXT NOT NULL, data BLOB NOT NULL, -- values, as in sample_chunks
    PRIMARY KEY (profile, counter, chunk)
);

CREATE TABLE spans (                   -- what the machine was doing when
    trial INTEGER NOT NULL, position INTEGER NOT NULL,
    launch INTEGER,                    -- 0: none
    kind TEXT,                         -- 'idle' | 'measure'
    begin_ns REAL, end_ns REAL,        -- since the run began
    completions INTEGER,
    PRIMARY KEY (trial, position)
);

CREATE TABLE allocations (             -- a row only where allocations were asked for
    trial INTEGER PRIMARY KEY,
    reason TEXT,                       -- why nothing is known
    growth_bytes REAL, growth_low_bytes REAL, growth_high_bytes REAL, -- of live memory per warm inference, 95 %
    heap_bytes REAL, heap_used_bytes REAL,
    slowdown REAL                      -- tracked / plain latency.p50
);

CREATE TABLE allocation_phases (
    trial INTEGER NOT NULL, position INTEGER NOT NULL,
    name TEXT,                         -- 'load' | 'first' | 'warm'
    inferences INTEGER,
    count REAL, bytes REAL, freed_count REAL, freed_bytes REAL,
    live_bytes REAL, peak_live_bytes REAL,
    PRIMARY KEY (trial, position)
);

CREATE TABLE allocation_classes (      -- by size: low_bytes <= size < high_bytes
    trial INTEGER NOT NULL, position INTEGER NOT NULL,
    phase TEXT, low_bytes REAL,
    high_bytes REAL,                   -- NULL: no limit
    count REAL, bytes REAL,
    PRIMARY KEY (trial, position)
);

CREATE TABLE allocation_sites (        -- by who asked; the largest ones
    trial INTEGER NOT NULL, position INTEGER NOT NULL,
    phase TEXT, site TEXT, count REAL, bytes REAL, live_bytes REAL,
    PRIMARY KEY (trial, position)
);

CREATE TABLE class_counter_info (      -- a row only where counters were asked for
    trial INTEGER PRIMARY KEY,
    counters INTEGER,                  -- how many names
    note TEXT                          -- how they were taken, or why there are none
);

CREATE TABLE counter_names (
    trial INTEGER NOT NULL, position INTEGER NOT NULL,
    name TEXT,
    PRIMARY KEY (trial, position)
);

CREATE TABLE class_counters (          -- a class of layers (an operator), per inference
    trial INTEGER NOT NULL, position INTEGER NOT NULL,
    op TEXT, layers INTEGER, time_ns REAL,
    PRIMARY KEY (trial, position)
);

CREATE TABLE class_counter_values (
    trial INTEGER NOT NULL,
    class INTEGER NOT NULL,            -- class_counters.position
    counter INTEGER NOT NULL,          -- counter_names.position
    value REAL,
    PRIMARY KEY (trial, class, counter)
);

CREATE TABLE ceilings (                -- what the device can do at most, as it was measured before
    profile INTEGER NOT NULL, position INTEGER NOT NULL,
    device TEXT, name TEXT,
    value REAL, unit TEXT,             -- NULL: unavailable, the note says why
    low REAL, high REAL,
    source TEXT, note TEXT, measured_at TEXT,
    PRIMARY KEY (profile, position)
);
