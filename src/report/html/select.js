/* select.js - one selection for the strip, the table, the figures and the inspector. What is hovered is highlighted everywhere, what is clicked stays selected: a
 * layer (sel=46, its index in execution order) or a block (sel=b3). */

let hovered = null; /* positions of layers; null: none */
let marks = null;   /* index of a layer, or "b" + id of a block -> its marks in figures */

const layerOf = (text) => /^\d+$/.test(text) && layers && layers.at.has(Number(text)) ? layers.at.get(Number(text)) : -1;
const blockOf = (text) => (/^b\d+$/.test(text) && layers && layers.blocks.find((block) => block.id === Number(text.slice(1)))) || null;
/* Over all its runs: a part of the model that runs in several pieces is one block. */
const members = new Map();
function membersOf(block) {
    const keyOf = (run) => (run.name ? run.level + '\n' + run.name + '\n' + run.label : run);
    if (!members.size) {
        layers.blocks.forEach((run) => {
            const key = keyOf(run), inside = members.get(key) || [];
            for (let i = 0; i < run.count; i++) inside.push(run.first + i);
            members.set(key, inside);
        });
    }
    return members.get(keyOf(block));
}
/* Positions of the selected layers. */
function selected() {
    const layer = layerOf(state.sel), block = blockOf(state.sel);
    return layer >= 0 ? [layer] : block ? membersOf(block) : [];
}
const select = (position) => choose({sel: position < 0 ? '' : String(layers.index[position])});

function marksOf(key) {
    if (!marks) {
        marks = new Map();
        all('main svg [data-l], main svg [data-b], main table:not(.layers) [data-l]').forEach((mark) => {
            if (mark.closest('#trials')) return; /* layers of another trial */
            const own = mark.hasAttribute('data-l') ? mark.getAttribute('data-l') : 'b' + mark.getAttribute('data-b');
            if (!marks.has(own)) marks.set(own, []);
            marks.get(own).push(mark);
        });
    }
    return marks.get(key) || [];
}
const lit = {sel: [], hov: []};
function light(name, keys) {
    lit[name].forEach((mark) => mark.classList.remove(name));
    lit[name] = [].concat.apply([], keys.map(marksOf));
    lit[name].forEach((mark) => mark.classList.add(name));
}
/* positions: null nothing */
function brush(positions) {
    if (!layers || (positions && hovered && positions.length === hovered.length && positions[0] === hovered[0])) return;
    if (!positions && !hovered) return;
    hovered = positions && positions.length ? positions : null;
    light('hov', hovered && hovered.length < 200 ? hovered.map((i) => String(layers.index[i])) : []);
    outlineStrip();
    sayStrip();
    lightRows();
    lightGraph();
}
function startSelection() {
    listen((changed) => {
        if (!changed.has('sel')) return;
        light('sel', blockOf(state.sel) ? [state.sel].concat(selected().map((i) => String(layers.index[i]))) : [state.sel]);
    });
    const under = (event) => {
        const mark = event.target.closest && event.target.closest('svg [data-l], svg [data-b], table:not(.layers) [data-l]');
        if (!mark || mark.closest('#trials')) return null;
        const text = mark.hasAttribute('data-l') ? mark.getAttribute('data-l') : 'b' + mark.getAttribute('data-b');
        return layerOf(text) >= 0 || blockOf(text) ? text : null;
    };
    document.addEventListener('mouseover', (event) => {
        const text = under(event);
        if (text) brush(layerOf(text) >= 0 ? [layerOf(text)] : membersOf(blockOf(text)));
        else if (event.target.closest && event.target.closest('svg')) brush(null);
    });
    document.addEventListener('click', (event) => {
        const text = under(event);
        if (text) choose({sel: state.sel === text ? '' : text});
    });
}
/* The next layer: in execution order, or as the table shows them. */
function walk(step, shown) {
    const order = shown && tableOrder.length ? tableOrder : stripLine().order, now = order.indexOf(layerOf(state.sel));
    if (!order.length) return;
    select(order[now < 0 ? (step > 0 ? 0 : order.length - 1) : Math.max(0, Math.min(order.length - 1, now + step))]);
}
