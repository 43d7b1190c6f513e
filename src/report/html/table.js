/* table.js - the table of layers: individually, or summed up by operator, block or shape; filtered, sorted, and beyond 200 rows only those on screen are
 * made. Then the sorting of every other table, and the walk through its numbers. */

const ROW = 24, SPARE = 5; /* px, as the style sheet has it; rows beyond each edge of the screen */
const view = {table: null, box: null, body: null, lines: [], open: new Set(), rows: [], from: 0, above: null, below: null, at: new Map(), lit: {sel: [], hov: []}, top: 0, tall: 0};
let tableOrder = []; /* positions of the layers in the order they are shown */

/* --- the filter ------------------------------------------------------------------------------------------ */

const filtered = {q: '', set: null, texts: null};
/* Positions that have every word of the filter; null: there is none. */
function matches() {
    const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return null;
    if (filtered.q === state.q && filtered.set) return filtered.set;
    filtered.texts = filtered.texts || layers.title.map((title, i) => [title, layers.name[i], layers.op[i], layers.provider[i], layers.bound[i], layers.method[i], layers.inputs[i],
        layers.outputs[i]].concat(layers.from[i] || []).join('\n').toLowerCase());
    filtered.q = state.q;
    filtered.set = new Set();
    filtered.texts.forEach((text, i) => { if (words.every((word) => text.includes(word))) filtered.set.add(i); });
    return filtered.set;
}

/* --- columns ------------------------------------------------------------------------------------------------- */

/* value(line): what it is sorted by; cell(line): what is shown. A line is a layer {at} or a group {group, sum}. */
const sumColumn = (key, unit) => ({
    value: (line) => line.group ? line.sum[key] : layers[key][line.at],
    cell: (line, value) => make('td', {'class': 'n ' + key}, [known(value) ? scaled(value, unit) : '—'])
});
const columnsByKey = {
    __proto__: null, /* what is asked for comes from the address */
    index: {title: '#', number: true, value: (line) => line.group ? line.sum.rows : layers.index[line.at],
        cell: (line, value) => make('td', {'class': 'n index'}, [line.group ? count(value) + ' ×' : String(value)])},
    name: {title: 'layer', value: (line) => line.group ? line.group.name : layers.title[line.at], cell: nameCell},
    op: {title: 'operator', value: (line) => line.group ? '' : layers.op[line.at], cell: (line, value) =>
        make('td', {'class': 'op'}, [line.group ? '' : value + ((layers.from[line.at] || []).length > 1 ? '+' + (layers.from[line.at].length - 1) : '')])},
    shape: {title: 'shape', value: (line) => line.group ? '' : layers.outputs[line.at] || '', cell: (line, value) => make('td', {'class': 'shape', title: shapesOf(line)}, [value])},
    time: Object.assign({title: 'time', number: true}, sumColumn('time', 's'), {cell: (line, value) => barCell(value)}),
    share: Object.assign({title: 'share', number: true}, sumColumn('share', 'ratio')),
    rate: Object.assign({title: 'rate', number: true}, sumColumn('rate', 'FLOP/s')),
    peak: Object.assign({title: 'of peak', number: true}, sumColumn('peak', 'ratio'), {cell: (line, value) => peakCell(value)}),
    lost: Object.assign({title: 'time lost', number: true}, sumColumn('lost', 's')),
    bound: {title: 'bound', value: (line) => line.group || layers.bound[line.at] === 'unknown' ? '' : layers.bound[line.at], cell: (line, value) => make('td', {'class': 'bound'}, [value || ''])}
};
const shapesOf = (line) => line.group ? '' : [layers.inputs[line.at], layers.outputs[line.at]].filter(Boolean).join(' → ');
/* A bar behind the number. */
function barCell(value) {
    const cell = make('td', {'class': 'n time'}, [known(value) ? scaled(value, 's') : '—']);
    if (value > 0) cell.style.backgroundSize = Math.max(1, value / view.longest * 100).toFixed(1) + '% 100%';
    return cell;
}
/* The strip's colour before the number. */
function peakCell(value) {
    const swatch = make('i', {'class': 'swatch'});
    if (isFinite(value)) swatch.style.background = ink('fig-r' + Math.max(0, Math.min(7, Math.floor(value * 8))));
    return make('td', {'class': 'n peak'}, [isFinite(value) ? swatch : '', known(value) ? scaled(value, 'ratio') : '—']);
}
function nameCell(line, value) {
    if (!line.group) { /* cut in the middle: the end distinguishes layers */
        const text = shorten(value, 160), letters = Array.from(text), end = letters.length > 13 ? letters.length - 10 : letters.length;
        return make('th', {scope: 'row', title: value}, [make('bdi', {'class': 'cut'}, [make('span', {}, [letters.slice(0, end).join('')]), make('span', {}, [letters.slice(end).join('')])])]);
    }
    const open = view.open.has(line.group.key);
    const toggle = button((open ? '▾ ' : '▸ ') + shorten(value, 120), () => toggleGroup(line.group.key), {'aria-expanded': String(open), tabindex: '-1', title: value});
    return make('th', {scope: 'row', 'class': 'of level' + (line.group.level || 0)}, [toggle]);
}
/* A group is named by what its rows have in common: these columns are left out. */
function columnKeys() {
    const given = {__proto__: null, op: ['op'], block: ['shape'], shape: ['op', 'shape']}[state.by] || [];
    const keys = ['index', 'name', 'op', 'shape', 'time', 'share'].filter((key) => !given.includes(key)), some = (values) => values.some((value) => isFinite(value));
    if (some(layers.rate)) keys.push('rate');
    if (layers.judged) keys.push('peak', 'lost');
    if (layers.bound.some((bound) => bound && bound !== 'unknown')) keys.push('bound');
    return keys;
}

