/* files.js - what can be saved: the report's JSON, and the tables of metrics, layers and samples byte for byte as `--format csv` prints them;
 * the intervals of layers have the six digits of the JSON. */

function save(name, type, parts) {
    const address = URL.createObjectURL(parts instanceof Blob ? parts : new Blob(parts, {type: type})), link = make('a', {download: name});
    link.href = address;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
}
/* A number as `--format csv` writes it: the fewest of 15, 16 or 17 digits that read back as the same number, as %g. */
function plain(value) {
    if (Number.isInteger(value) && Math.abs(value) <= 9007199254740992) return String(value);
    let most = 15;
    while (most < 17 && Number(value.toPrecision(most)) !== value) most++;
    const parts = value.toExponential(most - 1).split('e'), power = Number(parts[1]), trim = (text) => text.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
    if (power >= -4 && power < most) return trim(value.toFixed(most - 1 - power));
    return trim(parts[0]) + 'e' + (power < 0 ? '-' : '+') + (Math.abs(power) < 10 ? '0' : '') + Math.abs(power);
}
/* A cell: quoted if necessary; what a spreadsheet would interpret as a formula is made text. The same as walk_csv.c's. */
function csvCell(value) {
    if (value === null || value === undefined) return '';
    if (typeof value === 'number') return plain(value);
    const text = String(value).replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, '?');
    const guard = /^[=+\-@\t\r\n]/.test(String(value)) || /^[=+\-@\uff1d\uff0b\uff0d\uff20]/.test(text), quote = guard || /[",]/.test(text);
    return quote ? '"' + (guard ? "'" : '') + text.replace(/"/g, '""') + '"' : text;
}
const csv = (head, rows) => [head].concat(rows).map((row) => row.map(csvCell).join(',') + '\n');
function named(what) {
    const model = (report().model || {}).name || 'profile';
    return (model.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[-.]+/, '').slice(0, 60) || 'profile') + '-' + what;
}
const eachTrial = (rows) => [].concat.apply([], (profile().trials || []).map(rows));

function metricRows(trial) {
    return Object.keys(trial.metrics || {}).map((name) => {
        const m = trial.metrics[name];
        return [trial.id, name, m.value, m.unit, m.state, m.source, m.note, ((trial.target || {}).options || {}).label];
    });
}
const layerColumns = ['index', 'name', 'op', 'provider', 'time_us', 'share', 'flops', 'bytes', 'bound', 'state', 'method', 'host_enqueue_us', 'note', 'from', 'weight_bytes', 'live_bytes',
    'time_low_us', 'time_high_us', 'inputs', 'weights', 'outputs', 'attributes', 'title', 'kernel_count', 'gap_us', 'kernels'];
function layerRows(trial) {
    const shares = (listOf(read('assay-layers')).find((item) => item.trial === trial.id) || {}).shares || [], method = (trial.layer_timing || {}).method;
    const rest = [['(engine per run)', trial.engine_us, 'measured'], ['(unattributed)', trial.unattributed_us, 'derived']].map((item, i) =>
        ({name: item[0], time_us: item[1], share: shares[i], state: known(item[1]) ? item[2] : 'unavailable', method: method}));
    return (trial.layers || []).concat((trial.layers || []).length ? rest : []).map((layer) =>
        [trial.id].concat(layerColumns.map((name) => name === 'from' ? (layer.from || []).join('; ') : layer[name])));
}
/* trial, launch, stream, seq, ns, warm-up: differences of neighbours, zigzag, seven bits per byte (profile/chunk.c). */
function samples() {
    const rows = [];
    listOf((read('assay-samples') || {}).launches).forEach((launch) => {
        const bytes = launch.data ? atob(launch.data) : '';
        let previous = 0, at = 0, stream = 0, first = 0;
        for (let i = 0; i < launch.count; i++) {
            let code = 0, weight = 1, byte;
            if (launch.values) {
                previous = launch.values[i];
            } else {
                do { byte = bytes.charCodeAt(at++); code += (byte & 127) * weight; weight *= 128; } while (byte > 127);
                previous += code % 2 ? -(code + 1) / 2 : code / 2;
            }
            while (stream + 1 < launch.streams.length && i >= launch.streams[stream + 1]) first = launch.streams[++stream];
            rows.push([launch.trial, launch.launch, stream, i - first, previous, i - first < launch.warmup ? 1 : 0]);
        }
    });
    return rows;
}
function startFiles() {
    const place = document.getElementById('downloads');
    if (!place || !document.getElementById('assay-data')) return;
    const one = !report().trials, files = [ /* a difference has no trials */
        ['JSON', () => save(named(one ? 'difference.json' : 'report.json'), 'application/json', [JSON.stringify(profile(), null, 2), '\n'])],
        ['Metrics (CSV)', () => save(named('metrics.csv'), 'text/csv', csv(['trial', 'metric', 'value', 'unit', 'state', 'source', 'note', 'label'], eachTrial(metricRows)))],
        ['Layers (CSV)', () => save(named('layers.csv'), 'text/csv', csv(['trial'].concat(layerColumns.map((name) => name === 'title' ? 'layer' : name)), eachTrial(layerRows)))],
        ['Samples (CSV)', () => save(named('samples.csv'), 'text/csv', csv(['trial', 'launch', 'stream', 'seq', 'ns', 'warmup'], samples()))]];
    place.append('Save: ');
    files.slice(0, one ? 1 : 4).forEach((file) => place.append(button(file[0], file[1])));
    place.hidden = false;
}
