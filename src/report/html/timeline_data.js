/* timeline_data.js - the events of a timeline, as json/timeline_json.c packed them: rows of tracks, each as levels from the events themselves to coarser
 * and coarser forms. A chunk of a level is decoded when it is first drawn or counted. Times are units of ns (info.unit_ns) since the first event. */

const events = {info: null, data: '', rows: [], tracks: [], labels: null, kinds: {}};
const HAS = {bytes: 1, correlation: 2, details: 4};

function loadEvents() {
    const info = read('assay-timeline');
    if (!info || !info.tracks || !info.span) return false;
    let offset = 0;
    const chunksOf = (numbers, fine) => {
        const made = [];
        for (let i = 0; i < numbers.length; i += 4) {
            made.push({count: numbers[i], begin: numbers[i + 1], end: numbers[i + 2], from: offset, size: numbers[i + 3], fine: fine, spans: null});
            offset += numbers[i + 3];
        }
        return made;
    };
    events.info = info;
    events.data = read('assay-timeline-data') || '';
    events.labels = info.labels;
    events.unit = info.unit_ns / 1e9; /* s */
    info.kinds.forEach((name, i) => { events.kinds[name] = i; });
    events.tracks = info.tracks.map((track, number) => {
        const made = {kind: track.kind, name: track.name || '', group: track.group || '', events: track.events, number: number, rows: []};
        track.rows.forEach((row) => {
            const own = {track: made, place: events.rows.length, has: row.has, nested: Boolean(row.nested), levels: row.levels.map((level) => ({width: level[0], chunks: chunksOf(level[1], !level[0])}))};
            events.rows.push(own);
            made.rows.push(own);
        });
        return made;
    });
    return true;
}
/* The spans of a chunk: begin, end, label; of events bytes, correlation and details where the row has them; of coarser levels count and busy (0 … 255). */
function spansOf(row, chunk) {
    if (chunk.spans) return chunk.spans;
    const text = atob(events.data.slice(chunk.from / 3 * 4, (chunk.from + chunk.size) / 3 * 4)), fine = chunk.fine, count = chunk.count;
    const made = {begin: new Float64Array(count), end: new Float64Array(count), label: new Uint32Array(count), count: null, busy: null, bytes: null, correlation: null, detail: null};
    let at = 0, last = chunk.begin, known = 0;
    const number = () => { /* seven bits a byte, the lowest first */
        let byte = text.charCodeAt(at++), value = byte & 127, weight = 128;
        while (byte > 127) { byte = text.charCodeAt(at++); value += (byte & 127) * weight; weight *= 128; }
        return value;
    };
    const signed = () => { const value = number(); return value % 2 ? -(value + 1) / 2 : value / 2; };
    if (!fine) { made.count = new Uint32Array(count); made.busy = new Uint8Array(count); }
    if (fine && row.has & HAS.bytes) made.bytes = new Float64Array(count);
    if (fine && row.has & HAS.correlation) made.correlation = new Float64Array(count);
    if (fine && row.has & HAS.details) made.detail = new Uint32Array(count);
    for (let i = 0; i < count; i++) {
        made.begin[i] = last + signed();
        made.end[i] = last = made.begin[i] + number();
        made.label[i] = number();
        if (!fine) { made.count[i] = number() + 1; made.busy[i] = number(); continue; }
        if (made.bytes) made.bytes[i] = signed();
        if (made.correlation) { /* one that JavaScript cannot count exactly is none */
            const value = number();
            if (value) known += (value - 1) % 2 ? -value / 2 : (value - 1) / 2;
            made.correlation[i] = value && Math.abs(known) < 9007199254740992 ? known : 0;
        }
        if (made.detail) made.detail[i] = number();
    }
    chunk.spans = made;
    return made;
}
/* The coarsest level that looks the same where a pixel is so many units. */
function levelFor(row, pixel) {
    let best = row.levels[0];
    row.levels.forEach((level) => { if (level.width <= pixel) best = level; });
    return best;
}
/* Calls act(spans, from, to) for the spans of a level that reach into a window. */
function eachChunk(row, level, low, high, act) {
    for (const chunk of level.chunks) {
        if (chunk.end < low) continue;
        if (chunk.begin > high) break;
        const spans = spansOf(row, chunk);
        let from = 0, to = chunk.count;
        if (chunk.begin < low) { /* ends ascend as beginnings do */
            let a = 0, b = to;
            while (a < b) { const middle = (a + b) >> 1; if (spans.end[middle] < low) a = middle + 1; else b = middle; }
            from = a;
        }
        if (chunk.end > high) {
            let a = from, b = to;
            while (a < b) { const middle = (a + b) >> 1; if (spans.begin[middle] <= high) a = middle + 1; else b = middle; }
            to = a;
        }
        if (to > from) act(spans, from, to, chunk);
    }
}
/* Goes through the events of rows in slices of a few ms, so that the page stays fluent: act(row, spans, from, to), then done(). Returns a way to stop it. */
function eachEvent(rows, low, high, act, done) {
    const queue = [];
    let stopped = false, at = 0;
    rows.forEach((row) => row.levels[0].chunks.forEach((chunk) => { if (chunk.end >= low && chunk.begin <= high) queue.push([row, chunk]); }));
    const go = () => {
        const until = performance.now() + 12;
        while (!stopped && at < queue.length && performance.now() < until) {
            const [row, chunk] = queue[at++];
            eachChunk(row, {width: 0, chunks: [chunk]}, low, high, (spans, from, to) => act(row, spans, from, to, chunk));
        }
        if (stopped) return;
        if (at < queue.length) setTimeout(go, 0);
        else done();
    };
    go();
    return () => { stopped = true; };
}
const seconds = (units) => units * events.unit;
const timeText = (units) => scaled(seconds(units), 's');

