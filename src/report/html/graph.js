/* graph.js - the network as boxes that open and close. The layout inside every group comes with the page (json/graph_json.c); here boxes only move
 * aside and down when one grows, as assay__graph_arrange does it.
 *
 * What it takes from the other files: layers (arrays by position), sumOf, scaled, safe, fitting, ink, colorOfAll(positions), legend(), coloring(),
 * inkOn, matches(), selected(), hovered, choose, listen, repaints, and marks, which it clears after drawing. What it gives: startGraph(), lightGraph(). Boxes
 * carry data-l and data-b, so that hovering and pressing them is select.js's.
 *
 * A node is a number: a layer's position, or ~ of a group's number. Which groups differ from how the page came is in the address: open=3,7, or all, or
 * none. */

const graph = {data: null, box: null, svg: null, view: {x: 0, y: 0, scale: 1}, cursor: null, drawn: new Map(), drag: null};
const svgMake = (tag, attributes, text) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
    Object.keys(attributes || {}).forEach((key) => element.setAttribute(key, attributes[key]));
    if (text !== undefined) element.textContent = safe(text);
    return element;
};
const GRAPH_FONT = '12px Arial, Helvetica, "Liberation Sans", sans-serif', GRAPH_BOXES = 1500;

/* --- the tree --------------------------------------------------------------------------------------------------------------------------------- */

const groupOf = (node) => (node < 0 ? graph.data.groups[~node] : null);
const isOpen = (node) => node < 0 && graph.data.groups[~node].open;
function membersOfNode(node) {
    const group = groupOf(node);
    if (!group) return [node];
    if (!group.members) group.members = [].concat.apply([], group.kids.map(membersOfNode));
    return group.members;
}
function prepareGraph(data) {
    graph.data = data;
    data.around = new Map(); /* node -> number of its group */
    data.groups.forEach((group, number) => {
        let at = 0;
        group.first = group.open;
        group.rowsOf = group.rows.map((count) => group.order.slice(at, at += count));
        group.place = new Array(group.order.length);
        group.order.forEach((place, i) => { group.place[place] = group.x[i]; });
        group.row = new Array(group.order.length);
        group.rowsOf.forEach((places, row) => places.forEach((place) => { group.row[place] = row; }));
        group.column = group.rows.map((none, row) => group.breaks.filter((start) => start <= row).length);
        group.kids.forEach((kid) => data.around.set(kid, number));
    });
    data.chipOf = new Map(data.chips.map((chip) => [chip.node, chip]));
}

/* --- where everything goes -------------------------------------------------------------------------------------------------------------------- */

/* Centres as close to the preferred ones as the gaps allow: neighbours that touch move together (pooled adjacent violators). */
function keepDistances(wanted, gaps) {
    const pools = [], made = [];
    let offset = 0;
    wanted.forEach((value, i) => {
        offset += i ? gaps[i] : 0;
        pools.push({sum: value - offset, count: 1});
        for (let last = pools.length - 1; last > 0 && pools[last - 1].sum / pools[last - 1].count > pools[last].sum / pools[last].count; last--) {
            const gone = pools.pop();
            pools[last - 1].sum += gone.sum;
            pools[last - 1].count += gone.count;
        }
    });
    offset = 0;
    pools.forEach((pool) => { for (let k = 0; k < pool.count; k++) { offset += made.length ? gaps[made.length] : 0; made.push(pool.sum / pool.count + offset); } });
    return made;
}
function marginOf(group, below) {
    const s = graph.data.sizes;
    return ((below ? group.leaves : group.enters) ? 0 : s.pad) + (group.breaks.length ? s.lane * group.lanes : 0);
}
function nodeSize(node) {
    const s = graph.data.sizes, group = groupOf(node), chip = graph.data.chipOf.get(node);
    if (group && group.open) {
        const inside = arrange(group);
        return {width: Math.max(s.width, inside.width + 2 * s.pad), height: s.head + inside.height + marginOf(group, false) + marginOf(group, true)};
    }
    return {width: s.width, height: (group ? s.group : s.layer) + (chip && chip.in ? s.chip : 0) + (chip && chip.out ? s.chip : 0)};
}
/* Kept until something opens or closes. */
function arrange(group) {
    if (group.inside) return group.inside;
    const s = graph.data.sizes, kids = group.kids.map(nodeSize), made = {sizes: kids, x: [], y: [], rowY: [], rowHeight: [], columnX: [], width: 0, height: 0};
    const widthOf = (place) => (place < kids.length ? kids[place].width : place < group.boxes ? s.port : s.bend);
    group.rowsOf.forEach((places, row) => {
        const gaps = places.map((place, i) => (i ? (widthOf(places[i - 1]) + widthOf(place)) / 2 + s.gap : 0));
        keepDistances(places.map((place) => group.place[place]), gaps).forEach((x, i) => { made.x[places[i]] = x; });
        made.rowHeight[row] = Math.max(0, ...places.filter((place) => place < kids.length).map((place) => kids[place].height));
    });
    for (let row = 0, end; row < group.rows.length; row = end) {
        let left = Infinity, right = -Infinity, y = 0;
        const column = group.column[row], x = column ? made.width + s.gutter : 0;
        for (end = row; end < group.rows.length && group.column[end] === column; end++)
            group.rowsOf[end].forEach((place) => { left = Math.min(left, made.x[place] - widthOf(place) / 2); right = Math.max(right, made.x[place] + widthOf(place) / 2); });
        for (let r = row; r < end; r++) {
            made.rowY[r] = y;
            group.rowsOf[r].forEach((place) => { made.x[place] += x - left; made.y[place] = y; });
            y += made.rowHeight[r] + s.row;
        }
        made.columnX[column] = x;
        made.width = x + right - left;
        made.height = Math.max(made.height, y - s.row);
    }
    group.inside = made;
    return made;
}

