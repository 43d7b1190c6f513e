// page.mjs - the report's page in a real browser: Chromium, headless, through playwright-core.
//
//   node page.mjs PLAYWRIGHT AXE CHROMIUM check FILE…         what every page must hold
//   node page.mjs PLAYWRIGHT AXE CHROMIUM use RUN.html        sorts, filters, keys, deep links, downloads, print, zoom
//   node page.mjs PLAYWRIGHT AXE CHROMIUM difference DIFF.html
//   node page.mjs PLAYWRIGHT AXE CHROMIUM time FILE LIMIT_MS  until it can be used; least of 3; prints JSON
//   node page.mjs PLAYWRIGHT AXE CHROMIUM shot FILE OUT.png WIDTH light|dark [SELECTOR]
//
// PLAYWRIGHT, AXE: the folders of the packages. Every request that is no file of the page's own, every message on the console that is an
// error and every violation of the page's policy is a failure, in all of them. Status 0, or 1 with the failures.
import { readFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { pathToFileURL } from 'node:url';

const [playwright, axe, executablePath, verb, ...rest] = process.argv.slice(2);
const { chromium } = await import(pathToFileURL(`${playwright}/index.mjs`).href);
const faults = [];
let checks = 0;
const note = (text) => { faults.push(text); console.log(`FAIL ${text}`); };
const check = (holds, text) => { checks++; if (!holds) note(text); };
const equal = (a, b, text) => check(a === b, `${text}: ${JSON.stringify(a)}, expected ${JSON.stringify(b)}`);

const browser = await chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });

async function open(file, options = {}, hash = '') {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, acceptDownloads: true, ...options });
    const page = await context.newPage();
    const address = file === 'about:blank' ? 'file:' : pathToFileURL(file).href;
    page.on('request', (request) => {
        const to = request.url();
        if (!to.startsWith(address) && !to.startsWith('blob:')) note(`${file} asks for ${to}`);
    });
    page.on('console', (message) => { if (message.type() === 'error') note(`${file}: console: ${message.text()}`); });
    page.on('pageerror', (error) => note(`${file}: ${error.message}`));
    if (options.javaScriptEnabled !== false)
        await page.addInitScript(() => {
            window.violations = [];
            document.addEventListener('securitypolicyviolation', (event) => window.violations.push(`${event.violatedDirective} ${event.sourceFile}:${event.lineNumber}`));
        });
    await page.goto(file === 'about:blank' ? file : address + hash, { waitUntil: 'load', timeout: 120000 });
    page.done = async () => {
        if (options.javaScriptEnabled !== false)
            for (const violation of await page.evaluate(() => window.violations)) note(`${file}: policy: ${violation}`);
        await context.close();
    };
    return page;
}
const ready = (page) => page.waitForSelector('html[data-script="on"]', { timeout: 60000 });

// --- what every page must hold --------------------------------------------------------------------------

async function fits(file) {
    for (const width of [320, 390, 768, 1440]) {
        const page = await open(file, { viewport: { width, height: 844 } });
        await ready(page);
        const wide = await page.evaluate(() => {
            const room = document.documentElement.clientWidth, found = [];
            if (document.documentElement.scrollWidth <= room) return '';
            document.querySelectorAll('main *, header *, footer *').forEach((element) => {
                const box = element.getBoundingClientRect();
                if (box.right > room + 1 && !element.closest('.scroll, .picture, nav, pre, .hidden, .tip, .u-wrap')) found.push(`${element.tagName}.${element.className}`);
            });
            return `${document.documentElement.scrollWidth} px: ${found.slice(0, 4).join(' ')}`;
        });
        equal(wide, '', `${file} at ${width} px is wider than the screen`);
        // words of a picture are large enough to read
        const least = await page.evaluate(() => Math.min(99, ...Array.from(document.querySelectorAll('figure svg')).filter((svg) => svg.getBoundingClientRect().width > 0)
            .map((svg) => 12 * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width)));
        check(least >= 9, `${file} at ${width} px: words of ${least.toFixed(1)} px in a picture`);
        await page.done();
    }
}

