/* timeline.js - moving about in the timeline: zoom, pan, search, the event that is chosen, and what a range of time holds. The view, the range, the search
 * and the event are in the address. Without the script the picture that the page was written with stands here. */

const SHORTEST = 20; /* units that can be in view */
const timelineKeys = [['W S', 'zoom in and out'], ['A D', 'move'], ['← →', 'walk the events of a track'], ['↑ ↓', 'the tracks above and below'], ['⇧ ← →', 'walk, and take what lies between as range'],
    ['Enter', 'zoom to the chosen event'], ['r', 'take its time, or what is in view, as range'], ['space', 'fold its track'], ['0', 'the whole trace'], ['/', 'search'], ['n p', 'next and last match']];

/* --- the window ------------------------------------------------------------------------------------------------------------------------------------------- */

/* "120.5-340us": a stretch of time in the address; null: none of ours. */
function stretchOf(text) {
    const parts = /^([\d.e+-]+?)-([\d.e+-]+)(ns|us|ms|s)$/.exec(text), scale = parts && {ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1}[parts[3]] / events.unit;
    const low = parts && Math.max(0, Number(parts[1]) * scale), high = parts && Math.min(events.info.span, Number(parts[2]) * scale);
    return parts && high > low ? [low, high] : null;
}
function stretchText(low, high) {
    const end = seconds(high), [unit, scale] = end >= 1 ? ['s', 1] : end >= 1e-3 ? ['ms', 1e3] : end >= 1e-6 ? ['us', 1e6] : ['ns', 1e9];
    const places = Math.max(0, Math.min(9, 3 - Math.floor(Math.log10(seconds(high - low) * scale)))), write = (value) => String(Number((seconds(value) * scale).toFixed(places)));
    return write(low) + '-' + write(high) + unit;
}
let written = 0;
function setWindow(low, high) {
    const span = events.info.span, size = Math.min(span, Math.max(Math.min(SHORTEST, span), high - low)), from = Math.max(0, Math.min(span - size, low));
    chart.low = from;
    chart.high = from + size;
    drawChart();
    clearTimeout(written); /* browsers refuse an address that changes with every frame */
    written = setTimeout(() => choose({at: chart.low <= 0 && chart.high >= span ? '' : stretchText(chart.low, chart.high)}), 150);
}
function zoomChart(factor, around) {
    const size = (chart.high - chart.low) * factor, center = around === undefined ? (chart.low + chart.high) / 2 : around, share = (center - chart.low) / (chart.high - chart.low);
    setWindow(center - size * share, center + size * (1 - share));
}
const panChart = (share) => setWindow(chart.low + share * (chart.high - chart.low), chart.high + share * (chart.high - chart.low));
const wholeChart = () => setWindow(0, events.info.span);
/* With some room on both sides. */
function showStretch(low, high) {
    const room = Math.max((high - low) * 0.15, SHORTEST / 4);
    setWindow(low - room, high + room);
}
function revealEvent(event) {
    const line = lineOf(event.row), box = chart.box;
    if (!line && chart.lines.length && chart.shut.has(event.row.track.group)) { foldGroup(event.row.track.group); return revealEvent(event); }
    if (!line && chart.lines.length && chart.folded.has(event.row.track.number)) { chart.folded.delete(event.row.track.number); placeLines(); return revealEvent(event); }
    if (line && (line.y < box.scrollTop || line.y + line.height > box.scrollTop + box.clientHeight - HEAD)) box.scrollTop = Math.max(0, line.y - (box.clientHeight - HEAD) / 2);
    const size = chart.high - chart.low, length = event.end - event.begin;
    if (event.end < chart.low || event.begin > chart.high || length > size) length > size / 2 ? showStretch(event.begin, event.end) : setWindow(event.begin + length / 2 - size / 2, event.begin + length / 2 + size / 2);
    return drawChart();
}

/* --- the event that is chosen ---------------------------------------------------------------------------------------------------------------------------- */