/* --- lines ------------------------------------------------------------------------------------------------------ */

/* sort=time.desc; by default the layers that lose the most time come first, or the longest; blocks in execution order. */
function sorting() {
    const [key, direction] = state.sort.split('.');
    if (columnsByKey[key]) return {key: key, sign: direction === 'asc' ? 1 : -1};
    return {key: layers.judged ? 'lost' : 'time', sign: -1, own: true};
}
/* Unknown values come last in both directions. */
const collator = new Intl.Collator('en', {numeric: true});
function compare(a, b, sign) {
    const none = (value) => value === null || value === undefined || value === '' || value === '—' || (typeof value === 'number' && !isFinite(value));
    if (none(a) || none(b)) return none(a) - none(b);
    if (typeof a === 'number' && typeof b === 'number') return (a - b) * sign;
    return collator.compare(String(a), String(b)) * sign;
}
function sorted(lines) {
    const by = sorting(), column = columnsByKey[by.key], values = new Map(lines.map((line) => [line, column.value(line)]));
    return lines.sort((a, b) => compare(values.get(a), values.get(b), by.sign) || (a.at || 0) - (b.at || 0));
}
const layerLines = (positions) => sorted(positions.map((i) => ({at: i})));
function groupLines(key, positions, nameOf) {
    const groups = new Map();
    positions.forEach((i) => { const name = nameOf(i); if (!groups.has(name)) groups.set(name, []); groups.get(name).push(i); });
    const made = sorted(Array.from(groups, ([name, inside]) => ({group: {key: key + name, name: name || '(none)', positions: inside}, sum: sumOf(inside)})));
    return [].concat.apply([], made.map((line) => view.open.has(line.group.key) ? [line].concat(layerLines(line.group.positions)) : [line]));
}
function blockLines(positions) {
    const shown = new Set(positions), made = [], levels = new Set(layers.blocks.map((block) => block.level));
    const byId = new Map(layers.blocks.map((block) => [block.id, block])), isPartOf = (other, block) => byId.has(other.parent) && membersOf(byId.get(other.parent)) === membersOf(block);
    function put(block, level) {
        const inside = membersOf(block).filter((i) => shown.has(i));
        if (!inside.length || membersOf(block)[0] !== block.first) return; /* a part that runs in several pieces is one row */
        const line = {group: {key: 'b' + block.id, name: block.name || block.label || namesOf(inside), positions: inside, level: level, block: block}, sum: sumOf(inside)};
        made.push(line);
        if (!view.open.has(line.group.key)) return;
        const below = layers.blocks.filter((other) => isPartOf(other, block));
        if (below.length > 1 || (below.length && below[0].label)) below.forEach((other) => put(other, level + 1));
        else made.push.apply(made, inside.map((i) => ({at: i})));
    }
    if (!levels.size) return positions.map((i) => ({at: i}));
    layers.blocks.filter((block) => block.level === 0).forEach((block) => put(block, 0));
    return state.sort ? flatBlocks(made) : made;
}
/* Layers in no block: "MaxPool, Flatten". */
function namesOf(positions) {
    const names = Array.from(new Set(positions.map((i) => layers.op[i])));
    return names.slice(0, 3).join(', ') + (names.length > 3 ? ', …' : '');
}
/* When sorted, blocks are compared with others of the same level, whatever contains them. */
const flatBlocks = (lines) => sorted(lines.filter((line) => line.group));
function makeLines() {
    const set = matches(), positions = Array.from(layers.index.keys()).filter((i) => !set || set.has(i));
    const modes = {__proto__: null, op: () => groupLines('o', positions, (i) => layers.op[i]), block: () => blockLines(positions),
        shape: () => groupLines('s', positions, (i) => layers.op[i] + '  ' + [layers.inputs[i], layers.outputs[i]].filter(Boolean).join(' → '))};
    const lines = (modes[state.by] || (() => layerLines(positions)))();
    view.longest = lines.reduce((most, line) => Math.max(most, (line.group ? line.sum.time : layers.time[line.at]) || 0), 0) || 1;
    tableOrder = lines.filter((line) => !line.group).map((line) => line.at);
    const rest = set ? [] : [['engine per run', layers.engine], ['unattributed', layers.unattributed], ['total, the latency', layers.latency]]
        .filter((item) => isFinite(item[1])).map((item) => ({rest: item[0], time: item[1]}));
    view.sum = sumOf(positions);
    return lines.concat(rest);
}
function restRow(line) {
    const share = line.time >= 0 && line.time <= layers.whole * 1.000001 && !(line.rest.startsWith('total') && layers.whole > layers.latency * 1.000001) ? line.time / layers.whole : NaN;
    return make('tr', {'class': 'extra'}, view.keys.map((key) => key === 'name' ? make('th', {scope: 'row'}, [line.rest]) :
        make('td', {'class': 'n ' + key}, [key === 'time' ? scaled(line.time, 's') : key === 'share' && isFinite(share) ? scaled(share, 'ratio') : ''])));
}
function rowOf(line, at) {
    if (line.rest) return restRow(line);
    const row = make('tr', line.group ? {'class': 'sum'} : {'data-l': layers.index[line.at]}, view.keys.map((key) => columnsByKey[key].cell(line, columnsByKey[key].value(line))));
    row.setAttribute('aria-rowindex', at + 2);
    row.position = line.at;
    return row;
}