/* --- lines ------------------------------------------------------------------------------------------------------------------------------------ */

const lineWidth = (bytes) => (bytes > 0 && graph.data.largest > 0 ? Math.max(1, Math.min(8, 8 * Math.sqrt(bytes / graph.data.largest))) : 1);
function corners(points) {
    let text = 'M' + points[0].join(' ');
    for (let i = 1; i + 1 < points.length; i++) {
        const [a, b, c] = [points[i - 1], points[i], points[i + 1]], into = Math.hypot(b[0] - a[0], b[1] - a[1]), out = Math.hypot(c[0] - b[0], c[1] - b[1]), r = Math.min(7, into / 2, out / 2);
        if (r > 0) text += 'L' + (b[0] - (b[0] - a[0]) / into * r) + ' ' + (b[1] - (b[1] - a[1]) / into * r) + 'Q' + b.join(' ') + ' ' + (b[0] + (c[0] - b[0]) / out * r) + ' ' + (b[1] + (c[1] - b[1]) / out * r);
    }
    return text + 'L' + points[points.length - 1].join(' ');
}
/* Where lines end at a box: side by side, with the straight one, else the widest, in the middle. */
function spreadEnds(group, at) {
    const offsets = new Array(group.lines.length / 3).fill(0), lists = new Map();
    for (let i = 0; i < group.lines.length; i += 3) {
        if (group.lines[i + 1] >= group.boxes) continue;
        if (!lists.has(group.lines[i + 1])) lists.set(group.lines[i + 1], []);
        lists.get(group.lines[i + 1]).push({line: i / 3, x: at.x[group.lines[i]], bytes: group.bytes[group.lines[i + 2]] || 0});
    }
    lists.forEach((list, place) => {
        if (list.length < 2 || place >= group.kids.length) return;
        const straight = (item) => Math.abs(item.x - at.x[place]) < 1;
        list.sort((a, b) => a.x - b.x || a.line - b.line);
        const main = list.reduce((best, item, i) => (straight(item) > straight(list[best]) || (straight(item) === straight(list[best]) && item.bytes > list[best].bytes) ? i : best), 0);
        const most = Math.max(main, list.length - 1 - main), step = Math.min(12, (at.sizes[place].width - 24) / 2 / most);
        list.forEach((item, i) => { offsets[item.line] = step * (i - main); });
    });
    return offsets;
}
function linesOf(group, at, x, y, lines) {
    const s = graph.data.sizes, ends = spreadEnds(group, at), kids = group.kids;
    const chip = (place, side) => { const own = !isOpen(kids[place]) && graph.data.chipOf.get(kids[place]); return own && own[side] ? s.chip : 0; };
    const bottom = (place) => (place >= group.boxes ? y + at.rowY[group.row[place]] + at.rowHeight[group.row[place]]
        : place >= kids.length ? y + at.y[place] - (group.row[place] ? 0 : marginOf(group, false)) : y + at.y[place] + at.sizes[place].height - chip(place, 'out'));
    const top = (place) => (place >= group.boxes ? y + at.rowY[group.row[place]] + at.rowHeight[group.row[place]]
        : place >= kids.length ? y + at.height + marginOf(group, true) : y + at.y[place] + chip(place, 'in'));
    let lane = 0, before = -1;
    for (let i = 0; i < group.lines.length; i += 3) {
        const [from, to, net] = [group.lines[i], group.lines[i + 1], group.lines[i + 2]], row = group.row[from];
        lane = row !== before ? 0 : group.lines[i - 3] === from && group.lines[i - 1] === net ? lane : lane + 1;
        before = row;
        const a = [x + at.x[from], bottom(from)], b = [x + at.x[to] + ends[i / 3], top(to)], y1 = y + at.rowY[row] + at.rowHeight[row], y2 = y + at.rowY[row + 1];
        let d;
        if (group.column[row] !== group.column[row + 1]) {
            const off = s.lane * (lane + 1), gutter = x + at.columnX[group.column[row + 1]] - s.gutter / 3 - off + s.lane;
            d = corners([a, [a[0], y1 + off], [gutter, y1 + off], [gutter, y - off], [b[0], y - off], b]);
        } else if (Math.abs(a[0] - b[0]) < 0.5) d = 'M' + a.join(' ') + 'V' + b[1];
        else d = 'M' + a.join(' ') + 'V' + Math.max(a[1], y1) + 'C' + [a[0], (y1 + y2) / 2, b[0], (y1 + y2) / 2, b[0], y2].join(' ') + 'V' + b[1];
        lines.push({d: d, bytes: group.bytes[net], from: from < kids.length ? kids[from] : null, to: to < kids.length ? kids[to] : null});
    }
}