const eventKey = (event) => event.row.place + '.' + event.place;
function eventOf(key) {
    const parts = /^(\d+)\.(\d+)$/.exec(key), row = parts && events.rows[Number(parts[1])];
    return row ? eventAt(row, Number(parts[2])) : null;
}
let joining = null;
/* The other event of the same correlation: what it launched, or what launched it. */
function joinEvent(event) {
    if (joining) joining();
    joining = chart.joined = null;
    if (!event || !event.correlation) return;
    let first = null;
    const work = event.row.track.kind === 'stream', of = (row) => row.has & HAS.correlation && (row.track.kind === 'stream') !== work;
    joining = eachEvent(events.rows.filter(of), -Infinity, Infinity, (row, spans, from, to, chunk) => {
        for (let i = from; i < to && !first; i++) if (spans.correlation[i] === event.correlation) first = {row: row, place: placeOf(row, chunk, i)};
    }, () => {
        chart.joined = first && chart.event && eventKey(chart.event) === eventKey(event) ? {other: eventAt(first.row, first.place), launch: work} : null;
        if (chart.joined) { sayEvent(); drawChart(); }
    });
}
function placeOf(row, chunk, i) {
    let before = 0;
    for (const other of row.levels[0].chunks) { if (other === chunk) return before + i; before += other.count; }
    return -1;
}
function pickEvent(event, quiet) {
    chart.event = event;
    choose({event: event ? eventKey(event) : ''});
    joinEvent(event);
    sayEvent();
    if (event && !quiet) revealEvent(event);
    drawChart();
}
const trackText = (track) => (track.group ? track.group + ' · ' : '') + track.name;
function eventLine(event) {
    return (event.name || event.kind) + ' · ' + timeText(event.end - event.begin) + (event.kind === 'idle' || event.kind === 'busy' ? ' ' + event.kind : '') + ' at ' + timeText(event.begin);
}
function sayEvent() {
    const event = chart.event, box = chart.about;
    box.hidden = !event;
    if (!event) { box.replaceChildren(); return; }
    const other = chart.joined && chart.joined.other, time = event.end - event.begin;
    const rows = [['what', event.kind], ['name', nameOf(event.label).length > 90 || nameOf(event.label) !== event.name ? event.name : ''], ['duration', timeText(time)], ['begins', timeText(event.begin) + ' after the first event'], ['where', trackText(event.row.track)],
        ['bytes', event.bytes ? scaled(event.bytes, 'B') + (time > 0 && event.bytes > 0 && event.kind === 'copy' ? ', ' + scaled(event.bytes / seconds(time), 'B/s') : '') : ''], ['details', event.detail]];
    if (other) rows.push([chart.joined.launch ? 'launched by' : 'launches', button(shorten(other.name, 60) + ', ' + timeText(Math.abs(event.begin - other.begin)) + (chart.joined.launch ? ' earlier' : ' later'), () => pickEvent(other))]);
    box.replaceChildren(button('✕', () => pickEvent(null), {'class': 'close', 'aria-label': 'Close'}), make('h4', {}, [make('bdi', {}, [shorten(nameOf(event.label), 90)])]), factList(rows),
        make('div', {'class': 'steps'}, [button('Zoom to it', () => showStretch(event.begin, event.end)), button('Range', () => setRange([event.begin, Math.max(event.end, event.begin + 1)]))]));
}
/* The next or the last event of its row; or, up and down, of a neighbouring row at that time. */
function stepEvent(key, extend) {
    const rows = chart.lines.filter((line) => line.row).map((line) => line.row), now = chart.event;
    if (!rows.length) return;
    if (!now) { const row = rows.find((item) => placeBefore(item, chart.high) >= 0) || rows[0]; pickEvent(eventAt(row, Math.max(0, placeBefore(row, chart.low) + 1)) || eventAt(row, 0)); return; }
    const step = {ArrowLeft: -1, ArrowRight: 1}[key], down = key === 'ArrowDown' ? 1 : -1;
    let next = null;
    if (step) next = eventAt(now.row, now.place + step);
    else for (let i = rows.indexOf(now.row) + down; i >= 0 && i < rows.length && !next; i += down) next = eventAt(rows[i], Math.max(0, placeBefore(rows[i], now.begin)));
    if (!next) return;
    if (extend) { const range = chart.range || [now.begin, now.end]; setRange([Math.min(range[0], next.begin), Math.max(range[1], next.end)]); }
    pickEvent(next);
    chart.said.textContent = safe(eventLine(next) + ' · ' + trackText(next.row.track));
}