/* --- on screen --------------------------------------------------------------------------------------------------- */

function toggleGroup(key) {
    if (!view.open.delete(key)) view.open.add(key);
    renew();
}
function spacer() {
    return make('tr', {'class': 'spacer', 'aria-hidden': 'true'}, [make('td')]);
}
/* The rows near the screen; all of them when there are few. Those that stay are kept. Height and place of the box are known from its events: to ask for them
 * here would lay the page out again in the middle of a step. */
function drawRows() {
    const total = view.lines.length, few = total <= 200, room = Math.ceil(view.tall / ROW), first = Math.max(0, Math.min(total - room, Math.floor(view.top / ROW)) - SPARE);
    const from = few ? 0 : first, to = few ? total : Math.min(total, first + room + 2 * SPARE), end = view.from + view.rows.length;
    if (from === view.from && to === end && view.above) return;
    const made = (low, high) => view.lines.slice(low, high).map((line, i) => {
        const row = rowOf(line, low + i);
        if (!line.group && !line.rest) view.at.set(line.at, row);
        return row;
    });
    const drop = (rows) => rows.forEach((row) => { row.remove(); view.at.delete(row.position); });
    if (!view.above) {
        view.above = spacer();
        view.below = spacer();
        view.body.replaceChildren(view.above, view.below);
    }
    if (from >= end || to <= view.from) { /* nothing stays */
        drop(view.rows);
        view.rows = made(from, to);
        view.above.after.apply(view.above, view.rows);
    } else {
        if (from > view.from) drop(view.rows.splice(0, from - view.from));
        if (to < end) drop(view.rows.splice(to - end));
        const before = made(from, Math.max(from, view.from)), after = made(Math.min(to, end), to);
        if (before.length) view.above.after.apply(view.above, before);
        if (after.length) view.below.before.apply(view.below, after);
        view.rows = before.concat(view.rows, after);
    }
    view.from = from;
    view.above.hidden = !from;
    view.below.hidden = to === total;
    view.above.cells[0].style.height = from * ROW + 'px';
    view.below.cells[0].style.height = (total - to) * ROW + 'px';
    lightRows();
}
function lightRows() {
    if (!view.body) return;
    const mark = (name, positions) => {
        view.lit[name].forEach((row) => row.classList.remove(name));
        view.lit[name] = positions.map((i) => view.at.get(i)).filter(Boolean);
        view.lit[name].forEach((row) => row.classList.add(name));
    };
    mark('sel', selected());
    mark('hov', hovered || []);
}
function renew() {
    if (!view.body) return;
    const by = sorting(), keys = columnKeys(), heads = keys.join() + nameTitle();
    if (heads !== view.heads) {
        view.heads = heads;
        view.keys = keys;
        view.table.tHead.rows[0].replaceChildren.apply(view.table.tHead.rows[0], keys.map(headOf));
    }
    view.lines = makeLines();
    view.above = null;
    view.rows = [];
    view.at.clear();
    fitTable();
    view.table.setAttribute('aria-rowcount', view.lines.length + 1);
    Array.from(view.table.tHead.rows[0].cells).forEach((cell, i) => {
        if (view.keys[i] === by.key && !(by.own && state.by === 'block')) cell.setAttribute('aria-sort', by.sign > 0 ? 'ascending' : 'descending');
        else cell.removeAttribute('aria-sort');
    });
    view.output.textContent = sumText(view.sum);
    drawRows();
}
/* Scrolls the selected row into view, if the table shows it. */
function showRow() {
    const at = view.body ? view.lines.findIndex((line) => line.at === layerOf(state.sel) && !line.group && !line.rest) : -1;
    if (at < 0) { lightRows(); return; }
    const top = at * ROW, room = view.tall - 2 * ROW;
    if (top < view.top) scrollRows(top);
    else if (top > view.top + room) scrollRows(top - room);
    drawRows();
    lightRows();
}
function scrollRows(top) {
    view.top = top;
    requestAnimationFrame(() => { view.box.scrollTop = view.top; }); /* when the rows for it are there, and the page is laid out anyway */
}
/* As tall as the screen allows, below what is above it. */
function fitTable() {
    const top = view.box.getBoundingClientRect().top + scrollY, narrow = innerWidth <= 960;
    const least = 11 * ROW, room = Math.max(least, innerHeight - top - 14);
    view.tall = Math.min(narrow ? Math.max(least, innerHeight * 0.6) : room, (view.lines.length + 1) * ROW + 16);
    view.box.style.height = view.tall + 'px';
    if (aside.box) aside.box.style.maxHeight = narrow ? '' : Math.max(room + 36, 300) + 'px';
}
function useTable() {
    view.box.addEventListener('scroll', () => { view.top = view.box.scrollTop; drawRows(); }, {passive: true});
    view.body.addEventListener('click', (event) => {
        const row = event.target.closest('tr'), own = row && row.getAttribute('data-l');
        if (own !== null && own !== undefined) choose({sel: state.sel === own ? '' : own});
        else if (row && row.classList.contains('sum') && !event.target.closest('button')) row.querySelector('button').click();
    });
    view.body.addEventListener('mouseover', (event) => {
        const row = event.target.closest('tr'), own = row && row.getAttribute('data-l');
        if (own) brush([layerOf(own)]);
        else if (row && row.classList.contains('sum')) { const line = view.lines[Number(row.getAttribute('aria-rowindex')) - 2]; brush(line && line.group ? line.group.positions : null); }
    });
    view.body.addEventListener('mouseleave', () => brush(null));
    view.box.addEventListener('keydown', (event) => {
        const step = {ArrowDown: 1, ArrowUp: -1, PageDown: 12, PageUp: -12, Home: -1e9, End: 1e9}[event.key];
        if (!step || event.ctrlKey || event.metaKey || event.altKey || event.target.closest('thead')) return;
        event.preventDefault();
        event.stopPropagation();
        walk(step, true);
    });
}
/* What the rows are. */
const nameTitle = () => ({__proto__: null, op: 'operator', block: 'block', shape: 'operator and shapes'}[state.by] || columnsByKey.name.title);
function headOf(key) {
    const column = columnsByKey[key], cell = make('th', {scope: 'col', 'class': (column.number ? 'n ' : '') + key});
    cell.append(button(key === 'name' ? nameTitle() : column.title, () => {
        const by = sorting(), first = column.number && key !== 'index' ? -1 : 1, sign = by.key === key ? -by.sign : first;
        choose({sort: key + (sign > 0 ? '.asc' : '.desc')});
    }));
    return cell;
}
function startTable() {
    const old = find('.rows[data-trial]');
    if (!layers || !old) return;
    view.body = make('tbody');
    view.table = make('table', {'class': 'layers', 'aria-label': 'Layers'}, [make('thead', {}, [make('tr')]), view.body]);
    view.box = make('div', {'class': 'scroll tall', role: 'region', tabindex: '0', 'aria-label': 'Layers: arrow keys move through them'}, [view.table]);
    view.input = make('input', {type: 'search', placeholder: 'Filter: name, operator, shape …', 'aria-label': 'Filter layers', id: 'layer-filter'});
    view.input.addEventListener('input', () => choose({q: view.input.value.trim()}));
    view.output = make('output', {'class': 'answer', 'aria-live': 'polite'});
    const modes = [['layers', 'Layers'], ['op', 'Operators'], ['block', 'Blocks'], ['shape', 'Shapes']].filter((mode) => mode[0] !== 'block' || layers.blocks.length);
    const buttons = modes.map((mode) => button(mode[1], () => choose({by: mode[0]}), {'aria-pressed': 'false', 'data-by': mode[0]}));
    old.closest('section').classList.add('timed');
    old.before(make('div', {'class': 'bar'}, [make('div', {'class': 'group', role: 'group', 'aria-label': 'Rows are'}, buttons), view.input, view.output]), view.box);
    old.classList.add('paper');
    all('#operators').forEach((section) => section.classList.add('paper')); /* the table has them */
    const dress = () => {
        buttons.forEach((item) => item.setAttribute('aria-pressed', String(item.getAttribute('data-by') === state.by)));
        if (view.input.value.trim() !== state.q) view.input.value = state.q;
    };
    useTable();
    listen((changed) => {
        if (['q', 'by', 'sort'].some((item) => changed.has(item))) { if (changed.has('by')) scrollRows(0); dress(); renew(); }
        if (changed.has('tab') && tabNow() === (tabs[0] || {name: ''}).name) { fitTable(); drawRows(); }
        if (changed.has('sel')) showRow();
    });
    repaints.push(renew);
    addEventListener('resize', () => { fitTable(); drawRows(); });
    dress();
}

