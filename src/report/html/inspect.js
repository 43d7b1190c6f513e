/* inspect.js - next to the table: what is known about the selected layer or block; without a selection, the findings. */

const aside = {box: null, rest: null, made: null, scrolled: false};

function factList(rows) {
    return make('dl', {'class': 'facts'}, rows.filter((row) => row && row[1] !== null && row[1] !== undefined && row[1] !== '').map((row) =>
        make('div', {}, [make('dt', {}, [row[0]]), make('dd', {}, [typeof row[1] === 'string' ? make('bdi', {}, [row[1].length > 1000 ? row[1].slice(0, 1000) + '… (' + count(row[1].length) + ' characters, all in the data)' : row[1]]) : row[1]])])));
}
/* The rate relative to its roof. */
function gauge(share) {
    const bar = make('i');
    bar.style.width = Math.max(1, Math.min(100, share * 100)).toFixed(1) + '%';
    bar.style.background = ink('fig-r' + Math.max(0, Math.min(7, Math.floor(share * 8))));
    return make('div', {'class': 'gauge', role: 'img', 'aria-label': scaled(share, 'ratio') + ' of its roof'}, [bar]);
}
/* Findings whose evidence names the layer. */
function findingsOn(position) {
    const title = layers.title[position];
    return title.length < 3 ? [] : listOf(report().findings).filter((finding) => [finding.title, finding.advice].concat(finding.evidence || []).some((text) => (text || '').split(/[\s,;:()'"]+/).includes(title)));
}
function neighbour(position, text) {
    return position < 0 || position >= layers.rows ? null : button(text.replace('*', shorten(layers.title[position], 22)), () => select(position), {title: layers.title[position]});
}
function roofText(i) {
    if (layers.reason) return '— ' + layers.reason;
    if (!isFinite(layers.peak[i])) return '— not known';
    return scaled(layers.peak[i], 'ratio') + ' of what its roof' + (layers.roof[i] ? ' (' + layers.roof[i] + ')' : '') + ' allows' + (isFinite(layers.attainable[i]) ? ', at most ' + scaled(layers.attainable[i], 'FLOP/s') : '') +
        (layers.peak[i] > 1.05 ? ': above its roof, so FLOPs, bytes or the ceiling are wrong' : '');
}
function describeLayer(i) {
    const l = layers, time = l.time[i], from = l.from[i] || [], timing = l.trial.layer_timing || {};
    const interval = isFinite(l.low[i]) ? scaled(l.low[i], 's') + ' to ' + scaled(l.high[i], 's') + ' over launches' : '';
    const rows = [
        ['time', isFinite(time) ? scaled(time, 's') + ' (' + l.state[i] + ', ' + (l.method[i] || '?') + ')' : '— ' + (l.note[i] || 'not known')],
        ['95 % interval', isFinite(time) ? interval || '— ' + (timing.interval_reason || 'less than five launches timed it') : ''],
        ['share', isFinite(l.share[i]) ? scaled(l.share[i], 'ratio') : ''],
        ['time lost', isFinite(l.lost[i]) ? scaled(l.lost[i], 's') + '; at its roof it would take ' + scaled(l.least[i], 's') : ''],
        ['rate', isFinite(l.rate[i]) ? scaled(l.rate[i], 'FLOP/s') : ''],
        ['roof', roofText(i)],
        ['bound', l.bound[i] && l.bound[i] !== 'unknown' ? l.bound[i] : ''],
        ['work', isFinite(l.flops[i]) ? scaled(l.flops[i], 'FLOP') : '— not known of this operator'],
        ['bytes', isFinite(l.bytes[i]) ? scaled(l.bytes[i], 'B') + (isFinite(l.weightBytes[i]) ? ', ' + scaled(l.weightBytes[i], 'B') + ' of it weights' : '') : '— not known'],
        ['intensity', l.flops[i] >= 0 && l.bytes[i] > 0 ? (l.flops[i] / l.bytes[i]).toPrecision(3) + ' FLOP/B' : ''],
        ['alive', isFinite(l.live[i]) ? scaled(l.live[i], 'B') + ' of activations' : ''],
        ['enqueued in', isFinite(l.enqueue[i]) ? scaled(l.enqueue[i], 's') + ' of the host' : ''],
        ['in', l.inputs[i]], ['weights', l.weights[i]], ['out', l.outputs[i]], ['attributes', l.attributes[i]],
        [from.length > 1 ? 'fused of ' + from.length : 'node', from.join(', ')],
        ['name', l.name[i] === l.title[i] ? '' : l.name[i]],
        ['provider', l.provider[i] || '— not reported by the engine'],
        ['note', isFinite(time) ? l.note[i] : '']
    ];
    const found = findingsOn(i);
    return [make('h3', {}, [make('bdi', {}, [l.title[i]])]), make('p', {'class': 'note'}, ['#' + l.index[i] + ' · ' + l.op[i]]),
        isFinite(l.peak[i]) ? gauge(l.peak[i]) : null, factList(rows),
        found.length ? make('div', {}, [make('h4', {}, ['Findings']), make('ul', {}, found.map((finding) => make('li', {}, [finding.title])))]) : null,
        make('div', {'class': 'steps'}, [neighbour(i - 1, '← *'), neighbour(i + 1, '* →')])];
}
function describeBlock(block) {
    const inside = membersOf(block), sum = sumOf(inside), most = inside.slice().sort((a, b) => (layers.lost[b] || layers.time[b] || 0) - (layers.lost[a] || layers.time[a] || 0)).slice(0, 8);
    return [make('h3', {}, [make('bdi', {}, [block.name || block.label || 'layers outside blocks'])]), make('p', {'class': 'note'}, [plural(inside.length, 'layer') + ', from #' + layers.index[block.first]]),
        isFinite(sum.peak) ? gauge(sum.peak) : null,
        factList([['time', scaled(sum.time, 's')], ['share', scaled(sum.share, 'ratio')], ['time lost', known(sum.lost) ? scaled(sum.lost, 's') : ''], ['rate', isFinite(sum.rate) ? scaled(sum.rate, 'FLOP/s') : ''],
            ['of peak', isFinite(sum.peak) ? scaled(sum.peak, 'ratio') : '']]),
        make('h4', {}, [layers.judged ? 'Its layers that lose most' : 'Its longest layers']),
        make('ol', {'class': 'plain'}, most.map((i) => make('li', {}, [button(shorten(layers.title[i], 28) + '  ' + scaled(layers.judged ? layers.lost[i] : layers.time[i], 's'), () => select(i), {title: layers.title[i]})])))];
}
function inspect() {
    const layer = layerOf(state.sel), block = blockOf(state.sel), chosen = layer >= 0 || block;
    if (!aside.box) return;
    aside.made.hidden = !chosen;
    aside.rest.hidden = Boolean(chosen) || !aside.rest.childElementCount;
    aside.box.classList.toggle('chosen', Boolean(chosen));
    aside.box.hidden = !chosen && !aside.rest.childElementCount;
    aside.box.parentElement.classList.toggle('alone', aside.box.hidden);
    if (aside.scrolled) aside.box.scrollTop = 0;
    if (!chosen) { aside.made.replaceChildren(); return; }
    const close = button('✕', () => choose({sel: ''}), {'class': 'close', 'aria-label': 'Close'});
    aside.made.replaceChildren.apply(aside.made, [close].concat(layer >= 0 ? describeLayer(layer) : describeBlock(block)).filter(Boolean));
}
function startInspector() {
    const first = tabs.length ? tabs[0].panel : find('.tab'), section = find('#layers'), found = find('#findings');
    if (!layers || !section || !first) return;
    aside.made = make('div', {'class': 'made', role: 'region', 'aria-label': 'The chosen layer', tabindex: '-1'});
    aside.rest = make('div', {'class': 'rest'});
    if (found && first.contains(found)) aside.rest.append(found);
    aside.box = make('aside', {'class': 'inspector', 'aria-label': 'Details'}, [aside.made, aside.rest]);
    /* the strip keeps the width of the page, the table has the panel next to it */
    const bars = all('.bar', section), holder = make('div', {'class': 'beside'}), left = make('div');
    (strip.box ? bars[1] : bars[0]).before(holder);
    [strip.box ? bars[1] : bars[0], find('.scroll.tall', section), find('.rows', section)].forEach((part) => { if (part) left.append(part); });
    holder.append(left, aside.box);
    aside.box.addEventListener('scroll', () => { aside.scrolled = aside.box.scrollTop > 0; }, {passive: true});
    listen((changed) => { if (changed.has('sel')) inspect(); }); /* after the table has scrolled, which asks for a layout */
    repaints.push(inspect);
}