/* --- a range of time: what it holds ------------------------------------------------------------------------------------------------------------------------ */

let summing = null;
function setRange(range, quiet) {
    chart.range = range;
    if (!quiet) choose({span: range ? stretchText(range[0], range[1]) : ''});
    sumRange();
    drawChart();
}
function sumRange() {
    const range = chart.range, box = chart.sums;
    if (summing) summing();
    summing = null;
    box.hidden = !range;
    chart.clear.hidden = chart.into.hidden = !range;
    if (!range) { box.replaceChildren(); return; }
    chart.said.textContent = timeText(range[0]) + ' to ' + timeText(range[1]) + ': counting …';
    summing = sumEvents(range[0], range[1], (sums) => { summing = null; showSums(range, sums); });
}
const SHOWN = 100; /* names of a range */
function showSums(range, sums) {
    const size = range[1] - range[0], kinds = events.labels.kind, device = (label) => kinds[label] <= events.kinds['device-state'];
    const facts = [['events', count(sums.count)]];
    sums.devices.forEach((own, track) => {
        const idle = Array.from(own.idle.entries()).sort((a, b) => b[1] - a[1]).map((item) => events.labels.name[item[0]] + ' ' + scaled(item[1] / size, 'ratio'));
        facts.push([track.group || 'device', 'busy ' + timeText(own.busy) + ', ' + scaled(own.busy / size, 'ratio') + (idle.length ? '; idle: ' + idle.join(', ') : '')]);
    });
    const chosen = chart.scope.value, rows = sums.labels.filter((sum) => chosen === 'all' || device(sum.label) === (chosen === 'device'));
    const cells = (sum) => [String(sum.count), timeText(sum.time), timeText(sum.time / sum.count), timeText(sum.most), scaled(sum.time / size, 'ratio')];
    const table = make('table', {'class': 'n3 n4 n5 n6 n7'}, [make('caption', {'class': 'hidden'}, ['Events of the range by name']),
        make('thead', {}, [make('tr', {}, ['name', 'kind'].map((title) => make('th', {scope: 'col'}, [title])).concat(['count', 'time', 'mean', 'longest', 'of the range'].map((title) => make('th', {scope: 'col', 'class': 'n'}, [title]))))]),
        make('tbody', {}, rows.slice(0, SHOWN).map((sum) => make('tr', {}, [make('th', {scope: 'row', title: events.labels.name[sum.label].slice(0, 600)}, [make('bdi', {}, [shorten(nameOf(sum.label), 90)])]),
            make('td', {}, [events.info.kinds[kinds[sum.label]]])].concat(cells(sum).map((cell) => make('td', {}, [cell]))))))]);
    chart.said.textContent = timeText(range[0]) + ' to ' + timeText(range[1]) + ', ' + timeText(size) + ': ' + plural(sums.count, 'event');
    chart.sumsOf.replaceChildren(factList(facts), make('div', {'class': 'scroll', role: 'region', tabindex: '0', 'aria-label': 'Events of the range by name'}, [table]));
    if (rows.length > SHOWN) chart.sumsOf.append(make('p', {'class': 'note'}, ['The ' + SHOWN + ' names of ' + count(rows.length) + ' with most time.']));
    if (!chart.sums.childElementCount) chart.sums.append(make('div', {'class': 'bar'}, [make('label', {'for': 'tracks-scope'}, ['Events of the range by name:']), chart.scope]), chart.sumsOf);
    chart.lastSums = [range, sums];
}