/* --- drawing ---------------------------------------------------------------------------------------------------------------------------------- */

function collect(group, x, y, boxes, lines) {
    const s = graph.data.sizes, at = arrange(group);
    linesOf(group, at, x, y, lines);
    group.kids.forEach((kid, k) => {
        const own = {node: kid, x: x + at.x[k] - at.sizes[k].width / 2, y: y + at.y[k], width: at.sizes[k].width, height: at.sizes[k].height};
        boxes.push(own);
        if (!isOpen(kid)) return;
        const inner = groupOf(kid), spare = own.width - 2 * s.pad - arrange(inner).width;
        collect(inner, own.x + s.pad + Math.max(0, spare / 2), own.y + s.head + marginOf(inner, false), boxes, lines);
    });
}
const nodeLabel = (node) => (node < 0 ? groupOf(node).label : graph.data.labels[node]);
function putWords(into, box, node, sum) {
    const s = graph.data.sizes, open = isOpen(node), chip = !open && graph.data.chipOf.get(node), y = box.y + (chip && chip.in ? s.chip : 0);
    const time = isFinite(sum.time) ? scaled(sum.time, 's') + (node < 0 ? ' · ' + scaled(sum.share, 'ratio') : '') : '';
    const beside = open || node >= 0, room = box.width - 12 - (node < 0 ? 18 : 0) - (beside ? fitWidth(time) + 8 : 0);
    into.append(svgMake('text', {x: box.x + 6, y: y + 14, 'class': (node < 0 ? 'fig-b' : 'fig-t') + (open ? '' : ' on-tint')}, fitting([nodeLabel(node)], room, (node < 0 ? '600 ' : '') + GRAPH_FONT)));
    if (beside) into.append(svgMake('text', {x: box.x + box.width - (open ? 24 : 6), y: y + 14, 'class': open ? 'fig-t' : 'fig-t on-tint', 'text-anchor': 'end'}, time));
    else into.append(svgMake('text', {x: box.x + 6, y: y + 29, 'class': 'fig-t on-tint'}, time));
    if (node < 0) {
        const toggle = svgMake('g', {'class': 'toggle'}), cx = box.x + box.width - 12, cy = y + 10;
        toggle.append(svgMake('rect', {x: cx - 9, y: cy - 9, width: 18, height: 18, 'fill-opacity': 0}), svgMake('path', {d: 'M' + (cx - 4) + ' ' + cy + 'h8' + (open ? '' : 'M' + cx + ' ' + (cy - 4) + 'v8')}));
        into.append(toggle);
    }
    if (!chip) return;
    if (chip.in) into.append(svgMake('path', {'class': 'fig-x', d: 'M' + (box.x + 10) + ' ' + (box.y + 2) + 'V' + y}), svgMake('text', {x: box.x + 16, y: y - 4, 'class': 'fig-n'}, fitting([chip.in], box.width / 2 - 20, GRAPH_FONT)));
    const end = box.y + box.height;
    if (chip.out) into.append(svgMake('path', {'class': 'fig-x', d: 'M' + (box.x + box.width - 10) + ' ' + (end - s.chip) + 'V' + (end - 2)}),
        svgMake('text', {x: box.x + box.width - 16, y: end - 4, 'class': 'fig-n', 'text-anchor': 'end'}, fitting([chip.out], box.width / 2 - 20, GRAPH_FONT)));
}
const fitWidth = (text) => (text ? measure(text, GRAPH_FONT) : 0);
function putBox(box, most) {
    const s = graph.data.sizes, node = box.node, open = isOpen(node), chip = !open && graph.data.chipOf.get(node), sum = sumOf(membersOfNode(node));
    const y = box.y + (chip && chip.in ? s.chip : 0), height = box.height - (chip && chip.in ? s.chip : 0) - (chip && chip.out ? s.chip : 0), group = groupOf(node);
    const own = svgMake('g', {'class': open ? 'node frame' : 'node', 'data-n': node}), tint = svgMake('rect', {'class': 'tint', x: box.x, y: y, width: box.width, height: open ? s.head : height, rx: 4});
    if (!group) own.setAttribute('data-l', layers.index[node]);
    else if (group.block >= 0) own.setAttribute('data-b', group.block);
    own.append(svgMake('title', {}, (group ? nodeLabel(node) + ', ' + plural(membersOfNode(node).length, 'layer') : layers.title[node] + ' (' + layers.op[node] + ')') +
        (isFinite(sum.time) ? ': ' + scaled(sum.time, 's') + ', ' + scaled(sum.share, 'ratio') : '') + (isFinite(sum.peak) ? ', ' + scaled(sum.peak, 'ratio') + ' of the peak' : '')));
    if (open) own.append(svgMake('rect', {'class': 'fig-y', x: box.x, y: y, width: box.width, height: height, rx: 6}));
    own.append(tint);
    if (!open && sum.time > 0) own.append(svgMake('rect', {'class': 'time', x: box.x + 3, y: y + height - 5, width: Math.max(1, (box.width - 6) * Math.min(1, sum.time / most)), height: 3}));
    putWords(own, box, node, sum);
    graph.drawn.set(node, {box: box, element: own});
    return own;
}
function drawGraph() {
    const boxes = [], lines = [], root = graph.data.groups[0];
    graph.data.groups.forEach((group) => { group.inside = null; });
    collect(root, graph.data.sizes.pad, marginOf(root, false), boxes, lines);
    graph.size = {width: arrange(root).width + 2 * graph.data.sizes.pad, height: arrange(root).height + marginOf(root, false) + marginOf(root, true)};
    const most = Math.max(0, ...boxes.filter((box) => !isOpen(box.node)).map((box) => sumOf(membersOfNode(box.node)).time || 0)), wires = svgMake('g', {'class': 'wires'}), nodes = svgMake('g');
    graph.drawn.clear();
    graph.wires = [];
    lines.forEach((line) => {
        const path = svgMake('path', {'class': known(line.bytes) ? 'fig-x' : 'fig-x fig-d2', 'stroke-width': lineWidth(line.bytes).toFixed(1), d: line.d.replace(/\.\d{2,}/g, (part) => part.slice(0, 2))});
        if (known(line.bytes)) path.append(svgMake('title', {}, scaled(line.bytes, 'B')));
        wires.append(path);
    });
    /* frames below their lines, boxes above them */
    boxes.filter((box) => isOpen(box.node)).forEach((box) => nodes.append(putBox(box, most)));
    const above = svgMake('g');
    boxes.filter((box) => !isOpen(box.node)).forEach((box) => above.append(putBox(box, most)));
    graph.layer.replaceChildren(nodes, wires, above);
    marks = null;
    paintGraph();
}
function paintGraph() {
    graph.drawn.forEach((drawn, node) => {
        if (isOpen(node)) return;
        const color = colorOfAll(membersOfNode(node)), words = inkOn(color);
        find('.tint', drawn.element).setAttribute('fill', color);
        all('.time, .on-tint', drawn.element).forEach((part) => { part.style.fill = words; });
        all('.toggle path', drawn.element).forEach((part) => { part.style.stroke = words; });
    });
    graph.key.replaceChildren(coloring() ? coloring().title + ' ' : '', legend() || '');
    lightGraph();
}
/* The box that shows a layer, by itself or closed around it. */
function boxOf(position) {
    let node = position, seen = position;
    while (graph.data.around.has(node)) {
        const up = graph.data.around.get(node);
        if (up && !graph.data.groups[up].open) seen = ~up;
        if (!up) break;
        node = ~up;
    }
    return graph.drawn.get(seen);
}
function lightGraph() {
    if (!graph.data || !graph.drawn.size) return;
    const found = matches(), mark = (name, positions) => {
        (graph[name] || []).forEach((element) => element.classList.remove(name));
        graph[name] = positions.slice(0, 400).map(boxOf).filter(Boolean).map((drawn) => drawn.element);
        graph[name].forEach((element) => element.classList.add(name));
    };
    mark('on', selected());
    mark('over', hovered || []);
    graph.drawn.forEach((drawn, node) => drawn.element.classList.toggle('faint', Boolean(found) && !isOpen(node) && !membersOfNode(node).some((i) => found.has(i))));
}