/* --- every other table -------------------------------------------------------------------------------------------- */

function cellValue(row, column) {
    const cell = row.cells[column], own = cell ? cell.getAttribute('data-v') : null, text = cell ? cell.textContent.trim() : '';
    return own !== null ? Number(own) : text !== '' && isFinite(Number(text)) ? Number(text) : text;
}
function startSorting(table) {
    const heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach((cell, column) => {
        const text = Array.from(cell.childNodes), sort = button('', () => {
            const now = cell.getAttribute('aria-sort'), numbers = cell.classList.contains('n');
            const direction = now === 'descending' ? 'ascending' : now === 'ascending' ? 'descending' : numbers ? 'descending' : 'ascending';
            heads.forEach((other) => other.removeAttribute('aria-sort'));
            cell.setAttribute('aria-sort', direction);
            const body = table.tBodies[0], rows = Array.from(body.rows), values = new Map(rows.map((row) => [row, cellValue(row, column)]));
            rows.sort((a, b) => a.classList.contains('extra') - b.classList.contains('extra') || compare(values.get(a), values.get(b), direction === 'ascending' ? 1 : -1));
            body.append.apply(body, rows);
        }, {tabindex: '-1'});
        sort.append.apply(sort, text);
        cell.replaceChildren(sort);
    });
}
/* The box of a table, and a list of facts, is one tab stop: arrow keys move through its headers and the numbers with a source. */
function startWalking(box) {
    box.addEventListener('keydown', (event) => {
        const stops = all('thead button, .num', box), now = stops.indexOf(document.activeElement), step = {ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1}[event.key];
        if (!step || !stops.length || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        event.stopPropagation();
        stops[Math.max(0, Math.min(stops.length - 1, now + step))].focus();
    });
}
function startTables() {
    all('table.sortable').forEach(startSorting);
    all('.scroll:not(.tall), dl.facts').forEach(startWalking);
}