/* --- search --------------------------------------------------------------------------------------------------------------------------------------------------- */

const FOUND = 20000; /* events that are marked */
let seeking = null;
function search(text) {
    const wanted = text.trim().toLowerCase(), labels = events.labels, classes = chart.classes;
    if (seeking) seeking();
    seeking = chart.found = chart.matches = null;
    if (wanted || classes.size) {
        let names = 0, number = 0, time = 0;
        chart.matches = Uint8Array.from(labels.name, (name, i) => (!wanted || name.toLowerCase().includes(wanted)) && (!classes.size || classes.has(labels.series[i])) && labels.kind[i] < events.kinds.busy ? 1 : 0);
        chart.matches.forEach((match, i) => { if (match) { names++; number += labels.count[i]; time += labels.total_ns[i]; } });
        chart.answer.textContent = names ? plural(number, 'event') + ' of ' + plural(names, 'name') + ', ' + scaled(time / 1e9, 's') : 'nothing found';
        if (names && wanted) markFound();
    } else chart.answer.textContent = '';
    chart.next.hidden = chart.last.hidden = !wanted || !chart.matches || !chart.matches.some(Boolean);
    drawChart();
}
/* Where they are, however small: found in the background. */
function markFound() {
    const found = {begin: [], end: [], row: []};
    seeking = eachEvent(events.rows, -Infinity, Infinity, (row, spans, from, to) => {
        for (let i = from; i < to && found.begin.length < FOUND; i++) if (chart.matches[spans.label[i]]) { found.begin.push(spans.begin[i]); found.end.push(spans.end[i]); found.row.push(row); }
    }, () => { seeking = null; chart.found = found; drawChart(); });
}
/* The next match in time after the chosen event; from the end it goes on at the beginning. */
function stepMatch(step) {
    const now = chart.event, from = now ? now.begin : step > 0 ? -1 : Infinity;
    let best = null, wrap = null;
    const closer = (a, b) => !b || (step > 0 ? a.begin < b.begin : a.begin > b.begin) ? a : b;
    if (!chart.matches) return;
    events.rows.forEach((row) => {
        let place = 0;
        row.levels[0].chunks.forEach((chunk) => {
            const spans = spansOf(row, chunk);
            for (let i = 0; i < chunk.count; i++, place++) {
                if (!chart.matches[spans.label[i]]) continue;
                const own = {row: row, place: place, begin: spans.begin[i]}, order = own.begin - from || (now ? (row.place - now.row.place || place - now.place) : 0);
                if (order * step > 0) best = closer(own, best);
                wrap = closer(own, wrap);
            }
        });
    });
    const next = best || wrap;
    if (next) { pickEvent(eventAt(next.row, next.place)); chart.said.textContent = safe(eventLine(chart.event)); }
}

/* --- pointer -------------------------------------------------------------------------------------------------------------------------------------------------- */