/* --- navigation -------------------------------------------------------------------------------------------------------------------------------- */

function applyView() {
    const view = graph.view;
    graph.layer.setAttribute('transform', 'translate(' + view.x.toFixed(1) + ' ' + view.y.toFixed(1) + ') scale(' + view.scale.toFixed(4) + ')');
}
function fitGraph() {
    const width = graph.svg.clientWidth, most = Math.max(320, Math.round(innerHeight * 0.68)), scale = Math.max(width < 600 ? 0.7 : 0.4, Math.min(1, width / graph.size.width, most / graph.size.height));
    if (!width) return;
    graph.svg.style.height = Math.min(most, Math.ceil(graph.size.height * scale) + 4) + 'px';
    graph.view = {scale: scale, x: Math.max(0, (width - graph.size.width * scale) / 2), y: 0};
    applyView();
}
function zoomGraph(factor, x, y) {
    const view = graph.view, scale = Math.max(0.1, Math.min(3, view.scale * factor)), cx = x === undefined ? graph.svg.clientWidth / 2 : x, cy = y === undefined ? graph.svg.clientHeight / 2 : y;
    graph.view = {scale: scale, x: cx - (cx - view.x) * scale / view.scale, y: cy - (cy - view.y) * scale / view.scale};
    applyView();
}
/* Moves just enough to bring a box into view. */
function showBox(drawn) {
    const view = graph.view, box = drawn.box, edge = 24, left = view.x + box.x * view.scale, top = view.y + box.y * view.scale;
    const width = Math.min(box.width * view.scale, graph.svg.clientWidth - 2 * edge), height = Math.min(box.height * view.scale, graph.svg.clientHeight - 2 * edge);
    if (left < edge) view.x += edge - left;
    else if (left + width > graph.svg.clientWidth - edge) view.x -= left + width - graph.svg.clientWidth + edge;
    if (top < edge) view.y += edge - top;
    else if (top + height > graph.svg.clientHeight - edge) view.y -= top + height - graph.svg.clientHeight + edge;
    applyView();
}
function openText() {
    const groups = graph.data.groups.slice(1), changed = groups.map((group, i) => (group.open !== group.first ? i + 1 : 0)).filter(Boolean);
    return changed.length < 4 ? changed.join(',') : groups.every((group) => group.open) ? 'all' : groups.some((group) => group.open) ? changed.join(',') : 'none';
}
function setOpen(changes) {
    changes.forEach((change) => { graph.data.groups[change[0]].open = change[1]; });
    choose({open: openText()});
    drawGraph();
}
/* The box stays where it is on the screen. */
function toggleBox(node) {
    const before = graph.drawn.get(node), view = graph.view;
    if (!before || node >= 0) return;
    setOpen([[~node, !isOpen(node)]]);
    const after = graph.drawn.get(node);
    if (after) { view.x += (before.box.x + before.box.width / 2 - after.box.x - after.box.width / 2) * view.scale; view.y += (before.box.y - after.box.y) * view.scale; }
    graph.svg.style.height = Math.min(Math.max(320, Math.round(innerHeight * 0.68)), Math.max(graph.svg.clientHeight, Math.ceil(graph.size.height * view.scale) + 4)) + 'px';
    applyView();
    if (after) showBox(after);
    say(node);
}
function setAll(open) {
    const shown = open ? layers.rows : 0;
    setOpen(graph.data.groups.map((none, i) => [i, open && shown <= GRAPH_BOXES]).slice(1));
    fitGraph();
}