async function accessible(file) {
    for (const colorScheme of ['light', 'dark']) {
        const page = await open(file, { colorScheme });
        await ready(page);
        await page.evaluate(() => document.querySelectorAll('main > section > details').forEach((element) => { element.open = true; }));
        await page.evaluate(async () => { // so that what is drawn when it comes near is drawn
            for (const figure of document.querySelectorAll('figure')) { figure.scrollIntoView(); await new Promise((next) => setTimeout(next, 30)); }
        });
        await page.evaluate(readFileSync(`${axe}/axe.min.js`, 'utf8'));
        const result = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
        check(result.passes.length > 10, `${file}: axe-core looked at ${result.passes.length} things`);
        for (const fault of result.violations)
            if (fault.impact === 'serious' || fault.impact === 'critical')
                note(`${file}, ${colorScheme}: ${fault.id}: ${fault.help}: ${fault.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} ${(node.any[0] || {}).message || ''}`).join(' | ')}`);
        await page.done();
    }
}

async function without(file) { // without JavaScript
    const shown = (page) => page.evaluate(() => Array.from(document.querySelectorAll('section')).map((section) => [section.id,
        section.querySelectorAll('table').length, section.querySelectorAll('figure').length]).join(';'));
    const plain = await open(file, { javaScriptEnabled: false });
    // evaluate() is the tool's own, not the page's
    const sections = await plain.$$eval('main > section', (all) => all.filter((section) => section.getBoundingClientRect().height < 20).map((section) => section.id));
    equal(sections.join(' '), '', `${file} without JavaScript: sections that do not show`);
    const flat = await plain.$$eval('main > section > figure, main > section > .scroll > table', (all) => all.filter((item) => {
        const part = item.tagName === 'FIGURE' ? Array.from(item.querySelectorAll('svg')).map((svg) => svg.getBoundingClientRect().height).reduce((a, b) => Math.max(a, b), 0)
            : item.getBoundingClientRect().height;
        return part < 20;
    }).length);
    equal(flat, 0, `${file} without JavaScript: pictures or tables that do not show`);
    const counted = await shown(plain);
    await plain.done();
    const page = await open(file);
    await ready(page);
    await page.evaluate(() => document.querySelectorAll('.zoom').forEach((zoom) => zoom.remove())); // they stand in place of a picture
    equal(counted, await shown(page), `${file}: tables and pictures without JavaScript`);
    await page.done();
}

async function prints(file) {
    const page = await open(file, { colorScheme: 'dark' });
    await ready(page);
    const pdf = (await page.pdf({ format: 'A4', margin: { top: '12mm', bottom: '12mm', left: '12mm', right: '12mm' } })).toString('latin1');
    const pages = (pdf.match(/\/Type\s*\/Page[^s]/g) || []).length;
    check(pages > 0, `${file}: the print has ${pages} pages`);
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await page.setViewportSize({ width: 703, height: 1000 }); // A4 less its margins, at 96 px an inch
    const cut = await page.$$eval('table', (tables) => tables.filter((table) => table.getBoundingClientRect().width > 0 &&
        table.getBoundingClientRect().right > document.documentElement.clientWidth + 1).map((table) => (table.caption || {}).textContent));
    equal(cut.join('; '), '', `${file}: tables that paper would cut`);
    const dark = await page.evaluate(() => getComputedStyle(document.body).color);
    equal(dark, 'rgb(0, 0, 0)', `${file}: paper's ink`);
    check(await page.$$eval('figure', (all) => all.every((figure) => Array.from(figure.querySelectorAll('svg')).some((svg) => svg.getBoundingClientRect().height > 20))), `${file}: a picture is not on paper`);
    await page.done();
    return pages;
}

// --- what a reader does -----------------------------------------------------------------------------------

const column = (page, table, at) => page.$$eval(`${table} tbody tr:not(.detail)`, (rows, n) => rows.map((row) => row.cells[n].textContent), at);

async function download(page, label) {
    const [file] = await Promise.all([page.waitForEvent('download'), page.click(`#downloads button:text-is("${label}")`)]);
    return [file.suggestedFilename(), readFileSync(await file.path(), 'utf8')];
}