const localOf = (event) => { const at = chart.canvas.getBoundingClientRect(); return {x: event.clientX - at.left, y: event.clientY - at.top}; };
const lineAt = (y) => y < HEAD ? null : chart.lines.find((line) => { const at = line.y - chart.box.scrollTop + HEAD; return y >= at && y < at + line.height; }) || null;
/* The event under the pointer; of several in a pixel the longest. */
function hit(at) {
    const line = at.x >= chart.gutter ? lineAt(at.y) : null, row = line && line.row;
    if (!row) return null;
    const low = timeOf(at.x - 1.5), high = timeOf(at.x + 1.5);
    let best = null, place = 0;
    row.levels[0].chunks.forEach((chunk) => {
        if (chunk.end >= low && chunk.begin <= high) eachChunk(row, {chunks: [chunk]}, low, high, (spans, from, to) => {
            for (let i = from; i < to; i++) if (!best || spans.end[i] - spans.begin[i] > best.length) best = {place: place + i, length: spans.end[i] - spans.begin[i]};
        });
        place += chunk.count;
    });
    return best ? eventAt(row, best.place) : null;
}
function showTip(event, at) {
    chart.tip.hidden = !event;
    if (!event) return;
    chart.tip.textContent = safe(shorten(eventLine(event), 160));
    const wide = chart.tip.offsetWidth, left = Math.max(0, Math.min(chart.width - wide - 4, at.x + 12));
    chart.tip.style.left = left + 'px';
    chart.tip.style.top = (at.y + 34 < chart.box.clientHeight ? at.y + 18 : at.y - 30) + 'px';
}
function hoverChart(event) {
    const at = localOf(event), found = at.y > HEAD ? hit(at) : null, before = chart.hover;
    chart.hover = found;
    showTip(found, at);
    if ((before && eventKey(before)) !== (found && eventKey(found))) drawChart();
}
function foldGroup(group) {
    if (!chart.shut.delete(group)) chart.shut.add(group);
    if (chart.others) chart.others.setAttribute('aria-pressed', String(!chart.shut.has('other')));
    placeLines();
    drawChart();
}
function pressTrack(at) {
    const line = lineAt(at.y), track = line && line.track;
    if (line && line.kind === 'group') { foldGroup(line.text); return true; }
    if (!track || track.rows.length < 2 || !(line.kind === 'name' || (at.x < chart.gutter && line.first))) return false;
    foldTrack(track);
    return true;
}
function foldTrack(track) {
    if (!chart.folded.delete(track.number)) chart.folded.add(track.number);
    placeLines();
    drawChart();
}
function startDragging() {
    const canvas = chart.canvas, fingers = new Map();
    let drag = null, pinch = null;
    const spread = () => { const [a, b] = Array.from(fingers.values()); return {size: Math.max(10, Math.abs(a.x - b.x)), middle: (a.x + b.x) / 2}; };
    canvas.addEventListener('pointerdown', (event) => {
        if (event.button) return;
        const at = localOf(event);
        fingers.set(event.pointerId, at);
        chart.box.focus({preventScroll: true});
        if (fingers.size === 2) { drag = null; pinch = Object.assign(spread(), {low: chart.low, high: chart.high}); return; }
        const mode = at.y < OVERVIEW ? 'overview' : at.y < HEAD || event.shiftKey || chart.ranging.getAttribute('aria-pressed') === 'true' ? 'range' : 'pan';
        drag = {mode: mode, x: at.x, y: at.y, low: chart.low, high: chart.high, top: chart.box.scrollTop, time: timeOf(Math.max(chart.gutter, at.x)), moved: false};
        if (mode === 'overview') moveOverview(at.x);
        canvas.setPointerCapture(event.pointerId);
    });
    const moveOverview = (x) => {
        const center = (x - chart.gutter) / (chart.width - chart.gutter) * events.info.span, half = (chart.high - chart.low) / 2;
        setWindow(center - half, center + half);
    };
    canvas.addEventListener('pointermove', (event) => {
        const at = localOf(event);
        if (fingers.has(event.pointerId)) fingers.set(event.pointerId, at);
        if (pinch && fingers.size === 2) {
            const now = spread(), size = (pinch.high - pinch.low) * pinch.size / now.size, share = (pinch.middle - chart.gutter) / (chart.width - chart.gutter), time = pinch.low + share * (pinch.high - pinch.low);
            const moved = (now.middle - chart.gutter) / (chart.width - chart.gutter);
            setWindow(time - size * moved, time + size * (1 - moved));
            return;
        }
        if (!drag) { hoverChart(event); return; }
        if (!drag.moved && Math.hypot(at.x - drag.x, at.y - drag.y) < 4) return;
        drag.moved = true;
        showTip(null);
        if (drag.mode === 'overview') moveOverview(at.x);
        else if (drag.mode === 'range') {
            const time = timeOf(Math.max(chart.gutter, Math.min(chart.width, at.x))), range = [Math.min(time, drag.time), Math.max(time, drag.time)];
            chart.range = range[1] > range[0] ? range : null;
            drawChart();
        } else {
            const moved = (drag.x - at.x) / (chart.width - chart.gutter) * (drag.high - drag.low);
            setWindow(drag.low + moved, drag.high + moved);
            if (event.pointerType === 'mouse') chart.box.scrollTop = drag.top + drag.y - at.y;
        }
    });
    const release = (event) => {
        const at = localOf(event), done = drag;
        fingers.delete(event.pointerId);
        drag = null;
        if (pinch) { if (!fingers.size) pinch = null; return; }
        if (!done || event.type === 'pointercancel') return;
        if (done.moved) { if (done.mode === 'range') setRange(chart.range); return; }
        if (done.mode === 'range' && at.y < HEAD) setRange(null);
        else if (done.mode !== 'overview' && !pressTrack(at)) { const found = hit(at); pickEvent(found && chart.event && eventKey(found) === eventKey(chart.event) ? null : found, true); }
    };
    canvas.addEventListener('pointerup', release);
    canvas.addEventListener('pointercancel', release);
    canvas.addEventListener('pointerleave', () => { chart.hover = null; showTip(null); drawChart(); });
    canvas.addEventListener('dblclick', (event) => {
        const at = localOf(event), found = at.y > HEAD ? hit(at) : null;
        if (at.y <= HEAD) wholeChart();
        else if (found) showStretch(found.begin, found.end);
    });
    /* Over the tracks the wheel zooms once the timeline is used (focused), before that the page scrolls; over the names it scrolls the tracks. */
    chart.box.addEventListener('wheel', (event) => {
        const at = localOf(event), zooms = event.ctrlKey || event.metaKey || at.y < HEAD || (document.activeElement === chart.box && at.x >= chart.gutter);
        const unit = event.deltaMode ? 20 : 1, aside = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
        if (aside) panChart((event.deltaX || event.deltaY) * unit / 800);
        else if (zooms) zoomChart(Math.exp(Math.max(-1, Math.min(1, event.deltaY * unit / 300))), timeOf(Math.max(chart.gutter, at.x)));
        else return;
        event.preventDefault();
    }, {passive: false});
}

