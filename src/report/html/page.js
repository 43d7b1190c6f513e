/* page.js - what the page can do with JavaScript: sort, filter, details of a layer, views (0 1 2 3), search (/), keys (?), theme, zoom, downloads. The
 * page is complete without it: nothing here draws what a reader without it would miss, except layers beyond the first thousand. Text reaches
 * the page only through textContent; data comes from the page itself. */
(function () {
    'use strict';
    var ROWS = 1000; /* rows of a table that are shown at once */
    var root = document.documentElement;
    var data = null;

    function read(id) {
        var block = document.getElementById(id);
        try { return block ? JSON.parse(block.textContent) : null; } catch (fault) { return null; }
    }
    function profile() { return data || (data = read('assay-data') || {trials: []}); }

    /* Control characters and turns of direction are shown as U+FFFD, as in what the page was written with (html.c); downloads keep them. */
    function safe(text) {
        return String(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufdd0-\ufdef\ufeff\ufffe\uffff]/g, '\ufffd');
    }
    function make(tag, attributes, children) {
        var element = document.createElement(tag);
        Object.keys(attributes || {}).forEach(function (key) { element.setAttribute(key, safe(attributes[key])); });
        (children || []).forEach(function (child) {
            element.append(typeof child === 'string' ? safe(child) : child);
        });
        return element;
    }
    function button(text, press, attributes) {
        var element = make('button', attributes, [text]);
        element.type = 'button';
        element.addEventListener('click', press);
        return element;
    }
    function known(value) { return typeof value === 'number' && isFinite(value); }

    /* Three significant digits and a prefix, as the C side writes them. */
    function scaled(value, unit) {
        var i, prefixes, size = Math.abs(value);
        if (!known(value)) return '—';
        if (unit === 'ratio') return (value * 100).toFixed(size < 0.0995 ? 2 : 1) + ' %';
        if (unit === 's' && size < 1) {
            prefixes = ['m', 'µ', 'n'];
            for (i = 0; i < 3; i++) { value *= 1000; if (Math.abs(value) >= 0.9995 || i === 2) break; }
            return digits(value) + ' ' + prefixes[i] + 's';
        }
        prefixes = ['', 'k', 'M', 'G', 'T', 'P'];
        for (i = 0; i < 5 && Math.abs(value) >= 999.5; i++) value /= 1000;
        return (i ? digits(value) : digits(value).replace(/\.0+$/, '')) + ' ' + prefixes[i] + unit;
    }
    function digits(value) {
        var size = Math.abs(value);
        return value.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
    }
    function count(value) { return value.toLocaleString('en-US'); }
    /* A label of an axis: as many digits as its step needs, so that 102.5 does not read as 103. */
    function tick(value, unit, step) {
        var text = scaled(value, unit), suffix = text.slice(text.indexOf(' ') + 1), places = 0;
        var size = {k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, m: 1e-3, 'µ': 1e-6, n: 1e-9}[suffix.slice(0, suffix.length - unit.length)] || 1;
        if (unit === 'ratio' || !known(step)) return text;
        for (var part = step / size; places < 4 && Math.abs(part - Math.round(part)) > 1e-6; part *= 10) places++;
        return (value / size).toFixed(places) + ' ' + suffix;
    }

    /* --- theme ----------------------------------------------------------------------------------- */
    function stored(key, value) {
        try {
            if (value === undefined) return localStorage.getItem(key);
            localStorage.setItem(key, value);
        } catch (fault) { /* a page from disk may have none */ }
        return null;
    }
    function isDark() {
        var chosen = root.getAttribute('data-theme');
        return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    }
    var themeButton = button('', function () { setTheme(isDark() ? 'light' : 'dark'); }, {id: 'theme'});
    function setTheme(theme) {
        if (theme === 'light' || theme === 'dark') {
            root.setAttribute('data-theme', theme);
            stored('assay-theme', theme);
        }
        themeButton.textContent = isDark() ? 'Light' : 'Dark';
        themeButton.setAttribute('aria-label', 'Switch to the ' + (isDark() ? 'light' : 'dark') + ' theme');
        redraw();
    }

    /* --- views ----------------------------------------------------------------------------------- */
    var views = [['All', 0], ['Overview', 1], ['Layers', 2], ['Machine', 4]];
    var viewButtons = views.map(function (view, index) {
        return button(view[0], function () { setView(index); }, {'aria-pressed': 'false', title: 'key ' + index, 'data-view': index});
    });
    function setView(index) {
        var bit = views[index][1];
        document.querySelectorAll('[data-views]').forEach(function (element) {
            element.hidden = bit !== 0 && !(Number(element.getAttribute('data-views')) & bit);
        });
        viewButtons.forEach(function (element, at) { element.setAttribute('aria-pressed', String(at === index)); });
    }
    /* Paper is light, whole and unfolded. */
    var chosenTheme = null;
    window.addEventListener('beforeprint', function () {
        setView(0);
        document.querySelectorAll('details').forEach(function (element) { element.open = true; });
        chosenTheme = root.getAttribute('data-theme');
        root.setAttribute('data-theme', 'light');
    });
    window.addEventListener('afterprint', function () {
        if (chosenTheme) root.setAttribute('data-theme', chosenTheme);
        else root.removeAttribute('data-theme');
    });

    /* --- sorting of any table --------------------------------------------------------------------- */
    function headButtons(table, sort) {
        Array.prototype.forEach.call(table.tHead.rows[0].cells, function (cell, column) {
            var text = cell.textContent;
            cell.textContent = '';
            cell.append(button(text, function () {
                var numbers = cell.classList.contains('n'), now = cell.getAttribute('aria-sort');
                var direction = now === 'descending' ? 'ascending' : now === 'ascending' ? 'descending' : numbers ? 'descending' : 'ascending';
                Array.prototype.forEach.call(table.tHead.rows[0].cells, function (other) { other.removeAttribute('aria-sort'); });
                cell.setAttribute('aria-sort', direction);
                sort(column, direction === 'ascending' ? 1 : -1, numbers);
            }));
        });
    }
    /* What is not known stands last in both directions. */
    function compare(a, b, direction) {
        var none = function (value) { return value === null || value === undefined || value === '' || value === '—'; };
        if (none(a) || none(b)) return none(a) - none(b);
        if (typeof a === 'number' && typeof b === 'number') return (a - b) * direction;
        return String(a).localeCompare(String(b), 'en', {numeric: true}) * direction;
    }
    function cellValue(row, column) {
        var cell = row.cells[column], own = cell ? cell.getAttribute('data-v') : null;
        if (own !== null) return Number(own);
        var text = cell ? cell.textContent.trim() : '';
        return text !== '' && isFinite(Number(text)) ? Number(text) : text;
    }
    document.querySelectorAll('table.sortable').forEach(function (table) {
        headButtons(table, function (column, direction) {
            var body = table.tBodies[0], rows = Array.prototype.slice.call(body.rows);
            var values = new Map(rows.map(function (row) { return [row, cellValue(row, column)]; }));
            rows.sort(function (a, b) { return compare(values.get(a), values.get(b), direction); });
            body.append.apply(body, rows);
        });
    });

    /* --- layers ---------------------------------------------------------------------------------- */
    function trialOf(table) {
        var trials = profile().trials || [], id = Number(table.closest('[data-trial]').getAttribute('data-trial'));
        return trials.filter(function (trial) { return trial.id === id; })[0] || trials[0] || {layers: []};
    }
    function titleOf(layer) { return (layer.from && layer.from[0]) || layer.name || layer.op; }

    function LayerTable(table) {
        var self = this;
        this.table = table;
        this.prefix = table.id.replace(/layer-table$/, '');
        this.body = table.tBodies[0];
        this.rows = {};
        this.limit = ROWS;
        this.order = null;
        this.query = '';
        Array.prototype.forEach.call(this.body.rows, function (row) { self.rows[row.id] = row; });
        this.more = button('', function () { self.limit += ROWS; self.show(); });
        this.more.hidden = true;
        this.output = make('output', {'aria-live': 'polite'});
        this.input = make('input', {type: 'search', placeholder: 'Name, operator, provider, bound …', 'aria-label': 'Filter layers', id: this.prefix + 'layer-filter'});
        this.input.addEventListener('input', function () { self.query = self.input.value.toLowerCase(); self.limit = ROWS; self.show(); });
        var box = table.closest('.scroll');
        box.before(make('div', {'class': 'search'}, [this.input, this.output]));
        box.after(this.more);
        headButtons(table, function (column, direction) { self.sort(column, direction); });
        var time = table.tHead.querySelector('[data-key=time_us]');
        if (time) time.setAttribute('aria-sort', 'descending');
        this.body.addEventListener('click', function (event) {
            var row = event.target.closest('tr');
            if (!row || !self.body.contains(row) || row.classList.contains('detail') || row.classList.contains('extra')) return;
            if (event.target.closest('a')) event.preventDefault();
            history.replaceState(null, '', '#' + row.id);
            self.toggle(row);
        });
        /* Rows that are not in the page yet: said at once, made when asked for. The data is read then, not now. */
        var all = Number(table.closest('[data-count]').getAttribute('data-count'));
        var here = table.querySelectorAll('tbody tr:not(.extra)').length;
        if (here < all) {
            this.limit = here;
            this.more.hidden = false;
            this.more.textContent = 'Show ' + count(Math.min(ROWS, all - here)) + ' more';
            this.output.textContent = count(here) + ' shown of ' + count(all);
        }
    }
    LayerTable.prototype.load = function () {
        var self = this;
        if (this.entries) return;
        this.trial = trialOf(this.table);
        this.roofs = null;
        this.entries = (this.trial.layers || []).map(function (layer, position) {
            return {
                id: self.prefix + 'layer-' + layer.index, layer: layer, position: position,
                text: [layer.name, layer.op, layer.provider, layer.bound, layer.method].concat(layer.from || []).join('\n').toLowerCase()
            };
        });
        this.longest = 0;
        this.entries.forEach(function (entry) { if (entry.layer.share > self.longest) self.longest = entry.layer.share; });
        var total = this.total = (this.trial.metrics && this.trial.metrics['latency.p50'] || {}).value;
        function timeOf(name) { return name === 'total' ? (known(total) ? total * 1e6 : null) : self.trial[name + '_us']; }
        ['engine', 'unattributed', 'total'].forEach(function (name) {
            var row = self.rows[self.prefix + 'layer-' + name];
            if (row) self.entries.push({id: row.id, position: self.entries.length, text: name + (name === 'engine' ? ' per run' : ''),
                layer: {name: row.querySelector('th').textContent, time_us: timeOf(name), share: known(total) ? timeOf(name) / 1e6 / total : null}});
        });
        this.order = this.entries.slice().sort(function (a, b) { return compare(a.layer.time_us, b.layer.time_us, -1) || a.position - b.position; });
    };
    /* What a column shows of a layer, by the name that its head carries (data-key). */
    var layerColumns = {
        index: function (l) { return l.index; }, layer: titleOf, operator: function (l) { return l.op; },
        bound: function (l) { return l.bound === 'unknown' ? null : l.bound; }, bar: function (l) { return l.share; },
        from: function (l) { return (l.from || []).join('; '); }
    };
    var layerUnits = {time_us: 's', time_low_us: 's', time_high_us: 's', host_enqueue_us: 's', share: 'ratio', flops: 'FLOP', bytes: 'B', weight_bytes: 'B', live_bytes: 'B'};
    var derivedColumns = {flops: 1, bytes: 1, weight_bytes: 1, live_bytes: 1, time_low_us: 1, time_high_us: 1};
    function layerValue(key, layer) { return layerColumns[key] ? layerColumns[key](layer) : layer[key]; }
    LayerTable.prototype.keys = function () {
        return Array.prototype.map.call(this.table.tHead.rows[0].cells, function (cell) { return cell.getAttribute('data-key'); });
    };
    LayerTable.prototype.sort = function (column, direction) {
        var key = this.keys()[column];
        this.load();
        this.order.sort(function (a, b) { return compare(layerValue(key, a.layer), layerValue(key, b.layer), direction) || a.position - b.position; });
        this.show();
    };
    LayerTable.prototype.cellOf = function (key, entry) {
        var l = entry.layer, value = layerValue(key, l), unit = layerUnits[key], mark = '';
        if (key === 'layer') return make('th', {scope: 'row'}, [make('a', {href: '#' + entry.id}, [make('bdi', {}, breaking(shorten(titleOf(l))))])]);
        if (key === 'bar') return make('td', {'class': 'bar'}, l.share > 0 && this.longest > 0 ? [make('i', {'class': 'w' + Math.max(1, Math.round(l.share / this.longest * 50))})] : []);
        if (key === 'operator') return make('td', {}, [l.op + (l.from && l.from.length > 1 ? '+' + (l.from.length - 1) : '')]);
        if (key === 'index') return make('td', {'class': 'n'}, [String(value)]);
        if (!unit) return make('td', {}, [value || '']);
        if (key === 'time_us') mark = l.state === 'derived' ? '=' : l.state === 'estimated' ? '~' : '';
        else if (derivedColumns[key]) mark = '=';
        return make('td', {'class': 'n'}, [known(value) ? mark + scaled(unit === 's' ? value / 1e6 : value, unit) : '—']);
    };
    LayerTable.prototype.rowOf = function (entry) {
        var self = this;
        if (!this.rows[entry.id])
            this.rows[entry.id] = make('tr', {id: entry.id}, this.keys().map(function (key) { return self.cellOf(key, entry); }));
        return this.rows[entry.id];
    };
    /* A long name may break after a separator, but not within a word. */
    function breaking(text) {
        var parts = text.length > 14 ? text.replace(/([^][/._:=])(?=[^/._:=])/g, '$1\u0000').split('\u0000') : [text], out = [];
        parts.forEach(function (part, i) { if (i) out.push(make('wbr')); out.push(part); });
        return out;
    }
    function shorten(text) {
        var letters = Array.from(text);
        return letters.length > 160 ? letters.slice(0, 78).join('') + '…' + letters.slice(-78).join('') : text;
    }
    LayerTable.prototype.show = function () {
        var self = this, words, matching, shown;
        this.load();
        words = this.query.split(/\s+/).filter(Boolean);
        matching = words.length ? this.order.filter(function (entry) {
            return words.every(function (word) { return entry.text.indexOf(word) >= 0; });
        }) : this.order;
        shown = matching.slice(0, this.limit);
        this.body.replaceChildren.apply(this.body, shown.map(function (entry) { return self.rowOf(entry); }));
        this.output.textContent = words.length || shown.length < matching.length
            ? count(shown.length) + ' shown of ' + count(this.entries.length) + (words.length ? ', ' + count(matching.length) + ' match' : '') : '';
        this.more.hidden = shown.length >= matching.length;
        this.more.textContent = 'Show ' + count(Math.min(ROWS, matching.length - shown.length)) + ' more';
    };
    LayerTable.prototype.find = function (id) {
        this.load();
        return this.entries.filter(function (entry) { return entry.id === id; })[0];
    };
    LayerTable.prototype.place = function (entry) {
        var id = this.trial.id;
        if (!this.roofs) this.roofs = (read('assay-roofline') || []).filter(function (item) { return item.trial === id; })[0] || {};
        var at = entry.position, r = this.roofs;
        return {reason: r.reason, attainable: (r.attainable || [])[at], utilization: (r.utilization || [])[at], roof: (r.roof || [])[at]};
    };
    LayerTable.prototype.toggle = function (row, open) {
        var next = row.nextElementSibling, is = next && next.classList.contains('detail');
        if (is) { if (!open) { next.remove(); row.classList.remove('open'); } return; }
        var entry = this.find(row.id);
        if (!entry) return;
        row.classList.add('open');
        row.after(make('tr', {'class': 'detail'}, [make('td', {colspan: row.cells.length}, [this.describe(entry)])]));
    };
    LayerTable.prototype.describe = function (entry) {
        var l = entry.layer, place = this.place(entry), list = make('dl', {'class': 'facts'});
        function fact(term, text) {
            if (text && text.length > 1000) text = text.slice(0, 1000) + '… (' + count(text.length) + ' characters, all in the data)';
            if (text !== null && text !== undefined && text !== '') list.append(make('div', {}, [make('dt', {}, [term]), make('dd', {}, [make('bdi', {}, [text])])]));
        }
        var time = known(l.time_us) ? l.time_us / 1e6 : null, rate = known(l.flops) && time ? l.flops / time : null;
        fact('name', l.name);
        fact('operator', l.op);
        fact('provider', l.provider || '— not told by the engine');
        fact('time', time === null ? '— ' + (l.note || 'not known') : scaled(time, 's') + ' (' + l.state + ', ' + (l.method || '?') + ')');
        fact('interval', time === null ? '' : known(l.time_low_us) ? scaled(l.time_low_us / 1e6, 's') + ' to ' + scaled(l.time_high_us / 1e6, 's') +
            ' over launches (95 %; 93.75 % of five)' : '— ' + ((this.trial.layer_timing || {}).interval_reason || 'less than five launches timed it'));
        fact('share', known(l.share) ? scaled(l.share, 'ratio') + ' of latency.p50' : '');
        fact('enqueued in', known(l.host_enqueue_us) ? scaled(l.host_enqueue_us / 1e6, 's') + ' of the host' : '');
        fact('work', known(l.flops) ? scaled(l.flops, 'FLOP') + ' by the graph' : '— not known of this operator');
        fact('bytes', known(l.bytes) ? scaled(l.bytes, 'B') + ', ' + (known(l.weight_bytes) ? scaled(l.weight_bytes, 'B') + ' of it weights' : 'weights not known') : '— not known');
        fact('intensity', known(l.flops) && l.bytes > 0 ? (l.flops / l.bytes).toPrecision(3) + ' FLOP/B = work / bytes' : '');
        fact('rate', rate ? scaled(rate, 'FLOP/s') + ' = work / time' : '');
        fact('bound', l.bound && l.bound !== 'unknown' ? l.bound : '— not known');
        if (place.reason) fact('roofline', '— ' + place.reason);
        else if (known(place.utilization))
            fact('roofline', scaled(place.utilization, 'ratio') + ' of what its roof' + (place.roof ? ' (' + place.roof + ')' : '') + ' allows' +
                (known(place.attainable) ? ', at most ' + scaled(place.attainable, 'FLOP/s') : '') +
                (place.utilization > 1.05 ? ': above its roof, so FLOPs, bytes or the ceiling are wrong' : ''));
        fact('alive meanwhile', known(l.live_bytes) ? scaled(l.live_bytes, 'B') + ' of activations' : '');
        fact('note', time === null ? '' : l.note);
        if (l.from && l.from.length)
            fact(l.from.length > 1 ? 'fused from ' + l.from.length + ' nodes' : 'from node', l.from.join(', '));
        fact('in', l.inputs);
        fact('weights', l.weights);
        fact('out', l.outputs);
        fact('attributes', l.attributes);
        if (!l.inputs && !l.outputs && entry.position >= 0 && l.op)
            fact('shapes', l.from && l.from.length ? '— not kept in this profile: assay inspect MODEL --json has them' : '— not known: no node of the model became this layer');
        return list;
    };

    var tables = Array.prototype.map.call(document.querySelectorAll('table.layers'), function (table) { return new LayerTable(table); });

    /* A deep link to a layer: it is shown, whatever the view, the filter and the fold, and opened. */
    function follow() {
        var id = decodeURIComponent(location.hash.slice(1)), element = id && document.getElementById(id);
        if (!id) return;
        if (/^(t\d+-)?layer-\d+$/.test(id)) {
            tables.forEach(function (table) {
                if (!id.startsWith(table.prefix + 'layer-')) return;
                var entry = table.find(id), row;
                if (!entry) return;
                row = table.rowOf(entry);
                if (!row.isConnected) {
                    table.query = table.input.value = '';
                    table.limit = Math.max(table.limit, table.order.indexOf(entry) + 1);
                    table.show();
                }
                element = row;
                table.toggle(row, true);
            });
        }
        if (!element) return;
        for (var up = element; up; up = up.parentElement) {
            if (up.tagName === 'DETAILS') up.open = true;
            if (up.tagName === 'SECTION' && up.hidden) setView(0);
        }
        element.scrollIntoView({block: element.tagName === 'TR' ? 'center' : 'start'});
    }
    window.addEventListener('hashchange', follow);
    document.addEventListener('click', function (event) { /* the same link again; a picture's link */
        var link = event.target.closest && event.target.closest('a'), to = link && link.getAttribute('href');
        if (to && to === location.hash && !event.defaultPrevented) follow();
    });

    /* --- keys ------------------------------------------------------------------------------------ */
    var keys = [['0', 'everything'], ['1', 'overview'], ['2', 'layers'], ['3', 'machine and data'], ['/', 'search the layers'],
        ['t', 'light or dark'], ['?', 'these keys'], ['Esc', 'close']];
    var dialog = make('dialog', {'aria-labelledby': 'keys-title'}, [
        make('h2', {id: 'keys-title'}, ['Keys']),
        make('dl', {'class': 'facts'}, keys.map(function (key) {
            return make('div', {}, [make('dt', {}, [make('kbd', {}, [key[0]])]), make('dd', {}, [key[1]])]);
        })),
        button('Close', function () { dialog.close(); })]);
    document.body.append(dialog);
    function search() {
        var table = tables[0];
        if (!table) return;
        if (table.table.closest('section').hidden) setView(2);
        table.input.focus();
        table.input.select();
    }
    document.addEventListener('keydown', function (event) {
        var field = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
        if (event.key === 'Escape' && field) event.target.blur();
        if (event.key === 'Escape') document.querySelectorAll('.tipped').forEach(function (tip) { tip.classList.add('quiet'); });
        if (field || event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
        if (event.key >= '0' && event.key <= '3' && event.key.length === 1) setView(Number(event.key));
        else if (event.key === '/') { event.preventDefault(); search(); }
        else if (event.key === '?') dialog.showModal();
        else if (event.key === 't') setTheme(isDark() ? 'light' : 'dark');
    });

    /* --- tips beside their numbers ------------------------------------------------------------------ */
    function placeTip(event) {
        var tipped = event.target.closest && event.target.closest('.tipped');
        if (!tipped) return;
        var tip = tipped.querySelector('.tip'), at = tipped.getBoundingClientRect(), own = tip.getBoundingClientRect();
        tipped.classList.remove('quiet');
        var left = Math.min(Math.max(8, at.left), innerWidth - own.width - 8);
        var below = at.bottom + 8 + own.height < innerHeight;
        tip.style.left = Math.max(8, left) + 'px';
        tip.style.bottom = 'auto';
        tip.style.top = (below ? at.bottom + 6 : Math.max(8, at.top - own.height - 6)) + 'px';
    }
    document.addEventListener('mouseover', placeTip);
    document.addEventListener('focusin', placeTip);

    /* --- where one is ------------------------------------------------------------------------------- */
    if (window.IntersectionObserver) {
        var links = {}, seen = new Set();
        document.querySelectorAll('nav a').forEach(function (link) { links[link.getAttribute('href').slice(1)] = link; });
        var observer = new IntersectionObserver(function (entries) {
            entries.forEach(function (entry) { if (entry.isIntersecting) seen.add(entry.target); else seen.delete(entry.target); });
            var first = null;
            document.querySelectorAll('main > section').forEach(function (section) { if (!first && seen.has(section)) first = section; });
            Object.keys(links).forEach(function (id) {
                if (first && id === first.id) links[id].setAttribute('aria-current', 'true');
                else links[id].removeAttribute('aria-current');
            });
        }, {rootMargin: '-15% 0px -60% 0px'});
        document.querySelectorAll('main > section').forEach(function (section) { observer.observe(section); });
    }

    /* --- downloads ----------------------------------------------------------------------------------- */
    function save(name, type, parts) {
        var link = make('a', {download: name}), address = URL.createObjectURL(new Blob(parts, {type: type}));
        link.href = address;
        document.body.append(link);
        link.click();
        link.remove();
        setTimeout(function () { URL.revokeObjectURL(address); }, 10000);
    }
    /* A number as `--format csv` writes it: the least of 15, 16 or 17 digits that read back the same, as %g. */
    function plain(value) {
        if (Number.isInteger(value) && Math.abs(value) <= 9007199254740992) return String(value);
        for (var digits = 15; digits < 17 && Number(value.toPrecision(digits)) !== value; ) digits++;
        var parts = value.toExponential(digits - 1).split('e'), power = Number(parts[1]);
        if (power >= -4 && power < digits) return value.toFixed(digits - 1 - power).replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
        return parts[0].replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '') + 'e' + (power < 0 ? '-' : '+') + (Math.abs(power) < 10 ? '0' : '') + Math.abs(power);
    }
    /* A cell: quoted where it must be; what a spreadsheet would take for a formula is made text. The same as csv.c's. */
    function cell(value) {
        if (value === null || value === undefined) return '';
        if (typeof value === 'number') return plain(value);
        var text = String(value).replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, '?');
        var guard = /^[=+\-@\t\r\n]/.test(String(value)) || /^[=+\-@\uff1d\uff0b\uff0d\uff20]/.test(text), quote = guard || /[",]/.test(text);
        text = text.replace(/"/g, '""');
        return quote ? '"' + (guard ? "'" : '') + text + '"' : text;
    }
    function csv(head, rows) { return [head].concat(rows).map(function (row) { return row.map(cell).join(',') + '\n'; }); }
    function named(what) {
        var model = (profile().model || {}).name || 'profile';
        return (model.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[-.]+/, '').slice(0, 60) || 'profile') + '-' + what;
    }
    function eachTrial(rows) {
        return [].concat.apply([], (profile().trials || []).map(function (trial) { return rows(trial); }));
    }
    function samples() {
        var rows = [];
        ((read('assay-samples') || {}).launches || []).forEach(function (launch) {
            var bytes = launch.data ? atob(launch.data) : '', previous = 0, at = 0, stream = 0, first = 0;
            for (var i = 0; i < launch.count; i++) {
                var code = 0, weight = 1, byte;
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
    var downloads = document.getElementById('downloads');
    if (downloads) {
        var only = downloads.getAttribute('data-only'); /* a difference has no trials */
        [['JSON', function () { save(named(only ? 'difference.json' : 'report.json'), 'application/json', [JSON.stringify(profile(), null, 2), '\n']); }],
            ['Metrics (CSV)', function () {
                save(named('metrics.csv'), 'text/csv', csv(['trial', 'metric', 'value', 'unit', 'state', 'source', 'note', 'label'], eachTrial(function (trial) {
                    return Object.keys(trial.metrics || {}).map(function (name) {
                        var m = trial.metrics[name];
                        return [trial.id, name, m.value, m.unit, m.state, m.source, m.note, ((trial.target || {}).options || {}).label];
                    });
                })));
            }],
            ['Layers (CSV)', function () {
                var names = ['index', 'name', 'op', 'provider', 'time_us', 'share', 'flops', 'bytes', 'bound', 'state', 'method', 'host_enqueue_us', 'note', 'from', 'weight_bytes', 'live_bytes',
                    'time_low_us', 'time_high_us', 'inputs', 'weights', 'outputs', 'attributes'], places = read('assay-roofline') || [];
                save(named('layers.csv'), 'text/csv', csv(['trial'].concat(names), eachTrial(function (trial) {
                    var rest = [['(engine per run)', trial.engine_us, 'measured'], ['(unattributed)', trial.unattributed_us, 'derived']];
                    var shares = (places.filter(function (item) { return item.trial === trial.id; })[0] || {}).shares || [], method = (trial.layer_timing || {}).method;
                    return (trial.layers || []).concat(!(trial.layers || []).length ? [] : rest.map(function (item, i) {
                        return {name: item[0], time_us: item[1], share: shares[i], state: known(item[1]) ? item[2] : 'unavailable', method: method};
                    })).map(function (layer) {
                        return [trial.id].concat(names.map(function (name) { return name === 'from' ? (layer.from || []).join('; ') : layer[name]; }));
                    });
                })));
            }],
            ['Samples (CSV)', function () {
                save(named('samples.csv'), 'text/csv', csv(['trial', 'launch', 'stream', 'seq', 'ns', 'warmup'], samples()));
            }]].slice(0, only ? 1 : 4).forEach(function (item) { downloads.append(button(item[0], item[1])); });
        downloads.hidden = false;
    }

    /* --- what can be zoomed ------------------------------------------------------------------------- */
    /* uPlot in place of the picture, made when it comes near the screen: drag to zoom, double click for all; the buttons do the same. Paper keeps
     * the picture. */
    var plots = [];
    function ink(name) { return getComputedStyle(document.getElementById('ink')).getPropertyValue('--fig-' + name).trim() || '#888'; }
    function medianOf(sorted) {
        var n = sorted.length, half = n >> 1;
        return n % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }
    /* Launches follow each other, streams of one lie over each other; an outlier is beyond ten deviations (14.826 MAD) from the median. */
    function sampleColumns(plot) {
        var points = [], begin = 0, longest = 0, last = null, times = [];
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
        var median = medianOf(Float64Array.from(times).sort());
        var spread = medianOf(Float64Array.from(times, function (time) { return Math.abs(time - median); }).sort());
        var columns = [[], [], [], []];
        points.forEach(function (point) {
            var kind = point[2] ? 2 : spread > 0 && Math.abs(point[1] - median) / spread > 14.826 ? 3 : 1;
            columns[0].push(point[0]);
            for (var i = 1; i < 4; i++) columns[i].push(i === kind ? point[1] / 1e9 : null);
        });
        return {data: columns, names: ['samples', 'warm-up', 'outliers']};
    }
    function seriesColumns(plot) {
        var trial = (profile().trials || []).filter(function (item) { return item.id === plot.trial; })[0] || {}, launch = null, tables = [];
        plot.series.forEach(function (name) {
            var found = (trial.series || []).filter(function (item) { /* called as figures_time.c does */
                var own = /^power\./.test(item.name) && item.rail && item.name.indexOf(item.rail) < 0 ? item.name + ' (' + item.rail + ')' : item.name;
                return own === name && item.values && item.times_s && item.values.length > 1 && (launch === null || item.launch === launch);
            })[0];
            if (!found) return;
            launch = found.launch;
            var x = [], y = [];
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
                var left = u.valToPos(span.begin, 'x', true), right = u.valToPos(span.end, 'x', true);
                u.ctx.globalAlpha = 0.1;
                u.ctx.fillStyle = ink('dim');
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
                u.ctx.strokeStyle = ink('paper');
                u.ctx.strokeText(text, x, y);
                u.ctx.fillStyle = ink(color);
                u.ctx.fillText(text, x, y);
                u.ctx.restore();
            }
            u.ctx.save();
            u.ctx.beginPath();
            u.ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
            u.ctx.clip();
            u.ctx.strokeStyle = ink('dim');
            u.ctx.lineWidth = devicePixelRatio;
            u.ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
            u.ctx.font = 12 * devicePixelRatio + 'px Arial, sans-serif';
            var taken = [];
            plot.spans.forEach(function (span) { /* their names: over the grid, which would cross them out */
                var left = Math.max(u.valToPos(span.begin, 'x', true), u.bbox.left), right = u.valToPos(span.end, 'x', true);
                if (right - left < 60 * devicePixelRatio) return;
                word(span.name, left + 5 * devicePixelRatio, u.bbox.top + u.bbox.height - 6 * devicePixelRatio, 'dim');
            });
            plot.marks.forEach(function (mark) {
                var at = u.valToPos(mark.at, mark.vertical ? 'x' : 'y', true), box = u.bbox, wide = u.ctx.measureText(mark.text).width;
                u.ctx.beginPath();
                if (mark.vertical) { u.ctx.moveTo(at, box.top); u.ctx.lineTo(at, box.top + box.height); }
                else { u.ctx.moveTo(box.left, at); u.ctx.lineTo(box.left + box.width, at); }
                u.ctx.stroke();
                var x = mark.vertical ? at + 4 * devicePixelRatio : box.left + box.width - wide - 6 * devicePixelRatio;
                var y = mark.vertical ? box.top + 14 * devicePixelRatio : at - 5 * devicePixelRatio;
                if (!mark.vertical && taken.some(function (other) { return Math.abs(other - y) < 14 * devicePixelRatio; })) y = at + 15 * devicePixelRatio;
                if (!mark.vertical) taken.push(y);
                word(mark.text, x, y, 'ink');
            });
            u.ctx.restore();
        };
    }
    /* A point a square; one for each place of the screen, so that a hundred thousand are as quick as a thousand. */
    function drawPoints(u, index) {
        var size = Math.round(4 * devicePixelRatio), x = u.data[0], y = u.data[index], taken = new Set();
        u.ctx.save();
        u.ctx.beginPath();
        u.ctx.rect(u.bbox.left - size, u.bbox.top, u.bbox.width + 2 * size, u.bbox.height); /* the first and the last are whole */
        u.ctx.clip();
        u.ctx.fillStyle = index === 2 ? ink('axis') : index === 3 ? ink('1') : ink('0');
        for (var i = 0; i < x.length; i++) {
            if (y[i] === null || x[i] < u.scales.x.min || x[i] > u.scales.x.max) continue;
            var left = Math.round(u.valToPos(x[i], 'x', true) - size / 2), top = Math.round(u.valToPos(y[i], 'y', true) - size / 2), spot = left * 65536 + top;
            if (taken.has(spot)) continue;
            taken.add(spot);
            u.ctx.fillRect(left, top, size, size);
        }
        u.ctx.restore();
    }
    /* few: a line through few readings shows where they are, so that what lies between is not taken for measured */
    function plotOptions(plot, names, few, width) {
        var axis = function (unit) {
            return {stroke: function () { return ink('dim'); }, grid: {stroke: function () { return ink('grid'); }, width: 1}, ticks: {stroke: function () { return ink('grid'); }, width: 1},
                font: '12px Arial, sans-serif', labelFont: '12px Arial, sans-serif',
                values: function (u, splits, index, space, step) { return splits.map(function (value) { return value === null ? '' : value === 0 ? '0' : unit === 'count' ? count(value) : tick(value, unit, step); }); }};
        };
        var y = axis(plot.y_unit), x = axis(plot.x_unit);
        x.label = plot.x;
        if (plot.x_unit === 'count') x.incrs = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 1e7];
        x.labelSize = 18;
        x.size = 30;
        x.space = 70;
        y.size = 68;
        return {
            width: width, height: 300, padding: [12, 28, 0, 0], legend: {live: true},
            cursor: {drag: {x: true, y: false}, points: {size: 7}},
            scales: {x: {time: false}, y: plot.log ? {distr: 3} : {range: function (u, low, high) {
                if (low === null || high === null) return [0, 1];
                var room = (high - low || Math.abs(high) || 1) * 0.08;
                return [plot.zero ? 0 : low - room, high + room];
            }}},
            axes: [x, y],
            series: [{label: plot.x, value: function (u, value) { return value === null || value === undefined ? '' : plot.x_unit === 'count' ? count(value) : scaled(value, plot.x_unit); }}].concat(names.map(function (name, i) {
                var color = function () { return plot.samples && i === 1 ? ink('axis') : ink(String(plot.samples && i === 2 ? 1 : i)); };
                return {label: safe(name), stroke: color, width: 1.5, dash: plot.samples ? undefined : [[], [7, 3], [2, 3], [9, 3, 2, 3]][i % 4],
                    paths: plot.samples ? function () { return null; } : undefined, points: {show: few[i], size: 6, fill: color},
                    value: function (u, value) { return value === null || value === undefined ? '' : scaled(value, plot.y_unit); }};
            })),
            hooks: {drawClear: [drawSpans(plot)], drawSeries: plot.samples ? [drawPoints] : [], draw: [drawMarks(plot)]}
        };
    }
    function zoomButtons(u, plot, full, output) {
        function zoom(factor, shift) {
            var low = u.scales.x.min, high = u.scales.x.max, span = Math.min((high - low) * factor, full[1] - full[0]), middle = (low + high) / 2 + (high - low) * shift;
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
        var plot = JSON.parse(figure.getAttribute('data-plot')), columns = plot.samples ? sampleColumns(plot) : seriesColumns(plot);
        if (!columns) return;
        var kept = columns.names.map(function (name, i) { return columns.data[i + 1].some(known); });
        var description = figure.querySelector('svg desc');
        var box = make('div', {'class': 'zoom', role: 'group', 'aria-label': plot.title + (description ? ': ' + description.textContent : '')});
        figure.insertBefore(box, figure.querySelector('.picture'));
        var few = columns.names.map(function (name, i) { return !plot.samples && columns.data[i + 1].filter(known).length <= 20; });
        var options = plotOptions(plot, columns.names, few, Math.max(240, figure.clientWidth));
        options.series.forEach(function (series, i) { if (i && !kept[i - 1]) series.show = false; });
        var all = [columns.data[0][0], columns.data[0][columns.data[0].length - 1]], output = make('output', {'class': 'note', 'aria-live': 'polite'});
        options.hooks.setScale = [function (u, key) {
            var part = u.scales.x, word = function (value) { return plot.x_unit === 'count' ? count(Math.round(value)) : scaled(value, plot.x_unit); };
            if (key === 'x') output.textContent = part.min <= all[0] && part.max >= all[1] ? 'Drag across to zoom, double click for all.' : word(part.min) + ' to ' + word(part.max);
        }];
        figure.classList.add('zoomed');
        var u = new window.uPlot(options, columns.data, box), full = all;
        u.root.querySelector('canvas').setAttribute('aria-hidden', 'true');
        u.root.querySelectorAll('.u-series').forEach(function (row, i) { if (i && !kept[i - 1]) row.hidden = true; });
        u.root.querySelectorAll('.u-legend th').forEach(function (head) { head.setAttribute('scope', 'row'); });
        box.append(zoomButtons(u, plot, full, output));
        if (window.ResizeObserver) new ResizeObserver(function () {
            if (figure.clientWidth && figure.clientWidth !== u.width) u.setSize({width: figure.clientWidth, height: 300});
        }).observe(figure);
        plots.push(u);
    }
    function redraw() { plots.forEach(function (u) { u.redraw(false); }); }
    if (window.uPlot && window.IntersectionObserver) {
        document.body.append(make('span', {id: 'ink', 'class': 'fig', hidden: ''}));
        var later = window.requestIdleCallback ? function (work) { requestIdleCallback(work, {timeout: 2000}); } : function (work) { setTimeout(work, 100); };
        var near = new IntersectionObserver(function (entries) {
            entries.forEach(function (entry) {
                if (!entry.isIntersecting) return;
                near.unobserve(entry.target);
                later(function () { /* after what the reader waits for */
                    try { makePlot(entry.target); } catch (fault) { entry.target.classList.remove('zoomed'); } /* the picture stays */
                });
            });
        }, {rootMargin: '200px 0px'});
        document.querySelectorAll('figure[data-plot]').forEach(function (figure) { near.observe(figure); });
        matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
    }

    /* --- start ----------------------------------------------------------------------------------------- */
    var tools = document.getElementById('tools');
    if (tools) {
        var group = make('div', {'class': 'group', role: 'group', 'aria-label': 'Views'}, viewButtons);
        tools.append(group, themeButton, button('?', function () { dialog.showModal(); }, {'aria-label': 'Keys'}));
        tools.hidden = false;
    }
    setTheme(stored('assay-theme'));
    setView(0);
    follow();
    root.setAttribute('data-script', 'on');
})();