async function sorts(page) {
    const times = () => page.$$eval('#layer-table tbody tr:not(.detail):not(.extra)', (rows) => rows.map((row) => row.cells[2].textContent.replace(/^[=~]/, '')));
    const seconds = (text) => text === '—' ? NaN : parseFloat(text) * { ns: 1e-9, 'µs': 1e-6, ms: 1e-3, s: 1 }[text.split(' ')[1]];
    const known = async () => (await times()).map(seconds).filter((value) => !Number.isNaN(value));
    const ordered = (values, sign) => values.every((value, i) => !i || sign * (value - values[i - 1]) >= 0);
    check(ordered(await known(), -1), 'longest layers first');
    await page.click('#layer-table thead th:nth-child(3) button');
    check(ordered(await known(), 1), 'sorted by time, upwards');
    equal(await page.getAttribute('#layer-table thead th:nth-child(3)', 'aria-sort'), 'ascending', 'the heading says so');
    await page.click('#layer-table thead th:nth-child(3) button');
    check(ordered(await known(), -1), 'sorted by time, downwards');
    await page.click('#layer-table thead th:nth-child(5) button');
    const ops = (await column(page, '#layer-table', 4)).filter((text) => text !== '' && text !== '—').map((text) => text.replace(/\+\d+$/, ''));
    check(ops.length > 2 && ops.every((op, i) => !i || op.localeCompare(ops[i - 1], 'en', { numeric: true }) >= 0), 'sorted by operator');
}

async function filters(page) {
    const all = (await column(page, '#layer-table', 4)).length, data = JSON.parse(await page.textContent('#assay-data'));
    const layers = data.trials[0].layers, op = layers.find((layer) => layer.op).op;
    await page.keyboard.press('/');
    equal(await page.evaluate(() => document.activeElement.id), 'layer-filter', '/ goes to the search');
    await page.keyboard.type(op);
    const wanted = layers.filter((layer) => [layer.name, layer.op, layer.provider, layer.bound, layer.method].concat(layer.from || []).join('\n').toLowerCase().includes(op.toLowerCase())).length;
    const left = await page.$$eval('#layer-table tbody tr:not(.detail):not(.extra)', (rows) => rows.length);
    equal(left, wanted, `layers that match ${op}`);
    await page.fill('#layer-filter', 'no such layer at all');
    equal((await column(page, '#layer-table', 1)).length, 0, 'nothing matches');
    await page.fill('#layer-filter', '');
    equal((await column(page, '#layer-table', 4)).length, all, 'all of them again');
    await page.keyboard.press('Escape');
}

async function details(page) {
    const row = page.locator('#layer-table tbody tr[id^="layer-"]:not(.extra)').first(), id = await row.getAttribute('id');
    await row.locator('a').click();
    equal(await page.locator('#layer-table tr.detail').count(), 1, 'a click opens the details');
    const layer = JSON.parse(await page.textContent('#assay-data')).trials[0].layers.find((item) => `layer-${item.index}` === id);
    check((await page.textContent('#layer-table tr.detail')).includes(layer.name), 'the details are of that layer');
    equal(await page.evaluate(() => location.hash), `#${id}`, 'the address names it');
    await row.locator('a').click();
    equal(await page.locator('#layer-table tr.detail').count(), 0, 'a second one closes them');
}

async function views(page) {
    const visible = () => page.$$eval('main > section', (all) => all.filter((item) => !item.hidden).map((item) => item.id));
    const bits = await page.$$eval('main > section', (all) => all.map((item) => [item.id, Number(item.dataset.views)]));
    for (const [key, bit] of [['1', 1], ['2', 2], ['3', 4], ['0', 7]]) {
        await page.keyboard.press(key);
        equal((await visible()).join(), bits.filter((item) => item[1] & bit).map((item) => item[0]).join(), `key ${key}`);
    }
    await page.keyboard.press('?');
    check(await page.locator('dialog').evaluate((dialog) => dialog.open), '? shows the keys');
    await page.keyboard.press('Escape');
    check(!await page.locator('dialog').evaluate((dialog) => dialog.open), 'Esc closes them');
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const before = await ground();
    await page.click('#theme');
    check(await ground() !== before, 'the theme switches');
    await page.keyboard.press('t');
    equal(await ground(), before, 'and back by t');
}