/* --- keys ------------------------------------------------------------------------------------------------------------------------------------------------------- */

function pressChart(event) {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key, now = chart.event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (key === 'w' || key === '+' || key === '=') zoomChart(0.6, now && now.begin >= chart.low && now.begin <= chart.high ? (now.begin + Math.min(now.end, chart.high)) / 2 : undefined);
    else if (key === 's' || key === '-') zoomChart(1 / 0.6);
    else if (key === 'a' || key === 'd') panChart(key === 'a' ? -0.25 : 0.25);
    else if (/^Arrow/.test(key)) stepEvent(key, event.shiftKey);
    else if ((key === 'Enter' || key === 'f') && now) showStretch(now.begin, now.end);
    else if (key === 'r') setRange(now ? [now.begin, Math.max(now.end, now.begin + 1)] : [chart.low, chart.high]);
    else if (key === ' ' && now && now.row.track.rows.length > 1) foldTrack(now.row.track);
    else if (key === '0' || key === 'Home') wholeChart();
    else if (key === '/') { chart.input.focus(); chart.input.select(); }
    else if (key === 'n' || key === 'p') stepMatch(key === 'n' ? 1 : -1);
    else if (key === 'Escape') { if (chart.range) setRange(null); else if (now) pickEvent(null); else if (chart.input.value || chart.classes.size) { chart.input.value = ''; chart.classes.clear(); dressLegend(); choose({find: ''}); search(''); } else wholeChart(); }
    else return;
    event.preventDefault();
    event.stopPropagation();
}

