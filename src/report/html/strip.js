/* strip.js - one inference as a strip: stages, blocks and layers, with width proportional to time; below them, on the same axis, the rate of each layer compared with
 * its roof, and the activations alive. Drawn on a canvas from columns, so that ten thousand layers stay fluent; without the script the picture that
 * the page was written with stands here. The times are those of the layers laid end to end: it is no trace. */

const strip = {canvas: null, over: null, box: null, line: null, kept: null, drag: null, stale: false, queued: false, wide: 0, rows: []};

/* --- colours ---------------------------------------------------------------------------------------- */

const boundNames = ['compute', 'memory', 'overhead', 'neither'];
/* What the layers can be coloured by: a title, the names of the colours, and which of them a position has (-1: none of them). */
function colorings() {
    const made = [], names = (values) => { /* the six that take the most time in total */
        const sums = new Map();
        values.forEach((value, i) => { if (value) sums.set(value, (sums.get(value) || 0) + (layers.time[i] || 0)); });
        return Array.from(sums.keys()).sort((a, b) => sums.get(b) - sums.get(a)).slice(0, 6);
    };
    const kinds = (key, title, values) => {
        const found = names(values);
        if (found.length) made.push({key: key, title: title, names: found, inks: found.map((none, i) => 'fig-s' + i), of: (i) => found.indexOf(values[i])});
    };
    if (layers.judged)
        made.push({key: 'roof', title: 'share of peak', names: ['0', '', '', '', '', '', '', '100 %'], scale: true,
            inks: Array.from({length: 8}, (none, i) => 'fig-r' + i), of: (i) => isFinite(layers.peak[i]) ? Math.max(0, Math.min(7, Math.floor(layers.peak[i] * 8))) : -1});
    kinds('op', 'operator', layers.op);
    if (layers.bound.some((bound) => boundNames.includes(bound)))
        made.push({key: 'bound', title: 'bound', names: boundNames, inks: ['fig-s0', 'fig-s1', 'fig-s4', 'fig-s7'], of: (i) => boundNames.indexOf(layers.bound[i])});
    kinds('type', 'precision', layers.outputs.map((shapes, i) => typeOf(shapes) || typeOf(layers.inputs[i])));
    kinds('device', 'device', layers.provider.map((name) => (name || '').replace(/ExecutionProvider$/, '')));
    return made;
}
let coloringList = null;
const coloring = () => {
    coloringList = coloringList || colorings();
    return coloringList.find((item) => item.key === state.color) || coloringList[0];
};
function colorOf(position) {
    const by = coloring(), at = by ? by.of(position) : -1;
    return at < 0 ? ink('fig-axis') : ink(by.inks[at]);
}
/* For several layers: by their combined share of the peak, else the colour of what takes most of their time. */
function colorOfAll(positions) {
    const by = coloring(), sums = new Map();
    if (by && by.key === 'roof') {
        const peak = sumOf(positions).peak;
        return isFinite(peak) ? ink(by.inks[Math.max(0, Math.min(7, Math.floor(peak * 8)))]) : ink('fig-axis');
    }
    positions.forEach((i) => { const at = by ? by.of(i) : -1; sums.set(at, (sums.get(at) || 0) + (layers.time[i] || 0)); });
    const best = Array.from(sums.keys()).sort((a, b) => sums.get(b) - sums.get(a))[0];
    return best === undefined || best < 0 ? ink('fig-axis') : ink(by.inks[best]);
}
/* A text colour that is readable on a colour. */
function inkOn(color) {
    const part = /^#(..)(..)(..)$/.exec(color.length === 4 ? color.replace(/[^#]/g, '$&$&') : color);
    if (!part) return ink('ink');
    const [r, g, b] = part.slice(1).map((hex) => Math.pow(parseInt(hex, 16) / 255, 2.2));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.3 ? '#14171c' : '#ffffff';
}

/* --- where everything is ------------------------------------------------------------------------------ */