/* --- keys: along the lines, and into groups ---------------------------------------------------------------------------------------------------- */

/* Nodes reached from a place of a group (step 1), or that lead to it (step -1): through bends, out of the group, and into open ones. */
function along(group, place, step, found, depth) {
    for (let i = 0; i < group.lines.length; i += 3) {
        if (group.lines[i + (step > 0 ? 0 : 1)] !== place) continue;
        const next = group.lines[i + (step > 0 ? 1 : 0)], number = graph.data.groups.indexOf(group);
        if (next >= group.boxes) along(group, next, step, found, depth);
        else if (next < group.kids.length) enter(group.kids[next], step, found, depth);
        else if (number) along(graph.data.groups[group.parent], graph.data.groups[group.parent].kids.indexOf(~number), step, found, depth);
    }
}
function enter(node, step, found, depth) {
    const group = groupOf(node);
    if (!group || !group.open || depth > 8) { found.add(node); return; }
    const before = found.size;
    for (let port = group.kids.length; port < group.boxes; port++) if ((group.row[port] === 0) === (step > 0)) along(group, port, step, found, depth + 1);
    if (found.size === before) found.add(group.kids[step > 0 ? 0 : group.kids.length - 1]);
}
function moveCursor(key) {
    const node = graph.cursor, number = graph.data.around.get(node), group = graph.data.groups[number], place = group ? group.kids.indexOf(node) : -1, found = new Set();
    if (!graph.drawn.has(node) || !group) { setCursor(graph.data.groups[0].kids[0]); return; }
    if (key === 'ArrowLeft' || key === 'ArrowRight') {
        const row = group.rowsOf[group.row[place]].filter((other) => other < group.kids.length), next = row[row.indexOf(place) + (key === 'ArrowLeft' ? -1 : 1)];
        if (next !== undefined) found.add(group.kids[next]);
    } else along(group, place, key === 'ArrowDown' ? 1 : -1, found, 0);
    const own = graph.drawn.get(node).box, off = (other) => Math.abs(other.box.x + other.box.width / 2 - own.x - own.width / 2);
    const next = Array.from(found).filter((other) => graph.drawn.has(other)).sort((a, b) => off(graph.drawn.get(a)) - off(graph.drawn.get(b)) || a - b)[0];
    if (next !== undefined) setCursor(next);
}
function say(node) {
    const group = groupOf(node), sum = sumOf(membersOfNode(node));
    graph.said.textContent = safe(nodeLabel(node) + (group ? ', ' + plural(membersOfNode(node).length, 'layer') + (group.open ? ', open' : ', closed') : ', ' + layers.op[node])) +
        (isFinite(sum.time) ? ' · ' + scaled(sum.time, 's') + ' · ' + scaled(sum.share, 'ratio') : '') + (known(sum.lost) ? ' · ' + scaled(sum.lost, 's') + ' lost' : '');
}
function setCursor(node) {
    const group = groupOf(node), drawn = graph.drawn.get(node);
    graph.cursor = node;
    if (!group) choose({sel: String(layers.index[node])});
    else if (group.block >= 0) choose({sel: 'b' + group.block});
    if (drawn) showBox(drawn);
    say(node);
}
function pressGraph(event) {
    const around = graph.cursor !== null && graph.data.around.get(graph.cursor);
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (/^Arrow/.test(event.key)) moveCursor(event.key);
    else if ((event.key === 'Enter' || event.key === ' ') && graph.cursor !== null && graph.cursor < 0) toggleBox(graph.cursor);
    else if (event.key === 'Backspace' && around) { graph.cursor = ~around; toggleBox(~around); setCursor(~around); }
    else if (event.key === '+' || event.key === '=') zoomGraph(1.25);
    else if (event.key === '-') zoomGraph(0.8);
    else if (event.key === '0') fitGraph();
    else return;
    event.preventDefault();
    event.stopPropagation();
}
function startPointer() {
    const svg = graph.svg;
    svg.addEventListener('click', (event) => {
        const mark = event.target.closest('[data-n]'), node = mark && Number(mark.getAttribute('data-n'));
        if (graph.moved) { event.stopPropagation(); graph.moved = false; return; }
        if (!mark) return;
        graph.cursor = node;
        if (event.target.closest('.toggle')) { event.stopPropagation(); toggleBox(node); } else say(node);
    });
    svg.addEventListener('dblclick', (event) => { const mark = event.target.closest('[data-n]'); if (mark && !event.target.closest('.toggle')) toggleBox(Number(mark.getAttribute('data-n'))); });
    svg.addEventListener('wheel', (event) => {
        if (!event.ctrlKey && !event.metaKey && document.activeElement !== svg) return;
        event.preventDefault();
        const at = svg.getBoundingClientRect();
        zoomGraph(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), event.clientX - at.left, event.clientY - at.top);
    }, {passive: false});
    svg.addEventListener('pointerdown', (event) => { if (!event.button) graph.drag = {x: event.clientX, y: event.clientY, id: event.pointerId}; graph.moved = false; });
    svg.addEventListener('pointermove', (event) => {
        const drag = graph.drag;
        if (!drag || drag.id !== event.pointerId) return;
        if (!graph.moved && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < 5) return;
        if (!graph.moved) svg.setPointerCapture(event.pointerId);
        graph.moved = true;
        graph.view.x += event.clientX - drag.x;
        graph.view.y += event.clientY - drag.y;
        graph.drag = {x: event.clientX, y: event.clientY, id: drag.id};
        applyView();
    });
    ['pointerup', 'pointercancel'].forEach((name) => svg.addEventListener(name, () => { graph.drag = null; }));
}

