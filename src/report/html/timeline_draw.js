/* timeline_draw.js - the timeline on a canvas: an overview of the whole, a ruler, and the tracks that are in view. Spans narrower than a pixel are drawn
 * as one column that is as strong as they are busy; the level of detail is chosen so that a row never has more than a few of them for each pixel. */

const chart = {box: null, canvas: null, low: 0, high: 1, lines: [], height: 0, gutter: 0, width: 0, queued: false, range: null, event: null, hover: null, matches: null, found: null,
    folded: new Set(), shut: new Set(), marks: 0, joined: null, byName: false, byRow: new Map()};
const OVERVIEW = 30, RULER = 22, HEAD = OVERVIEW + RULER, ROW_TALL = 17, SHADES = 6;

/* --- where everything lies ------------------------------------------------------------------------------------------------------------------------ */

/* Lines from top to bottom: {kind: 'group' | 'name' | 'row' | 'counter', y, height, …}. On a narrow screen a track's name has a line of its own. */
function layoutLines() {
    const narrow = chart.width < 640, lines = [];
    let y = 0, group = null;
    const line = (made, height) => { lines.push(Object.assign(made, {y: y, height: height})); y += height; };
    chart.gutter = narrow ? 0 : Math.min(220, Math.round(chart.width * 0.16));
    events.tracks.forEach((track) => {
        if (track.group !== group) line({kind: 'group', text: track.group}, 24);
        group = track.group;
        if (chart.shut.has(group)) return;
        const shut = chart.folded.has(track.number);
        if (narrow) line({kind: 'name', track: track, text: track.name}, 15);
        (shut ? track.rows.slice(0, 1) : track.rows).forEach((row, i) => line({kind: 'row', row: row, track: track, first: i === 0, shut: shut}, track.kind === 'device' ? 30 : shut ? 11 : ROW_TALL));
        y += 5;
    });
    events.info.counters.forEach((counter) => {
        const title = counter.name + (counter.group ? ' (' + counter.group + ')' : '');
        if (narrow) line({kind: 'name', text: title}, 15);
        line({kind: 'counter', counter: counter, text: title, first: true}, 44);
        y += 5;
    });
    chart.lines = lines;
    chart.byRow = new Map(lines.filter((made) => made.row).map((made) => [made.row, made]));
    chart.height = y;
}
function placeLines() {
    layoutLines();
    chart.spacer.style.height = chart.height + HEAD + 'px';
    chart.box.style.height = Math.min(chart.height + HEAD + 2, Math.max(300, Math.round(innerHeight * 0.62))) + 'px';
}
const xOf = (time) => chart.gutter + (time - chart.low) / (chart.high - chart.low) * (chart.width - chart.gutter);
const timeOf = (x) => chart.low + (x - chart.gutter) / (chart.width - chart.gutter) * (chart.high - chart.low);

/* --- colours ---------------------------------------------------------------------------------------------------------------------------------------- */

/* A colour of the palette in SHADES strengths, as the canvas wants it. */
const shades = new Map();
function shadesOf(series) {
    if (!shades.has(series)) {
        const color = ink('fig-s' + series), part = /^#(..)(..)(..)$/.exec(color);
        shades.set(series, Array.from({length: SHADES}, (none, i) => part ? 'rgba(' + part.slice(1).map((hex) => parseInt(hex, 16)).join(',') + ',' + ((i + 1) / SHADES).toFixed(2) + ')' : color));
    }
    return shades.get(series);
}
/* By the kind of event, or by name: equal names have equal colours. */
function seriesOf(label) {
    if (!chart.byName || events.labels.kind[label] >= events.kinds.busy) return events.labels.series[label];
    const name = events.labels.name[label];
    let hash = 7;
    for (let i = 0; i < name.length; i++) hash = (hash * 31 + name.charCodeAt(i)) >>> 0;
    return hash % 7;
}
const isFaint = (label) => chart.matches !== null && !chart.matches[label];

/* --- rows ---------------------------------------------------------------------------------------------------------------------------------------------- */

