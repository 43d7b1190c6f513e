/* plots.js - samples and readings over time that can be zoomed: uPlot instead of the picture, created when it comes near the screen. Drag to zoom, double click for
 * all; the buttons do the same. Paper keeps the picture.
 * Only pages that have such a figure carry it. */

let plots = [];
function medianOf(sorted) {
    let n = sorted.length, half = n >> 1;
    return n % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}
/* Launches follow each other, streams of one launch overlap; an outlier is more than ten deviations (14.826 MAD) from the median. */
function sampleColumns(plot) {
    let points = [], begin = 0, longest = 0, last = null, times = [];
    samples().forEach(function (row) { /* trial, launch, stream, seq, ns, warm-up */
        if (row[0] !== plot.trial || !known(row[4])) return;
        if (last !== null && row[1] !== last) { begin += longest; longest = 0; }
        last = row[1];
        longest = Math.max(longest, row[3] + 1);
        points.push([begin + row[3], row[4], row[5]]);
        if (!row[5]) times.push(row[4]);
    });
    if (!points.length || !times.length) return null;
    points.sort(function (a, b) { return a[0] - b[0]; });
    let median = medianOf(Float64Array.from(times).sort());
    let spread = medianOf(Float64Array.from(times, function (time) { return Math.abs(time - median); }).sort());
    let columns = [[], [], [], []];
    points.forEach(function (point) {
        let kind = point[2] ? 2 : spread > 0 && Math.abs(point[1] - median) / spread > 14.826 ? 3 : 1;
        columns[0].push(point[0]);
        for (let i = 1; i < 4; i++) columns[i].push(i === kind ? point[1] / 1e9 : null);
    });
    return {data: columns, names: ['samples', 'warm-up', 'outliers']};
}
function seriesColumns(plot) {
    let trial = listOf(report().trials).find(function (item) { return item.id === plot.trial; }) || {}, launch = null, tables = [];
    plot.series.forEach(function (name) {
        let found = listOf(trial.series).filter(function (item) { /* named as in figures_time.c */
            let own = /^power\./.test(item.name) && item.rail && item.name.indexOf(item.rail) < 0 ? item.name + ' (' + item.rail + ')' : item.name;
            return own === name && item.values && item.times_s && item.values.length > 1 && (launch === null || item.launch === launch);
        })[0];
        if (!found) return;
        launch = found.launch;
        let x = [], y = [];
        found.times_s.forEach(function (time, i) { if (known(time) && (!x.length || time > x[x.length - 1])) { x.push(time); y.push(known(found.values[i]) ? found.values[i] : null); } });
        if (x.length > 1) tables.push([name, x, y]);
    });
    if (!tables.length) return null;
    return {data: window.uPlot.join(tables.map(function (table) { return [table[1], table[2]]; })), names: tables.map(function (table) { return table[0]; })};
}
function drawSpans(plot) {
    return function (u) {
        u.ctx.save();
        u.ctx.beginPath();
        u.ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
        u.ctx.clip();
        plot.spans.forEach(function (span) {
            let left = u.valToPos(span.begin, 'x', true), right = u.valToPos(span.end, 'x', true);
            u.ctx.globalAlpha = 0.1;
            u.ctx.fillStyle = ink('fig-dim');
            u.ctx.fillRect(left, u.bbox.top, right - left, u.bbox.height);
            u.ctx.globalAlpha = 1;
        });
        u.ctx.restore();
    };
}
function drawMarks(plot) {
    return function (u) {
        function word(text, x, y, color) { /* on a ground of its own */
            text = safe(text);
            u.ctx.save();
            u.ctx.setLineDash([]);
            u.ctx.textAlign = 'left';
            u.ctx.textBaseline = 'alphabetic';
            u.ctx.lineWidth = 4 * devicePixelRatio;
            u.ctx.strokeStyle = ink('fig-paper');
            u.ctx.strokeText(text, x, y);
            u.ctx.fillStyle = ink('fig-' + color);
            u.ctx.fillText(text, x, y);
            u.ctx.restore();
        }
        u.ctx.save();
        u.ctx.beginPath();
        u.ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
        u.ctx.clip();
        u.ctx.strokeStyle = ink('fig-dim');
        u.ctx.lineWidth = devicePixelRatio;
        u.ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
        u.ctx.font = 12 * devicePixelRatio + 'px Arial, sans-serif';
        let taken = [];
        plot.spans.forEach(function (span) { /* their names, on top of the grid, which would cross them out */
            let left = Math.max(u.valToPos(span.begin, 'x', true), u.bbox.left), right = u.valToPos(span.end, 'x', true);
            if (right - left < 60 * devicePixelRatio) return;
            word(span.name, left + 5 * devicePixelRatio, u.bbox.top + u.bbox.height - 6 * devicePixelRatio, 'dim');
        });
        plot.marks.forEach(function (mark) {
            let at = u.valToPos(mark.at, mark.vertical ? 'x' : 'y', true), box = u.bbox, wide = u.ctx.measureText(mark.text).width;
            u.ctx.beginPath();
            if (mark.vertical) { u.ctx.moveTo(at, box.top); u.ctx.lineTo(at, box.top + box.height); }
            else { u.ctx.moveTo(box.left, at); u.ctx.lineTo(box.left + box.width, at); }
            u.ctx.stroke();
            let x = mark.vertical ? at + 4 * devicePixelRatio : box.left + box.width - wide - 6 * devicePixelRatio;
            let y = mark.vertical ? box.top + 14 * devicePixelRatio : at - 5 * devicePixelRatio;
            if (!mark.vertical && taken.some(function (other) { return Math.abs(other - y) < 14 * devicePixelRatio; })) y = at + 15 * devicePixelRatio;
            if (!mark.vertical) taken.push(y);
            word(mark.text, x, y, 'ink');
        });
        u.ctx.restore();
    };
}
/* Each point is a square; one per screen position, so that a hundred thousand are as fast as a thousand. */
function drawPoints(u, index) {
    let size = Math.round(4 * devicePixelRatio), x = u.data[0], y = u.data[index], taken = new Set();
    u.ctx.save();
    u.ctx.beginPath();
    u.ctx.rect(u.bbox.left - size, u.bbox.top, u.bbox.width + 2 * size, u.bbox.height); /* the first and the last are whole */
    u.ctx.clip();
    u.ctx.fillStyle = index === 2 ? ink('fig-axis') : index === 3 ? ink('fig-s1') : ink('fig-s0');
    for (let i = 0; i < x.length; i++) {
        if (y[i] === null || x[i] < u.scales.x.min || x[i] > u.scales.x.max) continue;
        let left = Math.round(u.valToPos(x[i], 'x', true) - size / 2), top = Math.round(u.valToPos(y[i], 'y', true) - size / 2), spot = left * 65536 + top;
        if (taken.has(spot)) continue;
        taken.add(spot);
        u.ctx.fillRect(left, top, size, size);
    }
    u.ctx.restore();
}
/* few: a line through few readings shows where they are, so that the values between them are not mistaken for measured ones */
function plotOptions(plot, names, few, width) {
    let axis = function (unit) {
        return {stroke: function () { return ink('fig-dim'); }, grid: {stroke: function () { return ink('fig-grid'); }, width: 1}, ticks: {stroke: function () { return ink('fig-grid'); }, width: 1},
            font: '12px Arial, sans-serif', labelFont: '12px Arial, sans-serif',
            values: function (u, splits, index, space, step) { return splits.map(function (value) { return value === null ? '' : value === 0 ? '0' : unit === 'count' ? count(value) : tick(value, unit, step); }); }};
    };
    let y = axis(plot.y_unit), x = axis(plot.x_unit);
    x.label = plot.x;
    if (plot.x_unit === 'count') x.incrs = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 1e7];
    x.labelSize = 18;
    x.size = 30;
    x.space = 70;
    y.size = 68;
    return {
        width: width, height: 250, padding: [12, 28, 0, 0], legend: {live: false},
        cursor: {drag: {x: true, y: false}, points: {size: 7}},
        scales: {x: {time: false}, y: plot.log ? {distr: 3} : {range: function (u, low, high) {
            if (low === null || high === null) return [0, 1];
            let room = (high - low || Math.abs(high) || 1) * 0.08;
            return [plot.zero ? 0 : low - room, high + room];
        }}},
        axes: [x, y],
        series: [{label: plot.x, value: function (u, value) { return value === null || value === undefined ? '' : plot.x_unit === 'count' ? count(value) : scaled(value, plot.x_unit); }}].concat(names.map(function (name, i) {
            let color = function () { return plot.samples && i === 1 ? ink('fig-axis') : ink('fig-s' + (plot.samples && i === 2 ? 1 : i % 8)); };
            return {label: safe(name), stroke: color, width: 1.5, dash: plot.samples ? undefined : [[], [7, 3], [2, 3], [9, 3, 2, 3]][i % 4],
                paths: plot.samples ? function () { return null; } : undefined, points: {show: few[i], size: 6, fill: color},
                value: function (u, value) { return value === null || value === undefined ? '' : scaled(value, plot.y_unit); }};
        })),
        hooks: {drawClear: [drawSpans(plot)], drawSeries: plot.samples ? [drawPoints] : [], draw: [drawMarks(plot)]}
    };
}
function zoomButtons(u, plot, full, output) {
    function zoom(factor, shift) {
        let low = u.scales.x.min, high = u.scales.x.max, span = Math.min((high - low) * factor, full[1] - full[0]), middle = (low + high) / 2 + (high - low) * shift;
        low = Math.max(full[0], Math.min(middle - span / 2, full[1] - span));
        if (span > 0) u.setScale('x', {min: low, max: low + span});
    }
    return make('div', {'class': 'zooms', role: 'group', 'aria-label': 'Zoom'}, [
        button('+', function () { zoom(0.5, 0); }, {'aria-label': 'Zoom in'}), button('−', function () { zoom(2, 0); }, {'aria-label': 'Zoom out'}),
        button('←', function () { zoom(1, -0.25); }, {'aria-label': 'Earlier'}), button('→', function () { zoom(1, 0.25); }, {'aria-label': 'Later'}),
        button('All', function () { u.setScale('x', {min: full[0], max: full[1]}); }, {'aria-label': 'Show all'}),
        output]);
}
function makePlot(figure) {
    let plot = JSON.parse(figure.getAttribute('data-plot')), columns = plot.samples ? sampleColumns(plot) : seriesColumns(plot);
    if (!columns) return;
    let kept = columns.names.map(function (name, i) { return columns.data[i + 1].some(known); });
    let description = figure.querySelector('svg desc');
    let box = make('div', {'class': 'zoom', role: 'group', 'aria-label': plot.title + (description ? ': ' + description.textContent : '')});
    figure.insertBefore(box, figure.querySelector('.picture'));
    let few = columns.names.map(function (name, i) { return !plot.samples && columns.data[i + 1].filter(known).length <= 20; });
    let options = plotOptions(plot, columns.names, few, Math.max(240, figure.clientWidth));
    options.series.forEach(function (series, i) { if (i && !kept[i - 1]) series.show = false; });
    let all = [columns.data[0][0], columns.data[0][columns.data[0].length - 1]], output = make('output', {'class': 'note', 'aria-live': 'polite'});
    const word = function (value) { return plot.x_unit === 'count' ? count(Math.round(value)) : scaled(value, plot.x_unit); };
    const atRest = function (u) {
        return u.scales.x.min <= all[0] && u.scales.x.max >= all[1] ? 'Drag across to zoom, double click for all.' : word(u.scales.x.min) + ' to ' + word(u.scales.x.max);
    };
    options.hooks.setScale = [function (u, key) { if (key === 'x') output.textContent = atRest(u); }];
    options.hooks.setCursor = [function (u) { /* the legend names the series; their values are shown here while hovering */
        const at = u.cursor.idx;
        const values = at === null || at === undefined ? [] : columns.names.map(function (name, i) { return known(columns.data[i + 1][at]) ? name + ' ' + scaled(columns.data[i + 1][at], plot.y_unit) : ''; }).filter(Boolean);
        output.textContent = safe(values.length ? plot.x + ' ' + word(columns.data[0][at]) + ': ' + values.join(', ') : atRest(u));
    }];
    figure.classList.add('zoomed');
    let u = new window.uPlot(options, columns.data, box), full = all;
    u.root.querySelector('canvas').setAttribute('aria-hidden', 'true');
    u.root.querySelectorAll('.u-series').forEach(function (row, i) { if (i && !kept[i - 1]) row.hidden = true; });
    u.root.querySelectorAll('.u-legend th').forEach(function (head) { head.setAttribute('scope', 'row'); });
    box.append(zoomButtons(u, plot, full, output));
    if (window.ResizeObserver) new ResizeObserver(function () {
        if (figure.clientWidth && figure.clientWidth !== u.width) u.setSize({width: figure.clientWidth, height: 250});
    }).observe(figure);
    plots.push(u);
}
function redraw() { plots.forEach(function (u) { u.redraw(false); }); }
function startPlots() {
    if (!window.uPlot || !window.IntersectionObserver) return;
    let later = window.requestIdleCallback ? function (work) { requestIdleCallback(work, {timeout: 2000}); } : function (work) { setTimeout(work, 100); };
    let near = new IntersectionObserver(function (entries) {
        entries.forEach(function (entry) {
            if (!entry.isIntersecting) return;
            near.unobserve(entry.target);
            later(function () { /* after everything the reader is waiting for */
                try { makePlot(entry.target); } catch (fault) { entry.target.classList.remove('zoomed'); } /* the picture stays */
            });
        });
    }, {rootMargin: '200px 0px'});
    document.querySelectorAll('figure[data-plot]').forEach(function (figure) { near.observe(figure); });
    repaints.push(redraw);
}