/* --- start ------------------------------------------------------------------------------------------------------------------------------------- */

function readOpen() {
    const text = state.open, changed = new Set(text.split(',').filter(Boolean).map(Number));
    graph.data.groups.forEach((group, i) => { if (i) group.open = text === 'all' ? layers.rows <= GRAPH_BOXES : text !== 'none' && group.first !== changed.has(i); });
}
function startGraph() {
    const picture = find('.picture.graph'), packedGraph = layers && picture && read('assay-graph'), data = packedGraph && unpack(packedGraph);
    if (!data || data.trial !== layers.trial.id) return;
    prepareGraph(data);
    graph.svg = svgMake('svg', {'class': 'fig network', tabindex: 0, role: 'application', 'aria-label': 'The network: arrow keys go along its lines, Enter opens and closes a block, + and - zoom, 0 shows all'});
    graph.layer = svgMake('g', {});
    graph.svg.append(graph.layer);
    graph.key = make('span', {'class': 'key'});
    graph.said = make('output', {'class': 'said', 'aria-live': 'polite'});
    const tool = (text, press, label) => button(text, press, {tabindex: '-1', 'aria-label': label, title: label});
    graph.box = make('div', {'class': 'network-box'}, [make('div', {'class': 'bar'}, [graph.key, graph.said, make('span', {'class': 'tools'}, [
        tool('Open all', () => setAll(true), 'Open all blocks'), tool('Close all', () => setAll(false), 'Close all blocks'),
        tool('−', () => zoomGraph(0.8), 'Smaller (-)'), tool('+', () => zoomGraph(1.25), 'Larger (+)'), tool('Fit', fitGraph, 'Fit all of it (0)')])])]);
    if (layers.rows > GRAPH_BOXES) find('.tools button', graph.box).hidden = true;
    graph.box.append(graph.svg);
    picture.before(graph.box);
    picture.classList.add('paper');
    startPointer();
    graph.svg.addEventListener('keydown', pressGraph);
    const drawWhenSeen = () => {
        if (!graph.svg.clientWidth) return;
        if (!graph.drawn.size) { readOpen(); drawGraph(); fitGraph(); }
    };
    listen((changed) => {
        if (changed.has('open') && graph.drawn.size && state.open !== openText()) { readOpen(); drawGraph(); }
        if (changed.has('tab')) drawWhenSeen();
        if (changed.has('color') && graph.drawn.size) paintGraph();
        if (!changed.has('sel') && !changed.has('q')) return;
        lightGraph();
        const drawn = graph.drawn.size && selected().length && boxOf(selected()[0]);
        if (drawn && document.activeElement !== graph.svg) showBox(drawn);
    });
    repaints.push(() => { if (graph.drawn.size) paintGraph(); });
    new ResizeObserver(() => { if (graph.drawn.size) { if (graph.svg.clientWidth) fitGraph(); } else drawWhenSeen(); }).observe(graph.box);
}