/* Rectangles by colour and strength, so that the canvas changes its colour seldom. */
function makeBatch() {
    const batches = new Map();
    return {
        rect: (series, shade, x, y, width, height) => {
            const key = series * SHADES + shade;
            let list = batches.get(key);
            if (!list) batches.set(key, list = []);
            list.push(x, y, width, height);
        },
        flush: (context) => batches.forEach((list, key) => {
            context.fillStyle = shadesOf(Math.floor(key / SHADES))[key % SHADES];
            for (let i = 0; i < list.length; i += 4) context.fillRect(list[i], list[i + 1], list[i + 2], list[i + 3]);
        })
    };
}
/* One row between two times, from x to x + width; words: a list for those that fit, or null. */
function drawRow(batch, row, y, height, low, high, x, width, words) {
    const scale = width / (high - low), level = levelFor(row, 1 / scale), kinds = events.labels.kind, idle = events.kinds.idle;
    let column = -1, cover = 0, most = 0, label = 0, end = x - 1;
    const put = (of, left, wide, strength) => {
        const low = kinds[of] === idle, tall = low ? Math.round(height * 0.55) : height; /* idle time is lower */
        batch.rect(seriesOf(of), isFaint(of) ? 0 : Math.max(low ? 2 : 1, Math.min(SHADES - 1, Math.ceil(strength * SHADES) - 1)), left, y + height - tall, wide, tall);
        chart.marks++;
    };
    const flush = () => { if (column >= 0) put(label, column, 1, cover); column = -1; };
    eachChunk(row, level, low, high, (spans, from, to) => {
        for (let i = from; i < to; i++) {
            const left = x + (spans.begin[i] - low) * scale, right = x + (spans.end[i] - low) * scale, wide = right - left;
            if (wide < 1) { /* into its column of a pixel */
                const own = Math.floor(left), share = Math.max(0.02, wide * (spans.busy ? spans.busy[i] / 255 : 1));
                if (own !== column) { flush(); column = own; cover = most = 0; }
                cover += share;
                if (share > most || (chart.matches && chart.matches[spans.label[i]] && isFaint(label))) { most = share; label = spans.label[i]; }
                continue;
            }
            flush();
            const begin = Math.max(x - 1, Math.round(left)), stop = Math.min(x + width, Math.max(begin + 1, Math.round(right)) - (wide > 3 ? 1 : 0));
            if (stop <= begin) continue;
            put(spans.label[i], begin, stop - begin, spans.busy ? spans.busy[i] / 255 : 1);
            if (words && stop - begin > 34 && kinds[spans.label[i]] !== events.kinds.busy) words.push([spans.label[i], Math.max(x, begin), stop - Math.max(x, begin), y, height, end]);
            end = stop;
        }
    });
    flush();
}
function drawWords(context, words) {
    context.font = fontOf(11);
    context.textBaseline = 'middle';
    words.forEach((word) => {
        const [label, left, wide, y, height] = word, most = Math.floor((wide - 8) / 6), text = most > 3 ? safe(cutName(nameOf(label), most)) : '', idle = events.labels.kind[label] === events.kinds.idle;
        if (!text) return;
        context.fillStyle = isFaint(label) ? ink('ink') : ink('fig-on-s' + seriesOf(label));
        context.fillText(text, left + 4, idle ? y + height * 0.72 : y + height / 2 + 0.5, wide - 7);
    });
}
/* Of a short piece the beginning says most. */
const cutName = (text, most) => text.length <= most ? text : most < 14 ? text.slice(0, most - 1) + '…' : shorten(text, most);
/* "vectorized_add_kernel<4>" says more than "void at::native::vectorized_…". */
const shortNames = new Map();
function nameOf(label) {
    if (!shortNames.has(label)) {
        const name = events.labels.name[label] || events.info.kinds[events.labels.kind[label]], plain = /^(?:void )?([^<(]*)/.exec(name);
        shortNames.set(label, events.labels.kind[label] === events.kinds.kernel && plain && plain[1].includes('::') ? plain[1].split('::').pop() + name.slice(plain[0].length) : name);
    }
    return shortNames.get(label);
}

/* --- counters ------------------------------------------------------------------------------------------------------------------------------------------ */

function drawCounter(context, line, y) {
    const samples = line.counter.samples, low = chart.low, high = chart.high, left = chart.gutter, height = line.height - 14;
    let most = -Infinity, least = 0;
    for (let i = 0; i < samples.length; i += 2) if (known(samples[i + 1])) { most = Math.max(most, samples[i + 1]); least = Math.min(least, samples[i + 1]); }
    if (most === -Infinity) return;
    let a = 0, b = samples.length / 2;
    while (a < b) { const middle = (a + b) >> 1; if (samples[2 * middle] <= low) a = middle + 1; else b = middle; }
    const yOf = (value) => y + line.height - (value - least) / (most - least || 1) * height, base = yOf(Math.max(0, least));
    context.fillStyle = ink('quiet');
    for (let i = Math.max(0, a - 1); 2 * i < samples.length && samples[2 * i] <= high; i++) { /* a value holds until the next */
        const from = Math.max(left, xOf(samples[2 * i])), to = Math.min(chart.width, 2 * i + 2 < samples.length ? xOf(samples[2 * i + 2]) : chart.width);
        if (to <= from || !known(samples[2 * i + 1])) continue;
        const top = yOf(samples[2 * i + 1]);
        context.fillRect(from, Math.min(top, base), Math.max(1, to - from), Math.max(1, Math.abs(base - top)));
    }
    context.fillStyle = ink('soft');
    context.font = fontOf(11);
    context.textBaseline = 'middle';
    context.fillText(safe('at most ' + scaled(most, line.counter.unit || '')), left + 4, y + 7);
}

/* --- the head: overview and ruler ----------------------------------------------------------------------------------------------------------------------- */

/* The row that stands for all: the first device's, else the one with most events. */
function overviewRow() {
    const device = events.rows.find((row) => row.track.kind === 'device');
    return device || events.rows.reduce((best, row) => !best || eventCount(row) > eventCount(best) ? row : best, null);
}
function drawHead(context) {
    const left = chart.gutter, width = chart.width - left, span = events.info.span, batch = makeBatch(), row = overviewRow(), scale = width / span;
    context.fillStyle = ink('ground');
    context.fillRect(0, 0, chart.width, HEAD);
    const kept = chart.matches;
    chart.matches = null;
    if (row) drawRow(batch, row, 4, OVERVIEW - 8, 0, span, left, width, null);
    chart.matches = kept;
    batch.flush(context);
    if (chart.found) {
        context.fillStyle = ink('accent');
        const told = new Uint8Array(chart.width + 2);
        chart.found.begin.forEach((time) => { const x = Math.floor(left + time * scale); if (!told[x]) { told[x] = 1; context.fillRect(x, 0, 1, 4); } });
    }
    context.globalAlpha = 0.72; /* what is not in view */
    context.fillStyle = ink('ground');
    context.fillRect(left, 0, chart.low * scale, OVERVIEW);
    context.fillRect(left + chart.high * scale, 0, width - chart.high * scale, OVERVIEW);
    context.globalAlpha = 1;
    context.strokeStyle = ink('accent');
    context.lineWidth = 1;
    context.strokeRect(left + chart.low * scale + 0.5, 0.5, Math.max(2, (chart.high - chart.low) * scale - 1), OVERVIEW - 1);
    context.fillStyle = ink('line');
    context.fillRect(left, HEAD - 1, width, 1);
    const low = seconds(chart.low), high = seconds(chart.high), step = roundStep((high - low) / Math.max(2, Math.floor(width / 130)));
    context.font = fontOf(11);
    context.textBaseline = 'middle';
    for (let time = Math.ceil(low / step - 1e-9) * step; time <= high + step * 1e-6; time += step) {
        const at = left + (time - low) / (high - low) * width, text = Math.abs(time) < step * 1e-6 ? '0' : tick(time, 's', step), wide = measure(text, fontOf(11));
        context.fillStyle = ink('line');
        context.fillRect(Math.round(at), HEAD - 6, 1, 6);
        context.fillStyle = ink('soft');
        context.fillText(text, Math.max(left, Math.min(at - wide / 2, chart.width - wide)), OVERVIEW + 9);
    }
}

/* --- all of it --------------------------------------------------------------------------------------------------------------------------------------------- */

function drawNames(context, top, bottom) {
    context.textBaseline = 'middle';
    chart.lines.forEach((line) => {
        const y = line.y - top + HEAD;
        if (y > bottom || y + line.height < HEAD) return;
        if (line.kind === 'group') {
            context.font = fontOf(12, 600);
            context.fillStyle = ink('ink');
            context.fillText(safe((chart.shut.has(line.text) ? '▸ ' : '▾ ') + line.text), 2, y + 14, chart.width - 8);
        } else if (line.kind === 'name' || (line.first && chart.gutter)) {
            const track = line.track, more = track && track.rows.length > 1 ? (chart.folded.has(track.number) ? '▸ ' : '▾ ') : '';
            const most = Math.floor((line.kind === 'name' ? chart.width : chart.gutter - 10) / 6.2), text = safe(shorten(more + (track ? track.name : line.text), most));
            context.font = fontOf(11);
            context.fillStyle = ink('soft');
            context.fillText(text, line.kind === 'name' ? 2 : 10, y + Math.min(line.height, ROW_TALL) / 2 + (line.kind === 'counter' ? 4 : 0), line.kind === 'name' ? chart.width - 4 : chart.gutter - 14);
        }
    });
}
const lineOf = (row) => chart.byRow.get(row);
/* A frame around an event, at least wide enough to be seen. */
function frameEvent(context, event, top, color, thick) {
    const line = event && lineOf(event.row);
    if (!line || event.end < chart.low || event.begin > chart.high) return;
    const left = Math.max(chart.gutter - 2, xOf(event.begin)), right = Math.min(chart.width + 2, xOf(event.end));
    context.strokeStyle = color;
    context.lineWidth = thick;
    context.strokeRect(Math.round(left) - 0.5, line.y - top + HEAD + 0.5, Math.max(3, right - left), line.height - 2);
}
/* From a call to what it launched. */
function drawArrow(context, from, to, top) {
    const a = lineOf(from.row), b = lineOf(to.row);
    if (!a || !b) return;
    const x0 = xOf(from.begin), y0 = a.y - top + HEAD + a.height / 2, x1 = xOf(to.begin), y1 = b.y - top + HEAD + b.height / 2, turn = Math.max(18, Math.abs(x1 - x0) / 2);
    context.strokeStyle = ink('ink');
    context.lineWidth = 1.4;
    context.beginPath();
    context.moveTo(x0, y0);
    context.bezierCurveTo(x0 + turn, y0, x1 - turn, y1, x1, y1);
    context.stroke();
    context.beginPath();
    context.arc(x1, y1, 3, 0, 7);
    context.fillStyle = ink('ink');
    context.fill();
}
function drawFound(context, top, bottom) {
    const found = chart.found;
    if (!found) return;
    context.fillStyle = ink('accent');
    for (let i = 0; i < found.begin.length; i++) {
        const line = lineOf(found.row[i]), y = line ? line.y - top + HEAD : -1;
        if (!line || y > bottom || y < HEAD - line.height || found.end[i] < chart.low || found.begin[i] > chart.high) continue;
        const left = xOf(found.begin[i]), wide = xOf(found.end[i]) - left;
        context.fillRect(Math.max(chart.gutter, left), y + line.height - 3, Math.max(2, Math.min(wide, chart.width)), 2);
    }
}
function paintChart() {
    chart.queued = false;
    const width = chart.box.clientWidth, ratio = window.devicePixelRatio || 1;
    if (!width) return;
    if (width !== chart.width) { chart.width = width; placeLines(); }
    const tall = chart.box.clientHeight;
    if (chart.canvas.width !== Math.round(width * ratio) || chart.canvas.height !== Math.round(tall * ratio)) {
        chart.canvas.width = Math.round(width * ratio);
        chart.canvas.height = Math.round(tall * ratio);
        chart.canvas.style.height = tall + 'px';
        chart.canvas.style.marginBottom = -tall + 'px';
    }
    const context = chart.canvas.getContext('2d'), top = chart.box.scrollTop, batch = makeBatch(), words = [];
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, tall);
    chart.marks = 0;
    context.fillStyle = ink('raised');
    chart.lines.forEach((line) => {
        const y = line.y - top + HEAD;
        if (y > tall || y + line.height < HEAD) return;
        if (line.kind === 'row' || line.kind === 'counter') { context.fillStyle = ink('raised'); context.fillRect(chart.gutter, y, width - chart.gutter, line.height - 1); }
        if (line.kind === 'row') drawRow(batch, line.row, y, line.height - 1, chart.low, chart.high, chart.gutter, width - chart.gutter, line.shut ? null : words);
        if (line.kind === 'counter') drawCounter(context, line, y);
    });
    batch.flush(context);
    drawWords(context, words);
    drawFound(context, top, tall);
    if (chart.joined && chart.event) {
        const launch = chart.joined.launch;
        frameEvent(context, chart.joined.other, top, ink('ink'), 1);
        drawArrow(context, launch ? chart.joined.other : chart.event, launch ? chart.event : chart.joined.other, top);
    }
    frameEvent(context, chart.hover, top, ink('soft'), 1);
    frameEvent(context, chart.event, top, ink('ink'), 2);
    if (chart.gutter) { context.fillStyle = ink('ground'); context.fillRect(0, HEAD, chart.gutter - 1, tall); }
    if (chart.range) {
        const left = Math.max(chart.gutter, xOf(chart.range[0])), right = Math.min(width, xOf(chart.range[1]));
        if (right > left) {
            context.globalAlpha = 0.13;
            context.fillStyle = ink('accent');
            context.fillRect(left, HEAD, right - left, tall);
            context.globalAlpha = 1;
            context.fillRect(left, OVERVIEW, 1, tall);
            context.fillRect(right - 1, OVERVIEW, 1, tall);
        }
    }
    drawNames(context, top, tall);
    drawHead(context);
    if (chart.range) { /* on the ruler too */
        const left = Math.max(chart.gutter, xOf(chart.range[0])), right = Math.min(width, xOf(chart.range[1]));
        context.fillStyle = ink('accent');
        if (right > left) context.fillRect(left, HEAD - 3, right - left, 3);
    }
    chart.box.dataset.marks = String(chart.marks);
}
function drawChart() {
    if (!chart.canvas || chart.queued) return;
    chart.queued = true;
    requestAnimationFrame(paintChart);
}