/* The layers one after the other: positions, where each begins, and the end. */
function stripLine() {
    if (strip.line && strip.line.by === state.order) return strip.line;
    const order = Array.from(layers.time.keys()).filter((i) => isFinite(layers.time[i]));
    if (state.order === 'time') order.sort((a, b) => layers.time[b] - layers.time[a]);
    const start = new Float64Array(order.length + 1), place = new Map();
    order.forEach((i, k) => { start[k + 1] = start[k] + layers.time[i]; place.set(i, k); });
    strip.line = {by: state.order, order: order, start: start, place: place, end: Math.max(layers.whole, start[order.length])};
    return strip.line;
}
/* "3-9ms" in s; null: invalid, or everything. */
function spanOf(text) {
    const parts = /^([\d.e-]+)-([\d.e-]+)(ns|us|ms|s)$/.exec(text), scale = parts && {ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1}[parts[3]], end = stripLine().end;
    const low = parts && Math.max(0, parts[1] * scale), high = parts && Math.min(end, parts[2] * scale);
    return parts && high > low ? [low, high] : null;
}
function spanText(low, high) {
    const [unit, scale] = high >= 1 ? ['s', 1] : high >= 1e-3 ? ['ms', 1e3] : high >= 1e-6 ? ['us', 1e6] : ['ns', 1e9];
    const places = Math.max(0, Math.min(6, 3 - Math.floor(Math.log10((high - low) * scale)))), write = (value) => String(Number((value * scale).toFixed(places)));
    return write(low) + '-' + write(high) + unit;
}
const windowOf = () => spanOf(state.zoom) || [0, stripLine().end];
/* The index of the layer at that time. */
function placeAt(time) {
    const start = stripLine().start;
    let low = 0, high = start.length - 1;
    while (low + 1 < high) { const middle = (low + high) >> 1; if (start[middle] <= time) low = middle; else high = middle; }
    return low;
}
/* The parts of a layer's name without its operator: "layer4", "conv2" of "/layer4/conv2/Conv". */
function partsOf(position) {
    const parts = layers.title[position].split('/').filter(Boolean);
    if (parts.length > 1 && parts[parts.length - 1].replace(/_\d+$/, '') === layers.op[position]) parts.pop();
    return parts;
}
/* What is written on the figure; no two layers have the same: the last part, where no other layer has it in its name, else the number. */
function labelsOf(position) {
    if (!strip.named) {
        strip.named = new Map();
        layers.title.forEach((none, i) => new Set(partsOf(i)).forEach((part) => strip.named.set(part, (strip.named.get(part) || 0) + 1)));
    }
    const name = partsOf(position).pop() || '', number = '#' + layers.index[position];
    return strip.named.get(name) === 1 ? [name, number] : [number];
}
/* The same of the blocks of a level: label and time, label, what its label has beyond the beginning of all of them. */
function blockLabels(level) {
    const own = layers.blocks.filter((block) => block.level === level && block.label), counts = new Map();
    own.forEach((block) => counts.set(block.label, (counts.get(block.label) || 0) + 1));
    const made = new Map(own.map((block) => [block, counts.get(block.label) > 1 ? block.name.replace(/^\//, '') : block.label])), texts = Array.from(made.values());
    const common = texts.reduce((most, text) => { let n = 0; while (n < most.length && most[n] === text[n]) n++; return most.slice(0, n); }, texts[0] || '').replace(/\d+$/, '');
    return new Map(own.map((block) => { const text = made.get(block), rest = text.slice(common.length); return [block, rest && rest !== text ? [text, rest] : [text]]; }));
}

/* --- drawing ------------------------------------------------------------------------------------------- */

/* What does not change while one zooms: colours, blocks with where they begin and end, the roofs. */
function stripKept() {
    const line = stripLine(), by = coloring(), key = [state.order, by && by.key, isDark(), state.q].join('\n');
    if (strip.kept && strip.kept.key === key) return strip.kept;
    const matching = matches(), most = layers.rateTop, made = {key: key, faint: null, levels: []};
    made.colors = Array.from(layers.time, (none, i) => colorOf(i));
    if (matching) made.faint = Array.from(layers.time, (none, i) => (matching.has(i) ? 1 : 0.22));
    made.roofed = layers.attainable.some((value) => value > 0);
    made.higher = layers.attainable.filter((value) => value > most * 1.001).length;
    if (state.order !== 'time') [0, 1].forEach((level) => {
        const names = blockLabels(level);
        made.levels.push(layers.blocks.filter((block) => block.level === level && block.label).map((block) => {
            const inside = Array.from({length: block.count}, (none, i) => block.first + i).filter((i) => line.place.has(i)); /* of this run: a part may run in several pieces */
            if (!inside.length) return null;
            const from = line.start[line.place.get(inside[0])], to = line.start[line.place.get(inside[inside.length - 1]) + 1], own = names.get(block);
            const time = scaled(to - from, 's') + (level ? '' : ' · ' + scaled((to - from) / layers.whole, 'ratio')), color = level ? colorOfAll(inside) : ink('raised');
            return {from: from, to: to, color: color, ink: level ? inkOn(color) : ink('ink'), texts: [own[0] + '  ' + time].concat(own, ''),
                alpha: matching && !inside.some((i) => matching.has(i)) ? 0.22 : 1};
        }).filter(Boolean));
    });
    strip.kept = made;
    return made;
}
/* Rows from top to bottom: {key, y, height}. */
function stripRows(tall) {
    const rows = [], levels = state.order === 'time' ? 0 : 1 + Math.max(-1, ...layers.blocks.map((block) => block.level));
    let y = 0;
    const row = (key, height, gap) => { rows.push({key: key, y: y, height: height}); y += height + gap; };
    if (levels > 0) row('stage', 22, 1);
    if (levels > 1) row('block', 22, 1);
    row('layer', tall, 6);
    if (layers.mostRate > 0) row('rate', 52, 8);
    if (layers.mostLive > 0) row('live', 40, 0);
    row('axis', 20, 0);
    return rows;
}
/* p: a painter (paint.js); the window of time is drawn from x to x + width. */
function paintStrip(p, x, y, width, rows, low, high) {
    const line = stripLine(), kept = stripKept(), at = (time) => x + (time - low) / (high - low) * width;
    const clip = (from, to) => { const left = Math.max(x, at(from)), right = Math.min(x + width, at(to)); return right > left ? [left, right - left] : null; };
    const faint = (i) => (kept.faint ? kept.faint[i] : 1), colorAt = (i) => kept.colors[i], pieces = [];
    const first = placeAt(low), last = Math.min(line.order.length, placeAt(high) + 1);
    const box = (row) => rows.find((item) => item.key === row);
    /* layers narrower than a pixel are drawn together with their neighbours, as the longest of them */
    for (let k = first; k < last;) {
        let next = k + 1, longest = k;
        while (next < last && at(line.start[next]) - at(line.start[k]) < 1) {
            if (layers.time[line.order[next]] > layers.time[line.order[longest]]) longest = next;
            next++;
        }
        const span = clip(line.start[k], line.start[next]);
        if (span) pieces.push([line.order[longest], span[0], span[1]]);
        k = next;
    }
    const each = (act) => pieces.forEach((piece) => act(piece[0], piece[1], piece[2])), gap = (wide) => (wide > 4 ? 1 : 0);
    ['stage', 'block'].forEach((key, level) => {
        const row = box(key);
        let drawn = -1; /* up to this pixel */
        if (!row) return;
        kept.levels[level].forEach((block) => {
            const span = clip(block.from, block.to);
            if (!span || (span[1] < 1 && Math.floor(span[0]) === drawn)) return;
            drawn = Math.floor(span[0] + span[1]);
            p.rect(span[0], y + row.y, span[1] - gap(span[1]), row.height, block.color, block.alpha);
            if (span[1] > 16) p.label(span[0] + 5, y + row.y + row.height / 2, span[1] - 8, block.texts, block.ink);
        });
    });
    const own = box('layer');
    each((i, left, wide) => {
        const color = colorAt(i);
        p.rect(left, y + own.y, wide - gap(wide), own.height, color, faint(i));
        if (wide > 20) p.label(left + 4, y + own.y + own.height / 2, wide - 7, labelsOf(i).concat(''), inkOn(color));
    });
    [['engine', line.start[line.order.length], line.start[line.order.length] + (layers.engine || 0)], ['not attributed', line.start[line.order.length] + (layers.engine || 0), line.end]].forEach((rest) => {
        const span = clip(rest[1], rest[2]);
        if (!span || span[1] < 1) return;
        p.rect(span[0], y + own.y, span[1], own.height, ink('raised'), 1);
        p.label(span[0] + 4, y + own.y + own.height / 2, span[1] - 7, [rest[0], ''], ink('soft'));
    });
    const rate = box('rate');
    if (rate) {
        const most = layers.rateTop, height = (value) => Math.min(1, value / most) * (rate.height - 12);
        const roofs = [];
        each((i, left, wide) => {
            const value = layers.rate[i] > 0 ? height(layers.rate[i]) : 0;
            if (value) p.rect(left, y + rate.y + rate.height - value, wide - gap(wide), value, colorAt(i), faint(i));
            if (layers.attainable[i] > 0 && layers.attainable[i] <= most * 1.001) roofs.push([left, y + rate.y + rate.height - height(layers.attainable[i]), left + wide]);
        });
        roofs.forEach((roof) => p.rect(roof[0], roof[1], roof[2] - roof[0], 1, ink('soft'), 0.9));
        p.label(x + 4, y + rate.y + 5, width - 8, [(kept.roofed ? 'rate; the line above a bar is its roof, up to ' : 'rate, up to ') + scaled(most, 'FLOP/s') +
            (kept.higher ? '; ' + plural(kept.higher, 'roof') + ' higher' : ''), 'rate, up to ' + scaled(most, 'FLOP/s')], ink('soft'));
    }
    const live = box('live');
    if (live) {
        each((i, left, wide) => {
            const value = layers.live[i] / layers.mostLive * (live.height - 12);
            if (value > 0) p.rect(left, y + live.y + live.height - value, wide, value, ink('quiet'), 1);
        });
        p.label(x + 4, y + live.y + 5, width - 8, ['activations alive, at most ' + scaled(layers.mostLive, 'B')], ink('soft'));
    }
    const axis = box('axis');
    if (axis) {
        p.rect(x, y + axis.y, width, 1, ink('line'), 1);
        const step = roundStep((high - low) / Math.max(2, Math.floor(width / 90)));
        for (let time = Math.ceil(low / step - 1e-9) * step; time <= high + step * 1e-6; time += step) {
            const left = at(time), text = time === 0 ? '0' : tick(time, 's', step), wide = p.measure(text);
            p.rect(left, y + axis.y, 1, 4, ink('soft'), 1);
            p.label(Math.max(x, Math.min(left - wide / 2, x + width - wide)), y + axis.y + 12, 90, [text], ink('soft'));
        }
    }
}
function roundStep(step) {
    const size = Math.pow(10, Math.floor(Math.log10(step)));
    return size * [1, 2, 5, 10].find((factor) => size * factor >= step);
}
function outline(p, positions, width, low, high, color, thick) {
    const line = stripLine(), own = strip.rows.find((row) => row.key === 'layer');
    const places = positions.map((i) => line.place.get(i)).filter((place) => place !== undefined).sort((a, b) => a - b);
    for (let k = 0; k < places.length;) { /* neighbours have one outline */
        let next = k + 1;
        while (next < places.length && places[next] === places[next - 1] + 1) next++;
        const left = (line.start[places[k]] - low) / (high - low) * width, right = (line.start[places[next - 1] + 1] - low) / (high - low) * width;
        if (right >= 0 && left <= width) p.frame(left, own.y, Math.max(2, right - left), own.height, color, thick);
        k = next;
    }
}
/* Two canvases: what is selected, hovered or dragged lies on the layers, which need not be drawn again for it. */
function drawStrip() {
    strip.stale = true;
    outlineStrip();
}
function outlineStrip() {
    if (!strip.canvas || strip.queued) return;
    strip.queued = true;
    requestAnimationFrame(paintNow);
}
/* A cleared canvas of that size, in units of the page. */
function cleared(canvas, width, height) {
    const scale = window.devicePixelRatio || 1, context = canvas.getContext('2d');
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
        canvas.width = Math.round(width * scale);
        canvas.height = Math.round(height * scale);
        canvas.style.height = height + 'px';
    }
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    return canvasPainter(context);
}
function paintNow() {
    const width = strip.wide, [low, high] = windowOf();
    strip.queued = false;
    if (!width) return;
    if (strip.stale || !strip.rows.length) {
        strip.rows = stripRows(56);
        const before = strip.canvas.style.height, bottom = strip.rows[strip.rows.length - 1];
        paintStrip(cleared(strip.canvas, width, bottom.y + bottom.height), 0, 0, width, strip.rows, low, high);
        if (view.box && before !== strip.canvas.style.height) fitTable();
        strip.stale = false;
    }
    const last = strip.rows[strip.rows.length - 1], p = cleared(strip.over, width, last.y + last.height), range = strip.drag || spanOf(state.range);
    if (range) {
        const left = (range[0] - low) / (high - low) * width, right = (range[1] - low) / (high - low) * width;
        p.rect(left, 0, right - left, last.y, ink('accent'), 0.14);
        p.rect(left, 0, 1, last.y, ink('accent'), 1);
        p.rect(right - 1, 0, 1, last.y, ink('accent'), 1);
    }
    if (hovered) outline(p, hovered, width, low, high, ink('soft'), 1);
    outline(p, selected(), width, low, high, ink('ink'), 2);
}

/* --- the line below it: what is hovered, ranged or selected, or how to read it ----------------------------- */

function describe(i) {
    return '#' + layers.index[i] + ' ' + layers.title[i] + ' · ' + layers.op[i] + ' · ' + scaled(layers.time[i], 's') + ' · ' + scaled(layers.share[i], 'ratio') +
        (isFinite(layers.peak[i]) ? ' · ' + scaled(layers.peak[i], 'ratio') + ' of peak, ' + scaled(layers.lost[i], 's') + ' lost' : '');
}
/* "12 layers · 3.40 ms · 16 %": of a layer that is cut, only the part inside counts. */
function sayRange(span) {
    const line = stripLine(), inside = [], parts = [];
    line.order.forEach((i, k) => {
        const time = Math.min(line.start[k + 1], span[1]) - Math.max(line.start[k], span[0]);
        if (!(time > 0)) return;
        inside.push(i);
        parts.push(time / (line.start[k + 1] - line.start[k]));
    });
    const cut = parts.filter((part) => part < 0.9995).length;
    return scaled(span[0], 's') + ' to ' + scaled(span[1], 's') + ': ' + sumText(sumOf(inside, parts)) + (cut ? ' (' + count(cut) + ' in part)' : '');
}
function sayStrip() {
    const span = strip.drag || spanOf(state.range);
    if (!strip.output) return;
    const block = hovered && hovered.length > 1 ? sumText(sumOf(hovered)) : null;
    strip.output.textContent = safe(hovered ? block || describe(hovered[0]) : span ? sayRange(span) :
        selected().length === 1 ? describe(selected()[0]) : selected().length ? sumText(sumOf(selected())) : strip.reading);
    strip.clear.hidden = !span;
    strip.whole.hidden = !spanOf(state.zoom);
}
/* What it is, and caveats. */
function readingOf() {
    const untimed = layers.rows - stripLine().order.length, over = layers.whole > layers.latency * 1.005;
    return 'Per-layer times laid end to end' + (state.order === 'time' ? ', heaviest first' : ', in order of execution') + '; width is time' +
        (over ? '. With the engine\'s cost they sum to ' + scaled(layers.whole, 's') + ', more than the latency of ' + scaled(layers.latency, 's') + ': shares are of that sum' : '') + (untimed ? '; ' + plural(untimed, 'layer') + ' without a time left out' : '') + '.';
}

/* --- using it --------------------------------------------------------------------------------------------- */

function zoomStrip(factor, middle, how) {
    const [low, high] = windowOf(), end = stripLine().end, span = Math.min(end, Math.max(end / 1e5, (high - low) * factor));
    const centre = middle === undefined ? (low + high) / 2 : middle, share = (centre - low) / (high - low);
    const from = Math.max(0, Math.min(end - span, centre - span * share));
    choose({zoom: span >= end * 0.9999 ? '' : spanText(from, from + span)}, how);
}
function panStrip(part, how) {
    const [low, high] = windowOf(), end = stripLine().end, span = high - low, from = Math.max(0, Math.min(end - span, low + span * part));
    if (span < end * 0.9999) choose({zoom: spanText(from, from + span)}, how);
}
const timeAt = (event) => {
    const box = strip.canvas.getBoundingClientRect(), [low, high] = windowOf();
    return low + Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)) * (high - low);
};
/* The layers below the pointer: one, or those of a block. */
function under(event) {
    const y = event.clientY - strip.canvas.getBoundingClientRect().top, line = stripLine(), time = timeAt(event);
    const row = strip.rows.find((item) => y >= item.y && y < item.y + item.height) || {key: 'layer'};
    if (!line.order.length || time >= line.start[line.order.length]) return null;
    const i = line.order[placeAt(time)], level = {stage: 0, block: 1}[row.key];
    const block = level === undefined ? null : layers.blocks.find((item) => item.level === level && i >= item.first && i < item.first + item.count);
    return block && block.label ? {block: block, positions: membersOf(block)} : {position: i, positions: [i]};
}
function useStrip() {
    const canvas = strip.canvas;
    let from = null;
    canvas.addEventListener('pointermove', (event) => {
        if (from === null) { const found = under(event); brush(found ? found.positions : null); return; }
        const to = timeAt(event), [low, high] = windowOf();
        strip.drag = Math.abs(to - from) > (high - low) * 0.004 ? [Math.min(from, to), Math.max(from, to)] : null;
        outlineStrip();
        sayStrip();
    });
    canvas.addEventListener('pointerleave', () => { if (from === null) brush(null); });
    canvas.addEventListener('pointerdown', (event) => {
        if (event.button) return;
        from = timeAt(event);
        brush(null);
        canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointerup', (event) => {
        if (from === null) return;
        const found = under(event), span = strip.drag;
        from = strip.drag = null;
        if (span) { choose({range: spanText(span[0], span[1])}); return; }
        if (!found) choose({sel: '', range: ''});
        else if (found.block) choose({sel: state.sel === 'b' + found.block.id ? '' : 'b' + found.block.id, range: ''});
        else choose({sel: state.sel === String(layers.index[found.position]) ? '' : String(layers.index[found.position]), range: ''});
    });
    canvas.addEventListener('pointercancel', () => { from = strip.drag = null; outlineStrip(); });
    canvas.addEventListener('dblclick', () => choose({zoom: state.range || '', range: ''}));
    /* When zoomed out completely, the wheel scrolls the page. */
    canvas.addEventListener('wheel', (event) => {
        if (event.deltaY > 0 && !spanOf(state.zoom) && !event.shiftKey) return;
        event.preventDefault();
        if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) panStrip((event.deltaX || event.deltaY) / 800, 'later');
        else zoomStrip(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 240))), timeAt(event), 'later');
    }, {passive: false});
}
function legend() {
    const by = coloring();
    if (!by) return make('span');
    return make('span', {'class': by.scale ? 'legend scale' : 'legend'}, by.names.map((name, i) => {
        const swatch = make('i');
        swatch.style.background = ink(by.inks[i]);
        return make('span', {}, by.scale && i ? [swatch, name] : by.scale ? [name, swatch] : [swatch, shorten(name, 24)]);
    }));
}
function startStrip() {
    const picture = find('#strip'), table = find('.rows[data-trial]');
    if (!layers || !layers.timed) return;
    const chooser = make('select', {id: 'color', 'aria-label': 'Colour'}), key = make('span', {'class': 'key'});
    colorings().forEach((by) => chooser.append(make('option', {value: by.key}, [by.title])));
    chooser.addEventListener('change', () => choose({color: chooser.selectedIndex ? chooser.value : ''}));
    const order = button('Heaviest first', () => choose({order: state.order === 'time' ? '' : 'time'}), {'aria-pressed': 'false', title: 'key s'});
    strip.output = make('output', {'class': 'say', 'aria-live': 'polite'});
    strip.clear = button('Zoom to it', () => choose({zoom: state.range, range: ''}));
    strip.whole = button('Whole', () => choose({zoom: ''}));
    strip.canvas = make('canvas', {'class': 'base', 'aria-hidden': 'true'});
    strip.over = make('canvas', {'class': 'over', 'aria-hidden': 'true'});
    strip.box = make('div', {'class': 'canvas', id: 'strip-canvas', tabindex: '0', role: 'application', 'aria-roledescription': 'strip of layers',
        'aria-label': 'One inference, layer by layer: arrow keys move through the layers, W and S zoom, A and D move'}, [strip.canvas, strip.over]);
    const holder = make('div', {'class': 'strip'}, [
        make('div', {'class': 'bar'}, [make('label', {'for': 'color'}, ['Colour']), chooser, key, order]), strip.box,
        make('div', {'class': 'below'}, [strip.output, strip.clear, strip.whole])]);
    (picture || table).before(holder);
    if (picture) picture.classList.add('paper');
    useStrip();
    const dress = () => {
        chooser.value = coloring() ? coloring().key : '';
        key.replaceChildren(legend());
        order.setAttribute('aria-pressed', String(state.order === 'time'));
        strip.reading = readingOf();
    };
    const touched = (changed, keys) => keys.some((item) => changed.has(item));
    listen((changed) => {
        if (touched(changed, ['color', 'order'])) dress();
        if (touched(changed, ['color', 'order', 'zoom', 'q'])) drawStrip();
        else if (touched(changed, ['range', 'sel'])) outlineStrip();
        if (touched(changed, ['color', 'order', 'zoom', 'q', 'range', 'sel'])) sayStrip();
    });
    repaints.push(() => { strip.kept = null; dress(); drawStrip(); sayStrip(); });
    strip.canvas.style.height = stripRows(56).reduce((most, row) => Math.max(most, row.y + row.height), 0) + 'px';
    new ResizeObserver((entries) => { strip.wide = entries[0].contentRect.width; strip.stale = true; paintNow(); }).observe(strip.box); /* in the same frame */
}