/* --- an event: its row and its place among the row's events ------------------------------------------------------------------------------------ */

function eventAt(row, place) {
    let at = place;
    for (const chunk of row.levels[0].chunks) {
        if (at < chunk.count) {
            const spans = spansOf(row, chunk);
            return describeEvent(row, place, spans, at);
        }
        at -= chunk.count;
    }
    return null;
}
function describeEvent(row, place, spans, i) {
    const label = spans.label[i];
    return {row: row, place: place, begin: spans.begin[i], end: spans.end[i], label: label, name: events.labels.name[label], kind: events.info.kinds[events.labels.kind[label]],
        series: events.labels.series[label], bytes: spans.bytes ? spans.bytes[i] : 0, correlation: spans.correlation ? spans.correlation[i] : 0,
        detail: spans.detail && spans.detail[i] ? events.info.details[spans.detail[i] - 1] : ''};
}
const eventCount = (row) => row.levels[0].chunks.reduce((sum, chunk) => sum + chunk.count, 0);
/* The place of the last event that begins at or before a time; -1: none. */
function placeBefore(row, time) {
    let before = 0, best = -1;
    for (const chunk of row.levels[0].chunks) {
        if (chunk.begin > time) break;
        const spans = spansOf(row, chunk);
        let a = 0, b = chunk.count;
        while (a < b) { const middle = (a + b) >> 1; if (spans.begin[middle] <= time) a = middle + 1; else b = middle; }
        if (a) best = before + a - 1;
        before += chunk.count;
    }
    return best;
}

/* --- what a stretch of time holds -------------------------------------------------------------------------------------------------------------------- */

/* Sums over [low, high], by label: events that reach into it, and their time inside. done({labels, devices, count}). */
function sumEvents(low, high, done) {
    const labels = new Map(), devices = new Map(), kinds = events.labels.kind;
    let total = 0;
    const add = (row, spans, from, to) => {
        const device = row.track.kind === 'device';
        for (let i = from; i < to; i++) {
            const label = spans.label[i], inside = Math.min(high, spans.end[i]) - Math.max(low, spans.begin[i]);
            if (inside < 0 || (inside === 0 && spans.end[i] > spans.begin[i])) continue; /* it only touches */
            if (device) {
                const own = devices.get(row.track) || {busy: 0, idle: new Map()};
                devices.set(row.track, own);
                if (kinds[label] === events.kinds.busy) own.busy += inside;
                else own.idle.set(label, (own.idle.get(label) || 0) + inside);
                continue;
            }
            let sum = labels.get(label);
            if (!sum) labels.set(label, sum = {label: label, count: 0, time: 0, least: Infinity, most: 0});
            const whole = spans.end[i] - spans.begin[i];
            sum.count++;
            sum.time += inside;
            if (whole < sum.least) sum.least = whole;
            if (whole > sum.most) sum.most = whole;
            total++;
        }
    };
    return eachEvent(events.rows, low, high, add, () => done({labels: Array.from(labels.values()).sort((a, b) => b.time - a.time || b.count - a.count), devices: devices, count: total}));
}