async function zooms(page) {
    const figures = page.locator('figure[data-plot]'), count = await figures.count();
    const has = await page.evaluate(() => typeof window.uPlot === 'function');
    check(has === count > 0, `uPlot is in the page only where it is used: ${has}, ${count} figures`);
    for (let i = 0; i < count; i++) {
        const figure = figures.nth(i);
        await figure.scrollIntoViewIfNeeded();
        await figure.locator('canvas').waitFor();
        check(!await figure.locator('svg').first().isVisible(), 'the picture makes room');
        const labels = () => figure.locator('output').textContent();
        const all = await labels(), over = figure.locator('.u-over'), box = await over.boundingBox();
        await page.mouse.move(box.x + box.width * 0.3, box.y + 40);
        await page.mouse.down();
        await page.mouse.move(box.x + box.width * 0.6, box.y + 60, { steps: 4 });
        await page.mouse.up();
        await page.waitForTimeout(50);
        check(await labels() !== all, `figure ${i}: a drag zooms`);
        await over.dblclick({ position: { x: 20, y: 20 } });
        await page.waitForTimeout(50);
        equal(await labels() === all, true, `figure ${i}: a double click shows all`);
        await figure.locator('button[aria-label="Zoom in"]').click();
        await page.waitForTimeout(50);
        check(await labels() !== all, `figure ${i}: the button zooms`);
        await figure.locator('button[aria-label="Show all"]').click();
        await page.waitForTimeout(50);
        equal(await labels() === all, true, `figure ${i}: the button shows all`);
    }
    return count;
}

async function downloads(page) {
    const data = JSON.parse(await page.textContent('#assay-data'));
    const lines = (text) => text.trimEnd().split('\n');
    let [name, text] = await download(page, 'JSON');
    check(name.endsWith('-report.json'), name);
    equal(JSON.stringify(JSON.parse(text)), JSON.stringify(data), 'the JSON that is saved');
    [name, text] = await download(page, 'Metrics (CSV)');
    equal(lines(text)[0], 'trial,metric,value,unit,state,source,note,label', name);
    equal(lines(text).length - 1, data.trials.reduce((sum, trial) => sum + Object.keys(trial.metrics).length, 0), 'rows of metrics');
    check(text.includes(`latency.p50,${data.trials[0].metrics['latency.p50'].value},s,measured`), 'p50 in the CSV');
    [name, text] = await download(page, 'Layers (CSV)');
    equal(lines(text).length - 1, data.trials.reduce((sum, trial) => sum + trial.layers.length + (trial.layers.length ? 2 : 0), 0), 'rows of layers');
    check(lines(text)[0].startsWith('trial,index,name,op,provider,time_us') && lines(text)[0].endsWith(',time_low_us,time_high_us,inputs,weights,outputs,attributes'), lines(text)[0]);
    [name, text] = await download(page, 'Samples (CSV)');
    equal(lines(text)[0], 'trial,launch,stream,seq,ns,warmup', name);
    const launches = JSON.parse(await page.textContent('#assay-samples')).launches;
    equal(lines(text).length - 1, launches.reduce((sum, launch) => sum + launch.count, 0), 'rows of samples');
    const kept = lines(text).slice(1).map((line) => line.split(',')).filter((cells) => cells[5] === '0').map((cells) => Number(cells[4])).sort((a, b) => a - b);
    const median = (kept[(kept.length - 1) >> 1] + kept[kept.length >> 1]) / 2 / 1e9;
    if (launches.length === 1) check(Math.abs(median / data.trials[0].metrics['latency.p50'].value - 1) < 1e-6, `the median of the samples is ${median}`);
}

// What is saved, byte for byte what `assay report --format csv` prints: NAME.html beside NAME.metrics.csv, NAME.layers.csv, NAME.samples.csv.
async function saves(file) {
    const page = await open(file);
    await ready(page);
    for (const table of ['metrics', 'layers', 'samples']) {
        const [, text] = await download(page, `${table[0].toUpperCase()}${table.slice(1)} (CSV)`);
        const ours = text.split('\n'), theirs = readFileSync(file.replace(/html$/, `${table}.csv`), 'utf8').split('\n');
        const at = ours.findIndex((line, i) => line !== theirs[i]);
        equal(at < 0 ? '' : String(ours[at]), at < 0 ? '' : String(theirs[at]), `${file}: line ${at + 1} of the ${table}`);
        equal(ours.length, theirs.length, `${file}: lines of the ${table}`);
    }
    await page.done();
}

