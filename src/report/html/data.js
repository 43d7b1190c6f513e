/* data.js - the data in the page (unpack.js): the report's JSON, whose lists of rows are columns (json_pack.h), the samples, and the layers' places under the
 * roofs and in their blocks. Read when first asked for. */

function read(id) {
    try { return document.getElementById(id) ? JSON.parse(assayText(id)) : null; } catch (fault) { return null; }
}
/* The values of a column. */
function cells(column, rows) {
    let at = 0, before = '';
    if (Array.isArray(column)) return column.map(unpack);
    if ('~all' in column) return Array(rows).fill(unpack(column['~all']));
    if (column['~of']) {
        const of = column['~of'].map(unpack);
        return column['~at'].map((i) => of[i]);
    }
    if (column['~list']) {
        const items = cells(column['~items'], column['~list'].reduce((a, b) => a + b, 0));
        return column['~list'].map((n) => items.slice(at, at += n));
    }
    return Array.from({length: rows}, (none, i) => before = before.slice(0, column['~front'][2 * i]) + column['~front'][2 * i + 1]);
}
/* The JSON as `assay report --json` prints it. */
function unpack(value) {
    if (Array.isArray(value)) return value.map(unpack);
    if (!value || typeof value !== 'object') return value;
    const keys = Object.keys(value);
    if (keys[0] !== '~rows') return Object.fromEntries(keys.map((key) => [key, unpack(value[key])]));
    const columns = keys.slice(1).map((key) => [key, cells(value[key], value['~rows'])]);
    return Array.from({length: value['~rows']}, (none, i) => Object.fromEntries(columns.map((column) => [column[0], column[1][i]])));
}
/* The columns of a list, packed or not. */
function columnsOf(list) {
    if (!list) return {rows: 0, of: () => []};
    if (!Array.isArray(list)) return {rows: list['~rows'], of: (key) => list[key] === undefined ? [] : cells(list[key], list['~rows'])};
    return {rows: list.length, of: (key) => list.map((row) => row[key])};
}
let packed = null, unpacked = null;
const report = () => packed || (packed = read('assay-data') || {trials: []});
const profile = () => unpacked || (unpacked = unpack(report()));
function listOf(list) { return Array.isArray(list) ? list : list ? unpack(list) : []; }

/* --- the layers of the trial that the page is about ----------------------------------------------- */