/* --- start ------------------------------------------------------------------------------------------------------------------------------------------------------- */

/* Kinds of time that there are, as buttons that leave the others faint; then the causes of idle time. */
function dressLegend() {
    const labels = events.labels, used = new Set(), idle = new Map();
    labels.kind.forEach((kind, i) => { if (kind < events.kinds.busy) used.add(labels.series[i]); else if (kind === events.kinds.idle) idle.set(labels.name[i], labels.series[i]); });
    const swatch = (series) => { const made = make('i'); made.style.background = ink('fig-s' + series); return made; };
    const pressed = (series) => {
        const made = button('', () => { if (!chart.classes.delete(series)) chart.classes.add(series); dressLegend(); search(chart.input.value); }, {'class': 'kind', 'aria-pressed': String(chart.classes.has(series))});
        made.append(swatch(series), events.info.classes[series]);
        return made;
    };
    chart.legend.replaceChildren.apply(chart.legend, Array.from(used).sort().map(pressed).concat(
        idle.size ? [make('span', {'class': 'idle'}, [make('span', {}, ['idle because of'])].concat(Array.from(idle.entries()).map((item) => make('span', {}, [swatch(item[1]), item[0]]))))] : []));
}
function foldDeep() {
    const most = 42; /* rows before the deepest tracks are folded */
    let rows = events.rows.length;
    events.tracks.filter((track) => track.kind === 'other').forEach((track) => { if (track.rows.length > 1) { chart.folded.add(track.number); rows -= track.rows.length - 1; } });
    events.tracks.filter((track) => track.rows.length > 1 && !chart.folded.has(track.number)).sort((a, b) => a.events - b.events).forEach((track) => {
        if (rows > most && track.kind !== 'stream') { chart.folded.add(track.number); rows -= track.rows.length - 1; }
    });
}
function buildChart(picture) {
    const tool = (text, press, label) => button(text, press, {'aria-label': label, title: label});
    chart.canvas = make('canvas', {'aria-hidden': 'true'});
    chart.spacer = make('div');
    chart.tip = make('div', {'class': 'tracks-tip', hidden: ''});
    chart.box = make('div', {'class': 'tracks-box', tabindex: '0', role: 'application', 'aria-roledescription': 'timeline',
        'aria-label': 'Timeline: W and S zoom, A and D move, arrow keys walk the events, Enter zooms to one, R takes its time as range, slash searches'}, [chart.canvas, chart.spacer]);
    chart.input = make('input', {type: 'search', id: 'tracks-find', placeholder: 'kernel, operator, call …', 'aria-label': 'Search events by name', autocomplete: 'off', spellcheck: 'false'});
    chart.answer = make('output', {'class': 'answer', 'aria-live': 'polite'});
    chart.last = tool('↑', () => stepMatch(-1), 'Last match (P)');
    chart.next = tool('↓', () => stepMatch(1), 'Next match (N)');
    chart.ranging = button('Range', () => chart.ranging.setAttribute('aria-pressed', String(chart.ranging.getAttribute('aria-pressed') !== 'true')), {'aria-pressed': 'false', title: 'Dragging takes a range; so does Shift, or the ruler'});
    chart.others = events.tracks.some((track) => track.kind === 'other') ? button('Other tracks', () => foldGroup('other'), {'aria-pressed': 'false', title: 'Tracks that are neither a device nor a thread'}) : null;
    if (chart.others) chart.shut.add('other');
    chart.legend = make('span', {'class': 'legend'});
    chart.coloring = make('select', {id: 'tracks-color', 'aria-label': 'Colour'}, [make('option', {value: 'kind'}, ['by kind']), make('option', {value: 'name'}, ['by name'])]);
    chart.said = make('output', {'class': 'say', 'aria-live': 'polite'});
    chart.into = button('Zoom to it', () => { if (chart.range) setWindow(chart.range[0], chart.range[1]); });
    chart.clear = button('Clear', () => setRange(null));
    chart.sums = make('div', {'class': 'tracks-sums', hidden: ''});
    chart.sumsOf = make('div');
    chart.scope = make('select', {id: 'tracks-scope'}, [['device', 'of devices'], ['host', 'of the host'], ['all', 'all']].map((item) => make('option', {value: item[0]}, [item[1]])));
    if (!events.tracks.some((track) => track.kind === 'stream')) chart.scope.value = 'all';
    chart.about = make('div', {'class': 'tracks-about', role: 'region', 'aria-label': 'The chosen event', hidden: ''});
    chart.classes = new Set();
    const holder = make('div', {'class': 'timeline'}, [
        make('div', {'class': 'bar'}, [chart.input, chart.last, chart.next, chart.answer, make('span', {'class': 'tools'}, [chart.others, chart.ranging, chart.coloring,
            tool('−', () => zoomChart(1 / 0.6), 'Zoom out (S)'), tool('+', () => zoomChart(0.6), 'Zoom in (W)'), tool('Whole', wholeChart, 'Whole trace (0)')])]),
        make('div', {'class': 'bar'}, [chart.legend]), make('div', {'class': 'tracks-frame'}, [chart.box, chart.tip]),
        make('div', {'class': 'below'}, [chart.said, chart.into, chart.clear]), make('div', {'class': 'tracks-panels'}, [chart.about, chart.sums])]);
    picture.before(holder);
    picture.classList.add('paper');
}
function useChart() {
    startDragging();
    chart.box.addEventListener('keydown', pressChart);
    chart.box.addEventListener('scroll', drawChart, {passive: true});
    chart.input.addEventListener('input', () => { search(chart.input.value); choose({find: chart.input.value}); });
    chart.input.addEventListener('keydown', (event) => {
        if (event.key === 'Enter') { stepMatch(event.shiftKey ? -1 : 1); event.preventDefault(); }
        if (event.key === 'Escape') { chart.input.value = ''; choose({find: ''}); search(''); chart.box.focus(); event.stopPropagation(); }
    });
    chart.coloring.addEventListener('change', () => { chart.byName = chart.coloring.value === 'name'; drawChart(); });
    chart.scope.addEventListener('change', () => { if (chart.lastSums) showSums(chart.lastSums[0], chart.lastSums[1]); });
    repaints.push(() => { shades.clear(); dressLegend(); drawChart(); });
    if (window.ResizeObserver) new ResizeObserver(drawChart).observe(chart.box);
    listen((changed) => {
        if (changed.has('at') && state.at !== (chart.low <= 0 && chart.high >= events.info.span ? '' : stretchText(chart.low, chart.high))) { const at = stretchOf(state.at) || [0, events.info.span]; setWindow(at[0], at[1]); }
        if (changed.has('span') && state.span !== (chart.range ? stretchText(chart.range[0], chart.range[1]) : '')) setRange(stretchOf(state.span), true);
        if (changed.has('find') && state.find !== chart.input.value) { chart.input.value = state.find; search(state.find); }
        if (changed.has('event') && state.event !== (chart.event ? eventKey(chart.event) : '')) pickEvent(eventOf(state.event));
        if (changed.has('tab')) drawChart();
    });
}
function startTimeline() {
    const picture = document.getElementById('tracks');
    if (!picture || !loadEvents()) return;
    buildChart(picture);
    foldDeep();
    chart.low = events.info.from; /* what the program did; marks of the profiler may lie outside */
    chart.high = events.info.to;
    chart.width = chart.box.clientWidth;
    placeLines();
    dressLegend();
    search('');
    sumRange();
    useChart();
    chart.said.textContent = 'Drag to move, drag on the ruler for a range, turn the wheel to zoom; ? lists the keys.';
    drawChart();
}