// Names that mean harm, in what the script writes: control characters and turns of direction are shown as U+FFFD.
async function shows(file) {
    const page = await open(file);
    await ready(page);
    const rows = page.locator('#layer-table tbody tr[id^="layer-"]:not(.extra)'), count = Math.min(await rows.count(), 40);
    for (let i = 0; i < count; i++) await page.locator('#layer-table tbody tr:not(.detail):not(.extra)').nth(i).locator('a').first().click();
    equal(await page.locator('#layer-table tr.detail').count(), count, 'details that are open');
    const unsafe = await page.evaluate(() => Array.from(document.querySelectorAll('tr.detail dd, tbody th, tbody td'))
        .filter((item) => /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/.test(item.textContent)).length);
    equal(unsafe, 0, 'cells that show a control character or a turn of direction');
    check(await page.evaluate(() => Array.from(document.querySelectorAll('tr.detail dd')).some((item) => item.textContent.includes('\ufffd'))), 'they are shown as U+FFFD');
    await page.done();
}

async function use(file) {
    const page = await open(file);
    await ready(page);
    await sorts(page);
    await filters(page);
    await details(page);
    await views(page);
    const figures = await zooms(page);
    await downloads(page);
    await page.done();
    const deep = await open(file, {}, '#layer-1');
    await ready(deep);
    const place = await deep.locator('#layer-1').boundingBox();
    check(place && place.y >= 0 && place.y < 900, 'a deep link shows its layer');
    equal(await deep.locator('#layer-1 + tr.detail').count(), 1, 'and opens it');
    await deep.done();
    console.log(`${figures} figures were zoomed`);
}

async function difference(file) {
    const page = await open(file);
    await ready(page);
    equal((await page.$$eval('#downloads button', (all) => all.map((item) => item.textContent))).join(), 'JSON', 'what a difference offers to save');
    const [, text] = await download(page, 'JSON');
    equal(JSON.stringify(JSON.parse(text)), JSON.stringify(JSON.parse(await page.textContent('#assay-data'))), 'the JSON of a difference');
    await page.done();
}

// --- time ---------------------------------------------------------------------------------------------------

// From the first byte asked for until the script is through, the page is laid out and painted, and a key is answered. On a machine that has more to
// do than it has processors the page's own processor time is judged instead, and that is said.
async function time(file, limit) {
    const all = [], own = [], busy = loadavg()[0] > availableParallelism();
    for (let i = 0; i < 3; i++) {
        const page = await open('about:blank'), tools = await page.context().newCDPSession(page);
        await tools.send('Performance.enable', { timeDomain: 'threadTicks' });
        await page.goto(pathToFileURL(file).href, { waitUntil: 'load', timeout: 240000 });
        await ready(page);
        const took = await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now()), 0))));
        const { metrics } = await tools.send('Performance.getMetrics');
        own.push(1000 * metrics.find((metric) => metric.name === 'TaskDuration').value);
        await page.keyboard.press('2');
        check(await page.getAttribute('[data-view="2"]', 'aria-pressed') === 'true', 'a key is answered');
        all.push(took);
        await page.done();
    }
    const least = Math.min(...(busy ? own : all));
    console.log(JSON.stringify({ interactive_ms: all.map(Math.round), own_ms: own.map(Math.round), busy, least_ms: Math.round(least) }));
    check(!(least > limit), `${file} takes ${least.toFixed(0)} ms until it can be used, at most ${limit}`);
}

async function shot(file, out, width, colorScheme, selector) {
    const page = await open(file, { viewport: { width: Number(width), height: 900 }, colorScheme });
    await ready(page);
    await page.evaluate(async () => {
        for (const figure of document.querySelectorAll('figure')) { figure.scrollIntoView(); await new Promise((next) => setTimeout(next, 60)); }
        scrollTo(0, 0);
    });
    await page.waitForTimeout(100);
    if (selector === 'top') await page.screenshot({ path: out });
    else if (selector) await page.locator(selector).screenshot({ path: out });
    else await page.screenshot({ path: out, fullPage: true });
    await page.done();
}

if (verb === 'check')
    for (const file of rest) {
        await fits(file);
        await accessible(file);
        await without(file);
        await prints(file);
    }
else if (verb === 'use') await use(rest[0]);
else if (verb === 'saves') for (const file of rest) await saves(file);
else if (verb === 'shows') await shows(rest[0]);
else if (verb === 'difference') await difference(rest[0]);
else if (verb === 'time') await time(rest[0], Number(rest[1]));
else if (verb === 'shot') await shot(...rest);
else note(`unknown: ${verb}`);
await browser.close();
if (verb !== 'shot') console.log(`${checks} checks, ${faults.length} failed`);
process.exit(faults.length ? 1 : 0);