/* Arrays by position, in execution order; times in s, unknown ones are NaN. null: there are none. */
function loadLayers() {
    const table = find('.rows[data-trial]'), id = table && Number(table.getAttribute('data-trial'));
    const trial = table && listOf(report().trials).find((item) => item.id === id);
    if (!trial) return null;
    const list = columnsOf(trial.layers), places = listOf(read('assay-layers')).find((item) => item.trial === id) || {};
    const under = columnsOf(places.layers), number = (values, scale) => Float64Array.from({length: list.rows}, (none, i) => known(values[i]) ? values[i] * scale : NaN);
    const from = list.of('from'), names = list.of('name');
    const made = {
        trial: trial, rows: list.rows, reason: places.reason || '', index: list.of('index'), name: names, op: list.of('op'), provider: list.of('provider'), from: from,
        time: number(list.of('time_us'), 1e-6), low: number(list.of('time_low_us'), 1e-6), high: number(list.of('time_high_us'), 1e-6),
        flops: number(list.of('flops'), 1), bytes: number(list.of('bytes'), 1), live: number(list.of('live_bytes'), 1), weightBytes: number(list.of('weight_bytes'), 1),
        enqueue: number(list.of('host_enqueue_us'), 1e-6), bound: list.of('bound'), state: list.of('state'), method: list.of('method'), note: list.of('note'),
        inputs: list.of('inputs'), weights: list.of('weights'), outputs: list.of('outputs'), attributes: list.of('attributes'),
        least: number(under.of('least_us'), 1e-6), attainable: number(under.of('attainable'), 1), peak: number(under.of('utilization'), 1), roof: under.of('roof'),
        blocks: blocksOf(columnsOf(places.blocks)), engine: known(trial.engine_us) ? trial.engine_us / 1e6 : NaN,
        unattributed: known(trial.unattributed_us) ? trial.unattributed_us / 1e6 : NaN
    };
    made.title = names.map((name, i) => (from[i] && from[i][0]) || name || made.op[i] || '');
    made.rate = made.flops.map((flops, i) => flops > 0 && made.time[i] > 0 ? flops / made.time[i] : NaN);
    made.lost = made.time.map((time, i) => time - made.least[i]);
    made.mostRate = made.rate.reduce((most, value) => Math.max(most, value || 0), 0);
    made.rateTop = Math.max(reached(made.attainable, made.time, 0.9), reached(made.rate, made.time, 0.99));
    made.mostLive = made.live.reduce((most, value) => Math.max(most, value || 0), 0);
    made.at = new Map(made.index.map((index, i) => [index, i]));
    made.sum = made.time.reduce((a, b) => a + (b || 0), 0);
    const p50 = ((trial.metrics || {})['latency.p50'] || {}).value, all = made.sum + (made.engine || 0);
    made.latency = known(p50) ? p50 : NaN;
    made.whole = known(p50) && p50 >= all ? p50 : all; /* assay__layers_whole */
    made.share = made.time.map((time) => time / made.whole);
    made.judged = made.lost.some((value) => isFinite(value));
    made.timed = made.time.some((value) => isFinite(value));
    return made;
}
/* The value that the given share of the time does not exceed: a roof of little time does not set the scale for all. */
function reached(values, times, share) {
    const order = Array.from(values.keys()).filter((i) => values[i] > 0 && times[i] > 0).sort((a, b) => values[a] - values[b]);
    let left = share * order.reduce((sum, i) => sum + times[i], 0), at = 0;
    while (at < order.length - 1 && (left -= times[order[at]]) > 0) at++;
    return order.length ? values[order[at]] : 0;
}
function blocksOf(list) {
    const keys = ['id', 'level', 'parent', 'name', 'label', 'first', 'count'], columns = keys.map((key) => list.of(key));
    return Array.from({length: list.rows}, (none, i) => Object.fromEntries(keys.map((key, k) => [key, columns[k][i]])));
}
/* "1x64x56x56 float32, …": the type of the first. */
const typeOf = (shapes) => ((shapes || '').split(', ')[0].split(' ')[1] || '');

/* Sums over layers; of each only that part (0 to 1), if parts are given. */
function sumOf(positions, parts) {
    const sum = {rows: positions.length, timed: 0, time: 0, least: 0, lost: 0, flops: 0, rated: 0, judged: 0};
    positions.forEach((i, k) => {
        const part = parts ? parts[k] : 1, time = layers.time[i] * part;
        if (!isFinite(time)) return;
        sum.timed++;
        sum.time += time;
        if (layers.flops[i] > 0) { sum.flops += layers.flops[i] * part; sum.rated += time; }
        if (isFinite(layers.least[i])) { sum.least += layers.least[i] * part; sum.judged += time; sum.lost += layers.lost[i] * part; }
    });
    sum.share = sum.time / layers.whole;
    sum.rate = sum.rated > 0 ? sum.flops / sum.rated : NaN;
    sum.peak = sum.judged > 0 ? sum.least / sum.judged : NaN;
    if (!sum.judged) sum.lost = NaN;
    if (!sum.timed) sum.time = sum.share = NaN;
    return sum;
}
/* "216 layers · 34.0 ms · 16 %" */
function sumText(sum) {
    return plural(sum.rows, 'layer') + ' · ' + scaled(sum.time, 's') + ' · ' + scaled(sum.share, 'ratio') + (known(sum.lost) ? ' · ' + scaled(sum.lost, 's') + ' lost' : '');
}
